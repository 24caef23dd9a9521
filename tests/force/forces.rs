//! Every force element against a closed form or an independent integration; the error follows the tolerance and the energy
//! balance closes with it. No hang: a very stiff spring, laws with jumps.

use std::f64::consts::PI;

use crate::sim::{Sim, rk4};
use biela::Error;
use biela::component::Instance;
use biela::model::Model;

/// A block on a slide along x.
fn block(velocity: f64, rest: &str) -> String {
    format!(
        r#"format = 1
name = "block"
dimension = 2
[solver]
length = 1.0
[[body]]
name = "block"
mass = 2.0
inertia = 1.0
position = [0.0, 0.0]
velocity = [{velocity}, 0.0]
[[joint]]
name = "slide"
type = "prismatic"
bodies = ["ground", "block"]
point = [0, 0]
axis = [1, 0]
{rest}"#
    )
}

/// Largest errors of x for tolerances 1e-4, 1e-6, 1e-8 at some times, all below `factor` tolerances, and the balance with it.
pub(super) fn follows(
    text: &str,
    quantity: &str,
    factor: f64,
    times: &[f64],
    exact: impl Fn(f64) -> f64,
) {
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let mut sim = Sim::new(text, tolerance);
        for &t in times {
            let found = sim.to(t).get(quantity);
            let error = (found - exact(t)).abs();
            assert!(
                error < factor * tolerance,
                "tolerance {tolerance}, t = {t}: error {error:.2e} of {found}"
            );
            let balance = sim.get("energy.balance").abs();
            let size = sim.get("energy.kinetic")
                + sim.get("energy.potential").abs()
                + sim.get("energy.supplied").abs();
            assert!(
                balance < factor * tolerance * size.max(1.0),
                "tolerance {tolerance}, t = {t}: balance {balance:.2e}"
            );
        }
    }
}

#[test]
fn a_cubic_spring_swings_as_an_independent_integration() {
    let text = block(
        1.0,
        r#"[[force]]
name = "spring"
type = "spring_damper"
joint = "slide"
stiffness = { polynomial = [0.0, 8.0, 0.0, 20.0] }
damping = { table = [[-2, -4], [-1, -1.5], [0, 0], [1, 1.5], [2, 4]], interpolation = "spline" }
"#,
    );
    // The natural spline through these points, odd: m0 = 0, m2 = 0, slopes 2.5, 1.5, 1.5, 2.5 give m3 = −m1 = 6 (2.5 − 1.5)/4.
    let damper = |v: f64| {
        let (s, x) = (v.signum(), v.abs());
        let m = 1.5;
        let (y0, y1, h, a, b) = (0.0, 1.5, 1.0, 1.0 - x, x);
        assert!(x <= 1.0);
        s * (a * y0 + b * y1 + (b * b * b - b) * m * h * h / 6.0)
    };
    let exact = |t: f64| {
        let f = |_: f64, y: &[f64; 2]| {
            [
                y[1],
                -(8.0 * y[0] + 20.0 * y[0].powi(3) + damper(y[1])) / 2.0,
            ]
        };
        rk4(f, 0.0, t, [0.0, 1.0], 4000)[0]
    };
    follows(&text, "block.x", 100.0, &[0.5, 1.0, 2.0, 3.0], exact);
}

#[test]
fn a_spring_by_lines_has_a_dead_zone_and_kinks() {
    let text = block(
        1.0,
        r#"[[force]]
name = "stop"
type = "spring_damper"
joint = "slide"
stiffness = { table = [[-0.3, -8], [-0.1, 0], [0.1, 0], [0.3, 8]], interpolation = "linear" }
"#,
    );
    let force = |x: f64| 40.0 * (x.abs() - 0.1).max(0.0) * x.signum();
    let exact = |t: f64| {
        let f = |_: f64, y: &[f64; 2]| [y[1], -force(y[0]) / 2.0];
        rk4(f, 0.0, t, [0.0, 1.0], 20000)[0]
    };
    follows(&text, "block.x", 100.0, &[0.5, 1.0, 2.0, 3.0], exact);
}

/// Height at s of a rise from 0 at 1 to 0.1 at 2.
fn rise(interpolation: &str, s: f64) -> f64 {
    let part = (s - 1.0).clamp(0.0, 1.0);
    match interpolation {
        "linear" => 0.1 * part,
        _ => 0.1 * part * part * (3.0 - 2.0 * part),
    }
}

