//! `[[force]]`: its type says which keys it has.

mod bushing;
mod contact;
pub mod friction;
mod load;
mod spring;
mod tyre;

use super::names::Names;
use crate::error::Result;
use crate::model::check::{RESERVED_ELEMENTS, Range};
use crate::model::keys::FORCES;
use crate::model::reader::TableReader;
use crate::model::{Force, ForceApplication, ForceKind, Joint};

#[derive(Clone, Copy, PartialEq)]
enum ForceType {
    SpringDamper,
    TorsionSpring,
    Force,
    Torque,
    Actuator,
    Bushing,
    Tyre,
    Contact,
}

fn force_type(table: &TableReader) -> Result<ForceType> {
    table.needed_choice(
        "type",
        &[
            ("spring_damper", ForceType::SpringDamper),
            ("torsion_spring", ForceType::TorsionSpring),
            ("force", ForceType::Force),
            ("torque", ForceType::Torque),
            ("actuator", ForceType::Actuator),
            ("bushing", ForceType::Bushing),
            ("tyre", ForceType::Tyre),
            ("contact", ForceType::Contact),
        ],
    )
}

pub fn force_keys(table: &TableReader) -> Result<()> {
    if !table.has("type") {
        // A misspelt `type` is a better message than a missing one.
        table.keys_of_any(&FORCES)?;
    }
    force_type(table)?;
    let word = table.needed_text("type", "a kind of force")?;
    let group = (FORCES.iter()).find(|group| group.variant == Some(("type", word)));
    table.keys_of(group.expect("each kind of force has a group of keys"))
}

/// What else a force needs of the model.
pub struct Around<'a> {
    pub joints: &'a [Joint],
    pub gravity: [f64; 3],
}

pub fn force(table: &TableReader, names: &Names, around: &Around) -> Result<Force> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let (kind, on) = match force_type(table)? {
        ForceType::SpringDamper => spring::spring(table, names, around.joints)?,
        ForceType::TorsionSpring => spring::torsion(table, names)?,
        ForceType::Force => load::force(table, names)?,
        ForceType::Torque => load::torque(table, names)?,
        ForceType::Actuator => actuator(table, names, around.joints)?,
        ForceType::Bushing => bushing::bushing(table, names)?,
        ForceType::Tyre => tyre::tyre(table, names, around.gravity)?,
        ForceType::Contact => contact::contact(table, names)?,
    };
    Ok(Force {
        name: name.to_owned(),
        kind,
        on,
        place: table.place(),
    })
}

fn between_points(table: &TableReader, names: &Names) -> Result<ForceApplication> {
    Ok(ForceApplication::Points {
        bodies: names.two_bodies(table)?,
        points: table.two_vectors("points", "points")?,
    })
}

/// Between points, or in the coordinate of a joint.
fn between(table: &TableReader, names: &Names, what: &str) -> Result<ForceApplication> {
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

fn actuator(
    table: &TableReader,
    names: &Names,
    joints: &[Joint],
) -> Result<(ForceKind, ForceApplication)> {
    let on = between(table, names, "an actuator")?;
    let (right, wrong) = match on {
        ForceApplication::Joint(c) if joints[c.joint].kind.is_angle(c.index) => ("torque", "force"),
        _ => ("force", "torque"),
    };
    if table.has(wrong) {
        let place = match on {
            ForceApplication::Joint(c) => format!("in a {} joint", joints[c.joint].kind.name()),
            _ => "between points".to_owned(),
        };
        let message = format!("an actuator {place} has a \"{right}\", not a \"{wrong}\"");
        return Err(table.refuse_key(wrong, message));
    }
    let effort = table.number(right, Range::Finite)?.unwrap_or(0.0);
    Ok((ForceKind::Actuator { effort }, on))
}
