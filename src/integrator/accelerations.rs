//! Acceleration solve and jerk solve at a point, with the matrix A = [M Gᵀ; G 0] of that point.
//!
//! ```text
//!   A [q̈; λ] = [ f ; −γ ]
//!   A [j; λ'] = d/dt [ f − M q̈ − Gᵀλ ; −(G q̈ + γ) ]      along the motion, with q̈ and λ constant
//! ```
//!
//! The derivative along the motion is a central difference at q ∘ (±e v + e²/2 q̈), v ± e q̈, t ± e.
//!
//! Coulomb friction adds D λ to f, and D λ' to its derivative: the few columns of closed contacts are eliminated
//! (`friction_coupling`). With too many of them, or in systems that do not tell them apart, both solves are repeated with the
//! multipliers found until these converge.
//!
//! In the passes of the corrector of long systems the solution of the pass before is the initial guess: its change is solved
//! for, to the same residual.

use super::newton::culprit;
use super::state::Statistics;
use super::tolerances::START_ACCELERATION_RESIDUAL;
use super::trial::{Culprit, StepFailure, Trial};
use super::workspace::{EvaluationVectors, PhasePoint, Problem, Workspace, first_not_finite};
use crate::constraint::factorization::Pivots;
use crate::constraint::saddle_point::LinearAlgebraCounts;
use crate::formulation::system::{Dimensions, MotionPoint, Properties};

/// Rounds of multipliers and their friction, at most. Each leaves a part of about μ times a ratio of lengths.
const FRICTION_ROUNDS: usize = 60;
/// Half width of the difference for the jerk, in steps.
const DIFFERENCE_WIDTH: f64 = 1e-4;

/// The displaced points of the difference for the jerk: how far the motion and the clock are displaced (s), and their sign. A width
/// that t + e and t have exactly: the clock adds no rounding. Where the clock is coarser than the width, it is displaced alone, and
/// farther.
fn differences(t: f64, width: f64) -> impl Iterator<Item = ([f64; 2], f64)> {
    let finest = 2.0 * f64::EPSILON * t.abs();
    let on_clock = |width: f64| (t + width) - t;
    let [together, apart] = if width >= finest {
        [Some([on_clock(width); 2]), None]
    } else {
        [Some([width, 0.0]), Some([0.0, on_clock(finest)])]
    };
    [together, apart]
        .into_iter()
        .flatten()
        .flat_map(|widths| [(widths, 1.0), (widths, -1.0)])
}

/// Initial guess of a solve, and the relative residual it is to leave.
#[derive(Clone, Copy)]
pub(super) enum InitialGuess {
    Nothing(f64),
    /// The solution vectors hold the solution at a nearby point.
    Nearby(f64),
}

impl InitialGuess {
    fn residual(self) -> f64 {
        match self {
            Self::Nothing(residual) | Self::Nearby(residual) => residual,
        }
    }
}

/// A point of the motion and the step size that sets the width of the difference for its jerk.
pub(super) struct JerkPoint<'a> {
    pub t: f64,
    pub h: f64,
    pub at: MotionPoint<'a>,
}

/// Right-hand side [b; c] of the acceleration solve and of the jerk solve.
pub(super) struct AccelerationWorkspace {
    b: Vec<f64>,
    c: Vec<f64>,
    /// Multipliers of the last round; empty without friction.
    lambda_before: Vec<f64>,
}

impl AccelerationWorkspace {
    pub fn new(properties: &Properties, size: &Dimensions) -> Self {
        let friction = properties.has_constraint_friction;
        Self {
            b: vec![0.0; size.nv],
            c: vec![0.0; size.nc],
            lambda_before: vec![0.0; if friction { size.nc } else { 0 }],
        }
    }
}

