//! Rows of G that follow from the others.
//!
//! ```text
//!   W = D G diag(M)⁻¹ Gᵀ D,   D such that W_kk = 1
//! ```
//!
//! Row k depends on a set of rows if its pivot in a Cholesky factorisation of W, taken after that set, is zero: the
//! pivot is the squared sine of the angle between the row and their span. The rank of G does not depend on the
//! weights, so the diagonal of M is enough, and a coordinate without mass may be given the average one.

use super::factorization::{Backend, Factorization, SaddleMatrix, SaddleSparsity};
use crate::formulation::system::Sparsity;

/// Pivots below this count as zero. Mechanisms leave a gap of many decades here: the last good pivot is seldom below
/// 1e-3, the first bad one is rounding.
const THRESHOLD: f64 = 1e-9;
/// Rows up to which W is analysed as a whole.
const DENSE: usize = 300;
/// Above, rows with a pivot below this are looked at more closely ...
const SUSPECT: f64 = 1e-7;
/// ... among this many rows around them, first few, then more.
const AROUND: [usize; 2] = [60, DENSE];

/// One possible set of active rows that follow from the other active rows, rising. `m` holds M and G.
/// Up to 300 rows those named are the later ones of rows that imply each other. Allocates: for the start and for
/// changes of the joint set. Rows that are not made of numbers are not judged: factoring reports them.
pub fn redundant_constraints(st: &SaddleSparsity, m: &SaddleMatrix) -> Vec<usize> {
    let rows: Vec<usize> = (0..st.nc()).filter(|&k| m.active()[k]).collect();
    let finite = |k: &usize| m.values[st.g_row(*k)].iter().all(|g| g.is_finite());
    if !rows.iter().all(finite) {
        return Vec::new();
    }
    let mut gram = Gram::new(st, m);
    let mut dependent: Vec<usize> = if rows.len() <= DENSE {
        let mut w = gram.of(&rows);
        let left = reduce(&mut w, (0..rows.len()).collect());
        left.into_iter().map(|k| rows[k]).collect()
    } else {
        large(&mut gram, &rows)
    };
    dependent.sort_unstable();
    dependent
}

/// The same where only the rows of `among` may be named: the others are known to be independent of each other.
pub fn redundant_constraints_among(
    st: &SaddleSparsity,
    m: &SaddleMatrix,
    among: &[bool],
) -> Vec<usize> {
    let rows: Vec<usize> = (0..st.nc()).filter(|&k| m.active()[k]).collect();
    let finite = |k: &usize| m.values[st.g_row(*k)].iter().all(|g| g.is_finite());
    if !rows.iter().all(finite) {
        return Vec::new();
    }
    let mut gram = Gram::new(st, m);
    let mut gone = vec![false; st.nc()];
    let named = |gram: &mut Gram, rows: &[usize]| -> Vec<usize> {
        let mut w = gram.of(rows);
        let (may, sure): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&k| among[rows[k]]);
        reduce(&mut w, sure);
        let left = reduce(&mut w, may);
        left.into_iter().map(|k| rows[k]).collect()
    };
    if rows.len() <= DENSE {
        for row in named(&mut gram, &rows) {
            gone[row] = true;
        }
    } else if let Some(pivots) = sparse_pivots(&gram, &rows) {
        let neighbours = Neighbours::new(st, m);
        let mut suspects: Vec<usize> = rows.into_iter().filter(|&k| pivots[k] < SUSPECT).collect();
        suspects.sort_by(|&a, &b| pivots[a].total_cmp(&pivots[b]).then(b.cmp(&a)));
        for k in suspects {
            for count in AROUND {
                let ball = neighbours.around(st, k, count, &gone);
                let found = named(&mut gram, &ball);
                for &row in &found {
                    gone[row] = true;
                }
                if !found.is_empty() {
                    break;
                }
            }
        }
    }
    (0..st.nc()).filter(|&k| gone[k]).collect()
}

