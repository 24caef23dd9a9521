//! The two-derivative corrector: HHT as predictor, two passes of a fourth-order Hermite formula, same step size.
//!
//! ```text
//!   Dv = P[ v₀ + h/2 (q̈₀ + q̈₁) − h²/12 (j₁ − j₀) − v₁ ],                      vc = v₁ + Dv
//!   Dq = P[ log( q₁⁻¹ ∘ q₀ ∘ ( h/2 (v₀ + vc) − h²/12 (q̈₁ − q̈₀) + h²/12 [v₀, vc] ) ) ]
//!   q₁ ← q₁ ∘ Dq, closed;   v₁ ← vc, projected;   q̈₁, λ₁, j₁ from the equations
//! ```
//!
//! The corrections of both passes are the error of the HHT step, and the step size is controlled by it: e² = ‖Dq‖² + T² ‖Dv‖²
//! with T the motion time (`motion_time`). (h ‖Dv‖ would suffice for HHT itself. But where ‖Dq‖ vanishes, at the turning
//! points of an oscillation, the step would grow until the few corrected steps there dominate the error of the run. For the
//! same reason a step longer than that of an oscillation of the same amplitude grows by at most the factor e in the time 1/ω.)
//! The passes contract like (h ω)²/2. If they do not (κ > 0.2), the step is too long or the system is stiff; the method decides.
//!
//! Where the motion has been smooth for a step, the sixth-order formula of `hermite` takes the place of the one above.

use super::accelerations::InitialGuess;
use super::closure::{ClosureMatrix, ClosureOptions};
use super::hermite::{HermiteWeights, SMALLEST_RATIO};
use super::hht_step::set_history;
use super::newton::largest;
use super::state::{State, Statistics};
use super::tolerances::{
    ACCELERATION_RESIDUAL, JERK_RESIDUAL, OPEN_AFTER_STEP, REDUNDANT_RESIDUAL, STEP_CLOSURE,
    STEP_PROJECTION, TANGENT_PROJECTION,
};
use super::trial::{Culprit, StepFailure, Trial};
use super::workspace::{EvaluationVectors, PhasePoint, Problem, Workspace};
use crate::constraint::minimum_norm::{CorrectionTarget, PassLimit};
use crate::formulation::system::Dimensions;
use crate::linalg::elementary::{exp, hypot};
use crate::model::IntegratorName;

/// Contraction of the passes above which HHT alone is better: theory, corrector.
const STIFF: f64 = 0.2;
/// Part of the tolerance that the passes may leave of their fixed point. What they leave is damping, and adds up over the steps:
/// ten thousand of them then lose a tenth of the tolerance.
const LEFT_BY_PASSES: f64 = 1e-5;
/// Further passes, at most, until no more is left.
const FURTHER_PASSES: usize = 4;
/// Corrections below this part of the tolerance are too small to measure a contraction.
const CONTRACTION_NOISE: f64 = 1e-6;
/// Corrections below this (in the error norm) are rounding errors, not a sign of stiffness.
const CORRECTION_ROUNDING: f64 = 1e-13;
/// Corrections below this part of the unprojected ones may be the residual of the projection, which does not contract. They are
/// no sign of stiffness, for example where constraints and drives leave no degree of freedom.
const PROJECTION_LEFTOVER: f64 = 2.0 * TANGENT_PROJECTION;
/// Unknowns above which a pass starts from the accelerations of the pass before, and solves them only as far as the next pass
/// needs them. Small systems are solved exactly in every pass, which matters near singular positions.
const LONG: usize = 1000;
/// Largest relative residual of accelerations between the passes.
const BETWEEN_PASSES: f64 = 1e-7;
/// Closes the position after each pass, in the metric of M. Two corrections suffice at the tolerances of a mechanism, a very
/// long step needs more.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: STEP_CLOSURE,
    redundant_target: Some(REDUNDANT_RESIDUAL),
    give_up_above: OPEN_AFTER_STEP,
    stall_ratio: 0.5,
    patience: 0,
    limit: 10,
    matrix: ClosureMatrix::Mass,
};

