//! Small models built in code, for the tests of this formulation.

use nalgebra::{DMatrix, DVector};

use crate::formulation::absolute::Planar;
use crate::formulation::check::{Noise, Options, check};
use crate::formulation::{Context, Mechanism, Motion, System, Weights};
use crate::model::*;

/// No inputs, no parameters.
pub const STILL: Context = Context {
    t: 0.0,
    u: &[],
    u_dot: &[],
    u_ddot: &[],
    p: &[],
    modes: &[],
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
        solver: Solver::default(),
        experiment: Experiment {
            start: 0.0,
            stop: 1.0,
            interval: None,
        },
        system: None,
        own: None,
        bodies,
        joints,
        motions: vec![],
        forces,
        sensors: vec![],
        inputs: vec![],
        outputs: vec![],
        parameters: vec![],
        expose: crate::model::Expose::Declared,
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
        place: Place::default(),
    }
}

/// A joint drawn in the ground frame.
pub fn joint(kind: JointKind, bodies: [BodyRef; 2], point: [f64; 2], axis: [f64; 2]) -> Joint {
    Joint {
        name: format!("joint_at_{}_{}", point[0], point[1]),
        kind,
        bodies,
        frame: JointPlace::Ground(frame(point, axis)),
        position: [0.0; 3],
        pitch: 0.0,
        length: None,
        coupling: None,
        friction: vec![],
        limits: vec![],
        place: Place { line: 7, column: 3 },
    }
}

pub fn pin(bodies: [BodyRef; 2], point: [f64; 2]) -> Joint {
    joint(JointKind::Revolute, bodies, point, [0.0, 0.0])
}

pub fn frame(point: [f64; 2], axis: [f64; 2]) -> Frame {
    Frame {
        point: [point[0], point[1], 0.0],
        axis: [axis[0], axis[1], 0.0],
        across: [0.0; 3],
    }
}

pub fn spring(
    bodies: [BodyRef; 2],
    points: [[f64; 2]; 2],
    [stiffness, damping, length]: [f64; 3],
) -> Force {
    Force {
        name: "spring".into(),
        kind: ForceKind::SpringDamper(crate::model::Spring {
            stiffness: (stiffness).into(),
            damping: (damping).into(),
            length,
            ..Default::default()
        }),
        on: ForcePlace::Points {
            bodies,
            points: points.map(|p| [p[0], p[1], 0.0]),
        },
        place: Place::default(),
    }
}

pub fn actuator(on: ForcePlace, effort: f64) -> Force {
    Force {
        name: "motor".into(),
        kind: ForceKind::Actuator { effort },
        on,
        place: Place::default(),
    }
}

/// Runs the checker at random points, off the constraints too.
pub fn check_at_random(model: &Model) {
    let cx = Context {
        t: 0.3,
        u: &Noise::new(1).vector(model.inputs.len(), 2.0),
        u_dot: &Noise::new(2).vector(model.inputs.len(), 2.0),
        u_ddot: &Noise::new(3).vector(model.inputs.len(), 2.0),
        p: &model.parameters.iter().map(|p| p.start).collect::<Vec<_>>(),
        modes: &[],
    };
    let system = Planar::new(model).unwrap();
    let size = system.size();
    let mut noise = Noise::new(17);
    for round in 0..6 {
        let at = Motion {
            q: &noise.vector(size.nq, 2.0),
            v: &noise.vector(size.nv, 3.0),
            a: &noise.vector(size.nv, 5.0),
            lambda: &noise.vector(size.nc, 5.0),
        };
        if let Err(text) = check(&system, &cx, &at, &Options::default()) {
            panic!("round {round}:\n{text}");
        }
    }
}

/// Accelerations and multipliers of a state, by a dense solution of the saddle-point equations.
pub struct Solved {
    pub system: Planar,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub lambda: Vec<f64>,
}

impl Solved {
    /// At the model's start.
    pub fn new(model: &Model) -> Self {
        let system = Planar::new(model).unwrap();
        let size = system.size();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        system.start(&mut q, &mut v);
        let (n, nc) = (size.nv, size.nc);
        let pattern = system.pattern();
        let mut values = vec![0.0; pattern.tangent.len()];
        system
            .tangent(
                &STILL,
                &q,
                &v,
                &v,
                &vec![0.0; nc],
                &Weights::MASS,
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
        system.convective(&STILL, &q, &v, gamma);
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

    pub fn motion(&self) -> Motion<'_> {
        Motion {
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
