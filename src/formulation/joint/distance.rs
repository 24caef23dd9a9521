//! Massless rod: a point of each body at a fixed distance. Φ = |p₁ − p₀| − length.

use super::JointBuilder;
use crate::error::Result;
use crate::formulation::absolute::planar::{self, PlanarGeometry};
use crate::formulation::absolute::spatial::{self, SpatialGeometry};

/// The length as given, or that in the initial pose.
fn length(given: Option<f64>, initial: f64, smallest: f64) -> Option<f64> {
    Some(given.unwrap_or(initial)).filter(|length| *length > smallest)
}

/// Error for a length of zero.
const TOO_SHORT: &str = "needs a length that is not zero: points that stay in one place are a revolute or spherical joint";

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>, q: &[f64]) -> Result<()> {
    let distance =
        planar::coordinate::PlanarCoordinate::Distance(planar::coordinate::PlanarDistance {
            points: b.placement.points,
            coincidence_distance: b.coincidence_distance,
        });
    let initial = super::initial_value::<PlanarGeometry, 6>(&distance, q);
    let length = length(b.joint.length, initial, b.coincidence_distance)
        .ok_or_else(|| b.error(TOO_SHORT))?;
    b.fix(distance, length);
    Ok(())
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>, q: &[f64]) -> Result<()> {
    let distance =
        spatial::coordinate::SpatialCoordinate::Distance(spatial::coordinate::SpatialDistance {
            points: b.placement.points,
            coincidence_distance: b.coincidence_distance,
        });
    let initial = super::initial_value::<SpatialGeometry, 12>(&distance, q);
    let length = length(b.joint.length, initial, b.coincidence_distance)
        .ok_or_else(|| b.error(TOO_SHORT))?;
    b.fix(distance, length);
    Ok(())
}
