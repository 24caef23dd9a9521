//! Sparse LDLᵀ with everything but the numbers done once:
//!
//! ```text
//!   K_kk − Σ_i L_ki² D_i = D_k,      L_ki = (K_ki − Σ_{j<i} L_kj D_j L_ij) / D_i
//! ```
//!
//! row by row, in a fixed order and without pivoting. K is symmetric with known signs of D: + coordinates,
//! − constraints (quasi-definite). The order, the elimination tree and the place of every entry are found by
//! [`Symbolic::new`]; [`Ldl::factor`] only runs through them.

use super::dense_lu::{NOISE_PIVOT, REPLACEMENT_PIVOT};
use super::ordering::AdjacencyGraph;

/// A positive pivot below this part of its diagonal is not trusted: pivoting over all rows is needed.
const SMALL: f64 = 1e-12;
const NONE: u32 = u32::MAX;

/// Parent of each position in the elimination tree, and the entries of each column of L.
fn tree(graph: &AdjacencyGraph, order: &[u32], position: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let n = order.len();
    let mut parent = vec![NONE; n];
    let mut count = vec![0; n];
    let mut flag = vec![NONE; n];
    for k in 0..n as u32 {
        flag[k as usize] = k;
        for &j in graph.neighbours(order[k as usize] as usize) {
            let mut i = position[j as usize];
            // Only earlier columns; walk towards the root as far as this row has not been.
            while i < k && flag[i as usize] != k {
                if parent[i as usize] == NONE {
                    parent[i as usize] = k;
                }
                count[i as usize] += 1;
                flag[i as usize] = k;
                i = parent[i as usize];
            }
        }
    }
    (parent, count)
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut position = vec![0; order.len()];
    for (k, &i) in order.iter().enumerate() {
        position[i as usize] = k as u32;
    }
    position
}

/// Multiplications of a factorisation in this order, about.
pub fn factorization_cost(graph: &AdjacencyGraph, order: &[u32]) -> f64 {
    let (_, count) = tree(graph, order, &inverse(order));
    count.iter().map(|&c| c as f64 * (c as f64 + 6.0)).sum()
}

/// Entries of L in this order.
pub fn factor_fill(graph: &AdjacencyGraph, order: &[u32]) -> usize {
    let (_, count) = tree(graph, order, &inverse(order));
    count.iter().map(|&c| c as usize).sum()
}

/// Children before parents, subtrees together: same fill, neighbours close in memory.
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

/// An entry of K below the diagonal: where it goes and which two values it is the mean of.
#[derive(Clone, Copy, Debug)]
pub struct SymmetricEntry {
    /// One unknown.
    pub i: u32,
    /// The other.
    pub j: u32,
    /// Index into the values.
    pub first: u32,
    /// Index into the values; the same for an entry that has no mirror image.
    pub second: u32,
}

#[derive(Clone, Copy, Debug)]
struct InputEntry {
    column: u32,
    first: u32,
    second: u32,
}

#[derive(Clone, Copy, Debug)]
struct EntryLocation {
    column: u32,
    /// Where L_ki is stored; the entries of column i above row k end here.
    slot: u32,
}

/// Order and places.
#[derive(Clone, Debug)]
pub struct SymbolicLdl {
    order: Vec<u32>,
    /// Its inverse: where each unknown is eliminated.
    position: Vec<u32>,
    /// Unknowns below this have positive pivots, the others negative ones.
    positive: usize,
    /// Entries of K left of the diagonal, row by row.
    input_start: Vec<u32>,
    input: Vec<InputEntry>,
    /// Columns of L.
    start: Vec<u32>,
    row: Vec<u32>,
    /// Rows of L, columns rising.
    place_start: Vec<u32>,
    place: Vec<EntryLocation>,
}

