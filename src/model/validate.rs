//! Accepted numbers and names, for the reader, [`Model::set`] and [`Model::validate`]. Values outside their range are
//! refused, never changed.

use super::{BodyRef, JointCoordinate, Model};
use crate::error::{Error, Result};

/// Names that no body, joint, motion, force or sensor may have.
pub(super) const RESERVED_ELEMENTS: [&str; 5] = ["ground", "energy", "solver", "time", "define"];
/// Names that no input, output or parameter may have.
pub(super) const RESERVED_VARIABLES: [&str; 1] = ["time"];

/// A range of numbers. NaN and infinity are in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    Finite,
    NonNegative,
    Positive,
    /// From zero to one.
    Part,
    /// Dissipation α of HHT, 0 .. 1/3.
    Alpha,
}

impl Range {
    pub fn accepts(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Finite => true,
                Self::NonNegative => value >= 0.0,
                Self::Positive => value > 0.0,
                Self::Part => (0.0..=1.0).contains(&value),
                Self::Alpha => (0.0..=1.0 / 3.0).contains(&value),
            }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Finite => "a finite number",
            Self::NonNegative => "a finite number >= 0",
            Self::Positive => "a finite number > 0",
            Self::Part => "a number from 0 to 1",
            Self::Alpha => "0 <= alpha <= 1/3",
        }
    }

    /// A number of the range that stands for a wrong one while the rest of a text is read.
    pub fn substitute(self) -> f64 {
        match self {
            Self::Alpha => 0.0,
            _ => 1.0,
        }
    }

    /// Refuses a value given through the API; `name` is called only then.
    pub fn check(self, name: impl FnOnce() -> String, value: f64) -> Result<()> {
        match self.accepts(value) {
            true => Ok(()),
            false => Err(self.refusal(name(), value)),
        }
    }

    /// The error for a value that is not in the range. Apart from `check`, which exists once for each kind of name.
    #[cold]
    fn refusal(self, name: String, value: f64) -> Error {
        if value.is_finite() {
            Error::Argument {
                name,
                value: format!("{value:?}"),
                expected: self.words().to_owned(),
            }
        } else {
            Error::NotFinite {
                name,
                value: value.to_string(),
            }
        }
    }
}

/// Largest cosine of two directions that count as perpendicular, given the digits of a text.
pub(super) const PERPENDICULAR: f64 = 1e-6;
/// Deviation from length one that rounding explains.
pub(super) const UNIT: f64 = 1e-12;

/// The unit vector along the component of `direction` perpendicular to a unit `axis`; `None` if they are parallel.
pub(super) fn perpendicular_part(axis: [f64; 3], direction: [f64; 3]) -> Option<[f64; 3]> {
    let along: f64 = (0..3).map(|k| axis[k] * direction[k]).sum();
    let part: [f64; 3] = std::array::from_fn(|k| direction[k] - along * axis[k]);
    let length = norm(&part);
    if length < PERPENDICULAR {
        return None;
    }
    // Twice: the first pass leaves the rounding error of a direction near the axis.
    let part = part.map(|x| x / length);
    let along: f64 = (0..3).map(|k| axis[k] * part[k]).sum();
    let part: [f64; 3] = std::array::from_fn(|k| part[k] - along * axis[k]);
    let length = norm(&part);
    Some(part.map(|x| x / length))
}

