//! Unilateral constraints: rigid contacts and rigid joint limits. With c a relative coordinate of two bodies and g = ±(c − c₀) the gap:
//!
//! ```text
//!   separated  g > 0; an impact where g falls through zero:  ġ₊ = −e ġ₋,  solved together with all constraints
//!   active     Φ = c − c₀ = 0 with the normal force N = ∓λ; the contact separates where N falls through zero
//!   idle       |g| ≤ δ without a force: other contacts keep it closed (the fourth leg of a table)
//! ```
//!
//! With friction an impact also has a tangential impulse, at most μ times the normal one. An active contact has Coulomb friction
//! proportional to its multiplier; with u_t the slip velocity
//!
//! ```text
//!   F = −N μ(|u_t|) u_t/|u_t|      regularised as in `friction`, or set-valued (`rigid_friction`); see `System::constraint_friction`
//! ```
//!
//! An impact with a closing velocity below the rest speed is plastic and activates the constraint, so that bouncing ends. A bounded
//! surface (a piece of an outline) has three more modes: the sphere is outside its first or second end, or behind it.

use super::body_frame::BodyView;
use super::contact::friction_mode;
use super::dual::{Dual, plus, times};
use super::rigid_contact_geometry::{RigidContactGeometry, margins};
use super::rigid_friction::{SetValuedFriction, StickingContact};
use super::spatial_force::generalised_forces;
use super::{EventCounts, ForceElement, ForceQuantities, unilateral};
use crate::formulation::absolute::geometry::{Geometry, RelativeCoordinate as _};
use crate::formulation::absolute::sparsity::{PairSlots, gather, pick, scatter};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{
    ContactFriction, Crossing, EvaluationContext, EventEffect, MotionPoint, TangentialFriction,
};
use crate::model::BodyRef;

/// The gap is open.
pub(super) const SEPARATED: i32 = 0;
/// The constraint is enforced.
pub const ACTIVE: i32 = 1;

/// Whether the normal constraint, or that of slip along an axis, is active in its mode.
pub fn is_active(mode: i32, slip_axis: Option<usize>) -> bool {
    match slip_axis {
        None => mode == ACTIVE,
        Some(axis) => friction_mode::is_active(mode, axis),
    }
}

/// Outside the first end of a bounded surface.
pub(super) const OUTSIDE_FIRST: i32 = 2;
/// Deeper than the largest penetration: on the far side of a bounded surface.
pub(super) const BEHIND: i32 = 3;
/// Outside the second end of a bounded surface.
pub(super) const OUTSIDE_SECOND: i32 = 4;

/// Touches without a force, held there by others.
pub(super) const IDLE: i32 = 5;
/// Gap, or overlap, within which a contact stays idle, as part of the gap below which it touches initially.
const IDLE_GAP: f64 = 1e-2;

/// Event functions: the gap and the normal force, of an idle contact the two ends of its gap; of a bounded surface also the distances inside its two ends.
pub(super) const GAP_EVENT: usize = 0;
pub(super) const FORCE_EVENT: usize = 1;
const MARGIN_EVENTS: [usize; 2] = [2, 3];

/// A unilateral constraint sign (c − c₀) ≥ 0.
#[derive(Debug)]
pub struct UnilateralConstraint<W: Geometry<N>, const N: usize> {
    /// c
    pub coordinate: W::RelativeCoordinate,
    /// c₀
    pub bound: f64,
    /// 1 for c ≥ c₀, −1 for c ≤ c₀.
    pub sign: f64,
    /// Row of the constraint Φ = c − c₀.
    pub row: usize,
    /// e
    pub restitution: DrivenValue,
    /// Restitution by Poisson, of impulses, instead of velocities.
    pub poisson: bool,
    /// Closing speed below which an impact is plastic (m/s or rad/s).
    pub rest_speed: f64,
    /// Gap below which the constraint can start active, without an impact (m or rad).
    pub touching_gap: f64,
    /// Tensile force above which the contact separates (N or N m). Smaller ones are rounding, as of four legs on a floor.
    pub tensile_tolerance: f64,
    /// Geometry of a contact; none for a joint limit.
    pub contact: Option<RigidContactGeometry>,
    /// Entries of the tangent matrix for the derivatives of friction, if there is friction.
    pub friction_slots: Option<PairSlots<N>>,
}

