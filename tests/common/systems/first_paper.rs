//! The two examples of the first paper that have no constraints: two oscillators, one of them a hundred times faster, and
//! a spring that hardens.

use biela::formulation::{
    ConfigurationSpace, Dimensions, Evaluated, EvaluationContext, HybridSystem, MotionPoint,
    Properties, Sparsity, System, TangentWeights,
};

use super::full;

/// Example 1: q'' + K q = 0, K = [[10001, −1], [−1, 1]].
pub struct TwoOscillators;

const K: [[f64; 2]; 2] = [[10001.0, -1.0], [-1.0, 1.0]];

impl System for TwoOscillators {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 2,
            nv: 2,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            linear: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: full(2, 2),
            ..Sparsity::default()
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        for i in 0..2 {
            out[i] = -K[i][0] * q[0] - K[i][1] * q[1];
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        w: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        for i in 0..2 {
            for j in 0..2 {
                let mass = if i == j { w.mass } else { 0.0 };
                out[2 * i + j] = mass + w.stiffness * K[i][j];
            }
        }
        Ok(())
    }
}

impl ConfigurationSpace for TwoOscillators {}

impl HybridSystem for TwoOscillators {}

/// Example 2: q'' + 0.01 q' + 5 q^power = 10; the paper's K(q) = 5 q² is a stiffness (power 3) or a force (power 2).
pub struct Spring {
    pub power: i32,
}

impl System for Spring {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 1,
            nv: 1,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            velocity_forces: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: full(1, 1),
            ..Sparsity::default()
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = 10.0 - 0.01 * v[0] - 5.0 * q[0].powi(self.power);
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        w: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, .. } = *at;
        let power = f64::from(self.power);
        let stiffness = 5.0 * power * q[0].powi(self.power - 1);
        out[0] = w.mass + 0.01 * w.damping + w.stiffness * stiffness;
        Ok(())
    }
}

impl ConfigurationSpace for Spring {}

impl HybridSystem for Spring {}
