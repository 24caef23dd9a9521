//! Equilibria of systems with integrals along the motion: a controller with an integral rests only where its integral does not change.
//!
//! ```text
//!   [ Nᵀ K N   −Nᵀ f_I ] [ z  ]   [ Nᵀ f ]
//!   [ İ_q N     İ_I    ] [ δI ] = [ −İ   ]
//! ```
//!
//! The search without this starts from integrals that are kept; Newton's method continues from what it has found.

use nalgebra::{DMatrix, DVector};

use super::equilibrium::{Equilibrium, EquilibriumSolver};
use crate::error::Result;
use crate::formulation::system::IntegralMemory;

/// Steps, and the largest length of one in the error norm.
const STEPS: usize = 100;
const RADIUS: f64 = 0.3;
/// Length of a step below which the position is exact, and that is accepted as the last if the following ones are not shorter.
const EXACT: f64 = 1e-14;
const ROUNDING: f64 = 1e-9;
/// Displacement (error norm) of the differences, and change of an integral relative to its size.
const DIFFERENCE: f64 = 1e-5;

/// Derivatives with respect to the coordinates of the reduced basis and the integrals.
struct IntegralDerivatives {
    /// İ_q N
    rate_by_position: DMatrix<f64>,
    /// İ_I
    rate_by_integral: DMatrix<f64>,
    /// Nᵀ f_I
    force: DMatrix<f64>,
}

