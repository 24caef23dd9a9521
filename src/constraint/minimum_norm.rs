//! Minimum-norm corrections: the smallest dx, in the metric of the factored S, with G dx = r,
//!
//! ```text
//!   [ S   Gᵀ ] [ dx ]   [ 0 ]
//!   [ G  −E  ] [ μ  ] = [ r ],      repeated for the residual r − G dx
//! ```
//!
//! The factor may be older than G; it is the preconditioner of the iteration. A right-hand side r = −(G v + …) is rounded to
//! ε Σ|G_ij v_j| in each constraint; a residual below that is accepted.

use super::descriptor_form::DescriptorSolver;
use super::factorization::Factorization;
use super::matrix::SaddleMatrix;
use super::refinement::LONG;
use super::saddle_point::{LinearAlgebraCounts, SaddlePoint};
use super::sparsity::SaddleSparsity;

/// When an iteration that has not reached its tolerance ends.
#[derive(Clone, Copy)]
pub struct PassLimit {
    /// Back-substitutions.
    pub count: usize,
    /// A pass that leaves more than this part of the last residual is the last.
    pub slowest: f64,
}

impl PassLimit {
    /// In a step each pass gains three to five digits, if G has changed little since the factorisation.
    pub const STEP: Self = Self {
        count: 6,
        slowest: 0.5,
    };
    /// At a start and after an event a velocity may be far from consistent. Near a singular position, where E is of the order of
    /// the squared sine between a gradient and the others, a pass leaves nearly all of the residual.
    pub const START: Self = Self {
        count: 300,
        slowest: 0.99,
    };
}

/// Contraction over the tolerance below which one pass is known to be enough.
const SURELY: f64 = 0.1;

/// Jacobian G at a point, with the velocity transformation J where the matrices are those of a descriptor form.
#[derive(Clone, Copy)]
pub struct JacobianAt<'a> {
    pub(super) matrix: &'a SaddleMatrix,
    pub(super) active: &'a [bool],
    pub(super) transformation: &'a [f64],
}

/// Right-hand side of G dx = r and its accuracy.
#[derive(Clone, Copy)]
pub struct CorrectionTarget<'a> {
    /// r
    pub rate: &'a [f64],
    /// v of r = −(G v + …), whose rounding limits the accuracy of r; empty if r is exact.
    pub computed_from: &'a [f64],
    /// Largest residual over r.
    pub tolerance: f64,
    /// When the iteration ends without it.
    pub limit: PassLimit,
}

/// Residuals of a correction over its right-hand side.
pub(super) struct CorrectionResidual {
    /// Of the result.
    pub last: f64,
    /// Of the first pass; `None` if r was zero.
    pub first: Option<f64>,
}

/// Vectors of one pass.
pub(super) struct CorrectionWorkspace {
    pub dx: Vec<f64>,
    pub mu: Vec<f64>,
    pub residual: Vec<f64>,
}

/// Vectors of one pass for two right-hand sides.
pub(super) struct PairWorkspace {
    pub x: [Vec<f64>; 2],
    pub l: [Vec<f64>; 2],
}

/// A factor, in body coordinates if there is a descriptor form, and the counters of its use.
pub(super) struct ConstraintSolver<'a> {
    pub sparsity: &'a SaddleSparsity,
    pub factor: &'a mut Factorization,
    pub descriptor: Option<&'a mut DescriptorSolver>,
    pub counts: &'a mut LinearAlgebraCounts,
}

