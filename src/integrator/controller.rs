//! The step size: verdict on an attempt, next proposal, and how steps are laid to land on a communication point.
//!
//! ```text
//!   standard   h ← h clamp(0.8 e^(−1/k), 0.3, 2)      k = 3, 4 for the estimate `seed`, 2 per unit step
//!   seed       h ← h e^(−1/2)                          (12) as printed
//!   VSA23      h ← h clamp(0.9 e^(−1/2), 0.1, 2)       (12) with a safety factor
//! ```
//!
//! with e the estimated error over the tolerance.

use crate::model::{ControllerName, EstimateName, IntegratorName, SolverSettings};

/// theory: section 6 of the first paper's notes; an elementary controller with 0.8 rejects no more than a PI one.
const SAFETY: f64 = 0.8;
/// Smallest and largest ratio of successive steps.
const RATIO: (f64, f64) = (0.3, 2.0);
/// The first step may grow faster: its size was only a guess.
const FIRST_RATIO: f64 = 10.0;
/// Ratios after a rejection.
const REJECTED_RATIO: (f64, f64) = (0.2, 0.9);
/// theory: section 3 of the notes; (12) as printed without a safety factor accepts and rejects in turns.
const VSA23_SAFETY: f64 = 0.9;
const VSA23_RATIO: (f64, f64) = (0.1, 2.0);
/// Newton did not converge: far shorter.
pub const NEWTON_RATIO: f64 = 0.25;
/// Part of a fixed step that is not cut any more on the way to an event.
pub const CUT: f64 = 1.0 / 256.0;
/// A step may be stretched by this much to land.
const STRETCH: f64 = 1.1;
/// A fixed step may differ by rounding to land.
const FIXED_STRETCH: f64 = 1.0 + 1e-6;

/// The rule with its settings.
#[derive(Clone, Copy, Debug)]
pub struct StepControl {
    rule: ControllerName,
    vsa23: bool,
    exponent: f64,
    max_step: f64,
    min_step: f64,
    fixed: Option<f64>,
}

/// A step as planned: its size, and whether it was cut short to land (then it teaches nothing about growth).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepPlan {
    /// s
    pub h: f64,
    /// Ends exactly on the landing point.
    pub lands: bool,
    /// Shorter than the proposal.
    pub cut: bool,
}

impl StepControl {
    /// From checked settings.
    pub fn new(settings: &SolverSettings) -> Self {
        let exponent = match (settings.per_unit_step, settings.estimate) {
            (true, _) => 1.0 / 2.0,
            (false, EstimateName::Calibrated) => 1.0 / 3.0,
            (false, EstimateName::Seed) => 1.0 / 4.0,
        };
        Self {
            rule: settings.controller,
            vsa23: settings.integrator == IntegratorName::Vsa23,
            exponent,
            max_step: settings.max_step.unwrap_or(f64::INFINITY),
            min_step: settings.min_step.unwrap_or(0.0),
            fixed: settings.step,
        }
    }

    /// 1/k: the step grows with this power of the error.
    pub fn exponent(&self) -> f64 {
        self.exponent
    }

    /// The fixed step, if there is one.
    pub fn fixed(&self) -> Option<f64> {
        self.fixed
    }

    /// A first step within the limits.
    pub fn limit(&self, h: f64) -> f64 {
        h.min(self.max_step).max(self.min_step)
    }

    /// Below this the step cannot be told from rounding of the time, or from what the user allows.
    pub fn smallest(&self, t: f64) -> f64 {
        (64.0 * f64::EPSILON * t.abs())
            .max(self.min_step)
            .max(1e-15)
    }

    /// Stretch rule: a remainder up to 1.1 h is one step, up to 2 h two equal ones.
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

    /// Step size at which the estimate would have been the tolerance, with safety.
    fn wanted(&self, h: f64, e: f64) -> f64 {
        match self.rule {
            ControllerName::Standard if self.vsa23 => h * VSA23_SAFETY * e.powf(-0.5),
            ControllerName::Standard => h * SAFETY * e.powf(-self.exponent),
            ControllerName::Seed => h * e.powf(-0.5),
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
            // The proposal survives the cut unless the short step itself asks for less. It may still grow like after any
            // other step: or a proposal just too short for the interval would be halved for ever.
            wanted.min(proposal.max(growth * plan.h))
        } else if self.rule == ControllerName::Seed {
            wanted.min(FIRST_RATIO * plan.h)
        } else if self.vsa23 {
            wanted.clamp(VSA23_RATIO.0 * plan.h, VSA23_RATIO.1 * plan.h)
        } else {
            wanted.clamp(RATIO.0 * plan.h, growth * plan.h)
        };
        self.limit(next)
    }

    /// Next attempt after one that the estimate refused.
    pub fn after_rejected(&self, h: f64, e: f64) -> f64 {
        match self.rule {
            ControllerName::Standard if self.vsa23 => self
                .wanted(h, e)
                .clamp(VSA23_RATIO.0 * h, REJECTED_RATIO.1 * h),
            ControllerName::Standard => self
                .wanted(h, e)
                .clamp(REJECTED_RATIO.0 * h, REJECTED_RATIO.1 * h),
            // (12) as printed; far below one only the first digit of e is to be trusted.
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
