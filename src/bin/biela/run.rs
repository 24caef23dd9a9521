//! `biela run`: simulates a model from its start to its stop, in one go or in communication steps.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use biela::model::Experiment;
use biela::model::counters::{COUNTERS, CounterValue, Shown};
use biela::{Causality, Instance, Model, Statistics, Variable};
use serde_json::{Map, Value};

use crate::Failure;
use crate::animation_files::AnimationFiles;
use crate::argument::{assignment, finite, positive};
use crate::cpu_time::CpuClock;
use crate::csv::Number;
use crate::experiment::{self, time_grid};
use crate::output;
use crate::plot::{self, Animation};
use crate::recorder::{self, FrameSampler, Recorder, RowTimes};
use crate::report::{self, ReportPage};
use crate::time_grid::TimeGrid;

/// Arguments of `biela run`.
#[derive(clap::Args)]
#[command(
    after_help = "Prints a short summary, unless --json or `--out -` use standard output. real_time_factor is simulated \
                  time over CPU time.\n\nExit status: 0 done, 1 the simulation failed (results up to there are kept), \
                  2 bad input (nothing was simulated)."
)]
pub struct Arguments {
    /// Model file (TOML, or JSON by its ending)
    model: PathBuf,

    /// End of the simulation in s [default: the model's]
    #[arg(long, value_name = "T", value_parser = finite, allow_negative_numbers = true)]
    stop: Option<f64>,

    /// Distance of the rows of the table in s, interpolated: the steps do not change [default: the model's; without
    /// one, a row for each accepted step]
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true)]
    interval: Option<f64>,

    /// Stop at every multiple of H as a co-simulation master would: the steps land there exactly
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true)]
    communication: Option<f64>,

    /// Write the outputs as CSV: `time` first, then one column for each output; `-` is standard output
    #[arg(long, value_name = "F.csv")]
    out: Option<PathBuf>,

    /// Draw the moving mechanism and its outputs over time
    #[arg(long, value_name = "F.svg")]
    plot: Option<PathBuf>,

    /// Write a page that shows the run: moving mechanism, plots, steps of the solver, energy, model text. It needs no
    /// network and no other file
    #[arg(long, value_name = "F.html")]
    report: Option<PathBuf>,

    /// Write the moving mechanism as binary glTF 2.0, for viewers, Blender and game engines
    #[arg(long, value_name = "F.glb")]
    gltf: Option<PathBuf>,

    /// Write pictures of the moving mechanism into a folder: frame_00000.png and so on, 25 for each second, and their
    /// times in frames.csv
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,

    /// Start value of a parameter or input, or any number of the model by its dotted name; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, f64)>,

    /// Print one JSON object: counters, CPU time, energy drift, final outputs
    #[arg(long)]
    json: bool,
}

/// Simulates a model and writes the results.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.one_standard_output()?;
    let began = CpuClock::Process.now();
    let mut model = Model::from_file(&arguments.model).map_err(Failure::input)?;
    for (name, value) in &arguments.set {
        model.set(name, *value).map_err(Failure::input)?;
    }
    let experiment = arguments.experiment(&model)?;
    let mut page = arguments.page(&model, &experiment)?;
    let declared = model.outputs.len();
    let layout = arguments.plot.as_ref().map(|_| plot::prepare(&mut model));
    let name = model.name.clone();
    let tolerance = model.solver.tolerance;

    let mut instance = initialized(model, &experiment, &mut page, began)?;
    let mut points = arguments.communication_points(&experiment)?;
    let outputs = Outputs::of(&instance, layout.as_ref().map_or(0, |layout| layout.hidden));
    let mut animation_files = arguments.animation_files(instance.model())?;
    let mut plot_file = arguments.plot.as_deref().map(output::create).transpose()?;
    let mut recorder = arguments.recorder(&mut instance, &outputs, &experiment, declared)?;

    let (result, cpu) = simulate(&mut instance, &experiment, &mut points, &mut recorder);
    let recording_failure = recorder.take_failure();
    if let Some(recording) = recorder.take_recording() {
        if let Some(files) = &mut animation_files {
            files.write(instance.model(), &recording)?;
        }
        if let Some(page) = &mut page {
            page.source.took("integrating", cpu);
            page.source.took("recording rows", recorder.spent());
            page.write(&mut instance, recording, &result)?;
        }
    }
    let animation = recorder.finish()?;

    let mut results = Results {
        name,
        tolerance,
        start: experiment.start,
        reached: instance.time(),
        statistics: instance.statistics(),
        cpu,
        energy_drift: instance.energy_drift(),
        finals: vec![f64::NAN; outputs.references.len()],
    };
    let read = instance.get_real(&outputs.references, &mut results.finals);

    if let (Some(path), Some(file), Some(layout), Some(animation)) =
        (&arguments.plot, &mut plot_file, &layout, &animation)
    {
        let subtitle = results.subtitle();
        let text = plot::draw(
            instance.model(),
            layout,
            &outputs.variables,
            animation,
            &subtitle,
        );
        file.write_all(text.as_bytes())
            .and_then(|()| file.flush())
            .map_err(|error| output::failure(path, &error))?;
    }
    if let Some(failure) = recording_failure {
        return Err(failure);
    }
    if arguments.json {
        output::print(&format!("{}\n", results.json(&outputs.variables)))?;
    } else if !arguments.uses_standard_output() {
        output::print(&results.summary(&outputs.variables, &arguments.files()))?;
    }
    result.and(read).map_err(|error| {
        Failure::Simulation(format!(
            "the simulation stopped at t = {} s, before {} s: {error}",
            Number(results.reached),
            Number(experiment.stop)
        ))
    })
}

