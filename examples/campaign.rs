//! Random mechanisms, run with every formulation and tolerance, and judged: is status OK a right answer?
//!
//! ```text
//!   cargo run --release --example campaign -- 1000..1100
//!   cargo run --release --example campaign -- 17 33 --formulations topological --tolerances 1e-4,1e-6
//!   cargo run --release --example campaign -- 0..300 --log now.jsonl --compare before.jsonl --save failed
//!   cargo run --release --example campaign -- odd:0..50 mechanism.json
//! ```
//!
//! Arguments are seeds, ranges of seeds, odd ones (fixed, overconstrained or fully driven) and model files in JSON. Every run that is not right is printed, then a table. The log
//! has one JSON object for each run. Exit status 1 if a run was wrong, refused, stopped, did not end or panicked.

#[path = "../tests/common/campaign/mod.rs"]
mod campaign;
#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../src/bin/biela/cpu_time.rs"]
mod cpu_time;

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use campaign::error_bars::BarReference;
use campaign::judge::Verdict;
use campaign::{Campaign, Subject};
use clap::Parser;

/// Runs random mechanisms and judges the results.
#[derive(Parser)]
struct Arguments {
    /// Seeds (17), ranges of seeds (1000..1100), seeds of odd mechanisms (odd:0..50), model files (mechanism.json)
    #[arg(required = true)]
    subjects: Vec<String>,
    /// Formulations, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "absolute,relative,hybrid,global,topological"
    )]
    formulations: Vec<String>,
    /// Tolerances, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "1e-4,1e-6,1e-8")]
    tolerances: Vec<f64>,
    /// Tolerance of the references
    #[arg(long, default_value_t = 1e-9)]
    tight: f64,
    /// Threads [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
    /// Writes a line of JSON for each run
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Compares with the log of an earlier campaign
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Judges error bars and accuracies instead: a line of JSON for each run, then the shares that hold
    #[arg(long)]
    error_bars: bool,
    /// Integrator of the runs with error bars
    #[arg(long, default_value = "auto", requires = "error_bars")]
    integrator: String,
    /// Writes the model files of runs that are not right
    #[arg(long, value_name = "DIRECTORY")]
    save: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let standard = Campaign::default();
    let campaign = Campaign {
        subjects: arguments
            .subjects
            .iter()
            .flat_map(|s| subjects(s))
            .collect(),
        formulations: arguments.formulations.clone(),
        tolerances: arguments.tolerances.clone(),
        tight: arguments.tight,
        threads: arguments.threads.unwrap_or(standard.threads),
    };
    if arguments.error_bars {
        return judge_error_bars(&campaign, &arguments.integrator);
    }
    let mut log = (arguments.log.as_ref())
        .map(|path| File::create(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    if let Some(directory) = &arguments.save {
        std::fs::create_dir_all(directory).unwrap_or_else(|e| panic!("{e}"));
    }
    let summary = campaign.run(|record, model| {
        if let Some(log) = &mut log {
            writeln!(log, "{}", record.line()).unwrap_or_else(|e| panic!("{e}"));
        }
        if !record.verdict().is_bad() {
            return;
        }
        println!("{}", record.sentence());
        if let Some(directory) = &arguments.save {
            let mut model = model.clone();
            model["solver"]["formulation"] = record.formulation.clone().into();
            model["solver"]["tolerance"] = record.tolerance.into();
            let name = format!(
                "{}_{}_{}_{:e}.json",
                record.verdict().name(),
                record.name,
                record.formulation,
                record.tolerance
            );
            let text = serde_json::to_string_pretty(&model).expect("JSON");
            std::fs::write(directory.join(name), text).unwrap_or_else(|e| panic!("{e}"));
        }
    });
    print!("{}", summary.table());
    if let Some(path) = &arguments.compare {
        let earlier =
            std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        print!("{}", summary.compare(&earlier));
    }
    let bad = Verdict::ALL.iter().filter(|verdict| verdict.is_bad());
    match bad.map(|&verdict| summary.count(verdict)).sum() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Runs every mechanism with error bars, and for the same numbers as accuracies.
fn judge_error_bars(campaign: &Campaign, integrator: &str) -> ExitCode {
    let (mut bars, mut accuracies) = (Vec::new(), Vec::new());
    for subject in &campaign.subjects {
        for formulation in &campaign.formulations {
            let methods = [formulation, integrator];
            let Some(reference) =
                BarReference::new(subject, methods, &campaign.tolerances, campaign.tight)
            else {
                continue;
            };
            for &tolerance in &campaign.tolerances {
                if let Some(record) = reference.error_bars(tolerance) {
                    println!("{record:?}");
                    bars.push(record);
                }
                if let Some(record) = reference.accuracy(tolerance) {
                    println!("{record:?}");
                    accuracies.push(record);
                }
            }
        }
    }
    let known: Vec<_> = bars.iter().filter(|record| record.is_known()).collect();
    let share = |count: usize, all: usize| format!("{count} of {all}");
    let within = known
        .iter()
        .filter(|r| (1.0 / 3.0..=3.0).contains(&r.ratio()));
    println!(
        "stated within 3 of the looser run: {}",
        share(within.count(), known.len())
    );
    let safe = known.iter().filter(|r| r.delivered <= r.stated + r.spread);
    println!(
        "delivered below stated: {}",
        share(safe.count(), known.len())
    );
    let same = bars.iter().filter(|r| r.same_bits).count();
    println!("same bits: {}", share(same, bars.len()));
    let total: f64 = bars.iter().map(|r| r.cpu).sum();
    let with: f64 = bars.iter().map(|r| r.cpu * r.cost).sum();
    let mut costs: Vec<f64> = bars.iter().map(|r| r.cost).collect();
    costs.sort_by(f64::total_cmp);
    let median = costs.get(costs.len() / 2).copied().unwrap_or(f64::NAN);
    println!(
        "cost: {:.2} in sum, {median:.2} in the median",
        with / total
    );
    let claimed: Vec<_> = accuracies.iter().filter(|r| r.claimed).collect();
    let kept = claimed
        .iter()
        .filter(|r| r.delivered <= r.accuracy + r.spread);
    println!(
        "accuracy kept: {}, claimed by {} runs",
        share(kept.count(), claimed.len()),
        accuracies.len()
    );
    ExitCode::SUCCESS
}

fn subjects(text: &str) -> Vec<Subject> {
    let seed = |text: &str| -> u64 {
        text.parse().unwrap_or_else(|_| {
            panic!("\"{text}\": expected a seed, a range of seeds or a file .json")
        })
    };
    if text.ends_with(".json") {
        vec![Subject::File(text.into())]
    } else if let Some(odd) = text.strip_prefix("odd:") {
        let turned = subjects(odd).into_iter().map(|subject| match subject {
            Subject::Seed(seed) => Subject::Odd(seed),
            other => other,
        });
        turned.collect()
    } else if let Some((first, end)) = text.split_once("..") {
        (seed(first)..seed(end)).map(Subject::Seed).collect()
    } else {
        vec![Subject::Seed(seed(text))]
    }
}
