//! Builds force elements from the forces of a model.

use std::sync::Arc;

use super::actuator::Actuator;
use super::along_coordinate::CoordinateForceElement;
use super::bushing::Bushing;
use super::load::AppliedLoad;
use super::pid::PidController;
use super::rigid_contact::UnilateralConstraint;
use super::servo::Servo;
use super::spatial_force::{SpatialForce, SpatialForceElement};
use super::spring_damper::{SpringDamper, SpringLaw};
use super::tyre::{RoadProfile, Tyre};
use super::{ForceElement, ForceGeometry, ScalarLaw};
use crate::error::{Error, Result};
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::geometry::RelativeCoordinate as _;
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::driven_value::{DrivenValue, DrivenValues};
use crate::formulation::joint::{self, JointEquations};
use crate::linalg::elementary::atan2;
use crate::linalg::rotation::Vec3;
use crate::model::{
    self, BodyRef, ForceApplication, ForceKind, ForceNumber, JointPlacement, Model, Target,
};

/// The mechanism without its forces.
pub struct ForceBuildContext<'a, W: ForceGeometry<N>, const N: usize> {
    /// The model.
    pub model: &'a Model,
    /// Constants, parameters and inputs by target.
    pub values: &'a DrivenValues,
    /// The joints.
    pub joints: &'a [JointEquations<W, N>],
    /// Initial pose.
    pub q: &'a [f64],
    /// Characteristic length of the mechanism (m).
    pub length: f64,
    /// Distance below which two points coincide (m).
    pub coincidence_distance: f64,
}

/// The list of constraints, to which rigid contacts and rigid joint limits append theirs.
pub struct ConstraintList<'a, W: ForceGeometry<N>, const N: usize> {
    parts: &'a mut Vec<(ConstraintPart<W, N>, String)>,
    next: usize,
    /// Rows of the parts before, less their number: one row for each part that is appended.
    offset: usize,
}

impl<'a, W: ForceGeometry<N>, const N: usize> ConstraintList<'a, W, N> {
    /// Appends to existing constraints.
    pub fn new(parts: &'a mut Vec<(ConstraintPart<W, N>, String)>) -> Self {
        let next: usize = parts.iter().map(|(part, _)| part.count()).sum();
        let offset = next - parts.len();
        Self {
            parts,
            next,
            offset,
        }
    }

    /// Returns an existing constraint by its number in the list.
    pub fn part_mut(&mut self, index: usize) -> &mut ConstraintPart<W, N> {
        &mut self.parts[index].0
    }

    /// Notes which mode says whether an appended constraint is active.
    pub fn set_unilateral_mode(&mut self, row: usize, mode: usize) {
        if let ConstraintPart::Prescribed(part) = &mut self.parts[row - self.offset].0 {
            part.unilateral_mode = Some(mode);
        }
    }

    /// Appends the constraint c = `value` and returns its row.
    pub(super) fn push(
        &mut self,
        coordinate: &W::RelativeCoordinate,
        value: f64,
        name: &str,
        slots: &mut SparsityBuilder,
    ) -> usize {
        let part = ConstraintPart::fixed(coordinate.clone(), value, slots);
        self.parts.push((part, name.to_owned()));
        self.next += 1;
        self.next - 1
    }
}

/// Largest initial overlap of rigid bodies, relative to the characteristic length; a larger one is an error in the model.
const MAX_INITIAL_OVERLAP: f64 = 1e-3;
/// Gap, relative to the characteristic length, below which a contact counts as closed.
const TOUCHING_GAP: f64 = 1e-6;
/// Tensile contact force, relative to the weight of the mechanism, that counts as rounding.
const TENSILE_TOLERANCE: f64 = 1e-10;
/// Closing speed of a plastic impact, relative to the speed of a fall through the characteristic length. The rebound it suppresses
/// would be half a millionth of that length high.
const REST_SPEED: f64 = 1e-3;

/// Slip velocity that counts as rest, relative to the speed of a fall through the characteristic length (without gravity: to that
/// length in a second): in the plane and in space. Friction stops it within that part of the time of the fall, so that what is cut off is
/// its square of the length. In space the direction of friction turns with the slip, within that time where it passes zero.
const SLIP_REST: [f64; 2] = [1e-8, 1e-5];

