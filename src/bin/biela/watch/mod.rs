//! `biela watch`: serves the page of a model on loopback and runs the model again whenever its file is saved.
//!
//! ```text
//!   file ── WatchedSource ──> run ──> page or problem ──> Board ──> server ──> browser
//! ```
//!
//! What the browser shows is kept on the board: the page of the last run that could be made, and what is wrong with the file now.

mod board;
mod server;
mod source;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use biela::report::{Recording, ReportData};
use biela::study::{SetValue, advance};
use biela::{Instance, Model, Observer, StepProbe};

use crate::Failure;
use crate::argument::{assignment, finite, positive};
use crate::cpu_time::CpuClock;
use crate::csv::Number;
use crate::experiment::{self, time_grid};
use crate::output;
use crate::report::{self, PageSource};
use board::{Board, FileProblem};
use source::WatchedSource;

/// How often a long run looks whether its file was saved meanwhile.
const GLANCE: Duration = Duration::from_millis(250);

/// Arguments of `biela watch`.
#[derive(clap::Args)]
#[command(
    after_help = "The page keeps its time and view over a run. Mistakes of the file are shown with line and column and go \
                  away when they are mended. Only programs on this computer can reach the page. Ctrl-C ends."
)]
pub struct Arguments {
    /// Model file (TOML, or JSON by its ending)
    model: PathBuf,

    /// Port on 127.0.0.1 [default: 8642, or a free one if that is taken]
    #[arg(long, value_name = "P")]
    port: Option<u16>,

    /// Open the page in the default browser
    #[arg(long)]
    open: bool,

    /// End of the simulation in s [default: the model's]
    #[arg(long, value_name = "T", value_parser = finite, allow_negative_numbers = true)]
    stop: Option<f64>,

    /// Distance of the rows in s [default: the model's; without one, a row for each accepted step]
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true)]
    interval: Option<f64>,

    /// Start value of a parameter or input, any number of the model by its dotted name, or a setting of the solver
    /// (solver.formulation=relative); may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, SetValue)>,
}

/// Serves the page until the program is ended.
pub fn watch(arguments: &Arguments) -> Result<(), Failure> {
    let mut source = WatchedSource::new(&arguments.model);
    // A wrong path is an error at once; a file that disappears later may come back.
    source.read().map_err(Failure::Input)?;
    let listener = server::listen(arguments.port)?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::Input(format!("cannot listen on 127.0.0.1: {error}")))?;
    let board = Arc::new(Board::new());
    server::start(listener, Arc::clone(&board));
    output::print(&format!(
        "{} is shown at http://{address}/\n",
        arguments.model.display()
    ))?;
    if arguments.open {
        open(&format!("http://{address}/"));
    }
    loop {
        board.running();
        match arguments.run(&mut source) {
            Outcome::Saved => continue,
            Outcome::Page(page, told) => {
                board.publish(|version| page.live(version));
                output::print(&format!("{told}\n"))?;
            }
            Outcome::Problem(problem, page) => {
                eprintln!("biela: {}", problem.sentence);
                board.object(problem, |version| page.live(version));
            }
        }
        source.wait();
    }
}

/// How a run ended.
enum Outcome {
    /// The file was saved while it ran: it has to begin again.
    Saved,
    /// With a page and a line about it.
    Page(LivePage, String),
    /// Nothing was simulated; the page has only the text.
    Problem(FileProblem, LivePage),
}

/// A page that lacks only its version.
struct LivePage {
    source: PageSource,
    data: ReportData,
}

impl LivePage {
    fn live(&self, version: &str) -> String {
        self.data.live_page(&self.source.measured, version)
    }
}

