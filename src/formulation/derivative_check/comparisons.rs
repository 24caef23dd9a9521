//! The comparisons: sparsity, configuration space, mass, tangent matrix, constraints, events, energy.

use super::{CheckPoint, Column, Dense, DifferenceMatrix, EXACT, ROUNDING, matrix};
use crate::formulation::{MotionPoint, TangentWeights};
use crate::linalg::random::Random;

impl CheckPoint<'_> {
    pub(super) fn sparsity(&mut self) {
        let sparsity = self.system.sparsity();
        let (nv, nc) = (self.nv() as u32, self.nc() as u32);
        let entries: std::collections::HashSet<(u32, u32)> =
            sparsity.tangent.iter().copied().collect();
        for &(i, j) in &sparsity.tangent {
            if i >= nv || j >= nv {
                let text = format!("pattern of the tangent: ({i}, {j}) is outside {nv} x {nv}");
                self.disagreements.push(text);
            } else if !entries.contains(&(j, i)) {
                let text = format!("pattern of the tangent: ({i}, {j}) without ({j}, {i})");
                self.disagreements.push(text);
            }
        }
        for &(i, j) in &sparsity.jacobian {
            if i >= nc || j >= nv {
                let text = format!("pattern of the Jacobian: ({i}, {j}) is outside {nc} x {nv}");
                self.disagreements.push(text);
            }
        }
    }

    /// retract, difference, bracket and the tangent operator of the exponential map.
    pub(super) fn configuration_space(&mut self) {
        let (n, scale) = (self.nv(), self.options.scale);
        let mut random = Random::new(5);
        let (x, y) = (random.vector(n, 0.4 * scale), random.vector(n, 0.4 * scale));
        let q = self.at.q.to_vec();
        let back = self.displacement(&q, &self.retracted(&q, &x));
        let x = Column::from_vec(x);
        self.compare_exact("difference of retract", &matrix(&back), &matrix(&x));

        // (q ∘ x) ∘ (e T(x) y) = q ∘ (x + e y)
        let y = Column::from_vec(y);
        let there = self.retracted(&q, x.as_slice());
        let rotated = self.difference_quotient(self.options.step, |e| {
            self.displacement(&there, &self.retracted(&q, (&x + e * &y).as_slice()))
        });
        let mut found = rotated.value;
        self.system
            .tangent_inverse(x.as_slice(), found.as_mut_slice());
        let accepted = self.options.tolerance * y.amax() + rotated.rounding;
        self.compare("tangent_inverse", &matrix(&found), &matrix(&y), accepted);

        // q ∘ ex ∘ ey = q ∘ ey ∘ ex ∘ e² [x, y] + ...
        let commuted = |e: f64| {
            let (x, y) = (e * &x, e * &y);
            let xy = self.retracted(&self.retracted(&q, x.as_slice()), y.as_slice());
            let yx = self.retracted(&self.retracted(&q, y.as_slice()), x.as_slice());
            self.displacement(&yx, &xy)
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
        // Second differences: rounding errors of the coordinates are divided by e².
        let rounding = ROUNDING * f64::EPSILON * (1.0 + scale) / (e * e);
        let accepted = self.options.tolerance * expected.amax() + rounding;
        self.compare("bracket", &matrix(&bracket), &matrix(&expected), accepted);

        if !self.system.properties().rotations {
            let plain = Column::from_iterator(n, (0..n).map(|i| there[i] - q[i]));
            self.compare_exact("retract without rotations", &matrix(&plain), &matrix(&x));
        }
    }

    pub(super) fn mass(&mut self) {
        let n = self.nv();
        let q = self.at.q;
        let mut expected = Dense::zeros(n, n);
        for j in 0..n {
            expected.set_column(j, &self.mass_times(&self.cx, q, &self.unit(j, 1.0)));
        }
        let given = self.tangent_at(&TangentWeights::MASS);
        self.compare_exact("M", &given, &expected);
        let product = &expected * Column::from_column_slice(self.at.a);
        let given = self.mass_times(&self.cx, q, self.at.a);
        self.compare_exact("M a", &matrix(&given), &matrix(&product));
        self.compare_exact("M transposed", &expected.transpose(), &expected);
    }

    pub(super) fn tangent(&mut self) {
        let n = self.nv();
        let e = self.options.step * self.options.scale;
        let MotionPoint { q, v, a, lambda } = self.at;
        let lambda = Column::from_column_slice(lambda);
        let (mut damping, mut stiffness) = (Vec::new(), Vec::new());
        for j in 0..n {
            let c = self.difference_quotient(e, |e| {
                let mut v = v.to_vec();
                v[j] += e;
                -self.force_at(&self.cx, q, &v)
            });
            damping.push(c);
            let k = self.difference_quotient(e, |e| {
                let q = self.retracted(q, &self.unit(j, e));
                self.mass_times(&self.cx, &q, a) - self.force_at(&self.cx, &q, v)
                    + self.jacobian_at(&self.cx, &q).transpose() * &lambda
            });
            stiffness.push(k);
        }
        let (damping, stiffness) = (
            DifferenceMatrix::new(damping),
            DifferenceMatrix::new(stiffness),
        );
        if !self.system.properties().velocity_forces {
            self.compare_derivative("C without velocity forces", &Dense::zeros(n, n), &damping);
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
            let of_velocities = w[0] * &mass + w[1] * &damping.value;
            let expected = DifferenceMatrix {
                value: of_velocities * &inverse + w[2] * &stiffness.value,
                rounding: EXACT * mass.amax()
                    + w[1] * damping.rounding * inverse.amax()
                    + w[2] * stiffness.rounding,
            };
            self.compare_derivative(name, &given, &expected);
        }
    }

    pub(super) fn constraints(&mut self) {
        let (n, nc) = (self.nv(), self.nc());
        if nc == 0 {
            return;
        }
        let e = self.options.step * self.options.scale;
        let MotionPoint { q, v, .. } = self.at;
        let column = |j| {
            self.difference_quotient(e, |e| {
                self.constraint_at(&self.cx, &self.retracted(q, &self.unit(j, e)))
            })
        };
        let expected = DifferenceMatrix::new((0..n).map(column).collect());
        let given = self.jacobian_at(&self.cx, q);
        self.compare_derivative("G", &given, &expected);

        let e = self.options.step;
        let expected = self.difference_quotient(e, |dt| {
            self.at_later_time(dt, |cx| self.constraint_at(cx, q))
        });
        let expected = expected.matrix();
        let given = self.rate_at(&self.cx, q);
        if !self.system.properties().moving_constraints {
            let still = Dense::zeros(nc, 1);
            self.compare_derivative("phi_t of still constraints", &still, &expected);
        }
        self.compare_derivative("phi_t", &matrix(&given), &expected);

        let rates = Column::from_column_slice(v);
        let expected =
            self.difference_quotient(e / (1.0 + rates.amax() / self.options.scale), |dt| {
                let q = self.retracted(q, (dt * &rates).as_slice());
                self.at_later_time(dt, |cx| {
                    self.jacobian_at(cx, &q) * &rates + self.rate_at(cx, &q)
                })
            });
        let mut gamma = Column::from_element(nc, f64::NAN);
        self.system
            .constraint_acceleration_bias(&self.cx, q, v, gamma.as_mut_slice());
        self.compare_derivative("gamma", &matrix(&gamma), &expected.matrix());
    }

    /// Configuration and velocities a time `dt` later, with constant acceleration.
    fn motion_after(&self, dt: f64) -> (Vec<f64>, Vec<f64>) {
        let MotionPoint { q, v, a, .. } = self.at;
        let w: Vec<f64> = (0..v.len())
            .map(|i| dt * (v[i] + 0.5 * dt * a[i]))
            .collect();
        let v = (0..v.len()).map(|i| v[i] + dt * a[i]).collect();
        (self.retracted(q, &w), v)
    }

    /// A time step in which neither q nor v changes by more than `step`.
    fn time_step(&self) -> f64 {
        let fastest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let (v, a) = (fastest(self.at.v), fastest(self.at.a));
        self.options.step / (1.0 + v / self.options.scale + a / (self.options.scale + v))
    }

    pub(super) fn events(&mut self) {
        let ne = self.system.dimensions().ne;
        if ne == 0 {
            return;
        }
        let at = |dt: f64| {
            let (q, v) = self.motion_after(dt);
            let (mut phi, mut rate) = (Column::zeros(ne), Column::zeros(ne));
            let point = MotionPoint {
                q: &q,
                v: &v,
                ..self.at
            };
            self.at_later_time(dt, |cx| {
                self.system
                    .event_functions(cx, &point, phi.as_mut_slice(), rate.as_mut_slice());
            });
            (phi, rate)
        };
        let expected = self.difference_quotient(self.time_step(), |dt| at(dt).0);
        let mut given = at(0.0).1;
        for (given, expected) in given.iter_mut().zip(expected.value.iter()) {
            // Unknown rates (of multipliers, for instance) are NaN.
            if given.is_nan() {
                *given = *expected;
            }
        }
        self.compare_derivative("rate of events", &matrix(&given), &expected.matrix());
    }

    /// d(T + V)/dt = v·(M a − f) + supplied − dissipated for any a, inertia forces of M(q) being part of f.
    pub(super) fn energy(&mut self) {
        let MotionPoint { q, v, a, .. } = self.at;
        let rates = Column::from_column_slice(v);
        let kinetic = 0.5 * rates.dot(&self.mass_times(&self.cx, q, v));
        let energy = self.system.energy(&self.cx, q, v);
        let one = |x: f64| Dense::from_element(1, 1, x);
        self.compare_exact("kinetic energy", &one(energy.kinetic), &one(kinetic));

        let slope = self.difference_quotient(self.time_step(), |dt| {
            let (q, v) = self.motion_after(dt);
            self.at_later_time(dt, |cx| {
                let energy = self.system.energy(cx, &q, &v);
                Column::from_vec(vec![energy.kinetic, energy.potential])
            })
        });
        let total = DifferenceMatrix {
            value: one(slope.value.sum()),
            rounding: 2.0 * (self.options.tolerance * slope.value.amax() + slope.rounding),
        };
        let power = self.system.power(&self.cx, q, v);
        // Constraint friction is dissipated already: it is not part of the forces here.
        let force = self.force_at(&self.cx, q, v) - self.constraint_friction_at(&self.cx, q, v);
        let residual = self.mass_times(&self.cx, q, a) - force;
        let work = rates.dot(&residual) + power.supplied - power.dissipated;
        self.compare_derivative("rate of energy", &one(work), &total);
        if power.dissipated < 0.0 {
            let text = format!("dissipated power is negative: {:e}", power.dissipated);
            self.disagreements.push(text);
        }
    }
}
