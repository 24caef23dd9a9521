//! An instance that the caller steps, and its saved states.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, PoisonError};

use biela::{Causality, Instance};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::analysis::{self, ModeParts};
use crate::error::Raised;
use crate::model::{Assignments, InputLaws, NativeModel};
use crate::run;

/// FNV-1a: names are short.
struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }
}

type Names = HashMap<Box<str>, u32, BuildHasherDefault<NameHasher>>;

/// A mechanism that is initialised, set, stepped and read.
#[pyclass(name = "NativeInstance", module = "biela._biela", subclass)]
pub struct NativeInstance {
    /// Python may share the object; `get_mut` needs no lock where the object is borrowed alone.
    instance: Mutex<Instance>,
    names: Names,
}

impl NativeInstance {
    fn around(instance: Instance) -> Self {
        let names = (0..).zip(instance.variables());
        let names = names
            .map(|(reference, variable)| (variable.name.as_str().into(), reference))
            .collect();
        Self {
            instance: Mutex::new(instance),
            names,
        }
    }

    #[inline]
    fn alone(&mut self) -> &mut Instance {
        self.instance
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn reference(&mut self, name: &str) -> PyResult<u32> {
        match self.names.get(name) {
            Some(reference) => Ok(*reference),
            // It says which name is near.
            None => self.alone().find(name).raised(),
        }
    }

    fn references(&mut self, names: &[String]) -> PyResult<Vec<u32>> {
        names.iter().map(|name| self.reference(name)).collect()
    }
}

#[pymethods]
impl NativeInstance {
    #[new]
    fn new(
        py: Python<'_>,
        model: &NativeModel,
        set: Assignments,
        inputs: InputLaws,
    ) -> PyResult<Self> {
        let model = model.changed(set, inputs)?;
        let instance = py.detach(|| Instance::from_model(model)).raised()?;
        Ok(Self::around(instance))
    }

    /// Value of a variable, in its unit.
    #[inline]
    fn __getitem__(&mut self, name: &Bound<'_, PyString>) -> PyResult<f64> {
        let reference = self.reference(name.to_str()?)?;
        let mut value = [0.0];
        self.alone().get_real(&[reference], &mut value).raised()?;
        Ok(value[0])
    }

    /// Sets an input or a parameter, in its unit.
    fn __setitem__(&mut self, name: &Bound<'_, PyString>, value: f64) -> PyResult<()> {
        let reference = self.reference(name.to_str()?)?;
        self.alone().set_real(&[reference], &[value]).raised()
    }

    fn _initialize(
        &mut self,
        py: Python<'_>,
        start: Option<f64>,
        stop: f64,
        tolerance: f64,
    ) -> PyResult<()> {
        let start = start.unwrap_or(self.alone().model().experiment.start);
        let instance = self.alone();
        py.detach(|| instance.initialize(start, stop, tolerance))
            .raised()
    }

    /// Advances by `h` (s); the other threads of Python go on meanwhile. Returns the time (s).
    fn step(&mut self, py: Python<'_>, h: f64) -> PyResult<f64> {
        let instance = self.alone();
        let t = instance.time();
        py.detach(|| instance.step(t, h)).raised()?;
        Ok(self.alone().time())
    }

    /// Advances to the time `t` (s). Returns the time.
    fn step_to(&mut self, py: Python<'_>, t: f64) -> PyResult<f64> {
        let instance = self.alone();
        let now = instance.time();
        py.detach(|| instance.step(now, t - now)).raised()?;
        Ok(self.alone().time())
    }

    /// Time (s).
    #[getter]
    fn time(&mut self) -> f64 {
        self.alone().time()
    }

    /// Values of several variables.
    fn _get(&mut self, names: Vec<String>) -> PyResult<Vec<f64>> {
        let references = self.references(&names)?;
        let mut values = vec![0.0; references.len()];
        self.alone().get_real(&references, &mut values).raised()?;
        Ok(values)
    }

    /// Sets several inputs and parameters at once.
    fn _set(&mut self, names: Vec<String>, values: Vec<f64>) -> PyResult<()> {
        let references = self.references(&names)?;
        self.alone().set_real(&references, &values).raised()
    }

    /// The time derivative of an output (per s, or per s² with order 2).
    #[pyo3(signature = (name, order = 1))]
    fn derivative(&mut self, name: &str, order: u32) -> PyResult<f64> {
        let reference = self.reference(name)?;
        let mut value = [0.0];
        self.alone()
            .output_derivatives(&[reference], &[order], &mut value)
            .raised()?;
        Ok(value[0])
    }

    /// The change of each `of` for a unit change of each `by`, row by row.
    fn _sensitivity(&mut self, of: Vec<String>, by: Vec<String>) -> PyResult<Vec<Vec<f64>>> {
        let (unknowns, knowns) = (self.references(&of)?, self.references(&by)?);
        let mut rows = vec![vec![0.0; knowns.len()]; unknowns.len()];
        let mut column = vec![0.0; unknowns.len()];
        for (j, known) in knowns.iter().enumerate() {
            self.alone()
                .directional_derivative(&unknowns, &[*known], &[1.0], &mut column)
                .raised()?;
            for (row, value) in rows.iter_mut().zip(&column) {
                row[j] = *value;
            }
        }
        Ok(rows)
    }

    /// Back to the state after creation.
    fn reset(&mut self) {
        self.alone().reset();
    }

    /// The present state as bytes.
    fn _save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.alone().save().raised()?;
        Ok(PyBytes::new(py, &state.to_bytes()))
    }

    /// Continues from a state.
    fn _restore(&mut self, bytes: &[u8]) -> PyResult<()> {
        let state = self.alone().deserialize(bytes).raised()?;
        self.alone().restore(&state).raised()
    }

    /// Counters since the start.
    #[getter]
    fn statistics<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        run::statistics(py, &self.alone().statistics(), self.alone().energy_drift())
    }

    /// Moves to the static equilibrium.
    fn _equilibrium<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        analysis::equilibrium(py, self.alone())
    }

    /// The lowest modes.
    fn _modes(&mut self, py: Python<'_>, count: Option<usize>) -> PyResult<Vec<ModeParts>> {
        analysis::modes(py, self.alone(), count.unwrap_or(usize::MAX))
    }

    /// The linear model.
    fn _linearize<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        analysis::linearize(py, self.alone())
    }

    /// The descriptor form.
    fn _descriptor_form<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        analysis::descriptor_form(py, self.alone())
    }

    fn _names(&mut self, causality: &str) -> Vec<String> {
        let asked = match causality {
            "input" => Causality::Input,
            "output" => Causality::Output,
            _ => Causality::Parameter,
        };
        let of = self
            .alone()
            .variables()
            .iter()
            .filter(|variable| variable.causality == asked);
        of.map(|variable| variable.name.clone()).collect()
    }
}
