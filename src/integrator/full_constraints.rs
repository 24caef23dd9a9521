//! All rows of a system that holds some of them by its coordinates ([`Whole`]): for the rank, and for what joints carry.
//!
//! A row in joint coordinates has the size G J, which is rounding where it follows from the tree alone; its own size is that of
//! G. So the rank is judged with all rows, where the rows of the tree are known to be independent of each other.

use super::workspace::{Problem, StepFailure, Workspace};
use crate::constraint::redundancy::redundant_constraints_among;
use crate::constraint::saddle_point::SaddlePoint;
use crate::constraint::sparsity::{Backend, SaddleSparsity};
use crate::formulation::system::{Evaluated, EvaluationContext, FullConstraintSet, System};

/// All rows of a system that holds some of them by its coordinates.
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
    pub fn new(whole: &dyn FullConstraintSet) -> Self {
        let system = whole.system();
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

    /// Loads M and all rows that hold in the modes.
    pub fn load(
        &mut self,
        whole: &dyn FullConstraintSet,
        cx: &EvaluationContext,
        at: (&[f64], &[f64]),
    ) -> Evaluated {
        whole.configuration(at, &mut self.q, &mut self.v);
        self.saddle.select_active(whole.system(), cx.modes, &[]);
        self.saddle
            .load_mass(&self.st, whole.system(), cx, &self.q, &self.v)
    }
}

impl Workspace {
    /// Room for all rows, if there is a use for it.
    pub fn prepare_full_constraints(&mut self, system: &dyn System) {
        if self.full_constraints.is_none() {
            self.full_constraints = system
                .full_constraints()
                .map(|whole| Box::new(FullConstraints::new(whole)));
        }
    }

    /// Rows that hold and follow from the others; M and G are loaded in `mass`. Allocates.
    pub fn redundant_constraints(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<usize>, StepFailure> {
        let whole = match p.system.full_constraints() {
            Some(whole)
                if self.size.nc > 0
                    && p.system.descriptor_form().is_none()
                    && !whole.multipliers_hidden() =>
            {
                whole
            }
            // A lifted one has all rows in its matrix already.
            _ => return Ok(self.mass_matrix.redundant_constraints(&self.sparsity)),
        };
        self.prepare_full_constraints(p.system);
        let Some(all) = &mut self.full_constraints else {
            return Ok(Vec::new());
        };
        let cx = self.inputs.at(p, t);
        all.load(whole, &cx, (q, v))?;
        let mut closes = vec![false; all.scale.len()];
        for &row in whole.constraint_rows() {
            closes[row] = true;
        }
        let rows = redundant_constraints_among(&all.st, &all.saddle.matrix, &closes);
        let own = |row: &usize| whole.constraint_rows().binary_search(row).ok();
        Ok(rows.iter().filter_map(own).collect())
    }
}
