//! The equations of motion in independent coordinates.

use super::kinematics::{CoordinateKind, CoordinateLayout};
use super::{Topological, TopologicalCache};
use crate::formulation::relative::closure::ClosureConstraints;
use crate::formulation::transformed::VelocityTransformation;
use crate::formulation::{
    ConfigurationSpace, CoordinatePartitioning, Dimensions, Energy, Evaluated, EvaluationContext,
    FullConstraintSet, IntegralMemory, MotionPoint, Power, Properties, Sparsity, System,
    TangentWeights,
};
use crate::linalg::rotation::{self, Vec3};

/// Ratio of the smallest to the largest pivot of J_d below which a failed step is attributed to it.
const NEARLY_SINGULAR: f64 = 1e-3;
/// Largest apparent velocity jump in a step, relative to the velocities.
const MAX_VELOCITY_JUMP: f64 = 0.25;

impl TopologicalCache {
    /// `z[0]` = P y at the current configuration.
    pub(super) fn carry(&mut self, l: &CoordinateLayout, y: &[f64]) {
        self.here.carry(l, y, &mut self.z[0]);
        self.here.to_joints(l, &mut self.z[0]);
    }

    /// y = Pᵀ `z[k]`, which is overwritten.
    pub(super) fn gather(&mut self, l: &CoordinateLayout, k: usize, y: &mut [f64]) {
        self.here.off_joints(l, &mut self.z[k]);
        self.here.gather(l, &self.z[k], y);
    }

    /// `z[1]` = z̈ of independent accelerations. The cache holds the velocities.
    pub(super) fn accelerate(&mut self, l: &CoordinateLayout, a: &[f64]) {
        self.carry(l, a);
        let [z, out, ..] = &mut self.z;
        for ((out, z), bias) in out.iter_mut().zip(z).zip(&self.here.rates.bias) {
            *out = *z + bias;
        }
    }

    /// Writes λ of all inner constraints from the remaining ones; those of the loops are zero.
    pub(super) fn spread(&mut self, l: &CoordinateLayout, own: &[f64]) {
        self.lambda.fill(0.0);
        for (&row, lambda) in l.own.iter().zip(own) {
            self.lambda[row] = *lambda;
        }
    }
}

impl System for Topological {
    fn partitioning(&self) -> Option<&dyn CoordinatePartitioning> {
        Some(self)
    }

    fn dimensions(&self) -> Dimensions {
        let l = &self.layout;
        Dimensions {
            nq: l.stored(),
            nv: l.moved(),
            nc: l.own.len(),
            ..l.inner
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            rotations: !self.layout.turning.is_empty(),
            velocity_forces: true,
            ..self.inner.properties()
        }
    }

    fn sparsity(&self) -> Sparsity {
        let (nv, nc) = (self.layout.moved() as u32, self.layout.own.len() as u32);
        let all = |rows: u32| (0..rows).flat_map(|i| (0..nv).map(move |j| (i, j)));
        Sparsity {
            tangent: all(nv).collect(),
            jacobian: all(nc).collect(),
        }
    }

    fn full_constraints(&self) -> Option<&dyn FullConstraintSet> {
        self.inner
            .full_constraints()
            .map(|_| self as &dyn FullConstraintSet)
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        let Some(mut guard) = self.at(q) else {
            return out.fill(f64::NAN);
        };
        let (l, work) = (&self.layout, &mut *guard);
        work.carry(l, a);
        let [z, f, ..] = &mut work.z;
        self.inner.mass_times(cx, work.here.z(l), z, f);
        work.gather(l, 1, out);
    }

    /// The loops are eliminated: the squared conditioning of the dependent coordinates takes the place of a pivot.
    fn smallest_row(&self, q: &[f64]) -> f64 {
        self.at(q)
            .map_or(0.0, |work| work.here.factor.conditioning.powi(2))
    }

