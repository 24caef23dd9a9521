//! `[[force]]`: its type says which keys it has.

use super::TOP;
use super::names::Names;
use crate::error::Result;
use crate::model::check::{RESERVED_ELEMENTS, Range};
use crate::model::document::Value;
use crate::model::quantity::Element;
use crate::model::reader::Table;
use crate::model::{Force, ForceKind, ForcePlace, Joint, JointKind};

#[derive(Clone, Copy, PartialEq)]
enum ForceType {
    SpringDamper,
    Actuator,
}

fn force_type(table: &Table) -> Result<ForceType> {
    table.needed_choice(
        "type",
        &[
            ("spring_damper", ForceType::SpringDamper),
            ("actuator", ForceType::Actuator),
        ],
        &[
            "torsion_spring",
            "force",
            "torque",
            "contact",
            "bushing",
            "tyre",
        ],
    )
}

pub fn force_keys(table: &Table) -> Result<()> {
    const SPRING: [&str; 7] = [
        "name",
        "type",
        "bodies",
        "points",
        "stiffness",
        "damping",
        "length",
    ];
    const ACTUATOR: [&str; 7] = [
        "name", "type", "joint", "bodies", "points", "force", "torque",
    ];
    if !table.has("type") {
        let all = [&SPRING[..], &ACTUATOR[..]].concat();
        table.keys(&all, &["direction"], &TOP)?;
    }
    match force_type(table)? {
        ForceType::SpringDamper => table.keys(&SPRING, &["direction"], &TOP),
        ForceType::Actuator => table.keys(&ACTUATOR, &[], &TOP),
    }
}

pub fn force(table: &Table, names: &Names, joints: &[Joint]) -> Result<Force> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let (kind, on) = match force_type(table)? {
        ForceType::SpringDamper => (spring(table)?, between_points(table, names)?),
        ForceType::Actuator => actuator(table, names, joints)?,
    };
    Ok(Force {
        name: name.to_owned(),
        kind,
        on,
        place: table.place(),
    })
}

fn between_points(table: &Table, names: &Names) -> Result<ForcePlace> {
    Ok(ForcePlace::Points {
        bodies: names.two_bodies(table)?,
        points: table.two_plane_vectors("points")?,
    })
}

fn spring(table: &Table) -> Result<ForceKind> {
    for key in ["stiffness", "damping"] {
        if table
            .get(key)
            .is_some_and(|entry| matches!(entry.node.value, Value::Table(_)))
        {
            return Err(table.refuse_value(
                key,
                format!("a law for {key} is not available in this version; give a number"),
            ));
        }
    }
    let stiffness = table.number("stiffness", Range::NonNegative)?;
    let damping = table.number("damping", Range::NonNegative)?;
    let length = table.number("length", Range::NonNegative)?;
    if stiffness.is_none() && damping.is_none() {
        return Err(table.refuse("\"stiffness\" is missing: expected stiffness, damping, or both"));
    }
    if stiffness.is_some() && length.is_none() {
        return Err(table
            .refuse("\"length\" is missing: expected the unloaded length, a finite number >= 0"));
    }
    Ok(ForceKind::SpringDamper {
        stiffness: stiffness.unwrap_or(0.0),
        damping: damping.unwrap_or(0.0),
        length: length.unwrap_or(0.0),
    })
}

fn actuator(table: &Table, names: &Names, joints: &[Joint]) -> Result<(ForceKind, ForcePlace)> {
    let on = match table.text("joint")? {
        Some(joint) => {
            for key in ["bodies", "points"] {
                if table.has(key) {
                    return Err(table.refuse_key(
                        key,
                        "an actuator acts in a \"joint\" or between \"bodies\" and \"points\", not both",
                    ));
                }
            }
            let offset = table.offset_of("joint");
            match names.find(joint) {
                Some(Element::Joint(i)) => ForcePlace::Joint(i),
                other => return Err(names.not_a(table, joint, offset, "joint", other)),
            }
        }
        None if table.has("bodies") || table.has("points") => between_points(table, names)?,
        None => {
            return Err(table.refuse(
                "\"joint\" is missing: expected the joint it acts in, or \"bodies\" and \"points\"",
            ));
        }
    };
    let (right, wrong) = match on {
        ForcePlace::Joint(i) if joints[i].kind == JointKind::Revolute => ("torque", "force"),
        _ => ("force", "torque"),
    };
    if table.has(wrong) {
        let place = match on {
            ForcePlace::Joint(_) if right == "torque" => "in a revolute joint",
            ForcePlace::Joint(_) => "in a prismatic joint",
            ForcePlace::Points { .. } => "between points",
        };
        let message = format!("an actuator {place} has a \"{right}\", not a \"{wrong}\"");
        return Err(table.refuse_key(wrong, message));
    }
    let effort = table.number(right, Range::Finite)?.unwrap_or(0.0);
    Ok((ForceKind::Actuator { effort }, on))
}
