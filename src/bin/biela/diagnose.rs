//! `biela diagnose`: runs a model, says by name what made it fail or what keeps its steps small, tries changes of the
//! solver and suggests the edit that helped most.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use biela::model::{Experiment, FormulationName, PrescribedCoordinate, TextPosition};
use biela::report::FailureReport;
use biela::{Error, Instance, Model, Observer, StepProbe};

use crate::Failure;
use crate::argument::{finite, positive};
use crate::cpu_time::CpuClock;
use crate::csv::{Number, rounded};
use crate::interrupt;
use crate::model_file;
use crate::output;
use crate::terminal::duration;

/// Arguments of `biela diagnose`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 the model runs well, 1 it fails or crawls (the text says why), 2 bad input."
)]
pub struct Arguments {
    /// Model file (TOML, or JSON by its ending); `-` is standard input
    model: PathBuf,
    /// End of the simulation in s [default: the model's]
    #[arg(long, value_name = "T", value_parser = finite, allow_negative_numbers = true)]
    stop: Option<f64>,
    /// CPU time of the first run in s; each change that is tried gets as much
    #[arg(long, value_name = "S", value_parser = positive, default_value = "10")]
    budget: f64,
}

/// A run slower than this part of real time crawls. A convention: ten times slower than the mechanism itself.
const CRAWL: f64 = 0.1;
/// Least CPU time of a run that can crawl (s): below it nobody waits.
const SHORT: f64 = 1.0;
/// A change that saves less than this part of the work is not suggested.
const WORTH: f64 = 1.3;
/// Number of intervals in which steps are counted.
const INTERVALS: usize = 40;
/// Number of names that are listed.
const LISTED: usize = 4;

/// Diagnoses a model.
pub fn diagnose(arguments: &Arguments) -> Result<(), Failure> {
    let model = model_file::read(&arguments.model)?;
    let start = model.experiment.start;
    let stop = arguments.stop.unwrap_or(model.experiment.stop);
    if stop <= start {
        return Err(Failure::Input(format!(
            "--stop = {}: expected a time after the start at {} s",
            Number(stop),
            Number(start)
        )));
    }
    let experiment = Experiment {
        stop,
        ..model.experiment
    };
    interrupt::catch();
    let budget = Duration::from_secs_f64(arguments.budget);
    let run = Trial::of(&model, &experiment, budget);
    let verdict = run.verdict(&experiment);
    let mut text = format!("{}: {}\n", model.name, run.headline(&experiment, verdict));
    run.describe(&experiment, &mut text);
    if let Some(error) = &run.error {
        explain(error, &model, run.reached, &mut text);
    }
    if verdict != Verdict::Fine && !interrupt::requested() {
        suggest(&model, &experiment, &run, &mut text);
    }
    output::print(&text)?;
    match verdict {
        Verdict::Fine => Ok(()),
        Verdict::Fails => Err(Failure::Simulation("the model fails; see above".to_owned())),
        Verdict::Crawls => Err(Failure::Simulation(
            "the model crawls; see above".to_owned(),
        )),
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Fine,
    Crawls,
    Fails,
}

/// A run and what was seen in it.
#[derive(Default)]
struct Trial {
    /// `None` if it could not be started.
    reached: Option<f64>,
    cpu: Duration,
    steps: u64,
    error: Option<Error>,
    out_of_budget: bool,
    seen: Seen,
}

/// What an observer saw.
#[derive(Default)]
struct Seen {
    /// Rejected trial steps by reason and name.
    rejected: HashMap<(&'static str, String), u64>,
    events: HashMap<String, u64>,
    /// Steps in each interval of the run.
    busy: Vec<u64>,
    /// Size and time of the smallest step.
    smallest: Option<(f64, f64)>,
    largest: f64,
}

struct Watcher<'a> {
    seen: &'a mut Seen,
    span: [f64; 2],
    began: Duration,
    budget: Duration,
    out: bool,
}

impl Watcher<'_> {
    /// Counts rejected steps by their reason and culprit.
    fn reject(&mut self, rejected: impl IntoIterator<Item = (&'static str, String)>) {
        for key in rejected {
            *self.seen.rejected.entry(key).or_default() += 1;
        }
    }
}

impl Observer for Watcher<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        let (start, end) = (probe.start(), probe.end());
        let [from, to] = self.span;
        let part = (start - from) / (to - from) * INTERVALS as f64;
        self.seen.busy[(part as usize).min(INTERVALS - 1)] += 1;
        let h = end - start;
        self.seen.largest = self.seen.largest.max(h);
        // The last step is cut to end at the stop time.
        if end < to && self.seen.smallest.is_none_or(|(least, _)| h < least) {
            self.seen.smallest = Some((h, start));
        }
        let rejected = probe.take_rejected_steps();
        self.reject(rejected.into_iter().map(|step| (step.reason, step.culprit)));
        for name in probe.events() {
            *self.seen.events.entry(name).or_default() += 1;
        }
        self.out = CpuClock::Process.now() - self.began > self.budget;
        if self.out || interrupt::requested() {
            return Err(Error::Cancelled { time: end });
        }
        Ok(())
    }
}

