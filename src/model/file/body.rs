//! `[[body]]` and `[[sensor]]`: keys and reader.

use std::path::PathBuf;

use super::keys::{DESCRIPTION, Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use super::names::Names;
use super::table::{TableReader, unit};
use crate::error::Result;
use crate::linalg::elementary::sin_cos;
use crate::model::body::{InertiaDefect, check_inertia};
use crate::model::validate::{RESERVED_ELEMENTS, Range};
use crate::model::{Body, BodyShape, MeshFile, Sensor};

#[rustfmt::skip]
const MESH: [Key; 5] = [
    Key::new("file", KeyKind::Text, "", REQUIRED, "STL, OBJ or Collada (.dae) file, relative to the model"),
    Key::new("scale", KeyKind::Vector, "", "[1, 1, 1]", "factors of its coordinates x, y, z, to metres"),
    Key::new("position", KeyKind::Vector, "m", "zero", "origin of the mesh in the body frame"),
    Key::new("orientation", KeyKind::Numbers(4, 4), "", "[1, 0, 0, 0]", "of the mesh in the body frame: quaternion [w, x, y, z]"),
    Key::new("rotation", KeyKind::Table(&ROTATION), "", "none", "the same by an axis and an angle"),
];

#[rustfmt::skip]
pub(super) const SHAPE: [Key; 4] = [
    Key::new("box", KeyKind::Vector, "m", "one of these", "edge lengths, > 0"),
    Key::new("circle", KeyKind::Number(Range::Positive), "m", "one of these", "radius"),
    Key::new("line", KeyKind::Vectors(None), "m", "one of these", "polyline through points of the body frame"),
    Key::new("mesh", KeyKind::Table(&MESH), "", "one of these", "triangles of a file: { file = \"link.stl\" }")
    .only(KeyDimension::Space),
];

#[rustfmt::skip]
pub(super) const ROTATION: [Key; 2] = [
    Key::new("axis", KeyKind::Vector, "", REQUIRED, "ground axes, any length but zero"),
    Key::new("angle", KeyKind::Number(Range::Finite), "rad", REQUIRED, "right-handed about the axis"),
];

const NAME: Key = Key::new("name", KeyKind::Name, "", REQUIRED, "name of the element");

const HEAD: [Key; 2] = [NAME, DESCRIPTION];

#[rustfmt::skip]
const POSE: [Key; 7] = [
    Key::new("position", KeyKind::Vector, "m", "zero",
        "initial position of the centre of mass (of the frame's origin if center_of_mass is given), ground frame"),
    Key::new("angle", KeyKind::Number(Range::Finite), "rad", "0",
        "initial angle of the body frame, counter-clockwise")
    .only(KeyDimension::Plane),
    Key::new("orientation", KeyKind::Numbers(4, 4), "", "[1, 0, 0, 0]",
        "initial orientation of the body frame: quaternion [w, x, y, z] from body axes to ground axes; it is normalised")
    .only(KeyDimension::Space),
    Key::new("rotation", KeyKind::Table(&ROTATION), "", "none",
        "initial orientation by an axis and an angle: { axis = [x, y, z], angle = rad }")
    .only(KeyDimension::Space),
    Key::new("center_of_mass", KeyKind::Vector, "m", "zero",
        "centre of mass in the body frame, if the frame's origin is another point (a joint, say)"),
    Key::new("prescribed", KeyKind::Flag, "", "false",
        "true: no mass; each coordinate follows a [[motion]] or is constant"),
    Key::new("shape", KeyKind::OneKeyOf(&SHAPE), "m", "none",
        "for pictures only, in the body frame: { box = [..] }, { circle = radius }, { line = [[..], ..] } or { mesh = { file = .. } }"),
];

#[rustfmt::skip]
pub(super) const BODY: KeyGroup = KeyGroup::new(
    "body",
    "A rigid body.",
    &[
        &HEAD,
        &[
            Key::new("mass", KeyKind::Number(Range::NonNegative), "kg", REQUIRED,
                ">= 0; zero is allowed if the joints determine the body's motion"),
            Key::new(
                "inertia",
                KeyKind::Inertia,
                "kg.m2",
                REQUIRED,
                "about the centre of mass. Planar: a number >= 0. Spatial: [Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], \
                 entries of the tensor in body axes",
            ),
        ],
        &POSE,
        &[
            Key::new("velocity", KeyKind::Vector, "m/s", "zero",
                "initial velocity of the point that position locates, ground axes"),
            Key::new("angular_velocity", KeyKind::Spin, "rad/s", "zero",
                "initial angular velocity; in space a vector in ground axes"),
        ],
    ],
);

pub(super) const PRESCRIBED: KeyGroup = KeyGroup {
    variant: Some(("prescribed", "true")),
    ..KeyGroup::new(
        "body",
        "A body without mass whose coordinates are prescribed: a road, a shaker table.",
        &[&HEAD, &POSE],
    )
};

#[rustfmt::skip]
pub(super) const SENSOR: KeyGroup = KeyGroup::new(
    "sensor",
    "A point of a body whose motion is a quantity.",
    &[&HEAD, &[
        Key::new("body", KeyKind::Text, "", REQUIRED, "the body's name"),
        Key::new("point", KeyKind::Vector, "m", "zero", "in the body frame"),
    ]],
);

pub(super) fn body_keys(table: &TableReader) -> Result<()> {
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
        table.keys_of(&PRESCRIBED);
    } else {
        table.keys_of(&BODY);
    }
    Ok(())
}

