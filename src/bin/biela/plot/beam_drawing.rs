//! Beams of a planar mechanism: curves through their nodes. Between two nodes a cubic with the tangents of its ends, p₀ and p₁
//! a distance L apart:
//!
//! ```text
//!   p₀,   p₀ + L/3 t₀,   p₁ − L/3 t₁,   p₁      control points (Bézier)
//! ```

use std::fmt::Write;
use std::ops::Range;

use biela::linalg::elementary::{atan2, hypot, sin_cos};
use biela::model::{Beam, SectionOutline};

use super::animation::Playback;
use super::body_trajectory::BodyTrajectory;
use super::geometry::Point;
use super::outline::BAR;
use super::svg::{Svg, px};
use super::view::View;

/// Least width of a beam (px): thinner ones would not be seen.
const THINNEST: f64 = 5.0;

/// A beam of the drawing.
pub struct DrawnBeam {
    name: String,
    /// Bodies of its nodes.
    pub nodes: Range<usize>,
    /// Angle of the end of each element in the frame of its second node (rad).
    ends: Vec<f64>,
    /// Size of its section in the plane (m).
    width: f64,
}

impl DrawnBeam {
    /// A beam of a model.
    pub fn of(beam: &Beam) -> Self {
        let end = |k| {
            let [w, _, _, z] = beam.end_orientation(k);
            2.0 * atan2(z, w)
        };
        Self {
            name: beam.name.clone(),
            nodes: beam.nodes(),
            ends: (0..beam.elements).map(end).collect(),
            width: match beam.section.drawn_outline() {
                SectionOutline::Rectangle([width, _]) => width,
                SectionOutline::Circle(d) | SectionOutline::Tube([d, _]) => d,
            },
        }
    }

    /// Draws the moving curve with its edges: the curve once, shown wide and a little narrower.
    pub fn draw(
        &self,
        svg: &mut Svg,
        colour: usize,
        motions: &[BodyTrajectory],
        view: &View,
        playback: &Playback,
    ) {
        let nodes = &motions[self.nodes.clone()];
        let frames: Vec<String> = (0..nodes[0].angles.len())
            .map(|row| self.curve(nodes, row, view))
            .collect();
        let width = (self.width * view.scale).clamp(THINNEST, BAR);
        let id = format!("{}.curve", self.name);
        let attributes = [("id", id.clone()), ("d", frames[0].clone())];
        svg.element("g", &[("class", "beam".to_owned())], |svg| {
            svg.element("defs", &[], |svg| {
                svg.element("path", &attributes, |svg| {
                    playback.animate_outline(svg, frames.iter().cloned());
                });
            });
            for (class, width) in [("e", width), ("f", width - 2.4)] {
                let look = [
                    ("class", format!("bar {class}{colour}")),
                    ("stroke-width", px(width)),
                    ("href", format!("#{id}")),
                ];
                svg.leaf("use", &look);
            }
        });
    }

    /// Path of the curve at one time.
    fn curve(&self, nodes: &[BodyTrajectory], row: usize, view: &View) -> String {
        let origin = |k: usize| view.at(nodes[k].origins[row]);
        let mut d = String::new();
        let mut write = |command: &str, points: &[Point]| {
            d.push_str(command);
            for p in points {
                let [x, y] = p.map(|c| px((10.0 * c).round() / 10.0));
                write!(d, "{x} {y} ").expect("a String takes everything");
            }
        };
        write("M", &[origin(0)]);
        for (k, end) in self.ends.iter().enumerate() {
            let (a, b) = (origin(k), origin(k + 1));
            let third = hypot(b[0] - a[0], b[1] - a[1]) / 3.0;
            // The y axis of SVG points down.
            let along = |p: Point, angle: f64, s: f64| {
                let (sin, cos) = sin_cos(angle);
                [p[0] + s * cos, p[1] - s * sin]
            };
            let first = along(a, nodes[k].angles[row], third);
            let second = along(b, nodes[k + 1].angles[row] + end, -third);
            write("C", &[first, second, b]);
        }
        d
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::DrawnFrame;
    use super::*;

    #[test]
    fn a_curve_leaves_its_nodes_along_their_axes() {
        let motion = |x: f64, angle: f64| BodyTrajectory {
            origins: vec![[x, 0.0]],
            angles: vec![angle],
        };
        let nodes = [motion(0.0, 0.0), motion(3.0, std::f64::consts::FRAC_PI_2)];
        let frame = DrawnFrame {
            corner: [0.0, 0.0],
            size: [98.0, 98.0],
        };
        // 10 px for each metre.
        let view = View::new(&[[0.0, 0.0], [3.0, 3.0]], &frame);
        let beam = DrawnBeam {
            name: "rod".to_owned(),
            nodes: 0..2,
            ends: vec![0.0],
            width: 0.1,
        };
        assert_eq!(beam.curve(&nodes, 0, &view), "M34 64 C44 64 64 74 64 64 ");
    }
}
