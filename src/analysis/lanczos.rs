//! The lowest modes of a large conservative system in equilibrium, by Lanczos' method with a shift σ and the sparse factorisation
//! of the integrator:
//!
//! ```text
//!   K x + Gᵀ μ = ω² M x,  G x = 0        [ K + σM  Gᵀ ] [ y ]   [ M x ]
//!                                        [ G       0  ] [ · ] = [  0  ],     y = θ x,   θ = 1 / (ω² + σ)
//! ```
//!
//! The vectors are orthonormal in the mass metric, all of them at every step. The shift follows the lowest frequency that is not
//! zero. One start vector finds one shape of a multiple frequency: runs are repeated in the orthogonal complement of what has been
//! found until nothing lower appears.

use nalgebra::{DMatrix, SymmetricEigen};

use super::dense::{add, dot};
use super::linearization::OperatingPoint;
use super::sparse_point::SparseSaddle;
use crate::formulation::system::System;
use crate::linalg::random::Random;
use crate::linalg::sorting::sort_by;

/// Residual of a pair over θ at which it has converged; the error of ω² is of its square.
const CONVERGED: f64 = 1e-9;
/// The same while the shift is sought.
const ROUGH: f64 = 1e-2;
/// Norm of a new vector over that of the operator below which the space is exhausted.
const EXHAUSTED: f64 = 1e-13;
/// ω² over the shift that counts as zero: rounding of θ is 1e-13, solutions have 1e-14.
const ZERO: f64 = 1e-10;
/// Difference of xᵀ M A y and yᵀ M A x over their size above which a system is not conservative.
const ASYMMETRY: f64 = 1e-8;
/// The first shift (1/s²); any will do.
const FIRST_SHIFT: f64 = 1.0;
/// The shift is good if the lowest ω² lies within this factor of it, and is changed at most so often.
const NEAR_SHIFT: f64 = 30.0;
const SHIFTS: usize = 8;
/// Vectors of a run: at most this many for each mode, and some more.
const VECTORS_PER_MODE: usize = 8;
const MORE_VECTORS: usize = 80;
/// Vectors between two tests of convergence.
const BETWEEN_TESTS: usize = 10;
/// Repeated runs: the largest multiplicity of a frequency.
const RUNS: usize = 12;

/// ω² and its shape, M-normalised.
#[derive(Clone, Debug, PartialEq)]
pub struct RealMode {
    /// Exactly zero for a rigid-body mode.
    pub square: f64,
    /// Displacement w of the system.
    pub shape: Vec<f64>,
}

/// The `count` modes with the smallest |ω²| at a point in equilibrium; `redundant` are the constraints left out. `None` where the
/// method does not converge.
pub fn lowest_modes(
    system: &dyn System,
    at: &OperatingPoint,
    redundant: &[bool],
    count: usize,
) -> Option<Vec<RealMode>> {
    let mut shift = FIRST_SHIFT;
    for _ in 0..SHIFTS {
        let mut operator = ShiftedOperator::new(system, at, redundant, shift)?;
        if !operator.is_symmetric() {
            return None;
        }
        let rough = operator.run(&[], count.min(8), ROUGH)?;
        let lowest = (rough.iter().map(|pair| pair.square(shift).abs()))
            .filter(|square| *square > ZERO * shift)
            .fold(f64::INFINITY, f64::min);
        if !lowest.is_finite() || (lowest < NEAR_SHIFT * shift && lowest * NEAR_SHIFT > shift) {
            return operator.all(count, shift);
        }
        shift = lowest;
    }
    None
}

/// A Ritz pair.
struct RitzPair {
    theta: f64,
    shape: Vec<f64>,
}

impl RitzPair {
    /// ω² = 1/θ − σ
    fn square(&self, shift: f64) -> f64 {
        1.0 / self.theta - shift
    }
}

/// x → (K + σM)⁻¹ M x in the null space of G.
struct ShiftedOperator<'a> {
    system: &'a dyn System,
    at: &'a OperatingPoint<'a>,
    saddle: SparseSaddle,
    lambda: Vec<f64>,
    random: Random,
}

impl<'a> ShiftedOperator<'a> {
    fn new(
        system: &'a dyn System,
        at: &'a OperatingPoint<'a>,
        redundant: &[bool],
        shift: f64,
    ) -> Option<Self> {
        Some(Self {
            system,
            at,
            saddle: SparseSaddle::new(system, at, redundant, [shift, 0.0, 1.0])?,
            lambda: vec![0.0; system.dimensions().nc],
            random: Random::new(1),
        })
    }

    fn mass_times(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        self.system
            .mass_times(&self.at.cx, self.at.motion.q, x, &mut out);
        out
    }

    /// (K + σM)⁻¹ f in the null space of G.
    fn apply(&mut self, force: &[f64]) -> Vec<f64> {
        let mut x = force.to_vec();
        self.lambda.fill(0.0);
        self.saddle.solve(&mut x, &mut self.lambda);
        x
    }

    /// Whether the stiffness is symmetric in the null space of G, tried on two random vectors.
    fn is_symmetric(&mut self) -> bool {
        let nv = self.system.dimensions().nv;
        let [x, y] = [(); 2].map(|()| {
            let x = self.random.vector(nv, 1.0);
            self.mass_times(&x)
        });
        let (ax, ay) = (self.apply(&x), self.apply(&y));
        let size = (dot(&x, &ax) * dot(&y, &ay)).abs().sqrt();
        (dot(&y, &ax) - dot(&x, &ay)).abs() <= ASYMMETRY * size
    }