    /// Pᵀ (f − M b)
    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        let Some(mut guard) = self.moving(q, v) else {
            out.fill(f64::NAN);
            return Ok(());
        };
        let (l, work) = (&self.layout, &mut *guard);
        let [inertia, force, ..] = &mut work.z;
        let (z, rates) = (work.here.z(l), &work.here.rates);
        self.inner.mass_times(cx, z, &rates.bias, inertia);
        self.inner.force(cx, z, &rates.z_dot, force)?;
        for (f, inertia) in force.iter_mut().zip(inertia) {
            *f -= *inertia;
        }
        work.gather(l, 1, out);
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
        let Some(mut guard) = self.moving(q, v) else {
            return out.fill(f64::NAN);
        };
        let (l, work) = (&self.layout, &mut *guard);
        work.spread(l, lambda);
        let force = &mut work.z[1];
        force.fill(0.0);
        let (z, rates) = (work.here.z(l), &work.here.rates);
        (self.inner).constraint_friction(cx, z, &rates.z_dot, &work.lambda, force);
        let mut own = std::mem::take(&mut work.y);
        work.gather(l, 1, &mut own);
        for (out, own) in out.iter_mut().zip(&own) {
            *out += own;
        }
        work.y = own;
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, a, lambda } = *at;
        match self.moving(q, v) {
            Some(mut work) => self.stiffness(cx, &mut work, a, lambda, weights, out),
            None => {
                out.fill(f64::NAN);
                Ok(())
            }
        }
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        let l = &self.layout;
        if l.own.is_empty() {
            return;
        }
        let work = &mut *self.lock();
        self.inner.constraint(cx, &q[l.joints()], &mut work.phi);
        for (phi, &row) in phi.iter_mut().zip(&l.own) {
            *phi = work.phi[row];
        }
    }

    /// G P; zero in the rows of inactive unilateral constraints, as in the inner system.
    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let l = &self.layout;
        if l.own.is_empty() {
            return;
        }
        let Some(mut guard) = self.at(q) else {
            return out.fill(f64::NAN);
        };
        let work = &mut *guard;
        let nv = l.moved();
        self.select_active(cx, work);
        for (row, out) in out.chunks_exact_mut(nv.max(1)).enumerate() {
            if !work.active[l.own[row]] {
                out.fill(0.0);
                continue;
            }
            work.z[0].fill(0.0);
            for (entry, g) in l.entries.iter().zip(&work.here.g) {
                if let CoordinateKind::Own(own, column) = entry
                    && *own as usize == row
                {
                    work.z[0][*column as usize] += g;
                }
            }
            work.gather(l, 0, out);
        }
    }

    fn constraint_rate(&self, cx: &EvaluationContext, q: &[f64], phi_t: &mut [f64]) {
        let l = &self.layout;
        if l.own.is_empty() {
            return;
        }
        let work = &mut *self.lock();
        (self.inner).constraint_rate(cx, &q[l.joints()], &mut work.phi);
        for (phi_t, &row) in phi_t.iter_mut().zip(&l.own) {
            *phi_t = work.phi[row];
        }
    }

    /// γ + G b
    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let l = &self.layout;
        if l.own.is_empty() {
            return;
        }
        let Some(mut guard) = self.moving(q, v) else {
            return gamma.fill(f64::NAN);
        };
        let work = &mut *guard;
        self.select_active(cx, work);
        let rates = &work.here.rates;
        (self.inner).constraint_acceleration_bias(cx, work.here.z(l), &rates.z_dot, &mut work.phi);
        for (gamma, &row) in gamma.iter_mut().zip(&l.own) {
            *gamma = work.phi[row];
        }
        for (entry, g) in l.entries.iter().zip(&work.here.g) {
            if let CoordinateKind::Own(own, column) = entry
                && work.active[l.own[*own as usize]]
            {
                gamma[*own as usize] += g * rates.bias[*column as usize];
            }
        }
    }

    fn is_velocity_constraint(&self, row: usize) -> bool {
        (self.inner).is_velocity_constraint(self.layout.own[row])
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        self.inner.constraint_scale(self.layout.own[row])
    }

    /// The norm of the displacement of the bodies.
    fn norm(&self, cx: &EvaluationContext, q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        let Some(mut guard) = self.at(q) else {
            return f64::NAN;
        };
        let (l, work) = (&self.layout, &mut *guard);
        work.carry(l, e);
        self.inner.norm(cx, work.here.z(l), scale, &work.z[0])
    }

    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        self.inner.coordinate_magnitude(&q[self.layout.joints()])
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
        let l = &self.layout;
        let k = match l.free.get(i) {
            Some(&k) => k,
            None => l.looped[self.lock().here.independent[i - l.free.len()]],
        };
        self.inner.coordinate_name(k)
    }

    fn constraint_name(&self, i: usize) -> String {
        self.inner.constraint_name(self.layout.own[i])
    }
}

impl ConfigurationSpace for Topological {
    /// Writes NaN if the dependent coordinates cannot be computed.
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        let (l, inner) = (&self.layout, &*self.inner);
        let work = &mut *self.lock();
        let TopologicalCache {
            from, here, way, ..
        } = work;
        let begins = from.load(l, inner, q);
        if begins && way.go(l, inner, from, w, here, !self.rechoose) {
            work.lost = None;
            for (own, (q, w)) in here.q.iter_mut().zip(q.iter().zip(w)) {
                *own = q + w;
            }
            for &k in &l.turning {
                here.q[k..k + 3].fill(0.0);
            }
            out.copy_from_slice(&here.q);
        } else {
            // At the last valid configuration.
            work.lost = work.from.weakest(l);
            out.fill(f64::NAN);
        }
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        let l = &self.layout;
        for (k, w) in w.iter_mut().enumerate() {
            *w = q1[k] - q0[k];
        }
        if l.turning.is_empty() {
            return;
        }
        let x = &mut self.lock().z[0];
        (self.inner).difference(&q0[l.joints()], &q1[l.joints()], x);
        for &k in &l.turning {
            for i in k..k + 3 {
                w[i] = x[l.free[i]];
            }
        }
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for &k in &self.layout.turning {
            let [x, y] = [x, y].map(|x| Vec3::from_column_slice(&x[k..k + 3]));
            out[k..k + 3].copy_from_slice(x.cross(&y).as_slice());
        }
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        for &k in &self.layout.turning {
            let [theta, own] = [theta, &*y].map(|x| Vec3::from_column_slice(&x[k..k + 3]));
            let turned = rotation::tangent_inverse(&theta) * own;
            y[k..k + 3].copy_from_slice(turned.as_slice());
        }
    }
}

