//! `[[body]]` with its shape, and `[[sensor]]`.

use super::TOP;
use super::names::Names;
use crate::error::Result;
use crate::model::check::{RESERVED_ELEMENTS, Range};
use crate::model::reader::Table;
use crate::model::{Body, Sensor, Shape};

pub fn body_keys(table: &Table) -> Result<()> {
    table.keys(
        &[
            "name",
            "mass",
            "inertia",
            "position",
            "angle",
            "velocity",
            "angular_velocity",
            "center_of_mass",
            "shape",
        ],
        &["orientation", "prescribed"],
        &TOP,
    )
}

pub fn body(table: &Table) -> Result<Body> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let zz = table.needed_number("inertia", Range::NonNegative);
    Ok(Body {
        name: name.to_owned(),
        mass: table.needed_number("mass", Range::NonNegative)?,
        inertia: [0.0, 0.0, zz?, 0.0, 0.0, 0.0],
        position: table.plane_vector("position")?.unwrap_or_default(),
        angle: table.number("angle", Range::Finite)?.unwrap_or(0.0),
        velocity: table.plane_vector("velocity")?.unwrap_or_default(),
        angular_velocity: [
            0.0,
            0.0,
            table
                .number("angular_velocity", Range::Finite)?
                .unwrap_or(0.0),
        ],
        center_of_mass: table.plane_vector("center_of_mass")?.unwrap_or_default(),
        shape: table.table("shape")?.map(|t| shape(&t)).transpose()?,
        place: table.place(),
    })
}

fn shape(table: &Table) -> Result<Shape> {
    const KEYS: [&str; 3] = ["box", "circle", "line"];
    table.keys(&KEYS, &[], &[])?;
    let given: Vec<&str> = KEYS.into_iter().filter(|key| table.has(key)).collect();
    match given[..] {
        ["box"] => {
            let edges = table.needed_plane_vector("box")?;
            if edges[0] <= 0.0 || edges[1] <= 0.0 {
                return Err(table.refuse_value("box", "the edges of a box must be > 0"));
            }
            Ok(Shape::Box(edges))
        }
        ["circle"] => Ok(Shape::Circle(
            table.needed_number("circle", Range::Positive)?,
        )),
        ["line"] => {
            let points = table.plane_vectors("line")?.unwrap_or_default();
            if points.len() < 2 {
                return Err(table.refuse_value("line", "a line needs at least two points"));
            }
            Ok(Shape::Line(points))
        }
        [] => Err(table
            .refuse("expected one of box = [width, height], circle = radius, line = [[x, y], ..]")),
        _ => Err(table.refuse(format!(
            "expected one of {}, found {} of them",
            KEYS.join(", "),
            given.len()
        ))),
    }
}

pub fn sensor_keys(table: &Table) -> Result<()> {
    table.keys(&["name", "body", "point"], &[], &TOP)
}

pub fn sensor(table: &Table, names: &Names) -> Result<Sensor> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let body = table.needed_text("body", "the name of a body")?;
    Ok(Sensor {
        name: name.to_owned(),
        body: names.body(table, body, table.offset_of("body"))?,
        point: table.plane_vector("point")?.unwrap_or_default(),
        place: table.place(),
    })
}
