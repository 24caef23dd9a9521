//! Meshes of bodies from files: STL (binary and text), Wavefront OBJ, Collada and the format of MuJoCo (msh). Large ones are made coarser, because a page
//! carries them.
//!
//! ```text
//!   file ──> corners and triangles ──> scaled, placed in the body frame ──> corners within one cell of a grid become one
//! ```

use std::collections::HashMap;
use std::io::Read;

use nalgebra::{Matrix4, Point3, Quaternion, UnitQuaternion, Vector3};

use crate::linalg::elementary::rotation_about;
use crate::model::{BodyShape, MeshFile, Model};

/// Largest file that is read (bytes).
const LARGEST: u64 = 128 << 20;
/// Most triangles of all bodies together.
const MOST_TRIANGLES: usize = 15_000;
/// Cells along the longest edge of a mesh: the finest grid that is tried, and how much coarser the next one is.
const FINEST: f64 = 256.0;
const COARSER: f64 = 0.85;

/// Triangles in the frame of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Corners (m).
    pub points: Vec<[f64; 3]>,
    /// Indices of corners, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// The meshes of all bodies, `None` where a body has none or its file cannot be read.
pub fn meshes(model: &Model) -> Vec<Option<TriangleMesh>> {
    let files = || model.bodies.iter().map(|body| mesh_of(&body.shape));
    let most = MOST_TRIANGLES / files().flatten().count().max(1);
    files()
        .map(|file| {
            TriangleMesh::read_merged(file?)
                .ok()
                .map(|mesh| mesh.coarser(most))
        })
        .collect()
}

/// Sentences about meshes that cannot be drawn.
pub fn mesh_warnings(model: &Model) -> Vec<String> {
    let warning = |body: &crate::model::Body| {
        let file = mesh_of(&body.shape)?;
        let why = TriangleMesh::read(file).err()?;
        Some(format!(
            "{}body \"{}\": the mesh \"{}\" is not drawn: {why}",
            model.text_place(body.text_position),
            body.name,
            file.file
        ))
    };
    model.bodies.iter().filter_map(warning).collect()
}

fn mesh_of(shape: &Option<BodyShape>) -> Option<&MeshFile> {
    match shape {
        Some(BodyShape::Mesh(file)) => Some(file),
        _ => None,
    }
}

impl TriangleMesh {
    /// Reads a file and places it in the body frame, corners with the same coordinates as one; the error is the end of a sentence.
    fn read_merged(file: &MeshFile) -> Result<Self, String> {
        Ok(Self::read(file)?.merged())
    }

    /// Reads a file and places it in the body frame; the error is the end of a sentence.
    pub fn read(file: &MeshFile) -> Result<Self, String> {
        let bytes = contents(file)?;
        let ending = file.path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let mut mesh = match ending.to_ascii_lowercase().as_str() {
            "stl" => stl(&bytes)?,
            "obj" => obj(&text(&bytes)?)?,
            "dae" => collada(&text(&bytes)?)?,
            "msh" => msh(&bytes).ok_or("it is not a mesh of MuJoCo")?,
            other => {
                return Err(format!(
                    "\"{other}\" files are not read, but stl, obj, dae and msh"
                ));
            }
        };
        if !mesh.points.iter().flatten().all(|x| x.is_finite()) {
            return Err("it has a corner that is not finite".to_owned());
        }
        if mesh.triangles.is_empty() {
            return Err("it has no triangles".to_owned());
        }
        let [w, x, y, z] = file.orientation;
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        for p in &mut mesh.points {
            let scaled = Vector3::from(*p).component_mul(&Vector3::from(file.scale));
            *p = (turn * scaled + Vector3::from(file.position)).into();
        }
        // A mirrored mesh is turned inside out.
        if file.scale.iter().product::<f64>() < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(mesh)
    }

    /// Corners with the same coordinates become one.
    fn merged(self) -> Self {
        let key = |p: &[f64; 3]| p.map(|x| (x + 0.0).to_bits());
        self.clustered(&mut |p| key(p))
    }

    /// The mesh with at most so many triangles: corners within one cell of a grid become their mean.
    fn coarser(self, most: usize) -> Self {
        if self.triangles.len() <= most {
            return self;
        }
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for p in &self.points {
            for i in 0..3 {
                (low[i], high[i]) = (low[i].min(p[i]), high[i].max(p[i]));
            }
        }
        let longest = (0..3).fold(0.0_f64, |most, i| most.max(high[i] - low[i]));
        let mut cells = FINEST;
        loop {
            let size = longest / cells;
            let cell = |p: &[f64; 3]| std::array::from_fn(|i| ((p[i] - low[i]) / size) as u64);
            let coarse = self.clone().clustered(&mut |p| cell(p));
            if coarse.triangles.len() <= most || cells < 2.0 {
                return coarse;
            }
            cells *= COARSER;
        }
    }

