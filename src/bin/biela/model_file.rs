//! The model that a command is about: a file, or standard input for `-`.

use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

use biela::Model;
use biela::import::{ImportOptions, is_foreign};

use crate::{Failure, import};

/// What messages call a model from standard input.
const STANDARD_INPUT: &str = "standard input";

/// Largest text that is read from standard input (bytes), as for files.
const LARGEST: u64 = 64 << 20;

/// Reads and validates a model.
pub fn read(path: &Path) -> Result<Model, Failure> {
    read_model(path).map_err(Failure::input)
}

/// The same with the error of the library.
pub fn read_model(path: &Path) -> biela::Result<Model> {
    match is_standard(path) {
        true => Model::from_text_in(&standard_input()?, STANDARD_INPUT, None),
        false if is_foreign(path) => Ok(import::model_text(path)?.model),
        false => Model::from_file(path),
    }
}

/// The text of a model, for the page of a run.
pub fn text(path: &Path) -> Result<String, Failure> {
    if is_standard(path) {
        return standard_input().map_err(Failure::input);
    }
    if is_foreign(path) {
        let imported = biela::import::import(path, &ImportOptions::default());
        return Ok(imported.map_err(Failure::input)?.text);
    }
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Input(format!("cannot read \"{}\": {error}", path.display())))
}

/// Does `path` stand for standard input?
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Standard input, read once.
fn standard_input() -> biela::Result<String> {
    static TEXT: OnceLock<Result<String, String>> = OnceLock::new();
    let read = || {
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(LARGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LARGEST {
            return Err(format!("it is too large: at most {LARGEST} bytes are read"));
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    };
    let text = TEXT.get_or_init(read);
    text.clone().map_err(|reason| biela::Error::File {
        path: STANDARD_INPUT.to_owned(),
        reason,
    })
}
