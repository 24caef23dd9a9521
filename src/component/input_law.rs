//! Laws of inputs as functions of time, smooth between breaks. A break (a jump or a kink) is an event: a substep ends there, and
//! within a substep the law is that of one piece.

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::linalg::elementary::sin_cos;
use crate::linalg::interpolation::{PiecewiseCubic, Spline, SplineEnds, TableEnds};
use crate::model::{Interpolation, Model, SignalLaw, TimeExpression};

/// A law u(t).
#[derive(Clone, Debug)]
pub(super) enum InputLaw {
    /// Polynomials that meet with jumps or kinks.
    Pieces(PiecewiseCubic),
    /// A spline, smooth everywhere.
    Spline(Spline),
    /// offset + amplitude sin(angular t + phase)
    Sine {
        amplitude: f64,
        angular: f64,
        phase: f64,
        offset: f64,
    },
    /// offset + amplitude sin(ψ), with dψ/dt from one angular frequency to another between two times.
    Chirp {
        amplitude: f64,
        angular: [f64; 2],
        times: [f64; 2],
        offset: f64,
    },
    /// An expression of time.
    Expression(TimeExpression),
}

impl InputLaw {
    // Long because every law has numbers of its own.
    fn new(law: &SignalLaw) -> Self {
        let constant = |value: f64| [value, 0.0, 0.0, 0.0];
        match law {
            SignalLaw::Constant(value) => Self::Pieces(PiecewiseCubic::from_pieces(
                vec![0.0],
                vec![constant(*value); 2],
            )),
            SignalLaw::Step {
                time,
                before,
                after,
            } => Self::Pieces(PiecewiseCubic::from_pieces(
                vec![*time],
                vec![constant(*before), constant(*after)],
            )),
            SignalLaw::Ramp { times, values } => {
                let points = [[times[0], values[0]], [times[1], values[1]]];
                Self::Pieces(PiecewiseCubic::linear(&points, TableEnds::Constant))
            }
            SignalLaw::Sine {
                amplitude,
                frequency,
                phase,
                offset,
            } => Self::Sine {
                amplitude: *amplitude,
                angular: TAU * frequency,
                phase: *phase,
                offset: *offset,
            },
            SignalLaw::Chirp {
                amplitude,
                frequencies,
                times,
                offset,
            } => Self::Chirp {
                amplitude: *amplitude,
                angular: frequencies.map(|f| TAU * f),
                times: *times,
                offset: *offset,
            },
            SignalLaw::Pulse {
                period,
                width,
                start,
                low,
                high,
            } => Self::Pieces(PiecewiseCubic::periodic_pieces(
                vec![*start, start + width, start + period],
                vec![
                    constant(*low),
                    constant(*high),
                    constant(*low),
                    constant(*low),
                ],
            )),
            SignalLaw::Table {
                points,
                interpolation: Interpolation::Spline,
                periodic,
            } => Self::Spline(Spline::new(
                points,
                match periodic {
                    true => SplineEnds::Periodic,
                    false => SplineEnds::Clamped,
                },
            )),
            SignalLaw::Table {
                points,
                interpolation,
                periodic,
            } => {
                let ends = match periodic {
                    true => TableEnds::Periodic,
                    false => TableEnds::Constant,
                };
                let make = match interpolation {
                    Interpolation::Linear => PiecewiseCubic::linear,
                    _ => PiecewiseCubic::monotone,
                };
                Self::Pieces(PiecewiseCubic::with_jumps(points, ends, make))
            }
            SignalLaw::Expression(expression) => Self::Expression(expression.clone()),
        }
    }

    /// The piece that applies from `t` on.
    pub fn piece_at(&self, t: f64) -> i64 {
        match self {
            Self::Pieces(pieces) => pieces.piece_at(t),
            Self::Chirp { times, .. } => times.iter().filter(|time| **time <= t).count() as i64,
            Self::Spline(_) | Self::Sine { .. } | Self::Expression(_) => 0,
        }
    }

    /// The time at which a piece ends; infinite for the last.
    pub fn upper_bound(&self, piece: i64) -> f64 {
        match self {
            Self::Pieces(pieces) => pieces.upper_bound(piece),
            Self::Chirp { times, .. } => {
                (times.get(piece.max(0) as usize).copied()).unwrap_or(f64::INFINITY)
            }
            Self::Spline(_) | Self::Sine { .. } | Self::Expression(_) => f64::INFINITY,
        }
    }

    /// u, u̇, ü at `t` by a piece.
    pub fn at(&self, piece: i64, t: f64) -> [f64; 3] {
        match self {
            Self::Pieces(pieces) => pieces.in_piece(piece, t),
            Self::Spline(spline) => spline.at(t),
            Self::Sine {
                amplitude,
                angular,
                phase,
                offset,
            } => oscillation(*amplitude, *offset, [angular * t + phase, *angular, 0.0]),
            Self::Chirp {
                amplitude,
                angular: [first, last],
                times: [begin, end],
                offset,
            } => {
                let rise = (last - first) / (end - begin);
                let over = |s: f64| [s * (first + 0.5 * rise * s), first + rise * s, rise];
                let psi = match piece {
                    0 => [0.0; 3],
                    1 => over(t - begin),
                    _ => [over(end - begin)[0] + last * (t - end), *last, 0.0],
                };
                oscillation(*amplitude, *offset, psi)
            }
            Self::Expression(expression) => expression.at(t),
        }
    }

