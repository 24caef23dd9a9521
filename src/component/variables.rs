//! Variables of the outside: the model's inputs, then its outputs, then its parameters, each in the order of the file;
//! last, with `expose = "all"`, every quantity by its dotted name. The value reference is the place in that list.

use std::collections::HashMap;

use super::input::HIGHEST_DERIVATIVE;
use crate::error::{Error, Result};
use crate::model::quantity::Quantity;
use crate::model::suggest::nearest;
use crate::model::{Expose, Model, Target};

/// Who sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Set from outside, constant between events.
    Parameter,
    /// Set from outside at communication points.
    Input,
    /// Computed.
    Output,
    /// Computed, and shown by `expose = "all"` only.
    Local,
}

/// When the value of a variable may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variability {
    /// Never.
    Constant,
    /// Not after `initialize`.
    Fixed,
    /// Whenever it is set, also between steps.
    Tunable,
    /// At certain times only: a counter.
    Discrete,
    /// All the time.
    Continuous,
}

/// Where the value at the start comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialKind {
    /// It is the start value.
    Exact,
    /// It is computed from others by `initialize`.
    Calculated,
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
    /// When it changes.
    pub variability: Variability,
    /// Where its value at the start comes from; `None` for inputs, which the host sets.
    pub initial: Option<InitialKind>,
    /// Start value of inputs and parameters; what is computed has none.
    pub start: Option<f64>,
    /// The smallest value it may be set to, where there is one.
    pub min: Option<f64>,
    /// The largest value it may be set to, where there is one.
    pub max: Option<f64>,
    /// The dotted name of what it stands for, such as `pivot.position`.
    pub description: String,
}

/// What stands behind a value reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VariableSource {
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
    sources: Vec<VariableSource>,
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
                variability: Variability::Continuous,
                initial: None,
                ..settable(
                    &input.name,
                    unit(&input.unit, model.unit_of_target(input.target)),
                    Causality::Input,
                    input.start,
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
        if model.expose == Expose::All {
            for (name, quantity) in model.quantities() {
                // A declared variable keeps its name: "q1" of a matrix model may be an input.
                if !catalogue.by_name.contains_key(&name) {
                    let unit = model.unit(quantity).to_string();
                    let variable = computed(name.clone(), unit, Causality::Local, quantity, name);
                    catalogue.push(variable, VariableSource::Output(quantity), None);
                }
            }
        }
        Ok(catalogue)
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

    /// What stands behind a value reference.
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

    /// Its name; empty for a reference that does not exist.
    pub fn name(&self, reference: u32) -> &str {
        self.variables
            .get(reference as usize)
            .map_or("", |v| v.name.as_str())
    }

    /// May `value` be written to this variable? The answer is where it goes to.
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
        if let VariableSource::Output(_) = source {
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

    /// May `value` be the derivative of this order of this variable? The answer is its index among the inputs.
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
        variability: Variability::Tunable,
        initial: Some(InitialKind::Exact),
        start: Some(start),
        // What is refused below zero; whether zero itself is accepted, the range says when it is set.
        min: (!target.range().accepts(-1.0)).then_some(0.0),
        max: None,
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
            Quantity::Solver(_) => Variability::Discrete,
            _ => Variability::Continuous,
        },
        description,
        ..Variable::output(name, unit)
    }
}

