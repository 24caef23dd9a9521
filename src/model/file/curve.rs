//! A function of one variable: `{ polynomial = [..] }`, `{ table = [[x, y], ..] }` or
//! `{ pieces = [{ below = x, polynomial = [..] }, .., { polynomial = [..] }] }`; keys and reader.

use super::keys::{Key, KeyKind, REQUIRED};
use super::table::TableReader;
use crate::error::Result;
use crate::model::validate::Range;
use crate::model::{Curve, CurvePiece};

#[rustfmt::skip]
pub(super) const PIECE: [Key; 2] = [
    Key::new("below", KeyKind::Number(Range::Finite), "", "required except in the last",
        "the piece applies for x below this"),
    Key::new("polynomial", KeyKind::Numbers(1, MOST_COEFFICIENTS), "", REQUIRED, "coefficients [c0, c1, ..]"),
];

/// A function of one number.
#[rustfmt::skip]
pub(super) const CURVE: [Key; 3] = [
    Key::new("polynomial", KeyKind::Numbers(1, MOST_COEFFICIENTS), "", "one of these",
        "c0 + c1 x + c2 x^2 .."),
    Key::new("table", KeyKind::Pairs, "", "one of these", "points [x, y], x increasing"),
    Key::new("pieces", KeyKind::Tables(&PIECE), "", "one of these",
        "polynomials, each up to its bound: [{ below = x, polynomial = [..] }, .., { polynomial = [..] }]"),
];

/// Largest number of coefficients of a polynomial: more are a mistake, and their powers are rounding errors only.
pub(super) const MOST_COEFFICIENTS: usize = 64;

/// Coefficients under a key, at least one.
pub(super) fn polynomial(table: &TableReader, key: &str) -> Result<Vec<f64>> {
    let coefficients = table.needed_numbers(key, "coefficients [c0, c1, ..]", 1)?;
    if coefficients.len() > MOST_COEFFICIENTS {
        let n = coefficients.len();
        let message = format!("{key} has {n} coefficients; at most {MOST_COEFFICIENTS} are read");
        return Err(table.refuse_value(key, message));
    }
    Ok(coefficients)
}

/// Reads the curve in a table.
pub(super) fn curve(table: &TableReader) -> Result<Curve> {
    table.keys_among(&CURVE);
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
        part.keys_among(&PIECE);
        let last = i + 1 == tables.len();
        let below = part.number("below", Range::Finite)?;
        let below = match (below, last) {
            (Some(_), true) => {
                return Err(part.refuse_key(
                    "below",
                    "the last piece has no upper bound: it takes no \"below\"",
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
