//! Variables: the inputs, outputs and parameters of the model, each in the order of the file, then, with `expose = "all"`, every
//! quantity by its dotted name. The value reference is the index in that list.

use std::collections::HashMap;

use super::input::HIGHEST_DERIVATIVE;
use super::input_law::start_of_law;
use crate::error::{Error, Result};
use crate::model::quantity::{ForceField, Quantity};
use crate::model::suggest::nearest;
use crate::model::{Expose, Model, Target};

/// Who sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Set by the host, constant between events.
    Parameter,
    /// Set by the host at communication points.
    Input,
    /// Computed.
    Output,
    /// Computed, and present with `expose = "all"` only.
    Local,
}

/// When a variable may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variability {
    /// Never.
    Constant,
    /// Not after `initialize`.
    Fixed,
    /// Whenever it is set, also between steps.
    Tunable,
    /// At single times: a counter, the mode of a contact.
    Discrete,
    /// At any time.
    Continuous,
}

/// Kind of the values of a variable. All are read and set as doubles; interfaces with other types show them as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// Real numbers.
    Real,
    /// Whole numbers: a counter, a mode.
    Integer,
    /// 0 or 1.
    Boolean,
}

/// Origin of the initial value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialKind {
    /// The start value.
    Exact,
    /// Computed by `initialize`.
    Calculated,
}

/// A variable; its value reference is its index.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Unique name.
    pub name: String,
    /// Unit as text, empty if there is none.
    pub unit: String,
    /// Who sets it.
    pub causality: Causality,
    /// When it changes.
    pub variability: Variability,
    /// Kind of its values.
    pub kind: VariableKind,
    /// Origin of its initial value; `None` for inputs, which the host sets.
    pub initial: Option<InitialKind>,
    /// Start value of inputs and parameters; `None` for computed variables.
    pub start: Option<f64>,
    /// Smallest value it may be set to.
    pub min: Option<f64>,
    /// Largest value it may be set to.
    pub max: Option<f64>,
    /// Typical size.
    pub nominal: Option<f64>,
    /// Dotted name of its quantity or target, such as `pivot.position`.
    pub source: String,
    /// As the model describes it; the dotted name if it does not.
    pub description: String,
}

/// Source of the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VariableSource {
    /// Index of an input.
    Input(usize),
    /// A quantity of the motion.
    Output(Quantity),
    /// Index of a parameter.
    Parameter(usize),
    /// Error bar of a compared output, by its index there.
    ErrorBar(usize),
    /// Whether the accuracy asked for is kept.
    AccuracyKept,
}

impl VariableSource {
    /// Whether it is an input or a parameter.
    pub fn is_set_by_host(self) -> bool {
        matches!(self, Self::Input(_) | Self::Parameter(_))
    }
}

/// All variables with their sources; constant for an instance.
#[derive(Debug)]
pub(super) struct VariableCatalogue {
    pub variables: Vec<Variable>,
    sources: Vec<VariableSource>,
    targets: Vec<Option<Target>>,
    by_name: HashMap<String, u32>,
    /// Outputs with an error bar, and their error bars.
    error_bars: Vec<[u32; 2]>,
}

