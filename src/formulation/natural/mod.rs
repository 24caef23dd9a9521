//! Natural coordinates: points and unit vectors, shared between the bodies that a joint ties to them (García de Jalón). Every
//! body is a linear function of a few of them (`frame`), so its mass matrix is constant and centrifugal and gyroscopic forces do
//! not exist:
//!
//! ```text
//!   M ẍ + Gᵀ λ = J(x)ᵀ f,      M = Σ Lᵀ diag(m, shape) L
//!   Φ = rows of rigid bodies (`rigid`), and rows of joints, motions and contacts that sharing does not hold
//! ```
//!
//! Joints, forces, events and quantities are those of absolute coordinates: poses follow from x, forces come back by Jᵀ. The
//! stored coordinates are x and behind them the poses, which `retract` keeps next to x; so turns are counted and quaternions
//! keep their sign. Constraint rows are those of absolute coordinates in their order, the shared ones empty and never active,
//! and behind them those of the rigid bodies.

pub mod body_map;
mod layout;
mod planar;
mod quantity;
mod rigidity;
pub mod shared_points;
mod spatial;
mod tangent;
#[cfg(test)]
mod tests;

use super::absolute::geometry::BodyInertia as _;
use super::absolute::planar::PlanarGeometry;
use super::absolute::spatial::SpatialGeometry;
use super::absolute::{Absolute, NamedConstraint};
use super::selection::constraint_handling;
use super::{
    ConfigurationSpace, ConstraintHandling, Crossing, Dimensions, Energy, Evaluated,
    EvaluationContext, EventEffect, FullConstraintSet, HybridSystem, MotionPoint, Power,
    Properties, Sparsity, System, TangentWeights, TangentialFriction,
};
use crate::error::Result;
use crate::formulation::cache::{CacheGuard, Cached};
use crate::model::Model;
use body_map::{BodyMap, MOST, height};
use layout::NaturalLayout;
use tangent::TangentBlock;

/// A mechanism of the plane in natural coordinates.
pub type PlanarNatural = Natural<PlanarGeometry, 6>;
/// A mechanism of space in natural coordinates.
pub type SpatialNatural = Natural<SpatialGeometry, 12>;

/// A mechanism in natural coordinates.
#[derive(Debug)]
pub struct Natural<W: BodyMap<N>, const N: usize> {
    inner: Absolute<W, N>,
    constraint_handling: ConstraintHandling,
    layout: NaturalLayout,
    size: Dimensions,
    /// Rows of the inner system.
    height: usize,
    pattern: Sparsity,
    /// Parts of rows that sharing does not hold.
    kept: Vec<NaturalTransfer>,
    /// Whether each row of the inner system is among them, and the numbers of these rows.
    live: Vec<bool>,
    numbers: Vec<usize>,
    blocks: Vec<TangentBlock>,
    /// Where the numbers of J of each body begin in the work space.
    arms: Vec<usize>,
    work: Cached<NaturalCache>,
}

/// Rows of joints, motions and contacts that are there.
#[derive(Clone, Debug)]
struct NaturalTransfer {
    /// The part in the inner system, and its first row.
    part: usize,
    first: usize,
    rows: usize,
    /// Its entries in the Jacobian of the inner system.
    slots: std::ops::Range<usize>,
    /// The bodies it touches.
    bodies: Vec<usize>,
}

/// Everything at the last point that was looked at. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct NaturalCache {
    /// The point: stored coordinates (NaN: none yet), and rates.
    q: Vec<f64>,
    x_dot: Vec<f64>,
    /// y of the bodies, and J, row by row.
    y: Vec<f64>,
    arms: Vec<f64>,
    /// Rates of bodies.
    v: Vec<f64>,
    /// Scratch: tangent vectors of bodies, entries of G, rows.
    a: Vec<f64>,
    f: Vec<f64>,
    gradient: Vec<f64>,
    g: Vec<f64>,
    tangent: tangent::NaturalTangentWorkspace,
}

impl<W: BodyMap<N>, const N: usize> Natural<W, N> {
    const WIDTH: usize = N / 2;
    const Y: usize = height::<W, N>();