impl Trial {
    /// Runs a model for at most `budget` of CPU time.
    fn of(model: &Model, experiment: &Experiment, budget: Duration) -> Self {
        let mut trial = Self::default();
        trial.seen.busy = vec![0; INTERVALS];
        let began = CpuClock::Process.now();
        let started = Instance::from_model(model.clone()).and_then(|mut instance| {
            instance.initialize(experiment.start, experiment.stop, 0.0)?;
            Ok(instance)
        });
        let mut instance = match started {
            Ok(instance) => instance,
            Err(error) => {
                trial.error = Some(error);
                return trial;
            }
        };
        instance.record_rejected_steps(true);
        let mut watcher = Watcher {
            seen: &mut trial.seen,
            span: [experiment.start, experiment.stop],
            began,
            budget,
            out: false,
        };
        let rounding = 4.0 * f64::EPSILON * experiment.stop.abs();
        let mut result = Ok(());
        while result.is_ok() && experiment.stop - instance.time() > rounding {
            let now = instance.time();
            result = match instance.step_observed(now, experiment.stop - now, &mut watcher) {
                // The budget ends a run that is too long.
                Err(Error::TooManySubsteps { .. }) if instance.time() > now => Ok(()),
                other => other,
            };
        }
        let rejected = instance.take_rejected_steps().into_iter();
        watcher.reject(rejected.map(|step| (step.reason, step.culprit)));
        trial.out_of_budget = watcher.out;
        trial.cpu = CpuClock::Process.now() - began;
        trial.reached = Some(instance.time());
        trial.steps = instance.statistics().steps;
        trial.error = match result {
            Err(Error::Cancelled { .. }) | Ok(()) => None,
            Err(error) => Some(error),
        };
        trial
    }

    fn verdict(&self, experiment: &Experiment) -> Verdict {
        let cpu = self.cpu.as_secs_f64();
        match self.reached {
            _ if self.error.is_some() => Verdict::Fails,
            Some(reached)
                if self.out_of_budget
                    || (cpu > SHORT && reached - experiment.start < CRAWL * cpu) =>
            {
                Verdict::Crawls
            }
            _ => Verdict::Fine,
        }
    }

    fn headline(&self, experiment: &Experiment, verdict: Verdict) -> String {
        let stop = Number(experiment.stop);
        let Some(reached) = self.reached else {
            return "cannot be started".to_owned();
        };
        let cpu = duration(self.cpu.as_secs_f64());
        let at = rounded(reached, 6);
        match verdict {
            Verdict::Fails => format!(
                "fails at t = {at} s of {stop} s, after {} steps",
                self.steps
            ),
            Verdict::Fine if reached < experiment.stop => format!("was interrupted at t = {at} s"),
            Verdict::Fine => format!(
                "runs to t = {stop} s in {} steps and {cpu} of CPU time",
                self.steps
            ),
            Verdict::Crawls => {
                let rate = (reached - experiment.start) / self.cpu.as_secs_f64();
                format!(
                    "crawls: {} steps and {cpu} of CPU time to t = {at} s of {stop} s; at this pace the run takes {}",
                    self.steps,
                    duration((experiment.stop - experiment.start) / rate)
                )
            }
        }
    }

