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
                "joint" | "tendon" => {
                    let coordinate = |name: &str| match xml.tag(node) {
                        "joint" => {
                            (tree.coordinate(name)).map(|of| (of.coordinate, tree.reference(name)))
                        }
                        _ => (tendons.coordinate(name)).map(|of| (of, tendons.reference(name))),
                    };
                    match coupling(defaults, node, &coordinate, draft)? {
                        CoordinateEquality::Coupling(joint) => Some(*joint),
                        CoordinateEquality::Held => {
                            approximate(defaults, node);
                            continue;
                        }
                        CoordinateEquality::Missing => None,
                    }
                }
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

/// What an equality of joints or tendons becomes.
enum CoordinateEquality {
    /// One coordinate is a function of the other.
    Coupling(Box<Joint>),
    /// The coordinate is constant.
    Held,
    /// A joint or tendon is not in the model.
    Missing,
}

/// y − y₀ = c₀ + c₁ (x − x₀) + .., or y − y₀ = c₀ without a second joint or tendon; `coordinate` has a coordinate and its value in the
/// drawn pose.
fn coupling(
    defaults: &DefaultClasses,
    node: XmlNode,
    coordinate: &dyn Fn(&str) -> Option<(JointCoordinate, f64)>,
    draft: &mut Draft,
) -> Result<CoordinateEquality> {
    let xml = defaults.xml;
    let tag = xml.tag(node);
    let first = xml.required(node, &format!("{tag}1"))?.to_owned();
    let Some((y, y0)) = coordinate(&first) else {
        return Ok(CoordinateEquality::Missing);
    };
    let given = defaults.list(node, None, "polycoef")?;
    let coefficients = given.unwrap_or_else(|| vec![0.0, 1.0]);
    let Some(second) = xml.value(node, &format!("{tag}2")).map(str::to_owned) else {
        let value = y0 + coefficients.first().unwrap_or(&0.0);
        draft.add_held(&format!("{first}_held"), y, value);
        return Ok(CoordinateEquality::Held);
    };
    let Some((x, x0)) = coordinate(&second) else {
        return Ok(CoordinateEquality::Missing);
    };
    let joint = polynomial_coupling([x, y], &coefficients, [x0, y0]);
    Ok(CoordinateEquality::Coupling(Box::new(joint)))
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

/// The body and the frame in it of a site.
fn site(
    defaults: &DefaultClasses,
    node: XmlNode,
    key: &str,
    tree: &MjcfTree,
) -> Result<(BodyRef, FramePlacement)> {
    let xml = defaults.xml;
    let name = xml.required(node, key)?;
    let found = tree.sites.iter().find(|(own, ..)| own == name);
    let (_, link, at, element) = found.ok_or_else(|| {
        let message = format!("<{}>: there is no site \"{name}\"", xml.tag(node));
        xml.error(node, message)
    })?;
    let used = [
        "name",
        "pos",
        "quat",
        "euler",
        "axisangle",
        "xyaxes",
        "zaxis",
    ];
    xml.elements[*element].fate.replace(Fate::Kept);
    used.iter()
        .for_each(|name| xml.mark(*element, name, Fate::Kept));
    Ok(match link.map(|link| tree.map.links[link]) {
        Some((body, in_body)) => (body, in_body.then(at)),
        None => (None, *at),
    })
}

/// Two sites of different bodies; none if an equality has none.
fn sites(
    defaults: &DefaultClasses,
    node: XmlNode,
    tree: &MjcfTree,
) -> Result<Option<[(BodyRef, FramePlacement); 2]>> {
    if defaults.xml.attribute(node, "site1").is_none() {
        return Ok(None);
    }
    let both = [
        site(defaults, node, "site1", tree)?,
        site(defaults, node, "site2", tree)?,
    ];
    Ok((both[0].0 != both[1].0).then_some(both))
}

/// The joint frame at a placement in a body.
fn joint_frame(at: &FramePlacement) -> JointFrame {
    let direction = |v: Vector3<f64>| -> [f64; 3] { (at.rotation * v).normalize().into() };
    JointFrame {
        point: at.position.into(),
        axis: direction(Vector3::z()),
        reference_direction: direction(Vector3::x()),
    }
}

fn spherical(bodies: [BodyRef; 2], points: [Vector3<f64>; 2]) -> Joint {
    let frame = |point: Vector3<f64>| JointFrame {
        point: point.into(),
        ..JointFrame::default()
    };
    Joint {
        kind: JointKind::Spherical,
        bodies,
        frame: JointPlacement::BodyFrames(points.map(frame)),
        ..Joint::default()
    }
}

fn fixed(bodies: [BodyRef; 2], frames: [FramePlacement; 2]) -> Joint {
    Joint {
        kind: JointKind::Fixed,
        bodies,
        frame: JointPlacement::BodyFrames(frames.map(|at| joint_frame(&at))),
        ..Joint::default()
    }
}

/// A point of the first body stays at the point of the second where it is in the drawn pose.
fn connect(defaults: &DefaultClasses, node: XmlNode, tree: &MjcfTree) -> Result<Option<Joint>> {
    let xml = defaults.xml;
    if let Some([first, second]) = sites(defaults, node, tree)? {
        let points = [first.1.position, second.1.position];
        return Ok(Some(spherical([first.0, second.0], points)));
    }
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
    let points = [first.in_body.point(anchor), second.in_body.point(other)];
    Ok(Some(spherical([first.body, second.body], points)))
}

/// The second body stays where it is relative to the first in the drawn pose, or where `relpose` says.
fn weld(defaults: &DefaultClasses, node: XmlNode, tree: &MjcfTree) -> Result<Option<Joint>> {
    let xml = defaults.xml;
    if let Some([first, second]) = sites(defaults, node, tree)? {
        return Ok(Some(fixed([first.0, second.0], [first.1, second.1])));
    }
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
    let frames = [first.in_body.then(&relative), second.in_body];
    Ok(Some(fixed([first.body, second.body], frames)))
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
