//! Iterative refinement of the saddle-point system with a factor whose values may be older:
//!
//! ```text
//!   [ S   Gᵀ ] [ x ]   [ b ]        residual r = (b − S x − Gᵀ λ,  c − G x + E λ)
//!   [ G  −E  ] [ λ ] = [ c ]        ‖r‖² = Σ r_i² / |S_ii| + Σ r_k² / (G diag(S)⁻¹ Gᵀ + E)_kk
//! ```
//!
//! The norm has one unit for both parts, so that a tolerance means the same for metres and radians, forces and positions.

use super::factorization::Factorization;
use super::matrix::SaddleMatrix;
use super::sparsity::SaddleSparsity;

/// Unknowns above which a residual is compared with its rounding error. In smaller systems near a singular position one more
/// refinement improves the result.
pub(super) const LONG: usize = 500;
/// Residual in tolerances above which it is refined without an estimate of its rounding error.
const FAR_FROM_ROUNDING: f64 = 1e3;

/// Options of an iterative refinement.
#[derive(Clone, Copy, Debug)]
pub struct RefinementOptions {
    /// Largest residual over the right-hand side.
    pub tolerance: f64,
    /// Largest number of refinements.
    pub limit: usize,
    /// Whether −E is part of the system; otherwise E = 0.
    pub regularised: bool,
}

impl RefinementOptions {
    /// The system with E = 0.
    pub fn exact(tolerance: f64, limit: usize) -> Self {
        Self {
            tolerance,
            limit,
            regularised: false,
        }
    }

    /// The system with −E.
    pub fn regularised(tolerance: f64, limit: usize) -> Self {
        Self {
            tolerance,
            limit,
            regularised: true,
        }
    }
}

/// Result of an iterative refinement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Back-substitutions.
    pub solves: usize,
    /// Norm of the residual over that of the right-hand side; NaN if that is NaN.
    pub residual: f64,
    /// Largest ratio of successive residuals: the expected gain of one more refinement.
    pub contraction: f64,
}

/// Where a refinement starts.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// From the solution with the factor.
    Factor,
    /// From the vectors given.
    Given,
}

