//! Joints, one file for each: constraints and joint coordinates, planar and spatial.
//!
//! Signs of constraints are such that −Gᵀλ restricted to `bodies[1]` is the reaction force of the joint on that body; it is reported
//! at the joint point of `bodies[1]`. Joint coordinates are those of `bodies[1]` relative to `bodies[0]` along the axes of
//! `bodies[0]`.
//!
//! | joint | planar constraints | spatial constraints |
//! |---|---|---|
//! | fixed | coincidence, angle | coincidence, 3 direction products |
//! | revolute | coincidence | coincidence, 2 direction products |
//! | prismatic | angle, slide | 3 direction products, 2 slides |
//! | cylindrical | | 2 direction products, 2 slides |
//! | spherical | | coincidence |
//! | universal | | coincidence, direction product |
//! | gimbal | | coincidence |
//! | planar | | 2 direction products, slide |
//! | cartesian | | 3 direction products |
//! | screw | | 2 direction products, 2 slides, slide coupled to angle |
//! | distance | distance | distance |
//! | point on line | slide | 2 slides |
//! | coupling | a joint coordinate coupled to another | the same |

mod cartesian;
pub mod coupling;
mod cylindrical;
mod distance;
mod fixed;
mod gimbal;
pub mod placement;
mod planar;
mod point_on_line;
pub mod prescribed;
mod prismatic;
mod revolute;
mod screw;
mod spherical;
mod universal;

use super::absolute::TurnCounters;
use super::absolute::constraint::ConstraintPart;
use super::absolute::geometry::{Geometry, RelativeCoordinate as _};
use super::absolute::planar::PlanarGeometry;
use super::absolute::planar::coordinate::{self as planar_coordinate, PlanarAngle};
use super::absolute::planar::pose::Vec2;
use super::absolute::sparsity::SparsityBuilder;
use super::absolute::spatial::SpatialGeometry;
use super::absolute::spatial::coordinate::{
    self as spatial_coordinate, DirectionProduct, SpatialAngle,
};
use super::function::Function;
use crate::error::{Error, Result};
use crate::linalg::rotation::Vec3;
use crate::model::{self, BodyRef, JointCoordinate, JointKind, Model};
use placement::PlanarPlacement;

/// Coordinates of a joint, and the indices of its constraints.
#[derive(Clone, Debug)]
pub struct JointEquations<W: Geometry<N>, const N: usize> {
    /// `bodies[1]` moves relative to `bodies[0]`.
    pub bodies: [BodyRef; 2],
    /// The joint coordinates.
    pub coordinates: Vec<W::RelativeCoordinate>,
    /// Of a spherical joint: components of the relative angular velocity, in which friction and armature act.
    pub spins: Vec<W::RelativeCoordinate>,
    /// Joint point of `bodies[1]`, where reaction forces are reported; for a coupling that of its second joint.
    pub point: Option<W::BodyPoint>,
    /// Its parts among the constraints of the mechanism.
    pub constraints: std::ops::Range<usize>,
}

/// Geometry in which joints can be built.
pub trait JointGeometry<const N: usize>: Geometry<N> {
    /// Joint frames in body axes.
    type Placement;

    /// Computes both joint frames in body axes.
    fn placement(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<Self::Placement>;

    /// The joint points.
    fn points(at: &Self::Placement) -> [Self::BodyPoint; 2];

    /// Adds constraints and coordinates of a joint.
    fn add_constraints(b: &mut JointBuilder<Self, N>) -> Result<()>;

    /// Coordinate of a body relative to the ground.
    fn body_coordinate(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        axis: [f64; 3],
        q: &[f64],
        counters: &mut TurnCounters,
    ) -> Self::RelativeCoordinate;

    /// Constraints that fix the orientation of a body, or all of it but the angle about an axis.
    fn fixed_orientation(
        body: usize,
        free: Option<[f64; 3]>,
        q: &[f64],
        slots: &mut SparsityBuilder,
    ) -> Vec<ConstraintPart<Self, N>>;
}

/// A joint under construction.
pub struct JointBuilder<'a, W: JointGeometry<N>, const N: usize> {
    model: &'a Model,
    joint: &'a model::Joint,
    placement: W::Placement,
    /// Initial pose.
    q: &'a [f64],
    coincidence_distance: f64,
    counters: &'a mut TurnCounters,
    slots: &'a mut SparsityBuilder,
    parts: Vec<ConstraintPart<W, N>>,
    coordinates: Vec<W::RelativeCoordinate>,
    spins: Vec<W::RelativeCoordinate>,
}

