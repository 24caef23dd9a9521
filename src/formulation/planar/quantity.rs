//! Quantities of a planar mechanism: what a user asks for by name. Directions out of the plane are zero.

use super::pose::{Point, Poses, twist};
use super::{Planar, Row};
use crate::formulation::{Context, Mechanism, Motion};
use crate::model::quantity::{BodyField, ForceField, JointField, Quantity};

impl Mechanism for Planar {
    fn start(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&self.start.0);
        v.copy_from_slice(&self.start.1);
    }

    fn evaluate(&self, cx: &Context, quantity: Quantity, at: &Motion) -> f64 {
        match quantity {
            Quantity::Body(i, field) => point(&self.bodies[i].origin, field, at),
            Quantity::Sensor(i, field) => point(&self.sensors[i], field, at),
            Quantity::Joint(i, field) => joint(&self.joints[i], field, at),
            Quantity::Force(i, field) => {
                let (length, rate, force) = self.forces[i].shown(cx, &mut Poses::new(at.q), at.v);
                match field {
                    ForceField::Length => length,
                    ForceField::Rate => rate,
                    ForceField::Force => force,
                }
            }
            Quantity::Energy(_)
            | Quantity::Solver(_)
            | Quantity::Time
            | Quantity::Coordinate(_)
            | Quantity::Rate(_)
            | Quantity::Acceleration(_)
            | Quantity::Multiplier(_) => f64::NAN,
        }
    }
}

/// Motion of a point and of its body.
fn point(point: &Point, field: BodyField, at: &Motion) -> f64 {
    let pose = Poses::new(at.q).get(point.body);
    let d = pose.turn(point.s);
    match field {
        BodyField::Position(k @ 0..=1) => pose.r[k] + d[k],
        BodyField::Velocity(k @ 0..=1) => point.velocity(d, at.v)[k],
        BodyField::Acceleration(k @ 0..=1) => point.acceleration(d, at.v, at.a)[k],
        BodyField::Angle => pose.angle,
        BodyField::AngularVelocity(2) => twist(at.v, point.body).w,
        BodyField::AngularAcceleration(2) => twist(at.a, point.body).w,
        _ => 0.0,
    }
}

/// Coordinate and reaction of a joint.
fn joint(row: &Row, field: JointField, at: &Motion) -> f64 {
    let joint = row.joint.get();
    let poses = &mut Poses::new(at.q);
    let measure = joint.coordinate();
    match field {
        JointField::Position => measure.value(poses).0,
        JointField::Speed => {
            let (_, gradient) = measure.value(poses);
            measure.rate(&gradient, at.v)
        }
        JointField::Acceleration => measure.acceleration(poses, at.v, at.a),
        JointField::Force(k @ 0..=1) => joint.load(poses, &at.lambda[row.first..]).force[k],
        JointField::Moment(2) => joint.load(poses, &at.lambda[row.first..]).moment,
        JointField::Force(_) | JointField::Moment(_) => 0.0,
    }
}
