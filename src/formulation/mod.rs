//! A mechanism as equations in chosen coordinates. Everything below this layer sees only [`System`]:
//!
//! ```text
//!   M(q) a + G(q, t)ᵀ λ = f(q, v, t, u, p),      Φ(q, t) = 0,      G = ∂Φ/∂q
//! ```
//!
//! with `q` the stored coordinates (quaternions included), `v` and `a` the rates and accelerations in the tangent
//! space, `u` the inputs, `p` the parameters. Derivatives "∂/∂q" are taken along the tangent: under q → q ∘ w.

pub mod absolute;
#[doc(hidden)]
pub mod derivative_check;
pub mod driven_value;
pub mod force;
pub mod function;
pub mod joint;
pub mod linear_system;
pub mod natural;
pub mod prescribed_motion;
pub mod relative;
pub mod selection;
pub mod topological;
pub mod user_system;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::model::{FormulationName, Model};

/// The formulation a model is solved in: its own, or what `auto` means for it. A system given by its matrices has its own
/// coordinates and stays `auto`.
pub fn resolved_formulation(model: &Model) -> FormulationName {
    match model.solver.formulation {
        FormulationName::Auto if model.system.is_none() => {
            selection::by_topology(model).formulation
        }
        other => other,
    }
}

/// The equations of a model in the coordinates it asks for: the one place that chooses.
pub fn build(model: &Model) -> Result<Box<dyn Mechanism>> {
    if let Some(system) = &model.system {
        return match model.solver.formulation {
            FormulationName::Auto => Ok(Box::new(linear_system::LinearSystem::new(model, system)?)),
            other => Err(Error::Argument {
                name: "solver.formulation".into(),
                value: format!("\"{}\"", other.name()),
                expected: "\"auto\": a system given by its matrices has its own coordinates".into(),
            }),
        };
    }
    match (resolved_formulation(model), model.dimension) {
        (FormulationName::Auto | FormulationName::Absolute, 2) => {
            Ok(Box::new(absolute::PlanarAbsolute::new(model)?))
        }
        (FormulationName::Auto | FormulationName::Absolute, _) => {
            Ok(Box::new(absolute::SpatialAbsolute::new(model)?))
        }
        (FormulationName::Relative | FormulationName::Hybrid, 2) => {
            Ok(Box::new(relative::PlanarRelative::new(model)?))
        }
        (FormulationName::Relative | FormulationName::Hybrid, _) => {
            Ok(Box::new(relative::SpatialRelative::new(model)?))
        }
        (FormulationName::Global, 2) => Ok(Box::new(natural::PlanarNatural::new(model)?)),
        (FormulationName::Global, _) => Ok(Box::new(natural::SpatialNatural::new(model)?)),
        (FormulationName::Topological, _) => topological::build(model),
    }
}

/// What the equations may depend on besides `q` and `v`.
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
    /// Discrete modes, changed only by events; fixed during a step, so that Newton never sees a jump.
    pub modes: &'a [i32],
}

/// The dimensions of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimensions {
    /// Stored coordinates (a quaternion counts four).
    pub nq: usize,
    /// Tangent coordinates (a rotation counts three).
    pub nv: usize,
    /// Constraint rows, also those that are not active in every mode.
    pub nc: usize,
    /// Event functions.
    pub ne: usize,
    /// Discrete modes.
    pub modes: usize,
    /// Inputs.
    pub inputs: usize,
    /// Parameters.
    pub parameters: usize,
}

/// What the integrator may leave out for this system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Some coordinates live on a group: `retract` is not addition.
    pub rotations: bool,
    /// f depends on v.
    pub velocity_forces: bool,
    /// Φ depends on t (or on inputs).
    pub moving_constraints: bool,
    /// Dampers or drives do work: `power` is not always zero.
    pub does_work: bool,
    /// M, C, K and G do not depend on q, v, t or λ: equal step sizes share one factorisation.
    pub linear: bool,
    /// Rows that press also rub: [`System::rub`] is not always zero.
    pub has_constraint_friction: bool,
}

/// Where the blocks of the saddle-point matrix may have entries, as (row, column). Fixed for the life of a system.
/// The same place may occur more than once: values at equal places are added.
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
/// `T` is the tangent of the exponential, the identity for vector coordinates; `theta` is the displacement Θ of the step.
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

/// A point of a motion: everything quantities are made of.
#[derive(Clone, Copy, Debug)]
pub struct MotionPoint<'a> {
    /// Stored coordinates.
    pub q: &'a [f64],
    /// Rates.
    pub v: &'a [f64],
    /// Accelerations.
    pub a: &'a [f64],
    /// Multipliers.
    pub lambda: &'a [f64],
}

