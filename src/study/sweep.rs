//! Many runs of one model, on threads that share it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use super::{CellKind, Column, Plan, RunOutcome, RunPlan, TableNotes, TimeGrid};
use crate::component::Instance;
use crate::error::{Error, Result};
use crate::model::counters::{COUNTERS, CounterValue, Statistics};
use crate::model::suggest::nearest;
use crate::model::{Experiment, Model, Output, TextPosition};

/// What is asked of every run.
#[derive(Clone, Debug, Default)]
pub struct SweepSettings {
    /// Outputs or dotted names of quantities; all outputs if there is none.
    pub outputs: Vec<String>,
    /// End of the runs (s); the model's if there is none.
    pub stop: Option<f64>,
    /// Distance of the rows of trajectories (s); the model's if there is none, else every accepted step.
    pub interval: Option<f64>,
    /// Whether outputs over time are kept.
    pub trajectories: bool,
}

/// One immutable model and what its runs are asked for.
pub struct Sweep {
    pub(super) model: Model,
    /// Names that the plan sets.
    pub(super) names: Vec<String>,
    /// Those with words as values.
    pub(super) worded: Vec<bool>,
    pub(super) experiment: Experiment,
    pub(super) outputs: Vec<String>,
    pub(super) references: Vec<u32>,
    /// Outputs that the model does not declare.
    pub(super) hidden: Vec<Output>,
    pub(super) trajectories: bool,
    pub(super) grid: Option<TimeGrid>,
    columns: Vec<Column>,
    trajectory_columns: Vec<Column>,
}

impl Sweep {
    /// Prepares the runs of a plan. Names that the model does not have are errors here; values that it refuses make the run fail.
    pub fn new(model: Model, plan: &Plan, settings: &SweepSettings) -> Result<Self> {
        let experiment = experiment(&model, settings)?;
        let grid = (settings.interval.or(experiment.interval))
            .map(|spacing| time_grid(&experiment, spacing))
            .transpose()?;
        let names = plan.names().to_vec();
        check_factors(&model, plan)?;
        let factors = factor_columns(&model, plan);
        let mut outputs = settings.outputs.clone();
        if outputs.is_empty() {
            outputs = model
                .outputs
                .iter()
                .map(|output| output.name.clone())
                .collect();
        }
        let (sources, hidden) = declare(&model, &outputs)?;
        let mut shown = model.clone();
        shown.outputs.extend_from_slice(&hidden);
        let instance = Instance::from_model(shown)?;
        let references = sources
            .iter()
            .map(|name| instance.find(name))
            .collect::<Result<Vec<u32>>>()?;
        let units = references
            .iter()
            .map(|r| instance.variables()[*r as usize].unit.clone());
        let units: Vec<String> = units.collect();
        let mut columns = vec![
            Column::new("run", "", CellKind::Integer),
            Column::new("seed", "", CellKind::Integer),
        ];
        columns.extend(factors);
        columns.extend(result_columns(&outputs, &units));
        let mut trajectory_columns = vec![
            Column::new("run", "", CellKind::Integer),
            Column::new("time", "s", CellKind::Number),
        ];
        trajectory_columns.extend(
            (outputs.iter().zip(&units))
                .map(|(name, unit)| Column::new(name, unit, CellKind::Number)),
        );
        distinct(&columns)?;
        distinct(&trajectory_columns)?;
        Ok(Self {
            worded: (0..names.len()).map(|i| plan.has_words(i)).collect(),
            trajectories: settings.trajectories,
            model,
            names,
            experiment,
            outputs,
            references,
            hidden,
            grid,
            columns,
            trajectory_columns,
        })
    }

    /// The columns of the table.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns of the trajectories.
    pub fn trajectory_columns(&self) -> &[Column] {
        &self.trajectory_columns
    }

    /// Name of the model.
    pub fn model_name(&self) -> &str {
        &self.model.name
    }

    /// What the tables of this study tell besides their rows. The fingerprint differs if the model, the experiment or the plan does.
    pub fn notes(&self, plan: &Plan) -> TableNotes {
        let mut model = self.model.without_text_positions();
        // Shapes are for pictures, and name files.
        model.bodies.iter_mut().for_each(|body| body.shape = None);
        let text = format!(
            "{model:?} {:?} {:?} {:?} {:?} {}",
            self.experiment,
            self.outputs,
            self.grid,
            self.columns,
            plan.fingerprint()
        );
        let digest = Sha256::digest(text);
        TableNotes {
            model: self.model.name.clone(),
            runs: plan.runs(),
            study: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// Simulates `runs` of a plan on `threads` threads. `each` is called with every outcome, from any thread and in any order;
    /// its failure ends the sweep, as `cancel` does.
    pub fn execute(
        &self,
        plan: &(dyn Fn(u64) -> RunPlan + Sync),
        runs: &[u64],
        threads: usize,
        cancel: &AtomicBool,
        each: &(dyn Fn(RunOutcome) -> std::io::Result<()> + Sync),
    ) -> std::io::Result<()> {
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let work = || -> std::io::Result<()> {
            while !cancel.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
                let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    break;
                };
                let Some(outcome) = self.simulate(&plan(*run), cancel) else {
                    break;
                };
                each(outcome).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            }
            Ok(())
        };
        let threads = threads.clamp(1, runs.len().max(1));
        if threads == 1 {
            return work();
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let ended = workers
                .into_iter()
                .map(|worker| worker.join().expect("runs catch their panics"));
            ended.fold(Ok(()), std::io::Result::and)
        })
    }
}

