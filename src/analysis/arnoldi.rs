//! The lowest modes of a large system with damping, at rest in an equilibrium, by Arnoldi's method with a real shift σ and the sparse
//! factorisation of the integrator:
//!
//! ```text
//!   (s² M + s C + K) x + Gᵀ μ = 0,  G x = 0        z = (x, s x),    (A − σ)⁻¹ z = θ z,    s = σ + 1/θ
//!
//!   (A − σ)⁻¹ (b₁, b₂) = (x, σ x + b₁):     [ σ²M + σC + K   Gᵀ ] [ x ]   [ −M b₂ − (C + σM) b₁ ]
//!                                           [ G              0  ] [ μ ] = [  0                  ]
//! ```
//!
//! All eigenvalues nearer to σ than the first one that has not converged are known; so are those of size below the difference of
//! this distance and σ. Modes of frequency zero are defective eigenvalues: they are those of the system without damping.

use nalgebra::{Complex, DMatrix, Schur};

use super::dense::{add, dot};
use super::lanczos::{RealMode, lowest_modes};
use super::linearization::OperatingPoint;
use super::sparse_point::SparseSaddle;
use crate::formulation::system::{System, TangentWeights};
use crate::linalg::random::Random;
use crate::linalg::sorting::sort_by;

/// Residual of an eigenvalue θ over its size at which it has converged.
const CONVERGED: f64 = 1e-11;
/// |s| over the shift that belongs to an eigenvalue zero: the square root of the rounding of a defective one, with a reserve.
const ZERO: f64 = 1e-5;
/// Imaginary part over the size of an eigenvalue that is rounding.
const REAL: f64 = 1e-12;
/// Norm of a new vector over that of the operator below which the space is exhausted.
const EXHAUSTED: f64 = 1e-13;
/// Vectors before the first test of convergence: at least these, and two for each mode; growth of their number between tests, and the
/// largest one.
const FIRST_VECTORS: usize = 40;
const GROWTH: f64 = 1.4;
const MOST_VECTORS: usize = 600;

/// An eigenvalue and its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct DampedMode {
    /// s; of a conjugate pair the one with positive imaginary part. Exactly zero for a rigid-body mode.
    pub eigenvalue: Complex<f64>,
    /// Displacement w of the system, real and imaginary part.
    pub shape: [Vec<f64>; 2],
}

/// The `count` modes with the smallest |s| at a point in equilibrium; `redundant` are the constraints left out. `None` where the method
/// does not converge, or the stiffness is not symmetric.
pub fn lowest_damped_modes(
    system: &dyn System,
    at: &OperatingPoint,
    redundant: &[bool],
    count: usize,
) -> Option<Vec<DampedMode>> {
    if system.descriptor_form().is_some() {
        // C is not that of the coordinates.
        return None;
    }
    let undamped = lowest_modes(system, at, redundant, count)?;
    let (zero, moving): (Vec<RealMode>, Vec<RealMode>) =
        undamped.into_iter().partition(|mode| mode.square == 0.0);
    let mut found: Vec<DampedMode> = (zero.into_iter())
        .map(|RealMode { shape, .. }| DampedMode {
            eigenvalue: Complex::new(0.0, 0.0),
            shape: [shape.clone(), vec![0.0; shape.len()]],
        })
        .collect();
    let Some(lowest) = moving.first() else {
        return Some(found);
    };
    let shift = lowest.square.abs().sqrt();
    let mut operator = ShiftedInverse::new(system, at, redundant, shift)?;
    found.extend(operator.run(count - found.len())?);
    sort_by(&mut found, |a, b| {
        (a.eigenvalue.norm().total_cmp(&b.eigenvalue.norm()))
            .then(b.eigenvalue.re.total_cmp(&a.eigenvalue.re))
    });
    Some(found)
}

/// z = (x, ẋ)
type StatePair = [Vec<f64>; 2];

/// z → (A − σ)⁻¹ z in the null space of G.
struct ShiftedInverse<'a> {
    system: &'a dyn System,
    at: &'a OperatingPoint<'a>,
    saddle: SparseSaddle,
    /// C by its entries.
    damping: Vec<(usize, usize, f64)>,
    shift: f64,
    lambda: Vec<f64>,
}

