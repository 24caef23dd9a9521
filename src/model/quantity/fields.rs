//! Fields of each kind of element, by the names of the model file.

use super::resolve::NamedElement;
use super::{BeamField, BodyField, EnergyField, ForceField, JointField, MotionField, Quantity};
use crate::model::joint_force::has;
use crate::model::{ForceApplication, ForceKind, JointKind, LoadDefinition, Model};

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
pub(in crate::model) fn body_fields(dimension: usize) -> &'static [(&'static str, BodyField)] {
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

/// The coordinate of a spherical joint.
const QUATERNION: [(&str, JointField); 4] = [
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

/// Fields of a joint: its coordinates, then its reaction. A coupling has neither.
pub(in crate::model) fn joint_fields(
    kind: JointKind,
    dimension: usize,
) -> impl Iterator<Item = (&'static str, JointField)> {
    let coordinates = match kind.coordinates(dimension) {
        _ if kind == JointKind::Spherical => &QUATERNION[..],
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
pub(in crate::model) const MOTION_FIELDS: [(&str, MotionField); 4] = [
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

/// State of tyres and contacts.
const CONTACT_FIELDS: [(&str, ForceField); 2] =
    [("closed", ForceField::Closed), ("mode", ForceField::Mode)];

/// Fields of actuators in translational coordinates.
const SLIDING_FORCE_FIELDS: [(&str, ForceField); 1] = [("force", ForceField::Force)];

/// Fields of actuators in rotational coordinates: one field with two names.
const TURNING_FORCE_FIELDS: [(&str, ForceField); 2] =
    [("torque", ForceField::Force), ("force", ForceField::Force)];

/// Fields of controllers, besides those of actuators.
const CONTROLLER_FIELDS: [(&str, ForceField); 2] = [
    ("error", ForceField::ControlError),
    ("integral_part", ForceField::Integral),
];

/// Fields of springs in rotational coordinates.
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

pub(in crate::model) const ENERGY_FIELDS: [(&str, EnergyField); 7] = [
    ("kinetic", EnergyField::Kinetic),
    ("potential", EnergyField::Potential),
    ("total", EnergyField::Total),
    ("dissipated", EnergyField::Dissipated),
    ("supplied", EnergyField::Supplied),
    ("balance", EnergyField::Balance),
    ("numerical", EnergyField::Numerical),
];

/// Section forces and strains: name, axis, whether it exists in two dimensions, field.
type SectionField = (&'static str, usize, bool, fn(usize, usize) -> BeamField);
const SECTION_FIELDS: [SectionField; 12] = [
    ("n1", 0, true, BeamField::Force),
    ("n2", 1, true, BeamField::Force),
    ("n3", 2, false, BeamField::Force),
    ("m1", 0, false, BeamField::Moment),
    ("m2", 1, false, BeamField::Moment),
    ("m3", 2, true, BeamField::Moment),
    ("e1", 0, true, BeamField::Strain),
    ("e2", 1, true, BeamField::Strain),
    ("e3", 2, false, BeamField::Strain),
    ("k1", 0, false, BeamField::Curvature),
    ("k2", 1, false, BeamField::Curvature),
    ("k3", 2, true, BeamField::Curvature),
];

impl Model {
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
            (ForceKind::Actuator { .. } | ForceKind::Servo(_), ForceApplication::Joint(_))
                if turns =>
            {
                TURNING_FORCE_FIELDS.to_vec()
            }
            (ForceKind::Actuator { .. } | ForceKind::Servo(_), ForceApplication::Joint(_)) => {
                SLIDING_FORCE_FIELDS.to_vec()
            }
            (ForceKind::Pid(_), _) if turns => {
                [TURNING_FORCE_FIELDS.as_slice(), &CONTROLLER_FIELDS].concat()
            }
            (ForceKind::Pid(_), _) => {
                [SLIDING_FORCE_FIELDS.as_slice(), &CONTROLLER_FIELDS].concat()
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
            (ForceKind::Tyre(_) | ForceKind::Contact(_), _) => [
                POINT_FORCE_FIELDS.to_vec(),
                loads(false, true),
                CONTACT_FIELDS.to_vec(),
            ]
            .concat(),
            _ => POINT_FORCE_FIELDS.to_vec(),
        }
    }

    /// Friction and limit forces in the coordinates of a joint.
    fn joint_force_fields(&self, joint: usize) -> Vec<(&'static str, JointField)> {
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

    /// Section forces and strains of the element that begins at a node of a beam; none of other bodies.
    fn section_fields(&self, body: usize) -> Vec<(&'static str, Quantity)> {
        let Some((beam, k)) = self.beam_of_node(body) else {
            return vec![];
        };
        if k == self.beams[beam].elements {
            return vec![];
        }
        let plane = self.dimension == 2;
        (SECTION_FIELDS.iter())
            .filter(|(_, _, in_plane, _)| *in_plane || !plane)
            .map(|(name, axis, _, field)| (*name, Quantity::Beam(beam, field(k, *axis))))
            .collect()
    }

    /// The fields of an element; the two names of a field stand one after the other.
    pub(in crate::model) fn fields(&self, element: NamedElement) -> Vec<(&'static str, Quantity)> {
        match element {
            NamedElement::Body(i) => (body_fields(self.dimension).iter())
                .map(|(name, field)| (*name, Quantity::Body(i, *field)))
                .chain(self.section_fields(i))
                .collect(),
            NamedElement::Beam(i) => {
                vec![("strain_energy", Quantity::Beam(i, BeamField::StrainEnergy))]
            }
            NamedElement::Sensor(i) => (body_fields(self.dimension).iter())
                .map(|(name, field)| (*name, Quantity::Sensor(i, *field)))
                .collect(),
            NamedElement::Joint(i) => joint_fields(self.joints[i].kind, self.dimension)
                .chain(self.joint_force_fields(i))
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
}
