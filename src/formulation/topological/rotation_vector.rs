//! Rotation vectors of joints in loops: q = base ∘ exp(ρ). Any of the three coordinates of ρ may be independent; the base is reset (ρ = 0)
//! before ρ becomes large.
//!
//! ```text
//!   ω = T(ρ) ρ̇,     α = T(ρ) ρ̈ + (T_ρ ρ̇) ρ̇,      T = 1 − a₁ ρ~ + a₂ ρ~²
//! ```

use crate::linalg::elementary::sin_cos;
use crate::linalg::rotation::{self, Vec3};

/// A rotation of a joint in a loop.
#[derive(Clone, Copy, Debug)]
pub struct RotationInLoop {
    /// Index of its quaternion among the stored joint coordinates.
    pub stored: usize,
    /// Index of its first tangent coordinate.
    pub moved: usize,
    /// Index of its first loop coordinate.
    pub looped: usize,
}

/// Returns a₁ = (1 − cos a)/a², a₂ = (a − sin a)/a³, and their derivatives with respect to a².
fn factors(square: f64) -> [f64; 4] {
    let s = square;
    if s < 1e-2 {
        // Series: the neglected terms are below 1e-17.
        [
            0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s / 40320.0)),
            1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362_880.0)),
            -1.0 / 24.0 + s * (1.0 / 360.0 - s * (1.0 / 13440.0 - s / 907_200.0)),
            -1.0 / 120.0 + s * (1.0 / 2520.0 - s * (1.0 / 120_960.0 - s / 9_979_200.0)),
        ]
    } else {
        let a = s.sqrt();
        let (sin, cos) = sin_cos(a);
        let (one, two) = ((1.0 - cos) / s, (a - sin) / (s * a));
        [
            one,
            two,
            (0.5 * sin / a - one) / s,
            (0.5 * (1.0 - cos) / s - 1.5 * two) / s,
        ]
    }
}

/// Returns (T_ρ u) u, the bias of α besides T ρ̈ for ρ̇ = u.
pub fn bias(rho: &Vec3, u: &Vec3) -> Vec3 {
    let [_, two, one_s, two_s] = factors(rho.norm_squared());
    let grows = 2.0 * rho.dot(u);
    let across = rho.cross(u);
    -one_s * grows * across + two_s * grows * rho.cross(&across) + two * u.cross(&across)
}

/// A rotation vector with its first two derivatives.
pub type RotationMotion = [Vec3; 3];

/// Returns ω and α of a rotation vector with its derivatives.
fn rates([rho, u, n]: &RotationMotion) -> [Vec3; 2] {
    let t = rotation::tangent(rho);
    [t * u, t * n + bias(rho, u)]
}

/// Step of the difference: truncation e⁴ and rounding 1e-16/e are both below 1e-11 of the velocities.
const WIDTH: f64 = 1e-3;

/// Returns the derivatives of ω, α and Tᵀ f along `by` at constant f.
pub fn varied(at: &RotationMotion, by: &RotationMotion, f: &Vec3) -> [Vec3; 3] {
    let mut out = [Vec3::zeros(); 3];
    for (k, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
        let there: RotationMotion = std::array::from_fn(|i| at[i] + k * WIDTH * by[i]);
        let [omega, alpha] = rates(&there);
        let pulled = rotation::tangent(&there[0]).tr_mul(f);
        let weight = weight / (12.0 * WIDTH);
        for (out, x) in out.iter_mut().zip([omega, alpha, pulled]) {
            *out += weight * x;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_agree_with_differences_of_the_rotation() {
        for size in [0.0, 1e-3, 0.0999, 0.1001, 0.8, 2.5] {
            let rho = size * Vec3::new(0.48, -0.6, 0.64);
            let (u, n) = (Vec3::new(0.3, 0.9, -0.4), Vec3::new(-0.7, 0.2, 0.5));
            let at = |s: f64| rho + s * u + 0.5 * s * s * n;
            let rate = |s: f64| rotation::tangent(&at(s)) * (u + s * n);
            let e = 1e-3;
            let slope =
                (8.0 * (rate(e) - rate(-e)) - (rate(2.0 * e) - rate(-2.0 * e))) / (12.0 * e);
            let [omega, alpha] = rates(&[rho, u, n]);
            // Truncation e⁴ = 1e-12, rounding 1e-16/e.
            assert!((omega - rate(0.0)).norm() < 1e-15);
            assert!((alpha - slope).norm() < 2e-11, "{size}: {alpha} {slope}");
        }
    }
}
