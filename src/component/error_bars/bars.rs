//! The bars: the largest difference so far between a run and its companion, for each output.
//!
//! ```text
//!   bar_i(t) = κ max_{s ≤ t} |y_i(s) − ŷ_i(s)| + (u(t) + r) S_i(t)  y of the run, ŷ of the companion
//!   S_i      = max(range of y_i so far, 1e-4 · largest |y| with the unit of i, 1e-6)
//! ```
//!
//! The difference of errors e of the run and ê of the companion is at least ê − e: the bar holds if e ≤ ê κ/(1 + κ). κ = 1.5 allows
//! e = 0.6 ê, where a hundred times the tolerance makes little difference.
//!
//! An energy is relative to the largest kinetic energy so far, if that is more: a sum that is conserved has no range.
//!
//! u is the sum of the local errors of the steps that both runs took alike, which the difference cannot show: a host with short
//! communication steps cuts both to the same length. r is rounding, where the runs differ in the last digits only. Bar and scale never shrink.

use super::events::EventMatching;

/// Range of an output over the largest value with its unit, below which it counts as constant: closure and rounding leave 1e-10 of
/// that value, a millionth of this.
const CONSTANT: f64 = 1e-4;

/// Smallest range (SI units), where all outputs of a unit are zero.
const SMALLEST_RANGE: f64 = 1e-6;

/// κ
const SAFETY: f64 = 1.5;

/// r: rounding of a run, relative to the scale.
const ROUNDING: f64 = 1e-12;

/// A bar that is this part of the scale says nothing: the output is not determined.
const UNDETERMINED: f64 = 0.1;

/// Error bar of an output, with what it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::component) struct OutputBar {
    /// Largest difference so far.
    pub difference: f64,
    /// Smallest value of the run so far.
    pub smallest: f64,
    /// Largest value of the run so far.
    pub largest: f64,
    /// Time from which on the bar has been a good part of the scale (s); infinite if it is not.
    pub undetermined_since: f64,
    /// The value has jumped at an event.
    pub jumps: bool,
}

impl OutputBar {
    const NONE: Self = Self {
        difference: 0.0,
        smallest: f64::INFINITY,
        largest: f64::NEG_INFINITY,
        undetermined_since: f64::INFINITY,
        jumps: false,
    };

    /// Largest value less the smallest one; zero before the first value.
    fn range(&self) -> f64 {
        (self.largest - self.smallest).max(0.0)
    }
}

/// All that the future of the bars depends on.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::component) struct ErrorBars {
    /// One for each compared output.
    pub outputs: Vec<OutputBar>,
    /// Index of the unit of each of them; constant.
    pub units: Vec<usize>,
    /// Which of them are energies; constant.
    pub energies: Vec<bool>,
    /// Largest magnitude so far of the outputs with each unit.
    pub magnitudes: Vec<f64>,
    /// Largest kinetic energy so far, if some output is an energy (J).
    pub kinetic_energy: f64,
    /// Events that one of the runs has had.
    pub events: EventMatching,
    /// Substeps of the companion at the last comparison.
    pub compared_at: u64,
    /// Sum of the local errors that the difference cannot show, in the error norm.
    pub unseen: f64,
    /// Time at which the companion stopped (s); infinite while it runs.
    pub stopped_at: f64,
    /// Why it stopped.
    pub stopped_why: String,
    /// Next time at which the tolerance is reconsidered (s); see `accuracy`.
    pub next_review: f64,
    /// Largest bar over its scale when it was last reconsidered; zero before the first time.
    pub reviewed: f64,
    /// Since when the accuracy has not been kept (s); infinite while it is.
    pub missed_since: f64,
    /// Warnings that have been logged, each once.
    pub told: Told,
}

/// Warnings that have been logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::component) struct Told {
    /// That an output is not determined any more.
    pub undetermined: bool,
    /// That the accuracy is not kept.
    pub missed: bool,
}

