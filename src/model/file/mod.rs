//! Model files: text to [`Model`], and the description of the format.
//!
//! Each table has one file with its keys and its reader. The keys are the only list: [`schema`], [`explain`], the manual
//! and [`portable`] follow from them.

mod beam;
mod body;
mod csv;
mod curve;
pub(super) mod document;
mod explain;
mod expression;
mod force;
mod include;
mod joint;
mod keys;
mod linear_system;
#[cfg(test)]
mod manual;
mod mistakes;
mod motion;
mod names;
pub mod portable;
mod quantity_list;
mod schema;
mod signal;
mod signal_law;
mod signal_text;
mod solver;
pub mod source_file;
mod syntax;
mod table;
mod top;
mod words;

pub use explain::explain;
pub use schema::schema;
pub use words::ModelWords;

use std::io::Read;
use std::path::{Path, PathBuf};

use self::document::{Document, LARGEST_TEXT};
use self::table::{ModelText, TableReader};
use super::{Model, ModelSource, SolverSettings};
use crate::error::{Error, Result};

/// Whether a text is JSON: it begins with `{`, or its name ends with `.json`. Otherwise it is TOML.
pub fn is_json(text: &str, origin: &str) -> bool {
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    begins.starts_with('{') || has_ending(origin, "json")
}

fn has_ending(origin: &str, ending: &str) -> bool {
    (Path::new(origin).extension()).is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Reads and validates a model file of any format.
pub fn read(path: &Path) -> Result<Model> {
    let text = file_text(path)?;
    read_text(&text, &path.display().to_string(), path.parent())
}

/// Reads a file that another includes, with values of its definitions; `chain` has the files that lead to it.
fn read_part(path: &Path, set: &[(String, f64)], chain: &[PathBuf]) -> Result<Model> {
    let text = file_text(path)?;
    read_in_chain(
        &text,
        &path.display().to_string(),
        path.parent(),
        set,
        chain,
    )
}

/// The text of a model file.
fn file_text(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    let unreadable = |reason: String| Error::File {
        path: shown.clone(),
        reason,
    };
    // One byte more than is allowed: an endless file is not read further.
    let mut bytes = vec![];
    source_file::open(path)
        .and_then(|file| file.take(LARGEST_TEXT as u64 + 1).read_to_end(&mut bytes))
        .map_err(|e| unreadable(e.to_string()))?;
    if bytes.len() > LARGEST_TEXT {
        return Err(unreadable(format!(
            "it is too large: at most {LARGEST_TEXT} bytes are read"
        )));
    }
    String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let line = 1 + e.as_bytes()[..good].iter().filter(|b| **b == b'\n').count();
        unreadable(format!(
            "it is not UTF-8 text: byte {good} (line {line}) begins no character"
        ))
    })
}

/// The bytes of the files that a text names.
fn contents(opened: &[std::path::PathBuf]) -> Result<Vec<Vec<u8>>> {
    let read = |path: &std::path::PathBuf| {
        std::fs::read(path).map_err(|e| Error::File {
            path: path.display().to_string(),
            reason: e.to_string(),
        })
    };
    opened.iter().map(read).collect()
}

/// Reads and validates a model from text; a model with definitions keeps its text.
fn read_text(text: &str, origin: &str, base_dir: Option<&Path>) -> Result<Model> {
    let mut model = read_defined(text, origin, base_dir, &[])?;
    if !model.definitions.is_empty() {
        model.source = Some(ModelSource::new(text, origin, base_dir));
    }
    Ok(model)
}

/// The same with other values of definitions, in base units: the one place that chooses the format.
pub(super) fn read_defined(
    text: &str,
    origin: &str,
    base_dir: Option<&Path>,
    set: &[(String, f64)],
) -> Result<Model> {
    read_in_chain(text, origin, base_dir, set, &[])
}

fn read_in_chain(
    text: &str,
    origin: &str,
    base_dir: Option<&Path>,
    set: &[(String, f64)],
    chain: &[PathBuf],
) -> Result<Model> {
    let mut document = Document::parse(text, origin, is_json(text, origin))?;
    expression::resolve(&mut document, origin, set)?;
    let source = ModelText {
        document: &document,
        origin,
        dimension: 3,
    };
    let (model, opened) = source_file::opened_files(|| {
        top::model(TableReader::root(source)?, origin, base_dir, chain)
    });
    let suspicions = document.mistakes.suspicions();
    let mut model = document.mistakes.settle(model)?;
    model.suspicions = suspicions;
    // Matrices count with their values.
    let files = match model.system {
        Some(_) => Vec::new(),
        None => contents(&opened)?,
    };
    model.words = Some(ModelWords::new(&document.root, &files, &model));
    model.validate()?;
    Ok(model)
}

impl Model {
    /// Reads and validates a model file: JSON if its name ends with `.json` or its text begins with `{`, else TOML.
    pub fn from_file(path: &Path) -> Result<Self> {
        read(path)
    }

    /// Reads and validates a model from text; `origin` names it in messages. JSON if the text begins with `{` or
    /// `origin` ends with `.json`, else TOML. Files it names are relative to the working directory.
    pub fn from_text(text: &str, origin: &str) -> Result<Self> {
        read_text(text, origin, None)
    }

    /// The same with files relative to `base_dir`.
    pub fn from_text_in(text: &str, origin: &str, base_dir: Option<&Path>) -> Result<Self> {
        read_text(text, origin, base_dir)
    }
}

impl SolverSettings {
    /// Reads settings from text: the keys of `[solver]` without the heading, as TOML, or as JSON if the text begins with
    /// `{`.
    pub fn from_text(text: &str, origin: &str) -> Result<Self> {
        let json = text.trim_start().starts_with('{');
        let document = Document::parse(text, origin, json)?;
        let source = ModelText {
            document: &document,
            origin,
            dimension: 3,
        };
        let settings = solver::solver(&TableReader::root(source)?);
        document.mistakes.settle(settings)
    }
}
