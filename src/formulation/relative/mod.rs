//! Relative coordinates: every body by how it hangs on its parent in a tree of joints. The equations are those of absolute
//! coordinates pulled back along the tree, so that every joint, force, event and quantity is written once, at the level of bodies:
//!
//! ```text
//!   q_b = q_b(z),    v_b = J ż,    a_b = J z̈ + J̇ ż
//!   Jᵀ M J z̈ + (G J)ᵀ λ = Jᵀ ( f − M J̇ ż ),      Φ(q_b(z), t) = 0      rows of the joints that are cut, of motions, of contacts
//! ```
//!
//! Rows of the tree joints hold by construction; their multipliers follow from the balance of the bodies (`reaction`).
//! Coordinates are those of the joints in the order of the tree, balls and free bodies on the group; behind them, in space, the
//! counted angles of joints as in absolute coordinates.

mod build;
pub mod closure;
mod descriptor_form;
pub mod jacobian;
pub mod joint_map;
mod planar;
mod quantity;
pub mod recursion;
mod spatial;
mod system;
mod tangent;
#[cfg(test)]
pub(crate) mod tests;
pub mod tree;
mod tree_reactions;

use std::sync::Arc;

use super::absolute::Absolute;
use super::absolute::constraint::ConstraintPart;
use super::absolute::planar::PlanarGeometry;
use super::absolute::spatial::SpatialGeometry;
use super::cache::{CacheGuard, Cached};
use super::{ConstraintHandling, Dimensions, Sparsity};
use joint_map::JointMap;
use recursion::JointTree;

/// A mechanism of the plane in relative coordinates.
pub type PlanarRelative = Relative<PlanarGeometry, 6>;
/// A mechanism of space in relative coordinates.
pub type SpatialRelative = Relative<SpatialGeometry, 12>;

/// A mechanism in relative coordinates.
#[derive(Debug)]
pub struct Relative<W: JointMap<N>, const N: usize> {
    inner: Absolute<W, N>,
    constraint_handling: ConstraintHandling,
    size: Dimensions,
    tree: Arc<JointTree<W, N>>,
    /// Matrices are written at the level of bodies.
    descriptor: Option<Arc<descriptor_form::BodyDescriptorForm<W, N>>>,
    /// The joint rows of each branch, for their multipliers.
    tree_reactions: Vec<tree_reactions::TreeReactions>,
    /// Parts whose rows the tree does not hold by itself.
    closures: Vec<ClosureConstraint>,
    /// The row in absolute coordinates of each constraint row.
    rows: Vec<usize>,
    sparsity: Sparsity,
    names: Vec<String>,
    cut_joints: Vec<String>,
    work: Arc<Cached<RelativeCache>>,
}

/// A part of the rows that close loops.
#[derive(Clone, Debug)]
struct ClosureConstraint {
    /// The part in absolute coordinates, and its first row there.
    part: usize,
    inner: usize,
    /// Its own rows.
    rows: std::ops::Range<usize>,
    /// Its entries in the Jacobian of absolute coordinates.
    slots: std::ops::Range<usize>,
    /// Branches that move it, children before their parents.
    path: Vec<usize>,
}

/// Everything at the last point that was looked at. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct RelativeCache {
    /// The point: stored coordinates (NaN: none yet), and rates.
    z: Vec<f64>,
    z_dot: Vec<f64>,
    /// Poses with counted angles, and what J is made of.
    q: Vec<f64>,
    geometry: Vec<f64>,
    /// Rates of bodies, and b.
    v: Vec<f64>,
    bias: Vec<f64>,
    /// Scratch: poses of another point, tangent vectors of bodies and of joints, rows, entries of G.
    other: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    joints: Vec<f64>,
    lambda: Vec<f64>,
    g: Vec<f64>,
    gradient: Vec<f64>,
    active: Vec<bool>,
    tangent: tangent::RelativeTangentWorkspace,
}

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    const WIDTH: usize = N / 2;

    /// Names of the joints that are cut, in the order of the model.
    pub fn cut(&self) -> Vec<String> {
        self.cut_joints.clone()
    }

    /// The work space at z.
    fn at(&self, z: &[f64]) -> CacheGuard<'_, RelativeCache> {
        at(&self.tree, &self.work, z)
    }

    /// The same with rates.
    fn moving(&self, z: &[f64], z_dot: &[f64]) -> CacheGuard<'_, RelativeCache> {
        let mut guard = self.at(z);
        let work = &mut *guard;
        if work.z_dot != z_dot {
            work.z_dot.copy_from_slice(z_dot);
            self.tree.carry(&work.geometry, z_dot, &mut work.v);
            let at = (z, &work.q[..], &work.geometry[..]);
            self.tree.bias(at, z_dot, &work.v, &mut work.bias);
        }
        guard
    }

    /// Calls `on` with every part that closes a loop and the places of its rows and of its entries of G.
    fn each_closure(&self, mut on: impl FnMut(&ConstraintPart<W, N>, &ClosureConstraint)) {
        for closure in &self.closures {
            on(&self.inner.constraints[closure.part].part, closure);
        }
    }

    /// Branches whose last three coordinates are a rotation: first stored and first tangent coordinate of it.
    fn rotations(&self) -> impl Iterator<Item = (usize, usize)> {
        (self.tree.branches.iter())
            .filter(|b| b.on_group)
            .map(|b| (b.stored.0 + b.stored.1 - 4, b.moved.0 + b.moved.1 - 3))
    }

    /// Calls `on` with the ranges of stored and tangent coordinates that simply add.
    fn vectors(&self, mut on: impl FnMut(usize, usize, usize)) {
        for branch in &self.tree.branches {
            let count = branch.moved.1 - if branch.on_group { 3 } else { 0 };
            on(branch.stored.0, branch.moved.0, count);
        }
    }

    /// G of absolute coordinates, the rows of the closures only, into the work space.
    fn load_closures(&self, work: &mut RelativeCache) {
        let poses = &mut W::poses(&work.q);
        let g = &mut work.g;
        self.each_closure(|part, closure| {
            part.jacobian(poses, &mut g[closure.slots.clone()]);
        });
    }

    /// Writes the entries of G J in the order of the pattern. `work` holds G of absolute coordinates.
    fn pull_back(&self, work: &mut RelativeCache, out: &mut [f64]) {
        let mut at = 0;
        for closure in &self.closures {
            for i in 0..closure.rows.len() {
                let row = closure.inner + i;
                for &k in &closure.path {
                    let b = self.tree.branches[k].body;
                    work.x[Self::WIDTH * b..Self::WIDTH * (b + 1)].fill(0.0);
                }
                for slot in closure.slots.clone() {
                    let (r, column) = self.inner.sparsity.jacobian[slot];
                    if r as usize == row {
                        work.x[column as usize] += work.g[slot];
                    }
                }
                for &k in &closure.path {
                    at += self
                        .tree
                        .inwards(k, &work.geometry, &mut work.x, &mut out[at..]);
                }
            }
        }
    }
}

/// The work space at z.
fn at<'a, W: JointMap<N>, const N: usize>(
    tree: &JointTree<W, N>,
    work: &'a Cached<RelativeCache>,
    z: &[f64],
) -> CacheGuard<'a, RelativeCache> {
    let mut guard = work.lock();
    let work = &mut *guard;
    if work.z != z {
        work.z.copy_from_slice(z);
        tree.place(z, &mut work.q);
        let counted = W::STORED * tree.branches.len();
        work.q[counted..].copy_from_slice(&z[tree.stored..]);
        tree.load(z, &work.q, &mut work.geometry);
        work.z_dot.fill(f64::NAN);
    }
    guard
}
