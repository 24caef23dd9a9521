//! Back onto the constraints and their rates: the saddle-point matrix at a point, and what is solved with it.
//!
//! ```text
//!   A = [ M  Gᵀ ]     positions      A [dq; ·] = [0; −Φ]
//!       [ G  −E ]     velocities     A [dv; ·] = [0; −(G v + Φ_t)]
//!                     accelerations  A [a; λ]  = [f; −γ]
//!                     tangent part   P e = e + A⁻¹ [0; −G e]
//! ```

use super::multipliers::{Factor, Matrix, Pivots, Singular, Structure};
use crate::formulation::{Context, Evaluated, System, Weights};

/// Regularisation of the constraint block relative to diag(G M⁻¹ Gᵀ): theory, redundancy.
pub const REGULARISATION: f64 = 1e-10;

/// Diagonals of S below this part of their mean belong to coordinates without mass ...
const MASSLESS: f64 = 1e-4;
/// ... and are measured as this part of it.
const SMALL_MASS: f64 = 1e-3;

/// A saddle-point matrix at a point with its factorisation.
pub struct Saddle {
    /// Values.
    pub matrix: Matrix,
    /// Factorisation, possibly of older values.
    pub factor: Factor,
    values: Vec<f64>,
    jacobian: Vec<f64>,
    step_x: Vec<f64>,
    step_l: Vec<f64>,
    rest: Vec<f64>,
    pair_x: [Vec<f64>; 2],
    pair_l: [Vec<f64>; 2],
    /// Largest rest a first pass of `reach` left since [`Saddle::forget_contraction`].
    contraction: Option<f64>,
    active: Vec<bool>,
}

/// Work counters of this layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Factorisations.
    pub factorizations: u64,
    /// Back-substitutions.
    pub solves: u64,
}

impl Saddle {
    /// Work space for a structure; `tangent` and `jacobian` are the lengths of the pattern's lists.
    pub fn new(st: &Structure, tangent: usize, jacobian: usize) -> Self {
        Self {
            matrix: Matrix::new(st),
            factor: Factor::new(st),
            // Not needed where S is written in place.
            values: vec![0.0; if st.tangent_in_place() { 0 } else { tangent }],
            jacobian: vec![0.0; jacobian],
            step_x: vec![0.0; st.nv()],
            step_l: vec![0.0; st.nc()],
            rest: vec![0.0; st.nc()],
            pair_x: std::array::from_fn(|_| vec![0.0; st.nv()]),
            pair_l: std::array::from_fn(|_| vec![0.0; st.nc()]),
            contraction: None,
            active: vec![true; st.nc()],
        }
    }

    /// Which rows hold: active in these modes and not left out as dependent.
    pub fn select(&mut self, system: &dyn System, modes: &[i32], dropped: &[bool]) {
        system.active(modes, &mut self.active);
        for (row, dropped) in self.active.iter_mut().zip(dropped) {
            *row &= !dropped;
        }
        self.matrix.set_active(&self.active);
    }

    /// Rows that hold.
    pub fn active(&self) -> &[bool] {
        self.matrix.active()
    }

    /// Loads S with the given weights.
    pub fn load_tangent(
        &mut self,
        st: &Structure,
        system: &dyn System,
        cx: &Context,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        lambda: &[f64],
        weights: &Weights,
    ) -> Evaluated {
        if st.tangent_in_place() {
            let s = self.matrix.tangent_mut(st);
            return system.tangent(cx, q, v, a, lambda, weights, s);
        }
        system.tangent(cx, q, v, a, lambda, weights, &mut self.values)?;
        self.matrix.load_tangent(st, &self.values);
        Ok(())
    }

    /// Loads G at q.
    pub fn load_jacobian(&mut self, st: &Structure, system: &dyn System, cx: &Context, q: &[f64]) {
        system.jacobian(cx, q, &mut self.jacobian);
        self.matrix.load_jacobian(st, &self.jacobian);
    }

    /// Loads G at q; Φ comes along.
    pub fn load_constraints(
        &mut self,
        st: &Structure,
        system: &dyn System,
        cx: &Context,
        q: &[f64],
        phi: &mut [f64],
    ) {
        system.constraint_and_jacobian(cx, q, phi, &mut self.jacobian);
        self.matrix.load_jacobian(st, &self.jacobian);
    }

