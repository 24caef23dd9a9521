//! Sparse LDLᵀ factorisation:
//!
//! ```text
//!   K_kk − Σ_i L_ki² D_i = D_k,      L_ki = (K_ki − Σ_{j<i} L_kj D_j L_ij) / D_i
//! ```
//!
//! row by row, in a fixed order and without pivoting. K is symmetric and quasi-definite: the pivots of coordinates are positive,
//! those of constraints negative. [`SymbolicLdl::new`] fixes the order; [`SparseLdl::factor`] computes the values. Rows of
//! inactive constraints are not part of the factor: the position of every entry is found again when the active set changes.

use std::sync::Arc;

use super::dense_lu::{NOISE_PIVOT, REPLACEMENT_PIVOT};
use super::symbolic_ldl::{FactorPattern, SymbolicLdl};

/// Positive pivot, as part of its diagonal, below which pivoting over all rows is needed.
const SMALLEST_POSITIVE_PIVOT: f64 = 1e-12;

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
    /// Shared with the other factors where there are no constraints.
    pattern: Arc<FactorPattern>,
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
            pattern: symbolic.pattern(),
            l: Vec::with_capacity(symbolic.reserved()),
            inverse: vec![0.0; n],
            y: vec![0.0; n],
            y_pair: vec![0.0; if pairs { 2 * n } else { 0 }],
        }
    }

    /// Factors K of the given `values` and `diagonal` (by unknown), in which rows of constraints that are not `active` have no entry
    /// but their diagonal. Sets `relative` (by unknown) to the pivot over the diagonal, which includes the contributions of
    /// eliminated unknowns of the other sign. The error is the unknown whose pivot is not usable in this order.
    pub fn factor(
        &mut self,
        symbolic: &SymbolicLdl,
        active: &[bool],
        values: &[f64],
        diagonal: &[f64],
        relative: &mut [f64],
    ) -> Result<PivotReport, usize> {
        if self.pattern.active != active || self.l.len() != self.pattern.row.len() {
            if self.pattern.active != active {
                Arc::make_mut(&mut self.pattern).find(symbolic, active);
            }
            self.l.resize(self.pattern.row.len(), 0.0);
        }
        let mut report = PivotReport {
            corrected: 0,
            smallest_positive: f64::INFINITY,
        };
        let (pattern, y) = (&self.pattern, &mut self.y[..]);
        for k in 0..symbolic.order.len() {
            let unknown = symbolic.order[k] as usize;
            let sign = if unknown < symbolic.positive {
                1.0
            } else {
                -1.0
            };
            if !symbolic.is_present(k, active) {
                self.inverse[k] = 1.0 / diagonal[unknown];
                relative[unknown] = 1.0;
                continue;
            }
            let range = symbolic.input_start[k] as usize..symbolic.input_start[k + 1] as usize;
            for e in &symbolic.input[range] {
                y[e.column as usize] +=
                    0.5 * (values[e.first as usize] + values[e.second as usize]);
            }
            let mut built_up = sign * diagonal[unknown];
            let mut reduction = 0.0;
            let range = pattern.row_start[k] as usize..pattern.row_start[k + 1] as usize;
            for entry in &pattern.row_entry[range] {
                let (i, slot) = (entry.column as usize, entry.slot as usize);
                let z = std::mem::take(&mut y[i]);
                let column = pattern.start[i] as usize..slot;
                for (&r, l) in pattern.row[column.clone()].iter().zip(&self.l[column]) {
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
        substitute(
            &self.pattern,
            &self.l,
            &self.inverse,
            y.as_chunks_mut::<1>().0,
        );
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
        substitute(
            &self.pattern,
            &self.l,
            &self.inverse,
            y.as_chunks_mut::<1>().0,
        );
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
        substitute(&self.pattern, &self.l, &self.inverse, pairs);
        for (at, [b0, b1]) in [(at_x, x), (at_l, l)] {
            for ((&at, b0), b1) in at.iter().zip(b0).zip(b1) {
                [*b0, *b1] = std::mem::take(&mut pairs[at as usize]);
            }
        }
    }
}

/// y := K⁻¹ y for `N` interleaved right-hand sides, by position.
fn substitute<const N: usize>(
    pattern: &FactorPattern,
    values: &[f64],
    inverse: &[f64],
    y: &mut [[f64; N]],
) {
    let (mut rows, mut l) = (&pattern.row[..], values);
    let mut from = 0;
    for (i, &to) in pattern.start[1..].iter().enumerate() {
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
    let (mut rows, mut l) = (&pattern.row[..], values);
    for ((i, &from), &inverse) in pattern.start[..inverse.len()]
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
    use super::super::ordering::AdjacencyGraph;
    use super::super::symbolic_ldl::{SymmetricEntry, factor_fill};
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
                    let symbolic = SymbolicLdl::new(&graph, order, positive, &entries, &[]);
                    assert_eq!(symbolic.fill(), predicted, "postordering changed the fill");
                    let mut ldl = SparseLdl::new(&symbolic, true);
                    let active = vec![true; n - positive];
                    let mut relative = vec![0.0; n];
                    let report = ldl
                        .factor(&symbolic, &active, &values, &diagonal, &mut relative)
                        .unwrap();
                    assert_eq!(report.corrected, 0);
                    assert_eq!(ldl.l.len(), predicted);
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
    fn inactive_constraints_have_no_entries_and_change_nothing() {
        let n = 40;
        let (graph, entries) = banded(n);
        let (n, positive) = (n as usize, 20);
        let diagonal: Vec<f64> = (0..n)
            .map(|i| if i < positive { 5.0 } else { -5.0 })
            .collect();
        let switched: Vec<bool> = (0..n - positive).map(|k| k % 3 == 0).collect();
        let order = graph.minimum_degree();
        let symbolic = SymbolicLdl::new(&graph, order, positive, &entries, &switched);
        let mut ldl = SparseLdl::new(&symbolic, true);
        let mut relative = vec![0.0; n];
        for pass in 0..3 {
            let active: Vec<bool> = (0..n - positive)
                .map(|k| !switched[k] || k % 2 == pass % 2)
                .collect();
            let is_absent = |i: u32| i as usize >= positive && !active[i as usize - positive];
            // The complete matrix with zeros in the rows of inactive constraints.
            let values: Vec<f64> = (entries.iter().enumerate())
                .map(|(at, e)| {
                    if is_absent(e.i) || is_absent(e.j) {
                        0.0
                    } else {
                        (at as f64 + 1.0).sin()
                    }
                })
                .collect();
            let mut all = SparseLdl::new(&symbolic, true);
            let every = vec![true; n - positive];
            all.factor(&symbolic, &every, &values, &diagonal, &mut relative)
                .unwrap();
            ldl.factor(&symbolic, &active, &values, &diagonal, &mut relative)
                .unwrap();
            assert!(ldl.l.len() < all.l.len());
            assert!(ldl.l.capacity() <= symbolic.reserved().max(all.l.len()));
            let mut solutions = [0, 1].map(|_| (0..n).map(|i| 1.0 + i as f64).collect::<Vec<_>>());
            for (ldl, b) in [&mut ldl, &mut all].into_iter().zip(&mut solutions) {
                let (x, l) = b.split_at_mut(positive);
                ldl.solve(&symbolic, x, l);
            }
            assert_eq!(solutions[0], solutions[1]);
        }
    }

    #[test]
    fn a_pivot_of_the_wrong_sign_is_an_error_without_effect_on_later_factors() {
        let (graph, entries) = banded(6);
        let values = vec![0.1; entries.len()];
        let symbolic = SymbolicLdl::new(&graph, (0..6).collect(), 6, &entries, &[]);
        let mut ldl = SparseLdl::new(&symbolic, true);
        let mut relative = vec![0.0; 6];
        let mut diagonal = [2.0, 2.0, 2.0, -2.0, 2.0, 2.0];
        let found = ldl.factor(&symbolic, &[], &values, &diagonal, &mut relative);
        assert_eq!(found, Err(3));
        diagonal[3] = f64::NAN;
        assert!(
            ldl.factor(&symbolic, &[], &values, &diagonal, &mut relative)
                .is_err()
        );
        diagonal[3] = 2.0;
        ldl.factor(&symbolic, &[], &values, &diagonal, &mut relative)
            .unwrap();
        let mut fresh = SparseLdl::new(&symbolic, true);
        fresh
            .factor(&symbolic, &[], &values, &diagonal, &mut relative)
            .unwrap();
        assert_eq!(ldl.l, fresh.l);
    }
}
