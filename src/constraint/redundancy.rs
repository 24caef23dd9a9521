//! Redundant constraints: those whose gradients depend linearly on the others.
//!
//! ```text
//!   W = D G diag(M)⁻¹ Gᵀ D,   D such that W_kk = 1
//! ```
//!
//! Constraint k depends on a set of constraints if its pivot in a Cholesky factorisation of W, taken after that set, is zero: the
//! pivot is the squared sine of the angle between its gradient and their span. The rank of G does not depend on the weights, so
//! the diagonal of M is enough, and a massless coordinate is given the mean mass.

use super::factorization::Factorization;
use super::matrix::SaddleMatrix;
use super::sparsity::{Backend, SaddleSparsity};
use crate::formulation::system::Sparsity;
use crate::linalg::sorting::sort_by;

/// Pivots below this count as zero. A pivot is the squared sine of the angle between a constraint and the others: a mechanism that
/// starts a milliradian beside a singular position has 1e-6, dependent constraints have rounding.
const ZERO_PIVOT: f64 = 1e-12;
/// The same for a pivot of the complete large system, where the rounding of thousands of constraints adds up.
const ZERO_SPARSE_PIVOT: f64 = 1e-9;
/// A later constraint is eliminated first only if its pivot is larger by this factor: of equal constraints the first stays.
const CLEARLY_LARGER: f64 = 1.0 + 1e-9;
/// Constraints up to which the complete W is analysed.
const MAX_DENSE: usize = 300;
/// In larger systems, constraints with a sparse pivot below this are suspects ...
const SUSPECT_PIVOT: f64 = 1e-7;
/// ... and are analysed with this many constraints around them, first few, then more.
const NEIGHBOURHOODS: [usize; 2] = [60, MAX_DENSE];
/// ε of the sparse pivots. A closed loop of N constraints raises its zero pivot to N ε, so it is far below [`ZERO_PIVOT`].
const SPARSE_REGULARISATION: f64 = 1e-15;

/// One possible set of active constraints that depend on the other active ones, ascending. `m` holds M and G.
/// Up to 300 constraints the later ones of a dependent set are returned. Returns none if G is not finite: factorisation reports
/// that. Allocates: for the start and for changes of the active constraints.
pub fn redundant_constraints(sparsity: &SaddleSparsity, m: &SaddleMatrix) -> Vec<usize> {
    let Some(active) = finite_active(sparsity, m) else {
        return Vec::new();
    };
    let mut gram = GramMatrix::new(sparsity, m);
    let mut redundant: Vec<usize> = if active.len() <= MAX_DENSE {
        let mut w = gram.of(&active);
        let rest = eliminate(&mut w, (0..active.len()).collect());
        rest.into_iter().map(|k| active[k]).collect()
    } else {
        redundant_in_large_system(&mut gram, &active)
    };
    redundant.sort_unstable();
    redundant
}

/// [`redundant_constraints`] where only those of `candidates` may be returned: the others are known to be independent.
pub fn redundant_constraints_among(
    sparsity: &SaddleSparsity,
    m: &SaddleMatrix,
    candidates: &[bool],
) -> Vec<usize> {
    let Some(active) = finite_active(sparsity, m) else {
        return Vec::new();
    };
    let mut gram = GramMatrix::new(sparsity, m);
    let redundant_of = |gram: &mut GramMatrix, set: &[usize]| -> Vec<usize> {
        let mut w = gram.of(set);
        let (candidate, independent): (Vec<usize>, Vec<usize>) =
            (0..set.len()).partition(|&k| candidates[set[k]]);
        eliminate(&mut w, independent);
        let rest = eliminate(&mut w, candidate);
        rest.into_iter().map(|k| set[k]).collect()
    };
    let mut redundant = vec![false; sparsity.nc()];
    if active.len() <= MAX_DENSE {
        for k in redundant_of(&mut gram, &active) {
            redundant[k] = true;
        }
    } else if let Some(pivots) = sparse_pivots(&gram, &active) {
        let neighbours = ConstraintNeighbours::new(sparsity, m);
        for k in suspects(active, &pivots) {
            for count in NEIGHBOURHOODS {
                let set = neighbours.around(sparsity, k, count, &redundant);
                let found = redundant_of(&mut gram, &set);
                for &k in &found {
                    redundant[k] = true;
                }
                if !found.is_empty() {
                    break;
                }
            }
        }
    }
    (0..sparsity.nc()).filter(|&k| redundant[k]).collect()
}

