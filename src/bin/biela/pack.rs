//! `biela pack`: a model as an FMU.

use std::path::PathBuf;

use biela::fmi::FmiStandard;
use biela::fmi::package::{self, library};
use clap::{Args, ValueEnum};

use crate::{Failure, output};

#[derive(Args)]
#[command(
    after_help = "The archive holds the model, the library of this program and a description; the same model and library \
                  give the same bytes. The library is the one of --library, else of the environment variable \
                  BIELA_LIBRARY, else the one beside this program or in ../lib; it must be of the same version.\n\n\
                  Exit status: 0 done, 2 bad input (nothing was written)."
)]
pub struct Arguments {
    /// Model file (TOML, or JSON by its ending)
    model: PathBuf,

    /// Version of the standard
    #[arg(long, value_enum, default_value_t = Fmi::Two)]
    fmi: Fmi,

    /// Where to write it [default: NAME.fmu in the working directory]; `-` is standard output
    #[arg(short, long, value_name = "X.fmu")]
    out: Option<PathBuf>,

    /// The shared library to put in
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fmi {
    /// FMI 2.0
    #[value(name = "2", alias = "2.0")]
    Two,
    /// FMI 3.0
    #[value(name = "3", alias = "3.0")]
    Three,
}

/// Packs a model.
pub fn pack(arguments: &Arguments) -> Result<(), Failure> {
    let standard = match arguments.fmi {
        Fmi::Two => FmiStandard::Two,
        Fmi::Three => FmiStandard::Three,
    };
    let contents = package::contents(&arguments.model, standard).map_err(Failure::input)?;
    let path = library::find(arguments.library.as_deref()).map_err(Failure::input)?;
    library::check(&path).map_err(Failure::input)?;
    let bytes = std::fs::read(&path)
        .map_err(|e| Failure::Input(format!("cannot read \"{}\": {e}", path.display())))?;
    let archive = package::archive(&contents, standard, &bytes).map_err(Failure::input)?;

    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.fmu", contents.identifier)));
    if same_file(&out, &arguments.model) || same_file(&out, &path) {
        return Err(Failure::Input(format!(
            "\"{}\" is what is to be packed; the archive would overwrite it",
            out.display()
        )));
    }
    output::write(&out, &archive)?;
    if output::is_standard(&out) {
        return Ok(());
    }
    output::print(&format!(
        "{}: FMI {}, {} kB, token {}\n",
        out.display(),
        standard.version(),
        archive.len().div_ceil(1000),
        contents.token
    ))
}

fn same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
