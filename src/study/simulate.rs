//! One run to its stop, in one call or in one for each communication point.

use super::TimeGrid;
use crate::component::{Instance, Observer};
use crate::error::{Error, Result};

/// Steps to `stop`, in one call or in one for each communication point.
pub fn advance(
    instance: &mut Instance,
    stop: f64,
    points: &mut Option<TimeGrid>,
    observer: &mut dyn Observer,
) -> Result<()> {
    // t + H may differ from the communication point by rounding; the difference is not a step.
    let rounding = 4.0 * f64::EPSILON * stop.abs();
    while stop - instance.time() > rounding {
        let now = instance.time();
        let target = points
            .as_mut()
            .and_then(|grid| std::iter::from_fn(|| grid.due(stop)).find(|&t| t > now + rounding))
            .unwrap_or(stop);
        match instance.step_observed(now, target - now, observer) {
            // The limit protects a host that waits for its communication point; here the run itself is long.
            Err(Error::TooManySubsteps { .. })
                if points.is_none() && progresses(now, instance.time(), stop) => {}
            result => result?,
        }
    }
    Ok(())
}

/// Most calls of `max_substeps` substeps that a run may be expected to need. At ten thousand it would take days.
const MOST_CALLS: f64 = 1e4;

/// Whether a call that led from `before` to `now` leaves hope to reach `stop`.
fn progresses(before: f64, now: f64, stop: f64) -> bool {
    (stop - now) <= MOST_CALLS * (now - before)
}
