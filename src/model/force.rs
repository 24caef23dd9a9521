//! `[[force]]` as written, and the friction and end stops of joints: what acts, where, and which of its numbers can be set
//! from outside.

use super::check::Range;
use super::{BodyRef, Curve, Joint, JointCoordinate, JointPlacement};
use crate::error::Result;

/// A force as a function of one number: proportional to it, or along a curve.
#[derive(Clone, Debug, PartialEq)]
pub enum Characteristic {
    /// F = factor x number
    Linear(f64),
    /// F = curve(number)
    Law(Curve),
}

impl From<f64> for Characteristic {
    fn from(factor: f64) -> Self {
        Self::Linear(factor)
    }
}

/// `only` of a spring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneSided {
    /// A rope: it pulls, and is slack where it would push.
    Tension,
    /// A buffer: it pushes, and lets go where it would pull.
    Compression,
}

/// A spring with a damper: F = preload + stiffness(c − length) + damping(ċ), positive pulls together.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringDefinition {
    /// N/m (N m/rad), or F(c − length).
    pub stiffness: Characteristic,
    /// N s/m (N m s/rad), or F(ċ).
    pub damping: Characteristic,
    /// Unloaded length or angle (m or rad).
    pub length: f64,
    /// F at the unloaded length (N or N m).
    pub preload: f64,
    /// Acts one way only.
    pub only: Option<OneSided>,
}

impl Default for SpringDefinition {
    /// Nothing.
    fn default() -> Self {
        Self {
            stiffness: Characteristic::Linear(0.0),
            damping: Characteristic::Linear(0.0),
            length: 0.0,
            preload: 0.0,
            only: None,
        }
    }
}

/// What acts on one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadDefinition {
    /// At a point.
    Force,
    /// Anywhere.
    Torque,
}

/// `frame` of a force or torque on one body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadFrame {
    /// Components along ground axes: a weight, the wind.
    #[default]
    Ground,
    /// Components along body axes: a thruster.
    Body,
}

/// Regularised dry friction. In joints the levels are forces (N or N m), in contacts they are multiples of the normal force:
///
/// ```text
///   level(u) = (kinetic + (static − kinetic) exp(−(u/stribeck_velocity)²)) tanh(u/stiction_velocity) + viscous u
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionDefinition {
    /// Far from rest.
    pub kinetic: f64,
    /// Where it breaks loose, at least `kinetic`.
    pub r#static: f64,
    /// Below this speed it creeps (m/s or rad/s).
    pub stiction_velocity: f64,
    /// Where static has turned into kinetic friction (m/s or rad/s).
    pub stribeck_velocity: f64,
    /// N s/m or N m s/rad; in contacts s/m.
    pub viscous: f64,
}

/// A contact or stop that does not give way: it is met by a blow, then left or held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidImpact {
    /// Part of the speed of approach with which they part, 0 .. 1.
    pub restitution: f64,
    /// Approaches slower than this do not bounce (m/s or rad/s); `None`: as the size of the mechanism and gravity say.
    pub rest_speed: Option<f64>,
}

impl RigidImpact {
    /// Refuses numbers out of range, by the name of whoever has them.
    pub(super) fn validate(&self, name: &str) -> Result<()> {
        Range::Part.check(|| format!("{name}.restitution"), self.restitution)?;
        match self.rest_speed {
            Some(speed) => Range::NonNegative.check(|| format!("{name}.rest_speed"), speed),
            None => Ok(()),
        }
    }
}

/// How an end stop acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitLaw {
    /// A spring with a damper.
    Compliant {
        /// N/m or N m/rad
        stiffness: f64,
        /// N s/m or N m s/rad
        damping: f64,
    },
    /// A blow.
    Rigid(RigidImpact),
}

/// `limits` of a joint: end stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimits {
    /// Lowest and highest value of the coordinate (rad or m); infinite where there is no stop.
    pub range: [f64; 2],
    /// What happens there.
    pub stop: LimitLaw,
}

impl JointLimits {
    /// One of the numbers of its stops; `None` where they have none such.
    pub(super) fn number_mut(&mut self, number: JointNumber) -> Option<&mut f64> {
        match (&mut self.stop, number) {
            (LimitLaw::Compliant { stiffness, .. }, JointNumber::Stiffness) => Some(stiffness),
            (LimitLaw::Compliant { damping, .. }, JointNumber::Damping) => Some(damping),
            (LimitLaw::Rigid(rigid), JointNumber::Restitution) => Some(&mut rigid.restitution),
            _ => None,
        }
    }
}

