//! Quantities, initial state and reactions in natural coordinates: those of the bodies.
//!
//! The reaction of a shared point has no multiplier. It follows from the equilibrium of the bodies, Gᵀλ = f − M a over all constraints in
//! absolute coordinates, by the λ of minimum norm (`integrator/reactions.rs`).

use super::Natural;
use super::body_map::{BodyMap, MAX_Y};
use crate::formulation::{
    BodyAssembly, Evaluated, EvaluationContext, FullConstraintSet, Mechanism, MotionPoint, System,
};
use crate::model::quantity::Quantity;

impl<W: BodyMap<N>, const N: usize> Mechanism for Natural<W, N> {
    fn body_assembly(&self) -> Option<&dyn BodyAssembly> {
        Some(self)
    }

    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        let (poses, rates) = &self.inner.initial;
        self.read(poses, rates, q, v);
    }

    fn evaluate(&self, cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        let work = &mut *self.moving(at.q, at.v);
        let motion = self.lifted(work, at);
        self.inner.evaluate(cx, quantity, &motion)
    }
}

impl<W: BodyMap<N>, const N: usize> Natural<W, N> {
    /// Writes coordinates and velocities from poses and velocities of bodies.
    fn read(&self, poses: &[f64], rates: &[f64], q: &mut [f64], v: &mut [f64]) {
        let stored = |b: usize| W::STORED * b..W::STORED * (b + 1);
        let moved = |b: usize| Self::WIDTH * b..Self::WIDTH * (b + 1);
        let (mut y, mut y_dot) = ([0.0; MAX_Y], [0.0; MAX_Y]);
        for item in &self.layout.items {
            let pose = &poses[stored(item.body)];
            W::unsettle(pose, &mut y[..Self::Y]);
            W::rates(pose, &rates[moved(item.body)], &mut y_dot[..Self::Y]);
            let own = item.first..item.first + W::DIMENSION;
            q[own.clone()].fill(0.0);
            v[own].fill(0.0);
            for (c, m, factor) in W::on_y(item.sort, item.spot) {
                q[item.first + c as usize] += factor * y[m as usize];
                v[item.first + c as usize] += factor * y_dot[m as usize];
            }
        }
        q[self.size.nv..].copy_from_slice(poses);
    }
}

/// Largest difference of poses from those of the coordinates read off them, relative to the characteristic length, or as a number.
const MAX_POSE_DIFFERENCE: f64 = 1e-6;

impl<W: BodyMap<N>, const N: usize> BodyAssembly for Natural<W, N> {
    fn bodies(&self) -> &dyn Mechanism {
        &self.inner
    }

    fn coordinates_from_bodies(
        &self,
        poses: &[f64],
        rates: &[f64],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Option<String> {
        self.read(poses, rates, q, v);
        // A shared item is read off one of its bodies: the poses of the others must agree with it.
        let mut y = [0.0; MAX_Y];
        let mut before = [0.0; MAX_Y];
        for (b, body) in self.inner.bodies.iter().enumerate() {
            self.form(b, q, &mut y[..Self::Y]);
            W::unsettle(
                &poses[W::STORED * b..W::STORED * (b + 1)],
                &mut before[..Self::Y],
            );
            for k in 0..Self::Y {
                let scale = if k < W::DIMENSION {
                    self.inner.length
                } else {
                    1.0
                };
                if !((y[k] - before[k]).abs() < MAX_POSE_DIFFERENCE * scale) {
                    return Some(body.name.clone());
                }
            }
        }
        None
    }
}

impl<W: BodyMap<N>, const N: usize> FullConstraintSet for Natural<W, N> {
    fn system(&self) -> &dyn System {
        &self.inner
    }

    fn constraint_rows(&self) -> &[usize] {
        &self.numbers
    }

    fn configuration(&self, (q, v): (&[f64], &[f64]), poses: &mut [f64], rates: &mut [f64]) {
        let work = self.moving(q, v);
        poses.copy_from_slice(self.poses(q));
        rates.copy_from_slice(&work.v);
    }

    /// f − M a
    fn constraint_forces(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        load: &mut [f64],
    ) -> Evaluated {
        let work = &mut *self.moving(at.q, at.v);
        let poses = self.poses(at.q);
        self.inner.force(cx, poses, &work.v, load)?;
        self.inner
            .constraint_friction(cx, poses, &work.v, &at.lambda[..self.height], load);
        self.carry(&work.arms, at.a, &mut work.a);
        self.inner.mass_times(cx, poses, &work.a, &mut work.f);
        for (load, inertia) in load.iter_mut().zip(&work.f) {
            *load -= inertia;
        }
        Ok(())
    }

    fn multipliers_hidden(&self) -> bool {
        true
    }
}
