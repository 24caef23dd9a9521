/* Biela for C++17: biela.h with owners, exceptions and containers. Header only.
 *
 *     biela::instance crank = biela::instance::from_file("slider_crank.toml");
 *     const auto tau = crank.find("tau"), slider = crank.find("slider_x");
 *     crank.initialize();
 *     for (int k = 0; k < 40; k++) {
 *         crank.set(tau, 0.5);
 *         crank.step(0.05);
 *         std::cout << crank.time() << ' ' << crank.get(slider) << '\n';
 *     }
 *
 * A call that fails throws biela::error with the library's sentence. An instance or a state is moved, never copied;
 * one that was moved from may only be destroyed or assigned to. Threads: as in biela.h. */
#ifndef BIELA_HPP
#define BIELA_HPP

#include <biela.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace biela {

/// The numbers of `biela_status`.
enum class status : int {
    ok = BIELA_STATUS_OK,
    error_argument = BIELA_STATUS_ERROR_ARGUMENT,
    error_model = BIELA_STATUS_ERROR_MODEL,
    error_file = BIELA_STATUS_ERROR_FILE,
    error_call_order = BIELA_STATUS_ERROR_CALL_ORDER,
    error_unknown_variable = BIELA_STATUS_ERROR_UNKNOWN_VARIABLE,
    error_not_settable = BIELA_STATUS_ERROR_NOT_SETTABLE,
    error_assembly = BIELA_STATUS_ERROR_ASSEMBLY,
    error_numeric = BIELA_STATUS_ERROR_NUMERIC,
    error_limit = BIELA_STATUS_ERROR_LIMIT,
    cancelled = BIELA_STATUS_CANCELLED,
    error_callback = BIELA_STATUS_ERROR_CALLBACK,
    error_state = BIELA_STATUS_ERROR_STATE,
    busy = BIELA_STATUS_BUSY,
    panic = BIELA_STATUS_PANIC,
    error_memory = BIELA_STATUS_ERROR_MEMORY,
};

/// A call that failed: `what()` is the library's sentence.
class error : public std::runtime_error {
public:
    error(status code, const std::string &sentence) : std::runtime_error(sentence), code_(code) {}
    status code() const noexcept { return code_; }

private:
    status code_;
};

enum class causality : int {
    parameter = BIELA_CAUSALITY_PARAMETER,
    input = BIELA_CAUSALITY_INPUT,
    output = BIELA_CAUSALITY_OUTPUT,
    local = BIELA_CAUSALITY_LOCAL,
};

enum class variability : int {
    constant = BIELA_VARIABILITY_CONSTANT,
    fixed = BIELA_VARIABILITY_FIXED,
    tunable = BIELA_VARIABILITY_TUNABLE,
    discrete = BIELA_VARIABILITY_DISCRETE,
    continuous = BIELA_VARIABILITY_CONTINUOUS,
};

enum class log_level : int {
    error = BIELA_LOG_LEVEL_ERROR,
    warning = BIELA_LOG_LEVEL_WARNING,
    info = BIELA_LOG_LEVEL_INFO,
    debug = BIELA_LOG_LEVEL_DEBUG,
};

/// Takes one message: how serious, about what, the instance's time, a sentence. What it throws is dropped.
using logger = std::function<void(log_level level, const char *category, double time, const char *message)>;

/// A variable of an instance.
struct variable {
    std::uint32_t reference;
    std::string name;
    std::string unit;
    std::string description;
    biela::causality causality;
    biela::variability variability;
    std::optional<double> start, min, max;
    std::vector<std::uint32_t> dependencies;         ///< inputs it depends on directly
    std::vector<std::uint32_t> initial_dependencies; ///< inputs and parameters it depends on at the start
};

