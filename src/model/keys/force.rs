//! `[[force]]`, a group for each type; and the friction and end stops of joints.

use super::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::check::Range;

const FINITE: KeyKind = KeyKind::Number(Range::Finite);
const NON_NEGATIVE: KeyKind = KeyKind::Number(Range::NonNegative);
const POSITIVE: KeyKind = KeyKind::Number(Range::Positive);

const HEAD: [Key; 2] = [
    Key::new("name", KeyKind::Name, "", REQUIRED, "its name"),
    Key::new("type", KeyKind::Text, "", REQUIRED, "kind of force"),
];

const JOINT: Key = Key::new(
    "joint",
    KeyKind::Text,
    "",
    "this, or bodies and points",
    "the joint in whose coordinate it acts; of several coordinates one, as \"name.position2\"",
);
const BODIES: Key = Key::new(
    "bodies",
    KeyKind::TwoTexts,
    "",
    "this or joint",
    "two names, one may be \"ground\"",
);
const POINTS: Key = Key::new(
    "points",
    KeyKind::Vectors(Some(2)),
    "m",
    "this or joint",
    "one in each body's frame",
);

const fn stiffness(unit: &'static str) -> Key {
    Key::new(
        "stiffness",
        KeyKind::Law(Range::NonNegative),
        unit,
        "0",
        "a number >= 0, or a law { polynomial = .. }, { table = .. }, { pieces = .. }: force over elongation",
    )
}

const fn damping(unit: &'static str) -> Key {
    Key::new(
        "damping",
        KeyKind::Law(Range::NonNegative),
        unit,
        "0",
        "a number >= 0, or a law: force over rate",
    )
}

const ONLY: Key = Key::new(
    "only",
    KeyKind::Choice(&["tension", "compression"]),
    "",
    "both",
    "acts one way only: a rope or a buffer",
);

const FRAME: Key = Key::new(
    "frame",
    KeyKind::Choice(&["ground", "body"]),
    "",
    "\"ground\"",
    "along whose axes",
);

/// Of rigid contacts and end stops.
pub(in crate::model) const RESTITUTION: Key = Key::new(
    "restitution",
    KeyKind::Number(Range::Part),
    "",
    "none: compliant",
    "instead of stiffness, rigid: part of the speed of approach that is left after a blow, 0 to 1",
);
pub(in crate::model) const REST_SPEED: Key = Key::new(
    "rest_speed",
    NON_NEGATIVE,
    "m/s or rad/s",
    "1e-3 of the speed of a fall through the mechanism's size",
    "with restitution: slower approaches do not bounce but stay",
);

/// Of contacts and joints.
pub(in crate::model) const FRICTION: [Key; 5] = [
    Key::new(
        "kinetic",
        NON_NEGATIVE,
        "N or N.m, contacts 1",
        REQUIRED,
        "level far from rest; in contacts over the normal force",
    ),
    Key::new(
        "static",
        NON_NEGATIVE,
        "N or N.m, contacts 1",
        "kinetic",
        "level at which it breaks loose",
    ),
    Key::new(
        "stiction_velocity",
        POSITIVE,
        "m/s or rad/s",
        REQUIRED,
        "below this it creeps instead of sticking",
    ),
    Key::new(
        "stribeck_velocity",
        POSITIVE,
        "m/s or rad/s",
        "10 stiction_velocity",
        "where the static level has turned into the kinetic one",
    ),
    Key::new(
        "viscous",
        NON_NEGATIVE,
        "N.s/m or N.m.s/rad, contacts s/m",
        "0",
        "part in proportion to the speed",
    ),
];

pub(in crate::model) const PLANE: [Key; 2] = [
    Key::new(
        "point",
        KeyKind::Vector,
        "m",
        "zero",
        "on it, in the first body's frame",
    ),
    Key::new(
        "normal",
        KeyKind::Vector,
        "",
        REQUIRED,
        "out of the material, in the first body's frame",
    ),
];
pub(in crate::model) const SPHERE: [Key; 2] = [
    Key::new(
        "point",
        KeyKind::Vector,
        "m",
        "zero",
        "centre, in the first body's frame",
    ),
    Key::new("radius", NON_NEGATIVE, "m", REQUIRED, "zero is a point"),
];
pub(in crate::model) const OUTLINE: [Key; 5] = [
    Key::new(
        "points",
        KeyKind::Vectors(None),
        "m",
        REQUIRED,
        "in the first body's frame; open: the material is to the right of the way",
    ),
    Key::new(
        "closed",
        KeyKind::Flag,
        "",
        "false",
        "the last point is joined to the first, the material is inside",
    ),
    Key::new(
        "hollow",
        KeyKind::Flag,
        "",
        "false",
        "of a closed curve: the material is outside",
    ),
    Key::new(
        "smooth",
        KeyKind::Flag,
        "",
        "false",
        "a spline through the points instead of straight pieces",
    ),
    Key::new(
        "depth",
        POSITIVE,
        "m",
        "a tenth of its size",
        "how deep a body can sink in; what is deeper is on another side",
    ),
];

