// A control loop on a crank: at each sample the controller tries two torques on the real mechanism, goes back, and takes the
// torque that leads to the wanted speed.
//
//     c++ -std=c++17 -Iinclude examples/cpp/control.cpp -Ltarget/release -lbiela -Wl,-rpath,target/release -o control
//     ./control models/slider_crank.toml
#include <biela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

int main(int argc, char **argv)
try {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    const double wanted = 15.0, sample = 0.01, strongest = 20.0; // rad/s, s, N.m
    biela::instance crank = biela::instance::from_file(argv[1]);
    const auto tau = crank.find("tau"), speed = crank.find("crank_speed");
    crank.initialize(0.0, 2.0);

    biela::state here; // used again at every sample: nothing is allocated
    const auto speed_with = [&](double torque) {
        crank.set(tau, torque);
        crank.step(sample);
        const double reached = crank.get(speed);
        crank.restore(here); // as if nothing had happened, to the last bit
        return reached;
    };
    double worst = 0.0;
    std::printf("time  speed     torque\n");
    for (int k = 1; k <= 200; k++) {
        crank.save(here);
        // Within one sample the speed is nearly a straight line over the torque.
        const double without = speed_with(0.0), with_one = speed_with(1.0);
        const double torque = std::clamp((wanted - without) / (with_one - without), -strongest, strongest);
        crank.set(tau, torque);
        crank.step(sample);
        if (k % 20 == 0) {
            std::printf("%.2f  %8.5f  %8.4f\n", crank.time(), crank.get(speed), torque);
        }
        if (crank.time() > 0.5) {
            worst = std::max(worst, std::fabs(crank.get(speed) - wanted));
        }
    }
    std::printf("largest deviation after 0.5 s: %.1e rad/s\n", worst);
    return worst < 0.05 ? 0 : 1;
} catch (const biela::error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
