//! The time scales of a motion: its frequency, the time by which velocity errors are weighed, and the longest step at which the
//! corrector contracts.
//!
//! An error of a velocity displaces the bodies for as long as the motion keeps its course. Weighed with the step size, it would
//! be allowed to grow without bound as steps get shorter; weighed with the present 1/ω, every passage of a stiff element would
//! lower the standard for the slow motion that goes on behind it.

use super::state::State;
use super::trial::Trial;
use super::workspace::{Problem, Workspace};
use crate::linalg::elementary::{cbrt, exp, hypot, powf};

/// Contraction that the next step is allowed.
const KEPT_CONTRACTION: f64 = 0.12;
/// A system is stiff if its error would allow steps this many times as long as its contraction.
const STIFF_RATIO: f64 = 8.0;
/// Contraction below which nothing is said about stiffness.
const FAST_CONTRACTION: f64 = 0.02;
/// Smallest ratio of the next step to this one for the sake of its contraction.
const LARGEST_REDUCTION: f64 = 0.5;

impl Workspace {
    /// Frequency ω of the motion from its derivatives ‖v‖, ‖q̈‖, ‖j‖ and ‖j'‖ at the end of the step, and the step size of an
    /// oscillation of this frequency and amplitude:
    /// ```text
    ///   ω⁴ (‖q̈‖² + ω² ‖v‖²) = ‖j'‖² + ω² ‖j‖²,   A² = ‖v‖²/ω² + ‖q̈‖²/ω⁴,   Cq (h ω)³ A = tolerance
    /// ```
    /// Both are exact for an oscillation, at any phase. ω is at most 1/h.
    pub fn frequency_and_step(&mut self, p: &Problem, s: &State, y: &Trial) -> (f64, f64) {
        let cx = self.inputs.at(p, y.t);
        let snap = &mut self.evaluation.acc;
        for i in 0..snap.len() {
            snap[i] = (y.jerk[i] - s.jerk[i]) / y.h;
        }
        let square = |x: &[f64]| p.system.norm(&cx, &y.q, &s.scale, x).powi(2);
        let (v, a, j, k) = (
            square(&y.v),
            square(&y.acc),
            square(&y.jerk),
            square(&self.evaluation.acc),
        );
        let Some(high) = squared_frequency(y.h, [v, a, j, k]) else {
            return (1.0 / y.h, y.h);
        };
        let omega = high.sqrt();
        let amplitude = (v / high + a / (high * high)).sqrt();
        (
            omega,
            cbrt(self.settings.tolerance / (self.method.cq * amplitude)) / omega,
        )
    }

    /// The time by which velocity errors are weighed: an error of velocity displaces the bodies for as long as the motion keeps
    /// its course, T.
    /// ```text
    ///   T₁ = 1/ω                                  where the motion changes more slowly than of late
    ///   T₁ = 1/ω + (T₀ − 1/ω) exp(−h/T₀)          where it changes faster for a moment (an impact, a stiff element)
    ///   T₁ ≤ 1/‖v‖                                the time in which the motion crosses a body
    /// ```
    pub fn set_motion_time(&mut self, p: &Problem, s: &State, y: &mut Trial, omega: f64) {
        let (now, before) = (1.0 / omega, s.motion_time);
        let fading = if before > now {
            now + (before - now) * exp(-y.h / before)
        } else {
            now
        };
        let cx = self.inputs.at(p, y.t);
        let norm = |x: &[f64]| p.system.norm(&cx, &y.q, &s.scale, x);
        let speed = norm(&y.v).max(norm(&s.v));
        y.motion_time = if speed * fading > 1.0 {
            (1.0 / speed).max(now)
        } else {
            fading
        };
    }

    /// Weight of velocity errors (s): the motion time, near a singular position that of the step alone.
    pub fn velocity_weight(&self, s: &State, y: &mut Trial, omega: f64) -> f64 {
        if self.size.nc > 0 && y.amplifies_rounding(s) {
            y.motion_time = s.motion_time;
            1.0 / omega
        } else {
            y.motion_time
        }
    }

