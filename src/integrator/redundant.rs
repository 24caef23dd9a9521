//! Rows that are left out because they follow from the others, watched on the way: a row that opens beyond 1e-10 of its
//! scale after a step does not follow from them any more. The rank is then judged again where the step ended,
//!
//! ```text
//!   fewer dependent rows, or others    hold them, begin anew at the start of the step, repeat it
//!   the same                           the constraints contradict each other: the step is refused
//! ```

use super::Integrator;
use super::core::{Core, Problem, Refusal, Trial};
use super::start::PROJECTED;
use super::state::{State, Statistics};
use crate::constraint::redundancy::dependent_rows;
use crate::formulation::Evaluated;

/// Pivot of the scaled constraints below which a point is too close to a singular position to judge accelerations there.
const REGULAR: f64 = 1e-9;

impl Integrator {
    /// The trial has opened a row that is left out. True if the set of rows has changed, so that the step is worth
    /// repeating. Allocates.
    pub(super) fn reconsider(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> bool {
        let before: Vec<usize> = (0..self.core.size.nc)
            .filter(|&i| self.core.left_out[i])
            .collect();
        let row = self.trial.opened.1;
        let (t, q, v) = (self.trial.t, &self.trial.q, &self.trial.v);
        let Ok(mut now) = self.core.dependent(p, t, q, v) else {
            self.core.select(p.system, s);
            return false;
        };
        if now.len() > before.len() {
            // The step ends near a singular position of the others: that is no reason to let go of them.
            now.retain(|i| before.contains(i));
        }
        let worth = now.len() < before.len() || (now != before && !now.contains(&row));
        if worth {
            self.guard(s);
            for &i in &before {
                s.dropped[i] = false;
            }
            for &i in &now {
                s.dropped[i] = true;
            }
        }
        self.core.select(p.system, s);
        if worth {
            s.rate = f64::INFINITY;
            s.jerk_known = false;
            // In a singular position the accelerations do not follow from the rows; then the history has to do.
            let _ = self.settle(p, s, stats);
            if self.core.size.ne > 0 {
                self.events.look_from(&mut self.core, p, s);
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
    ) -> Result<(), Refusal> {
        let Self { core, trial: y, .. } = self;
        (y.t, y.h) = (s.t, s.next_h);
        y.q.copy_from_slice(&s.q);
        y.v.copy_from_slice(&s.v);
        let pivots = core.factorise_mass(p, y.t, &y.q, &y.v)?;
        if pivots.smallest_constraint < REGULAR {
            return Ok(());
        }
        core.close_positions(p, y.t, &mut y.q, &y.v)?;
        core.factorise_mass(p, y.t, &y.q, &y.v)?;
        core.fit(p, y.t, &y.q, &mut y.v, PROJECTED);
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        core.accelerations(p, *t, q, v, acc, lambda, stats)?;
        core.end_jerk(p, y, stats)?;
        s.q.copy_from_slice(&y.q);
        s.v.copy_from_slice(&y.v);
        s.acc.copy_from_slice(&y.acc);
        s.lambda.copy_from_slice(&y.lambda);
        core.restart(p, s, stats)
    }
}

impl Core {
    /// The dependent ones of all rows that hold in the modes. Leaves both matrices without a choice of rows: select again.
    fn dependent(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<usize>, Refusal> {
        self.kept.drop_all();
        self.mass.select(p.system, p.modes, &[]);
        let cx = self.inputs.at(p, t);
        let loaded: Evaluated = self.mass.load_mass(&self.st, p.system, &cx, q, v);
        loaded?;
        Ok(dependent_rows(&self.st, &self.mass.matrix))
    }

    /// Judges the rank again in new modes and leaves out what follows from the rest. Allocates.
    pub fn rank_again(&mut self, p: &Problem, s: &mut State) -> Result<(), Refusal> {
        let dependent = self.dependent(p, s.t, &s.q, &s.v)?;
        s.dropped.fill(false);
        for row in dependent {
            s.dropped[row] = true;
        }
        self.select(p.system, s);
        Ok(())
    }
}
