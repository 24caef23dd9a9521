//! `<keyframe>`: the start of coordinates, rates and controls.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::body::BodyReader;
use crate::error::Result;
use crate::import::frame::FramePlacement;
use crate::import::tree::TreeFreedom;
use crate::import::xml::{XmlFiles, XmlNode};

/// Numbers of an attribute, one after the other.
struct NumberList<'a> {
    xml: &'a XmlFiles,
    node: XmlNode,
    name: &'a str,
    values: std::vec::IntoIter<f64>,
}

impl<'a> NumberList<'a> {
    fn new(xml: &'a XmlFiles, node: XmlNode, name: &'a str) -> Result<Option<Self>> {
        Ok(xml.list(node, name)?.map(|values| Self {
            xml,
            node,
            name,
            values: values.into_iter(),
        }))
    }

    fn next(&mut self) -> Result<f64> {
        let next = self.values.next();
        next.ok_or_else(|| {
            let message = format!("<key> {}: too few numbers", self.name);
            self.xml.error(self.node, message)
        })
    }

    fn vector(&mut self) -> Result<Vector3<f64>> {
        Ok(Vector3::new(self.next()?, self.next()?, self.next()?))
    }

    fn rotation(&mut self) -> Result<UnitQuaternion<f64>> {
        let q = Quaternion::new(self.next()?, self.next()?, self.next()?, self.next()?);
        if q.norm() == 0.0 {
            let message = format!("<key> {}: a quaternion is zero", self.name);
            return Err(self.xml.error(self.node, message));
        }
        Ok(UnitQuaternion::from_quaternion(q))
    }

    fn end(mut self) -> Result<()> {
        match self.values.next() {
            None => Ok(()),
            Some(_) => {
                let message = format!("<key> {}: too many numbers", self.name);
                Err(self.xml.error(self.node, message))
            }
        }
    }
}

/// Sets the start to a keyframe; returns its controls.
pub fn start(
    xml: &XmlFiles,
    root: XmlNode,
    key: &str,
    reader: &mut BodyReader,
) -> Result<Vec<f64>> {
    let keys = xml.all(root, "keyframe").into_iter();
    let keys: Vec<XmlNode> = keys.flat_map(|frames| xml.children(frames)).collect();
    let named = |node: &&XmlNode| {
        let name = xml.attribute(**node, "name").map(|a| a.value.as_str());
        name == Some(key)
    };
    let Some(&node) = keys.iter().find(named) else {
        return Err(xml.error(root, format!("there is no keyframe \"{key}\"")));
    };
    xml.keep(node);
    xml.value(node, "name");
    if let Some(values) = NumberList::new(xml, node, "qpos")? {
        coordinates(values, reader)?;
    }
    if let Some(values) = NumberList::new(xml, node, "qvel")? {
        rates(values, reader)?;
    }
    mocaps(xml, node, reader)?;
    Ok(xml.list(node, "ctrl")?.unwrap_or_default())
}

/// Poses of mocap bodies, of which each that is in the model has its start.
fn mocaps(xml: &XmlFiles, node: XmlNode, reader: &mut BodyReader) -> Result<()> {
    let mut positions = NumberList::new(xml, node, "mpos")?;
    let mut rotations = NumberList::new(xml, node, "mquat")?;
    for k in 0..reader.mocaps.len() {
        let Some(place) = reader.mocaps[k] else {
            // It is not in the model.
            positions.as_mut().map(NumberList::vector).transpose()?;
            rotations.as_mut().map(NumberList::rotation).transpose()?;
            continue;
        };
        let mut pose = super::mocap::drawn(&reader.links, place);
        if let Some(positions) = &mut positions {
            pose.position = positions.vector()?;
        }
        if let Some(rotations) = &mut rotations {
            pose.rotation = rotations.rotation()?;
        }
        super::mocap::set_start(reader, place, pose);
    }
    positions.map_or(Ok(()), NumberList::end)?;
    rotations.map_or(Ok(()), NumberList::end)
}

fn coordinates(mut values: NumberList, reader: &mut BodyReader) -> Result<()> {
    for (link, joint) in &reader.coordinates {
        let link = &mut reader.links[*link];
        match joint.map(|j| &mut link.joints[j]) {
            None => {
                link.free_start = Some(FramePlacement {
                    position: values.vector()?,
                    rotation: values.rotation()?,
                });
            }
            Some(joint) if joint.freedom == TreeFreedom::Ball => {
                joint.start_rotation = values.rotation()?;
            }
            Some(joint) => joint.start = values.next()?,
        }
    }
    values.end()
}

fn rates(mut values: NumberList, reader: &mut BodyReader) -> Result<()> {
    for (link, joint) in &reader.coordinates {
        let link = &mut reader.links[*link];
        match joint.map(|j| &mut link.joints[j]) {
            None => link.rate = [values.vector()?, values.vector()?],
            Some(joint) if joint.freedom == TreeFreedom::Ball => joint.spin = values.vector()?,
            Some(joint) => joint.speed = values.next()?,
        }
    }
    values.end()
}
