//! `<joint>`: type, place, axis, limits, damping, friction, mimic.

use nalgebra::Vector3;

use super::link::origin;
use crate::error::Result;
use crate::import::frame::FramePlacement;
use crate::import::tree::{STICTION_VELOCITY, TreeFreedom, TreeJoint};
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode};

/// `<mimic>`: value = multiplier × value of the other joint + offset.
pub struct UrdfMimic {
    pub node: XmlNode,
    pub joint: String,
    pub multiplier: f64,
    pub offset: f64,
}

/// A joint.
pub struct UrdfJoint {
    pub node: XmlNode,
    pub name: String,
    pub parent: String,
    pub child: String,
    /// Of the child's frame in the parent's.
    pub placement: FramePlacement,
    pub is_fixed: bool,
    pub is_floating: bool,
    /// It moves nowhere from its start value.
    pub fixed_at_start: bool,
    pub mimic: Option<UrdfMimic>,
    pub tree: TreeJoint,
    limit: Option<XmlNode>,
}

impl UrdfJoint {
    /// Marks the limits as dropped on demand.
    pub fn limits_dropped(&self, xml: &XmlFiles, why: &str) {
        for name in ["lower", "upper"] {
            if let Some(limit) = self.limit {
                let fate = Fate::Dropped(why.to_owned(), Concern::Control);
                xml.mark(limit, name, fate);
            }
        }
    }

    /// A joint that follows another has no limits of its own.
    pub fn limits_of_a_mimic(&mut self, xml: &XmlFiles) {
        if self.tree.limits.take().is_some() {
            self.limits_dropped(xml, "limits of a joint that follows another act there");
        }
    }
}

/// Reads a joint.
pub fn read(xml: &XmlFiles, node: XmlNode) -> Result<UrdfJoint> {
    let name = xml.required(node, "name")?.to_owned();
    let kind = xml.required(node, "type")?;
    let (freedom, is_fixed, is_floating) = match kind {
        "revolute" | "continuous" => (TreeFreedom::Hinge, false, false),
        "prismatic" => (TreeFreedom::Slide, false, false),
        "planar" => (TreeFreedom::Plane, false, false),
        "floating" => (TreeFreedom::Hinge, false, true),
        "fixed" => (TreeFreedom::Hinge, true, false),
        "ball" | "spherical" => (TreeFreedom::Ball, false, false),
        other => {
            let message = format!(
                "joint \"{name}\": type \"{other}\"; expected revolute, continuous, prismatic, fixed, floating, planar"
            );
            return Err(xml.error(node, message));
        }
    };
    let end = |tag: &str| -> Result<String> {
        let found = xml.one(node, tag).ok_or_else(|| {
            let message = format!("joint \"{name}\" needs a <{tag}>");
            xml.error(node, message)
        })?;
        Ok(xml.required(found, "link")?.to_owned())
    };
    let (parent, child) = (end("parent")?, end("child")?);
    let mut joint = UrdfJoint {
        node,
        placement: origin(xml, node)?,
        is_fixed,
        is_floating,
        fixed_at_start: false,
        mimic: None,
        limit: xml.one(node, "limit"),
        tree: TreeJoint {
            name: name.clone(),
            position: xml.elements[node].position,
            comment: format!("joint \"{name}\" ({kind}), {}", xml.place(node)),
            axis: axis(xml, node, &name)?,
            ..TreeJoint::new(freedom)
        },
        name,
        parent,
        child,
    };
    let has_coordinate = !is_fixed && freedom.has_one_coordinate();
    if has_coordinate && !is_floating {
        limits(xml, &mut joint, kind)?;
        dynamics(xml, &mut joint)?;
        joint.mimic = mimic(xml, node)?;
    }
    drop_the_rest(xml, &joint, has_coordinate && !is_floating);
    Ok(joint)
}

fn axis(xml: &XmlFiles, node: XmlNode, name: &str) -> Result<Vector3<f64>> {
    let Some(element) = xml.one(node, "axis") else {
        return Ok(Vector3::x());
    };
    let given = xml.numbers::<3>(element, "xyz")?.unwrap_or([1.0, 0.0, 0.0]);
    let axis = Vector3::from(given);
    // A joint that does not move may have any axis.
    let kind = xml.attribute(node, "type").map(|a| a.value.as_str());
    match axis.try_normalize(0.0) {
        Some(axis) => Ok(axis),
        None if matches!(kind, Some("fixed" | "floating")) => Ok(Vector3::x()),
        None => Err(xml.error(element, format!("joint \"{name}\": the axis is zero"))),
    }
}

