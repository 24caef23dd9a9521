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
mod trouble;

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    Character, Context, Crossing, Energy, Evaluated, Mechanism, Motion, Pattern, Power, Reaction,
    Size, System, Weights,
};
use crate::error::{Error, Result};
use crate::model::quantity::Quantity;

use difference::{Columns, Scratch};
pub use trouble::{Trouble, Troubles, What};

/// The functions a system is made of, by the names users know them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Part {
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

impl Part {
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
pub struct Point<'a> {
    /// Time, inputs, parameters, modes.
    pub cx: &'a Context<'a>,
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
pub type Answer = i32;

/// Somebody's own code. Only parts for which `has` says so are called. Outputs come in zeroed (event rates: NaN).
pub trait Equations: Send + Sync {
    /// Is this part given?
    fn has(&self, part: Part) -> bool;

    /// One of the parts from [`Part::Mass`] to [`Part::Power`].
    fn evaluate(&self, part: Part, at: &Point, out: &mut [f64]) -> Answer;

    /// One of the parts from [`Part::Retract`] to [`Part::TangentInverse`]: of (q, w), (q0, q1), (x, y), (θ, y).
    fn group(&self, _part: Part, _x: &[f64], _y: &[f64], _out: &mut [f64]) -> Answer {
        0
    }

    /// φ and dφ/dt.
    fn events(&self, _at: &Point, _phi: &mut [f64], _rate: &mut [f64]) -> Answer {
        0
    }

    /// Which crossings count; or a negative answer.
    fn crossing(&self, _modes: &[i32], _event: usize) -> std::result::Result<Crossing, Answer> {
        Ok(Crossing::Either)
    }

    /// What an event does; or a negative answer.
    fn fire(
        &self,
        _at: &Point,
        _event: usize,
        _modes: &mut [i32],
        _n: &mut [f64],
    ) -> std::result::Result<Reaction, Answer> {
        Ok(Reaction::Mode)
    }

    /// The mode that holds an event's φ at zero.
    fn hold(&self, _event: usize, _modes: &mut [i32]) -> Answer {
        0
    }

    /// Which rows hold; all of them are marked already.
    fn active(&self, _modes: &[i32], _rows: &mut [bool]) -> Answer {
        0
    }

