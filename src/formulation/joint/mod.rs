//! Joints, one file for each: constraint rows Φ, their Jacobian G, their second derivative along the motion, the geometric
//! stiffness ∂(Gᵀλ)/∂q, the joint's coordinate and its reaction.
//!
//! Order and sign are chosen so that −Gᵀλ restricted to `bodies[1]` is the load of the joint on that body; the reaction
//! reported for a joint is this load, moved to the joint point of `bodies[1]`. The effort of an actuator in the joint is
//! not part of it.

mod place;
pub mod prismatic;
pub mod revolute;

use super::planar::measure::Measure;
use super::planar::pose::{Pose, Poses, Vec2};
use super::planar::slots::Slots;
use crate::error::Result;
use crate::model::{self, BodyRef, JointKind, Model};
use prismatic::Prismatic;
use revolute::Revolute;

/// Force and moment on `bodies[1]` at its joint point, ground axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// N
    pub force: Vec2,
    /// N m
    pub moment: f64,
}

/// What a joint of the plane gives to the equations. Slices hold the joint's own rows and entries only.
pub trait PlanarJoint {
    /// Number of constraint rows.
    fn rows(&self) -> usize;

    /// Places of the Jacobian, rows counted from the joint's first.
    fn pattern(&self, push: &mut dyn FnMut(usize, usize));

    /// Φ
    fn constraint(&self, poses: &mut Poses, phi: &mut [f64]);

    /// Values of G in the order of `pattern`; returns how many.
    fn jacobian(&self, poses: &mut Poses, out: &mut [f64]) -> usize;

    /// (G v)_q v
    fn convective(&self, poses: &mut Poses, v: &[f64], gamma: &mut [f64]);

    /// out += factor ∂(Gᵀλ)/∂q, in the whole tangent matrix.
    fn stiffness(&self, poses: &mut Poses, lambda: &[f64], factor: f64, out: &mut [f64]);

    /// Whether the row is closed to an angle rather than to a length.
    fn is_angle(&self, row: usize) -> bool;

    /// The joint coordinate: `bodies[1]` relative to `bodies[0]`.
    fn coordinate(&self) -> &Measure;

    /// The reaction.
    fn load(&self, poses: &mut Poses, lambda: &[f64]) -> Load;
}

/// A joint of the plane.
#[derive(Clone, Debug)]
pub enum Joint {
    /// Pin.
    Revolute(Revolute),
    /// Slide.
    Prismatic(Prismatic),
}

impl Joint {
    /// From the model, with the bodies' poses at start.
    pub fn new(
        model: &Model,
        joint: &model::Joint,
        start: &[Pose],
        slots: &mut Slots,
    ) -> Result<Self> {
        let place = place::locate(model, joint, start)?;
        Ok(match joint.kind {
            JointKind::Revolute => Self::Revolute(Revolute::new(&place, joint.position, slots)),
            JointKind::Prismatic => Self::Prismatic(Prismatic::new(model, joint, &place, slots)?),
        })
    }

    /// Its equations.
    #[inline]
    pub fn get(&self) -> &dyn PlanarJoint {
        match self {
            Self::Revolute(joint) => joint,
            Self::Prismatic(joint) => joint,
        }
    }
}

/// Columns of the bodies that are not the ground, with the side (0 or 1) of each.
fn columns(bodies: [BodyRef; 2]) -> impl Iterator<Item = (usize, usize)> {
    bodies
        .into_iter()
        .enumerate()
        .filter_map(|(side, body)| body.map(|b| (side, 3 * b)))
}
