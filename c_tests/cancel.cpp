// `cancel()` from another thread while the user's equations throw: every exception arrives where the step was called. Run under
// ThreadSanitizer too.
#include <biela.hpp>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <thread>

struct broken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct pendulum {
    std::atomic<bool> *throwing;
    std::atomic<int> *thrown;

    void mass_times(const biela_system_point &at, double *out) { out[0] = at.a[0]; }
    void force(const biela_system_point &at, double *out)
    {
        if (*throwing && at.time > 0.5) {
            (*thrown)++;
            throw broken("the rod");
        }
        out[0] = -9.81 * std::sin(at.q[0]);
    }
};

int main()
{
    std::atomic<bool> throwing{false}, done{false};
    std::atomic<int> thrown{0}, misplaced{0};
    biela::system_shape shape;
    shape.q = {1.0};
    shape.name = "pendulum";
    auto instance = biela::instance::from_system(pendulum{&throwing, &thrown}, shape);
    instance.initialize();
    instance.step(0.45);
    const auto state = instance.save();
    std::thread other([&] {
        while (!done) {
            try {
                instance.cancel();
            } catch (...) {
                misplaced++;
            }
            std::this_thread::yield();
        }
    });
    int seen = 0, lost = 0;
    for (int round = 0; round < 300; round++) {
        throwing = false;
        instance.restore(state);
        throwing = true;
        // The other thread may stop a step before its first substep, many times over on a busy machine.
        for (int k = 0; k < 1000000; k++) {
            const int before = thrown;
            try {
                instance.step(0.01);
            } catch (const broken &) {
                seen++;
                break;
            } catch (const biela::error &error) {
                if (error.code() == biela::status::error_callback) {
                    lost += thrown != before;
                    break;
                }
            }
        }
    }
    done = true;
    other.join();
    std::printf("%d seen, %d lost, %d misplaced\n", seen, lost, misplaced.load());
    return !(seen == 300 && lost == 0 && misplaced == 0);
}
