//! One run of a study, from its values to its row.

use std::sync::atomic::{AtomicBool, Ordering};

use super::extremes::Extremes;
use super::{AccuracySearch, Cell, SetValue, Sweep, TimeGrid, advance};
use crate::component::{Instance, Observer, StepProbe};
use crate::error::{Error, Result};
use crate::model::counters::{COUNTERS, CounterValue, Statistics};

/// A run that is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPlan {
    /// Number, from 1.
    pub run: u64,
    /// Seed of what is random in it.
    pub seed: u64,
    /// Values of the factors.
    pub values: Vec<SetValue>,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Number, from 1.
    pub run: u64,
    /// The cells of its row.
    pub row: Vec<Cell>,
    /// Whether it reached its stop.
    pub succeeded: bool,
    /// If asked for: time and outputs of each row in time, one after the other.
    pub trajectory: Vec<f64>,
    /// Values of one of its rows, the time among them.
    pub width: usize,
}

/// What has been computed of a run.
struct RunValues {
    result: Result<()>,
    reached: Option<f64>,
    finals: Vec<f64>,
    smallest: Vec<f64>,
    largest: Vec<f64>,
    energy_drift: f64,
    statistics: Option<Statistics>,
    trajectory: Vec<f64>,
}

impl Sweep {
    /// Simulates one run. `None` if it was cancelled.
    pub fn simulate(&self, plan: &RunPlan, cancel: &AtomicBool) -> Option<RunOutcome> {
        let work = || self.run(plan, cancel);
        // One run that meets a fault of the library does not take the others with it.
        let progress = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
            Ok(progress) => progress,
            Err(panic) => {
                let text = (panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .or_else(|| panic.downcast_ref::<String>().cloned());
                RunValues::unstarted(Error::Internal {
                    message: text.unwrap_or_default(),
                })
            }
        };
        if cancel.load(Ordering::Relaxed) && matches!(progress.result, Err(Error::Cancelled { .. }))
        {
            return None;
        }
        Some(RunOutcome {
            run: plan.run,
            succeeded: progress.result.is_ok(),
            row: self.row(plan, &progress),
            trajectory: progress.trajectory,
            width: 1 + self.outputs.len(),
        })
    }

    /// One run, repeated as `biela run` does if it asks for an accuracy.
    fn run(&self, plan: &RunPlan, cancel: &AtomicBool) -> RunValues {
        let mut search: Option<AccuracySearch> = None;
        let (instance, observer, result) = loop {
            let tolerance = search.as_ref().map_or(0.0, AccuracySearch::tolerance);
            let begun = self.started(plan, tolerance).and_then(|mut instance| {
                RunObserver::new(self, &mut instance, cancel).map(|observer| (instance, observer))
            });
            let (mut instance, mut observer) = match begun {
                Ok(begun) => begun,
                Err(error) => return RunValues::unstarted(error),
            };
            let stop = self.experiment.stop;
            let result = advance(&mut instance, stop, &mut None, &mut observer);
            search = search.or_else(|| AccuracySearch::of(instance.model()));
            let search = search.as_mut().filter(|_| result.is_ok());
            if !search.is_some_and(|search| search.repeat(&instance)) {
                break (instance, observer, result);
            }
        };
        // After a failure the last accepted step counts.
        let Extremes {
            smallest, largest, ..
        } = &observer.extremes;
        let finals = observer.extremes.finals().to_vec();
        RunValues {
            result,
            reached: Some(instance.time()),
            finals,
            smallest: smallest.clone(),
            largest: largest.clone(),
            energy_drift: instance.energy_drift(),
            statistics: Some(instance.statistics()),
            trajectory: observer.trajectory,
        }
    }

    fn started(&self, plan: &RunPlan, tolerance: f64) -> Result<Instance> {
        let mut model = self.model.clone();
        for (name, value) in self.names.iter().zip(&plan.values) {
            value.assign(&mut model, name)?;
        }
        // After the definitions: they are merged with the outputs of the text.
        model.outputs.extend_from_slice(&self.hidden);
        let mut instance = Instance::from_model(model)?;
        instance.initialize(self.experiment.start, self.experiment.stop, tolerance)?;
        Ok(instance)
    }