/// Values somebody else owns: a vector, an array, or a pointer with a count.
template <class T>
class view {
public:
    view(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class C, class = decltype(std::declval<C &>().data(), std::declval<C &>().size())>
    view(C &&container) noexcept : data_(container.data()), size_(container.size())
    {
    }
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

private:
    T *data_;
    std::size_t size_;
};

/// Version of the library that is linked.
inline std::string version() { return biela_version(); }

namespace detail {

inline void check(biela_status code, biela_instance *instance)
{
    if (code != BIELA_STATUS_OK) {
        throw error(static_cast<status>(code), biela_last_error(instance));
    }
}

struct free_instance {
    void operator()(biela_instance *instance) const noexcept { biela_instance_free(instance); }
};

struct free_state {
    void operator()(biela_state *state) const noexcept { biela_state_free(state); }
};

} // namespace detail

/// A saved state; it may outlive its instance.
class state {
public:
    state() noexcept = default;
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    biela_state *handle() const noexcept { return handle_.get(); }

private:
    friend class instance;
    std::unique_ptr<biela_state, detail::free_state> handle_;
};

namespace detail {

/// Where an exception thrown by somebody's equations waits until the call that asked for them has returned.
struct thrown {
    std::exception_ptr exception;
};

} // namespace detail

/// What is fixed about a system of your own; see `biela_system_definition`. Empty vectors are its defaults.
struct system_shape {
    std::vector<double> q;                                     ///< coordinates at start
    std::vector<double> v;                                     ///< rates at start
    std::size_t nv = 0;                                        ///< 0: as many as q
    std::size_t nc = 0, ne = 0, modes = 0;                     ///< rows, events, modes
    std::uint32_t flags = 0;                                   ///< BIELA_SYSTEM_...
    std::string name, solver;                                  ///< for messages; keys of [solver]
    std::vector<double> weights, constraint_scales;            ///< sizes of coordinates and rows
    std::vector<std::pair<std::string, double>> inputs;        ///< name and start value
    std::vector<std::pair<std::string, double>> parameters;    ///< name and start value
    std::vector<std::string> coordinate_names, constraint_names, event_names;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tangent, jacobian; ///< places of the matrices; empty: all
};

/// A mechanism, or a system of your own, that can be driven.
class instance {
public:
    /// From a model file.
    static instance from_file(const std::string &path)
    {
        biela_instance *made = nullptr;
        detail::check(biela_instance_new_from_file(path.c_str(), &made), nullptr);
        return instance(made);
    }

    /// From the text of a model; files it names are found in `base_dir`.
    static instance from_string(const std::string &text, const std::string &base_dir = "")
    {
        biela_instance *made = nullptr;
        const char *directory = base_dir.empty() ? nullptr : base_dir.c_str();
        detail::check(biela_instance_new_from_string(text.data(), text.size(), directory, &made), nullptr);
        return instance(made);
    }

    /// From your own equations: an object with the functions of `biela_system_definition` as members, those it has.
    /// They take (const biela_system_point &, double *) and so on without `user`, and return an answer or nothing. What
    /// they throw leaves the call that asked for them.
    template <class E>
    static instance from_system(E equations, const system_shape &shape);

    void reset() { check(biela_instance_reset(handle())); }

    void initialize(double start = 0.0, double stop = std::numeric_limits<double>::infinity(), double tolerance = 0.0)
    {
        check(biela_initialize(handle(), start, stop, tolerance));
    }

    /// One communication step from the instance's own time. If it throws, `time()` is where it got to.
    void step(double size) { step(time(), size); }
    void step(double time, double size) { check(biela_step(handle(), time, size, nullptr)); }

    double time() const
    {
        double time = 0.0;
        check(biela_time(handle(), &time));
        return time;
    }

    /// From any thread, while a step runs.
    /// It does not look at exceptions of the user's equations: those belong to the thread that steps.
    void cancel() const { detail::check(biela_cancel(handle()), handle_.get()); }

    std::vector<variable> variables() const
    {
        std::uint32_t count = 0;
        check(biela_variable_count(handle(), &count));
        std::vector<variable> all;
        all.reserve(count);
        for (std::uint32_t i = 0; i < count; i++) {
            biela_variable told;
            check(biela_variable_default(&told, sizeof told));
            check(biela_variable_info(handle(), i, &told));
            const auto optional = [](std::int32_t has, double value) {
                return has ? std::optional<double>(value) : std::nullopt;
            };
            all.push_back({i, told.name, told.unit, told.description, static_cast<biela::causality>(told.causality),
                           static_cast<biela::variability>(told.variability), optional(told.has_start, told.start),
                           optional(told.has_min, told.min), optional(told.has_max, told.max),
                           {told.dependencies, told.dependencies + told.dependency_count},
                           {told.initial_dependencies, told.initial_dependencies + told.initial_dependency_count}});
        }
        return all;
    }

    std::uint32_t find(const std::string &name) const
    {
        std::uint32_t reference = 0;
        check(biela_variable_find(handle(), name.c_str(), &reference));
        return reference;
    }

