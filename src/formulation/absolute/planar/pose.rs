//! Poses of bodies in the plane, and points fixed in them.
//!
//! ```text
//!   p = r + d,   d = R(φ) s,     ṗ = ṙ + φ̇ d⊥,     p̈ = r̈ + φ̈ d⊥ − φ̇² d,      (x, y)⊥ = (−y, x)
//! ```
//!
//! with r the centre of mass, φ the angle and s the point relative to the centre of mass in body axes. The ground is a body at rest
//! with its centre of mass at the origin.

use nalgebra::Vector2;

use crate::linalg::elementary::sin_cos;
use crate::model::BodyRef;

/// A vector of the plane.
pub type Vec2 = Vector2<f64>;

/// d⊥: d rotated by +90°.
#[inline]
pub fn perp(d: Vec2) -> Vec2 {
    Vec2::new(-d.y, d.x)
}

/// Position and orientation of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarPose {
    /// Centre of mass, ground frame.
    pub r: Vec2,
    /// Angle, turns included.
    pub angle: f64,
    /// Its cosine.
    pub cos: f64,
    /// Its sine.
    pub sin: f64,
}

impl PlanarPose {
    /// The ground.
    pub const GROUND: PlanarPose = PlanarPose {
        r: Vec2::new(0.0, 0.0),
        angle: 0.0,
        cos: 1.0,
        sin: 0.0,
    };

    /// The pose with these coordinates.
    #[inline]
    pub fn new(x: f64, y: f64, angle: f64) -> Self {
        let (sin, cos) = sin_cos(angle);
        Self {
            r: Vec2::new(x, y),
            angle,
            cos,
            sin,
        }
    }

    /// R s: from body axes to ground axes.
    #[inline]
    pub fn to_ground(&self, s: Vec2) -> Vec2 {
        Vec2::new(
            self.cos * s.x - self.sin * s.y,
            self.sin * s.x + self.cos * s.y,
        )
    }

    /// Rᵀ d: from ground axes to body axes.
    #[inline]
    pub fn to_body(&self, d: Vec2) -> Vec2 {
        Vec2::new(
            self.cos * d.x + self.sin * d.y,
            self.cos * d.y - self.sin * d.x,
        )
    }
}

/// Velocity (or acceleration) of a body: of its centre of mass and of its angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarTwist {
    /// m/s (m/s²)
    pub v: Vec2,
    /// rad/s (rad/s²)
    pub w: f64,
}

/// The entries of `body` in a tangent vector; zero for the ground.
#[inline]
pub fn twist(v: &[f64], body: BodyRef) -> PlanarTwist {
    match body {
        None => PlanarTwist {
            v: Vec2::new(0.0, 0.0),
            w: 0.0,
        },
        Some(b) => PlanarTwist {
            v: Vec2::new(v[3 * b], v[3 * b + 1]),
            w: v[3 * b + 2],
        },
    }
}

/// Number of cached poses, a power of two.
const CACHED_POSES: usize = 4;

/// Poses of one configuration, computed when needed. The last few are cached, so that neighbours in a chain share one sine and
/// cosine without a table of all bodies.
pub struct PlanarPoses<'a> {
    q: &'a [f64],
    keys: [usize; CACHED_POSES],
    poses: [PlanarPose; CACHED_POSES],
}

impl<'a> PlanarPoses<'a> {
    /// Poses of the coordinates `q`.
    #[inline]
    pub fn new(q: &'a [f64]) -> Self {
        Self {
            q,
            keys: [usize::MAX; CACHED_POSES],
            poses: [PlanarPose::GROUND; CACHED_POSES],
        }
    }

    /// Pose of a body.
    #[inline]
    pub fn get(&mut self, body: BodyRef) -> PlanarPose {
        let Some(b) = body else {
            return PlanarPose::GROUND;
        };
        let k = b & (CACHED_POSES - 1);
        if self.keys[k] != b {
            self.poses[k] = PlanarPose::new(self.q[3 * b], self.q[3 * b + 1], self.q[3 * b + 2]);
            self.keys[k] = b;
        }
        self.poses[k]
    }
}

/// A point fixed in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarPoint {
    /// Its body.
    pub body: BodyRef,
    /// Relative to the centre of mass, in body axes (ground: to the origin).
    pub s: Vec2,
}

impl PlanarPoint {
    /// Its velocity in ground axes, `d` = R s.
    #[inline]
    pub fn velocity(&self, d: Vec2, v: &[f64]) -> Vec2 {
        let velocity = twist(v, self.body);
        velocity.v + velocity.w * perp(d)
    }

    /// Its acceleration in ground axes, `d` = R s.
    #[inline]
    pub fn acceleration(&self, d: Vec2, v: &[f64], a: &[f64]) -> Vec2 {
        let (velocity, acc) = (twist(v, self.body), twist(a, self.body));
        acc.v + acc.w * perp(d) - velocity.w * velocity.w * d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_poses_equal_computed_ones() {
        let q: Vec<f64> = (0..60).map(|i| 0.37 * i as f64).collect();
        let mut poses = PlanarPoses::new(&q);
        for b in [0, 1, 0, 4, 8, 4, 0, 19, 3, 19] {
            let computed = PlanarPose::new(q[3 * b], q[3 * b + 1], q[3 * b + 2]);
            assert_eq!(poses.get(Some(b)), computed, "body {b}");
        }
        assert_eq!(poses.get(None), PlanarPose::GROUND);
    }

    #[test]
    fn to_body_is_the_inverse_of_to_ground() {
        let pose = PlanarPose::new(1.0, 2.0, 0.7);
        let s = Vec2::new(0.3, -0.4);
        assert!((pose.to_body(pose.to_ground(s)) - s).norm() < 1e-15);
        assert!(
            (pose.to_ground(Vec2::new(1.0, 0.0)) - Vec2::new(0.7f64.cos(), 0.7f64.sin())).norm()
                < 1e-15
        );
    }
}