/// Why an evaluation could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationFailure {
    /// Not here: a shorter step may stay where the equations exist. Carries the callback's answer.
    Recoverable(i32),
    /// Stop the simulation. Carries the callback's answer.
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

/// Rates of work (W).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// Taken out by dampers and friction, positive.
    pub dissipated: f64,
    /// Brought in by actuators and driven forces (moving constraints are added by the integrator).
    pub supplied: f64,
}

/// Which zero crossings of an event function count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// Both.
    Either,
    /// Not watched in this mode.
    Off,
}

/// What happens when an event fires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventEffect {
    /// Only the modes changed.
    Mode,
    /// A blow along the gradient `n` of φ that `System::fire` wrote: dφ/dt after = −restitution x dφ/dt before, with the
    /// rate of [`System::events`], n·v + φ_t, so that walls may move. If the approach is slower than `slowest` (in units of
    /// that rate) the blow is plastic and `System::hold` is called. Contacts that meet at one instant are struck together,
    /// those that touch take part when the blow reaches them (docs/theory.md, events).
    Impulse {
        /// 0 .. 1
        restitution: f64,
        /// Smallest |n·v| that still bounces.
        slowest: f64,
    },
}

/// Friction of a blow in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentialFriction {
    /// Coefficient μ: the tangential impulse is at most this part of the normal one, and as much as stops the slip.
    pub friction: f64,
    /// What the motion of the wall itself adds to the slip, t·v + drift (m/s).
    pub drift: f64,
}

/// Real numbers among the modes: what an event has to remember until another one (a stick point, a latched force) takes two
/// places there. So it is saved and restored with them, and only events change it.
pub mod latch {
    /// Places of a number.
    pub const PLACES: usize = 2;

    /// Writes `x` into the first two of `modes`.
    pub fn put(modes: &mut [i32], x: f64) {
        let bits = x.to_bits();
        modes[0] = ((bits >> 32) as u32).cast_signed();
        modes[1] = (bits as u32).cast_signed();
    }

    /// The number in the first two of `modes`; zero where nothing was put.
    pub fn get(modes: &[i32]) -> f64 {
        let [high, low] = [modes[0], modes[1]].map(|x| u64::from(x.cast_unsigned()));
        f64::from_bits(high << 32 | low)
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn what_is_put_is_there_to_the_bit() {
            let mut modes = [7; 4];
            for x in [
                0.0,
                -0.0,
                1.5,
                -3.7e-300,
                f64::INFINITY,
                f64::MIN_POSITIVE / 8.0,
            ] {
                super::put(&mut modes[1..], x);
                assert_eq!(super::get(&modes[1..]).to_bits(), x.to_bits());
            }
            assert_eq!((modes[0], modes[3], super::get(&[0, 0])), (7, 7, 0.0));
        }
    }
}

/// Second-order equations with constraints. Methods read `self` only; all that changes comes in as arguments.
///
/// Slices have the lengths of [`Size`]; outputs are overwritten completely.
pub trait System: Send + Sync {
    /// Dimensions, fixed for life.
    fn dimensions(&self) -> Dimensions;

    /// What the integrator may leave out.
    fn properties(&self) -> Properties;

    /// Where the matrices may have entries.
    fn sparsity(&self) -> Sparsity;

    /// The larger space in which the matrices are written, if they are. Then [`System::pattern`] is that of the lift.
    fn descriptor_form(&self) -> Option<Arc<dyn DescriptorForm>> {
        None
    }

    /// Another system with the same motion in which all rows are constraints, if some are held by coordinates here.
    fn full_constraints(&self) -> Option<&dyn FullConstraintSet> {
        None
    }

    // ---- the configuration space -------------------------------------------------------------------------------