impl Variable {
    /// An output that changes all the time, not described.
    pub fn output(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            causality: Causality::Output,
            variability: Variability::Continuous,
            initial: Some(InitialKind::Calculated),
            start: None,
            min: None,
            max: None,
            description: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn catalogue() -> Catalogue {
        Catalogue::new(&testing::model()).unwrap()
    }

    #[test]
    fn inputs_come_first_then_outputs_then_parameters() {
        let causalities: Vec<_> = catalogue().variables.iter().map(|v| v.causality).collect();
        let mut expected = vec![Causality::Input];
        expected.extend([Causality::Output; 8]);
        expected.extend([Causality::Parameter; 2]);
        assert_eq!(causalities, expected);
    }

    #[test]
    fn every_variable_is_found_by_its_name_and_has_the_start_value_of_the_model() {
        let catalogue = catalogue();
        for (i, variable) in catalogue.variables.iter().enumerate() {
            assert_eq!(catalogue.find(&variable.name).unwrap(), i as u32);
        }
        let starts: Vec<_> = catalogue.variables.iter().map(|v| v.start).collect();
        assert_eq!(starts[testing::PUSH as usize], Some(0.5));
        assert_eq!(starts[testing::X as usize], None);
        assert_eq!(starts[testing::STIFFNESS as usize], Some(4.0));
    }

    #[test]
    fn a_unit_that_is_not_written_is_that_of_the_quantity() {
        let mut model = testing::model();
        model.outputs[0].unit = Some("mm".to_string());
        let catalogue = Catalogue::new(&model).unwrap();
        let unit = |reference: u32| &*catalogue.variables[reference as usize].unit;
        assert_eq!(unit(testing::X), "mm");
        assert_eq!(unit(testing::V), "m/s");
        assert_eq!(unit(testing::STIFFNESS), "N/m");
        assert_eq!(unit(testing::MASS), "kg");
        assert_eq!(unit(testing::STEPS), "");
    }

    #[test]
    fn what_can_be_set_says_within_which_bounds_and_what_it_stands_for() {
        let catalogue = catalogue();
        let of = |reference: u32| &catalogue.variables[reference as usize];
        let (push, x, mass) = (of(testing::PUSH), of(testing::X), of(testing::MASS));
        assert_eq!((push.min, push.max, push.initial), (None, None, None));
        assert_eq!(push.variability, Variability::Continuous);
        assert_eq!(push.description, "motor.force");
        assert_eq!(
            (mass.min, mass.initial),
            (Some(0.0), Some(InitialKind::Exact))
        );
        assert_eq!(mass.variability, Variability::Tunable);
        assert_eq!((x.min, x.initial), (None, Some(InitialKind::Calculated)));
        assert_eq!(
            (x.variability, &*x.description),
            (Variability::Continuous, "mass.x")
        );
        assert_eq!(of(testing::STEPS).variability, Variability::Discrete);
    }

    #[test]
    fn all_quantities_are_shown_where_the_model_asks_for_it() {
        let mut model = testing::model();
        let declared = Catalogue::new(&model).unwrap().variables;
        model.expose = Expose::All;
        let all = Catalogue::new(&model).unwrap();
        assert_eq!(all.variables[..declared.len()], declared);
        let locals = &all.variables[declared.len()..];
        assert_eq!(locals.len(), model.quantities().len());
        assert!(locals.iter().all(|v| v.causality == Causality::Local));
        let speed = all.find("mass.vx").unwrap();
        assert_eq!(all.variables[speed as usize].unit, "m/s");
        assert!(matches!(
            all.settable(speed, 1.0),
            Err(Error::NotSettable { .. })
        ));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_one() {
        let error = catalogue().find("stifness").unwrap_err();
        let expected = Error::UnknownVariable {
            name: "stifness".to_string(),
            nearest: Some("stiffness".to_string()),
        };
        assert_eq!(error, expected);
    }

    #[test]
    fn an_unknown_reference_is_refused() {
        let error = catalogue().source(testing::COUNT).unwrap_err();
        let (reference, count) = (testing::COUNT, testing::COUNT as usize);
        assert_eq!(error, Error::UnknownReference { reference, count });
    }

    #[test]
    fn what_cannot_be_written_is_refused_by_name() {
        let catalogue = catalogue();
        let refusal = |reference: u32, value: f64| {
            let error = catalogue.settable(reference, value).unwrap_err();
            error.to_string()
        };
        assert!(refusal(testing::X, 1.0).starts_with("\"x\" cannot be set"));
        assert!(refusal(testing::PUSH, f64::NAN).starts_with("push = NaN"));
        assert!(refusal(testing::STIFFNESS, f64::INFINITY).starts_with("stiffness = inf"));
        assert!(
            refusal(testing::MASS, -1.0).starts_with("mass = -1.0: expected a finite number >= 0")
        );
        assert!(refusal(testing::STIFFNESS, -1.0).starts_with("stiffness = -1.0"));
        assert!(catalogue.settable(testing::MASS, 0.0).is_ok());
        assert!(catalogue.settable(testing::PUSH, -1.0).is_ok());
    }

    #[test]
    fn derivatives_are_for_inputs_and_of_order_one_or_two() {
        let catalogue = catalogue();
        assert_eq!(catalogue.derivable(testing::PUSH, 1, -3.0), Ok(0));
        assert_eq!(catalogue.derivable(testing::PUSH, 2, 0.0), Ok(0));
        for order in [0, 3, u32::MAX] {
            let error = catalogue.derivable(testing::PUSH, order, 0.0).unwrap_err();
            assert!(matches!(error, Error::Argument { .. }), "{error}");
        }
        let error = catalogue.derivable(testing::PUSH, 1, f64::NAN).unwrap_err();
        assert!(matches!(error, Error::NotFinite { .. }), "{error}");
        for reference in [testing::X, testing::STIFFNESS] {
            let error = catalogue.derivable(reference, 1, 0.0).unwrap_err();
            assert!(matches!(error, Error::NotSettable { .. }), "{error}");
        }
    }
}