impl<W: ForceGeometry<N>, const N: usize> ForceBuildContext<'_, W, N> {
    /// Builds the unilateral constraint sign (c − bound) ≥ 0 without contact geometry, and appends it to `constraints`.
    pub(super) fn unilateral(
        &self,
        (coordinate, bound, sign): (W::RelativeCoordinate, f64, f64),
        (rigid, restitution): (&model::RigidImpact, DrivenValue),
        name: &str,
        constraints: &mut ConstraintList<W, N>,
        slots: &mut SparsityBuilder,
    ) -> UnilateralConstraint<W, N> {
        let is_angle = coordinate.is_angle();
        UnilateralConstraint {
            row: constraints.push(&coordinate, bound, name, slots),
            coordinate,
            bound,
            sign,
            restitution,
            poisson: rigid.law == model::RestitutionLaw::Poisson,
            rest_speed: self.rest_speed(rigid, is_angle),
            touching_gap: self.scaled(TOUCHING_GAP, is_angle),
            tensile_tolerance: self.tensile_tolerance(is_angle),
            contact: None,
            friction_slots: None,
        }
    }

    /// Returns the initial overlap of a unilateral constraint if it is too large.
    pub(super) fn overlap(&self, constraint: &UnilateralConstraint<W, N>) -> Option<f64> {
        let allowed = self.scaled(MAX_INITIAL_OVERLAP, constraint.coordinate.is_angle());
        constraint.overlap(self.q, allowed)
    }

    /// Returns the given rest speed, or the default.
    fn rest_speed(&self, rigid: &model::RigidImpact, is_angle: bool) -> f64 {
        let size = if is_angle {
            1.0 / self.length
        } else {
            self.length
        };
        (rigid.rest_speed).unwrap_or(REST_SPEED * (self.gravity() * size).sqrt())
    }

    /// Returns the slip velocity below which a contact with set-valued friction is at rest.
    pub(super) fn slip_rest_speed(&self) -> f64 {
        let fall = (self.gravity() * self.length).sqrt();
        SLIP_REST[W::DIMENSION - 2] * if fall > 0.0 { fall } else { self.length }
    }

    /// Returns the tensile force, or moment, that counts as rounding.
    fn tensile_tolerance(&self, is_angle: bool) -> f64 {
        let mass: f64 = self.model.bodies.iter().map(|body| body.mass).sum();
        let length = if is_angle { self.length } else { 1.0 };
        TENSILE_TOLERANCE * mass * self.gravity() * length
    }

    fn gravity(&self) -> f64 {
        self.model.gravity.iter().map(|g| g * g).sum::<f64>().sqrt()
    }

    /// Returns `factor` as an angle, or times the characteristic length.
    fn scaled(&self, factor: f64, is_angle: bool) -> f64 {
        factor * if is_angle { 1.0 } else { self.length }
    }
}

/// Builds force `index` of the model.
pub fn build<W: ForceGeometry<N>, const N: usize>(
    context: &ForceBuildContext<W, N>,
    index: usize,
    constraints: &mut ConstraintList<W, N>,
    slots: &mut SparsityBuilder,
) -> Result<Arc<dyn ForceElement<W, N>>> {
    ForceBuilder {
        context,
        force: &context.model.forces[index],
        index,
        constraints,
        slots,
    }
    .element()
}

/// One force of the model with everything its element is built from.
pub(super) struct ForceBuilder<'a, 'b, W: ForceGeometry<N>, const N: usize> {
    pub context: &'a ForceBuildContext<'a, W, N>,
    pub force: &'a model::Force,
    index: usize,
    pub constraints: &'a mut ConstraintList<'b, W, N>,
    pub slots: &'a mut SparsityBuilder,
}

impl<W: ForceGeometry<N>, const N: usize> ForceBuilder<'_, '_, W, N> {
    pub fn error(&self, why: &str) -> Error {
        Error::Model {
            origin: self.context.model.origin.clone(),
            line: self.force.text_position.line,
            column: self.force.text_position.column,
            message: format!("force \"{}\" {why}", self.force.name),
        }
    }

    fn value(&self, target: Target, written: f64) -> DrivenValue {
        self.context.values.get(target, written)
    }

    pub fn number(&self, number: ForceNumber, written: f64) -> DrivenValue {
        self.value(Target::Force(self.index, number), written)
    }

    pub fn stiffness(&self, written: f64) -> DrivenValue {
        self.value(Target::ForceStiffness(self.index), written)
    }

    pub fn damping(&self, written: f64) -> DrivenValue {
        self.value(Target::ForceDamping(self.index), written)
    }

    fn along_coordinate(
        &mut self,
        law: impl ScalarLaw + 'static,
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let coordinate = self.coordinate()?;
        Ok(Arc::new(CoordinateForceElement::<W, N>::new(
            coordinate,
            Arc::new(law),
            self.slots,
        )))
    }

    pub fn between_bodies(
        &mut self,
        force: impl SpatialForce + 'static,
        bodies: [BodyRef; 2],
    ) -> Arc<dyn ForceElement<W, N>> {
        Arc::new(SpatialForceElement::<_, N>::new(force, bodies, self.slots))
    }

