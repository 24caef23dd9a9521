//! Singular positions: the constraints are dependent at one point of the motion, where the mechanism could continue along
//! several branches. The multipliers of the smooth branch grow like 1/distance, and Newton's iteration, projections and
//! accelerations amplify rounding. Therefore no step ends there:
//!
//! ```text
//!   near singular   smallest pivot of the scaled W = G S⁻¹ Gᵀ below 1e-4, and below a quarter of the typical one
//!   movable end     h → 1.15 h, 0.85 h, 1.3 h, 0.5 h, or the best of them             (`TrialPlan::move_end`)
//!   fixed end       a step to 1.15 h' (1.3, 1.6, 2.1), h' ≥ h, interpolated back by the polynomial through both of its
//!                   ends, which are regular
//!   at the point    constraints with a pivot below 1e-8 are deactivated; the accelerations are those of the polynomial,
//!                   the multipliers those of the other constraints
//! ```
//!
//! The polynomial follows the smooth branch: the singular position is an interior point like any other.

use super::Integrator;
use super::closure::{ClosureMatrix, ClosureOptions};
use super::hermite_polynomial::hermite5;
use super::state::{State, Statistics};
use super::tolerances::{OPEN_AFTER_STEP, REDUNDANT_RESIDUAL, STEP_CLOSURE, STEP_PROJECTION};
use super::trial::{
    Culprit, NearSingular, SlowContraction, StepEnd, StepFailure, StepTarget, Trial, TrialOptions,
};
use super::workspace::{PhasePoint, Problem, Workspace};
use crate::constraint::augmented_lagrangian::Penalty;
use crate::formulation::system::{Dimensions, System};
use crate::linalg::elementary::powf;
use crate::model::Corrector;

/// Pivot below which a position is near a singular one ...
const NEAR_PIVOT: f64 = 1e-4;
/// ... if it is also below this part of the typical pivot: some mechanisms have small pivots everywhere.
pub(super) const UNUSUAL_PART: f64 = 0.25;
/// Pivot below which a failed Newton iteration is attributed to a singular position.
const NEAR_PIVOT_FAILED: f64 = 1e-3;
/// Pivot below which a constraint is deactivated at a singular position.
pub(super) const SINGULAR_PIVOT: f64 = 1e-8;
/// Part of the typical pivot that is left after a step of the proposed size.
const TYPICAL_PIVOT_DECAY: f64 = 0.5;
/// Ratios of the steps beyond a singular position at a fixed end.
const BEYOND_END: [f64; 4] = [1.15, 1.3, 1.6, 2.1];
/// Closure of an interpolated position. Its residual is checked afterwards.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: STEP_CLOSURE,
    corrects_once: false,
    redundant_target: None,
    give_up_above: f64::INFINITY,
    stall_ratio: f64::INFINITY,
    patience: 0,
    limit: 6,
    matrix: ClosureMatrix::Mass,
};

/// Workspace of a trial that is interpolated back.
#[derive(Default)]
pub(super) struct TrialPolynomial {
    /// Displacement of the step with its first and second derivative at the end.
    w: Vec<f64>,
    w_dot: Vec<f64>,
    w_ddot: Vec<f64>,
    /// Displacement beside w, and T⁻¹ v there.
    shifted: Vec<f64>,
    image: Vec<f64>,
    /// λ at the end beyond the singular position.
    lambda_beyond: Vec<f64>,
}

impl TrialPolynomial {
    pub fn new(size: &Dimensions) -> Self {
        if size.nc == 0 {
            return Self::default();
        }
        let v = || vec![0.0; size.nv];
        Self {
            w: v(),
            w_dot: v(),
            w_ddot: v(),
            shifted: v(),
            image: v(),
            lambda_beyond: vec![0.0; size.nc],
        }
    }
}

/// Pivot of a position: the smallest one of a constraint times the smallest row. Without constraints the row of the system alone,
/// which tells of the loops that independent coordinates have eliminated; with redundant constraints only, none.
pub(super) fn position_pivot(smallest_constraint: f64, system: &dyn System, q: &[f64]) -> f64 {
    if smallest_constraint.is_finite() {
        smallest_constraint * system.smallest_row(q)
    } else if system.dimensions().nc == 0 {
        system.smallest_row(q)
    } else {
        f64::INFINITY
    }
}

/// A position with this smallest pivot is near a singular one.
pub(super) fn is_near_singular(pivot: f64, s: &State) -> bool {
    pivot < NEAR_PIVOT && pivot < UNUSUAL_PART * s.typical_pivot
}

/// The typical pivot after a step.
pub(super) fn typical_pivot(s: &State, y: &Trial) -> f64 {
    let decay = powf(TYPICAL_PIVOT_DECAY, (y.h / s.next_h).min(1.0));
    y.pivot.max(decay * s.typical_pivot)
}

