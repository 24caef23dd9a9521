//! Projections onto the constraints of velocity and acceleration by minimum-norm corrections.
//!
//! ```text
//!   velocity        v ← v + dv,    G dv = −(G v + Φ_t)
//!                   in a step f then follows the projected velocity:
//!                   [S Gᵀ; G −E] [dx; ·] = [f(q, v) − f(q, v before); 0],   v += γ h dx,   q̈ += dx/(1−α)
//!   acceleration    q̈ ← q̈ + da,    G da = −(G q̈ + γ),    λ changes with it
//! ```

use super::hht::Hht;
use super::newton::culprit;
use super::state::Statistics;
use super::tolerances::{
    CONSISTENT_VELOCITY, INCREMENT_REFINEMENTS, INCREMENT_RESIDUAL, STEP_PROJECTION,
};
use super::trial::{StepFailure, Trial};
use super::workspace::{EvaluationVectors, Problem, Workspace};
use crate::constraint::minimum_norm::{CorrectionTarget, PassLimit};
use crate::constraint::saddle_point::LinearAlgebraCounts;
use crate::formulation::system::{Dimensions, TangentWeights};
use crate::linalg::norm::max_abs;
use crate::model::Corrector;

/// Residual above which the factorisation of the step is too old for a projection.
const STALE_FACTOR: f64 = 1e-2;
/// Velocities and accelerations below this residual are as consistent as rounding allows, however old the factorisation.
const CONSISTENT: f64 = 1e-13;

/// Vectors of a projection.
pub(super) struct ProjectionWorkspace {
    /// Right-hand side r of G dx = r.
    pub residual: Vec<f64>,
    /// G times the vector that is projected.
    pub product: Vec<f64>,
    /// The minimum-norm correction dx.
    pub correction: Vec<f64>,
    /// Its multipliers.
    pub multipliers: Vec<f64>,
}

impl ProjectionWorkspace {
    pub fn new(size: &Dimensions) -> Self {
        Self {
            residual: vec![0.0; size.nc],
            product: vec![0.0; size.nc],
            correction: vec![0.0; if size.nc > 0 { size.nv } else { 0 }],
            multipliers: vec![0.0; size.nc],
        }
    }
}

impl Workspace {
    /// Projects v onto G v + Φ_t = 0 with the mass matrix loaded at q, to a relative residual.
    pub fn project_velocity(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &mut [f64],
        residual: f64,
    ) {
        self.evaluate_velocity_residual(p, t, q, v);
        self.minimum_norm_by_mass(v, residual);
        add(v, &self.projection.correction);
    }

    /// Projects the velocity of a step; the forces, and with them the accelerations, follow the projected velocity.
    pub fn project_step_velocity(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        if self.projects_by_forces() {
            self.load_force_metric(p, y)?;
        }
        self.evaluation.v.copy_from_slice(&y.v);
        self.evaluate_velocity_residual(p, y.t, &y.q, &y.v);
        self.minimum_norm_correction(p, y, &y.v)?;
        add(&mut y.v, &self.projection.correction);
        if self.character.velocity_forces {
            self.follow_velocity(p, y, stats)?;
            self.evaluate_velocity_residual(p, y.t, &y.q, &y.v);
            self.minimum_norm_correction(p, y, &y.v)?;
            add(&mut y.v, &self.projection.correction);
        }
        Ok(())
    }

    /// Changes v, q̈ and λ by what the forces change from the velocity before its projection, `evaluation.v`.
    fn follow_velocity(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let (alpha, gamma) = (self.method.alpha, self.method.gamma);
        let cx = self.inputs.at(p, y.t);
        let EvaluationVectors {
            v: v_before,
            force: force_before,
            inertia: force,
            ..
        } = &mut self.evaluation;
        stats.evaluations += 2;
        p.system.force(&cx, &y.q, v_before, force_before)?;
        p.system.force(&cx, &y.q, &y.v, force)?;
        if self.character.has_constraint_friction {
            p.system
                .constraint_friction(&cx, &y.q, v_before, &y.lambda, force_before);
            p.system
                .constraint_friction(&cx, &y.q, &y.v, &y.lambda, force);
        }
        let (dx, mu) = (
            &mut self.projection.correction,
            &mut self.projection.multipliers,
        );
        for i in 0..dx.len() {
            dx[i] = force[i] - force_before[i];
        }
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
        add(&mut y.lambda, mu);
        Ok(())
    }

    /// Projects the acceleration of a step onto G q̈ + γ = 0; λ changes with it.
    pub fn project_step_acceleration(
        &mut self,
        p: &Problem,
        y: &mut Trial,
    ) -> Result<(), StepFailure> {
        self.evaluate_acceleration_residual(p, y.t, (&y.q, &y.v), &y.acc);
        let factor = self.minimum_norm_correction(p, y, &y.acc)?;
        add(&mut y.acc, &self.projection.correction);
        for i in 0..y.lambda.len() {
            y.lambda[i] += factor * self.projection.multipliers[i];
        }
        Ok(())
    }

