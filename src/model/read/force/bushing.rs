//! `bushing`: two frames, and a spring and a damper for each way they can part.

use super::ForceKind;
use crate::error::Result;
use crate::model::check::across;
use crate::model::keys::{FORCES, keys_of_frames};
use crate::model::read::names::Names;
use crate::model::reader::TableReader;
use crate::model::{ForceApplication, JointFrame, JointPlacement};

pub fn bushing(table: &TableReader, names: &Names) -> Result<(ForceKind, ForceApplication)> {
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
            let group = FORCES
                .iter()
                .find(|group| group.variant == Some(("type", "bushing")));
            let keys = group
                .and_then(keys_of_frames)
                .expect("a bushing has frames");
            for (part, keys) in frames.iter().zip(keys) {
                part.keys_among(keys)?;
            }
            JointPlacement::BodyFrames([frame(first)?, frame(second)?])
        }
        (true, true) => {
            return Err(table.refuse_key(
                "at",
                "give either \"point\" (ground frame, at start) or \"at\" (one frame in each body), not both",
            ));
        }
        (false, false) => {
            return Err(table.refuse(
                "\"point\" is missing: expected point in the ground frame at start, or \"at\" with one frame in each body",
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
        Some(direction) => across(axis.unwrap_or([1.0, 0.0, 0.0]), direction).ok_or_else(|| {
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