    void set(std::uint32_t reference, double value) { check(biela_set_real(handle(), &reference, 1, &value)); }
    void set(const std::string &name, double value) { set(find(name), value); }
    void set(view<const std::uint32_t> references, view<const double> values)
    {
        same(references.size(), values.size());
        check(biela_set_real(handle(), references.data(), references.size(), values.data()));
    }

    double get(std::uint32_t reference) const
    {
        double value = 0.0;
        check(biela_get_real(handle(), &reference, 1, &value));
        return value;
    }
    double get(const std::string &name) const { return get(find(name)); }
    void get(view<const std::uint32_t> references, view<double> values) const
    {
        same(references.size(), values.size());
        check(biela_get_real(handle(), references.data(), references.size(), values.data()));
    }
    std::vector<double> get(view<const std::uint32_t> references) const
    {
        std::vector<double> values(references.size());
        get(references, values);
        return values;
    }

    /// Derivatives of inputs, of order 1 or 2, from now on.
    void set_input_derivatives(view<const std::uint32_t> references, view<const std::uint32_t> orders,
                               view<const double> values)
    {
        same(references.size(), values.size());
        same(references.size(), orders.size());
        check(biela_set_input_derivatives(handle(), references.data(), orders.data(), references.size(), values.data()));
    }
    void set_input_derivative(std::uint32_t reference, std::uint32_t order, double value)
    {
        check(biela_set_input_derivatives(handle(), &reference, &order, 1, &value));
    }

    /// How inputs without derivatives go on between communication points: see `biela_set_extrapolation`.
    void set_extrapolation(std::uint32_t order) { check(biela_set_extrapolation(handle(), order)); }

    /// Time derivatives of outputs, of order 1 or 2.
    std::vector<double> output_derivatives(view<const std::uint32_t> references, view<const std::uint32_t> orders) const
    {
        same(references.size(), orders.size());
        std::vector<double> values(references.size());
        check(biela_get_output_derivatives(handle(), references.data(), orders.data(), references.size(), values.data()));
        return values;
    }
    double output_derivative(std::uint32_t reference, std::uint32_t order = 1) const
    {
        double value = 0.0;
        check(biela_get_output_derivatives(handle(), &reference, &order, 1, &value));
        return value;
    }

    /// d unknowns / d knowns times `seed`.
    std::vector<double> directional_derivative(view<const std::uint32_t> unknowns, view<const std::uint32_t> knowns,
                                               view<const double> seed) const
    {
        same(knowns.size(), seed.size());
        std::vector<double> sensitivities(unknowns.size());
        check(biela_directional_derivative(handle(), unknowns.data(), unknowns.size(), knowns.data(), knowns.size(),
                                           seed.data(), sensitivities.data()));
        return sensitivities;
    }

    /// Moves to the static equilibrium next to the present position, at rest. Warnings go to the logger.
    void equilibrium() { check(biela_equilibrium(handle())); }

    /// x' = A x + B u, y = C x + D u about the present point; matrices by rows.
    struct linear_model {
        std::vector<std::string> states, inputs, outputs;
        std::vector<double> a, b, c, d;
    };

    /// The linear model at the present point. Nothing changes.
    linear_model linearize() const
    {
        std::size_t sizes[3] = {0, 0, 0};
        check(biela_linearize(handle(), sizes, nullptr, nullptr, nullptr, nullptr));
        linear_model model;
        std::vector<std::string> *names[3] = {&model.states, &model.inputs, &model.outputs};
        for (std::uint32_t part = 0; part < 3; ++part) {
            for (std::size_t i = 0; i < sizes[part]; ++i) {
                const char *name = nullptr;
                check(biela_linear_name(handle(), part, i, &name));
                names[part]->emplace_back(name);
            }
        }
        model.a.resize(sizes[0] * sizes[0]);
        model.b.resize(sizes[0] * sizes[1]);
        model.c.resize(sizes[2] * sizes[0]);
        model.d.resize(sizes[2] * sizes[1]);
        check(biela_linearize(handle(), sizes, model.a.data(), model.b.data(), model.c.data(), model.d.data()));
        return model;
    }

    /// Messages up to `level` go to `sink`; an empty one ends that.
    void set_logger(log_level level, logger sink)
    {
        if (!sink) {
            check(biela_set_logger(handle(), nullptr, nullptr, 0));
            logger_.reset();
            return;
        }
        auto kept = std::make_unique<logger>(std::move(sink));
        const auto pass_on = [](void *user, biela_log_level at, const char *category, double time, const char *message) {
            try {
                (*static_cast<logger *>(user))(static_cast<log_level>(at), category, time, message);
            } catch (...) {
            }
        };
        check(biela_set_logger(handle(), pass_on, kept.get(), static_cast<int>(level)));
        logger_ = std::move(kept);
    }

