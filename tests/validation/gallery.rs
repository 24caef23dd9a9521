//! Models of the gallery, each against its expected result: a closed form, an equilibrium found by itself, or an independent
//! integration in other coordinates.

use crate::sim::{Sim, rk4};

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

/// Rows of a table of known solutions.
fn table(text: &str) -> Vec<Vec<f64>> {
    (text.lines().filter(|line| !line.starts_with('#')))
        .map(|line| line.split(',').map(|x| x.trim().parse().unwrap()).collect())
        .collect()
}

/// A file against a table: columns by the name of their quantity, allowed errors times the tolerance 1e-8 of 1 m or so.
fn follows(file: &str, rows: &[Vec<f64>], columns: &[(usize, &str)], end: f64, allowed: f64) {
    let mut sim = Sim::file(file, 1e-8);
    for row in rows.iter().filter(|row| row[0] > 0.0 && row[0] <= end) {
        sim.to(row[0]);
        for &(k, quantity) in columns {
            close(quantity, row[0], sim.get(quantity), row[k], allowed);
        }
        close("balance", row[0], sim.get("energy.balance"), 0.0, 1e-5);
    }
}

#[test]
fn pendulums_and_cranks_follow_their_tables() {
    // Some hundred steps of 1e-8 and what they are amplified by: a little in one pendulum, much in two.
    follows(
        "pendulum.toml",
        &table(include_str!("../reference/simple_pendulum.csv")),
        &[(3, "bob.x"), (4, "bob.y"), (5, "bob.vx"), (6, "bob.vy")],
        10.0,
        1e-6,
    );
    follows(
        "double_pendulum.toml",
        &table(include_str!("../reference/double_pendulum.csv")),
        &[
            (1, "upper.x"),
            (2, "upper.y"),
            (3, "lower.x"),
            (4, "lower.y"),
        ],
        4.0,
        1e-5,
    );
    follows(
        "slider_crank.toml",
        &table(include_str!("../reference/slider_crank.csv")),
        &[
            (3, "crank.angle"),
            (6, "rod.angle"),
            (7, "slider.x"),
            (8, "pivot.speed"),
        ],
        2.0,
        1e-5,
    );
    // The table counts clockwise.
    let mut clockwise = table(include_str!("../reference/n_four_bar_2.csv"));
    for row in &mut clockwise {
        (row[1], row[2]) = (-row[1], -row[2]);
    }
    follows(
        "double_four_bar.toml",
        &clockwise,
        &[(1, "A0.position"), (2, "A0.speed")],
        5.0,
        1e-5,
    );
}

