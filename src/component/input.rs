//! Inputs as functions of time, and parameters.
//!
//! An input set at time t₀ is continued until it is set again by
//!
//! ```text
//!   u(t) = u₀ + u₁ (t − t₀) + u₂ (t − t₀)²/2
//! ```
//!
//! with u₁ = u₂ = 0 (hold) unless the host gives derivatives or chooses extrapolation by the line or parabola through its last
//! values.
//!
//! The equations need the position s of a prescribed motion with two derivatives. An input that is a speed or an acceleration is
//! integrated here, exactly, since it is a polynomial of time between two sets:
//!
//! ```text
//!   speed          ds/dt  = u,    s = s₀ + u₀ τ + u₁ τ²/2 + u₂ τ³/6                       τ = t − t₀
//!   acceleration   d²s/dt² = u,   s = s₀ + ṡ₀ τ + u₀ τ²/2 + u₁ τ³/6 + u₂ τ⁴/24
//! ```

use super::input_law::{InputLaw, InputLaws};
use crate::error::{Error, Result};
use crate::integrator::Signals;
use crate::model::{Input, Model, MotionLaw, Target};

/// Highest derivative of an input that can be set.
pub const HIGHEST_DERIVATIVE: u32 = 2;

/// How inputs continue from the last value set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extrapolation {
    /// Constant.
    #[default]
    Hold,
    /// Along the line through the last two values.
    Linear,
    /// Along the parabola through the last three values.
    Quadratic,
}

impl Extrapolation {
    /// Order of the polynomial: 0, 1 or 2.
    pub fn order(self) -> u32 {
        self as u32
    }

    /// Extrapolation of an order.
    pub fn from_order(order: u32) -> Option<Self> {
        [Self::Hold, Self::Linear, Self::Quadratic]
            .get(order as usize)
            .copied()
    }
}

/// The last values set for one input, newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct InputHistory {
    /// Number of values.
    pub count: u8,
    /// s
    pub t: [f64; 3],
    pub u: [f64; 3],
}

impl InputHistory {
    /// Adds the value `u` at `t`; it replaces a value of the same time.
    pub fn add(&mut self, t: f64, u: f64) {
        if self.count == 0 || t != self.t[0] {
            self.t = [t, self.t[0], self.t[1]];
            self.u = [u, self.u[0], self.u[1]];
            self.count = (self.count + 1).min(3);
        }
        self.u[0] = u;
    }

    /// Value and derivatives, at the newest time, of the polynomial through the values, of lower order if there are too few:
    ///
    /// ```text
    ///   [01] = (u₀ − u₁)/(t₀ − t₁),   [012] = ([01] − [12])/(t₀ − t₂)
    ///   u' = [01] + [012] (t₀ − t₁),  u'' = 2 [012]   at t₀
    /// ```
    pub fn taylor(&self, extrapolation: Extrapolation) -> [f64; 3] {
        let ([t0, t1, t2], [u0, u1, u2]) = (self.t, self.u);
        let slope = (u0 - u1) / (t0 - t1);
        let taylor = match extrapolation.order().min(u32::from(self.count.max(1)) - 1) {
            0 => [u0, 0.0, 0.0],
            1 => [u0, slope, 0.0],
            _ => {
                let second = (slope - (u1 - u2) / (t1 - t2)) / (t0 - t2);
                [u0, slope + second * (t0 - t1), 2.0 * second]
            }
        };
        // Values too close in time for a finite slope are held.
        match taylor.iter().all(|x| x.is_finite()) {
            true => taylor,
            false => [u0, 0.0, 0.0],
        }
    }
}

/// One input as a function of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct InputPolynomial {
    /// Time t₀ of the set (s).
    pub since: f64,
    /// Value and derivatives at t₀.
    pub taylor: [f64; 3],
    /// Which derivative of a prescribed position it is: 0, 1 or 2; 0 for other inputs.
    pub order: u8,
    /// Position and speed of the prescribed motion at t₀, if they are integrals of the input.
    pub position_and_speed: [f64; 2],
    /// The piece of its law that applies; `None` if it has no law, or was set.
    pub piece: Option<i64>,
}

impl InputPolynomial {
    /// The constant `value` from `since` on.
    #[inline]
    pub fn hold(since: f64, value: f64) -> Self {
        Self {
            since,
            taylor: [value, 0.0, 0.0],
            ..Self::default()
        }
    }

    /// An input of the model at its start value.
    pub fn of(model: &Model, input: &Input) -> Self {
        let order = match input.target {
            Target::Motion(k) => match model.motions[k].law {
                MotionLaw::Input { order, .. } => order as u8,
                _ => 0,
            },
            _ => 0,
        };
        let start = model.experiment.start;
        let law =
            (model.signals.iter()).any(|signal| model.inputs[signal.input].name == input.name);
        Self {
            order,
            piece: law.then_some(0),
            ..Self::hold(start, input.start)
        }
    }

    /// u, u' and u'' at `t`, or position, speed and acceleration of the prescribed motion.
    pub fn motion_law(&self, t: f64) -> [f64; 3] {
        let u = self.at(t);
        if self.order == 0 {
            return u;
        }
        let [u0, u1, u2] = self.taylor;
        let s = t - self.since;
        let first_integral = s * (u0 + s / 2.0 * (u1 + s / 3.0 * u2));
        let [position, speed] = self.position_and_speed;
        if self.order == 1 {
            return [position + first_integral, u[0], u[1]];
        }
        let second_integral = s * s / 2.0 * (u0 + s / 3.0 * (u1 + s / 4.0 * u2));
        [
            position + s * speed + second_integral,
            speed + first_integral,
            u[0],
        ]
    }

