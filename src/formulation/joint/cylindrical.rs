//! Turns about an axis and travels along it. Coordinates: the angle, turns counted; the travel.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn space(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.hold_parallel();
    b.hold_on_axis();
    let angle = b.angle(b.position(0));
    let along = b.slide(b.at.frames[0][2], b.position(1));
    b.coordinates.extend([angle, along]);
}