    /// The same for a step without corrector, from the derivatives that HHT has.
    pub fn note_uncorrected_motion_time(&mut self, p: &Problem, s: &State, y: &mut Trial) {
        let cx = self.inputs.at(p, y.t);
        let square = |x: &[f64]| p.system.norm(&cx, &y.q, &s.scale, x).powi(2);
        let squares = [
            square(&y.v),
            square(&y.acc),
            square(&y.delta),
            square(&y.delta_dot),
        ];
        let x = squared_frequency(y.h, squares).unwrap_or(1.0 / (y.h * y.h));
        self.set_motion_time(p, s, y, x.sqrt());
    }

    /// Error of HHT in a step of size `h` as the jerks at the start and a step before predict it: cq h³ j in position and cv h³ j' in
    /// velocity, in a motion time.
    pub fn predicted_hht_error(&mut self, p: &Problem, s: &State, h: f64) -> f64 {
        let cx = self.inputs.at(p, s.t);
        let snap = &mut self.evaluation.acc;
        for i in 0..snap.len() {
            snap[i] = (s.jerk[i] - s.previous_jerk[i]) / s.h;
        }
        let [position, velocity] = [(self.method.cq, &s.jerk), (self.method.cv, snap)]
            .map(|(c, x)| c * h * h * h * p.system.norm(&cx, &s.q, &s.scale, x));
        hypot(position, s.motion_time * velocity)
    }

    /// Limits the next step of the smooth path to one whose passes contract, and notes if HHT would take a far longer one. That
    /// would be one of HHT alone, whose error is that of the uncorrected formula,
    /// cq h³ j in position and cv h³ j' in velocity.
    pub fn limit_smooth_growth(&mut self, p: &Problem, s: &State, y: &mut Trial, contraction: f64) {
        let longest = (KEPT_CONTRACTION / contraction.max(f64::EPSILON)).sqrt();
        if contraction > FAST_CONTRACTION {
            let h3 = y.h * y.h * y.h;
            let cx = self.inputs.at(p, y.t);
            let snap = &mut self.evaluation.acc;
            for i in 0..snap.len() {
                snap[i] = (y.jerk[i] - s.jerk[i]) / y.h;
            }
            let [position, velocity] = [(self.method.cq, &y.jerk), (self.method.cv, snap)]
                .map(|(c, x)| c * h3 * p.system.norm(&cx, &y.q, &s.scale, x));
            let error = self.uncorrected_error(y, position, velocity);
            // Both errors in a motion time grow with h².
            let wanted = 1.0 / self.over_tolerance(error, y.h).sqrt();
            y.stiffness_limits = wanted > longest;
        }
        y.growth = y.growth.min(longest.max(LARGEST_REDUCTION));
    }

    /// Limits the next step to one whose passes contract, and notes if the error would allow a far longer one.
    pub fn limit_by_contraction(&self, y: &mut Trial, error: f64, contraction: f64) {
        let longest = (KEPT_CONTRACTION / contraction.max(1e-12)).sqrt();
        let wanted = 0.8 * powf(self.over_tolerance(error, y.h), -1.0 / 3.0);
        y.stiffness_limits = contraction > FAST_CONTRACTION && wanted > STIFF_RATIO * longest;
        y.growth = y.growth.min(longest.max(LARGEST_REDUCTION));
    }
}

/// ω² of a motion with the squared norms of velocity, acceleration, jerk and its derivative; None if ω is above 1/h.
fn squared_frequency(h: f64, [v, a, j, k]: [f64; 4]) -> Option<f64> {
    // x = ω²: the left side grows faster than the right one, so bisection on a logarithmic scale finds the root.
    let (mut low, mut high) = (1e-12 / (h * h), 1.0 / (h * h));
    if !(high * high * (a + high * v) > k + high * j) {
        return None;
    }
    for _ in 0..20 {
        let x = (low * high).sqrt();
        if x * x * (a + x * v) < k + x * j {
            low = x;
        } else {
            high = x;
        }
    }
    Some(high)
}
