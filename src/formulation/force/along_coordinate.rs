//! A law along one measure: the element of springs, dampers, actuators, friction and stops.

use std::sync::Arc;

use super::{ForceElement, ForceQuantities, LawEvent, ScalarLaw};
use crate::formulation::absolute::constraint::course;
use crate::formulation::absolute::geometry::{Geometry, RelativeCoordinate, transposed_times};
use crate::formulation::absolute::sparsity::{PairSlots, SparsityBuilder, gather, pick, scatter};
use crate::formulation::{Crossing, Energy, EvaluationContext, EventEffect, MotionPoint, Power};

/// A law along a measure.
#[derive(Debug)]
pub struct CoordinateForceElement<W: Geometry<N>, const N: usize> {
    measure: W::RelativeCoordinate,
    law: Arc<dyn ScalarLaw>,
    pair: PairSlots<N>,
}

impl<W: Geometry<N>, const N: usize> CoordinateForceElement<W, N> {
    /// With the slots of its derivatives.
    pub fn new(
        measure: W::RelativeCoordinate,
        law: Arc<dyn ScalarLaw>,
        slots: &mut SparsityBuilder,
    ) -> Self {
        let sloped = law.depends_on_length() || law.depends_on_rate();
        let pair = slots.pair(measure.bodies(), |i, j| {
            measure.curved(i, j) || (sloped && measure.touches(i) && measure.touches(j))
        });
        Self { measure, law, pair }
    }
}

impl<W: Geometry<N>, const N: usize> ForceElement<W, N> for CoordinateForceElement<W, N> {
    fn depends_on_rate(&self) -> bool {
        self.law.depends_on_rate()
    }

    fn works(&self) -> bool {
        self.law.drives() || self.law.depends_on_rate()
    }

    fn apply(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, v: &[f64], out: &mut [f64]) {
        let bodies = self.measure.bodies();
        let (length, g) = self.measure.value(poses);
        let pull = self.law.pull(cx, length, gather(bodies, &g, v));
        scatter(bodies, -pull.force, &g, out);
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
        let bodies = self.measure.bodies();
        let (length, g) = self.measure.value(poses);
        let pull = self.law.pull(cx, length, gather(bodies, &g, v));
        let slope = damping * pull.by_rate + stiffness * pull.by_length;
        let mut row = g.map(|g| slope * g);
        if stiffness != 0.0 {
            let h = self.measure.hessian(poses);
            if pull.by_rate != 0.0 {
                let hv = transposed_times(&h, &pick(bodies, v));
                for k in 0..N {
                    row[k] += stiffness * pull.by_rate * hv[k];
                }
            }
            self.pair.add_matrix(stiffness * pull.force, &h, out);
            let at_coincidence = stiffness * self.law.at_coincidence(cx);
            if at_coincidence != 0.0
                && let Some(rows) = self.measure.coincident(poses)
            {
                for e in rows {
                    self.pair.add_outer(&e.map(|x| at_coincidence * x), &e, out);
                }
            }
        }
        self.pair.add_outer(&g, &row, out);
    }

    fn add_energy(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, energy: &mut Energy) {
        let (length, _) = self.measure.value(poses);
        energy.potential += self.law.potential(cx, length);
    }

    fn add_power(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        power: &mut Power,
    ) {
        let (length, g) = self.measure.value(poses);
        let rate = gather(self.measure.bodies(), &g, v);
        let own = self.law.power(cx, length, rate);
        power.dissipated += own.dissipated;
        power.supplied += own.supplied;
    }

    fn shown(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let (length, g) = self.measure.value(poses);
        let rate = gather(self.measure.bodies(), &g, at.v);
        let pull = self.law.pull(cx, length, rate);
        ForceQuantities {
            length,
            rate,
            force: self.law.shown(&pull),
            ..ForceQuantities::default()
        }
    }

    fn watched(&self) -> LawEvent {
        self.law.watched()
    }

    fn start_modes(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        let (length, g) = self.measure.value(poses);
        let rate = gather(self.measure.bodies(), &g, v);
        self.law.start_modes(cx, length, rate, modes);
    }

    fn events(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let course = course::<W, N>(&self.measure, poses, at.v, at.a);
        self.law.events(cx, course, phi, rate);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.law.crossing(modes, i)
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
        let course = course::<W, N>(&self.measure, poses, at.v, at.a);
        self.law.fire(cx, course, i, modes);
        EventEffect::Mode
    }

    fn hold(&self, i: usize, modes: &mut [i32]) {
        self.law.hold(i, modes);
    }
}
