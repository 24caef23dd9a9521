//! Newton's iteration for one collocation point: the equations of motion and the constraints at t_n + τh, for a motion that is
//! linear in its unknown x.
//!
//! ```text
//!   q = q_n + τh v_n + p₂h² q̈_n + p₆h² x,   v = v_n + p₃h q̈_n + p₅h x,   q̈ = p₀ q̈_n + p₄ x
//!   [ p₄M + p₅h C + p₆h² K   Gᵀ ] [ dx ]     [ M q̈ − f + Gᵀλ ]
//!   [ G                      0  ] [ dλ ] = − [ Φ/(p₆h²)      ]
//! ```
//!
//! x, q and v change by increments, see theory.md. The residual is evaluated after each iteration: its contraction times the
//! increment is the increment of the next one.

use super::super::newton::{culprit, largest};
use super::super::state::{State, Statistics};
use super::super::trial::{Culprit, StepFailure};
use super::super::workspace::{Problem, Workspace, first_not_finite};
use crate::constraint::refinement::RefinementOptions;
use crate::constraint::saddle_point::SaddlePoint;
use crate::formulation::system::{Dimensions, MotionPoint, System, TangentWeights};
use crate::linalg::norm::max_abs;

/// Iterations before a trial step fails.
const LIMIT: u32 = 12;
/// Contraction above which the matrix is factorised again.
const POOR_CONTRACTION: f64 = 0.1;
/// Contraction above which the iteration diverges.
const DIVERGENCE: f64 = 1e3;
/// Residual of the linear equations, relative, and the refinements to get there.
const SOLVED: f64 = 1e-10;
const REFINEMENTS: usize = 6;
/// Force residuals below this part of the forces are rounding.
const ROUNDING: f64 = 1e-13;
/// Constraint residual at the point over Newton's tolerance: it is divided by h² to become an acceleration ...
const CLOSED: f64 = 1e-2;
/// ... but not below rounding of the coordinates, relative.
const CLOSED_ROUNDING: f64 = 4e-14;
/// Residual of redundant constraints over that of the others, above which they are no longer redundant.
const REDUNDANT_RATIO: f64 = 1e3;

/// The coefficients p of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct StageWeights {
    /// τ
    pub at: f64,
    /// p₂
    pub q_acc: f64,
    /// p₃
    pub v_acc: f64,
    /// p₀
    pub acc: f64,
    /// p₄
    pub mass: f64,
    /// p₅
    pub damping: f64,
    /// p₆
    pub stiffness: f64,
}

/// One stage of a step: a scheme from the state `s` with step size `h`.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    pub s: &'a State,
    pub h: f64,
    pub weights: StageWeights,
    pub norm: StageNorm,
}

impl Stage<'_> {
    /// Time of the collocation point (s).
    fn t(&self) -> f64 {
        self.s.t + self.weights.at * self.h
    }

    /// p₆h², the displacement for a unit of x.
    fn displacement(&self) -> f64 {
        self.weights.stiffness * self.h * self.h
    }
}

/// A collocation point and the unknown that leads to it.
pub struct CollocationPoint {
    pub x: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub acc: Vec<f64>,
    pub lambda: Vec<f64>,
    /// Largest scaled constraint residual there.
    pub open: f64,
}

impl CollocationPoint {
    pub fn new(size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        Self {
            x: v(),
            q: v(),
            v: v(),
            acc: v(),
            lambda: vec![0.0; size.nc],
            open: 0.0,
        }
    }

    /// q, v and q̈ from x.
    fn evaluate(&mut self, stage: &Stage) {
        let Stage {
            s, h, weights: c, ..
        } = *stage;
        for i in 0..self.x.len() {
            let (x, v, acc) = (self.x[i], s.v[i], s.acc[i]);
            self.q[i] = s.q[i] + h * (c.at * v + h * (c.q_acc * acc + c.stiffness * x));
            self.v[i] = v + h * (c.v_acc * acc + c.damping * x);
            self.acc[i] = c.acc * acc + c.mass * x;
        }
    }
}

