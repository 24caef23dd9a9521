//! `[[beam]]`: keys and reader. A beam brings its nodes, which are bodies, and the joints that clamp its ends.

use super::document::NodeValue;
use super::keys::{DESCRIPTION, Key, KeyDimension, KeyGroup, KeyKind, REQUIRED};
use super::names::Names;
use super::table::TableReader;
use crate::error::Result;
use crate::linalg::elementary::hypot;
use crate::model::beam::{BeamLine, MAX_ELEMENTS, SectionMaterial, planar_stiffness};
use crate::model::body::{InertiaDefect, check_inertia};
use crate::model::validate::{RESERVED_ELEMENTS, Range};
use crate::model::{
    Beam, BeamSection, Body, Joint, JointFrame, JointKind, JointPlacement, SectionOutline,
};

#[rustfmt::skip]
pub(super) const ARC: [Key; 3] = [
    Key::new("center", KeyKind::Vector, "m", REQUIRED, "centre of the arc, ground frame"),
    Key::new("angle", KeyKind::Number(Range::Finite), "rad", REQUIRED,
        "from the first point to the last, right-handed about the axis; planar: counter-clockwise"),
    Key::new("axis", KeyKind::Vector, "", "from the second point, or else orientation",
        "direction perpendicular to the plane of the arc")
    .only(KeyDimension::Space),
];

#[rustfmt::skip]
pub(super) const SECTION: [Key; 11] = [
    Key::new("stiffness", KeyKind::SectionStiffness, "N, N.m2", "this or an outline",
        "spatial: [EA, GA2, GA3, GJ, EI2, EI3], planar: [EA, GA, EI], along and about the section axes; or all rows of the symmetric \
         matrix"),
    Key::new("mass_per_length", KeyKind::Number(Range::Positive), "kg/m", "with stiffness: required", "mass of a metre"),
    Key::new("inertia_per_length", KeyKind::Spin, "kg.m", "of a homogeneous section: mass_per_length EI/EA",
        "with stiffness: moments of inertia of a metre about the section axes [J1, J2, J3], > 0; planar: a number"),
    Key::new("rectangle", KeyKind::Numbers(2, 2), "m", "one outline", "sizes along section axes 2 and 3"),
    Key::new("circle", KeyKind::Number(Range::Positive), "m", "one outline", "diameter"),
    Key::new("tube", KeyKind::Numbers(2, 2), "m", "one outline", "outer diameter and thickness"),
    Key::new("young", KeyKind::Number(Range::Positive), "Pa", "with an outline: required", "Young's modulus"),
    Key::new("shear", KeyKind::Number(Range::Positive), "Pa", "this or poisson", "shear modulus"),
    Key::new("poisson", KeyKind::Number(Range::Finite), "", "this or shear", "Poisson's ratio, -1 < poisson <= 0.5"),
    Key::new("density", KeyKind::Number(Range::Positive), "kg/m3", "with an outline: required", "mass of a cubic metre"),
    Key::new("shear_factor", KeyKind::Number(Range::Positive), "", "Cowper's", "shear area over area"),
];

