//! From text to [`Model`]: which keys each table has, what they default to, and who may refer to whom.
//!
//! Names first, then contents, so that elements may be written in any order; then the signals, which refer to all.

use std::collections::HashMap;
use std::path::Path;

use super::check::{RESERVED_ELEMENTS, RESERVED_VARIABLES, Range, is_identifier};
use super::document::{Document, LARGEST_TEXT, shorten};
use super::nearest::did_you_mean;
use super::quantity::Element;
use super::reader::{Source, Table};
use super::*;
use crate::error::{Error, Result};

const TOP: [&str; 13] = [
    "format",
    "name",
    "dimension",
    "gravity",
    "solver",
    "experiment",
    "body",
    "joint",
    "force",
    "sensor",
    "input",
    "output",
    "parameter",
];
const TOP_LATER: [&str; 3] = ["motion", "system", "expose"];

impl Model {
    /// Reads a model file: JSON where its name ends so or its text begins with `{`, else TOML.
    pub fn from_file(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let unreadable = |reason: String| Error::File {
            path: shown.clone(),
            reason,
        };
        let size = std::fs::metadata(path)
            .map_err(|e| unreadable(e.to_string()))?
            .len();
        if size > LARGEST_TEXT as u64 {
            return Err(unreadable(format!(
                "it has {size} bytes; at most {LARGEST_TEXT} are read"
            )));
        }
        let bytes = std::fs::read(path).map_err(|e| unreadable(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let good = e.utf8_error().valid_up_to();
            let line = 1 + e.as_bytes()[..good].iter().filter(|b| **b == b'\n').count();
            unreadable(format!(
                "it is not UTF-8 text: byte {good} (line {line}) begins no character"
            ))
        })?;
        Self::from_text(&text, &shown)
    }

    /// Reads a model from text; `origin` is what messages call it. JSON where the text begins with `{` or `origin`
    /// ends with `.json`, else TOML.
    pub fn from_text(text: &str, origin: &str) -> Result<Self> {
        let begins = text.trim_start_matches('\u{feff}').trim_start();
        let ending = Path::new(origin).extension();
        let json =
            begins.starts_with('{') || ending.is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let document = Document::parse(text, origin, json)?;
        let source = Source {
            document: &document,
            origin,
        };
        read(&Table::root(source)?, origin)
    }
}

fn read(root: &Table, origin: &str) -> Result<Model> {
    // The format first: a later one may have other keys.
    match root.whole_number("format")? {
        Some(1) => {}
        Some(other) => {
            let message = format!("format {other} is unknown: this version reads format 1");
            return Err(root.refuse_value("format", message));
        }
        None => {
            return Err(root.refuse("\"format\" is missing: a model file begins with format = 1"));
        }
    }
    root.keys(&TOP, &TOP_LATER, &[])?;
    let name = match root.text("name")? {
        Some(_) => root.name(&[])?.0.to_owned(),
        None => name_from(origin),
    };
    match root.whole_number("dimension")? {
        Some(2) => {}
        Some(3) => {
            let message = "dimension 3 is not available in this version; write dimension = 2";
            return Err(root.refuse_value("dimension", message));
        }
        Some(other) => {
            let message = format!("dimension must be 2 or 3, found {other}");
            return Err(root.refuse_value("dimension", message));
        }
        None => {
            return Err(root.refuse(
                "\"dimension\" is missing: it is 3 by default, which is not available in this version; \
                 write dimension = 2",
            ));
        }
    }

    let bodies = root.tables("body")?;
    let joints = root.tables("joint")?;
    let forces = root.tables("force")?;
    let sensors = root.tables("sensor")?;
    let mut model = Model {
        origin: origin.to_owned(),
        name,
        dimension: 2,
        gravity: root.plane_vector("gravity")?.unwrap_or_default(),
        solver: root
            .table("solver")?
            .map_or(Ok(Solver::default()), |t| solver(&t))?,
        experiment: root
            .table("experiment")?
            .map_or(Ok(Experiment::default()), |t| experiment(&t))?,
        bodies: Vec::with_capacity(bodies.len()),
        joints: Vec::with_capacity(joints.len()),
        forces: Vec::with_capacity(forces.len()),
        sensors: Vec::with_capacity(sensors.len()),
        inputs: vec![],
        outputs: vec![],
        parameters: vec![],
    };

    let mut names = Names::default();
    for (i, table) in bodies.iter().enumerate() {
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
        )?;
        names.declare(table, Element::Body(i))?;
    }
    for (i, table) in joints.iter().enumerate() {
        joint_keys(table)?;
        names.declare(table, Element::Joint(i))?;
    }
    for (i, table) in forces.iter().enumerate() {
        force_keys(table)?;
        names.declare(table, Element::Force(i))?;
    }
    for (i, table) in sensors.iter().enumerate() {
        table.keys(&["name", "body", "point"], &[], &TOP)?;
        names.declare(table, Element::Sensor(i))?;
    }

    for table in &bodies {
        model.bodies.push(body(table)?);
    }
    for table in &joints {
        model.joints.push(joint(table, &names)?);
    }
    for table in &forces {
        model.forces.push(force(table, &names, &model.joints)?);
    }
    for table in &sensors {
        model.sensors.push(sensor(table, &names)?);
    }
    signals(root, &mut model, &names)?;
    Ok(model)
}

