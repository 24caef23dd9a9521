//! Which contacts with set-valued friction stick, and which slip: the complementarity problem of their accelerations over friction cones.
//!
//! ```text
//!   r = W x + b,      0 ≤ N ⟂ r_n ≥ 0,      |F| ≤ μ_s N,   F = −μ_s N r_t/|r_t| where r_t ≠ 0
//! ```
//!
//! of the contacts without slip; one that slips has its friction in the column of its normal force. A contact whose tangential acceleration
//! is not zero begins to slip with its kinetic coefficient, and the problem is solved again. The tangential constraints of those that stick
//! are active as far as they are independent of each other and of the normal ones.

use super::cone_problem::ConeProblem;
use super::contact_set::ROUNDING;
use super::impact::SIMULTANEOUS;
use crate::formulation::system::{ContactFriction, StickLimit};
use crate::linalg::elementary::hypot;

/// Compliance of each direction, over its mobility: of redundant contacts all carry, and in one way only.
pub(super) const COMPLIANCE: f64 = 1e-7;
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
    pub limit: StickLimit,
    /// Slip velocity.
    pub slip: [f64; 2],
    /// Tangential axes.
    pub axes: usize,
    /// Index of its normal direction in the problem.
    pub normal: usize,
    /// It is at rest: its tangential directions follow its normal one.
    pub rests: bool,
    /// It slips, but cannot go on.
    pub wedges: bool,
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
    pub gaps: Vec<usize>,
    /// Index of the normal direction of each in the problem; none beyond the memory.
    pub normals: Vec<usize>,
    /// For each touching contact: g'' by the friction of those that stick.
    pub shift: Vec<f64>,
    /// For each event: derivatives of the slip velocities without contact forces.
    pub free: Vec<[f64; 2]>,
    /// What the contacts at rest carry, by event: normal force, and along their axes. Empty where no answer was found.
    pub forces: Vec<(usize, [f64; 3])>,
    pub problem: ConeProblem,
    /// W by rows.
    pub matrix: Vec<f64>,
    /// W with compliance.
    pub compliant: Vec<f64>,
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
                if !slips {
                    continue;
                }
                // Without friction at all it slips where it is pushed.
                let acceleration = hypot(rate[0], rate[1]);
                let direction = if size > 0.0 {
                    force.map(|f| -f / size)
                } else if accelerates && !slipped {
                    rate.map(|r| r / acceleration)
                } else {
                    continue;
                };
                changed |= !slipped && contact.limit.kinetic != contact.limit.r#static;
                self.begin_to_slip(k, direction);
            }
            if !changed {
                return;
            }
        }
    }

    /// Stops the slip of the contact that wedges most (Painlevé): there is no normal force with which its friction would leave it closed.
    /// Returns false if none does.
    pub fn stop_wedged_contact(&mut self) -> bool {
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
    pub fn settle(&mut self, occurring: &[bool]) {
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
                let x = &self.problem.x[contact.normal + 1..];
                let force = [x[0], if contact.axes == 2 { x[1] } else { 0.0 }];
                let size = hypot(force[0], force[1]);
                self.begin_to_slip(k, force.map(|f| -f / size));
                any = true;
            }
        }
        any
    }

    /// The contact begins to slip in this direction.
    fn begin_to_slip(&mut self, k: usize, direction: [f64; 2]) {
        let Some(contact) = &mut self.contacts[k] else {
            return;
        };
        let (first, axes) = (contact.normal + 1, contact.axes);
        contact.decision = ContactFriction::Slip {
            direction,
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
    pub fn keep_forces(&mut self) {
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
    pub fn find_shift(&mut self) {
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
