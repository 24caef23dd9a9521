//! Growth of the methods on linear problems, step by step: amplification matrices, their roots and spectral radius.
//!
//! ```text
//!   M z'' + C z' + K z = 0,    one step of size h:   y₁ = A y₀,    ρ = max |eigenvalues of A|
//!   oscillator   M = 1, C = 2ξω, K = ω²;   W = ωh is all that counts
//!   DAE (4)      M = diag(1, 0), K = [[a, −b], [−b, 0]]: the second unknown is a multiplier
//! ```
//!
//! y = (z, h z') for SS22, (z, h z', h² z'') for SS32 and HHT. Time is measured in steps: C stands for hC, K for h²K.

use nalgebra::{Complex, DMatrix};

use super::Hht;
use super::vsa23::Vsa23Coefficients;

/// A method with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StabilityScheme {
    /// Hilber-Hughes-Taylor.
    Hht(Hht),
    /// Quadratic: φ₁, φ₂, φ₃.
    Ss22([f64; 3]),
    /// Cubic: ψ₁ .. ψ₆.
    Ss32([f64; 6]),
}

impl StabilityScheme {
    /// Quadratic scheme with the moments θ₁, θ₂.
    pub fn ss22(theta1: f64, theta2: f64) -> Self {
        Self::Ss22([theta1, theta1, theta2 / 2.0])
    }

    /// Cubic scheme with the moments T₁, T₂, T₃.
    pub fn ss32(t1: f64, t2: f64, t3: f64) -> Self {
        Self::Ss32(Vsa23Coefficients::from_moments([t1, t2], [t1, t2, t3]).psi)
    }

    /// A for the blocks M, hC, h²K. The matrix of the implicit equations must be regular.
    pub fn amplification(
        &self,
        m: &DMatrix<f64>,
        c: &DMatrix<f64>,
        k: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let n = m.nrows();
        let one = DMatrix::identity(n, n);
        let zero = DMatrix::zeros(n, n);
        let solve = |left: DMatrix<f64>, right: DMatrix<f64>| {
            left.lu()
                .solve(&right)
                .expect("the matrix of the implicit equations is regular")
        };
        match *self {
            Self::Ss22([p1, p2, p3]) => {
                // a = X y
                let right = blocks(&[&[&-k, &(-c - k * p1)]]);
                let x = solve(m + c * p2 + k * p3, right);
                let free = blocks(&[&[&one, &one], &[&zero, &one]]);
                let push = blocks(&[&[&(&one * 0.5)], &[&one]]);
                free + push * x
            }
            Self::Ss32([p1, p2, p3, p4, p5, p6]) => {
                let right = blocks(&[&[&-k, &(-c - k * p1), &(-m - c * p3 - k * p2)]]);
                let x = solve(m * p4 + c * p5 + k * p6, right);
                let free = blocks(&[
                    &[&one, &one, &(&one * 0.5)],
                    &[&zero, &one, &one],
                    &[&zero, &zero, &one],
                ]);
                let push = blocks(&[&[&(&one / 6.0)], &[&(&one * 0.5)], &[&one]]);
                free + push * x
            }
            Self::Hht(Hht {
                alpha, beta, gamma, ..
            }) => {
                // M a₁ + (1−α)(C v₁ + K z₁) + α (C v₀ + K z₀) = 0 with a₁ = a₀ + x.
                let w = 1.0 - alpha;
                let right = blocks(&[&[&-k, &(-c - k * w), &(-m - c * w - k * (0.5 * w))]]);
                let x = solve(m + c * (w * gamma) + k * (w * beta), right);
                let free = blocks(&[
                    &[&one, &one, &(&one * 0.5)],
                    &[&zero, &one, &one],
                    &[&zero, &zero, &one],
                ]);
                let push = blocks(&[&[&(&one * beta)], &[&(&one * gamma)], &[&one]]);
                free + push * x
            }
        }
    }

    /// A for the oscillator with W = ωh and damping ratio ξ.
    pub fn oscillator(&self, w: f64, xi: f64) -> DMatrix<f64> {
        let one = |x: f64| DMatrix::from_element(1, 1, x);
        self.amplification(&one(1.0), &one(2.0 * xi * w), &one(w * w))
    }

    /// A for the linear test DAE (4), with h²a and h²b.
    pub fn constrained(&self, a: f64, b: f64) -> DMatrix<f64> {
        let m = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 0.0]);
        let k = DMatrix::from_row_slice(2, 2, &[a, -b, -b, 0.0]);
        self.amplification(&m, &DMatrix::zeros(2, 2), &k)
    }
}

