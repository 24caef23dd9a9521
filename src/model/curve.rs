//! A function of one variable, given by numbers.

use super::choice::choice;
use super::validate::{Range, refused};
use crate::error::Result;

choice! {
    /// `interpolation` of a table: how it goes between its points.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Interpolation {
        /// Straight lines; each point is a kink.
        Linear = "linear",
        /// Monotone cubics (PCHIP): smooth once, and never above or below two neighbouring points.
        #[default]
        Monotone = "monotone",
        /// Cubic spline: smooth twice; may leave the range of its points.
        Spline = "spline",
    }
}

/// A function of one variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// c0 + c1 x + c2 x² ..
    Polynomial(Vec<f64>),
    /// Points (x, y), x strictly increasing.
    Table {
        /// The points.
        points: Vec<[f64; 2]>,
        /// How it goes between them.
        interpolation: Interpolation,
    },
    /// Polynomials, each up to its bound.
    Pieces(Vec<CurvePiece>),
}

/// A piece of a [`Curve`].
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePiece {
    /// The piece applies for x below this bound; infinite for the last piece.
    pub below: f64,
    /// Coefficients c0, c1 ..
    pub polynomial: Vec<f64>,
}

impl Curve {
    /// Checks that the numbers are finite, x increases, and the last piece has no bound.
    pub(super) fn validate(&self, name: &str) -> Result<()> {
        let refuse = |expected: &str| Err(refused(name, &"a curve", expected));
        let finite = |values: &[f64]| {
            (values.iter()).try_for_each(|value| Range::Finite.check(|| name.to_owned(), *value))
        };
        match self {
            Self::Polynomial(coefficients) if coefficients.is_empty() => refuse("coefficients"),
            Self::Polynomial(coefficients) => finite(coefficients),
            Self::Table { points, .. } => {
                points.iter().try_for_each(|point| finite(point))?;
                if points.len() < 2 || points.windows(2).any(|two| two[0][0] >= two[1][0]) {
                    return refuse("two or more points, x increasing");
                }
                Ok(())
            }
            Self::Pieces(pieces) => {
                for piece in pieces {
                    if piece.polynomial.is_empty() {
                        return refuse("coefficients in every piece");
                    }
                    finite(&piece.polynomial)?;
                }
                let rising = pieces.windows(2).all(|two| two[0].below < two[1].below);
                let open = (pieces.last()).is_some_and(|last| last.below == f64::INFINITY);
                if !(rising && open) {
                    return refuse("pieces with increasing bounds, the last without");
                }
                Ok(())
            }
        }
    }

    /// The first bound at which two pieces differ in value or slope by more than a millionth of their largest term, or the
    /// first kink of a table joined by straight lines.
    pub(super) fn discontinuity(&self) -> Option<f64> {
        let pieces = match self {
            Self::Pieces(pieces) => pieces,
            Self::Table {
                points,
                interpolation: Interpolation::Linear,
            } => return kink(points),
            _ => return None,
        };
        pieces.windows(2).find_map(|two| {
            let x = two[0].below;
            let (left, right) = (
                value_and_slope(&two[0].polynomial, x),
                value_and_slope(&two[1].polynomial, x),
            );
            let differ = |k: usize| {
                let size = left[k].1.max(right[k].1);
                !((left[k].0 - right[k].0).abs() <= 1e-6 * size)
            };
            (differ(0) || differ(1)).then_some(x)
        })
    }
}

/// The first point at which the chords of a table differ by more than a millionth.
fn kink(points: &[[f64; 2]]) -> Option<f64> {
    points.windows(3).find_map(|w| {
        let chord = |k: usize| (w[k + 1][1] - w[k][1]) / (w[k + 1][0] - w[k][0]);
        let [a, b] = [chord(0), chord(1)];
        ((a - b).abs() > 1e-6 * a.abs().max(b.abs())).then_some(w[1][0])
    })
}

/// Value and slope of a polynomial, each with the magnitude of its largest term.
fn value_and_slope(coefficients: &[f64], x: f64) -> [(f64, f64); 2] {
    let (mut value, mut slope) = ((0.0, 0.0), (0.0, 0.0));
    for (k, c) in coefficients.iter().enumerate() {
        let term = c * x.powi(k as i32);
        value = (value.0 + term, f64::max(value.1, term.abs()));
        if k > 0 {
            let term = k as f64 * c * x.powi(k as i32 - 1);
            slope = (slope.0 + term, f64::max(slope.1, term.abs()));
        }
    }
    [value, slope]
}

/// Whether a table ends at the value it begins with, up to digits lost in a text.
pub(super) fn is_periodic(points: &[[f64; 2]]) -> bool {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return false;
    };
    let size = points.iter().fold(0.0f64, |most, p| most.max(p[1].abs()));
    (first[1] - last[1]).abs() <= 1e-9 * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_differ_at_their_bound_are_found() {
        let piece = |below: f64, polynomial: &[f64]| CurvePiece {
            below,
            polynomial: polynomial.to_vec(),
        };
        let of = |second: &[f64]| {
            Curve::Pieces(vec![
                piece(1.0, &[0.0, 0.0, 0.5]),
                piece(f64::INFINITY, second),
            ])
        };
        // x²/2 meets x − 1/2 at 1 with slope 1.
        assert_eq!(of(&[-0.5, 1.0]).discontinuity(), None);
        assert_eq!(of(&[-0.4, 1.0]).discontinuity(), Some(1.0));
        assert_eq!(of(&[-1.5, 2.0]).discontinuity(), Some(1.0));
        assert_eq!(Curve::Polynomial(vec![1.0]).discontinuity(), None);
        let table = |interpolation| Curve::Table {
            points: vec![[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 5.0]],
            interpolation,
        };
        assert_eq!(table(Interpolation::Linear).discontinuity(), Some(2.0));
        assert_eq!(table(Interpolation::Monotone).discontinuity(), None);
    }
}