    fn element(&mut self) -> Result<Arc<dyn ForceElement<W, N>>> {
        let force = self.force;
        if !numbers(&force.on).all(f64::is_finite) {
            return Err(self.error("has a point that is not finite"));
        }
        if let Some([a, b]) = force.on.bodies()
            && a == b
            && !matches!(force.on, ForceApplication::Point { .. })
        {
            return Err(self.error("acts between a body and itself"));
        }
        match &force.kind {
            ForceKind::SpringDamper(spring) => {
                let law = SpringDamper {
                    stiffness: SpringLaw::new(&spring.stiffness, |k| self.stiffness(k)),
                    damping: SpringLaw::new(&spring.damping, |d| self.damping(d)),
                    length: self.value(Target::ForceLength(self.index), spring.length),
                    preload: self.number(ForceNumber::Preload, spring.preload),
                    only: spring.only,
                };
                self.along_coordinate(law)
            }
            ForceKind::Actuator { effort } => {
                let effort = self.value(Target::ForceEffort(self.index), *effort);
                self.along_coordinate(Actuator { effort })
            }
            ForceKind::Pid(pid) => self.pid(pid),
            ForceKind::Servo(servo) => self.servo(servo),
            ForceKind::Load {
                load,
                components,
                frame,
            } => self.load(*load, components, *frame),
            ForceKind::Bushing { stiffness, damping } => self.bushing(stiffness, damping),
            ForceKind::Tyre(tyre) => self.tyre(tyre),
            ForceKind::Contact(contact) => self.contact(contact),
        }
    }

    fn pid(&mut self, pid: &model::PidDefinition) -> Result<Arc<dyn ForceElement<W, N>>> {
        use ForceNumber as Number;
        let law = PidController {
            set_point: self.number(Number::SetPoint, pid.set_point),
            proportional: self.number(Number::Proportional, pid.proportional),
            integral: self.number(Number::Integral, pid.integral),
            derivative: self.number(Number::Derivative, pid.derivative),
            limits: pid.limits.map(|[lower, upper]| {
                [
                    self.number(Number::LowerLimit, lower),
                    self.number(Number::UpperLimit, upper),
                ]
            }),
            tracking_time: self.number(Number::TrackingTime, pid.tracking_time),
            start: pid.start,
        };
        self.along_coordinate(law)
    }

    fn servo(&mut self, servo: &model::ServoDefinition) -> Result<Arc<dyn ForceElement<W, N>>> {
        use ForceNumber as Number;
        let law = Servo {
            control: self.number(Number::Control, servo.control),
            gain: self.number(Number::Gain, servo.gain),
            bias: std::array::from_fn(|k| self.number(Number::Bias(k), servo.bias[k])),
            control_limits: servo.control_limits,
            limits: servo.limits.map(|[lower, upper]| {
                [
                    self.number(Number::LowerLimit, lower),
                    self.number(Number::UpperLimit, upper),
                ]
            }),
        };
        self.along_coordinate(law)
    }

    /// Returns the relative coordinate along which the force acts.
    fn coordinate(&self) -> Result<W::RelativeCoordinate> {
        let model = self.context.model;
        let at = |bodies: &[BodyRef; 2], points: &[[f64; 3]; 2]| {
            [0, 1].map(|k| W::point(model, bodies[k], points[k]))
        };
        match &self.force.on {
            ForceApplication::Points { bodies, points } => Ok(W::distance(
                at(bodies, points),
                self.context.coincidence_distance,
            )),
            ForceApplication::Axis {
                bodies,
                points,
                direction,
            } => Ok(W::displacement_along(at(bodies, points), *direction)),
            ForceApplication::Joint(of) => {
                joint::coordinate(model, self.context.joints, *of, &self.force.name)
                    .map_err(|_| self.error("acts in a joint that has no such coordinate"))
            }
            ForceApplication::Point { .. } | ForceApplication::Frames { .. } => {
                Err(self.error("acts between two points or in a joint"))
            }
        }
    }

    /// Returns the two bodies and the points on them, relative to their centres of mass.
    pub fn two_points(&self) -> Result<([BodyRef; 2], [[f64; 3]; 2])> {
        match &self.force.on {
            ForceApplication::Points { bodies, points } => {
                let offset = |k| self.offset(bodies[k], points[k]);
                Ok((*bodies, [offset(0), offset(1)]))
            }
            _ => Err(self.error("acts between a point of each body")),
        }
    }

    /// Returns a point given in the frame of a body, relative to its centre of mass.
    pub fn offset(&self, body: BodyRef, point: [f64; 3]) -> [f64; 3] {
        W::point_offset(&W::point(self.context.model, body, point))
    }