/// The file's name without ending, made a name.
fn name_from(origin: &str) -> String {
    let stem = Path::new(origin)
        .file_stem()
        .map(|s| s.to_string_lossy())
        .unwrap_or_default();
    let mut name: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !is_identifier(&name) {
        name.insert(0, '_');
    }
    name
}

/// Bodies, joints, forces and sensors by name, with the byte of each name.
#[derive(Default)]
struct Names<'a> {
    elements: HashMap<&'a str, (Element, usize)>,
    /// In the order of the text, for suggestions that do not depend on hashing.
    order: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn declare(&mut self, table: &Table<'a>, element: Element) -> Result<()> {
        let (name, offset) = table.name(&RESERVED_ELEMENTS)?;
        if let Some((other, first)) = self.elements.insert(name, (element, offset)) {
            return Err(twice(table, name, offset, other.kind(), first));
        }
        self.order.push(name);
        Ok(())
    }

    fn find(&self, name: &str) -> Option<Element> {
        self.elements.get(name).map(|(element, _)| *element)
    }

    fn body(&self, table: &Table, name: &str, offset: usize) -> Result<BodyRef> {
        if name == "ground" {
            return Ok(None);
        }
        match self.find(name) {
            Some(Element::Body(i)) => Ok(Some(i)),
            other => Err(self.not_a(table, name, offset, "body", other)),
        }
    }

    fn not_a(
        &self,
        table: &Table,
        name: &str,
        offset: usize,
        wanted: &str,
        found: Option<Element>,
    ) -> Error {
        let message = match found {
            Some(other) => format!("\"{name}\" is a {}, not a {wanted}", other.kind()),
            None => {
                let same = |name: &&&str| self.find(name).is_some_and(|e| e.kind() == wanted);
                let ground = (wanted == "body").then_some(&"ground");
                let near = did_you_mean(name, self.order.iter().filter(same).chain(ground));
                format!("there is no {wanted} \"{}\"{near}", shorten(name))
            }
        };
        table.refuse_at(offset, message)
    }

    fn two_bodies(&self, table: &Table) -> Result<[BodyRef; 2]> {
        let [(a, at_a), (b, at_b)] = table.two_texts(
            "bodies",
            "the names of two bodies, or \"ground\" and one body",
        )?;
        let bodies = [self.body(table, a, at_a)?, self.body(table, b, at_b)?];
        if bodies[0] == bodies[1] {
            let message = format!("bodies must be two different ones, found \"{a}\" twice");
            return Err(table.refuse_at(at_b, message));
        }
        Ok(bodies)
    }
}

fn twice(table: &Table, name: &str, offset: usize, kind: &str, first: usize) -> Error {
    let Place { line, column } = table.source().place(first);
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    table.refuse_at(
        offset,
        format!("the name \"{name}\" is already that of {article} {kind} at {line}:{column}"),
    )
}

