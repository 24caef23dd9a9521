//! A point pendulum whose pivot is moved along x: a constraint that depends on time.
//!
//! ```text
//!   Φ = (|e|² − l²)/(2l),     e = r − p(t),    p = (A sin ωt, 0)
//!   Φ_t = −e·ṗ/l,     γ = (|v − ṗ|² − e·p̈)/l
//! ```

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};
use nalgebra::Vector2;

use super::pendulum::Pendulum;

/// The pendulum and the law of its pivot.
pub struct DrivenPendulum {
    /// The pendulum at rest.
    pub pendulum: Pendulum,
    /// A (m)
    pub amplitude: f64,
    /// ω (rad/s)
    pub omega: f64,
}

impl Default for DrivenPendulum {
    fn default() -> Self {
        Self {
            pendulum: Pendulum::default(),
            amplitude: 0.3,
            omega: 4.0,
        }
    }
}

impl DrivenPendulum {
    /// p, ṗ, p̈.
    pub fn pivot(&self, t: f64) -> [Vector2<f64>; 3] {
        let (a, w) = (self.amplitude, self.omega);
        let (s, c) = (w * t).sin_cos();
        [a * s, a * w * c, -a * w * w * s].map(|x| Vector2::new(x, 0.0))
    }
}

fn plane(x: &[f64]) -> Vector2<f64> {
    Vector2::new(x[0], x[1])
}

impl System for DrivenPendulum {
    fn dimensions(&self) -> Dimensions {
        self.pendulum.dimensions()
    }

    fn properties(&self) -> Properties {
        Properties {
            moving_constraints: true,
            ..Properties::default()
        }
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
        let l = self.pendulum.length;
        let e = plane(q) - self.pivot(cx.t)[0];
        phi[0] = (e.norm_squared() - l * l) / (2.0 * l);
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let e = plane(q) - self.pivot(cx.t)[0];
        out[0] = e.x / self.pendulum.length;
        out[1] = e.y / self.pendulum.length;
    }

    fn constraint_rate(&self, cx: &EvaluationContext, q: &[f64], phi_t: &mut [f64]) {
        let [p, p_dot, _] = self.pivot(cx.t);
        phi_t[0] = -(plane(q) - p).dot(&p_dot) / self.pendulum.length;
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let [p, p_dot, p_ddot] = self.pivot(cx.t);
        let relative = plane(v) - p_dot;
        let e = plane(q) - p;
        gamma[0] = (relative.norm_squared() - e.dot(&p_ddot)) / self.pendulum.length;
    }

    fn constraint_scale(&self, _row: usize) -> f64 {
        self.pendulum.length
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        self.pendulum.energy(cx, q, v)
    }
}

impl ConfigurationSpace for DrivenPendulum {}

impl HybridSystem for DrivenPendulum {}