/// An instance at its start. If the mechanism cannot be started, the page says why.
fn initialized(
    model: Model,
    experiment: &Experiment,
    page: &mut Option<ReportPage>,
    began: Duration,
) -> Result<Instance, Failure> {
    let read = CpuClock::Process.now();
    let as_written = page.as_ref().map(|_| model.clone());
    let instance = Instance::from_model(model).and_then(|mut instance| {
        instance.initialize(experiment.start, experiment.stop, 0.0)?;
        Ok(instance)
    });
    if let (Some(page), Some(model)) = (page, &as_written) {
        page.source.took("reading the model", read - began);
        page.source.took(
            "assembly and initial conditions",
            CpuClock::Process.now() - read,
        );
        if let Err(error) = &instance {
            page.write_unstarted(model, error)?;
        }
    }
    instance.map_err(Failure::input)
}

/// Simulates from start to stop. Returns the CPU time of the integration, without that of recording.
fn simulate(
    instance: &mut Instance,
    experiment: &Experiment,
    points: &mut Option<TimeGrid>,
    recorder: &mut Recorder,
) -> (biela::Result<()>, Duration) {
    let recording = recorder.spent();
    let began = CpuClock::Process.now();
    let result = advance(instance, experiment.stop, points, recorder);
    let cpu = CpuClock::Process.now() - began;
    (result, cpu.saturating_sub(recorder.spent() - recording))
}

/// Steps to `stop`, in one call or in one for each communication point.
fn advance(
    instance: &mut Instance,
    stop: f64,
    points: &mut Option<TimeGrid>,
    recorder: &mut Recorder,
) -> biela::Result<()> {
    // t + H may differ from the communication point by rounding; the difference is not a step.
    let rounding = 4.0 * f64::EPSILON * stop.abs();
    while stop - instance.time() > rounding {
        let now = instance.time();
        let target = points
            .as_mut()
            .and_then(|grid| std::iter::from_fn(|| grid.due(stop)).find(|&t| t > now + rounding))
            .unwrap_or(stop);
        instance.step_observed(now, target - now, recorder)?;
    }
    Ok(())
}

impl Arguments {
    fn experiment(&self, model: &Model) -> Result<Experiment, Failure> {
        experiment::planned(model, self.stop, self.interval)
    }

    fn communication_points(&self, experiment: &Experiment) -> Result<Option<TimeGrid>, Failure> {
        self.communication
            .map(|spacing| time_grid("--communication", spacing, experiment))
            .transpose()
    }