impl<'a> ShiftedInverse<'a> {
    fn new(
        system: &'a dyn System,
        at: &'a OperatingPoint<'a>,
        redundant: &[bool],
        shift: f64,
    ) -> Option<Self> {
        let pattern = system.sparsity();
        let weights = TangentWeights {
            mass: 0.0,
            damping: 1.0,
            stiffness: 0.0,
            theta: &[],
        };
        let mut values = vec![0.0; pattern.tangent.len()];
        (system.tangent(&at.cx, &at.motion, &weights, &mut values)).ok()?;
        let entries = pattern.tangent.iter().zip(values);
        let damping = (entries.filter(|(_, c)| *c != 0.0))
            .map(|(&(i, j), c)| (i as usize, j as usize, c))
            .collect();
        let saddle = SparseSaddle::new(system, at, redundant, [shift * shift, shift, 1.0])?;
        Some(Self {
            system,
            at,
            saddle,
            damping,
            shift,
            lambda: vec![0.0; system.dimensions().nc],
        })
    }

    fn mass_times(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        let q = self.at.motion.q;
        self.system.mass_times(&self.at.cx, q, x, &mut out);
        out
    }

    fn apply(&mut self, [b1, b2]: &StatePair) -> StatePair {
        // −M (b₂ + σ b₁) − C b₁
        let mut sum = b2.clone();
        add(&mut sum, self.shift, b1);
        let mut x = self.mass_times(&sum);
        for &(i, j, c) in &self.damping {
            x[i] += c * b1[j];
        }
        x.iter_mut().for_each(|x| *x = -*x);
        self.lambda.fill(0.0);
        self.saddle.solve(&mut x, &mut self.lambda);
        let mut rate = b1.clone();
        add(&mut rate, self.shift, &x);
        [x, rate]
    }

    /// Products with σ² M and M: the metric in which the vectors are orthonormal.
    fn metric(&self, [x, rate]: &StatePair) -> StatePair {
        let mut first = self.mass_times(x);
        let square = self.shift * self.shift;
        first.iter_mut().for_each(|x| *x *= square);
        [first, self.mass_times(rate)]
    }

    /// z without its parts along the basis, these parts, and the norm of what is left.
    fn orthogonalise(&self, z: &mut StatePair, basis: &[StatePair]) -> (Vec<f64>, f64) {
        let mut parts = vec![0.0; basis.len()];
        // Twice is enough.
        for _ in 0..2 {
            let weighted = self.metric(z);
            for (part, v) in parts.iter_mut().zip(basis) {
                let x = product(v, &weighted);
                *part += x;
                add_pair(z, -x, v);
            }
        }
        let norm = product(z, &self.metric(z)).max(0.0).sqrt();
        (parts, norm)
    }

    /// The `count` eigenvalues of smallest |s| that are not zero.
    fn run(&mut self, count: usize) -> Option<Vec<DampedMode>> {
        let nv = self.system.dimensions().nv;
        let mut random = Random::new(1);
        let start = [random.vector(nv, 1.0), random.vector(nv, 1.0)];
        // Twice: both parts satisfy the constraints.
        let first = self.apply(&start);
        let mut z = self.apply(&first);
        let (_, norm) = self.orthogonalise(&mut z, &[]);
        scale(&mut z, 1.0 / norm);
        let mut basis = vec![z];
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut next_test = (2 * count + 10).max(FIRST_VECTORS);
        let mut size: f64 = 0.0;
        loop {
            let mut z = self.apply(&basis[basis.len() - 1]);
            let (mut column, norm) = self.orthogonalise(&mut z, &basis);
            size = column.iter().fold(size, |m, x| m.max(x.abs()));
            let exhausted = !(norm > EXHAUSTED * size);
            column.push(norm);
            columns.push(column);
            if exhausted || columns.len() >= next_test {
                let beta = if exhausted { 0.0 } else { norm };
                if let Some(found) = self.converged(&columns, beta, &basis, count) {
                    return Some(found);
                }
                if exhausted || columns.len() >= MOST_VECTORS {
                    return None;
                }
                next_test = ((columns.len() as f64 * GROWTH) as usize).min(MOST_VECTORS);
            }
            scale(&mut z, 1.0 / norm);
            basis.push(z);
        }
    }

