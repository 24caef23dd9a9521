//! What the future of a run depends on, and what is counted on the way.

use crate::formulation::system::Dimensions;
pub use crate::model::counters::Statistics;

/// Everything the future of a run depends on. Saving is a clone; [`State::copy_from`] restores without allocating.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// s
    pub t: f64,
    /// Stored coordinates.
    pub q: Vec<f64>,
    /// Rates.
    pub v: Vec<f64>,
    /// True accelerations at t.
    pub acc: Vec<f64>,
    /// Multipliers at t.
    pub lambda: Vec<f64>,
    /// Discrete modes.
    pub modes: Vec<i32>,
    /// Work taken out by dampers since start (J).
    pub dissipated: f64,
    /// Work brought in since start (J).
    pub supplied: f64,
    /// Counters.
    pub statistics: Statistics,
    /// Algorithmic acceleration, the true one at t − α `h`.
    pub a: Vec<f64>,
    /// Jerk δ in the middle of the last step (at t after a restart).
    pub delta: Vec<f64>,
    /// Its derivative.
    pub delta_dot: Vec<f64>,
    /// dλ/dt, for prediction.
    pub lambda_dot: Vec<f64>,
    /// Exact jerk at t, where the corrector needs it.
    pub jerk: Vec<f64>,
    /// `jerk` is valid.
    pub jerk_known: bool,
    /// Last accepted step (s); zero after a restart.
    pub h: f64,
    /// Proposal for the next step (s).
    pub next_h: f64,
    /// The next step is the first after the start.
    pub first: bool,
    /// The next accepted step may propose growth (not right after a rejection).
    pub may_grow: bool,
    /// Measured contraction of Newton's iteration, infinite if unknown.
    pub newton_contraction: f64,
    /// Steps accepted on the strength of `rate` since it was measured.
    pub rate_uses: u32,
    /// Steps for which the corrector rests because the system was found stiff.
    pub corrector_rest: u32,
    /// How often in a row it was found stiff.
    pub corrector_strikes: u32,
    /// Largest |q_i| so far, not below the weight.
    pub scale: Vec<f64>,
    /// Constraint rows that follow from the others and are left out.
    pub redundant: Vec<bool>,
    /// Linear systems: step size of the factorisation in use, zero if there is none; equal steps share it.
    pub factored_step: f64,
    /// Linear systems: M has been factorised, which is done once.
    pub factored_mass: bool,
    /// Smallest pivot of the scaled constraints where the motion has been of late: a place where it is far smaller is near a
    /// singular position.
    pub typical_pivot: f64,
    /// For each event: its effect at t.
    pub event_memory: Vec<EventMemory>,
    /// For each event: the side of φ = 0 at t, by which a jump of the inputs across it is detected.
    pub event_side: Vec<EventSide>,
    /// Consecutive events without progress in time.
    pub event_streak: u32,
}

/// The effect an event had at the time of the state. The numbers are part of a saved state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum EventMemory {
    /// None.
    #[default]
    Nothing = 0,
    /// It changed the modes.
    ModeChange = 1,
    /// It was an impact.
    Impact = 2,
}

impl EventMemory {
    /// The effect with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Nothing, Self::ModeChange, Self::Impact]
            .into_iter()
            .find(|x| *x as u8 == number)
    }
}

/// The side of φ = 0 on which an event function is. The numbers are part of a saved state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i8)]
pub enum EventSide {
    /// φ < 0
    Negative = -1,
    /// φ = 0, or not a number.
    #[default]
    On = 0,
    /// φ > 0
    Positive = 1,
    /// The event is handled before the next step.
    Due = 2,
}

impl EventSide {
    /// The side of `phi`.
    pub fn of(phi: f64) -> Self {
        if phi > 0.0 {
            Self::Positive
        } else if phi < 0.0 {
            Self::Negative
        } else {
            Self::On
        }
    }

    /// The side with this number.
    pub fn from_number(number: i8) -> Option<Self> {
        [Self::Negative, Self::On, Self::Positive, Self::Due]
            .into_iter()
            .find(|x| *x as i8 == number)
    }
}

impl State {
    /// All zero, with the lengths of a system, so that [`State::copy_from`] finds its space.
    pub(crate) fn sized(size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        Self {
            q: vec![0.0; size.nq],
            v: v(),
            acc: v(),
            lambda: vec![0.0; size.nc],
            modes: vec![0; size.modes],
            a: v(),
            delta: v(),
            delta_dot: v(),
            lambda_dot: vec![0.0; size.nc],
            jerk: v(),
            scale: v(),
            redundant: vec![false; size.nc],
            event_memory: vec![EventMemory::Nothing; size.ne],
            event_side: vec![EventSide::On; size.ne],
            ..Self::default()
        }
    }

