//! `[[input]]`, `[[output]]` and `[[parameter]]`.

use std::collections::HashMap;

use super::choice::choice;
use super::validate::refused;
use super::{Model, Target, TextPosition};
use crate::error::Result;

choice! {
    /// `expose`: quantities an instance shows besides the declared inputs, outputs and parameters.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Expose {
        /// None.
        #[default]
        Declared = "declared",
        /// Every quantity, by its dotted name.
        All = "all",
    }
}

/// `[[input]]`: driveable while the simulation runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name.
    pub name: String,
    /// The number it drives.
    pub target: Target,
    /// Unit as written; `None`: that of the target.
    pub unit: Option<String>,
    /// Value until the input is set.
    pub start: f64,
    /// Position in the text.
    pub place: TextPosition,
}

/// `[[output]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Name.
    pub name: String,
    /// A quantity by its dotted name.
    pub source: String,
    /// Unit as written; `None`: that of the quantity.
    pub unit: Option<String>,
    /// Position in the text.
    pub place: TextPosition,
}

/// `[[parameter]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// The number it sets.
    pub target: Target,
    /// Unit as written; `None`: that of the target.
    pub unit: Option<String>,
    /// Value until the parameter is set; by default the value of the element.
    pub start: f64,
    /// Position in the text.
    pub place: TextPosition,
}

impl Model {
    /// Names of inputs, outputs and parameters.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        (self.inputs.iter().map(|i| i.name.as_str()))
            .chain(self.outputs.iter().map(|o| o.name.as_str()))
            .chain(self.parameters.iter().map(|p| p.name.as_str()))
    }

    /// Checks targets, start values and sources.
    pub(super) fn validate_signals(&self) -> Result<()> {
        let mut driven: HashMap<Target, &str> = HashMap::new();
        let inputs = (self.inputs.iter()).map(|i| (&i.name, i.target, i.start, true));
        let parameters = (self.parameters.iter()).map(|p| (&p.name, p.target, p.start, false));
        for (name, target, start, input) in inputs.chain(parameters) {
            if !self.has_target(target) || (input && !target.driveable()) {
                return Err(refused(
                    name,
                    &format!("{target:?}"),
                    "a target that the model has and the signal may set",
                ));
            }
            target.range().check(|| format!("{name}.start"), start)?;
            if let Some(other) = driven.insert(target, name) {
                return Err(refused(
                    name,
                    &self.target_name(target),
                    &format!("a target of its own: \"{other}\" has this one"),
                ));
            }
        }
        self.output_quantities().map(|_| ())
    }
}