#[rustfmt::skip]
pub(super) const BEAM: KeyGroup = KeyGroup::new(
    "beam",
    "An elastic beam of two-node elements. Its nodes rod.0 .. rod.n are bodies, their frames those of the section: axis 1 along the \
     beam, axis 2 = axis 3 x axis 1.",
    &[&[
        Key::new("name", KeyKind::Name, "", REQUIRED, "name of the element"),
        DESCRIPTION,
        Key::new("points", KeyKind::Points, "m", REQUIRED,
            "axis of the beam at rest, without stress: straight from point to point; of an arc its start, or start and end; ground \
             frame"),
        Key::new("arc", KeyKind::Table(&ARC), "", "none", "the axis is an arc: { center = [..], angle = rad }"),
        Key::new("elements", KeyKind::Count, "", REQUIRED, "number of elements, equally long on each side"),
        Key::new("section", KeyKind::Table(&SECTION), "", REQUIRED,
            "stiffness and mass_per_length, or one of rectangle, circle, tube with young, shear or poisson, density"),
        Key::new("orientation", KeyKind::Vector, "", "[0, 0, 1], or [0, 1, 0] for a beam along z",
            "direction of section axis 3 at the start, ground axes; its part across the beam counts")
        .only(KeyDimension::Space),
        Key::new("twist", KeyKind::Number(Range::Finite), "rad", "0",
            "rotation of the sections about axis 1 from the start to the end, at rest")
        .only(KeyDimension::Space),
        Key::new("damping", KeyKind::Number(Range::NonNegative), "s", "0", "damping over stiffness"),
        Key::new("start", KeyKind::Text, "", "free", "body to which the first node is clamped: the joint rod.start"),
        Key::new("end", KeyKind::Text, "", "free", "body to which the last node is clamped: the joint rod.end"),
        Key::new("velocity", KeyKind::Vector, "m/s", "zero", "initial velocity of the first point, ground axes"),
        Key::new("angular_velocity", KeyKind::Spin, "rad/s", "zero",
            "initial angular velocity of the whole beam; in space a vector in ground axes"),
    ]],
);

/// Names of the joints that clamp the ends, behind the name of the beam.
pub(super) const CLAMPS: [&str; 2] = ["start", "end"];

/// Checks the keys and returns the number of elements, one if it cannot be read.
pub(super) fn beam_keys(table: &TableReader) -> usize {
    table.keys_of(&BEAM);
    let count = table.whole_number("elements");
    match table.settle(count).flatten() {
        Some(n) if (1..=MAX_ELEMENTS as u64).contains(&n) => n as usize,
        _ => 1,
    }
}

/// A beam with its nodes and the joints that clamp its ends.
pub(super) struct BeamParts {
    pub beam: Beam,
    pub nodes: Vec<Body>,
    pub clamps: Vec<Joint>,
}

impl BeamParts {
    /// Stands for a beam that could not be read.
    pub fn substitute(elements: usize, clamps: usize) -> Self {
        let section = BeamSection {
            stiffness: [[0.0; 6]; 6],
            mass_per_length: 0.0,
            inertia_per_length: [0.0; 3],
            outline: None,
        };
        Self {
            beam: Beam {
                name: String::new(),
                first_node: 0,
                elements,
                corners: vec![],
                section,
                damping: 0.0,
                text_position: Default::default(),
            },
            nodes: vec![Body::default(); elements + 1],
            clamps: vec![Joint::default(); clamps],
        }
    }
}

/// Reads a beam whose node 0 is the body `first_node`.
pub(super) fn beam(table: &TableReader, names: &Names, first_node: usize) -> Result<BeamParts> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let elements = match table.whole_number("elements")? {
        Some(n) if (1..=MAX_ELEMENTS as u64).contains(&n) => n as usize,
        Some(n) => {
            let message = format!("elements must be a number from 1 to {MAX_ELEMENTS}, found {n}");
            return Err(table.refuse_value("elements", message));
        }
        None => return Err(table.refuse("\"elements\" is missing: expected their number")),
    };
    let points = points(table)?;
    let arc = table.table("arc")?;
    let orientation = orientation(table, &points, arc.is_some())?;
    let line = match arc {
        None => polyline(table, points)?,
        Some(arc) => self::arc(table, &arc, &points, orientation)?,
    };
    let twist = table.number("twist", Range::Finite)?.unwrap_or(0.0);
    let nodes = (line.nodes(elements, orientation, twist)).map_err(|why| table.refuse(why))?;
    let beam = Beam {
        name: name.to_owned(),
        first_node,
        elements,
        corners: nodes.corners.clone(),
        section: section(table)?,
        damping: (table.number("damping", Range::NonNegative)?).unwrap_or(0.0),
        text_position: table.text_position(),
    };
    let mut bodies = beam.bodies(&nodes);
    set_in_motion(table, &mut bodies)?;
    let mut clamps = vec![];
    for (key, node) in CLAMPS.into_iter().zip([first_node, first_node + elements]) {
        let Some(body) = table.text(key)? else {
            continue;
        };
        let body = names.body(table, body, table.offset_of(key))?;
        if body == Some(node) {
            let message = format!("{key} must be another body than the node that is clamped");
            return Err(table.refuse_value(key, message));
        }
        clamps.push(Joint {
            name: format!("{name}.{key}"),
            kind: JointKind::Fixed,
            bodies: [body, Some(node)],
            frame: JointPlacement::InitialPose(JointFrame {
                point: bodies[node - first_node].position,
                ..JointFrame::default()
            }),
            text_position: table.text_position(),
            ..Joint::default()
        });
    }
    Ok(BeamParts {
        beam,
        nodes: bodies,
        clamps,
    })
}