impl VelocityTransformation for Topological {
    type Inner = dyn ClosureConstraints;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn with_velocities<R>(
        &self,
        q: &[f64],
        v: &[f64],
        evaluate: impl FnOnce(&[f64], &[f64]) -> R,
    ) -> Option<R> {
        let work = self.moving(q, v)?;
        let at = &work.here;
        Some(evaluate(at.z(&self.layout), &at.rates.z_dot))
    }

    fn with_motion<R>(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        n: &mut [f64],
        evaluate: impl FnOnce(&MotionPoint, &mut [f64]) -> R,
    ) -> Option<R> {
        let mut guard = self.moving(at.q, at.v)?;
        let (l, work) = (&self.layout, &mut *guard);
        let mut gradient = std::mem::take(&mut work.z[3]);
        gradient.fill(0.0);
        let result = evaluate(&self.expand(cx, work, at), &mut gradient);
        work.z[3] = gradient;
        if !n.is_empty() {
            work.gather(l, 3, n);
        }
        Some(result)
    }

    fn active(&self, modes: &[i32], active: &mut [bool]) {
        let work = &mut *self.lock();
        self.inner.active_constraints(modes, &mut work.active);
        for (out, &row) in active.iter_mut().zip(&self.layout.own) {
            *out = work.active[row];
        }
    }
}

impl CoordinatePartitioning for Topological {
    fn repartition(&self, q: &mut [f64], v: &mut [f64]) -> bool {
        self.repartition_at(q, v)
    }

    fn conditioning(&self, q: &[f64]) -> f64 {
        match self.rechoose {
            true => self.at(q).map_or(0.0, |work| work.here.factor.conditioning),
            // A fixed partition ends where it becomes singular.
            false => 1.0,
        }
    }

    fn dependent_failure(&self) -> Option<(String, Vec<String>)> {
        let lost = {
            let work = self.lock();
            let close = work.from.factor.conditioning < NEARLY_SINGULAR;
            let weakest = work.from.weakest(&self.layout).filter(|_| close);
            work.lost.or(weakest)?
        };
        Some((self.inner.coordinate_name(lost), self.independent()))
    }

    fn dependent_defect(
        &self,
        cx: &EvaluationContext,
        [begin, end]: [&MotionPoint; 2],
        h: f64,
        slack: f64,
    ) -> f64 {
        let (l, inner) = (&self.layout, &*self.inner);
        let Some(mut guard) = self.moving(end.q, end.v) else {
            return f64::NAN;
        };
        let work = &mut *guard;
        if !work.from.load(l, inner, begin.q) {
            return f64::NAN;
        }
        work.from.moving(l, inner, begin.v);
        let TopologicalCache { from, here, z, .. } = &mut *work;
        let [defect, a0, a1, _] = z;
        from.apart(l, inner, here, defect);
        from.carry(l, begin.a, a0);
        here.carry(l, end.a, a1);
        let [r0, r1] = [&from.rates, &here.rates];
        for k in 0..defect.len() {
            a0[k] += r0.x_bias[k];
            a1[k] += r1.x_bias[k];
        }
        // An independent coordinate that reverses at a singularity of the partition reverses all the others at once.
        let jump = l.length(|k| r1.x_dot[k] - r0.x_dot[k] - 0.5 * h * (a0[k] + a1[k]));
        let speed = l.length(|k| r0.x_dot[k]).max(l.length(|k| r1.x_dot[k]));
        let turns = h * (l.length(|k| a0[k]) + l.length(|k| a1[k]));
        if !(jump <= MAX_VELOCITY_JUMP * (speed + turns) + slack) {
            work.lost = work.here.weakest(l);
            return f64::NAN;
        }
        let mut seen = 0;
        for k in 0..defect.len() {
            let dependent = here.dependent.get(seen).map(|&i| l.looped[i]) == Some(k);
            seen += usize::from(dependent);
            let hermite = 0.5 * h * (r0.x_dot[k] + r1.x_dot[k]) - h * h / 12.0 * (a1[k] - a0[k]);
            defect[k] = if dependent { defect[k] - hermite } else { 0.0 };
        }
        here.to_joints(l, defect);
        inner.norm(cx, here.z(l), &[], defect)
    }
}
