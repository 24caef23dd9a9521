//! Minimal coordinates of a linear model: their choice, their motion along a perturbation, and the system of second order in them.

use nalgebra::DMatrix;

use super::dense::{MatrixTimesSlice, add, cholesky, dot, solve_transposed_from_right};
use super::linearization::{LinearModel, LinearizationWorkspace, Linearizer, OperatingPoint};
use super::modes::SecondOrderSystem;
use super::observables::{MinimalCoordinateKind, Observables};
use super::perturbation::{QUADRATIC, SMOOTH};
use super::selection::choose_rows;
use crate::error::{Error, Result};
use crate::formulation::system::{MotionPoint, System};

/// Rate of a coordinate (m/s, rad/s) over the motion in the error norm below which it is rounding.
const GRADIENT_NOISE: f64 = 1e-10;

/// Passes of the choice that the coordinates in front have before all others take part: their gradients may depend on each other to
/// some hundredths, as those of the joints of a long chain do. What is lost by rounding stays below 1e-8.
const PREFERRED_PARTS: usize = 3;

impl Linearizer {
    /// Chooses the minimal coordinates by their gradients in the mass metric.
    pub(super) fn choose_coordinates(
        &mut self,
        system: &dyn System,
        observables: &dyn Observables,
        at: &OperatingPoint,
    ) -> Result<()> {
        let d = self.freedom();
        let w = &mut self.work;
        if w.reduced_mass.nrows() != d {
            w.reduced_mass = DMatrix::zeros(d, d);
        }
        for j in 0..d {
            let n = self.null.direction(j);
            self.matrices.mass.mul_to_slice(n, &mut w.sum);
            for i in 0..d {
                w.reduced_mass[(i, j)] = dot(self.null.direction(i), &w.sum);
            }
        }
        if let Err(j) = cholesky(&mut w.reduced_mass) {
            let direction = self.null.direction(j);
            let culprit = largest_component(system, direction);
            return Err(Error::SingularMass { culprit });
        }
        // Those in front are often enough, also where they are not the best: about a motion the linear model depends on the choice.
        let all = observables.kinds().len();
        for count in [observables.preferred(), all] {
            self.gradients(system, observables, at, count);
            let parts = if count == all {
                usize::MAX
            } else {
                PREFERRED_PARTS
            };
            choose_rows(&mut self.work.gradients, parts, &mut self.chosen);
            if self.chosen.len() == d {
                break;
            }
        }
        if self.chosen.len() < d {
            return Err(Error::Internal {
                message: format!(
                    "{} of {d} degrees of freedom are seen by the coordinates",
                    self.chosen.len()
                ),
            });
        }
        self.chosen.sort_unstable();
        // With the other components of their rotation vectors.
        let needed = &mut self.work.needed;
        needed.clear();
        for &i in &self.chosen {
            let group = match observables.kinds()[i] {
                MinimalCoordinateKind::Holonomic => i..i + 1,
                MinimalCoordinateKind::Rotation(k) => i - k..i - k + 3,
            };
            for i in group {
                if needed.last().is_none_or(|last| *last < i) {
                    needed.push(i);
                }
            }
        }
        self.reference_motion(observables, at);
        Ok(())
    }

    /// Gradients of the first `count` coordinates in the mass metric.
    pub(super) fn gradients(
        &mut self,
        system: &dyn System,
        observables: &dyn Observables,
        at: &OperatingPoint,
        count: usize,
    ) {
        let d = self.freedom();
        let w = &mut self.work;
        w.needed.clear();
        w.needed.extend(0..count);
        self.reference_motion(observables, at);
        let w = &mut self.work;
        if w.gradients.shape() != (count, d) {
            w.gradients = DMatrix::zeros(count, d);
        }
        for j in 0..d {
            let n = self.null.direction(j);
            observe_velocity(observables, at, n, w);
            let noise = GRADIENT_NOISE * system.norm(&at.cx, at.motion.q, at.scale, n);
            for i in 0..count {
                let y = w.y[0][i];
                // A coordinate may be fixed, or not defined here.
                w.gradients[(i, j)] = if y.abs() > noise { y } else { 0.0 };
            }
        }
        solve_transposed_from_right(&w.reduced_mass, &mut w.gradients);
    }