/// A tyre on a road: a force along `up` at the wheel's centre while the tyre is pressed together.
#[derive(Clone, Debug, PartialEq)]
pub struct TyreDefinition {
    /// Unloaded (m).
    pub radius: f64,
    /// N/m, or F of the deflection.
    pub stiffness: Characteristic,
    /// N s/m, or F of the rate of deflection.
    pub damping: Characteristic,
    /// Unit vector in the axes of `bodies[0]`, the road.
    pub up: [f64; 3],
    /// Along the road, unit vector across `up`.
    pub forward: [f64; 3],
    /// Height of the road over the distance along `forward`.
    pub profile: Option<Curve>,
    /// Added to the profile (m).
    pub height: f64,
    /// The road passes below the wheel: distance = forward·(wheel − road point) + offset + speed t (m/s).
    pub speed: f64,
    /// m
    pub offset: f64,
}

/// What `bodies[0]` of a contact offers.
#[derive(Clone, Debug, PartialEq)]
pub enum Surface {
    /// A half space below `points[0]`; its normal in body axes, unit vector, points out of the material.
    Plane([f64; 3]),
    /// A ball (a disc in the plane) about `points[0]`, its radius (m); zero is a point.
    Sphere(f64),
    /// A curve of the plane, fixed in the body.
    Curve(SurfaceOutline),
}

/// A curve of the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceOutline {
    /// In the body frame (m).
    pub points: Vec<[f64; 2]>,
    /// The last point is joined to the first and the material lies inside; else it lies to the right of the direction of
    /// travel (below a ground drawn from left to right).
    pub closed: bool,
    /// Of a closed curve: the material lies outside.
    pub hollow: bool,
    /// A spline through the points instead of a polyline.
    pub smooth: bool,
    /// How deep a body may sink in before it counts as being on another side (m).
    pub depth: f64,
}

/// How a contact presses, δ the depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactLaw {
    /// N = stiffness δ + damping δ̇
    SpringDamper {
        /// N/m
        stiffness: f64,
        /// N s/m
        damping: f64,
    },
    /// N = stiffness δⁿ (1 + damping δ̇)
    HuntCrossley {
        /// N/mⁿ
        stiffness: f64,
        /// n
        exponent: f64,
        /// s/m
        damping: f64,
    },
    /// No depth at all: blows, and a force that holds.
    Rigid(RigidImpact),
}

/// A contact of a point, ball or disc of `bodies[1]` with a surface of `bodies[0]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactDefinition {
    /// Of `bodies[0]`.
    pub surface: Surface,
    /// Of the ball or disc about `points[1]` of `bodies[1]` (m); zero is a point.
    pub radius: f64,
    /// Normal force.
    pub law: ContactLaw,
    /// Along the surface.
    pub friction: Option<FrictionDefinition>,
}

/// `type` of `[[force]]`.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceKind {
    /// `spring_damper` between points, along a direction or in a joint that slides; `torsion_spring` in one that turns.
    SpringDamper(SpringDefinition),
    /// A driven force (or torque) between two points or in a joint; positive increases the length or the coordinate.
    Actuator {
        /// N or N m at start; driveable.
        effort: f64,
    },
    /// `force` and `torque` on one body.
    Load {
        /// Which of the two.
        load: LoadDefinition,
        /// N or N m; driveable.
        components: [f64; 3],
        /// Whose axes.
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
    /// Between a point of each body, each in its own body's frame (m).
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
        /// Drawn in the ground frame at start, or given in each body: `axis` is the frame's x, `across` its y.
        at: JointPlacement,
    },
}

impl ForceApplication {
    /// The bodies it acts between.
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

/// A number of a force that can be set from outside, besides those that have a [`super::Target`] of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForceNumber {
    /// Of a spring.
    Preload,
    /// Of a force or torque on a body: driveable.
    Component(usize),
    /// Of a bushing, along or about one axis.
    Stiffness(usize),
    /// Of a bushing.
    Damping(usize),
    /// Of a tyre.
    Radius,
    /// Of the road below a tyre: driveable.
    Height,
    /// Of a contact: far from rest.
    Kinetic,
    /// Of a contact: where it breaks loose.
    Static,
    /// Of a rigid contact.
    Restitution,
}

/// A number of a joint that can be set from outside, of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointNumber {
    /// Friction far from rest: driveable.
    Kinetic,
    /// Friction where it breaks loose: driveable.
    Static,
    /// Viscous part of the friction.
    Viscous,
    /// Of the end stops.
    Stiffness,
    /// Of the end stops.
    Damping,
    /// Of rigid end stops.
    Restitution,
}

impl ForceNumber {
    /// The values it may have.
    pub(super) fn range(self) -> Range {
        match self {
            Self::Preload | Self::Component(_) | Self::Height => Range::Finite,
            Self::Radius => Range::Positive,
            Self::Restitution => Range::Part,
            Self::Stiffness(_) | Self::Damping(_) | Self::Kinetic | Self::Static => {
                Range::NonNegative
            }
        }
    }

