//! `<tendon>`: fixed tendons. The length of one is a sum l = Σ coef q of joint coordinates. Where something acts on it, it becomes a slider
//! without mass on the ground whose displacement is coupled to that sum: springs, limits, friction and actuators act on the slider.

use super::MjcfTree;
use super::actuator::{acts_on_tendon, range};
use super::compiler::CompilerSettings;
use super::defaults::DefaultClasses;
use crate::error::Result;
use crate::import::draft::{Draft, NamedCoordinate};
use crate::import::tree::{dry_friction, rigid_limits};
use crate::import::xml::{Concern, Fate, XmlNode};
use crate::model::{
    Body, Characteristic, Coupling, CouplingLaw, Curve, CurvePiece, Joint, JointCoordinate,
    JointFrame, JointKind, JointPlacement, SpringDefinition,
};

/// A tendon of the model.
struct Tendon {
    name: String,
    coordinate: JointCoordinate,
    /// Length in the pose that the file draws.
    reference: f64,
}

/// The tendons that are sliders in the model.
#[derive(Default)]
pub struct Tendons {
    all: Vec<Tendon>,
}

impl Tendons {
    /// The coordinate of a tendon: its length.
    pub fn coordinate(&self, name: &str) -> Option<JointCoordinate> {
        let found = self.all.iter().find(|tendon| tendon.name == name);
        found.map(|tendon| tendon.coordinate)
    }

    /// Length in the pose that the file draws.
    pub fn reference(&self, name: &str) -> f64 {
        let found = self.all.iter().find(|tendon| tendon.name == name);
        found.map_or(0.0, |tendon| tendon.reference)
    }
}

/// A sum of joint coordinates as the file gives it.
struct JointSum {
    terms: Vec<(JointCoordinate, f64)>,
    /// Its value at the start, in the drawn pose, and where all springs have their references.
    start: f64,
    reference: f64,
    unloaded: f64,
}

/// Adds the fixed tendons that something acts on.
pub fn add(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    root: XmlNode,
    tree: &MjcfTree,
    draft: &mut Draft,
) -> Result<Tendons> {
    let xml = defaults.xml;
    let mut tendons = Tendons::default();
    for list in xml.all(root, "tendon") {
        xml.keep(list);
        for node in xml.children(list) {
            if xml.tag(node) != "fixed" {
                let why = "tendons along a way in space are not imported";
                xml.drop_all(node, why, Concern::Dynamics);
                continue;
            }
            let Some(sum) = joint_sum(defaults, node, tree)? else {
                let why = "a tendon over a joint that has no single coordinate";
                xml.drop_all(node, why, Concern::Dynamics);
                continue;
            };
            let name = (xml.attribute(node, "name")).map_or(String::new(), |a| a.value.clone());
            if !acts(defaults, root, node, &name) {
                let why = "a sum of joint coordinates without a force";
                xml.drop_all(node, why, Concern::Other);
                continue;
            }
            let reference = sum.reference;
            let coordinate = add_slider(settings, defaults, node, sum, draft)?;
            tendons.all.push(Tendon {
                name,
                coordinate,
                reference,
            });
        }
    }
    Ok(tendons)
}

/// Whether a tendon has a force of its own, an actuator or an equality.
fn acts(defaults: &DefaultClasses, root: XmlNode, node: XmlNode, name: &str) -> bool {
    let xml = defaults.xml;
    let own = ["stiffness", "damping", "frictionloss", "range", "armature"];
    let has_own = (own.iter()).any(|key| defaults.owner(node, None, key).is_some());
    let equalities = xml.all(root, "equality").into_iter();
    let mut equalities = equalities.flat_map(|list| xml.children(list));
    let in_equality = equalities.any(|node| {
        let names = ["tendon1", "tendon2"].map(|key| xml.attribute(node, key));
        names.iter().flatten().any(|a| a.value == name)
    });
    has_own || in_equality || acts_on_tendon(defaults, root, name)
}

fn joint_sum(
    defaults: &DefaultClasses,
    node: XmlNode,
    tree: &MjcfTree,
) -> Result<Option<JointSum>> {
    let xml = defaults.xml;
    let mut sum = JointSum {
        terms: vec![],
        start: 0.0,
        reference: 0.0,
        unloaded: 0.0,
    };
    for child in xml.all(node, "joint") {
        let name = xml.required(child, "joint")?.to_owned();
        let factor = xml.number(child, "coef")?.unwrap_or(1.0);
        let (Some(coordinate), Some(joint)) = (tree.coordinate(&name), tree.joint(&name)) else {
            return Ok(None);
        };
        sum.start += factor * joint.start;
        sum.reference += factor * joint.reference;
        sum.unloaded += factor * joint.spring_reference;
        if factor != 0.0 {
            sum.terms.push((coordinate.coordinate, factor));
        }
    }
    Ok((!sum.terms.is_empty()).then_some(sum))
}

