//! Where the mechanism is looked at from: as the page does at first.

use nalgebra::Vector3;

use crate::linalg::elementary::{cos, sin, tan};
use crate::report::figure::Figure;

/// Angle of view of spatial mechanisms.
const FIELD_OF_VIEW: f64 = 28.0 * std::f64::consts::PI / 180.0;
/// Turn about the upward axis and tilt, spatial mechanisms.
const ISO: [f64; 2] = [0.62, 0.42];

/// A point on the screen (pixels from the upper left) and its distance towards the viewer.
pub type ScreenPoint = [f64; 3];

/// Projects points and lights surfaces.
pub struct Camera {
    right: Vector3<f64>,
    up: Vector3<f64>,
    out: Vector3<f64>,
    target: Vector3<f64>,
    middle: [f64; 2],
    /// Pixels for a metre at the target.
    scale: f64,
    /// From the eye to the target (m); `None` without perspective.
    distance: Option<f64>,
}

impl Camera {
    /// The extent of the figure in the picture, with a margin.
    pub fn fitting(figure: &Figure, size: [usize; 2]) -> Self {
        let base = figure.up;
        let mut front = match base.y != 0.0 || figure.planar {
            true => Vector3::z(),
            false => -Vector3::y(),
        };
        if front.dot(&base) != 0.0 {
            front = Vector3::x();
        }
        let side = base.cross(&front);
        let [yaw, pitch] = if figure.planar { [0.0; 2] } else { ISO };
        let level = front * cos(yaw) + side * sin(yaw);
        let right = side * cos(yaw) - front * sin(yaw);
        let out = level * cos(pitch) + base * sin(pitch);
        let up = out.cross(&right);
        let [low, high] = figure.extent;
        let corners =
            (0..8).map(|i| Vector3::from_fn(|k, _| if i >> k & 1 == 1 { high[k] } else { low[k] }));
        let corners: Vec<Vector3<f64>> = corners.collect();
        let range = |axis: &Vector3<f64>| {
            let along = corners.iter().map(|c| c.dot(axis));
            along.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], s| {
                [a.min(s), b.max(s)]
            })
        };
        let [r, u, o] = [range(&right), range(&up), range(&out)];
        let middle = |[a, b]: [f64; 2]| 0.5 * (a + b);
        let target = right * middle(r) + up * middle(u) + out * middle(o);
        let margin = 0.09 * (high - low).norm();
        let aspect = size[0] as f64 / size[1] as f64;
        let mut height = (u[1] - u[0] + 2.0 * margin).max((r[1] - r[0] + 2.0 * margin) / aspect);
        if !figure.planar {
            height += 0.35 * (o[1] - o[0]);
        }
        let height = height.max(1e-9);
        let distance = 0.5 * height / tan(0.5 * FIELD_OF_VIEW);
        Self {
            right,
            up,
            out,
            target,
            middle: size.map(|n| 0.5 * n as f64),
            scale: size[1] as f64 / height,
            distance: (!figure.planar).then_some(distance),
        }
    }

    /// Where a point is seen.
    pub fn project(&self, p: &Vector3<f64>) -> ScreenPoint {
        let r = p - self.target;
        let depth = r.dot(&self.out);
        let s = match self.distance {
            Some(d) => self.scale * d / (d - depth).max(1e-3 * d),
            None => self.scale,
        };
        // In perspective 1/distance is linear on the screen, so that depths between corners are right.
        let near = (self.distance).map_or(depth, |d| d * d / (d - depth).max(1e-3 * d));
        [
            self.middle[0] + s * r.dot(&self.right),
            self.middle[1] - s * r.dot(&self.up),
            near,
        ]
    }

    /// Brightness of a surface with this normal: light from the upper left behind the viewer, a weaker one from the right.
    pub fn light(&self, normal: &Vector3<f64>) -> f64 {
        let n = normal.try_normalize(0.0).unwrap_or(self.out);
        let key = (self.out * 0.8 + self.up * 0.55 - self.right * 0.35).normalize();
        let fill = (self.out * 0.3 - self.up * 0.2 + self.right * 0.9).normalize();
        0.46 + 0.5 * n.dot(&key).max(0.0) + 0.16 * n.dot(&fill).max(0.0)
    }
}
