//! Where bodies are in space, and points fixed in them.
//!
//! ```text
//!   p = r + R s,     ṗ = ṙ + R (ω × s),     p̈ = r̈ + R (ω' × s + ω × (ω × s))
//! ```
//!
//! with r the centre of mass, R from the unit quaternion (body axes to ground axes), ω in BODY axes and s the point seen from
//! the centre of mass in body axes. Stored: x, y, z, qw, qx, qy, qz; tangent: ṙ in ground axes, ω.

use crate::linalg::rotation::{self, Mat3, Quaternion, Vec3};
use crate::model::BodyRef;

/// Place and orientation of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialPose {
    /// Centre of mass, ground frame.
    pub r: Vec3,
    /// Body axes to ground axes.
    pub rotation: Mat3,
}

impl SpatialPose {
    /// The ground.
    pub const GROUND: SpatialPose = SpatialPose {
        r: Vec3::new(0.0, 0.0, 0.0),
        rotation: Mat3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
    };

    /// From stored coordinates.
    #[inline]
    pub fn new(q: &[f64]) -> Self {
        Self {
            r: Vec3::new(q[0], q[1], q[2]),
            rotation: rotation::matrix(&[q[3], q[4], q[5], q[6]]),
        }
    }

    /// A vector of body axes in ground axes: R s.
    #[inline]
    pub fn to_ground(&self, s: &Vec3) -> Vec3 {
        self.rotation * s
    }

    /// A vector of ground axes in body axes: Rᵀ d.
    #[inline]
    pub fn to_body(&self, d: &Vec3) -> Vec3 {
        self.rotation.tr_mul(d)
    }
}

/// Rates (or accelerations) of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialTwist {
    /// Of the centre of mass, ground axes.
    pub v: Vec3,
    /// Body axes.
    pub w: Vec3,
}

/// The entries of `body` in a tangent vector; zero for the ground.
#[inline]
pub fn twist(v: &[f64], body: BodyRef) -> SpatialTwist {
    match body {
        None => SpatialTwist {
            v: Vec3::zeros(),
            w: Vec3::zeros(),
        },
        Some(b) => SpatialTwist {
            v: Vec3::new(v[6 * b], v[6 * b + 1], v[6 * b + 2]),
            w: Vec3::new(v[6 * b + 3], v[6 * b + 4], v[6 * b + 5]),
        },
    }
}

/// Number of poses remembered, a power of two.
const CACHED_POSES: usize = 4;

/// The poses of one configuration, worked out when asked for; the last few are remembered.
pub struct SpatialPoses<'a> {
    q: &'a [f64],
    keys: [usize; CACHED_POSES],
    poses: [SpatialPose; CACHED_POSES],
}

impl<'a> SpatialPoses<'a> {
    /// Of the coordinates `q`.
    #[inline]
    pub fn new(q: &'a [f64]) -> Self {
        Self {
            q,
            keys: [usize::MAX; CACHED_POSES],
            poses: [SpatialPose::GROUND; CACHED_POSES],
        }
    }

    /// The pose of a body.
    #[inline]
    pub fn get(&mut self, body: BodyRef) -> SpatialPose {
        let Some(b) = body else {
            return SpatialPose::GROUND;
        };
        let k = b & (CACHED_POSES - 1);
        if self.keys[k] != b {
            self.poses[k] = SpatialPose::new(&self.q[7 * b..7 * b + 7]);
            self.keys[k] = b;
        }
        self.poses[k]
    }

    /// The quaternion of a body.
    pub fn quaternion(&self, body: BodyRef) -> Quaternion {
        match body {
            None => [1.0, 0.0, 0.0, 0.0],
            Some(b) => std::array::from_fn(|k| self.q[7 * b + 3 + k]),
        }
    }

    /// A stored coordinate: counted angles.
    #[inline]
    pub fn stored(&self, i: usize) -> f64 {
        self.q[i]
    }
}

/// A point fixed in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialPoint {
    /// Its body.
    pub body: BodyRef,
    /// From the centre of mass, body axes (ground: from the origin).
    pub s: Vec3,
}
