//! Two points of the plane in one place.
//!
//! ```text
//!   Φ = p₀ − p₁,      γ = −d₀ φ̇₀² + d₁ φ̇₁²,      ∂²(λ·Φ)/∂φ₀² = −λ·d₀,   ∂²(λ·Φ)/∂φ₁² = λ·d₁
//! ```

use super::PlanarGeometry;
use super::pose::{PlanarPoint, PlanarPoses, Vec2, perp, twist};
use crate::formulation::absolute::geometry::{self, Gradient};
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::model::BodyRef;

/// A pin without its angle.
#[derive(Clone, Debug)]
pub struct PlanarCoincidence {
    points: [PlanarPoint; 2],
    /// Slots of (φ, φ) of each body.
    slots: [Option<u32>; 2],
}

/// Sign of each side in Φ = p₀ − p₁.
const SIGN: [f64; 2] = [1.0, -1.0];

impl geometry::CoincidentPoints<6, PlanarGeometry> for PlanarCoincidence {
    fn new(points: [PlanarPoint; 2], slots: &mut SparsityBuilder) -> Self {
        let slots = points.map(|p| p.body.map(|b| slots.slot(3 * b + 2, 3 * b + 2)));
        Self { points, slots }
    }

    fn points(&self) -> [PlanarPoint; 2] {
        self.points
    }

    fn bodies(&self) -> [BodyRef; 2] {
        self.points.map(|p| p.body)
    }

    fn sparsity(&self, push: &mut dyn FnMut(usize, usize)) {
        for b in self.bodies().into_iter().flatten() {
            push(0, 3 * b);
            push(0, 3 * b + 2);
            push(1, 3 * b + 1);
            push(1, 3 * b + 2);
        }
    }

    fn constraint(&self, poses: &mut PlanarPoses, phi: &mut [f64]) {
        let mut place = |p: &PlanarPoint| {
            let pose = poses.get(p.body);
            pose.r + pose.to_ground(p.s)
        };
        let (p0, p1) = (place(&self.points[0]), place(&self.points[1]));
        phi[0] = p0.x - p1.x;
        phi[1] = p0.y - p1.y;
    }

    fn jacobian(&self, poses: &mut PlanarPoses, out: &mut [f64]) -> usize {
        let mut n = 0;
        for (point, sign) in self.points.iter().zip(SIGN) {
            if point.body.is_some() {
                let lever = sign * perp(poses.get(point.body).to_ground(point.s));
                out[n..n + 4].copy_from_slice(&[sign, lever.x, sign, lever.y]);
                n += 4;
            }
        }
        n
    }

    fn add_constraint_force(&self, poses: &mut PlanarPoses, lambda: &[f64], out: &mut Gradient<6>) {
        let lambda = Vec2::new(lambda[0], lambda[1]);
        for (side, (point, sign)) in self.points.iter().zip(SIGN).enumerate() {
            let lever = perp(poses.get(point.body).to_ground(point.s));
            out[3 * side] += sign * lambda.x;
            out[3 * side + 1] += sign * lambda.y;
            out[3 * side + 2] += sign * lambda.dot(&lever);
        }
    }

    fn acceleration_bias(&self, poses: &mut PlanarPoses, v: &[f64], gamma: &mut [f64]) {
        let mut inward = |p: &PlanarPoint| {
            let w = twist(v, p.body).w;
            -w * w * poses.get(p.body).to_ground(p.s)
        };
        let (g0, g1) = (inward(&self.points[0]), inward(&self.points[1]));
        gamma[0] = g0.x - g1.x;
        gamma[1] = g0.y - g1.y;
    }

    fn add_stiffness(&self, poses: &mut PlanarPoses, lambda: &[f64], factor: f64, out: &mut [f64]) {
        let lambda = Vec2::new(lambda[0], lambda[1]);
        for k in 0..2 {
            if let Some(slot) = self.slots[k] {
                let d = poses.get(self.points[k].body).to_ground(self.points[k].s);
                out[slot as usize] -= factor * SIGN[k] * lambda.dot(&d);
            }
        }
    }
}
