//! One attempt at a step: Newton, closure, projections, memory. No verdict: that is the controller's.
//!
//! ```text
//!   velocities       G v + Φ_t = 0,   then f is taken at the projected velocity (vfix):
//!                    [S Gᵀ; G −E] [dx; ·] = [f(q, v) − f(q, v before); 0],   v += γ h dx,   q̈ += dx/(1−α)
//!   accelerations    G q̈ + γ = 0,     λ moves with them
//!   memory           a = (1−α) q̈₁ + α q̈₀,   δ = (a − ã)/h,   δ' = (δ − δ₀)/((h₀ + h)/2)
//! ```

use super::closure::{ClosureMatrix, ClosureOptions};
use super::hht::Hht;
use super::newton::culprit;
use super::state::{State, Statistics};
use super::tolerances::{
    INCREMENT_REFINEMENTS, INCREMENT_RESIDUAL, OPEN_AFTER_STEP, REDUNDANT_RESIDUAL, STEP_CLOSURE,
    STEP_PROJECTION,
};
use super::trial::TrialOptions;
use super::workspace::{Problem, StepFailure, Trial, Workspace};
use crate::constraint::factorization::Pivots;
use crate::constraint::saddle_point::LinearAlgebraCounts;
use crate::formulation::system::TangentWeights;
use crate::linalg::norm::max_abs;
use crate::model::Corrector;

/// Closes what Newton's tolerance left open.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: STEP_CLOSURE,
    redundant_target: Some(REDUNDANT_RESIDUAL),
    give_up_above: OPEN_AFTER_STEP,
    stall_ratio: 0.5,
    patience: 0,
    limit: usize::MAX,
    matrix: ClosureMatrix::Step,
};
/// Rest above which the factorisation of the step is too old for a projection.
const STALE: f64 = 1e-2;

impl Workspace {
    /// The HHT step up to its velocities: q₁ closed, v₁ on the constraints' rates.
    pub fn hht_step(
        &mut self,
        p: &Problem,
        s: &State,
        options: TrialOptions,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        self.newton(p, s, options, y, stats)?;
        if self.size.nc > 0 {
            let closed = self
                .close_position(p, y.t, &mut y.q, &y.v, &CLOSURE, &mut [])
                .map_err(|failure| failure.of_step(OPEN_AFTER_STEP))?;
            y.redundant_residual = closed.redundant_residual;
            if self.settings.projection {
                if self.projects_by_forces() {
                    self.load_projection(p, y)?;
                }
                self.project_velocity(p, y, stats)?;
            }
        }
        Ok(())
    }

    /// The rest of the plain HHT step: its accelerations and its memory.
    pub fn complete_hht_step(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
    ) -> Result<(), StepFailure> {
        if self.size.nc > 0 && self.settings.projection {
            self.project_acceleration(p, y)?;
            let alpha = self.method.alpha;
            for i in 0..y.a.len() {
                y.a[i] = (1.0 - alpha) * y.acc[i] + alpha * s.acc[i];
            }
        } else {
            for i in 0..y.a.len() {
                y.a[i] = y.at[i] + y.x[i];
            }
        }
        remember(s, y);
        for i in 0..y.lambda.len() {
            y.lambda_dot[i] = (y.lambda[i] - s.lambda[i]) / y.h;
        }
        Ok(())
    }

    /// Velocities back onto the constraints' rates; forces then follow the projected velocity.
    fn project_velocity(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let (alpha, gamma) = (self.method.alpha, self.method.gamma);
        self.scratch.v[1].copy_from_slice(&y.v);
        self.velocity_residual(p, y);
        self.minimum_norm_correction(p, y, &y.v)?;
        for i in 0..y.v.len() {
            y.v[i] += self.scratch.v[0][i];
        }
        if self.character.velocity_forces {
            let cx = self.inputs.at(p, y.t);
            let [dx, before, f0, f1, _] = &mut self.scratch.v;
            stats.evaluations += 2;
            p.system.force(&cx, &y.q, before, f0)?;
            p.system.force(&cx, &y.q, &y.v, f1)?;
            if self.character.has_constraint_friction {
                p.system
                    .constraint_friction(&cx, &y.q, before, &y.lambda, f0);
                p.system.constraint_friction(&cx, &y.q, &y.v, &y.lambda, f1);
            }
            for i in 0..dx.len() {
                dx[i] = f1[i] - f0[i];
            }
            let mu = &mut self.scratch.c[2];
            mu.fill(0.0);
            self.step_matrix.solve_refined(
                &self.sparsity,
                INCREMENT_RESIDUAL,
                INCREMENT_REFINEMENTS,
                dx,
                mu,
                &mut self.counts,
            );
            for i in 0..dx.len() {
                y.v[i] += gamma * y.h * dx[i];
                y.acc[i] += dx[i] / (1.0 - alpha);
            }
            for i in 0..mu.len() {
                y.lambda[i] += mu[i];
            }
            self.velocity_residual(p, y);
            self.minimum_norm_correction(p, y, &y.v)?;
            for i in 0..y.v.len() {
                y.v[i] += self.scratch.v[0][i];
            }
        }
        Ok(())
    }