impl Factorization {
    /// Solves the system of `m`, whose values may be newer than those factored, with this factor as preconditioner: [x; l] is the
    /// right-hand side before and the solution after. A refinement that increases the residual is undone. In long systems it
    /// ends when the residual is rounding, ε (|b| + |S||x| + |Gᵀ||λ|, |c| + |G||x|), which is then far above ε of the
    /// right-hand side.
    pub fn solve_refined(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
        options: RefinementOptions,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refinement {
        self.set_right_side(sparsity, m, x, l);
        self.refine(sparsity, m, options, Start::Factor, x, l)
    }

    /// Solves the system of `m` for the right-hand side (b, c), starting from the given [x; l] if its residual is smaller than
    /// the right-hand side.
    pub fn solve_from(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
        options: RefinementOptions,
        (b, c): (&[f64], &[f64]),
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refinement {
        self.set_right_side(sparsity, m, b, c);
        self.refine(sparsity, m, options, Start::Given, x, l)
    }

    fn set_right_side(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
        b: &[f64],
        c: &[f64],
    ) {
        let nv = sparsity.nv();
        self.rhs[..nv].copy_from_slice(b);
        for k in 0..c.len() {
            self.rhs[nv + k] = if m.active()[k] { c[k] } else { 0.0 };
        }
    }

    /// Refines for the right-hand side that is set.
    fn refine(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
        options: RefinementOptions,
        start: Start,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refinement {
        let nv = sparsity.nv();
        let system = RefinedSystem {
            sparsity,
            m,
            regularised: options.regularised,
        };
        let mut refined = Refinement {
            solves: 0,
            residual: 0.0,
            contraction: 0.0,
        };
        let size = self.norm(&self.rhs);
        if size == 0.0 {
            x.fill(0.0);
            l.fill(0.0);
            return refined;
        }
        let rhs = std::mem::take(&mut self.rhs);
        let mut r = std::mem::take(&mut self.residual);
        if start == Start::Given {
            system.residual(&rhs, x, l, &mut r);
            refined.residual = self.norm(&r) / size;
        }
        // Not `>=`: a NaN is no start.
        if start == Start::Factor || !(refined.residual < 1.0) {
            x.copy_from_slice(&rhs[..nv]);
            l.copy_from_slice(&rhs[nv..]);
            self.solve(sparsity, x, l);
            refined.solves = 1;
            system.residual(&rhs, x, l, &mut r);
            refined.residual = self.norm(&r) / size;
            refined.contraction = refined.residual;
        }
        let mut rounding = None;
        while refined.residual > options.tolerance && refined.solves <= options.limit {
            if rhs.len() > LONG
                && refined.solves > 1
                && refined.residual < FAR_FROM_ROUNDING * options.tolerance
            {
                let rounding = *rounding.get_or_insert_with(|| {
                    system.magnitude(&rhs, x, l, &mut self.y);
                    f64::EPSILON * self.norm(&self.y) / size
                });
                if refined.residual <= rounding {
                    break;
                }
            }
            let (dx, dl) = r.split_at_mut(nv);
            self.solve(sparsity, dx, dl);
            refined.solves += 1;
            add(1.0, dx, x);
            add(1.0, dl, l);
            // r holds the correction; y is free between back-substitutions and takes the new residual.
            system.residual(&rhs, x, l, &mut self.y);
            let now = self.norm(&self.y) / size;
            refined.contraction = refined.contraction.max(now / refined.residual);
            if !(now < refined.residual) {
                add(-1.0, &r[..nv], x);
                add(-1.0, &r[nv..], l);
                break;
            }
            refined.residual = now;
            r.copy_from_slice(&self.y);
        }
        self.rhs = rhs;
        self.residual = r;
        refined
    }

    fn norm(&self, r: &[f64]) -> f64 {
        let sum: f64 = r.iter().zip(&self.weight).map(|(r, w)| r * r * w).sum();
        sum.sqrt()
    }
}

/// The system whose residual is refined.
struct RefinedSystem<'a> {
    sparsity: &'a SaddleSparsity,
    m: &'a SaddleMatrix,
    regularised: bool,
}

impl RefinedSystem<'_> {
    /// r = (b − S x − Gᵀ λ, c − G x + E λ), zero for inactive constraints.
    fn residual(&self, rhs: &[f64], x: &[f64], l: &[f64], r: &mut [f64]) {
        let (sparsity, m) = (self.sparsity, self.m);
        let nv = sparsity.nv();
        for i in 0..nv {
            let range = sparsity.s_row(i);
            let mut sum = rhs[i];
            for (&j, s) in sparsity.column[range.clone()].iter().zip(&m.values[range]) {
                sum -= s * x[j as usize];
            }
            r[i] = sum;
        }
        for k in 0..l.len() {
            if !m.active()[k] {
                r[nv + k] = 0.0;
                continue;
            }
            let range = sparsity.g_row(k);
            let mut sum = rhs[nv + k];
            for (&j, g) in sparsity.column[range.clone()].iter().zip(&m.values[range]) {
                sum -= g * x[j as usize];
                r[j as usize] -= g * l[k];
            }
            if self.regularised {
                sum += m.regularisation()[k] * l[k];
            }
            r[nv + k] = sum;
        }
    }

    /// out = (|b| + |S||x| + |Gᵀ||λ|, |c| + |G||x|), zero for inactive constraints: ε times this is rounding of the residual.
    fn magnitude(&self, rhs: &[f64], x: &[f64], l: &[f64], out: &mut [f64]) {
        let (sparsity, m) = (self.sparsity, self.m);
        let nv = sparsity.nv();
        for i in 0..nv {
            let range = sparsity.s_row(i);
            let terms = sparsity.column[range.clone()].iter().zip(&m.values[range]);
            out[i] = rhs[i].abs() + terms.map(|(&j, s)| (s * x[j as usize]).abs()).sum::<f64>();
        }
        for k in 0..l.len() {
            let mut sum = 0.0;
            if m.active()[k] {
                sum = rhs[nv + k].abs();
                let range = sparsity.g_row(k);
                for (&j, g) in sparsity.column[range.clone()].iter().zip(&m.values[range]) {
                    sum += (g * x[j as usize]).abs();
                    out[j as usize] += (g * l[k]).abs();
                }
            }
            out[nv + k] = sum;
        }
    }
}

/// y += factor x
fn add(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}
