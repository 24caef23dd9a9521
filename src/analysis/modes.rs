//! Modes of a linear model: eigenvalues s and shapes x of
//!
//! ```text
//!   (s² I − s A₂₂ − A₂₁) x = A₂₃ I,    s I = A₃₁ x + s A₃₂ x + A₃₃ I,    in coordinates in which the mass matrix is the identity
//! ```
//!
//! I are integrals along the motion (of controllers); most systems have none.
//!
//! Eigenvalues zero are counted, not computed: the null space of the first-order matrix, then the null space of what is left of it
//! (a free body has two zeros in one chain), are removed until the rest is regular. Each chain is one mode of frequency zero.

use nalgebra::{Complex, DMatrix, DVector, Schur};

use super::spectrum::{Spectrum, ZERO_PART};
use crate::linalg::sorting::sort_by;

/// Square of a frequency that counts as zero over the accelerations of the loads per body length: their stiffness is rounding, and
/// closed constraints are open by 1e-12.
const ZERO_OF_LOADS: f64 = 1e-11;
/// Singular value over the norm of the matrix that is rounding of the decomposition, in units of the machine precision for each row.
const ROUNDED: f64 = 10.0;
/// Singular value over its error below which it counts as zero. 12,000 random mechanisms have the same zeros in five formulations; with
/// any number from 8 to 32 the first 5,000 have.
const CERTAINTY: f64 = 16.0;
/// Asymmetry and damping below which a system counts as conservative, relative to the largest entry.
const CONSERVATIVE: f64 = 1e-12;
/// Relative difference of eigenvalues that count as one.
const MULTIPLE: f64 = 1e-6;
/// Part of an eigenvector that counts as no motion: only a controller changes.
const CONTROLLER_ONLY: f64 = 1e-9;
/// Iterations of the Schur decomposition for each eigenvalue.
const SCHUR_ITERATIONS: usize = 200;

/// An eigenvalue and its shape in the minimal coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenmode {
    /// s (1/s); of a conjugate pair the one with positive imaginary part. Exactly zero for a rigid-body mode.
    pub eigenvalue: Complex<f64>,
    /// Shape; the other of a pair has the conjugate one.
    pub shape: Vec<Complex<f64>>,
}

impl Eigenmode {
    /// |s| / 2π (Hz)
    pub fn frequency(&self) -> f64 {
        self.eigenvalue.norm() / std::f64::consts::TAU
    }

    /// −Re s / |s|; zero for a rigid-body mode, −1 for exponential growth.
    pub fn damping(&self) -> f64 {
        match self.eigenvalue.norm() {
            0.0 => 0.0,
            // No negative zero.
            size => 0.0 - self.eigenvalue.re / size,
        }
    }
}

/// A system of second order ÿ = A₂₁ y + A₂₂ ẏ + A₂₃ I with integrals İ = A₃₁ y + A₃₂ ẏ + A₃₃ I.
pub struct SecondOrderSystem {
    /// A₂₁
    pub position: DMatrix<f64>,
    /// A₂₂
    pub velocity: DMatrix<f64>,
    /// A₂₃
    pub integral_force: DMatrix<f64>,
    /// A₃₁, A₃₂, A₃₃
    pub integral_rate: [DMatrix<f64>; 3],
    /// Mass matrix of the coordinates y.
    pub mass: DMatrix<f64>,
    /// Accelerations of the loads in the error norm (1/s²).
    pub loads: f64,
}

