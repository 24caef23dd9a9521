//! Turns about an axis and travels along it. Coordinates: the angle, turns counted; the travel.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_axes_parallel();
    b.keep_on_axis();
    let angle = b.angle(b.initial_position(0));
    let along = b.slide(b.placement.frames[0][2], b.initial_position(1));
    b.coordinates.extend([angle, along]);
}
