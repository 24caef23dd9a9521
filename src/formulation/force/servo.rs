//! Servo: an actuator in a joint coordinate c whose force follows from a control u, the coordinate and its rate, as actuators of robots
//! are described:
//!
//! ```text
//!   U = gain min(max(u, u_lower), u_upper) + b₀ + b₁ c + b₂ ċ
//!   E = min(max(U, lower), upper)     force or torque, positive increases c;   F = −E,   supplied = E ċ
//! ```
//!
//! Whether the control and the force are at a limit are two modes; in each the law is smooth, and it is continuous where they change.

use super::pid::Saturation;
use super::{EventCounts, ScalarForce, ScalarLaw};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{Crossing, EvaluationContext, Power};

/// An actuator with gain, bias and limits.
#[derive(Clone, Copy, Debug)]
pub struct Servo {
    /// u
    pub control: DrivenValue,
    /// N or N m for a unit of u.
    pub gain: DrivenValue,
    /// b₀, b₁, b₂
    pub bias: [DrivenValue; 3],
    /// u_lower, u_upper
    pub control_limits: Option<[f64; 2]>,
    /// Lower and upper limit of the force.
    pub limits: Option<[DrivenValue; 2]>,
}

/// Modes: first that of the control, then that of the force. Each has its place whether there are limits or not, so that the event
/// functions 2 k and 2 k + 1 belong to mode k.
const MODES: usize = 2;

impl Servo {
    /// Limits of the control and of the force.
    fn all_limits(&self, cx: &EvaluationContext) -> [Option<[f64; 2]>; MODES] {
        let of_force = self.limits.map(|limits| limits.map(|limit| limit.get(cx)));
        [self.control_limits, of_force]
    }

    /// The limit of a mode, if the value is there.
    fn limit(&self, cx: &EvaluationContext, k: usize) -> Option<f64> {
        let [lower, upper] = self.all_limits(cx)[k]?;
        match Saturation::of(cx.modes.get(k..).unwrap_or_default()) {
            Saturation::Lower => Some(lower),
            Saturation::None => None,
            Saturation::Upper => Some(upper),
        }
    }

    /// U
    fn unlimited(&self, cx: &EvaluationContext, c: f64, c_dot: f64) -> f64 {
        let control = self.limit(cx, 0).unwrap_or_else(|| self.control.get(cx));
        let [b0, b1, b2] = self.bias.map(|bias| bias.get(cx));
        self.gain.get(cx) * control + b0 + b1 * c + b2 * c_dot
    }

    /// U̇
    fn unlimited_rate(&self, cx: &EvaluationContext, [_, c_dot, c_ddot]: [f64; 3]) -> f64 {
        let control_rate = match self.limit(cx, 0) {
            Some(_) => 0.0,
            None => self.control.rate(cx),
        };
        let [_, b1, b2] = self.bias.map(|bias| bias.get(cx));
        self.gain.get(cx) * control_rate + b1 * c_dot + b2 * c_ddot
    }
}

impl ScalarLaw for Servo {
    fn force(&self, cx: &EvaluationContext, length: f64, rate: f64) -> ScalarForce {
        if let Some(limit) = self.limit(cx, 1) {
            return ScalarForce {
                force: -limit,
                ..ScalarForce::default()
            };
        }
        ScalarForce {
            force: -self.unlimited(cx, length, rate),
            by_length: -self.bias[1].get(cx),
            by_rate: -self.bias[2].get(cx),
        }
    }

    fn reported_force(&self, force: &ScalarForce) -> f64 {
        -force.force
    }

    fn depends_on_length(&self) -> bool {
        true
    }

    fn depends_on_rate(&self) -> bool {
        true
    }

    fn supplies_energy(&self) -> bool {
        true
    }

    fn power(&self, cx: &EvaluationContext, length: f64, rate: f64) -> Power {
        Power {
            dissipated: 0.0,
            supplied: -self.force(cx, length, rate).force * rate,
        }
    }

    fn event_counts(&self) -> EventCounts {
        let limited = self.control_limits.is_some() || self.limits.is_some();
        let modes = if limited { MODES } else { 0 };
        EventCounts {
            events: 2 * modes,
            modes,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        modes.iter().all(|mode| (-1..=1).contains(mode))
    }

    fn initial_modes(&self, cx: &EvaluationContext, length: f64, rate: f64, modes: &mut [i32]) {
        if modes.is_empty() {
            return;
        }
        let [of_control, of_force] = self.all_limits(cx);
        let control = self.control.get(cx);
        let saturation = of_control.map(|limits| Saturation::beyond(control, limits));
        modes[0] = saturation.unwrap_or(Saturation::None) as i32;
        let limited = EvaluationContext {
            modes: &*modes,
            ..*cx
        };
        let output = self.unlimited(&limited, length, rate);
        let saturation = of_force.map(|limits| Saturation::beyond(output, limits));
        modes[1] = saturation.unwrap_or(Saturation::None) as i32;
    }

    /// u − u_lower, u − u_upper, U − lower, U − upper; 1 where there is no limit.
    fn event_functions(
        &self,
        cx: &EvaluationContext,
        motion: [f64; 3],
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        if phi.is_empty() {
            return;
        }
        let output = self.unlimited(cx, motion[0], motion[1]);
        let output_rate = self.unlimited_rate(cx, motion);
        let values = [
            (self.control.get(cx), self.control.rate(cx)),
            (output, output_rate),
        ];
        for (k, limits) in self.all_limits(cx).into_iter().enumerate() {
            let (value, value_rate) = values[k];
            for i in 0..2 {
                let limit = limits.map(|limits| limits[i]);
                phi[2 * k + i] = limit.map_or(1.0, |limit| value - limit);
                rate[2 * k + i] = limit.map_or(0.0, |_| value_rate);
            }
        }
        if let Some(limits) = self.limits {
            for i in 0..2 {
                rate[2 + i] -= limits[i].rate(cx);
            }
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        let has_limits = [self.control_limits.is_some(), self.limits.is_some()];
        match has_limits[i / 2] {
            true => Saturation::of(&modes[i / 2..]).crossing(i % 2 == 1),
            false => Crossing::Off,
        }
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _motion: [f64; 3],
        i: usize,
        modes: &mut [i32],
    ) {
        modes[i / 2] = Saturation::of(&modes[i / 2..]).next(i % 2 == 1) as i32;
    }
}
