//! `mocap` bodies: their poses come from outside. One that something hangs on is driven in six coordinates, each with an input: x, y, z in the
//! ground frame, and yaw, pitch, roll about the axes of the ground since the drawn pose,
//!
//! ```text
//!   R = Rz(yaw) Ry(pitch) Rx(roll) R_drawn
//! ```

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::body::BodyReader;
use crate::import::draft::Draft;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::tree::{TreeFreedom, TreeJoint, TreeLink, TreeMap};
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode};
use crate::linalg::elementary::atan2;
use crate::model::{JointCoordinate, Motion, MotionLaw, PrescribedCoordinate, Target};

/// Names of the coordinates and their axes, from the ground outwards.
const COORDINATES: [(&str, TreeFreedom, [f64; 3]); 6] = [
    ("x", TreeFreedom::Slide, [1.0, 0.0, 0.0]),
    ("y", TreeFreedom::Slide, [0.0, 1.0, 0.0]),
    ("z", TreeFreedom::Slide, [0.0, 0.0, 1.0]),
    ("yaw", TreeFreedom::Hinge, [0.0, 0.0, 1.0]),
    ("pitch", TreeFreedom::Hinge, [0.0, 1.0, 0.0]),
    ("roll", TreeFreedom::Hinge, [1.0, 0.0, 0.0]),
];

/// Mass properties of what is driven: any that are those of a body, since they change nothing but the efforts of the drives.
fn driven_mass() -> MassProperties {
    MassProperties {
        mass: 1.0,
        center: Vector3::zeros(),
        inertia: Matrix3::identity() * 0.01,
    }
}

/// The names that equalities have for bodies and sites.
pub fn named_in_equalities(xml: &XmlFiles, root: XmlNode) -> Vec<String> {
    let keys = ["body1", "body2", "site1", "site2"];
    let lists = xml.all(root, "equality").into_iter();
    let nodes = lists.flat_map(|list| xml.children(list));
    let names = nodes.flat_map(|node| keys.map(|key| xml.attribute(node, key)));
    names.flatten().map(|name| name.value.clone()).collect()
}

impl BodyReader<'_> {
    /// Whether a mocap body moves something: a joint below it, or an equality of it or of what is below.
    fn moves_something(&self, node: XmlNode) -> bool {
        let xml = self.defaults.xml;
        let name = xml.attribute(node, "name").map(|a| &a.value);
        let named = name
            .is_some_and(|name| (self.equality_names).contains(&format!("{name}{}", self.suffix)));
        let is_place = matches!(xml.tag(node), "body" | "site");
        is_place && named
            || xml.tag(node) == "joint"
            || (xml.children(node).iter()).any(|child| self.moves_something(*child))
    }

    /// The joints of a mocap body; `None` if nothing hangs on it, and it stays where it is.
    pub(super) fn mocap(&mut self, node: XmlNode, link: &mut TreeLink) -> Option<Vec<TreeJoint>> {
        let xml = self.defaults.xml;
        if !self.moves_something(node) {
            let why = "a mocap body on which nothing hangs".to_owned();
            xml.mark(node, "mocap", Fate::Dropped(why, Concern::Picture));
            self.mocaps.push(None);
            return None;
        }
        let FramePlacement { position, rotation } = link.placement;
        let joint = |k: usize| {
            let (name, freedom, axis) = COORDINATES[k];
            let reference = position.get(k).copied().unwrap_or(0.0);
            TreeJoint {
                name: format!("{}_{name}", link.name),
                position: link.position,
                comment: format!("{name} of a mocap body"),
                axis: rotation.inverse() * Vector3::from(axis),
                reference,
                start: reference,
                ..TreeJoint::new(freedom)
            }
        };
        let joints = (0..6).map(joint).collect();
        link.mass = MassProperties::default();
        link.comment = format!("mocap {}", link.comment);
        Some(joints)
    }
}

/// Gives mass to the links of mocap bodies.
pub fn give_mass(reader: &mut BodyReader) {
    for first in reader.mocaps.clone().into_iter().flatten() {
        let places: Vec<(usize, usize)> = joints(&reader.links, first).collect();
        for (link, _) in places {
            reader.links[link].mass = driven_mass();
        }
    }
}

