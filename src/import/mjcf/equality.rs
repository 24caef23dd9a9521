//! `<equality>`: connect, weld and joint become constraints, rigid where MuJoCo's are soft.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::MjcfTree;
use super::defaults::DefaultClasses;
use super::tendon::Tendons;
use crate::error::Result;
use crate::import::draft::Draft;
use crate::import::frame::FramePlacement;
use crate::import::xml::{Concern, Fate, XmlNode};
use crate::model::{
    BodyRef, Coupling, CouplingLaw, Curve, Joint, JointCoordinate, JointFrame, JointKind,
    JointPlacement,
};

/// Adds the equalities.
pub fn add(
    defaults: &DefaultClasses,
    root: XmlNode,
    (tree, tendons): (&MjcfTree, &Tendons),
    draft: &mut Draft,
) -> Result<()> {
    let xml = defaults.xml;
    for list in xml.all(root, "equality") {
        for node in xml.children(list) {
            if defaults.text(node, None, "active") == Some("false") {
                xml.drop_all(node, "it is not active", Concern::Other);
                continue;
            }
            let made = match xml.tag(node) {
                "connect" => connect(defaults, node, tree)?,
                "weld" => weld(defaults, node, tree)?,
                "joint" => coupling(defaults, node, tree)?,
                "tendon" => match tendon(defaults, node, tendons, draft)? {
                    TendonEquality::Coupling(joint) => Some(*joint),
                    TendonEquality::Held => {
                        approximate(defaults, node);
                        continue;
                    }
                    TendonEquality::Missing => None,
                },
                _ => None,
            };
            let Some(mut joint) = made else {
                let why = "an equality of this kind is not imported";
                xml.drop_all(node, why, Concern::Dynamics);
                continue;
            };
            let tag = xml.tag(node);
            let given = xml.value(node, "name").unwrap_or(tag).to_owned();
            joint.name = draft.element_name(tag, &given, Some(xml.elements[node].position));
            let comment = format!("<{tag}>, {}", xml.place(node));
            draft.comments.insert(joint.name.clone(), comment);
            draft.model.joints.push(joint);
            approximate(defaults, node);
        }
    }
    Ok(())
}

/// What an equality becomes.
fn approximate(defaults: &DefaultClasses, node: XmlNode) {
    let xml = defaults.xml;
    let how = "a rigid constraint, not the soft one of MuJoCo".to_owned();
    xml.elements[node].fate.replace(Fate::Approximated(how));
    let why = "settings of MuJoCo's constraint solver";
    super::drop_unread(xml, node, why, Concern::Control);
}

/// What an equality of tendons becomes.
enum TendonEquality {
    /// The length of one is a function of that of the other.
    Coupling(Box<Joint>),
    /// The length is constant.
    Held,
    /// A tendon is not in the model.
    Missing,
}

/// l₁ − l₁⁰ = c₀ + c₁ (l₂ − l₂⁰) + .., or l₁ − l₁⁰ = c₀ without a second tendon.
fn tendon(
    defaults: &DefaultClasses,
    node: XmlNode,
    tendons: &Tendons,
    draft: &mut Draft,
) -> Result<TendonEquality> {
    let xml = defaults.xml;
    let first = xml.required(node, "tendon1")?.to_owned();
    let Some(y) = tendons.coordinate(&first) else {
        return Ok(TendonEquality::Missing);
    };
    let given = defaults.list(node, None, "polycoef")?;
    let coefficients = given.unwrap_or_else(|| vec![0.0, 1.0]);
    let Some(second) = xml.value(node, "tendon2").map(str::to_owned) else {
        let value = tendons.reference(&first) + coefficients.first().unwrap_or(&0.0);
        draft.add_held(&format!("{first}_held"), y, value);
        return Ok(TendonEquality::Held);
    };
    let Some(x) = tendons.coordinate(&second) else {
        return Ok(TendonEquality::Missing);
    };
    let references = [tendons.reference(&second), tendons.reference(&first)];
    let coupling = polynomial_coupling([x, y], &coefficients, references);
    Ok(TendonEquality::Coupling(Box::new(coupling)))
}

/// A body with the frame of a link in it, and the drawn pose of that link.
struct Attachment {
    body: BodyRef,
    in_body: FramePlacement,
    drawn: FramePlacement,
}

fn attachment(
    defaults: &DefaultClasses,
    node: XmlNode,
    key: &str,
    tree: &MjcfTree,
) -> Result<Attachment> {
    let xml = defaults.xml;
    let name = match xml.value(node, key) {
        None | Some("world") => {
            return Ok(Attachment {
                body: None,
                in_body: FramePlacement::default(),
                drawn: FramePlacement::default(),
            });
        }
        Some(name) => name,
    };
    let link = (tree.body(name)).ok_or_else(|| {
        xml.error(
            node,
            format!("<{}>: there is no body \"{name}\"", xml.tag(node)),
        )
    })?;
    let (body, in_body) = tree.map.links[link];
    Ok(Attachment {
        body,
        in_body,
        drawn: tree.drawn(link),
    })
}

