//! Constant sparse matrix in compressed rows:
//!
//! ```text
//!   (A x)_i = Σ_k value[k] x[column[k]],    start[i] <= k < start[i + 1],    columns ascending in each row
//! ```

use std::fmt;

/// An entry (row, column, value).
pub type Triplet = (u32, u32, f64);

/// Largest number of entries of a matrix: a sum of a few such numbers still fits 32 bits.
pub const MAX_ENTRIES: usize = 1 << 29;

/// A sparse matrix without zero entries, so that equal matrices compare equal.
#[derive(Clone, Default, PartialEq)]
pub struct Csr {
    columns: usize,
    start: Vec<u32>,
    column: Vec<u32>,
    value: Vec<f64>,
}

impl Csr {
    /// The zero matrix.
    pub fn zero(rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, Vec::new())
    }

    /// From entries in any order; repeated entries are added in the order given.
    ///
    /// # Panics
    /// If an entry lies outside, or there are more than [`MOST_ENTRIES`].
    pub fn new(rows: usize, columns: usize, entries: Vec<Triplet>) -> Self {
        assert!(entries.len() <= MAX_ENTRIES, "{} entries", entries.len());
        let mut next = vec![0u32; rows + 1];
        for &(i, j, _) in &entries {
            assert!(
                (i as usize) < rows && (j as usize) < columns,
                "entry ({i}, {j}) outside {rows} x {columns}"
            );
            next[i as usize + 1] += 1;
        }
        for i in 0..rows {
            next[i + 1] += next[i];
        }
        // Counting sort by rows, which keeps the order given, then each row by columns.
        let mut sorted = vec![(0u32, 0.0f64); entries.len()];
        for (i, j, x) in entries {
            let at = &mut next[i as usize];
            sorted[*at as usize] = (j, x);
            *at += 1;
        }
        let mut matrix = Self {
            columns,
            start: Vec::with_capacity(rows + 1),
            column: Vec::with_capacity(sorted.len()),
            value: Vec::with_capacity(sorted.len()),
        };
        matrix.start.push(0);
        // `next[i]` is now the end of row i.
        let mut begin = 0;
        for &end in &next[..rows] {
            let row = &mut sorted[begin..end as usize];
            row.sort_by_key(|(j, _)| *j);
            let mut k = 0;
            while k < row.len() {
                let (j, mut x) = row[k];
                k += 1;
                while k < row.len() && row[k].0 == j {
                    x += row[k].1;
                    k += 1;
                }
                if x != 0.0 {
                    matrix.column.push(j);
                    matrix.value.push(x);
                }
            }
            matrix.start.push(matrix.column.len() as u32);
            begin = end as usize;
        }
        matrix.column.shrink_to_fit();
        matrix.value.shrink_to_fit();
        matrix
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.column.len()
    }

    /// Columns and values of a row.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.start[i] as usize..self.start[i + 1] as usize;
        (&self.column[range.clone()], &self.value[range])
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.value
    }

    /// The entry A_ij, zero if it is not stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        (columns.binary_search(&(j as u32))).map_or(0.0, |at| values[at])
    }

    /// (A x)_i
    pub fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        let (columns, values) = self.row(i);
        columns
            .iter()
            .zip(values)
            .map(|(&j, a)| a * x[j as usize])
            .sum()
    }

    /// out = A x
    pub fn times(&self, x: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.row_times(i, x);
        }
    }

    /// Bilinear form yᵀ A x.
    pub fn bilinear_form(&self, y: &[f64], x: &[f64]) -> f64 {
        (0..self.rows()).map(|i| y[i] * self.row_times(i, x)).sum()
    }

    /// The first (i, j) for which A_ij and A_ji differ by more than `tolerance` times the larger one.
    pub fn first_asymmetry(&self, tolerance: f64) -> Option<(usize, usize)> {
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            for (&j, &a) in columns.iter().zip(values) {
                let b = self.get(j as usize, i);
                if (a - b).abs() > tolerance * a.abs().max(b.abs()) {
                    return Some((i, j as usize));
                }
            }
        }
        None
    }

    /// FNV-1a hash of all bits, which differs between different matrices with probability 1 − 2⁻⁶⁴.
    fn digest(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut hash_word = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        self.start.iter().for_each(|&s| hash_word(u64::from(s)));
        self.column.iter().for_each(|&j| hash_word(u64::from(j)));
        for x in &self.value {
            let bits = x.to_bits();
            // Multiplication carries upwards only: each half enters in the low bits.
            hash_word(bits & 0xffff_ffff);
            hash_word(bits >> 32);
        }
        hash
    }
}

