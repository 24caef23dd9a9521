//! A point of `bodies[1]` on a line of `bodies[0]`. Coordinates: the travel along the line; in the plane also the angle.

use super::placement::NO_DIRECTION;
use super::prismatic::directions;
use super::{JointBuilder, revolute};
use crate::error::Result;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::planar::pose::perp;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) -> Result<()> {
    // Only the line's direction matters: with `at` the second frame may have none. Then the angle is that between the bodies' x
    // axes.
    if b.placement.axes[1].norm() < NO_DIRECTION {
        b.placement.axes[1] = b.placement.axes[0];
    }
    let [axis, _] = directions(
        b,
        "is a point on a line whose axis has no direction in the plane",
    )?;
    let across = b.slide(perp(axis), 0.0);
    b.fix(across, 0.0);
    let along = b.slide(axis, b.initial_position(0));
    let turn = b.angle(revolute::offset(b, b.initial_position(1)));
    b.coordinates.extend([along, turn]);
    Ok(())
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_on_axis();
    let along = b.slide(b.placement.frames[0][2], b.initial_position(0));
    b.coordinates.push(along);
}