#[test]
fn a_motion_by_a_table_moves_as_its_points_say_and_the_balance_closes() {
    for interpolation in ["linear", "monotone"] {
        let text = block(
            0.0,
            &format!(
                r#"[[motion]]
name = "drive"
joint = "slide"
law = "table"
points = [[0, 0], [1, 0], [2, 0.1], [4, 0.1]]
interpolation = "{interpolation}"
[[body]]
name = "load"
mass = 0.5
inertia = 1.0
[[joint]]
name = "guide"
type = "prismatic"
bodies = ["ground", "load"]
point = [0, 0]
axis = [1, 0]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["block", "load"]
points = [[0, 0], [0, 0]]
direction = [1, 0]
stiffness = 20.0
length = 0.0
"#
            ),
        );
        let exact = |t: f64| {
            let f = |t: f64, y: &[f64; 2]| [y[1], 40.0 * (rise(interpolation, t) - y[0])];
            rk4(f, 0.0, t, [0.0, 0.0], 20000)[0]
        };
        follows(&text, "load.x", 100.0, &[0.9, 1.4, 2.0, 3.3, 4.5], exact);
    }
}

#[test]
fn a_road_by_lines_lifts_the_wheel_at_its_kinks() {
    let text = r#"format = 1
name = "wheel"
dimension = 2
gravity = [0, -9.81]
[solver]
length = 1.0
[[body]]
name = "block"
mass = 2.0
inertia = 1.0
[[joint]]
name = "guide"
type = "prismatic"
bodies = ["ground", "block"]
point = [0, 0]
axis = [0, 1]
[[force]]
name = "tyre"
type = "tyre"
body = "block"
radius = 0.5
stiffness = 80.0
damping = 3.0
up = [0, 1]
forward = [1, 0]
road_point = [0, -0.25475]
speed = 1.0
profile = { table = [[0, 0], [1, 0], [2, 0.1], [4, 0.1]], interpolation = "linear" }
"#;
    // Starts in equilibrium, 2 9.81/80 deflected, and stays loaded. Each straight part is integrated on its own.
    let d0 = 2.0 * 9.81 / 80.0;
    let exact = |t: f64| {
        let mut y = [0.0, 0.0];
        for (begin, end, slope) in [(0.0, 1.0, 0.0), (1.0, 2.0, 0.1), (2.0, 9.0, 0.0)] {
            let f = |t: f64, y: &[f64; 2]| {
                let (d, rate) = (d0 + rise("linear", t) - y[0], slope - y[1]);
                [y[1], (80.0 * d + 3.0 * rate) / 2.0 - 9.81]
            };
            if t > begin {
                y = rk4(f, begin, t.min(end), y, 4000);
            }
        }
        y[0]
    };
    follows(text, "block.y", 100.0, &[0.5, 1.3, 2.0, 3.0], exact);
}

#[test]
fn a_torsion_spring_swings_over_turns() {
    for dimension in [2, 3] {
        let (inertia, axis) = if dimension == 2 {
            ("0.5", "")
        } else {
            ("[0.5, 0.5, 0.5]", "axis = [0, 0, 1]")
        };
        let (zero, vector) = if dimension == 2 {
            ("[0, 0]", "20.0")
        } else {
            ("[0, 0, 0]", "[0, 0, 20.0]")
        };
        let text = format!(
            r#"format = 1
name = "flywheel"
dimension = {dimension}
[[body]]
name = "wheel"
mass = 1.0
inertia = {inertia}
position = {zero}
angular_velocity = {vector}
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "wheel"]
point = {zero}
{axis}
[[force]]
name = "spring"
type = "torsion_spring"
joint = "pin"
stiffness = 2.0
preload = 3.0
angle = 10.0
"#
        );
        // I φ'' = −(P + k (φ − φ0)): about φ0 − P/k = 8.5, ω = 2.
        let exact = |t: f64| 8.5 - 8.5 * (2.0 * t).cos() + 10.0 * (2.0 * t).sin();
        // Swings of 13 rad: 20 tolerances for each.
        follows(&text, "pin.position", 300.0, &[0.4, 1.0, 3.0], exact);
    }
}

