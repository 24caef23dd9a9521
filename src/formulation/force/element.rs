//! The traits of force elements and the numbers they exchange with the equations of motion.

use std::fmt::Debug;

use super::body_frame::BodyView;
use super::contact::outline::SmoothCurve;
use super::contact::slip::SlipDirection;
use super::rigid_friction::StickingContact;
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::planar::coordinate::{
    PlanarCoordinate, PlanarDistance, PlanarHeight, PlanarSlide,
};
use crate::formulation::absolute::planar::{PlanarGeometry, planar_part};
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::coordinate::{
    SpatialCoordinate, SpatialDistance, SpatialSlide,
};
use crate::formulation::{
    ContactFriction, Crossing, Energy, EvaluationContext, EventEffect, IntegralMemory, MotionPoint,
    Power, TangentialFriction,
};
use crate::linalg::rotation::Vec3;
use crate::model::BodyRef;

/// Force F of a scalar law and its derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScalarForce {
    /// F
    pub force: f64,
    /// ∂F/∂c
    pub by_length: f64,
    /// ∂F/∂ċ
    pub by_rate: f64,
}

/// Numbers of event functions, discrete modes and integrals of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Event functions.
    pub events: usize,
    /// Modes.
    pub modes: usize,
    /// Integrals along the motion.
    pub integrals: usize,
}

/// Output quantities of a force element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceQuantities {
    /// Length or joint coordinate; penetration depth of a contact (m or rad).
    pub length: f64,
    /// Rate of `length`.
    pub rate: f64,
    /// N or N m
    pub force: f64,
    /// Force on the second body, ground axes (N).
    pub force_vector: [f64; 3],
    /// Couple on the second body besides the moment of the force, ground axes (N m).
    pub moment: [f64; 3],
    /// Of a controller: its error (m or rad).
    pub control_error: f64,
    /// Of a controller: the integral part of its force (N or N m).
    pub integral: f64,
    /// Of a tyre or contact: `SEPARATED`, `LOADED` or `RELAXING` of `unilateral`.
    pub mode: i32,
}

/// A force law F(c, ċ) along one relative coordinate. `cx.modes` holds the modes of this law only.
pub trait ScalarLaw: Debug + Send + Sync {
    /// Returns F and its derivatives at c and ċ. F is positive in tension.
    fn force(&self, cx: &EvaluationContext, length: f64, rate: f64) -> ScalarForce;

    /// Returns the force reported to the user; F by default.
    fn reported_force(&self, force: &ScalarForce) -> f64 {
        force.force
    }

    /// Whether F can depend on c: then the stiffness matrix has entries g gᵀ.
    fn depends_on_length(&self) -> bool;

    /// Whether F can depend on ċ.
    fn depends_on_rate(&self) -> bool;

    /// Whether the law can supply energy, besides dissipating it.
    fn supplies_energy(&self) -> bool {
        false
    }

    /// Returns the stiffness of coinciding points, as a factor of eᵀe with e = ∂(p₁ − p₀)/∂q. The line has no direction there, but
    /// the force can still be smooth.
    fn coincident_stiffness(&self, _cx: &EvaluationContext) -> f64 {
        0.0
    }

    /// Returns the potential energy (J).
    fn potential(&self, _cx: &EvaluationContext, _length: f64) -> f64 {
        0.0
    }

    /// Returns the dissipated and the supplied power.
    fn power(&self, cx: &EvaluationContext, length: f64, rate: f64) -> Power;

    /// Returns the numbers of events and modes.
    fn event_counts(&self) -> EventCounts {
        EventCounts::default()
    }

    /// Whether modes that were read from outside are modes of this element.
    fn modes_exist(&self, _modes: &[i32]) -> bool {
        true
    }

    /// Sets the initial modes for c and ċ.
    fn initial_modes(&self, _cx: &EvaluationContext, _length: f64, _rate: f64, _modes: &mut [i32]) {
    }