    /// The wanted modes if all of them have converged. With `beta` zero the space is exhausted and there are no others.
    fn converged(
        &self,
        columns: &[Vec<f64>],
        beta: f64,
        basis: &[StatePair],
        count: usize,
    ) -> Option<Vec<DampedMode>> {
        let m = columns.len();
        let hessenberg = DMatrix::from_fn(m, m, |i, j| match columns[j].get(i) {
            Some(&h) => Complex::new(h, 0.0),
            None => Complex::new(0.0, 0.0),
        });
        let (u, t) = Schur::try_new(hessenberg, f64::EPSILON, 0)?.unpack();
        let mut known: Vec<(Complex<f64>, Vec<Complex<f64>>)> = Vec::new();
        // |s − σ| of the nearest eigenvalue that is not known.
        let mut radius = f64::INFINITY;
        for k in 0..m {
            let theta = t[(k, k)];
            let y = &u * eigenvector(&t, k);
            let residual = beta * y[m - 1].norm();
            if residual <= CONVERGED * theta.norm() {
                known.push((theta.inv() + self.shift, y.as_slice().to_vec()));
            } else {
                radius = radius.min(1.0 / theta.norm());
            }
        }
        // Known for certain, of each pair one, without zeros.
        let limit = radius - self.shift;
        known.retain(|(s, _)| {
            let size = s.norm();
            size < limit && size > ZERO * self.shift && s.im >= -REAL * size
        });
        if known.len() < count && beta > 0.0 {
            return None;
        }
        sort_by(&mut known, |a, b| a.0.norm().total_cmp(&b.0.norm()));
        known.truncate(count);
        Some(known.into_iter().map(|known| mode(known, basis)).collect())
    }
}

/// Eigenvector of entry `k` of an upper triangular matrix.
fn eigenvector(t: &DMatrix<Complex<f64>>, k: usize) -> nalgebra::DVector<Complex<f64>> {
    let mut y = nalgebra::DVector::zeros(t.nrows());
    y[k] = Complex::new(1.0, 0.0);
    let smallest = f64::EPSILON * t[(k, k)].norm();
    for i in (0..k).rev() {
        let sum: Complex<f64> = (i + 1..=k).map(|j| t[(i, j)] * y[j]).sum();
        let mut pivot = t[(i, i)] - t[(k, k)];
        if pivot.norm() < smallest {
            // A multiple eigenvalue.
            pivot = Complex::new(smallest, 0.0);
        }
        y[i] = -sum / pivot;
    }
    let norm = y.norm();
    y.unscale(norm)
}

fn mode((s, y): (Complex<f64>, Vec<Complex<f64>>), basis: &[StatePair]) -> DampedMode {
    let real = s.im.abs() <= REAL * s.norm();
    let nv = basis[0][0].len();
    let mut shape = [vec![0.0; nv], vec![0.0; nv]];
    // The vector of a real eigenvalue is real up to a factor.
    let largest = (y.iter().copied()).fold(Complex::new(0.0, 0.0), |a, b| {
        if b.norm() > a.norm() { b } else { a }
    });
    for (y, [x, _]) in y.iter().zip(basis) {
        let y = y / largest;
        add(&mut shape[0], y.re, x);
        if !real {
            add(&mut shape[1], y.im, x);
        }
    }
    DampedMode {
        eigenvalue: if real { Complex::new(s.re, 0.0) } else { s },
        shape,
    }
}

fn product(a: &StatePair, b: &StatePair) -> f64 {
    dot(&a[0], &b[0]) + dot(&a[1], &b[1])
}

fn add_pair(z: &mut StatePair, factor: f64, x: &StatePair) {
    for (z, x) in z.iter_mut().zip(x) {
        add(z, factor, x);
    }
}

fn scale(z: &mut StatePair, factor: f64) {
    z.iter_mut().flatten().for_each(|x| *x *= factor);
}
