//! Interpolation of tables: cubic splines, monotone cubics (PCHIP) and straight lines; and polynomials.
//!
//! ```text
//!   spline     y, y' and y'' continuous; may leave the range of its points
//!   monotone   y and y' continuous; between two neighbouring points never above the larger or below the smaller
//!   linear     y continuous
//! ```

/// y, y', y''
pub type Jet = [f64; 3];

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

/// End conditions of a spline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplineEnds {
    /// y'' = 0, linear beyond.
    Natural,
    /// y' = 0, constant beyond.
    Clamped,
    /// Periodic.
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
    /// Spline through points with ascending x: at least two (periodic: three).
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
            let slope = self.in_interval(k.min(last - 1), self.x[k])[1];
            return [self.y[k] + slope * beyond, slope, 0.0];
        }
        let k = self.x.partition_point(|p| *p <= x).clamp(1, last) - 1;
        self.in_interval(k, x)
    }

    /// y, y', y'' in the interval from point k to k + 1.
    fn in_interval(&self, k: usize, x: f64) -> Jet {
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

    /// Smallest and largest value between the first and the last point, each with its x.
    pub fn extremes(&self) -> [[f64; 2]; 2] {
        let mut least = [self.x[0], self.y[0]];
        let mut most = least;
        let mut note = |x: f64, y: f64| {
            if y < least[1] {
                least = [x, y];
            }
            if y > most[1] {
                most = [x, y];
            }
        };
        for k in 0..self.x.len() - 1 {
            let (x0, h) = (self.x[k], self.x[k + 1] - self.x[k]);
            note(self.x[k + 1], self.y[k + 1]);
            // y' = slope + curvature s + third s²/2 in the interval.
            let [_, slope, curvature] = self.in_interval(k, x0);
            let third = (self.curvature[k + 1] - self.curvature[k]) / h;
            let root = (curvature * curvature - 2.0 * third * slope).sqrt();
            let q = -(curvature + root.copysign(curvature));
            for s in [q / third, 2.0 * slope / q] {
                if s > 0.0 && s < h {
                    note(x0 + s, self.in_interval(k, x0 + s)[0]);
                }
            }
        }
        [least, most]
    }
}

