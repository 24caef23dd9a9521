//! Keys of `[[joint]]`, a group for each type.

use crate::model::JointKind;
use crate::model::file::force::friction::{FRICTION, REST_SPEED, RESTITUTION, RESTITUTION_LAW};
use crate::model::file::keys::{DESCRIPTION, Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::validate::Range;

/// Coordinates that one may follow at most; a bound for the schema.
const MOST_RATIOS: usize = 1000;

#[rustfmt::skip]
const HEAD: [Key; 3] = [
    Key::new("name", KeyKind::Name, "", REQUIRED, "name of the element"),
    Key::new("type", KeyKind::Text, "", REQUIRED, "kind of joint"),
    DESCRIPTION,
];

#[rustfmt::skip]
const BODIES: Key = Key::new("bodies", KeyKind::TwoTexts, "", REQUIRED,
    "two names, one may be \"ground\"; joint coordinates describe the second body relative to the first");

#[rustfmt::skip]
const POINT: Key = Key::new("point", KeyKind::Vector, "m", "this or at",
    "location of the joint in the initial pose, ground frame");

#[rustfmt::skip]
const AXIS: Key = Key::new("axis", KeyKind::Vector, "", "required with point",
    "direction in the initial pose, ground axes, any length but zero");

#[rustfmt::skip]
const ACROSS: Key = Key::new("across", KeyKind::Vector, "", "perpendicular part of the body's x axis",
    "direction at angle zero; its component along the axis is removed")
.only(KeyDimension::Space);

#[rustfmt::skip]
const THREE_AXES: Key = Key::new("axes", KeyKind::Vectors(Some(3)), "", "required with point",
    "the three axes in the initial pose, ground axes, perpendicular: the first fixed in the first body, the third in the second");

#[rustfmt::skip]
const THREE_AXES_IN: Key = Key::new("axes", KeyKind::Vectors(Some(3)), "", REQUIRED,
    "the three axes where all angles are zero, in the body's axes, perpendicular");

#[rustfmt::skip]
const AXES: Key = Key::new("axes", KeyKind::Vectors(Some(2)), "", "required with point",
    "the two axes in the initial pose, ground axes: the first fixed in the first body, the second in the second; perpendicular");

#[rustfmt::skip]
const fn position(count: usize, meaning: &'static str) -> Key {
    let unit = if count == 1 { "rad or m" } else { "rad, m" };
    let default = if count == 1 { "0" } else { "zero" };
    Key::new("position", KeyKind::Coordinates(count), unit, default, meaning)
}

const ONE: Key = position(1, "value of the joint coordinate in the initial pose");
const TWO: Key = position(
    2,
    "values of the joint coordinates in the initial pose, [first, second]",
);
const THREE: Key = position(
    3,
    "values of the joint coordinates in the initial pose, [first, second, third]",
);

/// `armature` of a joint with this many coordinates.
#[rustfmt::skip]
const fn armature(count: usize) -> Key {
    let (kind, default, meaning) = match count {
        1 => (KeyKind::Number(Range::NonNegative), "0", "inertia of the joint coordinate besides that of the bodies: a rotor behind a gear, n^2 J"),
        2 => (KeyKind::Numbers(2, 2), "zero", "inertias of the joint coordinates besides those of the bodies, [first, second]"),
        _ => (KeyKind::Numbers(3, 3), "zero", "inertias of the joint coordinates besides those of the bodies, [first, second, third]"),
    };
    Key::new("armature", kind, "kg.m2 or kg", default, meaning)
}

// Keys of the two frames of `at`.
const POINT_IN: Key = Key::new("point", KeyKind::Vector, "m", REQUIRED, "in the body frame");
const AXIS_IN: Key = Key::new(
    "axis",
    KeyKind::Vector,
    "",
    REQUIRED,
    "in the body frame, any length but zero",
);
#[rustfmt::skip]
const FREE_AXIS_IN: Key = Key::new("axis", KeyKind::Vector, "", "the body's z axis (planar: x axis)",
    "in the body frame; the two axes coincide");
#[rustfmt::skip]
const ACROSS_IN: Key = Key::new("across", KeyKind::Vector, "", "perpendicular part of the body's x axis",
    "in the body frame: direction at angle zero; its component along the axis is removed")
.only(KeyDimension::Space);
#[rustfmt::skip]
const AXES_IN: Key = Key::new("axes", KeyKind::Vectors(Some(2)), "", REQUIRED,
    "both axes in the body frame when both angles are zero; perpendicular");

const PLAIN: [&[Key]; 2] = [&[POINT_IN], &[POINT_IN]];
const WITH_AXIS: [&[Key]; 2] = [
    &[POINT_IN, AXIS_IN, ACROSS_IN],
    &[POINT_IN, AXIS_IN, ACROSS_IN],
];
const PIN: [&[Key]; 2] = [
    &[POINT_IN, AXIS_IN.only(KeyDimension::Space), ACROSS_IN],
    &[POINT_IN, AXIS_IN.only(KeyDimension::Space), ACROSS_IN],
];
const FIXED: [&[Key]; 2] = [
    &[POINT_IN, FREE_AXIS_IN, ACROSS_IN],
    &[POINT_IN, FREE_AXIS_IN, ACROSS_IN],
];
const THREE_CROSS: [&[Key]; 2] = [&[POINT_IN, THREE_AXES_IN], &[POINT_IN, THREE_AXES_IN]];
const CROSS: [&[Key]; 2] = [&[POINT_IN, AXES_IN], &[POINT_IN, AXES_IN]];
const LINE: [&[Key]; 2] = [&[POINT_IN, AXIS_IN], &[POINT_IN]];

#[rustfmt::skip]
const fn at(frames: [&'static [Key]; 2]) -> Key {
    Key::new("at", KeyKind::Frames(frames), "", "this or point",
        "two frames, one in each body: [{ point = [..] }, { point = [..] }]; exact for any initial pose, which is then only a guess")
}

const EITHER: &[&[&str]] = &[&["point"], &["at"]];

/// Friction and limits of joint coordinates.
#[rustfmt::skip]
const FRICTION_AND_LIMITS: &[Key] = &[
    Key::new("limits", KeyKind::Limits, "rad or m", "none",
        "limits of the joint coordinate, [lowest, highest]; a pair for each of several coordinates, [] without limits"),
    Key::new("stiffness", KeyKind::Number(Range::Positive), "N/m or N.m/rad", "with limits this or restitution",
        "of the limits"),
    Key::new("damping", KeyKind::Number(Range::NonNegative), "N.s/m or N.m.s/rad", "0", "of the limits"),
    RESTITUTION,
    REST_SPEED,
    RESTITUTION_LAW,
    Key::new("friction", KeyKind::PerCoordinate(&FRICTION), "", "none",
        "dry friction, { kinetic = .., stiction_velocity = .. }; a list for several coordinates, {} without friction"),
];

const fn of(
    kind: JointKind,
    exists: KeyDimension,
    meaning: &'static str,
    either: &'static [&'static [&'static str]],
    parts: &'static [&'static [Key]],
) -> KeyGroup {
    KeyGroup {
        variant: Some(("type", kind.name())),
        exists,
        either,
        ..KeyGroup::new("joint", meaning, parts)
    }
}

/// In the order of [`JointKind::ALL`].
#[rustfmt::skip]
pub(in crate::model::file) const JOINTS: [KeyGroup; JointKind::ALL.len()] = [
    of(
        JointKind::Fixed,
        KeyDimension::Both,
        "No relative motion.",
        EITHER,
        &[&HEAD, &[BODIES, POINT, at(FIXED)]],
    ),
    of(
        JointKind::Revolute,
        KeyDimension::Both,
        "Rotation about an axis (planar: about z). One coordinate, the angle; it counts revolutions.",
        EITHER,
        &[
            &HEAD,
            &[
                BODIES,
                POINT,
                AXIS.only(KeyDimension::Space),
                ACROSS,
                at(PIN),
                ONE,
                armature(1),
            ],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Prismatic,
        KeyDimension::Both,
        "Translation along an axis. One coordinate, the displacement.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXIS, ACROSS, at(WITH_AXIS), ONE, armature(1)],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Cylindrical,
        KeyDimension::Space,
        "Rotation about an axis and translation along it. Coordinates: angle, displacement.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXIS, ACROSS, at(WITH_AXIS), TWO, armature(2)],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Spherical,
        KeyDimension::Space,
        "Rotation about a point. Its coordinate is a quaternion.",
        EITHER,
        &[
            &HEAD,
            &[
                BODIES,
                POINT,
                at(PLAIN),
                Key::new("armature", KeyKind::Number(Range::NonNegative), "kg.m2", "0",
                    "inertia of the relative rotation besides that of the bodies, the same about all axes"),
                Key::new("friction", KeyKind::PerCoordinate(&FRICTION), "", "none",
                    "dry friction, { kinetic = .., stiction_velocity = .. }, along each axis of the second body"),
            ],
        ],
    ),
    of(
        JointKind::Universal,
        KeyDimension::Space,
        "Rotation about an axis of each body, the two perpendicular. Coordinates: angle about the first axis, about the second.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXES, at(CROSS), TWO, armature(2)],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Gimbal,
        KeyDimension::Space,
        "Rotation about three axes in turn at a point: three hinges without bodies between them. Coordinates: angles about the first, \
         second and third axis; the second stays within a quarter turn of the pose in which the axes are perpendicular.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, THREE_AXES, at(THREE_CROSS), THREE, armature(3)],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Planar,
        KeyDimension::Space,
        "Translation in a plane and rotation about its normal, the axis. Coordinates: displacement along across, along axis x across, angle.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXIS, ACROSS, at(WITH_AXIS), THREE, armature(3)],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Cartesian,
        KeyDimension::Space,
        "Translation along three perpendicular axes without rotation: a gantry. Coordinates: displacement along across, along axis x across, along the axis.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXIS, ACROSS, at(WITH_AXIS), THREE, armature(3)],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Screw,
        KeyDimension::Space,
        "Rotation about an axis with proportional translation along it. One coordinate, the angle.",
        EITHER,
        &[
            &HEAD,
            &[
                BODIES,
                POINT,
                AXIS,
                ACROSS,
                at(WITH_AXIS),
                ONE,
                armature(1),
                Key::new("pitch", KeyKind::Number(Range::Finite), "m", REQUIRED,
                    "translation per revolution, not zero; negative: left-hand thread"),
            ],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Distance,
        KeyDimension::Both,
        "Two points at a constant distance: a massless rod. It has no coordinate.",
        &[],
        &[
            &HEAD,
            &[
                BODIES,
                Key::new("points", KeyKind::Vectors(Some(2)), "m", REQUIRED, "one in each body frame"),
                Key::new("length", KeyKind::Number(Range::Positive), "m", "distance in the initial pose",
                    "distance of the points"),
            ],
        ],
    ),
    of(
        JointKind::PointOnLine,
        KeyDimension::Both,
        "A point of the second body on a line of the first. Coordinates: displacement along the line; planar also the angle.",
        EITHER,
        &[
            &HEAD,
            &[
                BODIES,
                POINT,
                AXIS,
                at(LINE),
                ONE.only(KeyDimension::Space),
                TWO.only(KeyDimension::Plane),
                armature(1).only(KeyDimension::Space),
                armature(2).only(KeyDimension::Plane),
            ],
            FRICTION_AND_LIMITS,
        ],
    ),
    of(
        JointKind::Coupling,
        KeyDimension::Both,
        "Relation between the coordinates of other joints: gear, rack, cam, differential. It has no location.",
        &[&["ratio"], &["ratios"], &["law"]],
        &[
            &HEAD,
            &[
                Key::new("joints", KeyKind::Texts, "", REQUIRED,
                    "from, to, or with ratios several and the one that follows them; one of several coordinates as \"name.position2\""),
                Key::new("ratio", KeyKind::Number(Range::Finite), "of the second over the first", "this, ratios or law",
                    "s2 - s2(0) = ratio (s1 - s1(0)); not zero"),
                Key::new("ratios", KeyKind::Numbers(1, MOST_RATIOS), "", "this, ratio or law",
                    "one for each joint but the last, not zero: the last s - s(0) is the sum of ratio (s - s(0)) of the others, in SI units"),
                Key::new("law", KeyKind::Curve, "of the second over the first", "this, ratio or ratios",
                    "s2 as a function of s1, without kinks"),
            ],
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_kinds_have_the_same_order() {
        for (group, (name, kind)) in JOINTS.iter().zip(JointKind::ALL) {
            assert_eq!(group.variant, Some(("type", name)));
            assert_eq!(kind.name(), name);
        }
    }

    #[test]
    fn position_has_a_value_for_each_coordinate() {
        for (group, (name, kind)) in JOINTS.iter().zip(JointKind::ALL) {
            for dimension in [2, 3] {
                let named = group.keys(dimension).find_map(|key| match key.kind {
                    KeyKind::Coordinates(count) => Some(count),
                    _ => None,
                });
                let moves = kind.coordinates(dimension);
                let expected = (moves > 0).then_some(moves);
                if group.exists.has(dimension) {
                    assert_eq!(named, expected, "{name} in {dimension} dimensions");
                }
            }
        }
    }
}
