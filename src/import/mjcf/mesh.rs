//! Mass properties of `<mesh>` assets, as MuJoCo has them by default: the surface is divided into pyramids over its triangles, and each
//! counts with a positive volume, so that meshes with holes have a mass too. Their tip is the centre of area of the surface for the
//! centre of mass, and that for volume and moments: of a mesh that is not convex the two volumes differ.
//!
//! ```text
//!   V = Σ |Vₖ|,  Vₖ = (c − x₀)·(b₁ × b₂)/6 with the centre c of a triangle, its edges b₁, b₂, and the tip x₀ of all pyramids
//! ```

use std::path::PathBuf;

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::defaults::DefaultClasses;
use crate::error::Result;
use crate::import::frame::MassProperties;
use crate::import::resource::{Resource, Resources};
use crate::import::xml::XmlNode;
use crate::model::MeshFile;
use crate::model::mesh_file::TriangleMesh;

/// Volume of a mesh and its mass properties for a unit of mass, in the frame of the mesh.
pub struct MeshMass {
    pub volume: f64,
    pub unit: MassProperties,
}

/// The meshes that a file names.
#[derive(Default)]
pub struct MeshAssets {
    /// Name, element, file or why there is none.
    all: Vec<(String, XmlNode, std::result::Result<PathBuf, &'static str>)>,
}

impl MeshAssets {
    /// All `<mesh>` of `<asset>`; `folder` is `meshdir` or `assetdir`.
    pub fn new(
        defaults: &DefaultClasses,
        root: XmlNode,
        folder: Option<&str>,
        resources: &Resources,
    ) -> Self {
        let xml = defaults.xml;
        let mut all = vec![];
        let assets = xml.all(root, "asset").into_iter();
        for node in assets.flat_map(|assets| xml.all(assets, "mesh")) {
            let plain = |name: &str| xml.attribute(node, name).map(|a| a.value.clone());
            let file = plain("file");
            let stem = (file.as_ref())
                .map(PathBuf::from)
                .and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
            let Some(name) = plain("name").or(stem) else {
                continue;
            };
            let found = match file {
                None => Err("a mesh without a file"),
                Some(file) => match resources.find(&in_folder(folder, &file)) {
                    Resource::Found(path) => Ok(path),
                    Resource::Missing => Err("its file is not found"),
                    Resource::Outside => Err(
                        "its file is outside the folder of the model (--package-path allows another)",
                    ),
                },
            };
            all.push((name, node, found));
        }
        Self { all }
    }

    /// Mass properties of a mesh, or why they are not known.
    pub fn mass(
        &self,
        defaults: &DefaultClasses,
        name: &str,
    ) -> Result<std::result::Result<MeshMass, String>> {
        let Some((_, node, path)) = self.all.iter().find(|(own, ..)| own == name) else {
            return Ok(Err("there is no such mesh".to_owned()));
        };
        let path = match path {
            Ok(path) => path,
            Err(why) => return Ok(Err((*why).to_owned())),
        };
        let is_signed = match defaults.text(*node, None, "inertia") {
            None | Some("legacy") => false,
            Some("exact") => true,
            Some(_) => return Ok(Err("inertia of a shell or a convex hull".to_owned())),
        };
        let numbers = |name: &str| defaults.numbers::<3>(*node, None, name);
        let scale = numbers("scale")?.unwrap_or([1.0; 3]);
        let origin = Vector3::from(numbers("refpos")?.unwrap_or_default());
        let turn = defaults.numbers::<4>(*node, None, "refquat")?;
        let [w, x, y, z] = turn.unwrap_or([1.0, 0.0, 0.0, 0.0]);
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)).inverse();
        let file = MeshFile {
            path: path.clone(),
            ..MeshFile::new(name)
        };
        let mut mesh = match TriangleMesh::read(&file) {
            Ok(mesh) => mesh,
            Err(why) => return Ok(Err(why)),
        };
        for p in &mut mesh.points {
            // MuJoCo takes the numbers of a text in single precision; x ↦ R⁻¹ (scale x − origin)
            let read = Vector3::from(p.map(|x| f64::from(x as f32)));
            *p = (turn * (read.component_mul(&Vector3::from(scale)) - origin)).into();
        }
        // A mirrored mesh is turned inside out.
        if scale.iter().product::<f64>() < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(mass(&mesh, is_signed).ok_or_else(|| "it encloses no volume".to_owned()))
    }
}

