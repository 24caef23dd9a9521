//! `biela run`: simulates a model from its start to its stop, in one go or in communication steps.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use biela::component::{LogLevel, Logger};
use biela::model::Experiment;
use biela::study::{AccuracySearch, SetValue, TimeGrid, advance};
use biela::{Instance, Model, Variable};

use crate::Failure;
use crate::analysis_point::StartPoint;
use crate::animation_files::AnimationFiles;
use crate::argument::{assignment, finite, input_law, pair, positive};
use crate::cpu_time::CpuClock;
use crate::csv::{Number, rounded};
use crate::destinations::{Destinations, same_file};
use crate::element_positions::ElementPositions;
use crate::experiment::{self, time_grid};
use crate::interrupt;
use crate::model_file;
use crate::output;
use crate::plot::{self, Animation, PlotChoice};
use crate::recorder::{self, FrameSampler, Monitor, Recorder, RowTimes};
use crate::report::{self, ReportPage};
use crate::summary::{FinalBars, Results};
use crate::terminal::Progress;

/// Arguments of `biela run`.
#[derive(clap::Args)]
#[command(
    after_help = "Prints a short summary, unless --json or `--out -` use standard output. real_time_factor is simulated \
                  time over CPU time.\n\nExit status: 0 done, 1 the simulation failed (results up to there are kept), \
                  2 bad input (nothing was simulated), 130 ended by Ctrl-C (results up to there are kept)."
)]
pub struct Arguments {
    /// Model file (TOML, or JSON by its ending); `-` is standard input
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

    /// Write results to a file; its ending says what: .csv the outputs as a table (`time` first), .svg or .png a picture,
    /// .html a page, .glb the moving mechanism; `-` is the table on standard output. May be repeated
    #[arg(short, long, value_name = "FILE")]
    out: Vec<PathBuf>,

    /// Write the unit of each column in a second head line of the table
    #[arg(long)]
    units: bool,

    /// Draw the moving mechanism and its outputs over time: .svg moves, .png shows the start
    #[arg(long, value_name = "F.svg|F.png")]
    plot: Option<PathBuf>,

    /// Outputs that the picture shows over time [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    show: Vec<String>,

    /// Draw the second output over the first; may be repeated
    #[arg(long, value_name = "X,Y", value_parser = pair)]
    xy: Vec<[String; 2]>,

    /// Write a page that shows the run: moving mechanism, plots, steps of the solver, energy, model text. It needs no
    /// network and no other file
    #[arg(long, value_name = "F.html")]
    report: Option<PathBuf>,

    /// Start from the initial conditions or from the static equilibrium next to them [default: the model's]
    #[arg(long, value_name = "START", value_enum)]
    from: Option<StartPoint>,

    /// Write the moving mechanism as binary glTF 2.0, for viewers, Blender and game engines
    #[arg(long, value_name = "F.glb")]
    gltf: Option<PathBuf>,

    /// Write pictures of the moving mechanism into a folder: frame_00000.png and so on, 25 for each second, and their
    /// times in frames.csv
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,

    /// Start value of a parameter or input, or any number of the model by its dotted name, as a number or an expression
    /// ('30 deg'); or a setting (solver.formulation=relative, expose=all); may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, SetValue)>,

    /// Tolerance of the solver, as --set solver.tolerance=E
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    tolerance: Option<f64>,

    /// State the error of every output, by a companion run a hundred times looser: in the summary, --json, the page and, as
    /// columns NAME.error, the table
    #[arg(long)]
    error_bars: bool,

    /// Error allowed over the whole run, relative to the range of each output: the solver chooses its tolerance, and the
    /// run is repeated with a tighter one until the error bars are below A
    #[arg(long, value_name = "A", value_parser = positive, allow_negative_numbers = true)]
    accuracy: Option<f64>,

    /// Formulation of the equations: auto, absolute, relative, global, hybrid, topological
    #[arg(long, value_name = "NAME")]
    formulation: Option<String>,

    /// Law of an input over time: a file with times and values, a law such as `step(0.5, 0, 10)`, `ramp(begin, end, from, to)`,
    /// `sine(amplitude, frequency)`, or an expression of t; may be repeated
    #[arg(long, value_name = "NAME=LAW", value_parser = input_law)]
    input: Vec<(String, String)>,

