//! Back onto the constraints and their rates: the saddle-point matrix at a point, and what is solved with it.
//!
//! ```text
//!   A = [ M  Gᵀ ]     positions      A [dq; ·] = [0; −Φ]
//!       [ G  −E ]     velocities     A [dv; ·] = [0; −(G v + Φ_t)]
//!                     accelerations  A [a; λ]  = [f; −γ]
//!                     tangent part   P e = e + A⁻¹ [0; −G e]
//! ```

use std::sync::Arc;

use super::augmented_lagrangian::{MAX_WEIGHT, Penalty};
use super::descriptor_form::DescriptorSolver;
use super::factorization::{Factorization, Pivots, SaddleMatrix, SaddleSparsity, SingularPivot};
pub use super::minimum_norm::JacobianAt;
use super::minimum_norm::{MAX_PASSES, MinimumNormSolver, largest, minimum_norm_correction};
use super::redundancy;
use crate::formulation::system::{
    ConstraintHandling, DescriptorForm, Evaluated, EvaluationContext, MotionPoint, System,
    TangentWeights,
};

/// Regularisation of the constraint block relative to diag(G M⁻¹ Gᵀ): theory, redundancy.
pub const REGULARISATION: f64 = 1e-10;
/// Rows above which it falls with the square of their number: the softest pattern of a chain of n rows is n² times softer than one
/// row, and refinement would become slow where that meets E.
const MANY: usize = 3000;

/// The part of it that is left for the rows of a tree. They never depend on each other, and must not give way: right-hand sides
/// are raised by couples that grow with the square of a chain's length, and so would what they bend.
const OF_TREE: f64 = 1e-5;

/// Diagonals of S (over their squared levers) below this part of their mean belong to coordinates without mass ...
const MASSLESS: f64 = 1e-4;
/// ... and are measured as this part of it.
const SMALL_MASS: f64 = 1e-3;

/// Part of a tolerance that is met without looking.
const SURELY: f64 = 0.1;

/// Refinements of an exact solution, at most.
const LIMIT: usize = 8;

/// A saddle-point matrix at a point with its factorisation.
pub struct SaddlePoint {
    /// Values.
    pub matrix: SaddleMatrix,
    /// Factorisation, possibly of older values.
    pub factor: Factorization,
    values: Vec<f64>,
    jacobian: Vec<f64>,
    step_x: Vec<f64>,
    step_l: Vec<f64>,
    residual: Vec<f64>,
    pair_x: [Vec<f64>; 2],
    pair_l: [Vec<f64>; 2],
    /// Largest rest a first pass of `reach` left since [`Saddle::forget_contraction`].
    contraction: Option<f64>,
    active: Vec<bool>,
    /// What is loaded has coordinates without mass; then `longer` says by how much their rows are longer than measured.
    massless: bool,
    massless_scaling: Vec<f64>,
    handling: ConstraintHandling,
    /// E where a penalty is given.
    given_regularisation: Option<f64>,
    /// E as it would be without a penalty, and the diagonal of S.
    default_regularisation: Vec<f64>,
    diagonal: Vec<f64>,
    /// The matrix is that of a larger space.
    descriptor: Option<DescriptorSolver>,
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
    /// Work space for a structure; `tangent` and `jacobian` are the lengths of the pattern's lists.
    pub fn new(st: &SaddleSparsity, tangent: usize, jacobian: usize) -> Self {
        Self::with_descriptor_form(st, tangent, jacobian, (st.nv(), st.nc()), None)
    }

    /// The same for a system of `own` coordinates and rows whose matrices are those of a larger space.
    pub fn with_descriptor_form(
        st: &SaddleSparsity,
        tangent: usize,
        jacobian: usize,
        own: (usize, usize),
        lift: Option<Arc<dyn DescriptorForm>>,
    ) -> Self {
        let (nv, nc) = own;
        Self {
            matrix: SaddleMatrix::new(st),
            factor: Factorization::new(st),
            // Not needed where S is written in place.
            values: vec![0.0; if st.tangent_in_place() { 0 } else { tangent }],
            jacobian: vec![0.0; jacobian],
            step_x: vec![0.0; nv],
            step_l: vec![0.0; nc],
            residual: vec![0.0; nc],
            // Only projections need it.
            pair_x: std::array::from_fn(|_| vec![0.0; if nc > 0 { nv } else { 0 }]),
            pair_l: std::array::from_fn(|_| vec![0.0; nc]),
            contraction: None,
            active: vec![true; nc],
            massless: false,
            massless_scaling: vec![1.0; st.nc()],
            handling: ConstraintHandling::Multipliers,
            given_regularisation: None,
            default_regularisation: vec![0.0; st.nc()],
            diagonal: vec![0.0; st.nv()],
            descriptor: lift.map(|lift| DescriptorSolver::new(lift, nv)),
        }
    }

