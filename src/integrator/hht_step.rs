//! The HHT step in its parts: Newton's iteration, position closure, projections, history.
//!
//! ```text
//!   history   a = (1−α) q̈₁ + α q̈₀,   δ = (a − ã)/h,   δ' = (δ − δ₀)/((h₀ + h)/2)
//! ```

use super::accelerations::{InitialGuess, JerkPoint};
use super::closure::{ClosureMatrix, ClosureOptions};
use super::state::{State, Statistics};
use super::tolerances::{JERK_RESIDUAL, OPEN_AFTER_STEP, REDUNDANT_RESIDUAL, STEP_CLOSURE};
use super::trial::{StepFailure, Trial, TrialOptions};
use super::workspace::{Problem, Workspace};
use crate::formulation::system::MotionPoint;

/// Closes what Newton's tolerance leaves open.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: STEP_CLOSURE,
    corrects_once: false,
    redundant_target: Some(REDUNDANT_RESIDUAL),
    give_up_above: OPEN_AFTER_STEP,
    stall_ratio: 0.5,
    patience: 0,
    limit: usize::MAX,
    matrix: ClosureMatrix::Step,
};

impl Workspace {
    /// Computes q₁, closed, and v₁, projected onto G v + Φ_t = 0.
    pub fn hht_step(
        &mut self,
        p: &Problem,
        s: &State,
        options: TrialOptions,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        self.newton(p, s, options, y, stats)?;
        if self.size.nc > 0 {
            let closed = self
                .close_position(p, y.t, &mut y.q, &y.v, &CLOSURE, &mut [])
                .map_err(|failure| failure.of_step(OPEN_AFTER_STEP))?;
            y.redundant_residual = closed.redundant_residual;
            if self.settings.projection {
                self.project_step_velocity(p, y, stats)?;
            }
        }
        Ok(())
    }

    /// Completes a step that is not corrected: its accelerations and its history.
    pub fn complete_hht_step(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
    ) -> Result<(), StepFailure> {
        if self.size.nc > 0 && self.settings.projection {
            self.project_step_acceleration(p, y)?;
            self.set_algorithmic_acceleration(s, y);
        } else {
            for i in 0..y.a.len() {
                y.a[i] = y.at[i] + y.x[i];
            }
        }
        set_history(s, y);
        for i in 0..y.lambda.len() {
            y.lambda_dot[i] = (y.lambda[i] - s.lambda[i]) / y.h;
        }
        Ok(())
    }

    /// Loads G at the end of the trial into the mass matrix, after a correction has been taken back.
    pub fn reload_jacobian(&mut self, p: &Problem, y: &Trial) {
        let cx = self.inputs.at(p, y.t);
        self.mass_matrix
            .load_jacobian(&self.sparsity, p.system, &cx, &y.q);
    }

    /// Solves for the jerk at the end of an accepted step that was not corrected, for the corrector of the next step. If that
    /// fails, the next step is not corrected.
    pub fn jerk_at_end(&mut self, p: &Problem, y: &mut Trial, stats: &mut Statistics) {
        // dλ/dt stays the difference of the step: that of a stiff system is no prediction.
        let mut lambda_dot = std::mem::take(&mut self.projection.multipliers);
        let at = MotionPoint {
            q: &y.q,
            v: &y.v,
            a: &y.acc,
            lambda: &y.lambda,
        };
        let point = JerkPoint { t: y.t, h: y.h, at };
        let guess = InitialGuess::Nothing(JERK_RESIDUAL);
        y.jerk_known = self.factorise_mass(p, y.t, &y.q, &y.v).is_ok()
            && self
                .jerk(p, &point, guess, &mut y.jerk, &mut lambda_dot, stats)
                .is_ok();
        self.projection.multipliers = lambda_dot;
    }

    /// a = (1−α) q̈₁ + α q̈₀
    pub fn set_algorithmic_acceleration(&self, s: &State, y: &mut Trial) {
        let alpha = self.method.alpha;
        for i in 0..y.a.len() {
            y.a[i] = (1.0 - alpha) * y.acc[i] + alpha * s.acc[i];
        }
    }
}

/// δ and δ' from the algorithmic accelerations.
pub(super) fn set_history(s: &State, y: &mut Trial) {
    for i in 0..y.a.len() {
        y.delta[i] = (y.a[i] - y.at[i]) / y.h;
        y.delta_dot[i] = (y.delta[i] - s.delta[i]) / (0.5 * (s.h + y.h));
    }
}
