//! The command line: arguments and exit status. Each command has a file of its name.
//!
//! ```text
//!   0  done
//!   1  the simulation failed (or its results could not be written); earlier results are kept
//!   2  bad input: arguments, model file, a mechanism that cannot be assembled; nothing was simulated
//! 130  ended by Ctrl-C; results up to there are kept
//! ```

mod analysis_point;
mod animation_files;
mod argument;
mod check;
mod check_json;
mod compare;
mod completions;
mod contradiction;
mod cpu_time;
mod csv;
mod destinations;
mod diagnose;
mod element_positions;
mod equilibrium;
mod experiment;
mod explain;
mod import;
mod interrupt;
mod journal;
mod linearize;
mod man;
mod merge;
mod model_file;
mod modes;
mod moved_bodies;
mod new;
mod output;
mod pack;
mod plot;
mod recorder;
mod report;
mod run;
mod schema;
mod snippet;
mod study_table;
mod summary;
mod sweep;
mod terminal;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use terminal::{Head, message};

/// Exit status of a run that Ctrl-C ended, as shells give it: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;

#[derive(Parser)]
#[command(
    name = "biela",
    version,
    about = "Simulates mechanisms described in text files."
)]
#[command(
    after_help = "Exit status: 0 done, 1 the simulation failed, 2 bad input, 130 ended by Ctrl-C."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

// Made once: its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Subcommand)]
enum Command {
    /// Simulate a model; print a summary, or write results as CSV, JSON, or a moving picture
    Run(run::Arguments),
    /// Say what a model is: bodies, joints, degrees of freedom, consistency of the start, variables, warnings
    Check {
        /// Model file (TOML, or JSON by its ending), or a robot (URDF, MJCF); `-` is standard input
        model: PathBuf,
        /// Show all items of long lists
        #[arg(long)]
        all: bool,
        /// Print one JSON object: what the model is, its warnings, or its errors with line and column
        #[arg(long)]
        json: bool,
    },
    /// Say why a model fails or crawls, by name and with numbers, and suggest an edit
    Diagnose(diagnose::Arguments),
    /// Compare the tables of two runs, output by output
    Compare(compare::Arguments),
    /// Simulate a model many times with other numbers; a row a run
    Sweep(sweep::Arguments),
    /// Put the tables of the shards of a sweep together
    Merge(merge::Arguments),
    /// Write a commented model to start from
    New {
        /// Name of the model; the file is NAME.toml in the working directory
        #[arg(default_value = "pendulum")]
        name: String,
    },
    /// Print the JSON Schema of the model file
    Schema,
    /// Say what a key of the model file, a table or a quantity means: unit, default, meaning
    Explain {
        /// For example mass, solver.alpha, joint, revolute, energy.total
        #[arg(value_name = "KEY|QUANTITY")]
        word: String,
    },
    /// Write the linear model about a point: A, B, C, D
    Linearize(linearize::Arguments),
    /// Find the static equilibrium next to the initial position
    Equilibrium(equilibrium::Arguments),
    /// Print the modes at a point: frequency, damping, shape
    Modes(modes::Arguments),
    /// Show a model in the browser and run it again whenever its file is saved
    Watch(watch::Arguments),
    /// Turn a robot (URDF, MJCF) into a model file, and say what was kept, approximated and dropped
    Import(import::Arguments),
    /// Pack a model as an FMU (FMI 2.0 or 3.0, Co-Simulation)
    Pack(pack::Arguments),
    /// Print the completions of a shell, to be loaded by it
    #[command(after_help = completions::HELP)]
    Completions {
        /// bash, zsh, fish, powershell or elvish
        shell: clap_complete::Shell,
    },
    /// Print the manual page of biela or of one of its commands
    #[command(after_help = man::HELP)]
    Man {
        /// The command; without it the page of biela itself
        command: Option<String>,
        /// Write all pages into a folder instead
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        dir: Option<PathBuf>,
    },
}

/// Failure of a command, with its message for standard error.
#[derive(Debug, PartialEq)]
enum Failure {
    /// Nothing was simulated.
    Input(String),
    /// The simulation stopped, or its results could not be written.
    Simulation(String),
    /// Nothing was simulated, and the reason has been told.
    Told,
    /// The user ended the run; what was computed is kept.
    Interrupted(String),
    /// Standard output was closed by its reader: not an error.
    Closed,
}

impl Failure {
    fn input(error: biela::Error) -> Self {
        Self::Input(snippet::sentence(&error))
    }

    /// A start that fails: that of a mechanism that rests nowhere is a search without result, all others are bad input.
    fn start(error: biela::Error) -> Self {
        match error {
            biela::Error::NoEquilibrium { .. } => Self::Simulation(error.to_string()),
            error => Self::input(error),
        }
    }
}

// The library that `command/Cargo.toml` makes of these files has no use for it.
#[allow(dead_code)]
fn main() -> ExitCode {
    ExitCode::from(run_command(std::env::args_os()))
}

/// Does what the arguments ask for, the first of which is the name of the program, and gives the exit status.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command,
        // Help and version are among them. What nobody reads need not be printed.
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let result = match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check { model, all, json } if json => check_json::check(&model, all),
        Command::Check { model, all, .. } => check::check(&model, all),
        Command::Diagnose(arguments) => diagnose::diagnose(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Merge(arguments) => merge::merge(&arguments),
        Command::New { name } => new::new(&name),
        Command::Schema => schema::schema(),
        Command::Explain { word } => explain::explain(&word),
        Command::Linearize(arguments) => linearize::linearize(&arguments),
        Command::Equilibrium(arguments) => equilibrium::equilibrium(&arguments),
        Command::Modes(arguments) => modes::modes(&arguments),
        Command::Watch(arguments) => watch::watch(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Pack(arguments) => pack::pack(&arguments),
        Command::Completions { shell } => completions::completions(shell),
        Command::Man { command, dir } => man::man(command.as_deref(), dir.as_deref()),
    };
    match result {
        Ok(()) | Err(Failure::Closed) => 0,
        Err(Failure::Simulation(sentence)) => {
            message(Head::Error, &sentence);
            1
        }
        Err(Failure::Input(sentence)) => {
            message(Head::Error, &sentence);
            2
        }
        Err(Failure::Told) => 2,
        Err(Failure::Interrupted(sentence)) => {
            message(Head::Note, &sentence);
            INTERRUPTED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_argument_table_is_consistent() {
        Arguments::command().debug_assert();
    }
}
