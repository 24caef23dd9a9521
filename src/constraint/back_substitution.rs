//! Back-substitution with the factors of a saddle-point matrix K.

use super::factorization::{Factorization, Factors};
use super::sparsity::SaddleSparsity;

impl Factorization {
    /// [x; l] := K⁻¹ [x; l]
    pub fn solve(&mut self, sparsity: &SaddleSparsity, x: &mut [f64], l: &mut [f64]) {
        self.mask(l);
        match (&mut self.factors, &sparsity.sparse) {
            (
                Factors::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => ldl.solve(&sparse.symbolic, x, l),
            (factors, sparse) => {
                let (nv, y) = (sparsity.nv(), &mut self.y[..]);
                y[..nv].copy_from_slice(x);
                y[nv..].copy_from_slice(l);
                multiply(&self.scale, y);
                match (factors, sparse) {
                    (Factors::Dense(lu), _) => lu.solve(y),
                    (Factors::Sparse { lu, .. }, Some(sparse)) => {
                        lu.solve(sparse.symbolic.order(), y);
                    }
                    (Factors::Sparse { .. }, None) => {
                        unreachable!("a sparsity without a sparse part makes dense factors")
                    }
                }
                multiply(&self.scale, y);
                x.copy_from_slice(&y[..nv]);
                l.copy_from_slice(&y[nv..]);
            }
        }
        self.mask(l);
    }

    /// [x; l] := K⁻¹ [0; l], whatever `x` is; the same bits as [`Factorization::solve`].
    pub fn solve_constraint_rhs(
        &mut self,
        sparsity: &SaddleSparsity,
        x: &mut [f64],
        l: &mut [f64],
    ) {
        match (&mut self.factors, &sparsity.sparse) {
            (
                Factors::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => {
                let active = (!self.all_active).then_some(&self.active[..]);
                mask(active, l);
                ldl.solve_constraint_rhs(&sparse.symbolic, x, l);
                mask(active, l);
            }
            _ => {
                x.fill(0.0);
                self.solve(sparsity, x, l);
            }
        }
    }

    /// [`Factorization::solve_constraint_rhs`] for two right-hand sides at once.
    pub fn solve_constraint_rhs_pair(
        &mut self,
        sparsity: &SaddleSparsity,
        x: [&mut [f64]; 2],
        l: [&mut [f64]; 2],
    ) {
        let ([x0, x1], [l0, l1]) = (x, l);
        match (&mut self.factors, &sparsity.sparse) {
            (
                Factors::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => {
                let active = (!self.all_active).then_some(&self.active[..]);
                mask(active, l0);
                mask(active, l1);
                ldl.solve_constraint_rhs_pair(&sparse.symbolic, [x0, x1], [&mut *l0, &mut *l1]);
                mask(active, l0);
                mask(active, l1);
            }
            _ => {
                self.solve_constraint_rhs(sparsity, x0, l0);
                self.solve_constraint_rhs(sparsity, x1, l1);
            }
        }
    }

    fn mask(&self, l: &mut [f64]) {
        mask((!self.all_active).then_some(&self.active[..]), l);
    }
}

/// Sets the entries of inactive constraints to zero; `None` if all are active.
fn mask(active: Option<&[bool]>, l: &mut [f64]) {
    for (l, active) in l.iter_mut().zip(active.unwrap_or_default()) {
        *l = if *active { *l } else { 0.0 };
    }
}

/// y_i := d_i y_i
fn multiply(d: &[f64], y: &mut [f64]) {
    for (y, d) in y.iter_mut().zip(d) {
        *y *= d;
    }
}
