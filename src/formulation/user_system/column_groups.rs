//! Groups of columns that share no row (Curtis, Powell and Reid): one difference gives all columns of a group.

/// Columns of a sparse matrix in groups that share no row.
pub(super) struct ColumnGroups {
    /// Columns of each group, one group after the other.
    members: Vec<u32>,
    /// Start of each group in `members`; one more at the end.
    group_starts: Vec<usize>,
    /// (index in the values, row) of each column's entries, one column after the other.
    entries: Vec<(u32, u32)>,
    /// Start of each column in `entries`; one more at the end.
    column_starts: Vec<usize>,
}

impl ColumnGroups {
    /// Greedy: each column, in order, joins the first group that has none of its rows.
    pub fn new(rows: usize, columns: usize, sparsity: &[(u32, u32)]) -> Self {
        let (entries, column_starts) = by_column(columns, sparsity);
        let mut groups_of_row: Vec<Vec<u32>> = vec![Vec::new(); rows];
        let mut group_of_column = vec![u32::MAX; columns];
        // For each group, one more than the last column that shares a row with it.
        let mut conflict: Vec<usize> = Vec::new();
        for j in 0..columns {
            let column = &entries[column_starts[j]..column_starts[j + 1]];
            if column.is_empty() {
                continue;
            }
            for &(_, i) in column {
                for &group in &groups_of_row[i as usize] {
                    conflict[group as usize] = j + 1;
                }
            }
            let free = conflict.iter().position(|&last| last != j + 1);
            let group = free.unwrap_or_else(|| {
                conflict.push(0);
                conflict.len() - 1
            });
            group_of_column[j] = group as u32;
            for &(_, i) in column {
                groups_of_row[i as usize].push(group as u32);
            }
        }
        let mut members = Vec::with_capacity(columns);
        let mut group_starts = vec![0];
        for group in 0..conflict.len() as u32 {
            members.extend((0..columns as u32).filter(|&j| group_of_column[j as usize] == group));
            group_starts.push(members.len());
        }
        Self {
            members,
            group_starts,
            entries,
            column_starts,
        }
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.group_starts.len() - 1
    }

    /// Columns of a group.
    pub fn group(&self, g: usize) -> &[u32] {
        &self.members[self.group_starts[g]..self.group_starts[g + 1]]
    }

    /// (index in the values, row) of the entries of column `j`.
    pub fn column(&self, j: u32) -> &[(u32, u32)] {
        &self.entries[self.column_starts[j as usize]..self.column_starts[j as usize + 1]]
    }
}

/// (index in the values, row) of each entry, sorted by columns, and the start of each column.
fn by_column(columns: usize, sparsity: &[(u32, u32)]) -> (Vec<(u32, u32)>, Vec<usize>) {
    let mut starts = vec![0; columns + 1];
    for &(_, j) in sparsity {
        starts[j as usize + 1] += 1;
    }
    for j in 0..columns {
        starts[j + 1] += starts[j];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0, 0); sparsity.len()];
    for (k, &(i, j)) in sparsity.iter().enumerate() {
        entries[next[j as usize]] = (k as u32, i);
        next[j as usize] += 1;
    }
    (entries, starts)
}
