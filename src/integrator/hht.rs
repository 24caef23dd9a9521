//! The Hilber-Hughes-Taylor method in jerk form, alone or as predictor of the corrector.
//!
//! ```text
//!   β = (1+α)²/4,   γ = 1/2 + α,   0 ≤ α ≤ 1/3
//!   x = h δ₁,  δ₁ = (a₁ − a₀)/h                         a: algorithmic acceleration, the true one at t − α h
//!   Θ  = h v₀ + h²/2 a₀ + β h² x,   q₁ = q₀ ∘ Θ         (26), (28)
//!   v₁ = v₀ + h a₀ + γ h x
//!   q̈₁ = (a₀ + x − α q̈₀)/(1−α)                          (27): M(q₁) q̈₁ + G₁ᵀλ₁ = f(q₁, v₁, t₁)
//! ```

use super::corrector::Correction;
use super::error_estimate::max;
use super::hermite::SMALLEST_RATIO;
use super::method::Method;
use super::newton;
use super::state::{State, Statistics};
use super::trial::{SlowContraction, StepFailure, Trial, TrialOptions};
use super::workspace::{Problem, Workspace};
use crate::formulation::system::System;
use crate::model::{Corrector, IntegratorName, SolverSettings};

/// Consecutive stiff steps after which the corrector is suspended.
const STIFF_STEPS: u32 = 3;
/// Length of its first suspension (steps), doubled each time up to 32-fold.
const SUSPENSION: u32 = 8;
/// Length of the first suspension of the smooth path (steps), doubled likewise.
const SMOOTH_SUSPENSION: u32 = 4;
/// Contraction at which a step that was too long for the corrector is repeated.
const WANTED_CONTRACTION: f64 = 0.1;
/// Contraction that no shortening within the limits of a step brings down.
const HOPELESS: f64 = 1e3;
/// Corrections below this part of the tolerance need not contract.
const NEGLIGIBLE: f64 = 1e-2;

/// Part of the tolerance below which the error of HHT in a step says that HHT would take a longer one: the smooth path saves
/// nothing. Its steps are about three times as long as those of HHT, with errors of HHT of some ten tolerances.
const WORTH_IT: f64 = 0.1;

/// HHT with its corrector and its error estimate, as a method of the step loop.
pub(super) struct HhtMethod {
    /// The uncorrected end of the step, in case the corrector fails.
    uncorrected: Trial,
    corrector: Corrector,
    /// The system has dependent coordinates, whose error the estimate does not contain.
    has_dependent_coordinates: bool,
}

impl HhtMethod {
    pub fn new(system: &dyn System, settings: &SolverSettings) -> Self {
        Self {
            uncorrected: match settings.corrector {
                Corrector::Auto => Trial::result(&system.dimensions()),
                Corrector::Off => Trial::default(),
            },
            corrector: settings.corrector,
            has_dependent_coordinates: system.partitioning().is_some(),
        }
    }

    /// The motion has been smooth for a step, the last one is long enough to predict this one, and HHT would not do with a longer
    /// one.
    fn is_smooth(&self, work: &mut Workspace, p: &Problem, s: &State, y: &Trial) -> bool {
        work.settings.integrator == IntegratorName::Auto
            && self.corrector == Corrector::Auto
            && work.control.fixed().is_none()
            && s.previous_known
            && s.jerk_known
            && s.h >= SMALLEST_RATIO * y.h
            && s.corrector_suspension == 0
            && s.stiff_steps == 0
            && s.smooth_suspension == 0
            && work.predicted_hht_error(p, s, y.h) >= WORTH_IT * work.settings.tolerance
    }

    /// The larger one of the estimated `error`, over the tolerance, and the error that constraints hide.
    fn total_error(
        &self,
        work: &mut Workspace,
        p: &Problem,
        s: &State,
        y: &Trial,
        [error, hidden]: [f64; 2],
    ) -> Result<f64, StepFailure> {
        let dependent = match self.has_dependent_coordinates {
            true => work.dependent_error(p, s, y)?,
            false => 0.0,
        };
        let hidden = work.hidden_over_tolerance(max(hidden, dependent));
        Ok(max(work.over_tolerance(error, y.h), hidden))
    }
}