impl<W: BodyView<N>, const N: usize> UnilateralConstraint<W, N> {
    pub(super) fn bodies(&self) -> [BodyRef; 2] {
        self.coordinate.bodies()
    }

    /// Returns g and ġ.
    pub(super) fn gap(&self, poses: &mut W::Poses<'_>, v: &[f64]) -> (f64, f64) {
        let (c, g) = self.coordinate.value(poses);
        (
            self.sign * (c - self.bound),
            self.sign * gather(self.bodies(), &g, v),
        )
    }

    /// Returns the normal force N; zero if the constraint is inactive.
    fn normal_force(&self, modes: &[i32], lambda: &[f64]) -> f64 {
        match modes[0] {
            ACTIVE => -self.sign * lambda[self.row],
            _ => 0.0,
        }
    }

    /// Returns the normal force with what redundant contacts share.
    fn carried_force(&self, modes: &[i32], lambda: &[f64]) -> f64 {
        self.normal_force(modes, lambda) + friction_mode::shared_force(modes)[0]
    }

    /// Returns the contact geometry if its surface has ends.
    pub(super) fn bounded_contact(&self) -> Option<&RigidContactGeometry> {
        self.contact
            .as_ref()
            .filter(|contact| contact.surface.is_bounded())
    }

    /// Returns the set-valued friction.
    fn set_valued(&self) -> Option<&SetValuedFriction> {
        self.contact.as_ref()?.set_valued.as_ref()
    }

    /// Index of the event of set-valued friction.
    fn friction_event(&self) -> usize {
        if self.bounded_contact().is_some() {
            4
        } else {
            2
        }
    }

    /// Sets the mode, without friction.
    fn set_mode(modes: &mut [i32], mode: i32) {
        modes.fill(friction_mode::NONE);
        modes[0] = mode;
    }
}

impl<W: BodyView<N>, const N: usize> ForceElement<W, N> for UnilateralConstraint<W, N> {
    fn depends_on_rate(&self) -> bool {
        self.has_constraint_friction()
    }

    fn does_work(&self) -> bool {
        self.has_constraint_friction()
    }

    fn has_constraint_friction(&self) -> bool {
        self.friction_slots.is_some()
    }

    fn add_constraint_friction(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        lambda: &[f64],
        out: &mut [f64],
    ) {
        let normal_force = self.normal_force(cx.modes, lambda);
        if let (Some(contact), true) = (&self.contact, normal_force != 0.0) {
            let frames = W::frames(poses, self.bodies(), v);
            let f: [f64; N] = generalised_forces::<W, f64, N>(
                &contact.friction_wrench(cx, normal_force, &frames),
                self.bodies(),
                &frames,
            );
            scatter(self.bodies(), 1.0, &f, out);
        }
    }

