//! Dense LU in place for small systems:
//!
//! ```text
//!   P A = L U,   A row by row, unit lower L and U in the place of A
//! ```
//!
//! Two ways of pivoting. [`Lu::factor`] takes the largest entry of the column. [`Lu::factor_saddle`] is for
//! `[[S, Gᵀ], [G, −E]]`: it looks for pivots among the rows of S only, and takes the rest in the given order, so that
//! these pivots are those of `W = G S⁻¹ Gᵀ + E` without pivoting: they tell how far each row is from the span of the
//! rows before it. The caller scales A so that the entries to be compared have one unit.

/// Below this the column of a scaled matrix is taken as zero: a hundred times the rounding of entries of size one.
pub const ZERO_PIVOT: f64 = 1e-14;
/// Smallest pivot of the scaled S that still allows S to be eliminated before the constraints.
const SMALL_LEAD: f64 = 1e-10;
/// Largest diagonal of W (its scaled size is one): beyond, too many digits are lost and all rows take part in pivoting.
const GROWTH: f64 = 1e6;
/// A constraint pivot below this part of its diagonal is rounding noise ...
pub const NOISE_PIVOT: f64 = 1e-13;
/// ... and is replaced by this part of the diagonal, the size of the usual regularisation.
pub const REPLACEMENT_PIVOT: f64 = 1e-10;

/// Storage and factors of one dense matrix.
#[derive(Clone, Debug)]
pub struct DenseLu {
    n: usize,
    a: Vec<f64>,
    /// Row that was exchanged with row k when column k was eliminated.
    exchanged: Vec<u32>,
}

impl DenseLu {
    /// Storage for `n` x `n`.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            a: vec![0.0; n * n],
            exchanged: vec![0; n],
        }
    }

    /// The storage row by row, set to zero and to be filled before factoring.
    pub fn cleared(&mut self) -> &mut [f64] {
        self.a.fill(0.0);
        &mut self.a
    }

    /// Diagonal entry `k` of U.
    pub fn pivot(&self, k: usize) -> f64 {
        self.a[k * self.n + k]
    }

    /// LU with partial pivoting. The error is the first column without a usable pivot.
    pub fn factor(&mut self) -> Result<(), usize> {
        for k in 0..self.n {
            let largest = self.bring_largest(k, self.n);
            if !(largest > ZERO_PIVOT && largest.is_finite()) {
                return Err(k);
            }
            self.eliminate(k);
        }
        Ok(())
    }

    /// LU of a saddle-point matrix whose first `lead` rows and columns hold S. Writes the pivot of each later row over
    /// its diagonal in W to `relative` and returns how many of them were noise and had to be replaced; `None` if the
    /// order S, then constraints is not safe here: fill again and call [`Lu::factor`].
    pub fn factor_saddle_point(&mut self, lead: usize, relative: &mut [f64]) -> Option<usize> {
        let n = self.n;
        for k in 0..lead {
            let largest = self.bring_largest(k, lead);
            if !(largest > SMALL_LEAD && largest.is_finite()) {
                return None;
            }
            self.eliminate(k);
        }
        for k in lead..n {
            let w = -self.a[k * n + k];
            if !(w > 0.0 && w < GROWTH) {
                return None;
            }
            relative[k - lead] = w;
        }
        let mut corrected = 0;
        for k in lead..n {
            self.exchanged[k] = k as u32;
            let w = relative[k - lead];
            let pivot = -self.a[k * n + k] / w;
            if pivot.is_nan() {
                return None;
            }
            relative[k - lead] = pivot;
            if pivot < NOISE_PIVOT {
                self.a[k * n + k] = -REPLACEMENT_PIVOT * w;
                corrected += 1;
            }
            self.eliminate(k);
        }
        Some(corrected)
    }

    /// Exchanges row k with the one among k..end that is largest in column k; returns that size.
    fn bring_largest(&mut self, k: usize, end: usize) -> f64 {
        let n = self.n;
        let mut best = k;
        let mut largest = self.a[k * n + k].abs();
        for i in k + 1..end {
            let size = self.a[i * n + k].abs();
            // A NaN must not hide behind a comparison that is false.
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

    /// Subtracts multiples of row k from all rows below, multipliers kept in column k.
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
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_zero_column_is_named() {
        let mut lu = DenseLu::new(3);
        lu.cleared()
            .copy_from_slice(&[1.0, 2.0, 1.0, 2.0, 4.0, 3.0, 1.0, 2.0, 7.0]);
        assert_eq!(lu.factor(), Err(1));
    }

    #[test]
    fn a_nan_is_an_error_and_not_a_pivot() {
        for place in 0..9 {
            let mut lu = DenseLu::new(3);
            let a = lu.cleared();
            a.copy_from_slice(&[4.0, 1.0, 0.5, 1.0, 5.0, 1.0, 0.5, 1.0, -6.0]);
            a[place] = f64::NAN;
            assert!(lu.factor().is_err(), "NaN at {place} was not noticed");
        }
    }

    #[test]
    fn constraint_pivots_are_those_of_the_schur_complement() {
        // S = I, two rows at the angle with cosine 0.6: W = [[1, .6], [.6, 1]], second pivot 1 - 0.36.
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
    fn a_massless_coordinate_asks_for_full_pivoting() {
        let mut lu = DenseLu::new(2);
        lu.cleared().copy_from_slice(&[0.0, 1.0, 1.0, 0.0]);
        assert_eq!(lu.factor_saddle_point(1, &mut [0.0]), None);
        lu.cleared().copy_from_slice(&[0.0, 1.0, 1.0, 0.0]);
        assert_eq!(lu.factor(), Ok(()));
    }
}
