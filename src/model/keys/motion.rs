//! `[[motion]]`, a group for each law, and the curves that laws are made of.

use super::{Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use crate::model::check::Range;

const FINITE: KeyKind = KeyKind::Number(Range::Finite);

pub(in crate::model) const PIECE: [Key; 2] = [
    Key::new(
        "below",
        FINITE,
        "",
        "required but in the last",
        "the piece holds for x below this",
    ),
    Key::new(
        "polynomial",
        KeyKind::Numbers(1, 64),
        "",
        REQUIRED,
        "coefficients [c0, c1, ..]",
    ),
];

/// A function of one number.
pub(in crate::model) const CURVE: [Key; 3] = [
    Key::new(
        "polynomial",
        KeyKind::Numbers(1, 64),
        "",
        "one of these",
        "c0 + c1 x + c2 x^2 ..",
    ),
    Key::new(
        "table",
        KeyKind::Pairs,
        "",
        "one of these",
        "points [x, y], x rising",
    ),
    Key::new(
        "pieces",
        KeyKind::Tables(&PIECE),
        "",
        "one of these",
        "polynomials, each up to its bound: [{ below = x, polynomial = [..] }, .., { polynomial = [..] }]",
    ),
];

/// The laws, by the words of the file.
pub(in crate::model) const LAWS: [&str; 5] =
    ["constant_speed", "polynomial", "harmonic", "table", "input"];

const HEAD: [Key; 6] = [
    Key::new("name", KeyKind::Name, "", REQUIRED, "its name"),
    Key::new(
        "joint",
        KeyKind::Text,
        "",
        "this, or body and coordinate",
        "the joint that is driven; of several coordinates one, as \"name.position2\"",
    ),
    Key::new(
        "body",
        KeyKind::Text,
        "",
        "this or joint",
        "the body that is moved; it has prescribed = true",
    ),
    Key::new(
        "coordinate",
        KeyKind::Choice(&["x", "y", "z", "angle"]),
        "",
        "required with body",
        "which coordinate of the body: x, y, z of its frame's origin in the ground frame, or its angle (space: turned since the start about axis)",
    ),
    Key::new(
        "axis",
        KeyKind::Vector,
        "",
        "required for a body's angle",
        "ground axes, any length but zero",
    )
    .only(KeyDimension::Space),
    Key::new("law", KeyKind::Choice(&LAWS), "", REQUIRED, "how it moves"),
];

const fn of(
    law: &'static str,
    meaning: &'static str,
    parts: &'static [&'static [Key]],
) -> KeyGroup {
    KeyGroup {
        variant: Some(("law", law)),
        either: &[&["joint"], &["body", "coordinate"]],
        ..KeyGroup::new("motion", meaning, parts)
    }
}

pub(in crate::model) const MOTIONS: [KeyGroup; 5] = [
    of(
        "constant_speed",
        "s = s at start + speed (t - experiment start).",
        &[
            &HEAD,
            &[Key::new(
                "speed",
                FINITE,
                "rad/s or m/s",
                REQUIRED,
                "of the coordinate",
            )],
        ],
    ),
    of(
        "polynomial",
        "s = c0 + c1 t + c2 t^2 .., t the absolute time.",
        &[
            &HEAD,
            &[Key::new(
                "coefficients",
                KeyKind::Numbers(1, 64),
                "rad or m, s",
                REQUIRED,
                "[c0, c1, ..]",
            )],
        ],
    ),
    of(
        "harmonic",
        "s = offset + amplitude sin(2 pi frequency t + phase), t the absolute time.",
        &[
            &HEAD,
            &[
                Key::new(
                    "amplitude",
                    FINITE,
                    "rad or m",
                    REQUIRED,
                    "half of the swing",
                ),
                Key::new(
                    "frequency",
                    FINITE,
                    "Hz",
                    REQUIRED,
                    "turns of the sine each second",
                ),
                Key::new("phase", FINITE, "rad", "0", "at t = 0"),
                Key::new("offset", FINITE, "rad or m", "0", "middle of the swing"),
            ],
        ],
    ),
    of(
        "table",
        "Through points, twice continuously differentiable (cubic spline); held at both ends, or repeated.",
        &[
            &HEAD,
            &[
                Key::new(
                    "points",
                    KeyKind::Pairs,
                    "s, rad or m",
                    REQUIRED,
                    "[[t, s], ..], t rising",
                ),
                Key::new(
                    "periodic",
                    KeyKind::Flag,
                    "",
                    "false",
                    "the table repeats itself; its first and last s are equal",
                ),
            ],
        ],
    ),
    of(
        "input",
        "Driven from outside: an [[input]] with the target <motion>.position, .speed or .acceleration.",
        &[
            &HEAD,
            &[
                Key::new(
                    "of",
                    KeyKind::Choice(&["position", "speed", "acceleration"]),
                    "",
                    "\"position\"",
                    "what the input is; a speed or acceleration is integrated",
                ),
                Key::new(
                    "start",
                    FINITE,
                    "rad or m ..",
                    "the coordinate's start value; 0 for speed and acceleration",
                    "value until the input is set",
                ),
            ],
        ],
    ),
];
