//! Forces in a joint coordinate: dry friction and limits.

use super::Joint;
use super::choice::choice;
use super::force::Settable;
use super::validate::Range;
use crate::error::Result;

/// Coulomb friction with Stribeck effect. In joints the levels are forces (N or N m), in contacts coefficients of the normal
/// force. With a stiction velocity it is regularised:
///
/// ```text
///   level(u) = (kinetic + (static − kinetic) exp(−(u/stribeck_velocity)²)) tanh(u/stiction_velocity) + viscous u
/// ```
///
/// Without one it is set-valued: the bodies stick up to the static level and slip without the factor tanh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionDefinition {
    /// Kinetic level, at large speed.
    pub kinetic: f64,
    /// Static level, not less than `kinetic`.
    pub r#static: f64,
    /// Speed of the regularisation: below it the bodies creep instead of sticking (m/s or rad/s); none: set-valued.
    pub stiction_velocity: Option<f64>,
    /// Speed of the transition from static to kinetic friction (m/s or rad/s); none: 10 stiction velocities, or sudden.
    pub stribeck_velocity: Option<f64>,
    /// Viscous coefficient (N s/m or N m s/rad; in contacts s/m).
    pub viscous: f64,
}

choice! {
    /// `restitution_law` of a rigid contact or limit: what the coefficient of restitution is a ratio of.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RestitutionLaw {
        /// Separation velocity over closing velocity.
        #[default]
        Newton = "newton",
        /// Impulse of the restitution over that of the compression.
        Poisson = "poisson",
    }
}

/// A rigid contact or limit: it closes with an impact, then separates or stays active as a unilateral constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidImpact {
    /// Coefficient of restitution, 0 .. 1.
    pub restitution: f64,
    /// What it is a ratio of.
    pub law: RestitutionLaw,
    /// Closing velocity below which the contact does not bounce (m/s or rad/s); `None`: from the mechanism's size and gravity.
    pub rest_speed: Option<f64>,
}

impl RigidImpact {
    /// Checks the ranges; `name` is the element in messages.
    pub(super) fn validate(&self, name: &str) -> Result<()> {
        Range::Part.check(|| format!("{name}.restitution"), self.restitution)?;
        match self.rest_speed {
            Some(speed) => Range::NonNegative.check(|| format!("{name}.rest_speed"), speed),
            None => Ok(()),
        }
    }
}

/// Law of a joint limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitLaw {
    /// A spring with a damper.
    Compliant {
        /// N/m or N m/rad
        stiffness: f64,
        /// N s/m or N m s/rad
        damping: f64,
    },
    /// An impact.
    Rigid(RigidImpact),
}

/// `limits` of a joint coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimits {
    /// Lowest and highest value of the coordinate (rad or m); infinite if there is no limit.
    pub range: [f64; 2],
    /// The law at both limits.
    pub stop: LimitLaw,
}

impl JointLimits {
    /// A number of the law; `None` if the law does not have it.
    pub(super) fn number_mut(&mut self, number: JointNumber) -> Option<&mut f64> {
        match (&mut self.stop, number) {
            (LimitLaw::Compliant { stiffness, .. }, JointNumber::Stiffness) => Some(stiffness),
            (LimitLaw::Compliant { damping, .. }, JointNumber::Damping) => Some(damping),
            (LimitLaw::Rigid(rigid), JointNumber::Restitution) => Some(&mut rigid.restitution),
            _ => None,
        }
    }
}

/// A number of a joint coordinate that can be set from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointNumber {
    /// Kinetic friction: driveable.
    Kinetic,
    /// Static friction: driveable.
    Static,
    /// Viscous friction: driveable.
    Viscous,
    /// Of the limits.
    Stiffness,
    /// Of the limits.
    Damping,
    /// Of rigid limits.
    Restitution,
}

impl JointNumber {
    /// Whether an input may drive it.
    pub(super) fn driveable(self) -> bool {
        matches!(self, Self::Kinetic | Self::Static | Self::Viscous)
    }
}

impl FrictionDefinition {
    /// The first key outside its range, and what it accepts.
    pub(super) fn defect(&self) -> Option<(&'static str, &'static str)> {
        if !Range::NonNegative.accepts(self.kinetic) {
            Some(("kinetic", "a finite number >= 0"))
        } else if !(self.r#static >= self.kinetic) || !self.r#static.is_finite() {
            Some(("static", "a finite number, not less than the kinetic level"))
        } else if !(self.stiction_velocity).is_none_or(|u| Range::Positive.accepts(u)) {
            Some(("stiction_velocity", "a finite number > 0"))
        } else if !(self.stribeck_velocity).is_none_or(|u| Range::Positive.accepts(u)) {
            Some(("stribeck_velocity", "a finite number > 0"))
        } else if !Range::NonNegative.accepts(self.viscous) {
            Some(("viscous", "a finite number >= 0"))
        } else {
            None
        }
    }
}

/// Names of the numbers of a joint's friction and limits: without index if there is one coordinate, then by index.
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
    /// The numbers that can be set, each with the index of its coordinate.
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

    /// A number of the friction or the limits of a coordinate.
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

/// Whether the list has an entry for coordinate `k`.
pub(super) fn has<T>(list: &[Option<T>], k: usize) -> bool {
    list.get(k).is_some_and(Option::is_some)
}
