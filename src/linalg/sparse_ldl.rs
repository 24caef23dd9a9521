//! Sparse LDLᵀ factorisation with the symbolic part done once:
//!
//! ```text
//!   K_kk − Σ_i L_ki² D_i = D_k,      L_ki = (K_ki − Σ_{j<i} L_kj D_j L_ij) / D_i
//! ```
//!
//! row by row, in a fixed order and without pivoting. K is symmetric and quasi-definite: the pivots of coordinates are positive,
//! those of constraints negative. [`SymbolicLdl::new`] finds the elimination tree and the position of every entry;
//! [`SparseLdl::factor`] computes the values.

use super::dense_lu::{NOISE_PIVOT, REPLACEMENT_PIVOT};
use super::ordering::AdjacencyGraph;

/// Positive pivot, as part of its diagonal, below which pivoting over all rows is needed.
const SMALLEST_POSITIVE_PIVOT: f64 = 1e-12;
const NONE: u32 = u32::MAX;

/// Parent of each position in the elimination tree, and the number of entries of each column of L.
fn elimination_tree(
    graph: &AdjacencyGraph,
    order: &[u32],
    position: &[u32],
) -> (Vec<u32>, Vec<u32>) {
    let n = order.len();
    let mut parent = vec![NONE; n];
    let mut count = vec![0; n];
    let mut visited = vec![NONE; n];
    for k in 0..n as u32 {
        visited[k as usize] = k;
        for &j in graph.neighbours(order[k as usize] as usize) {
            let mut i = position[j as usize];
            // Earlier columns only; towards the root up to the first one visited for this row.
            while i < k && visited[i as usize] != k {
                if parent[i as usize] == NONE {
                    parent[i as usize] = k;
                }
                count[i as usize] += 1;
                visited[i as usize] = k;
                i = parent[i as usize];
            }
        }
    }
    (parent, count)
}

/// Inverse of a permutation.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut position = vec![0; order.len()];
    for (k, &i) in order.iter().enumerate() {
        position[i as usize] = k as u32;
    }
    position
}

/// Approximate number of multiplications of a factorisation in this order.
pub fn factorization_cost(graph: &AdjacencyGraph, order: &[u32]) -> f64 {
    let (_, count) = elimination_tree(graph, order, &inverse(order));
    count.iter().map(|&c| c as f64 * (c as f64 + 6.0)).sum()
}

/// Number of entries of L in this order.
pub fn factor_fill(graph: &AdjacencyGraph, order: &[u32]) -> usize {
    let (_, count) = elimination_tree(graph, order, &inverse(order));
    count.iter().map(|&c| c as usize).sum()
}

/// Postorder of the elimination tree: the same fill, and subtrees contiguous in memory.
fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let (mut child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    for i in (0..n).rev() {
        if parent[i] != NONE {
            sibling[i] = child[parent[i] as usize];
            child[parent[i] as usize] = i as u32;
        }
    }
    let mut out = Vec::with_capacity(n);
    let mut stack = Vec::new();
    for root in (0..n).filter(|&i| parent[i] == NONE) {
        stack.push(root as u32);
        while let Some(&i) = stack.last() {
            let c = child[i as usize];
            if c == NONE {
                out.push(i);
                stack.pop();
            } else {
                child[i as usize] = sibling[c as usize];
                stack.push(c);
            }
        }
    }
    out
}

/// An entry of K below the diagonal, the mean of two values.
#[derive(Clone, Copy, Debug)]
pub struct SymmetricEntry {
    /// One unknown.
    pub i: u32,
    /// The other.
    pub j: u32,
    /// Index into the values.
    pub first: u32,
    /// Index into the values; equal to `first` for an entry with one value.
    pub second: u32,
}

/// An entry of K in its row.
#[derive(Clone, Copy, Debug)]
struct InputEntry {
    column: u32,
    first: u32,
    second: u32,
}

/// An entry L_ki in row k.
#[derive(Clone, Copy, Debug)]
struct EntryLocation {
    column: u32,
    /// Index of L_ki; the entries of column i above row k end here.
    slot: u32,
}

