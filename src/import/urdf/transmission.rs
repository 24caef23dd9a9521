//! `<transmission>`: reductions, and rotor inertias where they are given.

use super::joint::UrdfJoint;
use crate::error::Result;
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode};

/// Reads the transmissions. A rotor of inertia J behind a reduction n acts like the inertia n² J of the joint coordinate.
pub fn read(xml: &XmlFiles, root: XmlNode, joints: &mut [UrdfJoint]) -> Result<()> {
    for node in xml.all(root, "transmission") {
        let actuator = xml.one(node, "actuator");
        let rotor = match actuator {
            Some(actuator) => value_of(xml, actuator, "rotor_inertia")?,
            None => None,
        };
        let name = xml
            .one(node, "joint")
            .and_then(|joint| xml.value(joint, "name"));
        let joint = name.and_then(|name| joints.iter_mut().find(|joint| joint.name == name));
        let (Some(rotor), Some(joint)) = (rotor, joint) else {
            let why = "without the inertia of a rotor it does not change the motion";
            xml.drop_all(node, why, Concern::Control);
            continue;
        };
        let ratio = match actuator {
            Some(actuator) => match value_of(xml, actuator, "gear_ratio")? {
                Some(ratio) => Some(ratio),
                None => reduction(xml, actuator)?,
            },
            None => None,
        };
        let ratio = match ratio {
            Some(ratio) => ratio,
            None => reduction(xml, node)?.unwrap_or(1.0),
        };
        joint.tree.armature += ratio * ratio * rotor;
        drop_unread(xml, node);
    }
    Ok(())
}

/// The value of `<prefix:tag value="..">`.
fn value_of(xml: &XmlFiles, node: XmlNode, tag: &str) -> Result<Option<f64>> {
    let found =
        (xml.children(node).into_iter()).find(|c| xml.tag(*c).rsplit(':').next() == Some(tag));
    match found {
        Some(child) => {
            xml.keep(child);
            xml.number(child, "value")
        }
        None => Ok(None),
    }
}

/// `<mechanicalReduction>50</mechanicalReduction>`
fn reduction(xml: &XmlFiles, node: XmlNode) -> Result<Option<f64>> {
    let Some(child) = xml.one(node, "mechanicalReduction") else {
        return Ok(None);
    };
    let text = &xml.elements[child].text;
    match text.parse::<f64>() {
        Ok(ratio) if ratio.is_finite() => Ok(Some(ratio)),
        _ => {
            let message = format!("mechanicalReduction: expected a number, found \"{text}\"");
            Err(xml.error(child, message))
        }
    }
}

fn drop_unread(xml: &XmlFiles, node: XmlNode) {
    let why = "names of the robot's software";
    for child in xml.children(node) {
        if *xml.elements[child].fate.borrow() == Fate::Unread {
            xml.drop_all(child, why, Concern::Control);
        } else {
            drop_unread(xml, child);
        }
    }
    for attribute in &xml.elements[node].attributes {
        if *attribute.fate.borrow() == Fate::Unread {
            let fate = Fate::Dropped(why.to_owned(), Concern::Control);
            attribute.fate.replace(fate);
        }
    }
}
