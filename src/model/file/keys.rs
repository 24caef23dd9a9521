//! Keys of the model file: type, unit, default and meaning. The reader accepts these keys and no others, `biela schema` and
//! `biela explain` print them, and a test compares the manual with them.
//!
//! A [`KeyGroup`] is a table of the file or, if a key such as `type` decides which other keys it has, a variant of it.

use super::beam::BEAM;
use super::body::{BODY, PRESCRIBED, SENSOR};
use super::force::FORCES;
use super::include::INCLUDE;
use super::joint::JOINTS;
use super::linear_system::SYSTEM;
use super::motion::MOTIONS;
use super::signal::{INPUT, OUTPUT, PARAMETER};
use super::signal_law::SIGNALS;
use super::solver::{EXPERIMENT, SOLVER};
use super::top::TOP;
use crate::model::validate::Range;

/// Dimension in which a key or a group exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyDimension {
    Both,
    Plane,
    Space,
}

impl KeyDimension {
    pub fn has(self, dimension: usize) -> bool {
        match self {
            Self::Both => true,
            Self::Plane => dimension == 2,
            Self::Space => dimension != 2,
        }
    }
}

/// Type of a value. "Vector" is `[x, y]` in the plane and `[x, y, z]` in space.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyKind {
    /// A whole number out of these.
    OneOf(&'static [u64]),
    /// A whole number, at least 1.
    Count,
    Number(Range),
    Flag,
    Text,
    /// `[A-Za-z_][A-Za-z0-9_]*`
    Name,
    Choice(&'static [&'static str]),
    Vector,
    /// This many vectors; `None`: two or more.
    Vectors(Option<usize>),
    /// One or more vectors.
    Points,
    /// About an axis, such as an angular velocity: a number in the plane, a vector in space.
    Spin,
    /// A number in the plane; three or six in space.
    Inertia,
    /// Stiffness of a section: its diagonal, or all rows.
    SectionStiffness,
    /// Between this many and that many numbers.
    Numbers(usize, usize),
    /// A number, or one for each coordinate.
    Coordinates(usize),
    /// Two or more pairs `[x, y]`.
    Pairs,
    /// Two strings.
    TwoTexts,
    /// Two or more strings.
    Texts,
    /// A function of one number.
    Curve,
    /// A number, or a function of one number.
    Law(Range),
    /// A pair of numbers; a list for several coordinates, empty if there is none.
    Limits,
    /// A table with these keys; a list for several coordinates, empty if there is none.
    PerCoordinate(&'static [Key]),
    /// Rows of numbers, or the name of a file.
    Matrix,
    /// Numbers, or the name of a file.
    Column,
    Table(&'static [Key]),
    /// A table with exactly one of these.
    OneKeyOf(&'static [Key]),
    /// One or more tables.
    Tables(&'static [Key]),
    /// Two frames, the keys of each.
    Frames([&'static [Key]; 2]),
    /// A table of names and numbers.
    Definitions,
    /// The name of a file.
    File,
    /// A table or list of tables that is a group.
    Group,
}

/// Default of a key that must be given.
pub(super) const REQUIRED: &str = "required";

/// What an element is, for people.
pub(super) const DESCRIPTION: Key = Key::new(
    "description",
    KeyKind::Text,
    "",
    "none",
    "what it is, for people",
);

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub name: &'static str,
    /// Former name, still read; empty if there is none.
    pub former_name: &'static str,
    pub kind: KeyKind,
    /// Empty if there is none.
    pub unit: &'static str,
    /// In words; [`REQUIRED`] if it must be given.
    pub default: &'static str,
    pub meaning: &'static str,
    pub exists: KeyDimension,
}

impl Key {
    pub const fn new(
        name: &'static str,
        kind: KeyKind,
        unit: &'static str,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            former_name: "",
            kind,
            unit,
            default,
            meaning,
            exists: KeyDimension::Both,
        }
    }

    pub const fn only(self, exists: KeyDimension) -> Self {
        Self { exists, ..self }
    }

    /// Whether the file may call it so.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || (!name.is_empty() && self.former_name == name)
    }

    pub fn required(&self) -> bool {
        self.default == REQUIRED
    }
}

/// A table of the file, or one variant of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyGroup {
    /// `body`, `joint`, ..; empty for the top of the file.
    pub table: &'static str,
    /// The key that distinguishes the variants, and its value here.
    pub variant: Option<(&'static str, &'static str)>,
    pub exists: KeyDimension,
    pub meaning: &'static str,
    pub parts: &'static [&'static [Key]],
    /// Exactly one of these sets of keys must be given; empty: no such rule.
    pub either: &'static [&'static [&'static str]],
}

impl KeyGroup {
    pub const fn new(
        table: &'static str,
        meaning: &'static str,
        parts: &'static [&'static [Key]],
    ) -> Self {
        Self {
            table,
            variant: None,
            exists: KeyDimension::Both,
            meaning,
            parts,
            either: &[],
        }
    }

    /// Its keys in a dimension; zero: in any.
    pub fn keys(&self, dimension: usize) -> impl Iterator<Item = &'static Key> + use<> {
        (self.parts.iter())
            .flat_map(|part| part.iter())
            .filter(move |key| dimension == 0 || key.exists.has(dimension))
    }

    /// `a revolute joint`, `a body`.
    pub fn called(&self) -> String {
        let words = match self.variant {
            Some(("law", law)) => return format!("a {} with law \"{law}\"", self.table),
            Some((_, variant)) => format!("{variant} {}", self.table),
            None => self.table.to_owned(),
        };
        let vowel = words.starts_with(['a', 'e', 'i', 'o']);
        format!("{} {words}", if vowel { "an" } else { "a" })
    }
}

/// All tables and variants, in the order of the manual.
pub(super) fn groups() -> impl Iterator<Item = &'static KeyGroup> {
    [&TOP, &INCLUDE, &SOLVER, &EXPERIMENT, &BODY, &PRESCRIBED]
        .into_iter()
        .chain(&JOINTS)
        .chain(&MOTIONS)
        .chain(&FORCES)
        .chain([&BEAM, &SENSOR, &SYSTEM, &INPUT])
        .chain(&SIGNALS)
        .chain([&PARAMETER, &OUTPUT])
}

/// Keys of the two frames of `at`, if the group has them.
pub(super) fn keys_of_frames(group: &KeyGroup) -> Option<[&'static [Key]; 2]> {
    group.keys(0).find_map(|key| match key.kind {
        KeyKind::Frames(frames) => Some(frames),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_stands_twice_in_a_table_and_none_lacks_a_meaning() {
        for group in groups() {
            for dimension in [2, 3] {
                let names: Vec<&str> = group.keys(dimension).map(|key| key.name).collect();
                for (i, name) in names.iter().enumerate() {
                    assert!(!names[..i].contains(name), "{}: {name}", group.called());
                }
            }
            assert!(!group.meaning.is_empty());
            for key in group.keys(0) {
                assert!(
                    !key.meaning.is_empty() && !key.default.is_empty(),
                    "{}",
                    key.name
                );
            }
            for name in group.either.iter().flat_map(|set| set.iter()) {
                assert!(group.keys(0).any(|key| key.name == *name), "{name}");
            }
        }
    }
}