fn solver(table: &Table) -> Result<Solver> {
    table.keys(
        &[
            "formulation",
            "integrator",
            "alpha",
            "tolerance",
            "estimate",
            "controller",
            "corrector",
            "per_unit_step",
            "step",
            "min_step",
            "max_step",
            "initial_step",
            "length",
            "projection",
            "newton_tolerance",
            "max_substeps",
        ],
        &["penalty", "vsa23"],
        &TOP,
    )?;
    let d = Solver::default();
    let solver = Solver {
        formulation: table
            .choice(
                "formulation",
                &[
                    ("auto", FormulationName::Auto),
                    ("absolute", FormulationName::Absolute),
                ],
                &["global", "topological", "hybrid"],
            )?
            .unwrap_or(d.formulation),
        integrator: table
            .choice("integrator", &[("hht", IntegratorName::Hht)], &["vsa23"])?
            .unwrap_or(d.integrator),
        alpha: table.any_number("alpha")?.unwrap_or(d.alpha),
        tolerance: table.any_number("tolerance")?.unwrap_or(d.tolerance),
        estimate: table
            .choice(
                "estimate",
                &[
                    ("calibrated", Estimate::Calibrated),
                    ("seed", Estimate::Seed),
                ],
                &[],
            )?
            .unwrap_or(d.estimate),
        controller: table
            .choice(
                "controller",
                &[
                    ("standard", Controller::Standard),
                    ("seed", Controller::Seed),
                ],
                &[],
            )?
            .unwrap_or(d.controller),
        corrector: table
            .choice(
                "corrector",
                &[("auto", Corrector::Auto), ("off", Corrector::Off)],
                &[],
            )?
            .unwrap_or(d.corrector),
        per_unit_step: table.flag("per_unit_step")?.unwrap_or(d.per_unit_step),
        step: table.any_number("step")?,
        min_step: table.any_number("min_step")?,
        max_step: table.any_number("max_step")?,
        initial_step: table.any_number("initial_step")?,
        length: table.any_number("length")?,
        projection: table.flag("projection")?.unwrap_or(d.projection),
        newton_tolerance: table.any_number("newton_tolerance")?,
        max_substeps: table
            .whole_number("max_substeps")?
            .unwrap_or(d.max_substeps),
    };
    solver.validate().map_err(|e| at_its_key(table, e))?;
    Ok(solver)
}

fn experiment(table: &Table) -> Result<Experiment> {
    table.keys(&["start", "stop", "interval"], &[], &TOP)?;
    let start = table.any_number("start")?.unwrap_or(0.0);
    let experiment = Experiment {
        start,
        stop: table
            .any_number("stop")?
            .unwrap_or(start + Experiment::default().stop),
        interval: table.any_number("interval")?,
    };
    experiment.validate().map_err(|e| at_its_key(table, e))?;
    Ok(experiment)
}

/// An error of `validate`, put where the key stands.
fn at_its_key(table: &Table, error: Error) -> Error {
    match error {
        Error::Argument {
            name,
            value,
            expected,
        } => {
            let key = name.split_once('.').map_or(name.as_str(), |(_, key)| key);
            table.refuse_value(key, format!("{key} must be {expected}, found {value}"))
        }
        other => other,
    }
}

