//! Solution of the reduced equations JᵀSJ through the sparse descriptor form in body coordinates.
//!
//! S in joint coordinates is full along every path of a tree, while the equations of the bodies couple neighbours only. With the
//! velocity transformation J from joint to body coordinates, G_t J = 0 for the tree joints and G = G_c J for the closures,
//!
//! ```text
//!   [ JᵀS_b J  Jᵀ G_cᵀ ] [ y ]   [ r ]            [ S_b  G_tᵀ  G_cᵀ ] [ J y ]   [ x ]
//!   [ G_c J    −E      ] [ l ] = [ c ]     <=>    [ G_t             ] [ ·   ] = [ 0 ],      Jᵀ x = r
//!                                                 [ G_c        −E   ] [ l   ]   [ c ]
//! ```
//!
//! so that one factorisation of linear cost serves trees and loops of any size. J is stored for the loaded point and for the
//! factored one.

use std::sync::Arc;

use super::factorization::Factorization;
use super::matrix::SaddleMatrix;
use super::minimum_norm::JacobianAt;
use super::refinement::{Refinement, RefinementOptions};
use super::sparsity::SaddleSparsity;
use crate::formulation::system::DescriptorForm;

/// Velocity transformation of a [`SaddlePoint`](super::saddle_point::SaddlePoint) in descriptor form, and its workspace.
pub(super) struct DescriptorSolver {
    form: Arc<dyn DescriptorForm>,
    /// J at the loaded point.
    pub loaded: Vec<f64>,
    /// J at the factored point.
    factored: Vec<f64>,
    /// Vector of body coordinates.
    x: Vec<f64>,
    /// Multipliers of all constraints.
    l: Vec<f64>,
    /// Vector of generalised coordinates.
    generalised: Vec<f64>,
    /// Whether a constraint is a closure, not one of a tree joint.
    pub is_closure: Vec<bool>,
    /// Whether each of all constraints is active.
    active: Vec<bool>,
}

impl DescriptorSolver {
    /// For a system of `nv` generalised coordinates.
    pub fn new(form: Arc<dyn DescriptorForm>, nv: usize) -> Self {
        let (body_nv, nc) = form.dimensions();
        let mut is_closure = vec![false; nc];
        for &row in form.constraint_rows() {
            is_closure[row as usize] = true;
        }
        Self {
            loaded: vec![0.0; form.transformation_len()],
            factored: vec![0.0; form.transformation_len()],
            x: vec![0.0; body_nv],
            l: vec![0.0; nc],
            generalised: vec![0.0; nv],
            is_closure,
            active: vec![true; nc],
            form,
        }
    }

    /// Loads J at q.
    pub fn load(&mut self, q: &[f64]) {
        self.form.transformation_at(q, &mut self.loaded);
    }

    /// Makes the loaded point the factored one.
    pub fn mark_factored(&mut self) {
        self.factored.copy_from_slice(&self.loaded);
    }

    /// Index of closure `k` among all constraints.
    pub fn row(&self, k: usize) -> usize {
        self.form.constraint_rows()[k] as usize
    }

    /// Index among the closures of a constraint, `None` for one of a tree joint.
    pub fn closure(&self, row: usize) -> Option<usize> {
        (self.form.constraint_rows())
            .binary_search(&(row as u32))
            .ok()
    }

    /// Whether each of all constraints is active, those of tree joints always.
    pub fn all_active(&mut self, closures: &[bool]) -> &[bool] {
        for (&row, &on) in self.form.constraint_rows().iter().zip(closures) {
            self.active[row as usize] = on;
        }
        &self.active
    }

    fn scatter_multipliers(&mut self, l: &[f64]) {
        self.l.fill(0.0);
        for (&row, l) in self.form.constraint_rows().iter().zip(l) {
            self.l[row as usize] = *l;
        }
    }

    fn gather_multipliers(&self, l: &mut [f64]) {
        for (l, &row) in l.iter_mut().zip(self.form.constraint_rows()) {
            *l = self.l[row as usize];
        }
    }

