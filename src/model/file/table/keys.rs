//! Checks of the keys of a table. Messages about a wrong key are as precise as possible.

use super::TableReader;
use crate::error::Result;
use crate::model::file::keys::{Key, KeyDimension, KeyGroup, groups};
use crate::model::file::top::TOP;
use crate::model::suggest::{nearest, shorten};

impl TableReader<'_> {
    /// Checks that every key belongs to the group.
    pub fn keys_of(&self, group: &KeyGroup) -> Result<()> {
        let known = || group.keys(self.dimension());
        for entry in self.entries {
            let key = entry.key.as_str();
            if known().any(|k| k.is_called(key)) {
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
                format!(
                    "{called} takes no \"{key}\"; its keys are {}",
                    names.join(", ")
                )
            } else {
                self.unknown(key, known().map(|k| k.name))
            };
            return Err(self.error(entry.offset, message));
        }
        Ok(())
    }

    /// Checks that every key belongs to some variant, for a table that does not name its variant.
    pub fn keys_of_any(&self, variants: &'static [KeyGroup]) -> Result<()> {
        let mut names: Vec<&str> = vec![];
        for key in variants.iter().flat_map(|group| group.keys(0)) {
            if !names.contains(&key.name) {
                names.push(key.name);
            }
        }
        for entry in self.entries {
            let key = entry.key.as_str();
            if !names.contains(&key) {
                let message = self.unknown(key, names.iter().copied());
                return Err(self.error(entry.offset, message));
            }
        }
        Ok(())
    }

    /// Checks the keys of a table inside another.
    pub fn keys_among(&self, known: &'static [Key]) -> Result<()> {
        let here = || (known.iter()).filter(|k| k.exists.has(self.dimension()));
        for entry in self.entries {
            let key = entry.key.as_str();
            if here().any(|k| k.name == key) {
                continue;
            }
            let message = match known.iter().find(|k| k.name == key) {
                Some(other) => {
                    format!(
                        "there is no \"{key}\" here {}",
                        other_dimension(other.exists)
                    )
                }
                None => self.unknown(key, here().map(|k| k.name)),
            };
            return Err(self.error(entry.offset, message));
        }
        Ok(())
    }

    fn unknown<'k>(&self, key: &str, known: impl Iterator<Item = &'k str>) -> String {
        let known: Vec<&str> = known.collect();
        let hint = match nearest(key, &known) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if !self.label.is_empty() && TOP.keys(0).any(|k| k.name == key) => {
                "it belongs at the top of the file, before the first [table]".to_owned()
            }
            None => format!("the keys here are {}", known.join(", ")),
        };
        format!("unknown key \"{}\"; {hint}", shorten(key))
    }
}

fn other_dimension(exists: KeyDimension) -> &'static str {
    match exists {
        KeyDimension::Space => "in two dimensions",
        _ => "in three dimensions",
    }
}
