//! The saddle-point matrix at a point, its factorisation, and the equations solved with it:
//!
//! ```text
//!   A = [ M  Gᵀ ]     positions      A [dq; ·] = [0; −Φ]
//!       [ G  −E ]     velocities     A [dv; ·] = [0; −(G v + Φ_t)]
//!                     accelerations  A [a; λ]  = [f; −γ]
//!                     tangent part   P e = e + A⁻¹ [0; −G e]
//! ```

use std::sync::Arc;

use super::augmented_lagrangian::Penalty;
use super::descriptor_form::DescriptorSolver;
use super::factorization::{Factorization, Pivots, SingularPivot};
use super::matrix::SaddleMatrix;
use super::minimum_norm::{CorrectionWorkspace, JacobianAt, PairWorkspace};
use super::redundancy;
use super::refinement::RefinementOptions;
use super::sparsity::SaddleSparsity;
use crate::formulation::system::{
    ConstraintHandling, DescriptorForm, Evaluated, EvaluationContext, MotionPoint, System,
    TangentWeights,
};

/// Largest number of refinements of a solution with E = 0. Two or three are usual; near a singular position, where E is of the
/// order of the squared sine between gradients, more of them converge.
const EXACT_REFINEMENTS: usize = 12;

/// A saddle-point matrix at a point with its factorisation.
pub struct SaddlePoint {
    /// Values.
    pub matrix: SaddleMatrix,
    /// Factorisation, possibly of older values.
    pub factor: Factorization,
    /// Values in the order of `Sparsity::tangent`; empty if they are written in place.
    tangent: Vec<f64>,
    /// Values in the order of `Sparsity::jacobian`.
    jacobian: Vec<f64>,
    pub(super) correction: CorrectionWorkspace,
    pub(super) pair: PairWorkspace,
    /// Largest residual after the first pass of a correction since [`SaddlePoint::reset_contraction`].
    pub(super) contraction: Option<f64>,
    pub(super) active: Vec<bool>,
    /// Whether the loaded S has massless coordinates.
    pub(super) massless: bool,
    /// Factor from the pivot of each constraint with substitute masses to that with the masses loaded.
    pub(super) massless_scaling: Vec<f64>,
    pub(super) handling: ConstraintHandling,
    /// E of every constraint if a penalty is given.
    pub(super) given_regularisation: Option<f64>,
    /// E without a penalty.
    pub(super) default_regularisation: Vec<f64>,
    /// Diagonal of S.
    pub(super) diagonal: Vec<f64>,
    /// Set if the matrix is that of the descriptor form.
    pub(super) descriptor: Option<DescriptorSolver>,
}

/// Work counters of this layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearAlgebraCounts {
    /// Factorisations.
    pub factorizations: u64,
    /// Back-substitutions.
    pub solves: u64,
}

impl SaddlePoint {
    /// Storage for matrices of this sparsity; `tangent` and `jacobian` are the lengths of the lists of `Sparsity`.
    pub fn new(sparsity: &SaddleSparsity, tangent: usize, jacobian: usize) -> Self {
        let reduced = (sparsity.nv(), sparsity.nc());
        Self::with_descriptor_form(sparsity, tangent, jacobian, reduced, None)
    }

