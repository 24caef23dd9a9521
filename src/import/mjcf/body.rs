//! `<body>`, `<frame>` and `<replicate>`: the links of the tree.

use nalgebra::Vector3;

use super::compiler::CompilerSettings;
use super::contact::ContactGeom;
use super::defaults::DefaultClasses;
use super::geom;
use crate::error::Result;
use crate::import::combined_joint::combined;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::tree::{TreeJoint, TreeLink};
use crate::import::xml::{Concern, Fate, XmlNode};

/// The bodies of a file while they are read.
pub struct BodyReader<'a> {
    pub settings: &'a CompilerSettings,
    pub defaults: &'a DefaultClasses<'a>,
    pub links: Vec<TreeLink>,
    /// Name and link of each body, in the order of the file.
    pub bodies: Vec<(String, usize)>,
    /// Link of each joint and its index there, by name.
    pub joints: Vec<(String, usize, usize)>,
    /// Links of free joints, in the order of coordinates with the others: link, or link and joint.
    pub coordinates: Vec<(usize, Option<usize>)>,
    /// Name, link, placement there and element of each site.
    pub sites: Vec<(String, Option<usize>, FramePlacement, XmlNode)>,
    /// Geoms that may touch, if contacts are asked for.
    pub contacts: Option<Vec<ContactGeom>>,
    /// The first link of each mocap body; none if nothing hangs on it.
    pub mocaps: Vec<Option<usize>>,
    /// Links, and the part of their weight that is compensated.
    pub compensated: Vec<(usize, f64)>,
    /// Bodies and sites that equalities name.
    pub(super) equality_names: Vec<String>,
    /// Copies of replicated elements: suffix of names.
    pub(super) suffix: String,
}

/// Where children are put: their parent, the frame around them, their class.
#[derive(Clone)]
struct Surroundings {
    parent: Option<usize>,
    frame: FramePlacement,
    class: Option<String>,
}

/// Elements of all bodies with their copies.
const MOST_ELEMENTS: usize = 1_000_000;

/// Copies of an element that are made at most.
const MOST_COPIES: usize = 10_000;

/// An element of a body: the frame around it in that of the body, and its class.
pub(super) struct BodyPart {
    pub node: XmlNode,
    pub frame: FramePlacement,
    pub class: Option<String>,
}

impl<'a> BodyReader<'a> {
    /// Reads everything below `<worldbody>`.
    pub fn read(
        settings: &'a CompilerSettings,
        defaults: &'a DefaultClasses<'a>,
        world: XmlNode,
        (contact, equality_names): (bool, Vec<String>),
    ) -> Result<Self> {
        let mut reader = Self {
            settings,
            defaults,
            links: vec![],
            bodies: vec![],
            joints: vec![],
            coordinates: vec![],
            sites: vec![],
            contacts: contact.then(Vec::new),
            mocaps: vec![],
            compensated: vec![],
            equality_names,
            suffix: String::new(),
        };
        reader.read_more(world)?;
        Ok(reader)
    }

    /// Reads another `<worldbody>`.
    pub fn read_more(&mut self, world: XmlNode) -> Result<()> {
        self.count_copies(world, 1)?;
        let around = Surroundings {
            parent: None,
            frame: FramePlacement::default(),
            class: None,
        };
        self.children(world, &around)
    }

    /// Number of elements below one of which there are so many, with all copies.
    fn count_copies(&self, node: XmlNode, copies: usize) -> Result<usize> {
        let xml = self.defaults.xml;
        let mut sum = 0;
        for child in xml.children(node) {
            let count = match xml.tag(child) {
                "replicate" => xml.number(child, "count")?.unwrap_or(0.0).max(0.0) as usize,
                _ => 1,
            };
            let of_child = copies.saturating_mul(count);
            sum += of_child;
            if sum <= MOST_ELEMENTS {
                sum += self.count_copies(child, of_child)?;
            }
            if sum > MOST_ELEMENTS {
                return Err(xml.error(child, "<replicate>: too many copies"));
            }
        }
        Ok(sum)
    }

