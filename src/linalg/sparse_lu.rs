//! Sparse LU with partial pivoting, for matrices that [`sparse_ldl`](super::sparse_ldl) cannot factor: column by column,
//!
//! ```text
//!   L x = a_k  (nonzeros of x only),   U_k = x above,   L_k = x below / pivot
//! ```
//!
//! The nonzero rows of x are found by a depth-first search in the graph of L (Gilbert and Peierls). The diagonal is preferred as
//! pivot, since the column order was made for it, unless it is much smaller than the largest candidate. Storage grows to the
//! size of the largest factor and is not released.

use super::dense_lu::ZERO_PIVOT;

/// The diagonal is the pivot if it is at least this part of the largest candidate.
const PREFER_DIAGONAL: f64 = 0.1;
const NONE: u32 = u32::MAX;

/// Sparsity of a square matrix by columns: rows of column j are `row[start[j]..start[j + 1]]`.
#[derive(Clone, Debug, Default)]
pub struct CompressedColumns {
    /// First entry of each column, and their end.
    pub start: Vec<u32>,
    /// Row of each entry.
    pub row: Vec<u32>,
}

/// A triangular factor by columns, built one column at a time.
#[derive(Clone, Debug, Default)]
struct TriangularFactor {
    start: Vec<u32>,
    row: Vec<u32>,
    value: Vec<f64>,
}

impl TriangularFactor {
    fn with_capacity(n: usize, entries: usize) -> Self {
        Self {
            start: Vec::with_capacity(n + 1),
            row: Vec::with_capacity(entries),
            value: Vec::with_capacity(entries),
        }
    }

    fn clear(&mut self) {
        self.start.clear();
        self.start.push(0);
        self.row.clear();
        self.value.clear();
    }

    fn push(&mut self, row: u32, value: f64) {
        self.row.push(row);
        self.value.push(value);
    }

    fn close(&mut self) {
        self.start.push(self.row.len() as u32);
    }

    fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.start[k] as usize..self.start[k + 1] as usize
    }

    fn column(&self, k: usize) -> impl DoubleEndedIterator<Item = (u32, f64)> + '_ {
        let range = self.range(k);
        self.row[range.clone()]
            .iter()
            .copied()
            .zip(self.value[range].iter().copied())
    }
}

/// Factors L and U with their workspace.
#[derive(Clone, Debug)]
pub struct SparseLu {
    l: TriangularFactor,
    u: TriangularFactor,
    pivot: Vec<f64>,
    /// Position at which each row is the pivot row, or [`NONE`].
    position: Vec<u32>,
    /// Pivot row at each position.
    pivot_row: Vec<u32>,
    x: Vec<f64>,
    /// Last column whose search visited each row.
    visited: Vec<u32>,
    /// Nonzero rows of x in reverse topological order.
    nonzero_rows: Vec<u32>,
    /// Stack of the search: a row and the next entry of its column of L.
    stack: Vec<(u32, u32)>,
}

impl SparseLu {
    /// Storage for `n` unknowns, with capacity for `entries` in each factor.
    pub fn new(n: usize, entries: usize) -> Self {
        Self {
            l: TriangularFactor::with_capacity(n, entries),
            u: TriangularFactor::with_capacity(n, entries),
            pivot: vec![0.0; n],
            position: vec![NONE; n],
            pivot_row: vec![0; n],
            x: vec![0.0; n],
            visited: vec![NONE; n],
            nonzero_rows: Vec::with_capacity(n),
            stack: Vec::with_capacity(n),
        }
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.pivot.len()
    }

    /// Factors a matrix with entries of about one, eliminating columns in this order. The error is the column without a usable
    /// pivot.
    pub fn factor(
        &mut self,
        columns: &CompressedColumns,
        values: &[f64],
        order: &[u32],
    ) -> Result<(), usize> {
        self.l.clear();
        self.u.clear();
        self.position.fill(NONE);
        self.visited.fill(NONE);
        self.x.fill(0.0);
        for (k, &column) in order.iter().enumerate() {
            self.factor_column(columns, values, k, column)?;
        }
        Ok(())
    }

    /// Factors one column.
    fn factor_column(
        &mut self,
        columns: &CompressedColumns,
        values: &[f64],
        k: usize,
        column: u32,
    ) -> Result<(), usize> {
        let range =
            columns.start[column as usize] as usize..columns.start[column as usize + 1] as usize;
        self.nonzero_rows.clear();
        // Entries that are zero, as all of inactive constraints, couple nothing.
        for at in range.clone().filter(|&at| values[at] != 0.0) {
            self.search(columns.row[at], k as u32);
        }
        for at in range {
            self.x[columns.row[at] as usize] += values[at];
        }
        let (mut largest, mut best) = (0.0, NONE);
        for at in (0..self.nonzero_rows.len()).rev() {
            let row = self.nonzero_rows[at];
            let position = self.position[row as usize];
            if position == NONE {
                let size = self.x[row as usize].abs();
                if size > largest || !size.is_finite() {
                    (largest, best) = (size, row);
                }
                if !size.is_finite() {
                    break;
                }
                continue;
            }
            let z = std::mem::take(&mut self.x[row as usize]);
            self.u.push(position, z);
            let below = self.l.range(position as usize);
            for (&r, l) in self.l.row[below.clone()].iter().zip(&self.l.value[below]) {
                self.x[r as usize] -= l * z;
            }
        }
        if !(largest > ZERO_PIVOT && largest.is_finite()) {
            return Err(column as usize);
        }
        if self.position[column as usize] == NONE
            && self.visited[column as usize] == k as u32
            && self.x[column as usize].abs() >= PREFER_DIAGONAL * largest
        {
            best = column;
        }
        let pivot = self.x[best as usize];
        for &row in self.nonzero_rows.iter().rev() {
            if self.position[row as usize] == NONE {
                let z = std::mem::take(&mut self.x[row as usize]);
                if row != best {
                    self.l.push(row, z / pivot);
                }
            }
        }
        self.pivot[k] = pivot;
        self.position[best as usize] = k as u32;
        self.pivot_row[k] = best;
        self.l.close();
        self.u.close();
        Ok(())
    }

