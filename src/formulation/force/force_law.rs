//! Piecewise force law F(x) of one variable, with its derivative and its integral:
//!
//! ```text
//!   F(x) = Σ c_k (x − o)ᵏ  on each piece,      V(x) = ∫₀ˣ F,   continuous over the pieces
//! ```
//!
//! Pieces given by the user may join with a kink or a jump: crossing a bound is an event and the current piece a mode, so that F is
//! smooth within a step. So are the kinks of a table joined by straight lines. Monotone cubics and natural cubic splines are smooth enough
//! to need no events.

use super::EventCounts;
use super::dual::Scalar;
use crate::formulation::Crossing;
use crate::formulation::function::{Spline, SplineEnds, polynomial, table};
use crate::linalg::elementary::{exp, ln_1p, tanh};
use crate::linalg::interpolation::{PiecewiseCubic, TableEnds};
use crate::model::{Curve, Interpolation};

/// Width of the ramp that replaces a jump on which the motion chatters, relative to the largest bound of the law.
const RAMP_WIDTH: f64 = 1e-5;
/// Jump of a force that is rounding, relative to the force.
const KINK: f64 = 1e-12;
/// Half length of the ramp in widths: there tanh is one to rounding.
const RAMP_HALF_LENGTH: f64 = 20.0;

/// F, F' and V at one x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawValue {
    /// F
    pub force: f64,
    /// F'
    pub slope: f64,
    /// V
    pub integral: f64,
}

#[derive(Clone, Debug)]
struct LawPiece {
    below: f64,
    origin: f64,
    c: Vec<f64>,
    /// Of the antiderivative, V at the origin first.
    integral: Vec<f64>,
}

/// A force law F(x).
#[derive(Clone, Debug)]
pub struct ForceLaw {
    pieces: Vec<LawPiece>,
    /// Crossings of bounds are events.
    has_events: bool,
    /// Width of a ramp, in units of x.
    ramp_width: f64,
}

impl ForceLaw {
    /// Builds the law from a curve of the model.
    pub fn new(curve: &Curve) -> Self {
        let pieces = match curve {
            Curve::Polynomial(c) => vec![(f64::INFINITY, 0.0, c.clone())],
            Curve::Pieces(pieces) => {
                (pieces.iter().map(|p| (p.below, 0.0, p.polynomial.clone()))).collect()
            }
            Curve::Table {
                points,
                interpolation: Interpolation::Spline,
            } => spline(points),
            Curve::Table {
                points,
                interpolation,
            } => inner_pieces(&table(points, *interpolation, TableEnds::Straight)),
        };
        let has_kinks = matches!(
            curve,
            Curve::Pieces(_)
                | Curve::Table {
                    interpolation: Interpolation::Linear,
                    ..
                }
        );
        let watched = has_kinks && pieces.len() > 1;
        let mut law = Self {
            pieces: (pieces.into_iter())
                .map(|(below, origin, c)| {
                    let mut integral = vec![0.0];
                    integral.extend(c.iter().enumerate().map(|(k, c)| c / (k + 1) as f64));
                    LawPiece {
                        below,
                        origin,
                        c,
                        integral,
                    }
                })
                .collect(),
            has_events: watched,
            ramp_width: 0.0,
        };
        let bounds = law.pieces.len().saturating_sub(1);
        let size = law.pieces[..bounds]
            .iter()
            .fold(0.0_f64, |m, p| m.max(p.below.abs()));
        law.ramp_width = RAMP_WIDTH * if size > 0.0 { size } else { 1.0 };
        // V is continuous: each piece starts at the end value of the previous one. Then V(0) = 0.
        for k in 1..law.pieces.len() {
            let bound = law.pieces[k - 1].below;
            law.pieces[k].integral[0] = 0.0;
            let step = law.pieces[k - 1].potential(bound) - law.pieces[k].potential(bound);
            law.pieces[k].integral[0] = step;
        }
        let zero = law.pieces[law.piece_at(0.0)].potential(0.0);
        for piece in &mut law.pieces {
            piece.integral[0] -= zero;
        }
        law
    }

    /// Returns the piece that contains x.
    fn piece_at(&self, x: f64) -> usize {
        self.pieces[..self.pieces.len() - 1].partition_point(|piece| piece.below <= x)
    }

