//! One step of a method: HHT with its error estimate, corrector, events and step-size controller; or VSA23.
//!
//! The story of a substep is [`Integrator::advance`]; its parts are in the files of this folder: `newton` (the implicit
//! equations), `step` (closure and projections), `corrector` (fourth order), `estimate` and `controller` (how good, how
//! long), `events`, `start`, `interpolate`. `vsa23` is the other method: it has an attempt of its own and shares the rest.

mod accelerations;
mod closure;
mod controller;
mod corrector;
mod error_estimate;
mod evaluate;
mod events;
mod factor_cache;
mod full_constraints;
mod hht;
mod hht_step;
mod impact;
mod interpolation;
mod newton;
mod reactions;
mod redundancy;
mod repartition;
mod singularity;
pub mod stability;
mod start;
mod state;
mod tolerances;
mod trial;
pub mod vsa23;
mod workspace;

pub use hht::Hht;
pub use state::{Accepted, Sample, StartReport, State, Statistics};

use self::controller::{CUT, NEWTON_RATIO, StepControl, StepPlan};
use self::corrector::Correction;
use self::interpolation::Segment;
use self::singularity::{DETOURS, SHORT_OF, StepEnd};
use self::tolerances::REDUNDANT_RESIDUAL;
use self::workspace::{Problem, StepFailure, Trial, Workspace};
use crate::constraint::factorization::Backend;
use crate::error::{Error, Result};
use crate::formulation::system::{EvaluationFailure, System};
use crate::model::{Corrector, IntegratorName, SolverSettings};

/// The inputs as functions of time, known up to the next communication point and continued smoothly beyond it.
pub trait Signals {
    /// u, du/dt and d²u/dt² at `t`.
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]);
}

/// No inputs, or inputs that are zero.
impl Signals for () {
    fn sample(&self, _t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        u.fill(0.0);
        u_dot.fill(0.0);
        u_ddot.fill(0.0);
    }
}

/// What stays the same during a step but may change between steps.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Inputs.
    pub signals: &'a dyn Signals,
    /// Parameters.
    pub parameters: &'a [f64],
}

/// The method with its settings and work space. Holds nothing the future depends on: that is [`State`].
pub struct Integrator {
    work: Workspace,
    /// The other method, where it is asked for.
    vsa23: Option<Box<vsa23::Vsa23>>,
    trial: Trial,
    plain: Trial,
    segment: Segment,
    events: events::EventDetector,
    impacts: impact::ImpactSolver,
    modes: Vec<i32>,
    modes_after: Vec<i32>,
    /// The state as it was, where an attempt has to change it before its outcome is known.
    before: State,
    changed: bool,
    /// The system may want other coordinates after a step.
    repartitions: bool,
}

/// Stiff steps in a row after which the corrector rests.
const STRIKES: u32 = 3;
/// Its first rest, doubled each time up to 32-fold (steps).
const REST: u32 = 8;

impl Integrator {
    /// Checks the settings and sizes the work space.
    pub fn new(system: &dyn System, settings: &SolverSettings) -> Result<Self> {
        Self::with_backend(system, settings, Backend::Auto)
    }

    /// The same with a chosen linear algebra (for tests and benches).
    pub fn with_backend(
        system: &dyn System,
        settings: &SolverSettings,
        backend: Backend,
    ) -> Result<Self> {
        settings.validate()?;
        let mut settings = *settings;
        if settings.integrator == IntegratorName::Vsa23 {
            settings.corrector = Corrector::Off; // it belongs to HHT
        }
        let core = Workspace::new(system, &settings, backend);
        let vsa23 = match settings.integrator {
            IntegratorName::Hht => None,
            IntegratorName::Vsa23 => {
                let method = vsa23::Vsa23::new(system, &core, &settings.vsa23)?;
                Some(Box::new(method))
            }
        };
        let size = system.dimensions();
        Ok(Self {
            work: core,
            vsa23,
            trial: Trial::new(&size),
            plain: match settings.corrector {
                Corrector::Auto => Trial::result(&size),
                Corrector::Off => Trial::default(),
            },
            segment: Segment::new(&size),
            events: events::EventDetector::new(&size),
            impacts: impact::ImpactSolver::new(&size),
            modes: vec![0; size.modes],
            modes_after: vec![0; size.modes],
            // Without events it is used only where rows are ranked again, which allocates anyway.
            before: if size.ne > 0 {
                State::sized(&size)
            } else {
                State::default()
            },
            changed: false,
            repartitions: system.partitioning().is_some(),
        })
    }

