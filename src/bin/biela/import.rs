//! `biela import`: a robot in URDF or MJCF as a model file, and what became of every element of it.

use std::path::{Path, PathBuf};

use biela::import::{self, BaseMotion, ImportOptions, Imported};
use clap::{Args, ValueEnum};

use crate::terminal::{Head, message};
use crate::{Failure, output};

#[derive(Args)]
#[command(
    after_help = "The report says of every element and attribute of the file whether it was kept, approximated or dropped; \
                  `run`, `check` and `pack` take the same files directly.\n\n\
                  Exit status: 0 done, 2 bad input, or --strict and something that changes the motion was dropped \
                  (nothing was written)."
)]
pub struct Arguments {
    /// URDF or MJCF file
    file: PathBuf,

    /// SRDF file with start poses and the virtual joint of the base
    #[arg(long, value_name = "S")]
    srdf: Option<PathBuf>,

    /// Whether the root is fixed to the ground or free [default: as the SRDF file says, else fixed]
    #[arg(long, value_enum)]
    base: Option<Base>,

    /// Folder in which packages (`package://NAME/..`) are sought; may be repeated
    #[arg(long, value_name = "DIR")]
    package_path: Vec<PathBuf>,

    /// Start from this keyframe (MJCF) or group state (SRDF)
    #[arg(long, value_name = "K")]
    keyframe: Option<String>,

    /// Start value of a joint coordinate (rad or m); may be repeated
    #[arg(long, value_name = "JOINT=VALUE", value_parser = start_value)]
    start: Vec<(String, f64)>,

    /// Leave out the limits of joint coordinates
    #[arg(long)]
    no_limits: bool,

    /// Geoms touch the planes of the world (MJCF): rigid contacts with dry friction
    #[arg(long)]
    contact: bool,

    /// Where to write the model [default: standard output]
    #[arg(short, long, value_name = "M.toml")]
    out: Option<PathBuf>,

    /// Write the whole report as JSON
    #[arg(long, value_name = "R.json")]
    report: Option<PathBuf>,

    /// Fail if something that changes the motion was dropped
    #[arg(long)]
    strict: bool,

    /// Do not print the report
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Base {
    /// Fixed to the ground
    Fixed,
    /// Free in space
    Free,
}

fn start_value(text: &str) -> Result<(String, f64), String> {
    let parsed = text
        .rsplit_once('=')
        .and_then(|(name, value)| Some((name, value.parse().ok()?)));
    match parsed {
        Some((name, value)) if f64::is_finite(value) => Ok((name.to_owned(), value)),
        _ => Err("expected JOINT=VALUE, such as elbow=0.5".to_owned()),
    }
}

/// Imports a robot.
pub fn import(arguments: &Arguments) -> Result<(), Failure> {
    let options = ImportOptions {
        srdf: arguments.srdf.clone(),
        base: arguments.base.map(|base| match base {
            Base::Fixed => BaseMotion::Fixed,
            Base::Free => BaseMotion::Free,
        }),
        package_paths: arguments.package_path.clone(),
        keyframe: arguments.keyframe.clone(),
        start: arguments.start.clone(),
        no_limits: arguments.no_limits,
        contact: arguments.contact,
        folder: folder_of(arguments.out.as_deref()),
    };
    let imported = import::import(&arguments.file, &options).map_err(Failure::input)?;
    if let Some(path) = &arguments.report {
        let text = serde_json::to_string_pretty(&imported.report.json());
        let text = text.expect("the report has string keys only") + "\n";
        output::write(path, text.as_bytes())?;
    }
    if arguments.strict {
        refuse_losses(&arguments.file, &imported)?;
    }
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("-"));
    output::write(&out, imported.text.as_bytes())?;
    match (arguments.quiet, output::is_standard(&out)) {
        (true, _) => Ok(()),
        // The model is on standard output.
        (false, true) => {
            eprint!("{}", imported.report.text());
            Ok(())
        }
        (false, false) => output::print(&format!(
            "{}{}",
            imported.report.text(),
            made(&imported, &out)
        )),
    }
}

/// What was written, and what to do with it.
fn made(imported: &Imported, out: &Path) -> String {
    let model = &imported.model;
    let count = |number: usize, word: &str| match number {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    };
    let bodies = model.bodies.len();
    let parts = [
        match bodies {
            1 => "1 body".to_owned(),
            many => format!("{many} bodies"),
        },
        count(model.joints.len(), "joint"),
        count(model.inputs.len(), "input"),
        count(model.outputs.len(), "output"),
    ];
    let (path, page) = (out.display(), out.with_extension("html"));
    let page = page.display();
    format!(
        "{path}: {}. Look at it: biela run {path} --stop 1 --report {page}\n",
        parts.join(", ")
    )
}

/// The folder of a file that is to be written; `None` for standard output.
fn folder_of(out: Option<&Path>) -> Option<PathBuf> {
    let out = out.filter(|out| !output::is_standard(out))?;
    let folder = out.parent()?;
    Some(match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    })
}

fn refuse_losses(path: &Path, imported: &Imported) -> Result<(), Failure> {
    let lost = imported.report.lost_dynamics();
    let Some(first) = lost.first() else {
        return Ok(());
    };
    let (line, column) = first
        .positions
        .first()
        .map_or((1, 1), |at| (at.line, at.column));
    let more = match lost.len() {
        1 => String::new(),
        many => format!("; and {} more", many - 1),
    };
    Err(Failure::Input(format!(
        "{}:{line}:{column}: {} is dropped and changes the motion: {}{more} (--strict)",
        path.display(),
        first.what,
        first.reason
    )))
}

/// The text of a model that is given as a robot; tells in one line what was lost.
pub fn model_text(path: &Path) -> biela::Result<Imported> {
    let imported = import::import(path, &ImportOptions::default())?;
    let report = &imported.report;
    let dropped = report.dropped.elements + report.dropped.attributes;
    let lost = report.lost_dynamics();
    let motion = match lost.len() {
        0 => "none of them changes the motion".to_owned(),
        _ => {
            let names: Vec<&str> = lost.iter().map(|group| group.what.as_str()).collect();
            format!("the motion differs without {}", names.join(", "))
        }
    };
    let approximated = report.approximated.elements + report.approximated.attributes;
    if dropped + approximated > 0 {
        message(
            Head::Note,
            &format!(
                "{}: {} of {} elements and attributes are approximated and {dropped} dropped, {motion}; \
                 `biela import` says which",
                path.display(),
                approximated,
                report.total.elements + report.total.attributes,
            ),
        );
    }
    Ok(imported)
}
