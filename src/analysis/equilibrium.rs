//! Static equilibrium: f(q, 0) = Gᵀλ, Φ(q) = 0, by Newton's method in the null space of the constraints,
//!
//! ```text
//!   Nᵀ K N z = Nᵀ f,      q → q ∘ N z, closed,      K = ∂(Gᵀλ − f)/∂q,   Nᵀ M N = I
//! ```
//!
//! Far from the solution the eigenvalues κ of the symmetric part of Nᵀ K N are replaced by |κ|: steps go downhill and avoid
//! unstable equilibria. The length of a step is bounded; a step is shortened if the work of the forces along it changes sign
//! too far. Directions without stiffness and without load stay where they are and are reported.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::coordinates::largest_component;
use super::dense::MatrixTimesSlice;
use super::equilibrium_modes::modes_at_rest;
use super::linearization::OperatingPoint;
use super::matrices::SystemMatrices;
use super::null_space::NullSpace;
use super::saddle::DenseSaddle;
use crate::error::{Error, Result};
use crate::formulation::system::{
    Dimensions, EvaluationContext, EvaluationFailure, IntegralMemory, MotionPoint, System,
};

/// Largest number of steps, and that of one point of a path of equilibria.
const MAX_STEPS: usize = 500;
const PATH_STEPS: usize = 30;
/// First and largest length of a step in the error norm (body lengths, radians).
const FIRST_RADIUS: f64 = 0.2;
pub(super) const LARGEST_RADIUS: f64 = 1.0;
/// Length of a step below which the position is exact.
const EXACT: f64 = 1e-14;
/// Length of a step that is accepted as the last if the following ones are not shorter: rounding.
pub(super) const ROUNDING: f64 = 1e-9;
/// Stiffness over the largest one, or over the accelerations of the loads, that counts as zero.
const ZERO_STIFFNESS: f64 = 1e-12;
/// Acceleration over those of the loads above which a direction without stiffness is loaded.
const LOADED: f64 = 1e-9;
/// Distance (error norm) after which a position that no force holds is given up.
const TOO_FAR: f64 = 100.0;
/// Contacts that may open at one position.
const MODE_CHANGES: usize = 50;

/// A static equilibrium.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Equilibrium {
    /// Coordinates.
    pub q: Vec<f64>,
    /// Multipliers.
    pub lambda: Vec<f64>,
    /// Modes.
    pub modes: Vec<i32>,
    /// Newton steps.
    pub steps: usize,
    /// Distance from the start in the error norm.
    pub moved: f64,
    /// Integrals along the motion, as those of controllers.
    pub integrals: Vec<f64>,
    /// Coordinates along which nothing holds the mechanism, by name.
    pub free: Vec<String>,
    /// Coordinates along which the equilibrium is unstable, by name.
    pub unstable: Vec<String>,
}

/// Searches equilibria of a system.
pub struct EquilibriumSolver<'a> {
    pub(super) system: &'a dyn System,
    pub(super) at: OperatingPoint<'a>,
    pub(super) size: Dimensions,
    matrices: SystemMatrices,
    pub(super) null: NullSpace,
    pub(super) saddle: DenseSaddle,
    pub(super) zero: Vec<f64>,
    pub(super) force: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    /// The modes, which change where a contact closes or opens and a force law has another piece.
    pub(super) modes: Vec<i32>,
    pub(super) mode_changes: usize,
    pub(super) integrals: Vec<IntegralMemory>,
    /// Forces that support the mechanism while the load is not complete.
    pub(super) support: Option<Vec<f64>>,
    /// Follows a path of equilibria, stable or not, instead of going downhill.
    pub(super) following: bool,
    /// Accelerations of the loads in the error norm (1/s²).
    loads: f64,
    /// L⁻ᵀ of the reduced mass matrix L Lᵀ.
    pub(super) basis: DMatrix<f64>,
    /// Kt and g in that basis.
    pub(super) stiffness: DMatrix<f64>,
    pub(super) load: DVector<f64>,
}

impl<'a> EquilibriumSolver<'a> {
    /// A search from the modes and with the inputs of a point; velocities are ignored.
    pub fn new(system: &'a dyn System, at: OperatingPoint<'a>) -> Self {
        let size = system.dimensions();
        Self {
            system,
            modes: modes_at_rest(system, at.cx.modes),
            integrals: at.cx.integrals.to_vec(),
            at,
            size,
            matrices: SystemMatrices::new(system),
            null: NullSpace::new(size.nv, size.nc),
            saddle: DenseSaddle::new(),
            zero: vec![0.0; size.nv.max(size.nc)],
            force: vec![0.0; size.nv],
            lambda: vec![0.0; size.nc],
            support: None,
            following: false,
            mode_changes: 0,
            loads: 0.0,
            basis: DMatrix::zeros(0, 0),
            stiffness: DMatrix::zeros(0, 0),
            load: DVector::zeros(0),
        }
    }

