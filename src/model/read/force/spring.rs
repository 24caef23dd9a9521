//! `spring_damper` and `torsion_spring`.

use super::{ForceKind, between};
use crate::error::Result;
use crate::model::check::Range;
use crate::model::document::NodeValue;
use crate::model::read::curve::curve;
use crate::model::read::names::Names;
use crate::model::reader::TableReader;
use crate::model::{Characteristic, ForceApplication, Joint, OneSided, SpringDefinition};

/// A number, or a law.
pub fn characteristic(table: &TableReader, key: &str) -> Result<Option<Characteristic>> {
    match table.get(key) {
        Some(entry) if matches!(entry.node.value, NodeValue::Table(_)) => {
            let law = table.table(key)?.expect("the key is there");
            Ok(Some(Characteristic::Law(curve(&law)?)))
        }
        _ => Ok(table
            .number(key, Range::NonNegative)?
            .map(Characteristic::Linear)),
    }
}

fn laws(table: &TableReader, unloaded: &str) -> Result<SpringDefinition> {
    let stiffness = characteristic(table, "stiffness")?;
    let damping = characteristic(table, "damping")?;
    if stiffness.is_none() && damping.is_none() {
        return Err(table.refuse("\"stiffness\" is missing: expected stiffness, damping, or both"));
    }
    let only = [
        ("tension", OneSided::Tension),
        ("compression", OneSided::Compression),
    ];
    let nothing = || Characteristic::Linear(0.0);
    Ok(SpringDefinition {
        stiffness: stiffness.unwrap_or_else(nothing),
        damping: damping.unwrap_or_else(nothing),
        length: table.number(unloaded, Range::Finite)?.unwrap_or(0.0),
        preload: table.number("preload", Range::Finite)?.unwrap_or(0.0),
        only: table.choice("only", &only)?,
    })
}

pub fn spring(
    table: &TableReader,
    names: &Names,
    joints: &[Joint],
) -> Result<(ForceKind, ForceApplication)> {
    let mut on = between(table, names, "a spring")?;
    let along_line = !table.has("direction");
    match &on {
        ForceApplication::Joint(c) if joints[c.joint].kind.is_angle(c.index) => {
            let message = "this coordinate is an angle: use type = \"torsion_spring\"";
            return Err(table.refuse_value("joint", message));
        }
        ForceApplication::Points { bodies, points } => {
            if let Some(direction) = table.direction("direction")? {
                on = ForceApplication::Axis {
                    bodies: *bodies,
                    points: *points,
                    direction,
                };
            } else {
                table.number("length", Range::NonNegative)?;
            }
        }
        _ => {}
    }
    let spring = laws(table, "length")?;
    if table.has("stiffness")
        && !table.has("length")
        && along_line
        && !matches!(on, ForceApplication::Joint(_))
    {
        return Err(table
            .refuse("\"length\" is missing: expected the unloaded length, a finite number >= 0"));
    }
    Ok((ForceKind::SpringDamper(spring), on))
}

pub fn torsion(table: &TableReader, names: &Names) -> Result<(ForceKind, ForceApplication)> {
    let joint = table.needed_text("joint", "the joint it acts in")?;
    let (coordinate, kind) = names.coordinate(table, joint, table.offset_of("joint"))?;
    if !kind.is_angle(coordinate.index) {
        let message = "this coordinate is a length: use type = \"spring_damper\" with joint";
        return Err(table.refuse_value("joint", message));
    }
    Ok((
        ForceKind::SpringDamper(laws(table, "angle")?),
        ForceApplication::Joint(coordinate),
    ))
}
