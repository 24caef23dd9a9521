//! `tyre`: keys and reader.

use super::load::moving;
use super::spring::characteristic;
use super::{Element, FINITE, ForceReader, HEAD, POSITIVE, damping, of, stiffness};
use crate::error::Result;
use crate::model::file::curve::curve;
use crate::model::file::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use crate::model::file::table::unit;
use crate::model::validate::{Range, perpendicular_part};
use crate::model::{Characteristic, ForceApplication, ForceKind, ForceType, TyreDefinition};

#[rustfmt::skip]
pub(super) const TYRE: KeyGroup = of(
    ForceType::Tyre,
    "A wheel on a road: a force along the road's upward direction at the wheel's centre, while the tyre is compressed.",
    &[
        &HEAD,
        &[
            Key::new("body", KeyKind::Text, "", REQUIRED, "the body that carries the wheel"),
            Key::new("point", KeyKind::Vector, "m", "zero", "the wheel's centre in the body frame"),
            Key::new("road", KeyKind::Text, "", "\"ground\"",
                "the body whose road it is: the ground, or a prescribed body"),
            Key::new("road_point", KeyKind::Vector, "m", "zero",
                "origin of heights and distances, in the road's frame"),
            Key::new("radius", POSITIVE, "m", REQUIRED, "unloaded radius"),
            Key {
                default: REQUIRED,
                ..stiffness("N/m")
            },
            damping("N.s/m"),
            Key::new("up", KeyKind::Vector, "", "against gravity", "in the road's axes"),
            Key::new("forward", KeyKind::Vector, "", "part of the x axis perpendicular to up",
                "along the road, in its axes"),
            Key::new("profile", KeyKind::Curve, "m over m", "level",
                "height as a function of distance; pieces may be discontinuous"),
            Key::new("height", FINITE, "m", "0", "added to the profile; can be driven by an input"),
            Key::new("speed", FINITE, "m/s", "0",
                "speed of the road below the wheel: distance = forward . (wheel - road_point) + offset + speed time"),
            Key::new("offset", FINITE, "m", "0", "added to the distance"),
        ],
    ],
);

/// Reads `tyre`.
pub(super) fn tyre(reader: &ForceReader) -> Result<Element> {
    let ForceReader {
        table,
        names,
        gravity,
        ..
    } = reader;
    let wheel = moving(table, names)?;
    let road = match table.text("road")? {
        None => None,
        Some(name) => names.body(table, name, table.offset_of("road"))?,
    };
    if road == wheel {
        return Err(table.refuse_value("road", "the road must be another body than the wheel's"));
    }
    let up = match table.direction("up")? {
        Some(up) => up,
        None => match unit(gravity.map(|x| -x)) {
            Some(up) => up,
            None => {
                return Err(table.refuse("\"up\" is missing: without gravity the road has no upward direction of its own"));
            }
        },
    };
    let forward = match table.direction("forward")? {
        Some(direction) => perpendicular_part(up, direction).ok_or_else(|| {
            table.refuse_value(
                "forward",
                "forward must not be along up: it is the direction of the road",
            )
        })?,
        None => (perpendicular_part(up, [1.0, 0.0, 0.0])
            .or_else(|| perpendicular_part(up, [0.0, 1.0, 0.0])))
        .expect("up is not along both axes"),
    };
    let Some(stiffness) = characteristic(table, "stiffness")? else {
        return Err(table.refuse("\"stiffness\" is missing: expected a number >= 0 or a law"));
    };
    let number = |key: &str| {
        Ok::<f64, crate::error::Error>(table.number(key, Range::Finite)?.unwrap_or(0.0))
    };
    let tyre = TyreDefinition {
        radius: table.needed_number("radius", Range::Positive)?,
        stiffness,
        damping: characteristic(table, "damping")?.unwrap_or(Characteristic::Linear(0.0)),
        up,
        forward,
        profile: table.table("profile")?.map(|law| curve(&law)).transpose()?,
        height: number("height")?,
        speed: number("speed")?,
        offset: number("offset")?,
    };
    let points = [
        table.vector("road_point")?.unwrap_or_default(),
        table.vector("point")?.unwrap_or_default(),
    ];
    Ok((
        ForceKind::Tyre(tyre),
        ForceApplication::Points {
            bodies: [road, wheel],
            points,
        },
    ))
}
