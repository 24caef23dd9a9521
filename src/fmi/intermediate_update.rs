//! Intermediate updates of FMI 3: the importer is called inside a step.
//!
//! ```text
//!   before a substep    the importer may set the inputs it named at instantiation, at the middle and the end of the substep (and
//!                       at the beginning of the first one): each becomes the parabola through these values
//!   after a substep     the importer may read the variables it named, with their derivatives, and may end the step early
//! ```
//!
//! The importer uses the usual functions, on an instance that is locked by the step. While its callback is running the step does
//! not touch the component; [`SubstepAccess`] lends it to these functions, one at a time by a mutex.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::types::fmi3IntermediateUpdateCallback;
use super::value_reference::{TIME, ValueReferences};
use crate::component::{Causality, Instance};
use crate::error::{Error, Result};
use crate::ffi::float_environment::in_host_environment;

/// What the importer may use during its callback, shared by the running step and the importer's calls.
#[derive(Clone)]
pub(super) struct IntermediateValues(Arc<Mutex<SubstepValues>>);

/// The values under the mutex.
pub(super) struct SubstepValues {
    references: Arc<ValueReferences>,
    /// The scalars named at instantiation.
    required: Vec<u32>,
    /// Those of them that are inputs.
    inputs: Vec<u32>,
    /// What is allowed now; `None` if no callback is running.
    access: Option<SubstepAccess>,
    /// Errors of calls during the update; the step logs them.
    errors: Vec<String>,
}

/// What a callback may do.
pub(super) enum SubstepAccess {
    /// Read the component.
    Read(ReadableSubstep),
    /// Set inputs, noted here.
    Set {
        /// Values by position in the list of required inputs.
        values: Vec<Option<f64>>,
    },
}

/// The component at the end of a substep.
pub(super) struct ReadableSubstep {
    instance: *mut Instance,
    /// The values of all variables before an event that the importer has still to handle; empty without one.
    left_limits: Vec<f64>,
}

// SAFETY: the pointer is used only under the mutex and only while the step waits for the callback to return; `Instance` may be
// used from any thread.
unsafe impl Send for SubstepValues {}

impl IntermediateValues {
    /// For the given scalars.
    pub fn new(references: Arc<ValueReferences>, component: &Instance, required: Vec<u32>) -> Self {
        let variables = component.variables();
        let is_input =
            |r: &u32| (variables.get(*r as usize)).is_some_and(|v| v.causality == Causality::Input);
        let mut inputs: Vec<u32> = required.iter().copied().filter(is_input).collect();
        inputs.sort_unstable();
        inputs.dedup();
        Self(Arc::new(Mutex::new(SubstepValues {
            references,
            required,
            inputs,
            access: None,
            errors: Vec::new(),
        })))
    }

    /// The values. A poisoned mutex is no problem: they are consistent after every statement.
    pub fn lock(&self) -> MutexGuard<'_, SubstepValues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inputs that the importer wants to set inside steps.
    pub fn inputs(&self) -> Vec<u32> {
        self.lock().inputs.clone()
    }

    /// Calls the importer after a substep that ends at `time`.
    pub fn call_after_substep(
        &self,
        update: &IntermediateUpdate,
        instance: &mut Instance,
        left_limits: Vec<f64>,
        errors: &mut Vec<String>,
    ) -> EarlyReturn {
        let time = instance.time();
        let access = SubstepAccess::Read(ReadableSubstep {
            instance: std::ptr::from_mut(instance),
            left_limits,
        });
        let (answer, _) = self.call(update, time, access, errors);
        answer
    }

    /// Asks the importer for the values of its inputs at `time`; `None` for those it does not set.
    pub fn ask_inputs(
        &self,
        update: &IntermediateUpdate,
        time: f64,
        errors: &mut Vec<String>,
    ) -> Vec<Option<f64>> {
        let count = self.lock().inputs.len();
        let access = SubstepAccess::Set {
            values: vec![None; count],
        };
        match self.call(update, time, access, errors) {
            (_, Some(SubstepAccess::Set { values })) => values,
            _ => vec![None; count],
        }
    }

    fn call(
        &self,
        update: &IntermediateUpdate,
        time: f64,
        access: SubstepAccess,
        errors: &mut Vec<String>,
    ) -> (EarlyReturn, Option<SubstepAccess>) {
        let reads = matches!(access, SubstepAccess::Read(_));
        let may_end = reads && update.early_return_allowed;
        self.lock().access = Some(access);
        // A C bool, written by the importer: read as a number.
        let (mut requested, mut early_return_time) = (0_u8, time);
        // SAFETY: the importer's function with its environment and pointers to locals.
        in_host_environment(|| unsafe {
            (update.callback)(
                update.environment,
                time,
                !reads,
                reads,
                reads,
                may_end,
                (&raw mut requested).cast(),
                &raw mut early_return_time,
            );
        });
        let mut shared = self.lock();
        let access = shared.access.take();
        errors.append(&mut shared.errors);
        let answer = (requested != 0 && may_end).then_some(early_return_time);
        (EarlyReturn(answer), access)
    }
}

/// The time at which the importer wants the step to end, if it does.
pub(super) struct EarlyReturn(pub Option<f64>);

