//! MJCF: bodies, joints, actuators and equalities of MuJoCo's models.

mod actuator;
mod body;
mod compiler;
mod contact;
mod defaults;
mod equality;
mod geom;
mod include;
mod joint;
mod joint_inertia;
mod keyframe;
mod mesh;
mod mocap;
mod tendon;
mod weightless;

use std::path::Path;

use super::draft::{Draft, NamedCoordinate};
use super::frame::FramePlacement;
use super::moved_inertia;
use super::resource::Resources;
use super::tree::{self, TreeJoint, TreeLink, TreeMap};
use super::xml::{Concern, Fate, XmlFiles, XmlNode};
use super::{ImportOptions, require_joints};
use crate::error::Result;
use body::BodyReader;
use compiler::CompilerSettings;
use defaults::DefaultClasses;
use mesh::MeshAssets;

/// What was read of the bodies, and where it is in the model.
struct MjcfTree {
    links: Vec<TreeLink>,
    /// Name and link of each body.
    bodies: Vec<(String, usize)>,
    /// Name, link and index there of each joint.
    joints: Vec<(String, usize, usize)>,
    /// Name, link, placement there and element of each site.
    sites: Vec<(String, Option<usize>, FramePlacement, XmlNode)>,
    map: TreeMap,
}

impl MjcfTree {
    /// The coordinate of a joint.
    fn coordinate(&self, name: &str) -> Option<&NamedCoordinate> {
        let (_, link, joint) = self.joints.iter().find(|(own, ..)| own == name)?;
        self.map.coordinates[*link].get(*joint)?.as_ref()
    }

    /// A joint.
    fn joint(&self, name: &str) -> Option<&TreeJoint> {
        let (_, link, joint) = self.joints.iter().find(|(own, ..)| own == name)?;
        self.links[*link].joints.get(*joint)
    }

    /// Inertia that a joint moves in the drawn pose, with its armature.
    fn inertia(&self, name: &str) -> Option<f64> {
        self.joint(name).map(|joint| joint.inertia)
    }

    /// Coordinate of a joint in the pose that the file draws.
    fn reference(&self, name: &str) -> f64 {
        self.joint(name).map_or(0.0, |joint| joint.reference)
    }

    /// The link of a body; `None` if there is none of this name.
    fn body(&self, name: &str) -> Option<usize> {
        self.bodies
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, link)| *link)
    }

    /// Pose of a link where the file draws it.
    fn drawn(&self, link: usize) -> FramePlacement {
        let own = self.links[link].placement;
        match self.links[link].parent {
            Some(parent) => self.drawn(parent).then(&own),
            None => own,
        }
    }
}

/// Reads an MJCF file.
pub fn read(
    xml: &mut XmlFiles,
    root: XmlNode,
    path: &Path,
    options: &ImportOptions,
) -> Result<Draft> {
    let resources = Resources::new(path, &options.package_paths);
    include::expand(xml, root, path, &resources)?;
    let xml = &*xml;
    xml.keep(root);
    let mut settings = CompilerSettings::new(xml, root)?;
    let defaults = DefaultClasses::new(xml, root)?;
    let folder = settings.mesh_folder.as_deref();
    settings.meshes = MeshAssets::new(&defaults, root, folder, &resources);
    let mut draft = titled(xml, root, path)?;
    let worlds = xml.all(root, "worldbody");
    let Some(world) = worlds.first() else {
        return Err(xml.error(root, "there is no <worldbody>"));
    };
    let asked = (options.contact, mocap::named_in_equalities(xml, root));
    let mut reader = BodyReader::read(&settings, &defaults, *world, asked)?;
    for more in &worlds[1..] {
        reader.read_more(*more)?;
    }
    if settings.total_mass > 0.0 {
        scale(&mut reader.links, settings.total_mass);
    }
    mocap::give_mass(&mut reader);
    let weightless = weightless::weightless(&mut reader);
    if !joint_inertia::set_springs(&mut reader.links) {
        return Err(xml.error(
            root,
            "springdamper: there are joints that move no inertia, or too many joints",
        ));
    }
    let mut controls = vec![];
    if let Some(key) = &options.keyframe {
        controls = keyframe::start(xml, root, key, &mut reader)?;
    }
    turn_off(&settings, &mut reader.links);
    set_start(options, &mut reader.links, &mut draft)?;
    let BodyReader {
        mut links,
        bodies,
        joints,
        contacts,
        sites,
        mocaps,
        ..
    } = reader;
    refuse_points(xml, &links)?;
    let map = tree::add(&mut draft, &mut links);
    let driven = mocap::add(&mocaps, &links, &map, &mut draft);
    weightless::add(&weightless, &map, &mut draft);
    let tree = MjcfTree {
        links,
        bodies,
        joints,
        sites,
        map,
    };
    add_actions(&settings, &defaults, (root, &tree), &controls, &mut draft)?;
    let contacts = contacts.filter(|_| !settings.is_off("contact"));
    let contacts = contacts.unwrap_or_default();
    contact::add(&settings, &defaults, &contacts, &tree, &mut draft)?;
    for coordinate in tree.map.coordinates.iter().flatten().flatten() {
        // Of what is driven from outside, the inputs say where it is.
        if !driven.contains(&coordinate.coordinate) {
            draft.add_joint_outputs(coordinate);
        }
    }
    add_pose_outputs(&tree, &mut draft);
    defaults.drop_unused();
    drop_the_rest(&defaults, root);
    Ok(draft)
}

