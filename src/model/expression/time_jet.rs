//! Numbers with two derivatives by time, for expressions of time.

use super::ExpressionNumber;

/// u, u̇, ü
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) struct TimeJet(pub [f64; 3]);

impl ExpressionNumber for TimeJet {
    fn constant(x: f64) -> Self {
        Self([x, 0.0, 0.0])
    }

    fn value(self) -> f64 {
        self.0[0]
    }

    fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }

    /// (a b)˙ = ȧ b + a ḃ,   (a b)¨ = ä b + 2 ȧ ḃ + a b̈
    fn times(self, other: Self) -> Self {
        let ([a, a1, a2], [b, b1, b2]) = (self.0, other.0);
        Self([a * b, a1 * b + a * b1, a2 * b + 2.0 * a1 * b1 + a * b2])
    }

    /// f(a)˙ = f' ȧ,   f(a)¨ = f'' ȧ² + f' ä. What does not move is constant, even where f has no derivative.
    fn chain(self, [f, f1, f2]: [f64; 3]) -> Self {
        let [_, a1, a2] = self.0;
        if a1 == 0.0 && a2 == 0.0 {
            return Self([f, 0.0, 0.0]);
        }
        Self([f, f1 * a1, f2 * a1 * a1 + f1 * a2])
    }
}