    /// The class of children of an element.
    fn childclass(&self, node: XmlNode, around: &Surroundings) -> Result<Option<String>> {
        let xml = self.defaults.xml;
        let class = xml.value(node, "childclass").map(str::to_owned);
        if let Some(class) = &class
            && !self.defaults.knows(class)
        {
            return Err(xml.error(node, format!("there is no default class \"{class}\"")));
        }
        Ok(class.or_else(|| around.class.clone()))
    }

    fn children(&mut self, node: XmlNode, around: &Surroundings) -> Result<()> {
        let xml = self.defaults.xml;
        for child in xml.children(node) {
            match xml.tag(child) {
                "body" => self.body(child, around)?,
                "frame" => {
                    xml.keep(child);
                    let placement = self.settings.placement(self.defaults, child, None)?;
                    let inner = Surroundings {
                        parent: around.parent,
                        frame: around.frame.then(&placement),
                        class: self.childclass(child, around)?,
                    };
                    self.children(child, &inner)?;
                }
                "replicate" => self.replicate(child, around)?,
                "geom" if around.parent.is_none() => {
                    let class = around.class.as_deref();
                    let is_plane = self.defaults.text(child, class, "type") == Some("plane");
                    if let (Some(contacts), true) = (&mut self.contacts, is_plane) {
                        contacts.push(ContactGeom::new(child, class, None, around.frame));
                        continue;
                    }
                    let why = "a geom of the world: contacts are not imported";
                    xml.drop_all(child, why, Concern::Contact);
                }
                // Of a body; read with it.
                "geom" | "joint" | "freejoint" | "inertial" => {}
                "site" => {
                    if let Some(name) = xml.attribute(child, "name") {
                        let class = around.class.as_deref();
                        let own = self.settings.placement(self.defaults, child, class)?;
                        let name = format!("{}{}", name.value, self.suffix);
                        let at = around.frame.then(&own);
                        self.sites.push((name, around.parent, at, child));
                    }
                    xml.drop_all(child, "for sensors and pictures", Concern::Picture);
                }
                "light" | "camera" => {
                    xml.drop_all(child, "for sensors and pictures", Concern::Picture);
                }
                "composite" | "flexcomp" | "attach" | "plugin" => {
                    let why = "bodies that MuJoCo makes from it are not imported";
                    xml.drop_all(child, why, Concern::Dynamics);
                }
                _ => xml.drop_all(child, "not imported", Concern::Other),
            }
        }
        Ok(())
    }

    /// Where the copies are, and what is put before their numbers. Each begins where the one before it ends; angles are multiplied.
    fn replication(&self, node: XmlNode) -> Result<(Vec<FramePlacement>, String)> {
        let xml = self.defaults.xml;
        let count = xml.number(node, "count")?.unwrap_or(0.0);
        if !(0.0..=MOST_COPIES as f64).contains(&count) || count.fract() != 0.0 {
            let message = format!("<replicate> count: expected 0 .. {MOST_COPIES}, found {count}");
            return Err(xml.error(node, message));
        }
        let offset = xml.numbers::<3>(node, "offset")?.unwrap_or_default();
        let angles = xml.numbers::<3>(node, "euler")?.unwrap_or_default();
        let mut copies: Vec<FramePlacement> = vec![];
        for k in 0..count as usize {
            let position = copies.last().map_or(Vector3::zeros(), |before| {
                before.point(Vector3::from(offset))
            });
            let rotation = self.settings.euler(angles.map(|angle| angle * k as f64));
            copies.push(FramePlacement { position, rotation });
        }
        let separator = xml.value(node, "sep").unwrap_or("").to_owned();
        Ok((copies, separator))
    }

