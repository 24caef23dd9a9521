//! The callbacks of a user-defined system and their arguments.

use crate::formulation::{Crossing, EvaluationContext, EventEffect, MotionPoint};

/// The callbacks of a user-defined system. Variants have the names of the functions in the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Callback {
    /// Values of M in the order of `Sparsity::tangent`.
    Mass,
    /// M(q) a
    MassTimes,
    /// f
    Force,
    /// ∂f/∂q in the order of `Sparsity::tangent`.
    ForceByQ,
    /// ∂f/∂v in the order of `Sparsity::tangent`.
    ForceByV,
    /// ∂(M a)/∂q in the order of `Sparsity::tangent`.
    InertiaByQ,
    /// ∂(Gᵀλ)/∂q in the order of `Sparsity::tangent`.
    ReactionByQ,
    /// Φ
    Constraint,
    /// G in the order of `Sparsity::jacobian`.
    Jacobian,
    /// Φ_t, the change with inputs included.
    ConstraintRate,
    /// (G v)_q v + 2 G_t v + Φ_tt
    Convective,
    /// Kinetic, potential.
    Energy,
    /// Dissipated, supplied.
    Power,
    Retract,
    Difference,
    Bracket,
    TangentInverse,
    Events,
    Crossing,
    Fire,
    Hold,
    Active,
    StartModes,
}

impl Callback {
    /// Name of the function in the C interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mass => "mass",
            Self::MassTimes => "mass_times",
            Self::Force => "force",
            Self::ForceByQ => "force_by_q",
            Self::ForceByV => "force_by_v",
            Self::InertiaByQ => "inertia_by_q",
            Self::ReactionByQ => "reaction_by_q",
            Self::Constraint => "constraint",
            Self::Jacobian => "jacobian",
            Self::ConstraintRate => "constraint_rate",
            Self::Convective => "convective",
            Self::Energy => "energy",
            Self::Power => "power",
            Self::Retract => "retract",
            Self::Difference => "difference",
            Self::Bracket => "bracket",
            Self::TangentInverse => "tangent_inverse",
            Self::Events => "events",
            Self::Crossing => "crossing",
            Self::Fire => "fire",
            Self::Hold => "hold",
            Self::Active => "active",
            Self::StartModes => "start_modes",
        }
    }
}

/// Arguments of a callback; slices on which it does not depend are empty.
#[derive(Clone, Copy, Debug)]
pub struct CallbackArguments<'a> {
    /// Time, inputs, parameters, modes.
    pub cx: &'a EvaluationContext<'a>,
    /// Stored coordinates.
    pub q: &'a [f64],
    /// Generalised velocities.
    pub v: &'a [f64],
    /// Generalised accelerations.
    pub a: &'a [f64],
    /// Multipliers.
    pub lambda: &'a [f64],
}

/// Return value of a callback: 0 success, positive recoverable (retried with a smaller step), negative fatal.
pub type CallbackResult = i32;

/// The callbacks of a user-defined system. Only those for which `has` returns true are called. Outputs are zero on entry (event
/// rates NaN).
pub trait UserEquations: Send + Sync {
    /// Whether this callback is given.
    fn has(&self, callback: Callback) -> bool;

    /// Evaluates one of the callbacks from [`Callback::Mass`] to [`Callback::Power`].
    fn evaluate(
        &self,
        callback: Callback,
        at: &CallbackArguments,
        out: &mut [f64],
    ) -> CallbackResult;

    /// Evaluates one of the callbacks from [`Callback::Retract`] to [`Callback::TangentInverse`], of (q, w), (q0, q1), (x, y) or
    /// (θ, y).
    fn group(
        &self,
        _callback: Callback,
        _x: &[f64],
        _y: &[f64],
        _out: &mut [f64],
    ) -> CallbackResult {
        0
    }

    /// Event functions φ and their time derivatives.
    fn events(
        &self,
        _at: &CallbackArguments,
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) -> CallbackResult {
        0
    }

    /// Crossings that trigger an event, or a negative return value.
    fn crossing(
        &self,
        _modes: &[i32],
        _event: usize,
    ) -> std::result::Result<Crossing, CallbackResult> {
        Ok(Crossing::Either)
    }

    /// Handles an event, or returns a negative value.
    fn fire(
        &self,
        _at: &CallbackArguments,
        _event: usize,
        _modes: &mut [i32],
        _n: &mut [f64],
    ) -> std::result::Result<EventEffect, CallbackResult> {
        Ok(EventEffect::Mode)
    }

    /// Enters the mode that keeps φ of an event at zero.
    fn hold(&self, _event: usize, _modes: &mut [i32]) -> CallbackResult {
        0
    }

    /// Sets for each constraint whether it is active; all are true on entry.
    fn active(&self, _modes: &[i32], _active: &mut [bool]) -> CallbackResult {
        0
    }

    /// The modes at the start.
    fn start_modes(&self, _at: &CallbackArguments, _modes: &mut [i32]) -> CallbackResult {
        0
    }
}

/// Properties that the user guarantees, which save work. All false is always correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserProperties {
    /// M does not depend on q.
    pub constant_mass: bool,
    /// f does not depend on v.
    pub no_velocity_forces: bool,
    /// Φ depends neither on t nor on inputs.
    pub fixed_constraints: bool,
    /// M, ∂f/∂q, ∂f/∂v and G are constant.
    pub linear: bool,
}

impl<'a> CallbackArguments<'a> {
    pub(super) fn of_q(cx: &'a EvaluationContext<'a>, q: &'a [f64]) -> Self {
        Self {
            cx,
            q,
            v: &[],
            a: &[],
            lambda: &[],
        }
    }

    pub(super) fn of_v(cx: &'a EvaluationContext<'a>, q: &'a [f64], v: &'a [f64]) -> Self {
        Self {
            v,
            ..Self::of_q(cx, q)
        }
    }

    pub(super) fn of_a(cx: &'a EvaluationContext<'a>, q: &'a [f64], a: &'a [f64]) -> Self {
        Self {
            a,
            ..Self::of_q(cx, q)
        }
    }

    pub(super) fn of(cx: &'a EvaluationContext<'a>, at: &MotionPoint<'a>) -> Self {
        Self {
            cx,
            q: at.q,
            v: at.v,
            a: at.a,
            lambda: at.lambda,
        }
    }
}
