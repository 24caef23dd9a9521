//! A link of the tree: how a body hangs on its parent. Everything the recursions need is one matrix for the parent and one
//! column for each joint coordinate:
//!
//! ```text
//!   v_c = X v_p + Σ cᵢ żᵢ,        a_c = X a_p + Σ cᵢ z̈ᵢ + b(v),        żᵢ = dᵢ·(v_c − X v_p)
//! ```
//!
//! with X and c at the pose in work, b what the turning of X and c adds, and d dual to the columns: dᵢ·cⱼ = 1 for i = j, else 0.
//! Written once for the plane and once for space; coordinates are travel first, then rotation.

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
    /// Stored coordinates of the body itself.
    pub child: &'a [f64],
}

/// A world in which bodies hang on each other.
pub trait JointMap<const N: usize>: MechanismGeometry<N> {
    /// How a body hangs on its parent.
    type Link: Clone + std::fmt::Debug + Send + Sync;

    /// Numbers that make up X.
    const ARM: usize;

    /// The link a joint makes with `bodies[child]` as the body that hangs; none where the joint cannot be written in
    /// coordinates of its own.
    fn link(
        model: &Model,
        joint: &model::Joint,
        start: &[f64],
        child: usize,
    ) -> Result<Option<Self::Link>>;

    /// A body that hangs on nothing.
    fn free() -> Self::Link;

    /// Stored coordinates.
    fn stored(link: &Self::Link) -> usize;

    /// Tangent coordinates.
    fn freedom(link: &Self::Link) -> usize;

    /// The last three tangent coordinates are a rotation on the group, the last four stored ones its quaternion.
    fn on_group(link: &Self::Link) -> bool;

    /// The pose of the body.
    fn hang(link: &Self::Link, z: &[f64], parent: Option<&[f64]>, out: &mut [f64]);

    /// The coordinates of two poses; what the joint does not allow is left out.
    fn read(link: &Self::Link, at: BodyPair, z: &mut [f64]);

    /// X, the columns and their duals, each N/2 long.
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

    /// b: what accelerations have besides X a_p and Σ cᵢ z̈ᵢ. `at` are the poses with X and the columns, `parent` the rates of
    /// the parent.
    fn bias(
        link: &Self::Link,
        z: &[f64],
        z_dot: &[f64],
        at: (BodyPair, &[f64], &[f64]),
        parent: Option<&[f64]>,
        child: &[f64],
        out: &mut [f64],
    );

    /// Motion of a body in ground axes; the ground rests.
    fn moving(q: Option<&[f64]>, v: Option<&[f64]>, a: Option<&[f64]>) -> BodyMotion;

    /// A velocity of the centre of mass in ground axes and a rotation in the body's axes as tangent coordinates.
    fn write(velocity: &Vec3, spin: &Vec3, out: &mut [f64]);

    /// Direction of travel and axis of coordinate i, ground axes.
    fn axis(
        link: &Self::Link,
        z: &[f64],
        i: usize,
        parent: &BodyMotion,
        child: &BodyMotion,
    ) -> JointAxis;

    /// The joint point of the body, own axes.
    fn pivot(link: &Self::Link) -> Vec3;
}
