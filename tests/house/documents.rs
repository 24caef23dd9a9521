//! Names in backticks in the documents about the source exist in the source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::source::{root, words};

/// Documents that speak of the source.
const DOCUMENTS: [&str; 2] = ["docs/architecture.md", "docs/theory.md"];

/// Folders whose words may be named: the source, its tests, benches and examples, the headers.
const FOLDERS: [&str; 6] = ["src", "tests", "benches", "examples", "include", "c_tests"];

fn collect(folder: &Path, paths: &mut Vec<String>, text: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if let Ok(below) = path.strip_prefix(root()) {
            paths.push(below.to_string_lossy().replace('\\', "/"));
        }
        if path.is_dir() {
            collect(&path, paths, text);
        } else if let Ok(content) = fs::read_to_string(&path) {
            // Comments may name what is gone.
            let code = content
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            code.for_each(|line| {
                text.push_str(line);
                text.push('\n');
            });
        }
    }
}

/// The texts between single backticks, outside of fenced blocks.
fn quoted(document: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in document.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let inside = line.split('`').skip(1).step_by(2);
            found.extend(inside.map(|text| (number + 1, text.to_owned())));
        }
    }
    found
}

/// The parts of a text that must be words of the source; `None` if it does not look like code.
fn parts(text: &str) -> Option<Vec<&str>> {
    let text = text.trim_end_matches("()");
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.');
    if !text.chars().all(legal) {
        return None;
    }
    let parts: Vec<&str> = text
        .split([':', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    let is_word = |part: &&str| {
        part.len() > 1 && part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    // Letters of equations and numbers are not names.
    let words: Vec<&str> = parts.into_iter().filter(is_word).collect();
    (!words.is_empty()).then_some(words)
}

#[test]
#[ignore = "the documents are still being rewritten"]
fn every_name_in_backticks_exists_in_the_source() {
    let (mut paths, mut text) = (Vec::new(), String::new());
    for folder in FOLDERS {
        collect(&root().join(folder), &mut paths, &mut text);
    }
    let known: BTreeSet<&str> = words(&text);
    let stems: BTreeSet<&str> = paths
        .iter()
        .filter_map(|path| Path::new(path).file_stem()?.to_str())
        .collect();
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let content = fs::read_to_string(root().join(document)).expect("the document");
        for (line, name) in quoted(&content) {
            let is_path = name.contains('/') || name.ends_with(".rs") || name.ends_with(".h");
            let exists = if is_path && !name.contains([' ', '*', '<', '=']) {
                let path = name.trim_end_matches('/');
                root().join(path).exists()
                    || paths
                        .iter()
                        .any(|known| known.ends_with(&format!("/{path}")))
            } else {
                parts(&name).is_none_or(|parts| {
                    parts
                        .iter()
                        .all(|part| known.contains(part) || stems.contains(part))
                })
            };
            if !exists {
                missing.push(format!("{document}:{line} `{name}`"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "{} names:\n{}",
        missing.len(),
        missing.join("\n")
    );
}