/// A point of the first body stays at the point of the second where it is in the drawn pose.
fn connect(defaults: &DefaultClasses, node: XmlNode, tree: &MjcfTree) -> Result<Option<Joint>> {
    let xml = defaults.xml;
    let (Some(_), Some(anchor)) = (
        xml.attribute(node, "body1"),
        xml.numbers::<3>(node, "anchor")?,
    ) else {
        return Ok(None);
    };
    let first = attachment(defaults, node, "body1", tree)?;
    let second = attachment(defaults, node, "body2", tree)?;
    if first.body == second.body {
        return Ok(None);
    }
    let anchor = Vector3::from(anchor);
    let other = second.drawn.inverse().point(first.drawn.point(anchor));
    let frame = |at: &FramePlacement, point: Vector3<f64>| JointFrame {
        point: at.point(point).into(),
        ..JointFrame::default()
    };
    Ok(Some(Joint {
        kind: JointKind::Spherical,
        bodies: [first.body, second.body],
        frame: JointPlacement::BodyFrames([
            frame(&first.in_body, anchor),
            frame(&second.in_body, other),
        ]),
        ..Joint::default()
    }))
}

/// The second body stays where it is relative to the first in the drawn pose, or where `relpose` says.
fn weld(defaults: &DefaultClasses, node: XmlNode, tree: &MjcfTree) -> Result<Option<Joint>> {
    let xml = defaults.xml;
    if xml.attribute(node, "body1").is_none() {
        return Ok(None);
    }
    let first = attachment(defaults, node, "body1", tree)?;
    let second = attachment(defaults, node, "body2", tree)?;
    if first.body == second.body {
        return Ok(None);
    }
    let mut relative = first.drawn.inverse().then(&second.drawn);
    if let Some([x, y, z, w, a, b, c]) = xml.numbers::<7>(node, "relpose")?
        && [w, a, b, c] != [0.0; 4]
    {
        relative = FramePlacement {
            position: Vector3::new(x, y, z),
            rotation: UnitQuaternion::from_quaternion(Quaternion::new(w, a, b, c)),
        };
    }
    let frame = |at: &FramePlacement| {
        let direction = |v: Vector3<f64>| -> [f64; 3] { (at.rotation * v).normalize().into() };
        JointFrame {
            point: at.position.into(),
            axis: direction(Vector3::z()),
            reference_direction: direction(Vector3::x()),
        }
    };
    Ok(Some(Joint {
        kind: JointKind::Fixed,
        bodies: [first.body, second.body],
        frame: JointPlacement::BodyFrames([
            frame(&first.in_body.then(&relative)),
            frame(&second.in_body),
        ]),
        ..Joint::default()
    }))
}

/// y − y₀ = c₀ + c₁ (x − x₀) + .. with the coordinates y of the first and x of the second joint.
fn coupling(defaults: &DefaultClasses, node: XmlNode, tree: &MjcfTree) -> Result<Option<Joint>> {
    let xml = defaults.xml;
    let first = xml.required(node, "joint1")?;
    let Some(second) = xml.value(node, "joint2") else {
        return Ok(None);
    };
    let (Some(y), Some(x)) = (tree.coordinate(first), tree.coordinate(second)) else {
        return Ok(None);
    };
    let given = defaults.list(node, None, "polycoef")?;
    let coefficients = given.unwrap_or_else(|| vec![0.0, 1.0]);
    let references = [tree.reference(second), tree.reference(first)];
    let coordinates = [x.coordinate, y.coordinate];
    Ok(Some(polynomial_coupling(
        coordinates,
        &coefficients,
        references,
    )))
}

/// y − y₀ = Σ cₖ (x − x₀)ᵏ
fn polynomial_coupling(
    coordinates: [JointCoordinate; 2],
    coefficients: &[f64],
    [x0, y0]: [f64; 2],
) -> Joint {
    let mut law = shifted(coefficients, x0);
    law[0] += y0;
    while law.len() > 2 && law.last() == Some(&0.0) {
        law.pop();
    }
    Joint {
        kind: JointKind::Coupling,
        frame: JointPlacement::None,
        coupling: Some(Coupling {
            coordinates,
            law: CouplingLaw::Curve(Curve::Polynomial(law)),
            summands: vec![],
        }),
        ..Joint::default()
    }
}

/// Coefficients in x of the polynomial Σ cₖ (x − x₀)ᵏ, by Horner's rule.
fn shifted(coefficients: &[f64], x0: f64) -> Vec<f64> {
    let mut law = vec![0.0; coefficients.len().max(1)];
    for c in coefficients.iter().rev() {
        // law := law (x − x₀) + c
        for k in (0..law.len()).rev() {
            let lower = if k > 0 { law[k - 1] } else { 0.0 };
            law[k] = lower - x0 * law[k];
        }
        law[0] += c;
    }
    law
}
