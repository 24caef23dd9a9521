//! What is simulated: start, stop, and the times of the rows.

use biela::Model;
use biela::model::Experiment;
use biela::study::{SetValue, TimeGrid};

use crate::Failure;
use crate::csv::Number;

/// Start, stop and interval: those of the arguments, else those of the model.
pub fn planned(
    model: &Model,
    stop: Option<f64>,
    interval: Option<f64>,
) -> Result<Experiment, Failure> {
    let start = model.experiment.start;
    let stop = stop.unwrap_or(model.experiment.stop);
    if stop <= start {
        return Err(Failure::Input(format!(
            "--stop = {}: expected a time after the start at {} s",
            Number(stop),
            Number(start)
        )));
    }
    Ok(Experiment {
        start,
        stop,
        interval: interval.or(model.experiment.interval),
        initial: model.experiment.initial,
    })
}

/// Times at this distance; `name` is the option that gave it.
pub fn time_grid(name: &str, spacing: f64, experiment: &Experiment) -> Result<TimeGrid, Failure> {
    TimeGrid::new(experiment.start, experiment.stop, spacing).ok_or_else(|| {
        Failure::Input(format!(
            "{name} = {}: expected a distance that gives at most a thousand million points from {} s to {} s",
            Number(spacing),
            Number(experiment.start),
            Number(experiment.stop)
        ))
    })
}

/// Sets numbers of the model and settings of its solver.
pub fn assign(model: &mut Model, set: &[(String, SetValue)]) -> biela::Result<()> {
    (set.iter()).try_for_each(|(name, value)| value.assign(model, name))
}

/// The numbers among what is set.
pub fn numbers(set: &[(String, SetValue)]) -> Vec<(String, f64)> {
    let number = |(name, value): &(String, SetValue)| match value {
        SetValue::Number(number) => Some((name.clone(), *number)),
        SetValue::Word(_) => None,
    };
    set.iter().filter_map(number).collect()
}
