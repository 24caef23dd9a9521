//! Links joined by joints, as URDF and MJCF have them, become bodies and joints of the model.
//!
//! The frame of a body is that of its link, so points and axes keep their numbers. A link without freedom is merged with its parent:
//! the mass properties are added, its frame becomes a sensor. Joints are given in the frames of their bodies.

use nalgebra::{Unit, UnitQuaternion, Vector3};

use super::axis_mass;
use super::combined_joint::{combined, is_left_handed, joint_frames};
use super::draft::{Draft, NamedCoordinate};
use super::frame::{FramePlacement, MassProperties};
use super::link_rate::LinkRate;
use super::massless_link;
use super::moved_inertia::{self, NO_INERTIA};
use super::xml::{XmlNode, XmlPosition};
use crate::linalg::elementary::rotation_about;
use crate::model::{
    Body, BodyRef, BodyShape, Characteristic, FrictionDefinition, Joint, JointCoordinate,
    JointKind, JointLimits, JointPlacement, LimitLaw, MeshFile, RestitutionLaw, RigidImpact,
    Sensor, SpringDefinition,
};

/// Speed below which imported dry friction is regularised (rad/s or m/s): robots move at some rad/s, and one part in a thousand of
/// that is not seen.
pub const STICTION_VELOCITY: f64 = 1e-3;

/// Excess over the triangle inequality of inertias that the model accepts.
const INERTIA_SLACK: f64 = 1e-2;

/// The motion that a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeFreedom {
    /// Rotation about the axis.
    Hinge,
    /// Translation along the axis.
    Slide,
    /// Rotation about the point.
    Ball,
    /// Translation perpendicular to the axis and rotation about it.
    Plane,
}

impl TreeFreedom {
    /// Whether a number says where the joint is.
    pub fn has_one_coordinate(self) -> bool {
        matches!(self, Self::Hinge | Self::Slide)
    }
}

/// A joint of a link.
#[derive(Clone, Debug)]
pub struct TreeJoint {
    /// As the file calls it.
    pub name: String,
    /// Where it is in the file.
    pub position: XmlPosition,
    /// For the text.
    pub comment: String,
    /// Its motion.
    pub freedom: TreeFreedom,
    /// Unit vector in the frame of the link.
    pub axis: Vector3<f64>,
    /// In the frame of the link (m).
    pub point: Vector3<f64>,
    /// Coordinate in the pose that the file draws.
    pub reference: f64,
    /// Coordinate at the start.
    pub start: f64,
    /// Orientation of a ball at the start.
    pub start_rotation: UnitQuaternion<f64>,
    /// Lowest and highest coordinate.
    pub limits: Option<[f64; 2]>,
    /// N m s/rad or N s/m
    pub damping: f64,
    /// N m or N
    pub friction: f64,
    /// N m/rad or N/m
    pub stiffness: f64,
    /// Coordinate without spring force.
    pub spring_reference: f64,
    /// Time constant (s) and damping ratio that give stiffness and damping.
    pub spring_damper: Option<[f64; 2]>,
    /// Inertia of the rotor as the coordinate feels it (kg m² or kg).
    pub armature: f64,
    /// Rate of the coordinate at the start.
    pub speed: f64,
    /// Angular velocity of a ball at the start, in the axes of the link (rad/s).
    pub spin: Vector3<f64>,
    /// Of the sum of all actuators of the joint (N m or N), and the element that says so.
    pub effort_limits: Option<([f64; 2], XmlNode)>,
    /// What the joint moves in the drawn pose, with the armature (kg m² or kg).
    pub inertia: f64,
    /// Limits as the file has them, also where they are left out.
    pub range: Option<[f64; 2]>,
}

