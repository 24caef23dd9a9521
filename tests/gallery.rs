//! Models of the gallery, each against its expected result: a closed form, an equilibrium found by itself, or an independent
//! integration in other coordinates.

#[path = "common/sim.rs"]
mod sim;

use sim::{Sim, rk4};

/// Errors and the energy balance of a file at some times.
fn holds(file: &str, tolerance: f64, times: &[f64], mut look: impl FnMut(&mut Sim, f64)) {
    let mut sim = Sim::file(file, tolerance);
    for &t in times {
        sim.to(t);
        look(&mut sim, t);
    }
}

fn close(what: &str, t: f64, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error < tolerance,
        "{what} at {t} s: {found}, expected {expected}, error {error:.2e}"
    );
}

#[test]
fn the_motor_turns_the_crank_as_one_coordinate_with_a_changing_inertia() {
    let (r, l) = (0.1_f64, 0.3_f64);
    // ½ M(θ) θ̇² with slender crank and rod.
    let inertia = |theta: f64| {
        let (s, c) = theta.sin_cos();
        let cos_phi = (1.0 - (r * s / l).powi(2)).sqrt();
        let phi = -r * c / (l * cos_phi);
        let slider = -r * s - l * (-r * s / l) * phi;
        let (x, y) = (-r * s - 0.5 * l * (-r * s / l) * phi, 0.5 * r * c);
        1.2 * r * r / 3.0 + 0.6 * (x * x + y * y) + 0.0045 * phi * phi + 0.5 * slider * slider
    };
    let torque = 0.2;
    let f = |_: f64, y: &[f64; 2]| {
        let e = 1e-5;
        let slope = (inertia(y[0] + e) - inertia(y[0] - e)) / (2.0 * e);
        [y[1], (torque - 0.5 * slope * y[1] * y[1]) / inertia(y[0])]
    };
    holds("crank_motor.toml", 1e-7, &[0.3, 0.8, 1.4, 2.0], |sim, t| {
        let [angle, speed] = rk4(f, 0.0, t, [0.0, 0.0], 20_000);
        // 2 s are 20 turns at 100 rad/s: 1e-7 a step over 1000 steps.
        close("angle", t, sim.get("pivot.position"), angle, 1e-3);
        close("speed", t, sim.get("pivot.speed"), speed, 2e-2);
        close(
            "supplied",
            t,
            sim.get("energy.supplied"),
            torque * sim.get("pivot.position"),
            1e-4,
        );
        close("balance", t, sim.get("energy.balance"), 0.0, 1e-4);
    });
}

#[test]
fn the_quarter_car_climbs_the_step_as_an_independent_integration() {
    let (g, sag) = (9.81_f64, 340.0 * 9.81_f64 / 180_000.0);
    let road = |t: f64| if t < 1.0 { 0.0 } else { 0.05 };
    let f = |t: f64, y: &[f64; 4]| {
        let [car, wheel, car_dot, wheel_dot] = *y;
        let suspension =
            -2943.0 + 20_000.0 * (car - wheel - 0.51853) + 1500.0 * (car_dot - wheel_dot);
        let tyre = (180_000.0 * (road(t) + 0.3 - wheel)).max(0.0);
        [
            car_dot,
            wheel_dot,
            -suspension / 300.0 - g,
            (suspension + tyre) / 40.0 - g,
        ]
    };
    let start = [0.8, 0.28147, 0.0, 0.0];
    assert!((0.3 - sag - 0.28147).abs() < 1e-5);
    for tolerance in [1e-5, 1e-7] {
        holds(
            "quarter_car.toml",
            tolerance,
            &[0.5, 1.02, 1.05, 1.1, 1.3, 2.0, 4.0],
            |sim, t| {
                let at_step = rk4(f, 0.0, t.min(1.0), start, 2000);
                // From just behind the step on; 1e-5 s steps where the tyre may lift.
                let [car, wheel, ..] = if t > 1.0 {
                    rk4(f, 1.0 + 1e-12, t, at_step, 100_000)
                } else {
                    at_step
                };
                close("car", t, sim.get("car.y"), car, 100.0 * tolerance);
                close("wheel", t, sim.get("wheel.y"), wheel, 100.0 * tolerance);
                close(
                    "balance",
                    t,
                    sim.get("energy.balance"),
                    0.0,
                    1e5 * tolerance,
                );
            },
        );
    }
}

