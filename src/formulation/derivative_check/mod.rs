//! Checks a [`System`]: every derivative against differences, the configuration space against its definition, the power against the
//! rate of the energy. For tests of any system, built-in or user-defined.
//!
//! ```text
//!   d/dx ≈ [8 (F(e) − F(−e)) − (F(2e) − F(−2e))] / (12 e)        error e⁴ F⁽⁵⁾/30 + rounding/e
//! ```

mod comparisons;

use super::{EvaluationContext, MotionPoint, System, TangentWeights};

/// Settings of the check.
#[derive(Clone, Copy, Debug)]
pub struct DerivativeCheck {
    /// Step e of the differences in the coordinates, relative to `scale`.
    pub step: f64,
    /// Typical displacement: coordinates are displaced by `step` x `scale`.
    pub scale: f64,
    /// Tolerance relative to the largest entry of the derivative and of the differenced function.
    pub tolerance: f64,
    /// Whether to compare the rate of the energy with the power.
    pub energy: bool,
}

impl Default for DerivativeCheck {
    /// With e = 1e-3 the truncation error is about 1e-12 and rounding 1e-13 of the function's magnitude; the margin is for functions
    /// that vary within a tenth of their scale.
    fn default() -> Self {
        Self {
            step: 1e-3,
            scale: 1.0,
            tolerance: 1e-8,
            energy: true,
        }
    }
}

/// Checks everything at one point; the error lists all disagreements.
pub fn check(
    system: &dyn System,
    cx: &EvaluationContext,
    at: &MotionPoint,
    options: &DerivativeCheck,
) -> Result<(), String> {
    let mut point = CheckPoint {
        system,
        cx: *cx,
        at: *at,
        options: *options,
        disagreements: Vec::new(),
    };
    point.sparsity();
    if point.disagreements.is_empty() {
        point.configuration_space();
        point.mass();
        point.tangent();
        point.constraints();
        point.events();
        if options.energy {
            point.energy();
        }
    }
    if point.disagreements.is_empty() {
        Ok(())
    } else {
        Err(point.disagreements.join("\n"))
    }
}

type Dense = nalgebra::DMatrix<f64>;
type Column = nalgebra::DVector<f64>;

struct CheckPoint<'a> {
    system: &'a dyn System,
    cx: EvaluationContext<'a>,
    at: MotionPoint<'a>,
    options: DerivativeCheck,
    disagreements: Vec<String>,
}

/// A derivative by differences, and a bound of its rounding error.
struct DifferenceQuotient {
    value: Column,
    rounding: f64,
}

/// A derivative by differences, column by column.
struct DifferenceMatrix {
    value: Dense,
    rounding: f64,
}

impl DifferenceMatrix {
    fn new(columns: Vec<DifferenceQuotient>) -> Self {
        let rounding = columns.iter().fold(0.0, |m: f64, c| m.max(c.rounding));
        let columns: Vec<Column> = columns.into_iter().map(|c| c.value).collect();
        Self {
            value: Dense::from_columns(&columns),
            rounding,
        }
    }
}

impl DifferenceQuotient {
    fn matrix(self) -> DifferenceMatrix {
        DifferenceMatrix::new(vec![self])
    }
}

/// Rounding error of a sum of about a hundred terms, in units of ε.
const ROUNDING: f64 = 100.0;

/// Relative tolerance of values computed without differences.
const EXACT: f64 = 1e-12;

fn matrix(x: &Column) -> Dense {
    Dense::from_column_slice(x.len(), 1, x.as_slice())
}

