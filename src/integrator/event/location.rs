//! Repeats a step until it ends on the crossing that the search has predicted in it.

use super::super::Integrator;
use super::super::controller::FAILURE_RATIO;
use super::super::state::{EventSide, State, Statistics};
use super::super::trial::{SlowContraction, StepEnd, StepFailure, StepTarget};
use super::super::workspace::Problem;
use super::search::PredictedCrossing;
use crate::error::Result;

/// Repetitions of a step to locate an event: enough to reach rounding for every smooth φ.
const REPETITIONS: usize = 12;
/// Repetitions after which two predicted crossings in one step, neither of which was seen, are taken for a graze.
const GRAZE_REPETITIONS: usize = 6;
/// An event is located when the motion left is below this part of the tolerance ...
const LOCATED: f64 = 1e-3;
/// ... which is smaller for the fourth-order corrector, whose error is smaller too ...
const LOCATED_CORRECTED: f64 = 1e-6;
/// ... and the time left is below this part of the step: the last hops of a bouncing ball are resolved like the first.
const LOCATED_TIME: f64 = 1e-6;
/// An event whose distance from the end of the step is below this part of it is handled at the end: the rest would be a step of which
/// only rounding is left.
const AT_END: f64 = 1e-9;
/// Distance beyond the crossing that is aimed at, as part of the one allowed.
const LEAD: f64 = 0.125;
/// Rounding of φ, over the largest coordinate: a hop of 1e-12 m cannot be located better.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Rounding of φ over a step: constraints are closed to a few times the rounding of the coordinates.
const HOP_ROUNDING: f64 = 8.0;

/// Accuracy to which an event is located, as times (s).
#[derive(Clone, Copy)]
pub(super) struct LocationAccuracy {
    /// Time in which the motion is below the allowed part of the tolerance.
    pub motion: f64,
    /// Rounding of the time.
    pub resolution: f64,
    /// Largest time beyond the crossing.
    pub within: f64,
    /// Time beyond the crossing that is aimed at.
    pub lead: f64,
    /// Rounding of φ (m or rad).
    pub rounding: f64,
}

/// How the search for a crossing by repeated trials ended.
#[derive(Clone, Copy)]
pub(super) enum Approach {
    /// The trial ends on it.
    OnCrossing,
    /// φ is not smooth, or the crossing is not there: the bracket says what is known.
    NotSmooth,
    /// The trial of this size fails the error test, although a longer one has passed it.
    Inaccurate(f64),
}

/// Search for the crossing of one event: step sizes that end before and after it.
pub(super) struct Bracket {
    pub before: f64,
    pub after: f64,
    /// Size of the full step.
    pub full: f64,
    /// Shortest size that ends behind the crossing, of those that have not failed.
    pub end: f64,
    /// A trial has ended on the other side of φ = 0.
    pub seen: bool,
}

/// Which repeated trials may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeated {
    /// Those that pass the error test, as the full step did.
    Tested,
    /// All: no shorter step is better.
    Untested,
}

impl Integrator {
    /// Repeats the trial until it ends on the predicted crossing.
    pub(super) fn approach(
        &mut self,
        p: &Problem,
        s: &State,
        (predicted, accuracy): (PredictedCrossing, LocationAccuracy),
        repeated: Repeated,
        bracket: &mut Bracket,
        stats: &mut Statistics,
    ) -> Result<Approach> {
        let (full_t, full_h) = (self.trial.t, self.trial.h);
        let mut h = predicted.root * full_h + accuracy.lead;
        if h > (1.0 - AT_END) * full_h {
            // The trial ends there already.
            h = full_h;
        }
        for repetition in 1..=REPETITIONS {
            let t1 = if h == full_h { full_t } else { s.t + h };
            match self.repeat_step(p, s, (h, t1), stats) {
                Ok(error) if self.may_stand(p, s, repeated, error) => {}
                Ok(_) => return Ok(Approach::Inaccurate(h)),
                Err(failure) if failure.is_fatal() => {
                    return Err(failure.error(p.system, s.t, h));
                }
                Err(_) => {
                    // No step ends here: try one closer to the start.
                    bracket.after = h;
                    h = 0.5 * (bracket.before + bracket.after);
                    continue;
                }
            }
            self.evaluate_end(p);
            match self.narrow(p, s, predicted, accuracy, bracket, h) {
                None => return Ok(Approach::OnCrossing),
                Some(_) if !bracket.seen && repetition >= GRAZE_REPETITIONS => break,
                Some(next) => h = next,
            }
        }
        Ok(Approach::NotSmooth)
    }

