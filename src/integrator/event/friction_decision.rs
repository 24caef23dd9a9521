//! Which contacts with set-valued friction stick, and which slip: the complementarity problem of their accelerations over friction cones.
//!
//! ```text
//!   r = W x + b,      0 ≤ N ⟂ r_n ≥ 0,      |F| ≤ μ_s N,   F = −μ_s N r_t/|r_t| where r_t ≠ 0
//! ```
//!
//! of the contacts without slip; one that slips has its friction in the column of its normal force. A contact whose tangential acceleration
//! is not zero begins to slip with its kinetic coefficient, and the problem is solved again. The tangential constraints of those that stick
//! are active as far as they are independent of each other and of the normal ones.

use super::super::Integrator;
use super::super::state::State;
use super::super::workspace::Problem;
use super::cone_problem::{ConeDirection, ConeProblem};
use super::contact_set::{ContactSet, RATE_ROUNDING, ROUNDING, SOLVED};
use super::dot;
use super::impact::{ImpactSolver, SIMULTANEOUS};
use crate::formulation::system::{ContactFriction, EvaluationContext, StickLimit};
use crate::linalg::elementary::hypot;

/// Slip velocity at rest over the rest speed of the contact: between the ends of its events.
const AT_REST: f64 = 1.5;
/// Slip velocity that impulses leave, over the largest closing velocity.
const LEFT_BY_IMPULSES: f64 = 1e-9;
/// Compliance of each direction, over its mobility: of redundant contacts all carry, and in one way only.
const COMPLIANCE: f64 = 1e-7;
/// Parts of its limit of which a contact at rest takes no more, if possible. Beyond the last one it is at its limit.
const SHARED: [f64; 3] = [0.9, 0.99, 1.0 - 1e-6];
/// Distance from the cone that is rounding, relative.
const ON_CONE: f64 = 1e-6;
/// Closing acceleration that no normal force prevents, over the sum of its terms.
const WEDGED: f64 = 1e-6;
/// Pivot below which a tangential constraint depends on others, relative to its diagonal entry.
const DEPENDENT: f64 = 1e-9;

/// Set-valued friction of a contact that touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct TouchingFriction {
    limit: StickLimit,
    /// Slip velocity.
    pub slip: [f64; 2],
    /// Tangential axes.
    axes: usize,
    /// Index of its normal direction in the problem.
    normal: usize,
    /// It is at rest: its tangential directions follow its normal one.
    rests: bool,
    /// It slips, but cannot go on.
    wedges: bool,
    /// Its event of friction.
    pub event: usize,
    pub decision: ContactFriction,
}

impl TouchingFriction {
    /// Whether it stays at rest.
    fn sticks(&self) -> bool {
        self.rests && matches!(self.decision, ContactFriction::Stick(_))
    }
}

/// Memory of the decision.
#[derive(Default)]
pub(super) struct FrictionDecision {
    /// For each touching contact.
    pub contacts: Vec<Option<TouchingFriction>>,
    /// Event of the gap of each.
    gaps: Vec<usize>,
    /// Index of the normal direction of each in the problem; none beyond the memory.
    normals: Vec<usize>,
    /// For each touching contact: g'' by the friction of those that stick.
    pub shift: Vec<f64>,
    /// For each event: derivatives of the slip velocities without contact forces.
    pub free: Vec<[f64; 2]>,
    /// What the contacts at rest carry, by event: normal force, and along their axes. Empty where no answer was found.
    pub forces: Vec<(usize, [f64; 3])>,
    problem: ConeProblem,
    /// W by rows.
    matrix: Vec<f64>,
    /// W with compliance.
    compliant: Vec<f64>,
    /// x of an answer.
    kept: Vec<f64>,
    eliminated: Vec<f64>,
}

impl FrictionDecision {
    /// Memory for `n` contacts with friction among `events`.
    pub fn new(n: usize, events: usize) -> Self {
        let k = (3 * n).min(SIMULTANEOUS);
        Self {
            contacts: Vec::with_capacity(n),
            gaps: Vec::with_capacity(n),
            normals: Vec::with_capacity(n),
            shift: vec![0.0; n],
            free: vec![[0.0; 2]; events],
            forces: Vec::with_capacity(n),
            problem: ConeProblem::new(k),
            matrix: vec![0.0; k * k],
            compliant: vec![0.0; k * k],
            kept: vec![0.0; k],
            eliminated: vec![0.0; k * k],
        }
    }

    /// Whether there is set-valued friction at all.
    pub fn decides(&self) -> bool {
        !self.shift.is_empty()
    }