impl Method for HhtMethod {
    fn trial_step(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        s: &State,
        options: TrialOptions,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        if self.is_smooth(work, p, s, y) {
            match work.smooth_step(p, s, options, y, stats) {
                Ok(Correction::Kept { error, hidden, .. }) => {
                    (y.corrected, y.jerk_known, y.smooth) = (true, true, true);
                    y.growth = y.growth.min(work.smooth_growth(error, y.h));
                    let error = work.smooth_over_limit(error, y.h);
                    let hidden = self.total_error(work, p, s, y, [0.0, hidden])?;
                    return Ok(max(error, hidden));
                }
                Err(failure) if failure.is_fatal() || failure == StepFailure::NearSingular => {
                    return Err(failure);
                }
                Err(_) => y.smooth_failed = true,
                Ok(Correction::Stiff { .. }) => {}
            }
        }
        work.hht_step(p, s, options, y, stats)?;
        if self.corrector == Corrector::Auto && s.jerk_known && s.corrector_suspension == 0 {
            self.uncorrected.copy_point(y);
            match work.correct(p, s, y, &mut self.uncorrected, stats) {
                Ok(Correction::Kept {
                    error,
                    hidden,
                    contraction,
                }) => {
                    (y.corrected, y.jerk_known) = (true, true);
                    work.limit_by_contraction(y, error, contraction);
                    return self.total_error(work, p, s, y, [error, hidden]);
                }
                Err(failure) if failure.is_fatal() => return Err(failure),
                outcome => {
                    if rejects(work, s, y, &options) {
                        match outcome {
                            Ok(Correction::Stiff { contraction, moved })
                                if moved >= NEGLIGIBLE * work.settings.tolerance
                                    && contraction <= HOPELESS =>
                            {
                                let ratio = (WANTED_CONTRACTION / contraction).sqrt();
                                return Err(StepFailure::SlowContraction {
                                    ratio: ratio.clamp(0.25, 0.7),
                                });
                            }
                            Err(failure) => return Err(failure),
                            _ => {}
                        }
                    }
                    y.copy_point(&self.uncorrected);
                    work.reload_jacobian(p, y);
                }
            }
        }
        work.complete_hht_step(p, s, y)?;
        work.note_uncorrected_motion_time(p, s, y);
        let error = work.hht_error(p, s, y);
        let hidden = work.hidden_error(p, s, y);
        self.total_error(work, p, s, y, [error, hidden])
    }

    fn worst_coordinate(&self, y: &Trial) -> usize {
        newton::largest(&y.delta)
    }

    fn avoids_singularities(&self) -> bool {
        true
    }

    fn updates_redundancy(&self) -> bool {
        true
    }

    /// The jerk at the end, if the corrector may need it in the next step.
    fn complete_accepted(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        stats: &mut Statistics,
    ) {
        if self.corrector == Corrector::Auto && !y.jerk_known && s.corrector_suspension <= 1 {
            work.jerk_at_end(p, y, stats);
        }
    }

    /// Suspends the corrector after steps that it could not correct, and the smooth path after one whose passes did not contract.
    fn note_accepted(&self, s: &mut State, y: &Trial) {
        if y.smooth {
            s.smooth_failures = 0;
        } else if y.smooth_failed {
            s.smooth_suspension = SMOOTH_SUSPENSION << s.smooth_failures.min(5);
            s.smooth_failures = s.smooth_failures.saturating_add(1);
        } else {
            s.smooth_suspension = s.smooth_suspension.saturating_sub(1);
        }
        if s.corrector_suspension > 0 {
            s.corrector_suspension -= 1;
        } else if y.corrected && !(y.stiffness_limits && s.stiff_steps < STIFF_STEPS) {
            s.stiff_steps = 0;
        } else if self.corrector == Corrector::Auto && !y.amplifies_rounding(s) {
            s.stiff_steps += 1;
            if s.stiff_steps >= STIFF_STEPS {
                s.corrector_suspension = SUSPENSION << (s.stiff_steps - STIFF_STEPS).min(5);
            }
        }
    }
}

