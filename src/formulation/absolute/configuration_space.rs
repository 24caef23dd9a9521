//! The configuration space: poses of all bodies, and angles of joints whose turns are counted.

use super::geometry::RelativeCoordinate as _;
use super::sparsity::gather;
use super::{Absolute, MechanismGeometry};
use crate::formulation::ConfigurationSpace;

impl<W: MechanismGeometry<N>, const N: usize> ConfigurationSpace for Absolute<W, N> {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        if !W::HAS_ROTATIONS {
            for i in 0..q.len() {
                out[i] = q[i] + w[i];
            }
            return;
        }
        let stored = W::STORED;
        for b in 0..self.bodies.len() {
            let range = stored * b..stored * (b + 1);
            W::retract(&q[range.clone()], self.body_part(b, w), &mut out[range]);
        }
        // Counted angles: the turn is the one nearest to the old value plus g·w.
        let first = stored * self.bodies.len();
        let (bodies, counters) = out.split_at_mut(first);
        let (before, after) = (&mut W::poses(q), &mut W::poses(bodies));
        for (k, coordinate) in self.counted_angles.iter().enumerate() {
            let (_, g) = coordinate.value(before);
            let predicted = q[first + k] + gather(coordinate.bodies(), &g, w);
            counters[k] = coordinate.value_near(after, predicted);
        }
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        let stored = W::STORED;
        for b in 0..self.bodies.len() {
            let range = stored * b..stored * (b + 1);
            let velocities = Self::BODY_DOF * b..Self::BODY_DOF * (b + 1);
            W::difference(&q0[range.clone()], &q1[range], &mut w[velocities]);
        }
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        if !W::HAS_ROTATIONS {
            return out.fill(0.0);
        }
        for b in 0..self.bodies.len() {
            let range = Self::BODY_DOF * b..Self::BODY_DOF * (b + 1);
            W::bracket(self.body_part(b, x), self.body_part(b, y), &mut out[range]);
        }
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        if !W::HAS_ROTATIONS {
            return;
        }
        for b in 0..self.bodies.len() {
            let t = W::tangent_inverse(self.body_part(b, theta));
            let rotation = &mut y[Self::BODY_DOF * (b + 1) - 3..Self::BODY_DOF * (b + 1)];
            let x = [rotation[0], rotation[1], rotation[2]];
            for i in 0..3 {
                rotation[i] = t[i][0] * x[0] + t[i][1] * x[1] + t[i][2] * x[2];
            }
        }
    }
}

impl<W: MechanismGeometry<N>, const N: usize> Absolute<W, N> {
    /// Updates the counted angles of the poses `after`, which are less than half a turn from those of the poses `before`.
    pub(in crate::formulation) fn update_turn_counters(&self, before: &[f64], after: &mut [f64]) {
        let first = W::STORED * self.bodies.len();
        let (bodies, counters) = after.split_at_mut(first);
        let poses = &mut W::poses(bodies);
        for (k, coordinate) in self.counted_angles.iter().enumerate() {
            counters[k] = coordinate.value_near(poses, before[first + k]);
        }
    }
}