/// Vectors of the corrector and of the error estimate.
pub(super) struct ErrorVectors {
    /// Correction of the velocity or of the position, or error of the position.
    pub error: Vec<f64>,
    /// The part of an error that its projection removes, up to its sign; empty without constraints.
    pub removed: Vec<f64>,
}

impl ErrorVectors {
    pub fn new(size: &Dimensions) -> Self {
        let nv = || vec![0.0; size.nv];
        Self {
            error: nv(),
            removed: vec![0.0; if size.nc > 0 { size.nv } else { 0 }],
        }
    }
}

/// Norms of the corrections of one pass: ‖Dq‖, ‖Dv‖.
struct Pass {
    dq: f64,
    dv: f64,
    /// ‖Dq‖ + h ‖Dv‖ before the projections.
    unprojected: f64,
    /// ‖Dq − P Dq‖ where constraints move.
    hidden: f64,
}

/// The passes of one correction.
pub(super) struct Passes {
    first: Pass,
    /// The second and all further ones.
    second: Pass,
    /// ‖Dq‖ + h ‖Dv‖ of the first and the second pass.
    moved: [f64; 2],
    /// Corrections below this are rounding or leftovers of projections.
    rounding: f64,
    /// Corrections below this do not show a contraction.
    noise: f64,
}

impl Passes {
    /// ‖Dv‖ of the first pass: what the predictor missed.
    pub fn missed_velocity(&self) -> f64 {
        self.first.dv
    }

    /// They contract by less than `slowest`, and what they leave is not rounding. NaN is no contraction.
    pub fn are_slow(&self, slowest: f64) -> bool {
        let [d1, d2] = self.moved;
        !(d2 <= slowest * d1) && !(d2 <= self.rounding)
    }

    /// Ratio of the second correction to the first; zero where they are too small to show one.
    pub fn contraction(&self) -> f64 {
        let [d1, d2] = self.moved;
        if d2 <= self.noise { 0.0 } else { d2 / d1 }
    }
}

/// How the passes of one correction are made.
pub(super) struct PassOptions<'a> {
    /// The weights of the sixth-order formula, if it is used.
    pub weights: Option<&'a HermiteWeights>,
    /// Guesses of accelerations and jerks for the first pass and for the others.
    pub guesses: [[InitialGuess; 2]; 2],
    /// Contraction up to which further passes are made.
    pub slowest: f64,
    /// Part of the tolerance that they may leave of their fixed point.
    pub left: f64,
}

/// Outcome of the corrector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Correction {
    /// The trial is corrected. The error of the HHT step, and the part of it that moving constraints hide.
    Kept {
        error: f64,
        hidden: f64,
        contraction: f64,
    },
    /// The passes do not contract: the trial must be reset to the HHT result. `moved` is the correction of the first one.
    Stiff { contraction: f64, moved: f64 },
}

