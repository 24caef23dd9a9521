//! The equations in absolute coordinates.

use super::geometry::BodyInertia as _;
use super::{Absolute, MechanismGeometry, NamedConstraint};
use crate::formulation::force::ForceElement as _;
use crate::formulation::force::rigid_friction::share;
use crate::formulation::{
    ContactFriction, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, IntegralMemory, MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
    TangentialFriction,
};

impl<W: MechanismGeometry<N>, const N: usize> Absolute<W, N> {
    /// Generalised velocities of a body.
    pub(super) const BODY_DOF: usize = N / 2;

    /// The characteristic length L of the error norm (m).
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The group of constraints that constraint `i` belongs to.
    fn constraint_group(&self, i: usize) -> &NamedConstraint<W, N> {
        let after = self.constraints.partition_point(|group| group.first <= i);
        &self.constraints[after - 1]
    }

    /// out = M a of body b alone.
    pub(in crate::formulation) fn body_mass_times(
        &self,
        b: usize,
        cx: &EvaluationContext,
        a: &[f64],
        out: &mut [f64],
    ) {
        self.bodies[b].inertia.times(cx, a, out);
    }

    /// out = gravity and forces of elements: f without velocity-dependent inertia forces.
    pub(in crate::formulation) fn applied_force(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) {
        let g = self.gravity.get(cx);
        for (b, body) in self.bodies.iter().enumerate() {
            let m = body.inertia.mass(cx);
            let own = &mut out[Self::BODY_DOF * b..Self::BODY_DOF * (b + 1)];
            own.fill(0.0);
            for k in 0..W::DIMENSION {
                own[k] = m * g[k];
            }
        }
        self.forces.add_force(cx, &mut W::poses(q), v, out);
    }

    /// out = damping C + stiffness K of [`Absolute::applied_force`] and of the constraints, in the order of the sparsity.
    pub(in crate::formulation) fn applied_tangent(
        &self,
        cx: &EvaluationContext,
        at: (&[f64], &[f64]),
        lambda: &[f64],
        (damping, stiffness): (f64, f64),
        out: &mut [f64],
    ) {
        let (q, v) = at;
        out.fill(0.0);
        self.add_applied_tangent(cx, &mut W::poses(q), v, lambda, (damping, stiffness), out);
    }

    fn add_applied_tangent(
        &self,
        cx: &EvaluationContext,
        poses: &mut W::Poses<'_>,
        v: &[f64],
        lambda: &[f64],
        (damping, stiffness): (f64, f64),
        out: &mut [f64],
    ) {
        if stiffness != 0.0 {
            for NamedConstraint { part, first, .. } in &self.constraints {
                part.add_stiffness(cx, poses, &lambda[*first..], stiffness, out);
            }
        }
        self.forces
            .add_tangent(cx, poses, v, damping, stiffness, out);
        if damping != 0.0 || stiffness != 0.0 {
            (self.forces).add_constraint_friction_tangent(
                cx,
                poses,
                (v, lambda),
                damping,
                stiffness,
                out,
            );
        }
    }

    /// Whether forces of elements depend on velocities.
    pub(in crate::formulation) fn has_velocity_forces(&self) -> bool {
        self.forces.depends_on_rate() || self.forces.has_constraint_friction()
    }

    /// The entries of body b in a tangent vector.
    #[inline]
    pub(super) fn body_part<'a>(&self, b: usize, x: &'a [f64]) -> &'a [f64] {
        &x[Self::BODY_DOF * b..Self::BODY_DOF * (b + 1)]
    }

    /// out := out T(θ)⁻¹ in the columns of rotations.
    fn multiply_tangent_inverse(&self, theta: &[f64], out: &mut [f64]) {
        let (mut body, mut t) = (u32::MAX, [[0.0; 3]; 3]);
        for (b, slots) in &self.rotation_columns {
            if *b != body {
                body = *b;
                t = W::tangent_inverse(self.body_part(body as usize, theta));
            }
            let x = slots.map(|slot| out[slot as usize]);
            for j in 0..3 {
                out[slots[j] as usize] = x[0] * t[0][j] + x[1] * t[1][j] + x[2] * t[2][j];
            }
        }
    }
}