    /// Storage for a system of `reduced` coordinates and constraints whose matrices are those of a descriptor form.
    pub fn with_descriptor_form(
        sparsity: &SaddleSparsity,
        tangent: usize,
        jacobian: usize,
        reduced: (usize, usize),
        form: Option<Arc<dyn DescriptorForm>>,
    ) -> Self {
        let (nv, nc) = reduced;
        let in_place = sparsity.tangent_in_place();
        Self {
            matrix: SaddleMatrix::new(sparsity),
            factor: Factorization::new(sparsity),
            tangent: vec![0.0; if in_place { 0 } else { tangent }],
            jacobian: vec![0.0; jacobian],
            correction: CorrectionWorkspace {
                dx: vec![0.0; nv],
                mu: vec![0.0; nc],
                residual: vec![0.0; nc],
            },
            pair: PairWorkspace {
                x: std::array::from_fn(|_| vec![0.0; if nc > 0 { nv } else { 0 }]),
                l: std::array::from_fn(|_| vec![0.0; nc]),
            },
            contraction: None,
            active: vec![true; nc],
            massless: false,
            massless_scaling: vec![1.0; sparsity.nc()],
            handling: ConstraintHandling::Multipliers,
            given_regularisation: None,
            default_regularisation: vec![0.0; sparsity.nc()],
            diagonal: vec![0.0; sparsity.nv()],
            descriptor: form.map(|form| DescriptorSolver::new(form, nv)),
        }
    }

    /// Sets how constraints are enforced.
    pub fn with_handling(mut self, handling: ConstraintHandling) -> Self {
        self.handling = handling;
        self
    }

    /// How constraints are enforced.
    pub fn handling(&self) -> ConstraintHandling {
        self.handling
    }

    /// Sets the scale by which the constraints are divided in the matrices factored from now on, and their penalty.
    pub fn set_constraint_scale(&mut self, scale: f64, penalty: Penalty) {
        self.given_regularisation = match penalty {
            Penalty::Given => self.handling.given_regularisation(scale),
            Penalty::Default => None,
        };
    }

    /// Sets the active constraints: those of these modes that are not redundant.
    pub fn select_active(&mut self, system: &dyn System, modes: &[i32], redundant: &[bool]) {
        system.active_constraints(modes, &mut self.active);
        for (active, redundant) in self.active.iter_mut().zip(redundant) {
            *active &= !redundant;
        }
        self.set_active();
    }

    fn set_active(&mut self) {
        match &mut self.descriptor {
            None => self.matrix.set_active(&self.active),
            Some(descriptor) => self.matrix.set_active(descriptor.all_active(&self.active)),
        }
    }

    /// Whether each constraint is active.
    pub fn active(&self) -> &[bool] {
        &self.active
    }

    /// E of a constraint.
    pub fn regularisation_of(&self, constraint: usize) -> f64 {
        let row = (self.descriptor.as_ref()).map_or(constraint, |d| d.row(constraint));
        self.matrix.regularisation()[row]
    }

