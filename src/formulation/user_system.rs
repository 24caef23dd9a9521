//! A system given by somebody's own code, completed where that code leaves something out. The code gives
//!
//! ```text
//!   M(q) or M(q) a,      f(q, v, t, u, p),      Φ(q, t, u, p)
//! ```
//!
//! and whatever derivatives it has; the others are differenced ([`difference`]). It may also refuse a point. A [`System`]
//! can say so only where it evaluates forces or matrices; everywhere else a refusal becomes NaN here, is remembered
//! ([`trouble`]), and is told at the next evaluation that can tell it.

mod difference;
mod failure;

use std::sync::Arc;

use super::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, Mechanism, MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};
use crate::error::{Error, Result};
use crate::formulation::cache::Cached;
use crate::model::quantity::Quantity;

use difference::{ColumnGroups, DifferenceScratch};
pub use failure::{CallbackFailure, CallbackFailures, FailureKind};

/// The functions a system is made of, by the names users know them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Callback {
    /// Values of M in the order of `Pattern::tangent`.
    Mass,
    /// M(q) a
    MassTimes,
    /// f
    Force,
    /// ∂f/∂q in the order of `Pattern::tangent`.
    ForceByQ,
    /// ∂f/∂v in the order of `Pattern::tangent`.
    ForceByV,
    /// ∂(M a)/∂q in the order of `Pattern::tangent`.
    InertiaByQ,
    /// ∂(Gᵀλ)/∂q in the order of `Pattern::tangent`.
    ReactionByQ,
    /// Φ
    Constraint,
    /// G in the order of `Pattern::jacobian`.
    Jacobian,
    /// Φ_t, inputs moving.
    ConstraintRate,
    /// (G v)_q v + 2 G_t v + Φ_tt
    Convective,
    /// Kinetic, potential.
    Energy,
    /// Dissipated, supplied.
    Power,
    Retract,
    Difference,
    Bracket,
    TangentInverse,
    Events,
    Crossing,
    Fire,
    Hold,
    Active,
    StartModes,
}

impl Callback {
    /// The name of the function.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mass => "mass",
            Self::MassTimes => "mass_times",
            Self::Force => "force",
            Self::ForceByQ => "force_by_q",
            Self::ForceByV => "force_by_v",
            Self::InertiaByQ => "inertia_by_q",
            Self::ReactionByQ => "reaction_by_q",
            Self::Constraint => "constraint",
            Self::Jacobian => "jacobian",
            Self::ConstraintRate => "constraint_rate",
            Self::Convective => "convective",
            Self::Energy => "energy",
            Self::Power => "power",
            Self::Retract => "retract",
            Self::Difference => "difference",
            Self::Bracket => "bracket",
            Self::TangentInverse => "tangent_inverse",
            Self::Events => "events",
            Self::Crossing => "crossing",
            Self::Fire => "fire",
            Self::Hold => "hold",
            Self::Active => "active",
            Self::StartModes => "start_modes",
        }
    }
}

/// Where a function is evaluated; what it does not depend on is empty.
#[derive(Clone, Copy, Debug)]
pub struct CallbackArguments<'a> {
    /// Time, inputs, parameters, modes.
    pub cx: &'a EvaluationContext<'a>,
    /// Stored coordinates.
    pub q: &'a [f64],
    /// Rates.
    pub v: &'a [f64],
    /// Accelerations.
    pub a: &'a [f64],
    /// Multipliers.
    pub lambda: &'a [f64],
}

/// A function's answer: 0 fine, positive: not here, try a shorter step, negative: stop.
pub type CallbackResult = i32;

/// Somebody's own code. Only parts for which `has` says so are called. Outputs come in zeroed (event rates: NaN).
pub trait UserEquations: Send + Sync {
    /// Is this part given?
    fn has(&self, part: Callback) -> bool;

    /// One of the parts from [`Part::Mass`] to [`Part::Power`].
    fn evaluate(&self, part: Callback, at: &CallbackArguments, out: &mut [f64]) -> CallbackResult;

