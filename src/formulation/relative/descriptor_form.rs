//! The bodies as the larger space in which large trees are solved (`constraint/lifted.rs`): S_b and all rows are those of
//! absolute coordinates. S_b leaves out how J turns with the step, terms of the order h ω beside M: Newton's iteration contracts
//! with that instead of at once, in exchange for a cost that is linear in the number of bodies.

use std::sync::Arc;

use super::joint_map::JointMap;
use super::recursion::JointTree;
use crate::formulation::cache::Cached;
use crate::formulation::{DescriptorForm, Dimensions, Sparsity};

/// J of a tree, for whoever solves.
#[derive(Debug)]
pub(super) struct BodyDescriptorForm<W: JointMap<N>, const N: usize> {
    pub tree: Arc<JointTree<W, N>>,
    /// The work space of the system: it is often at the point already.
    pub work: Arc<Cached<super::RelativeCache>>,
    /// Size and pattern of absolute coordinates.
    pub size: Dimensions,
    pub pattern: Sparsity,
    /// Rows of the closures.
    pub rows: Vec<u32>,
}

impl<W: JointMap<N>, const N: usize> DescriptorForm for BodyDescriptorForm<W, N> {
    fn dimensions(&self) -> (usize, usize) {
        (self.size.nv, self.size.nc)
    }

    fn sparsity(&self) -> Sparsity {
        self.pattern.clone()
    }

    fn constraint_rows(&self) -> &[u32] {
        &self.rows
    }

    fn transformation_len(&self) -> usize {
        self.tree.geometry()
    }

    fn transformation_at(&self, q: &[f64], geometry: &mut [f64]) {
        geometry.copy_from_slice(&super::at(&self.tree, &self.work, q).geometry);
    }

    fn velocity(&self, geometry: &[f64], x: &[f64], y: &mut [f64]) {
        self.tree.carry(geometry, x, y);
    }

    fn generalised_force(&self, geometry: &[f64], f: &mut [f64], x: &mut [f64]) {
        self.tree.collect(geometry, f, x);
    }

    fn lift_force(&self, geometry: &[f64], x: &[f64], f: &mut [f64]) {
        self.tree.raise(geometry, x, f);
    }

    fn reduce_velocity(&self, geometry: &[f64], y: &[f64], x: &mut [f64]) {
        self.tree.lower(geometry, y, x);
    }
}
