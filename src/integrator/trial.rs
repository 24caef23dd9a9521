//! A trial step: how it is planned, the point it ends on with the history it would leave, and why it may fail.

use super::controller::{StepControl, StepPlan};
use super::singularity::UNUSUAL_PART;
use super::state::State;
use super::tolerances::REDUNDANT_RESIDUAL;
use crate::constraint::augmented_lagrangian::Penalty;
use crate::error::Error;
use crate::formulation::system::{Dimensions, EvaluationFailure, System};

/// Ratios of the step sizes that are tried instead of one that ends near a singular position.
const MOVED_ENDS: [f64; 4] = [1.15, 0.85, 1.3, 0.5];
/// Ratios of the step sizes that are tried after no end near a singular position has converged: steps that lead beyond it.
/// Shorter ones would end nearer to it, where rounding is amplified more.
const LEAPS: [f64; 5] = [2.0, 4.0, 8.0, 16.0, 32.0];
/// Largest ratio of the next trial to the step that was to be moved, once the error test has failed beyond the singular
/// position: well before it, or the same moves would follow again.
const SHORT_OF_SINGULARITY: f64 = 0.6;
/// Trials of one step that are shortened because the corrector does not contract. Each shortens by at least 0.7, so that the
/// contraction, which falls at least with h, has come down by ten before HHT alone is taken.
const CONTRACTION_TRIALS: u32 = 6;

/// Pivot below which accelerations are amplified rounding ...
const AMPLIFYING_PIVOT: f64 = 1e-4;
/// ... and below which they are so if it is also a small part of the typical one.
const UNUSUAL_PIVOT: f64 = 1e-3;

/// Coordinate or constraint that an error names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Culprit {
    Coordinate(usize),
    Constraint(usize),
}

impl Culprit {
    pub fn name(self, system: &dyn System) -> String {
        match self {
            Self::Coordinate(i) => system.coordinate_name(i),
            Self::Constraint(i) => system.constraint_name(i),
        }
    }
}

/// Whether the end of a step may be moved away from a singular position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepEnd {
    /// It may: near a singular position the trial fails with [`StepFailure::NearSingular`].
    Movable,
    /// It may not: near a singular position the step is taken beyond it and interpolated back.
    Fixed,
    /// It is used as it is.
    Forced,
}

/// What a trial step does when its end is near a singular position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NearSingular {
    /// It fails with [`StepFailure::NearSingular`].
    Reject,
    /// It is computed like any other.
    Accept,
}

/// What a trial step does when the corrector does not contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlowContraction {
    /// It fails with [`StepFailure::SlowContraction`]: a shorter step may contract.
    Reject,
    /// The HHT step is kept as it is.
    Uncorrected,
}

/// How a trial step is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TrialOptions {
    pub near_singular: NearSingular,
    pub slow_contraction: SlowContraction,
    /// Penalty of the augmented Lagrangian.
    pub penalty: Penalty,
}

impl TrialOptions {
    /// With the penalty of the settings.
    pub fn new(near_singular: NearSingular, slow_contraction: SlowContraction) -> Self {
        Self {
            near_singular,
            slow_contraction,
            penalty: Penalty::Given,
        }
    }
}

/// Size and end of one trial step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepTarget {
    /// s
    pub h: f64,
    /// Time at the end: the exact communication point if the step lands on it (s).
    pub t1: f64,
    pub end: StepEnd,
    pub slow_contraction: SlowContraction,
}

/// The plan for the next trial of a step, revised after each failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialPlan {
    pub step: StepPlan,
    /// The accepted step may propose a longer one: no trial has failed yet.
    pub may_grow: bool,
    /// How often the set of redundant constraints has been updated.
    pub rank_updates: usize,
    t0: f64,
    t_end: f64,
    fixed: bool,
    /// How often the end has been moved away from a singular position.
    end_moves: usize,
    /// Step size before the end was moved (s).
    unmoved_h: f64,
    /// Largest pivot at the ends tried, and the step size that leads there.
    best_end: (f64, f64),
    /// How many leaps over a singular position have been tried.
    leaps: usize,
    /// Trials that may still be shortened because the corrector did not contract.
    contraction_trials: u32,
}

impl TrialPlan {
    /// The first trial of a step from `s` towards `t_end`.
    pub fn new(control: &StepControl, s: &State, t_end: f64) -> Self {
        let step = control.plan(s.next_h, t_end - s.t);
        Self {
            step,
            may_grow: s.may_grow,
            rank_updates: 0,
            t0: s.t,
            t_end,
            fixed: control.fixed().is_some(),
            end_moves: 0,
            unmoved_h: step.h,
            best_end: (0.0, step.h),
            leaps: 0,
            contraction_trials: CONTRACTION_TRIALS,
        }
    }

