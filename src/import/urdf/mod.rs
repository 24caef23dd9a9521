//! URDF: links and joints of a robot, and SRDF: start poses, virtual joints.

mod joint;
mod link;
mod srdf;
mod transmission;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use nalgebra::Vector3;

use super::draft::{Draft, NamedCoordinate};
use super::resource::Resources;
use super::tree::{self, TreeFreedom, TreeLink, TreeMap};
use super::xml::{Concern, Fate, XACRO, XmlFiles, XmlNode};
use super::{BaseMotion, ImportOptions, require_joints};
use crate::error::Result;
use crate::model::{
    Coupling, CouplingLaw, Curve, Force, ForceApplication, ForceKind, Joint, JointKind,
    JointPlacement, Target,
};
use joint::UrdfJoint;
use srdf::StartPose;

/// Acceleration of gravity where a file does not say (m/s²).
const GRAVITY: f64 = 9.81;

/// A robot as the file has it.
struct Robot {
    /// Links by name, in the order of the file.
    links: Vec<link::UrdfLink>,
    joints: Vec<UrdfJoint>,
    /// Index of each link.
    by_name: HashMap<String, usize>,
}

/// Reads a URDF file.
pub fn read(
    xml: &mut XmlFiles,
    root: XmlNode,
    path: &Path,
    options: &ImportOptions,
) -> Result<Draft> {
    let srdf = match &options.srdf {
        Some(file) => {
            let text = super::xml::file_text(file)?;
            Some(xml.add(&file.display().to_string(), &text)?)
        }
        None => None,
    };
    let xml = &*xml;
    xml.keep(root);
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let name = xml.value(root, "name").map(str::to_owned).or(stem);
    xml.value(root, "version");
    refuse_xacro(xml, root)?;
    let mut draft = Draft::default();
    let resources = Resources::new(path, &options.package_paths);
    let mut robot = robot(xml, root, &resources)?;
    transmission::read(xml, root, &mut robot.joints)?;
    drop_the_rest(xml, root);
    let pose = match srdf {
        Some(node) => srdf::read(xml, node, &mut robot.joints, options.keyframe.as_deref())?,
        None => match &options.keyframe {
            Some(key) => {
                let message = format!("there is no group state \"{key}\" without an SRDF file");
                return Err(xml.error(root, message));
            }
            None => StartPose::default(),
        },
    };
    let order = robot.order(xml)?;
    let base = robot.base(options, &pose, order[0], &mut draft);
    robot.require_start_joints(options)?;
    robot.set_start(xml, &pose, options, &mut draft);
    let mut tree_links = robot.tree(&order, base, &pose);
    for reason in pose.notes {
        draft.note(reason, None);
    }
    draft.model.name = super::model_name(name.as_deref().unwrap_or("robot"));
    draft.model.gravity = [0.0, 0.0, -GRAVITY];
    draft.head.push(format!(
        "From {}, robot \"{}\". `biela import` wrote this file; edit it as you like.",
        path.file_name()
            .map(|f| f.to_string_lossy())
            .unwrap_or_default(),
        name.as_deref().unwrap_or("")
    ));
    draft
        .head
        .push("URDF does not say gravity: z is up.".to_owned());
    let map = tree::add(&mut draft, &mut tree_links);
    robot.add_mimics(&mut draft, &tree_links, &map);
    robot.add_signals(&mut draft, &tree_links, &map);
    if base == BaseMotion::Free {
        add_base_outputs(&mut draft);
    }
    Ok(draft)
}

fn refuse_xacro(xml: &XmlFiles, root: XmlNode) -> Result<()> {
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        if xml.tag(node).starts_with("xacro:") {
            let message = format!("<{}> is an element of xacro; {XACRO}", xml.tag(node));
            return Err(xml.error(node, message));
        }
        waiting.extend(xml.children(node).iter().rev());
    }
    Ok(())
}

