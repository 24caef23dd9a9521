//! Blows: what happens to the velocities when contacts meet at one instant.
//!
//! ```text
//!   together   contacts that approach:   A [w_i; ·] = [n_i; 0],   W_ij = n_i·w_j,   r_i = φ_i' (walls may move)
//!              0 ≤ P ⟂ W P + (1 + e) r ≥ 0,      |P_t| ≤ μ P_n with friction,      v += Σ P_i w_i
//!   in turn    then those that approach because of it, among all that touch; until nobody approaches
//! ```
//!
//! Contacts that approach at the same time are struck at the same time: a plank that lands flat bounces flat. Contacts that
//! merely touch, or rest on each other, are struck when the blow has reached them: it runs through a row of balls, and as many leave at the end as
//! came in. Constraints take part through A, with the factor of the instant; redundant rows are no matter. No blow adds
//! energy: if restitutions that differ would, the smallest of them counts for all, or none.

use super::Integrator;
use super::events::{BLOW, HOLD_AFTER, MODE, beyond, dot};
use super::state::{State, Statistics};
use super::workspace::{Problem, Workspace};
use crate::error::Result;
use crate::formulation::system::{Dimensions, EventEffect, MotionPoint};

/// Contacts and directions of friction that are struck together; more take turns.
const TOGETHER: usize = 32;
/// Rounds in turn before restitution is given up, for each event and on top; as many again without it.
const ROUNDS: (usize, usize) = (4, 32);
/// Sweeps of the complementarity problem, which is small.
const SWEEPS: usize = 20_000;
/// Rates below this part of the first approach are rounding.
const STILL: f64 = 1e-12;
/// What is held and parts with less than this part of the first approach, or of the slowest bounce, stays: rounding of the
/// impulses.
const ALONG: f64 = 1e-10;
const SLOW: f64 = 1e-3;
/// Contacts closer than the way of this part of a step touch; those that have got past each other by less are together.
const TOUCHING: f64 = 1e-9;
const PAST: f64 = 1e-6;

/// Rows of one round.
#[derive(Default)]
pub(super) struct ImpactSolver {
    rows: Vec<ImpactContact>,
    n: Vec<Vec<f64>>,
    w: Vec<Vec<f64>>,
    l: Vec<f64>,
    phi_t: Vec<f64>,
    /// W, row by row.
    matrix: Vec<f64>,
    impulse: Vec<f64>,
    /// To be held when all is over.
    held: Vec<bool>,
    /// Were held before: a blow may part them.
    released: Vec<bool>,
    /// Slowest approach that bounces.
    slowest: Vec<f64>,
    modes: Vec<i32>,
}

/// A direction of a blow.
#[derive(Clone, Copy, Debug, Default)]
struct ImpactContact {
    event: usize,
    /// Rate before the blow, negative if they approach.
    rate: f64,
    restitution: f64,
    /// Of friction: the row of its normal and μ.
    friction: Option<(usize, f64)>,
    /// What moving constraints bring in for each unit of impulse, Φ_t·l with A [w; l] = [n; 0].
    driven: f64,
}

impl ImpactSolver {
    pub fn new(size: &Dimensions) -> Self {
        let k = TOGETHER.min(3 * size.ne);
        let vectors = |n: usize| (0..k).map(|_| vec![0.0; n]).collect();
        Self {
            rows: Vec::with_capacity(k),
            n: vectors(size.nv),
            w: vectors(size.nv),
            l: vec![0.0; if size.ne > 0 { size.nc } else { 0 }],
            phi_t: vec![0.0; if size.ne > 0 { size.nc } else { 0 }],
            matrix: vec![0.0; k * k],
            impulse: vec![0.0; k],
            held: vec![false; size.ne],
            released: vec![false; size.ne],
            slowest: vec![0.0; size.ne],
            modes: vec![0; size.modes],
        }
    }

    /// 0 ≤ P ⟂ W P + (1 + e) r ≥ 0 by projected relaxation; restitutions at most `e`.
    fn solve_impulses(&mut self, e: f64) {
        let k = self.rows.len();
        self.impulse[..k].fill(0.0);
        let largest = self.rows.iter().fold(0.0_f64, |m, r| m.max(r.rate.abs()));
        for _ in 0..SWEEPS {
            let mut moved = 0.0_f64;
            for i in 0..k {
                let row = self.rows[i];
                let w = &self.matrix[i * k..(i + 1) * k];
                let mobility = w[i];
                if !(mobility > 0.0) {
                    continue; // the constraints hold this direction already
                }
                let bounce = row.restitution.min(e);
                let aim = match row.friction {
                    None => (1.0 + bounce) * row.rate,
                    Some(_) => row.rate,
                };
                let rest = aim + dot(w, &self.impulse[..k]);
                let next = self.impulse[i] - rest / mobility;
                let next = match row.friction {
                    None => next.max(0.0),
                    Some((normal, mu)) => {
                        let limit = mu * self.impulse[normal];
                        next.clamp(-limit, limit)
                    }
                };
                moved = moved.max((next - self.impulse[i]).abs() * mobility);
                self.impulse[i] = next;
            }
            if moved <= 1e-15 * largest {
                break;
            }
        }
    }