    /// Size and end of the next trial.
    pub fn target(&self) -> StepTarget {
        let t1 = if self.step.lands {
            self.t_end
        } else {
            self.t0 + self.step.h
        };
        // The end is a rounded time: the step is as long as the clock says, unless it is shorter than its resolution.
        let h = t1 - self.t0;
        StepTarget {
            h: if h > 0.0 && !self.fixed {
                h
            } else {
                self.step.h
            },
            t1,
            slow_contraction: match self.contraction_trials {
                0 => SlowContraction::Uncorrected,
                _ => SlowContraction::Reject,
            },
            end: if self.step.lands || self.fixed {
                StepEnd::Fixed
            } else if self.end_moves <= MOVED_ENDS.len() {
                StepEnd::Movable
            } else {
                StepEnd::Forced
            },
        }
    }

    /// Moves the end away from a singular position, where the smallest pivot was `pivot`: a little further, or not quite as
    /// far. If no move helps, the best of the ends is forced.
    pub fn move_end(&mut self, pivot: f64, control: &StepControl) {
        if self.end_moves == 0 || pivot > self.best_end.0 {
            self.best_end = (pivot, self.step.h);
        }
        self.step.h = match MOVED_ENDS.get(self.end_moves) {
            Some(ratio) => control.limit(ratio * self.unmoved_h),
            None => self.best_end.1,
        };
        self.end_moves += 1;
    }

    /// Plans a step over a singular position near which Newton's iteration has failed; false if all leaps have failed.
    pub fn leap(&mut self, control: &StepControl) -> bool {
        if self.fixed || self.leaps >= LEAPS.len() {
            return false;
        }
        self.end_moves = MOVED_ENDS.len() + 1;
        let h = control.limit(LEAPS[self.leaps] * self.unmoved_h);
        let remaining = self.t_end - self.t0;
        self.step = StepPlan {
            h: h.min(remaining),
            lands: h >= remaining,
            cut: false,
        };
        self.leaps += 1;
        true
    }

    /// Largest step to try after the error test has failed.
    pub fn limit_after_error(&self, h: f64) -> f64 {
        if self.end_moves > 0 {
            h.min(SHORT_OF_SINGULARITY * self.unmoved_h)
        } else {
            h
        }
    }

    /// Notes that the corrector has not contracted, `trials` of the trials it may cost.
    pub fn spend_contraction_trials(&mut self, trials: u32) {
        self.contraction_trials = self.contraction_trials.saturating_sub(trials);
    }

    /// Plans a trial of size `h` that lands nowhere.
    pub fn shorten(&mut self, h: f64) {
        self.step = StepPlan {
            h,
            lands: false,
            cut: false,
        };
        self.may_grow = false;
        (self.end_moves, self.unmoved_h) = (0, h);
    }
}

/// Why a trial step failed. The state is unchanged; a shorter step may succeed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepFailure {
    /// Newton's iteration or a position closure did not converge.
    Newton {
        iterations: u32,
        residual: f64,
        culprit: Culprit,
    },
    /// An evaluation returned NaN or infinity.
    NotFinite(Culprit),
    /// A matrix could not be factorised.
    Singular(Culprit),
    /// The step would end near a singular position; a slightly longer or shorter one would not.
    NearSingular,
    /// The corrector contracts too slowly; at `ratio` of this step size it would contract well enough.
    SlowContraction { ratio: f64 },
    /// A body turns by more than half a turn: the ends of the step do not tell by how much.
    HalfTurn,
    /// A constraint treated as redundant has the scaled residual `by`: it no longer follows from the others.
    RedundancyLost { row: usize, by: f64 },
    /// A callback reported a failure.
    Evaluation(EvaluationFailure),
}

impl From<EvaluationFailure> for StepFailure {
    fn from(failure: EvaluationFailure) -> Self {
        Self::Evaluation(failure)
    }
}

impl StepFailure {
    /// No other step size can help.
    pub fn is_fatal(self) -> bool {
        matches!(self, Self::Evaluation(EvaluationFailure::Fatal(_)))
    }

    /// The error of a failure that ends the run, for a step of size `step` from `time`.
    pub fn error(self, system: &dyn System, time: f64, step: f64) -> Error {
        if let Self::Newton { .. } | Self::NotFinite(_) | Self::Singular(_) = self
            && let Some((culprit, independent)) = dependent_failure(system)
        {
            return Error::Coordinates {
                time,
                step,
                culprit,
                independent,
            };
        }
        match self {
            Self::Newton {
                iterations,
                residual,
                culprit,
            } => Error::NewtonDiverged {
                time,
                step,
                iterations,
                residual,
                culprit: culprit.name(system),
            },
            Self::NotFinite(culprit) => Error::Evaluation {
                time,
                culprit: culprit.name(system),
            },
            Self::RedundancyLost { row, by } => Error::NewtonDiverged {
                time,
                step,
                iterations: 0,
                residual: by / REDUNDANT_RESIDUAL,
                culprit: system.constraint_name(row),
            },
            // The step loop answers these by another trial, never by an error.
            Self::NearSingular | Self::SlowContraction { .. } | Self::HalfTurn => {
                Error::NewtonDiverged {
                    time,
                    step,
                    iterations: 0,
                    residual: 0.0,
                    culprit: String::new(),
                }
            }
            Self::Singular(culprit) => Error::SingularMass {
                culprit: culprit.name(system),
            },
            Self::Evaluation(
                EvaluationFailure::Recoverable(code) | EvaluationFailure::Fatal(code),
            ) => Error::Callback { time, code },
        }
    }

