//! Functions of one number with two derivatives: what the model calls laws and tables.

use crate::model::Curve;

/// y, y', y''
pub type Jet = [f64; 3];

/// A function y(x), twice differentiable between its pieces.
#[derive(Clone, Debug)]
pub enum Function {
    /// c0 + c1 x + ..
    Polynomial(Vec<f64>),
    /// Through points.
    Spline(Spline),
    /// Polynomials by pieces: upper bound and coefficients.
    Pieces(Vec<(f64, Vec<f64>)>),
}

impl Function {
    /// From the model; a table becomes a natural spline that goes on straight beyond its ends.
    pub fn new(curve: &Curve) -> Self {
        match curve {
            Curve::Polynomial(c) => Self::Polynomial(c.clone()),
            Curve::Table(points) => Self::Spline(Spline::new(points, SplineEnds::Natural)),
            Curve::Pieces(pieces) => Self::Pieces(
                (pieces.iter())
                    .map(|piece| (piece.below, piece.polynomial.clone()))
                    .collect(),
            ),
        }
    }

    /// y, y', y'' at x.
    #[inline]
    pub fn at(&self, x: f64) -> Jet {
        match self {
            Self::Polynomial(c) => polynomial(c, x),
            Self::Spline(spline) => spline.at(x),
            Self::Pieces(pieces) => {
                let found = pieces.iter().find(|(below, _)| x < *below);
                match found.or(pieces.last()) {
                    Some((_, c)) => polynomial(c, x),
                    None => [0.0; 3],
                }
            }
        }
    }
}

/// A polynomial and two derivatives by Horner's rule.
#[inline]
pub fn polynomial(c: &[f64], x: f64) -> Jet {
    let (mut y, mut first, mut half_second) = (0.0, 0.0, 0.0);
    for c in c.iter().rev() {
        half_second = half_second * x + first;
        first = first * x + y;
        y = y * x + c;
    }
    [y, first, 2.0 * half_second]
}

/// What a spline does at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplineEnds {
    /// y'' = 0, straight beyond.
    Natural,
    /// y' = 0, constant beyond.
    Held,
    /// The table repeats itself.
    Periodic,
}

/// A cubic spline: y, y' and y'' continuous.
#[derive(Clone, Debug)]
pub struct Spline {
    x: Vec<f64>,
    y: Vec<f64>,
    /// y'' at the points.
    curvature: Vec<f64>,
    ends: SplineEnds,
}

impl Spline {
    /// Through points with rising x: at least two (periodic: three).
    pub fn new(points: &[[f64; 2]], ends: SplineEnds) -> Self {
        let x: Vec<f64> = points.iter().map(|p| p[0]).collect();
        let y: Vec<f64> = points.iter().map(|p| p[1]).collect();
        let curvature = curvature(&x, &y, ends);
        Self {
            x,
            y,
            curvature,
            ends,
        }
    }

    /// y, y', y'' at x.
    pub fn at(&self, x: f64) -> Jet {
        let last = self.x.len() - 1;
        let (begin, end) = (self.x[0], self.x[last]);
        let x = if self.ends == SplineEnds::Periodic {
            begin + (x - begin).rem_euclid(end - begin)
        } else {
            x
        };
        if x < begin || x > end {
            let (k, beyond) = if x < begin {
                (0, x - begin)
            } else {
                (last, x - end)
            };
            let slope = self.inside(k.min(last - 1), self.x[k])[1];
            return [self.y[k] + slope * beyond, slope, 0.0];
        }
        let k = self.x.partition_point(|p| *p <= x).clamp(1, last) - 1;
        self.inside(k, x)
    }

