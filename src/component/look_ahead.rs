//! Steps of the solver beyond a communication point.
//!
//! A host that asks for values often, and changes nothing in between, shall not pay for shorter steps. If no input and no parameter
//! has changed since the last communication point, a substep may end beyond the next one:
//!
//! ```text
//!   start ──── communication points ──── end        the instance is at a point of the interpolation between start and end
//! ```
//!
//! The values at a communication point are those that a row of `biela run --interval` has there. A change of an input or a parameter
//! restarts the motion at the communication point; so nothing that the host can do tells that the solver has been beyond it. It
//! never steps beyond the stop time or the break of an input law, and an event beyond the communication point is left for later:
//! the step is then taken back, and a shorter one ends at the communication point. So is a step without the corrector: between the
//! ends of a step that damps fast vibrations the interpolation would bend stiff springs.

use std::fmt;

use super::Instance;
use super::quantity_point::environment;
use crate::error::Result;
use crate::integrator::State;
use crate::model::{Corrector, IntegratorName};

/// A step that contains the present time, and what decides about the next one.
#[derive(Clone)]
pub(super) struct LookAhead {
    /// The present time is inside the step: the solver is at its end.
    pub active: bool,
    /// Start of the step ...
    pub start: State,
    /// ... and its end.
    pub end: State,
    /// No step goes beyond a communication point before this time (s), at which an event was seen.
    pub not_before: f64,
    /// Nothing has been changed since the last communication point.
    pub unchanged: bool,
}

impl Default for LookAhead {
    fn default() -> Self {
        Self {
            active: false,
            start: State::default(),
            end: State::default(),
            not_before: f64::NEG_INFINITY,
            unchanged: false,
        }
    }
}

impl PartialEq for LookAhead {
    fn eq(&self, other: &Self) -> bool {
        (self.unchanged, self.not_before) == (other.unchanged, other.not_before)
            && self.step() == other.step()
    }
}

impl fmt::Debug for LookAhead {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (f.debug_struct("LookAhead"))
            .field("step", &self.step())
            .field("not_before", &self.not_before)
            .field("unchanged", &self.unchanged)
            .finish()
    }
}

impl LookAhead {
    /// The step that contains the present time. The states of one that is over do not count.
    fn step(&self) -> Option<[&State; 2]> {
        self.active.then_some([&self.start, &self.end])
    }

    /// None yet, with memory for the states of a step.
    pub fn from(motion: &State) -> Self {
        Self {
            start: motion.clone(),
            end: motion.clone(),
            ..Self::default()
        }
    }

    /// Copies `other`; allocates only if the sizes differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.active = other.active;
        self.not_before = other.not_before;
        self.unchanged = other.unchanged;
        if other.active {
            self.start.copy_from(&other.start);
            self.end.copy_from(&other.end);
        }
    }

    /// The host has changed something: the motion goes on from the present time.
    pub fn leave(&mut self) {
        (self.active, self.unchanged) = (false, false);
    }
}

impl Instance {
    /// Whether steps may go beyond communication points at all: those of a mechanism, of variable length, whose corrector makes
    /// the points between their ends as good as these. (Other independent coordinates may be chosen at the end of a step.)
    pub(super) fn looks_ahead(&self) -> bool {
        let solver = &self.model.solver;
        solver.look_ahead
            && solver.step.is_none()
            && solver.corrector == Corrector::Auto
            && solver.integrator != IntegratorName::Vsa23
            && self.model.user_system.is_none()
            && self.model.system.is_none()
            && self.mechanism.partitioning().is_none()
    }

    /// The time to which the next substep may go if it is to end at `target` or beyond.
    fn horizon(&self, target: f64) -> f64 {
        let ahead = &self.state.ahead;
        let suspended = self.state.motion.corrector_suspension > 0;
        if !self.looks_ahead() || !ahead.unchanged || suspended || self.time() < ahead.not_before {
            return target;
        }
        let end = self.state.stop.min(self.state.applied.next_break());
        end.max(target)
    }

    /// A substep at most to `target`, inside a step that the solver has taken or takes beyond it. Returns whether an event was
    /// located at its end; `None` if there is no such step and the state is unchanged.
    pub(super) fn substep_ahead(&mut self, target: f64) -> Result<Option<bool>> {
        if self.state.ahead.active {
            if self.move_within_step(target).is_ok() {
                return Ok(Some(false));
            }
            // No point there satisfies the constraints: the motion goes on from the present time.
            self.state.ahead.leave();
            let env = environment(&self.state.applied);
            let motion = &mut self.state.motion;
            (self.integrator).apply_input_jump(&*self.mechanism, &env, motion)?;
            return Ok(None);
        }
        let horizon = self.horizon(target);
        if horizon <= target {
            return Ok(None);
        }
        let env = environment(&self.state.applied);
        let (motion, ahead) = (&mut self.state.motion, &mut self.state.ahead);
        ahead.start.copy_from(motion);
        let outcome = (self.integrator).advance(&*self.mechanism, &env, motion, horizon);
        if let Ok(accepted) = outcome {
            if motion.t <= target {
                return Ok(Some(accepted.event));
            }
            let start = &ahead.start;
            let smooth = !accepted.event
                && motion.statistics.events == start.statistics.events
                && motion.statistics.time_stepping == start.statistics.time_stepping
                && motion.statistics.steps_plain == start.statistics.steps_plain
                && motion.modes == start.modes
                && motion.redundant == start.redundant;
            if smooth {
                ahead.end.copy_from(motion);
                ahead.active = true;
                if self.move_within_step(target).is_ok() {
                    return Ok(Some(false));
                }
            }
        }
        // The step is taken back; one that ends at the target finds out what there is.
        let (motion, ahead) = (&mut self.state.motion, &mut self.state.ahead);
        ahead.active = false;
        ahead.not_before = motion.t.max(target);
        motion.copy_from(&ahead.start);
        self.integrator.forget();
        Ok(None)
    }

    /// Moves to `target` inside the present step, or to its end.
    fn move_within_step(&mut self, target: f64) -> Result<()> {
        self.scratch.cache.invalidate();
        let env = environment(&self.state.applied);
        let (motion, ahead) = (&mut self.state.motion, &mut self.state.ahead);
        let (mechanism, ends) = (&*self.mechanism, [&ahead.start, &ahead.end]);
        if target < ahead.end.t {
            let sample = &mut self.scratch.sample;
            return (self.integrator).state_within(mechanism, &env, ends, target, sample, motion);
        }
        self.integrator.interpolate_between(mechanism, &env, ends);
        motion.copy_from(&ahead.end);
        ahead.active = false;
        Ok(())
    }
}
