//! The text of docs/gallery.md, from the models and their comments.

use std::path::{Path, PathBuf};

/// Entries in a row of the table.
const COLUMNS: usize = 3;

/// Model files in TOML, by name.
pub fn models(root: &Path) -> Vec<PathBuf> {
    let folders = ["models", "models/beams", "models/contact"].map(|folder| root.join(folder));
    let entries = folders.map(|folder| std::fs::read_dir(folder).expect("the folder of models"));
    let mut files: Vec<PathBuf> = (entries.into_iter().flatten().filter_map(Result::ok))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort_by_key(|path| name(path));
    files
}

/// Name of a model: that of its file.
pub fn name(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The first sentence of the comment that a model begins with.
pub fn sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    let lines = lines.map(str::trim).take_while(|line| !line.is_empty());
    let comment = lines.collect::<Vec<_>>().join(" ");
    // A point before a capital letter ends a sentence; one in 0.2 m does not.
    let end = comment.match_indices(". ").find(|(at, _)| {
        let next = comment[at + 2..].chars().next();
        next.is_some_and(char::is_uppercase)
    });
    end.map_or(comment.clone(), |(at, _)| comment[..=at].to_owned())
}

/// The whole document.
pub fn gallery(root: &Path) -> String {
    let mut text = String::from(
        "# Gallery\n\n\
         Every model in [models](../models). `biela run models/NAME.toml --report NAME.html` writes the page of one, and\n\
         `biela watch models/NAME.toml` shows it while you change it. The pictures and this text are made by\n\
         `cargo run --release --example gallery`.\n\n",
    );
    text += &format!("|{}\n|{}\n", " |".repeat(COLUMNS), "---|".repeat(COLUMNS));
    for row in models(root).chunks(COLUMNS) {
        for path in row {
            let name = name(path);
            let model = std::fs::read_to_string(path).expect("a model can be read");
            let sentence = sentence(&model).replace('|', "\\|");
            let file = path.strip_prefix(root).unwrap_or(path).display();
            text += &format!(
                "| <img src=\"pictures/gallery/{name}.png\" alt=\"{name}\" width=\"300\"><br>[**{name}**](../{file}): {sentence} "
            );
        }
        text += &"| ".repeat(COLUMNS - row.len());
        text += "|\n";
    }
    text
}
