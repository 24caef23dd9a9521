//! `<actuator>`: motors, position and velocity servos, general actuators with affine bias, in joints and fixed tendons.
//!
//! The force of an actuator is gain u + b₀ + b₁ l + b₂ l̇ with l = gear s, within its range, and acts with gear on the coordinate s: a
//! servo with the gain gear · gain and the bias gear b₀, gear² b₁, gear² b₂. Its input is the control u.

use super::MjcfTree;
use super::compiler::CompilerSettings;
use super::defaults::DefaultClasses;
use super::tendon::Tendons;
use crate::error::Result;
use crate::import::draft::Draft;
use crate::import::xml::{Concern, XmlNode};
use crate::model::{
    Force, ForceApplication, ForceKind, ForceNumber, JointCoordinate, ServoDefinition, Target,
};

/// An actuator.
struct Actuator {
    name: String,
    gear: f64,
    gain: f64,
    bias: [f64; 3],
    control_range: Option<[f64; 2]>,
    force_range: Option<[f64; 2]>,
}

/// Whether an actuator acts on a tendon, by the name of that.
pub fn acts_on_tendon(defaults: &DefaultClasses, root: XmlNode, tendon: &str) -> bool {
    let xml = defaults.xml;
    let all = xml.all(root, "actuator").into_iter();
    let mut all = all.flat_map(|list| xml.children(list));
    all.any(|node| {
        let named = xml.attribute(node, "tendon");
        named.is_some_and(|attribute| attribute.value == tendon)
    })
}

/// Adds actuators and inputs.
pub fn add(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    root: XmlNode,
    (tree, tendons): (&MjcfTree, &Tendons),
    draft: &mut Draft,
) -> Result<()> {
    let xml = defaults.xml;
    for list in xml.all(root, "actuator") {
        for node in xml.children(list) {
            let coordinate = match place(defaults, node, tree, tendons) {
                Ok(coordinate) => coordinate,
                Err(why) => {
                    xml.drop_all(node, why, Concern::Dynamics);
                    continue;
                }
            };
            match read(settings, defaults, node)? {
                Ok(actuator) => add_servo(defaults, node, actuator, coordinate, draft),
                Err(why) => xml.drop_all(node, why, Concern::Dynamics),
            }
        }
    }
    Ok(())
}

/// The coordinate that an actuator acts on, or why there is none.
fn place(
    defaults: &DefaultClasses,
    node: XmlNode,
    tree: &MjcfTree,
    tendons: &Tendons,
) -> std::result::Result<JointCoordinate, &'static str> {
    let text = |name: &str| defaults.text(node, None, name);
    if let Some(name) = text("joint").or_else(|| text("jointinparent")) {
        let found = tree.coordinate(name).map(|c| c.coordinate);
        found.ok_or("there is no such joint, or it has no single coordinate")
    } else if let Some(name) = text("tendon") {
        let found = tendons.coordinate(name);
        found.ok_or("an actuator of a tendon that is not imported")
    } else {
        Err("an actuator of a site or a body")
    }
}

/// Reads an actuator, or says why it is not imported.
fn read(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    node: XmlNode,
) -> Result<std::result::Result<Actuator, &'static str>> {
    let xml = defaults.xml;
    let text = |name: &str| defaults.text(node, None, name);
    let number = |name: &str, default: f64| {
        let given = defaults.number(node, None, name);
        given.map(|x| x.unwrap_or(default))
    };
    if text("dyntype").is_some_and(|word| word != "none") || number("timeconst", 0.0)? != 0.0 {
        return Ok(Err("an actuator with a state of its own"));
    }
    let (gain, bias) = match xml.tag(node) {
        "motor" => (1.0, [0.0; 3]),
        "position" if defaults.owner(node, None, "dampratio").is_none() => {
            let (kp, kv) = (number("kp", 1.0)?, number("kv", 0.0)?);
            (kp, [0.0, -kp, -kv])
        }
        "velocity" => {
            let kv = number("kv", 1.0)?;
            (kv, [0.0, 0.0, -kv])
        }
        "general" => match general(defaults, node)? {
            Some(law) => law,
            None => return Ok(Err("an actuator with a law that is not imported")),
        },
        _ => return Ok(Err("an actuator with a law that is not imported")),
    };
    let gear = defaults.list(node, None, "gear")?.unwrap_or_default();
    let name = xml.value(node, "name").map(str::to_owned);
    let of = text("joint").or_else(|| text("jointinparent"));
    let of = of.or_else(|| text("tendon")).unwrap_or_default();
    Ok(Ok(Actuator {
        name: name.unwrap_or_else(|| of.to_owned()),
        gear: gear.first().copied().unwrap_or(1.0),
        gain,
        bias,
        control_range: range(settings, defaults, node, ["ctrllimited", "ctrlrange"])?,
        force_range: range(settings, defaults, node, ["forcelimited", "forcerange"])?,
    }))
}

/// Gain and bias of `<general>`.
fn general(defaults: &DefaultClasses, node: XmlNode) -> Result<Option<(f64, [f64; 3])>> {
    let text = |name: &str| defaults.text(node, None, name);
    let gains = defaults.list(node, None, "gainprm")?.unwrap_or_default();
    let biases = defaults.list(node, None, "biasprm")?.unwrap_or_default();
    if !matches!(text("gaintype"), None | Some("fixed")) {
        return Ok(None);
    }
    let bias = match text("biastype") {
        None | Some("none") => [0.0; 3],
        Some("affine") => std::array::from_fn(|k| biases.get(k).copied().unwrap_or(0.0)),
        _ => return Ok(None),
    };
    Ok(Some((gains.first().copied().unwrap_or(1.0), bias)))
}

/// A range, if it applies.
pub fn range(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    node: XmlNode,
    [limited, range]: [&str; 2],
) -> Result<Option<[f64; 2]>> {
    let limited = match defaults.text(node, None, limited) {
        Some("true") => true,
        Some("false") => false,
        _ => settings.autolimits,
    };
    let range = defaults.numbers::<2>(node, None, range)?;
    Ok(range.filter(|[low, high]| limited && low < high))
}

fn add_servo(
    defaults: &DefaultClasses,
    node: XmlNode,
    actuator: Actuator,
    coordinate: JointCoordinate,
    draft: &mut Draft,
) {
    let xml = defaults.xml;
    xml.keep(node);
    let position = Some(xml.elements[node].position);
    let name = draft.element_name("actuator", &actuator.name, position);
    let comment = format!("<{}>, {}", xml.tag(node), xml.place(node));
    draft.comments.insert(name.clone(), comment);
    let index = draft.model.forces.len();
    let gear = actuator.gear;
    let [b0, b1, b2] = actuator.bias;
    let limits = actuator.force_range.map(|[low, high]| {
        let ends = [low * gear, high * gear];
        [ends[0].min(ends[1]), ends[0].max(ends[1])]
    });
    draft.model.forces.push(Force {
        name: name.clone(),
        kind: ForceKind::Servo(ServoDefinition {
            control: 0.0,
            gain: gear * actuator.gain,
            bias: [gear * b0, gear * gear * b1, gear * gear * b2],
            control_limits: actuator.control_range,
            limits: limits.filter(|[low, high]| low < high),
        }),
        on: ForceApplication::Joint(coordinate),
        text_position: Default::default(),
    });
    let target = Target::Force(index, ForceNumber::Control);
    draft.add_input(&actuator.name, target, 0.0);
    let why = "it does not change the force of an actuator without a state";
    super::drop_unread(xml, node, why, Concern::Other);
}