#[test]
fn the_stewart_platform_rises_to_where_its_legs_carry_it() {
    // Legs span 40° between circles of 1 m and 0.5 m.
    let across = 1.0 + 0.25 - 2.0 * 0.5 * 40.0_f64.to_radians().cos();
    let height = |force: f64| {
        let (mut low, mut high) = (0.2, 3.0);
        for _ in 0..100 {
            let z: f64 = 0.5 * (low + high);
            let length = (across + z * z).sqrt();
            let lift = 6.0 * (force - 50_000.0 * (length - 1.2)) * z / length;
            if lift > 981.0 { low = z } else { high = z }
        }
        low
    };
    for tolerance in [1e-5, 1e-6, 1e-7] {
        let mut sim = Sim::file("stewart.toml", tolerance);
        sim.to(3.0);
        close("height", 3.0, sim.get("platform.z"), height(400.0), 1e-6);
        for field in ["x", "y", "qx", "qy", "qz"] {
            close(field, 3.0, sim.get(&format!("platform.{field}")), 0.0, 1e-8);
        }
        for k in 1..=6 {
            sim.set(&format!("f{k}"), 3000.0);
        }
        sim.to(6.0);
        close("height", 6.0, sim.get("platform.z"), height(3000.0), 1e-6);
        // The cylinders jump by 15.6 kN together; times the tolerance (of 2 m) that is 3e4 tolerances a step.
        close(
            "balance",
            6.0,
            sim.get("energy.balance"),
            0.0,
            3e5 * tolerance,
        );
        println!(
            "stewart {tolerance}: balance {} of {}",
            sim.get("energy.balance"),
            sim.get("energy.supplied")
        );
    }
}

#[test]
fn the_excavator_sinks_into_the_equilibrium_of_weights_and_cylinders() {
    // Potential of boom angle a and stick angle b, cylinder forces as −F L.
    let turn = |angle: f64, p: [f64; 2]| {
        let (s, c) = angle.sin_cos();
        [c * p[0] - s * p[1], s * p[0] + c * p[1]]
    };
    let potential = |a: f64, b: f64| {
        let elbow = turn(a, [4.0, 0.0]);
        let on_boom = |p: [f64; 2]| turn(a, p);
        let on_stick = |p: [f64; 2]| {
            let d = turn(b, p);
            [elbow[0] + d[0], elbow[1] + d[1]]
        };
        let apart = |p: [f64; 2], q: [f64; 2]| (p[0] - q[0]).hypot(p[1] - q[1]);
        let boom = apart([0.8, -0.4], on_boom([2.0, 0.3]));
        let stick = apart(on_boom([2.0, 0.6]), on_stick([-0.5, 0.3]));
        600.0 * 9.81 * on_boom([2.0, 0.0])[1]
            + 400.0 * 9.81 * on_stick([1.5, 0.0])[1]
            + 0.5 * 1e5 * ((boom - 1.9_f64).powi(2) + (stick - 1.6_f64).powi(2))
            - 12_000.0 * boom
            - 2000.0 * stick
    };
    let mut sim = Sim::file("excavator.toml", 0.0);
    sim.to(20.0);
    close("speed", 20.0, sim.get("foot.speed"), 0.0, 1e-6);
    // Newton from where the model rests, by differences of the potential.
    let (mut a, mut b) = (sim.get("boom.angle"), sim.get("stick.angle"));
    let (begin_a, begin_b) = (a, b);
    for _ in 0..20 {
        let e = 1e-4;
        let v = |i: f64, j: f64| potential(a + i * e, b + j * e);
        let (ga, gb) = (
            (v(1.0, 0.0) - v(-1.0, 0.0)) / (2.0 * e),
            (v(0.0, 1.0) - v(0.0, -1.0)) / (2.0 * e),
        );
        let haa = (v(1.0, 0.0) - 2.0 * v(0.0, 0.0) + v(-1.0, 0.0)) / (e * e);
        let hbb = (v(0.0, 1.0) - 2.0 * v(0.0, 0.0) + v(0.0, -1.0)) / (e * e);
        let hab = (v(1.0, 1.0) - v(1.0, -1.0) - v(-1.0, 1.0) + v(-1.0, -1.0)) / (4.0 * e * e);
        let det = haa * hbb - hab * hab;
        assert!(haa > 0.0 && det > 0.0, "a stable equilibrium");
        a -= (hbb * ga - hab * gb) / det;
        b -= (haa * gb - hab * ga) / det;
    }
    close("boom", 20.0, begin_a, a, 1e-4);
    close("stick", 20.0, begin_b, b, 1e-4);
    // Weights of 1e4 N times 1e-6 of 4 m a step.
    close("balance", 20.0, sim.get("energy.balance"), 0.0, 0.1);
    println!("excavator: balance {}", sim.get("energy.balance"));
}