pub(super) fn body(table: &TableReader) -> Result<Body> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let plane = table.dimension() == 2;
    let prescribed = table.flag("prescribed")?.unwrap_or(false);
    let mut body = Body {
        name: name.to_owned(),
        position: table.vector("position")?.unwrap_or_default(),
        center_of_mass: table.vector("center_of_mass")?.unwrap_or_default(),
        prescribed,
        shape: table.table("shape")?.map(|t| shape(&t)).transpose()?,
        text_position: table.text_position(),
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
    match check_inertia(&inertia) {
        InertiaDefect::Sound | InertiaDefect::Rounded => Ok(inertia),
        InertiaDefect::Impossible(why) => {
            Err(table.refuse_value("inertia", format!("inertia of no real body: {why}")))
        }
    }
}

/// `orientation` or `rotation`, as a unit quaternion.
pub(super) fn orientation(table: &TableReader) -> Result<[f64; 4]> {
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
    rotation.keys_among(&ROTATION);
    let [x, y, z] = rotation.needed_direction("axis")?;
    let (sin, cos) = sin_cos(0.5 * rotation.needed_number("angle", Range::Finite)?);
    Ok([cos, sin * x, sin * y, sin * z])
}

fn shape(table: &TableReader) -> Result<BodyShape> {
    table.keys_among(&SHAPE);
    let here = SHAPE.iter().filter(|key| key.exists.has(table.dimension()));
    let keys: Vec<&str> = here.map(|key| key.name).collect();
    let given: Vec<&str> = (keys.iter().copied())
        .filter(|key| table.has(key))
        .collect();
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
        ["mesh"] => mesh(table),
        [] => Err(table
            .refuse("expected one of box = [width, height], circle = radius, line = [[x, y], ..]")),
        _ => Err(table.refuse(format!(
            "expected one of {}, found {} of them",
            keys.join(", "),
            given.len()
        ))),
    }
}

fn mesh(table: &TableReader) -> Result<BodyShape> {
    let Some(table) = table.table("mesh")? else {
        return Err(table.refuse_value("mesh", "expected a table { file = \"link.stl\" }"));
    };
    table.keys_among(&MESH);
    let file = table.needed_text("file", "the name of a file")?;
    Ok(BodyShape::Mesh(MeshFile {
        path: PathBuf::new(),
        scale: table.vector("scale")?.unwrap_or([1.0; 3]),
        position: table.vector("position")?.unwrap_or_default(),
        orientation: orientation(&table)?,
        ..MeshFile::new(file)
    }))
}

pub(super) fn sensor_keys(table: &TableReader) {
    table.keys_of(&SENSOR);
}

pub(super) fn sensor(table: &TableReader, names: &Names) -> Result<Sensor> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let body = table.needed_text("body", "the name of a body")?;
    Ok(Sensor {
        name: name.to_owned(),
        body: names.body(table, body, table.offset_of("body"))?,
        point: table.vector("point")?.unwrap_or_default(),
        text_position: table.text_position(),
    })
}
