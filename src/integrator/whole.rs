//! All rows of a system that holds some of them by its coordinates ([`Whole`]): for the rank, and for what joints carry.
//!
//! A row in joint coordinates has the size G J, which is rounding where it follows from the tree alone; its own size is that of
//! G. So the rank is judged with all rows, where the rows of the tree are known to be independent of each other.

use super::core::{Core, Problem, Refusal};
use crate::constraint::multipliers::{Backend, Structure};
use crate::constraint::projection::Saddle;
use crate::constraint::redundancy::dependent_rows_among;
use crate::formulation::{Context, Evaluated, System, Whole};

/// All rows of a system that holds some of them by its coordinates.
pub(super) struct AllRows {
    pub st: Structure,
    pub saddle: Saddle,
    pub scale: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub lambda: Vec<f64>,
    /// What the rows carry, Gᵀλ, and scratch.
    pub load: Vec<f64>,
    pub x: Vec<f64>,
    pub dl: Vec<f64>,
}

impl AllRows {
    pub fn new(whole: &dyn Whole) -> Self {
        let system = whole.system();
        let (size, pattern) = (system.size(), system.pattern());
        let st = Structure::new(size.nv, size.nc, &pattern, Backend::Auto);
        Self {
            saddle: Saddle::new(&st, pattern.tangent.len(), pattern.jacobian.len()),
            st,
            scale: (0..size.nc).map(|i| system.constraint_scale(i)).collect(),
            q: vec![0.0; size.nq],
            v: vec![0.0; size.nv],
            lambda: vec![0.0; size.nc],
            load: vec![0.0; size.nv],
            x: vec![0.0; size.nv],
            dl: vec![0.0; size.nc],
        }
    }

    /// Loads M and all rows that hold in the modes.
    pub fn load(&mut self, whole: &dyn Whole, cx: &Context, at: (&[f64], &[f64])) -> Evaluated {
        whole.place(at, &mut self.q, &mut self.v);
        self.saddle.select(whole.system(), cx.modes, &[]);
        self.saddle
            .load_mass(&self.st, whole.system(), cx, &self.q, &self.v)
    }
}

impl Core {
    /// Room for all rows, if there is a use for it.
    pub fn make_all_rows(&mut self, system: &dyn System) {
        if self.all_rows.is_none() {
            self.all_rows = system.whole().map(|whole| Box::new(AllRows::new(whole)));
        }
    }

    /// Rows that hold and follow from the others; M and G are loaded in `mass`. Allocates.
    pub fn dependent_rows(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<usize>, Refusal> {
        let whole = match p.system.whole() {
            Some(whole) if self.size.nc > 0 && p.system.lift().is_none() && !whole.hides() => whole,
            // A lifted one has all rows in its matrix already.
            _ => return Ok(self.mass.dependent_rows(&self.st)),
        };
        self.make_all_rows(p.system);
        let Some(all) = &mut self.all_rows else {
            return Ok(Vec::new());
        };
        let cx = self.inputs.at(p, t);
        all.load(whole, &cx, (q, v))?;
        let mut closes = vec![false; all.scale.len()];
        for &row in whole.rows() {
            closes[row] = true;
        }
        let rows = dependent_rows_among(&all.st, &all.saddle.matrix, &closes);
        let own = |row: &usize| whole.rows().binary_search(row).ok();
        Ok(rows.iter().filter_map(own).collect())
    }
}
