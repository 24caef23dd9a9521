//! The top level of the file: keys and reader. Names are declared first and tables read afterwards, so that elements may be
//! written in any order; the signals come last, since they refer to all others.

use std::path::Path;

use super::body::{body, body_keys, sensor, sensor_keys};
use super::force::{ForceReader, force, force_keys};
use super::joint::coupling::check_couplings;
use super::joint::{joint, joint_keys};
use super::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use super::linear_system::linear_system;
use super::motion::{motion, motion_keys};
use super::names::Names;
use super::signal::signals;
use super::solver::{experiment, solver};
use super::table::TableReader;
use crate::error::{Error, Result};
use crate::model::quantity::NamedElement;
use crate::model::validate::is_identifier;
use crate::model::{Experiment, Expose, Model, SolverSettings};

#[rustfmt::skip]
pub(super) const TOP: KeyGroup = KeyGroup::new(
    "",
    "Top level of the file. In TOML these keys stand before the first [table].",
    &[&[
        Key::new("format", KeyKind::OneOf(&[1]), "", REQUIRED, "version of the format"),
        Key::new("name", KeyKind::Name, "", "the file's name", "name of the model"),
        Key::new("dimension", KeyKind::OneOf(&[2, 3]), "", "3",
            "2: x, y and an angle for each body; 3: position and orientation. Without effect on [system]"),
        Key::new("gravity", KeyKind::Vector, "m/s2", "zero", "acceleration of gravity, ground axes"),
        Key::new("solver", KeyKind::Group, "", "all defaults", "settings of the solver"),
        Key::new("experiment", KeyKind::Group, "", "all defaults", "defaults for a run"),
        Key::new("system", KeyKind::Group, "", "none", "matrices of a linear system, instead of bodies"),
        Key::new("body", KeyKind::Group, "", "none", "rigid bodies"),
        Key::new("joint", KeyKind::Group, "", "none", "connections between bodies"),
        Key::new("motion", KeyKind::Group, "", "none", "prescribed coordinates"),
        Key::new("force", KeyKind::Group, "", "none", "force elements: springs, dampers, actuators, contacts"),
        Key::new("sensor", KeyKind::Group, "", "none", "points of bodies whose motion is a quantity"),
        Key::new("input", KeyKind::Group, "", "none", "numbers driven from outside during the run"),
        Key::new("output", KeyKind::Group, "", "none", "quantities visible from outside"),
        Key::new("parameter", KeyKind::Group, "", "none", "numbers set from outside before the run"),
        Key::new("expose", KeyKind::Choice(&Expose::NAMES), "", "declared",
            "variables of an instance: the declared inputs, outputs and parameters, or every quantity too"),
    ]],
);

/// Reads a model. Files it names are relative to `base_dir`.
pub(super) fn model(root: TableReader, origin: &str, base_dir: Option<&Path>) -> Result<Model> {
    check_format(&root)?;
    root.keys_of(&TOP)?;
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
        .map(|table| linear_system(root, &table, base_dir))
        .transpose()?;
    let mut model = Model {
        origin: origin.to_owned(),
        name,
        dimension: if system.is_some() { 3 } else { dimension },
        gravity: gravity(root)?,
        solver: (root.table("solver")?).map_or(Ok(SolverSettings::default()), |t| solver(&t))?,
        experiment: (root.table("experiment")?)
            .map_or(Ok(Experiment::default()), |t| experiment(&t))?,
        system,
        expose: root.choice("expose", &Expose::ALL)?.unwrap_or_default(),
        words: None,
        ..Model::default()
    };
    elements(root, &mut model)?;
    Ok(model)
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

/// Reads bodies, joints, motions, forces, sensors and signals.
fn elements(root: &TableReader, model: &mut Model) -> Result<()> {
    let bodies = root.tables("body")?;
    let joints = root.tables("joint")?;
    let motions = root.tables("motion")?;
    let forces = root.tables("force")?;
    let sensors = root.tables("sensor")?;
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

    model.bodies = bodies.iter().map(body).collect::<Result<_>>()?;
    model.joints = (joints.iter())
        .map(|table| joint(table, &names))
        .collect::<Result<_>>()?;
    model.motions = (motions.iter())
        .map(|table| motion(table, &names, model))
        .collect::<Result<_>>()?;
    check_couplings(&joints, &motions, model)?;
    model.forces = (forces.iter())
        .map(|table| {
            force(&ForceReader {
                table,
                names: &names,
                joints: &model.joints,
                gravity: model.gravity,
            })
        })
        .collect::<Result<_>>()?;
    model.sensors = (sensors.iter())
        .map(|table| sensor(table, &names))
        .collect::<Result<_>>()?;
    signals(root, model, &names)
}

/// Reads `gravity`. The error about a wrong length mentions `dimension`, whose default is 3.
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
