//! Values that have been read since anything changed: reading them again costs next to nothing. They are the very numbers the
//! mechanism gave, so that a read can never tell whether it was the first.
//!
//! Whatever changes the life of an instance says so by [`Known::forget`].

/// What is known of each variable.
#[derive(Default)]
pub(super) struct ValueCache {
    values: Vec<f64>,
    /// A value is good if its stamp is the present one.
    stamps: Vec<u64>,
    present: u64,
}

impl ValueCache {
    /// Of so many variables nothing is known.
    pub fn new(variables: usize) -> Self {
        Self {
            values: vec![0.0; variables],
            stamps: vec![0; variables],
            present: 1,
        }
    }

    /// Something has changed.
    #[inline]
    pub fn forget(&mut self) {
        self.present += 1;
    }

    /// All of the values asked for, if they are known; else nothing is written.
    #[inline]
    pub fn give(&self, references: &[u32], values: &mut [f64]) -> bool {
        let known = |r: &u32| self.stamps.get(*r as usize) == Some(&self.present);
        if references.len() != values.len() || !references.iter().all(known) {
            return false;
        }
        for (reference, value) in references.iter().zip(values) {
            *value = self.values[*reference as usize];
        }
        true
    }

    /// Remembers what was read.
    #[inline]
    pub fn keep(&mut self, references: &[u32], values: &[f64]) {
        for (reference, value) in references.iter().zip(values) {
            let i = *reference as usize;
            (self.values[i], self.stamps[i]) = (*value, self.present);
        }
    }
}

impl super::Instance {
    /// Reads `values` if all of them have been read since anything changed; otherwise reads nothing and returns false.
    /// Never evaluates the mechanism and cannot panic.
    #[inline]
    pub(crate) fn get_cached(&self, references: &[u32], values: &mut [f64]) -> bool {
        self.scratch.known.give(references, values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::component::{Extrapolation, Instance};

    #[test]
    fn nothing_is_given_unless_all_of_it_is_known() {
        let mut known = ValueCache::new(3);
        known.keep(&[0, 2], &[5.0, 7.0]);
        let mut values = [0.0; 2];
        assert!(!known.give(&[0, 1], &mut values) && values == [0.0; 2]);
        assert!(!known.give(&[0, 3], &mut values) && values == [0.0; 2]);
        assert!(!known.give(&[0], &mut values) && values == [0.0; 2]);
        assert!(known.give(&[2, 0], &mut values) && values == [7.0, 5.0]);
        known.forget();
        assert!(!known.give(&[2, 0], &mut values));
    }

    /// All values as an instance that has read them before gives them, and as one that has not.
    fn both(instance: &mut Instance) -> [Vec<u64>; 2] {
        // The variable that is no number is left out.
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
    fn every_change_is_seen_by_the_next_read() {
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
            // Fails.
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
            // All of them show in some value, but a slope, the way inputs go on, and a step that is stopped at once.
            assert!(before != known || [4, 6, 8].contains(&k), "change {k}");
        }
    }
}
