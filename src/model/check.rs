//! Which numbers and names are accepted: the one place for the reader, for `Model::set` and for [`Model::validate`].

use std::collections::HashMap;

use super::{BodyRef, ForceKind, ForcePlace, JointKind, JointPlace, Model, Shape, Target};
use crate::error::{Error, Result};

/// Names that no body, joint, force or sensor may have.
pub const RESERVED_ELEMENTS: [&str; 4] = ["ground", "energy", "solver", "time"];
/// Names that no input, output or parameter may have.
pub const RESERVED_VARIABLES: [&str; 1] = ["time"];

/// A range of numbers. NaN and infinity are in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    Finite,
    NonNegative,
    Positive,
}

impl Range {
    pub fn accepts(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Finite => true,
                Self::NonNegative => value >= 0.0,
                Self::Positive => value > 0.0,
            }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Finite => "a finite number",
            Self::NonNegative => "a finite number >= 0",
            Self::Positive => "a finite number > 0",
        }
    }

    /// The check for values that come through the API.
    pub fn check(self, name: impl FnOnce() -> String, value: f64) -> Result<()> {
        if self.accepts(value) {
            Ok(())
        } else if value.is_finite() {
            Err(Error::Argument {
                name: name(),
                value: format!("{value:?}"),
                expected: self.words().to_owned(),
            })
        } else {
            Err(Error::NotFinite {
                name: name(),
                value: value.to_string(),
            })
        }
    }
}

impl Target {
    /// The values it may have, from the text and from outside.
    pub(crate) fn range(self) -> Range {
        match self {
            Self::BodyMass(_)
            | Self::BodyInertia(_)
            | Self::ForceStiffness(_)
            | Self::ForceDamping(_)
            | Self::ForceLength(_) => Range::NonNegative,
            Self::ForceEffort(_) | Self::Gravity(_) | Self::SystemForce(_) => Range::Finite,
        }
    }
}

/// Names are `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Model {
    /// Checks a model that was made or changed by hand: names, references, ranges, settings. A model that was read
    /// from text passes.
    pub fn validate(&self) -> Result<()> {
        if let Some(system) = &self.system {
            let elements =
                (self.bodies.len() + self.joints.len()) + (self.forces.len() + self.sensors.len());
            if elements > 0 {
                return Err(refused("system", &"matrices", "a model without bodies"));
            }
            system.validate()?;
        } else if self.dimension != 2 {
            return Err(refused(
                "dimension",
                &self.dimension,
                "2: dimension 3 is not available in this version",
            ));
        }
        self.solver.validate()?;
        self.experiment.validate()?;
        self.validate_names()?;
        for (i, body) in self.bodies.iter().enumerate() {
            let name = |field: &'static str| move || format!("{}.{field}", body.name);
            for target in [Target::BodyMass(i), Target::BodyInertia(i)] {
                target
                    .range()
                    .check(|| self.target_name(target), self.value_of_target(target))?;
            }
            for (field, values) in [
                ("inertia", &body.inertia[..]),
                ("position", &body.position),
                ("velocity", &body.velocity),
                ("angular_velocity", &body.angular_velocity),
                ("center_of_mass", &body.center_of_mass),
                ("angle", &[body.angle]),
            ] {
                for value in values {
                    Range::Finite.check(name(field), *value)?;
                }
            }
            match &body.shape {
                None => {}
                Some(Shape::Circle(radius)) => Range::Positive.check(name("shape"), *radius)?,
                Some(Shape::Box(edges)) => {
                    for edge in edges {
                        Range::NonNegative.check(name("shape"), *edge)?;
                    }
                }
                Some(Shape::Line(points)) => {
                    for value in points.iter().flatten() {
                        Range::Finite.check(name("shape"), *value)?;
                    }
                }
            }
        }
        for joint in &self.joints {
            self.validate_pair(&joint.name, joint.bodies)?;
            Range::Finite.check(|| format!("{}.position", joint.name), joint.position)?;
            let frames = match &joint.frame {
                JointPlace::Ground(frame) => std::slice::from_ref(frame),
                JointPlace::Bodies(frames) => &frames[..],
            };
            for frame in frames {
                for value in frame.point {
                    Range::Finite.check(|| format!("{}.point", joint.name), value)?;
                }
                let length = frame.axis.iter().map(|a| a * a).sum::<f64>().sqrt();
                let in_plane = match joint.kind {
                    JointKind::Revolute => frame.axis[0] == 0.0 && frame.axis[1] == 0.0,
                    JointKind::Prismatic => frame.axis[2] == 0.0,
                };
                // A unit vector to rounding.
                if !in_plane || (length - 1.0).abs().is_nan() || (length - 1.0).abs() > 1e-12 {
                    return Err(refused(
                        &format!("{}.axis", joint.name),
                        &format!("{:?}", frame.axis),
                        "a unit vector, along z for a revolute, in the plane for a prismatic joint",
                    ));
                }
            }
        }
        for (i, force) in self.forces.iter().enumerate() {
            let targets: &[Target] = match force.kind {
                ForceKind::SpringDamper { .. } => &[
                    Target::ForceStiffness(i),
                    Target::ForceDamping(i),
                    Target::ForceLength(i),
                ],
                ForceKind::Actuator { .. } => &[Target::ForceEffort(i)],
            };
            for target in targets {
                target
                    .range()
                    .check(|| self.target_name(*target), self.value_of_target(*target))?;
            }
            match &force.on {
                ForcePlace::Joint(joint) if *joint >= self.joints.len() => {
                    return Err(refused(&force.name, joint, "the index of a joint"));
                }
                ForcePlace::Joint(_) => {
                    if matches!(force.kind, ForceKind::SpringDamper { .. }) {
                        return Err(refused(&force.name, &"a joint", "a spring between points"));
                    }
                }
                ForcePlace::Points { bodies, points } => {
                    self.validate_pair(&force.name, *bodies)?;
                    for value in points.iter().flatten() {
                        Range::Finite.check(|| format!("{}.points", force.name), *value)?;
                    }
                }
            }
        }
        for sensor in &self.sensors {
            self.validate_body(&sensor.name, sensor.body)?;
            for value in sensor.point {
                Range::Finite.check(|| format!("{}.point", sensor.name), value)?;
            }
        }
        self.validate_signals()
    }

    fn validate_names(&self) -> Result<()> {
        let elements = (self.bodies.iter().map(|b| &b.name))
            .chain(self.joints.iter().map(|j| &j.name))
            .chain(self.forces.iter().map(|f| &f.name))
            .chain(self.sensors.iter().map(|s| &s.name));
        let variables = (self.inputs.iter().map(|i| &i.name))
            .chain(self.outputs.iter().map(|o| &o.name))
            .chain(self.parameters.iter().map(|p| &p.name));
        distinct(elements, &RESERVED_ELEMENTS)?;
        distinct(variables, &RESERVED_VARIABLES)
    }

    fn validate_body(&self, name: &str, body: BodyRef) -> Result<()> {
        match body {
            Some(index) if index >= self.bodies.len() => {
                Err(refused(name, &index, "the index of a body"))
            }
            _ => Ok(()),
        }
    }

    fn validate_pair(&self, name: &str, bodies: [BodyRef; 2]) -> Result<()> {
        self.validate_body(name, bodies[0])?;
        self.validate_body(name, bodies[1])?;
        if bodies[0] == bodies[1] {
            return Err(refused(
                name,
                &format!("{bodies:?}"),
                "two different bodies",
            ));
        }
        Ok(())
    }

    fn validate_signals(&self) -> Result<()> {
        let mut driven: HashMap<Target, &str> = HashMap::new();
        let inputs = (self.inputs.iter()).map(|i| (&i.name, i.target, i.start, true));
        let parameters = (self.parameters.iter()).map(|p| (&p.name, p.target, p.start, false));
        for (name, target, start, input) in inputs.chain(parameters) {
            if !self.has_target(target) || (input && !target.driveable()) {
                return Err(refused(
                    name,
                    &format!("{target:?}"),
                    "a target that the model has and the signal may set",
                ));
            }
            target.range().check(|| format!("{name}.start"), start)?;
            if let Some(other) = driven.insert(target, name) {
                return Err(refused(
                    name,
                    &self.target_name(target),
                    &format!("a target of its own: \"{other}\" has this one"),
                ));
            }
        }
        self.output_quantities().map(|_| ())
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>, reserved: &[&str]) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !is_identifier(name) || reserved.contains(&name.as_str()) {
            return Err(refused("name", name, "letters, digits and _, not reserved"));
        }
        if !seen.insert(name) {
            return Err(refused("name", name, "a name that is used once"));
        }
    }
    Ok(())
}

