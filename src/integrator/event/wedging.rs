//! Friction that wedges (Painlevé): a sliding contact is pressed onto its surface by its own friction more than its normal force
//! lifts it. On the way there the force grows without bound, and beyond there is no acceleration: what happens is an impact without a
//! collision.
//!
//! ```text
//!   wedged        W_nn − μ W_nt → 0                             t along the slip
//!   slip stops    P_n = v_t/(μ W_tt − W_nt),   P_t = −μ P_n
//!   then          the plastic impact of all contacts that close because of it
//! ```

use super::super::Integrator;
use super::super::state::{State, Statistics};
use super::super::workspace::Problem;
use super::impact::{Cause, ImpactSolver};
use crate::error::Result;

/// Part of its mobility that is left to a contact that is taken for wedged: its force is then a hundred times that without friction.
const WEDGED: f64 = 1e-2;

impl ImpactSolver {
    /// The normal direction of the contact that is wedged most, and the impulse that stops its slip.
    fn wedged(&self) -> Option<(usize, f64)> {
        let k = self.directions.len();
        let w = |i: usize, j: usize| self.matrix[i * k + j];
        let mut found: Option<(usize, f64)> = None;
        let mut least = WEDGED;
        for t in 1..k {
            // The first tangential direction of a contact is along its slip.
            let Some((n, mu)) = self.directions[t].friction.filter(|(n, _)| n + 1 == t) else {
                continue;
            };
            let left = (w(n, n) - mu * w(n, t)) / w(n, n);
            let slows = mu * w(t, t) - w(n, t);
            let slip = self.directions[t].rate;
            if left < least && slows > 0.0 && slip > 0.0 {
                least = left;
                found = Some((n, slip / slows));
            }
        }
        found
    }
}

impl Integrator {
    /// Stops the slip of a contact whose friction wedges, if there is one: then the motion goes on from there. Otherwise the state is
    /// to be restored.
    pub(in crate::integrator) fn release_wedged_contact(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<bool> {
        if !self.work.character.has_constraint_friction || !p.system.far_side_is_due() {
            return Ok(false);
        }
        self.back_up(s);
        self.impacts.clear();
        self.events.occurring.fill(false);
        self.events.motion_law_changes = false;
        p.system
            .deactivate_unilateral(&mut s.modes, &mut self.impacts.was_active);
        self.work.select_active(p.system, s);
        for i in 0..self.impacts.was_active.len() {
            if self.impacts.was_active[i] {
                self.add_contact(p, s, i, Cause::Touching, stats);
            }
        }
        self.assemble_impact(p, s)?;
        let Some((n, impulse)) = self.impacts.wedged() else {
            return Ok(false);
        };
        let ImpactSolver {
            directions,
            impulse: all,
            ..
        } = &mut self.impacts;
        let (_, mu) = directions[n + 1].friction.unwrap_or((n, 0.0));
        let slip = directions[n + 1].rate;
        all[..directions.len()].fill(0.0);
        (all[n], all[n + 1]) = (impulse, -mu * impulse);
        self.apply_impulses(s);
        self.collect_closing_contacts(p, s, 0.0, stats);
        self.finish_impacts(p, s, slip, stats)?;
        self.restart_after_event(p, s, stats)?;
        Ok(true)
    }
}