    /// The equations of a model of this dimension.
    pub fn new(model: &Model) -> Result<Self> {
        let inner = Absolute::<W, N>::new(model)?;
        let layout = layout::layout(&inner);
        let inner_size = System::dimensions(&inner);
        let nx = layout.names.len();

        let mut pattern = Sparsity::default();
        let (mut kept, mut live) = (Vec::new(), vec![false; inner_size.nc]);
        let mut slot = 0;
        for (k, NamedConstraint { part, first, .. }) in inner.constraints.iter().enumerate() {
            let from = slot;
            let mut bodies: Vec<usize> = Vec::new();
            part.sparsity(&mut |_, column| {
                slot += 1;
                if !bodies.contains(&(column / Self::WIDTH)) {
                    bodies.push(column / Self::WIDTH);
                }
            });
            if layout.shared[k] {
                continue;
            }
            for row in *first..first + part.count() {
                live[row] = true;
                for &b in &bodies {
                    let own = layout.bodies[b].own.iter();
                    pattern.jacobian.extend(own.map(|x| (row as u32, *x)));
                }
            }
            kept.push(NaturalTransfer {
                part: k,
                first: *first,
                rows: part.count(),
                slots: from..slot,
                bodies,
            });
        }
        for (k, rigid) in layout.rigid.iter().enumerate() {
            let row = (inner_size.nc + k) as u32;
            (rigid.row).pattern(W::DIMENSION, &mut |x| pattern.jacobian.push((row, x)));
        }
        let blocks = tangent::blocks::<N>(&inner.sparsity, &layout, W::DIMENSION);
        for block in &blocks {
            let [rows, columns] = block.bodies.map(|b| &layout.bodies[b].own);
            for i in rows {
                pattern.tangent.extend(columns.iter().map(|j| (*i, *j)));
            }
        }

        let mut arms = Vec::with_capacity(layout.bodies.len());
        let mut numbers = 0;
        for body in &layout.bodies {
            arms.push(numbers);
            numbers += Self::WIDTH * body.own.len();
        }
        let size = Dimensions {
            nq: nx + inner_size.nq,
            nv: nx,
            nc: inner_size.nc + layout.rigid.len(),
            ..inner_size
        };
        let work = NaturalCache {
            q: vec![f64::NAN; size.nq],
            x_dot: vec![f64::NAN; nx],
            y: vec![0.0; Self::Y * layout.bodies.len()],
            arms: vec![0.0; numbers],
            v: vec![0.0; inner_size.nv],
            a: vec![0.0; inner_size.nv],
            f: vec![0.0; inner_size.nv],
            gradient: vec![0.0; inner_size.nv],
            g: vec![0.0; inner.sparsity.jacobian.len()],
            tangent: tangent::NaturalTangentWorkspace::new(
                inner.sparsity.tangent.len(),
                inner_size.nv,
            ),
        };
        Ok(Self {
            constraint_handling: constraint_handling(&model.solver),
            height: inner_size.nc,
            inner,
            layout,
            size,
            pattern,
            kept,
            live,
            numbers: (0..inner_size.nc).collect(),
            blocks,
            arms,
            work: Cached::new(work),
        })
    }

    /// Points and vectors that are coordinates, and the rows that keep bodies rigid.
    pub fn counts(&self) -> (usize, usize) {
        (self.layout.items.len(), self.layout.rigid.len())
    }

