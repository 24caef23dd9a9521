//! Quantities: everything of a motion that has a dotted name, `<element>.<field>`.

use std::collections::HashMap;

use super::document::shorten;
use super::force::has;
use super::linear_system::numbered;
use super::suggest::{did_you_mean, nearest};
use super::{
    BodyCoordinate, Force, ForceApplication, ForceKind, JointCoordinate, JointKind, LoadDefinition,
    Model, PrescribedCoordinate,
};
use crate::error::{Error, Result};

/// A quantity by element index and field. Which of them a formulation evaluates and which the component: see the
/// variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Of a body; evaluated by the formulation.
    Body(usize, BodyField),
    /// Of a sensor; evaluated by the formulation.
    Sensor(usize, BodyField),
    /// Of a joint; evaluated by the formulation.
    Joint(usize, JointField),
    /// Of a motion; evaluated by the formulation.
    Motion(usize, MotionField),
    /// Of a force; evaluated by the formulation.
    Force(usize, ForceField),
    /// Of the whole mechanism; evaluated by the component.
    Energy(EnergyField),
    /// Of the solver; evaluated by the component.
    Solver(SolverField),
    /// `time`
    Time,
    /// `q1 q2 ..` of a model given by its matrices; evaluated by the formulation.
    Coordinate(usize),
    /// `v1 v2 ..`
    Rate(usize),
    /// `a1 a2 ..`
    Acceleration(usize),
    /// `lambda1 lambda2 ..`, one for each row of the constraint matrix
    Multiplier(usize),
}

impl Quantity {
    /// It is made of multipliers: of redundant rows these are shared out before it is read.
    pub fn is_reaction(self) -> bool {
        matches!(
            self,
            Self::Joint(_, JointField::Force(_) | JointField::Moment(_))
                | Self::Motion(_, MotionField::Effort)
                | Self::Multiplier(_)
        )
    }
}

/// Motion of a point and its body, ground axes; axis 0, 1, 2 = x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyField {
    /// `.x .y .z` (m)
    Position(usize),
    /// `.angle` (rad), two dimensions, continuous over turns
    Angle,
    /// `.qw .qx .qy .qz`, three dimensions
    Quaternion(usize),
    /// `.vx .vy .vz` (m/s)
    Velocity(usize),
    /// `.wx .wy .wz` (rad/s)
    AngularVelocity(usize),
    /// `.ax .ay .az` (m/s²)
    Acceleration(usize),
    /// `.alphax .alphay .alphaz` (rad/s²)
    AngularAcceleration(usize),
}

/// Motion and load of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointField {
    /// `.position`, or `.position1 .position2 ..` of a joint with several, from 0: `bodies[1]` relative to `bodies[0]` (rad or m)
    Position(usize),
    /// `.speed`
    Speed(usize),
    /// `.acceleration`
    Acceleration(usize),
    /// `.qw .qx .qy .qz` of a ball: orientation of `bodies[1]` seen from `bodies[0]`
    Quaternion(usize),
    /// `.fx .fy .fz`: force on `bodies[1]` at its joint point, ground axes (N)
    Force(usize),
    /// `.mx .my .mz`: moment on `bodies[1]` at its joint point, ground axes (N m)
    Moment(usize),
    /// `.friction`, or `.friction1 ..`: of the friction on a coordinate (N or N m)
    Friction(usize),
    /// `.stop`, or `.stop1 ..`: of the end stops on a coordinate (N or N m)
    Stop(usize),
}

/// State of a prescribed coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MotionField {
    /// `.position` that the law asks for (rad or m); of a body in space an angle counts from its start
    Position,
    /// `.speed`
    Speed,
    /// `.acceleration`
    Acceleration,
    /// `.effort` of the drive along the coordinate (N m or N): positive pushes the coordinate up, its power is effort x speed
    Effort,
}

/// State of a force element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForceField {
    /// `.length` between the points (m)
    Length,
    /// `.rate` of the length (m/s)
    Rate,
    /// `.force` (N or N m): positive pulls together; an actuator's positive increases the coordinate; of a tyre or contact the
    /// normal force, of a force or torque on a body its size
    Force,
    /// `.fx .fy .fz`: force on `bodies[1]`, ground axes (N)
    Load(usize),
    /// `.mx .my .mz`: torque on `bodies[1]` besides the moment of that force, ground axes (N m)
    Moment(usize),
}

