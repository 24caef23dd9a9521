//! Cylindrical joint: rotation about an axis and displacement along it. Coordinates: angle, turns counted; displacement.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_axes_parallel();
    b.keep_on_axis();
    let angle = b.angle(b.initial_position(0));
    let displacement = b.slide(b.placement.frames[0][2], b.initial_position(1));
    b.coordinates.extend([angle, displacement]);
}