    /// The poses among the stored coordinates.
    #[inline]
    fn poses<'a>(&self, q: &'a [f64]) -> &'a [f64] {
        &q[self.size.nv..]
    }

    /// The work space at q.
    fn at(&self, q: &[f64]) -> CacheGuard<'_, NaturalCache> {
        let mut guard = self.work.lock();
        let work = &mut *guard;
        if work.q != q {
            work.q.copy_from_slice(q);
            work.x_dot.fill(f64::NAN);
            for b in 0..self.layout.bodies.len() {
                let y = &mut work.y[Self::Y * b..Self::Y * (b + 1)];
                self.form(b, q, y);
                let arm = &mut work.arms[self.arms[b]..];
                self.arm(b, y, arm);
            }
        }
        guard
    }

    /// The same with rates.
    fn moving(&self, q: &[f64], v: &[f64]) -> CacheGuard<'_, NaturalCache> {
        let mut guard = self.at(q);
        let work = &mut *guard;
        if work.x_dot != v {
            work.x_dot.copy_from_slice(v);
            self.carry(&work.arms, v, &mut work.v);
        }
        guard
    }

    /// y = y₀ + L x of body b.
    fn form(&self, b: usize, x: &[f64], y: &mut [f64]) {
        let body = &self.layout.bodies[b];
        y.copy_from_slice(&body.constant);
        for &(m, c, value) in &body.entries {
            y[m as usize] += value * x[body.own[c as usize] as usize];
        }
    }

    /// ẏ = L ẋ of body b.
    fn form_rate(&self, b: usize, x_dot: &[f64], y: &mut [f64]) {
        let body = &self.layout.bodies[b];
        y.fill(0.0);
        for &(m, c, value) in &body.entries {
            y[m as usize] += value * x_dot[body.own[c as usize] as usize];
        }
    }

    /// J of body b, row by row, over its own coordinates; linear in y but for the translations.
    fn arm(&self, b: usize, y: &[f64], arm: &mut [f64]) {
        let body = &self.layout.bodies[b];
        let (n, dimension) = (body.own.len(), W::DIMENSION);
        arm[..Self::WIDTH * n].fill(0.0);
        let a = &y[dimension..];
        for &(m, c, value) in &body.entries {
            let (m, c) = (m as usize, c as usize);
            if m < dimension {
                arm[m * n + c] += value;
                continue;
            }
            for &(i, j, k, factor) in W::SPIN {
                if j as usize == m - dimension {
                    arm[(dimension + k as usize) * n + c] += factor * a[i as usize] * value;
                }
            }
        }
    }

    /// v_b = J ẋ
    fn carry(&self, arms: &[f64], x: &[f64], out: &mut [f64]) {
        for (b, body) in self.layout.bodies.iter().enumerate() {
            let n = body.own.len();
            let arm = &arms[self.arms[b]..self.arms[b] + Self::WIDTH * n];
            for k in 0..Self::WIDTH {
                let row = &arm[k * n..(k + 1) * n];
                out[Self::WIDTH * b + k] = (row.iter().zip(&body.own))
                    .map(|(j, c)| j * x[*c as usize])
                    .sum();
            }
        }
    }

    /// out += Jᵀ f
    fn collect(&self, arms: &[f64], f: &[f64], out: &mut [f64]) {
        for (b, body) in self.layout.bodies.iter().enumerate() {
            let n = body.own.len();
            let arm = &arms[self.arms[b]..self.arms[b] + Self::WIDTH * n];
            for k in 0..Self::WIDTH {
                let f = f[Self::WIDTH * b + k];
                if f != 0.0 {
                    for (j, c) in arm[k * n..(k + 1) * n].iter().zip(&body.own) {
                        out[*c as usize] += j * f;
                    }
                }
            }
        }
    }

    /// Mass and the mass matrix of the columns of A of body b.
    fn mass(&self, b: usize, cx: &EvaluationContext) -> (f64, [[f64; 3]; 3]) {
        let mut inertia = [[0.0; 3]; 3];
        let turning = Self::WIDTH - W::DIMENSION;
        for k in 0..turning {
            let (mut unit, mut out) = ([0.0; N], [0.0; N]);
            unit[W::DIMENSION + k] = 1.0;
            (self.inner).body_mass_times(b, cx, &unit[..Self::WIDTH], &mut out[..Self::WIDTH]);
            for i in 0..turning {
                inertia[i][k] = out[W::DIMENSION + i];
            }
        }
        let m = self.inner.bodies[b].inertia().mass(cx);
        (m, W::shape(&inertia))
    }

    /// G of the inner system, the rows that are there only, into the work space.
    fn load_rows(&self, q: &[f64], g: &mut [f64]) {
        let poses = &mut W::poses(self.poses(q));
        for kept in &self.kept {
            let part = &self.inner.constraints[kept.part].part;
            part.jacobian(poses, &mut g[kept.slots.clone()]);
        }
    }

    /// f += Gᵀ λ over the bodies, of the rows that are there.
    fn add_rows(&self, g: &[f64], lambda: &[f64], f: &mut [f64]) {
        for kept in &self.kept {
            for slot in kept.slots.clone() {
                let (row, column) = self.inner.sparsity.jacobian[slot];
                f[column as usize] += g[slot] * lambda[row as usize];
            }
        }
    }

    /// The motion of the bodies. Rates are loaded.
    fn lifted<'a>(&self, work: &'a mut NaturalCache, at: &MotionPoint<'a>) -> MotionPoint<'a> {
        self.carry(&work.arms, at.a, &mut work.a);
        MotionPoint {
            q: self.poses(at.q),
            v: &work.v,
            a: &work.a,
            lambda: &at.lambda[..self.height],
        }
    }
}

impl<W: BodyMap<N>, const N: usize> System for Natural<W, N> {
    fn dimensions(&self) -> Dimensions {
        self.size
    }

