//! Checks of the keys of a table. Messages about a wrong key are as precise as possible.

use super::TableReader;
use crate::model::file::keys::{Key, KeyDimension, KeyGroup, KeyKind, groups};
use crate::model::file::top::TOP;
use crate::model::suggest::{nearest, shorten};

impl TableReader<'_> {
    /// Reports every key that does not belong to the group.
    pub fn keys_of(&self, group: &KeyGroup) {
        let known = || group.keys(self.dimension());
        let mut listed = false;
        for entry in self.entries {
            let key = entry.key.as_str();
            if let Some(known) = known().find(|k| k.is_called(key)) {
                self.suspect_degrees(known);
                continue;
            }
            let elsewhere = |other: &&KeyGroup| {
                other.table == group.table && other.keys(0).any(|k| k.name == key)
            };
            let message = if let Some(other) = group.keys(0).find(|k| k.name == key) {
                format!(
                    "{} takes no \"{key}\" {}",
                    group.called(),
                    other_dimension(other.exists)
                )
            } else if groups().any(|other| elsewhere(&other)) {
                let names: Vec<&str> = known().map(|k| k.name).collect();
                let called = group.called();
                match std::mem::replace(&mut listed, true) {
                    false => format!(
                        "{called} takes no \"{key}\"; its keys are {}",
                        names.join(", ")
                    ),
                    true => format!("{called} takes no \"{key}\""),
                }
            } else {
                self.unknown(key, known().map(|k| k.name), &mut listed)
            };
            self.report_key(self.error(entry.offset, message));
        }
    }

    /// Reports every key that belongs to no variant, for a table that does not name its variant.
    pub fn keys_of_any(&self, variants: &'static [KeyGroup]) {
        let mut names: Vec<&str> = vec![];
        for key in variants.iter().flat_map(|group| group.keys(0)) {
            if !names.contains(&key.name) {
                names.push(key.name);
            }
        }
        let mut listed = false;
        for entry in self.entries {
            let key = entry.key.as_str();
            if !names.contains(&key) {
                let message = self.unknown(key, names.iter().copied(), &mut listed);
                self.report_key(self.error(entry.offset, message));
            }
        }
    }

    /// Reports the wrong keys of a table inside another.
    pub fn keys_among(&self, known: &'static [Key]) {
        let here = || (known.iter()).filter(|k| k.exists.has(self.dimension()));
        let mut listed = false;
        for entry in self.entries {
            let key = entry.key.as_str();
            if let Some(known) = here().find(|k| k.name == key) {
                self.suspect_degrees(known);
                continue;
            }
            let message = match known.iter().find(|k| k.name == key) {
                Some(other) => {
                    format!(
                        "there is no \"{key}\" here {}",
                        other_dimension(other.exists)
                    )
                }
                None => self.unknown(key, here().map(|k| k.name), &mut listed),
            };
            self.report_key(self.error(entry.offset, message));
        }
    }

    /// The sentence about an unknown key, which is read as the known key that it resembles. The known keys are `listed` once.
    fn unknown<'k>(
        &self,
        key: &str,
        known: impl Iterator<Item = &'k str>,
        listed: &mut bool,
    ) -> String {
        let known: Vec<&str> = known.collect();
        // `bodies` for `body`: a plural is no typing error.
        let singular = key.strip_suffix("ies").map(|stem| format!("{stem}y"));
        let near = nearest(key, &known)
            .or_else(|| known.iter().find(|k| singular.as_deref() == Some(**k)));
        let at_top = match self.label.is_empty() {
            true => None,
            false => top_key(key),
        };
        let hint = match (near, at_top) {
            (Some(near), _) => {
                self.take_as(key, near);
                format!("did you mean \"{near}\"?")
            }
            (None, Some(KeyKind::Group | KeyKind::Definitions)) => {
                format!("\"{key}\" is a table of its own")
            }
            (None, Some(_)) => {
                "it belongs at the top of the file, before the first [table]".to_owned()
            }
            (None, None) if !std::mem::replace(listed, true) => {
                format!("the keys here are {}", known.join(", "))
            }
            (None, None) => return format!("unknown key \"{}\"", shorten(key)),
        };
        format!("unknown key \"{}\"; {hint}", shorten(key))
    }
}

/// What a key is at the top of the file, if it may be meant there: a name or description is that of the element.
fn top_key(key: &str) -> Option<KeyKind> {
    let found = TOP.keys(0).find(|k| k.name == key)?;
    (!matches!(key, "name" | "description")).then_some(found.kind)
}

fn other_dimension(exists: KeyDimension) -> &'static str {
    match exists {
        KeyDimension::Space => "in two dimensions",
        _ => "in three dimensions",
    }
}
