//! The scalar product of a direction of each body.

use super::{PHI0, PHI1, SpatialGradient, SpatialHessian, SpatialPoses, block, put, put_block};
use crate::linalg::rotation::{Vec3, cross};
use crate::model::BodyRef;

/// Scalar product of a direction of each body: c = (R₀ a)·(R₁ b).
#[derive(Clone, Debug)]
pub struct DirectionProduct {
    /// The bodies.
    pub bodies: [BodyRef; 2],
    /// a and b, each in its body's axes.
    pub directions: [Vec3; 2],
}

impl DirectionProduct {
    #[inline]
    pub(super) fn value(&self, poses: &mut SpatialPoses) -> (f64, SpatialGradient) {
        let (pose0, pose1) = (poses.get(self.bodies[0]), poses.get(self.bodies[1]));
        let [a, b] = &self.directions;
        let (turned_a, turned_b) = (pose0.to_ground(a), pose1.to_ground(b));
        let mut g = [0.0; 12];
        put(&mut g, PHI0, &a.cross(&pose0.to_body(&turned_b)));
        put(&mut g, PHI1, &b.cross(&pose1.to_body(&turned_a)));
        (turned_a.dot(&turned_b), g)
    }

    /// c without its gradient.
    #[inline]
    pub(super) fn value_only(&self, poses: &mut SpatialPoses) -> f64 {
        let (pose0, pose1) = (poses.get(self.bodies[0]), poses.get(self.bodies[1]));
        let [a, b] = &self.directions;
        pose0.to_ground(a).dot(&pose1.to_ground(b))
    }

    /// Ä·B + 2 Ȧ·Ḃ + A·B̈
    #[inline]
    pub(super) fn curvature(&self, poses: &mut SpatialPoses, v: &SpatialGradient) -> f64 {
        let (pose0, pose1) = (poses.get(self.bodies[0]), poses.get(self.bodies[1]));
        let [a, b] = &self.directions;
        let (w0, w1) = (block(v, PHI0), block(v, PHI1));
        let (a_dot, b_dot) = (w0.cross(a), w1.cross(b));
        pose0.to_ground(&w0.cross(&a_dot)).dot(&pose1.to_ground(b))
            + 2.0 * pose0.to_ground(&a_dot).dot(&pose1.to_ground(&b_dot))
            + pose0.to_ground(a).dot(&pose1.to_ground(&w1.cross(&b_dot)))
    }

    pub(super) fn hessian(&self, poses: &mut SpatialPoses) -> SpatialHessian {
        let (pose0, pose1) = (poses.get(self.bodies[0]), poses.get(self.bodies[1]));
        let [a, b] = &self.directions;
        let seen_from_0 = pose0.to_body(&pose1.to_ground(b));
        let seen_from_1 = pose1.to_body(&pose0.to_ground(a));
        let (a, b) = (cross(a), cross(b));
        let mut h = [[0.0; 12]; 12];
        put_block(&mut h, PHI0, PHI0, &(a * cross(&seen_from_0)));
        put_block(&mut h, PHI1, PHI1, &(b * cross(&seen_from_1)));
        let mixed = -a * pose0.rotation.transpose() * pose1.rotation * b;
        put_block(&mut h, PHI0, PHI1, &mixed);
        put_block(&mut h, PHI1, PHI0, &mixed.transpose());
        h
    }
}