    fn recorder(
        &self,
        instance: &mut Instance,
        outputs: &Outputs,
        experiment: &Experiment,
        declared: usize,
    ) -> Result<Recorder, Failure> {
        let table = match &self.out {
            None => None,
            Some(path) => {
                let rows = match experiment.interval {
                    None => RowTimes::EveryStep,
                    Some(spacing) => RowTimes::At(time_grid("--interval", spacing, experiment)?),
                };
                let names: Vec<&str> = outputs.variables.iter().map(|v| v.name.as_str()).collect();
                Some(recorder::table(
                    path,
                    &names,
                    outputs.references.clone(),
                    rows,
                )?)
            }
        };
        let frames = self.plot.as_ref().map(|_| FrameSampler {
            grid: TimeGrid::parts(experiment.start, experiment.stop, plot::FRAMES),
            references: [outputs.references.as_slice(), &outputs.hidden].concat(),
            animation: Animation::default(),
        });
        let mut recording = None;
        if self.report.is_some() || self.gltf.is_some() || self.frames.is_some() {
            let spacing = experiment.interval;
            let rows = spacing.map(|spacing| time_grid("--interval", spacing, experiment));
            recording = Some(
                report::recording(instance, declared, rows.transpose()?).map_err(Failure::input)?,
            );
        }
        Recorder::new(table, frames, recording, instance)
    }

    fn page(&self, model: &Model, experiment: &Experiment) -> Result<Option<ReportPage>, Failure> {
        (self.report.as_ref())
            .map(|path| ReportPage::new(path, &self.model, model, experiment, &self.set))
            .transpose()
    }

    fn animation_files(&self, model: &Model) -> Result<Option<AnimationFiles>, Failure> {
        AnimationFiles::open(model, self.gltf.as_deref(), self.frames.as_deref())
    }

    /// All files of results.
    fn results(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [
            &self.out,
            &self.plot,
            &self.report,
            &self.gltf,
            &self.frames,
        ];
        files.into_iter().flatten()
    }

    fn uses_standard_output(&self) -> bool {
        self.results().any(|path| output::is_standard(path))
    }

