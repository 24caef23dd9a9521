//! What is behind an FMI instance: a component, where in its life it stands, and the words of one standard.
//!
//! Initialization: the standards let an importer set and read in turns until it leaves the mode. The component starts
//! once. So the unit keeps the state before the start; a read starts the component on trial, the next set goes back:
//!
//! ```text
//!   set, set ── read ──> [start on trial] ── set ──> [back, set] ── read ──> [start] ── exit ──> step mode
//! ```

use std::sync::Arc;

use super::intermediate_update::{SharedUpdates, Update, Watcher};
use super::lifecycle::LifecyclePhase;
use super::logger::{FmiLogCategory, FmiLogger};
use super::types::FmiStatus;
use super::value_cache::FmuValueCache;
use super::value_reference::{TIME, ValueReferences};
use crate::component::{Causality, Instance, SavedState, Variability};
use crate::error::{Error, Result};
use crate::model::Model;

/// Which standard an instance was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmiStandard {
    /// FMI 2.0
    Two,
    /// FMI 3.0
    Three,
}

impl FmiStandard {
    /// As the model description has it.
    pub fn version(self) -> &'static str {
        match self {
            Self::Two => "2.0",
            Self::Three => "3.0",
        }
    }
}

/// Why a call did not do what it was asked for.
pub(super) enum FmuFailure {
    /// Nothing was changed.
    Refused(Error),
    /// A step went only part of the way.
    Discarded(Error),
}

impl From<Error> for FmuFailure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// What a call answers.
pub(super) type Outcome = std::result::Result<(), FmuFailure>;

/// When and how well to simulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FmuExperiment {
    pub start: f64,
    pub stop: f64,
    /// Zero: the model's.
    pub tolerance: f64,
}

/// All that the future of a unit depends on.
#[derive(Clone, Debug)]
pub(super) struct FmuSavedState {
    pub phase: LifecyclePhase,
    pub experiment: FmuExperiment,
    pub component: SavedState,
}

/// See the module.
pub(super) struct FmuInstance {
    pub standard: FmiStandard,
    pub phase: LifecyclePhase,
    pub component: Instance,
    pub layout: Arc<ValueReferences>,
    pub logger: FmiLogger,
    pub experiment: FmuExperiment,
    /// What the last step answered.
    pub last_step: FmiStatus,
    /// A panic has left the component in an unknown condition.
    pub broken: bool,
    /// Before the start on trial; `None` while there is none.
    before: Option<SavedState>,
    /// FMI 3: the importer wants to be called during steps.
    pub update: Option<Update>,
    pub shared: Option<SharedUpdates>,
    pub quick: FmuValueCache,
    scratch: FmuScratch,
    #[cfg(feature = "fault-injection")]
    pub fault: bool,
}

/// Work space, so that reads and writes allocate nothing once it has its size.
#[derive(Default)]
struct FmuScratch {
    references: Vec<u32>,
    scalars: Vec<u32>,
    orders: Vec<u32>,
    values: Vec<f64>,
}

impl FmuInstance {
    /// A unit of `model`.
    pub fn new(standard: FmiStandard, model: Model, logger: FmiLogger) -> Result<Self> {
        let mut component = Instance::from_model(model)?;
        component.set_logger(logger.for_component());
        Ok(Self {
            standard,
            phase: LifecyclePhase::Instantiated,
            layout: Arc::new(ValueReferences::new(
                &component,
                standard == FmiStandard::Three,
            )),
            experiment: default_experiment(&component),
            quick: FmuValueCache::new(&component),
            component,
            logger,
            last_step: FmiStatus::Ok,
            broken: false,
            before: None,
            update: None,
            shared: None,
            scratch: FmuScratch::default(),
            #[cfg(feature = "fault-injection")]
            fault: false,
        })
    }

    /// Messages on or off.
    pub fn switch_logging(&mut self, on: bool, categories: &[&str]) -> Result<()> {
        self.logger.switch(on, categories)?;
        self.component.set_logger(self.logger.for_component());
        Ok(())
    }

    fn three(&self) -> bool {
        self.standard == FmiStandard::Three
    }

