//! Checks of force elements.

use super::{Characteristic, ContactLaw, Force, ForceApplication, ForceKind, Surface};
use crate::error::Result;
use crate::model::validate::{Range, refused, validate_unit};
use crate::model::{JointPlacement, Model, Target};

impl Model {
    pub(in crate::model) fn validate_force(&self, i: usize) -> Result<()> {
        let force = &self.forces[i];
        let name = |field: &str| format!("{}.{field}", force.name);
        let others = force.kind.settables(self.dimension, self.turns(i));
        let numbers = [
            Target::ForceStiffness(i),
            Target::ForceDamping(i),
            Target::ForceLength(i),
            Target::ForceEffort(i),
        ];
        let others = others
            .into_iter()
            .map(|(_, number, _)| Target::Force(i, number));
        for target in numbers
            .into_iter()
            .chain(others)
            .filter(|t| self.has_target(*t))
        {
            target
                .range()
                .check(|| self.target_name(target), self.value_of_target(target))?;
        }
        let law = |field: &str, shape: &Characteristic| match shape {
            Characteristic::Linear(_) => Ok(()),
            Characteristic::Law(curve) => curve.validate(&name(field)),
        };
        self.validate_place(force)?;
        let fits = match (&force.kind, &force.on) {
            (ForceKind::SpringDamper(spring), on) => {
                law("stiffness", &spring.stiffness)?;
                law("damping", &spring.damping)?;
                matches!(
                    on,
                    ForceApplication::Points { .. }
                        | ForceApplication::Axis { .. }
                        | ForceApplication::Joint(_)
                )
            }
            (ForceKind::Actuator { .. }, on) => {
                matches!(
                    on,
                    ForceApplication::Points { .. }
                        | ForceApplication::Axis { .. }
                        | ForceApplication::Joint(_)
                )
            }
            (ForceKind::Load { components, .. }, on) => {
                for x in components {
                    Range::Finite.check(|| name("components"), *x)?;
                }
                matches!(on, ForceApplication::Point { body: Some(_), .. })
            }
            (ForceKind::Bushing { stiffness, damping }, on) => {
                for x in stiffness.iter().chain(damping) {
                    Range::NonNegative.check(|| name("stiffness"), *x)?;
                }
                matches!(on, ForceApplication::Frames { .. })
            }
            (ForceKind::Tyre(tyre), on) => {
                law("stiffness", &tyre.stiffness)?;
                law("damping", &tyre.damping)?;
                if let Some(profile) = &tyre.profile {
                    profile.validate(&name("profile"))?;
                }
                validate_unit(&name("up"), &tyre.up)?;
                validate_unit(&name("forward"), &tyre.forward)?;
                for (field, x) in [("speed", tyre.speed), ("offset", tyre.offset)] {
                    Range::Finite.check(|| name(field), x)?;
                }
                matches!(on, ForceApplication::Points { .. })
            }
            (ForceKind::Contact(contact), on) => {
                Range::NonNegative.check(|| name("radius"), contact.radius)?;
                if let ContactLaw::HuntCrossley { exponent, .. } = contact.law
                    && !(exponent >= 1.0 && exponent.is_finite())
                {
                    return Err(refused(
                        &name("exponent"),
                        &exponent,
                        "a finite number >= 1",
                    ));
                }
                if let ContactLaw::Rigid(rigid) = contact.law {
                    rigid.validate(&force.name)?;
                }
                if let Some((key, expected)) = contact.friction.and_then(|f| f.defect()) {
                    return Err(refused(&name(&format!("friction.{key}")), &"?", expected));
                }
                match &contact.surface {
                    Surface::Plane(normal) => validate_unit(&name("plane"), normal)?,
                    Surface::Sphere(radius) => {
                        Range::NonNegative.check(|| name("sphere"), *radius)?
                    }
                    Surface::Curve(outline) => {
                        Range::Positive.check(|| name("depth"), outline.depth)?;
                        let fewest = if outline.closed { 3 } else { 2 };
                        if self.dimension != 2 || outline.points.len() < fewest {
                            let expected = format!("{fewest} points or more, in two dimensions");
                            return Err(refused(&name("curve"), &outline.points.len(), &expected));
                        }
                        for x in outline.points.iter().flatten() {
                            Range::Finite.check(|| name("curve"), *x)?;
                        }
                    }
                }
                matches!(on, ForceApplication::Points { .. })
            }
        };
        if fits {
            Ok(())
        } else {
            Err(refused(
                &force.name,
                &"its place",
                "one that its kind can act at",
            ))
        }
    }

    fn validate_place(&self, force: &Force) -> Result<()> {
        let finite = |values: &mut dyn Iterator<Item = f64>| {
            for x in values {
                Range::Finite.check(|| format!("{}.points", force.name), x)?;
            }
            Ok(())
        };
        match &force.on {
            ForceApplication::Joint(of) => {
                let there = (self.joints.get(of.joint))
                    .is_some_and(|joint| of.index < joint.kind.coordinates(self.dimension));
                if !there {
                    return Err(refused(
                        &force.name,
                        &format!("{of:?}"),
                        "the coordinate of a joint",
                    ));
                }
                Ok(())
            }
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
                        return Err(refused(&force.name, &"nowhere", "two frames"));
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
