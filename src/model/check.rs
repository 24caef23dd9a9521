//! Which numbers and names are accepted: the one place for the reader, for `Model::set` and for [`Model::validate`].

use std::collections::HashMap;

use nalgebra::Matrix3;

use super::{
    Body, BodyCoordinate, BodyRef, BodyShape, CouplingLaw, Curve, Joint, JointCoordinate,
    JointFrame, JointKind, JointNumber, JointPlacement, LimitLaw, Model, Motion, MotionLaw,
    PrescribedCoordinate, Target,
};
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
    /// From zero to one.
    Part,
}

impl Range {
    pub fn accepts(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Finite => true,
                Self::NonNegative => value >= 0.0,
                Self::Positive => value > 0.0,
                Self::Part => (0.0..=1.0).contains(&value),
            }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Finite => "a finite number",
            Self::NonNegative => "a finite number >= 0",
            Self::Positive => "a finite number > 0",
            Self::Part => "a number from 0 to 1",
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

/// Directions whose cosine is smaller than this are at right angles as far as digits of a text can say.
pub(super) const PERPENDICULAR: f64 = 1e-6;

/// A unit vector is one to rounding.
const UNIT: f64 = 1e-12;

/// The part of a unit vector across a unit axis, made a unit vector; `None` where it is along the axis.
pub(super) fn across(axis: [f64; 3], direction: [f64; 3]) -> Option<[f64; 3]> {
    let along: f64 = (0..3).map(|k| axis[k] * direction[k]).sum();
    let part: [f64; 3] = std::array::from_fn(|k| direction[k] - along * axis[k]);
    let length = norm(&part);
    if length < PERPENDICULAR {
        return None;
    }
    // Twice: the first time leaves the rounding of a direction near the axis.
    let part = part.map(|x| x / length);
    let along: f64 = (0..3).map(|k| axis[k] * part[k]).sum();
    let part: [f64; 3] = std::array::from_fn(|k| part[k] - along * axis[k]);
    let length = norm(&part);
    Some(part.map(|x| x / length))
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Whether a table ends where it begins, as far as digits of a text can say.
pub(super) fn closes(points: &[[f64; 2]]) -> bool {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return false;
    };
    let size = points.iter().fold(0.0f64, |most, p| most.max(p[1].abs()));
    (first[1] - last[1]).abs() <= 1e-9 * size
}

/// What is to be said of an inertia tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum InertiaDefect {
    Sound,
    /// The largest principal moment exceeds the sum of the others, but no more than rounding to few digits would explain.
    Rounded,
    Impossible(String),
}

/// Judges a tensor Ixx, Iyy, Izz, Ixy, Ixz, Iyz: principal moments are not negative, and none exceeds the sum of the others
/// (each is an integral of the squares of two distances).
pub(super) fn judge_inertia(inertia: &[f64; 6]) -> InertiaDefect {
    /// Rounding of the eigenvalues.
    const ROUNDING: f64 = 1e-12;
    /// Digits lost in a text: three significant ones are left.
    const DIGITS: f64 = 1e-2;
    let [xx, yy, zz, xy, xz, yz] = *inertia;
    let size = inertia.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if size == 0.0 {
        return InertiaDefect::Sound;
    }
    let tensor = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) / size;
    let moments = tensor.symmetric_eigenvalues();
    let mut moments = [moments[0], moments[1], moments[2]];
    moments.sort_by(f64::total_cmp);
    let [a, b, c] = moments;
    if !(a >= -ROUNDING) {
        let least = a * size;
        return InertiaDefect::Impossible(format!(
            "its smallest principal moment is {least:.6e} kg.m2, which is negative"
        ));
    }
    let excess = (c - (a + b)) / c;
    if excess <= ROUNDING {
        InertiaDefect::Sound
    } else if excess <= DIGITS {
        InertiaDefect::Rounded
    } else {
        let [a, b, c] = moments.map(|m| m * size);
        InertiaDefect::Impossible(format!(
            "the principal moments {a:.6e}, {b:.6e}, {c:.6e} kg.m2 break the triangle inequality: \
             none may exceed the sum of the others"
        ))
    }
}

