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
pub mod located;
mod planar;
mod point_on_line;
pub mod prescribed;
mod prismatic;
mod revolute;
mod screw;
mod spherical;
mod universal;

use super::absolute::Counters;
use super::absolute::plane::Plane;
use super::absolute::plane::measure::{self as flat, Turn};
use super::absolute::plane::pose::Vec2;
use super::absolute::rows::Part;
use super::absolute::slots::Slots;
use super::absolute::space::Space;
use super::absolute::space::measure::{self as deep, Angle, Dot};
use super::absolute::world::{Measure as _, World};
use super::function::Function;
use crate::error::{Error, Result};
use crate::linalg::so3::Vec3;
use crate::model::{self, BodyRef, JointCoordinate, JointKind, Model};
use located::{Flat, refuse};

/// What a joint leaves free and where its rows are.
#[derive(Clone, Debug)]
pub struct Joint<W: World<N>, const N: usize> {
    /// `bodies[1]` moves relative to `bodies[0]`.
    pub bodies: [BodyRef; 2],
    /// The joint's coordinates.
    pub coordinates: Vec<W::Measure>,
    /// The joint point of `bodies[1]`, where reactions are reported; of a coupling that of its second joint.
    pub point: Option<W::Point>,
    /// Its parts among the rows of the mechanism.
    pub rows: std::ops::Range<usize>,
}

/// A world in which joints can be built.
pub trait Build<const N: usize>: World<N> {
    /// A joint drawn or given: where it sits in its bodies.
    type Located;

    /// Both joint frames in body axes.
    fn locate(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<Self::Located>;

    /// The joint points.
    fn points(at: &Self::Located) -> [Self::Point; 2];

    /// Rows and coordinates of a joint.
    fn parts(b: &mut Builder<Self, N>) -> Result<()>;

    /// The coordinate of a body against the ground.
    fn of_body(
        model: &Model,
        body: usize,
        coordinate: model::BodyCoordinate,
        axis: [f64; 3],
        q: &[f64],
        counters: &mut Counters,
    ) -> Self::Measure;

    /// Rows that keep the orientation of a body: all of it, or all but the angle about an axis.
    fn orientation(
        body: usize,
        free: Option<[f64; 3]>,
        q: &[f64],
        slots: &mut Slots,
    ) -> Vec<Part<Self, N>>;
}

/// A joint while it is built.
pub struct Builder<'a, W: Build<N>, const N: usize> {
    model: &'a Model,
    joint: &'a model::Joint,
    at: W::Located,
    /// The start pose.
    q: &'a [f64],
    tiny: f64,
    counters: &'a mut Counters,
    slots: &'a mut Slots,
    parts: Vec<Part<W, N>>,
    coordinates: Vec<W::Measure>,
}

impl<W: Build<N>, const N: usize> Builder<'_, W, N> {
    fn refuse(&self, why: &str) -> Error {
        refuse(self.model, self.joint, why)
    }

    /// The joint points stay in one place.
    fn meet(&mut self) {
        let part = Part::meet(W::points(&self.at), self.slots);
        self.parts.push(part);
    }

    /// A measure stays at a value.
    fn hold(&mut self, measure: W::Measure, value: f64) {
        let part = Part::held(measure, value, self.slots);
        self.parts.push(part);
    }

    /// A measure follows another.
    fn couple(&mut self, measures: [W::Measure; 2], law: Function) {
        let part = Part::coupled(measures, law, self.slots);
        self.parts.push(part);
    }

    /// The start value of coordinate `k` by its name.
    fn position(&self, k: usize) -> f64 {
        self.joint.position[k]
    }
}

impl Builder<'_, Plane, 6> {
    /// Angle between the bodies plus `offset`.
    fn turn(&self, offset: f64) -> flat::Measure {
        flat::Measure::Turn(Turn {
            bodies: self.at.points.map(|p| p.body),
            offset,
        })
    }

    /// Travel of the second point from the first along a direction of the first body.
    fn slide(&self, direction: Vec2, offset: f64) -> flat::Measure {
        let [p0, p1] = self.at.points;
        flat::Measure::Slide(flat::Slide {
            body: p0.body,
            direction,
            point: p1,
            offset: offset - direction.dot(&p0.s),
        })
    }
}