/// A draft with its name and gravity.
fn titled(xml: &XmlFiles, root: XmlNode, path: &Path) -> Result<Draft> {
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let given = xml.value(root, "model").map(str::to_owned);
    let name = given.or(stem).unwrap_or_default();
    let mut draft = Draft::default();
    draft.model.name = super::model_name(&name);
    draft.model.gravity = gravity(xml, root)?;
    draft.head.push(format!(
        "From {}, model \"{name}\". `biela import` wrote this file; edit it as you like.",
        path.file_name()
            .map(|f| f.to_string_lossy())
            .unwrap_or_default(),
    ));
    Ok(draft)
}

/// Adds what acts on the bodies besides their joints: tendons, equalities, actuators.
fn add_actions(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    (root, tree): (XmlNode, &MjcfTree),
    controls: &[f64],
    draft: &mut Draft,
) -> Result<()> {
    let tendons = tendon::add(settings, defaults, root, tree, draft)?;
    let parts = (tree, &tendons);
    match settings.is_off("equality") {
        true => drop_lists(defaults.xml, root, "equality"),
        false => equality::add(defaults, root, parts, draft)?,
    }
    match settings.is_off("actuation") {
        true => drop_lists(defaults.xml, root, "actuator"),
        false => actuator::add(settings, defaults, root, (parts, controls), draft)?,
    }
    Ok(())
}

/// Gravity, and what the options say besides.
fn gravity(xml: &XmlFiles, root: XmlNode) -> Result<[f64; 3]> {
    let mut gravity = [0.0, 0.0, -9.81];
    for node in xml.all(root, "option") {
        gravity = xml.numbers::<3>(node, "gravity")?.unwrap_or(gravity);
        for name in ["density", "viscosity"] {
            if xml.number(node, name)?.unwrap_or(0.0) != 0.0 {
                let why = "forces of a fluid".to_owned();
                xml.mark(node, name, Fate::Dropped(why, Concern::Dynamics));
            }
        }
        for flag in xml.all(node, "flag") {
            if xml.value(flag, "gravity") == Some("disable") {
                gravity = [0.0; 3];
            }
        }
        drop_unread(xml, node, "settings of MuJoCo's solver", Concern::Control);
    }
    Ok(gravity)
}

/// MuJoCo refuses such bodies too.
fn refuse_points(xml: &XmlFiles, links: &[TreeLink]) -> Result<()> {
    let Some(link) = moved_inertia::free_without(links) else {
        return Ok(());
    };
    let message = format!(
        "body \"{}\" moves freely and has no inertia; give it a geom with a volume that can be read, or an <inertial> with diaginertia",
        link.name
    );
    Err(xml.error_at(link.position, message))
}

/// Removes forces in joints that a flag turns off.
fn turn_off(settings: &CompilerSettings, links: &mut [TreeLink]) {
    let (spring, damper) = (settings.is_off("spring"), settings.is_off("damper"));
    for link in links {
        let [stiffness, damping] = &mut link.free_spring;
        let mut springs = vec![stiffness];
        let mut dampers = vec![damping];
        for joint in &mut link.joints {
            if settings.is_off("limit") {
                joint.limits = None;
            }
            if settings.is_off("frictionloss") {
                joint.friction = 0.0;
            }
            springs.push(&mut joint.stiffness);
            dampers.push(&mut joint.damping);
        }
        (springs.into_iter().filter(|_| spring)).for_each(|x| *x = 0.0);
        (dampers.into_iter().filter(|_| damper)).for_each(|x| *x = 0.0);
    }
}