    /// Print one JSON object: counters, CPU time, energy drift, final outputs
    #[arg(long)]
    json: bool,

    /// Print neither the summary nor progress; errors are still told
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Tell events, repeated trial steps and warnings while the model runs
    #[arg(short, long)]
    verbose: bool,
}

/// Simulates a model and writes the results.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let files = arguments.files()?;
    let began = CpuClock::Process.now();
    let mut model = model_file::read(&arguments.model)?;
    arguments.change(&mut model)?;
    let experiment = arguments.experiment(&model)?;
    let mut page = arguments.page(&files, &model, &experiment)?;
    let declared = model.outputs.len();
    let choice = arguments.choice(&files)?;
    let layout = (files.plot.as_ref()).map(|_| plot::prepare(&mut model, choice.clone()));
    let name = model.name.clone();
    let hidden = layout.as_ref().map_or(0, |layout| layout.hidden);

    let mut search = accuracy_search(&model, &files)?;
    let animated = AnimationFiles::open(&model, &files)?;
    let mut plot_file = files.plot.as_deref().map(output::create).transpose()?;
    let (mut instance, outputs, mut recorder, (result, cpu)) = loop {
        let tolerance = search.as_ref().map_or(0.0, AccuracySearch::tolerance);
        let mut instance = initialized(model.clone(), &experiment, tolerance, &mut page, began)?;
        arguments.set_logger(&mut instance);
        let mut points = arguments.communication_points(&experiment)?;
        let outputs = Outputs::of(&instance, hidden);
        choice.check(&outputs.variables)?;
        let mut recorder =
            arguments.recorder(&files, &mut instance, &outputs, &experiment, declared)?;
        interrupt::catch();
        let (result, cpu) = simulate(&mut instance, &experiment, &mut points, &mut recorder);
        recorder.end_progress();
        let repeat = |search: &mut AccuracySearch| result.is_ok() && search.repeat(&instance);
        if !search.as_mut().is_some_and(repeat) {
            break (instance, outputs, recorder, (result, cpu));
        }
    };
    let recording_failure = recorder.take_failure();
    write_recorded(&mut recorder, animated, page, &mut instance, (&result, cpu))?;
    let animation = recorder.finish()?;

    let mut results = Results {
        name,
        tolerance: instance.tolerance(),
        start: experiment.start,
        reached: instance.time(),
        statistics: instance.statistics(),
        cpu,
        energy_drift: instance.energy_drift(),
        finals: vec![f64::NAN; outputs.references.len()],
        error_bars: FinalBars::of(&mut instance, &outputs.references),
        runs: search.as_ref().map_or(1, AccuracySearch::runs),
    };
    let read = instance.get_real(&outputs.references, &mut results.finals);

    if let (Some(path), Some(file), Some(layout), Some(animation)) =
        (&files.plot, &mut plot_file, &layout, &animation)
    {
        let subtitle = results.subtitle();
        let text = plot::draw(
            instance.model(),
            layout,
            &outputs.variables,
            animation,
            &subtitle,
        );
        let bytes = plot::file_bytes(path, text)?;
        file.write_all(&bytes)
            .and_then(|()| file.complete())
            .map_err(|error| output::failure(path, &error))?;
    }
    if let Some(failure) = recording_failure {
        return Err(failure);
    }
    if arguments.json {
        output::print(&format!("{}\n", results.json(&outputs.variables)))?;
    } else if !files.uses_standard_output() && !arguments.quiet {
        let written: Vec<&Path> = files.all().map(PathBuf::as_path).collect();
        output::print(&results.summary(&outputs.variables, &written))?;
    }
    ended(result.and(read), results.reached, experiment.stop)
}

/// The search for a tolerance, if the model asks for an accuracy.
fn accuracy_search(model: &Model, files: &Destinations) -> Result<Option<AccuracySearch>, Failure> {
    let search = AccuracySearch::of(model);
    if search.is_some() && files.table.as_deref().is_some_and(output::is_standard) {
        let message = "with an accuracy the run may be repeated: write the table to a file, not to standard output";
        return Err(Failure::Input(message.to_owned()));
    }
    Ok(search)
}