impl Target {
    /// The values it may have, from the text and from outside.
    pub(crate) fn range(self) -> Range {
        match self {
            Self::BodyMass(_)
            | Self::BodyInertia(_)
            | Self::ForceStiffness(_)
            | Self::ForceDamping(_) => Range::NonNegative,
            Self::Joint(_, _, JointNumber::Restitution) => Range::Part,
            Self::Joint(..) => Range::NonNegative,
            Self::Force(_, number) => number.range(),
            Self::ForceLength(_)
            | Self::ForceEffort(_)
            | Self::Gravity(_)
            | Self::Motion(_)
            | Self::MotionSpeed(_)
            | Self::SystemForce(_) => Range::Finite,
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
            if self.elements().next().is_some() {
                return Err(refused("system", &"matrices", "a model without bodies"));
            }
            system.validate()?;
        } else if !matches!(self.dimension, 2 | 3) {
            return Err(refused("dimension", &self.dimension, "2 or 3"));
        }
        self.solver.validate()?;
        self.experiment.validate()?;
        self.validate_names()?;
        for body in &self.bodies {
            self.validate_body_itself(body)?;
        }
        for joint in &self.joints {
            self.validate_joint(joint)?;
        }
        for motion in &self.motions {
            self.validate_motion(motion)?;
        }
        for i in 0..self.forces.len() {
            self.validate_force(i)?;
        }
        for sensor in &self.sensors {
            self.validate_body(&sensor.name, sensor.body)?;
            for value in sensor.point {
                Range::Finite.check(|| format!("{}.point", sensor.name), value)?;
            }
        }
        self.validate_signals()
    }

    /// Friction and end stops.
    fn validate_drag(&self, joint: &Joint) -> Result<()> {
        let count = match joint.kind {
            JointKind::Distance => 0,
            kind => kind.coordinates(self.dimension),
        };
        for (field, given) in [
            ("friction", joint.friction.len()),
            ("limits", joint.limits.len()),
        ] {
            if given > count {
                let name = format!("{}.{field}", joint.name);
                return Err(refused(
                    &name,
                    &given,
                    &format!("at most {count}, one for each coordinate"),
                ));
            }
        }
        for friction in joint.friction.iter().flatten() {
            if let Some((key, expected)) = friction.complaint() {
                return Err(refused(
                    &format!("{}.friction.{key}", joint.name),
                    &"?",
                    expected,
                ));
            }
        }
        for limits in joint.limits.iter().flatten() {
            let [low, high] = limits.range;
            if !(low < high) {
                let expected = "two numbers, the first below the second";
                return Err(refused(
                    &format!("{}.limits", joint.name),
                    &list(&limits.range),
                    expected,
                ));
            }
            match limits.stop {
                LimitLaw::Compliant { stiffness, damping } => {
                    Range::Positive.check(|| format!("{}.stiffness", joint.name), stiffness)?;
                    Range::NonNegative.check(|| format!("{}.damping", joint.name), damping)?;
                }
                LimitLaw::Rigid(rigid) => rigid.validate(&joint.name)?,
            }
        }
        Ok(())
    }

    fn validate_body_itself(&self, body: &Body) -> Result<()> {
        let name = |field: &'static str| move || format!("{}.{field}", body.name);
        Range::NonNegative.check(name("mass"), body.mass)?;
        for (field, values) in [
            ("inertia", &body.inertia[..]),
            ("position", &body.position),
            ("orientation", &body.orientation),
            ("velocity", &body.velocity),
            ("angular_velocity", &body.angular_velocity),
            ("center_of_mass", &body.center_of_mass),
            ("angle", &[body.angle]),
        ] {
            for value in values {
                Range::Finite.check(name(field), *value)?;
            }
        }
        if self.dimension == 2 {
            Range::NonNegative.check(name("inertia"), body.inertia[2])?;
        } else {
            if let InertiaDefect::Impossible(why) = judge_inertia(&body.inertia) {
                return Err(refused(&name("inertia")(), &list(&body.inertia), &why));
            }
            if (norm(&body.orientation) - 1.0).abs() > UNIT {
                let value = list(&body.orientation);
                return Err(refused(&name("orientation")(), &value, "a unit quaternion"));
            }
        }
        if body.prescribed && (body.mass != 0.0 || body.inertia != [0.0; 6]) {
            return Err(refused(
                &name("mass")(),
                &body.mass,
                "none: the body is prescribed",
            ));
        }
        match &body.shape {
            None => {}
            Some(BodyShape::Circle(radius)) => Range::Positive.check(name("shape"), *radius)?,
            Some(BodyShape::Box(edges)) => {
                for edge in edges {
                    Range::NonNegative.check(name("shape"), *edge)?;
                }
            }
            Some(BodyShape::Line(points)) => {
                for value in points.iter().flatten() {
                    Range::Finite.check(name("shape"), *value)?;
                }
            }
        }
        Ok(())
    }

