//! The function in the inverse tangent operators of rotations and motions:
//!
//! ```text
//!   c(s) = (1 − (a/2) cot(a/2)) / a²,      s = a²,      c = Σ 2 ζ(2k) / (2π)²ᵏ sᵏ⁻¹,  k = 1, 2, ..
//! ```

use crate::formulation::force::dual::Scalar;
use crate::linalg::elementary::tan;

/// |B₂ₖ|/(2k)! for k = 1 .. 12. At s = 1 the next term is 1/39.5¹² of the first, below rounding.
const SERIES: [f64; 12] = [
    1.0 / 12.0,
    1.0 / 720.0,
    1.0 / 30_240.0,
    1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    3_617.0 / 10_670_622_842_880_000.0,
    43_867.0 / 5_109_094_217_170_944_000.0,
    174_611.0 / 802_857_662_698_291_200_000.0,
    77_683.0 / 14_101_100_039_391_805_440_000.0,
    236_364_091.0 / 1_693_824_136_731_743_669_452_800_000.0,
];

/// c, c' and c'' at s = a², |a| < 2π.
pub(super) fn cotangent_factor(s: f64) -> [f64; 3] {
    if s < 1.0 {
        let (mut c, mut first, mut second) = (0.0, 0.0, 0.0);
        for coefficient in SERIES.iter().rev() {
            second = second * s + 2.0 * first;
            first = first * s + c;
            c = c * s + coefficient;
        }
        return [c, first, second];
    }
    let a = s.sqrt();
    let cot = 1.0 / tan(0.5 * a);
    let square = 1.0 + cot * cot;
    [
        1.0 / s - 0.5 * cot / a,
        -1.0 / (s * s) + cot / (4.0 * a * s) + square / (8.0 * s),
        2.0 / (s * s * s)
            - 3.0 * cot / (8.0 * s * s * a)
            - 3.0 * square / (16.0 * s * s)
            - cot * square / (16.0 * a * s),
    ]
}

/// c and c' with their derivatives.
pub(super) fn cotangent_factors<T: Scalar>(s: T) -> [T; 2] {
    let [c, first, second] = cotangent_factor(s.value());
    [s.chain(c, first), s.chain(first, second)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_and_closed_form_meet_and_derivatives_are_derivatives() {
        let [below, above] = [1.0 - 1e-12, 1.0 + 1e-12].map(cotangent_factor);
        for (k, tolerance) in [1e-13, 1e-11, 1e-9].into_iter().enumerate() {
            // The closed form loses 1, 3 and 5 digits there.
            assert!((below[k] / above[k] - 1.0).abs() < tolerance, "{k}");
        }
        for s in [0.0, 0.3, 0.9, 1.5, 4.0, 9.0, 25.0] {
            // Central differences with e = 1e-4: truncation 1e-8 of the next derivatives, which are of the size of the value.
            let e = 1e-4;
            let [low, high] = [s - e, s + e].map(cotangent_factor);
            let here = cotangent_factor(s);
            for k in 0..2 {
                let slope = (high[k] - low[k]) / (2.0 * e);
                assert!(
                    (slope - here[k + 1]).abs() < 1e-7 * here[k + 1].abs().max(1e-3),
                    "{s} {k}"
                );
            }
        }
        assert!(
            (cotangent_factor(std::f64::consts::PI.powi(2))[0] * std::f64::consts::PI.powi(2)
                - 1.0)
                .abs()
                < 1e-14
        );
    }
}
