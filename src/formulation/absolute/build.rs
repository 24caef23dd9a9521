//! Builds the equations of a model in absolute coordinates.

use std::sync::Arc;

use super::armature::armatures;
use super::characteristic_length::{BodyExtent, characteristic};
use super::constraint::ConstraintPart;
use super::geometry::{BodyInertia as _, Geometry, RelativeCoordinate as _};
use super::sparsity::{SparsityBuilder, gather};
use super::{Absolute, AbsoluteBody, MechanismGeometry, NamedConstraint, TurnCounters};
use crate::error::{Error, Result};
use crate::formulation::Sparsity;
use crate::formulation::cache::Cached;
use crate::formulation::driven_value::DrivenValues;
use crate::formulation::force::beam::mass::CoupledMasses;
use crate::formulation::force::beam::{BeamElement, BeamGeometry};
use crate::formulation::force::{self, ForceElement as _, gravity::Gravity, group::ForceGroup};
use crate::formulation::joint::{self, JointEquations};
use crate::formulation::prescribed_motion::PrescribedMotion;
use crate::model::{BodyRef, IntegratorName, JointPlacement, Model, PrescribedCoordinate};

/// Distance below which two points coincide, relative to the characteristic length: some thousand times rounding error.
const COINCIDENT: f64 = 1e-12;

impl<W: MechanismGeometry<N>, const N: usize> Absolute<W, N> {
    /// Builds the equations of a model of this dimension.
    pub fn new(model: &Model) -> Result<Self> {
        if model.dimension != W::DIMENSION {
            return Err(Error::Argument {
                name: "dimension".into(),
                value: model.dimension.to_string(),
                expected: format!("{} for these coordinates", W::DIMENSION),
            });
        }
        let mut builder = Builder::<W, N>::new(model)?;
        let bodies = builder.bodies()?;
        builder.add_joints()?;
        let body_coordinates = builder.coordinates_of_prescribed_bodies();
        let counted_angles = builder.count_turns(&body_coordinates);
        builder.add_couplings()?;
        let motions = builder.add_motions(&body_coordinates)?;
        builder.fix_undriven_coordinates();
        let (beams, coupled_masses) = builder.beams();
        let (forces, joint_forces) = builder.forces(&motions, &beams)?;
        let armatures = armatures(model, &builder.joints, &mut builder.slots)?;

        let mut constraint_count = 0;
        let mut jacobian = Vec::new();
        let constraints = (builder.constraints.into_iter())
            .map(|(part, name)| {
                let first = constraint_count;
                part.sparsity(&mut |i, j| jacobian.push(((first + i) as u32, j as u32)));
                constraint_count += part.count();
                NamedConstraint { part, first, name }
            })
            .collect();
        Ok(Self {
            bodies,
            joints: builder.joints,
            motions,
            constraints,
            constraint_count,
            forces,
            sticking: Cached::default(),
            joint_forces,
            beams,
            coupled_masses,
            armatures,
            sensors: (model.sensors.iter())
                .map(|s| W::point(model, s.body, s.point))
                .collect(),
            gravity: Gravity::new(model, &builder.values),
            length: builder.length,
            inputs: model.inputs.len(),
            parameters: model.parameters.len(),
            rotation_columns: builder.slots.rotation_columns(N / 2),
            sparsity: Sparsity {
                tangent: builder.slots.entries(),
                jacobian,
            },
            counted_angles,
            initial: (builder.q, builder.v),
        })
    }
}

/// The elements of a beam.
type BeamElements<W, const N: usize> = Vec<Arc<BeamElement<<W as BeamGeometry<N>>::Kinematics, N>>>;

/// A mechanism under construction. The order of the steps fixes the order of constraints, stored coordinates and matrix slots.
struct Builder<'a, W: MechanismGeometry<N>, const N: usize> {
    model: &'a Model,
    values: DrivenValues,
    /// Initial pose.
    q: Vec<f64>,
    /// Initial velocities.
    v: Vec<f64>,
    /// Characteristic length (m).
    length: f64,
    /// Distance below which two points coincide (m).
    coincidence_distance: f64,
    slots: SparsityBuilder,
    counters: TurnCounters,
    joints: Vec<JointEquations<W, N>>,
    constraints: Vec<(ConstraintPart<W, N>, String)>,
}

