//! Accelerations, multipliers and their rates from the equations at a point, with the matrix A of that point.
//!
//! ```text
//!   A [q̈; λ] = [f; −γ]
//!   A [j; λ'] = d/dt [ f − M q̈ − Gᵀλ ; −(G q̈ + γ) ]      along the flow, q̈ and λ held
//! ```
//!
//! Where rows rub, f has D λ in it (and the second line D λ'): then both are solved again with the multipliers found, until
//! these stay.
//!
//! In the passes of the corrector of long systems both are known from the pass before: what is solved for then is the change, with
//! the same residual in the end.
//!
//! The derivative along the flow is a central difference at q ∘ (±e v + e²/2 q̈), v ± e q̈, t ± e.

use super::state::Statistics;
use super::tolerances::ACCELERATION_RESIDUAL;
use super::workspace::{
    Culprit, FrictionWorkspace, Problem, StepFailure, Workspace, first_not_finite,
};

/// Rounds of multipliers and what they rub: each leaves a part of about μ times a ratio of levers.
const RUBS: usize = 60;
/// Half width of the difference for the jerk, in steps.
const WIDTH: f64 = 1e-4;

/// What is known of a solution beforehand, and the residual it is to leave, relative.
#[derive(Clone, Copy)]
pub(super) enum InitialGuess {
    Nothing(f64),
    /// The vectors hold that of a point nearby.
    Nearly(f64),
}

impl Workspace {
    /// q̈ and λ at (t, q, v) with the factor in `mass`, whose values must be those of q.
    pub fn accelerations(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
        acc: &mut [f64],
        lambda: &mut [f64],
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        self.accelerations_from(
            p,
            t,
            (q, v),
            InitialGuess::Nothing(ACCELERATION_RESIDUAL),
            (acc, lambda),
            stats,
        )
    }

    /// The same with what is known of them.
    pub fn accelerations_from(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v): (&[f64], &[f64]),
        known: InitialGuess,
        (acc, lambda): (&mut [f64], &mut [f64]),
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let cx = self.inputs.at(p, t);
        stats.evaluations += 1;
        let [.., force] = &mut self.scratch.v;
        let row = &mut self.scratch.row;
        p.system.force(&cx, q, v, force)?;
        p.system.constraint_acceleration_bias(&cx, q, v, row);
        for l in row.iter_mut() {
            *l = -*l;
        }
        self.solve_checked(p, t, (q, v), known, acc, lambda)
    }

    /// Jerk j and dλ/dt at a point of the flow, from what is known of them; `h` sets the width of the difference.
    pub fn jerk(
        &mut self,
        p: &Problem,
        t: f64,
        h: f64,
        (q, v, acc, lambda): (&[f64], &[f64], &[f64], &[f64]),
        known: InitialGuess,
        jerk: &mut [f64],
        lambda_dot: &mut [f64],
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        // Wide enough to be seen in t, never wider than the step.
        let e = (WIDTH * h).max(1e3 * f64::EPSILON * t.abs()).min(h);
        self.scratch.v[4].fill(0.0);
        self.scratch.row.fill(0.0);
        for sign in [1.0, -1.0] {
            let cx = self.nearby.at(p, t + sign * e);
            let [w, ve, force, inertia, change] = &mut self.scratch.v;
            let [gamma, ga, _] = &mut self.scratch.c;
            let row = &mut self.scratch.row;
            let qe = &mut self.scratch.q;
            for i in 0..v.len() {
                w[i] = e * (sign * v[i] + 0.5 * e * acc[i]);
                ve[i] = v[i] + sign * e * acc[i];
            }
            p.system.retract(q, w, qe);
            stats.evaluations += 1;
            p.system.force(&cx, qe, ve, force)?;
            if self.character.has_constraint_friction {
                p.system.constraint_friction(&cx, qe, ve, lambda, force);
            }
            p.system.mass_times(&cx, qe, acc, inertia);
            // `newton` lends its space for G at the neighbouring point: its values are not needed any more in this step.
            self.step_matrix
                .load_jacobian(&self.sparsity, p.system, &cx, qe);
            self.step_matrix
                .add_jacobian_transposed(&self.sparsity, lambda, inertia);
            p.system.constraint_acceleration_bias(&cx, qe, ve, gamma);
            self.step_matrix.jacobian_times(&self.sparsity, acc, ga);
            let c = 0.5 * sign / e;
            for i in 0..change.len() {
                change[i] += c * (force[i] - inertia[i]);
            }
            for i in 0..row.len() {
                row[i] -= c * (ga[i] + gamma[i]);
            }
        }
        self.solve_checked(p, t, (q, v), known, jerk, lambda_dot)
    }

    /// A [x; l] = [b + D l; c], D that of the rows that rub at (t, q, v); b is the last of the scratch vectors, c the scratch row.
    fn solve_checked(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v): (&[f64], &[f64]),
        known: InitialGuess,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Result<(), StepFailure> {
        let [.., b] = &self.scratch.v;
        let c = &self.scratch.row;
        if let Some(i) = first_not_finite(b) {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
        }
        if let Some(i) = first_not_finite(c) {
            return Err(StepFailure::NotFinite(Culprit::Constraint(i)));
        }
        let FrictionWorkspace { force, row, before } = &mut self.friction;
        let tol = match known {
            InitialGuess::Nothing(tol) => {
                x.copy_from_slice(b);
                l.copy_from_slice(c);
                self.mass_matrix
                    .solve_exact(&self.sparsity, tol, x, l, &mut self.counts);
                tol
            }
            InitialGuess::Nearly(tol) => {
                (self.mass_matrix).solve_exact_from(
                    &self.sparsity,
                    tol,
                    (b, c),
                    x,
                    l,
                    &mut self.counts,
                );
                tol
            }
        };
        if self.character.has_constraint_friction {
            force.copy_from_slice(b);
            row.copy_from_slice(c);
        }
        if self.character.has_constraint_friction {
            let cx = self.inputs.at(p, t);
            let mut left = f64::INFINITY;
            for _ in 0..RUBS {
                before.copy_from_slice(l);
                x.copy_from_slice(force);
                p.system.constraint_friction(&cx, q, v, before, x);
                l.copy_from_slice(row);
                self.mass_matrix
                    .solve_exact(&self.sparsity, tol, x, l, &mut self.counts);
                let largest = l.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
                let moved =
                    (l.iter().zip(&*before)).fold(0.0_f64, |m, (l, b)| m.max((l - b).abs()));
                left = moved / (tol * largest);
                // NaN, of nothing that presses or of what cannot be solved, is found below.
                if !(left > 1.0) {
                    break;
                }
            }
            if left > 1.0 {
                // Friction that wedges: what presses grows with what it rubs.
                return Err(StepFailure::Newton {
                    iterations: RUBS as u32,
                    residual: left,
                    culprit: Culprit::Constraint(largest_change(l, before)),
                });
            }
        }
        match first_not_finite(x) {
            Some(i) => Err(StepFailure::NotFinite(Culprit::Coordinate(i))),
            None => Ok(()),
        }
    }
}

/// Where two vectors differ most.
fn largest_change(x: &[f64], y: &[f64]) -> usize {
    let apart = |i: &usize| (x[*i] - y[*i]).abs();
    (0..x.len())
        .max_by(|i, j| apart(i).total_cmp(&apart(j)))
        .unwrap_or(0)
}
