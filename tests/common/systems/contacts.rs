//! Masses on springs with unilateral contacts, all linear: M x'' = f − K (x − x₀), and for each contact φ = g·x − c − s(t) ≥ 0 with a
//! wall that may move. Contact c has the events 2c (closes) and 2c + 1 (separates) and the constraint φ = 0, active in its mode 1.
//! With friction an impact has an impulse along a second gradient too.

use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Properties, Sparsity, System, TangentWeights, TangentialFriction,
};

/// Position, velocity and acceleration of a wall.
pub type Wall = Box<dyn Fn(f64) -> [f64; 3] + Send + Sync>;

/// A contact.
pub struct Contact {
    pub gradient: Vec<f64>,
    pub offset: f64,
    pub wall: Option<Wall>,
    pub restitution: f64,
    pub slowest: f64,
    /// Tangential gradient and coefficient.
    pub friction: Option<(Vec<f64>, f64)>,
}

impl Contact {
    /// Contact with a wall at rest.
    pub fn new(gradient: &[f64], offset: f64, restitution: f64, slowest: f64) -> Self {
        Self {
            gradient: gradient.to_vec(),
            offset,
            wall: None,
            restitution,
            slowest,
            friction: None,
        }
    }

    fn wall(&self, t: f64) -> [f64; 3] {
        self.wall.as_ref().map_or([0.0; 3], |wall| wall(t))
    }
}

/// The masses.
#[derive(Default)]
pub struct Contacts {
    pub mass: Vec<f64>,
    pub force: Vec<f64>,
    /// Stiffness (N/m) and unloaded position of each spring; there may be fewer springs than masses.
    pub springs: Vec<(f64, f64)>,
    pub contacts: Vec<Contact>,
}

impl Contacts {
    fn spring(&self, i: usize) -> (f64, f64) {
        self.springs.get(i).copied().unwrap_or_default()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl System for Contacts {
    fn dimensions(&self) -> Dimensions {
        let (n, c) = (self.mass.len(), self.contacts.len());
        Dimensions {
            nq: n,
            nv: n,
            nc: c,
            ne: 2 * c,
            modes: c,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            moving_constraints: self.contacts.iter().any(|c| c.wall.is_some()),
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        let n = self.mass.len() as u32;
        Sparsity {
            tangent: (0..n).map(|i| (i, i)).collect(),
            jacobian: super::full(self.contacts.len(), self.mass.len()),
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        for i in 0..a.len() {
            out[i] = self.mass[i] * a[i];
        }
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        for i in 0..q.len() {
            let (k, x0) = self.spring(i);
            out[i] = self.force[i] - k * (q[i] - x0);
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        for i in 0..self.mass.len() {
            out[i] = weights.mass * self.mass[i] + weights.stiffness * self.spring(i).0;
        }
        Ok(())
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        for (phi, c) in phi.iter_mut().zip(&self.contacts) {
            *phi = dot(&c.gradient, q) - c.offset - c.wall(cx.t)[0];
        }
    }

    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], out: &mut [f64]) {
        let n = self.mass.len();
        for (row, c) in out.chunks_mut(n).zip(&self.contacts) {
            row.copy_from_slice(&c.gradient);
        }
    }

    fn constraint_rate(&self, cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        for (phi, c) in phi_t.iter_mut().zip(&self.contacts) {
            *phi = -c.wall(cx.t)[1];
        }
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        gamma: &mut [f64],
    ) {
        for (phi, c) in gamma.iter_mut().zip(&self.contacts) {
            *phi = -c.wall(cx.t)[2];
        }
    }

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let mut energy = Energy::default();
        for i in 0..q.len() {
            let (k, x0) = self.spring(i);
            energy.kinetic += 0.5 * self.mass[i] * v[i] * v[i];
            energy.potential += 0.5 * k * (q[i] - x0).powi(2) - self.force[i] * q[i];
        }
        energy
    }
}

impl ConfigurationSpace for Contacts {}

impl HybridSystem for Contacts {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        for (row, mode) in rows.iter_mut().zip(modes) {
            *row = *mode == 1;
        }
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        for (i, c) in self.contacts.iter().enumerate() {
            let [s, s_dot, _] = c.wall(cx.t);
            phi[2 * i] = dot(&c.gradient, at.q) - c.offset - s;
            rate[2 * i] = dot(&c.gradient, at.v) - s_dot;
            // The contact force is −λ.
            phi[2 * i + 1] = -at.lambda[i];
            rate[2 * i + 1] = f64::NAN;
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        if (modes[i / 2] == 0) == i.is_multiple_of(2) {
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
        if i % 2 == 1 {
            modes[i / 2] = 0;
            return EventEffect::Mode;
        }
        let c = &self.contacts[i / 2];
        n.copy_from_slice(&c.gradient);
        EventEffect::Impulse {
            restitution: c.restitution,
            slowest: c.slowest,
            poisson: false,
        }
    }

    fn tangential_direction(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        i: usize,
        direction: usize,
        t: &mut [f64],
    ) -> Option<TangentialFriction> {
        let (gradient, friction) = self.contacts[i / 2].friction.as_ref()?;
        (direction == 0).then(|| {
            t.copy_from_slice(gradient);
            TangentialFriction {
                friction: *friction,
                drift: 0.0,
                stick: None,
            }
        })
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        modes[i / 2] = 1;
    }

    fn event_name(&self, i: usize) -> String {
        format!("contact{}", i / 2)
    }
}