/// `energy.*` (J)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum EnergyField {
    Kinetic,
    Potential,
    Total,
    Dissipated,
    Supplied,
    Balance,
    Numerical,
}

/// `solver.*`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SolverField {
    Steps,
    Rejected,
    NewtonIterations,
    Residuals,
    Factorizations,
    Solves,
    StepSize,
    Error,
}

/// Fields of bodies and sensors in two dimensions.
const PLANE_FIELDS: [(&str, BodyField); 9] = [
    ("x", BodyField::Position(0)),
    ("y", BodyField::Position(1)),
    ("angle", BodyField::Angle),
    ("vx", BodyField::Velocity(0)),
    ("vy", BodyField::Velocity(1)),
    ("wz", BodyField::AngularVelocity(2)),
    ("ax", BodyField::Acceleration(0)),
    ("ay", BodyField::Acceleration(1)),
    ("alphaz", BodyField::AngularAcceleration(2)),
];

/// Fields of bodies and sensors in three dimensions.
const SPACE_FIELDS: [(&str, BodyField); 19] = [
    ("x", BodyField::Position(0)),
    ("y", BodyField::Position(1)),
    ("z", BodyField::Position(2)),
    ("qw", BodyField::Quaternion(0)),
    ("qx", BodyField::Quaternion(1)),
    ("qy", BodyField::Quaternion(2)),
    ("qz", BodyField::Quaternion(3)),
    ("vx", BodyField::Velocity(0)),
    ("vy", BodyField::Velocity(1)),
    ("vz", BodyField::Velocity(2)),
    ("wx", BodyField::AngularVelocity(0)),
    ("wy", BodyField::AngularVelocity(1)),
    ("wz", BodyField::AngularVelocity(2)),
    ("ax", BodyField::Acceleration(0)),
    ("ay", BodyField::Acceleration(1)),
    ("az", BodyField::Acceleration(2)),
    ("alphax", BodyField::AngularAcceleration(0)),
    ("alphay", BodyField::AngularAcceleration(1)),
    ("alphaz", BodyField::AngularAcceleration(2)),
];

/// Fields of bodies and sensors.
pub(super) fn body_fields(dimension: usize) -> &'static [(&'static str, BodyField)] {
    match dimension {
        2 => &PLANE_FIELDS,
        _ => &SPACE_FIELDS,
    }
}

/// Coordinates of a joint with only one.
const ONE_COORDINATE: [(&str, JointField); 3] = [
    ("position", JointField::Position(0)),
    ("speed", JointField::Speed(0)),
    ("acceleration", JointField::Acceleration(0)),
];

/// Coordinates of a joint with several, up to three.
const COORDINATES: [(&str, JointField); 9] = [
    ("position1", JointField::Position(0)),
    ("speed1", JointField::Speed(0)),
    ("acceleration1", JointField::Acceleration(0)),
    ("position2", JointField::Position(1)),
    ("speed2", JointField::Speed(1)),
    ("acceleration2", JointField::Acceleration(1)),
    ("position3", JointField::Position(2)),
    ("speed3", JointField::Speed(2)),
    ("acceleration3", JointField::Acceleration(2)),
];

/// The coordinate of a ball.
const BALL: [(&str, JointField); 4] = [
    ("qw", JointField::Quaternion(0)),
    ("qx", JointField::Quaternion(1)),
    ("qy", JointField::Quaternion(2)),
    ("qz", JointField::Quaternion(3)),
];

const PLANE_LOADS: [(&str, JointField); 3] = [
    ("fx", JointField::Force(0)),
    ("fy", JointField::Force(1)),
    ("mz", JointField::Moment(2)),
];

const SPACE_LOADS: [(&str, JointField); 6] = [
    ("fx", JointField::Force(0)),
    ("fy", JointField::Force(1)),
    ("fz", JointField::Force(2)),
    ("mx", JointField::Moment(0)),
    ("my", JointField::Moment(1)),
    ("mz", JointField::Moment(2)),
];

