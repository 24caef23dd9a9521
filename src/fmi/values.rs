//! Values and derivatives of an FMU's variables. References stand for scalars, time or arrays; see `value_reference.rs`.

use super::fmu_instance::FmuInstance;
use super::intermediate_update::no_derivatives_before_event;
use super::lifecycle::LifecyclePhase;
use super::types::FmiStandard;
use super::value_reference::TIME;
use crate::component::{Causality, Variability, Variable, VariableKind};
use crate::error::{Error, Result};

/// Workspace, so that reads and writes allocate nothing once it has its size.
#[derive(Default)]
pub(super) struct FmuScratch {
    references: Vec<u32>,
    scalars: Vec<u32>,
    orders: Vec<u32>,
    values: Vec<f64>,
}

impl FmuInstance {
    /// Reads values that the component has cached; false, and nothing is read, if any is missing. Cannot panic.
    #[inline]
    pub fn get_cached(&self, references: &[u32], values: &mut [f64]) -> bool {
        self.pending_inputs.is_empty()
            && self.left_limits.is_empty()
            && references.iter().all(|reference| self.is_real(*reference))
            && self.component.get_cached(references, values)
    }

    /// Notes inputs down between steps; false, and nothing is set, if [`FmuInstance::set`] has to check them. Cannot panic.
    #[inline]
    pub fn set_pending(&mut self, references: &[u32], values: &[f64]) -> bool {
        self.phase == LifecyclePhase::Step && self.pending_inputs.set(references, values)
    }