    /// The accuracy for an event predicted at the part `root` of the trial.
    pub(super) fn location_accuracy(
        &mut self,
        p: &Problem,
        s: &State,
        root: f64,
    ) -> LocationAccuracy {
        let h = self.trial.h;
        let cx = self.work.inputs.at(p, s.t);
        let norm = |v: &[f64]| p.system.norm(&cx, &s.q, &s.scale, v);
        let speed = norm(&self.trial.v).max(norm(&s.v));
        let part = if self.trial.corrected {
            LOCATED_CORRECTED
        } else {
            LOCATED
        };
        let resolution = 4.0 * f64::EPSILON * s.t.abs().max(h);
        let motion = if speed > 0.0 {
            part * self.work.settings.tolerance / speed
        } else {
            h
        };
        let within = motion.min(LOCATED_TIME * root * h).max(resolution);
        LocationAccuracy {
            motion,
            resolution,
            within,
            lead: (LEAD * within).max(0.5 * resolution),
            rounding: ROUNDING * s.q.iter().fold(0.0, |m: f64, q| m.max(q.abs())),
        }
    }

    /// Narrows the bracket with φ at the end of the trial of size `h`. Returns the next size to try, by Newton's formula or
    /// bisection; None if the trial ends on the event.
    fn narrow(
        &self,
        p: &Problem,
        s: &State,
        predicted: PredictedCrossing,
        accuracy: LocationAccuracy,
        bracket: &mut Bracket,
        h: f64,
    ) -> Option<f64> {
        let PredictedCrossing {
            event,
            rising,
            pair,
            ..
        } = predicted;
        let [x0, x] = (self.events).end_values(p, event, s.event_memory[event]);
        let known = self.events.rate[1][event];
        let rate = if known.is_nan() { (x - x0) / h } else { known };
        let past = if rising { x >= 0.0 } else { x <= 0.0 };
        let towards = (rate > 0.0) == rising;
        // The time in which φ changes by its rounding.
        let rounding = match known.is_nan() {
            true => 0.0,
            false => accuracy.rounding / rate.abs(),
        };
        let within = if h == bracket.full {
            accuracy.within.max(AT_END * h)
        } else {
            accuracy.within.max(2.0 * rounding)
        };
        if past && towards && (x == 0.0 || (x / rate).abs() <= within) {
            return None;
        }
        // A hop that still rises has not come back, whatever the rounding of φ says.
        let rises = x0 == 0.0 && !towards && x.abs() <= HOP_ROUNDING * accuracy.rounding;
        // Where φ moves back, the first crossing of a pair lies before this point and the second one behind it.
        let start = if rising {
            EventSide::Negative
        } else {
            EventSide::Positive
        };
        let first = pair && EventSide::of(x0) == start;
        let behind = if towards || !pair { past } else { first };
        if behind && !rises {
            (bracket.after, bracket.end) = (h, h);
        } else {
            bracket.before = h;
        }
        bracket.seen |= EventSide::of(x) != EventSide::of(x0);
        let newton = h - x / rate + accuracy.lead.max(rounding);
        Some(if newton > bracket.before && newton < bracket.after {
            newton
        } else {
            0.5 * (bracket.before + bracket.after)
        })
    }

    /// Whether a repeated trial may stand: it passes the error test, or the whole motion in it is far below the tolerance, where the
    /// estimate is rounding.
    pub(super) fn may_stand(
        &mut self,
        p: &Problem,
        s: &State,
        repeated: Repeated,
        error: f64,
    ) -> bool {
        repeated == Repeated::Untested
            || self.work.control.accepts(error)
            || self.trial.h <= self.location_accuracy(p, s, 1.0).motion
    }

    /// Shortens the step of size `h`, which failed or was too inaccurate, until one may stand. Returns false if none does; an error only
    /// if no other step can help.
    pub(super) fn retry_shorter(
        &mut self,
        p: &Problem,
        s: &State,
        mut h: f64,
        stats: &mut Statistics,
    ) -> Result<bool> {
        loop {
            h *= FAILURE_RATIO;
            if h < self.work.control.smallest(s.t) {
                return Ok(false);
            }
            match self.repeat_step(p, s, (h, s.t + h), stats) {
                Ok(error) if self.may_stand(p, s, Repeated::Tested, error) => return Ok(true),
                Err(failure) if failure.is_fatal() => {
                    return Err(failure.error(p.system, s.t, h));
                }
                _ => {}
            }
        }
    }

    /// Repeats the step with the size h, to the time `t1`.
    pub(super) fn repeat_step(
        &mut self,
        p: &Problem,
        s: &State,
        (h, t1): (f64, f64),
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure> {
        stats.event_repeats += 1;
        let target = StepTarget {
            h,
            t1,
            end: StepEnd::Fixed,
            slow_contraction: SlowContraction::Uncorrected,
        };
        self.try_step(p, s, target, stats)
    }
}
