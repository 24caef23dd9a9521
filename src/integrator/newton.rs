//! Newton's iteration for one step: equilibrium and closure at the end of the step, exactly.
//!
//! ```text
//!   r₁ = M(q₁) q̈₁ − f(q₁, v₁, t₁) + G₁ᵀλ₁
//!   r₂ = Φ(q₁, t₁)/(β h²) − E (λ₁ − λ_ref)              proximal: λ_ref is the predicted λ₁
//!   [ (M/(1−α) + γ h C) T⁻¹ + β h² K   Gᵀ ] [ y  ]     [ r₁ ]
//!   [ G                               −E  ] [ dλ ] = − [ r₂ ],     x += T⁻¹ y
//! ```
//!
//! The rows of Φ are divided by β h², so the matrix tends to [M/(1−α) Gᵀ; G −E] as h → 0. One factorisation at the
//! predicted point serves the whole step; the measured contraction of earlier steps saves the iteration that would only
//! confirm (`State::rate`).

use super::singularity::is_near_singular;
use super::state::{State, Statistics};
use super::tolerances::{INCREMENT_REFINEMENTS, INCREMENT_RESIDUAL, MULTIPLIER_UPDATES};
use super::trial::NearSingular;
use super::workspace::{
    Culprit, EvaluationVectors, Problem, StepFailure, Trial, Workspace, first_not_finite,
};
use crate::constraint::saddle_point::LinearAlgebraCounts;
use crate::formulation::system::{Dimensions, MotionPoint, TangentWeights};

/// Iterations before an attempt is given up.
const LIMIT: u32 = 12;
/// The same for a fixed step with a penalty, which passes singular positions at a contraction of a half and worse, or without
/// constraints: there is no shorter one to go back to, and no other branch to be led to.
const SLOW_LIMIT: u32 = 60;
/// A contraction better than this may be trusted without measuring it again ...
const GOOD_RATE: f64 = 0.1;
/// ... for this many steps.
const TRUSTED_STEPS: u32 = 20;
/// Above this contraction the factorisation is made anew.
const POOR_RATE: f64 = 0.3;
/// ... and after this many iterations in any case: a contraction of 0.3 would not be done at the limit.
const PATIENCE: u32 = 4;
/// Below this pivot of the scaled constraints the position is nearly singular: every iteration gets its own factorisation.
const SINGULAR_PIVOT: f64 = 1e-3;
/// Displacements below this (relative to the size of the mechanism) are rounding.
const DISPLACEMENT_ROUNDING: f64 = 4e-15;

/// Vectors of Newton's iteration.
pub(super) struct NewtonWorkspace {
    /// The predicted λ₁, reference of the proximal term.
    lambda_ref: Vec<f64>,
    /// Φ at the trial point, then the increment of λ.
    phi: Vec<f64>,
}

impl NewtonWorkspace {
    pub fn new(size: &Dimensions) -> Self {
        Self {
            lambda_ref: vec![0.0; size.nc],
            phi: vec![0.0; size.nc],
        }
    }
}