    /// out = q ∘ w, renormalised where needed. Addition unless there are rotations.
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        for i in 0..q.len() {
            out[i] = q[i] + w[i];
        }
    }

    /// w with q0 ∘ w = q1.
    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        for i in 0..w.len() {
            w[i] = q1[i] - q0[i];
        }
    }

    /// Lie bracket [x, y]; zero for vector coordinates.
    fn bracket(&self, _x: &[f64], _y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// y := T(theta)⁻¹ y; nothing for vector coordinates.
    fn tangent_inverse(&self, _theta: &[f64], _y: &mut [f64]) {}

    /// Chooses other coordinates for the same position and rates where the present ones have become bad: rewrites `q` and `v` and
    /// answers true. Asked after every accepted step of a system that [`System::rechooses`].
    fn repartition(&self, _q: &mut [f64], _v: &mut [f64]) -> bool {
        false
    }

    /// Whether [`System::rechoose`] is worth asking.
    fn repartitions(&self) -> bool {
        false
    }

    /// How far the position is from one in which the coordinates say nothing: 0 there, 1 at best. Steps end elsewhere if they can.
    fn conditioning(&self, _q: &[f64]) -> f64 {
        1.0
    }

    /// Where the last [`System::retract`] or [`System::unseen`] had no answer (NaN) because coordinates do not follow from others any
    /// more: one that does not, and those from which it should.
    fn dependent_failure(&self) -> Option<(String, Vec<String>)> {
        None
    }

    // ---- the equations -----------------------------------------------------------------------------------------

    /// out = M(q) a
    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]);

    /// out = f(q, v, t, u, p), velocity-dependent inertia forces included.
    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated;

    /// Adds the forces that rows cause besides Gᵀλ, friction in proportion to what they press with: out += D(q, v) λ. They
    /// belong to f; C and K of [`System::tangent`] have them in. Only asked for where [`Character::rubs`].
    fn constraint_friction(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        _lambda: &[f64],
        _out: &mut [f64],
    ) {
    }

    /// Values of S = (mass M + damping C) T⁻¹ + stiffness K in the order of `Pattern::tangent`. Blocks of weight zero
    /// cost nothing.
    fn tangent(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        lambda: &[f64],
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated;

    /// phi = Φ(q, t)
    fn constraint(&self, _cx: &EvaluationContext, _q: &[f64], _phi: &mut [f64]) {}

    /// Values of G = ∂Φ/∂q in the order of `Pattern::jacobian`.
    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], _out: &mut [f64]) {}

    /// [`System::constraint`] and [`System::jacobian`] at one point, for systems where they share work.
    fn constraint_and_jacobian(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        phi: &mut [f64],
        out: &mut [f64],
    ) {
        self.constraint(cx, q, phi);
        self.jacobian(cx, q, out);
    }

    /// phi_t = ∂Φ/∂t, so that G v + Φ_t = 0 along a motion.
    fn constraint_rate(&self, _cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        phi_t.fill(0.0);
    }

    /// gamma = (G v)_q v + 2 G_t v + Φ_tt, so that G a + gamma = 0 along a motion.
    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        _gamma: &mut [f64],
    ) {
    }

    /// Which constraint rows hold in these modes.
    fn active_constraints(&self, _modes: &[i32], rows: &mut [bool]) {
        rows.fill(true);
    }

    /// The size against which the closure of a row is judged (a length for point rows, 1 for angle rows).
    fn constraint_scale(&self, _row: usize) -> f64 {
        1.0
    }

    // ---- error, energy, names ----------------------------------------------------------------------------------

    /// The error norm of a tangent displacement `e` at `q`. `scale` holds the largest |q_i| so far.
    fn norm(&self, _cx: &EvaluationContext, _q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        crate::linalg::norm::weighted_rms(e, scale)
    }

    /// Between two points of a motion, a step h apart: how far what follows from the coordinates, and is not integrated, is from the
    /// Hermite formula on its ends, in the error norm. Outputs between steps are exact there, work that is summed up is not. NaN
    /// where rates have jumped by more than `slack` (error norm, 1/s), so that this is not one motion. Asked of systems that [`System::rechooses`].
    fn dependent_defect(
        &self,
        _cx: &EvaluationContext,
        _ends: [&MotionPoint; 2],
        _h: f64,
        _slack: f64,
    ) -> f64 {
        0.0
    }

    /// How large the coordinates themselves are in the units of the norm, at least 1: rounding grows with it.
    fn coordinate_magnitude(&self, _q: &[f64]) -> f64 {
        1.0
    }

    /// The smallest scale of coordinate `i` in the default norm.
    fn weight(&self, _i: usize) -> f64 {
        1.0
    }

    /// How far a unit of coordinate `i` of the matrices moves things: with an angle it is a length, and masses and inertias
    /// can be compared.
    fn characteristic_length(&self, _i: usize) -> f64 {
        1.0
    }

    /// Kinetic and potential energy.
    fn energy(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64]) -> Energy {
        Energy::default()
    }

    /// Power of dampers and drives.
    fn power(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64]) -> Power {
        Power::default()
    }

    /// What a user calls tangent coordinate `i` (a body, a matrix row).
    fn coordinate_name(&self, i: usize) -> String {
        format!("q{}", i + 1)
    }

    /// What a user calls constraint row `i` (a joint).
    fn constraint_name(&self, i: usize) -> String {
        format!("lambda{}", i + 1)
    }

    // ---- events ------------------------------------------------------------------------------------------------

    /// The modes at the start.
    fn initial_modes(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64], modes: &mut [i32]) {
        modes.fill(0);
    }

    /// Event functions φ and their rates dφ/dt along the motion; a rate that is not known is NaN.
    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) {
    }

    /// Which crossings of event `i` count in these modes.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Either
    }

    /// Event `i` has been hit: change `modes`; for an impulse write the gradient of φ into `n`.
    fn handle_event(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        _i: usize,
        _modes: &mut [i32],
        _n: &mut [f64],
    ) -> EventEffect {
        EventEffect::Mode
    }

    /// Friction of the blow of event `i`: its tangential `direction` (0, then 1 in space) as a gradient `t` of the slip, or
    /// none.
    fn tangential_direction(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        _i: usize,
        _direction: usize,
        _t: &mut [f64],
    ) -> Option<TangentialFriction> {
        None
    }

    /// Lets go of what is held one-sidedly, because a blow decides anew about it; sets `gaps` at the event of each. What is then
    /// still together is held again by [`System::hold`].
    fn deactivate_unilateral(&self, _modes: &mut [i32], _gaps: &mut [bool]) {}

    /// What a user calls event `i`.
    fn event_name(&self, i: usize) -> String {
        format!("event{}", i + 1)
    }

    /// Event `i` bounces too slowly to go on bouncing: enter the mode that holds φ = 0 (usually a constraint row).
    fn activate_unilateral(&self, _i: usize, _modes: &mut [i32]) {}
}

