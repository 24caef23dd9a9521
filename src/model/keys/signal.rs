//! `[[input]]`, `[[parameter]]` and `[[output]]`.

use super::{Key, KeyGroup, KeyKind, REQUIRED};
use crate::model::check::Range;

const NAME: Key = Key::new("name", KeyKind::Name, "", REQUIRED, "its name");
const TARGET: Key = Key::new(
    "target",
    KeyKind::Text,
    "",
    REQUIRED,
    "what it sets, <element>.<field>; no two may set the same",
);
const UNIT: Key = Key::new(
    "unit",
    KeyKind::Text,
    "",
    "that of the value",
    "as other programs shall see it; must be the value's own, nothing is converted",
);
const START: Key = Key::new(
    "start",
    KeyKind::Number(Range::Finite),
    "that of the value",
    "the element's value",
    "value until it is set",
);

pub(in crate::model) const INPUT: KeyGroup = KeyGroup::new(
    "input",
    "A number that may be driven while the simulation runs.",
    &[&[NAME, TARGET, UNIT, START]],
);

pub(in crate::model) const PARAMETER: KeyGroup = KeyGroup::new(
    "parameter",
    "A number that may be set before the simulation runs.",
    &[&[NAME, TARGET, UNIT, START]],
);

pub(in crate::model) const OUTPUT: KeyGroup = KeyGroup::new(
    "output",
    "A quantity that is shown outside.",
    &[&[
        NAME,
        Key::new(
            "source",
            KeyKind::Text,
            "",
            REQUIRED,
            "the quantity, <element>.<field>",
        ),
        UNIT,
    ]],
);
