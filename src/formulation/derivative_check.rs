//! Holds a [`System`] against its own definitions: every derivative against differences of what it derives, the geometry of
//! the coordinates against itself, the power against the rate of the energy. For the tests of any system, whoever wrote it.
//!
//! ```text
//!   d/dx ≈ [8 (F(e) − F(−e)) − (F(2e) − F(−2e))] / (12 e)        error e⁴ F⁽⁵⁾/30 + rounding/e
//! ```

use super::{EvaluationContext, MotionPoint, System, TangentWeights};
use crate::linalg::random::Random;

/// How to look.
#[derive(Clone, Copy, Debug)]
pub struct DerivativeCheck {
    /// Step e of the differences in the coordinates, relative to `scale`.
    pub step: f64,
    /// Size of a typical displacement: coordinates are moved by `step` x `scale`.
    pub scale: f64,
    /// Accepted difference relative to the largest entry of the object compared and to what was differenced for it.
    pub tolerance: f64,
    /// The system knows its energy: compare its rate with the power.
    pub energy: bool,
}

impl Default for DerivativeCheck {
    /// With e = 1e-3 truncation is about 1e-12 and rounding 1e-13 of the size of the differenced function; the rest is left
    /// for functions that bend within a tenth of their scale.
    fn default() -> Self {
        Self {
            step: 1e-3,
            scale: 1.0,
            tolerance: 1e-8,
            energy: true,
        }
    }
}

/// Looks at everything at one point; the error lists what disagrees.
pub fn check(
    system: &dyn System,
    cx: &EvaluationContext,
    at: &MotionPoint,
    options: &DerivativeCheck,
) -> Result<(), String> {
    let mut look = CheckPoint {
        system,
        cx: *cx,
        at: *at,
        options: *options,
        wrong: Vec::new(),
    };
    look.pattern();
    if look.wrong.is_empty() {
        look.geometry();
        look.mass();
        look.tangent();
        look.constraints();
        look.events();
        if options.energy {
            look.energy();
        }
    }
    if look.wrong.is_empty() {
        Ok(())
    } else {
        Err(look.wrong.join("\n"))
    }
}

type Dense = nalgebra::DMatrix<f64>;
type Column = nalgebra::DVector<f64>;

struct CheckPoint<'a> {
    system: &'a dyn System,
    cx: EvaluationContext<'a>,
    at: MotionPoint<'a>,
    options: DerivativeCheck,
    wrong: Vec<String>,
}

/// A derivative found by differences, and how far rounding may have moved it.
struct Slope {
    value: Column,
    noise: f64,
}

/// The columns of a derivative.
struct Slopes {
    value: Dense,
    noise: f64,
}

impl Slopes {
    fn new(columns: Vec<Slope>) -> Self {
        let noise = columns.iter().fold(0.0, |m: f64, c| m.max(c.noise));
        let columns: Vec<Column> = columns.into_iter().map(|c| c.value).collect();
        Self {
            value: Dense::from_columns(&columns),
            noise,
        }
    }
}

impl Slope {
    fn matrix(self) -> Slopes {
        Slopes::new(vec![self])
    }
}

/// Rounding of a sum of about a hundred terms, in units of the last place.
const ROUNDING: f64 = 100.0;

/// Accepted relative difference where nothing was differenced.
const EXACT: f64 = 1e-12;

fn matrix(x: &Column) -> Dense {
    Dense::from_column_slice(x.len(), 1, x.as_slice())
}

