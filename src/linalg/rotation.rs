//! Rotations as unit quaternions (w, x, y, z): exponential, logarithm and tangent map.
//!
//! ```text
//!   exp(φ) = (cos a/2, sin(a/2) φ/a),   a = |φ|
//!   ω = T(φ) φ̇,   T = I − (1 − cos a)/a² φ~ + (a − sin a)/a³ φ~²,   T⁻¹ = I + ½ φ~ + (1 − (a/2) cot(a/2))/a² φ~²
//! ```
//!
//! with ω in body axes and φ~ the skew-symmetric matrix of φ.

use crate::linalg::elementary::{atan2, cos, sin, tan};
use nalgebra::{Matrix3, Vector3};

/// A spatial vector.
pub type Vec3 = Vector3<f64>;
/// A 3 x 3 matrix.
pub type Mat3 = Matrix3<f64>;
/// Quaternion (w, x, y, z).
pub type Quaternion = [f64; 4];

/// Skew-symmetric matrix x~ with x~ y = x × y.
#[inline]
pub fn cross(x: &Vec3) -> Mat3 {
    Mat3::new(0.0, -x.z, x.y, x.z, 0.0, -x.x, -x.y, x.x, 0.0)
}

/// Product p q: rotation q followed by p.
#[inline]
pub fn product(p: &Quaternion, q: &Quaternion) -> Quaternion {
    let [a, b, c, d] = *p;
    let [w, x, y, z] = *q;
    [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
}

/// Conjugate, the inverse of a unit quaternion.
#[inline]
pub fn conjugate(q: &Quaternion) -> Quaternion {
    [q[0], -q[1], -q[2], -q[3]]
}

/// q / |q|. The zero quaternion becomes NaN, which the integrator rejects.
#[inline]
pub fn normalized(q: &Quaternion) -> Quaternion {
    let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    q.map(|x| x / length)
}

/// Rotation matrix of a unit quaternion, from body axes to ground axes.
#[inline]
pub fn matrix(q: &Quaternion) -> Mat3 {
    let [w, x, y, z] = *q;
    Mat3::new(
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
}

/// exp(φ), the quaternion of the rotation vector φ.
#[inline]
pub fn exp(phi: &Vec3) -> Quaternion {
    let a = phi.norm();
    // sin(a/2)/a: the next term of the series, a⁴/3840, is below rounding.
    let s = if a < 1e-3 {
        0.5 - a * a / 48.0
    } else {
        sin(0.5 * a) / a
    };
    [cos(0.5 * a), s * phi.x, s * phi.y, s * phi.z]
}

/// Rotation vector φ with exp(φ) = q and |φ| ≤ π.
#[inline]
pub fn log(q: &Quaternion) -> Vec3 {
    let v = Vec3::new(q[1], q[2], q[3]);
    let (s, w) = if q[0] < 0.0 {
        (-1.0, -q[0])
    } else {
        (1.0, q[0])
    };
    let sine = v.norm();
    // a/sin(a/2) with a = 2 atan2(sine, w): 2 (1 + sine²/6); the next term, 3 sine⁴/40, is below rounding.
    let factor = if sine < 1e-4 {
        2.0 * (1.0 + sine * sine / 6.0)
    } else {
        2.0 * atan2(sine, w) / sine
    };
    s * factor * v
}

/// T(φ)⁻¹, from the angular velocity to the rate of the rotation vector.
#[inline]
pub fn tangent_inverse(phi: &Vec3) -> Mat3 {
    let a2 = phi.norm_squared();
    let factor = if a2 < 1e-2 {
        // 1/12 + a²/720 + a⁴/30240 + a⁶/1209600: the next term is below 1e-16.
        1.0 / 12.0 + a2 * (1.0 / 720.0 + a2 * (1.0 / 30240.0 + a2 / 1_209_600.0))
    } else {
        let half = 0.5 * a2.sqrt();
        (1.0 - half / tan(half)) / a2
    };
    let c = cross(phi);
    Mat3::identity() + 0.5 * c + factor * c * c
}

/// T(φ), from the rate of the rotation vector to the angular velocity in body axes.
pub fn tangent(phi: &Vec3) -> Mat3 {
    let a2 = phi.norm_squared();
    let (one, two) = if a2 < 1e-2 {
        (
            0.5 - a2 * (1.0 / 24.0 - a2 * (1.0 / 720.0 - a2 / 40320.0)),
            1.0 / 6.0 - a2 * (1.0 / 120.0 - a2 * (1.0 / 5040.0 - a2 / 362_880.0)),
        )
    } else {
        let a = a2.sqrt();
        ((1.0 - cos(a)) / a2, (a - sin(a)) / (a2 * a))
    };
    let c = cross(phi);
    Mat3::identity() - one * c + two * c * c
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation_vectors() -> Vec<Vec3> {
        let mut all = vec![Vec3::zeros()];
        for a in [1e-9, 1e-4, 9.9e-4, 1.1e-3, 0.099, 0.101, 0.5, 2.0, 3.1] {
            all.push(a * Vec3::new(0.48, -0.6, 0.64));
        }
        all
    }

    #[test]
    fn the_logarithm_inverts_the_exponential() {
        for phi in rotation_vectors() {
            assert!((log(&exp(&phi)) - phi).norm() < 1e-14, "{phi}");
            let length: f64 = exp(&phi).iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-15);
            let negative = exp(&phi).map(|x| -x);
            assert!(
                (log(&negative) - phi).norm() < 1e-14,
                "q and −q are the same rotation"
            );
        }
    }

    #[test]
    fn quaternion_products_are_products_of_rotation_matrices() {
        for a in rotation_vectors() {
            for b in rotation_vectors() {
                let b = Vec3::new(b.y, b.z, -b.x);
                let (p, q) = (exp(&a), exp(&b));
                let both = matrix(&product(&p, &q));
                assert!((both - matrix(&p) * matrix(&q)).norm() < 1e-15 * 10.0);
                assert!((matrix(&conjugate(&p)) - matrix(&p).transpose()).norm() < 1e-15);
            }
        }
    }

    #[test]
    fn the_tangent_map_is_the_derivative_of_the_exponential_and_has_its_inverse() {
        // ω = T φ̇: the rotation from exp(φ − e x) to exp(φ + e x) over 2 e; truncation e² = 1e-8, rounding 1e-16/e.
        let e = 1e-4;
        for phi in rotation_vectors() {
            let x = Vec3::new(0.3, 0.9, -0.4);
            let step = product(&conjugate(&exp(&(phi - e * x))), &exp(&(phi + e * x)));
            let omega = log(&step) / (2.0 * e);
            assert!((tangent(&phi) * x - omega).norm() < 1e-8, "{phi}");
            let both = tangent(&phi) * tangent_inverse(&phi);
            assert!((both - Mat3::identity()).norm() < 1e-13, "{phi}");
        }
    }
}