impl CheckPoint<'_> {
    /// Compares entry by entry; notes differences above `accepted`.
    fn compare(&mut self, what: &str, given: &Dense, expected: &Dense, accepted: f64) {
        for j in 0..given.ncols() {
            for i in 0..given.nrows() {
                let error = (given[(i, j)] - expected[(i, j)]).abs();
                if error.is_nan() || error > accepted {
                    self.disagreements.push(format!(
                        "{what} ({i}, {j}): {:e}, expected {:e}",
                        given[(i, j)],
                        expected[(i, j)]
                    ));
                }
            }
        }
    }

    /// Compares values computed without differences.
    fn compare_exact(&mut self, what: &str, given: &Dense, expected: &Dense) {
        let size = if expected.is_empty() {
            0.0
        } else {
            expected.amax()
        };
        self.compare(what, given, expected, EXACT * size);
    }

    /// Compares a derivative with differences.
    fn compare_derivative(&mut self, what: &str, given: &Dense, expected: &DifferenceMatrix) {
        let accepted = self.options.tolerance * expected.value.amax() + expected.rounding;
        self.compare(what, given, &expected.value, accepted);
    }

    /// Fourth-order difference of a function of one number at zero.
    fn difference_quotient(&self, e: f64, f: impl Fn(f64) -> Column) -> DifferenceQuotient {
        let f = [f(-2.0 * e), f(-e), f(e), f(2.0 * e)];
        let size = f.iter().fold(0.0, |m: f64, f| m.max(f.amax()));
        DifferenceQuotient {
            value: (8.0 * (&f[2] - &f[1]) - (&f[3] - &f[0])) / (12.0 * e),
            rounding: ROUNDING * f64::EPSILON * size / e,
        }
    }

    fn retracted(&self, q: &[f64], w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; q.len()];
        self.system.retract(q, w, &mut out);
        out
    }

    fn displacement(&self, q0: &[f64], q1: &[f64]) -> Column {
        let mut w = Column::zeros(self.nv());
        self.system.difference(q0, q1, w.as_mut_slice());
        w
    }

    fn nv(&self) -> usize {
        self.system.dimensions().nv
    }

    fn nc(&self) -> usize {
        self.system.dimensions().nc
    }

    fn unit(&self, j: usize, x: f64) -> Vec<f64> {
        let mut w = vec![0.0; self.nv()];
        w[j] = x;
        w
    }

    /// Calls `f` with the context a time `dt` later, inputs extrapolated by their derivatives.
    fn at_later_time<R>(&self, dt: f64, f: impl FnOnce(&EvaluationContext) -> R) -> R {
        let cx = &self.cx;
        let n = cx.u.len();
        let u: Vec<f64> = (0..n)
            .map(|i| cx.u[i] + dt * (cx.u_dot[i] + 0.5 * dt * cx.u_ddot[i]))
            .collect();
        let u_dot: Vec<f64> = (0..n).map(|i| cx.u_dot[i] + dt * cx.u_ddot[i]).collect();
        f(&EvaluationContext {
            t: cx.t + dt,
            u: &u,
            u_dot: &u_dot,
            ..*cx
        })
    }

    fn force_at(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Column {
        let mut out = Column::from_element(self.nv(), f64::NAN);
        match self.system.force(cx, q, v, out.as_mut_slice()) {
            Ok(()) => out + self.constraint_friction_at(cx, q, v),
            Err(_) => Column::from_element(self.nv(), f64::NAN),
        }
    }

    fn constraint_friction_at(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Column {
        let mut out = Column::zeros(self.nv());
        (self.system).constraint_friction(cx, q, v, self.at.lambda, out.as_mut_slice());
        out
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64]) -> Column {
        let mut out = Column::from_element(self.nv(), f64::NAN);
        self.system.mass_times(cx, q, a, out.as_mut_slice());
        out
    }

    fn constraint_at(&self, cx: &EvaluationContext, q: &[f64]) -> Column {
        let mut out = Column::from_element(self.nc(), f64::NAN);
        self.system.constraint(cx, q, out.as_mut_slice());
        out
    }

    fn rate_at(&self, cx: &EvaluationContext, q: &[f64]) -> Column {
        let mut out = Column::from_element(self.nc(), f64::NAN);
        self.system.constraint_rate(cx, q, out.as_mut_slice());
        out
    }

    fn jacobian_at(&self, cx: &EvaluationContext, q: &[f64]) -> Dense {
        let sparsity = self.system.sparsity().jacobian;
        let mut values = vec![f64::NAN; sparsity.len()];
        self.system.jacobian(cx, q, &mut values);
        let mut dense = Dense::zeros(self.nc(), self.nv());
        for ((i, j), x) in sparsity.into_iter().zip(values) {
            dense[(i as usize, j as usize)] += x;
        }
        dense
    }

    fn tangent_at(&self, weights: &TangentWeights) -> Dense {
        let sparsity = self.system.sparsity().tangent;
        let mut values = vec![f64::NAN; sparsity.len()];
        let result = (self.system).tangent(&self.cx, &self.at, weights, &mut values);
        let mut dense = Dense::zeros(self.nv(), self.nv());
        for ((i, j), x) in sparsity.into_iter().zip(values) {
            dense[(i as usize, j as usize)] += if result.is_ok() { x } else { f64::NAN };
        }
        dense
    }

    /// T(theta)⁻¹
    fn inverse(&self, theta: &[f64]) -> Dense {
        let mut out = Dense::identity(self.nv(), self.nv());
        for mut column in out.column_iter_mut() {
            self.system.tangent_inverse(theta, column.as_mut_slice());
        }
        out
    }
}
