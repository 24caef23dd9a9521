//! Cartesian joint: translation without rotation. Coordinates: displacements along the reference direction e, along f = n × e and along
//! the axis n.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_orientation();
    let directions = b.placement.frames[0];
    for (k, direction) in directions.into_iter().enumerate() {
        let displacement = b.slide(direction, b.initial_position(k));
        b.coordinates.push(displacement);
    }
}
