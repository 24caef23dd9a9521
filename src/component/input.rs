//! What the outside gives to the mechanism: inputs as functions of time, and parameters.
//!
//! An input set at time t₀ is continued from there until it is set again,
//!
//! ```text
//!   u(t) = u₀ + u₁ (t − t₀) + u₂ (t − t₀)²/2
//! ```
//!
//! with u₁ = u₂ = 0 (hold) unless the host gives derivatives.

use crate::integrator::Signals;

/// The highest derivative of an input a host can give.
pub const HIGHEST_DERIVATIVE: u32 = 2;

/// One input as a function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Course {
    /// The time it was set at (s).
    pub since: f64,
    /// Value and derivatives at that time.
    pub taylor: [f64; 3],
}

impl Course {
    /// Holds `value` from `since` on.
    pub fn hold(since: f64, value: f64) -> Self {
        Self {
            since,
            taylor: [value, 0.0, 0.0],
        }
    }

    /// u, u' and u'' at `t`.
    pub fn at(&self, t: f64) -> [f64; 3] {
        let [u0, u1, u2] = self.taylor;
        // A held input is held to the bit, also at times where t − t₀ overflows.
        if u1 == 0.0 && u2 == 0.0 {
            return self.taylor;
        }
        let s = t - self.since;
        [u0 + s * (u1 + 0.5 * s * u2), u1 + s * u2, u2]
    }

    /// The same course, written as seen from `t`, with its derivative of `order` replaced.
    pub fn with_derivative(&self, t: f64, order: usize, value: f64) -> Self {
        let mut taylor = self.at(t);
        taylor[order] = value;
        Self { since: t, taylor }
    }
}

/// All inputs as functions of time, and the parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Drive {
    pub inputs: Vec<Course>,
    pub parameters: Vec<f64>,
}

impl Drive {
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

impl Signals for Drive {
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        for (i, course) in self.inputs.iter().enumerate() {
            [u[i], u_dot[i], u_ddot[i]] = course.at(t);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_input_keeps_its_bits_for_ever() {
        let course = Course::hold(-1e308, 0.1);
        for t in [-1e308, 0.0, 1e-300, 1e308, f64::INFINITY] {
            assert_eq!(course.at(t), [0.1, 0.0, 0.0], "t = {t}");
        }
    }

    #[test]
    fn derivatives_continue_the_input_as_a_parabola() {
        let course = Course::hold(2.0, 1.0)
            .with_derivative(2.0, 1, 3.0)
            .with_derivative(2.0, 2, 4.0);
        // 1 + 3 s + 2 s² at s = 0.5, all exact in binary.
        assert_eq!(course.at(2.5), [3.0, 5.0, 4.0]);
    }

    #[test]
    fn a_new_derivative_leaves_value_and_other_derivatives_where_they_are_then() {
        let course = Course {
            since: 0.0,
            taylor: [1.0, 2.0, 4.0],
        };
        let turned = course.with_derivative(0.5, 1, -1.0);
        assert_eq!(turned.since, 0.5);
        assert_eq!(turned.taylor, [2.5, -1.0, 4.0]);
    }

    #[test]
    fn values_set_before_the_start_count_from_the_start() {
        let mut drive = Drive {
            inputs: vec![Course {
                since: 0.0,
                taylor: [1.0, 2.0, 0.0],
            }],
            parameters: vec![],
        };
        drive.begin(10.0);
        let (mut u, mut u_dot, mut u_ddot) = ([0.0], [0.0], [0.0]);
        drive.sample(11.0, &mut u, &mut u_dot, &mut u_ddot);
        assert_eq!((u, u_dot, u_ddot), ([3.0], [2.0], [0.0]));
    }
}
