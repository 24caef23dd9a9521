//! The plain data of the interface: arguments, dimensions, properties and results.

use super::IntegralMemory;

/// Everything besides `q` and `v` that the equations depend on.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationContext<'a> {
    /// Time (s).
    pub t: f64,
    /// Inputs u(t).
    pub u: &'a [f64],
    /// Their first derivatives (1/s).
    pub u_dot: &'a [f64],
    /// Their second derivatives (1/s²).
    pub u_ddot: &'a [f64],
    /// Parameters.
    pub p: &'a [f64],
    /// Discrete modes. Only events change them, so that the equations are smooth within a step.
    pub modes: &'a [i32],
    /// Integrals at the start of the step; empty before the start of a run.
    pub integrals: &'a [IntegralMemory],
}

/// Dimensions of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimensions {
    /// Stored coordinates (a quaternion counts four).
    pub nq: usize,
    /// Generalised velocities (a rotation counts three).
    pub nv: usize,
    /// Constraints, active in the present modes or not.
    pub nc: usize,
    /// Event functions.
    pub ne: usize,
    /// Discrete modes.
    pub modes: usize,
    /// Inputs.
    pub inputs: usize,
    /// Parameters.
    pub parameters: usize,
    /// Integrals along the motion ([`IntegralMemory`]).
    pub integrals: usize,
}

/// Properties of the equations that save work in the integrator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Properties {
    /// Some coordinates are rotations: `retract` is not addition.
    pub rotations: bool,
    /// f depends on v.
    pub velocity_forces: bool,
    /// Φ depends on t or on inputs.
    pub moving_constraints: bool,
    /// Dampers or drives do work: `power` is not always zero.
    pub does_work: bool,
    /// M, C, K and G do not depend on q, v, t or λ: equal step sizes share one factorisation.
    pub linear: bool,
    /// Has Coulomb friction proportional to constraint forces; see [`super::System::constraint_friction`].
    pub has_constraint_friction: bool,
    /// How its constraints are enforced.
    pub constraint_handling: ConstraintHandling,
}

/// How constraints are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ConstraintHandling {
    /// Lagrange multipliers, with the least regularisation.
    #[default]
    Multipliers,
    /// Augmented Lagrangian: a penalty, and multiplier updates in every iteration.
    Augmented {
        /// Penalty of Φ in the equations of motion (N/m, N m/rad); `None` chooses it from masses and step size.
        penalty: Option<f64>,
    },
}

/// Sparsity of the blocks of the saddle-point matrix, as (row, column). Fixed for the life of a system. A pair may occur more
/// than once: its values are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparsity {
    /// Union of M, ∂f/∂v, ∂f/∂q, ∂(Gᵀλ)/∂q, ∂(M a)/∂q: `nv` x `nv`, both triangles.
    pub tangent: Vec<(u32, u32)>,
    /// G: `nc` x `nv`.
    pub jacobian: Vec<(u32, u32)>,
}

/// Weights of the blocks in the tangent matrix
/// `S = (mass M + damping C) T(Θ)⁻¹ + stiffness K`,  `C = −∂f/∂v`,  `K = ∂(M a − f + Gᵀλ)/∂q`.
///
/// `T` is the tangent operator of the exponential map, the identity for vector coordinates; `theta` is the displacement Θ of the
/// step.
#[derive(Clone, Copy, Debug)]
pub struct TangentWeights<'a> {
    /// Factor of M.
    pub mass: f64,
    /// Factor of C.
    pub damping: f64,
    /// Factor of K.
    pub stiffness: f64,
    /// Θ, `nv` long; empty means zero.
    pub theta: &'a [f64],
}

impl TangentWeights<'_> {
    /// The mass matrix alone.
    pub const MASS: TangentWeights<'static> = TangentWeights {
        mass: 1.0,
        damping: 0.0,
        stiffness: 0.0,
        theta: &[],
    };
}

/// A point of a motion: q, v, a and λ.
#[derive(Clone, Copy, Debug)]
pub struct MotionPoint<'a> {
    /// Stored coordinates.
    pub q: &'a [f64],
    /// Generalised velocities.
    pub v: &'a [f64],
    /// Generalised accelerations.
    pub a: &'a [f64],
    /// Multipliers.
    pub lambda: &'a [f64],
}

/// Reason why the equations could not be evaluated, with the number that a callback returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationFailure {
    /// Not defined at this point: the step is retried with a smaller step size.
    Recoverable(i32),
    /// The simulation stops.
    Fatal(i32),
}

/// Result of an evaluation.
pub type Evaluated = std::result::Result<(), EvaluationFailure>;

/// Mechanical energy (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// ½ vᵀ M v
    pub kinetic: f64,
    /// Of gravity and springs.
    pub potential: f64,
}

/// Power (W).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// Dissipated by dampers and friction, positive.
    pub dissipated: f64,
    /// Supplied by actuators and driven forces (the integrator adds the power of moving constraints).
    pub supplied: f64,
}

/// Zero crossings of an event function that trigger its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// Both.
    Either,
    /// None in these modes.
    Off,
}

/// Effect of an event on the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventEffect {
    /// Only the modes change.
    Mode,
    /// The modes change, and with them the law of a prescribed motion: the energy of a jump of its velocity counts as supplied.
    MotionLaw,
    /// An impact along the gradient `n` of φ that [`super::HybridSystem::handle_event`] wrote: φ̇⁺ = −restitution φ̇⁻ with
    /// φ̇ = n·v + φ_t, so that walls may move. Below the closing velocity `slowest` the impact is plastic and
    /// [`super::HybridSystem::activate_unilateral`] is called. Simultaneous impacts are solved together; touching contacts join when
    /// an impulse makes them close (docs/theory.md, events).
    Impulse {
        /// 0 .. 1
        restitution: f64,
        /// Smallest closing velocity with restitution, in the unit of φ̇.
        slowest: f64,
        /// Restitution by Poisson, of impulses, instead of velocities.
        poisson: bool,
    },
}

/// Coulomb friction of an impact in one tangential direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentialFriction {
    /// Coefficient μ: the tangential impulse is at most μ times the normal one, and not more than stops the slip.
    pub friction: f64,
    /// Contribution of the wall's prescribed motion to the slip velocity t·v + drift (m/s).
    pub drift: f64,
    /// Of set-valued friction.
    pub stick: Option<StickLimit>,
}

/// When a contact with set-valued friction sticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StickLimit {
    /// Coefficient of static friction: a contact sticks up to this multiple of the normal force.
    pub r#static: f64,
    /// Coefficient with which it begins to slip.
    pub kinetic: f64,
    /// Slip velocity below which it is at rest (m/s).
    pub rest_speed: f64,
    /// Index of its event of friction, counted from that of its gap.
    pub event: usize,
}

/// What is decided of the set-valued friction of a closed contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactFriction {
    /// It sticks. The tangential constraints that are active; the others follow from those of other contacts.
    Stick([bool; 2]),
    /// It slips.
    Slip {
        /// Unit vector along the tangential directions.
        direction: [f64; 2],
        /// Faster than its rest speed.
        moves: bool,
    },
}
