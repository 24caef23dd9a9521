//! Events: zero crossings of the event functions φ inside a step, hit exactly, fired, and the motion restarted.
//!
//! ```text
//!   find     cubic of (φ, h φ') at both ends of an accepted step; earliest root in (0, 1] that crosses the right way
//!   hit      repeat the step with h* = root h, then h* −= φ/φ' until the motion in that time is below the tolerance
//!   blow     A [w; L] = [n; 0],   P = −(1 + e) n·v / (n·w),   v += P w
//! ```
//!
//! The cubic also finds the two crossings of a step that begins and ends on the same side.

use super::core::{Core, Problem};
use super::state::{State, Statistics};
use super::{Integrator, Refusal};
use crate::error::{Error, Result};
use crate::formulation::{Crossing, Fault, Motion, Reaction, Size};

/// Repetitions of a step to hit an event.
const REPEATS: usize = 12;
/// An event is hit when the motion left is below this part of the tolerance: the corrector deserves better.
const HIT: f64 = 1e-3;
const HIT_CORRECTED: f64 = 1e-6;
/// Roots this close to the start of the step belong to the event just handled.
const JUST_HANDLED: f64 = 1e-9;
/// Part of the step within which it is still where it was hit.
const ON_THE_EVENT: f64 = 1e-3;
/// Pivot of the scaled constraints below which rows may depend on each other: those that do have 1e-10, the regularisation.
const DEPENDENT: f64 = 1e-8;
/// Event substeps in a row after which a bounce is held.
const HOLD_AFTER: u32 = 50;
/// ... and after which the run is given up.
const GIVE_UP_AFTER: u32 = 1000;

/// Event functions at both ends of a step.
pub(super) struct Watch {
    phi: [Vec<f64>; 2],
    rate: [Vec<f64>; 2],
    modes: Vec<i32>,
    n: Vec<f64>,
    w: Vec<f64>,
    l: Vec<f64>,
}

/// The event that cuts a step: its index and the tolerance of the hit (s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    pub event: usize,
    pub within: f64,
}

/// A crossing inside a step.
struct Found {
    event: usize,
    /// Fraction of the step.
    at: f64,
    rising: bool,
    /// The step begins and ends on the same side: there are two.
    pair: bool,
}

impl Watch {
    pub fn new(size: &Size) -> Self {
        let two = |n: usize| [vec![0.0; n], vec![0.0; n]];
        Self {
            phi: two(size.ne),
            rate: two(size.ne),
            modes: vec![0; size.modes],
            n: vec![0.0; if size.ne > 0 { size.nv } else { 0 }],
            w: vec![0.0; if size.ne > 0 { size.nv } else { 0 }],
            l: vec![0.0; if size.ne > 0 { size.nc } else { 0 }],
        }
    }

    /// φ at the start of a step.
    pub fn look_from(&mut self, core: &mut Core, p: &Problem, s: &State) {
        let cx = core.inputs.at(p, s.t);
        let at = Motion {
            q: &s.q,
            v: &s.v,
            a: &s.acc,
            lambda: &s.lambda,
        };
        p.system
            .events(&cx, &at, &mut self.phi[0], &mut self.rate[0]);
    }

    /// Earliest crossing of a step of size h.
    fn earliest(&self, p: &Problem, h: f64, just_handled: i32) -> Option<Found> {
        let mut found: Option<Found> = None;
        for i in 0..self.phi[0].len() {
            let crossing = p.system.crossing(p.modes, i);
            let [mut x0, x1] = [self.phi[0][i], self.phi[1][i]];
            let slope = |rate: f64| if rate.is_nan() { x1 - x0 } else { h * rate };
            let d = [slope(self.rate[0][i]), slope(self.rate[1][i])];
            let skip = if just_handled == i as i32 {
                let off = (x0 / d[0]).abs();
                if off < ON_THE_EVENT {
                    // It was hit but for its tolerance: on which side is chance.
                    x0 = 0.0;
                }
                JUST_HANDLED.max(2.0 * off.min(0.25))
            } else {
                0.0
            };
            let Some((at, rising)) = first_crossing(x0, d[0], x1, d[1], crossing, skip) else {
                continue;
            };
            if found.as_ref().is_none_or(|first| at < first.at) {
                found = Some(Found {
                    event: i,
                    at,
                    rising,
                    pair: (x0 > 0.0) == (x1 > 0.0),
                });
            }
        }
        found
    }
}

