//! The run as a binary glTF 2.0 file: one node for each body with its parts, an animation of its pose. Viewers, Blender and
//! game engines read it.
//!
//! ```text
//!   12 bytes head | JSON chunk | binary chunk: corners, normals, triangles, times, translations, rotations, scales
//! ```
//!
//! The root turns the upward direction of the model to y, as the format wants it. Times begin at zero.

use serde_json::{Value, json};

use super::figure::{Figure, PartPlacement, PartPose, Poses, Solid};
use super::recording::Recording;
use crate::linalg::elementary::powf;
use crate::model::Model;

/// Most rows of an animation; of longer runs every second, third .. row is taken.
const MOST_KEYS: usize = 10_000;

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The file.
pub fn glb(model: &Model, recording: &Recording) -> Vec<u8> {
    let figure = Figure::of(model, recording);
    let poses = Poses::new(model, recording);
    let mut file = GltfFile::default();
    file.fill(model, &figure, &poses);
    file.finish(&model.name)
}

/// The file under construction.
#[derive(Default)]
struct GltfFile {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    colors: Vec<[u8; 3]>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

/// What of a node is animated.
#[derive(Clone, Copy)]
enum Path {
    Translation,
    Rotation,
    Scale,
}

impl GltfFile {
    fn fill(&mut self, model: &Model, figure: &Figure, poses: &Poses) {
        let (rows, times) = keys(poses);
        let times = (rows.len() > 1).then(|| self.times(&times));
        // Node 0 is the root; its children are known at the end.
        self.nodes.push(Value::Null);
        let mut children = Vec::new();
        for (i, body) in model.bodies.iter().enumerate() {
            let placement = PartPlacement::Body(i);
            let parts = figure
                .parts
                .iter()
                .filter(|part| part.placement == placement);
            let inner: Vec<usize> = parts.map(|part| self.part_node(part)).collect();
            let node = self.posed_node(&body.name, &placement, poses, &rows, times);
            if !inner.is_empty() {
                self.nodes[node]["children"] = json!(inner);
            }
            children.push(node);
        }
        for part in &figure.parts {
            match part.placement {
                PartPlacement::Body(_) => continue,
                PartPlacement::Ground => children.push(self.part_node(part)),
                PartPlacement::Between { .. } | PartPlacement::BeamPiece { .. } => {
                    let mesh = self.mesh(&part.solid, part.color);
                    let node = self.posed_node(&part.name, &part.placement, poses, &rows, times);
                    self.nodes[node]["mesh"] = json!(mesh);
                    children.push(node);
                }
            }
        }
        let turn = nalgebra::UnitQuaternion::rotation_between(&figure.up, &nalgebra::Vector3::y());
        let turn = turn.unwrap_or_else(|| {
            nalgebra::UnitQuaternion::from_axis_angle(
                &nalgebra::Vector3::x_axis(),
                std::f64::consts::PI,
            )
        });
        self.nodes[0] = json!({ "name": model.name, "rotation": quaternion(&turn) });
        if !children.is_empty() {
            self.nodes[0]["children"] = json!(children);
        }
    }

    /// A node of a part that does not move against its parent.
    fn part_node(&mut self, part: &super::figure::FigurePart) -> usize {
        let mesh = self.mesh(&part.solid, part.color);
        self.nodes.push(json!({ "name": part.name, "mesh": mesh }));
        self.nodes.len() - 1
    }

    /// A node with the pose of the first row and its animation.
    fn posed_node(
        &mut self,
        name: &str,
        placement: &PartPlacement,
        poses: &Poses,
        rows: &[usize],
        times: Option<usize>,
    ) -> usize {
        let moves: Vec<PartPose> = rows
            .iter()
            .map(|row| poses.of_part(placement, *row))
            .collect();
        let node = self.nodes.len();
        let mut value = json!({ "name": name });
        if let Some(first) = moves.first() {
            value["translation"] = json!(first.position.map(|x| x as f32).as_slice());
            value["rotation"] = json!(quaternion(&first.orientation));
            if placement.stretches() {
                value["scale"] = json!(first.scale.map(|x| x as f32).as_slice());
            }
        }
        self.nodes.push(value);
        if let Some(times) = times {
            self.channel(node, Path::Translation, &moves, times);
            self.channel(node, Path::Rotation, &moves, times);
            if placement.stretches() {
                self.channel(node, Path::Scale, &moves, times);
            }
        }
        node
    }

