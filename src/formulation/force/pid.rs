//! PID controller on a joint coordinate c: it moves the coordinate towards its set point w.
//!
//! ```text
//!   e = w − c                         control error
//!   U = P e + I + D ė                 unlimited output
//!   E = min(max(U, lower), upper)     force or torque, positive increases c;   F = −E
//!   İ = K e                           integral part within the limits
//!   İ = K e − (U − limit)/T           at a limit: back-calculation with the tracking time T against windup
//! ```
//!
//! The integral part follows from values at the start of the step and the present ones ([`IntegralMemory`]): it is exact for
//! polynomials of degree 5 and enters the force implicitly. Whether the output is at a limit is a mode; in each mode the law is
//! smooth, and İ is continuous where the mode changes. At a limit
//!
//! ```text
//!   I₁ = I₀ x + limit (1 − x) + (K − P/T) J − D/T (e₁ − e₀ x − J/T),      x = exp(−h/T),   J = ∫ exp(−(t₁ − t)/T) e dt
//! ```

use super::{EventCounts, ScalarForce, ScalarLaw};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{Crossing, EvaluationContext, IntegralMemory, Power};
use crate::linalg::elementary::exp;

/// Times the tracking time beyond which the past has no weight: exp(−40) is below rounding.
const FADED: f64 = 40.0;
/// Points and weights of Gauss's rule with five points on [0, 1].
const GAUSS: [[f64; 2]; 5] = [
    [0.046_910_077_030_668_0, 0.118_463_442_528_094_5],
    [0.230_765_344_947_158_5, 0.239_314_335_249_683_2],
    [0.5, 0.284_444_444_444_444_4],
    [0.769_234_655_052_841_5, 0.239_314_335_249_683_2],
    [0.953_089_922_969_332, 0.118_463_442_528_094_5],
];

/// A controller.
#[derive(Clone, Copy, Debug)]
pub struct PidController {
    /// w (rad or m)
    pub set_point: DrivenValue,
    /// P
    pub proportional: DrivenValue,
    /// K, force over the integral of the error.
    pub integral: DrivenValue,
    /// D
    pub derivative: DrivenValue,
    /// Lower and upper limit of the force, if there are limits.
    pub limits: Option<[DrivenValue; 2]>,
    /// T (s)
    pub tracking_time: DrivenValue,
    /// I at the start.
    pub start: f64,
}

/// The output at one of the limits. The number is the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturation {
    /// At the lower limit.
    Lower = -1,
    /// Within the limits.
    None = 0,
    /// At the upper limit.
    Upper = 1,
}

impl Saturation {
    /// The limit beyond which `value` is.
    pub fn beyond(value: f64, [lower, upper]: [f64; 2]) -> Self {
        if value > upper {
            Self::Upper
        } else if value < lower {
            Self::Lower
        } else {
            Self::None
        }
    }

    /// How `value − lower` (`upper` false) or `value − upper` crosses zero where the saturation changes.
    pub fn crossing(self, upper: bool) -> Crossing {
        match (self, upper) {
            (Self::None, false) | (Self::Upper, true) => Crossing::Falling,
            (Self::None, true) | (Self::Lower, false) => Crossing::Rising,
            _ => Crossing::Off,
        }
    }

    /// After the crossing.
    pub fn next(self, upper: bool) -> Self {
        match (self, upper) {
            (Self::None, false) => Self::Lower,
            (Self::None, true) => Self::Upper,
            _ => Self::None,
        }
    }

    /// Of the first of these modes.
    pub fn of(modes: &[i32]) -> Self {
        match modes.first() {
            Some(1) => Self::Upper,
            Some(-1) => Self::Lower,
            _ => Self::None,
        }
    }
}

/// Unlimited output at a point, and what it is made of.
struct ControllerPoint {
    /// e and ė
    error: [f64; 2],
    /// I
    integral: f64,
    /// İ
    integral_rate: f64,
    /// U
    output: f64,
    /// ∂I/∂e and ∂I/∂ė
    integral_slopes: [f64; 2],
}

impl PidController {
    /// The limit at which the output is.
    fn limit(&self, cx: &EvaluationContext) -> Option<f64> {
        let limits = self.limits.as_ref()?;
        match Saturation::of(cx.modes) {
            Saturation::Lower => Some(limits[0].get(cx)),
            Saturation::None => None,
            Saturation::Upper => Some(limits[1].get(cx)),
        }
    }

    fn memory(&self, cx: &EvaluationContext) -> IntegralMemory {
        match cx.integrals.first() {
            Some(memory) => *memory,
            None => IntegralMemory::starting(cx.t, self.start),
        }
    }

