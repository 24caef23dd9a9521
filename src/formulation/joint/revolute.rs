//! The pin: two points stay in one place, in space their axes too. The coordinate is the angle, turns counted. Drawn in the
//! ground frame it starts at the joint's `position`; given in each body's own frame it is the angle between the two frames
//! (in the plane between their axes, or the bodies' x axes where there is none) plus `position`.

use std::f64::consts::TAU;

use super::JointBuilder;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;

pub(super) fn plane(b: &mut JointBuilder<PlanarGeometry, 6>) {
    b.meet();
    let position = b.position(0);
    let turn = b.turn(offset(b, position));
    b.coordinates.push(turn);
}

/// What to add to φ₁ − φ₀ so that the angle is `position` at the drawn start, or where the given frames are parallel.
pub(super) fn offset(b: &JointBuilder<PlanarGeometry, 6>, position: f64) -> f64 {
    if b.at.drawn {
        position - b.at.turned
    } else {
        let [reference0, reference1] = b.at.axes.map(|a| a.y.atan2(a.x));
        let difference = reference1 - reference0;
        position + difference - TAU * (difference / TAU).round()
    }
}

pub(super) fn space(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.meet();
    b.hold_parallel();
    let angle = b.angle(b.position(0));
    b.coordinates.push(angle);
}
