//! A trial step: the point it ends on and the history it would leave, or why it failed.

use super::tolerances::REDUNDANT_RESIDUAL;
use crate::error::Error;
use crate::formulation::system::{Dimensions, EvaluationFailure, System};

/// Coordinate or constraint row to blame.
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

/// Why an attempt at a step was given up. Nothing has been changed; a shorter step may succeed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepFailure {
    Newton {
        iterations: u32,
        residual: f64,
        culprit: Culprit,
    },
    NotFinite(Culprit),
    Singular(Culprit),
    /// The step would end near a singular position: one a little longer or shorter would not.
    NearSingular,
    /// A row that was left out because it followed from the others does not do so any more, by this part of its scale.
    RedundancyLost {
        row: usize,
        by: f64,
    },
    Evaluation(EvaluationFailure),
}

impl From<EvaluationFailure> for StepFailure {
    fn from(fault: EvaluationFailure) -> Self {
        Self::Evaluation(fault)
    }
}

/// A step in the making: the point it ends on and the memory it would leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    pub t: f64,
    pub h: f64,
    /// Shifted algorithmic acceleration at the start of the step.
    pub at: Vec<f64>,
    pub x: Vec<f64>,
    pub theta: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub acc: Vec<f64>,
    pub lambda: Vec<f64>,
    pub a: Vec<f64>,
    pub delta: Vec<f64>,
    pub delta_dot: Vec<f64>,
    pub lambda_dot: Vec<f64>,
    pub jerk: Vec<f64>,
    pub jerk_known: bool,
    pub newton_contraction: f64,
    pub contraction_uses: u32,
    pub corrected: bool,
    /// Largest ratio of the next step to this one that the motion allows.
    pub growth: f64,
    /// Smallest pivot of the scaled constraints near the end of the step.
    pub pivot: f64,
    /// The step was taken beyond its end and brought back: it leaves no history, the next one begins anew.
    pub restarts_history: bool,
    /// The widest opening of the rows that are left out, over its scale, and its row.
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

    /// Room for what a stage of HHT ends on, without the memory it would leave.
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
}

impl Trial {
    /// Copies what a stage of HHT ends on; the memory of the step is made when it is finished.
    pub fn keep(&mut self, other: &Trial) {
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.acc.copy_from_slice(&other.acc);
        self.lambda.copy_from_slice(&other.lambda);
        self.jerk.copy_from_slice(&other.jerk);
        self.jerk_known = other.jerk_known;
        self.redundant_residual = other.redundant_residual;
    }
}

impl StepFailure {
    /// The sentence for a step that may not be shortened.
    pub fn error(self, system: &dyn System, time: f64, step: f64) -> Error {
        if let Self::Newton { .. } | Self::NotFinite(_) | Self::Singular(_) = self
            && let Some((culprit, independent)) =
                system.partitioning().and_then(|x| x.dependent_failure())
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
            // Only a step whose end may be moved is refused for this, and it is then moved.
            Self::NearSingular => Error::NewtonDiverged {
                time,
                step,
                iterations: 0,
                residual: 0.0,
                culprit: String::new(),
            },
            Self::Singular(culprit) => Error::SingularMass {
                culprit: culprit.name(system),
            },
            Self::Evaluation(
                EvaluationFailure::Recoverable(code) | EvaluationFailure::Fatal(code),
            ) => Error::Callback { time, code },
        }
    }
}
