//! The sixth-order Hermite formula with variable step: the quintic through accelerations and jerks at t₋₁, t₀ and t₁.
//!
//! ```text
//!   s = (t − t₀)/h,   r = h₀/h,   q̈(s) = Σ_i N_i(s) x_i,   x = (q̈₋₁, h j₋₁, q̈₀, h j₀, q̈₁, h j₁),   knots −r, −r, 0, 0, 1, 1
//!   v(s) = v₀ + h Σ_i x_i ∫₀ˢ N_i
//! ```
//!
//! The rotation follows from the rates at the three Gauss points by a Magnus expansion of sixth order (Blanes, Casas, Oteo, Ros
//! 2009), written for rates in body axes.

/// Smallest ratio of the last step to this one: with a shorter one the quintic extrapolates too far, and order four is taken.
pub const SMALLEST_RATIO: f64 = 0.3;
/// Gauss points on the step, ½ ∓ √15/10 and ½.
const GAUSS: [f64; 3] = [0.112_701_665_379_258_31, 0.5, 0.887_298_334_620_741_7];

/// Weights of the six data x for one ratio r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HermiteWeights {
    /// v₁ = v₀ + h Σ w x
    pub velocity: [f64; 6],
    /// Θ = h (v₀ + v₁)/2 + h² Σ w x, without rotation
    pub displacement: [f64; 6],
    /// v(s) = v₀ + h Σ w x at the Gauss points
    pub rates: [[f64; 6]; 3],
}

impl HermiteWeights {
    /// For r = h₀/h.
    pub fn new(r: f64) -> Self {
        let knots = [-r, -r, 0.0, 0.0, 1.0, 1.0];
        let mut weights = Self {
            velocity: [0.0; 6],
            displacement: [0.0; 6],
            rates: [[0.0; 6]; 3],
        };
        for i in 0..6 {
            let n = basis(&knots, i);
            let velocity = integral(&n, 1.0);
            weights.velocity[i] = velocity;
            weights.displacement[i] = double_integral(&n) - 0.5 * velocity;
            weights
                .rates
                .iter_mut()
                .zip(GAUSS)
                .for_each(|(w, c)| w[i] = integral(&n, c));
        }
        weights
    }
}

/// Coefficients of the polynomial N_i, lowest first: divided differences of the unit datum i, then expansion about zero.
fn basis(knots: &[f64; 6], i: usize) -> [f64; 6] {
    // Column k holds the differences of order k; equal knots take the derivative.
    let value = |k: usize| {
        if i.is_multiple_of(2) && k / 2 == i / 2 {
            1.0
        } else {
            0.0
        }
    };
    let mut d: [f64; 6] = [0, 1, 2, 3, 4, 5].map(value);
    let mut newton = [d[0], 0.0, 0.0, 0.0, 0.0, 0.0];
    for order in 1..6 {
        for k in 0..6 - order {
            d[k] = if knots[k] == knots[k + order] {
                if i == k + 1 { 1.0 } else { 0.0 }
            } else {
                (d[k + 1] - d[k]) / (knots[k + order] - knots[k])
            };
        }
        newton[order] = d[0];
    }
    let mut c = [0.0; 6];
    for order in (0..6).rev() {
        // c ← c (s − knot) + newton
        for k in (1..6).rev() {
            c[k] = c[k - 1] - knots[order] * c[k];
        }
        c[0] = newton[order] - knots[order] * c[0];
    }
    c
}

/// ∫₀ˢ N
fn integral(n: &[f64; 6], s: f64) -> f64 {
    (0..6)
        .rev()
        .fold(0.0, |sum, k| s * (n[k] / (k + 1) as f64 + sum))
}

/// ∫₀¹ ∫₀ˢ N
fn double_integral(n: &[f64; 6]) -> f64 {
    (0..6).fold(0.0, |sum, k| sum + n[k] / ((k + 1) * (k + 2)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed forms, derived by computer algebra.
    fn closed_velocity(r: f64) -> [f64; 6] {
        let (r2, r3, p) = (r * r, r * r * r, r + 1.0);
        [
            (5.0 * r2 + 5.0 * r + 1.0) / (30.0 * r3 * p.powi(3)),
            (2.0 * r + 1.0) / (60.0 * r2 * p * p),
            (15.0 * r3 + 4.0 * r2 - 2.0 * r - 1.0) / (30.0 * r3),
            (5.0 * r2 + 4.0 * r + 1.0) / (60.0 * r2),
            (15.0 * r3 + 41.0 * r2 + 35.0 * r + 10.0) / (30.0 * p.powi(3)),
            -(5.0 * r2 + 6.0 * r + 2.0) / (60.0 * p * p),
        ]
    }

    #[test]
    fn the_weights_are_those_of_the_closed_forms() {
        for r in [0.3, 0.5, 1.0, 1.7, 10.0] {
            let found = HermiteWeights::new(r).velocity;
            for (a, b) in found.iter().zip(closed_velocity(r)) {
                // Differences over a knot distance of 0.3 lose some digits.
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{r}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_motion_of_degree_seven_is_exact() {
        // a = s⁵ from t₋₁ = −r: x = (−r⁵, 5 r⁴, 0, 0, 1, 5), v₁ = 1/6, Θ = 1/42 with h = 1 and v₀ = 0.
        for r in [0.4_f64, 1.0, 3.0] {
            let w = HermiteWeights::new(r);
            let x = [-r.powi(5), 5.0 * r.powi(4), 0.0, 0.0, 1.0, 5.0];
            let sum = |w: &[f64; 6]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            let rounding = 1e-13 * (1.0 + r.powi(5));
            assert!((sum(&w.velocity) - 1.0 / 6.0).abs() < rounding);
            assert!((sum(&w.displacement) + 1.0 / 12.0 - 1.0 / 42.0).abs() < rounding);
            for (w, c) in w.rates.iter().zip(GAUSS) {
                assert!((sum(w) - c.powi(6) / 6.0).abs() < rounding);
            }
        }
    }
}
