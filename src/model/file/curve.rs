//! A function of one variable: `{ polynomial = [..] }`, `{ table = [[x, y], ..], interpolation = ".." }` or
//! `{ pieces = [{ below = x, polynomial = [..] }, .., { polynomial = [..] }] }`; keys and reader.

use super::keys::{Key, KeyKind, REQUIRED};
use super::table::TableReader;
use crate::error::Result;
use crate::model::validate::Range;
use crate::model::{Curve, CurvePiece, Interpolation};

#[rustfmt::skip]
pub(super) const PIECE: [Key; 2] = [
    Key::new("below", KeyKind::Number(Range::Finite), "", "required except in the last",
        "the piece applies for x below this"),
    Key::new("polynomial", KeyKind::Numbers(1, MOST_COEFFICIENTS), "", REQUIRED, "coefficients [c0, c1, ..]"),
];

/// A function of one number.
#[rustfmt::skip]
pub(super) const CURVE: [Key; 4] = [
    Key::new("polynomial", KeyKind::Numbers(1, MOST_COEFFICIENTS), "", "one of these",
        "c0 + c1 x + c2 x^2 .."),
    Key::new("table", KeyKind::Pairs, "", "one of these", "points [x, y], x increasing"),
    INTERPOLATION,
    Key::new("pieces", KeyKind::Tables(&PIECE), "", "one of these",
        "polynomials, each up to its bound: [{ below = x, polynomial = [..] }, .., { polynomial = [..] }]"),
];

/// How a table goes between its points.
#[rustfmt::skip]
pub(super) const INTERPOLATION: Key =
    Key::new("interpolation", KeyKind::Choice(&Interpolation::NAMES), "", "monotone",
        "between the points: monotone (smooth once, never beyond two neighbouring points), linear, or spline (smooth twice, may leave the range of the points)");

/// The keys of which a curve has exactly one.
pub(super) const ONE_OF: [&str; 3] = ["polynomial", "table", "pieces"];

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

/// Reads `interpolation`.
pub(super) fn interpolation(table: &TableReader) -> Result<Interpolation> {
    let choice = table.choice(INTERPOLATION.name, &Interpolation::ALL)?;
    Ok(choice.unwrap_or_default())
}

/// Reads the curve in a table.
pub(super) fn curve(table: &TableReader) -> Result<Curve> {
    table.keys_among(&CURVE);
    let given: Vec<&str> = ONE_OF.into_iter().filter(|key| table.has(key)).collect();
    if given != ["table"] && table.has(INTERPOLATION.name) {
        return Err(table.refuse_key(INTERPOLATION.name, "\"interpolation\" is for a table"));
    }
    match given[..] {
        ["polynomial"] => Ok(Curve::Polynomial(polynomial(table, "polynomial")?)),
        ["table"] => Ok(Curve::Table {
            points: table.needed_rising_pairs("table")?,
            interpolation: interpolation(table)?,
        }),
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
