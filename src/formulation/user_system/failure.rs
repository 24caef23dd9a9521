//! What somebody's code has refused, and whom that is told to.
//!
//! A refusal in a place that cannot tell it waits: "not here" for the next force or matrix at the same time (another
//! time is another attempt, which has to be judged anew), "stop" for the next one at all. Until then the error norm is NaN, so no
//! step is accepted. What was refused last is kept for the sentence of the call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Callback, CallbackResult};
use crate::formulation::{Evaluated, EvaluationFailure};

/// What was wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FailureKind {
    /// The function answered this instead of 0.
    Answered(CallbackResult),
    /// It wrote NaN or infinity at this index.
    NotFinite(usize, f64),
}

/// Something refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallbackFailure {
    /// By whom.
    pub part: Callback,
    /// When (s); NaN where the function is not told the time.
    pub time: f64,
    /// Why.
    pub what: FailureKind,
    /// The run has to end, whatever the integrator could still do.
    pub ends: bool,
}

#[derive(Default)]
struct Memory {
    last: Option<CallbackFailure>,
    waiting: Option<(EvaluationFailure, f64)>,
}

/// The memory of refusals; quiet and cheap as long as there are none.
#[derive(Default)]
pub struct CallbackFailures {
    any: AtomicBool,
    waiting: AtomicBool,
    memory: Mutex<Memory>,
}

impl CallbackFailures {
    fn with<T>(&self, action: impl FnOnce(&mut Memory) -> T) -> T {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let result = action(&mut memory);
        self.waiting
            .store(memory.waiting.is_some(), Ordering::Relaxed);
        self.any.store(memory.last.is_some(), Ordering::Relaxed);
        result
    }

    fn note(&self, trouble: CallbackFailure) {
        self.with(|memory| {
            // What ends the run is not talked over by what follows from it.
            if !memory.last.is_some_and(|last| last.ends) {
                memory.last = Some(trouble);
            }
        });
    }

    /// An answer and the numbers that came with it. Numbers that are not finite are a refusal too.
    pub(super) fn judge(
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

    /// A fault that cannot be told here.
    pub(super) fn postpone(&self, fault: EvaluationFailure, time: f64) {
        self.with(|memory| {
            if !matches!(memory.waiting, Some((EvaluationFailure::Fatal(_), _))) {
                memory.waiting = Some((fault, time));
            }
        });
    }

    /// Every refusal of these parts ends the run.
    pub(super) fn stop(&self, part: Callback, time: f64, answer: CallbackResult) {
        self.note(CallbackFailure {
            part,
            time,
            what: FailureKind::Answered(answer),
            ends: true,
        });
        self.postpone(EvaluationFailure::Fatal(answer), time);
    }

    /// The same for numbers.
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

    /// Tells what waits.
    pub(super) fn tell(&self, time: f64) -> Evaluated {
        if !self.waiting() {
            return Ok(());
        }
        self.with(|memory| match memory.waiting {
            Some((fault @ EvaluationFailure::Fatal(_), _)) => Err(fault),
            Some((fault, then)) => {
                memory.waiting = None;
                // A part that is not told the time may mean this attempt or the one before: once more is safe.
                match then == time || then.is_nan() {
                    true => Err(fault),
                    false => Ok(()),
                }
            }
            None => Ok(()),
        })
    }

    /// Does a refusal wait to be told?
    pub fn waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed)
    }

    /// What was refused last, and all forgotten.
    pub fn take(&self) -> Option<CallbackFailure> {
        if !self.any.load(Ordering::Relaxed) && !self.waiting() {
            return None;
        }
        self.with(|memory| {
            memory.waiting = None;
            memory.last.take()
        })
    }

    /// All forgotten.
    pub fn clear(&self) {
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_here_waits_for_the_same_time_only_and_is_told_once() {
        let troubles = CallbackFailures::default();
        troubles.postpone(EvaluationFailure::Recoverable(3), 1.0);
        assert!(troubles.waiting());
        assert_eq!(troubles.tell(1.0), Err(EvaluationFailure::Recoverable(3)));
        assert_eq!(troubles.tell(1.0), Ok(()));
        troubles.postpone(EvaluationFailure::Recoverable(3), 1.0);
        assert_eq!(troubles.tell(0.5), Ok(()));
        assert!(!troubles.waiting());
    }

    #[test]
    fn stop_is_told_until_it_is_taken_and_is_not_talked_over() {
        let troubles = CallbackFailures::default();
        troubles.stop(Callback::Events, 1.0, 5);
        assert_eq!(
            troubles.judge(Callback::Force, 2.0, 7, &[]),
            Err(EvaluationFailure::Recoverable(7))
        );
        troubles.postpone(EvaluationFailure::Recoverable(7), 2.0);
        assert_eq!(troubles.tell(2.0), Err(EvaluationFailure::Fatal(5)));
        assert_eq!(troubles.tell(3.0), Err(EvaluationFailure::Fatal(5)));
        let last = troubles.take().unwrap();
        assert_eq!(
            (last.part, last.what, last.ends),
            (Callback::Events, FailureKind::Answered(5), true)
        );
        assert_eq!((troubles.take(), troubles.tell(4.0)), (None, Ok(())));
    }

    #[test]
    fn the_first_number_that_is_not_finite_is_named() {
        let troubles = CallbackFailures::default();
        let out = [1.0, f64::INFINITY, f64::NAN];
        let told = troubles.judge(Callback::Constraint, 0.25, 0, &out);
        assert_eq!(told, Err(EvaluationFailure::Recoverable(0)));
        let last = troubles.take().unwrap();
        assert_eq!(last.what, FailureKind::NotFinite(1, f64::INFINITY));
        assert_eq!((last.part, last.time), (Callback::Constraint, 0.25));
    }
}