/// First root in (skip, 1] of the cubic with values x and slopes d that crosses the right way; and whether it rises there.
fn first_crossing(
    x0: f64,
    d0: f64,
    x1: f64,
    d1: f64,
    crossing: Crossing,
    skip: f64,
) -> Option<(f64, bool)> {
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
        if hi > skip {
            return Some((hi, rising));
        }
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
    /// Looks for an event in the accepted trial; if there is one the trial is repeated to end on it.
    pub(super) fn hit_event(
        &mut self,
        p: &Problem,
        s: &State,
        stats: &mut Statistics,
    ) -> Result<Option<Hit>> {
        self.look_to(p);
        let (full_t, full_h) = (self.trial.t, self.trial.h);
        let Some(Found {
            event,
            at: root,
            rising,
            pair,
        }) = self.events.earliest(p, full_h, s.event_at_t)
        else {
            return Ok(None);
        };
        let corrected = self.trial.corrected;
        let speed = {
            let cx = self.core.inputs.at(p, s.t);
            let [_, v1] = [&s.v, &self.trial.v];
            p.system
                .norm(&cx, &s.q, &s.scale, v1)
                .max(p.system.norm(&cx, &s.q, &s.scale, &s.v))
        };
        let part = if corrected { HIT_CORRECTED } else { HIT };
        let resolution = 4.0 * f64::EPSILON * s.t.abs().max(full_h);
        let within = if speed > 0.0 {
            (part * self.core.settings.tolerance / speed).max(resolution)
        } else {
            full_h
        };
        let (mut lo, mut hi) = (0.0, full_h);
        let mut h = root * full_h;
        for _ in 0..REPEATS {
            stats.event_repeats += 1;
            if let Err(refusal) =
                self.attempt(p, s, h, if h == full_h { full_t } else { s.t + h }, stats)
            {
                if matches!(refusal, Refusal::Fault(Fault::Stop(_))) {
                    return Err(refusal.error(p.system, s.t, h));
                }
                // Not from here: closer to the start.
                hi = h;
                h = 0.5 * (lo + hi);
                continue;
            }
            self.look_to(p);
            let (phi, mut rate) = (self.events.phi[1][event], self.events.rate[1][event]);
            let start = self.events.phi[0][event];
            if rate.is_nan() {
                rate = (phi - start) / h;
            }
            if (phi / rate).abs() <= within {
                return Ok(Some(Hit { event, within }));
            }
            // Before the crossing or behind it? The start may be on either side: two crossings, or an event just handled.
            if (phi < 0.0) == rising {
                lo = h
            } else {
                hi = h
            }
            let newton = h - phi / rate;
            if pair && !(newton > 0.0 && newton <= full_h) {
                // The solution only grazes: take the full step.
                self.attempt(p, s, full_h, full_t, stats)
                    .map_err(|r| r.error(p.system, s.t, full_h))?;
                return Ok(None);
            }
            h = if newton > lo && newton < hi {
                newton
            } else {
                0.5 * (lo + hi)
            };
        }
        // Twelve repeats leave h within rounding of the crossing for every smooth φ; what is left is not smooth.
        self.attempt(
            p,
            s,
            hi.max(resolution),
            if hi == full_h { full_t } else { s.t + hi },
            stats,
        )
        .map_err(|r| r.error(p.system, s.t, hi))?;
        self.look_to(p);
        Ok(Some(Hit { event, within }))
    }

    /// φ at the end of the trial.
    fn look_to(&mut self, p: &Problem) {
        let Self {
            core,
            trial: y,
            events,
            ..
        } = self;
        let cx = core.inputs.at(p, y.t);
        let at = Motion {
            q: &y.q,
            v: &y.v,
            a: &y.acc,
            lambda: &y.lambda,
        };
        p.system
            .events(&cx, &at, &mut events.phi[1], &mut events.rate[1]);
    }

    /// Fires the event at the state, and every other one that is crossed there, then restarts the motion.
    pub(super) fn fire(
        &mut self,
        p: &Problem,
        s: &mut State,
        hit: Hit,
        stats: &mut Statistics,
    ) -> Result<()> {
        let refused = |r: Refusal, t: f64| r.error(p.system, t, 0.0);
        s.event_at_t = hit.event as i32;
        for i in 0..self.core.size.ne {
            let simultaneous = i != hit.event && {
                let (x0, x1, rate) = (
                    self.events.phi[0][i],
                    self.events.phi[1][i],
                    self.events.rate[1][i],
                );
                let counts = match p.system.crossing(&s.modes, i) {
                    Crossing::Rising => x0 < 0.0 && rate > 0.0,
                    Crossing::Falling => x0 > 0.0 && rate < 0.0,
                    Crossing::Either => x0 != 0.0 && x0 * rate < 0.0,
                    Crossing::Off => false,
                };
                counts && ((x1 / rate).abs() <= 2.0 * hit.within || (x0 > 0.0) != (x1 > 0.0))
            };
            if i == hit.event || simultaneous {
                self.fire_one(p, s, i, stats)?;
            }
        }
        if s.event_streak > GIVE_UP_AFTER {
            return Err(Error::Chattering {
                time: s.t,
                culprit: p.system.event_name(hit.event),
            });
        }
        // The motion goes on from the other side.
        let Self { core, events, .. } = self;
        events.modes.copy_from_slice(&s.modes);
        let p = Problem {
            modes: &events.modes,
            ..*p
        };
        core.select(p.system, s);
        core.kept.drop_all();
        let pivots = core
            .factorise_mass(&p, s.t, &s.q, &s.v)
            .map_err(|r| refused(r, s.t))?;
        // Other rows may hold now: one of them may follow from the rest, or one that did may not any more.
        if pivots.smallest_constraint < DEPENDENT || s.dropped.contains(&true) {
            core.rank_again(&p, s).map_err(|r| refused(r, s.t))?;
            core.factorise_mass(&p, s.t, &s.q, &s.v)
                .map_err(|r| refused(r, s.t))?;
        }
        let State {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *s;
        core.accelerations(&p, *t, q, v, acc, lambda, stats)
            .map_err(|r| refused(r, *t))?;
        core.restart(&p, s, stats).map_err(|r| refused(r, s.t))
    }

    fn fire_one(
        &mut self,
        p: &Problem,
        s: &mut State,
        i: usize,
        stats: &mut Statistics,
    ) -> Result<()> {
        stats.events += 1;
        let Self { core, events, .. } = self;
        let reaction = {
            let cx = core.inputs.at(p, s.t);
            let at = Motion {
                q: &s.q,
                v: &s.v,
                a: &s.acc,
                lambda: &s.lambda,
            };
            p.system.fire(&cx, &at, i, &mut s.modes, &mut events.n)
        };
        let Reaction::Impulse {
            restitution,
            slowest,
        } = reaction
        else {
            if s.event_streak == HOLD_AFTER {
                p.system.hold(i, &mut s.modes);
            }
            return Ok(());
        };
        core.factorise_mass(p, s.t, &s.q, &s.v)
            .map_err(|r| r.error(p.system, s.t, 0.0))?;
        let Watch { n, w, l, .. } = events;
        w.copy_from_slice(n);
        l.fill(0.0);
        core.mass.solve_exact(&core.st, 1e-13, w, l, &mut core.work);
        let approach = dot(n, &s.v);
        let mobility = dot(n, w);
        if !(mobility > 0.0) {
            // Nothing that can give way: the constraints hold this direction already.
            return Ok(());
        }
        let held = approach.abs() < slowest || s.event_streak >= HOLD_AFTER;
        let blow = -(1.0 + if held { 0.0 } else { restitution }) * approach / mobility;
        // What the blow takes out of the motion is dissipated: ½ mobility blow² + approach blow, negative of the gain.
        s.dissipated -= blow * (approach + 0.5 * mobility * blow);
        for k in 0..w.len() {
            s.v[k] += blow * w[k];
        }
        if held {
            p.system.hold(i, &mut s.modes);
        }
        Ok(())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cubic_finds_both_crossings_of_a_step_that_ends_on_the_same_side() {
        // (s − 0.3)(s − 0.6) on [0, 1]
        let (x0, d0, x1, d1) = (0.18, -0.9, 0.28, 1.1);
        let falling = first_crossing(x0, d0, x1, d1, Crossing::Falling, 0.0).unwrap();
        let rising = first_crossing(x0, d0, x1, d1, Crossing::Rising, 0.0).unwrap();
        assert!(
            (falling.0 - 0.3).abs() < 1e-14 && (rising.0 - 0.6).abs() < 1e-14,
            "{falling:?} {rising:?}"
        );
        assert!(!falling.1 && rising.1);
        assert_eq!(first_crossing(x0, d0, x1, d1, Crossing::Off, 0.0), None);
        assert!(
            (first_crossing(x0, d0, x1, d1, Crossing::Either, 0.4)
                .unwrap()
                .0
                - 0.6)
                .abs()
                < 1e-14
        );
    }

    #[test]
    fn a_step_without_crossing_has_no_root() {
        assert_eq!(
            first_crossing(1.0, 0.0, 2.0, 1.0, Crossing::Either, 0.0),
            None
        );
        assert_eq!(
            first_crossing(-1.0, 2.0, 1.0, 2.0, Crossing::Falling, 0.0),
            None
        );
    }

    #[test]
    fn a_root_at_the_end_of_the_step_counts() {
        assert_eq!(
            first_crossing(-1.0, 1.0, 0.0, 1.0, Crossing::Rising, 0.0),
            Some((1.0, true))
        );
    }
}