pub(super) fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Whether a name matches `[A-Za-z_][A-Za-z0-9_]*`.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Model {
    /// Checks names, references, ranges and settings. A model read from text passes; a model built or changed in code
    /// is refused by the name of the first defect.
    pub fn validate(&self) -> Result<()> {
        self.solver.validate()?;
        self.experiment.validate()?;
        if self.user_system.is_some() {
            return self.validate_variable_names();
        }
        if let Some(system) = &self.system {
            if self.elements().next().is_some() {
                return Err(refused("system", &"matrices", "a model without bodies"));
            }
            system.validate()?;
        } else if !matches!(self.dimension, 2 | 3) {
            return Err(refused("dimension", &self.dimension, "2 or 3"));
        }
        for value in self.gravity {
            Range::Finite.check(|| "gravity".to_owned(), value)?;
        }
        self.validate_names()?;
        (self.bodies.iter()).try_for_each(|body| body.validate(self.dimension))?;
        (self.joints.iter()).try_for_each(|joint| joint.validate(self))?;
        (self.motions.iter()).try_for_each(|motion| motion.validate(self))?;
        (0..self.forces.len()).try_for_each(|i| self.validate_force(i))?;
        (self.beams.iter()).try_for_each(|beam| beam.validate(self))?;
        (self.sensors.iter()).try_for_each(|sensor| sensor.validate(self))?;
        self.validate_signals()?;
        self.validate_signal_laws()
    }

    fn validate_names(&self) -> Result<()> {
        // Nodes and clamps of beams have names with a dot, behind that of the beam.
        let of_beam = |name: &str| {
            let beam = name.split_once('.').map(|(beam, _)| beam);
            beam.is_some_and(|beam| self.beams.iter().any(|b| b.name == beam))
        };
        distinct(
            self.element_names().filter(|name| !of_beam(name)),
            &RESERVED_ELEMENTS,
        )?;
        distinct(self.variable_names(), &RESERVED_VARIABLES)
    }

    /// Refuses the index of a body that does not exist.
    pub(super) fn validate_body_index(&self, name: &str, body: BodyRef) -> Result<()> {
        match body {
            Some(index) if index >= self.bodies.len() => {
                Err(refused(name, &index, "the index of a body"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses two bodies that are the same or do not exist.
    pub(super) fn validate_pair(&self, name: &str, bodies: [BodyRef; 2]) -> Result<()> {
        self.validate_body_index(name, bodies[0])?;
        self.validate_body_index(name, bodies[1])?;
        if bodies[0] == bodies[1] {
            return Err(refused(
                name,
                &format!("{bodies:?}"),
                "two different bodies",
            ));
        }
        Ok(())
    }

    /// Refuses a joint coordinate that does not exist.
    pub(super) fn validate_coordinate(&self, name: &str, of: JointCoordinate) -> Result<()> {
        let exists = (self.joints.get(of.joint))
            .is_some_and(|joint| of.index < joint.kind.coordinates(self.dimension));
        match exists {
            true => Ok(()),
            false => Err(refused(name, &format!("{of:?}"), "a joint coordinate")),
        }
    }
}

pub(super) fn list(values: &[f64]) -> String {
    format!("{values:?}")
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>, reserved: &[&str]) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !is_identifier(name) || reserved.contains(&name) {
            return Err(refused(
                "name",
                &name,
                "letters, digits and _, not reserved",
            ));
        }
        if !seen.insert(name) {
            return Err(refused("name", &name, "a name that is used once"));
        }
    }
    Ok(())
}

/// Refuses a vector that is not a unit vector.
pub(super) fn validate_unit(name: &str, vector: &[f64; 3]) -> Result<()> {
    match (norm(vector) - 1.0).abs() <= UNIT {
        true => Ok(()),
        false => Err(refused(name, &list(vector), "a unit vector")),
    }
}

pub(super) fn refused(name: &str, value: &dyn std::fmt::Display, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Target;

    #[test]
    fn ranges_hold_at_their_ends_and_refuse_nan() {
        for (range, inside, outside) in [
            (Range::Finite, [-1e300, 0.0], [f64::NAN, f64::INFINITY]),
            (Range::NonNegative, [0.0, 1e-300], [-1e-300, f64::INFINITY]),
            (Range::Positive, [1e-300, 1e300], [0.0, f64::NAN]),
            (Range::Part, [0.0, 1.0], [-1e-300, 1.0 + f64::EPSILON]),
            (Range::Alpha, [0.0, 1.0 / 3.0], [-1e-300, 0.334]),
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
    fn an_invalid_model_is_refused_by_name() {
        let good = crate::model::tests::model("slider_crank.toml");
        good.validate().unwrap();
        type Change = fn(&mut Model);
        let changes: [(&str, Change); 14] = [
            ("dimension", |m| m.dimension = 4),
            ("solver.alpha", |m| m.solver.alpha = 0.4),
            ("stop", |m| m.experiment.stop = -1.0),
            ("crank.mass", |m| m.bodies[0].mass = -1.0),
            ("crank.angle", |m| m.bodies[0].angle = f64::NAN),
            ("name", |m| m.bodies[1].name = m.bodies[0].name.clone()),
            ("name", |m| m.sensors[0].name = "ground".into()),
            ("name", |m| m.outputs[0].name = "time".into()),
            ("pivot", |m| m.joints[0].bodies = [Some(99), None]),
            ("pivot", |m| m.joints[0].bodies = [None, None]),
            ("motor", |m| {
                m.forces[0].on = crate::model::ForceApplication::Joint(JointCoordinate {
                    joint: 99,
                    index: 0,
                })
            }),
            ("tau", |m| m.inputs[0].target = Target::BodyMass(0)),
            ("tau", |m| m.inputs[0].target = Target::ForceEffort(7)),
            ("unknown", |m| m.outputs[0].source = "unknown.x".into()),
        ];
        for (fragment, change) in changes {
            let mut model = good.clone();
            change(&mut model);
            let sentence = model.validate().unwrap_err().to_string();
            assert!(sentence.contains(fragment), "{fragment}: {sentence}");
        }
    }

    #[test]
    fn an_instance_refuses_an_invalid_model_built_in_code_by_name() {
        let mut model = crate::model::tests::model("slider_crank.toml");
        model.bodies[1].mass = f64::NAN;
        match crate::component::Instance::from_model(model) {
            Err(error) => assert!(error.to_string().starts_with("rod.mass = NaN"), "{error}"),
            Ok(_) => panic!("accepted"),
        }
    }
}
