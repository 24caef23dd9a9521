//! The mechanism as solids, for pictures that are made without the page: glTF files and frames.
//!
//! ```text
//!   Model, Recording ──> Figure: parts, each a Solid with a colour and a placement
//!   placement        ──> fixed in the ground, fixed in a body, or stretched between two points of bodies
//! ```

mod beams;
mod bodies;
mod elements;
mod pose;
mod solid;

pub use pose::{PartPose, Poses};
pub use solid::Solid;

use nalgebra::Vector3;

use super::recording::Recording;
use super::scene::frame_in;
use crate::model::mesh_file::{TriangleMesh, meshes};
use crate::model::{BodyRef, ForceApplication, ForceKind, JointKind, Model};

pub(super) type V3 = Vector3<f64>;

/// Colours of bodies, one after the other (sRGB).
const BODY_COLORS: [[u8; 3]; 8] = [
    [0x6f, 0xa3, 0xd2],
    [0xed, 0xa6, 0x5d],
    [0x6f, 0xbf, 0x9c],
    [0xc9, 0x87, 0xaa],
    [0xa2, 0x92, 0xcf],
    [0x9f, 0xb0, 0x4e],
    [0x5f, 0xb6, 0xc4],
    [0xd9, 0x88, 0x80],
];
/// Joints.
const STEEL: [u8; 3] = [0x8b, 0x95, 0xa1];
/// Springs and actuators.
const SPRING: [u8; 3] = [0x55, 0x60, 0x6d];
/// What stands on the ground.
const GROUND: [u8; 3] = [0xc4, 0xcc, 0xd5];
/// Tyres.
const RUBBER: [u8; 3] = [0x49, 0x52, 0x5e];

/// Rows that are looked at to find out how far things move.
const SAMPLES: usize = 160;

/// Where a part is.
#[derive(Clone, Debug, PartialEq)]
pub enum PartPlacement {
    /// Fixed in the ground frame.
    Ground,
    /// Fixed in the frame of a body.
    Body(usize),
    /// A solid along z from 0 to 1 with radius 1, from a point of one body towards a point of another.
    Between {
        /// Bodies and points in their frames.
        ends: [(BodyRef, [f64; 3]); 2],
        /// Radius (m).
        radius: f64,
        /// Share of the way that it covers.
        share: f64,
    },
    /// A solid along x from 0 to 1 with sizes 1: a piece of the curve of a beam element.
    BeamPiece {
        /// The element.
        element: DrawnElement,
        /// Where it starts and ends, as shares of the element.
        shares: [f64; 2],
        /// Sizes along section axes 2 and 3 (m).
        sizes: [f64; 2],
    },
}

impl PartPlacement {
    /// Whether its solid is stretched.
    pub fn stretches(&self) -> bool {
        matches!(self, Self::Between { .. } | Self::BeamPiece { .. })
    }

    /// Whether it is the next piece of the same beam.
    pub fn continues(&self, before: &Self) -> bool {
        match (before, self) {
            (Self::BeamPiece { element: a, .. }, Self::BeamPiece { element: b, .. }) => {
                a == b || a.nodes[1] == b.nodes[0]
            }
            _ => false,
        }
    }
}

/// An element of a beam between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnElement {
    /// Bodies.
    pub nodes: [usize; 2],
    /// Orientation of its end in the frame of the second node: w, x, y, z.
    pub end: [f64; 4],
}

/// A solid with its colour and place.
#[derive(Clone, Debug)]
pub struct FigurePart {
    /// Name of the body, joint or force.
    pub name: String,
    /// In the frame of its placement.
    pub solid: Solid,
    /// sRGB.
    pub color: [u8; 3],
    /// Where it is.
    pub placement: PartPlacement,
}

/// A mechanism as solids.
pub struct Figure {
    /// All parts.
    pub parts: Vec<FigurePart>,
    /// Lowest and highest corner of what moves, over the whole run (m).
    pub extent: [V3; 2],
    /// Upwards: against gravity, along an axis.
    pub up: V3,
    /// Two dimensions.
    pub planar: bool,
    /// Size that marks of joints are in proportion to (m).
    size: f64,
    /// Heights of the bodies of a planar mechanism, in layers.
    layers: Vec<usize>,
    /// Meshes of the bodies.
    meshes: Vec<Option<TriangleMesh>>,
}

impl Figure {
    /// Of a model and the rows of its run.
    pub fn of(model: &Model, recording: &Recording) -> Self {
        let poses = Poses::new(model, recording);
        let attached = bodies::attached_points(model);
        let mut figure = Self {
            parts: Vec::new(),
            extent: [V3::zeros(); 2],
            up: upwards(model),
            planar: model.dimension == 2,
            size: 1.0,
            layers: layers(model),
            meshes: meshes(model),
        };
        figure.measure(model, &poses, &attached);
        for (i, points) in attached.iter().enumerate() {
            if !model.beams.iter().any(|beam| beam.nodes().contains(&i)) {
                figure.add_body(model, i, points);
            }
        }
        for beam in &model.beams {
            figure.add_beam(beam, body_color(beam.first_node));
        }
        for joint in &model.joints {
            figure.add_joint(model, &poses, joint);
        }
        for force in &model.forces {
            figure.add_force(model, force);
        }
        figure
    }

