//! States inside an accepted step, for a solver that has stepped beyond a communication point.
//!
//! ```text
//!   t₀ ───── t ───────── t₁        the step stays as it is; the state at t is a point of its interpolation, from which
//!                                  the motion can also be restarted: δ = (q̈₁ − q̈₀)/h,  dλ/dt = (λ₁ − λ₀)/h
//! ```
//!
//! Everything follows from the states at t₀ and t₁, so that both can be saved and continued elsewhere with the same bits.

use super::Segment;
use crate::error::Result;
use crate::formulation::system::System;
use crate::integrator::workspace::Problem;
use crate::integrator::{Environment, EventMemory, Integrator, Sample, SampleLevel, State};

impl Segment {
    /// Whether the interpolation is that of the step between two states, made by [`Segment::span`].
    fn spans(&self, [start, end]: [&State; 2]) -> bool {
        self.valid && self.spanned && self.t == [start.t, end.t]
    }

    /// Sets the step between two states, without an event at its end.
    fn span(&mut self, [start, end]: [&State; 2]) {
        self.start(start);
        self.q[0].copy_from_slice(&start.q);
        self.v[0].copy_from_slice(&start.v);
        self.acc[0].copy_from_slice(&start.acc);
        if !self.jerk[0].is_empty() {
            self.jerk[0].copy_from_slice(&start.jerk);
        }
        self.lambda[0].copy_from_slice(&start.lambda);
        self.lambda_dot[0].copy_from_slice(&start.lambda_dot);
        // Not of every state that can be read: a wrong counter must not ask for jerks that are not kept.
        let jerks =
            !self.jerk[0].is_empty() && end.statistics.steps_smooth > start.statistics.steps_smooth;
        self.end(end, jerks);
        self.set_work(end);
        self.refined = None;
        self.spanned = true;
    }
}

impl Integrator {
    /// Makes the step between two states the one that is interpolated. Nothing but the motion changes between them.
    pub fn interpolate_between(
        &mut self,
        system: &dyn System,
        env: &Environment,
        ends: [&State; 2],
    ) {
        if self.segment.spans(ends) {
            return;
        }
        self.segment.span(ends);
        let [start, _] = ends;
        if self.work.character.moving_constraints {
            // Whether its work needs more panels follows from the whole step.
            let p = Problem {
                system,
                env: *env,
                modes: &start.modes,
            };
            self.work.select_active(system, start);
            let _ = self.segment.work(&mut self.work, &p, 1.0);
        }
    }

    /// The state at `t` inside the step between two states. `sample` is overwritten.
    pub fn state_within(
        &mut self,
        system: &dyn System,
        env: &Environment,
        ends: [&State; 2],
        t: f64,
        sample: &mut Sample,
        out: &mut State,
    ) -> Result<()> {
        self.interpolate_between(system, env, ends);
        self.interpolate_to(system, env, t, SampleLevel::Accelerations, sample)?;
        let [start, _] = ends;
        out.copy_from(start);
        out.t = t;
        out.q.copy_from_slice(&sample.q);
        out.v.copy_from_slice(&sample.v);
        out.acc.copy_from_slice(&sample.acc);
        out.lambda.copy_from_slice(&sample.lambda);
        (out.dissipated, out.supplied) = (sample.dissipated, sample.supplied);
        let p = Problem {
            system,
            env: *env,
            modes: &start.modes,
        };
        self.work.select_active(system, start);
        self.work.update_integrals(&p, out);
        out.begin_inside(ends);
        Ok(())
    }
}

impl State {
    /// Sets the history of a state inside a step: that of a restart, with slopes of the step instead of a jerk.
    fn begin_inside(&mut self, [start, end]: [&State; 2]) {
        let h = end.t - start.t;
        for i in 0..self.delta.len() {
            self.delta[i] = (end.acc[i] - start.acc[i]) / h;
        }
        for i in 0..self.lambda_dot.len() {
            self.lambda_dot[i] = (end.lambda[i] - start.lambda[i]) / h;
        }
        self.a.copy_from_slice(&self.acc);
        self.delta_dot.fill(0.0);
        self.jerk.fill(0.0);
        (self.jerk_known, self.h) = (false, 0.0);
        (self.newton_contraction, self.contraction_uses) = (f64::INFINITY, 0);
        self.forget_previous();
        (self.first, self.may_grow) = (false, true);
        for i in 0..self.scale.len().min(self.q.len()) {
            self.scale[i] = self.scale[i].max(self.q[i].abs());
        }
        (self.factored_step, self.factored_mass) = (end.factored_step, end.factored_mass);
        (self.typical_pivot, self.motion_time) = (end.typical_pivot, end.motion_time);
        self.event_memory.fill(EventMemory::Nothing);
        self.event_side.copy_from_slice(&end.event_side);
        self.event_streak = end.event_streak;
        self.statistics = end.statistics;
    }
}