fn robot(xml: &XmlFiles, root: XmlNode, resources: &Resources) -> Result<Robot> {
    let mut by_name = HashMap::new();
    let mut links = vec![];
    for node in xml.all(root, "link") {
        let link = link::read(xml, node, resources)?;
        if by_name.insert(link.name.clone(), links.len()).is_some() {
            let message = format!("there are two links \"{}\"", link.name);
            return Err(xml.error(node, message));
        }
        links.push(link);
    }
    if links.is_empty() {
        return Err(xml.error(root, "there are no links"));
    }
    let mut joints: Vec<UrdfJoint> = vec![];
    let mut seen = HashMap::new();
    for node in xml.all(root, "joint") {
        let joint = joint::read(xml, node)?;
        if seen.insert(joint.name.clone(), ()).is_some() {
            let message = format!("there are two joints \"{}\"", joint.name);
            return Err(xml.error(node, message));
        }
        for (word, link) in [("parent", &joint.parent), ("child", &joint.child)] {
            if !by_name.contains_key(link) {
                let message = format!(
                    "joint \"{}\": there is no link \"{link}\" ({word})",
                    joint.name
                );
                return Err(xml.error(node, message));
            }
        }
        joints.push(joint);
    }
    Ok(Robot {
        links,
        joints,
        by_name,
    })
}

/// What the root has besides links, joints and transmissions.
fn drop_the_rest(xml: &XmlFiles, root: XmlNode) {
    for node in xml.children(root) {
        match xml.tag(node) {
            "link" | "joint" | "transmission" => {}
            "material" => xml.drop_all(node, "bodies have no colours", Concern::Picture),
            "gazebo" => xml.drop_all(node, "settings of Gazebo", Concern::Other),
            _ => xml.drop_all(node, "not an element of URDF", Concern::Other),
        }
    }
    let left = (xml.elements[root].attributes.iter())
        .filter(|attribute| *attribute.fate.borrow() == Fate::Unread);
    for attribute in left {
        let why = "not an attribute of URDF".to_owned();
        attribute.fate.replace(Fate::Dropped(why, Concern::Other));
    }
}

impl Robot {
    /// The joint above each link.
    fn above(&self) -> HashMap<&str, usize> {
        let children = self.joints.iter().enumerate();
        children
            .map(|(j, joint)| (joint.child.as_str(), j))
            .collect()
    }

    /// Links from the root outwards, each after its parent; the children of a link in the order of the joints.
    fn order(&self, xml: &XmlFiles) -> Result<Vec<usize>> {
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut is_child = vec![false; self.links.len()];
        for joint in &self.joints {
            let child = self.by_name[&joint.child];
            if std::mem::replace(&mut is_child[child], true) {
                let message = format!("link \"{}\" is the child of two joints", joint.child);
                return Err(xml.error(joint.node, message));
            }
            let parent = self.by_name[&joint.parent];
            children.entry(parent).or_default().push(child);
        }
        let mut roots = (0..self.links.len()).filter(|k| !is_child[*k]);
        let Some(root) = roots.next() else {
            let message = "the joints form a loop: no link is without a parent";
            return Err(xml.error(self.links[0].node, message));
        };
        if let Some(second) = roots.next() {
            let (first, link) = (&self.links[root], &self.links[second]);
            let message = format!(
                "links \"{}\" and \"{}\" both have no parent; a robot has one root",
                first.name, link.name
            );
            return Err(xml.error(link.node, message));
        }
        let mut order = vec![];
        let mut waiting = vec![root];
        while let Some(link) = waiting.pop() {
            order.push(link);
            waiting.extend(children.get(&link).into_iter().flatten().rev());
        }
        if order.len() < self.links.len() {
            let lost = (0..self.links.len()).find(|k| !order.contains(k));
            let link = &self.links[lost.expect("one is missing")];
            let message = format!("link \"{}\" is in a loop of joints", link.name);
            return Err(xml.error(link.node, message));
        }
        Ok(order)
    }

    /// Whether the root moves.
    fn base(
        &self,
        options: &ImportOptions,
        pose: &StartPose,
        root: usize,
        draft: &mut Draft,
    ) -> BaseMotion {
        if let Some(base) = options.base {
            return base;
        }
        if let Some(base) = pose.base {
            return base;
        }
        let root = &self.links[root];
        if self.joints.iter().all(|joint| joint.is_fixed) {
            let words = format!("no joint moves, so link \"{}\" is free", root.name);
            draft.note(words, None);
            return BaseMotion::Free;
        }
        draft.note(
            format!(
                "link \"{}\" is fixed to the ground; --base free lets it move",
                root.name
            ),
            None,
        );
        BaseMotion::Fixed
    }

