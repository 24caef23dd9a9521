//! Quantities of a mechanism in absolute coordinates. Components out of the plane are zero.

use super::constraint::{ConstraintPart, relative_motion};
use super::geometry::{Geometry, PointMotion, Wrench};
use super::{Absolute, MechanismGeometry};
use crate::formulation::force::unilateral::SEPARATED;
use crate::formulation::joint::JointEquations;
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint};
use crate::model::quantity::{BeamField, BodyField, ForceField, JointField, MotionField, Quantity};

impl<W: MechanismGeometry<N>, const N: usize> Mechanism for Absolute<W, N> {
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&self.initial.0);
        v.copy_from_slice(&self.initial.1);
    }

    fn evaluate(&self, cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        match quantity {
            Quantity::Body(i, field) => point::<W, N>(&self.bodies[i].origin, field, at),
            Quantity::Sensor(i, field) => point::<W, N>(&self.sensors[i], field, at),
            Quantity::Joint(i, JointField::Friction(k)) => self.joint_force(cx, (i, k, true), at),
            Quantity::Joint(i, JointField::Stop(k)) => self.joint_force(cx, (i, k, false), at),
            Quantity::Joint(i, field) => self.joint(&self.joints[i], field, at),
            Quantity::Force(i, field) => {
                let values = self.forces.quantities_of(i, cx, &mut W::poses(at.q), at);
                match field {
                    ForceField::Length => values.length,
                    ForceField::Rate => values.rate,
                    ForceField::Force => values.force,
                    ForceField::Load(k) => values.force_vector[k],
                    ForceField::Moment(k) => values.moment[k],
                    ForceField::ControlError => values.control_error,
                    ForceField::Integral => values.integral,
                    ForceField::Closed => f64::from(u8::from(values.mode != SEPARATED)),
                    ForceField::Mode => f64::from(values.mode),
                }
            }
            Quantity::Motion(i, field) => self.drive(i, field, at),
            Quantity::Beam(i, field) => self.beam(i, field, at),
            Quantity::Energy(_)
            | Quantity::Solver(_)
            | Quantity::Time
            | Quantity::Coordinate(_)
            | Quantity::Rate(_)
            | Quantity::Acceleration(_)
            | Quantity::Multiplier(_) => f64::NAN,
        }
    }

    /// Poses of bodies, and coordinates and reactions of joints, are computed once for all of their components.
    fn evaluate_all(
        &self,
        cx: &EvaluationContext,
        quantities: &[Quantity],
        at: &MotionPoint,
        values: &mut [f64],
    ) {
        let poses = &mut W::poses(at.q);
        // Components of one body mostly follow each other.
        let mut last: Option<(usize, PointMotion)> = None;
        let mut coordinate: Option<((usize, usize), [f64; 3])> = None;
        let mut reaction: Option<(usize, Wrench)> = None;
        for (quantity, value) in quantities.iter().zip(values) {
            let body = |i: usize| &self.bodies[i].origin;
            *value = match *quantity {
                Quantity::Body(i, BodyField::Position(k)) => W::position(poses, body(i))[k],
                Quantity::Body(i, BodyField::Quaternion(k)) => W::quaternion(poses, body(i))[k],
                Quantity::Body(i, field) => {
                    let motion = match last {
                        Some((known, motion)) if known == i => motion,
                        _ => W::motion(poses, body(i), at.v, at.a),
                    };
                    last = Some((i, motion));
                    component(&motion, field)
                }
                Quantity::Joint(
                    i,
                    field @ (JointField::Position(k)
                    | JointField::Speed(k)
                    | JointField::Acceleration(k)),
                ) => {
                    let motion = match coordinate {
                        Some((known, motion)) if known == (i, k) => motion,
                        _ => self.coordinate(&self.joints[i], k, at),
                    };
                    coordinate = Some(((i, k), motion));
                    motion[derivative_order(field)]
                }
                Quantity::Joint(i, field @ (JointField::Force(k) | JointField::Moment(k))) => {
                    let wrench = match reaction {
                        Some((known, wrench)) if known == i => wrench,
                        _ => self.reaction(&self.joints[i], at),
                    };
                    reaction = Some((i, wrench));
                    match field {
                        JointField::Force(_) => wrench.force[k],
                        _ => wrench.moment[k],
                    }
                }
                other => self.evaluate(cx, other, at),
            };
        }
    }
}

/// Motion of a point and of its body.
fn point<W: Geometry<N>, const N: usize>(
    point: &W::BodyPoint,
    field: BodyField,
    at: &MotionPoint,
) -> f64 {
    match field {
        BodyField::Quaternion(k) => W::quaternion(&mut W::poses(at.q), point)[k],
        _ => component(&W::motion(&mut W::poses(at.q), point, at.v, at.a), field),
    }
}