    /// One of the parts from [`Part::Retract`] to [`Part::TangentInverse`]: of (q, w), (q0, q1), (x, y), (θ, y).
    fn group(&self, _part: Callback, _x: &[f64], _y: &[f64], _out: &mut [f64]) -> CallbackResult {
        0
    }

    /// φ and dφ/dt.
    fn events(
        &self,
        _at: &CallbackArguments,
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) -> CallbackResult {
        0
    }

    /// Which crossings count; or a negative answer.
    fn crossing(
        &self,
        _modes: &[i32],
        _event: usize,
    ) -> std::result::Result<Crossing, CallbackResult> {
        Ok(Crossing::Either)
    }

    /// What an event does; or a negative answer.
    fn fire(
        &self,
        _at: &CallbackArguments,
        _event: usize,
        _modes: &mut [i32],
        _n: &mut [f64],
    ) -> std::result::Result<EventEffect, CallbackResult> {
        Ok(EventEffect::Mode)
    }

    /// The mode that holds an event's φ at zero.
    fn hold(&self, _event: usize, _modes: &mut [i32]) -> CallbackResult {
        0
    }

    /// Which rows hold; all of them are marked already.
    fn active(&self, _modes: &[i32], _rows: &mut [bool]) -> CallbackResult {
        0
    }

    /// The modes at the start.
    fn start_modes(&self, _at: &CallbackArguments, _modes: &mut [i32]) -> CallbackResult {
        0
    }
}

/// What the code's owner promises, so that work can be left out. All false is always right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserProperties {
    /// M does not depend on q.
    pub constant_mass: bool,
    /// f does not depend on v.
    pub no_velocity_forces: bool,
    /// Φ depends neither on t nor on inputs.
    pub fixed_constraints: bool,
    /// M, ∂f/∂q, ∂f/∂v and G are constant.
    pub linear: bool,
}

/// What is fixed about such a system.
#[derive(Clone, Debug, Default)]
pub struct UserSystemShape {
    /// Dimensions.
    pub size: Dimensions,
    /// Promises.
    pub promises: UserProperties,
    /// Where matrices have entries; each place once.
    pub pattern: Sparsity,
    /// Size of each tangent coordinate, > 0: for the error norm and for the steps of differences.
    pub weights: Vec<f64>,
    /// What the closure of a row is judged against; empty: Σ |G_ij| max(weight_j, |q_j|) at the start.
    pub constraint_scales: Vec<f64>,
    /// q at start.
    pub q: Vec<f64>,
    /// v at start.
    pub v: Vec<f64>,
    /// u at start, for the scale of the constraints.
    pub inputs: Vec<f64>,
    /// p at start.
    pub parameters: Vec<f64>,
    /// Of tangent coordinates; empty: q1 q2 ..
    pub coordinate_names: Vec<String>,
    /// Empty: lambda1 lambda2 ..
    pub constraint_names: Vec<String>,
    /// Empty: event1 event2 ..
    pub event_names: Vec<String>,
}

/// Somebody's equations as a [`System`].
pub struct UserSystem<E> {
    equations: E,
    shape: UserSystemShape,
    /// `shape.pattern.tangent` first, then the mates (j, i) it does not have.
    tangent: Vec<(u32, u32)>,
    tangent_columns: ColumnGroups,
    jacobian_columns: ColumnGroups,
    /// Coordinates live on a group.
    rotations: bool,
    troubles: Arc<CallbackFailures>,
    scratch: Cached<DifferenceScratch>,
}