impl<'a, W: MechanismGeometry<N>, const N: usize> Builder<'a, W, N> {
    fn new(model: &'a Model) -> Result<Self> {
        let values = DrivenValues::new(model)?;
        let (q, v) = initial_state::<W, N>(model)?;
        let length = characteristic_length::<W, N>(model, &q)?;
        Ok(Self {
            model,
            values,
            length,
            coincidence_distance: COINCIDENT * length,
            slots: if W::HAS_ROTATIONS {
                SparsityBuilder::with_rotation_triples()
            } else {
                SparsityBuilder::default()
            },
            counters: TurnCounters {
                first: q.len(),
                initial: vec![],
            },
            q,
            v,
            joints: Vec::with_capacity(model.joints.len()),
            constraints: Vec::new(),
        })
    }

    fn bodies(&mut self) -> Result<Vec<AbsoluteBody<W, N>>> {
        (self.model.bodies.iter().enumerate())
            .map(|(b, body)| {
                Ok(AbsoluteBody {
                    name: body.name.clone(),
                    inertia: W::Inertia::new(self.model, b, &self.values, &mut self.slots)?,
                    origin: W::point(self.model, Some(b), [0.0; 3]),
                })
            })
            .collect()
    }

    /// Adds the joints and their constraints; couplings get theirs later, from the coordinates of other joints.
    fn add_joints(&mut self) -> Result<()> {
        for joint in &self.model.joints {
            let (mut equations, constraints) = joint::build::<W, N>(
                self.model,
                joint,
                &self.q,
                self.coincidence_distance,
                &mut self.counters,
                &mut self.slots,
            )?;
            let first = self.constraints.len();
            equations.constraints = first..first + constraints.len();
            self.joints.push(equations);
            let name = &joint.name;
            (self.constraints).extend(constraints.into_iter().map(|part| (part, name.clone())));
        }
        Ok(())
    }

    /// The coordinate of each motion that prescribes one of a body.
    fn coordinates_of_prescribed_bodies(&mut self) -> Vec<Option<W::RelativeCoordinate>> {
        (self.model.motions.iter())
            .map(|motion| match motion.on {
                PrescribedCoordinate::Body(b, coordinate) => Some(W::body_coordinate(
                    self.model,
                    b,
                    coordinate,
                    motion.axis,
                    &self.q,
                    &mut self.counters,
                )),
                PrescribedCoordinate::Joint(_) => None,
            })
            .collect()
    }

    /// Appends the stored coordinates of counted angles, with their values in the initial pose.
    fn count_turns(
        &mut self,
        body_coordinates: &[Option<W::RelativeCoordinate>],
    ) -> Vec<W::RelativeCoordinate> {
        self.q.extend_from_slice(&self.counters.initial);
        let of_joints = self.joints.iter().flat_map(|joint| &joint.coordinates);
        let counted: Vec<W::RelativeCoordinate> = of_joints
            .chain(body_coordinates.iter().flatten())
            .filter(|coordinate| coordinate.turn_counter().is_some())
            .cloned()
            .collect();
        let first = self.counters.first;
        for (k, coordinate) in counted.iter().enumerate() {
            debug_assert_eq!(coordinate.turn_counter(), Some(first + k));
            self.q[first + k] = joint::initial_value::<W, N>(coordinate, &self.q);
        }
        counted
    }

    fn add_couplings(&mut self) -> Result<()> {
        let model = self.model;
        for (k, joint) in model.joints.iter().enumerate() {
            if let Some(coupling) = &joint.coupling {
                let (joints, q) = (&self.joints, &self.q);
                let part = joint::coupling::part(model, k, coupling, joints, q, &mut self.slots)?;
                // Its reaction is reported as that on the second joint's body.
                let second = coupling.coordinates[1].joint;
                self.joints[k].bodies = self.joints[second].bodies;
                self.joints[k].point = self.joints[second].point;
                self.joints[k].constraints = self.constraints.len()..self.constraints.len() + 1;
                self.constraints.push((part, joint.name.clone()));
            }
        }
        Ok(())
    }

