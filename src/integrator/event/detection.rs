//! Finds the first event inside an accepted step and repeats the step so that it ends there.

use super::super::Integrator;
use super::super::state::{EventMemory, EventSide, State, Statistics};
use super::super::workspace::{Problem, Workspace};
use super::crossing::crosses;
use super::location::{Approach, Bracket, Repeated};
use super::search::{CrossingSearch, PredictedCrossing, shift};
use crate::error::Result;
use crate::formulation::system::{Crossing, Dimensions, MotionPoint};

/// A hop starts with more than this part of the speed of the event it is compared with.
const HOP_SPEED: f64 = 1e-6;
/// Time to look ahead to see whether φ returns, in steps.
const LOOK_AHEAD: f64 = 0.1;

/// Event functions and their rates at the start and at the end of a step.
pub(in crate::integrator) struct EventDetector {
    pub(super) phi: [Vec<f64>; 2],
    pub(super) rate: [Vec<f64>; 2],
    /// Events that occur at the end of the trial or at the state.
    pub(super) occurring: Vec<bool>,
    pub(super) modes: Vec<i32>,
    search: CrossingSearch,
    /// Which crossings count in the modes `crossings_in`; empty before they were asked for.
    pub(super) crossings: Vec<Crossing>,
    crossings_in: Vec<i32>,
    /// The law of a prescribed motion changes at the events that are handled.
    pub(super) motion_law_changes: bool,
    ahead: LookAhead,
    /// Largest next step that the rotations of the last one allow (s).
    pub step_limit: f64,
    /// Part of the trial up to which each event was seen to graze φ = 0.
    grazed: Vec<f64>,
}

/// Crossings of a trial that turn out to be none, after which the dense output of so long a step is not believed and a
/// shorter one is taken.
/// Each costs up to a dozen repeats.
const MOST_GRAZES: u32 = 8;

/// The point a little later at which φ is evaluated.
struct LookAhead {
    w: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    acc: Vec<f64>,
}

/// What the search of a trial found.
enum Location {
    /// The trial ends on this event, or has none.
    Found(Option<LocatedEvent>),
    /// The trial of this size fails the error test, although a longer one has passed it.
    Inaccurate(f64),
}

/// The event that ends a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::integrator) struct LocatedEvent {
    /// The motion since the start of the step is below the accuracy of the location.
    pub chatters: bool,
}

impl EventDetector {
    pub fn new(size: &Dimensions) -> Self {
        let two = |n: usize| [vec![0.0; n], vec![0.0; n]];
        let (nq, nv) = if size.ne > 0 {
            (size.nq, size.nv)
        } else {
            (0, 0)
        };
        Self {
            phi: two(size.ne),
            rate: two(size.ne),
            occurring: vec![false; size.ne],
            modes: vec![0; size.modes],
            search: CrossingSearch::new(size),
            crossings: Vec::with_capacity(size.ne),
            crossings_in: vec![0; size.modes],
            step_limit: f64::INFINITY,
            grazed: vec![0.0; size.ne],
            motion_law_changes: false,
            ahead: LookAhead {
                w: vec![0.0; nv],
                q: vec![0.0; nq],
                v: vec![0.0; nv],
                acc: vec![0.0; nv],
            },
        }
    }

    /// Asks which crossings count, unless the modes are those of the last time.
    pub(super) fn update_crossings(&mut self, p: &Problem) {
        let ne = self.occurring.len();
        if self.crossings.len() != ne || self.crossings_in != p.modes {
            self.crossings.clear();
            self.crossings
                .extend((0..ne).map(|i| p.system.crossing(p.modes, i)));
            self.crossings_in.copy_from_slice(p.modes);
        }
    }

    /// Evaluates φ at the start of a step.
    pub fn evaluate_start(&mut self, work: &mut Workspace, p: &Problem, s: &State) {
        let cx = work.inputs.at(p, s.t);
        let at = s.motion_point();
        p.system
            .event_functions(&cx, &at, &mut self.phi[0], &mut self.rate[0]);
    }

