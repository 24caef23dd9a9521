//! Compliant contact of a point, ball or disc with a face of another body. With δ the depth, n the normal out of the face, u the
//! velocity of body 1 against body 0 at the place of contact and u_t its part along the face:
//!
//! ```text
//!   N = k δ + d δ̇   or   k δⁿ (1 + d δ̇),   never negative,      δ̇ = −n·u
//!   F = N n − N μ(|u_t|) u_t/|u_t|
//!   V = k δⁿ⁺¹/(n + 1),      dissipated = (N − k δⁿ) δ̇ + N μ |u_t|
//! ```
//!
//! Touching and parting are modes ([`touch`]); a piece of an outline has two more: the ball is beside it, or behind it.

mod build;
pub mod outline;
pub mod surface;

use super::body_frame::BodyFrame;
use super::dual::{Scalar, Vector3Of, dot, minus, plus, times};
use super::friction::Friction;
use super::spatial_force::{AppliedWrench, SpatialForce};
use super::unilateral;
use super::{EventCounts, ForceQuantities};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{Crossing, EvaluationContext, Power};
use surface::{ContactSurface, Proximity};

/// Beside a piece of an outline.
const OUTSIDE_ENDS: i32 = 3;
/// Deeper than a contact can be: on the far side of a piece of an outline.
const BEHIND: i32 = 4;

/// How a contact presses.
#[derive(Clone, Copy, Debug)]
pub struct NormalForce {
    /// k
    pub stiffness: DrivenValue,
    /// n
    pub exponent: f64,
    /// d
    pub damping: DrivenValue,
    /// The damping grows with the depth: Hunt and Crossley.
    pub hunt_crossley: bool,
}

impl NormalForce {
    /// k δⁿ, continued oddly past zero.
    fn elastic<T: Scalar>(&self, cx: &EvaluationContext, depth: T) -> T {
        let (k, x) = (self.stiffness.get(cx), depth.value());
        if self.exponent == 1.0 {
            return depth * k;
        }
        let power = x.abs().powf(self.exponent - 1.0);
        depth.chain(k * power * x, k * self.exponent * power)
    }

    /// N, whatever its sign.
    fn force<T: Scalar>(&self, cx: &EvaluationContext, depth: T, rate: T) -> T {
        let elastic = self.elastic(cx, depth);
        let d = self.damping.get(cx);
        if self.hunt_crossley {
            elastic * (rate * d + 1.0)
        } else {
            elastic + rate * d
        }
    }

    fn potential(&self, cx: &EvaluationContext, depth: f64) -> f64 {
        self.elastic(cx, depth) * depth / (self.exponent + 1.0)
    }
}

/// A contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Of body 0.
    pub surface: ContactSurface,
    /// Centre of the ball of body 1, seen from the centre of mass.
    pub center: [f64; 3],
    /// Of the ball; zero is a point.
    pub radius: f64,
    /// Normal force.
    pub normal_law: NormalForce,
    /// Along the face.
    pub friction: Option<Friction>,
}

struct ContactPoint<T> {
    proximity: Proximity<T>,
    rate: T,
    slip: Vector3Of<T>,
}

impl Contact {
    fn contact_point<T: Scalar>(&self, [a, b]: &[BodyFrame<T>; 2]) -> ContactPoint<T> {
        let meeting = self
            .surface
            .proximity(a, &b.point_position(&self.center), self.radius);
        let u = minus(
            &b.velocity_at(&meeting.point),
            &a.velocity_at(&meeting.point),
        );
        let parting = dot(&meeting.normal, &u);
        let along = minus(&u, &times(parting, &meeting.normal));
        ContactPoint {
            proximity: meeting,
            rate: -parting,
            slip: along,
        }
    }

    fn normal_force<T: Scalar>(&self, cx: &EvaluationContext, at: &ContactPoint<T>) -> T {
        self.normal_law.force(cx, at.proximity.depth, at.rate)
    }

    /// The mode for a place that is not beside the face.
    fn mode_within_ends(&self, cx: &EvaluationContext, at: &ContactPoint<f64>) -> i32 {
        if at.proximity.depth > self.surface.max_depth() {
            BEHIND
        } else {
            unilateral::initial_mode(at.proximity.depth, self.normal_force(cx, at))
        }
    }
}

