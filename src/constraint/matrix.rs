//! The saddle-point matrix by parts: where its entries are (once, [`Structure`]) and what they are ([`Matrix`]).
//!
//! ```text
//!   K = [ S   Gᵀ ]      E_i = ε (G diag(M)⁻¹ Gᵀ)_ii
//!       [ G  −E  ]
//! ```

use std::sync::OnceLock;

use crate::formulation::system::Sparsity;
use crate::linalg::ordering::{self, AdjacencyGraph};
use crate::linalg::sparse_ldl::{SymbolicLdl, SymmetricEntry, factor_fill};
use crate::linalg::sparse_lu::CompressedColumns;

/// A diagonal entry below this part of the largest is the rounding of a stiffness, not a mass: it lies below whatever units make of
/// masses and moments of inertia.
const NO_DIAGONAL: f64 = 1e-22;

/// How the matrix is factored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Dense up to the measured crossover, sparse above.
    #[default]
    Auto,
    /// Dense LU.
    Dense,
    /// Sparse LDLᵀ with LU to fall back on.
    Sparse,
}

/// Compressed rows: entries of row i are `start[i]..start[i + 1]`, columns rising.
struct RowPattern {
    start: Vec<u32>,
    column: Vec<u32>,
}

impl RowPattern {
    /// Merges coordinate entries (equal places once).
    fn merged(rows: usize, mut places: Vec<(u32, u32)>) -> Self {
        places.sort_unstable();
        places.dedup();
        let mut start = vec![0; rows + 1];
        for &(i, _) in &places {
            start[i as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        Self {
            start,
            column: places.into_iter().map(|(_, j)| j).collect(),
        }
    }

    /// The slot of an entry that is known to exist.
    fn slot(&self, (i, j): (u32, u32)) -> u32 {
        let first = self.start[i as usize];
        let row = &self.column[first as usize..self.start[i as usize + 1] as usize];
        let at = row
            .binary_search(&j)
            .expect("every place of the pattern was merged");
        first + at as u32
    }
}

/// Where the entries are; made once for a system and shared by all matrices and factors.
#[derive(Clone, Debug)]
pub struct SaddleSparsity {
    nv: usize,
    nc: usize,
    /// Slots of the rows of S, then of G, in one row of values. S has its diagonal and with (i, j) also (j, i).
    s_start: Vec<u32>,
    g_start: Vec<u32>,
    /// Column of each slot.
    pub(super) column: Vec<u32>,
    /// Slot of each entry of `Pattern::tangent`, of `Pattern::jacobian`. The first is empty where the pattern lists the
    /// slots of S one after the other, so that values are already where they belong.
    s_place: Vec<u32>,
    g_place: Vec<u32>,
    /// Slot of S_ii.
    pub(super) diagonal: Vec<u32>,
    /// Squared [`System::lever`](crate::formulation::System::lever) of each coordinate; empty where all are one.
    levers: Vec<f64>,
    no_diagonal: f64,
    pub(super) sparse: Option<SparseLayout>,
}

/// What the sparse backend prepares.
#[derive(Clone, Debug)]
pub(super) struct SparseLayout {
    pub symbolic: SymbolicLdl,
    /// Made beforehand up to [`ROOM_BEFOREHAND`] unknowns.
    whole: OnceLock<LuLayout>,
}

/// The whole matrix by columns for LU, and the slot of each entry (`NO_SLOT` for the diagonal of −E).
#[derive(Clone, Debug)]
pub(super) struct LuLayout {
    pub columns: CompressedColumns,
    pub slot: Vec<u32>,
}

/// Unknowns up to which room for LU is made beforehand. It is several times the room of LDLᵀ and seldom needed: in larger
/// systems the first factor that needs it makes it.
pub(super) const PREALLOCATED_LU: usize = 10_000;

/// Marks the diagonal of −E among the slots.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// Unknowns up to which dense is taken (docs/linear-algebra.md): as fast, and exact for an unsymmetric S.
const ALWAYS_DENSE: usize = 12;
/// Up to so many unknowns dense is also taken where the sparse factor would have more than this part of all entries.
const SOMETIMES_DENSE: usize = 200;
const NEARLY_FULL: f64 = 0.6;

impl SaddleSparsity {
    /// Merges the pattern and, for the sparse backend, finds an order and the places of the factor.
    ///
    /// # Panics
    /// If an entry of the pattern lies outside `nv` x `nv` or `nc` x `nv`.
    pub fn new(nv: usize, nc: usize, pattern: &Sparsity, backend: Backend) -> Self {
        for &(i, j) in &pattern.tangent {
            assert!(
                (i as usize) < nv && (j as usize) < nv,
                "tangent entry ({i}, {j}) outside {nv} x {nv}"
            );
        }
        for &(i, j) in &pattern.jacobian {
            assert!(
                (i as usize) < nc && (j as usize) < nv,
                "jacobian entry ({i}, {j}) outside {nc} x {nv}"
            );
        }
        let mut places = Vec::with_capacity(2 * pattern.tangent.len() + nv);
        for &(i, j) in &pattern.tangent {
            places.push((i, j));
            places.push((j, i));
        }
        places.extend((0..nv as u32).map(|i| (i, i)));
        let s = RowPattern::merged(nv, places);
        let g = RowPattern::merged(nc, pattern.jacobian.clone());
        let diagonal = (0..nv as u32).map(|i| s.slot((i, i))).collect();
        let offset = s.column.len() as u32;
        let mut s_place: Vec<u32> = pattern.tangent.iter().map(|&at| s.slot(at)).collect();
        if s_place.len() == s.column.len() && s_place.iter().zip(0..).all(|(&slot, k)| slot == k) {
            s_place = Vec::new();
        }
        let g_place = pattern.jacobian.iter().map(|&at| offset + g.slot(at));
        let mut st = Self {
            nv,
            nc,
            s_place,
            g_place: g_place.collect(),
            s_start: s.start,
            g_start: g.start.iter().map(|slot| offset + slot).collect(),
            column: [s.column, g.column].concat(),
            diagonal,
            levers: Vec::new(),
            no_diagonal: NO_DIAGONAL,
            sparse: None,
        };
        let n = nv + nc;
        if backend == Backend::Sparse || (backend == Backend::Auto && n > ALWAYS_DENSE) {
            let mut light = vec![true; nv];
            for (i, j) in &pattern.tangent {
                if i == j {
                    light[*i as usize] = false;
                }
            }
            let graph = st.graph();
            let order = ordering::saddle_point_order(&graph, nv, &light);
            let full = n as f64 * (n as f64 - 1.0) / 2.0;
            let nearly_full = factor_fill(&graph, &order) as f64 > NEARLY_FULL * full;
            if backend == Backend::Sparse || n > SOMETIMES_DENSE || !nearly_full {
                st.sparse = Some(SparseLayout::new(&st, &graph, order));
            }
        }
        st
    }

    /// Levers of the coordinates, by which diagonals of S become comparable.
    pub fn with_characteristic_lengths(mut self, lever: impl Fn(usize) -> f64) -> Self {
        let squares = (0..self.nv).map(|i| lever(i) * lever(i));
        self.levers = squares.collect();
        self
    }

    /// Diagonals of S that small, as part of the largest, are the rest of a stiffness and not a mass: for systems in which
    /// rows of bodies without mass leave such.
    pub fn with_massless_threshold(mut self, diagonal: f64) -> Self {
        self.no_diagonal = diagonal;
        self
    }

    pub(super) fn massless_threshold(&self) -> f64 {
        self.no_diagonal
    }

    /// Squared lever of coordinate `i`: S_ii over it is a mass.
    pub(super) fn squared_length(&self, i: usize) -> f64 {
        self.levers.get(i).copied().unwrap_or(1.0)
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

    /// The pattern lists the entries of S row by row, each once: values can be written where they belong.
    pub fn tangent_in_place(&self) -> bool {
        self.s_place.is_empty() && self.s_len() > 0
    }

    /// Slots of S.
    pub(super) fn s_len(&self) -> usize {
        self.s_start[self.nv] as usize
    }

    /// The slot of S_ij, which is known to exist.
    fn s_slot(&self, i: usize, j: u32) -> u32 {
        let range = self.s_row(i);
        let at =
            (self.column[range.clone()].binary_search(&j)).expect("S has with (i, j) also (j, i)");
        (range.start + at) as u32
    }

    /// Tangent coordinates.
    pub fn nv(&self) -> usize {
        self.nv
    }

    /// Constraint rows.
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
    pub fn new(st: &SaddleSparsity, graph: &AdjacencyGraph, order: Vec<u32>) -> Self {
        let nv = st.nv;
        let mut entries = Vec::with_capacity((st.s_len() - nv) / 2 + st.column.len() - st.s_len());
        for i in 0..nv {
            for slot in st.s_row(i) {
                let j = st.column[slot];
                if j < i as u32 {
                    entries.push(SymmetricEntry {
                        i: i as u32,
                        j,
                        first: slot as u32,
                        second: st.s_slot(j as usize, i as u32),
                    });
                }
            }
        }
        for k in 0..st.nc {
            for slot in st.g_row(k) {
                entries.push(SymmetricEntry {
                    i: (nv + k) as u32,
                    j: st.column[slot],
                    first: slot as u32,
                    second: slot as u32,
                });
            }
        }
        let sparse = Self {
            symbolic: SymbolicLdl::new(graph, order, nv, &entries),
            whole: OnceLock::new(),
        };
        if nv + st.nc <= PREALLOCATED_LU {
            sparse.lu_layout(st);
        }
        sparse
    }

    /// The matrix by columns.
    pub fn lu_layout(&self, st: &SaddleSparsity) -> &LuLayout {
        self.whole.get_or_init(|| LuLayout::new(st))
    }
}

impl LuLayout {
    fn new(st: &SaddleSparsity) -> Self {
        let (nv, n) = (st.nv, st.nv + st.nc);
        let mut count = vec![0u32; n + 1];
        for i in 0..nv {
            for slot in st.s_row(i) {
                count[st.column[slot] as usize + 1] += 1;
            }
        }
        for k in 0..st.nc {
            for slot in st.g_row(k) {
                count[st.column[slot] as usize + 1] += 1;
            }
            count[nv + k + 1] = st.g_row(k).len() as u32 + 1;
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
            for slot in st.s_row(i) {
                put(i, st.column[slot] as usize, slot as u32);
            }
        }
        for k in 0..st.nc {
            for slot in st.g_row(k) {
                put(nv + k, st.column[slot] as usize, slot as u32);
                put(st.column[slot] as usize, nv + k, slot as u32);
            }
            put(nv + k, nv + k, NO_SLOT);
        }
        Self {
            columns: CompressedColumns { start: count, row },
            slot: slots,
        }
    }
}

/// The values of one saddle-point matrix.
#[derive(Clone, Debug)]
pub struct SaddleMatrix {
    /// Entries of S, then of G, by slot.
    pub(super) values: Vec<f64>,
    g_start: Vec<u32>,
    e: Vec<f64>,
    active: Vec<bool>,
    /// Scratch of `regularise`.
    inverse: Vec<f64>,
}

impl SaddleMatrix {
    /// All zero, all rows active.
    pub fn new(st: &SaddleSparsity) -> Self {
        Self {
            values: vec![0.0; st.column.len()],
            g_start: st.g_start.clone(),
            e: vec![0.0; st.nc],
            active: vec![true; st.nc],
            inverse: vec![0.0; st.nv],
        }
    }

    /// S from values in the order of `Pattern::tangent`; equal places are added.
    pub fn load_tangent(&mut self, st: &SaddleSparsity, values: &[f64]) {
        if st.tangent_in_place() {
            self.tangent_mut(st).copy_from_slice(values);
            return;
        }
        self.values[..st.s_len()].fill(0.0);
        for (&slot, v) in st.s_place.iter().zip(values) {
            self.values[slot as usize] += v;
        }
    }

    /// The entries of S, to be written in the order of the pattern where [`Structure::tangent_in_place`] says so.
    pub fn tangent_mut(&mut self, st: &SaddleSparsity) -> &mut [f64] {
        &mut self.values[..st.s_len()]
    }

    /// G from values in the order of `Pattern::jacobian`; equal places are added. Rows that are not active stay zero.
    pub fn load_jacobian(&mut self, st: &SaddleSparsity, values: &[f64]) {
        self.values[st.s_len()..].fill(0.0);
        for (&slot, v) in st.g_place.iter().zip(values) {
            self.values[slot as usize] += v;
        }
        self.clear_inactive();
    }

    /// Says which rows hold. A row that is switched off becomes zero now; one that is switched on needs
    /// [`Matrix::load_jacobian`] and [`Matrix::regularise`] again.
    pub fn set_active(&mut self, rows: &[bool]) {
        self.active.copy_from_slice(rows);
        self.clear_inactive();
    }

    fn clear_inactive(&mut self) {
        for (k, active) in self.active.iter().enumerate() {
            if !active {
                self.values[self.g_start[k] as usize..self.g_start[k + 1] as usize].fill(0.0);
                self.e[k] = 0.0;
            }
        }
    }

    /// E_i = eps (G diag(M)⁻¹ Gᵀ)_ii, at least a thousandth of the mean over the active rows; zero for the others.
    ///
    /// Coordinates with (almost) no mass are left out of the sum: their share would be without bound, while in truth
    /// the other constraints on them hold it down. If nothing is left the metric of the coordinates themselves is used; rows
    /// that are zero, all of them, get `eps` itself.
    pub fn regularise(&mut self, st: &SaddleSparsity, mass_diagonal: &[f64], eps: f64) {
        let smallest = 1e-15 * mass_diagonal.iter().fold(0.0, |m: f64, &x| m.max(x.abs()));
        for (inverse, m) in self.inverse.iter_mut().zip(mass_diagonal) {
            let m = m.abs();
            *inverse = if m > smallest { 1.0 / m } else { 0.0 };
        }
        let mut sum = self.row_sizes(st);
        if sum == 0.0 {
            self.inverse.fill(1.0);
            sum = self.row_sizes(st);
        }
        let rows = self.active.iter().filter(|&&a| a).count();
        let floor = match sum {
            0.0 => 1.0,
            sum => 1e-3 * sum / rows.max(1) as f64,
        };
        for (e, active) in self.e.iter_mut().zip(&self.active) {
            *e = if *active { eps * e.max(floor) } else { 0.0 };
        }
    }

    /// E from a rule of one's own, zero for rows that are not active.
    pub fn set_regularisation(&mut self, of_row: impl Fn(usize) -> f64) {
        for (k, e) in self.e.iter_mut().enumerate() {
            *e = if self.active[k] { of_row(k) } else { 0.0 };
        }
    }

    /// e_i := (G diag(`inverse`) Gᵀ)_ii; returns their sum.
    fn row_sizes(&mut self, st: &SaddleSparsity) -> f64 {
        let mut sum = 0.0;
        for i in 0..st.nc {
            let mut size = 0.0;
            let row = st.g_row(i);
            for (&j, g) in st.column[row.clone()].iter().zip(&self.values[row]) {
                size += g * g * self.inverse[j as usize];
            }
            self.e[i] = size;
            // A bad row is reported when the matrix is factored; it must not make its neighbours bad as well.
            if size.is_finite() {
                sum += size;
            }
        }
        sum
    }

    /// out = S x
    pub fn tangent_times(&self, st: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        rows_times(st, &st.s_start, &self.values, x, out);
    }

    /// The diagonal of S.
    pub fn tangent_diagonal(&self, st: &SaddleSparsity, out: &mut [f64]) {
        for (out, &slot) in out.iter_mut().zip(&st.diagonal) {
            *out = self.values[slot as usize];
        }
    }

    /// out = G x
    pub fn jacobian_times(&self, st: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        rows_times(st, &st.g_start, &self.values, x, out);
    }

    /// out_i = Σ|G_ij x_j|
    pub fn abs_jacobian_times(&self, st: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            let range = st.g_row(i);
            let terms = st.column[range.clone()].iter().zip(&self.values[range]);
            *out = terms.map(|(&j, g)| (g * x[j as usize]).abs()).sum();
        }
    }

    /// out += Gᵀ λ
    pub fn add_jacobian_transposed(&self, st: &SaddleSparsity, lambda: &[f64], out: &mut [f64]) {
        for (i, &l) in lambda.iter().enumerate() {
            let range = st.g_row(i);
            for (&j, g) in st.column[range.clone()].iter().zip(&self.values[range]) {
                out[j as usize] += g * l;
            }
        }
    }

    /// The regularisation E; zero for rows that are not active.
    pub fn regularisation(&self) -> &[f64] {
        &self.e
    }

    /// Which rows hold.
    pub fn active(&self) -> &[bool] {
        &self.active
    }
}

fn rows_times(st: &SaddleSparsity, start: &[u32], values: &[f64], x: &[f64], out: &mut [f64]) {
    let (Some(&first), Some(&last)) = (start.first(), start.last()) else {
        return;
    };
    let mut columns = &st.column[first as usize..last as usize];
    let mut values = &values[first as usize..last as usize];
    let mut from = first;
    for (out, &to) in out.iter_mut().zip(&start[1..]) {
        let (row, factors);
        (row, columns) = columns.split_at((to - from) as usize);
        (factors, values) = values.split_at((to - from) as usize);
        from = to;
        let mut sum = 0.0;
        for (&j, a) in row.iter().zip(factors) {
            sum += a * x[j as usize];
        }
        *out = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S = [[2 + 1, 4], [0, 5]] with a repeated place, G = [[1, 2], [3 - 1, 0]].
    fn small() -> (SaddleSparsity, SaddleMatrix) {
        let pattern = Sparsity {
            tangent: vec![(0, 0), (0, 1), (1, 1), (0, 0)],
            jacobian: vec![(1, 0), (0, 1), (0, 0), (1, 0)],
        };
        let st = SaddleSparsity::new(2, 2, &pattern, Backend::Dense);
        let mut m = SaddleMatrix::new(&st);
        m.load_tangent(&st, &[2.0, 4.0, 5.0, 1.0]);
        m.load_jacobian(&st, &[3.0, 2.0, 1.0, -1.0]);
        (st, m)
    }

    #[test]
    fn small_and_full_matrices_are_dense_and_long_chains_sparse() {
        use super::super::samples::{Sample, full, planar_chain};
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

    #[test]
    fn values_at_equal_places_are_added() {
        let (st, m) = small();
        let mut out = [0.0; 2];
        m.tangent_times(&st, &[1.0, 10.0], &mut out);
        assert_eq!(out, [43.0, 50.0]);
        m.jacobian_times(&st, &[1.0, 10.0], &mut out);
        assert_eq!(out, [21.0, 2.0]);
        let mut out = [100.0, 100.0];
        m.add_jacobian_transposed(&st, &[1.0, 10.0], &mut out);
        assert_eq!(out, [121.0, 102.0]);
        m.tangent_diagonal(&st, &mut out);
        assert_eq!(out, [3.0, 5.0]);
    }

    #[test]
    fn rows_that_do_not_hold_are_zero_whatever_the_order_of_calls() {
        let (st, mut m) = small();
        m.set_active(&[false, true]);
        let mut out = [9.0; 2];
        m.jacobian_times(&st, &[1.0, 10.0], &mut out);
        assert_eq!(out, [0.0, 2.0]);
        m.load_jacobian(&st, &[3.0, 2.0, 1.0, -1.0]);
        m.jacobian_times(&st, &[1.0, 10.0], &mut out);
        assert_eq!(out, [0.0, 2.0]);
    }

    #[test]
    fn regularisation_is_a_part_of_the_inverse_mass_seen_by_the_row() {
        let (st, mut m) = small();
        m.regularise(&st, &[2.0, 4.0], 1e-10);
        let exact = [1e-10 * (0.5 + 1.0), 1e-10 * 2.0];
        for (e, exact) in m.regularisation().iter().zip(exact) {
            assert!((e - exact).abs() < 1e-25, "{e} is not {exact}");
        }
        // The mass of the first coordinate is gone: the second row sees no mass and gets the floor.
        m.regularise(&st, &[0.0, 4.0], 1e-10);
        let exact = [1e-10, 1e-10 * 1e-3 * 0.5];
        for (e, exact) in m.regularisation().iter().zip(exact) {
            assert!((e - exact).abs() < 1e-25, "{e} is not {exact}");
        }
        m.set_active(&[true, false]);
        m.regularise(&st, &[0.0, 0.0], 1e-10);
        assert!((m.regularisation()[0] - 5e-10).abs() < 1e-24);
        assert_eq!(m.regularisation()[1], 0.0);
    }
}