    /// In the interval from point k to k + 1.
    fn inside(&self, k: usize, x: f64) -> Jet {
        let h = self.x[k + 1] - self.x[k];
        let (a, b) = ((self.x[k + 1] - x) / h, (x - self.x[k]) / h);
        let (y0, y1) = (self.y[k], self.y[k + 1]);
        let (m0, m1) = (self.curvature[k], self.curvature[k + 1]);
        [
            a * y0 + b * y1 + ((a * a * a - a) * m0 + (b * b * b - b) * m1) * h * h / 6.0,
            (y1 - y0) / h + ((1.0 - 3.0 * a * a) * m0 + (3.0 * b * b - 1.0) * m1) * h / 6.0,
            a * m0 + b * m1,
        ]
    }
}

/// The second derivatives m at the points from the continuity of y':
/// h₀ m₀ + 2 (h₀ + h₁) m₁ + h₁ m₂ = 6 (slope₁ − slope₀).
fn curvature(x: &[f64], y: &[f64], ends: SplineEnds) -> Vec<f64> {
    let n = x.len();
    let h = |k: usize| x[k + 1] - x[k];
    let slope = |k: usize| (y[k + 1] - y[k]) / h(k);
    // Rows (below, diagonal, above, right), with the last point of a periodic table left out: it is the first.
    let unknowns = if ends == SplineEnds::Periodic {
        n - 1
    } else {
        n
    };
    let mut rows = vec![[0.0, 1.0, 0.0, 0.0]; unknowns];
    for k in 1..n - 1 {
        rows[k] = [
            h(k - 1),
            2.0 * (h(k - 1) + h(k)),
            h(k),
            6.0 * (slope(k) - slope(k - 1)),
        ];
    }
    match ends {
        SplineEnds::Natural => {}
        SplineEnds::Held => {
            rows[0] = [0.0, 2.0 * h(0), h(0), 6.0 * slope(0)];
            rows[n - 1] = [h(n - 2), 2.0 * h(n - 2), 0.0, -6.0 * slope(n - 2)];
        }
        SplineEnds::Periodic => {
            let (before, after) = (h(n - 2), h(0));
            let right = 6.0 * (slope(0) - slope(n - 2));
            rows[0] = [before, 2.0 * (before + after), after, right];
        }
    }
    let mut m = match ends {
        SplineEnds::Periodic => cyclic(&rows),
        _ => tridiagonal(&rows),
    };
    if ends == SplineEnds::Periodic {
        m.push(m[0]);
    }
    m
}

/// Elimination without pivoting: the rows are diagonally dominant.
fn tridiagonal(rows: &[[f64; 4]]) -> Vec<f64> {
    let n = rows.len();
    let (mut above, mut right) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n {
        let [a, b, c, r] = rows[k];
        let (before_above, before_right) = if k > 0 {
            (above[k - 1], right[k - 1])
        } else {
            (0.0, 0.0)
        };
        let pivot = b - a * before_above;
        above[k] = c / pivot;
        right[k] = (r - a * before_right) / pivot;
    }
    for k in (0..n - 1).rev() {
        right[k] -= above[k] * right[k + 1];
    }
    right
}

