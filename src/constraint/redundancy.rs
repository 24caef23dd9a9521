//! Rows of G that follow from the others.
//!
//! ```text
//!   W = D G diag(M)⁻¹ Gᵀ D,   D such that W_kk = 1
//! ```
//!
//! Row k depends on a set of rows if its pivot in a Cholesky factorisation of W, taken after that set, is zero: the
//! pivot is the squared sine of the angle between the row and their span. The rank of G does not depend on the
//! weights, so the diagonal of M is enough, and a coordinate without mass may be given the average one.

use super::multipliers::{Matrix, Structure};

/// Pivots below this count as zero. Mechanisms leave a gap of many decades here: the last good pivot is seldom below
/// 1e-3, the first bad one is rounding.
const THRESHOLD: f64 = 1e-9;

/// One possible set of active rows that follow from the other active rows, rising. `m` holds M and G.
/// Of rows that imply each other the later ones are named. Allocates: for the start and for changes of the joint set.
pub fn dependent_rows(st: &Structure, m: &Matrix) -> Vec<usize> {
    let rows: Vec<usize> = (0..st.nc()).filter(|&k| m.active()[k]).collect();
    pivoted(&gram(st, m, &rows), THRESHOLD)
        .into_iter()
        .map(|k| rows[k])
        .collect()
}

/// W of some rows, dense, unit diagonal (zero for a row without entries).
fn gram(st: &Structure, m: &Matrix, rows: &[usize]) -> Vec<Vec<f64>> {
    let weight = weights(st, m);
    let mut spread = vec![0.0; st.nv()];
    let mut w = vec![vec![0.0; rows.len()]; rows.len()];
    for (a, &i) in rows.iter().enumerate() {
        for slot in st.g_row(i) {
            let j = st.column[slot] as usize;
            spread[j] = m.values[slot] * weight[j];
        }
        for (b, &k) in rows.iter().enumerate() {
            for slot in st.g_row(k) {
                w[a][b] += m.values[slot] * spread[st.column[slot] as usize];
            }
        }
        for slot in st.g_row(i) {
            spread[st.column[slot] as usize] = 0.0;
        }
    }
    let scale: Vec<f64> = (0..rows.len())
        .map(|a| {
            if w[a][a] > 0.0 {
                1.0 / w[a][a].sqrt()
            } else {
                0.0
            }
        })
        .collect();
    for (a, row) in w.iter_mut().enumerate() {
        for (b, x) in row.iter_mut().enumerate() {
            *x *= scale[a] * scale[b];
        }
    }
    w
}

/// 1 / M_ii, the average for coordinates without mass.
fn weights(st: &Structure, m: &Matrix) -> Vec<f64> {
    let mut mass = vec![0.0; st.nv()];
    m.tangent_diagonal(st, &mut mass);
    let (sum, count) = mass
        .iter()
        .filter(|&&x| x > 0.0)
        .fold((0.0, 0usize), |(s, n), x| (s + x, n + 1));
    let average = if count > 0 { sum / count as f64 } else { 1.0 };
    let smallest = 1e-15 * average;
    mass.iter()
        .map(|&x| 1.0 / if x > smallest { x } else { average })
        .collect()
}

/// Cholesky with diagonal pivoting; returns what is left when the largest pivot falls below `threshold`.
fn pivoted(w: &[Vec<f64>], threshold: f64) -> Vec<usize> {
    let n = w.len();
    let mut w = w.to_vec();
    let mut left: Vec<usize> = (0..n).collect();
    while let Some(&first) = left.first() {
        // A later row has to be clearly better: of equal rows the first stays.
        let mut best = first;
        for &k in &left {
            if w[k][k] > w[best][best] * (1.0 + 1e-9) {
                best = k;
            }
        }
        let pivot = w[best][best];
        if !(pivot > threshold) {
            break;
        }
        left.retain(|&k| k != best);
        let row = w[best].clone();
        for &i in &left {
            let l = row[i] / pivot;
            if l != 0.0 {
                for &j in &left {
                    w[i][j] -= l * row[j];
                }
            }
        }
    }
    left
}
