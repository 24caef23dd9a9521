//! The local error of an HHT step, estimated from the derivatives of its accelerations.
//!
//! ```text
//!   calibrated   Eq = P[ Cq h³ δ − h³/12 [v, q̈] ],   Ev = P[ Cv h³ δ' ],   e = max(‖Eq‖, h ‖Ev‖)
//!                or, with corrector = "auto":                               e = max(T/h ‖Eq‖, T ‖Ev‖)
//!   seed         E = h³/24 (δ₁ − δ₀)                                          (31), (32) as printed
//! ```
//!
//! With T, the motion time (`motion_time`), the errors of the steps in the time T add up to one tolerance.
//!
//! P is the projector onto the tangent space; the bracket is the curvature of the rotation group.
//!
//! Prescribed motion has no error at the ends of a step, and P removes it from the estimate. Between the ends it has one:
//! outputs are interpolated and drives do work there. So where constraints move, the part of the Hermite defect D (see
//! `corrector`) that P removes must meet the tolerance too. It is of fifth order:
//! ```text
//!   e = max( e, (‖D − P D‖ / tolerance)^(k/5) )        k: order of the error in the controller
//! ```

use super::corrector::ErrorVectors;
use super::state::State;
use super::tolerances::TANGENT_PROJECTION;
use super::trial::{Culprit, StepFailure, Trial};
use super::workspace::{Problem, Workspace};
use crate::formulation::system::MotionPoint;
use crate::linalg::elementary::powf;
use crate::model::{Corrector, EstimateName};

/// Part of the tolerance, over the step, by which the velocities of dependent coordinates may jump ...
const VELOCITY_JUMP: f64 = 1e-2;
/// ... with the tolerance taken as at most this, so that a motion reversed at a dead point is detected in short steps too.
const LARGEST_TOLERANCE: f64 = 1e-4;
/// Order of the Hermite defect.
const HERMITE_ORDER: f64 = 5.0;

/// Part of the tolerance for the error of an uncorrected step in a motion time. These errors have the sign of the numerical
/// damping and add up, where those of corrected steps are far below the tolerance. Of random mechanisms with stiff springs the
/// largest error of a run falls from 157 to 73 tolerances; all steps together become 1 % more.
const UNCORRECTED_PART: f64 = 0.5;

impl Workspace {
    /// Estimated error of an HHT step without corrector, in the error norm.
    pub fn hht_error(&mut self, p: &Problem, s: &State, y: &Trial) -> f64 {
        match self.settings.estimate {
            EstimateName::Calibrated => self.calibrated(p, s, y),
            EstimateName::Seed => self.seed(p, s, y),
        }
    }

    fn calibrated(&mut self, p: &Problem, s: &State, y: &Trial) -> f64 {
        let (h, m) = (y.h, self.method);
        let h3 = h * h * h;
        let (e, ev) = (&mut self.errors.error, &mut self.evaluation.inertia);
        if self.character.rotations {
            p.system.bracket(&y.v, &y.acc, e);
        } else {
            e.fill(0.0);
        }
        for i in 0..e.len() {
            e[i] = h3 * (m.cq * y.delta[i] - e[i] / 12.0);
        }
        for i in 0..ev.len() {
            ev[i] = m.cv * h3 * y.delta_dot[i];
        }
        if self.size.nc > 0 && self.settings.projection {
            let here = self.mass_matrix.jacobian_at();
            self.step_matrix.project_tangent_pair(
                &self.sparsity,
                here,
                TANGENT_PROJECTION,
                [e, ev],
                &mut self.counts,
            );
        }
        let cx = self.inputs.at(p, y.t);
        let [position, velocity] = [e, ev].map(|e| p.system.norm(&cx, &y.q, &s.scale, e));
        if self.settings.corrector == Corrector::Off {
            return max(position, h * velocity);
        }
        let adding = (y.motion_time / h).max(1.0);
        max(position * adding, y.motion_time * velocity) / UNCORRECTED_PART
    }

    fn seed(&mut self, p: &Problem, s: &State, y: &Trial) -> f64 {
        let c = y.h * y.h * y.h / 24.0;
        let e = &mut self.errors.error;
        for i in 0..e.len() {
            e[i] = c * (y.delta[i] - s.delta[i]);
        }
        let cx = self.inputs.at(p, y.t);
        p.system.norm(&cx, &y.q, &s.scale, &self.errors.error)
    }

    /// ‖D − P D‖ of an HHT step: the error that moving constraints hide from the estimate.
    pub fn hidden_error(&mut self, p: &Problem, s: &State, y: &Trial) -> f64 {
        if !self.character.moving_constraints || self.size.nc == 0 {
            return 0.0;
        }
        self.hermite_defect(p, s, y);
        let ErrorVectors { error, removed } = &mut self.errors;
        let none = &mut self.evaluation.inertia;
        removed.copy_from_slice(error);
        none.fill(0.0);
        let here = self.mass_matrix.jacobian_at();
        self.step_matrix.project_tangent_pair(
            &self.sparsity,
            here,
            TANGENT_PROJECTION,
            [error, none],
            &mut self.counts,
        );
        for i in 0..removed.len() {
            removed[i] -= error[i];
        }
        self.removed_norm(p, s, y)
    }

    /// Hermite defect of the dependent coordinates, if constraints move. Fails if their velocities have jumped.
    pub fn dependent_error(
        &mut self,
        p: &Problem,
        s: &State,
        y: &Trial,
    ) -> Result<f64, StepFailure> {
        let cx = self.inputs.at(p, y.t);
        let [begin, end] = [
            (&s.q, &s.v, &s.acc, &s.lambda),
            (&y.q, &y.v, &y.acc, &y.lambda),
        ]
        .map(|(q, v, a, lambda)| MotionPoint { q, v, a, lambda });
        // Newton's tolerance leaves this in the velocities of a mechanism at rest; in a step cut short it is not larger.
        let slack =
            VELOCITY_JUMP * self.settings.tolerance.min(LARGEST_TOLERANCE) / y.h.max(s.next_h);
        let defect = (p.system.partitioning())
            .map_or(0.0, |x| x.dependent_defect(&cx, [&begin, &end], y.h, slack));
        if !defect.is_finite() {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(0)));
        }
        Ok(if self.character.moving_constraints {
            defect
        } else {
            0.0
        })
    }

    /// A Hermite defect over the tolerance, converted to an error of the order in the controller.
    pub fn hidden_over_tolerance(&self, hidden: f64) -> f64 {
        powf(
            hidden / self.settings.tolerance,
            1.0 / (HERMITE_ORDER * self.control.exponent()),
        )
    }

    /// Error over the tolerance, per step or per second.
    pub fn over_tolerance(&self, error: f64, h: f64) -> f64 {
        let e = error / self.settings.tolerance;
        if self.settings.per_unit_step {
            e / h
        } else {
            e
        }
    }
}

/// The larger one; NaN if either is.
pub(super) fn max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}
