//! Follows a run and keeps what was asked for: rows of the table, frames of the picture. Samples lie between the steps
//! and are interpolated, so recording never changes a step.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use biela::component::{Instance, Observer, Probe};
use biela::report::Recording;
use cpu_time::ProcessTime;

use crate::Failure;
use crate::csv::Csv;
use crate::grid::Grid;
use crate::output;
use crate::picture::Film;

/// When a row is written.
pub enum Rows {
    /// At the start and after each accepted step.
    EveryStep,
    /// At these times.
    At(Grid),
}

/// The table while it is written.
pub struct Table {
    /// Where it goes, for messages.
    pub path: PathBuf,
    /// Its writer.
    pub csv: Csv<Box<dyn Write>>,
    /// When.
    pub rows: Rows,
    /// Value references of its columns.
    pub references: Vec<u32>,
}

/// Frames for the picture while they are taken.
pub struct Camera {
    /// When.
    pub grid: Grid,
    /// Value references of what is seen.
    pub references: Vec<u32>,
    /// What has been seen.
    pub film: Film,
}

/// The observer of a run.
pub struct Recorder {
    table: Option<Table>,
    camera: Option<Camera>,
    recording: Option<Recording>,
    values: Vec<f64>,
    spent: Duration,
    failure: Option<Failure>,
}

impl Recorder {
    /// Takes the first row and the first frame at the start of `instance`.
    pub fn new(
        table: Option<Table>,
        camera: Option<Camera>,
        recording: Option<Recording>,
        instance: &mut Instance,
    ) -> Result<Self, Failure> {
        let columns = table.as_ref().map_or(0, |t| t.references.len());
        let seen = camera.as_ref().map_or(0, |c| c.references.len());
        let mut recorder = Self {
            table,
            camera,
            recording,
            values: vec![0.0; columns.max(seen)],
            spent: Duration::ZERO,
            failure: None,
        };
        recorder
            .begin(instance)
            .map_err(|error| recorder.failure.take().unwrap_or(Failure::input(error)))?;
        Ok(recorder)
    }

    /// CPU time spent in here so far.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// Why a run was stopped from here, if it was.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// What was recorded for the report page.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// Completes the table and hands out the film.
    pub fn finish(&mut self) -> Result<Option<Film>, Failure> {
        if let Some(table) = &mut self.table {
            table
                .csv
                .flush()
                .map_err(|error| output::failure(&table.path, &error))?;
        }
        Ok(self.camera.take().map(|camera| camera.film))
    }

    fn begin(&mut self, instance: &mut Instance) -> biela::Result<()> {
        let t = instance.time();
        self.record(t, t, &mut |_, references, values| {
            instance.get_real(references, values)
        })
    }

    /// Whether anything falls into a step that ends at `end`.
    fn waiting(&self, end: f64) -> bool {
        let row = self.table.as_ref().is_some_and(|table| match &table.rows {
            Rows::EveryStep => true,
            Rows::At(grid) => grid.peek(end).is_some(),
        });
        let frame = self
            .camera
            .as_ref()
            .is_some_and(|camera| camera.grid.peek(end).is_some());
        row || frame || self.recording.is_some()
    }

    /// Everything due in a step from `start` to `end`; `read` gives values at a time of it.
    fn record(&mut self, start: f64, end: f64, read: &mut Read) -> biela::Result<()> {
        if let Some(table) = &mut self.table {
            let values = &mut self.values[..table.references.len()];
            let mut row = |t: f64, csv: &mut Csv<_>| {
                read(t.clamp(start, end), &table.references, values)?;
                csv.row(t, values).map_err(|error| {
                    self.failure = Some(output::failure(&table.path, &error));
                    biela::Error::Cancelled { time: t }
                })
            };
            match &mut table.rows {
                Rows::EveryStep => row(end, &mut table.csv)?,
                Rows::At(grid) => {
                    while let Some(t) = grid.due(end) {
                        row(t, &mut table.csv)?;
                    }
                }
            }
        }
        if let Some(camera) = &mut self.camera {
            let values = &mut self.values[..camera.references.len()];
            while let Some(t) = camera.grid.due(end) {
                read(t.clamp(start, end), &camera.references, values)?;
                camera.film.push(t, values);
            }
        }
        Ok(())
    }
}

/// Reads variables at a time.
type Read<'a> = dyn FnMut(f64, &[u32], &mut [f64]) -> biela::Result<()> + 'a;

impl Observer for Recorder {
    fn accepted(&mut self, probe: &mut Probe) -> biela::Result<()> {
        let (start, end) = (probe.start(), probe.end());
        if !self.waiting(end) {
            return Ok(());
        }
        let began = ProcessTime::now();
        let outcome = self.record(start, end, &mut |t, references, values| {
            probe.values(t, references, values)
        });
        let outcome = match &mut self.recording {
            Some(recording) => outcome.and_then(|()| recording.accepted(probe)),
            None => outcome,
        };
        self.spent += began.elapsed();
        outcome
    }
}

/// The table of a run, opened with its head line.
pub fn table(
    path: &Path,
    names: &[&str],
    references: Vec<u32>,
    rows: Rows,
) -> Result<Table, Failure> {
    let out = output::create(path)?;
    let head = std::iter::once("time").chain(names.iter().copied());
    let csv = Csv::new(out, head).map_err(|error| output::failure(path, &error))?;
    Ok(Table {
        path: path.to_owned(),
        csv,
        rows,
        references,
    })
}
