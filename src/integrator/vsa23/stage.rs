//! Newton's iteration for one equilibrium point: balance and closure at t_n + τh for a motion that is linear in its
//! unknown x.
//!
//! ```text
//!   q = q_n + τh v_n + p₂h² q̈_n + p₆h² x,   v = v_n + p₃h q̈_n + p₅h x,   q̈ = p₀ q̈_n + p₄ x
//!   [ p₄M + p₅h C + p₆h² K   Gᵀ ] [ dx ]     [ M q̈ − f + Gᵀλ ]
//!   [ G                      0  ] [ dλ ] = − [ Φ/(p₆h²)      ]
//! ```
//!
//! x, q and v move by increments, see theory.md. After each iteration the residual is evaluated: its contraction
//! times the increment is what the next iteration would change.

use super::super::newton::{culprit, largest};
use super::super::state::{State, Statistics};
use super::super::workspace::{Culprit, Problem, StepFailure, Workspace, first_not_finite};
use crate::constraint::refinement::RefinementOptions;
use crate::constraint::saddle_point::SaddlePoint;
use crate::formulation::system::{Dimensions, MotionPoint, System, TangentWeights};
use crate::linalg::norm::max_abs;

/// Iterations before an attempt is given up.
const LIMIT: u32 = 12;
/// Above this contraction the factorisation is made anew.
const POOR_RATE: f64 = 0.1;
/// Residual of the linear equations, relative.
const SOLVED: f64 = 1e-10;
/// Force residuals below this part of the forces are rounding.
const ROUNDING: f64 = 1e-13;
/// Closure at the point: this part of Newton's tolerance, for it is divided by h² on the way to the accelerations ...
const CLOSED: f64 = 1e-2;
/// ... but never finer than rounding of the coordinates, relative.
const CLOSED_ROUNDING: f64 = 4e-14;
/// Opening of rows that are left out because they follow from the others, over the closure of those.
const LEFT_OPEN: f64 = 1e3;

/// The numbers p of a scheme.
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

/// An equilibrium point and the unknown that leads to it.
pub struct CollocationPoint {
    pub x: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub acc: Vec<f64>,
    pub lambda: Vec<f64>,
    /// Largest opening of the constraints there, over their scale.
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

    fn place(&mut self, s: &State, h: f64, c: &StageWeights) {
        for i in 0..self.x.len() {
            let (x, v, acc) = (self.x[i], s.v[i], s.acc[i]);
            self.q[i] = s.q[i] + h * (c.at * v + h * (c.q_acc * acc + c.stiffness * x));
            self.v[i] = v + h * (c.v_acc * acc + c.damping * x);
            self.acc[i] = c.acc * acc + c.mass * x;
        }
    }
}

/// ‖·‖/‖q_n‖; ‖q_n‖ is not taken below the mean weight of a coordinate, so that a start from zero has a size.
#[derive(Clone, Copy, Debug)]
pub struct StageNorm(f64);

impl StageNorm {
    pub fn at(system: &dyn System, q: &[f64]) -> Self {
        let weights: f64 = (0..q.len()).map(|i| system.weight(i).powi(2)).sum();
        Self(euclidean(q).max((weights / q.len().max(1) as f64).sqrt()))
    }

    pub fn of(self, e: &[f64]) -> f64 {
        euclidean(e) / self.0
    }
}

