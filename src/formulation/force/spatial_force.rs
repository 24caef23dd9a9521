//! Forces between two bodies given as a force at a point and a couple, written once over [`Scalar`]; the derivatives come from [`Dual`].
//!
//! ```text
//!   body 1:  F at p, couple C          body 0:  −F at p, −C
//!   −∂f/∂v, −∂f/∂q                     the derivatives that f carries
//! ```
//!
//! Action and reaction act at the same point, so that momentum and angular momentum are conserved.

use std::fmt::Debug;

use super::body_frame::{BodyFrame, BodyView};
use super::contact::curvature::BodySpeeds;
use super::dual::{Dual, Scalar, Vector3Of, cross, minus, plus};
use super::{EventCounts, ForceElement, ForceQuantities};
use crate::formulation::absolute::sparsity::{PairSlots, SparsityBuilder, pick, scatter};
use crate::formulation::{Crossing, Energy, EvaluationContext, EventEffect, MotionPoint, Power};
use crate::model::BodyRef;

/// Force and couple on body 1; the opposite acts on body 0.
#[derive(Clone, Copy, Debug)]
pub struct AppliedWrench<T> {
    /// Ground axes (N).
    pub force: Vector3Of<T>,
    /// Point of application, ground frame (m).
    pub point: Vector3Of<T>,
    /// Ground axes (N m).
    pub couple: Vector3Of<T>,
}

impl<T: Scalar> AppliedWrench<T> {
    /// A force at a point, without a couple.
    pub fn at_point(force: Vector3Of<T>, point: Vector3Of<T>) -> Self {
        Self {
            force,
            point,
            couple: [T::constant(0.0); 3],
        }
    }

    /// No force.
    pub fn zero() -> Self {
        Self::at_point([T::constant(0.0); 3], [T::constant(0.0); 3])
    }
}

/// A force between two bodies.
pub trait SpatialForce: Debug + Send + Sync {
    /// Whether f can depend on v.
    fn depends_on_rate(&self) -> bool;

    /// Whether the element dissipates or supplies energy.
    fn does_work(&self) -> bool;

    /// Returns the force and the couple.
    fn wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T>;

    /// Returns the potential energy (J).
    fn potential(&self, _cx: &EvaluationContext, _bodies: &[BodyFrame<f64>; 2]) -> f64 {
        0.0
    }

    /// Returns the dissipated and the supplied power.
    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power;

    /// Returns the output quantities; the force and the couple on body 1 are added from [`SpatialForce::wrench`].
    fn quantities(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<f64>; 2],
    ) -> ForceQuantities {
        ForceQuantities::default()
    }

    /// Returns the numbers of events and modes.
    fn event_counts(&self) -> EventCounts {
        EventCounts::default()
    }

    /// Passes the event functions to `put` by index.
    fn event_functions<T: Scalar>(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<T>; 2],
        _put: &mut dyn FnMut(usize, T),
    ) {
    }

    /// Whether there is no force, energy and power while all modes are zero.
    fn rests_in_mode_zero(&self) -> bool {
        false
    }

    /// Returns the first event function and its rate if no other one counts in these modes, without derivatives.
    fn only_event(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<f64>; 2],
    ) -> Option<(f64, f64)> {
        None
    }

    /// Whether modes that were read from outside are modes of this element.
    fn modes_exist(&self, _modes: &[i32]) -> bool {
        true
    }

    /// Writes bounds of |φ''| for motions with these speeds; NaN where none is known.
    fn event_curvature(
        &self,
        _speeds: &[BodySpeeds; 2],
        _bodies: &[BodyFrame<f64>; 2],
        bound: &mut [f64],
    ) {
        bound.fill(f64::NAN);
    }

    /// Sets the initial modes.
    fn initial_modes(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<f64>; 2],
        _modes: &mut [i32],
    ) {
    }

    /// Returns which zero crossings of event `i` count.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Off
    }

    /// Changes the modes after event `i`.
    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<f64>; 2],
        _i: usize,
        _modes: &mut [i32],
    ) {
    }
}

/// The force element of a [`SpatialForce`] between two bodies.
#[derive(Debug)]
pub struct SpatialForceElement<K, const N: usize> {
    force: K,
    bodies: [BodyRef; 2],
    pair: PairSlots<N>,
}

impl<K: SpatialForce, const N: usize> SpatialForceElement<K, N> {
    /// Builds the element and reserves the entries of its derivatives.
    pub fn new(force: K, bodies: [BodyRef; 2], slots: &mut SparsityBuilder) -> Self {
        let pair = slots.body_pair(bodies, |_, _| true);
        Self {
            force,
            bodies,
            pair,
        }
    }

