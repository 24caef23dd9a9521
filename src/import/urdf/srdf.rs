//! SRDF: start poses (`<group_state>`), virtual joints, rotor parameters.

use std::collections::HashMap;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::joint::UrdfJoint;
use crate::error::Result;
use crate::import::BaseMotion;
use crate::import::frame::FramePlacement;
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode};

/// What an SRDF file says of the start.
#[derive(Default)]
pub struct StartPose {
    /// Values of joints by name.
    pub values: HashMap<String, f64>,
    /// Whether the root moves.
    pub base: Option<BaseMotion>,
    /// Pose of the root.
    pub base_pose: FramePlacement,
    /// For the report.
    pub notes: Vec<String>,
}

/// Reads an SRDF file; `state` is the name of the group state to start from, the first without it.
pub fn read(
    xml: &XmlFiles,
    root: XmlNode,
    joints: &mut [UrdfJoint],
    state: Option<&str>,
) -> Result<StartPose> {
    if xml.tag(root) != "robot" {
        let message = format!("the root is <{}>; expected <robot> (SRDF)", xml.tag(root));
        return Err(xml.error(root, message));
    }
    xml.keep(root);
    xml.value(root, "name");
    let mut pose = StartPose::default();
    let mut virtual_joint = None;
    for node in xml.all(root, "virtual_joint") {
        let kind = xml.required(node, "type")?;
        virtual_joint = xml.value(node, "name").map(str::to_owned);
        pose.base = match kind {
            "floating" => Some(BaseMotion::Free),
            _ => Some(BaseMotion::Fixed),
        };
        if kind == "planar" {
            let why = "a planar virtual joint: the root is fixed".to_owned();
            xml.mark(node, "type", Fate::Dropped(why, Concern::Dynamics));
        }
        xml.value(node, "parent_frame");
        xml.value(node, "child_link");
    }
    let states = (xml.children(root).into_iter()).filter(|c| xml.tag(*c) == "group_state");
    let mut states = states.filter(|node| {
        let name = xml.attribute(*node, "name").map(|a| a.value.as_str());
        state.is_none_or(|wanted| name == Some(wanted))
    });
    match (states.next(), state) {
        (Some(node), _) => start(xml, node, joints, virtual_joint.as_deref(), &mut pose)?,
        (None, Some(wanted)) => {
            let message = format!("there is no <group_state> \"{wanted}\"");
            return Err(xml.error(root, message));
        }
        (None, None) => {}
    }
    rotors(xml, root, joints)?;
    for node in xml.children(root) {
        if *xml.elements[node].fate.borrow() == Fate::Unread {
            let (why, concern) = match xml.tag(node) {
                "group_state" => ("another start pose", Concern::Other),
                "disable_collisions" | "enable_collisions" | "disable_default_collisions" => {
                    ("contacts are not imported from URDF", Concern::Contact)
                }
                _ => ("it does not change the motion", Concern::Other),
            };
            xml.drop_all(node, why, concern);
        }
    }
    Ok(pose)
}

fn start(
    xml: &XmlFiles,
    node: XmlNode,
    joints: &[UrdfJoint],
    virtual_joint: Option<&str>,
    pose: &mut StartPose,
) -> Result<()> {
    xml.keep(node);
    let name = xml.value(node, "name").unwrap_or("").to_owned();
    xml.value(node, "group");
    pose.notes
        .push(format!("the start pose is \"{name}\" of the SRDF file"));
    for child in xml.all(node, "joint") {
        let name = xml.required(child, "name")?.to_owned();
        let values = xml.list(child, "value")?.unwrap_or_default();
        let known = joints.iter().any(|joint| joint.name == name);
        match &values[..] {
            [value] if known => {
                pose.values.insert(name, *value);
            }
            [x, y, z, qx, qy, qz, qw] if virtual_joint == Some(&name) || name == "root_joint" => {
                let rotation = Quaternion::new(*qw, *qx, *qy, *qz);
                if rotation.norm() > 0.0 {
                    pose.base_pose = FramePlacement {
                        position: Vector3::new(*x, *y, *z),
                        rotation: UnitQuaternion::from_quaternion(rotation),
                    };
                }
            }
            _ => {
                let why = "no joint of this name with so many values";
                xml.drop_all(child, why, Concern::Other);
            }
        }
    }
    Ok(())
}

/// `<rotor_params>`: mass (inertia) and gear ratio of rotors, as Pinocchio reads them.
fn rotors(xml: &XmlFiles, root: XmlNode, joints: &mut [UrdfJoint]) -> Result<()> {
    for node in xml.all(root, "rotor_params") {
        for child in xml.all(node, "joint") {
            let name = xml.required(child, "name")?;
            let found = joints.iter_mut().find(|joint| joint.name == name);
            let Some(joint) = found else {
                xml.drop_all(child, "no joint of this name", Concern::Other);
                continue;
            };
            let inertia = xml.number(child, "mass")?.unwrap_or(0.0);
            let ratio = xml.number(child, "gear_ratio")?.unwrap_or(0.0);
            joint.tree.armature += inertia * ratio * ratio;
        }
    }
    Ok(())
}
