//! Point masses on rods one after another, in natural coordinates x₁, y₁, x₂, y₂, ...; two of them are the double pendulum
//! of the reference tables.
//!
//! ```text
//!   Φ_k = (|d_k|² − l²)/(2l),    d_k = r_k − r_{k−1},    r₀ = 0,      γ_k = |ḋ_k|²/l
//! ```

use biela::formulation::{Character, Context, Energy, Evaluated, Pattern, Size, System, Weights};

/// Equal masses and rods, gravity along −y.
pub struct Chain {
    /// How many.
    pub links: usize,
    /// kg
    pub mass: f64,
    /// m
    pub length: f64,
    /// m/s²
    pub gravity: f64,
}

impl Chain {
    /// 1 kg, 1 m, 9.81 m/s².
    pub fn new(links: usize) -> Self {
        Self {
            links,
            mass: 1.0,
            length: 1.0,
            gravity: 9.81,
        }
    }

    /// Stretched out along x.
    pub fn horizontal(&self) -> Vec<f64> {
        (1..=self.links)
            .flat_map(|k| [k as f64 * self.length, 0.0])
            .collect()
    }

    /// x_k − x_{k−1} on an axis.
    fn span(x: &[f64], k: usize, axis: usize) -> f64 {
        let before = if k > 0 { x[2 * (k - 1) + axis] } else { 0.0 };
        x[2 * k + axis] - before
    }
}

impl System for Chain {
    fn size(&self) -> Size {
        Size {
            nq: 2 * self.links,
            nv: 2 * self.links,
            nc: self.links,
            ..Size::default()
        }
    }

    fn character(&self) -> Character {
        Character::default()
    }

    fn pattern(&self) -> Pattern {
        let mut pattern = Pattern::default();
        for k in 0..self.links as u32 {
            for axis in 0..2 {
                let own = 2 * k + axis;
                pattern.tangent.push((own, own));
                pattern.jacobian.push((k, own));
                if k > 0 {
                    pattern.tangent.extend([(own - 2, own), (own, own - 2)]);
                    pattern.jacobian.push((k, own - 2));
                }
            }
        }
        pattern
    }

    fn mass_times(&self, _cx: &Context, _q: &[f64], a: &[f64], out: &mut [f64]) {
        for (out, a) in out.iter_mut().zip(a) {
            *out = self.mass * a;
        }
    }

    fn force(&self, _cx: &Context, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        for out in out.chunks_mut(2) {
            out[0] = 0.0;
            out[1] = -self.mass * self.gravity;
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &Context,
        _q: &[f64],
        _v: &[f64],
        _a: &[f64],
        lambda: &[f64],
        weights: &Weights,
        out: &mut [f64],
    ) -> Evaluated {
        let stiffness = |k: usize| weights.stiffness * lambda[k] / self.length;
        let mut at = 0;
        for k in 0..self.links {
            let next = if k + 1 < self.links {
                stiffness(k + 1)
            } else {
                0.0
            };
            for _axis in 0..2 {
                out[at] = weights.mass * self.mass + stiffness(k) + next;
                at += 1;
                if k > 0 {
                    out[at] = -stiffness(k);
                    out[at + 1] = -stiffness(k);
                    at += 2;
                }
            }
        }
        Ok(())
    }

    fn constraint(&self, _cx: &Context, q: &[f64], phi: &mut [f64]) {
        let l = self.length;
        for (k, phi) in phi.iter_mut().enumerate() {
            let (x, y) = (Self::span(q, k, 0), Self::span(q, k, 1));
            *phi = (x * x + y * y - l * l) / (2.0 * l);
        }
    }

    fn jacobian(&self, _cx: &Context, q: &[f64], out: &mut [f64]) {
        let mut at = 0;
        for k in 0..self.links {
            for axis in 0..2 {
                let g = Self::span(q, k, axis) / self.length;
                out[at] = g;
                at += 1;
                if k > 0 {
                    out[at] = -g;
                    at += 1;
                }
            }
        }
    }

    fn convective(&self, _cx: &Context, _q: &[f64], v: &[f64], gamma: &mut [f64]) {
        for (k, gamma) in gamma.iter_mut().enumerate() {
            let (x, y) = (Self::span(v, k, 0), Self::span(v, k, 1));
            *gamma = (x * x + y * y) / self.length;
        }
    }

    fn constraint_scale(&self, _row: usize) -> f64 {
        self.length
    }

    fn constraint_name(&self, row: usize) -> String {
        format!("rod{}", row + 1)
    }

    fn energy(&self, _cx: &Context, q: &[f64], v: &[f64]) -> Energy {
        let mut energy = Energy::default();
        for (q, v) in q.chunks(2).zip(v.chunks(2)) {
            energy.kinetic += 0.5 * self.mass * (v[0] * v[0] + v[1] * v[1]);
            energy.potential += self.mass * self.gravity * q[1];
        }
        energy
    }
}