impl ErrorBars {
    /// No comparison yet. `units` has the index of the unit of each output, `energies` whether it is an energy.
    pub fn new(units: Vec<usize>, energies: Vec<bool>, events: usize) -> Self {
        Self {
            outputs: vec![OutputBar::NONE; units.len()],
            magnitudes: vec![0.0; units.iter().max().map_or(0, |last| last + 1)],
            units,
            energies,
            kinetic_energy: 0.0,
            events: EventMatching::new(events),
            compared_at: 0,
            unseen: 0.0,
            stopped_at: f64::INFINITY,
            stopped_why: String::new(),
            next_review: f64::INFINITY,
            reviewed: 0.0,
            missed_since: f64::INFINITY,
            told: Told::default(),
        }
    }

    /// Begins again at `start`.
    pub fn restart(&mut self, start: f64) {
        self.outputs.fill(OutputBar::NONE);
        self.magnitudes.fill(0.0);
        self.kinetic_energy = 0.0;
        self.events.restart(start);
        self.compared_at = 0;
        self.unseen = 0.0;
        self.stopped_at = f64::INFINITY;
        self.stopped_why.clear();
        self.next_review = f64::INFINITY;
        self.reviewed = 0.0;
        self.missed_since = f64::INFINITY;
        self.told = Told::default();
    }

    /// Copies `other` without allocating if the sizes agree.
    pub fn copy_from(&mut self, other: &Self) {
        self.outputs.clone_from(&other.outputs);
        self.units.clone_from(&other.units);
        self.energies.clone_from(&other.energies);
        self.magnitudes.clone_from(&other.magnitudes);
        self.kinetic_energy = other.kinetic_energy;
        self.events.copy_from(&other.events);
        self.compared_at = other.compared_at;
        self.unseen = other.unseen;
        self.stopped_at = other.stopped_at;
        self.stopped_why.clone_from(&other.stopped_why);
        self.next_review = other.next_review;
        self.reviewed = other.reviewed;
        self.missed_since = other.missed_since;
        self.told = other.told;
    }

    /// Whether the companion has stopped.
    pub fn stopped(&self) -> bool {
        self.stopped_at < f64::INFINITY
    }

    /// Takes a value of the run into the range of output `i`.
    pub fn widen(&mut self, i: usize, value: f64) {
        if value.is_finite() {
            let bar = &mut self.outputs[i];
            bar.smallest = bar.smallest.min(value);
            bar.largest = bar.largest.max(value);
            let magnitude = &mut self.magnitudes[self.units[i]];
            *magnitude = magnitude.max(value.abs());
        }
    }

    /// Takes a kinetic energy of the run into the scale of energies.
    pub fn widen_energy(&mut self, kinetic: f64) {
        self.kinetic_energy = self.kinetic_energy.max(kinetic);
    }

    /// Compares output `i`: `value` of the run, `other` of the companion. A value that one of the runs does not have is not compared.
    pub fn compare(&mut self, i: usize, value: f64, other: f64) {
        let difference = (value - other).abs();
        if difference.is_finite() {
            let bar = &mut self.outputs[i];
            bar.difference = bar.difference.max(difference);
        }
    }

    /// The error bar of output `i`.
    pub fn stated(&self, i: usize) -> f64 {
        if self.stopped() {
            return f64::INFINITY;
        }
        let difference = self.outputs[i].difference;
        // At the start, and where nothing moves, both runs have the same bits.
        let rounding = if difference > 0.0 { ROUNDING } else { 0.0 };
        let unseen = self.unseen + rounding;
        match unseen > 0.0 {
            true => SAFETY * difference + unseen * self.scale(i),
            false => SAFETY * difference,
        }
    }

    /// The scale of output `i`: its range so far, with a floor for constant ones.
    pub fn scale(&self, i: usize) -> f64 {
        let floor = match self.energies[i] {
            true => self.kinetic_energy,
            false => CONSTANT * self.magnitudes[self.units[i]],
        };
        (self.outputs[i].range()).max(floor).max(SMALLEST_RANGE)
    }

