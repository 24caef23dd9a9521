//! Newton's iteration for the equations of motion and the constraints at the end of a step.
//!
//! ```text
//!   r₁ = M(q₁) q̈₁ − f(q₁, v₁, t₁) + G₁ᵀλ₁
//!   r₂ = Φ(q₁, t₁)/(β h²) − E (λ₁ − λ_ref)              proximal: λ_ref is the predicted λ₁
//!   [ (M/(1−α) + γ h C) T⁻¹ + β h² K   Gᵀ ] [ y  ]     [ r₁ ]
//!   [ G                               −E  ] [ dλ ] = − [ r₂ ],     x += T⁻¹ y
//! ```
//!
//! A constraint of velocities has r₂ = G v₁/(γ h), with the same derivative G. Φ is divided by β h², so the matrix tends to [M/(1−α) Gᵀ; G −E] as h → 0. One factorisation at the predicted point serves
//! the step. The contraction measured in earlier steps (`State::newton_contraction`) predicts the next increment, so that no
//! iteration is spent only to confirm convergence.

use super::singularity::{is_near_singular, position_pivot};
use super::state::{State, Statistics};
use super::tolerances::{INCREMENT_REFINEMENTS, INCREMENT_RESIDUAL, MULTIPLIER_UPDATES};
use super::trial::{Culprit, NearSingular, StepFailure, Trial, TrialOptions};
use super::workspace::{EvaluationVectors, Problem, Workspace, first_not_finite};
use crate::constraint::augmented_lagrangian::Penalty;
use crate::constraint::saddle_point::LinearAlgebraCounts;
use crate::formulation::system::{Dimensions, MotionPoint, System, TangentWeights};

/// Iterations of a trial step, at most.
const LIMIT: u32 = 12;
/// The same for a fixed step with a penalty, whose contraction at singular positions is a half or worse, or without constraints.
/// A fixed step cannot be shortened, and there is no other branch to converge to.
const SLOW_LIMIT: u32 = 60;
/// Contraction below which it is not measured again ...
const GOOD_RATE: f64 = 0.1;
/// ... for this many steps.
const TRUSTED_STEPS: u32 = 20;
/// Contraction above which the matrix is factorised again ...
const POOR_RATE: f64 = 0.3;
/// ... as it is after this many iterations in any case: at a contraction of 0.3 the limit would not suffice.
const PATIENCE: u32 = 4;
/// Pivot of the scaled constraints below which the position is nearly singular: the matrix is factorised in every iteration.
const SINGULAR_PIVOT: f64 = 1e-3;
/// Displacements below this (relative to the magnitude of the coordinates) are rounding errors: 20 times that of one number.
const DISPLACEMENT_ROUNDING: f64 = 4e-15;

/// Vectors of Newton's iteration.
pub(super) struct NewtonWorkspace {
    /// The predicted λ₁, reference of the proximal term.
    lambda_ref: Vec<f64>,
    /// Φ at the trial point, then the increment of λ.
    phi: Vec<f64>,
    /// The constraints of velocities.
    velocity_constraints: Vec<usize>,
}

impl NewtonWorkspace {
    pub fn new(system: &dyn System, size: &Dimensions) -> Self {
        Self {
            lambda_ref: vec![0.0; size.nc],
            phi: vec![0.0; size.nc],
            velocity_constraints: (0..size.nc)
                .filter(|&i| system.is_velocity_constraint(i))
                .collect(),
        }
    }
}

