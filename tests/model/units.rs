//! A model rewritten in millimetres and tonnes takes the same steps: nothing in the solver knows the size of a metre.
//!
//! ```text
//!   length 1e3, mass 1e-3, time 1  =>  force 1, torque 1e3, inertia 1e3, stiffness and damping 1e-3, gravity 1e3
//! ```

use std::path::Path;

use biela::component::{Causality, Instance};
use biela::model::{
    BodyShape, Characteristic, ForceApplication, ForceKind, JointFrame, JointPlacement, Model,
};

const LENGTH: f64 = 1e3;
const MASS: f64 = 1e-3;

fn long(x: &mut [f64; 3]) {
    x.iter_mut().for_each(|x| *x *= LENGTH);
}

/// The same mechanism in millimetres and tonnes.
fn in_millimetres(model: &Model) -> Model {
    let mut model = model.clone();
    let frame = |frame: &mut JointFrame| long(&mut frame.point);
    long(&mut model.gravity);
    for body in &mut model.bodies {
        body.mass *= MASS;
        body.inertia
            .iter_mut()
            .for_each(|x| *x *= MASS * LENGTH * LENGTH);
        for x in [
            &mut body.position,
            &mut body.velocity,
            &mut body.center_of_mass,
        ] {
            long(x);
        }
        body.shape = None::<BodyShape>;
    }
    for joint in &mut model.joints {
        match &mut joint.frame {
            JointPlacement::InitialPose(ground) => frame(ground),
            JointPlacement::BodyFrames(frames) => frames.iter_mut().for_each(frame),
            JointPlacement::None => {}
        }
        for (k, x) in joint.position.iter_mut().enumerate() {
            if !joint.kind.is_angle(k) {
                *x *= LENGTH;
            }
        }
        joint.pitch *= LENGTH;
        joint.length = joint.length.map(|x| x * LENGTH);
    }
    let mut efforts = vec![];
    for force in &mut model.forces {
        let turns = match &mut force.on {
            ForceApplication::Joint(of) => model.joints[of.joint].kind.is_angle(of.index),
            ForceApplication::Points { points, .. } => {
                points.iter_mut().for_each(long);
                false
            }
            other => panic!("no rule for {other:?}"),
        };
        // tonne x mm / s² is a newton; a torque has a length besides.
        let effort_scale = if turns { LENGTH } else { 1.0 };
        efforts.push(effort_scale);
        match &mut force.kind {
            ForceKind::SpringDamper(spring) => {
                for characteristic in [&mut spring.stiffness, &mut spring.damping] {
                    match characteristic {
                        Characteristic::Linear(factor) => *factor /= LENGTH,
                        Characteristic::Law(law) => panic!("no rule for {law:?}"),
                    }
                }
                spring.length *= LENGTH;
            }
            ForceKind::Actuator { effort } => *effort *= effort_scale,
            other => panic!("no rule for {other:?}"),
        }
    }
    for sensor in &mut model.sensors {
        long(&mut sensor.point);
    }
    // Signals would need a rule for each target; the start values are in the elements.
    model.inputs.clear();
    model.parameters.clear();
    model
}

/// Counters and outputs after a run.
fn run(model: Model, stop: f64) -> ([u64; 3], Vec<(String, f64)>) {
    let mut model = model;
    model.inputs.clear();
    model.parameters.clear();
    let start = model.experiment.start;
    let mut instance = Instance::from_model(model).unwrap_or_else(|e| panic!("{e}"));
    instance.initialize(start, f64::INFINITY, 0.0).unwrap();
    instance.step(start, stop).unwrap();
    let outputs: Vec<(String, String)> = (instance.variables().iter())
        .filter(|v| v.causality == Causality::Output)
        .map(|v| (v.name.clone(), v.unit.clone()))
        .collect();
    let values = outputs
        .iter()
        .map(|(name, unit)| {
            let mut value = [0.0];
            let reference = instance.find(name).unwrap();
            instance.get_real(&[reference], &mut value).unwrap();
            (unit.clone(), value[0])
        })
        .collect();
    let s = instance.statistics();
    ([s.steps, s.rejected, s.newton_iterations], values)
}

fn same_steps(model: &Model, stop: f64) {
    let (metres, in_metres) = run(model.clone(), stop);
    let (millimetres, in_mm) = run(in_millimetres(model), stop);
    assert_eq!(
        metres, millimetres,
        "{}: steps, rejected, iterations",
        model.name
    );
    for ((unit, a), (_, b)) in in_metres.iter().zip(&in_mm) {
        let scale = match unit.as_str() {
            "m" | "m/s" | "m/s2" | "N.m" | "J" => LENGTH,
            "rad" | "rad/s" | "rad/s2" | "N" | "" | "s" => 1.0,
            other => panic!("{}: no rule for the unit {other}", model.name),
        };
        // Newton ends within 1e-3 of a tolerance of 1e-6; what is left is rounding, amplified over the run.
        let size = a.abs().max(1e-3);
        assert!(
            (b / scale - a).abs() < 1e-7 * size,
            "{}: {a} and {b} in {unit}",
            model.name
        );
    }
}

#[test]
fn mechanisms_of_the_plane_take_the_same_steps_in_millimetres() {
    for (file, stop) in [
        ("slider_crank.toml", 0.5),
        ("four_bar.toml", 0.3),
        ("oscillator.toml", 0.5),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("models")
            .join(file);
        same_steps(
            &Model::from_file(&path).unwrap_or_else(|e| panic!("{e}")),
            stop,
        );
    }
}

/// A crank in a tilted bearing drives a slide through a rod with a cross and a ball, against a spring.
const SPATIAL: &str = r#"format = 1
name = "spatial_crank"
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "crank"
mass = 0.4
inertia = [1e-3, 1e-3, 2e-3]
position = [0.0, 0.1, 0.0]
angular_velocity = [5.0, 0.0, 0.0]
[[body]]
name = "rod"
mass = 0.3
inertia = [5e-3, 5e-5, 5e-3]
position = [0.0, 0.35, 0.0]
[[body]]
name = "slider"
mass = 0.8
inertia = [1e-3, 1e-3, 1e-3]
position = [0.0, 0.6, 0.0]
[[joint]]
name = "bearing"
type = "revolute"
bodies = ["ground", "crank"]
point = [0.0, 0.0, 0.0]
axis = [1.0, 0.0, 0.2]
[[joint]]
name = "cross"
type = "universal"
bodies = ["crank", "rod"]
point = [0.0, 0.1, 0.0]
axes = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
[[joint]]
name = "ball"
type = "spherical"
bodies = ["rod", "slider"]
point = [0.0, 0.6, 0.0]
[[joint]]
name = "guide"
type = "cylindrical"
bodies = ["ground", "slider"]
point = [0.0, 0.6, 0.0]
axis = [0.0, 1.0, 0.0]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["ground", "slider"]
points = [[0.1, 0.9, 0.0], [0.0, 0.0, 0.0]]
stiffness = 200.0
damping = 2.0
length = 0.3
[[output]]
name = "travel"
source = "guide.position2"
[[output]]
name = "angle"
source = "bearing.position"
[[output]]
name = "qx"
source = "rod.qx"
[[output]]
name = "load"
source = "ball.fy"
[[output]]
name = "energy"
source = "energy.total"
"#;

#[test]
fn a_mechanism_in_space_takes_the_same_steps_in_millimetres() {
    same_steps(
        &Model::from_text(SPATIAL, "spatial").unwrap_or_else(|e| panic!("{e}")),
        0.5,
    );
}
