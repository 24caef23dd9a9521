//! Absolute coordinates: every body by its centre of mass and its orientation, joints as constraints.
//!
//! ```text
//!   M a + Gᵀ λ = f,      Φ(q, t) = 0,      M constant
//! ```
//!
//! Written once for the plane ([`Planar`]: x, y, angle) and for space ([`Spatial`]: position and unit quaternion, rates in
//! body axes) over what a [`World`] is. Coordinates follow the bodies in their order, behind them in space the counted angles
//! of joints; constraint rows follow joints, motions and prescribed bodies. Points written in a body frame are kept as seen
//! from the centre of mass.

pub mod characteristic_length;
pub mod constraint;
pub mod geometry;
pub mod planar;
mod quantity;
pub mod sparsity;
pub mod spatial;

use super::driven_value::DrivenValues;
use super::force::{self, ForceElement as _, ForceGeometry, gravity::Gravity, group::ForceGroup};
use super::joint::{self, JointEquations};
use super::prescribed_motion::PrescribedMotion;
use super::{
    ConfigurationSpace, Crossing, Dimensions, Energy, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
    TangentialFriction,
};
use crate::error::{Error, Result};
use crate::model::{BodyRef, JointPlacement, Model, PrescribedCoordinate};
use constraint::ConstraintPart;
use geometry::{BodyInertia as _, Geometry, RelativeCoordinate as _};
use planar::PlanarGeometry;
use sparsity::{SparsityBuilder, gather};
use spatial::SpatialGeometry;

/// A world in which whole mechanisms can be built.
pub trait MechanismGeometry<const N: usize>: joint::JointGeometry<N> + ForceGeometry<N> {}
impl MechanismGeometry<6> for PlanarGeometry {}
impl MechanismGeometry<12> for SpatialGeometry {}

/// A mechanism of the plane in absolute coordinates.
pub type PlanarAbsolute = Absolute<PlanarGeometry, 6>;
/// A mechanism of space in absolute coordinates.
pub type SpatialAbsolute = Absolute<SpatialGeometry, 12>;

/// Part of the characteristic length below which two points are in one place.
const COINCIDENT: f64 = 1e-12;

/// A body's numbers.
#[derive(Clone, Debug)]
pub(in crate::formulation) struct AbsoluteBody<W: Geometry<N>, const N: usize> {
    pub name: String,
    inertia: W::Inertia,
    /// The frame's origin, whose motion is the body's as a user sees it.
    origin: W::BodyPoint,
}

/// Rows with their owner's name; where they begin.
#[derive(Clone, Debug)]
pub(in crate::formulation) struct NamedConstraint<W: Geometry<N>, const N: usize> {
    pub part: ConstraintPart<W, N>,
    pub first: usize,
    pub name: String,
}

/// A mechanism in absolute coordinates.
#[derive(Clone, Debug)]
pub struct Absolute<W: Geometry<N>, const N: usize> {
    pub(in crate::formulation) bodies: Vec<AbsoluteBody<W, N>>,
    pub(in crate::formulation) joints: Vec<JointEquations<W, N>>,
    /// The part of each motion among the rows.
    motions: Vec<usize>,
    pub(in crate::formulation) constraints: Vec<NamedConstraint<W, N>>,
    /// Number of constraint rows.
    constraint_count: usize,
    /// The forces of the model, behind them friction and end stops of its joints.
    forces: ForceGroup<W, N>,
    /// Joint, coordinate, friction or stops, of those behind the forces of the model.
    joint_forces: Vec<(usize, usize, bool)>,
    sensors: Vec<W::BodyPoint>,
    gravity: Gravity,
    pub(in crate::formulation) length: f64,
    inputs: usize,
    parameters: usize,
    pub(in crate::formulation) sparsity: Sparsity,
    /// Body and slots of every three columns that belong to one rotation.
    rotation_columns: Vec<(u32, [u32; 3])>,
    /// Angles whose turns are counted, in the order of their stored coordinates.
    pub(in crate::formulation) counted_angles: Vec<W::RelativeCoordinate>,
    pub(in crate::formulation) initial: (Vec<f64>, Vec<f64>),
}

/// Hands out stored coordinates for angles whose turns are to be counted.
#[derive(Debug, Default)]
pub struct TurnCounters {
    first: usize,
    /// A value within half a turn of each angle at the start.
    initial: Vec<f64>,
}

