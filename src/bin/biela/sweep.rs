//! `biela sweep`: a row a run, over values of parameters, inputs and settings.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use biela::Model;
use biela::study::{Column, Factor, Plan, PlanKind, SetValue, Sweep, SweepSettings, TableNotes};

use crate::Failure;
use crate::argument::{assignment, finite, input_law, positive};
use crate::destinations::same_file;
use crate::experiment;
use crate::interrupt;
use crate::journal::Journal;
use crate::model_file;
use crate::output;
use crate::study_table::{self, TableFormat};
use crate::terminal::{Head, RunProgress, message};

/// Arguments of `biela sweep`.
#[derive(clap::Args)]
#[command(
    after_help = "VALUES of --vary: a:b:n (n values from a to b), log:a:b:n, list:x,y,.., uniform(a,b), normal(mean,deviation). \
                  A grid takes every value with every other and draws distributions again in every run; lhs and sobol fill the \
                  space with --runs points.\n\nColumns: run, seed, what varies, status (ok or failed), message, time (reached), \
                  each output at the end, its .min and .max over the run, energy_drift, counters of the solver. The table has the \
                  same bytes for any number of threads, and after `biela merge` of its shards.\n\nExit status: 0 done (failed runs \
                  are rows), 1 results could not be written, 2 bad input, 130 ended by Ctrl-C (--resume goes on)."
)]
pub struct Arguments {
    /// Model file (TOML, or JSON by its ending); `-` is standard input
    model: PathBuf,

    /// A name that --set takes (parameter, input, dotted name, setting) and its values; may be repeated
    #[arg(long, value_name = "NAME=VALUES", value_parser = factor)]
    vary: Vec<Factor>,

    /// How values are combined: grid, lhs, sobol, or csv:FILE with names in its first line and a line a run
    #[arg(long, value_name = "PLAN", default_value = "grid")]
    plan: String,

    /// Number of runs of lhs and sobol; of a grid, runs at each of its points [default: 1]
    #[arg(long, value_name = "N")]
    runs: Option<u64>,

    /// Seed of everything random in the plan
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,

    /// Outputs, or quantities by their dotted names [default: all outputs]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    outputs: Vec<String>,

    /// The table; .parquet or .csv
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// Write the outputs of all runs over time as one more table: run, time, outputs
    #[arg(long, value_name = "FILE")]
    trajectories: Option<PathBuf>,

    /// Threads [default: as many as the machine has]
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,

    /// Do part i of n of the runs, i from 1 to n; `biela merge` puts the parts together
    #[arg(long, value_name = "i/n", value_parser = shard)]
    shard: Option<[u64; 2]>,

    /// Go on where a sweep was stopped
    #[arg(long)]
    resume: bool,

    /// End of each run in s [default: the model's]
    #[arg(long, value_name = "T", value_parser = finite, allow_negative_numbers = true)]
    stop: Option<f64>,

    /// Distance of the rows of --trajectories in s [default: the model's; without one, every accepted step]
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true)]
    interval: Option<f64>,

    /// What is the same in all runs, as `biela run --set`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, SetValue)>,

    /// Tolerance of the solver, as --set solver.tolerance=E
    #[arg(long, value_name = "E")]
    tolerance: Option<f64>,

    /// Law of an input over time in all runs, as `biela run --input`; may be repeated
    #[arg(long, value_name = "NAME=LAW", value_parser = input_law)]
    input: Vec<(String, String)>,

    /// Print neither the summary nor progress
    #[arg(short, long)]
    quiet: bool,
}

fn factor(text: &str) -> Result<Factor, String> {
    Factor::parse(text).map_err(|error| error.to_string())
}

fn shard(text: &str) -> Result<[u64; 2], String> {
    let numbers = text
        .split_once('/')
        .and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
    match numbers {
        Some([i, n]) if 1 <= i && i <= n => Ok([i, n]),
        _ => Err("expected i/n, the part i of n parts, with i from 1 to n".to_owned()),
    }
}

