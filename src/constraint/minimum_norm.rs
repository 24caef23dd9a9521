//! The smallest motion that reaches a rate: G dx = r with a factor that may be older than G, repeated until little is left.
//!
//! What r is made of has been rounded: r = −(G v + …) is known to ε Σ|G_ij v_j| in each row, and a rest below that is no rest.

use super::descriptor_form::DescriptorSolver;
use super::factorization::{Factorization, LONG, SaddleMatrix, SaddleSparsity};
use super::saddle_point::LinearAlgebraCounts;

/// G at a point, with J where it is that of a larger space.
#[derive(Clone, Copy)]
pub struct JacobianAt<'a> {
    pub(super) matrix: &'a SaddleMatrix,
    pub(super) active: &'a [bool],
    pub(super) transformation: &'a [f64],
}

/// What solves with a factor.
pub(super) struct MinimumNormSolver<'a> {
    pub factor: &'a mut Factorization,
    pub descriptor: Option<&'a mut DescriptorSolver>,
}

impl MinimumNormSolver<'_> {
    pub fn solve_constraint_rhs(&mut self, st: &SaddleSparsity, x: &mut [f64], l: &mut [f64]) {
        match &mut self.descriptor {
            None => self.factor.solve_constraint_rhs(st, x, l),
            Some(lifted) => lifted.solve_constraint_rhs(st, self.factor, x, l),
        }
    }

    /// Σ|G_ij x_j| in each row: what rounding of G x is measured by.
    fn abs_jacobian_times(
        &mut self,
        st: &SaddleSparsity,
        there: JacobianAt,
        x: &[f64],
        out: &mut [f64],
    ) {
        match &mut self.descriptor {
            None => there.matrix.abs_jacobian_times(st, x, out),
            Some(lifted) => {
                lifted.abs_jacobian_times(st, there.matrix, there.transformation, x, out)
            }
        }
    }

    pub fn jacobian_times(
        &mut self,
        st: &SaddleSparsity,
        there: JacobianAt,
        x: &[f64],
        out: &mut [f64],
    ) {
        match &mut self.descriptor {
            None => there.matrix.jacobian_times(st, x, out),
            Some(lifted) => lifted.jacobian_times(st, there.matrix, there.transformation, x, out),
        }
    }
}

/// Refinements allowed in a projection; each gains three to five digits when G has not turned much.
pub(super) const MAX_PASSES: usize = 6;

/// Largest entry of the rows that hold.
pub(super) fn largest(x: &[f64], active: &[bool]) -> f64 {
    x.iter()
        .zip(active)
        .fold(0.0_f64, |m, (x, &on)| if on { m.max(x.abs()) } else { m })
}

/// `dx` with G dx = r, the multipliers in `mu`; r is −(G v + …) with v = `of`, or exact if that is empty. Returns the rest left,
/// relative, and the one left by the first pass (none if there was nothing to do).
pub(super) fn minimum_norm_correction(
    solver: &mut MinimumNormSolver,
    st: &SaddleSparsity,
    here: JacobianAt,
    r: &[f64],
    of: &[f64],
    tol: f64,
    dx: &mut [f64],
    mu: &mut [f64],
    (step_x, step_l, rest): (&mut [f64], &mut [f64], &mut [f64]),
    work: &mut LinearAlgebraCounts,
) -> (f64, Option<f64>) {
    let active = here.active;
    let size = |x: &[f64]| largest(x, active);
    let target = size(r);
    if target == 0.0 {
        dx.fill(0.0);
        mu.fill(0.0);
        return (0.0, None);
    }
    // The first pass goes straight to the result: it is the only one in most steps.
    mu.copy_from_slice(r);
    solver.solve_constraint_rhs(st, dx, mu);
    work.solves += 1;
    let mut left = f64::INFINITY;
    let mut first = None;
    for pass in 1..=MAX_PASSES {
        solver.jacobian_times(st, here, dx, rest);
        for i in 0..rest.len() {
            rest[i] = r[i] - rest[i];
        }
        let now = size(rest) / target;
        let first = *first.get_or_insert(now);
        if now <= tol || !(now < 0.5 * left) {
            return (now, Some(first));
        }
        if !of.is_empty() && dx.len() + rest.len() > LONG {
            solver.abs_jacobian_times(st, here, of, step_l);
            let known = |i: usize| f64::EPSILON * step_l[i];
            if (0..rest.len()).all(|i| !active[i] || rest[i].abs() <= known(i).max(tol * target)) {
                return (now.min(tol), Some(first));
            }
        }
        left = now;
        if pass == MAX_PASSES {
            break;
        }
        step_l.copy_from_slice(rest);
        solver.solve_constraint_rhs(st, step_x, step_l);
        work.solves += 1;
        for i in 0..dx.len() {
            dx[i] += step_x[i];
        }
        for i in 0..mu.len() {
            mu[i] += step_l[i];
        }
    }
    (left, first)
}
