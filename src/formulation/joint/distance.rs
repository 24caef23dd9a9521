//! The massless rod: a point of each body at a fixed distance. Φ = |p₁ − p₀| − length.

use super::Builder;
use crate::error::Result;
use crate::formulation::absolute::plane::{self, Plane};
use crate::formulation::absolute::space::{self, Space};

/// The length held: as given, else that of the start pose.
fn length(given: Option<f64>, at_start: f64, tiny: f64) -> Option<f64> {
    Some(given.unwrap_or(at_start)).filter(|length| *length > tiny)
}

const TOO_SHORT: &str = "needs a length that is not zero: points that stay in one place are a revolute or spherical joint";

pub(super) fn plane(b: &mut Builder<Plane, 6>, q: &[f64]) -> Result<()> {
    let line = plane::measure::Measure::Line(plane::measure::Line {
        points: b.at.points,
        tiny: b.tiny,
    });
    let at_start = super::first_value::<Plane, 6>(&line, q);
    let held = length(b.joint.length, at_start, b.tiny).ok_or_else(|| b.refuse(TOO_SHORT))?;
    b.hold(line, held);
    Ok(())
}

pub(super) fn space(b: &mut Builder<Space, 12>, q: &[f64]) -> Result<()> {
    let line = space::measure::Measure::Line(space::measure::Line {
        points: b.at.points,
        tiny: b.tiny,
    });
    let at_start = super::first_value::<Space, 12>(&line, q);
    let held = length(b.joint.length, at_start, b.tiny).ok_or_else(|| b.refuse(TOO_SHORT))?;
    b.hold(line, held);
    Ok(())
}
