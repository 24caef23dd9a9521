//! `biela check --json`: what a model is, its warnings or its errors, as one JSON object for other programs.

use std::path::Path;

use biela::formulation::resolved_formulation;
use biela::{Causality, Error, Instance, Variable};
use serde_json::{Value, json};

use crate::Failure;
use crate::check::{Freedom, warnings};
use crate::contradiction::contradicting_motions;
use crate::element_positions::ElementPositions;
use crate::model_file;
use crate::output;

/// Checks a model and prints the object. Errors are in it, and the exit status is 2.
pub fn check(path: &Path, all: bool) -> Result<(), Failure> {
    match describe(path, all) {
        Ok(object) => output::print(&format!("{object:#}\n")),
        Err(error) => {
            let object = json!({ "ok": false, "errors": errors(&error) });
            output::print(&format!("{object:#}\n"))?;
            Err(Failure::Told)
        }
    }
}

fn describe(path: &Path, all: bool) -> biela::Result<Value> {
    let model = model_file::read_model(path)?;
    let experiment = model.experiment;
    let positions = ElementPositions::of(&model);
    let mut instance = Instance::from_model(model)?;
    (instance.initialize(experiment.start, experiment.stop, 0.0))
        .map_err(|error| positions.locate(error))?;
    let report = instance
        .start_report()
        .expect("an initialised instance has a start report");
    let model = instance.model();
    if let Some(error) = contradicting_motions(model, report) {
        return Err(error);
    }
    let freedom = Freedom::of(&instance, report);
    let most = if all { usize::MAX } else { 30 };
    let of = |causality: Causality| -> Vec<Value> {
        let chosen = (instance.variables().iter()).filter(|v| v.causality == causality);
        chosen.map(variable).collect()
    };
    let names = |names: Vec<&String>| Value::from_iter(names.into_iter().cloned());
    Ok(json!({
        "ok": true,
        "name": model.name,
        "description": model.notes.description,
        "author": model.notes.author,
        "version": model.notes.version,
        "license": model.notes.license,
        "dimension": model.dimension,
        "bodies": names(model.bodies.iter().map(|x| &x.name).collect()),
        "joints": names(model.joints.iter().map(|x| &x.name).collect()),
        "motions": names(model.motions.iter().map(|x| &x.name).collect()),
        "forces": names(model.forces.iter().map(|x| &x.name).collect()),
        "sensors": names(model.sensors.iter().map(|x| &x.name).collect()),
        "described": model.notes.elements,
        "degrees_of_freedom": freedom.true_count,
        "redundant": report.redundant,
        "closure": report.closure_before,
        "moved": report.moved,
        "formulation": resolved_formulation(model).name(),
        "tolerance": model.solver.tolerance,
        "start": experiment.start,
        "stop": experiment.stop,
        "inputs": of(Causality::Input),
        "outputs": of(Causality::Output),
        "parameters": of(Causality::Parameter),
        "warnings": warnings(model, &freedom, report, most),
    }))
}

fn variable(variable: &Variable) -> Value {
    json!({
        "name": variable.name,
        "unit": variable.unit,
        "start": variable.start,
        "min": variable.min,
        "max": variable.max,
        "nominal": variable.nominal,
        "description": variable.description,
    })
}

/// Each mistake with its position.
fn errors(error: &Error) -> Vec<Value> {
    match error {
        Error::Mistakes { mistakes, .. } => mistakes.iter().flat_map(errors).collect(),
        Error::Model {
            origin,
            line,
            column,
            message,
        } => {
            let one = json!({ "file": origin, "line": line, "column": column, "message": message });
            vec![one]
        }
        other => vec![json!({ "message": other.to_string() })],
    }
}
