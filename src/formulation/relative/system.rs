//! The equations of motion in joint coordinates.

use std::sync::Arc;

use super::Relative;
use super::closure::NOWHERE;
use super::joint_map::JointMap;
use crate::formulation::absolute::Absolute;
use crate::formulation::absolute::geometry::RelativeCoordinate as _;
use crate::formulation::absolute::sparsity::gather;
use crate::formulation::transformed::VelocityTransformation;
use crate::formulation::{
    ConfigurationSpace, DescriptorForm, Dimensions, Energy, Evaluated, EvaluationContext,
    FullConstraintSet, HybridSystem, IntegralMemory, MotionPoint, Power, Properties, Sparsity,
    System, TangentWeights,
};
use crate::linalg::rotation::{self, Vec3};

impl<W: JointMap<N>, const N: usize> System for Relative<W, N> {
    fn dimensions(&self) -> Dimensions {
        self.size
    }

    fn properties(&self) -> Properties {
        Properties {
            rotations: self.tree.branches.iter().any(|b| b.on_group),
            // J̇ ż
            velocity_forces: true,
            constraint_handling: self.constraint_handling,
            ..self.inner.properties()
        }
    }

    fn sparsity(&self) -> Sparsity {
        match &self.descriptor {
            None => self.sparsity.clone(),
            Some(descriptor) => descriptor.sparsity.clone(),
        }
    }

    fn descriptor_form(&self) -> Option<Arc<dyn DescriptorForm>> {
        let raised = self.descriptor.clone()?;
        Some(raised)
    }

    fn characteristic_length(&self, i: usize) -> f64 {
        match self.descriptor {
            Some(_) => self.inner.characteristic_length(i),
            None => 1.0,
        }
    }

    fn full_constraints(&self) -> Option<&dyn FullConstraintSet> {
        Some(self)
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        let work = &mut *self.at(q);
        self.tree.carry(&work.geometry, a, &mut work.y);
        self.inner.mass_times(cx, &work.q, &work.y, &mut work.x);
        self.tree.collect(&work.geometry, &mut work.x, out);
    }

    /// Jᵀ (f − M J̇ ż)
    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        let work = &mut *self.moving(q, v);
        work.joints.fill(0.0);
        (self.tree).accelerate(&work.geometry, &work.joints, &work.bias, &mut work.y);
        let inertia = &mut work.tangent.inertia;
        self.inner.mass_times(cx, &work.q, &work.y, inertia);
        self.inner.force(cx, &work.q, &work.v, &mut work.x)?;
        for (x, inertia) in work.x.iter_mut().zip(inertia) {
            *x -= *inertia;
        }
        self.tree.collect(&work.geometry, &mut work.x, out);
        Ok(())
    }

    /// Jᵀ of the constraint friction of the bodies.
    fn constraint_friction(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        lambda: &[f64],
        out: &mut [f64],
    ) {
        let work = &mut *self.moving(q, v);
        for (k, &row) in self.rows.iter().enumerate() {
            work.lambda[row] = lambda[k];
        }
        work.x.fill(0.0);
        (self.inner).constraint_friction(cx, &work.q, &work.v, &work.lambda, &mut work.x);
        (self.tree).collect(&work.geometry, &mut work.x, &mut work.joints);
        for (out, own) in out.iter_mut().zip(&work.joints) {
            *out += own;
        }
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, a, lambda } = *at;
        let work = &mut *self.moving(q, v);
        match self.descriptor {
            None => self.joint_tangent(cx, work, (a, lambda), weights, out),
            Some(_) => self.body_tangent(cx, work, (a, lambda), weights, out),
        }
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        let work = &mut *self.at(q);
        let poses = &mut W::poses(&work.q);
        self.each_closure(|part, closure| {
            part.constraint(cx, poses, &mut phi[closure.rows.clone()]);
        });
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let work = &mut *self.at(q);
        if self.descriptor.is_some() {
            return self.inner.jacobian(cx, &work.q, out);
        }
        self.load_closures(cx, work);
        self.pull_back(work, out);
    }

    fn constraint_rate(&self, cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        self.each_closure(|part, closure| {
            part.constraint_rate(cx, &mut phi_t[closure.rows.clone()])
        });
    }

    /// γ of the bodies + G J̇ ż
    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let work = &mut *self.moving(q, v);
        self.load_closures(cx, work);
        let poses = &mut W::poses(&work.q);
        self.each_closure(|part, closure| {
            part.acceleration_bias(cx, poses, &work.v, &mut gamma[closure.rows.clone()]);
        });
        work.joints.fill(0.0);
        (self.tree).accelerate(&work.geometry, &work.joints, &work.bias, &mut work.y);
        for closure in &self.closures {
            for slot in closure.slots.clone() {
                let (row, column) = self.inner.sparsity.jacobian[slot];
                let own = closure.rows.start + row as usize - closure.inner;
                gamma[own] += work.g[slot] * work.y[column as usize];
            }
        }
    }

    fn is_velocity_constraint(&self, row: usize) -> bool {
        self.inner.is_velocity_constraint(self.rows[row])
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        self.inner.constraint_scale(self.rows[row])
    }

    fn smallest_row(&self, q: &[f64]) -> f64 {
        if self.descriptor.is_some() || self.closures.is_empty() {
            return 1.0;
        }
        let work = &mut *self.at(q);
        self.load_closures(&NOWHERE, work);
        self.smallest_closure_row(work)
    }

    /// The norm of the displacement of the bodies, J e.
    fn norm(&self, cx: &EvaluationContext, q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        let work = &mut *self.at(q);
        self.tree.carry(&work.geometry, e, &mut work.y);
        self.inner.norm(cx, &work.q, scale, &work.y)
    }

    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        let work = self.at(q);
        self.inner.coordinate_magnitude(&work.q)
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
        self.names[i].clone()
    }

    fn constraint_name(&self, i: usize) -> String {
        self.inner.constraint_name(self.rows[i])
    }
}