    /// One accepted substep towards `t_end`, landing on it exactly by the stretch rule. On an error the state is the last
    /// accepted one.
    pub fn advance(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &mut State,
        t_end: f64,
    ) -> Result<Accepted> {
        let mut modes = std::mem::take(&mut self.modes);
        let mut stats = state.statistics;
        self.work.factor_cache.counted_step = state.factored_step;
        self.work.factor_cache.counted_mass = state.factored_mass;
        let rate = state.newton_contraction;
        self.changed = false;
        let outcome = loop {
            modes.copy_from_slice(&state.modes);
            let p = Problem {
                system,
                env: *env,
                modes: &modes,
            };
            self.work.select(system, state);
            // First what an input's jump or the last event has brought about; it may change the modes.
            match self.fire_due(&p, state, &mut stats) {
                Ok(true) => {}
                Ok(false) => break self.substep(&p, state, t_end, &mut stats),
                Err(error) => break Err(error),
            }
        };
        if outcome.is_err() {
            state.newton_contraction = rate;
            if self.changed {
                state.copy_from(&self.before);
                self.segment.forget();
            }
        }
        self.work.collect(&mut stats);
        if outcome.is_ok() {
            (state.factored_step, state.factored_mass) = self.work.counted();
        }
        state.statistics = stats;
        self.modes = modes;
        outcome
    }

    /// Attempts until one is accepted.
    fn substep(
        &mut self,
        p: &Problem,
        state: &mut State,
        t_end: f64,
        stats: &mut Statistics,
    ) -> Result<Accepted> {
        let mut plan = self.work.control.plan(state.next_h, t_end - state.t);
        let mut may_grow = state.may_grow;
        let mut reconsidered = 0;
        let (mut detours, mut direct) = (0, plan.h);
        let mut clearest = (0.0, plan.h);
        loop {
            let t1 = if plan.lands { t_end } else { state.t + plan.h };
            let end = if plan.lands || self.work.control.fixed().is_some() {
                StepEnd::Fixed
            } else if detours <= DETOURS.len() {
                StepEnd::Movable
            } else {
                StepEnd::Forced
            };
            let refusal = match self.try_step(p, state, plan.h, t1, end, stats) {
                Ok(e) if e <= 1.0 || self.work.control.fixed().is_some() => {
                    let growth = StepControl::growth(state.first, may_grow).min(self.trial.growth);
                    let next = self
                        .work
                        .control
                        .after_accepted(plan, state.next_h, e, growth);
                    return self.accept(p, state, e, next, stats);
                }
                Ok(e) => {
                    stats.rejected += 1;
                    may_grow = false;
                    // NaN and infinity are refused like a failed iteration.
                    let mut h = if e.is_finite() {
                        self.work.control.after_rejected(plan.h, e)
                    } else {
                        plan.h * NEWTON_RATIO
                    };
                    if detours > 0 {
                        // Well before the position that was to be stepped over, or the same detours would come again.
                        h = h.min(SHORT_OF * direct);
                    }
                    plan = self.shorter(h, None, p, state)?;
                    (detours, direct) = (0, plan.h);
                    state.newton_contraction = f64::INFINITY;
                    continue;
                }
                Err(StepFailure::NearSingular) => {
                    // A little further, or not quite as far; if nothing helps, the best of them.
                    if detours == 0 || self.trial.pivot > clearest.0 {
                        clearest = (self.trial.pivot, plan.h);
                    }
                    plan.h = match DETOURS.get(detours) {
                        Some(ratio) => self.work.control.limit(ratio * direct),
                        None => clearest.1,
                    };
                    detours += 1;
                    stats.event_repeats += 1;
                    continue;
                }
                Err(StepFailure::RedundancyLost { .. })
                    if self.vsa23.is_none()
                        && reconsidered <= self.work.size.nc
                        && self.reconsider(p, state, stats) =>
                {
                    reconsidered += 1;
                    stats.event_repeats += 1;
                    continue;
                }
                Err(refusal) => refusal,
            };
            stats.newton_failures += 1;
            may_grow = false;
            state.newton_contraction = f64::INFINITY;
            // The law in force at its start may have no solution at the end of a fixed step, or none before an event: where
            // there are events they cut steps, and so may the way to one.
            let least = match self.work.control.fixed() {
                Some(h) if self.work.size.ne > 0 => CUT * h,
                Some(_) => f64::INFINITY,
                None => 0.0,
            };
            if plan.h <= least
                || matches!(
                    refusal,
                    StepFailure::Evaluation(EvaluationFailure::Fatal(_))
                )
            {
                return Err(match refusal {
                    // Cut as far as may be, it is no matter of masses that no constraint fixes.
                    StepFailure::Singular(culprit) if least.is_finite() => Error::StepTooSmall {
                        time: state.t,
                        step: plan.h,
                        reason: "the implicit equations did not converge",
                        culprit: culprit.name(p.system),
                    },
                    refusal => refusal.error(p.system, state.t, plan.h),
                });
            }
            plan = self.shorter(plan.h * NEWTON_RATIO, Some(refusal), p, state)?;
            (detours, direct) = (0, plan.h);
        }
    }

