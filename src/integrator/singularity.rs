//! Positions in which the constraints depend on each other for a moment: the mechanism could go on along several branches,
//! and the multipliers of the smooth one grow like 1/distance. There Newton's iteration, projections and accelerations
//! amplify rounding, so no step ends there:
//!
//! ```text
//!   near        smallest pivot of the scaled W = G S⁻¹ Gᵀ below 1e-4, and below a quarter of the usual one
//!   step over   the end may be moved:   h → 1.15 h, 0.85 h, 1.3 h, 0.5 h, or the best of them
//!   land        the end is given:       a step to 1.15 h' (1.3, 1.6, 2.1), h' ≥ h, brought back by the polynomial
//!                                       through both of its ends, which are regular
//!   freeze      at the point itself rows with a pivot below 1e-8 say nothing: they are let go; the accelerations are
//!                                       those of the polynomial, the multipliers those of the other rows
//! ```
//!
//! The polynomial is the smooth branch: the singular position lies inside it like any other.

use super::Integrator;
use super::closure::{ClosureMatrix, ClosureOptions};
use super::interpolation::hermite5;
use super::state::{State, Statistics};
use super::tolerances::{
    ACCELERATION_RESIDUAL, CONSISTENT_VELOCITY, OPEN_AFTER_STEP, REDUNDANT_RESIDUAL, STEP_CLOSURE,
    STEP_PROJECTION,
};
use super::workspace::{Culprit, Problem, SidePoint, StepFailure, Trial, Workspace};
use crate::constraint::factorization::Pivots;
use crate::formulation::system::EvaluationFailure;
use crate::model::Corrector;

/// Pivot below which a step does not end if it can be helped ...
const NEAR: f64 = 1e-4;
/// ... unless this part of the pivot is usual: some mechanisms have small ones everywhere.
const UNUSUAL: f64 = 0.25;
/// The same for a step in which Newton's iteration failed.
const NEAR_FAILED: f64 = 1e-3;
/// Pivot below which a row is let go.
const FROZEN: f64 = 1e-8;
/// How the usual pivot fades in a natural step.
const FADING: f64 = 0.5;
/// Other step sizes that are tried.
pub(super) const DETOURS: [f64; 4] = [1.15, 0.85, 1.3, 0.5];
/// The way to go instead if a detour is refused by the estimate.
pub(super) const SHORT_OF: f64 = 0.6;
/// How far to go beyond a given end.
const BEYOND: [f64; 4] = [1.15, 1.3, 1.6, 2.1];
/// Closes a position that is brought back. Its residual is judged afterwards.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: STEP_CLOSURE,
    redundant_target: None,
    give_up_above: f64::INFINITY,
    stall_ratio: f64::INFINITY,
    patience: 0,
    limit: 6,
    matrix: ClosureMatrix::Mass,
};
/// How far the sides of a singular position are away, as part of the time in which the motion would cross the mechanism: the
/// pivot there is the square of it, about 1e-7 ...
const ASIDE: f64 = 3e-4;
/// ... and how often they may be moved four times further away.
const WIDER: usize = 4;
/// What is known about the end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepEnd {
    /// It may be moved: near a singular position the attempt is refused.
    Movable,
    /// It may not: near a singular position the step goes beyond and comes back.
    Fixed,
    /// It is taken as it is.
    Forced,
}

/// Whether a place with this pivot is near a singular position.
pub(super) fn near(pivot: f64, s: &State) -> bool {
    pivot < NEAR && pivot < UNUSUAL * s.typical_pivot
}

/// The usual pivot after a step.
pub(super) fn usual(s: &State, y: &Trial) -> f64 {
    let fading = FADING.powf((y.h / s.next_h).min(1.0));
    y.pivot.max(fading * s.typical_pivot)
}

