//! Prescribed bodies: constraints that fix each coordinate relative to the ground or make it follow a motion law.
//!
//! x, y, z are those of the origin of the body frame in the ground frame. The angle is that of the body in the plane; in space it is the
//! rotation since the initial pose about an axis fixed in the ground.

use super::{JointGeometry, initial_value};
use crate::formulation::absolute::TurnCounters;
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::planar::coordinate::{self as planar_coordinate, PlanarAngle};
use crate::formulation::absolute::planar::{PlanarGeometry, pose::Vec2};
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::coordinate::{
    self as spatial_coordinate, DirectionProduct, SpatialAngle, perpendicular,
};
use crate::formulation::absolute::spatial::pose::SpatialPoses;
use crate::linalg::rotation::Vec3;
use crate::model::{BodyCoordinate, Model, PrescribedCoordinate};

/// Coordinate of a body in the plane.
pub(super) fn planar(
    model: &Model,
    body: usize,
    coordinate: BodyCoordinate,
) -> planar_coordinate::PlanarCoordinate {
    match coordinate {
        BodyCoordinate::Position(k) => {
            let mut direction = Vec2::zeros();
            direction[k.min(1)] = 1.0;
            planar_coordinate::PlanarCoordinate::Slide(planar_coordinate::PlanarSlide {
                body: None,
                direction,
                point: PlanarGeometry::point(model, Some(body), [0.0; 3]),
                offset: 0.0,
            })
        }
        BodyCoordinate::Angle => planar_coordinate::PlanarCoordinate::Angle(PlanarAngle {
            bodies: [None, Some(body)],
            offset: 0.0,
        }),
    }
}

/// Fixes the angle of a body in the plane unless a motion drives it.
pub(super) fn keep_angle(
    body: usize,
    driven: bool,
    q: &[f64],
    slots: &mut SparsityBuilder,
) -> Vec<ConstraintPart<PlanarGeometry, 6>> {
    if driven {
        return vec![];
    }
    let angle = planar_coordinate::PlanarCoordinate::Angle(PlanarAngle {
        bodies: [None, Some(body)],
        offset: 0.0,
    });
    let value = initial_value::<PlanarGeometry, 6>(&angle, q);
    vec![ConstraintPart::fixed(angle, value, slots)]
}

/// Coordinate of a body in space.
pub(super) fn spatial(
    model: &Model,
    body: usize,
    coordinate: BodyCoordinate,
    axis: [f64; 3],
    q: &[f64],
    counters: &mut TurnCounters,
) -> spatial_coordinate::SpatialCoordinate {
    match coordinate {
        BodyCoordinate::Position(k) => {
            let mut direction = Vec3::zeros();
            direction[k] = 1.0;
            spatial_coordinate::SpatialCoordinate::Slide(spatial_coordinate::SpatialSlide {
                body: None,
                direction,
                point: SpatialGeometry::point(model, Some(body), [0.0; 3]),
                offset: 0.0,
            })
        }
        BodyCoordinate::Angle => {
            let n = Vec3::from(axis);
            let e = perpendicular(&n);
            let in_body = SpatialPoses::new(q).get(Some(body)).to_body(&e);
            let dot = |a: Vec3| DirectionProduct {
                bodies: [None, Some(body)],
                directions: [a, in_body],
            };
            spatial_coordinate::SpatialCoordinate::Angle(SpatialAngle {
                sine: dot(n.cross(&e)),
                cosine: dot(e),
                sign: 1.0,
                offset: 0.0,
                counter: counters.allocate(0.0),
            })
        }
    }
}

/// Fixes the orientation of a body in space, or all of it but the angle about an axis `free` of the ground.
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
    let mut perpendicular_constraint = |a: Vec3, b: Vec3| {
        let directions = [a, pose.to_body(&b)];
        let bodies = [None, Some(body)];
        let coordinate =
            spatial_coordinate::SpatialCoordinate::DirectionProduct(DirectionProduct {
                bodies,
                directions,
            });
        ConstraintPart::fixed(coordinate, 0.0, slots)
    };
    let mut parts = vec![
        perpendicular_constraint(n, e),
        perpendicular_constraint(n, f),
    ];
    if free.is_none() {
        parts.push(perpendicular_constraint(e, f));
    }
    parts
}

/// Constraints of a prescribed body for the coordinates that no motion drives.
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
    // These coordinates are not angles: no turns are counted.
    let counters = &mut TurnCounters::default();
    for k in 0..W::DIMENSION {
        let coordinate = BodyCoordinate::Position(k);
        if driven(coordinate).is_none() {
            let coordinate = W::body_coordinate(model, body, coordinate, [0.0; 3], q, counters);
            let value = initial_value::<W, N>(&coordinate, q);
            parts.push(ConstraintPart::fixed(coordinate, value, slots));
        }
    }
    let free = driven(BodyCoordinate::Angle).map(|motion| motion.axis);
    parts.extend(W::fixed_orientation(body, free, q, slots));
    parts
}
