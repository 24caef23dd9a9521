//! One step of a method: HHT with its error estimate, corrector, events and step-size controller; or VSA23.
//!
//! The story of a substep is [`Integrator::advance`]; its parts are in the files of this folder: `newton` (the implicit
//! equations), `step` (closure and projections), `corrector` (fourth order), `estimate` and `controller` (how good, how
//! long), `events`, `start`, `interpolate`. `vsa23` is the other method: it has an attempt of its own and shares the rest.

mod balance;
mod blows;
mod controller;
mod core;
mod corrector;
mod estimate;
mod events;
mod hht;
mod interpolate;
mod look;
mod newton;
mod reactions;
mod rechoose;
mod redundant;
mod rejection;
mod singular;
pub mod stability;
mod start;
mod state;
mod step;
pub mod vsa23;
mod whole;

pub use hht::Hht;
pub use rejection::{REJECTION_REASONS, RejectedStep};
pub use state::{Accepted, Sample, StartReport, State, Statistics};

use self::controller::{CUT, NEWTON_RATIO, Plan, StepControl};
use self::core::{Core, Problem, Refusal, Trial};
use self::corrector::Correction;
use self::interpolate::Segment;
use self::singular::{DETOURS, End, SHORT_OF};
use self::step::LEFT_OPEN;
use crate::constraint::multipliers::Backend;
use crate::error::{Error, Result};
use crate::formulation::{Fault, System};
use crate::model::{Corrector, IntegratorName, Solver};

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
    core: Core,
    /// The other method, where it is asked for.
    vsa23: Option<Box<vsa23::Vsa23>>,
    trial: Trial,
    plain: Trial,
    segment: Segment,
    events: events::Watch,
    blows: blows::Blows,
    modes: Vec<i32>,
    modes_after: Vec<i32>,
    /// The state as it was, where an attempt has to change it before its outcome is known.
    before: State,
    changed: bool,
    /// The system may want other coordinates after a step.
    rechooses: bool,
    /// Rejected trial steps, where they are recorded.
    rejected_steps: Option<Vec<RejectedStep>>,
}

/// Stiff steps in a row after which the corrector rests.
const STRIKES: u32 = 3;
/// Its first rest, doubled each time up to 32-fold (steps).
const REST: u32 = 8;

impl Integrator {
    /// Checks the settings and sizes the work space.
    pub fn new(system: &dyn System, settings: &Solver) -> Result<Self> {
        Self::with_backend(system, settings, Backend::Auto)
    }

