//! Dense LU factorisation in place for small systems:
//!
//! ```text
//!   P A = L U,   A by rows, overwritten by unit lower L and U
//! ```
//!
//! [`DenseLu::factor`] uses partial pivoting. [`DenseLu::factor_saddle_point`] is for `[[S, Gᵀ], [G, −E]]`: it pivots within S
//! only and then eliminates the constraints in the given order, so that their pivots are those of `W = G S⁻¹ Gᵀ + E` without
//! pivoting: the distance of each constraint gradient from the span of those before it. The caller scales A so that entries are
//! comparable.

/// Pivot of a scaled matrix below which its column counts as zero: a hundred times the rounding of entries of size one.
pub const ZERO_PIVOT: f64 = 1e-14;
/// Smallest pivot of the scaled S for which S is eliminated before the constraints.
const SMALLEST_TANGENT_PIVOT: f64 = 1e-10;
/// Largest diagonal of W, whose scaled size is one: above it too many digits are lost and pivoting extends over all rows.
const LARGEST_SCHUR_DIAGONAL: f64 = 1e6;
/// Constraint pivot, as part of its diagonal, below which it is rounding ...
pub const NOISE_PIVOT: f64 = 1e-13;
/// ... and is replaced by this part of the diagonal, the size of the default regularisation.
pub const REPLACEMENT_PIVOT: f64 = 1e-10;

/// A dense matrix and its LU factors.
#[derive(Clone, Debug, Default)]
pub struct DenseLu {
    n: usize,
    a: Vec<f64>,
    /// Row exchanged with row k when column k was eliminated.
    exchanged: Vec<u32>,
}

