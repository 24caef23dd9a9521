//! What does not give way: a rigid contact, a rigid end stop. With c a measure between two bodies and g = ±(c − c₀) the gap:
//!
//! ```text
//!   apart    g > 0; where it falls through zero a blow:  ġ₊ = −e ġ₋,  solved together with all constraints (`blows`)
//!   held     Φ = c − c₀ is an active row; it presses with N = ∓λ and is let go where N falls through zero
//! ```
//!
//! With friction a blow also acts along the face, at most μ times its impulse, and a contact that is held rubs: with u_t the slip
//!
//! ```text
//!   F = −N μ(|u_t|) u_t/|u_t|      regularised as everywhere (`friction`); N is the row's multiplier (`System::rub`)
//! ```
//!
//! Approaches slower than the rest speed are held, so that bouncing ends. A piece of an outline has two more modes: the ball is
//! beside it, or behind it.

use super::body_frame::{BodyFrame, BodyView};
use super::contact::surface::ContactSurface;
use super::dual::{Dual, Scalar, cross, dot, minus, plus, times};
use super::friction::Friction;
use super::spatial_force::{AppliedWrench, generalised_forces};
use super::{EventCounts, ForceElement, ForceQuantities};
use crate::formulation::absolute::geometry::{Geometry, RelativeCoordinate as _};
use crate::formulation::absolute::sparsity::{PairSlots, gather, pick, scatter};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{
    Crossing, EvaluationContext, EventEffect, MotionPoint, TangentialFriction,
};
use crate::model::BodyRef;

const SEPARATED: i32 = 0;
const ACTIVE: i32 = 1;
/// Beside a piece of an outline.
const OUTSIDE_ENDS: i32 = 2;
/// Deeper than a contact can be: on the far side of a piece of an outline.
const BEHIND: i32 = 3;

/// Event functions: the gap and the force; then, of a piece of an outline, how far inside its two ends.
const GAP_EVENT: usize = 0;
const FORCE_EVENT: usize = 1;
const MARGIN_EVENTS: [usize; 2] = [2, 3];

/// What a ball of body 1 meets on body 0, where the measure is that of a contact.
#[derive(Clone, Debug)]
pub struct RigidContactGeometry {
    /// Of body 0.
    pub surface: ContactSurface,
    /// Centre of the ball of body 1, seen from the centre of mass.
    pub center: [f64; 3],
    /// Of the ball; zero is a point.
    pub radius: f64,
    /// Along the face.
    pub friction: Option<Friction>,
}

impl RigidContactGeometry {
    /// What rubbing does to body 1 where the contact presses with `normal`.
    fn friction_wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        normal: f64,
        [a, b]: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        let Some(friction) = &self.friction else {
            return AppliedWrench::zero();
        };
        let meeting = self
            .surface
            .proximity(a, &b.point_position(&self.center), self.radius);
        let u = minus(
            &b.velocity_at(&meeting.point),
            &a.velocity_at(&meeting.point),
        );
        let along = minus(&u, &times(dot(&meeting.normal, &u), &meeting.normal));
        let drag = friction.over_speed(cx, dot(&along, &along)) * normal;
        AppliedWrench::at_point(times(-drag, &along), meeting.point)
    }
}

/// A one-sided constraint.
#[derive(Debug)]
pub struct UnilateralConstraint<W: Geometry<N>, const N: usize> {
    /// c
    pub coordinate: W::RelativeCoordinate,
    /// c₀
    pub bound: f64,
    /// 1 where c stays above c₀, −1 where it stays below.
    pub sign: f64,
    /// The constraint row Φ = c − c₀.
    pub row: usize,
    /// e
    pub restitution: DrivenValue,
    /// Slower approaches are held (m/s or rad/s).
    pub rest_speed: f64,
    /// A gap below this counts as none where a contact begins without a blow (m or rad).
    pub touching_gap: f64,
    /// It is let go where it would pull with more than this (N or N m): less is rounding, of four legs on a floor say.
    pub tensile_tolerance: f64,
    /// Of a contact.
    pub contact: Option<RigidContactGeometry>,
    /// Where the derivatives of friction live, if there is any.
    pub friction_slots: Option<PairSlots<N>>,
}

