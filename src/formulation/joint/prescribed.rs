//! Bodies that move as prescribed: rows that hold each coordinate against the ground, at its start or on its course.
//!
//! x, y, z are those of the body's frame in the ground frame; the angle is the body's own in the plane, and in space the one
//! turned since the start about an axis fixed in the ground.

use super::{JointGeometry, initial_value};
use crate::formulation::absolute::TurnCounters;
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::planar::coordinate::{self as flat, PlanarAngle};
use crate::formulation::absolute::planar::{PlanarGeometry, pose::Vec2};
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::coordinate::{
    self as deep, DirectionProduct, SpatialAngle, perpendicular,
};
use crate::formulation::absolute::spatial::pose::SpatialPoses;
use crate::linalg::rotation::Vec3;
use crate::model::{BodyCoordinate, Model, PrescribedCoordinate};

/// A coordinate of a body of the plane.
pub(super) fn planar(
    model: &Model,
    body: usize,
    coordinate: BodyCoordinate,
) -> flat::PlanarCoordinate {
    match coordinate {
        BodyCoordinate::Position(k) => {
            let mut direction = Vec2::zeros();
            direction[k.min(1)] = 1.0;
            flat::PlanarCoordinate::Slide(flat::PlanarSlide {
                body: None,
                direction,
                point: PlanarGeometry::point(model, Some(body), [0.0; 3]),
                offset: 0.0,
            })
        }
        BodyCoordinate::Angle => flat::PlanarCoordinate::Angle(PlanarAngle {
            bodies: [None, Some(body)],
            offset: 0.0,
        }),
    }
}

/// The angle of a body of the plane, unless it is driven.
pub(super) fn keep_angle(
    body: usize,
    driven: bool,
    q: &[f64],
    slots: &mut SparsityBuilder,
) -> Vec<ConstraintPart<PlanarGeometry, 6>> {
    if driven {
        return vec![];
    }
    let turn = flat::PlanarCoordinate::Angle(PlanarAngle {
        bodies: [None, Some(body)],
        offset: 0.0,
    });
    let value = initial_value::<PlanarGeometry, 6>(&turn, q);
    vec![ConstraintPart::fixed(turn, value, slots)]
}

/// A coordinate of a body of space.
pub(super) fn spatial(
    model: &Model,
    body: usize,
    coordinate: BodyCoordinate,
    axis: [f64; 3],
    q: &[f64],
    counters: &mut TurnCounters,
) -> deep::SpatialCoordinate {
    match coordinate {
        BodyCoordinate::Position(k) => {
            let mut direction = Vec3::zeros();
            direction[k] = 1.0;
            deep::SpatialCoordinate::Slide(deep::SpatialSlide {
                body: None,
                direction,
                point: SpatialGeometry::point(model, Some(body), [0.0; 3]),
                offset: 0.0,
            })
        }
        BodyCoordinate::Angle => {
            let n = Vec3::from(axis);
            let e = perpendicular(&n);
            let own = SpatialPoses::new(q).get(Some(body)).to_body(&e);
            let dot = |a: Vec3| DirectionProduct {
                bodies: [None, Some(body)],
                directions: [a, own],
            };
            deep::SpatialCoordinate::Angle(SpatialAngle {
                sine: dot(n.cross(&e)),
                cosine: dot(e),
                sign: 1.0,
                offset: 0.0,
                counter: counters.allocate(0.0),
            })
        }
    }
}

/// The orientation of a body of space: as at start, or all but the angle about an axis of the ground.
pub(super) fn keep_orientation(
    body: usize,
    free: Option<[f64; 3]>,
    q: &[f64],
    slots: &mut SparsityBuilder,
) -> Vec<ConstraintPart<SpatialGeometry, 12>> {
    let n = free.map_or(Vec3::z(), Vec3::from);
    let e = perpendicular(&n);
    let f = n.cross(&e);
    let pose = SpatialPoses::new(q).get(Some(body));
    let mut square = |a: Vec3, b: Vec3| {
        let directions = [a, pose.to_body(&b)];
        let bodies = [None, Some(body)];
        let measure =
            deep::SpatialCoordinate::DirectionProduct(DirectionProduct { bodies, directions });
        ConstraintPart::fixed(measure, 0.0, slots)
    };
    let mut parts = vec![square(n, e), square(n, f)];
    if free.is_none() {
        parts.push(square(e, f));
    }
    parts
}

/// Rows of a prescribed body for the coordinates that no motion drives.
pub fn undriven_coordinates<W: JointGeometry<N>, const N: usize>(
    model: &Model,
    body: usize,
    q: &[f64],
    slots: &mut SparsityBuilder,
) -> Vec<ConstraintPart<W, N>> {
    let driven = |coordinate: BodyCoordinate| {
        (model.motions.iter()).find(|m| m.on == PrescribedCoordinate::Body(body, coordinate))
    };
    let mut parts = Vec::new();
    // No angle is measured here, so none is counted.
    let counters = &mut TurnCounters::default();
    for k in 0..W::DIMENSION {
        let coordinate = BodyCoordinate::Position(k);
        if driven(coordinate).is_none() {
            let measure = W::body_coordinate(model, body, coordinate, [0.0; 3], q, counters);
            let value = initial_value::<W, N>(&measure, q);
            parts.push(ConstraintPart::fixed(measure, value, slots));
        }
    }
    let free = driven(BodyCoordinate::Angle).map(|motion| motion.axis);
    parts.extend(W::fixed_orientation(body, free, q, slots));
    parts
}
