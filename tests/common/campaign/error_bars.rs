//! Error bars of random mechanisms, judged against references: are they as large as the error, and is an accuracy kept?

use biela::component::COMPANION_RATIO;
use biela::model::Model;
use biela::study::{AccuracySearch, advance};
use biela::{Instance, Observer, StepProbe};
use serde_json::{Value, json};

use super::Subject;
use crate::cpu_time::CpuClock;

/// Rows of a run at equal distances.
const ROWS: usize = 1000;
/// Parts of a step of the looser run at which there are rows too: between the ends of a step an interpolated value errs most.
const INSIDE: &[f64] = &[0.3, 0.7];
/// The same in its first steps, where fast motions decay.
const INSIDE_FIRST: &[f64] = &[0.02, 0.1, 0.3, 0.5, 0.7];
const FIRST: usize = 8;
/// Rows inside steps, at most about this many: of more steps only every second, third, .. has them.
const MOST_INSIDE: usize = 4000;
/// Tolerances of the two references over the tight tolerance of the campaign.
const TIGHT: [f64; 2] = [0.1, 0.03];
/// Part of the error that the references may differ by, to know it.
const KNOWN: f64 = 0.2;
/// Errors below this part of the range are rounding.
const ROUNDING: f64 = 1e-12;
/// CPU time after which a run is given up (s).
const CPU_LIMIT: f64 = 20.0;

/// What one run with error bars has shown. Errors are relative to the range of the output, the largest over outputs and rows.
#[derive(Clone, Debug)]
pub struct BarRecord {
    pub name: String,
    pub formulation: String,
    pub tolerance: f64,
    /// Largest error bar.
    pub stated: f64,
    /// Error of the looser run.
    pub looser: f64,
    /// Error of the delivered run.
    pub delivered: f64,
    /// Where that is: time (s), and name of the output.
    pub largest_at: (f64, String),
    /// Difference of the references.
    pub spread: f64,
    /// The delivered values have the same bits as without error bars.
    pub same_bits: bool,
    /// CPU time with error bars over that without, both without rows.
    pub cost: f64,
    /// CPU time without error bars (s).
    pub cpu: f64,
}

impl BarRecord {
    /// Whether the reference is good enough to judge by.
    pub fn is_known(&self) -> bool {
        self.spread <= KNOWN * self.delivered.max(0.1 * self.looser)
    }

    /// Stated error over that of the looser run.
    pub fn ratio(&self) -> f64 {
        self.stated / self.looser.max(ROUNDING)
    }
}

/// A run that claims an accuracy.
#[derive(Clone, Debug)]
pub struct AccuracyRecord {
    pub name: String,
    pub formulation: String,
    pub accuracy: f64,
    /// Whether it says that it is kept.
    pub claimed: bool,
    pub stated: f64,
    pub delivered: f64,
    pub spread: f64,
    pub runs: u32,
    pub tolerance: f64,
}

/// Rows of a run at given times.
struct Rows<'a> {
    references: Vec<u32>,
    times: &'a [f64],
    values: Vec<f64>,
    rows: Vec<Vec<f64>>,
    ends: Vec<f64>,
    began: f64,
}

impl Observer for Rows<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        while let Some(t) = self.times.get(self.rows.len()) {
            if *t > probe.end() {
                break;
            }
            probe.values(t.max(probe.start()), &self.references, &mut self.values)?;
            self.rows.push(self.values.clone());
        }
        self.ends.push(probe.end());
        match now() - self.began > CPU_LIMIT {
            true => Err(biela::Error::Cancelled { time: probe.end() }),
            false => Ok(()),
        }
    }
}

fn now() -> f64 {
    CpuClock::Thread.now().as_secs_f64()
}

/// A run to its end.
struct Done {
    rows: Vec<Vec<f64>>,
    /// Ends of its steps (s).
    ends: Vec<f64>,
    cpu: f64,
    instance: Instance,
}

fn run(model: &Model, tolerance: f64, times: &[f64]) -> Option<Done> {
    let mut instance = Instance::from_model(model.clone()).ok()?;
    let (start, stop) = (model.experiment.start, model.experiment.stop);
    instance.initialize(start, stop, tolerance).ok()?;
    let references: Vec<u32> = instance.outputs().collect();
    let mut rows = Rows {
        values: vec![0.0; references.len()],
        references,
        times,
        rows: Vec::new(),
        ends: Vec::new(),
        began: now(),
    };
    advance(&mut instance, stop, &mut None, &mut rows).ok()?;
    Some(Done {
        cpu: now() - rows.began,
        rows: rows.rows,
        ends: rows.ends,
        instance,
    })
}

