//! Impacts: the velocities after contacts close at one instant.
//!
//! ```text
//!   simultaneous   contacts that close:   A [w_i; ·] = [n_i; 0],   W_ij = n_i·w_j,   r_i = φ_i' (walls may move)
//!                  0 ≤ P ⟂ W P + (1 + e) r ≥ 0,      |P_t| ≤ μ P_n with friction,      v += Σ P_i w_i
//!   sequential     then those that close because of it, among all that touch; until no contact closes
//! ```
//!
//! Contacts that close at the same time are solved together: a plank that lands flat bounces flat. Touching contacts join when
//! an impulse makes them close, as in Newton's cradle. Constraints take part through A, factorised at this instant; redundant
//! ones do no harm. Restitution is that of velocities (Newton) or of impulses (Poisson). No impact adds energy: if different
//! coefficients of restitution, or friction, would, the smallest coefficient counts for all, or none.

use super::super::Integrator;
use super::super::state::{EventMemory, State, Statistics};
use super::super::workspace::{Problem, Workspace};
use super::cone_problem::{ConeDirection, ConeProblem};
use super::crossing::is_beyond;
use super::dot;
use super::handling::ACTIVATE_AFTER;
use crate::error::Result;
use crate::formulation::system::{Dimensions, EventEffect, MotionPoint};

/// Impulse directions, normal and tangential, that are solved together; further ones follow in the next round.
pub(in crate::integrator) const SIMULTANEOUS: usize = 192;
/// Rounds before restitution is set to zero: for each event, and in addition. As many again without restitution.
const ROUNDS: (usize, usize) = (4, 32);
/// Velocities below this part of the first closing velocity are rounding.
const CLOSING: f64 = 1e-12;
/// A contact that stays closed does not separate with less than this part of the first closing velocity, which is rounding of
/// the impulses ...
pub(super) const SEPARATING: f64 = 1e-10;
/// ... or this part of the slowest velocity that bounces.
pub(super) const SEPARATING_SLOWEST: f64 = 1e-3;
/// Contacts touch if they are open by less than the way of this part of a step ...
const TOUCHING: f64 = 1e-9;
/// ... or penetrate by less than the way of this part.
const PENETRATING: f64 = 1e-6;
/// Gain of energy that is rounding, over the sum of the terms.
const ENERGY_ROUNDING: f64 = 1e-9;
/// Residual of the solves with A, relative.
const SOLVED: f64 = 1e-13;

/// The impulses of one round, and the results for each contact over all rounds.
#[derive(Default)]
pub(in crate::integrator) struct ImpactSolver {
    pub(super) directions: Vec<ImpulseDirection>,
    /// n_i
    pub(super) n: Vec<Vec<f64>>,
    /// w_i
    pub(super) w: Vec<Vec<f64>>,
    /// Multipliers l of A [w; l] = [n; 0].
    pub(super) l: Vec<f64>,
    /// Φ_t where constraints move.
    pub(super) phi_t: Vec<f64>,
    /// W by rows.
    pub(super) matrix: Vec<f64>,
    /// P
    pub(super) impulse: Vec<f64>,
    problem: ConeProblem,
    /// For each event: the contact becomes an active constraint at the end.
    pub(super) stays: Vec<bool>,
    /// For each event: the contact was an active constraint before; the impact may separate it.
    pub(super) was_active: Vec<bool>,
    /// For each event: slowest closing velocity that bounces.
    pub(super) slowest: Vec<f64>,
    pub(super) modes: Vec<i32>,
}

/// A normal or tangential direction of a contact.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ImpulseDirection {
    pub(super) event: usize,
    /// Velocity before the impact, negative if the contact closes.
    pub(super) rate: f64,
    restitution: f64,
    /// Restitution of impulses, by Poisson.
    poisson: bool,
    /// Of a tangential direction: the index of its normal one, and μ.
    pub(super) friction: Option<(usize, f64)>,
    /// Work of moving constraints for each unit of impulse, Φ_t·l.
    pub(super) driven: f64,
    /// Closing velocity that is allowed: time stepping closes a gap.
    pub(super) allowed: f64,
}

/// Why an event is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// It occurs.
    Marked,
    /// Another impact makes the touching contact close.
    Touching,
}

