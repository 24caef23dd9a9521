//! The tangent matrix (m M + c C) T⁻¹ + k K of a user-defined system: each block by its callback or by differences.

use super::difference::{CENTRAL_STEP, DifferenceScratch};
use super::{Callback, CallbackArguments, UserEquations, UserSystem};
use crate::formulation::{ConfigurationSpace, Evaluated, TangentWeights};

impl<E: UserEquations> UserSystem<E> {
    /// out = values of (m M + c C) T⁻¹ + k K.
    pub(super) fn tangent_values(
        &self,
        at: &CallbackArguments,
        w: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let scratch = &mut *self.scratch.lock();
        out.fill(0.0);
        if w.mass != 0.0 {
            self.add_mass(at, w.mass, scratch, out)?;
        }
        if w.damping != 0.0 && !self.shape.promises.no_velocity_forces {
            self.add_damping(at, w.damping, scratch, out)?;
        }
        if self.rotations && !w.theta.is_empty() {
            self.multiply_tangent_inverse(w.theta, scratch, out);
        }
        if w.stiffness != 0.0 {
            self.add_stiffness(at, w.stiffness, scratch, out)?;
        }
        Ok(())
    }

    /// out += m M, by its callback or column by column from M a.
    fn add_mass(
        &self,
        at: &CallbackArguments,
        m: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        if self.equations.has(Callback::Mass) {
            return self.add_given(
                Callback::Mass,
                &CallbackArguments::of_q(at.cx, at.q),
                m,
                scratch,
                out,
            );
        }
        let columns = &self.tangent_columns;
        let DifferenceScratch {
            velocity: unit,
            term,
            ..
        } = scratch;
        for g in 0..columns.groups() {
            unit.fill(0.0);
            for &j in columns.group(g) {
                unit[j as usize] = 1.0;
            }
            self.evaluate(
                Callback::MassTimes,
                &CallbackArguments::of_a(at.cx, at.q, unit),
                term,
            )?;
            for &j in columns.group(g) {
                for &(k, i) in columns.column(j) {
                    out[k as usize] += m * term[i as usize];
                }
            }
        }
        Ok(())
    }

