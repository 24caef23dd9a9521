//! Relative coordinates, with multipliers (`relative`) and with the augmented Lagrangian (`hybrid`): the second paper's
//! Table 1, the same motion and quantities as in absolute coordinates, order, energy, roll-back, refusals.

use std::fmt::Write;

use crate::common::measure::slope;
use crate::compare::*;
use crate::compared::*;
use biela::component::Instance;
use biela::formulation::Mechanism;
use biela::formulation::relative::{PlanarRelative, SpatialRelative};
use biela::linalg::rotation::{self, Mat3, Vec3};
use biela::model::{Corrector, FormulationName, IntegratorName, Model};

const FULL: &str = "BIELA_TEST_FULL";

/// The double four-bar at a fixed step, alpha 0, corrector off: largest energy deviation and largest tilt of a coupler.
fn table(step: f64, penalty: Option<f64>, cuts: &[&str]) -> (f64, f64) {
    let mut model = file("double_four_bar.toml");
    model.solver.formulation = FormulationName::Hybrid;
    model.solver.alpha = 0.0;
    model.solver.step = Some(step);
    model.solver.corrector = Corrector::Off;
    model.solver.penalty = penalty;
    let mechanism = PlanarRelative::with_cuts(&model, cuts).unwrap();
    for cut in cuts {
        assert!(
            mechanism.cut().contains(&cut.to_string()),
            "{cut} is not cut"
        );
    }
    let mut instance = Instance::from_mechanism(model, Box::new(mechanism)).unwrap();
    instance.initialize(0.0, 10.0, 0.0).unwrap();
    let mut tilt = 0.0_f64;
    let steps = (10.0 / step + 1e-9).floor() as usize;
    for k in 0..steps {
        let t = instance.time();
        instance
            .step(t, (k + 1) as f64 * step - t)
            .unwrap_or_else(|e| panic!("h = {step}: {e}"));
        for name in ["coupler0.angle", "coupler1.angle"] {
            tilt = tilt.max(value(&mut instance, name).abs());
        }
    }
    (instance.energy_drift(), tilt)
}

/// Largest energy deviation of the trapezoidal rule on θ'' = k sin θ itself, over 10 s.
const TRAPEZOIDAL: [(f64, f64); 4] = [
    (0.01, -0.01367),
    (0.03, -0.12282),
    (0.05, -0.34028),
    (0.1, -1.34276),
];

#[test]
fn table_1_is_the_trapezoidal_rule_on_the_exact_equation_whatever_penalty_and_cut() {
    let cuts: [&[&str]; 4] = [&[], &["A1", "A2"], &["A0", "A2"], &["A0", "A1"]];
    let penalties = [None, Some(1e7), Some(1e8), Some(1e9), Some(1e10)];
    let full = std::env::var_os(FULL).is_some();
    for (step, expected) in TRAPEZOIDAL {
        for (i, cut) in cuts.iter().enumerate() {
            for (j, penalty) in penalties.iter().enumerate() {
                // Reduced: every penalty and every cut once.
                if !full && i != 0 && j != 0 {
                    continue;
                }
                let (drift, tilt) = table(step, *penalty, cut);
                println!(
                    "h {step} penalty {penalty:?} cuts {cut:?}: {drift:.5} J, tilt {tilt:.1e}"
                );
                assert!(
                    (drift - expected).abs() < 5e-3 * expected.abs(),
                    "h {step} penalty {penalty:?} cuts {cut:?}: {drift} is not {expected}"
                );
                // Other branches turn the couplers by angles of size one.
                assert!(
                    tilt < 1e-5,
                    "h {step} penalty {penalty:?} cuts {cut:?}: {tilt}"
                );
            }
        }
    }
}

#[test]
fn every_quantity_is_that_of_absolute_coordinates_the_closer_the_smaller_the_tolerance() {
    let formulations = [FormulationName::Relative, FormulationName::Hybrid];
    for (name, model) in mechanisms() {
        agrees(name, &model, &formulations);
    }
}

fn with_matrices_of_bodies(model: &Model, lifted: bool) -> Instance {
    let mechanism: Box<dyn Mechanism> = match model.dimension {
        2 => Box::new(PlanarRelative::with(model, &[], Some(lifted)).unwrap()),
        _ => Box::new(SpatialRelative::with(model, &[], Some(lifted)).unwrap()),
    };
    assert_eq!(mechanism.descriptor_form().is_some(), lifted);
    let mut instance = Instance::from_mechanism(model.clone(), mechanism).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    instance
}

