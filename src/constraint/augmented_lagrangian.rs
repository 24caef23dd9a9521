//! Augmented Lagrangian: constraints enforced by a penalty p and multipliers updated in every iteration,
//!
//! ```text
//!   (S + Gᵀ p G) dx = −( r + Gᵀ (p Φ + λ) ),      λ += p (Φ + G dx)
//! ```
//!
//! This is the saddle-point system with E = 1/p and the λ of the last iteration in the right-hand side:
//!
//! ```text
//!   [ S   Gᵀ ] [ dx ]     [ r + Gᵀ λ ]
//!   [ G  −E  ] [ dλ ] = − [ Φ        ]
//! ```
//!
//! So it shares matrices, factorisation and projections with the exact multipliers; only the size of E differs. No E λ is left in
//! the residual: the iteration converges to Φ = 0 for any penalty. Constraints that are redundant, always or in a singular
//! position, need no treatment: S + Gᵀ p G is regular if S is on the null space of G.

use super::regularisation::REGULARISATION;
use crate::formulation::system::ConstraintHandling;

/// Default weight: p is this times the stiffness 1/(G S⁻¹ Gᵀ) that a constraint acts against. One multiplier update leaves
/// 1/(1 + weight s²) of Φ, where s is the sine of the angle between a gradient and the others: with 1e6 near singular positions
/// take hundreds of updates and end with wrong accelerations; with 1e8 the rounding that it magnifies in a singular position
/// shows in the energy of a fixed step, with 1e7 that of redundant constraints in the ninth digit of accelerations.
pub const DEFAULT_WEIGHT: f64 = 4e6;
/// Constraints above which the weight grows with the square of their number: the softest mode of n coupled loops is n² times
/// softer than one of them, and convergence becomes slow when its stiffness is of the order of the penalty.
pub const FEW_CONSTRAINTS: usize = 100;
/// Largest weight: a larger one would amplify the rounding of redundant constraints.
pub const MAX_WEIGHT: f64 = 1e12;

/// Penalty of a factorisation with the augmented Lagrangian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// The one given in the settings, if there is one.
    Given,
    /// The one chosen from masses and step size.
    Default,
}

impl ConstraintHandling {
    /// E relative to G diag(S)⁻¹ Gᵀ for a number of constraints.
    pub fn regularisation(self, constraints: usize) -> f64 {
        match self {
            Self::Multipliers => REGULARISATION,
            Self::Augmented { .. } => {
                let ratio = constraints.max(FEW_CONSTRAINTS) as f64 / FEW_CONSTRAINTS as f64;
                (1.0 / (DEFAULT_WEIGHT * ratio * ratio)).max(REGULARISATION)
            }
        }
    }

    /// E of every constraint if the penalty is given. Constraints are divided by `scale` = β h² in the matrix of a step, so that
    /// its penalty is p β h².
    pub fn given_regularisation(self, scale: f64) -> Option<f64> {
        match self {
            Self::Augmented {
                penalty: Some(penalty),
            } => Some(1.0 / (penalty * scale)),
            _ => None,
        }
    }

    /// Whether multipliers are updated in every iteration.
    pub fn updates_multipliers(self) -> bool {
        matches!(self, Self::Augmented { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::super::factorization::Factorization;
    use super::super::matrix::SaddleMatrix;
    use super::super::sparsity::{Backend, SaddleSparsity};
    use super::super::tests::samples::{Sample, planar_chain};
    use super::*;
    use crate::formulation::system::Sparsity;

    type Dense = nalgebra::DMatrix<f64>;
    type Column = nalgebra::DVector<f64>;

    fn loaded(sample: &Sample) -> (SaddleSparsity, SaddleMatrix) {
        let pattern = Sparsity {
            tangent: sample.tangent.clone(),
            jacobian: sample.jacobian.clone(),
        };
        let sparsity = SaddleSparsity::new(sample.nv, sample.nc, &pattern, Backend::Auto);
        let mut m = SaddleMatrix::new(&sparsity);
        m.load_tangent(&sparsity, &sample.s);
        m.load_jacobian(&sparsity, &sample.g);
        (sparsity, m)
    }

    fn dense(rows: usize, columns: usize, entries: &[(u32, u32)], values: &[f64]) -> Dense {
        let mut m = Dense::zeros(rows, columns);
        for (&(i, j), v) in entries.iter().zip(values) {
            m[(i as usize, j as usize)] += v;
        }
        m
    }

    #[test]
    fn the_saddle_point_with_e_is_the_condensed_form_with_the_penalty() {
        let sample = planar_chain(3);
        let (sparsity, mut m) = loaded(&sample);
        let s = dense(sample.nv, sample.nv, &sample.tangent, &sample.s);
        let g = dense(sample.nc, sample.nv, &sample.jacobian, &sample.g);
        let r = Column::from_fn(sample.nv, |i, _| (1.3 * i as f64).sin());
        let phi = Column::from_fn(sample.nc, |i, _| 1e-3 * (0.7 * i as f64).cos());
        for penalty in [1e2, 1e4, 1e6] {
            m.set_regularisation(|_| 1.0 / penalty);
            let mut factor = Factorization::new(&sparsity);
            factor.factor(&sparsity, &m).expect("regular");
            let mut x: Vec<f64> = r.iter().map(|x| -x).collect();
            let mut l: Vec<f64> = phi.iter().map(|x| -x).collect();
            factor.solve(&sparsity, &mut x, &mut l);
            let condensed = &s + g.transpose() * &g * penalty;
            let rhs = -(&r + g.transpose() * &phi * penalty);
            let dx = condensed.lu().solve(&rhs).expect("regular");
            let dl = (&phi + &g * &dx) * penalty;
            // The condition number of the condensed matrix grows with the penalty and multiplies rounding.
            let close = 1e-15 * penalty * 1e2;
            for (x, y) in x.iter().zip(&dx) {
                assert!((x - y).abs() < close * dx.amax(), "{penalty}: {x} {y}");
            }
            for (x, y) in l.iter().zip(&dl) {
                assert!((x - y).abs() < close * dl.amax(), "{penalty}: {x} {y}");
            }
        }
    }

    #[test]
    fn the_weight_grows_with_many_constraints_up_to_that_of_multipliers() {
        let handling = ConstraintHandling::Augmented { penalty: None };
        let e = [1, FEW_CONSTRAINTS, 10 * FEW_CONSTRAINTS, 1_000_000]
            .map(|rows| handling.regularisation(rows));
        let exact = ConstraintHandling::Multipliers.regularisation(1);
        for (e, expected) in e.iter().zip([2.5e-7, 2.5e-7, 2.5e-9, exact]) {
            assert!((e - expected).abs() < 1e-12 * expected, "{e} {expected}");
        }
    }

    #[test]
    fn a_given_penalty_becomes_e_of_the_scaled_constraints() {
        let handling = ConstraintHandling::Augmented { penalty: Some(1e7) };
        assert_eq!(handling.given_regularisation(2.5e-5), Some(1.0 / 250.0));
        assert_eq!(
            ConstraintHandling::Multipliers.given_regularisation(1.0),
            None
        );
        assert!(
            handling.updates_multipliers()
                && !ConstraintHandling::Multipliers.updates_multipliers()
        );
        assert_eq!(
            ConstraintHandling::Augmented { penalty: None }.given_regularisation(1.0),
            None
        );
    }
}
