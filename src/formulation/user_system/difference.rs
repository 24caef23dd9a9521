//! Derivatives that somebody's code does not give, by differences. With δ_j = κ weight_j along tangent coordinate j:
//!
//! ```text
//!   K e_j, C e_j      (r(+δ) − r(−δ)) / 2δ                                κ = ε^(1/3)   only steer Newton's iteration
//!   G e_j             (8 [Φ(+δ) − Φ(−δ)] − [Φ(+2δ) − Φ(−2δ)]) / 12δ       κ = ε^(1/5)   enters the result
//!   Φ_t               the same along t, inputs moving
//!   γ                 the same for G v + Φ_t along (q ∘ s v, t + s), or, where G is not given,
//!                     (16 [Φ(+s) + Φ(−s)] − [Φ(+2s) + Φ(−2s)] − 30 Φ) / 12 s²       κ = ε^(1/6)
//! ```
//!
//! Columns of a matrix that share no row are displaced together (Curtis, Powell and Reid): a chain of any length costs as
//! many evaluations as one of three links.

use super::{Callback, CallbackArguments, UserEquations, UserSystem, UserSystemShape};
use crate::formulation::{ConfigurationSpace, Evaluated, EvaluationContext, TangentWeights};

/// ε^(1/3): balances the h² of a central difference and its rounding.
const CENTRAL: f64 = 6.06e-6;
/// ε^(1/5): the same for the fourth-order difference.
const FOURTH: f64 = 7.4e-4;
/// ε^(1/6): the same for the second derivative of fourth order.
const SECOND: f64 = 2.46e-3;
/// No displacement is smaller than this part of the coordinate itself: half its digits would be lost in the sum.
const VISIBLE: f64 = 1e-9;
/// Steps along t where Φ moves (s). Time has no size of its own: these leave six digits for drives of 100 rad/s and more
/// for slower ones.
const TIME: f64 = 1e-4;
const TIME_SECOND: f64 = 1e-3;

