//! `biela explain`: unit, default and meaning of a key, from the keys, or of a quantity, from their list.

use std::fmt::Write as _;

use super::curve::CURVE;
use super::keys::{Key, KeyGroup, KeyKind, groups};
use super::quantity_list::quantities;
use crate::model::suggest::{did_you_mean, shorten};

/// Explains a table (`joint`), a variant (`revolute`), a key (`mass`, `solver.alpha`) or a quantity (`energy.total`,
/// `crank.x`). The error is a sentence.
pub fn explain(word: &str) -> Result<String, String> {
    let mut text = String::new();
    let (table, key) = match word.rsplit_once('.') {
        Some((table, key)) => (Some(table), key),
        None => (None, word),
    };
    let ours = |group: &KeyGroup| table.is_none_or(|table| group.table == table);
    if table.is_none() {
        for group in groups().filter(|g| g.table == word && !word.is_empty()) {
            describe_group(&mut text, group);
        }
    }
    for group in groups().filter(|g| ours(g)) {
        if group.variant.is_some_and(|(_, variant)| variant == key) {
            describe_group(&mut text, group);
        }
    }
    describe_keys(&mut text, table, key);
    for explained in quantities() {
        let of = explained.of.trim_matches(['<', '>']);
        // A name that is not a table is an element of the user's model, of any kind.
        let fits = match table {
            None => true,
            Some(table) if explained.of == table || of == table => true,
            Some("sensor") => of == "body",
            Some("energy" | "solver") => false,
            Some(table) => explained.of.starts_with('<') && !groups().any(|g| g.table == table),
        };
        if fits
            && explained
                .fields
                .iter()
                .any(|field| *field == key || numbered(field, key))
        {
            let dot = if explained.of.is_empty() { "" } else { "." };
            let unit = match explained.unit {
                "" => String::new(),
                unit => format!(", {unit}"),
            };
            let also = match explained.of {
                "<body>" => " (the same of a <sensor>)",
                _ => "",
            };
            writeln!(text, "quantity {}{dot}{key}{unit}", explained.of).expect(FITS);
            writeln!(text, "  {}{also}", explained.meaning).expect(FITS);
        }
    }
    if text.is_empty() {
        let keys = groups().flat_map(|g| {
            let variant = g.variant.map(|(_, variant)| variant);
            variant.into_iter().chain([g.table])
        });
        let keys = keys.chain(all_key_names());
        let fields = quantities().flat_map(|q| q.fields.iter().copied());
        let near = did_you_mean(key, keys.chain(fields));
        return Err(format!(
            "there is no key, table or quantity \"{}\"{near}",
            shorten(word)
        ));
    }
    Ok(text)
}

const FITS: &str = "a String takes everything";

/// Whether `q1` describes `q12`.
fn numbered(field: &str, key: &str) -> bool {
    field.strip_suffix('1').is_some_and(|letters| {
        matches!(letters, "q" | "v" | "a" | "lambda")
            && key.strip_prefix(letters).is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
            })
    })
}

/// The table of a group as it is written.
fn table_of(group: &KeyGroup) -> String {
    let single = matches!(group.table, "solver" | "experiment" | "system");
    match group.table {
        "" => "top of the file".to_owned(),
        table if single => format!("[{table}]"),
        table => format!("[[{table}]]"),
    }
}

fn called(group: &KeyGroup) -> String {
    let table = table_of(group);
    match group.variant {
        Some((key, "true")) => format!("{table} with {key} = true"),
        Some((key, variant)) => format!("{table} with {key} = \"{variant}\""),
        None => table,
    }
}

fn describe_group(text: &mut String, group: &KeyGroup) {
    writeln!(text, "{}", called(group)).expect(FITS);
    writeln!(text, "  {}", group.meaning).expect(FITS);
    let mut names: Vec<&str> = vec![];
    for key in group.keys(0) {
        if !names.contains(&key.name) {
            names.push(key.name);
        }
    }
    writeln!(text, "  keys: {}", names.join(", ")).expect(FITS);
}

/// The keys inside a key.
fn inner_keys(kind: KeyKind) -> Vec<&'static Key> {
    match kind {
        KeyKind::Table(keys)
        | KeyKind::OneKeyOf(keys)
        | KeyKind::Tables(keys)
        | KeyKind::PerCoordinate(keys) => keys.iter().collect(),
        KeyKind::Frames([first, second]) => first.iter().chain(second).collect(),
        KeyKind::Curve | KeyKind::Law(_) => CURVE.iter().collect(),
        _ => vec![],
    }
}

