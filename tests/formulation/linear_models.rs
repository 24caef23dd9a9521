//! Linear models: the same in all five formulations, and equal to differences of the motion.

use biela::linalg::random::Random;
use biela::model::quantity::{JointField, Quantity};
use biela::model::{FormulationName, Model};
use biela::{Instance, StateSpace};

use super::compared::{FORMULATIONS, RSSR, chain, file, text};
use super::rig::Rig;

fn linear_model(model: &Model, formulation: FormulationName) -> StateSpace {
    let mut model = model.clone();
    model.solver.formulation = formulation;
    let name = model.name.clone();
    let started = Instance::from_model(model).and_then(|mut instance| {
        instance.initialize(0.0, 1.0, 0.0)?;
        instance.linearize()
    });
    started.unwrap_or_else(|e| panic!("{name} {formulation:?}: {e}"))
}

/// Largest difference of two matrices over the largest entry of the first.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let scale = a.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}

/// Models at rest and moving, trees and loops, in plane and space.
fn mechanisms() -> Vec<Model> {
    let mut all: Vec<Model> = [
        "four_bar.toml",
        "slider_crank.toml",
        "double_four_bar.toml",
        "gyroscope.toml",
    ]
    .map(file)
    .into();
    all.push(text(RSSR));
    for kinds in [["revolute", "spherical"], ["universal", "revolute"]] {
        let mut model = text(&chain(&kinds, 4));
        let mut random = Random::new(7);
        for body in &mut model.bodies {
            body.velocity = std::array::from_fn(|_| random.signed());
            body.angular_velocity = std::array::from_fn(|_| 3.0 * random.signed());
        }
        all.push(model);
    }
    for model in &mut all {
        model.expose = biela::model::Expose::Declared;
    }
    all
}

/// The joints of a long chain move its masses nearly alike; they are its coordinates all the same, so that a linear model about a
/// motion is the one that a text book writes down.
#[test]
fn a_chain_is_described_by_its_joints() {
    let model = text(&chain(&["revolute"], 8));
    for formulation in FORMULATIONS {
        let states = linear_model(&model, formulation).states;
        let expected = (0..16).map(|k| match k {
            0..8 => format!("j{k}.position"),
            _ => format!("j{}.speed", k - 8),
        });
        assert_eq!(states, expected.collect::<Vec<_>>(), "{formulation:?}");
    }
}

#[test]
fn all_formulations_give_the_same_linear_model() {
    for model in mechanisms() {
        let first = linear_model(&model, FormulationName::Absolute);
        assert!(!first.states.is_empty(), "{}", model.name);
        for formulation in &FORMULATIONS[1..] {
            let other = linear_model(&model, *formulation);
            let place = format!("{} {formulation:?}", model.name);
            assert_eq!(first.states, other.states, "{place}");
            assert_eq!(first.outputs, other.outputs, "{place}");
            for (name, a, b) in [
                ("A", &first.a, &other.a),
                ("B", &first.b, &other.b),
                ("C", &first.c, &other.c),
                ("D", &first.d, &other.d),
            ] {
                // Closure of the start (1e-11) times the sensitivity of accelerations.
                let off = difference(a, b);
                assert!(off < 1e-8, "{place}: {name} differs by {off:.1e}");
            }
        }
    }
}

/// The joint coordinate of a state.
fn coordinate(model: &Model, name: &str) -> Option<(usize, usize)> {
    let (joint, field) = name.rsplit_once('.')?;
    let joint = model.joints.iter().position(|j| j.name == joint)?;
    let number = field.strip_prefix("position")?;
    let k = if number.is_empty() {
        0
    } else {
        number.parse::<usize>().ok()? - 1
    };
    Some((joint, k))
}

/// y, ẏ, ÿ of the minimal coordinates.
fn motion(rig: &Rig, coordinates: &[(usize, usize)]) -> [Vec<f64>; 3] {
    let read = |field: fn(usize) -> JointField| {
        let all = coordinates.iter();
        all.map(|&(joint, k)| rig.get(Quantity::Joint(joint, field(k))))
            .collect()
    };
    [
        read(JointField::Position),
        read(JointField::Speed),
        read(JointField::Acceleration),
    ]
}

#[test]
fn a_linear_model_predicts_accelerations_beside_its_point() {
    let mut compared = 0;
    for mut model in mechanisms() {
        model.solver.formulation = FormulationName::Absolute;
        model.inputs.clear();
        let linear = linear_model(&model, FormulationName::Absolute);
        let d = linear.states.len() / 2;
        let named = linear.states[..d]
            .iter()
            .map(|name| coordinate(&model, name));
        let Some(coordinates) = named.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let here = Rig::new(&model);
        let size = here.mechanism.dimensions();
        let mut random = Random::new(3);
        for _ in 0..4 {
            let (w, dv) = (random.vector(size.nv, 1.0), random.vector(size.nv, 1.0));
            // Five-point differences: error h⁴ and closure 1e-12 / h.
            let h = 1e-3;
            let mut change = [vec![0.0; d], vec![0.0; d], vec![0.0; d]];
            for (k, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
                let moved: Vec<f64> = w.iter().map(|w| k * h * w).collect();
                let mut q = vec![0.0; size.nq];
                here.mechanism.retract(&here.state.q, &moved, &mut q);
                let v: Vec<f64> = (0..size.nv)
                    .map(|i| here.state.v[i] + k * h * dv[i])
                    .collect();
                let there = Rig::start_at(&model, &q, &v).unwrap();
                for (change, value) in change.iter_mut().zip(motion(&there, &coordinates)) {
                    for i in 0..d {
                        change[i] += weight * value[i] / (12.0 * h);
                    }
                }
            }
            let scale = change[2].iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            for i in 0..d {
                let row = &linear.a[(d + i) * 2 * d..(d + i + 1) * 2 * d];
                let predicted: f64 = (0..d)
                    .map(|j| row[j] * change[0][j] + row[d + j] * change[1][j])
                    .sum();
                let off = (predicted - change[2][i]).abs() / scale;
                assert!(off < 1e-7, "{} {}: {off:.1e}", model.name, linear.states[i]);
            }
            compared += 1;
        }
    }
    assert!(compared >= 12, "{compared}");
}