/// The joints of the mocap body whose links begin with `first`.
fn joints(links: &[TreeLink], first: usize) -> impl Iterator<Item = (usize, usize)> {
    let all = (first..links.len()).flat_map(|k| (0..links[k].joints.len()).map(move |j| (k, j)));
    all.take(COORDINATES.len())
}

/// Where the drawn pose of the mocap body whose links begin with `first` is.
pub fn drawn(links: &[TreeLink], first: usize) -> FramePlacement {
    links[first].placement
}

/// Sets the start of the mocap body whose links begin with `first`.
pub fn set_start(reader: &mut BodyReader, first: usize, pose: FramePlacement) {
    let turn: UnitQuaternion<f64> = pose.rotation * drawn(&reader.links, first).rotation.inverse();
    let [yaw, pitch, roll] = yaw_pitch_roll(&turn.to_rotation_matrix().into_inner());
    let [x, y, z] = pose.position.into();
    let places: Vec<(usize, usize)> = joints(&reader.links, first).collect();
    for ((link, joint), value) in places.into_iter().zip([x, y, z, yaw, pitch, roll]) {
        reader.links[link].joints[joint].start = value;
    }
}

/// The angles of Rz(yaw) Ry(pitch) Rx(roll) = r. Upright, where yaw and roll turn about one axis, the roll is zero.
fn yaw_pitch_roll(r: &Matrix3<f64>) -> [f64; 3] {
    let level = (r[(0, 0)] * r[(0, 0)] + r[(1, 0)] * r[(1, 0)]).sqrt();
    let pitch = atan2(-r[(2, 0)], level);
    match level > 1e-9 {
        true => [
            atan2(r[(1, 0)], r[(0, 0)]),
            pitch,
            atan2(r[(2, 1)], r[(2, 2)]),
        ],
        false => [atan2(-r[(0, 1)], r[(1, 1)]), pitch, 0.0],
    }
}

/// Adds the motions of mocap bodies and the inputs that drive them; `firsts` are the first of their links. Returns the coordinates.
pub fn add(
    firsts: &[Option<usize>],
    links: &[TreeLink],
    map: &TreeMap,
    draft: &mut Draft,
) -> Vec<JointCoordinate> {
    let mut driven = vec![];
    for first in firsts.iter().flatten() {
        for (link, j) in joints(links, *first) {
            let joint = &links[link].joints[j];
            if let Some(of) = &map.coordinates[link][j] {
                add_motion(draft, &joint.name, of.coordinate, joint.start);
                driven.push(of.coordinate);
            }
        }
    }
    driven
}

fn add_motion(draft: &mut Draft, name: &str, on: JointCoordinate, start: f64) {
    let target = Target::Motion(draft.model.motions.len());
    let own = draft.element_name("motion", name, None);
    draft.model.motions.push(Motion {
        name: own,
        on: PrescribedCoordinate::Joint(on),
        axis: [0.0, 0.0, 1.0],
        law: MotionLaw::Input { order: 0, start },
        text_position: Default::default(),
    });
    draft.add_input(name, target, start);
}

#[cfg(test)]
mod tests {
    use nalgebra::Rotation3;

    use super::*;

    #[test]
    fn angles_give_their_rotation_back_upright_too() {
        let quarter = std::f64::consts::FRAC_PI_2;
        for [yaw, pitch, roll] in [
            [0.3, -0.7, 2.9],
            [-3.0, 1.2, -0.1],
            [0.4, quarter, 0.2],
            [0.4, -quarter, 0.2],
        ] {
            let turn = |yaw, pitch, roll| Rotation3::from_euler_angles(roll, pitch, yaw);
            let r = turn(yaw, pitch, roll).into_inner();
            let [yaw, pitch, roll] = yaw_pitch_roll(&r);
            let again = turn(yaw, pitch, roll).into_inner();
            // A few roundings of numbers below one.
            assert!((again - r).abs().max() < 1e-15);
        }
    }
}
