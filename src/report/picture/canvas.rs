//! Triangles and lines on pixels, with a depth buffer. Every pixel has four samples, so that edges are smooth.

use super::camera::ScreenPoint;
use crate::linalg::elementary::hypot;

/// Samples along each side of a pixel.
const SAMPLES: usize = 2;
/// How dark the outline between two parts is.
const OUTLINE: f64 = 0.55;

/// How a triangle is shaded.
pub enum Light {
    /// Brightness at its corners.
    Lit([f64; 3]),
    /// As its colour.
    Plain,
}

/// A picture under construction.
pub struct Canvas {
    width: usize,
    height: usize,
    depth: Vec<f64>,
    color: Vec<[u8; 3]>,
    /// Number of the part that is seen; 0 is none.
    part: Vec<u32>,
}

impl Canvas {
    /// Empty; its size in pixels.
    pub fn new([width, height]: [usize; 2], paper: [u8; 3]) -> Self {
        let (width, height) = (SAMPLES * width, SAMPLES * height);
        let count = width * height;
        Self {
            width,
            height,
            depth: vec![f64::NEG_INFINITY; count],
            color: vec![paper; count],
            part: vec![0; count],
        }
    }

    /// Draws a triangle that faces the viewer.
    pub fn triangle(&mut self, corners: [ScreenPoint; 3], light: Light, color: [u8; 3], part: u32) {
        let [a, b, c] = corners.map(|[x, y, z]| [x * SAMPLES as f64, y * SAMPLES as f64, z]);
        let cross = |p: ScreenPoint, q: ScreenPoint, x: f64, y: f64| {
            (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
        };
        // On the screen y points down: a triangle that faces the viewer runs clockwise.
        let area = cross(a, b, c[0], c[1]);
        if !(area < 0.0) {
            return;
        }
        let range = |k: usize, most: usize| {
            let low = a[k].min(b[k]).min(c[k]).floor().max(0.0);
            let high = a[k].max(b[k]).max(c[k]).ceil().min(most as f64);
            low as usize..high.max(0.0) as usize
        };
        for row in range(1, self.height) {
            // Of long thin triangles a row holds few samples.
            let [from, to] = row_of(&[a, b, c], row as f64 + 0.5);
            let columns = range(0, self.width);
            for column in columns.start.max(from)..columns.end.min(to) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let w = [cross(b, c, x, y), cross(c, a, x, y), cross(a, b, x, y)].map(|s| s / area);
                if w.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let z = w[0] * a[2] + w[1] * b[2] + w[2] * c[2];
                let at = row * self.width + column;
                if z <= self.depth[at] {
                    continue;
                }
                let bright = match &light {
                    Light::Lit(light) => w[0] * light[0] + w[1] * light[1] + w[2] * light[2],
                    Light::Plain => 1.0,
                };
                self.depth[at] = z;
                self.color[at] = shaded(color, bright);
                self.part[at] = part;
            }
        }
    }

    /// Draws a line some pixels wide.
    pub fn line(&mut self, [a, b]: [ScreenPoint; 2], width: f64, color: [u8; 3]) {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = hypot(dx, dy);
        if !(length > 0.0) {
            return;
        }
        let (nx, ny) = (-dy / length * width / 2.0, dx / length * width / 2.0);
        let side = |p: ScreenPoint, s: f64| [p[0] + s * nx, p[1] + s * ny, p[2]];
        let corners = [side(a, 1.0), side(b, 1.0), side(b, -1.0), side(a, -1.0)];
        for [i, j, k] in [[0, 1, 2], [0, 2, 3]] {
            self.triangle([corners[i], corners[j], corners[k]], Light::Plain, color, 0);
        }
    }

