//! The impulses of one round of an impact, by projected relaxation.
//!
//! ```text
//!   0 ≤ P ⟂ W P + (1 + e) r ≥ 0,      |P_t| ≤ μ P_n with friction
//! ```
//!
//! An impulse after the other takes the value that its own row asks for, within its bounds, until none changes.

use super::dot;
use super::impact::{ImpactSolver, ImpulseDirection};
use crate::linalg::elementary::hypot;

/// Sweeps of the relaxation of the complementarity problem, which is small: over all rounds of an instant ...
pub(super) const SWEEPS: usize = 20_000;
/// ... and of each solve in any case.
const FEWEST_SWEEPS: usize = 200;
/// Sweeps after which the changes are compared. If they are not at most half of those before, impulses of contact and friction drive
/// each other to and fro, and the relaxation is halved; a slower contraction would not end within the sweeps anyway.
const COMPARED_AFTER: usize = 500;
/// Change of the velocities in a sweep below which the relaxation has converged, over the largest closing velocity.
const CONVERGED: f64 = 1e-15;
/// The same where the changes do not fall any more: rounding of many impulses.
const STAGNATED: f64 = 1e-12;
/// Gain of energy that is rounding, over the sum of the terms.
const ENERGY_ROUNDING: f64 = 1e-9;

impl ImpactSolver {
    /// Relaxes until the impulses settle; coefficients of restitution at most `e`.
    fn solve_impulses(&mut self, e: f64) {
        let k = self.directions.len();
        self.impulse[..k].fill(0.0);
        let largest = (self.directions.iter()).fold(0.0_f64, |m, d| m.max(d.rate.abs()));
        let (mut relaxation, mut moved_before) = (1.0, f64::INFINITY);
        for sweep in 1..=self.sweeps.max(FEWEST_SWEEPS) {
            self.sweeps = self.sweeps.saturating_sub(1);
            let mut moved = 0.0_f64;
            for i in 0..k {
                let direction = self.directions[i];
                let w = &self.matrix[i * k..(i + 1) * k];
                let mobility = w[i];
                if !(mobility > 0.0) {
                    continue; // the constraints do not allow motion in this direction
                }
                let aim = match direction.friction {
                    None => (1.0 + direction.restitution.min(e)) * direction.rate,
                    Some(_) => direction.rate,
                };
                let residual = aim + dot(w, &self.impulse[..k]);
                if let Some(second) = self.other_tangent(i) {
                    if second > i {
                        moved = moved.max(self.relax_on_cone(i, second, relaxation));
                    }
                    continue;
                }
                let next = self.impulse[i] - residual / mobility;
                let next = match direction.friction {
                    None => next.max(0.0),
                    Some((normal, mu)) => {
                        let limit = mu * self.impulse[normal];
                        next.clamp(-limit, limit)
                    }
                };
                moved = moved.max((next - self.impulse[i]).abs() * mobility);
                self.impulse[i] = relaxed(self.impulse[i], next, relaxation);
            }
            if moved <= CONVERGED * largest {
                break;
            }
            if sweep % COMPARED_AFTER == 0 {
                if moved > 0.5 * moved_before {
                    if moved <= STAGNATED * largest {
                        break;
                    }
                    relaxation *= 0.5;
                }
                moved_before = moved;
            }
        }
    }

    /// Relaxes both tangential impulses of a contact and puts them onto its friction cone. Returns the change of velocity.
    fn relax_on_cone(&mut self, i: usize, j: usize, relaxation: f64) -> f64 {
        let k = self.directions.len();
        let row = |i: usize| &self.matrix[i * k..(i + 1) * k];
        let mobility = row(i)[i].max(row(j)[j]) + row(i)[j].abs();
        let step = [i, j].map(|i| {
            let residual = self.directions[i].rate + dot(row(i), &self.impulse[..k]);
            self.impulse[i] - residual / mobility
        });
        let (normal, mu) = self.directions[i].friction.unwrap_or((i, 0.0));
        let limit = mu * self.impulse[normal];
        let size = hypot(step[0], step[1]);
        let part = if size > limit { limit / size } else { 1.0 };
        let mut moved = 0.0_f64;
        for (i, next) in [i, j].into_iter().zip(step) {
            let next = part * next;
            moved = moved.max((next - self.impulse[i]).abs() * mobility);
            self.impulse[i] = relaxed(self.impulse[i], next, relaxation);
        }
        moved
    }

