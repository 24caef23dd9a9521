//! Positions of the entries of the saddle-point matrix, found once for a system:
//!
//! ```text
//!   K = [ S   Gᵀ ]      S, then G, row by row: each entry has a slot in one array of values
//!       [ G  −E  ]
//! ```

use std::sync::OnceLock;

use crate::formulation::system::Sparsity;
use crate::linalg::ordering::{AdjacencyGraph, saddle_point_order};
use crate::linalg::sparse_lu::CompressedColumns;
use crate::linalg::symbolic_ldl::{SymbolicLdl, SymmetricEntry, factor_fill};

/// Default of [`SaddleSparsity::with_massless_threshold`]: smaller diagonal entries of S are the rounding of a stiffness, not a
/// mass. It lies below any ratio of masses and moments of inertia that a choice of units can cause.
const MASSLESS_THRESHOLD: f64 = 1e-22;

/// Unknowns up to which storage for LU is allocated in advance. It is several times that of LDLᵀ and seldom needed: larger systems
/// allocate it at their first LU.
pub(super) const PREALLOCATED_LU: usize = 10_000;

/// Slot of the diagonal of −E, which is not stored with S and G.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// Unknowns up to which dense factors are used (docs/linear-algebra.md): as fast, and exact for an unsymmetric S.
const ALWAYS_DENSE: usize = 12;
/// Unknowns up to which dense factors are used if the sparse factor would be nearly full.
const SOMETIMES_DENSE: usize = 200;
/// Part of all entries above which a sparse factor is nearly full.
const NEARLY_FULL: f64 = 0.6;

/// Kind of factorisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Dense up to the measured crossover, sparse above.
    #[default]
    Auto,
    /// Dense LU.
    Dense,
    /// Sparse LDLᵀ, and sparse LU where LDLᵀ fails.
    Sparse,
}

/// Compressed rows: entries of row i are `start[i]..start[i + 1]`, columns ascending.
struct RowPattern {
    start: Vec<u32>,
    column: Vec<u32>,
}