/// The outcome of a run that was left at `reached`.
fn ended(result: biela::Result<()>, reached: f64, stop: f64) -> Result<(), Failure> {
    let (reached, stop) = (rounded(reached, 9), Number(stop));
    match result {
        Ok(()) => Ok(()),
        Err(biela::Error::Cancelled { .. }) if interrupt::requested() => Err(Failure::Interrupted(
            format!("interrupted at t = {reached} s of {stop} s; results up to there are kept"),
        )),
        Err(error) => Err(Failure::Simulation(format!(
            "the simulation stopped at t = {reached} s, before {stop} s: {error}"
        ))),
    }
}

/// Writes what shows the whole run: animations and the page.
fn write_recorded(
    recorder: &mut Recorder,
    animated: Option<AnimationFiles>,
    page: Option<ReportPage>,
    instance: &mut Instance,
    (result, cpu): (&biela::Result<()>, Duration),
) -> Result<(), Failure> {
    let Some(recording) = recorder.take_recording() else {
        return Ok(());
    };
    if let Some(mut animated) = animated {
        animated.write(instance.model(), &recording)?;
    }
    if let Some(mut page) = page {
        page.source.took("integrating", cpu);
        page.source.took("recording rows", recorder.spent());
        page.write(instance, recording, result)?;
    }
    Ok(())
}