impl VariableCatalogue {
    /// The variables a model declares.
    pub fn new(model: &Model) -> Result<Self> {
        let mut catalogue = Self {
            variables: Vec::new(),
            sources: Vec::new(),
            targets: Vec::new(),
            by_name: HashMap::new(),
            error_bars: Vec::new(),
        };
        let unit = |written: &Option<String>, default: &str| {
            written.clone().unwrap_or_else(|| default.to_string())
        };
        for (i, input) in model.inputs.iter().enumerate() {
            let variable = Variable {
                variability: Variability::Continuous,
                initial: None,
                ..settable(
                    &input.name,
                    unit(&input.unit, model.unit_of_target(input.target)),
                    Causality::Input,
                    start_of_law(model, i).unwrap_or(input.start),
                    input.target,
                    model,
                )
            };
            catalogue.push(variable, VariableSource::Input(i), Some(input.target));
        }
        for (output, quantity) in model.outputs.iter().zip(model.output_quantities()?) {
            let variable = computed(
                output.name.clone(),
                unit(&output.unit, model.unit(quantity)),
                Causality::Output,
                quantity,
                output.source.clone(),
            );
            catalogue.push(variable, VariableSource::Output(quantity), None);
        }
        for (i, parameter) in model.parameters.iter().enumerate() {
            let variable = settable(
                &parameter.name,
                unit(&parameter.unit, model.unit_of_target(parameter.target)),
                Causality::Parameter,
                parameter.start,
                parameter.target,
                model,
            );
            catalogue.push(
                variable,
                VariableSource::Parameter(i),
                Some(parameter.target),
            );
        }
        if model.solver.has_error_bars() {
            catalogue.push_error_bars(model);
        }
        if model.expose == Expose::All {
            for (name, quantity) in model.quantities() {
                // A declared variable keeps its name: "q1" of a linear system may be an input.
                if !catalogue.by_name.contains_key(&name) {
                    let unit = model.unit(quantity).to_string();
                    let variable = computed(name.clone(), unit, Causality::Local, quantity, name);
                    catalogue.push(variable, VariableSource::Output(quantity), None);
                }
            }
        }
        catalogue.describe(model);
        Ok(catalogue)
    }

    /// Adds `<output>.error` for each output whose error can be stated, and whether the accuracy is kept if one is asked for.
    fn push_error_bars(&mut self, model: &Model) {
        let compared = (0..self.variables.len() as u32)
            .filter(|output| self.quantity(*output).is_some_and(Quantity::has_error));
        for (index, output) in compared.collect::<Vec<u32>>().into_iter().enumerate() {
            let of = &self.variables[output as usize];
            let variable = Variable {
                description: format!(
                    "error bar of {}: largest difference so far to a run a hundred times looser",
                    of.name
                ),
                source: format!("{}.error", of.source),
                ..Variable::output(format!("{}.error", of.name), of.unit.clone())
            };
            self.error_bars.push([output, self.variables.len() as u32]);
            self.push(variable, VariableSource::ErrorBar(index), None);
        }
        if model.solver.accuracy.is_some() {
            let variable = Variable {
                description: "1 while the error bars are within the accuracy asked for".to_string(),
                variability: Variability::Discrete,
                kind: VariableKind::Boolean,
                ..Variable::output("solver.accuracy_kept", "")
            };
            self.push(variable, VariableSource::AccuracyKept, None);
        }
    }

    /// Outputs whose errors are stated, in their order.
    pub fn compared(&self) -> impl Iterator<Item = (u32, Quantity)> {
        (self.error_bars.iter()).filter_map(|[output, _]| Some((*output, self.quantity(*output)?)))
    }

    /// Value reference of the error bar of an output.
    pub fn error_bar(&self, output: u32) -> Option<u32> {
        let mut bars = self.error_bars.iter();
        bars.find(|[of, _]| *of == output).map(|[_, bar]| *bar)
    }

    /// Whether the variable is an error bar, which is infinite where nothing is known.
    pub fn may_be_infinite(&self, reference: u32) -> bool {
        matches!(self.source(reference), Ok(VariableSource::ErrorBar(_)))
    }

    /// The quantity of an output.
    pub fn quantity(&self, reference: u32) -> Option<Quantity> {
        match self.source(reference) {
            Ok(VariableSource::Output(quantity)) => Some(quantity),
            _ => None,
        }
    }

    /// Adds what the model says about its variables.
    fn describe(&mut self, model: &Model) {
        for variable in &mut self.variables {
            let Some(notes) = model.notes.variables.get(&variable.name) else {
                continue;
            };
            if !notes.description.is_empty() {
                variable.description.clone_from(&notes.description);
            }
            variable.min = notes.min.or(variable.min);
            variable.max = notes.max.or(variable.max);
            variable.nominal = notes.nominal;
        }
    }