/// Eigenvalues, largest first.
pub fn roots(a: &DMatrix<f64>) -> Vec<Complex<f64>> {
    let mut roots: Vec<Complex<f64>> = a.complex_eigenvalues().iter().copied().collect();
    roots.sort_by(|x, y| y.norm_sqr().total_cmp(&x.norm_sqr()));
    roots
}

/// Largest modulus of the eigenvalues.
pub fn spectral_radius(a: &DMatrix<f64>) -> f64 {
    roots(a).first().map_or(0.0, |z| z.norm_sqr().sqrt())
}

/// The spectral radius over a range of W = ωh for a damping ratio ξ: (W, ρ), `n` points evenly spaced in log W.
pub fn over_frequency(
    scheme: &StabilityScheme,
    xi: f64,
    (from, to): (f64, f64),
    n: usize,
) -> Vec<(f64, f64)> {
    let ratio = (to / from).ln() / (n.max(2) - 1) as f64;
    (0..n)
        .map(|i| {
            let w = from * (ratio * i as f64).exp();
            (w, spectral_radius(&scheme.oscillator(w, xi)))
        })
        .collect()
}

/// Hurwitz determinants of A's characteristic polynomial after z = (1 + s)/(1 − s), each over its largest coefficient: no
/// root lies outside the unit circle if none of them is negative. For 2 x 2 and 3 x 3 matrices.
pub fn hurwitz(a: &DMatrix<f64>) -> Vec<f64> {
    let trace = a.trace();
    let minors = 0.5 * (trace * trace - (a * a).trace());
    let mut c = match a.nrows() {
        // z² + p z + q
        2 => {
            let (p, q) = (-trace, minors);
            vec![1.0 - p + q, 2.0 - 2.0 * q, 1.0 + p + q]
        }
        // z³ + p z² + q z + r
        3 => {
            let (p, q, r) = (-trace, minors, -a.determinant());
            vec![
                1.0 - p + q - r,
                3.0 - p - q + 3.0 * r,
                3.0 + p - q - 3.0 * r,
                1.0 + p + q + r,
            ]
        }
        n => panic!("Hurwitz determinants of a {n} x {n} matrix are not written down"),
    };
    let largest = c.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for x in &mut c {
        *x /= largest;
    }
    if let [c3, c2, c1, c0] = c[..] {
        c.push(c1 * c2 - c0 * c3);
    }
    c
}