impl Integrator {
    /// An attempt that does not end near a singular position, or that is brought back to it.
    pub(super) fn try_step_avoiding_singularity(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        end: StepEnd,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        if self.work.size.nc == 0 || self.vsa23.is_some() || end == StepEnd::Forced {
            return self.trial_step(p, s, h, t1, stats);
        }
        if !self.work.step_matrix.handling().updates_multipliers() {
            return self.attempt_around(p, s, h, t1, end, stats);
        }
        // Rows that depend on each other for a moment are nothing special to a penalty: a fixed step goes through. Where steps may
        // be chosen they end elsewhere all the same, since a multiplier that is large for a moment costs accuracy.
        let fixed = self.work.control.fixed().is_some();
        let attempt = |it: &mut Self, stats: &mut Statistics| match fixed {
            true => it.trial_step(p, s, h, t1, stats),
            false => it.attempt_around(p, s, h, t1, end, stats),
        };
        let mut outcome = attempt(self, stats);
        // A penalty that was given may be too small to get through.
        if matches!(outcome, Err(StepFailure::Newton { .. }))
            && self.work.settings.penalty.is_some()
        {
            stats.event_repeats += 1;
            self.work.step_matrix.use_default_penalty(true);
            outcome = attempt(self, stats);
            self.work.step_matrix.use_default_penalty(false);
        }
        match outcome {
            // Only where the chosen one fails too a fixed step goes around the position.
            Err(StepFailure::Newton { .. }) if fixed && self.trial.pivot < NEAR_FAILED => {
                self.attempt_around(p, s, h, t1, end, stats)
            }
            outcome => outcome,
        }
    }

    /// An attempt that is refused near a singular position if its end is free, and otherwise brought back to it.
    fn attempt_around(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        end: StepEnd,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        match self.attempt_shy(p, s, h, t1, stats) {
            Err(StepFailure::NearSingular) if end == StepEnd::Fixed => {
                stats.event_repeats += 1;
                self.land_beyond_singularity(p, s, h, t1, stats)
            }
            outcome => outcome,
        }
    }

    /// An attempt that is refused near a singular position, or if Newton's iteration fails not far from one.
    fn attempt_shy(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        self.work.shy = true;
        let outcome = self.trial_step(p, s, h, t1, stats);
        self.work.shy = false;
        match outcome {
            Err(StepFailure::Newton { .. })
                if self.trial.pivot < NEAR_FAILED
                    && self.trial.pivot < UNUSUAL * s.typical_pivot =>
            {
                Err(StepFailure::NearSingular)
            }
            outcome => outcome,
        }
    }

    /// A step that has to end near a singular position: taken beyond it and brought back.
    fn land_beyond_singularity(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        stats: &mut Statistics,
    ) -> Result<f64, StepFailure> {
        let fixed = self.work.control.fixed().is_some();
        // A short way to the landing says little about where the singular position ends.
        let mut natural = h.max(s.next_h);
        let mut ratios = BEYOND.iter();
        let mut ratio = 1.0;
        while let Some(next) = ratios.next() {
            ratio = f64::max(ratio, *next);
            let far = ratio * natural;
            let outcome = self.attempt_shy(p, s, far, s.t + far, stats);
            match outcome {
                Ok(e) if e <= 1.0 || fixed || natural == h => {
                    if self.interpolate_back(p, s, h, t1, stats).is_ok() {
                        // Its end weighs with the cube of the fraction.
                        let part = (h / far).powi(3);
                        return Ok(if e <= 1.0 { e * part } else { e });
                    }
                }
                Ok(_) => {
                    natural = h.max(0.5 * natural);
                    ratios = BEYOND.iter();
                }
                Err(stop @ StepFailure::Evaluation(EvaluationFailure::Fatal(_))) => {
                    return Err(stop);
                }
                Err(_) => {}
            }
            stats.event_repeats += 1;
        }
        self.trial_step(p, s, h, t1, stats)
    }

    /// The trial, which ends further on, brought back to h, t1.
    fn interpolate_back(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Self {
            work: core,
            trial: y,
            ..
        } = self;
        let far = y.h;
        core.along(p, s, y, h / far);
        (y.t, y.h) = (t1, h);
        core.side_point.lambda.copy_from_slice(&y.lambda);
        let outcome = core.regular_or_frozen(p, y, stats);
        core.select(p.system, s);
        outcome?;
        // What λ does here says nothing about the next step; the regular point beyond does.
        for i in 0..y.lambda.len() {
            y.lambda_dot[i] = (core.side_point.lambda[i] - y.lambda[i]) / (far - h);
        }
        y.restarts_history = true;
        y.jerk_known = core.settings.corrector == Corrector::Auto;
        y.a.copy_from_slice(&y.acc);
        y.delta.copy_from_slice(&y.jerk);
        y.delta_dot.fill(0.0);
        Ok(())
    }
}

