//! The equations of a user-defined system.

use super::{Callback, CallbackArguments, UserEquations, UserSystem};
use crate::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, Mechanism, MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};
use crate::model::quantity::Quantity;

impl<E: UserEquations> System for UserSystem<E> {
    fn dimensions(&self) -> Dimensions {
        self.shape.size
    }

    fn properties(&self) -> Properties {
        let promises = self.shape.promises;
        Properties {
            has_constraint_friction: false,
            rotations: self.rotations,
            velocity_forces: !promises.no_velocity_forces,
            moving_constraints: self.shape.size.nc > 0 && !promises.fixed_constraints,
            does_work: self.equations.has(Callback::Power),
            linear: promises.linear,
            constraint_handling: Default::default(),
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: self.tangent.clone(),
            jacobian: self.shape.pattern.jacobian.clone(),
        }
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        let at = CallbackArguments::of_a(cx, q, a);
        if self.equations.has(Callback::MassTimes) {
            return self.evaluate_or_nan(Callback::MassTimes, &at, out);
        }
        let mut scratch = self.scratch.lock();
        let at = CallbackArguments::of_q(cx, q);
        self.evaluate_or_nan(Callback::Mass, &at, &mut scratch.mass_matrix);
        out.fill(0.0);
        for (&(i, j), m) in self.shape.pattern.tangent.iter().zip(&scratch.mass_matrix) {
            out[i as usize] += m * a[j as usize];
        }
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.evaluate(Callback::Force, &CallbackArguments::of_v(cx, q, v), out)
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, a, lambda } = *at;
        let at = CallbackArguments {
            cx,
            q,
            v,
            a,
            lambda,
        };
        let (out, transposed) = out.split_at_mut(self.shape.pattern.tangent.len());
        transposed.fill(0.0);
        self.tangent_values(&at, weights, out)?;
        self.failures.report(cx.t)
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        if self.shape.size.nc > 0 {
            self.evaluate_or_nan(Callback::Constraint, &CallbackArguments::of_q(cx, q), phi);
        }
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        if self.shape.size.nc == 0 {
            return;
        }
        match self.equations.has(Callback::Jacobian) {
            true => self.evaluate_or_nan(Callback::Jacobian, &CallbackArguments::of_q(cx, q), out),
            false => self.differenced_jacobian(cx, q, out),
        }
    }

    fn constraint_rate(&self, cx: &EvaluationContext, q: &[f64], phi_t: &mut [f64]) {
        phi_t.fill(0.0);
        if self.shape.size.nc == 0 || self.shape.promises.fixed_constraints {
            return;
        }
        match self.equations.has(Callback::ConstraintRate) {
            true => self.evaluate_or_nan(
                Callback::ConstraintRate,
                &CallbackArguments::of_q(cx, q),
                phi_t,
            ),
            false => self.differenced_rate(cx, q, phi_t),
        }
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        if self.shape.size.nc == 0 {
            return;
        }
        match self.equations.has(Callback::Convective) {
            true => self.evaluate_or_nan(
                Callback::Convective,
                &CallbackArguments::of_v(cx, q, v),
                gamma,
            ),
            false => self.differenced_acceleration_bias(cx, q, v, gamma),
        }
    }

    fn constraint_scale(&self, i: usize) -> f64 {
        self.shape.constraint_scales.get(i).copied().unwrap_or(1.0)
    }

    /// The default norm; NaN while a failure is pending, so that the step is rejected.
    fn norm(&self, _cx: &EvaluationContext, _q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        if self.failures.is_pending() {
            return f64::NAN;
        }
        let scale = match self.rotations {
            true => &self.shape.weights,
            false => scale,
        };
        crate::linalg::norm::weighted_rms(e, scale)
    }

    /// Largest |q_i| relative to its initial magnitude, by which constraints are scaled.
    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        if self.rotations {
            return 1.0;
        }
        let growth = q
            .iter()
            .enumerate()
            .map(|(i, q)| q.abs() / self.initial_magnitude(i));
        growth.fold(1.0, f64::max)
    }

    fn weight(&self, i: usize) -> f64 {
        self.shape.weights[i]
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let [kinetic, potential] = self.pair(Callback::Energy, cx, q, v);
        Energy { kinetic, potential }
    }

    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        let [dissipated, supplied] = self.pair(Callback::Power, cx, q, v);
        Power {
            dissipated,
            supplied,
        }
    }

    fn coordinate_name(&self, i: usize) -> String {
        named(&self.shape.coordinate_names, "q", i)
    }

    fn constraint_name(&self, i: usize) -> String {
        named(&self.shape.constraint_names, "lambda", i)
    }
}

