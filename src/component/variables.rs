//! Variables of the outside: the model's inputs, then its outputs, then its parameters, each in the order of the file.
//! The value reference is the place in that list.

use std::collections::HashMap;

use super::input::HIGHEST_DERIVATIVE;
use crate::error::{Error, Result};
use crate::model::nearest::nearest;
use crate::model::quantity::Quantity;
use crate::model::{Model, Target};

/// Who sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Set from outside, constant between events.
    Parameter,
    /// Set from outside at communication points.
    Input,
    /// Computed.
    Output,
}

/// A variable of the outside; its value reference is its index.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Unique name.
    pub name: String,
    /// Unit as text, empty where there is none.
    pub unit: String,
    /// Who sets it.
    pub causality: Causality,
    /// Start value of inputs and parameters; outputs have none.
    pub start: Option<f64>,
}

/// What stands behind a value reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// By its index among the inputs.
    Input(usize),
    /// A quantity of the motion.
    Output(Quantity),
    /// By its index among the parameters.
    Parameter(usize),
}

/// All variables and what stands behind them; fixed for the life of an instance.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub variables: Vec<Variable>,
    sources: Vec<Source>,
    targets: Vec<Option<Target>>,
    by_name: HashMap<String, u32>,
}

impl Catalogue {
    /// The variables a model declares.
    pub fn new(model: &Model) -> Result<Self> {
        let mut catalogue = Self {
            variables: Vec::new(),
            sources: Vec::new(),
            targets: Vec::new(),
            by_name: HashMap::new(),
        };
        let unit = |written: &Option<String>, natural: &str| {
            written.clone().unwrap_or_else(|| natural.to_string())
        };
        for (i, input) in model.inputs.iter().enumerate() {
            let variable = Variable {
                name: input.name.clone(),
                unit: unit(&input.unit, model.unit_of_target(input.target)),
                causality: Causality::Input,
                start: Some(input.start),
            };
            catalogue.push(variable, Source::Input(i), Some(input.target));
        }
        for output in &model.outputs {
            let quantity = model.quantity(&output.source)?;
            let variable = Variable {
                name: output.name.clone(),
                unit: unit(&output.unit, model.unit(quantity)),
                causality: Causality::Output,
                start: None,
            };
            catalogue.push(variable, Source::Output(quantity), None);
        }
        for (i, parameter) in model.parameters.iter().enumerate() {
            let variable = Variable {
                name: parameter.name.clone(),
                unit: unit(&parameter.unit, model.unit_of_target(parameter.target)),
                causality: Causality::Parameter,
                start: Some(parameter.start),
            };
            catalogue.push(variable, Source::Parameter(i), Some(parameter.target));
        }
        Ok(catalogue)
    }

    fn push(&mut self, variable: Variable, source: Source, target: Option<Target>) {
        let reference = self.variables.len() as u32;
        self.by_name.insert(variable.name.clone(), reference);
        self.variables.push(variable);
        self.sources.push(source);
        self.targets.push(target);
    }

    /// Value reference by name.
    pub fn find(&self, name: &str) -> Result<u32> {
        self.by_name
            .get(name)
            .copied()
            .ok_or_else(|| Error::UnknownVariable {
                name: name.to_string(),
                nearest: nearest(name, self.variables.iter().map(|v| &v.name)).cloned(),
            })
    }

    /// What stands behind a value reference.
    pub fn source(&self, reference: u32) -> Result<Source> {
        self.sources
            .get(reference as usize)
            .copied()
            .ok_or(Error::UnknownReference {
                reference,
                count: self.sources.len(),
            })
    }

    /// Its name; empty for a reference that does not exist.
    pub fn name(&self, reference: u32) -> &str {
        self.variables
            .get(reference as usize)
            .map_or("", |v| v.name.as_str())
    }

    /// May `value` be written to this variable? The answer is where it goes to.
    pub fn settable(&self, reference: u32, value: f64) -> Result<Source> {
        let source = self.source(reference)?;
        let name = || self.name(reference).to_string();
        if let Source::Output(_) = source {
            return Err(Error::NotSettable {
                name: name(),
                reason: "it is an output, computed by the mechanism".to_string(),
            });
        }
        if !value.is_finite() {
            return Err(Error::NotFinite {
                name: name(),
                value: value.to_string(),
            });
        }
        if let Some(expected) = self.targets[reference as usize].and_then(|t| refused(t, value)) {
            return Err(Error::Argument {
                name: name(),
                value: value.to_string(),
                expected: expected.to_string(),
            });
        }
        Ok(source)
    }

    /// May `value` be the derivative of this order of this variable? The answer is its index among the inputs.
    pub fn derivable(&self, reference: u32, order: u32, value: f64) -> Result<usize> {
        let name = || self.name(reference).to_string();
        let Source::Input(input) = self.source(reference)? else {
            return Err(Error::NotSettable {
                name: name(),
                reason: "only inputs have derivatives that can be set".to_string(),
            });
        };
        if !(1..=HIGHEST_DERIVATIVE).contains(&order) {
            return Err(Error::Argument {
                name: format!("order of the derivative of \"{}\"", name()),
                value: order.to_string(),
                expected: format!("1 to {HIGHEST_DERIVATIVE}"),
            });
        }
        if !value.is_finite() {
            return Err(Error::NotFinite {
                name: format!("derivative {order} of {}", name()),
                value: value.to_string(),
            });
        }
        Ok(input)
    }
}

/// What a number of the model would have to be instead, if it may not be `value`: the reader's own ranges hold for
/// values from outside too.
fn refused(target: Target, value: f64) -> Option<&'static str> {
    match target {
        Target::BodyMass(_) | Target::BodyInertia(_) | Target::ForceLength(_) if value < 0.0 => {
            Some("zero or more")
        }
        _ => None,
    }
}
