//! Setting and getting variables. A set is pending until the next step or the next read of an output; then accelerations and
//! reactions are computed with the new values,
//!
//! ```text
//!   M a + Gᵀ λ = f(q, v, t, u_new, p_new),     q and v unchanged.
//! ```

use super::Instance;
use super::input::{Extrapolation, InputHistory};
use super::instance_state::{InstancePhase, InstanceState};
use super::log::{LogCategory, LogLevel};
use super::quantity_point::{Multipliers, environment};
use super::variables::VariableSource;
use crate::error::{Error, Result};

impl Instance {
    /// Sets inputs and parameters from the present time on; on failure nothing is set. An input is held at the value, or
    /// extrapolated as set by [`Instance::set_extrapolation`]; derivatives given earlier end. Setting a variable to its present
    /// value changes no bit of the results.
    ///
    /// In a running instance the energy change by a parameter counts as supplied.
    #[inline]
    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        let outcome = self.store_values(references, values);
        self.log_failure(LogCategory::Input, &outcome);
        if self.companion.is_some() && outcome.is_ok() {
            self.with_companion(|companion| companion.set_real(references, values));
        }
        outcome
    }

    #[inline]
    fn store_values(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        for (&reference, &value) in references.iter().zip(values) {
            if let VariableSource::Parameter(i) = self.catalogue.settable(reference, value)?
                && self.created.is_some()
            {
                self.check_definition(i, value)?;
            }
        }
        let now = self.time();
        for (&reference, &value) in references.iter().zip(values) {
            match self.catalogue.source(reference)? {
                VariableSource::Input(i) => {
                    let taylor = self.state.extrapolated(i, now, value);
                    self.state.set_input(i, taylor);
                }
                VariableSource::Parameter(i) => self.state.set_parameter(i, value),
                _ => unreachable!("outputs are not settable"),
            }
        }
        self.scratch.cache.invalidate();
        Ok(())
    }

    /// Sets derivatives of inputs (order 1 or 2; per s, per s²) from the present time on; on failure nothing is set.
    /// The value and the other derivatives keep their present values: set the value first if it is to change.
    pub fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[u32],
        values: &[f64],
    ) -> Result<()> {
        let outcome = self.store_derivatives(references, orders, values);
        self.log_failure(LogCategory::Input, &outcome);
        if self.companion.is_some() && outcome.is_ok() {
            self.with_companion(|companion| {
                companion.set_input_derivatives(references, orders, values)
            });
        }
        outcome
    }

    fn store_derivatives(
        &mut self,
        references: &[u32],
        orders: &[u32],
        values: &[f64],
    ) -> Result<()> {
        same_length(references.len(), values.len())?;
        same_length(references.len(), orders.len())?;
        for i in 0..references.len() {
            (self.catalogue).derivable(references[i], orders[i], values[i])?;
        }
        let now = self.time();
        for i in 0..references.len() {
            let input = (self.catalogue).derivable(references[i], orders[i], values[i])?;
            let mut taylor = self.state.pending.at(input, now);
            taylor[orders[i] as usize] = values[i];
            self.state.set_input(input, taylor);
        }
        self.scratch.cache.invalidate();
        Ok(())
    }

    /// Sets how inputs continue from a value that is set from now on: held (the default), or extrapolated by the line or parabola
    /// through the last values of the host, as far as there are enough. An input that is not set again follows its line or
    /// parabola indefinitely. Derivatives given by [`Instance::set_input_derivatives`] replace those of the same order. Part of
    /// the saved state; a reset restores the default.
    pub fn set_extrapolation(&mut self, extrapolation: Extrapolation) {
        let now = self.time();
        let InstanceState {
            pending, history, ..
        } = &mut self.state;
        for (i, history) in history.iter_mut().enumerate() {
            *history = InputHistory::default();
            if extrapolation != Extrapolation::Hold {
                history.add(now, pending.at(i, now)[0]);
            }
        }
        self.state.extrapolation = extrapolation;
        self.with_companion(|companion| {
            companion.set_extrapolation(extrapolation);
            Ok(())
        });
    }

    /// The extrapolation of inputs in use.
    pub fn extrapolation(&self) -> Extrapolation {
        self.state.extrapolation
    }

    /// Reads variables; on failure `values` is unchanged. Outputs exist from `initialize` on; a read applies pending inputs.
    #[inline]
    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        if self.scratch.cache.read(references, values) {
            return Ok(());
        }
        let outcome = self.read(references, values);
        self.log_failure(LogCategory::Step, &outcome);
        if outcome.is_ok() {
            self.scratch.cache.store(references, values);
        }
        outcome
    }

    fn read(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        let mut outputs = false;
        let mut multipliers = Multipliers::OfState;
        self.scratch.outputs.quantities.clear();
        for &reference in references {
            match self.catalogue.source(reference)? {
                VariableSource::Output(quantity) => {
                    outputs = true;
                    self.scratch.outputs.quantities.push(quantity);
                    if quantity.is_reaction() {
                        multipliers = Multipliers::MinimumNorm;
                    }
                }
                VariableSource::ErrorBar(_) | VariableSource::AccuracyKept => outputs = true,
                VariableSource::Input(_) | VariableSource::Parameter(_) => {}
            }
        }
        if outputs {
            self.require_running("reading an output")?;
            self.apply_pending_inputs()?;
        }
        if multipliers == Multipliers::MinimumNorm {
            self.compute_reactions()?;
        }
        let mut computed = std::mem::take(&mut self.scratch.outputs);
        if !computed.quantities.is_empty() {
            let (point, mechanism) = self.present_point(multipliers);
            computed.evaluate(&point, mechanism);
        }
        let mut computed_values = computed.values.iter();
        self.scratch.values.clear();
        for &reference in references {
            let value = match self.catalogue.source(reference)? {
                VariableSource::Input(i) => self.state.pending.at(i, self.time())[0],
                VariableSource::Parameter(i) => self.state.pending.parameters[i],
                VariableSource::Output(_) => *computed_values.next().expect("one for each"),
                VariableSource::ErrorBar(i) => self.stated_error(i),
                VariableSource::AccuracyKept => self.accuracy_kept(),
            };
            self.scratch.values.push(value);
        }
        self.scratch.outputs = computed;
        self.copy_finite_values(references, self.time(), values)
    }

    /// Copies the values of the scratch to the caller if all of them are finite.
    #[inline]
    pub(super) fn copy_finite_values(
        &self,
        references: &[u32],
        t: f64,
        values: &mut [f64],
    ) -> Result<()> {
        for (&reference, value) in references.iter().zip(&self.scratch.values) {
            if !value.is_finite() && !self.catalogue.may_be_infinite(reference) {
                return Err(Error::Evaluation {
                    time: t,
                    culprit: self.catalogue.name(reference).to_string(),
                });
            }
        }
        values.copy_from_slice(&self.scratch.values);
        Ok(())
    }

    /// Applies inputs and parameters set since the last step. On failure they stay pending.
    #[inline]
    pub(super) fn apply_pending_inputs(&mut self) -> Result<()> {
        if self.state.pending == self.state.applied {
            return Ok(());
        }
        let before = self.total_energy();
        let counters = self.state.motion.statistics;
        let env = environment(&self.state.pending);
        let state = &mut self.state.motion;
        let moved = match self
            .integrator
            .apply_input_jump(&*self.mechanism, &env, state)
        {
            Ok(moved) => moved,
            Err(error) => {
                self.state.motion.statistics = counters;
                return Err(error);
            }
        };
        if moved {
            self.state.motion.statistics.events += 1;
            self.log(
                LogLevel::Warning,
                LogCategory::Input,
                format_args!(
                    "an input changed a position discontinuously; the mechanism was assembled again"
                ),
            );
        } else if self.is_logged(LogLevel::Debug, LogCategory::Input) {
            let names = self.changed_names();
            self.log(
                LogLevel::Debug,
                LogCategory::Input,
                format_args!("set: {names}"),
            );
        }
        self.state.ahead.leave();
        self.state.applied.copy_from(&self.state.pending);
        self.scratch.cache.invalidate();
        // Work of the change itself, for example of a spring's rest length.
        self.state.motion.supplied += self.total_energy() - before;
        Ok(())
    }

    /// Names of the inputs and parameters whose pending values differ from the applied ones.
    fn changed_names(&self) -> String {
        let InstanceState {
            pending, applied, ..
        } = &self.state;
        let inputs = (pending.inputs.iter().zip(&applied.inputs)).map(|(a, b)| a != b);
        let parameters = (pending.parameters.iter().zip(&applied.parameters)).map(|(a, b)| a != b);
        let inputs = inputs.zip(self.model.inputs.iter().map(|i| &i.name));
        let parameters = parameters.zip(self.model.parameters.iter().map(|p| &p.name));
        let names = inputs.chain(parameters).filter(|(changed, _)| *changed);
        let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
        names.join(", ")
    }
}

