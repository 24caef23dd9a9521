//! `[[joint]]`, a group for each type.

use super::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::JointKind;
use crate::model::check::Range;

const HEAD: [Key; 2] = [
    Key::new("name", KeyKind::Name, "", REQUIRED, "its name"),
    Key::new("type", KeyKind::Text, "", REQUIRED, "kind of joint"),
];

const BODIES: Key = Key::new(
    "bodies",
    KeyKind::TwoTexts,
    "",
    REQUIRED,
    "two names, one may be \"ground\"; coordinates are those of the second relative to the first",
);

const POINT: Key = Key::new(
    "point",
    KeyKind::Vector,
    "m",
    "this or at",
    "where the joint is at start, ground frame: the drawing is the geometry",
);

const AXIS: Key = Key::new(
    "axis",
    KeyKind::Vector,
    "",
    "required with point",
    "direction at start, ground axes, any length but zero",
);

const ACROSS: Key = Key::new(
    "across",
    KeyKind::Vector,
    "",
    "the body's x axis, made perpendicular",
    "direction across the axis, from which angles are counted; its part along the axis is left out",
)
.only(KeyDimension::Space);

const AXES: Key = Key::new(
    "axes",
    KeyKind::Vectors(Some(2)),
    "",
    "required with point",
    "the two arms of the cross at start, ground axes: the first fixed in the first body, the second in the second; at right angles",
);

const fn position(count: usize, meaning: &'static str) -> Key {
    let unit = if count == 1 { "rad or m" } else { "rad, m" };
    let default = if count == 1 { "0" } else { "zero" };
    Key::new(
        "position",
        KeyKind::Coordinates(count),
        unit,
        default,
        meaning,
    )
}

const ONE: Key = position(1, "what the coordinate is called at start");
const TWO: Key = position(
    2,
    "what the coordinates are called at start, [first, second]",
);
const THREE: Key = position(
    3,
    "what the coordinates are called at start, [first, second, third]",
);

// In the two frames of `at`.
const POINT_IN: Key = Key::new(
    "point",
    KeyKind::Vector,
    "m",
    REQUIRED,
    "in the body's frame",
);
const AXIS_IN: Key = Key::new(
    "axis",
    KeyKind::Vector,
    "",
    REQUIRED,
    "in the body's frame, any length but zero",
);
const FREE_AXIS_IN: Key = Key::new(
    "axis",
    KeyKind::Vector,
    "",
    "the body's z axis (plane: x axis)",
    "in the body's frame; the two coincide",
);
const ACROSS_IN: Key = Key::new(
    "across",
    KeyKind::Vector,
    "",
    "the body's x axis, made perpendicular",
    "in the body's frame, across the axis: where angles are counted from",
)
.only(KeyDimension::Space);
const AXES_IN: Key = Key::new(
    "axes",
    KeyKind::Vectors(Some(2)),
    "",
    REQUIRED,
    "both arms of the cross, seen from this body while both angles are zero; at right angles",
);

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
const CROSS: [&[Key]; 2] = [&[POINT_IN, AXES_IN], &[POINT_IN, AXES_IN]];
const LINE: [&[Key]; 2] = [&[POINT_IN, AXIS_IN], &[POINT_IN]];