    fn validate_joint(&self, joint: &Joint) -> Result<()> {
        let plane = self.dimension == 2;
        let refuse = |field: &str, value: String, expected: &str| {
            Err(refused(
                &format!("{}.{field}", joint.name),
                &value,
                expected,
            ))
        };
        if plane && !joint.kind.exists_in_plane() {
            let kind = joint.kind.name().to_owned();
            return refuse("type", kind, "a joint that exists in two dimensions");
        }
        for position in joint.position {
            Range::Finite.check(|| format!("{}.position", joint.name), position)?;
        }
        if (joint.kind == JointKind::Coupling) != joint.coupling.is_some() {
            return refuse(
                "coupling",
                "?".to_owned(),
                "given for a coupling, and only there",
            );
        }
        if let Some(coupling) = &joint.coupling {
            for coordinate in coupling.coordinates {
                self.validate_coordinate(&joint.name, coordinate)?;
            }
            if coupling.coordinates[0] == coupling.coordinates[1] {
                let value = format!("{:?}", coupling.coordinates);
                return refuse("joints", value, "two different coordinates");
            }
            return match &coupling.law {
                CouplingLaw::Ratio(ratio) if *ratio == 0.0 || !ratio.is_finite() => {
                    refuse("ratio", ratio.to_string(), "a finite number, not zero")
                }
                CouplingLaw::Ratio(_) => Ok(()),
                CouplingLaw::Curve(curve) => curve.validate(&format!("{}.law", joint.name)),
            };
        }
        self.validate_pair(&joint.name, joint.bodies)?;
        self.validate_drag(joint)?;
        if joint.kind == JointKind::Screw && (joint.pitch == 0.0 || !joint.pitch.is_finite()) {
            return refuse(
                "pitch",
                joint.pitch.to_string(),
                "a finite number, not zero",
            );
        }
        if let Some(length) = joint.length {
            Range::Positive.check(|| format!("{}.length", joint.name), length)?;
        }
        let frames = match &joint.frame {
            JointPlacement::InitialPose(frame) => std::slice::from_ref(frame),
            JointPlacement::BodyFrames(frames) => &frames[..],
            JointPlacement::None => {
                return refuse(
                    "point",
                    "nowhere".to_owned(),
                    "a place: only couplings have none",
                );
            }
        };
        for (
            k,
            JointFrame {
                point,
                axis,
                reference_direction: across,
            },
        ) in frames.iter().enumerate()
        {
            for value in point {
                Range::Finite.check(|| format!("{}.point", joint.name), *value)?;
            }
            let length = norm(axis);
            let is_unit = (length - 1.0).abs() <= UNIT;
            // Drawn in the ground frame a fixed joint has no direction, and a line has none in its second body.
            let needed = match joint.kind {
                JointKind::Distance | JointKind::Spherical | JointKind::Coupling => false,
                JointKind::Fixed => frames.len() == 2,
                JointKind::PointOnLine => k == 0,
                _ => true,
            };
            let in_plane = match joint.kind {
                _ if !plane => true,
                JointKind::Revolute => axis[0] == 0.0 && axis[1] == 0.0,
                _ => axis[2] == 0.0,
            };
            if !(is_unit || !needed && length == 0.0) || !in_plane {
                let expected = "a unit vector; in two dimensions along z for a revolute joint, else in the plane";
                return refuse("axis", list(axis), expected);
            }
            let length = norm(across);
            let cosine: f64 = (0..3).map(|k| axis[k] * across[k]).sum();
            let given = (length - 1.0).abs() <= UNIT && cosine.abs() <= UNIT;
            if !(given || length == 0.0 && joint.kind != JointKind::Universal) {
                return refuse("across", list(across), "a unit vector across the axis");
            }
        }
        Ok(())
    }

    fn validate_coordinate(&self, name: &str, coordinate: JointCoordinate) -> Result<()> {
        let JointCoordinate { joint, index } = coordinate;
        let moves =
            (self.joints.get(joint)).is_some_and(|j| index < j.kind.coordinates(self.dimension));
        if moves {
            return Ok(());
        }
        Err(refused(
            name,
            &format!("{coordinate:?}"),
            "a coordinate of a joint that moves",
        ))
    }