/// The active constraints; `None` if one of their gradients is not finite.
fn finite_active(sparsity: &SaddleSparsity, m: &SaddleMatrix) -> Option<Vec<usize>> {
    let active: Vec<usize> = (0..sparsity.nc()).filter(|&k| m.active()[k]).collect();
    let finite = |k: &usize| m.values[sparsity.g_row(*k)].iter().all(|g| g.is_finite());
    active.iter().all(finite).then_some(active)
}

/// Constraints with a small sparse pivot, the smallest first: these are the surest, and the others are then judged without them.
fn suspects(constraints: Vec<usize>, pivots: &[f64]) -> Vec<usize> {
    let mut suspects = constraints;
    suspects.retain(|&k| pivots[k] < SUSPECT_PIVOT);
    sort_by(&mut suspects, |&a, &b| {
        pivots[a].total_cmp(&pivots[b]).then(b.cmp(&a))
    });
    suspects
}

/// Computes W of chosen constraints.
struct GramMatrix<'a> {
    sparsity: &'a SaddleSparsity,
    m: &'a SaddleMatrix,
    /// 1 / M_ii
    weight: Vec<f64>,
    /// One row of G diag(M)⁻¹, zero between uses.
    weighted_row: Vec<f64>,
}

impl<'a> GramMatrix<'a> {
    fn new(sparsity: &'a SaddleSparsity, m: &'a SaddleMatrix) -> Self {
        let mut mass = vec![0.0; sparsity.nv()];
        m.tangent_diagonal(sparsity, &mut mass);
        for (i, x) in mass.iter_mut().enumerate() {
            *x /= sparsity.squared_length(i);
        }
        let positive = mass.iter().filter(|x| **x > 0.0 && x.is_finite());
        let (sum, count) = positive.fold((0.0, 0usize), |(sum, n), x| (sum + x, n + 1));
        let average = if count > 0 { sum / count as f64 } else { 1.0 };
        let usable = |x: f64| x > 1e-15 * average && x.is_finite();
        let counted =
            |(i, &x)| 1.0 / (sparsity.squared_length(i) * if usable(x) { x } else { average });
        let weight = mass.iter().enumerate().map(counted).collect();
        Self {
            sparsity,
            m,
            weight,
            weighted_row: vec![0.0; sparsity.nv()],
        }
    }

