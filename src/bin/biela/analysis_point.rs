//! The point at which a command analyses a model: the initial state, a time of the motion, or the static equilibrium.

use std::path::PathBuf;

use biela::model::InitialPosition;
use biela::study::SetValue;
use biela::{Instance, Model};

use crate::Failure;
use crate::argument::{assignment, finite};
use crate::model_file;

/// Where a run or an analysis starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StartPoint {
    /// The initial conditions of the model
    Initial,
    /// The static equilibrium next to them
    Equilibrium,
}

impl From<StartPoint> for InitialPosition {
    fn from(from: StartPoint) -> Self {
        match from {
            StartPoint::Initial => Self::Given,
            StartPoint::Equilibrium => Self::Equilibrium,
        }
    }
}

/// Arguments that choose the point.
#[derive(clap::Args)]
pub struct PointArguments {
    /// Model file (TOML, or JSON by its ending), or `-` for standard input
    pub model: PathBuf,

    /// Simulate to this time first, in s [default: the start]
    #[arg(long, value_name = "T", value_parser = finite, allow_negative_numbers = true)]
    at: Option<f64>,

    /// Start from the initial conditions or from the static equilibrium [default: the model's]
    #[arg(long, value_name = "START", value_enum)]
    from: Option<StartPoint>,

    /// Start value of a parameter or input, any number of the model by its dotted name, or a setting of the solver
    /// (solver.formulation=relative); may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, SetValue)>,
}

impl PointArguments {
    /// The model with its values set.
    pub fn read(&self) -> Result<Model, Failure> {
        let mut model = model_file::read(&self.model)?;
        if let Some(from) = self.from {
            model.experiment.initial = from.into();
        }
        for (name, value) in &self.set {
            match value {
                SetValue::Number(number) => model.set(name, *number),
                SetValue::Word(word) => model.set_word(name, word),
            }
            .map_err(Failure::input)?;
        }
        Ok(model)
    }

    /// An instance of the model at the point.
    pub fn instance(&self) -> Result<Instance, Failure> {
        let model = self.read()?;
        let start = model.experiment.start;
        let at = self.at.unwrap_or(start);
        if at < start {
            return Err(Failure::Input(format!(
                "--at {at}: expected {start}, where the model starts, or later"
            )));
        }
        let mut instance = Instance::from_model(model).map_err(Failure::input)?;
        instance
            .initialize(start, f64::INFINITY, 0.0)
            .map_err(Failure::start)?;
        if at > start {
            instance
                .step(start, at - start)
                .map_err(|error| Failure::Simulation(error.to_string()))?;
        }
        Ok(instance)
    }
}