    /// Energy taken out: −(P·r + ½ P·W P).
    fn loss(&self) -> f64 {
        let k = self.rows.len();
        let p = &self.impulse[..k];
        let mut gain = 0.0;
        for i in 0..k {
            let w = &self.matrix[i * k..(i + 1) * k];
            gain += p[i] * (self.rows[i].rate + 0.5 * dot(w, p));
        }
        -gain
    }
}

impl Integrator {
    /// Fires the marked events: modes change, blows are struck until nobody approaches any more, what does not bounce is
    /// held.
    pub(super) fn fire_marked(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        self.impacts.held.fill(false);
        self.impacts.released.fill(false);
        self.impacts.slowest.fill(0.0);
        let ne = self.work.size.ne;
        self.impacts.rows.clear();
        for i in 0..ne {
            if self.events.firing[i] {
                self.add_contact(p, s, i, true, stats);
            }
        }
        let first = (self.impacts.rows.iter()).fold(0.0_f64, |m, row| m.max(row.rate.abs()));
        if !self.impacts.rows.is_empty() {
            // What only rests on something is not tied to it.
            p.system
                .deactivate_unilateral(&mut s.modes, &mut self.impacts.released);
            self.work.select(p.system, s);
        }
        let rounds = ROUNDS.0 * ne + ROUNDS.1;
        for round in 0..2 * rounds {
            if self.impacts.rows.is_empty() {
                break;
            }
            self.strike(p, s, if round < rounds { 1.0 } else { 0.0 })?;
            self.impacts.rows.clear();
            self.collect_closing_contacts(p, s, STILL * first, stats);
        }
        let ImpactSolver { held, released, .. } = &self.impacts;
        if !held.contains(&true) && !released.contains(&true) {
            return Ok(());
        }
        self.events.look_from(&mut self.work, p, s);
        for i in 0..ne {
            let ImpactSolver {
                held,
                released,
                slowest,
                ..
            } = &self.impacts;
            // What another blow has parted again does not stay; what rested and was not parted rests on.
            let rate = self.events.rate[0][i];
            let moves = rate.abs() > (ALONG * first).max(SLOW * slowest[i]);
            let parts = moves && beyond(p.system.crossing(&s.modes, i), -rate);
            let stays = held[i] && (!parts || s.event_streak >= HOLD_AFTER);
            if stays || (released[i] && !moves) {
                p.system.activate_unilateral(i, &mut s.modes);
            }
        }
        Ok(())
    }

    /// Contacts that touch and approach at more than `still`; with them those that are to be held, which shall not be parted
    /// from what holds them one after the other.
    fn collect_closing_contacts(
        &mut self,
        p: &Problem,
        s: &mut State,
        still: f64,
        stats: &mut Statistics,
    ) {
        self.events.look_from(&mut self.work, p, s);
        for i in 0..self.work.size.ne {
            let crossing = p.system.crossing(&s.modes, i);
            let (phi, rate) = (self.events.phi[0][i], self.events.rate[0][i]);
            if !(rate.abs() > still) || !beyond(crossing, rate) {
                continue;
            }
            let part = if beyond(crossing, phi) {
                PAST
            } else {
                TOUCHING
            };
            let touches = s.handled[i] == BLOW
                || self.impacts.released[i]
                || phi.abs() <= part * s.next_h * rate.abs();
            if touches {
                self.add_contact(p, s, i, false, stats);
                self.events.look_from(&mut self.work, p, s);
            }
        }
        for i in 0..self.work.size.ne {
            let rows = &self.impacts.rows;
            if self.impacts.held[i] && !rows.is_empty() && rows.iter().all(|row| row.event != i) {
                self.add_contact(p, s, i, false, stats);
            }
        }
    }

