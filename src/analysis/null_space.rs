//! Rank and null space of G by elimination with complete pivoting:
//!
//! ```text
//!   P G Q = L [ U  F ]      N = Q [ −U⁻¹F ]      G N = 0
//!             [ 0  0 ]            [   I   ]
//! ```
//!
//! Gradients are scaled to length one with angles made comparable to displacements. The pivoted rows are independent constraints,
//! the others are redundant; the columns that are left are independent coordinates.

use nalgebra::DMatrix;

/// Largest entry of what is left of the scaled gradients that counts as zero: the sine of an angle whose square the integrator takes
/// for zero (1e-9). Redundant constraints leave rounding (1e-13).
const ZERO_PIVOT: f64 = 3e-5;

/// Elimination of G at a point.
pub struct NullSpace {
    /// G, scaled and eliminated.
    work: DMatrix<f64>,
    /// Pivoted constraints in the order of elimination; the first `rank` are independent.
    rows: Vec<usize>,
    /// Dependent coordinates in the order of elimination, then the independent ones.
    columns: Vec<usize>,
    rank: usize,
    /// Smallest accepted pivot.
    smallest: f64,
    /// N, a column for each independent coordinate; columns beyond these are unused.
    basis: DMatrix<f64>,
    /// Redundant active constraints.
    redundant: Vec<usize>,
}

impl NullSpace {
    /// Storage for `nc` constraints of `nv` coordinates.
    pub fn new(nv: usize, nc: usize) -> Self {
        Self {
            work: DMatrix::zeros(nc, nv),
            rows: (0..nc).collect(),
            columns: (0..nv).collect(),
            rank: 0,
            smallest: 1.0,
            basis: DMatrix::zeros(nv, nv),
            redundant: Vec::with_capacity(nc),
        }
    }

    /// Number of independent constraints.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Smallest pivot of an independent constraint, 1 at most: small near a singular position.
    pub fn smallest_pivot(&self) -> f64 {
        self.smallest
    }

    /// Number of degrees of freedom.
    pub fn freedom(&self) -> usize {
        self.columns.len() - self.rank
    }

    /// Independent constraints.
    pub fn independent_rows(&self) -> &[usize] {
        &self.rows[..self.rank]
    }

    /// Active constraints that follow from the others.
    pub fn redundant_rows(&self) -> &[usize] {
        &self.redundant
    }

    /// Column `k` of N.
    pub fn direction(&self, k: usize) -> &[f64] {
        let nv = self.columns.len();
        &self.basis.as_slice()[k * nv..(k + 1) * nv]
    }

    /// Eliminates `g`, whose rows are zero for constraints that are not `active`. `length(i)` makes coordinate i comparable with a
    /// displacement.
    pub fn compute(&mut self, g: &DMatrix<f64>, active: &[bool], length: impl Fn(usize) -> f64) {
        let (nc, nv) = g.shape();
        for (k, x) in self.rows.iter_mut().enumerate() {
            *x = k;
        }
        for (k, x) in self.columns.iter_mut().enumerate() {
            *x = k;
        }
        for i in 0..nc {
            let scaled = |j: usize| g[(i, j)] / length(j);
            let norm = (0..nv).map(|j| scaled(j).powi(2)).sum::<f64>().sqrt();
            for j in 0..nv {
                self.work[(i, j)] = if norm > 0.0 { scaled(j) / norm } else { 0.0 };
            }
        }
        self.eliminate();
        self.form_basis(length);
        let rank = self.rank;
        self.redundant.clear();
        let rest = self.rows[rank..].iter().copied().filter(|&i| active[i]);
        self.redundant.extend(rest);
        self.redundant.sort_unstable();
    }

    /// Gauss-Jordan elimination of `work` with complete pivoting.
    fn eliminate(&mut self) {
        let (nc, nv) = self.work.shape();
        self.rank = 0;
        self.smallest = 1.0;
        for k in 0..nc.min(nv) {
            let (mut best, mut at) = (0.0, (k, k));
            for j in k..nv {
                for i in k..nc {
                    let x = self.work[(self.rows[i], self.columns[j])].abs();
                    // Of equal pivots the first stays, whatever their rounding.
                    if x > best * (1.0 + 1e-9) {
                        (best, at) = (x, (i, j));
                    }
                }
            }
            if !(best > ZERO_PIVOT) {
                return;
            }
            self.rows.swap(k, at.0);
            self.columns.swap(k, at.1);
            self.smallest = self.smallest.min(best);
            self.rank = k + 1;
            let (row, column) = (self.rows[k], self.columns[k]);
            let pivot = self.work[(row, column)];
            for j in k..nv {
                self.work[(row, self.columns[j])] /= pivot;
            }
            for i in 0..nc {
                if i == k {
                    continue;
                }
                let factor = self.work[(self.rows[i], column)];
                if factor == 0.0 {
                    continue;
                }
                for j in k..nv {
                    let x = self.work[(row, self.columns[j])];
                    self.work[(self.rows[i], self.columns[j])] -= factor * x;
                }
            }
        }
    }

    fn form_basis(&mut self, length: impl Fn(usize) -> f64) {
        let (nv, rank) = (self.columns.len(), self.rank);
        self.columns[rank..].sort_unstable();
        self.basis.fill(0.0);
        for k in 0..nv - rank {
            let free = self.columns[rank + k];
            for i in 0..rank {
                let dependent = self.columns[i];
                let f = self.work[(self.rows[i], free)];
                self.basis[(dependent, k)] = -f * length(free) / length(dependent);
            }
            self.basis[(free, k)] = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_space_is_that_of_the_independent_constraints() {
        // Constraint 2 = constraint 0 + constraint 1, constraint 3 is inactive.
        let g = DMatrix::from_row_slice(
            4,
            4,
            &[
                1.0, 2.0, 0.0, -1.0, //
                0.0, 1e3, 1e3, 0.0, //
                1.0, 1002.0, 1e3, -1.0, //
                0.0, 0.0, 0.0, 0.0,
            ],
        );
        let mut null = NullSpace::new(4, 4);
        null.compute(&g, &[true, true, true, false], |j| [1.0, 0.1, 10.0, 1.0][j]);
        assert_eq!((null.rank(), null.freedom()), (2, 2));
        assert_eq!(null.redundant_rows().len(), 1);
        assert_eq!(null.independent_rows().len(), 2);
        for k in 0..2 {
            let n = nalgebra::DVector::from_row_slice(null.direction(k));
            assert!((&g * n).amax() < 1e-12);
        }
    }
}