    /// A state as bytes, the same on every machine.
    std::vector<std::uint8_t> serialize(const state &from) const
    {
        std::size_t size = 0;
        check(biela_state_serialized_size(handle(), from.handle(), &size));
        std::vector<std::uint8_t> bytes(size);
        check(biela_state_serialize(handle(), from.handle(), bytes.data(), bytes.size()));
        return bytes;
    }
    state deserialize(view<const std::uint8_t> bytes) const
    {
        biela_state *made = nullptr;
        check(biela_state_deserialize(handle(), bytes.data(), bytes.size(), &made));
        state result;
        result.handle_.reset(made);
        return result;
    }

    /// The present state.
    state save() const
    {
        state made;
        save(made);
        return made;
    }
    /// Into a state that exists: nothing is allocated if it is of this model.
    void save(state &into) const
    {
        biela_state *handle_of = into.handle_.get();
        const biela_status code = biela_state_save(handle(), &handle_of);
        if (handle_of != into.handle_.get()) {
            (void)into.handle_.release();
            into.handle_.reset(handle_of);
        }
        check(code);
    }
    void restore(const state &from) { check(biela_state_restore(handle(), from.handle())); }

    biela_counters statistics() const
    {
        biela_counters counters;
        check(biela_counters_default(&counters, sizeof counters));
        check(biela_statistics(handle(), &counters));
        return counters;
    }

    /// A companion run states the error of every output as `<output>.error`. Before initialize.
    void use_error_bars() { check(biela_use_error_bars(handle())); }

    /// What the error bars say as a whole; see `biela_error_bars`.
    struct error_bar_summary {
        double worst, event_time, undetermined_after;
        bool accuracy_kept;
    };

    error_bar_summary error_bars() const
    {
        error_bar_summary found = {};
        std::int32_t kept = 0;
        check(biela_error_bars(handle(), &found.worst, &found.event_time, &found.undetermined_after, &kept));
        found.accuracy_kept = kept != 0;
        return found;
    }

    /// The answer of your own equations that made a call fail, where they did not throw.
    std::int32_t answer() const
    {
        std::int32_t answer = 0;
        check(biela_system_answer(handle(), &answer));
        return answer;
    }

    /// For what this header does not have. It stays the instance's.
    biela_instance *handle() const noexcept { return handle_.get(); }

private:
public:
    instance(instance &&) noexcept = default;
    /// The old handle goes before the logger it may still speak to.
    instance &operator=(instance &&other) noexcept
    {
        handle_ = std::move(other.handle_);
        logger_ = std::move(other.logger_);
        thrown_ = std::move(other.thrown_);
        return *this;
    }

private:
    explicit instance(biela_instance *made, std::shared_ptr<detail::thrown> thrown = nullptr) noexcept
        : handle_(made), thrown_(std::move(thrown))
    {
    }

    void check(biela_status code) const
    {
        if (thrown_ && thrown_->exception) {
            const std::exception_ptr exception = std::exchange(thrown_->exception, nullptr);
            if (code != BIELA_STATUS_OK) {
                std::rethrow_exception(exception);
            }
        }
        detail::check(code, handle_.get());
    }

    static void same(std::size_t references, std::size_t values)
    {
        if (references != values) {
            throw error(status::error_argument, "there are " + std::to_string(values) + " values for " +
                                                    std::to_string(references) + " value references");
        }
    }

    std::unique_ptr<logger> logger_; // outlives the handle that uses it
    std::unique_ptr<biela_instance, detail::free_instance> handle_;
    std::shared_ptr<detail::thrown> thrown_;
};

static_assert(std::is_nothrow_move_constructible_v<instance> && std::is_nothrow_move_assignable_v<instance>);
static_assert(std::is_nothrow_move_constructible_v<state> && std::is_nothrow_move_assignable_v<state>);

namespace detail {

/// Somebody's equations, owned by the library.
template <class E>
struct owned {
    E equations;
    std::shared_ptr<biela::detail::thrown> thrown;

    static owned &of(void *user) noexcept { return *static_cast<owned *>(user); }