/// Dimensions and a digest of the entries: short for any matrix.
impl fmt::Debug for Csr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Csr")
            .field("rows", &self.rows())
            .field("columns", &self.columns)
            .field("entries", &self.entries())
            .field("digest", &format_args!("{:016x}", self.digest()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Csr {
        Csr::new(
            3,
            4,
            vec![
                (2, 3, 1.0),
                (0, 1, 2.0),
                (2, 0, -1.0),
                (0, 1, 0.5),
                (1, 2, 7.0),
                (1, 2, -7.0),
            ],
        )
    }

    #[test]
    fn entries_are_sorted_and_added_and_zeros_are_dropped() {
        let a = sample();
        assert_eq!((a.rows(), a.columns(), a.entries()), (3, 4, 3));
        assert_eq!(a.row(0), (&[1u32][..], &[2.5][..]));
        assert_eq!(a.row(1), (&[][..], &[][..]));
        assert_eq!(a.row(2), (&[0u32, 3][..], &[-1.0, 1.0][..]));
        assert_eq!(a.get(2, 3), 1.0);
        assert_eq!(a.get(2, 2), 0.0);
    }

    #[test]
    fn products_are_those_of_the_full_matrix() {
        let a = sample();
        let x = [1.0, 2.0, 3.0, 4.0];
        let mut y = [f64::NAN; 3];
        a.times(&x, &mut y);
        assert_eq!(y, [5.0, 0.0, 3.0]);
        assert_eq!(a.bilinear_form(&[1.0, 1.0, 2.0], &x), 11.0);
    }

    #[test]
    fn repeated_entries_are_added_in_the_order_given() {
        // 1e16 + 1 − 1e16 is 0 in this order, 1 in another.
        let a = Csr::new(1, 1, vec![(0, 0, 1e16), (0, 0, 1.0), (0, 0, -1e16)]);
        assert_eq!(a.entries(), 0);
        let b = Csr::new(1, 1, vec![(0, 0, 1e16), (0, 0, -1e16), (0, 0, 1.0)]);
        assert_eq!(b.get(0, 0), 1.0);
    }

    #[test]
    fn an_asymmetry_is_found() {
        let close = 1.0 + f64::EPSILON;
        let a = Csr::new(2, 2, vec![(0, 1, 1.0), (1, 0, close), (0, 0, 3.0)]);
        assert_eq!(a.first_asymmetry(1e-12), None);
        assert_eq!(a.first_asymmetry(0.0), Some((0, 1)));
        let b = Csr::new(2, 2, vec![(1, 0, 1.0)]);
        assert_eq!(b.first_asymmetry(0.5), Some((1, 0)));
    }

    #[test]
    fn the_debug_text_differs_if_any_bit_differs() {
        let base = format!("{:?}", sample());
        assert!(base.len() < 120, "{base}");
        for changed in [
            Csr::new(
                3,
                4,
                vec![(0, 1, 2.5), (2, 0, -1.0), (2, 3, 1.0 + f64::EPSILON)],
            ),
            Csr::new(3, 4, vec![(0, 1, 2.5), (2, 0, 1.0), (2, 3, 1.0)]),
            Csr::new(3, 4, vec![(0, 2, 2.5), (2, 0, -1.0), (2, 3, 1.0)]),
            Csr::new(3, 4, vec![(1, 1, 2.5), (2, 0, -1.0), (2, 3, 1.0)]),
        ] {
            assert_ne!(format!("{changed:?}"), base);
        }
    }
}