/// One component of a motion; NaN for those of a quaternion, which is not part of it.
fn component(motion: &PointMotion, field: BodyField) -> f64 {
    match field {
        BodyField::Position(k) => motion.position[k],
        BodyField::Velocity(k) => motion.velocity[k],
        BodyField::Acceleration(k) => motion.acceleration[k],
        BodyField::Angle => motion.angle,
        BodyField::Quaternion(_) => f64::NAN,
        BodyField::AngularVelocity(k) => motion.angular_velocity[k],
        BodyField::AngularAcceleration(k) => motion.angular_acceleration[k],
    }
}

/// Order of the derivative of a joint coordinate that a field is.
fn derivative_order(field: JointField) -> usize {
    match field {
        JointField::Speed(_) => 1,
        JointField::Acceleration(_) => 2,
        _ => 0,
    }
}

impl<W: MechanismGeometry<N>, const N: usize> Absolute<W, N> {
    /// Coordinate and reaction of a joint.
    fn joint(&self, joint: &JointEquations<W, N>, field: JointField, at: &MotionPoint) -> f64 {
        match field {
            JointField::Position(k) | JointField::Speed(k) | JointField::Acceleration(k) => {
                self.coordinate(joint, k, at)[derivative_order(field)]
            }
            JointField::Quaternion(k) => {
                W::relative_quaternion(&mut W::poses(at.q), joint.bodies)[k]
            }
            JointField::Force(k) => self.reaction(joint, at).force[k],
            JointField::Moment(k) => self.reaction(joint, at).moment[k],
            JointField::Friction(_) | JointField::Stop(_) => f64::NAN,
        }
    }

    /// Coordinate `k` of a joint with its first two derivatives.
    fn coordinate(&self, joint: &JointEquations<W, N>, k: usize, at: &MotionPoint) -> [f64; 3] {
        match joint.coordinates.get(k) {
            Some(coordinate) => {
                relative_motion::<W, N>(coordinate, &mut W::poses(at.q), at.v, at.a)
            }
            None => [f64::NAN; 3],
        }
    }

    /// Strain energy of a beam, section force or strain of one of its elements.
    fn beam(&self, beam: usize, field: BeamField, at: &MotionPoint) -> f64 {
        let poses = &mut W::poses(at.q);
        let elements = &self.beams[beam];
        let mut section = |element: usize| elements[element].section(poses, at.v);
        match field {
            BeamField::StrainEnergy => (0..elements.len()).map(|k| section(k).energy).sum(),
            BeamField::Force(k, axis) => section(k).force[axis],
            BeamField::Moment(k, axis) => section(k).force[3 + axis],
            BeamField::Strain(k, axis) => section(k).strain[axis],
            BeamField::Curvature(k, axis) => section(k).strain[3 + axis],
        }
    }

    /// Generalised force of friction or of a limit on the coordinate of a joint.
    fn joint_force(
        &self,
        cx: &EvaluationContext,
        which: (usize, usize, bool),
        at: &MotionPoint,
    ) -> f64 {
        let first = self.forces.len() - self.joint_forces.len();
        match self.joint_forces.iter().position(|x| *x == which) {
            Some(k) => {
                self.forces
                    .quantities_of(first + k, cx, &mut W::poses(at.q), at)
                    .force
            }
            None => f64::NAN,
        }
    }

    /// Coordinate of a motion, and the effort −λ of its drive along the coordinate.
    fn drive(&self, motion: usize, field: MotionField, at: &MotionPoint) -> f64 {
        let group = &self.constraints[self.motions[motion]];
        let ConstraintPart::Prescribed(prescribed) = &group.part else {
            return f64::NAN;
        };
        let motion =
            relative_motion::<W, N>(&prescribed.coordinate, &mut W::poses(at.q), at.v, at.a);
        match field {
            MotionField::Position => motion[0],
            MotionField::Speed => motion[1],
            MotionField::Acceleration => motion[2],
            MotionField::Effort => -at.lambda[group.first],
        }
    }

    /// Reaction force of a joint on `bodies[1]` at its joint point: −G₁ᵀλ. The effort of an actuator in the joint is not part of it.
    fn reaction(&self, joint: &JointEquations<W, N>, at: &MotionPoint) -> Wrench {
        let Some(point) = &joint.point else {
            return Wrench::default();
        };
        let poses = &mut W::poses(at.q);
        let mut force = [0.0; N];
        for group in &self.constraints[joint.constraints.clone()] {
            let lambda = &at.lambda[group.first..];
            group
                .part
                .add_constraint_force(poses, joint.bodies, lambda, &mut force);
        }
        W::wrench(poses, point, &force.map(|x| -x)[N / 2..])
    }
}
