//! Sweeps: the engine of `biela sweep` in this process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use biela::study::{
    Cell, CellKind, Column, Factor, Plan, PlanKind, RunOutcome, RunPlan, Sweep, SweepSettings,
    csv_field, csv_line, parquet_table,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Raised, refused};
use crate::model::{Assignments, GivenValue, InputLaws, NativeModel};

/// The values of a factor: text as `--vary` takes it, or a list.
#[derive(FromPyObject)]
pub enum GivenFactor {
    /// `a:b:n`, `log:a:b:n`, `uniform(a,b)`, ...
    Text(String),
    /// Values.
    List(Vec<GivenValue>),
}

/// One planned run as it travels: number, seed, values.
type PlannedRun = (u64, u64, Vec<GivenValue>);

/// A value of a table as it travels.
#[derive(FromPyObject, IntoPyObject)]
pub enum CellValue {
    /// A number that counts.
    Integer(u64),
    /// A real number.
    Number(f64),
    /// Text.
    Text(String),
    /// Missing.
    Missing(Option<bool>),
}

/// Number, row and trajectory of a run.
type Outcome = (u64, Vec<CellValue>, Vec<f64>);

/// A prepared sweep.
#[pyclass(name = "NativeSweep", module = "biela._biela", frozen)]
pub struct NativeSweep {
    sweep: Sweep,
    plan: Plan,
}

/// How often Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(2);

#[pymethods]
impl NativeSweep {
    #[new]
    #[pyo3(signature = (model, factors, plan, rows, runs, seed, outputs, stop, interval, trajectories, set, inputs))]
    #[allow(clippy::too_many_arguments)] // one call from Python, by name
    fn new(
        model: &NativeModel,
        factors: Vec<(String, GivenFactor)>,
        plan: &str,
        rows: Option<Vec<Vec<GivenValue>>>,
        runs: Option<u64>,
        seed: u64,
        outputs: Vec<String>,
        stop: Option<f64>,
        interval: Option<f64>,
        trajectories: bool,
        set: Assignments,
        inputs: InputLaws,
    ) -> PyResult<Self> {
        let model = model.changed(set, inputs)?;
        let plan = match rows {
            Some(rows) => {
                let names = factors.into_iter().map(|(name, _)| name).collect();
                let rows = rows
                    .into_iter()
                    .map(|row| row.into_iter().map(GivenValue::value).collect());
                Plan::from_rows(names, rows.collect(), seed).raised()?
            }
            None => {
                let factor = |(name, values): (String, GivenFactor)| match values {
                    GivenFactor::Text(text) => Factor::new(&name, &text),
                    GivenFactor::List(values) => {
                        Factor::list(&name, values.into_iter().map(GivenValue::value).collect())
                    }
                };
                let factors = factors
                    .into_iter()
                    .map(factor)
                    .collect::<biela::Result<Vec<Factor>>>()
                    .raised()?;
                let expected = "\"grid\", \"lhs\" or \"sobol\"";
                let kind = PlanKind::by_name(plan)
                    .ok_or_else(|| refused("plan", format!("\"{plan}\""), expected))
                    .raised()?;
                Plan::new(kind, factors, runs, seed).raised()?
            }
        };
        let settings = SweepSettings {
            outputs,
            stop,
            interval,
            trajectories,
        };
        let sweep = Sweep::new(model, &plan, &settings).raised()?;
        Ok(Self { sweep, plan })
    }

    /// Number of runs of the plan.
    #[getter]
    fn runs(&self) -> u64 {
        self.plan.runs()
    }

    /// Name, unit and kind of each column.
    fn columns(&self, trajectories: bool) -> Vec<(String, String, &'static str)> {
        let kind = |column: &Column| match column.kind {
            CellKind::Integer => "integer",
            CellKind::Number => "number",
            CellKind::Text => "text",
        };
        let columns = self.chosen(trajectories).iter();
        columns
            .map(|column| (column.name.clone(), column.unit.clone(), kind(column)))
            .collect()
    }

    /// Simulates these runs on threads and returns their outcomes in the order of `runs`.
    fn execute(&self, py: Python<'_>, runs: Vec<u64>, jobs: usize) -> PyResult<Vec<Outcome>> {
        if let Some(run) = runs
            .iter()
            .find(|run| **run == 0 || **run > self.plan.runs())
        {
            let expected = format!("a number from 1 to {}", self.plan.runs());
            return Err(refused("run", run, &expected)).raised();
        }
        let plan = |run| self.plan.run(run);
        let outcomes = in_threads(py, &self.sweep, &plan, &runs, jobs)?;
        Ok(outcomes.into_iter().map(travelling).collect())
    }