    fn properties(&self) -> Properties {
        Properties {
            // Poses are stored beside the coordinates: adding does not do.
            rotations: true,
            velocity_forces: self.inner.has_velocity_forces(),
            constraint_handling: self.constraint_handling,
            ..self.inner.properties()
        }
    }

    fn sparsity(&self) -> Sparsity {
        self.pattern.clone()
    }

    fn full_constraints(&self) -> Option<&dyn FullConstraintSet> {
        Some(self)
    }

    fn mass_times(&self, cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let dimension = W::DIMENSION;
        let (mut y, mut f) = ([0.0; MOST], [0.0; MOST]);
        for (b, body) in self.layout.bodies.iter().enumerate() {
            let (m, shape) = self.mass(b, cx);
            self.form_rate(b, a, &mut y[..Self::Y]);
            for c in 0..dimension {
                f[c] = m * y[c];
                for i in 0..W::COLUMNS {
                    let row = &shape[i];
                    f[dimension * (1 + i) + c] = (0..W::COLUMNS)
                        .map(|j| row[j] * y[dimension * (1 + j) + c])
                        .sum();
                }
            }
            for &(m, c, value) in &body.entries {
                out[body.own[c as usize] as usize] += value * f[m as usize];
            }
        }
    }

    /// Jᵀ f
    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        let work = &mut *self.moving(q, v);
        (self.inner).applied_force(cx, self.poses(q), &work.v, &mut work.f);
        out.fill(0.0);
        self.collect(&work.arms, &work.f, out);
        Ok(())
    }

    fn constraint_friction(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        lambda: &[f64],
        out: &mut [f64],
    ) {
        let work = &mut *self.moving(q, v);
        work.f.fill(0.0);
        let lambda = &lambda[..self.height];
        (self.inner).constraint_friction(cx, self.poses(q), &work.v, lambda, &mut work.f);
        self.collect(&work.arms, &work.f, out);
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, lambda, .. } = *at;
        self.write_tangent(cx, q, v, lambda, weights, out);
        Ok(())
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        let poses = &mut W::poses(self.poses(q));
        phi[..self.height].fill(0.0);
        for kept in &self.kept {
            let part = &self.inner.constraints[kept.part].part;
            part.constraint(cx, poses, &mut phi[kept.first..kept.first + kept.rows]);
        }
        for (phi, rigid) in phi[self.height..].iter_mut().zip(&self.layout.rigid) {
            *phi = rigid.row.value(W::DIMENSION, q);
        }
    }

    /// G J of the rows of the inner system, then those of the rigid bodies.
    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let work = &mut *self.at(q);
        self.load_rows(q, &mut work.g);
        let mut at = 0;
        for kept in &self.kept {
            let entries = &self.inner.sparsity.jacobian[kept.slots.clone()];
            for row in kept.first..kept.first + kept.rows {
                for &b in &kept.bodies {
                    let n = self.layout.bodies[b].own.len();
                    let arm = &work.arms[self.arms[b]..self.arms[b] + Self::WIDTH * n];
                    let out = &mut out[at..at + n];
                    out.fill(0.0);
                    let values = &work.g[kept.slots.clone()];
                    for (&(r, column), value) in entries.iter().zip(values) {
                        let (body, k) =
                            (column as usize / Self::WIDTH, column as usize % Self::WIDTH);
                        if r as usize == row && body == b {
                            for (out, j) in out.iter_mut().zip(&arm[k * n..(k + 1) * n]) {
                                *out += value * j;
                            }
                        }
                    }
                    at += n;
                }
            }
        }
        for rigid in &self.layout.rigid {
            at += rigid.row.jacobian(W::DIMENSION, q, &mut out[at..]);
        }
    }

    fn constraint_rate(&self, cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        phi_t.fill(0.0);
        for kept in &self.kept {
            let part = &self.inner.constraints[kept.part].part;
            part.constraint_rate(cx, &mut phi_t[kept.first..kept.first + kept.rows]);
        }
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let work = self.moving(q, v);
        let poses = &mut W::poses(self.poses(q));
        gamma[..self.height].fill(0.0);
        for kept in &self.kept {
            let part = &self.inner.constraints[kept.part].part;
            part.acceleration_bias(
                cx,
                poses,
                &work.v,
                &mut gamma[kept.first..kept.first + kept.rows],
            );
        }
        for (gamma, rigid) in gamma[self.height..].iter_mut().zip(&self.layout.rigid) {
            *gamma = rigid.row.convective(W::DIMENSION, v);
        }
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        match row.checked_sub(self.height) {
            None => self.inner.constraint_scale(row),
            Some(k) if self.layout.rigid[k].is_length => self.inner.length,
            Some(_) => 1.0,
        }
    }

    fn characteristic_length(&self, i: usize) -> f64 {
        if self.layout.vectors[i] {
            self.inner.length
        } else {
            1.0
        }
    }

    /// The norm of what the error moves the bodies by.
    fn norm(&self, cx: &EvaluationContext, q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        let work = &mut *self.at(q);
        self.carry(&work.arms, e, &mut work.a);
        self.inner.norm(cx, self.poses(q), scale, &work.a)
    }

    /// Angles are not stored for their size: points are rounded by their distance only.
    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        let x = q[..self.size.nv].iter().zip(&self.layout.vectors);
        let far =
            (x.filter(|(_, vector)| !**vector)).fold(0.0, |far, (x, _)| f64::max(far, x.abs()));
        (far / self.inner.length).max(self.inner.coordinate_magnitude(self.poses(q)))
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let work = self.moving(q, v);
        self.inner.energy(cx, self.poses(q), &work.v)
    }

    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        let work = self.moving(q, v);
        self.inner.power(cx, self.poses(q), &work.v)
    }

    fn coordinate_name(&self, i: usize) -> String {
        self.layout.names[i].clone()
    }

    fn constraint_name(&self, i: usize) -> String {
        match i.checked_sub(self.height) {
            None => self.inner.constraint_name(i),
            Some(k) => self.inner.bodies[self.layout.rigid[k].body].name.clone(),
        }
    }
}