impl<E: UserEquations> UserSystem<E> {
    /// Checks that what is given is enough.
    pub fn new(equations: E, mut shape: UserSystemShape) -> Result<Self> {
        shape.check(&equations)?;
        let nv = shape.size.nv;
        let mut tangent = shape.pattern.tangent.clone();
        let mut places: Vec<(u32, u32)> = tangent.clone();
        places.sort_unstable();
        for &(i, j) in &shape.pattern.tangent {
            if places.binary_search(&(j, i)).is_err() {
                tangent.push((j, i));
            }
        }
        shape.v.resize(nv, 0.0);
        let rotations = equations.has(Callback::Retract);
        let mut own = Self {
            tangent_columns: ColumnGroups::new(nv, nv, &shape.pattern.tangent),
            jacobian_columns: ColumnGroups::new(shape.size.nc, nv, &shape.pattern.jacobian),
            scratch: Cached::new(DifferenceScratch::new(&shape, rotations)),
            troubles: Arc::default(),
            rotations,
            tangent,
            equations,
            shape,
        };
        if own.shape.constraint_scales.is_empty() {
            own.shape.constraint_scales = own.scales_at_start();
        }
        Ok(own)
    }

    /// What has been refused, for whoever has to explain it.
    pub fn troubles(&self) -> Arc<CallbackFailures> {
        Arc::clone(&self.troubles)
    }

    /// Σ |G_ij| size_j at the start; 1 where the code does not answer there.
    fn scales_at_start(&self) -> Vec<f64> {
        let modes = vec![0; self.shape.size.modes];
        let still = vec![0.0; self.shape.size.inputs];
        let cx = EvaluationContext {
            t: 0.0,
            u: &self.shape.inputs,
            u_dot: &still,
            u_ddot: &still,
            p: &self.shape.parameters,
            modes: &modes,
        };
        let mut values = vec![0.0; self.shape.pattern.jacobian.len()];
        self.jacobian(&cx, &self.shape.q, &mut values);
        self.troubles.clear();
        let mut scales = vec![0.0; self.shape.size.nc];
        for (&(i, j), g) in self.shape.pattern.jacobian.iter().zip(&values) {
            scales[i as usize] += g.abs() * self.size_of(j as usize);
        }
        for scale in &mut scales {
            if !(*scale > 0.0 && scale.is_finite()) {
                *scale = 1.0;
            }
        }
        scales
    }

    /// How large tangent coordinate `j` is at least, in its own unit.
    fn size_of(&self, j: usize) -> f64 {
        let stored = if self.rotations { 0.0 } else { self.shape.q[j] };
        self.shape.weights[j].max(stored.abs())
    }

    /// One part where a refusal can be told at once.
    fn evaluate(&self, part: Callback, at: &CallbackArguments, out: &mut [f64]) -> Evaluated {
        // While a refusal waits nothing is asked any more: the point may be NaN already.
        self.troubles.tell(at.cx.t)?;
        out.fill(0.0);
        let answer = self.equations.evaluate(part, at, out);
        self.troubles.judge(part, at.cx.t, answer, out)
    }

    /// One part where a refusal has to wait: the output is NaN until then.
    fn evaluate_quietly(&self, part: Callback, at: &CallbackArguments, out: &mut [f64]) {
        if let Err(fault) = self.evaluate(part, at, out) {
            self.troubles.postpone(fault, at.cx.t);
            out.fill(f64::NAN);
        }
    }

    /// One part of the group; time is not known there.
    fn group(&self, part: Callback, x: &[f64], y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let answer = self.equations.group(part, x, y, out);
        if let Err(fault) = self.troubles.judge(part, f64::NAN, answer, out) {
            self.troubles.postpone(fault, f64::NAN);
            out.fill(f64::NAN);
        }
    }

    /// Parts that belong to events cannot ask for a shorter step: every refusal ends the run.
    fn settle(&self, part: Callback, t: f64, answer: CallbackResult) {
        if answer != 0 {
            self.troubles.stop(part, t, answer);
        }
    }
}