    /// A retry with step h, or the end of the road.
    fn shorter(
        &self,
        h: f64,
        refusal: Option<StepFailure>,
        p: &Problem,
        state: &State,
    ) -> Result<StepPlan> {
        if h >= self.work.control.smallest(state.t) {
            return Ok(StepPlan {
                h,
                lands: false,
                cut: false,
            });
        }
        let worst = newton::largest(match self.vsa23 {
            None => &self.trial.delta,
            Some(_) => &self.trial.x,
        });
        Err(match refusal {
            Some(refusal @ (StepFailure::NotFinite(_) | StepFailure::Evaluation(_))) => {
                refusal.error(p.system, state.t, h)
            }
            Some(StepFailure::RedundancyLost { row, .. }) => Error::StepTooSmall {
                time: state.t,
                step: h,
                reason: "a constraint that followed from the others contradicts them",
                culprit: p.system.constraint_name(row),
            },
            Some(refusal @ (StepFailure::Newton { .. } | StepFailure::Singular(_)))
                if p.system
                    .partitioning()
                    .and_then(|x| x.dependent_failure())
                    .is_some() =>
            {
                refusal.error(p.system, state.t, h)
            }
            Some(StepFailure::Newton { culprit, .. } | StepFailure::Singular(culprit)) => {
                Error::StepTooSmall {
                    time: state.t,
                    step: h,
                    reason: "the implicit equations did not converge",
                    culprit: culprit.name(p.system),
                }
            }
            None | Some(StepFailure::NearSingular) => Error::StepTooSmall {
                time: state.t,
                step: h,
                reason: "the estimated error stayed above the tolerance",
                culprit: p.system.coordinate_name(worst),
            },
        })
    }

