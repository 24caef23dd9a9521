//! `biela pack`: a model as an FMU.

use std::path::{Path, PathBuf};

use biela::fmi::FmiStandard;
use biela::fmi::package::{self, Platform, PlatformLibrary, library};
use biela::import::is_foreign;
use clap::{Args, ValueEnum};

use crate::{Failure, import, output};

#[derive(Args)]
#[command(
    after_help = "The archive holds the model, the library of this program and a description; the same model and library \
                  give the same bytes. The library is the one of --library, else of the environment variable \
                  BIELA_LIBRARY, else the one beside this program or in ../lib; it must be of the same version.\n\n\
                  Exit status: 0 done, 2 bad input (nothing was written)."
)]
pub struct Arguments {
    /// Model file (TOML, or JSON by its ending), or a robot (URDF, MJCF)
    model: PathBuf,

    /// Version of the standard
    #[arg(long, value_enum, default_value_t = Fmi::Two)]
    fmi: Fmi,

    /// Where to write it [default: NAME.fmu in the working directory]; `-` is standard output
    #[arg(short, long, value_name = "X.fmu")]
    out: Option<PathBuf>,

    /// The shared library to put in, for this machine or for the named platform (`linux64`, `win64`, `x86_64-linux`,
    /// `aarch64-darwin`); once for each platform
    #[arg(long, value_name = "[PLATFORM=]FILE")]
    library: Vec<String>,
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
    let contents = match is_foreign(&arguments.model) {
        true => import::model_text(&arguments.model)
            .and_then(|imported| package::contents_of(&imported.text, &arguments.model, standard)),
        false => package::contents(&arguments.model, standard),
    };
    let contents = contents.map_err(Failure::input)?;
    let libraries = chosen_libraries(&arguments.library)?;
    let archive = package::archive(&contents, standard, &read_libraries(&libraries, standard)?)
        .map_err(Failure::input)?;

    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.fmu", contents.identifier)));
    let mut packed = libraries.iter().map(|(_, path)| path);
    if same_file(&out, &arguments.model) || packed.any(|path| same_file(&out, path)) {
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

/// The libraries as the options name them; the one of this program if they name none.
fn chosen_libraries(options: &[String]) -> Result<Vec<(Platform, PathBuf)>, Failure> {
    if options.is_empty() {
        let path = library::find(None).map_err(Failure::input)?;
        return Ok(vec![(Platform::host(), path)]);
    }
    let chosen = options.iter().map(|option| {
        // A path may have an equals sign in it, a platform has no slash.
        let (platform, path) = match option.split_once('=') {
            Some((name, path)) if !name.contains(['/', '\\', '.']) => {
                (Platform::named(name).map_err(Failure::input)?, path)
            }
            _ => (Platform::host(), option.as_str()),
        };
        let path = library::find(Some(Path::new(path))).map_err(Failure::input)?;
        Ok((platform, path))
    });
    chosen.collect()
}

fn read_libraries(
    chosen: &[(Platform, PathBuf)],
    standard: FmiStandard,
) -> Result<Vec<PlatformLibrary>, Failure> {
    let mut libraries: Vec<PlatformLibrary> = Vec::new();
    for (platform, path) in chosen {
        if libraries.iter().any(|other| other.platform == *platform) {
            return Err(Failure::Input(format!(
                "\"{}\" is the second library for {} on {}; an FMU has one for each platform",
                path.display(),
                platform.system,
                platform.architecture
            )));
        }
        platform.folder(standard).map_err(Failure::input)?;
        libraries.push(PlatformLibrary {
            platform: platform.clone(),
            bytes: library::read_for(platform, path).map_err(Failure::input)?,
        });
    }
    Ok(libraries)
}

fn same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