#[test]
fn large_trees_solved_at_the_level_of_bodies_move_like_small_ones() {
    let mut all = mechanisms();
    all.push(("double four-bar", file("double_four_bar.toml")));
    for (name, mut model) in all {
        for formulation in [FormulationName::Relative, FormulationName::Hybrid] {
            model.solver.formulation = formulation;
            model.solver.tolerance = 1e-8;
            let run = |lifted: bool| {
                let mut instance = with_matrices_of_bodies(&model, lifted);
                instance
                    .step(0.0, 0.6)
                    .unwrap_or_else(|e| panic!("{name}, {formulation:?}, {lifted}: {e}"));
                let statistics = instance.statistics();
                (quantities(&mut instance), statistics)
            };
            let ((a, direct), (b, lifted)) = (run(false), run(true));
            println!(
                "{name}, {formulation:?}: steps {} and {}, iterations {} and {}",
                direct.steps, lifted.steps, direct.newton_iterations, lifted.newton_iterations
            );
            for ((what, x), (_, y)) in a.iter().zip(&b) {
                // Both are within a few hundred tolerances of the truth.
                assert!(
                    (x - y).abs() < 3e-6 * x.abs().max(1.0),
                    "{name}, {formulation:?}: {what} = {x} and {y}"
                );
            }
        }
    }
}

#[test]
fn hybrid_is_of_second_order_and_of_fourth_with_the_corrector() {
    for (corrector, expected) in [(Corrector::Off, 2.0), (Corrector::Auto, 4.0)] {
        for (name, model) in [
            ("four-bar", file("four_bar.toml")),
            ("branches", text(BRANCHES)),
        ] {
            let stop = 0.4;
            let end = |step: Option<f64>| {
                let mut model = model.clone();
                model.solver.integrator = IntegratorName::Hht;
                model.solver.corrector = corrector;
                model.solver.step = step;
                model.solver.tolerance = 1e-11;
                if step.is_none() {
                    model.solver.corrector = Corrector::Auto;
                }
                let mut instance = started(&model, FormulationName::Hybrid);
                instance.step(0.0, stop).unwrap();
                let state = instance.state();
                [state.q.clone(), state.v.clone()].concat()
            };
            let exact = end(None);
            let steps = [0.01, 0.005, 0.0025];
            let errors: Vec<f64> = (steps.iter())
                .map(|&h| {
                    let q = end(Some(h));
                    q.iter()
                        .zip(&exact)
                        .fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()))
                })
                .collect();
            let order = slope(&steps, &errors);
            println!("{name}, {corrector:?}: order {order:.2}, errors {errors:?}");
            assert!(
                (order - expected).abs() < 0.05 * expected,
                "{name}: {order} {errors:?}"
            );
        }
    }
}