/// Drops what a flag turns off.
fn drop_lists(xml: &XmlFiles, root: XmlNode, tag: &str) {
    let why = "a flag turns it off";
    for list in xml.all(root, tag) {
        (xml.children(list).iter()).for_each(|node| xml.drop_all(*node, why, Concern::Other));
    }
}

/// `settotalmass`
fn scale(links: &mut [TreeLink], total: f64) {
    let sum: f64 = links.iter().map(|link| link.mass.mass).sum();
    if sum > 0.0 {
        for link in links {
            link.mass.mass *= total / sum;
            link.mass.inertia *= total / sum;
        }
    }
}

/// Moves the start into the limits.
fn set_start(options: &ImportOptions, links: &mut [TreeLink], draft: &mut Draft) -> Result<()> {
    let joints = links.iter().flat_map(|link| &link.joints);
    let names: Vec<&str> = joints
        .filter(|joint| joint.freedom.has_one_coordinate())
        .map(|joint| joint.name.as_str())
        .collect();
    require_joints(options, &names)?;
    for joint in links.iter_mut().flat_map(|link| &mut link.joints) {
        if let Some((_, value)) = options.start.iter().find(|(name, _)| *name == joint.name) {
            joint.start = *value;
        }
        if options.no_limits {
            joint.limits = None;
        }
        let Some([low, high]) = joint.limits else {
            continue;
        };
        let value = joint.start.clamp(low, high);
        if value != joint.start {
            draft.note(
                format!(
                    "joint \"{}\": the start {} is outside the limits and was moved to {value}",
                    joint.name, joint.start
                ),
                Some(joint.position),
            );
            joint.start = value;
        }
    }
    Ok(())
}

/// Outputs of free bodies: their poses.
fn add_pose_outputs(tree: &MjcfTree, draft: &mut Draft) {
    for (k, link) in tree.links.iter().enumerate() {
        let (Some(body), true) = (tree.map.links[k].0, link.is_free) else {
            continue;
        };
        let name = draft.model.bodies[body].name.clone();
        for field in ["x", "y", "z", "qw", "qx", "qy", "qz"] {
            draft.add_output(&format!("{name}_{field}"), &format!("{name}.{field}"));
        }
    }
}

/// What the root has besides.
fn drop_the_rest(defaults: &DefaultClasses, root: XmlNode) {
    let xml = defaults.xml;
    for node in xml.children(root) {
        let (why, concern) = match xml.tag(node) {
            "worldbody" | "default" | "compiler" | "option" | "actuator" | "equality"
            | "tendon" => {
                drop_unread(xml, node, "not imported", Concern::Other);
                continue;
            }
            "asset" | "visual" | "statistic" => ("for pictures", Concern::Picture),
            "contact" => ("contacts are not imported", Concern::Contact),
            "sensor" => ("outputs are positions and speeds of joints", Concern::Other),
            "keyframe" => {
                drop_unread(xml, node, "another start, or no part of it", Concern::Other);
                continue;
            }
            "deformable" => ("deformable bodies", Concern::Dynamics),
            _ => ("it does not change the motion", Concern::Other),
        };
        xml.drop_all(node, why, concern);
    }
    let root = &xml.elements[root];
    for attribute in &root.attributes {
        if *attribute.fate.borrow() == Fate::Unread {
            attribute
                .fate
                .replace(Fate::Dropped("not imported".to_owned(), Concern::Other));
        }
    }
}

/// Marks what was not read in an element and below as dropped; children that were read keep their own.
fn drop_unread(xml: &XmlFiles, node: XmlNode, why: &str, concern: Concern) {
    let element = &xml.elements[node];
    let drop = |fate: &std::cell::RefCell<Fate>| {
        if *fate.borrow() == Fate::Unread {
            fate.replace(Fate::Dropped(why.to_owned(), concern));
        }
    };
    drop(&element.fate);
    element
        .attributes
        .iter()
        .for_each(|attribute| drop(&attribute.fate));
    element
        .children
        .iter()
        .for_each(|child| drop_unread(xml, *child, why, concern));
}

/// A name that was read.
fn keep_name(xml: &XmlFiles, node: XmlNode) {
    xml.value(node, "name");
}
