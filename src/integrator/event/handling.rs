//! Handles events at their time: events that are due before a step, modes and impacts, and the restart of the motion.

use super::super::Integrator;
use super::super::state::{EventMemory, EventSide, State, Statistics};
use super::super::tolerances::CONSISTENT_VELOCITY;
use super::super::trial::StepFailure;
use super::super::workspace::{Problem, Workspace};
use super::LocatedEvent;
use super::crossing::{crosses, is_beyond};
use crate::error::{Error, Result};
use crate::formulation::system::Crossing;
use crate::integrator::singularity::position_pivot;

/// Consecutive events without progress in time after which a bouncing contact becomes a constraint ...
pub(super) const ACTIVATE_AFTER: u32 = 50;
/// ... and after which the run fails.
const CHATTERING_AFTER: u32 = 1000;
/// Pivot of the scaled constraints below which they may be dependent: dependent ones have 1e-10, the regularisation.
const DEPENDENT_PIVOT: f64 = 1e-8;

impl Integrator {
    /// Handles the events that are due before the next step, and evaluates φ there. Returns true if there was one: then the
    /// modes may have changed.
    pub(in crate::integrator) fn handle_due_events(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<bool> {
        let Self { work, events, .. } = self;
        if work.size.ne == 0 {
            return Ok(false);
        }
        events.evaluate_start(work, p, s);
        events.update_crossings(p);
        let mut any = false;
        for i in 0..work.size.ne {
            let crossing = events.crossings[i];
            let (before, now) = (s.event_side[i], EventSide::of(events.phi[0][i]));
            let due = before == EventSide::Due || crosses(crossing, before, now);
            events.occurring[i] = due;
            any |= due;
        }
        if any {
            self.back_up(s);
            self.clear_memory(p, 0, &mut s.event_memory);
            s.event_streak += 1;
            self.handle_occurring_events(p, s, stats)?;
        }
        Ok(any)
    }

    /// Handles the event located at the end of an accepted step; without one, notes on which side of the events it ends.
    pub(in crate::integrator) fn handle_end_of_step(
        &mut self,
        p: &Problem,
        s: &mut State,
        located: Option<LocatedEvent>,
        stats: &mut Statistics,
    ) -> Result<()> {
        self.clear_memory(p, 1, &mut s.event_memory);
        match located {
            Some(event) => {
                s.event_streak = if event.chatters {
                    s.event_streak + 1
                } else {
                    0
                };
                self.handle_occurring_events(p, s, stats)
            }
            None => {
                s.event_streak = 0;
                self.note_sides(p, s);
                Ok(())
            }
        }
    }

    /// Notes the sides on which a step without events ends. A contact that had an impact, has not separated and closes again is
    /// due; in systems where the far side is due, also what is there and goes on.
    fn note_sides(&mut self, p: &Problem, s: &mut State) {
        self.events.update_crossings(p);
        let (phi, rate) = (&self.events.phi[1], &self.events.rate[1]);
        let far_side_is_due = p.system.far_side_is_due();
        for i in 0..s.event_side.len() {
            let crossing = self.events.crossings[i];
            let beyond = s.event_memory[i] == EventMemory::Impact
                || (far_side_is_due && is_beyond(crossing, phi[i]));
            let rate = if rate[i].is_nan() {
                phi[i] - self.events.phi[0][i]
            } else {
                rate[i]
            };
            s.event_side[i] = if beyond && is_beyond(crossing, rate) {
                EventSide::Due
            } else {
                EventSide::of(phi[i])
            };
        }
    }

    /// Clears the memory of handled events, except of impacts after which φ is still on its far side at the start (0) or the
    /// end (1) of the step: these contacts have another impact when they close.
    fn clear_memory(&self, p: &Problem, end: usize, memory: &mut [EventMemory]) {
        for i in 0..memory.len() {
            let kept = memory[i] == EventMemory::Impact
                && is_beyond(p.system.crossing(p.modes, i), self.events.phi[end][i]);
            if !kept {
                memory[i] = EventMemory::Nothing;
            }
        }
    }

    /// Notes on which side of the events the state is, and which of them are due at once: φ is zero and leaves to the far
    /// side, or is there and stays. All events are considered at the start and where the far side is due, else only those
    /// that were off in the modes `before`.
    pub(in crate::integrator) fn find_due_events(
        &mut self,
        p: &Problem,
        s: &mut State,
        before: Option<&[i32]>,
    ) {
        let Self {
            work,
            events,
            contact_set,
            ..
        } = self;
        events.evaluate_start(work, p, s);
        let far_side_is_due = p.system.far_side_is_due();
        let mut ahead = false;
        for i in 0..s.event_side.len() {
            let phi = events.phi[0][i];
            let crossing = p.system.crossing(p.modes, i);
            s.event_side[i] = EventSide::of(phi);
            let considered = far_side_is_due
                || before.is_none_or(|modes| p.system.crossing(modes, i) == Crossing::Off);
            let may_be_due = considered
                && (phi == 0.0 || is_beyond(crossing, phi))
                && (far_side_is_due || s.event_memory[i] == EventMemory::Nothing);
            if !may_be_due {
                continue;
            }
            let rate = events.rate[0][i];
            // What the impulses and the complementarity problem of this instant have decided is not asked again: its rate is rounding.
            // After many events without progress nothing is: time must go on, and the next step looks again.
            let decided =
                (before.is_some() && contact_set.touching[i]) || s.event_streak >= ACTIVATE_AFTER;
            if far_side_is_due && (is_beyond(crossing, rate) || is_beyond(crossing, -rate)) {
                if is_beyond(crossing, rate) && !decided {
                    s.event_side[i] = EventSide::Due;
                }
                continue;
            }
            if s.event_memory[i] != EventMemory::Nothing {
                continue;
            }
            if !ahead {
                events.evaluate_ahead(work, p, s);
                ahead = true;
            }
            let later = events.phi[1][i];
            let returns = is_beyond(crossing, phi - later);
            if is_beyond(crossing, later) && !returns {
                s.event_side[i] = EventSide::Due;
            }
        }
    }

    /// At the start the contacts with set-valued friction that are closed are due: which of them stick is not decided. Returns true if there
    /// are any.
    pub(in crate::integrator) fn mark_initial_friction(
        &mut self,
        p: &Problem,
        s: &mut State,
    ) -> bool {
        let mut any = false;
        if !self.contact_set.friction.decides() {
            return any;
        }
        let cx = self.work.inputs.at(p, s.t);
        let gradient = &mut self.impacts.n[0];
        for i in 0..s.event_side.len() {
            let at = s.motion_point();
            let friction = (p.system).tangential_direction(&cx, &at, i, 2, gradient);
            if let Some(limit) = friction.and_then(|friction| friction.stick) {
                let event = i + limit.event;
                if p.system.crossing(p.modes, event) != Crossing::Off {
                    s.event_side[event] = EventSide::Due;
                    any = true;
                }
            }
        }
        any
    }

    /// Handles the marked events at the state, then restarts the motion in the new modes.
    fn handle_occurring_events(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        self.events.motion_law_changes = false;
        self.apply_event_effects(p, s, stats)?;
        if s.event_streak > CHATTERING_AFTER {
            let culprit = self.events.occurring.iter().position(|&on| on);
            return Err(Error::Chattering {
                time: s.t,
                culprit: p.system.event_name(culprit.unwrap_or(0)),
            });
        }
        self.restart_after_event(p, s, stats)
    }

    /// Restarts the motion in the modes that an event has left in the state.
    pub(super) fn restart_after_event(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        let mut modes = std::mem::take(&mut self.events.modes);
        modes.copy_from_slice(&s.modes);
        let after = Problem {
            modes: &modes,
            ..*p
        };
        let work = &mut self.work;
        // The potential energy may jump with the modes (a step of the road below a tyre): the difference counts as supplied.
        for (problem, sign) in [(&after, 1.0), (p, -1.0)] {
            let cx = work.inputs.at(problem, s.t);
            s.supplied += sign * p.system.energy(&cx, &s.q, &s.v).potential;
        }
        work.select_active(p.system, s);
        work.factor_cache.drop_all();
        let kinetic = |work: &mut Workspace, s: &State| {
            let cx = work.inputs.at(&after, s.t);
            p.system.energy(&cx, &s.q, &s.v).kinetic
        };
        let motion_law_changes = self.events.motion_law_changes;
        let closes = self.contact_set.touching.contains(&true);
        let before = if motion_law_changes || closes {
            kinetic(work, s)
        } else {
            0.0
        };
        let outcome = restart_motion(work, &after, s, stats)
            .map_err(|failure| failure.error(p.system, s.t, 0.0));
        if motion_law_changes {
            s.supplied += kinetic(work, s) - before;
        } else if closes {
            // A contact that becomes active loses the velocity it has left: plastic.
            s.dissipated += (before - kinetic(work, s)).max(0.0);
        }
        if outcome.is_ok() {
            if self.share_contact_forces(&after, s) {
                modes.copy_from_slice(&s.modes);
            }
            let after = Problem {
                modes: &modes,
                ..*p
            };
            self.find_due_events(&after, s, Some(p.modes));
        }
        self.events.modes = modes;
        outcome
    }
}

/// Redundancy, position, velocity, accelerations, multipliers and jerk in the modes after an event.
fn restart_motion(
    work: &mut Workspace,
    p: &Problem,
    s: &mut State,
    stats: &mut Statistics,
) -> std::result::Result<(), StepFailure> {
    let pivots = work.factorise_mass(p, s.t, &s.q, &s.v)?;
    // The new set of active constraints may have other redundant ones.
    if pivots.smallest_constraint < DEPENDENT_PIVOT || s.redundant.contains(&true) {
        work.find_redundant(p, s)?;
    }
    s.typical_pivot = position_pivot(pivots.smallest_constraint, p.system, &s.q);
    if work.size.nc > 0 {
        // A constraint that becomes active is satisfied only to the accuracy of the event's location.
        work.reassemble(p, s.t, &mut s.q, &s.v)?;
        work.factorise_mass(p, s.t, &s.q, &s.v)?;
        work.project_velocity(p, s.t, &s.q, &mut s.v, CONSISTENT_VELOCITY);
    }
    work.restart_accelerations(p, s, stats)
}