    /// Adds the constraint of each motion and returns its index.
    fn add_motions(
        &mut self,
        body_coordinates: &[Option<W::RelativeCoordinate>],
    ) -> Result<Vec<usize>> {
        let model = self.model;
        let mut indices = Vec::with_capacity(model.motions.len());
        for (k, motion) in model.motions.iter().enumerate() {
            indices.push(self.constraints.len());
            let coordinate = match (motion.on, &body_coordinates[k]) {
                (_, Some(coordinate)) => coordinate.clone(),
                (PrescribedCoordinate::Joint(c), None) => {
                    joint::coordinate(model, &self.joints, c, &motion.name)?
                }
                (PrescribedCoordinate::Body(..), None) => unreachable!("built for every body"),
            };
            let (value, g) = coordinate.value(&mut W::poses(&self.q));
            let rate = gather(coordinate.bodies(), &g, &self.v);
            let law = PrescribedMotion::new(model, k, &self.values, value, rate);
            let part = ConstraintPart::prescribed(coordinate, law, &mut self.slots);
            self.constraints.push((part, motion.name.clone()));
        }
        Ok(indices)
    }

    /// Fixes the coordinates of prescribed bodies that no motion drives.
    fn fix_undriven_coordinates(&mut self) {
        let model = self.model;
        for (b, body) in model.bodies.iter().enumerate() {
            if body.prescribed {
                let (q, slots) = (&self.q, &mut self.slots);
                for part in joint::prescribed::undriven_coordinates::<W, N>(model, b, q, slots) {
                    self.constraints.push((part, body.name.clone()));
                }
            }
        }
    }

    /// The elements of each beam, and the mass between their nodes.
    fn beams(&mut self) -> (Vec<BeamElements<W, N>>, CoupledMasses) {
        let (q, slots) = (&self.q, &mut self.slots);
        let mut masses = CoupledMasses::default();
        let elements = (self.model.beams.iter())
            .map(|beam| {
                let mut element = |k: usize| {
                    let element = W::beam_element(beam, k, q, slots);
                    let mass = beam.section.mass_per_length * element.length();
                    masses.push(beam.element_nodes(k), mass, (N / 2, W::DIMENSION), slots);
                    Arc::new(element)
                };
                (0..beam.elements).map(&mut element).collect()
            })
            .collect();
        (elements, masses)
    }

    /// The forces of the model, the points of tables that motions follow, the elements of beams, then the forces in joints: friction and limits.
    #[allow(clippy::type_complexity)] // one tuple for each force in a joint: see the field of `Absolute`
    fn forces(
        &mut self,
        motions: &[usize],
        beams: &[BeamElements<W, N>],
    ) -> Result<(ForceGroup<W, N>, Vec<(usize, usize, bool)>)> {
        let model = self.model;
        let context = force::ForceBuildContext {
            model,
            values: &self.values,
            joints: &self.joints,
            q: &self.q,
            length: self.length,
            coincidence_distance: self.coincidence_distance,
        };
        let slots = &mut self.slots;
        let mut constraints = force::ConstraintList::new(&mut self.constraints);
        let mut forces = ForceGroup::default();
        for (k, written) in model.forces.iter().enumerate() {
            let element = force::build(&context, k, &mut constraints, slots)?;
            forces.push(element, &written.name);
        }
        for (motion, index) in model.motions.iter().zip(motions) {
            let ConstraintPart::Prescribed(part) = constraints.part_mut(*index) else {
                continue;
            };
            if let Some((table, mode)) = part.motion.table_with_knots() {
                *mode = forces.event_counts().modes;
                let table = table.clone();
                forces.push(Arc::new(force::knot::TableKnots { table }), &motion.name);
            }
        }
        // VSA23 knows no events.
        for (k, joint) in model.joints.iter().enumerate() {
            if joint.coupling.is_none() || model.solver.integrator == IntegratorName::Vsa23 {
                continue;
            }
            let part = constraints.part_mut(self.joints[k].constraints.start);
            if let Some((coordinate, bounds, mode)) = part.coupling_with_knots() {
                *mode = Some(forces.event_counts().modes);
                let knots = force::knot::CouplingKnots { coordinate, bounds };
                forces.push(Arc::new(knots), &joint.name);
            }
        }
        for (beam, elements) in model.beams.iter().zip(beams) {
            for element in elements {
                forces.push(element.clone(), &beam.name);
            }
        }
        let mut joint_forces = Vec::new();
        for (k, written) in model.joints.iter().enumerate() {
            for force in force::joint_forces(&context, k, &mut constraints, slots)? {
                joint_forces.push((k, force.coordinate, force.is_friction));
                forces.push(force.element, &written.name);
            }
        }
        forces.unilateral_rows(0, &mut |row, mode| {
            constraints.set_unilateral_mode(row, mode)
        });
        Ok((forces, joint_forces))
    }
}

