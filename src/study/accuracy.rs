//! Runs that are repeated until their error bars are within the accuracy asked for.

use crate::component::Instance;
use crate::model::Model;

/// Part of the accuracy at which a repeated run aims.
const AIM: f64 = 0.3;

/// Strongest and weakest factor on the tolerance from one run to the next.
const FACTORS: [f64; 2] = [1e-3, 0.3];

/// Smallest tolerance: below it rounding decides.
const SMALLEST_TOLERANCE: f64 = 1e-12;

/// A tighter run has to be better than the best so far by this factor; two in a row that are not end the search.
const PROGRESS: f64 = 0.7;

/// Chooses the tolerance of each of the runs.
pub struct AccuracySearch {
    accuracy: f64,
    tolerance: f64,
    best: f64,
    in_vain: u32,
    runs: u32,
}

impl AccuracySearch {
    /// For a model that asks for an accuracy; `None` for others.
    pub fn of(model: &Model) -> Option<Self> {
        Some(Self {
            accuracy: model.solver.accuracy?,
            tolerance: 0.0,
            best: f64::INFINITY,
            in_vain: 0,
            runs: 0,
        })
    }

    /// Tolerance for `initialize` of the next run; zero leaves the first one to the instance.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Runs that have ended.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// After a run to its end: whether it is to be repeated with a tighter tolerance.
    pub fn repeat(&mut self, instance: &Instance) -> bool {
        let worst = (instance.error_bars()).map_or(f64::INFINITY, |bars| bars.worst);
        self.runs += 1;
        self.in_vain = match worst < PROGRESS * self.best {
            true => 0,
            false => self.in_vain + 1,
        };
        self.best = self.best.min(worst);
        let used = instance.tolerance();
        let fixed = instance.model().solver.step.is_some();
        if worst <= self.accuracy || fixed || used <= SMALLEST_TOLERANCE || self.in_vain >= 2 {
            return false;
        }
        let [strongest, weakest] = FACTORS;
        let factor = (AIM * self.accuracy / worst).clamp(strongest, weakest);
        self.tolerance = (factor * used).max(SMALLEST_TOLERANCE);
        true
    }
}