    /// Step sizes, busy times, rejected trial steps and events.
    fn describe(&self, experiment: &Experiment, text: &mut String) {
        let Some(reached) = self.reached else {
            return;
        };
        if let Some((least, at)) = self.seen.smallest {
            let words = format!(
                "{:.1e} s (at t = {} s) to {:.1e} s",
                least,
                rounded(at, 6),
                self.seen.largest
            );
            line(text, "step size", &words);
        }
        self.busiest(experiment, reached, text);
        let mut rejected: Vec<_> = self.seen.rejected.iter().collect();
        rejected.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for ((reason, name), count) in rejected.iter().take(LISTED) {
            let of = match name.as_str() {
                "" => String::new(),
                name => format!(", worst in \"{name}\""),
            };
            line(
                text,
                "rejected",
                &format!(
                    "{count} trial step{}: {reason}{of}",
                    if **count == 1 { "" } else { "s" }
                ),
            );
        }
        let mut events: Vec<_> = self.seen.events.iter().collect();
        events.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (name, count) in events.iter().take(LISTED) {
            line(text, "events", &format!("{count} of \"{name}\""));
        }
    }

    /// The shortest stretch of time that holds half of the steps, if it is short.
    fn busiest(&self, experiment: &Experiment, reached: f64, text: &mut String) {
        let total: u64 = self.seen.busy.iter().sum();
        let width = (experiment.stop - experiment.start) / INTERVALS as f64;
        let used = ((reached - experiment.start) / width).ceil() as usize;
        for length in 1..=used / 4 {
            for first in 0..=used - length {
                let steps: u64 = self.seen.busy[first..first + length].iter().sum();
                if 2 * steps >= total && total > 100 {
                    let from = experiment.start + first as f64 * width;
                    let words = format!(
                        "{:.0} % of the steps lie between t = {} s and {} s",
                        100.0 * steps as f64 / total as f64,
                        rounded(from, 6),
                        rounded(from + length as f64 * width, 6)
                    );
                    return line(text, "busiest", &words);
                }
            }
        }
    }

    /// The name that most trial steps were rejected for.
    fn worst(&self) -> Option<&str> {
        let named = (self.seen.rejected.iter()).filter(|((_, name), _)| !name.is_empty());
        named
            .max_by_key(|(_, count)| **count)
            .map(|((_, name), _)| name.as_str())
    }
}

/// What the error means, where its culprits are in the file, and what to change.
fn explain(error: &Error, model: &Model, time: Option<f64>, text: &mut String) {
    let report = FailureReport::of(error, model, time);
    line(text, "what", &report.what);
    line(text, "error", &report.sentence);
    for culprit in &report.culprits {
        places(culprit, model, text);
    }
    for (i, advice) in report.advice.iter().enumerate() {
        line(text, if i == 0 { "to do" } else { "" }, advice);
    }
}

/// Line of the element that a name belongs to: a coordinate or constraint is called `element.something`.
fn places(name: &str, model: &Model, text: &mut String) {
    let element = name.split(['.', ' ']).next().unwrap_or(name);
    let bodies = model
        .bodies
        .iter()
        .map(|x| ("body", &x.name, x.text_position));
    let joints = model
        .joints
        .iter()
        .map(|x| ("joint", &x.name, x.text_position));
    let forces = model
        .forces
        .iter()
        .map(|x| ("force", &x.name, x.text_position));
    let motions = model
        .motions
        .iter()
        .map(|x| ("motion", &x.name, x.text_position));
    let found = (bodies.chain(joints).chain(forces).chain(motions)).find(|(_, n, _)| *n == element);
    if let Some((kind, name, TextPosition { line: at, column })) = found {
        let words = format!("{kind} \"{name}\" at {}:{at}:{column}", model.origin);
        line(text, "where", &words);
    }
}

/// A change of `[solver]`: its key, the value as it is written, and the changed model.
struct Change {
    key: &'static str,
    value: String,
    model: Model,
}