impl TurnCounters {
    /// One more, for an angle that begins near this value.
    pub fn allocate(&mut self, near: f64) -> Option<usize> {
        self.initial.push(near);
        Some(self.first + self.initial.len() - 1)
    }
}

impl<W: Geometry<N>, const N: usize> AbsoluteBody<W, N> {
    /// Mass and inertia.
    pub(in crate::formulation) fn inertia(&self) -> &W::Inertia {
        &self.inertia
    }
}

impl<W: MechanismGeometry<N>, const N: usize> Absolute<W, N> {
    /// Tangent coordinates of a body.
    const BODY_DOF: usize = N / 2;

    /// The equations of a model of this dimension.
    pub fn new(model: &Model) -> Result<Self> {
        if model.dimension != W::DIMENSION {
            return Err(Error::Argument {
                name: "dimension".into(),
                value: model.dimension.to_string(),
                expected: format!("{} for these coordinates", W::DIMENSION),
            });
        }
        let values = DrivenValues::new(model)?;
        let (mut q, v) = start::<W, N>(model)?;
        let length = match model.solver.length {
            Some(length) if length > 0.0 && length.is_finite() => length,
            Some(length) => {
                return Err(Error::Argument {
                    name: "solver.length".into(),
                    value: length.to_string(),
                    expected: "a positive length in metres".into(),
                });
            }
            None => size::<W, N>(model, &q),
        };
        let tiny = COINCIDENT * length;

        let mut slots = if W::HAS_ROTATIONS {
            SparsityBuilder::with_rotation_triples()
        } else {
            SparsityBuilder::default()
        };
        let bodies = (0..model.bodies.len())
            .map(|b| {
                Ok(AbsoluteBody {
                    name: model.bodies[b].name.clone(),
                    inertia: W::Inertia::new(model, b, &values, &mut slots)?,
                    origin: W::point(model, Some(b), [0.0; 3]),
                })
            })
            .collect::<Result<Vec<AbsoluteBody<W, N>>>>()?;

        let mut counters = TurnCounters {
            first: q.len(),
            initial: vec![],
        };
        let mut joints: Vec<JointEquations<W, N>> = Vec::with_capacity(model.joints.len());
        let mut parts: Vec<(ConstraintPart<W, N>, String)> = Vec::new();
        for written in &model.joints {
            let (mut joint, own) =
                joint::build::<W, N>(model, written, &q, tiny, &mut counters, &mut slots)?;
            joint.constraints = parts.len()..parts.len() + own.len();
            joints.push(joint);
            parts.extend(own.into_iter().map(|part| (part, written.name.clone())));
        }
        let of_bodies: Vec<Option<W::RelativeCoordinate>> = (model.motions.iter())
            .map(|motion| match motion.on {
                PrescribedCoordinate::Body(b, coordinate) => Some(W::body_coordinate(
                    model,
                    b,
                    coordinate,
                    motion.axis,
                    &q,
                    &mut counters,
                )),
                PrescribedCoordinate::Joint(_) => None,
            })
            .collect();
        q.extend_from_slice(&counters.initial);
        let of_joints = joints.iter().flat_map(|joint| &joint.coordinates);
        let counted: Vec<W::RelativeCoordinate> = of_joints
            .chain(of_bodies.iter().flatten())
            .filter(|measure| measure.turn_counter().is_some())
            .cloned()
            .collect();
        for (k, measure) in counted.iter().enumerate() {
            debug_assert_eq!(measure.turn_counter(), Some(counters.first + k));
            q[counters.first + k] = joint::initial_value::<W, N>(measure, &q);
        }
        for (k, written) in model.joints.iter().enumerate() {
            if let Some(coupling) = &written.coupling {
                let part = joint::coupling::part(model, k, coupling, &joints, &q, &mut slots)?;
                // Its load is reported as that on the second joint's body.
                let second = coupling.coordinates[1].joint;
                joints[k].bodies = joints[second].bodies;
                joints[k].point = joints[second].point;
                joints[k].constraints = parts.len()..parts.len() + 1;
                parts.push((part, written.name.clone()));
            }
        }
        let mut motions = Vec::with_capacity(model.motions.len());
        for (k, motion) in model.motions.iter().enumerate() {
            motions.push(parts.len());
            let measure = match motion.on {
                PrescribedCoordinate::Joint(c) => {
                    joint::coordinate(model, &joints, c, &motion.name)?
                }
                PrescribedCoordinate::Body(..) => {
                    of_bodies[k].clone().expect("made above for every body")
                }
            };
            let (begin, g) = measure.value(&mut W::poses(&q));
            let rate = gather(measure.bodies(), &g, &v);
            let course = PrescribedMotion::new(model, k, &values, begin, rate);
            let part = ConstraintPart::prescribed(measure, course, &mut slots);
            parts.push((part, motion.name.clone()));
        }
        for (b, body) in model
            .bodies
            .iter()
            .enumerate()
            .filter(|(_, body)| body.prescribed)
        {
            for part in joint::prescribed::undriven_coordinates::<W, N>(model, b, &q, &mut slots) {
                parts.push((part, body.name.clone()));
            }
        }

        let scene = force::ForceBuildContext {
            model,
            values: &values,
            joints: &joints,
            q: &q,
            length,
            coincidence_distance: tiny,
        };
        let mut held = force::ConstraintList::new(&mut parts);
        let mut forces = ForceGroup::default();
        for (k, written) in model.forces.iter().enumerate() {
            let element = force::build(&scene, k, &mut held, &mut slots)?;
            forces.push(element, &written.name);
        }
        let mut in_joints = Vec::new();
        for (k, written) in model.joints.iter().enumerate() {
            let own = force::joint_forces(&scene, k, &mut held, &mut slots)?;
            for force in own {
                in_joints.push((k, force.coordinate, force.is_friction));
                forces.push(force.element, &written.name);
            }
        }

        let mut height = 0;
        let mut jacobian = Vec::new();
        let rows = (parts.into_iter())
            .map(|(part, name)| {
                let first = height;
                part.sparsity(&mut |i, j| jacobian.push(((first + i) as u32, j as u32)));
                height += part.count();
                NamedConstraint { part, first, name }
            })
            .collect();
        Ok(Self {
            bodies,
            joints,
            motions,
            constraints: rows,
            constraint_count: height,
            forces,
            joint_forces: in_joints,
            sensors: (model.sensors.iter())
                .map(|s| W::point(model, s.body, s.point))
                .collect(),
            gravity: Gravity::new(model, &values),
            length,
            inputs: model.inputs.len(),
            parameters: model.parameters.len(),
            rotation_columns: slots.rotation_columns(Self::BODY_DOF),
            sparsity: Sparsity {
                tangent: slots.entries(),
                jacobian,
            },
            counted_angles: counted,
            initial: (q, v),
        })
    }

