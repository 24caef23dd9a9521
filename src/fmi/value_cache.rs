//! The short way for the two calls that importers make most: reading values that have been read since anything changed,
//! and setting inputs. Everything else goes the long way through the component, and so does the first read.
//!
//! Nothing in here can panic, so the gate lets it pass without its guard.

use crate::component::{Causality, Instance};
use crate::error::Result;

/// Values read before, and inputs set but not yet told to the component.
///
/// A set makes every value unknown, and values become known only after what waits has been told: where a value is known,
/// nothing waits.
pub(super) struct FmuValueCache {
    values: Vec<CachedOutput>,
    present: u64,
    inputs: Vec<CachedInput>,
    /// Those that wait, each once; never more than there are inputs.
    list: Vec<u32>,
    /// Work space of `flush`.
    told: Vec<f64>,
}

/// A value that was read. It is good if its stamp is the present one.
#[derive(Clone, Copy, Default)]
struct CachedOutput {
    stamp: u64,
    value: f64,
}

/// A variable as one that can be set.
#[derive(Clone, Copy, Default)]
struct CachedInput {
    wanted: f64,
    /// An input that takes any finite value.
    plain: bool,
    waiting: bool,
}

impl FmuValueCache {
    pub fn new(component: &Instance) -> Self {
        let variables = component.variables();
        let inputs: Vec<CachedInput> = variables
            .iter()
            .map(|v| CachedInput {
                plain: v.causality == Causality::Input && v.min.is_none() && v.max.is_none(),
                ..CachedInput::default()
            })
            .collect();
        let plain = inputs.iter().filter(|input| input.plain).count();
        Self {
            values: vec![CachedOutput::default(); variables.len()],
            present: 1,
            inputs,
            list: Vec::with_capacity(plain),
            told: Vec::with_capacity(plain),
        }
    }

    /// Something has changed: values have to be read again.
    pub fn forget(&mut self) {
        self.present += 1;
    }

    #[inline]
    fn known(&self, reference: u32) -> Option<f64> {
        let known = self.values.get(reference as usize)?;
        (known.stamp == self.present).then_some(known.value)
    }

    /// All of the values asked for, if they are known; else nothing is written.
    #[inline]
    pub fn get(&self, references: &[u32], values: &mut [f64]) -> bool {
        // Most importers ask for one at a time.
        if let ([reference], [place]) = (references, &mut *values) {
            let known = self.known(*reference);
            if let Some(value) = known {
                *place = value;
            }
            return known.is_some();
        }
        self.get_many(references, values)
    }

    fn get_many(&self, references: &[u32], values: &mut [f64]) -> bool {
        let all = references.iter().all(|r| self.known(*r).is_some());
        if !all || references.len() != values.len() {
            return false;
        }
        for (reference, place) in references.iter().zip(values) {
            if let Some(value) = self.known(*reference) {
                *place = value;
            }
        }
        true
    }

    /// Remembers what was read.
    pub fn keep(&mut self, references: &[u32], values: &[f64]) {
        for (reference, value) in references.iter().zip(values) {
            if let Some(place) = self.values.get_mut(*reference as usize) {
                (place.stamp, place.value) = (self.present, *value);
            }
        }
    }

    /// Notes inputs down, if all of them are such and the values are numbers; else nothing is noted.
    #[inline]
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> bool {
        let fits = |r: &u32, v: &f64| {
            (self.inputs.get(*r as usize)).is_some_and(|input| input.plain) && v.is_finite()
        };
        let same = references.len() == values.len();
        if !same || !references.iter().zip(values).all(|(r, v)| fits(r, v)) {
            return false;
        }
        for (reference, value) in references.iter().zip(values) {
            if let Some(input) = self.inputs.get_mut(*reference as usize) {
                input.wanted = *value;
                if !input.waiting {
                    input.waiting = true;
                    self.list.push(*reference); // within its capacity: each input is in it once
                }
            }
        }
        self.present += 1;
        true
    }

    /// Tells the component what waits.
    pub fn flush(&mut self, component: &mut Instance) -> Result<()> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.told.clear();
        for reference in &self.list {
            let input = &mut self.inputs[*reference as usize];
            self.told.push(input.wanted);
            input.waiting = false;
        }
        let outcome = component.set_real(&self.list, &self.told);
        self.list.clear();
        outcome
    }

    /// What waits is not wanted any more.
    pub fn drop_waiting(&mut self) {
        for reference in &self.list {
            self.inputs[*reference as usize].waiting = false;
        }
        self.list.clear();
        self.forget();
    }
}
