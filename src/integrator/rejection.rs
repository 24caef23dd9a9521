//! Trial steps that were not accepted, kept for whoever wants to know why the solver stepped as it did.

use super::Integrator;
use super::state::State;
use super::trial::StepFailure;
use super::workspace::Problem;

/// A trial step that was rejected, or that failed and was retried with another step size.
#[derive(Clone, Debug, PartialEq)]
pub struct RejectedStep {
    /// Start of the step (s).
    pub time: f64,
    /// Its size (s).
    pub step: f64,
    /// Estimated error over the tolerance; NaN where the step did not get as far as the estimate.
    pub error: f64,
    /// Which test it did not pass.
    pub reason: &'static str,
    /// Coordinate or constraint that was worst; empty where none can be named.
    pub culprit: String,
}

/// All reasons, so that those who list or count them need no list of their own.
pub const REJECTION_REASONS: [&str; 9] = [
    ERROR_TEST,
    "Newton's iteration did not converge",
    "the equations are not finite",
    "the step matrix is singular",
    "the step would end near a singular position",
    "a redundant constraint opened",
    "a callback asked for a shorter step",
    "the corrector did not contract",
    "a body turns by more than half a turn",
];
const ERROR_TEST: &str = "the estimated error is above the tolerance";

impl Integrator {
    /// Keeps rejected steps from now on, or stops doing so. It costs allocations, so it is off unless asked for.
    pub fn record_rejected_steps(&mut self, on: bool) {
        self.rejected_steps = on.then(Vec::new);
    }

    /// The rejected steps since the last call; those of a step that failed altogether are among them.
    pub fn take_rejected_steps(&mut self) -> Vec<RejectedStep> {
        match &mut self.rejected_steps {
            Some(list) => std::mem::take(list),
            None => Vec::new(),
        }
    }

    /// Notes that the error test rejected a step of size `h`. The culprit is that of the message of a
    /// step that became too small.
    pub(super) fn note_error_test(&mut self, p: &Problem, state: &State, h: f64, error: f64) {
        if self.rejected_steps.is_none() {
            return;
        }
        let worst = self.method.worst_coordinate(&self.trial);
        self.note(state, h, error, ERROR_TEST, p.system.coordinate_name(worst));
    }

    /// Notes that a step of size `h` failed before its error could be estimated.
    pub(super) fn note_failure(
        &mut self,
        p: &Problem,
        state: &State,
        h: f64,
        failure: StepFailure,
    ) {
        if self.rejected_steps.is_none() {
            return;
        }
        let (reason, culprit) = match failure {
            StepFailure::Newton { culprit, .. } => (1, culprit.name(p.system)),
            StepFailure::NotFinite(culprit) => (2, culprit.name(p.system)),
            StepFailure::Singular(culprit) => (3, culprit.name(p.system)),
            StepFailure::NearSingular => (4, String::new()),
            StepFailure::RedundancyLost { row, .. } => (5, p.system.constraint_name(row)),
            StepFailure::Evaluation(_) => (6, String::new()),
            StepFailure::SlowContraction { .. } => (7, String::new()),
            StepFailure::HalfTurn => (8, String::new()),
        };
        self.note(state, h, f64::NAN, REJECTION_REASONS[reason], culprit);
    }

    fn note(
        &mut self,
        state: &State,
        step: f64,
        error: f64,
        reason: &'static str,
        culprit: String,
    ) {
        if let Some(list) = &mut self.rejected_steps {
            list.push(RejectedStep {
                time: state.t,
                step,
                error,
                reason,
                culprit,
            });
        }
    }
}