impl<W: MechanismGeometry<N>, const N: usize> System for Absolute<W, N> {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: W::STORED * self.bodies.len() + self.counted_angles.len(),
            nv: Self::BODY_DOF * self.bodies.len(),
            nc: self.constraint_count,
            ne: self.forces.event_counts().events,
            modes: self.forces.event_counts().modes,
            inputs: self.inputs,
            parameters: self.parameters,
            integrals: self.forces.event_counts().integrals,
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            rotations: W::HAS_ROTATIONS,
            velocity_forces: W::HAS_ROTATIONS || self.forces.depends_on_rate(),
            moving_constraints: self.constraints.iter().any(|group| group.part.is_moving()),
            does_work: self.forces.does_work(),
            linear: false,
            has_constraint_friction: self.forces.has_constraint_friction(),
            constraint_handling: Default::default(),
        }
    }

    fn sparsity(&self) -> Sparsity {
        self.sparsity.clone()
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        for (b, body) in self.bodies.iter().enumerate() {
            let range = Self::BODY_DOF * b..Self::BODY_DOF * (b + 1);
            body.inertia
                .times(cx, self.body_part(b, a), &mut out[range]);
        }
        self.coupled_masses.add_times(a, out);
        self.add_armature_times(q, &[(1.0, a)], out);
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.applied_force(cx, q, v, out);
        for (b, body) in self.bodies.iter().enumerate() {
            let own = &mut out[Self::BODY_DOF * b..Self::BODY_DOF * (b + 1)];
            body.inertia
                .add_gyroscopic_force(cx, self.body_part(b, v), own);
        }
        self.add_armature_force(q, v, out);
        Ok(())
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, a, lambda } = *at;
        let (damping, stiffness) = (weights.damping, weights.stiffness);
        out.fill(0.0);
        for (b, body) in self.bodies.iter().enumerate() {
            (body.inertia).add_tangent(cx, self.body_part(b, v), weights.mass, damping, out);
        }
        self.coupled_masses.add_tangent(weights.mass, out);
        self.add_armature_tangent((q, v), weights.mass, damping, out);
        let poses = &mut W::poses(q);
        // T⁻¹ multiplies the columns of mass and damping, not those of stiffness.
        let has_theta = W::HAS_ROTATIONS && !weights.theta.is_empty();
        if has_theta {
            self.forces.add_damping_tangent(cx, poses, v, damping, out);
            (self.forces).add_constraint_friction_tangent(
                cx,
                poses,
                (v, lambda),
                damping,
                0.0,
                out,
            );
            self.multiply_tangent_inverse(weights.theta, out);
        }
        let damping = if has_theta { 0.0 } else { damping };
        self.add_applied_tangent(cx, poses, v, lambda, (damping, stiffness), out);
        self.add_armature_stiffness((q, v, a), stiffness, out);
        Ok(())
    }

    fn constraint_friction(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        lambda: &[f64],
        out: &mut [f64],
    ) {
        self.forces
            .add_constraint_friction(cx, &mut W::poses(q), v, lambda, out);
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        let poses = &mut W::poses(q);
        for NamedConstraint { part, first, .. } in &self.constraints {
            part.constraint(cx, poses, &mut phi[*first..]);
        }
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let poses = &mut W::poses(q);
        let mut at = 0;
        for NamedConstraint { part, .. } in &self.constraints {
            at += part.jacobian(cx, poses, &mut out[at..]);
        }
    }

    fn constraint_and_jacobian(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        phi: &mut [f64],
        out: &mut [f64],
    ) {
        let poses = &mut W::poses(q);
        let mut at = 0;
        for NamedConstraint { part, first, .. } in &self.constraints {
            at += part.constraint_and_jacobian(cx, poses, &mut phi[*first..], &mut out[at..]);
        }
    }

    fn constraint_rate(&self, cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        for NamedConstraint { part, first, .. } in &self.constraints {
            part.constraint_rate(cx, &mut phi_t[*first..]);
        }
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let poses = &mut W::poses(q);
        for NamedConstraint { part, first, .. } in &self.constraints {
            part.acceleration_bias(cx, poses, v, &mut gamma[*first..]);
        }
    }

    fn is_velocity_constraint(&self, i: usize) -> bool {
        self.constraint_group(i).part.is_velocity()
    }

    fn constraint_scale(&self, i: usize) -> f64 {
        if self.constraint_group(i).part.is_angle() {
            1.0
        } else {
            self.length
        }
    }

    fn characteristic_length(&self, i: usize) -> f64 {
        if i % Self::BODY_DOF < W::DIMENSION {
            1.0
        } else {
            self.length
        }
    }

    /// Largest displacement of a body with mass, relative to the size of the bodies: max over b of max(|δr_b|/L, |δφ_b|/2). L is
    /// twice the largest lever arm in the mechanism, so that a rotation counts as the displacement it causes there.
    fn norm(&self, cx: &EvaluationContext, _q: &[f64], _scale: &[f64], e: &[f64]) -> f64 {
        let massless = !(self.bodies.iter()).any(|body| body.inertia.mass(cx) > 0.0);
        let mut largest = 0.0_f64;
        for (body, e) in self.bodies.iter().zip(e.chunks_exact(Self::BODY_DOF)) {
            if massless || body.inertia.mass(cx) > 0.0 {
                let (displacement, rotation) = e.split_at(W::DIMENSION);
                let [translation, rotation] =
                    [displacement, rotation].map(|e| e.iter().map(|x| x * x).sum::<f64>());
                let square = (translation / (self.length * self.length)).max(0.25 * rotation);
                // max() would drop NaN.
                if !(square <= largest) {
                    largest = square;
                }
                if square.is_nan() || translation.is_nan() || rotation.is_nan() {
                    return f64::NAN;
                }
            }
        }
        largest.sqrt()
    }

    /// max(|r|/L, |φ|/50, 1): positions far from the origin and angles of many turns have larger rounding errors. The integrator
    /// assumes some 20 ε; φ/50 scales this to the ε/2 of an angle, whose effect on points of the body is below L times that.
    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        let (mut distance, mut angle) = (0.0_f64, 0.0_f64);
        for q in q[..W::STORED * self.bodies.len()].chunks_exact(W::STORED) {
            for x in &q[..W::DIMENSION] {
                distance = distance.max(x.abs());
            }
            angle = angle.max(W::angle_magnitude(q));
        }
        (distance / self.length).max(angle / 50.0).max(1.0)
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let g = self.gravity.get(cx);
        let mut energy = Energy::default();
        let mut momentum = [0.0; N];
        for (b, body) in self.bodies.iter().enumerate() {
            let (r, v) = (&q[W::STORED * b..], self.body_part(b, v));
            body.inertia.times(cx, v, &mut momentum[..Self::BODY_DOF]);
            let m = body.inertia.mass(cx);
            for k in 0..Self::BODY_DOF {
                energy.kinetic += 0.5 * v[k] * momentum[k];
            }
            for k in 0..W::DIMENSION {
                energy.potential -= m * g[k] * r[k];
            }
        }
        energy.kinetic += self.coupled_masses.kinetic_energy(v);
        energy.kinetic += self.armature_energy(q, v);
        let poses = &mut W::poses(q);
        self.forces.add_energy(cx, poses, &mut energy);
        energy
    }

    /// Power of dampers and actuators; a driven mass, inertia or gravity also supplies energy.
    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        let (g, g_dot) = (self.gravity.get(cx), self.gravity.rate(cx));
        let mut power = Power::default();
        for (b, body) in self.bodies.iter().enumerate() {
            let (m, m_dot) = (body.inertia.mass(cx), body.inertia.mass_rate(cx));
            let (r, v) = (&q[W::STORED * b..], self.body_part(b, v));
            power.supplied += body.inertia.driven_power(cx, v);
            for k in 0..W::DIMENSION {
                power.supplied -= (m_dot * g[k] + m * g_dot[k]) * r[k];
            }
        }
        let poses = &mut W::poses(q);
        self.forces.add_power(cx, poses, v, &mut power);
        power
    }

    fn integrals(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [IntegralMemory]) {
        self.forces.integrals(cx, &mut W::poses(q), v, out);
    }

    fn integral_rates(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.forces.integral_rates(cx, &mut W::poses(q), v, out);
    }

    fn coordinate_name(&self, i: usize) -> String {
        let fields: &[&str] = match W::DIMENSION {
            2 => &["x", "y", "angle"],
            _ => &["x", "y", "z", "wx", "wy", "wz"],
        };
        let field = fields[i % Self::BODY_DOF];
        format!("{}.{field}", self.bodies[i / Self::BODY_DOF].name)
    }

    fn constraint_name(&self, i: usize) -> String {
        self.constraint_group(i).name.clone()
    }
}

