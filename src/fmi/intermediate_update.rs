//! Intermediate updates of FMI 3: after each substep the importer is called, may read the variables it required at
//! instantiation, and may end the step early.
//!
//! The importer reads with the usual functions, on an instance that is locked by the step. So that there is never a second
//! `&mut` to the FMU, the step copies the values to [`IntermediateValues`], and the getters read them there.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::types::fmi3IntermediateUpdateCallback;
use super::value_reference::{TIME, ValueReferences};
use crate::component::{Observer, StepProbe};
use crate::error::{Error, Result};

/// Values of the last substep, shared by a running step and the calls of its importer.
#[derive(Clone)]
pub(super) struct IntermediateValues(Arc<Mutex<SubstepValues>>);

/// The values under the mutex.
pub(super) struct SubstepValues {
    references: Arc<ValueReferences>,
    /// The importer is being called: values may be read.
    open: bool,
    time: f64,
    /// The scalars required at instantiation.
    scalars: Vec<u32>,
    values: Vec<f64>,
    /// Errors of reads during the update; the step logs them.
    errors: Vec<String>,
}

impl IntermediateValues {
    /// For the given scalars.
    pub fn new(references: Arc<ValueReferences>, scalars: Vec<u32>) -> Self {
        Self(Arc::new(Mutex::new(SubstepValues {
            references,
            open: false,
            time: 0.0,
            values: vec![0.0; scalars.len()],
            scalars,
            errors: Vec::new(),
        })))
    }

    /// The values. A poisoned mutex is no problem: they are consistent after every statement.
    pub fn lock(&self) -> MutexGuard<'_, SubstepValues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubstepValues {
    /// No update is running any more.
    pub fn close(&mut self) {
        self.open = false;
    }

    /// Is an update running?
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Reads during an update; on failure `values` is unchanged and the step logs the error.
    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> bool {
        match self.find(references, values.len()) {
            Ok(found) => {
                values.copy_from_slice(&found);
                true
            }
            Err(error) => {
                self.errors.push(error.to_string());
                false
            }
        }
    }

    fn find(&self, references: &[u32], count: usize) -> Result<Vec<f64>> {
        let mut scalars = Vec::new();
        for reference in references {
            self.references.expand(*reference, true, &mut scalars)?;
        }
        if scalars.len() != count {
            return Err(Error::Argument {
                name: "number of values".to_owned(),
                value: count.to_string(),
                expected: scalars.len().to_string(),
            });
        }
        let value = |scalar: &u32| {
            if *scalar == TIME {
                return Ok(self.time);
            }
            let index = self.scalars.iter().position(|required| required == scalar);
            index
                .map(|i| self.values[i])
                .ok_or_else(|| Error::Argument {
                    name: "intermediate variable".to_owned(),
                    value: format!("\"{}\"", self.references.name(*scalar).unwrap_or("")),
                    expected: "one that was named in requiredIntermediateVariables".to_owned(),
                })
        };
        scalars.iter().map(value).collect()
    }
}

/// The importer's callback.
#[derive(Clone, Copy)]
pub(super) struct IntermediateUpdate {
    pub callback: fmi3IntermediateUpdateCallback,
    pub environment: *mut c_void,
    pub early_return_allowed: bool,
}

/// Calls the importer after each substep.
pub(super) struct UpdateObserver<'s> {
    shared: &'s IntermediateValues,
    update: IntermediateUpdate,
    /// The time at which the importer wants the step to end, if it does.
    pub requested_end: Option<f64>,
    /// Errors to be logged after the step.
    pub errors: Vec<String>,
}

impl<'s> UpdateObserver<'s> {
    /// For one communication step.
    pub fn new(shared: &'s IntermediateValues, update: IntermediateUpdate) -> Self {
        Self {
            shared,
            update,
            requested_end: None,
            errors: Vec::new(),
        }
    }
}

impl Observer for UpdateObserver<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        let time = probe.end();
        {
            let mut shared = self.shared.lock();
            let SubstepValues {
                scalars, values, ..
            } = &mut *shared;
            probe.values(time, scalars, values)?;
            shared.time = time;
            shared.open = true;
        }
        // A C bool, written by the importer: read as a number.
        let (mut requested, mut early_return_time) = (0_u8, time);
        // SAFETY: the importer's function with its environment and pointers to locals.
        unsafe {
            (self.update.callback)(
                self.update.environment,
                time,
                false,
                true,
                true,
                self.update.early_return_allowed,
                (&raw mut requested).cast(),
                &raw mut early_return_time,
            );
        }
        let mut shared = self.shared.lock();
        shared.open = false;
        self.errors.append(&mut shared.errors);
        if requested != 0 && self.update.early_return_allowed {
            self.requested_end = Some(early_return_time);
            return Err(Error::Cancelled { time });
        }
        Ok(())
    }
}
