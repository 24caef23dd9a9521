//! The ball: two points stay in one place. Its coordinate is a quaternion.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.coincide();
}
