//! Functions of one variable with two derivatives: polynomials, tables, piecewise polynomials.

pub use crate::linalg::interpolation::{Jet, Spline, SplineEnds, polynomial};
use crate::linalg::interpolation::{PiecewiseCubic, TableEnds};
use crate::model::{Curve, Interpolation};

/// A function y(x), twice differentiable between its pieces.
#[derive(Clone, Debug)]
pub enum Function {
    /// c0 + c1 x + ..
    Polynomial(Vec<f64>),
    /// Cubic spline through points.
    Spline(Spline),
    /// Monotone cubics or straight lines through points.
    Table(PiecewiseCubic),
    /// Piecewise polynomial: upper bound and coefficients of each piece.
    Pieces(Vec<(f64, Vec<f64>)>),
}

impl Function {
    /// The function of a model's curve; a table is continued linearly beyond its ends.
    pub fn new(curve: &Curve) -> Self {
        match curve {
            Curve::Polynomial(c) => Self::Polynomial(c.clone()),
            Curve::Table {
                points,
                interpolation,
            } => match interpolation {
                Interpolation::Spline => Self::Spline(Spline::new(points, SplineEnds::Natural)),
                _ => Self::Table(table(points, *interpolation, TableEnds::Straight)),
            },
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
            Self::Table(table) => table.at(x),
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

impl Function {
    /// Bounds of the pieces, at which y'' jumps, ascending.
    pub fn bounds(&self) -> Vec<f64> {
        match self {
            Self::Polynomial(_) | Self::Spline(_) => vec![],
            Self::Table(table) => (table.pieces().map(|(below, ..)| below))
                .filter(|below| below.is_finite())
                .collect(),
            Self::Pieces(pieces) => (pieces.iter().map(|(below, _)| *below))
                .filter(|below| below.is_finite())
                .collect(),
        }
    }

    /// y, y', y'' at x by the polynomial of a piece, which need not contain x. Modes count pieces from 1; 0 is the piece that
    /// contains x.
    #[inline]
    pub fn in_mode(&self, mode: i32, x: f64) -> Jet {
        let piece = match mode.checked_sub(1) {
            Some(piece) if piece >= 0 => piece,
            _ => return self.at(x),
        };
        match self {
            Self::Table(table) => table.in_piece(piece.into(), x),
            Self::Pieces(pieces) => match pieces.get(piece as usize).or(pieces.last()) {
                Some((_, c)) => polynomial(c, x),
                None => [0.0; 3],
            },
            _ => self.at(x),
        }
    }
}

/// Straight lines or monotone cubics through points. A spline is no piecewise cubic of this kind: it is a [`Spline`].
pub fn table(points: &[[f64; 2]], interpolation: Interpolation, ends: TableEnds) -> PiecewiseCubic {
    match interpolation {
        Interpolation::Linear => PiecewiseCubic::linear(points, ends),
        Interpolation::Monotone | Interpolation::Spline => PiecewiseCubic::monotone(points, ends),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_ends_at_its_bound_and_the_last_has_none() {
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
