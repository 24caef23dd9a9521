//! VSA23: a quadratic scheme (SS22) that integrates and a cubic one (SS32) that tells how well.
//!
//! ```text
//!   quadratic, unknown a, at t_n + φ₁h                       (5)-(7), (13)-(16)
//!     q = q_n + φ₁h v_n + φ₃h² a,   v = v_n + φ₂h a,   q̈ = a
//!     q₁ = q_n + h v_n + h²/2 a,    v₁ = v_n + h a
//!   cubic, unknown x = h b, at t_n + ψ₁h                     (8)-(10), (17)-(20)
//!     q = q_n + ψ₁h v_n + ψ₂h² q̈_n + ψ₆h² x,   v = v_n + ψ₃h q̈_n + ψ₅h x,   q̈ = q̈_n + ψ₄ x
//!   both     M q̈ + Gᵀλ = f,   Φ = 0   there, not at t_n + h
//!   error    E = h²/2 (a − q̈_n − x/3)                        (11), at t_n + h
//!            Ē = q of the quadratic − q of the cubic scheme  at their common point
//!            e = ‖E‖/‖q_n‖
//!   step     h ← h clamp(0.9 (TOL/e)^(1/2), 0.1, 2)          (12) with a safety factor
//! ```
//!
//! A method to compare with: of first order, without damping at high frequencies, and with constraints that hold between
//! its steps rather than at their ends. The accelerations at the end of a step are those of the equations there. Vector
//! coordinates only, no events: a system with either is refused by name.

mod single;
mod stage;

pub use single::{SingleDegree, single_step};

use self::stage::{CollocationPoint, StageIteration, StageNorm, StageWeights};
use super::controller::StepSizeLaw;
use super::method::Method;
use super::newton::{culprit, largest};
use super::state::{State, Statistics};
use super::trial::{Culprit, NearSingular, StepFailure, Trial};
use super::workspace::{Problem, Workspace, first_not_finite};
use crate::constraint::saddle_point::SaddlePoint;
use crate::error::{Error, Result};
use crate::formulation::system::{MotionPoint, System};
use crate::model::{self, ErrorAt, Vsa23Parameters};

/// h ← h clamp(0.9 (TOL/e)^(1/2), 0.1, 2). theory: section 3 of the notes; (12) as printed, without a safety factor, accepts
/// and rejects in turns.
pub(super) const STEP_SIZE_LAW: StepSizeLaw = StepSizeLaw {
    safety: 0.9,
    exponent: 0.5,
    smallest: 0.1,
    largest: Some(2.0),
    smallest_rejected: 0.1,
};
/// Residual of the accelerations at the end of a step, relative.
const EXACT: f64 = 1e-12;

/// The weights φ₁..φ₃ of the quadratic and ψ₁..ψ₆ of the cubic scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vsa23Coefficients {
    /// φ₁, φ₂, φ₃ = θ₁, θ₁, θ₂/2
    pub phi: [f64; 3],
    /// ψ₁ .. ψ₆ = T₁, T₂/2, T₁, T₁, T₂/2, T₃/6
    pub psi: [f64; 6],
}

impl Vsa23Coefficients {
    /// From the moments θ of the quadratic and T of the cubic scheme.
    pub fn from_moments(theta: [f64; 2], t: [f64; 3]) -> Self {
        let [t1, t2, t3] = t;
        Self {
            phi: [theta[0], theta[0], theta[1] / 2.0],
            psi: [t1, t2 / 2.0, t1, t1, t2 / 2.0, t3 / 6.0],
        }
    }

    /// (25) in closed form: θ₁ = (1 + √(5/3))/2 solves θ₁² = θ₁ + 1/6, the only set with one equilibrium point at which
    /// both schemes are stable; θ₂ = θ₁, T₂ = θ₁², T₃ = 3θ₁/2.
    pub fn common() -> Self {
        let theta = 0.5 * (1.0 + (5.0_f64 / 3.0).sqrt());
        Self::from_moments([theta, theta], [theta, theta * theta, 1.5 * theta])
    }