    fn replicate(&mut self, node: XmlNode, around: &Surroundings) -> Result<()> {
        let xml = self.defaults.xml;
        xml.keep(node);
        let (copies, separator) = self.replication(node)?;
        let digits = format!("{}", copies.len().saturating_sub(1)).len();
        let before = self.suffix.clone();
        for (k, copy) in copies.iter().enumerate() {
            if self.links.len() > MOST_COPIES {
                return Err(xml.error(node, "<replicate>: too many bodies"));
            }
            self.suffix = format!("{before}{separator}{k:0digits$}");
            let inner = Surroundings {
                frame: around.frame.then(copy),
                ..around.clone()
            };
            self.children(node, &inner)?;
        }
        self.suffix = before;
        Ok(())
    }

    fn body(&mut self, node: XmlNode, around: &Surroundings) -> Result<()> {
        let xml = self.defaults.xml;
        xml.keep(node);
        let count = self.bodies.len() + 1;
        let given = xml
            .value(node, "name")
            .map(|name| format!("{name}{}", self.suffix));
        let name = given.clone().unwrap_or_else(|| format!("body{count}"));
        let class = self.childclass(node, around)?;
        let placement = self.settings.placement(self.defaults, node, None)?;
        let placement = around.frame.then(&placement);
        let class_name = class.as_deref();
        let (joints, free) = self.joints(node, class_name, &name)?;
        let is_mocap = xml.value(node, "mocap") == Some("true");
        let compensated = xml.number(node, "gravcomp")?.unwrap_or(0.0);
        let mass = self.mass(node, class_name)?;
        let mut link = TreeLink {
            name: name.clone(),
            position: xml.elements[node].position,
            comment: format!("body {count} \"{name}\", {}", xml.place(node)),
            parent: around.parent,
            placement,
            joints: vec![],
            is_free: free.is_some(),
            is_between: false,
            is_absent: false,
            rate: [Vector3::zeros(); 2],
            free_start: None,
            free_spring: free.map_or([0.0; 2], |free| free.spring),
            free_spring_damper: free.and_then(|free| free.spring_damper),
            free_armature: free.map_or(0.0, |free| free.armature),
            mass,
            mesh: None,
        };
        let index = match is_mocap.then(|| self.mocap(node, &mut link)).flatten() {
            None => self.add_chain(link, joints),
            Some(driven) => {
                let (first, count) = (self.links.len(), self.coordinates.len());
                let index = self.add_chain(link, driven);
                // They are none of the file.
                self.coordinates.truncate(count);
                self.mocaps.push(Some(first));
                index
            }
        };
        if compensated != 0.0 && !is_mocap {
            self.compensated.push((index, compensated));
        }
        if let Some(mut contacts) = self.contacts.take() {
            for part in self.parts(node, class_name, &["geom"])? {
                let class = part.class.as_deref();
                contacts.push(ContactGeom::new(part.node, class, Some(index), part.frame));
            }
            self.contacts = Some(contacts);
        }
        self.bodies.push((name, index));
        let inner = Surroundings {
            parent: Some(index),
            frame: FramePlacement::default(),
            class,
        };
        self.children(node, &inner)?;
        for attribute in &xml.elements[node].attributes {
            if *attribute.fate.borrow() == Fate::Unread {
                let fate = Fate::Dropped("not imported".to_owned(), Concern::Other);
                attribute.fate.replace(fate);
            }
        }
        Ok(())
    }

    /// Adds a link; joints that no joint of the model stands for alone get links without mass between them.
    fn add_chain(&mut self, mut link: TreeLink, joints: Vec<TreeJoint>) -> usize {
        let mut rest = joints;
        if link.is_free {
            self.coordinates.push((self.links.len(), None));
        }
        while !rest.is_empty() {
            let fits = (1..=rest.len())
                .rev()
                .find(|n| combined(&rest[..*n]).is_some());
            let later = rest.split_off(fits.unwrap_or(1));
            let own = std::mem::replace(&mut rest, later);
            let index = self.links.len();
            for (j, joint) in own.iter().enumerate() {
                self.joints.push((joint.name.clone(), index, j));
                self.coordinates.push((index, Some(j)));
            }
            if rest.is_empty() {
                link.joints = own;
                break;
            }
            let between = format!("{}_{}", link.name, own[own.len() - 1].name);
            self.links.push(TreeLink {
                name: between,
                comment: format!("between the joints of {}", link.comment),
                mass: MassProperties::default(),
                joints: own,
                is_between: true,
                ..link.clone()
            });
            link.parent = Some(index);
            link.placement = FramePlacement::default();
        }
        self.links.push(link);
        self.links.len() - 1
    }

