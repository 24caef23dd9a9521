//! One run of a mechanism, guarded: a panic, a refusal, a stop and a run that does not end are outcomes, not failures of the
//! campaign.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::sync::mpsc;
use std::time::Duration;

use biela::model::Expose;
use biela::{Instance, Model, Observer, Statistics, StepProbe};
use serde_json::{Value, json};

use crate::cpu_time::CpuClock;

/// Rows after the start, at equal distances.
pub const ROWS: usize = 8;
/// CPU time of a run that is taken for one that does not end.
pub const CPU_LIMIT: Duration = Duration::from_secs(20);
/// Wall time after which a run is abandoned: one that hangs inside a substep looks at no clock.
const WALL_LIMIT: Duration = Duration::from_secs(200);
/// What the judge looks at, after the poses of all bodies.
const ENERGIES: [&str; 5] = ["kinetic", "potential", "dissipated", "supplied", "balance"];

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// At the stop time, without an error.
    Done,
    /// Before, with an error.
    Stopped,
    /// Not begun: the model, its equations or its start were refused.
    Refused,
    /// Not within [`CPU_LIMIT`].
    Hang,
    /// With a panic.
    Panic,
}

/// The pose of a body.
#[derive(Clone, Copy, Debug)]
pub struct Pose {
    /// m
    pub position: [f64; 3],
    /// Angle in the plane; in space a quaternion.
    pub rotation: [f64; 4],
}

/// What the judge sees at one time.
#[derive(Clone, Debug)]
pub struct Row {
    /// All bodies, in the order of the model.
    pub poses: Vec<Pose>,
    /// J
    pub kinetic: f64,
    /// J
    pub potential: f64,
    /// J
    pub dissipated: f64,
    /// J
    pub supplied: f64,
    /// J
    pub balance: f64,
}

/// Energy turned over in a run.
#[derive(Clone, Copy, Debug)]
pub struct Turnover {
    /// Largest kinetic energy with the work dissipated and supplied until then (J).
    pub kinetic_and_work: f64,
    /// Lowest and highest potential energy (J).
    pub potential: [f64; 2],
}

impl Turnover {
    const NOTHING: Self = Self {
        kinetic_and_work: 0.0,
        potential: [f64::INFINITY, f64::NEG_INFINITY],
    };

    /// Of the energies in the order of [`ENERGIES`].
    fn note(&mut self, x: &[f64]) {
        self.kinetic_and_work = self.kinetic_and_work.max(x[0] + x[2].abs() + x[3].abs());
        self.potential = [self.potential[0].min(x[1]), self.potential[1].max(x[1])];
    }
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ending: Ending,
    /// The error or the panic.
    pub text: String,
    /// Rows at the start and at [`ROWS`] times, as far as it came.
    pub rows: Vec<Row>,
    /// Energy turned over in all steps: rows may all fall on the same phase of a vibration.
    pub turnover: Turnover,
    /// Whether the mechanism is planar.
    pub planar: bool,
    /// s
    pub reached: f64,
    /// Counters at the end.
    pub statistics: Statistics,
    /// s
    pub cpu: f64,
}

impl Run {
    fn unstarted(ending: Ending, text: String) -> Self {
        Self {
            ending,
            text,
            rows: Vec::new(),
            turnover: Turnover::NOTHING,
            planar: false,
            reached: 0.0,
            statistics: Statistics::default(),
            cpu: 0.0,
        }
    }
}

thread_local! {
    /// The last panic of a run on this thread; `None` outside of runs, whose panics are printed as usual.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the panics of runs, with their places, instead of printing them.
fn keep_panics_of_runs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let kept = PANIC.with_borrow_mut(|text| {
                text.as_mut()
                    .map(|text| *text = info.to_string().replace('\n', " "))
                    .is_some()
            });
            if !kept {
                usual(info);
            }
        }));
    });
}

/// Runs a model (JSON) with a formulation and a tolerance; the model's other settings hold.
pub fn simulate(model: &Value, formulation: &str, tolerance: f64) -> Run {
    let mut model = model.clone();
    if !model["solver"].is_object() {
        model["solver"] = json!({});
    }
    model["solver"]["formulation"] = json!(formulation);
    model["solver"]["tolerance"] = json!(tolerance);
    let text = model.to_string();
    guarded(move || Model::from_text(&text, "model"))
}

/// Runs a model as it is.
pub fn simulate_model(model: Model) -> Run {
    guarded(move || Ok(model))
}

/// Reads and runs a model in a thread of its own.
fn guarded(model: impl FnOnce() -> biela::Result<Model> + Send + 'static) -> Run {
    keep_panics_of_runs();
    let (send, receive) = mpsc::channel();
    let work = move || {
        PANIC.set(Some(String::new()));
        let run = panic::catch_unwind(AssertUnwindSafe(|| run(model()))).unwrap_or_else(|_| {
            let text = PANIC.with_borrow(|text| text.clone().unwrap_or_default());
            Run::unstarted(Ending::Panic, text)
        });
        // Nobody receives the result of a run that was abandoned.
        let _ = send.send(run);
    };
    (std::thread::Builder::new().stack_size(8 << 20))
        .spawn(work)
        .expect("a thread");
    receive
        .recv_timeout(WALL_LIMIT)
        .unwrap_or_else(|_| Run::unstarted(Ending::Hang, "a substep does not end".to_string()))
}

