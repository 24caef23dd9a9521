//! Inputs that a host has set between steps, passed to the instance before its next use. Hosts set inputs one at a time;
//! noting them down cannot panic and calculates nothing, so the gates at the C boundary need no guard for it.

use super::{Causality, Instance};
use crate::error::Result;

/// Is the value finite? By its bits: the gate has not set the floating-point environment here, and the host's may trap.
#[inline]
fn is_finite(value: f64) -> bool {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    value.to_bits() & EXPONENT != EXPONENT
}

/// Inputs that have been set but not yet passed to the instance.
pub(crate) struct PendingInputs {
    /// One entry for each variable.
    entries: Vec<PendingInput>,
    /// References of the pending inputs, each once; never more than there are inputs.
    references: Vec<u32>,
    /// Workspace of `flush`.
    values: Vec<f64>,
}

#[derive(Clone, Copy, Default)]
struct PendingInput {
    value: f64,
    /// The variable is an input without bounds: any finite value is legal.
    unbounded_input: bool,
    pending: bool,
}

impl PendingInputs {
    /// No input is pending.
    pub fn new(instance: &Instance) -> Self {
        let entries: Vec<PendingInput> = instance
            .variables()
            .iter()
            .map(|v| PendingInput {
                unbounded_input: v.causality == Causality::Input
                    && v.min.is_none()
                    && v.max.is_none(),
                ..PendingInput::default()
            })
            .collect();
        let inputs = entries.iter().filter(|entry| entry.unbounded_input).count();
        Self {
            entries,
            references: Vec::with_capacity(inputs),
            values: Vec::with_capacity(inputs),
        }
    }

    /// No input is pending: the values of the instance are those that the host has set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// Notes inputs down if all of them are inputs without bounds and all values finite; else changes nothing and returns
    /// false.
    #[inline]
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> bool {
        let legal = |r: &u32, v: &f64| {
            (self.entries.get(*r as usize)).is_some_and(|entry| entry.unbounded_input)
                && is_finite(*v)
        };
        let same_length = references.len() == values.len();
        if !same_length || !references.iter().zip(values).all(|(r, v)| legal(r, v)) {
            return false;
        }
        for (reference, value) in references.iter().zip(values) {
            if let Some(entry) = self.entries.get_mut(*reference as usize) {
                entry.value = *value;
                if !entry.pending {
                    entry.pending = true;
                    self.references.push(*reference); // within its capacity: each input is in it once
                }
            }
        }
        true
    }

    /// Passes the pending inputs to the instance.
    #[inline]
    pub fn flush(&mut self, instance: &mut Instance) -> Result<()> {
        match self.references.is_empty() {
            true => Ok(()),
            false => self.pass_to(instance),
        }
    }

    fn pass_to(&mut self, instance: &mut Instance) -> Result<()> {
        self.values.clear();
        for reference in &self.references {
            let entry = &mut self.entries[*reference as usize];
            self.values.push(entry.value);
            entry.pending = false;
        }
        let result = instance.set_real(&self.references, &self.values);
        self.references.clear();
        result
    }

    /// Drops the pending inputs.
    pub fn clear(&mut self) {
        for reference in &self.references {
            self.entries[*reference as usize].pending = false;
        }
        self.references.clear();
    }
}
