//! One run: rows of outputs, events, counters. For its report page the run is done again, with the same bits, and recorded in full.

use biela::component::ErrorBarSummary;
use biela::model::Model;
use biela::model::counters::{COUNTERS, CounterValue, Statistics};
use biela::report::{FailureReport, Measured, Recording, Report, RowSchedule};
use biela::study::{AccuracySearch, TimeGrid, advance};
use biela::{Error, Instance, Observer, StepProbe, Variable};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Raised, exception, refused};
use crate::model::{Assignments, GivenValue};

/// What a run is asked for.
#[derive(Clone)]
pub struct Conditions {
    /// End (s); the model's if there is none.
    pub stop: Option<f64>,
    /// Distance of the rows (s); the model's if there is none, else every accepted step.
    pub interval: Option<f64>,
    /// Tolerance; the model's if there is none.
    pub tolerance: Option<f64>,
    /// Numbers that were set, for the report page.
    pub assignments: Vec<(String, f64)>,
}

impl Conditions {
    /// From stop, interval and tolerance, and what was set.
    pub fn new([stop, interval, tolerance]: [Option<f64>; 3], set: &Assignments) -> Self {
        let numbers = set.iter().filter_map(|(name, value)| match value {
            GivenValue::Number(number) => Some((name.clone(), *number)),
            GivenValue::Word(_) => None,
        });
        Self {
            stop,
            interval,
            tolerance,
            assignments: numbers.collect(),
        }
    }
}

/// What a run gave.
struct Ended {
    outputs: Vec<Variable>,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
    events: Vec<(f64, String)>,
    statistics: Statistics,
    energy_drift: f64,
    reached: f64,
    error_bars: Option<ErrorBarSummary>,
    tolerance: f64,
    outcome: biela::Result<()>,
    /// What a signal handler raised.
    raised: Option<PyErr>,
}

/// Ctrl-C ends the run: asked for every so many steps.
const STEPS_BETWEEN_SIGNALS: u64 = 256;

/// Keeps the outputs of a run.
struct RowKeeper {
    references: Vec<u32>,
    grid: Option<TimeGrid>,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
    values: Vec<f64>,
    events: Vec<(f64, String)>,
    steps: u64,
    raised: Option<PyErr>,
}

impl RowKeeper {
    fn new(
        instance: &mut Instance,
        references: Vec<u32>,
        grid: Option<TimeGrid>,
    ) -> biela::Result<Self> {
        let mut keeper = Self {
            grid,
            times: Vec::new(),
            columns: vec![Vec::new(); references.len()],
            values: vec![0.0; references.len()],
            events: Vec::new(),
            steps: 0,
            raised: None,
            references,
        };
        if let Some(grid) = &mut keeper.grid {
            grid.due(instance.time());
        }
        keeper.keep_state(instance)?;
        Ok(keeper)
    }

    fn keep(&mut self, t: f64) {
        self.times.push(t);
        for (column, value) in self.columns.iter_mut().zip(&self.values) {
            column.push(*value);
        }
    }

    fn keep_state(&mut self, instance: &mut Instance) -> biela::Result<()> {
        instance.get_real(&self.references, &mut self.values)?;
        self.keep(instance.time());
        Ok(())
    }
}

impl Observer for RowKeeper {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        let (start, end) = (probe.start(), probe.end());
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_BETWEEN_SIGNALS)
            && let Err(raised) = Python::attach(|py| py.check_signals())
        {
            self.raised = Some(raised);
            return Err(Error::Cancelled { time: end });
        }
        if probe.at_event() {
            self.events
                .extend(probe.events().into_iter().map(|name| (end, name)));
        }
        if self.grid.is_none() {
            probe.values(end, &self.references, &mut self.values)?;
            self.keep(end);
        }
        while let Some(t) = self.grid.as_mut().and_then(|grid| grid.due(end)) {
            probe.values(t.clamp(start, end), &self.references, &mut self.values)?;
            self.keep(t);
        }
        Ok(())
    }
}