fn run(model: biela::Result<Model>) -> Run {
    let began = CpuClock::Thread.now();
    let started = model.and_then(|mut model| {
        model.expose = Expose::All;
        let experiment = model.experiment;
        let mut instance = Instance::from_model(model)?;
        instance.initialize(experiment.start, experiment.stop, 0.0)?;
        Ok((instance, experiment))
    });
    let (mut instance, experiment) = match started {
        Ok(started) => started,
        Err(error) => return Run::unstarted(Ending::Refused, error.to_string()),
    };
    let mut recorder = match Recorder::new(&mut instance, began) {
        Ok(recorder) => recorder,
        Err(error) => return Run::unstarted(Ending::Stopped, error.to_string()),
    };
    let (start, stop) = (experiment.start, experiment.stop);
    let result = instance.step_observed(start, stop - start, &mut recorder);
    let (ending, text) = match result {
        Ok(()) => (Ending::Done, String::new()),
        Err(_) if recorder.out_of_time => (Ending::Hang, "CPU time is up".to_string()),
        Err(error) => (Ending::Stopped, error.to_string()),
    };
    Run {
        ending,
        text,
        rows: recorder.rows,
        turnover: recorder.turnover,
        planar: recorder.planar,
        reached: instance.time(),
        statistics: instance.statistics(),
        cpu: (CpuClock::Thread.now() - began).as_secs_f64(),
    }
}

/// Reads the rows and watches the time.
struct Recorder {
    references: Vec<u32>,
    values: Vec<f64>,
    planar: bool,
    times: Vec<f64>,
    rows: Vec<Row>,
    turnover: Turnover,
    began: Duration,
    out_of_time: bool,
}

impl Recorder {
    fn new(instance: &mut Instance, began: Duration) -> biela::Result<Self> {
        let bodies: Vec<String> = (instance.model().bodies.iter())
            .map(|body| body.name.clone())
            .collect();
        let planar =
            (bodies.first()).is_some_and(|name| instance.find(&format!("{name}.qw")).is_err());
        let fields: &[&str] = match planar {
            true => &["x", "y", "angle"],
            false => &["x", "y", "z", "qw", "qx", "qy", "qz"],
        };
        let poses = (bodies.iter())
            .flat_map(|body| fields.iter().map(move |field| format!("{body}.{field}")));
        let energies = ENERGIES.iter().map(|field| format!("energy.{field}"));
        let names: Vec<String> = poses.chain(energies).collect();
        let references =
            (names.iter().map(|name| instance.find(name))).collect::<biela::Result<Vec<u32>>>()?;
        let (start, stop) = (instance.time(), instance.stop_time());
        let mut recorder = Self {
            values: vec![0.0; references.len()],
            references,
            planar,
            times: (1..=ROWS)
                .map(|k| match k {
                    ROWS => stop,
                    _ => start + (stop - start) * k as f64 / ROWS as f64,
                })
                .collect(),
            rows: Vec::new(),
            turnover: Turnover::NOTHING,
            began,
            out_of_time: false,
        };
        instance.get_real(&recorder.references, &mut recorder.values)?;
        recorder.push();
        Ok(recorder)
    }

    fn push(&mut self) {
        let (poses, energies) = (self.values).split_at(self.values.len() - ENERGIES.len());
        let pose = |x: &[f64]| match self.planar {
            true => Pose {
                position: [x[0], x[1], 0.0],
                rotation: [x[2], 0.0, 0.0, 0.0],
            },
            false => Pose {
                position: [x[0], x[1], x[2]],
                rotation: [x[3], x[4], x[5], x[6]],
            },
        };
        self.turnover.note(energies);
        self.rows.push(Row {
            poses: (poses.chunks(if self.planar { 3 } else { 7 }))
                .map(pose)
                .collect(),
            kinetic: energies[0],
            potential: energies[1],
            dissipated: energies[2],
            supplied: energies[3],
            balance: energies[4],
        });
    }
}

impl Observer for Recorder {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        while self.rows.len() <= ROWS && self.times[self.rows.len() - 1] <= probe.end() {
            let t = self.times[self.rows.len() - 1];
            probe.values(
                t.clamp(probe.start(), probe.end()),
                &self.references,
                &mut self.values,
            )?;
            self.push();
        }
        let (from, n) = (self.references.len() - ENERGIES.len(), self.values.len());
        probe.values(
            probe.end(),
            &self.references[from..],
            &mut self.values[n - ENERGIES.len()..],
        )?;
        self.turnover.note(&self.values[n - ENERGIES.len()..]);
        if CpuClock::Thread.now() - self.began > CPU_LIMIT {
            self.out_of_time = true;
            return Err(biela::Error::Cancelled { time: probe.end() });
        }
        Ok(())
    }
}