    /// Equilibrium at t_n + 2h/3 and at t_n + h; both schemes have the matrix M + 2/3 h C + 1/3 h² K.
    pub fn original() -> Self {
        Self {
            phi: [2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0],
            psi: [1.0, 2.0 / 3.0, 1.0, 1.0, 2.0 / 3.0, 1.0 / 3.0],
        }
    }

    /// The set of the settings.
    pub fn of(name: Vsa23Parameters) -> Self {
        match name {
            Vsa23Parameters::Common => Self::common(),
            Vsa23Parameters::Original => Self::original(),
        }
    }

    /// Both schemes have the same matrix.
    pub fn one_matrix(&self) -> bool {
        let (q, c) = (self.quadratic(), self.cubic());
        (q.mass, q.damping, q.stiffness) == (c.mass, c.damping, c.stiffness)
    }

    /// Threshold of E over the opening of the constraints at t_n: ½ (1/(3ψ₆) − 1/φ₃), from (24).
    pub fn threshold(&self) -> f64 {
        0.5 * (1.0 / (3.0 * self.psi[5]) - 1.0 / self.phi[2])
    }

    fn quadratic(&self) -> StageWeights {
        let [p1, p2, p3] = self.phi;
        StageWeights {
            at: p1,
            q_acc: 0.0,
            v_acc: 0.0,
            acc: 0.0,
            mass: 1.0,
            damping: p2,
            stiffness: p3,
        }
    }

    fn cubic(&self) -> StageWeights {
        let [p1, p2, p3, p4, p5, p6] = self.psi;
        StageWeights {
            at: p1,
            q_acc: p2,
            v_acc: p3,
            acc: 1.0,
            mass: p4,
            damping: p5,
            stiffness: p6,
        }
    }
}

/// The method with its matrices and both equilibrium points. Holds nothing the future depends on.
pub(super) struct Vsa23 {
    parameters: Vsa23Coefficients,
    error_at: ErrorAt,
    first: StageIteration,
    /// Of the cubic scheme where it has its own.
    second: Option<StageIteration>,
    mass: Mass,
    alpha: CollocationPoint,
    beta: CollocationPoint,
    /// What the kept factorisations were made for.
    made_for: Vec<f64>,
}

/// A = [M Gᵀ; G −E] at the ends of steps. The factorisation of the start serves as long as A is that of the start.
struct Mass {
    saddle: SaddlePoint,
    tangent: Vec<f64>,
    jacobian: Vec<f64>,
    known: [Vec<f64>; 2],
    of_start: bool,
}

impl Vsa23 {
    /// Refuses systems the method cannot carry.
    pub fn new(
        system: &dyn System,
        core: &Workspace,
        settings: &model::Vsa23Settings,
    ) -> Result<Self> {
        let refuse = |expected: &str| {
            Err(Error::Argument {
                name: "solver.integrator".into(),
                value: "\"vsa23\"".into(),
                expected: expected.into(),
            })
        };
        let size = core.size;
        if core.character.rotations {
            return refuse("\"hht\": VSA23 needs vector coordinates, this system has rotations");
        }
        if size.nq != size.nv {
            return refuse(
                "\"hht\": VSA23 needs coordinates that stand alone, here others follow from them",
            );
        }
        if size.ne > 0 {
            let name = system.event_name(0);
            return refuse(&format!(
                "\"hht\": VSA23 cannot carry events, this system has {} (the first is {name})",
                size.ne
            ));
        }
        if system.descriptor_form().is_some() {
            return refuse("\"hht\": VSA23 is not made for large trees in relative coordinates");
        }
        let pattern = system.sparsity();
        let (tangent, jacobian) = (pattern.tangent.len(), pattern.jacobian.len());
        let saddle = || SaddlePoint::new(&core.sparsity, tangent, jacobian);
        let parameters = Vsa23Coefficients::of(settings.parameters);
        Ok(Self {
            parameters,
            error_at: settings.error_at,
            first: StageIteration::new(saddle(), &size),
            second: (!parameters.one_matrix()).then(|| StageIteration::new(saddle(), &size)),
            mass: Mass {
                saddle: saddle(),
                tangent: vec![0.0; tangent],
                jacobian: vec![0.0; jacobian],
                known: [vec![0.0; tangent], vec![0.0; jacobian]],
                of_start: false,
            },
            alpha: CollocationPoint::new(&size),
            beta: CollocationPoint::new(&size),
            made_for: vec![f64::NAN; size.parameters],
        })
    }

