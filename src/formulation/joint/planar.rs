//! Two surfaces on each other, the axis their normal. Coordinates: travel along `across` and along axis x across, the angle.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn space(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.hold_parallel();
    let [e0, f0, n0] = b.at.frames[0];
    let normal = b.slide(n0, 0.0);
    b.hold(normal, 0.0);
    let travel = [b.slide(e0, b.position(0)), b.slide(f0, b.position(1))];
    let angle = b.angle(b.position(2));
    b.coordinates.extend(travel);
    b.coordinates.push(angle);
}
