//! Force elements, one file for each. What acts along one measure c(q) between two bodies is a [`Law`]:
//!
//! ```text
//!   f = −F(c, ċ) g,      −∂f/∂v = F_ċ g gᵀ,      −∂f/∂q = g (F_c g + F_ċ Hᵀ v)ᵀ + F H
//! ```
//!
//! with F positive where it pulls together. What acts as a force at a place is a [`kernel::Kernel`], written over numbers that
//! carry their derivatives. Whatever else there is, is an [`Element`] of its own.
//!
//! Kinks and jumps are events: an element has modes, fixed during a step, in each of which its law is smooth.

pub mod actuator;
mod along_coordinate;
pub mod body_frame;
mod build;
pub mod bushing;
pub mod contact;
pub mod dual;
pub mod force_law;
pub mod friction;
pub mod gravity;
pub mod group;
pub mod joint_limit;
pub mod load;
pub mod rigid_contact;
pub mod spatial_force;
pub mod spring_damper;
pub mod tyre;
pub mod unilateral;

#[cfg(test)]
mod tests;

use std::fmt::Debug;

use super::absolute::geometry::Geometry;
use super::absolute::planar::{self, PlanarGeometry, flat};
use super::absolute::spatial::{self, SpatialGeometry};
use super::{
    Crossing, Energy, EvaluationContext, EventEffect, MotionPoint, Power, TangentialFriction,
};
use crate::linalg::rotation::Vec3;
use crate::model::BodyRef;
pub use build::{ForceBuildContext, UnilateralRows, build, in_joint};
use contact::outline::SmoothCurve;

/// The force F of a law and its slopes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScalarForce {
    /// F
    pub force: f64,
    /// ∂F/∂c
    pub by_length: f64,
    /// ∂F/∂ċ
    pub by_rate: f64,
}

/// How many event functions and modes an element has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LawEvent {
    /// Event functions.
    pub events: usize,
    /// Modes.
    pub modes: usize,
}

/// What a user reads of a force element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceQuantities {
    /// Length or joint coordinate; the depth of a contact (m or rad).
    pub length: f64,
    /// Its rate.
    pub rate: f64,
    /// N or N m
    pub force: f64,
    /// Force on the second body, ground axes (N).
    pub load: [f64; 3],
    /// Couple on the second body besides the moment of the force, ground axes (N m).
    pub moment: [f64; 3],
}

/// What a law along a measure gives to the equations. The modes in the context are its own.
pub trait ScalarLaw: Debug + Send + Sync {
    /// F and its slopes at c and ċ.
    fn pull(&self, cx: &EvaluationContext, length: f64, rate: f64) -> ScalarForce;

    /// The force a user reads: by default F.
    fn shown(&self, pull: &ScalarForce) -> f64 {
        pull.force
    }

    /// F can depend on c: the stiffness has entries g gᵀ.
    fn depends_on_length(&self) -> bool;

    /// F can depend on ċ.
    fn depends_on_rate(&self) -> bool;

    /// It brings energy in by itself, not only what dampers take out.
    fn drives(&self) -> bool {
        false
    }

    /// ∂F/∂q at coinciding points, where a line has no direction but the force may still be smooth: the factor of eᵀe.
    fn at_coincidence(&self, _cx: &EvaluationContext) -> f64 {
        0.0
    }

    /// Energy stored (J).
    fn potential(&self, _cx: &EvaluationContext, _length: f64) -> f64 {
        0.0
    }

    /// Power.
    fn power(&self, cx: &EvaluationContext, length: f64, rate: f64) -> Power;

    /// How many events and modes.
    fn watched(&self) -> LawEvent {
        LawEvent::default()
    }

    /// The modes at the start, for c and ċ.
    fn start_modes(&self, _cx: &EvaluationContext, _length: f64, _rate: f64, _modes: &mut [i32]) {}

    /// Event functions and their rates, for c, ċ and c̈.
    fn events(
        &self,
        _cx: &EvaluationContext,
        _course: [f64; 3],
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) {
    }

    /// Which crossings of event `i` count.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Off
    }

    /// Event `i` has been hit.
    fn fire(&self, _cx: &EvaluationContext, _course: [f64; 3], _i: usize, _modes: &mut [i32]) {}

    /// The motion is thrown to and fro over event `i`: enter a mode that ends this, if there is one.
    fn hold(&self, _i: usize, _modes: &mut [i32]) {}
}

/// What a force element gives to the equations. Slices are those of the whole system, modes and events its own.
pub trait ForceElement<W: Geometry<N>, const N: usize>: Debug + Send + Sync {
    /// f can depend on v.
    fn depends_on_rate(&self) -> bool;

    /// Dampers and drives do work; springs only store it.
    fn works(&self) -> bool;

    /// out += f
    fn apply(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, v: &[f64], out: &mut [f64]);