/// A link and the joints between it and its parent.
#[derive(Clone, Debug)]
pub struct TreeLink {
    /// As the file calls it.
    pub name: String,
    /// Where it is in the file.
    pub position: XmlPosition,
    /// For the text.
    pub comment: String,
    /// Index of the parent, which comes first; `None`: the ground.
    pub parent: Option<usize>,
    /// In the frame of the parent, in the pose that the file draws.
    pub placement: FramePlacement,
    /// From the parent outwards.
    pub joints: Vec<TreeJoint>,
    /// Free in space.
    pub is_free: bool,
    /// Of a free link: where it is at the start, if not where it is drawn.
    pub free_start: Option<FramePlacement>,
    /// Of a free link at the start: velocity in ground axes, angular velocity in its own.
    pub rate: [Vector3<f64>; 2],
    /// Of a free link: stiffness (N/m, N m/rad) and damping (N s/m, N m s/rad) that hold it where it is drawn, the same in all directions.
    pub free_spring: [f64; 2],
    /// Of a free link: time constant (s) and damping ratio that give them.
    pub free_spring_damper: Option<[f64; 2]>,
    /// Of a free link: inertia of its six freedoms besides that of the body (kg, kg m²).
    pub free_armature: f64,
    /// Between the joints of one body of the file; the next link is that body or between its joints too.
    pub is_between: bool,
    /// Its joints are among those of another link; nothing is left of it.
    pub is_absent: bool,
    /// In the frame of the link.
    pub mass: MassProperties,
    /// What is drawn for it.
    pub mesh: Option<MeshFile>,
}

impl TreeLink {
    /// Whether it is part of the body of its parent.
    pub fn is_merged(&self) -> bool {
        self.joints.is_empty() && !self.is_free && !self.is_absent
    }
}

/// Where the links and joints are in the model.
#[derive(Default)]
pub struct TreeMap {
    /// Body of each link, and its frame there.
    pub links: Vec<(BodyRef, FramePlacement)>,
    /// Coordinate of each joint of each link; none if it has none.
    pub coordinates: Vec<Vec<Option<NamedCoordinate>>>,
}

impl TreeJoint {
    /// Without a name, at the origin, about or along x, with nothing acting in it.
    pub fn new(freedom: TreeFreedom) -> Self {
        Self {
            name: String::new(),
            position: XmlPosition::default(),
            comment: String::new(),
            freedom,
            axis: Vector3::x(),
            point: Vector3::zeros(),
            reference: 0.0,
            start: 0.0,
            start_rotation: UnitQuaternion::identity(),
            limits: None,
            damping: 0.0,
            friction: 0.0,
            stiffness: 0.0,
            spring_reference: 0.0,
            spring_damper: None,
            armature: 0.0,
            speed: 0.0,
            spin: Vector3::zeros(),
            effort_limits: None,
            inertia: 0.0,
            range: None,
        }
    }

    /// Motion from the drawn pose to the coordinate `value`, in the frame of the link.
    pub fn motion(&self) -> FramePlacement {
        let at = FramePlacement {
            position: self.point,
            ..FramePlacement::default()
        };
        let moved = match self.freedom {
            TreeFreedom::Hinge => {
                let angle = self.start - self.reference;
                FramePlacement::rotation(rotation_about(&Unit::new_unchecked(self.axis), angle))
            }
            TreeFreedom::Slide => {
                FramePlacement::translation((self.axis * (self.start - self.reference)).into())
            }
            TreeFreedom::Ball => FramePlacement::rotation(self.start_rotation),
            TreeFreedom::Plane => FramePlacement::default(),
        };
        at.then(&moved).then(&at.inverse())
    }
}