/// Three bars in free flight, tumbling: a pin, a ball, and a spring between the ends.
const FLOATING: &str = r#"
format = 1
name = "floating"
[[body]]
name = "a"
mass = 1.0
inertia = [0.01, 0.08, 0.09]
position = [0.5, 0.0, 0.0]
velocity = [0.3, -0.2, 0.1]
angular_velocity = [0.5, 0.2, 1.5]
[[body]]
name = "b"
mass = 2.0
inertia = [0.02, 0.16, 0.17]
position = [1.5, 0.0, 0.0]
velocity = [0.3, 1.3, -0.1]
angular_velocity = [0.5, 0.2, -1.0]
[[body]]
name = "c"
mass = 0.7
inertia = [0.01, 0.05, 0.06]
position = [2.5, 0.0, 0.0]
velocity = [0.0, 0.5, 0.0]
angular_velocity = [3.0, -1.0, 2.0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["a", "b"]
point = [1.0, 0.0, 0.0]
axis = [0.1, 0.2, 1.0]
[[joint]]
name = "ball"
type = "spherical"
bodies = ["b", "c"]
point = [2.0, 0.0, 0.0]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["a", "c"]
points = [[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]
stiffness = 20.0
damping = 0.5
length = 2.5
"#;

/// Linear momentum and angular momentum about the origin, from the quantities of the bodies.
fn momentum(instance: &mut Instance) -> [f64; 6] {
    let bodies = instance.model().bodies.clone();
    let mut sum = [0.0; 6];
    for body in bodies {
        let mut get = |fields: [&str; 3]| {
            Vec3::from(fields.map(|f| value(instance, &format!("{}.{f}", body.name))))
        };
        let r = get(["x", "y", "z"]);
        let v = get(["vx", "vy", "vz"]);
        let w = get(["wx", "wy", "wz"]);
        let turned =
            ["qw", "qx", "qy", "qz"].map(|f| value(instance, &format!("{}.{f}", body.name)));
        let axes = rotation::matrix(&turned);
        let [x, y, z, ..] = body.inertia;
        let inertia = axes * Mat3::from_diagonal(&Vec3::new(x, y, z)) * axes.transpose();
        let p = body.mass * v;
        let l = r.cross(&p) + inertia * w;
        for k in 0..3 {
            sum[k] += p[k];
            sum[3 + k] += l[k];
        }
    }
    sum
}

/// What the method promises: it conserves what is linear in its own rates (in absolute coordinates the linear momentum), and all
/// else as well as it integrates.
#[test]
fn momentum_is_conserved_with_the_order_of_the_method() {
    let steps = [0.02, 0.01, 0.005];
    let lost = |formulation, step: Option<f64>, corrector| {
        let mut model = text(FLOATING);
        model.solver.integrator = IntegratorName::Hht;
        model.solver.corrector = corrector;
        model.solver.step = step;
        model.solver.tolerance = 1e-9;
        let mut instance = started(&model, formulation);
        let before = momentum(&mut instance);
        instance.step(0.0, 2.0).unwrap();
        let after = momentum(&mut instance);
        let apart: Vec<f64> = (0..6).map(|k| (after[k] - before[k]).abs()).collect();
        let most = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
        [most(&apart[..3]), most(&apart[3..])]
    };
    // Rounding of 100 steps, times the momentum of 3 kg m/s.
    let [linear, _] = lost(FormulationName::Absolute, Some(0.02), Corrector::Off);
    assert!(linear < 1e-12, "{linear:e}");
    for formulation in [
        FormulationName::Relative,
        FormulationName::Hybrid,
        FormulationName::Global,
    ] {
        for (corrector, expected) in [(Corrector::Off, 2.0), (Corrector::Auto, 4.0)] {
            let losses = steps.map(|h| lost(formulation, Some(h), corrector));
            for (what, k) in [("linear", 0), ("angular", 1)] {
                let errors = losses.map(|x| x[k]);
                if formulation == FormulationName::Global && what == "linear" {
                    // Linear in points, which are the coordinates: rounding of up to 400 steps.
                    assert!(errors.iter().all(|x| *x < 1e-12), "{errors:?}");
                    continue;
                }
                let order = slope(&steps, &errors);
                println!("{formulation:?} {corrector:?} {what}: order {order:.2}, {errors:?}");
                assert!(
                    (order - expected).abs() < 0.1 * expected,
                    "{formulation:?} {what}: {order} {errors:?}"
                );
            }
        }
        // Momenta are of size 3; some ten steps' errors of 1e-9 of the length of 2.5 m at rates of some 1/s.
        let [linear, angular] = lost(formulation, None, Corrector::Auto);
        println!("{formulation:?}, tolerance 1e-9: {linear:.1e}, {angular:.1e}");
        assert!(linear < 1e-7 && angular < 1e-7, "{linear:e} {angular:e}");
    }
}

/// A weight that swings on a light ladder of four-bars, drawn with all bars in line: there the rows depend on each other for a
/// moment, whichever joints are cut.
#[test]
fn a_loop_in_a_singular_initial_pose_starts_and_goes_on_whatever_joint_is_cut() {
    let bars = |theta: f64| {
        let (s, c) = theta.sin_cos();
        let mut t =
            String::from("format = 1\nname = \"in_line\"\ndimension = 2\ngravity = [0.0, -9.81]\n");
        let mut body = |name: &str, at: [f64; 2], angle: f64, v: [f64; 2], w: f64| {
            write!(
                t,
                "[[body]]\nname = \"{name}\"\nmass = 1.0\ninertia = {:?}\nposition = {at:?}\nangle = {angle:?}\n\
                 velocity = {v:?}\nangular_velocity = {w:?}\n",
                1.0 / 12.0
            )
            .unwrap();
        };
        let upright = std::f64::consts::FRAC_PI_2 - theta;
        body(
            "left",
            [0.5 * s, 0.5 * c],
            upright,
            [0.5 * c, -0.5 * s],
            -1.0,
        );
        body(
            "right",
            [1.0 + 0.5 * s, 0.5 * c],
            upright,
            [0.5 * c, -0.5 * s],
            -1.0,
        );
        body("coupler", [0.5 + s, c], 0.0, [c, -s], 0.0);
        for (name, pair, at) in [
            ("A", ["ground", "left"], [0.0, 0.0]),
            ("B", ["left", "coupler"], [s, c]),
            ("C", ["coupler", "right"], [1.0 + s, c]),
            ("D", ["right", "ground"], [1.0, 0.0]),
        ] {
            write!(
                t,
                "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = {pair:?}\npoint = {at:?}\n"
            )
            .unwrap();
        }
        text(&t)
    };
    let model = bars(std::f64::consts::FRAC_PI_2);
    for formulation in [FormulationName::Relative, FormulationName::Hybrid] {
        for cut in ["A", "B", "C", "D"] {
            let mut model = model.clone();
            model.solver.formulation = formulation;
            let mechanism = PlanarRelative::with_cuts(&model, &[cut]).unwrap();
            assert_eq!(mechanism.cut(), [cut]);
            let mut instance = Instance::from_mechanism(model, Box::new(mechanism)).unwrap();
            instance
                .initialize(0.0, 10.0, 1e-6)
                .unwrap_or_else(|e| panic!("{formulation:?}, {cut}: {e}"));
            // θ'' = k sin θ with k = 11.772 on the smooth branch (tests/reference/n_four_bar_1.csv).
            let alpha = value(&mut instance, "left.alphaz");
            assert!(
                (alpha + 11.772).abs() < 1e-2,
                "{formulation:?}, {cut}: {alpha}"
            );
            instance.step(0.0, 3.0).unwrap();
            let (tilt, drift) = (
                value(&mut instance, "coupler.angle"),
                instance.energy_drift(),
            );
            println!("{formulation:?}, {cut}: tilt {tilt:.1e}, drift {drift:.1e} J");
            // Other branches turn the coupler; energies are of 30 J.
            assert!(
                tilt.abs() < 1e-6 && drift.abs() < 1e-3,
                "{formulation:?}, {cut}: {tilt} {drift}"
            );
        }
    }
}

#[test]
fn default_settings_keep_the_energy_of_the_double_four_bar() {
    for formulation in [FormulationName::Hybrid, FormulationName::Relative] {
        let mut model = file("double_four_bar.toml");
        model.solver.tolerance = 1e-4;
        let mut instance = started(&model, formulation);
        instance.step(0.0, 10.0).unwrap();
        let (drift, statistics) = (instance.energy_drift(), instance.statistics());
        println!(
            "{formulation:?}: {drift:.2e} J in {} steps",
            statistics.steps
        );
        assert!(drift.abs() <= 1e-3, "{formulation:?}: {drift}");
    }
}

/// A shaft that spins fast with two arms held by stiff springs and dampers, as in a governor.
fn governor() -> Model {
    let mut t = String::from(
        "format = 1\nname = \"governor\"\ngravity = [0.0, 0.0, -9.81]\n[[body]]\nname = \"shaft\"\nmass = 5.0\n\
         inertia = [0.2, 0.2, 0.1]\nposition = [0.0, 0.0, 0.0]\nangular_velocity = [0.0, 0.0, 60.0]\n\
         [[joint]]\nname = \"bearing\"\ntype = \"revolute\"\nbodies = [\"ground\", \"shaft\"]\npoint = [0.0, 0.0, 0.0]\n\
         axis = [0.0, 0.0, 1.0]\n",
    );
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        write!(
            t,
            "[[body]]\nname = \"{name}\"\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\nposition = [{}, 0.0, -0.2]\n\
             velocity = [0.0, {}, 0.0]\nangular_velocity = [0.0, 0.0, 60.0]\n\
             [[joint]]\nname = \"hinge_{name}\"\ntype = \"revolute\"\nbodies = [\"shaft\", \"{name}\"]\n\
             point = [{}, 0.0, 0.0]\naxis = [0.0, 1.0, 0.0]\n\
             [[force]]\nname = \"spring_{name}\"\ntype = \"spring_damper\"\nbodies = [\"shaft\", \"{name}\"]\n\
             points = [[0.0, 0.0, -0.3], [0.0, 0.0, 0.0]]\nstiffness = 2e5\ndamping = 1e3\nlength = 0.2\n",
            0.25 * side,
            15.0 * side,
            0.05 * side
        )
        .unwrap();
    }
    text(&t)
}

#[test]
fn a_stiff_governor_that_spins_fast_needs_far_fewer_steps_than_in_absolute_coordinates() {
    println!("tolerance: steps and rejected, largest energy balance (J)");
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let mut counts = Vec::new();
        for formulation in [
            FormulationName::Absolute,
            FormulationName::Relative,
            FormulationName::Hybrid,
        ] {
            let mut model = governor();
            model.solver.tolerance = tolerance;
            let mut instance = started(&model, formulation);
            instance
                .step(0.0, 1.0)
                .unwrap_or_else(|e| panic!("{formulation:?}: {e}"));
            let statistics = instance.statistics();
            println!(
                "{tolerance:e} {formulation:?}: {} + {}, {:.1e}, {} iterations, spin {:.6}",
                statistics.steps,
                statistics.rejected,
                instance.energy_drift(),
                statistics.newton_iterations,
                value(&mut instance, "shaft.wz"),
            );
            counts.push(statistics.steps + statistics.rejected);
        }
        assert!(
            3 * counts[1] < counts[0] && 3 * counts[2] < counts[0],
            "{counts:?}"
        );
        // Matrices of bodies leave out terms of the order h ω, here beyond one: Newton's iteration needs shorter steps. That is
        // why systems of moderate size have matrices of joints although those of bodies would cost less.
        let mut model = governor();
        model.solver.tolerance = tolerance;
        model.solver.formulation = FormulationName::Hybrid;
        let mut instance = with_matrices_of_bodies(&model, true);
        instance.step(0.0, 1.0).unwrap();
        let statistics = instance.statistics();
        println!(
            "{tolerance:e} Hybrid, matrices of bodies: {} + {} + {}, {} iterations",
            statistics.steps,
            statistics.rejected,
            statistics.newton_failures,
            statistics.newton_iterations
        );
    }
}

