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
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode};
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
    ((tree, tendons), controls): ((&MjcfTree, &Tendons), &[f64]),
    draft: &mut Draft,
) -> Result<()> {
    let xml = defaults.xml;
    let mut number = 0;
    for list in xml.all(root, "actuator") {
        for node in xml.children(list) {
            let control = controls.get(number).copied().unwrap_or(0.0);
            number += 1;
            let coordinate = match place(defaults, node, tree, tendons) {
                Ok(coordinate) => coordinate,
                Err(why) => {
                    xml.drop_all(node, why, Concern::Dynamics);
                    continue;
                }
            };
            match read(settings, defaults, node, tree)? {
                Ok(actuator) => add_servo(defaults, node, (actuator, control), coordinate, draft),
                Err(why) => xml.drop_all(node, why, Concern::Dynamics),
            }
        }
    }
    limit_efforts(xml, tree, draft);
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
    tree: &MjcfTree,
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
    let gear = defaults.list(node, None, "gear")?.unwrap_or_default();
    let gear = gear.first().copied().unwrap_or(1.0);
    let of = text("joint").or_else(|| text("jointinparent"));
    let joint = of.and_then(|name| tree.joint(name));
    let (gain, bias) = match xml.tag(node) {
        "motor" => (1.0, [0.0; 3]),
        "position" => match position(defaults, node, of.map(|name| tree.inertia(name)), gear)? {
            Some(law) => law,
            None => return Ok(Err("damping by a ratio, of a tendon or without a joint")),
        },
        "velocity" => {
            let gains = defaults.list(node, None, "gainprm")?.unwrap_or_default();
            let kv = number("kv", gains.first().copied().unwrap_or(1.0))?;
            (kv, [0.0, 0.0, -kv])
        }
        "general" => match general(defaults, node)? {
            Some(law) => law,
            None => return Ok(Err("an actuator with a law that is not imported")),
        },
        _ => return Ok(Err("an actuator with a law that is not imported")),
    };
    let name = xml.value(node, "name").map(str::to_owned);
    let mut control_range = range(settings, defaults, node, ["ctrllimited", "ctrlrange"])?;
    let inherited = number("inheritrange", 0.0)?;
    if inherited > 0.0 {
        let Some([low, high]) = joint.and_then(|joint| joint.range) else {
            let message = "inheritrange: the actuator has no joint with limits";
            return Err(xml.error(node, message));
        };
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low) * inherited);
        control_range = Some([middle - half, middle + half]);
    }
    let of = of.or_else(|| text("tendon")).unwrap_or_default();
    if settings.is_off("clampctrl") {
        control_range = None;
    }
    Ok(Ok(Actuator {
        name: name.unwrap_or_else(|| of.to_owned()),
        gear,
        gain,
        bias,
        control_range,
        force_range: range(settings, defaults, node, ["forcelimited", "forcerange"])?,
    }))
}

/// Gain and bias of `<position>`: damping by `kv`, or as a ratio to the critical one of the joint's inertia I in the drawn pose,
/// 2 ζ √(kp I) / gear. What `<general>` of a class says serves it too: there a positive third bias is a ratio.
fn position(
    defaults: &DefaultClasses,
    node: XmlNode,
    inertia: Option<Option<f64>>,
    gear: f64,
) -> Result<Option<(f64, [f64; 3])>> {
    let nearest = |names: &[&'static str], k: usize| -> Result<Option<(f64, &'static str)>> {
        let Some((owner, name)) = defaults.nearest(node, None, names) else {
            return Ok(None);
        };
        let list = defaults.xml.list(owner, name)?.unwrap_or_default();
        let index = if name.ends_with("prm") { k } else { 0 };
        Ok(list.get(index).map(|value| (*value, name)))
    };
    let kp = nearest(&["kp", "gainprm"], 0)?.map_or(1.0, |(kp, _)| kp);
    let (damping, is_ratio) = match nearest(&["kv", "dampratio", "biasprm"], 2)? {
        None => (0.0, false),
        Some((kv, "kv")) => (kv, false),
        Some((bias, "biasprm")) => (bias.abs(), bias > 0.0),
        Some((ratio, _)) => (ratio, ratio > 0.0),
    };
    let damping = match inertia.flatten() {
        _ if !is_ratio => damping,
        Some(inertia) if gear != 0.0 => 2.0 * damping * (kp * inertia).max(0.0).sqrt() / gear.abs(),
        _ => return Ok(None),
    };
    Ok(Some((kp, [0.0, -kp, -damping])))
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
    (actuator, control): (Actuator, f64),
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
    draft.add_input(&actuator.name, target, control);
    let why = "it does not change the force of an actuator without a state";
    super::drop_unread(xml, node, why, Concern::Other);
}

/// Limits the actuators of joints that have `actuatorfrcrange`: of one actuator its force, of several it is lost.
fn limit_efforts(xml: &XmlFiles, tree: &MjcfTree, draft: &mut Draft) {
    for (name, ..) in &tree.joints {
        let limits = tree.joint(name).and_then(|joint| joint.effort_limits);
        let (Some((range, owner)), Some(of)) = (limits, tree.coordinate(name)) else {
            continue;
        };
        // Tendons over the joint act in it too.
        let mut acting = vec![of.coordinate];
        for coupling in draft
            .model
            .joints
            .iter()
            .filter_map(|j| j.coupling.as_ref())
        {
            let mut summands = coupling.summands.iter().map(|(c, _)| *c);
            let [first, last] = coupling.coordinates;
            if first == of.coordinate || summands.any(|c| c == of.coordinate) {
                acting.push(last);
            }
        }
        let mut servos: Vec<(JointCoordinate, &mut ServoDefinition)> = vec![];
        for force in &mut draft.model.forces {
            if let (ForceApplication::Joint(on), ForceKind::Servo(servo)) =
                (&force.on, &mut force.kind)
                && acting.contains(on)
            {
                servos.push((*on, servo));
            }
        }
        match &mut servos[..] {
            [] => {}
            [(on, servo)] if *on == of.coordinate => {
                let [low, high] = servo.limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                let within = |x: f64| x.clamp(range[0], range[1]);
                servo.limits = Some([within(low), within(high)]);
            }
            _ => {
                let why = "a limit of the sum of several actuators".to_owned();
                let fate = Fate::Dropped(why, Concern::Dynamics);
                xml.mark(owner, "actuatorfrcrange", fate);
            }
        }
    }
}
