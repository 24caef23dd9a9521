//! Prismatic joint: displacement along an axis fixed in `bodies[0]`, without rotation. The coordinate is the displacement plus the
//! joint's `position`.

use super::JointBuilder;
use super::placement::NO_DIRECTION;
use crate::error::Result;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::planar::pose::{Vec2, perp};
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::linalg::elementary::atan2;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) -> Result<()> {
    let axes = directions(b, "is prismatic but its axis has no direction in the plane")?;
    let (angle, value) = (
        b.angle(0.0),
        b.placement.fixed_angle(axes.map(|a| atan2(a.y, a.x))),
    );
    b.fix(angle, value);
    let normal = b.slide(perp(axes[0]), 0.0);
    b.fix(normal, 0.0);
    let displacement = b.slide(axes[0], b.initial_position(0));
    b.coordinates.push(displacement);
    Ok(())
}

/// The axes as unit vectors.
pub(super) fn directions(b: &JointBuilder<PlanarGeometry, 6>, missing: &str) -> Result<[Vec2; 2]> {
    let mut axes = b.placement.axes;
    for axis in &mut axes {
        let length = axis.norm();
        if length < NO_DIRECTION {
            return Err(b.error(missing));
        }
        *axis /= length;
    }
    Ok(axes)
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_orientation();
    b.keep_on_axis();
    let displacement = b.slide(b.placement.frames[0][2], b.initial_position(0));
    b.coordinates.push(displacement);
}
