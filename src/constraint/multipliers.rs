//! The saddle-point system by multipliers:
//!
//! ```text
//!   [ S   Gᵀ ] [ x ]   [ b ]        residual (b − S x − Gᵀ λ,  c − G x + E λ),
//!   [ G  −E  ] [ λ ] = [ c ]        norm² = Σ r_i² / |S_ii| + Σ r_k² / (G diag(S)⁻¹ Gᵀ + E)_kk
//! ```
//!
//! The norm has one unit for both parts, so that a tolerance means the same for metres and radians, forces and
//! closures. A row that is not active has the multiplier exactly zero.

pub use super::matrix::{Backend, Matrix, Structure};
use crate::linalg::dense;

/// What the last factorisation found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pivots {
    /// Smallest pivot of the scaled W = G S⁻¹ Gᵀ + E over its diagonal; infinite without active rows.
    pub smallest_constraint: f64,
    /// Constraint pivots that were rounding noise and had to be replaced.
    pub corrected: usize,
    /// The symmetric order was not usable: LU with pivoting over all rows.
    pub used_lu: bool,
}

/// The matrix has no inverse, or is not made of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// 0..nv a coordinate, nv.. a constraint row.
    pub unknown: usize,
}

/// How a refined solution came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refined {
    /// Back-substitutions.
    pub solves: usize,
    /// Norm of the residual over that of the right-hand side; not a number if the right-hand side was not.
    pub residual: f64,
    /// Largest ratio of successive residuals, one for the first; what a further refinement may be expected to bring.
    pub contraction: f64,
}

/// A numeric factorisation with its own scratch. Allocates nothing after `new`.
#[derive(Clone, Debug)]
pub struct Factor {
    dense: dense::Lu,
    /// Rows that held when the factor was made.
    active: Vec<bool>,
    /// Relative pivots of the constraint rows.
    relative: Vec<f64>,
    /// Squared scale of each unknown, 1 / |S_ii| and 1 / (G diag(S)⁻¹ Gᵀ + E)_kk.
    weight: Vec<f64>,
    /// Their roots, for the dense backend.
    scale: Vec<f64>,
    /// A vector of all unknowns.
    y: Vec<f64>,
    rhs: Vec<f64>,
    r: Vec<f64>,
}

impl Factor {
    /// Storage for factors of matrices of this structure.
    pub fn new(st: &Structure) -> Self {
        let (nv, nc) = (st.nv(), st.nc());
        let n = nv + nc;
        Self {
            dense: dense::Lu::new(n),
            active: vec![true; nc],
            relative: vec![f64::INFINITY; nc],
            weight: vec![1.0; n],
            scale: vec![1.0; n],
            y: vec![0.0; n],
            rhs: vec![0.0; n],
            r: vec![0.0; n],
        }
    }

    /// Factors `m`. After an error the factor must not be used.
    pub fn factor(&mut self, st: &Structure, m: &Matrix) -> Result<Pivots, Singular> {
        self.active.copy_from_slice(m.active());
        self.measure(st, m)?;
        self.factor_dense(st, m)
    }

    /// Weights of the norm; the first row that is not made of numbers is the error.
    fn measure(&mut self, st: &Structure, m: &Matrix) -> Result<(), Singular> {
        let (nv, nc) = (st.nv(), st.nc());
        let (mut sum, mut count) = (0.0, 0usize);
        for i in 0..nv {
            // x * 0 is zero for numbers only, and so is the sum.
            let probe: f64 = m.s[st.s.range(i)].iter().map(|s| s * 0.0).sum();
            if probe != 0.0 {
                return Err(Singular { unknown: i });
            }
            let size = m.s[st.diagonal[i] as usize].abs();
            if size > 0.0 {
                self.weight[i] = 1.0 / size;
                sum += size;
                count += 1;
            } else {
                self.weight[i] = 0.0;
            }
        }
        // A coordinate without mass and stiffness is measured like the average one.
        if count < nv {
            let typical = if count > 0 { count as f64 / sum } else { 1.0 };
            for w in &mut self.weight[..nv] {
                if *w == 0.0 {
                    *w = typical;
                }
            }
        }
        for k in 0..nc {
            let mut size = m.e()[k];
            for slot in st.g.range(k) {
                let g = m.g[slot];
                size += g * g * self.weight[st.g.column[slot] as usize];
            }
            if !size.is_finite() {
                return Err(Singular { unknown: nv + k });
            }
            self.weight[nv + k] = if size > 0.0 { 1.0 / size } else { 1.0 };
        }
        Ok(())
    }

    fn factor_dense(&mut self, st: &Structure, m: &Matrix) -> Result<Pivots, Singular> {
        let nv = st.nv();
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
        self.assemble(st, m);
        if let Some(corrected) = self.dense.factor_saddle(nv, &mut self.relative) {
            return Ok(self.pivots(corrected, false));
        }
        self.assemble(st, m);
        self.dense
            .factor()
            .map_err(|unknown| Singular { unknown })?;
        for (k, relative) in self.relative.iter_mut().enumerate() {
            *relative = self.dense.pivot(nv + k).abs().min(1.0);
        }
        Ok(self.pivots(0, true))
    }

