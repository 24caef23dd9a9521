//! `[[force]]`: keys and reader, one file for each element. The type decides which keys the table has.

mod actuator;
mod bushing;
mod contact;
pub(super) mod friction;
mod load;
mod pid;
mod servo;
mod spring;
mod tyre;

use super::keys::{DESCRIPTION, Key, KeyGroup, KeyKind, REQUIRED};
use super::names::Names;
use super::table::TableReader;
use crate::error::Result;
use crate::model::validate::{RESERVED_ELEMENTS, Range};
use crate::model::{Force, ForceApplication, ForceKind, ForceType, Joint};

/// A table of `[[force]]` and the parts of the model it refers to.
pub(super) struct ForceReader<'a> {
    pub table: &'a TableReader<'a>,
    pub names: &'a Names<'a>,
    pub joints: &'a [Joint],
    pub gravity: [f64; 3],
}

/// A force element and where it acts.
type Element = (ForceKind, ForceApplication);

/// Keys of every type, in the order of [`ForceType::ALL`].
pub(super) const FORCES: [KeyGroup; ForceType::ALL.len()] = [
    spring::SPRING_DAMPER,
    spring::TORSION_SPRING,
    load::FORCE,
    load::TORQUE,
    actuator::ACTUATOR,
    pid::PID,
    servo::SERVO,
    bushing::BUSHING,
    tyre::TYRE,
    contact::CONTACT,
];

/// Readers of every type, in the same order.
const READERS: [fn(&ForceReader) -> Result<Element>; ForceType::ALL.len()] = [
    spring::spring,
    spring::torsion,
    load::force,
    load::torque,
    actuator::actuator,
    pid::pid,
    servo::servo,
    bushing::bushing,
    tyre::tyre,
    contact::contact,
];

/// The index of the type in [`ForceType::ALL`].
fn force_type(table: &TableReader) -> Result<usize> {
    table.needed_choice_of("type", &ForceType::NAMES)
}

/// Checks that the keys are those of the type.
pub(super) fn force_keys(table: &TableReader) -> Result<()> {
    if !table.has("type") {
        // A misspelt `type` gives a better message than a missing one.
        table.keys_of_any(&FORCES);
    }
    table.keys_of(&FORCES[force_type(table)?]);
    Ok(())
}

/// Reads a force.
pub(super) fn force(reader: &ForceReader) -> Result<Force> {
    let table = reader.table;
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let (kind, on) = READERS[force_type(table)?](reader)?;
    Ok(Force {
        name: name.to_owned(),
        kind,
        on,
        text_position: table.text_position(),
    })
}

const FINITE: KeyKind = KeyKind::Number(Range::Finite);
const NON_NEGATIVE: KeyKind = KeyKind::Number(Range::NonNegative);
const POSITIVE: KeyKind = KeyKind::Number(Range::Positive);

#[rustfmt::skip]
const HEAD: [Key; 3] = [
    Key::new("name", KeyKind::Name, "", REQUIRED, "name of the element"),
    Key::new("type", KeyKind::Text, "", REQUIRED, "type of force"),
    DESCRIPTION,
];

#[rustfmt::skip]
const JOINT: Key = Key::new("joint", KeyKind::Text, "", "this, or bodies and points",
    "the joint in whose coordinate it acts; one of several coordinates as \"name.position2\"");

#[rustfmt::skip]
const BODIES: Key = Key::new("bodies", KeyKind::TwoTexts, "", "this or joint",
    "two names, one may be \"ground\"");

#[rustfmt::skip]
const POINTS: Key = Key::new("points", KeyKind::Vectors(Some(2)), "m", "this or joint",
    "one in each body frame");

#[rustfmt::skip]
const fn stiffness(unit: &'static str) -> Key {
    Key::new("stiffness", KeyKind::Law(Range::NonNegative), unit, "0",
        "a number >= 0, or a law { polynomial = .. }, { table = .. }, { pieces = .. }: force as a function of elongation")
}

#[rustfmt::skip]
const fn damping(unit: &'static str) -> Key {
    Key::new("damping", KeyKind::Law(Range::NonNegative), unit, "0",
        "a number >= 0, or a law: force as a function of rate")
}

/// The keys of a type of force.
const fn of(
    variant: ForceType,
    meaning: &'static str,
    parts: &'static [&'static [Key]],
) -> KeyGroup {
    KeyGroup {
        variant: Some(("type", variant.name())),
        ..KeyGroup::new("force", meaning, parts)
    }
}

fn between_points(table: &TableReader, names: &Names) -> Result<ForceApplication> {
    Ok(ForceApplication::Points {
        bodies: names.two_bodies(table)?,
        points: table.two_vectors("points", "points")?,
    })
}

/// Between points, or in the coordinate of a joint.
fn between(reader: &ForceReader, what: &str) -> Result<ForceApplication> {
    let ForceReader { table, names, .. } = reader;
    match table.text("joint")? {
        Some(joint) => {
            for key in ["bodies", "points", "direction"] {
                if table.has(key) {
                    let message = format!(
                        "{what} acts in a \"joint\" or between \"bodies\" and \"points\", not both"
                    );
                    return Err(table.refuse_key(key, message));
                }
            }
            let (coordinate, _) = names.coordinate(table, joint, table.offset_of("joint"))?;
            Ok(ForceApplication::Joint(coordinate))
        }
        None if table.has("bodies") || table.has("points") => between_points(table, names),
        None => Err(table.refuse(
            "\"joint\" is missing: expected the joint it acts in, or \"bodies\" and \"points\"",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_the_order_of_the_types() {
        for (group, (name, kind)) in FORCES.iter().zip(ForceType::ALL) {
            assert_eq!(group.variant, Some(("type", name)));
            assert_eq!(kind.name(), name);
        }
    }
}