/// All modes, the lowest frequency first. `None` if an iteration does not converge.
pub fn modes(system: &SecondOrderSystem) -> Option<Vec<Eigenmode>> {
    let n = system.position.nrows();
    if n == 0 {
        return Some(Vec::new());
    }
    // x = Lᵀ y with M = L Lᵀ.
    let l = system.mass.clone().cholesky()?.l();
    let transform = |a: &DMatrix<f64>| -> Option<DMatrix<f64>> {
        // Lᵀ A L⁻ᵀ = (L⁻¹ (Lᵀ A)ᵀ)ᵀ
        Some(
            l.solve_lower_triangular(&(l.transpose() * a).transpose())?
                .transpose(),
        )
    };
    let (k, c) = (transform(&system.position)?, transform(&system.velocity)?);
    // A L⁻ᵀ = (L⁻¹ Aᵀ)ᵀ
    let from_right = |a: &DMatrix<f64>| Some(l.solve_lower_triangular(&a.transpose())?.transpose());
    let [by_position, by_velocity, by_integral] = &system.integral_rate;
    let integrals = IntegralStates {
        force: l.transpose() * &system.integral_force,
        by_position: from_right(by_position)?,
        by_velocity: from_right(by_velocity)?,
        by_integral: by_integral.clone(),
    };
    let largest = k.amax().max(c.amax().powi(2));
    // Entries of K that count as zero.
    let zero = (ZERO_PART * n as f64 * k.amax()).max(ZERO_OF_LOADS * system.loads);
    let asymmetry = (&k - k.transpose()).amax();
    let conservative = integrals.count() == 0
        && asymmetry <= 1e-9 * k.amax() + zero
        && c.amax().powi(2) <= CONSERVATIVE * CONSERVATIVE * largest + zero * CONSERVATIVE;
    let spectrum = Spectrum::of(&k, ZERO_OF_LOADS * system.loads);
    let mut found = if conservative {
        conservative_modes(&spectrum)
    } else {
        complex_modes(&k, &c, &integrals, &spectrum)?
    };
    for mode in &mut found {
        let shape = DVector::from_vec(mode.shape.clone());
        let back = l.transpose().map(|x| Complex::new(x, 0.0));
        let shape = back.solve_upper_triangular(&shape)?;
        mode.shape = shape.as_slice().to_vec();
    }
    sort_by(&mut found, |a, b| {
        (a.eigenvalue.norm().total_cmp(&b.eigenvalue.norm()))
            .then(b.eigenvalue.re.total_cmp(&a.eigenvalue.re))
    });
    Some(found)
}

/// Modes of ẍ = K x with symmetric K: s² are its eigenvalues.
fn conservative_modes(spectrum: &Spectrum) -> Vec<Eigenmode> {
    let mut found = Vec::new();
    for (i, square) in spectrum.values.iter().enumerate() {
        let shape = spectrum.vectors.column(i);
        let shape: Vec<_> = shape.iter().map(|x| Complex::new(*x, 0.0)).collect();
        let eigenvalues = if spectrum.is_zero[i] {
            vec![Complex::new(0.0, 0.0)]
        } else if *square < 0.0 {
            vec![Complex::new(0.0, (-square).sqrt())]
        } else {
            // Unstable: one solution grows, one decays.
            vec![
                Complex::new(square.sqrt(), 0.0),
                Complex::new(-square.sqrt(), 0.0),
            ]
        };
        for eigenvalue in eigenvalues {
            found.push(Eigenmode {
                eigenvalue,
                shape: shape.clone(),
            });
        }
    }
    found
}

/// Integrals in coordinates in which the mass matrix is the identity.
struct IntegralStates {
    /// A₂₃
    force: DMatrix<f64>,
    /// A₃₁
    by_position: DMatrix<f64>,
    /// A₃₂
    by_velocity: DMatrix<f64>,
    /// A₃₃
    by_integral: DMatrix<f64>,
}

impl IntegralStates {
    fn count(&self) -> usize {
        self.force.ncols()
    }
}

/// Units of a matrix of first order.
struct Units {
    /// ωᵢ
    own: Vec<f64>,
    /// ω
    omega: f64,
    /// σ of each integral: makes the acceleration that it causes ω².
    sigma: Vec<f64>,
}

/// The matrix of first order of (x, ẋᵢ/ωᵢ, I/σ) in the unit of time 1/ω.
fn first_order(
    k: &DMatrix<f64>,
    c: &DMatrix<f64>,
    integrals: &IntegralStates,
    Units { own, omega, sigma }: &Units,
) -> DMatrix<f64> {
    let (n, m, omega) = (k.nrows(), integrals.count(), *omega);
    let mut a = DMatrix::zeros(2 * n + m, 2 * n + m);
    for i in 0..n {
        a[(i, n + i)] = own[i] / omega;
        for j in 0..n {
            a[(n + i, j)] = k[(i, j)] / (own[i] * omega);
            a[(n + i, n + j)] = c[(i, j)] * own[j] / (own[i] * omega);
        }
    }
    for r in 0..m {
        for i in 0..n {
            a[(n + i, 2 * n + r)] = integrals.force[(i, r)] * sigma[r] / (own[i] * omega);
            a[(2 * n + r, i)] = integrals.by_position[(r, i)] / (sigma[r] * omega);
            a[(2 * n + r, n + i)] = integrals.by_velocity[(r, i)] * own[i] / (sigma[r] * omega);
        }
        for j in 0..m {
            let value = integrals.by_integral[(r, j)];
            a[(2 * n + r, 2 * n + j)] = value * sigma[j] / (sigma[r] * omega);
        }
    }
    a
}