/// An instance at its start. If the mechanism cannot be started, the page says why.
fn initialized(
    model: Model,
    experiment: &Experiment,
    tolerance: f64,
    page: &mut Option<ReportPage>,
    began: Duration,
) -> Result<Instance, Failure> {
    let read = CpuClock::Process.now();
    let positions = ElementPositions::of(&model);
    let as_written = page.as_ref().map(|_| model.clone());
    let instance = Instance::from_model(model).and_then(|mut instance| {
        instance.initialize(experiment.start, experiment.stop, tolerance)?;
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
    instance.map_err(|error| Failure::start(positions.locate(error)))
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

impl Arguments {
    fn experiment(&self, model: &Model) -> Result<Experiment, Failure> {
        experiment::planned(model, self.stop, self.interval)
    }

    /// With `--verbose` the messages of the instance go to standard error.
    fn set_logger(&self, instance: &mut Instance) {
        if self.verbose {
            instance.set_logger(Some(Logger::new(LogLevel::Info, |message| {
                eprintln!("{}: {}", message.level.name(), message.text);
            })));
        }
    }

    fn communication_points(&self, experiment: &Experiment) -> Result<Option<TimeGrid>, Failure> {
        self.communication
            .map(|spacing| time_grid("--communication", spacing, experiment))
            .transpose()
    }

    /// What the picture shows.
    fn choice(&self, files: &Destinations) -> Result<PlotChoice, Failure> {
        if files.plot.is_none() && !(self.show.is_empty() && self.xy.is_empty()) {
            let message = "--show and --xy choose what a picture shows: name one with --plot F.svg";
            return Err(Failure::Input(message.to_owned()));
        }
        Ok(PlotChoice {
            shown: self.show.clone(),
            pairs: self.xy.clone(),
        })
    }

    /// Changes the model as the arguments say.
    fn change(&self, model: &mut Model) -> Result<(), Failure> {
        if let Some(from) = self.from {
            model.experiment.initial = from.into();
        }
        experiment::assign(model, &self.set).map_err(Failure::input)?;
        if let Some(tolerance) = self.tolerance {
            model
                .set("solver.tolerance", tolerance)
                .map_err(Failure::input)?;
        }
        model.solver.error_bars |= self.error_bars;
        if let Some(accuracy) = self.accuracy {
            (model.set("solver.accuracy", accuracy)).map_err(Failure::input)?;
        }
        if let Some(word) = &self.formulation {
            (model.set_word("solver.formulation", word)).map_err(Failure::input)?;
        }
        for (i, (name, law)) in self.input.iter().enumerate() {
            if self.input[..i].iter().any(|(other, _)| other == name) {
                let message = format!("--input {name}: two laws for one input");
                return Err(Failure::Input(message));
            }
            (model.set_signal_text(name, law, None)).map_err(Failure::input)?;
        }
        Ok(())
    }

    fn recorder(
        &self,
        files: &Destinations,
        instance: &mut Instance,
        outputs: &Outputs,
        experiment: &Experiment,
        declared: usize,
    ) -> Result<Recorder, Failure> {
        let table = match &files.table {
            None => None,
            Some(path) => {
                let rows = match experiment.interval {
                    None => RowTimes::EveryStep,
                    Some(spacing) => RowTimes::At(time_grid("--interval", spacing, experiment)?),
                };
                let (columns, references) = outputs.columns(instance, self.error_bars);
                Some(recorder::table(
                    path, &columns, references, rows, self.units,
                )?)
            }
        };
        let frames = files.plot.as_ref().map(|_| FrameSampler {
            grid: TimeGrid::parts(experiment.start, experiment.stop, plot::FRAMES),
            references: [outputs.references.as_slice(), &outputs.hidden].concat(),
            animation: Animation::default(),
        });
        let mut recording = None;
        if files.need_recording() {
            let spacing = experiment.interval;
            let rows = spacing.map(|spacing| time_grid("--interval", spacing, experiment));
            let begun = report::recording(instance, declared, rows.transpose()?);
            recording = Some(begun.map_err(Failure::input)?);
        }
        let monitor = Monitor {
            progress: match self.quiet {
                true => None,
                false => Progress::new([experiment.start, experiment.stop]),
            },
        };
        Recorder::new(table, frames, recording, monitor, instance)
    }

    fn page(
        &self,
        files: &Destinations,
        model: &Model,
        experiment: &Experiment,
    ) -> Result<Option<ReportPage>, Failure> {
        let numbers = experiment::numbers(&self.set);
        (files.report.as_ref())
            .map(|path| ReportPage::new(path, &self.model, model, experiment, &numbers))
            .transpose()
    }

    /// The files of results, each with one use.
    fn files(&self) -> Result<Destinations, Failure> {
        let mut files = Destinations::new(&self.out, self.plot.as_ref(), self.report.as_ref())?;
        files.animate(self.gltf.as_ref(), self.frames.as_ref())?;
        if self.units && files.table.is_none() {
            let message = "--units writes a line of the table: name one with --out F.csv";
            return Err(Failure::Input(message.to_owned()));
        }
        let streams = files.all().filter(|path| output::is_standard(path)).count();
        if streams + usize::from(self.json) > 1 {
            return Err(Failure::Input(
                "only one of --json, --out -, --plot -, --report - and --gltf - can have standard output"
                    .to_owned(),
            ));
        }
        for path in files.all().filter(|path| !output::is_standard(path)) {
            if same_file(path, &self.model) {
                return Err(Failure::Input(format!(
                    "\"{}\" is the model itself; results would overwrite it",
                    path.display()
                )));
            }
        }
        Ok(files)
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
        let all: Vec<u32> = instance.outputs().collect();
        let (references, hidden) = all.split_at(all.len() - hidden);
        let variables = instance.variables();
        Self {
            variables: (references.iter())
                .map(|reference| variables[*reference as usize].clone())
                .collect(),
            references: references.to_vec(),
            hidden: hidden.to_vec(),
        }
    }

    /// Columns of the table; with `error_bars` each output is followed by its error bar.
    fn columns(&self, instance: &Instance, error_bars: bool) -> (Vec<Variable>, Vec<u32>) {
        let mut references = Vec::new();
        for output in &self.references {
            references.push(*output);
            references.extend(instance.error_bar(*output).filter(|_| error_bars));
        }
        let variable = |reference: &u32| instance.variables()[*reference as usize].clone();
        (references.iter().map(variable).collect(), references)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let number = |name: &str, value: f64| Ok((name.to_owned(), SetValue::Number(value)));
        assert_eq!(assignment("k = 2e3"), number("k", 2e3));
        assert_eq!(assignment("a.b=-1"), number("a.b", -1.0));
        let word = SetValue::Word("relative".to_owned());
        let name = "solver.formulation".to_owned();
        assert_eq!(assignment("solver.formulation=relative"), Ok((name, word)));
        for text in ["k", "=1", "k=", "k=nan", "k=inf", "k=1=2", "k=two words"] {
            assert!(assignment(text).is_err(), "{text}");
        }
    }
}
