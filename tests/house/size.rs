//! Sizes that keep a file and a function readable.

use crate::source::production;

/// Lines of the non-test part of a file.
const FILE: usize = 500;
/// Lines of a function, from `fn` to its closing brace.
const FUNCTION: usize = 80;
/// Comment that a longer function needs directly above its signature or its attributes.
const REASON: &str = "// Long because ";

#[test]
fn no_production_file_is_longer_than_500_lines() {
    let long: Vec<String> = production()
        .iter()
        .filter(|source| source.text.len() > FILE)
        .map(|source| format!("{}: {} lines", source.path, source.text.len()))
        .collect();
    assert!(
        long.is_empty(),
        "files with a second room inside:\n{}",
        long.join("\n")
    );
}

#[test]
fn no_production_function_is_longer_than_80_lines_without_a_reason() {
    let mut long = Vec::new();
    for source in production() {
        for (start, end) in functions(&source.code) {
            let reason = (start.saturating_sub(4)..start)
                .any(|i| source.text[i].trim_start().starts_with(REASON));
            if end - start >= FUNCTION && !reason {
                long.push(format!(
                    "{}:{}: {} lines",
                    source.path,
                    start + 1,
                    end - start + 1
                ));
            }
        }
    }
    assert!(
        long.is_empty(),
        "functions with several ideas inside:\n{}",
        long.join("\n")
    );
}

/// First and last line of every function with a body.
fn functions(code: &[String]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (i, line) in code.iter().enumerate() {
        let words = line.trim_start();
        let starts = [
            "fn ",
            "const fn ",
            "unsafe fn ",
            "extern \"C\" fn ",
            "unsafe extern \"C\" fn ",
        ];
        let words = words
            .strip_prefix("pub ")
            .or_else(|| {
                words
                    .strip_prefix("pub(")
                    .and_then(|w| w.split_once(") "))
                    .map(|w| w.1)
            })
            .unwrap_or(words);
        // String contents are blanked, so the ABI reads `extern "   " fn`.
        let is_function = starts.iter().any(|s| words.starts_with(s)) || words.contains("\" fn ");
        if !is_function {
            continue;
        }
        let mut depth = 0;
        'body: for (j, line) in code[i..].iter().enumerate() {
            for c in line.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ';' if depth == 0 && !line.contains('[') => break 'body,
                    _ => {}
                }
                if c == '}' && depth == 0 {
                    found.push((i, i + j));
                    break 'body;
                }
            }
        }
    }
    found
}
