//! A hanging chain of point masses on massless rods, planar, in natural coordinates: Φ_k = (|r_k − r_{k−1}|² − l²)/(2l).
//! With two links it is the double pendulum of the reference.

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};

const GRAVITY: f64 = 9.81;

/// A chain of so many links, each of mass 1 kg and length 1 m, hung at the origin.
pub struct Chain(pub usize);

impl Chain {
    /// Component `d` of link `k` in the coordinates or rates `x`.
    fn link(x: &[f64], k: usize, d: usize) -> f64 {
        if k == 0 {
            x[d]
        } else {
            x[2 * k + d] - x[2 * k - 2 + d]
        }
    }

    /// Stretched out along x.
    pub fn horizontal(&self) -> Vec<f64> {
        (1..=self.0).flat_map(|k| [k as f64, 0.0]).collect()
    }

    /// Coordinates and rates from angles to the downward vertical and their rates.
    pub fn from_angles(angles: &[f64], omegas: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut q, mut v) = (Vec::new(), Vec::new());
        let (mut x, mut y, mut vx, mut vy) = (0.0, 0.0, 0.0, 0.0);
        for (angle, omega) in angles.iter().zip(omegas) {
            let (sin, cos) = angle.sin_cos();
            (x, y) = (x + sin, y - cos);
            (vx, vy) = (vx + omega * cos, vy + omega * sin);
            q.extend([x, y]);
            v.extend([vx, vy]);
        }
        (q, v)
    }
}

impl System for Chain {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 2 * self.0,
            nv: 2 * self.0,
            nc: self.0,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn sparsity(&self) -> Sparsity {
        let mut pattern = Sparsity::default();
        for k in 0..self.0 as u32 {
            for d in 0..2 {
                let (here, above) = (2 * k + d, (2 * k + d).wrapping_sub(2));
                pattern.tangent.push((here, here));
                pattern.jacobian.push((k, here));
                if k > 0 {
                    pattern
                        .tangent
                        .extend([(here, above), (above, here), (above, above)]);
                    pattern.jacobian.push((k, above));
                }
            }
        }
        pattern
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        for f in out.chunks_exact_mut(2) {
            f.copy_from_slice(&[0.0, -GRAVITY]);
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        w: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { lambda, .. } = *at;
        let mut slots = out.iter_mut();
        let mut put = |x: f64| *slots.next().expect("as many as the pattern") = x;
        for k in 0..self.0 {
            let stiffness = w.stiffness * lambda[k];
            for _ in 0..2 {
                put(w.mass + stiffness);
                if k > 0 {
                    put(-stiffness);
                    put(-stiffness);
                    put(stiffness);
                }
            }
        }
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        for k in 0..self.0 {
            let (x, y) = (Self::link(q, k, 0), Self::link(q, k, 1));
            phi[k] = 0.5 * (x * x + y * y - 1.0);
        }
    }

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let mut slots = out.iter_mut();
        let mut put = |x: f64| *slots.next().expect("as many as the pattern") = x;
        for k in 0..self.0 {
            for d in 0..2 {
                put(Self::link(q, k, d));
                if k > 0 {
                    put(-Self::link(q, k, d));
                }
            }
        }
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        for k in 0..self.0 {
            let (x, y) = (Self::link(v, k, 0), Self::link(v, k, 1));
            gamma[k] = x * x + y * y;
        }
    }

    fn constraint_name(&self, row: usize) -> String {
        format!("rod{}", row + 1)
    }

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: v.iter().map(|v| 0.5 * v * v).sum(),
            potential: q.chunks_exact(2).map(|q| GRAVITY * q[1]).sum(),
        }
    }
}

impl ConfigurationSpace for Chain {}

impl HybridSystem for Chain {}