#[test]
fn a_mass_on_a_rope_flies_and_is_caught() {
    // Thrown from slack at 1 m/s towards the rope's end 0.3 m away: k = 200, m = 2, ω = 10.
    let text = block(
        1.0,
        r#"[[force]]
name = "rope"
type = "spring_damper"
bodies = ["ground", "block"]
points = [[-1.0, 0.0], [0.0, 0.0]]
stiffness = 200.0
length = 1.3
only = "tension"
"#,
    );
    let caught = 0.3 + PI / 10.0;
    let exact = |t: f64| {
        if t < 0.3 {
            t
        } else if t < caught {
            0.3 + 0.1 * (10.0 * (t - 0.3)).sin()
        } else {
            0.3 - (t - caught)
        }
    };
    follows(&text, "block.x", 100.0, &[0.2, 0.4, 0.6, 0.8], exact);
}

#[test]
fn a_buffer_with_a_damper_separates_before_its_force_becomes_tensile() {
    // Against the buffer at x = 0.2 with 1.5 m/s; k = 800, d = 24, m = 2: ω0 = 20, ζ = 0.3.
    let text = block(
        1.5,
        r#"[[force]]
name = "buffer"
type = "spring_damper"
bodies = ["block", "ground"]
points = [[0.0, 0.0], [1.2, 0.0]]
stiffness = 800.0
damping = 24.0
length = 1.0
only = "compression"
"#,
    );
    let (w0, zeta) = (20.0_f64, 0.3_f64);
    let w = w0 * (1.0 - zeta * zeta).sqrt();
    // δ = v0/w e^(−ζ ω0 τ) sin wτ until the acceleration vanishes.
    let (touch, v0) = (0.2 / 1.5, 1.5);
    let depth = |s: f64| v0 / w * (-zeta * w0 * s).exp() * (w * s).sin();
    let rate =
        |s: f64| v0 * (-zeta * w0 * s).exp() * ((w * s).cos() - zeta * w0 / w * (w * s).sin());
    // δ̈ = 0 where tan wτ = 2ζ√(1−ζ²)/(2ζ²−1), in the second quadrant.
    let angle = (2.0 * zeta * (1.0 - zeta * zeta).sqrt()).atan2(2.0 * zeta * zeta - 1.0);
    let released = angle / w;
    let exact = |t: f64| {
        let s = t - touch;
        if s < 0.0 {
            1.5 * t
        } else if s < released {
            0.2 + depth(s)
        } else {
            0.2 + depth(released) + rate(released) * (s - released)
        }
    };
    follows(&text, "block.x", 100.0, &[0.1, 0.2, 0.25, 0.4], exact);
    // A stop on the slide does the same.
    let stops = block(
        1.5,
        "limits = [-5.0, 0.2]\nstiffness = 800.0\ndamping = 24.0\n",
    );
    follows(&stops, "block.x", 100.0, &[0.1, 0.2, 0.25, 0.4], exact);
    // And a wall that is touched.
    let wall = block(
        1.5,
        "[[force]]\nname = \"wall\"\ntype = \"contact\"\nbodies = [\"ground\", \"block\"]\n\
         plane = { point = [0.2, 0.0], normal = [-1.0, 0.0] }\nstiffness = 800.0\ndamping = 24.0\n",
    );
    follows(&wall, "block.x", 100.0, &[0.1, 0.2, 0.25, 0.4], exact);
    let mut sim = Sim::new(&stops, 1e-8);
    sim.to(0.2);
    let expected = -(800.0 * depth(0.2 - touch) + 24.0 * rate(0.2 - touch));
    assert!(
        (sim.get("slide.stop") - expected).abs() < 1e-4,
        "{} {expected}",
        sim.get("slide.stop")
    );
    // What is lost is dissipated.
    sim.to(0.4);
    let lost = v0 * v0 - rate(released) * rate(released);
    assert!(
        (sim.get("energy.dissipated") - lost).abs() < 1e-6,
        "½ m = 1 kg"
    );
}

