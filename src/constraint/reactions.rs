//! Minimum-norm reactions of redundant constraints. The forces r = Gᵀλ on the bodies are unique, their distribution over redundant
//! constraints is not; the one of minimum norm is chosen,
//!
//! ```text
//!   min Σ (s_i λ_i)²   with   Gᵀ λ = r,        s_i the scale of the constraint: its length, or 1 for an angle
//! ```
//!
//! so that s_i λ_i is a moment for every constraint. Constraints of equal scale share a load like springs of equal stiffness; a
//! symmetric mechanism has symmetric reactions. The proximal iteration from λ = 0 converges to that minimum:
//!
//! ```text
//!   [ M   Gᵀ ] [ x  ]   [ r − Gᵀλ ]
//!   [ G  −E  ] [ dλ ] = [    0    ],     λ += dλ,      E_i = ε c s_i²,   c = mean of (G diag(M)⁻¹ Gᵀ)_ii / s_i²
//! ```

use super::factorization::SingularPivot;
use super::saddle_point::SaddlePoint;
use super::sparsity::SaddleSparsity;

/// ε: rounding in the undetermined directions is 1e-16/ε; an iteration gains four digits where constraints are as independent as
/// in usual mechanisms (pivots of 1e-3).
const EPSILON: f64 = 1e-7;
/// Largest number of iterations.
const MAX_ITERATIONS: usize = 12;
/// Relative residual of Gᵀλ = r at which the iteration ends.
const TOLERANCE: f64 = 1e-12;

impl SaddlePoint {
    /// Sets `lambda` to the multipliers of minimum norm with Gᵀλ = `r`. M and G of all active constraints must be loaded, not in
    /// descriptor form; E is replaced. Returns the relative residual, which is far from zero only if `r` is not of the form Gᵀλ.
    pub fn minimum_norm_multipliers(
        &mut self,
        sparsity: &SaddleSparsity,
        scale: &[f64],
        r: &[f64],
        lambda: &mut [f64],
    ) -> Result<f64, SingularPivot> {
        let (m, factor) = (&mut self.matrix, &mut self.factor);
        let (x, dl) = (&mut self.correction.dx, &mut self.correction.mu);
        m.tangent_diagonal(sparsity, x);
        m.regularise(sparsity, x, 1.0);
        let mut sum = 0.0;
        let mut count = 0;
        for (k, e) in m.regularisation().iter().enumerate() {
            if m.active()[k] {
                sum += e / (scale[k] * scale[k]);
                count += 1;
            }
        }
        let c = EPSILON * sum / f64::from(count.max(1));
        m.set_regularisation(|k| c * scale[k] * scale[k]);
        factor.factor(sparsity, m)?;
        lambda.fill(0.0);
        let size = square(r);
        let mut residual = 1.0;
        for _ in 0..MAX_ITERATIONS {
            // x = r − Gᵀλ
            for (d, l) in dl.iter_mut().zip(&*lambda) {
                *d = -l;
            }
            x.copy_from_slice(r);
            m.add_jacobian_transposed(sparsity, dl, x);
            let now = if size > 0.0 {
                (square(x) / size).sqrt()
            } else {
                0.0
            };
            if now <= TOLERANCE || !(now < residual || residual == 1.0) {
                residual = now.min(residual);
                break;
            }
            residual = now;
            dl.fill(0.0);
            factor.solve(sparsity, x, dl);
            for (l, d) in lambda.iter_mut().zip(&*dl) {
                *l += d;
            }
        }
        Ok(residual)
    }
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::super::sparsity::Backend;
    use super::super::tests::samples::{self, Sample};
    use super::*;
    use crate::formulation::system::Sparsity;
    use nalgebra::{DMatrix, DVector};

    fn minimum_norm_reactions(
        sample: &Sample,
        backend: Backend,
        scale: &[f64],
        lambda: &[f64],
    ) -> (Vec<f64>, f64) {
        let pattern = Sparsity {
            tangent: sample.tangent.clone(),
            jacobian: sample.jacobian.clone(),
        };
        let sparsity = SaddleSparsity::new(sample.nv, sample.nc, &pattern, backend);
        let mut saddle = SaddlePoint::new(&sparsity, sample.s.len(), sample.g.len());
        saddle.matrix.load_tangent(&sparsity, &sample.s);
        saddle.matrix.load_jacobian(&sparsity, &sample.g);
        let mut r = vec![0.0; sample.nv];
        saddle.add_jacobian_transposed(&sparsity, lambda, &mut r);
        let mut out = vec![f64::NAN; sample.nc];
        let residual = saddle
            .minimum_norm_multipliers(&sparsity, scale, &r, &mut out)
            .unwrap();
        (out, residual)
    }

    /// s⁻¹ (Gᵀ s⁻¹)⁺ r
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

    /// Adds `factor` times constraint `row` once more.
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
    fn minimum_norm_reactions_are_those_of_the_pseudo_inverse() {
        for backend in [Backend::Dense, Backend::Sparse] {
            let mut sample = samples::four_bars(3);
            for (row, factor) in [(0, 1.0), (5, -2.0), (5, 1.0), (9, 1.0)] {
                repeat(&mut sample, row, factor);
            }
            let scale: Vec<f64> = (0..sample.nc).map(|i| 1.0 + (i % 3) as f64).collect();
            let lambda: Vec<f64> = (0..sample.nc).map(|i| (i as f64).sin() * 10.0).collect();
            let (out, residual) = minimum_norm_reactions(&sample, backend, &scale, &lambda);
            assert!(residual < 1e-11, "{residual}");
            // Rounding in the undetermined directions: 1e-16/ε of the largest.
            for (a, b) in out.iter().zip(dense(&sample, &scale, &lambda)) {
                assert!((a - b).abs() < 2e-7, "{backend:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn two_equal_constraints_share_a_load_equally() {
        let mut sample = samples::planar_chain(4);
        repeat(&mut sample, 2, 1.0);
        let mut lambda = vec![0.0; sample.nc];
        lambda[2] = 8.0;
        let (out, _) =
            minimum_norm_reactions(&sample, Backend::Auto, &vec![1.0; sample.nc], &lambda);
        assert!(
            (out[2] - 4.0).abs() < 1e-7 && (out[sample.nc - 1] - 4.0).abs() < 1e-7,
            "{out:?}"
        );
    }
}
