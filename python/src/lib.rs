//! The native part of the Python package `biela`: thin classes around the library. What people see is in `biela/*.py`.

mod analysis;
mod error;
mod instance;
mod model;
mod run;
mod study;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The command `biela`: the exit status of a line of arguments that begins with the name of the program.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| biela_command::run_command(arguments))
}

/// The native part of `biela`.
#[pymodule]
fn _biela(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_class::<model::NativeModel>()?;
    module.add_class::<instance::NativeInstance>()?;
    module.add_class::<study::NativeSweep>()
}