    fn forget(&mut self, p: &Problem) {
        self.made_for.copy_from_slice(p.env.parameters);
        self.mass.of_start = false;
        self.first.kept = None;
        if let Some(second) = &mut self.second {
            second.kept = None;
        }
    }

    fn select(&mut self, p: &Problem, s: &State) {
        self.first
            .saddle
            .select_active(p.system, p.modes, &s.redundant);
        self.mass
            .saddle
            .select_active(p.system, p.modes, &s.redundant);
        if let Some(second) = &mut self.second {
            second.saddle.select_active(p.system, p.modes, &s.redundant);
        }
    }

    /// Both equilibrium points.
    fn solve(
        &mut self,
        core: &mut Workspace,
        p: &Problem,
        s: &State,
        h: f64,
        norm: StageNorm,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        let Self {
            parameters,
            first,
            second,
            alpha,
            beta,
            ..
        } = self;
        if !core.character.linear {
            first.kept = None;
            if let Some(second) = second {
                second.kept = None;
            }
        }
        // What counts is what the state's own past has made, so that counters repeat with the motion.
        let matrices = 1 + u64::from(second.is_some());
        let counted = core.counts.factorizations
            + if core.factor_cache.counted_step == h {
                0
            } else {
                matrices
            };
        alpha.x.copy_from_slice(&s.acc);
        first.solve(core, p, s, h, &parameters.quadratic(), alpha, norm, stats)?;
        beta.x.fill(0.0);
        let second = match second {
            Some(second) => second,
            None => {
                // Made at the other point with the same weights: good until it converges badly.
                first.kept = Some(h);
                first
            }
        };
        second.solve(core, p, s, h, &parameters.cubic(), beta, norm, stats)?;
        if core.character.linear {
            core.counts.factorizations = counted;
            core.factor_cache.counted_step = h;
        }
        Ok(())
    }

    /// (7) into the trial's q and v, the estimate into its x.
    fn extrapolate(&self, s: &State, y: &mut Trial) {
        let (a, h) = (&self.alpha.x, y.h);
        for i in 0..a.len() {
            y.q[i] = s.q[i] + h * (s.v[i] + 0.5 * h * a[i]);
            y.v[i] = s.v[i] + h * a[i];
        }
        match self.error_at {
            ErrorAt::End => self.error_at_end(&s.acc, h, &mut y.x),
            ErrorAt::Common => self.error_at_points(&mut y.x),
        }
    }

    /// (11)
    fn error_at_end(&self, acc: &[f64], h: f64, out: &mut [f64]) {
        for i in 0..out.len() {
            out[i] = 0.5 * h * h * (self.alpha.x[i] - acc[i] - self.beta.x[i] / 3.0);
        }
    }

    fn error_at_points(&self, out: &mut [f64]) {
        for i in 0..out.len() {
            out[i] = self.alpha.q[i] - self.beta.q[i];
        }
    }

    /// q̈ and λ of the equations at the end of the step.
    fn accelerate(
        &mut self,
        core: &mut Workspace,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        let mass = &mut self.mass;
        mass.load(core, p, y.t, &y.q, &y.v)?;
        let known = mass.tangent == mass.known[0] && mass.jacobian == mass.known[1];
        if !(known && mass.of_start) {
            mass.of_start = false;
            mass.factorise(core)?;
        }
        let cx = core.inputs.at(p, y.t);
        stats.evaluations += 1;
        p.system.force(&cx, &y.q, &y.v, &mut y.acc)?;
        p.system
            .constraint_acceleration_bias(&cx, &y.q, &y.v, &mut y.lambda);
        for l in &mut y.lambda {
            *l = -*l;
        }
        if let Some(i) = first_not_finite(&y.acc) {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
        }
        if let Some(i) = first_not_finite(&y.lambda) {
            return Err(StepFailure::NotFinite(Culprit::Constraint(i)));
        }
        let (acc, lambda) = (&mut y.acc, &mut y.lambda);
        mass.saddle
            .solve_exact(&core.sparsity, EXACT, acc, lambda, &mut core.counts);
        if let Some(i) = first_not_finite(acc) {
            return Err(StepFailure::NotFinite(Culprit::Coordinate(i)));
        }
        for i in 0..y.lambda.len() {
            y.lambda_dot[i] = (y.lambda[i] - s.lambda[i]) / y.h;
        }
        Ok(())
    }
}