    /// Corners of one cell become their mean; triangles that lose their area, or are there already, are left out.
    fn clustered(self, cell: &mut dyn FnMut(&[f64; 3]) -> [u64; 3]) -> Self {
        let mut cells: HashMap<[u64; 3], u32> = HashMap::new();
        let mut sums: Vec<([f64; 3], f64)> = vec![];
        let mut index = Vec::with_capacity(self.points.len());
        for p in &self.points {
            let i = *cells.entry(cell(p)).or_insert_with(|| {
                sums.push(([0.0; 3], 0.0));
                (sums.len() - 1) as u32
            });
            let (sum, count) = &mut sums[i as usize];
            (0..3).for_each(|k| sum[k] += p[k]);
            *count += 1.0;
            index.push(i);
        }
        let mut known = std::collections::HashSet::new();
        let mut triangles = vec![];
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| index[i as usize]);
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            if a != b && b != c && c != a && known.insert(sorted) {
                triangles.push([a, b, c]);
            }
        }
        Self {
            points: sums.iter().map(|(sum, n)| sum.map(|x| x / n)).collect(),
            triangles,
        }
    }

    fn corner(&mut self, p: [f64; 3]) -> u32 {
        self.points.push(p);
        (self.points.len() - 1) as u32
    }

    /// A convex face as a fan of triangles.
    fn fan(&mut self, corners: &[u32]) {
        for pair in corners.windows(2).skip(1) {
            self.triangles.push([corners[0], pair[0], pair[1]]);
        }
    }
}

fn contents(file: &MeshFile) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("cannot read it: {error}");
    let opened = std::fs::File::open(&file.path).map_err(cannot)?;
    if !opened.metadata().map_err(cannot)?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = vec![];
    (opened.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(format!("it is larger than {} MB", LARGEST >> 20)),
        false => Ok(bytes),
    }
}

fn text(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "it is not text".to_owned())
}

/// Binary: 80 bytes, the number of triangles, then 50 bytes each. Text: lines `vertex x y z`, three a triangle.
fn stl(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let count = bytes
        .get(80..84)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let mut mesh = TriangleMesh::default();
    if let Some(count) = count
        && bytes.len() as u64 == 84 + 50 * count as u64
    {
        for facet in bytes[84..].chunks_exact(50) {
            let number = |k: usize| {
                let b = &facet[12 + 4 * k..16 + 4 * k];
                f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            };
            let corners = [0, 3, 6].map(|k| mesh.corner([number(k), number(k + 1), number(k + 2)]));
            mesh.triangles.push(corners);
        }
        return Ok(mesh);
    }
    let text = text(bytes).map_err(|_| "it is neither a binary nor a text STL file".to_owned())?;
    for line in text.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("vertex") {
            let p = three(rest).ok_or("a vertex has no three numbers")?;
            mesh.corner(p);
        }
    }
    mesh.triangles = (0..mesh.points.len() as u32 / 3)
        .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
        .collect();
    Ok(mesh)
}