    /// The scaled matrix; a row that is not active is a one on the diagonal.
    fn assemble(&mut self, st: &Structure, m: &Matrix) {
        let (nv, n) = (st.nv(), st.nv() + st.nc());
        let d = &self.scale;
        let a = self.dense.clear();
        for i in 0..nv {
            for slot in st.s.range(i) {
                let j = st.s.column[slot] as usize;
                a[i * n + j] = m.s[slot] * d[i] * d[j];
            }
        }
        for k in nv..n {
            for slot in st.g.range(k - nv) {
                let j = st.g.column[slot] as usize;
                let g = m.g[slot] * d[k] * d[j];
                a[k * n + j] = g;
                a[j * n + k] = g;
            }
            a[k * n + k] = if self.active[k - nv] {
                -m.e()[k - nv] * d[k] * d[k]
            } else {
                -1.0
            };
        }
    }

    fn pivots(&mut self, corrected: usize, used_lu: bool) -> Pivots {
        let mut smallest = f64::INFINITY;
        for (relative, &active) in self.relative.iter_mut().zip(&self.active) {
            if active {
                smallest = smallest.min(*relative);
            } else {
                *relative = f64::INFINITY;
            }
        }
        Pivots {
            smallest_constraint: smallest,
            corrected,
            used_lu,
        }
    }

    /// The pivot of each constraint row over its diagonal in W, after the last factorisation: the squared sine of the
    /// angle between the row and those eliminated before it. Infinite for rows that are not active. After LU the
    /// pivots of the scaled whole matrix stand here instead.
    pub fn constraint_pivots(&self) -> &[f64] {
        &self.relative
    }

    /// Back-substitution in place: right-hand side in, solution out.
    pub fn solve(&mut self, st: &Structure, x: &mut [f64], l: &mut [f64]) {
        let nv = st.nv();
        for i in 0..nv {
            self.y[i] = x[i] * self.scale[i];
        }
        for k in 0..l.len() {
            let c = if self.active[k] { l[k] } else { 0.0 };
            self.y[nv + k] = c * self.scale[nv + k];
        }
        self.dense.solve(&mut self.y);
        for i in 0..nv {
            x[i] = self.y[i] * self.scale[i];
        }
        for k in 0..l.len() {
            l[k] = if self.active[k] {
                self.y[nv + k] * self.scale[nv + k]
            } else {
                0.0
            };
        }
    }

    /// Solves the system of `m`, whose values may be newer than those factored, with this factor as preconditioner:
    /// at most `limit` refinements, until the residual is below `tol` times the right-hand side. A refinement that
    /// makes the residual larger is taken back. With `with_e` false the system solved has E = 0.
    pub fn solve_refined(
        &mut self,
        st: &Structure,
        m: &Matrix,
        with_e: bool,
        tol: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refined {
        let nv = st.nv();
        let mut rhs = std::mem::take(&mut self.rhs);
        let mut r = std::mem::take(&mut self.r);
        rhs[..nv].copy_from_slice(x);
        for k in 0..l.len() {
            rhs[nv + k] = if m.active()[k] { l[k] } else { 0.0 };
        }
        let size = self.norm(&rhs);
        let mut refined = Refined {
            solves: 0,
            residual: 0.0,
            contraction: 0.0,
        };
        if size == 0.0 {
            x.fill(0.0);
            l.fill(0.0);
        } else {
            l.copy_from_slice(&rhs[nv..]);
            self.solve(st, x, l);
            refined.solves = 1;
            residual(st, m, with_e, &rhs, x, l, &mut r);
            refined.residual = self.norm(&r) / size;
            refined.contraction = refined.residual;
            while refined.residual > tol && refined.solves <= limit {
                let (dx, dl) = r.split_at_mut(nv);
                self.solve(st, dx, dl);
                refined.solves += 1;
                add(1.0, dx, x);
                add(1.0, dl, l);
                // r holds the correction; y is free between back-substitutions and takes the new residual.
                let mut next = std::mem::take(&mut self.y);
                residual(st, m, with_e, &rhs, x, l, &mut next);
                self.y = next;
                let now = self.norm(&self.y) / size;
                let better = now < refined.residual;
                refined.contraction = refined.contraction.max(now / refined.residual);
                if !better {
                    add(-1.0, &r[..nv], x);
                    add(-1.0, &r[nv..], l);
                    break;
                }
                refined.residual = now;
                r.copy_from_slice(&self.y);
            }
        }
        self.rhs = rhs;
        self.r = r;
        refined
    }

    fn norm(&self, r: &[f64]) -> f64 {
        let sum: f64 = r.iter().zip(&self.weight).map(|(r, w)| r * r * w).sum();
        sum.sqrt()
    }
}

/// r = (b − S x − Gᵀ λ, c − G x + E λ), zero in rows that are not active.
fn residual(
    st: &Structure,
    m: &Matrix,
    with_e: bool,
    rhs: &[f64],
    x: &[f64],
    l: &[f64],
    r: &mut [f64],
) {
    let nv = st.nv();
    for i in 0..nv {
        let range = st.s.range(i);
        let mut sum = rhs[i];
        for (&j, s) in st.s.column[range.clone()].iter().zip(&m.s[range]) {
            sum -= s * x[j as usize];
        }
        r[i] = sum;
    }
    for k in 0..l.len() {
        if !m.active()[k] {
            r[nv + k] = 0.0;
            continue;
        }
        let range = st.g.range(k);
        let mut sum = rhs[nv + k];
        for (&j, g) in st.g.column[range.clone()].iter().zip(&m.g[range]) {
            sum -= g * x[j as usize];
            r[j as usize] -= g * l[k];
        }
        if with_e {
            sum += m.e()[k] * l[k];
        }
        r[nv + k] = sum;
    }
}

/// y += factor x
fn add(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}
