//! Tests of the component with an oscillator that needs no formulation and can fail on purpose,
//!
//! ```text
//!   m x'' + c x' + k x = u,     c = 0.1,     x(0) = 1,  x'(0) = 0
//! ```

use super::Instance;
use crate::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, EvaluationFailure,
    HybridSystem, Mechanism, MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};
use crate::model::quantity::{BodyField, Quantity};
use crate::model::*;

mod definitions;
mod derivatives;
mod error_bars;
mod input;
mod instance_state;
mod serialization;
mod signals;
mod step;
mod values;
mod variables;

/// Damping (N s/m).
pub const DAMPING: f64 = 0.1;
/// A stiffness for which the force fails with code 7.
pub const BROKEN: f64 = 1e9;

/// Value references of [`oscillator`].
pub const PUSH: u32 = 0;
pub const X: u32 = 1;
pub const V: u32 = 2;
pub const A: u32 = 3;
/// An output that is always NaN.
pub const NAN: u32 = 4;
pub const BALANCE: u32 = 5;
pub const SUPPLIED: u32 = 6;
pub const TIME: u32 = 7;
pub const STEPS: u32 = 8;
pub const STIFFNESS: u32 = 9;
pub const MASS: u32 = 10;
pub const COUNT: u32 = 11;

struct Oscillator;

impl System for Oscillator {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 1,
            nv: 1,
            inputs: 1,
            parameters: 2,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            velocity_forces: true,
            does_work: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0)],
            jacobian: vec![],
        }
    }

    fn mass_times(&self, cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out[0] = cx.p[1] * a[0];
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        if cx.p[0] == BROKEN {
            return Err(EvaluationFailure::Fatal(7));
        }
        out[0] = cx.u[0] - DAMPING * v[0] - cx.p[0] * q[0];
        Ok(())
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        out[0] = weights.mass * cx.p[1] + weights.damping * DAMPING + weights.stiffness * cx.p[0];
        Ok(())
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * cx.p[1] * v[0] * v[0],
            potential: 0.5 * cx.p[0] * q[0] * q[0],
        }
    }

    fn power(&self, cx: &EvaluationContext, _q: &[f64], v: &[f64]) -> Power {
        Power {
            dissipated: DAMPING * v[0] * v[0],
            supplied: cx.u[0] * v[0],
        }
    }
}

impl ConfigurationSpace for Oscillator {}

impl HybridSystem for Oscillator {}

impl Mechanism for Oscillator {
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        q[0] = 1.0;
        v[0] = 0.0;
    }

    fn evaluate(&self, _cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        match quantity {
            Quantity::Body(0, BodyField::Position(0)) => at.q[0],
            Quantity::Body(0, BodyField::Velocity(0)) => at.v[0],
            Quantity::Body(0, BodyField::Acceleration(0)) => at.a[0],
            _ => f64::NAN,
        }
    }
}

/// The model of the oscillator.
pub fn model() -> Model {
    let text_position = TextPosition::default();
    let output = |name: &str, source: &str| Output {
        name: name.to_string(),
        source: source.to_string(),
        unit: None,
        text_position,
    };
    let parameter = |name: &str, target: Target, start: f64| Parameter {
        name: name.to_string(),
        target,
        unit: None,
        start,
        text_position,
    };
    let force = |name: &str, kind: ForceKind| Force {
        name: name.to_string(),
        kind,
        on: ForceApplication::Points {
            bodies: [None, Some(0)],
            points: [[-1.0, 0.0, 0.0], [0.0; 3]],
        },
        text_position,
    };
    Model {
        origin: "testing".to_string(),
        name: "oscillator".to_string(),
        dimension: 2,
        gravity: [0.0; 3],
        solver: SolverSettings::default(),
        experiment: Experiment {
            start: 0.0,
            stop: 1.0,
            interval: None,
            ..Experiment::default()
        },
        system: None,
        motions: vec![],
        user_system: None,
        bodies: vec![Body {
            orientation: [1.0, 0.0, 0.0, 0.0],
            prescribed: false,
            name: "mass".to_string(),
            mass: 1.0,
            inertia: [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            position: [1.0, 0.0, 0.0],
            angle: 0.0,
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            center_of_mass: [0.0; 3],
            shape: None,
            text_position,
        }],
        joints: vec![],
        forces: vec![
            force(
                "spring",
                ForceKind::SpringDamper(SpringDefinition {
                    stiffness: 4.0.into(),
                    damping: DAMPING.into(),
                    length: 1.0,
                    ..SpringDefinition::default()
                }),
            ),
            force("motor", ForceKind::Actuator { effort: 0.0 }),
        ],
        sensors: vec![],
        inputs: vec![Input {
            name: "push".to_string(),
            target: Target::ForceEffort(1),
            unit: None,
            start: 0.5,
            text_position,
        }],
        outputs: vec![
            output("x", "mass.x"),
            output("v", "mass.vx"),
            output("a", "mass.ax"),
            output("nan", "mass.y"),
            output("balance", "energy.balance"),
            output("supplied", "energy.supplied"),
            output("clock", "time"),
            output("steps", "solver.steps"),
        ],
        parameters: vec![
            parameter("stiffness", Target::ForceStiffness(0), 4.0),
            parameter("mass", Target::BodyMass(0), 1.0),
        ],
        ..Model::default()
    }
}

/// An instance after creation.
pub fn oscillator() -> Instance {
    of(model())
}

/// An instance of this model after creation.
pub fn of(model: Model) -> Instance {
    Instance::from_mechanism(model, Box::new(Oscillator)).unwrap()
}

/// A running instance at t = 0 with an infinite stop time.
pub fn running() -> Instance {
    let mut instance = oscillator();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    instance
}

/// The value of one variable.
pub fn get(instance: &mut Instance, reference: u32) -> f64 {
    let mut value = [f64::NAN];
    instance.get_real(&[reference], &mut value).unwrap();
    value[0]
}
