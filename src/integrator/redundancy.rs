//! The set of redundant constraints along the motion. A constraint treated as redundant whose scaled residual exceeds 1e-10
//! after a step no longer follows from the others. The redundant set is then determined again at the end of the step:
//!
//! ```text
//!   smaller, or another one    activate the others, restart at the start of the step, repeat it
//!   the same                   the constraints contradict each other: the step fails
//! ```

use super::Integrator;
use super::accelerations::InitialGuess;
use super::singular_accelerations::SingularPoint;
use super::state::{StartReport, State, Statistics};
use super::tolerances::{CONSISTENT_VELOCITY, JERK_RESIDUAL};
use super::trial::{StepFailure, Trial};
use super::workspace::{PhasePoint, Problem, Workspace};
use crate::constraint::factorization::Pivots;

/// Pivot of the scaled constraints below which a point is too close to a singular position to solve for accelerations.
const REGULAR_PIVOT: f64 = 1e-9;
/// Distance from a singular start at which redundancy is determined, as part of the time scale of the motion.
const LATER: f64 = 1e-2;
/// Typical pivot after a singular start, until the first step gives one.
const TYPICAL_PIVOT: f64 = 1e-2;

impl Integrator {
    /// Determines the redundant constraints again where the trial ends, because it violates one of them. Returns true if the
    /// set has changed, so that the step can be repeated. Allocates.
    pub(super) fn update_redundancy(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> bool {
        let before: Vec<usize> = (0..self.work.size.nc)
            .filter(|&i| self.work.redundant[i])
            .collect();
        let violated = self.trial.redundant_residual.1;
        let (t, q, v) = (self.trial.t, &self.trial.q, &self.trial.v);
        let Ok(mut now) = self.work.redundant_at(p, t, q, v) else {
            self.work.select_active(p.system, s);
            return false;
        };
        if now.len() > before.len() {
            // The step ends near a singular position of the other constraints: they stay active.
            now.retain(|i| before.contains(i));
        }
        let changed = now.len() < before.len() || (now != before && !now.contains(&violated));
        if changed {
            self.back_up(s);
            for &i in &before {
                s.redundant[i] = false;
            }
            for &i in &now {
                s.redundant[i] = true;
            }
        }
        self.work.select_active(p.system, s);
        if changed {
            s.newton_contraction = f64::INFINITY;
            s.jerk_known = false;
            s.forget_previous();
            // In a singular position the constraints do not determine the accelerations: then the history is kept.
            let _ = self.restart_on_constraints(p, s, stats);
            if self.work.size.ne > 0 {
                self.events.evaluate_start(&mut self.work, p, s);
            }
        }
        changed
    }

    /// Puts the state onto the constraints that are active now and restarts the motion there. On an error the state is
    /// unchanged.
    fn restart_on_constraints(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Self { work, trial: y, .. } = self;
        (y.t, y.h) = (s.t, s.next_h);
        y.q.copy_from_slice(&s.q);
        y.v.copy_from_slice(&s.v);
        let pivots = work.factorise_mass(p, y.t, &y.q, &y.v)?;
        if pivots.smallest_constraint < REGULAR_PIVOT {
            return Ok(());
        }
        work.reassemble(p, y.t, &mut y.q, &y.v)?;
        work.factorise_mass(p, y.t, &y.q, &y.v)?;
        work.project_velocity(p, y.t, &y.q, &mut y.v, CONSISTENT_VELOCITY);
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        work.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        work.end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)?;
        s.q.copy_from_slice(&y.q);
        s.v.copy_from_slice(&y.v);
        s.acc.copy_from_slice(&y.acc);
        s.lambda.copy_from_slice(&y.lambda);
        work.restart(p, s, stats)
    }
}

impl Workspace {
    /// Redundant ones of all constraints active in the modes, at a point. Leaves the mass matrix with all of them selected:
    /// [`Workspace::select_active`] restores the selection.
    fn redundant_at(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<usize>, StepFailure> {
        self.factor_cache.drop_all();
        self.mass_matrix.select_active(p.system, p.modes, &[]);
        let cx = self.inputs.at(p, t);
        self.mass_matrix
            .load_mass(&self.sparsity, p.system, &cx, q, v)?;
        self.redundant_constraints(p, t, q, v)
    }

    /// Determines the redundant constraints at the state, in new modes. Allocates.
    pub fn find_redundant(&mut self, p: &Problem, s: &mut State) -> Result<(), StepFailure> {
        let redundant = self.redundant_at(p, s.t, &s.q, &s.v)?;
        s.set_redundant(&redundant);
        self.select_active(p.system, s);
        Ok(())
    }

    /// Handles a start in a singular position, where constraints depend on each other that do not a moment later: these are
    /// activated, and the accelerations of the state are the mean of both sides. Returns true if so; then its jerk is known
    /// too.
    pub fn start_in_singularity(
        &mut self,
        p: &Problem,
        s: &mut State,
        report: &mut StartReport,
        stats: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        if self.size.nc == 0 {
            return Ok(false);
        }
        let pivots = self.factorise_mass(p, s.t, &s.q, &s.v)?;
        let at_start = s.redundant.clone();
        let fewer_later = self.use_later_redundancy(p, s)?;
        if !fewer_later && !(pivots.smallest_constraint < REGULAR_PIVOT) {
            self.factorise_mass(p, s.t, &s.q, &s.v)?;
            return Ok(false);
        }
        let singular = Pivots {
            smallest_constraint: 0.0,
            ..pivots
        };
        if self.two_sided_accelerations(p, SingularPoint::of(s), singular, stats)? {
            s.lambda_dot.fill(0.0);
            s.typical_pivot = TYPICAL_PIVOT;
            report.rank += at_start.iter().filter(|d| **d).count();
            report.set_redundant(p.system, &s.redundant);
            return Ok(true);
        }
        s.redundant.copy_from_slice(&at_start);
        self.select_active(p.system, s);
        self.factorise_mass(p, s.t, &s.q, &s.v)?;
        Ok(false)
    }

    /// Replaces the redundant set of the state by that of a position a moment later, if that is smaller. Returns true if so.
    fn use_later_redundancy(&mut self, p: &Problem, s: &mut State) -> Result<bool, StepFailure> {
        let at_start = s.redundant.clone();
        if !at_start.contains(&true) {
            return Ok(false);
        }
        let e = LATER * self.time_scale(p, s.t, &s.q, &s.v, &s.acc, &s.scale);
        if !e.is_finite() {
            return Ok(false);
        }
        let w: Vec<f64> = s.v.iter().map(|v| e * v).collect();
        let mut q = s.q.clone();
        p.system.retract(&s.q, &w, &mut q);
        s.redundant.fill(false);
        self.select_active(p.system, s);
        // A position that cannot be closed there means constraints that contradict each other; the first step reports that.
        let closed = self.reassemble(p, s.t + e, &mut q, &s.v).is_ok();
        let later = self.redundant_at(p, s.t + e, &q, &s.v)?;
        let fewer = closed && later.len() < at_start.iter().filter(|d| **d).count();
        if fewer {
            s.set_redundant(&later);
        } else {
            s.redundant.copy_from_slice(&at_start);
        }
        self.select_active(p.system, s);
        Ok(fewer)
    }
}

impl State {
    fn set_redundant(&mut self, constraints: &[usize]) {
        self.redundant.fill(false);
        for &i in constraints {
            self.redundant[i] = true;
        }
    }
}
