//! Planar joint: motion in a plane normal to the axis. Coordinates: displacement along the reference direction e, displacement along
//! f = n × e, angle.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_axes_parallel();
    let [e0, f0, n0] = b.placement.frames[0];
    let normal = b.slide(n0, 0.0);
    b.fix(normal, 0.0);
    let displacements = [
        b.slide(e0, b.initial_position(0)),
        b.slide(f0, b.initial_position(1)),
    ];
    let angle = b.angle(b.initial_position(2));
    b.coordinates.extend(displacements);
    b.coordinates.push(angle);
}