impl SubstepValues {
    /// No update is running any more.
    pub fn close(&mut self) {
        self.access = None;
    }

    /// Is an update running?
    pub fn is_open(&self) -> bool {
        self.access.is_some()
    }

    /// Reads during an update; on failure `values` is unchanged and the step logs the error.
    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> bool {
        let result = self.try_get(references, values);
        self.noted(result)
    }

    /// Sets inputs during an update; on failure nothing is set and the step logs the error.
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> bool {
        let result = self.try_set(references, values);
        self.noted(result)
    }

    /// Reads time derivatives during an update; on failure `values` is unchanged and the step logs the error.
    pub fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> bool {
        let result = self.try_derivatives(references, orders, values);
        self.noted(result)
    }

    fn noted(&mut self, result: Result<()>) -> bool {
        match result {
            Ok(()) => true,
            Err(error) => {
                self.errors.push(error.to_string());
                false
            }
        }
    }

    /// The scalars behind the references, all of them required at instantiation; time only if it `may_be_time`.
    fn scalars(&self, references: &[u32], may_be_time: bool) -> Result<Vec<u32>> {
        let mut scalars = Vec::new();
        for reference in references {
            self.references.expand(*reference, true, &mut scalars)?;
        }
        for scalar in &scalars {
            if *scalar == TIME && may_be_time || self.required.contains(scalar) {
                continue;
            }
            let name = match *scalar {
                TIME => "time",
                _ => self.references.name(*scalar).unwrap_or(""),
            };
            return Err(Error::Argument {
                name: "intermediate variable".to_owned(),
                value: format!("\"{name}\""),
                expected: "one that was named in requiredIntermediateVariables".to_owned(),
            });
        }
        Ok(scalars)
    }

    /// The component, if the importer may read it now.
    fn readable(&mut self) -> Result<(&mut Instance, &[f64])> {
        match &mut self.access {
            Some(SubstepAccess::Read(read)) => {
                // SAFETY: the step waits for the callback to return and does not use the component; the mutex makes this the only
                // call that does. The pointer is removed under the mutex before the step goes on.
                Ok((unsafe { &mut *read.instance }, &read.left_limits))
            }
            _ => Err(Error::CallOrder {
                call: "reading in an intermediate update",
                reason: "the importer is asked for inputs (intermediateVariableGetAllowed = false)",
            }),
        }
    }

    fn try_get(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        let scalars = self.scalars(references, true)?;
        expect_count(scalars.len(), values.len())?;
        let (instance, left) = self.readable()?;
        let time = instance.time();
        let mut found = Vec::with_capacity(scalars.len());
        for scalar in &scalars {
            let mut value = [0.0];
            match (*scalar, left.get(*scalar as usize)) {
                (TIME, _) => value = [time],
                (_, Some(left)) => value = [*left],
                _ => instance.get_real(&[*scalar], &mut value)?,
            }
            found.extend(value);
        }
        values.copy_from_slice(&found);
        Ok(())
    }

    fn try_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<()> {
        let mut scalars = Vec::new();
        let mut scalar_orders = Vec::new();
        for (reference, order) in references.iter().zip(orders) {
            scalars.extend(self.scalars(&[*reference], false)?);
            scalar_orders.resize(scalars.len(), u32::try_from(*order).unwrap_or(u32::MAX));
        }
        expect_count(scalars.len(), values.len())?;
        let (instance, left) = self.readable()?;
        if !left.is_empty() {
            return Err(no_derivatives_before_event());
        }
        instance.output_derivatives(&scalars, &scalar_orders, values)
    }

    fn try_set(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        expect_count(references.len(), values.len())?;
        let mut positions = Vec::with_capacity(references.len());
        for (reference, value) in references.iter().zip(values) {
            let name = self.references.name(*reference).unwrap_or("").to_owned();
            let Ok(position) = self.inputs.binary_search(reference) else {
                return Err(Error::NotSettable {
                    name,
                    reason: "inside a step only inputs can be set that were named in \
                             requiredIntermediateVariables"
                        .to_owned(),
                });
            };
            if !value.is_finite() {
                let value = value.to_string();
                return Err(Error::NotFinite { name, value });
            }
            positions.push(position);
        }
        let Some(SubstepAccess::Set { values: noted }) = &mut self.access else {
            return Err(Error::CallOrder {
                call: "setting in an intermediate update",
                reason: "no inputs are asked for (intermediateVariableSetRequested = false)",
            });
        };
        for (position, value) in positions.into_iter().zip(values) {
            noted[position] = Some(*value);
        }
        Ok(())
    }
}

/// At an event only values have a left limit.
pub(super) fn no_derivatives_before_event() -> Error {
    Error::CallOrder {
        call: "reading a derivative",
        reason: "an event is to be handled; call fmi3UpdateDiscreteStates in event mode first",
    }
}

fn expect_count(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Argument {
        name: "number of values".to_owned(),
        value: found.to_string(),
        expected: expected.to_string(),
    })
}

/// The importer's callback.
#[derive(Clone, Copy)]
pub(super) struct IntermediateUpdate {
    pub callback: fmi3IntermediateUpdateCallback,
    pub environment: *mut c_void,
    pub early_return_allowed: bool,
}
