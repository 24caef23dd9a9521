//! The documentation page of an archive: the model, its variables, its solver settings.

use super::xml::escape;
use crate::component::{Causality, Instance, Variability};
use crate::fmi::types::FmiStandard;

/// The text of `documentation/index.html`.
pub(super) fn page(instance: &Instance, standard: FmiStandard) -> String {
    let model = instance.model();
    let name = escape(&model.name);
    let solver = &model.solver;
    let step = match solver.step {
        Some(step) => format!("fixed, {step} s"),
        None => "chosen by the local error".to_owned(),
    };
    let summary = match &model.system {
        Some(system) => format!(
            "A system given by its matrices: {} coordinates, {} constraints.",
            system.coordinates(),
            system.constraints()
        ),
        None => format!(
            "A mechanism in {} dimensions: {} bodies, {} joints, {} forces.",
            model.dimension,
            model.bodies.len(),
            model.joints.len(),
            model.forces.len()
        ),
    };
    let facts = [
        (
            "Standard",
            format!("FMI {}, Co-Simulation", standard.version()),
        ),
        (
            "Made by",
            concat!("biela ", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
        (
            "Default run",
            format!(
                "{} s to {} s",
                model.experiment.start, model.experiment.stop
            ),
        ),
        ("Local error per step", solver.tolerance.to_string()),
        ("Step size inside", step),
        ("Numerical dissipation", format!("alpha = {}", solver.alpha)),
    ];
    let facts: String = facts
        .iter()
        .map(|(key, value)| row("td", &[key, value]))
        .collect();
    let mut variables = row("th", &["Name", "Unit", "Kind", "Start", "Stands for"]);
    for variable in instance.variables() {
        let kind = match (variable.causality, variable.variability) {
            (Causality::Input, _) => "input",
            (Causality::Output, _) => "output",
            (Causality::Local, _) => "local",
            (Causality::Parameter, Variability::Fixed) => "parameter, before the start",
            (Causality::Parameter, _) => "parameter, any time",
        };
        let start = variable.start.map_or_else(String::new, |s| s.to_string());
        variables += &row(
            "td",
            &[
                &variable.name,
                &variable.unit,
                kind,
                &start,
                &variable.description,
            ],
        );
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}</title>\n<style>\n\
         body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}\n\
         table {{ border-collapse: collapse }}\n\
         td, th {{ text-align: left; padding: .2em 1em .2em 0; border-bottom: 1px solid #ccc }}\n\
         </style>\n</head>\n<body>\n<h1>{name}</h1>\n<p>{summary}</p>\n<table>\n{facts}</table>\n<h2>Variables</h2>\n\
         <p>SI units unless another is given, angles in radians.</p>\n<table>\n{variables}</table>\n\
         <p>The model itself is in the folder <code>resources</code>.</p>\n</body>\n</html>\n"
    )
}

fn row(cell: &str, texts: &[&str]) -> String {
    let cells: String = texts
        .iter()
        .map(|text| format!("<{cell}>{}</{cell}>", escape(text)))
        .collect();
    format!("<tr>{cells}</tr>\n")
}
