// Everything in biela.hpp: a model driven, refusals as exceptions, states, and systems of one's own with what they throw.
#include <biela.hpp>
#include <biela.hpp> // twice is fine

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

static int failures = 0;

#define EXPECT(condition) \
    ((condition) ? (void)0 : (void)(failures++, std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition)))

// The exception of a call, or the wrong one.
template <class F>
static biela::error failing(F &&call)
{
    try {
        call();
    } catch (const biela::error &error) {
        return error;
    }
    return biela::error(biela::status::ok, "nothing was thrown");
}

static bool speaks(const biela::error &error, biela::status code, const char *word)
{
    const bool fits = error.code() == code && std::strstr(error.what(), word) != nullptr;
    if (!fits) {
        std::fprintf(stderr, "%d: %s\n", static_cast<int>(error.code()), error.what());
    }
    return fits;
}

static void drives(const std::string &path)
{
    EXPECT(biela::version().find('.') != std::string::npos);
    biela::instance crank = biela::instance::from_file(path);
    const std::uint32_t tau = crank.find("tau"), slider = crank.find("slider_x");
    bool found = false;
    for (const biela::variable &variable : crank.variables()) {
        if (variable.name == "tau") {
            found = variable.reference == tau && variable.causality == biela::causality::input && variable.start.has_value() &&
                    variable.variability == biela::variability::continuous && variable.dependencies.empty() &&
                    !variable.description.empty();
        }
    }
    EXPECT(found);
    EXPECT(speaks(failing([&] { crank.step(0.1); }), biela::status::error_call_order, "initialize"));
    crank.initialize();
    EXPECT(speaks(failing([&] { crank.find("tua"); }), biela::status::error_unknown_variable, "did you mean"));
    EXPECT(speaks(failing([&] { crank.set(slider, 1.0); }), biela::status::error_not_settable, "slider_x"));
    EXPECT(speaks(failing([&] { crank.set(std::array<std::uint32_t, 2>{tau, slider}, std::array<double, 1>{1.0}); }), biela::status::error_argument, "1 values for 2"));

    crank.set("tau", 0.5);
    crank.set(std::vector<std::uint32_t>{tau}, std::array<double, 1>{0.5});
    EXPECT(crank.get(tau) == 0.5 && crank.get("tau") == 0.5);
    crank.step(0.05);
    EXPECT(crank.time() == 0.05);
    biela::state there = crank.save();
    EXPECT(there && there.handle());
    crank.step(crank.time(), 0.05);
    const std::vector<std::uint32_t> both{tau, slider};
    const std::vector<double> first = crank.get(both);
    crank.restore(there);
    EXPECT(crank.time() == 0.05);
    biela_state *const handle = there.handle();
    crank.save(there); // used again
    EXPECT(there.handle() == handle);
    crank.step(0.05);
    std::vector<double> again(2);
    crank.get(both, again);
    EXPECT(first == again);
    EXPECT(crank.statistics().steps > 0);
    EXPECT(speaks(failing([&] { crank.answer(); }), biela::status::error_argument, "biela_system_new"));

    // Derivatives of inputs and outputs.
    crank.set_extrapolation(0);
    crank.set_input_derivative(tau, 1, 2.0);
    crank.set_input_derivatives(std::array<std::uint32_t, 1>{tau}, std::array<std::uint32_t, 1>{1}, std::array<double, 1>{2.0});
    EXPECT(failing([&] { crank.set_input_derivative(tau, 9, 2.0); }).code() == biela::status::error_argument);
    const std::uint32_t position = crank.find("slider_x"), velocity = crank.find("slider_v");
    EXPECT(std::fabs(crank.output_derivative(position) - crank.get(velocity)) < 1e-12);
    const std::vector<double> rates = crank.output_derivatives(std::vector<std::uint32_t>{position, velocity},
                                                               std::vector<std::uint32_t>{2, 1});
    EXPECT(rates.size() == 2 && std::fabs(rates[0] - rates[1]) < 1e-6 * (1.0 + std::fabs(rates[0])));
    const std::uint32_t force = crank.find("pivot_fx");
    const std::vector<double> slope = crank.directional_derivative(std::vector<std::uint32_t>{force}, std::vector<std::uint32_t>{tau},
                                                                   std::array<double, 1>{1.0});
    const double before = crank.get(force);
    crank.set(tau, crank.get(tau) + 1.0);
    EXPECT(std::fabs(crank.get(force) - before - slope.at(0)) < 1e-8 * (1.0 + std::fabs(before)));

    // States as bytes, into another instance.
    const biela::state point = crank.save();
    const std::vector<std::uint8_t> bytes = crank.serialize(point);
    biela::instance twin = biela::instance::from_file(path);
    twin.restore(twin.deserialize(bytes));
    crank.step(0.02);
    twin.step(0.02);
    EXPECT(crank.get(both) == twin.get(both));
    std::vector<std::uint8_t> damaged = bytes;
    damaged[damaged.size() / 2] ^= 1;
    EXPECT(failing([&] { twin.deserialize(damaged); }).code() == biela::status::error_state);

    // Messages, also from an instance that has been moved; what a logger throws stays inside.
    int heard = 0;
    twin.set_logger(biela::log_level::debug, [&](biela::log_level, const char *, double, const char *message) {
        heard += message[0] != '\0';
        throw 1;
    });
    twin.step(0.02);
    EXPECT(heard > 0);
    biela::instance speaking = std::move(twin);
    heard = 0;
    speaking.step(0.02);
    EXPECT(heard > 0);
    speaking.set_logger(biela::log_level::debug, nullptr);
    heard = 0;
    speaking.step(0.02);
    EXPECT(heard == 0);

    // Moved, not copied.
    static_assert(!std::is_copy_constructible_v<biela::instance> && !std::is_copy_constructible_v<biela::state>);
    biela::instance moved = std::move(crank);
    EXPECT(crank.handle() == nullptr && moved.time() > 0.05);
    EXPECT(failing([&] { crank.time(); }).code() == biela::status::error_argument);
    biela::state other = std::move(there);
    EXPECT(!there && other);
    moved.restore(other);
    crank = std::move(moved);
    crank.cancel();
    EXPECT(speaks(failing([&] { crank.step(0.05); }), biela::status::cancelled, "cancelled"));
    crank.reset();
    EXPECT(crank.time() == 0.0);
    biela::state never;
    EXPECT(failing([&] { crank.restore(never); }).code() == biela::status::error_argument);

    EXPECT(speaks(failing([] { biela::instance::from_file("nowhere.toml"); }), biela::status::error_file, "nowhere"));
    EXPECT(speaks(failing([] { biela::instance::from_string("format = 2"); }), biela::status::error_model, "1:"));
    const char *text = "format = 1\n[system]\nmass = [[1]]\nstiffness = [[4]]\nposition = [1]\n"
                       "[[output]]\nname = \"x\"\nsource = \"q1\"\n";
    biela::instance oscillator = biela::instance::from_string(text, ".");
    oscillator.initialize(0.0, 10.0, 1e-8);
    oscillator.step(1.0);
    EXPECT(std::fabs(oscillator.get("x") - std::cos(2.0)) < 1e-5);
}

