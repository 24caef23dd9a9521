//! Hermite polynomials on the ends of a step, as functions of the fraction s of it.

/// Cubic with values `x` and scaled slopes `d` at 0 and 1.
pub(super) fn hermite3(s: f64, x: [f64; 2], d: [f64; 2]) -> f64 {
    let r = 1.0 - s;
    x[0] * r * r * (1.0 + 2.0 * s) + d[0] * s * r * r + x[1] * s * s * (3.0 - 2.0 * s)
        - d[1] * s * s * r
}

/// Slope of the cubic that rises by `x` and has the scaled slopes `d` at 0 and 1.
pub(super) fn hermite3_slope(s: f64, x: f64, d: [f64; 2]) -> f64 {
    let (c2, c3) = (3.0 * x - 2.0 * d[0] - d[1], d[0] + d[1] - 2.0 * x);
    d[0] + s * (2.0 * c2 + s * 3.0 * c3)
}

/// Quintic with values 0 and `x`, scaled slopes `d` and second derivatives `dd` at 0 and 1: value, slope, second and third
/// derivative at `s`.
pub(super) fn hermite5(s: f64, x: f64, d: [f64; 2], dd: [f64; 2]) -> [f64; 4] {
    let (c1, c2) = (d[0], 0.5 * dd[0]);
    // Value, slope and second derivative at 1 that s³, s⁴, s⁵ add to the Taylor polynomial of the start.
    let (a, b, c) = (x - c1 - c2, d[1] - c1 - 2.0 * c2, dd[1] - 2.0 * c2);
    let c3 = 10.0 * a - 4.0 * b + 0.5 * c;
    let c4 = -15.0 * a + 7.0 * b - c;
    let c5 = 6.0 * a - 3.0 * b + 0.5 * c;
    [
        s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
        c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
        2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
        6.0 * c3 + s * (24.0 * c4 + s * 60.0 * c5),
    ]
}