    /// Accelerations back onto the constraints; λ moves with them.
    fn project_acceleration(&mut self, p: &Problem, y: &mut Trial) -> Result<(), StepFailure> {
        {
            let cx = self.inputs.at(p, y.t);
            let [_, r, ga] = &mut self.scratch.c;
            p.system.constraint_acceleration_bias(&cx, &y.q, &y.v, r);
            self.mass_matrix.jacobian_times(&self.sparsity, &y.acc, ga);
            for i in 0..r.len() {
                r[i] = -(r[i] + ga[i]);
            }
        }
        let metric = self.minimum_norm_correction(p, y, &y.acc)?;
        for i in 0..y.acc.len() {
            y.acc[i] += self.scratch.v[0][i];
        }
        for i in 0..y.lambda.len() {
            y.lambda[i] += metric * self.scratch.c[2][i];
        }
        Ok(())
    }

    /// c[1] = −(G v + Φ_t)
    fn velocity_residual(&mut self, p: &Problem, y: &Trial) {
        let cx = self.inputs.at(p, y.t);
        let [_, r, gv] = &mut self.scratch.c;
        p.system.constraint_rate(&cx, &y.q, r);
        self.mass_matrix.jacobian_times(&self.sparsity, &y.v, gv);
        for i in 0..r.len() {
            r[i] = -(r[i] + gv[i]);
        }
    }

    /// Projections of the augmented Lagrangian are made in the metric of masses and forces without that of multipliers, which
    /// grow near singular positions. Where the corrector follows, the stage is only its guess and the metric of Newton does.
    fn projects_by_forces(&self) -> bool {
        self.step_matrix.handling().updates_multipliers()
            && self.settings.corrector == Corrector::Off
    }

    /// W = M + (1−α) (γ h C + β h² K) with G at the end of the step, factorised in the place of M.
    fn load_projection(&mut self, p: &Problem, y: &Trial) -> Result<(), StepFailure> {
        let Hht {
            alpha, beta, gamma, ..
        } = self.method;
        let weights = TangentWeights {
            mass: 1.0,
            damping: (1.0 - alpha) * gamma * y.h,
            stiffness: (1.0 - alpha) * beta * y.h * y.h,
            theta: &[],
        };
        self.factor_cache.drop_mass();
        let cx = self.inputs.at(p, y.t);
        (self.mass_matrix).load_projection_metric(
            &self.sparsity,
            p.system,
            &cx,
            &y.q,
            &y.v,
            &weights,
        )?;
        self.counts.factorizations += 1;
        (self
            .mass_matrix
            .factorise(&self.sparsity, &mut LinearAlgebraCounts::default()))
        .map_err(|e| StepFailure::Singular(culprit(e.unknown, self.size.nv)))?;
        Ok(())
    }

    /// v[0] = least motion with G v[0] = c[1], c[2] its multipliers, to be multiplied by the returned factor: the metric is
    /// that of Newton's matrix, S = M/(1−α) + O(h), unless that factor is too old; then it is M's. c[1] was made with G `of`.
    fn minimum_norm_correction(
        &mut self,
        p: &Problem,
        y: &Trial,
        of: &[f64],
    ) -> Result<f64, StepFailure> {
        if self.projects_by_forces() {
            let [dx, ..] = &mut self.scratch.v;
            let [_, r, mu] = &mut self.scratch.c;
            (self.mass_matrix).minimum_norm_correction_here(
                &self.sparsity,
                r,
                of,
                STEP_PROJECTION,
                dx,
                mu,
                &mut self.counts,
            );
            return Ok(1.0);
        }
        let [dx, ..] = &mut self.scratch.v;
        let [_, r, mu] = &mut self.scratch.c;
        let rest = self.step_matrix.minimum_norm_correction(
            &self.sparsity,
            self.mass_matrix.jacobian_at(),
            r,
            of,
            STEP_PROJECTION,
            dx,
            mu,
            &mut self.counts,
        );
        if rest <= STALE || max_abs(r) * rest < 1e-13 {
            return Ok(1.0 - self.method.alpha);
        }
        self.factorise_mass(p, y.t, &y.q, &y.v)?;
        let [dx, ..] = &mut self.scratch.v;
        let [_, r, mu] = &mut self.scratch.c;
        self.mass_matrix.minimum_norm_correction_here(
            &self.sparsity,
            r,
            of,
            STEP_PROJECTION,
            dx,
            mu,
            &mut self.counts,
        );
        Ok(1.0)
    }

    /// Loads and factorises A at a point.
    pub fn factorise_mass(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Pivots, StepFailure> {
        let (there, count) = self.factor_cache.mass(p.env.parameters);
        let count = u64::from(count);
        let pivots = match there.filter(|_| self.mass_matrix.matches_active_set()) {
            Some(pivots) => {
                self.counts.factorizations += count;
                pivots
            }
            None => {
                let cx = self.inputs.at(p, t);
                self.mass_matrix
                    .load_mass(&self.sparsity, p.system, &cx, q, v)?;
                self.counts.factorizations += count;
                self.mass_matrix
                    .factorise(&self.sparsity, &mut LinearAlgebraCounts::default())
                    .map_err(|e| StepFailure::Singular(culprit(e.unknown, self.size.nv)))?
            }
        };
        self.factor_cache.keep_mass(pivots);
        Ok(pivots)
    }
}

/// δ and its derivative from the algorithmic accelerations.
pub(super) fn remember(s: &State, y: &mut Trial) {
    for i in 0..y.a.len() {
        y.delta[i] = (y.a[i] - y.at[i]) / y.h;
        y.delta_dot[i] = (y.delta[i] - s.delta[i]) / (0.5 * (s.h + y.h));
    }
}