    fn load(
        &mut self,
        kind: model::LoadDefinition,
        components: &[f64; 3],
        frame: model::LoadFrame,
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let ForceApplication::Point { body, point } = &self.force.on else {
            return Err(self.error("acts at a point of one body"));
        };
        if body.is_none() {
            return Err(self.error("acts on the ground, which does not move"));
        }
        let load = AppliedLoad {
            kind,
            components: std::array::from_fn(|k| {
                self.number(ForceNumber::Component(k), components[k])
            }),
            frame,
            offset: self.offset(*body, *point),
        };
        Ok(self.between_bodies(load, [None, *body]))
    }

    fn tyre(&mut self, tyre: &model::TyreDefinition) -> Result<Arc<dyn ForceElement<W, N>>> {
        let (bodies, offsets) = self.two_points()?;
        let tyre = Tyre {
            radius: self.number(ForceNumber::Radius, tyre.radius),
            stiffness: SpringLaw::new(&tyre.stiffness, |k| self.stiffness(k)),
            damping: SpringLaw::new(&tyre.damping, |d| self.damping(d)),
            up: tyre.up,
            forward: tyre.forward,
            profile: RoadProfile::new(tyre.profile.as_ref()),
            height: self.number(ForceNumber::Height, tyre.height),
            speed: tyre.speed,
            offset: tyre.offset,
            offsets,
        };
        Ok(self.between_bodies(tyre, bodies))
    }

    fn bushing(
        &mut self,
        stiffness: &[f64; 6],
        damping: &[f64; 6],
    ) -> Result<Arc<dyn ForceElement<W, N>>> {
        let ForceApplication::Frames { bodies, at } = &self.force.on else {
            return Err(self.error("acts between two frames"));
        };
        let frames = W::frames_at_rest(&mut W::poses(self.context.q), *bodies);
        let (mut offsets, mut axes) = ([[0.0; 3]; 2], [[[0.0; 3]; 3]; 2]);
        for k in 0..2 {
            match at {
                JointPlacement::InitialPose(frame) => {
                    let from: [f64; 3] = std::array::from_fn(|i| frame.point[i] - frames[k].r[i]);
                    offsets[k] = frames[k].to_body(&from);
                    axes[k] = frame_axes(frame).map(|x| frames[k].to_body(&x));
                }
                JointPlacement::BodyFrames(given) => {
                    offsets[k] = self.offset(bodies[k], given[k].point);
                    axes[k] = frame_axes(&given[k]);
                }
                JointPlacement::None => return Err(self.error("has no place")),
            }
        }
        let planar_angle = (W::DIMENSION == 2).then(|| match at {
            JointPlacement::InitialPose(_) => frames[1].angle - frames[0].angle,
            _ => {
                let angle = |k: usize| atan2(axes[k][0][1], axes[k][0][0]);
                angle(0) - angle(1)
            }
        });
        let bushing = Bushing {
            stiffness: std::array::from_fn(|k| {
                self.number(ForceNumber::Stiffness(k), stiffness[k])
            }),
            damping: std::array::from_fn(|k| self.number(ForceNumber::Damping(k), damping[k])),
            offsets,
            axes,
            planar_angle,
        };
        let bodies = *bodies;
        Ok(self.between_bodies(bushing, bodies))
    }
}

/// Returns the coordinates of the points and directions at which a force acts.
fn numbers(on: &ForceApplication) -> impl Iterator<Item = f64> {
    let mut all: Vec<f64> = Vec::new();
    match on {
        ForceApplication::Points { points, .. } => all.extend(points.iter().flatten()),
        ForceApplication::Axis {
            points, direction, ..
        } => {
            all.extend(points.iter().flatten());
            all.extend(direction);
        }
        ForceApplication::Point { point, .. } => all.extend(point),
        ForceApplication::Joint(_) | ForceApplication::Frames { .. } => {}
    }
    all.into_iter()
}

/// Returns the axes x, y, z of a frame: x along `axis`, y in the plane of `axis` and `reference_direction`. Body axes stand in for
/// directions that are not given.
fn frame_axes(frame: &model::JointFrame) -> [[f64; 3]; 3] {
    let (x, y) = (
        Vec3::from(frame.axis),
        Vec3::from(frame.reference_direction),
    );
    let x = if x.norm() > 0.0 {
        x.normalize()
    } else {
        Vec3::x()
    };
    let normal_part = |y: Vec3| y - x * x.dot(&y);
    let y = [y, Vec3::y(), Vec3::z()]
        .map(normal_part)
        .into_iter()
        .find(|y| y.norm() > 1e-6);
    let y = y.unwrap_or(Vec3::y()).normalize();
    [x, y, x.cross(&y)].map(|v| [v.x, v.y, v.z])
}