    /// [x; l] := K⁻¹ [x; l] with the factor.
    pub fn solve(
        &mut self,
        sparsity: &SaddleSparsity,
        factor: &mut Factorization,
        x: &mut [f64],
        l: &mut [f64],
    ) {
        self.form.lift_force(&self.factored, x, &mut self.x);
        self.scatter_multipliers(l);
        factor.solve(sparsity, &mut self.x, &mut self.l);
        self.form.reduce_velocity(&self.factored, &self.x, x);
        self.gather_multipliers(l);
    }

    /// [x; l] := K⁻¹ [0; l] with the factor.
    pub fn solve_constraint_rhs(
        &mut self,
        sparsity: &SaddleSparsity,
        factor: &mut Factorization,
        x: &mut [f64],
        l: &mut [f64],
    ) {
        self.scatter_multipliers(l);
        factor.solve_constraint_rhs(sparsity, &mut self.x, &mut self.l);
        self.form.reduce_velocity(&self.factored, &self.x, x);
        self.gather_multipliers(l);
    }

    /// [x; l] := K⁻¹ [x; l] refined with the values of `m`, which are those of the loaded point.
    pub fn solve_refined(
        &mut self,
        sparsity: &SaddleSparsity,
        factor: &mut Factorization,
        m: &SaddleMatrix,
        options: RefinementOptions,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refinement {
        self.form.lift_force(&self.loaded, x, &mut self.x);
        self.scatter_multipliers(l);
        let refined = factor.solve_refined(sparsity, m, options, &mut self.x, &mut self.l);
        self.form.reduce_velocity(&self.loaded, &self.x, x);
        self.gather_multipliers(l);
        refined
    }

    /// out = G_c J x with the matrices of `at`.
    pub fn jacobian_times(
        &mut self,
        sparsity: &SaddleSparsity,
        at: JacobianAt,
        x: &[f64],
        out: &mut [f64],
    ) {
        self.form.velocity(at.transformation, x, &mut self.x);
        (at.matrix).jacobian_times(sparsity, &self.x, &mut self.l);
        self.gather_multipliers(out);
    }

    /// out = |G_c| |J x| with the matrices of `at`.
    pub fn abs_jacobian_times(
        &mut self,
        sparsity: &SaddleSparsity,
        at: JacobianAt,
        x: &[f64],
        out: &mut [f64],
    ) {
        self.form.velocity(at.transformation, x, &mut self.x);
        (at.matrix).abs_jacobian_times(sparsity, &self.x, &mut self.l);
        self.gather_multipliers(out);
    }

    /// out += Jᵀ G_cᵀ λ at the loaded point.
    pub fn add_jacobian_transposed(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
        lambda: &[f64],
        out: &mut [f64],
    ) {
        self.scatter_multipliers(lambda);
        self.x.fill(0.0);
        m.add_jacobian_transposed(sparsity, &self.l, &mut self.x);
        (self.form).generalised_force(&self.loaded, &mut self.x, &mut self.generalised);
        for (out, force) in out.iter_mut().zip(&self.generalised) {
            *out += force;
        }
    }

    /// The closure that depends most strongly on the tree joints, where the constraint `row` of a tree joint has a small pivot.
    pub fn dependent_closure(
        &mut self,
        sparsity: &SaddleSparsity,
        factor: &mut Factorization,
        m: &SaddleMatrix,
        row: usize,
    ) -> Option<usize> {
        self.l.fill(0.0);
        self.l[row] = 1.0;
        factor.solve_constraint_rhs(sparsity, &mut self.x, &mut self.l);
        // In units of the constraint: E is the square of its size.
        let part = |k: &usize| {
            let row = self.row(*k);
            self.l[row].abs() * m.regularisation()[row].sqrt()
        };
        (0..self.form.constraint_rows().len())
            .filter(|k| part(k) > 0.0)
            .max_by(|a, b| part(a).total_cmp(&part(b)))
    }
}
