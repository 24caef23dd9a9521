//! Linear models about a point of a motion, in minimal coordinates y:
//!
//! ```text
//!   x = (y, ẏ),    ẋ = A x + B u,    outputs = C x + D u
//! ```
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
//! of order six; in equilibrium they are zero.

use super::matrices::SystemMatrices;
use super::modes::SecondOrderSystem;
use super::null_space::NullSpace;
use super::observables::{CoordinateKind, Observables};
use super::perturbation::{Perturbation, PerturbedPoint};
use super::saddle::DenseSaddle;
use super::selection::choose_rows;
use super::singular_position;
use crate::error::{Error, Result};
use crate::formulation::system::{
    Dimensions, Evaluated, EvaluationContext, EvaluationFailure, MotionPoint, System,
};
use nalgebra::DMatrix;

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
    /// Length of x, twice the degrees of freedom.
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
    pub(super) matrices: SystemMatrices,
    pub(super) null: NullSpace,
    saddle: DenseSaddle,
    acceleration: Vec<f64>,
    lambda: Vec<f64>,
    perturbation: Perturbation,
    /// Its change of the inputs alone.
    input_only: Perturbation,
    point: PerturbedPoint,
    /// Rank of the constraints in these modes, once it has been examined.
    examined: Option<(Vec<i32>, usize)>,
    work: Workspace,
    /// y, ẏ, ÿ of the chosen coordinates and the outputs, along each perturbation.
    columns: Vec<f64>,
    /// Sizes of the perturbations z by which their columns were divided.
    sizes: Vec<f64>,
    change: crate::linalg::dense_lu::DenseLu,
    chosen: Vec<usize>,
}

/// Vectors.
struct Workspace {
    zero: Vec<f64>,
    /// Of length nv.
    sum: Vec<f64>,
    force: Vec<f64>,
    /// Of length nc.
    bias: [Vec<f64>; 2],
    curvature: Vec<f64>,
    mu: Vec<f64>,
    /// Of the coordinates: at the point, and changes along a perturbation.
    rate: Vec<f64>,
    acceleration: Vec<f64>,
    drift: Vec<f64>,
    y: [Vec<f64>; 3],
    sample: [Vec<f64>; 2],
    /// Coordinates that are evaluated.
    needed: Vec<usize>,
    /// Outputs.
    output: Vec<f64>,
    output_sample: Vec<f64>,
    /// Gradients of the coordinates.
    gradients: DMatrix<f64>,
    reduced_mass: DMatrix<f64>,
}

