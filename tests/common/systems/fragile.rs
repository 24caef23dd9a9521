//! Another system whose force breaks somewhere: NaN, infinity, "not here" or "stop" where a condition on (t, q, v) holds,
//! until it is mended.

use std::sync::atomic::{AtomicBool, Ordering};

use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext,
    EvaluationFailure, EventEffect, HybridSystem, MotionPoint, Power, Properties, Sparsity, System,
    TangentWeights,
};

/// How it breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Break {
    /// This coordinate's force is this value.
    Value(usize, f64),
    /// This row's constraint is this value.
    Row(usize, f64),
    /// The evaluation answers so.
    Fault(EvaluationFailure),
}

/// Where: (t, q, v).
pub type Place = fn(f64, &[f64], &[f64]) -> bool;

/// The system and its flaw.
pub struct Fragile<S> {
    pub inner: S,
    pub place: Place,
    pub how: Break,
    pub mended: AtomicBool,
}

impl<S: System> Fragile<S> {
    pub fn new(inner: S, place: Place, how: Break) -> Self {
        Self {
            inner,
            place,
            how,
            mended: AtomicBool::new(false),
        }
    }

    fn breaks(&self, t: f64, q: &[f64], v: &[f64]) -> bool {
        !self.mended.load(Ordering::Relaxed) && (self.place)(t, q, v)
    }
}

impl<S: System> System for Fragile<S> {
    fn dimensions(&self) -> Dimensions {
        self.inner.dimensions()
    }

    fn properties(&self) -> Properties {
        Properties {
            linear: false,
            ..self.inner.properties()
        }
    }

    fn sparsity(&self) -> Sparsity {
        self.inner.sparsity()
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        self.inner.mass_times(cx, q, a, out);
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.inner.force(cx, q, v, out)?;
        if self.breaks(cx.t, q, v) {
            match self.how {
                Break::Value(i, x) => out[i] = x,
                Break::Fault(fault) => return Err(fault),
                Break::Row(..) => {}
            }
        }
        Ok(())
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        self.inner.tangent(cx, at, weights, out)
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        self.inner.constraint(cx, q, phi);
        if let Break::Row(i, x) = self.how
            && self.breaks(cx.t, q, &[])
        {
            phi[i] = x;
        }
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        self.inner.jacobian(cx, q, out);
    }

    fn constraint_rate(&self, cx: &EvaluationContext, q: &[f64], phi_t: &mut [f64]) {
        self.inner.constraint_rate(cx, q, phi_t);
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        self.inner.constraint_acceleration_bias(cx, q, v, gamma);
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        self.inner.constraint_scale(row)
    }

    fn norm(&self, cx: &EvaluationContext, q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        self.inner.norm(cx, q, scale, e)
    }

    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        self.inner.coordinate_magnitude(q)
    }

    fn weight(&self, i: usize) -> f64 {
        self.inner.weight(i)
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        self.inner.energy(cx, q, v)
    }

    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        self.inner.power(cx, q, v)
    }

    fn coordinate_name(&self, i: usize) -> String {
        self.inner.coordinate_name(i)
    }

    fn constraint_name(&self, i: usize) -> String {
        self.inner.constraint_name(i)
    }
}

impl<S: System> ConfigurationSpace for Fragile<S> {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        self.inner.retract(q, w, out);
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        self.inner.difference(q0, q1, w);
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        self.inner.bracket(x, y, out);
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        self.inner.tangent_inverse(theta, y);
    }
}

impl<S: System> HybridSystem for Fragile<S> {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        self.inner.active_constraints(modes, rows);
    }

    fn initial_modes(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], modes: &mut [i32]) {
        self.inner.initial_modes(cx, q, v, modes);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        self.inner.event_functions(cx, at, phi, rate);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.inner.crossing(modes, i)
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        self.inner.handle_event(cx, at, i, modes, n)
    }

    fn event_name(&self, i: usize) -> String {
        self.inner.event_name(i)
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.inner.activate_unilateral(i, modes);
    }
}