    /// The largest error bar over its scale, and its output.
    pub fn worst(&self) -> (f64, Option<usize>) {
        let relative = |i: usize| self.stated(i) / self.scale(i);
        (0..self.outputs.len()).fold((0.0, None), |worst, i| match relative(i) {
            r if r > worst.0 => (r, Some(i)),
            _ => worst,
        })
    }

    /// Notes since when outputs have not been determined, at `t`.
    pub fn judge(&mut self, t: f64) {
        for i in 0..self.outputs.len() {
            let lost = self.stated(i) > UNDETERMINED * self.scale(i);
            let since = &mut self.outputs[i].undetermined_since;
            *since = match lost {
                true => since.min(t),
                false => f64::INFINITY,
            };
        }
    }

    /// The earliest time from which on an output has not been determined (s), and that output.
    pub fn undetermined(&self) -> Option<(f64, usize)> {
        let lost = self.outputs.iter().enumerate();
        let lost = lost.filter(|(_, bar)| bar.undetermined_since < f64::INFINITY);
        lost.map(|(i, bar)| (bar.undetermined_since, i))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_does_not_shrink_when_the_curves_cross() {
        let mut bars = ErrorBars::new(vec![0, 0, 1], vec![false; 3], 0);
        let mut stated = Vec::new();
        for k in 0..100 {
            let t = 0.1 * f64::from(k);
            bars.widen(0, t.sin());
            bars.compare(0, t.sin(), (t + 1e-3).sin());
            stated.push(bars.stated(0));
        }
        assert!(stated.is_sorted(), "{stated:?}");
        assert!((stated[99] - SAFETY * 1e-3).abs() < 1e-6);
    }

    #[test]
    fn the_scale_is_the_range_with_a_floor_from_outputs_of_the_same_unit() {
        let mut bars = ErrorBars::new(vec![0, 0, 1], vec![false; 3], 0);
        for value in [3.0, 5.0] {
            bars.widen(0, value);
            bars.widen(1, 7.0);
        }
        assert_eq!(bars.scale(0), 2.0);
        assert_eq!(bars.scale(1), 7.0 * CONSTANT);
        assert_eq!(bars.scale(2), SMALLEST_RANGE);
    }

    #[test]
    fn a_companion_that_stopped_leaves_infinite_bars() {
        let mut bars = ErrorBars::new(vec![0], vec![false], 0);
        bars.compare(0, 1.0, 1.5);
        assert_eq!(bars.stated(0), SAFETY * 0.5 + ROUNDING * SMALLEST_RANGE);
        bars.stopped_at = 3.0;
        assert_eq!(bars.stated(0), f64::INFINITY);
        assert_eq!(bars.worst(), (f64::INFINITY, Some(0)));
    }

    #[test]
    fn an_output_is_undetermined_only_while_its_bar_is_a_good_part_of_its_range() {
        let mut bars = ErrorBars::new(vec![0], vec![false], 0);
        bars.widen(0, 0.0);
        bars.widen(0, 1e-3);
        bars.compare(0, 1e-3, 2e-3);
        bars.judge(0.5);
        assert_eq!(bars.undetermined(), Some((0.5, 0)));
        bars.widen(0, 1.0);
        bars.judge(1.0);
        assert_eq!(bars.undetermined(), None);
        bars.compare(0, 1.0, 1.2);
        bars.judge(2.0);
        bars.judge(3.0);
        assert_eq!(bars.undetermined(), Some((2.0, 0)));
    }

    #[test]
    fn a_value_that_is_missing_is_not_compared() {
        let mut bars = ErrorBars::new(vec![0], vec![false], 0);
        bars.widen(0, f64::NAN);
        bars.compare(0, f64::NAN, 1.0);
        assert_eq!(bars.outputs[0], OutputBar::NONE);
    }
}