    fn channel(&mut self, node: usize, path: Path, moves: &[PartPose], times: usize) {
        let mut numbers: Vec<f32> = Vec::new();
        let mut last: Option<[f32; 4]> = None;
        for pose in moves {
            match path {
                Path::Translation => numbers.extend(pose.position.map(|x| x as f32).iter()),
                Path::Scale => numbers.extend(pose.scale.map(|x| x as f32).iter()),
                Path::Rotation => {
                    // Of the two quaternions of a rotation the one that is closer to that of the last row.
                    let mut q = quaternion(&pose.orientation);
                    if last.is_some_and(|p| (0..4).map(|k| p[k] * q[k]).sum::<f32>() < 0.0) {
                        q = q.map(|x| -x);
                    }
                    numbers.extend(q);
                    last = Some(q);
                }
            }
        }
        let (name, kind) = match path {
            Path::Translation => ("translation", "VEC3"),
            Path::Rotation => ("rotation", "VEC4"),
            Path::Scale => ("scale", "VEC3"),
        };
        let view = self.view(bytes_of(&numbers), None);
        let output = self.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": moves.len(), "type": kind,
        }));
        self.samplers
            .push(json!({ "input": times, "output": output, "interpolation": "LINEAR" }));
        let sampler = self.samplers.len() - 1;
        self.channels
            .push(json!({ "sampler": sampler, "target": { "node": node, "path": name } }));
    }

    fn times(&mut self, times: &[f32]) -> usize {
        let view = self.view(bytes_of(times), None);
        self.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": times.len(), "type": "SCALAR",
            "min": [times[0]], "max": [times[times.len() - 1]],
        }))
    }

    fn mesh(&mut self, solid: &Solid, color: [u8; 3]) -> usize {
        let single = |list: &[nalgebra::Vector3<f64>]| -> Vec<f32> {
            list.iter()
                .flat_map(|p| p.map(|x| x as f32).data.0[0])
                .collect()
        };
        let points = single(&solid.points);
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let of = |k: usize| points.iter().skip(k).step_by(3).copied().reduce(pick);
            (0..3).filter_map(of).collect()
        };
        let (low, high) = (bound(f32::min), bound(f32::max));
        let count = solid.points.len();
        let view = self.view(bytes_of(&points), Some(ARRAY_BUFFER));
        let position = self.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": count, "type": "VEC3", "min": low, "max": high,
        }));
        // Of unit length also after rounding to single precision.
        let normals: Vec<f32> = single(&solid.normals);
        let view = self.view(bytes_of(&normals), Some(ARRAY_BUFFER));
        let normal = self.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": count, "type": "VEC3",
        }));
        let indices: Vec<u8> = (solid.triangles.iter().flatten())
            .flat_map(|i| i.to_le_bytes())
            .collect();
        let view = self.view(indices, Some(ELEMENT_ARRAY_BUFFER));
        let indices = self.accessor(json!({
            "bufferView": view, "componentType": UNSIGNED_INT, "count": 3 * solid.triangles.len(), "type": "SCALAR",
        }));
        let material = self.material(color);
        self.meshes.push(json!({ "primitives": [{
            "attributes": { "POSITION": position, "NORMAL": normal }, "indices": indices, "material": material,
        }] }));
        self.meshes.len() - 1
    }

    fn material(&mut self, color: [u8; 3]) -> usize {
        if let Some(known) = self.colors.iter().position(|c| *c == color) {
            return known;
        }
        let [r, g, b] = color.map(linear);
        self.colors.push(color);
        self.materials.push(json!({
            "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.65 },
        }));
        self.materials.len() - 1
    }

    fn view(&mut self, bytes: Vec<u8>, target: Option<u32>) -> usize {
        let mut view =
            json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn finish(self, name: &str) -> Vec<u8> {
        let mut file = json!({
            "asset": { "version": "2.0", "generator": concat!("biela ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "name": name, "nodes": [0] }],
            "nodes": self.nodes,
        });
        // Empty lists are not allowed.
        let lists = [
            ("meshes", self.meshes),
            ("materials", self.materials),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ];
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            file[key] = Value::Array(list);
        }
        if !self.channels.is_empty() {
            file["animations"] =
                json!([{ "name": name, "channels": self.channels, "samplers": self.samplers }]);
        }
        if !self.bytes.is_empty() {
            file["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        let padded = |mut bytes: Vec<u8>, with: u8| {
            bytes.resize(bytes.len().next_multiple_of(4), with);
            bytes
        };
        let json = padded(file.to_string().into_bytes(), b' ');
        let mut chunks: Vec<(&[u8; 4], Vec<u8>)> = vec![(b"JSON", json)];
        if !self.bytes.is_empty() {
            chunks.push((b"BIN\0", padded(self.bytes, 0)));
        }
        let length = 12 + chunks.iter().map(|(_, c)| 8 + c.len()).sum::<usize>();
        let mut glb = Vec::with_capacity(length);
        glb.extend(b"glTF");
        glb.extend(2u32.to_le_bytes());
        glb.extend((length as u32).to_le_bytes());
        for (kind, chunk) in chunks {
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend(kind);
            glb.extend(chunk);
        }
        glb
    }
}

/// Rows of the animation and their times from its start. In single precision two rows may coincide: the later one is left out.
fn keys(poses: &Poses) -> (Vec<usize>, Vec<f32>) {
    let (mut rows, mut times): (Vec<usize>, Vec<f32>) = (Vec::new(), Vec::new());
    for row in poses.spread(MOST_KEYS) {
        let t = (poses.times[row] - poses.times[0]) as f32;
        if times.last().is_none_or(|last| t > *last) {
            rows.push(row);
            times.push(t);
        }
    }
    (rows, times)
}

/// x, y, z, w.
fn quaternion(q: &nalgebra::UnitQuaternion<f64>) -> [f32; 4] {
    [q.i, q.j, q.k, q.w].map(|x| x as f32)
}

/// From sRGB to linear light.
fn linear(channel: u8) -> f64 {
    let c = f64::from(channel) / 255.0;
    let value = if c <= 0.04045 {
        c / 12.92
    } else {
        powf((c + 0.055) / 1.055, 2.4)
    };
    (value * 1e4).round() / 1e4
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}