    /// The same with a chosen linear algebra (for tests and benches).
    pub fn with_backend(system: &dyn System, settings: &Solver, backend: Backend) -> Result<Self> {
        settings.validate()?;
        let mut settings = *settings;
        if settings.integrator == IntegratorName::Vsa23 {
            settings.corrector = Corrector::Off; // it belongs to HHT
        }
        let core = Core::new(system, &settings, backend);
        let vsa23 = match settings.integrator {
            IntegratorName::Hht => None,
            IntegratorName::Vsa23 => {
                let method = vsa23::Vsa23::new(system, &core, &settings.vsa23)?;
                Some(Box::new(method))
            }
        };
        let size = system.size();
        Ok(Self {
            core,
            vsa23,
            trial: Trial::new(&size),
            plain: match settings.corrector {
                Corrector::Auto => Trial::result(&size),
                Corrector::Off => Trial::default(),
            },
            segment: Segment::new(&size),
            events: events::Watch::new(&size),
            blows: blows::Blows::new(&size),
            modes: vec![0; size.modes],
            modes_after: vec![0; size.modes],
            // Without events it is used only where rows are ranked again, which allocates anyway.
            before: if size.ne > 0 {
                State::sized(&size)
            } else {
                State::default()
            },
            changed: false,
            rechooses: system.rechooses(),
            rejected_steps: None,
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
        self.core.kept.counted_step = state.factored_step;
        self.core.kept.counted_mass = state.factored_mass;
        let rate = state.rate;
        self.changed = false;
        let outcome = loop {
            modes.copy_from_slice(&state.modes);
            let p = Problem {
                system,
                env: *env,
                modes: &modes,
            };
            self.core.select(system, state);
            // First what an input's jump or the last event has brought about; it may change the modes.
            match self.fire_due(&p, state, &mut stats) {
                Ok(true) => {}
                Ok(false) => break self.substep(&p, state, t_end, &mut stats),
                Err(error) => break Err(error),
            }
        };
        if outcome.is_err() {
            state.rate = rate;
            if self.changed {
                state.copy_from(&self.before);
                self.segment.forget();
            }
        }
        self.core.collect(&mut stats);
        if outcome.is_ok() {
            (state.factored_step, state.factored_mass) = self.core.counted();
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
        let mut plan = self.core.control.plan(state.next_h, t_end - state.t);
        let mut may_grow = state.may_grow;
        let mut reconsidered = 0;
        let (mut detours, mut direct) = (0, plan.h);
        let mut clearest = (0.0, plan.h);
        loop {
            let t1 = if plan.lands { t_end } else { state.t + plan.h };
            let end = if plan.lands || self.core.control.fixed().is_some() {
                End::Given
            } else if detours <= DETOURS.len() {
                End::Free
            } else {
                End::Taken
            };
            let refusal = match self.attempt(p, state, plan.h, t1, end, stats) {
                Ok(e) if e <= 1.0 || self.core.control.fixed().is_some() => {
                    let growth = StepControl::growth(state.first, may_grow).min(self.trial.growth);
                    let next = self
                        .core
                        .control
                        .after_accepted(plan, state.next_h, e, growth);
                    return self.accept(p, state, e, next, stats);
                }
                Ok(e) => {
                    stats.rejected += 1;
                    self.note_error_test(p, state, plan.h, e);
                    may_grow = false;
                    // NaN and infinity are refused like a failed iteration.
                    let mut h = if e.is_finite() {
                        self.core.control.after_rejected(plan.h, e)
                    } else {
                        plan.h * NEWTON_RATIO
                    };
                    if detours > 0 {
                        // Well before the position that was to be stepped over, or the same detours would come again.
                        h = h.min(SHORT_OF * direct);
                    }
                    plan = self.shorter(h, None, p, state)?;
                    (detours, direct) = (0, plan.h);
                    state.rate = f64::INFINITY;
                    continue;
                }
                Err(Refusal::Near) => {
                    self.note_failure(p, state, plan.h, &Refusal::Near);
                    // A little further, or not quite as far; if nothing helps, the best of them.
                    if detours == 0 || self.trial.pivot > clearest.0 {
                        clearest = (self.trial.pivot, plan.h);
                    }
                    plan.h = match DETOURS.get(detours) {
                        Some(ratio) => self.core.control.limit(ratio * direct),
                        None => clearest.1,
                    };
                    detours += 1;
                    stats.event_repeats += 1;
                    continue;
                }
                Err(Refusal::Opened { .. })
                    if self.vsa23.is_none()
                        && reconsidered <= self.core.size.nc
                        && self.reconsider(p, state, stats) =>
                {
                    reconsidered += 1;
                    stats.event_repeats += 1;
                    continue;
                }
                Err(refusal) => refusal,
            };
            stats.newton_failures += 1;
            self.note_failure(p, state, plan.h, &refusal);
            may_grow = false;
            state.rate = f64::INFINITY;
            // The law in force at its start may have no solution at the end of a fixed step, or none before an event: where
            // there are events they cut steps, and so may the way to one.
            let least = match self.core.control.fixed() {
                Some(h) if self.core.size.ne > 0 => CUT * h,
                Some(_) => f64::INFINITY,
                None => 0.0,
            };
            if plan.h <= least || matches!(refusal, Refusal::Fault(Fault::Stop(_))) {
                return Err(match refusal {
                    // Cut as far as may be, it is no matter of masses that no constraint fixes.
                    Refusal::Singular(culprit) if least.is_finite() => Error::StepTooSmall {
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
        refusal: Option<Refusal>,
        p: &Problem,
        state: &State,
    ) -> Result<Plan> {
        if h >= self.core.control.smallest(state.t) {
            return Ok(Plan {
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
            Some(refusal @ (Refusal::NotFinite(_) | Refusal::Fault(_))) => {
                refusal.error(p.system, state.t, h)
            }
            Some(Refusal::Opened { row, .. }) => Error::StepTooSmall {
                time: state.t,
                step: h,
                reason: "a constraint that followed from the others contradicts them",
                culprit: p.system.constraint_name(row),
            },
            Some(refusal @ (Refusal::Newton { .. } | Refusal::Singular(_)))
                if p.system.lost().is_some() =>
            {
                refusal.error(p.system, state.t, h)
            }
            Some(Refusal::Newton { culprit, .. } | Refusal::Singular(culprit)) => {
                Error::StepTooSmall {
                    time: state.t,
                    step: h,
                    reason: "the implicit equations did not converge",
                    culprit: culprit.name(p.system),
                }
            }
            None | Some(Refusal::Near) => Error::StepTooSmall {
                time: state.t,
                step: h,
                reason: "the estimated error stayed above the tolerance",
                culprit: p.system.coordinate_name(worst),
            },
        })
    }

    /// One attempt of size h; returns the estimated error over the tolerance. The trial holds the result. A good step that
    /// opens a row which is left out is refused.
    fn attempt(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        end: End,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, Refusal> {
        let e = self.attempt_beside(p, s, h, t1, end, stats)?;
        if self.rechooses && end == End::Free && self.beside_a_choice(p, s) {
            return Err(Refusal::Near);
        }
        let (by, row) = self.trial.opened;
        let closed = by <= LEFT_OPEN * p.system.magnitude(&self.trial.q);
        if closed || !(e <= 1.0 || self.core.control.fixed().is_some()) {
            Ok(e)
        } else {
            Err(Refusal::Opened { row, by })
        }
    }

    fn attempt_unwatched(
        &mut self,
        p: &Problem,
        s: &State,
        h: f64,
        t1: f64,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, Refusal> {
        let Self {
            core,
            vsa23,
            trial: y,
            plain,
            rechooses,
            ..
        } = self;
        (y.t, y.h) = (t1, h);
        (y.corrected, y.jerk_known) = (false, false);
        y.growth = f64::INFINITY;
        y.opened = (0.0, 0);
        (y.pivot, y.anew) = (s.usual_pivot, false);
        if let Some(method) = vsa23 {
            return method.attempt(core, p, s, y, stats);
        }
        let rechooses = *rechooses;
        let unseen = |core: &mut Core, y: &Trial| match rechooses {
            true => core.unseen(p, s, y),
            false => Ok(0.0),
        };
        core.stage(p, s, y, stats)?;
        if core.settings.corrector == Corrector::Auto && s.jerk_known && s.corrector_rest == 0 {
            plain.keep(y);
            match core.correct(p, s, y, plain, stats) {
                Ok(Correction::Kept { error, hidden }) => {
                    (y.corrected, y.jerk_known) = (true, true);
                    let hidden = estimate::max(hidden, unseen(core, y)?);
                    let hidden = core.hidden_over_tolerance(hidden);
                    return Ok(estimate::max(core.over_tolerance(error, h), hidden));
                }
                Err(stop @ Refusal::Fault(Fault::Stop(_))) => return Err(stop),
                Ok(Correction::Stiff) | Err(_) => {
                    y.keep(plain);
                    core.reload_jacobian(p, y);
                }
            }
        }
        core.finish(p, s, y)?;
        let error = core.plain_error(p, s, y);
        let hidden = core.hidden_error(p, s, y);
        let hidden = estimate::max(hidden, unseen(core, y)?);
        let hidden = core.hidden_over_tolerance(hidden);
        Ok(estimate::max(core.over_tolerance(error, h), hidden))
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
        let fired = if self.core.size.ne > 0 {
            self.hit_event(p, state, stats)?
        } else {
            None
        };
        if self.core.settings.corrector == Corrector::Auto
            && !self.trial.jerk_known
            && state.corrector_rest <= 1
        {
            self.core.jerk_at_end(p, &mut self.trial, stats);
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
        if self.rechooses {
            self.rechoose(p, state, stats);
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
            core,
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
        (s.rate, s.rate_uses) = (y.rate, y.rate_uses);
        s.usual_pivot = singular::usual(s, y);
        if y.anew {
            (s.h, s.rate) = (0.0, f64::INFINITY);
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
        if core.character.works || core.character.moving_constraints {
            let (dissipated, supplied) = segment.work(core, p, 1.0);
            s.dissipated += dissipated;
            s.supplied += supplied;
        }
        segment.close_books(s);
    }
}

impl Trial {
    /// Copies what a stage of HHT ends on; the memory of the step is made when it is finished.
    fn keep(&mut self, other: &Trial) {
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.acc.copy_from_slice(&other.acc);
        self.lambda.copy_from_slice(&other.lambda);
        self.jerk.copy_from_slice(&other.jerk);
        self.jerk_known = other.jerk_known;
        self.opened = other.opened;
    }
}

impl Refusal {
    /// The sentence for a step that may not be shortened.
    fn error(self, system: &dyn System, time: f64, step: f64) -> Error {
        if let Self::Newton { .. } | Self::NotFinite(_) | Self::Singular(_) = self
            && let Some((culprit, independent)) = system.lost()
        {
            return Error::Coordinates {
                time,
                step,
                culprit,
                independent,
            };
        }
        match self {
            Self::Newton {
                iterations,
                residual,
                culprit,
            } => Error::NewtonDiverged {
                time,
                step,
                iterations,
                residual,
                culprit: culprit.name(system),
            },
            Self::NotFinite(culprit) => Error::Evaluation {
                time,
                culprit: culprit.name(system),
            },
            Self::Opened { row, by } => Error::NewtonDiverged {
                time,
                step,
                iterations: 0,
                residual: by / LEFT_OPEN,
                culprit: system.constraint_name(row),
            },
            // Only a step whose end may be moved is refused for this, and it is then moved.
            Self::Near => Error::NewtonDiverged {
                time,
                step,
                iterations: 0,
                residual: 0.0,
                culprit: String::new(),
            },
            Self::Singular(culprit) => Error::SingularMass {
                culprit: culprit.name(system),
            },
            Self::Fault(Fault::NotHere(code) | Fault::Stop(code)) => Error::Callback { time, code },
        }
    }
}