impl Workspace {
    /// The trial at the fraction `x` of its step, by the polynomials through both ends:
    /// ```text
    ///   w = log(q₀⁻¹ ∘ q): quintic on w, w', w'';    v: quintic on v, q̈, j, without jerks its cubic;    q̈, j: its derivatives
    /// ```
    fn along(&mut self, p: &Problem, s: &State, y: &mut Trial, x: f64) {
        let h = y.h;
        let [w, w_dot, w_ddot, step, turned] = &mut self.scratch.v;
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
                    step[i] = w[i] + sign * e * w_dot[i];
                }
                turned.copy_from_slice(&y.v);
                p.system.tangent_inverse(step, turned);
                for i in 0..w.len() {
                    w_ddot[i] += sign * turned[i] / (2.0 * e);
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
                // Those of the cubic.
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

    /// The trial's point put onto the constraints. If they determine its accelerations these are solved for; if not, those
    /// there are stay.
    fn regular_or_frozen(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let frozen = self.deactivate_singular_constraints(p, y.t, &y.q, &y.v)?;
        let closed = self
            .close_position(p, y.t, &mut y.q, &y.v, &CLOSURE, &mut [])
            .map_err(|failure| failure.of_step(OPEN_AFTER_STEP))?;
        y.redundant_residual = closed.redundant_residual;
        // The constraints that are inactive here have to be closed like the others.
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
        self.fit(p, y.t, &y.q, &mut y.v, STEP_PROJECTION);
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        if frozen {
            self.accelerations_along(p, *t, q, v, acc, lambda)?;
        } else {
            // Their derivative is still that of the polynomial: solved for, it would be amplified once more.
            self.accelerations(p, *t, q, v, acc, lambda, stats)?;
        }
        Ok(())
    }

    /// Factorises `mass` at a point, without the rows that say nothing there; true if there are such rows.
    /// [`Core::select`] brings them back.
    pub fn deactivate_singular_constraints(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<bool, StepFailure> {
        let mut frozen = false;
        // Each round leaves fewer rows; the second one is only to be sure.
        for _ in 0..3 {
            let pivots = self.factorise_mass(p, t, q, v)?;
            if pivots.smallest_constraint >= FROZEN {
                return Ok(frozen);
            }
            self.mass_matrix.deactivate(&self.sparsity, FROZEN);
            frozen = true;
        }
        self.factorise_mass(p, t, q, v)?;
        Ok(frozen)
    }

    /// Accelerations, multipliers and jerk at a point where the constraints do not determine them, although they do on both
    /// sides of it:
    /// ```text
    ///   q̈ = (q̈₊ + q̈₋)/2,   λ = (λ₊ + λ₋)/2,   j = (q̈₊ − q̈₋)/2e        at q ∘ (±e v + e²/2 q̈ ± e³/6 j), t ± e, closed
    /// ```
    /// The multipliers grow like 1/e to opposite sides: their mean is what stays finite. `acc` comes in as a guess. False,
    /// with nothing changed, if the point is regular by its `pivots`, does not move, or has neighbours that are no better.
    /// If it is true `mass` is that of a neighbour.
    pub fn two_sided_accelerations(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v, scale): (&[f64], &[f64], &[f64]),
        pivots: Pivots,
        acc: &mut [f64],
        lambda: &mut [f64],
        jerk: &mut [f64],
        stats: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        if pivots.smallest_constraint >= FROZEN {
            return Ok(false);
        }
        let mut e = ASIDE * self.turn(p, t, q, v, acc, scale);
        if !e.is_finite() {
            return Ok(false);
        }
        let mut aside = std::mem::take(&mut self.side_point);
        let mut found = Ok(false);
        for _ in 0..WIDER {
            aside.mean[0].copy_from_slice(acc);
            aside.mean[1].fill(0.0);
            // Each round moves to the sides with the accelerations of the one before.
            for _ in 0..3 {
                found = self.both_sides(p, t, q, v, e, &mut aside, stats);
                if found != Ok(true) {
                    break;
                }
            }
            if found != Ok(false) {
                break;
            }
            e *= 4.0;
        }
        if found == Ok(true) {
            acc.copy_from_slice(&aside.mean[0]);
            jerk.copy_from_slice(&aside.mean[1]);
            lambda.copy_from_slice(&aside.lambda_mean);
        }
        self.side_point = aside;
        match found {
            Err(stop @ StepFailure::Evaluation(EvaluationFailure::Fatal(_))) => Err(stop),
            Err(_) | Ok(false) => {
                // Back to the point itself.
                self.factorise_mass(p, t, q, v)?;
                Ok(false)
            }
            Ok(true) => Ok(true),
        }
    }

    /// One round: q̈, j and λ as means in `aside`. False if a side is singular too.
    fn both_sides(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
        e: f64,
        aside: &mut SidePoint,
        stats: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        std::mem::swap(&mut aside.guess, &mut aside.mean);
        let SidePoint {
            q: qe,
            v: ve,
            acc,
            lambda,
            guess: [a, j],
            mean,
            lambda_mean: lambdas,
        } = aside;
        mean.iter_mut().for_each(|m| m.fill(0.0));
        lambdas.fill(0.0);
        for sign in [1.0, -1.0] {
            let w = &mut self.scratch.v[0];
            for i in 0..w.len() {
                w[i] = e * (sign * v[i] + e * (0.5 * a[i] + sign * e * j[i] / 6.0));
                ve[i] = v[i] + e * (sign * a[i] + 0.5 * e * j[i]);
            }
            p.system.retract(q, w, qe);
            let there = t + sign * e;
            self.reassemble(p, there, qe, ve)?;
            let pivots = self.factorise_mass(p, there, qe, ve)?;
            if pivots.smallest_constraint < FROZEN {
                return Ok(false);
            }
            self.fit(p, there, qe, ve, CONSISTENT_VELOCITY);
            self.accelerations(p, there, qe, ve, acc, lambda, stats)?;
            for i in 0..acc.len() {
                mean[0][i] += 0.5 * acc[i];
                mean[1][i] += sign * acc[i] / (2.0 * e);
            }
            for i in 0..lambda.len() {
                lambdas[i] += 0.5 * lambda[i];
            }
        }
        Ok(true)
    }

    /// Accelerations of a known motion put onto G q̈ + γ = 0, and the multipliers that leave the least of the forces
    /// unbalanced: A [da; ·] = [0; −(G q̈ + γ)],  A [y; λ] = [f − M q̈; 0].
    pub fn accelerations_along(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
        acc: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), StepFailure> {
        let cx = self.inputs.at(p, t);
        let [da, inertia, ..] = &mut self.scratch.v;
        let [r, mu, ga] = &mut self.scratch.c;
        p.system.constraint_acceleration_bias(&cx, q, v, r);
        self.mass_matrix.jacobian_times(&self.sparsity, acc, ga);
        for i in 0..r.len() {
            r[i] = -(r[i] + ga[i]);
        }
        self.mass_matrix.minimum_norm_correction_here(
            &self.sparsity,
            r,
            acc,
            STEP_PROJECTION,
            da,
            mu,
            &mut self.counts,
        );
        for i in 0..acc.len() {
            acc[i] += da[i];
        }
        // Where rows rub a second look is had with the multipliers of the first.
        lambda.fill(0.0);
        for _ in 0..if self.character.has_constraint_friction {
            2
        } else {
            1
        } {
            p.system.force(&cx, q, v, da)?;
            p.system.constraint_friction(&cx, q, v, lambda, da);
            p.system.mass_times(&cx, q, acc, inertia);
            for i in 0..da.len() {
                da[i] -= inertia[i];
            }
            lambda.fill(0.0);
            self.mass_matrix.solve_exact(
                &self.sparsity,
                ACCELERATION_RESIDUAL,
                da,
                lambda,
                &mut self.counts,
            );
        }
        Ok(())
    }
}
