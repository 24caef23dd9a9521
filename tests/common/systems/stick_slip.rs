//! A block on a belt that moves with constant speed, tied to the ground by a spring. Mode 0: +1 or −1 slips in that
//! direction (relative to the belt), 0 sticks; modes 1, 2 latch where on the belt it sticks. Event 0: the slip ends. Event 1:
//! friction is not enough to go on sticking.

use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Properties, Sparsity, System, TangentWeights,
};

/// SI units.
pub struct StickSlip {
    pub mass: f64,
    pub stiffness: f64,
    pub belt: f64,
    /// Largest friction force at rest and in motion (N).
    pub at_rest: f64,
    pub moving: f64,
}

impl System for StickSlip {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 1,
            nv: 1,
            nc: 1,
            ne: 2,
            modes: 1 + NUMBER_LEN,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            moving_constraints: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0)],
            jacobian: vec![(0, 0)],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out[0] = self.mass * a[0];
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = -self.stiffness * q[0] - self.moving * f64::from(cx.modes[0]);
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        out[0] = weights.mass * self.mass + weights.stiffness * self.stiffness;
        Ok(())
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        phi[0] = q[0] - self.belt * cx.t - number_in(&cx.modes[1..]);
    }

    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }

    fn constraint_rate(&self, _cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        phi_t[0] = -self.belt;
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        gamma: &mut [f64],
    ) {
        gamma[0] = 0.0;
    }
}

impl ConfigurationSpace for StickSlip {}

impl HybridSystem for StickSlip {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        rows[0] = modes[0] == 0;
    }

    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        phi[0] = at.v[0] - self.belt;
        rate[0] = at.a[0];
        phi[1] = self.at_rest - at.lambda[0].abs();
        rate[1] = f64::NAN;
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        match (i, modes[0]) {
            (0, 1) => Crossing::Falling,
            (0, -1) => Crossing::Rising,
            (1, 0) => Crossing::Falling,
            _ => Crossing::Off,
        }
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        if i == 0 {
            modes[0] = 0;
            put_number(&mut modes[1..], at.q[0] - self.belt * cx.t);
        } else {
            // It slips the way the spring pulls.
            modes[0] = if at.q[0] > 0.0 { -1 } else { 1 };
        }
        EventEffect::Mode
    }
}

/// Modes that a real number takes, so that it is saved and restored with them and only events change it.
const NUMBER_LEN: usize = 2;

/// Writes `x` into the first two of `modes`.
fn put_number(modes: &mut [i32], x: f64) {
    let bits = x.to_bits();
    modes[0] = ((bits >> 32) as u32).cast_signed();
    modes[1] = (bits as u32).cast_signed();
}

/// The number in the first two of `modes`.
fn number_in(modes: &[i32]) -> f64 {
    let [high, low] = [modes[0], modes[1]].map(|x| u64::from(x.cast_unsigned()));
    f64::from_bits(high << 32 | low)
}