impl ConstraintSolver<'_> {
    /// [x; l] := K⁻¹ [0; l]
    fn solve(&mut self, x: &mut [f64], l: &mut [f64]) {
        match &mut self.descriptor {
            None => self.factor.solve_constraint_rhs(self.sparsity, x, l),
            Some(descriptor) => descriptor.solve_constraint_rhs(self.sparsity, self.factor, x, l),
        }
    }

    /// out = G x
    fn jacobian_times(&mut self, at: JacobianAt, x: &[f64], out: &mut [f64]) {
        match &mut self.descriptor {
            None => at.matrix.jacobian_times(self.sparsity, x, out),
            Some(descriptor) => descriptor.jacobian_times(self.sparsity, at, x, out),
        }
    }

    /// out = |G| |x|: ε times this is rounding of G x.
    fn abs_jacobian_times(&mut self, at: JacobianAt, x: &[f64], out: &mut [f64]) {
        match &mut self.descriptor {
            None => at.matrix.abs_jacobian_times(self.sparsity, x, out),
            Some(descriptor) => descriptor.abs_jacobian_times(self.sparsity, at, x, out),
        }
    }

    /// Sets `dx` with G dx = r and the multipliers `mu`.
    pub fn minimum_norm_correction(
        &mut self,
        at: JacobianAt,
        target: &CorrectionTarget,
        dx: &mut [f64],
        mu: &mut [f64],
        work: &mut CorrectionWorkspace,
    ) -> CorrectionResidual {
        let (r, tolerance) = (target.rate, target.tolerance);
        let size = largest(r, at.active);
        if size == 0.0 {
            dx.fill(0.0);
            mu.fill(0.0);
            return CorrectionResidual {
                last: 0.0,
                first: None,
            };
        }
        // The first pass writes the result directly: in most steps it is the only one.
        mu.copy_from_slice(r);
        self.solve(dx, mu);
        self.counts.solves += 1;
        let mut last = f64::INFINITY;
        let mut first = None;
        for pass in 1..=target.limit.count {
            self.jacobian_times(at, dx, &mut work.residual);
            for i in 0..r.len() {
                work.residual[i] = r[i] - work.residual[i];
            }
            let now = largest(&work.residual, at.active) / size;
            first.get_or_insert(now);
            if now <= tolerance || !(now < target.limit.slowest * last) {
                last = now;
                break;
            }
            if !target.computed_from.is_empty() && dx.len() + r.len() > LONG {
                self.abs_jacobian_times(at, target.computed_from, &mut work.mu);
                let rounding = |i: usize| f64::EPSILON * work.mu[i];
                let accepted =
                    |i: usize| work.residual[i].abs() <= rounding(i).max(tolerance * size);
                if (0..r.len()).all(|i| !at.active[i] || accepted(i)) {
                    last = now.min(tolerance);
                    break;
                }
            }
            last = now;
            if pass == target.limit.count {
                break;
            }
            work.mu.copy_from_slice(&work.residual);
            self.solve(&mut work.dx, &mut work.mu);
            self.counts.solves += 1;
            for i in 0..dx.len() {
                dx[i] += work.dx[i];
            }
            for i in 0..mu.len() {
                mu[i] += work.mu[i];
            }
        }
        CorrectionResidual { last, first }
    }

    /// e := e + dx with G dx = −G e for two vectors, each until the residual is below `tolerance` of G e. `contraction` is that of
    /// earlier right-hand sides of the step, if known.
    pub fn project_tangent_pair(
        &mut self,
        at: JacobianAt,
        tolerance: f64,
        contraction: Option<f64>,
        e: [&mut [f64]; 2],
        work: &mut PairWorkspace,
    ) {
        let mut size = [0.0; 2];
        let mut last = [f64::INFINITY; 2];
        let mut unfinished = [true; 2];
        // If one pass is known to be enough, its residual is not computed.
        let sure = contraction.is_some_and(|c| c <= SURELY * tolerance);
        let passes = if sure { 1 } else { PassLimit::STEP.count };
        for pass in 0..passes {
            for k in 0..2 {
                if !unfinished[k] {
                    continue;
                }
                self.jacobian_times(at, e[k], &mut work.l[k]);
                let residual = largest(&work.l[k], at.active);
                if pass == 0 {
                    size[k] = residual;
                    unfinished[k] = residual != 0.0;
                } else {
                    let now = residual / size[k];
                    unfinished[k] = now > tolerance && now < PassLimit::STEP.slowest * last[k];
                    last[k] = now;
                }
            }
            if unfinished == [false; 2] {
                return;
            }
            for k in 0..2 {
                if !unfinished[k] {
                    work.l[k].fill(0.0);
                }
                self.counts.solves += u64::from(unfinished[k]);
            }
            let ([x0, x1], [l0, l1]) = (&mut work.x, &mut work.l);
            if self.descriptor.is_none() {
                let (x, l) = ([&mut x0[..], x1], [&mut l0[..], l1]);
                self.factor.solve_constraint_rhs_pair(self.sparsity, x, l);
            } else {
                self.solve(x0, l0);
                self.solve(x1, l1);
            }
            for k in 0..2 {
                for (e, step) in e[k].iter_mut().zip(&work.x[k]) {
                    *e -= step;
                }
            }
        }
    }
}

