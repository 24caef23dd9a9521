// A C++17 host, linked: the run of linked.c with handles that free themselves and exceptions for statuses.
#include <biela.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Free {
    void operator()(biela_instance *instance) const { biela_instance_free(instance); }
};

class Mechanism {
public:
    explicit Mechanism(const char *path)
    {
        biela_instance *raw = nullptr;
        const auto status = biela_instance_new_from_file(path, &raw);
        instance.reset(raw);
        check(status);
    }

    std::vector<biela_variable> variables() const
    {
        std::uint32_t count = 0;
        check(biela_variable_count(instance.get(), &count));
        std::vector<biela_variable> all(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            check(biela_variable_default(&all[i], sizeof(biela_variable)));
            check(biela_variable_info(instance.get(), i, &all[i]));
        }
        return all;
    }

    std::uint32_t find(const char *name) const
    {
        std::uint32_t reference = 0;
        check(biela_variable_find(instance.get(), name, &reference));
        return reference;
    }

    void initialize(double start) const
    {
        check(biela_initialize(instance.get(), start, std::numeric_limits<double>::infinity(), 0.0));
    }

    void set(std::uint32_t reference, double value) const
    {
        check(biela_set_real(instance.get(), &reference, 1, &value));
    }

    void get(const std::vector<std::uint32_t> &references, std::vector<double> &values) const
    {
        check(biela_get_real(instance.get(), references.data(), references.size(), values.data()));
    }

    double step(double time, double step_size) const
    {
        double reached = time;
        check(biela_step(instance.get(), time, step_size, &reached));
        return reached;
    }

private:
    void check(biela_status status) const
    {
        if (status != BIELA_STATUS_OK) {
            throw std::runtime_error(std::string(biela_status_name(status)) + ": " + biela_last_error(instance.get()));
        }
    }

    std::unique_ptr<biela_instance, Free> instance;
};

void run(const char *path)
{
    const Mechanism crank(path);
    const auto variables = crank.variables();
    for (std::size_t i = 0; i < variables.size(); ++i) {
        std::printf("%s [%s] %d%s", variables[i].name, variables[i].unit, static_cast<int>(variables[i].causality),
                    i + 1 < variables.size() ? ", " : "\n");
    }
    std::vector<std::uint32_t> references(variables.size());
    std::iota(references.begin(), references.end(), 0u);
    std::vector<double> values(variables.size());
    const auto tau = crank.find("tau");

    const auto print = [&](int k, double time) {
        crank.get(references, values);
        std::printf("%d %a", k, time);
        for (const double value : values) {
            std::printf(" %a", value);
        }
        std::printf("\n");
    };

    crank.initialize(0.0);
    double time = 0.0;
    print(0, time);
    for (int k = 0; k < 100; ++k) {
        crank.set(tau, 0.5 * std::sin(0.1 * k));
        time = crank.step(time, 0.01);
        print(k + 1, time);
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2 || biela_abi_version() != BIELA_ABI_VERSION) {
        std::fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    try {
        run(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