#[test]
fn a_restored_state_goes_on_with_the_same_bits() {
    for (name, model) in mechanisms() {
        for formulation in [FormulationName::Relative, FormulationName::Hybrid] {
            let mut instance = started(&model, formulation);
            instance.step(0.0, 0.2).unwrap();
            let saved = instance.save().unwrap();
            instance.step(0.2, 0.3).unwrap();
            let bits = crate::common::bits(&mut instance);
            instance.restore(&saved).unwrap();
            instance.step(0.2, 0.3).unwrap();
            assert_eq!(
                bits,
                crate::common::bits(&mut instance),
                "{name}, {formulation:?}"
            );
        }
    }
}

#[test]
fn a_loop_that_cannot_close_is_refused_by_the_names_of_its_joints() {
    let open = DRIVEN
        .replace("position = [0.8, 0.0]", "position = [3.0, 0.0]")
        .replace(
            "[[joint]]\nname = \"wrist\"\ntype = \"revolute\"\nbodies = [\"rod\", \"slider\"]\npoint = [0.8, 0.0]",
            "[[joint]]\nname = \"wrist\"\ntype = \"revolute\"\nbodies = [\"rod\", \"slider\"]\nat = [{ point = [0.3, 0.0] }, { point = [0.0, 5.0] }]",
        );
    let mut model = text(&open);
    model.solver.formulation = FormulationName::Hybrid;
    let mut instance = Instance::from_model(model).unwrap();
    let error = instance
        .initialize(0.0, 1.0, 0.0)
        .expect_err("the rod is too short")
        .to_string();
    assert!(error.contains("wrist"), "{error}");
}

#[test]
fn a_body_without_mass_that_nothing_fixes_is_refused_by_name() {
    let mut model = text(&ARM.replace("mass = 0.5\ninertia = 0.04", "mass = 0.0\ninertia = 0.0"));
    assert_eq!(model.bodies[1].mass, 0.0);
    for formulation in [FormulationName::Relative, FormulationName::Hybrid] {
        model.solver.formulation = formulation;
        let mut instance = Instance::from_model(model.clone()).unwrap();
        let error = instance
            .initialize(0.0, 1.0, 0.0)
            .expect_err("nothing says how the lower bar moves")
            .to_string();
        assert!(
            error.contains("lower") || error.contains("elbow"),
            "{formulation:?}: {error}"
        );
    }
}
