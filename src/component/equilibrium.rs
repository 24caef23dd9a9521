//! Static equilibrium of an instance. Newton's method within the present modes; where it fails, dynamic relaxation: the motion is
//! integrated by HHT with the largest dissipation, and stopped whenever its kinetic energy decreases. Contacts close on the way.

use super::Instance;
use super::linearize::operating_point;
use super::log::{LogCategory, LogLevel};
use super::quantity_point::environment;
use crate::analysis::{Equilibrium, EquilibriumSolver};
use crate::error::{Error, Result};
use crate::integrator::{Signals, State};
use crate::model::{InitialPosition, IntegratorName};

/// Steps of the dynamic relaxation.
const RELAXATION_STEPS: usize = 4000;
/// A step of it, as part of the time in which the loads cross the mechanism.
const RELAXATION_PART: f64 = 0.05;
/// Newton's method is tried again after so many stops.
const STOPS_BETWEEN_TRIALS: usize = 8;
/// Tolerance and numerical dissipation of the relaxation.
const RELAXATION_TOLERANCE: f64 = 1e-4;
const MOST_DISSIPATIVE: f64 = 1.0 / 3.0;

/// What a search for an equilibrium has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EquilibriumReport {
    /// Newton steps.
    pub steps: usize,
    /// Distance from the start in the error norm.
    pub moved: f64,
    /// Dynamic relaxation was necessary.
    pub relaxed: bool,
    /// Coordinates along which nothing holds the mechanism.
    pub free: Vec<String>,
    /// Coordinates along which the equilibrium is unstable.
    pub unstable: Vec<String>,
    /// Redundant constraints: their reactions are not unique.
    pub redundant: Vec<String>,
}

impl Instance {
    /// Moves the instance to the static equilibrium next to its present position, at rest, at the present time and with the present
    /// inputs; prescribed motions keep their positions. Counters and energies start again. On failure the instance is unchanged.
    pub fn equilibrium(&mut self) -> Result<EquilibriumReport> {
        let outcome = self.find_equilibrium();
        self.log_failure(LogCategory::Start, &outcome);
        let report = outcome?;
        for (names, what) in [
            (&report.free, "nothing holds the equilibrium along"),
            (&report.unstable, "the equilibrium is unstable along"),
        ] {
            if !names.is_empty() {
                let names = names.join(", ");
                let message = format_args!("{what} {names}");
                self.log(LogLevel::Warning, LogCategory::Start, message);
            }
        }
        Ok(report)
    }

    fn find_equilibrium(&mut self) -> Result<EquilibriumReport> {
        self.require_running("searching an equilibrium")?;
        self.apply_pending_inputs()?;
        let (found, modes, relaxed) = match self.newton_equilibrium() {
            Ok(found) => (found, self.state.motion.modes.clone(), false),
            Err(error @ Error::NoEquilibrium { .. }) => match self.relaxed_equilibrium() {
                Some((found, modes)) => (found, modes, true),
                None => return Err(error),
            },
            Err(error) => return Err(error),
        };
        self.rest_at(&found, &modes)?;
        let redundant = (self.state.start_report.as_ref())
            .map_or(Vec::new(), |report| report.redundant.clone());
        Ok(EquilibriumReport {
            steps: found.steps,
            moved: found.moved,
            relaxed,
            free: found.free,
            unstable: found.unstable,
            redundant,
        })
    }

    /// Newton's method from the present position within the present modes.
    fn newton_equilibrium(&mut self) -> Result<Equilibrium> {
        let t = self.time();
        let signals = &mut self.scratch.signals;
        let (u, u_dot, u_ddot) = (&mut signals.u, &mut signals.u_dot, &mut signals.u_ddot);
        self.state.applied.sample(t, u, u_dot, u_ddot);
        u_dot.fill(0.0);
        u_ddot.fill(0.0);
        let (mechanism, at) = operating_point(&*self.mechanism, &self.state, signals, None);
        EquilibriumSolver::new(mechanism, at).find()
    }

    /// Dynamic relaxation in a copy of this instance, and Newton's method from where it ends.
    fn relaxed_equilibrium(&self) -> Option<(Equilibrium, Vec<i32>)> {
        let moving = self.mechanism.properties().moving_constraints;
        if moving || self.model.user_system.is_some() {
            return None;
        }
        let mut model = self.model.clone();
        model.experiment.initial = InitialPosition::Given;
        model.solver.alpha = MOST_DISSIPATIVE;
        model.solver.integrator = IntegratorName::Hht;
        model.solver.tolerance = RELAXATION_TOLERANCE;
        model.solver.step = None;
        let mut copy = Self::from_model(model).ok()?;
        copy.state.pending = self.state.pending.clone();
        copy.initialize(self.time(), f64::INFINITY, 0.0).ok()?;
        let h = RELAXATION_PART * copy.load_time();
        let (mut last, mut stops) = (0.0, 0);
        for _ in 0..RELAXATION_STEPS {
            let t = copy.time();
            copy.step(t, h).ok()?;
            let State { q, v, .. } = &copy.state.motion;
            let cx = crate::formulation::EvaluationContext {
                t,
                u: &[],
                u_dot: &[],
                u_ddot: &[],
                p: &copy.state.applied.parameters,
                modes: &copy.state.motion.modes,
            };
            let kinetic = copy.mechanism.energy(&cx, q, v).kinetic;
            if kinetic >= last && kinetic > 0.0 {
                last = kinetic;
                continue;
            }
            last = 0.0;
            stops += 1;
            copy.stop().ok()?;
            if stops % STOPS_BETWEEN_TRIALS == 0 || kinetic == 0.0 {
                if let Ok(found) = copy.newton_equilibrium() {
                    return Some((found, copy.state.motion.modes.clone()));
                }
            }
        }
        None
    }

    /// Time in which the present accelerations cross the mechanism (s).
    fn load_time(&mut self) -> f64 {
        let state = &self.state.motion;
        let (_, at) = operating_point(&*self.mechanism, &self.state, &self.scratch.signals, None);
        let a = (self.mechanism).norm(&at.cx, &state.q, &state.scale, &state.acc);
        if a > 0.0 { 1.0 / a.sqrt() } else { 1.0 }
    }

    /// Sets all velocities to zero.
    fn stop(&mut self) -> Result<()> {
        self.state.motion.v.fill(0.0);
        let env = environment(&self.state.applied);
        let motion = &mut self.state.motion;
        self.integrator
            .apply_input_jump(&*self.mechanism, &env, motion)?;
        Ok(())
    }

    /// Starts again at rest in a position, in these modes.
    fn rest_at(&mut self, found: &Equilibrium, modes: &[i32]) -> Result<()> {
        let t = self.time();
        let v = vec![0.0; self.state.motion.v.len()];
        let env = environment(&self.state.applied);
        let mut motion = State::default();
        let mechanism = &*self.mechanism;
        (self.integrator).start(mechanism, &env, t, &found.q, &v, &mut motion)?;
        if motion.modes != modes {
            // Contacts that the relaxation has closed.
            motion.modes.copy_from_slice(modes);
            motion.lambda.copy_from_slice(&found.lambda);
            self.integrator
                .apply_input_jump(mechanism, &env, &mut motion)?;
        }
        self.state.motion = motion;
        self.scratch.cache.invalidate();
        self.state.energy_drift = 0.0;
        self.state.total_at_start = 0.0;
        self.state.total_at_start = self.total_energy();
        Ok(())
    }
}