impl<W: BodyView<N>, const N: usize> UnilateralConstraint<W, N> {
    fn bodies(&self) -> [BodyRef; 2] {
        self.coordinate.bodies()
    }

    /// g and ġ.
    fn gap(&self, poses: &mut W::Poses<'_>, v: &[f64]) -> (f64, f64) {
        let (c, g) = self.coordinate.value(poses);
        (
            self.sign * (c - self.bound),
            self.sign * gather(self.bodies(), &g, v),
        )
    }

    /// N, zero where it is not held.
    fn normal_force(&self, modes: &[i32], lambda: &[f64]) -> f64 {
        match modes[0] {
            ACTIVE => -self.sign * lambda[self.row],
            _ => 0.0,
        }
    }

    /// A piece of an outline, if it is one.
    fn bounded_contact(&self) -> Option<&RigidContactGeometry> {
        self.contact
            .as_ref()
            .filter(|place| place.surface.is_bounded())
    }

    /// How deep in they are in a pose, where it is more than `allowed` and they are not beside or behind each other.
    pub fn overlap(&self, q: &[f64], allowed: f64) -> Option<f64> {
        let poses = &mut W::poses(q);
        let outside = self.outside_ends(poses);
        let depth = -self.sign * (self.coordinate.value(poses).0 - self.bound);
        (!outside && depth > allowed && depth <= self.max_depth()).then_some(depth)
    }

    /// Beyond an end of a piece of an outline.
    fn outside_ends(&self, poses: &mut W::Poses<'_>) -> bool {
        self.bounded_contact().is_some_and(|place| {
            let frames = W::frames_at_rest(poses, self.bodies());
            margins(place, &frames).iter().any(|m| *m < 0.0)
        })
    }

    /// Depth beyond which they are on another side.
    fn max_depth(&self) -> f64 {
        (self.contact.as_ref()).map_or(f64::INFINITY, |place| place.surface.max_depth())
    }