impl Arguments {
    fn run(&self, source: &mut WatchedSource) -> Outcome {
        let text = match source.read() {
            Ok(text) => text,
            Err(sentence) => return self.problem(String::new(), sentence),
        };
        let began = CpuClock::Process.now();
        let origin = self.model.display().to_string();
        let read = Model::from_text_in(&text, &origin, self.model.parent())
            .and_then(|mut model| experiment::assign(&mut model, &self.set).map(|()| model))
            .map_err(Failure::input)
            .and_then(|model| {
                let experiment = experiment::planned(&model, self.stop, self.interval)?;
                let spacing = experiment.interval;
                let rows = spacing.map(|spacing| time_grid("--interval", spacing, &experiment));
                Ok((model, rows.transpose()?, experiment))
            });
        let (model, rows, experiment) = match read {
            Ok(read) => read,
            Err(
                Failure::Input(sentence)
                | Failure::Simulation(sentence)
                | Failure::Interrupted(sentence),
            ) => return self.problem(text, sentence),
            // Standard output is not written here.
            Err(_) => return self.problem(text, String::new()),
        };
        let numbers = experiment::numbers(&self.set);
        let mut page = PageSource::new(text, &self.model, &model, &experiment, &numbers);
        page.took("reading the model", CpuClock::Process.now() - began);
        let began = CpuClock::Process.now();
        let started = Instance::from_model(model.clone()).and_then(|mut instance| {
            instance.initialize(experiment.start, experiment.stop, 0.0)?;
            let recording = report::recording(&mut instance, model.outputs.len(), rows)?;
            Ok((instance, recording))
        });
        page.took(
            "assembly and initial conditions",
            CpuClock::Process.now() - began,
        );
        let (mut instance, recording) = match started {
            Ok(started) => started,
            Err(error) => {
                let data = page.unstarted(&model, &error);
                return Outcome::Page(LivePage { source: page, data }, error.to_string());
            }
        };
        let began = CpuClock::Process.now();
        let mut observer = WatchingObserver {
            recording,
            source,
            looked: Instant::now(),
            saved: false,
        };
        let (start, stop) = (experiment.start, experiment.stop);
        let result = advance(&mut instance, stop, &mut None, &mut observer);
        let WatchingObserver {
            recording, saved, ..
        } = observer;
        if saved {
            return Outcome::Saved;
        }
        page.took("integrating and recording", CpuClock::Process.now() - began);
        let told = told(&instance, start, &result);
        let data = page.ended(&mut instance, recording, &result);
        Outcome::Page(LivePage { source: page, data }, told)
    }

    /// The page of a text that cannot be simulated: only the text.
    fn problem(&self, text: String, sentence: String) -> Outcome {
        let problem = FileProblem::new(&sentence, &text);
        let stem = self.model.file_stem().unwrap_or_default();
        let model = Model {
            name: stem.to_string_lossy().into_owned(),
            ..Model::default()
        };
        let mut source = PageSource::new(text, &self.model, &model, &model.experiment, &[]);
        let data = source.unread(&model);
        Outcome::Problem(problem, LivePage { source, data })
    }
}

/// One line about a run.
fn told(instance: &Instance, start: f64, result: &biela::Result<()>) -> String {
    let statistics = instance.statistics();
    let span = format!(
        "{} s to {} s, {} steps, {} rejected",
        Number(start),
        Number(instance.time()),
        statistics.steps,
        statistics.rejected
    );
    match result {
        Ok(()) => span,
        Err(error) => format!("{span}; stopped: {error}"),
    }
}

/// Records a run, and ends it when its file is saved.
struct WatchingObserver<'a> {
    recording: Recording,
    source: &'a WatchedSource,
    looked: Instant,
    saved: bool,
}

impl Observer for WatchingObserver<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        self.recording.accepted(probe)?;
        if self.looked.elapsed() < GLANCE {
            return Ok(());
        }
        self.looked = Instant::now();
        self.saved = self.source.is_changed();
        match self.saved {
            true => Err(biela::Error::Cancelled { time: probe.end() }),
            false => Ok(()),
        }
    }
}

/// Asks the desktop to open the page; where there is none, the address was printed.
fn open(address: &str) {
    let command = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let quiet = std::process::Stdio::null;
    if std::process::Command::new(command)
        .arg(address)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn()
        .is_err()
    {
        eprintln!("biela: no browser could be opened; the page is at {address}");
    }
}
