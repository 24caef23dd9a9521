//! `--report`: the page of a run. What stands in it is in `biela::report`; here it gets its text, its times and its file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use biela::model::Experiment;
use biela::report::{FailureReport, Measured, Recording, Report, ReportData, RowSchedule};
use biela::study::TimeGrid;
use biela::{Instance, Model};

use crate::Failure;
use crate::cpu_time::CpuClock;
use crate::model_file;
use crate::output::{self, OutputFile};

/// What the page tells besides the run itself.
pub struct PageSource {
    text: String,
    name: String,
    formulation: String,
    span: [f64; 2],
    assignments: Vec<(String, f64)>,
    /// Times so far.
    pub measured: Measured,
}

/// Begins to record an initialised instance; a plot adds outputs behind the declared ones, which are not shown.
pub fn recording(
    instance: &mut Instance,
    declared: usize,
    rows: Option<TimeGrid>,
) -> biela::Result<Recording> {
    let times: RowSchedule = rows.map(|grid| -> Box<dyn Iterator<Item = f64>> { Box::new(grid) });
    Recording::new(instance, declared, times)
}

impl PageSource {
    /// Of a model with this text.
    pub fn new(
        text: String,
        model_path: &Path,
        model: &Model,
        experiment: &Experiment,
        assignments: &[(String, f64)],
    ) -> Self {
        Self {
            text,
            name: (model_path.file_name()).map_or_else(String::new, |n| n.to_string_lossy().into()),
            formulation: biela::formulation::resolved_formulation(model)
                .name()
                .to_owned(),
            span: [experiment.start, experiment.stop],
            assignments: assignments.to_vec(),
            measured: Measured::default(),
        }
    }

    /// Tells what a part of the run took.
    pub fn took(&mut self, part: &'static str, time: Duration) {
        self.measured.parts.push((part, time.as_secs_f64()));
    }

    /// The page of a run that has ended, well or not.
    pub fn ended(
        &mut self,
        instance: &mut Instance,
        mut recording: Recording,
        outcome: &biela::Result<()>,
    ) -> ReportData {
        let mut failure = None;
        if let Err(error) = outcome {
            // The state that was reached; if even that cannot be read, the rows before it are shown.
            let _ = recording.failed(instance);
            let time = Some(instance.time());
            failure = Some(FailureReport::of(error, instance.model(), time));
        }
        let model = instance.model().clone();
        self.data(&model, Some(instance), &recording, failure.as_ref())
    }

    /// The page of a mechanism that could not be started: its pose as written, and why.
    pub fn unstarted(&mut self, model: &Model, error: &biela::Error) -> ReportData {
        let recording = Recording::of_initial_pose(model);
        let failure = FailureReport::of(error, model, None);
        self.data(model, None, &recording, Some(&failure))
    }

    /// The page of a text that is no model yet.
    pub fn unread(&mut self, model: &Model) -> ReportData {
        self.data(model, None, &Recording::of_initial_pose(model), None)
    }

    fn data(
        &mut self,
        model: &Model,
        instance: Option<&Instance>,
        recording: &Recording,
        failure: Option<&FailureReport>,
    ) -> ReportData {
        let began = CpuClock::Process.now();
        let report = Report {
            model,
            text: &self.text,
            file: &self.name,
            span: self.span,
            formulation: &self.formulation,
            assignments: &self.assignments,
            notes: Vec::new(),
            instance,
            recording,
            failure,
        };
        let data = report.data();
        self.took("writing this page", CpuClock::Process.now() - began);
        data
    }
}

/// The page while its run is under way.
pub struct ReportPage {
    path: PathBuf,
    file: OutputFile,
    /// What it will tell.
    pub source: PageSource,
}

impl ReportPage {
    /// Opens the file and reads the model's text.
    pub fn new(
        path: &Path,
        model_path: &Path,
        model: &Model,
        experiment: &Experiment,
        assignments: &[(String, f64)],
    ) -> Result<Self, Failure> {
        let text = model_file::text(model_path)?;
        Ok(Self {
            path: path.to_owned(),
            file: output::create(path)?,
            source: PageSource::new(text, model_path, model, experiment, assignments),
        })
    }

    /// Writes the page of a run that has ended, well or not.
    pub fn write(
        &mut self,
        instance: &mut Instance,
        recording: Recording,
        outcome: &biela::Result<()>,
    ) -> Result<(), Failure> {
        let data = self.source.ended(instance, recording, outcome);
        self.put(&data)
    }

    /// Writes the page of a mechanism that could not be started.
    pub fn write_unstarted(&mut self, model: &Model, error: &biela::Error) -> Result<(), Failure> {
        let data = self.source.unstarted(model, error);
        self.put(&data)
    }

    fn put(&mut self, data: &ReportData) -> Result<(), Failure> {
        let page = data.page(&self.source.measured);
        (self.file.write_all(page.as_bytes()))
            .and_then(|()| self.file.complete())
            .map_err(|error| output::failure(&self.path, &error))
    }
}
