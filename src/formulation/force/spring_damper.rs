//! Spring and damper in parallel, along the line between two points, along a direction, or along a joint coordinate. With x = c − c₀ the
//! elongation:
//!
//! ```text
//!   F = P + K(x) + D(ċ),      V = P x + ∫₀ˣ K,      dissipated = D(ċ) ċ
//! ```
//!
//! K and D are linear (k x, d ċ) or force laws. A tension-only spring is slack where P + K(x) or F would be negative, a compression-only
//! one where they would be positive; see [`unilateral`].
//!
//! Coinciding points have no direction and no force between them. A linear spring of zero unloaded length is smooth there nevertheless
//! and has its stiffness k in all directions.

use super::force_law::{ForceLaw, LawValue};
use super::unilateral;
use super::{EventCounts, ScalarForce, ScalarLaw};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{Crossing, EvaluationContext, Power};
use crate::model::{Characteristic, OneSided};

/// Force as a function of an elongation or a rate.
#[derive(Clone, Debug)]
pub enum SpringLaw {
    /// factor x
    Linear(DrivenValue),
    /// A force law.
    Law(ForceLaw),
}

impl SpringLaw {
    /// Builds the law from the model; `number` returns the value that stands for a linear factor.
    pub fn new(written: &Characteristic, number: impl Fn(f64) -> DrivenValue) -> Self {
        match written {
            Characteristic::Linear(factor) => Self::Linear(number(*factor)),
            Characteristic::Law(curve) => Self::Law(ForceLaw::new(curve)),
        }
    }

    /// Returns F, F' and ∫F at x.
    #[inline]
    pub fn evaluate(&self, cx: &EvaluationContext, modes: &[i32], x: f64) -> LawValue {
        match self {
            Self::Linear(factor) => {
                let k = factor.get(cx);
                LawValue {
                    force: k * x,
                    slope: k,
                    integral: 0.5 * k * x * x,
                }
            }
            Self::Law(law) => law.evaluate(modes, x),
        }
    }

    /// Whether the law is zero for the life of the system.
    pub fn always_zero(&self) -> bool {
        matches!(self, Self::Linear(factor) if factor.always_zero())
    }

    /// Returns the numbers of events and modes.
    pub fn event_counts(&self) -> EventCounts {
        match self {
            Self::Linear(_) => EventCounts::default(),
            Self::Law(law) => law.event_counts(),
        }
    }

    /// Whether it is a mode of the law.
    pub(super) fn mode_exists(&self, modes: &[i32]) -> bool {
        self.law().is_none_or(|law| law.mode_exists(modes))
    }

    pub(super) fn law(&self) -> Option<&ForceLaw> {
        match self {
            Self::Linear(_) => None,
            Self::Law(law) => Some(law),
        }
    }
}

/// A spring and damper.
#[derive(Clone, Debug)]
pub struct SpringDamper {
    /// K
    pub stiffness: SpringLaw,
    /// D
    pub damping: SpringLaw,
    /// c₀ (m or rad)
    pub length: DrivenValue,
    /// P (N or N m)
    pub preload: DrivenValue,
    /// Tension only or compression only.
    pub only: Option<OneSided>,
}

impl SpringDamper {
    /// Splits the modes into those of K, of D, and of the one-sided law.
    fn split_modes<'a>(&self, modes: &'a [i32]) -> (&'a [i32], &'a [i32], Option<i32>) {
        let (k, d) = (
            self.stiffness.event_counts().modes,
            self.damping.event_counts().modes,
        );
        let side = self.only.map(|_| modes[k + d]);
        (&modes[..k], &modes[k..k + d], side)
    }

    /// Returns the elastic force with its derivative and energy, and the damper force.
    fn parts(
        &self,
        cx: &EvaluationContext,
        modes: &[i32],
        length: f64,
        rate: f64,
    ) -> (LawValue, LawValue) {
        let (k, d, _) = self.split_modes(modes);
        let x = length - self.length.get(cx);
        let mut elastic = self.stiffness.evaluate(cx, k, x);
        let preload = self.preload.get(cx);
        elastic.force += preload;
        elastic.integral += preload * x;
        (elastic, self.damping.evaluate(cx, d, rate))
    }

    /// Returns −1 for compression only, else 1.
    fn sign(&self) -> f64 {
        match self.only {
            Some(OneSided::Compression) => -1.0,
            _ => 1.0,
        }
    }

    /// Whether the elastic force vanishes with the elongation.
    fn taut_by_length(&self) -> bool {
        self.preload.always_zero() && (self.stiffness.law()).is_none_or(ForceLaw::vanishes_at_zero)
    }

    /// Returns the quantity whose sign separates slack from taut, and its rate: the elongation if the elastic force vanishes with it, else
    /// that force.
    fn tautness(
        &self,
        cx: &EvaluationContext,
        elastic: &LawValue,
        length: f64,
        rate: f64,
    ) -> (f64, f64) {
        let from_zero = self.taut_by_length();
        let rate = rate - self.length.rate(cx);
        let (e, e_rate) = if from_zero {
            (length - self.length.get(cx), rate)
        } else {
            (elastic.force, elastic.slope * rate + self.preload.rate(cx))
        };
        (self.sign() * e, self.sign() * e_rate)
    }
}