impl Builder<'_, Space, 12> {
    /// Product of a direction of each body.
    fn dot(&self, a: Vec3, b: Vec3) -> Dot {
        Dot {
            bodies: self.at.points.map(|p| p.body),
            directions: [a, b],
        }
    }

    /// Two directions stay at right angles.
    fn hold_square(&mut self, a: Vec3, b: Vec3) {
        let dot = self.dot(a, b);
        self.hold(deep::Measure::Dot(dot), 0.0);
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
    fn slide(&self, direction: Vec3, offset: f64) -> deep::Measure {
        let [p0, p1] = self.at.points;
        deep::Measure::Slide(deep::Slide {
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
    fn angle(&mut self, offset: f64) -> deep::Measure {
        let ([e0, f0, _], [e1, ..]) = (self.at.frames[0], self.at.frames[1]);
        deep::Measure::Angle(Angle {
            sine: self.dot(f0, e1),
            cosine: self.dot(e0, e1),
            sign: 1.0,
            offset,
            counter: self.counters.one(offset),
        })
    }
}

/// A joint and its rows; a coupling has none yet.
pub fn build<W: Build<N>, const N: usize>(
    model: &Model,
    joint: &model::Joint,
    q: &[f64],
    tiny: f64,
    counters: &mut Counters,
    slots: &mut Slots,
) -> Result<(Joint<W, N>, Vec<Part<W, N>>)> {
    if joint.kind == JointKind::Coupling {
        let none = Joint {
            bodies: joint.bodies,
            coordinates: vec![],
            point: None,
            rows: 0..0,
        };
        return Ok((none, vec![]));
    }
    let at = W::locate(model, joint, q)?;
    let point = W::points(&at)[1];
    let mut builder = Builder {
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
    let built = Joint {
        bodies: joint.bodies,
        coordinates: builder.coordinates,
        point: Some(point),
        rows: 0..0,
    };
    Ok((built, builder.parts))
}

impl Build<6> for Plane {
    type Located = Flat;

    fn locate(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<Flat> {
        located::flat(model, joint, q)
    }

    fn points(at: &Flat) -> [Self::Point; 2] {
        at.points
    }

    fn parts(b: &mut Builder<Self, 6>) -> Result<()> {
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
        _counters: &mut Counters,
    ) -> flat::Measure {
        prescribed::plane(model, body, coordinate)
    }

    fn orientation(
        body: usize,
        free: Option<[f64; 3]>,
        q: &[f64],
        slots: &mut Slots,
    ) -> Vec<Part<Self, 6>> {
        prescribed::keep_angle(body, free.is_some(), q, slots)
    }
}

impl Build<12> for Space {
    type Located = located::Deep;

    fn locate(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<located::Deep> {
        located::deep(model, joint, q)
    }

    fn points(at: &located::Deep) -> [Self::Point; 2] {
        at.points
    }

    fn parts(b: &mut Builder<Self, 12>) -> Result<()> {
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
        counters: &mut Counters,
    ) -> deep::Measure {
        prescribed::space(model, body, coordinate, axis, q, counters)
    }

    fn orientation(
        body: usize,
        free: Option<[f64; 3]>,
        q: &[f64],
        slots: &mut Slots,
    ) -> Vec<Part<Self, 12>> {
        prescribed::keep_orientation(body, free, q, slots)
    }
}

/// The measure of a joint's coordinate, for whoever `user` wants it.
pub fn coordinate<W: World<N>, const N: usize>(
    model: &Model,
    joints: &[Joint<W, N>],
    of: JointCoordinate,
    user: &str,
) -> Result<W::Measure> {
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
pub fn first_value<W: World<N>, const N: usize>(measure: &W::Measure, q: &[f64]) -> f64 {
    measure.value(&mut W::poses(q)).0
}