    /// Nothing passes the border but an answer.
    template <class F>
    std::int32_t guard(F &&call) noexcept
    {
        try {
            if constexpr (std::is_void_v<decltype(call())>) {
                call();
                return 0;
            } else {
                return static_cast<std::int32_t>(call());
            }
        } catch (...) {
            thrown->exception = std::current_exception();
            return -1;
        }
    }
};

/* One trampoline for each function, and whether the equations have it. */
#define BIELA_MEMBER(name)                                                                                            \
    template <class E, class = void>                                                                                  \
    struct has_##name : std::false_type {                                                                             \
    };                                                                                                                \
    template <class E>                                                                                                \
    struct has_##name<E, std::void_t<decltype(&E::name)>> : std::true_type {                                          \
    };

#define BIELA_FUNCTION(name)                                                                                          \
    BIELA_MEMBER(name)                                                                                                \
    template <class E>                                                                                                \
    std::int32_t name(void *user, const biela_system_point *at, double *out) noexcept                                 \
    {                                                                                                                 \
        auto &me = owned<E>::of(user);                                                                                \
        return me.guard([&] { return me.equations.name(*at, out); });                                                 \
    }

#define BIELA_GROUP(name)                                                                                             \
    BIELA_MEMBER(name)                                                                                                \
    template <class E>                                                                                                \
    std::int32_t name(void *user, const double *x, const double *y, double *out) noexcept                             \
    {                                                                                                                 \
        auto &me = owned<E>::of(user);                                                                                \
        return me.guard([&] { return me.equations.name(x, y, out); });                                                \
    }

namespace functions {
BIELA_FUNCTION(mass)
BIELA_FUNCTION(mass_times)
BIELA_FUNCTION(force)
BIELA_FUNCTION(force_by_q)
BIELA_FUNCTION(force_by_v)
BIELA_FUNCTION(inertia_by_q)
BIELA_FUNCTION(reaction_by_q)
BIELA_FUNCTION(constraint)
BIELA_FUNCTION(jacobian)
BIELA_FUNCTION(constraint_rate)
BIELA_FUNCTION(convective)
BIELA_FUNCTION(energy)
BIELA_FUNCTION(power)
BIELA_GROUP(retract)
BIELA_GROUP(difference)
BIELA_GROUP(bracket)
BIELA_GROUP(tangent_inverse)

BIELA_MEMBER(events)
template <class E>
std::int32_t events(void *user, const biela_system_point *at, double *phi, double *rate) noexcept
{
    auto &me = owned<E>::of(user);
    return me.guard([&] { return me.equations.events(*at, phi, rate); });
}

BIELA_MEMBER(crossing)
template <class E>
std::int32_t crossing(void *user, const std::int32_t *modes, std::size_t event) noexcept
{
    auto &me = owned<E>::of(user);
    return me.guard([&] { return me.equations.crossing(modes, event); });
}

BIELA_MEMBER(fire)
template <class E>
std::int32_t fire(void *user, const biela_system_point *at, std::size_t event, std::int32_t *modes,
                  biela_system_reaction *reaction) noexcept
{
    auto &me = owned<E>::of(user);
    return me.guard([&] { return me.equations.fire(*at, event, modes, *reaction); });
}

BIELA_MEMBER(hold)
template <class E>
std::int32_t hold(void *user, std::size_t event, std::int32_t *modes) noexcept
{
    auto &me = owned<E>::of(user);
    return me.guard([&] { return me.equations.hold(event, modes); });
}

BIELA_MEMBER(active)
template <class E>
std::int32_t active(void *user, const std::int32_t *modes, std::uint8_t *rows) noexcept
{
    auto &me = owned<E>::of(user);
    return me.guard([&] { return me.equations.active(modes, rows); });
}

BIELA_MEMBER(start_modes)
template <class E>
std::int32_t start_modes(void *user, const biela_system_point *at, std::int32_t *modes) noexcept
{
    auto &me = owned<E>::of(user);
    return me.guard([&] { return me.equations.start_modes(*at, modes); });
}
} // namespace functions

template <class E>
void release(void *user) noexcept
{
    delete static_cast<owned<E> *>(user);
}

inline std::vector<const char *> pointers(const std::vector<std::string> &texts)
{
    std::vector<const char *> all;
    for (const std::string &text : texts) {
        all.push_back(text.c_str());
    }
    return all;
}

template <class A, class B>
std::pair<std::vector<A>, std::vector<B>> apart(const std::vector<std::pair<A, B>> &pairs)
{
    std::pair<std::vector<A>, std::vector<B>> both;
    for (const auto &[a, b] : pairs) {
        both.first.push_back(a);
        both.second.push_back(b);
    }
    return both;
}

