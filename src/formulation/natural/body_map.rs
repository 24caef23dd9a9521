//! A body by its points and vectors: place r of the centre of mass and matrix A of its axes follow from them linearly,
//!
//! ```text
//!   y = (r, A) = y₀ + L x_b,      e = r + A s   a point at s,      e = A s   a vector
//! ```
//!
//! A is a rotation where the rigid-body rows hold. Rates of the body are linear in those of its coordinates, and there is no
//! convective part, since Ȧᵀ Ȧ is symmetric:
//!
//! ```text
//!   ω = ½ vee(Aᵀ Ȧ − Ȧᵀ A),      ω' = ½ vee(Aᵀ Ä − Äᵀ A)          in the plane   ω = a × ȧ,  a the first column
//! ```
//!
//! so v_b = J(x) ẋ and a_b = J(x) ẍ with the same J, which is linear in x.

use super::shared_points::{BodyItem, ItemKind};
use crate::formulation::absolute::MechanismGeometry;
use crate::formulation::absolute::constraint::ConstraintPart;

/// ω_k += factor a_i ȧ_j over the numbers of A.
pub type RotationRows = (u8, u8, u8, f64);

/// An entry of a small matrix: row, column, value.
pub type MapEntry = (u8, u8, f64);

/// A world whose bodies can be given by points and vectors.
pub trait BodyMap<const N: usize>: MechanismGeometry<N> {
    /// Points and vectors that make a body: as many as y has vectors.
    const ITEMS: usize;
    /// Columns of A that are kept; in the plane the second follows from the first.
    const COLUMNS: usize;
    /// ω of A and Ȧ.
    const SPIN: &'static [RotationRows];

    /// A point seen from the centre of mass.
    fn local(point: &Self::BodyPoint) -> [f64; 3];

    /// The axis that these two parts of a joint keep parallel, in both bodies, if that is what they do.
    fn axis(parts: [&ConstraintPart<Self, N>; 2]) -> Option<[BodyItem; 2]>;

    /// Items of a body that determine it well, the first a point; what is missing is made up.
    fn choose(spots: &[(ItemKind, [f64; 3])], small: f64) -> Vec<BodyBasis>;

    /// L over the components of the items.
    fn frame(chosen: &[(ItemKind, [f64; 3])]) -> Vec<MapEntry>;

    /// An item over y.
    fn on_y(sort: ItemKind, s: [f64; 3]) -> Vec<MapEntry>;

    /// The pose of y, near an earlier one.
    fn settle(y: &[f64], near: &[f64], out: &mut [f64]);

    /// y of a pose.
    fn unsettle(q: &[f64], y: &mut [f64]);

    /// ẏ of a pose and its rates.
    fn rates(q: &[f64], v: &[f64], y: &mut [f64]);

    /// The mass matrix of the columns of A, from the inertia about the centre of mass.
    fn shape(inertia: &[[f64; 3]; 3]) -> [[f64; 3]; 3];
}

/// An item of a basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyBasis {
    /// One that the body has, by its number.
    Had(usize),
    /// One of its own.
    Own(ItemKind, [f64; 3]),
}

/// Numbers of y.
pub const fn height<W: BodyMap<N>, const N: usize>() -> usize {
    W::DIMENSION * W::ITEMS
}

/// Most numbers of y.
pub const MOST: usize = 12;