    fn point(&self, cx: &EvaluationContext, c: f64, c_dot: f64) -> ControllerPoint {
        let error = [self.set_point.get(cx) - c, self.set_point.rate(cx) - c_dot];
        let memory = self.memory(cx);
        let [p, k, d] =
            [self.proportional, self.integral, self.derivative].map(|gain| gain.get(cx));
        let limit = self.limit(cx);
        let (integral, integral_slopes) = match limit {
            None => {
                let step = memory.over_step(cx.t, error);
                (
                    memory.value + k * step.value,
                    [k * step.by_value, k * step.by_rate],
                )
            }
            Some(limit) => (self.integral_at_limit(cx, &memory, error, limit), [0.0; 2]),
        };
        let output = p * error[0] + integral + d * error[1];
        let integral_rate = match limit {
            None => k * error[0],
            Some(limit) => k * error[0] - (output - limit) / self.tracking_time.get(cx),
        };
        ControllerPoint {
            error,
            integral,
            integral_rate,
            output,
            integral_slopes,
        }
    }

    /// I₁ at a limit.
    fn integral_at_limit(
        &self,
        cx: &EvaluationContext,
        memory: &IntegralMemory,
        end: [f64; 2],
        limit: f64,
    ) -> f64 {
        let h = cx.t - memory.t;
        if h == 0.0 {
            // Where the set point jumps, e₁ is not e₀.
            return memory.value;
        }
        let tracking = self.tracking_time.get(cx);
        let [p, k, d] =
            [self.proportional, self.integral, self.derivative].map(|gain| gain.get(cx));
        let past = exp(-h / tracking);
        let weighted = weighted_integral(memory, cx.t, end, tracking);
        limit + (memory.value - limit) * past + (k - p / tracking) * weighted
            - d / tracking * (end[0] - memory.integrand[0] * past - weighted / tracking)
    }
}

/// J = ∫ exp(−(t₁ − t)/T) e dt over the step, in panels no longer than T.
fn weighted_integral(memory: &IntegralMemory, t: f64, end: [f64; 2], tracking: f64) -> f64 {
    let h = t - memory.t;
    let width = h.signum() * h.abs().min(FADED * tracking);
    let panels = (width.abs() / tracking).ceil().max(1.0);
    let panel = width / panels;
    let mut sum = 0.0;
    for i in 0..panels as usize {
        for [x, weight] in GAUSS {
            let back = panel * (i as f64 + x);
            let e = memory.integrand_at(t, end, h - back);
            sum += weight * exp(-back / tracking) * e;
        }
    }
    sum * panel
}

impl ScalarLaw for PidController {
    fn force(&self, cx: &EvaluationContext, length: f64, rate: f64) -> ScalarForce {
        if let Some(limit) = self.limit(cx) {
            return ScalarForce {
                force: -limit,
                ..ScalarForce::default()
            };
        }
        let at = self.point(cx, length, rate);
        ScalarForce {
            force: -at.output,
            by_length: self.proportional.get(cx) + at.integral_slopes[0],
            by_rate: self.derivative.get(cx) + at.integral_slopes[1],
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
        let limits = usize::from(self.limits.is_some());
        EventCounts {
            events: 2 * limits,
            modes: limits,
            integrals: 1,
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        modes.iter().all(|mode| (-1..=1).contains(mode))
    }

    fn initial_modes(&self, cx: &EvaluationContext, length: f64, rate: f64, modes: &mut [i32]) {
        let Some([lower, upper]) = self.limits else {
            return;
        };
        // At the start the integral part is that of the model in every mode.
        let output = self.point(cx, length, rate).output;
        modes[0] = Saturation::beyond(output, [lower.get(cx), upper.get(cx)]) as i32;
    }

    /// U − lower and U − upper.
    fn event_functions(
        &self,
        cx: &EvaluationContext,
        [c, c_dot, c_ddot]: [f64; 3],
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let Some(limits) = self.limits else {
            return;
        };
        let at = self.point(cx, c, c_dot);
        let error_ddot = self.set_point.second_rate(cx) - c_ddot;
        let output_rate = self.proportional.get(cx) * at.error[1]
            + at.integral_rate
            + self.derivative.get(cx) * error_ddot;
        for k in 0..2 {
            phi[k] = at.output - limits[k].get(cx);
            rate[k] = output_rate - limits[k].rate(cx);
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        Saturation::of(modes).crossing(i == 1)
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _motion: [f64; 3],
        i: usize,
        modes: &mut [i32],
    ) {
        modes[0] = Saturation::of(modes).next(i == 1) as i32;
    }

    fn integral(&self, cx: &EvaluationContext, length: f64, rate: f64) -> Option<IntegralMemory> {
        let at = self.point(cx, length, rate);
        Some(self.memory(cx).followed_by(cx.t, at.integral, at.error))
    }

    fn integral_rate(&self, cx: &EvaluationContext, length: f64, rate: f64) -> f64 {
        self.point(cx, length, rate).integral_rate
    }
}