#[test]
fn the_follower_lifts_as_the_eccentric_disc() {
    holds(
        "cam_follower.toml",
        1e-6,
        &[0.3, 0.7, 1.1, 1.6, 2.0],
        |sim, t| {
            let (s, _) = (10.0 * t).sin_cos();
            let lift = 0.04 + 0.01 * s;
            // Carried: spring, weight and inertia, a depth of N/k.
            let normal = 500.0 * lift + 0.3 * 9.81 - 0.3 * 0.01 * 100.0 * s;
            close(
                "lift",
                t,
                sim.get("guide.position"),
                lift - normal / 1e6,
                1e-6,
            );
            close("force", t, sim.get("contact.force"), normal, 0.05);
            close("balance", t, sim.get("energy.balance"), 0.0, 1e-4);
        },
    );
}

#[test]
fn the_gyroscope_goes_round_level() {
    let rate = 2.0 * 9.81 * 0.15 / (0.01 * 200.0);
    holds("gyroscope.toml", 1e-7, &[0.5, 1.0, 2.0], |sim, t| {
        let (s, c) = (rate * t).sin_cos();
        // 1e-7 of 0.15 m a step, 200 rad/s: some 1e4 steps.
        close("x", t, sim.get("rotor.x"), 0.15 * c, 1e-5);
        close("y", t, sim.get("rotor.y"), 0.15 * s, 1e-5);
        close("z", t, sim.get("rotor.z"), 0.0, 1e-5);
        close("balance", t, sim.get("energy.balance"), 0.0, 1e-3);
    });
}

#[test]
fn the_chain_settles_into_a_catenary_of_stiff_links() {
    // tan of link k = (k − 5.5) step, the middle level; the step from the span.
    let span = |step: f64| {
        (1..=10)
            .map(|k| 0.1 * ((f64::from(k) - 5.5) * step).atan().cos())
            .sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if span(middle) > 0.7 {
            low = middle
        } else {
            high = middle
        }
    }
    let mut sim = Sim::file("chain.toml", 0.0);
    sim.to(20.0);
    for k in 1..=10 {
        let expected = ((f64::from(k) - 5.5) * low).atan();
        close(
            "angle",
            20.0,
            sim.get(&format!("link{k}.angle")),
            expected,
            1e-4,
        );
    }
    close("balance", 20.0, sim.get("energy.balance"), 0.0, 1e-3);
    // All that was lost went into the pins.
    assert!(sim.get("energy.dissipated") > 0.1);
}

#[test]
fn the_spatial_slider_follows_the_length_of_the_rod() {
    holds(
        "spatial_slider_crank.toml",
        1e-7,
        &[0.1, 0.23, 0.37, 0.6, 1.0],
        |sim, t| {
            let angle = 4.0 * std::f64::consts::PI * t;
            // Right-handed about x from straight up: towards −y.
            let (y, z) = (0.1 - 0.08 * angle.sin(), 0.12 + 0.08 * angle.cos());
            close(
                "slider",
                t,
                sim.get("guide.position"),
                (0.09 - y * y - z * z).sqrt(),
                1e-6,
            );
            close("balance", t, sim.get("energy.balance"), 0.0, 1e-4);
        },
    );
}
