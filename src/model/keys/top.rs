//! The top of the file, and `[system]`.

use super::{Group, Key, Kind, REQUIRED};

pub(in crate::model) const TOP: Group = Group::new(
    "",
    "The whole file. In TOML these keys stand before the first [table].",
    &[&[
        Key::new(
            "format",
            Kind::OneOf(&[1]),
            "",
            REQUIRED,
            "version of the format",
        ),
        Key::new(
            "name",
            Kind::Name,
            "",
            "the file's name",
            "name of the model",
        ),
        Key::new(
            "dimension",
            Kind::OneOf(&[2, 3]),
            "",
            "3",
            "2: x, y and an angle for each body; 3: position and rotation. Without meaning for [system]",
        ),
        Key::new(
            "gravity",
            Kind::Vector,
            "m/s2",
            "zero",
            "acceleration of gravity, ground axes",
        ),
        Key::new(
            "solver",
            Kind::Group,
            "",
            "all defaults",
            "settings of the solver",
        ),
        Key::new(
            "experiment",
            Kind::Group,
            "",
            "all defaults",
            "defaults for a run",
        ),
        Key::new(
            "system",
            Kind::Group,
            "",
            "none",
            "matrices of a model that is not made of bodies",
        ),
        Key::new("body", Kind::Group, "", "none", "rigid bodies"),
        Key::new(
            "joint",
            Kind::Group,
            "",
            "none",
            "what holds bodies together",
        ),
        Key::new("motion", Kind::Group, "", "none", "prescribed coordinates"),
        Key::new("force", Kind::Group, "", "none", "springs, dampers, drives"),
        Key::new(
            "sensor",
            Kind::Group,
            "",
            "none",
            "points whose motion is of interest",
        ),
        Key::new(
            "input",
            Kind::Group,
            "",
            "none",
            "numbers driven from outside during a run",
        ),
        Key::new(
            "output",
            Kind::Group,
            "",
            "none",
            "quantities shown outside",
        ),
        Key::new(
            "parameter",
            Kind::Group,
            "",
            "none",
            "numbers set from outside before a run",
        ),
        Key::new(
            "expose",
            Kind::Choice(&["declared", "all"]),
            "",
            "declared",
            "what an instance shows: the declared inputs, outputs and parameters, or every quantity besides",
        ),
    ]],
);

/// Legal in the format, not in this version.
pub(in crate::model) const TOP_LATER: [&str; 0] = [];

pub(in crate::model) const SYSTEM: Group = Group::new(
    "system",
    "A model given by its matrices: M q'' + C q' + K q + B^T lambda = F, B q = 0. Units are those of whoever wrote them.",
    &[&[
        Key::new(
            "mass",
            Kind::Matrix,
            "",
            REQUIRED,
            "M, n x n, symmetric; singular only where the constraints fix the motion",
        ),
        Key::new("damping", Kind::Matrix, "", "zero", "C, n x n"),
        Key::new(
            "stiffness",
            Kind::Matrix,
            "",
            "zero",
            "K, n x n; need not be symmetric",
        ),
        Key::new(
            "constraint",
            Kind::Matrix,
            "",
            "none",
            "B, one row for each constraint",
        ),
        Key::new(
            "force",
            Kind::Column,
            "",
            "zero",
            "F, constant unless an input or parameter sets its components",
        ),
        Key::new(
            "weight",
            Kind::Column,
            "",
            "1",
            "> 0; the error of q_i is measured relative to the larger of this and the largest |q_i| so far",
        ),
        Key::new("position", Kind::Column, "", "zero", "q at start"),
        Key::new("velocity", Kind::Column, "", "zero", "q' at start"),
    ]],
);
