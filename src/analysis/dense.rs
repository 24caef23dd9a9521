//! Small dense operations without allocation.

use nalgebra::DMatrix;

/// Part of a reduced mass below which a direction has none: rounding.
const MASSLESS: f64 = 1e-13;

/// xᵀ y
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// x += s y
pub(super) fn add(x: &mut [f64], s: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += s * y;
    }
}

/// out = A x, without allocation.
pub(super) trait MatrixTimesSlice {
    fn mul_to_slice(&self, x: &[f64], out: &mut [f64]);
}

impl MatrixTimesSlice for DMatrix<f64> {
    fn mul_to_slice(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (column, x) in self.as_slice().chunks_exact(self.nrows().max(1)).zip(x) {
            if *x != 0.0 {
                add(out, *x, column);
            }
        }
    }
}

/// A := L of A = L Lᵀ in place (lower triangle). The error is a column without a positive pivot.
pub(super) fn cholesky(a: &mut DMatrix<f64>) -> std::result::Result<(), usize> {
    let n = a.nrows();
    for j in 0..n {
        let diagonal = a[(j, j)];
        for k in 0..j {
            let x = a[(j, k)];
            a[(j, j)] -= x * x;
        }
        if !(a[(j, j)] > MASSLESS * diagonal && diagonal > 0.0) {
            return Err(j);
        }
        let pivot = a[(j, j)].sqrt();
        a[(j, j)] = pivot;
        for i in j + 1..n {
            for k in 0..j {
                let x = a[(i, k)] * a[(j, k)];
                a[(i, j)] -= x;
            }
            a[(i, j)] /= pivot;
        }
    }
    Ok(())
}

/// Y := Y L⁻ᵀ
pub(super) fn solve_transposed_from_right(l: &DMatrix<f64>, y: &mut DMatrix<f64>) {
    let (rows, n) = y.shape();
    for i in 0..rows {
        for j in 0..n {
            for k in 0..j {
                let x = y[(i, k)] * l[(j, k)];
                y[(i, j)] -= x;
            }
            y[(i, j)] /= l[(j, j)];
        }
    }
}
