//! Cache of the values that have been read since anything changed. They are the numbers that the mechanism computed, so that a
//! repeated read gives the same bits.
//!
//! Every change of the instance calls [`ValueCache::invalidate`].

use super::Instance;

/// Values of the variables, valid or not.
#[derive(Default)]
pub(super) struct ValueCache {
    entries: Vec<CachedValue>,
    present: u64,
}

/// A value and the generation in which it was read: it is valid if that is the present one.
#[derive(Clone, Copy, Default)]
struct CachedValue {
    generation: u64,
    value: f64,
}

impl ValueCache {
    /// An empty cache of so many variables.
    pub fn new(variables: usize) -> Self {
        Self {
            entries: vec![CachedValue::default(); variables],
            present: 1,
        }
    }

    /// Makes all values invalid.
    #[inline]
    pub fn invalidate(&mut self) {
        self.present += 1;
    }

    /// The value of a variable if it is valid.
    #[inline]
    fn valid(&self, reference: u32) -> Option<f64> {
        let entry = self.entries.get(reference as usize)?;
        (entry.generation == self.present).then_some(entry.value)
    }

    /// Reads `values` if all of them are valid; otherwise reads nothing and returns false.
    #[inline]
    pub fn read(&self, references: &[u32], values: &mut [f64]) -> bool {
        // Most hosts read one value at a time.
        if let ([reference], [value]) = (references, &mut *values) {
            let Some(valid) = self.valid(*reference) else {
                return false;
            };
            *value = valid;
            return true;
        }
        self.read_many(references, values)
    }

    #[inline(never)]
    fn read_many(&self, references: &[u32], values: &mut [f64]) -> bool {
        if references.len() != values.len() || !references.iter().all(|r| self.valid(*r).is_some())
        {
            return false;
        }
        for (reference, value) in references.iter().zip(values) {
            *value = self.entries[*reference as usize].value;
        }
        true
    }

    /// Stores values that have been read.
    #[inline]
    pub fn store(&mut self, references: &[u32], values: &[f64]) {
        for (reference, value) in references.iter().zip(values) {
            self.entries[*reference as usize] = CachedValue {
                generation: self.present,
                value: *value,
            };
        }
    }
}

impl Instance {
    /// Reads `values` if all of them have been read since anything changed; otherwise reads nothing and returns false.
    /// Never evaluates the mechanism and cannot panic.
    #[inline]
    pub(crate) fn get_cached(&self, references: &[u32], values: &mut [f64]) -> bool {
        self.scratch.cache.read(references, values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;
    use crate::component::{Extrapolation, Instance};

    #[test]
    fn nothing_is_read_unless_all_values_are_valid() {
        let mut cache = ValueCache::new(3);
        cache.store(&[0, 2], &[5.0, 7.0]);
        let mut values = [0.0; 2];
        assert!(!cache.read(&[0, 1], &mut values) && values == [0.0; 2]);
        assert!(!cache.read(&[0, 3], &mut values) && values == [0.0; 2]);
        assert!(!cache.read(&[0], &mut values) && values == [0.0; 2]);
        assert!(cache.read(&[2, 0], &mut values) && values == [7.0, 5.0]);
        cache.invalidate();
        assert!(!cache.read(&[2, 0], &mut values));
    }

    /// All values, read from this instance and from a new one in the same state.
    fn both(instance: &mut Instance) -> [Vec<u64>; 2] {
        // Without the variable that is NaN.
        let all: Vec<u32> = (0..instance.variables().len() as u32).collect();
        let all: Vec<u32> = all.into_iter().filter(|&r| r != NAN).collect();
        let all = match instance.is_running() {
            true => all,
            false => vec![PUSH, MASS, STIFFNESS],
        };
        let read = |instance: &mut Instance| {
            let mut values = vec![f64::NAN; all.len()];
            instance.get_real(&all, &mut values).unwrap();
            values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>()
        };
        let mut fresh = oscillator();
        fresh.restore(&instance.save().unwrap()).unwrap();
        [read(instance), read(&mut fresh)]
    }

    #[test]
    fn every_change_invalidates_the_cache() {
        let mut instance = oscillator();
        let saved = instance.save().unwrap();
        let changes: [&dyn Fn(&mut Instance); 12] = [
            &|i| i.set_real(&[PUSH], &[2.0]).unwrap(),
            &|i| i.initialize(0.0, 9.0, 0.0).unwrap(),
            &|i| i.step(0.0, 0.1).unwrap(),
            &|i| i.set_real(&[PUSH], &[3.0]).unwrap(),
            &|i| i.set_input_derivatives(&[PUSH], &[1], &[4.0]).unwrap(),
            &|i| i.set_real(&[MASS], &[1.5]).unwrap(),
            &|i| i.set_extrapolation(Extrapolation::Linear),
            &|i| i.step(i.time(), 0.2).unwrap(),
            // A failing step.
            &|i| {
                let stop = i.cancel_flag();
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
                i.step(i.time(), 0.2).unwrap_err();
            },
            &|i| i.restore(&saved).unwrap(),
            &|i| i.initialize(1.0, 9.0, 1e-4).unwrap(),
            &|i| i.reset(),
        ];
        for (k, change) in changes.into_iter().enumerate() {
            let [before, _] = both(&mut instance);
            change(&mut instance);
            let [known, fresh] = both(&mut instance);
            assert_eq!(known, fresh, "change {k}");
            assert_eq!(both(&mut instance)[0], known, "read again, change {k}");
            // All of them change some value, except a slope, the extrapolation, and a step that is cancelled at once.
            assert!(before != known || [4, 6, 8].contains(&k), "change {k}");
        }
    }
}
