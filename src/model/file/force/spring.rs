//! `spring_damper` and `torsion_spring`: keys and reader.

use super::{
    BODIES, Element, FINITE, ForceReader, HEAD, JOINT, POINTS, between, damping, of, stiffness,
};
use crate::error::Result;
use crate::model::file::curve::curve;
use crate::model::file::document::NodeValue;
use crate::model::file::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use crate::model::file::table::TableReader;
use crate::model::validate::Range;
use crate::model::{
    Characteristic, ForceApplication, ForceKind, ForceType, OneSided, SpringDefinition,
};

const ONLY: Key = Key::new(
    "only",
    KeyKind::Choice(&["tension", "compression"]),
    "",
    "both",
    "acts in one direction only: a rope or a buffer",
);

pub(super) const SPRING_DAMPER: KeyGroup = KeyGroup {
    either: &[&["bodies", "points"], &["joint"]],
    ..of(
        ForceType::SpringDamper,
        "Along the line between two points, along a direction, or in a translational joint coordinate: \
         preload + stiffness (L - length) + damping dL/dt, positive in tension.",
        &[
            &HEAD,
            &[
                BODIES,
                POINTS,
                Key::new(
                    "direction",
                    KeyKind::Vector,
                    "",
                    "along the line",
                    "fixed in the first body; then L = direction . (second point - first point)",
                ),
                JOINT,
                stiffness("N/m"),
                damping("N.s/m"),
                Key::new(
                    "length",
                    FINITE,
                    "m",
                    "required with stiffness",
                    "unloaded length; >= 0 between points",
                ),
                Key::new("preload", FINITE, "N", "0", "force at the unloaded length"),
                ONLY,
            ],
        ],
    )
};

pub(super) const TORSION_SPRING: KeyGroup = of(
    ForceType::TorsionSpring,
    "In a rotational joint coordinate: preload + stiffness (angle - unloaded angle) + damping rate; the angle counts revolutions.",
    &[
        &HEAD,
        &[
            Key {
                default: REQUIRED,
                ..JOINT
            },
            stiffness("N.m/rad"),
            damping("N.m.s/rad"),
            Key::new("angle", FINITE, "rad", "0", "unloaded angle"),
            Key::new(
                "preload",
                FINITE,
                "N.m",
                "0",
                "torque at the unloaded angle",
            ),
            ONLY,
        ],
    ],
);

/// A number, or a law.
pub(super) fn characteristic(table: &TableReader, key: &str) -> Result<Option<Characteristic>> {
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

/// Reads `spring_damper`.
pub(super) fn spring(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, joints, .. } = reader;
    let mut on = between(reader, "a spring")?;
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

/// Reads `torsion_spring`.
pub(super) fn torsion(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, names, .. } = reader;
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