    /// The cells of a run, in the order of the columns.
    fn row(&self, plan: &RunPlan, progress: &RunValues) -> Vec<Cell> {
        let mut row = vec![Cell::Integer(plan.run), Cell::Integer(plan.seed)];
        for (i, value) in plan.values.iter().enumerate() {
            row.push(match value {
                _ if self.worded[i] => Cell::Text(value.to_string()),
                SetValue::Number(number) => Cell::Number(*number),
                SetValue::Word(word) => Cell::Text(word.clone()),
            });
        }
        let (status, message) = match &progress.result {
            Ok(()) => ("ok", String::new()),
            Err(error) => ("failed", error.to_string().replace('\n', "; ")),
        };
        row.push(Cell::Text(status.to_owned()));
        row.push(Cell::Text(message));
        row.push(progress.reached.map_or(Cell::Missing, Cell::finite));
        for i in 0..self.outputs.len() {
            for values in [&progress.finals, &progress.smallest, &progress.largest] {
                row.push(
                    values
                        .get(i)
                        .map_or(Cell::Missing, |value| Cell::finite(*value)),
                );
            }
        }
        row.push(Cell::finite(progress.energy_drift));
        for counter in &COUNTERS {
            row.push(match progress.statistics.as_ref().map(counter.value) {
                None => Cell::Missing,
                Some(CounterValue::Count(count)) => Cell::Integer(count),
                Some(CounterValue::Real(value)) => Cell::finite(value),
            });
        }
        row
    }
}

impl RunValues {
    fn unstarted(error: Error) -> Self {
        Self {
            result: Err(error),
            reached: None,
            finals: Vec::new(),
            smallest: Vec::new(),
            largest: Vec::new(),
            energy_drift: f64::NAN,
            statistics: None,
            trajectory: Vec::new(),
        }
    }
}

/// Watches a run of a study.
struct RunObserver<'a> {
    extremes: Extremes,
    references: &'a [u32],
    /// Times of the trajectory; none without one.
    rows: Option<TrajectoryTimes>,
    trajectory: Vec<f64>,
    values: Vec<f64>,
    cancel: &'a AtomicBool,
}

enum TrajectoryTimes {
    EveryStep,
    At(TimeGrid),
}

impl<'a> RunObserver<'a> {
    fn new(sweep: &'a Sweep, instance: &mut Instance, cancel: &'a AtomicBool) -> Result<Self> {
        let references = &sweep.references;
        let extremes = Extremes::new(instance, references.clone())?;
        let mut rows = sweep.trajectories.then(|| match &sweep.grid {
            Some(grid) => TrajectoryTimes::At(grid.clone()),
            None => TrajectoryTimes::EveryStep,
        });
        let mut trajectory = Vec::new();
        if let Some(rows) = &mut rows {
            if let TrajectoryTimes::At(grid) = rows {
                grid.due(instance.time());
            }
            trajectory.push(instance.time());
            trajectory.extend(extremes.finals());
        }
        let values = vec![0.0; references.len()];
        Ok(Self {
            extremes,
            references,
            rows,
            trajectory,
            values,
            cancel,
        })
    }

    fn keep(&mut self, probe: &mut StepProbe, t: f64) -> Result<()> {
        let at = t.clamp(probe.start(), probe.end());
        probe.values(at, self.references, &mut self.values)?;
        self.trajectory.push(t);
        self.trajectory.extend(&self.values);
        Ok(())
    }
}

impl Observer for RunObserver<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        let end = probe.end();
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled { time: end });
        }
        match self.rows.take() {
            None => {}
            Some(TrajectoryTimes::EveryStep) => {
                self.keep(probe, end)?;
                self.rows = Some(TrajectoryTimes::EveryStep);
            }
            Some(TrajectoryTimes::At(mut grid)) => {
                while let Some(t) = grid.due(end) {
                    self.keep(probe, t)?;
                }
                self.rows = Some(TrajectoryTimes::At(grid));
            }
        }
        self.extremes.accepted(probe)
    }
}