    /// The equilibrium next to the position of the point, downhill from it; by load steps where Newton's method alone fails. Where
    /// downhill leads nowhere, as with torques that keep their direction in space, the equilibria are followed as the load grows.
    pub fn find(&mut self) -> Result<Equilibrium> {
        let start = self.at.motion.q.to_vec();
        let found = match self.newton(start.clone()) {
            Err(error @ Error::NoEquilibrium { .. }) => (self.load_steps(&start, true))
                .or_else(|_| self.load_steps(&start, false))
                .map_err(|_| error),
            outcome => outcome,
        };
        if self.integrals.is_empty() {
            return found;
        }
        match found {
            Ok(found) => self.settle_integrals(found),
            // An integral may hold what nothing else holds.
            Err(error) => {
                let start = Equilibrium {
                    q: start,
                    ..Equilibrium::default()
                };
                self.settle_integrals(start).map_err(|_| error)
            }
        }
    }

    /// Time, inputs and parameters of the point, in these modes and with the present integrals.
    pub(super) fn context<'b>(&'b self, modes: &'b [i32]) -> EvaluationContext<'b> {
        EvaluationContext {
            modes,
            integrals: &self.integrals,
            ..self.at.cx
        }
    }

    /// Newton's method from a position.
    pub(super) fn newton(&mut self, mut q: Vec<f64>) -> Result<Equilibrium> {
        let mut radius = FIRST_RADIUS;
        let mut shortest = f64::INFINITY;
        let most = if self.following {
            PATH_STEPS
        } else {
            MAX_STEPS
        };
        for step in 0..most {
            self.load(&q)
                .map_err(|error| self.on_the_way(error, step))?;
            let direct = match self.following {
                true => Some(self.full_step()?),
                false => self.definite_step(),
            };
            let (x, eigen) = match direct {
                Some(x) => (x, None),
                None => {
                    let (kappa, vectors) = self.curvatures();
                    let zero = self.zero_stiffness(&kappa);
                    self.refuse_unheld(&q, &kappa, &vectors, zero, radius)?;
                    (
                        self.downhill_step(&q, &kappa, &vectors, zero),
                        Some((kappa, vectors)),
                    )
                }
            };
            let mut w = self.displacement(&x);
            let length = self.norm(&q, &w);
            let stalled = length < ROUNDING && length > 0.5 * shortest;
            if length <= EXACT || stalled {
                let (kappa, vectors) = eigen.unwrap_or_else(|| self.curvatures());
                self.refuse_violation(&q)?;
                return Ok(self.finished(q, step, &kappa, &vectors));
            }
            shortest = shortest.min(length);
            if length > radius {
                w.iter_mut().for_each(|w| *w *= radius / length);
            }
            let changes = self.mode_changes;
            radius = self.take_step(&mut q, &w, radius)?;
            if self.mode_changes > changes {
                shortest = f64::INFINITY;
            }
        }
        Err(self.no_equilibrium(format!(
            "no convergence in {most} steps; most force along \"{}\"",
            self.worst()
        )))
    }

    /// A position on the way in which the mass matrix is singular is no property of the model.
    fn on_the_way(&self, error: Error, step: usize) -> Error {
        match error {
            Error::SingularMass { culprit } if step > 0 => self.no_equilibrium(format!(
                "the way leads through a singular position of \"{culprit}\""
            )),
            error => error,
        }
    }

    pub(super) fn no_equilibrium(&self, reason: String) -> Error {
        Error::NoEquilibrium {
            time: self.at.cx.t,
            reason,
        }
    }

    /// The coordinate with the largest force that nothing balances.
    pub(super) fn worst(&self) -> String {
        largest_component(self.system, &self.displacement(&self.load))
    }

    pub(super) fn norm(&self, q: &[f64], w: &[f64]) -> f64 {
        self.system.norm(&self.at.cx, q, self.at.scale, w)
    }

    /// Computes forces, multipliers and stiffness at q, in the modes that fit there.
    pub(super) fn load(&mut self, q: &[f64]) -> Result<()> {
        for _ in 0..=MODE_CHANGES {
            self.load_in_modes(q)?;
            if !self.open_contacts(q) {
                return self.reduce();
            }
        }
        Err(self.no_equilibrium("contacts open and close without end".to_owned()))
    }

