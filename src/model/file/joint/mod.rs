//! `[[joint]]`: keys and reader. The type decides which keys the table has.

pub(super) mod coupling;
mod keys;

pub(super) use keys::JOINTS;

use self::coupling::coupling;
use super::force::friction::{frictions, limits};
use super::keys::{KeyGroup, keys_of_frames};
use super::names::Names;
use crate::error::Result;
use crate::linalg::elementary::acos;
use crate::model::file::table::{TableReader, unit};
use crate::model::validate::{PERPENDICULAR, RESERVED_ELEMENTS, Range, perpendicular_part};
use crate::model::{Joint, JointFrame, JointKind, JointPlacement};

/// Replacements for the types that do not exist in the plane.
const INSTEAD: [(JointKind, &str); 7] = [
    (
        JointKind::Cylindrical,
        "use \"revolute\" or \"prismatic\", or \"point_on_line\" for both at once",
    ),
    (JointKind::Spherical, "use \"revolute\""),
    (JointKind::Universal, "use \"revolute\""),
    (JointKind::Gimbal, "use \"revolute\""),
    (
        JointKind::Planar,
        "bodies move in the plane without any joint",
    ),
    (JointKind::Cartesian, "use \"prismatic\""),
    (
        JointKind::Screw,
        "use a \"coupling\" of a revolute and a prismatic joint",
    ),
];

fn group_of(kind: JointKind) -> &'static KeyGroup {
    let index = JointKind::ALL.iter().position(|(_, other)| *other == kind);
    &JOINTS[index.expect("every kind of joint has a group of keys")]
}

fn kind_of(table: &TableReader) -> Result<JointKind> {
    let kind = table.needed_choice("type", &JointKind::ALL)?;
    if !group_of(kind).exists.has(table.dimension()) {
        let instead = INSTEAD.iter().find(|(other, _)| *other == kind);
        let message = format!(
            "there is no {} joint in two dimensions: {}",
            kind.name(),
            instead.map_or("", |(_, words)| words)
        );
        return Err(table.refuse_value("type", message));
    }
    Ok(kind)
}

/// Checks that the keys are those of the type.
pub fn joint_keys(table: &TableReader) -> Result<JointKind> {
    if !table.has("type") {
        // A misspelt `type` gives a better message than a missing one.
        table.keys_of_any(&JOINTS);
    }
    let kind = kind_of(table)?;
    if kind == JointKind::Revolute && table.dimension() == 2 && table.has("axis") {
        return Err(table.refuse_key("axis", REVOLUTE_AXIS));
    }
    table.keys_of(group_of(kind));
    Ok(kind)
}

const REVOLUTE_AXIS: &str =
    "a revolute joint in two dimensions turns about z: it takes no \"axis\"";

pub fn joint(table: &TableReader, names: &Names) -> Result<Joint> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let kind = kind_of(table)?;
    let mut joint = Joint {
        name: name.to_owned(),
        kind,
        text_position: table.text_position(),
        ..Joint::default()
    };
    if kind == JointKind::Coupling {
        joint.frame = JointPlacement::None;
        joint.coupling = Some(coupling(table, names)?);
        return Ok(joint);
    }
    joint.bodies = names.two_bodies(table)?;
    if kind == JointKind::Distance {
        let points = table.two_vectors("points", "points")?;
        joint.frame = JointPlacement::BodyFrames(points.map(|point| JointFrame {
            point,
            ..JointFrame::default()
        }));
        joint.length = table.number("length", Range::Positive)?;
        return Ok(joint);
    }
    joint.frame = placement(table, kind)?;
    if kind == JointKind::Gimbal {
        joint.mirrored = gimbal_handedness(table)?;
    }
    joint.position = position(table, kind)?;
    joint.armature = armature(table, kind)?;
    joint.friction = frictions(table, kind)?;
    joint.limits = limits(table, kind)?;
    if kind == JointKind::Screw {
        joint.pitch = table.needed_number("pitch", Range::Finite)?;
        if joint.pitch == 0.0 {
            let message = "pitch must not be zero: a screw without translation is a revolute joint";
            return Err(table.refuse_value("pitch", message));
        }
    }
    Ok(joint)
}

