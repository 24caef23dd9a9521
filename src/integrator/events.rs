//! Events: zero crossings of the event functions φ inside a step, hit exactly, fired, and the motion restarted.
//!
//! ```text
//!   find     cubic of (φ, h φ') at both ends of an accepted step; earliest root in (0, 1] that crosses the right way
//!   hit      repeat the step with h* = root h, then h* −= φ/φ' until the motion in that time is below the tolerance
//!   fire     modes change, contacts are struck (`blows`)
//! ```
//!
//! The cubic also finds the two crossings of a step that begins and ends on the same side. A hit lies on the far side of
//! φ = 0 or on it, never before it: so the motion that goes on crosses again only if it really turns back, and a system
//! that is thrown to and fro between two modes is seen to chatter instead of being lost.
//!
//! Three kinds of events fire without a step: φ has changed its side by a jump of the inputs; φ is at the start zero or on its
//! far side and does not return; an event begins to be watched in a new mode when φ is there and does not return.

use super::controller::NEWTON_RATIO;
use super::singularity::StepEnd;
use super::state::{State, Statistics};
use super::tolerances::CONSISTENT_VELOCITY;
use super::workspace::{Problem, Workspace};
use super::{Integrator, StepFailure};
use crate::error::{Error, Result};
use crate::formulation::system::{Crossing, Dimensions, EvaluationFailure, MotionPoint};

/// Repetitions of a step to hit an event.
const REPEATS: usize = 12;
/// Repetitions after which two crossings in one step, of which nothing has been seen, are taken for a graze.
const GRAZE: usize = 6;
/// An event is hit when the motion left is below this part of the tolerance: the corrector deserves better ...
const HIT: f64 = 1e-3;
const HIT_CORRECTED: f64 = 1e-6;
/// ... and the time left below this part of the step: the hops of a ball that comes to rest are resolved like the first.
const SHARP: f64 = 1e-6;
/// How far beyond the crossing a hit is aimed, as part of what is allowed.
const LEAD: f64 = 0.125;
/// Events in a row without time going on after which a bounce is held ...
pub(super) const HOLD_AFTER: u32 = 50;
/// ... and after which the run is given up.
const GIVE_UP_AFTER: u32 = 1000;
/// A hop sets off with more than this part of the speed of the event it is compared with.
const HOPS: f64 = 1e-6;
/// How far to look ahead to see whether φ returns, in steps.
const AHEAD: f64 = 0.1;

/// Pivot of the scaled constraints below which rows may depend on each other: those that do have 1e-10, the regularisation.
const DEPENDENT: f64 = 1e-8;

/// `State::handled`
pub(super) const NOTHING: u8 = 0;
pub(super) const MODE: u8 = 1;
pub(super) const BLOW: u8 = 2;
/// `State::side`: fires before the next step.
const DUE: i8 = 2;

/// Event functions at both ends of a step.
pub(super) struct EventDetector {
    pub phi: [Vec<f64>; 2],
    pub rate: [Vec<f64>; 2],
    pub firing: Vec<bool>,
    modes: Vec<i32>,
}

/// The event that cuts a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LocatedEvent {
    /// The motion since the start of the step is below the accuracy of the hit.
    pub chatters: bool,
}

/// A crossing foreseen by the cubic.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PredictedCrossing {
    event: usize,
    /// Part of the step.
    root: f64,
    rising: bool,
    /// One of two in a step that begins and ends on the same side.
    pair: bool,
}

impl EventDetector {
    pub fn new(size: &Dimensions) -> Self {
        let two = |n: usize| [vec![0.0; n], vec![0.0; n]];
        Self {
            phi: two(size.ne),
            rate: two(size.ne),
            firing: vec![false; size.ne],
            modes: vec![0; size.modes],
        }
    }

    /// φ at the start of a step.
    pub fn look_from(&mut self, core: &mut Workspace, p: &Problem, s: &State) {
        let cx = core.inputs.at(p, s.t);
        let at = MotionPoint {
            q: &s.q,
            v: &s.v,
            a: &s.acc,
            lambda: &s.lambda,
        };
        p.system
            .event_functions(&cx, &at, &mut self.phi[0], &mut self.rate[0]);
    }

