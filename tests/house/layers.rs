//! Imports against the table "Who may import whom" of docs/architecture.md.

use std::collections::BTreeMap;

use crate::source::{Source, production, root};

/// For each room the path prefixes it may import, from the table of the document.
fn allowed() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let table = text
        .split("## Who may import whom")
        .nth(1)
        .expect("docs/architecture.md has the section \"Who may import whom\"");
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_string)
            .collect()
    };
    table
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let may = quoted(cells[2]);
            quoted(cells[1])
                .into_iter()
                .map(move |room| (room, may.clone()))
        })
        .collect()
}

/// Expands `a::{b::c, d}` after `crate::` into the paths it names.
fn expand(prefix: &str, rest: &str, paths: &mut Vec<String>) {
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .unwrap_or(rest.len());
    let (path, after) = rest.split_at(end);
    let here = format!("{prefix}{path}");
    if !path.is_empty() && !path.ends_with("::") || !after.starts_with('{') {
        paths.push(here.trim_end_matches("::").to_string());
        return;
    }
    let (mut depth, mut start) = (0, 1);
    for (i, c) in after.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 1 && c == ',' || depth == 0 {
            let item = after[start..i].trim();
            if !item.is_empty() {
                expand(&here, item, paths);
            }
            start = i + 1;
        }
        if depth == 0 {
            break;
        }
    }
}

/// Paths of the crate that a file names, without the leading `crate::`.
fn imports(source: &Source) -> Vec<String> {
    let code = source.code.join(" ");
    let mut paths = Vec::new();
    let own = if source.room() == "bin" {
        "biela::"
    } else {
        "crate::"
    };
    for (at, _) in code.match_indices(own) {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        if !before.is_alphanumeric() && before != '_' && before != ':' {
            expand("", &code[at + own.len()..], &mut paths);
        }
    }
    paths.extend(climbing(source, &code));
    paths
}

/// `super::` paths that climb to the top of the crate.
fn climbing(source: &Source, code: &str) -> Vec<String> {
    let parts: Vec<&str> = source.path.trim_start_matches("src/").split('/').collect();
    let last = parts.last().unwrap();
    let depth = parts.len() - usize::from(*last == "mod.rs" || *last == "lib.rs");
    let climb = "super::".repeat(depth);
    if depth == 0 || source.room() == "bin" {
        return Vec::new();
    }
    let mut paths = Vec::new();
    for (at, _) in code.match_indices(&climb) {
        expand("", &code[at + climb.len()..], &mut paths);
    }
    paths
}

#[test]
fn every_import_is_allowed_by_the_table() {
    let allowed = allowed();
    let mut wrong = Vec::new();
    for source in production() {
        let room = source.room();
        if room == "lib" {
            continue;
        }
        let may = allowed
            .get(room)
            .unwrap_or_else(|| panic!("the table has no row for `{room}` ({})", source.path));
        for path in imports(&source) {
            let fits = |prefix: &String| {
                path == *prefix
                    || path
                        .strip_prefix(prefix.as_str())
                        .is_some_and(|p| p.starts_with("::"))
            };
            // `Error` and `Result` are re-exported at the top of the crate.
            let top = matches!(path.split("::").next(), Some("Error" | "Result"));
            if !(top || path.split("::").next() == Some(room) || may.iter().any(fits)) {
                wrong.push(format!("{}: {path}", source.path));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports that the table forbids:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn groups_and_nested_groups_are_expanded() {
    let mut paths = Vec::new();
    expand(
        "",
        "model::{Model, file::{read, keys::Key}, self} ;",
        &mut paths,
    );
    assert_eq!(
        paths,
        [
            "model::Model",
            "model::file::read",
            "model::file::keys::Key",
            "model::self"
        ]
    );
}
