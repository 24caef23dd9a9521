//! `biela modes`: frequencies, damping and shapes of the modes at a point.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use biela::linalg::elementary::{atan2, hypot};
use biela::model::Experiment;
use biela::report::{Recording, SECONDS_PER_MODE};
use biela::{Instance, Mode};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::analysis_point::PointArguments;
use crate::output;
use crate::report::ReportPage;

/// Amplitudes of a shape in the table, the largest first.
const SHOWN_AMPLITUDES: usize = 4;
/// Smallest amplitude in the table.
const SHOWN_AMPLITUDE: f64 = 0.01;

/// Arguments of `biela modes`.
#[derive(clap::Args)]
#[command(
    after_help = "The frequency is |s| / 2 pi of an eigenvalue s; a conjugate pair is one mode, rigid-body modes have frequency \
                  zero.\n\nExit status: 0 done, 1 the simulation or the analysis failed, 2 bad input."
)]
pub struct Arguments {
    #[command(flatten)]
    point: PointArguments,

    /// Number of modes, the lowest first [default: all]
    #[arg(long, value_name = "N")]
    count: Option<usize>,

    /// Write a page on which the modes move, one after the other
    #[arg(long, value_name = "F.html")]
    report: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the modes of a model.
pub fn modes(arguments: &Arguments) -> Result<(), Failure> {
    let mut instance = arguments.point.instance()?;
    let modes = instance
        .modes(arguments.count.unwrap_or(usize::MAX))
        .map_err(|error| Failure::Simulation(error.to_string()))?;
    if let Some(path) = &arguments.report {
        write_page(path, &arguments.point.model, &mut instance, &modes)?;
    }
    let text = if arguments.json {
        let list: Vec<Value> = modes.iter().map(mode_json).collect();
        format!("{}\n", json!({ "time": instance.time(), "modes": list }))
    } else {
        table(&instance.model().name, instance.time(), &modes)
    };
    output::print(&text)
}

/// Writes the page of the modes.
fn write_page(
    path: &Path,
    model_path: &Path,
    instance: &mut Instance,
    modes: &[Mode],
) -> Result<(), Failure> {
    let failure = |error: biela::Error| Failure::Simulation(error.to_string());
    let recording = Recording::of_modes(instance, modes).map_err(failure)?;
    let experiment = Experiment {
        start: 0.0,
        stop: (SECONDS_PER_MODE * modes.len() as f64).max(SECONDS_PER_MODE),
        ..instance.model().experiment
    };
    let model = instance.model().clone();
    let mut page = ReportPage::new(path, model_path, &model, &experiment, &[])?;
    page.write(instance, recording, &Ok(()))
}

fn mode_json(mode: &Mode) -> Value {
    let part = |k: usize| {
        let mut elements = Map::new();
        for (name, amplitude) in &mode.shape {
            let (element, field) = name.rsplit_once('.').unwrap_or(("q", name));
            let fields = elements
                .entry(element)
                .or_insert_with(|| Value::Object(Map::new()));
            fields[field] = json!(amplitude[k]);
        }
        Value::Object(elements)
    };
    let energy: Map<String, Value> = (mode.energy.iter())
        .map(|(name, share)| (name.clone(), json!(share)))
        .collect();
    let mut object = json!({
        "frequency": mode.frequency,
        "damping": mode.damping,
        "eigenvalue": mode.eigenvalue,
        "shape": part(0),
    });
    if mode.shape.iter().any(|(_, amplitude)| amplitude[1] != 0.0) {
        object["shape_imaginary"] = part(1);
    }
    object["energy"] = Value::Object(energy);
    object
}

fn table(name: &str, time: f64, modes: &[Mode]) -> String {
    let mut text = format!("{name}: {} modes at t = {time} s\n", modes.len());
    text.push_str("        Hz    damping  shape (largest amplitudes), most energy\n");
    for mode in modes {
        let size = |x: &[f64; 2]| hypot(x[0], x[1]);
        let mut shape: Vec<_> = mode.shape.iter().collect();
        shape.retain(|(_, x)| size(x) >= SHOWN_AMPLITUDE);
        shape.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)));
        let shown: Vec<String> = (shape.iter().take(SHOWN_AMPLITUDES))
            .map(|(name, x)| match x[1] {
                0.0 => format!("{name} {:.3}", x[0]),
                _ => format!(
                    "{name} {:.3} at {:.0} deg",
                    size(x),
                    atan2(x[1], x[0]).to_degrees()
                ),
            })
            .collect();
        let most = mode.energy.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let energy = most.map_or(String::new(), |(body, share)| {
            format!("; {body} {:.0} %", 100.0 * share)
        });
        let _ = writeln!(
            text,
            "{:>12.6} {:>8.4}  {}{energy}",
            mode.frequency,
            // No negative zero.
            (1e4 * mode.damping).round() / 1e4 + 0.0,
            shown.join(", ")
        );
    }
    text
}
