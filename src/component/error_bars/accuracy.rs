//! Accuracy: the user asks for the error of the whole run, the instance chooses the tolerance of its steps.
//!
//! It begins with a part of the accuracy. At a sixteenth, an eighth, .. of the run it looks at its bars, relative to the ranges, and
//! extrapolates their growth since the last time it looked, when half of the time had passed:
//!
//! ```text
//!   bar(T) ≈ bar(t) (T/t)^g,      g = log₂ bar(t)/bar(t/2),      t from the start, T the whole run
//! ```
//!
//! If that is more than the accuracy, both runs go on with a tighter tolerance. What has been lost is not regained: where the bar is
//! above the accuracy already, the promise is broken, and that is said.

use super::super::Instance;
use super::super::log::{LogCategory, LogLevel};
use crate::linalg::elementary::{log2, powf};

/// First tolerance over the accuracy. Measured in `tests/validation/error_bars.rs`.
const FIRST: f64 = 0.1;

/// First review, as part of the run.
const FIRST_REVIEW: f64 = 1.0 / 16.0;

/// Part of the accuracy that the predicted bar may use up.
const PLANNED: f64 = 0.5;

/// Largest exponent of growth that is extrapolated: faster growth is not a power of time.
const FASTEST: f64 = 4.0;

/// Least factor by which one review tightens the tolerance.
const STRONGEST: f64 = 1e-2;

/// Smallest tolerance: below it rounding decides.
const SMALLEST: f64 = 1e-12;

/// The tolerance with which a run of this accuracy begins.
pub(in crate::component) fn first_tolerance(accuracy: f64) -> f64 {
    (FIRST * accuracy).max(SMALLEST)
}

/// The time of the first review; never if the end is not known.
pub(super) fn first_review(start: f64, stop: f64) -> f64 {
    match stop.is_finite() {
        true => start + FIRST_REVIEW * (stop - start),
        false => f64::INFINITY,
    }
}

impl Instance {
    /// Tightens the tolerance if the accuracy would not be kept, and tells once if it is not.
    pub(super) fn review_accuracy(&mut self, target: f64) {
        let Some(accuracy) = self.model.solver.accuracy else {
            return;
        };
        let (now, start, stop) = (self.time(), self.state.start, self.state.stop);
        let Some(companion) = &mut self.companion else {
            return;
        };
        let worst = companion.bars.worst().0;
        let mut factor = 1.0;
        if now >= companion.bars.next_review {
            companion.bars.next_review = start + 2.0 * (now - start);
            let before = std::mem::replace(&mut companion.bars.reviewed, worst);
            // A bar that shrinks does so because the range still grows.
            let growth = match before > 0.0 {
                true => log2(worst / before).clamp(0.0, FASTEST),
                false => 0.0,
            };
            let predicted = worst * powf((stop - start) / (now - start), growth);
            if predicted > PLANNED * accuracy {
                factor = (PLANNED * accuracy / predicted).max(STRONGEST);
            }
        }
        let since = &mut companion.bars.missed_since;
        *since = match worst > accuracy {
            true => since.min(now),
            false => f64::INFINITY,
        };
        // At the start a range may be small because nothing has moved yet.
        let lasting = now - start >= 2.0 * (*since - start) || (now == target && now >= stop);
        let tell = lasting && *since < f64::INFINITY && !companion.bars.told.missed;
        companion.bars.told.missed |= tell;
        if factor < 1.0 && worst <= accuracy && self.model.solver.step.is_none() {
            self.tighten((factor * self.state.tolerance).max(SMALLEST));
        }
        if tell {
            self.log(
                LogLevel::Warning,
                LogCategory::Step,
                format_args!(
                    "the accuracy {accuracy:.1e} is not kept: the error bars reach {worst:.1e}"
                ),
            );
        }
    }

    /// Goes on with a tighter tolerance, and so does the companion.
    fn tighten(&mut self, tolerance: f64) {
        if tolerance >= self.state.tolerance {
            return;
        }
        self.adopt_tolerance(tolerance);
        if let Some(companion) = &mut self.companion {
            companion.adopt_tolerance(tolerance);
        }
        self.log(
            LogLevel::Info,
            LogCategory::Step,
            format_args!("tolerance {tolerance:.1e} from here on, to keep the accuracy"),
        );
    }

    pub(super) fn adopt_tolerance(&mut self, tolerance: f64) {
        self.integrator.set_tolerance(tolerance);
        self.integrator_tolerance = tolerance;
        self.state.tolerance = tolerance;
    }
}
