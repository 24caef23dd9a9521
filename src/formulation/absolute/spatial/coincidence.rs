//! Two points of space in one place: the ball.
//!
//! ```text
//!   Φ = p₀ − p₁,     G₀ = [I, −R₀ s₀~],     γ = R₀ (ω₀ × (ω₀ × s₀)) − R₁ (..),
//!   ∂(Gᵀλ)/∂φ₀ = s₀~ (R₀ᵀλ)~  for the rotation of the first body, −s₁~ (R₁ᵀλ)~ for that of the second
//! ```

use super::SpatialGeometry;
use super::pose::{SpatialPoint, SpatialPoses, twist};
use crate::formulation::absolute::geometry::{self, Gradient};
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::linalg::rotation::{Vec3, cross};
use crate::model::BodyRef;

/// A ball.
#[derive(Clone, Debug)]
pub struct SpatialCoincidence {
    points: [SpatialPoint; 2],
    /// Slots of (φ, φ) of each body, row by row.
    slots: [Option<[u32; 9]>; 2],
}

/// Sign of each side in Φ = p₀ − p₁.
const SIGN: [f64; 2] = [1.0, -1.0];

impl geometry::CoincidentPoints<12, SpatialGeometry> for SpatialCoincidence {
    fn new(points: [SpatialPoint; 2], slots: &mut SparsityBuilder) -> Self {
        let slots = points.map(|p| {
            p.body
                .map(|b| std::array::from_fn(|k| slots.slot(6 * b + 3 + k / 3, 6 * b + 3 + k % 3)))
        });
        Self { points, slots }
    }

    fn points(&self) -> [SpatialPoint; 2] {
        self.points
    }

    fn bodies(&self) -> [BodyRef; 2] {
        self.points.map(|p| p.body)
    }

    fn sparsity(&self, push: &mut dyn FnMut(usize, usize)) {
        for b in self.bodies().into_iter().flatten() {
            for row in 0..3 {
                push(row, 6 * b + row);
                for k in 3..6 {
                    push(row, 6 * b + k);
                }
            }
        }
    }

    fn constraint(&self, poses: &mut SpatialPoses, phi: &mut [f64]) {
        let mut place = |p: &SpatialPoint| {
            let pose = poses.get(p.body);
            pose.r + pose.to_ground(&p.s)
        };
        let open = place(&self.points[0]) - place(&self.points[1]);
        phi[..3].copy_from_slice(open.as_slice());
    }

    fn jacobian(&self, poses: &mut SpatialPoses, out: &mut [f64]) -> usize {
        let mut n = 0;
        for (point, sign) in self.points.iter().zip(SIGN) {
            if point.body.is_some() {
                let lever = -sign * poses.get(point.body).rotation * cross(&point.s);
                for row in 0..3 {
                    out[n] = sign;
                    for k in 0..3 {
                        out[n + 1 + k] = lever[(row, k)];
                    }
                    n += 4;
                }
            }
        }
        n
    }

    fn add_constraint_force(
        &self,
        poses: &mut SpatialPoses,
        lambda: &[f64],
        out: &mut Gradient<12>,
    ) {
        let lambda = Vec3::new(lambda[0], lambda[1], lambda[2]);
        for (side, (point, sign)) in self.points.iter().zip(SIGN).enumerate() {
            let moment = point.s.cross(&poses.get(point.body).to_body(&lambda));
            for k in 0..3 {
                out[6 * side + k] += sign * lambda[k];
                out[6 * side + 3 + k] += sign * moment[k];
            }
        }
    }

    fn acceleration_bias(&self, poses: &mut SpatialPoses, v: &[f64], gamma: &mut [f64]) {
        let mut inward = |p: &SpatialPoint| {
            let w = twist(v, p.body).w;
            poses.get(p.body).to_ground(&w.cross(&w.cross(&p.s)))
        };
        let difference = inward(&self.points[0]) - inward(&self.points[1]);
        gamma[..3].copy_from_slice(difference.as_slice());
    }

    fn add_stiffness(
        &self,
        poses: &mut SpatialPoses,
        lambda: &[f64],
        factor: f64,
        out: &mut [f64],
    ) {
        let lambda = Vec3::new(lambda[0], lambda[1], lambda[2]);
        for k in 0..2 {
            if let Some(slots) = &self.slots[k] {
                let s = &self.points[k].s;
                let d = poses.get(self.points[k].body).to_body(&lambda);
                let block = factor * SIGN[k] * cross(s) * cross(&d);
                for (at, slot) in slots.iter().enumerate() {
                    out[*slot as usize] += block[(at / 3, at % 3)];
                }
            }
        }
    }
}