/// A trial that the corrector could not correct is rejected: the system has not been found stiff yet.
fn rejects(work: &Workspace, s: &State, y: &Trial, options: &TrialOptions) -> bool {
    options.slow_contraction == SlowContraction::Reject
        && work.control.fixed().is_none()
        && s.stiff_steps < STIFF_STEPS
        && !y.amplifies_rounding(s)
}

/// The coefficients for one α.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hht {
    /// Numerical dissipation, 0 .. 1/3.
    pub alpha: f64,
    /// (1+α)²/4
    pub beta: f64,
    /// 1/2 + α
    pub gamma: f64,
    /// Position error of a step is `cq h³ q‴`.
    pub cq: f64,
    /// Velocity error of a step is `cv h³ q⁗`.
    pub cv: f64,
}

impl Hht {
    /// The coefficients for a dissipation α.
    pub fn new(alpha: f64) -> Self {
        Self {
            alpha,
            beta: 0.25 * (1.0 + alpha) * (1.0 + alpha),
            gamma: 0.5 + alpha,
            cq: 1.0 / 12.0 + 0.25 * alpha * alpha,
            cv: 1.0 / 12.0 + 0.5 * alpha - alpha * alpha,
        }
    }

    /// Shifts the algorithmic acceleration from t − α h₀ to t − α h, `ã = a + α (h₀ − h) δ₀`, so that the method keeps order 2
    /// when h changes.
    pub fn shift(&self, a: &[f64], delta: &[f64], h0: f64, h: f64, out: &mut [f64]) {
        let c = self.alpha * (h0 - h);
        for i in 0..a.len() {
            out[i] = a[i] + c * delta[i];
        }
    }

    /// Θ, v₁ and q̈₁ from x, v₀, ã and q̈₀; ã is the shifted algorithmic acceleration.
    pub fn advance(
        &self,
        h: f64,
        (v0, at, acc0): (&[f64], &[f64], &[f64]),
        x: &[f64],
        (theta, v1, acc1): (&mut [f64], &mut [f64], &mut [f64]),
    ) {
        let Self {
            alpha, beta, gamma, ..
        } = *self;
        for i in 0..x.len() {
            theta[i] = h * (v0[i] + h * (0.5 * at[i] + beta * x[i]));
            v1[i] = v0[i] + h * (at[i] + gamma * x[i]);
            acc1[i] = (at[i] + x[i] - alpha * acc0[i]) / (1.0 - alpha);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_motion_misses_by_the_error_constants() {
        // q = t³ + t⁴ about t₀ = 0.7; the algorithmic acceleration of exact ones: a₁ = (1−α) q̈₁ + α q̈₀, the same a step before.
        for alpha in [0.0, 0.05, 0.1, 1.0 / 3.0] {
            let m = Hht::new(alpha);
            let q = |t: f64| t.powi(3) + t.powi(4);
            let v = |t: f64| 3.0 * t.powi(2) + 4.0 * t.powi(3);
            let a = |t: f64| 6.0 * t + 12.0 * t.powi(2);
            let (t0, h) = (0.7, 1e-3);
            let algorithmic = |t: f64| (1.0 - alpha) * a(t) + alpha * a(t - h);
            let at = [algorithmic(t0)];
            let x = [algorithmic(t0 + h) - at[0]];
            let (mut theta, mut v1, mut acc1) = ([0.0], [0.0], [0.0]);
            m.advance(
                h,
                (&[v(t0)], &at, &[a(t0)]),
                &x,
                (&mut theta, &mut v1, &mut acc1),
            );
            let third = 6.0 + 24.0 * t0;
            let position = (theta[0] - (q(t0 + h) - q(t0))) / (h.powi(3) * third);
            let velocity = (v1[0] - v(t0 + h)) / (h.powi(3) * 24.0);
            // The next term of the expansion is O(h) relative.
            assert!(
                (position - m.cq).abs() < 2e-3,
                "{alpha} {position} {}",
                m.cq
            );
            assert!(
                (velocity - m.cv).abs() < 2e-3,
                "{alpha} {velocity} {}",
                m.cv
            );
        }
    }
}