impl InstanceState {
    /// Value and derivatives of input `i` when the host sets `value` at `now`.
    #[inline]
    fn extrapolated(&mut self, i: usize, now: f64, value: f64) -> [f64; 3] {
        if self.extrapolation == Extrapolation::Hold {
            return [value, 0.0, 0.0];
        }
        self.history[i].add(now, value);
        self.history[i].taylor(self.extrapolation)
    }

    /// Value and derivatives of input `i` if the host were to set it at `now`, changed by `change`: if inputs are held, from its
    /// present value and with the derivatives that it has; if they are extrapolated, from the value that the host has set last and
    /// with the derivatives that follow.
    pub fn taylor_after_change(&self, i: usize, now: f64, change: f64) -> [f64; 3] {
        let [present, first, second] = self.applied.at(i, now);
        if self.extrapolation == Extrapolation::Hold || self.history[i].count == 0 {
            return [present + change, first, second];
        }
        let mut history = self.history[i];
        history.add(now, history.u[0] + change);
        history.taylor(self.extrapolation)
    }

    /// Begins the histories at the start time with the values set before.
    pub fn start_histories(&mut self, start: f64) {
        for (history, input) in self.history.iter_mut().zip(&self.pending.inputs) {
            *history = InputHistory::default();
            if self.extrapolation != Extrapolation::Hold {
                history.add(start, input.taylor[0]);
            }
        }
    }