/// Simulates and returns the parts of a result.
pub fn run<'py>(
    py: Python<'py>,
    model: &Model,
    conditions: &Conditions,
) -> PyResult<Bound<'py, PyDict>> {
    let ended = py.detach(|| simulate(model, conditions)).raised()?;
    if let Some(raised) = ended.raised {
        return Err(raised);
    }
    let parts = PyDict::new(py);
    parts.set_item("time", PyArray1::from_vec(py, ended.times))?;
    let (columns, units) = (PyDict::new(py), PyDict::new(py));
    for (output, values) in ended.outputs.iter().zip(ended.columns) {
        // The array takes the vector over; every later access gives this array.
        columns.set_item(&output.name, PyArray1::from_vec(py, values))?;
        units.set_item(&output.name, &output.unit)?;
    }
    parts.set_item("columns", columns)?;
    parts.set_item("units", units)?;
    parts.set_item("events", ended.events)?;
    parts.set_item(
        "statistics",
        statistics(py, &ended.statistics, ended.energy_drift)?,
    )?;
    parts.set_item("name", &model.name)?;
    parts.set_item("reached", ended.reached)?;
    if let Some(bars) = &ended.error_bars {
        parts.set_item("error_bars", error_bars(py, bars, ended.tolerance)?)?;
    }
    if let Err(error) = &ended.outcome {
        parts.set_item("error", exception(error).into_value(py))?;
    }
    Ok(parts)
}

/// Start, stop and rows of a run.
struct Span {
    start: f64,
    stop: f64,
    grid: Option<TimeGrid>,
}

impl Span {
    fn of(model: &Model, conditions: &Conditions) -> biela::Result<Self> {
        let start = model.experiment.start;
        let stop = conditions.stop.unwrap_or(model.experiment.stop);
        if !(stop > start && stop.is_finite()) {
            return Err(refused(
                "stop",
                stop,
                &format!("a time after the start at {start} s"),
            ));
        }
        if let Some(tolerance) = conditions
            .tolerance
            .filter(|tolerance| !(*tolerance > 0.0 && tolerance.is_finite()))
        {
            return Err(refused("tolerance", tolerance, "a positive number"));
        }
        let mut grid = None;
        if let Some(spacing) = conditions.interval.or(model.experiment.interval) {
            let found = if spacing > 0.0 {
                TimeGrid::new(start, stop, spacing)
            } else {
                None
            };
            let expected = "a positive distance that gives at most a thousand million rows";
            grid = Some(found.ok_or_else(|| refused("interval", spacing, expected))?);
        }
        Ok(Self { start, stop, grid })
    }
}

fn started(model: &Model, span: &Span, tolerance: f64) -> biela::Result<Instance> {
    let mut instance = Instance::from_model(model.clone())?;
    instance.initialize(span.start, span.stop, tolerance)?;
    Ok(instance)
}

/// Runs once, or with an accuracy until it is kept or out of reach.
fn simulate(model: &Model, conditions: &Conditions) -> biela::Result<Ended> {
    let mut search = AccuracySearch::of(model);
    loop {
        let tighter = search.as_ref().map_or(0.0, AccuracySearch::tolerance);
        let (ended, instance) = simulate_once(model, conditions, tighter)?;
        let repeat =
            |search: &mut AccuracySearch| ended.outcome.is_ok() && search.repeat(&instance);
        if !search.as_mut().is_some_and(repeat) {
            return Ok(ended);
        }
    }
}

