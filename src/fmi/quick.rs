//! The short way for the two calls that importers make most: reading values that have been read since anything changed,
//! and setting inputs. Everything else goes the long way through the component, and so does the first read.
//!
//! Nothing in here can panic, so the gate lets it pass without its guard.

use crate::component::{Causality, Instance};
use crate::error::Result;

/// Values read before, and inputs set but not yet told to the component.
pub(super) struct Quick {
    values: Vec<f64>,
    /// A value is good if its stamp is the present one.
    stamps: Vec<u64>,
    present: u64,
    /// Inputs that take any finite value.
    plain: Vec<bool>,
    waiting: Vec<bool>,
    /// Those that wait, each once; never more than there are inputs.
    list: Vec<u32>,
    wanted: Vec<f64>,
    /// Work space of `flush`.
    told: Vec<f64>,
}

impl Quick {
    pub fn new(component: &Instance) -> Self {
        let variables = component.variables();
        let n = variables.len();
        let plain: Vec<bool> = variables
            .iter()
            .map(|v| v.causality == Causality::Input && v.min.is_none() && v.max.is_none())
            .collect();
        let inputs = plain.iter().filter(|p| **p).count();
        Self {
            values: vec![0.0; n],
            stamps: vec![0; n],
            present: 1,
            plain,
            waiting: vec![false; n],
            list: Vec::with_capacity(inputs),
            wanted: vec![0.0; n],
            told: Vec::with_capacity(inputs),
        }
    }

    /// Something has changed: values have to be read again.
    pub fn forget(&mut self) {
        self.present += 1;
    }

    /// All of the values asked for, if they are known; else nothing is written.
    #[inline]
    pub fn get(&self, references: &[u32], values: &mut [f64]) -> bool {
        if references.len() != values.len() || !self.list.is_empty() {
            return false;
        }
        let known = |r: &u32| self.stamps.get(*r as usize) == Some(&self.present);
        if !references.iter().all(known) {
            return false;
        }
        for (reference, place) in references.iter().zip(values) {
            if let Some(value) = self.values.get(*reference as usize) {
                *place = *value;
            }
        }
        true
    }

    /// Remembers what was read.
    pub fn keep(&mut self, references: &[u32], values: &[f64]) {
        for (reference, value) in references.iter().zip(values) {
            let i = *reference as usize;
            if let (Some(place), Some(stamp)) = (self.values.get_mut(i), self.stamps.get_mut(i)) {
                *place = *value;
                *stamp = self.present;
            }
        }
    }

    /// Notes inputs down, if all of them are such and the values are numbers; else nothing is noted.
    #[inline]
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> bool {
        let fits = |r: &u32, v: &f64| {
            self.plain.get(*r as usize).is_some_and(|plain| *plain) && v.is_finite()
        };
        let same = references.len() == values.len();
        if !same || !references.iter().zip(values).all(|(r, v)| fits(r, v)) {
            return false;
        }
        for (reference, value) in references.iter().zip(values) {
            let i = *reference as usize;
            if let (Some(place), Some(waiting)) = (self.wanted.get_mut(i), self.waiting.get_mut(i))
            {
                *place = *value;
                if !*waiting {
                    *waiting = true;
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
            let i = *reference as usize;
            self.told.push(self.wanted[i]);
            self.waiting[i] = false;
        }
        let outcome = component.set_real(&self.list, &self.told);
        self.list.clear();
        outcome
    }

    /// What waits is not wanted any more.
    pub fn drop_waiting(&mut self) {
        for reference in &self.list {
            self.waiting[*reference as usize] = false;
        }
        self.list.clear();
        self.forget();
    }
}
