//! Friction proportional to the forces of closed contacts, in the solves for increments and accelerations.
//!
//! ```text
//!   K [x; l] = [b + D l; c],      Z_r = K⁻¹ [D e_r; 0],      (I − C) l_R = (K⁻¹ [b; c])_R,      C = (Z)_R
//! ```
//!
//! R are the constraints of closed contacts: K stays symmetric, and the few columns of D are eliminated exactly. A relaxation that
//! repeats the solve with the friction of the last multipliers would not converge where friction wedges.

use super::workspace::Problem;
use crate::formulation::system::{Dimensions, EvaluationContext, Properties};
use crate::linalg::dense_lu::DenseLu;

/// Closed contacts whose friction is eliminated; with more the solves are repeated instead.
const LIMIT: usize = 48;
/// Pivot of I − C below which friction wedges (Painlevé): there is no or no unique acceleration.
const WEDGED: f64 = 1e-10;

/// The columns of friction for one matrix.
pub(super) struct FrictionCoupling {
    /// R, empty if there is nothing to eliminate.
    rows: Vec<usize>,
    x: Vec<Vec<f64>>,
    l: Vec<Vec<f64>>,
    /// I − C
    factor: DenseLu,
    y: Vec<f64>,
    modes: Vec<i32>,
    active: [Vec<bool>; 2],
    gaps: Vec<bool>,
    /// All friction is eliminated.
    prepared: bool,
}

impl FrictionCoupling {
    pub fn new(size: &Dimensions, properties: &Properties) -> Self {
        let k = if properties.has_constraint_friction {
            LIMIT.min(size.nc)
        } else {
            0
        };
        let vectors = |n: usize| (0..k).map(|_| vec![0.0; n]).collect();
        let flags = || vec![false; if k > 0 { size.nc } else { 0 }];
        Self {
            rows: Vec::with_capacity(if k > 0 { size.nc } else { 0 }),
            x: vectors(size.nv),
            l: vectors(size.nc),
            factor: DenseLu::new(k),
            y: vec![0.0; k],
            modes: vec![0; if k > 0 { size.modes } else { 0 }],
            active: [flags(), flags()],
            gaps: vec![false; if k > 0 { size.ne } else { 0 }],
            prepared: false,
        }
    }

    /// Finds R in the modes of the problem: the constraints that are active only while contacts are closed.
    fn find_rows(&mut self, p: &Problem) {
        let Self {
            rows,
            modes,
            active: [closed, open],
            gaps,
            ..
        } = self;
        rows.clear();
        if modes.len() != p.modes.len() {
            return;
        }
        p.system.active_constraints(p.modes, closed);
        modes.copy_from_slice(p.modes);
        p.system.deactivate_unilateral(modes, gaps);
        p.system.active_constraints(modes, open);
        rows.extend((0..closed.len()).filter(|&i| closed[i] && !open[i]));
    }

    /// Computes the columns at a point with `solve` for K⁻¹. Returns false if friction wedges; then nothing is eliminated.
    pub fn prepare(
        &mut self,
        p: &Problem,
        cx: &EvaluationContext,
        (q, v): (&[f64], &[f64]),
        mut solve: impl FnMut(&mut [f64], &mut [f64]),
    ) -> bool {
        self.find_rows(p);
        self.prepared = false;
        let candidates = self.rows.len();
        let mut k = 0;
        for candidate in 0..candidates {
            if k == self.x.len() {
                self.rows.clear();
                return true;
            }
            let row = self.rows[candidate];
            let (x, l) = (&mut self.x[k], &mut self.l[k]);
            x.fill(0.0);
            l.fill(0.0);
            l[row] = 1.0;
            p.system.constraint_friction(cx, q, v, l, x);
            l.fill(0.0);
            // A contact that sticks has its friction in constraints.
            if x.iter().any(|x| *x != 0.0) {
                solve(x, l);
                self.rows[k] = row;
                k += 1;
            }
        }
        self.rows.truncate(k);
        self.factor.resize(k);
        let factor = self.factor.cleared();
        for (r, &row) in self.rows.iter().enumerate() {
            for s in 0..k {
                factor[r * k + s] = f64::from(u8::from(r == s)) - self.l[s][row];
            }
        }
        let regular =
            self.factor.factor().is_ok() && (0..k).all(|r| self.factor.pivot(r).abs() > WEDGED);
        if !regular {
            self.rows.clear();
        }
        self.prepared = regular && candidates > 0;
        regular
    }

    /// Nothing is eliminated until the next preparation.
    pub fn forget(&mut self) {
        self.rows.clear();
        self.prepared = false;
    }

    /// Whether friction is eliminated.
    pub fn is_prepared(&self) -> bool {
        self.prepared
    }

    /// Adds what friction changes in the solution x, l of K [x; l] = [b; c].
    pub fn complete(&mut self, x: &mut [f64], l: &mut [f64]) {
        let k = self.rows.len();
        if k == 0 {
            return;
        }
        for (y, &row) in self.y.iter_mut().zip(&self.rows) {
            *y = l[row];
        }
        self.factor.solve(&mut self.y[..k]);
        for r in 0..k {
            let force = self.y[r];
            for (x, z) in x.iter_mut().zip(&self.x[r]) {
                *x += force * z;
            }
            for (l, z) in l.iter_mut().zip(&self.l[r]) {
                *l += force * z;
            }
        }
    }
}
