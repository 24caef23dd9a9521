//! `[[force]]`: force elements and where they act.

mod element;
mod number;
mod validate;

pub use element::*;
pub use number::ForceNumber;
pub(super) use number::Settable;

use super::choice::choice;
use super::{BodyRef, JointCoordinate, JointPlacement, TextPosition};

choice! {
    /// `type` of `[[force]]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ForceType {
        /// Spring and damper between points, along a direction, or in a translational joint coordinate.
        SpringDamper = "spring_damper",
        /// The same in a rotational joint coordinate.
        TorsionSpring = "torsion_spring",
        /// Force on one body.
        Force = "force",
        /// Torque on one body.
        Torque = "torque",
        /// Driven force or torque.
        Actuator = "actuator",
        /// PID controller.
        Pid = "pid",
        /// Actuator with gain, bias and limits.
        Servo = "servo",
        /// Springs and dampers between two frames.
        Bushing = "bushing",
        /// Wheel on a road.
        Tyre = "tyre",
        /// Unilateral contact.
        Contact = "contact",
    }
}

/// `[[force]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Name.
    pub name: String,
    /// Element.
    pub kind: ForceKind,
    /// Where it acts.
    pub on: ForceApplication,
    /// Position in the text.
    pub text_position: TextPosition,
}

/// A force element.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceKind {
    /// `spring_damper` between points, along a direction or in a translational joint coordinate; `torsion_spring` in a
    /// rotational one.
    SpringDamper(SpringDefinition),
    /// A driven force or torque between two points or in a joint; positive increases the distance or the coordinate.
    Actuator {
        /// Initial value (N or N m); driveable.
        effort: f64,
    },
    /// A PID controller on a joint coordinate.
    Pid(PidDefinition),
    /// An actuator with gain, bias and limits on a joint coordinate.
    Servo(ServoDefinition),
    /// `force` and `torque` on one body.
    Load {
        /// Force or torque.
        load: LoadDefinition,
        /// N or N m; driveable.
        components: [f64; 3],
        /// Axes of the components.
        frame: LoadFrame,
    },
    /// Springs and dampers between two frames along the axes of the first: x, y, z, then about x, y, z.
    Bushing {
        /// N/m, then N m/rad.
        stiffness: [f64; 6],
        /// N s/m, then N m s/rad.
        damping: [f64; 6],
    },
    /// A wheel on a road.
    Tyre(TyreDefinition),
    /// Contact, compliant or rigid.
    Contact(ContactDefinition),
}

/// Where a force acts.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceApplication {
    /// Between a point of each body, in that body's frame (m).
    Points {
        /// The bodies.
        bodies: [BodyRef; 2],
        /// The points.
        points: [[f64; 3]; 2],
    },
    /// The same along a direction fixed in `bodies[0]`: c = direction·(p₁ − p₀).
    Axis {
        /// The bodies.
        bodies: [BodyRef; 2],
        /// The points.
        points: [[f64; 3]; 2],
        /// Unit vector in the axes of `bodies[0]`.
        direction: [f64; 3],
    },
    /// Along the coordinate of a joint.
    Joint(JointCoordinate),
    /// At a point of one body, in its frame (m).
    Point {
        /// The body.
        body: BodyRef,
        /// The point.
        point: [f64; 3],
    },
    /// Between a frame of each body.
    Frames {
        /// The bodies.
        bodies: [BodyRef; 2],
        /// `axis` is the x axis of the frame, `reference_direction` its y axis.
        at: JointPlacement,
    },
}

impl ForceApplication {
    /// The bodies it acts between; `None` for a joint coordinate.
    pub fn bodies(&self) -> Option<[BodyRef; 2]> {
        match self {
            Self::Points { bodies, .. }
            | Self::Axis { bodies, .. }
            | Self::Frames { bodies, .. } => Some(*bodies),
            Self::Point { body, .. } => Some([None, *body]),
            Self::Joint(_) => None,
        }
    }

    /// The points it acts between, each in its body's frame.
    pub fn points(&self) -> Option<([BodyRef; 2], [[f64; 3]; 2])> {
        match self {
            Self::Points { bodies, points } | Self::Axis { bodies, points, .. } => {
                Some((*bodies, *points))
            }
            _ => None,
        }
    }
}