fn body(table: &Table) -> Result<Body> {
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

const JOINT_KINDS: [(&str, JointKind); 2] = [
    ("revolute", JointKind::Revolute),
    ("prismatic", JointKind::Prismatic),
];

fn joint_kind(table: &Table) -> Result<JointKind> {
    table.needed_choice(
        "type",
        &JOINT_KINDS,
        &[
            "fixed",
            "cylindrical",
            "spherical",
            "universal",
            "planar",
            "screw",
            "distance",
            "point_on_line",
            "coupling",
        ],
    )
}

const REVOLUTE_AXIS: &str =
    "a revolute joint in two dimensions turns about z: it takes no \"axis\"";

fn joint_keys(table: &Table) -> Result<()> {
    if !table.has("type") {
        // A misspelt `type` is a better message than a missing one.
        table.keys(
            &["name", "type", "bodies", "point", "axis", "at", "position"],
            &["limits", "friction", "stiffness", "damping", "restitution"],
            &TOP,
        )?;
    }
    if joint_kind(table)? == JointKind::Revolute && table.has("axis") {
        return Err(table.refuse_key("axis", REVOLUTE_AXIS));
    }
    table.keys(
        &["name", "type", "bodies", "point", "axis", "at", "position"],
        &["limits", "friction", "stiffness", "damping", "restitution"],
        &TOP,
    )
}

fn joint(table: &Table, names: &Names) -> Result<Joint> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let kind = joint_kind(table)?;
    let bodies = names.two_bodies(table)?;
    let frame = match (table.has("point"), table.has("at")) {
        (true, true) => {
            return Err(table.refuse_key(
                "at",
                "give either \"point\" (ground frame, at start) or \"at\" (one frame in each body), not both",
            ));
        }
        (true, false) => JointPlace::Ground(frame(table, kind)?),
        (false, true) if table.has("axis") => {
            return Err(table.refuse_key(
                "axis",
                "with \"at\" the axis stands in each of its two frames",
            ));
        }
        (false, true) => {
            let frames = table.tables("at")?;
            if frames.len() != 2 {
                return Err(table.refuse_value(
                    "at",
                    format!(
                        "at must be two frames, one in each body, found {}",
                        frames.len()
                    ),
                ));
            }
            for part in &frames {
                if kind == JointKind::Revolute && part.has("axis") {
                    return Err(part.refuse_key("axis", REVOLUTE_AXIS));
                }
                part.keys(&["point", "axis"], &["axes"], &[])?;
            }
            JointPlace::Bodies([frame(&frames[0], kind)?, frame(&frames[1], kind)?])
        }
        (false, false) => {
            return Err(table.refuse(
                "\"point\" is missing: expected point = [x, y] in the ground frame at start, or \"at\" with one frame in each body",
            ));
        }
    };
    Ok(Joint {
        name: name.to_owned(),
        kind,
        bodies,
        frame,
        position: table.number("position", Range::Finite)?.unwrap_or(0.0),
        place: table.place(),
    })
}

/// `point`, and `axis` made a unit vector.
fn frame(table: &Table, kind: JointKind) -> Result<Frame> {
    let point = table.needed_plane_vector("point")?;
    let axis = match kind {
        JointKind::Revolute => [0.0, 0.0, 1.0],
        JointKind::Prismatic => {
            let [x, y, _] = table.needed_plane_vector("axis")?;
            // Scaled first: neither tiny nor huge directions may lose digits.
            let scale = x.abs().max(y.abs());
            if scale == 0.0 {
                return Err(table.refuse_value("axis", "axis must not be zero: it is a direction"));
            }
            let (x, y) = (x / scale, y / scale);
            let length = x.hypot(y);
            [x / length, y / length, 0.0]
        }
    };
    Ok(Frame { point, axis })
}

#[derive(Clone, Copy, PartialEq)]
enum ForceType {
    SpringDamper,
    Actuator,
}

fn force_type(table: &Table) -> Result<ForceType> {
    table.needed_choice(
        "type",
        &[
            ("spring_damper", ForceType::SpringDamper),
            ("actuator", ForceType::Actuator),
        ],
        &[
            "torsion_spring",
            "force",
            "torque",
            "contact",
            "bushing",
            "tyre",
        ],
    )
}

fn force_keys(table: &Table) -> Result<()> {
    const SPRING: [&str; 7] = [
        "name",
        "type",
        "bodies",
        "points",
        "stiffness",
        "damping",
        "length",
    ];
    const ACTUATOR: [&str; 7] = [
        "name", "type", "joint", "bodies", "points", "force", "torque",
    ];
    if !table.has("type") {
        let all = [&SPRING[..], &ACTUATOR[..]].concat();
        table.keys(&all, &["direction"], &TOP)?;
    }
    match force_type(table)? {
        ForceType::SpringDamper => table.keys(&SPRING, &["direction"], &TOP),
        ForceType::Actuator => table.keys(&ACTUATOR, &[], &TOP),
    }
}

