//! Linear models about a point of a motion, in minimal coordinates y:
//!
//! ```text
//!   x = (y, ẏ, I),    ẋ = A x + B u,    outputs = C x + D u
//! ```
//!
//! I are integrals along the motion, as that of a controller.
//!
//! A perturbation that satisfies the constraints is w = N z₁, δv = N z₂ + P z₁ with a basis N of the null space of G and
//! G P = −(G v + Φ_t)_q N, the curvature of the constraints. Accelerations and multipliers follow from
//!
//! ```text
//!   [ M  Gᵀ − D ] [ δa ]   [ f_u δu − C δv − K w                  ]
//!   [ G    0    ] [ δλ ] = [ −(G a)_q w − γ_q w − γ_v δv − γ_u δu ]
//! ```
//!
//! y, ẏ and ÿ of the minimal coordinates are computed along each of these perturbations, with the terms of a basis that moves
//! ([`super::observables`]); A, B, C, D follow by a change of coordinates.
//!
//! M, C, K and G are those of the system. The changes of G v, G a and γ along w, second and third derivatives of Φ, are differences
//! of order four; in equilibrium they are zero.

use super::dense::dot;
use super::matrices::SystemMatrices;
use super::null_space::NullSpace;
use super::observables::Observables;
use super::perturbation::{Perturbation, PerturbedPoint};
use super::saddle::DenseSaddle;
use super::singular_position;
use crate::error::{Error, Result};
use crate::formulation::system::{
    Dimensions, Evaluated, EvaluationContext, EvaluationFailure, MotionPoint, System,
};
use nalgebra::DMatrix;

/// Acceleration (error norm, 1/s²) of an equilibrium: A is wrong by this at most, over some 10 1/s² of gravity.
const RESTING: f64 = 1e-11;

/// A point of a motion, with inputs and modes.
#[derive(Clone, Copy)]
pub struct OperatingPoint<'a> {
    /// Time, inputs, parameters, modes.
    pub cx: EvaluationContext<'a>,
    /// q, v, a, λ
    pub motion: MotionPoint<'a>,
    /// Scale of the error norm.
    pub scale: &'a [f64],
}

/// An input of a linear model: an input of the system, or its first or second derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputDirection {
    /// Index of the input.
    pub input: usize,
    /// 0, 1 or 2.
    pub derivative: usize,
}

/// A linear model ẋ = A x + B u, y = C x + D u. Matrices are stored by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearModel {
    /// Length of x: twice the degrees of freedom, and the integrals.
    pub states: usize,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// `states` x `states`
    pub a: Vec<f64>,
    /// `states` x `inputs`
    pub b: Vec<f64>,
    /// `outputs` x `states`
    pub c: Vec<f64>,
    /// `outputs` x `inputs`
    pub d: Vec<f64>,
    /// Minimal coordinates, as indices of those offered.
    pub coordinates: Vec<usize>,
}

/// Computes linear models. Holds workspace only: a call with the same degrees of freedom as the last one allocates nothing.
pub struct Linearizer {
    pub(super) size: Dimensions,
    /// Integrals that are states.
    pub(super) integrals: Vec<usize>,
    pub(super) matrices: SystemMatrices,
    pub(super) null: NullSpace,
    pub(super) saddle: DenseSaddle,
    /// At rest in an equilibrium with constraints that do not move: their curvature has no effect.
    pub(super) still: bool,
    pub(super) acceleration: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    pub(super) perturbation: Perturbation,
    /// Its change of the inputs alone.
    pub(super) input_only: Perturbation,
    pub(super) point: PerturbedPoint,
    /// Rank of the constraints in these modes, once it has been examined.
    pub(super) examined: Option<(Vec<i32>, usize)>,
    pub(super) work: LinearizationWorkspace,
    /// y, ẏ, I, then ÿ, İ and the outputs, along each perturbation.
    pub(super) columns: Vec<f64>,
    /// Sizes of the perturbations z by which their columns were divided.
    pub(super) sizes: Vec<f64>,
    pub(super) change: crate::linalg::dense_lu::DenseLu,
    pub(super) chosen: Vec<usize>,
}

