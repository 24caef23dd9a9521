//! The interface between formulations and solvers: a mechanical system in some coordinates,
//!
//! ```text
//!   M(q) a + G(q, t)ᵀ λ = f(q, v, t, u, p) + D(q, v) λ,      Φ(q, t) = 0,      G = ∂Φ/∂q
//! ```
//!
//! with `q` the stored coordinates (quaternions included), `v` and `a` the generalised velocities and accelerations in the
//! tangent space, `u` the inputs, `p` the parameters. Derivatives ∂/∂q are taken along the tangent: under q → q ∘ w.
//!
//! [`System`] has the equations, [`ConfigurationSpace`] the group operation q ∘ w, [`HybridSystem`] the events. What only some
//! formulations have is optional: [`CoordinatePartitioning`], [`DescriptorForm`], [`FullConstraintSet`].

mod integral;
mod types;

use std::sync::Arc;

pub use integral::IntegralMemory;
pub use types::{
    ConstraintHandling, ContactFriction, Crossing, Dimensions, Energy, Evaluated,
    EvaluationContext, EvaluationFailure, EventEffect, MotionPoint, Power, Properties, Sparsity,
    StickLimit, TangentWeights, TangentialFriction,
};

/// The space of configurations: q ∘ w and its inverse. The defaults are those of a vector space.
pub trait ConfigurationSpace {
    /// out = q ∘ w, renormalised where needed.
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

    /// Lie bracket [x, y].
    fn bracket(&self, _x: &[f64], _y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// y := T(theta)⁻¹ y
    fn tangent_inverse(&self, _theta: &[f64], _y: &mut [f64]) {}
}

/// Modes and events. The defaults are those of a system without events.
pub trait HybridSystem {
    /// The modes at the start.
    fn initial_modes(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64], modes: &mut [i32]) {
        modes.fill(0);
    }

    /// Whether modes that were read from outside are modes of this system.
    fn modes_exist(&self, _modes: &[i32]) -> bool {
        true
    }

    /// Sets for each constraint whether it is active in these modes.
    fn active_constraints(&self, _modes: &[i32], active: &mut [bool]) {
        active.fill(true);
    }

    /// Event functions φ and their time derivatives along the motion; NaN where the derivative is unknown.
    fn event_functions(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        _phi: &mut [f64],
        _rate: &mut [f64],
    ) {
    }

    /// Bounds of |φ''| that hold for all motions with the speeds and accelerations at this point, whatever their directions; NaN
    /// where none is known. No crossing hides between two points of a step where these bounds exclude it.
    fn event_curvature(&self, _cx: &EvaluationContext, _at: &MotionPoint, bound: &mut [f64]) {
        bound.fill(f64::NAN);
    }

    /// Whether an event with a direction is due wherever φ is on its far side and goes on, as with contacts. Otherwise only a
    /// crossing counts.
    fn far_side_is_due(&self) -> bool {
        false
    }

    /// Crossings that trigger event `i` in these modes.
    fn crossing(&self, _modes: &[i32], _i: usize) -> Crossing {
        Crossing::Either
    }

    /// Handles event `i`: changes `modes`; for an impact writes the gradient of φ into `n`.
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

    /// Friction of the impact of event `i` along its tangential `direction` (0; 1 too in space), with the gradient of the slip
    /// velocity in `t`; 2 and 3 are the axes of its set-valued friction. `None` without friction.
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

    /// Deactivates all unilateral constraints before an impact is solved; flags their gap events in `gaps`. Those that stay
    /// closed are activated again by [`HybridSystem::activate_unilateral`].
    fn deactivate_unilateral(&self, _modes: &mut [i32], _gaps: &mut [bool]) {}

    /// Enters the mode that keeps φ of event `i` at zero, usually by a constraint: the impact was plastic.
    fn activate_unilateral(&self, _i: usize, _modes: &mut [i32]) {}

    /// Enters the mode in which the contact of event `i` touches without a force, held there by others. By default it is active, and
    /// may be redundant.
    fn idle_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.activate_unilateral(i, modes);
    }

    /// Enters the mode of set-valued friction of the active contact of event `i`.
    fn set_contact_friction(&self, _i: usize, _friction: ContactFriction, _modes: &mut [i32]) {}

    /// Keeps with the modes what contacts at rest carry, by event: normal force, and friction along their axes. Where the multipliers of
    /// redundant contacts are not unique, the limits of friction are those of these forces.
    fn share_contact_forces(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        _forces: &[(usize, [f64; 3])],
        _modes: &mut [i32],
    ) {
    }

    /// The user's name of event `i`.
    fn event_name(&self, i: usize) -> String {
        format!("event{}", i + 1)
    }
}