    /// u, u' and u'' at `t`.
    #[inline]
    pub fn at(&self, t: f64) -> [f64; 3] {
        let [u0, u1, u2] = self.taylor;
        // A constant input is exact, even if t − t₀ overflows.
        if u1 == 0.0 && u2 == 0.0 {
            return self.taylor;
        }
        let s = t - self.since;
        [u0 + s * (u1 + 0.5 * s * u2), u1 + s * u2, u2]
    }

    /// Whether it has this value and these derivatives at `t`.
    #[inline]
    pub fn equals_at(&self, t: f64, taylor: [f64; 3]) -> bool {
        let [u0, u1, u2] = self.at(t);
        u0 == taylor[0] && u1 == taylor[1] && u2 == taylor[2]
    }
}

/// All inputs as functions of time, and the parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InputState {
    pub inputs: Vec<InputPolynomial>,
    pub parameters: Vec<f64>,
    pub laws: InputLaws,
}

impl InputState {
    /// Copies `other`; allocates only if the sizes differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.inputs.clone_from(&other.inputs);
        self.laws.clone_from(&other.laws);
        self.parameters.clone_from(&other.parameters);
    }

    /// Makes values set before the start, and laws, begin at the start time.
    pub fn start_at(&mut self, start: f64) {
        for (i, input) in self.inputs.iter_mut().enumerate() {
            input.since = start;
            if let (Some(_), Some(law)) = (input.piece, self.laws.get(i)) {
                input.piece = Some(law.piece_at(start));
            }
        }
    }

    /// An error if the law of an input has no finite value at `t`.
    pub fn refuse_infinite_laws(&self, model: &Model, t: f64) -> Result<()> {
        for (i, input) in model.inputs.iter().enumerate() {
            let Some((law, piece)) = self.followed(i) else {
                continue;
            };
            let value = law.at(piece, t)[0];
            if !value.is_finite() {
                return Err(Error::NotFinite {
                    name: format!("the law of input \"{}\" at t = {t} s", input.name),
                    value: value.to_string(),
                });
            }
        }
        Ok(())
    }

    /// The law that an input follows, and its present piece.
    #[inline]
    fn followed(&self, i: usize) -> Option<(&InputLaw, i64)> {
        Some((self.laws.get(i)?, self.inputs[i].piece?))
    }

    /// u, u' and u'' of an input at `t`.
    #[inline]
    pub fn at(&self, i: usize, t: f64) -> [f64; 3] {
        match self.followed(i) {
            None => self.inputs[i].at(t),
            Some((law, piece)) => law.at(piece, t),
        }
    }

    /// The same, or position, speed and acceleration of the prescribed motion.
    #[inline]
    pub fn motion_law(&self, i: usize, t: f64) -> [f64; 3] {
        let input = &self.inputs[i];
        if input.order == 0 && input.piece.is_none() {
            return input.at(t);
        }
        let Some((law, piece)) = self.followed(i) else {
            return input.motion_law(t);
        };
        let u = law.at(piece, t);
        if input.order == 0 {
            return u;
        }
        let [first, second] = law.integrals(piece, input.since, t);
        let [position, speed] = input.position_and_speed;
        match input.order {
            1 => [position + first, u[0], u[1]],
            _ => [
                position + speed * (t - input.since) + second,
                speed + first,
                u[0],
            ],
        }
    }

    /// Sets value and derivatives of an input from `t` on; a law ends, a prescribed motion continues from its position and speed.
    #[inline]
    pub fn continue_from(&mut self, i: usize, t: f64, taylor: [f64; 3]) {
        self.note_motion(i, t);
        let input = &mut self.inputs[i];
        (input.since, input.taylor, input.piece) = (t, taylor, None);
    }

    /// Position and speed of the prescribed motion at `t`, from which it continues.
    fn note_motion(&mut self, i: usize, t: f64) {
        if self.inputs[i].order > 0 {
            let [position, speed, _] = self.motion_law(i, t);
            self.inputs[i].position_and_speed = [position, speed];
        }
    }

    /// The next break of a law after the present pieces.
    pub fn next_break(&self) -> f64 {
        let bound = |i: usize| {
            let followed = self.followed(i);
            followed.map_or(f64::INFINITY, |(law, piece)| law.upper_bound(piece))
        };
        (0..self.inputs.len())
            .map(bound)
            .fold(f64::INFINITY, f64::min)
    }

    /// Passes to the pieces behind the breaks up to `t`.
    pub fn pass_breaks(&mut self, t: f64) {
        for i in 0..self.inputs.len() {
            let Some((law, piece)) = self.followed(i) else {
                continue;
            };
            if law.upper_bound(piece) <= t {
                let next = (piece + 1).max(law.piece_at(t));
                self.note_motion(i, t);
                (self.inputs[i].since, self.inputs[i].piece) = (t, Some(next));
            }
        }
    }
}

impl Signals for InputState {
    #[inline]
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        for i in 0..self.inputs.len() {
            [u[i], u_dot[i], u_ddot[i]] = self.motion_law(i, t);
        }
    }
}
