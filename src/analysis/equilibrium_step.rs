//! Steps of a search for an equilibrium: as long as the work of the forces along them allows, with closed constraints.

use super::equilibrium::{EquilibriumSolver, LARGEST_RADIUS, ROUNDING};
use crate::error::Result;

/// Part of its work that a step may lose at its end, with the other sign.
const OVERSHOOT: f64 = 0.5;
/// Residual of a closed constraint, relative to its scale, and corrections to get there.
const CLOSED: f64 = 1e-14;
const NEARLY_CLOSED: f64 = 1e-11;
const CORRECTIONS: usize = 30;

impl EquilibriumSolver<'_> {
    /// Moves q by w or a part of it. Returns the bound of the next step.
    pub(super) fn take_step(&mut self, q: &mut Vec<f64>, w: &[f64], radius: f64) -> Result<f64> {
        let work = |force: &[f64]| force.iter().zip(w).map(|(f, w)| f * w).sum::<f64>();
        let before = work(&self.force);
        let mut part = 1.0;
        for _ in 0..60 {
            let shift: Vec<f64> = w.iter().map(|w| part * w).collect();
            if let Some(moved) = self.moved(q, &shift) {
                // A contact closes on the way: exactly there.
                if let Some(closed) = self.closing_contact(q, &moved, &shift) {
                    *q = closed;
                    return Ok(radius);
                }
                let modes = self.modes_at(q, &moved);
                let after = self.force_in(&modes, &moved).map(|force| work(&force));
                let fine = |after| self.following || after >= -OVERSHOOT * before.abs();
                if after.is_some_and(fine) {
                    let length = self.norm(q, &shift);
                    *q = moved;
                    if modes != self.modes {
                        self.mode_changes += 1;
                        self.modes = modes;
                    }
                    let grown = if part == 1.0 {
                        2.0 * radius
                    } else {
                        2.0 * length
                    };
                    return Ok(grown.clamp(ROUNDING, LARGEST_RADIUS));
                }
            }
            part *= 0.4;
        }
        Err(self.no_equilibrium(format!(
            "no step decreases the force along \"{}\"",
            self.worst()
        )))
    }

    /// q ∘ w with closed constraints.
    pub(super) fn moved(&mut self, q: &[f64], w: &[f64]) -> Option<Vec<f64>> {
        let mut moved = vec![0.0; self.size.nq];
        self.system.retract(q, w, &mut moved);
        let mut phi = vec![0.0; self.size.nc];
        let mut last = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            if !moved.iter().all(|x| x.is_finite()) {
                return None;
            }
            let cx = self.context(&self.modes);
            self.system.constraint(&cx, &moved, &mut phi);
            let rows = self.null.independent_rows();
            let open = |&row: &usize| phi[row].abs() / self.system.constraint_scale(row);
            let worst = rows.iter().map(open).fold(0.0, f64::max);
            if worst <= CLOSED || (worst <= NEARLY_CLOSED && worst > 0.5 * last) {
                return Some(moved);
            }
            if !(worst < 2.0 * last) {
                return None;
            }
            last = worst;
            let mut mu: Vec<f64> = rows.iter().map(|&row| -phi[row]).collect();
            let mut dx = vec![0.0; self.size.nv];
            self.saddle.solve(&mut dx, &mut mu);
            let from = moved.clone();
            self.system.retract(&from, &dx, &mut moved);
        }
        None
    }
}
