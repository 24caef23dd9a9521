//! Names in backticks in the documents about the inside exist in the source.

use crate::source::{files, root};

/// Documents that name code.
const DOCUMENTS: [&str; 2] = ["docs/architecture.md", "docs/theory.md"];

/// Whether a text in backticks looks like code of this crate: a path, a file, or one name.
fn is_code(word: &str) -> bool {
    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '/' | '.');
    word.len() > 2 && word.chars().all(name) && word.chars().any(char::is_alphabetic)
}

#[test]
fn every_name_in_backticks_exists() {
    let mut all = String::new();
    let mut paths = Vec::new();
    for folder in [
        "src", "tests", "benches", "examples", "include", "c_tests", "models", "docs", ".ci",
    ] {
        for file in files(&root().join(folder)) {
            let path = file
                .strip_prefix(root())
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/");
            if !path.starts_with("docs/") {
                all.push_str(&std::fs::read_to_string(&file).unwrap_or_default());
            }
            paths.push(path);
        }
    }
    let word_exists = |word: &str| {
        all.match_indices(word).any(|(at, _)| {
            let edge = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            edge(all[..at].chars().next_back()) && edge(all[at + word.len()..].chars().next())
        })
    };
    // A file or folder: the end of a path, with or without its ending.
    let file_exists = |word: &str| {
        let word = word.trim_end_matches('/');
        paths.iter().any(|path| {
            let slashed = format!("/{path}/");
            slashed.contains(&format!("/{word}/")) || path.ends_with(&format!("/{word}.rs"))
        })
    };
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            if fenced {
                continue;
            }
            for word in line
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|word| is_code(word))
            {
                let last = word.rsplit("::").next().unwrap();
                let known = match (word.contains('/'), word.contains('.')) {
                    (true, _) => file_exists(word),
                    (false, true) => file_exists(word) || word.split('.').all(word_exists),
                    _ => word.split("::").all(word_exists) || file_exists(last),
                };
                if !known {
                    missing.push(format!("{document}:{}: {word}", number + 1));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "names that do not exist:\n{}",
        missing.join("\n")
    );
}
