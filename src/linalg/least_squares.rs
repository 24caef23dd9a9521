//! Smallest solution of least squares, for matrices of any rank.

use nalgebra::{DMatrix, DVector};

/// Returns the x of smallest |x| among those that minimise |A x − b|. Pivots up to `negligible` count as zero.
///
/// ```text
///   A P = Q [R; 0],   Rᵀ = Q₂ T,   x = P Q₂ T⁻ᵀ (Qᵀ b)₁
/// ```
///
/// The first factorisation chooses columns and so the rank; the second makes x perpendicular to the null space.
pub fn smallest_least_squares(
    a: &DMatrix<f64>,
    b: &DVector<f64>,
    negligible: f64,
) -> Option<DVector<f64>> {
    let n = a.ncols();
    let first = a.clone().col_piv_qr();
    let r = first.r();
    let rank = (0..r.nrows())
        .take_while(|&k| r[(k, k)].abs() > negligible)
        .count();
    let second = r.rows(0, rank).transpose().qr();
    let mut c = b.clone();
    first.q_tr_mul(&mut c);
    let y = (second.r()).tr_solve_upper_triangular(&c.rows(0, rank))?;
    let mut x = second.q() * y;
    debug_assert_eq!(x.len(), n);
    first.p().inv_permute_rows(&mut x);
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    #[test]
    fn the_residual_is_least_and_the_solution_has_no_part_in_the_null_space() {
        let mut random = Random::new(7);
        for case in 0..300 {
            let size = |random: &mut Random| 1 + random.below(9) as usize;
            let (m, n) = (size(&mut random), size(&mut random));
            let rank = 1 + random.below(m.min(n) as u64) as usize;
            // A = L R: the rows of R span what is perpendicular to the null space.
            let left = DMatrix::from_fn(m, rank, |_, _| random.signed());
            let right = DMatrix::from_fn(rank, n, |_, _| random.signed());
            let a = &left * &right;
            let b = DVector::from_fn(m, |_, _| random.signed());
            let x = smallest_least_squares(&a, &b, 1e-10).unwrap();
            // Rounding of 1e-16, magnified by the size of x, which is large where A is nearly of a lower rank.
            let bound = 1e-13 * (1.0 + x.amax());
            let gradient = a.tr_mul(&(&a * &x - &b));
            assert!(
                gradient.amax() < bound,
                "case {case}: {m} x {n}, rank {rank}, {gradient}"
            );
            let part = (&right * right.transpose())
                .lu()
                .solve(&(&right * &x))
                .unwrap();
            let outside = &x - right.tr_mul(&part);
            // The reference squares R, so its own error is magnified by |part|.
            let bound = 1e-12 * (1.0 + x.amax() + part.amax());
            assert!(
                outside.amax() < bound,
                "case {case}: {m} x {n}, rank {rank}, {outside}"
            );
        }
        let nothing = smallest_least_squares(&DMatrix::zeros(2, 3), &DVector::zeros(2), 1e-10);
        assert_eq!(nothing.unwrap().amax(), 0.0);
    }
}