    /// The mode for a place that is not beside the face.
    fn mode_within_ends(&self, poses: &mut W::Poses<'_>, v: &[f64]) -> i32 {
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

/// Distances inside the two ends of a piece.
fn margins<T: Scalar>(place: &RigidContactGeometry, [a, b]: &[BodyFrame<T>; 2]) -> [T; 2] {
    (place.surface)
        .proximity(a, &b.point_position(&place.center), place.radius)
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
        let press = self.normal_force(cx.modes, lambda);
        if let (Some(place), true) = (&self.contact, press != 0.0) {
            let frames = W::frames(poses, self.bodies(), v);
            let f: [f64; N] = generalised_forces::<W, f64, N>(
                &place.friction_wrench(cx, press, &frames),
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
        let press = self.normal_force(cx.modes, lambda);
        if let (Some(place), Some(pair), true) = (&self.contact, &self.friction_slots, press != 0.0)
        {
            let frames = W::frames_with_derivatives(poses, self.bodies(), v);
            let f: [Dual<N>; N] = generalised_forces::<W, Dual<N>, N>(
                &place.friction_wrench(cx, press, &frames),
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

    fn add_force(
        &self,
        _cx: &EvaluationContext,
        _poses: &mut W::Poses<'_>,
        _v: &[f64],
        _out: &mut [f64],
    ) {
    }

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

    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        rows[self.row] = modes[0] == ACTIVE;
    }

    /// Of a contact the depth as length and pressing as a positive force; of a stop what acts on the coordinate.
    fn quantities(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let press = self.normal_force(cx.modes, at.lambda);
        let Some(place) = &self.contact else {
            return ForceQuantities {
                force: self.sign * press,
                ..ForceQuantities::default()
            };
        };
        let (gap, rate) = self.gap(poses, at.v);
        let frames = W::frames(poses, self.bodies(), at.v);
        let [a, b] = &frames;
        let meeting = (place.surface).proximity(a, &b.point_position(&place.center), place.radius);
        let rubbing = place.friction_wrench(cx, press, &frames).force;
        ForceQuantities {
            length: -gap,
            rate: -rate,
            force: press,
            force_vector: plus(&times(press, &meeting.normal), &rubbing),
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
        }
    }

    fn initial_modes(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        modes[0] = if self.outside_ends(poses) {
            OUTSIDE_ENDS
        } else {
            self.mode_within_ends(poses, v)
        };
    }

    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        (phi[GAP_EVENT], rate[GAP_EVENT]) = self.gap(poses, at.v);
        phi[FORCE_EVENT] = self.tensile_tolerance - self.sign * at.lambda[self.row];
        rate[FORCE_EVENT] = f64::NAN;
        if let Some(place) = self.bounded_contact() {
            let frames = W::frames_with_derivatives(poses, self.bodies(), at.v);
            let (v, a) = (pick(self.bodies(), at.v), pick(self.bodies(), at.a));
            let found: [Dual<N>; 2] = margins(place, &frames);
            for k in 0..2 {
                phi[MARGIN_EVENTS[k]] = found[k].x;
                rate[MARGIN_EVENTS[k]] = found[k].rate_along(&v, &a);
            }
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        match (modes[0], i) {
            (OUTSIDE_ENDS, 2 | 3) => Crossing::Rising,
            (OUTSIDE_ENDS, _) => Crossing::Off,
            (_, 2 | 3) => Crossing::Falling,
            (SEPARATED, GAP_EVENT) | (ACTIVE, FORCE_EVENT) => Crossing::Falling,
            (BEHIND, GAP_EVENT) => Crossing::Rising,
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
        if (modes[0], i) == (SEPARATED, GAP_EVENT) {
            let (_, g) = self.coordinate.value(poses);
            n.fill(0.0);
            scatter(self.bodies(), self.sign, &g, n);
            return EventEffect::Impulse {
                restitution: self.restitution.get(cx),
                slowest: self.rest_speed,
            };
        }
        modes[0] = match (modes[0], i, self.bounded_contact()) {
            (OUTSIDE_ENDS, 2 | 3, Some(place)) => {
                // The margin that was crossed is zero to rounding: only the other one decides.
                let frames = W::frames_at_rest(poses, self.bodies());
                let other = margins(place, &frames)[3 - i];
                if other < 0.0 {
                    OUTSIDE_ENDS
                } else {
                    self.mode_within_ends(poses, at.v)
                }
            }
            (_, 2 | 3, _) => OUTSIDE_ENDS,
            // Let go, or come up from behind.
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
        let place = self.contact.as_ref()?;
        let friction = place.friction.as_ref()?;
        if i != GAP_EVENT || direction + 1 >= W::DIMENSION {
            return None;
        }
        let [a, b] = W::frames_with_derivatives(poses, self.bodies(), at.v);
        let meeting = (place.surface).proximity(&a, &b.point_position(&place.center), place.radius);
        let u = minus(
            &b.velocity_at(&meeting.point),
            &a.velocity_at(&meeting.point),
        );
        let normal = meeting.normal.map(|x| x.x);
        let along = tangential_unit_vector(&normal, &u.map(|x| x.x), direction);
        // The slip along a fixed direction is linear in the rates.
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
        if modes[0] == ACTIVE {
            modes[0] = SEPARATED;
            gaps[GAP_EVENT] = true;
        }
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        if i == GAP_EVENT {
            modes[0] = ACTIVE;
        }
    }
}

/// Unit vectors along a face: the first where it slips, the second across; in the plane there is one.
fn tangential_unit_vector(normal: &[f64; 3], u: &[f64; 3], direction: usize) -> [f64; 3] {
    let sliding = minus(u, &times(dot(u, normal), normal));
    // Where it does not slip any direction will do; that of x or y which is further from the normal.
    let other = if normal[0].abs() < normal[1].abs() {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let other = minus(&other, &times(dot(&other, normal), normal));
    let speed = dot(&sliding, &sliding).sqrt();
    let (first, size) = if speed > 1e-12 * dot(u, u).sqrt() && speed > 0.0 {
        (sliding, speed)
    } else {
        (other, dot(&other, &other).sqrt())
    };
    let first = times(1.0 / size, &first);
    match direction {
        0 => first,
        _ => cross(normal, &first),
    }
}