fn points(table: &TableReader) -> Result<Vec<[f64; 3]>> {
    match table.vectors("points")? {
        Some(points) if !points.is_empty() => Ok(points),
        Some(_) => Err(table.refuse_value("points", "points must not be empty")),
        None => {
            let words = table.vector_words();
            let message = format!("\"points\" is missing: expected [{words}, {words}, ..]");
            Err(table.refuse(message))
        }
    }
}

fn polyline(table: &TableReader, points: Vec<[f64; 3]>) -> Result<BeamLine> {
    if points.len() < 2 {
        let message = "points must be two or more; one point needs an \"arc\"";
        return Err(table.refuse_value("points", message));
    }
    Ok(BeamLine::Polyline(points))
}

/// The direction of section axis 3: z in the plane and, where nothing is given, in space.
fn orientation(table: &TableReader, points: &[[f64; 3]], is_arc: bool) -> Result<[f64; 3]> {
    const Z: [f64; 3] = [0.0, 0.0, 1.0];
    if table.dimension() == 2 {
        return Ok(Z);
    }
    if let Some(given) = table.direction("orientation")? {
        return Ok(given);
    }
    let along_z = match points {
        [a, b, ..] if !is_arc => {
            let across = hypot(b[0] - a[0], b[1] - a[1]);
            across <= 1e-6 * (b[2] - a[2]).abs()
        }
        _ => false,
    };
    Ok(if along_z { [0.0, 1.0, 0.0] } else { Z })
}