#[test]
fn dry_friction_brings_a_block_to_rest_as_its_closed_form() {
    // m u' = −L tanh(u/u0):  sinh(u/u0) = sinh(v0/u0) exp(−L t/(m u0)).
    let (level, u0, v0) = (4.0_f64, 0.05_f64, 1.0_f64);
    let text = block(
        v0,
        "friction = { kinetic = 4.0, stiction_velocity = 0.05 }\n",
    );
    let exact = |t: f64| {
        // asinh of a number with a large exponent: sinh(v0/u0) ≈ e^(v0/u0)/2 to 1e-17.
        let exponent = v0 / u0 - level * t / (2.0 * u0);
        u0 * (0.5 * exponent.exp()).asinh()
    };
    follows(
        &text,
        "block.vx",
        300.0,
        &[0.1, 0.3, 0.45, 0.5, 0.55, 0.7],
        exact,
    );
    let mut sim = Sim::new(&text, 1e-8);
    let friction = sim.to(0.1).get("slide.friction");
    assert!((friction + level).abs() < 1e-6, "{friction}");
}

#[test]
fn forces_and_torques_on_a_body_have_their_closed_forms() {
    for dimension in [2, 3] {
        let plane = dimension == 2;
        let v = |x: &str| {
            if plane {
                format!("[{x}]")
            } else {
                format!("[{x}, 0]")
            }
        };
        let head = format!(
            r#"format = 1
name = "free"
dimension = {dimension}
[[body]]
name = "ship"
mass = 2.0
inertia = {}
position = {}
angular_velocity = {}
"#,
            if plane { "0.5" } else { "[0.5, 0.5, 0.5]" },
            v("0, 0"),
            if plane { "3.0" } else { "[0, 0, 3.0]" }
        );
        let wind = format!(
            "{head}[[force]]\nname = \"wind\"\ntype = \"force\"\nbody = \"ship\"\nforce = {}\n",
            v("4, -1")
        );
        follows(&wind, "ship.y", 50.0, &[0.5, 2.0], |t| -0.25 * t * t);
        // A thruster along the body's x axis while it turns with ω = 3: y'' = F/m sin ωt.
        let thrust = format!(
            "{head}[[force]]\nname = \"jet\"\ntype = \"force\"\nbody = \"ship\"\nframe = \"body\"\nforce = {}\n",
            v("4, 0")
        );
        follows(&thrust, "ship.y", 50.0, &[0.5, 2.0], |t| {
            2.0 / 3.0 * t - 2.0 / 9.0 * (3.0 * t).sin()
        });
        let torque = format!(
            "{head}[[force]]\nname = \"motor\"\ntype = \"torque\"\nbody = \"ship\"\ntorque = {}\n",
            if plane { "0.25" } else { "[0, 0, 0.25]" }
        );
        follows(&torque, "ship.wz", 50.0, &[0.5, 2.0], |t| 3.0 + 0.5 * t);
    }
}

#[test]
fn components_of_a_force_are_driven_by_inputs() {
    let text = r#"format = 1
name = "driven"
dimension = 3
[[body]]
name = "ship"
mass = 2.0
inertia = [1, 1, 1]
position = [0, 0, 0]
[[force]]
name = "jet"
type = "force"
body = "ship"
[[input]]
name = "fz"
target = "jet.z"
"#;
    let mut sim = Sim::new(text, 1e-8);
    sim.set("fz", 6.0);
    let z = sim.to(2.0).get("ship.z");
    assert!((z - 6.0).abs() < 1e-10, "{z}");
    assert!((sim.get("jet.fz") - 6.0).abs() < 1e-12);
    assert!(
        (sim.get("energy.supplied") - 36.0).abs() < 1e-8 && sim.get("energy.balance").abs() < 1e-8
    );
}