impl ImpactSolver {
    pub fn new(size: &Dimensions) -> Self {
        let k = SIMULTANEOUS.min(3 * size.ne);
        let vectors = |n: usize| (0..k).map(|_| vec![0.0; n]).collect();
        let nc = if size.ne > 0 { size.nc } else { 0 };
        Self {
            directions: Vec::with_capacity(k),
            n: vectors(size.nv),
            w: vectors(size.nv),
            l: vec![0.0; nc],
            phi_t: vec![0.0; nc],
            matrix: vec![0.0; k * k],
            impulse: vec![0.0; k],
            problem: ConeProblem::new(k),
            stays: vec![false; size.ne],
            was_active: vec![false; size.ne],
            slowest: vec![0.0; size.ne],
            modes: vec![0; size.modes],
        }
    }

    pub(super) fn clear(&mut self) {
        self.stays.fill(false);
        self.was_active.fill(false);
        self.slowest.fill(0.0);
        self.directions.clear();
    }

    /// The impulses, with coefficients of restitution at most `e`. By Newton in one phase, where a contact follows Poisson in two:
    ///
    /// ```text
    ///   Newton        0 ≤ P ⟂ v⁺ + e v⁻ ≥ 0                   v⁺ = v⁻ + W P
    ///   compression   0 ≤ P_c ⟂ v_c ≥ 0                       v_c = v⁻ + W P_c
    ///   restitution   e P_c ≤ P_r ⟂ v⁺ ≥ 0                    v⁺ = v_c + W P_r,   P = P_c + P_r
    /// ```
    pub(super) fn solve_impulses(&mut self, e: f64) {
        let k = self.directions.len();
        let two_phases = (self.directions.iter()).any(|d| d.poisson && d.restitution.min(e) > 0.0);
        self.problem.directions.clear();
        for d in &self.directions {
            let aim = if two_phases {
                1.0
            } else {
                1.0 + d.restitution.min(e)
            };
            self.problem.directions.push(ConeDirection {
                rate: aim * d.rate + d.allowed,
                least: 0.0,
                friction: d.friction,
            });
        }
        self.problem.solve(&self.matrix[..k * k]);
        self.impulse[..k].copy_from_slice(&self.problem.x[..k]);
        if two_phases {
            for (i, d) in self.directions.iter().enumerate() {
                let w = &self.matrix[i * k..(i + 1) * k];
                let (restitution, compression) = (d.restitution.min(e), self.impulse[i]);
                let phase = &mut self.problem.directions[i];
                phase.rate = d.rate + dot(w, &self.impulse[..k]);
                // What follows Newton has its velocity and the whole impulse in view.
                (phase.rate, phase.least) = match (d.friction, d.poisson) {
                    (None, true) => (phase.rate, restitution * compression),
                    (None, false) => (phase.rate + restitution * d.rate, -compression),
                    (Some(_), _) => (phase.rate, 0.0),
                };
            }
            self.problem.solve(&self.matrix[..k * k]);
            for (impulse, x) in self.impulse[..k].iter_mut().zip(&self.problem.x) {
                *impulse += x;
            }
        }
    }

    /// Solves for the impulses such that they do not add energy: with the smallest coefficient of restitution for all, or
    /// with none, if different ones would.
    fn solve_without_energy_gain(&mut self, e: f64) {
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
    fn loss(&self) -> f64 {
        let k = self.directions.len();
        let p = &self.impulse[..k];
        let mut gain = 0.0;
        for i in 0..k {
            let w = &self.matrix[i * k..(i + 1) * k];
            gain += p[i] * (self.directions[i].rate + 0.5 * dot(w, p));
        }
        -gain
    }

    /// W, with w_i and l_i from A [w_i; l_i] = [n_i; 0]; A is factorised in the mass matrix.
    fn assemble(&mut self, work: &mut Workspace) {
        let k = self.directions.len();
        for i in 0..k {
            let w = &mut self.w[i];
            w.copy_from_slice(&self.n[i]);
            self.l.fill(0.0);
            work.mass_matrix
                .solve_exact(&work.sparsity, SOLVED, w, &mut self.l, &mut work.counts);
            self.directions[i].driven = dot(&self.phi_t, &self.l);
        }
        for i in 0..k {
            for j in 0..k {
                self.matrix[i * k + j] = dot(&self.n[i], &self.w[j]);
            }
        }
    }
}

impl Integrator {
    /// Applies the effects of the marked events: changes modes, solves impacts until no contact closes any more, and makes
    /// contacts that do not bounce active constraints.
    pub(super) fn apply_event_effects(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        self.impacts.clear();
        let ne = self.work.size.ne;
        let complementary = p.system.far_side_is_due();
        if complementary {
            // Those that touch before anything happens.
            self.impacts.modes.copy_from_slice(&s.modes);
            let ImpactSolver {
                modes, was_active, ..
            } = &mut self.impacts;
            p.system.deactivate_unilateral(modes, was_active);
        }
        for i in 0..ne {
            if self.events.occurring[i] {
                self.add_contact(p, s, i, Cause::Marked, stats);
            }
        }
        let first = (self.impacts.directions.iter()).fold(0.0_f64, |m, d| m.max(d.rate.abs()));
        if complementary || !self.impacts.directions.is_empty() {
            // The impact may separate contacts that are at rest.
            p.system
                .deactivate_unilateral(&mut s.modes, &mut self.impacts.was_active);
            self.work.select_active(p.system, s);
        }
        self.finish_impacts(p, s, first, stats)
    }

