//! What the outside gives to the mechanism: inputs as functions of time, and parameters.
//!
//! An input set at time t₀ is continued from there until it is set again,
//!
//! ```text
//!   u(t) = u₀ + u₁ (t − t₀) + u₂ (t − t₀)²/2
//! ```
//!
//! with u₁ = u₂ = 0 (hold) unless the host gives derivatives, or asks for them to be taken from the parabola (or line)
//! through its own last values.
//!
//! The equations know a prescribed motion by its position s with two derivatives. An input that is its speed, or its
//! acceleration, is integrated here, exactly, since it is a polynomial of time between two sets:
//!
//! ```text
//!   speed          ds/dt  = u,    s = s₀ + u₀ τ + u₁ τ²/2 + u₂ τ³/6                       τ = t − t₀
//!   acceleration   d²s/dt² = u,   s = s₀ + ṡ₀ τ + u₀ τ²/2 + u₁ τ³/6 + u₂ τ⁴/24
//! ```

use crate::integrator::Signals;
use crate::model::{Input, Model, MotionLaw, Target};

/// The highest derivative of an input a host can give.
pub const HIGHEST_DERIVATIVE: u32 = 2;

/// How inputs go on from the value the host has set last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extrapolation {
    /// They stay where they are.
    #[default]
    Hold,
    /// Along the line through the last two values.
    Linear,
    /// Along the parabola through the last three values.
    Quadratic,
}

impl Extrapolation {
    /// 0, 1 or 2.
    pub fn order(self) -> u32 {
        self as u32
    }

    /// By its order.
    pub fn from_order(order: u32) -> Option<Self> {
        [Self::Hold, Self::Linear, Self::Quadratic]
            .get(order as usize)
            .copied()
    }
}

/// The last values the host has set for one input, newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct History {
    /// How many of them there are.
    pub known: u8,
    /// s
    pub t: [f64; 3],
    pub u: [f64; 3],
}

impl History {
    /// At `t` the host says `u`. The last word at a time is the one that counts.
    pub fn note(&mut self, t: f64, u: f64) {
        if self.known == 0 || t != self.t[0] {
            self.t = [t, self.t[0], self.t[1]];
            self.u = [u, self.u[0], self.u[1]];
            self.known = (self.known + 1).min(3);
        }
        self.u[0] = u;
    }

    /// Value and derivatives at the newest of the polynomial through the values, of the order asked for or as far as they
    /// reach:
    ///
    /// ```text
    ///   [01] = (u₀ − u₁)/(t₀ − t₁),   [012] = ([01] − [12])/(t₀ − t₂)
    ///   u' = [01] + [012] (t₀ − t₁),  u'' = 2 [012]   at t₀
    /// ```
    pub fn taylor(&self, extrapolation: Extrapolation) -> [f64; 3] {
        let ([t0, t1, t2], [u0, u1, u2]) = (self.t, self.u);
        let slope = (u0 - u1) / (t0 - t1);
        let taylor = match extrapolation.order().min(u32::from(self.known.max(1)) - 1) {
            0 => [u0, 0.0, 0.0],
            1 => [u0, slope, 0.0],
            _ => {
                let bend = (slope - (u1 - u2) / (t1 - t2)) / (t0 - t2);
                [u0, slope + bend * (t0 - t1), 2.0 * bend]
            }
        };
        // Values too close in time for a slope are held.
        match taylor.iter().all(|x| x.is_finite()) {
            true => taylor,
            false => [u0, 0.0, 0.0],
        }
    }
}

/// One input as a function of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct InputPolynomial {
    /// The time it was set at (s).
    pub since: f64,
    /// Value and derivatives at that time.
    pub taylor: [f64; 3],
    /// Which derivative of a motion's position it is, 0, 1 or 2; 0 for all that is no motion.
    pub order: u8,
    /// Position and speed of the motion at that time, where they are integrals of the input.
    pub reached: [f64; 2],
}

impl InputPolynomial {
    /// Holds `value` from `since` on.
    #[inline]
    pub fn hold(since: f64, value: f64) -> Self {
        Self {
            since,
            taylor: [value, 0.0, 0.0],
            ..Self::default()
        }
    }

