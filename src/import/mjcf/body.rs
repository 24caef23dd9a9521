//! `<body>`, `<frame>`, `<replicate>` and `<joint>`: the links of the tree.

use std::f64::consts::FRAC_PI_2;

use nalgebra::{UnitQuaternion, Vector3};

use super::compiler::CompilerSettings;
use super::contact::ContactGeom;
use super::defaults::DefaultClasses;
use super::geom;
use crate::error::Result;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::tree::{STICTION_VELOCITY, TreeFreedom, TreeJoint, TreeLink, combined};
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
    /// Geoms that may touch, if contacts are asked for.
    pub contacts: Option<Vec<ContactGeom>>,
    /// Copies of replicated elements: suffix of names.
    suffix: String,
}

/// Where children are put: their parent, the frame around them, their class.
#[derive(Clone)]
struct Surroundings {
    parent: Option<usize>,
    frame: FramePlacement,
    class: Option<String>,
}

impl<'a> BodyReader<'a> {
    /// Reads everything below `<worldbody>`.
    pub fn read(
        settings: &'a CompilerSettings,
        defaults: &'a DefaultClasses<'a>,
        world: XmlNode,
        contact: bool,
    ) -> Result<Self> {
        let mut reader = Self {
            settings,
            defaults,
            links: vec![],
            bodies: vec![],
            joints: vec![],
            coordinates: vec![],
            contacts: contact.then(Vec::new),
            suffix: String::new(),
        };
        reader.read_more(world)?;
        Ok(reader)
    }

