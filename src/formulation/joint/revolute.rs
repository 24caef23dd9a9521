//! The pin: two points stay in one place, in space their axes too. The coordinate is the angle, turns counted. Drawn in the
//! ground frame it starts at the joint's `position`; given in each body's own frame it is the angle between the two frames
//! (in the plane between their axes, or the bodies' x axes where there is none) plus `position`.

use std::f64::consts::TAU;

use super::JointBuilder;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn planar(b: &mut JointBuilder<PlanarGeometry, 6>) {
    b.coincide();
    let position = b.initial_position(0);
    let turn = b.angle(offset(b, position));
    b.coordinates.push(turn);
}

/// What to add to φ₁ − φ₀ so that the angle is `position` at the drawn start, or where the given frames are parallel.
pub(super) fn offset(b: &JointBuilder<PlanarGeometry, 6>, position: f64) -> f64 {
    if b.placement.in_initial_pose {
        position - b.placement.initial_angle
    } else {
        let [reference0, reference1] = b.placement.axes.map(|a| a.y.atan2(a.x));
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
