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
//!   F = −N μ(|u_t|) u_t/|u_t|      regularised as in `friction`; see `System::constraint_friction`
//! ```
//!
//! An impact with a closing velocity below the rest speed is plastic and activates the constraint, so that bouncing ends. A bounded
//! surface (a piece of an outline) has three more modes: the sphere is outside its first or second end, or behind it.

use super::body_frame::{BodyFrame, BodyView};
use super::contact::curvature::{BodySpeeds, distance};
use super::contact::surface::{ContactSurface, tangential_unit_vector};
use super::dual::{Dual, Scalar, dot, minus, plus, times};
use super::friction::Friction;
use super::spatial_force::{AppliedWrench, generalised_forces};
use super::{EventCounts, ForceElement, ForceQuantities, unilateral};
use crate::formulation::absolute::geometry::{Geometry, RelativeCoordinate as _};
use crate::formulation::absolute::sparsity::{PairSlots, gather, pick, scatter};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{
    Crossing, EvaluationContext, EventEffect, MotionPoint, TangentialFriction,
};
use crate::model::BodyRef;

const SEPARATED: i32 = 0;
/// The constraint is enforced.
pub const ACTIVE: i32 = 1;
/// Outside the first end of a bounded surface.
const OUTSIDE_FIRST: i32 = 2;
/// Deeper than the largest penetration: on the far side of a bounded surface.
const BEHIND: i32 = 3;
/// Outside the second end of a bounded surface.
const OUTSIDE_SECOND: i32 = 4;

/// Touches without a force, held there by others.
const IDLE: i32 = 5;
/// Gap, or overlap, within which a contact stays idle, as part of the gap below which it touches initially.
const IDLE_GAP: f64 = 1e-2;

/// Event functions: the gap and the normal force, of an idle contact the two ends of its gap; of a bounded surface also the distances inside its two ends.
const GAP_EVENT: usize = 0;
const FORCE_EVENT: usize = 1;
const MARGIN_EVENTS: [usize; 2] = [2, 3];

/// A surface of body 0 and a sphere of body 1.
#[derive(Clone, Debug)]
pub struct RigidContactGeometry {
    /// Surface of body 0.
    pub surface: ContactSurface,
    /// Centre of the sphere of body 1, relative to the centre of mass.
    pub center: [f64; 3],
    /// Radius of the sphere; zero for a point.
    pub radius: f64,
    /// Tangential friction.
    pub friction: Option<Friction>,
}

impl RigidContactGeometry {
    /// Returns the friction on body 1 for a normal force `normal`.
    fn friction_wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        normal: f64,
        [a, b]: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        let Some(friction) = &self.friction else {
            return AppliedWrench::zero();
        };
        let proximity = self
            .surface
            .proximity(a, &b.point_position(&self.center), self.radius);
        let u = minus(
            &b.velocity_at(&proximity.point),
            &a.velocity_at(&proximity.point),
        );
        let along = minus(&u, &times(dot(&proximity.normal, &u), &proximity.normal));
        let drag = friction.over_speed(cx, dot(&along, &along)) * normal;
        AppliedWrench::at_point(times(-drag, &along), proximity.point)
    }
}

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
    fn bodies(&self) -> [BodyRef; 2] {
        self.coordinate.bodies()
    }

    /// Returns g and ġ.
    fn gap(&self, poses: &mut W::Poses<'_>, v: &[f64]) -> (f64, f64) {
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

    /// Returns the contact geometry if its surface has ends.
    fn bounded_contact(&self) -> Option<&RigidContactGeometry> {
        self.contact
            .as_ref()
            .filter(|contact| contact.surface.is_bounded())
    }

    /// Returns the overlap of the bodies at q if it is larger than `allowed`, and the sphere is neither outside the ends of the surface nor
    /// behind it.
    pub fn overlap(&self, q: &[f64], allowed: f64) -> Option<f64> {
        let poses = &mut W::poses(q);
        let outside = self.end_outside(poses, None).is_some();
        let depth = -self.sign * (self.coordinate.value(poses).0 - self.bound);
        (!outside && depth > allowed && depth <= self.max_depth()).then_some(depth)
    }

    /// Returns the end of a bounded surface outside which the sphere is, without regard to the end `within`: it is rounding.
    fn end_outside(&self, poses: &mut W::Poses<'_>, within: Option<usize>) -> Option<usize> {
        let contact = self.bounded_contact()?;
        let margins = margins(contact, &W::frames_at_rest(poses, self.bodies()));
        (0..2).find(|&end| within != Some(end) && margins[end] < 0.0)
    }

    /// Returns the depth beyond which the sphere is behind the surface.
    fn max_depth(&self) -> f64 {
        (self.contact.as_ref()).map_or(f64::INFINITY, |contact| contact.surface.max_depth())
    }

    /// Returns the mode of a sphere, without regard to the end `within`.
    fn mode_at(&self, poses: &mut W::Poses<'_>, v: &[f64], within: Option<usize>) -> i32 {
        match self.end_outside(poses, within) {
            Some(0) => return OUTSIDE_FIRST,
            Some(_) => return OUTSIDE_SECOND,
            None => {}
        }
        let (gap, rate) = self.gap(poses, v);
        if gap < -self.max_depth() {
            BEHIND
        } else if gap <= self.touching_gap && rate.abs() <= self.rest_speed {
            ACTIVE
        } else {
            SEPARATED
        }
    }
}

