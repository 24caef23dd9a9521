//! `<geom>` and `<inertial>`: mass properties.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::compiler::{CompilerSettings, along};
use super::defaults::DefaultClasses;
use crate::error::Result;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::xml::{Concern, Fate, XmlNode};

/// Density of geoms without one (kg/m³).
const DENSITY: f64 = 1000.0;

/// Mass properties of a geom in the frame of its body; none if it has no mass.
pub fn mass(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    node: XmlNode,
    class: Option<&str>,
) -> Result<Option<MassProperties>> {
    let xml = defaults.xml;
    let kind = defaults.text(node, class, "type");
    let has_mesh = defaults.owner(node, class, "mesh").is_some();
    let kind = kind.unwrap_or(if has_mesh { "mesh" } else { "sphere" });
    if matches!(kind, "plane" | "hfield") {
        return Ok(None);
    }
    let group = defaults.number(node, class, "group")?.unwrap_or(0.0);
    let [low, high] = settings.inertia_groups;
    if group < low || group > high {
        return Ok(None);
    }
    let given = defaults.number(node, class, "mass")?;
    let density = defaults.number(node, class, "density")?.unwrap_or(DENSITY);
    if given == Some(0.0) || given.is_none() && density == 0.0 {
        return Ok(None);
    }
    if !matches!(
        kind,
        "sphere" | "capsule" | "cylinder" | "box" | "ellipsoid"
    ) {
        let why = format!("the mass of a {kind} is not computed; write an <inertial>");
        xml.elements[node]
            .fate
            .replace(Fate::Dropped(why, Concern::Dynamics));
        return Ok(None);
    }
    let size = defaults.list(node, class, "size")?.unwrap_or_default();
    let mut at = settings.placement(defaults, node, class)?;
    let mut size: [f64; 3] = std::array::from_fn(|k| size.get(k).copied().unwrap_or(0.0));
    if let Some([a, b, c, d, e, f]) = defaults.numbers::<6>(node, class, "fromto")? {
        let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
        let rotation = along(to - from)
            .ok_or_else(|| xml.error(node, "<geom> fromto: the two points are the same"))?;
        at = FramePlacement {
            position: (from + to) * 0.5,
            rotation,
        };
        let half = (to - from).norm() * 0.5;
        match kind {
            "box" | "ellipsoid" => size = [size[0], size[0], half],
            _ => size[1] = half,
        }
    }
    let (volume, moments) = unit_mass(kind, size);
    let mass = given.unwrap_or(density * volume);
    if !(mass >= 0.0) {
        return Err(xml.error(
            node,
            format!("<geom> mass: expected a number >= 0, found {mass}"),
        ));
    }
    let own = MassProperties {
        mass,
        center: Vector3::zeros(),
        inertia: Matrix3::from_diagonal(&(moments * mass)),
    };
    Ok(Some(own.placed(&at)))
}

/// Volume of a shape and its principal moments for a unit of mass.
fn unit_mass(kind: &str, [a, b, c]: [f64; 3]) -> (f64, Vector3<f64>) {
    let box_like = |factor: f64, [a, b, c]: [f64; 3]| {
        Vector3::new(b * b + c * c, a * a + c * c, a * a + b * b) * factor
    };
    match kind {
        "sphere" => (4.0 / 3.0 * PI * a * a * a, Vector3::repeat(0.4 * a * a)),
        "ellipsoid" => (4.0 / 3.0 * PI * a * b * c, box_like(0.2, [a, b, c])),
        "box" => (8.0 * a * b * c, box_like(1.0 / 3.0, [a, b, c])),
        "cylinder" => {
            let across = (3.0 * a * a + 4.0 * b * b) / 12.0;
            (
                2.0 * PI * a * a * b,
                Vector3::new(across, across, 0.5 * a * a),
            )
        }
        _ => {
            // A cylinder between two halves of a sphere of radius a, each half with its centre 3/8 a from its plane.
            let (cylinder, ball) = (2.0 * PI * a * a * b, 4.0 / 3.0 * PI * a * a * a);
            let volume = cylinder + ball;
            let along = cylinder * 0.5 * a * a + ball * 0.4 * a * a;
            let across = cylinder * (3.0 * a * a + 4.0 * b * b) / 12.0
                + ball * (0.4 * a * a + b * b + 0.75 * a * b);
            (volume, Vector3::new(across, across, along) / volume)
        }
    }
}

/// `<inertial>`
pub fn inertial(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    node: XmlNode,
) -> Result<MassProperties> {
    let xml = defaults.xml;
    let at = settings.placement(defaults, node, None)?;
    let mass = (xml.number(node, "mass")?)
        .ok_or_else(|| xml.error(node, "<inertial> needs the attribute mass"))?;
    if mass < 0.0 {
        return Err(xml.error(
            node,
            format!("<inertial> mass: expected a number >= 0, found {mass}"),
        ));
    }
    let inertia = if let Some([xx, yy, zz, xy, xz, yz]) = xml.numbers::<6>(node, "fullinertia")? {
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    } else {
        let moments = xml.numbers::<3>(node, "diaginertia")?.unwrap_or_default();
        Matrix3::from_diagonal(&Vector3::from(moments))
    };
    let own = MassProperties {
        mass,
        center: Vector3::zeros(),
        inertia,
    };
    Ok(own.placed(&at))
}