fn experiment(model: &Model, settings: &SweepSettings) -> Result<Experiment> {
    let Experiment {
        start,
        stop,
        interval,
        initial,
    } = model.experiment;
    let stop = settings.stop.unwrap_or(stop);
    if !(stop > start && stop.is_finite()) {
        let expected = format!("a time after the start at {start} s");
        return Err(refused("stop", &stop.to_string(), &expected));
    }
    Ok(Experiment {
        start,
        stop,
        interval: settings.interval.or(interval),
        initial,
    })
}

fn time_grid(experiment: &Experiment, spacing: f64) -> Result<TimeGrid> {
    let grid = if spacing > 0.0 {
        TimeGrid::new(experiment.start, experiment.stop, spacing)
    } else {
        None
    };
    grid.ok_or_else(|| {
        let expected = "a positive distance that gives at most a thousand million points";
        refused("interval", &spacing.to_string(), expected)
    })
}

/// Names that cannot be set, and words that are none, are mistakes of the study. A number out of range may be one of many.
fn check_factors(model: &Model, plan: &Plan) -> Result<()> {
    for (factor, value) in plan.examples() {
        let name = &plan.names()[factor];
        match value.assign(&mut model.clone(), name) {
            Err(error @ (Error::UnknownVariable { .. } | Error::NotSettable { .. })) => {
                return Err(error);
            }
            Err(error) if plan.has_words(factor) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn factor_columns(model: &Model, plan: &Plan) -> Vec<Column> {
    let unit = |name: &String| -> String {
        let inputs = model.inputs.iter().map(|i| (&i.name, i.target, &i.unit));
        let parameters = model
            .parameters
            .iter()
            .map(|p| (&p.name, p.target, &p.unit));
        if let Some((_, target, unit)) = inputs.chain(parameters).find(|(other, ..)| *other == name)
        {
            return (unit.clone()).unwrap_or_else(|| model.unit_of_target(target).to_owned());
        }
        model.target(name).map_or_else(
            |_| String::new(),
            |target| model.unit_of_target(target).to_owned(),
        )
    };
    (plan.names().iter().enumerate())
        .map(|(i, name)| match plan.has_words(i) {
            true => Column::new(name, "", CellKind::Text),
            false => Column::new(name, unit(name), CellKind::Number),
        })
        .collect()
}

/// The output that each name has in the model, and those outputs that it does not declare. A dotted name is no name of an output.
fn declare(model: &Model, outputs: &[String]) -> Result<(Vec<String>, Vec<Output>)> {
    let (mut sources, mut hidden) = (Vec::new(), Vec::new());
    let taken: Vec<&String> = (model.inputs.iter().map(|input| &input.name))
        .chain(model.outputs.iter().map(|output| &output.name))
        .chain(model.parameters.iter().map(|parameter| &parameter.name))
        .collect();
    for (i, name) in outputs.iter().enumerate() {
        if outputs[..i].contains(name) {
            return Err(refused("outputs", name, "each name once"));
        }
        if model.outputs.iter().any(|output| output.name == *name) {
            sources.push(name.clone());
            continue;
        }
        let known = |error: Error| match error {
            // Nearer to what was meant than any dotted name.
            Error::UnknownVariable { name, nearest } => Error::UnknownVariable {
                nearest: nearest_of(&name, model).or(nearest),
                name,
            },
            other => other,
        };
        model.quantity(name).map_err(known)?;
        let mut own = format!("study_{}", i + 1);
        while taken.contains(&&own) {
            own.push('_');
        }
        hidden.push(Output {
            name: own.clone(),
            source: name.clone(),
            unit: None,
            text_position: TextPosition::default(),
        });
        sources.push(own);
    }
    Ok((sources, hidden))
}

fn nearest_of(name: &str, model: &Model) -> Option<String> {
    nearest(name, model.outputs.iter().map(|output| output.name.clone()))
}

fn result_columns(outputs: &[String], units: &[String]) -> Vec<Column> {
    let mut columns = vec![
        Column::new("status", "", CellKind::Text),
        Column::new("message", "", CellKind::Text),
        Column::new("time", "s", CellKind::Number),
    ];
    for (name, unit) in outputs.iter().zip(units) {
        for ending in ["", ".min", ".max"] {
            columns.push(Column::new(
                format!("{name}{ending}"),
                unit,
                CellKind::Number,
            ));
        }
    }
    columns.push(Column::new("energy_drift", "J", CellKind::Number));
    for counter in &COUNTERS {
        let kind = match (counter.value)(&Statistics::default()) {
            CounterValue::Count(_) => CellKind::Integer,
            CounterValue::Real(_) => CellKind::Number,
        };
        columns.push(Column::new(
            format!("solver.{}", counter.name),
            counter.unit,
            kind,
        ));
    }
    columns
}

fn distinct(columns: &[Column]) -> Result<()> {
    for (i, column) in columns.iter().enumerate() {
        if columns[..i].iter().any(|other| other.name == column.name) {
            let expected = "a name that no other column of the table has";
            return Err(refused("column", &column.name, expected));
        }
    }
    Ok(())
}

fn refused(name: &str, value: &str, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
    }
}