/// Second-order equations with constraints. Methods only read `self`; everything that changes is an argument.
///
/// Slices have the lengths of [`Dimensions`]; outputs are overwritten completely.
pub trait System: ConfigurationSpace + HybridSystem + Send + Sync {
    /// Dimensions, fixed for the life of the system.
    fn dimensions(&self) -> Dimensions;

    /// Properties that save work in the integrator.
    fn properties(&self) -> Properties;

    /// Sparsity of the matrices.
    fn sparsity(&self) -> Sparsity;

    /// Choice of independent coordinates, for systems in which the others depend on them.
    fn partitioning(&self) -> Option<&dyn CoordinatePartitioning> {
        None
    }

    /// Body coordinates in which the matrices are assembled, if they are. Then [`System::sparsity`] is that of these matrices.
    fn descriptor_form(&self) -> Option<Arc<dyn DescriptorForm>> {
        None
    }

    /// A system with the same motion and all joint constraints, if some are eliminated by coordinates here.
    fn full_constraints(&self) -> Option<&dyn FullConstraintSet> {
        None
    }

    // ---- equations of motion -----------------------------------------------------------------------------------

    /// out = M(q) a
    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]);

    /// out = f(q, v, t, u, p), velocity-dependent inertia forces included.
    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated;

    /// Adds friction forces proportional to constraint forces: out += D(q, v) λ. They belong to f; C and K of
    /// [`System::tangent`] include them. Called only if [`Properties::has_constraint_friction`].
    fn constraint_friction(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        _lambda: &[f64],
        _out: &mut [f64],
    ) {
    }

    /// Values of S = (mass M + damping C) T⁻¹ + stiffness K in the order of [`Sparsity::tangent`]. Blocks of weight zero
    /// cost nothing.
    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated;

    // ---- constraints -------------------------------------------------------------------------------------------

    /// phi = Φ(q, t)
    fn constraint(&self, _cx: &EvaluationContext, _q: &[f64], _phi: &mut [f64]) {}

    /// Values of G = ∂Φ/∂q in the order of [`Sparsity::jacobian`].
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

    /// Whether constraint `i` is one of velocities, G v = 0, without a function Φ: then Φ is zero everywhere.
    fn is_velocity_constraint(&self, _i: usize) -> bool {
        false
    }

    /// Scale of the residual of constraint `i` (a length for displacements, 1 for angles).
    fn constraint_scale(&self, _i: usize) -> f64 {
        1.0
    }

    /// Size of the smallest row of G, at most 1, relative to the size it has in the coordinates of free bodies. In joint
    /// coordinates a row vanishes where the mechanism cannot move against it: the position is singular although the other rows
    /// are independent.
    fn smallest_row(&self, _q: &[f64]) -> f64 {
        1.0
    }

    // ---- integrals along the motion ------------------------------------------------------------------------------

    /// Integrals at a point of the step that starts at `cx.integrals`: what a step that starts at this point needs to know of
    /// them. At the start of a run `cx.integrals` is empty.
    fn integrals(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        _out: &mut [IntegralMemory],
    ) {
    }

    /// Time derivatives of the integrals at a point.
    fn integral_rates(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64], _out: &mut [f64]) {}

    // ---- error norm, energy, names -----------------------------------------------------------------------------

    /// Error norm of a tangent displacement `e` at `q`. `scale` has the largest |q_i| so far.
    fn norm(&self, _cx: &EvaluationContext, _q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        crate::linalg::norm::weighted_rms(e, scale)
    }

    /// Magnitude of the coordinates in the unit of the norm, at least 1: rounding errors grow with it.
    fn coordinate_magnitude(&self, _q: &[f64]) -> f64 {
        1.0
    }

    /// Smallest scale of coordinate `i` in the default norm.
    fn weight(&self, _i: usize) -> f64 {
        1.0
    }

    /// Characteristic length of coordinate `i` of the matrices: makes angles comparable with displacements, and inertias with
    /// masses.
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

    /// The user's name of generalised velocity `i` (a body, a row of a matrix).
    fn coordinate_name(&self, i: usize) -> String {
        format!("q{}", i + 1)
    }

    /// The user's name of constraint `i` (a joint).
    fn constraint_name(&self, i: usize) -> String {
        format!("lambda{}", i + 1)
    }
}

