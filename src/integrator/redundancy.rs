//! Rows that are left out because they follow from the others, watched on the way: a row that opens beyond 1e-10 of its
//! scale after a step does not follow from them any more. The rank is then judged again where the step ended,
//!
//! ```text
//!   fewer dependent rows, or others    hold them, begin anew at the start of the step, repeat it
//!   the same                           the constraints contradict each other: the step is refused
//! ```

use super::Integrator;
use super::accelerations::InitialGuess;
use super::state::{StartReport, State, Statistics};
use super::tolerances::{CONSISTENT_VELOCITY, JERK_RESIDUAL};
use super::workspace::{PhasePoint, Problem, StepFailure, Trial, Workspace};
use crate::constraint::factorization::Pivots;
use crate::formulation::system::Evaluated;

/// Pivot of the scaled constraints below which a point is too close to a singular position to judge accelerations there.
const REGULAR: f64 = 1e-9;
/// How far from a singular start the rank is judged, as part of the time in which the motion would cross the mechanism.
const LATER: f64 = 1e-2;
/// Pivot that counts as usual after a singular start, until the first step shows it.
const USUAL: f64 = 1e-2;

impl Integrator {
    /// The trial has opened a row that is left out. True if the set of rows has changed, so that the step is worth
    /// repeating. Allocates.
    pub(super) fn update_redundancy(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> bool {
        let before: Vec<usize> = (0..self.work.size.nc)
            .filter(|&i| self.work.redundant[i])
            .collect();
        let row = self.trial.redundant_residual.1;
        let (t, q, v) = (self.trial.t, &self.trial.q, &self.trial.v);
        let Ok(mut now) = self.work.dependent(p, t, q, v) else {
            self.work.select_active(p.system, s);
            return false;
        };
        if now.len() > before.len() {
            // The step ends near a singular position of the others: that is no reason to let go of them.
            now.retain(|i| before.contains(i));
        }
        let worth = now.len() < before.len() || (now != before && !now.contains(&row));
        if worth {
            self.back_up(s);
            for &i in &before {
                s.redundant[i] = false;
            }
            for &i in &now {
                s.redundant[i] = true;
            }
        }
        self.work.select_active(p.system, s);
        if worth {
            s.newton_contraction = f64::INFINITY;
            s.jerk_known = false;
            // In a singular position the accelerations do not follow from the rows; then the history has to do.
            let _ = self.settle(p, s, stats);
            if self.work.size.ne > 0 {
                self.events.evaluate_start(&mut self.work, p, s);
            }
        }
        worth
    }

    /// Puts the state onto the rows that hold now and restarts the motion there. On an error the state is as it was.
    fn settle(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Self {
            work: core,
            trial: y,
            ..
        } = self;
        (y.t, y.h) = (s.t, s.next_h);
        y.q.copy_from_slice(&s.q);
        y.v.copy_from_slice(&s.v);
        let pivots = core.factorise_mass(p, y.t, &y.q, &y.v)?;
        if pivots.smallest_constraint < REGULAR {
            return Ok(());
        }
        core.reassemble(p, y.t, &mut y.q, &y.v)?;
        core.factorise_mass(p, y.t, &y.q, &y.v)?;
        core.project_velocity(p, y.t, &y.q, &mut y.v, CONSISTENT_VELOCITY);
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        core.accelerations(p, PhasePoint { t: *t, q, v }, acc, lambda, stats)?;
        core.end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)?;
        s.q.copy_from_slice(&y.q);
        s.v.copy_from_slice(&y.v);
        s.acc.copy_from_slice(&y.acc);
        s.lambda.copy_from_slice(&y.lambda);
        core.restart(p, s, stats)
    }
}

impl Workspace {
    /// The dependent ones of all rows that hold in the modes. Leaves both matrices without a choice of rows: select again.
    fn dependent(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<usize>, StepFailure> {
        self.factor_cache.drop_all();
        self.mass_matrix.select_active(p.system, p.modes, &[]);
        let cx = self.inputs.at(p, t);
        let loaded: Evaluated = self
            .mass_matrix
            .load_mass(&self.sparsity, p.system, &cx, q, v);
        loaded?;
        self.redundant_constraints(p, t, q, v)
    }

    /// Rows that depend on each other at the start only because it is a singular position do not a moment later: these are
    /// held, and the accelerations of the state come from both sides. True if so; then its jerk is known too.
    pub fn singular_start(
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
        let mut singular = pivots.smallest_constraint < REGULAR;
        let dropped = s.redundant.clone();
        if dropped.contains(&true) {
            let e = LATER * self.time_scale(p, s.t, &s.q, &s.v, &s.acc, &s.scale);
            if e.is_finite() {
                let w: Vec<f64> = s.v.iter().map(|v| e * v).collect();
                let mut q = s.q.clone();
                p.system.retract(&s.q, &w, &mut q);
                s.redundant.fill(false);
                self.select_active(p.system, s);
                // Not closable there: the rows contradict each other, which is not for here to tell.
                let closed = self.reassemble(p, s.t + e, &mut q, &s.v).is_ok();
                let later = self.dependent(p, s.t + e, &q, &s.v)?;
                s.redundant.copy_from_slice(&dropped);
                if closed && later.len() < dropped.iter().filter(|d| **d).count() {
                    s.redundant.fill(false);
                    for &row in &later {
                        s.redundant[row] = true;
                    }
                    singular = true;
                }
                self.select_active(p.system, s);
            }
        }
        if !singular {
            self.factorise_mass(p, s.t, &s.q, &s.v)?;
            return Ok(false);
        }
        let pivots = Pivots {
            smallest_constraint: 0.0,
            ..pivots
        };
        let State {
            t,
            q,
            v,
            acc,
            lambda,
            jerk,
            scale,
            ..
        } = &mut *s;
        let at = (&q[..], &v[..], &scale[..]);
        if self.two_sided_accelerations(p, *t, at, pivots, acc, lambda, jerk, stats)? {
            s.lambda_dot.fill(0.0);
            s.typical_pivot = USUAL;
            report.rank += dropped.iter().filter(|d| **d).count();
            report.rank -= s.redundant.iter().filter(|d| **d).count();
            report.redundant.clear();
            for row in (0..s.redundant.len()).filter(|&row| s.redundant[row]) {
                let name = p.system.constraint_name(row);
                // The rows of a joint stand together.
                if report.redundant.last() != Some(&name) {
                    report.redundant.push(name);
                }
            }
            return Ok(true);
        }
        s.redundant.copy_from_slice(&dropped);
        self.select_active(p.system, s);
        self.factorise_mass(p, s.t, &s.q, &s.v)?;
        Ok(false)
    }

    /// Judges the rank again in new modes and leaves out what follows from the rest. Allocates.
    pub fn find_redundant(&mut self, p: &Problem, s: &mut State) -> Result<(), StepFailure> {
        let dependent = self.dependent(p, s.t, &s.q, &s.v)?;
        s.redundant.fill(false);
        for row in dependent {
            s.redundant[row] = true;
        }
        self.select_active(p.system, s);
        Ok(())
    }
}
