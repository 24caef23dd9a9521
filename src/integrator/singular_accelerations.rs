//! Accelerations and multipliers at a singular position, where the equations do not determine them:
//!
//! ```text
//!   two-sided    q̈ = (q̈₊ + q̈₋)/2,   λ = (λ₊ + λ₋)/2,   j = (q̈₊ − q̈₋)/2e
//!                at q ∘ (±e v + e²/2 q̈ ± e³/6 j), t ± e, closed
//!   projected    A [da; ·] = [0; −(G q̈ + γ)],   A [y; λ] = [f − M q̈; 0]
//! ```
//!
//! The multipliers of the two sides grow like 1/e with opposite signs; their mean stays finite.

use super::singularity::SINGULAR_PIVOT;
use super::state::{State, Statistics};
use super::tolerances::{ACCELERATION_RESIDUAL, CONSISTENT_VELOCITY, STEP_PROJECTION};
use super::trial::StepFailure;
use super::workspace::{EvaluationVectors, PhasePoint, Problem, Workspace};
use crate::constraint::factorization::Pivots;
use crate::formulation::system::Dimensions;

/// Distance e of the two sides, as part of the time scale of the motion: the pivot there is about its square, 1e-7 ...
const SIDE_DISTANCE: f64 = 3e-4;
/// ... and the number of distances tried, each four times the one before.
const DISTANCES: usize = 4;
/// Rounds at one distance; each moves to the sides with the accelerations of the one before.
const ROUNDS: usize = 3;

/// A point of the motion whose accelerations, multipliers and jerk are wanted; `acc` holds a guess.
pub(super) struct SingularPoint<'a> {
    pub t: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
    /// Of the error norm.
    pub scale: &'a [f64],
    pub acc: &'a mut [f64],
    pub lambda: &'a mut [f64],
    pub jerk: &'a mut [f64],
}

impl<'a> SingularPoint<'a> {
    pub fn of(s: &'a mut State) -> Self {
        Self {
            t: s.t,
            q: &s.q,
            v: &s.v,
            scale: &s.scale,
            acc: &mut s.acc,
            lambda: &mut s.lambda,
            jerk: &mut s.jerk,
        }
    }
}

/// Workspace of [`Workspace::two_sided_accelerations`].
#[derive(Default)]
pub(super) struct SideWorkspace {
    /// One side: displacement from the point, position, velocity, acceleration, multipliers.
    w: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    acc: Vec<f64>,
    lambda: Vec<f64>,
    /// Accelerations and jerk of the last round.
    guess: [Vec<f64>; 2],
    /// Means of both sides: accelerations and jerk, multipliers.
    mean: [Vec<f64>; 2],
    lambda_mean: Vec<f64>,
}

impl SideWorkspace {
    pub fn new(size: &Dimensions) -> Self {
        if size.nc == 0 {
            return Self::default();
        }
        let v = || vec![0.0; size.nv];
        Self {
            w: v(),
            q: vec![0.0; size.nq],
            v: v(),
            acc: v(),
            lambda: vec![0.0; size.nc],
            guess: [v(), v()],
            mean: [v(), v()],
            lambda_mean: vec![0.0; size.nc],
        }
    }
}