/// Weights of the fourth-order difference at +1, −1, +2, −2 steps.
const STENCIL: [(f64, f64); 4] = [
    (1.0, 8.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (2.0, -1.0 / 12.0),
    (-2.0, 1.0 / 12.0),
];

/// Columns of a pattern, in groups that share no row.
pub(super) struct ColumnGroups {
    /// Columns of each group, one group after the other.
    members: Vec<u32>,
    /// Where each group begins; one more at the end.
    groups: Vec<usize>,
    /// (place in the values, row) of each column, one column after the other.
    entries: Vec<(u32, u32)>,
    /// Where each column begins; one more at the end.
    begins: Vec<usize>,
}

impl ColumnGroups {
    /// Greedy: each column, in order, joins the first group that has none of its rows.
    pub fn new(rows: usize, columns: usize, places: &[(u32, u32)]) -> Self {
        let mut begins = vec![0; columns + 1];
        for &(_, j) in places {
            begins[j as usize + 1] += 1;
        }
        for j in 0..columns {
            begins[j + 1] += begins[j];
        }
        let mut at = begins.clone();
        let mut entries = vec![(0, 0); places.len()];
        for (k, &(i, j)) in places.iter().enumerate() {
            entries[at[j as usize]] = (k as u32, i);
            at[j as usize] += 1;
        }
        // For each row the groups that have it are found by its columns' groups.
        let mut of_row: Vec<Vec<u32>> = vec![Vec::new(); rows];
        let mut group_of = vec![u32::MAX; columns];
        let mut taken: Vec<usize> = Vec::new();
        for j in 0..columns {
            for &(_, i) in &entries[begins[j]..begins[j + 1]] {
                for &group in &of_row[i as usize] {
                    taken[group as usize] = j + 1;
                }
            }
            if begins[j] == begins[j + 1] {
                continue;
            }
            let free = taken.iter().position(|&last| last != j + 1);
            let group = free.unwrap_or_else(|| {
                taken.push(0);
                taken.len() - 1
            });
            group_of[j] = group as u32;
            for &(_, i) in &entries[begins[j]..begins[j + 1]] {
                of_row[i as usize].push(group as u32);
            }
        }
        let mut members = Vec::with_capacity(columns);
        let mut groups = vec![0];
        for group in 0..taken.len() {
            members.extend((0..columns as u32).filter(|&j| group_of[j as usize] == group as u32));
            groups.push(members.len());
        }
        Self {
            members,
            groups,
            entries,
            begins,
        }
    }

    pub fn groups(&self) -> usize {
        self.groups.len() - 1
    }

    pub fn group(&self, g: usize) -> &[u32] {
        &self.members[self.groups[g]..self.groups[g + 1]]
    }

    /// (place, row) of column `j`.
    pub fn column(&self, j: u32) -> &[(u32, u32)] {
        &self.entries[self.begins[j as usize]..self.begins[j as usize + 1]]
    }
}

/// Work space, so that a step allocates nothing.
pub(super) struct DifferenceScratch {
    /// Values of a matrix on their way into a sum.
    values: Vec<f64>,
    /// Values of M for a product.
    pub product: Vec<f64>,
    /// A vector before T⁻¹.
    pub turned: Vec<f64>,
    r: [Vec<f64>; 2],
    part: Vec<f64>,
    v: Vec<f64>,
    /// Of `path` and of `displaced`: one may be used inside the other's loop.
    places: [DifferencePoint; 2],
    phi: [Vec<f64>; 2],
    jacobian: [Vec<f64>; 2],
    inputs: [Vec<f64>; 2],
    /// T⁻¹ and (m M + c C), row by row; only with rotations.
    turn: [Vec<f64>; 2],
}

/// A displaced configuration.
struct DifferencePoint {
    w: Vec<f64>,
    q: Vec<f64>,
}

impl DifferenceScratch {
    pub fn new(shape: &UserSystemShape, rotations: bool) -> Self {
        let size = shape.size;
        let (nv, nc) = (size.nv, size.nc);
        let entries = shape.pattern.tangent.len();
        let place = || DifferencePoint {
            w: vec![0.0; nv],
            q: vec![0.0; size.nq],
        };
        let two = |n: usize| [vec![0.0; n], vec![0.0; n]];
        Self {
            values: vec![0.0; entries],
            product: vec![0.0; entries],
            turned: vec![0.0; if rotations { nv } else { 0 }],
            r: two(nv),
            part: vec![0.0; nv],
            v: vec![0.0; nv],
            places: [place(), place()],
            phi: two(nc),
            jacobian: two(shape.pattern.jacobian.len()),
            inputs: two(size.inputs),
            turn: two(if rotations { nv * nv } else { 0 }),
        }
    }
}

impl<E: UserEquations> UserSystem<E> {
    /// The step of a difference along tangent coordinate `j`.
    fn step(&self, kappa: f64, j: usize, q: &[f64]) -> f64 {
        let stored = if self.rotations { 0.0 } else { q[j].abs() };
        (kappa * self.shape.weights[j]).max(VISIBLE * stored)
    }

    /// Values of (m M + c C) T⁻¹ + k K.
    pub(super) fn tangent_values(
        &self,
        at: &CallbackArguments,
        w: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let scratch = &mut *self.scratch.lock();
        out.fill(0.0);
        if w.mass != 0.0 {
            self.add_mass(at, w.mass, scratch, out)?;
        }
        if w.damping != 0.0 && !self.shape.promises.no_velocity_forces {
            self.add_damping(at, w.damping, scratch, out)?;
        }
        if self.rotations && !w.theta.is_empty() {
            self.turn(w.theta, scratch, out);
        }
        if w.stiffness != 0.0 {
            self.add_stiffness(at, w.stiffness, scratch, out)?;
        }
        Ok(())
    }

    /// out += m M: as given, or column by column from M a.
    fn add_mass(
        &self,
        at: &CallbackArguments,
        m: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        if self.equations.has(Callback::Mass) {
            return self.add_given(
                Callback::Mass,
                &CallbackArguments::of_q(at.cx, at.q),
                m,
                scratch,
                out,
            );
        }
        let columns = &self.tangent_columns;
        let DifferenceScratch { v: unit, part, .. } = scratch;
        for g in 0..columns.groups() {
            unit.fill(0.0);
            for &j in columns.group(g) {
                unit[j as usize] = 1.0;
            }
            self.evaluate(
                Callback::MassTimes,
                &CallbackArguments::of_a(at.cx, at.q, unit),
                part,
            )?;
            for &j in columns.group(g) {
                for &(k, i) in columns.column(j) {
                    out[k as usize] += m * part[i as usize];
                }
            }
        }
        Ok(())
    }

    /// out += c C,  C = −∂f/∂v
    fn add_damping(
        &self,
        at: &CallbackArguments,
        c: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        let at = CallbackArguments::of_v(at.cx, at.q, at.v);
        if self.equations.has(Callback::ForceByV) {
            return self.add_given(Callback::ForceByV, &at, -c, scratch, out);
        }
        let columns = &self.tangent_columns;
        let DifferenceScratch { v, r, .. } = scratch;
        let step = |j: u32| {
            let j = j as usize;
            CENTRAL * self.shape.weights[j].max(at.v[j].abs())
        };
        for g in 0..columns.groups() {
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                v.copy_from_slice(at.v);
                for &j in columns.group(g) {
                    v[j as usize] += sign * step(j);
                }
                self.evaluate(
                    Callback::Force,
                    &CallbackArguments { v, ..at },
                    &mut r[side],
                )?;
            }
            for &j in columns.group(g) {
                let scale = -c / (2.0 * step(j));
                for &(k, i) in columns.column(j) {
                    out[k as usize] += scale * (r[0][i as usize] - r[1][i as usize]);
                }
            }
        }
        Ok(())
    }

    /// out += k K,  K = ∂(M a − f + Gᵀλ)/∂q: each term as given, the others differenced together.
    fn add_stiffness(
        &self,
        at: &CallbackArguments,
        k: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        let promises = self.shape.promises;
        let moves = |x: &[f64]| x.iter().any(|x| *x != 0.0);
        let inertia = !promises.constant_mass && !promises.linear && moves(at.a);
        let reaction = !promises.linear && moves(at.lambda);
        let terms = [
            (
                Callback::ForceByQ,
                true,
                -1.0,
                CallbackArguments::of_v(at.cx, at.q, at.v),
            ),
            (
                Callback::InertiaByQ,
                inertia,
                1.0,
                CallbackArguments::of_a(at.cx, at.q, at.a),
            ),
            (
                Callback::ReactionByQ,
                reaction,
                1.0,
                CallbackArguments {
                    lambda: at.lambda,
                    ..CallbackArguments::of_q(at.cx, at.q)
                },
            ),
        ];
        let mut missing = [false; 3];
        for (n, (part, wanted, sign, point)) in terms.into_iter().enumerate() {
            match wanted && self.equations.has(part) {
                true => self.add_given(part, &point, sign * k, scratch, out)?,
                false => missing[n] = wanted,
            }
        }
        if !missing.contains(&true) {
            return Ok(());
        }
        let columns = &self.tangent_columns;
        for g in 0..columns.groups() {
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                let place = &mut scratch.places[0];
                place.w.fill(0.0);
                for &j in columns.group(g) {
                    place.w[j as usize] = sign * self.step(CENTRAL, j as usize, at.q);
                }
                self.retract(at.q, &place.w, &mut place.q);
                self.residual(at, missing, side, scratch)?;
            }
            for &j in columns.group(g) {
                let scale = k / (2.0 * self.step(CENTRAL, j as usize, at.q));
                for &(place, i) in columns.column(j) {
                    let i = i as usize;
                    out[place as usize] += scale * (scratch.r[0][i] - scratch.r[1][i]);
                }
            }
        }
        Ok(())
    }

    /// r[side] = the wanted terms of M a − f + Gᵀλ at the first place.
    fn residual(
        &self,
        at: &CallbackArguments,
        [force, inertia, reaction]: [bool; 3],
        side: usize,
        scratch: &mut DifferenceScratch,
    ) -> Evaluated {
        let DifferenceScratch {
            places: [here, there],
            r,
            part,
            jacobian,
            product,
            phi,
            ..
        } = scratch;
        let (r, q) = (&mut r[side], &here.q);
        r.fill(0.0);
        if force {
            self.evaluate(
                Callback::Force,
                &CallbackArguments::of_v(at.cx, q, at.v),
                part,
            )?;
            for i in 0..r.len() {
                r[i] -= part[i];
            }
        }
        if inertia {
            if self.equations.has(Callback::MassTimes) {
                self.evaluate(
                    Callback::MassTimes,
                    &CallbackArguments::of_a(at.cx, q, at.a),
                    part,
                )?;
                for i in 0..r.len() {
                    r[i] += part[i];
                }
            } else {
                self.evaluate(Callback::Mass, &CallbackArguments::of_q(at.cx, q), product)?;
                for (&(i, j), m) in self.shape.pattern.tangent.iter().zip(&*product) {
                    r[i as usize] += m * at.a[j as usize];
                }
            }
        }
        if reaction {
            let g = &mut jacobian[0];
            match self.equations.has(Callback::Jacobian) {
                true => self.evaluate(Callback::Jacobian, &CallbackArguments::of_q(at.cx, q), g)?,
                false => self.difference_into(at.cx, q, there, &mut phi[0], g)?,
            }
            for (&(row, j), g) in self.shape.pattern.jacobian.iter().zip(&*g) {
                r[j as usize] += g * at.lambda[row as usize];
            }
        }
        Ok(())
    }

    /// out += weight times a matrix that is given.
    fn add_given(
        &self,
        part: Callback,
        at: &CallbackArguments,
        weight: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        self.evaluate(part, at, &mut scratch.values)?;
        for (out, value) in out.iter_mut().zip(&scratch.values) {
            *out += weight * value;
        }
        Ok(())
    }

    /// out := out T(θ)⁻¹. What falls outside the pattern is dropped: T couples the coordinates of one rotation only.
    fn turn(&self, theta: &[f64], scratch: &mut DifferenceScratch, out: &mut [f64]) {
        let n = self.shape.size.nv;
        let DifferenceScratch {
            turn: [inverse, full],
            v: unit,
            part,
            ..
        } = scratch;
        for j in 0..n {
            unit.fill(0.0);
            unit[j] = 1.0;
            self.group(Callback::TangentInverse, theta, unit, part);
            for i in 0..n {
                inverse[i * n + j] = part[i];
            }
        }
        full.fill(0.0);
        for (&(i, j), x) in self.shape.pattern.tangent.iter().zip(&*out) {
            full[i as usize * n + j as usize] = *x;
        }
        for (&(i, j), x) in self.shape.pattern.tangent.iter().zip(out) {
            let (i, j) = (i as usize, j as usize);
            *x = (0..n).map(|k| full[i * n + k] * inverse[k * n + j]).sum();
        }
    }

    /// G by differences of Φ.
    pub(super) fn differenced_jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let DifferenceScratch { places, phi, .. } = &mut *self.scratch.lock();
        if let Err(fault) = self.difference_into(cx, q, &mut places[1], &mut phi[0], out) {
            self.troubles.postpone(fault, cx.t);
            out.fill(f64::NAN);
        }
    }

    fn difference_into(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        place: &mut DifferencePoint,
        phi: &mut [f64],
        out: &mut [f64],
    ) -> Evaluated {
        out.fill(0.0);
        let columns = &self.jacobian_columns;
        for g in 0..columns.groups() {
            for (steps, weight) in STENCIL {
                place.w.fill(0.0);
                for &j in columns.group(g) {
                    place.w[j as usize] = steps * self.step(FOURTH, j as usize, q);
                }
                self.retract(q, &place.w, &mut place.q);
                self.evaluate(
                    Callback::Constraint,
                    &CallbackArguments::of_q(cx, &place.q),
                    phi,
                )?;
                for &j in columns.group(g) {
                    let scale = weight / self.step(FOURTH, j as usize, q);
                    for &(k, i) in columns.column(j) {
                        out[k as usize] += scale * phi[i as usize];
                    }
                }
            }
        }
        Ok(())
    }

    /// Φ_t by differences along t.
    pub(super) fn differenced_rate(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let DifferenceScratch { phi, inputs, .. } = &mut *self.scratch.lock();
        let e = visible_time(TIME, cx.t);
        let outcome = STENCIL.iter().try_for_each(|&(steps, weight)| {
            let cx = later(cx, steps * e, inputs);
            self.evaluate(
                Callback::Constraint,
                &CallbackArguments::of_q(&cx, q),
                &mut phi[0],
            )?;
            for i in 0..out.len() {
                out[i] += weight / e * phi[0][i];
            }
            Ok(())
        });
        if let Err(fault) = outcome {
            self.troubles.postpone(fault, cx.t);
            out.fill(f64::NAN);
        }
    }

    /// γ by differences along the motion.
    pub(super) fn differenced_convective(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) {
        if let Err(fault) = self.convective_into(cx, q, v, out) {
            self.troubles.postpone(fault, cx.t);
            out.fill(f64::NAN);
        }
    }

    fn convective_into(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) -> Evaluated {
        let fixed = self.shape.promises.fixed_constraints;
        let rates = fixed || self.equations.has(Callback::ConstraintRate);
        let first = self.equations.has(Callback::Jacobian) && rates;
        let (kappa, slowest) = match first {
            true => (FOURTH, visible_time(TIME, cx.t)),
            false => (SECOND, visible_time(TIME_SECOND, cx.t)),
        };
        out.fill(0.0);
        // The fastest coordinate moves by its step.
        let speed = (0..v.len()).fold(0.0, |s: f64, j| s.max(v[j].abs() / self.step(1.0, j, q)));
        if fixed && speed == 0.0 {
            return Ok(());
        }
        let e = match fixed {
            true => kappa / speed,
            false => slowest.min(kappa / speed),
        };
        let DifferenceScratch {
            places: [place, _],
            phi: [phi, rate],
            jacobian: [g, _],
            inputs,
            ..
        } = &mut *self.scratch.lock();
        let mut visit = |s: f64, weight: f64| -> Evaluated {
            let cx = match fixed {
                true => *cx,
                false => later(cx, s, inputs),
            };
            for (w, v) in place.w.iter_mut().zip(v) {
                *w = s * v;
            }
            self.retract(q, &place.w, &mut place.q);
            let at = CallbackArguments::of_q(&cx, &place.q);
            if !first {
                self.evaluate(Callback::Constraint, &at, phi)?;
            } else {
                self.evaluate(Callback::Jacobian, &at, g)?;
                phi.fill(0.0);
                for (&(i, j), g) in self.shape.pattern.jacobian.iter().zip(&*g) {
                    phi[i as usize] += g * v[j as usize];
                }
                if !fixed {
                    self.evaluate(Callback::ConstraintRate, &at, rate)?;
                    for (phi, rate) in phi.iter_mut().zip(&*rate) {
                        *phi += rate;
                    }
                }
            }
            for (out, phi) in out.iter_mut().zip(&*phi) {
                *out += weight * phi;
            }
            Ok(())
        };
        if first {
            for (steps, weight) in STENCIL {
                visit(steps * e, weight / e)?;
            }
            return Ok(());
        }
        for (steps, weight) in [
            (0.0, -30.0),
            (1.0, 16.0),
            (-1.0, 16.0),
            (2.0, -1.0),
            (-2.0, -1.0),
        ] {
            visit(steps * e, weight / (12.0 * e * e))?;
        }
        Ok(())
    }
}

/// A step of time that `t` can show.
fn visible_time(e: f64, t: f64) -> f64 {
    let e = e.max(VISIBLE * t.abs());
    // A power of two, so that t + e − t is e wherever that is possible.
    e.log2().round().exp2()
}

/// The context a little later, the inputs continued.
fn later<'a>(
    cx: &EvaluationContext<'a>,
    s: f64,
    [u, u_dot]: &'a mut [Vec<f64>; 2],
) -> EvaluationContext<'a> {
    for i in 0..u.len() {
        u[i] = cx.u[i] + s * (cx.u_dot[i] + 0.5 * s * cx.u_ddot[i]);
        u_dot[i] = cx.u_dot[i] + s * cx.u_ddot[i];
    }
    EvaluationContext {
        t: cx.t + s,
        u,
        u_dot,
        ..*cx
    }
}
