//! The top level of the file: keys and reader. Names are declared first and tables read afterwards, so that elements may be
//! written in any order; the signals come last, since they refer to all others.

use std::path::{Path, PathBuf};

use super::beam::{BeamParts, CLAMPS, beam, beam_keys};
use super::body::{body, body_keys, sensor, sensor_keys};
use super::document::{Node, NodeValue};
use super::force::{ForceReader, force, force_keys};
use super::include::{Part, parts};
use super::joint::coupling::check_couplings;
use super::joint::{joint, joint_keys};
use super::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use super::linear_system::linear_system;
use super::motion::{motion, motion_keys};
use super::names::{FirstIndices, Names};
use super::signal::signals;
use super::signal_law::signal_laws;
use super::solver::{experiment, solver};
use super::table::TableReader;
use crate::error::Result;
use crate::model::quantity::NamedElement;
use crate::model::validate::is_identifier;
use crate::model::{
    Body, BodyCoordinate, BodyShape, Corrector, Experiment, Expose, Force, ForceApplication,
    ForceKind, Joint, Model, ModelNotes, Motion, MotionLaw, PrescribedCoordinate, Sensor,
    SolverSettings, TextPosition,
};

#[rustfmt::skip]
pub(super) const TOP: KeyGroup = KeyGroup::new(
    "",
    "Top level of the file. In TOML these keys stand before the first [table].",
    &[&[
        Key::new("format", KeyKind::OneOf(&[1]), "", REQUIRED, "version of the format"),
        Key::new("name", KeyKind::Name, "", "the file's name", "name of the model"),
        Key::new("description", KeyKind::Text, "", "none", "what the model is, for people"),
        Key::new("author", KeyKind::Text, "", "none", "who made it"),
        Key::new("version", KeyKind::Text, "", "none", "of the model"),
        Key::new("license", KeyKind::Text, "", "none", "under which it may be used"),
        Key::new("dimension", KeyKind::OneOf(&[2, 3]), "", "3",
            "2: x, y and an angle for each body; 3: position and orientation. Without effect on [system]"),
        Key::new("gravity", KeyKind::Vector, "m/s2", "zero", "acceleration of gravity, ground axes"),
        Key::new("define", KeyKind::Definitions, "", "none",
            "names for numbers, name = value or name = \"expression\", for the expressions of the file"),
        Key::new("include", KeyKind::Group, "", "none", "other model files as parts of this one"),
        Key::new("solver", KeyKind::Group, "", "all defaults", "settings of the solver"),
        Key::new("experiment", KeyKind::Group, "", "all defaults", "defaults for a run"),
        Key::new("system", KeyKind::Group, "", "none", "matrices of a linear system, instead of bodies"),
        Key::new("body", KeyKind::Group, "", "none", "rigid bodies"),
        Key::new("joint", KeyKind::Group, "", "none", "connections between bodies"),
        Key::new("motion", KeyKind::Group, "", "none", "prescribed coordinates"),
        Key::new("force", KeyKind::Group, "", "none", "force elements: springs, dampers, actuators, contacts"),
        Key::new("beam", KeyKind::Group, "", "none", "elastic beams"),
        Key::new("sensor", KeyKind::Group, "", "none", "points of bodies whose motion is a quantity"),
        Key::new("input", KeyKind::Group, "", "none", "numbers driven from outside during the run"),
        Key::new("signal", KeyKind::Group, "", "none", "laws of inputs over time, until they are set from outside"),
        Key::new("output", KeyKind::Group, "", "none", "quantities visible from outside"),
        Key::new("parameter", KeyKind::Group, "", "none", "numbers set from outside before the run"),
        Key::new("expose", KeyKind::Choice(&Expose::NAMES), "", "declared",
            "variables of an instance: the declared inputs, outputs and parameters, or every quantity too"),
    ]],
);

