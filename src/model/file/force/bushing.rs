//! `bushing`: keys and reader. Two frames, with a spring and a damper for each relative coordinate.

use super::{BODIES, Element, ForceReader, HEAD, of};
use crate::error::Result;
use crate::model::file::keys::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::file::table::TableReader;
use crate::model::validate::perpendicular_part;
use crate::model::{ForceApplication, ForceKind, ForceType, JointFrame, JointPlacement};

/// Keys of the two frames of a bushing.
#[rustfmt::skip]
const FRAME_IN: &[Key] = &[
    Key::new("point", KeyKind::Vector, "m", REQUIRED, "in the body frame"),
    Key::new("axis", KeyKind::Vector, "", "the body's x axis", "the bushing's x axis"),
    Key::new("across", KeyKind::Vector, "", "perpendicular part of the body's y axis", "the bushing's y axis")
    .only(KeyDimension::Space),
];

#[rustfmt::skip]
pub(super) const BUSHING: KeyGroup = KeyGroup {
    either: &[&["point"], &["at"]],
    ..of(
        ForceType::Bushing,
        "Springs and dampers between a frame of each body, along and about the axes of the first.",
        &[
            &HEAD,
            &[
                Key {
                    default: REQUIRED,
                    ..BODIES
                },
                Key::new("point", KeyKind::Vector, "m", "this or at",
                    "location of both frames in the initial pose, ground frame"),
                Key::new("axis", KeyKind::Vector, "", "the ground's x axis",
                    "the bushing's x axis in the initial pose, ground axes"),
                Key::new("across", KeyKind::Vector, "", "perpendicular part of the ground's y axis",
                    "the bushing's y axis")
                .only(KeyDimension::Space),
                Key::new("at", KeyKind::Frames([FRAME_IN, FRAME_IN]), "", "this or point",
                    "two frames, one in each body"),
                Key::new("stiffness", KeyKind::Numbers(3, 6), "N/m, N.m/rad", REQUIRED,
                    "planar: along x, along y, about z; spatial: along x, y, z, about x, y, z"),
                Key::new("damping", KeyKind::Numbers(3, 6), "N.s/m, N.m.s/rad", "zero", "the same order"),
            ],
        ],
    )
};

/// Reads `bushing`.
pub(super) fn bushing(reader: &ForceReader) -> Result<Element> {
    let ForceReader { table, names, .. } = reader;
    let bodies = names.two_bodies(table)?;
    let at = match (table.has("point"), table.has("at")) {
        (true, false) => JointPlacement::InitialPose(frame(table)?),
        (false, true) => {
            for key in ["axis", "across"] {
                if table.has(key) {
                    return Err(table.refuse_key(
                        key,
                        format!("with \"at\" the {key} stands in each of its two frames"),
                    ));
                }
            }
            let frames = table.tables("at")?;
            let [first, second] = &frames[..] else {
                let message = format!(
                    "at must be two frames, one in each body, found {}",
                    frames.len()
                );
                return Err(table.refuse_value("at", message));
            };
            first.keys_among(FRAME_IN);
            second.keys_among(FRAME_IN);
            JointPlacement::BodyFrames([frame(first)?, frame(second)?])
        }
        (true, true) => {
            return Err(table.refuse_key(
                "at",
                "give either \"point\" (ground frame, initial pose) or \"at\" (one frame in each body), not both",
            ));
        }
        (false, false) => {
            return Err(table.refuse(
                "\"point\" is missing: expected point in the ground frame, in the initial pose, or \"at\" with one frame in each body",
            ));
        }
    };
    let stiffness = six(table, "stiffness")?;
    let Some(stiffness) = stiffness else {
        return Err(table.refuse(format!(
            "\"stiffness\" is missing: expected {}",
            words(table)
        )));
    };
    let damping = six(table, "damping")?.unwrap_or_default();
    Ok((
        ForceKind::Bushing { stiffness, damping },
        ForceApplication::Frames { bodies, at },
    ))
}

fn frame(table: &TableReader) -> Result<JointFrame> {
    let point = table.needed_vector("point")?;
    let axis = table.direction("axis")?;
    let second = match table.direction("across")? {
        None => [0.0; 3],
        Some(direction) => perpendicular_part(axis.unwrap_or([1.0, 0.0, 0.0]), direction)
            .ok_or_else(|| {
                table.refuse_value(
                    "across",
                    "across must not be along the axis: it is the y axis",
                )
            })?,
    };
    Ok(JointFrame {
        point,
        axis: axis.unwrap_or([1.0, 0.0, 0.0]),
        reference_direction: second,
    })
}

fn words(table: &TableReader) -> &'static str {
    match table.dimension() {
        2 => "3 numbers >= 0: along x, along y, about z",
        _ => "6 numbers >= 0: along x, y, z, about x, y, z",
    }
}

fn six(table: &TableReader, key: &str) -> Result<Option<[f64; 6]>> {
    let count = if table.dimension() == 2 { 3 } else { 6 };
    let Some(given) = table.numbers(key, words(table), count)? else {
        return Ok(None);
    };
    if given.len() != count || given.iter().any(|x| *x < 0.0) {
        return Err(table.refuse_value(key, format!("{key} must be {}", words(table))));
    }
    Ok(Some(match given[..] {
        [x, y, turn] => [x, y, 0.0, 0.0, 0.0, turn],
        _ => std::array::from_fn(|k| given[k]),
    }))
}