static std::atomic<int> alive{0};

// A ball that falls, bounces and, when the floor is gone, throws.
struct ball {
    ball() { alive++; }
    ball(const ball &other) : throws(other.throws) { alive++; }
    ball(ball &&other) noexcept : throws(other.throws) { alive++; }
    ~ball() { alive--; }

    bool throws = false;

    void mass(const biela_system_point &, double *out) const { out[0] = 2.0; }
    int force(const biela_system_point &at, double *out) const
    {
        if (throws && at.time > 0.2) {
            throw std::out_of_range("the floor has gone");
        }
        out[0] = -2.0 * at.p[0] + at.u[0];
        return at.time > 5.0 ? -4 : 0;
    }
    void energy(const biela_system_point &at, double *out) const
    {
        out[0] = at.v[0] * at.v[0];
        out[1] = 2.0 * at.p[0] * at.q[0];
    }
    void events(const biela_system_point &at, double *phi, double *rate) const
    {
        phi[0] = at.q[0];
        rate[0] = at.v[0];
    }
    std::int32_t crossing(const std::int32_t *, std::size_t) const { return BIELA_CROSSING_FALLING; }
    void fire(const biela_system_point &, std::size_t, std::int32_t *modes, biela_system_reaction &reaction) const
    {
        modes[0]++;
        reaction.kind = BIELA_REACTION_IMPULSE;
        reaction.restitution = 0.5;
        reaction.slowest = 0.0;
        reaction.gradient[0] = 1.0;
    }
};

