//! Failures of user callbacks, kept until an evaluation can report them.
//!
//! A failure is pending if the evaluation in which it occurred cannot return it: a recoverable one until the next force or matrix at
//! the same time (another time belongs to another trial step), a fatal one until the next force or matrix at any time. Meanwhile the
//! error norm is NaN, so that no step is accepted. The last failure is kept for the error message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Callback, CallbackResult};
use crate::formulation::{Evaluated, EvaluationFailure};

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FailureKind {
    /// The callback returned this instead of 0.
    Answered(CallbackResult),
    /// The callback wrote NaN or infinity at this index.
    NotFinite(usize, f64),
}

/// Failure of a callback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallbackFailure {
    /// The callback.
    pub part: Callback,
    /// Time (s); NaN if the callback does not get the time.
    pub time: f64,
    /// Kind.
    pub what: FailureKind,
    /// The simulation stops, although a smaller step might succeed.
    pub ends: bool,
}

#[derive(Default)]
struct FailureRecord {
    last: Option<CallbackFailure>,
    pending: Option<(EvaluationFailure, f64)>,
}

/// The failures of a user-defined system. Without failures, queries cost one atomic load.
#[derive(Default)]
pub struct CallbackFailures {
    any: AtomicBool,
    pending: AtomicBool,
    record: Mutex<FailureRecord>,
}

impl CallbackFailures {
    fn with<T>(&self, action: impl FnOnce(&mut FailureRecord) -> T) -> T {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let result = action(&mut record);
        self.pending
            .store(record.pending.is_some(), Ordering::Relaxed);
        self.any.store(record.last.is_some(), Ordering::Relaxed);
        result
    }

    fn note(&self, failure: CallbackFailure) {
        self.with(|record| {
            // A fatal failure is not replaced by its consequences.
            if !record.last.is_some_and(|last| last.ends) {
                record.last = Some(failure);
            }
        });
    }

    /// Checks the return value and the output of a callback; output that is not finite is a failure too.
    pub(super) fn check(
        &self,
        part: Callback,
        time: f64,
        answer: CallbackResult,
        out: &[f64],
    ) -> Evaluated {
        if answer == 0 {
            if let Some(i) = out.iter().position(|x| !x.is_finite()) {
                let what = FailureKind::NotFinite(i, out[i]);
                self.note(CallbackFailure {
                    part,
                    time,
                    what,
                    ends: false,
                });
                return Err(EvaluationFailure::Recoverable(0));
            }
            return Ok(());
        }
        self.note(CallbackFailure {
            part,
            time,
            what: FailureKind::Answered(answer),
            ends: answer < 0,
        });
        Err(match answer > 0 {
            true => EvaluationFailure::Recoverable(answer),
            false => EvaluationFailure::Fatal(answer),
        })
    }

    /// Keeps a failure that cannot be reported in this evaluation.
    pub(super) fn postpone(&self, failure: EvaluationFailure, time: f64) {
        self.with(|record| {
            if !matches!(record.pending, Some((EvaluationFailure::Fatal(_), _))) {
                record.pending = Some((failure, time));
            }
        });
    }

    /// Keeps a fatal failure of a callback.
    pub(super) fn stop(&self, part: Callback, time: f64, answer: CallbackResult) {
        self.note(CallbackFailure {
            part,
            time,
            what: FailureKind::Answered(answer),
            ends: true,
        });
        self.postpone(EvaluationFailure::Fatal(answer), time);
    }

    /// Keeps a fatal failure if the output is not finite.
    pub(super) fn stop_if_not_finite(&self, part: Callback, time: f64, out: &[f64]) {
        if let Some(i) = out.iter().position(|x| !x.is_finite()) {
            self.note(CallbackFailure {
                part,
                time,
                what: FailureKind::NotFinite(i, out[i]),
                ends: true,
            });
            self.postpone(EvaluationFailure::Fatal(0), time);
        }
    }

    /// Returns the pending failure.
    pub(super) fn report(&self, time: f64) -> Evaluated {
        if !self.is_pending() {
            return Ok(());
        }
        self.with(|record| match record.pending {
            Some((failure @ EvaluationFailure::Fatal(_), _)) => Err(failure),
            Some((failure, then)) => {
                record.pending = None;
                // A callback without time may belong to this trial step or to the one before: failing once more is safe.
                match then == time || then.is_nan() {
                    true => Err(failure),
                    false => Ok(()),
                }
            }
            None => Ok(()),
        })
    }

    /// Whether a failure is pending.
    pub fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed)
    }

    /// Returns the last failure and forgets all.
    pub fn take(&self) -> Option<CallbackFailure> {
        if !self.any.load(Ordering::Relaxed) && !self.is_pending() {
            return None;
        }
        self.with(|record| {
            record.pending = None;
            record.last.take()
        })
    }

    /// Forgets all failures.
    pub fn clear(&self) {
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recoverable_failure_is_reported_once_and_only_at_its_time() {
        let failures = CallbackFailures::default();
        failures.postpone(EvaluationFailure::Recoverable(3), 1.0);
        assert!(failures.is_pending());
        assert_eq!(failures.report(1.0), Err(EvaluationFailure::Recoverable(3)));
        assert_eq!(failures.report(1.0), Ok(()));
        failures.postpone(EvaluationFailure::Recoverable(3), 1.0);
        assert_eq!(failures.report(0.5), Ok(()));
        assert!(!failures.is_pending());
    }

    #[test]
    fn a_fatal_failure_is_reported_until_it_is_taken() {
        let failures = CallbackFailures::default();
        failures.stop(Callback::Events, 1.0, 5);
        assert_eq!(
            failures.check(Callback::Force, 2.0, 7, &[]),
            Err(EvaluationFailure::Recoverable(7))
        );
        failures.postpone(EvaluationFailure::Recoverable(7), 2.0);
        assert_eq!(failures.report(2.0), Err(EvaluationFailure::Fatal(5)));
        assert_eq!(failures.report(3.0), Err(EvaluationFailure::Fatal(5)));
        let last = failures.take().unwrap();
        assert_eq!(
            (last.part, last.what, last.ends),
            (Callback::Events, FailureKind::Answered(5), true)
        );
        assert_eq!((failures.take(), failures.report(4.0)), (None, Ok(())));
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_reported() {
        let failures = CallbackFailures::default();
        let out = [1.0, f64::INFINITY, f64::NAN];
        let reported = failures.check(Callback::Constraint, 0.25, 0, &out);
        assert_eq!(reported, Err(EvaluationFailure::Recoverable(0)));
        let last = failures.take().unwrap();
        assert_eq!(last.what, FailureKind::NotFinite(1, f64::INFINITY));
        assert_eq!((last.part, last.time), (Callback::Constraint, 0.25));
    }
}