impl Workspace {
    /// Predicts the end of the step of size `y.h` at `y.t`, and iterates until the increment is below the Newton tolerance.
    pub fn newton(
        &mut self,
        p: &Problem,
        s: &State,
        options: TrialOptions,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let h = y.h;
        self.predict(p, s, y);
        // A step that is cut to land on its end is solved as accurately as the full step: its accelerations enter the next one.
        let natural = h.max(s.next_h);
        let (here, wanted) = (
            self.method.beta * h * h,
            self.method.beta * natural * natural,
        );
        y.pivot = s.typical_pivot;
        let (mut regular, mut loaded) = self.factorise_at(p, y, options.penalty)?;
        if options.near_singular == NearSingular::Reject && is_near_singular(y.pivot, s) {
            return Err(StepFailure::NearSingular);
        }
        let mut fresh = true;
        let mut last = f64::NAN;
        (y.newton_contraction, y.contraction_uses) = (s.newton_contraction, s.contraction_uses);
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
                let trusted = regular
                    && s.newton_contraction < GOOD_RATE
                    && s.contraction_uses < TRUSTED_STEPS;
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
                // A slow iteration may grow first: near a singular position until the multipliers of the penalty are found, and
                // beyond the kink of a force law until it is crossed again.
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
                (regular, loaded) = self.factorise_at(p, y, options.penalty)?;
                fresh = iteration == 1 && fresh;
            }
            last = size;
        }
        unreachable!("the last iteration returns")
    }

    /// Extrapolates x and λ₁ from the history.
    fn predict(&mut self, p: &Problem, s: &State, y: &mut Trial) {
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
        (self.method).advance(y.h, (&s.v, at, &s.acc), x, (theta, v, acc));
        p.system.retract(&s.q, &y.theta, &mut y.q);
    }

    /// Factorises the step matrix at the trial point, unless the factorisation of an earlier step can be used. Returns whether the
    /// position is regular (not nearly singular), and whether Φ and G have been evaluated.
    fn factorise_at(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        penalty: Penalty,
    ) -> Result<(bool, bool), StepFailure> {
        let (h, m) = (y.h, self.method);
        let (cached, count) = self.factor_cache.step(h, p.env.parameters);
        let count = u64::from(count);
        if let Some(regular) = cached.filter(|_| self.step_matrix.matches_active_set()) {
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
        self.step_matrix
            .set_constraint_scale(m.beta * h * h, penalty);
        let pivots = self
            .step_matrix
            .factorise(&self.sparsity, &mut LinearAlgebraCounts::default())
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, self.size.nv)))?;
        // LU scales its pivots differently: only small ones compare.
        let smallest = position_pivot(pivots.smallest_constraint, p.system, &y.q);
        y.pivot = if pivots.used_lu {
            y.pivot.min(smallest)
        } else {
            smallest
        };
        self.couple_step_friction(p, y);
        let regular = pivots.smallest_constraint > SINGULAR_PIVOT;
        self.factor_cache.keep_step(h, regular);
        Ok((regular, true))
    }

    /// Prepares the elimination of friction that is proportional to contact forces; multipliers that are updated in every iteration
    /// carry it along.
    fn couple_step_friction(&mut self, p: &Problem, y: &Trial) {
        if !self.character.has_constraint_friction
            || self.step_matrix.handling().updates_multipliers()
        {
            self.step_coupling.forget();
            return;
        }
        let cx = self.inputs.at(p, y.t);
        let (matrix, sparsity, counts) = (&mut self.step_matrix, &self.sparsity, &mut self.counts);
        self.step_coupling.prepare(p, &cx, (&y.q, &y.v), |x, l| {
            let limits = (INCREMENT_RESIDUAL, INCREMENT_REFINEMENTS);
            matrix.solve_refined(sparsity, limits.0, limits.1, x, l, counts);
        });
    }

    /// One iteration. `loaded` tells that Φ and G of the trial point are already evaluated. Returns the increment of x and the
    /// rounding level of displacements, both in the error norm, and the coordinate of the largest increment.
    fn iterate(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        loaded: bool,
        stats: &mut Statistics,
    ) -> Result<(f64, f64, Culprit), StepFailure> {
        self.evaluate_residual(p, y, loaded, stats)?;
        self.solve_increment();
        let increment = &mut self.evaluation.inertia;
        let lambda_increment = &self.newton.phi;
        p.system.tangent_inverse(&y.theta, increment);
        for i in 0..increment.len() {
            y.x[i] += increment[i];
        }
        for i in 0..lambda_increment.len() {
            y.lambda[i] += lambda_increment[i];
        }
        let cx = self.inputs.at(p, y.t);
        let size = p.system.norm(&cx, &y.q, &s.scale, increment);
        let worst = largest(increment);
        if !size.is_finite() {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(worst)));
        }
        let rounding = DISPLACEMENT_ROUNDING * p.system.coordinate_magnitude(&y.q);
        self.kinematics(p, s, y);
        Ok((size, rounding, Culprit::Coordinate(worst)))
    }

    /// Evaluates −r₁ into `evaluation.inertia` and −r₂ into `newton.phi`.
    fn evaluate_residual(
        &mut self,
        p: &Problem,
        y: &Trial,
        loaded: bool,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let cx = self.inputs.at(p, y.t);
        let EvaluationVectors {
            inertia,
            force,
            product,
            ..
        } = &mut self.evaluation;
        let NewtonWorkspace {
            lambda_ref,
            phi,
            velocity_constraints,
        } = &mut self.newton;
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
        if !velocity_constraints.is_empty() {
            (self.step_matrix).jacobian_times(&self.sparsity, &y.v, product);
            let scale = self.method.beta * y.h / self.method.gamma;
            for &i in &*velocity_constraints {
                phi[i] = scale * product[i];
            }
        }
        // Multipliers that are updated in every iteration are their own reference.
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
        Ok(())
    }

    /// Solves for the increments y and dλ in place of −r₁ and −r₂.
    fn solve_increment(&mut self) {
        let (inertia, phi) = (&mut self.evaluation.inertia, &mut self.newton.phi);
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
            // S may be unsymmetric: the solution with its factorised symmetric part is refined.
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
        self.step_coupling.complete(inertia, phi);
    }
}

/// Index of the largest entry, or of the first that is not finite.
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

/// The coordinate or constraint of an unknown of the saddle-point matrix.
pub(super) fn culprit(unknown: usize, nv: usize) -> Culprit {
    if unknown < nv {
        Culprit::Coordinate(unknown)
    } else {
        Culprit::Constraint(unknown - nv)
    }
}
