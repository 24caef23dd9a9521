//! The outline of a body, in the frame of the body (m).

use biela::model::{BodyShape, Model};

use super::force_drawing::ends_on;
use super::geometry::{Point, hull, planar};
use super::svg::{Svg, polyline, px};

/// Width of a bar (px).
pub const BAR: f64 = 13.0;

/// Shape of a body.
#[derive(Debug, PartialEq)]
pub enum DrawnOutline {
    /// A chain of points, drawn thick.
    Bar(Vec<Point>),
    /// Corners of a solid.
    Solid(Vec<Point>),
    /// Radius.
    Disc(f64),
    /// Not drawn, but in the picture: a node of a beam, which is drawn as a whole.
    Node,
}

impl DrawnOutline {
    /// Corners; for a disc four points of its rim.
    pub fn corners(&self) -> Vec<Point> {
        match self {
            Self::Bar(points) | Self::Solid(points) => points.clone(),
            Self::Disc(r) => vec![[*r, 0.0], [0.0, *r], [-r, 0.0], [0.0, -r]],
            Self::Node => vec![[0.0, 0.0]],
        }
    }

    /// Draws the outline in the body's group.
    pub fn draw(&self, svg: &mut Svg, colour: usize, scale: f64) {
        let pixels = |points: &[Point]| {
            let points: Vec<Point> = points
                .iter()
                .map(|p| [scale * p[0], -scale * p[1]])
                .collect();
            polyline(points)
        };
        match self {
            Self::Bar(points) => {
                // A line of length zero with round ends is drawn as a dot.
                let d = match points.as_slice() {
                    [point] => pixels(&[*point, *point]),
                    points => pixels(points),
                };
                for (class, width) in [
                    (format!("bar e{colour}"), BAR),
                    (format!("bar f{colour}"), BAR - 3.0),
                ] {
                    svg.path(&[("class", class), ("stroke-width", px(width))], d.clone());
                }
            }
            Self::Solid(points) => {
                let class = format!("solid e{colour} p{colour}");
                svg.path(
                    &[("class", class), ("stroke-width", "1.5".to_owned())],
                    format!("{}Z", pixels(points)),
                );
            }
            Self::Disc(r) => {
                svg.circle(&format!("solid e{colour} p{colour}"), [0.0, 0.0], r * scale);
                // A radius shows the rotation.
                svg.line(&format!("e{colour}"), [0.0, 0.0], [r * scale, 0.0]);
            }
            Self::Node => {}
        }
    }
}

/// The outline given by the shape of a body. A body without a shape is drawn through its joints, forces and sensors: two
/// points make a bar, more a polygon, one a block of size `block`.
pub fn outline(model: &Model, number: usize, corners: &[Point], block: f64) -> DrawnOutline {
    if model.beam_of_node(number).is_some() {
        return DrawnOutline::Node;
    }
    let body = &model.bodies[number];
    match &body.shape {
        Some(BodyShape::Box(edges)) => return rectangle(edges[0] / 2.0, edges[1] / 2.0),
        Some(BodyShape::Circle(r)) => return DrawnOutline::Disc(*r),
        Some(BodyShape::Line(points)) => {
            return DrawnOutline::Bar(points.iter().map(|p| planar(*p)).collect());
        }
        Some(BodyShape::Mesh(_)) | None => {}
    }
    let mut points = corners.to_vec();
    let attached: Vec<Point> = model
        .sensors
        .iter()
        .filter(|sensor| sensor.body == Some(number))
        .map(|sensor| planar(sensor.point))
        .chain(model.forces.iter().flat_map(|force| ends_on(force, number)))
        .collect();
    points.extend(attached);
    if corners.len() < 2 {
        // One joint does not show the length of a body; its centre of mass does.
        points.push(planar(body.center_of_mass));
    }
    let hull = hull(points, 1e-6 * block);
    match hull.len() {
        0 | 1 => rectangle(block / 2.0, block / 2.8),
        2 => DrawnOutline::Bar(hull),
        _ => DrawnOutline::Solid(hull),
    }
}

/// A rectangle with half edges a and b.
fn rectangle(a: f64, b: f64) -> DrawnOutline {
    DrawnOutline::Solid(vec![[a, b], [-a, b], [-a, -b], [a, -b]])
}