    /// Solves rounds of impacts until no contact closes any more, then decides which contacts carry a force. `first` is the largest
    /// velocity of the first round.
    pub(super) fn finish_impacts(
        &mut self,
        p: &Problem,
        s: &mut State,
        first: f64,
        stats: &mut Statistics,
    ) -> Result<()> {
        let rounds = ROUNDS.0 * self.work.size.ne + ROUNDS.1;
        for round in 0..2 * rounds {
            if self.impacts.directions.is_empty() {
                break;
            }
            self.assemble_impact(p, s)?;
            let e = if round < rounds { 1.0 } else { 0.0 };
            self.impacts.solve_without_energy_gain(e);
            self.apply_impulses(s);
            self.collect_closing_contacts(p, s, CLOSING * first, stats);
        }
        if p.system.far_side_is_due() {
            self.mark_touching_contacts(p, s, first);
            self.choose_contact_set(p, s, first, stats)
                .map_err(|failure| failure.error(p.system, s.t, 0.0))
        } else {
            self.activate_resting_contacts(p, s, first);
            Ok(())
        }
    }

    /// Collects the contacts that touch and close with more than `slowest`; with them all that are to stay closed, so that
    /// the rounds do not separate them one after the other.
    pub(super) fn collect_closing_contacts(
        &mut self,
        p: &Problem,
        s: &mut State,
        slowest: f64,
        stats: &mut Statistics,
    ) {
        self.events.evaluate_start(&mut self.work, p, s);
        for i in 0..self.work.size.ne {
            let crossing = p.system.crossing(&s.modes, i);
            let (phi, rate) = (self.events.phi[0][i], self.events.rate[0][i]);
            if !(rate.abs() > slowest) || !is_beyond(crossing, rate) {
                continue;
            }
            let part = if is_beyond(crossing, phi) {
                PENETRATING
            } else {
                TOUCHING
            };
            let touches = s.event_memory[i] == EventMemory::Impact
                || self.impacts.was_active[i]
                || phi.abs() <= part * s.next_h * rate.abs();
            if touches {
                self.add_contact(p, s, i, Cause::Touching, stats);
                self.events.evaluate_start(&mut self.work, p, s);
            }
        }
        for i in 0..self.work.size.ne {
            let directions = &self.impacts.directions;
            if self.impacts.stays[i]
                && !directions.is_empty()
                && directions.iter().all(|d| d.event != i)
            {
                self.add_contact(p, s, i, Cause::Touching, stats);
            }
        }
    }

