//! Descriptor form of large trees (`constraint/descriptor_form.rs`): S_b and all constraints are those of absolute coordinates. S_b
//! neglects the change of J over the step, terms of order h ω relative to M: Newton's iteration converges linearly at that rate, but the
//! cost is linear in the number of bodies.

use std::sync::Arc;

use super::joint_map::JointMap;
use super::recursion::JointTree;
use crate::formulation::cache::Cached;
use crate::formulation::{DescriptorForm, Dimensions, Sparsity};

/// Velocity transformation J of a tree.
#[derive(Debug)]
pub(super) struct BodyDescriptorForm<W: JointMap<N>, const N: usize> {
    pub tree: Arc<JointTree<W, N>>,
    /// The cache of the system, which often is at the same configuration.
    pub work: Arc<Cached<super::RelativeCache>>,
    /// Dimensions and sparsity in absolute coordinates.
    pub size: Dimensions,
    pub sparsity: Sparsity,
    /// Indices of the closure constraints.
    pub rows: Vec<u32>,
}

impl<W: JointMap<N>, const N: usize> DescriptorForm for BodyDescriptorForm<W, N> {
    fn dimensions(&self) -> (usize, usize) {
        (self.size.nv, self.size.nc)
    }

    fn sparsity(&self) -> Sparsity {
        self.sparsity.clone()
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