    /// Remembers when to start and to stop. Checked here, used by the start.
    pub fn set_experiment(&mut self, experiment: FmuExperiment) -> Result<()> {
        let refused = |name: &str, value: f64, expected: &str| {
            Err(Error::Argument {
                name: name.to_owned(),
                value: value.to_string(),
                expected: expected.to_owned(),
            })
        };
        let FmuExperiment {
            start,
            stop,
            tolerance,
        } = experiment;
        if !start.is_finite() {
            return refused("startTime", start, "a finite time");
        }
        if stop.is_nan() || stop < start {
            return refused("stopTime", stop, "a time not before startTime");
        }
        if !tolerance.is_finite() {
            return refused("tolerance", tolerance, "a finite number");
        }
        self.experiment = experiment;
        Ok(())
    }

    /// Outputs are to be looked at: in initialization mode the component starts on trial.
    fn start(&mut self) -> Result<()> {
        if self.phase != LifecyclePhase::Initialization || self.component.is_running() {
            return Ok(());
        }
        match &mut self.before {
            Some(before) => self.component.save_into(before)?,
            None => self.before = Some(self.component.save()?),
        }
        let FmuExperiment {
            start,
            stop,
            tolerance,
        } = self.experiment;
        self.quick.forget();
        self.component.initialize(start, stop, tolerance)
    }

    /// Something is about to be set: a start on trial is taken back.
    fn unstart(&mut self) -> Result<()> {
        if self.phase == LifecyclePhase::Initialization
            && self.component.is_running()
            && let Some(before) = &self.before
        {
            self.component.restore(before)?;
        }
        self.quick.forget();
        Ok(())
    }

    /// Starts for good.
    pub fn exit_initialization(&mut self) -> Result<()> {
        self.start()?;
        self.before = None;
        self.phase = LifecyclePhase::Step;
        self.last_step = FmiStatus::Ok;
        Ok(())
    }

    /// As just made. After a panic nothing of the old component but its model is trusted.
    pub fn reset(&mut self) -> Result<()> {
        self.mend()?;
        self.quick.drop_waiting();
        self.component.reset();
        self.experiment = default_experiment(&self.component);
        self.before = None;
        self.phase = LifecyclePhase::Instantiated;
        self.last_step = FmiStatus::Ok;
        Ok(())
    }

    fn mend(&mut self) -> Result<()> {
        if self.broken {
            self.component = Instance::from_model(self.component.model().clone())?;
            self.component.set_logger(self.logger.for_component());
            self.quick.drop_waiting();
            self.broken = false;
        }
        Ok(())
    }

    /// The short way of `get`.
    #[inline]
    pub fn quick_get(&self, references: &[u32], values: &mut [f64]) -> bool {
        self.quick.get(references, values)
    }

    /// The short way of `set`: inputs between steps.
    #[inline]
    pub fn quick_set(&mut self, references: &[u32], values: &[f64]) -> bool {
        self.phase == LifecyclePhase::Step && self.quick.set(references, values)
    }