impl SaddlePoint {
    /// Discards the contraction of earlier projections: the factor or the point is a new one.
    pub fn reset_contraction(&mut self) {
        self.contraction = None;
    }

    /// Sets `dx`, the smallest motion in the metric of the factored S with G dx = r, and its multipliers `mu`; G is that of `at`,
    /// which may be newer than the factor. Returns the relative residual.
    pub fn minimum_norm_correction(
        &mut self,
        sparsity: &SaddleSparsity,
        at: JacobianAt,
        target: &CorrectionTarget,
        dx: &mut [f64],
        mu: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) -> f64 {
        let mut solver = ConstraintSolver {
            sparsity,
            factor: &mut self.factor,
            descriptor: self.descriptor.as_mut(),
            counts,
        };
        let residual = solver.minimum_norm_correction(at, target, dx, mu, &mut self.correction);
        if let Some(first) = residual.first {
            self.contraction = Some(self.contraction.map_or(first, |c| c.max(first)));
        }
        residual.last
    }

    /// [`SaddlePoint::minimum_norm_correction`] with G of this matrix.
    pub fn minimum_norm_correction_here(
        &mut self,
        sparsity: &SaddleSparsity,
        target: &CorrectionTarget,
        dx: &mut [f64],
        mu: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) -> f64 {
        let transformation = (self.descriptor.as_mut()).map_or(Vec::new(), |descriptor| {
            std::mem::take(&mut descriptor.loaded)
        });
        let at = JacobianAt {
            matrix: &self.matrix,
            active: &self.active,
            transformation: &transformation,
        };
        let mut solver = ConstraintSolver {
            sparsity,
            factor: &mut self.factor,
            descriptor: self.descriptor.as_mut(),
            counts,
        };
        let residual = solver.minimum_norm_correction(at, target, dx, mu, &mut self.correction);
        if let Some(descriptor) = &mut self.descriptor {
            descriptor.loaded = transformation;
        }
        residual.last
    }

    /// e := P e for two vectors: e + dx with the smallest dx that satisfies G dx = −G e, G being that of `at`, each until the
    /// residual is below `tolerance` of G e.
    pub fn project_tangent_pair(
        &mut self,
        sparsity: &SaddleSparsity,
        at: JacobianAt,
        tolerance: f64,
        e: [&mut [f64]; 2],
        counts: &mut LinearAlgebraCounts,
    ) {
        let mut solver = ConstraintSolver {
            sparsity,
            factor: &mut self.factor,
            descriptor: self.descriptor.as_mut(),
            counts,
        };
        solver.project_tangent_pair(at, tolerance, self.contraction, e, &mut self.pair);
    }
}

/// Largest entry of the active constraints.
fn largest(x: &[f64], active: &[bool]) -> f64 {
    x.iter()
        .zip(active)
        .fold(0.0_f64, |m, (x, &on)| if on { m.max(x.abs()) } else { m })
}
