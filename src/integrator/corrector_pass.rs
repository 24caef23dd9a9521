//! One pass of the corrector: the defects of the Hermite formulas at the end of a trial, and the corrected end, closed and projected.

use super::accelerations::InitialGuess;
use super::closure::{ClosureMatrix, ClosureOptions};
use super::corrector::ErrorVectors;
use super::hermite::HermiteWeights;
use super::newton::largest;
use super::state::{State, Statistics};
use super::tolerances::{
    OPEN_AFTER_STEP, REDUNDANT_RESIDUAL, STEP_CLOSURE, STEP_PROJECTION, TANGENT_PROJECTION,
};
use super::trial::{Culprit, StepFailure, Trial};
use super::workspace::{EvaluationVectors, PhasePoint, Problem, Workspace};
use crate::constraint::minimum_norm::{CorrectionTarget, PassLimit};
use crate::formulation::system::Dimensions;

/// Smallest pivot of the scaled constraints with which closure and projection of a corrected end find its tangential part as well as
/// a projection of the corrections before them, and with which a pass may start from the accelerations of the one before.
pub(super) const REGULAR_PIVOT: f64 = 1e-2;
/// Closes the position after each pass, in the metric of M. Two corrections suffice at the tolerances of a mechanism, a very
/// long step needs more.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: STEP_CLOSURE,
    corrects_once: true,
    redundant_target: Some(REDUNDANT_RESIDUAL),
    give_up_above: OPEN_AFTER_STEP,
    stall_ratio: 0.5,
    patience: 0,
    limit: 10,
    matrix: ClosureMatrix::Mass,
};

/// The end of the trial before a pass; empty where there are no constraints that change the corrections, unless steps may take the
/// smooth path.
pub(super) struct EndBeforePass {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// Accelerations and jerks; empty unless steps may take the smooth path.
    pub acc: Vec<f64>,
    pub jerk: Vec<f64>,
}

impl EndBeforePass {
    /// `smooth`: steps may take the smooth path.
    pub fn new(size: &Dimensions, smooth: bool) -> Self {
        let derivative = || vec![0.0; if smooth { size.nv } else { 0 }];
        let kept = smooth || size.nc > 0;
        Self {
            q: vec![0.0; if kept { size.nq } else { 0 }],
            v: vec![0.0; if kept { size.nv } else { 0 }],
            acc: derivative(),
            jerk: derivative(),
        }
    }
}

/// Norms of the corrections of one pass: ‖Dq‖, ‖Dv‖.
pub(super) struct Pass {
    pub dq: f64,
    pub dv: f64,
    /// ‖Dq‖ + h ‖Dv‖ before the projections.
    pub unprojected: f64,
    /// ‖Dq − P Dq‖ where constraints move.
    pub hidden: f64,
}

impl Workspace {
    /// One pass. `guesses` are those of the accelerations and jerks at its end.
    pub(super) fn pass(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        weights: Option<&HermiteWeights>,
        guesses: [InitialGuess; 2],
        stats: &mut Statistics,
    ) -> Result<Pass, StepFailure> {
        let pass = match self.size.nc > 0 && y.pivot >= REGULAR_PIVOT {
            true => self.correct_end(p, s, y, weights)?,
            false => self.correct_end_projected(p, s, y, weights)?,
        };
        self.evaluate_end(p, y, guesses, stats)?;
        Ok(pass)
    }

    /// Corrects the end of the trial. Closure and projection of the velocity keep the tangential part of the corrections, which is
    /// measured by what they leave.
    pub(super) fn correct_end(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        weights: Option<&HermiteWeights>,
    ) -> Result<Pass, StepFailure> {
        self.before_pass.q.copy_from_slice(&y.q);
        self.before_pass.v.copy_from_slice(&y.v);
        // The velocity first: with the position first the passes amplify every oscillation.
        self.velocity_defect(s, y, weights);
        let unprojected_v = self.error_norm(p, s, y)?;
        for i in 0..y.v.len() {
            y.v[i] += self.errors.error[i];
        }
        self.position_defect(p, s, y, weights);
        let unprojected_q = self.error_norm(p, s, y)?;
        let ErrorVectors { error, removed } = &mut self.errors;
        if self.size.nc > 0 {
            removed.copy_from_slice(error);
        }
        self.make_corrected_consistent(p, y)?;
        let ErrorVectors { error, removed } = &mut self.errors;
        p.system.difference(&self.before_pass.q, &y.q, error);
        for i in 0..removed.len() {
            removed[i] -= error[i];
        }
        let dq = self.error_norm(p, s, y)?;
        let hidden = self.removed_norm(p, s, y);
        for i in 0..y.v.len() {
            self.errors.error[i] = y.v[i] - self.before_pass.v[i];
        }
        Ok(Pass {
            dq,
            dv: self.error_norm(p, s, y)?,
            unprojected: unprojected_q + y.h * unprojected_v,
            hidden,
        })
    }

    /// The same near singular positions, where closure may move the end along the constraints: the corrections are projected first.
    /// Without constraints nothing is projected.
    fn correct_end_projected(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        weights: Option<&HermiteWeights>,
    ) -> Result<Pass, StepFailure> {
        self.velocity_defect(s, y, weights);
        let unprojected_v = self.error_norm(p, s, y)?;
        let dv = self.project_error(p, s, y)?;
        for i in 0..y.v.len() {
            y.v[i] += self.errors.error[i];
        }
        self.position_defect(p, s, y, weights);
        let unprojected_q = self.error_norm(p, s, y)?;
        let dq = self.project_error(p, s, y)?;
        let hidden = self.removed_norm(p, s, y);
        self.make_corrected_consistent(p, y)?;
        Ok(Pass {
            dq,
            dv,
            unprojected: unprojected_q + y.h * unprojected_v,
            hidden,
        })
    }

    /// `errors.error` = defect of the position by the formula of order six, or of order four.
    fn position_defect(
        &mut self,
        p: &Problem,
        s: &State,
        y: &Trial,
        weights: Option<&HermiteWeights>,
    ) {
        match weights {
            Some(w) => self.hermite6_defect(p, s, y, w),
            None => self.hermite_defect(p, s, y),
        }
    }

    /// Moves the trial by the correction `errors.error` of its position, closes it, projects its velocity. The mass matrix is loaded
    /// there.
    fn make_corrected_consistent(&mut self, p: &Problem, y: &mut Trial) -> Result<(), StepFailure> {
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
        Ok(())
    }

    /// Accelerations, multipliers and jerks at the end of the trial, where the mass matrix is loaded.
    pub(super) fn evaluate_end(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        guesses: [InitialGuess; 2],
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        self.end_accelerations(p, y, guesses[0], stats)?;
        self.end_jerk(p, y, guesses[1], stats)
    }

    /// Accelerations and multipliers at the end of the trial.
    pub(super) fn end_accelerations(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        guess: InitialGuess,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = y;
        self.accelerations_from(p, PhasePoint { t: *t, q, v }, guess, acc, lambda, stats)
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

    /// Projects `errors.error` onto the tangent space, e ← P e. Returns its norm.
    pub(super) fn project_error(
        &mut self,
        p: &Problem,
        s: &State,
        y: &Trial,
    ) -> Result<f64, StepFailure> {
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
        self.error_norm(p, s, y)
    }

    /// Norm of `errors.error`; the step fails if it is not finite.
    pub(super) fn error_norm(
        &mut self,
        p: &Problem,
        s: &State,
        y: &Trial,
    ) -> Result<f64, StepFailure> {
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