impl Integrator {
    /// A trial step that does not end near a singular position, or that was interpolated back to it.
    ///
    /// A penalty passes singular positions: with it a fixed step avoids them only if it fails. A step that may be chosen avoids
    /// them in any case, since the large multipliers there cost accuracy.
    pub(super) fn try_step_avoiding_singularity(
        &mut self,
        p: &Problem,
        s: &State,
        target: StepTarget,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        let reject = TrialOptions::new(NearSingular::Reject, target.slow_contraction);
        if !self.work.step_matrix.handling().updates_multipliers() {
            return self.trial_step_or_land(p, s, target, reject, stats);
        }
        let fixed = self.work.control.fixed().is_some();
        let options = match fixed {
            true => TrialOptions::new(NearSingular::Accept, target.slow_contraction),
            false => reject,
        };
        let mut outcome = self.trial_step_or_land(p, s, target, options, stats);
        // A penalty chosen by the user may be too small.
        if matches!(outcome, Err(StepFailure::Newton { .. }))
            && self.work.settings.penalty.is_some()
        {
            stats.event_repeats += 1;
            let options = TrialOptions {
                penalty: Penalty::Default,
                ..options
            };
            outcome = self.trial_step_or_land(p, s, target, options, stats);
        }
        match outcome {
            Err(StepFailure::Newton { .. }) if fixed && self.trial.pivot < NEAR_PIVOT_FAILED => {
                self.trial_step_or_land(p, s, target, reject, stats)
            }
            outcome => outcome,
        }
    }

    /// A trial step; if it is rejected near a singular position and its end is fixed, one beyond that is interpolated back.
    fn trial_step_or_land(
        &mut self,
        p: &Problem,
        s: &State,
        target: StepTarget,
        options: TrialOptions,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        let StepTarget { h, t1, end, .. } = target;
        match self.trial_step(p, s, (h, t1), options, stats) {
            Err(StepFailure::NearSingular) if end == StepEnd::Fixed => {
                stats.event_repeats += 1;
                self.land_beyond_singularity(p, s, (h, t1), options.penalty, stats)
            }
            outcome => outcome,
        }
    }

    /// One trial step of size `h` to `t1`. With [`NearSingular::Reject`] a failure of Newton's iteration not far from a
    /// singular position counts as near one.
    pub(super) fn trial_step(
        &mut self,
        p: &Problem,
        s: &State,
        (h, t1): (f64, f64),
        options: TrialOptions,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        let Self {
            work,
            method,
            trial: y,
            ..
        } = self;
        y.begin(s, h, t1);
        // With a penalty the pivots do not show that the vectors of a body become dependent, for these have no mass.
        let pivots_are_hidden =
            work.step_matrix.handling().updates_multipliers() && work.settings.penalty.is_none();
        match method.trial_step(work, p, s, options, y, stats) {
            Err(StepFailure::Newton { .. })
                if options.near_singular == NearSingular::Reject
                    && (pivots_are_hidden
                        || (y.pivot < NEAR_PIVOT_FAILED
                            && y.pivot < UNUSUAL_PART * s.typical_pivot)) =>
            {
                Err(StepFailure::NearSingular)
            }
            outcome => outcome,
        }
    }

    /// A step whose fixed end is near a singular position: taken beyond it and interpolated back.
    fn land_beyond_singularity(
        &mut self,
        p: &Problem,
        s: &State,
        (h, t1): (f64, f64),
        penalty: Penalty,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        let [reject, accept] =
            [NearSingular::Reject, NearSingular::Accept].map(|near_singular| TrialOptions {
                near_singular,
                slow_contraction: SlowContraction::Uncorrected,
                penalty,
            });
        // A step cut short to land may be too short to get beyond the singular position.
        let mut natural = h.max(s.next_h);
        let mut ratios = BEYOND_END.iter();
        let mut ratio = 1.0;
        while let Some(next) = ratios.next() {
            ratio = f64::max(ratio, *next);
            let far = ratio * natural;
            match self.trial_step(p, s, (far, s.t + far), reject, stats) {
                Ok(e) if self.work.control.accepts(e) || natural == h => {
                    if self.interpolate_back(p, s, (h, t1), stats).is_ok() {
                        // The error grows with the cube of the step.
                        let part = (h / far).powi(3);
                        return Ok(if e <= 1.0 { e * part } else { e });
                    }
                }
                Ok(_) => {
                    natural = h.max(0.5 * natural);
                    ratios = BEYOND_END.iter();
                }
                Err(failure) if failure.is_fatal() => return Err(failure),
                Err(_) => {}
            }
            stats.event_repeats += 1;
        }
        self.trial_step(p, s, (h, t1), accept, stats)
    }

    /// Interpolates the trial, which ends further on, back to size `h` and time `t1`.
    fn interpolate_back(
        &mut self,
        p: &Problem,
        s: &State,
        (h, t1): (f64, f64),
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Self { work, trial: y, .. } = self;
        let far = y.h;
        work.interpolate_trial(p, s, y, h / far);
        (y.t, y.h) = (t1, h);
        work.trial_polynomial
            .lambda_beyond
            .copy_from_slice(&y.lambda);
        let outcome = work.make_consistent(p, y, stats);
        work.select_active(p.system, s);
        outcome?;
        // The next step continues with the trend of λ towards the regular point beyond, not with the one at this point.
        for i in 0..y.lambda.len() {
            y.lambda_dot[i] = (work.trial_polynomial.lambda_beyond[i] - y.lambda[i]) / (far - h);
        }
        y.restarts_history = true;
        y.jerk_known = work.settings.corrector == Corrector::Auto;
        y.a.copy_from_slice(&y.acc);
        y.delta.copy_from_slice(&y.jerk);
        y.delta_dot.fill(0.0);
        Ok(())
    }
}

