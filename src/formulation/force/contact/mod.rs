//! Compliant contact of a point, sphere or disc with a surface of another body. With δ the penetration depth, n the outward normal of
//! the surface, u the velocity of body 1 relative to body 0 at the contact point and u_t its tangential part:
//!
//! ```text
//!   N = k δ + d δ̇   or   k δⁿ (1 + d δ̇),   never negative,      δ̇ = −n·u
//!   F = N n − N μ(|u_t|) u_t/|u_t|
//!   V = k δⁿ⁺¹/(n + 1),      dissipated = (N − k δⁿ) δ̇ + N μ |u_t|
//! ```
//!
//! Separated, loaded and relaxing are modes ([`unilateral`]). A bounded surface (a piece of an outline) has three more: the sphere is
//! outside its first or second end, or behind it.

mod build;
pub mod curvature;
pub mod friction_mode;
pub mod outline;
pub mod slip;
pub mod surface;

use super::body_frame::BodyFrame;
use super::dual::{Scalar, Vector3Of, dot, minus, plus, times};
use super::friction::Friction;
use super::spatial_force::{AppliedWrench, SpatialForce};
use super::unilateral;
use super::{EventCounts, ForceQuantities};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{Crossing, EvaluationContext, Power};
use crate::linalg::elementary::powf;
use curvature::{BodySpeeds, distance};
use surface::{ContactSurface, Proximity};

/// Outside the first end of a bounded surface.
const OUTSIDE_FIRST: i32 = 3;
/// Deeper than the largest penetration: on the far side of a bounded surface.
const BEHIND: i32 = 4;
/// Outside the second end of a bounded surface.
const OUTSIDE_SECOND: i32 = 5;

/// The law of the normal force.
#[derive(Clone, Copy, Debug)]
pub struct NormalForce {
    /// k
    pub stiffness: DrivenValue,
    /// n
    pub exponent: f64,
    /// d
    pub damping: DrivenValue,
    /// Damping proportional to the elastic force (Hunt and Crossley).
    pub hunt_crossley: bool,
}

impl NormalForce {
    /// Returns k δⁿ, continued as an odd function to δ < 0.
    fn elastic<T: Scalar>(&self, cx: &EvaluationContext, depth: T) -> T {
        let (k, x) = (self.stiffness.get(cx), depth.value());
        if self.exponent == 1.0 {
            return depth * k;
        }
        let power = powf(x.abs(), self.exponent - 1.0);
        depth.chain(k * power * x, k * self.exponent * power)
    }

    /// Returns N, also where it is negative.
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

/// A compliant contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Surface of body 0.
    pub surface: ContactSurface,
    /// Centre of the sphere of body 1, relative to the centre of mass.
    pub center: [f64; 3],
    /// Radius of the sphere; zero for a point.
    pub radius: f64,
    /// Normal force.
    pub normal_law: NormalForce,
    /// Tangential friction.
    pub friction: Option<Friction>,
}

/// The sphere relative to the surface: proximity, penetration rate δ̇ and slip velocity u_t.
struct ContactPoint<T> {
    proximity: Proximity<T>,
    rate: T,
    slip: Vector3Of<T>,
}

impl Contact {
    fn contact_point<T: Scalar>(&self, [a, b]: &[BodyFrame<T>; 2]) -> ContactPoint<T> {
        let proximity = self
            .surface
            .proximity(a, &b.point_position(&self.center), self.radius);
        let u = minus(
            &b.velocity_at(&proximity.point),
            &a.velocity_at(&proximity.point),
        );
        let opening_rate = dot(&proximity.normal, &u);
        let slip = minus(&u, &times(opening_rate, &proximity.normal));
        ContactPoint {
            proximity,
            rate: -opening_rate,
            slip,
        }
    }

    fn normal_force<T: Scalar>(&self, cx: &EvaluationContext, at: &ContactPoint<T>) -> T {
        self.normal_law.force(cx, at.proximity.depth, at.rate)
    }

    /// Returns the mode of a sphere, without regard to the end `within`: it is rounding.
    fn mode_at(
        &self,
        cx: &EvaluationContext,
        at: &ContactPoint<f64>,
        within: Option<usize>,
    ) -> i32 {
        let outside = |end: usize| {
            self.surface.is_bounded() && within != Some(end) && at.proximity.margins[end] < 0.0
        };
        if outside(0) {
            OUTSIDE_FIRST
        } else if outside(1) {
            OUTSIDE_SECOND
        } else if at.proximity.depth > self.surface.max_depth() {
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
        let friction_loss =
            (self.friction.as_ref()).map_or(0.0, |f| normal * f.over_speed(cx, squared) * squared);
        Power {
            dissipated: (normal - elastic) * at.rate + friction_loss,
            supplied: 0.0,
        }
    }

    /// Penetration depth as length, and the normal force, positive in compression.
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
            mode: unilateral::shown_mode(cx.modes[0]),
            ..ForceQuantities::default()
        }
    }

    fn event_counts(&self) -> EventCounts {
        let margins = if self.surface.is_bounded() { 2 } else { 0 };
        EventCounts {
            events: unilateral::EVENTS + margins,
            modes: 1,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        (modes.iter()).all(|mode| (unilateral::SEPARATED..=OUTSIDE_SECOND).contains(mode))
    }

    fn rests_in_mode_zero(&self) -> bool {
        true
    }

    fn only_event(
        &self,
        _cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
    ) -> Option<(f64, f64)> {
        // A bounded surface has its ends too.
        if self.surface.is_bounded() {
            return None;
        }
        let at = self.contact_point(bodies);
        Some((at.proximity.depth, at.rate))
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

    fn event_curvature(
        &self,
        speeds: &[BodySpeeds; 2],
        bodies: &[BodyFrame<f64>; 2],
        bound: &mut [f64],
    ) {
        let [a, b] = bodies;
        let apart = distance(&b.point_position(&self.center), &a.r);
        let [depth, margin] =
            (self.surface).depth_curvature(speeds, (&self.center, self.radius), apart);
        bound[0] = depth;
        bound[1] = f64::NAN;
        bound[2..].fill(margin);
    }

    fn initial_modes(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<f64>; 2],
        modes: &mut [i32],
    ) {
        modes[0] = self.mode_at(cx, &self.contact_point(bodies), None);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        match (modes[0], i) {
            (OUTSIDE_FIRST, 2) | (OUTSIDE_SECOND, 3) => Crossing::Rising,
            (OUTSIDE_FIRST | OUTSIDE_SECOND, _) => Crossing::Off,
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
            (OUTSIDE_FIRST, 2) | (OUTSIDE_SECOND, 3) => self.mode_at(cx, &at, Some(i - 2)),
            (_, 2) => OUTSIDE_FIRST,
            (_, 3) => OUTSIDE_SECOND,
            // A sphere that returns from behind separates without a contact force.
            (BEHIND, _) => unilateral::SEPARATED,
            (mode, i) => unilateral::mode_after(mode, i, at.proximity.depth),
        };
    }
}
