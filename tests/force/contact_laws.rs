//! Tyres and compliant contacts against closed forms and independent integrations.

use std::f64::consts::PI;

use crate::forces::follows;
use crate::sim::{Sim, rk4};

#[test]
fn a_wheel_bounces_on_its_tyre_and_rides_over_waves() {
    // Dropped from 0.2 m over the road: free fall, then about the static deflection with ω = 20 until it lifts off.
    let text = r#"format = 1
name = "wheel"
dimension = 2
gravity = [0, -10]
[solver]
length = 1.0
[[body]]
name = "wheel"
mass = 5.0
inertia = 1.0
position = [0.0, 0.5]
[[force]]
name = "tyre"
type = "tyre"
body = "wheel"
radius = 0.3
stiffness = 2000
"#;
    let (g, w) = (10.0_f64, 20.0_f64);
    let (touch, speed) = ((0.4 / g).sqrt(), (0.4 * g).sqrt());
    let sag = g / (w * w);
    let amplitude = (sag * sag + (speed / w).powi(2)).sqrt();
    let phase = (w * sag / speed).atan();
    let lift = (PI + 2.0 * phase) / w;
    let exact = |t: f64| {
        let s = t - touch;
        if s < 0.0 {
            0.5 - 0.5 * g * t * t
        } else if s < lift {
            0.3 - sag - amplitude * (w * s - phase).sin()
        } else {
            0.3 + speed * (s - lift) - 0.5 * g * (s - lift).powi(2)
        }
    };
    follows(text, "wheel.y", 100.0, &[0.1, 0.25, 0.3, 0.4, 0.5], exact);
    // Pressed by its weight over waves of the road that pass below: a driven oscillator that never lifts.
    let waves = text.replace("position = [0.0, 0.5]", "position = [0.0, 0.275]")
        + "damping = 40\nspeed = 2.0\nprofile = { polynomial = [0.0, 0.004, 0.002, -0.0004] }\n";
    let road = |t: f64| {
        let s = 2.0 * t;
        (
            0.004 * s + 0.002 * s * s - 0.0004 * s * s * s,
            2.0 * (0.004 + 0.004 * s - 0.0012 * s * s),
        )
    };
    let exact = |t: f64| {
        let f = |t: f64, y: &[f64; 2]| {
            let (z, z_dot) = road(t);
            let force = 2000.0 * (z + 0.3 - y[0]) + 40.0 * (z_dot - y[1]);
            assert!(force > 0.0);
            [y[1], force / 5.0 - g]
        };
        rk4(f, 0.0, t, [0.275, 0.0], 4000)[0]
    };
    follows(&waves, "wheel.y", 100.0, &[0.3, 1.0, 2.0], exact);
}

#[test]
fn a_ball_after_hunt_and_crossley_leaves_as_its_integral_says() {
    // v dv/(1 + d v) = −(k/m) δⁿ dδ: H(v) = v/d − ln(1 + d v)/d² is the same at both ends.
    let (d, v0) = (0.3_f64, -2.0_f64);
    let h = |v: f64| v / d - (1.0 + d * v).ln() / (d * d);
    // The depth grows at −v0 and falls at v: H(−v0) = H(−v).
    let target = h(-v0);
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if h(-middle) < target {
            low = middle
        } else {
            high = middle
        }
    }
    let leaves = low;
    for dimension in [2, 3] {
        let text = if dimension == 2 {
            "inertia = 1\nposition = [0, 0.2]\nvelocity = [0, -2]\n[[force]]\nname = \"floor\"\ntype = \"contact\"\nplane = { normal = [0, 1] }\n"
        } else {
            "inertia = [1, 1, 1]\nposition = [0, 0.2, 0]\nvelocity = [0, -2, 0]\n[[force]]\nname = \"floor\"\ntype = \"contact\"\nplane = { normal = [0, 1, 0] }\n"
        };
        let text = format!(
            "format = 1\nname = \"ball\"\ndimension = {dimension}\n[solver]\nlength = 0.01\n[[body]]\nname = \"ball\"\nmass = 0.5\n{text}\
             bodies = [\"ground\", \"ball\"]\nradius = 0.1\nlaw = \"hunt_crossley\"\nstiffness = 1e5\ndamping = 0.3\n"
        );
        let mut errors = vec![];
        for tolerance in [1e-4, 1e-5, 1e-6] {
            let mut sim = Sim::new(&text, tolerance);
            sim.to(0.2);
            errors.push((sim.get("ball.vy") - leaves).abs());
            assert!(
                sim.get("energy.balance").abs() < 100.0 * tolerance,
                "{}",
                sim.get("energy.balance")
            );
            let lost = 0.25 * (v0 * v0 - leaves * leaves);
            assert!((sim.get("energy.dissipated") - lost).abs() < 100.0 * tolerance);
        }
        // A force that begins as d^1.5 limits the order: the error falls at least as the root of the tolerance.
        assert!(errors[0] < 2e-2 && errors[2] < 2e-3, "{errors:?}");
    }
}

