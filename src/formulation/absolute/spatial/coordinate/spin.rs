//! A component of the relative angular velocity: a rate that is the derivative of no coordinate.

use super::{PHI0, PHI1, SpatialGradient, SpatialHessian, SpatialPoses};
use crate::linalg::rotation::{Mat3, Vec3};
use crate::model::BodyRef;

/// Component along the direction b of the second body, in its axes:
/// ```text
///   ċ = b·ω₁ − (Cᵀb)·ω₀,  C = R₁ᵀR₀        g = [0, −Cᵀb | 0, b]
/// ```
/// Friction and armatures need no value; it is zero.
#[derive(Clone, Debug)]
pub struct SpatialSpin {
    /// The bodies.
    pub bodies: [BodyRef; 2],
    /// b
    pub direction: Vec3,
}

impl SpatialSpin {
    /// Cᵀ = R₀ᵀR₁
    fn turn(&self, poses: &mut SpatialPoses) -> Mat3 {
        let [first, second] = self.bodies.map(|body| poses.get(body).rotation);
        first.tr_mul(&second)
    }

    pub(super) fn value(&self, poses: &mut SpatialPoses) -> (f64, SpatialGradient) {
        let there = self.turn(poses) * self.direction;
        let mut g = [0.0; 12];
        for k in 0..3 {
            g[PHI0 + k] = -there[k];
            g[PHI1 + k] = self.direction[k];
        }
        (0.0, g)
    }

    /// ġ·v = −ω₀·Cᵀ(ω₁ × b)
    pub(super) fn curvature(&self, poses: &mut SpatialPoses, v: &SpatialGradient) -> f64 {
        let spin = |at: usize| Vec3::new(v[at], v[at + 1], v[at + 2]);
        -(self.turn(poses) * spin(PHI1).cross(&self.direction)).dot(&spin(PHI0))
    }

    /// Of −Cᵀb: along ω₀ −Cᵀb × eⱼ, along ω₁ −Cᵀ(eⱼ × b).
    pub(super) fn hessian(&self, poses: &mut SpatialPoses) -> SpatialHessian {
        let turn = self.turn(poses);
        let there = turn * self.direction;
        let mut h = [[0.0; 12]; 12];
        for (j, e) in [Vec3::x(), Vec3::y(), Vec3::z()].iter().enumerate() {
            let (by_first, by_second) = (there.cross(e), turn * e.cross(&self.direction));
            for i in 0..3 {
                h[PHI0 + i][PHI0 + j] = -by_first[i];
                h[PHI0 + i][PHI1 + j] = -by_second[i];
            }
        }
        h
    }
}