    /// Writes the event functions and their rates for (c, ċ, c̈).
    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        _motion: [f64; 3],
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) {
    }

    /// Writes bounds of |φ''| where |c''| is at most `acceleration`; NaN where none is known.
    fn event_curvature(&self, _acceleration: f64, bound: &mut [f64]) {
        bound.fill(f64::NAN);
    }

    /// Returns which zero crossings of event `i` count in these modes.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Off
    }

    /// Changes the modes after event `i` has occurred at (c, ċ, c̈).
    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _motion: [f64; 3],
        _i: usize,
        _modes: &mut [i32],
    ) {
    }

    /// Returns the integral of the law at c and ċ, if it has one; `cx.integrals` holds its own only.
    fn integral(
        &self,
        _cx: &EvaluationContext,
        _length: f64,
        _rate: f64,
    ) -> Option<IntegralMemory> {
        None
    }

    /// Returns the time derivative of the integral at c and ċ.
    fn integral_rate(&self, _cx: &EvaluationContext, _length: f64, _rate: f64) -> f64 {
        0.0
    }

    /// Enters a mode that ends chattering about event `i`, if there is one.
    fn stop_chattering(&self, _i: usize, _modes: &mut [i32]) {}
}

/// A force element. Slices of coordinates, forces and constraints are those of the complete system; `cx.modes` and slices of modes and
/// events are those of this element.
pub trait ForceElement<W: Geometry<N>, const N: usize>: Debug + Send + Sync {
    /// Whether f can depend on v.
    fn depends_on_rate(&self) -> bool;

    /// Whether the element dissipates or supplies energy; a spring only stores it.
    fn does_work(&self) -> bool;

    /// out += f; nothing where the element has only events or a constraint.
    fn add_force(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _out: &mut [f64],
    ) {
    }

    /// out += damping (−∂f/∂v) + stiffness (−∂f/∂q), at the entries reserved when the element was built.
    fn add_tangent(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _damping: f64,
        _stiffness: f64,
        _out: &mut [f64],
    ) {
    }

    /// Whether the element has Coulomb friction proportional to the multipliers of its constraints.
    fn has_constraint_friction(&self) -> bool {
        false
    }

    /// out += D(q, v) λ, the friction proportional to constraint forces.
    fn add_constraint_friction(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _lambda: &[f64],
        _out: &mut [f64],
    ) {
    }

    /// out += damping (−∂f/∂v) + stiffness (−∂f/∂q) of f = D(q, v) λ, at (v, λ).
    fn add_constraint_friction_tangent(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: (&[f64], &[f64]),
        _damping: f64,
        _stiffness: f64,
        _out: &mut [f64],
    ) {
    }

    /// Adds the potential energy.
    fn add_energy(&self, _cx: &EvaluationContext, _poses: &mut W::Poses<'_>, _energy: &mut Energy) {
    }

    /// Adds the dissipated and the supplied power.
    fn add_power(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _power: &mut Power,
    ) {
    }

    /// Returns the output quantities.
    fn quantities(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
    ) -> ForceQuantities {
        ForceQuantities::default()
    }

    /// Writes the integrals of the element.
    fn integrals(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _out: &mut [IntegralMemory],
    ) {
    }

    /// Writes the time derivatives of the integrals of the element.
    fn integral_rates(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _out: &mut [f64],
    ) {
    }

    /// Writes which of the element's constraints are active; other entries of `active` stay.
    fn active_constraints(&self, _modes: &[i32], _active: &mut [bool]) {}

    /// Whether the element has no force, energy and power while all its modes are zero, as an open contact.
    fn rests_in_mode_zero(&self) -> bool {
        false
    }

    /// Whether the element has forces, energy or power of its own; a unilateral constraint has those of its row only.
    fn applies_force(&self) -> bool {
        true
    }

    /// Returns the row of an element that is one unilateral constraint; its first mode says whether it is active.
    fn unilateral_row(&self) -> Option<usize> {
        None
    }

    /// Names the row of each unilateral constraint and the index of its mode; the modes of the element begin at `first_mode`.
    fn unilateral_rows(&self, _first_mode: usize, _push: &mut dyn FnMut(usize, usize)) {}

    /// Returns the numbers of events and modes.
    fn event_counts(&self) -> EventCounts {
        EventCounts::default()
    }

    /// Whether modes that were read from outside are modes of this element.
    fn modes_exist(&self, _modes: &[i32]) -> bool {
        true
    }

    /// Sets the initial modes.
    fn initial_modes(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _modes: &mut [i32],
    ) {
    }