/// Initial poses and velocities of the centres of mass.
fn initial_state<W: Geometry<N>, const N: usize>(model: &Model) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = model.bodies.len();
    let (mut q, mut v) = (vec![0.0; W::STORED * n], vec![0.0; N / 2 * n]);
    for (b, body) in model.bodies.iter().enumerate() {
        let body_q = &mut q[W::STORED * b..W::STORED * (b + 1)];
        let body_v = &mut v[N / 2 * b..N / 2 * (b + 1)];
        W::initial_state(body, body_q, body_v);
        let numbers = body_q.iter().chain(&*body_v).chain(&body.inertia);
        let moments_of_inertia = &body.inertia[..3];
        if !numbers.chain([&body.mass]).all(|x| x.is_finite())
            || body.mass < 0.0
            || moments_of_inertia.iter().any(|x| *x < 0.0)
        {
            return Err(Error::Model {
                origin: model.origin.clone(),
                line: body.text_position.line,
                column: body.text_position.column,
                message: format!(
                    "body \"{}\" needs a finite pose and a mass and inertia that are not negative",
                    body.name
                ),
            });
        }
    }
    Ok((q, v))
}

/// The characteristic length as set in the model, or from the initial pose.
fn characteristic_length<W: Geometry<N>, const N: usize>(model: &Model, q: &[f64]) -> Result<f64> {
    match model.solver.length {
        Some(length) if length > 0.0 && length.is_finite() => return Ok(length),
        Some(length) => {
            return Err(Error::Argument {
                name: "solver.length".into(),
                value: length.to_string(),
                expected: "a positive length in metres".into(),
            });
        }
        None => {}
    }
    let poses = &mut W::poses(q);
    let mut on = |body: BodyRef, at: [f64; 3]| W::position(poses, &W::point(model, body, at));
    let mut bodies: Vec<BodyExtent> = (model.bodies.iter().enumerate())
        .map(|(b, body)| BodyExtent::new(on(Some(b), body.center_of_mass), body))
        .collect();
    // A beam is as large as a body through all of its nodes.
    let beams: Vec<BodyExtent> = (model.beams.iter())
        .map(|beam| {
            let nodes = beam.nodes().map(|node| on(Some(node), [0.0; 3]));
            BodyExtent::of_points(nodes.collect())
        })
        .collect();
    let mut points = Vec::new();
    let mut attach = |body: BodyRef, point: [f64; 3]| {
        points.push(point);
        if let Some(b) = body {
            bodies[b].points.push(point);
        }
    };
    for joint in &model.joints {
        match &joint.frame {
            JointPlacement::None => {}
            JointPlacement::InitialPose(frame) => {
                for body in joint.bodies {
                    attach(body, frame.point);
                }
            }
            JointPlacement::BodyFrames(frames) => {
                for k in 0..2 {
                    attach(joint.bodies[k], on(joint.bodies[k], frames[k].point));
                }
            }
        }
    }
    for force in &model.forces {
        if let Some((bodies, points)) = force.on.points() {
            for k in 0..2 {
                attach(bodies[k], on(bodies[k], points[k]));
            }
        }
    }
    bodies.extend(beams);
    Ok(characteristic(&bodies, &points))
}