impl Workspace {
    /// Moves the trial to the fraction `x` of its step, by the polynomials through both ends:
    /// ```text
    ///   w = log(q₀⁻¹ ∘ q): quintic on w, w', w'';    v: quintic on v, q̈, j, without jerks its cubic;    q̈, j: its derivatives
    /// ```
    fn interpolate_trial(&mut self, p: &Problem, s: &State, y: &mut Trial, x: f64) {
        let h = y.h;
        let TrialPolynomial {
            w,
            w_dot,
            w_ddot,
            shifted,
            image,
            ..
        } = &mut self.trial_polynomial;
        p.system.difference(&s.q, &y.q, w);
        w_dot.copy_from_slice(&y.v);
        w_ddot.copy_from_slice(&y.acc);
        if self.character.rotations {
            // w' = T⁻¹ v,  w'' = T⁻¹ q̈ + (T⁻¹)' v, the derivative by a difference along w'.
            p.system.tangent_inverse(w, w_dot);
            p.system.tangent_inverse(w, w_ddot);
            let e = 1e-3 * h;
            for sign in [1.0, -1.0] {
                for i in 0..w.len() {
                    shifted[i] = w[i] + sign * e * w_dot[i];
                }
                image.copy_from_slice(&y.v);
                p.system.tangent_inverse(shifted, image);
                for i in 0..w.len() {
                    w_ddot[i] += sign * image[i] / (2.0 * e);
                }
            }
        }
        for i in 0..w.len() {
            let d = [h * s.v[i], h * w_dot[i]];
            let dd = [h * h * s.acc[i], h * h * w_ddot[i]];
            w[i] = hermite5(x, w[i], d, dd)[0];
            let dv = y.v[i] - s.v[i];
            let d = [h * s.acc[i], h * y.acc[i]];
            let dd = if s.jerk_known && y.jerk_known {
                [h * h * s.jerk[i], h * h * y.jerk[i]]
            } else {
                // Second derivatives of the cubic.
                [
                    6.0 * dv - 4.0 * d[0] - 2.0 * d[1],
                    2.0 * d[0] + 4.0 * d[1] - 6.0 * dv,
                ]
            };
            let [v, acc, jerk, _] = hermite5(x, dv, d, dd);
            y.v[i] = s.v[i] + v;
            y.acc[i] = acc / h;
            y.jerk[i] = jerk / (h * h);
        }
        p.system.retract(&s.q, w, &mut y.q);
    }

    /// Puts the end of the trial onto the constraints. Its accelerations are solved for where the constraints determine them;
    /// at a singular position they are only projected.
    fn make_consistent(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let singular = self.deactivate_singular_constraints(p, y.t, &y.q, &y.v)?;
        let closed = self
            .close_position(p, y.t, &mut y.q, &y.v, &CLOSURE, &mut [])
            .map_err(|failure| failure.of_step(OPEN_AFTER_STEP))?;
        y.redundant_residual = closed.redundant_residual;
        // The constraints deactivated here must be satisfied like the others.
        let (residual, constraint) = self.active_residual_at(p, y.t, &y.q);
        let magnitude = p.system.coordinate_magnitude(&y.q);
        if !(residual <= OPEN_AFTER_STEP * magnitude
            && y.redundant_residual.0 <= REDUNDANT_RESIDUAL * magnitude)
        {
            return Err(StepFailure::Newton {
                iterations: 0,
                residual: residual / OPEN_AFTER_STEP,
                culprit: Culprit::Constraint(constraint),
            });
        }
        {
            let cx = self.inputs.at(p, y.t);
            self.mass_matrix
                .load_mass(&self.sparsity, p.system, &cx, &y.q, &y.v)?;
        }
        self.project_velocity(p, y.t, &y.q, &mut y.v, STEP_PROJECTION);
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        if singular {
            self.project_motion(p, PhasePoint { t: *t, q, v }, acc, lambda)?;
        } else {
            // The jerk stays that of the polynomial: solved for, it would amplify rounding once more.
            self.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        }
        Ok(())
    }

    /// Factorises the mass matrix at a point and deactivates constraints whose pivot there is below [`SINGULAR_PIVOT`]. Returns
    /// true if there are any; [`Workspace::select_active`] activates them again.
    pub fn deactivate_singular_constraints(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<bool, StepFailure> {
        let mut any = false;
        // Each round leaves fewer constraints; usually the second one finds nothing more.
        for _ in 0..3 {
            let pivots = self.factorise_mass(p, t, q, v)?;
            if pivots.smallest_constraint >= SINGULAR_PIVOT {
                return Ok(any);
            }
            self.mass_matrix.deactivate(&self.sparsity, SINGULAR_PIVOT);
            any = true;
        }
        self.factorise_mass(p, t, q, v)?;
        Ok(any)
    }
}