/// Fields of a joint: its coordinates, then its load. A coupling has neither.
pub(super) fn joint_fields(
    kind: JointKind,
    dimension: usize,
) -> impl Iterator<Item = (&'static str, JointField)> {
    let coordinates = match kind.coordinates(dimension) {
        _ if kind == JointKind::Spherical => &BALL[..],
        1 => &ONE_COORDINATE[..],
        count => &COORDINATES[..3 * count],
    };
    let loads = match dimension {
        _ if kind == JointKind::Coupling => &[],
        2 => &PLANE_LOADS[..],
        _ => &SPACE_LOADS[..],
    };
    coordinates.iter().chain(loads).copied()
}

/// Fields of motions.
pub(super) const MOTION_FIELDS: [(&str, MotionField); 4] = [
    ("position", MotionField::Position),
    ("speed", MotionField::Speed),
    ("acceleration", MotionField::Acceleration),
    ("effort", MotionField::Effort),
];

/// Fields of forces between two points.
const POINT_FORCE_FIELDS: [(&str, ForceField); 3] = [
    ("length", ForceField::Length),
    ("rate", ForceField::Rate),
    ("force", ForceField::Force),
];

/// Fields of actuators in prismatic joints; the coordinate itself is the joint's `position`.
const SLIDING_FORCE_FIELDS: [(&str, ForceField); 1] = [("force", ForceField::Force)];

/// Fields of actuators in revolute joints: one field, `force` is accepted too.
const TURNING_FORCE_FIELDS: [(&str, ForceField); 2] =
    [("torque", ForceField::Force), ("force", ForceField::Force)];

/// Fields of springs in joints that turn.
const TORSION_FIELDS: [(&str, ForceField); 4] = [
    ("angle", ForceField::Length),
    ("rate", ForceField::Rate),
    ("torque", ForceField::Force),
    ("force", ForceField::Force),
];

const PLANE_FORCE_LOADS: [(&str, ForceField); 3] = [
    ("fx", ForceField::Load(0)),
    ("fy", ForceField::Load(1)),
    ("mz", ForceField::Moment(2)),
];

const SPACE_FORCE_LOADS: [(&str, ForceField); 6] = [
    ("fx", ForceField::Load(0)),
    ("fy", ForceField::Load(1)),
    ("fz", ForceField::Load(2)),
    ("mx", ForceField::Moment(0)),
    ("my", ForceField::Moment(1)),
    ("mz", ForceField::Moment(2)),
];

const ENERGY_FIELDS: [(&str, EnergyField); 7] = [
    ("kinetic", EnergyField::Kinetic),
    ("potential", EnergyField::Potential),
    ("total", EnergyField::Total),
    ("dissipated", EnergyField::Dissipated),
    ("supplied", EnergyField::Supplied),
    ("balance", EnergyField::Balance),
    ("numerical", EnergyField::Numerical),
];

const SOLVER_FIELDS: [(&str, SolverField); 8] = [
    ("steps", SolverField::Steps),
    ("rejected", SolverField::Rejected),
    ("newton_iterations", SolverField::NewtonIterations),
    ("residuals", SolverField::Residuals),
    ("factorizations", SolverField::Factorizations),
    ("solves", SolverField::Solves),
    ("step_size", SolverField::StepSize),
    ("error", SolverField::Error),
];

/// What a model given by its matrices calls its unknowns, and how to make the quantity of an index.
type Numbered = (&'static str, fn(usize) -> Quantity);
const NUMBERED: [Numbered; 4] = [
    ("q", Quantity::Coordinate),
    ("v", Quantity::Rate),
    ("a", Quantity::Acceleration),
    ("lambda", Quantity::Multiplier),
];

/// How many there are of each, where the model has such unknowns.
fn counts(model: &Model) -> Option<[usize; 4]> {
    if let Some(own) = &model.own {
        return Some([own.nq, own.nv, own.nv, own.nc]);
    }
    let system = model.system.as_ref()?;
    let n = system.coordinates();
    Some([n, n, n, system.constraints()])
}

/// A named element of the mechanism by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedElement {
    Body(usize),
    Joint(usize),
    Motion(usize),
    Force(usize),
    Sensor(usize),
}

impl NamedElement {
    pub fn kind(self) -> &'static str {
        match self {
            Self::Body(_) => "body",
            Self::Joint(_) => "joint",
            Self::Motion(_) => "motion",
            Self::Force(_) => "force",
            Self::Sensor(_) => "sensor",
        }
    }
}

