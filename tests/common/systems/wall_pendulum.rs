//! The point pendulum in natural coordinates with impacts at a vertical wall x = w: φ = x − w. The impulse has restitution and satisfies
//! the constraint of the rod.

use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Properties, Sparsity, System, TangentWeights,
};

use super::pendulum::Pendulum;

/// A pendulum and its wall.
#[derive(Default)]
pub struct WallPendulum {
    pub pendulum: Pendulum,
    /// w (m)
    pub wall: f64,
    /// 0 .. 1
    pub restitution: f64,
}

impl System for WallPendulum {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            ne: 1,
            ..self.pendulum.dimensions()
        }
    }

    fn properties(&self) -> Properties {
        self.pendulum.properties()
    }

    fn sparsity(&self) -> Sparsity {
        self.pendulum.sparsity()
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        self.pendulum.mass_times(cx, q, a, out);
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.pendulum.force(cx, q, v, out)
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        self.pendulum.tangent(cx, at, weights, out)
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        self.pendulum.constraint(cx, q, phi);
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        self.pendulum.jacobian(cx, q, out);
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        self.pendulum.constraint_acceleration_bias(cx, q, v, gamma);
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        self.pendulum.constraint_scale(row)
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        self.pendulum.energy(cx, q, v)
    }
}

impl ConfigurationSpace for WallPendulum {}

impl HybridSystem for WallPendulum {
    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        phi[0] = at.q[0] - self.wall;
        rate[0] = at.v[0];
    }

    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Falling
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        _i: usize,
        _modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        n.copy_from_slice(&[1.0, 0.0]);
        EventEffect::Impulse {
            restitution: self.restitution,
            slowest: 0.0,
            poisson: false,
        }
    }
}
