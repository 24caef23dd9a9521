//! The source files of the library and of the program, with comments, texts and tests told apart from the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the package.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file below `src`.
pub struct SourceFile {
    /// Path from the package, with slashes.
    pub path: String,
    /// Module path: `["integrator", "hht"]`; files of the program begin with `bin`.
    pub module: Vec<String>,
    /// The text as written.
    pub text: String,
    /// The text with comments and texts blanked, line by line the same.
    pub code: String,
    /// The code with the parts under `#[cfg(test)]` blanked; empty for files that are only compiled for tests.
    pub production: String,
}

/// All files below `src`, sorted by path.
pub fn files() -> Vec<SourceFile> {
    let mut paths = Vec::new();
    collect(&root().join("src"), &mut paths);
    paths.sort();
    let mut files: Vec<SourceFile> = paths.iter().map(|path| read(path)).collect();
    let test_only = test_only_modules(&files);
    for file in &mut files {
        if test_only
            .iter()
            .any(|module| file.module.starts_with(module))
        {
            file.production.clear();
        }
    }
    files
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn read(path: &Path) -> SourceFile {
    let text = fs::read_to_string(path).expect("source files are UTF-8");
    let below = path.strip_prefix(root()).expect("a file of this package");
    let parts: Vec<String> = below
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let mut module: Vec<String> = parts[1..].to_vec();
    let last = module.pop().expect("a file name");
    match last.as_str() {
        "mod.rs" | "lib.rs" | "main.rs" => {}
        name => module.push(name.trim_end_matches(".rs").to_owned()),
    }
    if module.first().is_some_and(|first| first == "bin") {
        module.remove(1); // the name of the program
    }
    let code = without_comments_and_texts(&text);
    let production = without_tests(&code);
    SourceFile {
        path: parts.join("/"),
        module,
        text,
        code,
        production,
    }
}

/// Blanks comments and the contents of text and character literals; line breaks stay.
pub fn without_comments_and_texts(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let blank = |out: &mut String, c: char| out.push(if c == '\n' { '\n' } else { ' ' });
    let mut i = 0;
    while i < chars.len() {
        let end = match (chars[i], chars.get(i + 1)) {
            ('/', Some('/')) => (i..chars.len()).find(|&k| chars[k] == '\n'),
            ('/', Some('*')) => (i + 2..chars.len())
                .find(|&k| chars[k] == '/' && chars[k - 1] == '*')
                .map(|k| k + 1),
            ('r', Some('"' | '#')) if !follows_word(&chars, i) && raw_end(&chars, i).is_some() => {
                raw_end(&chars, i)
            }
            ('"', _) => text_end(&chars, i),
            ('\'', _) => character_end(&chars, i),
            _ => Some(i),
        };
        let end = end.unwrap_or(chars.len());
        if end == i {
            out.push(chars[i]);
            i += 1;
            continue;
        }
        for &c in &chars[i..end] {
            blank(&mut out, c);
        }
        i = end;
    }
    out
}

fn follows_word(chars: &[char], i: usize) -> bool {
    i > 0 && (chars[i - 1].is_alphanumeric() || chars[i - 1] == '_')
}

fn raw_end(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start + 1..].iter().take_while(|c| **c == '#').count();
    let open = start + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    (open + 1..chars.len())
        .find(|&k| {
            chars[k] == '"' && chars[k + 1..].iter().take_while(|c| **c == '#').count() >= hashes
        })
        .map(|k| k + 1 + hashes)
}

fn text_end(chars: &[char], start: usize) -> Option<usize> {
    let mut k = start + 1;
    while k < chars.len() {
        match chars[k] {
            '\\' => k += 2,
            '"' => return Some(k + 1),
            _ => k += 1,
        }
    }
    None
}

/// End of a character literal; a lifetime ends where it begins.
fn character_end(chars: &[char], start: usize) -> Option<usize> {
    match (chars.get(start + 1), chars.get(start + 2)) {
        (Some('\\'), _) => (start + 3..chars.len())
            .find(|&k| chars[k] == '\'')
            .map(|k| k + 1),
        (Some(_), Some('\'')) => Some(start + 3),
        _ => Some(start),
    }
}

/// Blanks every item under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_owned();
    let mut from = 0;
    while let Some(found) = out[from..].find(MARK) {
        let start = from + found;
        let end = item_end(&out, start + MARK.len());
        let blanked: String = out[start..end]
            .chars()
            .map(|c| if c == '\n' { '\n' } else { ' ' })
            .collect();
        out.replace_range(start..end, &blanked);
        from = start + blanked.len();
    }
    out
}

/// End of the item that begins at or after `from`: its closing brace, or its semicolon.
pub fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (i, c) in code[from..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && c == '}' {
                    return from + i + 1;
                }
            }
            ';' if depth == 0 => return from + i + 1,
            _ => {}
        }
    }
    code.len()
}

/// Modules declared by `#[cfg(test)] mod name;`.
fn test_only_modules(files: &[SourceFile]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for file in files {
        for (start, mark) in file.code.match_indices("#[cfg(test)]") {
            let item = &file.code[start + mark.len()..item_end(&file.code, start + mark.len())];
            let words: Vec<&str> = item.split_whitespace().collect();
            if let Some(at) = words.iter().position(|word| *word == "mod")
                && let Some(name) = words.get(at + 1).and_then(|word| word.strip_suffix(';'))
            {
                let mut module = file.module.clone();
                module.push(name.to_owned());
                found.push(module);
            }
        }
    }
    found
}

/// All identifiers in a text.
pub fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Number of the line (from 1) that contains a byte.
pub fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[test]
fn comments_texts_and_tests_are_not_code() {
    let text = "a // b\n\"c \\\" d\" 'e' 'f r#\"g\"# h\n#[cfg(test)]\nmod tests { i }\nj";
    let code = without_comments_and_texts(text);
    let found: Vec<&str> = words(&code).into_iter().collect();
    assert_eq!(
        found,
        ["a", "cfg", "f", "h", "i", "j", "mod", "test", "tests"]
    );
    let production = without_tests(&code);
    let found: Vec<&str> = words(&production).into_iter().collect();
    assert_eq!(found, ["a", "f", "h", "j"]);
}