    /// With constraints held in this way.
    pub fn with_handling(mut self, handling: ConstraintHandling) -> Self {
        self.handling = handling;
        self
    }

    /// How constraints are held.
    pub fn handling(&self) -> ConstraintHandling {
        self.handling
    }

    /// The constraints are divided by `scale` in the next factorisation, which has this penalty.
    pub fn set_constraint_scale(&mut self, scale: f64, penalty: Penalty) {
        self.given_regularisation = match penalty {
            Penalty::Given => self.handling.given_regularisation(scale),
            Penalty::Default => None,
        };
    }

    /// Which rows hold: active in these modes and not left out as dependent.
    pub fn select_active(&mut self, system: &dyn System, modes: &[i32], dropped: &[bool]) {
        system.active_constraints(modes, &mut self.active);
        for (row, dropped) in self.active.iter_mut().zip(dropped) {
            *row &= !dropped;
        }
        self.set_active();
    }

    fn set_active(&mut self) {
        match &mut self.descriptor {
            None => self.matrix.set_active(&self.active),
            Some(lifted) => self.matrix.set_active(lifted.all_active(&self.active)),
        }
    }

    /// Rows that hold.
    pub fn active(&self) -> &[bool] {
        &self.active
    }

    /// E of a row.
    pub fn regularisation_of(&self, row: usize) -> f64 {
        match &self.descriptor {
            None => self.matrix.regularisation()[row],
            Some(lifted) => {
                self.matrix.regularisation()[lifted.form.constraint_rows()[row] as usize]
            }
        }
    }

