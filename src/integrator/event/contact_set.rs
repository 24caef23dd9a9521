//! Which of the contacts that touch carry a force: the complementarity problem of their accelerations.
//!
//! ```text
//!   A [w_j; ·] = [n_j + D_j; 0]             D_j: friction for a unit normal force
//!   0 ≤ N ⟂ g'' = W N + g''(N = 0) ≥ 0      W_ij = n_i·w_j
//! ```
//!
//! Contacts with a force become active constraints; they are independent. The others stay idle: they touch without a force, others
//! hold them there, or they are about to separate. An idle contact is free once its gap is open by more than its band, and it is
//! asked again when it overlaps by more: so a mode changes back only after a finite motion, and what touches cannot switch for ever at
//! one instant.

use super::super::Integrator;
use super::super::state::{EventMemory, State, Statistics};
use super::super::trial::StepFailure;
use super::super::workspace::{PhasePoint, Problem, Workspace};
use super::complementarity::ComplementarityProblem;
use super::crossing::is_beyond;
use super::dot;
use super::friction_decision::FrictionDecision;
use super::handling::ACTIVATE_AFTER;
use super::impact::{ImpactSolver, SEPARATING, SEPARATING_SLOWEST, SIMULTANEOUS};
use crate::formulation::system::{Dimensions, EventEffect, MotionPoint, System};

/// Velocity of a closed contact that is rounding, over the sum of its terms.
pub(super) const RATE_ROUNDING: f64 = 1e-11;
/// Half width of the difference for g'', in steps.
const DIFFERENCE_WIDTH: f64 = 1e-4;
/// Acceleration that is rounding, over the sum of its terms: a contact force below it is none.
pub(super) const ROUNDING: f64 = 1e-7;
/// Residual of the solves with A, relative.
const SOLVED: f64 = 1e-12;

/// Memory for the contacts of one instant.
#[derive(Default)]
pub(in crate::integrator) struct ContactSet {
    /// For each event: its contact touches and does not separate by an impulse.
    pub touching: Vec<bool>,
    /// Their events.
    pub(super) events: Vec<usize>,
    /// Which of them carry a force.
    carries: Vec<bool>,
    /// Which of them stick.
    pub(super) friction: FrictionDecision,
    problem: ComplementarityProblem,
    /// Sum of the terms of g'' without contact forces.
    terms: Vec<f64>,
    acc: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    displacement: Vec<f64>,
    pub(super) phi: Vec<f64>,
    pub(super) rate: Vec<f64>,
    /// g'' without contact forces.
    pub(super) free: Vec<f64>,
    pub(super) active: [Vec<bool>; 2],
    pub(super) modes: Vec<i32>,
    pub(super) modes_of_one: Vec<i32>,
}

impl ImpactSolver {
    /// Accelerations along n_i by unit forces w_j, W_ij = n_i·A⁻¹w_j; A is factorised in the mass matrix. The columns A⁻¹w_j replace w_j.
    pub(super) fn response(&mut self, work: &mut Workspace, count: usize, matrix: &mut [f64]) {
        for j in 0..count {
            self.l.fill(0.0);
            let w = &mut self.w[j];
            work.mass_matrix
                .solve_exact(&work.sparsity, SOLVED, w, &mut self.l, &mut work.counts);
            for i in 0..count {
                matrix[i * count + j] = dot(&self.n[i], w);
            }
        }
    }
}

impl ContactSet {
    pub fn new(system: &dyn System, size: &Dimensions) -> Self {
        let contacts = size.ne.min(SIMULTANEOUS);
        let sticks = (0..size.nc).any(|i| system.is_velocity_constraint(i));
        let with_friction = if sticks { contacts } else { 0 };
        let n = |n: usize| vec![0.0; if size.ne > 0 { n } else { 0 }];
        Self {
            touching: vec![false; size.ne],
            events: Vec::with_capacity(contacts),
            carries: Vec::with_capacity(contacts),
            friction: FrictionDecision::new(with_friction, size.ne),
            problem: ComplementarityProblem::new(contacts),
            terms: vec![0.0; contacts],
            acc: n(size.nv),
            lambda: n(size.nc),
            q: n(size.nq),
            v: n(size.nv),
            displacement: n(size.nv),
            phi: n(size.ne),
            rate: n(size.ne),
            free: n(size.ne),
            active: [vec![false; size.nc], vec![false; size.nc]],
            modes: vec![0; size.modes],
            modes_of_one: vec![0; size.modes],
        }
    }
}

