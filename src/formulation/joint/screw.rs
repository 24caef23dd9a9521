//! Turns about an axis and travels along it in proportion: travel = pitch/2π (angle − position). The coordinate is the angle.

use std::f64::consts::TAU;

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::function::Function;

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.keep_axes_parallel();
    b.keep_on_axis();
    let angle = b.angle(b.initial_position(0));
    let along = b.slide(b.placement.frames[0][2], 0.0);
    let lead = b.joint.pitch / TAU;
    let law = Function::Polynomial(vec![-lead * b.initial_position(0), lead]);
    b.couple([angle.clone(), along], law);
    b.coordinates.push(angle);
}