/// Adds the links to a draft: bodies, joints, what acts in the coordinates, sensors for merged links.
pub fn add(draft: &mut Draft, links: &mut [TreeLink]) -> TreeMap {
    moved_inertia::fix_joints_without(draft, links);
    massless_link::merge_joints(draft, links);
    let mut map = TreeMap::default();
    // Poses of the links at the start, and of the bodies.
    let mut poses: Vec<FramePlacement> = vec![];
    let mut rates: Vec<LinkRate> = vec![];
    let mut body_poses: Vec<(FramePlacement, LinkRate)> = vec![];
    let mut masses: Vec<MassProperties> = vec![];
    let mut owners: Vec<usize> = vec![];
    for (k, link) in links.iter().enumerate() {
        let parent_pose = link.parent.map_or(FramePlacement::default(), |p| poses[p]);
        let first = link.free_start.unwrap_or(link.placement);
        let moved = (link.joints.iter()).fold(first, |at, joint| at.then(&joint.motion()));
        let pose = parent_pose.then(&moved);
        poses.push(pose);
        let parent_rate = link.parent.map_or(LinkRate::default(), |p| rates[p]);
        let rate = LinkRate::of(link, &parent_pose, &parent_rate);
        rates.push(rate);
        let (parent_body, parent_at) = match link.parent {
            Some(p) => map.links[p],
            None => (None, FramePlacement::default()),
        };
        if link.is_merged() {
            // In the frame of the body that it is merged with.
            let at = parent_at.then(&link.placement);
            if let Some(b) = parent_body {
                masses[b] = masses[b].with(&link.mass.placed(&at));
            }
            map.links.push((parent_body, at));
            continue;
        }
        if link.is_absent {
            map.links.push((None, FramePlacement::default()));
            continue;
        }
        let body = body_poses.len();
        body_poses.push((pose, rate));
        masses.push(link.mass);
        owners.push(k);
        map.links.push((Some(body), FramePlacement::default()));
    }
    for (b, owner) in owners.iter().enumerate() {
        repair(draft, &links[*owner], &mut masses[b]);
    }
    axis_mass::share(draft, links, &map, &mut masses);
    for (b, owner) in owners.iter().enumerate() {
        add_body(draft, &links[*owner], &body_poses[b], &masses[b]);
    }
    for (k, link) in links.iter().enumerate() {
        let coordinates = match link.joints.is_empty() {
            true => vec![],
            false => add_joints(draft, link, k, &map),
        };
        let frames = [link.placement, FramePlacement::default()];
        let bodies = [None, map.links[k].0];
        add_bushing(draft, &link.name, (bodies, frames), link.free_spring, 0);
        map.coordinates.push(coordinates);
    }
    for (k, link) in links.iter().enumerate() {
        let (body, at) = map.links[k];
        if link.is_merged() && body.is_some() {
            let name = draft.element_name("link", &link.name, Some(link.position));
            draft.comments.insert(name.clone(), link.comment.clone());
            draft.model.sensors.push(Sensor {
                name,
                body,
                point: at.position.into(),
                text_position: Default::default(),
            });
        }
    }
    map
}

/// Makes an inertia that no body can have one that is possible.
fn repair(draft: &mut Draft, link: &TreeLink, mass: &mut MassProperties) {
    let size = mass.inertia.amax();
    if size > 0.0 && size <= NO_INERTIA * mass.mass {
        let words = format!(
            "the inertia of link \"{}\", {size:.1e} kg.m2, is that of a point and taken as zero",
            link.name
        );
        draft.note(words, Some(link.position));
        mass.inertia.fill(0.0);
    }
    if let Some(change) = mass.repair(INERTIA_SLACK) {
        draft.note(
            format!(
                "the inertia of link \"{}\" is not that of a body; principal moments were raised by up to {change:.2e} kg.m2",
                link.name
            ),
            Some(link.position),
        );
    }
}

fn add_body(
    draft: &mut Draft,
    link: &TreeLink,
    (pose, rate): &(FramePlacement, LinkRate),
    mass: &MassProperties,
) {
    let name = draft.element_name("link", &link.name, Some(link.position));
    draft.comments.insert(name.clone(), link.comment.clone());
    draft.model.bodies.push(Body {
        name,
        mass: mass.mass,
        inertia: mass.tensor(),
        position: pose.position.into(),
        orientation: pose.quaternion(),
        velocity: rate.velocity.into(),
        angular_velocity: rate.spin.into(),
        center_of_mass: mass.center.into(),
        shape: link.mesh.clone().map(BodyShape::Mesh),
        ..Body::default()
    });
}

