//! From text to [`Model`]: which keys each table has, what they default to, and who may refer to whom.
//!
//! Names first, then contents, so that elements may be written in any order; then the signals, which refer to all.

mod body;
mod coupling;
mod curve;
mod force;
mod joint;
mod motion;
mod names;
pub(super) mod settings;
mod signal;
mod system;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use self::body::{body, body_keys, sensor, sensor_keys};
use self::coupling::tied_together;
use self::force::{Around, force, force_keys};
use self::joint::{joint, joint_keys};
use self::motion::{motion, motion_keys};
use self::names::Names;
use self::settings::{experiment, solver};
use self::signal::signals;
use self::system::system;
use super::check::is_identifier;
use super::document::{Document, LARGEST_TEXT};
use super::keys::{KeyGroup, TOP, TOP_LATER};
use super::quantity::NamedElement;
use super::reader::{ModelText, TableReader};
use super::{Experiment, Expose, Model, SolverSettings};
use crate::error::{Error, Result};

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
        let source = ModelText {
            document: &document,
            origin,
            dimension: 3,
        };
        read(TableReader::root(source)?, origin, base_dir)
    }
}

fn read(root: TableReader, origin: &str, base_dir: Option<&Path>) -> Result<Model> {
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
    root.keys_of(&KeyGroup {
        later: &TOP_LATER,
        ..TOP
    })?;
    let name = match root.text("name")? {
        Some(_) => root.name(&[])?.0.to_owned(),
        None => name_from(origin),
    };
    let dimension = match root.whole_number("dimension")? {
        Some(2) => 2,
        None | Some(3) => 3,
        Some(other) => {
            let message = format!("dimension must be 2 or 3, found {other}");
            return Err(root.refuse_value("dimension", message));
        }
    };
    let root = &root.in_dimension(dimension);
    let system = (root.table("system")?)
        .map(|table| system(root, &table, base_dir))
        .transpose()?;

    let bodies = root.tables("body")?;
    let joints = root.tables("joint")?;
    let motions = root.tables("motion")?;
    let forces = root.tables("force")?;
    let sensors = root.tables("sensor")?;
    let mut model = Model {
        origin: origin.to_owned(),
        name,
        dimension: if system.is_some() { 3 } else { dimension },
        gravity: gravity(root)?,
        solver: root
            .table("solver")?
            .map_or(Ok(SolverSettings::default()), |t| solver(&t))?,
        experiment: root
            .table("experiment")?
            .map_or(Ok(Experiment::default()), |t| experiment(&t))?,
        system,
        own: None,
        bodies: Vec::with_capacity(bodies.len()),
        joints: Vec::with_capacity(joints.len()),
        motions: Vec::with_capacity(motions.len()),
        forces: Vec::with_capacity(forces.len()),
        sensors: Vec::with_capacity(sensors.len()),
        inputs: vec![],
        outputs: vec![],
        parameters: vec![],
        expose: match root.text("expose")? {
            None | Some("declared") => Expose::Declared,
            Some("all") => Expose::All,
            Some(other) => {
                let message = format!("expose must be \"declared\" or \"all\", found \"{other}\"");
                return Err(root.refuse_value("expose", message));
            }
        },
    };

    let mut names = Names::default();
    for (i, table) in bodies.iter().enumerate() {
        body_keys(table)?;
        names.declare(table, NamedElement::Body(i))?;
    }
    for table in &joints {
        names.declare_joint(table, joint_keys(table)?)?;
    }
    for (i, table) in motions.iter().enumerate() {
        motion_keys(table)?;
        names.declare(table, NamedElement::Motion(i))?;
    }
    for (i, table) in forces.iter().enumerate() {
        force_keys(table)?;
        names.declare(table, NamedElement::Force(i))?;
    }
    for (i, table) in sensors.iter().enumerate() {
        sensor_keys(table)?;
        names.declare(table, NamedElement::Sensor(i))?;
    }

    for table in &bodies {
        model.bodies.push(body(table)?);
    }
    for table in &joints {
        model.joints.push(joint(table, &names)?);
    }
    for table in &motions {
        let motion = motion(table, &names, &model)?;
        model.motions.push(motion);
    }
    tied_together(&joints, &motions, &model)?;
    for table in &forces {
        let around = Around {
            joints: &model.joints,
            gravity: model.gravity,
        };
        let force = force(table, &names, &around)?;
        model.forces.push(force);
    }
    for table in &sensors {
        model.sensors.push(sensor(table, &names)?);
    }
    signals(root, &mut model, &names)?;
    Ok(model)
}

/// `gravity`: who writes three numbers and meant the plane is told about `dimension`.
fn gravity(root: &TableReader) -> Result<[f64; 3]> {
    root.vector("gravity")
        .map(Option::unwrap_or_default)
        .map_err(|error| match error {
            Error::Model {
                origin,
                line,
                column,
                message,
            } if message.contains("3 numbers") && !root.has("dimension") => Error::Model {
                origin,
                line,
                column,
                message: format!("{message} (dimension is 3 unless dimension = 2 is written)"),
            },
            other => other,
        })
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