impl Linearizer {
    /// Workspace for a system and its coordinates and outputs.
    pub fn new(system: &dyn System, observables: &dyn Observables) -> Self {
        let size = system.dimensions();
        let (v, c) = (|| vec![0.0; size.nv], || vec![0.0; size.nc]);
        let coordinates = observables.kinds().len();
        let k = || vec![0.0; coordinates];
        let o = || vec![0.0; observables.output_count()];
        Self {
            size,
            matrices: SystemMatrices::new(system),
            null: NullSpace::new(size.nv, size.nc),
            saddle: DenseSaddle::new(),
            acceleration: v(),
            lambda: c(),
            perturbation: Perturbation::new(&size),
            input_only: Perturbation::new(&size),
            point: PerturbedPoint::new(&size),
            examined: None,
            work: Workspace {
                zero: vec![0.0; size.nv.max(size.nc)],
                sum: v(),
                force: v(),
                bias: [c(), c()],
                curvature: c(),
                mu: c(),
                rate: k(),
                acceleration: k(),
                drift: k(),
                y: [k(), k(), k()],
                sample: [k(), k()],
                needed: Vec::with_capacity(coordinates),
                output: o(),
                output_sample: o(),
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
        let (d, outputs) = (self.freedom(), observables.output_count());
        let (columns, rows) = (2 * d + inputs.len(), 3 * d + outputs);
        self.columns.clear();
        self.columns.resize(columns * rows, 0.0);
        for k in 0..columns {
            self.perturb(system, at, k, inputs)?;
            self.observe(system, observables, at, k)?;
        }
        self.assemble(inputs.len(), outputs, out)
    }

    /// Chooses the minimal coordinates by their gradients in the mass metric.
    fn choose_coordinates(
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
        // Those in front are often enough.
        let all = observables.kinds().len();
        for count in [observables.preferred(), all] {
            self.gradients(system, observables, at, count);
            let parts = if count == all { usize::MAX } else { 1 };
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
                CoordinateKind::Holonomic => i..i + 1,
                CoordinateKind::Rotation(k) => i - k..i - k + 3,
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
    fn gradients(
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
    fn reference_motion(&mut self, observables: &dyn Observables, at: &OperatingPoint) {
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

    /// Computes perturbation `k`: z₁, z₂, then inputs.
    fn perturb(
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
        } else {
            let InputDirection { input, derivative } = inputs[k - 2 * d];
            let p = &mut self.perturbation;
            [&mut p.du, &mut p.du_dot, &mut p.du_ddot][derivative][input] = 1.0;
            self.follow_input(system, at);
        }
        if !(d..2 * d).contains(&k) {
            self.follow_constraints(system, at);
        }
        self.accelerate(system, at)
    }

    /// w with G w = −Φ_u δu, and what δu changes besides: −f_u δu in `force`, Φ_tu δu in `curvature`.
    fn follow_input(&mut self, system: &dyn System, at: &OperatingPoint) {
        let (w, rank) = (&mut self.work, self.null.rank());
        if rank == 0 {
            return;
        }
        // Φ along δu alone.
        w.curvature.fill(0.0);
        let (sum, sample) = (&mut w.curvature, &mut w.bias[0]);
        self.point
            .differentiate(system, at, &self.perturbation, |weight, cx, point| {
                system.constraint(cx, point.q, sample);
                add(sum, weight, sample);
            });
        for (k, &row) in self.null.independent_rows().iter().enumerate() {
            w.mu[k] = -w.curvature[row];
        }
        self.saddle
            .solve(&mut self.perturbation.w, &mut w.mu[..rank]);
    }

    /// δv with G δv = −(G v + Φ_t) along w and δu.
    fn follow_constraints(&mut self, system: &dyn System, at: &OperatingPoint) {
        let rank = self.null.rank();
        if rank == 0 {
            return;
        }
        let w = &mut self.work;
        let (sum, [sample, rate]) = (&mut w.curvature, &mut w.bias);
        sum.fill(0.0);
        let (p, m) = (&mut self.perturbation, &mut self.matrices);
        self.point
            .differentiate(system, at, p, |weight, cx, point| {
                m.jacobian_times(system, cx, point.q, at.motion.v, sample);
                system.constraint_rate(cx, point.q, rate);
                add(sum, weight, sample);
                add(sum, weight, rate);
            });
        for (k, &row) in self.null.independent_rows().iter().enumerate() {
            w.mu[k] = -w.curvature[row];
        }
        p.dv.fill(0.0);
        self.saddle.solve(&mut p.dv, &mut w.mu[..rank]);
    }

    /// δa and δλ of the perturbation.
    fn accelerate(&mut self, system: &dyn System, at: &OperatingPoint) -> Result<()> {
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
            let (sum, [sample, bias]) = (&mut w.curvature, &mut w.bias);
            sum.fill(0.0);
            let g = &mut self.matrices;
            self.point
                .differentiate(system, at, p, |weight, cx, point| {
                    g.jacobian_times(system, cx, point.q, at.motion.a, sample);
                    system.constraint_acceleration_bias(cx, point.q, point.v, bias);
                    add(sum, weight, sample);
                    add(sum, weight, bias);
                });
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
    fn input_force(&mut self, system: &dyn System, at: &OperatingPoint) -> Result<()> {
        self.input_only.copy_inputs(&self.perturbation);
        let w = &mut self.work;
        let (sum, sample) = (&mut w.force, &mut w.sum);
        let rubs = system.properties().has_constraint_friction;
        let mut outcome = Ok(());
        self.point
            .differentiate(system, at, &self.input_only, |weight, cx, point| {
                if let Err(EvaluationFailure::Recoverable(code) | EvaluationFailure::Fatal(code)) =
                    system.force(cx, point.q, point.v, sample)
                {
                    outcome = Err(Error::Callback { time: cx.t, code });
                }
                if rubs {
                    system.constraint_friction(cx, point.q, point.v, point.lambda, sample);
                }
                add(sum, weight, sample);
            });
        outcome
    }

    /// Writes y, ẏ, ÿ of the chosen coordinates and the outputs along the perturbation into column `k`.
    fn observe(
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
        let [rate, acceleration] = &mut w.sample;
        self.point
            .differentiate(system, at, &self.perturbation, |weight, cx, point| {
                observables.coordinate_motion(cx, point, &w.needed, (rate, acceleration));
                for &i in &w.needed {
                    y_dot[i] += weight * rate[i];
                    y_ddot[i] += weight * acceleration[i];
                }
                observables.outputs(cx, point, output_sample);
                add(output, weight, output_sample);
            });
        for &i in &w.needed {
            if observables.kinds()[i] == CoordinateKind::Rotation(0) {
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
        let (d, outputs) = (self.chosen.len(), w.output.len());
        let column = &mut self.columns[k * (3 * d + outputs)..][..3 * d + outputs];
        for (j, &i) in self.chosen.iter().enumerate() {
            (column[j], column[d + j], column[2 * d + j]) = (w.y[0][i], w.y[1][i], w.y[2][i]);
        }
        column[3 * d..].copy_from_slice(&w.output);
        if column[..3 * d].iter().any(|x| !x.is_finite()) {
            let culprit = largest_component(system, &self.perturbation.w);
            return Err(Error::Evaluation {
                time: at.cx.t,
                culprit,
            });
        }
        Ok(())
    }

    /// Changes the coordinates from (z₁, z₂) to x = (y, ẏ) = T z:  A = [ẏ; ÿ] T⁻¹, C = O T⁻¹, and with x held fixed while u changes
    /// B = [0; ÿ_u] − A₂ x_u, D = O_u − C x_u.
    fn assemble(&mut self, inputs: usize, outputs: usize, out: &mut LinearModel) -> Result<()> {
        let d = self.chosen.len();
        let (n, rows) = (2 * d, 3 * d + outputs);
        // A perturbation may have any size.
        self.sizes.clear();
        for column in self.columns.chunks_exact_mut(rows).take(n) {
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
                row[k] = column(k)[d + i];
            }
            self.change.solve(row);
            for j in 0..inputs {
                let driven = column(n + j);
                let value = driven[d + i] - dot(row, &driven[..n]);
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

impl Linearizer {
    /// Gradients g N of the minimal coordinates of the last linear model, y = g N z₁.
    fn minimal_gradients(&self) -> DMatrix<f64> {
        let d = self.chosen.len();
        let rows = self.stride();
        DMatrix::from_fn(d, d, |i, k| self.columns[k * rows + i] * self.sizes[k])
    }

    /// Length of a column of the last linear model.
    fn stride(&self) -> usize {
        3 * self.chosen.len() + self.work.output.len()
    }

    /// The last linear model as a system of second order in its minimal coordinates.
    pub fn second_order(
        &self,
        system: &dyn System,
        at: &OperatingPoint,
        model: &LinearModel,
    ) -> Option<SecondOrderSystem> {
        let d = self.chosen.len();
        let block =
            |first: usize| DMatrix::from_fn(d, d, |i, j| model.a[(d + i) * 2 * d + first + j]);
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
        Some(SecondOrderSystem {
            position: block(0),
            velocity: block(d),
            mass: &half * half.transpose(),
            loads: system.norm(&at.cx, q, at.scale, &loads),
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
    w: &mut Workspace,
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

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// x += s y
fn add(x: &mut [f64], s: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += s * y;
    }
}

/// The name of the coordinate that moves most.
pub(super) fn largest_component(system: &dyn System, direction: &[f64]) -> String {
    let moved = |i: usize| direction[i].abs() * system.characteristic_length(i);
    let best = (0..direction.len()).max_by(|&i, &k| moved(i).total_cmp(&moved(k)));
    best.map_or_else(String::new, |i| system.coordinate_name(i))
}

/// out = A x, without allocation.
pub(super) trait MatrixTimesSlice {
    fn mul_to_slice(&self, x: &[f64], out: &mut [f64]);
}

impl MatrixTimesSlice for DMatrix<f64> {
    fn mul_to_slice(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (column, x) in self.as_slice().chunks_exact(self.nrows().max(1)).zip(x) {
            if *x != 0.0 {
                add(out, *x, column);
            }
        }
    }
}

/// A := L of A = L Lᵀ in place (lower triangle). The error is a column without a positive pivot.
fn cholesky(a: &mut DMatrix<f64>) -> std::result::Result<(), usize> {
    let n = a.nrows();
    for j in 0..n {
        let diagonal = a[(j, j)];
        for k in 0..j {
            let x = a[(j, k)];
            a[(j, j)] -= x * x;
        }
        if !(a[(j, j)] > MASSLESS * diagonal && diagonal > 0.0) {
            return Err(j);
        }
        let pivot = a[(j, j)].sqrt();
        a[(j, j)] = pivot;
        for i in j + 1..n {
            for k in 0..j {
                let x = a[(i, k)] * a[(j, k)];
                a[(i, j)] -= x;
            }
            a[(i, j)] /= pivot;
        }
    }
    Ok(())
}

/// Rate of a coordinate (m/s, rad/s) over the motion in the error norm below which it is rounding.
const GRADIENT_NOISE: f64 = 1e-10;

/// Part of a reduced mass below which a direction has none: rounding.
const MASSLESS: f64 = 1e-13;

/// Y := Y L⁻ᵀ
fn solve_transposed_from_right(l: &DMatrix<f64>, y: &mut DMatrix<f64>) {
    let (rows, n) = y.shape();
    for i in 0..rows {
        for j in 0..n {
            for k in 0..j {
                let x = y[(i, k)] * l[(j, k)];
                y[(i, j)] -= x;
            }
            y[(i, j)] /= l[(j, j)];
        }
    }
}
