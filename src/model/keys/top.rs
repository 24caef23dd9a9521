//! The top of the file, and `[system]`.

use super::{Key, KeyGroup, KeyKind, REQUIRED};

pub(in crate::model) const TOP: KeyGroup = KeyGroup::new(
    "",
    "The whole file. In TOML these keys stand before the first [table].",
    &[&[
        Key::new(
            "format",
            KeyKind::OneOf(&[1]),
            "",
            REQUIRED,
            "version of the format",
        ),
        Key::new(
            "name",
            KeyKind::Name,
            "",
            "the file's name",
            "name of the model",
        ),
        Key::new(
            "dimension",
            KeyKind::OneOf(&[2, 3]),
            "",
            "3",
            "2: x, y and an angle for each body; 3: position and rotation. Without meaning for [system]",
        ),
        Key::new(
            "gravity",
            KeyKind::Vector,
            "m/s2",
            "zero",
            "acceleration of gravity, ground axes",
        ),
        Key::new(
            "solver",
            KeyKind::Group,
            "",
            "all defaults",
            "settings of the solver",
        ),
        Key::new(
            "experiment",
            KeyKind::Group,
            "",
            "all defaults",
            "defaults for a run",
        ),
        Key::new(
            "system",
            KeyKind::Group,
            "",
            "none",
            "matrices of a model that is not made of bodies",
        ),
        Key::new("body", KeyKind::Group, "", "none", "rigid bodies"),
        Key::new(
            "joint",
            KeyKind::Group,
            "",
            "none",
            "what holds bodies together",
        ),
        Key::new(
            "motion",
            KeyKind::Group,
            "",
            "none",
            "prescribed coordinates",
        ),
        Key::new(
            "force",
            KeyKind::Group,
            "",
            "none",
            "springs, dampers, drives",
        ),
        Key::new(
            "sensor",
            KeyKind::Group,
            "",
            "none",
            "points whose motion is of interest",
        ),
        Key::new(
            "input",
            KeyKind::Group,
            "",
            "none",
            "numbers driven from outside during a run",
        ),
        Key::new(
            "output",
            KeyKind::Group,
            "",
            "none",
            "quantities shown outside",
        ),
        Key::new(
            "parameter",
            KeyKind::Group,
            "",
            "none",
            "numbers set from outside before a run",
        ),
        Key::new(
            "expose",
            KeyKind::Choice(&["declared", "all"]),
            "",
            "declared",
            "what an instance shows: the declared inputs, outputs and parameters, or every quantity besides",
        ),
    ]],
);

/// Legal in the format, not in this version.
pub(in crate::model) const TOP_LATER: [&str; 0] = [];

pub(in crate::model) const SYSTEM: KeyGroup = KeyGroup::new(
    "system",
    "A model given by its matrices: M q'' + C q' + K q + B^T lambda = F, B q = 0. Units are those of whoever wrote them.",
    &[&[
        Key::new(
            "mass",
            KeyKind::Matrix,
            "",
            REQUIRED,
            "M, n x n, symmetric; singular only where the constraints fix the motion",
        ),
        Key::new("damping", KeyKind::Matrix, "", "zero", "C, n x n"),
        Key::new(
            "stiffness",
            KeyKind::Matrix,
            "",
            "zero",
            "K, n x n; need not be symmetric",
        ),
        Key::new(
            "constraint",
            KeyKind::Matrix,
            "",
            "none",
            "B, one row for each constraint",
        ),
        Key::new(
            "force",
            KeyKind::Column,
            "",
            "zero",
            "F, constant unless an input or parameter sets its components",
        ),
        Key::new(
            "weight",
            KeyKind::Column,
            "",
            "1",
            "> 0; the error of q_i is measured relative to the larger of this and the largest |q_i| so far",
        ),
        Key::new("position", KeyKind::Column, "", "zero", "q at start"),
        Key::new("velocity", KeyKind::Column, "", "zero", "q' at start"),
    ]],
);