/// The larger space in which a system's matrices are written: with J from its own tangent space there, S = Jᵀ S_b J, and its
/// rows are some of the rows there, the others being G_t with G_t J = 0. What J is at a point is a list of numbers, its
/// geometry. The values of [`System::tangent`] and [`System::jacobian`] of a lifted system are those of S_b and of all rows.
pub trait DescriptorForm: Send + Sync {
    /// Tangent coordinates and rows there.
    fn dimensions(&self) -> (usize, usize);

    /// Where S_b and all rows have entries.
    fn sparsity(&self) -> Sparsity;

    /// The row there of each own row, rising.
    fn constraint_rows(&self) -> &[u32];

    /// Numbers of a geometry.
    fn transformation_len(&self) -> usize;

    /// The geometry at q.
    fn transformation_at(&self, q: &[f64], geometry: &mut [f64]);

    /// y = J x
    fn velocity(&self, geometry: &[f64], x: &[f64], y: &mut [f64]);

    /// x = Jᵀ f; `f` is lost.
    fn generalised_force(&self, geometry: &[f64], f: &mut [f64], x: &mut [f64]);

    /// f with Jᵀ f = x.
    fn lift_force(&self, geometry: &[f64], x: &[f64], f: &mut [f64]);

    /// x with J x = y.
    fn reduce_velocity(&self, geometry: &[f64], y: &[f64], x: &mut [f64]);
}

/// The same motion in a system that has all rows as constraints, those that coordinates hold here too. Whether a row follows from
/// others is judged there, where rows are of the size of their joints (here one that follows from the tree alone is rounding);
/// and what joints carry is shared out among all of them.
pub trait FullConstraintSet: Send + Sync {
    /// That system, with the same inputs, parameters and modes.
    fn system(&self) -> &dyn System;

    /// The row there of each own row, rising.
    fn constraint_rows(&self) -> &[usize];

    /// Coordinates and rates there of those here.
    fn configuration(&self, at: (&[f64], &[f64]), q: &mut [f64], v: &mut [f64]);

    /// All multipliers there of a motion here. Only asked for where none is hidden.
    fn multipliers(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        lambda: &mut [f64],
    ) -> Evaluated {
        lambda.fill(f64::NAN);
        Ok(())
    }

    /// Whether multipliers of some rows cannot be had, so that what joints carry is known by [`Whole::load`] only. Then the
    /// rank is judged by the own rows.
    fn multipliers_hidden(&self) -> bool {
        false
    }

    /// The forces of all rows there, Gᵀλ, of a motion here. Only asked for where multipliers are hidden.
    fn constraint_forces(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        load: &mut [f64],
    ) -> Evaluated {
        load.fill(f64::NAN);
        Ok(())
    }
}

/// A system whose coordinates are read off the poses of bodies: its start is assembled there, where the model is written.
pub trait BodyAssembly: Send + Sync {
    /// The bodies in absolute coordinates.
    fn bodies(&self) -> &dyn Mechanism;

    /// Coordinates and rates of poses and rates of the bodies. The answer is the name of a joint that cannot be read off, if
    /// there is one.
    fn coordinates_from_bodies(
        &self,
        poses: &[f64],
        rates: &[f64],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Option<String>;
}

/// A system whose motion can be asked for by name.
pub trait Mechanism: System {
    /// Where the start is assembled, if not in the system's own coordinates.
    fn body_assembly(&self) -> Option<&dyn BodyAssembly> {
        None
    }

    /// The start pose as written, not yet assembled.
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]);

    /// Value of a quantity of a body, sensor, joint or force (NaN for those the component evaluates).
    fn evaluate(
        &self,
        cx: &EvaluationContext,
        quantity: crate::model::quantity::Quantity,
        at: &MotionPoint,
    ) -> f64;
}
