//! Quantities in relative coordinates: those of the bodies, with the multipliers of the tree for reaction forces.

use super::Relative;
use super::joint_map::JointMap;
use crate::formulation::absolute::geometry::RelativeCoordinate as _;
use crate::formulation::{
    BodyAssembly, ConfigurationSpace, EvaluationContext, Mechanism, MotionPoint, System,
};
use crate::model::quantity::{JointField, Quantity};

impl<W: JointMap<N>, const N: usize> Mechanism for Relative<W, N> {
    fn body_assembly(&self) -> Option<&dyn BodyAssembly> {
        Some(self)
    }

    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        let (poses, rates) = &self.inner.initial;
        self.read(poses, rates, q, v);
    }

    fn evaluate(&self, cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        let work = &mut *self.moving(at.q, at.v);
        let reaction = matches!(
            quantity,
            Quantity::Joint(_, JointField::Force(_) | JointField::Moment(_))
        );
        if reaction {
            return (self.inner).evaluate(cx, quantity, &self.lifted(cx, work, at));
        }
        (self.tree).accelerate(&work.geometry, at.a, &work.bias, &mut work.y);
        for (k, &row) in self.rows.iter().enumerate() {
            work.lambda[row] = at.lambda[k];
        }
        let motion = MotionPoint {
            q: &work.q,
            v: &work.v,
            a: &work.y,
            lambda: &work.lambda,
        };
        self.inner.evaluate(cx, quantity, &motion)
    }
}

/// Largest difference of poses from those of the coordinates read off them, relative to the characteristic length, or in radians.
const MAX_POSE_DIFFERENCE: f64 = 1e-6;

impl<W: JointMap<N>, const N: usize> BodyAssembly for Relative<W, N> {
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
        let mut gap = vec![0.0; self.inner.dimensions().nv];
        let work = self.at(q);
        self.inner.difference(poses, &work.q, &mut gap);
        // Body coordinates: displacements, then angles. The first branch with a gap is the cause for all of its subtree.
        let has_gap = |body: usize| {
            let (displacement, angle) =
                gap[N / 2 * body..N / 2 * (body + 1)].split_at(W::DIMENSION);
            displacement
                .iter()
                .any(|x| !(x.abs() < MAX_POSE_DIFFERENCE * self.inner.length))
                || angle.iter().any(|x| !(x.abs() < MAX_POSE_DIFFERENCE))
        };
        let branch = self.tree.branches.iter().find(|b| has_gap(b.body))?;
        let rows = &self.inner.joints[branch.joint?].constraints;
        Some(self.inner.constraints[rows.start].name.clone())
    }
}

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    /// Writes joint coordinates and velocities from poses and velocities in absolute coordinates.
    pub fn read(&self, poses: &[f64], rates: &[f64], z: &mut [f64], z_dot: &mut [f64]) {
        let bodies = W::STORED * self.tree.branches.len();
        self.tree.read(poses, z);
        z[self.tree.stored..].copy_from_slice(&poses[bodies..]);
        for (k, measure) in self.inner.counted_angles.iter().enumerate() {
            let counted = {
                let work = self.at(z);
                measure.value(&mut W::poses(&work.q)).0
            };
            z[self.tree.stored + k] = counted;
        }
        let work = self.at(z);
        self.tree.lower(&work.geometry, rates, z_dot);
    }
}
