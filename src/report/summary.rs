//! A run as the page's script reads it: one JSON object and the columns.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::columns::EncodedColumns;
use super::failure::FailureReport;
use super::page::ReportData;
use super::recording::Recording;
use super::scene::scene;
use crate::component::{Causality, Instance, REJECTION_REASONS, Variable};
use crate::model::counters::{COUNTERS, CounterValue};
use crate::model::{Model, SolverSettings};

/// Resolution of a column relative to its range, finest first, and up to how many values of the run it is used for. The
/// last is for all: with it 100 bodies over 10,000 rows take 7.5 MB.
const RESOLUTIONS: [(f64, usize); 3] = [(1e-9, 30_000), (1e-8, 300_000), (1e-6, usize::MAX)];

/// Resolution of forces and reactions: arrows and their values.
const LOAD_RESOLUTION: f64 = 1e-5;

/// Everything that the page tells about a run.
pub struct Report<'a> {
    /// The model, after what was set from outside.
    pub model: &'a Model,
    /// Its text.
    pub text: &'a str,
    /// Name of its file, without folders.
    pub file: &'a str,
    /// Start and planned end (s).
    pub span: [f64; 2],
    /// The coordinates in use, as the model file calls them.
    pub formulation: &'a str,
    /// What was set from outside.
    pub assignments: &'a [(String, f64)],
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// The instance at the end of the run, if there is one.
    pub instance: Option<&'a Instance>,
    /// What was recorded.
    pub recording: &'a Recording,
    /// Why it ended early.
    pub failure: Option<&'a FailureReport>,
}

