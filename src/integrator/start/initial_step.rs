//! The start of a run: initial accelerations and the first step size.

use crate::error::Result;
use crate::formulation::system::System;
use crate::integrator::state::{StartReport, State, Statistics};
use crate::integrator::trial::StepFailure;
use crate::integrator::workspace::{PhasePoint, Problem, Workspace};
use crate::integrator::{Environment, Integrator};
use crate::linalg::elementary::cbrt;

/// Largest part of the time scale of the motion that the first step may have.
const FIRST_PART: f64 = 0.1;
/// First step in static equilibrium (s), where any step is accurate.
const STEP_AT_REST: f64 = 1e-3;

impl Integrator {
    /// Assembles the initial pose, makes velocities and accelerations consistent and chooses the first step size. On failure the
    /// state is unchanged.
    pub fn start(
        &mut self,
        system: &dyn System,
        env: &Environment,
        t: f64,
        q: &[f64],
        v: &[f64],
        state: &mut State,
    ) -> Result<StartReport> {
        let size = self.work.size;
        let mut fresh = State {
            t,
            first: true,
            may_grow: true,
            newton_contraction: f64::INFINITY,
            statistics: Statistics {
                smallest_step: f64::INFINITY,
                ..Statistics::default()
            },
            ..State::sized(&size)
        };
        fresh.q.copy_from_slice(q);
        fresh.v.copy_from_slice(v);
        for (i, scale) in fresh.scale.iter_mut().enumerate() {
            *scale = system.weight(i).max(q.get(i).map_or(0.0, |q| q.abs()));
        }
        self.segment.forget();
        self.work.factor_cache.drop_all();
        self.work.set_integrals(&[]);
        let modes = self.work.initial_modes(system, env, &mut fresh);
        let p = Problem {
            system,
            env: *env,
            modes: &modes,
        };
        // The work of the start is not part of the counters of the run.
        let mut unused = fresh.statistics;
        let mut report = self.work.assemble(&p, &mut fresh)?;
        self.work.start_integrals(&p, &mut fresh);
        let error = |failure: StepFailure| failure.error(system, t, 0.0);
        self.work
            .initialise_accelerations(&p, &mut fresh, &mut report, &mut unused)
            .map_err(error)?;
        (self.method)
            .restart(&mut self.work, &p, &mut fresh)
            .map_err(error)?;
        if size.ne > 0 {
            self.find_due_events(&p, &mut fresh, None);
            if self.mark_initial_friction(&p, &mut fresh) {
                self.decide_initial_friction(&p, &mut fresh, &mut unused)?;
            }
        }
        self.work.collect(&mut unused);
        (fresh.factored_step, fresh.factored_mass) = self.work.counted();
        self.work.prepare_reactions(system, &fresh.redundant);
        *state = fresh;
        Ok(report)
    }

    /// Decides which contacts stick and which slip, so that the run starts with their accelerations.
    fn decide_initial_friction(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        self.has_backup = false;
        self.handle_due_events(p, s, stats)?;
        s.event_streak = 0;
        let modes = s.modes.clone();
        let after = Problem {
            modes: &modes,
            ..*p
        };
        self.work.select_active(p.system, s);
        s.next_h = (self.work.first_step(&after, s, false, stats))
            .map_err(|failure| failure.error(p.system, s.t, 0.0))?;
        Ok(())
    }
}

impl Workspace {
    /// Solves for the accelerations of an assembled state, chooses the first step and starts the history. Constraints that seem
    /// redundant only because the initial position is singular become active again.
    fn initialise_accelerations(
        &mut self,
        p: &Problem,
        s: &mut State,
        report: &mut StartReport,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        let singular = self.start_in_singularity(p, s, report, stats)?;
        if !singular {
            let State {
                t,
                q,
                v,
                acc,
                lambda,
                ..
            } = &mut *s;
            self.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        }
        s.next_h = self.first_step(p, s, singular, stats)?;
        if singular {
            s.restart_history();
            Ok(())
        } else {
            self.restart(p, s, stats)
        }
    }

    /// The first step size: the HHT error of the initial jerk equals the tolerance, and the step is a small part of the time scale
    /// of the motion.
    fn first_step(
        &mut self,
        p: &Problem,
        s: &mut State,
        jerk_known: bool,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure> {
        if let Some(h) = self.control.fixed() {
            return Ok(h);
        }
        if let Some(h) = self.settings.initial_step {
            return Ok(self.control.limit(h));
        }
        let tol = self.settings.tolerance;
        let scale = self.time_scale(p, s.t, &s.q, &s.v, &s.acc, &s.scale);
        let mut h = cbrt(tol).min(FIRST_PART) * scale;
        if !h.is_finite() {
            h = STEP_AT_REST;
        }
        if !jerk_known {
            self.state_jerk(p, s, h, stats)?;
        }
        let cx = self.inputs.at(p, s.t);
        let jerk = p.system.norm(&cx, &s.q, &s.scale, &s.jerk);
        if jerk > 0.0 {
            h = h.min(cbrt(tol / (self.method.cq * jerk)));
        }
        Ok(self.control.limit(h))
    }

    /// Time in which the motion, at its present speed or acceleration, would cross the mechanism (s).
    pub fn time_scale(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
        acc: &[f64],
        scale: &[f64],
    ) -> f64 {
        let cx = self.inputs.at(p, t);
        let speed = p.system.norm(&cx, q, scale, v);
        let acceleration = p.system.norm(&cx, q, scale, acc);
        (1.0 / speed).min(1.0 / acceleration.sqrt())
    }
}
