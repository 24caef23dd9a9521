//! The documentation page of an archive: the report page with the reference run, the run of `[experiment]` with all start
//! values. It has no measured times, so that the same model gives the same archive.

use crate::component::{Instance, Observer, StepProbe};
use crate::error::Result;
use crate::fmi::types::FmiStandard;
use crate::formulation::resolved_formulation;
use crate::model::Model;
use crate::report::{FailureReport, Measured, Recording, Report, RowSchedule};

/// Rows of the reference run where the model gives no interval.
const ROWS: u32 = 500;

/// More rows than this are not kept; then there are [`ROWS`].
const MOST_ROWS: u32 = 5_000;

/// Steps after which the reference run ends: it is an illustration and must not take minutes.
const MOST_STEPS: u64 = 100_000;

/// The text of `documentation/index.html`; `text` is the packed model, `file` its name.
pub(super) fn page(mut model: Model, text: &str, file: &str, standard: FmiStandard) -> String {
    model.solver.max_substeps = model.solver.max_substeps.min(MOST_STEPS);
    let as_written = model.clone();
    let started = reference(model);
    let (mut instance, recording, failure) = match started {
        Ok((instance, recording, failure)) => (Some(instance), recording, failure),
        Err(error) => (
            None,
            Recording::of_initial_pose(&as_written),
            Some(FailureReport::of(&error, &as_written, None)),
        ),
    };
    let note = format!(
        "FMI {} co-simulation unit; the model is in the folder resources. Shown is the reference run, with all start values",
        standard.version()
    );
    let report = Report {
        model: &as_written,
        text,
        file,
        span: [as_written.experiment.start, as_written.experiment.stop],
        formulation: resolved_formulation(&as_written).name(),
        assignments: &[],
        notes: vec![note],
        instance: instance.as_mut().map(|instance| &*instance),
        recording: &recording,
        failure: failure.as_ref(),
    };
    report.data().page(&Measured::default())
}

/// Runs the experiment; a run that fails is told, not refused: a host may drive the unit differently.
fn reference(model: Model) -> Result<(Instance, Recording, Option<FailureReport>)> {
    let [start, stop] = [model.experiment.start, model.experiment.stop];
    let wanted = model.experiment.interval;
    let spacing = wanted
        .filter(|spacing| (stop - start) / spacing <= f64::from(MOST_ROWS))
        .unwrap_or((stop - start) / f64::from(ROWS));
    let rows = ((stop - start) / spacing + 1e-9).floor() as u64;
    let times: RowSchedule = Some(Box::new((0..=rows).map(move |k| {
        match start + k as f64 * spacing {
            t if (t - stop).abs() <= 1e-9 * spacing => stop,
            t => t,
        }
    })));
    let mut instance = Instance::from_model(model)?;
    instance.initialize(start, stop, 0.0)?;
    let mut recorder = Recorder(Recording::new(&mut instance, usize::MAX, times)?);
    let outcome = instance.step_observed(start, stop - start, &mut recorder);
    let Recorder(mut recording) = recorder;
    let failure = match outcome {
        Ok(()) => None,
        Err(error) => {
            // If even the last state cannot be read, the rows before it are shown.
            let _ = recording.failed(&mut instance);
            Some(FailureReport::of(
                &error,
                instance.model(),
                Some(instance.time()),
            ))
        }
    };
    Ok((instance, recording, failure))
}

struct Recorder(Recording);

impl Observer for Recorder {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        self.0.accepted(probe)
    }
}