impl ScalarLaw for SpringDamper {
    fn force(&self, cx: &EvaluationContext, length: f64, rate: f64) -> ScalarForce {
        let (elastic, damper) = self.parts(cx, cx.modes, length, rate);
        let (_, _, side) = self.split_modes(cx.modes);
        if side.is_some_and(|mode| mode != unilateral::LOADED) {
            return ScalarForce::default();
        }
        ScalarForce {
            force: elastic.force + damper.force,
            by_length: elastic.slope,
            by_rate: damper.slope,
        }
    }

    fn depends_on_length(&self) -> bool {
        !self.stiffness.always_zero()
    }

    fn depends_on_rate(&self) -> bool {
        !self.damping.always_zero()
    }

    fn supplies_energy(&self) -> bool {
        let driven =
            |law: &SpringLaw| matches!(law, SpringLaw::Linear(factor) if factor.is_driven());
        driven(&self.stiffness) || self.length.is_driven() || self.preload.is_driven()
    }

    fn coincident_stiffness(&self, cx: &EvaluationContext) -> f64 {
        let compression_only = self.only == Some(OneSided::Compression);
        match &self.stiffness {
            SpringLaw::Linear(k)
                if self.length.get(cx) == 0.0
                    && self.preload.get(cx) == 0.0
                    && !compression_only =>
            {
                k.get(cx)
            }
            _ => 0.0,
        }
    }

    fn potential(&self, cx: &EvaluationContext, length: f64) -> f64 {
        let (elastic, _) = self.parts(cx, cx.modes, length, 0.0);
        let (k, _, side) = self.split_modes(cx.modes);
        match side {
            None => elastic.integral,
            Some(unilateral::SEPARATED) => 0.0,
            // Relative to the point where the spring becomes taut.
            Some(_) => elastic.integral - self.slack_energy(cx, k),
        }
    }

    /// A driven stiffness, preload or unloaded length supplies energy even without motion.
    fn power(&self, cx: &EvaluationContext, length: f64, rate: f64) -> Power {
        let (elastic, damper) = self.parts(cx, cx.modes, length, rate);
        let (_, _, side) = self.split_modes(cx.modes);
        let x = length - self.length.get(cx);
        let stiffness_power = match &self.stiffness {
            SpringLaw::Linear(k) => 0.5 * k.rate(cx) * x * x,
            SpringLaw::Law(_) => 0.0,
        };
        let driven =
            stiffness_power + self.preload.rate(cx) * x - elastic.force * self.length.rate(cx);
        match side {
            Some(unilateral::SEPARATED) => Power::default(),
            // The damper dissipates the energy of the spring.
            Some(unilateral::RELAXING) => Power {
                dissipated: -elastic.force * rate,
                supplied: driven,
            },
            _ => Power {
                dissipated: damper.force * rate,
                supplied: driven,
            },
        }
    }

    fn event_counts(&self) -> EventCounts {
        let (k, d) = (self.stiffness.event_counts(), self.damping.event_counts());
        let one_sided = usize::from(self.only.is_some());
        EventCounts {
            events: k.events + d.events + unilateral::EVENTS * one_sided,
            modes: k.modes + d.modes + one_sided,
            ..EventCounts::default()
        }
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        let (k, d, side) = self.split_modes(modes);
        self.stiffness.mode_exists(k)
            && self.damping.mode_exists(d)
            && side.is_none_or(unilateral::mode_exists)
    }