/// Elimination order and positions of all entries.
#[derive(Clone, Debug)]
pub struct SymbolicLdl {
    order: Vec<u32>,
    /// Position at which each unknown is eliminated.
    position: Vec<u32>,
    /// Unknowns below this have positive pivots, the others negative ones.
    positive: usize,
    /// Entries of K left of the diagonal, by rows.
    input_start: Vec<u32>,
    input: Vec<InputEntry>,
    /// Entries of L by columns: start and rows.
    start: Vec<u32>,
    row: Vec<u32>,
    /// Entries of L by rows, columns ascending.
    row_start: Vec<u32>,
    row_entry: Vec<EntryLocation>,
}

impl SymbolicLdl {
    /// Prepares the factorisation in this order, postordered. The first `positive` unknowns have positive pivots.
    pub fn new(
        graph: &AdjacencyGraph,
        order: Vec<u32>,
        positive: usize,
        entries: &[SymmetricEntry],
    ) -> Self {
        let (parent, _) = elimination_tree(graph, &order, &inverse(&order));
        let order: Vec<u32> = postorder(&parent)
            .into_iter()
            .map(|k| order[k as usize])
            .collect();
        let position = inverse(&order);
        let mut symbolic = Self {
            order,
            position,
            positive,
            input_start: Vec::new(),
            input: Vec::new(),
            start: Vec::new(),
            row: Vec::new(),
            row_start: Vec::new(),
            row_entry: Vec::new(),
        };
        symbolic.find_factor(graph);
        symbolic.sort_input(entries);
        symbolic
    }

    /// Finds the entries of L by columns and by rows.
    fn find_factor(&mut self, graph: &AdjacencyGraph) {
        let n = self.order.len();
        let (parent, count) = elimination_tree(graph, &self.order, &self.position);
        self.start = vec![0u32; n + 1];
        for i in 0..n {
            self.start[i + 1] = self.start[i] + count[i];
        }
        let entries = self.start[n] as usize;
        self.row = vec![0; entries];
        self.row_start = vec![0u32; n + 1];
        self.row_entry = Vec::with_capacity(entries);
        let mut next = self.start.clone();
        let mut visited = vec![NONE; n];
        let mut columns = Vec::new();
        for k in 0..n as u32 {
            visited[k as usize] = k;
            columns.clear();
            for &j in graph.neighbours(self.order[k as usize] as usize) {
                let mut i = self.position[j as usize];
                while i < k && visited[i as usize] != k {
                    visited[i as usize] = k;
                    columns.push(i);
                    i = parent[i as usize];
                }
            }
            columns.sort_unstable();
            for &column in &columns {
                let slot = next[column as usize];
                next[column as usize] += 1;
                self.row[slot as usize] = k;
                self.row_entry.push(EntryLocation { column, slot });
            }
            self.row_start[k as usize + 1] = self.row_entry.len() as u32;
        }
    }

    /// Sorts the entries of K by the row in which they are needed.
    fn sort_input(&mut self, entries: &[SymmetricEntry]) {
        let n = self.order.len();
        let position = &self.position;
        let row_and_column = |e: &SymmetricEntry| {
            let (a, b) = (position[e.i as usize], position[e.j as usize]);
            (a.max(b), a.min(b))
        };
        let mut start = vec![0u32; n + 1];
        for e in entries {
            start[row_and_column(e).0 as usize + 1] += 1;
        }
        for k in 0..n {
            start[k + 1] += start[k];
        }
        let mut next = start.clone();
        let none = InputEntry {
            column: 0,
            first: 0,
            second: 0,
        };
        let mut input = vec![none; entries.len()];
        for e in entries {
            let (k, column) = row_and_column(e);
            input[next[k as usize] as usize] = InputEntry {
                column,
                first: e.first,
                second: e.second,
            };
            next[k as usize] += 1;
        }
        (self.input_start, self.input) = (start, input);
    }

    /// Unknown eliminated at each position.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The entries of K below the diagonal in the order of elimination.
    pub fn entries(&self) -> impl Iterator<Item = SymmetricEntry> + '_ {
        (0..self.order.len()).flat_map(move |k| {
            let range = self.input_start[k] as usize..self.input_start[k + 1] as usize;
            self.input[range].iter().map(move |e| SymmetricEntry {
                i: self.order[k],
                j: self.order[e.column as usize],
                first: e.first,
                second: e.second,
            })
        })
    }

    /// Number of entries of L below the diagonal.
    pub fn fill(&self) -> usize {
        self.row.len()
    }
}