    /// The other tangential direction of the contact of direction i.
    fn other_tangent(&self, i: usize) -> Option<usize> {
        let normal = |i: usize| self.directions.get(i)?.friction.map(|(normal, _)| normal);
        let own = normal(i)?;
        [i.wrapping_sub(1), i + 1]
            .into_iter()
            .find(|&j| normal(j) == Some(own))
    }

    /// Solves for the impulses such that they do not add energy: with the smallest coefficient of restitution for all, or
    /// with none, if different ones would.
    pub(super) fn solve_without_energy_gain(&mut self, e: f64) {
        self.solve_impulses(e);
        let terms = (self.directions.iter().zip(&self.impulse))
            .map(|(d, impulse)| (d.rate * impulse).abs());
        let rounding = ENERGY_ROUNDING * terms.sum::<f64>();
        if !(self.loss() < -rounding) {
            return;
        }
        let smaller = |m: f64, direction: &ImpulseDirection| match direction.friction {
            None => m.min(direction.restitution),
            Some(_) => m,
        };
        let smallest = self.directions.iter().fold(1.0, smaller);
        self.solve_impulses(smallest.min(e));
        if self.loss() < -rounding {
            self.solve_impulses(0.0);
        }
    }

    /// Energy lost: −(P·r + ½ P·W P).
    pub(super) fn loss(&self) -> f64 {
        let k = self.directions.len();
        let p = &self.impulse[..k];
        let mut gain = 0.0;
        for i in 0..k {
            let w = &self.matrix[i * k..(i + 1) * k];
            gain += p[i] * (self.directions[i].rate + 0.5 * dot(w, p));
        }
        -gain
    }
}

/// A part of the way from an impulse to the next one; the whole way has the bits of the next one.
fn relaxed(impulse: f64, next: f64, relaxation: f64) -> f64 {
    match relaxation < 1.0 {
        true => impulse + relaxation * (next - impulse),
        false => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contact with a coefficient of friction μ that closes with 1 m/s and slides fast.
    fn sliding_contact(matrix: [f64; 4], mu: f64) -> ImpactSolver {
        let direction = |rate, friction| ImpulseDirection {
            rate,
            friction,
            ..ImpulseDirection::default()
        };
        ImpactSolver {
            directions: vec![direction(-1.0, None), direction(-100.0, Some((0, mu)))],
            matrix: matrix.to_vec(),
            impulse: vec![0.0; 2],
            sweeps: SWEEPS,
            ..ImpactSolver::default()
        }
    }

    /// Friction that drives the contact away: each sweep undoes the one before, P = 1 / (1 + μ W_nt) all the same.
    #[test]
    fn impulses_that_drive_each_other_settle() {
        for (coupling, mu) in [(0.5, 1.0), (1.9, 1.0), (1.9, 3.0)] {
            let mut solver = sliding_contact([1.0, coupling, coupling, 4.0], mu);
            solver.solve_impulses(1.0);
            let expected = 1.0 / (1.0 + mu * coupling);
            let error = (solver.impulse[0] - expected).abs();
            assert!(error < 1e-12, "{coupling} {mu}: {:?}", solver.impulse);
            assert!(solver.sweeps > SWEEPS / 2, "{} sweeps left", solver.sweeps);
        }
    }

    /// Friction that presses the contact on: both impulses grow until it sticks, W P = −r.
    #[test]
    fn a_contact_that_wedges_sticks() {
        let mut solver = sliding_contact([1.0, -1.9, -1.9, 4.0], 1.0);
        solver.solve_impulses(1.0);
        let expected = [194.0 / 0.39, 101.9 / 0.39];
        for (found, expected) in solver.impulse.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
        }
    }
}