const fn at(frames: [&'static [Key]; 2]) -> Key {
    Key::new(
        "at",
        KeyKind::Frames(frames),
        "",
        "this or point",
        "two frames, one in each body: [{ point = [..] }, { point = [..] }]; exact whatever the bodies' positions, which are then only a guess",
    )
}

const EITHER: &[&[&str]] = &[&["point"], &["at"]];

/// Friction and end stops of whatever moves.
const DRAG: &[Key] = &[
    Key::new(
        "limits",
        KeyKind::Limits,
        "rad or m",
        "none",
        "end stops of the coordinate, [lowest, highest]; of several coordinates a pair for each, [] where it is free",
    ),
    Key::new(
        "stiffness",
        KeyKind::Number(Range::Positive),
        "N/m or N.m/rad",
        "with limits this or restitution",
        "of the end stops",
    ),
    Key::new(
        "damping",
        KeyKind::Number(Range::NonNegative),
        "N.s/m or N.m.s/rad",
        "0",
        "of the end stops",
    ),
    super::RESTITUTION,
    super::REST_SPEED,
    Key::new(
        "friction",
        KeyKind::PerCoordinate(&super::FRICTION),
        "",
        "none",
        "dry friction, { kinetic = .., stiction_velocity = .. }; of several coordinates a list, {} where there is none",
    ),
];

const fn of(
    variant: &'static str,
    exists: KeyDimension,
    meaning: &'static str,
    either: &'static [&'static [&'static str]],
    parts: &'static [&'static [Key]],
) -> KeyGroup {
    KeyGroup {
        variant: Some(("type", variant)),
        exists,
        either,
        ..KeyGroup::new("joint", meaning, parts)
    }
}

/// In the order of [`KINDS`].
pub(in crate::model) const JOINTS: [KeyGroup; 11] = [
    of(
        "fixed",
        KeyDimension::Both,
        "No relative motion.",
        EITHER,
        &[&HEAD, &[BODIES, POINT, at(FIXED)]],
    ),
    of(
        "revolute",
        KeyDimension::Both,
        "A pin: turns about an axis (in the plane about z). One coordinate, the angle; it counts turns.",
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
            ],
            DRAG,
        ],
    ),
    of(
        "prismatic",
        KeyDimension::Both,
        "A slide: travels along an axis. One coordinate, the travel.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXIS, ACROSS, at(WITH_AXIS), ONE],
            DRAG,
        ],
    ),
    of(
        "cylindrical",
        KeyDimension::Space,
        "Turns about an axis and travels along it. Coordinates: angle, travel.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXIS, ACROSS, at(WITH_AXIS), TWO],
            DRAG,
        ],
    ),
    of(
        "spherical",
        KeyDimension::Space,
        "A ball: turns in every way. Its coordinate is a quaternion.",
        EITHER,
        &[&HEAD, &[BODIES, POINT, at(PLAIN)]],
    ),
    of(
        "universal",
        KeyDimension::Space,
        "A cross: turns about an axis of each body, the two at right angles. Coordinates: angle about the first, about the second.",
        EITHER,
        &[&HEAD, &[BODIES, POINT, AXES, at(CROSS), TWO], DRAG],
    ),
    of(
        "planar",
        KeyDimension::Space,
        "Two surfaces on each other, the axis their normal. Coordinates: travel along across, along axis x across, angle.",
        EITHER,
        &[
            &HEAD,
            &[BODIES, POINT, AXIS, ACROSS, at(WITH_AXIS), THREE],
            DRAG,
        ],
    ),
    of(
        "screw",
        KeyDimension::Space,
        "Turns about an axis and travels along it in proportion. One coordinate, the angle.",
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
                Key::new(
                    "pitch",
                    KeyKind::Number(Range::Finite),
                    "m",
                    REQUIRED,
                    "travel for a whole turn, not zero; negative: a left-hand thread",
                ),
            ],
            DRAG,
        ],
    ),
    of(
        "distance",
        KeyDimension::Both,
        "Two points at a fixed distance: a rod without mass. It has no coordinate.",
        &[],
        &[
            &HEAD,
            &[
                BODIES,
                Key::new(
                    "points",
                    KeyKind::Vectors(Some(2)),
                    "m",
                    REQUIRED,
                    "one in each body's frame",
                ),
                Key::new(
                    "length",
                    KeyKind::Number(Range::Positive),
                    "m",
                    "that of the start pose",
                    "distance of the points",
                ),
            ],
        ],
    ),
    of(
        "point_on_line",
        KeyDimension::Both,
        "A point of the second body on a line of the first. Coordinates: travel along the line; in the plane also the angle.",
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
            ],
            DRAG,
        ],
    ),
    of(
        "coupling",
        KeyDimension::Both,
        "Relates the coordinates of two other joints: gear, rack, cam. It has no place of its own.",
        &[&["ratio"], &["law"]],
        &[
            &HEAD,
            &[
                Key::new(
                    "joints",
                    KeyKind::TwoTexts,
                    "",
                    REQUIRED,
                    "from, to; of several coordinates one, as \"name.position2\"",
                ),
                Key::new(
                    "ratio",
                    KeyKind::Number(Range::Finite),
                    "of the second over the first",
                    "this or law",
                    "second - its start = ratio (first - its start); not zero",
                ),
                Key::new(
                    "law",
                    KeyKind::Curve,
                    "of the second over the first",
                    "this or ratio",
                    "second as a function of the first: a table is joined by a cubic spline",
                ),
            ],
        ],
    ),
];

/// The kinds in the order of [`JOINTS`].
pub(in crate::model) const KINDS: [(&str, JointKind); 11] = JointKind::ALL;

/// What stands in the two frames of `at`, if the joint has such.
pub(in crate::model) fn keys_of_frames(group: &KeyGroup) -> Option<[&'static [Key]; 2]> {
    group.keys(0).find_map(|key| match key.kind {
        KeyKind::Frames(frames) => Some(frames),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_kinds_have_the_same_order() {
        for (group, (name, kind)) in JOINTS.iter().zip(KINDS) {
            assert_eq!(group.variant, Some(("type", name)));
            assert_eq!(kind.name(), name);
        }
    }

    #[test]
    fn a_start_is_named_for_each_coordinate_that_moves() {
        for (group, (name, kind)) in JOINTS.iter().zip(KINDS) {
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