/// The two halves of a dotted name.
pub(super) fn element_and_field(dotted: &str) -> Option<(&str, &str)> {
    dotted
        .split_once('.')
        .filter(|(e, f)| !e.is_empty() && !f.is_empty())
}

impl Model {
    pub(super) fn elements(&self) -> impl Iterator<Item = NamedElement> {
        ((0..self.bodies.len()).map(NamedElement::Body))
            .chain((0..self.joints.len()).map(NamedElement::Joint))
            .chain((0..self.motions.len()).map(NamedElement::Motion))
            .chain((0..self.forces.len()).map(NamedElement::Force))
            .chain((0..self.sensors.len()).map(NamedElement::Sensor))
    }

    pub(super) fn element(&self, name: &str) -> Option<NamedElement> {
        self.elements()
            .find(|element| self.name_of(*element) == name)
    }

    pub(super) fn name_of(&self, element: NamedElement) -> &str {
        match element {
            NamedElement::Body(i) => &self.bodies[i].name,
            NamedElement::Joint(i) => &self.joints[i].name,
            NamedElement::Motion(i) => &self.motions[i].name,
            NamedElement::Force(i) => &self.forces[i].name,
            NamedElement::Sensor(i) => &self.sensors[i].name,
        }
    }

    pub(super) fn element_names(&self) -> impl Iterator<Item = &str> {
        self.elements().map(|element| self.name_of(element))
    }

    /// Whether a force acts along an angle, so that it is a torque.
    pub(super) fn turns(&self, force: usize) -> bool {
        self.along_angle(&self.forces[force].on)
    }

    fn along_angle(&self, on: &ForceApplication) -> bool {
        match *on {
            ForceApplication::Joint(JointCoordinate { joint, index }) => {
                (self.joints.get(joint)).is_some_and(|j| j.kind.is_angle(index))
            }
            _ => false,
        }
    }

