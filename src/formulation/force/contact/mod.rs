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

pub mod face;
pub mod outline;

use super::body_frame::BodyFrame;
use super::dual::{Scalar, Vector3Of, dot, minus, plus, times};
use super::friction::Friction;
use super::spatial_force::{BodyWrenches, SpatialForce};
use super::unilateral;
use super::{ForceQuantities, LawEvent};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{Crossing, EvaluationContext, Power};
use face::{ContactSurface, Proximity};

/// Beside a piece of an outline.
const BESIDE: i32 = 3;
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
    pub grows: bool,
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
    fn normal<T: Scalar>(&self, cx: &EvaluationContext, depth: T, rate: T) -> T {
        let elastic = self.elastic(cx, depth);
        let d = self.damping.get(cx);
        if self.grows {
            elastic * (rate * d + 1.0)
        } else {
            elastic + rate * d
        }
    }

    fn stored(&self, cx: &EvaluationContext, depth: f64) -> f64 {
        self.elastic(cx, depth) * depth / (self.exponent + 1.0)
    }
}

/// A contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Of body 0.
    pub face: ContactSurface,
    /// Centre of the ball of body 1, seen from the centre of mass.
    pub center: [f64; 3],
    /// Of the ball; zero is a point.
    pub radius: f64,
    /// Normal force.
    pub press: NormalForce,
    /// Along the face.
    pub friction: Option<Friction>,
}

struct ContactPoint<T> {
    meeting: Proximity<T>,
    rate: T,
    along: Vector3Of<T>,
}

impl Contact {
    fn touching<T: Scalar>(&self, [a, b]: &[BodyFrame<T>; 2]) -> ContactPoint<T> {
        let meeting = self.face.meet(a, &b.place(&self.center), self.radius);
        let u = minus(&b.velocity(&meeting.place), &a.velocity(&meeting.place));
        let parting = dot(&meeting.normal, &u);
        let along = minus(&u, &times(parting, &meeting.normal));
        ContactPoint {
            meeting,
            rate: -parting,
            along,
        }
    }

    fn normal<T: Scalar>(&self, cx: &EvaluationContext, at: &ContactPoint<T>) -> T {
        self.press.normal(cx, at.meeting.depth, at.rate)
    }

    /// The mode for a place that is not beside the face.
    fn judge(&self, cx: &EvaluationContext, at: &ContactPoint<f64>) -> i32 {
        if at.meeting.depth > self.face.deepest() {
            BEHIND
        } else {
            unilateral::start(at.meeting.depth, self.normal(cx, at))
        }
    }
}

impl SpatialForce for Contact {
    fn depends_on_rate(&self) -> bool {
        self.friction.is_some() || !self.press.damping.always_zero()
    }

    fn works(&self) -> bool {
        self.depends_on_rate()
    }

    fn act<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
    ) -> BodyWrenches<T> {
        if cx.modes[0] != unilateral::PRESSING {
            return BodyWrenches::none();
        }
        let at = self.touching(bodies);
        let normal = self.normal(cx, &at);
        let mut force = times(normal, &at.meeting.normal);
        if let Some(friction) = &self.friction {
            let drag = friction.over_speed(cx, dot(&at.along, &at.along)) * normal;
            force = plus(&force, &times(-drag, &at.along));
        }
        BodyWrenches::force(force, at.meeting.place)
    }

    fn potential(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> f64 {
        match cx.modes[0] {
            unilateral::PRESSING | unilateral::PARTING => {
                self.press.stored(cx, self.touching(bodies).meeting.depth)
            }
            _ => 0.0,
        }
    }

    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power {
        let mode = cx.modes[0];
        if mode != unilateral::PRESSING && mode != unilateral::PARTING {
            return Power::default();
        }
        let at = self.touching(bodies);
        let elastic = self.press.elastic(cx, at.meeting.depth);
        if mode == unilateral::PARTING {
            return Power {
                dissipated: -elastic * at.rate,
                supplied: 0.0,
            };
        }
        let normal = self.normal(cx, &at);
        let squared = dot(&at.along, &at.along);
        let rubbed =
            (self.friction.as_ref()).map_or(0.0, |f| normal * f.over_speed(cx, squared) * squared);
        Power {
            dissipated: (normal - elastic) * at.rate + rubbed,
            supplied: 0.0,
        }
    }

    /// The depth is shown as length, pressing as a positive force.
    fn shown(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> ForceQuantities {
        let at = self.touching(bodies);
        let force = if cx.modes[0] == unilateral::PRESSING {
            self.normal(cx, &at)
        } else {
            0.0
        };
        ForceQuantities {
            length: at.meeting.depth,
            rate: at.rate,
            force,
            ..ForceQuantities::default()
        }
    }

    fn watched(&self) -> LawEvent {
        let margins = if self.face.ends() { 2 } else { 0 };
        LawEvent {
            events: unilateral::EVENTS + margins,
            modes: 1,
        }
    }

    fn watch<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
        put: &mut dyn FnMut(usize, T),
    ) {
        let at = self.touching(bodies);
        put(0, at.meeting.depth);
        put(1, self.normal(cx, &at));
        if self.face.ends() {
            put(2, at.meeting.margins[0]);
            put(3, at.meeting.margins[1]);
        }
    }

    fn start_modes(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2], modes: &mut [i32]) {
        let at = self.touching(bodies);
        let beside = self.face.ends() && at.meeting.margins.iter().any(|m| *m < 0.0);
        modes[0] = if beside { BESIDE } else { self.judge(cx, &at) };
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        match (modes[0], i) {
            (BESIDE, 2 | 3) => Crossing::Rising,
            (BESIDE, _) => Crossing::Off,
            (_, 2 | 3) => Crossing::Falling,
            (BEHIND, 0) => Crossing::Falling,
            (BEHIND, _) => Crossing::Off,
            (mode, i) => unilateral::crossing(mode, i),
        }
    }

    fn fire(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        i: usize,
        modes: &mut [i32],
    ) {
        let at = self.touching(bodies);
        modes[0] = match (modes[0], i) {
            (BESIDE, 2 | 3) => {
                // The margin that was crossed is zero to rounding: only the other one decides.
                let other = at.meeting.margins[3 - i];
                if other < 0.0 {
                    BESIDE
                } else {
                    self.judge(cx, &at)
                }
            }
            (_, 2 | 3) => BESIDE,
            // What comes up from behind leaves without being pressed.
            (BEHIND, _) => unilateral::APART,
            (mode, i) => unilateral::fire(mode, i, at.meeting.depth),
        };
    }
}