    /// Returns F, F' and V in a mode.
    #[inline]
    pub fn evaluate(&self, modes: &[i32], x: f64) -> LawValue {
        if !self.has_events {
            return self.pieces[self.piece_at(x)].evaluate(x);
        }
        match modes[0] {
            k if k >= 0 => self.pieces[(k as usize).min(self.pieces.len() - 1)].evaluate(x),
            jump => self.on_ramp((-1 - jump) as usize, x),
        }
    }

    /// Returns the ramp that replaces jump `k`: mean + half tanh(e/width).
    fn on_ramp(&self, k: usize, x: f64) -> LawValue {
        let bound = self.pieces[k].below;
        let (low, high) = (
            self.pieces[k].evaluate(bound),
            self.pieces[k + 1].evaluate(bound),
        );
        let (mean, half) = (
            0.5 * (low.force + high.force),
            0.5 * (high.force - low.force),
        );
        let e = x - bound;
        let z = e / self.ramp_width;
        let tanh = tanh(z);
        // ln cosh z without overflow.
        let log = z.abs() + ln_1p(exp(-2.0 * z.abs())) - std::f64::consts::LN_2;
        LawValue {
            force: mean + half * tanh,
            slope: half * (1.0 - tanh * tanh) / self.ramp_width,
            integral: low.integral + mean * e + half * self.ramp_width * log,
        }
    }

    /// Returns the numbers of events and of modes.
    pub fn event_counts(&self) -> EventCounts {
        match self.has_events {
            true => EventCounts {
                events: 2 * (self.pieces.len() - 1),
                modes: 1,
                ..EventCounts::default()
            },
            false => EventCounts::default(),
        }
    }

    /// Whether the mode is a piece or the ramp of a jump between two.
    pub fn mode_exists(&self, modes: &[i32]) -> bool {
        let pieces = self.pieces.len() as i32;
        (modes.iter()).all(|mode| (1 - pieces..pieces).contains(mode))
    }

    /// Sets the mode at x.
    pub fn initial_mode(&self, x: f64, modes: &mut [i32]) {
        if self.has_events {
            modes[0] = self.piece_at(x) as i32;
        }
    }

    /// Writes two event functions for each bound: x − bound twice, or the distances from both ends of an active ramp.
    pub fn event_functions(
        &self,
        modes: &[i32],
        x: f64,
        rate: f64,
        phi: &mut [f64],
        rates: &mut [f64],
    ) {
        if !self.has_events {
            return;
        }
        for k in 0..self.pieces.len() - 1 {
            let width = if modes[0] == -1 - k as i32 {
                RAMP_HALF_LENGTH * self.ramp_width
            } else {
                0.0
            };
            let e = x - self.pieces[k].below;
            phi[2 * k..2 * k + 2].copy_from_slice(&[e - width, e + width]);
            rates[2 * k..2 * k + 2].fill(rate);
        }
    }

    /// Passes the same event functions with derivatives to `put`, from event `first` on.
    pub fn event_functions_with_derivatives<T: Scalar>(
        &self,
        modes: &[i32],
        x: T,
        first: usize,
        put: &mut dyn FnMut(usize, T),
    ) {
        if !self.has_events {
            return;
        }
        for k in 0..self.pieces.len() - 1 {
            let width = if modes[0] == -1 - k as i32 {
                RAMP_HALF_LENGTH * self.ramp_width
            } else {
                0.0
            };
            let below = self.pieces[k].below;
            put(first + 2 * k, x + (-below - width));
            put(first + 2 * k + 1, x + (width - below));
        }
    }

    /// Returns which zero crossings of event `i` count.
    pub fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        let (bound, mode) = ((i / 2) as i32, modes[0]);
        let upper = i.is_multiple_of(2);
        if mode == -1 - bound {
            if upper {
                Crossing::Rising
            } else {
                Crossing::Falling
            }
        } else if upper && mode == bound {
            Crossing::Rising
        } else if upper && mode == bound + 1 {
            Crossing::Falling
        } else {
            Crossing::Off
        }
    }

    /// Changes the mode after a bound has been crossed.
    pub fn handle_event(&self, i: usize, modes: &mut [i32]) {
        let (bound, upper) = ((i / 2) as i32, i.is_multiple_of(2));
        modes[0] = if modes[0] == -1 - bound {
            if upper { bound + 1 } else { bound }
        } else if modes[0] == bound {
            bound + 1
        } else {
            bound
        };
    }

    /// Ends chattering about a bound: an upward jump becomes a ramp. A jump within rounding is a kink, which has no ramp.
    pub fn stop_chattering(&self, i: usize, modes: &mut [i32]) {
        let bound = i / 2;
        let x = self.pieces[bound].below;
        let [low, high] = [bound, bound + 1].map(|k| self.pieces[k].evaluate(x).force);
        if high - low > KINK * low.abs().max(high.abs()) {
            modes[0] = -1 - bound as i32;
        }
    }

    /// Whether F(0) = 0.
    pub fn vanishes_at_zero(&self) -> bool {
        self.pieces[self.piece_at(0.0)].evaluate(0.0).force == 0.0
    }
}