/// The same where the first row reaches the last unknown and the last row the first: a correction of rank one.
fn cyclic(rows: &[[f64; 4]]) -> Vec<f64> {
    let n = rows.len();
    let (corner_first, corner_last) = (rows[0][0], rows[n - 1][2]);
    let gamma = -rows[0][1];
    let mut changed = rows.to_vec();
    changed[0][0] = 0.0;
    changed[n - 1][2] = 0.0;
    changed[0][1] -= gamma;
    changed[n - 1][1] -= corner_first * corner_last / gamma;
    let x = tridiagonal(&changed);
    for (k, row) in changed.iter_mut().enumerate() {
        row[3] = match k {
            0 => gamma,
            _ if k == n - 1 => corner_last,
            _ => 0.0,
        };
    }
    let z = tridiagonal(&changed);
    let part = corner_first / gamma;
    let factor = (x[0] + part * x[n - 1]) / (1.0 + z[0] + part * z[n - 1]);
    (0..n).map(|k| x[k] - factor * z[k]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(n: usize, length: f64, f: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
        (0..=n)
            .map(|k| {
                // Uneven on purpose.
                let s = k as f64 / n as f64;
                let x =
                    length * (s + 0.1 * (std::f64::consts::TAU * s).sin() / std::f64::consts::TAU);
                [x, f(x)]
            })
            .collect()
    }

    #[test]
    fn a_polynomial_has_its_derivatives() {
        let [y, first, second] = polynomial(&[1.0, -2.0, 0.5, 3.0], 0.7);
        assert!((y - (1.0 - 1.4 + 0.245 + 3.0 * 0.343)).abs() < 1e-15);
        assert!((first - (-2.0 + 0.7 + 9.0 * 0.49)).abs() < 1e-14);
        assert!((second - (1.0 + 18.0 * 0.7)).abs() < 1e-14);
    }

    #[test]
    fn splines_pass_their_points_are_twice_continuous_and_converge_with_order_four() {
        for (ends, length, f) in [
            (
                SplineEnds::Natural,
                std::f64::consts::PI,
                f64::sin as fn(f64) -> f64,
            ),
            (SplineEnds::Held, std::f64::consts::PI, f64::cos),
            (SplineEnds::Periodic, std::f64::consts::TAU, f64::sin),
        ] {
            let mut errors = Vec::new();
            for n in [20, 40, 80] {
                let points = sampled(n, length, f);
                let spline = Spline::new(&points, ends);
                for p in &points[1..n] {
                    assert!((spline.at(p[0])[0] - p[1]).abs() < 1e-14);
                    let (left, right) = (spline.at(p[0] - 1e-9), spline.at(p[0] + 1e-9));
                    for k in 0..3 {
                        assert!((left[k] - right[k]).abs() < 1e-6, "{ends:?} derivative {k}");
                    }
                }
                let worst = (0..1000)
                    .map(|k| length * (k as f64 + 0.5) / 1000.0)
                    .map(|x| (spline.at(x)[0] - f(x)).abs())
                    .fold(0.0, f64::max);
                errors.push(worst);
            }
            for pair in errors.windows(2) {
                let order = (pair[0] / pair[1]).log2();
                assert!(
                    (order - 4.0).abs() < 0.25,
                    "{ends:?}: order {order}, {errors:?}"
                );
            }
        }
    }

    #[test]
    fn beyond_its_ends_a_spline_goes_on_straight_is_held_or_repeats() {
        let points = [[0.0, 1.0], [1.0, 3.0], [2.5, 2.0], [3.0, 1.0]];
        let natural = Spline::new(&points, SplineEnds::Natural);
        let end = natural.at(3.0);
        assert!((natural.at(4.0)[0] - (end[0] + end[1])).abs() < 1e-14 && end[2].abs() < 1e-14);
        let held = Spline::new(&points, SplineEnds::Held);
        assert_eq!(held.at(-7.0)[0], 1.0);
        assert!(held.at(3.0)[1].abs() < 1e-14 && held.at(9.0)[1].abs() < 1e-14);
        let periodic = Spline::new(&points, SplineEnds::Periodic);
        for x in [0.3, 1.7, 2.9] {
            for k in 0..3 {
                assert!((periodic.at(x)[k] - periodic.at(x - 6.0)[k]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn pieces_hold_up_to_their_bounds_and_the_last_beyond() {
        let function = Function::Pieces(vec![
            (0.0, vec![-1.0]),
            (1.0, vec![0.0, 2.0]),
            (f64::INFINITY, vec![5.0, 0.0, 1.0]),
        ]);
        assert_eq!(function.at(-0.1), [-1.0, 0.0, 0.0]);
        assert_eq!(function.at(0.5), [1.0, 2.0, 0.0]);
        assert_eq!(function.at(2.0), [9.0, 4.0, 2.0]);
    }
}