    /// Adds the rows reachable from `row` in the graph of L to `nonzero_rows`, each after all rows it updates.
    fn search(&mut self, row: u32, k: u32) {
        if self.visited[row as usize] == k {
            return;
        }
        self.visited[row as usize] = k;
        self.stack.push((row, 0));
        while let Some((row, next)) = self.stack.last_mut() {
            let position = self.position[*row as usize];
            let mut unvisited = None;
            if position != NONE {
                let range = self.l.range(position as usize);
                for &r in &self.l.row[range.start + *next as usize..range.end] {
                    *next += 1;
                    if self.visited[r as usize] != k {
                        unvisited = Some(r);
                        break;
                    }
                }
            }
            match unvisited {
                Some(r) => {
                    self.visited[r as usize] = k;
                    self.stack.push((r, 0));
                }
                None => {
                    self.nonzero_rows.push(*row);
                    self.stack.pop();
                }
            }
        }
    }

    /// Diagonal of U at position k.
    pub fn pivot(&self, k: usize) -> f64 {
        self.pivot[k]
    }

    /// b := A⁻¹ b
    pub fn solve(&mut self, order: &[u32], b: &mut [f64]) {
        let n = order.len();
        for k in 0..n {
            let z = b[self.pivot_row[k] as usize];
            self.x[k] = z;
            for (row, l) in self.l.column(k) {
                b[row as usize] -= l * z;
            }
        }
        for k in (0..n).rev() {
            let z = self.x[k] / self.pivot[k];
            self.x[k] = z;
            for (position, u) in self.u.column(k) {
                self.x[position as usize] -= u * z;
            }
        }
        for (k, &i) in order.iter().enumerate() {
            b[i as usize] = std::mem::take(&mut self.x[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nonzero entries by columns of a dense matrix given by rows.
    fn columns(n: usize, a: &[f64]) -> (CompressedColumns, Vec<f64>) {
        let mut columns = CompressedColumns {
            start: vec![0],
            row: Vec::new(),
        };
        let mut values = Vec::new();
        for j in 0..n {
            for i in 0..n {
                if a[i * n + j] != 0.0 {
                    columns.row.push(i as u32);
                    values.push(a[i * n + j]);
                }
            }
            columns.start.push(values.len() as u32);
        }
        (columns, values)
    }

    fn assert_solves(n: usize, a: &[f64], order: &[u32], lu: &mut SparseLu) {
        let (columns, values) = columns(n, a);
        lu.factor(&columns, &values, order).unwrap();
        let exact: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
        let mut b: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|j| a[i * n + j] * exact[j]).sum())
            .collect();
        lu.solve(order, &mut b);
        for i in 0..n {
            let error = (b[i] - exact[i]).abs();
            assert!(error < 1e-11 * n as f64, "unknown {i} of {n}: {error:e}");
        }
    }

    #[test]
    fn a_zero_diagonal_is_solved_by_pivoting() {
        let a = [
            0.0, 0.0, 1.0, 0.0, //
            0.0, 0.0, 0.0, 2.0, //
            1.0, 0.0, 0.0, 1.0, //
            0.0, 2.0, 1.0, 0.0,
        ];
        let mut lu = SparseLu::new(4, 0);
        assert_solves(4, &a, &[0, 1, 2, 3], &mut lu);
        assert_solves(4, &a, &[3, 1, 0, 2], &mut lu);
    }

    #[test]
    fn scattered_matrices_are_solved_in_any_column_order() {
        let n = 40;
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for (step, value) in [(1, 1.0), (7, -0.8), (12, 0.6), (25, 0.3)] {
                a[i * n + (i * 3 + step) % n] += value * (1.0 + 0.1 * (i as f64).cos());
            }
        }
        let mut lu = SparseLu::new(n, 10);
        let forward: Vec<u32> = (0..n as u32).collect();
        let mixed: Vec<u32> = (0..n as u32).map(|k| (k * 11 + 3) % n as u32).collect();
        assert_solves(n, &a, &forward, &mut lu);
        assert_solves(n, &a, &mixed, &mut lu);
        assert_solves(n, &a, &forward, &mut lu);
    }

    #[test]
    fn a_dependent_column_and_a_nan_are_reported() {
        let mut a = [1.0, 2.0, 1.0, 2.0, 4.0, 3.0, 1.0, 2.0, 7.0];
        let mut lu = SparseLu::new(3, 9);
        let (pattern, values) = columns(3, &a);
        assert_eq!(lu.factor(&pattern, &values, &[0, 1, 2]), Err(1));
        assert_eq!(lu.factor(&pattern, &values, &[1, 2, 0]), Err(0));
        a[4] = f64::NAN;
        let (pattern, values) = columns(3, &a);
        assert_eq!(lu.factor(&pattern, &values, &[0, 1, 2]), Err(1));
        a[4] = 5.0;
        assert_solves(3, &a, &[0, 1, 2], &mut lu);
    }

    #[test]
    fn an_empty_column_is_reported() {
        let mut lu = SparseLu::new(2, 2);
        let (pattern, values) = columns(2, &[1.0, 0.0, 1.0, 0.0]);
        assert_eq!(lu.factor(&pattern, &values, &[0, 1]), Err(1));
    }
}