#[test]
fn a_bushing_swings_along_and_about_its_axes() {
    // Turned by 0.4 about a skew axis of the frame: with equal stiffnesses the rotation vector swings along that axis.
    let text = r#"format = 1
name = "bushing"
dimension = 3
[solver]
length = 1.0
[[body]]
name = "body"
mass = 2.0
inertia = [0.5, 0.5, 0.5]
position = [0.01, -0.02, 0.03]
rotation = { axis = [1, 2, 2], angle = 0.4 }
[[force]]
name = "rubber"
type = "bushing"
bodies = ["ground", "body"]
at = [{ point = [0, 0, 0] }, { point = [0, 0, 0] }]
stiffness = [200, 800, 1800, 2, 2, 2]
damping = [0, 0, 0, 0.6, 0.6, 0.6]
"#;
    // I θ'' + d θ' + k θ = 0: ω0 = 2, ζ = 0.3.
    let swing = |t: f64| {
        let (a, w) = (0.6, (4.0_f64 - 0.36).sqrt());
        0.4 * (-a * t).exp() * ((w * t).cos() + a / w * (w * t).sin())
    };
    follows(text, "body.qy", 100.0, &[0.5, 2.0, 4.0], |t| {
        2.0 / 3.0 * (0.5 * swing(t)).sin()
    });
    follows(text, "body.y", 100.0, &[0.5, 2.0], |t| {
        -0.02 * (20.0 * t).cos()
    });
    follows(text, "body.z", 100.0, &[0.5, 2.0], |t| {
        0.03 * (30.0 * t).cos()
    });
    let plane = r#"format = 1
name = "bushing"
dimension = 2
[solver]
length = 1.0
[[body]]
name = "body"
mass = 2.0
inertia = 0.5
position = [0.01, -0.02]
angular_velocity = 20
[[force]]
name = "rubber"
type = "bushing"
bodies = ["ground", "body"]
at = [{ point = [0, 0] }, { point = [0, 0] }]
stiffness = [200, 800, 2]
"#;
    follows(plane, "body.x", 100.0, &[0.5, 2.0], |t| {
        0.01 * (10.0 * t).cos()
    });
    follows(plane, "body.angle", 400.0, &[0.5, 2.0], |t| {
        10.0 * (2.0 * t).sin()
    });
}

#[test]
fn a_law_with_a_jump_is_crossed_exactly() {
    // Force −4 left of 0, +4 right of it: parabolas through a potential of |x|.
    let text = block(
        1.0,
        r#"[[force]]
name = "notch"
type = "spring_damper"
joint = "slide"
stiffness = { pieces = [{ below = 0.0, polynomial = [-4.0] }, { polynomial = [4.0] }] }
"#,
    );
    // a = 2: away for 0.5 s, back after 1 s, then the same on the other side.
    let exact = |t: f64| {
        let (half, s) = ((t / 1.0).floor(), t.rem_euclid(1.0));
        let way = s - s * s;
        if half.rem_euclid(2.0) < 0.5 {
            way
        } else {
            -way
        }
    };
    follows(&text, "block.x", 10.0, &[0.3, 0.9, 1.7, 2.2, 3.3], exact);
}

#[test]
fn a_damper_with_a_jump_sticks_and_breaks_loose() {
    // Coulomb's law as pieces: it stops a block, holds it against a force below its level and lets it go above it.
    let text = block(
        1.0,
        r#"[[force]]
name = "brake"
type = "spring_damper"
joint = "slide"
damping = { pieces = [{ below = 0.0, polynomial = [-4.0] }, { polynomial = [4.0] }] }
[[force]]
name = "push"
type = "force"
body = "block"
[[input]]
name = "fx"
target = "push.x"
"#,
    );
    // ½ v²/(L/m) = 0.25 m after 0.5 s; then it is held on a ramp 4 tanh(u/w) of width w = 1e-5 m/s, where it creeps.
    let w = 1e-5;
    let creep = w * 0.75_f64.atanh();
    // Against 6 N the ramp carries less than its level: v' = 1 + 2y, y = 1 − tanh(v/w), so that behind it v is ahead of t by its
    // start and w ∫ 2y/(1 + 2y) dx = w ∫₀^¼ 2 dy/((1 + 2y)(2 − y)) = w 2/5 ln((1 + 2y)/(1 − y/2)) at y = ¼.
    let ahead = creep + w * 0.4 * (1.5_f64 / 0.875).ln();
    // The ramp is left at 20 w, after 2e-4 s. A single step across it is right to the tolerance in place, and takes the mean of
    // the accelerations at its ends, 1.5 and 1 m/s², for the way between: v is ahead by up to a quarter of that time more. Small
    // tolerances take the ramp in several steps.
    for (tolerance, left) in [(1e-7, 0.25 * 2e-4), (1e-11, 2e-6)] {
        let mut sim = Sim::new(&text, tolerance);
        let close = |sim: &mut Sim, fx: f64, t: f64, x: f64, allowed: f64| {
            let found = sim.set("fx", fx).to(t).get("block.x");
            println!("{tolerance}: {:.2e} at {t} s", found - x);
            assert!(
                (found - x).abs() < allowed,
                "{tolerance}, {t} s: {found} {x}"
            );
        };
        close(&mut sim, 0.0, 1.0, 0.25, 2e-6);
        close(&mut sim, 3.0, 2.0, 0.25 + creep, 2e-6);
        assert!((sim.get("brake.force") - 3.0).abs() < 1e-3);
        close(&mut sim, 6.0, 3.0, 0.75 + creep + ahead, left);
        assert!(
            sim.get("energy.balance").abs() < 1e-5,
            "{}",
            sim.get("energy.balance")
        );
    }
}

