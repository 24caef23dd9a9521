//! Spherical joint: two points coincide. Its coordinate is a quaternion; friction and armature act in the components of its angular
//! velocity along the axes of the second body.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::coordinate::{SpatialCoordinate, SpatialSpin};
use crate::linalg::rotation::Vec3;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.coincide();
    let bodies = b.placement.points.map(|p| p.body);
    let along = |direction| SpatialCoordinate::Spin(SpatialSpin { bodies, direction });
    b.spins = [Vec3::x(), Vec3::y(), Vec3::z()].map(along).to_vec();
}
