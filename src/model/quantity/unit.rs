//! Units of quantities.

use super::{BeamField, BodyField, ForceField, JointField, MotionField, Quantity};
use crate::model::Model;

impl Model {
    /// The unit of a quantity of this model, empty if it has none.
    pub fn unit(&self, quantity: Quantity) -> &'static str {
        let turning = |joint: usize, k: usize| self.joints[joint].kind.is_angle(k);
        match quantity {
            Quantity::Body(_, field) | Quantity::Sensor(_, field) => match field {
                BodyField::Position(_) => "m",
                BodyField::Angle => "rad",
                BodyField::Quaternion(_) => "",
                BodyField::Velocity(_) => "m/s",
                BodyField::AngularVelocity(_) => "rad/s",
                BodyField::Acceleration(_) => "m/s2",
                BodyField::AngularAcceleration(_) => "rad/s2",
            },
            Quantity::Joint(joint, field) => match field {
                JointField::Position(k) if turning(joint, k) => "rad",
                JointField::Position(_) => "m",
                JointField::Speed(k) if turning(joint, k) => "rad/s",
                JointField::Speed(_) => "m/s",
                JointField::Acceleration(k) if turning(joint, k) => "rad/s2",
                JointField::Acceleration(_) => "m/s2",
                JointField::Quaternion(_) => "",
                JointField::Friction(k) | JointField::Stop(k) if turning(joint, k) => "N.m",
                JointField::Force(_) | JointField::Friction(_) | JointField::Stop(_) => "N",
                JointField::Moment(_) => "N.m",
            },
            Quantity::Motion(motion, field) => match (field, self.motion_turns(motion)) {
                (MotionField::Position, true) => "rad",
                (MotionField::Position, false) => "m",
                (MotionField::Speed, true) => "rad/s",
                (MotionField::Speed, false) => "m/s",
                (MotionField::Acceleration, true) => "rad/s2",
                (MotionField::Acceleration, false) => "m/s2",
                (MotionField::Effort, true) => "N.m",
                (MotionField::Effort, false) => "N",
            },
            Quantity::Force(force, field) => match field {
                ForceField::Length | ForceField::ControlError if self.turns(force) => "rad",
                ForceField::Length | ForceField::ControlError => "m",
                ForceField::Rate if self.turns(force) => "rad/s",
                ForceField::Rate => "m/s",
                ForceField::Load(_) => "N",
                ForceField::Moment(_) => "N.m",
                ForceField::Force | ForceField::Integral if self.turns(force) => "N.m",
                ForceField::Force | ForceField::Integral => "N",
                ForceField::Closed | ForceField::Mode => "",
            },
            Quantity::Beam(_, field) => match field {
                BeamField::StrainEnergy => "J",
                BeamField::Force(..) => "N",
                BeamField::Moment(..) => "N.m",
                BeamField::Strain(..) => "",
                BeamField::Curvature(..) => "1/m",
            },
            Quantity::Energy(_) => "J",
            Quantity::Solver(index) => index.counter().unit,
            Quantity::Time => "s",
            Quantity::Coordinate(_)
            | Quantity::Rate(_)
            | Quantity::Acceleration(_)
            | Quantity::Multiplier(_) => "",
        }
    }
}

impl Quantity {
    /// Whether its unit is that of the user's equations.
    pub(in crate::model) fn unit_is_free(self) -> bool {
        matches!(
            self,
            Self::Coordinate(_) | Self::Rate(_) | Self::Acceleration(_) | Self::Multiplier(_)
        )
    }
}