    /// W of these constraints with unit diagonal (zero for an empty row of G).
    fn of(&mut self, constraints: &[usize]) -> Vec<Vec<f64>> {
        let (sparsity, g) = (self.sparsity, &self.m.values);
        let mut w = vec![vec![0.0; constraints.len()]; constraints.len()];
        for (a, &i) in constraints.iter().enumerate() {
            for slot in sparsity.g_row(i) {
                let j = sparsity.column[slot] as usize;
                self.weighted_row[j] = g[slot] * self.weight[j];
            }
            for (b, &k) in constraints.iter().enumerate() {
                for slot in sparsity.g_row(k) {
                    w[a][b] += g[slot] * self.weighted_row[sparsity.column[slot] as usize];
                }
            }
            for slot in sparsity.g_row(i) {
                self.weighted_row[sparsity.column[slot] as usize] = 0.0;
            }
        }
        let scale: Vec<f64> = (0..constraints.len())
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

/// Cholesky elimination with diagonal pivoting over the rows of `set`; returns those that remain when the largest pivot counts as
/// zero. All other rows of `w` are updated as well.
fn eliminate(w: &mut [Vec<f64>], mut set: Vec<usize>) -> Vec<usize> {
    let n = w.len();
    let mut done = vec![false; n];
    while let Some(&first) = set.first() {
        let mut best = first;
        for &k in &set {
            if w[k][k] > w[best][best] * CLEARLY_LARGER {
                best = k;
            }
        }
        let pivot = w[best][best];
        if pivot <= ZERO_PIVOT {
            break;
        }
        set.retain(|&k| k != best);
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
    set
}

/// Suspects from the sparse pivots, confirmed with the constraints around them.
fn redundant_in_large_system(gram: &mut GramMatrix, active: &[usize]) -> Vec<usize> {
    let (sparsity, m) = (gram.sparsity, gram.m);
    let (empty, nonempty): (Vec<usize>, Vec<usize>) = active
        .iter()
        .partition(|&&k| m.values[sparsity.g_row(k)].iter().all(|&g| g == 0.0));
    let Some(pivots) = sparse_pivots(gram, &nonempty) else {
        return empty; // not possible with positive weights and a finite G
    };
    let neighbours = ConstraintNeighbours::new(sparsity, m);
    let mut excluded = vec![false; sparsity.nc()];
    let mut redundant = empty;
    for k in suspects(nonempty, &pivots) {
        let confirmed = NEIGHBOURHOODS.iter().any(|&count| {
            let set = neighbours.around(sparsity, k, count, &excluded);
            let mut w = gram.of(&set);
            eliminate(&mut w, (1..set.len()).collect());
            w[0][0] <= ZERO_PIVOT
        });
        // A loop may be longer than the neighbourhood: then the pivot of the complete system decides.
        if confirmed || pivots[k] < ZERO_SPARSE_PIVOT {
            excluded[k] = true;
            redundant.push(k);
        }
    }
    redundant
}

/// Pivots of these constraints in a sparse factorisation with diag(M) and G.
fn sparse_pivots(gram: &GramMatrix, constraints: &[usize]) -> Option<Vec<f64>> {
    let (sparsity, m) = (gram.sparsity, gram.m);
    let mut pattern = Sparsity::default();
    let mut g = Vec::new();
    for &k in constraints {
        for slot in sparsity.g_row(k) {
            pattern.jacobian.push((k as u32, sparsity.column[slot]));
            g.push(m.values[slot]);
        }
    }
    pattern.tangent = (0..sparsity.nv() as u32).map(|i| (i, i)).collect();
    let mass: Vec<f64> = gram.weight.iter().map(|w| 1.0 / w).collect();
    let diagonal = SaddleSparsity::new(sparsity.nv(), sparsity.nc(), &pattern, Backend::Sparse);
    let mut matrix = SaddleMatrix::new(&diagonal);
    let mut active = vec![false; sparsity.nc()];
    for &k in constraints {
        active[k] = true;
    }
    matrix.set_active(&active);
    matrix.load_tangent(&diagonal, &mass);
    matrix.load_jacobian(&diagonal, &g);
    matrix.regularise(&diagonal, &mass, SPARSE_REGULARISATION);
    let mut factor = Factorization::new(&diagonal);
    factor.factor(&diagonal, &matrix).ok()?;
    Some(factor.constraint_pivots().to_vec())
}

/// Active constraints that act on each coordinate.
struct ConstraintNeighbours {
    of_coordinate: Vec<Vec<u32>>,
}

impl ConstraintNeighbours {
    fn new(sparsity: &SaddleSparsity, m: &SaddleMatrix) -> Self {
        let mut of_coordinate = vec![Vec::new(); sparsity.nv()];
        for k in (0..sparsity.nc()).filter(|&k| m.active()[k]) {
            for slot in sparsity.g_row(k) {
                of_coordinate[sparsity.column[slot] as usize].push(k as u32);
            }
        }
        Self { of_coordinate }
    }

    /// The `count` constraints nearest to `k`, itself first, without the excluded ones.
    fn around(
        &self,
        sparsity: &SaddleSparsity,
        k: usize,
        count: usize,
        excluded: &[bool],
    ) -> Vec<usize> {
        let mut set = vec![k];
        let mut seen = std::collections::HashSet::from([k]);
        let mut at = 0;
        while at < set.len() {
            for slot in sparsity.g_row(set[at]) {
                for &other in &self.of_coordinate[sparsity.column[slot] as usize] {
                    let other = other as usize;
                    if set.len() == count {
                        return set;
                    }
                    if !excluded[other] && seen.insert(other) {
                        set.push(other);
                    }
                }
            }
            at += 1;
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::samples::{self, Sample};
    use super::*;

    fn redundant(sample: &Sample, active: Option<&[bool]>) -> Vec<usize> {
        let pattern = Sparsity {
            tangent: sample.tangent.clone(),
            jacobian: sample.jacobian.clone(),
        };
        let sparsity = SaddleSparsity::new(sample.nv, sample.nc, &pattern, Backend::Auto);
        let mut m = SaddleMatrix::new(&sparsity);
        if let Some(rows) = active {
            m.set_active(rows);
        }
        m.load_tangent(&sparsity, &sample.s);
        m.load_jacobian(&sparsity, &sample.g);
        redundant_constraints(&sparsity, &m)
    }

    /// Adds the constraint a · (constraint i) + b · (constraint k).
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
    fn independent_constraints_are_not_returned() {
        for bodies in [1, 5, 60, 400] {
            assert!(redundant(&samples::planar_chain(bodies), None).is_empty());
            assert!(redundant(&samples::four_bars(bodies), None).is_empty());
            assert!(redundant(&samples::spatial_chain(bodies), None).is_empty());
            assert!(redundant(&samples::star(bodies), None).is_empty());
        }
    }

    #[test]
    fn a_repeated_and_a_combined_constraint_are_redundant() {
        let mut sample = samples::planar_chain(20);
        combine(&mut sample, (1.0, 7), (0.0, 8));
        combine(&mut sample, (2.0, 20), (-3.0, 23));
        assert_eq!(redundant(&sample, None), [40, 41]);
    }

    #[test]
    fn in_a_large_mechanism_one_constraint_of_each_dependent_set_is_redundant() {
        let mut sample = samples::planar_chain(300);
        combine(&mut sample, (1.0, 7), (0.0, 8));
        combine(&mut sample, (2.0, 200), (-3.0, 203));
        combine(&mut sample, (1.0, 7), (0.0, 8)); // a third copy
        let named = redundant(&sample, None);
        let of = |group: &[usize]| named.iter().filter(|k| group.contains(k)).count();
        assert_eq!(named.len(), 3, "{named:?}");
        assert_eq!(of(&[7, 600, 602]), 2, "{named:?}");
        assert_eq!(of(&[200, 203, 601]), 1, "{named:?}");
    }

    #[test]
    fn a_redundant_loop_longer_than_any_neighbourhood_is_found() {
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
        assert_eq!(redundant(&ring, None).len(), 1);
    }

    #[test]
    fn inactive_constraints_do_not_count() {
        let mut sample = samples::planar_chain(6);
        combine(&mut sample, (1.0, 3), (0.0, 4));
        let mut active = vec![true; sample.nc];
        active[3] = false;
        assert!(redundant(&sample, Some(&active)).is_empty());
        active[3] = true;
        assert_eq!(redundant(&sample, Some(&active)), [12]);
    }

    #[test]
    fn a_massless_body_constrained_twice_has_one_redundant_constraint() {
        // One massless coordinate with two constraints; another massless one with one constraint.
        let sample = Sample {
            nv: 3,
            nc: 3,
            tangent: vec![(0, 0), (1, 1), (2, 2)],
            s: vec![0.0, 0.0, 2.0],
            jacobian: vec![(0, 0), (1, 0), (2, 1), (2, 2)],
            g: vec![1.0, -4.0, 1.0, 1.0],
        };
        assert_eq!(redundant(&sample, None), [1]);
    }

    #[test]
    fn units_do_not_change_the_result() {
        // Millimetres and tonnes: constraints and masses scaled by powers of ten.
        let mut sample = samples::four_bars(4);
        for (at, g) in sample.jacobian.iter().zip(&mut sample.g) {
            *g *= [1e-6, 1.0, 1e5][at.0 as usize % 3];
        }
        assert!(redundant(&sample, None).is_empty());
        combine(&mut sample, (1e3, 4), (1e-3, 9));
        assert_eq!(redundant(&sample, None).len(), 1);
    }

    #[test]
    fn an_empty_constraint_is_redundant() {
        for bodies in [5, 200] {
            let mut sample = samples::planar_chain(bodies);
            sample.nc += 1;
            assert_eq!(redundant(&sample, None), [2 * bodies]);
        }
    }
}