/// Pivots of a factorisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PivotReport {
    /// Number of negative pivots that were rounding and have been replaced.
    pub corrected: usize,
    /// Smallest positive pivot as part of its diagonal.
    pub smallest_positive: f64,
}

/// Values of the factors.
#[derive(Clone, Debug)]
pub struct SparseLdl {
    l: Vec<f64>,
    /// 1 / D
    inverse: Vec<f64>,
    /// Workspace by position, zero between calls.
    y: Vec<f64>,
    /// Two interleaved right-hand sides.
    y_pair: Vec<f64>,
}

impl SparseLdl {
    /// Storage for the factors, with workspace for two right-hand sides at once if `pairs`.
    pub fn new(symbolic: &SymbolicLdl, pairs: bool) -> Self {
        let n = symbolic.order.len();
        Self {
            l: vec![0.0; symbolic.row.len()],
            inverse: vec![0.0; n],
            y: vec![0.0; n],
            y_pair: vec![0.0; if pairs { 2 * n } else { 0 }],
        }
    }

    /// Factors K of the given `values` and `diagonal` (by unknown). Sets `relative` (by unknown) to the pivot over the diagonal,
    /// which includes the contributions of eliminated unknowns of the other sign. The error is the unknown whose pivot is not
    /// usable in this order.
    pub fn factor(
        &mut self,
        symbolic: &SymbolicLdl,
        values: &[f64],
        diagonal: &[f64],
        relative: &mut [f64],
    ) -> Result<PivotReport, usize> {
        let mut report = PivotReport {
            corrected: 0,
            smallest_positive: f64::INFINITY,
        };
        let y = &mut self.y[..];
        for k in 0..symbolic.order.len() {
            let unknown = symbolic.order[k] as usize;
            let sign = if unknown < symbolic.positive {
                1.0
            } else {
                -1.0
            };
            let range = symbolic.input_start[k] as usize..symbolic.input_start[k + 1] as usize;
            for e in &symbolic.input[range] {
                y[e.column as usize] +=
                    0.5 * (values[e.first as usize] + values[e.second as usize]);
            }
            let mut built_up = sign * diagonal[unknown];
            let mut reduction = 0.0;
            let range = symbolic.row_start[k] as usize..symbolic.row_start[k + 1] as usize;
            for entry in &symbolic.row_entry[range] {
                let (i, slot) = (entry.column as usize, entry.slot as usize);
                let z = std::mem::take(&mut y[i]);
                let column = symbolic.start[i] as usize..slot;
                for (&r, l) in symbolic.row[column.clone()].iter().zip(&self.l[column]) {
                    y[r as usize] -= l * z;
                }
                let l = z * self.inverse[i];
                self.l[slot] = l;
                let share = sign * l * z;
                if share > 0.0 {
                    reduction += share;
                } else {
                    built_up -= share;
                }
            }
            let mut pivot = built_up - reduction;
            // The negation also catches NaN.
            if !(built_up > 0.0 && built_up.is_finite()) || pivot.is_nan() {
                return Err(unknown);
            }
            relative[unknown] = pivot / built_up;
            if sign > 0.0 {
                if pivot <= SMALLEST_POSITIVE_PIVOT * built_up {
                    return Err(unknown);
                }
                report.smallest_positive = report.smallest_positive.min(relative[unknown]);
            } else if pivot < NOISE_PIVOT * built_up {
                pivot = REPLACEMENT_PIVOT * built_up;
                report.corrected += 1;
            }
            self.inverse[k] = sign / pivot;
        }
        Ok(report)
    }