    /// s and ṡ at the point, and s without velocities.
    pub(super) fn reference_motion(&mut self, observables: &dyn Observables, at: &OperatingPoint) {
        let w = &mut self.work;
        let motion = (&mut w.rate[..], &mut w.acceleration[..]);
        observables.coordinate_motion(&at.cx, &at.motion, &w.needed, motion);
        let rest = MotionPoint {
            v: &w.zero[..self.size.nv],
            a: &w.zero[..self.size.nv],
            ..at.motion
        };
        let motion = (&mut w.drift[..], &mut w.sample[1][..]);
        observables.coordinate_motion(&at.cx, &rest, &w.needed, motion);
    }

    /// Writes y, ẏ, ÿ of the chosen coordinates and the outputs along the perturbation into column `k`.
    pub(super) fn observe(
        &mut self,
        system: &dyn System,
        observables: &dyn Observables,
        at: &OperatingPoint,
        k: usize,
    ) -> Result<()> {
        let w = &mut self.work;
        observe_velocity(observables, at, &self.perturbation.w, w);
        let [y, y_dot, y_ddot] = &mut w.y;
        y_dot.fill(0.0);
        y_ddot.fill(0.0);
        w.output.fill(0.0);
        let (output, output_sample) = (&mut w.output, &mut w.output_sample);
        let [integral_rate, integral_sample] = &mut w.integral_rate;
        integral_rate.fill(0.0);
        let [rate, acceleration] = &mut w.sample;
        // Rates and accelerations are quadratic in v; outputs need not be.
        let only_velocities = self.perturbation.w.iter().all(|w| *w == 0.0);
        let stencil = match only_velocities && output.is_empty() && self.integrals.is_empty() {
            true => QUADRATIC,
            false => SMOOTH,
        };
        let along = (&self.perturbation, stencil);
        self.point
            .differentiate(system, at, along, |weight, cx, point| {
                observables.coordinate_motion(cx, point, &w.needed, (rate, acceleration));
                for &i in &w.needed {
                    y_dot[i] += weight * rate[i];
                    y_ddot[i] += weight * acceleration[i];
                }
                observables.outputs(cx, point, output_sample);
                add(output, weight, output_sample);
                system.integral_rates(cx, point.q, point.v, integral_sample);
                add(integral_rate, weight, integral_sample);
            });
        for &i in &w.needed {
            if observables.kinds()[i] == MinimalCoordinateKind::Rotation(0) {
                // θ̇ = δω + ω × θ,  θ̈ = δω̇ + ω̇ × θ + ω × θ̇
                let theta = vector(y, i);
                let (omega, omega_dot) = (vector(&w.rate, i), vector(&w.acceleration, i));
                let theta_dot = vector(y_dot, i) + omega.cross(&theta);
                let theta_ddot =
                    vector(y_ddot, i) + omega_dot.cross(&theta) + omega.cross(&theta_dot);
                y_dot[i..i + 3].copy_from_slice(theta_dot.as_slice());
                y_ddot[i..i + 3].copy_from_slice(theta_ddot.as_slice());
            }
        }
        let (d, stride) = (self.chosen.len(), self.stride());
        let n = 2 * d + self.integrals.len();
        let outputs = n + d + self.integrals.len();
        let w = &self.work;
        let column = &mut self.columns[k * stride..][..stride];
        for (j, &i) in self.chosen.iter().enumerate() {
            (column[j], column[d + j], column[n + j]) = (w.y[0][i], w.y[1][i], w.y[2][i]);
        }
        for (j, &i) in self.integrals.iter().enumerate() {
            column[2 * d + j] = self.perturbation.integrals[i];
            column[n + d + j] = w.integral_rate[0][i];
        }
        column[outputs..].copy_from_slice(&w.output);
        if column[..outputs].iter().any(|x| !x.is_finite()) {
            let culprit = largest_component(system, &self.perturbation.w);
            return Err(Error::Evaluation {
                time: at.cx.t,
                culprit,
            });
        }
        Ok(())
    }

