//! `<default>`: values of attributes by class. An attribute is that of the element, else that of its class, of the class around that,
//! and so on.

use std::collections::HashMap;

use crate::error::Result;
use crate::import::xml::{Concern, XmlFiles, XmlNode};

/// The elements of a class by tag, later ones last.
type ClassElements = Vec<(String, XmlNode)>;

/// The classes of a file.
pub struct DefaultClasses<'a> {
    pub xml: &'a XmlFiles,
    /// By name: the class around it, and its elements.
    classes: HashMap<String, (Option<String>, ClassElements)>,
    /// The outermost class.
    main: String,
}

impl<'a> DefaultClasses<'a> {
    /// Reads all classes below the root.
    pub fn new(xml: &'a XmlFiles, root: XmlNode) -> Result<Self> {
        let mut classes = Self {
            xml,
            classes: HashMap::new(),
            main: "main".to_owned(),
        };
        for (k, node) in xml.all(root, "default").into_iter().enumerate() {
            let name = xml.value(node, "class").unwrap_or("main").to_owned();
            if k == 0 {
                classes.main = name.clone();
            }
            classes.add(node, &name, None)?;
        }
        classes.check_classes()?;
        Ok(classes)
    }

    fn add(&mut self, node: XmlNode, name: &str, around: Option<String>) -> Result<()> {
        // A class that is written in several places has what stands in all of them.
        let (known, mut elements) = self.classes.remove(name).unwrap_or_default();
        let around = around.or(known);
        for child in self.xml.children(node) {
            if self.xml.tag(child) == "default" {
                self.xml.keep(child);
                let inner = self.xml.required(child, "class")?.to_owned();
                self.add(child, &inner, Some(name.to_owned()))?;
            } else {
                elements.push((self.xml.tag(child).to_owned(), child));
            }
        }
        self.classes.insert(name.to_owned(), (around, elements));
        Ok(())
    }

    /// Whether there is a class of this name.
    pub fn knows(&self, class: &str) -> bool {
        class == "main" || self.classes.contains_key(class)
    }

    /// The element that has the attribute: the element itself, or that of a class.
    pub fn owner(&self, node: XmlNode, class: Option<&str>, name: &str) -> Option<XmlNode> {
        self.nearest(node, class, &[name]).map(|(owner, _)| owner)
    }

    /// The nearest element that has one of several attributes, and which: they say the same thing in different words.
    pub fn nearest<'n>(
        &self,
        node: XmlNode,
        class: Option<&str>,
        names: &[&'n str],
    ) -> Option<(XmlNode, &'n str)> {
        let has = |element: XmlNode, name: &str| self.xml.attribute(element, name).is_some();
        if let Some(name) = names.iter().find(|name| has(node, name)) {
            return Some((node, name));
        }
        let tag = self.default_tag(node);
        let own = self.xml.value(node, "class");
        let mut class = Some(own.or(class).unwrap_or(&self.main));
        // A class inside itself cannot be written; the bound is for safety.
        for _ in 0..200 {
            let (around, elements) = self.classes.get(class?)?;
            for (of, element) in elements.iter().rev() {
                let served = |name: &&&str| serves(of, tag, name) && has(*element, name);
                if let Some(name) = names.iter().find(served) {
                    self.xml.keep(*element);
                    return Some((*element, name));
                }
            }
            class = around.as_deref();
        }
        None
    }

    /// An error if an element has a class that there is not.
    fn check_classes(&self) -> Result<()> {
        for (node, element) in self.xml.elements.iter().enumerate() {
            if let Some(class) = self.xml.attribute(node, "class")
                && element.tag != "default"
                && !self.knows(&class.value)
            {
                let message = format!("there is no default class \"{}\"", class.value);
                return Err(self.xml.error(node, message));
            }
        }
        Ok(())
    }

    /// The tag under which classes have the values of an element.
    fn default_tag(&self, node: XmlNode) -> &str {
        let has = |name: &str| self.xml.attribute(node, name).is_some();
        match self.xml.tag(node) {
            "fixed" | "spatial" => "tendon",
            "connect" | "weld" => "equality",
            "joint" if has("joint1") => "equality",
            "tendon" if has("tendon1") => "equality",
            tag => tag,
        }
    }

    /// An attribute as text.
    pub fn text(&self, node: XmlNode, class: Option<&str>, name: &str) -> Option<&str> {
        self.xml.value(self.owner(node, class, name)?, name)
    }

    /// An attribute as numbers.
    pub fn list(&self, node: XmlNode, class: Option<&str>, name: &str) -> Result<Option<Vec<f64>>> {
        match self.owner(node, class, name) {
            Some(owner) => self.xml.list(owner, name),
            None => Ok(None),
        }
    }

    /// An attribute of N numbers.
    pub fn numbers<const N: usize>(
        &self,
        node: XmlNode,
        class: Option<&str>,
        name: &str,
    ) -> Result<Option<[f64; N]>> {
        match self.owner(node, class, name) {
            Some(owner) => self.xml.numbers(owner, name),
            None => Ok(None),
        }
    }

    /// An attribute of one number.
    pub fn number(&self, node: XmlNode, class: Option<&str>, name: &str) -> Result<Option<f64>> {
        Ok(self.numbers::<1>(node, class, name)?.map(|[x]| x))
    }

    /// Marks what no element used: pictures and contacts of classes, or values that nothing asked for.
    pub fn drop_unused(&self) {
        for (_, elements) in self.classes.values() {
            for (tag, node) in elements {
                let concern = match tag.as_str() {
                    "geom" => Concern::Contact,
                    "joint" | "tendon" | "equality" => Concern::Control,
                    tag if ACTUATORS.contains(&tag) => Concern::Control,
                    _ => Concern::Picture,
                };
                super::drop_unread(
                    self.xml,
                    *node,
                    "a default that the import does not use",
                    concern,
                );
            }
        }
    }
}

/// Actuators: classes have one set of values for all of them.
const ACTUATORS: [&str; 10] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "plugin",
];

/// Attributes of an actuator that belong to its law; those of one kind do not serve another, only those of `general` do.
const OF_THE_LAW: [&str; 9] = [
    "kp",
    "kv",
    "dampratio",
    "timeconst",
    "dyntype",
    "gaintype",
    "biastype",
    "gainprm",
    "biasprm",
];

/// Whether the values of a class for elements `of` serve an element with the tag.
fn serves(of: &str, tag: &str, name: &str) -> bool {
    let both = ACTUATORS.contains(&of) && ACTUATORS.contains(&tag);
    of == tag || both && (of == "general" || !OF_THE_LAW.contains(&name))
}
