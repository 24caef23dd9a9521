//! The smooth path: a predictor from accelerations and jerks, then the passes of the sixth-order corrector. No Newton iteration.
//!
//! ```text
//!   r = h₀/h;   the cubic through q̈, j at t₋₁ and t₀ gives q̈_p and v_p at t₁
//!   Θ_p = h/2 (v₀ + v_p) − h²/12 (q̈_p − q̈₀) + h²/12 [v₀, v_p],   q_p = q₀ ∘ Θ_p
//!   error: the formula of order four minus that of order six, at the end of the step
//! ```
//!
//! The estimate is that of the first paper one order up: a difference of accelerations and of their derivatives, at no further
//! evaluation. The value delivered is the better one. Where the jerk jumps the difference can vanish by chance: what the predictor
//! missed in velocity, over its own error constant, does not.

use super::accelerations::InitialGuess;
use super::corrector::{
    CONTRACTS, Correction, LEFT_BY_PASSES, MEASURED_ROUNDING, left_in_motion_time,
};
use super::corrector_pass::{EndBeforePass, Pass};
use super::error_estimate::max;
use super::hermite::HermiteWeights;
use super::hht_step::set_history;
use super::singularity::{is_near_singular, position_pivot};
use super::state::{State, Statistics};
use super::tolerances::{ACCELERATION_RESIDUAL, JERK_RESIDUAL};
use super::trial::{NearSingular, StepFailure, Trial, TrialOptions};
use super::workspace::{Problem, Workspace};
use crate::linalg::elementary::hypot;

/// Order of the local error that the estimate measures.
pub(super) const SMOOTH_ORDER: f64 = 5.0;

/// Passes, at most.
const PASSES: usize = 6;
/// Corrections below this part of the tolerance are too small to measure a contraction.
const CONTRACTION_NOISE: f64 = 4e-6;
/// Corrections below this (in the error norm) are rounding errors, not a sign of stiffness.
const CORRECTION_ROUNDING: f64 = 1e-13;

/// HHT takes the step, and measures its own contraction.
const STIFF: Correction = Correction::Stiff {
    contraction: 1.0,
    moved: f64::INFINITY,
};

/// Norms of one pass: what it has changed in position and velocity, and what the next would change.
struct SmoothPass {
    moved: [f64; 2],
    left: [f64; 2],
}

/// The passes of a step.
struct SmoothPasses {
    /// What the predictor missed in velocity.
    missed_velocity: f64,
    /// Ratio of successive corrections; zero where they are too small to show one.
    contraction: f64,
}

/// Weights of (q̈₋₁, h j₋₁, q̈₀, h j₀) for q̈_p and for (v_p − v₀)/h.
fn predictor(r: f64) -> [[f64; 4]; 2] {
    let (r2, r3, p) = (r * r, r * r * r, r + 1.0);
    [
        [
            (3.0 * r + 2.0) / r3,
            p / r2,
            (r - 2.0) * p * p / r3,
            p * p / r2,
        ],
        [
            (2.0 * r + 1.0) / (2.0 * r3),
            (4.0 * r + 3.0) / (12.0 * r2),
            (2.0 * r3 - 2.0 * r - 1.0) / (2.0 * r3),
            (6.0 * r2 + 8.0 * r + 3.0) / (12.0 * r2),
        ],
    ]
}

/// Ratio of the velocity error of order four, h⁵ a⁗/720, to that of the predictor, ∫ s² (s + r)² ds h⁵ a⁗/24.
fn order_four_part(r: f64) -> f64 {
    1.0 / (6.0 + 15.0 * r + 10.0 * r * r)
}

