//! `biela equilibrium`: the static equilibrium next to the initial position.

use std::fmt::Write as _;
use std::path::PathBuf;

use biela::model::InitialPosition;
use biela::model::file::portable;
use biela::{EquilibriumReport, Instance};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::analysis_point::PointArguments;
use crate::csv::Number;
use crate::{model_file, output};

/// Arguments of `biela equilibrium`.
#[derive(clap::Args)]
#[command(
    after_help = "Warns of directions that nothing holds, of unstable ones and of reactions that are not unique.\n\nExit status: \
                  0 done, 1 there is no equilibrium, 2 bad input."
)]
pub struct Arguments {
    #[command(flatten)]
    point: PointArguments,

    /// Write the model to this file with `initial = "equilibrium"`: what runs it starts there. Files that it names are found from
    /// the folder of M.toml
    #[arg(long, short, value_name = "M.toml", conflicts_with_all = ["at", "set"])]
    out: Option<PathBuf>,

    /// Print one JSON object: the outputs as `final`, and what was found
    #[arg(long)]
    json: bool,
}

/// Finds the equilibrium of a model.
pub fn equilibrium(arguments: &Arguments) -> Result<(), Failure> {
    let mut instance = arguments.point.instance()?;
    let report = instance
        .equilibrium()
        .map_err(|error| Failure::Simulation(error.to_string()))?;
    let outputs = outputs(&mut instance)?;
    if let Some(path) = &arguments.out {
        let source = &arguments.point.model;
        let text = model_file::text(source)?;
        let origin = source.to_string_lossy();
        let word = InitialPosition::Equilibrium.name();
        let text = portable::with_initial(&text, &origin, word).map_err(Failure::input)?;
        output::write(path, text.as_bytes())?;
    }
    let text = if arguments.json {
        format!("{}\n", report_json(&instance, &report, &outputs))
    } else {
        summary(&instance, &report, &outputs)
    };
    output::print(&text)
}

/// Outputs by name.
fn outputs(instance: &mut Instance) -> Result<Vec<(String, f64)>, Failure> {
    let references: Vec<u32> = instance.outputs().collect();
    let names: Vec<String> = (references.iter())
        .map(|reference| instance.variables()[*reference as usize].name.clone())
        .collect();
    let mut values = vec![0.0; references.len()];
    instance
        .get_real(&references, &mut values)
        .map_err(|error| Failure::Simulation(error.to_string()))?;
    Ok(names.into_iter().zip(values).collect())
}

fn report_json(
    instance: &Instance,
    report: &EquilibriumReport,
    outputs: &[(String, f64)],
) -> Value {
    let finals: Map<String, Value> = (outputs.iter())
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    json!({
        "time": instance.time(),
        "steps": report.steps,
        "moved": report.moved,
        "relaxed": report.relaxed,
        "stable": report.unstable.is_empty(),
        "free": report.free,
        "unstable": report.unstable,
        "redundant": report.redundant,
        "final": finals,
    })
}

fn summary(instance: &Instance, report: &EquilibriumReport, outputs: &[(String, f64)]) -> String {
    let mut text = format!(
        "{}: equilibrium at t = {} s after {} Newton steps{}, moved by {:.3e} (error norm)\n",
        instance.model().name,
        instance.time(),
        report.steps,
        if report.relaxed {
            " and dynamic relaxation"
        } else {
            ""
        },
        report.moved
    );
    for (what, names) in [
        ("nothing holds it along", &report.free),
        ("unstable along", &report.unstable),
        ("reactions are not unique in", &report.redundant),
    ] {
        if !names.is_empty() {
            let _ = writeln!(text, "  warning       {what} {}", names.join(", "));
        }
    }
    for (name, value) in outputs {
        let _ = writeln!(text, "  {name:<24} {}", Number(*value));
    }
    text
}