    /// φ a little later, by Taylor's formula.
    fn look_ahead(&mut self, core: &mut Workspace, p: &Problem, s: &State) {
        let e = AHEAD * s.next_h;
        let [w, v, a, ..] = &mut core.scratch.v;
        for i in 0..w.len() {
            let (v0, a0, j) = (s.v[i], s.acc[i], s.jerk[i]);
            w[i] = e * (v0 + e * (0.5 * a0 + e * j / 6.0));
            v[i] = v0 + e * (a0 + 0.5 * e * j);
            a[i] = a0 + e * j;
        }
        p.system.retract(&s.q, w, &mut core.scratch.q);
        let cx = core.nearby.at(p, s.t + e);
        let at = MotionPoint {
            q: &core.scratch.q,
            v,
            a,
            lambda: &s.lambda,
        };
        p.system
            .event_functions(&cx, &at, &mut self.phi[1], &mut self.rate[1]);
    }

    /// The sides on which a step without events ends. What was struck, has not got off and approaches again is due.
    pub fn note_sides(&self, p: &Problem, handled: &[u8], side: &mut [i8]) {
        for i in 0..side.len() {
            let again =
                handled[i] == BLOW && beyond(p.system.crossing(p.modes, i), self.rate[1][i]);
            side[i] = if again { DUE } else { sign(self.phi[1][i]) };
        }
    }

    /// Forgets what has been handled, except blows after which φ is still on its far side, at the start (0) or end (1) of the
    /// step: these are struck again when they approach.
    pub fn forget(&self, p: &Problem, end: usize, handled: &mut [u8]) {
        for i in 0..handled.len() {
            let kept =
                handled[i] == BLOW && beyond(p.system.crossing(p.modes, i), self.phi[end][i]);
            if !kept {
                handled[i] = NOTHING;
            }
        }
    }

    /// φ at both ends of the step. After a blow the hop ends where it began: φ is measured from there, or a hop lower than
    /// the accuracy of the hit would be lost under the floor.
    fn ends(&self, crossing: Crossing, i: usize, handled: u8) -> [f64; 2] {
        let [x0, x1] = [self.phi[0][i], self.phi[1][i]];
        if handled == BLOW && (crossing == Crossing::Either || beyond(crossing, x0)) {
            [0.0, x1 - x0]
        } else {
            [x0, x1]
        }
    }

    /// Earliest crossing of a step of size h.
    fn earliest(&self, p: &Problem, h: f64, handled: &[u8]) -> Option<PredictedCrossing> {
        let mut found: Option<PredictedCrossing> = None;
        for event in 0..self.phi[0].len() {
            let crossing = p.system.crossing(p.modes, event);
            let [x0, x1] = self.ends(crossing, event, handled[event]);
            let slope = |rate: f64| if rate.is_nan() { x1 - x0 } else { h * rate };
            let d = [slope(self.rate[0][event]), slope(self.rate[1][event])];
            let Some((root, rising)) = first_crossing(x0, d[0], x1, d[1], crossing) else {
                continue;
            };
            if found.is_none_or(|f| root < f.root) {
                let pair = sign(x0) * sign(x1) > 0;
                found = Some(PredictedCrossing {
                    event,
                    root,
                    rising,
                    pair,
                });
            }
        }
        found
    }
}

/// φ is on the side to which the crossing leads.
pub(super) fn beyond(crossing: Crossing, phi: f64) -> bool {
    match crossing {
        Crossing::Rising => phi > 0.0,
        Crossing::Falling => phi < 0.0,
        Crossing::Either | Crossing::Off => false,
    }
}

/// Going from the side of `from` to that of `to` is a crossing.
fn crosses(crossing: Crossing, from: i8, to: i8) -> bool {
    let (rising, falling) = (from < 0 && to > 0, from > 0 && to < 0);
    match crossing {
        Crossing::Rising => rising,
        Crossing::Falling => falling,
        Crossing::Either => rising || falling,
        Crossing::Off => false,
    }
}

fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

