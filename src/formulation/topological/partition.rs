//! Coordinate partitioning by complete pivoting on the scaled closure Jacobian,
//!
//! ```text
//!   J̃ = D_r⁻¹ J D_c⁻¹        D_r scale of each constraint, D_c displacement of the bodies per unit of each coordinate
//! ```
//!
//! The columns of the pivots are the dependent coordinates, their rows the constraints that are solved. The partition with the larger
//! |det J̃_d| is the better one, whatever the units.

use crate::linalg::elementary::ln;

/// Relative amount by which a later candidate must be larger: the choice between equal pivots must not depend on rounding.
const DISTINCT_PIVOT: f64 = 1e-6;

/// A small square matrix and its factors, P A = L U in place.
#[derive(Clone, Debug, Default)]
pub struct Square {
    n: usize,
    a: Vec<f64>,
    exchanged: Vec<usize>,
    /// ln |det| of the last factorisation.
    pub size: f64,
    /// Column with the smallest pivot.
    pub weakest: usize,
    /// Ratio of the smallest to the largest pivot.
    pub regular: f64,
}

impl Square {
    /// Storage for n x n.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            a: vec![0.0; n * n],
            exchanged: vec![0; n],
            size: 0.0,
            weakest: 0,
            regular: 1.0,
        }
    }

    /// Copies another matrix of the same size.
    pub fn copy_from(&mut self, other: &Self) {
        self.a.copy_from_slice(&other.a);
        self.exchanged.copy_from_slice(&other.exchanged);
        (self.size, self.weakest) = (other.size, other.weakest);
        self.regular = other.regular;
    }

    /// The storage by rows, to be filled before factoring.
    pub fn values(&mut self) -> &mut [f64] {
        &mut self.a
    }

    /// LU with exchanges of rows; false if a column has no pivot.
    pub fn factor(&mut self) -> bool {
        let (n, a) = (self.n, &mut self.a);
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        (self.size, self.regular) = (0.0, 0.0);
        self.weakest = 0;
        for k in 0..n {
            let mut best = k;
            for i in k + 1..n {
                if a[i * n + k].abs() > a[best * n + k].abs() {
                    best = i;
                }
            }
            self.exchanged[k] = best;
            let pivot = a[best * n + k];
            if !(pivot.abs() > 0.0 && pivot.is_finite()) {
                (self.size, self.weakest) = (f64::NEG_INFINITY, k);
                return false;
            }
            if best != k {
                for j in 0..n {
                    a.swap(k * n + j, best * n + j);
                }
            }
            if pivot.abs() < least {
                (least, self.weakest) = (pivot.abs(), k);
            }
            most = most.max(pivot.abs());
            self.size += ln(pivot.abs());
            for i in k + 1..n {
                let factor = a[i * n + k] / pivot;
                a[i * n + k] = factor;
                if factor != 0.0 {
                    for j in k + 1..n {
                        a[i * n + j] -= factor * a[k * n + j];
                    }
                }
            }
        }
        self.regular = if n > 0 { least / most } else { 1.0 };
        true
    }

    /// x := A⁻¹ x
    pub fn solve(&self, x: &mut [f64]) {
        let (n, a) = (self.n, &self.a);
        for k in 0..n {
            x.swap(k, self.exchanged[k]);
        }
        for i in 0..n {
            for j in 0..i {
                x[i] -= a[i * n + j] * x[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                x[i] -= a[i * n + j] * x[j];
            }
            x[i] /= a[i * n + i];
        }
    }

    /// x := A⁻ᵀ x
    pub fn solve_transposed(&self, x: &mut [f64]) {
        let (n, a) = (self.n, &self.a);
        for i in 0..n {
            for j in 0..i {
                x[i] -= a[j * n + i] * x[j];
            }
            x[i] /= a[i * n + i];
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                x[i] -= a[j * n + i] * x[j];
            }
        }
        for k in (0..n).rev() {
            x.swap(k, self.exchanged[k]);
        }
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
    fn factors_solve_with_the_matrix_and_its_transpose() {
        let mut random = Random::new(3);
        for n in [1, 2, 5, 9] {
            let a = random.vector(n * n, 1.0);
            let x = random.vector(n, 1.0);
            let mut square = Square::new(n);
            square.values().copy_from_slice(&a);
            assert!(square.factor());
            let det = nalgebra::DMatrix::from_row_slice(n, n, &a).determinant();
            assert!((square.size - det.abs().ln()).abs() < 1e-12, "{n}");
            for transposed in [false, true] {
                let entry = |i: usize, j: usize| {
                    if transposed {
                        a[j * n + i]
                    } else {
                        a[i * n + j]
                    }
                };
                let mut b: Vec<f64> = (0..n)
                    .map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum())
                    .collect();
                if transposed {
                    square.solve_transposed(&mut b);
                } else {
                    square.solve(&mut b);
                }
                // Rounding times the condition of a random matrix.
                for (b, x) in b.iter().zip(&x) {
                    assert!((b - x).abs() < 1e-12, "{n} {transposed}: {b} {x}");
                }
            }
        }
        let mut zero = Square::new(2);
        zero.values().copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
        assert!(!zero.factor());
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
