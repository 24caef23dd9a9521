//! Parameters that set definitions of the model text: lengths, hardpoints, whatever the text computes from them. They are fixed
//! once the instance runs. `initialize`, `restore` and `reset` read the text again where their values have changed, and build the
//! equations again; elements, variables and sizes stay.

use std::sync::OnceLock;

use super::Instance;
use super::instance::InstanceScratch;
use crate::error::{Error, Result};
use crate::integrator::Integrator;
use crate::model::{Model, SolverSettings, Target};

/// Whether some parameter sets a definition.
#[inline(never)]
pub(super) fn has_definition_parameters(model: &Model) -> bool {
    for parameter in &model.parameters {
        if let Target::Definition(_) = parameter.target {
            return true;
        }
    }
    false
}

/// Definitions that parameters set, by index, with the values of the parameters; those of the model without any.
pub(super) fn definition_values(model: &Model, parameters: Option<&[f64]>) -> Vec<(usize, f64)> {
    (model.parameters.iter().enumerate())
        .filter_map(|(i, parameter)| match parameter.target {
            Target::Definition(index) => {
                let value = parameters.map_or(parameter.start, |values| values[i]);
                Some((index, value))
            }
            _ => None,
        })
        .collect()
}

impl Instance {
    /// Makes the equations those of the model with these definitions. Nothing changes on failure.
    pub(super) fn use_definitions(&mut self, values: &[(usize, f64)]) -> Result<()> {
        let same = (values.iter()).all(|(index, value)| {
            (self.model.definitions.get(*index)).is_some_and(|d| d.value == *value)
        });
        let (false, Some(created)) = (same, &self.created) else {
            return Ok(());
        };
        let model = created.with_definitions(values)?;
        model.validate()?;
        let mechanism = crate::formulation::build(&model)?;
        if mechanism.dimensions() != self.mechanism.dimensions() {
            return Err(Error::NotSettable {
                name: self.definition_names(),
                reason: "with these values the mechanism has other coordinates or constraints"
                    .to_owned(),
            });
        }
        let settings = SolverSettings {
            tolerance: self.integrator_tolerance,
            ..model.solver
        };
        let integrator = Integrator::new(&*mechanism, &settings)?;
        self.scratch = InstanceScratch::new(&model, &*mechanism, &self.catalogue, &self.state);
        self.dependencies = OnceLock::new();
        self.linearizer = None;
        (self.model, self.mechanism, self.integrator) = (model, mechanism, integrator);
        Ok(())
    }

    /// The definitions that the pending parameters ask for. Numbers that follow from them and were not set follow.
    pub(super) fn apply_definitions(&mut self) -> Result<()> {
        if self.created.is_none() {
            return Ok(());
        }
        let starts = |model: &Model| -> (Vec<f64>, Vec<f64>) {
            (
                model.parameters.iter().map(|p| p.start).collect(),
                model.inputs.iter().map(|i| i.start).collect(),
            )
        };
        let before = starts(&self.model);
        let values = definition_values(&self.model, Some(&self.state.pending.parameters));
        self.use_definitions(&values)?;
        let after = starts(&self.model);
        for (i, value) in self.state.pending.parameters.iter_mut().enumerate() {
            if *value == before.0[i] {
                *value = after.0[i];
            }
        }
        for (i, input) in self.state.pending.inputs.iter_mut().enumerate() {
            if input.taylor == [before.1[i], 0.0, 0.0] {
                input.taylor[0] = after.1[i];
            }
        }
        Ok(())
    }

    fn definition_names(&self) -> String {
        let set = self
            .model
            .parameters
            .iter()
            .filter(|p| matches!(p.target, Target::Definition(_)));
        set.map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether a parameter sets a definition.
    pub(super) fn sets_definition(&self, parameter: usize) -> bool {
        matches!(
            self.model.parameters[parameter].target,
            Target::Definition(_)
        )
    }

    /// Refuses to set a definition while the instance runs.
    pub(super) fn check_definition(&self, parameter: usize, value: f64) -> Result<()> {
        let present = self.state.pending.parameters[parameter];
        if !self.sets_definition(parameter) || !self.is_running() || present == value {
            return Ok(());
        }
        Err(Error::NotSettable {
            name: self.model.parameters[parameter].name.clone(),
            reason: "it sets a definition: set it before initialize".to_owned(),
        })
    }
}
