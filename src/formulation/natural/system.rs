//! The equations of motion in natural coordinates.

use super::Natural;
use super::body_map::{BodyMap, MAX_Y};
use crate::formulation::absolute::Absolute;
use crate::formulation::transformed::VelocityTransformation;
use crate::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, FullConstraintSet,
    HybridSystem, IntegralMemory, MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};

impl<W: BodyMap<N>, const N: usize> System for Natural<W, N> {
    fn dimensions(&self) -> Dimensions {
        self.size
    }

    fn properties(&self) -> Properties {
        Properties {
            // The stored poses change too: `retract` is not addition.
            rotations: true,
            velocity_forces: self.inner.has_velocity_forces(),
            constraint_handling: self.constraint_handling,
            ..self.inner.properties()
        }
    }

    fn sparsity(&self) -> Sparsity {
        self.sparsity.clone()
    }

    fn full_constraints(&self) -> Option<&dyn FullConstraintSet> {
        Some(self)
    }

    fn mass_times(&self, cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let dimension = W::DIMENSION;
        let (mut y, mut f) = ([0.0; MAX_Y], [0.0; MAX_Y]);
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

    /// G J of the kept constraints, then the rigidity constraints.
    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let work = &mut *self.at(q);
        self.load_rows(cx, q, &mut work.g);
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

    fn is_velocity_constraint(&self, row: usize) -> bool {
        row < self.height && self.inner.is_velocity_constraint(row)
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

    /// The norm of the displacement of the bodies, J e.
    fn norm(&self, cx: &EvaluationContext, q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        let work = &mut *self.at(q);
        self.carry(&work.arms, e, &mut work.a);
        self.inner.norm(cx, self.poses(q), scale, &work.a)
    }

    /// The rounding of points grows with their distance from the origin.
    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        let x = q[..self.size.nv].iter().zip(&self.layout.vectors);
        let far =
            (x.filter(|(_, vector)| !**vector)).fold(0.0, |far, (x, _)| f64::max(far, x.abs()));
        (far / self.inner.length).max(self.inner.coordinate_magnitude(self.poses(q)))
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        self.inner_energy(cx, q, v)
    }

    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        self.inner_power(cx, q, v)
    }

    fn integrals(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [IntegralMemory]) {
        self.inner_integrals(cx, (q, v), out);
    }

    fn integral_rates(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.inner_integral_rates(cx, (q, v), out);
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
    /// x + w and its poses.
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        let nx = self.size.nv;
        for i in 0..nx {
            out[i] = q[i] + w[i];
        }
        let (x, poses) = out.split_at_mut(nx);
        let before = self.poses(q);
        let mut y = [0.0; MAX_Y];
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

impl<W: BodyMap<N>, const N: usize> VelocityTransformation for Natural<W, N> {
    type Inner = Absolute<W, N>;

    fn inner(&self) -> &Absolute<W, N> {
        &self.inner
    }

    fn with_velocities<R>(
        &self,
        q: &[f64],
        v: &[f64],
        evaluate: impl FnOnce(&[f64], &[f64]) -> R,
    ) -> Option<R> {
        let work = self.moving(q, v);
        Some(evaluate(self.poses(q), &work.v))
    }

    fn with_motion<R>(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        n: &mut [f64],
        evaluate: impl FnOnce(&MotionPoint, &mut [f64]) -> R,
    ) -> Option<R> {
        let work = &mut *self.moving(at.q, at.v);
        let mut gradient = std::mem::take(&mut work.gradient);
        gradient.fill(0.0);
        let result = evaluate(&self.lifted(work, at), &mut gradient);
        if !n.is_empty() {
            n.fill(0.0);
            self.collect(&work.arms, &gradient, n);
        }
        work.gradient = gradient;
        Some(result)
    }

    fn active(&self, modes: &[i32], active: &mut [bool]) {
        let (inner, rigid) = active.split_at_mut(self.height);
        self.inner.active_constraints(modes, inner);
        for (on, live) in inner.iter_mut().zip(&self.live) {
            *on &= live;
        }
        rigid.fill(true);
    }
}