    /// Handles event i. If it is an impact of a closing contact, its directions join the round. A marked change of modes is
    /// applied; that of a contact which only touches is not.
    // Long because effect, closing velocity and directions of one contact share the borrowed workspace.
    pub(super) fn add_contact(
        &mut self,
        p: &Problem,
        s: &mut State,
        i: usize,
        cause: Cause,
        stats: &mut Statistics,
    ) {
        let Self {
            work,
            events,
            impacts,
            ..
        } = self;
        let k = impacts.directions.len();
        if k >= impacts.n.len() {
            return; // in the next round
        }
        let cx = work.inputs.at(p, s.t);
        let at = MotionPoint {
            q: &s.q,
            v: &s.v,
            a: &s.acc,
            lambda: &s.lambda,
        };
        impacts.modes.copy_from_slice(&s.modes);
        let effect = (p.system).handle_event(&cx, &at, i, &mut impacts.modes, &mut impacts.n[k]);
        let (restitution, slowest, poisson) = match effect {
            EventEffect::Impulse {
                restitution,
                slowest,
                poisson,
            } => (restitution, slowest, poisson),
            EventEffect::Mode | EventEffect::MotionLaw => {
                if cause == Cause::Marked {
                    events.motion_law_changes |= effect == EventEffect::MotionLaw;
                    stats.events += 1;
                    s.modes.copy_from_slice(&impacts.modes);
                    s.event_memory[i] = EventMemory::ModeChange;
                    if s.event_streak == ACTIVATE_AFTER {
                        p.system.activate_unilateral(i, &mut s.modes);
                    }
                }
                return;
            }
        };
        let again = impacts.stays[i];
        stats.events += u64::from(!again);
        impacts.slowest[i] = slowest;
        s.modes.copy_from_slice(&impacts.modes);
        s.event_memory[i] = EventMemory::Impact;
        // dφ/dt = n·v + φ_t: the rate of φ contains the motion of the wall.
        p.system
            .event_functions(&cx, &at, &mut events.phi[0], &mut events.rate[0]);
        let without_wall = dot(&impacts.n[k], &s.v);
        let rate = Some(events.rate[0][i])
            .filter(|r| r.is_finite())
            .unwrap_or(without_wall);
        let slow = rate.abs() <= slowest;
        let crossing = p.system.crossing(&s.modes, i);
        if !slow && !again && is_beyond(crossing, -rate) {
            return; // the contact separates
        }
        // A contact that does not bounce stays closed: without a constraint the next step would penetrate.
        let stays = again || slow || restitution == 0.0 || s.event_streak >= ACTIVATE_AFTER;
        impacts.stays[i] |= stays;
        let sign = if is_beyond(crossing, 1.0) || (!is_beyond(crossing, -1.0) && rate > 0.0) {
            -1.0
        } else {
            1.0
        };
        for n in impacts.n[k].iter_mut() {
            *n *= sign;
        }
        impacts.directions.push(ImpulseDirection {
            event: i,
            rate: sign * rate,
            restitution: if stays { 0.0 } else { restitution },
            poisson,
            friction: None,
            driven: 0.0,
            allowed: 0.0,
        });
        for tangent in 0..2 {
            let row = impacts.directions.len();
            if row >= impacts.n.len() {
                break;
            }
            let n = &mut impacts.n[row];
            let Some(slip) = (p.system).tangential_direction(&cx, &at, i, tangent, n) else {
                break;
            };
            impacts.directions.push(ImpulseDirection {
                event: i,
                rate: dot(&impacts.n[row], &s.v) + slip.drift,
                restitution: 0.0,
                poisson: false,
                friction: Some((k, slip.friction)),
                driven: 0.0,
                allowed: 0.0,
            });
        }
    }

    /// W of the directions of one round.
    pub(super) fn assemble_impact(&mut self, p: &Problem, s: &State) -> Result<()> {
        let Self { work, impacts, .. } = self;
        work.factorise_mass(p, s.t, &s.q, &s.v)
            .map_err(|r| r.error(p.system, s.t, 0.0))?;
        if work.character.moving_constraints {
            let cx = work.inputs.at(p, s.t);
            p.system.constraint_rate(&cx, &s.q, &mut impacts.phi_t);
        }
        impacts.assemble(work);
        Ok(())
    }

    /// Applies the impulses of a round to the velocities; the round is over.
    pub(super) fn apply_impulses(&mut self, s: &mut State) {
        let impacts = &mut self.impacts;
        s.dissipated += impacts.loss();
        let k = impacts.directions.len();
        for i in 0..k {
            let (direction, impulse) = (impacts.directions[i], impacts.impulse[i]);
            // Work of moving walls and of moving constraints.
            let without_wall = dot(&impacts.n[i], &s.v);
            s.supplied += impulse * (without_wall - direction.rate + direction.driven);
            if impulse == 0.0 && direction.friction.is_none() && direction.rate < 0.0 {
                // The other impulses separate it.
                impacts.stays[direction.event] = false;
            }
        }
        for i in 0..k {
            let impulse = impacts.impulse[i];
            for (v, w) in s.v.iter_mut().zip(&impacts.w[i]) {
                *v += impulse * w;
            }
        }
        impacts.directions.clear();
    }
}