    /// The error of a failure after which no shorter step is allowed; `step` is the size that would be below the minimum.
    pub fn step_too_small(self, system: &dyn System, time: f64, step: f64) -> Error {
        match self {
            Self::RedundancyLost { row, .. } => Error::StepTooSmall {
                time,
                step,
                reason: "a constraint that followed from the others contradicts them",
                culprit: system.constraint_name(row),
            },
            Self::Newton { culprit, .. } | Self::Singular(culprit)
                if dependent_failure(system).is_none() =>
            {
                did_not_converge(culprit, system, time, step)
            }
            failure => failure.error(system, time, step),
        }
    }

    /// The error of a fixed step that may not be cut any further. By then a singular matrix does not mean coordinates without
    /// mass.
    pub fn fixed_step_too_small(self, system: &dyn System, time: f64, step: f64) -> Error {
        match self {
            Self::Singular(culprit) => did_not_converge(culprit, system, time, step),
            failure => failure.error(system, time, step),
        }
    }
}

/// The dependent coordinate that could not be solved for, and the independent ones.
fn dependent_failure(system: &dyn System) -> Option<(String, Vec<String>)> {
    system.partitioning()?.dependent_failure()
}

fn did_not_converge(culprit: Culprit, system: &dyn System, time: f64, step: f64) -> Error {
    Error::StepTooSmall {
        time,
        step,
        reason: "the implicit equations did not converge",
        culprit: culprit.name(system),
    }
}

/// The end of a trial step and the history it would leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    /// Time at the end (s).
    pub t: f64,
    /// Step size (s).
    pub h: f64,
    /// ã, the algorithmic acceleration at the start, shifted to this step size.
    pub at: Vec<f64>,
    /// Unknown of Newton's iteration, x = h δ.
    pub x: Vec<f64>,
    /// Displacement Θ, q₁ = q₀ ∘ Θ.
    pub theta: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub acc: Vec<f64>,
    pub lambda: Vec<f64>,
    /// Algorithmic acceleration.
    pub a: Vec<f64>,
    pub delta: Vec<f64>,
    pub delta_dot: Vec<f64>,
    pub lambda_dot: Vec<f64>,
    pub jerk: Vec<f64>,
    /// `jerk` is the exact jerk at the end.
    pub jerk_known: bool,
    pub newton_contraction: f64,
    pub contraction_uses: u32,
    /// The fourth-order correction has been kept.
    pub corrected: bool,
    /// Taken on the smooth path: its jerks are those of the motion.
    pub smooth: bool,
    /// The passes of the smooth path did not contract.
    pub smooth_failed: bool,
    /// Largest ratio of the next step to this one that the motion allows.
    pub growth: f64,
    /// The error would allow a far longer step than the contraction of the corrector.
    pub stiffness_limits: bool,
    /// [`State::motion_time`] after the step.
    pub motion_time: f64,
    /// Smallest pivot of the scaled constraints near the end of the step.
    pub pivot: f64,
    /// The step was taken beyond its end and interpolated back: the next one starts without history.
    pub restarts_history: bool,
    /// Largest scaled residual of the redundant constraints, and its constraint.
    pub redundant_residual: (f64, usize),
}

impl Trial {
    pub fn new(size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        Self {
            at: v(),
            x: v(),
            theta: v(),
            a: v(),
            delta: v(),
            delta_dot: v(),
            lambda_dot: vec![0.0; size.nc],
            ..Self::result(size)
        }
    }

    /// Memory for the point an HHT step ends on, without the history.
    pub fn result(size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        Self {
            q: vec![0.0; size.nq],
            v: v(),
            acc: v(),
            lambda: vec![0.0; size.nc],
            jerk: v(),
            newton_contraction: f64::INFINITY,
            pivot: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Prepares a trial of size `h` from `s` that ends at `t1`.
    pub fn begin(&mut self, s: &State, h: f64, t1: f64) {
        (self.t, self.h) = (t1, h);
        (self.corrected, self.jerk_known) = (false, false);
        (self.smooth, self.smooth_failed) = (false, false);
        self.growth = f64::INFINITY;
        (self.stiffness_limits, self.motion_time) = (false, s.motion_time);
        self.redundant_residual = (0.0, 0);
        (self.pivot, self.restarts_history) = (s.typical_pivot, false);
    }

    /// The trial ends so close to a singular position that its accelerations are amplified rounding: their derivatives tell
    /// nothing about the motion or about stiffness.
    pub fn amplifies_rounding(&self, s: &State) -> bool {
        self.pivot < AMPLIFYING_PIVOT
            || (self.pivot < UNUSUAL_PIVOT && self.pivot < UNUSUAL_PART * s.typical_pivot)
    }

    /// Copies the point an HHT step ends on; its history is computed when the step is completed.
    pub fn copy_point(&mut self, other: &Trial) {
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.acc.copy_from_slice(&other.acc);
        self.lambda.copy_from_slice(&other.lambda);
        self.jerk.copy_from_slice(&other.jerk);
        self.jerk_known = other.jerk_known;
        self.redundant_residual = other.redundant_residual;
    }
}