#[test]
fn the_four_bar_turns_as_one_coordinate_with_a_changing_inertia() {
    let (crank, coupler, rocker) = (0.3_f64, 0.9_f64, 0.7_f64);
    // Angles of coupler and rocker over that of the crank: the pins 1 m apart, the loop closed upwards.
    let pose = |theta: f64| {
        let b = [crank * theta.cos(), crank * theta.sin()];
        let (x, y) = (1.0 - b[0], -b[1]);
        let far = x.hypot(y);
        let corner = (coupler * coupler + far * far - rocker * rocker) / (2.0 * coupler * far);
        let phi = y.atan2(x) + corner.acos();
        let c = [b[0] + coupler * phi.cos(), b[1] + coupler * phi.sin()];
        (b, phi, c, c[1].atan2(c[0] - 1.0))
    };
    // x, y, angle of the three centres of mass.
    let places = |theta: f64| {
        let (b, phi, c, psi) = pose(theta);
        [
            [0.5 * b[0], 0.5 * b[1], theta],
            [0.5 * (b[0] + c[0]), 0.5 * (b[1] + c[1]), phi],
            [0.5 * (1.0 + c[0]), 0.5 * c[1], psi],
        ]
    };
    let masses = [
        [0.3, 0.3, 0.00225],
        [0.9, 0.9, 0.06075],
        [0.7, 0.7, 0.028_583_333_333_333_333],
    ];
    let e = 1e-4;
    // Fourth order: some 1e-15/e of rounding.
    let slope = |f: &dyn Fn(f64) -> f64, x: f64| {
        (8.0 * (f(x + e) - f(x - e)) - (f(x + 2.0 * e) - f(x - 2.0 * e))) / (12.0 * e)
    };
    let inertia = |theta: f64| {
        let mut sum = 0.0;
        for b in 0..3 {
            for k in 0..3 {
                sum += masses[b][k] * slope(&|x| places(x)[b][k], theta).powi(2);
            }
        }
        sum
    };
    let height = |theta: f64| {
        9.81 * (0..3)
            .map(|b| masses[b][0] * places(theta)[b][1])
            .sum::<f64>()
    };
    let length = |theta: f64| {
        let p = places(theta)[2];
        (p[0] - 1.6).hypot(p[1])
    };
    let torque = 1.5;
    let f = |_: f64, y: &[f64; 2]| {
        let [theta, rate] = *y;
        let damped = 4.0 * slope(&length, theta).powi(2) * rate;
        let force =
            torque - slope(&height, theta) - damped - 0.5 * slope(&inertia, theta) * rate * rate;
        [rate, force / inertia(theta)]
    };
    let mut sim = Sim::file("four_bar.toml", 1e-7);
    sim.set("tau", torque);
    let start = sim.get("crank.angle");
    for t in [0.3, 0.8, 1.5] {
        sim.to(t);
        let [theta, rate] = rk4(f, 0.0, t, [start, 0.0], 4000);
        // Differences of differences: 1e-7; the run: 1e-7 a step.
        close("crank", t, sim.get("crank.angle"), theta, 1e-4);
        close("speed", t, sim.get("A.speed"), rate, 1e-3);
        close("rocker", t, sim.get("rocker.angle"), pose(theta).3, 1e-4);
        close("balance", t, sim.get("energy.balance"), 0.0, 1e-5);
    }
}

#[test]
fn the_squeezer_closes_as_the_test_set_says() {
    let rows = table(include_str!("../reference/andrews.csv"));
    let last = rows.last().unwrap();
    let mut sim = Sim::file("andrews.toml", 1e-8);
    sim.to(last[0]);
    // β, the crank's angle: 15 rad in 0.03 s; the file begins with its start value.
    let crank = sim.instance.model().joints[0].name.clone();
    close(
        "beta",
        last[0],
        sim.get(&format!("{crank}.position")),
        last[1],
        1e-5,
    );
    close("balance", last[0], sim.get("energy.balance"), 0.0, 1e-6);
}

#[test]
fn the_quarter_suspension_settles_where_its_table_says() {
    // tests/validation/iltis.rs looks closer.
    let mut sim = Sim::file("iltis.toml", 0.0);
    close("tyre", 0.0, sim.get("tyre.force"), 3829.5, 1e-6);
    sim.to(3.0);
    close("balance", 3.0, sim.get("energy.balance"), 0.0, 0.1);
}