impl LawPiece {
    fn potential(&self, x: f64) -> f64 {
        polynomial(&self.integral, x - self.origin)[0]
    }

    #[inline]
    fn evaluate(&self, x: f64) -> LawValue {
        let [y, slope, _] = polynomial(&self.c, x - self.origin);
        LawValue {
            force: y,
            slope,
            integral: self.potential(x),
        }
    }
}

/// Returns the pieces of a table as (upper bound, origin, coefficients). Those beyond the ends continue their neighbours where the
/// table is straight there: no bound is needed.
fn inner_pieces(table: &PiecewiseCubic) -> Vec<(f64, f64, Vec<f64>)> {
    let mut all: Vec<(f64, f64, Vec<f64>)> = (table.pieces())
        .map(|(below, origin, c)| (below, origin, c.to_vec()))
        .collect();
    let straight = |piece: &(f64, f64, Vec<f64>)| piece.2[2] == 0.0 && piece.2[3] == 0.0;
    if straight(&all[1]) {
        all.remove(0);
    }
    if straight(&all[all.len() - 2]) {
        all.pop();
        all.last_mut().expect("a table has an interval").0 = f64::INFINITY;
    }
    for piece in &mut all {
        if straight(piece) {
            piece.2.truncate(2);
        }
    }
    all
}

