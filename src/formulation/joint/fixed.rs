//! The weld: no relative motion. Drawn, the start pose is kept; given in each body's frame, the frames fall together (in the plane
//! their axes, or the bodies' x axes where there is none).

use super::JointBuilder;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn plane(b: &mut JointBuilder<PlanarGeometry, 6>) {
    b.meet();
    let references = b.at.axes.map(|a| a.y.atan2(a.x));
    let (turn, value) = (b.turn(0.0), b.at.held_turn(references));
    b.hold(turn, value);
}

pub(super) fn space(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.meet();
    b.hold_orientation();
}