    fn push(&mut self, variable: Variable, source: VariableSource, target: Option<Target>) {
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

    /// Source of a value reference.
    #[inline]
    pub fn source(&self, reference: u32) -> Result<VariableSource> {
        self.sources
            .get(reference as usize)
            .copied()
            .ok_or_else(|| self.unknown(reference))
    }

    #[cold]
    fn unknown(&self, reference: u32) -> Error {
        Error::UnknownReference {
            reference,
            count: self.sources.len(),
        }
    }

    /// Name of a variable; empty for an unknown reference.
    pub fn name(&self, reference: u32) -> &str {
        self.variables
            .get(reference as usize)
            .map_or("", |v| v.name.as_str())
    }

    /// The source of a variable that may be set to `value`; an error for others.
    #[inline]
    pub fn settable(&self, reference: u32, value: f64) -> Result<VariableSource> {
        let index = reference as usize;
        match (self.sources.get(index), self.targets.get(index)) {
            (Some(source), Some(Some(target))) if target.range().accepts(value) => Ok(*source),
            _ => self.not_settable(reference, value),
        }
    }

    #[cold]
    fn not_settable(&self, reference: u32, value: f64) -> Result<VariableSource> {
        let source = self.source(reference)?;
        let name = || self.name(reference).to_string();
        if !source.is_set_by_host() {
            return Err(Error::NotSettable {
                name: name(),
                reason: "it is an output, computed by the mechanism".to_string(),
            });
        }
        if let Some(target) = self.targets[reference as usize] {
            target.range().check(name, value)?;
        }
        Ok(source)
    }

    /// Index of an input whose derivative of this order may be set to `value`; an error for others.
    pub fn derivable(&self, reference: u32, order: u32, value: f64) -> Result<usize> {
        let name = || self.name(reference).to_string();
        let VariableSource::Input(input) = self.source(reference)? else {
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

/// A variable the host sets.
fn settable(
    name: &str,
    unit: String,
    causality: Causality,
    start: f64,
    target: Target,
    model: &Model,
) -> Variable {
    Variable {
        name: name.to_string(),
        unit,
        causality,
        variability: match target {
            Target::Definition(_) | Target::Equilibrium => Variability::Fixed,
            _ => Variability::Tunable,
        },
        kind: VariableKind::Real,
        initial: Some(InitialKind::Exact),
        start: Some(start),
        // Whether zero itself is accepted is checked when it is set.
        min: (!target.range().accepts(-1.0)).then_some(0.0),
        max: None,
        nominal: None,
        source: model.target_name(target),
        description: model.target_name(target),
    }
}

/// A variable the mechanism computes.
fn computed(
    name: String,
    unit: String,
    causality: Causality,
    quantity: Quantity,
    description: String,
) -> Variable {
    Variable {
        causality,
        variability: match quantity {
            _ if quantity.is_discrete() => Variability::Discrete,
            _ => Variability::Continuous,
        },
        kind: match quantity {
            Quantity::Solver(counter) if counter.is_count() => VariableKind::Integer,
            Quantity::Force(_, ForceField::Closed) => VariableKind::Boolean,
            Quantity::Force(_, ForceField::Mode) => VariableKind::Integer,
            _ => VariableKind::Real,
        },
        source: description.clone(),
        description,
        ..Variable::output(name, unit)
    }
}

impl Variable {
    /// A continuous output without description.
    pub fn output(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            causality: Causality::Output,
            variability: Variability::Continuous,
            kind: VariableKind::Real,
            initial: Some(InitialKind::Calculated),
            start: None,
            min: None,
            max: None,
            nominal: None,
            source: String::new(),
            description: String::new(),
        }
    }
}