/// Errors of the entries of that matrix, each from the size of its own terms.
fn rounding_of_first_order(
    c: &DMatrix<f64>,
    integrals: &IntegralStates,
    spectrum: &Spectrum,
    units: &Units,
) -> DMatrix<f64> {
    let n = c.nrows();
    let part = ZERO_PART * n as f64;
    let sizes = spectrum.vectors.abs();
    let of = |x: &DMatrix<f64>| x.abs() * part;
    let integrals = IntegralStates {
        force: of(&integrals.force),
        by_position: of(&integrals.by_position),
        by_velocity: of(&integrals.by_velocity),
        by_integral: of(&integrals.by_integral),
    };
    // C has differences of γ along velocities, as K has along positions: the same error in the unit of time.
    let least = spectrum.least / units.omega;
    let damping = (sizes.transpose() * (of(c) * &sizes)).map(|x| x.max(least));
    let mut rounding = first_order(&spectrum.rounding, &damping, &integrals, units);
    for i in 0..n {
        // ẋ is exact.
        rounding[(i, n + i)] = 0.0;
    }
    rounding
}

/// The mode of a null vector of the matrix of first order.
fn rigid_mode(null: &DVector<f64>, n: usize) -> Eigenmode {
    let shape = null.iter().take(n).map(|x| Complex::new(*x, 0.0));
    Eigenmode {
        eigenvalue: Complex::new(0.0, 0.0),
        shape: shape.collect(),
    }
}

/// Modes with damping, gyroscopic terms and integrals.
fn complex_modes(
    k: &DMatrix<f64>,
    c: &DMatrix<f64>,
    integrals: &IntegralStates,
    spectrum: &Spectrum,
) -> Option<Vec<Eigenmode>> {
    let n = k.nrows();
    // Unit of time, so that positions and velocities are of one size.
    let omega = match k.amax().sqrt().max(c.amax()) {
        0.0 => 1.0,
        omega => omega,
    };
    let own: Vec<f64> = (0..n)
        .map(|i| match spectrum.is_zero[i] {
            true => omega,
            false => spectrum.values[i].abs().sqrt(),
        })
        .collect();
    let v = &spectrum.vectors;
    let rotated = IntegralStates {
        force: v.transpose() * &integrals.force,
        by_position: &integrals.by_position * v,
        by_velocity: &integrals.by_velocity * v,
        by_integral: integrals.by_integral.clone(),
    };
    let sigma = |force: f64| {
        if force == 0.0 {
            1.0
        } else {
            omega * omega / force
        }
    };
    let units = Units {
        own,
        omega,
        sigma: (rotated.force.column_iter().map(|f| sigma(f.amax()))).collect(),
    };
    let damping = v.transpose() * (c * v);
    let a = first_order(&spectrum.stiffness, &damping, &rotated, &units);
    let rounding = rounding_of_first_order(c, &rotated, spectrum, &units);
    let (rest, rigid) = without_zeros(a.clone(), &rounding)?;
    let mut found: Vec<Eigenmode> = (rigid.iter()).map(|shape| rigid_mode(shape, n)).collect();
    let limit = SCHUR_ITERATIONS * rest.nrows();
    let values = match rest.nrows() {
        0 => DVector::zeros(0),
        _ => Schur::try_new(rest, f64::EPSILON, limit)?.complex_eigenvalues(),
    };
    for value in values.iter() {
        let value = value * Complex::new(omega, 0.0);
        if value.im < 0.0 {
            continue;
        }
        let same = |mode: &&Eigenmode| (mode.eigenvalue - value).norm() <= MULTIPLE * value.norm();
        let others: Vec<Vec<Complex<f64>>> = (found.iter().filter(same))
            .map(|mode| mode.shape.clone())
            .collect();
        let shape = match integrals.count() {
            0 => shape_of(&spectrum.stiffness, &damping, value, &others)?,
            _ => shape_with_integrals(&a, n, value / Complex::new(omega, 0.0))?,
        };
        found.push(Eigenmode {
            eigenvalue: value,
            shape,
        });
    }
    let v = v.map(|x| Complex::new(x, 0.0));
    for mode in &mut found {
        let shape = &v * DVector::from_column_slice(&mode.shape);
        mode.shape = shape.as_slice().to_vec();
    }
    Some(found)
}