/// Coordinate partitioning: q has the independent coordinates, the dependent ones follow from loop closure, J_d x_d = −J_i x_i.
pub trait CoordinatePartitioning {
    /// Chooses other independent coordinates for the same configuration and velocities if the present ones are badly
    /// conditioned: rewrites `q` and `v` and returns true. Called after every accepted step.
    fn repartition(&self, q: &mut [f64], v: &mut [f64]) -> bool;

    /// Conditioning of the dependent coordinates: 0 if J_d is singular, 1 at best. Step ends avoid small values.
    fn conditioning(&self, q: &[f64]) -> f64;

    /// A dependent coordinate that could not be computed and the independent ones, if the last
    /// [`ConfigurationSpace::retract`] or [`CoordinatePartitioning::dependent_defect`] failed (NaN) or J_d is nearly singular.
    fn dependent_failure(&self) -> Option<(String, Vec<String>)>;

    /// Hermite defect of the dependent coordinates over a step of size h, in the error norm. NaN if their velocities jump by more
    /// than `slack` (error norm, 1/s).
    ///
    /// Outputs between steps are exact in these coordinates, work that is integrated is not.
    fn dependent_defect(
        &self,
        cx: &EvaluationContext,
        ends: [&MotionPoint; 2],
        h: f64,
        slack: f64,
    ) -> f64;
}

/// Descriptor form: the matrices of a system assembled in body coordinates.
///
/// ```text
///   v_b = J v,      S = Jᵀ S_b J,      G_b = (G_o; G_t),   G = G_o J,   G_t J = 0
/// ```
///
/// G_t are constraints eliminated by the coordinates. J at a configuration is stored as a list of numbers, the transformation.
/// [`System::tangent`] and [`System::jacobian`] of a system with a descriptor form return the values of S_b and G_b.
pub trait DescriptorForm: Send + Sync {
    /// Number of body velocities and of constraints G_b.
    fn dimensions(&self) -> (usize, usize);

    /// Sparsity of S_b and G_b.
    fn sparsity(&self) -> Sparsity;

    /// Row in G_b of each constraint of the system, ascending.
    fn constraint_rows(&self) -> &[u32];

    /// Length of a stored transformation.
    fn transformation_len(&self) -> usize;

    /// Stores J at q.
    fn transformation_at(&self, q: &[f64], transformation: &mut [f64]);

    /// y = J x
    fn velocity(&self, transformation: &[f64], x: &[f64], y: &mut [f64]);

    /// x = Jᵀ f; overwrites `f`.
    fn generalised_force(&self, transformation: &[f64], f: &mut [f64], x: &mut [f64]);

    /// f with Jᵀ f = x.
    fn lift_force(&self, transformation: &[f64], x: &[f64], f: &mut [f64]);

    /// x with J x = y.
    fn reduce_velocity(&self, transformation: &[f64], y: &[f64], x: &mut [f64]);
}

/// Full constraint set: a system with the same motion and all joint constraints, those eliminated by coordinates too.
///
/// Redundancy is decided there, where the gradient of a constraint has the size of its joint (in the reduced system it may be
/// rounding error only), and reaction forces are distributed among all of them.
pub trait FullConstraintSet: Send + Sync {
    /// The system with all constraints; it has the same inputs, parameters and modes.
    fn system(&self) -> &dyn System;

    /// Index in the full set of each constraint of the reduced system, ascending.
    fn constraint_rows(&self) -> &[usize];

    /// Coordinates and velocities of the full system from those of the reduced one.
    fn configuration(&self, at: (&[f64], &[f64]), q: &mut [f64], v: &mut [f64]);

    /// Multipliers of all constraints. Called only if none is hidden.
    fn multipliers(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        lambda: &mut [f64],
    ) -> Evaluated {
        lambda.fill(f64::NAN);
        Ok(())
    }

    /// Whether some multipliers cannot be computed: reaction forces are then known only as
    /// [`FullConstraintSet::constraint_forces`], and redundancy is decided by the constraints of the reduced system.
    fn multipliers_hidden(&self) -> bool {
        false
    }

    /// Forces Gᵀλ of all constraints. Called only if multipliers are hidden.
    fn constraint_forces(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        force: &mut [f64],
    ) -> Evaluated {
        force.fill(f64::NAN);
        Ok(())
    }
}
