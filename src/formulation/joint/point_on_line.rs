//! A point of `bodies[1]` on a line of `bodies[0]`. Coordinates: displacement along the line; in the plane also the angle.

use super::placement::NO_DIRECTION;
use super::prismatic::directions;
use super::{JointBuilder, revolute};
use crate::error::Result;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::planar::pose::perp;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) -> Result<()> {
    // Only the direction of the line is needed: given by points, the second frame may have none, and the angle is that between the x
    // axes of the bodies.
    if b.placement.axes[1].norm() < NO_DIRECTION {
        b.placement.axes[1] = b.placement.axes[0];
    }
    let [axis, _] = directions(
        b,
        "is a point on a line whose axis has no direction in the plane",
    )?;
    let normal = b.slide(perp(axis), 0.0);
    b.fix(normal, 0.0);
    let displacement = b.slide(axis, b.initial_position(0));
    let angle = b.angle(revolute::offset(b, b.initial_position(1)));
    b.coordinates.extend([displacement, angle]);
    Ok(())
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_on_axis();
    let displacement = b.slide(b.placement.frames[0][2], b.initial_position(0));
    b.coordinates.push(displacement);
}