impl CheckPoint<'_> {
    /// Entry by entry; what is off by more than `accepted` is noted.
    fn compare(&mut self, what: &str, given: &Dense, expected: &Dense, accepted: f64) {
        for j in 0..given.ncols() {
            for i in 0..given.nrows() {
                let miss = (given[(i, j)] - expected[(i, j)]).abs();
                if miss.is_nan() || miss > accepted {
                    self.wrong.push(format!(
                        "{what} ({i}, {j}): {:e}, expected {:e}",
                        given[(i, j)],
                        expected[(i, j)]
                    ));
                }
            }
        }
    }

    /// Something computed twice without differences.
    fn equal(&mut self, what: &str, given: &Dense, expected: &Dense) {
        let size = if expected.is_empty() {
            0.0
        } else {
            expected.amax()
        };
        self.compare(what, given, expected, EXACT * size);
    }

    /// A derivative against differences.
    fn derived(&mut self, what: &str, given: &Dense, expected: &Slopes) {
        let accepted = self.options.tolerance * expected.value.amax() + expected.noise;
        self.compare(what, given, &expected.value, accepted);
    }

    /// Difference of fourth order at zero of a function of a number.
    fn differ(&self, e: f64, f: impl Fn(f64) -> Column) -> Slope {
        let f = [f(-2.0 * e), f(-e), f(e), f(2.0 * e)];
        let size = f.iter().fold(0.0, |m: f64, f| m.max(f.amax()));
        Slope {
            value: (8.0 * (&f[2] - &f[1]) - (&f[3] - &f[0])) / (12.0 * e),
            noise: ROUNDING * f64::EPSILON * size / e,
        }
    }

    fn moved(&self, q: &[f64], w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; q.len()];
        self.system.retract(q, w, &mut out);
        out
    }

    fn apart(&self, q0: &[f64], q1: &[f64]) -> Column {
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

    /// The context `dt` later, inputs following their derivatives.
    fn later<R>(&self, dt: f64, f: impl FnOnce(&EvaluationContext) -> R) -> R {
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

    // ---- evaluation in dense form ------------------------------------------------------------------------------

    fn force_at(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Column {
        let mut out = Column::from_element(self.nv(), f64::NAN);
        match self.system.force(cx, q, v, out.as_mut_slice()) {
            Ok(()) => out + self.rub_at(cx, q, v),
            Err(_) => Column::from_element(self.nv(), f64::NAN),
        }
    }

    fn rub_at(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Column {
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
        let pattern = self.system.sparsity().jacobian;
        let mut values = vec![f64::NAN; pattern.len()];
        self.system.jacobian(cx, q, &mut values);
        let mut dense = Dense::zeros(self.nc(), self.nv());
        for ((i, j), x) in pattern.into_iter().zip(values) {
            dense[(i as usize, j as usize)] += x;
        }
        dense
    }

    fn tangent_at(&self, weights: &TangentWeights) -> Dense {
        let pattern = self.system.sparsity().tangent;
        let mut values = vec![f64::NAN; pattern.len()];
        let MotionPoint { q, v, a, lambda } = self.at;
        let done = self.system.tangent(
            &self.cx,
            &MotionPoint { q, v, a, lambda },
            weights,
            &mut values,
        );
        let mut dense = Dense::zeros(self.nv(), self.nv());
        for ((i, j), x) in pattern.into_iter().zip(values) {
            dense[(i as usize, j as usize)] += if done.is_ok() { x } else { f64::NAN };
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

    // ---- the comparisons ---------------------------------------------------------------------------------------

    fn pattern(&mut self) {
        let pattern = self.system.sparsity();
        let (nv, nc) = (self.nv() as u32, self.nc() as u32);
        let places: std::collections::HashSet<(u32, u32)> =
            pattern.tangent.iter().copied().collect();
        for &(i, j) in &pattern.tangent {
            if i >= nv || j >= nv {
                let text = format!("pattern of the tangent: ({i}, {j}) is outside {nv} x {nv}");
                self.wrong.push(text);
            } else if !places.contains(&(j, i)) {
                let text = format!("pattern of the tangent: ({i}, {j}) without ({j}, {i})");
                self.wrong.push(text);
            }
        }
        for &(i, j) in &pattern.jacobian {
            if i >= nc || j >= nv {
                let text = format!("pattern of the Jacobian: ({i}, {j}) is outside {nc} x {nv}");
                self.wrong.push(text);
            }
        }
    }

    /// retract, difference, bracket and the tangent of the exponential.
    fn geometry(&mut self) {
        let (n, scale) = (self.nv(), self.options.scale);
        let mut random = Random::new(5);
        let (x, y) = (random.vector(n, 0.4 * scale), random.vector(n, 0.4 * scale));
        let q = self.at.q.to_vec();
        let back = self.apart(&q, &self.moved(&q, &x));
        let x = Column::from_vec(x);
        self.equal("difference of retract", &matrix(&back), &matrix(&x));

        // (q ∘ x) ∘ (e T(x) y) = q ∘ (x + e y)
        let y = Column::from_vec(y);
        let there = self.moved(&q, x.as_slice());
        let turned = self.differ(self.options.step, |e| {
            self.apart(&there, &self.moved(&q, (&x + e * &y).as_slice()))
        });
        let mut found = turned.value;
        self.system
            .tangent_inverse(x.as_slice(), found.as_mut_slice());
        let accepted = self.options.tolerance * y.amax() + turned.noise;
        self.compare("tangent_inverse", &matrix(&found), &matrix(&y), accepted);

        // q ∘ ex ∘ ey = q ∘ ey ∘ ex ∘ e² [x, y] + ...
        let commuted = |e: f64| {
            let (x, y) = (e * &x, e * &y);
            let xy = self.moved(&self.moved(&q, x.as_slice()), y.as_slice());
            let yx = self.moved(&self.moved(&q, y.as_slice()), x.as_slice());
            self.apart(&yx, &xy)
        };
        let e = self.options.step;
        let (once, twice) = (
            commuted(e) + commuted(-e),
            commuted(2.0 * e) + commuted(-2.0 * e),
        );
        let expected = (16.0 * once - twice) / (24.0 * e * e);
        let mut bracket = Column::from_element(n, f64::NAN);
        self.system
            .bracket(x.as_slice(), y.as_slice(), bracket.as_mut_slice());
        // Second differences: rounding of the coordinates counts by 1/e².
        let rounding = ROUNDING * f64::EPSILON * (1.0 + scale) / (e * e);
        let accepted = self.options.tolerance * expected.amax() + rounding;
        self.compare("bracket", &matrix(&bracket), &matrix(&expected), accepted);

        if !self.system.properties().rotations {
            let plain = Column::from_iterator(n, (0..n).map(|i| there[i] - q[i]));
            self.equal("retract without rotations", &matrix(&plain), &matrix(&x));
        }
    }

    fn mass(&mut self) {
        let n = self.nv();
        let q = self.at.q;
        let mut expected = Dense::zeros(n, n);
        for j in 0..n {
            expected.set_column(j, &self.mass_times(&self.cx, q, &self.unit(j, 1.0)));
        }
        let given = self.tangent_at(&TangentWeights::MASS);
        self.equal("M", &given, &expected);
        let whole = &expected * Column::from_column_slice(self.at.a);
        let product = self.mass_times(&self.cx, q, self.at.a);
        self.equal("M a", &matrix(&product), &matrix(&whole));
        self.equal("M transposed", &expected.transpose(), &expected);
    }

    fn tangent(&mut self) {
        let n = self.nv();
        let e = self.options.step * self.options.scale;
        let MotionPoint { q, v, a, lambda } = self.at;
        let lambda = Column::from_column_slice(lambda);
        let (mut damping, mut stiffness) = (Vec::new(), Vec::new());
        for j in 0..n {
            let c = self.differ(e, |e| {
                let mut v = v.to_vec();
                v[j] += e;
                -self.force_at(&self.cx, q, &v)
            });
            damping.push(c);
            let k = self.differ(e, |e| {
                let q = self.moved(q, &self.unit(j, e));
                self.mass_times(&self.cx, &q, a) - self.force_at(&self.cx, &q, v)
                    + self.jacobian_at(&self.cx, &q).transpose() * &lambda
            });
            stiffness.push(k);
        }
        let (damping, stiffness) = (Slopes::new(damping), Slopes::new(stiffness));
        if !self.system.properties().velocity_forces {
            self.derived("C without velocity forces", &Dense::zeros(n, n), &damping);
        }
        let mass = self.tangent_at(&TangentWeights::MASS);
        let theta = Random::new(9).vector(n, 0.3 * self.options.scale);
        let none: &[f64] = &[];
        for (name, w, theta) in [
            ("C", [0.0, 1.0, 0.0], none),
            ("K", [0.0, 0.0, 1.0], none),
            ("S", [0.7, 0.3, 0.2], none),
            ("M at theta", [1.0, 0.0, 0.0], &theta),
            ("C at theta", [0.0, 1.0, 0.0], &theta),
            ("K at theta", [0.0, 0.0, 1.0], &theta),
            ("S at theta", [0.7, 0.3, 0.2], &theta),
        ] {
            let given = self.tangent_at(&TangentWeights {
                mass: w[0],
                damping: w[1],
                stiffness: w[2],
                theta,
            });
            let inverse = if theta.is_empty() {
                Dense::identity(n, n)
            } else {
                self.inverse(theta)
            };
            let rates = w[0] * &mass + w[1] * &damping.value;
            let expected = Slopes {
                value: rates * &inverse + w[2] * &stiffness.value,
                noise: EXACT * mass.amax()
                    + w[1] * damping.noise * inverse.amax()
                    + w[2] * stiffness.noise,
            };
            self.derived(name, &given, &expected);
        }
    }

    fn constraints(&mut self) {
        let (n, nc) = (self.nv(), self.nc());
        if nc == 0 {
            return;
        }
        let e = self.options.step * self.options.scale;
        let MotionPoint { q, v, .. } = self.at;
        let column = |j| {
            self.differ(e, |e| {
                self.constraint_at(&self.cx, &self.moved(q, &self.unit(j, e)))
            })
        };
        let expected = Slopes::new((0..n).map(column).collect());
        let given = self.jacobian_at(&self.cx, q);
        self.derived("G", &given, &expected);

        let e = self.options.step;
        let expected = self.differ(e, |dt| self.later(dt, |cx| self.constraint_at(cx, q)));
        let expected = expected.matrix();
        let given = self.rate_at(&self.cx, q);
        if !self.system.properties().moving_constraints {
            let still = Dense::zeros(nc, 1);
            self.derived("phi_t of still constraints", &still, &expected);
        }
        self.derived("phi_t", &matrix(&given), &expected);

        let rates = Column::from_column_slice(v);
        let expected = self.differ(e / (1.0 + rates.amax() / self.options.scale), |dt| {
            let q = self.moved(q, (dt * &rates).as_slice());
            self.later(dt, |cx| {
                self.jacobian_at(cx, &q) * &rates + self.rate_at(cx, &q)
            })
        });
        let mut gamma = Column::from_element(nc, f64::NAN);
        self.system
            .constraint_acceleration_bias(&self.cx, q, v, gamma.as_mut_slice());
        self.derived("gamma", &matrix(&gamma), &expected.matrix());
    }

    /// Along the motion with constant acceleration, starting here.
    fn along(&self, dt: f64) -> (Vec<f64>, Vec<f64>) {
        let MotionPoint { q, v, a, .. } = self.at;
        let w: Vec<f64> = (0..v.len())
            .map(|i| dt * (v[i] + 0.5 * dt * a[i]))
            .collect();
        let v = (0..v.len()).map(|i| v[i] + dt * a[i]).collect();
        (self.moved(q, &w), v)
    }

    /// A time step in which neither q nor v changes by more than `step`.
    fn time_step(&self) -> f64 {
        let fastest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let (v, a) = (fastest(self.at.v), fastest(self.at.a));
        self.options.step / (1.0 + v / self.options.scale + a / (self.options.scale + v))
    }

    fn events(&mut self) {
        let ne = self.system.dimensions().ne;
        if ne == 0 {
            return;
        }
        let at = |dt: f64| {
            let (q, v) = self.along(dt);
            let (mut phi, mut rate) = (Column::zeros(ne), Column::zeros(ne));
            let point = MotionPoint {
                q: &q,
                v: &v,
                ..self.at
            };
            self.later(dt, |cx| {
                self.system
                    .event_functions(cx, &point, phi.as_mut_slice(), rate.as_mut_slice());
            });
            (phi, rate)
        };
        let expected = self.differ(self.time_step(), |dt| at(dt).0);
        let mut given = at(0.0).1;
        for (given, expected) in given.iter_mut().zip(expected.value.iter()) {
            // A rate that is not known, of a multiplier say, is NaN.
            if given.is_nan() {
                *given = *expected;
            }
        }
        self.derived("rate of events", &matrix(&given), &expected.matrix());
    }

    /// d(T + V)/dt = v·(M a − f) + supplied − dissipated for any a, inertia forces of M(q) being part of f.
    fn energy(&mut self) {
        let MotionPoint { q, v, a, .. } = self.at;
        let rates = Column::from_column_slice(v);
        let kinetic = 0.5 * rates.dot(&self.mass_times(&self.cx, q, v));
        let energy = self.system.energy(&self.cx, q, v);
        let one = |x: f64| Dense::from_element(1, 1, x);
        self.equal("kinetic energy", &one(energy.kinetic), &one(kinetic));

        let slope = self.differ(self.time_step(), |dt| {
            let (q, v) = self.along(dt);
            self.later(dt, |cx| {
                let energy = self.system.energy(cx, &q, &v);
                Column::from_vec(vec![energy.kinetic, energy.potential])
            })
        });
        let total = Slopes {
            value: one(slope.value.sum()),
            noise: 2.0 * (self.options.tolerance * slope.value.amax() + slope.noise),
        };
        let power = self.system.power(&self.cx, q, v);
        // What rubs takes its power out of the motion by itself.
        let force = self.force_at(&self.cx, q, v) - self.rub_at(&self.cx, q, v);
        let pushed = self.mass_times(&self.cx, q, a) - force;
        let work = rates.dot(&pushed) + power.supplied - power.dissipated;
        self.derived("rate of energy", &one(work), &total);
        if power.dissipated < 0.0 {
            let text = format!("dissipated power is negative: {:e}", power.dissipated);
            self.wrong.push(text);
        }
    }
}
