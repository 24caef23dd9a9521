//! `biela linearize`: the linear model at a point, as JSON, CSV, MATLAB or NumPy file.

mod mat;
mod npz;

use std::path::{Path, PathBuf};

use biela::{DescriptorModel, StateSpace};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::analysis_point::PointArguments;
use crate::csv::Number;
use crate::output;

/// Format of a linear model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LinearModelFormat {
    /// One object: names, A, B, C, D
    Json,
    /// MATLAB version 4, for MATLAB, Octave and SciPy
    Mat,
    /// A table: a row for each derivative and output, a column for each state and input
    Csv,
    /// NumPy archive
    Npz,
}

/// Arguments of `biela linearize`.
#[derive(clap::Args)]
#[command(
    after_help = "The model is x' = A x + B u, y = C x + D u about the chosen point: x are minimal coordinates and their \
                  derivatives, u the inputs, y the outputs.\n\nExit status: 0 done, 1 the simulation or the linearisation \
                  failed, 2 bad input."
)]
pub struct Arguments {
    #[command(flatten)]
    point: PointArguments,

    /// Format of the result
    #[arg(long, value_enum, default_value = "json")]
    format: LinearModelFormat,

    /// Add the descriptor form E z' = F z in the coordinates of the formulation, as `E`, `F` and `z` (not with csv)
    #[arg(long)]
    descriptor: bool,

    /// File to write; `-` is standard output [default: standard output; MODEL.mat or MODEL.npz in the working directory]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A matrix by rows with its name.
pub struct NamedMatrix<'a> {
    pub name: &'static str,
    pub rows: usize,
    pub columns: usize,
    pub values: &'a [f64],
}

/// What a file of a linear model holds.
pub struct LinearFile<'a> {
    pub model: &'a StateSpace,
    pub descriptor: Option<&'a DescriptorModel>,
}

impl LinearFile<'_> {
    /// The lists of names.
    pub fn names(&self) -> Vec<(&'static str, &[String])> {
        let model = self.model;
        let mut all = vec![
            ("states", &model.states[..]),
            ("inputs", &model.inputs[..]),
            ("outputs", &model.outputs[..]),
        ];
        all.extend(self.descriptor.map(|d| ("z", &d.names[..])));
        all
    }
}

/// The matrices of a linear model.
pub fn matrices<'a>(file: &LinearFile<'a>) -> Vec<NamedMatrix<'a>> {
    let model = file.model;
    let (n, m, p) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let matrix = |name, rows, columns, values| NamedMatrix {
        name,
        rows,
        columns,
        values,
    };
    let mut all = vec![
        matrix("A", n, n, &model.a[..]),
        matrix("B", n, m, &model.b[..]),
        matrix("C", p, n, &model.c[..]),
        matrix("D", p, m, &model.d[..]),
    ];
    if let Some(descriptor) = file.descriptor {
        let z = descriptor.names.len();
        all.push(matrix("E", z, z, &descriptor.e[..]));
        all.push(matrix("F", z, z, &descriptor.f[..]));
    }
    all
}

/// Linearises a model and writes the result.
pub fn linearize(arguments: &Arguments) -> Result<(), Failure> {
    let mut instance = arguments.point.instance()?;
    let model = instance
        .linearize()
        .map_err(|error| Failure::Simulation(error.to_string()))?;
    let descriptor = match arguments.descriptor {
        false => None,
        true => Some(
            instance
                .descriptor_form()
                .map_err(|error| Failure::Simulation(error.to_string()))?,
        ),
    };
    if arguments.descriptor && arguments.format == LinearModelFormat::Csv {
        let message = "--descriptor: expected --format json, mat or npz; a table has one model";
        return Err(Failure::Input(message.to_owned()));
    }
    let content = LinearFile {
        model: &model,
        descriptor: descriptor.as_ref(),
    };
    let bytes = match arguments.format {
        LinearModelFormat::Json => json_text(&content).into_bytes(),
        LinearModelFormat::Csv => csv_text(&model).into_bytes(),
        LinearModelFormat::Mat => mat::bytes(&content),
        LinearModelFormat::Npz => npz::bytes(&content)?,
    };
    let ending = match arguments.format {
        LinearModelFormat::Json | LinearModelFormat::Csv => None,
        LinearModelFormat::Mat => Some("mat"),
        LinearModelFormat::Npz => Some("npz"),
    };
    let path = match (&arguments.out, ending) {
        (Some(path), _) => path.clone(),
        (None, None) => PathBuf::from("-"),
        (None, Some(ending)) => {
            let stem = arguments.point.model.file_stem();
            Path::new(stem.unwrap_or("model".as_ref())).with_extension(ending)
        }
    };
    output::write(&path, &bytes)
}

/// One object with names and matrices.
fn json_text(file: &LinearFile) -> String {
    let mut object = Map::new();
    object.insert("time".into(), json!(file.model.time));
    for (name, list) in file.names() {
        object.insert(name.into(), json!(list));
    }
    for matrix in matrices(file) {
        let row = |i: usize| json!(&matrix.values[i * matrix.columns..(i + 1) * matrix.columns]);
        let rows: Vec<Value> = (0..matrix.rows).map(row).collect();
        object.insert(matrix.name.into(), Value::Array(rows));
    }
    format!("{}\n", Value::Object(object))
}

/// A row for each derivative and output: `[A B; C D]` with a heading.
fn csv_text(model: &StateSpace) -> String {
    let quoted = |name: &str| match name.contains([',', '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    };
    let mut text = String::new();
    for name in model.states.iter().chain(&model.inputs) {
        text.push(',');
        text.push_str(&quoted(name));
    }
    text.push('\n');
    let (n, m) = (model.states.len(), model.inputs.len());
    let mut row = |name: String, left: &[f64], right: &[f64]| {
        text.push_str(&name);
        for value in left.iter().chain(right) {
            text.push_str(&format!(",{}", Number(*value)));
        }
        text.push('\n');
    };
    for (i, name) in model.states.iter().enumerate() {
        let name = quoted(&format!("der({name})"));
        row(
            name,
            &model.a[i * n..(i + 1) * n],
            &model.b[i * m..(i + 1) * m],
        );
    }
    for (i, name) in model.outputs.iter().enumerate() {
        row(
            quoted(name),
            &model.c[i * n..(i + 1) * n],
            &model.d[i * m..(i + 1) * m],
        );
    }
    text
}