fn blocks(rows: &[&[&DMatrix<f64>]]) -> DMatrix<f64> {
    let n = rows[0][0].nrows();
    let mut out = DMatrix::zeros(n * rows.len(), n * rows[0].len());
    for (i, row) in rows.iter().enumerate() {
        for (j, block) in row.iter().enumerate() {
            out.view_mut((i * n, j * n), (n, n)).copy_from(block);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W from very slow to very fast.
    fn scan() -> impl Iterator<Item = f64> {
        (-12..=24).map(|i| 10f64.powf(0.25 * f64::from(i)))
    }

    /// The largest ρ − 1 over the scan.
    fn growth(scheme: &StabilityScheme) -> f64 {
        scan()
            .map(|w| spectral_radius(&scheme.oscillator(w, 0.0)) - 1.0)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// The smallest Hurwitz determinant over W: negative where some motion grows.
    fn margin(scheme: &StabilityScheme) -> f64 {
        scan()
            .filter(|w| *w >= 1.0)
            .flat_map(|w| hurwitz(&scheme.oscillator(w, 0.0)))
            .fold(f64::INFINITY, f64::min)
    }

    /// Where a scheme of one number ceases to be stable, between a stable and an unstable value.
    fn limit(mut stable: f64, mut unstable: f64, scheme: impl Fn(f64) -> StabilityScheme) -> f64 {
        // Determinants are of order one and linear in the number sought; rounding of the matrices is 1e-15.
        let holds = |x: f64| margin(&scheme(x)) >= -2e-14;
        assert!(holds(stable) && !holds(unstable));
        while (stable - unstable).abs() > 1e-12 {
            let middle = 0.5 * (stable + unstable);
            if holds(middle) {
                stable = middle;
            } else {
                unstable = middle;
            }
        }
        stable
    }

    #[test]
    fn ss22_is_stable_from_theta_2_equal_to_theta_1_upwards() {
        for theta1 in [0.5, 2.0 / 3.0, Vsa23Coefficients::common().phi[0]] {
            let found = limit(theta1 + 1.0, theta1 - 0.3, |x| {
                StabilityScheme::ss22(theta1, x)
            });
            assert!((found - theta1).abs() < 1e-10, "{theta1}: {found}");
        }
        let found = limit(1.0, 0.2, |x| StabilityScheme::ss22(x, 1.5));
        assert!((found - 0.5).abs() < 1e-10, "{found}");
    }

    #[test]
    fn ss32_is_stable_between_its_limits() {
        // theory: section 2 of the notes.
        for (t1, t2) in [(1.0, 4.0 / 3.0), (1.2, 1.6), (0.8, 1.1)] {
            let low = (6.0 * t2 - 1.0) / 4.0;
            let high = 3.0 * t1 * t2 - 3.0 * t1 * t1 + t1;
            let middle = 0.5 * (low + high);
            let scheme = |x| StabilityScheme::ss32(t1, t2, x);
            let found = limit(middle, low - 0.5, scheme);
            assert!((found - low).abs() < 1e-10, "{t1} {t2}: {found} {low}");
            let found = limit(middle, high + 0.5, scheme);
            assert!((found - high).abs() < 1e-10, "{t1} {t2}: {found} {high}");
        }
    }

    #[test]
    fn both_sets_are_stable_and_the_printed_digits_are_not() {
        for set in [Vsa23Coefficients::common(), Vsa23Coefficients::original()] {
            for scheme in [
                StabilityScheme::Ss22(set.phi),
                StabilityScheme::Ss32(set.psi),
            ] {
                let growth = growth(&scheme);
                println!("{scheme:?}: {growth:e}");
                assert!(growth < 1e-12, "{scheme:?}: {growth:e}");
            }
        }
        let printed = StabilityScheme::Ss32([1.1455, 0.6561, 1.1455, 1.1455, 0.6561, 0.2864]);
        let growth = spectral_radius(&printed.oscillator(1e6, 0.0)) - 1.0;
        println!("printed digits: {growth:e}");
        assert!((growth / 2.8e-5 - 1.0).abs() < 0.05, "{growth:e}");
    }

    #[test]
    fn the_common_set_does_not_damp_at_infinity() {
        let set = Vsa23Coefficients::common();
        for scheme in [
            StabilityScheme::Ss22(set.phi),
            StabilityScheme::Ss32(set.psi),
        ] {
            let rho = spectral_radius(&scheme.oscillator(1e7, 0.0));
            assert!((rho - 1.0).abs() < 1e-7, "{scheme:?}: {rho}");
        }
    }

    #[test]
    fn the_roots_of_hht_at_infinity_are_known() {
        for alpha in [0.05, 0.1, 0.3] {
            let a = StabilityScheme::Hht(Hht::new(alpha)).oscillator(1e9, 0.0);
            let (double, single) = (-(1.0 - alpha) / (1.0 + alpha), -alpha / (1.0 - alpha));
            // A double root splits by the square root of rounding; its sum and product do not.
            let trace = a.trace();
            assert!((trace - 2.0 * double - single).abs() < 1e-12, "{trace}");
            let product = a.determinant();
            assert!(
                (product - double * double * single).abs() < 1e-12,
                "{product}"
            );
            let roots = roots(&a);
            for (found, exact) in roots.iter().zip([double, double, single]) {
                assert!(
                    (found.re - exact).hypot(found.im) < 1e-6,
                    "{alpha}: {roots:?}"
                );
            }
        }
    }

    #[test]
    fn hht_follows_a_slow_oscillation_without_growing() {
        for alpha in [0.0, 0.1, 1.0 / 3.0] {
            let scheme = StabilityScheme::Hht(Hht::new(alpha));
            assert!(growth(&scheme) < 1e-12);
            let w = 0.01;
            let turn = roots(&scheme.oscillator(w, 0.0))[0].im.abs();
            // Second order: the angle is wrong by a part of w³.
            assert!((turn - w.sin()).abs() < 0.5 * w.powi(3), "{turn}");
        }
    }

    #[test]
    fn on_the_constrained_problem_the_multiplier_has_the_roots_of_infinite_frequency() {
        for alpha in [0.1, 0.3] {
            let a = StabilityScheme::Hht(Hht::new(alpha)).constrained(1.0, 1.0);
            let (double, single) = (-(1.0 - alpha) / (1.0 + alpha), -alpha / (1.0 - alpha));
            // q and λ both have them: each double root is fourfold, which splits by the fourth root of rounding.
            let sum = 2.0 * (2.0 * double + single);
            assert!((a.trace() - sum).abs() < 1e-12, "{}", a.trace());
            let rho = spectral_radius(&a);
            assert!((rho + double).abs() < 1e-3, "{alpha}: {rho}");
        }
    }
}
