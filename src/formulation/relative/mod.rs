//! Relative coordinates: joint coordinates z of a tree of joints, each body relative to its parent. The equations are those of absolute
//! coordinates under the velocity transformation of the tree, so that joints, forces, events and quantities are written once, for bodies:
//!
//! ```text
//!   q_b = q_b(z),    v_b = J ż,    a_b = J z̈ + J̇ ż
//!   Jᵀ M J z̈ + (G J)ᵀ λ = Jᵀ ( f − M J̇ ż ),      Φ(q_b(z), t) = 0      constraints of cut joints, motions and contacts
//! ```
//!
//! Constraints of tree joints are satisfied identically; their multipliers follow from the equilibrium of the bodies (`tree_reactions`).
//! The coordinates are those of the joints in the order of the tree, with rotations of spherical joints and free bodies on the group.
//! In space the counted angles of joints follow, as in absolute coordinates.

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
use super::{ConstraintHandling, Dimensions, EvaluationContext, Sparsity};
use joint_map::JointMap;
use recursion::JointTree;

/// A planar mechanism in relative coordinates.
pub type PlanarRelative = Relative<PlanarGeometry, 6>;
/// A spatial mechanism in relative coordinates.
pub type SpatialRelative = Relative<SpatialGeometry, 12>;

/// A mechanism in relative coordinates.
#[derive(Debug)]
pub struct Relative<W: JointMap<N>, const N: usize> {
    inner: Absolute<W, N>,
    constraint_handling: ConstraintHandling,
    size: Dimensions,
    tree: Arc<JointTree<W, N>>,
    /// Descriptor form, if the matrices are assembled in body coordinates.
    descriptor: Option<Arc<descriptor_form::BodyDescriptorForm<W, N>>>,
    /// Constraints of the joint of each branch, for their multipliers.
    tree_reactions: Vec<tree_reactions::TreeReactions>,
    /// Parts of the constraints that the tree does not satisfy by itself.
    closures: Vec<ClosureConstraint>,
    /// Index of each constraint in absolute coordinates.
    rows: Vec<usize>,
    sparsity: Sparsity,
    names: Vec<String>,
    cut_joints: Vec<String>,
    work: Arc<Cached<RelativeCache>>,
}

/// A part of the constraints that close loops.
#[derive(Clone, Debug)]
struct ClosureConstraint {
    /// The part in absolute coordinates, and its first constraint there.
    part: usize,
    inner: usize,
    /// Its constraints in relative coordinates.
    rows: std::ops::Range<usize>,
    /// Its entries in the Jacobian of absolute coordinates.
    slots: std::ops::Range<usize>,
    /// Branches on which it depends, children before their parents.
    path: Vec<usize>,
}

/// Results at the last configuration that was evaluated. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct RelativeCache {
    /// Whether a configuration was evaluated.
    evaluated: bool,
    /// Stored coordinates (NaN: none yet) and velocities.
    z: Vec<f64>,
    z_dot: Vec<f64>,
    /// Poses with counted angles, and the transformation J.
    q: Vec<f64>,
    geometry: Vec<f64>,
    /// Velocities of the bodies, and b.
    v: Vec<f64>,
    bias: Vec<f64>,
    /// Scratch: poses of another configuration, vectors of body and of joint coordinates, multipliers, entries of G.
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

    /// Returns the names of the cut joints, in the order of the model.
    pub fn cut(&self) -> Vec<String> {
        self.cut_joints.clone()
    }

    /// Returns the cache at z.
    fn at(&self, z: &[f64]) -> CacheGuard<'_, RelativeCache> {
        at(&self.tree, &self.work, z)
    }

    /// Returns the cache at z with velocities ż.
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

    /// Calls `on` with every part that closes a loop and the indices of its constraints and of its entries of G.
    fn each_closure(&self, mut on: impl FnMut(&ConstraintPart<W, N>, &ClosureConstraint)) {
        for closure in &self.closures {
            on(&self.inner.constraints[closure.part].part, closure);
        }
    }

    /// Returns the rotations on the group: first stored and first tangent coordinate of each.
    fn rotations(&self) -> impl Iterator<Item = (usize, usize)> {
        (self.tree.branches.iter())
            .filter(|b| b.on_group)
            .map(|b| (b.stored.0 + b.stored.1 - 4, b.moved.0 + b.moved.1 - 3))
    }

    /// Calls `on` with the ranges of stored and tangent coordinates of the vector space.
    fn vectors(&self, mut on: impl FnMut(usize, usize, usize)) {
        for branch in &self.tree.branches {
            let count = branch.moved.1 - if branch.on_group { 3 } else { 0 };
            on(branch.stored.0, branch.moved.0, count);
        }
    }

    /// Loads G of the closure constraints in absolute coordinates into the cache.
    fn load_closures(&self, cx: &EvaluationContext, work: &mut RelativeCache) {
        let poses = &mut W::poses(&work.q);
        let g = &mut work.g;
        self.each_closure(|part, closure| {
            part.jacobian(cx, poses, &mut g[closure.slots.clone()]);
        });
    }

    /// min over the closing rows of |g J C⁻¹|² / |g S|², with the displacement C of the bodies by each coordinate and S the
    /// characteristic lengths of the bodies, at most 1. The cache holds g, the rows in absolute coordinates.
    fn smallest_closure_row(&self, work: &mut RelativeCache) -> f64 {
        let length = self.inner.length;
        let mut smallest = 1.0_f64;
        for closure in &self.closures {
            for row in closure.inner..closure.inner + closure.rows.len() {
                for &k in &closure.path {
                    let b = self.tree.branches[k].body;
                    work.x[Self::WIDTH * b..Self::WIDTH * (b + 1)].fill(0.0);
                }
                let mut free = 0.0;
                for slot in closure.slots.clone() {
                    let (r, column) = self.inner.sparsity.jacobian[slot];
                    if r as usize == row {
                        let column = column as usize;
                        work.x[column] += work.g[slot];
                        let translates = column % Self::WIDTH < W::DIMENSION;
                        free += (work.g[slot] * if translates { length } else { 1.0 }).powi(2);
                    }
                }
                let in_tree: f64 = (closure.path.iter())
                    .map(|&k| (self.tree).scaled_force(k, &work.geometry, &mut work.x, length))
                    .sum();
                if free > 0.0 {
                    smallest = smallest.min(in_tree / free);
                }
            }
        }
        smallest
    }

    /// Writes the entries of G J in the order of the sparsity. The cache holds G in absolute coordinates.
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

/// Returns the cache at z.
fn at<'a, W: JointMap<N>, const N: usize>(
    tree: &JointTree<W, N>,
    work: &'a Cached<RelativeCache>,
    z: &[f64],
) -> CacheGuard<'a, RelativeCache> {
    let mut guard = work.lock();
    let work = &mut *guard;
    // Bodies that are all fixed have no coordinates: then any two configurations are equal, also the one not yet evaluated.
    if !work.evaluated || work.z != z {
        work.evaluated = true;
        work.z.copy_from_slice(z);
        tree.place(z, &mut work.q);
        let counted = W::STORED * tree.branches.len();
        work.q[counted..].copy_from_slice(&z[tree.stored..]);
        tree.load(z, &work.q, &mut work.geometry);
        work.z_dot.fill(f64::NAN);
    }
    guard
}