impl Workspace {
    /// Computes accelerations, multipliers and jerk at a point where the constraints do not determine them, although they do on
    /// both sides of it. Returns true if so; then the mass matrix is that of a side. Returns false, with nothing changed, if
    /// the point is regular by its `pivots`, does not move, or has sides that are singular too.
    pub fn two_sided_accelerations(
        &mut self,
        p: &Problem,
        at: SingularPoint,
        pivots: Pivots,
        stats: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        if pivots.smallest_constraint >= SINGULAR_PIVOT {
            return Ok(false);
        }
        let mut e = SIDE_DISTANCE * self.time_scale(p, at.t, at.q, at.v, at.acc, at.scale);
        if !e.is_finite() {
            return Ok(false);
        }
        let mut side = std::mem::take(&mut self.side);
        let mut found = Ok(false);
        for _ in 0..DISTANCES {
            side.mean[0].copy_from_slice(at.acc);
            side.mean[1].fill(0.0);
            for _ in 0..ROUNDS {
                found = self.mean_of_sides(p, &at, e, &mut side, stats);
                if found != Ok(true) {
                    break;
                }
            }
            if found != Ok(false) {
                break;
            }
            e *= 4.0;
        }
        if found == Ok(true) {
            at.acc.copy_from_slice(&side.mean[0]);
            at.jerk.copy_from_slice(&side.mean[1]);
            at.lambda.copy_from_slice(&side.lambda_mean);
        }
        self.side = side;
        match found {
            Err(failure) if failure.is_fatal() => Err(failure),
            Err(_) | Ok(false) => {
                self.factorise_mass(p, at.t, at.q, at.v)?;
                Ok(false)
            }
            Ok(true) => Ok(true),
        }
    }

    /// One round: the means of q̈, j and λ over both sides at the distance `e`. Returns false if a side is singular too.
    fn mean_of_sides(
        &mut self,
        p: &Problem,
        at: &SingularPoint,
        e: f64,
        side: &mut SideWorkspace,
        stats: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        std::mem::swap(&mut side.guess, &mut side.mean);
        let SideWorkspace {
            w,
            q,
            v,
            acc,
            lambda,
            guess: [a, j],
            mean,
            lambda_mean,
        } = side;
        mean.iter_mut().for_each(|m| m.fill(0.0));
        lambda_mean.fill(0.0);
        for sign in [1.0, -1.0] {
            for i in 0..w.len() {
                w[i] = e * (sign * at.v[i] + e * (0.5 * a[i] + sign * e * j[i] / 6.0));
                v[i] = at.v[i] + e * (sign * a[i] + 0.5 * e * j[i]);
            }
            p.system.retract(at.q, w, q);
            let t = at.t + sign * e;
            self.reassemble(p, t, q, v)?;
            let pivots = self.factorise_mass(p, t, q, v)?;
            if pivots.smallest_constraint < SINGULAR_PIVOT {
                return Ok(false);
            }
            self.project_velocity(p, t, q, v, CONSISTENT_VELOCITY);
            self.accelerations(p, PhasePoint { t, q, v }, acc, lambda, stats)?;
            for i in 0..acc.len() {
                mean[0][i] += 0.5 * acc[i];
                mean[1][i] += sign * acc[i] / (2.0 * e);
            }
            for i in 0..lambda.len() {
                lambda_mean[i] += 0.5 * lambda[i];
            }
        }
        Ok(true)
    }

    /// Projects given accelerations onto G q̈ + γ = 0 and computes the multipliers that leave the smallest imbalance of forces,
    /// with the factorised mass matrix.
    pub fn project_motion(
        &mut self,
        p: &Problem,
        at: PhasePoint,
        acc: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), StepFailure> {
        let PhasePoint { t, q, v } = at;
        self.project_acceleration(p, t, (q, v), acc, STEP_PROJECTION);
        let cx = self.inputs.at(p, t);
        let EvaluationVectors { force, inertia, .. } = &mut self.evaluation;
        // Constraint friction depends on the multipliers: a second solve uses those of the first.
        let solves = 1 + usize::from(self.character.has_constraint_friction);
        lambda.fill(0.0);
        for _ in 0..solves {
            p.system.force(&cx, q, v, force)?;
            p.system.constraint_friction(&cx, q, v, lambda, force);
            p.system.mass_times(&cx, q, acc, inertia);
            for i in 0..force.len() {
                force[i] -= inertia[i];
            }
            lambda.fill(0.0);
            self.mass_matrix.solve_exact(
                &self.sparsity,
                ACCELERATION_RESIDUAL,
                force,
                lambda,
                &mut self.counts,
            );
        }
        Ok(())
    }
}