impl RowPattern {
    /// From (row, column) pairs in any order; repeated pairs become one entry.
    fn new(rows: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut start = vec![0; rows + 1];
        for &(i, _) in &pairs {
            start[i as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        Self {
            start,
            column: pairs.into_iter().map(|(_, j)| j).collect(),
        }
    }

    /// Slot of an entry of the pattern.
    fn slot(&self, (i, j): (u32, u32)) -> u32 {
        let first = self.start[i as usize];
        let row = &self.column[first as usize..self.start[i as usize + 1] as usize];
        let at = row.binary_search(&j).expect("the pattern has every entry");
        first + at as u32
    }
}

/// Sparsity of the saddle-point matrix; made once for a system and shared by all matrices and factors.
#[derive(Clone, Debug)]
pub struct SaddleSparsity {
    nv: usize,
    nc: usize,
    /// First slot of each row of S. S has its diagonal, and with (i, j) also (j, i).
    s_start: Vec<u32>,
    /// First slot of each row of G; its slots follow those of S.
    g_start: Vec<u32>,
    /// Column of each slot.
    pub(super) column: Vec<u32>,
    /// Slot of each entry of `Sparsity::tangent`; empty if that lists the slots of S one after the other, so that values need not
    /// be moved.
    tangent_slot: Vec<u32>,
    /// Slot of each entry of `Sparsity::jacobian`.
    jacobian_slot: Vec<u32>,
    /// Slot of S_ii.
    pub(super) diagonal: Vec<u32>,
    /// Squared [`System::characteristic_length`](crate::formulation::system::System::characteristic_length) of each coordinate; empty if
    /// all are one.
    squared_length: Vec<f64>,
    massless_threshold: f64,
    pub(super) sparse: Option<SparseLayout>,
}

/// Preparation of the sparse backend.
#[derive(Clone, Debug)]
pub(super) struct SparseLayout {
    pub symbolic: SymbolicLdl,
    /// Made in advance up to [`PREALLOCATED_LU`] unknowns.
    lu: OnceLock<LuLayout>,
}

/// The complete matrix by columns for LU, and the slot of each entry ([`NO_SLOT`] for the diagonal of −E).
#[derive(Clone, Debug)]
pub(super) struct LuLayout {
    pub columns: CompressedColumns,
    pub slot: Vec<u32>,
}

impl SaddleSparsity {
    /// Merges the entries of `pattern` and, for the sparse backend, finds the elimination order and the fill of the factor.
    ///
    /// # Panics
    /// If an entry of the pattern lies outside `nv` x `nv` or `nc` x `nv`.
    pub fn new(nv: usize, nc: usize, pattern: &Sparsity, backend: Backend) -> Self {
        Self::with_switched(nv, nc, pattern, backend, &[])
    }

    /// The same with constraints that are active now and then, few at a time, as those of contacts; none if `switched` is empty.
    pub fn with_switched(
        nv: usize,
        nc: usize,
        pattern: &Sparsity,
        backend: Backend,
        switched: &[bool],
    ) -> Self {
        let mut pairs = Vec::with_capacity(2 * pattern.tangent.len() + nv);
        for &(i, j) in &pattern.tangent {
            assert!(
                (i as usize) < nv && (j as usize) < nv,
                "tangent entry ({i}, {j}) outside {nv} x {nv}"
            );
            pairs.push((i, j));
            pairs.push((j, i));
        }
        for &(i, j) in &pattern.jacobian {
            assert!(
                (i as usize) < nc && (j as usize) < nv,
                "jacobian entry ({i}, {j}) outside {nc} x {nv}"
            );
        }
        pairs.extend((0..nv as u32).map(|i| (i, i)));
        let s = RowPattern::new(nv, pairs);
        let g = RowPattern::new(nc, pattern.jacobian.clone());
        let offset = s.column.len() as u32;
        let mut tangent_slot: Vec<u32> = pattern.tangent.iter().map(|&at| s.slot(at)).collect();
        if tangent_slot.len() == s.column.len()
            && tangent_slot.iter().zip(0..).all(|(&slot, k)| slot == k)
        {
            tangent_slot = Vec::new();
        }
        let jacobian_slot = pattern.jacobian.iter().map(|&at| offset + g.slot(at));
        let mut sparsity = Self {
            nv,
            nc,
            tangent_slot,
            jacobian_slot: jacobian_slot.collect(),
            diagonal: (0..nv as u32).map(|i| s.slot((i, i))).collect(),
            s_start: s.start,
            g_start: g.start.iter().map(|slot| offset + slot).collect(),
            column: [s.column, g.column].concat(),
            squared_length: Vec::new(),
            massless_threshold: MASSLESS_THRESHOLD,
            sparse: None,
        };
        sparsity.prepare_sparse(pattern, backend, switched);
        sparsity
    }

    /// Prepares sparse factors if the backend asks for them or they are expected to be cheaper.
    fn prepare_sparse(&mut self, pattern: &Sparsity, backend: Backend, switched: &[bool]) {
        let n = self.nv + self.nc;
        if backend == Backend::Dense || (backend == Backend::Auto && n <= ALWAYS_DENSE) {
            return;
        }
        let mut massless = vec![true; self.nv];
        for (i, j) in &pattern.tangent {
            if i == j {
                massless[*i as usize] = false;
            }
        }
        let graph = self.graph();
        let order = saddle_point_order(&graph, self.nv, &massless, switched);
        let all = n as f64 * (n as f64 - 1.0) / 2.0;
        let nearly_full = factor_fill(&graph, &order) as f64 > NEARLY_FULL * all;
        // A dense factor has all rows, also those of open contacts.
        let mostly_open = switched.iter().filter(|s| **s).count() > self.nv + ALWAYS_DENSE;
        if backend == Backend::Sparse || n > SOMETIMES_DENSE || !nearly_full || mostly_open {
            self.sparse = Some(SparseLayout::new(self, &graph, order, switched));
        }
    }

    /// Sets the characteristic length L_i of each coordinate: the masses S_ii / L_i² are comparable.
    pub fn with_characteristic_lengths(mut self, length: impl Fn(usize) -> f64) -> Self {
        self.squared_length = (0..self.nv).map(|i| length(i) * length(i)).collect();
        self
    }

    /// Sets the part of the largest mass S_ii / L_i² below which a coordinate counts as massless. Systems with massless bodies
    /// whose rigidity is a constraint need a larger one: assembling leaves rounding on their diagonals.
    pub fn with_massless_threshold(mut self, threshold: f64) -> Self {
        self.massless_threshold = threshold;
        self
    }

    pub(super) fn massless_threshold(&self) -> f64 {
        self.massless_threshold
    }

    /// Squared characteristic length of coordinate `i`.
    pub(super) fn squared_length(&self, i: usize) -> f64 {
        self.squared_length.get(i).copied().unwrap_or(1.0)
    }

    /// Couplings of all unknowns.
    pub(super) fn graph(&self) -> AdjacencyGraph {
        let s = (0..self.nv).flat_map(|i| self.s_row(i).map(move |slot| (i, slot)));
        let g = (0..self.nc).flat_map(|k| self.g_row(k).map(move |slot| (self.nv + k, slot)));
        let couplings = s.chain(g).map(|(i, slot)| (i as u32, self.column[slot]));
        AdjacencyGraph::new(self.nv + self.nc, couplings)
    }

    /// Slots of row i of S.
    pub(super) fn s_row(&self, i: usize) -> std::ops::Range<usize> {
        self.s_start[i] as usize..self.s_start[i + 1] as usize
    }

    /// Slots of row k of G.
    pub(super) fn g_row(&self, k: usize) -> std::ops::Range<usize> {
        self.g_start[k] as usize..self.g_start[k + 1] as usize
    }

    /// First slot of each row of S, and their end.
    pub(super) fn s_start(&self) -> &[u32] {
        &self.s_start
    }

    /// First slot of each row of G, and their end.
    pub(super) fn g_start(&self) -> &[u32] {
        &self.g_start
    }

    /// Slot of each entry of `Sparsity::tangent`, where [`Self::tangent_in_place`] is false.
    pub(super) fn tangent_slot(&self) -> &[u32] {
        &self.tangent_slot
    }

    /// Slot of each entry of `Sparsity::jacobian`.
    pub(super) fn jacobian_slot(&self) -> &[u32] {
        &self.jacobian_slot
    }

    /// Whether the pattern lists the entries of S row by row, each once: then values are written directly to their slots.
    pub fn tangent_in_place(&self) -> bool {
        self.tangent_slot.is_empty() && self.s_len() > 0
    }

    /// Number of slots of S.
    pub(super) fn s_len(&self) -> usize {
        self.s_start[self.nv] as usize
    }

    /// Slot of the entry S_ij.
    fn s_slot(&self, i: usize, j: u32) -> u32 {
        let range = self.s_row(i);
        let at =
            (self.column[range.clone()].binary_search(&j)).expect("S has with (i, j) also (j, i)");
        (range.start + at) as u32
    }

    /// Number of coordinates.
    pub fn nv(&self) -> usize {
        self.nv
    }

    /// Number of constraints.
    pub fn nc(&self) -> usize {
        self.nc
    }

    /// Whether factors are sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    /// Entries of a factor: those of L below the diagonal, or all of a dense matrix.
    pub fn fill(&self) -> usize {
        match &self.sparse {
            Some(sparse) => sparse.symbolic.fill(),
            None => (self.nv + self.nc) * (self.nv + self.nc),
        }
    }
}

impl SparseLayout {
    pub fn new(
        sparsity: &SaddleSparsity,
        graph: &AdjacencyGraph,
        order: Vec<u32>,
        switched: &[bool],
    ) -> Self {
        let nv = sparsity.nv;
        let mut entries = Vec::with_capacity(
            (sparsity.s_len() - nv) / 2 + sparsity.column.len() - sparsity.s_len(),
        );
        for i in 0..nv {
            for slot in sparsity.s_row(i) {
                let j = sparsity.column[slot];
                if j < i as u32 {
                    entries.push(SymmetricEntry {
                        i: i as u32,
                        j,
                        first: slot as u32,
                        second: sparsity.s_slot(j as usize, i as u32),
                    });
                }
            }
        }
        for k in 0..sparsity.nc {
            for slot in sparsity.g_row(k) {
                entries.push(SymmetricEntry {
                    i: (nv + k) as u32,
                    j: sparsity.column[slot],
                    first: slot as u32,
                    second: slot as u32,
                });
            }
        }
        let sparse = Self {
            symbolic: SymbolicLdl::new(graph, order, nv, &entries, switched),
            lu: OnceLock::new(),
        };
        if nv + sparsity.nc <= PREALLOCATED_LU {
            sparse.lu_layout(sparsity);
        }
        sparse
    }

    /// Layout of the complete matrix for LU.
    pub fn lu_layout(&self, sparsity: &SaddleSparsity) -> &LuLayout {
        self.lu.get_or_init(|| LuLayout::new(sparsity))
    }
}

impl LuLayout {
    fn new(sparsity: &SaddleSparsity) -> Self {
        let (nv, n) = (sparsity.nv, sparsity.nv + sparsity.nc);
        let mut count = vec![0u32; n + 1];
        for i in 0..nv {
            for slot in sparsity.s_row(i) {
                count[sparsity.column[slot] as usize + 1] += 1;
            }
        }
        for k in 0..sparsity.nc {
            for slot in sparsity.g_row(k) {
                count[sparsity.column[slot] as usize + 1] += 1;
            }
            count[nv + k + 1] = sparsity.g_row(k).len() as u32 + 1;
        }
        for j in 0..n {
            count[j + 1] += count[j];
        }
        let mut next = count.clone();
        let mut row = vec![0; count[n] as usize];
        let mut slots = vec![NO_SLOT; count[n] as usize];
        let mut put = |i: usize, j: usize, slot: u32| {
            let at = next[j] as usize;
            next[j] += 1;
            row[at] = i as u32;
            slots[at] = slot;
        };
        for i in 0..nv {
            for slot in sparsity.s_row(i) {
                put(i, sparsity.column[slot] as usize, slot as u32);
            }
        }
        for k in 0..sparsity.nc {
            for slot in sparsity.g_row(k) {
                put(nv + k, sparsity.column[slot] as usize, slot as u32);
                put(sparsity.column[slot] as usize, nv + k, slot as u32);
            }
            put(nv + k, nv + k, NO_SLOT);
        }
        Self {
            columns: CompressedColumns { start: count, row },
            slot: slots,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::samples::{Sample, full, planar_chain};
    use super::*;

    #[test]
    fn small_and_full_matrices_are_dense_and_long_chains_sparse() {
        let sparse = |sample: Sample, backend| {
            let pattern = Sparsity {
                tangent: sample.tangent,
                jacobian: sample.jacobian,
            };
            SaddleSparsity::new(sample.nv, sample.nc, &pattern, backend).is_sparse()
        };
        assert!(!sparse(planar_chain(2), Backend::Auto));
        assert!(sparse(planar_chain(3), Backend::Auto));
        assert!(!sparse(full(30, 10), Backend::Auto));
        assert!(sparse(full(30, 10), Backend::Sparse));
        assert!(!sparse(planar_chain(30), Backend::Dense));
    }
}
