//! Integrals along the motion, such as that of a controller. They are no unknowns of a step: the integral at any time of the step
//! follows from the integrand there and at the start of the step, by the rule that is exact for the polynomial through values and
//! rates.
//!
//! ```text
//!   ∫₀ʰ e = h/2 (e₀ + e₁) + h²/12 (ė₀ − ė₁)                                    cubic through both ends: order 4
//!         + h⁵/30 e[0,0,h,h,−k] + (h⁶/60 + k h⁵/30) e[0,0,h,h,−k,−k]           quintic, with the start −k of the last step: order 6
//! ```
//!
//! e[..] are divided differences. The rule is linear in e₁ and ė₁, so that a force that depends on the integral has exact
//! derivatives.

/// Longest step, over the one before, whose integral uses the start of that one: beyond it rounding errors are amplified.
const LONGEST_RATIO: f64 = 8.0;

/// An integral at the start of a step, and the integrand there and at the start of the step before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntegralMemory {
    /// Start of the step (s).
    pub t: f64,
    /// The integral there.
    pub value: f64,
    /// Integrand e and its rate there.
    pub integrand: [f64; 2],
    /// Length of the step before (s); zero if there is none, or the motion was not smooth at its end.
    pub previous_step: f64,
    /// Integrand and rate at the start of the step before.
    pub previous: [f64; 2],
}

/// The integral of e from the start of a step, and its derivatives by e₁ and ė₁.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntegralOfStep {
    /// ∫ e
    pub value: f64,
    /// By e₁ (s).
    pub by_value: f64,
    /// By ė₁ (s²).
    pub by_rate: f64,
}

impl IntegralMemory {
    /// An integral at the start of a run.
    pub fn starting(t: f64, value: f64) -> Self {
        Self {
            t,
            value,
            ..Self::default()
        }
    }

    /// The memory of the next step, which starts at `t` with this integral and integrand.
    pub fn followed_by(&self, t: f64, value: f64, integrand: [f64; 2]) -> Self {
        let h = t - self.t;
        if h > 0.0 {
            Self {
                t,
                value,
                integrand,
                previous_step: h,
                previous: self.integrand,
            }
        } else {
            Self {
                t,
                value,
                integrand,
                ..*self
            }
        }
    }

    /// Forgets the step before: the motion is not smooth.
    pub fn forget_previous(&mut self) {
        self.previous_step = 0.0;
        self.previous = [0.0; 2];
    }

    /// ∫ e from the start of the step to `t`, where the integrand is `end`.
    pub fn over_step(&self, t: f64, end: [f64; 2]) -> IntegralOfStep {
        let h = t - self.t;
        let [e0, e0_dot] = self.integrand;
        let difference = [end[0] - e0, end[1]];
        let all =
            |start: [f64; 2], previous: [f64; 2], end: [f64; 2]| self.rule(h, start, previous, end);
        // Constant part e₀ h apart, so that nothing cancels.
        IntegralOfStep {
            value: h * e0
                + all(
                    [0.0, e0_dot],
                    [self.previous[0] - e0, self.previous[1]],
                    difference,
                ),
            by_value: all([0.0; 2], [0.0; 2], [1.0, 0.0]),
            by_rate: all([0.0; 2], [0.0; 2], [0.0, 1.0]),
        }
    }

    /// The rule above for (e, ė) at the start of the step, of the step before, and at the end.
    fn rule(&self, h: f64, start: [f64; 2], previous: [f64; 2], end: [f64; 2]) -> f64 {
        let cubic = 0.5 * h * (start[0] + end[0]) + h * h / 12.0 * (start[1] - end[1]);
        let k = self.previous_step;
        if k <= 0.0 || h.abs() > LONGEST_RATIO * k {
            return cubic;
        }
        let Quintic {
            h5_first,
            h5_second,
        } = quintic(h, k, start, previous, end);
        cubic + h5_first / 30.0 + (h / 60.0 + k / 30.0) * h5_second
    }

    /// The integrand at the time `s` after the start of a step that ends at `t`: the polynomial of the rule.
    pub fn integrand_at(&self, t: f64, end: [f64; 2], s: f64) -> f64 {
        let h = t - self.t;
        if h == 0.0 {
            return self.integrand[0];
        }
        let [e0, e0_dot] = self.integrand;
        let x = s / h;
        let (rise, slopes) = (end[0] - e0, [h * e0_dot, h * end[1]]);
        let c2 = 3.0 * rise - 2.0 * slopes[0] - slopes[1];
        let c3 = slopes[0] + slopes[1] - 2.0 * rise;
        let cubic = e0 + x * (slopes[0] + x * (c2 + x * c3));
        let k = self.previous_step;
        if k <= 0.0 || h.abs() > LONGEST_RATIO * k {
            return cubic;
        }
        let Quintic {
            h5_first,
            h5_second,
        } = quintic(h, k, self.integrand, self.previous, end);
        let bump = x * x * (1.0 - x) * (1.0 - x) / h;
        cubic + bump * (h5_first + (s + k) * h5_second)
    }
}

/// h⁵ times the divided differences e[0,0,h,h,−k] and e[0,0,h,h,−k,−k]. No quantity is divided by h.
struct Quintic {
    h5_first: f64,
    h5_second: f64,
}

fn quintic(h: f64, k: f64, start: [f64; 2], previous: [f64; 2], end: [f64; 2]) -> Quintic {
    let ([e, e_dot], [b, b_dot]) = (start, previous);
    let (h2, sum) = (h * h, h + k);
    let rise = end[0] - e;
    let back = (e - b) / k;
    // h² e[0,0,h], h³ e[0,0,h,h]
    let (h2_00h, h3_00hh) = (rise - h * e_dot, h * (e_dot + end[1]) - 2.0 * rise);
    let k00 = (e_dot - back) / k;
    let kk0 = (back - b_dot) / k;
    let kk00 = (k00 - kk0) / k;
    let h2_k00h = (h2_00h - h2 * k00) / sum;
    let h5_first = h2 * (h3_00hh - h * h2_k00h) / sum;
    let h5_kk00h = h * h2 * (h2_k00h - h2 * kk00) / sum;
    Quintic {
        h5_first,
        h5_second: (h5_first - h5_kk00h) / sum,
    }
}