    fn initial_modes(&self, cx: &EvaluationContext, length: f64, rate: f64, modes: &mut [i32]) {
        let (k, d) = (
            self.stiffness.event_counts().modes,
            self.damping.event_counts().modes,
        );
        if let Some(law) = self.stiffness.law() {
            law.initial_mode(length - self.length.get(cx), &mut modes[..k]);
        }
        if let Some(law) = self.damping.law() {
            law.initial_mode(rate, &mut modes[k..k + d]);
        }
        if self.only.is_some() {
            let (elastic, damper) = self.parts(cx, modes, length, rate);
            let (e, _) = self.tautness(cx, &elastic, length, rate);
            modes[k + d] =
                unilateral::initial_mode(e, self.sign() * (elastic.force + damper.force));
        }
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        [c, c_dot, c_ddot]: [f64; 3],
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let (k, d, _) = self.split_modes(cx.modes);
        let (ek, ed) = (
            self.stiffness.event_counts().events,
            self.damping.event_counts().events,
        );
        if let Some(law) = self.stiffness.law() {
            let (x, x_dot) = (c - self.length.get(cx), c_dot - self.length.rate(cx));
            law.event_functions(k, x, x_dot, &mut phi[..ek], &mut rate[..ek]);
        }
        if let Some(law) = self.damping.law() {
            law.event_functions(
                d,
                c_dot,
                c_ddot,
                &mut phi[ek..ek + ed],
                &mut rate[ek..ek + ed],
            );
        }
        if self.only.is_some() {
            let (elastic, damper) = self.parts(cx, cx.modes, c, c_dot);
            let at = ek + ed;
            (phi[at], rate[at]) = self.tautness(cx, &elastic, c, c_dot);
            phi[at + 1] = self.sign() * (elastic.force + damper.force);
            let slope = elastic.slope * (c_dot - self.length.rate(cx))
                + self.preload.rate(cx)
                + damper.slope * c_ddot;
            rate[at + 1] = self.sign() * slope;
        }
    }

    fn event_curvature(&self, acceleration: f64, bound: &mut [f64]) {
        bound.fill(f64::NAN);
        if self.length.is_driven() {
            return;
        }
        let (ek, ed) = (
            self.stiffness.event_counts().events,
            self.damping.event_counts().events,
        );
        bound[..ek].fill(acceleration);
        if self.only.is_some() && self.taut_by_length() {
            bound[ek + ed] = acceleration;
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        let (k, d, side) = self.split_modes(modes);
        let (ek, ed) = (
            self.stiffness.event_counts().events,
            self.damping.event_counts().events,
        );
        match (self.stiffness.law(), self.damping.law(), side) {
            (Some(law), _, _) if i < ek => law.crossing(k, i),
            (_, Some(law), _) if i < ek + ed => law.crossing(d, i - ek),
            (_, _, Some(mode)) => unilateral::crossing(mode, i - ek - ed),
            _ => Crossing::Off,
        }
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        [c, c_dot, _]: [f64; 3],
        i: usize,
        modes: &mut [i32],
    ) {
        let (mk, md) = (
            self.stiffness.event_counts().modes,
            self.damping.event_counts().modes,
        );
        let (ek, ed) = (
            self.stiffness.event_counts().events,
            self.damping.event_counts().events,
        );
        if i < ek {
            self.stiffness
                .law()
                .expect("only a law has events")
                .handle_event(i, &mut modes[..mk]);
        } else if i < ek + ed {
            self.damping
                .law()
                .expect("only a law has events")
                .handle_event(i - ek, &mut modes[mk..mk + md]);
        } else {
            let (elastic, _) = self.parts(cx, modes, c, c_dot);
            let (e, _) = self.tautness(cx, &elastic, c, c_dot);
            modes[mk + md] = unilateral::mode_after(modes[mk + md], i - ek - ed, e);
        }
    }

    fn stop_chattering(&self, i: usize, modes: &mut [i32]) {
        let (mk, md) = (
            self.stiffness.event_counts().modes,
            self.damping.event_counts().modes,
        );
        let (ek, ed) = (
            self.stiffness.event_counts().events,
            self.damping.event_counts().events,
        );
        if i < ek {
            self.stiffness
                .law()
                .expect("only a law has events")
                .stop_chattering(i, &mut modes[..mk]);
        } else if i < ek + ed {
            self.damping
                .law()
                .expect("only a law has events")
                .stop_chattering(i - ek, &mut modes[mk..mk + md]);
        }
    }
}

impl SpringDamper {
    /// Returns the integral of the elastic force at the point where that force vanishes. A preload shifts this point; only the linear spring
    /// has a closed form. A law with a preload keeps its zero at the unloaded length.
    fn slack_energy(&self, cx: &EvaluationContext, _modes: &[i32]) -> f64 {
        match &self.stiffness {
            SpringLaw::Linear(k) if k.get(cx) > 0.0 => {
                let p = self.preload.get(cx);
                -0.5 * p * p / k.get(cx)
            }
            _ => 0.0,
        }
    }
}
