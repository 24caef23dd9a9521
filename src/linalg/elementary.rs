//! Elementary functions: sine, exponential, power and the like. The only place that computes them.
//!
//! The standard library of Rust hands these to the C library of the machine, whose last bit depends on its version and on the
//! processor (glibc chooses another code where there is a fused multiply-add). Here they come from the `libm` crate: the same code
//! in every build, so the same model gives the same bits on every machine. Square root, absolute value, rounding and `mul_add` are
//! exact by IEEE 754 and stay methods of `f64`; `powi` is a product.
//!
//! A test (`tests/house/elementary.rs`) keeps `f64::sin` and its kin out of the source, another (`tests/capi/symbols.rs`) out of the
//! symbols that the library needs.

use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3};

/// sin x.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// cos x.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// (sin x, cos x).
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// tan x.
#[inline]
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// Angle in [−π/2, π/2] whose sine is x.
#[inline]
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

/// Angle in [0, π] whose cosine is x.
#[inline]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Angle in [−π/2, π/2] whose tangent is x.
#[inline]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// Angle in [−π, π] of the point (x, y).
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// eˣ.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// 2ˣ.
#[inline]
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// Natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// ln(1 + x), accurate for small x.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Logarithm to base 2.
#[inline]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Logarithm to base 10.
#[inline]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// xʸ.
#[inline]
pub fn powf(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Hyperbolic tangent.
#[inline]
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// Cube root.
#[inline]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// √(x² + y²) without overflow on the way.
#[inline]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

/// Rotation by an angle about an axis.
pub fn rotation_about(axis: &Unit<Vector3<f64>>, angle: f64) -> UnitQuaternion<f64> {
    let (sin, cos) = sin_cos(0.5 * angle);
    UnitQuaternion::new_unchecked(Quaternion::from_parts(cos, axis.scale(sin)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    /// Distance in units of the last place of `expected`.
    fn places(value: f64, expected: f64) -> f64 {
        let unit = (expected.abs().next_up() - expected.abs()).max(f64::MIN_POSITIVE);
        (value - expected).abs() / unit
    }

    #[test]
    fn functions_agree_with_the_c_library_to_two_units_of_the_last_place() {
        // Both claim less than one unit.
        type Pair = (&'static str, fn(f64) -> f64, fn(f64) -> f64, f64, f64);
        let one: [Pair; 15] = [
            ("sin", sin, f64::sin, -1e4, 1e4),
            ("cos", cos, f64::cos, -1e4, 1e4),
            ("sin of both", |x| sin_cos(x).0, f64::sin, -10.0, 10.0),
            ("cos of both", |x| sin_cos(x).1, f64::cos, -10.0, 10.0),
            ("tan", tan, f64::tan, -10.0, 10.0),
            ("asin", asin, f64::asin, -1.0, 1.0),
            ("acos", acos, f64::acos, -1.0, 1.0),
            ("atan", atan, f64::atan, -20.0, 20.0),
            ("exp", exp, f64::exp, -300.0, 300.0),
            ("exp2", exp2, f64::exp2, -300.0, 300.0),
            ("ln", ln, f64::ln, 1e-3, 1e3),
            ("ln_1p", ln_1p, f64::ln_1p, -0.99, 10.0),
            ("log2", log2, f64::log2, 1e-3, 1e3),
            ("log10", log10, f64::log10, 1e-3, 1e3),
            ("cbrt", cbrt, f64::cbrt, -1e3, 1e3),
        ];
        let mut random = Random::new(3);
        for _ in 0..5000 {
            for (name, ours, theirs, low, high) in one {
                let x = random.between(low, high);
                assert!(places(ours(x), theirs(x)) <= 2.0, "{name} {x:e}");
            }
            let (x, y) = (random.between(-3.0, 3.0), random.between(-3.0, 3.0));
            assert!(places(tanh(x), x.tanh()) <= 3.0, "tanh {x:e}");
            assert!(places(atan2(y, x), y.atan2(x)) <= 2.0, "atan2 {y:e} {x:e}");
            assert!(places(hypot(x, y), x.hypot(y)) <= 1.0, "hypot {x:e} {y:e}");
            let power = powf(x.abs(), 30.0 * y);
            assert!(
                places(power, x.abs().powf(30.0 * y)) <= 2.0,
                "powf {x:e} {y:e}"
            );
        }
    }

    #[test]
    fn exact_values_are_exact() {
        for k in -300..=300 {
            let power: f64 = format!("1e{k}").parse().unwrap();
            assert_eq!(log10(power), f64::from(k));
            assert_eq!(log2(exp2(f64::from(k))), f64::from(k));
            assert_eq!(cbrt(f64::from(k).powi(3)), f64::from(k));
        }
        for k in 0..=22 {
            assert_eq!(powf(10.0, f64::from(k)), 10f64.powi(k));
        }
        assert_eq!((sin_cos(0.0), tan(0.0), exp(0.0)), ((0.0, 1.0), 0.0, 1.0));
        assert_eq!(
            (hypot(3.0, 4.0), atan2(0.0, -1.0)),
            (5.0, std::f64::consts::PI)
        );
        assert_eq!(hypot(1e200, f64::INFINITY), f64::INFINITY);
        assert!(sin(f64::INFINITY).is_nan() && ln(-1.0).is_nan() && powf(-1.0, 0.5).is_nan());
    }

    /// The bits themselves: what a build on any machine must give.
    #[test]
    fn the_bits_are_the_recorded_ones() {
        let mut random = Random::new(11);
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        for _ in 0..20_000 {
            let (x, y) = (random.between(-50.0, 50.0), random.between(-50.0, 50.0));
            let r = x.abs();
            let unit = x / 50.0;
            let values = [
                sin(x),
                cos(x),
                sin_cos(x).0,
                sin_cos(x).1,
                tan(x),
                asin(unit),
                acos(unit),
                atan(x),
                atan2(y, x),
                exp(x),
                exp2(x),
                ln(r),
                ln_1p(r),
                log2(r),
                log10(r),
                powf(r, y),
                tanh(x),
                cbrt(x),
                hypot(x, y),
            ];
            for value in values {
                sum = (sum ^ value.to_bits()).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        assert_eq!(sum, 1_458_065_691_935_522_323);
    }
}