    /// The characteristic length L of the error norm (m).
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The owner of a constraint row.
    fn owner(&self, row: usize) -> &NamedConstraint<W, N> {
        let after = self.constraints.partition_point(|rows| rows.first <= row);
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

    /// Brings the counted angles of the poses `after` next to those of the poses `before`, which are less than half a turn
    /// away.
    pub(in crate::formulation) fn update_turn_counters(&self, before: &[f64], after: &mut [f64]) {
        let first = W::STORED * self.bodies.len();
        let (bodies, counters) = after.split_at_mut(first);
        let poses = &mut W::poses(bodies);
        for (k, measure) in self.counted_angles.iter().enumerate() {
            counters[k] = measure.value_near(poses, before[first + k]);
        }
    }

    /// Gravity and the forces of elements: f without velocity-dependent inertia forces.
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

    /// damping C + stiffness K of [`Absolute::applied`] and of the rows, in the places of the pattern.
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
                part.add_stiffness(poses, &lambda[*first..], stiffness, out);
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

    /// Whether forces of elements depend on rates.
    pub(in crate::formulation) fn has_velocity_forces(&self) -> bool {
        self.forces.depends_on_rate() || self.forces.has_constraint_friction()
    }

    /// Body b's part of a tangent vector.
    #[inline]
    fn body_part<'a>(&self, b: usize, x: &'a [f64]) -> &'a [f64] {
        &x[Self::BODY_DOF * b..Self::BODY_DOF * (b + 1)]
    }

    /// out := out T(θ)⁻¹, column blocks of rotations.
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