impl Workspace {
    /// Corrects the trial. `plain` is a copy of the HHT result, and gets its jerk. Factorises the mass matrix at the HHT result.
    pub fn correct(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        plain: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<Correction, StepFailure> {
        self.factorise_mass(p, y.t, &y.q, &y.v)?;
        // From the equations at (q₁, v₁): the accelerations of the HHT step have an O(h²) error of the index-3 form.
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        let exact = [ACCELERATION_RESIDUAL, JERK_RESIDUAL];
        let (rough, from): (_, fn(f64) -> InitialGuess) = match self.size.nv + self.size.nc > LONG {
            true => (self.between_passes(), InitialGuess::Nearby),
            false => (exact, InitialGuess::Nothing),
        };
        let guess = InitialGuess::Nothing(rough[0]);
        self.accelerations_from(p, PhasePoint { t: *t, q, v }, guess, acc, lambda, stats)?;
        self.end_jerk(p, y, InitialGuess::Nothing(rough[1]), stats)?;
        plain.jerk.copy_from_slice(&y.jerk);
        plain.jerk_known = true;
        let ratio = s.h / y.h;
        let sixth = s.previous_known
            && ratio >= SMALLEST_RATIO
            && !y.amplifies_rounding(s)
            && self.settings.integrator != IntegratorName::Hht;
        let weights = sixth.then(|| HermiteWeights::new(ratio));
        let weights = weights.as_ref();
        let options = PassOptions {
            weights,
            guesses: [rough.map(from), exact.map(from)],
            slowest: STIFF,
            left: LEFT_BY_PASSES,
        };
        let passes = self.passes(p, s, y, &options, stats)?;
        if passes.are_slow(STIFF) {
            let [moved, next] = passes.moved;
            return Ok(Correction::Stiff {
                contraction: next / moved,
                moved,
            });
        }
        let contraction = passes.contraction();
        let Passes { first, second, .. } = passes;
        // Outputs and work are interpolated to fourth order: the error that moving constraints hide is that of this order.
        let hidden = if weights.is_some() && self.character.moving_constraints && self.size.nc > 0 {
            self.hermite_defect(p, s, y);
            self.project_error(p, s, y)?;
            self.removed_norm(p, s, y)
        } else {
            first.hidden
        };
        self.set_algorithmic_acceleration(s, y);
        set_history(s, y);
        let (omega, typical) = self.frequency_and_step(p, s, y);
        y.growth = (typical / y.h).max(exp(y.h * omega));
        // The corrections of both passes together are the error of the HHT step.
        let (dq, dv) = (first.dq + second.dq, first.dv + second.dv);
        self.set_motion_time(p, s, y, omega);
        Ok(Correction::Kept {
            error: hypot(dq, dv * self.velocity_weight(s, y, omega)),
            hidden,
            contraction,
        })
    }

    /// Passes until what they leave of their fixed point is far below the tolerance: two, more where they contract slowly.
    pub(super) fn passes(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        options: &PassOptions,
        stats: &mut Statistics,
    ) -> Result<Passes, StepFailure> {
        let PassOptions {
            weights,
            guesses,
            slowest,
            left: allowed,
        } = *options;
        let first = self.pass(p, s, y, weights, guesses[0], stats)?;
        let mut second = self.pass(p, s, y, weights, guesses[1], stats)?;
        let [d1, d2] = [&first, &second].map(|pass| pass.dq + y.h * pass.dv);
        if d2 <= slowest * d1 && self.control.fixed().is_none() {
            let mut left = d2 * d2 / d1;
            let mut count = 0;
            while left > allowed * self.settings.tolerance && count < FURTHER_PASSES {
                let further = self.pass(p, s, y, weights, guesses[1], stats)?;
                (second.dq, second.dv) = (second.dq + further.dq, second.dv + further.dv);
                left = (further.dq + y.h * further.dv) * d2 / d1;
                count += 1;
            }
        }
        let rounding = (CORRECTION_ROUNDING * p.system.coordinate_magnitude(&y.q))
            .max(PROJECTION_LEFTOVER * second.unprojected);
        Ok(Passes {
            first,
            second,
            moved: [d1, d2],
            rounding,
            noise: rounding.max(CONTRACTION_NOISE * self.settings.tolerance),
        })
    }

    /// Residuals of accelerations and jerks that only the next pass uses. It multiplies them by h/2 and h²/12, far below the
    /// tolerance.
    fn between_passes(&self) -> [f64; 2] {
        let tol = (1e-4 * self.settings.tolerance).clamp(ACCELERATION_RESIDUAL, BETWEEN_PASSES);
        [tol, (10.0 * tol).max(JERK_RESIDUAL)]
    }

    /// One pass. `guesses` are those of the accelerations and jerks at its end.
    fn pass(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        weights: Option<&HermiteWeights>,
        guesses: [InitialGuess; 2],
        stats: &mut Statistics,
    ) -> Result<Pass, StepFailure> {
        let h = y.h;
        // The velocity first: with the position first the passes amplify every oscillation.
        self.velocity_defect(s, y, weights);
        let [unprojected_v, dv] = self.project_error(p, s, y)?;
        for i in 0..y.v.len() {
            y.v[i] += self.errors.error[i];
        }
        match weights {
            Some(w) => self.hermite6_defect(p, s, y, w),
            None => self.hermite_defect(p, s, y),
        }
        let [unprojected_q, dq] = self.project_error(p, s, y)?;
        let hidden = self.removed_norm(p, s, y);
        p.system
            .retract(&y.q, &self.errors.error, &mut self.evaluation.q);
        y.q.copy_from_slice(&self.evaluation.q);
        if self.size.nc > 0 {
            let closed = self
                .close_position(p, y.t, &mut y.q, &y.v, &CLOSURE, &mut [])
                .map_err(|failure| failure.of_step(OPEN_AFTER_STEP))?;
            y.redundant_residual = closed.redundant_residual;
        }
        {
            let cx = self.inputs.at(p, y.t);
            self.mass_matrix
                .load_mass(&self.sparsity, p.system, &cx, &y.q, &y.v)?;
        }
        if self.size.nc > 0 {
            self.project_velocity(p, y.t, &y.q, &mut y.v, STEP_PROJECTION);
        }
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        self.accelerations_from(
            p,
            PhasePoint { t: *t, q, v },
            guesses[0],
            acc,
            lambda,
            stats,
        )?;
        self.end_jerk(p, y, guesses[1], stats)?;
        Ok(Pass {
            dq,
            dv,
            unprojected: unprojected_q + h * unprojected_v,
            hidden,
        })
    }

    /// `errors.error` = v₀ + h/2 (q̈₀ + q̈₁) − h²/12 (j₁ − j₀) − v₁, or the same with the sixth-order formula.
    pub(super) fn velocity_defect(
        &mut self,
        s: &State,
        y: &Trial,
        weights: Option<&HermiteWeights>,
    ) {
        let h = y.h;
        match weights {
            Some(w) => {
                for i in 0..y.v.len() {
                    self.errors.error[i] = s.v[i] + h * weighted(&w.velocity, i, s, y) - y.v[i];
                }
            }
            None => {
                let h12 = h * h / 12.0;
                for i in 0..y.v.len() {
                    self.errors.error[i] = s.v[i] + 0.5 * h * (s.acc[i] + y.acc[i])
                        - h12 * (y.jerk[i] - s.jerk[i])
                        - y.v[i];
                }
            }
        }
    }

    /// `errors.error` = log( q₁⁻¹ ∘ q₀ ∘ ( h/2 (v₀ + v₁) − h²/12 (q̈₁ − q̈₀) + h²/12 [v₀, v₁] ) ), the defect of the Hermite
    /// formula on the ends of the step.
    pub fn hermite_defect(&mut self, p: &Problem, s: &State, y: &Trial) {
        let h12 = y.h * y.h / 12.0;
        let w = &mut self.evaluation.displacement;
        if self.character.rotations {
            p.system.bracket(&s.v, &y.v, w);
        } else {
            w.fill(0.0);
        }
        for i in 0..w.len() {
            w[i] = 0.5 * y.h * (s.v[i] + y.v[i]) - h12 * (y.acc[i] - s.acc[i] - w[i]);
        }
        p.system.retract(&s.q, w, &mut self.evaluation.q);
        p.system
            .difference(&y.q, &self.evaluation.q, &mut self.errors.error);
    }

    /// The defect of the sixth-order formula on the ends of the step:
    /// ```text
    ///   Θ = h/2 (v₀ + v₁) + h² Σ w x + Ω,   Ω = 1/240 [ a₂ + C₂, −20 a₁ − a₃ + C₁ ]
    ///   a₁ = h A₂,  a₂ = √15/3 h (A₃ − A₁),  a₃ = 10/3 h (A₃ − 2 A₂ + A₁),  C₁ = [a₂, a₁],  C₂ = −1/60 [2 a₃ + C₁, a₁]
    /// ```
    /// with A₁, A₂, A₃ the rates at the Gauss points.
    fn hermite6_defect(&mut self, p: &Problem, s: &State, y: &Trial, weights: &HermiteWeights) {
        let h = y.h;
        let n = y.v.len();
        let EvaluationVectors {
            q,
            displacement: theta,
            v: a1,
            acc: a2,
            force: a3,
            inertia: c1,
            ..
        } = &mut self.evaluation;
        let c2 = &mut self.errors.error;
        if self.character.rotations {
            for i in 0..n {
                let a = [0, 1, 2].map(|k| s.v[i] + h * weighted(&weights.rates[k], i, s, y));
                a1[i] = h * a[1];
                a2[i] = 15.0_f64.sqrt() / 3.0 * h * (a[2] - a[0]);
                a3[i] = 10.0 / 3.0 * h * (a[2] - 2.0 * a[1] + a[0]);
            }
            // [x, y] of the expansion is −x × y for rates in body axes: the arguments are exchanged.
            p.system.bracket(a2, a1, c1);
            for i in 0..n {
                theta[i] = 2.0 * a3[i] + c1[i];
            }
            p.system.bracket(theta, a1, c2);
            for i in 0..n {
                a2[i] -= c2[i] / 60.0;
                a1[i] = -20.0 * a1[i] - a3[i] + c1[i];
            }
            p.system.bracket(a2, a1, theta);
        } else {
            theta.fill(0.0);
        }
        for i in 0..n {
            theta[i] = theta[i] / 240.0
                + 0.5 * h * (s.v[i] + y.v[i])
                + h * h * weighted(&weights.displacement, i, s, y);
        }
        p.system.retract(&s.q, theta, q);
        p.system.difference(&y.q, q, &mut self.errors.error);
    }

    /// Norm of `errors.removed`, the part of an error that its projection has removed; zero unless constraints move.
    pub fn removed_norm(&mut self, p: &Problem, s: &State, y: &Trial) -> f64 {
        if !self.character.moving_constraints {
            return 0.0;
        }
        let cx = self.inputs.at(p, y.t);
        p.system.norm(&cx, &y.q, &s.scale, &self.errors.removed)
    }

    /// Projects `errors.error` onto the tangent space, e ← P e. Returns its norm before and after.
    pub(super) fn project_error(
        &mut self,
        p: &Problem,
        s: &State,
        y: &Trial,
    ) -> Result<[f64; 2], StepFailure> {
        let before = self.error_norm(p, s, y)?;
        if self.size.nc > 0 {
            let Self {
                errors: ErrorVectors { error, removed, .. },
                projection,
                mass_matrix,
                sparsity,
                counts,
                ..
            } = self;
            let (r, multipliers) = (&mut projection.residual, &mut projection.multipliers);
            mass_matrix.jacobian_times(sparsity, error, r);
            for r in r.iter_mut() {
                *r = -*r;
            }
            mass_matrix.minimum_norm_correction_here(
                sparsity,
                &CorrectionTarget {
                    rate: r,
                    computed_from: &[],
                    tolerance: TANGENT_PROJECTION,
                    limit: PassLimit::STEP,
                },
                removed,
                multipliers,
                counts,
            );
            for i in 0..error.len() {
                error[i] += removed[i];
            }
        }
        Ok([before, self.error_norm(p, s, y)?])
    }

    /// Norm of `errors.error`; the step fails if it is not finite.
    fn error_norm(&mut self, p: &Problem, s: &State, y: &Trial) -> Result<f64, StepFailure> {
        let cx = self.inputs.at(p, y.t);
        let error = &self.errors.error;
        let norm = p.system.norm(&cx, &y.q, &s.scale, error);
        if norm.is_finite() {
            Ok(norm)
        } else {
            Err(StepFailure::NotFinite(Culprit::Coordinate(largest(error))))
        }
    }
}

/// Σ w x of coordinate `i`, x = (q̈₋₁, h j₋₁, q̈₀, h j₀, q̈₁, h j₁).
fn weighted(w: &[f64; 6], i: usize, s: &State, y: &Trial) -> f64 {
    w[0] * s.previous_acc[i]
        + w[2] * s.acc[i]
        + w[4] * y.acc[i]
        + y.h * (w[1] * s.previous_jerk[i] + w[3] * s.jerk[i] + w[5] * y.jerk[i])
}