impl Integrator {
    /// Marks the contacts that touch and are not separated by the impulses. `first` is the largest closing velocity of the
    /// first round.
    pub(super) fn mark_touching_contacts(&mut self, p: &Problem, s: &State, first: f64) {
        let Self {
            impacts,
            events,
            contact_set,
            work,
            ..
        } = self;
        events.evaluate_start(work, p, s);
        let cx = work.inputs.at(p, s.t);
        let at = s.motion_point();
        for i in 0..impacts.stays.len() {
            contact_set.touching[i] = impacts.stays[i]
                || impacts.was_active[i]
                || s.event_memory[i] == EventMemory::Impact;
            if !contact_set.touching[i] {
                continue;
            }
            impacts.modes.copy_from_slice(&s.modes);
            let n = &mut impacts.n[0];
            let effect = (p.system).handle_event(&cx, &at, i, &mut impacts.modes, n);
            let EventEffect::Impulse { slowest, .. } = effect else {
                // It has left the surface.
                contact_set.touching[i] = false;
                continue;
            };
            let terms: f64 = n.iter().zip(&s.v).map(|(n, v)| (n * v).abs()).sum();
            let rest = (SEPARATING * first)
                .max(SEPARATING_SLOWEST * slowest)
                .max(RATE_ROUNDING * terms);
            let rate = events.rate[0][i];
            contact_set.touching[i] =
                !(rate.abs() > rest && is_beyond(p.system.crossing(&s.modes, i), -rate));
        }
    }

    /// Activates the contacts that stay closed. One that another impulse has separated is not activated; one that was active
    /// and was not separated becomes active again. `first` is the largest closing velocity of the first round.
    pub(super) fn activate_resting_contacts(&mut self, p: &Problem, s: &mut State, first: f64) {
        let ImpactSolver {
            stays,
            was_active,
            slowest,
            ..
        } = &self.impacts;
        if !stays.contains(&true) && !was_active.contains(&true) {
            return;
        }
        self.events.evaluate_start(&mut self.work, p, s);
        for i in 0..stays.len() {
            let rate = self.events.rate[0][i];
            let moves = rate.abs() > (SEPARATING * first).max(SEPARATING_SLOWEST * slowest[i]);
            let separates = moves && is_beyond(p.system.crossing(&s.modes, i), -rate);
            let closed = stays[i] && (!separates || s.event_streak >= ACTIVATE_AFTER);
            if closed || (was_active[i] && !moves) {
                p.system.activate_unilateral(i, &mut s.modes);
            }
        }
    }

    /// Chooses the modes of the contacts that touch, `contact_set.touching`; all unilateral constraints are inactive in the modes of
    /// the state.
    pub(super) fn choose_contact_set(
        &mut self,
        p: &Problem,
        s: &mut State,
        first: f64,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let ContactSet {
            touching,
            events,
            problem,
            friction,
            ..
        } = &mut self.contact_set;
        events.clear();
        let limit = self.impacts.n.len().min(problem.c.len());
        events.extend((0..touching.len()).filter(|&i| touching[i]).take(limit));
        friction.forces.clear();
        if events.is_empty() {
            return Ok(());
        }
        let mut modes = std::mem::take(&mut self.contact_set.modes);
        modes.copy_from_slice(&s.modes);
        let after = Problem {
            modes: &modes,
            ..*p
        };
        let outcome = self.free_accelerations(&after, s, stats).map(|()| {
            self.decide_friction(&after, s, first);
            self.assemble_contact_problem(&after, s);
        });
        self.contact_set.modes = modes;
        outcome?;
        let ContactSet {
            events,
            carries,
            problem,
            terms,
            friction,
            ..
        } = &mut self.contact_set;
        problem.solve();
        let n = events.len();
        carries.clear();
        for (k, &i) in events.iter().enumerate() {
            let rounding = ROUNDING * terms[k];
            // One that has just closed is kept so, unless it separates or others hold it.
            let closes = self.events.occurring[i] && problem.residual(k) <= rounding;
            carries.push(if problem.released[k] {
                closes || problem.x[k] * problem.matrix[k * n + k] > rounding
            } else {
                (closes || friction.presses(k)) && problem.release_if_independent(k)
            });
        }
        self.enter_chosen_modes(p, s);
        Ok(())
    }

