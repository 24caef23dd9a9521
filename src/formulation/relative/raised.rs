//! The bodies as the larger space in which large trees are solved (`constraint/lifted.rs`): S_b and all rows are those of
//! absolute coordinates. S_b leaves out how J turns with the step, terms of the order h ω beside M: Newton's iteration contracts
//! with that instead of at once, in exchange for a cost that is linear in the number of bodies.

use std::sync::{Arc, Mutex};

use super::link::Links;
use super::motion::Tree;
use crate::formulation::{Lift, Pattern, Size};

/// J of a tree, for whoever solves.
#[derive(Debug)]
pub(super) struct Raised<W: Links<N>, const N: usize> {
    pub tree: Arc<Tree<W, N>>,
    /// The work space of the system: it is often at the point already.
    pub work: Arc<Mutex<super::Work>>,
    /// Size and pattern of absolute coordinates.
    pub size: Size,
    pub pattern: Pattern,
    /// Rows of the closures.
    pub rows: Vec<u32>,
}

impl<W: Links<N>, const N: usize> Lift for Raised<W, N> {
    fn size(&self) -> (usize, usize) {
        (self.size.nv, self.size.nc)
    }

    fn pattern(&self) -> Pattern {
        self.pattern.clone()
    }

    fn rows(&self) -> &[u32] {
        &self.rows
    }

    fn geometry(&self) -> usize {
        self.tree.geometry()
    }

    fn load(&self, q: &[f64], geometry: &mut [f64]) {
        geometry.copy_from_slice(&super::at(&self.tree, &self.work, q).geometry);
    }

    fn carry(&self, geometry: &[f64], x: &[f64], y: &mut [f64]) {
        self.tree.carry(geometry, x, y);
    }

    fn collect(&self, geometry: &[f64], f: &mut [f64], x: &mut [f64]) {
        self.tree.collect(geometry, f, x);
    }

    fn raise(&self, geometry: &[f64], x: &[f64], f: &mut [f64]) {
        self.tree.raise(geometry, x, f);
    }

    fn lower(&self, geometry: &[f64], y: &[f64], x: &mut [f64]) {
        self.tree.lower(geometry, y, x);
    }
}