#[test]
fn the_ball_on_the_linkage_bounces_and_comes_to_rest() {
    // ½ I θ'² with two arms of 0.4 kg and the carrier; the ball's lowest point is 0.15 m + 0.5 m sin θ above the floor.
    let (inertia, weight) = (2.0 * 0.4 * 0.25 / 3.0 + 0.25, 0.7 * 9.81);
    let f = |_: f64, y: &[f64; 2]| [y[1], -weight / inertia * y[0].cos()];
    let floor = -0.3_f64.asin();
    let (mut t, mut y, mut lost) = (0.0, [0.6, 0.0], 0.0);
    let mut sim = Sim::file("bouncing_linkage.toml", 1e-7);
    let h = 1e-3;
    let mut blows = 0;
    while t < 1.2 {
        let next = rk4(f, 0.0, h, y, 1);
        if next[0] > floor {
            (t, y) = (t + h, next);
            continue;
        }
        let mut part = 0.5 * h;
        for _ in 0..20 {
            let hit = rk4(f, 0.0, part, y, 1);
            part -= (hit[0] - floor) / hit[1];
        }
        let hit = rk4(f, 0.0, part, y, 1);
        lost += 0.5 * inertia * (1.0 - 0.49) * hit[1] * hit[1];
        (t, y) = (t + part, [floor, -0.7 * hit[1]]);
        blows += 1;
        // Half way to the next blow or so.
        let later = t + 0.3 * 2.0 * y[1] * inertia / weight;
        let there = rk4(f, 0.0, later - t, y, 200);
        sim.to(later);
        close("angle", later, sim.get("lower.angle"), there[0], 1e-6);
        close("lost", later, sim.get("energy.dissipated"), lost, 1e-5);
        close("balance", later, sim.get("energy.balance"), 0.0, 1e-6);
        if blows == 4 {
            break;
        }
    }
    assert_eq!(blows, 4);
    sim.to(4.0);
    close("gap", 4.0, sim.get("floor.length"), 0.0, 1e-10);
    // N 0.5 cos θ = 0.7 g cos θ
    close("carried", 4.0, sim.get("floor.force"), 13.734, 1e-6);
    close("balance", 4.0, sim.get("energy.balance"), 0.0, 1e-6);
}

#[test]
fn the_last_ball_of_the_cradle_swings_out_as_far_as_the_first_came_in() {
    // Period of a pendulum by the mean of Gauss: 2π / (ω agm(1, cos θ₀/2)).
    let omega = (0.2 * 9.81 * 0.5 / (0.2 * 0.25 + 0.0002_f64)).sqrt();
    let (mut a, mut b) = (1.0, 0.3_f64.cos());
    for _ in 0..10 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let period = 2.0 * std::f64::consts::PI / (omega * a);
    let mut sim = Sim::file("newton_cradle.toml", 1e-7);
    for half in 1..=6 {
        let t = 0.5 * period * f64::from(half);
        sim.to(t);
        let (first, last) = if half % 2 == 1 {
            (0.0, 0.6)
        } else {
            (-0.6, 0.0)
        };
        // Each passage is four blows, hit to 1e-6 of the tolerance, and balls that touch to 1e-7.
        close("first", t, sim.get("pin1.position"), first, 1e-5);
        close("last", t, sim.get("pin5.position"), last, 1e-5);
        for k in 2..=4 {
            close("inner", t, sim.get(&format!("pin{k}.position")), 0.0, 1e-5);
        }
        close("balance", t, sim.get("energy.balance"), 0.0, 1e-6);
        close("lost", t, sim.get("energy.dissipated"), 0.0, 1e-9);
    }
}

#[test]
fn the_cross_of_the_geneva_drive_turns_by_quarters_and_waits() {
    let quarter = std::f64::consts::FRAC_PI_4;
    let ideal = |driver: f64| {
        let turns = ((driver + quarter) / std::f64::consts::TAU).floor();
        let a = driver - turns * std::f64::consts::TAU;
        let slot = if a.abs() < quarter {
            a.sin().atan2(2f64.sqrt() - a.cos())
        } else {
            quarter
        };
        -2.0 * quarter * turns - slot - quarter
    };
    let times: Vec<f64> = (1..=60).map(|k| 0.05 * f64::from(k)).collect();
    holds("geneva.toml", 1e-5, &times, |sim, t| {
        let driver = -std::f64::consts::FRAC_PI_3 + 6.0 * t;
        let expected = if driver < -quarter {
            0.0
        } else {
            ideal(driver)
        };
        // Play of 0.2 mm at 41 mm to both sides.
        close(
            "turn",
            t,
            sim.get("bearing.position"),
            expected,
            2.0 * 0.0002 / 0.041,
        );
        close("balance", t, sim.get("energy.balance"), 0.0, 1e-2);
    });
}