    /// The slip derivatives of r = W x + b, and the sum of their terms.
    fn residual(&self, i: usize) -> (f64, f64) {
        let n = self.problem.directions.len();
        let w = &self.compliant[i * n..(i + 1) * n];
        let (mut sum, rate) = (0.0, self.problem.directions[i].rate);
        let mut terms = rate.abs();
        for (w, x) in w.iter().zip(&self.problem.x) {
            sum += w * x;
            terms += (w * x).abs();
        }
        (rate + sum, terms)
    }

    /// Solves the problem until no further contact begins to slip.
    fn solve(&mut self) {
        let n = self.problem.directions.len();
        for _ in 0..=self.contacts.len() {
            self.problem.solve(&self.compliant[..n * n]);
            let mut changed = false;
            for k in 0..self.contacts.len() {
                let Some(contact) = self.contacts[k].filter(|c| c.rests) else {
                    continue;
                };
                let first = contact.normal + 1;
                let normal = self.problem.x[contact.normal];
                let (mut force, mut rate, mut terms) = ([0.0; 2], [0.0; 2], 0.0_f64);
                for axis in 0..contact.axes {
                    force[axis] = self.problem.x[first + axis];
                    let (r, sum) = self.residual(first + axis);
                    (rate[axis], terms) = (r, terms.max(sum));
                }
                let size = hypot(force[0], force[1]);
                let slipped = matches!(contact.decision, ContactFriction::Slip { .. });
                let mu = if slipped {
                    contact.limit.kinetic
                } else {
                    contact.limit.r#static
                };
                let accelerates = hypot(rate[0], rate[1]) > ROUNDING * terms;
                let on_cone = size >= (1.0 - ON_CONE) * mu * normal;
                let slips = normal > 0.0 && !contact.wedges && on_cone && (accelerates || slipped);
                if !slips || !(size > 0.0) {
                    continue;
                }
                changed |= !slipped && contact.limit.kinetic != contact.limit.r#static;
                self.begin_to_slip(k);
            }
            if !changed {
                return;
            }
        }
    }

    /// Stops the slip of the contact that wedges most (Painlevé): there is no normal force with which its friction would leave it closed.
    /// Returns false if none does.
    fn stop_wedged_contact(&mut self) -> bool {
        let mut worst = (-WEDGED, None);
        for (k, contact) in self.contacts.iter().enumerate() {
            let slips = contact.is_some_and(|c| !c.rests) && self.normals[k] != usize::MAX;
            if slips {
                let (rate, terms) = self.residual(self.normals[k]);
                if rate < worst.0 * terms {
                    worst = (rate / terms, Some(k));
                }
            }
        }
        let contact = worst.1.and_then(|k| self.contacts[k].as_mut());
        let found = contact.is_some();
        if let Some(contact) = contact {
            (contact.rests, contact.wedges) = (true, true);
            contact.decision = ContactFriction::Stick([true; 2]);
        }
        found
    }

    /// Solves the problem such that contacts at rest are not near their limits, if possible. One that has reached its limit slips if not.
    fn settle(&mut self, occurring: &[bool]) {
        for _ in 0..=self.contacts.len() {
            self.solve();
            if !self.is_solved() || self.share() || !self.slip_at_limit(occurring) {
                return;
            }
        }
    }

    /// The contacts whose events occur slip where they are at their limits. Returns true if there are any.
    fn slip_at_limit(&mut self, occurring: &[bool]) -> bool {
        let mut any = false;
        for k in 0..self.contacts.len() {
            let Some(contact) = self.contacts[k].filter(|c| c.sticks() && !c.wedges) else {
                continue;
            };
            if occurring[contact.event] && self.part_of_limit(&contact) > SHARED[SHARED.len() - 1] {
                self.begin_to_slip(k);
                any = true;
            }
        }
        any
    }

    /// The contact begins to slip against its friction.
    fn begin_to_slip(&mut self, k: usize) {
        let Some(contact) = &mut self.contacts[k] else {
            return;
        };
        let (first, axes) = (contact.normal + 1, contact.axes);
        let mut direction = [0.0; 2];
        for axis in 0..axes {
            direction[axis] = -self.problem.x[first + axis];
        }
        let size = hypot(direction[0], direction[1]);
        contact.decision = ContactFriction::Slip {
            direction: direction.map(|d| d / size),
            moves: false,
        };
        for axis in first..first + axes {
            self.problem.directions[axis].friction = Some((contact.normal, contact.limit.kinetic));
        }
    }