impl<W: BodyMap<N>, const N: usize> ConfigurationSpace for Natural<W, N> {
    /// x + w, and the poses of it.
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        let nx = self.size.nv;
        for i in 0..nx {
            out[i] = q[i] + w[i];
        }
        let (x, poses) = out.split_at_mut(nx);
        let before = self.poses(q);
        let mut y = [0.0; MOST];
        let y = &mut y[..Self::Y];
        for b in 0..self.layout.bodies.len() {
            self.form(b, x, y);
            let own = W::STORED * b..W::STORED * (b + 1);
            W::settle(y, &before[own.clone()], &mut poses[own]);
        }
        self.inner.update_turn_counters(before, poses);
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        for i in 0..w.len() {
            w[i] = q1[i] - q0[i];
        }
    }
}

impl<W: BodyMap<N>, const N: usize> HybridSystem for Natural<W, N> {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        let (inner, rigid) = rows.split_at_mut(self.height);
        self.inner.active_constraints(modes, inner);
        for (on, live) in inner.iter_mut().zip(&self.live) {
            *on &= live;
        }
        rigid.fill(true);
    }

    fn initial_modes(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], modes: &mut [i32]) {
        let work = self.moving(q, v);
        (self.inner).initial_modes(cx, self.poses(q), &work.v, modes);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        if self.size.ne > 0 {
            let work = &mut *self.moving(at.q, at.v);
            self.inner
                .event_functions(cx, &self.lifted(work, at), phi, rate);
        }
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
        let work = &mut *self.moving(at.q, at.v);
        let mut gradient = std::mem::take(&mut work.gradient);
        gradient.fill(0.0);
        let motion = self.lifted(work, at);
        let reaction = self
            .inner
            .handle_event(cx, &motion, i, modes, &mut gradient);
        n.fill(0.0);
        self.collect(&work.arms, &gradient, n);
        work.gradient = gradient;
        reaction
    }

    fn tangential_direction(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        direction: usize,
        t: &mut [f64],
    ) -> Option<TangentialFriction> {
        let work = &mut *self.moving(at.q, at.v);
        let mut gradient = std::mem::take(&mut work.gradient);
        gradient.fill(0.0);
        let motion = self.lifted(work, at);
        let slip = self
            .inner
            .tangential_direction(cx, &motion, i, direction, &mut gradient);
        if slip.is_some() {
            t.fill(0.0);
            self.collect(&work.arms, &gradient, t);
        }
        work.gradient = gradient;
        slip
    }

    fn event_name(&self, i: usize) -> String {
        self.inner.event_name(i)
    }

    fn deactivate_unilateral(&self, modes: &mut [i32], gaps: &mut [bool]) {
        self.inner.deactivate_unilateral(modes, gaps);
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.inner.activate_unilateral(i, modes);
    }
}
