//! Compliant limits of a joint coordinate. Beyond a limit, with e the excess:
//!
//! ```text
//!   lower  e = lo − c,   F = −max(0, k e + d ė)        upper  e = c − hi,   F = max(0, k e + d ė)
//! ```

use super::unilateral;
use super::{EventCounts, ScalarForce, ScalarLaw};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{Crossing, EvaluationContext, Power};

/// A lower limit, an upper limit, or both.
#[derive(Clone, Copy, Debug)]
pub struct CompliantLimit {
    /// lo, hi; infinite for no limit.
    pub range: [f64; 2],
    /// k
    pub stiffness: DrivenValue,
    /// d
    pub damping: DrivenValue,
}

impl CompliantLimit {
    /// Returns e and ė at an end for c and ċ.
    fn excess(&self, end: usize, c: f64, c_dot: f64) -> (f64, f64) {
        match end {
            0 => (self.range[0] - c, -c_dot),
            _ => (c - self.range[1], c_dot),
        }
    }

    fn normal_force(&self, cx: &EvaluationContext, e: f64, e_dot: f64) -> f64 {
        self.stiffness.get(cx) * e + self.damping.get(cx) * e_dot
    }
}

impl ScalarLaw for CompliantLimit {
    fn force(&self, cx: &EvaluationContext, length: f64, rate: f64) -> ScalarForce {
        let mut force = ScalarForce::default();
        for end in 0..2 {
            if cx.modes[end] == unilateral::LOADED {
                let (e, e_dot) = self.excess(end, length, rate);
                let sign = [-1.0, 1.0][end];
                force.force += sign * self.normal_force(cx, e, e_dot);
                force.by_length += self.stiffness.get(cx);
                force.by_rate += self.damping.get(cx);
            }
        }
        force
    }

    /// The force on the coordinate.
    fn reported_force(&self, force: &ScalarForce) -> f64 {
        -force.force
    }

    fn depends_on_length(&self) -> bool {
        true
    }

    fn depends_on_rate(&self) -> bool {
        !self.damping.always_zero()
    }

    fn potential(&self, cx: &EvaluationContext, length: f64) -> f64 {
        let stored = |end: usize| match cx.modes[end] {
            unilateral::SEPARATED => 0.0,
            _ => 0.5 * self.stiffness.get(cx) * self.excess(end, length, 0.0).0.powi(2),
        };
        stored(0) + stored(1)
    }

    fn power(&self, cx: &EvaluationContext, length: f64, rate: f64) -> Power {
        let mut power = Power::default();
        for end in 0..2 {
            let (e, e_dot) = self.excess(end, length, rate);
            power.dissipated += match cx.modes[end] {
                unilateral::LOADED => self.damping.get(cx) * e_dot * e_dot,
                unilateral::RELAXING => -self.stiffness.get(cx) * e * e_dot,
                _ => 0.0,
            };
        }
        power
    }

    fn event_counts(&self) -> EventCounts {
        EventCounts {
            events: 2 * unilateral::EVENTS,
            modes: 2,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        modes.iter().all(|mode| unilateral::mode_exists(*mode))
    }

    fn initial_modes(&self, cx: &EvaluationContext, length: f64, rate: f64, modes: &mut [i32]) {
        for end in 0..2 {
            let (e, e_dot) = self.excess(end, length, rate);
            modes[end] = unilateral::initial_mode(e, self.normal_force(cx, e, e_dot));
        }
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        [c, c_dot, c_ddot]: [f64; 3],
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        for end in 0..2 {
            let (e, e_dot) = self.excess(end, c, c_dot);
            let (_, e_ddot) = self.excess(end, c, c_ddot);
            if !self.range[end].is_finite() {
                // No limit: no event.
                phi[2 * end..2 * end + 2].fill(-1.0);
                rate[2 * end..2 * end + 2].fill(0.0);
                continue;
            }
            phi[2 * end] = e;
            rate[2 * end] = e_dot;
            phi[2 * end + 1] = self.normal_force(cx, e, e_dot);
            rate[2 * end + 1] = self.normal_force(cx, e_dot, e_ddot);
        }
    }

    fn event_curvature(&self, acceleration: f64, bound: &mut [f64]) {
        for end in bound.chunks_mut(unilateral::EVENTS) {
            end.fill(f64::NAN);
            end[0] = acceleration;
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        unilateral::crossing(modes[i / 2], i % 2)
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        [c, c_dot, _]: [f64; 3],
        i: usize,
        modes: &mut [i32],
    ) {
        let (e, _) = self.excess(i / 2, c, c_dot);
        modes[i / 2] = unilateral::mode_after(modes[i / 2], i % 2, e);
    }
}
