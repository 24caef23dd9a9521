//! Revolute joint: two points coincide, in space their axes too. The coordinate is the angle, turns counted. Given in the ground frame,
//! its initial value is the joint's `position`; given in both body frames, it is the angle between the frames (in the plane between
//! their axes, or the x axes of the bodies without an axis) plus `position`.

use std::f64::consts::TAU;

use super::JointBuilder;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::linalg::elementary::atan2;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) {
    b.coincide();
    let position = b.initial_position(0);
    let angle = b.angle(offset(b, position));
    b.coordinates.push(angle);
}

/// Offset of φ₁ − φ₀ for which the angle is `position` in the initial pose, or if the given frames are parallel.
pub(super) fn offset(b: &JointBuilder<PlanarGeometry, 6>, position: f64) -> f64 {
    if b.placement.in_initial_pose {
        position - b.placement.initial_angle
    } else {
        let [reference0, reference1] = b.placement.axes.map(|a| atan2(a.y, a.x));
        let difference = reference1 - reference0;
        position + difference - TAU * (difference / TAU).round()
    }
}

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.coincide();
    b.keep_axes_parallel();
    let angle = b.angle(b.initial_position(0));
    b.coordinates.push(angle);
}
