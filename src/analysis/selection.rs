//! Choice of minimal coordinates among those offered, the same in every formulation.
//!
//! ```text
//!   Y = L N,   N with Nᵀ M N = I:   the rows of Y are gradients in the mass metric, up to a rotation that no result depends on
//! ```
//!
//! Rows are accepted in their order while a sufficient part of them is independent of those accepted before.

use nalgebra::DMatrix;

/// Parts of a row that must be independent, one after the other: good coordinates first, poor ones only where nothing else is left.
/// Odd numbers, because symmetric mechanisms have simple ratios that rounding would decide.
const INDEPENDENT_PART: [f64; 4] = [0.2718, 0.0314, 0.00173, 1.3e-5];

/// Chooses as many rows of `y` as it has columns; fewer if there are not enough, with at most `passes` of the parts above. `y` is
/// overwritten.
pub(super) fn choose_rows(y: &mut DMatrix<f64>, passes: usize, chosen: &mut Vec<usize>) {
    let (rows, freedom) = y.shape();
    chosen.clear();
    for part in INDEPENDENT_PART.into_iter().take(passes) {
        for i in 0..rows {
            if chosen.len() == freedom {
                return;
            }
            let (total, left) = sizes(y, i, chosen.len());
            if total == 0.0 || chosen.contains(&i) || !(left > part * total) {
                continue;
            }
            reflect(y, i, chosen.len());
            chosen.push(i);
        }
    }
}

/// Length of row i, and of its part beyond the first `done` columns, which the chosen rows span.
fn sizes(y: &DMatrix<f64>, i: usize, done: usize) -> (f64, f64) {
    let square = |range: std::ops::Range<usize>| range.map(|j| y[(i, j)].powi(2)).sum::<f64>();
    let left = square(done..y.ncols());
    ((square(0..done) + left).sqrt(), left.sqrt())
}

/// Householder reflection of the columns from `done` on after which row `i` has only column `done` left there.
fn reflect(y: &mut DMatrix<f64>, i: usize, done: usize) {
    let (rows, columns) = y.shape();
    let norm = sizes(y, i, done).1;
    let head = y[(i, done)];
    let alpha = if head > 0.0 { -norm } else { norm };
    // h = row − α e;  H = I − h hᵀ / (hᵀh / 2),  hᵀh / 2 = norm² − α head
    let half = norm * norm - alpha * head;
    for k in 0..rows {
        if k == i {
            continue;
        }
        let mut dot = -alpha * y[(k, done)];
        for j in done..columns {
            dot += y[(k, j)] * y[(i, j)];
        }
        let factor = dot / half;
        for j in done..columns {
            let h = y[(i, j)] - if j == done { alpha } else { 0.0 };
            y[(k, j)] -= factor * h;
        }
    }
    for j in done..columns {
        y[(i, j)] = if j == done { alpha } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_independent_rows_are_chosen() {
        let mut y = DMatrix::from_row_slice(
            5,
            2,
            &[
                0.0, 0.0, //
                3.0, 4.0, //
                6.0, 8.0001, //
                1e-3, 0.0, //
                5.0, -7.0,
            ],
        );
        let mut chosen = Vec::new();
        choose_rows(&mut y, 4, &mut chosen);
        assert_eq!(chosen, [1, 3]);
    }

    #[test]
    fn a_poor_row_is_chosen_only_if_there_is_no_other() {
        let mut y = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 1.0, 1e-4]);
        let mut chosen = Vec::new();
        choose_rows(&mut y, 4, &mut chosen);
        assert_eq!(chosen, [0, 1]);
        let mut y = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 1.0, 1e-9]);
        choose_rows(&mut y, 4, &mut chosen);
        assert_eq!(chosen, [0]);
    }
}
