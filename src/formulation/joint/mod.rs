//! Joints, one file for each: which rows they hold and which coordinates they leave, in the plane and in space.
//!
//! Order and sign of rows are chosen so that −Gᵀλ restricted to `bodies[1]` is the load of the joint on that body; the
//! reaction reported for a joint is this load, moved to the joint point of `bodies[1]`. Coordinates are those of `bodies[1]`
//! relative to `bodies[0]` along `bodies[0]`'s axes.
//!
//! | joint | rows in the plane | rows in space |
//! |---|---|---|
//! | fixed | meet, turn | meet, 3 dots |
//! | revolute | meet | meet, 2 dots |
//! | prismatic | turn, slide | 3 dots, 2 slides |
//! | cylindrical | | 2 dots, 2 slides |
//! | spherical | | meet |
//! | universal | | meet, dot |
//! | planar | | 2 dots, slide |
//! | screw | | 2 dots, 2 slides, slide coupled to angle |
//! | distance | line | line |
//! | point on line | slide | 2 slides |
//! | coupling | one measure coupled to another | the same |

pub mod coupling;
mod cylindrical;
mod distance;
mod fixed;
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
use super::absolute::planar::coordinate::{self as flat, PlanarAngle};
use super::absolute::planar::pose::Vec2;
use super::absolute::sparsity::SparsityBuilder;
use super::absolute::spatial::SpatialGeometry;
use super::absolute::spatial::coordinate::{self as deep, DirectionProduct, SpatialAngle};
use super::function::Function;
use crate::error::{Error, Result};
use crate::linalg::rotation::Vec3;
use crate::model::{self, BodyRef, JointCoordinate, JointKind, Model};
use placement::{PlanarPlacement, refuse};

/// What a joint leaves free and where its rows are.
#[derive(Clone, Debug)]
pub struct JointEquations<W: Geometry<N>, const N: usize> {
    /// `bodies[1]` moves relative to `bodies[0]`.
    pub bodies: [BodyRef; 2],
    /// The joint's coordinates.
    pub coordinates: Vec<W::RelativeCoordinate>,
    /// The joint point of `bodies[1]`, where reactions are reported; of a coupling that of its second joint.
    pub point: Option<W::BodyPoint>,
    /// Its parts among the rows of the mechanism.
    pub constraints: std::ops::Range<usize>,
}

/// A world in which joints can be built.
pub trait JointGeometry<const N: usize>: Geometry<N> {
    /// A joint drawn or given: where it sits in its bodies.
    type Placement;

    /// Both joint frames in body axes.
    fn placement(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<Self::Placement>;

    /// The joint points.
    fn points(at: &Self::Placement) -> [Self::BodyPoint; 2];

    /// Rows and coordinates of a joint.
    fn add_constraints(b: &mut JointBuilder<Self, N>) -> Result<()>;

    /// The coordinate of a body against the ground.
    fn body_coordinate(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        axis: [f64; 3],
        q: &[f64],
        counters: &mut TurnCounters,
    ) -> Self::RelativeCoordinate;

    /// Rows that keep the orientation of a body: all of it, or all but the angle about an axis.
    fn fixed_orientation(
        body: usize,
        free: Option<[f64; 3]>,
        q: &[f64],
        slots: &mut SparsityBuilder,
    ) -> Vec<ConstraintPart<Self, N>>;
}

/// A joint while it is built.
pub struct JointBuilder<'a, W: JointGeometry<N>, const N: usize> {
    model: &'a Model,
    joint: &'a model::Joint,
    placement: W::Placement,
    /// The start pose.
    q: &'a [f64],
    coincidence_distance: f64,
    counters: &'a mut TurnCounters,
    slots: &'a mut SparsityBuilder,
    parts: Vec<ConstraintPart<W, N>>,
    coordinates: Vec<W::RelativeCoordinate>,
}

impl<W: JointGeometry<N>, const N: usize> JointBuilder<'_, W, N> {
    fn refuse(&self, why: &str) -> Error {
        refuse(self.model, self.joint, why)
    }

    /// The joint points stay in one place.
    fn coincide(&mut self) {
        let part = ConstraintPart::coincidence(W::points(&self.placement), self.slots);
        self.parts.push(part);
    }

    /// A measure stays at a value.
    fn fix(&mut self, measure: W::RelativeCoordinate, value: f64) {
        let part = ConstraintPart::fixed(measure, value, self.slots);
        self.parts.push(part);
    }

    /// A measure follows another.
    fn couple(&mut self, measures: [W::RelativeCoordinate; 2], law: Function) {
        let part = ConstraintPart::coupled(measures, law, self.slots);
        self.parts.push(part);
    }

    /// The start value of coordinate `k` by its name.
    fn initial_position(&self, k: usize) -> f64 {
        self.joint.position[k]
    }
}

