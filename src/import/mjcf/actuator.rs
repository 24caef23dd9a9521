//! `<actuator>`: motors, position and velocity servos, general actuators with affine bias, in joints.
//!
//! The force of an actuator is gain u + b₀ + b₁ l + b₂ l̇ with l = gear s, and acts with gear on the joint coordinate s. The part that
//! depends on the state is a spring with a damper, the rest an actuator whose input is the force gear · gain · u.

use super::MjcfTree;
use super::defaults::DefaultClasses;
use crate::error::Result;
use crate::import::draft::Draft;
use crate::import::tree::TreeLink;
use crate::import::xml::{Concern, Fate, XmlNode};
use crate::model::{Force, ForceApplication, ForceKind, Target};

/// An actuator in a joint.
struct JointActuator {
    node: XmlNode,
    name: String,
    joint: String,
    gear: f64,
    gain: f64,
    bias: [f64; 3],
}

/// Reads the actuators that are within reach; the others are dropped.
fn read(defaults: &DefaultClasses, root: XmlNode) -> Result<Vec<JointActuator>> {
    let xml = defaults.xml;
    let mut found = vec![];
    for list in xml.all(root, "actuator") {
        for node in xml.children(list) {
            let tag = xml.tag(node).to_owned();
            let text = |name: &str| defaults.text(node, None, name);
            let number = |name: &str, default: f64| {
                defaults
                    .number(node, None, name)
                    .map(|x| x.unwrap_or(default))
            };
            let Some(joint) = text("joint").map(str::to_owned) else {
                let why = "an actuator of a tendon, a site or a body";
                xml.drop_all(node, why, Concern::Dynamics);
                continue;
            };
            if text("dyntype").is_some_and(|word| word != "none") {
                xml.drop_all(
                    node,
                    "an actuator with a state of its own",
                    Concern::Dynamics,
                );
                continue;
            }
            let (gain, bias) = match tag.as_str() {
                "motor" => (1.0, [0.0; 3]),
                "position" if defaults.owner(node, None, "dampratio").is_none() => {
                    let (kp, kv) = (number("kp", 1.0)?, number("kv", 0.0)?);
                    (kp, [0.0, -kp, -kv])
                }
                "velocity" => {
                    let kv = number("kv", 1.0)?;
                    (kv, [0.0, 0.0, -kv])
                }
                "general" => general(defaults, node)?,
                _ => (f64::NAN, [0.0; 3]),
            };
            if gain.is_nan() || bias[1] > 0.0 || bias[2] > 0.0 {
                let why = "an actuator with a law that is not imported";
                xml.drop_all(node, why, Concern::Dynamics);
                continue;
            }
            let gear = defaults.list(node, None, "gear")?.unwrap_or_default();
            xml.keep(node);
            let name = xml.value(node, "name").unwrap_or(&joint).to_owned();
            found.push(JointActuator {
                node,
                name,
                joint,
                gear: gear.first().copied().unwrap_or(1.0),
                gain,
                bias,
            });
        }
    }
    Ok(found)
}

fn general(defaults: &DefaultClasses, node: XmlNode) -> Result<(f64, [f64; 3])> {
    let text = |name: &str| defaults.text(node, None, name);
    let gains = defaults.list(node, None, "gainprm")?.unwrap_or_default();
    let gain = match text("gaintype") {
        None | Some("fixed") => gains.first().copied().unwrap_or(1.0),
        _ => f64::NAN,
    };
    let biases = defaults.list(node, None, "biasprm")?.unwrap_or_default();
    let bias = match text("biastype") {
        None | Some("none") => [0.0; 3],
        Some("affine") => std::array::from_fn(|k| biases.get(k).copied().unwrap_or(0.0)),
        _ => return Ok((f64::NAN, [0.0; 3])),
    };
    Ok((gain, bias))
}

/// Adds the parts of actuators that depend on the state to the joints: F = −gear (b₀ + b₁ gear s + b₂ gear ṡ) against s.
pub fn add_bias(
    defaults: &DefaultClasses,
    root: XmlNode,
    links: &mut [TreeLink],
    joints: &[(String, usize, usize)],
) -> Result<()> {
    for actuator in read(defaults, root)? {
        let place = joints.iter().find(|(name, ..)| *name == actuator.joint);
        let joint = place.and_then(|(_, link, j)| links[*link].joints.get_mut(*j));
        let Some(joint) = joint else { continue };
        let [b0, b1, b2] = actuator.bias;
        let stiffness = -b1 * actuator.gear * actuator.gear;
        // A spring about zero beside one about its own reference: the sum is one spring with another preload.
        joint.preload += -b0 * actuator.gear + stiffness * joint.spring_reference;
        joint.stiffness += stiffness;
        joint.damping += -b2 * actuator.gear * actuator.gear;
    }
    Ok(())
}

/// Adds actuators and inputs.
pub fn add(
    defaults: &DefaultClasses,
    root: XmlNode,
    tree: &MjcfTree,
    draft: &mut Draft,
) -> Result<()> {
    let xml = defaults.xml;
    for actuator in read(defaults, root)? {
        let node = actuator.node;
        let Some(coordinate) = tree.coordinate(&actuator.joint) else {
            let why = "there is no such joint, or it has no single coordinate";
            xml.drop_all(node, why, Concern::Dynamics);
            continue;
        };
        let name = draft.element_name(
            "actuator",
            &actuator.name,
            Some(xml.elements[node].position),
        );
        let factor = actuator.gear * actuator.gain;
        let comment = format!(
            "<{}>, {}; its force is {factor} times the control",
            xml.tag(node),
            xml.place(node)
        );
        draft.comments.insert(name.clone(), comment);
        let target = Target::ForceEffort(draft.model.forces.len());
        draft.model.forces.push(Force {
            name: name.clone(),
            kind: ForceKind::Actuator { effort: 0.0 },
            on: ForceApplication::Joint(coordinate.coordinate),
            text_position: Default::default(),
        });
        draft.add_input(&name, target, 0.0);
        if factor != 1.0 {
            let how = format!("the input is the force, not the control: {factor} times it");
            xml.elements[node].fate.replace(Fate::Approximated(how));
        }
        if defaults.owner(node, None, "forcerange").is_some() && actuator.bias != [0.0; 3] {
            let why = "the force of a servo is not bounded".to_owned();
            if let Some(owner) = defaults.owner(node, None, "forcerange") {
                xml.mark(owner, "forcerange", Fate::Dropped(why, Concern::Dynamics));
            }
        }
        let why = "ranges of controls: whoever sets the input respects them";
        super::drop_unread(xml, node, why, Concern::Control);
    }
    Ok(())
}
