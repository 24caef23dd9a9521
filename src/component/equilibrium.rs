//! Static equilibrium of an instance. Newton's method within the present modes; where it fails, dynamic relaxation: the motion is
//! integrated by HHT with the largest dissipation, and stopped whenever its kinetic energy decreases. Contacts close on the way.

use super::Instance;
use super::linearize::{BodyPoint, bodies_of, operating_point};
use super::log::{LogCategory, LogLevel};
use super::quantity_point::environment;
use crate::analysis::{Equilibrium, EquilibriumSolver, SparseEquilibriumSearch};
use crate::error::{Error, Result};
use crate::integrator::{Integrator, Signals, State};
use crate::model::{IntegratorName, SolverSettings};

/// Coordinates from which the sparse search is tried first: the dense one takes the cube of their number.
const LARGE: usize = 400;
/// Steps of the dynamic relaxation.
const RELAXATION_STEPS: usize = 4000;
/// A step of it, as part of the time in which the loads cross the mechanism.
const RELAXATION_PART: f64 = 0.05;
/// Steps of growing kinetic energy after which nothing will stop the motion.
const RUNAWAY_STEPS: usize = 300;
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
        if self.companion.is_some() {
            self.rest_companion();
        }
        for (names, what) in [
            (&report.free, "nothing holds the equilibrium along"),
            (&report.unstable, "the equilibrium is unstable along"),
            (&report.redundant, "reactions are not unique in"),
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
        let start = self.body_positions();
        let (mut found, relaxed) = match self.newton_equilibrium() {
            Ok(found) => (found, false),
            Err(error @ Error::NoEquilibrium { .. }) => match self.relaxed_equilibrium() {
                Some(found) => (found, true),
                None => return Err(error),
            },
            Err(error) => return Err(error),
        };
        found.moved = self.distance(&start, &found.q);
        self.rest_at(&found)?;
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

    /// The present position in body coordinates.
    fn body_positions(&self) -> Vec<f64> {
        match BodyPoint::of(&*self.mechanism, &self.state) {
            Some(point) => point.q,
            None => self.state.motion.q.clone(),
        }
    }

    /// Distance of two positions of the bodies in the error norm.
    fn distance(&self, from: &[f64], to: &[f64]) -> f64 {
        let bodies = BodyPoint::of(&*self.mechanism, &self.state);
        let signals = &self.scratch.signals;
        let (mechanism, at) =
            operating_point(&*self.mechanism, &self.state, signals, bodies.as_ref());
        let mut w = vec![0.0; mechanism.dimensions().nv];
        mechanism.difference(from, to, &mut w);
        mechanism.norm(&at.cx, to, at.scale, &w)
    }

    /// Newton's method from the present position within the present modes, in body coordinates: no position on the way is singular for
    /// them.
    fn newton_equilibrium(&mut self) -> Result<Equilibrium> {
        let t = self.time();
        let signals = &mut self.scratch.signals;
        let (u, u_dot, u_ddot) = (&mut signals.u, &mut signals.u_dot, &mut signals.u_ddot);
        self.state.applied.sample(t, u, u_dot, u_ddot);
        u_dot.fill(0.0);
        u_ddot.fill(0.0);
        let bodies = BodyPoint::of(&*self.mechanism, &self.state);
        let (mechanism, at) =
            operating_point(&*self.mechanism, &self.state, signals, bodies.as_ref());
        if mechanism.dimensions().nv >= LARGE
            && let Some(search) = SparseEquilibriumSearch::new(mechanism, at)
            && let Ok(found) = search.find()
        {
            return Ok(found);
        }
        EquilibriumSolver::new(mechanism, at).find()
    }

    /// Dynamic relaxation from the present position, and Newton's method from where it ends. The instance is as before.
    fn relaxed_equilibrium(&mut self) -> Option<Equilibrium> {
        if self.mechanism.properties().moving_constraints {
            // Time would move them.
            return None;
        }
        let settings = SolverSettings {
            alpha: MOST_DISSIPATIVE,
            integrator: IntegratorName::Hht,
            tolerance: RELAXATION_TOLERANCE,
            step: None,
            ..self.model.solver
        };
        let relaxing = Integrator::new(&*self.mechanism, &settings).ok()?;
        let integrator = std::mem::replace(&mut self.integrator, relaxing);
        let logger = self.set_logger(None);
        let before = self.state.clone();
        self.state.stop = f64::INFINITY;
        let found = self.relax();
        self.state = before;
        self.integrator = integrator;
        self.set_logger(logger);
        self.scratch.cache.invalidate();
        found
    }

    fn relax(&mut self) -> Option<Equilibrium> {
        self.stop().ok()?;
        let h = RELAXATION_PART * self.load_time();
        let (mut last, mut stops, mut growing) = (0.0, 0, 0);
        for _ in 0..RELAXATION_STEPS {
            let t = self.time();
            self.step(t, h).ok()?;
            let kinetic = self.kinetic_energy();
            if kinetic >= last && kinetic > 0.0 {
                last = kinetic;
                growing += 1;
                if growing > RUNAWAY_STEPS {
                    return None;
                }
                continue;
            }
            (last, growing) = (0.0, 0);
            stops += 1;
            self.stop().ok()?;
            if (stops % STOPS_BETWEEN_TRIALS == 0 || kinetic == 0.0)
                && let Ok(found) = self.newton_equilibrium()
            {
                return Some(found);
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
        self.state.ahead.leave();
        self.state.motion.v.fill(0.0);
        let env = environment(&self.state.applied);
        let motion = &mut self.state.motion;
        self.integrator
            .apply_input_jump(&*self.mechanism, &env, motion)?;
        Ok(())
    }

    /// Starts again at rest in a position.
    fn rest_at(&mut self, found: &Equilibrium) -> Result<()> {
        let t = self.time();
        let (mut q, mut v) = (found.q.clone(), vec![0.0; self.state.motion.v.len()]);
        let env = environment(&self.state.applied);
        let mut motion = State::default();
        let mechanism = &*self.mechanism;
        if let (Some(assembly), Some((bodies, _))) =
            (mechanism.body_assembly(), bodies_of(mechanism))
        {
            q = vec![0.0; mechanism.dimensions().nq];
            let rest = vec![0.0; bodies.dimensions().nv];
            if let Some(joint) = assembly.coordinates_from_bodies(&found.q, &rest, &mut q, &mut v) {
                return Err(Error::SingularPosition {
                    time: t,
                    culprits: vec![joint],
                });
            }
        }
        (self.integrator).start(mechanism, &env, t, &q, &v, &mut motion)?;
        let settled = (motion.integrals.iter().zip(&found.integrals))
            .all(|(memory, value)| memory.value == *value);
        if motion.modes != found.modes || !settled {
            // Contacts that have been closed, controllers that have settled.
            motion.modes.copy_from_slice(&found.modes);
            for (memory, value) in motion.integrals.iter_mut().zip(&found.integrals) {
                memory.value = *value;
            }
            self.integrator
                .apply_input_jump(mechanism, &env, &mut motion)?;
        }
        self.state.motion = motion;
        self.state.ahead.leave();
        self.scratch.cache.invalidate();
        self.state.energy_drift = 0.0;
        self.state.total_at_start = 0.0;
        self.state.total_at_start = self.total_energy();
        Ok(())
    }
}
