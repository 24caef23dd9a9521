//! Equilibrium, modes and linear models of an instance at its present time.

use biela::{Instance, StateSpace};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Raised;

/// Moves the instance to the static equilibrium next to its position, and tells what was found.
pub fn equilibrium<'py>(py: Python<'py>, instance: &mut Instance) -> PyResult<Bound<'py, PyDict>> {
    let report = py.detach(|| instance.equilibrium()).raised()?;
    let found = PyDict::new(py);
    found.set_item("steps", report.steps)?;
    found.set_item("moved", report.moved)?;
    found.set_item("relaxed", report.relaxed)?;
    found.set_item("free", report.free)?;
    found.set_item("unstable", report.unstable)?;
    found.set_item("redundant", report.redundant)?;
    Ok(found)
}

/// An eigenvalue or an amplitude: real and imaginary part.
type ComplexParts = (f64, f64);
/// Frequency (Hz), damping ratio, eigenvalue (1/s), shape, shares of the kinetic energy.
pub type ModeParts = (
    f64,
    f64,
    ComplexParts,
    Vec<(String, ComplexParts)>,
    Vec<(String, f64)>,
);

/// The modes, the lowest first.
pub fn modes(py: Python<'_>, instance: &mut Instance, count: usize) -> PyResult<Vec<ModeParts>> {
    let modes = py.detach(|| instance.modes(count)).raised()?;
    let parts = |[re, im]: [f64; 2]| (re, im);
    let one = |mode: biela::Mode| {
        let shape = mode.shape.into_iter().map(|(name, x)| (name, parts(x)));
        (
            mode.frequency,
            mode.damping,
            parts(mode.eigenvalue),
            shape.collect(),
            mode.energy,
        )
    };
    Ok(modes.into_iter().map(one).collect())
}

/// The matrices and names of the linear model.
pub fn linearize<'py>(py: Python<'py>, instance: &mut Instance) -> PyResult<Bound<'py, PyDict>> {
    let StateSpace {
        time,
        states,
        inputs,
        outputs,
        a,
        b,
        c,
        d,
    } = py.detach(|| instance.linearize()).raised()?;
    let (n, m, p) = (states.len(), inputs.len(), outputs.len());
    let found = PyDict::new(py);
    found.set_item("time", time)?;
    found.set_item("states", states)?;
    found.set_item("inputs", inputs)?;
    found.set_item("outputs", outputs)?;
    for (name, values, shape) in [
        ("a", a, [n, n]),
        ("b", b, [n, m]),
        ("c", c, [p, n]),
        ("d", d, [p, m]),
    ] {
        found.set_item(name, PyArray1::from_vec(py, values).reshape(shape)?)?;
    }
    Ok(found)
}

/// Names of z and the matrices of E ż = F z.
pub fn descriptor_form<'py>(
    py: Python<'py>,
    instance: &mut Instance,
) -> PyResult<Bound<'py, PyDict>> {
    let model = py.detach(|| instance.descriptor_form()).raised()?;
    let n = model.names.len();
    let found = PyDict::new(py);
    found.set_item("names", model.names)?;
    for (name, values) in [("e", model.e), ("f", model.f)] {
        found.set_item(name, PyArray1::from_vec(py, values).reshape([n, n])?)?;
    }
    Ok(found)
}
