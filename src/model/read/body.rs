//! `[[body]]` with its shape, and `[[sensor]]`.

use super::names::Names;
use crate::error::Result;
use crate::model::check::{InertiaDefect, RESERVED_ELEMENTS, Range, judge_inertia};
use crate::model::keys::{BODY, PRESCRIBED, ROTATION, SENSOR, SHAPE};
use crate::model::reader::{TableReader, unit};
use crate::model::{Body, BodyShape, Sensor};

pub fn body_keys(table: &TableReader) -> Result<()> {
    if table
        .flag("prescribed")
        .is_ok_and(|flag| flag == Some(true))
    {
        for (key, instead) in [
            ("mass", "it has no mass"),
            ("inertia", "it has no mass"),
            ("velocity", "its rates are those of its motions"),
            ("angular_velocity", "its rates are those of its motions"),
        ] {
            if table.has(key) {
                let message = format!("a prescribed body takes no \"{key}\": {instead}");
                return Err(table.refuse_key(key, message));
            }
        }
        return table.keys_of(&PRESCRIBED);
    }
    table.keys_of(&BODY)
}

pub fn body(table: &TableReader) -> Result<Body> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let plane = table.dimension() == 2;
    let prescribed = table.flag("prescribed")?.unwrap_or(false);
    let mut body = Body {
        name: name.to_owned(),
        position: table.vector("position")?.unwrap_or_default(),
        center_of_mass: table.vector("center_of_mass")?.unwrap_or_default(),
        prescribed,
        shape: table.table("shape")?.map(|t| shape(&t)).transpose()?,
        place: table.place(),
        ..Body::default()
    };
    if plane {
        body.angle = table.number("angle", Range::Finite)?.unwrap_or(0.0);
    } else {
        body.orientation = orientation(table)?;
    }
    if prescribed {
        return Ok(body);
    }
    body.mass = table.needed_number("mass", Range::NonNegative)?;
    body.inertia = inertia(table)?;
    body.velocity = table.vector("velocity")?.unwrap_or_default();
    body.angular_velocity = if plane {
        let about_z = table.number("angular_velocity", Range::Finite)?;
        [0.0, 0.0, about_z.unwrap_or(0.0)]
    } else {
        table.vector("angular_velocity")?.unwrap_or_default()
    };
    Ok(body)
}

fn inertia(table: &TableReader) -> Result<[f64; 6]> {
    if table.dimension() == 2 {
        let zz = table.needed_number("inertia", Range::NonNegative)?;
        return Ok([0.0, 0.0, zz, 0.0, 0.0, 0.0]);
    }
    const EXPECTED: &str = "[Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]";
    let given = table.needed_numbers("inertia", EXPECTED, 3)?;
    let mut inertia = [0.0; 6];
    match given.len() {
        3 | 6 => inertia[..given.len()].copy_from_slice(&given),
        n => {
            let message = format!("inertia must be {EXPECTED}, found an array of {n} values");
            return Err(table.refuse_value("inertia", message));
        }
    }
    match judge_inertia(&inertia) {
        InertiaDefect::Sound | InertiaDefect::Rounded => Ok(inertia),
        InertiaDefect::Impossible(why) => {
            Err(table.refuse_value("inertia", format!("inertia of no real body: {why}")))
        }
    }
}

/// `orientation` or `rotation`, as a unit quaternion.
fn orientation(table: &TableReader) -> Result<[f64; 4]> {
    let rotation = table.table("rotation")?;
    if table.has("orientation") {
        if rotation.is_some() {
            return Err(table.refuse_key(
                "rotation",
                "give either \"orientation\" (a quaternion) or \"rotation\" (axis and angle), not both",
            ));
        }
        const EXPECTED: &str = "a quaternion [w, x, y, z]";
        let given = table.needed_numbers("orientation", EXPECTED, 0)?;
        let Ok(quaternion) = <[f64; 4]>::try_from(&given[..]) else {
            let n = given.len();
            let message = format!("orientation must be {EXPECTED}, found an array of {n} values");
            return Err(table.refuse_value("orientation", message));
        };
        return unit(quaternion).ok_or_else(|| {
            table.refuse_value(
                "orientation",
                "orientation must not be zero: a quaternion [w, x, y, z] with a length",
            )
        });
    }
    let Some(rotation) = rotation else {
        return Ok([1.0, 0.0, 0.0, 0.0]);
    };
    rotation.keys_among(&ROTATION)?;
    let [x, y, z] = rotation.needed_direction("axis")?;
    let (sin, cos) = (0.5 * rotation.needed_number("angle", Range::Finite)?).sin_cos();
    Ok([cos, sin * x, sin * y, sin * z])
}

fn shape(table: &TableReader) -> Result<BodyShape> {
    table.keys_among(&SHAPE)?;
    let keys = SHAPE.map(|key| key.name);
    let given: Vec<&str> = keys.into_iter().filter(|key| table.has(key)).collect();
    match given[..] {
        ["box"] => {
            let edges = table.needed_vector("box")?;
            if edges[..table.dimension()].iter().any(|edge| *edge <= 0.0) {
                return Err(table.refuse_value("box", "the edges of a box must be > 0"));
            }
            Ok(BodyShape::Box(edges))
        }
        ["circle"] => Ok(BodyShape::Circle(
            table.needed_number("circle", Range::Positive)?,
        )),
        ["line"] => {
            let points = table.vectors("line")?.unwrap_or_default();
            if points.len() < 2 {
                return Err(table.refuse_value("line", "a line needs at least two points"));
            }
            Ok(BodyShape::Line(points))
        }
        [] => Err(table
            .refuse("expected one of box = [width, height], circle = radius, line = [[x, y], ..]")),
        _ => Err(table.refuse(format!(
            "expected one of {}, found {} of them",
            keys.join(", "),
            given.len()
        ))),
    }
}

pub fn sensor_keys(table: &TableReader) -> Result<()> {
    table.keys_of(&SENSOR)
}

pub fn sensor(table: &TableReader, names: &Names) -> Result<Sensor> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let body = table.needed_text("body", "the name of a body")?;
    Ok(Sensor {
        name: name.to_owned(),
        body: names.body(table, body, table.offset_of("body"))?,
        point: table.vector("point")?.unwrap_or_default(),
        place: table.place(),
    })
}