impl EquilibriumSolver<'_> {
    /// The equilibrium in which the integrals do not change either, next to a position.
    pub(super) fn settle_integrals(&mut self, from: Equilibrium) -> Result<Equilibrium> {
        let (mut q, mut shortest) = (from.q, f64::INFINITY);
        for step in 0..STEPS {
            self.load(&q)?;
            let rates = self.integral_rates(&q);
            let derivatives = self.integral_derivatives(&q);
            let unsettled =
                || self.no_equilibrium("the controllers do not settle together".to_owned());
            let (x, change) = (self.integral_step(&rates, &derivatives)).ok_or_else(unsettled)?;
            let w = self.displacement(&x);
            let sizes = self.integrals.iter().zip(&change);
            let length = sizes.fold(self.norm(&q, &w), |m, (memory, change)| {
                m.max(change.abs() / memory.value.abs().max(1.0))
            });
            if length <= EXACT || (length < ROUNDING && length > 0.5 * shortest) {
                self.refuse_violation(&q)?;
                let (kappa, vectors) = self.held_curvatures(&derivatives);
                let steps = from.steps + step;
                return Ok(self.finished(q, steps, &kappa, &vectors));
            }
            shortest = shortest.min(length);
            let part = f64::min(1.0, RADIUS / self.norm(&q, &w));
            let shift: Vec<f64> = w.iter().map(|w| part * w).collect();
            q = self.moved(&q, &shift).ok_or_else(|| {
                self.no_equilibrium("the controllers move it out of its constraints".to_owned())
            })?;
            for (memory, change) in self.integrals.iter_mut().zip(&change) {
                memory.value += part * change;
            }
        }
        Err(self.no_equilibrium("the controllers do not come to rest".to_owned()))
    }

    fn integral_rates(&self, q: &[f64]) -> Vec<f64> {
        let mut rates = vec![0.0; self.integrals.len()];
        let (cx, rest) = (self.context(&self.modes), &self.zero[..self.size.nv]);
        self.system.integral_rates(&cx, q, rest, &mut rates);
        rates
    }

    /// Computes a function with one integral changed.
    fn with_integral<T>(&mut self, i: usize, change: f64, f: impl Fn(&Self) -> T) -> T {
        let before: IntegralMemory = self.integrals[i];
        self.integrals[i].value += change;
        let result = f(self);
        self.integrals[i] = before;
        result
    }

    fn integral_derivatives(&mut self, q: &[f64]) -> IntegralDerivatives {
        let (m, d) = (self.integrals.len(), self.load.len());
        let mut derivatives = IntegralDerivatives {
            rate_by_position: DMatrix::zeros(m, d),
            rate_by_integral: DMatrix::zeros(m, m),
            force: DMatrix::zeros(d, m),
        };
        for j in 0..d {
            let direction: Vec<f64> = self.basis.column(j).iter().copied().collect();
            let e = DIFFERENCE / self.norm(q, &direction).max(f64::MIN_POSITIVE);
            let [low, high] = [-e, e].map(|e| {
                let shift: Vec<f64> = direction.iter().map(|x| e * x).collect();
                let mut moved = vec![0.0; self.size.nq];
                self.system.retract(q, &shift, &mut moved);
                self.integral_rates(&moved)
            });
            for i in 0..m {
                derivatives.rate_by_position[(i, j)] = (high[i] - low[i]) / (2.0 * e);
            }
        }
        let modes = self.modes.clone();
        let reduced = |solver: &Self| {
            let force = solver.force_in(&modes, q).unwrap_or_default();
            let force = DVector::from_vec(force);
            (solver.basis.transpose() * force, solver.integral_rates(q))
        };
        for i in 0..m {
            // Force and rate are linear in I.
            let e = self.integrals[i].value.abs().max(1.0);
            let (low_force, low) = self.with_integral(i, -e, reduced);
            let (high_force, high) = self.with_integral(i, e, reduced);
            let force = (high_force - low_force) / (2.0 * e);
            derivatives.force.set_column(i, &force);
            for k in 0..m {
                derivatives.rate_by_integral[(k, i)] = (high[k] - low[k]) / (2.0 * e);
            }
        }
        derivatives
    }

    /// z and δI of a Newton step. An integral whose rate depends on nothing stays.
    fn integral_step(
        &self,
        rates: &[f64],
        derivatives: &IntegralDerivatives,
    ) -> Option<(DVector<f64>, Vec<f64>)> {
        let (m, d) = (rates.len(), self.load.len());
        let IntegralDerivatives {
            rate_by_position,
            rate_by_integral,
            force,
        } = derivatives;
        let changing: Vec<usize> = (0..m)
            .filter(|&i| {
                rate_by_position.row(i).amax() > 0.0 || rate_by_integral.row(i).amax() > 0.0
            })
            .collect();
        let n = d + changing.len();
        let mut matrix = DMatrix::zeros(n, n);
        let mut right = DVector::zeros(n);
        matrix.view_mut((0, 0), (d, d)).copy_from(&self.stiffness);
        right.rows_mut(0, d).copy_from(&self.load);
        for (k, &i) in changing.iter().enumerate() {
            right[d + k] = -rates[i];
            for j in 0..d {
                matrix[(j, d + k)] = -force[(j, i)];
                matrix[(d + k, j)] = rate_by_position[(i, j)];
            }
            for (l, &other) in changing.iter().enumerate() {
                matrix[(d + k, d + l)] = rate_by_integral[(i, other)];
            }
        }
        // Free directions without load stay where they are.
        let solution = matrix.svd(true, true).solve(&right, 1e-12).ok()?;
        let mut change = vec![0.0; m];
        for (k, &i) in changing.iter().enumerate() {
            change[i] = solution[d + k];
        }
        Some((solution.rows(0, d).into_owned(), change))
    }

    /// Curvatures along the directions that no integral holds.
    fn held_curvatures(&self, derivatives: &IntegralDerivatives) -> (DVector<f64>, DMatrix<f64>) {
        let d = self.load.len();
        let holding: Vec<usize> = (0..derivatives.force.ncols())
            .filter(|&i| derivatives.force.column(i).amax() > 0.0)
            .collect();
        if holding.is_empty() || d == 0 {
            return self.curvatures();
        }
        let rows = derivatives.rate_by_position.select_rows(&holding);
        let eigen = (rows.transpose() * &rows).symmetric_eigen();
        let largest = eigen.eigenvalues.amax();
        let free: Vec<usize> = (0..d)
            .filter(|&j| eigen.eigenvalues[j] <= 1e-10 * largest)
            .collect();
        if free.is_empty() {
            return (DVector::zeros(0), DMatrix::zeros(d, 0));
        }
        let z = eigen.eigenvectors.select_columns(&free);
        let symmetric = 0.5 * (&self.stiffness + self.stiffness.transpose());
        let inner = (z.transpose() * symmetric * &z).symmetric_eigen();
        (inner.eigenvalues, z * inner.eigenvectors)
    }
}