impl Report<'_> {
    /// Encodes the run.
    pub fn data(&self) -> ReportData {
        let mut culprits = Table::default();
        let mut events = Table::default();
        let columns = self.columns(&mut culprits, &mut events);
        let r = self.recording;
        let reached = r.times.last().copied().unwrap_or(self.span[0]);
        let summary = json!({
            "format": 1,
            "program": concat!("biela ", env!("CARGO_PKG_VERSION")),
            "name": self.model.name,
            "description": self.model.notes.description,
            "author": self.model.notes.author,
            "version": self.model.notes.version,
            "license": self.model.notes.license,
            "described": self.model.notes.elements,
            "file": self.file,
            "start": self.span[0],
            "stop": self.span[1],
            "reached": self.instance.map_or(reached, Instance::time),
            "outputs": r.outputs.iter().map(variable).collect::<Vec<_>>(),
            "energy": r.watched.energy,
            "loads": r.watched.loads,
            "loadStride": r.load_stride,
            "reasons": REJECTION_REASONS,
            "culprits": culprits.names,
            "events": events.names,
            "statistics": self.instance.map(statistics),
            "settings": self.settings(),
            "variables": self.variables(),
            "notes": self.notes(),
            "failure": self.failure.map(|f| f.json(self.model, &r.rejected)),
            "scene": scene(self.model, self.span[0], self.span[1]),
            "text": self.text,
        });
        ReportData {
            title: self.model.name.clone(),
            summary,
            columns: columns.finish(),
        }
    }

    /// Rows, loads, steps, rejected steps, events: the order in which `data.js` reads them.
    fn columns(&self, culprits: &mut Table, events: &mut Table) -> EncodedColumns {
        let r = self.recording;
        let mut columns = EncodedColumns::default();
        let width = r.width();
        let values = r.rows.len();
        let resolution = RESOLUTIONS.iter().find(|(_, most)| values <= *most);
        let resolution = resolution.map_or(1e-6, |(resolution, _)| *resolution);
        columns.exact(&r.times);
        let mut column = Vec::with_capacity(r.times.len());
        for k in 0..width {
            column.clear();
            column.extend(r.rows.iter().skip(k).step_by(width));
            columns.rounded(&column, resolution);
        }
        let width = r.watched.loads.len();
        for k in 0..width {
            column.clear();
            column.extend(r.loads.iter().skip(k).step_by(width));
            columns.rounded(&column, LOAD_RESOLUTION);
        }
        let methods: Vec<f64> = (r.steps.methods.iter())
            .map(|m| f64::from(*m as u8))
            .collect();
        columns.exact(&r.steps.ends);
        columns.single(&r.steps.errors);
        columns.whole(&methods);
        columns.whole(&r.steps.iterations);
        let of = |f: &mut dyn FnMut(&crate::component::RejectedStep) -> f64| -> Vec<f64> {
            r.rejected.iter().map(f).collect()
        };
        let reason = |text: &str| REJECTION_REASONS.iter().position(|known| *known == text);
        columns.exact(&of(&mut |x| x.time));
        columns.single(&of(&mut |x| x.step));
        columns.single(&of(&mut |x| x.error));
        columns.whole(&of(&mut |x| reason(x.reason).unwrap_or(0) as f64));
        columns.whole(&of(&mut |x| culprits.index(&x.culprit)));
        let times: Vec<f64> = r.events.iter().map(|(t, _)| *t).collect();
        let names: Vec<f64> = r.events.iter().map(|(_, n)| events.index(n)).collect();
        columns.exact(&times);
        columns.whole(&names);
        columns
    }

    fn variables(&self) -> Vec<Value> {
        let Some(instance) = self.instance else {
            return Vec::new();
        };
        let settable =
            |v: &&Variable| matches!(v.causality, Causality::Input | Causality::Parameter);
        (instance.variables().iter().filter(settable))
            .map(|v| {
                let set = self.assignments.iter().any(|(name, _)| *name == v.name);
                let mut value = variable(v);
                value["kind"] = json!(match v.causality {
                    Causality::Input => "input",
                    _ => "parameter",
                });
                value["value"] = json!(v.start);
                value["set"] = json!(set);
                value
            })
            .collect()
    }

    /// Those of the caller, assignments to what is not a declared variable, and what the start had to change.
    fn notes(&self) -> Vec<String> {
        let declared: Vec<&str> = self.instance.map_or(Vec::new(), |i| {
            i.variables().iter().map(|v| v.name.as_str()).collect()
        });
        let mut notes = self.notes.clone();
        let others =
            (self.assignments.iter()).filter(|(name, _)| !declared.contains(&name.as_str()));
        notes.extend(others.map(|(name, value)| format!("set from outside: {name} = {value}")));
        if let Some(bars) = self.instance.and_then(Instance::error_bars) {
            notes.extend(bars.to_string().lines().map(str::to_owned));
        }
        if let Some(start) = self.instance.and_then(Instance::start_report) {
            if start.moved > 0.0 {
                notes.push(format!(
                    "assembly moved the bodies by {:.2e} of their size (closure error as written {:.2e})",
                    start.moved, start.closure_before
                ));
            }
            if !start.redundant.is_empty() {
                notes.push(format!(
                    "redundant constraints: {}",
                    start.redundant.join(", ")
                ));
            }
        }
        notes
    }

    /// Settings of the solver that say how the run was made.
    fn settings(&self) -> Vec<Value> {
        let s: &SolverSettings = &self.model.solver;
        let mut list = vec![
            json!(["formulation", self.formulation]),
            json!(["integrator", s.integrator.name()]),
            json!(["corrector", s.corrector.name()]),
            json!(["tolerance", s.tolerance]),
            json!(["alpha", s.alpha]),
        ];
        for (key, value) in [
            ("step", s.step),
            ("min_step", s.min_step),
            ("max_step", s.max_step),
            ("initial_step", s.initial_step),
        ] {
            if let Some(value) = value {
                list.push(json!([key, value]));
            }
        }
        list
    }
}

fn variable(v: &Variable) -> Value {
    json!({
        "name": v.name, "unit": v.unit, "source": v.source, "description": v.description,
        "min": v.min, "max": v.max, "nominal": v.nominal,
    })
}

/// Counters with their meaning, in the order in which they are shown.
fn statistics(instance: &Instance) -> Value {
    let statistics = instance.statistics();
    let mut list: Vec<Value> = (COUNTERS.iter())
        .map(|counter| {
            let value = match (counter.value)(&statistics) {
                CounterValue::Count(count) => json!(count),
                // Infinite before the first step.
                CounterValue::Real(value) => json!(value.is_finite().then_some(value)),
            };
            json!([counter.name, value, counter.meaning])
        })
        .collect();
    let drift = instance.energy_drift();
    list.push(json!([
        "energy_drift",
        drift,
        "energy balance of largest magnitude (J)"
    ]));
    Value::Array(list)
}

/// Names by their index, each once.
#[derive(Default)]
struct Table {
    names: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Table {
    fn index(&mut self, name: &str) -> f64 {
        if let Some(i) = self.known.get(name) {
            return *i as f64;
        }
        self.known.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        (self.names.len() - 1) as f64
    }
}
