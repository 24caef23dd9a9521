//! The point pendulum in natural coordinates against a vertical wall x = w: φ = x − w falls to zero, the mass is thrown back
//! with restitution along the only way the rod leaves it.

use biela::formulation::{
    Character, Context, Crossing, Energy, Evaluated, Motion, Pattern, Reaction, Size, System,
    Weights,
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
    fn size(&self) -> Size {
        Size {
            ne: 1,
            ..self.pendulum.size()
        }
    }

    fn character(&self) -> Character {
        self.pendulum.character()
    }

    fn pattern(&self) -> Pattern {
        self.pendulum.pattern()
    }

    fn mass_times(&self, cx: &Context, q: &[f64], a: &[f64], out: &mut [f64]) {
        self.pendulum.mass_times(cx, q, a, out);
    }

    fn force(&self, cx: &Context, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.pendulum.force(cx, q, v, out)
    }

    fn tangent(
        &self,
        cx: &Context,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        lambda: &[f64],
        weights: &Weights,
        out: &mut [f64],
    ) -> Evaluated {
        self.pendulum.tangent(cx, q, v, a, lambda, weights, out)
    }

    fn constraint(&self, cx: &Context, q: &[f64], phi: &mut [f64]) {
        self.pendulum.constraint(cx, q, phi);
    }

    fn jacobian(&self, cx: &Context, q: &[f64], out: &mut [f64]) {
        self.pendulum.jacobian(cx, q, out);
    }

    fn convective(&self, cx: &Context, q: &[f64], v: &[f64], gamma: &mut [f64]) {
        self.pendulum.convective(cx, q, v, gamma);
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        self.pendulum.constraint_scale(row)
    }

    fn energy(&self, cx: &Context, q: &[f64], v: &[f64]) -> Energy {
        self.pendulum.energy(cx, q, v)
    }

    fn events(&self, _cx: &Context, at: &Motion, phi: &mut [f64], rate: &mut [f64]) {
        phi[0] = at.q[0] - self.wall;
        rate[0] = at.v[0];
    }

    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Falling
    }

    fn fire(
        &self,
        _cx: &Context,
        _at: &Motion,
        _i: usize,
        _modes: &mut [i32],
        n: &mut [f64],
    ) -> Reaction {
        n.copy_from_slice(&[1.0, 0.0]);
        Reaction::Impulse {
            restitution: self.restitution,
            slowest: 0.0,
        }
    }
}
