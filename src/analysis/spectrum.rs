//! Eigenvalues of a graded stiffness matrix. In mass-scaled coordinates the rounding of the largest eigenvalue of a stiff system hides the
//! lowest. The eigenvectors of low eigenvalues are therefore computed again in their own subspace. There the rounding of an entry
//! is that of its own terms,
//!
//! ```text
//!   kᵢⱼ = xᵢᵀ K xⱼ,      εᵢⱼ ~ |xᵢ|ᵀ |K| |xⱼ|
//! ```

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Entry over the sum of its terms that counts as zero: rounding of the matrices in an orthonormal basis.
pub(super) const ZERO_PART: f64 = 1e-13;
/// Eigenvalue over the largest below which it is computed again in the subspace of the low ones: half of the digits are lost.
const LOW_PART: f64 = 1e-8;

/// Eigenvalues and eigenvectors of the symmetric part of K.
pub(super) struct Spectrum {
    pub values: DVector<f64>,
    pub vectors: DMatrix<f64>,
    /// Vᵀ K V; entries of zeros that are rounding are zero.
    pub stiffness: DMatrix<f64>,
    /// Error of each entry of `stiffness`.
    pub rounding: DMatrix<f64>,
    /// The part of these errors that comes from the loads.
    pub least: f64,
    /// Whether each eigenvalue is zero.
    pub is_zero: Vec<bool>,
}

impl Spectrum {
    /// `least`: eigenvalue that counts as zero at least.
    pub fn of(k: &DMatrix<f64>, least: f64) -> Self {
        let n = k.nrows();
        let symmetric = 0.5 * (k + k.transpose());
        let eigen = SymmetricEigen::new(symmetric.clone());
        let (mut values, mut vectors) = (eigen.eigenvalues, eigen.eigenvectors);
        let mut largest = values.amax();
        loop {
            let low: Vec<usize> = (0..n)
                .filter(|&i| values[i].abs() < LOW_PART * largest)
                .collect();
            if low.is_empty() {
                break;
            }
            let basis = vectors.select_columns(&low);
            let inner = SymmetricEigen::new(basis.transpose() * (&symmetric * &basis));
            let basis = basis * inner.eigenvectors;
            for (k, &i) in low.iter().enumerate() {
                values[i] = inner.eigenvalues[k];
                vectors.set_column(i, &basis.column(k));
            }
            largest = inner.eigenvalues.amax();
        }
        let sizes = vectors.abs();
        let own = (sizes.transpose() * (k.abs() * &sizes)) * (ZERO_PART * n as f64);
        let rounding = own.map(|x| x.max(least));
        let tiny = |i: usize, j: usize, x: f64| x.abs() <= rounding[(i, j)];
        let is_zero: Vec<bool> = (0..n).map(|i| tiny(i, i, values[i])).collect();
        let mut stiffness = vectors.transpose() * (k * &vectors);
        for i in 0..n {
            for j in 0..n {
                if (is_zero[i] || is_zero[j]) && tiny(i, j, stiffness[(i, j)]) {
                    stiffness[(i, j)] = 0.0;
                }
            }
        }
        Self {
            values,
            vectors,
            stiffness,
            rounding,
            least,
            is_zero,
        }
    }
}