fn arc(
    table: &TableReader,
    arc: &TableReader,
    points: &[[f64; 3]],
    orientation: [f64; 3],
) -> Result<BeamLine> {
    arc.keys_among(&ARC);
    let center = arc.needed_vector("center")?;
    let angle = arc.needed_number("angle", Range::Finite)?;
    let start = points[0];
    let given = match table.dimension() {
        2 => Some([0.0, 0.0, 1.0]),
        _ => arc.direction("axis")?,
    };
    let axis = match (given, points) {
        (Some(axis), _) => axis,
        (None, [_, end]) => BeamLine::axis_to(start, center, *end, angle)
            .ok_or_else(|| arc.refuse("\"axis\" is missing: start, end and centre are in line"))?,
        (None, _) => orientation,
    };
    let line = BeamLine::Arc {
        start,
        center,
        axis,
        angle,
    };
    match points {
        [_] => {}
        [_, end] => {
            let nodes = (line.nodes(1000, [axis[1], axis[2], axis[0]], 0.0))
                .or_else(|_| line.nodes(1000, axis, 0.0))
                .map_err(|why| table.refuse(why))?;
            let reached = nodes.positions[1000];
            let away = |a: &[f64; 3], b: &[f64; 3]| {
                (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
            };
            if away(&reached, end) > 1e-6 * away(&start, &center) {
                let message =
                    format!("the arc ends in {reached:?}, not in the second point {end:?}");
                return Err(table.refuse_value("points", message));
            }
        }
        more => {
            let message = format!(
                "an arc takes its start, or its start and its end, found {} points",
                more.len()
            );
            return Err(table.refuse_value("points", message));
        }
    }
    Ok(line)
}

/// The initial velocities: the whole beam moves as a rigid body.
fn set_in_motion(table: &TableReader, nodes: &mut [Body]) -> Result<()> {
    let v = table.vector("velocity")?.unwrap_or_default();
    let w = if table.dimension() == 2 {
        let about_z = table.number("angular_velocity", Range::Finite)?;
        [0.0, 0.0, about_z.unwrap_or(0.0)]
    } else {
        table.vector("angular_velocity")?.unwrap_or_default()
    };
    let first = nodes[0].position;
    for node in nodes {
        let r: [f64; 3] = std::array::from_fn(|k| node.position[k] - first[k]);
        node.velocity = [
            v[0] + w[1] * r[2] - w[2] * r[1],
            v[1] + w[2] * r[0] - w[0] * r[2],
            v[2] + w[0] * r[1] - w[1] * r[0],
        ];
        node.angular_velocity = w;
    }
    Ok(())
}

const OUTLINES: [&str; 3] = ["rectangle", "circle", "tube"];

fn section(table: &TableReader) -> Result<BeamSection> {
    let Some(section) = table.table("section")? else {
        let message = "\"section\" is missing: expected { stiffness = [..], mass_per_length = .. } or { rectangle = [..] | circle = .. \
                       | tube = [..], young = .., shear = .. or poisson = .., density = .. }";
        return Err(table.refuse(message));
    };
    let table = &section;
    table.keys_among(&SECTION);
    let outlines: Vec<&str> = OUTLINES.into_iter().filter(|key| table.has(key)).collect();
    let section = match (table.has("stiffness"), &outlines[..]) {
        (true, []) => by_numbers(table)?,
        (false, [outline]) => by_outline(table, outline)?,
        (false, []) => {
            return Err(table.refuse(
                "expected stiffness with mass_per_length, or one of rectangle, circle, tube with young, shear or poisson, density",
            ));
        }
        (true, [other, ..]) | (false, [_, other, ..]) => {
            let message = format!(
                "give stiffness or one of {}, found \"{other}\" too",
                OUTLINES.join(", ")
            );
            return Err(table.refuse_key(other, message));
        }
    };
    if let Some(why) = section.stiffness_defect(table.dimension()) {
        return Err(table.refuse_value("stiffness", format!("stiffness must be {why}")));
    }
    Ok(section)
}

fn refuse_others(table: &TableReader, keys: &[&str], with: &str) -> Result<()> {
    match keys.iter().find(|key| table.has(key)) {
        None => Ok(()),
        Some(key) => Err(table.refuse_key(key, format!("there is no \"{key}\" with \"{with}\""))),
    }
}

fn by_numbers(table: &TableReader) -> Result<BeamSection> {
    let others = ["young", "shear", "poisson", "density", "shear_factor"];
    refuse_others(table, &others, "stiffness")?;
    let stiffness = stiffness(table)?;
    let mass = table.needed_number("mass_per_length", Range::Positive)?;
    let mut section = BeamSection {
        inertia_per_length: BeamSection::homogeneous_inertia(&stiffness, mass),
        stiffness,
        mass_per_length: mass,
        outline: None,
    };
    if table.dimension() == 2 {
        if let Some(about_z) = table.number("inertia_per_length", Range::Positive)? {
            section.inertia_per_length = [0.0, 0.0, about_z];
        }
        return Ok(section);
    }
    let Some(given) = table.vector("inertia_per_length")? else {
        return Ok(section);
    };
    section.inertia_per_length = given;
    if given.iter().any(|j| !(*j > 0.0)) {
        let message = "inertia_per_length must be three numbers > 0: about section axes 1, 2, 3";
        return Err(table.refuse_value("inertia_per_length", message));
    }
    let [x, y, z] = given;
    match check_inertia(&[x, y, z, 0.0, 0.0, 0.0]) {
        InertiaDefect::Impossible(why) => {
            let message = format!("inertia_per_length of no real section: {why}");
            Err(table.refuse_value("inertia_per_length", message))
        }
        _ => Ok(section),
    }
}

/// The diagonal, or all rows.
fn stiffness(table: &TableReader) -> Result<[[f64; 6]; 6]> {
    let plane = table.dimension() == 2;
    let (n, expected) = match plane {
        true => (3, "[EA, GA, EI], or 3 rows of 3 numbers"),
        false => (6, "[EA, GA2, GA3, GJ, EI2, EI3], or 6 rows of 6 numbers"),
    };
    let by_rows = match table.get("stiffness").map(|entry| &entry.node.value) {
        Some(NodeValue::Array(items)) => matches!(
            items.first().map(|item| &item.value),
            Some(NodeValue::Array(_))
        ),
        _ => false,
    };
    let rows: Vec<Vec<f64>> = if by_rows {
        table.lists("stiffness", expected)?
    } else {
        let diagonal = table.needed_numbers("stiffness", expected, 0)?;
        let entry = |i: usize, j: usize| if i == j { diagonal[i] } else { 0.0 };
        (0..diagonal.len())
            .map(|i| (0..diagonal.len()).map(|j| entry(i, j)).collect())
            .collect()
    };
    if rows.len() != n || rows.iter().any(|row| row.len() != n) {
        let message = format!("stiffness must be {expected}");
        return Err(table.refuse_value("stiffness", message));
    }
    Ok(match plane {
        true => planar_stiffness(std::array::from_fn(|i| std::array::from_fn(|j| rows[i][j]))),
        false => std::array::from_fn(|i| std::array::from_fn(|j| rows[i][j])),
    })
}

fn by_outline(table: &TableReader, outline: &str) -> Result<BeamSection> {
    refuse_others(table, &["mass_per_length", "inertia_per_length"], outline)?;
    let two = |expected: &str| -> Result<[f64; 2]> {
        let given = table.needed_numbers(outline, expected, 2)?;
        match given[..] {
            [a, b] if a > 0.0 && b > 0.0 => Ok([a, b]),
            _ => Err(table.refuse_value(outline, format!("{outline} must be {expected}"))),
        }
    };
    let outline = match outline {
        "rectangle" => SectionOutline::Rectangle(two("two numbers > 0: sizes along axes 2 and 3")?),
        "circle" => SectionOutline::Circle(table.needed_number("circle", Range::Positive)?),
        _ => {
            let [d, t] = two("two numbers > 0: outer diameter and thickness")?;
            if 2.0 * t > d {
                let message = "the thickness of a tube is at most half of its diameter";
                return Err(table.refuse_value("tube", message));
            }
            SectionOutline::Tube([d, t])
        }
    };
    let young = table.needed_number("young", Range::Positive)?;
    let shear = match (table.has("shear"), table.has("poisson")) {
        (true, false) => table.needed_number("shear", Range::Positive)?,
        (false, true) => {
            let poisson = table.needed_number("poisson", Range::Finite)?;
            if !(poisson > -1.0 && poisson <= 0.5) {
                let message =
                    format!("poisson must be a number with -1 < poisson <= 0.5, found {poisson}");
                return Err(table.refuse_value("poisson", message));
            }
            0.5 * young / (1.0 + poisson)
        }
        (true, true) => {
            return Err(
                table.refuse_key("poisson", "give either \"shear\" or \"poisson\", not both")
            );
        }
        (false, false) => {
            return Err(
                table.refuse("\"shear\" is missing: expected the shear modulus, or \"poisson\"")
            );
        }
    };
    let material = SectionMaterial {
        young,
        shear,
        density: table.needed_number("density", Range::Positive)?,
        shear_factor: table.number("shear_factor", Range::Positive)?,
    };
    Ok(BeamSection::new(outline, &material))
}
