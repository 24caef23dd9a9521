//! Checks of force elements.

use super::{
    Characteristic, ContactDefinition, ContactLaw, Force, ForceApplication, ForceKind,
    PidDefinition, ServoDefinition, Surface, TyreDefinition,
};
use crate::error::Result;
use crate::model::validate::{Range, refused, validate_unit};
use crate::model::{JointPlacement, Model, Target};

impl Model {
    /// Checks force `i`: its numbers, where it acts, and that its type can act there.
    pub(in crate::model) fn validate_force(&self, i: usize) -> Result<()> {
        let force = &self.forces[i];
        self.validate_targets_of_force(i)?;
        self.validate_application(force)?;
        let name = |field: &str| format!("{}.{field}", force.name);
        let between_two = matches!(
            force.on,
            ForceApplication::Points { .. }
                | ForceApplication::Axis { .. }
                | ForceApplication::Joint(_)
        );
        let fits = match &force.kind {
            ForceKind::SpringDamper(spring) => {
                spring.stiffness.validate(&name("stiffness"))?;
                spring.damping.validate(&name("damping"))?;
                between_two
            }
            ForceKind::Actuator { .. } => between_two,
            ForceKind::Pid(pid) => {
                pid.validate(name)?;
                matches!(force.on, ForceApplication::Joint(_))
            }
            ForceKind::Servo(servo) => {
                servo.validate(name)?;
                matches!(force.on, ForceApplication::Joint(_))
            }
            ForceKind::Load { components, .. } => {
                for x in components {
                    Range::Finite.check(|| name("components"), *x)?;
                }
                matches!(force.on, ForceApplication::Point { body: Some(_), .. })
            }
            ForceKind::Bushing { stiffness, damping } => {
                for x in stiffness.iter().chain(damping) {
                    Range::NonNegative.check(|| name("stiffness"), *x)?;
                }
                matches!(force.on, ForceApplication::Frames { .. })
            }
            ForceKind::Tyre(tyre) => {
                tyre.validate(name)?;
                matches!(force.on, ForceApplication::Points { .. })
            }
            ForceKind::Contact(contact) => {
                contact.validate(&force.name, self.dimension)?;
                matches!(force.on, ForceApplication::Points { .. })
            }
        };
        match fits {
            true => Ok(()),
            false => Err(refused(
                &force.name,
                &"its point of application",
                "one that this type of force can have",
            )),
        }
    }

    /// Checks the ranges of the numbers that can be set from outside.
    fn validate_targets_of_force(&self, i: usize) -> Result<()> {
        let others = self.forces[i].kind.settables(self.dimension, self.turns(i));
        let targets = [
            Target::ForceStiffness(i),
            Target::ForceDamping(i),
            Target::ForceLength(i),
            Target::ForceEffort(i),
        ]
        .into_iter()
        .chain((others.into_iter()).map(|(_, number, _)| Target::Force(i, number)));
        for target in targets.filter(|target| self.has_target(*target)) {
            let value = self.value_of_target(target);
            target.range().check(|| self.target_name(target), value)?;
        }
        Ok(())
    }

    /// Checks the bodies, points and directions of a force.
    fn validate_application(&self, force: &Force) -> Result<()> {
        let finite = |values: &mut dyn Iterator<Item = f64>| {
            for x in values {
                Range::Finite.check(|| format!("{}.points", force.name), x)?;
            }
            Ok(())
        };
        match &force.on {
            ForceApplication::Joint(of) => self.validate_coordinate(&force.name, *of),
            ForceApplication::Points { bodies, points } => {
                self.validate_pair(&force.name, *bodies)?;
                finite(&mut points.iter().flatten().copied())
            }
            ForceApplication::Axis {
                bodies,
                points,
                direction,
            } => {
                self.validate_pair(&force.name, *bodies)?;
                validate_unit(&format!("{}.direction", force.name), direction)?;
                finite(&mut points.iter().flatten().copied())
            }
            ForceApplication::Point { body, point } => {
                self.validate_body_index(&force.name, *body)?;
                finite(&mut point.iter().copied())
            }
            ForceApplication::Frames { bodies, at } => {
                self.validate_pair(&force.name, *bodies)?;
                let frames = match at {
                    JointPlacement::InitialPose(frame) => std::slice::from_ref(frame),
                    JointPlacement::BodyFrames(frames) => &frames[..],
                    JointPlacement::None => {
                        return Err(refused(&force.name, &"none", "two frames"));
                    }
                };
                finite(
                    &mut frames
                        .iter()
                        .flat_map(|f| [f.point, f.axis, f.reference_direction])
                        .flatten(),
                )
            }
        }
    }
}

