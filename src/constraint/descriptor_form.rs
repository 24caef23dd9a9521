//! Equations in few coordinates solved as those of many: S in joint coordinates is full along every path of a tree, while the
//! equations of the bodies it is pulled back from couple neighbours only. With J from joints to bodies, G_t J = 0 for the rows of
//! the tree and G = G_c J for the others,
//!
//! ```text
//!   [ JᵀS_b J  Jᵀ G_cᵀ ] [ y ]   [ r ]            [ S_b  G_tᵀ  G_cᵀ ] [ J y ]   [ x ]
//!   [ G_c J    −E      ] [ l ] = [ c ]     <=>    [ G_t             ] [ ·   ] = [ 0 ],      Jᵀ x = r
//!                                                 [ G_c        −E   ] [ l   ]   [ c ]
//! ```
//!
//! so that one factorisation of linear cost serves trees and loops of any size. J is kept with the values it belongs to: that of
//! the point that is loaded, and that of the point that is factored.

use std::sync::Arc;

use super::factorization::{Factorization, SaddleMatrix, SaddleSparsity};
use crate::formulation::system::DescriptorForm;

/// What a [`super::projection::Saddle`] of a lifted system has besides its matrix and factor.
pub struct DescriptorSolver {
    pub(super) form: Arc<dyn DescriptorForm>,
    /// J at the loaded point and at the factored one.
    pub(super) loaded: Vec<f64>,
    factored: Vec<f64>,
    /// Vectors of bodies and of all rows, and one of joints.
    pub(super) x: Vec<f64>,
    pub(super) l: Vec<f64>,
    z: Vec<f64>,
    /// Rows that are not those of the tree.
    pub(super) is_closure: Vec<bool>,
    /// Which of all rows hold.
    active: Vec<bool>,
}

impl DescriptorSolver {
    /// For a system of `own` tangent coordinates.
    pub fn new(form: Arc<dyn DescriptorForm>, own: usize) -> Self {
        let (nv, nc) = form.dimensions();
        let mut is_closure = vec![false; nc];
        for &row in form.constraint_rows() {
            is_closure[row as usize] = true;
        }
        Self {
            loaded: vec![0.0; form.transformation_len()],
            factored: vec![0.0; form.transformation_len()],
            x: vec![0.0; nv],
            l: vec![0.0; nc],
            z: vec![0.0; own],
            is_closure,
            active: vec![true; nc],
            form,
        }
    }

    /// J at q.
    pub fn load(&mut self, q: &[f64]) {
        self.form.transformation_at(q, &mut self.loaded);
    }

    /// What is loaded is factored now.
    pub fn mark_factored(&mut self) {
        self.factored.copy_from_slice(&self.loaded);
    }

    /// All rows that hold, those of the tree included.
    pub fn all_active(&mut self, own: &[bool]) -> &[bool] {
        for (&row, &on) in self.form.constraint_rows().iter().zip(own) {
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

    /// [x; l] := A⁻¹ [x; l] with the factor.
    pub fn solve(
        &mut self,
        st: &SaddleSparsity,
        factor: &mut Factorization,
        x: &mut [f64],
        l: &mut [f64],
    ) {
        self.form.lift_force(&self.factored, x, &mut self.x);
        self.scatter_multipliers(l);
        factor.solve(st, &mut self.x, &mut self.l);
        self.form.reduce_velocity(&self.factored, &self.x, x);
        self.gather_multipliers(l);
    }

    /// The same for (0, l).
    pub fn solve_constraint_rhs(
        &mut self,
        st: &SaddleSparsity,
        factor: &mut Factorization,
        x: &mut [f64],
        l: &mut [f64],
    ) {
        self.scatter_multipliers(l);
        factor.solve_constraint_rhs(st, &mut self.x, &mut self.l);
        self.form.reduce_velocity(&self.factored, &self.x, x);
        self.gather_multipliers(l);
    }

    /// Refined against the values of `m`, which are those of the loaded point. Returns solves and the residual left.
    pub fn solve_refined(
        &mut self,
        st: &SaddleSparsity,
        factor: &mut Factorization,
        m: &SaddleMatrix,
        with_e: bool,
        tol: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
    ) -> (usize, f64) {
        self.form.lift_force(&self.loaded, x, &mut self.x);
        self.scatter_multipliers(l);
        let done = factor.solve_refined(st, m, with_e, tol, limit, &mut self.x, &mut self.l);
        self.form.reduce_velocity(&self.loaded, &self.x, x);
        self.gather_multipliers(l);
        (done.solves, done.residual)
    }

    /// out = G x with the G and the J of a point.
    pub fn jacobian_times(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
        geometry: &[f64],
        x: &[f64],
        out: &mut [f64],
    ) {
        self.form.velocity(geometry, x, &mut self.x);
        m.jacobian_times(st, &self.x, &mut self.l);
        self.gather_multipliers(out);
    }

    /// out = Σ|G_ij x_j| with the bodies' G_c and J x.
    pub fn abs_jacobian_times(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
        geometry: &[f64],
        x: &[f64],
        out: &mut [f64],
    ) {
        self.form.velocity(geometry, x, &mut self.x);
        m.abs_jacobian_times(st, &self.x, &mut self.l);
        self.gather_multipliers(out);
    }

    /// out += Gᵀ λ at the loaded point.
    pub fn add_jacobian_transposed(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
        lambda: &[f64],
        out: &mut [f64],
    ) {
        self.scatter_multipliers(lambda);
        self.x.fill(0.0);
        m.add_jacobian_transposed(st, &self.l, &mut self.x);
        self.form
            .generalised_force(&self.loaded, &mut self.x, &mut self.z);
        for (out, z) in out.iter_mut().zip(&self.z) {
            *out += z;
        }
    }

    /// The own row that takes the largest part in the dependence a row of the tree shows by its small pivot.
    pub fn dependent_closure_constraint(
        &mut self,
        st: &SaddleSparsity,
        factor: &mut Factorization,
        m: &SaddleMatrix,
        row: usize,
    ) -> Option<usize> {
        self.l.fill(0.0);
        self.l[row] = 1.0;
        factor.solve_constraint_rhs(st, &mut self.x, &mut self.l);
        // In units of the row: E measures its size.
        let part = |k: &usize| {
            let row = self.form.constraint_rows()[*k] as usize;
            self.l[row].abs() * m.regularisation()[row].sqrt()
        };
        (0..self.form.constraint_rows().len())
            .filter(|k| part(k) > 0.0)
            .max_by(|a, b| part(a).total_cmp(&part(b)))
    }
}
