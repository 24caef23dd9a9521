//! Accelerations and multipliers at a singular position, where the equations do not determine them:
//!
//! ```text
//!   two-sided    q̈ = (q̈₊ + q̈₋)/2,   λ = (λ₊ + λ₋)/2,   j = (q̈₊ − q̈₋)/2e
//!                at q ∘ (±e v + e²/2 q̈ ± e³/6 j), t ± e, closed
//!   projected    A [da; ·] = [0; −(G q̈ + γ)],   A [y; λ] = [f − M q̈; 0]
//! ```

use super::singularity::SINGULAR_PIVOT;
use super::state::Statistics;
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

/// Workspace of [`Workspace::two_sided_accelerations`]: one side, and the means of both.
#[derive(Default)]
pub(super) struct SidePoint {
    q: Vec<f64>,
    v: Vec<f64>,
    acc: Vec<f64>,
    pub lambda: Vec<f64>,
    /// Accelerations and jerk of the last round and of this one.
    guess: [Vec<f64>; 2],
    mean: [Vec<f64>; 2],
    lambda_mean: Vec<f64>,
}

impl SidePoint {
    pub fn new(size: &Dimensions) -> Self {
        if size.nc == 0 {
            return Self::default();
        }
        Self {
            q: vec![0.0; size.nq],
            v: vec![0.0; size.nv],
            acc: vec![0.0; size.nv],
            lambda: vec![0.0; size.nc],
            guess: std::array::from_fn(|_| vec![0.0; size.nv]),
            mean: std::array::from_fn(|_| vec![0.0; size.nv]),
            lambda_mean: vec![0.0; size.nc],
        }
    }
}

impl Workspace {
    /// Accelerations, multipliers and jerk at a point where the constraints do not determine them, although they do on both
    /// sides of it:
    /// ```text
    ///   q̈ = (q̈₊ + q̈₋)/2,   λ = (λ₊ + λ₋)/2,   j = (q̈₊ − q̈₋)/2e        at q ∘ (±e v + e²/2 q̈ ± e³/6 j), t ± e, closed
    /// ```
    /// The multipliers grow like 1/e to opposite sides: their mean is what stays finite. `acc` comes in as a guess. False,
    /// with nothing changed, if the point is regular by its `pivots`, does not move, or has neighbours that are no better.
    /// If it is true `mass` is that of a neighbour.
    pub fn two_sided_accelerations(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v, scale): (&[f64], &[f64], &[f64]),
        pivots: Pivots,
        acc: &mut [f64],
        lambda: &mut [f64],
        jerk: &mut [f64],
        stats: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        if pivots.smallest_constraint >= SINGULAR_PIVOT {
            return Ok(false);
        }
        let mut e = SIDE_DISTANCE * self.time_scale(p, t, q, v, acc, scale);
        if !e.is_finite() {
            return Ok(false);
        }
        let mut aside = std::mem::take(&mut self.side_point);
        let mut found = Ok(false);
        for _ in 0..DISTANCES {
            aside.mean[0].copy_from_slice(acc);
            aside.mean[1].fill(0.0);
            // Each round moves to the sides with the accelerations of the one before.
            for _ in 0..ROUNDS {
                found = self.both_sides(p, t, q, v, e, &mut aside, stats);
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
            acc.copy_from_slice(&aside.mean[0]);
            jerk.copy_from_slice(&aside.mean[1]);
            lambda.copy_from_slice(&aside.lambda_mean);
        }
        self.side_point = aside;
        match found {
            Err(failure) if failure.is_fatal() => Err(failure),
            Err(_) | Ok(false) => {
                // Back to the point itself.
                self.factorise_mass(p, t, q, v)?;
                Ok(false)
            }
            Ok(true) => Ok(true),
        }
    }

    /// One round: q̈, j and λ as means in `aside`. False if a side is singular too.
    fn both_sides(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
        e: f64,
        aside: &mut SidePoint,
        stats: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        std::mem::swap(&mut aside.guess, &mut aside.mean);
        let SidePoint {
            q: qe,
            v: ve,
            acc,
            lambda,
            guess: [a, j],
            mean,
            lambda_mean: lambdas,
        } = aside;
        mean.iter_mut().for_each(|m| m.fill(0.0));
        lambdas.fill(0.0);
        for sign in [1.0, -1.0] {
            let w = &mut self.evaluation.displacement;
            for i in 0..w.len() {
                w[i] = e * (sign * v[i] + e * (0.5 * a[i] + sign * e * j[i] / 6.0));
                ve[i] = v[i] + e * (sign * a[i] + 0.5 * e * j[i]);
            }
            p.system.retract(q, w, qe);
            let there = t + sign * e;
            self.reassemble(p, there, qe, ve)?;
            let pivots = self.factorise_mass(p, there, qe, ve)?;
            if pivots.smallest_constraint < SINGULAR_PIVOT {
                return Ok(false);
            }
            self.project_velocity(p, there, qe, ve, CONSISTENT_VELOCITY);
            self.accelerations(
                p,
                PhasePoint {
                    t: there,
                    q: qe,
                    v: ve,
                },
                acc,
                lambda,
                stats,
            )?;
            for i in 0..acc.len() {
                mean[0][i] += 0.5 * acc[i];
                mean[1][i] += sign * acc[i] / (2.0 * e);
            }
            for i in 0..lambda.len() {
                lambdas[i] += 0.5 * lambda[i];
            }
        }
        Ok(true)
    }

    /// Accelerations of a known motion put onto G q̈ + γ = 0, and the multipliers that leave the least of the forces
    /// unbalanced: A [da; ·] = [0; −(G q̈ + γ)],  A [y; λ] = [f − M q̈; 0].
    pub fn accelerations_along(
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
        // With Coulomb friction a second round uses the multipliers of the first.
        lambda.fill(0.0);
        for _ in 0..if self.character.has_constraint_friction {
            2
        } else {
            1
        } {
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
