//! Coordinates and outputs of a model as an analysis sees them, the same in every formulation.
//!
//! Minimal coordinates are chosen among the joint coordinates, in the order of the model, then among positions and rotations of the
//! bodies. A spherical joint and a free body have a rotation vector: in the axes of `bodies[0]`, or of the ground.

use std::cell::RefCell;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use crate::analysis::{MinimalCoordinateKind, Observables};
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint};
use crate::integrator::{Environment, Integrator, Sample, Signals, State};
use crate::model::quantity::{BodyField, EnergyField, JointField, Quantity};
use crate::model::{BodyRef, JointKind, Model};

/// Where a minimal coordinate comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CoordinateSource {
    /// Two quantities: rate and acceleration.
    Quantities(Quantity, Quantity),
    /// Rotation of the second body seen from the first, in its axes; of a body seen from the ground, the first is `None`.
    Rotation([BodyRef; 2]),
}

/// Names of a coordinate and of its derivative.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CoordinateNames {
    pub position: String,
    pub speed: String,
}

/// The coordinates and outputs of a model.
#[derive(Clone, Debug)]
pub(super) struct CoordinateList {
    sources: Vec<CoordinateSource>,
    kinds: Vec<MinimalCoordinateKind>,
    /// Those of joints.
    preferred: usize,
    pub names: Vec<CoordinateNames>,
    pub outputs: Vec<Quantity>,
}

impl CoordinateList {
    /// The coordinates of a model, and these outputs.
    pub fn new(model: &Model, unknowns: usize, outputs: Vec<Quantity>) -> Self {
        let mut list = Self {
            sources: Vec::new(),
            kinds: Vec::new(),
            preferred: 0,
            names: Vec::new(),
            outputs,
        };
        if model.system.is_some() || model.user_system.is_some() {
            for i in 0..unknowns {
                let (rate, acceleration) = (Quantity::Rate(i), Quantity::Acceleration(i));
                let names = (format!("q{}", i + 1), format!("v{}", i + 1));
                list.add(CoordinateSource::Quantities(rate, acceleration), names);
            }
            list.preferred = unknowns;
            return list;
        }
        for i in 0..model.joints.len() {
            list.add_joint(model, i);
        }
        list.preferred = list.sources.len();
        for i in 0..model.bodies.len() {
            if !model.bodies[i].prescribed {
                list.add_body(model, i);
            }
        }
        list
    }

    fn add(&mut self, source: CoordinateSource, (position, speed): (String, String)) {
        self.sources.push(source);
        self.kinds.push(MinimalCoordinateKind::Holonomic);
        self.names.push(CoordinateNames { position, speed });
    }

    fn add_rotation(&mut self, bodies: [BodyRef; 2], name: &str) {
        for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
            let position = format!("{name}.rotation_{axis}");
            let speed = format!("der({position})");
            self.add(CoordinateSource::Rotation(bodies), (position, speed));
            *self.kinds.last_mut().expect("one was added") = MinimalCoordinateKind::Rotation(k);
        }
    }

    fn add_joint(&mut self, model: &Model, i: usize) {
        let joint = &model.joints[i];
        if joint.kind == JointKind::Spherical && model.dimension != 2 {
            return self.add_rotation(joint.bodies, &joint.name);
        }
        let count = match joint.kind {
            JointKind::Spherical => 0,
            kind => kind.coordinates(model.dimension),
        };
        for k in 0..count {
            let number = if count == 1 {
                String::new()
            } else {
                (k + 1).to_string()
            };
            let names = (
                format!("{}.position{number}", joint.name),
                format!("{}.speed{number}", joint.name),
            );
            let [rate, acceleration] = [JointField::Speed(k), JointField::Acceleration(k)]
                .map(|field| Quantity::Joint(i, field));
            self.add(CoordinateSource::Quantities(rate, acceleration), names);
        }
    }

    fn add_body(&mut self, model: &Model, i: usize) {
        let name = &model.bodies[i].name;
        for (k, axis) in ["x", "y", "z"]
            .into_iter()
            .enumerate()
            .take(model.dimension)
        {
            let names = (format!("{name}.{axis}"), format!("{name}.v{axis}"));
            let [rate, acceleration] = [BodyField::Velocity(k), BodyField::Acceleration(k)]
                .map(|field| Quantity::Body(i, field));
            self.add(CoordinateSource::Quantities(rate, acceleration), names);
        }
        if model.dimension == 2 {
            let [rate, acceleration] = [
                BodyField::AngularVelocity(2),
                BodyField::AngularAcceleration(2),
            ]
            .map(|field| Quantity::Body(i, field));
            let names = (format!("{name}.angle"), format!("{name}.wz"));
            self.add(CoordinateSource::Quantities(rate, acceleration), names);
        } else {
            self.add_rotation([None, Some(i)], name);
        }
    }
}

/// Inputs that do not change with time.
pub(super) struct ConstantSignals<'a>(pub &'a EvaluationContext<'a>);

impl Signals for ConstantSignals<'_> {
    fn sample(&self, _t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        u.copy_from_slice(self.0.u);
        u_dot.copy_from_slice(self.0.u_dot);
        u_ddot.copy_from_slice(self.0.u_ddot);
    }
}

