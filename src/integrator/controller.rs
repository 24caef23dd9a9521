//! The step-size controller: error test, size of the next step, and how steps land on a communication point.
//!
//! ```text
//!   standard   h ← h clamp(0.8 e^(−1/k), 0.3, 2)      k = 3, 4 for the estimate `seed`, 2 per unit step
//!   seed       h ← h e^(−1/2)                          (12) as printed
//!   VSA23      h ← h clamp(0.9 e^(−1/2), 0.1, 2)       (12) with a safety factor
//! ```
//!
//! with e the estimated error over the tolerance.

use super::method::step_size_law;
use crate::linalg::elementary::powf;
use crate::model::{ControllerName, EstimateName, SolverSettings};

/// Safety factor. theory: section 6 of the first paper's notes; with 0.8 an elementary controller rejects no more than a PI
/// controller.
const SAFETY: f64 = 0.8;
/// Smallest and largest ratio of successive steps.
const RATIO: (f64, f64) = (0.3, 2.0);
/// Largest ratio after the first step, whose size is a guess.
const FIRST_RATIO: f64 = 10.0;
/// Smallest and largest ratio after a failed error test.
const REJECTED_RATIO: (f64, f64) = (0.2, 0.9);
/// Ratio after a failed trial step: Newton's iteration needs a much shorter one.
pub const FAILURE_RATIO: f64 = 0.25;
/// Smallest part of a fixed step that is tried on the way to an event.
pub const SMALLEST_FIXED_PART: f64 = 1.0 / 256.0;
/// Ratio by which a step may be stretched to land.
const STRETCH: f64 = 1.1;
/// The same for a fixed step: rounding only.
const FIXED_STRETCH: f64 = 1.0 + 1e-6;

/// The constants of a method in the standard law h ← h clamp(safety · e^(−exponent), smallest, largest).
#[derive(Clone, Copy, Debug)]
pub struct StepSizeLaw {
    /// Factor by which the step stays below the one whose error would be the tolerance.
    pub safety: f64,
    /// 1/k for an error of order h^k.
    pub exponent: f64,
    /// Smallest ratio of successive accepted steps.
    pub smallest: f64,
    /// Largest one. None: 2, after the first step 10, after a failed trial 1.
    pub largest: Option<f64>,
    /// Smallest ratio after a failed error test.
    pub smallest_rejected: f64,
}

impl StepSizeLaw {
    /// The law of HHT.
    pub fn hht(settings: &SolverSettings) -> Self {
        Self {
            safety: SAFETY,
            exponent: match (settings.per_unit_step, settings.estimate) {
                (true, _) => 1.0 / 2.0,
                (false, EstimateName::Calibrated) => 1.0 / 3.0,
                (false, EstimateName::Seed) => 1.0 / 4.0,
            },
            smallest: RATIO.0,
            largest: None,
            smallest_rejected: REJECTED_RATIO.0,
        }
    }
}

/// The controller with its settings.
#[derive(Clone, Copy, Debug)]
pub struct StepControl {
    rule: ControllerName,
    law: StepSizeLaw,
    max_step: f64,
    min_step: f64,
    fixed: Option<f64>,
}

/// A planned step. One that was cut short to land does not limit the growth of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepPlan {
    /// s
    pub h: f64,
    /// Ends exactly on the communication point.
    pub lands: bool,
    /// Shorter than the proposal.
    pub cut: bool,
}

impl StepControl {
    /// From validated settings.
    pub fn new(settings: &SolverSettings) -> Self {
        Self {
            rule: settings.controller,
            law: step_size_law(settings),
            max_step: settings.max_step.unwrap_or(f64::INFINITY),
            min_step: settings.min_step.unwrap_or(0.0),
            fixed: settings.step,
        }
    }

    /// 1/k for an error of order h^k.
    pub fn exponent(&self) -> f64 {
        self.law.exponent
    }

    /// The fixed step, if there is one.
    pub fn fixed(&self) -> Option<f64> {
        self.fixed
    }

    /// The error test: `e` over the tolerance is at most one. Fixed steps always pass.
    pub fn accepts(&self, e: f64) -> bool {
        e <= 1.0 || self.fixed.is_some()
    }

    /// h within the limits of the settings.
    pub fn limit(&self, h: f64) -> f64 {
        h.min(self.max_step).max(self.min_step)
    }

    /// Smallest step at time `t`: a few units of its last place, or the limit of the settings. A step is as long as the rounded
    /// times of its ends say, so that no other rounding is in it.
    pub fn smallest(&self, t: f64) -> f64 {
        (4.0 * f64::EPSILON * t.abs()).max(self.min_step).max(1e-15)
    }

    /// Smallest step that is retried after a failed trial. A fixed step may be cut only on the way to an event: the force law
    /// of its start may have no solution beyond the event.
    pub fn smallest_retried(&self, has_events: bool) -> f64 {
        match self.fixed {
            Some(h) if has_events => SMALLEST_FIXED_PART * h,
            Some(_) => f64::INFINITY,
            None => 0.0,
        }
    }

    /// The next step. Stretch rule: a remainder up to 1.1 h is one step, up to 2 h two equal ones.
    pub fn plan(&self, proposal: f64, remaining: f64) -> StepPlan {
        if let Some(h) = self.fixed {
            let lands = remaining <= h * FIXED_STRETCH;
            return StepPlan {
                h: if lands { remaining } else { h },
                lands,
                cut: false,
            };
        }
        if remaining <= STRETCH * proposal {
            StepPlan {
                h: remaining,
                lands: true,
                cut: remaining < proposal,
            }
        } else if remaining < 2.0 * proposal {
            StepPlan {
                h: 0.5 * remaining,
                lands: false,
                cut: true,
            }
        } else {
            StepPlan {
                h: proposal,
                lands: false,
                cut: false,
            }
        }
    }