/// Reads a model. Files it names are relative to `base_dir`; `chain` has the files that include it.
pub(super) fn model(
    root: TableReader,
    origin: &str,
    base_dir: Option<&Path>,
    chain: &[PathBuf],
) -> Result<Model> {
    check_format(&root)?;
    root.keys_of(&TOP);
    let name = match root.text("name") {
        Ok(None) => name_from(origin),
        _ => (root.settle(root.name(&[]))).map_or_else(String::new, |(name, _)| name.to_owned()),
    };
    let dimension = match root.whole_number("dimension")? {
        Some(2) => 2,
        None if gravity_is_planar(&root) => {
            let message = "gravity must be an array of 3 numbers [x, y, z], found an array of 2 values (dimension is 3 \
                           unless dimension = 2 is written)";
            root.report_value(root.refuse_value("gravity", message));
            2
        }
        None | Some(3) => 3,
        Some(other) => {
            let message = format!("dimension must be 2 or 3, found {other}");
            return Err(root.refuse_value("dimension", message));
        }
    };
    let root = &root.in_dimension(dimension);
    let system = match root.settle(root.table("system")).flatten() {
        Some(table) => {
            let system = table.settle(linear_system(root, &table, base_dir));
            if system.is_none() {
                // Its variables are those of the matrices: without these, nothing more can be read.
                solver_and_experiment(root);
                return Ok(Model::default());
            }
            system
        }
        None => None,
    };
    let (solver, experiment) = solver_and_experiment(root);
    let mut model = Model {
        origin: origin.to_owned(),
        name,
        dimension: if system.is_some() { 3 } else { dimension },
        gravity: root.vector("gravity")?.unwrap_or_default(),
        solver,
        experiment,
        system,
        expose: (root.settle(root.choice("expose", &Expose::ALL)).flatten()).unwrap_or_default(),
        definitions: root.source().document.definitions.listed(),
        ..Model::default()
    };
    model.notes = notes(root)?;
    elements(root, &mut model, parts(root, base_dir, chain))?;
    // Files of parts have been sought beside those.
    for body in &mut model.bodies {
        if let Some(BodyShape::Mesh(mesh)) = &mut body.shape
            && mesh.path.as_os_str().is_empty()
        {
            mesh.path =
                base_dir.map_or_else(|| PathBuf::from(&mesh.file), |dir| dir.join(&mesh.file));
        }
    }
    // Elastic frequencies are to be damped, not followed: that is HHT by itself.
    let chosen = root.table("solver")?;
    if !model.beams.is_empty() && !chosen.is_some_and(|solver| solver.has("corrector")) {
        model.solver.corrector = Corrector::Off;
    }
    signal_laws(root, &mut model, base_dir)?;
    Ok(model)
}

/// Descriptions of the model and its elements, author, version and licence.
fn notes(root: &TableReader) -> Result<ModelNotes> {
    let text = |table: &TableReader, key: &str| {
        let text = table.settle(table.text(key)).flatten();
        text.unwrap_or_default().to_owned()
    };
    let mut notes = ModelNotes {
        description: text(root, "description"),
        author: text(root, "author"),
        version: text(root, "version"),
        license: text(root, "license"),
        ..ModelNotes::default()
    };
    for key in ["body", "joint", "motion", "force", "beam", "sensor"] {
        for table in root.tables(key)? {
            let description = text(&table, "description");
            if let (Ok(Some(name)), false) = (table.text("name"), description.is_empty()) {
                notes.elements.insert(name.to_owned(), description);
            }
        }
    }
    Ok(notes)
}

/// The format is checked before the keys: another format may have other keys.
fn check_format(root: &TableReader) -> Result<()> {
    match root.whole_number("format")? {
        Some(1) => Ok(()),
        Some(other) => {
            let message = format!("format {other} is unknown: this version reads format 1");
            Err(root.refuse_value("format", message))
        }
        None => Err(root.refuse("\"format\" is missing: a model file begins with format = 1")),
    }
}