impl SymbolicLdl {
    /// Prepares the factorisation in this order. The first `positive` unknowns have positive pivots.
    pub fn new(
        graph: &AdjacencyGraph,
        order: Vec<u32>,
        positive: usize,
        entries: &[SymmetricEntry],
    ) -> Self {
        let n = order.len();
        let (parent, _) = tree(graph, &order, &inverse(&order));
        let order: Vec<u32> = postorder(&parent)
            .into_iter()
            .map(|k| order[k as usize])
            .collect();
        let position = inverse(&order);
        let (parent, count) = tree(graph, &order, &position);

        let mut start = vec![0u32; n + 1];
        for i in 0..n {
            start[i + 1] = start[i] + count[i];
        }
        let entries_of_l = start[n] as usize;
        let mut row = vec![0; entries_of_l];
        let mut next = start.clone();
        let mut place_start = vec![0u32; n + 1];
        let mut place = Vec::with_capacity(entries_of_l);
        let mut flag = vec![NONE; n];
        let mut columns = Vec::new();
        for k in 0..n as u32 {
            flag[k as usize] = k;
            columns.clear();
            for &j in graph.neighbours(order[k as usize] as usize) {
                let mut i = position[j as usize];
                while i < k && flag[i as usize] != k {
                    flag[i as usize] = k;
                    columns.push(i);
                    i = parent[i as usize];
                }
            }
            columns.sort_unstable();
            for &column in &columns {
                let slot = next[column as usize];
                next[column as usize] += 1;
                row[slot as usize] = k;
                place.push(EntryLocation { column, slot });
            }
            place_start[k as usize + 1] = place.len() as u32;
        }

        let mut input_start = vec![0u32; n + 1];
        let ends = |e: &SymmetricEntry| {
            let (a, b) = (position[e.i as usize], position[e.j as usize]);
            (a.max(b), a.min(b))
        };
        for e in entries {
            input_start[ends(e).0 as usize + 1] += 1;
        }
        for k in 0..n {
            input_start[k + 1] += input_start[k];
        }
        let mut next = input_start.clone();
        let mut input = vec![
            InputEntry {
                column: 0,
                first: 0,
                second: 0
            };
            entries.len()
        ];
        for e in entries {
            let (k, column) = ends(e);
            input[next[k as usize] as usize] = InputEntry {
                column,
                first: e.first,
                second: e.second,
            };
            next[k as usize] += 1;
        }
        Self {
            order,
            position,
            positive,
            input_start,
            input,
            start,
            row,
            place_start,
            place,
        }
    }

    /// Unknown eliminated at each position.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The entries of K below the diagonal, as given to `new` but in the order of elimination.
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

    /// Entries of L below the diagonal.
    pub fn fill(&self) -> usize {
        self.row.len()
    }
}

/// What a factorisation met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PivotReport {
    /// Negative pivots that were noise and have been replaced.
    pub corrected: usize,
    /// Smallest positive pivot over its diagonal.
    pub smallest_positive: f64,
}

/// The numbers.
#[derive(Clone, Debug)]
pub struct SparseLdl {
    l: Vec<f64>,
    /// 1 / D
    inverse: Vec<f64>,
    /// Zero between calls.
    y: Vec<f64>,
    /// Two right-hand sides side by side.
    pairs: Vec<f64>,
}

impl SparseLdl {
    /// Storage.
    /// Room for two right-hand sides at once is made only where `twins` says that they will come.
    pub fn new(symbolic: &SymbolicLdl, twins: bool) -> Self {
        let n = symbolic.order.len();
        Self {
            l: vec![0.0; symbolic.row.len()],
            inverse: vec![0.0; n],
            y: vec![0.0; n],
            pairs: vec![0.0; if twins { 2 * n } else { 0 }],
        }
    }