template <class T>
const T *some(const std::vector<T> &values, std::size_t count, const char *name)
{
    if (!values.empty() && values.size() != count) {
        throw error(status::error_argument, std::string(name) + ": " + std::to_string(count) + " are needed, there are " +
                                                std::to_string(values.size()));
    }
    return values.empty() ? nullptr : values.data();
}

} // namespace detail

template <class E>
instance instance::from_system(E equations, const system_shape &shape)
{
    namespace functions = detail::functions;
    const std::size_t nq = shape.q.size(), nv = shape.nv ? shape.nv : nq;
    const auto inputs = detail::apart(shape.inputs), parameters = detail::apart(shape.parameters);
    const auto tangent = detail::apart(shape.tangent), jacobian = detail::apart(shape.jacobian);
    const auto input_names = detail::pointers(inputs.first), parameter_names = detail::pointers(parameters.first);
    const auto coordinates = detail::pointers(shape.coordinate_names);
    const auto constraints = detail::pointers(shape.constraint_names), events = detail::pointers(shape.event_names);
    auto thrown = std::make_shared<detail::thrown>();
    auto owned = std::make_unique<detail::owned<E>>(detail::owned<E>{std::move(equations), thrown});

    biela_system_definition d;
    detail::check(biela_system_definition_default(&d, sizeof d), nullptr);
    d.user = owned.get();
    d.release = detail::release<E>;
    d.name = shape.name.empty() ? nullptr : shape.name.c_str();
    d.solver = shape.solver.c_str();
    d.flags = shape.flags;
    d.nq = nq;
    d.nv = nv;
    d.nc = shape.nc;
    d.ne = shape.ne;
    d.modes = shape.modes;
    d.inputs = shape.inputs.size();
    d.parameters = shape.parameters.size();
    d.q = shape.q.data();
    d.v = detail::some(shape.v, nv, "v");
    d.weights = detail::some(shape.weights, nv, "weights");
    d.constraint_scales = detail::some(shape.constraint_scales, shape.nc, "constraint_scales");
    d.input_starts = inputs.second.data();
    d.parameter_starts = parameters.second.data();
    d.input_names = input_names.data();
    d.parameter_names = parameter_names.data();
    d.coordinate_names = detail::some(coordinates, nv, "coordinate_names");
    d.constraint_names = detail::some(constraints, shape.nc, "constraint_names");
    d.event_names = detail::some(events, shape.ne, "event_names");
    d.tangent_count = shape.tangent.size();
    d.tangent_rows = tangent.first.data();
    d.tangent_columns = tangent.second.data();
    d.jacobian_count = shape.jacobian.size();
    d.jacobian_rows = jacobian.first.data();
    d.jacobian_columns = jacobian.second.data();
#define BIELA_GIVE(name)                                                                                              \
    if constexpr (functions::has_##name<E>::value) {                                                                  \
        d.name = functions::name<E>;                                                                                  \
    }
    BIELA_GIVE(mass)
    BIELA_GIVE(mass_times)
    BIELA_GIVE(force)
    BIELA_GIVE(force_by_q)
    BIELA_GIVE(force_by_v)
    BIELA_GIVE(inertia_by_q)
    BIELA_GIVE(reaction_by_q)
    BIELA_GIVE(constraint)
    BIELA_GIVE(jacobian)
    BIELA_GIVE(constraint_rate)
    BIELA_GIVE(convective)
    BIELA_GIVE(energy)
    BIELA_GIVE(power)
    BIELA_GIVE(retract)
    BIELA_GIVE(difference)
    BIELA_GIVE(bracket)
    BIELA_GIVE(tangent_inverse)
    BIELA_GIVE(events)
    BIELA_GIVE(crossing)
    BIELA_GIVE(fire)
    BIELA_GIVE(hold)
    BIELA_GIVE(active)
    BIELA_GIVE(start_modes)
#undef BIELA_GIVE
#undef BIELA_MEMBER
#undef BIELA_FUNCTION
#undef BIELA_GROUP

    biela_instance *made = nullptr;
    const biela_status code = biela_system_new(&d, &made);
    if (thrown->exception && code != BIELA_STATUS_OK) {
        std::rethrow_exception(thrown->exception);
    }
    detail::check(code, nullptr);
    thrown->exception = nullptr;
    (void)owned.release(); // the library's from now on
    return instance(made, std::move(thrown));
}

} // namespace biela

#endif