    /// One attempt of size h; returns the estimated error over the tolerance. The trial holds the result. A good step that
    /// opens a row which is left out is refused.
    fn try_step(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        end: StepEnd,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure> {
        let e = self.try_step_avoiding_singularity(p, s, h, t1, end, stats)?;
        if self.repartitions && end == StepEnd::Movable && self.beside_a_choice(p, s) {
            return Err(StepFailure::NearSingular);
        }
        let (by, row) = self.trial.redundant_residual;
        let closed = by <= REDUNDANT_RESIDUAL * p.system.coordinate_magnitude(&self.trial.q);
        if closed || !(e <= 1.0 || self.work.control.fixed().is_some()) {
            Ok(e)
        } else {
            Err(StepFailure::RedundancyLost { row, by })
        }
    }

    fn trial_step(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure> {
        let Self {
            work: core,
            vsa23,
            trial: y,
            plain,
            repartitions: rechooses,
            ..
        } = self;
        (y.t, y.h) = (t1, h);
        (y.corrected, y.jerk_known) = (false, false);
        y.growth = f64::INFINITY;
        y.redundant_residual = (0.0, 0);
        (y.pivot, y.restarts_history) = (s.typical_pivot, false);
        if let Some(method) = vsa23 {
            return method.attempt(core, p, s, y, stats);
        }
        let rechooses = *rechooses;
        let unseen = |core: &mut Workspace, y: &Trial| match rechooses {
            true => core.unseen(p, s, y),
            false => Ok(0.0),
        };
        core.hht_step(p, s, y, stats)?;
        if core.settings.corrector == Corrector::Auto && s.jerk_known && s.corrector_rest == 0 {
            plain.keep(y);
            match core.correct(p, s, y, plain, stats) {
                Ok(Correction::Kept { error, hidden }) => {
                    (y.corrected, y.jerk_known) = (true, true);
                    let hidden = error_estimate::max(hidden, unseen(core, y)?);
                    let hidden = core.hidden_over_tolerance(hidden);
                    return Ok(error_estimate::max(core.over_tolerance(error, h), hidden));
                }
                Err(stop @ StepFailure::Evaluation(EvaluationFailure::Fatal(_))) => {
                    return Err(stop);
                }
                Ok(Correction::Stiff) | Err(_) => {
                    y.keep(plain);
                    core.reload_jacobian(p, y);
                }
            }
        }
        core.complete_hht_step(p, s, y)?;
        let error = core.plain_error(p, s, y);
        let hidden = core.hidden_error(p, s, y);
        let hidden = error_estimate::max(hidden, unseen(core, y)?);
        let hidden = core.hidden_over_tolerance(hidden);
        Ok(error_estimate::max(core.over_tolerance(error, h), hidden))
    }

    /// The trial becomes the state, unless an event cuts it short.
    fn accept(
        &mut self,
        p: &Problem,
        state: &mut State,
        e: f64,
        next: f64,
        stats: &mut Statistics,
    ) -> Result<Accepted> {
        let fired = if self.work.size.ne > 0 {
            self.hit_event(p, state, stats)?
        } else {
            None
        };
        if self.work.settings.corrector == Corrector::Auto
            && !self.trial.jerk_known
            && state.corrector_rest <= 1
        {
            self.work.jerk_at_end(p, &mut self.trial, stats);
        }
        let h = self.trial.h;
        if fired.is_some() {
            self.guard(state);
        }
        self.take(p, state);
        state.next_h = next;
        (state.first, state.may_grow) = (false, true);
        stats.steps += 1;
        stats.corrected += u64::from(self.trial.corrected);
        stats.step_size = h;
        stats.smallest_step = stats.smallest_step.min(h);
        stats.largest_step = stats.largest_step.max(h);
        stats.error = e;
        stats.worst_error = stats.worst_error.max(e);
        self.events.forget(p, 1, &mut state.handled);
        match fired {
            Some(hit) => {
                state.event_streak = if hit.chatters {
                    state.event_streak + 1
                } else {
                    0
                };
                self.fire(p, state, stats)?;
            }
            None => {
                state.event_streak = 0;
                self.events.note_sides(p, &state.handled, &mut state.side);
            }
        }
        if self.repartitions {
            self.repartition(p, state, stats);
        }
        Ok(Accepted {
            h,
            event: fired.is_some(),
        })
    }

    /// Keeps the state as it is before something changes it that may still fail.
    fn guard(&mut self, state: &State) {
        if !self.changed {
            self.before.copy_from(state);
            self.changed = true;
        }
    }

    /// Swaps the trial into the state and keeps the step for interpolation.
    fn take(&mut self, p: &Problem, s: &mut State) {
        let Self {
            work: core,
            trial: y,
            segment,
            ..
        } = self;
        if !y.jerk_known {
            // What some earlier attempt left there must not get into a state.
            y.jerk.fill(0.0);
        }
        segment.start(s);
        std::mem::swap(&mut s.q, &mut y.q);
        std::mem::swap(&mut s.v, &mut y.v);
        std::mem::swap(&mut s.acc, &mut y.acc);
        std::mem::swap(&mut s.lambda, &mut y.lambda);
        std::mem::swap(&mut s.a, &mut y.a);
        std::mem::swap(&mut s.delta, &mut y.delta);
        std::mem::swap(&mut s.delta_dot, &mut y.delta_dot);
        std::mem::swap(&mut s.lambda_dot, &mut y.lambda_dot);
        std::mem::swap(&mut s.jerk, &mut y.jerk);
        segment.begin(y);
        (s.t, s.h) = (y.t, y.h);
        s.jerk_known = y.jerk_known;
        (s.newton_contraction, s.rate_uses) = (y.newton_contraction, y.contraction_uses);
        s.typical_pivot = singularity::usual(s, y);
        if y.restarts_history {
            (s.h, s.newton_contraction) = (0.0, f64::INFINITY);
        }
        if s.corrector_rest > 0 {
            s.corrector_rest -= 1;
        } else if y.corrected {
            s.corrector_strikes = 0;
        } else if core.settings.corrector == Corrector::Auto {
            s.corrector_strikes += 1;
            if s.corrector_strikes >= STRIKES {
                s.corrector_rest = REST << (s.corrector_strikes - STRIKES).min(5);
            }
        }
        for i in 0..s.scale.len().min(s.q.len()) {
            s.scale[i] = s.scale[i].max(s.q[i].abs());
        }
        segment.end(s);
        if core.character.does_work || core.character.moving_constraints {
            let (dissipated, supplied) = segment.work(core, p, 1.0);
            s.dissipated += dissipated;
            s.supplied += supplied;
        }
        segment.close_books(s);
    }
}
