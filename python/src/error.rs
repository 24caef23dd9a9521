//! Errors of the library as exceptions.

use biela::Error;
use biela::capi::status::biela_status;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception of an error: `biela.ModelError` for mistakes of a model or of an argument, `biela.SimulationError` for runs that
/// stop, `biela.CallError` for calls out of order, `biela.UnknownVariable` for names. All carry `line`, `column` (from 1, `None` without a text), `culprit` and `time` (s).
pub fn exception(error: &Error) -> PyErr {
    Python::attach(|py| build(py, error, culprit(error)).unwrap_or_else(|failure| failure))
}

/// The same for the mistakes of a text: the culprit is the word at the position.
pub fn exception_in_text(error: &Error, text: &str) -> PyErr {
    let word = match position(error) {
        (Some(line), Some(column)) => word_at(text, line, column),
        _ => None,
    };
    let culprit = word.or_else(|| culprit(error));
    Python::attach(|py| build(py, error, culprit).unwrap_or_else(|failure| failure))
}

/// The key, name or value at a position of a text: what is in quotes, else up to the next space or punctuation mark.
fn word_at(text: &str, line: usize, column: usize) -> Option<String> {
    let line = text.lines().nth(line.checked_sub(1)?)?;
    let start = line.char_indices().nth(column.checked_sub(1)?)?.0;
    let rest = line[start..].trim_start_matches('[');
    let word = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest
            .split(|c: char| c.is_whitespace() || "=,:#[]{}".contains(c))
            .next()?,
    };
    (!word.is_empty()).then(|| word.to_owned())
}

fn build(py: Python<'_>, error: &Error, culprit: Option<String>) -> PyResult<PyErr> {
    let module = py.import("biela._errors")?;
    // The kinds are those of the C interface.
    let name = match biela_status::from(error) {
        biela_status::ErrorCallOrder => "CallError",
        biela_status::ErrorUnknownVariable => "UnknownVariable",
        biela_status::Ok
        | biela_status::ErrorModel
        | biela_status::ErrorFile
        | biela_status::ErrorArgument
        | biela_status::ErrorNotSettable
        | biela_status::ErrorState => "ModelError",
        biela_status::ErrorAssembly
        | biela_status::ErrorNumeric
        | biela_status::ErrorLimit
        | biela_status::Cancelled
        | biela_status::ErrorCallback
        | biela_status::ErrorMemory
        | biela_status::Busy
        | biela_status::Panic => "SimulationError",
    };
    let (line, column) = position(error);
    let details = PyDict::new(py);
    details.set_item("line", line)?;
    details.set_item("column", column)?;
    details.set_item("culprit", culprit)?;
    details.set_item("time", time(error))?;
    let exception = module
        .getattr(name)?
        .call((error.to_string(),), Some(&details))?;
    Ok(PyErr::from_value(exception))
}

fn position(error: &Error) -> (Option<usize>, Option<usize>) {
    match error {
        Error::Model { line, column, .. } => (Some(*line), Some(*column)),
        Error::Mistakes { mistakes, .. } => mistakes.first().map_or((None, None), position),
        _ => (None, None),
    }
}

/// Name of what is wrong: a body, a joint, a variable, an argument, a file.
fn culprit(error: &Error) -> Option<String> {
    match error {
        Error::Model { origin, .. } => Some(origin.clone()),
        Error::Mistakes { mistakes, .. } => mistakes.first().and_then(culprit),
        Error::File { path, .. } => Some(path.clone()),
        // "input tau": the law of an input.
        Error::Argument { name, .. } => Some(name.trim_start_matches("input ").to_owned()),
        Error::UnknownVariable { name, .. }
        | Error::NotSettable { name, .. }
        | Error::NotFinite { name, .. } => Some(name.clone()),
        Error::Assembly { culprits, .. } | Error::SingularPosition { culprits, .. } => {
            culprits.first().cloned()
        }
        Error::SingularMass { culprit }
        | Error::Evaluation { culprit, .. }
        | Error::NewtonDiverged { culprit, .. }
        | Error::StepTooSmall { culprit, .. }
        | Error::Coordinates { culprit, .. }
        | Error::Chattering { culprit, .. } => Some(culprit.clone()),
        Error::RunAway { body, .. } => Some(body.clone()),
        _ => None,
    }
}

fn time(error: &Error) -> Option<f64> {
    match error {
        Error::SingularPosition { time, .. }
        | Error::NoEquilibrium { time, .. }
        | Error::Evaluation { time, .. }
        | Error::NewtonDiverged { time, .. }
        | Error::StepTooSmall { time, .. }
        | Error::Coordinates { time, .. }
        | Error::Chattering { time, .. }
        | Error::TooManySubsteps { time, .. }
        | Error::RunAway { time, .. }
        | Error::Cancelled { time }
        | Error::Callback { time, .. } => Some(*time),
        _ => None,
    }
}

/// An argument that is refused: `name = value: expected ...`.
pub fn refused(name: &str, value: impl ToString, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// Results of the library in Python.
pub trait Raised<T> {
    /// The value, or the exception.
    fn raised(self) -> PyResult<T>;
}

impl<T> Raised<T> for biela::Result<T> {
    #[inline]
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}