    /// The loaded Jacobian.
    pub fn jacobian_at(&self) -> JacobianAt<'_> {
        JacobianAt {
            matrix: &self.matrix,
            active: &self.active,
            transformation: (self.descriptor.as_ref()).map_or(&[], |d| &d.loaded),
        }
    }

    /// out = G x
    pub fn jacobian_times(&mut self, sparsity: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        match &mut self.descriptor {
            None => self.matrix.jacobian_times(sparsity, x, out),
            Some(descriptor) => {
                let transformation = std::mem::take(&mut descriptor.loaded);
                let at = JacobianAt {
                    matrix: &self.matrix,
                    active: &self.active,
                    transformation: &transformation,
                };
                descriptor.jacobian_times(sparsity, at, x, out);
                descriptor.loaded = transformation;
            }
        }
    }

    /// out += Gᵀ λ
    pub fn add_jacobian_transposed(
        &mut self,
        sparsity: &SaddleSparsity,
        lambda: &[f64],
        out: &mut [f64],
    ) {
        match &mut self.descriptor {
            None => self.matrix.add_jacobian_transposed(sparsity, lambda, out),
            Some(descriptor) => {
                descriptor.add_jacobian_transposed(sparsity, &self.matrix, lambda, out);
            }
        }
    }

    /// The redundant constraints, ascending; M and G must be loaded. Allocates.
    pub fn redundant_constraints(&self, sparsity: &SaddleSparsity) -> Vec<usize> {
        match &self.descriptor {
            None => redundancy::redundant_constraints(sparsity, &self.matrix),
            Some(descriptor) => {
                let candidates = &descriptor.is_closure;
                redundancy::redundant_constraints_among(sparsity, &self.matrix, candidates)
                    .iter()
                    .filter_map(|&row| descriptor.closure(row))
                    .collect()
            }
        }
    }

    /// Loads J at q if there is a descriptor form.
    fn load_transformation(&mut self, q: &[f64]) {
        if let Some(descriptor) = &mut self.descriptor {
            descriptor.load(q);
        }
    }

    /// Loads S of these weights at a point.
    pub fn load_tangent(
        &mut self,
        sparsity: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        point: &MotionPoint,
        weights: &TangentWeights,
    ) -> Evaluated {
        self.load_transformation(point.q);
        if sparsity.tangent_in_place() {
            let s = self.matrix.tangent_mut(sparsity);
            return system.tangent(cx, point, weights, s);
        }
        system.tangent(cx, point, weights, &mut self.tangent)?;
        self.matrix.load_tangent(sparsity, &self.tangent);
        Ok(())
    }

    /// Loads G at q.
    pub fn load_jacobian(
        &mut self,
        sparsity: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
    ) {
        self.load_transformation(q);
        system.jacobian(cx, q, &mut self.jacobian);
        self.matrix.load_jacobian(sparsity, &self.jacobian);
    }

    /// Loads G and computes Φ at q.
    pub fn load_constraints(
        &mut self,
        sparsity: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
        phi: &mut [f64],
    ) {
        self.load_transformation(q);
        system.constraint_and_jacobian(cx, q, phi, &mut self.jacobian);
        self.matrix.load_jacobian(sparsity, &self.jacobian);
    }

    /// Loads M and G at q: the matrix A.
    pub fn load_mass(
        &mut self,
        sparsity: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
    ) -> Evaluated {
        self.load_projection_metric(sparsity, system, cx, q, v, &TangentWeights::MASS)
    }

    /// Loads M, C and K of the forces alone by their weights, and G, at q: the metric of projections.
    pub fn load_projection_metric(
        &mut self,
        sparsity: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        weights: &TangentWeights,
    ) -> Evaluated {
        // Neither inertia forces nor multipliers belong to it.
        self.correction.dx.fill(0.0);
        self.correction.mu.fill(0.0);
        let point = MotionPoint {
            q,
            v,
            a: &self.correction.dx,
            lambda: &self.correction.mu,
        };
        if sparsity.tangent_in_place() {
            let s = self.matrix.tangent_mut(sparsity);
            system.tangent(cx, &point, weights, s)?;
        } else {
            system.tangent(cx, &point, weights, &mut self.tangent)?;
            self.matrix.load_tangent(sparsity, &self.tangent);
        }
        self.load_jacobian(sparsity, system, cx, q);
        Ok(())
    }

    /// Regularises and factorises the loaded matrix.
    pub fn factorise(
        &mut self,
        sparsity: &SaddleSparsity,
        counts: &mut LinearAlgebraCounts,
    ) -> Result<Pivots, SingularPivot> {
        self.regularise(sparsity);
        self.apply_handling();
        if let Some(descriptor) = &mut self.descriptor {
            descriptor.mark_factored();
        }
        counts.factorizations += 1;
        let mut pivots = self.factor.factor(sparsity, &self.matrix)?;
        if self.massless {
            pivots.smallest_constraint =
                (0..sparsity.nc()).fold(f64::INFINITY, |m, row| m.min(self.pivot(row)));
        }
        Ok(pivots)
    }

    /// Deactivates the constraints whose pivot is below `threshold`, until the next [`SaddlePoint::select_active`]. The matrix must
    /// then be loaded and factorised again.
    pub fn deactivate(&mut self, sparsity: &SaddleSparsity, threshold: f64) {
        for row in 0..self.matrix.active().len() {
            if self.pivot(row) < threshold {
                // A tree-joint constraint stays active; a closure that depends on it is deactivated.
                let closure = match &mut self.descriptor {
                    None => Some(row),
                    Some(descriptor) if descriptor.is_closure[row] => descriptor.closure(row),
                    Some(descriptor) => {
                        descriptor.dependent_closure(sparsity, &mut self.factor, &self.matrix, row)
                    }
                };
                if let Some(closure) = closure {
                    self.active[closure] = false;
                }
            }
        }
        self.set_active();
    }

    /// Whether the active constraints are those of the factor.
    pub fn matches_active_set(&self) -> bool {
        self.factor.matches_active_set(&self.matrix)
    }

    /// [x; l] := A⁻¹ [x; l] with E = 0 by refinement. Returns the relative residual.
    pub fn solve_exact(
        &mut self,
        sparsity: &SaddleSparsity,
        tolerance: f64,
        x: &mut [f64],
        l: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) -> f64 {
        self.mask(l);
        let options = RefinementOptions::exact(tolerance, EXACT_REFINEMENTS);
        self.refine(sparsity, options, x, l, counts)
    }

    /// [x; l] := A⁻¹ [b; c] with E = 0 by refinement; the given [x; l] is the start.
    pub fn solve_exact_from(
        &mut self,
        sparsity: &SaddleSparsity,
        tolerance: f64,
        (b, c): (&[f64], &[f64]),
        x: &mut [f64],
        l: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) {
        if self.descriptor.is_some() {
            // The multipliers of the tree joints are unknown: no start.
            x.copy_from_slice(b);
            l.copy_from_slice(c);
            self.solve_exact(sparsity, tolerance, x, l, counts);
            return;
        }
        self.mask(l);
        let options = RefinementOptions::exact(tolerance, EXACT_REFINEMENTS);
        let refined = (self.factor).solve_from(sparsity, &self.matrix, options, (b, c), x, l);
        counts.solves += refined.solves as u64;
    }

    /// [x; l] := A⁻¹ [x; l] with E = 0 by multiplier updates, at most `limit`, until `tolerance` of the right-hand side is left.
    /// Redundant constraints converge as far as they are compatible.
    pub fn solve_with_multiplier_updates(
        &mut self,
        sparsity: &SaddleSparsity,
        tolerance: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) {
        self.mask(l);
        let options = RefinementOptions::exact(tolerance, limit);
        self.refine(sparsity, options, x, l, counts);
    }

    /// [x; l] := A⁻¹ [x; l] with the loaded values and −E, by at most `limit` refinements.
    pub fn solve_refined(
        &mut self,
        sparsity: &SaddleSparsity,
        tolerance: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) {
        let options = RefinementOptions::regularised(tolerance, limit);
        self.refine(sparsity, options, x, l, counts);
    }

    fn refine(
        &mut self,
        sparsity: &SaddleSparsity,
        options: RefinementOptions,
        x: &mut [f64],
        l: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) -> f64 {
        let (factor, matrix) = (&mut self.factor, &self.matrix);
        let refined = match &mut self.descriptor {
            None => factor.solve_refined(sparsity, matrix, options, x, l),
            Some(descriptor) => descriptor.solve_refined(sparsity, factor, matrix, options, x, l),
        };
        counts.solves += refined.solves as u64;
        refined.residual
    }

    /// [x; l] := A⁻¹ [x; l] by one back-substitution, −E included.
    pub fn solve(
        &mut self,
        sparsity: &SaddleSparsity,
        x: &mut [f64],
        l: &mut [f64],
        counts: &mut LinearAlgebraCounts,
    ) {
        match &mut self.descriptor {
            None => self.factor.solve(sparsity, x, l),
            Some(descriptor) => descriptor.solve(sparsity, &mut self.factor, x, l),
        }
        counts.solves += 1;
    }

    fn mask(&self, l: &mut [f64]) {
        for (l, &active) in l.iter_mut().zip(&self.active) {
            if !active {
                *l = 0.0;
            }
        }
    }
}