impl JointBuilder<'_, PlanarGeometry, 6> {
    /// Angle between the bodies plus `offset`.
    fn angle(&self, offset: f64) -> flat::PlanarCoordinate {
        flat::PlanarCoordinate::Angle(PlanarAngle {
            bodies: self.placement.points.map(|p| p.body),
            offset,
        })
    }

    /// Travel of the second point from the first along a direction of the first body.
    fn slide(&self, direction: Vec2, offset: f64) -> flat::PlanarCoordinate {
        let [p0, p1] = self.placement.points;
        flat::PlanarCoordinate::Slide(flat::PlanarSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: offset - direction.dot(&p0.s),
        })
    }
}

impl JointBuilder<'_, SpatialGeometry, 12> {
    /// Product of a direction of each body.
    fn direction_product(&self, a: Vec3, b: Vec3) -> DirectionProduct {
        DirectionProduct {
            bodies: self.placement.points.map(|p| p.body),
            directions: [a, b],
        }
    }

    /// Two directions stay at right angles.
    fn keep_perpendicular(&mut self, a: Vec3, b: Vec3) {
        let dot = self.direction_product(a, b);
        self.fix(deep::SpatialCoordinate::DirectionProduct(dot), 0.0);
    }

    /// The axes stay parallel.
    fn keep_axes_parallel(&mut self) {
        let ([_, _, n0], [e1, f1, _]) = (self.placement.frames[0], self.placement.frames[1]);
        self.keep_perpendicular(n0, e1);
        self.keep_perpendicular(n0, f1);
    }

    /// The frames stay parallel.
    fn keep_orientation(&mut self) {
        self.keep_axes_parallel();
        let ([e0, ..], [_, f1, _]) = (self.placement.frames[0], self.placement.frames[1]);
        self.keep_perpendicular(e0, f1);
    }

    /// Travel of the second point from the first along a direction of the first body.
    fn slide(&self, direction: Vec3, offset: f64) -> deep::SpatialCoordinate {
        let [p0, p1] = self.placement.points;
        deep::SpatialCoordinate::Slide(deep::SpatialSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: offset - direction.dot(&p0.s),
        })
    }

    /// The second point stays on the axis of the first body.
    fn keep_on_axis(&mut self) {
        let [e0, f0, _] = self.placement.frames[0];
        for direction in [e0, f0] {
            let measure = self.slide(direction, 0.0);
            self.fix(measure, 0.0);
        }
    }

    /// The angle of the second frame about the axis, counted, `offset` where the frames are parallel.
    fn angle(&mut self, offset: f64) -> deep::SpatialCoordinate {
        let ([e0, f0, _], [e1, ..]) = (self.placement.frames[0], self.placement.frames[1]);
        deep::SpatialCoordinate::Angle(SpatialAngle {
            sine: self.direction_product(f0, e1),
            cosine: self.direction_product(e0, e1),
            sign: 1.0,
            offset,
            counter: self.counters.allocate(offset),
        })
    }
}

/// A joint and its rows; a coupling has none yet.
pub fn build<W: JointGeometry<N>, const N: usize>(
    model: &Model,
    joint: &model::Joint,
    q: &[f64],
    tiny: f64,
    counters: &mut TurnCounters,
    slots: &mut SparsityBuilder,
) -> Result<(JointEquations<W, N>, Vec<ConstraintPart<W, N>>)> {
    if joint.kind == JointKind::Coupling {
        let none = JointEquations {
            bodies: joint.bodies,
            coordinates: vec![],
            point: None,
            constraints: 0..0,
        };
        return Ok((none, vec![]));
    }
    let at = W::placement(model, joint, q)?;
    let point = W::points(&at)[1];
    let mut builder = JointBuilder {
        model,
        joint,
        placement: at,
        q,
        coincidence_distance: tiny,
        counters,
        slots,
        parts: vec![],
        coordinates: vec![],
    };
    W::add_constraints(&mut builder)?;
    let built = JointEquations {
        bodies: joint.bodies,
        coordinates: builder.coordinates,
        point: Some(point),
        constraints: 0..0,
    };
    Ok((built, builder.parts))
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
                let why = format!("is {}, which exists in three dimensions only", other.name());
                return Err(b.refuse(&why));
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
    ) -> flat::PlanarCoordinate {
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
            JointKind::Planar => planar::spatial(b),
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
    ) -> deep::SpatialCoordinate {
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

/// The measure of a joint's coordinate, for whoever `user` wants it.
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

/// The value of a measure at the start.
pub fn initial_value<W: Geometry<N>, const N: usize>(
    measure: &W::RelativeCoordinate,
    q: &[f64],
) -> f64 {
    measure.value(&mut W::poses(q)).0
}