impl Workspace {
    /// Predicts the end of the step and iterates until the increment is below the Newton tolerance. `trial.h`, `trial.t` are
    /// given; fills q, v, acc, lambda, x, at.
    pub fn newton(
        &mut self,
        p: &Problem,
        s: &State,
        near_singular: NearSingular,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let h = y.h;
        self.step_matrix.reset_contraction();
        self.method.shift(&s.a, &s.delta, s.h, h, &mut y.at);
        for i in 0..y.x.len() {
            y.x[i] = h * (s.delta[i] + 0.5 * (h + s.h) * s.delta_dot[i]);
        }
        for i in 0..y.lambda.len() {
            y.lambda[i] = s.lambda[i] + h * s.lambda_dot[i];
        }
        self.newton.lambda_ref.copy_from_slice(&y.lambda);
        self.kinematics(p, s, y);

        // A step cut short to land is solved as well as the natural one would be: its accelerations are worth no less.
        let natural = h.max(s.next_h);
        let (here, wanted) = (
            self.method.beta * h * h,
            self.method.beta * natural * natural,
        );
        y.pivot = s.typical_pivot;
        let (mut regular, mut loaded) = self.factorise_at(p, y, stats)?;
        if near_singular == NearSingular::Reject && is_near_singular(y.pivot, s) {
            return Err(StepFailure::NearSingular);
        }
        let mut fresh = true;
        let mut last = f64::NAN;
        (y.newton_contraction, y.contraction_uses) = (s.newton_contraction, s.rate_uses);
        let patient = self.size.nc == 0 || self.step_matrix.handling().updates_multipliers();
        let slow = patient && self.control.fixed().is_some();
        let limit = if slow { SLOW_LIMIT } else { LIMIT };
        for iteration in 1..=limit {
            let (size, rounding, culprit) = self.iterate(p, s, y, loaded, stats)?;
            loaded = false;
            let converged =
                |size: f64| size * wanted < self.newton_tolerance || size * here < rounding;
            let rate = size / last;
            if iteration == 1 {
                let trusted =
                    regular && s.newton_contraction < GOOD_RATE && s.rate_uses < TRUSTED_STEPS;
                if trusted && converged(2.0 * s.newton_contraction * size) {
                    y.contraction_uses += 1;
                    return Ok(());
                }
            } else {
                if iteration == 2 && fresh {
                    // A second increment at rounding level only bounds the contraction.
                    (y.newton_contraction, y.contraction_uses) =
                        (size.max(rounding / here) / last, 0);
                }
                // Near a singular position the penalty first has to find its multipliers, and behind the kink of a law the
                // way leads over the kink again.
                let diverges = rate > if slow { 1e3 } else { 2.0 };
                if diverges || (iteration == limit && !converged(size)) {
                    return Err(StepFailure::Newton {
                        iterations: iteration,
                        residual: size * wanted / self.newton_tolerance,
                        culprit,
                    });
                }
            }
            if converged(size) || (rate < 0.5 && converged(2.0 * rate * size)) {
                return Ok(());
            }
            if !regular || rate > POOR_RATE || iteration >= PATIENCE {
                (regular, loaded) = self.factorise_at(p, y, stats)?;
                fresh = iteration == 1 && fresh;
            }
            last = size;
        }
        unreachable!("the last iteration returns")
    }

    /// q₁, v₁, q̈₁ from x.
    fn kinematics(&mut self, p: &Problem, s: &State, y: &mut Trial) {
        let Trial {
            at,
            x,
            theta,
            v,
            acc,
            ..
        } = y;
        self.method.advance(y.h, &s.v, at, &s.acc, x, theta, v, acc);
        p.system.retract(&s.q, &y.theta, &mut y.q);
    }