    /// out += c C,  C = −∂f/∂v
    fn add_damping(
        &self,
        at: &CallbackArguments,
        c: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        let at = CallbackArguments::of_v(at.cx, at.q, at.v);
        if self.equations.has(Callback::ForceByV) {
            return self.add_given(Callback::ForceByV, &at, -c, scratch, out);
        }
        let columns = &self.tangent_columns;
        let DifferenceScratch {
            velocity: v,
            residuals: r,
            ..
        } = scratch;
        let step = |j: u32| {
            let j = j as usize;
            CENTRAL_STEP * self.shape.weights[j].max(at.v[j].abs())
        };
        for g in 0..columns.groups() {
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                v.copy_from_slice(at.v);
                for &j in columns.group(g) {
                    v[j as usize] += sign * step(j);
                }
                self.evaluate(
                    Callback::Force,
                    &CallbackArguments { v, ..at },
                    &mut r[side],
                )?;
            }
            for &j in columns.group(g) {
                let scale = -c / (2.0 * step(j));
                for &(k, i) in columns.column(j) {
                    out[k as usize] += scale * (r[0][i as usize] - r[1][i as usize]);
                }
            }
        }
        Ok(())
    }

    /// out += k K,  K = ∂(M a − f + Gᵀλ)/∂q: each term by its callback; those without one are differenced together.
    fn add_stiffness(
        &self,
        at: &CallbackArguments,
        k: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        let promises = self.shape.promises;
        let nonzero = |x: &[f64]| x.iter().any(|x| *x != 0.0);
        let inertia = !promises.constant_mass && !promises.linear && nonzero(at.a);
        let reaction = !promises.linear && nonzero(at.lambda);
        let terms = [
            (
                Callback::ForceByQ,
                true,
                -1.0,
                CallbackArguments::of_v(at.cx, at.q, at.v),
            ),
            (
                Callback::InertiaByQ,
                inertia,
                1.0,
                CallbackArguments::of_a(at.cx, at.q, at.a),
            ),
            (
                Callback::ReactionByQ,
                reaction,
                1.0,
                CallbackArguments {
                    lambda: at.lambda,
                    ..CallbackArguments::of_q(at.cx, at.q)
                },
            ),
        ];
        let mut missing = [false; 3];
        for (n, (callback, needed, sign, point)) in terms.into_iter().enumerate() {
            match needed && self.equations.has(callback) {
                true => self.add_given(callback, &point, sign * k, scratch, out)?,
                false => missing[n] = needed,
            }
        }
        if !missing.contains(&true) {
            return Ok(());
        }
        let columns = &self.tangent_columns;
        for g in 0..columns.groups() {
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                let point = &mut scratch.points[0];
                point.w.fill(0.0);
                for &j in columns.group(g) {
                    point.w[j as usize] = sign * self.step(CENTRAL_STEP, j as usize, at.q);
                }
                self.retract(at.q, &point.w, &mut point.q);
                self.residual(at, missing, side, scratch)?;
            }
            for &j in columns.group(g) {
                let scale = k / (2.0 * self.step(CENTRAL_STEP, j as usize, at.q));
                for &(entry, i) in columns.column(j) {
                    let [plus, minus] = [0, 1].map(|side| scratch.residuals[side][i as usize]);
                    out[entry as usize] += scale * (plus - minus);
                }
            }
        }
        Ok(())
    }

    /// residuals[side] = the given terms of M a − f + Gᵀλ at the first displaced configuration.
    fn residual(
        &self,
        at: &CallbackArguments,
        [force, inertia, reaction]: [bool; 3],
        side: usize,
        scratch: &mut DifferenceScratch,
    ) -> Evaluated {
        let DifferenceScratch {
            points: [here, there],
            residuals,
            term,
            jacobian: g,
            mass_matrix,
            phi,
            ..
        } = scratch;
        let (r, q) = (&mut residuals[side], &here.q);
        r.fill(0.0);
        if force {
            self.evaluate(
                Callback::Force,
                &CallbackArguments::of_v(at.cx, q, at.v),
                term,
            )?;
            for i in 0..r.len() {
                r[i] -= term[i];
            }
        }
        if inertia {
            if self.equations.has(Callback::MassTimes) {
                self.evaluate(
                    Callback::MassTimes,
                    &CallbackArguments::of_a(at.cx, q, at.a),
                    term,
                )?;
                for i in 0..r.len() {
                    r[i] += term[i];
                }
            } else {
                self.evaluate(
                    Callback::Mass,
                    &CallbackArguments::of_q(at.cx, q),
                    mass_matrix,
                )?;
                for (&(i, j), m) in self.shape.pattern.tangent.iter().zip(&*mass_matrix) {
                    r[i as usize] += m * at.a[j as usize];
                }
            }
        }
        if reaction {
            match self.equations.has(Callback::Jacobian) {
                true => self.evaluate(Callback::Jacobian, &CallbackArguments::of_q(at.cx, q), g)?,
                false => self.difference_into(at.cx, q, there, &mut phi[0], g)?,
            }
            for (&(row, j), g) in self.shape.pattern.jacobian.iter().zip(&*g) {
                r[j as usize] += g * at.lambda[row as usize];
            }
        }
        Ok(())
    }

    /// out += weight times the matrix of a callback.
    fn add_given(
        &self,
        callback: Callback,
        at: &CallbackArguments,
        weight: f64,
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) -> Evaluated {
        self.evaluate(callback, at, &mut scratch.matrix)?;
        for (out, value) in out.iter_mut().zip(&scratch.matrix) {
            *out += weight * value;
        }
        Ok(())
    }

    /// out := out T(θ)⁻¹. Entries outside the sparsity are dropped: T couples only the coordinates of one rotation.
    fn multiply_tangent_inverse(
        &self,
        theta: &[f64],
        scratch: &mut DifferenceScratch,
        out: &mut [f64],
    ) {
        let n = self.shape.size.nv;
        let DifferenceScratch {
            inverse_tangent: inverse,
            dense,
            velocity: unit,
            term,
            ..
        } = scratch;
        for j in 0..n {
            unit.fill(0.0);
            unit[j] = 1.0;
            self.group(Callback::TangentInverse, theta, unit, term);
            for i in 0..n {
                inverse[i * n + j] = term[i];
            }
        }
        dense.fill(0.0);
        for (&(i, j), x) in self.shape.pattern.tangent.iter().zip(&*out) {
            dense[i as usize * n + j as usize] = *x;
        }
        for (&(i, j), x) in self.shape.pattern.tangent.iter().zip(out) {
            let (i, j) = (i as usize, j as usize);
            *x = (0..n).map(|k| dense[i * n + k] * inverse[k * n + j]).sum();
        }
    }
}