/// A key with the path of its place: the table of the file, then the keys that contain it.
fn with_inner(
    key: &'static Key,
    path: &[&'static str],
    found: &mut impl FnMut(&'static Key, &[&'static str]),
) {
    found(key, path);
    let inside: Vec<&'static str> = path.iter().copied().chain([key.name]).collect();
    for inner in inner_keys(key.kind) {
        with_inner(inner, &inside, found);
    }
}

/// Names of all keys, those inside others too.
fn all_key_names() -> Vec<&'static str> {
    let mut names = vec![];
    for key in groups().flat_map(|group| group.keys(0)) {
        with_inner(key, &[], &mut |key, _| {
            if !names.contains(&key.name) {
                names.push(key.name);
            }
        });
    }
    names
}

/// A key in all tables that have it; tables in which it has the same meaning are listed together.
fn describe_keys(text: &mut String, table: Option<&str>, name: &str) {
    let mut told: Vec<(&Key, Vec<String>)> = vec![];
    for group in groups() {
        for key in group.keys(0) {
            with_inner(key, &[], &mut |key, path| {
                // `solver.alpha`, `friction.kinetic`, `joint.friction.kinetic`
                let whole = [&[group.table], path].concat().join(".");
                let there = table.is_none_or(|table| {
                    whole == table || (!path.is_empty() && whole.ends_with(&format!(".{table}")))
                });
                if !there || !key.is_called(name) {
                    return;
                }
                let place = match path {
                    [] => called(group),
                    path => format!("{} in {}", path.join("."), table_of(group)),
                };
                let same = |other: &&mut (&Key, Vec<String>)| {
                    other.0.meaning == key.meaning && other.0.default == key.default
                };
                match told.iter_mut().find(same) {
                    Some((_, places)) if places.contains(&place) => {}
                    Some((_, places)) => places.push(place),
                    None => told.push((key, vec![place])),
                }
            });
        }
    }
    for (key, places) in told {
        writeln!(text, "key {} of {}", key.name, places.join(", ")).expect(FITS);
        writeln!(text, "  {}", key.meaning).expect(FITS);
        if !key.unit.is_empty() {
            writeln!(text, "  unit: {}", key.unit).expect(FITS);
        }
        writeln!(text, "  default: {}", key.default).expect(FITS);
        if let KeyKind::Choice(words) = key.kind {
            writeln!(text, "  one of: {}", words.join(", ")).expect(FITS);
        }
        for inner in inner_keys(key.kind) {
            writeln!(text, "  {}: {}", inner.name, inner.meaning).expect(FITS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::tests::{EVERYTHING, model};

    #[test]
    fn every_key_variant_and_table_is_explained_with_its_default() {
        for group in groups() {
            if let Some((_, variant)) = group.variant {
                assert!(
                    explain(variant).unwrap().contains(group.meaning),
                    "{variant}"
                );
            }
            for key in group.keys(0) {
                let dotted = match group.table {
                    "" => key.name.to_owned(),
                    table => format!("{table}.{}", key.name),
                };
                let text = explain(&dotted).unwrap_or_else(|e| panic!("{e}"));
                assert!(text.contains(key.meaning), "{dotted}:\n{text}");
                assert!(
                    text.contains(&format!("default: {}", key.default)),
                    "{dotted}"
                );
                assert!(key.unit.is_empty() || text.contains(key.unit), "{dotted}");
            }
        }
    }

    #[test]
    fn every_quantity_is_explained_with_its_unit() {
        let everything = Model::from_text(EVERYTHING, "everything").unwrap();
        for model in [
            everything,
            model("slider_crank.toml"),
            model("double_oscillator.toml"),
        ] {
            for (name, quantity) in model.quantities() {
                let text = explain(&name).unwrap_or_else(|e| panic!("{e}"));
                let unit = model.unit(quantity);
                assert!(text.contains("quantity "), "{name}:\n{text}");
                assert!(
                    unit.is_empty() || text.contains(unit),
                    "{name} in {unit}:\n{text}"
                );
            }
        }
    }

    #[test]
    fn what_is_not_known_gets_the_nearest_word() {
        assert!(
            explain("stifness")
                .unwrap_err()
                .contains("did you mean \"stiffness\"?")
        );
        assert!(
            explain("joint.pich")
                .unwrap_err()
                .contains("did you mean \"pitch\"?")
        );
        for word in ["", ".", "x.", ".x.", "é", &"a.".repeat(1000)] {
            let _ = explain(word);
        }
        assert!(explain("").is_err());
    }
}