/// The part of A without eigenvalues zero, and the null space of A. `rounding` is the error of each entry of A.
///
/// A singular value is zero if its own error uᵀ E v, with independent entries of E, or the rounding of the decomposition explains it.
fn without_zeros(
    mut a: DMatrix<f64>,
    rounding: &DMatrix<f64>,
) -> Option<(DMatrix<f64>, Vec<DVector<f64>>)> {
    let square = |x: f64| x * x;
    let decomposed = f64::EPSILON * ROUNDED * a.nrows() as f64 * a.norm();
    let mut variance = rounding.map(square);
    let mut null_space = None;
    while a.nrows() > 0 {
        let svd = a.clone().svd(true, true);
        let (u, v, values) = (svd.u?, svd.v_t?.transpose(), svd.singular_values);
        let errors = u.map(square).transpose() * (&variance * v.map(square));
        let is_zero =
            |i: &usize| values[*i] <= (errors[(*i, *i)].sqrt() * CERTAINTY).max(decomposed);
        let (null, kept): (Vec<usize>, Vec<usize>) = (0..a.nrows()).partition(is_zero);
        let vectors = null.iter().map(|&i| v.column(i).into_owned());
        null_space.get_or_insert(vectors.collect::<Vec<_>>());
        if null.is_empty() {
            break;
        }
        let v = v.select_columns(&kept);
        variance = v.map(square).transpose() * (variance * v.map(square));
        a = v.transpose() * a * v;
    }
    Some((a, null_space.unwrap_or_default()))
}

/// Shape x of an eigenvalue by inverse iteration with Q(s) = s² I − s C − K, orthogonal to `others` of the same eigenvalue.
fn shape_of(
    k: &DMatrix<f64>,
    c: &DMatrix<f64>,
    s: Complex<f64>,
    others: &[Vec<Complex<f64>>],
) -> Option<Vec<Complex<f64>>> {
    let n = k.nrows();
    // Beside the eigenvalue, so that the matrix is regular; the shape of a real eigenvalue is real.
    let beside = if s.im == 0.0 { 0.0 } else { 1e-10 };
    let s = s * Complex::new(1.0 + 1e-10, beside);
    let q = DMatrix::from_fn(n, n, |i, j| {
        let unit = if i == j {
            s * s
        } else {
            Complex::new(0.0, 0.0)
        };
        unit - s * c[(i, j)] - Complex::new(k[(i, j)], 0.0)
    });
    let lu = q.lu();
    let imaginary = if s.im == 0.0 { 0.0 } else { 0.3 };
    let mut x = DVector::from_fn(n, |i, _| {
        let real = 1.0 + (i * (others.len() + 1)) as f64 % 3.7;
        Complex::new(real, imaginary * i as f64)
    });
    for _ in 0..3 {
        let before = x.clone();
        x = lu.solve(&x)?;
        for other in others {
            let other = DVector::from_column_slice(other);
            let part = other.dotc(&x);
            x.axpy(-part, &other, Complex::new(1.0, 0.0));
        }
        if others.len() >= n || x.norm() == 0.0 {
            // A defective eigenvalue has fewer shapes.
            x = before;
            break;
        }
        let size = x.norm();
        x.unscale_mut(size);
    }
    x.iter()
        .all(|x| x.is_finite())
        .then(|| x.as_slice().to_vec())
}

