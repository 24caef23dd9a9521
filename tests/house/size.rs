//! Files and functions have a size that can be read at once.

use super::source::{SourceFile, files, item_end, line};

/// Most lines of a file without its tests.
const FILE: usize = 500;
/// Most lines of a function without a comment that says why.
const FUNCTION: usize = 80;
/// The comment above a longer function.
const REASON: &str = "// Long because";

/// Lines of a file that are not under `#[cfg(test)]`.
fn production_lines(file: &SourceFile) -> usize {
    if file.production.trim().is_empty() {
        return 0;
    }
    // Comments are lines too: count the text, less the lines that only tests have.
    let test_lines = (file.code.lines().zip(file.production.lines()))
        .filter(|(code, production)| production.trim().is_empty() && !code.trim().is_empty())
        .count();
    file.text.lines().count() - test_lines
}

#[test]
#[ignore = "files are still being divided"]
fn no_file_is_longer_than_500_lines_without_its_tests() {
    let long: Vec<String> = files()
        .iter()
        .map(|file| (production_lines(file), file))
        .filter(|(lines, _)| *lines > FILE)
        .map(|(lines, file)| format!("{} has {lines} lines", file.path))
        .collect();
    assert!(
        long.is_empty(),
        "{} files:\n{}",
        long.len(),
        long.join("\n")
    );
}

/// Functions longer than allowed: line, name, number of lines.
fn long_functions(file: &SourceFile) -> Vec<String> {
    let code = &file.production;
    let lines: Vec<&str> = file.text.lines().collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        let name = code[at + 3..].split(['(', '<']).next().unwrap_or("");
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if before.is_some_and(|c| !c.is_whitespace()) || !is_name {
            continue;
        }
        let (first, last) = (line(code, at), line(code, item_end(code, at)));
        let count = last + 1 - first;
        // The comment stands above the attributes and the documentation, or below them.
        let explained = lines[..first - 1]
            .iter()
            .rev()
            .take_while(|text| {
                let text = text.trim_start();
                text.starts_with("//") || text.starts_with('#')
            })
            .any(|text| text.trim_start().starts_with(REASON));
        if count > FUNCTION && !explained {
            found.push(format!("{}:{first} {name} has {count} lines", file.path));
        }
    }
    found
}

#[test]
#[ignore = "files are still being divided"]
fn no_function_is_longer_than_80_lines_without_a_reason() {
    let long: Vec<String> = files().iter().flat_map(long_functions).collect();
    assert!(
        long.is_empty(),
        "{} functions:\n{}",
        long.len(),
        long.join("\n")
    );
}