fn in_folder(folder: Option<&str>, file: &str) -> String {
    match folder {
        Some(folder) if !file.starts_with('/') => {
            format!("{}/{file}", folder.trim_end_matches('/'))
        }
        _ => file.to_owned(),
    }
}

/// Mass properties of the pyramids over all triangles.
fn mass(mesh: &TriangleMesh, is_signed: bool) -> Option<MeshMass> {
    let corners = |t: &[u32; 3]| t.map(|i| Vector3::from(mesh.points[i as usize]));
    // Centre of a triangle and its area vector, twice.
    let face = |[a, b, c]: [Vector3<f64>; 3]| ((a + b + c) / 3.0, (b - a).cross(&(c - a)));
    let count = |volume: f64| if is_signed { volume } else { volume.abs() };
    let (mut area, mut middle) = (0.0, Vector3::zeros());
    for t in &mesh.triangles {
        let (center, normal) = face(corners(t));
        area += normal.norm();
        middle += center * normal.norm();
    }
    middle /= area;
    let (mut weight, mut center) = (0.0, Vector3::zeros());
    for t in &mesh.triangles {
        let (top, normal) = face(corners(t));
        let part = count((top - middle).dot(&normal) / 6.0);
        weight += part;
        center += part * (0.75 * top + 0.25 * middle);
    }
    center /= weight;
    // ∫ x xᵀ over the pyramid with its tip at the centre of mass: V/20 (Σᵢ xᵢ xᵢᵀ + (Σᵢ xᵢ)(Σᵢ xᵢ)ᵀ).
    let (mut volume, mut second) = (0.0, Matrix3::zeros());
    for t in &mesh.triangles {
        let corners = corners(t);
        let (top, normal) = face(corners);
        let part = count((top - center).dot(&normal) / 6.0);
        volume += part;
        let x = corners.map(|x| x - center);
        let sum = x[0] + x[1] + x[2];
        let own: Matrix3<f64> = x.iter().map(|x| x * x.transpose()).sum();
        second += part / 20.0 * (own + sum * sum.transpose());
    }
    if !(volume > 0.0 && weight > 0.0 && volume.is_finite()) {
        return None;
    }
    let inertia = Matrix3::identity() * second.trace() - second;
    Some(MeshMass {
        volume,
        unit: MassProperties {
            mass: 1.0,
            center,
            inertia: inertia / volume,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brick_has_its_volume_and_moments() {
        let (a, b, c) = (0.2, 0.3, 0.5);
        let at = |k: u32| {
            [
                f64::from(k & 1) * a,
                f64::from(k >> 1 & 1) * b,
                f64::from(k >> 2) * c,
            ]
        };
        // Each side as two triangles, seen from outside.
        let sides = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let triangles = sides
            .iter()
            .flat_map(|[i, j, k, l]| [[*i, *j, *k], [*i, *k, *l]]);
        let mesh = TriangleMesh {
            points: (0..8).map(at).collect(),
            triangles: triangles.collect(),
        };
        for is_signed in [false, true] {
            let MeshMass { volume, unit } = mass(&mesh, is_signed).unwrap();
            assert!((volume - a * b * c).abs() < 1e-15);
            assert!((unit.center - Vector3::new(a, b, c) / 2.0).norm() < 1e-15);
            let moments = Vector3::new(b * b + c * c, a * a + c * c, a * a + b * b) / 12.0;
            assert!((unit.inertia - Matrix3::from_diagonal(&moments)).norm() < 1e-15);
        }
    }
}
