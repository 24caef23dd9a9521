//! An oscillator that runs into a constant force: q'' + G = 0 with G = 100 q below q = 0.25 and G = 2000 above. The side is a
//! mode, changed by an event at q = 0.25 only, so that each law continues smoothly past its border.

use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Properties, Sparsity, System, TangentWeights,
};

/// Mode 0: the spring. Mode 1: the constant force.
pub struct Impact {
    /// 1/s²
    pub stiffness: f64,
    /// m
    pub border: f64,
    /// m/s²
    pub push: f64,
}

impl Default for Impact {
    fn default() -> Self {
        Self {
            stiffness: 100.0,
            border: 0.25,
            push: 2000.0,
        }
    }
}

impl System for Impact {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 1,
            nv: 1,
            ne: 1,
            modes: 1,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0)],
            jacobian: vec![],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out[0] = a[0];
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = match cx.modes[0] {
            0 => -self.stiffness * q[0],
            _ => -self.push,
        };
        Ok(())
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let stiffness = if cx.modes[0] == 0 {
            self.stiffness
        } else {
            0.0
        };
        out[0] = weights.mass + weights.stiffness * stiffness;
        Ok(())
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let potential = match cx.modes[0] {
            0 => 0.5 * self.stiffness * q[0] * q[0],
            _ => {
                0.5 * self.stiffness * self.border * self.border + self.push * (q[0] - self.border)
            }
        };
        Energy {
            kinetic: 0.5 * v[0] * v[0],
            potential,
        }
    }
}

impl ConfigurationSpace for Impact {}

impl HybridSystem for Impact {
    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        phi[0] = at.q[0] - self.border;
        rate[0] = at.v[0];
    }

    fn crossing(&self, modes: &[i32], _i: usize) -> Crossing {
        if modes[0] == 0 {
            Crossing::Rising
        } else {
            Crossing::Falling
        }
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        _i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        modes[0] = 1 - modes[0];
        EventEffect::Mode
    }
}