    /// Darkens the border of every part against what is behind it.
    pub fn outline(&mut self) {
        let mut border = Vec::new();
        for row in 1..self.height.saturating_sub(1) {
            for column in 1..self.width.saturating_sub(1) {
                let at = row * self.width + column;
                let own = self.part[at];
                let around = [at - 1, at + 1, at - self.width, at + self.width];
                let edge =
                    |other: &usize| self.part[*other] != own && self.depth[*other] < self.depth[at];
                if own > 0 && around.iter().any(edge) {
                    border.push(at);
                }
            }
        }
        for at in border {
            self.color[at] = shaded(self.color[at], OUTLINE);
        }
    }

    /// Rows of pixels, three bytes each.
    pub fn picture(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(3 * self.color.len() / (SAMPLES * SAMPLES));
        for row in (0..self.height).step_by(SAMPLES) {
            for column in (0..self.width).step_by(SAMPLES) {
                for channel in 0..3 {
                    let mut sum = 0;
                    for i in 0..SAMPLES {
                        for k in 0..SAMPLES {
                            let at = (row + i) * self.width + column + k;
                            sum += usize::from(self.color[at][channel]);
                        }
                    }
                    bytes.push((sum / (SAMPLES * SAMPLES)) as u8);
                }
            }
        }
        bytes
    }
}

/// Columns between which the samples of a triangle are at a height, one more on either side for rounding.
fn row_of(corners: &[ScreenPoint; 3], y: f64) -> [usize; 2] {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (p, q) in [(0, 1), (1, 2), (2, 0)].map(|(i, k)| (corners[i], corners[k])) {
        if p[1].min(q[1]) <= y + 0.5 && p[1].max(q[1]) >= y - 0.5 {
            let s = ((y - p[1]) / (q[1] - p[1])).clamp(0.0, 1.0);
            // Level edges: both ends.
            for x in if s.is_nan() {
                [p[0], q[0]]
            } else {
                [p[0] + s * (q[0] - p[0]); 2]
            } {
                (low, high) = (low.min(x), high.max(x));
            }
        }
    }
    // Negative numbers become 0.
    [low.floor() - 1.0, high.ceil() + 1.0].map(|x| x as usize)
}

fn shaded(color: [u8; 3], light: f64) -> [u8; 3] {
    color.map(|c| (f64::from(c) * light).round().clamp(0.0, 255.0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearer_hides_what_is_farther_and_backs_are_not_seen() {
        let square = |x: f64, z: f64| {
            [
                [x, 1.0, z],
                [x, 9.0, z],
                [x + 8.0, 9.0, z],
                [x + 8.0, 1.0, z],
            ]
        };
        let mut canvas = Canvas::new([20, 10], [255; 3]);
        let mut put = |corners: [ScreenPoint; 4], color: [u8; 3]| {
            for [i, j, k] in [[0, 1, 2], [0, 2, 3]] {
                canvas.triangle([corners[i], corners[j], corners[k]], Light::Plain, color, 1);
            }
        };
        put(square(4.0, 1.0), [200, 0, 0]);
        put(square(1.0, 0.0), [0, 200, 0]);
        let mut back = square(11.0, 5.0);
        back.reverse();
        put(back, [0, 0, 200]);
        let picture = canvas.picture();
        let pixel = |x: usize| &picture[3 * (5 * 20 + x)..3 * (5 * 20 + x) + 3];
        assert_eq!(pixel(2), [0, 200, 0]);
        assert_eq!(pixel(6), [200, 0, 0]);
        assert_eq!(pixel(15), [255, 255, 255]);
    }

    #[test]
    fn edges_between_pixels_are_mixed() {
        let mut canvas = Canvas::new([4, 4], [255; 3]);
        let corners = [
            [0.0, 0.0, 0.0],
            [0.0, 4.0, 0.0],
            [1.5, 4.0, 0.0],
            [1.5, 0.0, 0.0],
        ];
        for [i, j, k] in [[0, 1, 2], [0, 2, 3]] {
            canvas.triangle(
                [corners[i], corners[j], corners[k]],
                Light::Plain,
                [0; 3],
                1,
            );
        }
        let picture = canvas.picture();
        assert_eq!([picture[12], picture[15], picture[18]], [0, 127, 255]);
    }
}