/// A table of a sweep in its file.
struct StudyFile {
    path: PathBuf,
    format: TableFormat,
    notes: TableNotes,
    columns: Vec<Column>,
}

impl StudyFile {
    fn write(
        &self,
        lines: &mut dyn Iterator<Item = std::io::Result<String>>,
    ) -> Result<(), Failure> {
        study_table::write(&self.path, self.format, &self.columns, &self.notes, lines)
    }
}

/// Simulates all runs and writes their table.
pub fn sweep(arguments: &Arguments) -> Result<(), Failure> {
    TableFormat::of(&arguments.out)?;
    arguments.threads()?;
    arguments.check_files()?;
    let mut model = model_file::read(&arguments.model)?;
    arguments.change(&mut model)?;
    let plan = arguments.plan()?;
    let settings = SweepSettings {
        outputs: arguments.outputs.clone(),
        stop: arguments.stop,
        interval: arguments.interval,
        trajectories: arguments.trajectories.is_some(),
    };
    let sweep = Sweep::new(model, &plan, &settings).map_err(Failure::input)?;
    let [part, parts] = arguments.shard.unwrap_or([1, 1]);
    let runs: Vec<u64> = (part..=plan.runs()).step_by(parts as usize).collect();
    let (table, trajectories) = arguments.tables(&sweep, &plan)?;
    if arguments.resume && !Journal::exists(&table.path) && holds(&table, &plan, &runs) {
        let path = table.path.display();
        message(
            Head::Note,
            &format!("\"{path}\" has all runs already: nothing to do"),
        );
        return Ok(());
    }
    let fingerprint = format!("{} {:?}", table.notes.study, arguments.shard);
    let second = trajectories.as_ref().map(|table| table.path.as_path());
    let mut journal = Journal::open(
        &table.path,
        second,
        &fingerprint,
        plan.runs(),
        arguments.resume,
    )?;
    let failed = run_all(&sweep, &plan, &runs, &mut journal, arguments)?;
    table.write(&mut journal.rows(&runs))?;
    if let Some(trajectories) = &trajectories {
        trajectories.write(&mut journal.trajectory_rows(&runs))?;
    }
    journal.remove();
    if arguments.quiet {
        return Ok(());
    }
    let written = second.map_or_else(String::new, |path| format!(" and {}", path.display()));
    let failures = match failed {
        0 => String::new(),
        count => format!(", {count} of them failed: see status and message"),
    };
    output::print(&format!(
        "{}: {} runs{failures}\n  wrote {}{written}\n",
        sweep.model_name(),
        runs.len(),
        table.path.display()
    ))
}

/// Whether the table is there with all runs.
fn holds(table: &StudyFile, plan: &Plan, runs: &[u64]) -> bool {
    study_table::holds(
        &table.path,
        table.format,
        plan,
        runs,
        &table.columns,
        &table.notes,
    )
}

/// Does the runs that the journal does not have. Returns how many of all have failed.
fn run_all(
    sweep: &Sweep,
    plan: &Plan,
    runs: &[u64],
    journal: &mut Journal,
    arguments: &Arguments,
) -> Result<u64, Failure> {
    let left: Vec<u64> = runs
        .iter()
        .copied()
        .filter(|run| !journal.has(*run))
        .collect();
    let threads = arguments.threads()?;
    let done = (runs.len() - left.len()) as u64;
    let progress = if arguments.quiet {
        None
    } else {
        RunProgress::new(done, runs.len() as u64)
    };
    interrupt::catch();
    let path = journal.path().to_owned();
    let kept = Mutex::new((journal, progress));
    let result = sweep.execute(
        &|run| plan.run(run),
        &left,
        threads,
        interrupt::flag(),
        &|outcome| {
            let mut kept = kept
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            kept.0.append(&outcome)?;
            if let Some(progress) = &mut kept.1 {
                progress.show();
            }
            Ok(())
        },
    );
    let (journal, progress) = kept
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    drop(progress);
    result.map_err(|error| output::failure(&path, &error))?;
    let count = runs.iter().filter(|run| journal.has(**run)).count();
    if interrupt::flag().load(Ordering::Relaxed) && count < runs.len() {
        return Err(Failure::Interrupted(format!(
            "interrupted after {count} of {} runs; the same command with --resume goes on",
            runs.len()
        )));
    }
    Ok(journal.failures(runs))
}