impl UserSystemShape {
    /// Sizes that agree and parts that are enough.
    fn check(&mut self, equations: &impl UserEquations) -> Result<()> {
        let refused = |name: &str, value: String, expected: &str| {
            Err(Error::Argument {
                name: name.to_owned(),
                value,
                expected: expected.to_owned(),
            })
        };
        let Dimensions { nq, nv, nc, ne, .. } = self.size;
        if nv == 0 {
            return refused("nv", "0".into(), "at least one coordinate");
        }
        let group = [
            Callback::Retract,
            Callback::Difference,
            Callback::Bracket,
            Callback::TangentInverse,
        ];
        let given = group.map(|part| equations.has(part));
        if given.contains(&true) && given.contains(&false) {
            let expected =
                "all of retract, difference, bracket and tangent_inverse, or none of them";
            let missing: Vec<&str> = (group.iter().zip(given))
                .filter(|(_, given)| !given)
                .map(|(part, _)| part.name())
                .collect();
            return refused(&missing.join(", "), "NULL".into(), expected);
        }
        if nq != nv && !given[0] {
            let expected = "nv: only with retract may the two differ";
            return refused("nq", nq.to_string(), expected);
        }
        if !equations.has(Callback::Mass) && !equations.has(Callback::MassTimes) {
            let expected = "one of them: M(q) is needed";
            return refused("mass, mass_times", "NULL".into(), expected);
        }
        for (part, needed) in [
            (Callback::Force, true),
            (Callback::Constraint, nc > 0),
            (Callback::Events, ne > 0),
        ] {
            if needed && !equations.has(part) {
                return refused(part.name(), "NULL".into(), "a function: it is needed");
            }
        }
        for (name, places, rows) in [
            ("tangent", &self.pattern.tangent, nv),
            ("jacobian", &self.pattern.jacobian, nc),
        ] {
            let mut sorted = places.clone();
            sorted.sort_unstable();
            let outside = |&&(i, j): &&(u32, u32)| i as usize >= rows || j as usize >= nv;
            if let Some((i, j)) = sorted.iter().find(outside) {
                let value = format!("row {i}, column {j}");
                let expected = format!("rows below {rows} and columns below {nv}, counted from 0");
                return refused(&format!("pattern of {name}"), value, &expected);
            }
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                let value = format!("row {}, column {} twice", pair[0].0, pair[0].1);
                return refused(&format!("pattern of {name}"), value, "each place once");
            }
        }
        Ok(())
    }
}

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
            return self.evaluate_quietly(Callback::MassTimes, &at, out);
        }
        let mut scratch = self.scratch.lock();
        let at = CallbackArguments::of_q(cx, q);
        self.evaluate_quietly(Callback::Mass, &at, &mut scratch.product);
        out.fill(0.0);
        for (&(i, j), m) in self.shape.pattern.tangent.iter().zip(&scratch.product) {
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
        let (out, mates) = out.split_at_mut(self.shape.pattern.tangent.len());
        mates.fill(0.0);
        self.tangent_values(&at, weights, out)?;
        self.troubles.tell(cx.t)
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        if self.shape.size.nc > 0 {
            self.evaluate_quietly(Callback::Constraint, &CallbackArguments::of_q(cx, q), phi);
        }
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        if self.shape.size.nc == 0 {
            return;
        }
        match self.equations.has(Callback::Jacobian) {
            true => self.evaluate_quietly(Callback::Jacobian, &CallbackArguments::of_q(cx, q), out),
            false => self.differenced_jacobian(cx, q, out),
        }
    }

    fn constraint_rate(&self, cx: &EvaluationContext, q: &[f64], phi_t: &mut [f64]) {
        phi_t.fill(0.0);
        if self.shape.size.nc == 0 || self.shape.promises.fixed_constraints {
            return;
        }
        match self.equations.has(Callback::ConstraintRate) {
            true => self.evaluate_quietly(
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
            true => self.evaluate_quietly(
                Callback::Convective,
                &CallbackArguments::of_v(cx, q, v),
                gamma,
            ),
            false => self.differenced_convective(cx, q, v, gamma),
        }
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        self.shape
            .constraint_scales
            .get(row)
            .copied()
            .unwrap_or(1.0)
    }

    /// The default norm; NaN, so that the step is refused, while a refusal waits to be told.
    fn norm(&self, _cx: &EvaluationContext, _q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        if self.troubles.waiting() {
            return f64::NAN;
        }
        let scale = match self.rotations {
            true => &self.shape.weights,
            false => scale,
        };
        crate::linalg::norm::weighted_rms(e, scale)
    }

    /// How far the coordinates have grown beyond the sizes that the constraints are judged by.
    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        if self.rotations {
            return 1.0;
        }
        let grown = q.iter().enumerate().map(|(i, q)| q.abs() / self.size_of(i));
        grown.fold(1.0, f64::max)
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
            scratch.turned.copy_from_slice(y);
            self.group(Callback::TangentInverse, theta, &scratch.turned, y);
        }
    }
}

