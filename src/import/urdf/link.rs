//! `<link>`: mass properties and visuals.

use nalgebra::Matrix3;

use crate::error::Result;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::resource::{Resource, Resources};
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode, XmlPosition};

/// A link.
pub struct UrdfLink {
    pub node: XmlNode,
    pub name: String,
    pub position: XmlPosition,
    pub comment: String,
    /// In the frame of the link.
    pub mass: MassProperties,
}

/// Reads a link.
pub fn read(xml: &XmlFiles, node: XmlNode, resources: &Resources) -> Result<UrdfLink> {
    let name = xml.required(node, "name")?.to_owned();
    let mass = match xml.one(node, "inertial") {
        Some(inertial) => inertial_of(xml, inertial)?,
        None => MassProperties::default(),
    };
    for child in xml.children(node) {
        match xml.tag(child) {
            "inertial" if *xml.elements[child].fate.borrow() == Fate::Unread => {
                let why = "a link has one <inertial>; the first counts";
                xml.drop_all(child, why, Concern::Dynamics);
            }
            "inertial" => {}
            "visual" => visual(xml, child, resources)?,
            "collision" => {
                xml.drop_all(
                    child,
                    "contacts are not imported from URDF",
                    Concern::Contact,
                );
            }
            _ => xml.drop_all(child, "not an element of a link in URDF", Concern::Other),
        }
    }
    for attribute in &xml.elements[node].attributes {
        if *attribute.fate.borrow() == Fate::Unread {
            let why = "not an attribute of a link in URDF".to_owned();
            attribute.fate.replace(Fate::Dropped(why, Concern::Other));
        }
    }
    Ok(UrdfLink {
        node,
        comment: format!("link \"{name}\", {}", xml.place(node)),
        name,
        position: xml.elements[node].position,
        mass,
    })
}

/// Reads `<origin>` of an element.
pub fn origin(xml: &XmlFiles, node: XmlNode) -> Result<FramePlacement> {
    let Some(origin) = xml.one(node, "origin") else {
        return Ok(FramePlacement::default());
    };
    let xyz = xml.numbers::<3>(origin, "xyz")?.unwrap_or_default();
    let rpy = xml.numbers::<3>(origin, "rpy")?.unwrap_or_default();
    Ok(FramePlacement::from_rpy(xyz, rpy))
}

fn inertial_of(xml: &XmlFiles, node: XmlNode) -> Result<MassProperties> {
    let at = origin(xml, node)?;
    let mass = match xml.one(node, "mass") {
        Some(mass) => match xml.number(mass, "value")? {
            Some(value) if value < 0.0 => {
                let message = format!("mass: expected a number >= 0, found {value}");
                return Err(xml.error(mass, message));
            }
            Some(value) => value,
            None => return Err(xml.error(mass, "<mass> needs the attribute value")),
        },
        None => return Err(xml.error(node, "<inertial> needs a <mass>")),
    };
    let mut entries = [0.0; 6];
    if let Some(inertia) = xml.one(node, "inertia") {
        for (k, name) in ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]
            .iter()
            .enumerate()
        {
            entries[k] = xml.number(inertia, name)?.unwrap_or(0.0);
        }
    }
    let [xx, yy, zz, xy, xz, yz] = entries;
    let own = MassProperties {
        mass,
        center: Default::default(),
        inertia: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
    };
    Ok(own.placed(&at))
}

/// Reads a visual; what it shows is not drawn.
fn visual(xml: &XmlFiles, node: XmlNode, resources: &Resources) -> Result<()> {
    origin(xml, node)?;
    xml.drop_all(
        node,
        "the model file draws no shapes of robots",
        Concern::Picture,
    );
    let geometries = xml.children(node).into_iter();
    for geometry in geometries.filter(|c| xml.tag(*c) == "geometry") {
        for shape in xml.children(geometry) {
            let Some(file) = xml.attribute(shape, "filename") else {
                continue;
            };
            let why = match resources.find(&file.value) {
                Resource::Found(_) => continue,
                Resource::Missing => "the mesh is not found (--package-path says where to look)",
                Resource::Outside => "the mesh is outside the folder of the file and its package",
            };
            let fate = Fate::Dropped(why.to_owned(), Concern::Picture);
            xml.mark(shape, "filename", fate);
        }
    }
    Ok(())
}
