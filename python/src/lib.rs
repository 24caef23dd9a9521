//! The native part of the Python package `biela`: thin classes around the library. What people see is in `biela/*.py`.

mod analysis;
mod error;
mod instance;
mod model;
mod run;
mod study;

use pyo3::prelude::*;

/// The native part of `biela`.
#[pymodule]
fn _biela(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::NativeModel>()?;
    module.add_class::<instance::NativeInstance>()?;
    module.add_class::<study::NativeSweep>()
}
