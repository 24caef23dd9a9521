//! The kinematics of one tree joint. The recursions need one matrix for the parent and one column for each joint coordinate:
//!
//! ```text
//!   v_c = X v_p + Σ cᵢ żᵢ,        a_c = X a_p + Σ cᵢ z̈ᵢ + b(v),        żᵢ = dᵢ·(v_c − X v_p)
//! ```
//!
//! with X and c at the current configuration, b from the time derivatives of X and c, and d dual to the columns: dᵢ·cⱼ = 1 for i = j,
//! else 0. Implemented once planar and once spatial; translations come first, then rotations.

use super::jacobian::{BodyMotion, JointAxis};
use crate::error::Result;
use crate::formulation::absolute::MechanismGeometry;
use crate::linalg::rotation::Vec3;
use crate::model::{self, Model};

/// A body and its parent at one pose; the ground has no coordinates.
#[derive(Clone, Copy)]
pub struct BodyPair<'a> {
    /// Stored coordinates of the parent.
    pub parent: Option<&'a [f64]>,
    /// Stored coordinates of the body.
    pub child: &'a [f64],
}

/// A geometry with tree joints.
pub trait JointMap<const N: usize>: MechanismGeometry<N> {
    /// Kinematics of a tree joint.
    type Link: Clone + std::fmt::Debug + Send + Sync;

    /// Number of values that define X.
    const ARM: usize;

    /// Returns the kinematics of a joint with `bodies[child]` as the child; none if the joint has no coordinates of its own.
    fn link(
        model: &Model,
        joint: &model::Joint,
        start: &[f64],
        child: usize,
    ) -> Result<Option<Self::Link>>;

    /// Returns the kinematics of a free body.
    fn free() -> Self::Link;

    /// Number of stored coordinates.
    fn stored(link: &Self::Link) -> usize;

    /// Number of tangent coordinates.
    fn freedom(link: &Self::Link) -> usize;

    /// Whether the last three tangent coordinates are a rotation on the group, with the last four stored ones its quaternion.
    fn on_group(link: &Self::Link) -> bool;

    /// Writes the pose of the body.
    fn hang(link: &Self::Link, z: &[f64], parent: Option<&[f64]>, out: &mut [f64]);

    /// Writes the joint coordinates of two poses; displacements that the joint does not allow are ignored.
    fn read(link: &Self::Link, at: BodyPair, z: &mut [f64]);

    /// Writes X, the columns and their duals, each N/2 long.
    fn arm(
        link: &Self::Link,
        z: &[f64],
        at: BodyPair,
        arm: &mut [f64],
        columns: &mut [f64],
        duals: &mut [f64],
    );

    /// out = X parent
    fn carry(arm: &[f64], parent: &[f64], out: &mut [f64]);

    /// parent += Xᵀ child
    fn carry_back(arm: &[f64], child: &[f64], parent: &mut [f64]);

    /// Writes b, the acceleration besides X a_p and Σ cᵢ z̈ᵢ. `at` are the poses, X and the columns, `parent` and `child` the velocities.
    fn bias(
        link: &Self::Link,
        z: &[f64],
        z_dot: &[f64],
        at: (BodyPair, &[f64], &[f64]),
        parent: Option<&[f64]>,
        child: &[f64],
        out: &mut [f64],
    );

    /// Returns the motion of a body in ground axes; of the ground at rest without coordinates.
    fn moving(q: Option<&[f64]>, v: Option<&[f64]>, a: Option<&[f64]>) -> BodyMotion;

    /// Writes a velocity of the centre of mass in ground axes and an angular velocity in body axes as tangent coordinates.
    fn write(velocity: &Vec3, spin: &Vec3, out: &mut [f64]);

    /// Returns the direction and axis of coordinate i, ground axes.
    fn axis(
        link: &Self::Link,
        z: &[f64],
        i: usize,
        parent: &BodyMotion,
        child: &BodyMotion,
    ) -> JointAxis;

    /// Returns the joint point of the body, in body axes relative to the centre of mass.
    fn pivot(link: &Self::Link) -> Vec3;
}
