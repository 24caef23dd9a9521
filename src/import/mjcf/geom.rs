//! `<geom>` and `<inertial>`: mass properties.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::compiler::{CompilerSettings, along};
use super::defaults::DefaultClasses;
use crate::error::Result;
use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::xml::{Concern, Fate, XmlNode};
use crate::linalg::elementary::powf;

/// A shape with a volume: its kind, and its sizes as MJCF has them.
pub struct SolidGeom {
    pub kind: &'static str,
    pub size: [f64; 3],
}

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
    let lose = |why: String| {
        let fate = Fate::Dropped(why, Concern::Dynamics);
        xml.elements[node].fate.replace(fate);
        Ok(None)
    };
    let is_shell = defaults.text(node, class, "shellinertia") == Some("true");
    if is_shell && has_mesh {
        return lose(
            "the mass of the shell of a mesh is not computed; write an <inertial>".to_owned(),
        );
    }
    if has_mesh && kind != "mesh" {
        return lose("a shape fitted to a mesh is not computed; write an <inertial>".to_owned());
    }
    let (volume, unit, at) = if kind == "mesh" {
        let name = defaults.text(node, class, "mesh").unwrap_or_default();
        match settings.meshes.mass(defaults, name)? {
            Ok(mesh) => {
                let at = settings.placement(defaults, node, class)?;
                (mesh.volume, mesh.unit, at)
            }
            Err(why) => return lose(format!("the mass of the mesh is not known: {why}")),
        }
    } else if let Some((solid, at)) = solid(settings, defaults, node, class)? {
        let (volume, moments) = match is_shell {
            true => unit_shell(solid.kind, solid.size),
            false => unit_mass(solid.kind, solid.size),
        };
        let unit = MassProperties {
            mass: 1.0,
            center: Vector3::zeros(),
            inertia: Matrix3::from_diagonal(&moments),
        };
        (volume, unit, at)
    } else {
        return lose(format!(
            "the mass of a {kind} is not computed; write an <inertial>"
        ));
    };
    let mass = given.unwrap_or(density * volume);
    if !(mass >= 0.0) {
        return Err(xml.error(
            node,
            format!("<geom> mass: expected a number >= 0, found {mass}"),
        ));
    }
    let own = MassProperties {
        mass,
        inertia: unit.inertia * mass,
        ..unit
    };
    Ok(Some(own.placed(&at)))
}

/// Shapes with a volume that is known.
const SOLIDS: [&str; 5] = ["sphere", "capsule", "cylinder", "box", "ellipsoid"];

/// The shape of a geom and its placement in the frame around it; none if it is none of [`SOLIDS`].
pub fn solid(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    node: XmlNode,
    class: Option<&str>,
) -> Result<Option<(SolidGeom, FramePlacement)>> {
    let xml = defaults.xml;
    let has_mesh = defaults.owner(node, class, "mesh").is_some();
    let given = defaults.text(node, class, "type");
    let kind = given.unwrap_or(if has_mesh { "mesh" } else { "sphere" });
    let Some(kind) = SOLIDS.into_iter().find(|solid| *solid == kind) else {
        return Ok(None);
    };
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
    Ok(Some((SolidGeom { kind, size }, at)))
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

/// Thickness (m) of the layer from which MuJoCo takes the moments of the shell of an ellipsoid.
const LAYER: f64 = 1e-6;

/// Area of the surface of a shape and the principal moments of a thin shell for a unit of mass. Of an ellipsoid both are MuJoCo's: the
/// area by Thomsen's formula, the moments those of the layer between it and one whose axes are longer by [`LAYER`].
fn unit_shell(kind: &str, [a, b, c]: [f64; 3]) -> (f64, Vector3<f64>) {
    match kind {
        "sphere" => (4.0 * PI * a * a, Vector3::repeat(2.0 / 3.0 * a * a)),
        "ellipsoid" => {
            let p = 1.6075;
            let product = |x: f64, y: f64| powf(x * y, p);
            let mean = (product(a, b) + product(a, c) + product(b, c)) / 3.0;
            // Differences of volume and of x² + y² over the thickness.
            let e = LAYER;
            let layer = a * b * c / (a * b + a * c + b * c + e * (a + b + c) + e * e);
            let moment = |x: f64, y: f64| {
                let (u, v) = (x + e, y + e);
                0.2 * (u * u + v * v + layer * 2.0 * (x + y + e))
            };
            (
                4.0 * PI * powf(mean, 1.0 / p),
                Vector3::new(moment(b, c), moment(a, c), moment(a, b)),
            )
        }
        "box" => {
            // Sides across x, y, z.
            let areas = [8.0 * b * c, 8.0 * a * c, 8.0 * a * b];
            let (area, squares) = (areas.iter().sum::<f64>(), [a * a, b * b, c * c]);
            let second = |k: usize| squares[k] * (area + 2.0 * areas[k]) / (3.0 * area);
            let [x, y, z] = [0, 1, 2].map(second);
            (area, Vector3::new(y + z, x + z, x + y))
        }
        _ => {
            // A tube, and its ends: two discs, or two halves of a sphere with their centres half a radius from their planes.
            let (tube, is_disc) = (4.0 * PI * a * b, kind == "cylinder");
            let ends = if is_disc { 2.0 } else { 4.0 } * PI * a * a;
            let (along, across) = match is_disc {
                true => (0.5 * a * a, 0.25 * a * a + b * b),
                false => (2.0 / 3.0 * a * a, 2.0 / 3.0 * a * a + b * b + a * b),
            };
            let area = tube + ends;
            let across = tube * (0.5 * a * a + b * b / 3.0) + ends * across;
            let along = tube * a * a + ends * along;
            (area, Vector3::new(across, across, along) / area)
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
