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
use super::{ForceElement, ForceQuantities, LawEvent};
use crate::formulation::absolute::sparsity::{PairSlots, SparsityBuilder, pick, scatter};
use crate::formulation::{Crossing, Energy, EvaluationContext, EventEffect, MotionPoint, Power};
use crate::model::BodyRef;

/// What acts on body 1; body 0 gets the opposite.
#[derive(Clone, Copy, Debug)]
pub struct BodyWrenches<T> {
    /// Ground axes (N).
    pub force: Vector3Of<T>,
    /// Where, ground frame (m).
    pub place: Vector3Of<T>,
    /// Ground axes (N m).
    pub couple: Vector3Of<T>,
}

impl<T: Scalar> BodyWrenches<T> {
    /// A force at a place.
    pub fn force(force: Vector3Of<T>, place: Vector3Of<T>) -> Self {
        Self {
            force,
            place,
            couple: [T::constant(0.0); 3],
        }
    }

    /// Nothing.
    pub fn none() -> Self {
        Self::force([T::constant(0.0); 3], [T::constant(0.0); 3])
    }
}

/// A force between two bodies.
pub trait SpatialForce: Debug + Send + Sync {
    /// f can depend on v.
    fn depends_on_rate(&self) -> bool;

    /// Dampers and drives do work.
    fn works(&self) -> bool;

    /// What acts.
    fn act<T: Scalar>(&self, cx: &EvaluationContext, bodies: &[BodyFrame<T>; 2])
    -> BodyWrenches<T>;

    /// Energy stored (J).
    fn potential(&self, _cx: &EvaluationContext, _bodies: &[BodyFrame<f64>; 2]) -> f64 {
        0.0
    }

    /// Power.
    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power;

    /// What a user reads; force and moment on body 1 are filled in from [`Kernel::act`].
    fn shown(&self, _cx: &EvaluationContext, _bodies: &[BodyFrame<f64>; 2]) -> ForceQuantities {
        ForceQuantities::default()
    }

    /// How many events and modes.
    fn watched(&self) -> LawEvent {
        LawEvent::default()
    }

    /// Event functions by their index.
    fn watch<T: Scalar>(
        &self,
        _cx: &EvaluationContext,
        _bodies: &[BodyFrame<T>; 2],
        _put: &mut dyn FnMut(usize, T),
    ) {
    }

    /// The modes at the start.
    fn start_modes(
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
    fn fire(
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
    kernel: K,
    bodies: [BodyRef; 2],
    pair: PairSlots<N>,
}

impl<K: SpatialForce, const N: usize> SpatialForceElement<K, N> {
    /// With the slots of its derivatives.
    pub fn new(kernel: K, bodies: [BodyRef; 2], slots: &mut SparsityBuilder) -> Self {
        let pair = slots.pair(bodies, |_, _| true);
        Self {
            kernel,
            bodies,
            pair,
        }
    }

    fn generalised<W: BodyView<N>, T: Scalar>(
        &self,
        cx: &EvaluationContext,
        frames: &[BodyFrame<T>; 2],
    ) -> [T; N] {
        generalised::<W, T, N>(&self.kernel.act(cx, frames), self.bodies, frames)
    }
}

/// The generalised forces of an action on two bodies; zero on the ground.
pub fn generalised<W: BodyView<N>, T: Scalar, const N: usize>(
    action: &BodyWrenches<T>,
    bodies: [BodyRef; 2],
    frames: &[BodyFrame<T>; 2],
) -> [T; N] {
    let mut out = [T::constant(0.0); N];
    for (side, frame) in frames.iter().enumerate() {
        if bodies[side].is_none() {
            continue;
        }
        let lever = minus(&action.place, &frame.r);
        let (mut force, mut moment) = (
            action.force,
            plus(&action.couple, &cross(&lever, &action.force)),
        );
        if side == 0 {
            force = force.map(|x| -x);
            moment = moment.map(|x| -x);
        }
        W::onto(
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
        self.kernel.depends_on_rate()
    }

    fn works(&self) -> bool {
        self.kernel.works()
    }

    fn apply(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, v: &[f64], out: &mut [f64]) {
        let f = self.generalised::<W, f64>(cx, &W::seen(poses, self.bodies, v));
        scatter(self.bodies, 1.0, &f, out);
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        damping: f64,
        stiffness: f64,
        out: &mut [f64],
    ) {
        let f = self.generalised::<W, Dual<N>>(cx, &W::felt(poses, self.bodies, v));
        for i in 0..N {
            for j in 0..N {
                let entry = -(damping * f[i].v[j] + stiffness * f[i].q[j]);
                self.pair.add(i, j, entry, out);
            }
        }
    }

    fn add_energy(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, energy: &mut Energy) {
        energy.potential += self.kernel.potential(cx, &W::at_rest(poses, self.bodies));
    }

    fn add_power(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        power: &mut Power,
    ) {
        let own = self.kernel.power(cx, &W::seen(poses, self.bodies, v));
        power.dissipated += own.dissipated;
        power.supplied += own.supplied;
    }

    fn shown(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let frames = W::seen(poses, self.bodies, at.v);
        let action = self.kernel.act(cx, &frames);
        ForceQuantities {
            load: action.force,
            moment: action.couple,
            ..self.kernel.shown(cx, &frames)
        }
    }

    fn watched(&self) -> LawEvent {
        self.kernel.watched()
    }

    fn start_modes(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        self.kernel
            .start_modes(cx, &W::seen(poses, self.bodies, v), modes);
    }

    fn events(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let frames = W::felt(poses, self.bodies, at.v);
        let (v, a) = (pick(self.bodies, at.v), pick(self.bodies, at.a));
        self.kernel.watch(cx, &frames, &mut |i, x: Dual<N>| {
            phi[i] = x.x;
            rate[i] = x.along(&v, &a);
        });
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.kernel.crossing(modes, i)
    }

    fn fire(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        self.kernel
            .fire(cx, &W::seen(poses, self.bodies, at.v), i, modes);
        EventEffect::Mode
    }
}