    fn load_in_modes(&mut self, q: &[f64]) -> Result<()> {
        let Self { system, at, .. } = *self;
        let modes = std::mem::take(&mut self.modes);
        let integrals = std::mem::take(&mut self.integrals);
        let cx = EvaluationContext {
            modes: &modes,
            integrals: &integrals,
            ..at.cx
        };
        let outcome = self.load_at(system, &cx, q);
        (self.modes, self.integrals) = (modes, integrals);
        outcome
    }

    fn load_at(&mut self, system: &dyn System, cx: &EvaluationContext, q: &[f64]) -> Result<()> {
        let time = cx.t;
        let failed = |failure: EvaluationFailure| match failure {
            EvaluationFailure::Recoverable(code) | EvaluationFailure::Fatal(code) => {
                Error::Callback { time, code }
            }
        };
        let rest = &self.zero[..self.size.nv];
        let mut motion = MotionPoint {
            q,
            v: rest,
            a: rest,
            lambda: &self.zero[..self.size.nc],
        };
        (self.matrices.load_mass(system, cx, &motion)).map_err(failed)?;
        let length = |i: usize| system.characteristic_length(i);
        let m = &self.matrices;
        self.null.compute(&m.jacobian, &m.active, length);
        (self.saddle.factorise(system, m, &self.null)).map_err(|k| Error::SingularMass {
            culprit: match k.checked_sub(self.size.nv) {
                None => system.coordinate_name(k),
                Some(k) => system.constraint_name(self.null.independent_rows()[k]),
            },
        })?;
        system.force(cx, q, rest, &mut self.force).map_err(failed)?;
        subtract(&mut self.force, self.support.as_deref());
        if let Some(i) = self.force.iter().position(|f| !f.is_finite()) {
            let culprit = system.coordinate_name(i);
            return Err(Error::Evaluation { time, culprit });
        }
        // M a + (Gᵀ − D) λ = f, G a = 0: in equilibrium a = 0.
        let mut a = self.force.clone();
        let mut mu = vec![0.0; self.null.rank()];
        self.saddle.solve(&mut a, &mut mu);
        self.lambda.fill(0.0);
        for (&row, mu) in self.null.independent_rows().iter().zip(&mu) {
            self.lambda[row] = *mu;
        }
        motion.lambda = &self.lambda;
        (self.matrices.load_tangent(system, cx, &motion)).map_err(failed)?;
        let scaled: Vec<f64> = (0..self.size.nv)
            .map(|i| match self.matrices.mass[(i, i)] {
                mass if mass > 0.0 => self.force[i] / mass,
                _ => 0.0,
            })
            .collect();
        self.loads = self.norm(q, &scaled);
        Ok(())
    }

    /// Stiffness and load in the null space, in a basis in which the mass matrix is the identity.
    fn reduce(&mut self) -> Result<()> {
        let (d, nv) = (self.null.freedom(), self.size.nv);
        if d == 0 {
            (self.basis, self.stiffness) = (DMatrix::zeros(nv, 0), DMatrix::zeros(0, 0));
            self.load = DVector::zeros(0);
            return Ok(());
        }
        let n = DMatrix::from_fn(nv, d, |i, k| self.null.direction(k)[i]);
        let mass = n.transpose() * &self.matrices.mass * &n;
        let Some(cholesky) = mass.cholesky() else {
            let culprit = largest_component(self.system, n.column(0).as_slice());
            return Err(Error::SingularMass { culprit });
        };
        let l = cholesky.l();
        let identity = DMatrix::identity(d, d);
        let inverse = l.solve_lower_triangular(&identity).unwrap_or(identity);
        self.basis = &n * inverse.transpose();
        self.stiffness = self.basis.transpose() * &self.matrices.stiffness * &self.basis;
        self.load = self.basis.transpose() * DVector::from_row_slice(&self.force);
        // Friction proportional to constraint forces is part of the load.
        if self.matrices.friction.ncols() > 0 {
            let lambda = DVector::from_row_slice(&self.lambda);
            self.load += self.basis.transpose() * (&self.matrices.friction * lambda);
        }
        Ok(())
    }

    /// Eigenvalues κ of the symmetric part of the stiffness, and their directions.
    pub(super) fn curvatures(&self) -> (DVector<f64>, DMatrix<f64>) {
        if self.load.is_empty() {
            return (DVector::zeros(0), DMatrix::zeros(0, 0));
        }
        let symmetric = 0.5 * (&self.stiffness + self.stiffness.transpose());
        let eigen = SymmetricEigen::new(symmetric);
        (eigen.eigenvalues, eigen.eigenvectors)
    }

    fn zero_stiffness(&self, kappa: &DVector<f64>) -> f64 {
        ZERO_STIFFNESS * kappa.iter().fold(self.loads, |m, k| m.max(k.abs()))
    }