    /// Gradients g N of the minimal coordinates of the last linear model, y = g N z₁.
    pub(super) fn minimal_gradients(&self) -> DMatrix<f64> {
        let d = self.chosen.len();
        let rows = self.stride();
        DMatrix::from_fn(d, d, |i, k| self.columns[k * rows + i] * self.sizes[k])
    }

    /// Length of a column of the last linear model.
    pub(super) fn stride(&self) -> usize {
        3 * self.chosen.len() + 2 * self.integrals.len() + self.work.output.len()
    }

    /// The last linear model as a system of second order in its minimal coordinates.
    pub fn second_order(
        &self,
        system: &dyn System,
        at: &OperatingPoint,
        model: &LinearModel,
    ) -> Option<SecondOrderSystem> {
        let (d, n, m) = (self.chosen.len(), model.states, self.integrals.len());
        let part = |rows: (usize, usize), columns: (usize, usize)| {
            DMatrix::from_fn(rows.1, columns.1, |i, j| {
                model.a[(rows.0 + i) * n + columns.0 + j]
            })
        };
        let (y, y_dot, integrals) = ((0, d), (d, d), (2 * d, m));
        // M_y = T⁻ᵀ L Lᵀ T⁻¹ with M_z = L Lᵀ.
        let l = self.work.reduced_mass.lower_triangle();
        let half = self.minimal_gradients().transpose().lu().solve(&l)?;
        let mut loads = vec![0.0; self.size.nv];
        let MotionPoint { q, v, .. } = at.motion;
        system.force(&at.cx, q, v, &mut loads).ok()?;
        for (i, load) in loads.iter_mut().enumerate() {
            let mass = self.matrices.mass[(i, i)];
            *load = if mass > 0.0 { *load / mass } else { 0.0 };
        }
        let norm = |x: &[f64]| system.norm(&at.cx, q, at.scale, x);
        // Accelerations of the loads and of the motion: their stiffness is a difference of numbers of this size.
        let loads = norm(&loads)
            .max(norm(v).powi(2))
            .max(norm(&self.acceleration));
        Some(SecondOrderSystem {
            position: part(y_dot, y),
            velocity: part(y_dot, y_dot),
            integral_force: part(y_dot, integrals),
            integral_rate: [y, y_dot, integrals].map(|columns| part(integrals, columns)),
            mass: &half * half.transpose(),
            loads,
        })
    }

    /// Displacement w of the system with these changes of the minimal coordinates of the last linear model.
    pub fn displacement(&self, y: &[f64]) -> Option<Vec<f64>> {
        let y = nalgebra::DVector::from_row_slice(y);
        let z = self.minimal_gradients().lu().solve(&y)?;
        let mut w = vec![0.0; self.size.nv];
        for (k, z) in z.iter().enumerate() {
            add(&mut w, *z, self.null.direction(k));
        }
        Some(w)
    }
}

/// y = g w of all coordinates, in `y[0]`.
fn observe_velocity(
    observables: &dyn Observables,
    at: &OperatingPoint,
    shift: &[f64],
    w: &mut LinearizationWorkspace,
) {
    let moving = MotionPoint {
        v: shift,
        a: &w.zero[..shift.len()],
        ..at.motion
    };
    let motion = (&mut w.y[0][..], &mut w.sample[1][..]);
    observables.coordinate_motion(&at.cx, &moving, &w.needed, motion);
    for &i in &w.needed {
        w.y[0][i] -= w.drift[i];
    }
}

fn vector(x: &[f64], first: usize) -> nalgebra::Vector3<f64> {
    nalgebra::Vector3::new(x[first], x[first + 1], x[first + 2])
}

/// The name of the coordinate that moves most.
pub(super) fn largest_component(system: &dyn System, direction: &[f64]) -> String {
    let moved = |i: usize| direction[i].abs() * system.characteristic_length(i);
    let best = (0..direction.len()).max_by(|&i, &k| moved(i).total_cmp(&moved(k)));
    best.map_or_else(String::new, |i| system.coordinate_name(i))
}