    /// Shares what the contacts at rest carry such that none is at its limit. Returns false if that is not possible.
    fn share(&mut self) -> bool {
        let n = self.problem.directions.len();
        for part in SHARED {
            if self.largest_part() <= part {
                return true;
            }
            self.kept[..n].copy_from_slice(&self.problem.x[..n]);
            self.limit_sticking(part);
            self.problem.solve(&self.compliant[..n * n]);
            if self.is_solved() {
                return true;
            }
            self.problem.x[..n].copy_from_slice(&self.kept[..n]);
        }
        self.limit_sticking(1.0);
        false
    }

    /// Keeps what the contacts at rest carry, without the force that the compliance takes:
    ///
    /// ```text
    ///   W x⁺ + ε D (x⁺ − x) + b     instead of     W x + ε D x + b,      D the diagonal of W
    /// ```
    fn keep_forces(&mut self) {
        if !self.is_solved() {
            return;
        }
        let n = self.problem.directions.len();
        self.kept[..n].copy_from_slice(&self.problem.x[..n]);
        for i in 0..n {
            let compliance = self.compliant[i * n + i] - self.matrix[i * n + i];
            self.problem.directions[i].rate -= compliance * self.kept[i];
        }
        self.problem.solve(&self.compliant[..n * n]);
        if !self.is_solved() {
            self.problem.x[..n].copy_from_slice(&self.kept[..n]);
        }
        for (k, contact) in self.contacts.iter().enumerate() {
            let Some(contact) = contact.filter(|c| c.sticks()) else {
                continue;
            };
            let first = contact.normal;
            let mut force = [0.0; 3];
            force[..=contact.axes].copy_from_slice(&self.problem.x[first..=first + contact.axes]);
            self.forces.push((self.gaps[k], force));
        }
    }

    /// The largest part of its limit that a contact at rest takes.
    fn largest_part(&self) -> f64 {
        let sticking = self.contacts.iter().flatten().filter(|c| c.sticks());
        (sticking.map(|contact| self.part_of_limit(contact))).fold(0.0, f64::max)
    }

