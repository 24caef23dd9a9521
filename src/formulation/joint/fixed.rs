//! The weld: no relative motion. Drawn, the start pose is kept; given in each body's frame, the frames fall together (in the plane
//! their axes, or the bodies' x axes where there is none).

use super::JointBuilder;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) {
    b.coincide();
    let references = b.placement.axes.map(|a| a.y.atan2(a.x));
    let (turn, value) = (b.angle(0.0), b.placement.fixed_angle(references));
    b.fix(turn, value);
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.coincide();
    b.keep_orientation();
}
