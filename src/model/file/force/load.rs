//! `force` and `torque` on one body: keys and reader.

use super::{Element, ForceReader, HEAD, of};
use crate::error::Result;
use crate::model::file::keys::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::file::names::Names;
use crate::model::file::table::TableReader;
use crate::model::validate::Range;
use crate::model::{BodyRef, ForceApplication, ForceKind, ForceType, LoadDefinition, LoadFrame};

const FRAME: Key = Key::new(
    "frame",
    KeyKind::Choice(&["ground", "body"]),
    "",
    "\"ground\"",
    "axes of the components",
);

pub(super) const FORCE: KeyGroup = of(
    ForceType::Force,
    "On one body at a point; each component can be driven by an input.",
    &[
        &HEAD,
        &[
            Key::new("body", KeyKind::Text, "", REQUIRED, "the body's name"),
            Key::new("point", KeyKind::Vector, "m", "zero", "in the body frame"),
            Key::new("force", KeyKind::Vector, "N", "zero", "initial components"),
            FRAME,
        ],
    ],
);

pub(super) const TORQUE: KeyGroup = of(
    ForceType::Torque,
    "On one body; each component can be driven by an input.",
    &[
        &HEAD,
        &[
            Key::new("body", KeyKind::Text, "", REQUIRED, "the body's name"),
            Key::new(
                "torque",
                KeyKind::Spin,
                "N.m",
                "zero",
                "planar: a number; spatial: components",
            ),
            Key {
                exists: KeyDimension::Space,
                ..FRAME
            },
        ],
    ],
);

const FRAMES: [(&str, LoadFrame); 2] = [("ground", LoadFrame::Ground), ("body", LoadFrame::Body)];

/// The body under `body`, not the ground.
pub(super) fn moving(table: &TableReader, names: &Names) -> Result<BodyRef> {
    let name = table.needed_text("body", "the name of a body")?;
    let body = names.body(table, name, table.offset_of("body"))?;
    if body.is_none() {
        return Err(table.refuse_value("body", "the ground does not move: name a body"));
    }
    Ok(body)
}

/// Reads `force`.
pub(super) fn force(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, names, .. } = reader;
    let kind = ForceKind::Load {
        load: LoadDefinition::Force,
        components: table.vector("force")?.unwrap_or_default(),
        frame: table.choice("frame", &FRAMES)?.unwrap_or_default(),
    };
    let point = table.vector("point")?.unwrap_or_default();
    Ok((
        kind,
        ForceApplication::Point {
            body: moving(table, names)?,
            point,
        },
    ))
}

/// Reads `torque`.
pub(super) fn torque(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, names, .. } = reader;
    let components = match table.dimension() {
        2 => [
            0.0,
            0.0,
            table.number("torque", Range::Finite)?.unwrap_or(0.0),
        ],
        _ => table.vector("torque")?.unwrap_or_default(),
    };
    let kind = ForceKind::Load {
        load: LoadDefinition::Torque,
        components,
        frame: table.choice("frame", &FRAMES)?.unwrap_or_default(),
    };
    Ok((
        kind,
        ForceApplication::Point {
            body: moving(table, names)?,
            point: [0.0; 3],
        },
    ))
}
