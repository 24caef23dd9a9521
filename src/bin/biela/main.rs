//! The command line: arguments, exit status. What a command does is in the file of its name.
//!
//! ```text
//!   0  done
//!   1  the simulation failed (or its results could not be written); what was computed before is kept
//!   2  bad input: arguments, model file, a mechanism that cannot be assembled; nothing was simulated
//! ```

mod check;
mod csv;
mod explain;
mod grid;
mod json;
mod new;
mod output;
mod pack;
mod picture;
mod recorder;
mod report;
mod run;
mod schema;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "biela",
    version,
    about = "Simulates mechanisms described in text files."
)]
#[command(after_help = "Exit status: 0 done, 1 the simulation failed, 2 bad input.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a model; print a summary, or write results as CSV, JSON, or a moving picture
    Run(run::Arguments),
    /// Say what a model is: bodies, joints, degrees of freedom, consistency of the start, variables, warnings
    Check {
        /// Model file (TOML, or JSON by its ending)
        model: PathBuf,
        /// Show all items of long lists
        #[arg(long)]
        all: bool,
    },
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
    /// Pack a model as an FMU (FMI 2.0 or 3.0, Co-Simulation)
    Pack(pack::Arguments),
}

/// Why a command ended early. The text is the sentence for standard error.
#[derive(Debug, PartialEq)]
enum Failure {
    /// Nothing was simulated.
    Input(String),
    /// The simulation stopped, or its results could not be written.
    Simulation(String),
    /// The reader of standard output has gone: nobody is left to speak to.
    Closed,
}

impl Failure {
    fn input(error: biela::Error) -> Self {
        Self::Input(error.to_string())
    }
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check { model, all } => check::check(&model, all),
        Command::New { name } => new::new(&name),
        Command::Schema => schema::schema(),
        Command::Explain { word } => explain::explain(&word),
        Command::Pack(arguments) => pack::pack(&arguments),
    };
    match outcome {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Simulation(sentence)) => {
            eprintln!("biela: {sentence}");
            ExitCode::from(1)
        }
        Err(Failure::Input(sentence)) => {
            eprintln!("biela: {sentence}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_argument_table_is_sound() {
        Arguments::command().debug_assert();
    }
}
