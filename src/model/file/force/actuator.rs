//! `actuator`: keys and reader.

use super::{BODIES, Element, FINITE, ForceReader, HEAD, JOINT, POINTS, between, of};
use crate::error::Result;
use crate::model::file::keys::{Key, KeyGroup};
use crate::model::validate::Range;
use crate::model::{ForceApplication, ForceKind, ForceType};

pub(super) const ACTUATOR: KeyGroup = KeyGroup {
    either: &[&["joint"], &["bodies", "points"]],
    ..of(
        ForceType::Actuator,
        "A force or torque that can be driven by an input; positive increases the joint's coordinate or the distance.",
        &[
            &HEAD,
            &[
                JOINT,
                BODIES,
                POINTS,
                Key::new(
                    "force",
                    FINITE,
                    "N",
                    "0",
                    "in a translational joint coordinate, or between points",
                ),
                Key::new(
                    "torque",
                    FINITE,
                    "N.m",
                    "0",
                    "in a rotational joint coordinate",
                ),
            ],
        ],
    )
};

/// Reads `actuator`.
pub(super) fn actuator(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, joints, .. } = reader;
    let on = between(reader, "an actuator")?;
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
