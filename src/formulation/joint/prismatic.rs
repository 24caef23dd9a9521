//! The slide: no turning, and no travel across an axis fixed in `bodies[0]`. The coordinate is the travel along it, plus the
//! joint's `position`.

use super::JointBuilder;
use super::placement::NO_DIRECTION;
use crate::error::Result;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::planar::pose::{Vec2, perp};
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) -> Result<()> {
    let axes = directions(b, "is prismatic but its axis has no direction in the plane")?;
    let (turn, value) = (
        b.angle(0.0),
        b.placement.fixed_angle(axes.map(|a| a.y.atan2(a.x))),
    );
    b.fix(turn, value);
    let across = b.slide(perp(axes[0]), 0.0);
    b.fix(across, 0.0);
    let along = b.slide(axes[0], b.initial_position(0));
    b.coordinates.push(along);
    Ok(())
}

/// The axes as unit vectors.
pub(super) fn directions(
    b: &JointBuilder<PlanarGeometry, 6>,
    otherwise: &str,
) -> Result<[Vec2; 2]> {
    let mut axes = b.placement.axes;
    for axis in &mut axes {
        let size = axis.norm();
        if size < NO_DIRECTION {
            return Err(b.refuse(otherwise));
        }
        *axis /= size;
    }
    Ok(axes)
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_orientation();
    b.keep_on_axis();
    let along = b.slide(b.placement.frames[0][2], b.initial_position(0));
    b.coordinates.push(along);
}