    /// The planned runs: number, seed, values.
    fn planned<'py>(&self, py: Python<'py>, runs: Vec<u64>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for run in runs {
            let RunPlan { seed, values, .. } = self.plan.run(run);
            let texts = PyList::empty(py);
            for value in values {
                match value {
                    biela::study::SetValue::Number(number) => texts.append(number)?,
                    biela::study::SetValue::Word(word) => texts.append(word)?,
                }
            }
            list.append((run, seed, texts))?;
        }
        Ok(list)
    }

    /// Simulates runs whose values came from another process.
    fn execute_planned(
        &self,
        py: Python<'_>,
        planned: Vec<PlannedRun>,
        jobs: usize,
    ) -> PyResult<Vec<Outcome>> {
        let plans: Vec<RunPlan> = planned
            .into_iter()
            .map(|(run, seed, values)| RunPlan {
                run,
                seed,
                values: values.into_iter().map(GivenValue::value).collect(),
            })
            .collect();
        let positions: Vec<u64> = (0..plans.len() as u64).collect();
        let plan = |position: u64| plans[position as usize].clone();
        let outcomes = in_threads(py, &self.sweep, &plan, &positions, jobs)?;
        Ok(outcomes.into_iter().map(travelling).collect())
    }

    /// Arrays of the columns of rows; a number that is missing is NaN, a count that is missing makes its column one of numbers.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<Vec<CellValue>>,
        trajectories: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<Vec<Cell>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(CellValue::cell).collect())
            .collect();
        let found = PyDict::new(py);
        for (i, column) in self.chosen(trajectories).iter().enumerate() {
            let cells = || rows.iter().map(|row| &row[i]);
            let counts: Option<Vec<i64>> = cells()
                .map(|cell| match cell {
                    Cell::Integer(count) => i64::try_from(*count).ok(),
                    _ => None,
                })
                .collect();
            match (column.kind, counts) {
                (CellKind::Text, _) => {
                    let text = |cell: &Cell| match cell {
                        Cell::Text(text) => text.clone(),
                        _ => String::new(),
                    };
                    found.set_item(&column.name, cells().map(text).collect::<Vec<_>>())?;
                }
                (CellKind::Integer, Some(counts)) => {
                    found.set_item(&column.name, PyArray1::from_vec(py, counts))?;
                }
                _ => {
                    let number = |cell: &Cell| match cell {
                        Cell::Integer(count) => *count as f64,
                        Cell::Number(value) => *value,
                        _ => f64::NAN,
                    };
                    found.set_item(
                        &column.name,
                        PyArray1::from_vec(py, cells().map(number).collect()),
                    )?;
                }
            }
        }
        Ok(found)
    }

    /// Writes rows as `biela sweep` does, to the byte.
    fn write(&self, path: PathBuf, rows: Vec<Vec<CellValue>>, trajectories: bool) -> PyResult<()> {
        let columns = self.chosen(trajectories);
        let rows = rows
            .into_iter()
            .map(|row| row.into_iter().map(CellValue::cell).collect::<Vec<Cell>>());
        let mut bytes = Vec::new();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => {
                let names: Vec<String> = columns
                    .iter()
                    .map(|column| csv_field(&column.name))
                    .collect();
                let lines = std::iter::once(names.join(",")).chain(rows.map(|row| csv_line(&row)));
                for line in lines {
                    bytes.extend_from_slice(line.as_bytes());
                    bytes.push(b'\n');
                }
            }
            Some("parquet") => {
                let notes = self.sweep.notes(&self.plan);
                parquet_table::write(&mut bytes, columns, &notes, &mut rows.map(Ok))?;
            }
            _ => {
                let expected = "the ending .csv or .parquet, which says what is written";
                return Err(refused("path", path.display(), expected)).raised();
            }
        }
        Ok(std::fs::write(&path, bytes)?)
    }
}

impl NativeSweep {
    fn chosen(&self, trajectories: bool) -> &[Column] {
        match trajectories {
            true => self.sweep.trajectory_columns(),
            false => self.sweep.columns(),
        }
    }
}

impl CellValue {
    fn of(cell: Cell) -> Self {
        match cell {
            Cell::Integer(count) => Self::Integer(count),
            Cell::Number(value) => Self::Number(value),
            Cell::Text(text) => Self::Text(text),
            Cell::Missing => Self::Missing(None),
        }
    }

    fn cell(self) -> Cell {
        match self {
            Self::Integer(count) => Cell::Integer(count),
            Self::Number(value) => Cell::finite(value),
            Self::Text(text) => Cell::Text(text),
            Self::Missing(_) => Cell::Missing,
        }
    }
}

fn travelling(outcome: RunOutcome) -> Outcome {
    let row = outcome.row.into_iter().map(CellValue::of).collect();
    (outcome.run, row, outcome.trajectory)
}

/// The runs on threads, in their order; Ctrl-C ends them.
fn in_threads(
    py: Python<'_>,
    sweep: &Sweep,
    plan: &(dyn Fn(u64) -> RunPlan + Sync),
    runs: &[u64],
    jobs: usize,
) -> PyResult<Vec<RunOutcome>> {
    let (cancel, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let outcomes = Mutex::new(Vec::with_capacity(runs.len()));
    let mut raised = None;
    py.detach(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let keep = |outcome| {
                    outcomes
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(outcome);
                    Ok(())
                };
                let ended = sweep.execute(plan, runs, jobs.max(1), &cancel, &keep);
                done.store(true, Ordering::Release);
                ended
            });
            while !done.load(Ordering::Acquire) {
                std::thread::sleep(GLANCE);
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    cancel.store(true, Ordering::Relaxed);
                    raised = Some(signal);
                }
            }
        });
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    let mut outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|outcome: &RunOutcome| outcome.run);
    Ok(outcomes)
}
