//! Friction of the contacts that touch at an instant: which of them are at rest, and the matrix of their problem.

use super::super::Integrator;
use super::super::state::State;
use super::super::workspace::Problem;
use super::cone_problem::ConeDirection;
use super::contact_set::{ContactSet, RATE_ROUNDING};
use super::dot;
use super::friction_decision::{COMPLIANCE, FrictionDecision, TouchingFriction};
use super::impact::ImpactSolver;
use crate::formulation::system::{ContactFriction, EvaluationContext};
use crate::linalg::elementary::hypot;

/// Slip velocity at rest over the rest speed of the contact: between the ends of its events.
const AT_REST: f64 = 1.5;
/// Slip velocity that impulses leave, over the largest closing velocity.
const LEFT_BY_IMPULSES: f64 = 1e-9;

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
        (self.impacts).response(&mut self.work, n, &mut decision.matrix);
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
