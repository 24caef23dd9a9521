//! `[[joint]]`: its type says which keys it has; its place is one frame on the ground or two in the bodies.

use super::TOP;
use super::names::Names;
use crate::error::Result;
use crate::model::check::{RESERVED_ELEMENTS, Range};
use crate::model::reader::Table;
use crate::model::{Frame, Joint, JointKind, JointPlace};

const JOINT_KINDS: [(&str, JointKind); 2] = [
    ("revolute", JointKind::Revolute),
    ("prismatic", JointKind::Prismatic),
];

fn joint_kind(table: &Table) -> Result<JointKind> {
    table.needed_choice(
        "type",
        &JOINT_KINDS,
        &[
            "fixed",
            "cylindrical",
            "spherical",
            "universal",
            "planar",
            "screw",
            "distance",
            "point_on_line",
            "coupling",
        ],
    )
}

const REVOLUTE_AXIS: &str =
    "a revolute joint in two dimensions turns about z: it takes no \"axis\"";

pub fn joint_keys(table: &Table) -> Result<()> {
    let keys = || {
        table.keys(
            &["name", "type", "bodies", "point", "axis", "at", "position"],
            &["limits", "friction", "stiffness", "damping", "restitution"],
            &TOP,
        )
    };
    if !table.has("type") {
        // A misspelt `type` is a better message than a missing one.
        keys()?;
    }
    if joint_kind(table)? == JointKind::Revolute && table.has("axis") {
        return Err(table.refuse_key("axis", REVOLUTE_AXIS));
    }
    keys()
}

pub fn joint(table: &Table, names: &Names) -> Result<Joint> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let kind = joint_kind(table)?;
    let bodies = names.two_bodies(table)?;
    let frame = match (table.has("point"), table.has("at")) {
        (true, true) => {
            return Err(table.refuse_key(
                "at",
                "give either \"point\" (ground frame, at start) or \"at\" (one frame in each body), not both",
            ));
        }
        (true, false) => JointPlace::Ground(frame(table, kind)?),
        (false, true) if table.has("axis") => {
            return Err(table.refuse_key(
                "axis",
                "with \"at\" the axis stands in each of its two frames",
            ));
        }
        (false, true) => {
            let frames = table.tables("at")?;
            if frames.len() != 2 {
                return Err(table.refuse_value(
                    "at",
                    format!(
                        "at must be two frames, one in each body, found {}",
                        frames.len()
                    ),
                ));
            }
            for part in &frames {
                if kind == JointKind::Revolute && part.has("axis") {
                    return Err(part.refuse_key("axis", REVOLUTE_AXIS));
                }
                part.keys(&["point", "axis"], &["axes"], &[])?;
            }
            JointPlace::Bodies([frame(&frames[0], kind)?, frame(&frames[1], kind)?])
        }
        (false, false) => {
            return Err(table.refuse(
                "\"point\" is missing: expected point = [x, y] in the ground frame at start, or \"at\" with one frame in each body",
            ));
        }
    };
    Ok(Joint {
        name: name.to_owned(),
        kind,
        bodies,
        frame,
        position: table.number("position", Range::Finite)?.unwrap_or(0.0),
        place: table.place(),
    })
}

/// `point`, and `axis` made a unit vector.
fn frame(table: &Table, kind: JointKind) -> Result<Frame> {
    let point = table.needed_plane_vector("point")?;
    let axis = match kind {
        JointKind::Revolute => [0.0, 0.0, 1.0],
        JointKind::Prismatic => {
            let [x, y, _] = table.needed_plane_vector("axis")?;
            // Scaled first: neither tiny nor huge directions may lose digits.
            let scale = x.abs().max(y.abs());
            if scale == 0.0 {
                return Err(table.refuse_value("axis", "axis must not be zero: it is a direction"));
            }
            let (x, y) = (x / scale, y / scale);
            let length = x.hypot(y);
            [x / length, y / length, 0.0]
        }
    };
    Ok(Frame { point, axis })
}