impl<E: UserEquations> ConfigurationSpace for UserSystem<E> {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        if self.rotations {
            return self.group(Callback::Retract, q, w, out);
        }
        for i in 0..q.len() {
            out[i] = q[i] + w[i];
        }
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        if self.rotations {
            return self.group(Callback::Difference, q0, q1, w);
        }
        for i in 0..w.len() {
            w[i] = q1[i] - q0[i];
        }
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        match self.rotations {
            true => self.group(Callback::Bracket, x, y, out),
            false => out.fill(0.0),
        }
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        if self.rotations {
            let mut scratch = self.scratch.lock();
            scratch.tangent_argument.copy_from_slice(y);
            self.group(
                Callback::TangentInverse,
                theta,
                &scratch.tangent_argument,
                y,
            );
        }
    }
}

impl<E: UserEquations> HybridSystem for UserSystem<E> {
    fn active_constraints(&self, modes: &[i32], active: &mut [bool]) {
        active.fill(true);
        if self.equations.has(Callback::Active) {
            let result = self.equations.active(modes, active);
            self.require_success(Callback::Active, f64::NAN, result);
        }
    }

    fn event_name(&self, i: usize) -> String {
        named(&self.shape.event_names, "event", i)
    }

    fn initial_modes(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], modes: &mut [i32]) {
        modes.fill(0);
        if self.equations.has(Callback::StartModes) {
            let result = self
                .equations
                .start_modes(&CallbackArguments::of_v(cx, q, v), modes);
            self.require_success(Callback::StartModes, cx.t, result);
        }
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        if phi.is_empty() {
            return;
        }
        phi.fill(0.0);
        rate.fill(f64::NAN);
        let result = self
            .equations
            .events(&CallbackArguments::of(cx, at), phi, rate);
        if result == 0 {
            self.failures
                .stop_if_not_finite(Callback::Events, cx.t, phi);
        }
        self.require_success(Callback::Events, cx.t, result);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        if !self.equations.has(Callback::Crossing) {
            return Crossing::Either;
        }
        self.equations.crossing(modes, i).unwrap_or_else(|result| {
            self.require_success(Callback::Crossing, f64::NAN, result);
            Crossing::Off
        })
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        if !self.equations.has(Callback::Fire) {
            return EventEffect::Mode;
        }
        n.fill(0.0);
        match self
            .equations
            .fire(&CallbackArguments::of(cx, at), i, modes, n)
        {
            Ok(effect) => {
                self.failures.stop_if_not_finite(Callback::Fire, cx.t, n);
                effect
            }
            Err(result) => {
                self.require_success(Callback::Fire, cx.t, result);
                EventEffect::Mode
            }
        }
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        if self.equations.has(Callback::Hold) {
            let result = self.equations.hold(i, modes);
            self.require_success(Callback::Hold, f64::NAN, result);
        }
    }
}

impl<E: UserEquations> Mechanism for UserSystem<E> {
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&self.shape.q);
        v.copy_from_slice(&self.shape.v);
    }

    fn evaluate(&self, _cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        match quantity {
            Quantity::Coordinate(i) => at.q[i],
            Quantity::Rate(i) => at.v[i],
            Quantity::Acceleration(i) => at.a[i],
            Quantity::Multiplier(i) => at.lambda[i],
            _ => f64::NAN,
        }
    }
}

impl<E: UserEquations> UserSystem<E> {
    /// The two values of energy or power; zero without the callback.
    fn pair(&self, callback: Callback, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> [f64; 2] {
        let mut out = [0.0; 2];
        if self.equations.has(callback) {
            let result =
                (self.equations).evaluate(callback, &CallbackArguments::of_v(cx, q, v), &mut out);
            self.require_success(callback, cx.t, result);
        }
        out
    }
}

/// Name `i` of a list, or its default: prefix and number.
fn named(names: &[String], prefix: &str, i: usize) -> String {
    (names.get(i).cloned()).unwrap_or_else(|| format!("{prefix}{}", i + 1))
}