/// Start pose and rates of the centres of mass.
fn start<W: Geometry<N>, const N: usize>(model: &Model) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = model.bodies.len();
    let (mut q, mut v) = (vec![0.0; W::STORED * n], vec![0.0; N / 2 * n]);
    for (b, body) in model.bodies.iter().enumerate() {
        let own_q = &mut q[W::STORED * b..W::STORED * (b + 1)];
        let own_v = &mut v[N / 2 * b..N / 2 * (b + 1)];
        W::initial_state(body, own_q, own_v);
        let numbers = own_q.iter().chain(&*own_v).chain(&body.inertia);
        let diagonal = &body.inertia[..3];
        if !numbers.chain([&body.mass]).all(|x| x.is_finite())
            || body.mass < 0.0
            || diagonal.iter().any(|x| *x < 0.0)
        {
            return Err(Error::Model {
                origin: model.origin.clone(),
                line: body.place.line,
                column: body.place.column,
                message: format!(
                    "body \"{}\" needs a finite pose and a mass and inertia that are not negative",
                    body.name
                ),
            });
        }
    }
    Ok((q, v))
}

/// The characteristic length of the start pose.
fn size<W: Geometry<N>, const N: usize>(model: &Model, q: &[f64]) -> f64 {
    let poses = &mut W::poses(q);
    let mut on = |body: BodyRef, at: [f64; 3]| W::position(poses, &W::point(model, body, at));
    let mut joints = Vec::new();
    for joint in &model.joints {
        match &joint.frame {
            JointPlacement::None => {}
            JointPlacement::InitialPose(frame) => joints.push(frame.point),
            JointPlacement::BodyFrames(frames) => {
                joints.extend([0, 1].map(|k| on(joint.bodies[k], frames[k].point)));
            }
        }
    }
    let centers: Vec<[f64; 3]> = (model.bodies.iter().enumerate())
        .map(|(b, body)| on(Some(b), body.center_of_mass))
        .collect();
    let mut forces = Vec::new();
    for force in &model.forces {
        if let Some((bodies, points)) = force.on.points() {
            forces.extend([0, 1].map(|k| on(bodies[k], points[k])));
        }
    }
    characteristic_length::characteristic(&joints, &centers, &forces)
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
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            rotations: W::HAS_ROTATIONS,
            velocity_forces: W::HAS_ROTATIONS || self.forces.depends_on_rate(),
            moving_constraints: self.constraints.iter().any(|row| row.part.is_moving()),
            does_work: self.forces.does_work(),
            linear: false,
            has_constraint_friction: self.forces.has_constraint_friction(),
            constraint_handling: Default::default(),
        }
    }

    fn sparsity(&self) -> Sparsity {
        self.sparsity.clone()
    }

    fn mass_times(&self, cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        for (b, body) in self.bodies.iter().enumerate() {
            let own = Self::BODY_DOF * b..Self::BODY_DOF * (b + 1);
            body.inertia.times(cx, self.body_part(b, a), &mut out[own]);
        }
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.applied_force(cx, q, v, out);
        for (b, body) in self.bodies.iter().enumerate() {
            let own = &mut out[Self::BODY_DOF * b..Self::BODY_DOF * (b + 1)];
            body.inertia
                .add_gyroscopic_force(cx, self.body_part(b, v), own);
        }
        Ok(())
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, lambda, .. } = *at;
        let (damping, stiffness) = (weights.damping, weights.stiffness);
        out.fill(0.0);
        for (b, body) in self.bodies.iter().enumerate() {
            (body.inertia).add_tangent(cx, self.body_part(b, v), weights.mass, damping, out);
        }
        let poses = &mut W::poses(q);
        // Mass and damping act on rates, which T⁻¹ turns; stiffness does not.
        let turned = W::HAS_ROTATIONS && !weights.theta.is_empty();
        if turned {
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
        let damping = if turned { 0.0 } else { damping };
        self.add_applied_tangent(cx, poses, v, lambda, (damping, stiffness), out);
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

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let poses = &mut W::poses(q);
        let mut at = 0;
        for NamedConstraint { part, .. } in &self.constraints {
            at += part.jacobian(poses, &mut out[at..]);
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

    fn constraint_scale(&self, row: usize) -> f64 {
        if self.owner(row).part.is_angle() {
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

    /// sqrt of the mean over bodies with mass of e_bᵀ M_b e_b / m_b / L². Where no body has mass (flywheels on pins), all
    /// bodies count and L stands for the radius of gyration.
    fn norm(&self, cx: &EvaluationContext, _q: &[f64], _scale: &[f64], e: &[f64]) -> f64 {
        let (mut sum, mut count) = (0.0, 0u32);
        let mut times = [0.0; N];
        for (b, body) in self.bodies.iter().enumerate() {
            let m = body.inertia.mass(cx);
            if m > 0.0 {
                let e = self.body_part(b, e);
                body.inertia.times(cx, e, &mut times[..Self::BODY_DOF]);
                let mut square = 0.0;
                for k in 0..Self::BODY_DOF {
                    square += e[k] * times[k];
                }
                sum += square / m;
                count += 1;
            }
        }
        if count == 0 {
            let squared = self.length * self.length;
            for e in e.chunks_exact(Self::BODY_DOF) {
                let (far, turned) = e.split_at(W::DIMENSION);
                sum += far.iter().map(|x| x * x).sum::<f64>();
                sum += squared * turned.iter().map(|x| x * x).sum::<f64>();
                count += 1;
            }
        }
        (sum / f64::from(count.max(1))).sqrt() / self.length
    }

    /// Positions far from the origin are rounded by their distance. An angle of many turns is rounded by its size, and with it
    /// the positions of the body's points: a fiftieth of it brings the rounding aimed at by the integrator, some 20 ε, down to
    /// the half ε of the angle times a lever below L.
    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        let (mut far, mut turned) = (0.0_f64, 0.0_f64);
        for q in q[..W::STORED * self.bodies.len()].chunks_exact(W::STORED) {
            for x in &q[..W::DIMENSION] {
                far = far.max(x.abs());
            }
            turned = turned.max(W::angle_magnitude(q));
        }
        (far / self.length).max(turned / 50.0).max(1.0)
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
        let poses = &mut W::poses(q);
        self.forces.add_energy(cx, poses, &mut energy);
        energy
    }

    /// Dampers and actuators; a mass, inertia or gravity that is driven in time also brings energy in.
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

    fn coordinate_name(&self, i: usize) -> String {
        let fields: &[&str] = match W::DIMENSION {
            2 => &["x", "y", "angle"],
            _ => &["x", "y", "z", "wx", "wy", "wz"],
        };
        let field = fields[i % Self::BODY_DOF];
        format!("{}.{field}", self.bodies[i / Self::BODY_DOF].name)
    }

    fn constraint_name(&self, i: usize) -> String {
        self.owner(i).name.clone()
    }
}

impl<W: MechanismGeometry<N>, const N: usize> ConfigurationSpace for Absolute<W, N> {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        if !W::HAS_ROTATIONS {
            for i in 0..q.len() {
                out[i] = q[i] + w[i];
            }
            return;
        }
        let stored = W::STORED;
        for b in 0..self.bodies.len() {
            let range = stored * b..stored * (b + 1);
            W::retract(&q[range.clone()], self.body_part(b, w), &mut out[range]);
        }
        // Counted angles: near the old value plus what the gradient foresees.
        let first = stored * self.bodies.len();
        let (bodies, counters) = out.split_at_mut(first);
        let (before, after) = (&mut W::poses(q), &mut W::poses(bodies));
        for (k, measure) in self.counted_angles.iter().enumerate() {
            let (_, g) = measure.value(before);
            let foreseen = q[first + k] + gather(measure.bodies(), &g, w);
            counters[k] = measure.value_near(after, foreseen);
        }
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        let stored = W::STORED;
        for b in 0..self.bodies.len() {
            let range = stored * b..stored * (b + 1);
            let own = Self::BODY_DOF * b..Self::BODY_DOF * (b + 1);
            W::difference(&q0[range.clone()], &q1[range], &mut w[own]);
        }
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        if !W::HAS_ROTATIONS {
            return out.fill(0.0);
        }
        for b in 0..self.bodies.len() {
            let own = Self::BODY_DOF * b..Self::BODY_DOF * (b + 1);
            W::bracket(self.body_part(b, x), self.body_part(b, y), &mut out[own]);
        }
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        if !W::HAS_ROTATIONS {
            return;
        }
        for b in 0..self.bodies.len() {
            let t = W::tangent_inverse(self.body_part(b, theta));
            let own = &mut y[Self::BODY_DOF * (b + 1) - 3..Self::BODY_DOF * (b + 1)];
            let x = [own[0], own[1], own[2]];
            for i in 0..3 {
                own[i] = t[i][0] * x[0] + t[i][1] * x[1] + t[i][2] * x[2];
            }
        }
    }
}

impl<W: MechanismGeometry<N>, const N: usize> HybridSystem for Absolute<W, N> {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        rows.fill(true);
        self.forces.active_constraints(modes, rows);
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
        self.forces
            .event_functions(cx, &mut W::poses(at.q), at, phi, rate);
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

    fn event_name(&self, i: usize) -> String {
        self.forces.event_name(i).to_owned()
    }
}
