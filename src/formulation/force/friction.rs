//! Coulomb friction with Stribeck effect. Regularised, the joint creeps below the stiction velocity instead of sticking:
//!
//! ```text
//!   F = (L_k + (L_s − L_k) exp(−(u/u_st)²)) tanh(u/u_0) + d u,      u = ċ,      dissipated = F u
//! ```
//!
//! Set-valued friction has no factor tanh while it slips, and at rest any force up to L_s.

use super::dual::Scalar;
use super::{ScalarForce, ScalarLaw};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{EvaluationContext, Power};
use crate::linalg::elementary::{exp, tanh};
use crate::model::FrictionDefinition;

/// Parameters of the law. The levels are forces or torques in joints, and multiples of the normal force in contacts.
#[derive(Clone, Copy, Debug)]
pub struct Friction {
    /// L_k
    pub kinetic: DrivenValue,
    /// L_s
    pub r#static: DrivenValue,
    /// u_0; zero if it is set-valued.
    pub stiction_velocity: f64,
    /// u_st; zero if the transition to the kinetic level is sudden.
    pub stribeck_velocity: f64,
    /// d
    pub viscous: DrivenValue,
}

/// Default of the Stribeck velocity over the stiction velocity.
const STRIBECK: f64 = 10.0;

/// u_0 and u_st of a definition.
pub fn speeds(friction: &FrictionDefinition) -> (f64, f64) {
    let stiction = friction.stiction_velocity.unwrap_or(0.0);
    let stribeck = friction.stribeck_velocity.unwrap_or(STRIBECK * stiction);
    (stiction, stribeck)
}

impl Friction {
    /// Whether it sticks at rest.
    pub fn is_set_valued(&self) -> bool {
        self.stiction_velocity == 0.0
    }

    /// Returns the level of slip at the speed u ≥ 0 and its derivative.
    pub fn slip_level(&self, cx: &EvaluationContext, u: f64) -> (f64, f64) {
        let (kinetic, viscous) = (self.kinetic.get(cx), self.viscous.get(cx));
        if self.stribeck_velocity == 0.0 {
            return (kinetic + viscous * u, viscous);
        }
        let x = u / self.stribeck_velocity;
        let excess = (self.r#static.get(cx) - kinetic) * exp(-x * x);
        (
            kinetic + excess + viscous * u,
            viscous - 2.0 * excess * x / self.stribeck_velocity,
        )
    }

    /// Returns F(u), an odd function of u, and its derivative.
    pub fn level(&self, cx: &EvaluationContext, u: f64) -> (f64, f64) {
        let (kinetic, excess) = (
            self.kinetic.get(cx),
            self.r#static.get(cx) - self.kinetic.get(cx),
        );
        let x = u / self.stribeck_velocity;
        let stribeck = exp(-x * x);
        let tanh = tanh(u / self.stiction_velocity);
        let level = kinetic + excess * stribeck;
        let viscous = self.viscous.get(cx);
        let slope = -2.0 * excess * stribeck * x / self.stribeck_velocity * tanh
            + level * (1.0 - tanh * tanh) / self.stiction_velocity;
        (level * tanh + viscous * u, slope + viscous)
    }

    /// Returns F(u)/u for the speed u = √s; smooth also at u = 0.
    pub fn over_speed<T: Scalar>(&self, cx: &EvaluationContext, squared: T) -> T {
        let s = squared.value().max(0.0);
        let u = s.sqrt();
        let x = u / self.stiction_velocity;
        if x < 1e-3 {
            // tanh x / x = 1 − x²/3 + 2x⁴/15 at the static level; the next terms are below rounding.
            let (kinetic, excess) = (
                self.kinetic.get(cx),
                self.r#static.get(cx) - self.kinetic.get(cx),
            );
            let z = 1.0 / (self.stribeck_velocity * self.stribeck_velocity);
            let w = 1.0 / (self.stiction_velocity * self.stiction_velocity);
            let (stribeck, stribeck_s) = (1.0 - z * s + 0.5 * z * z * s * s, -z + z * z * s);
            let (ratio, ratio_s) = (
                1.0 - w * s / 3.0 + 2.0 * w * w * s * s / 15.0,
                -w / 3.0 + 4.0 * w * w * s / 15.0,
            );
            let level = kinetic + excess * stribeck;
            let y = level * ratio / self.stiction_velocity + self.viscous.get(cx);
            let slope = (level * ratio_s + excess * stribeck_s * ratio) / self.stiction_velocity;
            return squared.chain(y, slope);
        }
        let (level, by_u) = self.level(cx, u);
        // d(level/u)/ds = (level' u − level)/(2 u³)
        squared.chain(level / u, (by_u * u - level) / (2.0 * u * u * u))
    }
}

impl ScalarLaw for Friction {
    fn force(&self, cx: &EvaluationContext, _length: f64, rate: f64) -> ScalarForce {
        let (force, by_rate) = self.level(cx, rate);
        ScalarForce {
            force,
            by_length: 0.0,
            by_rate,
        }
    }

