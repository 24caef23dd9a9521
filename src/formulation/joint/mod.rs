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
    pub rows: std::ops::Range<usize>,
}

/// A world in which joints can be built.
pub trait JointGeometry<const N: usize>: Geometry<N> {
    /// A joint drawn or given: where it sits in its bodies.
    type Placement;

    /// Both joint frames in body axes.
    fn locate(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<Self::Placement>;

    /// The joint points.
    fn points(at: &Self::Placement) -> [Self::BodyPoint; 2];

    /// Rows and coordinates of a joint.
    fn parts(b: &mut JointBuilder<Self, N>) -> Result<()>;

    /// The coordinate of a body against the ground.
    fn of_body(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        axis: [f64; 3],
        q: &[f64],
        counters: &mut TurnCounters,
    ) -> Self::RelativeCoordinate;

    /// Rows that keep the orientation of a body: all of it, or all but the angle about an axis.
    fn orientation(
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
    at: W::Placement,
    /// The start pose.
    q: &'a [f64],
    tiny: f64,
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
    fn meet(&mut self) {
        let part = ConstraintPart::meet(W::points(&self.at), self.slots);
        self.parts.push(part);
    }

    /// A measure stays at a value.
    fn hold(&mut self, measure: W::RelativeCoordinate, value: f64) {
        let part = ConstraintPart::held(measure, value, self.slots);
        self.parts.push(part);
    }

    /// A measure follows another.
    fn couple(&mut self, measures: [W::RelativeCoordinate; 2], law: Function) {
        let part = ConstraintPart::coupled(measures, law, self.slots);
        self.parts.push(part);
    }

    /// The start value of coordinate `k` by its name.
    fn position(&self, k: usize) -> f64 {
        self.joint.position[k]
    }
}

impl JointBuilder<'_, PlanarGeometry, 6> {
    /// Angle between the bodies plus `offset`.
    fn turn(&self, offset: f64) -> flat::PlanarCoordinate {
        flat::PlanarCoordinate::Turn(PlanarAngle {
            bodies: self.at.points.map(|p| p.body),
            offset,
        })
    }

    /// Travel of the second point from the first along a direction of the first body.
    fn slide(&self, direction: Vec2, offset: f64) -> flat::PlanarCoordinate {
        let [p0, p1] = self.at.points;
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
    fn dot(&self, a: Vec3, b: Vec3) -> DirectionProduct {
        DirectionProduct {
            bodies: self.at.points.map(|p| p.body),
            directions: [a, b],
        }
    }

    /// Two directions stay at right angles.
    fn hold_square(&mut self, a: Vec3, b: Vec3) {
        let dot = self.dot(a, b);
        self.hold(deep::SpatialCoordinate::Dot(dot), 0.0);
    }

    /// The axes stay parallel.
    fn hold_parallel(&mut self) {
        let ([_, _, n0], [e1, f1, _]) = (self.at.frames[0], self.at.frames[1]);
        self.hold_square(n0, e1);
        self.hold_square(n0, f1);
    }

    /// The frames stay parallel.
    fn hold_orientation(&mut self) {
        self.hold_parallel();
        let ([e0, ..], [_, f1, _]) = (self.at.frames[0], self.at.frames[1]);
        self.hold_square(e0, f1);
    }

    /// Travel of the second point from the first along a direction of the first body.
    fn slide(&self, direction: Vec3, offset: f64) -> deep::SpatialCoordinate {
        let [p0, p1] = self.at.points;
        deep::SpatialCoordinate::Slide(deep::SpatialSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: offset - direction.dot(&p0.s),
        })
    }

    /// The second point stays on the axis of the first body.
    fn hold_on_axis(&mut self) {
        let [e0, f0, _] = self.at.frames[0];
        for direction in [e0, f0] {
            let measure = self.slide(direction, 0.0);
            self.hold(measure, 0.0);
        }
    }

    /// The angle of the second frame about the axis, counted, `offset` where the frames are parallel.
    fn angle(&mut self, offset: f64) -> deep::SpatialCoordinate {
        let ([e0, f0, _], [e1, ..]) = (self.at.frames[0], self.at.frames[1]);
        deep::SpatialCoordinate::Angle(SpatialAngle {
            sine: self.dot(f0, e1),
            cosine: self.dot(e0, e1),
            sign: 1.0,
            offset,
            counter: self.counters.one(offset),
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
            rows: 0..0,
        };
        return Ok((none, vec![]));
    }
    let at = W::locate(model, joint, q)?;
    let point = W::points(&at)[1];
    let mut builder = JointBuilder {
        model,
        joint,
        at,
        q,
        tiny,
        counters,
        slots,
        parts: vec![],
        coordinates: vec![],
    };
    W::parts(&mut builder)?;
    let built = JointEquations {
        bodies: joint.bodies,
        coordinates: builder.coordinates,
        point: Some(point),
        rows: 0..0,
    };
    Ok((built, builder.parts))
}

impl JointGeometry<6> for PlanarGeometry {
    type Placement = PlanarPlacement;

    fn locate(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<PlanarPlacement> {
        placement::flat(model, joint, q)
    }

    fn points(at: &PlanarPlacement) -> [Self::BodyPoint; 2] {
        at.points
    }

    fn parts(b: &mut JointBuilder<Self, 6>) -> Result<()> {
        match b.joint.kind {
            JointKind::Fixed => fixed::plane(b),
            JointKind::Revolute => revolute::plane(b),
            JointKind::Prismatic => prismatic::plane(b)?,
            JointKind::Distance => distance::plane(b, b.q)?,
            JointKind::PointOnLine => point_on_line::plane(b)?,
            other => {
                let why = format!("is {}, which exists in three dimensions only", other.name());
                return Err(b.refuse(&why));
            }
        }
        Ok(())
    }

    fn of_body(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        _axis: [f64; 3],
        _q: &[f64],
        _counters: &mut TurnCounters,
    ) -> flat::PlanarCoordinate {
        prescribed::plane(model, body, coordinate)
    }

    fn orientation(
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

    fn locate(
        model: &Model,
        joint: &model::Joint,
        q: &[f64],
    ) -> Result<placement::SpatialPlacement> {
        placement::deep(model, joint, q)
    }

    fn points(at: &placement::SpatialPlacement) -> [Self::BodyPoint; 2] {
        at.points
    }

    fn parts(b: &mut JointBuilder<Self, 12>) -> Result<()> {
        match b.joint.kind {
            JointKind::Fixed => fixed::space(b),
            JointKind::Revolute => revolute::space(b),
            JointKind::Prismatic => prismatic::space(b),
            JointKind::Cylindrical => cylindrical::space(b),
            JointKind::Spherical => spherical::space(b),
            JointKind::Universal => universal::space(b),
            JointKind::Planar => planar::space(b),
            JointKind::Screw => screw::space(b),
            JointKind::Distance => distance::space(b, b.q)?,
            JointKind::PointOnLine => point_on_line::space(b),
            JointKind::Coupling => {}
        }
        Ok(())
    }

    fn of_body(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        axis: [f64; 3],
        q: &[f64],
        counters: &mut TurnCounters,
    ) -> deep::SpatialCoordinate {
        prescribed::space(model, body, coordinate, axis, q, counters)
    }

    fn orientation(
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
pub fn first_value<W: Geometry<N>, const N: usize>(
    measure: &W::RelativeCoordinate,
    q: &[f64],
) -> f64 {
    measure.value(&mut W::poses(q)).0
}