    /// What the model file calls the type of a force.
    pub fn force_type(&self, force: &Force) -> &'static str {
        match &force.kind {
            ForceKind::SpringDamper(_) if self.along_angle(&force.on) => "torsion_spring",
            ForceKind::SpringDamper(_) => "spring_damper",
            ForceKind::Actuator { .. } => "actuator",
            ForceKind::Load {
                load: LoadDefinition::Force,
                ..
            } => "force",
            ForceKind::Load {
                load: LoadDefinition::Torque,
                ..
            } => "torque",
            ForceKind::Bushing { .. } => "bushing",
            ForceKind::Tyre(_) => "tyre",
            ForceKind::Contact(_) => "contact",
        }
    }

    /// Whether a motion prescribes an angle and not a length.
    pub fn motion_turns(&self, motion: usize) -> bool {
        match self.motions[motion].on {
            PrescribedCoordinate::Joint(JointCoordinate { joint, index }) => {
                (self.joints.get(joint)).is_some_and(|j| j.kind.is_angle(index))
            }
            PrescribedCoordinate::Body(_, coordinate) => coordinate == BodyCoordinate::Angle,
        }
    }

    fn force_fields(&self, force: usize) -> Vec<(&'static str, ForceField)> {
        let loads = |torque: bool, force: bool| {
            let plane = self.dimension == 2;
            let all: &[(&str, ForceField)] = if plane {
                &PLANE_FORCE_LOADS
            } else {
                &SPACE_FORCE_LOADS
            };
            let wanted = move |field: &ForceField| match field {
                ForceField::Load(_) => force,
                _ => torque,
            };
            all.iter()
                .copied()
                .filter(move |(_, field)| wanted(field))
                .collect::<Vec<_>>()
        };
        let turns = self.turns(force);
        match (&self.forces[force].kind, &self.forces[force].on) {
            (ForceKind::Actuator { .. }, ForceApplication::Joint(_)) if turns => {
                TURNING_FORCE_FIELDS.to_vec()
            }
            (ForceKind::Actuator { .. }, ForceApplication::Joint(_)) => {
                SLIDING_FORCE_FIELDS.to_vec()
            }
            (ForceKind::SpringDamper(_), ForceApplication::Joint(_)) if turns => {
                TORSION_FIELDS.to_vec()
            }
            (
                ForceKind::Load {
                    load: LoadDefinition::Force,
                    ..
                },
                _,
            ) => loads(false, true),
            (
                ForceKind::Load {
                    load: LoadDefinition::Torque,
                    ..
                },
                _,
            ) => loads(true, false),
            (ForceKind::Bushing { .. }, _) => loads(true, true),
            (ForceKind::Tyre(_) | ForceKind::Contact(_), _) => {
                [POINT_FORCE_FIELDS.to_vec(), loads(false, true)].concat()
            }
            _ => POINT_FORCE_FIELDS.to_vec(),
        }
    }

    /// Friction and stops in the coordinates of a joint.
    fn drag_fields(&self, joint: usize) -> Vec<(&'static str, JointField)> {
        let joint = &self.joints[joint];
        let count = joint.kind.coordinates(self.dimension);
        let mut all = Vec::new();
        for k in 0..count {
            let name = if count == 1 { 0 } else { k + 1 };
            if has(&joint.friction, k) {
                all.push((
                    ["friction", "friction1", "friction2", "friction3"][name],
                    JointField::Friction(k),
                ));
            }
            if has(&joint.limits, k) {
                all.push((
                    ["stop", "stop1", "stop2", "stop3"][name],
                    JointField::Stop(k),
                ));
            }
        }
        all
    }

    /// The fields of an element, each field once or, where it has two names, one after the other.
    fn fields(&self, element: NamedElement) -> Vec<(&'static str, Quantity)> {
        match element {
            NamedElement::Body(i) => (body_fields(self.dimension).iter())
                .map(|(name, field)| (*name, Quantity::Body(i, *field)))
                .collect(),
            NamedElement::Sensor(i) => (body_fields(self.dimension).iter())
                .map(|(name, field)| (*name, Quantity::Sensor(i, *field)))
                .collect(),
            NamedElement::Joint(i) => joint_fields(self.joints[i].kind, self.dimension)
                .chain(self.drag_fields(i))
                .map(|(name, field)| (name, Quantity::Joint(i, field)))
                .collect(),
            NamedElement::Motion(i) => (MOTION_FIELDS.iter())
                .map(|(name, field)| (*name, Quantity::Motion(i, *field)))
                .collect(),
            NamedElement::Force(i) => (self.force_fields(i).into_iter())
                .map(|(name, field)| (name, Quantity::Force(i, field)))
                .collect(),
        }
    }

    /// A quantity by its dotted name.
    pub fn quantity(&self, dotted: &str) -> Result<Quantity> {
        self.resolve_quantity(dotted, |name| self.element(name))
            .map_err(|_| Error::UnknownVariable {
                name: dotted.to_owned(),
                nearest: nearest(dotted, self.quantities().into_iter().map(|(name, _)| name)),
            })
    }

    /// The quantity of each declared output, in their order.
    pub fn output_quantities(&self) -> Result<Vec<Quantity>> {
        let names: HashMap<&str, NamedElement> = (self
            .elements()
            .map(|element| (self.name_of(element), element)))
        .collect();
        (self.outputs.iter())
            .map(|output| {
                self.resolve_quantity(&output.source, |name| names.get(name).copied())
                    .or_else(|_| self.quantity(&output.source))
            })
            .collect()
    }

    /// The same as [`Model::quantity`] with a sentence as error, and with the finding of elements left to the caller.
    pub(super) fn resolve_quantity(
        &self,
        dotted: &str,
        find: impl Fn(&str) -> Option<NamedElement>,
    ) -> std::result::Result<Quantity, String> {
        if dotted == "time" {
            return Ok(Quantity::Time);
        }
        if let Some(counts) = counts(self)
            && !matches!(element_and_field(dotted), Some(("energy" | "solver", _)))
        {
            return unknown_of(counts, dotted);
        }
        let Some((element, field)) = element_and_field(dotted) else {
            let found = match dotted {
                "energy" | "solver" => true,
                _ => find(dotted).is_some(),
            };
            let hint = if found {
                format!("; \"{dotted}\" alone is none, give one of its fields")
            } else {
                did_you_mean(dotted, ["time"])
            };
            return Err(format!(
                "there is no quantity \"{}\": expected <element>.<field> or time{hint}",
                shorten(dotted)
            ));
        };
        let (kind, fields) = match element {
            "energy" => (
                String::new(),
                (ENERGY_FIELDS.iter())
                    .map(|(name, field)| (*name, Quantity::Energy(*field)))
                    .collect(),
            ),
            "solver" => (
                String::new(),
                (SOLVER_FIELDS.iter())
                    .map(|(name, field)| (*name, Quantity::Solver(*field)))
                    .collect(),
            ),
            "ground" => return Err("the ground does not move: it has no quantities".to_owned()),
            _ => match find(element) {
                Some(found) => (format!("{} ", found.kind()), self.fields(found)),
                None => {
                    let names = self.element_names().chain(["energy", "solver"]);
                    let near = did_you_mean(element, names);
                    return Err(format!(
                        "there is no element \"{}\"{near}",
                        shorten(element)
                    ));
                }
            },
        };
        match fields.iter().find(|(name, _)| *name == field) {
            Some((_, quantity)) => Ok(*quantity),
            None => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                let near = match did_you_mean(field, &names) {
                    near if names.is_empty() => format!("{near}; it has none"),
                    near if near.is_empty() => format!("; it has: {}", names.join(", ")),
                    near => near,
                };
                Err(format!(
                    "{kind}\"{element}\" has no quantity \"{}\"{near}",
                    shorten(field)
                ))
            }
        }
    }

    /// All quantities with their dotted names, each once.
    pub fn quantities(&self) -> Vec<(String, Quantity)> {
        let mut all = vec![("time".to_owned(), Quantity::Time)];
        if let Some(counts) = counts(self) {
            for ((letters, quantity), count) in NUMBERED.iter().zip(counts) {
                all.extend((0..count).map(|i| (format!("{letters}{}", i + 1), quantity(i))));
            }
        }
        for element in self.elements() {
            for (field, quantity) in self.fields(element) {
                if all.last().is_none_or(|(_, last)| *last != quantity) {
                    all.push((format!("{}.{field}", self.name_of(element)), quantity));
                }
            }
        }
        for (name, field) in ENERGY_FIELDS {
            all.push((format!("energy.{name}"), Quantity::Energy(field)));
        }
        for (name, field) in SOLVER_FIELDS {
            all.push((format!("solver.{name}"), Quantity::Solver(field)));
        }
        all
    }

    /// The unit of a quantity of this model, empty where it has none.
    pub fn unit(&self, quantity: Quantity) -> &'static str {
        let turning = |joint: usize, k: usize| self.joints[joint].kind.is_angle(k);
        match quantity {
            Quantity::Body(_, field) | Quantity::Sensor(_, field) => match field {
                BodyField::Position(_) => "m",
                BodyField::Angle => "rad",
                BodyField::Quaternion(_) => "",
                BodyField::Velocity(_) => "m/s",
                BodyField::AngularVelocity(_) => "rad/s",
                BodyField::Acceleration(_) => "m/s2",
                BodyField::AngularAcceleration(_) => "rad/s2",
            },
            Quantity::Joint(joint, field) => match field {
                JointField::Position(k) if turning(joint, k) => "rad",
                JointField::Position(_) => "m",
                JointField::Speed(k) if turning(joint, k) => "rad/s",
                JointField::Speed(_) => "m/s",
                JointField::Acceleration(k) if turning(joint, k) => "rad/s2",
                JointField::Acceleration(_) => "m/s2",
                JointField::Quaternion(_) => "",
                JointField::Friction(k) | JointField::Stop(k) if turning(joint, k) => "N.m",
                JointField::Force(_) | JointField::Friction(_) | JointField::Stop(_) => "N",
                JointField::Moment(_) => "N.m",
            },
            Quantity::Motion(motion, field) => match (field, self.motion_turns(motion)) {
                (MotionField::Position, true) => "rad",
                (MotionField::Position, false) => "m",
                (MotionField::Speed, true) => "rad/s",
                (MotionField::Speed, false) => "m/s",
                (MotionField::Acceleration, true) => "rad/s2",
                (MotionField::Acceleration, false) => "m/s2",
                (MotionField::Effort, true) => "N.m",
                (MotionField::Effort, false) => "N",
            },
            Quantity::Force(force, field) => match field {
                ForceField::Length if self.turns(force) => "rad",
                ForceField::Length => "m",
                ForceField::Rate if self.turns(force) => "rad/s",
                ForceField::Rate => "m/s",
                ForceField::Load(_) => "N",
                ForceField::Moment(_) => "N.m",
                ForceField::Force if self.turns(force) => "N.m",
                ForceField::Force => "N",
            },
            Quantity::Energy(_) => "J",
            Quantity::Solver(SolverField::StepSize) | Quantity::Time => "s",
            Quantity::Solver(_)
            | Quantity::Coordinate(_)
            | Quantity::Rate(_)
            | Quantity::Acceleration(_)
            | Quantity::Multiplier(_) => "",
        }
    }
}

