//! Fixed joint: no relative motion. Given in the ground frame, the initial pose is kept; given in both body frames, the frames coincide
//! (in the plane their axes, or the x axes of the bodies without an axis).

use super::JointBuilder;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::linalg::elementary::atan2;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) {
    b.coincide();
    let references = b.placement.axes.map(|a| atan2(a.y, a.x));
    let (angle, value) = (b.angle(0.0), b.placement.fixed_angle(references));
    b.fix(angle, value);
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.coincide();
    b.keep_orientation();
}
