//! `<compiler>`: units of angles, and the five ways to write an orientation.

use nalgebra::{Matrix3, Quaternion, Rotation3, Unit, UnitQuaternion, Vector3};

use super::defaults::DefaultClasses;
use super::mesh::MeshAssets;
use crate::error::Result;
use crate::import::frame::FramePlacement;
use crate::import::xml::{XmlFiles, XmlNode};
use crate::linalg::elementary::{atan2, rotation_about};

/// Settings of the compiler.
pub struct CompilerSettings {
    /// Radians for each unit of an angle.
    pub angle: f64,
    euler_sequence: String,
    pub autolimits: bool,
    /// `true`, `false` or `auto`.
    pub inertia_from_geom: String,
    pub inertia_groups: [f64; 2],
    pub total_mass: f64,
    pub bound_mass: f64,
    pub bound_inertia: f64,
    pub balance_inertia: bool,
    /// Folder of the meshes, and the meshes.
    pub mesh_folder: Option<String>,
    pub meshes: MeshAssets,
    /// Names of `<flag>` that are disabled.
    pub turned_off: Vec<&'static str>,
}

/// Flags that turn off forces, and those that they include.
const FORCE_FLAGS: [(&str, &[&str]); 9] = [
    (
        "constraint",
        &["equality", "frictionloss", "limit", "contact"],
    ),
    ("equality", &[]),
    ("frictionloss", &[]),
    ("limit", &[]),
    ("contact", &[]),
    ("passive", &["spring", "damper"]),
    ("spring", &[]),
    ("damper", &[]),
    ("actuation", &[]),
];

/// The flags that are disabled; `clampctrl` is one that turns off limits of controls.
fn turned_off(xml: &XmlFiles, root: XmlNode) -> Vec<&'static str> {
    let mut off = vec![];
    let options = xml.all(root, "option").into_iter();
    for flag in options.flat_map(|option| xml.all(option, "flag")) {
        xml.keep(flag);
        for (name, included) in FORCE_FLAGS {
            if xml.value(flag, name) == Some("disable") {
                off.push(name);
                off.extend(included);
            }
        }
        if xml.value(flag, "clampctrl") == Some("disable") {
            off.push("clampctrl");
        }
    }
    off
}

impl CompilerSettings {
    /// Whether a flag turns off forces of a kind.
    pub fn is_off(&self, kind: &str) -> bool {
        self.turned_off.contains(&kind)
    }

    /// Reads all `<compiler>` elements of the root; later ones win.
    pub fn new(xml: &XmlFiles, root: XmlNode) -> Result<Self> {
        let mut settings = Self {
            angle: std::f64::consts::PI / 180.0,
            euler_sequence: "xyz".to_owned(),
            autolimits: true,
            inertia_from_geom: "auto".to_owned(),
            inertia_groups: [0.0, 5.0],
            total_mass: -1.0,
            bound_mass: 0.0,
            bound_inertia: 0.0,
            balance_inertia: false,
            mesh_folder: None,
            meshes: MeshAssets::default(),
            turned_off: turned_off(xml, root),
        };
        for node in xml.all(root, "compiler") {
            match xml.value(node, "angle") {
                Some("radian") => settings.angle = 1.0,
                Some("degree") => settings.angle = std::f64::consts::PI / 180.0,
                Some(other) => {
                    let message = format!("angle: expected radian or degree, found \"{other}\"");
                    return Err(xml.error(node, message));
                }
                None => {}
            }
            if xml.value(node, "coordinate") == Some("global") {
                let message = "coordinate=\"global\" is no longer part of MJCF";
                return Err(xml.error(node, message));
            }
            if let Some(sequence) = xml.value(node, "eulerseq") {
                let legal = sequence.len() == 3 && sequence.chars().all(|c| "xyzXYZ".contains(c));
                if !legal {
                    let message =
                        format!("eulerseq: expected three of xyzXYZ, found \"{sequence}\"");
                    return Err(xml.error(node, message));
                }
                settings.euler_sequence = sequence.to_owned();
            }
            if let Some(word) = xml.value(node, "autolimits") {
                settings.autolimits = word == "true";
            }
            if let Some(word) = xml.value(node, "balanceinertia") {
                settings.balance_inertia = word == "true";
            }
            if let Some(word) = xml.value(node, "inertiafromgeom") {
                settings.inertia_from_geom = word.to_owned();
            }
            let folder = xml.value(node, "meshdir").or(xml.value(node, "assetdir"));
            settings.mesh_folder = folder.map(str::to_owned).or(settings.mesh_folder);
            let groups = xml.numbers::<2>(node, "inertiagrouprange")?;
            settings.inertia_groups = groups.unwrap_or(settings.inertia_groups);
            for (name, value) in [
                ("settotalmass", &mut settings.total_mass),
                ("boundmass", &mut settings.bound_mass),
                ("boundinertia", &mut settings.bound_inertia),
            ] {
                *value = xml.number(node, name)?.unwrap_or(*value);
            }
            let why = "where meshes and pictures are, or how MuJoCo compiles";
            super::drop_unread(xml, node, why, crate::import::xml::Concern::Other);
        }
        Ok(settings)
    }

