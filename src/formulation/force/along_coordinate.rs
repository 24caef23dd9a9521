//! The force element of a [`ScalarLaw`] along a relative coordinate: springs, dampers, actuators, friction and joint limits.

use std::sync::Arc;

use super::contact::curvature::BodySpeeds;
use super::{EventCounts, ForceElement, ForceQuantities, ScalarLaw};
use crate::formulation::absolute::constraint::relative_motion;
use crate::formulation::absolute::geometry::{Geometry, RelativeCoordinate, transposed_times};
use crate::formulation::absolute::sparsity::{PairSlots, SparsityBuilder, gather, pick, scatter};
use crate::formulation::{
    Crossing, Energy, EvaluationContext, EventEffect, IntegralMemory, MotionPoint, Power,
};

/// A scalar law along a relative coordinate.
#[derive(Debug)]
pub struct CoordinateForceElement<W: Geometry<N>, const N: usize> {
    coordinate: W::RelativeCoordinate,
    law: Arc<dyn ScalarLaw>,
    slots: PairSlots<N>,
}

impl<W: Geometry<N>, const N: usize> CoordinateForceElement<W, N> {
    /// Builds the element and reserves the entries of its derivatives.
    pub fn new(
        coordinate: W::RelativeCoordinate,
        law: Arc<dyn ScalarLaw>,
        slots: &mut SparsityBuilder,
    ) -> Self {
        let has_slope = law.depends_on_length() || law.depends_on_rate();
        let slots = slots.body_pair(coordinate.bodies(), |i, j| {
            coordinate.has_curvature(i, j)
                || (has_slope && coordinate.depends_on(i) && coordinate.depends_on(j))
        });
        Self {
            coordinate,
            law,
            slots,
        }
    }
}

impl<W: Geometry<N>, const N: usize> ForceElement<W, N> for CoordinateForceElement<W, N> {
    fn depends_on_rate(&self) -> bool {
        self.law.depends_on_rate()
    }

    fn does_work(&self) -> bool {
        self.law.supplies_energy() || self.law.depends_on_rate()
    }

    fn add_force(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        let bodies = self.coordinate.bodies();
        let (length, g) = self.coordinate.value(poses);
        let force = self.law.force(cx, length, gather(bodies, &g, v));
        scatter(bodies, -force.force, &g, out);
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
        let bodies = self.coordinate.bodies();
        let (length, g) = self.coordinate.value(poses);
        let force = self.law.force(cx, length, gather(bodies, &g, v));
        let slope = damping * force.by_rate + stiffness * force.by_length;
        let mut row = g.map(|g| slope * g);
        if stiffness != 0.0 {
            let h = self.coordinate.hessian(poses);
            if force.by_rate != 0.0 {
                let hv = transposed_times(&h, &pick(bodies, v));
                for k in 0..N {
                    row[k] += stiffness * force.by_rate * hv[k];
                }
            }
            self.slots.add_matrix(stiffness * force.force, &h, out);
            let at_coincidence = stiffness * self.law.coincident_stiffness(cx);
            if at_coincidence != 0.0
                && let Some(rows) = self.coordinate.coincidence_gradients(poses)
            {
                for e in rows {
                    self.slots
                        .add_outer(&e.map(|x| at_coincidence * x), &e, out);
                }
            }
        }
        self.slots.add_outer(&g, &row, out);
    }

    fn add_energy(&self, cx: &EvaluationContext, poses: &mut W::Poses<'_>, energy: &mut Energy) {
        let (length, _) = self.coordinate.value(poses);
        energy.potential += self.law.potential(cx, length);
    }

    fn add_power(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        power: &mut Power,
    ) {
        let (length, g) = self.coordinate.value(poses);
        let rate = gather(self.coordinate.bodies(), &g, v);
        let power_of_law = self.law.power(cx, length, rate);
        power.dissipated += power_of_law.dissipated;
        power.supplied += power_of_law.supplied;
    }

    fn quantities(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
    ) -> ForceQuantities {
        let (length, g) = self.coordinate.value(poses);
        let rate = gather(self.coordinate.bodies(), &g, at.v);
        let force = self.law.force(cx, length, rate);
        let integral = self.law.integral(cx, length, rate).unwrap_or_default();
        ForceQuantities {
            length,
            rate,
            force: self.law.reported_force(&force),
            control_error: integral.integrand[0],
            integral: integral.value,
            ..ForceQuantities::default()
        }
    }

    fn integrals(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        out: &mut [IntegralMemory],
    ) {
        let (length, g) = self.coordinate.value(poses);
        let rate = gather(self.coordinate.bodies(), &g, v);
        if let Some(integral) = self.law.integral(cx, length, rate) {
            out[0] = integral;
        }
    }

    fn integral_rates(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        let (length, g) = self.coordinate.value(poses);
        let rate = gather(self.coordinate.bodies(), &g, v);
        if let Some(out) = out.first_mut() {
            *out = self.law.integral_rate(cx, length, rate);
        }
    }

    fn event_counts(&self) -> EventCounts {
        self.law.event_counts()
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        self.law.modes_exist(modes)
    }

    fn initial_modes(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        modes: &mut [i32],
    ) {
        let (length, g) = self.coordinate.value(poses);
        let rate = gather(self.coordinate.bodies(), &g, v);
        self.law.initial_modes(cx, length, rate, modes);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let motion = relative_motion::<W, N>(&self.coordinate, poses, at.v, at.a);
        self.law.event_functions(cx, motion, phi, rate);
    }

    fn event_curvature(
        &self,
        _cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        at: &MotionPoint,
        bound: &mut [f64],
    ) {
        let speeds = BodySpeeds::of::<N>(self.coordinate.bodies(), at);
        let acceleration = self.coordinate.acceleration_bound(poses, &speeds);
        self.law.event_curvature(acceleration, bound);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.law.crossing(modes, i)
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
        let motion = relative_motion::<W, N>(&self.coordinate, poses, at.v, at.a);
        self.law.handle_event(cx, motion, i, modes);
        EventEffect::Mode
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.law.stop_chattering(i, modes);
    }
}
