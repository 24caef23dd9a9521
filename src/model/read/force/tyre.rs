//! `tyre`: a wheel on a road.

use super::ForceKind;
use super::load::moving;
use super::spring::characteristic;
use crate::error::Result;
use crate::model::check::{Range, across};
use crate::model::read::curve::curve;
use crate::model::read::names::Names;
use crate::model::reader::{TableReader, unit};
use crate::model::{Characteristic, ForceApplication, TyreDefinition};

pub fn tyre(
    table: &TableReader,
    names: &Names,
    gravity: [f64; 3],
) -> Result<(ForceKind, ForceApplication)> {
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
        Some(direction) => across(up, direction).ok_or_else(|| {
            table.refuse_value(
                "forward",
                "forward must not be along up: it is the direction of the road",
            )
        })?,
        None => (across(up, [1.0, 0.0, 0.0]).or_else(|| across(up, [0.0, 1.0, 0.0])))
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
