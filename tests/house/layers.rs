//! Every import of every file is one that the table in `docs/architecture.md` allows.
//!
//! The table has a row for each layer: its module path, and the paths it may import. A file belongs to the layer with the longest
//! path that is a prefix of its own. Imports are resolved through re-exports to the module that defines the name.

use std::collections::BTreeMap;
use std::fs;

use super::source::{SourceFile, files, root};

type Path = Vec<String>;

struct Layer {
    path: Path,
    allowed: Vec<Path>,
}

/// The rows of the table that begins with `| layer | may import |`.
fn table() -> Vec<Layer> {
    let text = fs::read_to_string(root().join("docs/architecture.md")).expect("the document");
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("| layer | may import |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let paths = |cell: &str| -> Vec<Path> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(|name| name.split("::").map(str::to_owned).collect())
            .collect()
    };
    let mut layers = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        for path in paths(cells[1]) {
            let allowed = paths(cells[2]);
            layers.push(Layer { path, allowed });
        }
    }
    layers
}

/// All paths of the use declarations in `code`, each with whether it is a re-export; groups are expanded.
fn uses(code: &str) -> Vec<(bool, Path)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find("use ").map(|at| from + at) {
        from = at + 4;
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace()) {
            continue;
        }
        let public = code[..at].trim_end().rsplit(['\n', ';', '}']).next();
        let public = public.is_some_and(|words| words.trim().starts_with("pub"));
        let Some(end) = code[from..].find(';').map(|end| from + end) else {
            break;
        };
        let tree: String = code[from..end]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut paths = Vec::new();
        expand(&tree, &mut Vec::new(), &mut paths);
        found.extend(paths.into_iter().map(|path| (public, path)));
        from = end;
    }
    found
}

fn expand(tree: &str, prefix: &mut Path, found: &mut Vec<Path>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let head = tree[..open].trim().trim_end_matches("::");
        let depth = prefix.len();
        prefix.extend(
            head.split("::")
                .filter(|s| !s.is_empty())
                .map(|s| s.trim().to_owned()),
        );
        let inside = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
        for part in split_group(inside) {
            expand(part, prefix, found);
        }
        prefix.truncate(depth);
        return;
    }
    let path = tree.split(" as ").next().unwrap_or("").trim();
    if path.is_empty() {
        return;
    }
    let mut whole = prefix.clone();
    whole.extend(
        path.split("::")
            .filter(|s| !s.is_empty())
            .map(|s| s.trim().to_owned()),
    );
    if whole
        .last()
        .is_some_and(|last| last == "self" && whole.len() > 1)
    {
        whole.pop();
    }
    found.push(whole);
}

/// Splits the inside of a group at its outer commas.
fn split_group(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Paths in expressions and types that begin with `root::`; those of use declarations are left out.
fn inline(code: &str, root: &str) -> Vec<Path> {
    let mark = format!("{root}::");
    code.match_indices(&mark)
        .filter(|(at, _)| {
            let before = &code[..*at];
            let joined = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            !before.ends_with(joined) && !before.ends_with("use ")
        })
        .map(|(at, _)| {
            let path = &code[at..];
            let end = path
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
                .unwrap_or(path.len());
            path[..end]
                .split("::")
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
                .collect()
        })
        .collect()
}

/// A path from the root of the crate (of the library for `biela::`); `None` for other crates and local names.
fn absolute(file: &SourceFile, path: &Path) -> Option<Path> {
    let in_program = file.module.first().is_some_and(|first| first == "bin");
    let (first, rest) = path.split_first()?;
    match (first.as_str(), in_program) {
        ("crate", false) | ("biela", true) => Some(rest.to_vec()),
        ("crate", true) => Some([vec!["bin".to_owned()], rest.to_vec()].concat()),
        ("super" | "self", _) => {
            let mut module = file.module.clone();
            let mut rest = path.as_slice();
            while let Some((word, tail)) = rest.split_first() {
                match word.as_str() {
                    "super" => drop(module.pop()),
                    "self" => {}
                    _ => break,
                }
                rest = tail;
            }
            Some([module, rest.to_vec()].concat())
        }
        _ => None,
    }
}

/// Names that modules re-export: path of the name and path of its definition.
fn reexports(files: &[SourceFile]) -> BTreeMap<Path, Path> {
    let modules: Vec<&Path> = files.iter().map(|file| &file.module).collect();
    let mut found = BTreeMap::new();
    for file in files {
        for (_, path) in uses(&file.production)
            .into_iter()
            .filter(|(public, _)| *public)
        {
            let Some(name) = path.last().filter(|name| *name != "*") else {
                continue;
            };
            let child: Path = [file.module.clone(), path[..1].to_vec()].concat();
            let target = match absolute(file, &path) {
                Some(target) => target,
                None if modules.contains(&&child) => [file.module.clone(), path.clone()].concat(),
                None => continue,
            };
            found.insert([file.module.clone(), vec![name.clone()]].concat(), target);
        }
    }
    found
}

/// The path with re-exported prefixes replaced by their definitions.
fn resolved(mut path: Path, reexports: &BTreeMap<Path, Path>) -> Path {
    for _ in 0..8 {
        let Some((length, target)) = (1..=path.len())
            .rev()
            .find_map(|n| reexports.get(&path[..n]).map(|target| (n, target)))
        else {
            break;
        };
        path = [target.clone(), path[length..].to_vec()].concat();
    }
    path
}

fn layer_of<'a>(layers: &'a [Layer], module: &[String]) -> Option<&'a Layer> {
    layers
        .iter()
        .filter(|layer| module.starts_with(&layer.path))
        .max_by_key(|layer| layer.path.len())
}

#[test]
fn every_import_is_allowed_by_the_table_of_the_architecture() {
    let (files, layers) = (files(), table());
    assert!(
        layers.len() > 8,
        "docs/architecture.md has no table of layers"
    );
    let reexports = reexports(&files);
    let mut wrong = Vec::new();
    for file in &files {
        if file.module.is_empty() {
            continue; // the root of the library declares and re-exports all layers
        }
        let Some(layer) = layer_of(&layers, &file.module) else {
            wrong.push(format!("{}: in no layer of the table", file.path));
            continue;
        };
        let mut paths: Vec<Path> = uses(&file.production)
            .into_iter()
            .map(|(_, path)| path)
            .collect();
        for root in ["crate", "super", "biela"] {
            paths.extend(inline(&file.production, root));
        }
        for path in paths {
            let Some(path) = absolute(file, &path) else {
                continue;
            };
            let path = resolved(path, &reexports);
            let allowed = path.is_empty()
                || path.starts_with(&layer.path)
                || layer_of(&layers, &path).is_some_and(|of| of.path == layer.path)
                || layer.allowed.iter().any(|entry| path.starts_with(entry));
            if !allowed {
                wrong.push(format!(
                    "{} ({}) imports {}",
                    file.path,
                    layer.path.join("::"),
                    path.join("::")
                ));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{} imports:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn use_trees_are_expanded() {
    let code = "use crate::a::{self, b::{C, D as E}, f};\npub use super::g::*;\nlet x = crate::h::i(crate::j);";
    let found: Vec<String> = uses(code)
        .into_iter()
        .map(|(_, path)| path.join("::"))
        .collect();
    assert_eq!(
        found,
        [
            "crate::a",
            "crate::a::b::C",
            "crate::a::b::D",
            "crate::a::f",
            "super::g::*"
        ]
    );
    let found: Vec<String> = inline(code, "crate")
        .iter()
        .map(|path| path.join("::"))
        .collect();
    assert_eq!(found, ["crate::h::i", "crate::j"]);
}