    fn one_standard_output(&self) -> Result<(), Failure> {
        let streams = self
            .results()
            .filter(|path| output::is_standard(path))
            .count();
        if streams + usize::from(self.json) > 1 {
            return Err(Failure::Input(
                "only one of --json, --out -, --plot -, --report - and --gltf - can have standard output"
                    .to_owned(),
            ));
        }
        for path in self.results() {
            if same_file(path, &self.model) {
                return Err(Failure::Input(format!(
                    "\"{}\" is the model itself; results would overwrite it",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    fn files(&self) -> Vec<&Path> {
        self.results().map(PathBuf::as_path).collect()
    }
}

/// The declared outputs, and those that only the plot needs.
struct Outputs {
    variables: Vec<Variable>,
    references: Vec<u32>,
    hidden: Vec<u32>,
}

impl Outputs {
    /// The last `hidden` outputs are those of the plot.
    fn of(instance: &Instance, hidden: usize) -> Self {
        let declared = instance.model().outputs.len() - hidden;
        let mut outputs = Self {
            variables: Vec::new(),
            references: Vec::new(),
            hidden: Vec::new(),
        };
        for (reference, variable) in (0..).zip(instance.variables()) {
            if variable.causality != Causality::Output {
                continue;
            }
            if outputs.references.len() >= declared {
                outputs.hidden.push(reference);
            } else {
                outputs.references.push(reference);
                outputs.variables.push(variable.clone());
            }
        }
        outputs
    }
}

/// Results of a run for the summary and `--json`.
struct Results {
    name: String,
    tolerance: f64,
    start: f64,
    reached: f64,
    statistics: Statistics,
    cpu: Duration,
    energy_drift: f64,
    finals: Vec<f64>,
}

impl Results {
    /// Simulated time over CPU time: above 1 is faster than real time.
    fn real_time_factor(&self) -> f64 {
        (self.reached - self.start) / self.cpu.as_secs_f64()
    }

    /// The object that `--json` prints, with its keys in the documented order.
    fn json(&self, outputs: &[Variable]) -> String {
        let s = &self.statistics;
        let names = outputs.iter().map(|output| output.name.clone());
        // Numbers that are not finite become null.
        let finals: Map<String, Value> = names
            .zip(self.finals.iter().map(|&value| Value::from(value)))
            .collect();
        let mut object: Map<String, Value> = (COUNTERS.iter())
            .filter(|counter| counter.shown.contains(&Shown::Json))
            .map(|counter| {
                let value = match (counter.value)(s) {
                    CounterValue::Count(count) => Value::from(count),
                    CounterValue::Real(value) => Value::from(value),
                };
                (counter.name.to_owned(), value)
            })
            .collect();
        for (key, value) in [
            ("cpu_seconds", Value::from(self.cpu.as_secs_f64())),
            ("real_time_factor", Value::from(self.real_time_factor())),
            ("energy_drift", Value::from(self.energy_drift)),
            ("final", Value::from(finals)),
        ] {
            object.insert(key.to_owned(), value);
        }
        one_line(&Value::from(object))
    }

    fn subtitle(&self) -> String {
        format!(
            "{} s to {} s, {} steps, {} rejected, tolerance {}",
            Number(self.start),
            Number(self.reached),
            self.statistics.steps,
            self.statistics.rejected,
            Number(self.tolerance)
        )
    }

    fn summary(&self, outputs: &[Variable], files: &[&Path]) -> String {
        let s = &self.statistics;
        let mut text = format!(
            "{}: {} s to {} s\n\
             \x20 steps         {}, {} rejected, {} without convergence; from {:.2e} s to {:.2e} s\n\
             \x20 work          {} Newton iterations, {} residuals, {} factorizations, {} solves\n\
             \x20 worst error   {:.2} of the tolerance {}\n\
             \x20 CPU           {:.3} ms, {:.0} times faster than real time\n\
             \x20 energy drift  {:.2e} J\n",
            self.name,
            Number(self.start),
            Number(self.reached),
            s.steps,
            s.rejected,
            s.newton_failures,
            s.smallest_step,
            s.largest_step,
            s.newton_iterations,
            s.residuals,
            s.factorizations,
            s.solves,
            s.worst_error,
            Number(self.tolerance),
            self.cpu.as_secs_f64() * 1e3,
            self.real_time_factor(),
            self.energy_drift,
        );
        let width = outputs.iter().map(|o| o.name.len()).max().unwrap_or(0);
        for (i, (output, value)) in outputs.iter().zip(&self.finals).enumerate() {
            let head = if i == 0 { "at the end" } else { "" };
            writeln!(
                text,
                "  {head:<12}  {:<width$}  {} {}",
                output.name,
                Number(*value),
                output.unit
            )
            .expect("a String takes everything");
        }
        for file in files {
            writeln!(text, "  wrote         {}", file.display())
                .expect("a String takes everything");
        }
        text
    }
}

/// JSON text on one line, with a blank after every comma and colon.
fn one_line(value: &Value) -> String {
    let Value::Object(map) = value else {
        return value.to_string();
    };
    let entry = |(key, value): (&String, &Value)| {
        format!("{}: {}", Value::from(key.as_str()), one_line(value))
    };
    let entries: Vec<String> = map.iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_order_of_keys_and_writes_null_for_nan() {
        let inner = Map::from_iter([("say \"x\"".to_owned(), Value::from(-1e-300))]);
        let object = Map::from_iter([
            ("steps".to_owned(), Value::from(u64::MAX)),
            ("a".to_owned(), Value::from(0.1)),
            ("b".to_owned(), Value::from(f64::NAN)),
            ("final".to_owned(), Value::from(inner)),
            ("empty".to_owned(), Value::from(Map::new())),
        ]);
        assert_eq!(
            one_line(&Value::from(object)),
            "{\"steps\": 18446744073709551615, \"a\": 0.1, \"b\": null, \
             \"final\": {\"say \\\"x\\\"\": -1e-300}, \"empty\": {}}"
        );
    }

    #[test]
    fn arguments_that_are_not_durations_are_errors() {
        for text in ["0", "-1", "nan", "inf", "1e999", "", "1s"] {
            assert!(positive(text).is_err(), "{text}");
        }
        assert_eq!(positive("1e-3"), Ok(1e-3));
        assert_eq!(finite("-2"), Ok(-2.0));
    }

    #[test]
    fn assignments_need_a_name_and_a_finite_number() {
        assert_eq!(assignment("k = 2e3"), Ok(("k".to_owned(), 2e3)));
        assert_eq!(assignment("a.b=-1"), Ok(("a.b".to_owned(), -1.0)));
        for text in ["k", "=1", "k=", "k=nan", "k=1=2"] {
            assert!(assignment(text).is_err(), "{text}");
        }
    }
}