fn three(text: &str) -> Option<[f64; 3]> {
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// MuJoCo's own format: counts of points, normals, texture coordinates and triangles, then each of them in single precision.
fn msh(bytes: &[u8]) -> Option<TriangleMesh> {
    let words: Vec<[u8; 4]> = (bytes.chunks_exact(4))
        .map(|word| [word[0], word[1], word[2], word[3]])
        .collect();
    let count = |k: usize| usize::try_from(i32::from_le_bytes(*words.get(k)?)).ok();
    let counts = [count(0)?, count(1)?, count(2)?, count(3)?];
    let corners = counts[0].checked_mul(3)?.checked_add(4)?;
    let others = (counts[1].checked_mul(3)?).checked_add(counts[2].checked_mul(2)?)?;
    let (points, faces) = (
        words.get(4..corners)?,
        words.get(corners.checked_add(others)?..)?,
    );
    let index =
        |word: &[u8; 4]| Some(u32::from_le_bytes(*word)).filter(|i| (*i as usize) < counts[0]);
    let triangles = (faces.chunks_exact(3).take(counts[3]))
        .map(|t| Some([index(&t[0])?, index(&t[1])?, index(&t[2])?]));
    let value = |word: &[u8; 4]| f64::from(f32::from_le_bytes(*word));
    Some(TriangleMesh {
        points: (points.chunks_exact(3))
            .map(|p| [value(&p[0]), value(&p[1]), value(&p[2])])
            .collect(),
        triangles: triangles.collect::<Option<_>>()?,
    })
}

/// Lines `v x y z` and `f a b c ..`, where a is 1, or -1 from the end, with /texture/normal behind it.
fn obj(text: &str) -> Result<TriangleMesh, String> {
    let mut mesh = TriangleMesh::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        if let Some(rest) = line.strip_prefix("v ") {
            let p = three(rest).ok_or_else(|| wrong("a vertex has no three numbers"))?;
            mesh.corner(p);
        } else if let Some(rest) = line.strip_prefix("f ") {
            let count = mesh.points.len() as i64;
            let corner = |word: &str| {
                let i: i64 = word.split('/').next()?.parse().ok()?;
                let i = if i < 0 { count + i } else { i - 1 };
                (0..count).contains(&i).then_some(i as u32)
            };
            let corners: Option<Vec<u32>> = rest.split_whitespace().map(corner).collect();
            let corners =
                corners.ok_or_else(|| wrong("a face names a vertex that is not there"))?;
            mesh.fan(&corners);
        }
    }
    Ok(mesh)
}

/// Triangles and polygons of every geometry, placed by the nodes of the scene, in m with z upwards.
fn collada(text: &str) -> Result<TriangleMesh, String> {
    let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    let asset = root.children().find(|node| node.has_tag_name("asset"));
    let inside = |name: &str| asset.and_then(|a| a.children().find(|n| n.has_tag_name(name)));
    let unit = inside("unit").and_then(|n| n.attribute("meter")?.parse().ok());
    let upward = match inside("up_axis").and_then(|n| n.text()) {
        Some("X_UP") => [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        Some("Z_UP") => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        _ => [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
    };
    let mut whole = Matrix4::identity();
    for (i, row) in upward.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            whole[(i, j)] = entry * unit.unwrap_or(1.0);
        }
    }
    let by_id: HashMap<&str, roxmltree::Node> = (root.descendants())
        .filter_map(|node| Some((node.attribute("id")?, node)))
        .collect();
    let find = |reference: &str| by_id.get(reference.trim_start_matches('#')).copied();
    let mut mesh = TriangleMesh::default();
    let scenes = root
        .descendants()
        .filter(|node| node.has_tag_name("visual_scene"));
    let mut placed: Vec<(roxmltree::Node, Matrix4<f64>, usize)> =
        scenes.map(|scene| (scene, whole, 0)).collect();
    // A file that is a tree of nodes names no node within itself; what does is cut at this depth.
    const DEEPEST: usize = 32;
    while let Some((node, at, depth)) = placed.pop() {
        if depth > DEEPEST {
            return Err("its nodes are nested too deeply".to_owned());
        }
        let at = node
            .children()
            .filter_map(transformation)
            .fold(at, |at, own| at * own);
        for child in node.children() {
            let target = || child.attribute("url").and_then(find);
            if child.has_tag_name("node") {
                placed.push((child, at, depth + 1));
            } else if child.has_tag_name("instance_node") {
                placed.extend(target().map(|node| (node, at, depth + 1)));
            } else if child.has_tag_name("instance_geometry")
                && let Some(geometry) = target()
            {
                add_geometry(&mut mesh, geometry, &at, &find)?;
            }
        }
    }
    Ok(mesh)
}

fn numbers(node: roxmltree::Node) -> Vec<f64> {
    let words = node.text().unwrap_or("").split_whitespace();
    words.filter_map(|word| word.parse().ok()).collect()
}

/// The transformation that an element of a node stands for.
fn transformation(node: roxmltree::Node) -> Option<Matrix4<f64>> {
    let n = match node.tag_name().name() {
        "matrix" | "translate" | "rotate" | "scale" => numbers(node),
        _ => return None,
    };
    match (node.tag_name().name(), &n[..]) {
        ("matrix", n) if n.len() == 16 => Some(Matrix4::from_row_slice(n)),
        ("translate", [x, y, z]) => Some(Matrix4::new_translation(&Vector3::new(*x, *y, *z))),
        ("scale", [x, y, z]) => Some(Matrix4::new_nonuniform_scaling(&Vector3::new(*x, *y, *z))),
        ("rotate", [x, y, z, angle]) => {
            let axis = nalgebra::Unit::try_new(Vector3::new(*x, *y, *z), 0.0)?;
            Some(rotation_about(&axis, angle.to_radians()).to_homogeneous())
        }
        _ => None,
    }
}