#[test]
fn a_singular_position_is_an_error_by_name() {
    // A parallelogram folded flat: all joints on one line.
    let model = text(FLAT_PARALLELOGRAM);
    for formulation in FORMULATIONS {
        let mut model = model.clone();
        model.solver.formulation = formulation;
        let error = Instance::from_model(model).and_then(|mut instance| {
            instance.initialize(0.0, 1.0, 0.0)?;
            instance.linearize()
        });
        let error = error
            .err()
            .unwrap_or_else(|| panic!("{formulation:?} is fine"));
        assert!(
            matches!(
                error,
                biela::Error::SingularPosition { .. } | biela::Error::Coordinates { .. }
            ),
            "{formulation:?}: {error}"
        );
    }
}

const FLAT_PARALLELOGRAM: &str = r#"
format = 1
name = "flat"
dimension = 2
gravity = [0.0, -9.81]
[[body]]
name = "left"
mass = 1.0
inertia = 0.1
position = [0.5, 0.0]
[[body]]
name = "bar"
mass = 1.0
inertia = 0.1
position = [2.0, 0.0]
[[body]]
name = "right"
mass = 1.0
inertia = 0.1
position = [2.5, 0.0]
[[joint]]
name = "a"
type = "revolute"
bodies = ["ground", "left"]
point = [0.0, 0.0]
[[joint]]
name = "b"
type = "revolute"
bodies = ["left", "bar"]
point = [1.0, 0.0]
[[joint]]
name = "c"
type = "revolute"
bodies = ["bar", "right"]
point = [3.0, 0.0]
[[joint]]
name = "d"
type = "revolute"
bodies = ["right", "ground"]
point = [2.0, 0.0]
"#;

/// A pendulum with a spring beside it: an equilibrium with a quadratic force law, and a torque as input.
const SIDE_SPRING: &str = r#"
format = 1
name = "side_spring"
dimension = 2
gravity = [0.0, -9.81]
[experiment]
initial = "equilibrium"
[[body]]
name = "rod"
mass = 1.0
inertia = 0.1
position = [0.3, -0.4]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "rod"]
point = [0.0, 0.0]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["ground", "rod"]
points = [[1.0, 0.3], [0.0, 0.0]]
stiffness = 20.0
damping = 0.5
length = 0.2
[[force]]
name = "motor"
type = "actuator"
joint = "pivot"
[[input]]
name = "tau"
target = "motor.torque"
[[output]]
name = "angle"
source = "pivot.position"
[[output]]
name = "speed"
source = "pivot.speed"
[[output]]
name = "acceleration"
source = "pivot.acceleration"
"#;

#[test]
fn a_linear_model_predicts_a_second_to_second_order() {
    let model = Model::from_text(SIDE_SPRING, "text").unwrap();
    let run = |torque: f64| {
        let mut instance = Instance::from_model(model.clone()).unwrap();
        instance.initialize(0.0, 1.0, 1e-11).unwrap();
        let linear = instance.linearize().unwrap();
        let tau = instance.find("tau").unwrap();
        let angle = instance.find("angle").unwrap();
        let (mut before, mut after) = ([0.0], [0.0]);
        instance.get_real(&[angle], &mut before).unwrap();
        instance.set_real(&[tau], &[torque]).unwrap();
        instance.step(0.0, 1.0).unwrap();
        instance.get_real(&[angle], &mut after).unwrap();
        // x(1) with a constant input: the exponential of [A B; 0 0].
        let mut m = nalgebra::DMatrix::<f64>::zeros(3, 3);
        for i in 0..2 {
            for j in 0..2 {
                m[(i, j)] = linear.a[2 * i + j];
            }
            m[(i, 2)] = linear.b[i] * torque;
        }
        (after[0] - before[0] - m.exp()[(0, 2)]).abs()
    };
    let errors = [0.4, 0.2, 0.1].map(run);
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        // Second order, and what is left of the third.
        assert!((3.4..4.6).contains(&ratio), "{errors:?}");
    }
}

#[test]
fn direct_feedthrough_is_the_directional_derivative_of_the_interface() {
    let model = Model::from_text(SIDE_SPRING, "text").unwrap();
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    instance.step(0.0, 0.3).unwrap();
    let linear = instance.linearize().unwrap();
    let outputs: Vec<u32> = (linear.outputs.iter())
        .map(|name| instance.find(name).unwrap())
        .collect();
    let tau = instance.find("tau").unwrap();
    let mut column = vec![0.0; outputs.len()];
    instance
        .directional_derivative(&outputs, &[tau], &[1.0], &mut column)
        .unwrap();
    // Position, speed, 1 / (0.1 + 0.25) of the acceleration.
    for (d, expected) in linear.d.iter().zip([0.0, 0.0, 1.0 / 0.35]) {
        assert!((d - expected).abs() < 1e-10, "{:?}", linear.d);
    }
    for (d, s) in linear.d.iter().zip(&column) {
        assert!((d - s).abs() < 1e-10, "{:?} {column:?}", linear.d);
    }
}