/// One run; with its tolerance, or `tighter` if that is positive.
fn simulate_once(
    model: &Model,
    conditions: &Conditions,
    tighter: f64,
) -> biela::Result<(Ended, Instance)> {
    let span = Span::of(model, conditions)?;
    let tolerance = match tighter > 0.0 {
        true => tighter,
        false => conditions.tolerance.unwrap_or(0.0),
    };
    let mut instance = started(model, &span, tolerance)?;
    let declared = instance.outputs();
    let bars = declared
        .clone()
        .filter_map(|output| instance.error_bar(output));
    let references: Vec<u32> = declared.chain(bars).collect();
    let outputs: Vec<Variable> = (references.iter())
        .map(|reference| instance.variables()[*reference as usize].clone())
        .collect();
    let mut keeper = RowKeeper::new(&mut instance, references, span.grid)?;
    let outcome = advance(&mut instance, span.stop, &mut None, &mut keeper);
    if outcome.is_err()
        && keeper
            .times
            .last()
            .is_some_and(|last| *last < instance.time())
    {
        // The state that was reached; if even that cannot be read, the rows before it stay.
        let _ = keeper.keep_state(&mut instance);
    }
    let ended = Ended {
        outputs,
        times: keeper.times,
        columns: keeper.columns,
        events: keeper.events,
        statistics: instance.statistics(),
        energy_drift: instance.energy_drift(),
        reached: instance.time(),
        error_bars: instance.error_bars(),
        tolerance: instance.tolerance(),
        outcome,
        raised: keeper.raised,
    };
    Ok((ended, instance))
}

/// What the error bars say, as a dictionary.
fn error_bars<'py>(
    py: Python<'py>,
    bars: &ErrorBarSummary,
    tolerance: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("worst", bars.worst)?;
    found.set_item("worst_output", &bars.worst_output)?;
    found.set_item("event_time", bars.event_time)?;
    found.set_item("undetermined_after", bars.undetermined_after)?;
    found.set_item("left_out", &bars.left_out)?;
    found.set_item("jumping", &bars.jumping)?;
    found.set_item("stopped", bars.stopped.as_ref().map(|(_, why)| why))?;
    found.set_item("accuracy", bars.accuracy)?;
    found.set_item("kept", bars.kept)?;
    found.set_item("tolerance", tolerance)?;
    found.set_item("text", bars.to_string())?;
    Ok(found)
}

/// Counters by their names.
pub fn statistics<'py>(
    py: Python<'py>,
    statistics: &Statistics,
    energy_drift: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for counter in &COUNTERS {
        match (counter.value)(statistics) {
            CounterValue::Count(count) => found.set_item(counter.name, count)?,
            CounterValue::Real(value) => found.set_item(counter.name, value)?,
        }
    }
    found.set_item("energy_drift", energy_drift)?;
    Ok(found)
}

/// Records everything that the page shows.
struct PageObserver(Recording);

impl Observer for PageObserver {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        self.0.accepted(probe)
    }
}

/// The report page of a run of `model`, whose text is that of `file`.
pub fn page(
    model: &Model,
    (text, file): (&str, &str),
    conditions: &Conditions,
) -> biela::Result<String> {
    let span = Span::of(model, conditions)?;
    let mut instance = started(model, &span, conditions.tolerance.unwrap_or(0.0))?;
    let times: RowSchedule = match span.grid {
        Some(grid) => Some(Box::new(grid)),
        None => None,
    };
    let recording = Recording::new(&mut instance, model.outputs.len(), times)?;
    let mut observer = PageObserver(recording);
    let outcome = advance(&mut instance, span.stop, &mut None, &mut observer);
    let mut failure = None;
    if let Err(error) = &outcome {
        let _ = observer.0.failed(&mut instance);
        failure = Some(FailureReport::of(error, model, Some(instance.time())));
    }
    let report = Report {
        model,
        text,
        file,
        span: [span.start, span.stop],
        formulation: biela::formulation::resolved_formulation(model).name(),
        assignments: &conditions.assignments,
        notes: Vec::new(),
        instance: Some(&instance),
        recording: &observer.0,
        failure: failure.as_ref(),
    };
    Ok(report.data().page(&Measured::default()))
}