    /// out += damping (−∂f/∂v) + stiffness (−∂f/∂q), at the slots asked for at set-up.
    fn tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    );

    /// Its rows rub: [`Element::rub`] is not always zero.
    fn rubs(&self) -> bool {
        false
    }

    /// out += forces in proportion to the multipliers of its rows.
    fn rub(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _lambda: &[f64],
        _out: &mut [f64],
    ) {
    }

    /// out += damping (−∂f/∂v) + stiffness (−∂f/∂q) of [`Element::rub`].
    fn rub_tangent(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: (&[f64], &[f64]),
        _damping: f64,
        _stiffness: f64,
        _out: &mut [f64],
    ) {
    }

    /// Adds the energy stored.
    fn add_energy(&self, _cx: &EvaluationContext, _poses: &mut W::Poses<'_>, _energy: &mut Energy) {
    }

    /// Adds the power.
    fn add_power(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _power: &mut Power,
    ) {
    }

    /// What a user reads.
    fn shown(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities;

    /// Which of its own constraint rows hold, among all rows.
    fn active(&self, _modes: &[i32], _rows: &mut [bool]) {}

    /// How many events and modes.
    fn watched(&self) -> LawEvent {
        LawEvent::default()
    }

    /// The modes at the start.
    fn start_modes(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _modes: &mut [i32],
    ) {
    }

    /// Event functions and their rates along the motion.
    fn events(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) {
    }

    /// Which crossings of event `i` count.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Off
    }

    /// Event `i` has been hit: change the modes; for an impulse write the gradient of φ into `n`, of the whole system.
    fn fire(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        _i: usize,
        _modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        EventEffect::Mode
    }

    /// Friction of the blow of event `i`, as [`super::System::slip`].
    fn slip(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        _i: usize,
        _direction: usize,
        _t: &mut [f64],
    ) -> Option<TangentialFriction> {
        None
    }

    /// Lets go of what is held, as [`super::System::release`].
    fn release(&self, _modes: &mut [i32], _gaps: &mut [bool]) {}

    /// Event `i` bounces too slowly to go on bouncing, or the motion is thrown to and fro over it.
    fn hold(&self, _i: usize, _modes: &mut [i32]) {}
}

/// A world in which force elements can be built.
pub trait ForceGeometry<const N: usize>: Geometry<N> + body_frame::BodyView<N> {
    /// The distance of two points, without direction below `tiny`.
    fn line(points: [Self::BodyPoint; 2], tiny: f64) -> Self::RelativeCoordinate;

    /// Travel of the second point from the first along a direction of the first body.
    fn slide(points: [Self::BodyPoint; 2], direction: [f64; 3]) -> Self::RelativeCoordinate;

    /// Height of a point above a smooth outline of another body; outlines exist in the plane only.
    fn height(
        body: BodyRef,
        outline: &SmoothCurve,
        point: Self::BodyPoint,
    ) -> Option<Self::RelativeCoordinate>;
}

impl ForceGeometry<6> for PlanarGeometry {
    fn line(points: [Self::BodyPoint; 2], tiny: f64) -> Self::RelativeCoordinate {
        planar::coordinate::PlanarCoordinate::Line(planar::coordinate::PlanarDistance {
            points,
            tiny,
        })
    }

    fn slide([p0, p1]: [Self::BodyPoint; 2], direction: [f64; 3]) -> Self::RelativeCoordinate {
        let direction = flat(direction);
        planar::coordinate::PlanarCoordinate::Slide(planar::coordinate::PlanarSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: -direction.dot(&p0.s),
        })
    }

    fn height(
        body: BodyRef,
        outline: &SmoothCurve,
        point: Self::BodyPoint,
    ) -> Option<Self::RelativeCoordinate> {
        Some(planar::coordinate::PlanarCoordinate::Height(Box::new(
            planar::coordinate::PlanarHeight {
                body,
                outline: outline.clone(),
                point,
            },
        )))
    }
}

impl ForceGeometry<12> for SpatialGeometry {
    fn line(points: [Self::BodyPoint; 2], tiny: f64) -> Self::RelativeCoordinate {
        spatial::coordinate::SpatialCoordinate::Line(spatial::coordinate::SpatialDistance {
            points,
            tiny,
        })
    }

    fn slide([p0, p1]: [Self::BodyPoint; 2], direction: [f64; 3]) -> Self::RelativeCoordinate {
        let direction = Vec3::from(direction);
        spatial::coordinate::SpatialCoordinate::Slide(spatial::coordinate::SpatialSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: -direction.dot(&p0.s),
        })
    }

    fn height(
        _body: BodyRef,
        _outline: &SmoothCurve,
        _point: Self::BodyPoint,
    ) -> Option<Self::RelativeCoordinate> {
        None
    }
}