    /// Factorises at the trial point, with G in `newton` and Φ in c[1], unless the factor of an earlier step serves this
    /// one. Returns whether the position is regular (not nearly singular), and whether G and Φ have been loaded.
    fn factorise_at(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        _stats: &mut Statistics,
    ) -> Result<(bool, bool), StepFailure> {
        let (h, m) = (y.h, self.method);
        let (there, count) = self.factor_cache.step(h, p.env.parameters);
        let count = u64::from(count);
        if let Some(regular) = there.filter(|_| self.step_matrix.matches_active_set()) {
            self.counts.factorizations += count;
            return Ok((regular, false));
        }
        let cx = self.inputs.at(p, y.t);
        let weights = TangentWeights {
            mass: 1.0 / (1.0 - m.alpha),
            damping: m.gamma * h,
            stiffness: m.beta * h * h,
            theta: &y.theta,
        };
        self.step_matrix.load_tangent(
            &self.sparsity,
            p.system,
            &cx,
            &MotionPoint {
                q: &y.q,
                v: &y.v,
                a: &y.acc,
                lambda: &y.lambda,
            },
            &weights,
        )?;
        let phi = &mut self.newton.phi;
        self.step_matrix
            .load_constraints(&self.sparsity, p.system, &cx, &y.q, phi);
        self.counts.factorizations += count;
        self.step_matrix.set_constraint_scale(m.beta * h * h);
        let pivots = self
            .step_matrix
            .factorise(&self.sparsity, &mut LinearAlgebraCounts::default())
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, self.size.nv)))?;
        // LU scales its pivots otherwise: small ones say the same, large ones nothing.
        y.pivot = if pivots.used_lu {
            y.pivot.min(pivots.smallest_constraint)
        } else {
            pivots.smallest_constraint
        };
        let regular = pivots.smallest_constraint > SINGULAR_PIVOT;
        self.factor_cache.keep_step(h, regular);
        Ok((regular, true))
    }

    /// One iteration; `loaded` says that G in `newton` and Φ in c[1] are those of the trial point. Returns the increment of x in the error norm, the rounding level of displacements in the same norm,
    /// and who moved most.
    fn iterate(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        loaded: bool,
        stats: &mut Statistics,
    ) -> Result<(f64, f64, Culprit), StepFailure> {
        let cx = self.inputs.at(p, y.t);
        let EvaluationVectors { inertia, force, .. } = &mut self.evaluation;
        let NewtonWorkspace { lambda_ref, phi } = &mut self.newton;
        let scale = 1.0 / (self.method.beta * y.h * y.h);

        stats.residuals += 1;
        stats.evaluations += 1;
        stats.newton_iterations += 1;
        p.system.force(&cx, &y.q, &y.v, force)?;
        if self.character.has_constraint_friction {
            p.system
                .constraint_friction(&cx, &y.q, &y.v, &y.lambda, force);
        }
        p.system.mass_times(&cx, &y.q, &y.acc, inertia);
        if !loaded {
            self.step_matrix
                .load_constraints(&self.sparsity, p.system, &cx, &y.q, phi);
        }
        self.step_matrix
            .add_jacobian_transposed(&self.sparsity, &y.lambda, inertia);
        for i in 0..inertia.len() {
            inertia[i] = force[i] - inertia[i]; // −r₁
        }
        // Brought up to date in every iteration, multipliers are their own reference.
        let proximal = if self.step_matrix.handling().updates_multipliers() {
            0.0
        } else {
            1.0
        };
        let active = self.step_matrix.active();
        for i in 0..phi.len() {
            phi[i] = if active[i] {
                proximal * self.step_matrix.regularisation_of(i) * (y.lambda[i] - lambda_ref[i])
                    - scale * phi[i]
            } else {
                0.0
            }; // −r₂
        }
        if let Some(i) = first_not_finite(inertia) {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
        }
        if let Some(i) = first_not_finite(phi) {
            return Err(StepFailure::NotFinite(Culprit::Constraint(i)));
        }

        if self.step_matrix.handling().updates_multipliers() {
            self.step_matrix.solve_with_multiplier_updates(
                &self.sparsity,
                INCREMENT_RESIDUAL,
                MULTIPLIER_UPDATES,
                inertia,
                phi,
                &mut self.counts,
            );
        } else if self.character.velocity_forces || self.character.rotations {
            // S may be unsymmetric: the factorisation of its symmetric part is refined with the exact matrix.
            self.step_matrix.solve_refined(
                &self.sparsity,
                INCREMENT_RESIDUAL,
                INCREMENT_REFINEMENTS,
                inertia,
                phi,
                &mut self.counts,
            );
        } else {
            self.step_matrix
                .solve(&self.sparsity, inertia, phi, &mut self.counts);
        }
        p.system.tangent_inverse(&y.theta, inertia);
        for i in 0..inertia.len() {
            y.x[i] += inertia[i];
        }
        for i in 0..phi.len() {
            y.lambda[i] += phi[i];
        }
        let size = p.system.norm(&cx, &y.q, &s.scale, inertia);
        let worst = largest(inertia);
        if !size.is_finite() {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(worst)));
        }
        let rounding = DISPLACEMENT_ROUNDING * p.system.coordinate_magnitude(&y.q);
        self.kinematics(p, s, y);
        Ok((size, rounding, Culprit::Coordinate(worst)))
    }
}

/// Index of the largest entry; of the first that is not finite.
pub(super) fn largest(x: &[f64]) -> usize {
    let mut worst = 0;
    for i in 0..x.len() {
        if !x[i].is_finite() {
            return i;
        }
        if x[i].abs() > x[worst].abs() {
            worst = i;
        }
    }
    worst
}

pub(super) fn culprit(unknown: usize, nv: usize) -> Culprit {
    if unknown < nv {
        Culprit::Coordinate(unknown)
    } else {
        Culprit::Constraint(unknown - nv)
    }
}