/// In the two frames of a bushing.
const FRAME_IN: &[Key] = &[
    Key::new(
        "point",
        KeyKind::Vector,
        "m",
        REQUIRED,
        "in the body's frame",
    ),
    Key::new(
        "axis",
        KeyKind::Vector,
        "",
        "the body's x axis",
        "the bushing's x axis",
    ),
    Key::new(
        "across",
        KeyKind::Vector,
        "",
        "the body's y axis, made perpendicular",
        "the bushing's y axis",
    )
    .only(KeyDimension::Space),
];

const fn of(
    variant: &'static str,
    meaning: &'static str,
    parts: &'static [&'static [Key]],
) -> KeyGroup {
    KeyGroup {
        variant: Some(("type", variant)),
        ..KeyGroup::new("force", meaning, parts)
    }
}

const EITHER: &[&[&str]] = &[&["joint"], &["bodies", "points"]];

pub(in crate::model) const FORCES: [KeyGroup; 8] = [
    KeyGroup {
        either: &[&["bodies", "points"], &["joint"]],
        ..of(
            "spring_damper",
            "Along the line between two points, along a direction, or in a joint that slides: \
             preload + stiffness (L - length) + damping dL/dt, positive pulls together.",
            &[
                &HEAD,
                &[
                    BODIES,
                    POINTS,
                    Key::new(
                        "direction",
                        KeyKind::Vector,
                        "",
                        "along the line",
                        "fixed in the first body; then L = direction . (second point - first point)",
                    ),
                    JOINT,
                    stiffness("N/m"),
                    damping("N.s/m"),
                    Key::new(
                        "length",
                        FINITE,
                        "m",
                        "required with stiffness",
                        "unloaded length; >= 0 between points",
                    ),
                    Key::new("preload", FINITE, "N", "0", "force at the unloaded length"),
                    ONLY,
                ],
            ],
        )
    },
    of(
        "torsion_spring",
        "In a joint that turns: preload + stiffness (angle - unloaded angle) + damping rate, turns counted.",
        &[
            &HEAD,
            &[
                Key {
                    default: REQUIRED,
                    ..JOINT
                },
                stiffness("N.m/rad"),
                damping("N.m.s/rad"),
                Key::new("angle", FINITE, "rad", "0", "unloaded angle"),
                Key::new(
                    "preload",
                    FINITE,
                    "N.m",
                    "0",
                    "torque at the unloaded angle",
                ),
                ONLY,
            ],
        ],
    ),
    of(
        "force",
        "On one body at a point; each component can be driven by an input.",
        &[
            &HEAD,
            &[
                Key::new("body", KeyKind::Text, "", REQUIRED, "the body's name"),
                Key::new("point", KeyKind::Vector, "m", "zero", "in the body's frame"),
                Key::new(
                    "force",
                    KeyKind::Vector,
                    "N",
                    "zero",
                    "its components at start",
                ),
                FRAME,
            ],
        ],
    ),
    of(
        "torque",
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
                    "in the plane a number, in space its components",
                ),
                Key {
                    exists: KeyDimension::Space,
                    ..FRAME
                },
            ],
        ],
    ),
    KeyGroup {
        either: EITHER,
        ..of(
            "actuator",
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
                        "in a joint that slides, or between points",
                    ),
                    Key::new("torque", FINITE, "N.m", "0", "in a joint that turns"),
                ],
            ],
        )
    },
    KeyGroup {
        either: &[&["point"], &["at"]],
        ..of(
            "bushing",
            "Springs and dampers between a frame of each body, along and about the axes of the first.",
            &[
                &HEAD,
                &[
                    Key {
                        default: REQUIRED,
                        ..BODIES
                    },
                    Key::new(
                        "point",
                        KeyKind::Vector,
                        "m",
                        "this or at",
                        "where both frames are at start, ground frame",
                    ),
                    Key::new(
                        "axis",
                        KeyKind::Vector,
                        "",
                        "the ground's x axis",
                        "the bushing's x axis at start, ground axes",
                    ),
                    Key::new(
                        "across",
                        KeyKind::Vector,
                        "",
                        "the ground's y axis, made perpendicular",
                        "the bushing's y axis",
                    )
                    .only(KeyDimension::Space),
                    Key::new(
                        "at",
                        KeyKind::Frames([FRAME_IN, FRAME_IN]),
                        "",
                        "this or point",
                        "two frames, one in each body",
                    ),
                    Key::new(
                        "stiffness",
                        KeyKind::Numbers(3, 6),
                        "N/m, N.m/rad",
                        REQUIRED,
                        "plane: along x, along y, about z; space: along x, y, z, about x, y, z",
                    ),
                    Key::new(
                        "damping",
                        KeyKind::Numbers(3, 6),
                        "N.s/m, N.m.s/rad",
                        "zero",
                        "the same order",
                    ),
                ],
            ],
        )
    },
    of(
        "tyre",
        "A wheel on a road: a force along the road's upward direction at the wheel's centre, while the tyre is pressed together.",
        &[
            &HEAD,
            &[
                Key::new(
                    "body",
                    KeyKind::Text,
                    "",
                    REQUIRED,
                    "the body that carries the wheel",
                ),
                Key::new(
                    "point",
                    KeyKind::Vector,
                    "m",
                    "zero",
                    "the wheel's centre in the body's frame",
                ),
                Key::new(
                    "road",
                    KeyKind::Text,
                    "",
                    "\"ground\"",
                    "the body whose road it is: the ground, or a prescribed body",
                ),
                Key::new(
                    "road_point",
                    KeyKind::Vector,
                    "m",
                    "zero",
                    "where heights and distances are measured from, in the road's frame",
                ),
                Key::new("radius", POSITIVE, "m", REQUIRED, "unloaded"),
                Key {
                    default: REQUIRED,
                    ..stiffness("N/m")
                },
                damping("N.s/m"),
                Key::new(
                    "up",
                    KeyKind::Vector,
                    "",
                    "against gravity",
                    "in the road's axes",
                ),
                Key::new(
                    "forward",
                    KeyKind::Vector,
                    "",
                    "the x axis, made perpendicular to up",
                    "along the road, in its axes",
                ),
                Key::new(
                    "profile",
                    KeyKind::Curve,
                    "m over m",
                    "level",
                    "height over distance; a table is joined by a cubic spline, pieces may jump",
                ),
                Key::new(
                    "height",
                    FINITE,
                    "m",
                    "0",
                    "added to the profile; can be driven by an input",
                ),
                Key::new(
                    "speed",
                    FINITE,
                    "m/s",
                    "0",
                    "the road passes below: distance = forward . (wheel - road_point) + offset + speed time",
                ),
                Key::new("offset", FINITE, "m", "0", "added to the distance"),
            ],
        ],
    ),
    KeyGroup {
        either: &[&["plane"], &["sphere"], &["curve"]],
        ..of(
            "contact",
            "A point, ball or disc of the second body against a plane, ball or curve of the first: compliant with stiffness, rigid with restitution.",
            &[
                &HEAD,
                &[
                    Key {
                        default: REQUIRED,
                        ..BODIES
                    },
                    Key::new(
                        "plane",
                        KeyKind::Table(&PLANE),
                        "",
                        "one of these",
                        "{ point = .., normal = .. }",
                    ),
                    Key::new(
                        "sphere",
                        KeyKind::Table(&SPHERE),
                        "",
                        "one of these",
                        "{ point = .., radius = .. }, in the plane a disc",
                    ),
                    Key::new(
                        "curve",
                        KeyKind::Table(&OUTLINE),
                        "",
                        "one of these",
                        "{ points = [..], .. }",
                    )
                    .only(KeyDimension::Plane),
                    Key::new(
                        "point",
                        KeyKind::Vector,
                        "m",
                        "zero",
                        "centre of the ball or disc, in the second body's frame",
                    ),
                    Key::new(
                        "radius",
                        NON_NEGATIVE,
                        "m",
                        "0",
                        "of the ball or disc; zero is a point",
                    ),
                    Key::new(
                        "law",
                        KeyKind::Choice(&["spring_damper", "hunt_crossley"]),
                        "",
                        "\"spring_damper\"",
                        "k d + c d' or k d^n (1 + c d') of the depth d, never negative",
                    ),
                    Key::new(
                        "stiffness",
                        POSITIVE,
                        "N/m, N/m^n",
                        "this or restitution",
                        "k",
                    ),
                    Key::new("damping", NON_NEGATIVE, "N.s/m, s/m", "0", "c"),
                    Key::new(
                        "exponent",
                        KeyKind::Number(Range::Positive),
                        "",
                        "1.5",
                        "n >= 1 of hunt_crossley",
                    ),
                    RESTITUTION,
                    REST_SPEED,
                    Key::new(
                        "friction",
                        KeyKind::Table(&FRICTION),
                        "",
                        "none",
                        "{ kinetic = .., stiction_velocity = .. }",
                    ),
                ],
            ],
        )
    },
];
