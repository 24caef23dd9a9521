//! The view: from metres of the ground frame to pixels,
//!
//! ```text
//!   X = X0 + s x,   Y = Y0 - s y
//! ```

use super::geometry::Point;
use super::svg::{Svg, polyline};
use biela::linalg::elementary::{log10, powf};

/// Margin of the drawing (px).
const MARGIN: f64 = 34.0;

/// Rectangle of the drawing (px).
pub struct DrawnFrame {
    /// Upper left corner.
    pub corner: Point,
    /// Width and height.
    pub size: Point,
}

/// Scale and origin of a view.
pub struct View {
    /// Pixels for each metre.
    pub scale: f64,
    origin: Point,
}

impl View {
    /// The largest scale at which all `points` fit into the frame.
    pub fn new(points: &[Point], frame: &DrawnFrame) -> Self {
        let bound = |axis: usize| {
            let values = points.iter().map(|p| p[axis]);
            let low = values.clone().fold(f64::INFINITY, f64::min);
            (low, values.fold(f64::NEG_INFINITY, f64::max).max(low))
        };
        let ((left, right), (low, high)) = (bound(0), bound(1));
        let available = [frame.size[0] - 2.0 * MARGIN, frame.size[1] - 2.0 * MARGIN];
        let scale = (available[0] / (right - left)).min(available[1] / (high - low));
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let middle = [(left + right) / 2.0, (low + high) / 2.0];
        Self {
            scale,
            origin: [
                frame.corner[0] + frame.size[0] / 2.0 - scale * middle[0],
                frame.corner[1] + frame.size[1] / 2.0 + scale * middle[1],
            ],
        }
    }

    /// Pixels of a point of the ground frame.
    pub fn at(&self, p: Point) -> Point {
        [
            self.origin[0] + self.scale * p[0],
            self.origin[1] - self.scale * p[1],
        ]
    }

    /// Pixels of a point of a body, relative to the body's group.
    pub fn local(&self, p: Point) -> Point {
        [self.scale * p[0], -self.scale * p[1]]
    }

    /// Draws a scale of round length in the lower left corner.
    pub fn draw_scale(&self, svg: &mut Svg, frame: &DrawnFrame) {
        let metres = round_below(70.0 / self.scale);
        let (x, y) = (
            frame.corner[0] + 2.0,
            frame.corner[1] + frame.size[1] - 24.0,
        );
        let end = x + metres * self.scale;
        svg.group("measure", |svg| {
            let d = polyline([[x, y - 4.0], [x, y], [end, y], [end, y - 4.0]]);
            svg.path(&[("class", "scale".to_owned())], d);
            svg.label("tick", end + 6.0, y + 1.0, &format!("{metres} m"));
        });
    }
}

/// The largest of 1, 2, 5 times a power of ten that is not above `value`.
fn round_below(value: f64) -> f64 {
    let exponent = log10(value).floor();
    let mantissa = value / powf(10f64, exponent);
    let digit = [5.0, 2.0, 1.0]
        .into_iter()
        .find(|d| *d <= mantissa)
        .unwrap_or(1.0);
    // Through text, so that 0.2 is the number nearest to 0.2.
    format!("{digit}e{exponent}").parse().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_points_are_inside_the_frame_and_y_points_up() {
        let frame = DrawnFrame {
            corner: [10.0, 20.0],
            size: [400.0, 300.0],
        };
        let points = [[-1.0, 0.0], [3.0, 0.5], [0.0, -0.5]];
        let view = View::new(&points, &frame);
        for point in points {
            let [x, y] = view.at(point);
            assert!((10.0..=410.0).contains(&x) && (20.0..=320.0).contains(&y));
        }
        assert!(view.at([0.0, 1.0])[1] < view.at([0.0, 0.0])[1]);
        let alone = View::new(&[[2.0, 2.0]], &frame);
        assert_eq!(alone.at([2.0, 2.0]), [210.0, 170.0]);
    }

    #[test]
    fn the_scale_has_a_round_length() {
        assert_eq!(round_below(0.37), 0.2);
        assert_eq!(round_below(5.1), 5.0);
        assert_eq!(round_below(1.0), 1.0);
    }
}
