//! The cross: an axis a of `bodies[0]` and an axis b of `bodies[1]` meet in a point at right angles.
//!
//! ```text
//!   about a:  b turns against e₀ and a × e₀ of the first body
//!   about b:  n₁ of the second body turns against a:  n₁ = cos θ₂ a + sin θ₂ b × a,   so  a·n₁ = cos θ₂,  a·(b × n₁) = −sin θ₂
//! ```

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::coordinate::{SpatialAngle, SpatialCoordinate};

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.coincide();
    let ([e0, f0, n0], [e1, _, n1]) = (b.placement.frames[0], b.placement.frames[1]);
    b.keep_perpendicular(n0, e1);
    let [first, second] = [b.initial_position(0), b.initial_position(1)];
    let about_first = SpatialCoordinate::Angle(SpatialAngle {
        sine: b.direction_product(f0, e1),
        cosine: b.direction_product(e0, e1),
        sign: 1.0,
        offset: first,
        counter: b.counters.allocate(first),
    });
    let about_second = SpatialCoordinate::Angle(SpatialAngle {
        sine: b.direction_product(n0, e1.cross(&n1)),
        cosine: b.direction_product(n0, n1),
        sign: -1.0,
        offset: second,
        counter: b.counters.allocate(second),
    });
    b.coordinates.extend([about_first, about_second]);
}
