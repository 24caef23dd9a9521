//! `<joint>` and `<freejoint>`: the joints of a body.

use nalgebra::Vector3;

use super::body::BodyReader;
use crate::error::Result;
use crate::import::tree::{STICTION_VELOCITY, TreeFreedom, TreeJoint};
use crate::import::xml::{Concern, Fate, XmlNode};

/// A free joint.
#[derive(Clone, Copy, Default)]
pub struct FreeJoint {
    /// Stiffness and damping.
    pub spring: [f64; 2],
    /// Time constant (s) and damping ratio that give them.
    pub spring_damper: Option<[f64; 2]>,
    /// kg, kg m²
    pub armature: f64,
}

impl BodyReader<'_> {
    /// The joints of a body, and its free joint.
    pub(super) fn joints(
        &self,
        node: XmlNode,
        class: Option<&str>,
        body: &str,
    ) -> Result<(Vec<TreeJoint>, Option<FreeJoint>)> {
        let xml = self.defaults.xml;
        let (mut joints, mut free): (Vec<TreeJoint>, _) = (vec![], None);
        for part in self.parts(node, class, &["joint", "freejoint"])? {
            let (child, class) = (part.node, part.class.as_deref());
            match xml.tag(child) {
                "freejoint" => {
                    xml.keep(child);
                    free = Some(FreeJoint::default());
                    super::keep_name(xml, child);
                }
                "joint" => {
                    xml.keep(child);
                    let kind = self.defaults.text(child, class, "type").unwrap_or("hinge");
                    if kind == "free" {
                        free = Some(self.free(child, class)?);
                    } else {
                        let mut joint = self.joint(child, class, kind, body, joints.len())?;
                        joint.point = part.frame.point(joint.point);
                        joint.axis = part.frame.rotation * joint.axis;
                        joints.push(joint);
                    }
                    let why = "settings of MuJoCo's constraint solver";
                    super::drop_unread(xml, child, why, Concern::Control);
                }
                _ => {}
            }
        }
        Ok((joints, free))
    }

    /// A free joint; marks what it may not have.
    fn free(&self, node: XmlNode, class: Option<&str>) -> Result<FreeJoint> {
        super::keep_name(self.defaults.xml, node);
        self.lose_all(node, class, &["frictionloss"], "of a free joint")?;
        Ok(FreeJoint {
            spring: [
                self.linear(node, class, "stiffness")?,
                self.linear(node, class, "damping")?,
            ],
            spring_damper: self.spring_damper(node, class)?,
            armature: (self.defaults.number(node, class, "armature")?).unwrap_or(0.0),
        })
    }

    /// `springdamper`, if both numbers are positive.
    fn spring_damper(&self, node: XmlNode, class: Option<&str>) -> Result<Option<[f64; 2]>> {
        let given = self.defaults.numbers::<2>(node, class, "springdamper")?;
        Ok(given.filter(|[time, ratio]| *time > 0.0 && *ratio > 0.0))
    }

    /// Loses attributes that are not zero.
    fn lose_all(
        &self,
        node: XmlNode,
        class: Option<&str>,
        names: &[&str],
        why: &str,
    ) -> Result<()> {
        for name in names {
            let values = self.defaults.list(node, class, name)?.unwrap_or_default();
            if values.iter().any(|x| *x != 0.0) {
                self.lose(node, class, name, why);
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
        let linear = |name: &str| self.linear(node, class, name);
        let reference = number("ref")? * unit;
        let limits = self.limits(node, class, unit)?;
        let mut joint = TreeJoint {
            comment: format!("joint \"{name}\" ({kind}), {}", xml.place(node)),
            position: xml.elements[node].position,
            axis: axis
                .ok_or_else(|| xml.error(node, format!("joint \"{name}\": the axis is zero")))?,
            point: d
                .numbers::<3>(node, class, "pos")?
                .unwrap_or_default()
                .into(),
            reference,
            start: reference,
            limits,
            damping: linear("damping")?,
            friction: number("frictionloss")?,
            stiffness: linear("stiffness")?,
            spring_reference: number("springref")? * unit,
            spring_damper: self.spring_damper(node, class)?,
            armature: number("armature")?,
            effort_limits: self.effort_limits(node, class)?,
            range: limits,
            name,
            ..TreeJoint::new(freedom)
        };
        self.what_is_not_exact(node, class, &mut joint)?;
        Ok(joint)
    }

    /// Marks what a ball joint cannot have, and dry friction.
    fn what_is_not_exact(
        &self,
        node: XmlNode,
        class: Option<&str>,
        joint: &mut TreeJoint,
    ) -> Result<()> {
        if joint.freedom == TreeFreedom::Ball {
            self.lose_all(node, class, &["range"], "of a ball joint")?;
            joint.limits = None;
        }
        if joint.friction > 0.0 {
            let how = format!("dry friction, regularised below {STICTION_VELOCITY} rad/s or m/s");
            self.approximate(node, class, ["frictionloss"; 2], &how);
        }
        Ok(())
    }

    /// Marks an attribute as approximated, or as dropped where a flag turns its force off.
    fn approximate(&self, node: XmlNode, class: Option<&str>, [name, flag]: [&str; 2], how: &str) {
        let fate = match self.settings.is_off(flag) {
            true => Fate::Dropped("a flag turns it off".to_owned(), Concern::Other),
            false => Fate::Approximated(how.to_owned()),
        };
        if let Some(owner) = self.defaults.owner(node, class, name) {
            self.defaults.xml.mark(owner, name, fate);
        }
    }

    /// The factor of a force that may be a polynomial; factors of higher powers are lost.
    fn linear(&self, node: XmlNode, class: Option<&str>, name: &str) -> Result<f64> {
        let values = self.defaults.list(node, class, name)?.unwrap_or_default();
        if values.iter().skip(1).any(|x| *x != 0.0) {
            self.lose(
                node,
                class,
                name,
                "a force that is a polynomial: its first term only",
            );
        }
        Ok(values.first().copied().unwrap_or(0.0))
    }

    /// `actuatorfrcrange`: of the sum of all actuators of the joint.
    fn effort_limits(
        &self,
        node: XmlNode,
        class: Option<&str>,
    ) -> Result<Option<([f64; 2], XmlNode)>> {
        let d = self.defaults;
        let range = d.numbers::<2>(node, class, "actuatorfrcrange")?;
        let limited = match d.text(node, class, "actuatorfrclimited") {
            Some("true") => true,
            Some("false") => false,
            _ => self.settings.autolimits,
        };
        let range = range.filter(|[low, high]| limited && low < high);
        Ok(range.zip(d.owner(node, class, "actuatorfrcrange")))
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
        let how = "a rigid stop without rebound, not the soft constraint of MuJoCo";
        self.approximate(node, class, ["range", "limit"], how);
        Ok(Some([low * unit, high * unit]))
    }
}
