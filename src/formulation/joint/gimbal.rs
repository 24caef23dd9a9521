//! Gimbal joint: rotations c₁, c₂, c₃ in turn about three axes that are perpendicular where all angles are zero, at a point. It holds as a
//! spherical joint does; its coordinates are Cardan angles of the relative rotation, so there are no bodies between the axes.
//!
//! With e, f, n = second axis, first × second, first axis where the angles are zero, in each body, and σ = −1 if the third axis is −f:
//!
//! ```text
//!   e₀·f₁ = −sin c₁ cos c₂,    f₀·f₁ = cos c₁ cos c₂,    n₀·f₁ = sin c₂,
//!   n₀·e₁ = −σ sin c₃ cos c₂,  n₀·n₁ = cos c₃ cos c₂
//! ```
//!
//! for |c₂| < π/2, where the first and the third axis become parallel.

use super::JointBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::coordinate::{
    SpatialAngle, SpatialArcSine, SpatialCoordinate,
};

pub(super) fn spatial(b: &mut JointBuilder<SpatialGeometry, 12>) {
    b.coincide();
    let ([e0, f0, n0], [e1, f1, n1]) = (b.placement.frames[0], b.placement.frames[1]);
    let [first, second, third] = [0, 1, 2].map(|k| b.initial_position(k));
    let about_first = SpatialCoordinate::Angle(SpatialAngle {
        sine: b.direction_product(-e0, f1),
        cosine: b.direction_product(f0, f1),
        sign: 1.0,
        offset: first,
        counter: b.counters.allocate(first),
    });
    let about_second = SpatialCoordinate::ArcSine(SpatialArcSine {
        sine: b.direction_product(n0, f1),
        offset: second,
    });
    let about_third = SpatialCoordinate::Angle(SpatialAngle {
        sine: b.direction_product(-n0, e1),
        cosine: b.direction_product(n0, n1),
        sign: if b.joint.mirrored { -1.0 } else { 1.0 },
        offset: third,
        counter: b.counters.allocate(third),
    });
    b.coordinates
        .extend([about_first, about_second, about_third]);
}