fn force(table: &Table, names: &Names, joints: &[Joint]) -> Result<Force> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let (kind, on) = match force_type(table)? {
        ForceType::SpringDamper => (spring(table)?, between_points(table, names)?),
        ForceType::Actuator => actuator(table, names, joints)?,
    };
    Ok(Force {
        name: name.to_owned(),
        kind,
        on,
        place: table.place(),
    })
}

fn between_points(table: &Table, names: &Names) -> Result<ForcePlace> {
    Ok(ForcePlace::Points {
        bodies: names.two_bodies(table)?,
        points: table.two_plane_vectors("points")?,
    })
}

fn spring(table: &Table) -> Result<ForceKind> {
    for key in ["stiffness", "damping"] {
        if table
            .get(key)
            .is_some_and(|entry| matches!(entry.node.value, super::document::Value::Table(_)))
        {
            return Err(table.refuse_value(
                key,
                format!("a law for {key} is not available in this version; give a number"),
            ));
        }
    }
    let stiffness = table.number("stiffness", Range::NonNegative)?;
    let damping = table.number("damping", Range::NonNegative)?;
    let length = table.number("length", Range::NonNegative)?;
    if stiffness.is_none() && damping.is_none() {
        return Err(table.refuse("\"stiffness\" is missing: expected stiffness, damping, or both"));
    }
    if stiffness.is_some() && length.is_none() {
        return Err(table
            .refuse("\"length\" is missing: expected the unloaded length, a finite number >= 0"));
    }
    Ok(ForceKind::SpringDamper {
        stiffness: stiffness.unwrap_or(0.0),
        damping: damping.unwrap_or(0.0),
        length: length.unwrap_or(0.0),
    })
}

fn actuator(table: &Table, names: &Names, joints: &[Joint]) -> Result<(ForceKind, ForcePlace)> {
    let on = match table.text("joint")? {
        Some(joint) => {
            for key in ["bodies", "points"] {
                if table.has(key) {
                    return Err(table.refuse_key(
                        key,
                        "an actuator acts in a \"joint\" or between \"bodies\" and \"points\", not both",
                    ));
                }
            }
            let offset = table.offset_of("joint");
            match names.find(joint) {
                Some(Element::Joint(i)) => ForcePlace::Joint(i),
                other => return Err(names.not_a(table, joint, offset, "joint", other)),
            }
        }
        None if table.has("bodies") || table.has("points") => between_points(table, names)?,
        None => {
            return Err(table.refuse(
                "\"joint\" is missing: expected the joint it acts in, or \"bodies\" and \"points\"",
            ));
        }
    };
    let (right, wrong) = match on {
        ForcePlace::Joint(i) if joints[i].kind == JointKind::Revolute => ("torque", "force"),
        _ => ("force", "torque"),
    };
    if table.has(wrong) {
        let place = match on {
            ForcePlace::Joint(_) if right == "torque" => "in a revolute joint",
            ForcePlace::Joint(_) => "in a prismatic joint",
            ForcePlace::Points { .. } => "between points",
        };
        let message = format!("an actuator {place} has a \"{right}\", not a \"{wrong}\"");
        return Err(table.refuse_key(wrong, message));
    }
    let effort = table.number(right, Range::Finite)?.unwrap_or(0.0);
    Ok((ForceKind::Actuator { effort }, on))
}

fn sensor(table: &Table, names: &Names) -> Result<Sensor> {
    let (name, _) = table.name(&RESERVED_ELEMENTS)?;
    let body = table.needed_text("body", "the name of a body")?;
    Ok(Sensor {
        name: name.to_owned(),
        body: names.body(table, body, table.offset_of("body"))?,
        point: table.plane_vector("point")?.unwrap_or_default(),
        place: table.place(),
    })
}