    /// Whether an input may drive it.
    pub(super) fn driveable(self) -> bool {
        matches!(self, Self::Preload | Self::Component(_) | Self::Height)
    }
}

impl JointNumber {
    /// Whether an input may drive it.
    pub(super) fn driveable(self) -> bool {
        matches!(self, Self::Kinetic | Self::Static | Self::Viscous)
    }
}

/// A settable number: its name, which it is, its unit.
pub(super) type Settable<K> = (&'static str, K, &'static str);

const AXES: [&str; 3] = ["x", "y", "z"];
const STIFFNESSES: [&str; 6] = ["kx", "ky", "kz", "krx", "kry", "krz"];
const DAMPINGS: [&str; 6] = ["dx", "dy", "dz", "drx", "dry", "drz"];

impl ForceKind {
    /// The numbers that can be set besides stiffness, damping, length and effort.
    pub(super) fn settables(&self, dimension: usize, turns: bool) -> Vec<Settable<ForceNumber>> {
        use ForceNumber as N;
        let plane = dimension == 2;
        match self {
            Self::SpringDamper(_) => vec![("preload", N::Preload, if turns { "N.m" } else { "N" })],
            Self::Actuator { .. } => vec![],
            Self::Load { load, .. } => {
                let (unit, axes) = match load {
                    LoadDefinition::Force => ("N", 0..dimension),
                    LoadDefinition::Torque if plane => ("N.m", 2..3),
                    LoadDefinition::Torque => ("N.m", 0..3),
                };
                axes.map(|k| (AXES[k], N::Component(k), unit)).collect()
            }
            Self::Bushing { .. } => {
                let axes: &[usize] = if plane {
                    &[0, 1, 5]
                } else {
                    &[0, 1, 2, 3, 4, 5]
                };
                let stiffness = |k: usize| if k < 3 { "N/m" } else { "N.m/rad" };
                let damping = |k: usize| if k < 3 { "N.s/m" } else { "N.m.s/rad" };
                (axes
                    .iter()
                    .map(|&k| (STIFFNESSES[k], N::Stiffness(k), stiffness(k))))
                .chain(
                    axes.iter()
                        .map(|&k| (DAMPINGS[k], N::Damping(k), damping(k))),
                )
                .collect()
            }
            Self::Tyre(_) => vec![("radius", N::Radius, "m"), ("height", N::Height, "m")],
            Self::Contact(contact) => {
                let mut all = Vec::new();
                if let ContactLaw::Rigid(_) = contact.law {
                    all.push(("restitution", N::Restitution, ""));
                }
                if contact.friction.is_some() {
                    all.extend([("kinetic", N::Kinetic, ""), ("static", N::Static, "")]);
                }
                all
            }
        }
    }

    /// One of its numbers; `None` where it has none such.
    pub(super) fn number_mut(&mut self, number: ForceNumber) -> Option<&mut f64> {
        use ForceNumber as N;
        match (self, number) {
            (Self::SpringDamper(spring), N::Preload) => Some(&mut spring.preload),
            (Self::Load { components, .. }, N::Component(k)) => components.get_mut(k),
            (Self::Bushing { stiffness, .. }, N::Stiffness(k)) => stiffness.get_mut(k),
            (Self::Bushing { damping, .. }, N::Damping(k)) => damping.get_mut(k),
            (Self::Tyre(tyre), N::Radius) => Some(&mut tyre.radius),
            (Self::Tyre(tyre), N::Height) => Some(&mut tyre.height),
            (
                Self::Contact(ContactDefinition {
                    law: ContactLaw::Rigid(rigid),
                    ..
                }),
                N::Restitution,
            ) => Some(&mut rigid.restitution),
            (
                Self::Contact(ContactDefinition {
                    friction: Some(friction),
                    ..
                }),
                N::Kinetic,
            ) => Some(&mut friction.kinetic),
            (
                Self::Contact(ContactDefinition {
                    friction: Some(friction),
                    ..
                }),
                N::Static,
            ) => Some(&mut friction.r#static),
            _ => None,
        }
    }

    /// Its stiffness where that is a number.
    pub(super) fn stiffness_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::SpringDamper(SpringDefinition {
                stiffness: Characteristic::Linear(x),
                ..
            })
            | Self::Tyre(TyreDefinition {
                stiffness: Characteristic::Linear(x),
                ..
            })
            | Self::Contact(ContactDefinition {
                law:
                    ContactLaw::SpringDamper { stiffness: x, .. }
                    | ContactLaw::HuntCrossley { stiffness: x, .. },
                ..
            }) => Some(x),
            _ => None,
        }
    }

    /// Its damping where that is a number.
    pub(super) fn damping_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::SpringDamper(SpringDefinition {
                damping: Characteristic::Linear(x),
                ..
            })
            | Self::Tyre(TyreDefinition {
                damping: Characteristic::Linear(x),
                ..
            })
            | Self::Contact(ContactDefinition {
                law:
                    ContactLaw::SpringDamper { damping: x, .. }
                    | ContactLaw::HuntCrossley { damping: x, .. },
                ..
            }) => Some(x),
            _ => None,
        }
    }

    /// Its unloaded length.
    pub(super) fn length_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::SpringDamper(spring) => Some(&mut spring.length),
            _ => None,
        }
    }

    /// Its effort.
    pub(super) fn effort_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::Actuator { effort } => Some(effort),
            _ => None,
        }
    }
}