/// Adds the joint between a link and its parent, and what acts in its coordinates.
fn add_joints(
    draft: &mut Draft,
    link: &TreeLink,
    k: usize,
    map: &TreeMap,
) -> Vec<Option<NamedCoordinate>> {
    let (parent_body, parent_at) = match link.parent {
        Some(p) => map.links[p],
        None => (None, FramePlacement::default()),
    };
    let drawn = parent_at.then(&link.placement);
    let (kind, indices) = combined(&link.joints).expect("readers split other combinations");
    let names: Vec<&str> = link.joints.iter().map(|j| j.name.as_str()).collect();
    let first = &link.joints[0];
    let name = draft.element_name("joint", &names.join("_"), Some(first.position));
    let comments: Vec<&str> = link.joints.iter().map(|j| j.comment.as_str()).collect();
    draft.comments.insert(name.clone(), comments.join("; "));
    let index = draft.model.joints.len();
    let count = kind.coordinates(3);
    let (mut friction, mut limits) = (vec![None; count], vec![None; count]);
    let mut armature = [0.0; 3];
    for (joint, i) in link.joints.iter().zip(&indices) {
        armature[*i] = joint.armature;
        friction[*i] = (joint.friction > 0.0).then(|| dry_friction(joint.friction));
        limits[*i] = joint.limits.map(rigid_limits);
    }
    if kind == JointKind::Spherical {
        armature[0] = first.armature;
        friction.extend((first.friction > 0.0).then(|| Some(dry_friction(first.friction))));
    }
    let none = |list: &[bool]| !list.contains(&true);
    if none(&friction.iter().map(Option::is_some).collect::<Vec<_>>()) {
        friction.clear();
    }
    if none(&limits.iter().map(Option::is_some).collect::<Vec<_>>()) {
        limits.clear();
    }
    draft.model.joints.push(Joint {
        name: name.clone(),
        kind,
        bodies: [parent_body, map.links[k].0],
        frame: JointPlacement::BodyFrames(joint_frames(&link.joints, kind, &indices, &drawn)),
        friction,
        limits,
        armature,
        mirrored: kind == JointKind::Gimbal && is_left_handed(&link.joints),
        ..Joint::default()
    });
    hold_others(draft, index, &indices);
    if kind == JointKind::Spherical {
        let point = FramePlacement::translation(first.point.into());
        let place = ([parent_body, map.links[k].0], [drawn.then(&point), point]);
        add_bushing(draft, &name, place, [first.stiffness, first.damping], 3);
    }
    let mut coordinates = vec![];
    for (j, joint) in link.joints.iter().enumerate() {
        let Some(i) = indices.get(j) else {
            coordinates.push(None);
            continue;
        };
        let coordinate = NamedCoordinate {
            coordinate: JointCoordinate {
                joint: index,
                index: *i,
            },
            name: match link.joints.len() {
                1 => name.clone(),
                _ => joint.name.clone(),
            },
            is_angle: joint.freedom == TreeFreedom::Hinge,
            of: count,
        };
        add_spring(draft, joint, &coordinate);
        coordinates.push(Some(coordinate));
    }
    coordinates
}

/// Holds the coordinates of a joint that the file does not have at zero.
fn hold_others(draft: &mut Draft, joint: usize, used: &[usize]) {
    let count = draft.model.joints[joint].kind.coordinates(3);
    for index in (0..count).filter(|k| !used.is_empty() && !used.contains(k)) {
        let name = format!("{}_held", draft.model.joints[joint].name);
        let on = JointCoordinate { joint, index };
        draft.add_held(&name, on, 0.0);
    }
}

/// Adds a spring and damper that is the same in all directions of a ball (from 3, rotations) or a free link (from 0).
fn add_bushing(
    draft: &mut Draft,
    name: &str,
    (bodies, frames): ([BodyRef; 2], [FramePlacement; 2]),
    factors: [f64; 2],
    from: usize,
) {
    if factors != [0.0; 2] {
        let six = |factor| std::array::from_fn(|k| if k < from { 0.0 } else { factor });
        draft.add_bushing(name, bodies, frames, factors.map(six));
    }
}

fn add_spring(draft: &mut Draft, joint: &TreeJoint, coordinate: &NamedCoordinate) {
    if joint.stiffness == 0.0 && joint.damping == 0.0 {
        return;
    }
    let spring = SpringDefinition {
        stiffness: Characteristic::Linear(joint.stiffness),
        damping: Characteristic::Linear(joint.damping),
        length: match joint.stiffness > 0.0 {
            true => joint.spring_reference,
            false => 0.0,
        },
        ..SpringDefinition::default()
    };
    draft.add_joint_spring(coordinate, spring);
}

/// Regularised dry friction.
pub fn dry_friction(level: f64) -> FrictionDefinition {
    FrictionDefinition {
        kinetic: level,
        r#static: level,
        stiction_velocity: Some(STICTION_VELOCITY),
        stribeck_velocity: None,
        viscous: 0.0,
    }
}

/// Rigid limits without rebound.
pub fn rigid_limits(range: [f64; 2]) -> JointLimits {
    JointLimits {
        range,
        stop: LimitLaw::Rigid(RigidImpact {
            restitution: 0.0,
            law: RestitutionLaw::Newton,
            rest_speed: None,
        }),
    }
}