/// Changes of the solver that are worth a try.
fn changes(model: &Model, error: Option<&Error>) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add =
        |key: &'static str, value: String, set: &dyn Fn(&mut Model) -> biela::Result<()>| {
            let mut changed = model.clone();
            if set(&mut changed).is_ok() && changed.solver != model.solver {
                changes.push(Change {
                    key,
                    value,
                    model: changed,
                });
            }
        };
    let tolerance = model.solver.tolerance;
    let factors: &[f64] = match error {
        Some(_) => &[0.01, 10.0],
        None => &[10.0, 100.0],
    };
    for factor in factors {
        let value: f64 = rounded(tolerance * factor, 3).parse().unwrap_or(tolerance);
        add("tolerance", format!("{value:e}"), &|m| {
            m.set("solver.tolerance", value)
        });
    }
    for (key, word) in [("corrector", "off"), ("integrator", "vsa23")] {
        add(key, format!("\"{word}\""), &|m| {
            m.set_word(&format!("solver.{key}"), word)
        });
    }
    if model.system.is_none() {
        for name in [
            FormulationName::Absolute,
            FormulationName::Relative,
            FormulationName::Topological,
        ] {
            let word = name.name();
            let same = biela::formulation::resolved_formulation(model) == name;
            if !same {
                add("formulation", format!("\"{word}\""), &|m| {
                    m.set_word("solver.formulation", word)
                });
            }
        }
    }
    changes
}

/// Tries changes and suggests the best.
fn suggest(model: &Model, experiment: &Experiment, run: &Trial, text: &mut String) {
    if run.reached.is_none() {
        return; // The solver's settings do not help a mechanism that cannot be assembled.
    }
    if let Some(name) = run.worst() {
        places(name, model, text);
    }
    let budget = run.cpu.max(Duration::from_millis(200));
    let pace = |trial: &Trial| {
        let reached = trial.reached.unwrap_or(experiment.start) - experiment.start;
        reached / trial.cpu.as_secs_f64().max(1e-6)
    };
    let mut best: Option<(f64, Change)> = None;
    for change in changes(model, run.error.as_ref()) {
        if interrupt::requested() {
            break;
        }
        let trial = Trial::of(&change.model, experiment, budget);
        let (gain, words) = match (&run.error, &trial.error) {
            (Some(_), None) if trial.reached >= Some(experiment.stop) => (
                f64::INFINITY,
                format!("runs to the end in {} steps", trial.steps),
            ),
            (Some(_), _) => (0.0, "does not help".to_owned()),
            (None, Some(_)) => (0.0, "fails".to_owned()),
            (None, None) => {
                let gain = pace(&trial) / pace(run).max(1e-300);
                (gain, format!("{gain:.1} times the pace"))
            }
        };
        let head = format!("{} = {}", change.key, change.value);
        line(text, "tried", &format!("{head:<24} {words}"));
        if gain > WORTH && best.as_ref().is_none_or(|(other, _)| gain > *other) {
            best = Some((gain, change));
        }
    }
    match best {
        Some((_, change)) => {
            let words = format!("write {} = {} in [solver]", change.key, change.value);
            line(text, "suggestion", &words);
            if change.key == "tolerance" {
                line(text, "", "and compare the results with `biela compare`");
            }
        }
        None => {
            if let Some(words) = unfollowed(model, run) {
                return line(text, "suggestion", &words);
            }
            let whom = run
                .worst()
                .map_or(String::new(), |name| format!(": look at \"{name}\""));
            let words = format!("no setting of the solver helps{whom}");
            line(text, "suggestion", &words);
        }
    }
}

/// A motion that the mechanism cannot follow, and what to write in its place.
fn unfollowed(model: &Model, run: &Trial) -> Option<String> {
    let error = run.error.as_ref()?;
    let report = FailureReport::of(error, model, run.reached);
    let named = |name: &String| {
        let element = name.split(['.', ' ']).next().unwrap_or(name);
        model.motions.iter().find(|motion| motion.name == element)
    };
    let motion = report.culprits.iter().find_map(named)?;
    let PrescribedCoordinate::Joint(coordinate) = motion.on else {
        return None;
    };
    let joint = &model.joints[coordinate.joint];
    Some(format!(
        "the mechanism cannot follow motion \"{}\" (line {}) beyond t = {} s: end its law there, or drive joint \"{}\" by \
         a [[force]] with type = \"actuator\" and joint = \"{}\"",
        motion.name,
        motion.text_position.line,
        rounded(run.reached.unwrap_or_default(), 6),
        joint.name,
        joint.name
    ))
}

fn line(text: &mut String, head: &str, words: &str) {
    writeln!(text, "  {head:<12}  {words}").expect("a String takes everything");
}