    fn require_start_joints(&self, options: &ImportOptions) -> Result<()> {
        let names: Vec<&str> = (self.joints.iter())
            .filter(|joint| !joint.is_fixed && !joint.is_floating)
            .filter(|joint| joint.tree.freedom.has_one_coordinate())
            .map(|joint| joint.name.as_str())
            .collect();
        require_joints(options, &names)
    }

    /// Start values: those of the pose, moved into the limits; those of mimicking joints follow.
    fn set_start(
        &mut self,
        xml: &XmlFiles,
        pose: &StartPose,
        options: &ImportOptions,
        draft: &mut Draft,
    ) {
        for joint in &mut self.joints {
            if let Some(value) = pose.values.get(&joint.name) {
                joint.tree.start = *value;
            }
            if let Some((_, value)) = options.start.iter().find(|(name, _)| *name == joint.name) {
                joint.tree.start = *value;
            }
            if options.no_limits && joint.tree.limits.take().is_some() {
                joint.limits_dropped(xml, "--no-limits");
            }
            let Some([low, high]) = joint.tree.limits else {
                continue;
            };
            let value = joint.tree.start.clamp(low, high);
            if value != joint.tree.start && joint.mimic.is_none() {
                draft.note(
                    format!(
                        "joint \"{}\": the start {} is outside the limits and was moved to {value}",
                        joint.name, joint.tree.start
                    ),
                    Some(joint.tree.position),
                );
                joint.tree.start = value;
            }
        }
        self.follow_mimics(xml, draft);
    }

    /// Resolves mimics: each follows a joint that moves and mimics nothing.
    fn follow_mimics(&mut self, xml: &XmlFiles, draft: &mut Draft) {
        let by_name: HashMap<String, usize> = (self.joints.iter().enumerate())
            .map(|(j, joint)| (joint.name.clone(), j))
            .collect();
        for j in 0..self.joints.len() {
            let Some(mut mimic) = self.joints[j].mimic.take() else {
                continue;
            };
            // Mimics of mimics; a chain longer than the robot is a circle.
            for _ in 0..self.joints.len() {
                let Some(next) = by_name.get(&mimic.joint).map(|m| &self.joints[*m]) else {
                    break;
                };
                let Some(further) = &next.mimic else { break };
                mimic.offset += mimic.multiplier * further.offset;
                mimic.multiplier *= further.multiplier;
                mimic.joint = further.joint.clone();
            }
            let master = by_name.get(&mimic.joint).copied().filter(|m| *m != j);
            let node = mimic.node;
            let Some(master) = master.filter(|m| self.joints[*m].mimic.is_none()) else {
                let why = "the joint that it follows does not exist, or is itself; the joint moves freely";
                xml.drop_all(node, why, Concern::Dynamics);
                continue;
            };
            let moves = matches!(
                self.joints[master].tree.freedom,
                TreeFreedom::Hinge | TreeFreedom::Slide
            ) && !self.joints[master].is_fixed;
            let joint = &mut self.joints[j];
            joint.limits_of_a_mimic(xml);
            if !moves || mimic.multiplier == 0.0 {
                let value = mimic.offset;
                draft.note(
                    format!(
                        "joint \"{}\" follows a joint that does not move and is fixed at {value}",
                        joint.name
                    ),
                    Some(joint.tree.position),
                );
                joint.tree.start = value;
                joint.fixed_at_start = true;
                continue;
            }
            let value = mimic.offset + mimic.multiplier * self.joints[master].tree.start;
            let joint = &mut self.joints[j];
            joint.tree.start = value;
            joint.mimic = Some(mimic);
        }
    }

