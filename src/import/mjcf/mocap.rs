//! `mocap` bodies: their poses come from outside. One that something hangs on becomes two bodies, a prescribed one at its place and one
//! that turns on it, and six inputs: x, y, z in the ground frame, and roll, pitch, yaw about the axes of the ground since the drawn pose,
//!
//! ```text
//!   R = Rz(yaw) Ry(pitch) Rx(roll) R_drawn,      |pitch| < 90°
//! ```

use nalgebra::{UnitQuaternion, Vector3};

use super::body::BodyReader;
use crate::import::draft::Draft;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::tree::{TreeFreedom, TreeJoint, TreeLink, TreeMap};
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode};
use crate::model::{BodyCoordinate, Motion, MotionLaw, PrescribedCoordinate, Target};

/// Names of the angles and their axes, from the ground outwards.
const ANGLES: [(&str, [f64; 3]); 3] = [
    ("yaw", [0.0, 0.0, 1.0]),
    ("pitch", [0.0, 1.0, 0.0]),
    ("roll", [1.0, 0.0, 0.0]),
];

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

    /// The link at the place of a mocap body, which is to be added before it; `link` becomes one that turns on it. `None` if nothing hangs
    /// on the body, which then stays where it is.
    pub(super) fn mocap(&mut self, node: XmlNode, link: &mut TreeLink) -> Option<Vec<TreeJoint>> {
        let xml = self.defaults.xml;
        if !self.moves_something(node) {
            let why = "a mocap body on which nothing hangs".to_owned();
            xml.mark(node, "mocap", Fate::Dropped(why, Concern::Picture));
            self.mocaps.push(None);
            return None;
        }
        let place = self.links.len();
        let FramePlacement { position, rotation } = link.placement;
        self.links.push(TreeLink {
            name: format!("{}_place", link.name),
            comment: format!("place of the mocap {}", link.comment),
            placement: FramePlacement::translation(position.into()),
            is_prescribed: true,
            mass: MassProperties::default(),
            ..link.clone()
        });
        let joints = ANGLES.map(|(name, axis)| TreeJoint {
            name: format!("{}_{name}", link.name),
            position: link.position,
            comment: format!("{name} of the mocap body"),
            axis: rotation.inverse() * Vector3::from(axis),
            // Of the middle one: the joint is singular at a quarter turn.
            range: Some([-1.57, 1.57]),
            ..TreeJoint::new(TreeFreedom::Hinge)
        });
        // What is prescribed has no inertia to speak of.
        link.mass = MassProperties::default();
        link.comment = format!("mocap {}", link.comment);
        link.parent = Some(place);
        link.placement = FramePlacement::rotation(rotation);
        self.mocaps.push(Some(place));
        Some(joints.into())
    }
}

/// Sets the start of the mocap body at a place.
pub fn set_start(reader: &mut BodyReader, place: usize, pose: FramePlacement) {
    reader.links[place].free_start = Some(FramePlacement::translation(pose.position.into()));
    let body = &mut reader.links[place + 1];
    let turn: UnitQuaternion<f64> = pose.rotation * body.placement.rotation.inverse();
    let (roll, pitch, yaw) = turn.euler_angles();
    for (joint, angle) in body.joints.iter_mut().zip([yaw, pitch, roll]) {
        joint.start = angle;
    }
}

/// Adds the motions of mocap bodies and the inputs that drive them; `places` are the links there.
pub fn add(places: &[Option<usize>], links: &[TreeLink], map: &TreeMap, draft: &mut Draft) {
    for &place in places.iter().flatten() {
        let (Some(body), link) = (map.links[place].0, &links[place + 1]) else {
            continue;
        };
        let position = links[place].free_start.unwrap_or(links[place].placement);
        for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
            let on = PrescribedCoordinate::Body(body, BodyCoordinate::Position(k));
            let name = format!("{}_{axis}", link.name);
            add_motion(draft, &name, on, position.position[k]);
        }
        for (joint, of) in link.joints.iter().zip(&map.coordinates[place + 1]) {
            if let Some(of) = of {
                let on = PrescribedCoordinate::Joint(of.coordinate);
                add_motion(draft, &joint.name, on, joint.start);
            }
        }
    }
}

fn add_motion(draft: &mut Draft, name: &str, on: PrescribedCoordinate, start: f64) {
    let target = Target::Motion(draft.model.motions.len());
    let own = draft.element_name("motion", name, None);
    draft.model.motions.push(Motion {
        name: own,
        on,
        axis: [0.0, 0.0, 1.0],
        law: MotionLaw::Input { order: 0, start },
        text_position: Default::default(),
    });
    draft.add_input(name, target, start);
}