    /// Newton's step where the stiffness is positive definite.
    fn definite_step(&self) -> Option<DVector<f64>> {
        let n = self.load.len();
        if n == 0 {
            return Some(DVector::zeros(0));
        }
        let zero = ZERO_STIFFNESS * self.stiffness.norm().max(self.loads);
        let mut shifted = 0.5 * (&self.stiffness + self.stiffness.transpose());
        for i in 0..n {
            shifted[(i, i)] -= zero;
        }
        shifted.cholesky()?;
        self.stiffness.clone().lu().solve(&self.load)
    }

    /// Newton's step, towards an unstable equilibrium too.
    fn full_step(&self) -> Result<DVector<f64>> {
        if self.load.is_empty() {
            return Ok(DVector::zeros(0));
        }
        (self.stiffness.clone().lu().solve(&self.load)).ok_or_else(|| {
            let culprit = self.worst();
            self.no_equilibrium(format!("nothing balances the force along \"{culprit}\""))
        })
    }

    /// An error if the mechanism has been moved far along a loaded direction without stiffness.
    fn refuse_unheld(
        &self,
        q: &[f64],
        kappa: &DVector<f64>,
        vectors: &DMatrix<f64>,
        zero: f64,
        radius: f64,
    ) -> Result<()> {
        let mut w = vec![0.0; self.size.nv];
        self.system.difference(self.at.motion.q, q, &mut w);
        let far = self.norm(q, &w) > TOO_FAR;
        for (i, k) in kappa.iter().enumerate() {
            let direction = vectors.column(i).into_owned();
            let load = direction.dot(&self.load);
            let w = self.displacement(&direction);
            let unheld = k.abs() <= zero && load.abs() * self.norm(q, &w) > LOADED * self.loads;
            // Stiffness may begin beside this position: some steps are tried. A contact may be farther away.
            let tried = radius >= LARGEST_RADIUS && self.size.ne == 0;
            if unheld && (far || tried) {
                let culprit = largest_component(self.system, &w);
                return Err(
                    self.no_equilibrium(format!("nothing balances the force along \"{culprit}\""))
                );
            }
        }
        Ok(())
    }

    /// A step downhill in the reduced basis.
    fn downhill_step(
        &self,
        q: &[f64],
        kappa: &DVector<f64>,
        vectors: &DMatrix<f64>,
        zero: f64,
    ) -> DVector<f64> {
        let mut x = DVector::zeros(kappa.len());
        let mut unheld = DVector::zeros(kappa.len());
        for (i, k) in kappa.iter().enumerate() {
            let direction = vectors.column(i);
            let load = direction.dot(&self.load);
            if k.abs() > zero {
                x.axpy(load / k.abs(), &direction, 1.0);
            } else {
                unheld.axpy(load, &direction, 1.0);
            }
        }
        // Accelerations that nothing holds, compared with those of the loads: the rest is rounding.
        if self.norm(q, &self.displacement(&unheld)) > LOADED * self.loads {
            // Along the load, as far as the bound allows.
            let far = f64::MAX.sqrt().min(1e6 / zero.max(1e-12).sqrt());
            x.axpy(far / unheld.norm(), &unheld, 1.0);
        }
        x
    }

    pub(super) fn displacement(&self, x: &DVector<f64>) -> Vec<f64> {
        let mut w = vec![0.0; self.size.nv];
        if !x.is_empty() {
            self.basis.mul_to_slice(x.as_slice(), &mut w);
        }
        w
    }

    pub(super) fn finished(
        &self,
        q: Vec<f64>,
        steps: usize,
        kappa: &DVector<f64>,
        vectors: &DMatrix<f64>,
    ) -> Equilibrium {
        let zero = self.zero_stiffness(kappa);
        let named = |chosen: &dyn Fn(f64) -> bool| {
            let mut names: Vec<String> = Vec::new();
            for (i, _) in kappa.iter().enumerate().filter(|(_, k)| chosen(**k)) {
                let w = self.displacement(&vectors.column(i).into_owned());
                let name = largest_component(self.system, &w);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names
        };
        let mut w = vec![0.0; self.size.nv];
        self.system.difference(self.at.motion.q, &q, &mut w);
        Equilibrium {
            lambda: self.lambda.clone(),
            modes: self.modes.clone(),
            integrals: self.integrals.iter().map(|memory| memory.value).collect(),
            steps,
            moved: self.norm(&q, &w),
            free: named(&|k| k.abs() <= zero),
            unstable: named(&|k| k < -zero),
            q,
        }
    }
}

/// f −= y, if there is a y.
pub(super) fn subtract(f: &mut [f64], y: Option<&[f64]>) {
    if let Some(y) = y {
        f.iter_mut().zip(y).for_each(|(f, y)| *f -= y);
    }
}
