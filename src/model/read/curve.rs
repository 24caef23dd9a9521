//! A function of one number: `{ polynomial = [..] }`, `{ table = [[x, y], ..] }` or
//! `{ pieces = [{ below = x, polynomial = [..] }, .., { polynomial = [..] }] }`.

use crate::error::Result;
use crate::model::check::Range;
use crate::model::keys::{CURVE, PIECE};
use crate::model::reader::TableReader;
use crate::model::{Curve, CurvePiece};

/// Most coefficients of a polynomial: beyond this it is a slip, and its powers are nothing but rounding.
const MOST_COEFFICIENTS: usize = 64;

/// Coefficients under a key, at least one.
pub fn polynomial(table: &TableReader, key: &str) -> Result<Vec<f64>> {
    let coefficients = table.needed_numbers(key, "coefficients [c0, c1, ..]", 1)?;
    if coefficients.len() > MOST_COEFFICIENTS {
        let n = coefficients.len();
        let message = format!("{key} has {n} coefficients; at most {MOST_COEFFICIENTS} are read");
        return Err(table.refuse_value(key, message));
    }
    Ok(coefficients)
}

/// The curve in a table.
pub fn curve(table: &TableReader) -> Result<Curve> {
    table.keys_among(&CURVE)?;
    let keys = CURVE.map(|key| key.name);
    let given: Vec<&str> = keys.into_iter().filter(|key| table.has(key)).collect();
    match given[..] {
        ["polynomial"] => Ok(Curve::Polynomial(polynomial(table, "polynomial")?)),
        ["table"] => Ok(Curve::Table(table.needed_rising_pairs("table")?)),
        ["pieces"] => pieces(table),
        _ => Err(table.refuse(format!(
            "expected one of polynomial = [..], table = [[x, y], ..], pieces = [..], found {} of them",
            given.len()
        ))),
    }
}

fn pieces(table: &TableReader) -> Result<Curve> {
    let tables = table.tables("pieces")?;
    let mut pieces: Vec<CurvePiece> = Vec::with_capacity(tables.len());
    for (i, part) in tables.iter().enumerate() {
        part.keys_among(&PIECE)?;
        let last = i + 1 == tables.len();
        let below = part.number("below", Range::Finite)?;
        let below = match (below, last) {
            (Some(_), true) => {
                return Err(part.refuse_key(
                    "below",
                    "the last piece holds for all that is left: it takes no \"below\"",
                ));
            }
            (None, true) => f64::INFINITY,
            (Some(below), false) => below,
            (None, false) => {
                return Err(part.refuse(
                    "\"below\" is missing: expected a finite number; only the last piece has none",
                ));
            }
        };
        if let Some(before) = pieces.last()
            && below <= before.below
        {
            let message = format!(
                "below must be larger than that of the piece before, {}; found {below}",
                before.below
            );
            return Err(part.refuse_value("below", message));
        }
        pieces.push(CurvePiece {
            below,
            polynomial: polynomial(part, "polynomial")?,
        });
    }
    if pieces.is_empty() {
        return Err(table.refuse_value("pieces", "pieces must be one or more tables"));
    }
    Ok(Curve::Pieces(pieces))
}

/// Value and slope of a polynomial, and how large their terms are.
fn at(coefficients: &[f64], x: f64) -> [(f64, f64); 2] {
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

/// The first bound at which the pieces do not meet in value and slope, to a millionth of their terms.
pub fn kink(curve: &Curve) -> Option<f64> {
    let Curve::Pieces(pieces) = curve else {
        return None;
    };
    pieces.windows(2).find_map(|two| {
        let x = two[0].below;
        let (left, right) = (at(&two[0].polynomial, x), at(&two[1].polynomial, x));
        let apart = |k: usize| {
            let size = left[k].1.max(right[k].1);
            !((left[k].0 - right[k].0).abs() <= 1e-6 * size)
        };
        (apart(0) || apart(1)).then_some(x)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_do_not_meet_are_found() {
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
        assert_eq!(kink(&of(&[-0.5, 1.0])), None);
        assert_eq!(kink(&of(&[-0.4, 1.0])), Some(1.0));
        assert_eq!(kink(&of(&[-1.5, 2.0])), Some(1.0));
        assert_eq!(kink(&Curve::Polynomial(vec![1.0])), None);
    }
}