fn add_geometry<'a>(
    mesh: &mut TriangleMesh,
    geometry: roxmltree::Node<'a, 'a>,
    at: &Matrix4<f64>,
    find: &dyn Fn(&str) -> Option<roxmltree::Node<'a, 'a>>,
) -> Result<(), String> {
    let kinds = ["triangles", "polylist", "polygons"];
    let faces = geometry
        .descendants()
        .filter(|n| kinds.contains(&n.tag_name().name()));
    for list in faces {
        let inputs: Vec<roxmltree::Node> = list
            .children()
            .filter(|n| n.has_tag_name("input"))
            .collect();
        let offset = |n: &roxmltree::Node| -> usize {
            n.attribute("offset")
                .and_then(|o| o.parse().ok())
                .unwrap_or(0)
        };
        let stride = inputs.iter().map(offset).max().unwrap_or(0) + 1;
        let Some(vertices) = inputs
            .iter()
            .find(|n| n.attribute("semantic") == Some("VERTEX"))
        else {
            continue;
        };
        let mut source = vertices.attribute("source").and_then(find);
        if let Some(node) = source
            && node.has_tag_name("vertices")
        {
            let positions = node
                .children()
                .find(|n| n.attribute("semantic") == Some("POSITION"));
            source = positions.and_then(|n| find(n.attribute("source")?));
        }
        let array = source.and_then(|s| s.children().find(|n| n.has_tag_name("float_array")));
        let coordinates = numbers(array.ok_or("a list of faces has no corners")?);
        let base = mesh.points.len() as u32;
        for p in coordinates.chunks_exact(3) {
            mesh.corner(
                at.transform_point(&Point3::new(p[0], p[1], p[2]))
                    .coords
                    .into(),
            );
        }
        let corners = mesh.points.len() as u32 - base;
        let mirrored = at.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        let counts = list
            .children()
            .find(|n| n.has_tag_name("vcount"))
            .map(numbers);
        for indices in list.children().filter(|n| n.has_tag_name("p")).map(numbers) {
            let all: Option<Vec<u32>> = (indices.chunks_exact(stride))
                .map(|chunk| chunk[offset(vertices)])
                .map(|i| (i >= 0.0 && i < f64::from(corners)).then(|| base + i as u32))
                .collect();
            let all = all.ok_or("a face names a corner that is not there")?;
            let sizes: Vec<usize> = match (&counts, list.tag_name().name()) {
                (Some(counts), _) => counts.iter().map(|n| *n as usize).collect(),
                (None, "polygons") => vec![all.len()],
                _ => vec![3; all.len() / 3],
            };
            let mut from = 0;
            for size in sizes {
                let face = all
                    .get(from..from + size)
                    .ok_or("a list of faces is too short")?;
                let mut face = face.to_vec();
                if mirrored {
                    face.reverse();
                }
                mesh.fan(&face);
                from += size;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume inside a closed mesh, by the divergence theorem: the sum of a·(b × c)/6.
    fn volume(mesh: &TriangleMesh) -> f64 {
        let corner = |i: u32| Vector3::from(mesh.points[i as usize]);
        let part = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2])));
        mesh.triangles.iter().map(part).sum::<f64>() / 6.0
    }

    const TETRAHEDRON: [[f64; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.0, 3.0, 0.0],
        [0.0, 0.0, 4.0],
    ];
    const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    fn text_stl() -> String {
        let mut text = "solid t\n".to_owned();
        for face in FACES {
            text += "facet normal 0 0 0\n outer loop\n";
            for [x, y, z] in face.map(|i| TETRAHEDRON[i]) {
                text += &format!("  vertex {x} {y} {z}\n");
            }
            text += " endloop\nendfacet\n";
        }
        text + "endsolid t\n"
    }

    fn binary_stl() -> Vec<u8> {
        let mut bytes = b"solid by name only".to_vec();
        bytes.resize(80, 0);
        bytes.extend(4_u32.to_le_bytes());
        for face in FACES {
            bytes.extend([0; 12]);
            for x in face.map(|i| TETRAHEDRON[i]).as_flattened() {
                bytes.extend((*x as f32).to_le_bytes());
            }
            bytes.extend([0; 2]);
        }
        bytes
    }

    fn collada_text(up: &str) -> String {
        format!(
            "<COLLADA><asset><unit meter=\"0.5\"/><up_axis>{up}</up_axis></asset><library_geometries><geometry id=\"g\"><mesh>\
             <source id=\"s\"><float_array>0 0 0 2 0 0 0 3 0 0 0 4</float_array></source>\
             <vertices id=\"v\"><input semantic=\"POSITION\" source=\"#s\"/></vertices>\
             <triangles><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><input semantic=\"NORMAL\" offset=\"1\"/>\
             <p>0 0 2 0 1 0  0 0 1 0 3 0  0 0 3 0 2 0  1 0 2 0 3 0</p></triangles></mesh></geometry></library_geometries>\
             <library_visual_scenes><visual_scene><node><translate>0 0 7</translate><scale>-1 1 1</scale>\
             <instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes></COLLADA>"
        )
    }

    /// A tetrahedron of volume 2·3·4/6 in every format, faces outwards; Collada at half the size, mirrored by its node.
    #[test]
    fn every_format_gives_the_same_solid() {
        let obj_text = "o t\nv 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf 1 3 2\nf 1/1 2/2/3 -1//4\nf 1 4 3\nf 2 3 4\n";
        for mesh in [
            stl(text_stl().as_bytes()).unwrap(),
            stl(&binary_stl()).unwrap(),
            obj(obj_text).unwrap(),
        ] {
            let mesh = mesh.merged();
            assert_eq!((mesh.points.len(), mesh.triangles.len()), (4, 4));
            assert!((volume(&mesh) - 4.0).abs() < 1e-12);
        }
        for (up, lowest) in [("Z_UP", 2), ("Y_UP", 1)] {
            let mesh = collada(&collada_text(up)).unwrap();
            assert!(
                (volume(&mesh) - 4.0 / 8.0).abs() < 1e-12,
                "{}",
                volume(&mesh)
            );
            // The translation along z is half of 7, and Y_UP turns z to -y.
            let low = mesh
                .points
                .iter()
                .map(|p| p[lowest].abs())
                .fold(f64::INFINITY, f64::min);
            assert!((low - 3.5).abs() < 1e-12, "{up}: {low}");
        }
    }

    #[test]
    fn a_large_mesh_is_made_coarser_and_keeps_its_form() {
        // A ball of 2 * 200 * 100 triangles.
        let mut mesh = TriangleMesh::default();
        let (m, n) = (200, 100);
        for j in 0..=n {
            for i in 0..m {
                let (a, b) = (
                    std::f64::consts::TAU * f64::from(i) / f64::from(m),
                    std::f64::consts::PI * f64::from(j) / f64::from(n),
                );
                mesh.corner([b.sin() * a.cos(), b.sin() * a.sin(), -b.cos()]);
            }
        }
        for j in 0..n {
            for i in 0..m {
                let at = |i: i32, j: i32| (j * m + i % m) as u32;
                mesh.fan(&[at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
            }
        }
        let exact = volume(&mesh);
        let coarse = mesh.coarser(1_000);
        assert!(
            (200..=1_000).contains(&coarse.triangles.len()),
            "{}",
            coarse.triangles.len()
        );
        assert!(
            (volume(&coarse) / exact - 1.0).abs() < 0.1,
            "{}",
            volume(&coarse) / exact
        );
    }

    #[test]
    fn broken_files_are_sentences() {
        for (bytes, ending, why) in [
            (&b"f 1 2 9\n"[..], "obj", "line 1: a face names a vertex"),
            (b"v 1 2\n", "obj", "line 1: a vertex has no three numbers"),
            (b"v 1 2 3\n", "obj", "no triangles"),
            (b"\xff\xfe", "stl", "neither a binary nor a text"),
            (b"<COLLADA>", "dae", ""),
            (b"<a/>", "dae", "no triangles"),
            (b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3", "obj", "not finite"),
            (b"", "ply", "stl, obj, dae and msh"),
        ] {
            let path =
                std::env::temp_dir().join(format!("biela_mesh_{}.{ending}", std::process::id()));
            std::fs::write(&path, bytes).unwrap();
            let file = MeshFile {
                path: path.clone(),
                ..MeshFile::new("m")
            };
            let said = TriangleMesh::read(&file).unwrap_err();
            std::fs::remove_file(path).unwrap();
            assert!(said.contains(why), "{ending}: {said}");
        }
        let missing = MeshFile::new("nothing.stl");
        assert!(
            TriangleMesh::read(&missing)
                .unwrap_err()
                .contains("cannot read it")
        );
    }
}
