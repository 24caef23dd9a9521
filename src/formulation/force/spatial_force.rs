//! Force elements written once over [`Number`]: what acts on two bodies as a force at a place and a couple, its derivatives by
//! [`Dual`].
//!
//! ```text
//!   body 1:  F at p, couple C          body 0:  −F at p, −C
//!   −∂f/∂v, −∂f/∂q                     the derivatives that f carries
//! ```
//!
//! Equal and opposite at one place, so that momentum and angular momentum are kept.

use std::fmt::Debug;

use super::body_frame::{BodyFrame, BodyView};
use super::dual::{Dual, Scalar, Vector3Of, cross, minus, plus};
use super::{EventCounts, ForceElement, ForceQuantities};
use crate::formulation::absolute::sparsity::{PairSlots, SparsityBuilder, pick, scatter};
use crate::formulation::{Crossing, Energy, EvaluationContext, EventEffect, MotionPoint, Power};
use crate::model::BodyRef;

/// What acts on body 1; body 0 gets the opposite.
#[derive(Clone, Copy, Debug)]
pub struct AppliedWrench<T> {
    /// Ground axes (N).
    pub force: Vector3Of<T>,
    /// Where, ground frame (m).
    pub point: Vector3Of<T>,
    /// Ground axes (N m).
    pub couple: Vector3Of<T>,
}

impl<T: Scalar> AppliedWrench<T> {
    /// A force at a place.
    pub fn at_point(force: Vector3Of<T>, point: Vector3Of<T>) -> Self {
        Self {
            force,
            point,
            couple: [T::constant(0.0); 3],
        }
    }

    /// Nothing.
    pub fn zero() -> Self {
        Self::at_point([T::constant(0.0); 3], [T::constant(0.0); 3])
    }
}

/// A force between two bodies.
pub trait SpatialForce: Debug + Send + Sync {
    /// f can depend on v.
    fn depends_on_rate(&self) -> bool;

    /// Dampers and drives do work.
    fn does_work(&self) -> bool;

    /// What acts.
    fn wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T>;

    /// Energy stored (J).
    fn potential(&self, _cx: &EvaluationContext, _bodies: &[BodyFrame<f64>; 2]) -> f64 {
        0.0
    }

    /// Power.
    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power;

    /// What a user reads; force and moment on body 1 are filled in from [`Kernel::act`].
    fn quantities(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<f64>; 2],
    ) -> ForceQuantities {
        ForceQuantities::default()
    }

    /// How many events and modes.
    fn event_counts(&self) -> EventCounts {
        EventCounts::default()
    }

    /// Event functions by their index.
    fn event_functions<T: Scalar>(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<T>; 2],
        _put: &mut dyn FnMut(usize, T),
    ) {
    }

    /// The modes at the start.
    fn initial_modes(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<f64>; 2],
        _modes: &mut [i32],
    ) {
    }

    /// Which crossings of event `i` count.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Off
    }

    /// Event `i` has been hit.
    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<f64>; 2],
        _i: usize,
        _modes: &mut [i32],
    ) {
    }
}

/// A kernel between two bodies of a mechanism.
#[derive(Debug)]
pub struct SpatialForceElement<K, const N: usize> {
    force: K,
    bodies: [BodyRef; 2],
    pair: PairSlots<N>,
}

impl<K: SpatialForce, const N: usize> SpatialForceElement<K, N> {
    /// With the slots of its derivatives.
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

/// The generalised forces of an action on two bodies; zero on the ground.
pub fn generalised_forces<W: BodyView<N>, T: Scalar, const N: usize>(
    action: &AppliedWrench<T>,
    bodies: [BodyRef; 2],
    frames: &[BodyFrame<T>; 2],
) -> [T; N] {
    let mut out = [T::constant(0.0); N];
    for (side, frame) in frames.iter().enumerate() {
        if bodies[side].is_none() {
            continue;
        }
        let lever = minus(&action.point, &frame.r);
        let (mut force, mut moment) = (
            action.force,
            plus(&action.couple, &cross(&lever, &action.force)),
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
        let own = self.force.power(cx, &W::frames(poses, self.bodies, v));
        power.dissipated += own.dissipated;
        power.supplied += own.supplied;
    }

    fn quantities(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let frames = W::frames(poses, self.bodies, at.v);
        let action = self.force.wrench(cx, &frames);
        ForceQuantities {
            force_vector: action.force,
            moment: action.couple,
            ..self.force.quantities(cx, &frames)
        }
    }

    fn event_counts(&self) -> EventCounts {
        self.force.event_counts()
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
        let frames = W::frames_with_derivatives(poses, self.bodies, at.v);
        let (v, a) = (pick(self.bodies, at.v), pick(self.bodies, at.a));
        self.force
            .event_functions(cx, &frames, &mut |i, x: Dual<N>| {
                phi[i] = x.x;
                rate[i] = x.rate_along(&v, &a);
            });
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
