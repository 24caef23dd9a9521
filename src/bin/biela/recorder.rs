//! Observes a run and records rows of the table and frames of the plot. Samples are interpolated inside the steps, so
//! recording does not change a step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use biela::report::Recording;
use biela::study::TimeGrid;
use biela::{Instance, Observer, StepProbe, Variable};

use crate::Failure;
use crate::cpu_time::CpuClock;
use crate::csv::Csv;
use crate::interrupt;
use crate::output::{self, OutputFile};
use crate::plot::Animation;
use crate::terminal::Progress;

/// Times of the rows of the table.
pub enum RowTimes {
    /// At the start and after each accepted step.
    EveryStep,
    /// At these times.
    At(TimeGrid),
}

/// The table under construction.
pub struct Table {
    /// Path of the file, for messages.
    pub path: PathBuf,
    /// Its writer.
    pub csv: Csv<OutputFile>,
    /// Times of its rows.
    pub rows: RowTimes,
    /// Value references of its columns.
    pub references: Vec<u32>,
}

/// Samples the frames of the plot.
pub struct FrameSampler {
    /// Times of the frames.
    pub grid: TimeGrid,
    /// Value references of the sampled variables.
    pub references: Vec<u32>,
    /// The samples so far.
    pub animation: Animation,
}

/// The observer of a run.
pub struct Recorder {
    table: Option<Table>,
    frames: Option<FrameSampler>,
    recording: Option<Recording>,
    values: Vec<f64>,
    monitor: Monitor,
    spent: Duration,
    failure: Option<Failure>,
}

impl Recorder {
    /// Records the first row and the first frame at the start of `instance`.
    pub fn new(
        table: Option<Table>,
        frames: Option<FrameSampler>,
        recording: Option<Recording>,
        monitor: Monitor,
        instance: &mut Instance,
    ) -> Result<Self, Failure> {
        let columns = table.as_ref().map_or(0, |t| t.references.len());
        let sampled = frames.as_ref().map_or(0, |f| f.references.len());
        let mut recorder = Self {
            table,
            frames,
            recording,
            values: vec![0.0; columns.max(sampled)],
            monitor,
            spent: Duration::ZERO,
            failure: None,
        };
        recorder
            .begin(instance)
            .map_err(|error| recorder.failure.take().unwrap_or(Failure::input(error)))?;
        Ok(recorder)
    }

    /// CPU time of recording so far.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// Ends the line of progress.
    pub fn end_progress(&mut self) {
        self.monitor.progress = None;
    }

    /// The failure that stopped the run, if recording failed.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// The rows and steps of the report page.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// Completes the table and returns the animation.
    pub fn finish(&mut self) -> Result<Option<Animation>, Failure> {
        if let Some(table) = &mut self.table {
            table
                .csv
                .writer()
                .complete()
                .map_err(|error| output::failure(&table.path, &error))?;
        }
        Ok(self.frames.take().map(|frames| frames.animation))
    }

    fn begin(&mut self, instance: &mut Instance) -> biela::Result<()> {
        let t = instance.time();
        self.record([t, t], t, &mut |_, references, values| {
            instance.get_real(references, values)
        })
    }

    /// Is a row or a frame due in a step that ends at `end`?
    fn is_due(&self, end: f64) -> bool {
        let row = self.table.as_ref().is_some_and(|table| match &table.rows {
            RowTimes::EveryStep => true,
            RowTimes::At(grid) => grid.peek(end).is_some(),
        });
        let frame = self
            .frames
            .as_ref()
            .is_some_and(|frames| frames.grid.peek(end).is_some());
        row || frame || self.recording.is_some()
    }

    /// The next row of the table in a step that ends at `end`.
    fn next_row(&self, end: f64) -> Option<f64> {
        match &self.table.as_ref()?.rows {
            RowTimes::EveryStep => None,
            RowTimes::At(grid) => grid.peek(end),
        }
    }

    /// Row by row, so that table and page read the same interpolated point.
    fn record_step(&mut self, span: [f64; 2], probe: &mut StepProbe) -> biela::Result<()> {
        let end = span[1];
        loop {
            let row = self.next_row(end).filter(|t| *t < end);
            let upto = row.unwrap_or(end);
            self.record(span, upto, &mut |t, references, values| {
                probe.values(t, references, values)
            })?;
            if let Some(recording) = &mut self.recording {
                recording.keep_rows(probe, upto)?;
            }
            if row.is_none() {
                return Ok(());
            }
        }
    }

    /// Records what is due up to a time of a step from `start` to `end`; `read` reads values at a time of the step.
    fn record(&mut self, [start, end]: [f64; 2], upto: f64, read: &mut Read) -> biela::Result<()> {
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
                RowTimes::EveryStep if upto < end => {}
                RowTimes::EveryStep => row(end, &mut table.csv)?,
                RowTimes::At(grid) => {
                    while let Some(t) = grid.due(upto) {
                        row(t, &mut table.csv)?;
                    }
                }
            }
        }
        if let Some(frames) = &mut self.frames {
            let values = &mut self.values[..frames.references.len()];
            while let Some(t) = frames.grid.due(upto) {
                read(t.clamp(start, end), &frames.references, values)?;
                frames.animation.push(t, values);
            }
        }
        Ok(())
    }
}

/// Watches a run for the user: shows its progress and ends it on Ctrl-C.
#[derive(Default)]
pub struct Monitor {
    /// The line of progress, if there is one.
    pub progress: Option<Progress>,
}

impl Monitor {
    fn accepted(&mut self, start: f64, end: f64) -> biela::Result<()> {
        if interrupt::requested() {
            return Err(biela::Error::Cancelled { time: end });
        }
        if let Some(progress) = &mut self.progress {
            progress.show(end, end - start);
        }
        Ok(())
    }
}

/// Reads variables at a time.
type Read<'a> = dyn FnMut(f64, &[u32], &mut [f64]) -> biela::Result<()> + 'a;

impl Observer for Recorder {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        let (start, end) = (probe.start(), probe.end());
        self.monitor.accepted(start, end)?;
        if !self.is_due(end) {
            return Ok(());
        }
        let began = CpuClock::Process.now();
        if let Some(recording) = &mut self.recording {
            recording.keep_step(probe);
        }
        let result = self.record_step([start, end], probe);
        self.spent += CpuClock::Process.now() - began;
        result
    }
}

/// Opens the table of a run and writes its head line; with `units` a second one.
pub fn table(
    path: &Path,
    outputs: &[Variable],
    references: Vec<u32>,
    rows: RowTimes,
    units: bool,
) -> Result<Table, Failure> {
    let out = output::create(path)?;
    let names = outputs.iter().map(|output| output.name.as_str());
    let head = |csv: &mut Csv<OutputFile>| {
        let own = outputs.iter().map(|output| match output.unit.as_str() {
            "" => "1",
            unit => unit,
        });
        match units {
            true => csv.units(std::iter::once("s").chain(own)),
            false => Ok(()),
        }
    };
    let csv = Csv::new(out, std::iter::once("time").chain(names))
        .and_then(|mut csv| head(&mut csv).map(|()| csv))
        .map_err(|error| output::failure(path, &error))?;
    Ok(Table {
        path: path.to_owned(),
        csv,
        rows,
        references,
    })
}
