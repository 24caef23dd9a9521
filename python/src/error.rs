//! Errors of the library as exceptions.

use biela::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception of an error: `biela.ModelError` for mistakes of a model or of an argument, `biela.SimulationError` for runs that
/// stop. Both carry `line`, `column` (from 1, `None` without a text), `culprit` and `time` (s).
pub fn exception(error: &Error) -> PyErr {
    Python::attach(|py| match build(py, error) {
        Ok(exception) => exception,
        Err(failure) => failure,
    })
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let module = py.import("biela._errors")?;
    let name = match is_of_simulation(error) {
        true => "SimulationError",
        false => "ModelError",
    };
    let (line, column) = position(error);
    let details = PyDict::new(py);
    details.set_item("line", line)?;
    details.set_item("column", column)?;
    details.set_item("culprit", culprit(error))?;
    details.set_item("time", time(error))?;
    let exception = module
        .getattr(name)?
        .call((error.to_string(),), Some(&details))?;
    Ok(PyErr::from_value(exception))
}

fn is_of_simulation(error: &Error) -> bool {
    matches!(
        error,
        Error::Assembly { .. }
            | Error::SingularMass { .. }
            | Error::Evaluation { .. }
            | Error::NewtonDiverged { .. }
            | Error::StepTooSmall { .. }
            | Error::Coordinates { .. }
            | Error::Chattering { .. }
            | Error::TooManySubsteps { .. }
            | Error::RunAway { .. }
            | Error::Cancelled { .. }
            | Error::Callback { .. }
            | Error::OutOfMemory { .. }
            | Error::Internal { .. }
    )
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
        Error::Argument { name, .. }
        | Error::UnknownVariable { name, .. }
        | Error::NotSettable { name, .. }
        | Error::NotFinite { name, .. } => Some(name.clone()),
        Error::Assembly { culprits, .. } => culprits.first().cloned(),
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
        Error::Evaluation { time, .. }
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

/// A mistake of the caller that the library does not know.
pub fn refused(sentence: String) -> PyErr {
    PyValueError::new_err(sentence)
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
