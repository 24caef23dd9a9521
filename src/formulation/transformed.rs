//! Systems obtained by a velocity transformation of an inner system. Events, impacts, energy and power are those of the inner system:
//!
//! ```text
//!   q_b = q_b(q),     v_b = J v,     a_b = J a + J̇ v,     n = Jᵀ n_b
//! ```

use super::{
    ContactFriction, Crossing, Energy, EvaluationContext, EventEffect, HybridSystem,
    IntegralMemory, MotionPoint, Power, System, TangentialFriction,
};

/// A velocity transformation v_b = J v to an inner system with the same modes and events. A type that has one is a [`HybridSystem`].
pub trait VelocityTransformation {
    /// The inner system.
    type Inner: System + ?Sized;

    /// Returns the inner system.
    fn inner(&self) -> &Self::Inner;

    /// Calls `evaluate` with q_b and v_b; none if q determines no inner configuration.
    fn with_velocities<R>(
        &self,
        q: &[f64],
        v: &[f64],
        evaluate: impl FnOnce(&[f64], &[f64]) -> R,
    ) -> Option<R>;

    /// Calls `evaluate` with the inner motion, all multipliers included, and a zero gradient n_b; then writes n = Jᵀ n_b. None if q
    /// determines no inner configuration. An empty `n` is not written.
    fn with_motion<R>(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        n: &mut [f64],
        evaluate: impl FnOnce(&MotionPoint, &mut [f64]) -> R,
    ) -> Option<R>;

    /// Sets which constraints of the reduced system are active.
    fn active(&self, modes: &[i32], active: &mut [bool]);

    /// Returns the energy of the inner system.
    fn inner_energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        self.with_velocities(q, v, |q, v| self.inner().energy(cx, q, v))
            .unwrap_or(Energy {
                kinetic: f64::NAN,
                potential: f64::NAN,
            })
    }

    /// Returns the power of the inner system.
    fn inner_power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        self.with_velocities(q, v, |q, v| self.inner().power(cx, q, v))
            .unwrap_or(Power {
                dissipated: f64::NAN,
                supplied: f64::NAN,
            })
    }

    /// Writes the integrals of the inner system.
    fn inner_integrals(
        &self,
        cx: &EvaluationContext,
        (q, v): (&[f64], &[f64]),
        out: &mut [IntegralMemory],
    ) {
        if !out.is_empty() {
            self.with_velocities(q, v, |q, v| self.inner().integrals(cx, q, v, out));
        }
    }

    /// Writes the time derivatives of the integrals of the inner system.
    fn inner_integral_rates(
        &self,
        cx: &EvaluationContext,
        (q, v): (&[f64], &[f64]),
        out: &mut [f64],
    ) {
        if !out.is_empty() {
            self.with_velocities(q, v, |q, v| self.inner().integral_rates(cx, q, v, out));
        }
    }
}

impl<T: VelocityTransformation> HybridSystem for T {
    fn initial_modes(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], modes: &mut [i32]) {
        self.with_velocities(q, v, |q, v| self.inner().initial_modes(cx, q, v, modes));
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        self.inner().modes_exist(modes)
    }

    fn active_constraints(&self, modes: &[i32], active: &mut [bool]) {
        self.active(modes, active);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        if phi.is_empty() {
            return;
        }
        let evaluated = self.with_motion(cx, at, &mut [], |motion, _| {
            self.inner().event_functions(cx, motion, phi, rate);
        });
        if evaluated.is_none() {
            phi.fill(f64::NAN);
            rate.fill(f64::NAN);
        }
    }

    fn event_curvature(&self, cx: &EvaluationContext, at: &MotionPoint, bound: &mut [f64]) {
        if bound.is_empty() {
            return;
        }
        let evaluated = self.with_motion(cx, at, &mut [], |motion, _| {
            self.inner().event_curvature(cx, motion, bound);
        });
        if evaluated.is_none() {
            bound.fill(f64::NAN);
        }
    }

    fn far_side_is_due(&self) -> bool {
        self.inner().far_side_is_due()
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.inner().crossing(modes, i)
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        let effect = self.with_motion(cx, at, n, |motion, gradient| {
            self.inner().handle_event(cx, motion, i, modes, gradient)
        });
        effect.unwrap_or_else(|| {
            n.fill(f64::NAN);
            EventEffect::Mode
        })
    }

    fn tangential_direction(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        direction: usize,
        t: &mut [f64],
    ) -> Option<TangentialFriction> {
        self.with_motion(cx, at, t, |motion, gradient| {
            self.inner()
                .tangential_direction(cx, motion, i, direction, gradient)
        })?
    }

    fn deactivate_unilateral(&self, modes: &mut [i32], gaps: &mut [bool]) {
        self.inner().deactivate_unilateral(modes, gaps);
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.inner().activate_unilateral(i, modes);
    }

    fn idle_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.inner().idle_unilateral(i, modes);
    }

    fn set_contact_friction(&self, i: usize, friction: ContactFriction, modes: &mut [i32]) {
        self.inner().set_contact_friction(i, friction, modes);
    }

    fn share_contact_forces(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        forces: &[(usize, [f64; 3])],
        modes: &mut [i32],
    ) {
        self.with_motion(cx, at, &mut [], |motion, _| {
            self.inner().share_contact_forces(cx, motion, forces, modes);
        });
    }

    fn event_name(&self, i: usize) -> String {
        self.inner().event_name(i)
    }
}