    /// [x; l] := K⁻¹ [x; l], by unknown.
    pub fn solve(&mut self, symbolic: &SymbolicLdl, x: &mut [f64], l: &mut [f64]) {
        let (at_x, at_l) = symbolic.position.split_at(x.len());
        let y = &mut self.y[..];
        for (at, b) in [(at_x, &*x), (at_l, &*l)] {
            for (&at, b) in at.iter().zip(b) {
                y[at as usize] = *b;
            }
        }
        substitute(symbolic, &self.l, &self.inverse, y.as_chunks_mut::<1>().0);
        for (at, b) in [(at_x, x), (at_l, l)] {
            for (&at, b) in at.iter().zip(b) {
                *b = std::mem::take(&mut y[at as usize]);
            }
        }
    }

    /// [x; l] := K⁻¹ [0; l], whatever `x` is.
    pub fn solve_constraint_rhs(&mut self, symbolic: &SymbolicLdl, x: &mut [f64], l: &mut [f64]) {
        let (at_x, at_l) = symbolic.position.split_at(x.len());
        let y = &mut self.y[..];
        for (&at, b) in at_l.iter().zip(&*l) {
            y[at as usize] = *b;
        }
        substitute(symbolic, &self.l, &self.inverse, y.as_chunks_mut::<1>().0);
        for (at, b) in [(at_x, x), (at_l, l)] {
            for (&at, b) in at.iter().zip(b) {
                *b = std::mem::take(&mut y[at as usize]);
            }
        }
    }

    /// [`SparseLdl::solve_constraint_rhs`] for two right-hand sides in one pass over L: a third cheaper than two passes.
    pub fn solve_constraint_rhs_pair(
        &mut self,
        symbolic: &SymbolicLdl,
        x: [&mut [f64]; 2],
        l: [&mut [f64]; 2],
    ) {
        let (at_x, at_l) = symbolic.position.split_at(x[0].len());
        let pairs = self.y_pair.as_chunks_mut::<2>().0;
        for ((&at, b0), b1) in at_l.iter().zip(&*l[0]).zip(&*l[1]) {
            pairs[at as usize] = [*b0, *b1];
        }
        substitute(symbolic, &self.l, &self.inverse, pairs);
        for (at, [b0, b1]) in [(at_x, x), (at_l, l)] {
            for ((&at, b0), b1) in at.iter().zip(b0).zip(b1) {
                [*b0, *b1] = std::mem::take(&mut pairs[at as usize]);
            }
        }
    }
}