    /// The modes at the start.
    fn start_modes(&self, _at: &Point, _modes: &mut [i32]) -> Answer {
        0
    }
}

/// What the code's owner promises, so that work can be left out. All false is always right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promises {
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
pub struct Shape {
    /// Dimensions.
    pub size: Size,
    /// Promises.
    pub promises: Promises,
    /// Where matrices have entries; each place once.
    pub pattern: Pattern,
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
pub struct Own<E> {
    equations: E,
    shape: Shape,
    /// `shape.pattern.tangent` first, then the mates (j, i) it does not have.
    tangent: Vec<(u32, u32)>,
    tangent_columns: Columns,
    jacobian_columns: Columns,
    /// Coordinates live on a group.
    rotations: bool,
    troubles: Arc<Troubles>,
    scratch: Mutex<Scratch>,
}

impl<E: Equations> Own<E> {
    /// Checks that what is given is enough.
    pub fn new(equations: E, mut shape: Shape) -> Result<Self> {
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
        let rotations = equations.has(Part::Retract);
        let mut own = Self {
            tangent_columns: Columns::new(nv, nv, &shape.pattern.tangent),
            jacobian_columns: Columns::new(shape.size.nc, nv, &shape.pattern.jacobian),
            scratch: Mutex::new(Scratch::new(&shape, rotations)),
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
    pub fn troubles(&self) -> Arc<Troubles> {
        Arc::clone(&self.troubles)
    }

    /// Σ |G_ij| size_j at the start; 1 where the code does not answer there.
    fn scales_at_start(&self) -> Vec<f64> {
        let modes = vec![0; self.shape.size.modes];
        let still = vec![0.0; self.shape.size.inputs];
        let cx = Context {
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
    fn evaluate(&self, part: Part, at: &Point, out: &mut [f64]) -> Evaluated {
        // While a refusal waits nothing is asked any more: the point may be NaN already.
        self.troubles.tell(at.cx.t)?;
        out.fill(0.0);
        let answer = self.equations.evaluate(part, at, out);
        self.troubles.judge(part, at.cx.t, answer, out)
    }

    /// One part where a refusal has to wait: the output is NaN until then.
    fn evaluate_quietly(&self, part: Part, at: &Point, out: &mut [f64]) {
        if let Err(fault) = self.evaluate(part, at, out) {
            self.troubles.postpone(fault, at.cx.t);
            out.fill(f64::NAN);
        }
    }

    /// One part of the group; time is not known there.
    fn group(&self, part: Part, x: &[f64], y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let answer = self.equations.group(part, x, y, out);
        if let Err(fault) = self.troubles.judge(part, f64::NAN, answer, out) {
            self.troubles.postpone(fault, f64::NAN);
            out.fill(f64::NAN);
        }
    }

    /// Parts that belong to events cannot ask for a shorter step: every refusal ends the run.
    fn settle(&self, part: Part, t: f64, answer: Answer) {
        if answer != 0 {
            self.troubles.stop(part, t, answer);
        }
    }

    fn scratch(&self) -> std::sync::MutexGuard<'_, Scratch> {
        // A panic of the code above leaves numbers behind that are overwritten before they are read.
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shape {
    /// Sizes that agree and parts that are enough.
    fn check(&mut self, equations: &impl Equations) -> Result<()> {
        let refused = |name: &str, value: String, expected: &str| {
            Err(Error::Argument {
                name: name.to_owned(),
                value,
                expected: expected.to_owned(),
            })
        };
        let Size { nq, nv, nc, ne, .. } = self.size;
        if nv == 0 {
            return refused("nv", "0".into(), "at least one coordinate");
        }
        let group = [
            Part::Retract,
            Part::Difference,
            Part::Bracket,
            Part::TangentInverse,
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
        if !equations.has(Part::Mass) && !equations.has(Part::MassTimes) {
            let expected = "one of them: M(q) is needed";
            return refused("mass, mass_times", "NULL".into(), expected);
        }
        for (part, needed) in [
            (Part::Force, true),
            (Part::Constraint, nc > 0),
            (Part::Events, ne > 0),
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

impl<E: Equations> System for Own<E> {
    fn size(&self) -> Size {
        self.shape.size
    }

    fn character(&self) -> Character {
        let promises = self.shape.promises;
        Character {
            rubs: false,
            rotations: self.rotations,
            velocity_forces: !promises.no_velocity_forces,
            moving_constraints: self.shape.size.nc > 0 && !promises.fixed_constraints,
            works: self.equations.has(Part::Power),
            linear: promises.linear,
        }
    }

    fn pattern(&self) -> Pattern {
        Pattern {
            tangent: self.tangent.clone(),
            jacobian: self.shape.pattern.jacobian.clone(),
        }
    }

    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        if self.rotations {
            return self.group(Part::Retract, q, w, out);
        }
        for i in 0..q.len() {
            out[i] = q[i] + w[i];
        }
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        if self.rotations {
            return self.group(Part::Difference, q0, q1, w);
        }
        for i in 0..w.len() {
            w[i] = q1[i] - q0[i];
        }
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        match self.rotations {
            true => self.group(Part::Bracket, x, y, out),
            false => out.fill(0.0),
        }
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        if self.rotations {
            let mut scratch = self.scratch();
            scratch.turned.copy_from_slice(y);
            self.group(Part::TangentInverse, theta, &scratch.turned, y);
        }
    }

    fn mass_times(&self, cx: &Context, q: &[f64], a: &[f64], out: &mut [f64]) {
        let at = Point::of_a(cx, q, a);
        if self.equations.has(Part::MassTimes) {
            return self.evaluate_quietly(Part::MassTimes, &at, out);
        }
        let mut scratch = self.scratch();
        let at = Point::of_q(cx, q);
        self.evaluate_quietly(Part::Mass, &at, &mut scratch.product);
        out.fill(0.0);
        for (&(i, j), m) in self.shape.pattern.tangent.iter().zip(&scratch.product) {
            out[i as usize] += m * a[j as usize];
        }
    }

    fn force(&self, cx: &Context, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.evaluate(Part::Force, &Point::of_v(cx, q, v), out)
    }

    fn tangent(
        &self,
        cx: &Context,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        lambda: &[f64],
        weights: &Weights,
        out: &mut [f64],
    ) -> Evaluated {
        let at = Point {
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

    fn constraint(&self, cx: &Context, q: &[f64], phi: &mut [f64]) {
        if self.shape.size.nc > 0 {
            self.evaluate_quietly(Part::Constraint, &Point::of_q(cx, q), phi);
        }
    }

    fn jacobian(&self, cx: &Context, q: &[f64], out: &mut [f64]) {
        if self.shape.size.nc == 0 {
            return;
        }
        match self.equations.has(Part::Jacobian) {
            true => self.evaluate_quietly(Part::Jacobian, &Point::of_q(cx, q), out),
            false => self.differenced_jacobian(cx, q, out),
        }
    }

    fn constraint_rate(&self, cx: &Context, q: &[f64], phi_t: &mut [f64]) {
        phi_t.fill(0.0);
        if self.shape.size.nc == 0 || self.shape.promises.fixed_constraints {
            return;
        }
        match self.equations.has(Part::ConstraintRate) {
            true => self.evaluate_quietly(Part::ConstraintRate, &Point::of_q(cx, q), phi_t),
            false => self.differenced_rate(cx, q, phi_t),
        }
    }

    fn convective(&self, cx: &Context, q: &[f64], v: &[f64], gamma: &mut [f64]) {
        if self.shape.size.nc == 0 {
            return;
        }
        match self.equations.has(Part::Convective) {
            true => self.evaluate_quietly(Part::Convective, &Point::of_v(cx, q, v), gamma),
            false => self.differenced_convective(cx, q, v, gamma),
        }
    }

    fn active(&self, modes: &[i32], rows: &mut [bool]) {
        rows.fill(true);
        if self.equations.has(Part::Active) {
            let answer = self.equations.active(modes, rows);
            self.settle(Part::Active, f64::NAN, answer);
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
    fn norm(&self, _cx: &Context, _q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
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
    fn magnitude(&self, q: &[f64]) -> f64 {
        if self.rotations {
            return 1.0;
        }
        let grown = q.iter().enumerate().map(|(i, q)| q.abs() / self.size_of(i));
        grown.fold(1.0, f64::max)
    }

    fn weight(&self, i: usize) -> f64 {
        self.shape.weights[i]
    }

    fn energy(&self, cx: &Context, q: &[f64], v: &[f64]) -> Energy {
        let [kinetic, potential] = self.pair(Part::Energy, cx, q, v);
        Energy { kinetic, potential }
    }

    fn power(&self, cx: &Context, q: &[f64], v: &[f64]) -> Power {
        let [dissipated, supplied] = self.pair(Part::Power, cx, q, v);
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

    fn event_name(&self, i: usize) -> String {
        named(&self.shape.event_names, "event", i)
    }

    fn start_modes(&self, cx: &Context, q: &[f64], v: &[f64], modes: &mut [i32]) {
        modes.fill(0);
        if self.equations.has(Part::StartModes) {
            let answer = self.equations.start_modes(&Point::of_v(cx, q, v), modes);
            self.settle(Part::StartModes, cx.t, answer);
        }
    }

    fn events(&self, cx: &Context, at: &Motion, phi: &mut [f64], rate: &mut [f64]) {
        if phi.is_empty() {
            return;
        }
        phi.fill(0.0);
        rate.fill(f64::NAN);
        let answer = self.equations.events(&Point::of(cx, at), phi, rate);
        if answer == 0 {
            self.troubles.stop_if_not_finite(Part::Events, cx.t, phi);
        }
        self.settle(Part::Events, cx.t, answer);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        if !self.equations.has(Part::Crossing) {
            return Crossing::Either;
        }
        self.equations.crossing(modes, i).unwrap_or_else(|answer| {
            self.settle(Part::Crossing, f64::NAN, answer);
            Crossing::Off
        })
    }

    fn fire(
        &self,
        cx: &Context,
        at: &Motion,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> Reaction {
        if !self.equations.has(Part::Fire) {
            return Reaction::Mode;
        }
        n.fill(0.0);
        match self.equations.fire(&Point::of(cx, at), i, modes, n) {
            Ok(reaction) => {
                self.troubles.stop_if_not_finite(Part::Fire, cx.t, n);
                reaction
            }
            Err(answer) => {
                self.settle(Part::Fire, cx.t, answer);
                Reaction::Mode
            }
        }
    }

    fn hold(&self, i: usize, modes: &mut [i32]) {
        if self.equations.has(Part::Hold) {
            let answer = self.equations.hold(i, modes);
            self.settle(Part::Hold, f64::NAN, answer);
        }
    }
}

impl<E: Equations> Own<E> {
    /// Two numbers of the energy account; zero where the code gives none.
    fn pair(&self, part: Part, cx: &Context, q: &[f64], v: &[f64]) -> [f64; 2] {
        let mut out = [0.0; 2];
        if self.equations.has(part) {
            let answer = (self.equations).evaluate(part, &Point::of_v(cx, q, v), &mut out);
            self.settle(part, cx.t, answer);
        }
        out
    }
}

impl<E: Equations> Mechanism for Own<E> {
    fn start(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&self.shape.q);
        v.copy_from_slice(&self.shape.v);
    }

    fn evaluate(&self, _cx: &Context, quantity: Quantity, at: &Motion) -> f64 {
        match quantity {
            Quantity::Coordinate(i) => at.q[i],
            Quantity::Rate(i) => at.v[i],
            Quantity::Acceleration(i) => at.a[i],
            Quantity::Multiplier(i) => at.lambda[i],
            _ => f64::NAN,
        }
    }
}

impl<'a> Point<'a> {
    fn of_q(cx: &'a Context<'a>, q: &'a [f64]) -> Self {
        Self {
            cx,
            q,
            v: &[],
            a: &[],
            lambda: &[],
        }
    }

    fn of_v(cx: &'a Context<'a>, q: &'a [f64], v: &'a [f64]) -> Self {
        Self {
            v,
            ..Self::of_q(cx, q)
        }
    }

    fn of_a(cx: &'a Context<'a>, q: &'a [f64], a: &'a [f64]) -> Self {
        Self {
            a,
            ..Self::of_q(cx, q)
        }
    }

    fn of(cx: &'a Context<'a>, at: &Motion<'a>) -> Self {
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
