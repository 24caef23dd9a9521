//! The state of a run, its counters, and the results of a start and of a step.

use crate::error::Result;
use crate::formulation::system::{Dimensions, IntegralMemory, MotionPoint, System};
pub use crate::model::counters::Statistics;

/// Everything the future of a run depends on. Saving is a clone; [`State::copy_from`] restores without allocating.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// s
    pub t: f64,
    /// Stored coordinates.
    pub q: Vec<f64>,
    /// Generalised velocities.
    pub v: Vec<f64>,
    /// Accelerations at t.
    pub acc: Vec<f64>,
    /// Multipliers at t.
    pub lambda: Vec<f64>,
    /// Discrete modes.
    pub modes: Vec<i32>,
    /// Integrals along the motion at t.
    pub integrals: Vec<IntegralMemory>,
    /// Energy dissipated since the start (J).
    pub dissipated: f64,
    /// Energy supplied since the start (J).
    pub supplied: f64,
    /// Counters.
    pub statistics: Statistics,
    /// Algorithmic acceleration of HHT: the acceleration at t − α `h`.
    pub a: Vec<f64>,
    /// Jerk δ in the middle of the last step (at t after a restart).
    pub delta: Vec<f64>,
    /// Its derivative.
    pub delta_dot: Vec<f64>,
    /// dλ/dt, for prediction.
    pub lambda_dot: Vec<f64>,
    /// Exact jerk at t, for the corrector.
    pub jerk: Vec<f64>,
    /// `jerk` is valid.
    pub jerk_known: bool,
    /// Accelerations at the start of the last step ...
    pub previous_acc: Vec<f64>,
    /// ... and the jerk there.
    pub previous_jerk: Vec<f64>,
    /// Both are valid: the motion has been smooth since then.
    pub previous_known: bool,
    /// Last accepted step (s); zero after a restart.
    pub h: f64,
    /// Proposal for the next step (s).
    pub next_h: f64,
    /// The next step is the first after the start.
    pub first: bool,
    /// The next accepted step may propose a longer one; not after a rejected trial.
    pub may_grow: bool,
    /// Measured contraction of Newton's iteration; infinite if unknown.
    pub newton_contraction: f64,
    /// Steps that have relied on it since it was measured.
    pub contraction_uses: u32,
    /// Steps for which the corrector is still suspended because the system was found stiff.
    pub corrector_suspension: u32,
    /// Consecutive steps in which the system was found stiff.
    pub stiff_steps: u32,
    /// Steps for which the smooth path is still suspended because its passes did not contract.
    pub smooth_suspension: u32,
    /// Trials of the smooth path without contraction since the last step on it.
    pub smooth_failures: u32,
    /// Scale of the error norm: largest |q_i| so far, at least the weight of the coordinate.
    pub scale: Vec<f64>,
    /// Redundant constraints: they follow from the others and are not enforced.
    pub redundant: Vec<bool>,
    /// Linear systems: step size of the factorisation in use, zero if there is none; steps of equal size share it.
    pub factored_step: f64,
    /// Linear systems: M has been factorised; once is enough.
    pub factored_mass: bool,
    /// Typical smallest pivot of the scaled constraints in recent steps: a position with a far smaller one is near a singular
    /// one.
    pub typical_pivot: f64,
    /// Time in which the motion has been changing of late (s): the weight of velocity errors.
    pub motion_time: f64,
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

/// Passes the fields of a state by kind to a macro, in the order of a saved state. The one list of them: a field that is missing
/// here does not compile.
macro_rules! state_fields {
    ($use:ident) => {
        $use! {
            real: t dissipated supplied h next_h newton_contraction factored_step typical_pivot motion_time;
            count: contraction_uses corrector_suspension stiff_steps smooth_suspension smooth_failures event_streak;
            flag: jerk_known previous_known first may_grow factored_mass;
            reals: q v acc lambda a delta delta_dot lambda_dot jerk previous_acc previous_jerk scale;
            modes: modes;
            integrals: integrals;
            flags: redundant;
            effects: event_memory;
            sides: event_side;
            counters: statistics;
        }
    };
}
impl State {
    /// Position, velocity, acceleration and multipliers.
    pub(super) fn motion_point(&self) -> MotionPoint<'_> {
        MotionPoint {
            q: &self.q,
            v: &self.v,
            a: &self.acc,
            lambda: &self.lambda,
        }
    }

    /// All zero, with the lengths of a system, so that [`State::copy_from`] does not allocate.
    pub(crate) fn sized(size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        Self {
            q: vec![0.0; size.nq],
            v: v(),
            acc: v(),
            lambda: vec![0.0; size.nc],
            modes: vec![0; size.modes],
            integrals: vec![IntegralMemory::default(); size.integrals],
            a: v(),
            delta: v(),
            delta_dot: v(),
            lambda_dot: vec![0.0; size.nc],
            jerk: v(),
            previous_acc: v(),
            previous_jerk: v(),
            scale: v(),
            redundant: vec![false; size.nc],
            event_memory: vec![EventMemory::Nothing; size.ne],
            event_side: vec![EventSide::On; size.ne],
            ..Self::default()
        }
    }

    /// Clears the history of HHT, for a method that has none.
    pub(super) fn clear_history(&mut self) {
        for x in [&mut self.a, &mut self.delta, &mut self.delta_dot] {
            x.fill(0.0);
        }
        self.lambda_dot.fill(0.0);
        self.jerk.fill(0.0);
        self.jerk_known = false;
        self.forget_previous();
    }

    /// Restarts without history: the next step starts from the accelerations and the jerk of the state alone.
    pub(super) fn restart_history(&mut self) {
        self.jerk_known = true;
        self.delta.copy_from_slice(&self.jerk);
        self.delta_dot.fill(0.0);
        self.a.copy_from_slice(&self.acc);
        self.h = 0.0;
        self.newton_contraction = f64::INFINITY;
        self.contraction_uses = 0;
        self.forget_previous();
    }

    /// Forgets the start of the last step: the motion is not smooth from there on.
    pub(super) fn forget_previous(&mut self) {
        self.previous_known = false;
        self.previous_acc.fill(0.0);
        self.previous_jerk.fill(0.0);
        self.integrals
            .iter_mut()
            .for_each(IntegralMemory::forget_previous);
    }

    /// Copies another state; does not allocate if the lengths are the same.
    pub fn copy_from(&mut self, other: &State) {
        macro_rules! copy {
            ($($kind:ident: $($field:ident)*;)*) => {
                let Self { $($($field,)*)* } = self;
                $($($field.clone_from(&other.$field);)*)*
            };
        }
        state_fields!(copy);
    }

    /// Shows every field to a visitor, which may change it.
    pub fn visit<V: StateVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        macro_rules! show {
            ($($kind:ident: $($field:ident)*;)*) => {
                let Self { $($($field,)*)* } = self;
                $($(visitor.$kind($field)?;)*)*
            };
        }
        state_fields!(show);
        Ok(())
    }
}