/// Times at which runs are judged: equal distances, and points inside the steps of runs looser than `tolerances`.
fn times_of_rows(model: &Model, tolerances: &[f64]) -> Vec<f64> {
    let (start, stop) = (model.experiment.start, model.experiment.stop);
    let equal = (1..=ROWS).map(|k| start + (stop - start) * (k as f64 / ROWS as f64));
    let mut times: Vec<f64> = equal.collect();
    for tolerance in tolerances {
        let Some(looser) = run(model, COMPANION_RATIO * tolerance, &[]) else {
            continue;
        };
        let every = 1 + INSIDE.len() * looser.ends.len() / MOST_INSIDE;
        let mut from = start;
        for (k, end) in looser.ends.into_iter().enumerate() {
            let parts = match k < FIRST {
                true => INSIDE_FIRST,
                false => INSIDE,
            };
            if k < FIRST || k % every == 0 {
                times.extend(parts.iter().map(|part| from + part * (end - from)));
            }
            from = end;
        }
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// The subject's model with positions and velocities of all bodies as outputs.
fn model(subject: &Subject, formulation: &str, integrator: &str) -> Option<Model> {
    let (mut model, _) = subject.model();
    let fields: &[&str] = match model["dimension"] == json!(2) {
        true => &["x", "y", "angle", "vx", "vy"],
        false => &["x", "y", "z", "vx", "vy", "vz"],
    };
    let mut outputs = Vec::new();
    for body in model["body"].as_array()? {
        let body = body["name"].as_str()?;
        for field in fields {
            outputs.push(
                json!({ "name": format!("{body}_{field}"), "source": format!("{body}.{field}") }),
            );
        }
    }
    model["output"] = Value::from(outputs);
    if !model["solver"].is_object() {
        model["solver"] = json!({});
    }
    model["solver"]["formulation"] = json!(formulation);
    model["solver"]["integrator"] = json!(integrator);
    Model::from_text(&model.to_string(), "model").ok()
}

/// Ranges of the columns, with the floor of the error bars.
fn scales(rows: &[Vec<f64>], units: &[String]) -> Vec<f64> {
    let column = |i: usize| rows.iter().map(move |row| row[i]);
    let size = |i: usize| column(i).fold(0.0, |size: f64, x| size.max(x.abs()));
    (0..units.len())
        .map(|i| {
            let low = column(i).fold(f64::INFINITY, f64::min);
            let high = column(i).fold(f64::NEG_INFINITY, f64::max);
            let alike = (0..units.len()).filter(|j| units[*j] == units[i]);
            let largest = alike.map(size).fold(0.0, f64::max);
            (high - low).max(1e-4 * largest).max(1e-6)
        })
        .collect()
}

/// Largest difference of two runs, with its row and its output.
fn largest_difference(a: &[Vec<f64>], b: &[Vec<f64>], scales: &[f64]) -> (f64, usize, usize) {
    let mut largest = (0.0, 0, 0);
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        for i in 0..scales.len() {
            let difference = (a[i] - b[i]).abs() / scales[i];
            if difference > largest.0 {
                largest = (difference, k, i);
            }
        }
    }
    largest
}

fn distance(a: &[Vec<f64>], b: &[Vec<f64>], scales: &[f64]) -> f64 {
    largest_difference(a, b, scales).0
}

/// References of a mechanism.
pub struct BarReference {
    model: Model,
    name: String,
    formulation: String,
    times: Vec<f64>,
    rows: Vec<Vec<f64>>,
    scales: Vec<f64>,
    spread: f64,
}

impl BarReference {
    /// For runs with these tolerances; `None` if the mechanism cannot be run that tightly.
    pub fn new(
        subject: &Subject,
        [formulation, integrator]: [&str; 2],
        tolerances: &[f64],
        tight: f64,
    ) -> Option<Self> {
        let model = model(subject, formulation, integrator)?;
        let times = times_of_rows(&model, tolerances);
        let other = run(&model, TIGHT[0] * tight, &times)?;
        let tight = run(&model, TIGHT[1] * tight, &times)?;
        let variables = tight.instance.variables();
        let units: Vec<String> = (tight.instance.outputs())
            .map(|output| variables[output as usize].unit.clone())
            .collect();
        let scales = scales(&tight.rows, &units);
        Some(Self {
            spread: distance(&tight.rows, &other.rows, &scales),
            rows: tight.rows,
            times,
            scales,
            model,
            name: subject.name(),
            formulation: formulation.to_string(),
        })
    }

    /// A run with error bars; `None` if one of the runs stopped.
    pub fn error_bars(&self, tolerance: f64) -> Option<BarRecord> {
        let mut barred = self.model.clone();
        barred.solver.error_bars = true;
        let alone = run(&self.model, tolerance, &self.times)?;
        let looser = run(&self.model, COMPANION_RATIO * tolerance, &self.times)?;
        let with = run(&barred, tolerance, &self.times)?;
        let [cpu, cpu_with] = [&self.model, &barred].map(|model| run(model, tolerance, &[]));
        let (cpu, cpu_with) = (cpu?.cpu, cpu_with?.cpu);
        let (delivered, row, output) = largest_difference(&with.rows, &self.rows, &self.scales);
        let output = &self.model.outputs[output].name;
        Some(BarRecord {
            largest_at: (self.times[row], output.clone()),
            name: self.name.clone(),
            formulation: self.formulation.clone(),
            tolerance,
            stated: with.instance.error_bars()?.worst,
            looser: distance(&looser.rows, &self.rows, &self.scales),
            delivered,
            spread: self.spread,
            same_bits: with.rows == alone.rows,
            cost: cpu_with / cpu,
            cpu,
        })
    }

    /// A run that is repeated until it claims the accuracy or gives up.
    pub fn accuracy(&self, accuracy: f64) -> Option<AccuracyRecord> {
        let mut model = self.model.clone();
        model.solver.accuracy = Some(accuracy);
        let mut search = AccuracySearch::of(&model)?;
        let done = loop {
            let done = run(&model, search.tolerance(), &self.times)?;
            if !search.repeat(&done.instance) {
                break done;
            }
        };
        let bars = done.instance.error_bars()?;
        Some(AccuracyRecord {
            name: self.name.clone(),
            formulation: self.formulation.clone(),
            accuracy,
            claimed: bars.kept,
            stated: bars.worst,
            delivered: distance(&done.rows, &self.rows, &self.scales),
            spread: self.spread,
            runs: search.runs(),
            tolerance: done.instance.tolerance(),
        })
    }
}
