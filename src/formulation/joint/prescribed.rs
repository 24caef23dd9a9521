//! Bodies that move as prescribed: rows that hold each coordinate against the ground, at its start or on its course.
//!
//! x, y, z are those of the body's frame in the ground frame; the angle is the body's own in the plane, and in space the one
//! turned since the start about an axis fixed in the ground.

use super::{Build, first_value};
use crate::formulation::absolute::Counters;
use crate::formulation::absolute::plane::measure::{self as flat, Turn};
use crate::formulation::absolute::plane::{Plane, pose::Vec2};
use crate::formulation::absolute::rows::Part;
use crate::formulation::absolute::slots::Slots;
use crate::formulation::absolute::space::Space;
use crate::formulation::absolute::space::measure::{self as deep, Angle, Dot, across};
use crate::formulation::absolute::space::pose::Poses;
use crate::formulation::absolute::world::World;
use crate::linalg::so3::Vec3;
use crate::model::{BodyCoordinate, Model, Moved};

/// A coordinate of a body of the plane.
pub(super) fn plane(model: &Model, body: usize, coordinate: BodyCoordinate) -> flat::Measure {
    match coordinate {
        BodyCoordinate::Position(k) => {
            let mut direction = Vec2::zeros();
            direction[k.min(1)] = 1.0;
            flat::Measure::Slide(flat::Slide {
                body: None,
                direction,
                point: Plane::point(model, Some(body), [0.0; 3]),
                offset: 0.0,
            })
        }
        BodyCoordinate::Angle => flat::Measure::Turn(Turn {
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
    slots: &mut Slots,
) -> Vec<Part<Plane, 6>> {
    if driven {
        return vec![];
    }
    let turn = flat::Measure::Turn(Turn {
        bodies: [None, Some(body)],
        offset: 0.0,
    });
    let value = first_value::<Plane, 6>(&turn, q);
    vec![Part::held(turn, value, slots)]
}

/// A coordinate of a body of space.
pub(super) fn space(
    model: &Model,
    body: usize,
    coordinate: BodyCoordinate,
    axis: [f64; 3],
    q: &[f64],
    counters: &mut Counters,
) -> deep::Measure {
    match coordinate {
        BodyCoordinate::Position(k) => {
            let mut direction = Vec3::zeros();
            direction[k] = 1.0;
            deep::Measure::Slide(deep::Slide {
                body: None,
                direction,
                point: Space::point(model, Some(body), [0.0; 3]),
                offset: 0.0,
            })
        }
        BodyCoordinate::Angle => {
            let n = Vec3::from(axis);
            let e = across(&n);
            let own = Poses::new(q).get(Some(body)).turn_back(&e);
            let dot = |a: Vec3| Dot {
                bodies: [None, Some(body)],
                directions: [a, own],
            };
            deep::Measure::Angle(Angle {
                sine: dot(n.cross(&e)),
                cosine: dot(e),
                sign: 1.0,
                offset: 0.0,
                counter: counters.one(0.0),
            })
        }
    }
}

/// The orientation of a body of space: as at start, or all but the angle about an axis of the ground.
pub(super) fn keep_orientation(
    body: usize,
    free: Option<[f64; 3]>,
    q: &[f64],
    slots: &mut Slots,
) -> Vec<Part<Space, 12>> {
    let n = free.map_or(Vec3::z(), Vec3::from);
    let e = across(&n);
    let f = n.cross(&e);
    let pose = Poses::new(q).get(Some(body));
    let mut square = |a: Vec3, b: Vec3| {
        let directions = [a, pose.turn_back(&b)];
        let bodies = [None, Some(body)];
        let measure = deep::Measure::Dot(Dot { bodies, directions });
        Part::held(measure, 0.0, slots)
    };
    let mut parts = vec![square(n, e), square(n, f)];
    if free.is_none() {
        parts.push(square(e, f));
    }
    parts
}

/// Rows of a prescribed body for the coordinates that no motion drives.
pub fn resting<W: Build<N>, const N: usize>(
    model: &Model,
    body: usize,
    q: &[f64],
    slots: &mut Slots,
) -> Vec<Part<W, N>> {
    let driven = |coordinate: BodyCoordinate| {
        (model.motions.iter()).find(|m| m.on == Moved::Body(body, coordinate))
    };
    let mut parts = Vec::new();
    // No angle is measured here, so none is counted.
    let counters = &mut Counters::default();
    for k in 0..W::DIMENSION {
        let coordinate = BodyCoordinate::Position(k);
        if driven(coordinate).is_none() {
            let measure = W::of_body(model, body, coordinate, [0.0; 3], q, counters);
            let value = first_value::<W, N>(&measure, q);
            parts.push(Part::held(measure, value, slots));
        }
    }
    let free = driven(BodyCoordinate::Angle).map(|motion| motion.axis);
    parts.extend(W::orientation(body, free, q, slots));
    parts
}