impl<W: MechanismGeometry<N>, const N: usize> HybridSystem for Absolute<W, N> {
    fn active_constraints(&self, modes: &[i32], active: &mut [bool]) {
        active.fill(true);
        self.forces.active_constraints(modes, active);
    }

    fn modes_exist(&self, modes: &[i32]) -> bool {
        self.forces.modes_exist(modes)
    }

    fn initial_modes(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], modes: &mut [i32]) {
        self.forces.initial_modes(cx, &mut W::poses(q), v, modes);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        let poses = &mut W::poses(at.q);
        self.forces.event_functions(cx, poses, at, phi, rate);
        if self.forces.has_set_valued_friction() {
            let mut sticking = self.sticking.lock();
            sticking.clear();
            (self.forces)
                .sticking_contacts(cx, poses, at, 0, &mut |contact| sticking.push(contact));
            share(&sticking, phi);
        }
    }

    fn event_curvature(&self, cx: &EvaluationContext, at: &MotionPoint, bound: &mut [f64]) {
        self.forces
            .event_curvature(cx, &mut W::poses(at.q), at, bound);
    }

    fn far_side_is_due(&self) -> bool {
        true
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.forces.crossing(modes, i)
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        self.forces
            .handle_event(cx, &mut W::poses(at.q), at, i, modes, n)
    }

    fn tangential_direction(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        direction: usize,
        t: &mut [f64],
    ) -> Option<TangentialFriction> {
        self.forces
            .tangential_direction(cx, &mut W::poses(at.q), at, i, direction, t)
    }

    fn deactivate_unilateral(&self, modes: &mut [i32], gaps: &mut [bool]) {
        self.forces.deactivate_unilateral(modes, gaps);
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.forces.activate_unilateral(i, modes);
    }

    fn idle_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.forces.idle_unilateral(i, modes);
    }

    fn set_contact_friction(&self, i: usize, friction: ContactFriction, modes: &mut [i32]) {
        self.forces.set_contact_friction(i, friction, modes);
    }

    fn share_contact_forces(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        forces: &[(usize, [f64; 3])],
        modes: &mut [i32],
    ) {
        for (i, force) in forces {
            (self.forces).share_contact_force(*i, force, at.lambda, modes);
        }
    }

    fn event_name(&self, i: usize) -> String {
        self.forces.event_name(i).to_owned()
    }
}