    /// Extent over the run, and the size of marks: that of the mechanism, or five bodies where these are many and small.
    fn measure(&mut self, model: &Model, poses: &Poses, attached: &[Vec<V3>]) {
        let corners: Vec<Vec<V3>> = (model.bodies.iter().zip(attached))
            .zip(&self.meshes)
            .map(|((body, points), mesh)| bodies::corners(model, body, points, mesh.as_ref()))
            .collect();
        let bounds = bodies::contact_bounds(model);
        let mut low = V3::repeat(f64::INFINITY);
        let mut high = -low;
        let mut grow = |p: V3| {
            low = low.inf(&p);
            high = high.sup(&p);
        };
        let mut spans = Vec::new();
        for row in poses.spread(SAMPLES) {
            let (mut least, mut most) = (V3::repeat(f64::INFINITY), V3::repeat(f64::NEG_INFINITY));
            for (body, corners) in corners.iter().enumerate() {
                let pose = poses.of_body(Some(body), row);
                for corner in corners {
                    let p = pose * nalgebra::Point3::from(*corner);
                    grow(p.coords);
                    (least, most) = (least.inf(&p.coords), most.sup(&p.coords));
                }
            }
            for (body, bounds) in bounds.iter().enumerate() {
                let pose = poses.of_body(Some(body), row);
                for bound in bounds {
                    grow((pose * nalgebra::Point3::from(*bound)).coords);
                }
            }
            spans.push((most - least).norm());
        }
        let moving = (low, high);
        let reach = (high - low).norm();
        for point in fixed_points(model) {
            // The far anchor of a spring would make the mechanism a dot. NaN where nothing moves: all points count.
            let away = point - point.sup(&moving.0).inf(&moving.1);
            if !(away.norm() > 2.0 * reach) {
                (low, high) = (low.inf(&point), high.sup(&point));
            }
        }
        if !(low.x <= high.x) {
            (low, high) = (V3::repeat(-0.5), V3::repeat(0.5));
        }
        let whole = (high - low).norm().max(1e-9);
        spans.retain(|span| span.is_finite() && *span > 0.0);
        spans.sort_by(f64::total_cmp);
        let usual = spans
            .get(spans.len() / 2)
            .map_or(whole, |s| whole.min(1.6 * s));
        let mut reaches: Vec<f64> = (corners.iter())
            .map(|c| c.iter().map(|p| (p - c[0]).norm()).fold(0.0, f64::max))
            .filter(|r| *r > 0.0)
            .collect();
        reaches.sort_by(f64::total_cmp);
        let reach = reaches.get(reaches.len() / 2).copied();
        self.size = reach.map_or(usual, |r| usual.min(5.0 * r));
        self.extent = [low, high];
    }

    fn part(&mut self, name: &str, solid: Solid, color: [u8; 3], placement: PartPlacement) {
        if !solid.triangles.is_empty() {
            self.parts.push(FigurePart {
                name: name.to_owned(),
                solid,
                color,
                placement,
            });
        }
    }
}

fn body_color(index: usize) -> [u8; 3] {
    BODY_COLORS[index % BODY_COLORS.len()]
}

/// The axis closest to the direction against gravity; without gravity y in the plane and z in space.
fn upwards(model: &Model) -> V3 {
    let down = V3::from(model.gravity);
    if model.dimension == 2 || down.norm() == 0.0 {
        return if model.dimension == 2 {
            V3::y()
        } else {
            V3::z()
        };
    }
    let axis = down.iamax();
    let mut up = V3::zeros();
    up[axis] = -down[axis].signum();
    up
}

/// Points of the ground that joints and forces hold on to.
fn fixed_points(model: &Model) -> Vec<V3> {
    let mut points = Vec::new();
    for joint in model
        .joints
        .iter()
        .filter(|j| j.kind != JointKind::Coupling)
    {
        for side in 0..2 {
            if joint.bodies[side].is_none() {
                points.push(frame_in(model, &joint.frame, None, side).point.into());
            }
        }
    }
    for force in &model.forces {
        if let ForceApplication::Points { bodies, points: at } = &force.on
            && !matches!(force.kind, ForceKind::Contact(_) | ForceKind::Tyre(_))
        {
            let fixed = bodies.iter().zip(at).filter(|(body, _)| body.is_none());
            points.extend(fixed.map(|(_, p)| V3::from(*p)));
        }
    }
    points
}

/// Bodies that share a joint lie above each other; the others need not.
fn layers(model: &Model) -> Vec<usize> {
    let mut layers: Vec<usize> = Vec::new();
    for i in 0..model.bodies.len() {
        let neighbours: Vec<usize> = (model.joints.iter())
            .filter(|joint| joint.kind != JointKind::Coupling)
            .filter_map(|joint| match joint.bodies {
                [Some(a), Some(b)] if a == i && b < i => Some(layers[b]),
                [Some(a), Some(b)] if b == i && a < i => Some(layers[a]),
                _ => None,
            })
            .collect();
        layers.push((0..).find(|layer| !neighbours.contains(layer)).unwrap_or(0));
    }
    layers
}
