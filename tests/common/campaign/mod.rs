//! The random campaign: mechanisms nobody has looked at, run with every formulation and tolerance, and judged.
//!
//! `cargo run --release --example campaign -- 1000..1100` runs it; `tests/validation/random_campaign.rs` runs a part in the ordinary
//! tests. docs/accuracy.md explains the classes.
#![allow(dead_code)] // Each program uses its own part.

pub mod error_bars;
pub mod events;
pub mod judge;
pub mod mechanism;
pub mod simulate;
pub mod summary;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use judge::{Judgement, Reference, Verdict, judge};
use mechanism::{Features, odd_mechanism, random_mechanism};
use simulate::{Run, simulate};
use summary::{Short, Summary};

/// All formulations that take mechanisms.
pub const FORMULATIONS: [&str; 5] = ["absolute", "relative", "hybrid", "global", "topological"];

/// What is run.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Mechanisms.
    pub subjects: Vec<Subject>,
    /// Formulations.
    pub formulations: Vec<String>,
    /// Tolerances.
    pub tolerances: Vec<f64>,
    /// Tolerance of the references; tighter where they do not agree.
    pub tight: f64,
    /// Threads.
    pub threads: usize,
}

/// A mechanism of the campaign.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Random, by seed.
    Seed(u64),
    /// An odd one, by seed.
    Odd(u64),
    /// A model file in JSON.
    File(PathBuf),
}

impl Subject {
    /// Name in logs.
    pub fn name(&self) -> String {
        match self {
            Self::Seed(seed) => seed.to_string(),
            Self::Odd(seed) => format!("odd:{seed}"),
            Self::File(path) => {
                let stem = path.file_stem().unwrap_or_default();
                stem.to_string_lossy().into_owned()
            }
        }
    }

    /// The model, in JSON.
    pub fn model(&self) -> (Value, Features) {
        match self {
            Self::Seed(seed) => random_mechanism(*seed),
            Self::Odd(seed) => odd_mechanism(*seed),
            Self::File(path) => {
                let text = std::fs::read_to_string(path)
                    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let model = serde_json::from_str(&text)
                    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                (model, Features::default())
            }
        }
    }
}

impl Default for Campaign {
    fn default() -> Self {
        Self {
            subjects: Vec::new(),
            formulations: FORMULATIONS.map(str::to_string).to_vec(),
            tolerances: vec![1e-4, 1e-6, 1e-8],
            tight: 1e-9,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
        }
    }
}

/// A run and what became of it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Mechanism.
    pub name: String,
    /// What it has.
    pub features: Features,
    /// Formulation.
    pub formulation: String,
    /// Tolerance.
    pub tolerance: f64,
    /// Class, error, balance.
    pub judgement: Judgement,
    /// Growth of the mechanism where it was measured, that is where an error was large.
    pub growth: Option<f64>,
    /// Difference of the references.
    pub spread: f64,
    /// CPU time of the references (s).
    pub reference_cpu: f64,
    /// The run.
    pub run: Run,
}

impl Record {
    /// The class.
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict
    }

    /// Error over tolerance and growth.
    pub fn error_over_growth(&self) -> f64 {
        self.judgement.error / self.growth.unwrap_or(1.0)
    }

    /// One line of the log.
    pub fn line(&self) -> Value {
        let s = &self.run.statistics;
        json!({
            "name": self.name, "formulation": self.formulation, "tolerance": self.tolerance, "verdict": self.verdict().name(),
            "error": self.judgement.error, "growth": self.growth, "balance": self.judgement.balance, "spread": self.spread,
            "steps": s.steps, "steps_smooth": s.steps_smooth, "steps_corrected": s.steps_corrected, "steps_plain": s.steps_plain, "rejected": s.rejected, "failures": s.newton_failures,
            "reached": self.run.reached, "cpu": self.run.cpu, "reference_cpu": self.reference_cpu, "dimension": self.features.dimension,
            "bodies": self.features.bodies, "loops": self.features.loops, "freedoms": self.features.freedoms,
            "driven": self.features.driven, "text": self.run.text,
        })
    }

    /// For a reader.
    pub fn sentence(&self) -> String {
        format!(
            "{:8} {} {} {:e}: error/tolerance {}, growth {}, balance/tolerance {}, {} steps {}",
            self.verdict().name(),
            self.name,
            self.formulation,
            self.tolerance,
            Short(self.judgement.error),
            self.growth
                .map_or("-".to_string(), |g| Short(g).to_string()),
            Short(self.judgement.balance),
            self.run.statistics.steps,
            self.run.text,
        )
    }
}

impl Campaign {
    /// Of seeds.
    pub fn of_seeds(seeds: std::ops::Range<u64>) -> Self {
        Self {
            subjects: seeds.map(Subject::Seed).collect(),
            ..Self::default()
        }
    }

    /// Runs it on all threads; `seen` gets every record as it comes, those of one mechanism together.
    pub fn run(&self, seen: impl FnMut(&Record, &Value) + Send) -> Summary {
        let next = AtomicUsize::new(0);
        let shared = Mutex::new((seen, Summary::default()));
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| {
                    while let Some(subject) =
                        (self.subjects).get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let (model, records) = self.judge_subject(subject);
                        let (seen, summary) = &mut *shared.lock().expect("no panic while held");
                        for record in records {
                            seen(&record, &model);
                            summary.add(record);
                        }
                    }
                });
            }
        });
        shared.into_inner().expect("no panic while held").1
    }

    fn judge_subject(&self, subject: &Subject) -> (Value, Vec<Record>) {
        let (model, features) = subject.model();
        let wanted = self
            .tolerances
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let mut reference = Reference::new(&model, self.tight, wanted);
        let mut records = Vec::new();
        for formulation in &self.formulations {
            for &tolerance in &self.tolerances {
                let run = simulate(&model, formulation, tolerance);
                let judgement = judge(&run, tolerance, &model, &mut reference);
                records.push(Record {
                    name: subject.name(),
                    features,
                    formulation: formulation.clone(),
                    tolerance,
                    judgement,
                    growth: None,
                    spread: reference.spread,
                    reference_cpu: reference.cpu,
                    run,
                });
            }
        }
        for record in &mut records {
            record.growth = reference.measured_growth();
        }
        (model, records)
    }
}
