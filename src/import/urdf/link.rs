//! `<link>`: mass properties and visuals.

use nalgebra::Matrix3;

use crate::error::Result;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::resource::{Resource, Resources};
use crate::import::xml::{Concern, Fate, XmlFiles, XmlNode, XmlPosition};
use crate::model::MeshFile;

/// A link.
pub struct UrdfLink {
    pub node: XmlNode,
    pub name: String,
    pub position: XmlPosition,
    pub comment: String,
    /// In the frame of the link.
    pub mass: MassProperties,
    /// What is drawn for it, in the frame of the link.
    pub mesh: Option<MeshFile>,
}

/// Reads a link.
pub fn read(xml: &XmlFiles, node: XmlNode, resources: &Resources) -> Result<UrdfLink> {
    let name = xml.required(node, "name")?.to_owned();
    let mass = match xml.one(node, "inertial") {
        Some(inertial) => inertial_of(xml, inertial)?,
        None => MassProperties::default(),
    };
    let mut mesh = None;
    for child in xml.children(node) {
        match xml.tag(child) {
            "inertial" if *xml.elements[child].fate.borrow() == Fate::Unread => {
                let why = "a link has one <inertial>; the first counts";
                xml.drop_all(child, why, Concern::Dynamics);
            }
            "inertial" => {}
            "visual" => {
                let found = visual(xml, child, resources, mesh.is_none())?;
                mesh = mesh.or(found);
            }
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
        mesh,
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

/// The mesh of a visual, if it is `wanted` and its file is found; all else is dropped.
fn visual(
    xml: &XmlFiles,
    node: XmlNode,
    resources: &Resources,
    wanted: bool,
) -> Result<Option<MeshFile>> {
    let at = origin(xml, node)?;
    xml.drop_all(
        node,
        "of a link one mesh is drawn, in the colours of the page",
        Concern::Picture,
    );
    let child = |node: XmlNode, tag: &str| {
        let children = xml.children(node).into_iter();
        children.filter(|c| xml.tag(*c) == tag).collect::<Vec<_>>()
    };
    let mut drawn = None;
    for geometry in child(node, "geometry") {
        for mesh in child(geometry, "mesh") {
            let scale = xml.numbers::<3>(mesh, "scale")?.unwrap_or([1.0; 3]);
            let Some(file) = xml.attribute(mesh, "filename") else {
                continue;
            };
            let why = match resources.find(&file.value) {
                Resource::Found(path) if wanted && drawn.is_none() => {
                    xml.elements[node].fate.replace(Fate::Kept);
                    xml.keep_all(geometry);
                    child(node, "origin")
                        .into_iter()
                        .for_each(|o| xml.keep_all(o));
                    drawn = Some(MeshFile {
                        file: String::new(),
                        path,
                        scale,
                        position: at.position.into(),
                        orientation: at.quaternion(),
                    });
                    continue;
                }
                Resource::Found(_) => continue,
                Resource::Missing => "the mesh is not found (--package-path says where to look)",
                Resource::Outside => "the mesh is outside the folder of the file and its package",
            };
            let fate = Fate::Dropped(why.to_owned(), Concern::Picture);
            xml.mark(mesh, "filename", fate);
        }
    }
    Ok(drawn)
}