    /// Sets value and derivatives of input `i` from now on.
    #[inline]
    fn set_input(&mut self, i: usize, taylor: [f64; 3]) {
        let now = self.motion.t;
        let applied = &self.applied.inputs[i];
        let continues = applied.piece.is_none() && applied.equals_at(now, taylor);
        let pending = &mut self.pending;
        match self.phase {
            // The same value and derivatives: the applied polynomial continues, with its rounding.
            InstancePhase::Running if continues => pending.inputs[i].clone_from(applied),
            InstancePhase::Running => pending.continue_from(i, now, taylor),
            InstancePhase::Created => {
                let input = &mut pending.inputs[i];
                (input.since, input.taylor, input.piece) = (now, taylor, None);
            }
        }
    }

    #[inline]
    fn set_parameter(&mut self, i: usize, value: f64) {
        self.pending.parameters[i] = value;
    }
}

/// An error unless there is one value for each reference.
#[inline]
pub(super) fn same_length(references: usize, values: usize) -> Result<()> {
    match references == values {
        true => Ok(()),
        false => Err(length_mismatch(references, values)),
    }
}

#[cold]
fn length_mismatch(references: usize, values: usize) -> Error {
    Error::Argument {
        name: "number of values".to_string(),
        value: values.to_string(),
        expected: format!("{references}, one for each value reference"),
    }
}