impl<W: JointGeometry<N>, const N: usize> JointBuilder<'_, W, N> {
    fn error(&self, reason: &str) -> Error {
        placement::error(self.model, self.joint, reason)
    }

    /// The joint points coincide.
    fn coincide(&mut self) {
        let part = ConstraintPart::coincidence(W::points(&self.placement), self.slots);
        self.parts.push(part);
    }

    /// Fixes a relative coordinate.
    fn fix(&mut self, coordinate: W::RelativeCoordinate, value: f64) {
        let part = ConstraintPart::fixed(coordinate, value, self.slots);
        self.parts.push(part);
    }

    /// Makes the second relative coordinate a function of the first.
    fn couple(&mut self, coordinates: [W::RelativeCoordinate; 2], law: Function) {
        let part = ConstraintPart::coupled(coordinates, law, self.slots);
        self.parts.push(part);
    }

    /// Value of joint coordinate `k` in the initial pose, as written in the model.
    fn initial_position(&self, k: usize) -> f64 {
        self.joint.position[k]
    }
}

impl JointBuilder<'_, PlanarGeometry, 6> {
    /// Angle of the second body relative to the first, plus `offset`.
    fn angle(&self, offset: f64) -> planar_coordinate::PlanarCoordinate {
        planar_coordinate::PlanarCoordinate::Angle(PlanarAngle {
            bodies: self.placement.points.map(|p| p.body),
            offset,
        })
    }

    /// Displacement of the second joint point from the first along a direction fixed in the first body.
    fn slide(&self, direction: Vec2, offset: f64) -> planar_coordinate::PlanarCoordinate {
        let [p0, p1] = self.placement.points;
        planar_coordinate::PlanarCoordinate::Slide(planar_coordinate::PlanarSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: offset - direction.dot(&p0.s),
        })
    }
}

impl JointBuilder<'_, SpatialGeometry, 12> {
    /// Scalar product of a direction of each body.
    fn direction_product(&self, a: Vec3, b: Vec3) -> DirectionProduct {
        DirectionProduct {
            bodies: self.placement.points.map(|p| p.body),
            directions: [a, b],
        }
    }

    /// Keeps two directions perpendicular.
    fn keep_perpendicular(&mut self, a: Vec3, b: Vec3) {
        let dot = self.direction_product(a, b);
        self.fix(
            spatial_coordinate::SpatialCoordinate::DirectionProduct(dot),
            0.0,
        );
    }

    /// Keeps the joint axes parallel.
    fn keep_axes_parallel(&mut self) {
        let ([_, _, n0], [e1, f1, _]) = (self.placement.frames[0], self.placement.frames[1]);
        self.keep_perpendicular(n0, e1);
        self.keep_perpendicular(n0, f1);
    }

    /// Keeps the joint frames parallel.
    fn keep_orientation(&mut self) {
        self.keep_axes_parallel();
        let ([e0, ..], [_, f1, _]) = (self.placement.frames[0], self.placement.frames[1]);
        self.keep_perpendicular(e0, f1);
    }

    /// Displacement of the second joint point from the first along a direction fixed in the first body.
    fn slide(&self, direction: Vec3, offset: f64) -> spatial_coordinate::SpatialCoordinate {
        let [p0, p1] = self.placement.points;
        spatial_coordinate::SpatialCoordinate::Slide(spatial_coordinate::SpatialSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: offset - direction.dot(&p0.s),
        })
    }

    /// Keeps the second joint point on the axis of the first body.
    fn keep_on_axis(&mut self) {
        let [e0, f0, _] = self.placement.frames[0];
        for direction in [e0, f0] {
            let coordinate = self.slide(direction, 0.0);
            self.fix(coordinate, 0.0);
        }
    }

    /// Angle of the second frame about the axis, turns counted; `offset` if the frames are parallel.
    fn angle(&mut self, offset: f64) -> spatial_coordinate::SpatialCoordinate {
        let ([e0, f0, _], [e1, ..]) = (self.placement.frames[0], self.placement.frames[1]);
        spatial_coordinate::SpatialCoordinate::Angle(SpatialAngle {
            sine: self.direction_product(f0, e1),
            cosine: self.direction_product(e0, e1),
            sign: 1.0,
            offset,
            counter: self.counters.allocate(offset),
        })
    }
}

/// Builds a joint and its constraints; those of a coupling are built later.
pub fn build<W: JointGeometry<N>, const N: usize>(
    model: &Model,
    joint: &model::Joint,
    q: &[f64],
    coincidence_distance: f64,
    counters: &mut TurnCounters,
    slots: &mut SparsityBuilder,
) -> Result<(JointEquations<W, N>, Vec<ConstraintPart<W, N>>)> {
    if joint.kind == JointKind::Coupling {
        let none = JointEquations {
            bodies: joint.bodies,
            coordinates: vec![],
            spins: vec![],
            point: None,
            constraints: 0..0,
        };
        return Ok((none, vec![]));
    }
    let placement = W::placement(model, joint, q)?;
    let point = W::points(&placement)[1];
    let mut builder = JointBuilder {
        model,
        joint,
        placement,
        q,
        coincidence_distance,
        counters,
        slots,
        parts: vec![],
        coordinates: vec![],
        spins: vec![],
    };
    W::add_constraints(&mut builder)?;
    let equations = JointEquations {
        bodies: joint.bodies,
        coordinates: builder.coordinates,
        spins: builder.spins,
        point: Some(point),
        constraints: 0..0,
    };
    Ok((equations, builder.parts))
}

