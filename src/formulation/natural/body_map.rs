//! The pose of a body from its points and vectors: position r of the centre of mass and matrix A of its axes are linear in them,
//!
//! ```text
//!   y = (r, A) = y₀ + L x_b,      e = r + A s   a point at s,      e = A s   a vector
//! ```
//!
//! A is a rotation if the rigidity constraints are satisfied. Velocities of the body are linear in those of its coordinates, and
//! accelerations have no bias, since Ȧᵀ Ȧ is symmetric:
//!
//! ```text
//!   ω = ½ vee(Aᵀ Ȧ − Ȧᵀ A),      ω' = ½ vee(Aᵀ Ä − Äᵀ A)          in the plane   ω = a × ȧ,  a the first column
//! ```
//!
//! so v_b = J(x) ẋ and a_b = J(x) ẍ with the same J, which is linear in x.

use super::shared_points::{BodyItem, ItemKind};
use crate::formulation::absolute::MechanismGeometry;
use crate::formulation::absolute::constraint::ConstraintPart;

/// ω_k += factor a_i ȧ_j over the entries of A: (i, j, k, factor).
pub type RotationRows = (u8, u8, u8, f64);

/// An entry of a small matrix: row, column, value.
pub type MapEntry = (u8, u8, f64);

/// A geometry whose bodies are given by points and vectors.
pub trait BodyMap<const N: usize>: MechanismGeometry<N> {
    /// Number of points and vectors that determine a body.
    const ITEMS: usize;
    /// Number of columns of A; in the plane the second follows from the first.
    const COLUMNS: usize;
    /// ω of A and Ȧ.
    const SPIN: &'static [RotationRows];

    /// Returns a point relative to the centre of mass.
    fn local(point: &Self::BodyPoint) -> [f64; 3];

    /// Returns the axis that these two parts of a joint keep parallel, in both bodies; none if they do something else.
    fn axis(parts: [&ConstraintPart<Self, N>; 2]) -> Option<[BodyItem; 2]>;

    /// Chooses a well-conditioned basis of a body from its items, the first a point; missing ones are new items of the body.
    fn choose(spots: &[(ItemKind, [f64; 3])], small: f64) -> Vec<BodyBasis>;

    /// Returns L over the components of the items.
    fn frame(chosen: &[(ItemKind, [f64; 3])]) -> Vec<MapEntry>;

    /// Returns an item as a linear function of y.
    fn on_y(sort: ItemKind, s: [f64; 3]) -> Vec<MapEntry>;

    /// Writes the pose of y that is near an earlier one.
    fn settle(y: &[f64], near: &[f64], out: &mut [f64]);

    /// Writes y of a pose.
    fn unsettle(q: &[f64], y: &mut [f64]);

    /// Writes ẏ of a pose and its velocities.
    fn rates(q: &[f64], v: &[f64], y: &mut [f64]);

    /// Returns the mass matrix of the columns of A from the inertia about the centre of mass.
    fn shape(inertia: &[[f64; 3]; 3]) -> [[f64; 3]; 3];
}

/// An item of a basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyBasis {
    /// A shared item of the body, by its index.
    Had(usize),
    /// A new item of this body only.
    Own(ItemKind, [f64; 3]),
}

/// Returns the length of y.
pub const fn height<W: BodyMap<N>, const N: usize>() -> usize {
    W::DIMENSION * W::ITEMS
}

/// Largest length of y.
pub const MAX_Y: usize = 12;