    fn add_constraint_friction_tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        (v, lambda): (&[f64], &[f64]),
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    ) {
        let normal_force = self.normal_force(cx.modes, lambda);
        if let (Some(contact), Some(pair), true) =
            (&self.contact, &self.friction_slots, normal_force != 0.0)
        {
            let frames = W::frames_with_derivatives(poses, self.bodies(), v);
            let f: [Dual<N>; N] = generalised_forces::<W, Dual<N>, N>(
                &contact.friction_wrench(cx, normal_force, &frames),
                self.bodies(),
                &frames,
            );
            for i in 0..N {
                for j in 0..N {
                    let entry = -(damping * f[i].v[j] + stiffness * f[i].q[j]);
                    pair.add(i, j, entry, out);
                }
            }
        }
    }

    fn active_constraints(&self, modes: &[i32], active: &mut [bool]) {
        active[self.row] = modes[0] == ACTIVE;
        for (axis, &row) in self
            .set_valued()
            .iter()
            .flat_map(|f| f.rows.iter().enumerate())
        {
            active[row] = modes[0] == ACTIVE && friction_mode::is_active(modes[1], axis);
        }
    }

    fn applies_force(&self) -> bool {
        false
    }

    fn unilateral_row(&self) -> Option<usize> {
        Some(self.row)
    }

    fn unilateral_rows(&self, first_mode: usize, push: &mut dyn FnMut(usize, usize)) {
        push(self.row, first_mode);
        for &row in self.set_valued().iter().flat_map(|f| &f.rows) {
            push(row, first_mode + 1);
        }
    }

    /// Of a contact: penetration depth as length, and the normal force, positive in compression. Of a joint limit: the force on the coordinate.
    fn quantities(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let own = self.normal_force(cx.modes, at.lambda);
        let normal_force = own + friction_mode::reported_force(cx.modes, own)[0];
        let Some(contact) = &self.contact else {
            return ForceQuantities {
                force: self.sign * normal_force,
                ..ForceQuantities::default()
            };
        };
        let (gap, rate) = self.gap(poses, at.v);
        let frames = W::frames(poses, self.bodies(), at.v);
        let [a, b] = &frames;
        let proximity =
            (contact.surface).proximity(a, &b.point_position(&contact.center), contact.radius);
        let friction = match &contact.set_valued {
            Some(friction) => friction.force(cx, normal_force, &frames, at.lambda),
            None => contact.friction_wrench(cx, normal_force, &frames).force,
        };
        ForceQuantities {
            length: -gap,
            rate: -rate,
            force: normal_force,
            force_vector: plus(&times(normal_force, &proximity.normal), &friction),
            mode: match cx.modes[0] {
                ACTIVE => unilateral::LOADED,
                IDLE if normal_force > 0.0 => unilateral::LOADED,
                _ => unilateral::SEPARATED,
            },
            ..ForceQuantities::default()
        }
    }

    fn event_counts(&self) -> EventCounts {
        let friction = usize::from(self.set_valued().is_some());
        EventCounts {
            events: self.friction_event() + friction,
            modes: 1 + friction * friction_mode::COUNT,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        let friction = modes.get(1).copied().unwrap_or(friction_mode::NONE);
        (SEPARATED..=IDLE).contains(&modes[0])
            && friction_mode::exists(friction)
            && friction_mode::shared_force(modes)
                .iter()
                .all(|f| f.is_finite())
    }

    fn initial_modes(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        Self::set_mode(modes, self.mode_at(poses, v, None));
        if let (Some(friction), ACTIVE) = (self.set_valued(), modes[0]) {
            modes[1] = friction.initial_mode(&W::frames(poses, self.bodies(), v));
        }
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        (phi[GAP_EVENT], rate[GAP_EVENT]) = self.gap(poses, at.v);
        if cx.modes[0] == IDLE {
            let band = IDLE_GAP * self.touching_gap;
            phi[FORCE_EVENT] = phi[GAP_EVENT] - band;
            rate[FORCE_EVENT] = rate[GAP_EVENT];
            phi[GAP_EVENT] += band;
        } else {
            let shared = friction_mode::shared_force(cx.modes)[0];
            let rounding = self.tensile_tolerance + friction_mode::SHARE_ROUNDING * shared.abs();
            phi[FORCE_EVENT] = rounding + shared - self.sign * at.lambda[self.row];
            rate[FORCE_EVENT] = f64::NAN;
        }
        if let Some(contact) = self.bounded_contact() {
            let frames = W::frames_with_derivatives(poses, self.bodies(), at.v);
            let (v, a) = (pick(self.bodies(), at.v), pick(self.bodies(), at.a));
            let found: [Dual<N>; 2] = margins(contact, &frames);
            for k in 0..2 {
                phi[MARGIN_EVENTS[k]] = found[k].x;
                rate[MARGIN_EVENTS[k]] = found[k].rate_along(&v, &a);
            }
        }
        if let Some(friction) = self.set_valued() {
            let i = self.friction_event();
            (phi[i], rate[i]) = match cx.modes[0] {
                ACTIVE => {
                    friction.event::<W, N>(cx, poses, at, self.carried_force(cx.modes, at.lambda))
                }
                _ => (1.0, 0.0),
            };
        }
    }

    fn event_curvature(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        bound: &mut [f64],
    ) {
        self.gap_curvature(cx.modes, poses, at, bound);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        if let (Some(friction), true) = (self.set_valued(), i == self.friction_event()) {
            return friction.crossing(modes[1]);
        }
        match (modes[0], i) {
            (OUTSIDE_FIRST, 2) | (OUTSIDE_SECOND, 3) => Crossing::Rising,
            (OUTSIDE_FIRST | OUTSIDE_SECOND, _) => Crossing::Off,
            (_, 2 | 3) => Crossing::Falling,
            (SEPARATED | IDLE, GAP_EVENT) | (ACTIVE, FORCE_EVENT) => Crossing::Falling,
            (BEHIND, GAP_EVENT) | (IDLE, FORCE_EVENT) => Crossing::Rising,
            _ => Crossing::Off,
        }
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        if let (SEPARATED | IDLE, GAP_EVENT) = (modes[0], i) {
            let (_, g) = self.coordinate.value(poses);
            n.fill(0.0);
            scatter(self.bodies(), self.sign, &g, n);
            Self::set_mode(modes, SEPARATED);
            return EventEffect::Impulse {
                restitution: self.restitution.get(cx),
                slowest: self.rest_speed,
                poisson: self.poisson,
            };
        }
        // Whether it sticks or slips is decided together with the other contacts.
        if i != self.friction_event() {
            let mode = match (modes[0], i) {
                (OUTSIDE_FIRST, 2) | (OUTSIDE_SECOND, 3) => self.mode_at(poses, at.v, Some(i - 2)),
                (_, 2) => OUTSIDE_FIRST,
                (_, 3) => OUTSIDE_SECOND,
                // Separated, or returned from behind.
                _ => SEPARATED,
            };
            Self::set_mode(modes, mode);
        }
        EventEffect::Mode
    }

    fn tangential_direction(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        i: usize,
        direction: usize,
        t: &mut [f64],
    ) -> Option<TangentialFriction> {
        let contact = self.contact.as_ref()?;
        let friction = contact.friction.as_ref()?;
        if i != GAP_EVENT || direction % 2 + 1 >= W::DIMENSION {
            return None;
        }
        if let (Some(friction), Some(axis)) = (self.set_valued(), direction.checked_sub(2)) {
            let frames = W::frames_at_rest(poses, self.bodies());
            let gradient = friction.geometry.gradient::<W, f64, N>(&frames, axis);
            t.fill(0.0);
            scatter(self.bodies(), 1.0, &gradient, t);
            return Some(TangentialFriction {
                friction: friction.friction.kinetic.get(cx),
                drift: 0.0,
                stick: Some(friction.limit(cx, self.friction_event() - GAP_EVENT)),
            });
        }
        if direction >= 2 {
            return None;
        }
        let frames = W::frames_with_derivatives(poses, self.bodies(), at.v);
        let gradient = contact.slip_gradient(&frames, direction);
        t.fill(0.0);
        scatter(self.bodies(), 1.0, &gradient, t);
        Some(TangentialFriction {
            friction: friction.kinetic.get(cx),
            drift: 0.0,
            stick: None,
        })
    }

    fn deactivate_unilateral(&self, modes: &mut [i32], gaps: &mut [bool]) {
        if let ACTIVE | IDLE = modes[0] {
            Self::set_mode(modes, SEPARATED);
            gaps[GAP_EVENT] = true;
        }
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        if i == GAP_EVENT {
            Self::set_mode(modes, ACTIVE);
        }
    }

    fn set_contact_friction(&self, i: usize, friction: ContactFriction, modes: &mut [i32]) {
        if i == GAP_EVENT && modes[0] == ACTIVE && self.set_valued().is_some() {
            modes[1] = friction_mode::mode_of(friction);
        }
    }

    fn share_contact_force(&self, i: usize, force: &[f64; 3], lambda: &[f64], modes: &mut [i32]) {
        let Some(friction) = self.set_valued().filter(|_| i == GAP_EVENT) else {
            return;
        };
        let sticks = modes[0] == ACTIVE && friction_mode::sticks(modes[1]);
        if !sticks && modes[0] != IDLE {
            return;
        }
        let mut shared = *force;
        shared[0] -= self.normal_force(modes, lambda);
        for (shared, &row) in shared[1..].iter_mut().zip(&friction.rows) {
            *shared += lambda[row];
        }
        friction_mode::keep_shared_force(shared, modes);
    }

    fn has_set_valued_friction(&self) -> bool {
        self.set_valued().is_some()
    }

    fn sticking_contacts(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        first_event: usize,
        push: &mut dyn FnMut(StickingContact<N>),
    ) {
        if let (Some(friction), ACTIVE) = (self.set_valued(), cx.modes[0]) {
            let normal = self.carried_force(cx.modes, at.lambda);
            let event = first_event + self.friction_event();
            if let Some(contact) = friction.sticking::<W, N>(cx, poses, at, (normal, event)) {
                push(contact);
            }
        }
    }

    fn idle_unilateral(&self, i: usize, modes: &mut [i32]) {
        if i == GAP_EVENT {
            Self::set_mode(modes, IDLE);
        }
    }
}
