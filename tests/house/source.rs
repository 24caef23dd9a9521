//! The source tree as text: production files without comments, strings and test modules.

use std::path::{Path, PathBuf};

/// A production source file.
pub struct Source {
    /// Path below the crate, with `/`.
    pub path: String,
    /// Its lines without comments, with string contents blanked, up to the first `#[cfg(test)]` module.
    pub code: Vec<String>,
    /// The same lines as written.
    pub text: Vec<String>,
}

/// Folder of the crate.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Production files of `src`: test-only files (`tests.rs`, folders `tests`) are not among them.
pub fn production() -> Vec<Source> {
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/");
    files(&root().join("src"))
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
            (name.replace('\\', "/"), path)
        })
        .filter(|(name, _)| !is_test(name))
        .map(|(path, file)| Source::new(path, &std::fs::read_to_string(file).unwrap()))
        .collect()
}

impl Source {
    fn new(path: String, text: &str) -> Self {
        let text: Vec<String> = text.lines().map(str::to_string).collect();
        let is_test_module = |i: usize| {
            text[i].trim() == "#[cfg(test)]"
                && text[i + 1..]
                    .iter()
                    .find(|line| !line.trim_start().starts_with("#["))
                    .is_some_and(|line| line.contains("mod ") && line.trim_end().ends_with('{'))
        };
        let end = (0..text.len())
            .find(|&i| is_test_module(i))
            .unwrap_or(text.len());
        let text = text[..end].to_vec();
        Self {
            code: text.iter().map(|line| without_comment(line)).collect(),
            text,
            path,
        }
    }

    /// The room of the file: the first name below `src`.
    pub fn room(&self) -> &str {
        let below = self.path.strip_prefix("src/").unwrap();
        below.split('/').next().unwrap().trim_end_matches(".rs")
    }
}

/// A line without its `//` comment and with the contents of string literals blanked.
fn without_comment(line: &str) -> String {
    let mut out = String::new();
    let (mut in_string, mut escaped) = (false, false);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            out.push(if in_string { ' ' } else { '"' });
        } else if c == '/' && characters.peek() == Some(&'/') {
            break;
        } else if c == '\'' && characters.clone().nth(1) == Some('\'') {
            // A character literal such as '"' or '{'.
            out.push_str("' '");
            characters.nth(1);
        } else {
            in_string = c == '"';
            out.push(c);
        }
    }
    out
}