    /// G as it is loaded.
    pub fn jacobian_at(&self) -> JacobianAt<'_> {
        JacobianAt {
            matrix: &self.matrix,
            active: &self.active,
            transformation: self
                .descriptor
                .as_ref()
                .map_or(&[], |lifted| &lifted.loaded),
        }
    }

    /// out = G x
    pub fn jacobian_times(&mut self, st: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        match &mut self.descriptor {
            None => self.matrix.jacobian_times(st, x, out),
            Some(lifted) => {
                let here = std::mem::take(&mut lifted.loaded);
                lifted.jacobian_times(st, &self.matrix, &here, x, out);
                lifted.loaded = here;
            }
        }
    }

    /// out += Gᵀ λ
    pub fn add_jacobian_transposed(
        &mut self,
        st: &SaddleSparsity,
        lambda: &[f64],
        out: &mut [f64],
    ) {
        match &mut self.descriptor {
            None => self.matrix.add_jacobian_transposed(st, lambda, out),
            Some(lifted) => lifted.add_jacobian_transposed(st, &self.matrix, lambda, out),
        }
    }

    /// Rows that follow from the others; M and G are loaded. Allocates.
    pub fn redundant_constraints(&self, st: &SaddleSparsity) -> Vec<usize> {
        match &self.descriptor {
            None => redundancy::redundant_constraints(st, &self.matrix),
            Some(lifted) => {
                let all =
                    redundancy::redundant_constraints_among(st, &self.matrix, &lifted.is_closure);
                let own = |row: &usize| {
                    lifted
                        .form
                        .constraint_rows()
                        .binary_search(&(*row as u32))
                        .ok()
                };
                all.iter().filter_map(own).collect()
            }
        }
    }

    /// J at q, where there is one.
    fn load_geometry(&mut self, q: &[f64]) {
        if let Some(lifted) = &mut self.descriptor {
            lifted.load(q);
        }
    }

    /// Loads S with the given weights.
    pub fn load_tangent(
        &mut self,
        st: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        lambda: &[f64],
        weights: &TangentWeights,
    ) -> Evaluated {
        self.load_geometry(q);
        if st.tangent_in_place() {
            let s = self.matrix.tangent_mut(st);
            return system.tangent(cx, &MotionPoint { q, v, a, lambda }, weights, s);
        }
        system.tangent(
            cx,
            &MotionPoint { q, v, a, lambda },
            weights,
            &mut self.values,
        )?;
        self.matrix.load_tangent(st, &self.values);
        Ok(())
    }

    /// Loads G at q.
    pub fn load_jacobian(
        &mut self,
        st: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
    ) {
        self.load_geometry(q);
        system.jacobian(cx, q, &mut self.jacobian);
        self.matrix.load_jacobian(st, &self.jacobian);
    }

    /// Loads G at q; Φ comes along.
    pub fn load_constraints(
        &mut self,
        st: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
        phi: &mut [f64],
    ) {
        self.load_geometry(q);
        system.constraint_and_jacobian(cx, q, phi, &mut self.jacobian);
        self.matrix.load_jacobian(st, &self.jacobian);
    }

    /// Loads M and G at q: the matrix A.
    pub fn load_mass(
        &mut self,
        st: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
    ) -> Evaluated {
        self.load_projection_metric(st, system, cx, q, v, &TangentWeights::MASS)
    }

    /// Loads M, C and K of the forces alone by their weights, and G, at q: what motions are measured by in projections.
    pub fn load_projection_metric(
        &mut self,
        st: &SaddleSparsity,
        system: &dyn System,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        weights: &TangentWeights,
    ) -> Evaluated {
        // Neither inertia forces nor multipliers have a part in it.
        self.step_x.fill(0.0);
        self.step_l.fill(0.0);
        let (a, lambda) = (&self.step_x, &self.step_l);
        if st.tangent_in_place() {
            let s = self.matrix.tangent_mut(st);
            system.tangent(cx, &MotionPoint { q, v, a, lambda }, weights, s)?;
        } else {
            system.tangent(
                cx,
                &MotionPoint { q, v, a, lambda },
                weights,
                &mut self.values,
            )?;
            self.matrix.load_tangent(st, &self.values);
        }
        self.load_jacobian(st, system, cx, q);
        Ok(())
    }

    /// Regularises and factorises what is loaded.
    ///
    /// A coordinate without mass has a diagonal of the order of h²: rows that act on it look long and therefore nearly
    /// parallel, although they are not. Rows are measured as if such a coordinate had a small mass.
    pub fn factorise(
        &mut self,
        st: &SaddleSparsity,
        work: &mut LinearAlgebraCounts,
    ) -> Result<Pivots, SingularPivot> {
        let diagonal = &mut self.diagonal;
        self.matrix.tangent_diagonal(st, diagonal);
        let eps = REGULARISATION;
        self.matrix.regularise(st, diagonal, eps);
        let masses = || (diagonal.iter().enumerate()).map(|(i, d)| d.abs() / st.squared_length(i));
        let mean = masses().sum::<f64>() / diagonal.len().max(1) as f64;
        self.massless = masses().any(|mass| mass < MASSLESS * mean);
        if self.massless {
            self.massless_scaling
                .copy_from_slice(self.matrix.regularisation());
            for (i, d) in diagonal.iter_mut().enumerate() {
                if d.abs() < MASSLESS * mean * st.squared_length(i) {
                    *d = SMALL_MASS * mean * st.squared_length(i);
                }
            }
            self.matrix.regularise(st, diagonal, eps);
            for (longer, e) in self
                .massless_scaling
                .iter_mut()
                .zip(self.matrix.regularisation())
            {
                *longer = if *e > 0.0 {
                    (*longer / e).max(1.0)
                } else {
                    f64::INFINITY
                };
            }
        }
        if self.handling.updates_multipliers() || self.descriptor.is_some() {
            self.default_regularisation
                .copy_from_slice(self.matrix.regularisation());
            let closes = self.descriptor.as_ref().map(|lifted| &lifted.is_closure);
            let (usual, given) = (&self.default_regularisation, self.given_regularisation);
            let ratio = self.handling.regularisation(self.active.len()) / eps;
            let least = 1.0 / (eps * MAX_WEIGHT);
            self.matrix.set_regularisation(|row| match given {
                _ if closes.is_some_and(|closes| !closes[row]) => OF_TREE * usual[row],
                Some(given) => given.max(least * usual[row]),
                None => ratio * usual[row],
            });
        }
        let rows = self.active.len();
        if !self.handling.updates_multipliers() && self.descriptor.is_none() && rows > MANY {
            let less = (MANY as f64 / rows as f64).powi(2);
            self.default_regularisation
                .copy_from_slice(self.matrix.regularisation());
            let usual = &self.default_regularisation;
            self.matrix.set_regularisation(|row| less * usual[row]);
        }
        if let Some(lifted) = &mut self.descriptor {
            lifted.mark_factored();
        }
        work.factorizations += 1;
        let mut pivots = self.factor.factor(st, &self.matrix)?;
        if self.massless {
            pivots.smallest_constraint =
                (0..st.nc()).fold(f64::INFINITY, |m, row| m.min(self.pivot(row)));
        }
        Ok(pivots)
    }

    /// The pivot of a constraint row in the last factorisation: the squared sine of its angle to the rows before it.
    fn pivot(&self, row: usize) -> f64 {
        let pivot = self.factor.constraint_pivots()[row];
        if self.massless {
            pivot * self.massless_scaling[row]
        } else {
            pivot
        }
    }

    /// Lets go of the rows whose pivot is below `threshold`, until the next [`Saddle::select`]. What is loaded must be
    /// loaded and factorised again.
    pub fn deactivate(&mut self, st: &SaddleSparsity, threshold: f64) {
        for row in 0..self.matrix.active().len() {
            if self.pivot(row) < threshold {
                // A row of the tree cannot be let go; one of those it depends on is.
                let own = match &mut self.descriptor {
                    None => Some(row),
                    Some(lifted) if lifted.is_closure[row] => lifted
                        .form
                        .constraint_rows()
                        .binary_search(&(row as u32))
                        .ok(),
                    Some(lifted) => {
                        lifted.dependent_closure_constraint(st, &mut self.factor, &self.matrix, row)
                    }
                };
                if let Some(own) = own {
                    self.active[own] = false;
                }
            }
        }
        self.set_active();
    }

    /// Whether the rows that hold are still those of the factor.
    pub fn matches_active_set(&self) -> bool {
        self.factor.matches_active_set(&self.matrix)
    }

    /// [x; l] := A⁻¹ [x; l] with the exact matrix (E = 0) by refinement. Returns the residual left, relative.
    pub fn solve_exact(
        &mut self,
        st: &SaddleSparsity,
        tol: f64,
        x: &mut [f64],
        l: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) -> f64 {
        self.mask(l);
        self.refine(st, false, tol, LIMIT, x, l, work)
    }

    /// [x; l] := A⁻¹ [b; c] in the same way; what `x` and `l` hold is near it.
    pub fn solve_exact_from(
        &mut self,
        st: &SaddleSparsity,
        tol: f64,
        (b, c): (&[f64], &[f64]),
        x: &mut [f64],
        l: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) {
        if self.descriptor.is_some() {
            // Nothing is known of the multipliers of the tree.
            x.copy_from_slice(b);
            l.copy_from_slice(c);
            self.solve_exact(st, tol, x, l, work);
            return;
        }
        self.mask(l);
        let done = (self.factor).solve_from(st, &self.matrix, tol, LIMIT, (b, c), x, l);
        work.solves += done.solves as u64;
    }

    /// [x; l] := A⁻¹ [x; l] with E = 0: multipliers are brought up to date, at most `limit` times, until a part `tol` of the
    /// right-hand side is left. Where rows depend on each other it ends as far as they agree.
    pub fn solve_with_multiplier_updates(
        &mut self,
        st: &SaddleSparsity,
        tol: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) {
        self.mask(l);
        self.refine(st, false, tol, limit, x, l, work);
    }

    /// [x; l] := A⁻¹ [x; l] for the values that are loaded, −E included, by at most `limit` refinements to `tol`.
    pub fn solve_refined(
        &mut self,
        st: &SaddleSparsity,
        tol: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) {
        self.refine(st, true, tol, limit, x, l, work);
    }

    fn refine(
        &mut self,
        st: &SaddleSparsity,
        with_e: bool,
        tol: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) -> f64 {
        let Self {
            factor,
            matrix,
            descriptor: lifted,
            ..
        } = self;
        let (solves, residual) = match lifted {
            None => {
                let done = factor.solve_refined(st, matrix, with_e, tol, limit, x, l);
                (done.solves, done.residual)
            }
            Some(lifted) => lifted.solve_refined(st, factor, matrix, with_e, tol, limit, x, l),
        };
        work.solves += solves as u64;
        residual
    }

    /// [x; l] := A⁻¹ [x; l] by one back-substitution, −E included.
    pub fn solve(
        &mut self,
        st: &SaddleSparsity,
        x: &mut [f64],
        l: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) {
        match &mut self.descriptor {
            None => self.factor.solve(st, x, l),
            Some(lifted) => lifted.solve(st, &mut self.factor, x, l),
        }
        work.solves += 1;
    }

    fn mask(&self, l: &mut [f64]) {
        for (l, &active) in l.iter_mut().zip(&self.active) {
            if !active {
                *l = 0.0;
            }
        }
    }

    /// What earlier projections showed does not hold here any more.
    pub fn reset_contraction(&mut self) {
        self.contraction = None;
    }

    /// The smallest motion `dx` (in the metric of the factored S) with `G dx = r`, G being that of `here`; adds the
    /// multipliers to `mu`. The factor may be older than G: it is a preconditioner, repeated until the rest is below
    /// `tol` of `r`, or below what rounding leaves open where r = −(G v + …) with v = `of`. Returns that rest, relative.
    pub fn minimum_norm_correction(
        &mut self,
        st: &SaddleSparsity,
        here: JacobianAt,
        r: &[f64],
        of: &[f64],
        tol: f64,
        dx: &mut [f64],
        mu: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) -> f64 {
        let (rest, first) = minimum_norm_correction(
            &mut MinimumNormSolver {
                factor: &mut self.factor,
                descriptor: self.descriptor.as_mut(),
            },
            st,
            here,
            r,
            of,
            tol,
            dx,
            mu,
            (&mut self.step_x, &mut self.step_l, &mut self.residual),
            work,
        );
        if let Some(first) = first {
            self.contraction = Some(self.contraction.map_or(first, |c| c.max(first)));
        }
        rest
    }

    /// e := P e for two vectors at once: e + the smallest motion with G dx = −G e, G being that of `here`, each until the
    /// rest is below `tol` of G e.
    pub fn project_tangent_pair(
        &mut self,
        st: &SaddleSparsity,
        here: JacobianAt,
        tol: f64,
        e: [&mut [f64]; 2],
        work: &mut LinearAlgebraCounts,
    ) {
        let Self {
            factor,
            pair_x,
            pair_l,
            contraction,
            descriptor: lifted,
            ..
        } = self;
        let mut solver = MinimumNormSolver {
            factor,
            descriptor: lifted.as_mut(),
        };
        let mut target = [0.0; 2];
        let mut left = [f64::INFINITY; 2];
        let mut going = [true; 2];
        // Other right-hand sides of this step have shown that one pass is enough by far: no need to look again.
        let sure = contraction.is_some_and(|c| c <= SURELY * tol);
        let passes = if sure { 1 } else { MAX_PASSES };
        for pass in 0..passes {
            for k in 0..2 {
                if !going[k] {
                    continue;
                }
                solver.jacobian_times(st, here, e[k], &mut pair_l[k]);
                let size = largest(&pair_l[k], here.active);
                if pass == 0 {
                    target[k] = size;
                    going[k] = size != 0.0;
                } else {
                    let now = size / target[k];
                    going[k] = now > tol && now < 0.5 * left[k];
                    left[k] = now;
                }
            }
            if going == [false; 2] {
                return;
            }
            for k in 0..2 {
                if !going[k] {
                    pair_l[k].fill(0.0);
                }
                work.solves += u64::from(going[k]);
            }
            let ([x0, x1], [l0, l1]) = (&mut *pair_x, &mut *pair_l);
            if solver.descriptor.is_none() {
                solver
                    .factor
                    .solve_constraint_rhs_pair(st, [x0, x1], [l0, l1]);
            } else {
                solver.solve_constraint_rhs(st, x0, l0);
                solver.solve_constraint_rhs(st, x1, l1);
            }
            for k in 0..2 {
                for (e, step) in e[k].iter_mut().zip(&pair_x[k]) {
                    *e -= step;
                }
            }
        }
    }

    /// The same with G of this matrix.
    pub fn minimum_norm_correction_here(
        &mut self,
        st: &SaddleSparsity,
        r: &[f64],
        of: &[f64],
        tol: f64,
        dx: &mut [f64],
        mu: &mut [f64],
        work: &mut LinearAlgebraCounts,
    ) -> f64 {
        let Self {
            matrix,
            factor,
            step_x,
            step_l,
            residual: rest,
            active,
            descriptor: lifted,
            ..
        } = self;
        let geometry = lifted
            .as_mut()
            .map_or(Vec::new(), |lifted| std::mem::take(&mut lifted.loaded));
        let here = JacobianAt {
            matrix,
            active,
            transformation: &geometry,
        };
        let (left, _) = minimum_norm_correction(
            &mut MinimumNormSolver {
                factor,
                descriptor: lifted.as_mut(),
            },
            st,
            here,
            r,
            of,
            tol,
            dx,
            mu,
            (step_x, step_l, rest),
            work,
        );
        if let Some(lifted) = lifted {
            lifted.loaded = geometry;
        }
        left
    }
}