/// Second derivatives m at the points, from the continuity of y':
/// h₀ m₀ + 2 (h₀ + h₁) m₁ + h₁ m₂ = 6 (slope₁ − slope₀).
fn curvature(x: &[f64], y: &[f64], ends: SplineEnds) -> Vec<f64> {
    let n = x.len();
    let h = |k: usize| x[k + 1] - x[k];
    let slope = |k: usize| (y[k + 1] - y[k]) / h(k);
    // Rows (subdiagonal, diagonal, superdiagonal, right-hand side); the last point of a periodic table is the first.
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
        SplineEnds::Clamped => {
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

/// Solves a tridiagonal system without pivoting: it is diagonally dominant.
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

/// Solves a cyclic tridiagonal system by a rank-one correction: the first row has an entry in the last column and vice versa.
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

/// How a table goes on beyond its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableEnds {
    /// Straight, with the slope of the end.
    Straight,
    /// Constant; a monotone table ends with the slope zero.
    Constant,
    /// Periodic.
    Periodic,
}

/// A piecewise cubic through a table, as one polynomial for each interval and one beyond each end.
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseCubic {
    /// Abscissae of the points: bounds between the pieces.
    bounds: Vec<f64>,
    /// Coefficients of each piece about its origin; the first and the last are those beyond the ends.
    pieces: Vec<[f64; 4]>,
    ends: TableEnds,
}

impl PiecewiseCubic {
    /// Straight lines through points with ascending x, at least two.
    pub fn linear(points: &[[f64; 2]], ends: TableEnds) -> Self {
        let line = |k: usize| {
            let slope = (points[k + 1][1] - points[k][1]) / (points[k + 1][0] - points[k][0]);
            [points[k][1], slope, 0.0, 0.0]
        };
        let between: Vec<[f64; 4]> = (0..points.len() - 1).map(line).collect();
        let slopes = [between[0][1], between[between.len() - 1][1]];
        Self::with_ends(points, between, slopes, ends)
    }

    /// Monotone cubics through points with ascending x, at least two: cubic Hermite polynomials with the slopes of Fritsch and
    /// Butland (SIAM J. Sci. Stat. Comput. 5, 1984), known as PCHIP. The error is of third order where the points are strictly
    /// monotone and of second order at their extrema.
    pub fn monotone(points: &[[f64; 2]], ends: TableEnds) -> Self {
        let slopes = monotone_slopes(points, ends);
        let cubic = |k: usize| {
            let [x0, y0] = points[k];
            let [x1, y1] = points[k + 1];
            let (h, m0, m1) = (x1 - x0, slopes[k], slopes[k + 1]);
            let chord = (y1 - y0) / h;
            [
                y0,
                m0,
                (3.0 * chord - 2.0 * m0 - m1) / h,
                (m0 + m1 - 2.0 * chord) / (h * h),
            ]
        };
        let between = (0..points.len() - 1).map(cubic).collect();
        let last = slopes[slopes.len() - 1];
        Self::with_ends(points, between, [slopes[0], last], ends)
    }

    fn with_ends(
        points: &[[f64; 2]],
        between: Vec<[f64; 4]>,
        slopes: [f64; 2],
        ends: TableEnds,
    ) -> Self {
        let slopes = match ends {
            TableEnds::Straight => slopes,
            TableEnds::Constant | TableEnds::Periodic => [0.0; 2],
        };
        let last = points.len() - 1;
        let mut pieces = vec![[points[0][1], slopes[0], 0.0, 0.0]];
        pieces.extend(between);
        pieces.push([points[last][1], slopes[1], 0.0, 0.0]);
        Self {
            bounds: points.iter().map(|p| p[0]).collect(),
            pieces,
            ends,
        }
    }

    /// Polynomials between bounds, each about the bound before it; the first applies below the first bound.
    pub fn from_pieces(bounds: Vec<f64>, pieces: Vec<[f64; 4]>) -> Self {
        debug_assert_eq!(pieces.len(), bounds.len() + 1);
        Self {
            bounds,
            pieces,
            ends: TableEnds::Constant,
        }
    }

    /// The same, repeated with the distance of the first and the last bound. The first and the last piece are never used.
    pub fn periodic_pieces(bounds: Vec<f64>, pieces: Vec<[f64; 4]>) -> Self {
        Self {
            ends: TableEnds::Periodic,
            ..Self::from_pieces(bounds, pieces)
        }
    }

    /// A table in which two points of the same x are a jump, the parts between jumps made by `make`. Constant beyond its ends;
    /// a periodic table has no jumps.
    pub fn with_jumps(
        points: &[[f64; 2]],
        ends: TableEnds,
        make: fn(&[[f64; 2]], TableEnds) -> Self,
    ) -> Self {
        let parts: Vec<&[[f64; 2]]> = points.chunk_by(|a, b| a[0] < b[0]).collect();
        if parts.len() == 1 {
            return make(points, ends);
        }
        let constant = |y: f64| [y, 0.0, 0.0, 0.0];
        let (mut bounds, mut pieces) = (vec![], vec![constant(points[0][1])]);
        for part in parts {
            if part.len() > 1 {
                let made = make(part, TableEnds::Straight);
                bounds.extend(&made.bounds[..part.len() - 1]);
                pieces.extend(&made.pieces[1..part.len()]);
            }
        }
        let last = points[points.len() - 1];
        bounds.push(last[0]);
        pieces.push(constant(last[1]));
        Self::from_pieces(bounds, pieces)
    }

    /// Each piece as upper bound, origin and coefficients; the last has no bound.
    pub fn pieces(&self) -> impl Iterator<Item = (f64, f64, [f64; 4])> {
        (self.pieces.iter().enumerate()).map(|(k, c)| {
            let below = self.bounds.get(k).copied().unwrap_or(f64::INFINITY);
            (below, self.bounds[k.saturating_sub(1)], *c)
        })
    }

    /// Number of the piece that contains x: 0 before the first point, then one more at each point. The intervals of a periodic
    /// table are numbered on from period to period, and backwards before the first.
    pub fn piece_at(&self, x: f64) -> i64 {
        let (period, intervals) = self.period();
        if self.ends != TableEnds::Periodic {
            return self.bounds.partition_point(|b| *b <= x) as i64;
        }
        let turns = ((x - self.bounds[0]) / period).floor();
        let inside = x - turns * period;
        let k = self.bounds.partition_point(|b| *b <= inside);
        turns as i64 * intervals + (k as i64).clamp(1, intervals)
    }

    /// Upper bound of a piece; infinite for the last.
    pub fn upper_bound(&self, piece: i64) -> f64 {
        match self.ends {
            TableEnds::Periodic => {
                let (turns, k) = self.interval(piece);
                self.bounds[k] + turns as f64 * self.period().0
            }
            _ => (self.bounds.get(piece.max(0) as usize).copied()).unwrap_or(f64::INFINITY),
        }
    }

    /// y, y', y'' at x by the polynomial of a piece, which need not contain x.
    pub fn in_piece(&self, piece: i64, x: f64) -> Jet {
        let (turns, k) = match self.ends {
            TableEnds::Periodic => self.interval(piece),
            _ => (0, piece.clamp(0, self.pieces.len() as i64 - 1) as usize),
        };
        let origin = self.bounds[k.saturating_sub(1)] + turns as f64 * self.period().0;
        polynomial(&self.pieces[k], x - origin)
    }

    /// y, y', y'' at x; at a point those of the interval behind it.
    pub fn at(&self, x: f64) -> Jet {
        self.in_piece(self.piece_at(x), x)
    }

    /// Period, and number of intervals in it.
    fn period(&self) -> (f64, i64) {
        let last = self.bounds.len() - 1;
        (self.bounds[last] - self.bounds[0], last as i64)
    }

    /// Number of whole periods before a piece of a periodic table, and the piece in the table.
    fn interval(&self, piece: i64) -> (i64, usize) {
        let intervals = self.period().1;
        let turns = (piece - 1).div_euclid(intervals);
        (turns, (piece - turns * intervals) as usize)
    }
}

/// Slopes at the points. Inside, with chords c₀, c₁ of the same sign over intervals h₀, h₁,
///
/// ```text
///   m = (w₀ + w₁) / (w₀/c₀ + w₁/c₁),      w₀ = h₀ + 2 h₁,   w₁ = 2 h₀ + h₁
/// ```
///
/// and zero otherwise: then |m| ≤ 3 min |c|, which keeps both cubics monotone. At a straight end the slope of the parabola
/// through three points, limited in the same way.
fn monotone_slopes(points: &[[f64; 2]], ends: TableEnds) -> Vec<f64> {
    let n = points.len();
    let h = |k: usize| points[k + 1][0] - points[k][0];
    let chord = |k: usize| (points[k + 1][1] - points[k][1]) / h(k);
    let inside = |[h0, h1]: [f64; 2], [c0, c1]: [f64; 2]| {
        if c0 * c1 > 0.0 {
            let (w0, w1) = (h0 + 2.0 * h1, 2.0 * h0 + h1);
            (w0 + w1) / (w0 / c0 + w1 / c1)
        } else {
            0.0
        }
    };
    let mut slopes = vec![0.0; n];
    for k in 1..n - 1 {
        slopes[k] = inside([h(k - 1), h(k)], [chord(k - 1), chord(k)]);
    }
    match ends {
        TableEnds::Constant => {}
        TableEnds::Periodic => {
            let m = inside([h(n - 2), h(0)], [chord(n - 2), chord(0)]);
            (slopes[0], slopes[n - 1]) = (m, m);
        }
        TableEnds::Straight if n == 2 => slopes.fill(chord(0)),
        TableEnds::Straight => {
            let end = |[h0, h1]: [f64; 2], [c0, c1]: [f64; 2]| {
                let m = ((2.0 * h0 + h1) * c0 - h0 * c1) / (h0 + h1);
                if m * c0 <= 0.0 {
                    0.0
                } else if m.abs() > 3.0 * c0.abs() {
                    3.0 * c0
                } else {
                    m
                }
            };
            slopes[0] = end([h(0), h(1)], [chord(0), chord(1)]);
            slopes[n - 1] = end([h(n - 2), h(n - 3)], [chord(n - 2), chord(n - 3)]);
        }
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    fn sampled(n: usize, length: f64, f: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
        (0..=n)
            .map(|k| {
                // Points are not equidistant.
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
    fn splines_interpolate_and_converge_with_order_four() {
        for (ends, length, f) in [
            (
                SplineEnds::Natural,
                std::f64::consts::PI,
                f64::sin as fn(f64) -> f64,
            ),
            (SplineEnds::Clamped, std::f64::consts::PI, f64::cos),
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
    fn beyond_its_ends_a_spline_is_linear_constant_or_periodic() {
        let points = [[0.0, 1.0], [1.0, 3.0], [2.5, 2.0], [3.0, 1.0]];
        let natural = Spline::new(&points, SplineEnds::Natural);
        let end = natural.at(3.0);
        assert!((natural.at(4.0)[0] - (end[0] + end[1])).abs() < 1e-14 && end[2].abs() < 1e-14);
        let clamped = Spline::new(&points, SplineEnds::Clamped);
        assert_eq!(clamped.at(-7.0)[0], 1.0);
        assert!(clamped.at(3.0)[1].abs() < 1e-14 && clamped.at(9.0)[1].abs() < 1e-14);
        let periodic = Spline::new(&points, SplineEnds::Periodic);
        for x in [0.3, 1.7, 2.9] {
            for k in 0..3 {
                assert!((periodic.at(x)[k] - periodic.at(x - 6.0)[k]).abs() < 1e-12);
            }
        }
    }

    /// Random points, some of them with equal neighbours.
    fn random_points(random: &mut Random, n: usize) -> Vec<[f64; 2]> {
        let mut x = random.between(-5.0, 5.0);
        let mut y = 0.0;
        (0..n)
            .map(|_| {
                x += 10f64.powf(random.between(-3.0, 1.0));
                if random.between(0.0, 1.0) > 0.3 {
                    y = random.between(-1.0, 1.0) * 10f64.powf(random.between(-2.0, 3.0));
                }
                [x, y]
            })
            .collect()
    }

    #[test]
    fn monotone_tables_never_leave_their_points_and_are_smooth_once() {
        let mut random = Random::new(19);
        for case in 0..2000 {
            let mut points = random_points(&mut random, 2 + case % 9);
            let last = points.len() - 1;
            for ends in [
                TableEnds::Straight,
                TableEnds::Constant,
                TableEnds::Periodic,
            ] {
                if ends == TableEnds::Periodic {
                    points[last][1] = points[0][1];
                }
                let table = PiecewiseCubic::monotone(&points, ends);
                let steep = 3.0
                    * points.windows(2).fold(0.0f64, |most, w| {
                        most.max(((w[1][1] - w[0][1]) / (w[1][0] - w[0][0])).abs())
                    });
                for two in points.windows(2) {
                    let ([x0, y0], [x1, y1]) = (two[0], two[1]);
                    let (low, high) = (y0.min(y1), y0.max(y1));
                    // Rounding: of the sums, and of x, which may lie 1e-14 beyond the interval, times the steepest slope
                    // of its neighbours.
                    let slack = 1e-14 * (steep + low.abs() + high.abs());
                    for j in 0..=50 {
                        let x = x0 + (x1 - x0) * f64::from(j) / 50.0;
                        let y = table.at(x)[0];
                        assert!(
                            low - slack <= y && y <= high + slack,
                            "{ends:?} {points:?} at {x}: {y}"
                        );
                    }
                }
                for p in &points {
                    let k = table.piece_at(p[0]);
                    let (left, right) = (table.in_piece(k - 1, p[0]), table.in_piece(k, p[0]));
                    assert!((left[0] - p[1]).abs() <= 1e-12 * steep, "{points:?}");
                    assert!((left[1] - right[1]).abs() <= 1e-11 * steep, "{points:?}");
                }
            }
        }
    }

    #[test]
    fn a_monotone_table_has_third_order_where_it_rises_and_second_at_extrema() {
        for (f, length, expected) in [
            (f64::exp as fn(f64) -> f64, 2.0, 3.0),
            (f64::cos, std::f64::consts::TAU, 2.0),
        ] {
            let error = |n: usize| {
                let points = sampled(n, length, f);
                let table = PiecewiseCubic::monotone(&points, TableEnds::Straight);
                (0..4000)
                    .map(|k| length * (k as f64 + 0.5) / 4000.0)
                    .map(|x| (table.at(x)[0] - f(x)).abs())
                    .fold(0.0, f64::max)
            };
            let order = (error(160) / error(640)).log2() / 2.0;
            assert!(
                (order - expected).abs() < 0.2,
                "order {order}, expected {expected}"
            );
        }
    }

    #[test]
    fn a_monotone_table_has_the_slopes_of_its_formula() {
        // h = 1, 2, 1 and chords 1, 2, -1: inside (5 + 4)/(5/1 + 4/2) = 9/7, then zero at the peak. At the ends the parabolas
        // have the slopes ((2 + 2) 1 - 1 2)/3 = 2/3 and ((2 + 2)(-1) - 2)/3 = -2.
        let points = [[0.0, 0.0], [1.0, 1.0], [3.0, 5.0], [4.0, 4.0]];
        let slopes = monotone_slopes(&points, TableEnds::Straight);
        for (found, expected) in slopes.iter().zip([2.0 / 3.0, 9.0 / 7.0, 0.0, -2.0]) {
            assert!((found - expected).abs() < 1e-15, "{slopes:?}");
        }
        // Two points are joined by a line.
        let line = PiecewiseCubic::monotone(&points[..2], TableEnds::Straight);
        assert_eq!(line.at(0.25), [0.25, 1.0, 0.0]);
    }

    #[test]
    fn linear_tables_are_straight_and_continue_as_told() {
        let points = [[0.0, 1.0], [1.0, 3.0], [2.5, 0.0]];
        let straight = PiecewiseCubic::linear(&points, TableEnds::Straight);
        for (x, y) in [(-1.0, -1.0), (0.5, 2.0), (1.75, 1.5), (3.0, -1.0)] {
            assert!((straight.at(x)[0] - y).abs() < 1e-15, "{x}");
        }
        let constant = PiecewiseCubic::linear(&points, TableEnds::Constant);
        assert_eq!([constant.at(-1.0)[0], constant.at(9.0)[0]], [1.0, 0.0]);
        let wave = [[0.0, 1.0], [1.0, 3.0], [2.5, 1.0]];
        let periodic = PiecewiseCubic::linear(&wave, TableEnds::Periodic);
        for x in [-7.3, -0.1, 0.4, 2.4, 11.0] {
            let inside: f64 = f64::rem_euclid(x, 2.5);
            assert!((periodic.at(x)[0] - periodic.at(inside)[0]).abs() < 1e-13);
            let piece = periodic.piece_at(x);
            assert!(periodic.upper_bound(piece) > x && periodic.upper_bound(piece - 1) <= x);
        }
    }

    #[test]
    fn the_extremes_of_a_spline_are_those_of_samples() {
        let mut random = Random::new(3);
        for n in 2..12 {
            let points = random_points(&mut random, n);
            for ends in [SplineEnds::Natural, SplineEnds::Clamped] {
                let spline = Spline::new(&points, ends);
                let [least, most] = spline.extremes();
                let mut sampled = [f64::INFINITY, f64::NEG_INFINITY];
                for w in points.windows(2) {
                    for j in 0..=1000 {
                        let y = spline.at(w[0][0] + (w[1][0] - w[0][0]) * f64::from(j) / 1000.0)[0];
                        sampled = [sampled[0].min(y), sampled[1].max(y)];
                    }
                }
                // A parabola over a thousandth of an interval falls by less than 1e-5 of the swing.
                let slack = 1e-5 * (sampled[1] - sampled[0]) + 1e-12;
                assert!(
                    (least[1] - sampled[0]).abs() < slack && (most[1] - sampled[1]).abs() < slack
                );
                assert!((spline.at(most[0])[0] - most[1]).abs() <= 1e-9 * most[1].abs());
            }
        }
    }
}