    /// ∫u and ∫∫u from `a` to `b` by a piece: exact for polynomials, by three points of Gauss, and for a sine.
    pub fn integrals(&self, piece: i64, a: f64, b: f64) -> [f64; 2] {
        if let Self::Sine {
            amplitude,
            angular,
            phase,
            offset,
        } = self
            && *angular != 0.0
        {
            let (h, w) = (b - a, *angular);
            let ((sa, ca), (sb, cb)) = (sin_cos(w * a + phase), sin_cos(w * b + phase));
            return [
                offset * h + amplitude * (ca - cb) / w,
                0.5 * offset * h * h + amplitude * (ca * h / w + (sa - sb) / (w * w)),
            ];
        }
        let (mean, half) = (0.5 * (a + b), 0.5 * (b - a));
        let x = 0.6_f64.sqrt();
        let mut sums = [0.0; 2];
        for (node, weight) in [(-x, 5.0 / 9.0), (0.0, 8.0 / 9.0), (x, 5.0 / 9.0)] {
            let t = mean + half * node;
            let u = self.at(piece, t)[0];
            sums[0] += half * weight * u;
            sums[1] += half * weight * u * (b - t);
        }
        sums
    }
}

/// offset + amplitude sin ψ with two derivatives; ψ with its own.
fn oscillation(amplitude: f64, offset: f64, [psi, rate, change]: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = sin_cos(psi);
    [
        offset + amplitude * sin,
        amplitude * rate * cos,
        amplitude * (change * cos - rate * rate * sin),
    ]
}

/// The laws of the inputs of a model, shared: they do not change. Equal whatever they are, since a state belongs to one model.
#[derive(Clone, Debug, Default)]
pub(super) struct InputLaws(Arc<[Option<InputLaw>]>);

impl PartialEq for InputLaws {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl InputLaws {
    pub fn new(model: &Model) -> Self {
        if model.signals.is_empty() {
            return Self::default();
        }
        let of = |input: usize| {
            let signal = model.signals.iter().find(|signal| signal.input == input)?;
            Some(InputLaw::new(&signal.law))
        };
        Self((0..model.inputs.len()).map(of).collect())
    }

    /// The law of an input.
    pub fn get(&self, input: usize) -> Option<&InputLaw> {
        self.0.get(input)?.as_ref()
    }
}

/// The start value of an input with a law.
pub(super) fn start_of_law(model: &Model, input: usize) -> Option<f64> {
    let law = InputLaws::new(model);
    let law = law.get(input)?;
    let t = model.experiment.start;
    Some(law.at(law.piece_at(t), t)[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> Vec<SignalLaw> {
        let table = |interpolation| SignalLaw::Table {
            points: vec![[0.0, 1.0], [0.5, 2.0], [0.5, -1.0], [2.0, 0.5], [3.0, 4.0]],
            interpolation,
            periodic: false,
        };
        vec![
            SignalLaw::Constant(2.5),
            SignalLaw::Step {
                time: 1.0,
                before: 0.0,
                after: 10.0,
            },
            SignalLaw::Ramp {
                times: [0.5, 2.0],
                values: [1.0, -2.0],
            },
            SignalLaw::Sine {
                amplitude: 3.0,
                frequency: 0.7,
                phase: 0.3,
                offset: 1.0,
            },
            SignalLaw::Chirp {
                amplitude: 2.0,
                frequencies: [0.5, 2.0],
                times: [0.5, 2.5],
                offset: 0.5,
            },
            SignalLaw::Pulse {
                period: 0.8,
                width: 0.3,
                start: 0.1,
                low: -1.0,
                high: 2.0,
            },
            table(Interpolation::Linear),
            table(Interpolation::Monotone),
        ]
    }

    #[test]
    fn derivatives_and_integrals_agree_with_differences_inside_each_piece() {
        for law in laws() {
            let made = InputLaw::new(&law);
            for t in [-0.5, 0.2, 0.7, 1.3, 1.9, 2.7, 3.4] {
                let piece = made.piece_at(t);
                assert!(t < made.upper_bound(piece), "{law:?} at {t}");
                let e = 1e-4;
                let (a, b, here) = (
                    made.at(piece, t - e),
                    made.at(piece, t + e),
                    made.at(piece, t),
                );
                for k in 0..2 {
                    // Truncation 1e-8 times third derivatives below 1e4.
                    assert!(
                        ((b[k] - a[k]) / (2.0 * e) - here[k + 1]).abs() < 2e-4,
                        "{law:?} at {t}"
                    );
                }
                if !law.can_be_integrated() {
                    continue;
                }
                // Both integrals by their rates: d/db ∫u = u, d/db ∫∫u = ∫u.
                let over = |end: f64| made.integrals(piece, t, end);
                let (before, after, now) = (over(t + 0.2 - e), over(t + 0.2 + e), over(t + 0.2));
                let u = made.at(piece, t + 0.2)[0];
                assert!(
                    ((after[0] - before[0]) / (2.0 * e) - u).abs() < 1e-6,
                    "{law:?}"
                );
                assert!(
                    ((after[1] - before[1]) / (2.0 * e) - now[0]).abs() < 1e-6,
                    "{law:?}"
                );
            }
        }
    }

    #[test]
    fn values_are_those_of_the_laws() {
        let at = |k: usize, t: f64| {
            let made = InputLaw::new(&laws()[k]);
            made.at(made.piece_at(t), t)[0]
        };
        assert_eq!([at(1, 0.99), at(1, 1.0), at(1, 5.0)], [0.0, 10.0, 10.0]);
        assert_eq!([at(2, 0.0), at(2, 1.25), at(2, 9.0)], [1.0, -0.5, -2.0]);
        assert_eq!(
            [at(5, 0.2), at(5, 0.5), at(5, 1.0), at(5, -0.65)],
            [2.0, -1.0, 2.0, 2.0]
        );
        assert_eq!([at(6, 0.25), at(6, 1.25), at(6, 7.0)], [1.5, -0.25, 4.0]);
        assert_eq!([at(4, 0.0), at(4, 0.5)], [0.5, 0.5]);
    }
}