    /// Writes the event functions and their rates along the motion.
    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) {
    }

    /// Writes bounds of |φ''| for all motions with the speeds and accelerations of `at`; NaN where none is known.
    fn event_curvature(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        bound: &mut [f64],
    ) {
        bound.fill(f64::NAN);
    }

    /// Returns which zero crossings of event `i` count in these modes.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Off
    }

    /// Changes the modes after event `i`. For an impact, writes the gradient of φ over the coordinates of the system into `n`.
    fn handle_event(
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

    /// Returns the friction of the impact of event `i` in a tangential direction and writes the gradient of the slip into `t`.
    fn tangential_direction(
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

    /// Enters the mode of set-valued friction of the active contact of event `i`.
    fn set_contact_friction(&self, _i: usize, _friction: ContactFriction, _modes: &mut [i32]) {}

    /// Keeps with the modes what the contact of event `i`, at rest, carries apart from its multipliers.
    fn share_contact_force(
        &self,
        _i: usize,
        _force: &[f64; 3],
        _lambda: &[f64],
        _modes: &mut [i32],
    ) {
    }

    /// Whether the element has set-valued friction.
    fn has_set_valued_friction(&self) -> bool {
        false
    }

    /// Passes the contacts that stick to `push`; the events of the element begin at `first_event`.
    fn sticking_contacts(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _at: &MotionPoint,
        _first_event: usize,
        _push: &mut dyn FnMut(StickingContact<N>),
    ) {
    }

    /// Deactivates unilateral constraints before an impact is solved and flags their gap events.
    fn deactivate_unilateral(&self, _modes: &mut [i32], _gaps: &mut [bool]) {}

    /// Activates the unilateral constraint of event `i`, or stops chattering about that event.
    fn activate_unilateral(&self, _i: usize, _modes: &mut [i32]) {}

    /// Lets the contact of event `i` touch without a force.
    fn idle_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.activate_unilateral(i, modes);
    }
}

/// A geometry, planar or spatial, in which force elements can be built.
pub trait ForceGeometry<const N: usize>: Geometry<N> + BodyView<N> {
    /// Returns the distance of two points. It has no direction below `tiny`.
    fn distance(points: [Self::BodyPoint; 2], tiny: f64) -> Self::RelativeCoordinate;

    /// Returns the displacement of the second point from the first along a direction fixed in the first body.
    fn displacement_along(
        points: [Self::BodyPoint; 2],
        direction: [f64; 3],
    ) -> Self::RelativeCoordinate;

    /// Returns the height of a point above a smooth outline of another body; none in space, where there are no outlines.
    fn height_above_outline(
        body: BodyRef,
        outline: &SmoothCurve,
        point: Self::BodyPoint,
    ) -> Option<Self::RelativeCoordinate>;

    /// Returns the slip of a contact along one of its axes, which has a gradient but no value.
    fn slip(direction: SlipDirection) -> Self::RelativeCoordinate;
}

impl ForceGeometry<6> for PlanarGeometry {
    fn distance(points: [Self::BodyPoint; 2], tiny: f64) -> PlanarCoordinate {
        PlanarCoordinate::Distance(PlanarDistance {
            points,
            coincidence_distance: tiny,
        })
    }

    fn displacement_along([p0, p1]: [Self::BodyPoint; 2], direction: [f64; 3]) -> PlanarCoordinate {
        let direction = planar_part(direction);
        PlanarCoordinate::Slide(PlanarSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: -direction.dot(&p0.s),
        })
    }

    fn height_above_outline(
        body: BodyRef,
        outline: &SmoothCurve,
        point: Self::BodyPoint,
    ) -> Option<PlanarCoordinate> {
        Some(PlanarCoordinate::Height(Box::new(PlanarHeight {
            body,
            outline: outline.clone(),
            point,
        })))
    }

    fn slip(direction: SlipDirection) -> PlanarCoordinate {
        PlanarCoordinate::Slip(Box::new(direction))
    }
}

impl ForceGeometry<12> for SpatialGeometry {
    fn distance(points: [Self::BodyPoint; 2], tiny: f64) -> SpatialCoordinate {
        SpatialCoordinate::Distance(SpatialDistance {
            points,
            coincidence_distance: tiny,
        })
    }

    fn displacement_along(
        [p0, p1]: [Self::BodyPoint; 2],
        direction: [f64; 3],
    ) -> SpatialCoordinate {
        let direction = Vec3::from(direction);
        SpatialCoordinate::Slide(SpatialSlide {
            body: p0.body,
            direction,
            point: p1,
            offset: -direction.dot(&p0.s),
        })
    }

    fn height_above_outline(
        _body: BodyRef,
        _outline: &SmoothCurve,
        _point: Self::BodyPoint,
    ) -> Option<SpatialCoordinate> {
        None
    }

    fn slip(direction: SlipDirection) -> SpatialCoordinate {
        SpatialCoordinate::Slip(Box::new(direction))
    }
}
