//! Regularisation E of the constraints relative to the inverse mass they act on,
//!
//! ```text
//!   E_k = ε (G diag(S)⁻¹ Gᵀ)_kk
//! ```
//!
//! and the constraint pivots that follow from it.

use super::augmented_lagrangian::MAX_WEIGHT;
use super::saddle_point::SaddlePoint;
use super::sparsity::SaddleSparsity;

/// Regularisation E over diag(G M⁻¹ Gᵀ): docs/theory.md, redundancy.
pub const REGULARISATION: f64 = 1e-10;
/// Constraints above which E decreases with the square of their number: the softest mode of a chain of n constraints is n² times
/// softer than one constraint, and refinement becomes slow when its stiffness is of the order of E.
const MANY_CONSTRAINTS: usize = 3000;
/// Regularisation factor of tree-joint constraints. They are independent and need almost none; a larger one would bend under
/// the lifted forces, whose moments grow with the square of a chain's length.
const TREE_JOINT_FACTOR: f64 = 1e-5;
/// Masses S_ii / L_i² below this part of their mean belong to massless coordinates ...
const MASSLESS: f64 = 1e-4;
/// ... which E and the pivots see with this part of the mean mass.
const SUBSTITUTE_MASS: f64 = 1e-3;

impl SaddlePoint {
    /// Sets E relative to G diag(S)⁻¹ Gᵀ.
    ///
    /// A massless coordinate has a diagonal of the order of h²: constraints on it seem nearly parallel although they are not. E and
    /// the pivots are therefore computed as if such a coordinate had a small mass.
    pub(super) fn regularise(&mut self, sparsity: &SaddleSparsity) {
        let diagonal = &mut self.diagonal;
        self.matrix.tangent_diagonal(sparsity, diagonal);
        self.matrix.regularise(sparsity, diagonal, REGULARISATION);
        let masses =
            || (diagonal.iter().enumerate()).map(|(i, d)| d.abs() / sparsity.squared_length(i));
        let mean = masses().sum::<f64>() / diagonal.len().max(1) as f64;
        self.massless = masses().any(|mass| mass < MASSLESS * mean);
        if !self.massless {
            return;
        }
        (self.massless_scaling).copy_from_slice(self.matrix.regularisation());
        for (i, d) in diagonal.iter_mut().enumerate() {
            if d.abs() < MASSLESS * mean * sparsity.squared_length(i) {
                *d = SUBSTITUTE_MASS * mean * sparsity.squared_length(i);
            }
        }
        self.matrix.regularise(sparsity, diagonal, REGULARISATION);
        let e = self.matrix.regularisation();
        for (scaling, e) in self.massless_scaling.iter_mut().zip(e) {
            *scaling = if *e > 0.0 {
                (*scaling / e).max(1.0)
            } else {
                f64::INFINITY
            };
        }
    }

    /// Replaces E by that of a penalty, of tree joints or of very many constraints.
    pub(super) fn apply_handling(&mut self) {
        let count = self.active.len();
        let replaced = self.handling.updates_multipliers() || self.descriptor.is_some();
        if !replaced && count <= MANY_CONSTRAINTS {
            return;
        }
        (self.default_regularisation).copy_from_slice(self.matrix.regularisation());
        let default = &self.default_regularisation;
        if replaced {
            let is_closure = self.descriptor.as_ref().map(|d| &d.is_closure);
            let given = self.given_regularisation;
            let ratio = self.handling.regularisation(count) / REGULARISATION;
            let smallest = 1.0 / (REGULARISATION * MAX_WEIGHT);
            self.matrix.set_regularisation(|row| match given {
                _ if is_closure.is_some_and(|is_closure| !is_closure[row]) => {
                    TREE_JOINT_FACTOR * default[row]
                }
                Some(given) => given.max(smallest * default[row]),
                None => ratio * default[row],
            });
        } else {
            let less = (MANY_CONSTRAINTS as f64 / count as f64).powi(2);
            self.matrix.set_regularisation(|row| less * default[row]);
        }
    }

    /// Pivot of a constraint in the last factorisation: the squared sine of the angle between its gradient and those before it.
    pub(super) fn pivot(&self, row: usize) -> f64 {
        let pivot = self.factor.constraint_pivots()[row];
        // The pivots of LU with such coordinates as massless ones are free of their masses.
        if self.massless && !self.factor.light_is_massless() {
            pivot * self.massless_scaling[row]
        } else {
            pivot
        }
    }
}
