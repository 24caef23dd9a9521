//! `force` and `torque` on one body.

use super::ForceKind;
use crate::error::Result;
use crate::model::check::Range;
use crate::model::read::names::Names;
use crate::model::reader::TableReader;
use crate::model::{BodyRef, ForceApplication, LoadDefinition, LoadFrame};

const FRAMES: [(&str, LoadFrame); 2] = [("ground", LoadFrame::Ground), ("body", LoadFrame::Body)];

/// A body that moves.
pub fn moving(table: &TableReader, names: &Names) -> Result<BodyRef> {
    let name = table.needed_text("body", "the name of a body")?;
    let body = names.body(table, name, table.offset_of("body"))?;
    if body.is_none() {
        return Err(table.refuse_value("body", "the ground does not move: name a body"));
    }
    Ok(body)
}

pub fn force(table: &TableReader, names: &Names) -> Result<(ForceKind, ForceApplication)> {
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

pub fn torque(table: &TableReader, names: &Names) -> Result<(ForceKind, ForceApplication)> {
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
