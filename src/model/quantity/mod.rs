//! Quantities: values of a motion that have a dotted name, `<element>.<field>`.

mod fields;
mod resolve;
#[cfg(test)]
mod tests;
mod unit;

use super::counters::CounterIndex;

pub(super) use resolve::{NamedElement, element_and_field};

/// A quantity by element index and field. The formulation or the component evaluates it, as the variants say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Of a body; evaluated by the formulation.
    Body(usize, BodyField),
    /// Of a sensor; evaluated by the formulation.
    Sensor(usize, BodyField),
    /// Of a joint; evaluated by the formulation.
    Joint(usize, JointField),
    /// Of a motion; evaluated by the formulation.
    Motion(usize, MotionField),
    /// Of a force; evaluated by the formulation.
    Force(usize, ForceField),
    /// Of a beam; evaluated by the formulation.
    Beam(usize, BeamField),
    /// Of the whole mechanism; evaluated by the component.
    Energy(EnergyField),
    /// Of the solver; evaluated by the component.
    Solver(CounterIndex),
    /// `time`
    Time,
    /// `q1 q2 ..` of a linear or user-defined system; evaluated by the formulation.
    Coordinate(usize),
    /// `v1 v2 ..`
    Rate(usize),
    /// `a1 a2 ..`
    Acceleration(usize),
    /// `lambda1 lambda2 ..`, one for each constraint
    Multiplier(usize),
}

impl Quantity {
    /// Whether it depends on the multipliers, which are distributed over redundant constraints before it is read.
    pub fn is_reaction(self) -> bool {
        matches!(
            self,
            Self::Joint(_, JointField::Force(_) | JointField::Moment(_))
                | Self::Motion(_, MotionField::Effort)
                | Self::Multiplier(_)
        )
    }

    /// Whether it changes at single times only: at events, or with the steps of the solver.
    pub fn is_discrete(self) -> bool {
        matches!(
            self,
            Self::Solver(_) | Self::Force(_, ForceField::Closed | ForceField::Mode)
        )
    }

    /// Whether it follows from positions alone, so that an impact does not change it.
    pub fn is_of_position(self) -> bool {
        match self {
            Self::Body(_, field) | Self::Sensor(_, field) => matches!(
                field,
                BodyField::Position(_) | BodyField::Angle | BodyField::Quaternion(_)
            ),
            Self::Joint(_, field) => {
                matches!(field, JointField::Position(_) | JointField::Quaternion(_))
            }
            Self::Motion(_, field) => field == MotionField::Position,
            Self::Force(_, field) => field == ForceField::Length,
            Self::Energy(field) => field == EnergyField::Potential,
            Self::Beam(..) | Self::Coordinate(_) => true,
            _ => false,
        }
    }

    /// Whether a run can state its error. Not so: counters and modes, which are whole numbers; time, which has none; and the energy
    /// balance, which is an error itself.
    pub fn has_error(self) -> bool {
        !self.is_discrete()
            && !matches!(
                self,
                Self::Time | Self::Energy(EnergyField::Balance | EnergyField::Numerical)
            )
    }

    /// Whether it follows from positions and velocities alone.
    pub fn is_of_motion(self) -> bool {
        match self {
            Self::Body(_, field) | Self::Sensor(_, field) => !matches!(
                field,
                BodyField::Acceleration(_) | BodyField::AngularAcceleration(_)
            ),
            Self::Joint(_, field) => matches!(
                field,
                JointField::Position(_) | JointField::Speed(_) | JointField::Quaternion(_)
            ),
            Self::Beam(..) | Self::Energy(_) | Self::Time | Self::Coordinate(_) | Self::Rate(_) => {
                true
            }
            // Friction and rigid contacts depend on the multipliers.
            _ => false,
        }
    }
}

/// Motion of a body and a point of it, ground axes; axis 0, 1, 2 = x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyField {
    /// `.x .y .z` (m)
    Position(usize),
    /// `.angle` (rad), two dimensions, counts revolutions
    Angle,
    /// `.qw .qx .qy .qz`, three dimensions
    Quaternion(usize),
    /// `.vx .vy .vz` (m/s)
    Velocity(usize),
    /// `.wx .wy .wz` (rad/s)
    AngularVelocity(usize),
    /// `.ax .ay .az` (m/s²)
    Acceleration(usize),
    /// `.alphax .alphay .alphaz` (rad/s²)
    AngularAcceleration(usize),
}

/// Motion and reaction of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointField {
    /// `.position`, or `.position1 .position2 ..` of a joint with several, from 0: `bodies[1]` relative to `bodies[0]` (rad or m)
    Position(usize),
    /// `.speed`
    Speed(usize),
    /// `.acceleration`
    Acceleration(usize),
    /// `.qw .qx .qy .qz` of a spherical joint: orientation of `bodies[1]` relative to `bodies[0]`
    Quaternion(usize),
    /// `.fx .fy .fz`: force on `bodies[1]` at its joint point, ground axes (N)
    Force(usize),
    /// `.mx .my .mz`: moment on `bodies[1]` at its joint point, ground axes (N m)
    Moment(usize),
    /// `.friction`, or `.friction1 ..`: friction force on a coordinate (N or N m)
    Friction(usize),
    /// `.stop`, or `.stop1 ..`: limit force on a coordinate (N or N m)
    Stop(usize),
}

/// State of a prescribed coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MotionField {
    /// `.position` of the motion law (rad or m); of a body in space an angle counts from the initial pose
    Position,
    /// `.speed`
    Speed,
    /// `.acceleration`
    Acceleration,
    /// `.effort` of the drive along the coordinate (N m or N): positive increases the coordinate, its power is effort x speed
    Effort,
}

/// State of a force element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForceField {
    /// `.length` between the points (m)
    Length,
    /// `.rate` of the length (m/s)
    Rate,
    /// `.force` (N or N m): positive in tension; of an actuator positive increases the coordinate; of a tyre or contact the
    /// normal force, of a force or torque on a body its magnitude
    Force,
    /// `.fx .fy .fz`: force on `bodies[1]`, ground axes (N)
    Load(usize),
    /// `.mx .my .mz`: torque on `bodies[1]` besides the moment of that force, ground axes (N m)
    Moment(usize),
    /// `.error` of a controller: set point minus coordinate (m or rad)
    ControlError,
    /// `.integral_part` of a controller: the integral part of its force (N or N m)
    Integral,
    /// `.closed` of a tyre or contact: 1 while the surfaces touch, else 0
    Closed,
    /// `.mode` of a tyre or contact: 0 separated, 1 pressed, 2 touching without a force because its damper would pull
    Mode,
}

/// State of a beam, or of one of its elements from 0; section axes 1, 2, 3 as 0, 1, 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BeamField {
    /// `.strain_energy` (J)
    StrainEnergy,
    /// `.<element>.n1 .n2 .n3` (N): axial and shear forces
    Force(usize, usize),
    /// `.<element>.m1 .m2 .m3` (N m): torque and bending moments about the section axes
    Moment(usize, usize),
    /// `.<element>.e1 .e2 .e3`: axial and shear strains
    Strain(usize, usize),
    /// `.<element>.k1 .k2 .k3` (1/m): twist and curvatures, less those at rest
    Curvature(usize, usize),
}

/// `energy.*` (J)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum EnergyField {
    Kinetic,
    Potential,
    Total,
    Dissipated,
    Supplied,
    Balance,
    Numerical,
}