/// Reads bodies, joints, motions, forces, sensors and signals. The elements of parts come first.
fn elements(root: &TableReader, model: &mut Model, parts: (Vec<Part>, bool)) -> Result<()> {
    let (parts, all_parts) = parts;
    let bodies = root.tables("body")?;
    let joints = root.tables("joint")?;
    let motions = root.tables("motion")?;
    let forces = root.tables("force")?;
    let sensors = root.tables("sensor")?;
    let part_names: Vec<Vec<(String, NamedElement)>> =
        parts.iter().map(|part| part.names.clone()).collect();
    let beams = BeamTables::new(root, &parts, bodies.len(), joints.len())?;
    let mut names = Names::default();
    names.part_missing = !all_parts;
    let mut first = FirstIndices::default();
    for (part, own) in parts.iter().zip(&part_names) {
        root.settle(names.declare_part(part, own, &first));
        first = first.after(&part.model);
    }
    for (i, table) in bodies.iter().enumerate() {
        table.settle(body_keys(table));
        table.settle(names.declare(table, NamedElement::Body(first.bodies + i)));
    }
    for table in &joints {
        let kind = joint_keys(table);
        table.settle(kind.clone());
        table.settle(names.declare_joint(table, kind));
    }
    for (i, table) in motions.iter().enumerate() {
        table.settle(motion_keys(table));
        table.settle(names.declare(table, NamedElement::Motion(first.motions + i)));
    }
    for (i, table) in forces.iter().enumerate() {
        table.settle(force_keys(table));
        table.settle(names.declare(table, NamedElement::Force(first.forces + i)));
    }
    beams.declare(&mut names, first.beams);
    for (i, table) in sensors.iter().enumerate() {
        sensor_keys(table);
        table.settle(names.declare(table, NamedElement::Sensor(first.sensors + i)));
    }

    let names = &mut names;
    let of = |i: usize| NamedElement::Body(first.bodies + i);
    let own_bodies: Vec<Body> = read(&bodies, names, of, |t, _| body(t));
    mount(root, model, names, parts, (first.bodies, &own_bodies));
    model.bodies.extend(own_bodies);
    let clamps = beams.read(names, first.beams, model);
    let of = |i: usize| NamedElement::Joint(first.joints + i);
    let own = read(&joints, names, of, joint);
    model.joints.extend(own);
    model.joints.extend(clamps);
    let of = |i: usize| NamedElement::Motion(first.motions + i);
    let own = read(&motions, names, of, |table, names| {
        motion(table, names, model)
    });
    model.motions.extend(own);
    if names.all_read() {
        check_couplings(&joints, &motions, model);
    }
    let of = |i: usize| NamedElement::Force(first.forces + i);
    let own = read(&forces, names, of, |table, names| {
        force(&ForceReader {
            table,
            names,
            joints: &model.joints,
            gravity: model.gravity,
        })
    });
    model.forces.extend(own);
    let of = |i: usize| NamedElement::Sensor(first.sensors + i);
    let own = read(&sensors, names, of, sensor);
    model.sensors.extend(own);
    signals(root, model, names)
}

/// Adds the elements of parts to the model. The bodies of this file come behind those of the parts, from index `own.0` on.
fn mount(
    root: &TableReader,
    model: &mut Model,
    names: &mut Names,
    parts: Vec<Part>,
    own: (usize, &[Body]),
) {
    let source = root.source();
    for mut part in parts {
        // Messages about the elements of a part name the place that includes it, the suspicions of its reader its own file.
        (part.model).set_text_positions(source.text_position(part.offset()));
        for sentence in std::mem::take(&mut part.model.suspicions) {
            source.document.mistakes.suspect(sentence);
        }
        let at = |index: usize| match index.checked_sub(own.0) {
            Some(index) => own.1.get(index).cloned(),
            None => model.bodies.get(index).cloned(),
        };
        let included = part.mount(names, &at).and_then(|mount| {
            let included = model.include(part.model.clone(), &mount);
            included.map_err(|message| part.refuse(message))
        });
        if let Err(error) = included {
            source.document.mistakes.report(error);
            names.part_missing = true;
        }
    }
}

/// The tables of beams, with the numbers and names of what they bring: nodes and clamps.
struct BeamTables<'a> {
    tables: Vec<TableReader<'a>>,
    elements: Vec<usize>,
    first_nodes: Vec<usize>,
    names: Vec<Vec<(String, NamedElement)>>,
}

impl<'a> BeamTables<'a> {
    /// Nodes come behind the bodies of all parts and the `bodies` of this file, clamps behind the joints.
    fn new(root: &TableReader<'a>, parts: &[Part], bodies: usize, joints: usize) -> Result<Self> {
        let tables = root.tables("beam")?;
        let first = (parts.iter()).fold(FirstIndices::default(), |f, part| f.after(&part.model));
        let (mut node, mut joint) = (first.bodies + bodies, first.joints + joints);
        let mut beams = Self {
            tables,
            elements: vec![],
            first_nodes: vec![],
            names: vec![],
        };
        for table in &beams.tables {
            let count = beam_keys(table);
            beams.elements.push(count);
            beams.first_nodes.push(node);
            let mut names = vec![];
            if let Ok(Some(name)) = table.text("name") {
                let of_node = |k| (format!("{name}.{k}"), NamedElement::Body(node + k));
                names.extend((0..=count).map(of_node));
                for end in CLAMPS.into_iter().filter(|key| table.has(key)) {
                    names.push((format!("{name}.{end}"), NamedElement::Joint(joint)));
                    joint += 1;
                }
            }
            beams.names.push(names);
            node += count + 1;
        }
        Ok(beams)
    }