    /// Reads another `<worldbody>`.
    pub fn read_more(&mut self, world: XmlNode) -> Result<()> {
        let around = Surroundings {
            parent: None,
            frame: FramePlacement::default(),
            class: None,
        };
        self.children(world, &around)
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
                "site" | "light" | "camera" => {
                    xml.drop_all(child, "for sensors and pictures", Concern::Picture);
                }
                _ => xml.drop_all(child, "not imported", Concern::Other),
            }
        }
        Ok(())
    }

    fn replicate(&mut self, node: XmlNode, around: &Surroundings) -> Result<()> {
        /// Copies of an element that are made at most.
        const MOST_COPIES: f64 = 10_000.0;
        let xml = self.defaults.xml;
        xml.keep(node);
        let count = xml.number(node, "count")?.unwrap_or(0.0);
        if !(0.0..=MOST_COPIES).contains(&count) || count.fract() != 0.0 {
            let message = format!("<replicate> count: expected 0 .. {MOST_COPIES}, found {count}");
            return Err(xml.error(node, message));
        }
        let offset = xml.numbers::<3>(node, "offset")?.unwrap_or_default();
        let euler = xml.numbers::<3>(node, "euler")?.unwrap_or_default();
        let separator = xml.value(node, "sep").unwrap_or("").to_owned();
        let step = FramePlacement {
            position: offset.into(),
            rotation: self.settings.euler(euler),
        };
        let digits = format!("{}", (count - 1.0).max(0.0)).len();
        let before = self.suffix.clone();
        let mut frame = around.frame;
        for k in 0..count as usize {
            if self.links.len() > MOST_COPIES as usize {
                return Err(xml.error(node, "<replicate>: too many bodies"));
            }
            self.suffix = format!("{before}{separator}{k:0digits$}");
            let inner = Surroundings {
                frame,
                ..around.clone()
            };
            self.children(node, &inner)?;
            frame = frame.then(&step);
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
        let (joints, is_free) = self.joints(node, class_name, &name)?;
        if xml.value(node, "mocap") == Some("true") {
            let how = "a mocap body stays where it is".to_owned();
            xml.mark(node, "mocap", Fate::Approximated(how));
        }
        if xml.number(node, "gravcomp")?.unwrap_or(0.0) != 0.0 {
            let why = "compensation of gravity".to_owned();
            xml.mark(node, "gravcomp", Fate::Dropped(why, Concern::Dynamics));
        }
        let mass = self.mass(node, class_name)?;
        let link = TreeLink {
            name: name.clone(),
            position: xml.elements[node].position,
            comment: format!("body {count} \"{name}\", {}", xml.place(node)),
            parent: around.parent,
            placement,
            joints: vec![],
            is_free,
            mass,
            mesh: None,
        };
        let index = self.add_chain(link, joints);
        if let Some(mut contacts) = self.contacts.take() {
            let of = |(child, frame)| ContactGeom::new(child, class_name, Some(index), frame);
            contacts.extend(self.geoms(node).into_iter().map(of));
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
        let inertial = xml.one(node, "inertial");
        let from_geoms = match settings.inertia_from_geom.as_str() {
            "true" => true,
            "false" => false,
            _ => inertial.is_none(),
        };
        let mut total = match inertial {
            Some(inertial) if !from_geoms => geom::inertial(settings, self.defaults, inertial)?,
            Some(inertial) => {
                xml.drop_all(inertial, "inertiafromgeom replaces it", Concern::Other);
                MassProperties::default()
            }
            None => MassProperties::default(),
        };
        for (child, frame) in self.geoms(node) {
            xml.keep(child);
            super::keep_name(xml, child);
            if from_geoms && let Some(own) = geom::mass(settings, self.defaults, child, class)? {
                total = total.with(&own.placed(&frame));
            }
            let why = "contacts and pictures of geoms are not imported";
            super::drop_unread(xml, child, why, Concern::Contact);
        }
        total.mass = total.mass.max(settings.bound_mass);
        if settings.bound_inertia > 0.0 {
            let eigen = total.inertia.symmetric_eigen();
            let moments = eigen.eigenvalues.map(|x| x.max(settings.bound_inertia));
            let axes = eigen.eigenvectors;
            total.inertia = axes * nalgebra::Matrix3::from_diagonal(&moments) * axes.transpose();
        }
        Ok(total)
    }

    /// The geoms of a body, also those in frames.
    fn geoms(&self, node: XmlNode) -> Vec<(XmlNode, FramePlacement)> {
        let xml = self.defaults.xml;
        let mut found = vec![];
        let mut waiting = vec![(node, FramePlacement::default())];
        while let Some((node, frame)) = waiting.pop() {
            for child in xml.children(node) {
                match xml.tag(child) {
                    "geom" => found.push((child, frame)),
                    "frame" => {
                        let inner = self.settings.placement(self.defaults, child, None);
                        waiting.push((child, frame.then(&inner.unwrap_or_default())));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// The joints of a body, and whether it is free.
    fn joints(
        &self,
        node: XmlNode,
        class: Option<&str>,
        body: &str,
    ) -> Result<(Vec<TreeJoint>, bool)> {
        let xml = self.defaults.xml;
        let (mut joints, mut is_free) = (vec![], false);
        for child in xml.children(node) {
            match xml.tag(child) {
                "freejoint" => {
                    xml.keep(child);
                    is_free = true;
                    super::keep_name(xml, child);
                }
                "joint" => {
                    xml.keep(child);
                    let kind = self.defaults.text(child, class, "type").unwrap_or("hinge");
                    if kind == "free" {
                        is_free = true;
                        self.free(child, class)?;
                    } else {
                        joints.push(self.joint(child, class, kind, body, joints.len())?);
                    }
                    let why = "settings of MuJoCo's constraint solver";
                    super::drop_unread(xml, child, why, Concern::Control);
                }
                _ => {}
            }
        }
        Ok((joints, is_free))
    }

    /// What a free joint may not have.
    fn free(&self, node: XmlNode, class: Option<&str>) -> Result<()> {
        super::keep_name(self.defaults.xml, node);
        for name in ["damping", "armature", "stiffness", "frictionloss"] {
            if self.defaults.number(node, class, name)?.unwrap_or(0.0) != 0.0 {
                self.lose(node, class, name, "of a free joint");
            }
        }
        Ok(())
    }

    fn lose(&self, node: XmlNode, class: Option<&str>, name: &str, why: &str) {
        if let Some(owner) = self.defaults.owner(node, class, name) {
            let fate = Fate::Dropped(why.to_owned(), Concern::Dynamics);
            self.defaults.xml.mark(owner, name, fate);
        }
    }

    fn joint(
        &self,
        node: XmlNode,
        class: Option<&str>,
        kind: &str,
        body: &str,
        k: usize,
    ) -> Result<TreeJoint> {
        let (xml, d) = (self.defaults.xml, self.defaults);
        let freedom = match kind {
            "hinge" => TreeFreedom::Hinge,
            "slide" => TreeFreedom::Slide,
            "ball" => TreeFreedom::Ball,
            other => {
                let message =
                    format!("<joint> type \"{other}\"; expected hinge, slide, ball, free");
                return Err(xml.error(node, message));
            }
        };
        let given = xml
            .value(node, "name")
            .map(|name| format!("{name}{}", self.suffix));
        let name = given.unwrap_or_else(|| format!("{body}_joint{}", k + 1));
        let axis = d
            .numbers::<3>(node, class, "axis")?
            .unwrap_or([0.0, 0.0, 1.0]);
        let axis = Vector3::from(axis).try_normalize(0.0);
        let unit = match freedom {
            TreeFreedom::Hinge => self.settings.angle,
            _ => 1.0,
        };
        let number = |name: &str| d.number(node, class, name).map(|x| x.unwrap_or(0.0));
        let reference = number("ref")? * unit;
        let limits = self.limits(node, class, unit)?;
        let mut joint = TreeJoint {
            comment: format!("joint \"{name}\" ({kind}), {}", xml.place(node)),
            position: xml.elements[node].position,
            freedom,
            axis: axis
                .ok_or_else(|| xml.error(node, format!("joint \"{name}\": the axis is zero")))?,
            point: d
                .numbers::<3>(node, class, "pos")?
                .unwrap_or_default()
                .into(),
            reference,
            start: reference,
            start_rotation: UnitQuaternion::identity(),
            limits,
            damping: number("damping")?,
            friction: number("frictionloss")?,
            stiffness: number("stiffness")?,
            spring_reference: number("springref")? * unit,
            armature: number("armature")?,
            within_quarter_turn: limits
                .is_some_and(|[low, high]| low > -FRAC_PI_2 && high < FRAC_PI_2),
            name,
        };
        if d.owner(node, class, "springdamper").is_some() {
            self.lose(
                node,
                class,
                "springdamper",
                "a spring given by its time constant",
            );
        }
        if freedom == TreeFreedom::Ball {
            for name in ["damping", "armature", "stiffness", "frictionloss", "range"] {
                if d.owner(node, class, name).is_some() && number(name).unwrap_or(1.0) != 0.0 {
                    self.lose(node, class, name, "of a ball joint");
                }
            }
            (joint.limits, joint.friction) = (None, 0.0);
        } else if joint.friction > 0.0 {
            let how = format!("dry friction, regularised below {STICTION_VELOCITY} rad/s or m/s");
            if let Some(owner) = d.owner(node, class, "frictionloss") {
                xml.mark(owner, "frictionloss", Fate::Approximated(how));
            }
        }
        Ok(joint)
    }

    fn limits(&self, node: XmlNode, class: Option<&str>, unit: f64) -> Result<Option<[f64; 2]>> {
        let d = self.defaults;
        let Some(range) = d.list(node, class, "range")? else {
            d.text(node, class, "limited");
            return Ok(None);
        };
        let limited = match d.text(node, class, "limited") {
            Some("true") => true,
            Some("false") => false,
            _ => self.settings.autolimits,
        };
        let [low, high] = range[..] else {
            return Err(d.xml.error(node, "<joint> range: expected 2 numbers"));
        };
        if !limited || !(low < high) {
            return Ok(None);
        }
        let how = "a rigid stop without rebound, not the soft constraint of MuJoCo".to_owned();
        if let Some(owner) = d.owner(node, class, "range") {
            d.xml.mark(owner, "range", Fate::Approximated(how));
        }
        Ok(Some([low * unit, high * unit]))
    }
}