/// Returns the distances inside the two ends of a bounded surface.
fn margins<T: Scalar>(contact: &RigidContactGeometry, [a, b]: &[BodyFrame<T>; 2]) -> [T; 2] {
    (contact.surface)
        .proximity(a, &b.point_position(&contact.center), contact.radius)
        .margins
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
    }

    fn applies_force(&self) -> bool {
        false
    }

    fn unilateral_row(&self) -> Option<usize> {
        Some(self.row)
    }

    fn unilateral_rows(&self, first_mode: usize, push: &mut dyn FnMut(usize, usize)) {
        push(self.row, first_mode);
    }

    /// Of a contact: penetration depth as length, and the normal force, positive in compression. Of a joint limit: the force on the coordinate.
    fn quantities(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let normal_force = self.normal_force(cx.modes, at.lambda);
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
        let friction = contact.friction_wrench(cx, normal_force, &frames).force;
        ForceQuantities {
            length: -gap,
            rate: -rate,
            force: normal_force,
            force_vector: plus(&times(normal_force, &proximity.normal), &friction),
            mode: match cx.modes[0] {
                ACTIVE => unilateral::LOADED,
                _ => unilateral::SEPARATED,
            },
            ..ForceQuantities::default()
        }
    }

    fn event_counts(&self) -> EventCounts {
        let margins = if self.bounded_contact().is_some() {
            2
        } else {
            0
        };
        EventCounts {
            events: 2 + margins,
            modes: 1,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        modes.iter().all(|mode| (SEPARATED..=IDLE).contains(mode))
    }

    fn initial_modes(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        modes[0] = self.mode_at(poses, v, None);
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
            phi[FORCE_EVENT] = self.tensile_tolerance - self.sign * at.lambda[self.row];
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
    }

    fn event_curvature(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        bound: &mut [f64],
    ) {
        bound.fill(f64::NAN);
        let speeds = BodySpeeds::of::<N>(self.bodies(), at);
        let Some(contact) = &self.contact else {
            let acceleration = self.coordinate.acceleration_bound(poses, &speeds);
            bound[GAP_EVENT] = acceleration;
            if cx.modes[0] == IDLE {
                bound[FORCE_EVENT] = acceleration;
            }
            return;
        };
        let apart = if self.bodies()[0].is_some() {
            let [a, b] = W::frames_at_rest(poses, self.bodies());
            distance(&b.point_position(&contact.center), &a.r)
        } else {
            0.0
        };
        let sphere = (&contact.center, contact.radius);
        let [gap, margin] = contact.surface.depth_curvature(&speeds, sphere, apart);
        bound[GAP_EVENT] = gap;
        if cx.modes[0] == IDLE {
            bound[FORCE_EVENT] = gap;
        }
        bound[2..].fill(margin);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
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
            modes[0] = SEPARATED;
            return EventEffect::Impulse {
                restitution: self.restitution.get(cx),
                slowest: self.rest_speed,
                poisson: self.poisson,
            };
        }
        modes[0] = match (modes[0], i) {
            (OUTSIDE_FIRST, 2) | (OUTSIDE_SECOND, 3) => self.mode_at(poses, at.v, Some(i - 2)),
            (_, 2) => OUTSIDE_FIRST,
            (_, 3) => OUTSIDE_SECOND,
            // Separated, or returned from behind.
            _ => SEPARATED,
        };
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
        if i != GAP_EVENT || direction + 1 >= W::DIMENSION {
            return None;
        }
        let [a, b] = W::frames_with_derivatives(poses, self.bodies(), at.v);
        let proximity =
            (contact.surface).proximity(&a, &b.point_position(&contact.center), contact.radius);
        let u = minus(
            &b.velocity_at(&proximity.point),
            &a.velocity_at(&proximity.point),
        );
        let normal = proximity.normal.map(|x| x.x);
        let along = tangential_unit_vector(&normal, &u.map(|x| x.x), direction);
        // The slip along a fixed direction is linear in the velocities.
        let mut gradient = [0.0; N];
        for k in 0..N {
            gradient[k] = (0..3).map(|i| along[i] * u[i].v[k]).sum();
        }
        t.fill(0.0);
        scatter(self.bodies(), 1.0, &gradient, t);
        Some(TangentialFriction {
            friction: friction.kinetic.get(cx),
            drift: 0.0,
        })
    }

    fn deactivate_unilateral(&self, modes: &mut [i32], gaps: &mut [bool]) {
        if let ACTIVE | IDLE = modes[0] {
            modes[0] = SEPARATED;
            gaps[GAP_EVENT] = true;
        }
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        if i == GAP_EVENT {
            modes[0] = ACTIVE;
        }
    }

    fn idle_unilateral(&self, i: usize, modes: &mut [i32]) {
        if i == GAP_EVENT {
            modes[0] = IDLE;
        }
    }
}