#[test]
fn a_spring_of_1e12_newtons_per_metre_ends_in_time() {
    // A block of 2 kg on 1e12 N/m: 7e5 rad/s. Over 10 ms either it is there within the substeps or the error says why.
    for velocity in [0.0, 1.0] {
        let text = block(velocity, "")
            + "[[force]]\nname = \"spring\"\ntype = \"spring_damper\"\njoint = \"slide\"\nstiffness = 1e12\n";
        let mut model = Model::from_text(&text, "stiff").unwrap();
        model.solver.max_substeps = 20_000;
        let mut instance = Instance::from_model(model).unwrap();
        instance.initialize(0.0, 1.0, 0.0).unwrap();
        match instance.step(0.0, 0.01) {
            Ok(()) => {}
            Err(Error::TooManySubsteps { .. } | Error::StepTooSmall { .. }) => {}
            Err(other) => panic!("{other}"),
        }
        assert!(instance.statistics().steps <= 20_000);
    }
}

#[test]
fn regularised_stick_slip_agrees_with_the_closed_form_up_to_its_slip_in_stiction() {
    // A block on a belt-like drive: pulled by a spring whose end moves at 0.1 m/s, k = 50, m = 2, friction 8 static, 5 kinetic.
    // Closed form: sticks until the spring carries 8, slips by 2 (8 − 5)/k = 0.12 m (without damping) in about π/ω.
    let text = r#"format = 1
name = "stick_slip"
dimension = 2
[solver]
length = 1.0
[[body]]
name = "block"
mass = 2.0
inertia = 1.0
position = [0.0, 0.0]
[[body]]
name = "puller"
prescribed = true
position = [1.0, 0.0]
[[joint]]
name = "slide"
type = "prismatic"
bodies = ["ground", "block"]
point = [0, 0]
axis = [1, 0]
friction = { kinetic = 5.0, static = 8.0, stiction_velocity = VELOCITY, stribeck_velocity = STRIBECK }
[[motion]]
name = "pull"
body = "puller"
coordinate = "x"
law = "polynomial"
coefficients = [1.0, 0.1]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["block", "puller"]
points = [[0, 0], [0, 0]]
stiffness = 50.0
length = 1.0
"#;
    // Slip begins at 1.6 s and takes π/ω = 0.628 s and a little more because the puller goes on.
    let (w, pull) = (5.0_f64, 0.1_f64);
    // m x'' = k (p − x) − 5 with x = 0, v = 0, spring 8 at t0: x = (3/k)(1 − cos ws) + pull (s − sin ws/w).
    let slip = |s: f64| 0.06 * (1.0 - (w * s).cos()) + pull * (s - (w * s).sin() / w);
    // It ends where v = 0 again: 0.3 sin ws + 0.1 (1 − cos ws) = 0.
    let end = 2.0 * (PI - 3.0_f64.atan()) / w;
    let mut errors = vec![];
    for (velocity, stribeck) in [("1e-3", "2e-2"), ("1e-4", "5e-3"), ("1e-5", "1e-3")] {
        let text = text
            .replace("VELOCITY", velocity)
            .replace("STRIBECK", stribeck);
        let mut sim = Sim::new(&text, 1e-7);
        sim.to(1.5);
        let creep = sim.get("block.x");
        sim.to(2.6);
        let slipped = sim.get("block.x");
        errors.push((slipped - slip(end)).abs());
        assert!(creep < 1.6 * velocity.parse::<f64>().unwrap(), "{creep}");
        assert!(sim.get("energy.balance").abs() < 1e-5);
    }
    // The smoothed peak stays below the static level and it creeps before: both fall with the two velocities.
    assert!(
        errors[0] < 3e-2 && errors[2] < 3e-3 && errors[2] < errors[0],
        "{errors:?}"
    );
}