fn euclidean(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The matrix of a scheme with its factorisation.
pub struct StageIteration {
    pub saddle: SaddlePoint,
    /// The step the factorisation was made for, where it may serve again.
    pub kept: Option<f64>,
    /// Mean diagonal of p₄M + ..: what a unit of Φ/(p₆h²) weighs against forces.
    diagonal: f64,
    diagonals: Vec<f64>,
    /// −r₁, then the increment of x.
    increment: Vec<f64>,
    phi: Vec<f64>,
    lambda_increment: Vec<f64>,
}

impl StageIteration {
    pub fn new(saddle: SaddlePoint, size: &Dimensions) -> Self {
        Self {
            saddle,
            kept: None,
            diagonal: 0.0,
            diagonals: vec![0.0; size.nv],
            increment: vec![0.0; size.nv],
            phi: vec![0.0; size.nc],
            lambda_increment: vec![0.0; size.nc],
        }
    }

    /// Iterates from `y.x` until the next increment would be below Newton's tolerance.
    pub fn solve(
        &mut self,
        core: &mut Workspace,
        p: &Problem,
        s: &State,
        h: f64,
        stage: &StageWeights,
        y: &mut CollocationPoint,
        norm: StageNorm,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let t = s.t + stage.at * h;
        let moves = stage.stiffness * h * h;
        let tolerance = core.newton_tolerance;
        y.lambda.copy_from_slice(&s.lambda);
        let (mut before, mut size) = (f64::INFINITY, f64::INFINITY);
        let mut worst = Culprit::Coordinate(0);
        for iteration in 0..=LIMIT {
            y.place(s, h, stage);
            let (balance, forces, open) = self.residual(core, p, t, y, stats)?;
            let magnitude = p.system.coordinate_magnitude(&y.q);
            let closed = (CLOSED * tolerance).max(CLOSED_ROUNDING * magnitude);
            let mut poor = false;
            if iteration > 0 {
                let rate = self.weigh(balance, open, moves) / before;
                let still = balance <= ROUNDING * forces || rate * norm.of_size(size) <= tolerance;
                if still && open <= closed {
                    y.open = open;
                    let (by, row) = core.largest_redundant_residual(&self.phi);
                    return if by <= LEFT_OPEN * closed {
                        Ok(())
                    } else {
                        Err(StepFailure::RedundancyLost { row, by })
                    };
                }
                poor = rate > POOR_RATE;
                if iteration == LIMIT || rate > 1e3 || rate.is_nan() {
                    return Err(StepFailure::Newton {
                        iterations: iteration,
                        residual: (rate * norm.of_size(size) / tolerance).max(open / closed),
                        culprit: worst,
                    });
                }
            }
            if poor || (iteration == 0 && self.kept != Some(h)) {
                self.factorise(core, p, t, h, stage, y)?;
            }
            before = self.weigh(balance, open, moves);
            stats.newton_iterations += 1;
            self.increment(core, moves);
            let (dx, dl) = (&self.increment, &self.lambda_increment);
            if let Some(i) = first_not_finite(dx) {
                return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
            }
            worst = Culprit::Coordinate(largest(dx));
            size = moves * euclidean(dx);
            for i in 0..dx.len() {
                y.x[i] += dx[i];
            }
            for i in 0..dl.len() {
                y.lambda[i] += dl[i];
            }
        }
        unreachable!("the last iteration returns")
    }

    /// Evaluates −r₁ and Φ. Returns the largest entry of r₁, of the forces in it, and the largest constraint residual.
    fn residual(
        &mut self,
        core: &mut Workspace,
        p: &Problem,
        t: f64,
        y: &CollocationPoint,
        stats: &mut Statistics,
    ) -> Result<(f64, f64, f64), StepFailure> {
        let cx = core.inputs.at(p, t);
        let (r, phi) = (&mut self.increment, &mut self.phi);
        let inertia = &mut core.evaluation.inertia;
        stats.residuals += 1;
        stats.evaluations += 1;
        p.system.force(&cx, &y.q, &y.v, r)?;
        p.system.mass_times(&cx, &y.q, &y.acc, inertia);
        let mut forces = max_abs(r).max(max_abs(inertia));
        self.saddle
            .load_constraints(&core.sparsity, p.system, &cx, &y.q, phi);
        self.saddle
            .matrix
            .add_jacobian_transposed(&core.sparsity, &y.lambda, inertia);
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
        let balance = max_abs(r);
        let open = core.largest_active_residual(&self.phi).0;
        Ok((balance, forces, open))
    }

    /// One measure of both residuals.
    fn weigh(&self, balance: f64, open: f64, moves: f64) -> f64 {
        balance + self.diagonal * open / moves
    }

    /// Solves for the increment of x and λ.
    fn increment(&mut self, core: &mut Workspace, moves: f64) {
        let (dx, phi, dl) = (&mut self.increment, &self.phi, &mut self.lambda_increment);
        for i in 0..dl.len() {
            dl[i] = -phi[i] / moves;
        }
        if dl.is_empty() && !core.character.velocity_forces {
            self.saddle.solve(&core.sparsity, dx, dl, &mut core.counts);
        } else {
            let matrix = &self.saddle.matrix;
            let factor = &mut self.saddle.factor;
            let done = factor.solve_refined(
                &core.sparsity,
                matrix,
                RefinementOptions::exact(SOLVED, 6),
                dx,
                dl,
            );
            core.counts.solves += done.solves as u64;
        }
    }

    fn factorise(
        &mut self,
        core: &mut Workspace,
        p: &Problem,
        t: f64,
        h: f64,
        stage: &StageWeights,
        y: &CollocationPoint,
    ) -> Result<(), StepFailure> {
        self.kept = None;
        let cx = core.inputs.at(p, t);
        let weights = TangentWeights {
            mass: stage.mass,
            damping: stage.damping * h,
            stiffness: stage.stiffness * h * h,
            theta: &[],
        };
        self.saddle.load_tangent(
            &core.sparsity,
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
        let nv = core.size.nv;
        self.saddle
            .factorise(&core.sparsity, &mut core.counts)
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, nv)))?;
        self.saddle
            .matrix
            .tangent_diagonal(&core.sparsity, &mut self.diagonals);
        let sum: f64 = self.diagonals.iter().map(|d| d.abs()).sum();
        self.diagonal = sum / nv.max(1) as f64;
        self.kept = Some(h);
        Ok(())
    }
}

impl StageNorm {
    /// The same of a length that is known.
    fn of_size(self, size: f64) -> f64 {
        size / self.0
    }
}