    fn generalised_forces<W: BodyView<N>, T: Scalar>(
        &self,
        cx: &EvaluationContext,
        frames: &[BodyFrame<T>; 2],
    ) -> [T; N] {
        generalised_forces::<W, T, N>(&self.force.wrench(cx, frames), self.bodies, frames)
    }
}

/// Returns the generalised forces of a wrench on two bodies; zero for the ground.
pub fn generalised_forces<W: BodyView<N>, T: Scalar, const N: usize>(
    wrench: &AppliedWrench<T>,
    bodies: [BodyRef; 2],
    frames: &[BodyFrame<T>; 2],
) -> [T; N] {
    let mut out = [T::constant(0.0); N];
    for (side, frame) in frames.iter().enumerate() {
        if bodies[side].is_none() {
            continue;
        }
        let arm = minus(&wrench.point, &frame.r);
        let (mut force, mut moment) = (
            wrench.force,
            plus(&wrench.couple, &cross(&arm, &wrench.force)),
        );
        if side == 0 {
            force = force.map(|x| -x);
            moment = moment.map(|x| -x);
        }
        W::generalised_force(
            frame,
            &force,
            &moment,
            &mut out[N / 2 * side..N / 2 * (side + 1)],
        );
    }
    out
}

impl<W: BodyView<N>, K: SpatialForce, const N: usize> ForceElement<W, N>
    for SpatialForceElement<K, N>
{
    fn depends_on_rate(&self) -> bool {
        self.force.depends_on_rate()
    }

    fn does_work(&self) -> bool {
        self.force.does_work()
    }

    fn add_force(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        let f = self.generalised_forces::<W, f64>(cx, &W::frames(poses, self.bodies, v));
        scatter(self.bodies, 1.0, &f, out);
    }

    fn add_tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    ) {
        let f = self.generalised_forces::<W, Dual<N>>(
            cx,
            &W::frames_with_derivatives(poses, self.bodies, v),
        );
        for i in 0..N {
            for j in 0..N {
                let entry = -(damping * f[i].v[j] + stiffness * f[i].q[j]);
                self.pair.add(i, j, entry, out);
            }
        }
    }

    fn add_energy(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, energy: &mut Energy) {
        energy.potential += self
            .force
            .potential(cx, &W::frames_at_rest(poses, self.bodies));
    }

    fn add_power(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        power: &mut Power,
    ) {
        let of_force = self.force.power(cx, &W::frames(poses, self.bodies, v));
        power.dissipated += of_force.dissipated;
        power.supplied += of_force.supplied;
    }

    fn quantities(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let frames = W::frames(poses, self.bodies, at.v);
        let wrench = self.force.wrench(cx, &frames);
        ForceQuantities {
            force_vector: wrench.force,
            moment: wrench.couple,
            ..self.force.quantities(cx, &frames)
        }
    }

    fn rests_in_mode_zero(&self) -> bool {
        self.force.rests_in_mode_zero()
    }

    fn event_counts(&self) -> EventCounts {
        self.force.event_counts()
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        self.force.modes_exist(modes)
    }

    fn initial_modes(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        self.force
            .initial_modes(cx, &W::frames(poses, self.bodies, v), modes);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        if self.force.rests_in_mode_zero() && cx.modes.iter().all(|mode| *mode == 0) {
            let frames = W::frames(poses, self.bodies, at.v);
            if let Some(only) = self.force.only_event(cx, &frames) {
                phi.fill(0.0);
                rate.fill(0.0);
                (phi[0], rate[0]) = only;
                return;
            }
        }
        let frames = W::frames_with_derivatives(poses, self.bodies, at.v);
        let (v, a) = (pick(self.bodies, at.v), pick(self.bodies, at.a));
        self.force
            .event_functions(cx, &frames, &mut |i, x: Dual<N>| {
                phi[i] = x.x;
                rate[i] = x.rate_along(&v, &a);
            });
    }

    fn event_curvature(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        bound: &mut [f64],
    ) {
        let speeds = BodySpeeds::of::<N>(self.bodies, at);
        // How far body 1 is from a ground that does not move makes no difference.
        if self.bodies[0].is_none() {
            (self.force).event_curvature(&speeds, &[BodyFrame::ORIGIN; 2], bound);
        } else {
            let frames = W::frames_at_rest(poses, self.bodies);
            self.force.event_curvature(&speeds, &frames, bound);
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.force.crossing(modes, i)
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        self.force
            .handle_event(cx, &W::frames(poses, self.bodies, at.v), i, modes);
        EventEffect::Mode
    }
}