fn limits(xml: &XmlFiles, joint: &mut UrdfJoint, kind: &str) -> Result<()> {
    let Some(limit) = joint.limit else {
        return Ok(());
    };
    let lower = xml.number(limit, "lower")?;
    let upper = xml.number(limit, "upper")?;
    if kind == "continuous" {
        joint.limits_dropped(xml, "a continuous joint has no limits of its angle");
    } else if lower.is_some() || upper.is_some() {
        let range = [lower.unwrap_or(0.0), upper.unwrap_or(0.0)];
        if range[0] < range[1] {
            (joint.tree.limits, joint.tree.range) = (Some(range), Some(range));
            for name in ["lower", "upper"] {
                let how = "a rigid stop without rebound: URDF does not say how a limit acts";
                xml.mark(limit, name, Fate::Approximated(how.to_owned()));
            }
        } else {
            for name in ["lower", "upper"] {
                let why = "the lower limit is not below the upper one".to_owned();
                xml.mark(limit, name, Fate::Dropped(why, Concern::Dynamics));
            }
        }
    }
    xml.number(limit, "effort")?;
    let why = "the largest force of the motor: whoever sets the input respects it".to_owned();
    xml.mark(limit, "effort", Fate::Dropped(why, Concern::Control));
    xml.number(limit, "velocity")?;
    let why = "a speed that a controller respects, not a property of the mechanism".to_owned();
    xml.mark(limit, "velocity", Fate::Dropped(why, Concern::Control));
    Ok(())
}

/// `<dynamics>`, formerly `<joint_properties>`.
fn dynamics(xml: &XmlFiles, joint: &mut UrdfJoint) -> Result<()> {
    for tag in ["dynamics", "joint_properties"] {
        let Some(node) = xml.one(joint.node, tag) else {
            continue;
        };
        for (name, value) in [
            ("damping", &mut joint.tree.damping),
            ("friction", &mut joint.tree.friction),
        ] {
            let Some(given) = xml.number(node, name)? else {
                continue;
            };
            if given < 0.0 {
                let message = format!("<{tag}> {name}: expected a number >= 0, found {given}");
                return Err(xml.error(node, message));
            }
            *value = given;
        }
        if joint.tree.friction > 0.0 {
            let how = format!("dry friction, regularised below {STICTION_VELOCITY} rad/s or m/s");
            xml.mark(node, "friction", Fate::Approximated(how));
        }
    }
    Ok(())
}

fn mimic(xml: &XmlFiles, joint: XmlNode) -> Result<Option<UrdfMimic>> {
    let Some(node) = xml.one(joint, "mimic") else {
        return Ok(None);
    };
    Ok(Some(UrdfMimic {
        node,
        joint: xml.required(node, "joint")?.to_owned(),
        multiplier: xml.number(node, "multiplier")?.unwrap_or(1.0),
        offset: xml.number(node, "offset")?.unwrap_or(0.0),
    }))
}

/// What a joint has besides.
fn drop_the_rest(xml: &XmlFiles, joint: &UrdfJoint, has_coordinate: bool) {
    for child in xml.children(joint.node) {
        let unread = *xml.elements[child].fate.borrow() == Fate::Unread;
        match xml.tag(child) {
            "limit" | "dynamics" | "mimic" | "joint_properties" if !has_coordinate => {
                let concern = match joint.is_fixed {
                    true => Concern::Other,
                    false => Concern::Dynamics,
                };
                let why = "a joint of this type has no coordinate that it could act in";
                xml.drop_all(child, why, concern);
            }
            "safety_controller" => {
                let why = "a controller, not a property of the mechanism";
                xml.drop_all(child, why, Concern::Control);
            }
            "calibration" => xml.drop_all(child, "of the encoder", Concern::Control),
            _ if unread => xml.drop_all(child, "not an element of a joint in URDF", Concern::Other),
            _ => {}
        }
    }
}
