//! Motions that contradict each other: more is prescribed than the mechanism leaves free, and the laws do not agree.

use biela::model::TextPosition;
use biela::{Error, Instance, Model, StartReport};

/// Part of the run that is tried.
const TRIED: f64 = 1e-3;

/// An error about motions that contradict each other, or `None`. Only mechanisms with redundant constraints and motions are
/// tried: their first steps show whether the laws agree.
pub fn contradicting_motions(model: &Model, report: &StartReport) -> Option<Error> {
    if model.motions.is_empty() || report.redundant.is_empty() {
        return None;
    }
    let experiment = model.experiment;
    let mut instance = Instance::from_model(model.clone()).ok()?;
    (instance.initialize(experiment.start, experiment.stop, 0.0)).ok()?;
    let step = TRIED * (experiment.stop - experiment.start);
    let culprit = match instance.step(experiment.start, step) {
        Err(Error::StepTooSmall {
            reason, culprit, ..
        }) if reason.contains("contradict") => culprit,
        _ => return None,
    };
    let named = |name: &str| model.motions.iter().find(|motion| motion.name == name);
    let first = named(culprit.split('.').next().unwrap_or(&culprit)).unwrap_or(&model.motions[0]);
    let others: Vec<String> = (model.motions.iter())
        .filter(|motion| motion.name != first.name)
        .map(|motion| format!("\"{}\"", motion.name))
        .collect();
    let TextPosition { line, column } = first.text_position;
    let whom = match others.is_empty() {
        true => "the joints".to_owned(),
        false => others.join(", "),
    };
    Some(Error::Model {
        origin: model.origin.clone(),
        line,
        column,
        message: format!(
            "motion \"{}\" contradicts {whom}: more coordinates are prescribed than the mechanism has degrees of \
             freedom, and the laws do not agree; let one coordinate follow, or drive it by an actuator",
            first.name
        ),
    })
}