    /// Evaluates φ a little later, by Taylor's formula, into the values of the end.
    pub(super) fn evaluate_ahead(&mut self, work: &mut Workspace, p: &Problem, s: &State) {
        let e = LOOK_AHEAD * s.next_h;
        let LookAhead { w, q, v, acc } = &mut self.ahead;
        for i in 0..w.len() {
            let (v0, a0, j) = (s.v[i], s.acc[i], s.jerk[i]);
            w[i] = e * (v0 + e * (0.5 * a0 + e * j / 6.0));
            v[i] = v0 + e * (a0 + 0.5 * e * j);
            acc[i] = a0 + e * j;
        }
        p.system.retract(&s.q, w, q);
        let cx = work.nearby.at(p, s.t + e);
        let at = MotionPoint {
            q,
            v,
            a: acc,
            lambda: &s.lambda,
        };
        p.system
            .event_functions(&cx, &at, &mut self.phi[1], &mut self.rate[1]);
    }

    /// φ of event `i` at both ends of the step, measured as in the search.
    pub(super) fn end_values(&self, p: &Problem, i: usize, memory: EventMemory) -> [f64; 2] {
        let start = self.phi[0][i];
        let crossing = p.system.crossing(p.modes, i);
        let far = p.system.far_side_is_due();
        let shift = shift(crossing, (start, self.rate[0][i]), memory, far);
        [start - shift, self.phi[1][i] - shift]
    }
}

impl Integrator {
    /// Searches the accepted trial for an event. If there is one, the trial is repeated so that it ends on it, and the events
    /// that occur there are marked.
    pub(in crate::integrator) fn locate_event(
        &mut self,
        p: &Problem,
        s: &State,
        stats: &mut Statistics,
    ) -> Result<Option<LocatedEvent>> {
        self.limit_rotation(p, s, stats)?;
        loop {
            let full = (self.trial.h, self.trial.t);
            match self.locate_in_trial(p, s, Repeated::Tested, stats)? {
                Location::Found(event) => return Ok(event),
                Location::Inaccurate(h) => {
                    if self.retry_shorter(p, s, h, stats)? {
                        continue;
                    }
                }
            }
            // No shorter step is better: the one that was accepted stands, and the event is located in it as well as can be.
            self.repeat_full_step(p, s, full, stats)?;
            if let Location::Found(event) = self.locate_in_trial(p, s, Repeated::Untested, stats)? {
                return Ok(event);
            }
        }
    }

    /// Searches the trial for an event and repeats it so that it ends there. Repeated trials are tested as told.
    fn locate_in_trial(
        &mut self,
        p: &Problem,
        s: &State,
        repeated: Repeated,
        stats: &mut Statistics,
    ) -> Result<Location> {
        self.evaluate_end(p);
        let full = (self.trial.h, self.trial.t);
        self.events.grazed.fill(0.0);
        let mut grazes = 0;
        while let Some(predicted) = self.first_crossing(p, s) {
            let accuracy = self.location_accuracy(p, s, predicted.root);
            let after = predicted.interval[1] * full.0;
            let mut bracket = Bracket {
                before: predicted.interval[0] * full.0,
                after,
                full: full.0,
                end: after,
                seen: !predicted.pair,
            };
            let crossing = (predicted, accuracy);
            match self.approach(p, s, crossing, repeated, &mut bracket, stats)? {
                Approach::OnCrossing => {}
                Approach::Inaccurate(h) => return Ok(Location::Inaccurate(h)),
                Approach::NotSmooth => {
                    // φ is not smooth: take the shortest step known to end behind the crossing. A pair of crossings that was
                    // never seen is none: the solution only grazes φ = 0, and the full step stands.
                    let h = bracket.end.max(accuracy.resolution);
                    let stands = bracket.seen && h < full.0 && {
                        let error = self.repeat_step(p, s, (h, s.t + h), stats);
                        error.is_ok_and(|error| self.may_stand(p, s, repeated, error))
                    };
                    if !stands {
                        self.repeat_full_step(p, s, full, stats)?;
                    }
                    self.evaluate_end(p);
                    if !bracket.seen {
                        self.events.grazed[predicted.event] = predicted.interval[1];
                        grazes += 1;
                        match repeated {
                            _ if grazes < MOST_GRAZES => continue,
                            Repeated::Tested => return Ok(Location::Inaccurate(full.0)),
                            // No shorter step is better, and no trial has ended behind a crossing.
                            Repeated::Untested => return Ok(Location::Found(None)),
                        }
                    }
                }
            }
            let event = self.mark_occurring(p, s, predicted.event, accuracy.motion);
            return Ok(Location::Found(Some(event)));
        }
        Ok(Location::Found(None))
    }

