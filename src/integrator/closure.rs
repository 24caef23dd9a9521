//! Position closure: Newton's iteration for Φ(q, t) = 0 by minimum-norm corrections.
//!
//! ```text
//!   [ S  Gᵀ ] [ dq ]     [ 0 ]
//!   [ G  −E ] [ ·  ] = − [ Φ ],     q ← q ∘ dq        S of Newton's iteration, or S = M
//! ```

use super::tolerances::{INCREMENT_RESIDUAL, MULTIPLIER_UPDATES};
use super::trial::{Culprit, StepFailure};
use super::workspace::{Problem, Workspace};
use crate::formulation::system::Dimensions;

/// When a position closure ends. Residuals are |Φ_i| over the scale of the constraint; the bounds are multiplied by the
/// magnitude of the coordinates.
#[derive(Clone, Copy)]
pub(super) struct ClosureOptions {
    /// Residual at which the position is closed.
    pub target: f64,
    /// The first correction is made whatever the magnitude of the coordinates: a mechanism far from the origin is not left off its
    /// constraints by all that is called closed there.
    pub corrects_once: bool,
    /// Residual of the redundant constraints that is required as well. Near a singular position they magnify the residuals of
    /// the others, and close if these are closed further.
    pub redundant_target: Option<f64>,
    /// Residual above which an iteration that has stalled or reached its limit fails.
    pub give_up_above: f64,
    /// Ratio of a residual to the smallest so far above which the iteration stalls.
    pub stall_ratio: f64,
    /// Stalled corrections in a row after which the iteration ends.
    pub patience: usize,
    /// Corrections, at most.
    pub limit: usize,
    /// Matrix of the corrections.
    pub matrix: ClosureMatrix,
}

/// Matrix of the corrections, and with it the active constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClosureMatrix {
    /// The factorised matrix of Newton's iteration. G of the last position is left in the mass matrix, for the projections.
    Step,
    /// The factorised mass matrix.
    Mass,
    /// The mass matrix, factorised before every correction.
    RefactoredMass,
}

/// A closed position.
pub(super) struct ClosedPosition {
    /// Largest residual before the first correction.
    pub initial_residual: f64,
    /// Largest residual of the redundant constraints, and its constraint.
    pub redundant_residual: (f64, usize),
}

/// A position that was not closed.
pub(super) enum ClosureFailure {
    /// The largest residual left; not finite if Φ is not.
    Open {
        residual: f64,
        constraint: usize,
        corrections: u32,
    },
    /// The mass matrix could not be evaluated or factorised.
    Matrix(StepFailure),
}

impl ClosureFailure {
    /// The failure of a step in which residuals above `limit` are not accepted.
    pub fn of_step(self, limit: f64) -> StepFailure {
        match self {
            Self::Open {
                residual,
                constraint,
                corrections,
            } => StepFailure::Newton {
                iterations: corrections,
                residual: residual / limit,
                culprit: Culprit::Constraint(constraint),
            },
            Self::Matrix(failure) => failure,
        }
    }

    /// The same, where constraints that cannot be evaluated are a failure of another kind.
    pub fn of_point(self, limit: f64) -> StepFailure {
        match self {
            Self::Open {
                residual,
                constraint,
                ..
            } if !residual.is_finite() => StepFailure::NotFinite(Culprit::Constraint(constraint)),
            failure => failure.of_step(limit),
        }
    }
}

/// Vectors of the position closure.
pub(super) struct ClosureWorkspace {
    /// Φ, then the multipliers of the correction.
    phi: Vec<f64>,
    dq: Vec<f64>,
    /// The corrected position.
    q: Vec<f64>,
}

impl ClosureWorkspace {
    pub fn new(size: &Dimensions) -> Self {
        // Systems without constraints have nothing to close.
        let room = |n: usize| vec![0.0; if size.nc > 0 { n } else { 0 }];
        Self {
            phi: room(size.nc),
            dq: room(size.nv),
            q: room(size.nq),
        }
    }
}