    /// The links as a tree.
    fn tree(&self, order: &[usize], base: BaseMotion, pose: &StartPose) -> Vec<TreeLink> {
        let above = self.above();
        let mut place = vec![0; self.links.len()];
        for (k, link) in order.iter().enumerate() {
            place[*link] = k;
        }
        (order.iter())
            .map(|index| {
                let link = &self.links[*index];
                let joint = above.get(link.name.as_str()).map(|j| &self.joints[*j]);
                let mut tree = TreeLink {
                    name: link.name.clone(),
                    position: link.position,
                    comment: link.comment.clone(),
                    parent: None,
                    placement: Default::default(),
                    joints: vec![],
                    is_free: false,
                    is_between: false,
                    is_absent: false,
                    rate: [Vector3::zeros(); 2],
                    free_start: None,
                    free_spring: [0.0; 2],
                    free_spring_damper: None,
                    free_armature: 0.0,
                    mass: link.mass,
                    mesh: link.mesh.clone(),
                };
                match joint {
                    None => {
                        tree.is_free = base == BaseMotion::Free;
                        tree.placement = pose.base_pose;
                    }
                    Some(joint) => {
                        tree.parent = Some(place[self.by_name[&joint.parent]]);
                        tree.placement = joint.placement;
                        tree.is_free = joint.is_floating;
                        if joint.fixed_at_start {
                            tree.placement = joint.placement.then(&joint.tree.motion());
                        } else if !joint.is_fixed && !joint.is_floating {
                            tree.joints.push(joint.tree.clone());
                        }
                    }
                }
                tree
            })
            .collect()
    }

    /// Joints of the links of the tree, with their coordinates, if they have one.
    fn coordinates<'a>(
        &'a self,
        links: &'a [TreeLink],
        map: &'a TreeMap,
    ) -> impl Iterator<Item = (&'a UrdfJoint, &'a NamedCoordinate)> {
        let by_name: HashMap<&str, &UrdfJoint> = (self.joints.iter())
            .map(|joint| (joint.name.as_str(), joint))
            .collect();
        let all = links.iter().zip(&map.coordinates);
        let all = all.flat_map(|(link, coordinates)| link.joints.iter().zip(coordinates));
        all.filter_map(move |(joint, coordinate)| {
            Some((*by_name.get(joint.name.as_str())?, coordinate.as_ref()?))
        })
    }

    /// A coupling for each mimicking joint.
    fn add_mimics(&self, draft: &mut Draft, links: &[TreeLink], map: &TreeMap) {
        let by_name: HashMap<&str, _> = (self.coordinates(links, map))
            .map(|(joint, coordinate)| (joint.name.as_str(), coordinate.coordinate))
            .collect();
        for (joint, coordinate) in self.coordinates(links, map) {
            let Some(mimic) = &joint.mimic else { continue };
            let Some(master) = by_name.get(mimic.joint.as_str()) else {
                continue;
            };
            let name = format!("{}_mimic", coordinate.name);
            let name = draft.element_name("coupling", &name, None);
            let comment = format!(
                "{} = {} * {} + {}",
                joint.name, mimic.multiplier, mimic.joint, mimic.offset
            );
            draft.comments.insert(name.clone(), comment);
            let law = Curve::Polynomial(vec![mimic.offset, mimic.multiplier]);
            draft.model.joints.push(Joint {
                name,
                kind: JointKind::Coupling,
                frame: JointPlacement::None,
                coupling: Some(Coupling {
                    coordinates: [*master, coordinate.coordinate],
                    law: CouplingLaw::Curve(law),
                    summands: vec![],
                }),
                ..Joint::default()
            });
        }
    }

    /// An actuator with its input for each independent coordinate, outputs for all.
    fn add_signals(&self, draft: &mut Draft, links: &[TreeLink], map: &TreeMap) {
        for (joint, coordinate) in self.coordinates(links, map) {
            if joint.mimic.is_none() {
                let name = draft.element_name("force", &format!("{}_motor", coordinate.name), None);
                let target = Target::ForceEffort(draft.model.forces.len());
                draft.model.forces.push(Force {
                    name,
                    kind: ForceKind::Actuator { effort: 0.0 },
                    on: ForceApplication::Joint(coordinate.coordinate),
                    text_position: Default::default(),
                });
                let field = if coordinate.is_angle {
                    "torque"
                } else {
                    "force"
                };
                draft.add_input(&format!("{}_{field}", coordinate.name), target, 0.0);
            }
            draft.add_joint_outputs(coordinate);
        }
    }
}

/// Outputs of a base that moves: its pose.
fn add_base_outputs(draft: &mut Draft) {
    let Some(base) = draft.model.bodies.first().map(|body| body.name.clone()) else {
        return;
    };
    for field in ["x", "y", "z", "qw", "qx", "qy", "qz"] {
        draft.add_output(&format!("{base}_{field}"), &format!("{base}.{field}"));
    }
}