    fn validate_motion(&self, motion: &Motion) -> Result<()> {
        match motion.on {
            PrescribedCoordinate::Joint(coordinate) => {
                self.validate_coordinate(&motion.name, coordinate)?
            }
            PrescribedCoordinate::Body(body, coordinate) => {
                let prescribed = (self.bodies.get(body)).is_some_and(|b| b.prescribed);
                let exists = match coordinate {
                    BodyCoordinate::Position(k) => k < self.dimension,
                    BodyCoordinate::Angle => (norm(&motion.axis) - 1.0).abs() <= UNIT,
                };
                if !(prescribed && exists) {
                    return Err(refused(
                        &motion.name,
                        &format!("{:?}", motion.on),
                        "a coordinate of a prescribed body, an angle with a unit axis",
                    ));
                }
            }
        }
        let finite = |value: &f64| Range::Finite.check(|| motion.name.clone(), *value);
        match &motion.law {
            MotionLaw::ConstantSpeed { speed } => finite(speed),
            MotionLaw::Polynomial(coefficients) => {
                Curve::Polynomial(coefficients.clone()).validate(&motion.name)
            }
            MotionLaw::Harmonic {
                amplitude,
                frequency,
                phase,
                offset,
            } => [amplitude, frequency, phase, offset]
                .into_iter()
                .try_for_each(finite),
            MotionLaw::Table { points, periodic } => {
                Curve::Table(points.clone()).validate(&motion.name)?;
                if *periodic && !closes(points) {
                    let expected = "points that end where they begin";
                    return Err(refused(&motion.name, &"a periodic table", expected));
                }
                Ok(())
            }
            MotionLaw::Input { order, start } => {
                finite(start)?;
                if *order > 2 {
                    return Err(refused(&motion.name, order, "an order of 0, 1 or 2"));
                }
                Ok(())
            }
        }
    }

    fn validate_names(&self) -> Result<()> {
        let elements = self.element_names();
        let variables = (self.inputs.iter().map(|i| i.name.as_str()))
            .chain(self.outputs.iter().map(|o| o.name.as_str()))
            .chain(self.parameters.iter().map(|p| p.name.as_str()));
        distinct(elements, &RESERVED_ELEMENTS)?;
        distinct(variables, &RESERVED_VARIABLES)
    }

    pub(super) fn validate_body(&self, name: &str, body: BodyRef) -> Result<()> {
        match body {
            Some(index) if index >= self.bodies.len() => {
                Err(refused(name, &index, "the index of a body"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn validate_pair(&self, name: &str, bodies: [BodyRef; 2]) -> Result<()> {
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

impl Curve {
    /// Finite numbers, x rising, the last piece without bound.
    pub(super) fn validate(&self, name: &str) -> Result<()> {
        let refuse = |expected: &str| Err(refused(name, &"a curve", expected));
        let finite = |values: &[f64]| {
            (values.iter()).try_for_each(|value| Range::Finite.check(|| name.to_owned(), *value))
        };
        match self {
            Self::Polynomial(coefficients) if coefficients.is_empty() => refuse("coefficients"),
            Self::Polynomial(coefficients) => finite(coefficients),
            Self::Table(points) => {
                points.iter().try_for_each(|point| finite(point))?;
                if points.len() < 2 || points.windows(2).any(|two| two[0][0] >= two[1][0]) {
                    return refuse("two or more points, x rising");
                }
                Ok(())
            }
            Self::Pieces(pieces) => {
                for piece in pieces {
                    if piece.polynomial.is_empty() {
                        return refuse("coefficients in every piece");
                    }
                    finite(&piece.polynomial)?;
                }
                let rising = pieces.windows(2).all(|two| two[0].below < two[1].below);
                let open = pieces
                    .last()
                    .is_some_and(|last| last.below == f64::INFINITY);
                if !(rising && open) {
                    return refuse("pieces with rising bounds, the last without");
                }
                Ok(())
            }
        }
    }
}

fn list(values: &[f64]) -> String {
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

    #[test]
    fn ranges_hold_at_their_ends_and_refuse_nan() {
        for (range, inside, outside) in [
            (Range::Finite, [-1e300, 0.0], [f64::NAN, f64::INFINITY]),
            (Range::NonNegative, [0.0, 1e-300], [-1e-300, f64::INFINITY]),
            (Range::Positive, [1e-300, 1e300], [0.0, f64::NAN]),
            (Range::Part, [0.0, 1.0], [-1e-300, 1.0 + f64::EPSILON]),
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
                m.forces[0].on = super::super::ForceApplication::Joint(JointCoordinate {
                    joint: 99,
                    index: 0,
                })
            }),
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