    /// The course of an input of the model before anything is set.
    pub fn of(model: &Model, input: &Input) -> Self {
        let order = match input.target {
            Target::Motion(k) => match model.motions[k].law {
                MotionLaw::Input { order, .. } => order as u8,
                _ => 0,
            },
            _ => 0,
        };
        Self {
            order,
            ..Self::hold(model.experiment.start, input.start)
        }
    }

    /// What the equations see of it at `t`: u, u' and u'', or position, speed and acceleration of the motion it drives.
    pub fn driving(&self, t: f64) -> [f64; 3] {
        let u = self.at(t);
        if self.order == 0 {
            return u;
        }
        let [u0, u1, u2] = self.taylor;
        let s = t - self.since;
        let once = s * (u0 + s / 2.0 * (u1 + s / 3.0 * u2));
        let [position, speed] = self.reached;
        if self.order == 1 {
            return [position + once, u[0], u[1]];
        }
        let twice = s * s / 2.0 * (u0 + s / 3.0 * (u1 + s / 4.0 * u2));
        [position + s * speed + twice, speed + once, u[0]]
    }

    /// From `t` on it has this value and these derivatives; the motion it drives goes on from where it is then.
    #[inline]
    pub fn go_on(&mut self, t: f64, taylor: [f64; 3]) {
        if self.order > 0 {
            let [position, speed, _] = self.driving(t);
            self.reached = [position, speed];
        }
        (self.since, self.taylor) = (t, taylor);
    }

    /// u, u' and u'' at `t`.
    #[inline]
    pub fn at(&self, t: f64) -> [f64; 3] {
        let [u0, u1, u2] = self.taylor;
        // A held input is held to the bit, also at times where t − t₀ overflows.
        if u1 == 0.0 && u2 == 0.0 {
            return self.taylor;
        }
        let s = t - self.since;
        [u0 + s * (u1 + 0.5 * s * u2), u1 + s * u2, u2]
    }

    /// Has it this value and these derivatives at `t`?
    #[inline]
    pub fn is_at(&self, t: f64, taylor: [f64; 3]) -> bool {
        let [u0, u1, u2] = self.at(t);
        u0 == taylor[0] && u1 == taylor[1] && u2 == taylor[2]
    }

    /// The same course, written as seen from `t`, with its derivative of `order` replaced.
    pub fn with_derivative(&self, t: f64, order: usize, value: f64) -> Self {
        let mut taylor = self.at(t);
        taylor[order] = value;
        let mut course = *self;
        course.go_on(t, taylor);
        course
    }
}

/// All inputs as functions of time, and the parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InputState {
    pub inputs: Vec<InputPolynomial>,
    pub parameters: Vec<f64>,
}

impl InputState {
    /// Takes over `other`; allocates only if the sizes differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.inputs.clone_from(&other.inputs);
        self.parameters.clone_from(&other.parameters);
    }

    /// Values set before the start count from the start.
    pub fn begin(&mut self, start: f64) {
        for course in &mut self.inputs {
            course.since = start;
        }
    }
}