    /// Loads M and G at q: the matrix A.
    pub fn load_mass(
        &mut self,
        st: &Structure,
        system: &dyn System,
        cx: &Context,
        q: &[f64],
        v: &[f64],
    ) -> Evaluated {
        // With the weight of M alone neither accelerations nor multipliers are looked at.
        self.step_x.fill(0.0);
        self.step_l.fill(0.0);
        let (a, lambda) = (&self.step_x, &self.step_l);
        if st.tangent_in_place() {
            let s = self.matrix.tangent_mut(st);
            system.tangent(cx, q, v, a, lambda, &Weights::MASS, s)?;
        } else {
            system.tangent(cx, q, v, a, lambda, &Weights::MASS, &mut self.values)?;
            self.matrix.load_tangent(st, &self.values);
        }
        self.load_jacobian(st, system, cx, q);
        Ok(())
    }

    /// Regularises and factorises what is loaded.
    ///
    /// A coordinate without mass has a diagonal of the order of h²: rows that act on it look long and therefore nearly
    /// parallel, although they are not. Rows are measured as if such a coordinate had a small mass.
    pub fn factorise(&mut self, st: &Structure, work: &mut Work) -> Result<Pivots, Singular> {
        // Free between projections.
        let diagonal = &mut self.step_x;
        self.matrix.tangent_diagonal(st, diagonal);
        self.matrix.regularise(st, diagonal, REGULARISATION);
        let mean = diagonal.iter().map(|d| d.abs()).sum::<f64>() / diagonal.len().max(1) as f64;
        let massless = diagonal.iter().any(|d| d.abs() < MASSLESS * mean);
        if massless {
            self.rest.copy_from_slice(self.matrix.e());
            for d in diagonal.iter_mut() {
                if d.abs() < MASSLESS * mean {
                    *d = SMALL_MASS * mean;
                }
            }
            self.matrix.regularise(st, diagonal, REGULARISATION);
        }
        work.factorizations += 1;
        let mut pivots = self.factor.factor(st, &self.matrix)?;
        if massless {
            let measured = self
                .factor
                .constraint_pivots()
                .iter()
                .zip(self.rest.iter().zip(self.matrix.e()));
            pivots.smallest_constraint = measured
                .map(|(pivot, (long, e))| {
                    if *e > 0.0 {
                        pivot * (long / e).max(1.0)
                    } else {
                        f64::INFINITY
                    }
                })
                .fold(f64::INFINITY, f64::min);
        }
        Ok(pivots)
    }

    /// Whether the rows that hold are still those of the factor.
    pub fn fits(&self) -> bool {
        self.factor.fits(&self.matrix)
    }

    /// [x; l] := A⁻¹ [x; l] with the exact matrix (E = 0) by refinement. Returns the residual left, relative.
    pub fn solve_exact(
        &mut self,
        st: &Structure,
        tol: f64,
        x: &mut [f64],
        l: &mut [f64],
        work: &mut Work,
    ) -> f64 {
        self.mask(l);
        let done = self
            .factor
            .solve_refined(st, &self.matrix, false, tol, 8, x, l);
        work.solves += done.solves as u64;
        done.residual
    }

    /// [x; l] := A⁻¹ [x; l] by one back-substitution, −E included.
    pub fn solve(&mut self, st: &Structure, x: &mut [f64], l: &mut [f64], work: &mut Work) {
        self.factor.solve(st, x, l);
        work.solves += 1;
    }

    fn mask(&self, l: &mut [f64]) {
        for (l, &active) in l.iter_mut().zip(self.matrix.active()) {
            if !active {
                *l = 0.0;
            }
        }
    }

    /// What earlier projections showed does not hold here any more.
    pub fn forget_contraction(&mut self) {
        self.contraction = None;
    }