    /// Reads scalars, time and vectors; on failure `values` is unchanged.
    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        let plain = references.iter().all(|r| *r < self.layout.scalars);
        if self.phase == LifecyclePhase::Initialization && self.any_output(references) {
            self.start()?;
        }
        if plain {
            expect_count(references.len(), values.len())?;
            self.component.get_real(references, values)?;
            self.quick.keep(references, values);
            return Ok(());
        }
        let three = self.three();
        self.scratch.references.clear();
        for reference in references {
            self.layout
                .expand(*reference, three, &mut self.scratch.references)?;
        }
        expect_count(self.scratch.references.len(), values.len())?;
        let FmuScratch {
            references,
            scalars,
            values: found,
            ..
        } = &mut self.scratch;
        scalars.clear();
        scalars.extend(references.iter().filter(|r| **r != TIME));
        found.clear();
        found.resize(scalars.len(), 0.0);
        self.component.get_real(scalars, found)?;
        let time = self.component.time();
        let time = match self.phase {
            LifecyclePhase::Instantiated | LifecyclePhase::Initialization => self.experiment.start,
            _ => time,
        };
        let mut next = found.iter();
        for (place, reference) in values.iter_mut().zip(references.iter()) {
            *place = match *reference {
                TIME => time,
                _ => *next.next().expect("one value for each scalar"),
            };
        }
        Ok(())
    }

    /// Sets inputs and parameters; on failure nothing is set.
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        for reference in references {
            if *reference >= self.layout.scalars {
                return Err(self.not_settable(*reference));
            }
        }
        expect_count(references.len(), values.len())?;
        self.unstart()?;
        self.component.set_real(references, values)
    }

    fn not_settable(&self, reference: u32) -> Error {
        match self.layout.name(reference) {
            Some(name) if self.three() => Error::NotSettable {
                name: name.to_owned(),
                reason: "it is computed by the mechanism".to_owned(),
            },
            _ => Error::UnknownReference {
                reference,
                count: self.layout.scalars as usize,
            },
        }
    }

    /// Is one of them an output?
    fn any_output(&self, references: &[u32]) -> bool {
        let variables = self.component.variables();
        references.iter().any(|reference| {
            variables.get(*reference as usize).is_none_or(|variable| {
                matches!(variable.causality, Causality::Output | Causality::Local)
            })
        })
    }

    /// Sets derivatives of inputs.
    pub fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<()> {
        self.unstart()?;
        let orders = unsigned(orders, &mut self.scratch.orders);
        self.component
            .set_input_derivatives(references, orders, values)
    }

    /// Time derivatives of outputs, those of vectors element by element.
    pub fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<()> {
        let three = self.three();
        let FmuScratch {
            references: scalars,
            orders: each,
            ..
        } = &mut self.scratch;
        scalars.clear();
        each.clear();
        for (reference, order) in references.iter().zip(orders) {
            self.layout.expand(*reference, three, scalars)?;
            each.resize(scalars.len(), u32::try_from(*order).unwrap_or(u32::MAX));
        }
        no_time(scalars)?;
        expect_count(scalars.len(), values.len())?;
        let variables = self.component.variables();
        let steady = |reference: &u32| {
            let variable = variables.get(*reference as usize);
            variable.is_some_and(|v| v.variability == Variability::Discrete)
        };
        if !scalars.iter().any(steady) {
            return self.component.output_derivatives(scalars, each, values);
        }
        // Counters stand still between steps.
        let (mut moving, mut orders) = (Vec::new(), Vec::new());
        for (reference, order) in scalars.iter().zip(each.iter()).filter(|(r, _)| !steady(r)) {
            moving.push(*reference);
            orders.push(*order);
        }
        let still: Vec<bool> = scalars.iter().map(steady).collect();
        let mut found = vec![0.0; moving.len()];
        self.component
            .output_derivatives(&moving, &orders, &mut found)?;
        let mut next = found.into_iter();
        for (place, still) in values.iter_mut().zip(still) {
            *place = if still {
                0.0
            } else {
                next.next().unwrap_or(0.0)
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
        self.start()?;
        self.component
            .directional_derivative(&unknowns, knowns, seed, sensitivity)
    }

    /// `sensitivity[j]` = Σ_i `seed[i]` ∂unknown_i/∂known_j: one direction for each known.
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
        self.start()?;
        let mut column = vec![0.0; unknowns.len()];
        let mut found = Vec::with_capacity(knowns.len());
        for known in knowns {
            self.component
                .directional_derivative(&unknowns, &[*known], &[1.0], &mut column)?;
            found.push(seed.iter().zip(&column).map(|(s, c)| s * c).sum());
        }
        sensitivity.copy_from_slice(&found);
        Ok(())
    }

    fn scalars_of(&self, references: &[u32]) -> Result<Vec<u32>> {
        let mut scalars = Vec::new();
        for reference in references {
            self.layout.expand(*reference, self.three(), &mut scalars)?;
        }
        no_time(&scalars)?;
        Ok(scalars)
    }

    /// The inputs each element of an output depends on: (element, counted from 1 in vectors and 0 in scalars; input).
    pub fn dependencies(&self, reference: u32) -> Result<Vec<(usize, u32)>> {
        let mut scalars = Vec::new();
        self.layout.expand(reference, self.three(), &mut scalars)?;
        let is_vector = reference > self.layout.scalars;
        let mut found = Vec::new();
        for (i, scalar) in scalars.into_iter().filter(|s| *s != TIME).enumerate() {
            let element = if is_vector { i + 1 } else { 0 };
            let inputs = self.component.dependencies(scalar);
            found.extend(inputs.iter().map(|input| (element, *input)));
        }
        Ok(found)
    }

    /// One communication step.
    pub fn step(&mut self, time: f64, step_size: f64) -> Outcome {
        self.step_to(time, step_size).map(|_| ())
    }

    /// The same; true: it ended early because the importer asked for it.
    pub fn step_to(&mut self, time: f64, step_size: f64) -> std::result::Result<bool, FmuFailure> {
        self.quick.forget();
        let outcome = match (self.update, self.shared.clone()) {
            (Some(update), Some(shared)) => self.watched_step(time, step_size, update, &shared),
            _ => self.component.step(time, step_size).map(|()| false),
        };
        match outcome {
            Ok(early) => {
                self.last_step = FmiStatus::Ok;
                Ok(early)
            }
            // What was asked for makes no sense: nothing was done.
            Err(error @ (Error::Argument { .. } | Error::CallOrder { .. })) => Err(error.into()),
            Err(error) => {
                self.last_step = FmiStatus::Discard;
                self.phase = LifecyclePhase::StepFailed;
                Err(FmuFailure::Discarded(error))
            }
        }
    }

    /// A step during which the importer is called after each substep. It may ask for an end now or at a later time.
    fn watched_step(
        &mut self,
        time: f64,
        step_size: f64,
        update: Update,
        shared: &SharedUpdates,
    ) -> Result<bool> {
        let mut watcher = Watcher {
            shared,
            update,
            request: None,
            complaints: Vec::new(),
        };
        let end = time + step_size;
        let (mut from, mut span) = (time, step_size);
        let outcome = loop {
            let outcome = self.component.step_observed(from, span, &mut watcher);
            let now = self.component.time();
            match (outcome, watcher.request.take()) {
                (Err(_), Some(wanted)) if wanted > now && wanted < end => {
                    (from, span) = (now, wanted - now);
                }
                // A request for the end, or beyond, is none.
                (Err(_), Some(wanted)) if wanted >= end && now < end => {
                    (from, span) = (now, end - now);
                }
                (Err(_), Some(_)) | (Ok(()), _) => break Ok(now < end),
                (Err(error), None) => break Err(error),
            }
        };
        for complaint in &watcher.complaints {
            self.logger
                .say(FmiStatus::Error, FmiLogCategory::Error, complaint);
        }
        outcome
    }

    /// The variable is there but of another type: all of them are floating-point numbers of 64 bits.
    pub fn wrong_type(&self, references: &[u32], asked: &str) -> Result<()> {
        let Some(reference) = references.first() else {
            return Ok(());
        };
        let name = self
            .layout
            .name(*reference)
            .filter(|_| self.three() || *reference < self.layout.scalars);
        Err(match name {
            Some(name) => Error::Argument {
                name: format!("type of \"{name}\""),
                value: asked.to_owned(),
                expected: match self.standard {
                    FmiStandard::Two => "Real".to_owned(),
                    FmiStandard::Three => "Float64".to_owned(),
                },
            },
            None => Error::UnknownReference {
                reference: *reference,
                count: self.layout.scalars as usize,
            },
        })
    }

    /// The present state.
    pub fn save(&self) -> Result<FmuSavedState> {
        Ok(FmuSavedState {
            phase: self.phase,
            experiment: self.experiment,
            component: match self.trial() {
                Some(before) => before.clone(),
                None => self.component.save()?,
            },
        })
    }

    /// Saves into an existing state.
    pub fn save_into(&self, saved: &mut FmuSavedState) -> Result<()> {
        match self.trial() {
            Some(before) => saved.component.clone_from(before),
            None => self.component.save_into(&mut saved.component)?,
        }
        saved.phase = self.phase;
        saved.experiment = self.experiment;
        Ok(())
    }

    /// What a start on trial has to be taken back to.
    fn trial(&self) -> Option<&SavedState> {
        let on_trial = self.phase == LifecyclePhase::Initialization && self.component.is_running();
        self.before.as_ref().filter(|_| on_trial)
    }

    /// Back to a saved state, also in its life.
    pub fn restore(&mut self, saved: &FmuSavedState) -> Result<()> {
        self.mend()?;
        self.quick.drop_waiting();
        self.component.restore(&saved.component)?;
        self.before = None;
        self.phase = saved.phase;
        self.experiment = saved.experiment;
        self.last_step = FmiStatus::Ok;
        Ok(())
    }
}

fn default_experiment(component: &Instance) -> FmuExperiment {
    FmuExperiment {
        start: component.model().experiment.start,
        stop: f64::INFINITY,
        tolerance: 0.0,
    }
}

/// Time has no derivatives that anybody needs.
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

/// Orders of derivatives; a negative one becomes one that no variable has.
fn unsigned<'o>(orders: &[i32], room: &'o mut Vec<u32>) -> &'o [u32] {
    room.clear();
    room.extend(
        orders
            .iter()
            .map(|order| u32::try_from(*order).unwrap_or(u32::MAX)),
    );
    room
}
