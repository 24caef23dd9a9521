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

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>, q: &[f64]) -> Result<()> {
    let line = planar::coordinate::PlanarCoordinate::Distance(planar::coordinate::PlanarDistance {
        points: b.placement.points,
        coincidence_distance: b.coincidence_distance,
    });
    let at_start = super::initial_value::<PlanarGeometry, 6>(&line, q);
    let held = length(b.joint.length, at_start, b.coincidence_distance)
        .ok_or_else(|| b.refuse(TOO_SHORT))?;
    b.fix(line, held);
    Ok(())
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>, q: &[f64]) -> Result<()> {
    let line =
        spatial::coordinate::SpatialCoordinate::Distance(spatial::coordinate::SpatialDistance {
            points: b.placement.points,
            coincidence_distance: b.coincidence_distance,
        });
    let at_start = super::initial_value::<SpatialGeometry, 12>(&line, q);
    let held = length(b.joint.length, at_start, b.coincidence_distance)
        .ok_or_else(|| b.refuse(TOO_SHORT))?;
    b.fix(line, held);
    Ok(())
}