static void owns_equations()
{
    biela::system_shape shape;
    shape.name = "ball";
    shape.q = {1.0};
    shape.v = {0.0};
    shape.weights = {1.0};
    shape.ne = 1;
    shape.modes = 1;
    shape.solver = "tolerance = 1e-8";
    shape.inputs = {{"lift", 0.0}};
    shape.parameters = {{"gravity", 9.81}};
    shape.coordinate_names = {"height"};
    shape.event_names = {"floor"};
    {
        biela::instance falling = biela::instance::from_system(ball(), shape);
        EXPECT(alive == 1);
        falling.initialize();
        const double fall = std::sqrt(2.0 / 9.81), apex = 1.5 * fall;
        falling.step(apex);
        EXPECT(std::fabs(falling.get("q1") - 0.25) < 1e-6);
        EXPECT(std::fabs(falling.get("energy.total") - 2.0 * 9.81 * 0.25) < 1e-4);
        biela::instance moved = std::move(falling);
        // Upwards for good, until the force says stop.
        moved.set("lift", 3.0 * 9.81);
        EXPECT(speaks(failing([&] { moved.step(10.0); }), biela::status::error_callback, "\"force\" answered -4"));
        EXPECT(moved.answer() == -4 && moved.time() <= 5.0);
    }
    EXPECT(alive == 0);

    ball thrower;
    thrower.throws = true;
    {
        biela::instance falling = biela::instance::from_system(thrower, shape);
        falling.initialize();
        bool caught = false;
        try {
            falling.step(1.0);
        } catch (const std::out_of_range &exception) {
            caught = std::strcmp(exception.what(), "the floor has gone") == 0;
        }
        EXPECT(caught && falling.time() <= 0.2);
        EXPECT(falling.answer() == -1); // and the instance can be used
    }
    EXPECT(alive == 1);

    shape.weights = {1.0, 2.0};
    EXPECT(speaks(failing([&] { biela::instance::from_system(ball(), shape); }), biela::status::error_argument, "weights"));
    shape.weights = {};
    shape.solver = "alpha = 7";
    EXPECT(speaks(failing([&] { biela::instance::from_system(ball(), shape); }), biela::status::error_model, "alpha"));
    EXPECT(alive == 1); // a failed creation keeps nothing
}

// Two links in relative coordinates would do without; here for the members that the ball has not: a pendulum with all.
struct pendulum {
    void mass_times(const biela_system_point &at, double *out) const
    {
        out[0] = at.a[0];
        out[1] = at.a[1];
    }
    void force(const biela_system_point &, double *out) const { out[1] = -9.81; }
    void force_by_q(const biela_system_point &, double *) const {}
    void force_by_v(const biela_system_point &, double *) const {}
    void inertia_by_q(const biela_system_point &, double *) const {}
    void reaction_by_q(const biela_system_point &at, double *out) const { out[0] = out[1] = at.lambda[0]; }
    void constraint(const biela_system_point &at, double *out) const
    {
        out[0] = 0.5 * (at.q[0] * at.q[0] + at.q[1] * at.q[1] - 1.0);
    }
    void jacobian(const biela_system_point &at, double *out) const
    {
        out[0] = at.q[0];
        out[1] = at.q[1];
    }
    void constraint_rate(const biela_system_point &, double *) const {}
    void convective(const biela_system_point &at, double *out) const { out[0] = at.v[0] * at.v[0] + at.v[1] * at.v[1]; }
    void power(const biela_system_point &, double *) const {}
    void retract(const double *q, const double *w, double *out) const
    {
        out[0] = q[0] + w[0];
        out[1] = q[1] + w[1];
    }
    void difference(const double *from, const double *to, double *out) const
    {
        out[0] = to[0] - from[0];
        out[1] = to[1] - from[1];
    }
    void bracket(const double *, const double *, double *) const {}
    void tangent_inverse(const double *, const double *y, double *out) const
    {
        out[0] = y[0];
        out[1] = y[1];
    }
    void hold(std::size_t, std::int32_t *) const {}
    void active(const std::int32_t *, std::uint8_t *rows) const { rows[0] = 1; }
    void start_modes(const biela_system_point &, std::int32_t *modes) const { modes[0] = 3; }
};

static void gives_all()
{
    biela::system_shape shape;
    shape.q = {1.0, 0.0};
    shape.nc = 1;
    shape.modes = 1;
    shape.constraint_scales = {1.0};
    shape.constraint_names = {"rod"};
    shape.tangent = {{0, 0}, {1, 1}};
    shape.jacobian = {{0, 0}, {0, 1}};
    shape.flags = BIELA_SYSTEM_CONSTANT_MASS;
    biela::instance swinging = biela::instance::from_system(pendulum{}, shape);
    swinging.initialize();
    // Another thread may use it, one at a time.
    std::thread([&] { swinging.step(2.0); }).join();
    const std::vector<std::uint32_t> names{swinging.find("q1"), swinging.find("q2"), swinging.find("v1"), swinging.find("v2")};
    const std::vector<double> x = swinging.get(names);
    EXPECT(std::fabs(x[0] * x[0] + x[1] * x[1] - 1.0) < 1e-9);
    EXPECT(std::fabs(0.5 * (x[2] * x[2] + x[3] * x[3]) + 9.81 * x[1]) < 1e-4);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    try {
        drives(argv[1]);
        owns_equations();
        gives_all();
    } catch (const std::exception &exception) {
        std::fprintf(stderr, "thrown: %s\n", exception.what());
        return 1;
    }
    if (failures) {
        std::fprintf(stderr, "%d expectations failed\n", failures);
        return 1;
    }
    std::puts("fine");
    return 0;
}
