//! Pictures of a run without a browser: the figure of the mechanism, its ground and its traces, drawn by the processor.
//!
//! ```text
//!   Figure at a moment ── Camera ──> Canvas (triangles with a depth buffer) ──> PNG
//! ```

mod camera;
mod canvas;
mod curves;
mod png;

pub use curves::curves_png;

use nalgebra::Vector3;

use super::figure::{Figure, PartPlacement, Poses};
use super::recording::Recording;
use crate::linalg::elementary::{log10, powf};
use crate::model::Model;
use camera::Camera;
use canvas::{Canvas, Light};

const PAPER: [u8; 3] = [0xff, 0xff, 0xff];
const GRID: [u8; 3] = [0xe3, 0xe8, 0xed];
const TRACE: [u8; 3] = [0xc0, 0x39, 0x2b];

/// Points of a trace.
const TRACE_POINTS: usize = 1500;
/// Of mechanisms without sensors the centres of mass are traced if there are this many bodies at most, as on the page. Nodes of
/// beams are not.
const TRACED_BODIES: usize = 12;

/// Draws moments of a run.
pub struct Pictures<'a> {
    figure: Figure,
    poses: Poses<'a>,
    camera: Camera,
    size: [usize; 2],
    /// Time and place of each point.
    traces: Vec<Vec<(f64, Vector3<f64>)>>,
}

impl<'a> Pictures<'a> {
    /// Pictures of this size (pixels). The whole run is in the picture, as the page shows it first.
    pub fn new(model: &Model, recording: &'a Recording, size: [usize; 2]) -> Self {
        let figure = Figure::of(model, recording);
        let poses = Poses::new(model, recording);
        let camera = Camera::fitting(&figure, size);
        let traces = traces(model, &poses, &figure);
        Self {
            figure,
            poses,
            camera,
            size,
            traces,
        }
    }

    /// The picture at a time, as PNG.
    pub fn png(&self, t: f64) -> Vec<u8> {
        let mut canvas = Canvas::new(self.size, PAPER);
        let at = self.poses.moment(t);
        self.draw_grid(&mut canvas);
        let mut number = 0;
        for (i, part) in self.figure.parts.iter().enumerate() {
            // The pieces of a beam are one part: no outlines between them.
            if i == 0 || !(part.placement).continues(&self.figure.parts[i - 1].placement) {
                number += 1;
            }
            let pose = self.poses.of_part(&part.placement, at);
            let corners: Vec<_> = (part.solid.points.iter())
                .map(|p| self.camera.project(&pose.point(p)))
                .collect();
            let lights: Vec<f64> = (part.solid.normals.iter())
                .map(|n| self.camera.light(&pose.normal(n)))
                .collect();
            for triangle in &part.solid.triangles {
                let pick = triangle.map(|i| i as usize);
                let light = Light::Lit(pick.map(|i| lights[i]));
                canvas.triangle(pick.map(|i| corners[i]), light, part.color, number);
            }
        }
        canvas.outline();
        self.draw_traces(&mut canvas, t);
        png::encode(&canvas.picture(), self.size)
    }

    /// Lines of the ground: behind a planar mechanism, below a spatial one.
    fn draw_grid(&self, canvas: &mut Canvas) {
        let [low, high] = self.figure.extent;
        let whole = (high - low).norm().max(1e-9);
        let spacing = round_up(whole / 12.0);
        let up = if self.figure.planar {
            Vector3::z()
        } else {
            self.figure.up
        };
        let k = up.iamax();
        let (a, b) = ((k + 1) % 3, (k + 2) % 3);
        let floor = match (self.figure.planar, up[k] > 0.0) {
            (true, _) => -0.03 * whole,
            (false, true) => low[k] - 0.004 * whole,
            (false, false) => high[k] + 0.004 * whole,
        };
        let reach = (if self.figure.planar { 1.5 } else { 0.75 } * whole / spacing).ceil();
        let middle = (low + high) / 2.0;
        let center = [a, b].map(|i| (middle[i] / spacing).round() * spacing);
        let count = reach as i64;
        for i in -count..=count {
            let s = i as f64 * spacing;
            for (along, other, from, to) in
                [(a, b, center[0], center[1]), (b, a, center[1], center[0])]
            {
                let end = |e: f64| {
                    let mut p = Vector3::zeros();
                    (p[k], p[along], p[other]) = (floor, from + e * reach * spacing, to + s);
                    self.camera.project(&p)
                };
                canvas.line([end(-1.0), end(1.0)], 1.2, GRID);
            }
        }
    }

    /// The way so far, in front of everything as far as it is not hidden.
    fn draw_traces(&self, canvas: &mut Canvas, t: f64) {
        for trace in &self.traces {
            let past = trace.iter().take_while(|(time, _)| *time <= t);
            let points: Vec<_> = past.map(|(_, p)| self.camera.project(p)).collect();
            for pair in points.windows(2) {
                canvas.line([pair[0], pair[1]], 1.6, TRACE);
            }
        }
    }
}

fn traces(model: &Model, poses: &Poses, figure: &Figure) -> Vec<Vec<(f64, Vector3<f64>)>> {
    let mut traced: Vec<(usize, [f64; 3])> = (model.sensors.iter())
        .filter_map(|sensor| Some((sensor.body?, sensor.point)))
        .collect();
    if traced.is_empty() {
        traced = (model.bodies.iter().enumerate())
            .filter(|(i, _)| model.beam_of_node(*i).is_none())
            .map(|(i, body)| (i, body.center_of_mass))
            .collect();
        if traced.len() > TRACED_BODIES {
            traced.clear();
        }
    }
    let behind = if figure.planar { -0.004 } else { 0.0 };
    let [low, high] = figure.extent;
    let shift = Vector3::z() * behind * (high - low).norm();
    let place = |body, point: &[f64; 3], row| {
        poses
            .of_part(&PartPlacement::Body(body), row)
            .point(&Vector3::from(*point))
            + shift
    };
    (traced.iter())
        .map(|(body, point)| {
            let rows = poses.spread(TRACE_POINTS);
            rows.map(|row| (poses.times[row], place(*body, point, row)))
                .collect()
        })
        .collect()
}

/// The smallest of 1, 2, 5 times a power of ten not below x.
fn round_up(x: f64) -> f64 {
    let power = powf(10f64, log10(x).floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|d| d * power);
    steps
        .into_iter()
        .find(|s| *s >= x * 0.999_999)
        .unwrap_or(steps[3])
}
