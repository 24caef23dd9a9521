//! A point mass that bounces on the floor y = 0 and comes to rest on it. Mode 0: free flight. Mode 1: contact, the constraint Φ = y is
//! active. An input is a lifting force. Event 0: contact closes. Event 1: contact separates, because its force would become tensile
//! (contact force = m g − lift = −λ).

use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};

/// The mass and the floor.
pub struct Bounce {
    /// kg
    pub mass: f64,
    /// m/s²
    pub gravity: f64,
    /// 0 .. 1
    pub restitution: f64,
    /// Smallest closing velocity with restitution (m/s).
    pub slowest: f64,
}

impl Default for Bounce {
    fn default() -> Self {
        Self {
            mass: 2.0,
            gravity: 9.81,
            restitution: 0.8,
            slowest: 1e-3,
        }
    }
}

impl System for Bounce {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 2,
            nv: 2,
            nc: 1,
            ne: 2,
            modes: 1,
            inputs: 1,
            parameters: 0,
            integrals: 0,
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0), (1, 1)],
            jacobian: vec![(0, 1)],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out[0] = self.mass * a[0];
        out[1] = self.mass * a[1];
    }

    fn force(&self, cx: &EvaluationContext, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = 0.0;
        out[1] = cx.u[0] - self.mass * self.gravity;
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        out.fill(weights.mass * self.mass);
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        phi[0] = q[1];
    }

    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
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

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * self.mass * (v[0] * v[0] + v[1] * v[1]),
            potential: self.mass * self.gravity * q[1],
        }
    }

    fn power(&self, cx: &EvaluationContext, _q: &[f64], v: &[f64]) -> Power {
        Power {
            dissipated: 0.0,
            supplied: cx.u[0] * v[1],
        }
    }

    fn constraint_name(&self, _i: usize) -> String {
        "floor".into()
    }
}

impl ConfigurationSpace for Bounce {}

impl HybridSystem for Bounce {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        rows[0] = modes[0] == 1;
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        phi[0] = at.q[1];
        rate[0] = at.v[1];
        phi[1] = self.mass * self.gravity - cx.u[0];
        rate[1] = -cx.u_dot[0];
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        if (i == 0) == (modes[0] == 0) {
            Crossing::Falling
        } else {
            Crossing::Off
        }
    }

    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        if i == 0 {
            n.copy_from_slice(&[0.0, 1.0]);
            EventEffect::Impulse {
                restitution: self.restitution,
                slowest: self.slowest,
                poisson: false,
            }
        } else {
            modes[0] = 0;
            EventEffect::Mode
        }
    }

    fn activate_unilateral(&self, _i: usize, modes: &mut [i32]) {
        modes[0] = 1;
    }
}