    /// The force on the coordinate.
    fn reported_force(&self, force: &ScalarForce) -> f64 {
        -force.force
    }

    fn depends_on_length(&self) -> bool {
        false
    }

    fn depends_on_rate(&self) -> bool {
        true
    }

    fn power(&self, cx: &EvaluationContext, _length: f64, rate: f64) -> Power {
        Power {
            dissipated: self.level(cx, rate).0 * rate,
            supplied: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dual::Dual;
    use super::*;

    const CONTEXT: EvaluationContext = EvaluationContext {
        t: 0.0,
        u: &[],
        u_dot: &[],
        u_ddot: &[],
        p: &[],
        modes: &[],
        integrals: &[],
    };

    fn friction() -> Friction {
        Friction {
            kinetic: DrivenValue::Constant(2.0),
            r#static: DrivenValue::Constant(3.0),
            stiction_velocity: 1e-3,
            stribeck_velocity: 1e-2,
            viscous: DrivenValue::Constant(0.5),
        }
    }

    #[test]
    fn friction_peaks_near_the_static_level_and_falls_to_the_kinetic_one() {
        let f = friction();
        assert_eq!(f.level(&CONTEXT, 0.0).0, 0.0);
        let peak = (0..1000)
            .map(|k| f.level(&CONTEXT, 1e-5 * k as f64).0)
            .fold(0.0, f64::max);
        assert!(peak > 2.85 && peak < 3.0, "{peak}");
        assert!(
            (f.level(&CONTEXT, 1.0).0 - 2.5).abs() < 1e-12
                && (f.level(&CONTEXT, -1.0).0 + 2.5).abs() < 1e-12
        );
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let f = friction();
        for u in [-3e-2, -1e-3, 0.0, 2e-4, 5e-3, 0.3] {
            let e = 1e-7;
            let slope = (f.level(&CONTEXT, u + e).0 - f.level(&CONTEXT, u - e).0) / (2.0 * e);
            // Second-order difference: e² F'''/6 with F''' up to 6e9, a few 1e-5 of slopes of thousands.
            assert!((slope - f.level(&CONTEXT, u).1).abs() < 1e-4, "{u}");
        }
        for u in [1e-9_f64, 1e-7, 9.9e-7, 1.01e-6, 1e-4, 3e-3, 0.2] {
            let s = u * u;
            let squared = Dual::<1> {
                x: s,
                q: [1.0],
                v: [0.0],
                t: 0.0,
            };
            let y = f.over_speed(&CONTEXT, squared);
            assert!((y.x - f.level(&CONTEXT, u).0 / u).abs() < 1e-9 * y.x, "{u}");
            let e = 1e-3 * s;
            let value = |s: f64| f.over_speed(&CONTEXT, s);
            let slope = (value(s + e) - value(s - e)) / (2.0 * e);
            // Rounding of 3e3 over 2e-3 s.
            assert!(
                (slope - y.q[0]).abs() < 1e-5 * y.q[0].abs() + 1e-9 / s,
                "{u}: {slope} {}",
                y.q[0]
            );
        }
    }
}