    /// Projects an acceleration onto G q̈ + γ = 0 with the mass matrix loaded at q.
    pub fn project_acceleration(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v): (&[f64], &[f64]),
        acc: &mut [f64],
        residual: f64,
    ) {
        self.evaluate_acceleration_residual(p, t, (q, v), acc);
        self.minimum_norm_by_mass(acc, residual);
        add(acc, &self.projection.correction);
    }

    /// projection.residual = −(G v + Φ_t)
    fn evaluate_velocity_residual(&mut self, p: &Problem, t: f64, q: &[f64], v: &[f64]) {
        let cx = self.inputs.at(p, t);
        p.system
            .constraint_rate(&cx, q, &mut self.projection.residual);
        self.subtract_product(v);
    }

    /// projection.residual = −(G q̈ + γ)
    fn evaluate_acceleration_residual(
        &mut self,
        p: &Problem,
        t: f64,
        (q, v): (&[f64], &[f64]),
        acc: &[f64],
    ) {
        let cx = self.inputs.at(p, t);
        (p.system).constraint_acceleration_bias(&cx, q, v, &mut self.projection.residual);
        self.subtract_product(acc);
    }

    /// r ← −(r + G x)
    fn subtract_product(&mut self, x: &[f64]) {
        let ProjectionWorkspace {
            residual: r,
            product,
            ..
        } = &mut self.projection;
        self.mass_matrix.jacobian_times(&self.sparsity, x, product);
        for i in 0..r.len() {
            r[i] = -(r[i] + product[i]);
        }
    }

    /// The projections of the augmented Lagrangian use the metric of masses and forces without that of the multipliers, which
    /// grow near singular positions. With a corrector the HHT step is only its guess, and the metric of Newton's iteration
    /// suffices.
    fn projects_by_forces(&self) -> bool {
        self.step_matrix.handling().updates_multipliers()
            && self.settings.corrector == Corrector::Off
    }

    /// Factorises W = M + (1−α) (γ h C + β h² K), with G at the end of the step, in the memory of the mass matrix.
    fn load_force_metric(&mut self, p: &Problem, y: &Trial) -> Result<(), StepFailure> {
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
        let matrix = &mut self.mass_matrix;
        matrix.load_projection_metric(&self.sparsity, p.system, &cx, &y.q, &y.v, &weights)?;
        self.counts.factorizations += 1;
        matrix
            .factorise(&self.sparsity, &mut LinearAlgebraCounts::default())
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, self.size.nv)))?;
        Ok(())
    }

    /// Solves G dx = r for `projection.correction` and its multipliers, where r was computed with G `of`. The metric is that of
    /// Newton's matrix, S = M/(1−α) + O(h); if that factorisation is too old, it is M. Returns the factor by which the
    /// multipliers are those of the equations of motion.
    fn minimum_norm_correction(
        &mut self,
        p: &Problem,
        y: &Trial,
        of: &[f64],
    ) -> Result<f64, StepFailure> {
        if !self.projects_by_forces() {
            let ProjectionWorkspace {
                residual: r,
                correction,
                multipliers,
                ..
            } = &mut self.projection;
            let left = self.step_matrix.minimum_norm_correction(
                &self.sparsity,
                self.mass_matrix.jacobian_at(),
                &CorrectionTarget {
                    rate: r,
                    computed_from: of,
                    tolerance: STEP_PROJECTION,
                    limit: PassLimit::STEP,
                },
                correction,
                multipliers,
                &mut self.counts,
            );
            if left <= STALE_FACTOR || max_abs(r) * left < CONSISTENT {
                return Ok(1.0 - self.method.alpha);
            }
            self.factorise_mass(p, y.t, &y.q, &y.v)?;
        }
        self.minimum_norm_by_mass(of, STEP_PROJECTION);
        Ok(1.0)
    }

    /// The same with the mass matrix that is loaded and factorised.
    pub fn minimum_norm_by_mass(&mut self, of: &[f64], residual: f64) {
        let ProjectionWorkspace {
            residual: r,
            correction,
            multipliers,
            ..
        } = &mut self.projection;
        self.mass_matrix.minimum_norm_correction_here(
            &self.sparsity,
            &CorrectionTarget {
                rate: r,
                computed_from: of,
                tolerance: residual,
                limit: if residual > CONSISTENT_VELOCITY {
                    PassLimit::STEP
                } else {
                    PassLimit::START
                },
            },
            correction,
            multipliers,
            &mut self.counts,
        );
    }
}

/// x += dx
fn add(x: &mut [f64], dx: &[f64]) {
    for i in 0..x.len() {
        x[i] += dx[i];
    }
}
