//! The full constraint set of a system that eliminates some constraints by its coordinates: for the rank of the constraints and
//! for the reaction forces.
//!
//! A closure constraint in joint coordinates has the Jacobian G J, which is a rounding error if the constraint follows from the
//! tree alone. Its scale is that of G. So the rank is determined with all constraints; those of the tree are independent.

use super::trial::StepFailure;
use super::workspace::{Problem, Workspace};
use crate::constraint::redundancy::redundant_constraints_among;
use crate::constraint::saddle_point::SaddlePoint;
use crate::constraint::sparsity::{Backend, SaddleSparsity};
use crate::formulation::system::{Evaluated, EvaluationContext, FullConstraintSet, System};

/// Matrices and vectors of a full constraint set.
pub(super) struct FullConstraints {
    pub st: SaddleSparsity,
    pub saddle: SaddlePoint,
    pub scale: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub lambda: Vec<f64>,
    /// Constraint forces Gᵀλ.
    pub load: Vec<f64>,
}

impl FullConstraints {
    pub fn new(full: &dyn FullConstraintSet) -> Self {
        let system = full.system();
        let (size, pattern) = (system.dimensions(), system.sparsity());
        let st = SaddleSparsity::new(size.nv, size.nc, &pattern, Backend::Auto);
        Self {
            saddle: SaddlePoint::new(&st, pattern.tangent.len(), pattern.jacobian.len()),
            st,
            scale: (0..size.nc).map(|i| system.constraint_scale(i)).collect(),
            q: vec![0.0; size.nq],
            v: vec![0.0; size.nv],
            lambda: vec![0.0; size.nc],
            load: vec![0.0; size.nv],
        }
    }

    /// Loads M and G of all constraints that are active in the modes.
    pub fn load(
        &mut self,
        full: &dyn FullConstraintSet,
        cx: &EvaluationContext,
        at: (&[f64], &[f64]),
    ) -> Evaluated {
        full.configuration(at, &mut self.q, &mut self.v);
        self.saddle.select_active(full.system(), cx.modes, &[]);
        self.saddle
            .load_mass(&self.st, full.system(), cx, &self.q, &self.v)
    }
}

impl Workspace {
    /// Allocates the full constraint set of a system that has one.
    pub fn prepare_full_constraints(&mut self, system: &dyn System) {
        if self.full_constraints.is_none() {
            self.full_constraints = system
                .full_constraints()
                .map(|full| Box::new(FullConstraints::new(full)));
        }
    }

    /// Redundant constraints among the active ones; the mass matrix is loaded. Allocates.
    pub fn redundant_constraints(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<usize>, StepFailure> {
        let full = match p.system.full_constraints() {
            Some(full)
                if self.size.nc > 0
                    && p.system.descriptor_form().is_none()
                    && !full.multipliers_hidden() =>
            {
                full
            }
            // The matrix of a descriptor form has all constraints already.
            _ => return Ok(self.mass_matrix.redundant_constraints(&self.sparsity)),
        };
        self.prepare_full_constraints(p.system);
        let Some(all) = &mut self.full_constraints else {
            return Ok(Vec::new());
        };
        let cx = self.inputs.at(p, t);
        all.load(full, &cx, (q, v))?;
        let mut closes = vec![false; all.scale.len()];
        for &row in full.constraint_rows() {
            closes[row] = true;
        }
        let rows = redundant_constraints_among(&all.st, &all.saddle.matrix, &closes);
        let own = |row: &usize| full.constraint_rows().binary_search(row).ok();
        Ok(rows.iter().filter_map(own).collect())
    }
}