impl Signals for InputState {
    #[inline]
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        for (i, course) in self.inputs.iter().enumerate() {
            [u[i], u_dot[i], u_ddot[i]] = course.driving(t);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_input_keeps_its_bits_for_ever() {
        let course = InputPolynomial::hold(-1e308, 0.1);
        for t in [-1e308, 0.0, 1e-300, 1e308, f64::INFINITY] {
            assert_eq!(course.at(t), [0.1, 0.0, 0.0], "t = {t}");
        }
    }

    #[test]
    fn derivatives_continue_the_input_as_a_parabola() {
        let course = InputPolynomial::hold(2.0, 1.0)
            .with_derivative(2.0, 1, 3.0)
            .with_derivative(2.0, 2, 4.0);
        // 1 + 3 s + 2 s² at s = 0.5, all exact in binary.
        assert_eq!(course.at(2.5), [3.0, 5.0, 4.0]);
    }

    #[test]
    fn a_new_derivative_leaves_value_and_other_derivatives_where_they_are_then() {
        let course = InputPolynomial {
            since: 0.0,
            taylor: [1.0, 2.0, 4.0],
            ..InputPolynomial::default()
        };
        let turned = course.with_derivative(0.5, 1, -1.0);
        assert_eq!(turned.since, 0.5);
        assert_eq!(turned.taylor, [2.5, -1.0, 4.0]);
    }

    #[test]
    fn extrapolation_reproduces_polynomials_of_its_order() {
        // u = 1 + 2 t − 3 t² at times that are not equally far apart.
        let u = |t: f64| 1.0 + 2.0 * t - 3.0 * t * t;
        let mut history = History::default();
        history.note(0.0, u(0.0));
        assert_eq!(history.taylor(Extrapolation::Quadratic), [1.0, 0.0, 0.0]);
        history.note(0.5, u(0.5));
        // The line through two points, also where a parabola is asked for.
        let chord = (u(0.5) - u(0.0)) / 0.5;
        for order in [Extrapolation::Linear, Extrapolation::Quadratic] {
            assert_eq!(history.taylor(order), [u(0.5), chord, 0.0]);
        }
        history.note(0.75, u(0.75));
        let course = InputPolynomial {
            since: 0.75,
            taylor: history.taylor(Extrapolation::Quadratic),
            ..InputPolynomial::default()
        };
        // Exact in binary.
        assert_eq!(course.at(2.0), [u(2.0), 2.0 - 12.0, -6.0]);
        assert_eq!(history.taylor(Extrapolation::Hold), [u(0.75), 0.0, 0.0]);
    }

    #[test]
    fn the_last_word_at_a_time_counts() {
        let mut history = History::default();
        history.note(0.0, 1.0);
        history.note(1.0, 7.0);
        history.note(1.0, 2.0);
        assert_eq!(history.known, 2);
        assert_eq!(history.taylor(Extrapolation::Linear), [2.0, 1.0, 0.0]);
    }

    #[test]
    fn values_too_close_for_a_slope_are_held() {
        let mut history = History::default();
        history.note(0.0, -1e300);
        history.note(1e-300, 1e300);
        assert_eq!(history.taylor(Extrapolation::Linear), [1e300, 0.0, 0.0]);
    }

    #[test]
    fn values_set_before_the_start_count_from_the_start() {
        let mut drive = InputState {
            inputs: vec![InputPolynomial {
                since: 0.0,
                taylor: [1.0, 2.0, 0.0],
                ..InputPolynomial::default()
            }],
            parameters: vec![],
        };
        drive.begin(10.0);
        let (mut u, mut u_dot, mut u_ddot) = ([0.0], [0.0], [0.0]);
        drive.sample(11.0, &mut u, &mut u_dot, &mut u_ddot);
        assert_eq!((u, u_dot, u_ddot), ([3.0], [2.0], [0.0]));
    }

    #[test]
    fn a_speed_and_an_acceleration_are_integrated_from_where_the_motion_was() {
        for order in [1, 2] {
            let first = InputPolynomial {
                since: 1.0,
                taylor: [2.0, -1.0, 3.0],
                order,
                reached: [0.5, 0.25],
            };
            assert_eq!(first.at(1.5), [1.875, 0.5, 3.0]);
            // Set again at 1.5: the motion goes on from there, the input jumps.
            let mut second = first;
            second.go_on(1.5, [-4.0, 0.0, 0.0]);
            let (end, begin) = (first.driving(1.5), second.driving(1.5));
            for k in 0..usize::from(order) {
                assert_eq!(
                    end[k].to_bits(),
                    begin[k].to_bits(),
                    "order {order}, derivative {k}"
                );
            }
            assert_eq!(begin[usize::from(order)], -4.0);
            // Each is the derivative of the one before. Central differences: exact for parabolas, e²/6 u'' beyond.
            for course in [first, second] {
                let (t, e) = (1.7, 1e-3);
                let (low, mid, high) = (
                    course.driving(t - e),
                    course.driving(t),
                    course.driving(t + e),
                );
                for k in 0..2 {
                    let slope = (high[k] - low[k]) / (2.0 * e);
                    assert!(
                        (slope - mid[k + 1]).abs() < 1e-6,
                        "order {order}, derivative {k}"
                    );
                }
            }
        }
        // 0.5 + 0.25 τ + τ² − τ³/6 + τ⁴/8 at τ = 0.5 by hand.
        let course = InputPolynomial {
            since: 1.0,
            taylor: [2.0, -1.0, 3.0],
            order: 2,
            reached: [0.5, 0.25],
        };
        let expected = 0.5 + 0.125 + 0.25 - 0.125 / 6.0 + 0.0625 / 8.0;
        assert!((course.driving(1.5)[0] - expected).abs() < 1e-15);
    }
}