impl Quantity {
    /// Its unit is the business of whoever wrote the matrices.
    pub(super) fn unit_is_free(self) -> bool {
        matches!(
            self,
            Self::Coordinate(_) | Self::Rate(_) | Self::Acceleration(_) | Self::Multiplier(_)
        )
    }
}

/// An unknown of a model given by its matrices or by code.
fn unknown_of(counts: [usize; 4], name: &str) -> std::result::Result<Quantity, String> {
    for ((letters, quantity), count) in NUMBERED.iter().zip(counts) {
        if let Some(i) = numbered(name, letters) {
            return match count {
                0 => Err(format!(
                    "there is no \"{name}\": the system has no constraint"
                )),
                _ if i >= count => Err(format!(
                    "there is no \"{name}\": the last is {letters}{count}"
                )),
                _ => Ok(quantity(i)),
            };
        }
    }
    let [q, n, ..] = counts;
    let multipliers = match counts[3] {
        0 => String::new(),
        rows => format!(", lambda1 .. lambda{rows}"),
    };
    Err(format!(
        "there is no quantity \"{}\": expected q1 .. q{q}, v1 .. v{n}, a1 .. a{n}{multipliers}, energy.<field>, \
         solver.<field> or time",
        shorten(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model;

    #[test]
    fn every_quantity_is_found_by_its_name() {
        for file in [
            "slider_crank.toml",
            "oscillator.toml",
            "double_four_bar.toml",
        ] {
            let model = model(file);
            let all = model.quantities();
            for (name, quantity) in &all {
                assert_eq!(model.quantity(name).as_ref(), Ok(quantity), "{name}");
                assert_eq!(
                    all.iter().filter(|(_, other)| other == quantity).count(),
                    1,
                    "{name} is listed once"
                );
            }
        }
    }

    #[test]
    fn outputs_are_found_as_by_their_names() {
        let model = model("slider_crank.toml");
        let one_by_one: Vec<_> = (model.outputs.iter())
            .map(|output| model.quantity(&output.source).unwrap())
            .collect();
        assert_eq!(model.output_quantities().unwrap(), one_by_one);
    }

    #[test]
    fn units_belong_to_the_kind_of_joint_and_force() {
        let crank = model("slider_crank.toml");
        let spring = model("oscillator.toml");
        for (model, name, unit) in [
            (&crank, "pivot.position", "rad"),
            (&crank, "pivot.speed", "rad/s"),
            (&crank, "guide.position", "m"),
            (&crank, "guide.mz", "N.m"),
            (&crank, "motor.torque", "N.m"),
            (&crank, "motor.force", "N.m"),
            (&crank, "crank.alphaz", "rad/s2"),
            (&crank, "energy.total", "J"),
            (&crank, "solver.step_size", "s"),
            (&crank, "solver.steps", ""),
            (&crank, "time", "s"),
            (&spring, "spring.force", "N"),
            (&spring, "spring.rate", "m/s"),
            (&spring, "block.ax", "m/s2"),
        ] {
            assert_eq!(model.unit(model.quantity(name).unwrap()), unit, "{name}");
        }
    }

    #[test]
    fn an_unknown_quantity_names_the_nearest() {
        let model = model("slider_crank.toml");
        for (name, meant) in [
            ("crank.agnle", Some("crank.angle")),
            ("cranck.x", Some("crank.x")),
            ("energy.totl", Some("energy.total")),
            ("motor.length", None),
            ("ground.x", None),
            ("crank.z", Some("crank.x")),
            ("", None),
            (".", None),
            ("crank.", None),
        ] {
            match model.quantity(name) {
                Err(Error::UnknownVariable { nearest, .. }) => {
                    if let Some(meant) = meant {
                        assert_eq!(nearest.as_deref(), Some(meant), "{name}");
                    }
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
