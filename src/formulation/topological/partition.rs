//! Coordinate partitioning by complete pivoting on the scaled closure Jacobian,
//!
//! ```text
//!   J̃ = D_r⁻¹ J D_c⁻¹        D_r scale of each constraint, D_c displacement of the bodies per unit of each coordinate
//! ```
//!
//! The columns of the pivots are the dependent coordinates, their rows the constraints that are solved. The partition with the larger
//! |det J̃_d| is the better one, whatever the units.

use crate::linalg::dense_lu::DenseLu;
use crate::linalg::elementary::ln;

/// Relative amount by which a later candidate must be larger: the choice between equal pivots must not depend on rounding.
const DISTINCT_PIVOT: f64 = 1e-6;

/// The factors of a scaled J_d and what its pivots say.
#[derive(Clone, Debug, Default)]
pub struct DependentFactor {
    lu: DenseLu,
    /// ln |det| of the last factorisation.
    pub log_determinant: f64,
    /// Column with the smallest pivot.
    pub weakest: usize,
    /// Ratio of the smallest to the largest pivot.
    pub conditioning: f64,
}

impl DependentFactor {
    /// Storage for n x n.
    pub fn new(n: usize) -> Self {
        Self {
            lu: DenseLu::new(n),
            log_determinant: 0.0,
            weakest: 0,
            conditioning: 1.0,
        }
    }

    /// Copies the factors of another matrix of the same size.
    pub fn copy_from(&mut self, other: &Self) {
        self.lu.copy_from(&other.lu);
        (self.log_determinant, self.weakest) = (other.log_determinant, other.weakest);
        self.conditioning = other.conditioning;
    }

    /// The entries by rows, set to zero, to be filled before factoring.
    pub fn cleared(&mut self) -> &mut [f64] {
        self.lu.cleared()
    }

    /// LU with exchanges of rows; false if a column has no pivot.
    pub fn factor(&mut self) -> bool {
        if let Err(column) = self.lu.factor() {
            (self.log_determinant, self.weakest) = (f64::NEG_INFINITY, column);
            self.conditioning = 0.0;
            return false;
        }
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        (self.log_determinant, self.weakest) = (0.0, 0);
        for k in 0..self.lu.size() {
            let pivot = self.lu.pivot(k).abs();
            if pivot < least {
                (least, self.weakest) = (pivot, k);
            }
            most = most.max(pivot);
            self.log_determinant += ln(pivot);
        }
        self.conditioning = if self.lu.size() > 0 {
            least / most
        } else {
            1.0
        };
        true
    }

    /// x := J_d⁻¹ x
    pub fn solve(&self, x: &mut [f64]) {
        self.lu.solve(x);
    }

    /// x := J_d⁻ᵀ x
    pub fn solve_transposed(&self, x: &mut [f64]) {
        self.lu.solve_transposed(x);
    }
}

/// A partition of the coordinates.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    /// Row of each pivot, in the order of decreasing pivots.
    pub rows: Vec<usize>,
    /// Column of each pivot.
    pub columns: Vec<usize>,
    /// ln |det J̃_d|
    pub size: f64,
    /// Rows and columns used by pivots.
    taken: [Vec<bool>; 2],
}

impl Partition {
    /// Storage for a matrix of this size.
    pub fn new(rows: usize, columns: usize) -> Self {
        let most = rows.min(columns);
        Self {
            rows: Vec::with_capacity(most),
            columns: Vec::with_capacity(most),
            size: 0.0,
            taken: [vec![false; rows], vec![false; columns]],
        }
    }

    /// Takes up to `most` pivots of the matrix `a` (by rows, overwritten) as long as they are above `least`. The entries of a scaled matrix
    /// have size one: a constraint whose row is rounding follows from the tree.
    pub fn make(&mut self, a: &mut [f64], most: usize, least: f64) {
        self.rows.clear();
        self.columns.clear();
        self.size = 0.0;
        let [of_rows, of_columns] = &mut self.taken;
        of_rows.fill(false);
        of_columns.fill(false);
        let (rows, columns) = (of_rows.len(), of_columns.len());
        for _ in 0..most.min(rows).min(columns) {
            let (mut best, mut at) = (0.0_f64, None);
            for i in (0..rows).filter(|&i| !of_rows[i]) {
                let row = &a[i * columns..(i + 1) * columns];
                for j in (0..columns).filter(|&j| !of_columns[j]) {
                    let size = row[j].abs();
                    if size > (1.0 + DISTINCT_PIVOT) * best {
                        (best, at) = (size, Some((i, j)));
                    }
                }
            }
            let Some((p, c)) = at else { return };
            if !(best > least && best.is_finite()) {
                return;
            }
            self.size += ln(best);
            self.rows.push(p);
            self.columns.push(c);
            (of_rows[p], of_columns[c]) = (true, true);
            for i in (0..rows).filter(|&i| !of_rows[i]) {
                let factor = a[i * columns + c] / a[p * columns + c];
                if factor != 0.0 {
                    for j in 0..columns {
                        a[i * columns + j] -= factor * a[p * columns + j];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    #[test]
    fn pivots_tell_determinant_and_weakest_column() {
        let mut random = Random::new(3);
        for n in [1, 2, 5, 9] {
            let a = random.vector(n * n, 1.0);
            let mut factor = DependentFactor::new(n);
            factor.cleared().copy_from_slice(&a);
            assert!(factor.factor());
            let det = nalgebra::DMatrix::from_row_slice(n, n, &a).determinant();
            let error = factor.log_determinant - det.abs().ln();
            assert!(error.abs() < 1e-12, "{n}: {error}");
        }
        let mut factor = DependentFactor::new(2);
        factor.cleared().copy_from_slice(&[1.0, 0.0, 0.0, 1e-3]);
        assert!(factor.factor());
        assert_eq!((factor.weakest, factor.conditioning), (1, 1e-3));
        factor.cleared().copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
        assert!(!factor.factor());
        assert_eq!((factor.weakest, factor.conditioning), (1, 0.0));
    }

    #[test]
    fn redundant_constraints_and_small_columns_have_no_pivot() {
        // The third row is the sum of the others; the second column is small.
        let mut a = vec![1.0, 1e-3, 0.5, 0.2, 1e-3, 2.0, 1.2, 2e-3, 2.5];
        let mut choice = Partition::new(3, 3);
        choice.make(&mut a, 3, 1e-10);
        assert_eq!((choice.rows.len(), choice.columns), (2, vec![2, 0]));
    }

    #[test]
    fn the_first_of_equal_pivots_is_taken() {
        let mut a = vec![1.0, 1.0 + 1e-9, -1.0];
        let mut choice = Partition::new(1, 3);
        choice.make(&mut a, 1, 1e-10);
        assert_eq!(choice.columns, [0]);
    }
}