    /// Position and orientation of an element.
    pub fn placement(
        &self,
        defaults: &DefaultClasses,
        node: XmlNode,
        class: Option<&str>,
    ) -> Result<FramePlacement> {
        let position = defaults
            .numbers::<3>(node, class, "pos")?
            .unwrap_or_default();
        Ok(FramePlacement {
            position: position.into(),
            rotation: self.orientation(defaults, node, class)?,
        })
    }

    /// Orientation of an element: quat, axisangle, euler, xyaxes, zaxis.
    pub fn orientation(
        &self,
        defaults: &DefaultClasses,
        node: XmlNode,
        class: Option<&str>,
    ) -> Result<UnitQuaternion<f64>> {
        let xml = defaults.xml;
        let zero = |name: &str| xml.error(node, format!("<{}> {name}: it is zero", xml.tag(node)));
        if let Some([x, y, z, angle]) = defaults.numbers::<4>(node, class, "axisangle")? {
            let axis =
                Unit::try_new(Vector3::new(x, y, z), 0.0).ok_or_else(|| zero("axisangle"))?;
            return Ok(rotation_about(&axis, angle * self.angle));
        }
        if let Some(angles) = defaults.numbers::<3>(node, class, "euler")? {
            return Ok(self.euler(angles));
        }
        if let Some([a, b, c, d, e, f]) = defaults.numbers::<6>(node, class, "xyaxes")? {
            let x = Vector3::new(a, b, c)
                .try_normalize(0.0)
                .ok_or_else(|| zero("xyaxes"))?;
            let y = Vector3::new(d, e, f);
            let y = (y - x * x.dot(&y))
                .try_normalize(0.0)
                .ok_or_else(|| zero("xyaxes"))?;
            let axes = Matrix3::from_columns(&[x, y, x.cross(&y)]);
            return Ok(UnitQuaternion::from_rotation_matrix(
                &Rotation3::from_matrix_unchecked(axes),
            ));
        }
        if let Some(z) = defaults.numbers::<3>(node, class, "zaxis")? {
            return along(Vector3::from(z)).ok_or_else(|| zero("zaxis"));
        }
        if let Some([w, x, y, z]) = defaults.numbers::<4>(node, class, "quat")? {
            let q = Quaternion::new(w, x, y, z);
            if q.norm() == 0.0 {
                return Err(zero("quat"));
            }
            return Ok(UnitQuaternion::from_quaternion(q));
        }
        Ok(UnitQuaternion::identity())
    }

    /// Rotations about the axes of the sequence: lower case about axes that turn, upper case about fixed axes.
    pub fn euler(&self, angles: [f64; 3]) -> UnitQuaternion<f64> {
        let mut q = UnitQuaternion::identity();
        for (letter, angle) in self.euler_sequence.chars().zip(angles) {
            let axis = match letter.to_ascii_lowercase() {
                'x' => Vector3::x_axis(),
                'y' => Vector3::y_axis(),
                _ => Vector3::z_axis(),
            };
            let turn = rotation_about(&axis, angle * self.angle);
            q = match letter.is_lowercase() {
                true => q * turn,
                false => turn * q,
            };
        }
        q
    }
}

/// The shortest rotation that turns the z axis to a direction; `None` if it is zero.
pub fn along(direction: Vector3<f64>) -> Option<UnitQuaternion<f64>> {
    let to = direction.try_normalize(0.0)?;
    let axis = Vector3::z().cross(&to);
    Some(match Unit::try_new(axis, 1e-10) {
        Some(unit) => rotation_about(&unit, atan2(axis.norm(), to.z)),
        None if to.z > 0.0 => UnitQuaternion::identity(),
        None => rotation_about(&Vector3::x_axis(), std::f64::consts::PI),
    })
}
