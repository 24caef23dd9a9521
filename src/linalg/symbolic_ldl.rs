//! Order and positions of the entries of a sparse LDLᵀ factor, found without its values: see [`sparse_ldl`](super::sparse_ldl).

use std::sync::Arc;

use super::ordering::AdjacencyGraph;

/// Entries of the factor made in advance for constraints that are active now and then. More are allocated when they are needed.
const RESERVED_FOR_SWITCHED: usize = 50_000;
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
pub(super) struct InputEntry {
    pub column: u32,
    pub first: u32,
    pub second: u32,
}

/// An entry L_ki in row k.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryLocation {
    pub column: u32,
    /// Index of L_ki; the entries of column i above row k end here.
    pub slot: u32,
}

/// Elimination order, and the entries of K in it.
#[derive(Clone, Debug)]
pub struct SymbolicLdl {
    pub(super) order: Vec<u32>,
    /// Position at which each unknown is eliminated.
    pub(super) position: Vec<u32>,
    /// Unknowns below this have positive pivots, the others negative ones.
    pub(super) positive: usize,
    /// Entries of K left of the diagonal, by rows.
    pub(super) input_start: Vec<u32>,
    pub(super) input: Vec<InputEntry>,
    /// Entries of L below the diagonal with all constraints active.
    fill: usize,
    /// Entries of L for which storage is made in advance.
    reserved: usize,
    /// Entries of L for all factors together, if there are no constraints that may be inactive.
    shared: Option<Arc<FactorPattern>>,
}

/// Entries of L for one set of active constraints.
#[derive(Clone, Debug, Default)]
pub(super) struct FactorPattern {
    /// The active constraints.
    pub active: Vec<bool>,
    /// By columns: start and rows.
    pub start: Vec<u32>,
    pub row: Vec<u32>,
    /// By rows, columns ascending.
    pub row_start: Vec<u32>,
    pub row_entry: Vec<EntryLocation>,
    /// Workspace: the elimination tree, the next free entry of each column, the last row that visited a column, one row.
    parent: Vec<u32>,
    next: Vec<u32>,
    visited: Vec<u32>,
    columns: Vec<u32>,
}

impl SymbolicLdl {
    /// Prepares the factorisation in this order, postordered. The first `positive` unknowns have positive pivots. Of the others those
    /// that are `switched` are active now and then; few of them at a time.
    pub fn new(
        graph: &AdjacencyGraph,
        order: Vec<u32>,
        positive: usize,
        entries: &[SymmetricEntry],
        switched: &[bool],
    ) -> Self {
        let (parent, count) = elimination_tree(graph, &order, &inverse(&order));
        let fill = count.iter().map(|&c| c as usize).sum();
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
            fill,
            reserved: fill,
            shared: None,
        };
        symbolic.sort_input(entries);
        if positive == symbolic.order.len() {
            let mut pattern = FactorPattern::new(&symbolic, &[]);
            pattern.free_workspace();
            symbolic.shared = Some(Arc::new(pattern));
        } else if switched.contains(&true) {
            let always: Vec<bool> = switched.iter().map(|s| !s).collect();
            let base = FactorPattern::new(&symbolic, &always).row.len();
            symbolic.reserved = fill.min(base + RESERVED_FOR_SWITCHED);
        }
        symbolic
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

    /// Number of entries of L below the diagonal if all constraints are active.
    pub fn fill(&self) -> usize {
        self.fill
    }

    /// Entries of L to begin with: shared by all factors, or a copy that a factor changes when other constraints are active.
    pub(super) fn pattern(&self) -> Arc<FactorPattern> {
        match &self.shared {
            Some(shared) => shared.clone(),
            None => {
                let none = vec![false; self.order.len() - self.positive];
                Arc::new(FactorPattern::new(self, &none))
            }
        }
    }

    /// Number of entries of L for which storage is made in advance.
    pub fn reserved(&self) -> usize {
        self.reserved
    }

    /// Positions of the unknowns coupled with the one at position k and eliminated before it.
    fn earlier(&self, k: usize) -> impl Iterator<Item = u32> + '_ {
        let range = self.input_start[k] as usize..self.input_start[k + 1] as usize;
        self.input[range].iter().map(|e| e.column)
    }

    /// Whether the unknown at position k is part of the factor.
    pub(super) fn is_present(&self, k: usize, active: &[bool]) -> bool {
        let unknown = self.order[k] as usize;
        unknown < self.positive || active[unknown - self.positive]
    }
}

impl FactorPattern {
    pub fn new(symbolic: &SymbolicLdl, active: &[bool]) -> Self {
        let n = symbolic.order.len();
        let mut pattern = Self {
            active: Vec::with_capacity(active.len()),
            start: vec![0; n + 1],
            row: Vec::with_capacity(symbolic.reserved),
            row_start: vec![0; n + 1],
            row_entry: Vec::with_capacity(symbolic.reserved),
            parent: Vec::with_capacity(n),
            next: Vec::with_capacity(n),
            visited: Vec::with_capacity(n),
            columns: Vec::with_capacity(n),
        };
        pattern.find(symbolic, active);
        pattern
    }

    /// Gives back the memory that only [`FactorPattern::find`] needs.
    fn free_workspace(&mut self) {
        for list in [
            &mut self.parent,
            &mut self.next,
            &mut self.visited,
            &mut self.columns,
        ] {
            *list = Vec::new();
        }
    }

    /// Finds the entries of L by columns and by rows.
    pub fn find(&mut self, symbolic: &SymbolicLdl, active: &[bool]) {
        let n = symbolic.order.len();
        self.active.clear();
        self.active.extend_from_slice(active);
        self.parent.clear();
        self.parent.resize(n, NONE);
        // The number of entries of each column, then its end.
        self.start.fill(0);
        self.visited.clear();
        self.visited.resize(n, NONE);
        for k in 0..n {
            self.visit_row(symbolic, k);
            for &column in &self.columns {
                self.start[column as usize + 1] += 1;
            }
        }
        for i in 0..n {
            self.start[i + 1] += self.start[i];
        }
        self.next.clear();
        self.next.extend_from_slice(&self.start[..n]);
        self.row.clear();
        self.row.resize(self.start[n] as usize, 0);
        self.row_entry.clear();
        self.visited.fill(NONE);
        for k in 0..n {
            self.visit_row(symbolic, k);
            self.columns.sort_unstable();
            for &column in &self.columns {
                let slot = self.next[column as usize];
                self.next[column as usize] += 1;
                self.row[slot as usize] = k as u32;
                self.row_entry.push(EntryLocation { column, slot });
            }
            self.row_start[k + 1] = self.row_entry.len() as u32;
        }
    }

    /// Collects the columns of row k of L: from its entries in K towards the root of the elimination tree.
    fn visit_row(&mut self, symbolic: &SymbolicLdl, k: usize) {
        self.columns.clear();
        if !symbolic.is_present(k, &self.active) {
            return;
        }
        self.visited[k] = k as u32;
        for i in symbolic.earlier(k) {
            let mut i = i as usize;
            if !symbolic.is_present(i, &self.active) {
                continue;
            }
            while self.visited[i] != k as u32 {
                if self.parent[i] == NONE {
                    self.parent[i] = k as u32;
                }
                self.visited[i] = k as u32;
                self.columns.push(i as u32);
                i = self.parent[i] as usize;
            }
        }
    }
}
