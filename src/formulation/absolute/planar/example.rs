//! Small planar models built in code, for tests.

use nalgebra::{DMatrix, DVector};

use crate::formulation::absolute::PlanarAbsolute;
use crate::formulation::derivative_check::{DerivativeCheck, check};
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint, System, TangentWeights};
use crate::linalg::random::Random;
use crate::model::*;

/// No inputs, no parameters.
pub const STILL: EvaluationContext = EvaluationContext {
    t: 0.0,
    u: &[],
    u_dot: &[],
    u_ddot: &[],
    p: &[],
    modes: &[],
    integrals: &[],
};

pub fn model(
    gravity: [f64; 2],
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    forces: Vec<Force>,
) -> Model {
    Model {
        origin: "example".into(),
        name: "example".into(),
        dimension: 2,
        gravity: [gravity[0], gravity[1], 0.0],
        solver: SolverSettings::default(),
        experiment: Experiment {
            start: 0.0,
            stop: 1.0,
            interval: None,
            ..Experiment::default()
        },
        system: None,
        user_system: None,
        bodies,
        joints,
        motions: vec![],
        forces,
        sensors: vec![],
        inputs: vec![],
        outputs: vec![],
        parameters: vec![],
        ..Model::default()
    }
}

pub fn body(name: &str, mass: f64, inertia: f64, position: [f64; 2], angle: f64) -> Body {
    Body {
        name: name.into(),
        mass,
        inertia: [0.0, 0.0, inertia, 0.0, 0.0, 0.0],
        position: [position[0], position[1], 0.0],
        angle,
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        center_of_mass: [0.0; 3],
        orientation: [1.0, 0.0, 0.0, 0.0],
        prescribed: false,
        shape: None,
        text_position: TextPosition::default(),
    }
}

/// A joint given in the ground frame.
pub fn joint(kind: JointKind, bodies: [BodyRef; 2], point: [f64; 2], axis: [f64; 2]) -> Joint {
    Joint {
        name: format!("joint_at_{}_{}", point[0], point[1]),
        kind,
        bodies,
        frame: JointPlacement::InitialPose(frame(point, axis)),
        position: [0.0; 3],
        pitch: 0.0,
        mirrored: false,
        length: None,
        coupling: None,
        friction: vec![],
        limits: vec![],
        armature: [0.0; 3],
        text_position: TextPosition { line: 7, column: 3 },
    }
}

pub fn pin(bodies: [BodyRef; 2], point: [f64; 2]) -> Joint {
    joint(JointKind::Revolute, bodies, point, [0.0, 0.0])
}

pub fn frame(point: [f64; 2], axis: [f64; 2]) -> JointFrame {
    JointFrame {
        point: [point[0], point[1], 0.0],
        axis: [axis[0], axis[1], 0.0],
        reference_direction: [0.0; 3],
    }
}

pub fn spring(
    bodies: [BodyRef; 2],
    points: [[f64; 2]; 2],
    [stiffness, damping, length]: [f64; 3],
) -> Force {
    Force {
        name: "spring".into(),
        kind: ForceKind::SpringDamper(crate::model::SpringDefinition {
            stiffness: (stiffness).into(),
            damping: (damping).into(),
            length,
            ..Default::default()
        }),
        on: ForceApplication::Points {
            bodies,
            points: points.map(|p| [p[0], p[1], 0.0]),
        },
        text_position: TextPosition::default(),
    }
}

pub fn actuator(on: ForceApplication, effort: f64) -> Force {
    Force {
        name: "motor".into(),
        kind: ForceKind::Actuator { effort },
        on,
        text_position: TextPosition::default(),
    }
}

/// Checks derivatives at random points that do not satisfy the constraints.
pub fn check_at_random(model: &Model) {
    let cx = EvaluationContext {
        t: 0.3,
        u: &Random::new(1).vector(model.inputs.len(), 2.0),
        u_dot: &Random::new(2).vector(model.inputs.len(), 2.0),
        u_ddot: &Random::new(3).vector(model.inputs.len(), 2.0),
        p: &model.parameters.iter().map(|p| p.start).collect::<Vec<_>>(),
        modes: &[],
        integrals: &[],
    };
    let system = PlanarAbsolute::new(model).unwrap();
    let size = system.dimensions();
    let mut random = Random::new(17);
    for round in 0..6 {
        let at = MotionPoint {
            q: &random.vector(size.nq, 2.0),
            v: &random.vector(size.nv, 3.0),
            a: &random.vector(size.nv, 5.0),
            lambda: &random.vector(size.nc, 5.0),
        };
        if let Err(text) = check(&system, &cx, &at, &DerivativeCheck::default()) {
            panic!("round {round}:\n{text}");
        }
    }
}

/// Accelerations and multipliers of the initial state, by dense solution of the saddle-point equations.
pub struct Solved {
    pub system: PlanarAbsolute,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub lambda: Vec<f64>,
}

impl Solved {
    /// Solves at the initial state of the model.
    pub fn new(model: &Model) -> Self {
        let system = PlanarAbsolute::new(model).unwrap();
        let size = system.dimensions();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        system.initial_state(&mut q, &mut v);
        let (n, nc) = (size.nv, size.nc);
        let pattern = system.sparsity();
        let mut values = vec![0.0; pattern.tangent.len()];
        system
            .tangent(
                &STILL,
                &MotionPoint {
                    q: &q,
                    v: &v,
                    a: &v,
                    lambda: &vec![0.0; nc],
                },
                &TangentWeights::MASS,
                &mut values,
            )
            .unwrap();
        let mut matrix = DMatrix::zeros(n + nc, n + nc);
        for (&(i, j), x) in pattern.tangent.iter().zip(&values) {
            matrix[(i as usize, j as usize)] += x;
        }
        let mut values = vec![0.0; pattern.jacobian.len()];
        system.jacobian(&STILL, &q, &mut values);
        for (&(i, j), x) in pattern.jacobian.iter().zip(&values) {
            matrix[(n + i as usize, j as usize)] += x;
            matrix[(j as usize, n + i as usize)] += x;
        }
        let mut right = DVector::zeros(n + nc);
        let (force, gamma) = right.as_mut_slice().split_at_mut(n);
        system.force(&STILL, &q, &v, force).unwrap();
        system.constraint_acceleration_bias(&STILL, &q, &v, gamma);
        gamma.iter_mut().for_each(|x| *x = -*x);
        let x = matrix.lu().solve(&right).expect("regular");
        Self {
            system,
            q,
            v,
            a: x.as_slice()[..n].to_vec(),
            lambda: x.as_slice()[n..].to_vec(),
        }
    }

    pub fn motion(&self) -> MotionPoint<'_> {
        MotionPoint {
            q: &self.q,
            v: &self.v,
            a: &self.a,
            lambda: &self.lambda,
        }
    }

    pub fn get(&self, quantity: quantity::Quantity) -> f64 {
        self.system.evaluate(&STILL, quantity, &self.motion())
    }
}