/// First root in (0, 1] of the cubic with values x and slopes d that crosses the right way, and whether it rises there.
fn first_crossing(x0: f64, d0: f64, x1: f64, d1: f64, crossing: Crossing) -> Option<(f64, bool)> {
    if crossing == Crossing::Off {
        return None;
    }
    let (c2, c3) = (3.0 * (x1 - x0) - 2.0 * d0 - d1, 2.0 * (x0 - x1) + d0 + d1);
    let value = |s: f64| x0 + s * (d0 + s * (c2 + s * c3));
    // Between the extrema the cubic is monotonic: look at each piece.
    let mut cuts = [0.0, 1.0, 1.0, 1.0];
    let mut n = 1;
    for s in quadratic_roots(3.0 * c3, 2.0 * c2, d0) {
        if s > 0.0 && s < 1.0 {
            cuts[n] = s;
            n += 1;
        }
    }
    if n == 3 && cuts[1] > cuts[2] {
        cuts.swap(1, 2);
    }
    cuts[n] = 1.0;
    for k in 0..n {
        let (mut lo, mut hi) = (cuts[k], cuts[k + 1]);
        // The ends of the step are given, not computed: no rounding there.
        let end = |s: f64| {
            if s == 0.0 {
                x0
            } else if s == 1.0 {
                x1
            } else {
                value(s)
            }
        };
        let (a, b) = (end(lo), end(hi));
        let rising = a < 0.0 && b >= 0.0;
        let falling = a > 0.0 && b <= 0.0;
        let counts = match crossing {
            Crossing::Rising => rising,
            Crossing::Falling => falling,
            Crossing::Either => rising || falling,
            Crossing::Off => false,
        };
        if !counts {
            continue;
        }
        for _ in 0..80 {
            let mid = 0.5 * (lo + hi);
            if (value(mid) < 0.0) == rising {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        return Some((hi, rising));
    }
    None
}

fn quadratic_roots(a: f64, b: f64, c: f64) -> [f64; 2] {
    let d = b * b - 4.0 * a * c;
    if d < 0.0 {
        return [f64::NAN; 2];
    }
    let q = -0.5 * (b + d.sqrt().copysign(b));
    [q / a, c / q]
}

impl Integrator {
    /// Looks for an event in the accepted trial; if there is one the trial is repeated to end on it, and what fires there
    /// is marked.
    pub(super) fn hit_event(
        &mut self,
        p: &Problem,
        s: &State,
        stats: &mut Statistics,
    ) -> Result<Option<LocatedEvent>> {
        self.look_to(p);
        let (full_t, full_h) = (self.trial.t, self.trial.h);
        let Some(foreseen) = self.events.earliest(p, full_h, &s.handled) else {
            return Ok(None);
        };
        let PredictedCrossing {
            event,
            root,
            rising,
            pair,
        } = foreseen;
        let crossing = p.system.crossing(p.modes, event);
        let speed = {
            let cx = self.work.inputs.at(p, s.t);
            let norm = |v: &[f64]| p.system.norm(&cx, &s.q, &s.scale, v);
            norm(&self.trial.v).max(norm(&s.v))
        };
        let part = if self.trial.corrected {
            HIT_CORRECTED
        } else {
            HIT
        };
        let resolution = 4.0 * f64::EPSILON * s.t.abs().max(full_h);
        let motion = if speed > 0.0 {
            part * self.work.settings.tolerance / speed
        } else {
            full_h
        };
        let within = motion.min(SHARP * root * full_h).max(resolution);
        let lead = (LEAD * within).max(0.5 * resolution);
        let end = |h: f64| if h == full_h { full_t } else { s.t + h };
        let (mut lo, mut hi) = (0.0, full_h);
        let mut seen = !pair;
        let mut h = (root * full_h + lead).min(full_h);
        for repeat in 1..=REPEATS {
            stats.event_repeats += 1;
            if let Err(refusal) = self.try_step(p, s, h, end(h), StepEnd::Fixed, stats) {
                if matches!(
                    refusal,
                    StepFailure::Evaluation(EvaluationFailure::Fatal(_))
                ) {
                    return Err(refusal.error(p.system, s.t, h));
                }
                // Not from here: closer to the start.
                hi = h;
                h = 0.5 * (lo + hi);
                continue;
            }
            self.look_to(p);
            let [x0, x] = self.events.ends(crossing, event, s.handled[event]);
            let known = self.events.rate[1][event];
            let rate = if known.is_nan() { (x - x0) / h } else { known };
            let past = if rising { x >= 0.0 } else { x <= 0.0 };
            let towards = (rate > 0.0) == rising;
            if past && (x == 0.0 || (towards && (x / rate).abs() <= within)) {
                return Ok(Some(self.mark(p, s, event, motion)));
            }
            // Of two crossings the first one lies before, the second one behind any point where φ moves back.
            let first = pair && sign(x0) == if rising { -1 } else { 1 };
            if if towards || !pair { past } else { first } {
                hi = h
            } else {
                lo = h
            }
            seen |= sign(x) != sign(x0);
            if !seen && repeat >= GRAZE {
                break;
            }
            let newton = h - x / rate + lead;
            h = if newton > lo && newton < hi {
                newton
            } else {
                0.5 * (lo + hi)
            };
        }
        // Twelve repeats leave h within rounding of the crossing for every smooth φ; what is left is not smooth. And a pair
        // of crossings that has not been seen is none: the solution only grazes, the full step stands.
        let h = if seen { hi.max(resolution) } else { full_h };
        match self.try_step(p, s, h, end(h), StepEnd::Fixed, stats) {
            Ok(_) => {
                self.look_to(p);
                Ok(seen.then(|| self.mark(p, s, event, motion)))
            }
            Err(refusal) => {
                self.retreat(p, s, h, refusal, stats)?;
                self.hit_event(p, s, stats)
            }
        }
    }

    /// A step that ends well before `h`, from where no step could be made.
    fn retreat(
        &mut self,
        p: &Problem,
        s: &State,
        mut h: f64,
        mut refusal: StepFailure,
        stats: &mut Statistics,
    ) -> Result<()> {
        loop {
            h *= NEWTON_RATIO;
            let stop = matches!(
                refusal,
                StepFailure::Evaluation(EvaluationFailure::Fatal(_))
            );
            if stop || h < self.work.control.smallest(s.t) {
                return Err(refusal.error(p.system, s.t, h));
            }
            stats.event_repeats += 1;
            match self.try_step(p, s, h, s.t + h, StepEnd::Fixed, stats) {
                Ok(_) => return Ok(()),
                Err(again) => refusal = again,
            }
        }
    }

    /// Marks the event, and every other one that has been crossed by the end of the trial.
    fn mark(&mut self, p: &Problem, s: &State, event: usize, motion: f64) -> LocatedEvent {
        let fastest = self.events.rate[1][event].abs();
        for i in 0..self.work.size.ne {
            let crossing = p.system.crossing(p.modes, i);
            let [x0, x1] = self.events.ends(crossing, i, s.handled[i]);
            // A hop begins at zero, on the side to which it sets off: contacts that hop together land together. Those that
            // only stayed where they were struck do not hop.
            let off = self.events.rate[0][i];
            let hops = s.handled[i] == BLOW && x0 == 0.0 && off.abs() > HOPS * fastest;
            let from = if hops { sign(off) } else { sign(x0) };
            self.events.firing[i] = i == event
                || crosses(crossing, from, sign(x1))
                || (x1 == 0.0 && crosses(crossing, sign(x0), sign(self.events.rate[1][i])));
        }
        LocatedEvent {
            chatters: self.trial.h <= motion,
        }
    }

    /// φ at the end of the trial.
    fn look_to(&mut self, p: &Problem) {
        let Self {
            work: core,
            trial: y,
            events,
            ..
        } = self;
        let cx = core.inputs.at(p, y.t);
        let at = MotionPoint {
            q: &y.q,
            v: &y.v,
            a: &y.acc,
            lambda: &y.lambda,
        };
        p.system
            .event_functions(&cx, &at, &mut events.phi[1], &mut events.rate[1]);
    }

    /// Fires what has to fire before the next step, and looks at φ there. True if something has fired: then the modes may
    /// have changed.
    pub(super) fn fire_due(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<bool> {
        let Self {
            work: core, events, ..
        } = self;
        if core.size.ne == 0 {
            return Ok(false);
        }
        events.look_from(core, p, s);
        let mut any = false;
        for i in 0..core.size.ne {
            let crossing = p.system.crossing(p.modes, i);
            let due = s.side[i] == DUE || crosses(crossing, s.side[i], sign(events.phi[0][i]));
            events.firing[i] = due;
            any |= due;
        }
        if any {
            self.guard(s);
            self.events.forget(p, 0, &mut s.handled);
            s.event_streak += 1;
            self.fire(p, s, stats)?;
        }
        Ok(any)
    }

    /// Notes on which side of the events the state is, and which of them are due at once: those that are zero and leave to
    /// the far side, or are there and stay, at the start or because `before` did not watch them.
    pub(super) fn look_around(&mut self, p: &Problem, s: &mut State, before: Option<&[i32]>) {
        let Self {
            work: core, events, ..
        } = self;
        events.look_from(core, p, s);
        let mut ahead = false;
        for i in 0..s.side.len() {
            let phi = events.phi[0][i];
            let crossing = p.system.crossing(p.modes, i);
            s.side[i] = sign(phi);
            let suspect = match before {
                None => phi == 0.0 || beyond(crossing, phi),
                Some(before) => {
                    p.system.crossing(before, i) == Crossing::Off
                        && (phi == 0.0 || beyond(crossing, phi))
                }
            };
            if !suspect || s.handled[i] != NOTHING {
                continue;
            }
            if !ahead {
                events.look_ahead(core, p, s);
                ahead = true;
            }
            let later = events.phi[1][i];
            let returns = beyond(crossing, phi - later);
            if beyond(crossing, later) && !returns {
                s.side[i] = DUE;
            }
        }
    }

    /// Fires the marked events at the state, then restarts the motion.
    pub(super) fn fire(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> Result<()> {
        let refused = |r: StepFailure, t: f64| r.error(p.system, t, 0.0);
        self.fire_marked(p, s, stats)?;
        if s.event_streak > GIVE_UP_AFTER {
            let culprit = self.events.firing.iter().position(|&on| on).unwrap_or(0);
            return Err(Error::Chattering {
                time: s.t,
                culprit: p.system.event_name(culprit),
            });
        }
        // The motion goes on from the other side.
        let mut modes = std::mem::take(&mut self.events.modes);
        modes.copy_from_slice(&s.modes);
        let after = Problem {
            modes: &modes,
            ..*p
        };
        let core = &mut self.work;
        // What a change of mode does to the energy stored (a road that steps below a tyre) is supplied at once.
        for (problem, sign) in [(&after, 1.0), (p, -1.0)] {
            let cx = core.inputs.at(problem, s.t);
            s.supplied += sign * p.system.energy(&cx, &s.q, &s.v).potential;
        }
        core.select(p.system, s);
        core.factor_cache.drop_all();
        let outcome = go_on(core, &after, s, stats).map_err(|r| refused(r, s.t));
        if outcome.is_ok() {
            self.look_around(&after, s, Some(p.modes));
        }
        self.events.modes = modes;
        outcome
    }
}

/// Accelerations, multipliers and jerk in the modes after an event.
fn go_on(
    core: &mut Workspace,
    p: &Problem,
    s: &mut State,
    stats: &mut Statistics,
) -> std::result::Result<(), StepFailure> {
    let pivots = core.factorise_mass(p, s.t, &s.q, &s.v)?;
    // Other rows may hold now: one of them may follow from the rest, or one that did may not any more.
    if pivots.smallest_constraint < DEPENDENT || s.redundant.contains(&true) {
        core.rank_again(p, s)?;
    }
    s.typical_pivot = pivots.smallest_constraint;
    if core.size.nc > 0 {
        // A row that begins to hold was met to the accuracy of the hit only.
        core.reassemble(p, s.t, &mut s.q, &s.v)?;
        core.factorise_mass(p, s.t, &s.q, &s.v)?;
        core.fit(p, s.t, &s.q, &mut s.v, CONSISTENT_VELOCITY);
    }
    core.accelerate_anew(p, s, stats)
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cubic_finds_both_crossings_of_a_step_that_ends_on_the_same_side() {
        // (s − 0.3)(s − 0.6) on [0, 1]
        let (x0, d0, x1, d1) = (0.18, -0.9, 0.28, 1.1);
        let (falling, _) = first_crossing(x0, d0, x1, d1, Crossing::Falling).unwrap();
        let (rising, _) = first_crossing(x0, d0, x1, d1, Crossing::Rising).unwrap();
        assert!(
            (falling - 0.3).abs() < 1e-14 && (rising - 0.6).abs() < 1e-14,
            "{falling} {rising}"
        );
        assert_eq!(first_crossing(x0, d0, x1, d1, Crossing::Off), None);
        let either = first_crossing(x0, d0, x1, d1, Crossing::Either);
        assert_eq!(either, Some((falling, false)), "the earlier one");
    }

    #[test]
    fn a_step_without_crossing_has_no_root() {
        assert_eq!(first_crossing(1.0, 0.0, 2.0, 1.0, Crossing::Either), None);
        assert_eq!(first_crossing(-1.0, 2.0, 1.0, 2.0, Crossing::Falling), None);
    }

    #[test]
    fn a_root_at_the_end_of_the_step_counts() {
        assert_eq!(
            first_crossing(-1.0, 1.0, 0.0, 1.0, Crossing::Rising),
            Some((1.0, true))
        );
    }
}
