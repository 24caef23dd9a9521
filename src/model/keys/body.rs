//! `[[body]]` and `[[sensor]]`.

use super::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::check::Range;

pub(in crate::model) const SHAPE: [Key; 3] = [
    Key::new(
        "box",
        KeyKind::Vector,
        "m",
        "one of these",
        "edge lengths, > 0",
    ),
    Key::new(
        "circle",
        KeyKind::Number(Range::Positive),
        "m",
        "one of these",
        "radius",
    ),
    Key::new(
        "line",
        KeyKind::Vectors(None),
        "m",
        "one of these",
        "a chain of points in the body's frame",
    ),
];

pub(in crate::model) const ROTATION: [Key; 2] = [
    Key::new(
        "axis",
        KeyKind::Vector,
        "",
        REQUIRED,
        "ground axes, any length but zero",
    ),
    Key::new(
        "angle",
        KeyKind::Number(Range::Finite),
        "rad",
        REQUIRED,
        "right-handed about the axis",
    ),
];

const NAME: Key = Key::new("name", KeyKind::Name, "", REQUIRED, "its name");

const POSE: [Key; 7] = [
    Key::new(
        "position",
        KeyKind::Vector,
        "m",
        "zero",
        "of the centre of mass at start, ground frame (of the frame's origin where center_of_mass is given)",
    ),
    Key::new(
        "angle",
        KeyKind::Number(Range::Finite),
        "rad",
        "0",
        "of the body's frame at start, counter-clockwise",
    )
    .only(KeyDimension::Plane),
    Key::new(
        "orientation",
        KeyKind::Numbers(4, 4),
        "",
        "[1, 0, 0, 0]",
        "of the body's frame at start: quaternion [w, x, y, z] that turns body axes into ground axes; normalised",
    )
    .only(KeyDimension::Space),
    Key::new(
        "rotation",
        KeyKind::Table(&ROTATION),
        "",
        "none",
        "the same as orientation, by an axis and an angle: { axis = [x, y, z], angle = rad }",
    )
    .only(KeyDimension::Space),
    Key::new(
        "center_of_mass",
        KeyKind::Vector,
        "m",
        "zero",
        "in the body's frame, where that sits elsewhere (at a pin, say)",
    ),
    Key::new(
        "prescribed",
        KeyKind::Flag,
        "",
        "false",
        "true: no mass; its coordinates follow [[motion]]s or stay where they start",
    ),
    Key::new(
        "shape",
        KeyKind::OneKeyOf(&SHAPE),
        "m",
        "none",
        "for pictures only, in the body's frame: { box = [..] }, { circle = radius } or { line = [[..], ..] }",
    ),
];

pub(in crate::model) const BODY: KeyGroup = KeyGroup::new(
    "body",
    "A rigid body.",
    &[
        &[
            NAME,
            Key::new(
                "mass",
                KeyKind::Number(Range::NonNegative),
                "kg",
                REQUIRED,
                ">= 0; zero is legal where the joints fix the body's motion",
            ),
            Key::new(
                "inertia",
                KeyKind::Inertia,
                "kg.m2",
                REQUIRED,
                "about the centre of mass. Plane: a number >= 0. Space: [Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], \
                 entries of the tensor in body axes",
            ),
        ],
        &POSE,
        &[
            Key::new(
                "velocity",
                KeyKind::Vector,
                "m/s",
                "zero",
                "at start, of the point that position gives, ground axes",
            ),
            Key::new(
                "angular_velocity",
                KeyKind::Spin,
                "rad/s",
                "zero",
                "at start; in space a vector in ground axes",
            ),
        ],
    ],
);

pub(in crate::model) const PRESCRIBED: KeyGroup = KeyGroup {
    variant: Some(("prescribed", "true")),
    ..KeyGroup::new(
        "body",
        "A body without mass whose coordinates follow motions: a road, a shaker table.",
        &[&[NAME], &POSE],
    )
};

pub(in crate::model) const SENSOR: KeyGroup = KeyGroup::new(
    "sensor",
    "A point of a body whose motion is of interest.",
    &[&[
        NAME,
        Key::new("body", KeyKind::Text, "", REQUIRED, "the body's name"),
        Key::new("point", KeyKind::Vector, "m", "zero", "in the body's frame"),
    ]],
);