/// Distributes reactions over redundant constraints at perturbed points.
pub(super) struct ReactionDistribution<'a> {
    pub integrator: &'a mut Integrator,
    pub state: &'a State,
    pub sample: &'a mut Sample,
}

/// Coordinates and outputs of a mechanism in its formulation.
pub(super) struct ModelObservables<'a> {
    pub mechanism: &'a dyn Mechanism,
    pub list: &'a CoordinateList,
    /// Set if outputs are reactions and constraints are redundant.
    pub reactions: Option<RefCell<ReactionDistribution<'a>>>,
}

impl ModelObservables<'_> {
    /// Relative angular velocity and its derivative in the axes of the first body.
    fn rotation(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        bodies: [BodyRef; 2],
    ) -> [Vector3<f64>; 2] {
        let read = |body: usize, fields: &[BodyField], out: &mut [f64]| {
            let mut quantities = [Quantity::Time; 6];
            for (quantity, &field) in quantities.iter_mut().zip(fields) {
                *quantity = Quantity::Body(body, field);
            }
            (self.mechanism).evaluate_all(cx, &quantities[..fields.len()], at, out);
        };
        let motion = |body: BodyRef| {
            let mut values = [0.0; 6];
            if let Some(body) = body {
                let fields: [BodyField; 6] = std::array::from_fn(|k| match k {
                    0..3 => BodyField::AngularVelocity(k),
                    _ => BodyField::AngularAcceleration(k - 3),
                });
                read(body, &fields, &mut values);
            }
            [
                Vector3::from_column_slice(&values[..3]),
                Vector3::from_column_slice(&values[3..]),
            ]
        };
        let [first, second] = bodies.map(motion);
        let (omega, alpha) = ([first[0], second[0]], [first[1], second[1]]);
        let relative = omega[1] - omega[0];
        let change = alpha[1] - alpha[0] - omega[0].cross(&relative);
        match bodies[0] {
            None => [relative, change],
            Some(body) => {
                let mut components = [0.0; 4];
                let fields = [0, 1, 2, 3].map(BodyField::Quaternion);
                read(body, &fields, &mut components);
                let [w, x, y, z] = components;
                let axes = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
                [relative, change].map(|x| axes.inverse_transform_vector(&x))
            }
        }
    }

    /// The value of an output. Integrals over the past do not depend on the present point.
    fn output(&self, cx: &EvaluationContext, at: &MotionPoint, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Time | Quantity::Solver(_) => 0.0,
            Quantity::Energy(field) => {
                let energy = || self.mechanism.energy(cx, at.q, at.v);
                match field {
                    EnergyField::Kinetic => energy().kinetic,
                    EnergyField::Potential => energy().potential,
                    EnergyField::Total => {
                        let energy = energy();
                        energy.kinetic + energy.potential
                    }
                    EnergyField::Dissipated
                    | EnergyField::Supplied
                    | EnergyField::Balance
                    | EnergyField::Numerical => 0.0,
                }
            }
            _ => self.mechanism.evaluate(cx, quantity, at),
        }
    }
}

impl Observables for ModelObservables<'_> {
    fn kinds(&self) -> &[MinimalCoordinateKind] {
        &self.list.kinds
    }

    fn preferred(&self) -> usize {
        self.list.preferred
    }

    fn coordinate_motion(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        which: &[usize],
        (rate, acceleration): (&mut [f64], &mut [f64]),
    ) {
        for &i in which {
            match (self.list.sources[i], self.list.kinds[i]) {
                (CoordinateSource::Quantities(first, second), _) => {
                    rate[i] = self.mechanism.evaluate(cx, first, at);
                    acceleration[i] = self.mechanism.evaluate(cx, second, at);
                }
                (CoordinateSource::Rotation(bodies), MinimalCoordinateKind::Rotation(0)) => {
                    let [omega, alpha] = self.rotation(cx, at, bodies);
                    rate[i..i + 3].copy_from_slice(omega.as_slice());
                    acceleration[i..i + 3].copy_from_slice(alpha.as_slice());
                }
                // Written with the first component.
                (CoordinateSource::Rotation(_), _) => {}
            }
        }
    }

    fn output_count(&self) -> usize {
        self.list.outputs.len()
    }

    fn outputs(&self, cx: &EvaluationContext, at: &MotionPoint, out: &mut [f64]) {
        let Some(reactions) = &self.reactions else {
            for (out, &quantity) in out.iter_mut().zip(&self.list.outputs) {
                *out = self.output(cx, at, quantity);
            }
            return;
        };
        let ReactionDistribution {
            integrator,
            state,
            sample,
        } = &mut *reactions.borrow_mut();
        sample.t = cx.t;
        sample.q.copy_from_slice(at.q);
        sample.v.copy_from_slice(at.v);
        sample.acc.copy_from_slice(at.a);
        sample.lambda.copy_from_slice(at.lambda);
        let env = Environment {
            signals: &ConstantSignals(cx),
            parameters: cx.p,
        };
        let distributed = integrator.reactions_near(self.mechanism, &env, state, sample);
        let at = MotionPoint {
            lambda: &sample.lambda,
            ..*at
        };
        for (out, &quantity) in out.iter_mut().zip(&self.list.outputs) {
            *out = match distributed {
                Err(_) if quantity.is_reaction() => f64::NAN,
                _ => self.output(cx, &at, quantity),
            };
        }
    }
}