    /// The `count` modes nearest to the shift, multiple ones included.
    fn all(&mut self, count: usize, shift: f64) -> Option<Vec<RealMode>> {
        let mut found: Vec<RitzPair> = Vec::new();
        for _ in 0..RUNS {
            let locked: Vec<Vec<f64>> = found.iter().map(|pair| pair.shape.clone()).collect();
            let run = self.run(&locked, count, CONVERGED)?;
            let weakest = match found.len() >= count {
                true => found[count - 1].theta.abs(),
                false => 0.0,
            };
            let nothing_new = run.iter().all(|pair| pair.theta.abs() <= weakest);
            found.extend(run);
            sort_by(&mut found, |a, b| b.theta.abs().total_cmp(&a.theta.abs()));
            if nothing_new {
                found.truncate(count);
                return Some(
                    (found.into_iter())
                        .map(|pair| real_mode(pair, shift))
                        .collect(),
                );
            }
        }
        None
    }

    /// Converged pairs with the largest |θ| in the complement of `locked`: `wanted` of them, or all there are.
    fn run(&mut self, locked: &[Vec<f64>], wanted: usize, tolerance: f64) -> Option<Vec<RitzPair>> {
        let nv = self.system.dimensions().nv;
        let fixed: Vec<[Vec<f64>; 2]> = (locked.iter())
            .map(|x| [x.clone(), self.mass_times(x)])
            .collect();
        let start = self.random.vector(nv, 1.0);
        let force = self.mass_times(&start);
        let start = self.apply(&force);
        // Vectors and their products with M.
        let mut basis: Vec<[Vec<f64>; 2]> = Vec::new();
        let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
        let Some((first, _)) = self.orthonormal(start, &fixed, &basis, 0.0) else {
            return Some(Vec::new());
        };
        basis.push(first);
        let most = (VECTORS_PER_MODE * wanted + MORE_VECTORS).min(nv);
        let mut size: f64 = 0.0;
        loop {
            let last = basis.len() - 1;
            let force = basis[last][1].clone();
            let y = self.apply(&force);
            let alpha = dot(&y, &force);
            diagonal.push(alpha);
            size = size.max(alpha.abs());
            let next = self.orthonormal(y, &fixed, &basis, size);
            let beta = next.as_ref().map_or(0.0, |(_, norm)| *norm);
            let exhausted = next.is_none();
            if exhausted || basis.len().is_multiple_of(BETWEEN_TESTS) || basis.len() >= most {
                let pairs = ritz_pairs(&diagonal, &beside, beta, &basis, (wanted, tolerance));
                if exhausted || pairs.len() >= wanted {
                    return Some(pairs);
                }
                if basis.len() >= most {
                    return None;
                }
            }
            if let Some((vector, norm)) = next {
                beside.push(norm);
                basis.push(vector);
            }
        }
    }

    /// y without its parts along the vectors, of norm one in the mass metric, with its product with M and the norm before. `None` if
    /// nothing is left.
    fn orthonormal(
        &self,
        mut y: Vec<f64>,
        fixed: &[[Vec<f64>; 2]],
        basis: &[[Vec<f64>; 2]],
        size: f64,
    ) -> Option<([Vec<f64>; 2], f64)> {
        // Twice is enough.
        for _ in 0..2 {
            for [x, mass_x] in fixed.iter().chain(basis) {
                let part = dot(mass_x, &y);
                add(&mut y, -part, x);
            }
        }
        let mut mass_y = self.mass_times(&y);
        let norm = dot(&y, &mass_y).max(0.0).sqrt();
        if !(norm > EXHAUSTED * size) || norm == 0.0 {
            return None;
        }
        y.iter_mut().for_each(|x| *x /= norm);
        mass_y.iter_mut().for_each(|x| *x /= norm);
        Some(([y, mass_y], norm))
    }
}

/// The leading converged pairs of the tridiagonal matrix, the largest |θ| first, up to the first that has not converged.
fn ritz_pairs(
    diagonal: &[f64],
    beside: &[f64],
    beta: f64,
    basis: &[[Vec<f64>; 2]],
    (wanted, tolerance): (usize, f64),
) -> Vec<RitzPair> {
    let m = diagonal.len();
    let mut t = DMatrix::zeros(m, m);
    for i in 0..m {
        t[(i, i)] = diagonal[i];
        if i + 1 < m {
            (t[(i, i + 1)], t[(i + 1, i)]) = (beside[i], beside[i]);
        }
    }
    let eigen = SymmetricEigen::new(t);
    let mut order: Vec<usize> = (0..m).collect();
    let theta = |i: usize| eigen.eigenvalues[i];
    sort_by(&mut order, |&i, &k| {
        theta(k).abs().total_cmp(&theta(i).abs())
    });
    let rounding = f64::EPSILON * order.first().map_or(0.0, |&i| theta(i).abs());
    let converged = |i: &usize| {
        let residual = beta * eigen.eigenvectors[(m - 1, *i)].abs();
        residual <= tolerance * theta(*i).abs() && theta(*i).abs() > rounding
    };
    (order.into_iter().take_while(converged).take(wanted))
        .map(|i| {
            let mut shape = vec![0.0; basis[0][0].len()];
            for (k, [x, _]) in basis.iter().take(m).enumerate() {
                add(&mut shape, eigen.eigenvectors[(k, i)], x);
            }
            RitzPair {
                theta: theta(i),
                shape,
            }
        })
        .collect()
}

fn real_mode(pair: RitzPair, shift: f64) -> RealMode {
    let square = pair.square(shift);
    RealMode {
        square: if square.abs() <= ZERO * shift {
            0.0
        } else {
            square
        },
        shape: pair.shape,
    }
}