    /// The smallest motion `dx` (in the metric of the factored S) with `G dx = r`, G being that of `here`; adds the
    /// multipliers to `mu`. The factor may be older than G: it is a preconditioner, repeated until the rest is below
    /// `tol` of `r`. Returns that rest, relative.
    pub fn reach(
        &mut self,
        st: &Structure,
        here: &Matrix,
        r: &[f64],
        tol: f64,
        dx: &mut [f64],
        mu: &mut [f64],
        work: &mut Work,
    ) -> f64 {
        let (rest, first) = reach(
            &mut self.factor,
            st,
            here,
            r,
            tol,
            dx,
            mu,
            (&mut self.step_x, &mut self.step_l, &mut self.rest),
            work,
        );
        if let Some(first) = first {
            self.contraction = Some(self.contraction.map_or(first, |c| c.max(first)));
        }
        rest
    }

    /// e := P e for two vectors at once: e + the smallest motion with G dx = −G e, G being that of `here`, each until the
    /// rest is below `tol` of G e.
    pub fn tangent_parts(
        &mut self,
        st: &Structure,
        here: &Matrix,
        tol: f64,
        e: [&mut [f64]; 2],
        work: &mut Work,
    ) {
        let Self {
            factor,
            pair_x,
            pair_l,
            contraction,
            ..
        } = self;
        let mut target = [0.0; 2];
        let mut left = [f64::INFINITY; 2];
        let mut going = [true; 2];
        // Other right-hand sides of this step have shown that one pass is enough by far: no need to look again.
        let sure = contraction.is_some_and(|c| c <= SURELY * tol);
        let passes = if sure { 1 } else { PASSES };
        for pass in 0..passes {
            for k in 0..2 {
                if !going[k] {
                    continue;
                }
                here.jacobian_times(st, e[k], &mut pair_l[k]);
                let size = largest(&pair_l[k], here.active());
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
            factor.respond_two(st, [x0, x1], [l0, l1]);
            for k in 0..2 {
                for (e, step) in e[k].iter_mut().zip(&pair_x[k]) {
                    *e -= step;
                }
            }
        }
    }

    /// The same with G of this matrix.
    pub fn reach_here(
        &mut self,
        st: &Structure,
        r: &[f64],
        tol: f64,
        dx: &mut [f64],
        mu: &mut [f64],
        work: &mut Work,
    ) -> f64 {
        let Self {
            matrix,
            factor,
            step_x,
            step_l,
            rest,
            ..
        } = self;
        reach(
            factor,
            st,
            matrix,
            r,
            tol,
            dx,
            mu,
            (step_x, step_l, rest),
            work,
        )
        .0
    }
}

/// Part of a tolerance that is met without looking.
const SURELY: f64 = 0.1;
/// Refinements allowed in a projection; each gains three to five digits when G has not turned much.
const PASSES: usize = 6;

/// Largest entry of the rows that hold.
fn largest(x: &[f64], active: &[bool]) -> f64 {
    x.iter()
        .zip(active)
        .fold(0.0_f64, |m, (x, &on)| if on { m.max(x.abs()) } else { m })
}

/// The rest left, and the one left by the first pass (none if there was nothing to do).
fn reach(
    factor: &mut Factor,
    st: &Structure,
    here: &Matrix,
    r: &[f64],
    tol: f64,
    dx: &mut [f64],
    mu: &mut [f64],
    (step_x, step_l, rest): (&mut [f64], &mut [f64], &mut [f64]),
    work: &mut Work,
) -> (f64, Option<f64>) {
    let active = here.active();
    let size = |x: &[f64]| largest(x, active);
    let target = size(r);
    if target == 0.0 {
        dx.fill(0.0);
        mu.fill(0.0);
        return (0.0, None);
    }
    // The first pass goes straight to the result: it is the only one in most steps.
    mu.copy_from_slice(r);
    factor.respond(st, dx, mu);
    work.solves += 1;
    let mut left = f64::INFINITY;
    let mut first = None;
    for pass in 1..=PASSES {
        here.jacobian_times(st, dx, rest);
        for i in 0..rest.len() {
            rest[i] = r[i] - rest[i];
        }
        let now = size(rest) / target;
        let first = *first.get_or_insert(now);
        if now <= tol || !(now < 0.5 * left) {
            return (now, Some(first));
        }
        left = now;
        if pass == PASSES {
            break;
        }
        step_l.copy_from_slice(rest);
        factor.respond(st, step_x, step_l);
        work.solves += 1;
        for i in 0..dx.len() {
            dx[i] += step_x[i];
        }
        for i in 0..mu.len() {
            mu[i] += step_l[i];
        }
    }
    (left, first)
}