/// Adds the slider of a tendon and what acts on it; returns its coordinate.
fn add_slider(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    node: XmlNode,
    sum: JointSum,
    draft: &mut Draft,
) -> Result<JointCoordinate> {
    let xml = defaults.xml;
    xml.keep_all(node);
    let number = |name: &str| {
        let given = defaults.number(node, None, name);
        given.map(|x| x.unwrap_or(0.0))
    };
    let position = Some(xml.elements[node].position);
    let given = xml.value(node, "name").unwrap_or("tendon").to_owned();
    let name = draft.element_name("tendon", &given, position);
    let comment = format!("length of a fixed tendon, {}", xml.place(node));
    draft.comments.insert(name.clone(), comment);
    let slider = draft.model.bodies.len();
    let slider_name = draft.element_name("body", &format!("{name}_slider"), None);
    draft.model.bodies.push(Body {
        name: slider_name,
        mass: 0.0,
        inertia: [0.0; 6],
        position: [sum.start, 0.0, 0.0],
        ..Body::default()
    });
    let frame = JointFrame {
        axis: [1.0, 0.0, 0.0],
        ..JointFrame::default()
    };
    let joint = draft.model.joints.len();
    let on = |kind: &str| !settings.is_off(kind);
    let friction = Some(number("frictionloss")?).filter(|_| on("frictionloss"));
    let friction = friction.unwrap_or(0.0);
    let limits = range(settings, defaults, node, ["limited", "range"])?.filter(|_| on("limit"));
    draft.model.joints.push(Joint {
        name: name.clone(),
        kind: JointKind::Prismatic,
        bodies: [None, Some(slider)],
        frame: JointPlacement::BodyFrames([frame, frame]),
        friction: (friction > 0.0)
            .then(|| Some(dry_friction(friction)))
            .into_iter()
            .collect(),
        limits: limits
            .map(|range| Some(rigid_limits(range)))
            .into_iter()
            .collect(),
        armature: [number("armature")?, 0.0, 0.0],
        ..Joint::default()
    });
    let coordinate = JointCoordinate { joint, index: 0 };
    add_sum(draft, &name, sum.terms, coordinate);
    let named = NamedCoordinate {
        coordinate,
        name,
        is_angle: false,
        of: 1,
    };
    let factors = [("stiffness", on("spring")), ("damping", on("damper"))];
    let factors = factors.map(|(name, on)| if on { number(name) } else { Ok(0.0) });
    let [stiffness, damping] = factors;
    add_spring(
        defaults,
        node,
        &named,
        (stiffness?, damping?, sum.unloaded),
        draft,
    )?;
    draft.add_joint_outputs(&named);
    approximate(defaults, node, limits.is_some(), friction > 0.0);
    let why = "settings of MuJoCo's constraint solver and of pictures";
    super::drop_unread(xml, node, why, Concern::Control);
    Ok(coordinate)
}

/// The coupling that makes a coordinate the sum of others.
fn add_sum(
    draft: &mut Draft,
    name: &str,
    terms: Vec<(JointCoordinate, f64)>,
    last: JointCoordinate,
) {
    let name = draft.element_name("coupling", &format!("{name}_length"), None);
    let mut terms = terms.into_iter();
    let (first, ratio) = terms.next().expect("a tendon has a joint");
    draft.model.joints.push(Joint {
        name,
        kind: JointKind::Coupling,
        frame: JointPlacement::None,
        coupling: Some(Coupling {
            coordinates: [first, last],
            law: CouplingLaw::Ratio(ratio),
            summands: terms.collect(),
        }),
        ..Joint::default()
    });
}

/// The spring and damper of a tendon. Two lengths of its spring are the ends of a range without force; a length of −1, the default, is
/// that where the springs of the joints have their references.
fn add_spring(
    defaults: &DefaultClasses,
    node: XmlNode,
    coordinate: &NamedCoordinate,
    (stiffness, damping, unloaded): (f64, f64, f64),
    draft: &mut Draft,
) -> Result<()> {
    if stiffness == 0.0 && damping == 0.0 {
        return Ok(());
    }
    let given = defaults.list(node, None, "springlength")?;
    let [low, high] = match given.as_deref() {
        None | Some([] | [-1.0] | [-1.0, -1.0, ..]) => [unloaded; 2],
        Some([length]) => [*length; 2],
        Some([low, high, ..]) => [*low, *high],
    };
    let is_slack = low != high && stiffness != 0.0;
    draft.add_joint_spring(
        coordinate,
        SpringDefinition {
            stiffness: match is_slack {
                true => Characteristic::Law(slack(stiffness, [low, high])),
                false => Characteristic::Linear(stiffness),
            },
            damping: Characteristic::Linear(damping),
            length: if stiffness == 0.0 || is_slack {
                0.0
            } else {
                low
            },
            ..SpringDefinition::default()
        },
    );
    Ok(())
}

/// Tension of a spring over its length: none between two lengths.
fn slack(stiffness: f64, [low, high]: [f64; 2]) -> Curve {
    let beyond = |end: f64| vec![-stiffness * end, stiffness];
    let piece = |below, polynomial| CurvePiece { below, polynomial };
    Curve::Pieces(vec![
        piece(low, beyond(low)),
        piece(high, vec![0.0]),
        piece(f64::INFINITY, beyond(high)),
    ])
}

/// Limits are rigid and friction is regularised, as in joints.
fn approximate(defaults: &DefaultClasses, node: XmlNode, limited: bool, has_friction: bool) {
    let how = [
        (
            limited,
            "range",
            "a rigid stop without rebound, not the soft constraint of MuJoCo",
        ),
        (
            has_friction,
            "frictionloss",
            "dry friction, regularised at low speed",
        ),
    ];
    for (is_so, name, how) in how {
        if let (true, Some(owner)) = (is_so, defaults.owner(node, None, name)) {
            let fate = Fate::Approximated(how.to_owned());
            defaults.xml.mark(owner, name, fate);
        }
    }
}