    fn mass(&self, node: XmlNode, class: Option<&str>) -> Result<MassProperties> {
        let (xml, settings) = (self.defaults.xml, self.settings);
        let inertial = self.parts(node, class, &["inertial"])?.into_iter().next();
        let from_geoms = match settings.inertia_from_geom.as_str() {
            "true" => true,
            "false" => false,
            _ => inertial.is_none(),
        };
        let mut total = match inertial {
            Some(inertial) if !from_geoms => {
                xml.keep(inertial.node);
                geom::inertial(settings, self.defaults, inertial.node)?.placed(&inertial.frame)
            }
            Some(inertial) => {
                xml.drop_all(inertial.node, "inertiafromgeom replaces it", Concern::Other);
                MassProperties::default()
            }
            None => MassProperties::default(),
        };
        for part in self.parts(node, class, &["geom"])? {
            let (child, class) = (part.node, part.class.as_deref());
            xml.keep(child);
            super::keep_name(xml, child);
            if from_geoms && let Some(own) = geom::mass(settings, self.defaults, child, class)? {
                total = total.with(&own.placed(&part.frame));
            }
            let why = "contacts and pictures of geoms are not imported";
            super::drop_unread(xml, child, why, Concern::Contact);
        }
        total.mass = total.mass.max(settings.bound_mass);
        if settings.bound_inertia > 0.0 || settings.balance_inertia {
            let eigen = total.inertia.symmetric_eigen();
            let mut moments = eigen.eigenvalues.map(|x| x.max(settings.bound_inertia));
            // A moment larger than the sum of the others: all become their mean.
            if settings.balance_inertia && 2.0 * moments.max() > moments.sum() {
                moments.fill(moments.mean());
            }
            let axes = eigen.eigenvectors;
            total.inertia = axes * nalgebra::Matrix3::from_diagonal(&moments) * axes.transpose();
        }
        Ok(total)
    }

    /// The elements of a body that have a tag, also those in frames and replicated ones: node, the frame around it, its class.
    pub(super) fn parts(
        &self,
        node: XmlNode,
        class: Option<&str>,
        tags: &[&str],
    ) -> Result<Vec<BodyPart>> {
        let mut found = vec![];
        let around = Surroundings {
            parent: None,
            frame: FramePlacement::default(),
            class: class.map(str::to_owned),
        };
        self.parts_in(node, &around, tags, &mut found)?;
        Ok(found)
    }

    fn parts_in(
        &self,
        node: XmlNode,
        around: &Surroundings,
        tags: &[&str],
        found: &mut Vec<BodyPart>,
    ) -> Result<()> {
        let xml = self.defaults.xml;
        for child in xml.children(node) {
            match xml.tag(child) {
                "frame" => {
                    let own = self.settings.placement(self.defaults, child, None)?;
                    let inner = Surroundings {
                        parent: None,
                        frame: around.frame.then(&own),
                        class: self.childclass(child, around)?,
                    };
                    self.parts_in(child, &inner, tags, found)?;
                }
                "replicate" => {
                    for copy in self.replication(child)?.0 {
                        let inner = Surroundings {
                            frame: around.frame.then(&copy),
                            ..around.clone()
                        };
                        self.parts_in(child, &inner, tags, found)?;
                    }
                    if found.len() > MOST_COPIES {
                        return Err(xml.error(child, "<replicate>: too many geoms"));
                    }
                }
                tag if tags.contains(&tag) => found.push(BodyPart {
                    node: child,
                    frame: around.frame,
                    class: around.class.clone(),
                }),
                _ => {}
            }
        }
        Ok(())
    }
}