impl Workspace {
    /// Loads and factorises the mass matrix at a point.
    pub fn factorise_mass(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Pivots, StepFailure> {
        let (cached, count) = self.factor_cache.mass(p.env.parameters);
        let pivots = match cached.filter(|_| self.mass_matrix.matches_active_set()) {
            Some(pivots) => {
                self.counts.factorizations += u64::from(count);
                pivots
            }
            None => {
                let cx = self.inputs.at(p, t);
                self.mass_matrix
                    .load_mass(&self.sparsity, p.system, &cx, q, v)?;
                self.counts.factorizations += u64::from(count);
                self.mass_matrix
                    .factorise(&self.sparsity, &mut LinearAlgebraCounts::default())
                    .map_err(|e| StepFailure::Singular(culprit(e.unknown, self.size.nv)))?
            }
        };
        self.factor_cache.keep_mass(pivots);
        Ok(pivots)
    }

    /// Solves for q̈ and λ at a point, at which the mass matrix is loaded and factorised.
    pub fn accelerations(
        &mut self,
        p: &Problem,
        at: PhasePoint,
        acc: &mut [f64],
        lambda: &mut [f64],
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let guess = InitialGuess::Nothing(START_ACCELERATION_RESIDUAL);
        self.accelerations_from(p, at, guess, acc, lambda, stats)
    }

    /// The same from an initial guess.
    pub fn accelerations_from(
        &mut self,
        p: &Problem,
        at: PhasePoint,
        guess: InitialGuess,
        acc: &mut [f64],
        lambda: &mut [f64],
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let cx = self.inputs.at(p, at.t);
        stats.evaluations += 1;
        let AccelerationWorkspace { b, c, .. } = &mut self.accelerations;
        p.system.force(&cx, at.q, at.v, b)?;
        p.system.constraint_acceleration_bias(&cx, at.q, at.v, c);
        for c in c.iter_mut() {
            *c = -*c;
        }
        self.solve_accelerations(p, at, guess, acc, lambda)
    }

    /// Solves for the jerk j and for dλ/dt at a point of the motion.
    pub fn jerk(
        &mut self,
        p: &Problem,
        point: &JerkPoint,
        guess: InitialGuess,
        jerk: &mut [f64],
        lambda_dot: &mut [f64],
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let JerkPoint { t, h, at } = *point;
        self.accelerations.b.fill(0.0);
        self.accelerations.c.fill(0.0);
        for ([e, clock], sign) in differences(t, DIFFERENCE_WIDTH * h) {
            let cx = self.nearby.at(p, t + sign * clock);
            let AccelerationWorkspace { b, c, .. } = &mut self.accelerations;
            let EvaluationVectors {
                q,
                displacement,
                v,
                force,
                inertia,
                bias,
                product,
                ..
            } = &mut self.evaluation;
            for i in 0..v.len() {
                displacement[i] = e * (sign * at.v[i] + 0.5 * e * at.a[i]);
                v[i] = at.v[i] + sign * e * at.a[i];
            }
            p.system.retract(at.q, displacement, q);
            stats.evaluations += 1;
            p.system.force(&cx, q, v, force)?;
            if self.character.has_constraint_friction {
                p.system.constraint_friction(&cx, q, v, at.lambda, force);
            }
            p.system.mass_times(&cx, q, at.a, inertia);
            // The step matrix holds G of the displaced point: its own values are not needed any more in this step.
            self.step_matrix
                .load_jacobian(&self.sparsity, p.system, &cx, q);
            self.step_matrix
                .add_jacobian_transposed(&self.sparsity, at.lambda, inertia);
            p.system.constraint_acceleration_bias(&cx, q, v, bias);
            self.step_matrix
                .jacobian_times(&self.sparsity, at.a, product);
            let weight = 0.5 * sign / e.max(clock);
            for i in 0..b.len() {
                b[i] += weight * (force[i] - inertia[i]);
            }
            for i in 0..c.len() {
                c[i] -= weight * (product[i] + bias[i]);
            }
        }
        let at = PhasePoint {
            t,
            q: at.q,
            v: at.v,
        };
        self.solve_accelerations(p, at, guess, jerk, lambda_dot)
    }

    /// Solves for j₁ and dλ/dt at the end of the trial.
    pub fn end_jerk(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        guess: InitialGuess,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Trial {
            t,
            h,
            q,
            v,
            acc: a,
            lambda,
            jerk,
            lambda_dot,
            ..
        } = y;
        let at = MotionPoint { q, v, a, lambda };
        let point = JerkPoint { t: *t, h: *h, at };
        self.jerk(p, &point, guess, jerk, lambda_dot, stats)
    }

    /// Solves A [x; l] = [b + D l; c], with the friction D of the constraints at a point.
    fn solve_accelerations(
        &mut self,
        p: &Problem,
        at: PhasePoint,
        guess: InitialGuess,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Result<(), StepFailure> {
        let AccelerationWorkspace { b, c, .. } = &self.accelerations;
        if let Some(i) = first_not_finite(b) {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
        }
        if let Some(i) = first_not_finite(c) {
            return Err(StepFailure::NotFinite(Culprit::Constraint(i)));
        }
        let (matrix, counts) = (&mut self.mass_matrix, &mut self.counts);
        match guess {
            InitialGuess::Nothing(residual) => {
                x.copy_from_slice(b);
                l.copy_from_slice(c);
                matrix.solve_exact(&self.sparsity, residual, x, l, counts);
            }
            InitialGuess::Nearby(residual) => {
                matrix.solve_exact_from(&self.sparsity, residual, (b, c), x, l, counts);
            }
        }
        if self.character.has_constraint_friction {
            self.add_friction(p, at, guess.residual(), x, l)?;
        }
        match first_not_finite(x) {
            Some(i) => Err(StepFailure::NotFinite(Culprit::Coordinate(i))),
            None => Ok(()),
        }
    }

    /// Adds the friction D l to a solution without it.
    fn add_friction(
        &mut self,
        p: &Problem,
        at: PhasePoint,
        residual: f64,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Result<(), StepFailure> {
        let cx = self.inputs.at(p, at.t);
        let (matrix, sparsity, counts) = (&mut self.mass_matrix, &self.sparsity, &mut self.counts);
        self.mass_coupling.prepare(p, &cx, (at.q, at.v), |x, l| {
            matrix.solve_exact(sparsity, residual, x, l, counts);
        });
        if self.mass_coupling.is_prepared() {
            self.mass_coupling.complete(x, l);
            return Ok(());
        }
        self.iterate_friction(p, at, residual, x, l)
    }

    /// Repeats the solve with the friction of the multipliers found, until these change by no more than `residual`.
    fn iterate_friction(
        &mut self,
        p: &Problem,
        at: PhasePoint,
        residual: f64,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Result<(), StepFailure> {
        let cx = self.inputs.at(p, at.t);
        let AccelerationWorkspace {
            b,
            c,
            lambda_before: before,
        } = &mut self.accelerations;
        let mut change = f64::INFINITY;
        for _ in 0..FRICTION_ROUNDS {
            before.copy_from_slice(l);
            x.copy_from_slice(b);
            p.system.constraint_friction(&cx, at.q, at.v, before, x);
            l.copy_from_slice(c);
            self.mass_matrix
                .solve_exact(&self.sparsity, residual, x, l, &mut self.counts);
            let largest = l.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
            let moved = (l.iter().zip(&*before)).fold(0.0_f64, |m, (l, b)| m.max((l - b).abs()));
            change = moved / (residual * largest);
            // NaN, if all multipliers vanish or the solve failed, is not a failure of this iteration.
            if !(change > 1.0) {
                break;
            }
        }
        if change > 1.0 {
            // Self-locking: the normal force grows with its friction.
            return Err(StepFailure::Newton {
                iterations: FRICTION_ROUNDS as u32,
                residual: change,
                culprit: Culprit::Constraint(largest_change(l, before)),
            });
        }
        Ok(())
    }
}

/// Index at which two vectors differ most.
fn largest_change(x: &[f64], y: &[f64]) -> usize {
    let difference = |i: &usize| (x[*i] - y[*i]).abs();
    (0..x.len())
        .max_by(|i, j| difference(i).total_cmp(&difference(j)))
        .unwrap_or(0)
}