impl FrictionDefinition {
    /// What is wrong with it, by key.
    pub(super) fn complaint(&self) -> Option<(&'static str, &'static str)> {
        if !Range::NonNegative.accepts(self.kinetic) {
            Some(("kinetic", "a finite number >= 0"))
        } else if !(self.r#static >= self.kinetic) || !self.r#static.is_finite() {
            Some(("static", "a finite number, at least the kinetic level"))
        } else if !Range::Positive.accepts(self.stiction_velocity) {
            Some(("stiction_velocity", "a finite number > 0"))
        } else if !Range::Positive.accepts(self.stribeck_velocity) {
            Some(("stribeck_velocity", "a finite number > 0"))
        } else if !Range::NonNegative.accepts(self.viscous) {
            Some(("viscous", "a finite number >= 0"))
        } else {
            None
        }
    }
}

/// Names of the numbers of a joint's friction and end stops: of the only coordinate, of the first, second, third.
const JOINT_NAMES: [(JointNumber, [&str; 4]); 6] = [
    (
        JointNumber::Kinetic,
        ["kinetic", "kinetic1", "kinetic2", "kinetic3"],
    ),
    (
        JointNumber::Static,
        ["static", "static1", "static2", "static3"],
    ),
    (
        JointNumber::Viscous,
        ["viscous", "viscous1", "viscous2", "viscous3"],
    ),
    (
        JointNumber::Stiffness,
        ["stiffness", "stiffness1", "stiffness2", "stiffness3"],
    ),
    (
        JointNumber::Damping,
        ["damping", "damping1", "damping2", "damping3"],
    ),
    (
        JointNumber::Restitution,
        [
            "restitution",
            "restitution1",
            "restitution2",
            "restitution3",
        ],
    ),
];

impl Joint {
    /// The numbers that can be set: which coordinate, and the rest.
    pub(super) fn settables(&self, dimension: usize) -> Vec<(usize, Settable<JointNumber>)> {
        let count = self.kind.coordinates(dimension);
        let mut all = Vec::new();
        for k in 0..count {
            let angle = self.kind.is_angle(k);
            for (number, names) in JOINT_NAMES {
                let of_friction = matches!(
                    number,
                    JointNumber::Kinetic | JointNumber::Static | JointNumber::Viscous
                );
                let there = if of_friction {
                    has(&self.friction, k)
                } else {
                    let mut limits = self.limits.get(k).copied().flatten();
                    limits
                        .as_mut()
                        .is_some_and(|l| l.number_mut(number).is_some())
                };
                let unit = match (number, angle) {
                    (JointNumber::Kinetic | JointNumber::Static, true) => "N.m",
                    (JointNumber::Kinetic | JointNumber::Static, false) => "N",
                    (JointNumber::Stiffness, true) => "N.m/rad",
                    (JointNumber::Stiffness, false) => "N/m",
                    (JointNumber::Viscous | JointNumber::Damping, true) => "N.m.s/rad",
                    (JointNumber::Viscous | JointNumber::Damping, false) => "N.s/m",
                    (JointNumber::Restitution, _) => "",
                };
                if there {
                    all.push((k, (names[if count == 1 { 0 } else { k + 1 }], number, unit)));
                }
            }
        }
        all
    }

    /// A number of the friction or the end stops of a coordinate.
    pub(super) fn number_mut(&mut self, index: usize, number: JointNumber) -> Option<&mut f64> {
        use JointNumber as N;
        match number {
            N::Kinetic => self
                .friction
                .get_mut(index)?
                .as_mut()
                .map(|f| &mut f.kinetic),
            N::Static => self
                .friction
                .get_mut(index)?
                .as_mut()
                .map(|f| &mut f.r#static),
            N::Viscous => self
                .friction
                .get_mut(index)?
                .as_mut()
                .map(|f| &mut f.viscous),
            N::Stiffness | N::Damping | N::Restitution => {
                self.limits.get_mut(index)?.as_mut()?.number_mut(number)
            }
        }
    }
}

/// Whether coordinate `k` has one.
pub(super) fn has<T>(list: &[Option<T>], k: usize) -> bool {
    list.get(k).is_some_and(Option::is_some)
}
