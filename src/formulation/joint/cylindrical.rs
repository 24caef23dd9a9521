//! Turns about an axis and travels along it. Coordinates: the angle, turns counted; the travel.

use super::Builder;
use crate::formulation::absolute::space::Space;

pub(super) fn space(b: &mut Builder<Space, 12>) {
    b.hold_parallel();
    b.hold_on_axis();
    let angle = b.angle(b.position(0));
    let along = b.slide(b.at.frames[0][2], b.position(1));
    b.coordinates.extend([angle, along]);
}