fn placement(table: &TableReader, kind: JointKind) -> Result<JointPlacement> {
    match (table.has("point"), table.has("at")) {
        (true, true) => Err(table.refuse_key(
            "at",
            "give either \"point\" (ground frame, initial pose) or \"at\" (one frame in each body), not both",
        )),
        (true, false) => Ok(JointPlacement::InitialPose(frame(table, kind, FrameOwner::Ground)?)),
        (false, true) => {
            for key in ["axis", "axes", "across"] {
                if table.has(key) {
                    let message = format!(
                        "with \"at\" the {key} stands in each of its two frames",
                    );
                    return Err(table.refuse_key(key, message));
                }
            }
            let frames = table.tables("at")?;
            let [first, second] = &frames[..] else {
                let n = frames.len();
                let message = format!("at must be two frames, one in each body, found {n}");
                return Err(table.refuse_value("at", message));
            };
            let keys = keys_of_frames(group_of(kind)).expect("a joint with a point has frames");
            for (part, keys) in frames.iter().zip(keys) {
                if kind == JointKind::Revolute && table.dimension() == 2 && part.has("axis") {
                    return Err(part.refuse_key("axis", REVOLUTE_AXIS));
                }
                part.keys_among(keys);
            }
            Ok(JointPlacement::BodyFrames([
                frame(first, kind, FrameOwner::First)?,
                frame(second, kind, FrameOwner::Second)?,
            ]))
        }
        (false, false) => Err(table.refuse(format!(
            "\"point\" is missing: expected point = {} in the ground frame, in the initial pose, or \"at\" with one frame in each body",
            table.vector_words()
        ))),
    }
}

/// The body in whose axes a frame is given.
#[derive(Clone, Copy, PartialEq)]
enum FrameOwner {
    Ground,
    First,
    Second,
}

/// `point` with the unit directions of the type.
fn frame(table: &TableReader, kind: JointKind, owner: FrameOwner) -> Result<JointFrame> {
    let point = table.needed_vector("point")?;
    let plane = table.dimension() == 2;
    let (axis, across) = match kind {
        JointKind::Spherical | JointKind::Distance | JointKind::Coupling => ([0.0; 3], [0.0; 3]),
        JointKind::Universal => universal_axes(table)?,
        JointKind::Gimbal => gimbal_axes(table).map(|(axis, across, _)| (axis, across))?,
        JointKind::Revolute if plane => ([0.0, 0.0, 1.0], [0.0; 3]),
        // In the initial pose a fixed joint needs no directions; in the body frames these directions coincide.
        JointKind::Fixed if owner == FrameOwner::Ground => ([0.0; 3], [0.0; 3]),
        JointKind::Fixed if plane => {
            let axis = table.direction("axis")?;
            (axis.unwrap_or([1.0, 0.0, 0.0]), [0.0; 3])
        }
        JointKind::Fixed => {
            let axis = table.direction("axis")?.unwrap_or([0.0, 0.0, 1.0]);
            (axis, reference(table, axis)?)
        }
        // The line belongs to the first body.
        JointKind::PointOnLine if owner == FrameOwner::Second => ([0.0; 3], [0.0; 3]),
        JointKind::PointOnLine => (table.needed_direction("axis")?, [0.0; 3]),
        JointKind::Prismatic if plane => (table.needed_direction("axis")?, [0.0; 3]),
        JointKind::Revolute
        | JointKind::Prismatic
        | JointKind::Cylindrical
        | JointKind::Planar
        | JointKind::Cartesian
        | JointKind::Screw => {
            let axis = table.needed_direction("axis")?;
            (axis, reference(table, axis)?)
        }
    };
    Ok(JointFrame {
        point,
        axis,
        reference_direction: across,
    })
}

/// `across` without its component along the axis; zero if it is not given.
fn reference(table: &TableReader, axis: [f64; 3]) -> Result<[f64; 3]> {
    match table.direction("across")? {
        None => Ok([0.0; 3]),
        Some(direction) => perpendicular_part(axis, direction).ok_or_else(|| {
            table.refuse_value(
                "across",
                "across must not be along the axis: it is the direction at angle zero",
            )
        }),
    }
}