impl Characteristic {
    /// Checks the curve; the range of a number is that of its target.
    fn validate(&self, name: &str) -> Result<()> {
        match self {
            Self::Linear(_) => Ok(()),
            Self::Law(curve) => curve.validate(name),
        }
    }
}

impl PidDefinition {
    fn validate(&self, name: impl Fn(&str) -> String) -> Result<()> {
        Range::Finite.check(|| name("integral_start"), self.start)?;
        validate_limits(&name("limits"), self.limits)
    }
}

impl ServoDefinition {
    fn validate(&self, name: impl Fn(&str) -> String) -> Result<()> {
        validate_limits(&name("control_limits"), self.control_limits)?;
        validate_limits(&name("limits"), self.limits)
    }
}

fn validate_limits(name: &str, limits: Option<[f64; 2]>) -> Result<()> {
    match limits {
        Some([lower, upper]) if !(lower < upper) => {
            let expected = "a lower limit below the upper one";
            Err(refused(name, &format!("[{lower}, {upper}]"), expected))
        }
        _ => Ok(()),
    }
}

impl TyreDefinition {
    fn validate(&self, name: impl Fn(&str) -> String) -> Result<()> {
        self.stiffness.validate(&name("stiffness"))?;
        self.damping.validate(&name("damping"))?;
        if let Some(profile) = &self.profile {
            profile.validate(&name("profile"))?;
        }
        validate_unit(&name("up"), &self.up)?;
        validate_unit(&name("forward"), &self.forward)?;
        Range::Finite.check(|| name("speed"), self.speed)?;
        Range::Finite.check(|| name("offset"), self.offset)
    }
}

impl ContactDefinition {
    fn validate(&self, force: &str, dimension: usize) -> Result<()> {
        let name = |field: &str| format!("{force}.{field}");
        Range::NonNegative.check(|| name("radius"), self.radius)?;
        match self.law {
            ContactLaw::HuntCrossley { exponent, .. }
                if !(exponent >= 1.0 && exponent.is_finite()) =>
            {
                let expected = "a finite number >= 1";
                return Err(refused(&name("exponent"), &exponent, expected));
            }
            ContactLaw::Rigid(rigid) => rigid.validate(force)?,
            ContactLaw::HuntCrossley { .. } | ContactLaw::SpringDamper { .. } => {}
        }
        if let Some((key, expected)) = self.friction.and_then(|f| f.defect()) {
            return Err(refused(&name(&format!("friction.{key}")), &"?", expected));
        }
        match &self.surface {
            Surface::Plane(normal) => validate_unit(&name("plane"), normal),
            Surface::Sphere(radius) => Range::NonNegative.check(|| name("sphere"), *radius),
            Surface::Curve(outline) => {
                Range::Positive.check(|| name("depth"), outline.depth)?;
                let fewest = if outline.closed { 3 } else { 2 };
                if dimension != 2 || outline.points.len() < fewest {
                    let expected = format!("{fewest} points or more, in two dimensions");
                    return Err(refused(&name("curve"), &outline.points.len(), &expected));
                }
                (outline.points.iter().flatten())
                    .try_for_each(|x| Range::Finite.check(|| name("curve"), *x))
            }
        }
    }
}