    /// Without the memory of HHT, for a method that has none.
    pub(super) fn clear_history(&mut self) {
        for x in [&mut self.a, &mut self.delta, &mut self.delta_dot] {
            x.fill(0.0);
        }
        self.lambda_dot.fill(0.0);
        self.jerk.fill(0.0);
        self.jerk_known = false;
    }

    /// No history: the accelerations and the jerk of the state are all the next step starts from.
    pub(super) fn restart_history(&mut self) {
        self.jerk_known = true;
        self.delta.copy_from_slice(&self.jerk);
        self.delta_dot.fill(0.0);
        self.a.copy_from_slice(&self.acc);
        self.h = 0.0;
        self.newton_contraction = f64::INFINITY;
        self.rate_uses = 0;
    }

    /// Takes over another state without allocating (once the sizes have been met).
    pub fn copy_from(&mut self, other: &State) {
        let Self {
            t,
            q,
            v,
            acc,
            lambda,
            modes,
            dissipated,
            supplied,
            statistics,
            a,
            delta,
            delta_dot,
            lambda_dot,
            jerk,
            jerk_known,
            h,
            next_h,
            first,
            may_grow,
            newton_contraction: rate,
            rate_uses,
            corrector_rest,
            corrector_strikes,
            scale,
            redundant: dropped,
            factored_step,
            factored_mass,
            typical_pivot: usual_pivot,
            event_memory,
            event_side,
            event_streak,
        } = self;
        *t = other.t;
        q.clone_from(&other.q);
        v.clone_from(&other.v);
        acc.clone_from(&other.acc);
        lambda.clone_from(&other.lambda);
        modes.clone_from(&other.modes);
        *dissipated = other.dissipated;
        *supplied = other.supplied;
        *statistics = other.statistics;
        a.clone_from(&other.a);
        delta.clone_from(&other.delta);
        delta_dot.clone_from(&other.delta_dot);
        lambda_dot.clone_from(&other.lambda_dot);
        jerk.clone_from(&other.jerk);
        *jerk_known = other.jerk_known;
        *h = other.h;
        *next_h = other.next_h;
        *first = other.first;
        *may_grow = other.may_grow;
        *rate = other.newton_contraction;
        *rate_uses = other.rate_uses;
        *corrector_rest = other.corrector_rest;
        *corrector_strikes = other.corrector_strikes;
        scale.clone_from(&other.scale);
        dropped.clone_from(&other.redundant);
        *factored_step = other.factored_step;
        *factored_mass = other.factored_mass;
        *usual_pivot = other.typical_pivot;
        event_memory.clone_from(&other.event_memory);
        event_side.clone_from(&other.event_side);
        *event_streak = other.event_streak;
    }
}

impl Statistics {
    /// Counts an accepted step.
    pub(super) fn note_accepted(&mut self, h: f64, error: f64, corrected: bool) {
        self.steps += 1;
        self.corrected += u64::from(corrected);
        self.step_size = h;
        self.smallest_step = self.smallest_step.min(h);
        self.largest_step = self.largest_step.max(h);
        self.error = error;
        self.worst_error = self.worst_error.max(error);
    }
}

/// What the start had to change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartReport {
    /// Largest closure error of the pose as given, relative to its scale.
    pub closure_before: f64,
    /// Displacement of the assembly in the error norm.
    pub moved: f64,
    /// Change of the velocities in the error norm (1/s).
    pub velocity_changed: f64,
    /// Rank of the constraints: rows that are independent at the start.
    pub rank: usize,
    /// Names of constraints that follow from the others (one possible set).
    pub redundant: Vec<String>,
    /// Names of bodies that the constraints hold fast; not looked for where constraints move.
    pub immovable: Vec<String>,
}

/// An accepted substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accepted {
    /// Size (s).
    pub h: f64,
    /// An event fired at its end.
    pub event: bool,
}

/// A point between two accepted steps, on the constraints, with its own accelerations and multipliers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// s
    pub t: f64,
    /// Stored coordinates.
    pub q: Vec<f64>,
    /// Rates.
    pub v: Vec<f64>,
    /// Accelerations.
    pub acc: Vec<f64>,
    /// Multipliers.
    pub lambda: Vec<f64>,
    /// Work taken out since start (J).
    pub dissipated: f64,
    /// Work brought in since start (J).
    pub supplied: f64,
}