impl JointGeometry<6> for PlanarGeometry {
    type Placement = PlanarPlacement;

    fn placement(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<PlanarPlacement> {
        placement::planar(model, joint, q)
    }

    fn points(at: &PlanarPlacement) -> [Self::BodyPoint; 2] {
        at.points
    }

    fn add_constraints(b: &mut JointBuilder<Self, 6>) -> Result<()> {
        match b.joint.kind {
            JointKind::Fixed => fixed::planar(b),
            JointKind::Revolute => revolute::planar(b),
            JointKind::Prismatic => prismatic::planar(b)?,
            JointKind::Distance => distance::planar(b, b.q)?,
            JointKind::PointOnLine => point_on_line::planar(b)?,
            other => {
                let reason = format!("is {}, which exists in three dimensions only", other.name());
                return Err(b.error(&reason));
            }
        }
        Ok(())
    }

    fn body_coordinate(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        _axis: [f64; 3],
        _q: &[f64],
        _counters: &mut TurnCounters,
    ) -> planar_coordinate::PlanarCoordinate {
        prescribed::planar(model, body, coordinate)
    }

    fn fixed_orientation(
        body: usize,
        free: Option<[f64; 3]>,
        q: &[f64],
        slots: &mut SparsityBuilder,
    ) -> Vec<ConstraintPart<Self, 6>> {
        prescribed::keep_angle(body, free.is_some(), q, slots)
    }
}

impl JointGeometry<12> for SpatialGeometry {
    type Placement = placement::SpatialPlacement;

    fn placement(
        model: &Model,
        joint: &model::Joint,
        q: &[f64],
    ) -> Result<placement::SpatialPlacement> {
        placement::spatial(model, joint, q)
    }

    fn points(at: &placement::SpatialPlacement) -> [Self::BodyPoint; 2] {
        at.points
    }

    fn add_constraints(b: &mut JointBuilder<Self, 12>) -> Result<()> {
        match b.joint.kind {
            JointKind::Fixed => fixed::spatial(b),
            JointKind::Revolute => revolute::spatial(b),
            JointKind::Prismatic => prismatic::spatial(b),
            JointKind::Cylindrical => cylindrical::spatial(b),
            JointKind::Spherical => spherical::spatial(b),
            JointKind::Universal => universal::spatial(b),
            JointKind::Gimbal => gimbal::spatial(b),
            JointKind::Planar => planar::spatial(b),
            JointKind::Cartesian => cartesian::spatial(b),
            JointKind::Screw => screw::spatial(b),
            JointKind::Distance => distance::spatial(b, b.q)?,
            JointKind::PointOnLine => point_on_line::spatial(b),
            JointKind::Coupling => {}
        }
        Ok(())
    }

    fn body_coordinate(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        axis: [f64; 3],
        q: &[f64],
        counters: &mut TurnCounters,
    ) -> spatial_coordinate::SpatialCoordinate {
        prescribed::spatial(model, body, coordinate, axis, q, counters)
    }

    fn fixed_orientation(
        body: usize,
        free: Option<[f64; 3]>,
        q: &[f64],
        slots: &mut SparsityBuilder,
    ) -> Vec<ConstraintPart<Self, 12>> {
        prescribed::keep_orientation(body, free, q, slots)
    }
}

/// Relative coordinate of a joint, for the element `user`.
pub fn coordinate<W: Geometry<N>, const N: usize>(
    model: &Model,
    joints: &[JointEquations<W, N>],
    of: JointCoordinate,
    user: &str,
) -> Result<W::RelativeCoordinate> {
    (joints.get(of.joint))
        .and_then(|joint| joint.coordinates.get(of.index))
        .cloned()
        .ok_or_else(|| Error::Model {
            origin: model.origin.clone(),
            line: 0,
            column: 0,
            message: format!("\"{user}\" uses a coordinate that its joint does not have"),
        })
}

/// Where inertia or friction number `k` of a joint acts: in its coordinate, of a spherical joint in all components of its angular velocity.
pub fn acting<W: Geometry<N>, const N: usize>(
    model: &Model,
    joints: &[JointEquations<W, N>],
    of: JointCoordinate,
    user: &str,
) -> Result<Vec<W::RelativeCoordinate>> {
    match joints.get(of.joint).map(|joint| &joint.spins) {
        Some(spins) if !spins.is_empty() => Ok(spins.clone()),
        _ => coordinate(model, joints, of, user).map(|own| vec![own]),
    }
}

/// Value of a relative coordinate in the initial pose.
pub fn initial_value<W: Geometry<N>, const N: usize>(
    coordinate: &W::RelativeCoordinate,
    q: &[f64],
) -> f64 {
    coordinate.value(&mut W::poses(q)).0
}
