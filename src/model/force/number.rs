//! Numbers of force elements that can be set from outside.

use super::{
    Characteristic, ContactDefinition, ContactLaw, ForceKind, LoadDefinition, PidDefinition,
    ServoDefinition, SpringDefinition, TyreDefinition,
};
use crate::model::validate::Range;

/// A number of a force that can be set from outside and has no variant of its own in [`crate::model::Target`].
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
    /// Kinetic friction of a contact.
    Kinetic,
    /// Static friction of a contact.
    Static,
    /// Of a rigid contact.
    Restitution,
    /// Set point of a controller: driveable.
    SetPoint,
    /// Gain of a controller.
    Proportional,
    /// Gain of a controller.
    Integral,
    /// Gain of a controller.
    Derivative,
    /// Limit of a controller.
    LowerLimit,
    /// Limit of a controller.
    UpperLimit,
    /// Of a controller.
    TrackingTime,
    /// Control of a servo: driveable.
    Control,
    /// Of a servo.
    Gain,
    /// Of a servo: constant, of the coordinate, of its rate.
    Bias(usize),
}

impl ForceNumber {
    /// Accepted values.
    pub(in crate::model) fn range(self) -> Range {
        match self {
            Self::Preload | Self::Component(_) | Self::Height => Range::Finite,
            Self::SetPoint | Self::LowerLimit | Self::UpperLimit => Range::Finite,
            Self::Control | Self::Gain | Self::Bias(_) => Range::Finite,
            Self::Proportional | Self::Integral | Self::Derivative => Range::NonNegative,
            Self::Radius | Self::TrackingTime => Range::Positive,
            Self::Restitution => Range::Part,
            Self::Stiffness(_) | Self::Damping(_) | Self::Kinetic | Self::Static => {
                Range::NonNegative
            }
        }
    }

    /// Whether an input may drive it.
    pub(in crate::model) fn driveable(self) -> bool {
        matches!(
            self,
            Self::Preload | Self::Component(_) | Self::Height | Self::SetPoint | Self::Control
        )
    }
}

/// A settable number: name, identity, unit.
pub(in crate::model) type Settable<K> = (&'static str, K, &'static str);

const AXES: [&str; 3] = ["x", "y", "z"];
const STIFFNESSES: [&str; 6] = ["kx", "ky", "kz", "krx", "kry", "krz"];
const DAMPINGS: [&str; 6] = ["dx", "dy", "dz", "drx", "dry", "drz"];

impl ForceKind {
    /// The settable numbers besides stiffness, damping, length and effort.
    pub(in crate::model) fn settables(
        &self,
        dimension: usize,
        turns: bool,
    ) -> Vec<Settable<ForceNumber>> {
        use ForceNumber as N;
        let plane = dimension == 2;
        match self {
            Self::SpringDamper(_) => vec![("preload", N::Preload, if turns { "N.m" } else { "N" })],
            Self::Actuator { .. } => vec![],
            Self::Pid(pid) => pid.settables(turns),
            Self::Servo(servo) => servo.settables(turns),
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

    /// One of its numbers; `None` if it does not have it.
    pub(in crate::model) fn number_mut(&mut self, number: ForceNumber) -> Option<&mut f64> {
        use ForceNumber as N;
        match (self, number) {
            (Self::SpringDamper(spring), N::Preload) => Some(&mut spring.preload),
            (Self::Load { components, .. }, N::Component(k)) => components.get_mut(k),
            (Self::Bushing { stiffness, .. }, N::Stiffness(k)) => stiffness.get_mut(k),
            (Self::Bushing { damping, .. }, N::Damping(k)) => damping.get_mut(k),
            (Self::Pid(pid), number) => pid.number_mut(number),
            (Self::Servo(servo), number) => servo.number_mut(number),
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

    /// Its stiffness, if that is a number.
    pub(in crate::model) fn stiffness_mut(&mut self) -> Option<&mut f64> {
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

    /// Its damping, if that is a number.
    pub(in crate::model) fn damping_mut(&mut self) -> Option<&mut f64> {
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
    pub(in crate::model) fn length_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::SpringDamper(spring) => Some(&mut spring.length),
            _ => None,
        }
    }

    /// Its effort.
    pub(in crate::model) fn effort_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::Actuator { effort } => Some(effort),
            _ => None,
        }
    }
}

impl PidDefinition {
    fn settables(&self, turns: bool) -> Vec<Settable<ForceNumber>> {
        use ForceNumber as N;
        let unit = |along_length, along_angle| if turns { along_angle } else { along_length };
        let mut all = vec![
            ("set_point", N::SetPoint, unit("m", "rad")),
            ("proportional", N::Proportional, unit("N/m", "N.m/rad")),
            ("integral", N::Integral, unit("N/m/s", "N.m/rad/s")),
            ("derivative", N::Derivative, unit("N.s/m", "N.m.s/rad")),
        ];
        if self.limits.is_some() {
            all.extend([
                ("lower", N::LowerLimit, unit("N", "N.m")),
                ("upper", N::UpperLimit, unit("N", "N.m")),
                ("tracking_time", N::TrackingTime, "s"),
            ]);
        }
        all
    }

    fn number_mut(&mut self, number: ForceNumber) -> Option<&mut f64> {
        use ForceNumber as N;
        match number {
            N::SetPoint => Some(&mut self.set_point),
            N::Proportional => Some(&mut self.proportional),
            N::Integral => Some(&mut self.integral),
            N::Derivative => Some(&mut self.derivative),
            N::LowerLimit => self.limits.as_mut().map(|limits| &mut limits[0]),
            N::UpperLimit => self.limits.as_mut().map(|limits| &mut limits[1]),
            N::TrackingTime => self.limits.is_some().then_some(&mut self.tracking_time),
            _ => None,
        }
    }
}

impl ServoDefinition {
    fn settables(&self, turns: bool) -> Vec<Settable<ForceNumber>> {
        use ForceNumber as N;
        let unit = |along_length, along_angle| if turns { along_angle } else { along_length };
        let mut all = vec![
            ("control", N::Control, ""),
            ("gain", N::Gain, unit("N", "N.m")),
            ("bias", N::Bias(0), unit("N", "N.m")),
            ("bias_position", N::Bias(1), unit("N/m", "N.m/rad")),
            ("bias_speed", N::Bias(2), unit("N.s/m", "N.m.s/rad")),
        ];
        if self.limits.is_some() {
            all.extend([
                ("lower", N::LowerLimit, unit("N", "N.m")),
                ("upper", N::UpperLimit, unit("N", "N.m")),
            ]);
        }
        all
    }

    fn number_mut(&mut self, number: ForceNumber) -> Option<&mut f64> {
        use ForceNumber as N;
        match number {
            N::Control => Some(&mut self.control),
            N::Gain => Some(&mut self.gain),
            N::Bias(k) => self.bias.get_mut(k),
            N::LowerLimit => self.limits.as_mut().map(|limits| &mut limits[0]),
            N::UpperLimit => self.limits.as_mut().map(|limits| &mut limits[1]),
            _ => None,
        }
    }
}