    /// Repeats the step that was accepted.
    fn repeat_full_step(
        &mut self,
        p: &Problem,
        s: &State,
        full: (f64, f64),
        stats: &mut Statistics,
    ) -> Result<()> {
        match self.repeat_step(p, s, full, stats) {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.error(p.system, s.t, full.0)),
        }
    }

    /// First crossing on the dense output of the trial.
    fn first_crossing(&mut self, p: &Problem, s: &State) -> Option<PredictedCrossing> {
        let Self {
            work,
            trial,
            events,
            ..
        } = self;
        events.update_crossings(p);
        let EventDetector {
            phi,
            rate,
            search,
            crossings,
            grazed,
            ..
        } = events;
        let ends = [(&*phi[0], &*rate[0]), (&*phi[1], &*rate[1])];
        search.first(work, p, (s, trial), ends, crossings, grazed)
    }

    /// Shortens the trial until its rotations are below a quarter turn, for which its polynomial is good.
    fn limit_rotation(&mut self, p: &Problem, s: &State, stats: &mut Statistics) -> Result<()> {
        self.events.step_limit = f64::INFINITY;
        while self.work.character.rotations
            && (self.events.search).rotates_too_far(p, (s, &self.trial))
        {
            let full = (self.trial.h, self.trial.t);
            let h = 0.5 * full.0;
            let half = self.repeat_step(p, s, (h, s.t + h), stats);
            let stands = half.is_ok_and(|error| self.may_stand(p, s, Repeated::Tested, error));
            if !stands && !self.retry_shorter(p, s, h, stats)? {
                return self.repeat_full_step(p, s, full, stats);
            }
            self.events.step_limit = self.trial.h;
        }
        Ok(())
    }

    /// Marks the event, and every other one whose φ has crossed zero by the end of the trial. It chatters if the motion since
    /// the start took no more than the time `motion`.
    fn mark_occurring(
        &mut self,
        p: &Problem,
        s: &State,
        event: usize,
        motion: f64,
    ) -> LocatedEvent {
        let events = &mut self.events;
        let fastest = events.rate[1][event].abs();
        for i in 0..self.work.size.ne {
            let crossing = p.system.crossing(p.modes, i);
            let [x0, x1] = events.end_values(p, i, s.event_memory[i]);
            // A hop starts at zero towards the side given by its rate: contacts that hop together land together. Contacts
            // that stay where the impact was do not hop.
            let start_rate = events.rate[0][i];
            let hops = s.event_memory[i] == EventMemory::Impact
                && x0 == 0.0
                && start_rate.abs() > HOP_SPEED * fastest;
            let from = EventSide::of(if hops { start_rate } else { x0 });
            events.occurring[i] = i == event
                || crosses(crossing, from, EventSide::of(x1))
                || (x1 == 0.0
                    && crosses(
                        crossing,
                        EventSide::of(x0),
                        EventSide::of(events.rate[1][i]),
                    ));
        }
        LocatedEvent {
            chatters: self.trial.h <= motion,
        }
    }

    /// Evaluates φ at the end of the trial.
    pub(super) fn evaluate_end(&mut self, p: &Problem) {
        let Self {
            work,
            trial: y,
            events,
            ..
        } = self;
        let cx = work.inputs.at(p, y.t);
        let at = MotionPoint {
            q: &y.q,
            v: &y.v,
            a: &y.acc,
            lambda: &y.lambda,
        };
        p.system
            .event_functions(&cx, &at, &mut events.phi[1], &mut events.rate[1]);
    }
}