    /// Reads scalars, time and arrays of real numbers; on failure `values` is unchanged.
    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        if let Some(other) = (references.iter()).find(|r| !self.is_real(**r)) {
            self.wrong_type(&[*other], "Float64")?;
        }
        self.get_any(references, values)
    }

    /// Whether a reference stands for real numbers, or for nothing.
    #[inline]
    fn is_real(&self, reference: u32) -> bool {
        !self.references.has_other_kinds
            || self
                .references
                .kind(reference)
                .is_none_or(|kind| kind == VariableKind::Real)
    }

    fn get_any(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        if self.phase == LifecyclePhase::Initialization && self.any_computed(references) {
            self.initialise()?;
        }
        let plain = self.left_limits.is_empty();
        if plain && references.iter().all(|r| *r < self.references.scalars) {
            expect_count(references.len(), values.len())?;
            return self.component.get_real(references, values);
        }
        let three = self.three();
        self.scratch.references.clear();
        for reference in references {
            self.references
                .expand(*reference, three, &mut self.scratch.references)?;
        }
        expect_count(self.scratch.references.len(), values.len())?;
        let FmuScratch {
            references,
            scalars,
            values: scalar_values,
            ..
        } = &mut self.scratch;
        scalars.clear();
        scalars.extend(references.iter().filter(|r| **r != TIME));
        scalar_values.clear();
        scalar_values.resize(scalars.len(), 0.0);
        self.component.get_real(scalars, scalar_values)?;
        if !self.left_limits.is_empty() {
            // Before the event is handled, computed variables have the values before it.
            let variables = self.component.variables();
            for (value, scalar) in scalar_values.iter_mut().zip(scalars.iter()) {
                if is_computed(&variables[*scalar as usize]) {
                    *value = self.left_limits[*scalar as usize];
                }
            }
        }
        let time = match self.phase {
            LifecyclePhase::Instantiated | LifecyclePhase::Initialization => self.experiment.start,
            _ => self.component.time(),
        };
        let mut next = scalar_values.iter();
        for (value, reference) in values.iter_mut().zip(references.iter()) {
            *value = match *reference {
                TIME => time,
                _ => *next.next().expect("one value for each scalar"),
            };
        }
        Ok(())
    }

    /// Reads variables of another kind than real numbers; on failure nothing is read. `asked` is the type that the importer asks for.
    pub fn get_kind(
        &mut self,
        references: &[u32],
        kind: VariableKind,
        asked: &str,
    ) -> Result<Vec<f64>> {
        if let Some(wrong) = (references.iter()).find(|r| self.references.kind(**r) != Some(kind)) {
            self.wrong_type(&[*wrong], asked)?;
        }
        let mut values = vec![0.0; references.len()];
        self.get_any(references, &mut values)?;
        Ok(values)
    }

    /// Is one of them computed by the mechanism?
    fn any_computed(&self, references: &[u32]) -> bool {
        let variables = self.component.variables();
        references
            .iter()
            .any(|reference| variables.get(*reference as usize).is_none_or(is_computed))
    }

    /// Sets inputs and parameters; on failure nothing is set.
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        for reference in references {
            if *reference >= self.references.scalars {
                return Err(self.not_settable(*reference));
            }
        }
        expect_count(references.len(), values.len())?;
        self.undo_initialisation()?;
        self.component.set_real(references, values)
    }

    fn not_settable(&self, reference: u32) -> Error {
        match self.references.name(reference) {
            Some(name) if self.three() => Error::NotSettable {
                name: name.to_owned(),
                reason: "it is computed by the mechanism".to_owned(),
            },
            _ => Error::UnknownReference {
                reference,
                count: self.references.scalars as usize,
            },
        }
    }

    /// Fails unless there are no references: the first variable has another type than the one `asked` for.
    pub fn wrong_type(&self, references: &[u32], asked: &str) -> Result<()> {
        let Some(reference) = references.first() else {
            return Ok(());
        };
        let name = (self.references.name(*reference))
            .filter(|_| self.three() || *reference < self.references.scalars);
        Err(match name {
            Some(name) => Error::Argument {
                name: format!("type of \"{name}\""),
                value: asked.to_owned(),
                expected: match (self.standard, self.references.kind(*reference)) {
                    (FmiStandard::Two, _) => "Real".to_owned(),
                    (_, Some(VariableKind::Integer)) => "Int32".to_owned(),
                    (_, Some(VariableKind::Boolean)) => "Boolean".to_owned(),
                    _ => "Float64".to_owned(),
                },
            },
            None => Error::UnknownReference {
                reference: *reference,
                count: self.references.scalars as usize,
            },
        })
    }

    /// Sets derivatives of inputs.
    pub fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<()> {
        self.undo_initialisation()?;
        self.scratch.orders.clear();
        self.scratch.orders.extend(orders.iter().map(order));
        self.component
            .set_input_derivatives(references, &self.scratch.orders, values)
    }

    /// Time derivatives of outputs, those of arrays element by element. Counters are constant between steps: theirs are zero.
    pub fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<()> {
        self.require_no_event()?;
        let three = self.three();
        let FmuScratch {
            references: scalars,
            orders: scalar_orders,
            ..
        } = &mut self.scratch;
        scalars.clear();
        scalar_orders.clear();
        for (reference, each) in references.iter().zip(orders) {
            self.references.expand(*reference, three, scalars)?;
            scalar_orders.resize(scalars.len(), order(each));
        }
        no_time(scalars)?;
        expect_count(scalars.len(), values.len())?;
        let variables = self.component.variables();
        let is_counter = |reference: &u32| {
            let variable = variables.get(*reference as usize);
            variable.is_some_and(|v| v.variability == Variability::Discrete)
        };
        if !scalars.iter().any(is_counter) {
            return (self.component).output_derivatives(scalars, scalar_orders, values);
        }
        let counters: Vec<bool> = scalars.iter().map(is_counter).collect();
        let (continuous, orders): (Vec<u32>, Vec<u32>) = (scalars.iter())
            .zip(scalar_orders.iter())
            .zip(&counters)
            .filter(|(_, counter)| !**counter)
            .map(|((reference, order), _)| (*reference, *order))
            .unzip();
        let mut derivatives = vec![0.0; continuous.len()];
        (self.component).output_derivatives(&continuous, &orders, &mut derivatives)?;
        let mut next = derivatives.into_iter();
        for (value, counter) in values.iter_mut().zip(counters) {
            *value = match counter {
                true => 0.0,
                false => next.next().unwrap_or(0.0),
            };
        }
        Ok(())
    }

    /// Derivatives of the unknowns in the direction `seed` of the knowns.
    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<()> {
        let unknowns = self.scalars_of(unknowns)?;
        expect_count(unknowns.len(), sensitivity.len())?;
        expect_count(knowns.len(), seed.len())?;
        self.require_no_event()?;
        self.initialise()?;
        self.component
            .directional_derivative(&unknowns, knowns, seed, sensitivity)
    }

    /// `sensitivity[j]` = Σ_i `seed[i]` ∂unknown_i/∂known_j, from one directional derivative for each known.
    pub fn adjoint_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<()> {
        let unknowns = self.scalars_of(unknowns)?;
        expect_count(unknowns.len(), seed.len())?;
        expect_count(knowns.len(), sensitivity.len())?;
        if let Some(value) = seed.iter().find(|value| !value.is_finite()) {
            return Err(Error::NotFinite {
                name: "seed".to_owned(),
                value: value.to_string(),
            });
        }
        self.require_no_event()?;
        self.initialise()?;
        let mut column = vec![0.0; unknowns.len()];
        let mut adjoint = Vec::with_capacity(knowns.len());
        for known in knowns {
            self.component
                .directional_derivative(&unknowns, &[*known], &[1.0], &mut column)?;
            adjoint.push(seed.iter().zip(&column).map(|(s, c)| s * c).sum());
        }
        sensitivity.copy_from_slice(&adjoint);
        Ok(())
    }

    /// Fails if an event is to be handled: only values are known before it.
    fn require_no_event(&self) -> Result<()> {
        match self.left_limits.is_empty() {
            true => Ok(()),
            false => Err(no_derivatives_before_event()),
        }
    }

    fn scalars_of(&self, references: &[u32]) -> Result<Vec<u32>> {
        let mut scalars = Vec::new();
        for reference in references {
            self.references
                .expand(*reference, self.three(), &mut scalars)?;
        }
        no_time(&scalars)?;
        Ok(scalars)
    }

    /// The inputs that each element of an output depends on: (element, from 1 in arrays and 0 in scalars; input).
    pub fn dependencies(&self, reference: u32) -> Result<Vec<(usize, u32)>> {
        let mut scalars = Vec::new();
        self.references
            .expand(reference, self.three(), &mut scalars)?;
        let is_array = reference > self.references.scalars;
        let mut dependencies = Vec::new();
        for (i, scalar) in scalars.into_iter().filter(|s| *s != TIME).enumerate() {
            let element = if is_array { i + 1 } else { 0 };
            let inputs = self.component.dependencies(scalar);
            dependencies.extend(inputs.iter().map(|input| (element, *input)));
        }
        Ok(dependencies)
    }
}

/// Is it computed by the mechanism?
fn is_computed(variable: &Variable) -> bool {
    matches!(variable.causality, Causality::Output | Causality::Local)
}

/// Rejects time: it has no derivatives that can be asked for.
fn no_time(scalars: &[u32]) -> Result<()> {
    match scalars.contains(&TIME) {
        true => Err(Error::Argument {
            name: "variable".to_owned(),
            value: "\"time\"".to_owned(),
            expected: "an output".to_owned(),
        }),
        false => Ok(()),
    }
}

fn expect_count(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Argument {
        name: "number of values".to_owned(),
        value: found.to_string(),
        expected: format!("{expected}, as many as the variables have"),
    })
}

/// The order of a derivative as the component takes it. A negative one becomes an order that no variable has.
fn order(order: &i32) -> u32 {
    u32::try_from(*order).unwrap_or(u32::MAX)
}
