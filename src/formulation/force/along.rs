//! A law along one measure: the element of springs, dampers, actuators, friction and stops.

use std::sync::Arc;

use super::{Element, Law, Shown, Watched};
use crate::formulation::absolute::rows::course;
use crate::formulation::absolute::slots::{Pair, Slots, gather, pick, scatter};
use crate::formulation::absolute::world::{Measure, World, transposed_times};
use crate::formulation::{Context, Crossing, Energy, Motion, Power, Reaction};

/// A law along a measure.
#[derive(Debug)]
pub struct Along<W: World<N>, const N: usize> {
    measure: W::Measure,
    law: Arc<dyn Law>,
    pair: Pair<N>,
}

impl<W: World<N>, const N: usize> Along<W, N> {
    /// With the slots of its derivatives.
    pub fn new(measure: W::Measure, law: Arc<dyn Law>, slots: &mut Slots) -> Self {
        let sloped = law.depends_on_length() || law.depends_on_rate();
        let pair = slots.pair(measure.bodies(), |i, j| {
            measure.curved(i, j) || (sloped && measure.touches(i) && measure.touches(j))
        });
        Self { measure, law, pair }
    }
}

impl<W: World<N>, const N: usize> Element<W, N> for Along<W, N> {
    fn depends_on_rate(&self) -> bool {
        self.law.depends_on_rate()
    }

    fn works(&self) -> bool {
        self.law.drives() || self.law.depends_on_rate()
    }

    fn apply(&self, cx: &Context, poses: &mut W::Poses<'_>, v: &[f64], out: &mut [f64]) {
        let bodies = self.measure.bodies();
        let (length, g) = self.measure.value(poses);
        let pull = self.law.pull(cx, length, gather(bodies, &g, v));
        scatter(bodies, -pull.force, &g, out);
    }

    fn tangent(
        &self,
        cx: &Context,
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

    fn add_energy(&self, cx: &Context, poses: &mut W::Poses<'_>, energy: &mut Energy) {
        let (length, _) = self.measure.value(poses);
        energy.potential += self.law.potential(cx, length);
    }

    fn add_power(&self, cx: &Context, poses: &mut W::Poses<'_>, v: &[f64], power: &mut Power) {
        let (length, g) = self.measure.value(poses);
        let rate = gather(self.measure.bodies(), &g, v);
        let own = self.law.power(cx, length, rate);
        power.dissipated += own.dissipated;
        power.supplied += own.supplied;
    }

    fn shown(&self, cx: &Context, poses: &mut W::Poses<'_>, at: &Motion) -> Shown {
        let (length, g) = self.measure.value(poses);
        let rate = gather(self.measure.bodies(), &g, at.v);
        let pull = self.law.pull(cx, length, rate);
        Shown {
            length,
            rate,
            force: self.law.shown(&pull),
            ..Shown::default()
        }
    }

    fn watched(&self) -> Watched {
        self.law.watched()
    }

    fn start_modes(&self, cx: &Context, poses: &mut W::Poses<'_>, v: &[f64], modes: &mut [i32]) {
        let (length, g) = self.measure.value(poses);
        let rate = gather(self.measure.bodies(), &g, v);
        self.law.start_modes(cx, length, rate, modes);
    }

    fn events(
        &self,
        cx: &Context,
        poses: &mut W::Poses<'_>,
        at: &Motion,
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
        cx: &Context,
        poses: &mut W::Poses<'_>,
        at: &Motion,
        i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> Reaction {
        let course = course::<W, N>(&self.measure, poses, at.v, at.a);
        self.law.fire(cx, course, i, modes);
        Reaction::Mode
    }

    fn hold(&self, i: usize, modes: &mut [i32]) {
        self.law.hold(i, modes);
    }
}