impl Arguments {
    fn threads(&self) -> Result<usize, Failure> {
        match self.jobs {
            Some(0) => Err(Failure::Input(
                "--jobs = 0: expected at least one thread".to_owned(),
            )),
            Some(threads) => Ok(threads),
            None => Ok(std::thread::available_parallelism().map_or(1, Into::into)),
        }
    }

    fn check_files(&self) -> Result<(), Failure> {
        let mut files = vec![&self.out];
        files.extend(&self.trajectories);
        for path in &files {
            if output::is_standard(path) {
                return Err(Failure::Input(
                    "a table of runs needs a file, FILE.csv or FILE.parquet".to_owned(),
                ));
            }
            if same_file(path, &self.model) {
                return Err(Failure::Input(format!(
                    "\"{}\" is the model itself; results would overwrite it",
                    path.display()
                )));
            }
            // A folder that is not there is told before the first run, not after the last.
            drop(output::create(path)?);
        }
        match files[..] {
            [a, b] if a == b || same_file(a, b) => Err(Failure::Input(
                "--out and --trajectories are the same file".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// The table, and that of the trajectories.
    fn tables(
        &self,
        sweep: &Sweep,
        plan: &Plan,
    ) -> Result<(StudyFile, Option<StudyFile>), Failure> {
        let notes = sweep.notes(plan);
        let file = |path: &PathBuf, columns: &[Column]| -> Result<StudyFile, Failure> {
            Ok(StudyFile {
                path: path.clone(),
                format: TableFormat::of(path)?,
                notes: notes.clone(),
                columns: columns.to_vec(),
            })
        };
        let trajectories =
            (self.trajectories.as_ref()).map(|path| file(path, sweep.trajectory_columns()));
        Ok((file(&self.out, sweep.columns())?, trajectories.transpose()?))
    }

    /// Changes the model in what is the same for all runs.
    fn change(&self, model: &mut Model) -> Result<(), Failure> {
        experiment::assign(model, &self.set).map_err(Failure::input)?;
        if let Some(tolerance) = self.tolerance {
            model
                .set("solver.tolerance", tolerance)
                .map_err(Failure::input)?;
        }
        for (name, law) in &self.input {
            model
                .set_signal_text(name, law, None)
                .map_err(Failure::input)?;
        }
        Ok(())
    }

    fn plan(&self) -> Result<Plan, Failure> {
        if let Some(path) = self.plan.strip_prefix("csv:") {
            if !self.vary.is_empty() || self.runs.is_some() {
                return Err(Failure::Input(
                    "--plan csv has all runs: --vary and --runs are not possible beside it"
                        .to_owned(),
                ));
            }
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::Input(format!("cannot read \"{path}\": {error}")))?;
            return Plan::from_csv(&text, path, self.seed).map_err(Failure::input);
        }
        let kind = PlanKind::by_name(&self.plan).ok_or_else(|| {
            Failure::Input(format!(
                "--plan {}: expected grid, lhs, sobol or csv:FILE",
                self.plan
            ))
        })?;
        if self.vary.is_empty() {
            return Err(Failure::Input(
                "nothing varies: add --vary NAME=VALUES, or --plan csv:FILE".to_owned(),
            ));
        }
        Plan::new(kind, self.vary.clone(), self.runs, self.seed).map_err(Failure::input)
    }
}

#[cfg(test)]
mod tests {
    use super::shard;

    #[test]
    fn shards_count_from_one() {
        assert_eq!(shard("2/3"), Ok([2, 3]));
        for text in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }
}