/// The first `n` entries of the eigenvector of A at s, by inverse iteration; zero where only integrals change.
fn shape_with_integrals(a: &DMatrix<f64>, n: usize, s: Complex<f64>) -> Option<Vec<Complex<f64>>> {
    let size = a.nrows();
    let beside = if s.im == 0.0 { 0.0 } else { 1e-10 };
    let s = s * Complex::new(1.0 + 1e-10, beside);
    let shifted = DMatrix::from_fn(size, size, |i, j| {
        let unit = if i == j { s } else { Complex::new(0.0, 0.0) };
        Complex::new(a[(i, j)], 0.0) - unit
    });
    let lu = shifted.lu();
    let imaginary = if s.im == 0.0 { 0.0 } else { 0.3 };
    let mut z = DVector::from_fn(size, |i, _| {
        Complex::new(1.0 + i as f64 % 3.7, imaginary * i as f64)
    });
    for _ in 0..3 {
        z = lu.solve(&z)?;
        let norm = z.norm();
        z.unscale_mut(norm);
    }
    let shape = z.rows(0, n).into_owned();
    if !shape.iter().all(|x| x.is_finite()) {
        return None;
    }
    Some(match shape.norm() {
        norm if norm < CONTROLLER_ONLY => vec![Complex::new(0.0, 0.0); n],
        norm => shape.unscale(norm).as_slice().to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(k: &[f64], c: &[f64]) -> SecondOrderSystem {
        let n = (k.len() as f64).sqrt() as usize;
        SecondOrderSystem {
            position: DMatrix::from_row_slice(n, n, k),
            velocity: DMatrix::from_row_slice(n, n, c),
            integral_force: DMatrix::zeros(n, 0),
            integral_rate: [(0, n), (0, n), (0, 0)].map(|(r, c)| DMatrix::zeros(r, c)),
            mass: DMatrix::identity(n, n),
            loads: 0.0,
        }
    }

    #[test]
    fn free_bodies_have_one_zero_mode_for_each_degree_of_freedom() {
        // Two masses and a spring; the first with a damper too in the second case.
        let k = [-2.0, 2.0, 2.0, -2.0];
        let found = modes(&system(&k, &[0.0; 4])).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].eigenvalue, Complex::new(0.0, 0.0));
        assert!((found[1].eigenvalue.im - 2.0).abs() < 1e-14);
        let found = modes(&system(&k, &[-0.1, 0.1, 0.1, -0.1])).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].frequency(), 0.0);
        // s² + 0.2 s + 4 = 0
        assert!((found[1].eigenvalue.re + 0.1).abs() < 1e-14);
        let found = modes(&system(&k, &[-0.1, 0.0, 0.0, 0.0])).unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0].frequency(), 0.0);
        assert_eq!(found[1].damping(), 1.0);
    }

    #[test]
    fn a_body_without_forces_has_only_zero_modes() {
        let found = modes(&system(&[0.0; 9], &[0.0; 9])).unwrap();
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|mode| mode.frequency() == 0.0));
    }

    #[test]
    fn a_controller_with_an_integral_has_a_mode_more() {
        // ÿ = −5 y − 2 ẏ + I,  İ = −4 y:  s³ + 2 s² + 5 s + 4 = (s + 1)(s² + s + 4)
        let mut controlled = system(&[-5.0], &[-2.0]);
        controlled.integral_force = DMatrix::from_element(1, 1, 1.0);
        controlled.integral_rate = [-4.0, 0.0, 0.0].map(|x| DMatrix::from_element(1, 1, x));
        let found = modes(&controlled).unwrap();
        let expected = [Complex::new(-1.0, 0.0), Complex::new(-0.5, 3.75_f64.sqrt())];
        assert_eq!(found.len(), 2);
        for (mode, s) in found.iter().zip(expected) {
            assert!((mode.eigenvalue - s).norm() < 1e-13, "{mode:?}");
        }
    }

    #[test]
    fn strong_damping_makes_slow_modes_and_no_zeros() {
        // s² + 1e6 s + 1 = 0
        let found = modes(&system(&[-1.0], &[-1e6])).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0].eigenvalue.re + 1e-6).abs() < 1e-10, "{found:?}");
    }

    #[test]
    fn the_low_modes_of_a_stiff_system_are_not_taken_for_zeros() {
        // A mass of 1 on a spring of `soft`, and on it a mass of 1e-12 by a spring of 1e6: squares of about 1e18 and `soft`.
        let (tiny, stiff): (f64, f64) = (1e-12, 1e6);
        for soft in [1.0, 0.0] {
            for damping in [0.0, 0.02] {
                let k = [-stiff - soft, stiff, stiff / tiny, -stiff / tiny];
                let c = [-damping, 0.0, 0.0, 0.0];
                let mut stiff_system = system(&k, &c);
                stiff_system.mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, tiny]));
                let found = modes(&stiff_system).unwrap();
                if soft == 0.0 {
                    assert_eq!(found[0].frequency(), 0.0, "{found:?}");
                    continue;
                }
                assert_eq!(found.len(), 2, "{found:?}");
                // s² + c s + 1 = 0; rounding of 1e6 in the square, of 1e9 in s.
                let s = Complex::new(-0.5 * damping, (1.0 - 0.25 * damping * damping).sqrt());
                let off = (found[0].eigenvalue - s).norm();
                assert!(off < 1e-8, "{off:e}: {found:?}");
            }
        }
    }

    #[test]
    fn an_unstable_position_has_a_growing_and_a_decaying_mode() {
        let found = modes(&system(&[9.0], &[0.0])).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].damping(), -1.0);
        assert_eq!(found[1].damping(), 1.0);
    }
}