/// y := K⁻¹ y for `N` interleaved right-hand sides, by position.
fn substitute<const N: usize>(
    symbolic: &SymbolicLdl,
    values: &[f64],
    inverse: &[f64],
    y: &mut [[f64; N]],
) {
    let (mut rows, mut l) = (&symbolic.row[..], values);
    let mut from = 0;
    for (i, &to) in symbolic.start[1..].iter().enumerate() {
        let (column, factors);
        (column, rows) = rows.split_at((to - from) as usize);
        (factors, l) = l.split_at((to - from) as usize);
        from = to;
        let z = y[i];
        // In a projection most coordinates have no right-hand side and precede their constraints.
        if z == [0.0; N] {
            continue;
        }
        for (&r, l) in column.iter().zip(factors) {
            let y = &mut y[r as usize];
            for k in 0..N {
                y[k] -= l * z[k];
            }
        }
    }
    let (mut rows, mut l) = (&symbolic.row[..], values);
    for ((i, &from), &inverse) in symbolic.start[..inverse.len()]
        .iter()
        .enumerate()
        .zip(inverse)
        .rev()
    {
        let (column, factors);
        (rows, column) = rows.split_at(from as usize);
        (l, factors) = l.split_at(from as usize);
        let mut z = y[i].map(|y| y * inverse);
        for (&r, l) in column.iter().zip(factors) {
            let y = &y[r as usize];
            for k in 0..N {
                z[k] -= l * y[k];
            }
        }
        y[i] = z;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Graph with couplings (i, i + 1) and (i, i + 5), and its entries.
    fn banded(n: u32) -> (AdjacencyGraph, Vec<SymmetricEntry>) {
        let pairs = (0..n).flat_map(|i| [(i, i + 1), (i, i + 5)]);
        let pairs: Vec<_> = pairs.filter(|&(_, j)| j < n).collect();
        let entries = pairs
            .iter()
            .enumerate()
            .map(|(at, &(j, i))| SymmetricEntry {
                i,
                j,
                first: at as u32,
                second: at as u32,
            });
        (
            AdjacencyGraph::new(n as usize, pairs.iter().copied()),
            entries.collect(),
        )
    }

    #[test]
    fn definite_and_quasi_definite_systems_are_solved_in_any_order() {
        for n in [1, 2, 7, 60] {
            let (graph, entries) = banded(n);
            let n = n as usize;
            let values: Vec<f64> = (0..entries.len()).map(|e| (e as f64 + 1.0).sin()).collect();
            for positive in [n, n / 2] {
                let diagonal: Vec<f64> = (0..n)
                    .map(|i| if i < positive { 5.0 } else { -5.0 })
                    .collect();
                let forward: Vec<u32> = (0..n as u32).collect();
                let backward = forward.iter().rev().copied().collect();
                for order in [graph.minimum_degree(), forward.clone(), backward] {
                    let predicted = factor_fill(&graph, &order);
                    let symbolic = SymbolicLdl::new(&graph, order, positive, &entries);
                    assert_eq!(symbolic.fill(), predicted, "postordering changed the fill");
                    let mut ldl = SparseLdl::new(&symbolic, true);
                    let mut relative = vec![0.0; n];
                    let report = ldl
                        .factor(&symbolic, &values, &diagonal, &mut relative)
                        .unwrap();
                    assert_eq!(report.corrected, 0);
                    let exact: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
                    let mut b: Vec<f64> = (0..n).map(|i| diagonal[i] * exact[i]).collect();
                    for (e, v) in entries.iter().zip(&values) {
                        b[e.i as usize] += v * exact[e.j as usize];
                        b[e.j as usize] += v * exact[e.i as usize];
                    }
                    let (x, l) = b.split_at_mut(positive);
                    ldl.solve(&symbolic, x, l);
                    for i in 0..n {
                        let error = (b[i] - exact[i]).abs();
                        assert!(error < 1e-12 * n as f64, "unknown {i} of {n}: {error:e}");
                    }
                    // Zero in the first part, for one and for two right-hand sides: the same bits.
                    let mut complete = vec![0.0; n];
                    complete[positive..].copy_from_slice(&exact[positive..]);
                    let mut part = exact.clone();
                    let mut two = [exact.clone(), exact.iter().map(|x| -2.0 * x).collect()];
                    let (x, l) = complete.split_at_mut(positive);
                    ldl.solve(&symbolic, x, l);
                    let (x, l) = part.split_at_mut(positive);
                    ldl.solve_constraint_rhs(&symbolic, x, l);
                    assert_eq!(part, complete);
                    let [(x0, l0), (x1, l1)] = two.each_mut().map(|t| t.split_at_mut(positive));
                    ldl.solve_constraint_rhs_pair(&symbolic, [x0, x1], [l0, l1]);
                    assert_eq!(two[0], complete);
                    assert!(two[1].iter().zip(&complete).all(|(s, w)| *s == -2.0 * w));
                }
            }
        }
    }

    #[test]
    fn a_pivot_of_the_wrong_sign_is_an_error_without_effect_on_later_factors() {
        let (graph, entries) = banded(6);
        let values = vec![0.1; entries.len()];
        let symbolic = SymbolicLdl::new(&graph, (0..6).collect(), 6, &entries);
        let mut ldl = SparseLdl::new(&symbolic, true);
        let mut relative = vec![0.0; 6];
        let mut diagonal = [2.0, 2.0, 2.0, -2.0, 2.0, 2.0];
        let found = ldl.factor(&symbolic, &values, &diagonal, &mut relative);
        assert_eq!(found, Err(3));
        diagonal[3] = f64::NAN;
        assert!(
            ldl.factor(&symbolic, &values, &diagonal, &mut relative)
                .is_err()
        );
        diagonal[3] = 2.0;
        ldl.factor(&symbolic, &values, &diagonal, &mut relative)
            .unwrap();
        let mut fresh = SparseLdl::new(&symbolic, true);
        fresh
            .factor(&symbolic, &values, &diagonal, &mut relative)
            .unwrap();
        assert_eq!(ldl.l, fresh.l);
    }
}