/// Vectors.
pub(super) struct LinearizationWorkspace {
    pub zero: Vec<f64>,
    /// Of length nv.
    pub sum: Vec<f64>,
    pub force: Vec<f64>,
    /// Of length nc.
    pub bias: [Vec<f64>; 2],
    pub curvature: Vec<f64>,
    pub rate_curvature: Vec<f64>,
    pub mu: Vec<f64>,
    /// Of the coordinates: at the point, and changes along a perturbation.
    pub rate: Vec<f64>,
    pub acceleration: Vec<f64>,
    pub drift: Vec<f64>,
    pub y: [Vec<f64>; 3],
    pub sample: [Vec<f64>; 2],
    /// Coordinates that are evaluated.
    pub needed: Vec<usize>,
    /// Outputs.
    pub output: Vec<f64>,
    pub output_sample: Vec<f64>,
    /// İ and its change.
    pub integral_rate: [Vec<f64>; 2],
    /// Gradients of the coordinates.
    pub gradients: DMatrix<f64>,
    pub reduced_mass: DMatrix<f64>,
}

impl Linearizer {
    /// Workspace for a system and its coordinates and outputs; `integrals` are the integrals that are states.
    pub fn new(system: &dyn System, observables: &dyn Observables, integrals: Vec<usize>) -> Self {
        let size = system.dimensions();
        let (v, c) = (|| vec![0.0; size.nv], || vec![0.0; size.nc]);
        let coordinates = observables.kinds().len();
        let k = || vec![0.0; coordinates];
        let o = || vec![0.0; observables.output_count()];
        let i = || vec![0.0; size.integrals];
        Self {
            size,
            integrals,
            matrices: SystemMatrices::new(system),
            null: NullSpace::new(size.nv, size.nc),
            saddle: DenseSaddle::new(),
            still: false,
            acceleration: v(),
            lambda: c(),
            perturbation: Perturbation::new(&size),
            input_only: Perturbation::new(&size),
            point: PerturbedPoint::new(&size),
            examined: None,
            work: LinearizationWorkspace {
                zero: vec![0.0; size.nv.max(size.nc)],
                sum: v(),
                force: v(),
                bias: [c(), c()],
                curvature: c(),
                rate_curvature: c(),
                mu: c(),
                rate: k(),
                acceleration: k(),
                drift: k(),
                y: [k(), k(), k()],
                sample: [k(), k()],
                needed: Vec::with_capacity(coordinates),
                output: o(),
                output_sample: o(),
                integral_rate: [i(), i()],
                gradients: DMatrix::zeros(0, 0),
                reduced_mass: DMatrix::zeros(0, 0),
            },
            columns: Vec::new(),
            sizes: Vec::new(),
            change: crate::linalg::dense_lu::DenseLu::new(0),
            chosen: Vec::new(),
        }
    }

    /// Accelerations and multipliers at the loaded point.
    pub fn balance(&self) -> (&[f64], &[f64]) {
        (&self.acceleration, &self.lambda)
    }

