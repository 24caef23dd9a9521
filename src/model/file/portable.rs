//! Model texts for packages: a setting written into a text with everything else unchanged.

use super::document::{Document, NodeValue};
pub use super::is_json;
use crate::error::Result;
use crate::model::Model;

/// The same text with `formulation` of `[solver]` set to `word`; comments and layout stay.
pub fn with_formulation(text: &str, origin: &str, word: &str) -> Result<String> {
    with_word(text, origin, ("solver", "formulation"), word)
}

/// The same text with `initial` of `[experiment]` set to `word`; comments and layout stay.
pub fn with_initial(text: &str, origin: &str, word: &str) -> Result<String> {
    with_word(text, origin, ("experiment", "initial"), word)
}

/// The same text with a key of a table set to `word`.
fn with_word(text: &str, origin: &str, (table, name): (&str, &str), word: &str) -> Result<String> {
    let json = is_json(text, origin);
    let document = Document::parse(text, origin, json)?;
    let text = document.text;
    let insert = |at: usize, what: &str| format!("{}{what}{}", &text[..at], &text[at..]);
    let NodeValue::Table(root) = &document.root.value else {
        return Ok(text.to_owned());
    };
    let key = if json {
        format!("\"{name}\": ")
    } else {
        format!("{name} = ")
    };
    let Some(solver) = root.iter().find(|entry| entry.key == table) else {
        return Ok(match (json, text.find('{')) {
            (true, Some(brace)) => {
                insert(brace + 1, &format!("\n\"{table}\": {{{key}\"{word}\"}},"))
            }
            _ => format!("{}\n\n[{table}]\n{name} = \"{word}\"\n", text.trim_end()),
        });
    };
    let NodeValue::Table(entries) = &solver.node.value else {
        return Ok(text.to_owned());
    };
    if let Some(entry) = entries.iter().find(|entry| entry.key == name) {
        let span = entry.node.span.clone();
        return Ok(format!(
            "{}\"{word}\"{}",
            &text[..span.start],
            &text[span.end..]
        ));
    }
    let start = solver.node.span.start;
    if text.get(start..start + 1) == Some("{") {
        let comma = if entries.is_empty() { "" } else { ", " };
        return Ok(insert(start + 1, &format!("{key}\"{word}\"{comma}")));
    }
    // A table with a heading, or dotted keys: a line before the first of its keys, with the same beginning.
    let line_of = |offset: usize| text[..offset].rfind('\n').map_or(0, |i| i + 1);
    Ok(match entries.first() {
        Some(first) => {
            let line = line_of(first.offset);
            let before = text[line..first.offset].trim_start();
            insert(line, &format!("{before}{name} = \"{word}\"\n"))
        }
        None => {
            let line = line_of(solver.offset);
            let end = text[line..].find('\n').map_or(text.len(), |i| line + i);
            insert(end, &format!("\n{name} = \"{word}\""))
        }
    })
}

/// Whether two models are equal apart from positions in their texts.
pub fn same_meaning(a: &Model, b: &Model) -> bool {
    a.without_text_positions() == b.without_text_positions()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FormulationName;

    const REST: &str = "format = 1\nname = \"m\"\ndimension = 2\n";

    fn set(text: &str) -> String {
        let done = with_formulation(text, "m.toml", "absolute").unwrap();
        let before = Model::from_text(text, "m.toml").unwrap();
        let after = Model::from_text(&done, "m.toml").unwrap();
        assert_eq!(
            after.solver.formulation,
            FormulationName::Absolute,
            "{done}"
        );
        let mut expected = before;
        expected.solver.formulation = FormulationName::Absolute;
        assert!(same_meaning(&expected, &after), "{done}");
        done
    }

    #[test]
    fn a_setting_is_written_wherever_the_table_is_and_however() {
        assert!(set(REST).ends_with("[solver]\nformulation = \"absolute\"\n"));
        let with = |solver: &str| set(&format!("{REST}{solver}"));
        assert!(with("[solver]\n# mine\ntolerance = 1e-7 # tight\n").contains("# tight"));
        with("[solver]\n");
        with("[solver] # nothing\n\n[experiment]\nstop = 1.0\n");
        with("[solver]\nformulation = 'auto' # chosen\n");
        with("solver.tolerance = 1e-7\n");
        with("solver = { tolerance = 1e-7 }\n");
        with("solver = {}\n");
        with("[experiment]\nstop = 1.0\n[solver]\nalpha = 0.1\n");
        set("{\"format\": 1, \"name\": \"m\", \"dimension\": 2}");
        set("{\"format\": 1, \"solver\": {}, \"name\": \"m\", \"dimension\": 2}");
        set("{\"format\": 1, \"solver\": {\"alpha\": 0.1}, \"name\": \"m\", \"dimension\": 2}");
    }

    #[test]
    fn the_start_is_written_beside_other_keys_of_the_experiment() {
        for text in [
            REST.to_owned(),
            format!("{REST}[experiment]\nstop = 1.0 # soon\n"),
            format!("{REST}[experiment]\ninitial = 'given'\n"),
            "{\"format\": 1, \"name\": \"m\", \"dimension\": 2}".to_owned(),
        ] {
            let done = with_initial(&text, "m.toml", "equilibrium").unwrap();
            let mut expected = Model::from_text(&text, "m.toml").unwrap();
            expected.experiment.initial = crate::model::InitialPosition::Equilibrium;
            let found = Model::from_text(&done, "m.toml").unwrap();
            assert!(same_meaning(&expected, &found), "{done}");
        }
    }

    #[test]
    fn meaning_is_what_counts() {
        let a = Model::from_text(REST, "a.toml").unwrap();
        let mut b = Model::from_text(&format!("# a line\n{REST}"), "a.toml").unwrap();
        assert!(same_meaning(&a, &b));
        b.solver.alpha = 0.2;
        assert!(!same_meaning(&a, &b));
    }
}