/// Returns the cubic pieces of a natural spline, extended linearly beyond its ends: (upper bound, origin, coefficients).
fn spline(points: &[[f64; 2]]) -> Vec<(f64, f64, Vec<f64>)> {
    let spline = Spline::new(points, SplineEnds::Natural);
    let last = points.len() - 1;
    let begin = spline.at(points[0][0]);
    let mut all = vec![(points[0][0], points[0][0], vec![begin[0], begin[1]])];
    for k in 0..last {
        let (x0, x1) = (points[k][0], points[k + 1][0]);
        // The third derivative is constant in the interval.
        let [y, slope, curvature] = spline.at(x0);
        let third = (spline.at(x1)[2] - curvature) / (x1 - x0);
        all.push((x1, x0, vec![y, slope, 0.5 * curvature, third / 6.0]));
    }
    let end = spline.at(points[last][0]);
    all.push((f64::INFINITY, points[last][0], vec![end[0], end[1]]));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CurvePiece;

    fn table_of(interpolation: Interpolation) -> Curve {
        Curve::Table {
            points: vec![[-1.0, -3.0], [0.2, 0.1], [0.9, 2.0], [2.0, 2.5]],
            interpolation,
        }
    }

    fn curves() -> Vec<Curve> {
        vec![
            Curve::Polynomial(vec![1.0, -2.0, 0.5, 3.0]),
            table_of(Interpolation::Linear),
            table_of(Interpolation::Monotone),
            table_of(Interpolation::Spline),
            Curve::Pieces(vec![
                CurvePiece {
                    below: -0.5,
                    polynomial: vec![-1.0, 1.0],
                },
                CurvePiece {
                    below: 0.7,
                    polynomial: vec![0.5, 0.0, 2.0],
                },
                CurvePiece {
                    below: f64::INFINITY,
                    polynomial: vec![4.0, 0.3],
                },
            ]),
        ]
    }

    #[test]
    fn derivative_and_integral_agree_with_differences() {
        for curve in curves() {
            let law = ForceLaw::new(&curve);
            assert!(
                law.evaluate(&[law.piece_at(0.0) as i32], 0.0)
                    .integral
                    .abs()
                    < 1e-15
            );
            for x in [-1.7, -0.8, -0.1, 0.3, 0.65, 1.4, 2.9] {
                let mut modes = [0];
                law.initial_mode(x, &mut modes);
                // Fourth-order differences with e = 1e-3: polynomials of degree four or less, rounding 1e-12 alone.
                let e = 1e-3;
                let at = |d: f64| law.evaluate(&modes, x + d);
                let slope = |f: fn(&LawValue) -> f64| {
                    (8.0 * (f(&at(e)) - f(&at(-e))) - (f(&at(2.0 * e)) - f(&at(-2.0 * e))))
                        / (12.0 * e)
                };
                let here = at(0.0);
                assert!(
                    (slope(|h| h.force) - here.slope).abs() < 1e-10,
                    "{curve:?} at {x}"
                );
                assert!(
                    (slope(|h| h.integral) - here.force).abs() < 1e-10,
                    "{curve:?} at {x}"
                );
            }
        }
    }

    #[test]
    fn a_dead_zone_is_flat_by_lines_and_monotone_cubics() {
        // The table of a bump stop: a spline gives thousands of newtons between the stops.
        let points = vec![[-0.1, -5000.0], [-0.09, 0.0], [0.09, 0.0], [0.1, 5000.0]];
        for interpolation in [Interpolation::Linear, Interpolation::Monotone] {
            let law = ForceLaw::new(&Curve::Table {
                points: points.clone(),
                interpolation,
            });
            for x in [-0.08, 0.0, 0.03] {
                let mut modes = [0];
                law.initial_mode(x, &mut modes);
                let here = law.evaluate(&modes, x);
                assert!(
                    here.force.abs() < 1e-9 && here.slope.abs() < 1e-6,
                    "{here:?}"
                );
            }
            let mut modes = [0];
            law.initial_mode(0.11, &mut modes);
            let beyond = law.evaluate(&modes, 0.11).force;
            assert!(beyond > 9000.0, "continued: {beyond}");
            // Straight lines have kinks at the inner points only.
            let events = law.event_counts().events;
            let expected = if interpolation == Interpolation::Linear {
                4
            } else {
                0
            };
            assert_eq!(events, expected);
        }
    }

    #[test]
    fn the_integral_is_continuous_at_jumps() {
        let law = ForceLaw::new(&curves()[4]);
        for (bound, k) in [(-0.5, 0), (0.7, 1)] {
            let (low, high) = (law.evaluate(&[k], bound), law.evaluate(&[k + 1], bound));
            assert!((low.integral - high.integral).abs() < 1e-15);
            assert!((low.force - high.force).abs() > 0.1);
        }
    }

    #[test]
    fn modes_follow_the_bounds_and_a_chattering_jump_becomes_a_ramp() {
        let law = ForceLaw::new(&curves()[4]);
        let counts = law.event_counts();
        assert_eq!((counts.events, counts.modes), (4, 1));
        let mut modes = [0];
        law.initial_mode(0.0, &mut modes);
        assert_eq!(modes, [1]);
        assert_eq!(law.crossing(&modes, 0), Crossing::Falling);
        assert_eq!(law.crossing(&modes, 2), Crossing::Rising);
        assert_eq!(law.crossing(&modes, 3), Crossing::Off);
        law.handle_event(2, &mut modes);
        assert_eq!(modes, [2]);
        law.stop_chattering(2, &mut modes);
        assert_eq!(modes, [-2]);
        let (low, high) = (law.evaluate(&[1], 0.7).force, law.evaluate(&[2], 0.7).force);
        let ramp = law.evaluate(&modes, 0.7);
        assert!((ramp.force - 0.5 * (low + high)).abs() < 1e-12 && ramp.slope > 1e4);
        let beyond = 0.7 + RAMP_HALF_LENGTH * law.ramp_width;
        assert!((law.evaluate(&modes, beyond).force - high).abs() < 1e-12);
        assert_eq!(law.crossing(&modes, 2), Crossing::Rising);
        assert_eq!(law.crossing(&modes, 3), Crossing::Falling);
        law.handle_event(3, &mut modes);
        assert_eq!(modes, [1]);
        // The motion leaves a downward jump: no ramp.
        let down = ForceLaw::new(&Curve::Pieces(vec![
            CurvePiece {
                below: 0.0,
                polynomial: vec![1.0],
            },
            CurvePiece {
                below: f64::INFINITY,
                polynomial: vec![-1.0],
            },
        ]));
        let mut modes = [0];
        down.stop_chattering(0, &mut modes);
        assert_eq!(modes, [0]);
    }
}