    /// Computes accelerations, multipliers and matrices at a point, whose own accelerations and multipliers are ignored: those of an
    /// integration have its tolerance. A singular position is an error.
    pub fn load(&mut self, system: &dyn System, at: &OperatingPoint) -> Result<()> {
        let failed = |failure: EvaluationFailure| match failure {
            EvaluationFailure::Recoverable(code) | EvaluationFailure::Fatal(code) => {
                Error::Callback {
                    time: at.cx.t,
                    code,
                }
            }
        };
        let m = &mut self.matrices;
        m.load_mass(system, &at.cx, &at.motion).map_err(failed)?;
        self.check_finite(system, at.cx.t)?;
        let length = |i: usize| system.characteristic_length(i);
        let m = &self.matrices;
        self.null.compute(&m.jacobian, &m.active, length);
        self.point.set_pivot(self.null.smallest_pivot());
        self.examine_position(system, at)?;
        (self.saddle.factorise(system, &self.matrices, &self.null)).map_err(|k| {
            let rows = self.null.independent_rows();
            let culprit = match k.checked_sub(self.size.nv) {
                None => system.coordinate_name(k),
                Some(k) => system.constraint_name(rows[k]),
            };
            Error::SingularMass { culprit }
        })?;
        self.solve_balance(system, at).map_err(failed)?;
        let MotionPoint { q, v, .. } = at.motion;
        self.still = !system.properties().moving_constraints
            && v.iter().all(|v| *v == 0.0)
            && system.norm(&at.cx, q, at.scale, &self.acceleration) <= RESTING;
        let motion = MotionPoint {
            a: &self.acceleration,
            lambda: &self.lambda,
            ..at.motion
        };
        let m = &mut self.matrices;
        m.load_tangent(system, &at.cx, &motion).map_err(failed)?;
        self.check_finite(system, at.cx.t)
    }

    /// M a + (Gᵀ − D) λ = f,  G a = −γ
    fn solve_balance(&mut self, system: &dyn System, at: &OperatingPoint) -> Evaluated {
        let rank = self.null.rank();
        let MotionPoint { q, v, .. } = at.motion;
        let w = &mut self.work;
        system.force(&at.cx, q, v, &mut self.acceleration)?;
        system.constraint_acceleration_bias(&at.cx, q, v, &mut w.bias[0]);
        let rows = self.null.independent_rows();
        for (k, &row) in rows.iter().enumerate() {
            w.mu[k] = -w.bias[0][row];
        }
        self.saddle.solve(&mut self.acceleration, &mut w.mu[..rank]);
        self.lambda.fill(0.0);
        for (k, &row) in rows.iter().enumerate() {
            self.lambda[row] = w.mu[k];
        }
        Ok(())
    }

    fn check_finite(&self, system: &dyn System, time: f64) -> Result<()> {
        let m = &self.matrices;
        for matrix in [&m.mass, &m.damping, &m.stiffness] {
            for j in 0..matrix.ncols() {
                for i in 0..matrix.nrows() {
                    if !matrix[(i, j)].is_finite() {
                        let culprit = system.coordinate_name(i);
                        return Err(Error::Evaluation { time, culprit });
                    }
                }
            }
        }
        for j in 0..m.jacobian.ncols() {
            for i in 0..m.jacobian.nrows() {
                if !m.jacobian[(i, j)].is_finite() {
                    let culprit = system.constraint_name(i);
                    return Err(Error::Evaluation { time, culprit });
                }
            }
        }
        Ok(())
    }

    /// An error if the constraints have a smaller rank here than beside this position.
    fn examine_position(&mut self, system: &dyn System, at: &OperatingPoint) -> Result<()> {
        let rank = self.null.rank();
        let known = (self.examined.as_ref())
            .is_some_and(|(modes, largest)| modes == at.cx.modes && *largest == rank);
        let regular = self.null.redundant_rows().is_empty() && system.partitioning().is_none();
        if known || regular {
            return Ok(());
        }
        singular_position::examine(system, at, &self.null)?;
        self.examined = Some((at.cx.modes.to_vec(), rank));
        Ok(())
    }

    /// Number of redundant active constraints at the loaded point.
    pub fn redundant_count(&self) -> usize {
        self.null.redundant_rows().len()
    }

    /// Whether constraint `k` is active at the loaded point.
    pub fn is_active(&self, k: usize) -> bool {
        self.matrices.active[k]
    }

    /// Degrees of freedom at the loaded point.
    pub fn freedom(&self) -> usize {
        self.null.freedom()
    }

