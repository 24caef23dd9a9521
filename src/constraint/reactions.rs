//! Reactions of joints that hold more than they need to. The forces r = Gᵀλ on the bodies are known, their split among rows
//! that depend on each other is not; the least one is taken,
//!
//! ```text
//!   min Σ (s_i λ_i)²   with   Gᵀ λ = r,        s_i the scale of the row: its length, or 1 for an angle
//! ```
//!
//! so that s_i λ_i is a moment for every row: forces count with the length of the mechanism, moments as they are. Rows of
//! equal scale share a load like springs of equal stiffness; a symmetric mechanism has symmetric reactions. Solved by the
//! proximal iteration, whose limit from λ = 0 is that minimum:
//!
//! ```text
//!   [ M   Gᵀ ] [ x  ]   [ r − Gᵀλ ]
//!   [ G  −E  ] [ dλ ] = [    0    ],     λ += dλ,      E_i = ε c s_i²,   c = mean of (G diag(M)⁻¹ Gᵀ)_ii / s_i²
//! ```

use super::factorization::{Factorization, SaddleMatrix, SaddleSparsity, SingularPivot};

/// Large enough that rounding in the undetermined directions is 1e-16/ε, small enough that an iteration gains four digits
/// where the rows are as independent as in usual mechanisms (pivots of 1e-3).
const EPSILON: f64 = 1e-7;
/// Iterations at most, and the part of the forces that may stay unbalanced.
const ROUNDS: usize = 12;
const BALANCED: f64 = 1e-12;

/// `lambda` := the least multipliers with Gᵀλ = `r`; M and G of all rows that hold are loaded in `m`, whose E is replaced.
/// `x` and `dl` are scratch. Returns the part of `r` that is left, relative: far from zero only if `r` is not of the form
/// Gᵀλ. The back-substitutions done are added to `solves`.
pub fn minimum_norm_multipliers(
    st: &SaddleSparsity,
    m: &mut SaddleMatrix,
    factor: &mut Factorization,
    scale: &[f64],
    r: &[f64],
    lambda: &mut [f64],
    x: &mut [f64],
    dl: &mut [f64],
    solves: &mut u64,
) -> Result<f64, SingularPivot> {
    m.tangent_diagonal(st, x);
    m.regularise(st, x, 1.0);
    let mut sum = 0.0;
    let mut rows = 0;
    for (k, e) in m.regularisation().iter().enumerate() {
        if m.active()[k] {
            sum += e / (scale[k] * scale[k]);
            rows += 1;
        }
    }
    let c = EPSILON * sum / f64::from(rows.max(1));
    m.set_regularisation(|k| c * scale[k] * scale[k]);
    factor.factor(st, m)?;
    lambda.fill(0.0);
    let size = square(r);
    let mut left = 1.0;
    for _ in 0..ROUNDS {
        // x = r − Gᵀλ
        for l in dl.iter_mut().zip(&*lambda) {
            *l.0 = -l.1;
        }
        x.copy_from_slice(r);
        m.add_jacobian_transposed(st, dl, x);
        let now = if size > 0.0 {
            (square(x) / size).sqrt()
        } else {
            0.0
        };
        if now <= BALANCED || !(now < left || left == 1.0) {
            left = now.min(left);
            break;
        }
        left = now;
        dl.fill(0.0);
        factor.solve(st, x, dl);
        *solves += 1;
        for (l, d) in lambda.iter_mut().zip(&*dl) {
            *l += d;
        }
    }
    Ok(left)
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::super::factorization::Backend;
    use super::super::samples::{self, Sample};
    use super::*;
    use crate::formulation::system::Sparsity;
    use nalgebra::{DMatrix, DVector};

    fn found(sample: &Sample, backend: Backend, scale: &[f64], lambda: &[f64]) -> (Vec<f64>, f64) {
        let pattern = Sparsity {
            tangent: sample.tangent.clone(),
            jacobian: sample.jacobian.clone(),
        };
        let st = SaddleSparsity::new(sample.nv, sample.nc, &pattern, backend);
        let mut m = SaddleMatrix::new(&st);
        m.load_tangent(&st, &sample.s);
        m.load_jacobian(&st, &sample.g);
        let mut factor = Factorization::new(&st);
        let mut r = vec![0.0; sample.nv];
        m.add_jacobian_transposed(&st, lambda, &mut r);
        let mut out = vec![f64::NAN; sample.nc];
        let (mut x, mut dl) = (vec![0.0; sample.nv], vec![0.0; sample.nc]);
        let mut solves = 0;
        let left = minimum_norm_multipliers(
            &st,
            &mut m,
            &mut factor,
            scale,
            &r,
            &mut out,
            &mut x,
            &mut dl,
            &mut solves,
        )
        .unwrap();
        (out, left)
    }

    /// S⁻¹ (Gᵀ S⁻¹)⁺ r
    fn dense(sample: &Sample, scale: &[f64], lambda: &[f64]) -> Vec<f64> {
        let mut g = DMatrix::<f64>::zeros(sample.nc, sample.nv);
        for (&(i, j), x) in sample.jacobian.iter().zip(&sample.g) {
            g[(i as usize, j as usize)] += x;
        }
        let r = g.transpose() * DVector::from_column_slice(lambda);
        for i in 0..sample.nc {
            for j in 0..sample.nv {
                g[(i, j)] /= scale[i];
            }
        }
        let inverse = g.transpose().pseudo_inverse(1e-9).unwrap();
        let z: DVector<f64> = inverse * r;
        (0..sample.nc).map(|i| z[i] / scale[i]).collect()
    }

    fn repeat(sample: &mut Sample, row: u32, factor: f64) {
        for at in 0..sample.jacobian.len() {
            let (i, j) = sample.jacobian[at];
            if i == row {
                sample.jacobian.push((sample.nc as u32, j));
                sample.g.push(factor * sample.g[at]);
            }
        }
        sample.nc += 1;
    }

    #[test]
    fn the_least_reactions_are_those_of_the_pseudo_inverse() {
        for backend in [Backend::Dense, Backend::Sparse] {
            let mut sample = samples::four_bars(3);
            for (row, factor) in [(0, 1.0), (5, -2.0), (5, 1.0), (9, 1.0)] {
                repeat(&mut sample, row, factor);
            }
            let scale: Vec<f64> = (0..sample.nc).map(|i| 1.0 + (i % 3) as f64).collect();
            let lambda: Vec<f64> = (0..sample.nc).map(|i| (i as f64).sin() * 10.0).collect();
            let (out, left) = found(&sample, backend, &scale, &lambda);
            assert!(left < 1e-11, "{left}");
            // Rounding in the undetermined directions: 1e-16/ε of the largest.
            for (a, b) in out.iter().zip(dense(&sample, &scale, &lambda)) {
                assert!((a - b).abs() < 2e-7, "{backend:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn two_equal_rows_share_equally() {
        let mut sample = samples::planar_chain(4);
        repeat(&mut sample, 2, 1.0);
        let mut lambda = vec![0.0; sample.nc];
        lambda[2] = 8.0;
        let (out, _) = found(&sample, Backend::Auto, &vec![1.0; sample.nc], &lambda);
        assert!(
            (out[2] - 4.0).abs() < 1e-7 && (out[sample.nc - 1] - 4.0).abs() < 1e-7,
            "{out:?}"
        );
    }
}