/// What [`State::visit`] shows: one method for each kind of field. An error ends the visit.
pub trait StateVisitor {
    /// A number.
    fn real(&mut self, x: &mut f64) -> Result<()>;
    /// A number of steps or events.
    fn count(&mut self, x: &mut u32) -> Result<()>;
    /// Whether something holds.
    fn flag(&mut self, x: &mut bool) -> Result<()>;
    /// A vector.
    fn reals(&mut self, x: &mut Vec<f64>) -> Result<()>;
    /// Discrete modes.
    fn modes(&mut self, x: &mut Vec<i32>) -> Result<()>;
    /// Integrals along the motion.
    fn integrals(&mut self, x: &mut Vec<IntegralMemory>) -> Result<()>;
    /// Whether something holds, for each constraint.
    fn flags(&mut self, x: &mut Vec<bool>) -> Result<()>;
    /// Effects of events.
    fn effects(&mut self, x: &mut Vec<EventMemory>) -> Result<()>;
    /// Sides of event functions.
    fn sides(&mut self, x: &mut Vec<EventSide>) -> Result<()>;
    /// Counters.
    fn counters(&mut self, x: &mut Statistics) -> Result<()>;
}

/// How a step was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepPath {
    /// Without Newton iteration.
    Smooth,
    /// With the corrector of HHT.
    Corrected,
    /// Without a correction.
    Plain,
    /// By impulses, where contacts are too dense in time for events.
    TimeStepping,
}

impl Statistics {
    /// Counts an accepted step.
    pub(super) fn note_accepted(&mut self, h: f64, error: f64, path: StepPath) {
        self.steps += 1;
        *match path {
            StepPath::Smooth => &mut self.steps_smooth,
            StepPath::Corrected => &mut self.steps_corrected,
            StepPath::Plain => &mut self.steps_plain,
            StepPath::TimeStepping => &mut self.time_stepping,
        } += 1;
        self.step_size = h;
        self.smallest_step = self.smallest_step.min(h);
        self.largest_step = self.largest_step.max(h);
        self.error = error;
        self.worst_error = self.worst_error.max(error);
    }
}

/// Corrections made by the start, and the redundancy it found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartReport {
    /// Largest scaled constraint residual of the pose as given.
    pub closure_before: f64,
    /// Displacement of the assembly in the error norm.
    pub moved: f64,
    /// Change of the velocities in the error norm (1/s).
    pub velocity_changed: f64,
    /// Rank of the constraints: number of independent ones at the start.
    pub rank: usize,
    /// Names of redundant constraints (one possible set).
    pub redundant: Vec<String>,
    /// Names of bodies that the constraints leave no motion; not determined if constraints move.
    pub immovable: Vec<String>,
}

impl StartReport {
    /// Lists the redundant constraints by name, each name once, and subtracts their number from the rank.
    pub(super) fn set_redundant(&mut self, system: &dyn System, redundant: &[bool]) {
        self.rank -= redundant.iter().filter(|r| **r).count();
        self.redundant.clear();
        for row in (0..redundant.len()).filter(|&row| redundant[row]) {
            let name = system.constraint_name(row);
            // The constraints of a joint are adjacent.
            if self.redundant.last() != Some(&name) {
                self.redundant.push(name);
            }
        }
    }
}

/// An accepted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accepted {
    /// Size (s).
    pub h: f64,
    /// An event was handled at its end.
    pub event: bool,
}

/// What of a sample satisfies the constraints and the equations of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleLevel {
    /// Positions and velocities.
    Velocities,
    /// Accelerations and multipliers too.
    Accelerations,
}

/// A point between two accepted steps that satisfies the constraints, with consistent accelerations and multipliers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// s
    pub t: f64,
    /// Stored coordinates.
    pub q: Vec<f64>,
    /// Generalised velocities.
    pub v: Vec<f64>,
    /// Accelerations.
    pub acc: Vec<f64>,
    /// Multipliers.
    pub lambda: Vec<f64>,
    /// Energy dissipated since the start (J).
    pub dissipated: f64,
    /// Energy supplied since the start (J).
    pub supplied: f64,
}