    fn declare<'n>(&'n self, names: &mut Names<'n>, first: usize)
    where
        'a: 'n,
    {
        for (i, table) in self.tables.iter().enumerate() {
            table.settle(names.declare(table, NamedElement::Beam(first + i)));
            names.declare_of_beam(table, &self.names[i]);
        }
    }

    /// Adds the beams and their nodes to the model, and returns the joints that clamp them.
    fn read(&self, names: &mut Names, first: usize, model: &mut Model) -> Vec<Joint> {
        let mut clamps = vec![];
        for (i, table) in self.tables.iter().enumerate() {
            let result = beam(table, names, self.first_nodes[i]);
            if let Err(error) = &result {
                names.set_unread(NamedElement::Beam(first + i), error.clone());
            }
            let parts = table.settle(result).unwrap_or_else(|| {
                let clamps = self.names[i].len().saturating_sub(self.elements[i] + 1);
                BeamParts::substitute(self.elements[i], clamps)
            });
            model.bodies.extend(parts.nodes);
            model.beams.push(parts.beam);
            clamps.extend(parts.clamps);
        }
        clamps
    }
}

/// Reads the tables of one kind. An element that cannot be read is reported, and a substitute takes its place: a model
/// with mistakes is never returned.
fn read<T: Substitute>(
    tables: &[TableReader],
    names: &mut Names,
    element: impl Fn(usize) -> NamedElement,
    read: impl Fn(&TableReader, &Names) -> Result<T>,
) -> Vec<T> {
    let mut elements = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let result = read(table, names);
        if let Err(error) = &result {
            names.set_unread(element(i), error.clone());
        }
        elements.push(table.settle(result).unwrap_or_else(T::substitute));
    }
    elements
}

/// An element that may stand for one that could not be read.
trait Substitute {
    fn substitute() -> Self;
}

impl Substitute for Body {
    fn substitute() -> Self {
        Self::default()
    }
}

impl Substitute for Joint {
    fn substitute() -> Self {
        Self::default()
    }
}

impl Substitute for Motion {
    fn substitute() -> Self {
        Self {
            name: String::new(),
            on: PrescribedCoordinate::Body(0, BodyCoordinate::Angle),
            axis: [0.0; 3],
            law: MotionLaw::ConstantSpeed { speed: 0.0 },
            text_position: TextPosition::default(),
        }
    }
}

impl Substitute for Force {
    fn substitute() -> Self {
        Self {
            name: String::new(),
            kind: ForceKind::Actuator { effort: 0.0 },
            on: ForceApplication::Point {
                body: None,
                point: [0.0; 3],
            },
            text_position: TextPosition::default(),
        }
    }
}

impl Substitute for Sensor {
    fn substitute() -> Self {
        Self {
            name: String::new(),
            body: None,
            point: [0.0; 3],
            text_position: TextPosition::default(),
        }
    }
}

/// Reads `[solver]` and `[experiment]`.
fn solver_and_experiment(root: &TableReader) -> (SolverSettings, Experiment) {
    let table = |key: &str| root.settle(root.table(key)).flatten();
    let solver = table("solver").and_then(|table| table.settle(solver(&table)));
    let experiment = table("experiment").and_then(|table| table.settle(experiment(&table)));
    (solver.unwrap_or_default(), experiment.unwrap_or_default())
}

/// Whether gravity has two components although `dimension`, whose default is 3, is not written.
fn gravity_is_planar(root: &TableReader) -> bool {
    let planar = |node: &Node| matches!(&node.value, NodeValue::Array(items) if items.len() == 2);
    root.get("gravity").is_some_and(|entry| planar(&entry.node))
}

/// A model name made from the file name without its ending.
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