impl Method for Vsa23 {
    fn trial_step(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        s: &State,
        _near_singular: NearSingular,
        y: &mut Trial,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure> {
        self.select(p, s);
        if self.made_for != p.env.parameters {
            self.forget(p);
        }
        let norm = StageNorm::at(p.system, &s.q);
        self.solve(work, p, s, y.h, norm, stats)?;
        self.extrapolate(s, y);
        let error = work.over_tolerance(norm.of(&y.x), y.h);
        if work.control.accepts(error) {
            self.accelerate(work, p, s, y, stats)?;
        }
        Ok(error)
    }

    fn worst_coordinate(&self, y: &Trial) -> usize {
        largest(&y.x)
    }

    /// The equations may have changed: factorises A at the state and drops the other matrices.
    fn restart(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        s: &mut State,
    ) -> std::result::Result<(), StepFailure> {
        s.clear_history();
        self.select(p, s);
        self.forget(p);
        self.mass.load(work, p, s.t, &s.q, &s.v)?;
        self.mass.known[0].copy_from_slice(&self.mass.tangent);
        self.mass.known[1].copy_from_slice(&self.mass.jacobian);
        self.mass.factorise(work)?;
        self.mass.of_start = true;
        Ok(())
    }
}

impl Mass {
    fn load(
        &mut self,
        core: &mut Workspace,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> std::result::Result<(), StepFailure> {
        let cx = core.inputs.at(p, t);
        let (zero_v, zero_c) = (&mut core.evaluation.acc, &mut core.projection.multipliers);
        // With the weight of M alone neither accelerations nor multipliers are looked at.
        zero_v.fill(0.0);
        zero_c.fill(0.0);
        let weights = crate::formulation::system::TangentWeights::MASS;
        p.system.tangent(
            &cx,
            &MotionPoint {
                q,
                v,
                a: zero_v,
                lambda: zero_c,
            },
            &weights,
            &mut self.tangent,
        )?;
        p.system.jacobian(&cx, q, &mut self.jacobian);
        self.saddle
            .matrix
            .load_tangent(&core.sparsity, &self.tangent);
        self.saddle
            .matrix
            .load_jacobian(&core.sparsity, &self.jacobian);
        Ok(())
    }

    fn factorise(&mut self, core: &mut Workspace) -> std::result::Result<(), StepFailure> {
        let nv = core.size.nv;
        self.saddle
            .factorise(&core.sparsity, &mut core.counts)
            .map(|_| ())
            .map_err(|e| StepFailure::Singular(culprit(e.unknown, nv)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_set_is_the_closed_form_of_its_printed_digits() {
        // theory: (25) of the first paper, four decimals.
        let set = Vsa23Coefficients::common();
        let printed = [1.1455, 1.1455, 0.5727];
        for (x, y) in set.phi.iter().zip(printed) {
            assert!((x - y).abs() < 1e-4, "{x} {y}");
        }
        let printed = [1.1455, 0.6561, 1.1455, 1.1455, 0.6561, 0.2864];
        for (x, y) in set.psi.iter().zip(printed) {
            assert!((x - y).abs() < 1e-4, "{x} {y}");
        }
        let t1 = set.phi[0];
        assert!((t1 * t1 - t1 - 1.0 / 6.0).abs() < 1e-15);
        assert!(!set.one_matrix());
    }

    #[test]
    fn the_original_set_has_one_matrix_and_a_threshold_of_one() {
        let set = Vsa23Coefficients::original();
        assert!(set.one_matrix());
        assert!((set.threshold() + 1.0).abs() < 1e-15);
    }
}
