//! Two surfaces on each other, the axis their normal. Coordinates: travel along `across` and along axis x across, the angle.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_axes_parallel();
    let [e0, f0, n0] = b.placement.frames[0];
    let normal = b.slide(n0, 0.0);
    b.fix(normal, 0.0);
    let travel = [
        b.slide(e0, b.initial_position(0)),
        b.slide(f0, b.initial_position(1)),
    ];
    let angle = b.angle(b.initial_position(2));
    b.coordinates.extend(travel);
    b.coordinates.push(angle);
}