    /// The part of its limit that a contact at rest takes.
    fn part_of_limit(&self, contact: &TouchingFriction) -> f64 {
        let x = &self.problem.x[contact.normal..];
        let second = if contact.axes == 2 { x[2] } else { 0.0 };
        let part = hypot(x[1], second) / (contact.limit.r#static * x[0]);
        if part.is_nan() { 0.0 } else { part }
    }

    /// Limits the friction of the contacts at rest to a part of what is allowed.
    fn limit_sticking(&mut self, part: f64) {
        for contact in self.contacts.iter().flatten().filter(|c| c.sticks()) {
            for axis in contact.normal + 1..=contact.normal + contact.axes {
                self.problem.directions[axis].friction =
                    Some((contact.normal, part * contact.limit.r#static));
            }
        }
    }

    /// Whether x is an answer in which the contacts at rest stay so.
    fn is_solved(&self) -> bool {
        let rests = |i: usize| {
            let (rate, terms) = self.residual(i);
            rate.abs() <= ROUNDING * terms
        };
        let closed = |&i: &usize| {
            let (rate, terms) = self.residual(i);
            rests(i) || (self.problem.x[i] == 0.0 && rate > -ROUNDING * terms)
        };
        let mut normals = self.normals.iter().filter(|i| **i != usize::MAX);
        let mut sticking = self.contacts.iter().flatten().filter(|c| c.sticks());
        normals.all(closed)
            && sticking.all(|c| {
                self.problem.x[c.normal] == 0.0 || (c.normal + 1..=c.normal + c.axes).all(rests)
            })
    }

    /// Writes the share that the friction of sticking contacts has in the normal accelerations, `shift`.
    fn find_shift(&mut self) {
        let n = self.problem.directions.len();
        for (k, &row) in self.normals.iter().enumerate() {
            self.shift[k] = 0.0;
            if row == usize::MAX {
                continue;
            }
            for contact in self.contacts.iter().flatten().filter(|c| c.rests) {
                if let ContactFriction::Stick(_) = contact.decision {
                    for axis in contact.normal + 1..=contact.normal + contact.axes {
                        self.shift[k] += self.matrix[row * n + axis] * self.problem.x[axis];
                    }
                }
            }
        }
    }

    /// Whether a direction is independent of those that were eliminated before; then it is eliminated too.
    fn eliminate(&mut self, i: usize) -> bool {
        let n = self.problem.directions.len();
        let pivot = self.eliminated[i * n + i];
        if !(pivot.abs() > DEPENDENT * self.matrix[i * n + i].abs()) {
            return false;
        }
        for r in 0..n {
            let factor = self.eliminated[r * n + i] / pivot;
            if r == i || factor == 0.0 {
                continue;
            }
            for c in 0..n {
                self.eliminated[r * n + c] -= factor * self.eliminated[i * n + c];
            }
        }
        true
    }

    /// Whether contact k is at rest and carries a force: then its constraint is active as far as it is independent.
    pub fn presses(&self, k: usize) -> bool {
        let event = self.gaps.get(k);
        let carried = |&(i, force): &(usize, [f64; 3])| Some(&i) == event && force[0] > 0.0;
        self.forces.iter().any(carried)
    }

    /// Chooses the active tangential constraints of the contacts that stick, `carries` of which carry a force.
    pub fn choose_rows(&mut self, carries: &[bool]) {
        let n = self.problem.directions.len();
        self.eliminated[..n * n].copy_from_slice(&self.matrix[..n * n]);
        for k in 0..self.normals.len() {
            if carries[k] && self.normals[k] != usize::MAX {
                self.eliminate(self.normals[k]);
            }
        }
        for k in 0..self.contacts.len() {
            let Some(contact) = self.contacts[k].filter(|c| c.rests && carries[k]) else {
                continue;
            };
            if let ContactFriction::Stick(mut rows) = contact.decision {
                for axis in 0..contact.axes {
                    rows[axis] = self.eliminate(contact.normal + 1 + axis);
                }
                if let Some(contact) = &mut self.contacts[k] {
                    contact.decision = ContactFriction::Stick(rows);
                }
            }
        }
    }
}

impl Integrator {
    /// Decides which of the touching contacts stick; all unilateral constraints are inactive in the modes of the problem, and the mass
    /// matrix is factorised. `first` is the largest closing velocity of the instant. Without set-valued friction nothing is to decide.
    pub(super) fn decide_friction(&mut self, p: &Problem, s: &State, first: f64) {
        let mut decision = std::mem::take(&mut self.contact_set.friction);
        self.find_touching_friction(p, s, first, &mut decision);
        if decision.contacts.iter().any(Option::is_some) {
            loop {
                self.assemble_friction(p, s, &mut decision);
                decision.settle(&self.events.occurring);
                if !decision.stop_wedged_contact() {
                    break;
                }
            }
            decision.keep_forces();
            decision.find_shift();
        } else {
            decision.contacts.clear();
        }
        self.contact_set.friction = decision;
    }

    /// Finds the touching contacts with set-valued friction, and whether they are at rest.
    fn find_touching_friction(
        &mut self,
        p: &Problem,
        s: &State,
        first: f64,
        decision: &mut FrictionDecision,
    ) {
        decision.contacts.clear();
        decision.forces.clear();
        if !decision.decides() {
            return;
        }
        let cx = self.work.inputs.at(p, s.t);
        let at = s.motion_point();
        let gradient = &mut self.impacts.n[0];
        for &i in &self.contact_set.events {
            let mut found: Option<TouchingFriction> = None;
            let mut terms = 0.0_f64;
            for axis in 0..2 {
                let Some(friction) =
                    (p.system).tangential_direction(&cx, &at, i, 2 + axis, gradient)
                else {
                    break;
                };
                let Some(limit) = friction.stick else { break };
                let contact = found.get_or_insert(TouchingFriction {
                    limit,
                    slip: [0.0; 2],
                    axes: 0,
                    normal: usize::MAX,
                    rests: true,
                    wedges: false,
                    event: i + limit.event,
                    decision: ContactFriction::Stick([true; 2]),
                });
                contact.slip[axis] = dot(gradient, &s.v) + friction.drift;
                contact.axes = axis + 1;
                let sum: f64 = gradient.iter().zip(&s.v).map(|(g, v)| (g * v).abs()).sum();
                terms = terms.max(sum);
            }
            if let Some(contact) = &mut found {
                let rest = (AT_REST * contact.limit.rest_speed)
                    .max(LEFT_BY_IMPULSES * first)
                    .max(RATE_ROUNDING * terms);
                let speed = hypot(contact.slip[0], contact.slip[1]);
                if speed > rest {
                    contact.rests = false;
                    contact.decision = ContactFriction::Slip {
                        direction: contact.slip.map(|u| u / speed),
                        moves: true,
                    };
                }
            }
            decision.contacts.push(found);
        }
    }

    /// W and b of the normal directions of all touching contacts and the tangential ones of those at rest.
    fn assemble_friction(&mut self, p: &Problem, s: &State, decision: &mut FrictionDecision) {
        decision.normals.clear();
        decision.gaps.clear();
        decision.gaps.extend_from_slice(&self.contact_set.events);
        decision.problem.directions.clear();
        let room = self.impacts.n.len().min(decision.problem.x.len());
        for k in 0..decision.contacts.len() {
            let (i, row) = (
                self.contact_set.events[k],
                decision.problem.directions.len(),
            );
            let friction = &mut decision.contacts[k];
            let axes = friction.filter(|c| c.rests).map_or(0, |c| c.axes);
            if row + 1 + axes > room {
                // Beyond the memory: as it is.
                if let Some(contact) = friction {
                    contact.rests = false;
                }
                decision.normals.push(usize::MAX);
                continue;
            }
            decision.normals.push(row);
            let moving = friction.filter(|c| !c.rests).map(|c| c.decision);
            self.contact_column(p, s, i, moving, row);
            decision.problem.directions.push(ConeDirection {
                rate: self.contact_set.free[i],
                ..ConeDirection::default()
            });
            let Some(contact) = friction.as_mut().filter(|c| c.rests) else {
                continue;
            };
            contact.normal = row;
            let cx = self.work.inputs.at(p, s.t);
            let at = s.motion_point();
            for axis in 0..axes {
                let ImpactSolver { n, w, .. } = &mut self.impacts;
                let n = &mut n[row + 1 + axis];
                p.system.tangential_direction(&cx, &at, i, 2 + axis, n);
                w[row + 1 + axis].copy_from_slice(n);
                decision.problem.directions.push(ConeDirection {
                    rate: decision.free[i][axis],
                    least: 0.0,
                    friction: Some((row, contact.limit.r#static)),
                });
            }
        }
        let n = decision.problem.directions.len();
        let (work, impacts) = (&mut self.work, &mut self.impacts);
        for j in 0..n {
            impacts.l.fill(0.0);
            work.mass_matrix.solve_exact(
                &work.sparsity,
                SOLVED,
                &mut impacts.w[j],
                &mut impacts.l,
                &mut work.counts,
            );
            for i in 0..n {
                decision.matrix[i * n + j] = dot(&impacts.n[i], &impacts.w[j]);
            }
        }
        decision.compliant[..n * n].copy_from_slice(&decision.matrix[..n * n]);
        for i in 0..n {
            decision.compliant[i * n + i] *= 1.0 + COMPLIANCE;
        }
    }

    /// Writes the gradient of the gap of event i into `impacts.n[row]`, and that plus the friction of a unit force into `impacts.w[row]`.
    pub(super) fn contact_column(
        &mut self,
        p: &Problem,
        s: &State,
        i: usize,
        friction: Option<ContactFriction>,
        row: usize,
    ) {
        let Self {
            work,
            contact_set,
            impacts,
            ..
        } = self;
        let ContactSet {
            lambda,
            active: [before, with],
            modes_of_one,
            ..
        } = contact_set;
        let cx = work.inputs.at(p, s.t);
        let at = s.motion_point();
        modes_of_one.copy_from_slice(p.modes);
        let (n, w) = (&mut impacts.n[row], &mut impacts.w[row]);
        // Of a contact in these modes: the gradient of the gap; an unchanged mode.
        (p.system).handle_event(&cx, &at, i, modes_of_one, n);
        w.copy_from_slice(n);
        if !work.character.has_constraint_friction {
            return;
        }
        p.system.active_constraints(p.modes, before);
        modes_of_one.copy_from_slice(p.modes);
        p.system.activate_unilateral(i, modes_of_one);
        p.system.active_constraints(modes_of_one, with);
        if let Some(friction) = friction {
            p.system.set_contact_friction(i, friction, modes_of_one);
        }
        lambda.fill(0.0);
        let Some(row) = (0..with.len()).find(|&row| with[row] && !before[row]) else {
            return;
        };
        let cx = EvaluationContext {
            modes: modes_of_one,
            ..cx
        };
        // A normal force is −λ or λ, depending on the side of the constraint: friction does no positive work.
        for unit in [-1.0, 1.0] {
            lambda[row] = unit;
            w.copy_from_slice(n);
            p.system.constraint_friction(&cx, &s.q, &s.v, lambda, w);
            if dot(w, &s.v) <= dot(n, &s.v) {
                break;
            }
        }
    }
}
