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
        if let Some(target) = self.targets[reference as usize] {
            target.range().check(name, value)?;
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
