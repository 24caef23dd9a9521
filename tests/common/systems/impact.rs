//! An oscillator that runs into a constant force: q'' + G = 0 with G = 100 q below q = 0.25 and G = 2000 above. The side is a
//! mode, changed by an event at q = 0.25 only, so that each law continues smoothly past its border.

use biela::formulation::{
    Character, Context, Crossing, Energy, Evaluated, Motion, Pattern, Reaction, Size, System,
    Weights,
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
    fn size(&self) -> Size {
        Size {
            nq: 1,
            nv: 1,
            ne: 1,
            modes: 1,
            ..Size::default()
        }
    }

    fn character(&self) -> Character {
        Character::default()
    }

    fn pattern(&self) -> Pattern {
        Pattern {
            tangent: vec![(0, 0)],
            jacobian: vec![],
        }
    }

    fn mass_times(&self, _cx: &Context, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out[0] = a[0];
    }

    fn force(&self, cx: &Context, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = match cx.modes[0] {
            0 => -self.stiffness * q[0],
            _ => -self.push,
        };
        Ok(())
    }

    fn tangent(
        &self,
        cx: &Context,
        _q: &[f64],
        _v: &[f64],
        _a: &[f64],
        _lambda: &[f64],
        weights: &Weights,
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

    fn energy(&self, cx: &Context, q: &[f64], v: &[f64]) -> Energy {
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

    fn events(&self, _cx: &Context, at: &Motion, phi: &mut [f64], rate: &mut [f64]) {
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

    fn fire(
        &self,
        _cx: &Context,
        _at: &Motion,
        _i: usize,
        modes: &mut [i32],
        _n: &mut [f64],
    ) -> Reaction {
        modes[0] = 1 - modes[0];
        Reaction::Mode
    }
}