impl Workspace {
    /// Closes the position `q` at time t; `v` is the velocity at which a mass matrix is factorised. `stalled_residuals`, if
    /// not empty, learns the largest residual of each constraint after a stalled correction: where a loop cannot be closed the
    /// gap moves from joint to joint.
    pub fn close_position(
        &mut self,
        p: &Problem,
        t: f64,
        q: &mut [f64],
        v: &[f64],
        options: &ClosureOptions,
        stalled_residuals: &mut [f64],
    ) -> Result<ClosedPosition, ClosureFailure> {
        let mut initial_residual = 0.0;
        let (mut smallest, mut stalls) = (f64::INFINITY, 0);
        for corrections in 0.. {
            let (residual, constraint) = self.evaluate_closure(p, t, q, options.matrix);
            if corrections == 0 {
                initial_residual = residual;
            }
            let redundant_residual = self.largest_redundant_residual(&self.closure.phi);
            let magnitude = p.system.coordinate_magnitude(q);
            stalls = if residual < options.stall_ratio * smallest {
                0
            } else {
                stalls + 1
            };
            smallest = smallest.min(residual);
            let last = corrections == options.limit;
            let resolution = match corrections == 0 && options.corrects_once {
                true => 1.0,
                false => magnitude,
            };
            let closed = residual <= options.target * resolution
                && (options.redundant_target)
                    .is_none_or(|target| redundant_residual.0 <= target * magnitude);
            let good_enough = residual <= options.give_up_above * magnitude;
            if closed || ((stalls > 0 || last) && good_enough) {
                return Ok(ClosedPosition {
                    initial_residual,
                    redundant_residual,
                });
            }
            if stalls > 0 {
                self.note_stalled(options.matrix, stalled_residuals);
            }
            if stalls > options.patience || last || !residual.is_finite() {
                return Err(ClosureFailure::Open {
                    residual,
                    constraint,
                    corrections: corrections as u32,
                });
            }
            if options.matrix == ClosureMatrix::RefactoredMass {
                self.factorise_mass(p, t, q, v)
                    .map_err(ClosureFailure::Matrix)?;
            }
            self.correct_position(p, q, options.matrix);
        }
        unreachable!("the last correction returns")
    }

    /// Evaluates Φ at q. Returns the largest residual of an active constraint, and the constraint.
    fn evaluate_closure(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        matrix: ClosureMatrix,
    ) -> (f64, usize) {
        let cx = self.inputs.at(p, t);
        let phi = &mut self.closure.phi;
        if matrix == ClosureMatrix::Step {
            self.mass_matrix
                .load_constraints(&self.sparsity, p.system, &cx, q, phi);
        } else {
            p.system.constraint(&cx, q, phi);
        }
        self.largest_residual(&self.closure.phi, self.closure_active(matrix))
    }

    fn closure_active(&self, matrix: ClosureMatrix) -> &[bool] {
        match matrix {
            ClosureMatrix::Step => self.step_matrix.active(),
            ClosureMatrix::Mass | ClosureMatrix::RefactoredMass => self.mass_matrix.active(),
        }
    }

    fn note_stalled(&self, matrix: ClosureMatrix, stalled_residuals: &mut [f64]) {
        let active = self.closure_active(matrix);
        for (i, noted) in stalled_residuals.iter_mut().enumerate() {
            if active[i] {
                *noted = noted.max(self.closure.phi[i].abs() / self.closure_scale[i]);
            }
        }
    }

    /// q ← q ∘ dq with the minimum-norm correction of the Φ evaluated last.
    fn correct_position(&mut self, p: &Problem, q: &mut [f64], matrix: ClosureMatrix) {
        let Self {
            sparsity,
            step_matrix,
            mass_matrix,
            counts,
            closure,
            ..
        } = self;
        let ClosureWorkspace {
            phi,
            dq,
            q: corrected,
        } = closure;
        dq.fill(0.0);
        for x in phi.iter_mut() {
            *x = -*x;
        }
        if matrix != ClosureMatrix::Step {
            mass_matrix.solve(sparsity, dq, phi, counts);
        } else if step_matrix.handling().updates_multipliers() {
            step_matrix.solve_with_multiplier_updates(
                sparsity,
                INCREMENT_RESIDUAL,
                MULTIPLIER_UPDATES,
                dq,
                phi,
                counts,
            );
        } else {
            step_matrix.solve(sparsity, dq, phi, counts);
        }
        p.system.retract(q, dq, corrected);
        q.copy_from_slice(corrected);
    }

    /// Largest residual of an active constraint at a position, and the constraint.
    pub fn active_residual_at(&mut self, p: &Problem, t: f64, q: &[f64]) -> (f64, usize) {
        let cx = self.inputs.at(p, t);
        p.system.constraint(&cx, q, &mut self.closure.phi);
        self.largest_active_residual(&self.closure.phi)
    }

    /// Largest |Φ_i| over its scale among the active constraints, and the constraint.
    pub fn largest_active_residual(&self, phi: &[f64]) -> (f64, usize) {
        self.largest_residual(phi, self.step_matrix.active())
    }

    /// The same among the redundant constraints: they close with the others as long as they are redundant.
    pub fn largest_redundant_residual(&self, phi: &[f64]) -> (f64, usize) {
        self.largest_residual(phi, &self.redundant)
    }

    pub fn largest_residual(&self, phi: &[f64], among: &[bool]) -> (f64, usize) {
        let mut worst = (0.0, 0);
        for (i, &included) in among.iter().enumerate() {
            let residual = phi[i].abs() / self.closure_scale[i];
            // Not `residual > worst`: NaN must win.
            if included && !(residual <= worst.0) {
                worst = (residual, i);
            }
        }
        worst
    }
}
