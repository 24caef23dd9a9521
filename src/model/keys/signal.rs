//! `[[input]]`, `[[parameter]]` and `[[output]]`.

use super::{Group, Key, Kind, REQUIRED};
use crate::model::check::Range;

const NAME: Key = Key::new("name", Kind::Name, "", REQUIRED, "its name");
const TARGET: Key = Key::new(
    "target",
    Kind::Text,
    "",
    REQUIRED,
    "what it sets, <element>.<field>; no two may set the same",
);
const UNIT: Key = Key::new(
    "unit",
    Kind::Text,
    "",
    "that of the value",
    "as other programs shall see it; must be the value's own, nothing is converted",
);
const START: Key = Key::new(
    "start",
    Kind::Number(Range::Finite),
    "that of the value",
    "the element's value",
    "value until it is set",
);

pub(in crate::model) const INPUT: Group = Group::new(
    "input",
    "A number that may be driven while the simulation runs.",
    &[&[NAME, TARGET, UNIT, START]],
);

pub(in crate::model) const PARAMETER: Group = Group::new(
    "parameter",
    "A number that may be set before the simulation runs.",
    &[&[NAME, TARGET, UNIT, START]],
);

pub(in crate::model) const OUTPUT: Group = Group::new(
    "output",
    "A quantity that is shown outside.",
    &[&[
        NAME,
        Key::new(
            "source",
            Kind::Text,
            "",
            REQUIRED,
            "the quantity, <element>.<field>",
        ),
        UNIT,
    ]],
);