impl SpatialForce for Contact {
    fn depends_on_rate(&self) -> bool {
        self.friction.is_some() || !self.normal_law.damping.always_zero()
    }

    fn does_work(&self) -> bool {
        self.depends_on_rate()
    }

    fn wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        if cx.modes[0] != unilateral::LOADED {
            return AppliedWrench::zero();
        }
        let at = self.contact_point(bodies);
        let normal = self.normal_force(cx, &at);
        let mut force = times(normal, &at.proximity.normal);
        if let Some(friction) = &self.friction {
            let drag = friction.over_speed(cx, dot(&at.slip, &at.slip)) * normal;
            force = plus(&force, &times(-drag, &at.slip));
        }
        AppliedWrench::at_point(force, at.proximity.point)
    }

    fn potential(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> f64 {
        match cx.modes[0] {
            unilateral::LOADED | unilateral::RELAXING => self
                .normal_law
                .potential(cx, self.contact_point(bodies).proximity.depth),
            _ => 0.0,
        }
    }

    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power {
        let mode = cx.modes[0];
        if mode != unilateral::LOADED && mode != unilateral::RELAXING {
            return Power::default();
        }
        let at = self.contact_point(bodies);
        let elastic = self.normal_law.elastic(cx, at.proximity.depth);
        if mode == unilateral::RELAXING {
            return Power {
                dissipated: -elastic * at.rate,
                supplied: 0.0,
            };
        }
        let normal = self.normal_force(cx, &at);
        let squared = dot(&at.slip, &at.slip);
        let rubbed =
            (self.friction.as_ref()).map_or(0.0, |f| normal * f.over_speed(cx, squared) * squared);
        Power {
            dissipated: (normal - elastic) * at.rate + rubbed,
            supplied: 0.0,
        }
    }

    /// The depth is shown as length, pressing as a positive force.
    fn quantities(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> ForceQuantities {
        let at = self.contact_point(bodies);
        let force = if cx.modes[0] == unilateral::LOADED {
            self.normal_force(cx, &at)
        } else {
            0.0
        };
        ForceQuantities {
            length: at.proximity.depth,
            rate: at.rate,
            force,
            ..ForceQuantities::default()
        }
    }

    fn event_counts(&self) -> EventCounts {
        let margins = if self.surface.is_bounded() { 2 } else { 0 };
        EventCounts {
            events: unilateral::EVENTS + margins,
            modes: 1,
        }
    }

    fn event_functions<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
        put: &mut dyn FnMut(usize, T),
    ) {
        let at = self.contact_point(bodies);
        put(0, at.proximity.depth);
        put(1, self.normal_force(cx, &at));
        if self.surface.is_bounded() {
            put(2, at.proximity.margins[0]);
            put(3, at.proximity.margins[1]);
        }
    }

    fn initial_modes(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        modes: &mut [i32],
    ) {
        let at = self.contact_point(bodies);
        let beside = self.surface.is_bounded() && at.proximity.margins.iter().any(|m| *m < 0.0);
        modes[0] = if beside {
            OUTSIDE_ENDS
        } else {
            self.mode_within_ends(cx, &at)
        };
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        match (modes[0], i) {
            (OUTSIDE_ENDS, 2 | 3) => Crossing::Rising,
            (OUTSIDE_ENDS, _) => Crossing::Off,
            (_, 2 | 3) => Crossing::Falling,
            (BEHIND, 0) => Crossing::Falling,
            (BEHIND, _) => Crossing::Off,
            (mode, i) => unilateral::crossing(mode, i),
        }
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        i: usize,
        modes: &mut [i32],
    ) {
        let at = self.contact_point(bodies);
        modes[0] = match (modes[0], i) {
            (OUTSIDE_ENDS, 2 | 3) => {
                // The margin that was crossed is zero to rounding: only the other one decides.
                let other = at.proximity.margins[3 - i];
                if other < 0.0 {
                    OUTSIDE_ENDS
                } else {
                    self.mode_within_ends(cx, &at)
                }
            }
            (_, 2 | 3) => OUTSIDE_ENDS,
            // What comes up from behind leaves without being pressed.
            (BEHIND, _) => unilateral::SEPARATED,
            (mode, i) => unilateral::mode_after(mode, i, at.proximity.depth),
        };
    }
}