    /// Fires event i; if it is a blow its rows join the round. A `marked` one that is a change of modes is handled; one that
    /// only touches is left alone unless it is a blow.
    fn add_contact(
        &mut self,
        p: &Problem,
        s: &mut State,
        i: usize,
        marked: bool,
        stats: &mut Statistics,
    ) {
        let Self {
            work: core,
            events,
            impacts: blows,
            ..
        } = self;
        let k = blows.rows.len();
        if k >= blows.n.len() {
            return; // in the next round
        }
        let cx = core.inputs.at(p, s.t);
        let at = MotionPoint {
            q: &s.q,
            v: &s.v,
            a: &s.acc,
            lambda: &s.lambda,
        };
        blows.modes.copy_from_slice(&s.modes);
        let reaction = p
            .system
            .handle_event(&cx, &at, i, &mut blows.modes, &mut blows.n[k]);
        let (restitution, slowest) = match reaction {
            EventEffect::Impulse {
                restitution,
                slowest,
            } => (restitution, slowest),
            EventEffect::Mode if marked => {
                stats.events += 1;
                s.modes.copy_from_slice(&blows.modes);
                s.handled[i] = MODE;
                if s.event_streak == HOLD_AFTER {
                    p.system.activate_unilateral(i, &mut s.modes);
                }
                return;
            }
            EventEffect::Mode => return,
        };
        let again = blows.held[i];
        stats.events += u64::from(!again);
        blows.slowest[i] = slowest;
        s.modes.copy_from_slice(&blows.modes);
        s.handled[i] = BLOW;
        // dφ/dt = n·v + φ_t: the wall's own motion is in the rate of φ.
        p.system
            .event_functions(&cx, &at, &mut events.phi[0], &mut events.rate[0]);
        let own = dot(&blows.n[k], &s.v);
        let rate = Some(events.rate[0][i])
            .filter(|r| r.is_finite())
            .unwrap_or(own);
        let slow = rate.abs() <= slowest;
        let crossing = p.system.crossing(&s.modes, i);
        if !slow && !again && beyond(crossing, -rate) {
            return; // they part
        }
        // What does not bounce stays: without a holding mode the next step would sink through.
        let held = again || slow || restitution == 0.0 || s.event_streak >= HOLD_AFTER;
        blows.held[i] |= held;
        let sign = if beyond(crossing, 1.0) || (!beyond(crossing, -1.0) && rate > 0.0) {
            -1.0
        } else {
            1.0
        };
        for n in blows.n[k].iter_mut() {
            *n *= sign;
        }
        blows.rows.push(ImpactContact {
            event: i,
            rate: sign * rate,
            restitution: if held { 0.0 } else { restitution },
            friction: None,
            driven: 0.0,
        });
        for direction in 0..2 {
            let row = blows.rows.len();
            if row >= blows.n.len() {
                break;
            }
            let Some(slip) =
                p.system
                    .tangential_direction(&cx, &at, i, direction, &mut blows.n[row])
            else {
                break;
            };
            blows.rows.push(ImpactContact {
                event: i,
                rate: dot(&blows.n[row], &s.v) + slip.drift,
                restitution: 0.0,
                friction: Some((k, slip.friction)),
                driven: 0.0,
            });
        }
    }

    /// One round: the impulses, and the velocities after them. Restitutions at most `e`.
    fn strike(&mut self, p: &Problem, s: &mut State, e: f64) -> Result<()> {
        let Self {
            work: core,
            impacts: blows,
            ..
        } = self;
        core.factorise_mass(p, s.t, &s.q, &s.v)
            .map_err(|r| r.error(p.system, s.t, 0.0))?;
        let k = blows.rows.len();
        if core.character.moving_constraints {
            let cx = core.inputs.at(p, s.t);
            p.system.constraint_rate(&cx, &s.q, &mut blows.phi_t);
        }
        for i in 0..k {
            blows.mobility(core, i);
        }
        for i in 0..k {
            for j in 0..k {
                blows.matrix[i * k + j] = dot(&blows.n[i], &blows.w[j]);
            }
        }
        blows.solve_impulses(e);
        let scale = (blows.rows.iter().zip(&blows.impulse)).map(|(row, p)| (row.rate * p).abs());
        let rounding = 1e-9 * scale.sum::<f64>();
        if blows.loss() < -rounding {
            let least = |m: f64, row: &ImpactContact| match row.friction {
                None => m.min(row.restitution),
                Some(_) => m,
            };
            let smallest = blows.rows.iter().fold(1.0, least);
            blows.solve_impulses(smallest.min(e));
            if blows.loss() < -rounding {
                blows.solve_impulses(0.0);
            }
        }
        s.dissipated += blows.loss();
        for i in 0..k {
            let impulse = blows.impulse[i];
            // What a wall brings in by its own motion, and constraints that move.
            let own = dot(&blows.n[i], &s.v);
            s.supplied += impulse * (own - blows.rows[i].rate + blows.rows[i].driven);
            if impulse == 0.0 && blows.rows[i].friction.is_none() && blows.rows[i].rate < 0.0 {
                // Thrown off by the others: it does not stay.
                blows.held[blows.rows[i].event] = false;
            }
        }
        for i in 0..k {
            let impulse = blows.impulse[i];
            for (v, w) in s.v.iter_mut().zip(&blows.w[i]) {
                *v += impulse * w;
            }
        }
        Ok(())
    }
}

impl ImpactSolver {
    /// w_i = first block of A⁻¹ [n_i; 0]
    fn mobility(&mut self, core: &mut Workspace, i: usize) {
        let (n, w) = (&self.n[i], &mut self.w[i]);
        w.copy_from_slice(n);
        self.l.fill(0.0);
        core.mass_matrix
            .solve_exact(&core.sparsity, 1e-13, w, &mut self.l, &mut core.counts);
        self.rows[i].driven = dot(&self.phi_t, &self.l);
    }
}
