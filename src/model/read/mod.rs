//! From text to [`Model`]: which keys each table has, what they default to, and who may refer to whom.
//!
//! Names first, then contents, so that elements may be written in any order; then the signals, which refer to all.

mod body;
mod force;
mod joint;
mod names;
mod settings;
mod signal;
mod system;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use self::body::{body, body_keys, sensor, sensor_keys};
use self::force::{force, force_keys};
use self::joint::{joint, joint_keys};
use self::names::Names;
use self::settings::{experiment, solver};
use self::signal::signals;
use self::system::system;
use super::check::is_identifier;
use super::document::{Document, LARGEST_TEXT};
use super::quantity::Element;
use super::reader::{Source, Table};
use super::{Experiment, Model, Solver};
use crate::error::{Error, Result};

/// Keys of the top level.
const TOP: [&str; 14] = [
    "format",
    "name",
    "dimension",
    "gravity",
    "solver",
    "experiment",
    "system",
    "body",
    "joint",
    "force",
    "sensor",
    "input",
    "output",
    "parameter",
];
/// Legal in the format, not in this version.
const TOP_LATER: [&str; 2] = ["motion", "expose"];

impl Model {
    /// Reads a model file: JSON where its name ends so or its text begins with `{`, else TOML.
    pub fn from_file(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let unreadable = |reason: String| Error::File {
            path: shown.clone(),
            reason,
        };
        // One byte more than is allowed, so that no file, however endless, is read further.
        let mut bytes = vec![];
        File::open(path)
            .and_then(|file| file.take(LARGEST_TEXT as u64 + 1).read_to_end(&mut bytes))
            .map_err(|e| unreadable(e.to_string()))?;
        if bytes.len() > LARGEST_TEXT {
            return Err(unreadable(format!(
                "it is too large: at most {LARGEST_TEXT} bytes are read"
            )));
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            let good = e.utf8_error().valid_up_to();
            let line = 1 + e.as_bytes()[..good].iter().filter(|b| **b == b'\n').count();
            unreadable(format!(
                "it is not UTF-8 text: byte {good} (line {line}) begins no character"
            ))
        })?;
        Self::from_text_in(&text, &shown, path.parent())
    }

    /// Reads a model from text; `origin` is what messages call it. JSON where the text begins with `{` or `origin`
    /// ends with `.json`, else TOML. Files it names are found in the working directory.
    pub fn from_text(text: &str, origin: &str) -> Result<Self> {
        Self::from_text_in(text, origin, None)
    }

    /// The same with files found in `base_dir`.
    pub fn from_text_in(text: &str, origin: &str, base_dir: Option<&Path>) -> Result<Self> {
        let begins = text.trim_start_matches('\u{feff}').trim_start();
        let ending = Path::new(origin).extension();
        let json =
            begins.starts_with('{') || ending.is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let document = Document::parse(text, origin, json)?;
        let source = Source {
            document: &document,
            origin,
        };
        read(&Table::root(source)?, origin, base_dir)
    }
}

fn read(root: &Table, origin: &str, base_dir: Option<&Path>) -> Result<Model> {
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
    let system = (root.table("system")?)
        .map(|table| system(root, &table, base_dir))
        .transpose()?;
    match root.whole_number("dimension")? {
        Some(2) => {}
        None | Some(3) if system.is_some() => {}
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
        dimension: if system.is_some() { 3 } else { 2 },
        gravity: root.plane_vector("gravity")?.unwrap_or_default(),
        solver: root
            .table("solver")?
            .map_or(Ok(Solver::default()), |t| solver(&t))?,
        experiment: root
            .table("experiment")?
            .map_or(Ok(Experiment::default()), |t| experiment(&t))?,
        system,
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
        body_keys(table)?;
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
        sensor_keys(table)?;
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