/// Makes W of chosen rows.
struct Gram<'a> {
    st: &'a SaddleSparsity,
    m: &'a SaddleMatrix,
    /// 1 / M_ii
    weight: Vec<f64>,
    spread: Vec<f64>,
}

impl<'a> Gram<'a> {
    fn new(st: &'a SaddleSparsity, m: &'a SaddleMatrix) -> Self {
        let mut mass = vec![0.0; st.nv()];
        m.tangent_diagonal(st, &mut mass);
        for (i, x) in mass.iter_mut().enumerate() {
            *x /= st.squared_length(i);
        }
        let heavy = mass.iter().filter(|x| **x > 0.0 && x.is_finite());
        let (sum, count) = heavy.fold((0.0, 0usize), |(sum, n), x| (sum + x, n + 1));
        let average = if count > 0 { sum / count as f64 } else { 1.0 };
        let usable = |x: f64| x > 1e-15 * average && x.is_finite();
        let counted = |(i, &x)| 1.0 / (st.squared_length(i) * if usable(x) { x } else { average });
        let weight = mass.iter().enumerate().map(counted).collect();
        Self {
            st,
            m,
            weight,
            spread: vec![0.0; st.nv()],
        }
    }

    /// W of these rows, unit diagonal (zero for a row without entries).
    fn of(&mut self, rows: &[usize]) -> Vec<Vec<f64>> {
        let (st, g) = (self.st, &self.m.values);
        let mut w = vec![vec![0.0; rows.len()]; rows.len()];
        for (a, &i) in rows.iter().enumerate() {
            for slot in st.g_row(i) {
                let j = st.column[slot] as usize;
                self.spread[j] = g[slot] * self.weight[j];
            }
            for (b, &k) in rows.iter().enumerate() {
                for slot in st.g_row(k) {
                    w[a][b] += g[slot] * self.spread[st.column[slot] as usize];
                }
            }
            for slot in st.g_row(i) {
                self.spread[st.column[slot] as usize] = 0.0;
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
}

/// Cholesky with diagonal pivoting over the rows of `left`; returns those that remain when the largest pivot counts as
/// zero. All other rows of `w` are reduced as well.
fn reduce(w: &mut [Vec<f64>], mut left: Vec<usize>) -> Vec<usize> {
    let n = w.len();
    let mut done = vec![false; n];
    while let Some(&first) = left.first() {
        // A later row has to be clearly better: of equal rows the first stays.
        let mut best = first;
        for &k in &left {
            if w[k][k] > w[best][best] * (1.0 + 1e-9) {
                best = k;
            }
        }
        let pivot = w[best][best];
        if pivot <= THRESHOLD {
            break;
        }
        left.retain(|&k| k != best);
        done[best] = true;
        let row = w[best].clone();
        for i in (0..n).filter(|&i| !done[i]) {
            let l = row[i] / pivot;
            if l != 0.0 {
                for (x, r) in w[i].iter_mut().zip(&row) {
                    *x -= l * r;
                }
            }
        }
    }
    left
}

/// Many rows: suspects from the small pivots of a sparse factorisation, confirmed among the rows around them.
fn large(gram: &mut Gram, rows: &[usize]) -> Vec<usize> {
    let (st, m) = (gram.st, gram.m);
    let (empty, full): (Vec<usize>, Vec<usize>) = rows
        .iter()
        .partition(|&&k| m.values[st.g_row(k)].iter().all(|&g| g == 0.0));
    let Some(pivots) = sparse_pivots(gram, &full) else {
        return empty; // cannot happen with positive weights and finite rows
    };
    let mut suspects: Vec<usize> = full.into_iter().filter(|&k| pivots[k] < SUSPECT).collect();
    // The smallest pivots are the surest; the others are then judged without them.
    suspects.sort_by(|&a, &b| pivots[a].total_cmp(&pivots[b]).then(b.cmp(&a)));

    let neighbours = Neighbours::new(st, m);
    let mut gone = vec![false; st.nc()];
    let mut dependent = empty;
    for k in suspects {
        let confirmed = AROUND.iter().any(|&count| {
            let ball = neighbours.around(st, k, count, &gone);
            let mut w = gram.of(&ball);
            reduce(&mut w, (1..ball.len()).collect());
            w[0][0] <= THRESHOLD
        });
        // A loop may be longer than what was looked at: then the pivot over all rows decides.
        if confirmed || pivots[k] < THRESHOLD {
            gone[k] = true;
            dependent.push(k);
        }
    }
    dependent
}

/// Relative pivots of all rows in `diag(M), G`. A closed loop of N rows raises its zero pivot to N ε, so ε has to be
/// far below the threshold.
fn sparse_pivots(gram: &Gram, rows: &[usize]) -> Option<Vec<f64>> {
    let (st, m) = (gram.st, gram.m);
    let mut pattern = Sparsity::default();
    let mut g = Vec::new();
    for &k in rows {
        for slot in st.g_row(k) {
            pattern.jacobian.push((k as u32, st.column[slot]));
            g.push(m.values[slot]);
        }
    }
    pattern.tangent = (0..st.nv() as u32).map(|i| (i, i)).collect();
    let mass: Vec<f64> = gram.weight.iter().map(|w| 1.0 / w).collect();
    let diagonal = SaddleSparsity::new(st.nv(), st.nc(), &pattern, Backend::Sparse);
    let mut matrix = SaddleMatrix::new(&diagonal);
    let mut active = vec![false; st.nc()];
    for &k in rows {
        active[k] = true;
    }
    matrix.set_active(&active);
    matrix.load_tangent(&diagonal, &mass);
    matrix.load_jacobian(&diagonal, &g);
    matrix.regularise(&diagonal, &mass, 1e-15);
    let mut factor = Factorization::new(&diagonal);
    factor.factor(&diagonal, &matrix).ok()?;
    Some(factor.constraint_pivots().to_vec())
}

/// Which rows act on a coordinate.
struct Neighbours {
    rows: Vec<Vec<u32>>,
}

impl Neighbours {
    fn new(st: &SaddleSparsity, m: &SaddleMatrix) -> Self {
        let mut rows = vec![Vec::new(); st.nv()];
        for k in (0..st.nc()).filter(|&k| m.active()[k]) {
            for slot in st.g_row(k) {
                rows[st.column[slot] as usize].push(k as u32);
            }
        }
        Self { rows }
    }

    /// `count` rows nearest to `k`, itself first, those already gone left out.
    fn around(&self, st: &SaddleSparsity, k: usize, count: usize, gone: &[bool]) -> Vec<usize> {
        let mut ball = vec![k];
        let mut known = std::collections::HashSet::from([k]);
        let mut at = 0;
        while at < ball.len() {
            for slot in st.g_row(ball[at]) {
                for &other in &self.rows[st.column[slot] as usize] {
                    let other = other as usize;
                    if ball.len() == count {
                        return ball;
                    }
                    if !gone[other] && known.insert(other) {
                        ball.push(other);
                    }
                }
            }
            at += 1;
        }
        ball
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, Sample};
    use super::*;

    fn found(sample: &Sample, active: Option<&[bool]>) -> Vec<usize> {
        let pattern = Sparsity {
            tangent: sample.tangent.clone(),
            jacobian: sample.jacobian.clone(),
        };
        let st = SaddleSparsity::new(sample.nv, sample.nc, &pattern, Backend::Auto);
        let mut m = SaddleMatrix::new(&st);
        if let Some(rows) = active {
            m.set_active(rows);
        }
        m.load_tangent(&st, &sample.s);
        m.load_jacobian(&st, &sample.g);
        redundant_constraints(&st, &m)
    }

    /// Adds the row a · row i + b · row k.
    fn combine(sample: &mut Sample, (a, i): (f64, u32), (b, k): (f64, u32)) {
        let row = sample.nc as u32;
        for at in 0..sample.jacobian.len() {
            let (r, j) = sample.jacobian[at];
            let factor = if r == i { a } else { 0.0 } + if r == k { b } else { 0.0 };
            if factor != 0.0 {
                sample.jacobian.push((row, j));
                sample.g.push(factor * sample.g[at]);
            }
        }
        sample.nc += 1;
    }

    #[test]
    fn independent_rows_are_not_named() {
        for bodies in [1, 5, 60, 400] {
            assert!(found(&samples::planar_chain(bodies), None).is_empty());
            assert!(found(&samples::four_bars(bodies), None).is_empty());
            assert!(found(&samples::spatial_chain(bodies), None).is_empty());
            assert!(found(&samples::star(bodies), None).is_empty());
        }
    }

    #[test]
    fn a_repeated_and_a_combined_row_are_named() {
        let mut sample = samples::planar_chain(20);
        combine(&mut sample, (1.0, 7), (0.0, 8));
        combine(&mut sample, (2.0, 20), (-3.0, 23));
        assert_eq!(found(&sample, None), [40, 41]);
    }

    #[test]
    fn in_a_large_mechanism_one_of_the_rows_involved_is_named() {
        let mut sample = samples::planar_chain(300);
        combine(&mut sample, (1.0, 7), (0.0, 8));
        combine(&mut sample, (2.0, 200), (-3.0, 203));
        combine(&mut sample, (1.0, 7), (0.0, 8)); // a third copy
        let named = found(&sample, None);
        let of = |group: &[usize]| named.iter().filter(|k| group.contains(k)).count();
        assert_eq!(named.len(), 3, "{named:?}");
        assert_eq!(of(&[7, 600, 602]), 2, "{named:?}");
        assert_eq!(of(&[200, 203, 601]), 1, "{named:?}");
    }

    #[test]
    fn a_loop_longer_than_any_neighbourhood_is_found() {
        // x_i = x_{i+1} all the way round: the last follows from the others.
        let n = 1000;
        let mut ring = Sample {
            nv: n,
            nc: n,
            ..Sample::default()
        };
        for i in 0..n as u32 {
            ring.tangent.push((i, i));
            ring.s.push(1.0 + 0.5 * (i as f64).sin());
            ring.jacobian.extend([(i, i), (i, (i + 1) % n as u32)]);
            ring.g.extend([1.0, -1.0]);
        }
        assert_eq!(found(&ring, None).len(), 1);
    }

    #[test]
    fn rows_that_do_not_hold_do_not_count() {
        let mut sample = samples::planar_chain(6);
        combine(&mut sample, (1.0, 3), (0.0, 4));
        let mut active = vec![true; sample.nc];
        active[3] = false;
        assert!(found(&sample, Some(&active)).is_empty());
        active[3] = true;
        assert_eq!(found(&sample, Some(&active)), [12]);
    }

    #[test]
    fn a_massless_body_held_twice_is_named_once() {
        // One coordinate without mass, held by two rows; another without mass held by one.
        let sample = Sample {
            nv: 3,
            nc: 3,
            tangent: vec![(0, 0), (1, 1), (2, 2)],
            s: vec![0.0, 0.0, 2.0],
            jacobian: vec![(0, 0), (1, 0), (2, 1), (2, 2)],
            g: vec![1.0, -4.0, 1.0, 1.0],
        };
        assert_eq!(found(&sample, None), [1]);
    }

    #[test]
    fn units_do_not_change_the_verdict() {
        // Millimetres and tonnes: rows and masses scaled by powers of ten.
        let mut sample = samples::four_bars(4);
        for (at, g) in sample.jacobian.iter().zip(&mut sample.g) {
            *g *= [1e-6, 1.0, 1e5][at.0 as usize % 3];
        }
        assert!(found(&sample, None).is_empty());
        combine(&mut sample, (1e3, 4), (1e-3, 9));
        assert_eq!(found(&sample, None).len(), 1);
    }

    #[test]
    fn a_row_without_entries_is_named() {
        for bodies in [5, 200] {
            let mut sample = samples::planar_chain(bodies);
            sample.nc += 1;
            assert_eq!(found(&sample, None), [2 * bodies]);
        }
    }
}