/// The norm ‖·‖/‖q_n‖, with ‖q_n‖ at least the mean weight of a coordinate: a start from zero has a norm too.
#[derive(Clone, Copy, Debug)]
pub struct StageNorm(f64);

impl StageNorm {
    pub fn at(system: &dyn System, q: &[f64]) -> Self {
        let weights: f64 = (0..q.len()).map(|i| system.weight(i).powi(2)).sum();
        Self(euclidean(q).max((weights / q.len().max(1) as f64).sqrt()))
    }

    pub fn of(self, e: &[f64]) -> f64 {
        self.of_length(euclidean(e))
    }

    fn of_length(self, length: f64) -> f64 {
        length / self.0
    }
}

fn euclidean(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Newton's iteration of a scheme with its matrix and vectors.
pub struct StageIteration {
    pub saddle: SaddlePoint,
    /// Step size for which the factorisation may be used again.
    pub kept: Option<f64>,
    /// Mean diagonal of p₄M + ..: weight of Φ/(p₆h²) relative to forces.
    mean_diagonal: f64,
    diagonals: Vec<f64>,
    /// −r₁, then dx.
    dx: Vec<f64>,
    /// −r₂, then dλ.
    dlambda: Vec<f64>,
    /// M q̈ + Gᵀλ
    inertia: Vec<f64>,
    phi: Vec<f64>,
}

/// Norms of the residual at a collocation point.
struct StageResidual {
    /// Largest entry of r₁.
    balance: f64,
    /// Largest force in it.
    forces: f64,
    /// Largest scaled constraint residual.
    open: f64,
}

impl StageIteration {
    pub fn new(saddle: SaddlePoint, size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        Self {
            saddle,
            kept: None,
            mean_diagonal: 0.0,
            diagonals: v(),
            dx: v(),
            dlambda: vec![0.0; size.nc],
            inertia: v(),
            phi: vec![0.0; size.nc],
        }
    }

    /// Iterates from `y.x` until the next increment would be below Newton's tolerance.
    pub fn solve(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        stage: &Stage,
        y: &mut CollocationPoint,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let tolerance = work.newton_tolerance;
        y.lambda.copy_from_slice(&stage.s.lambda);
        let (mut before, mut moved) = (f64::INFINITY, f64::INFINITY);
        let mut worst = Culprit::Coordinate(0);
        for iteration in 0..=LIMIT {
            y.evaluate(stage);
            let residual = self.residual(work, p, stage.t(), y, stats)?;
            let magnitude = p.system.coordinate_magnitude(&y.q);
            let closed = (CLOSED * tolerance).max(CLOSED_ROUNDING * magnitude);
            let size = self.size(&residual, stage);
            let mut poor = false;
            if iteration > 0 {
                let contraction = size / before;
                let next = contraction * stage.norm.of_length(moved);
                let converged = residual.balance <= ROUNDING * residual.forces || next <= tolerance;
                if converged && residual.open <= closed {
                    y.open = residual.open;
                    return self.check_redundant_constraints(work, closed);
                }
                poor = contraction > POOR_CONTRACTION;
                if iteration == LIMIT || contraction > DIVERGENCE || contraction.is_nan() {
                    return Err(StepFailure::Newton {
                        iterations: iteration,
                        residual: (next / tolerance).max(residual.open / closed),
                        culprit: worst,
                    });
                }
            }
            if poor || (iteration == 0 && self.kept != Some(stage.h)) {
                self.factorise(work, p, stage, y)?;
            }
            before = self.size(&residual, stage);
            stats.newton_iterations += 1;
            self.increment(work, stage.displacement());
            if let Some(i) = first_not_finite(&self.dx) {
                return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
            }
            worst = Culprit::Coordinate(largest(&self.dx));
            moved = stage.displacement() * euclidean(&self.dx);
            for (x, dx) in y.x.iter_mut().zip(&self.dx) {
                *x += dx;
            }
            for (lambda, dlambda) in y.lambda.iter_mut().zip(&self.dlambda) {
                *lambda += dlambda;
            }
        }
        unreachable!("the last iteration returns")
    }

    /// Fails if a redundant constraint is violated where the others are closed to `closed`.
    fn check_redundant_constraints(
        &self,
        work: &Workspace,
        closed: f64,
    ) -> Result<(), StepFailure> {
        let (by, row) = work.largest_redundant_residual(&self.phi);
        if by <= REDUNDANT_RATIO * closed {
            Ok(())
        } else {
            Err(StepFailure::RedundancyLost { row, by })
        }
    }

    /// Evaluates −r₁ into `dx`, and Φ.
    fn residual(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        t: f64,
        y: &CollocationPoint,
        stats: &mut Statistics,
    ) -> Result<StageResidual, StepFailure> {
        let Self {
            saddle,
            dx: r,
            inertia,
            phi,
            ..
        } = self;
        let cx = work.inputs.at(p, t);
        stats.residuals += 1;
        stats.evaluations += 1;
        p.system.force(&cx, &y.q, &y.v, r)?;
        p.system.mass_times(&cx, &y.q, &y.acc, inertia);
        let mut forces = max_abs(r).max(max_abs(inertia));
        saddle.load_constraints(&work.sparsity, p.system, &cx, &y.q, phi);
        saddle
            .matrix
            .add_jacobian_transposed(&work.sparsity, &y.lambda, inertia);
        forces = forces.max(max_abs(inertia));
        for i in 0..r.len() {
            r[i] -= inertia[i];
        }
        if let Some(i) = first_not_finite(r) {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
        }
        if let Some(i) = first_not_finite(phi) {
            return Err(StepFailure::NotFinite(Culprit::Constraint(i)));
        }
        Ok(StageResidual {
            balance: max_abs(r),
            forces,
            open: work.largest_active_residual(phi).0,
        })
    }

    /// One size of both residuals, as a force.
    fn size(&self, residual: &StageResidual, stage: &Stage) -> f64 {
        residual.balance + self.mean_diagonal * residual.open / stage.displacement()
    }

    /// Solves for dx and dλ.
    fn increment(&mut self, work: &mut Workspace, displacement: f64) {
        let Self {
            saddle,
            dx,
            dlambda,
            phi,
            ..
        } = self;
        for i in 0..dlambda.len() {
            dlambda[i] = -phi[i] / displacement;
        }
        if dlambda.is_empty() && !work.character.velocity_forces {
            saddle.solve(&work.sparsity, dx, dlambda, &mut work.counts);
        } else {
            let options = RefinementOptions::exact(SOLVED, REFINEMENTS);
            let (matrix, factor) = (&saddle.matrix, &mut saddle.factor);
            let done = factor.solve_refined(&work.sparsity, matrix, options, dx, dlambda);
            work.counts.solves += done.solves as u64;
        }
    }

    fn factorise(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        stage: &Stage,
        y: &CollocationPoint,
    ) -> Result<(), StepFailure> {
        self.kept = None;
        let cx = work.inputs.at(p, stage.t());
        let weights = TangentWeights {
            mass: stage.weights.mass,
            damping: stage.weights.damping * stage.h,
            stiffness: stage.displacement(),
            theta: &[],
        };
        self.saddle.load_tangent(
            &work.sparsity,
            p.system,
            &cx,
            &MotionPoint {
                q: &y.q,
                v: &y.v,
                a: &y.acc,
                lambda: &y.lambda,
            },
            &weights,
        )?;
        let nv = work.size.nv;
        self.saddle
            .factorise(&work.sparsity, &mut work.counts)
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, nv)))?;
        self.saddle
            .matrix
            .tangent_diagonal(&work.sparsity, &mut self.diagonals);
        let sum: f64 = self.diagonals.iter().map(|d| d.abs()).sum();
        self.mean_diagonal = sum / nv.max(1) as f64;
        self.kept = Some(stage.h);
        Ok(())
    }
}
