//! `<default>`: values of attributes by class. An attribute is that of the element, else that of its class, of the class around that,
//! and so on.

use std::collections::HashMap;

use crate::error::Result;
use crate::import::xml::{Concern, XmlFiles, XmlNode};

/// The classes of a file.
pub struct DefaultClasses<'a> {
    pub xml: &'a XmlFiles,
    /// By name: the class around it, and its elements by tag.
    classes: HashMap<String, (Option<String>, HashMap<String, XmlNode>)>,
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
        Ok(classes)
    }

    fn add(&mut self, node: XmlNode, name: &str, around: Option<String>) -> Result<()> {
        let (_, mut elements) = self.classes.remove(name).unwrap_or_default();
        for child in self.xml.children(node) {
            if self.xml.tag(child) == "default" {
                self.xml.keep(child);
                let inner = self.xml.required(child, "class")?.to_owned();
                self.add(child, &inner, Some(name.to_owned()))?;
            } else {
                elements.insert(self.xml.tag(child).to_owned(), child);
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
        if self.xml.attribute(node, name).is_some() {
            return Some(node);
        }
        let tag = self.xml.tag(node);
        let own = self.xml.attribute(node, "class").map(|a| a.value.as_str());
        let mut class = Some(own.or(class).unwrap_or(&self.main));
        // A class inside itself cannot be written; the bound is for safety.
        for _ in 0..200 {
            let (around, elements) = self.classes.get(class?)?;
            let found = [tag, "general"].into_iter().find_map(|t| {
                let actuator = matches!(tag, "motor" | "position" | "velocity");
                let element = elements.get(t).filter(|_| t == tag || actuator)?;
                self.xml.attribute(*element, name).map(|_| *element)
            });
            if let Some(element) = found {
                self.xml.keep(element);
                return Some(element);
            }
            class = around.as_deref();
        }
        None
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
                    "joint" | "general" | "motor" | "position" | "velocity" => Concern::Control,
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