    /// Step size at which the estimated error would be the tolerance, times the safety factor.
    fn wanted(&self, h: f64, e: f64) -> f64 {
        match self.rule {
            ControllerName::Standard => h * self.law.safety * powf(e, -self.law.exponent),
            ControllerName::Seed => h * powf(e, -0.5),
        }
    }

    /// Largest ratio of the next step to this one, as far as the controller is concerned.
    pub fn growth(first: bool, may_grow: bool) -> f64 {
        if !may_grow {
            1.0
        } else if first {
            FIRST_RATIO
        } else {
            RATIO.1
        }
    }

    /// Proposal after an accepted step of size `plan.h` with error `e` (over the tolerance), growing at most by `growth`.
    pub fn after_accepted(&self, plan: StepPlan, proposal: f64, e: f64, growth: f64) -> f64 {
        if let Some(h) = self.fixed {
            return h;
        }
        let wanted = self.wanted(plan.h, e.max(1e-30));
        let next = if plan.cut {
            // The proposal is kept unless the short step itself asks for less. It may still grow as after any other step:
            // otherwise a proposal just too short for the interval would always be halved.
            wanted.min(proposal.max(growth * plan.h))
        } else if self.rule == ControllerName::Seed {
            wanted.min(FIRST_RATIO * plan.h)
        } else {
            let largest = self.law.largest.unwrap_or(growth);
            wanted.clamp(self.law.smallest * plan.h, largest * plan.h)
        };
        self.limit(next)
    }

    /// Step size of the next trial after a failed error test.
    pub fn after_rejected(&self, h: f64, e: f64) -> f64 {
        // NaN and infinity are treated like a failed iteration.
        if !e.is_finite() {
            return h * FAILURE_RATIO;
        }
        match self.rule {
            ControllerName::Standard => self
                .wanted(h, e)
                .clamp(self.law.smallest_rejected * h, REJECTED_RATIO.1 * h),
            // (12) as printed; for a large error only the order of magnitude of e is reliable.
            ControllerName::Seed => self.wanted(h, e).clamp(0.1 * h, 0.999 * h),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> StepControl {
        StepControl::new(&SolverSettings::default())
    }

    #[test]
    fn a_remainder_just_above_the_proposal_is_stretched_and_one_below_two_is_halved() {
        let c = control();
        assert_eq!(
            c.plan(1.0, 1.05),
            StepPlan {
                h: 1.05,
                lands: true,
                cut: false
            }
        );
        assert_eq!(
            c.plan(1.0, 0.4),
            StepPlan {
                h: 0.4,
                lands: true,
                cut: true
            }
        );
        assert_eq!(
            c.plan(1.0, 1.5),
            StepPlan {
                h: 0.75,
                lands: false,
                cut: true
            }
        );
        assert_eq!(
            c.plan(1.0, 5.0),
            StepPlan {
                h: 1.0,
                lands: false,
                cut: false
            }
        );
    }

    #[test]
    fn a_cut_step_does_not_shorten_the_proposal_unless_it_was_inaccurate() {
        let c = control();
        let plan = StepPlan {
            h: 0.1,
            lands: true,
            cut: true,
        };
        assert_eq!(c.after_accepted(plan, 1.0, 1e-9, 2.0), 1.0);
        assert!(c.after_accepted(plan, 1.0, 0.9, 2.0) < 0.1);
    }

    #[test]
    fn a_proposal_that_is_halved_to_land_grows_until_one_step_lands() {
        // The step that meets the tolerance is 1.2 communication intervals: e = (h/1.2)³, with the safety factor.
        let c = control();
        let mut proposal = 0.6;
        for _ in 0..4 {
            let plan = c.plan(proposal, 1.0);
            let e = (0.8 * plan.h / 1.2).powi(3);
            proposal = c.after_accepted(plan, proposal, e, 2.0);
        }
        assert!(c.plan(proposal, 1.0).lands, "{proposal}");
    }

    #[test]
    fn an_error_at_the_tolerance_shortens_by_the_safety_factor() {
        let c = control();
        let plan = StepPlan {
            h: 1.0,
            lands: false,
            cut: false,
        };
        assert!((c.after_accepted(plan, 1.0, 1.0, 2.0) - 0.8).abs() < 1e-15);
        assert!((c.after_accepted(plan, 1.0, 0.512, 2.0) - 1.0).abs() < 1e-15);
        assert_eq!(c.after_accepted(plan, 1.0, 1e-9, 2.0), 2.0);
        assert_eq!(c.after_accepted(plan, 1.0, 1e-9, 1.0), 1.0);
    }

    #[test]
    fn a_fixed_step_never_changes_except_by_rounding_to_land() {
        let c = StepControl::new(&SolverSettings {
            step: Some(0.01),
            ..SolverSettings::default()
        });
        assert_eq!(c.plan(0.01, 1.0).h, 0.01);
        assert!(c.plan(0.01, 0.01 * (1.0 + 1e-9)).lands);
        assert_eq!(c.after_accepted(c.plan(0.01, 1.0), 0.01, 1e9, 2.0), 0.01);
    }
}
