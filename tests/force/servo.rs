//! Servos: actuators with gain, bias and limits. Against an independent integration in every formulation, through limits of control and
//! force; energy; what is refused.

use crate::sim::{Sim, rk4};
use biela::Model;

const FORMULATIONS: [&str; 5] = ["absolute", "relative", "global", "topological", "hybrid"];

/// An arm in gravity whose control rises from −1 to 3 within a second.
fn arm(formulation: &str, rest: &str) -> String {
    format!(
        r#"format = 1
name = "arm"
dimension = 2
gravity = [0, -9.81]
[solver]
formulation = "{formulation}"
[[body]]
name = "arm"
mass = 2.0
inertia = 0.05
position = [0.3, 0.0]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "arm"]
point = [0, 0]
[[force]]
name = "servo"
type = "servo"
joint = "pivot"
gain = 15.0
bias = [1.0, -12.0, -2.0]
{rest}
[[input]]
name = "u"
target = "servo.control"
[[signal]]
input = "u"
law = "table"
interpolation = "linear"
points = [[0, -1], [1, 3], [2, 3]]
"#
    )
}

/// Angle and speed of the arm by an independent integration.
fn reference(t: f64, control: [f64; 2], force: [f64; 2]) -> [f64; 2] {
    let (inertia, weight) = (0.05 + 2.0 * 0.09, 2.0 * 9.81 * 0.3);
    let f = |t: f64, y: &[f64; 2]| {
        let u = (4.0 * t - 1.0).min(3.0).clamp(control[0], control[1]);
        let torque = (15.0 * u + 1.0 - 12.0 * y[0] - 2.0 * y[1]).clamp(force[0], force[1]);
        [y[1], (torque - weight * y[0].cos()) / inertia]
    };
    // Kinks of f cost a step of the second order each: h² = 1e-10.
    rk4(f, 0.0, t, [0.0; 2], (t * 1e5) as usize)
}

#[test]
fn gain_bias_and_limits_act_in_every_formulation() {
    let all = f64::INFINITY;
    for (keys, control, force) in [
        ("", [-all, all], [-all, all]),
        ("control_limits = [-0.5, 2.0]", [-0.5, 2.0], [-all, all]),
        ("limits = [-4.0, 14.0]", [-all, all], [-4.0, 14.0]),
        (
            "control_limits = [-0.5, 2.0]\nlimits = [-4.0, 14.0]",
            [-0.5, 2.0],
            [-4.0, 14.0],
        ),
    ] {
        for formulation in FORMULATIONS {
            let mut sim = Sim::new(&arm(formulation, keys), 1e-8);
            for t in [0.1, 0.4, 0.8, 1.5] {
                sim.to(t);
                let exact = reference(t, control, force);
                let off = [
                    (sim.get("pivot.position") - exact[0]).abs(),
                    (sim.get("pivot.speed") - exact[1]).abs(),
                ];
                assert!(
                    off[0] < 1e-6 && off[1] < 1e-5,
                    "{formulation}, {keys}, t = {t}: {off:?}"
                );
                let torque = sim.get("servo.torque");
                assert!((force[0]..=force[1]).contains(&torque), "{torque}");
            }
            // The servo supplies the energy, and nothing is lost.
            assert!(sim.get("energy.balance").abs() < 1e-5, "{formulation}");
        }
    }
}

#[test]
fn bad_servos_are_refused_with_their_place() {
    for (keys, part) in [
        ("limits = [4.0, -4.0]", "lower < upper"),
        ("control_limits = [1.0]", "lower < upper"),
        ("torque = 1.0", "torque"),
        ("set_point = 1.0", "set_point"),
    ] {
        let words = Model::from_text(&arm("auto", keys), "s.toml").unwrap_err();
        let words = words.to_string();
        assert!(words.contains(part) && words.contains("s.toml:"), "{words}");
    }
    let text = arm("auto", "");
    for (from, to, part) in [
        ("bias = [1.0, -12.0, -2.0]", "bias = [1.0]", "bias"),
        ("gain = 15.0", "gain = \"high\"", "gain"),
        ("joint = \"pivot\"", "", "joint"),
        ("joint = \"pivot\"", "joint = \"elbow\"", "elbow"),
    ] {
        let words = Model::from_text(&text.replace(from, to), "s.toml").unwrap_err();
        assert!(words.to_string().contains(part), "{words}");
    }
}