    /// Factors K with the given `values` and `diagonal` (by unknown). Writes the pivot of each unknown over its
    /// diagonal, as far as already eliminated unknowns of the other sign have built it up, to `relative` (by unknown).
    /// The error is the unknown whose pivot is not usable in this order.
    pub fn factor(
        &mut self,
        symbolic: &SymbolicLdl,
        values: &[f64],
        diagonal: &[f64],
        relative: &mut [f64],
    ) -> Result<PivotReport, usize> {
        let mut met = PivotReport {
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
            let mut built = sign * diagonal[unknown];
            let mut taken = 0.0;
            let range = symbolic.place_start[k] as usize..symbolic.place_start[k + 1] as usize;
            for place in &symbolic.place[range] {
                let (i, slot) = (place.column as usize, place.slot as usize);
                let z = std::mem::take(&mut y[i]);
                let column = symbolic.start[i] as usize..slot;
                for (&r, l) in symbolic.row[column.clone()].iter().zip(&self.l[column]) {
                    y[r as usize] -= l * z;
                }
                let l = z * self.inverse[i];
                self.l[slot] = l;
                let share = sign * l * z;
                if share > 0.0 {
                    taken += share;
                } else {
                    built -= share;
                }
            }
            let mut pivot = built - taken;
            // "not greater" also catches what is not a number.
            if !(built > 0.0 && built.is_finite()) || pivot.is_nan() {
                return Err(unknown);
            }
            relative[unknown] = pivot / built;
            if sign > 0.0 {
                if pivot <= SMALL * built {
                    return Err(unknown);
                }
                met.smallest_positive = met.smallest_positive.min(relative[unknown]);
            } else if pivot < NOISE_PIVOT * built {
                pivot = REPLACEMENT_PIVOT * built;
                met.corrected += 1;
            }
            self.inverse[k] = sign / pivot;
        }
        Ok(met)
    }

    /// b := K⁻¹ b, by unknown; b comes in two parts.
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

    /// The same for a right-hand side that is zero in its first part, whatever `x` holds.
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

    /// Two of those in one pass over L: cheaper by a third than one after the other.
    pub fn solve_constraint_rhs_pair(
        &mut self,
        symbolic: &SymbolicLdl,
        x: [&mut [f64]; 2],
        l: [&mut [f64]; 2],
    ) {
        let (at_x, at_l) = symbolic.position.split_at(x[0].len());
        let pairs = self.pairs.as_chunks_mut::<2>().0;
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

/// y := K⁻¹ y for `N` right-hand sides side by side, by position.
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
        // Most coordinates of a projection: they have no right-hand side and come before all constraints on them.
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
    use crate::linalg::ordering::plain;

    /// Couplings i - i + 1 and i - i + 5, values by entry.
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
                for order in [plain(&graph), forward.clone(), backward] {
                    let predicted = factor_fill(&graph, &order);
                    let symbolic = SymbolicLdl::new(&graph, order, positive, &entries);
                    assert_eq!(symbolic.fill(), predicted, "postordering changed the fill");
                    let mut ldl = SparseLdl::new(&symbolic, true);
                    let mut relative = vec![0.0; n];
                    let met = ldl
                        .factor(&symbolic, &values, &diagonal, &mut relative)
                        .unwrap();
                    assert_eq!(met.corrected, 0);
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
                    // Zero in the first part, alone and in twos: the same bits.
                    let mut whole = vec![0.0; n];
                    whole[positive..].copy_from_slice(&exact[positive..]);
                    let mut part = exact.clone();
                    let mut two = [exact.clone(), exact.iter().map(|x| -2.0 * x).collect()];
                    let (x, l) = whole.split_at_mut(positive);
                    ldl.solve(&symbolic, x, l);
                    let (x, l) = part.split_at_mut(positive);
                    ldl.solve_constraint_rhs(&symbolic, x, l);
                    assert_eq!(part, whole);
                    let [(x0, l0), (x1, l1)] = two.each_mut().map(|t| t.split_at_mut(positive));
                    ldl.solve_constraint_rhs_pair(&symbolic, [x0, x1], [l0, l1]);
                    assert_eq!(two[0], whole);
                    assert!(two[1].iter().zip(&whole).all(|(s, w)| *s == -2.0 * w));
                }
            }
        }
    }

    #[test]
    fn a_wrong_sign_is_refused_and_leaves_no_trace() {
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