impl<E: UserEquations> HybridSystem for UserSystem<E> {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        rows.fill(true);
        if self.equations.has(Callback::Active) {
            let answer = self.equations.active(modes, rows);
            self.settle(Callback::Active, f64::NAN, answer);
        }
    }

    fn event_name(&self, i: usize) -> String {
        named(&self.shape.event_names, "event", i)
    }

    fn initial_modes(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], modes: &mut [i32]) {
        modes.fill(0);
        if self.equations.has(Callback::StartModes) {
            let answer = self
                .equations
                .start_modes(&CallbackArguments::of_v(cx, q, v), modes);
            self.settle(Callback::StartModes, cx.t, answer);
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
        let answer = self
            .equations
            .events(&CallbackArguments::of(cx, at), phi, rate);
        if answer == 0 {
            self.troubles
                .stop_if_not_finite(Callback::Events, cx.t, phi);
        }
        self.settle(Callback::Events, cx.t, answer);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        if !self.equations.has(Callback::Crossing) {
            return Crossing::Either;
        }
        self.equations.crossing(modes, i).unwrap_or_else(|answer| {
            self.settle(Callback::Crossing, f64::NAN, answer);
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
            Ok(reaction) => {
                self.troubles.stop_if_not_finite(Callback::Fire, cx.t, n);
                reaction
            }
            Err(answer) => {
                self.settle(Callback::Fire, cx.t, answer);
                EventEffect::Mode
            }
        }
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        if self.equations.has(Callback::Hold) {
            let answer = self.equations.hold(i, modes);
            self.settle(Callback::Hold, f64::NAN, answer);
        }
    }
}

impl<E: UserEquations> UserSystem<E> {
    /// Two numbers of the energy account; zero where the code gives none.
    fn pair(&self, part: Callback, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> [f64; 2] {
        let mut out = [0.0; 2];
        if self.equations.has(part) {
            let answer =
                (self.equations).evaluate(part, &CallbackArguments::of_v(cx, q, v), &mut out);
            self.settle(part, cx.t, answer);
        }
        out
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

impl<'a> CallbackArguments<'a> {
    fn of_q(cx: &'a EvaluationContext<'a>, q: &'a [f64]) -> Self {
        Self {
            cx,
            q,
            v: &[],
            a: &[],
            lambda: &[],
        }
    }

    fn of_v(cx: &'a EvaluationContext<'a>, q: &'a [f64], v: &'a [f64]) -> Self {
        Self {
            v,
            ..Self::of_q(cx, q)
        }
    }

    fn of_a(cx: &'a EvaluationContext<'a>, q: &'a [f64], a: &'a [f64]) -> Self {
        Self {
            a,
            ..Self::of_q(cx, q)
        }
    }

    fn of(cx: &'a EvaluationContext<'a>, at: &MotionPoint<'a>) -> Self {
        Self {
            cx,
            q: at.q,
            v: at.v,
            a: at.a,
            lambda: at.lambda,
        }
    }
}

fn named(names: &[String], letters: &str, i: usize) -> String {
    (names.get(i).cloned()).unwrap_or_else(|| format!("{letters}{}", i + 1))
}

#[cfg(test)]
mod tests;