impl Workspace {
    /// One trial on the smooth path. Its failure says nothing about the motion: HHT takes the step.
    pub fn smooth_step(
        &mut self,
        p: &Problem,
        s: &State,
        options: TrialOptions,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<Correction, StepFailure> {
        self.predict_smooth(p, s, y);
        let pivots = self.factorise_mass(p, y.t, &y.q, &y.v)?;
        y.pivot = position_pivot(pivots.smallest_constraint, p.system, &y.q);
        if y.amplifies_rounding(s) {
            // Differences of jerks are rounding here.
            return Ok(STIFF);
        }
        if options.near_singular == NearSingular::Reject && is_near_singular(y.pivot, s) {
            return Err(StepFailure::NearSingular);
        }
        let weights = HermiteWeights::new(s.h / y.h);
        let Some(passes) = self.smooth_passes(p, s, y, &weights, stats)? else {
            y.smooth_failed = true;
            return Ok(STIFF);
        };
        self.method.shift(&s.a, &s.delta, s.h, y.h, &mut y.at);
        self.set_algorithmic_acceleration(s, y);
        set_history(s, y);
        (y.newton_contraction, y.contraction_uses) = (f64::INFINITY, 0);
        let (omega, _) = self.frequency_and_step(p, s, y);
        self.set_motion_time(p, s, y, omega);
        let weight = self.velocity_weight(s, y, omega);
        let [dq, dv, hidden] = self.order_four_defects(p, s, y)?;
        let dv = max(dv, order_four_part(s.h / y.h) * passes.missed_velocity);
        self.limit_smooth_growth(p, s, y, passes.contraction);
        Ok(Correction::Kept {
            error: hypot(dq, weight * dv),
            hidden,
            contraction: passes.contraction,
        })
    }

    /// Evaluates at the predicted point and repeats passes until the next would change nothing that counts; `None` if they do not
    /// contract.
    fn smooth_passes(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        weights: &HermiteWeights,
        stats: &mut Statistics,
    ) -> Result<Option<SmoothPasses>, StepFailure> {
        self.evaluate_smooth_end(p, y, stats)?;
        let magnitude = p.system.coordinate_magnitude(&y.q);
        let rounding = CORRECTION_ROUNDING * magnitude;
        let tolerance = self.settings.tolerance;
        let noise = (CONTRACTION_NOISE * tolerance).max(MEASURED_ROUNDING * magnitude);
        let mut result: Option<SmoothPasses> = None;
        let mut first_ratio = None;
        for _ in 0..PASSES {
            let pass = self.smooth_pass(p, s, y, weights, stats)?;
            let [moved, left] = [pass.moved, pass.left].map(|[dq, dv]| dq + y.h * dv);
            let stays = left_in_motion_time(s, y.h, pass.left);
            // NaN is no contraction.
            let contracts = left <= CONTRACTS * moved;
            if !contracts && !(left <= rounding) {
                return Ok(None);
            }
            let ratio = left / moved;
            let passes = result.get_or_insert(SmoothPasses {
                missed_velocity: pass.moved[1],
                contraction: if moved <= noise { 0.0 } else { ratio },
            });
            // Below the noise a second pass has to show it.
            match first_ratio {
                Some(first) if passes.contraction == 0.0 && contracts => passes.contraction = first,
                Some(_) => {}
                None => first_ratio = Some(ratio),
            }
            if !contracts || stays <= LEFT_BY_PASSES * tolerance {
                break;
            }
        }
        Ok(result)
    }

    /// One pass: the formula of order six with the accelerations and jerks found last, then those of the new end.
    fn smooth_pass(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        weights: &HermiteWeights,
        stats: &mut Statistics,
    ) -> Result<SmoothPass, StepFailure> {
        self.before_pass.acc.copy_from_slice(&y.acc);
        self.before_pass.jerk.copy_from_slice(&y.jerk);
        let Pass { dq, dv, .. } = self.correct_end(p, s, y, Some(weights))?;
        self.evaluate_smooth_end(p, y, stats)?;
        Ok(SmoothPass {
            moved: [dq, dv],
            left: self.next_correction(p, s, y, weights)?,
        })
    }

    /// Accelerations, multipliers and jerks at the end of the trial, which holds guesses of the first two.
    fn evaluate_smooth_end(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        self.end_accelerations(p, y, InitialGuess::Nearby(ACCELERATION_RESIDUAL), stats)?;
        self.end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)
    }

    /// What the formula gives for the change of accelerations and jerks in a pass: the correction of the next one, but for its
    /// projection.
    fn next_correction(
        &mut self,
        p: &Problem,
        s: &State,
        y: &Trial,
        weights: &HermiteWeights,
    ) -> Result<[f64; 2], StepFailure> {
        let h = y.h;
        let change = |w: &[f64; 6], before: &EndBeforePass, i: usize| {
            h * (w[4] * (y.acc[i] - before.acc[i]) + h * w[5] * (y.jerk[i] - before.jerk[i]))
        };
        for i in 0..y.v.len() {
            self.errors.error[i] = change(&weights.velocity, &self.before_pass, i);
        }
        let dv = self.error_norm(p, s, y)?;
        for i in 0..y.v.len() {
            self.errors.error[i] = h
                * (0.5 * self.errors.error[i]
                    + change(&weights.displacement, &self.before_pass, i));
        }
        Ok([self.error_norm(p, s, y)?, dv])
    }

    /// Sets q_p, v_p, q̈_p and λ_p.
    fn predict_smooth(&mut self, p: &Problem, s: &State, y: &mut Trial) {
        let h = y.h;
        let [acceleration, velocity] = predictor(s.h / h);
        for i in 0..y.v.len() {
            let x = [
                s.previous_acc[i],
                h * s.previous_jerk[i],
                s.acc[i],
                h * s.jerk[i],
            ];
            let sum = |w: &[f64; 4]| w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * x[3];
            y.acc[i] = sum(&acceleration);
            y.v[i] = s.v[i] + h * sum(&velocity);
        }
        for i in 0..y.lambda.len() {
            y.lambda[i] = s.lambda[i] + h * s.lambda_dot[i];
        }
        let theta = &mut self.evaluation.displacement;
        if self.character.rotations {
            p.system.bracket(&s.v, &y.v, theta);
        } else {
            theta.fill(0.0);
        }
        let h12 = h * h / 12.0;
        for i in 0..theta.len() {
            theta[i] = 0.5 * h * (s.v[i] + y.v[i]) - h12 * (y.acc[i] - s.acc[i] - theta[i]);
        }
        p.system.retract(&s.q, theta, &mut y.q);
    }

    /// ‖Dq‖ and ‖Dv‖ of the formula of order four at the end of the step, and the part of Dq that moving constraints hide.
    fn order_four_defects(
        &mut self,
        p: &Problem,
        s: &State,
        y: &Trial,
    ) -> Result<[f64; 3], StepFailure> {
        self.velocity_defect(s, y, None);
        let dv = self.project_error(p, s, y)?;
        self.hermite_defect(p, s, y);
        let dq = self.project_error(p, s, y)?;
        let hidden = self.removed_norm(p, s, y);
        Ok([dq, dv, hidden])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_predictor_is_exact_for_cubic_accelerations() {
        // q̈ = 1 − 2 s + 3 s² − s³ at s = −r, 0 with h = 1.
        let a = |s: f64| 1.0 - 2.0 * s + 3.0 * s * s - s * s * s;
        let j = |s: f64| -2.0 + 6.0 * s - 3.0 * s * s;
        for r in [0.4, 1.0, 2.5] {
            let x = [a(-r), j(-r), a(0.0), j(0.0)];
            let [acceleration, velocity] =
                predictor(r).map(|w| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>());
            assert!((acceleration - a(1.0)).abs() < 1e-12, "{r} {acceleration}");
            assert!((velocity - 0.75).abs() < 1e-12, "{r} {velocity}");
        }
    }
}