    /// Computes the linear model at a point.
    pub fn linearize(
        &mut self,
        system: &dyn System,
        observables: &dyn Observables,
        at: &OperatingPoint,
        inputs: &[InputDirection],
        out: &mut LinearModel,
    ) -> Result<()> {
        self.load(system, at)?;
        let acceleration = std::mem::take(&mut self.acceleration);
        let lambda = std::mem::take(&mut self.lambda);
        let balanced = OperatingPoint {
            motion: MotionPoint {
                a: &acceleration,
                lambda: &lambda,
                ..at.motion
            },
            ..*at
        };
        let outcome = self.linearize_at(system, observables, &balanced, inputs, out);
        (self.acceleration, self.lambda) = (acceleration, lambda);
        outcome
    }

    fn linearize_at(
        &mut self,
        system: &dyn System,
        observables: &dyn Observables,
        at: &OperatingPoint,
        inputs: &[InputDirection],
        out: &mut LinearModel,
    ) -> Result<()> {
        self.choose_coordinates(system, observables, at)?;
        let outputs = observables.output_count();
        let (columns, rows) = (self.states() + inputs.len(), self.stride());
        self.columns.clear();
        self.columns.resize(columns * rows, 0.0);
        for k in 0..columns {
            self.perturb(system, at, k, inputs)?;
            self.observe(system, observables, at, k)?;
        }
        self.assemble(inputs.len(), outputs, out)
    }

    /// Length of x.
    fn states(&self) -> usize {
        2 * self.freedom() + self.integrals.len()
    }

    /// Changes the coordinates from z = (z₁, z₂, I) to x = (y, ẏ, I) = T z:  A = [ẏ; ÿ; İ] T⁻¹, C = O T⁻¹, and with x held fixed while
    /// u changes B = [0; ÿ_u; İ_u] − A₂ x_u, D = O_u − C x_u.
    fn assemble(&mut self, inputs: usize, outputs: usize, out: &mut LinearModel) -> Result<()> {
        let d = self.chosen.len();
        let (n, rows) = (self.states(), self.stride());
        // A perturbation may have any size.
        self.sizes.clear();
        for column in self.columns.chunks_exact_mut(rows.max(1)).take(n) {
            let largest = column[..n].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            column.iter_mut().for_each(|x| *x /= largest);
            self.sizes.push(largest);
        }
        let column = |k: usize| &self.columns[k * rows..(k + 1) * rows];
        if self.change.size() != n {
            self.change = crate::linalg::dense_lu::DenseLu::new(n);
        }
        // Tᵀ by rows: row k is the column of perturbation k.
        let t = self.change.cleared();
        for k in 0..n {
            t[k * n..(k + 1) * n].copy_from_slice(&column(k)[..n]);
        }
        self.change.factor().map_err(|_| Error::Internal {
            message: "the chosen coordinates are dependent".to_string(),
        })?;
        out.states = n;
        (out.inputs, out.outputs) = (inputs, outputs);
        for (matrix, len) in [
            (&mut out.a, n * n),
            (&mut out.b, n * inputs),
            (&mut out.c, outputs * n),
            (&mut out.d, outputs * inputs),
        ] {
            matrix.clear();
            matrix.resize(len, 0.0);
        }
        for i in 0..d {
            out.a[i * n + d + i] = 1.0;
        }
        for i in d..n + outputs {
            // A row r of A or C solves r T = R, so Tᵀ rᵀ = Rᵀ.
            let row = if i < n {
                &mut out.a[i * n..(i + 1) * n]
            } else {
                &mut out.c[(i - n) * n..(i - n + 1) * n]
            };
            for k in 0..n {
                row[k] = column(k)[n - d + i];
            }
            self.change.solve(row);
            for j in 0..inputs {
                let driven = column(n + j);
                let value = driven[n - d + i] - dot(row, &driven[..n]);
                if i < n {
                    out.b[i * inputs + j] = value;
                } else {
                    out.d[(i - n) * inputs + j] = value;
                }
            }
        }
        out.coordinates.clear();
        out.coordinates.extend_from_slice(&self.chosen);
        Ok(())
    }
}