#[test]
fn a_sliding_ball_ends_rolling_with_its_share_of_the_speed() {
    // Angular momentum about the place of contact is kept: v = v0/(1 + I/(m r²))... a ball keeps 5/7, a disc 2/3.
    for (dimension, inertia, share) in [
        (2, "0.0025", 2.0 / 3.0),
        (3, "[0.002, 0.002, 0.002]", 5.0 / 7.0),
    ] {
        let text = if dimension == 2 {
            format!(
                "gravity = [0, -10]\n[[body]]\nname = \"ball\"\nmass = 0.5\ninertia = {inertia}\nposition = [0, 0.0995]\nvelocity = [1, 0]\n[[force]]\nname = \"floor\"\ntype = \"contact\"\nplane = {{ normal = [0, 1] }}\n"
            )
        } else {
            format!(
                "gravity = [0, 0, -10]\n[[body]]\nname = \"ball\"\nmass = 0.5\ninertia = {inertia}\nposition = [0, 0, 0.0995]\nvelocity = [1, 0, 0]\n[[force]]\nname = \"floor\"\ntype = \"contact\"\nplane = {{ normal = [0, 0, 1] }}\n"
            )
        };
        let text = format!(
            "format = 1\nname = \"ball\"\ndimension = {dimension}\n{text}bodies = [\"ground\", \"ball\"]\nradius = 0.1\nstiffness = 1e4\n\
             friction = {{ kinetic = 0.3, stiction_velocity = 1e-3 }}\n"
        );
        let mut sim = Sim::new(&text, 1e-7);
        sim.to(0.5);
        let v = sim.get("ball.vx");
        // What is left of the slip dies out with u0 m/(μ N) (1 + m r²/I)⁻¹, below a millisecond.
        assert!((v - share).abs() < 1e-5, "{dimension}: {v}");
        let spin = if dimension == 2 {
            -sim.get("ball.wz")
        } else {
            sim.get("ball.wy")
        };
        assert!((spin * 0.1 - v).abs() < 1e-5, "{spin}");
        let lost = 0.25 * (1.0 - share);
        assert!(
            (sim.get("energy.dissipated") - lost).abs() < 1e-4,
            "{}",
            sim.get("energy.dissipated")
        );
        assert!(sim.get("energy.balance").abs() < 1e-5);
    }
}

#[test]
fn the_normal_force_of_a_disc_in_a_hollow_circle_is_that_of_a_pendulum() {
    // Without friction the disc's centre swings on a circle of radius 1 − 0.1: N = m (3 g cos θ − 2 g cos θ0), softened by the
    // depth N/k = 1e-4 m.
    let n = 64;
    let points: Vec<String> = (0..n)
        .map(|k| {
            let (s, c) = (2.0 * PI * f64::from(k) / f64::from(n)).sin_cos();
            format!("[{c:.15}, {s:.15}]")
        })
        .collect();
    let (l, theta0, g, m) = (0.9, 1.0_f64, 9.81, 0.5);
    let text = format!(
        r#"format = 1
name = "bowl"
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "disc"
mass = 0.5
inertia = 0.0025
position = [{}, {}]
[[force]]
name = "bowl"
type = "contact"
bodies = ["ground", "disc"]
curve = {{ points = [{}], closed = true, hollow = true, smooth = true }}
radius = 0.1
stiffness = 1e5
damping = 200
"#,
        l * theta0.sin(),
        -l * theta0.cos(),
        points.join(", ")
    );
    let mut sim = Sim::new(&text, 1e-7);
    let exact = |t: f64| {
        let f = |_: f64, y: &[f64; 2]| [y[1], -g / l * y[0].sin()];
        rk4(f, 0.0, t, [theta0, 0.0], 2000)
    };
    for t in [0.3, 0.6, 1.0] {
        sim.to(t);
        let [theta, rate] = exact(t);
        // Depth 1e-4 m of 0.9 m changes the phase by as much.
        let found = sim.get("disc.x").atan2(-sim.get("disc.y"));
        assert!((found - theta).abs() < 1e-3, "{t}: {found} {theta}");
        let normal = m * (g * theta.cos() + l * rate * rate);
        assert!(
            (sim.get("bowl.force") - normal).abs() < 0.01 * normal,
            "{t}: {} {normal}",
            sim.get("bowl.force")
        );
        // Of some 4 J, with a contact in which 1e-7 m are 1e-2 N.
        let balance = sim.get("energy.balance");
        assert!(balance.abs() < 1e-4, "{balance}");
    }
    assert!(
        sim.get("disc.angle").abs() < 1e-6,
        "a disc without friction does not turn: {}",
        sim.get("disc.angle")
    );
}

#[test]
fn a_disc_rolls_over_the_corners_of_a_square_and_keeps_its_energy() {
    // Thrown at the square's top; it leaves over the corner. No damping, no friction: energy is kept over faces and corners.
    let text = r#"format = 1
name = "edge"
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "disc"
mass = 0.5
inertia = 0.0025
position = [0.0, 0.6]
velocity = [0.8, 0.0]
[[force]]
name = "box"
type = "contact"
bodies = ["ground", "disc"]
curve = { points = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]], closed = true }
radius = 0.1
stiffness = 1e5
"#;
    let mut worst = 0.0_f64;
    let mut sim = Sim::new(text, 1e-6);
    for k in 1..=120 {
        sim.to(0.01 * f64::from(k));
        worst = worst.max(sim.get("energy.balance").abs());
    }
    assert!(
        sim.get("disc.x") > 0.6 && sim.get("disc.y") < 0.3,
        "it has fallen over the edge"
    );
    // Energy of 3 J; onset and end of contact are located, the ball's hops on a stiff floor cost a few tolerances each.
    assert!(worst < 2e-4, "{worst}");
}