impl<W: JointMap<N>, const N: usize> ConfigurationSpace for Relative<W, N> {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        self.vectors(|stored, moved, count| {
            for k in 0..count {
                out[stored + k] = q[stored + k] + w[moved + k];
            }
        });
        for (stored, moved) in self.rotations() {
            let step = rotation::exp(&Vec3::new(w[moved], w[moved + 1], w[moved + 2]));
            let turned = rotation::product(&quaternion(q, stored), &step);
            out[stored..stored + 4].copy_from_slice(&rotation::normalized(&turned));
        }
        if self.inner.counted_angles.is_empty() {
            return;
        }
        // Counted angles: near the old value plus what the gradient foresees.
        let mut guard = self.at(q);
        let work = &mut *guard;
        self.tree.carry(&work.geometry, w, &mut work.y);
        self.tree.place(out, &mut work.other);
        let first = W::STORED * self.tree.branches.len();
        for (k, measure) in self.inner.counted_angles.iter().enumerate() {
            let (_, g) = measure.value(&mut W::poses(&work.q));
            let near = q[self.tree.stored + k] + gather(measure.bodies(), &g, &work.y);
            work.other[first + k] = near;
        }
        for (k, measure) in self.inner.counted_angles.iter().enumerate() {
            out[self.tree.stored + k] = measure.value(&mut W::poses(&work.other)).0;
        }
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        self.vectors(|stored, moved, count| {
            for k in 0..count {
                w[moved + k] = q1[stored + k] - q0[stored + k];
            }
        });
        for (stored, moved) in self.rotations() {
            let back = rotation::conjugate(&quaternion(q0, stored));
            let turned = rotation::product(&back, &quaternion(q1, stored));
            w[moved..moved + 3].copy_from_slice(rotation::log(&turned).as_slice());
        }
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (_, moved) in self.rotations() {
            let [x, y] = [x, y].map(|x| Vec3::from_column_slice(&x[moved..moved + 3]));
            out[moved..moved + 3].copy_from_slice(x.cross(&y).as_slice());
        }
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        for (_, moved) in self.rotations() {
            let [theta, own] = [theta, &*y].map(|x| Vec3::from_column_slice(&x[moved..moved + 3]));
            let turned = rotation::tangent_inverse(&theta) * own;
            y[moved..moved + 3].copy_from_slice(turned.as_slice());
        }
    }
}

impl<W: JointMap<N>, const N: usize> VelocityTransformation for Relative<W, N> {
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
        Some(evaluate(&work.q, &work.v))
    }

    fn with_motion<R>(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        n: &mut [f64],
        evaluate: impl FnOnce(&MotionPoint, &mut [f64]) -> R,
    ) -> Option<R> {
        let work = &mut *self.moving(at.q, at.v);
        let mut gradient = std::mem::take(&mut work.gradient);
        gradient.fill(0.0);
        let result = evaluate(&self.lifted(cx, work, at), &mut gradient);
        if !n.is_empty() {
            self.tree.collect(&work.geometry, &mut gradient, n);
        }
        work.gradient = gradient;
        Some(result)
    }

    fn active(&self, modes: &[i32], active: &mut [bool]) {
        let mut work = self.work.lock();
        self.inner.active_constraints(modes, &mut work.active);
        for (out, &row) in active.iter_mut().zip(&self.rows) {
            *out = work.active[row];
        }
    }
}

fn quaternion(q: &[f64], at: usize) -> rotation::Quaternion {
    [q[at], q[at + 1], q[at + 2], q[at + 3]]
}
