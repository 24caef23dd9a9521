//! Parts fixed to the ground: rails of prismatic joints, supports of pins.

use super::body_trajectory::BodyTrajectory;
use super::geometry::{Point, rotated};
use super::outline::DrawnOutline;
use super::svg::{Svg, polyline};
use super::view::View;
use biela::linalg::elementary::hypot;

/// Size of a support (px).
const SUPPORT: f64 = 13.0;

/// A straight guide fixed to the ground, and the point of a body that slides along it.
pub struct Rail {
    /// A point of the guide in the ground frame.
    pub point: Point,
    /// Direction of the guide.
    pub axis: Point,
    /// Number of the body.
    pub body: usize,
    /// The sliding point in the frame of the body.
    pub slider: Point,
    /// Half length of the body along the guide and across it (m), from the sliding point, in the initial pose.
    pub half_size: Point,
}

impl Rail {
    /// Sets the half size. A guided body keeps its angle, so the initial pose serves for all times.
    pub fn measure(&mut self, outline: &DrawnOutline, angle: f64) {
        for corner in outline.corners() {
            let [x, y] = [corner[0] - self.slider[0], corner[1] - self.slider[1]];
            let r = rotated([x, y], angle);
            let along = r[0] * self.axis[0] + r[1] * self.axis[1];
            let across = r[0] * self.axis[1] - r[1] * self.axis[0];
            self.half_size[0] = self.half_size[0].max(along.abs());
            self.half_size[1] = self.half_size[1].max(across.abs());
        }
    }

    /// Ends of the guide as drawn: the travel of the body and its length.
    pub fn ends(&self, motion: &BodyTrajectory) -> [Point; 2] {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for [x, y] in motion.path(self.slider) {
            let along = (x - self.point[0]) * self.axis[0] + (y - self.point[1]) * self.axis[1];
            low = low.min(along);
            high = high.max(along);
        }
        let overhang = 1.4 * self.half_size[0];
        // The body lies on the upper side of its guide (on the left side of a vertical one).
        let [ax, ay] = self.axis;
        let up = if ax >= 0.0 { 1.0 } else { -1.0 };
        let below = [
            self.point[0] + up * self.half_size[1] * ay,
            self.point[1] - up * self.half_size[1] * ax,
        ];
        [low - overhang, high + overhang].map(|s| [below[0] + s * ax, below[1] + s * ay])
    }

    /// Draws the guide, hatched on the side of the ground.
    pub fn draw(&self, svg: &mut Svg, view: &View, motion: &BodyTrajectory) {
        let [from, to] = self.ends(motion).map(|p| view.at(p));
        let length = hypot(to[0] - from[0], to[1] - from[1]);
        if length.is_nan() || length <= 0.0 {
            return;
        }
        let along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
        svg.group("rail", |svg| {
            svg.line("ground", from, to);
            hatch(svg, from, along, length);
        });
    }
}

/// Draws short strokes on the ground side of a line.
fn hatch(svg: &mut Svg, from: Point, along: Point, length: f64) {
    let count = (length / 7.0).floor().max(1.0);
    // The ground is on the lower side of the line (on the right side of a vertical one).
    let side = if along[0] >= 0.0 { 1.0 } else { -1.0 };
    let normal = [-side * along[1], side * along[0]];
    let d: String = (1..=count as usize)
        .map(|i| {
            let s = i as f64 * length / count;
            let start = [from[0] + s * along[0], from[1] + s * along[1]];
            let end = [
                start[0] - 5.0 * along[0] * side + 5.0 * normal[0],
                start[1] - 5.0 * along[1] * side + 5.0 * normal[1],
            ];
            polyline([start, end])
        })
        .collect();
    svg.path(&[("class", "hatch".to_owned())], d);
}

/// Draws the support of a pin: a triangle on a hatched line.
pub fn draw_support(svg: &mut Svg, [x, y]: Point) {
    svg.group("fixed", |svg| {
        let (half, foot) = (0.75 * SUPPORT, y + 1.45 * SUPPORT);
        let triangle = polyline([[x, y], [x + half, foot], [x - half, foot]]);
        svg.path(&[("class", "support".to_owned())], format!("{triangle}Z"));
        svg.line("ground", [x - 1.4 * half, foot], [x + 1.4 * half, foot]);
        hatch(svg, [x - 1.4 * half, foot], [1.0, 0.0], 2.8 * half);
    });
}
