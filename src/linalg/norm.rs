//! Weighted norms.

/// Weighted root mean square, √(mean (e_i / scale_i)²): the error norm of systems that are not made of bodies.
pub fn weighted_rms(e: &[f64], scale: &[f64]) -> f64 {
    if e.is_empty() {
        return 0.0;
    }
    let sum: f64 = e.iter().zip(scale).map(|(e, s)| (e / s) * (e / s)).sum();
    (sum / e.len() as f64).sqrt()
}

/// Maximum norm max |x_i|; NaN if any entry is NaN.
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, &v| {
        if v.is_nan() || m.is_nan() {
            f64::NAN
        } else {
            m.max(v.abs())
        }
    })
}