    /// Enters the modes of the contacts that carry a force, and of the others.
    fn enter_chosen_modes(&mut self, p: &Problem, s: &mut State) {
        let ContactSet {
            touching,
            events,
            carries,
            friction,
            ..
        } = &mut self.contact_set;
        friction.choose_rows(carries);
        for (k, &i) in events.iter().enumerate() {
            if !carries[k] {
                p.system.idle_unilateral(i, &mut s.modes);
                continue;
            }
            p.system.activate_unilateral(i, &mut s.modes);
            if let Some(Some(contact)) = friction.contacts.get(k) {
                (p.system).set_contact_friction(i, contact.decision, &mut s.modes);
                touching[contact.event] = true;
            }
        }
    }

    /// Keeps with the modes what the contacts at rest share, at the state in which the motion restarts. Returns true if there is any.
    pub(super) fn share_contact_forces(&mut self, p: &Problem, s: &mut State) -> bool {
        let forces = &self.contact_set.friction.forces;
        if forces.is_empty() {
            return false;
        }
        let mut modes = std::mem::take(&mut s.modes);
        let cx = self.work.inputs.at(p, s.t);
        (p.system).share_contact_forces(&cx, &s.motion_point(), forces, &mut modes);
        s.modes = modes;
        true
    }

    /// g'' of all events without contact forces, by a difference of their rates along the motion.
    fn free_accelerations(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Self {
            work, contact_set, ..
        } = self;
        let ContactSet {
            acc,
            lambda,
            q,
            v,
            displacement,
            phi,
            rate,
            free,
            events,
            friction,
            ..
        } = contact_set;
        work.select_active(p.system, s);
        work.factor_cache.drop_all();
        work.factorise_mass(p, s.t, &s.q, &s.v)?;
        let at = PhasePoint {
            t: s.t,
            q: &s.q,
            v: &s.v,
        };
        lambda.fill(0.0);
        work.accelerations(p, at, acc, lambda, stats)?;
        let h = (s.next_h).min(work.time_scale(p, s.t, &s.q, &s.v, acc, &s.scale));
        let e = (DIFFERENCE_WIDTH * h)
            .max(1e3 * f64::EPSILON * s.t.abs())
            .min(h);
        free.fill(0.0);
        for sign in [1.0, -1.0] {
            for i in 0..v.len() {
                displacement[i] = e * (sign * s.v[i] + 0.5 * e * acc[i]);
                v[i] = s.v[i] + sign * e * acc[i];
            }
            p.system.retract(&s.q, displacement, q);
            let cx = work.nearby.at(p, s.t + sign * e);
            let at = MotionPoint {
                q,
                v,
                a: acc,
                lambda,
            };
            p.system.event_functions(&cx, &at, phi, rate);
            for i in 0..free.len() {
                free[i] += 0.5 * sign * rate[i] / e;
            }
            if !friction.decides() {
                continue;
            }
            for &i in &*events {
                if sign > 0.0 {
                    friction.free[i] = [0.0; 2];
                }
                for axis in 0..2 {
                    let slip = (p.system).tangential_direction(&cx, &at, i, 2 + axis, displacement);
                    let Some(slip) = slip else { break };
                    let u = dot(displacement, v) + slip.drift;
                    friction.free[i][axis] += 0.5 * sign * u / e;
                }
            }
        }
        Ok(())
    }

    /// W and g'' of the contacts that touch. Contacts beyond the memory are left out: they stay as they are, idle.
    fn assemble_contact_problem(&mut self, p: &Problem, s: &State) {
        let count = self.contact_set.events.len();
        self.contact_set.problem.size = count;
        for k in 0..count {
            let i = self.contact_set.events[k];
            let contact = self.contact_set.friction.contacts.get(k).copied().flatten();
            self.contact_column(p, s, i, contact.map(|c| c.decision), k);
            let ContactSet {
                problem,
                terms,
                acc,
                free,
                friction,
                ..
            } = &mut self.contact_set;
            let n = &self.impacts.n[k];
            let shift = if contact.is_some() || !friction.contacts.is_empty() {
                friction.shift[k]
            } else {
                0.0
            };
            problem.c[k] = free[i] + shift;
            let sum: f64 = n.iter().zip(&*acc).map(|(n, a)| (n * a).abs()).sum();
            terms[k] = sum + (free[i] - dot(n, acc)).abs() + shift.abs();
        }
        let Self {
            work,
            contact_set,
            impacts,
            ..
        } = self;
        impacts.response(work, count, &mut contact_set.problem.matrix);
    }
}
