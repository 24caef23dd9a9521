//! The inverse of the normal distribution function.
//!
//! ```text
//!   Φ(x) = u:   Halley's iteration on  Φ(x) − u,  from a rational start
//! ```

use crate::linalg::elementary::{exp, ln};

/// x with Φ(x) = u, 0 < u < 1, to a few units of the last place.
pub fn inverse_normal(u: f64) -> f64 {
    if u == 0.5 {
        return 0.0;
    }
    // The smaller tail, where u is known to its own last place.
    let (tail, sign) = if u < 0.5 { (u, -1.0) } else { (1.0 - u, 1.0) };
    // Start: Abramowitz and Stegun 26.2.23, error below 4.5e-4.
    let t = (-2.0 * ln(tail)).sqrt();
    let mut x = t
        - (2.515517 + t * (0.802853 + t * 0.010328))
            / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for _ in 0..3 {
        // Q(x) − tail over the density, and Halley's correction with the density's logarithmic derivative −x.
        let step = (upper_tail(x) - tail) / density(x);
        x += step / (1.0 - 0.5 * x * step);
    }
    sign * x
}

fn density(x: f64) -> f64 {
    exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt()
}

/// Q(x) = 1 − Φ(x) for x >= 0: the series of the integral from 0 where it is short, else the continued fraction.
fn upper_tail(x: f64) -> f64 {
    if x < 3.0 {
        // ∫₀ˣ φ = φ(x) Σ x^(2k+1) / (1·3·5···(2k+1))
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term > 1e-17 * sum {
            k += 2.0;
            term *= x * x / k;
            sum += term;
        }
        return 0.5 - density(x) * sum;
    }
    // Q = φ / (x + 1/(x + 2/(x + 3/(x + ...)))), from the inside; a hundred parts give the last place for x >= 3.
    let mut fraction = x;
    for k in (1..=100).rev() {
        fraction = x + f64::from(k) / fraction;
    }
    density(x) / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of quantiles to 16 digits.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (u, x) in [
            (0.5, 0.0),
            (0.75, 0.6744897501960817),
            (0.841344746068543, 1.0),
            (0.975, 1.959963984540054),
            (0.999, 3.090232306167813),
            (1e-6, -4.753424308822899),
            (1e-12, -7.034483825301132),
            (1e-300, -37.0471),
        ] {
            let found = inverse_normal(u);
            // The last one is known to six digits; 1 − u rounds to 1e-16, which the quantile magnifies by 1/φ(x).
            let bound = if u == 1e-300 { 1e-4 } else { 3e-13 };
            assert!((found - x).abs() < bound, "{u}: {found} {x}");
        }
        for k in 1..2000 {
            let u = f64::from(k) / 2000.0;
            // 1 − u is rounded to 1.1e-16, which 1/φ magnifies: 600 at the ends.
            let mirrored = -inverse_normal(1.0 - u);
            assert!((inverse_normal(u) - mirrored).abs() < 1e-13, "{u}");
            let back = upper_tail(inverse_normal(u).abs());
            // Cancellation in 0.5 − series near the tails of the series' range.
            assert!((back - u.min(1.0 - u)).abs() < 1e-15, "{u} {back}");
        }
    }
}