fn refused(name: &str, value: &dyn std::fmt::Display, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_at_their_ends_and_refuse_nan() {
        for (range, inside, outside) in [
            (Range::Finite, [-1e300, 0.0], [f64::NAN, f64::INFINITY]),
            (Range::NonNegative, [0.0, 1e-300], [-1e-300, f64::INFINITY]),
            (Range::Positive, [1e-300, 1e300], [0.0, f64::NAN]),
        ] {
            for value in inside {
                assert!(range.accepts(value), "{range:?} {value}");
                assert!(range.check(|| "x".into(), value).is_ok());
            }
            for value in outside {
                assert!(!range.accepts(value), "{range:?} {value}");
                assert!(range.check(|| "x".into(), value).is_err());
            }
        }
    }

    #[test]
    fn identifiers_are_those_of_c() {
        for good in ["a", "_", "A1_b", "rod2"] {
            assert!(is_identifier(good), "{good}");
        }
        for bad in ["", "1a", "a-b", "a b", "é", "a.b", "a\n"] {
            assert!(!is_identifier(bad), "{bad}");
        }
    }

    #[test]
    fn a_model_spoilt_by_hand_is_refused() {
        let good = crate::model::tests::model("slider_crank.toml");
        good.validate().unwrap();
        type Spoil = fn(&mut Model);
        let spoils: [(&str, Spoil); 14] = [
            ("dimension", |m| m.dimension = 3),
            ("solver.alpha", |m| m.solver.alpha = 0.4),
            ("stop", |m| m.experiment.stop = -1.0),
            ("crank.mass", |m| m.bodies[0].mass = -1.0),
            ("crank.angle", |m| m.bodies[0].angle = f64::NAN),
            ("name", |m| m.bodies[1].name = m.bodies[0].name.clone()),
            ("name", |m| m.sensors[0].name = "ground".into()),
            ("name", |m| m.outputs[0].name = "time".into()),
            ("pivot", |m| m.joints[0].bodies = [Some(99), None]),
            ("pivot", |m| m.joints[0].bodies = [None, None]),
            ("motor", |m| m.forces[0].on = ForcePlace::Joint(99)),
            ("tau", |m| m.inputs[0].target = Target::BodyMass(0)),
            ("tau", |m| m.inputs[0].target = Target::ForceEffort(7)),
            ("rubbish", |m| m.outputs[0].source = "rubbish.x".into()),
        ];
        for (fragment, spoil) in spoils {
            let mut model = good.clone();
            spoil(&mut model);
            let sentence = model.validate().unwrap_err().to_string();
            assert!(sentence.contains(fragment), "{fragment}: {sentence}");
        }
    }
}