/// The perpendicular axes of a universal joint.
fn universal_axes(table: &TableReader) -> Result<([f64; 3], [f64; 3])> {
    let axes = table.two_vectors("axes", "directions")?;
    let [a, b] = axes.map(unit);
    let (Some(a), Some(b)) = (a, b) else {
        return Err(table.refuse_value("axes", "axes must not be zero: they are directions"));
    };
    let cosine: f64 = (0..3).map(|k| a[k] * b[k]).sum();
    match perpendicular_part(a, b) {
        Some(b) if cosine.abs() <= PERPENDICULAR => Ok((a, b)),
        _ => {
            let degrees = acos(cosine.clamp(-1.0, 1.0)).to_degrees();
            let message = format!(
                "the axes of a universal joint must be at right angles, found {degrees:.4} degrees"
            );
            Err(table.refuse_value("axes", message))
        }
    }
}

/// The first and second axis of a gimbal joint, and whether the third is opposite to their product.
fn gimbal_axes(table: &TableReader) -> Result<([f64; 3], [f64; 3], bool)> {
    let refuse = |message: &str| Err(table.refuse_value("axes", message));
    let Some(given) = table.vectors("axes")? else {
        return Err(table.refuse("\"axes\" is missing: expected the directions of the three axes"));
    };
    let [a, b, c] = given[..] else {
        return refuse("axes must be three directions");
    };
    let (Some(a), Some(b), Some(c)) = (unit(a), unit(b), unit(c)) else {
        return refuse("axes must not be zero: they are directions");
    };
    let cosine = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| a[k] * b[k]).sum::<f64>();
    let skew = [cosine(a, b), cosine(b, c), cosine(c, a)];
    match perpendicular_part(a, b) {
        Some(b) if skew.iter().all(|x| x.abs() <= PERPENDICULAR) => {
            let product = [0, 1, 2].map(|k| {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                a[i] * b[j] - a[j] * b[i]
            });
            Ok((a, b, cosine(product, c) < 0.0))
        }
        _ => refuse("the axes of a gimbal joint must be at right angles where its angles are zero"),
    }
}

/// Whether the axes of a gimbal joint are left-handed, the same in both frames.
fn gimbal_handedness(table: &TableReader) -> Result<bool> {
    if !table.has("at") {
        return Ok(gimbal_axes(table)?.2);
    }
    let frames = table.tables("at")?;
    let [first, second] = [gimbal_axes(&frames[0])?.2, gimbal_axes(&frames[1])?.2];
    if first != second {
        let message = "the axes of one frame are right-handed, those of the other left-handed";
        return Err(frames[1].refuse_value("axes", message));
    }
    Ok(first)
}

/// `armature`: a number, or an array of them where the joint has several coordinates.
fn armature(table: &TableReader, kind: JointKind) -> Result<[f64; 3]> {
    let mut armature = [0.0; 3];
    let count = kind.coordinates(table.dimension());
    if count == 1 || kind == JointKind::Spherical {
        let given = table.number("armature", Range::NonNegative)?;
        armature[0] = given.unwrap_or(0.0);
    } else if count > 1 {
        let expected = format!("an array of {count} numbers >= 0, one for each coordinate");
        if let Some(given) = table.numbers("armature", &expected, count)? {
            if given.len() != count || given.iter().any(|x| !Range::NonNegative.accepts(*x)) {
                let message = format!("armature must be {expected}, found {given:?}");
                return Err(table.refuse_value("armature", message));
            }
            armature[..count].copy_from_slice(&given);
        }
    }
    Ok(armature)
}

/// `position`: a number, or an array of them where the joint has several coordinates.
fn position(table: &TableReader, kind: JointKind) -> Result<[f64; 3]> {
    let mut position = [0.0; 3];
    let count = kind.coordinates(table.dimension());
    if count == 1 {
        position[0] = table.number("position", Range::Finite)?.unwrap_or(0.0);
    } else if count > 1 {
        let expected = format!("an array of {count} numbers, one for each coordinate");
        if let Some(given) = table.numbers("position", &expected, count)? {
            if given.len() != count {
                let n = given.len();
                let message = format!("position must be {expected}, found an array of {n} values");
                return Err(table.refuse_value("position", message));
            }
            position[..count].copy_from_slice(&given);
        }
    }
    Ok(position)
}
