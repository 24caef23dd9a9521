//! The massless rod: a point of each body at a fixed distance. Φ = |p₁ − p₀| − length.

use super::JointBuilder;
use crate::error::Result;
use crate::formulation::absolute::planar::{self, PlanarGeometry};
use crate::formulation::absolute::spatial::{self, SpatialGeometry};

/// The length held: as given, else that of the start pose.
fn length(given: Option<f64>, at_start: f64, tiny: f64) -> Option<f64> {
    Some(given.unwrap_or(at_start)).filter(|length| *length > tiny)
}

const TOO_SHORT: &str = "needs a length that is not zero: points that stay in one place are a revolute or spherical joint";

pub(super) fn plane(b: &mut JointBuilder<PlanarGeometry, 6>, q: &[f64]) -> Result<()> {
    let line = planar::coordinate::PlanarCoordinate::Line(planar::coordinate::PlanarDistance {
        points: b.at.points,
        tiny: b.tiny,
    });
    let at_start = super::first_value::<PlanarGeometry, 6>(&line, q);
    let held = length(b.joint.length, at_start, b.tiny).ok_or_else(|| b.refuse(TOO_SHORT))?;
    b.hold(line, held);
    Ok(())
}

pub(super) fn space(b: &mut JointBuilder<SpatialGeometry, 12>, q: &[f64]) -> Result<()> {
    let line = spatial::coordinate::SpatialCoordinate::Line(spatial::coordinate::SpatialDistance {
        points: b.at.points,
        tiny: b.tiny,
    });
    let at_start = super::first_value::<SpatialGeometry, 12>(&line, q);
    let held = length(b.joint.length, at_start, b.tiny).ok_or_else(|| b.refuse(TOO_SHORT))?;
    b.hold(line, held);
    Ok(())
}
