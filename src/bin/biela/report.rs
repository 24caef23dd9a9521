//! `--report`: the page of a run. What stands in it is in `biela::report`; here it gets its text, its times and its file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use biela::model::Experiment;
use biela::report::{FailureReport, Measured, Recording, Report, RowSchedule};
use biela::{Instance, Model};

use crate::Failure;
use crate::cpu_time::CpuClock;
use crate::model_file;
use crate::output::{self, OutputFile};
use crate::time_grid::TimeGrid;

/// The page while its run is under way.
pub struct ReportPage {
    path: PathBuf,
    file: OutputFile,
    text: String,
    name: String,
    formulation: String,
    span: [f64; 2],
    assignments: Vec<(String, f64)>,
    measured: Measured,
    /// Number of declared outputs; a plot adds others behind them.
    outputs: usize,
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
            text,
            name: (model_path.file_name()).map_or_else(String::new, |n| n.to_string_lossy().into()),
            formulation: biela::formulation::resolved_formulation(model)
                .name()
                .to_owned(),
            span: [experiment.start, experiment.stop],
            assignments: assignments.to_vec(),
            measured: Measured::default(),
            outputs: model.outputs.len(),
        })
    }

    /// Begins to record an initialised instance.
    pub fn recording(
        &self,
        instance: &mut Instance,
        rows: Option<TimeGrid>,
    ) -> biela::Result<Recording> {
        let times: RowSchedule = rows.map(|mut grid| -> Box<dyn Iterator<Item = f64>> {
            Box::new(std::iter::from_fn(move || grid.due(f64::INFINITY)))
        });
        Recording::new(instance, self.outputs, times)
    }

    /// Tells what a part of the run took.
    pub fn took(&mut self, part: &'static str, time: Duration) {
        self.measured.parts.push((part, time.as_secs_f64()));
    }

    /// Writes the page of a run that has ended, well or not.
    pub fn write(
        &mut self,
        instance: &mut Instance,
        mut recording: Recording,
        outcome: &biela::Result<()>,
    ) -> Result<(), Failure> {
        let mut failure = None;
        if let Err(error) = outcome {
            // The state that was reached; if even that cannot be read, the rows before it are shown.
            let _ = recording.failed(instance);
            let time = Some(instance.time());
            failure = Some(FailureReport::of(error, instance.model(), time));
        }
        let model = instance.model().clone();
        self.put(&model, Some(instance), &recording, failure.as_ref())
    }

    /// Writes the page of a mechanism that could not be started: its pose as written, and why.
    pub fn write_unstarted(&mut self, model: &Model, error: &biela::Error) -> Result<(), Failure> {
        let recording = Recording::of_initial_pose(model);
        let failure = FailureReport::of(error, model, None);
        self.put(model, None, &recording, Some(&failure))
    }

    fn put(
        &mut self,
        model: &Model,
        instance: Option<&Instance>,
        recording: &Recording,
        failure: Option<&FailureReport>,
    ) -> Result<(), Failure> {
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
        let page = data.page(&self.measured);
        (self.file.write_all(page.as_bytes()))
            .and_then(|()| self.file.complete())
            .map_err(|error| output::failure(&self.path, &error))
    }
}
