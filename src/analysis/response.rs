//! Perturbations of a motion that satisfy the equations: along the null space of the constraints, and with the inputs.
//!
//! Velocities and accelerations follow the curvature of the constraints,
//!
//! ```text
//!   G δv = −(G v + Φ_t) along w and δu,      G δa = −(G a + γ) along w, δv and δu
//! ```

use super::dense::{MatrixTimesSlice, add};
use super::linearization::{InputDirection, Linearizer, OperatingPoint};
use super::perturbation::{QUADRATIC, SMOOTH};
use crate::error::{Error, Result};
use crate::formulation::system::{EvaluationFailure, System};

impl Linearizer {
    /// Computes perturbation `k`: z₁, z₂, integrals, then inputs.
    pub(super) fn perturb(
        &mut self,
        system: &dyn System,
        at: &OperatingPoint,
        k: usize,
        inputs: &[InputDirection],
    ) -> Result<()> {
        let d = self.freedom();
        self.perturbation.clear();
        if k < d {
            let direction = self.null.direction(k);
            self.perturbation.w.copy_from_slice(direction);
        } else if k < 2 * d {
            let direction = self.null.direction(k - d);
            self.perturbation.dv.copy_from_slice(direction);
        } else if let Some(&integral) = self.integrals.get(k - 2 * d) {
            self.perturbation.integrals[integral] = 1.0;
        } else {
            let first = 2 * d + self.integrals.len();
            let InputDirection { input, derivative } = inputs[k - first];
            let p = &mut self.perturbation;
            [&mut p.du, &mut p.du_dot, &mut p.du_ddot][derivative][input] = 1.0;
            self.follow_input(system, at);
        }
        let moves = !(d..2 * d + self.integrals.len()).contains(&k);
        self.work.curvature.fill(0.0);
        if moves {
            self.follow_constraints(system, at);
        }
        self.accelerate(system, at, moves)
    }

    /// w with G w = −Φ_u δu, and what δu changes besides: −f_u δu in `force`, Φ_tu δu in `curvature`.
    pub(super) fn follow_input(&mut self, system: &dyn System, at: &OperatingPoint) {
        let (w, rank) = (&mut self.work, self.null.rank());
        if rank == 0 {
            return;
        }
        // Φ along δu alone.
        w.curvature.fill(0.0);
        let (sum, sample) = (&mut w.curvature, &mut w.bias[0]);
        let along = (&self.perturbation, SMOOTH);
        self.point
            .differentiate(system, at, along, |weight, cx, point| {
                system.constraint(cx, point.q, sample);
                add(sum, weight, sample);
            });
        for (k, &row) in self.null.independent_rows().iter().enumerate() {
            w.mu[k] = -w.curvature[row];
        }
        self.saddle
            .solve(&mut self.perturbation.w, &mut w.mu[..rank]);
    }

    /// δv with G δv = −(G v + Φ_t) along w and δu; G a along them in `curvature`. At rest in an equilibrium both are zero.
    pub(super) fn follow_constraints(&mut self, system: &dyn System, at: &OperatingPoint) {
        let rank = self.null.rank();
        let w = &mut self.work;
        w.curvature.fill(0.0);
        if rank == 0 || self.still {
            return;
        }
        w.rate_curvature.fill(0.0);
        let (of_rate, of_acceleration) = (&mut w.rate_curvature, &mut w.curvature);
        let [sample, rate] = &mut w.bias;
        let (p, m) = (&mut self.perturbation, &mut self.matrices);
        self.point
            .differentiate(system, at, (p, SMOOTH), |weight, cx, point| {
                m.evaluate_jacobian(system, cx, point.q);
                m.jacobian_times(at.motion.v, sample);
                system.constraint_rate(cx, point.q, rate);
                add(of_rate, weight, sample);
                add(of_rate, weight, rate);
                m.jacobian_times(at.motion.a, sample);
                add(of_acceleration, weight, sample);
            });
        for (k, &row) in self.null.independent_rows().iter().enumerate() {
            w.mu[k] = -w.rate_curvature[row];
        }
        p.dv.fill(0.0);
        self.saddle.solve(&mut p.dv, &mut w.mu[..rank]);
    }

    /// δa and δλ of the perturbation, which `moves` the system if not only velocities or integrals change. `curvature` has G a along it.
    pub(super) fn accelerate(
        &mut self,
        system: &dyn System,
        at: &OperatingPoint,
        moves: bool,
    ) -> Result<()> {
        let rank = self.null.rank();
        self.work.force.fill(0.0);
        if self.perturbation.has_input() {
            self.input_force(system, at)?;
        }
        let (m, p, w) = (&self.matrices, &mut self.perturbation, &mut self.work);
        m.damping.mul_to_slice(&p.dv, &mut w.sum);
        add(&mut w.force, -1.0, &w.sum);
        m.stiffness.mul_to_slice(&p.w, &mut w.sum);
        add(&mut w.force, -1.0, &w.sum);
        if rank > 0 {
            if !self.still {
                // γ is quadratic in v.
                let stencil = if moves { SMOOTH } else { QUADRATIC };
                let (sum, bias) = (&mut w.curvature, &mut w.bias[0]);
                self.point
                    .differentiate(system, at, (p, stencil), |weight, cx, point| {
                        system.constraint_acceleration_bias(cx, point.q, point.v, bias);
                        add(sum, weight, bias);
                    });
            }
            for (k, &row) in self.null.independent_rows().iter().enumerate() {
                w.mu[k] = -w.curvature[row];
            }
        }
        p.da.copy_from_slice(&w.force);
        self.saddle.solve(&mut p.da, &mut w.mu[..rank]);
        p.dlambda.fill(0.0);
        for (k, &row) in self.null.independent_rows().iter().enumerate() {
            p.dlambda[row] = w.mu[k];
        }
        Ok(())
    }

    /// `force` = f_u δu + (D λ)_u δu
    pub(super) fn input_force(&mut self, system: &dyn System, at: &OperatingPoint) -> Result<()> {
        self.input_only.copy_inputs(&self.perturbation);
        let w = &mut self.work;
        let (sum, sample) = (&mut w.force, &mut w.sum);
        let has_friction = system.properties().has_constraint_friction;
        let mut outcome = Ok(());
        let along = (&self.input_only, SMOOTH);
        self.point
            .differentiate(system, at, along, |weight, cx, point| {
                if let Err(EvaluationFailure::Recoverable(code) | EvaluationFailure::Fatal(code)) =
                    system.force(cx, point.q, point.v, sample)
                {
                    outcome = Err(Error::Callback { time: cx.t, code });
                }
                if has_friction {
                    system.constraint_friction(cx, point.q, point.v, point.lambda, sample);
                }
                add(sum, weight, sample);
            });
        outcome
    }
}