impl DenseLu {
    /// Storage for an `n` x `n` matrix.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            a: vec![0.0; n * n],
            exchanged: vec![0; n],
        }
    }

    /// Changes the number of rows; allocates nothing up to the largest one so far.
    pub fn resize(&mut self, n: usize) {
        self.n = n;
        self.a.resize(n * n, 0.0);
        self.exchanged.resize(n, 0);
    }

    /// Copies the factors of another matrix of the same size.
    pub fn copy_from(&mut self, other: &Self) {
        self.a.copy_from_slice(&other.a);
        self.exchanged.copy_from_slice(&other.exchanged);
    }

    /// The entries by rows, set to zero; the caller fills them before a factorisation.
    pub fn cleared(&mut self) -> &mut [f64] {
        self.a.fill(0.0);
        &mut self.a
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Diagonal entry `k` of U.
    pub fn pivot(&self, k: usize) -> f64 {
        self.a[k * self.n + k]
    }

    /// Factors a scaled matrix with partial pivoting. The error is the first column without a usable pivot.
    pub fn factor(&mut self) -> Result<(), usize> {
        self.factor_above(ZERO_PIVOT)
    }

    /// Factors with partial pivoting; pivots must be larger than `least`.
    pub fn factor_above(&mut self, least: f64) -> Result<(), usize> {
        for k in 0..self.n {
            let largest = self.exchange_pivot_row(k, self.n);
            if !(largest > least && largest.is_finite()) {
                return Err(k);
            }
            self.eliminate(k);
        }
        Ok(())
    }

    /// Factors a saddle-point matrix whose first `nv` rows and columns are S. Sets `relative` to the pivot of each constraint over
    /// its diagonal in W and returns how many of them were rounding and have been replaced. `None` if eliminating S first is not
    /// stable: fill again and call [`DenseLu::factor`].
    pub fn factor_saddle_point(&mut self, nv: usize, relative: &mut [f64]) -> Option<usize> {
        let n = self.n;
        for k in 0..nv {
            let largest = self.exchange_pivot_row(k, nv);
            if !(largest > SMALLEST_TANGENT_PIVOT && largest.is_finite()) {
                return None;
            }
            self.eliminate(k);
        }
        for k in nv..n {
            let w = -self.a[k * n + k];
            if !(w > 0.0 && w < LARGEST_SCHUR_DIAGONAL) {
                return None;
            }
            relative[k - nv] = w;
        }
        let mut corrected = 0;
        for k in nv..n {
            self.exchanged[k] = k as u32;
            let w = relative[k - nv];
            let pivot = -self.a[k * n + k] / w;
            if pivot.is_nan() {
                return None;
            }
            relative[k - nv] = pivot;
            if pivot < NOISE_PIVOT {
                self.a[k * n + k] = -REPLACEMENT_PIVOT * w;
                corrected += 1;
            }
            self.eliminate(k);
        }
        Some(corrected)
    }

    /// Exchanges row k with the row of k..end that has the largest entry in column k; returns its magnitude.
    fn exchange_pivot_row(&mut self, k: usize, end: usize) -> f64 {
        let n = self.n;
        let mut best = k;
        let mut largest = self.a[k * n + k].abs();
        for i in k + 1..end {
            let size = self.a[i * n + k].abs();
            // Every comparison with NaN is false: it is asked for explicitly.
            if size > largest || size.is_nan() {
                largest = size;
                best = i;
            }
        }
        self.exchanged[k] = best as u32;
        if best != k {
            let (upper, lower) = self.a.split_at_mut(best * n);
            upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
        }
        largest
    }

    /// Subtracts multiples of row k from the rows below; column k keeps the factors.
    fn eliminate(&mut self, k: usize) {
        let n = self.n;
        let (upper, lower) = self.a.split_at_mut((k + 1) * n);
        let row_k = &upper[k * n + k..];
        let inverse = 1.0 / row_k[0];
        for row in lower.chunks_exact_mut(n) {
            let row = &mut row[k..];
            if row[0] != 0.0 {
                let l = row[0] * inverse;
                row[0] = l;
                for (x, u) in row[1..].iter_mut().zip(&row_k[1..]) {
                    *x -= l * u;
                }
            }
        }
    }

    /// b := A⁻¹ b
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        if n == 0 {
            return;
        }
        for k in 0..n {
            b.swap(k, self.exchanged[k] as usize);
        }
        for (i, row) in self.a.chunks_exact(n).enumerate() {
            let (done, rest) = b.split_at_mut(i);
            rest[0] -= dot(&row[..i], done);
        }
        for (i, row) in self.a.chunks_exact(n).enumerate().rev() {
            let (head, done) = b.split_at_mut(i + 1);
            head[i] = (head[i] - dot(&row[i + 1..], done)) / row[i];
        }
    }

    /// b := A⁻ᵀ b
    pub fn solve_transposed(&self, b: &mut [f64]) {
        let n = self.n;
        if n == 0 {
            return;
        }
        for (i, row) in self.a.chunks_exact(n).enumerate() {
            b[i] /= row[i];
            let (done, rest) = b.split_at_mut(i + 1);
            subtract(done[i], &row[i + 1..], rest);
        }
        for (i, row) in self.a.chunks_exact(n).enumerate().rev() {
            let (rest, done) = b.split_at_mut(i);
            subtract(done[0], &row[..i], rest);
        }
        for k in (0..n).rev() {
            b.swap(k, self.exchanged[k] as usize);
        }
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// y -= s x
fn subtract(s: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= s * x;
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
            let mut lu = DenseLu::new(n);
            lu.cleared().copy_from_slice(&a);
            lu.factor().unwrap();
            let a = nalgebra::DMatrix::from_row_slice(n, n, &a);
            let exact = nalgebra::DVector::from_column_slice(&x);
            let mut b = &a * &exact;
            lu.solve(b.as_mut_slice());
            let mut c = a.tr_mul(&exact);
            lu.solve_transposed(c.as_mut_slice());
            // Rounding times the condition of a random matrix.
            assert!((b - &exact).amax() < 1e-12, "A: {n}");
            assert!((c - &exact).amax() < 1e-12, "transposed A: {n}");
        }
    }

    #[test]
    fn rows_are_exchanged_where_the_diagonal_is_zero() {
        let mut lu = DenseLu::new(3);
        lu.cleared()
            .copy_from_slice(&[0.0, 2.0, 1.0, 1.0, 0.0, 0.0, 3.0, 0.0, 4.0]);
        lu.factor().unwrap();
        let mut b = [2.0 * 2.0 + 3.0, 1.0, 3.0 + 12.0]; // A (1, 2, 3)
        lu.solve(&mut b);
        for (x, exact) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - exact).abs() < 1e-15, "{b:?}");
        }
    }

    #[test]
    fn a_zero_column_is_reported() {
        let mut lu = DenseLu::new(3);
        lu.cleared()
            .copy_from_slice(&[1.0, 2.0, 1.0, 2.0, 4.0, 3.0, 1.0, 2.0, 7.0]);
        assert_eq!(lu.factor(), Err(1));
    }

    #[test]
    fn a_nan_is_an_error_and_not_a_pivot() {
        for entry in 0..9 {
            let mut lu = DenseLu::new(3);
            let a = lu.cleared();
            a.copy_from_slice(&[4.0, 1.0, 0.5, 1.0, 5.0, 1.0, 0.5, 1.0, -6.0]);
            a[entry] = f64::NAN;
            assert!(
                lu.factor().is_err(),
                "NaN in entry {entry} was not detected"
            );
        }
    }

    #[test]
    fn constraint_pivots_are_those_of_the_schur_complement() {
        // S = I, two gradients at an angle of cosine 0.6: W = [[1, .6], [.6, 1]], second pivot 1 - 0.36.
        let mut lu = DenseLu::new(4);
        lu.cleared().copy_from_slice(&[
            1.0, 0.0, 1.0, 0.6, //
            0.0, 1.0, 0.0, 0.8, //
            1.0, 0.0, 0.0, 0.0, //
            0.6, 0.8, 0.0, 0.0,
        ]);
        let mut relative = [0.0; 2];
        assert_eq!(lu.factor_saddle_point(2, &mut relative), Some(0));
        assert!((relative[0] - 1.0).abs() < 1e-15);
        assert!((relative[1] - 0.64).abs() < 1e-15);
    }

    #[test]
    fn a_massless_coordinate_needs_pivoting_over_all_rows() {
        let mut lu = DenseLu::new(2);
        lu.cleared().copy_from_slice(&[0.0, 1.0, 1.0, 0.0]);
        assert_eq!(lu.factor_saddle_point(1, &mut [0.0]), None);
        lu.cleared().copy_from_slice(&[0.0, 1.0, 1.0, 0.0]);
        assert_eq!(lu.factor(), Ok(()));
    }
}
