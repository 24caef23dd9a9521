//! The angle between a direction of one body and a plane of the other.

use super::{DirectionProduct, SpatialGradient, SpatialHessian, SpatialPoses};
use crate::formulation::absolute::geometry;
use crate::linalg::elementary::atan2;

/// Angle by its sine, a direction product: c = asin(sine) + offset, between −π/2 and π/2.
#[derive(Clone, Debug)]
pub struct SpatialArcSine {
    /// sin c
    pub sine: DirectionProduct,
    /// rad
    pub offset: f64,
}

impl SpatialArcSine {
    /// cos c by its square.
    fn cosine(s: f64) -> f64 {
        ((1.0 - s) * (1.0 + s)).max(0.0).sqrt()
    }

    /// g = ∇s / cos c
    pub(super) fn value(&self, poses: &mut SpatialPoses) -> (f64, SpatialGradient) {
        let (s, by_s) = self.sine.value(poses);
        let c = Self::cosine(s);
        (atan2(s, c) + self.offset, by_s.map(|x| x / c))
    }

    /// (s̈ + ċ² sin c)/cos c with ċ = ṡ/cos c
    pub(super) fn curvature(&self, poses: &mut SpatialPoses, v: &SpatialGradient) -> f64 {
        let (s, by_s) = self.sine.value(poses);
        let c = Self::cosine(s);
        let rate = geometry::dot(&by_s, v) / c;
        (self.sine.curvature(poses, v) + s * rate * rate) / c
    }

    pub(super) fn hessian(&self, poses: &mut SpatialPoses) -> SpatialHessian {
        let (s, by_s) = self.sine.value(poses);
        let c = Self::cosine(s);
        let g = by_s.map(|x| x / c);
        let mut h = self.sine.hessian(poses);
        for i in 0..12 {
            for j in 0..12 {
                h[i][j] = (h[i][j] + s * g[i] * g[j]) / c;
            }
        }
        h
    }
}