fn signals(root: &Table, model: &mut Model, names: &Names) -> Result<()> {
    let inputs = root.tables("input")?;
    let outputs = root.tables("output")?;
    let parameters = root.tables("parameter")?;
    let mut declared: HashMap<&str, (&'static str, usize)> = HashMap::new();
    for (kind, tables) in [
        ("input", &inputs),
        ("output", &outputs),
        ("parameter", &parameters),
    ] {
        for table in tables {
            let (known, later): (&[&str], &[&str]) = match kind {
                "output" => (&["name", "source", "unit"], &[]),
                _ => (&["name", "target", "unit", "start"], &[]),
            };
            table.keys(known, later, &TOP)?;
            let (name, offset) = table.name(&RESERVED_VARIABLES)?;
            if let Some((other, first)) = declared.insert(name, (kind, offset)) {
                return Err(twice(table, name, offset, other, first));
            }
        }
    }

    let mut driven: HashMap<Target, (&str, usize)> = HashMap::new();
    for (input, tables) in [(true, &inputs), (false, &parameters)] {
        for table in tables {
            let (name, _) = table.name(&RESERVED_VARIABLES)?;
            let (target, start) = set_by(table, model, names, input)?;
            let offset = table.offset_of("target");
            if let Some((other, first)) = driven.insert(target, (name, offset)) {
                let Place { line, column } = table.source().place(first);
                let message = format!(
                    "{} is already set by \"{other}\" at {line}:{column}",
                    model.target_name(target)
                );
                return Err(table.refuse_at(offset, message));
            }
            let (name, unit, place) = (
                name.to_owned(),
                unit(table, model.unit_of_target(target))?,
                table.place(),
            );
            if input {
                model.inputs.push(Input {
                    name,
                    target,
                    unit,
                    start,
                    place,
                });
            } else {
                model.parameters.push(Parameter {
                    name,
                    target,
                    unit,
                    start,
                    place,
                });
            }
            *model.number_mut(target) = start;
        }
    }

    for table in &outputs {
        let (name, _) = table.name(&RESERVED_VARIABLES)?;
        let source = table.needed_text("source", "a quantity, <element>.<field>")?;
        let quantity = model
            .resolve_quantity(source, |name| names.find(name))
            .map_err(|message| table.refuse_value("source", format!("source: {message}")))?;
        let unit = unit(table, model.unit(quantity))?;
        model.outputs.push(Output {
            name: name.to_owned(),
            source: source.to_owned(),
            unit,
            place: table.place(),
        });
    }
    Ok(())
}

/// What an input or parameter sets, and from which value it starts.
fn set_by(table: &Table, model: &Model, names: &Names, input: bool) -> Result<(Target, f64)> {
    let dotted = table.needed_text("target", "what it sets, <element>.<field>")?;
    let target = model
        .resolve_target(dotted, |name| names.find(name))
        .map_err(|message| table.refuse_value("target", format!("target: {message}")))?;
    if input && !target.driveable() {
        let message = format!(
            "target: {dotted} cannot be driven while the simulation runs; make it a [[parameter]] (an input drives \
             an actuator's force or torque, or gravity)"
        );
        return Err(table.refuse_value("target", message));
    }
    let start = table
        .number("start", target.range())?
        .unwrap_or_else(|| model.value_of_target(target));
    Ok((target, start))
}

/// A unit as written must be the one the value has: nothing is converted.
fn unit(table: &Table, own: &str) -> Result<Option<String>> {
    let Some(unit) = table.text("unit")? else {
        return Ok(None);
    };
    let plain = |text: &str| -> String {
        let text = text.trim().replace(['*', '·', ' '], ".");
        text.replace('²', "2").replace('^', "")
    };
    let dimensionless = own.is_empty() && unit == "1";
    if plain(unit) != plain(own) && !dimensionless {
        let own = if own.is_empty() { "1" } else { own };
        let message = format!(
            "unit \"{}\" does not fit: the value is in \"{own}\", and units are not converted",
            shorten(unit)
        );
        return Err(table.refuse_value("unit", message));
    }
    Ok(Some(unit.to_owned()))
}
