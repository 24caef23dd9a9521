//! Planar outlines. A polyline becomes segments and convex corners, a smooth outline a spline over the length of its polygon. The
//! material lies to the right of the direction of travel.

use super::super::dual::Scalar;
use super::surface::ContactSurface;
use crate::formulation::function::{Spline, SplineEnds};
use crate::linalg::elementary::hypot;
use crate::model::SurfaceOutline;

/// Returns the contact surfaces of an outline, with points relative to the centre of mass.
pub fn surfaces(outline: &SurfaceOutline, center: [f64; 2]) -> Vec<ContactSurface> {
    let points = oriented(outline, center);
    if outline.smooth {
        return vec![ContactSurface::Smooth(Box::new(SmoothCurve::new(
            &points,
            outline.closed,
            outline.depth,
        )))];
    }
    let n = points.len();
    let pieces = if outline.closed { n } else { n - 1 };
    let spatial = |p: [f64; 2]| [p[0], p[1], 0.0];
    let along: Vec<[f64; 2]> = (0..pieces)
        .map(|k| unit(points[k], points[(k + 1) % n]))
        .collect();
    let mut surfaces: Vec<ContactSurface> = (0..pieces)
        .map(|k| ContactSurface::Segment {
            ends: [spatial(points[k]), spatial(points[(k + 1) % n])],
            along: spatial(along[k]),
            normal: [-along[k][1], along[k][0], 0.0],
            max_depth: outline.depth,
        })
        .collect();
    for k in 0..pieces {
        if !outline.closed && k + 1 == pieces {
            continue;
        }
        let next = (k + 1) % pieces;
        let (a, b) = (along[k], along[next]);
        // A corner that turns right, towards the material, is convex.
        if a[0] * b[1] - a[1] * b[0] < 0.0 {
            surfaces.push(ContactSurface::Corner {
                point: spatial(points[(k + 1) % n]),
                along: [spatial(a), spatial(b)],
                max_depth: outline.depth,
            });
        }
    }
    surfaces
}

fn unit(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let (x, y) = (b[0] - a[0], b[1] - a[1]);
    let length = hypot(x, y);
    [x / length, y / length]
}

/// Returns the points relative to the centre of mass, in the order that has the material on the right.
fn oriented(outline: &SurfaceOutline, center: [f64; 2]) -> Vec<[f64; 2]> {
    let mut points: Vec<[f64; 2]> = (outline.points.iter())
        .map(|p| [p[0] - center[0], p[1] - center[1]])
        .collect();
    if outline.closed {
        let n = points.len();
        let area: f64 = (0..n)
            .map(|k| (points[k], points[(k + 1) % n]))
            .map(|(a, b)| a[0] * b[1] - a[1] * b[0])
            .sum();
        // A counter-clockwise outline has its inside on the left.
        if (area > 0.0) != outline.hollow {
            points.reverse();
        }
    }
    points
}

/// A smooth outline γ(s).
#[derive(Clone, Debug)]
pub struct SmoothCurve {
    x: Spline,
    y: Spline,
    knots: Vec<f64>,
    closed: bool,
    max_depth: f64,
}

/// The nearest point of a smooth outline, in body axes.
#[derive(Clone, Copy, Debug)]
pub struct NearestPoint<T> {
    /// n·(c − γ)
    pub height: T,
    /// Outward normal.
    pub normal: [T; 2],
    /// γ
    pub point: [T; 2],
    /// Distances inside both ends; 1 for a closed outline.
    pub margins: [T; 2],
}

/// Points of each interval that are compared before Newton's iteration.
const SAMPLES_PER_INTERVAL: usize = 4;

impl SmoothCurve {
    fn new(points: &[[f64; 2]], closed: bool, max_depth: f64) -> Self {
        let mut points = points.to_vec();
        if closed {
            points.push(points[0]);
        }
        let mut knots = vec![0.0];
        for pair in points.windows(2) {
            let length = hypot(pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
            knots.push(knots[knots.len() - 1] + length);
        }
        let ends = if closed {
            SplineEnds::Periodic
        } else {
            SplineEnds::Natural
        };
        let spline = |k: usize| {
            let pairs: Vec<[f64; 2]> = knots.iter().zip(&points).map(|(s, p)| [*s, p[k]]).collect();
            Spline::new(&pairs, ends)
        };
        Self {
            x: spline(0),
            y: spline(1),
            knots,
            closed,
            max_depth,
        }
    }

    /// Whether the outline is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the depth beyond which a sphere is behind the outline.
    pub fn max_depth(&self) -> f64 {
        self.max_depth
    }

    fn length(&self) -> f64 {
        self.knots[self.knots.len() - 1]
    }

    /// Returns the parameter of the point nearest to c: the best of several points, then Newton's iteration on (c − γ)·γ' = 0.
    fn nearest_parameter(&self, c: [f64; 2]) -> f64 {
        let mut best = (f64::INFINITY, 0.0, 0.0);
        for pair in self.knots.windows(2) {
            let width = (pair[1] - pair[0]) / SAMPLES_PER_INTERVAL as f64;
            for k in 0..SAMPLES_PER_INTERVAL {
                let s = pair[0] + (k as f64 + 0.5) * width;
                let (x, y) = (self.x.at(s)[0] - c[0], self.y.at(s)[0] - c[1]);
                let squared = x * x + y * y;
                if squared < best.0 {
                    best = (squared, s, width);
                }
            }
        }
        let (_, mut s, width) = best;
        for _ in 0..30 {
            let (x, y) = (self.x.at(s), self.y.at(s));
            let e = [c[0] - x[0], c[1] - y[0]];
            let squared = x[1] * x[1] + y[1] * y[1];
            let slope = squared - e[0] * x[2] - e[1] * y[2];
            // Far from the outline the curvature may not be that of a minimum: then a gradient step.
            let slope = if slope > 0.1 * squared {
                slope
            } else {
                squared
            };
            let step = ((e[0] * x[1] + e[1] * y[1]) / slope).clamp(-width, width);
            s += step;
            if step.abs() <= 1e-15 * self.length() {
                break;
            }
        }
        s
    }

    /// Returns the point nearest to c, with the derivatives of c.
    pub fn nearest<T: Scalar>(&self, c: &[T; 2]) -> NearestPoint<T> {
        let mut at = self.nearest_parameter([c[0].value(), c[1].value()]);
        let mut margins = [T::constant(1.0); 2];
        if !self.closed {
            let margin = |s: f64| {
                let (x, y) = (self.x.at(s), self.y.at(s));
                (c[0] + (-x[0])) * x[1] + (c[1] + (-y[0])) * y[1]
            };
            margins = [margin(0.0), -margin(self.length())];
            at = at.clamp(0.0, self.length());
        }
        let (x, y) = (self.x.at(at), self.y.at(at));
        // One Newton step transfers the derivatives of c to s.
        let e = [c[0] + (-x[0]), c[1] + (-y[0])];
        let slope = x[1] * x[1] + y[1] * y[1] - e[0].value() * x[2] - e[1].value() * y[2];
        let s = (e[0] * x[1] + e[1] * y[1]) * (1.0 / slope) + at;
        let point = [s.chain(x[0], x[1]), s.chain(y[0], y[1])];
        let tangent = [s.chain(x[1], x[2]), s.chain(y[1], y[2])];
        let length = (tangent[0] * tangent[0] + tangent[1] * tangent[1]).sqrt();
        let normal = [-tangent[1] / length, tangent[0] / length];
        let height = normal[0] * (c[0] - point[0]) + normal[1] * (c[1] - point[1]);
        NearestPoint {
            height,
            normal,
            point,
            margins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(n: usize, smooth: bool, hollow: bool) -> SurfaceOutline {
        let points = (0..n)
            .map(|k| {
                let (sin, cos) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
                [1.0 + 2.0 * cos, -0.5 + 2.0 * sin]
            })
            .collect();
        SurfaceOutline {
            points,
            closed: true,
            hollow,
            smooth,
            depth: 0.5,
        }
    }

    #[test]
    fn nearest_point_of_a_spline_through_a_circle_is_that_of_the_circle() {
        for hollow in [false, true] {
            let surfaces = surfaces(&circle(40, true, hollow), [0.2, 0.1]);
            let [ContactSurface::Smooth(curve)] = &surfaces[..] else {
                panic!()
            };
            for k in 0..50 {
                let angle = 0.13 * k as f64;
                let c = [0.8 + 2.7 * angle.cos(), -0.6 + 2.7 * angle.sin()];
                let nearest = curve.nearest(&c);
                let sign = if hollow { -1.0 } else { 1.0 };
                // Error of the spline: (2π/40)⁴ 2/384.
                assert!((nearest.height - sign * 0.7).abs() < 1e-5, "{nearest:?}");
                assert!((nearest.normal[0] - sign * angle.cos()).abs() < 1e-3);
                assert!((nearest.point[1] - (-0.6 + 2.0 * angle.sin())).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn a_square_has_four_convex_corners_and_a_square_hole_none() {
        let square = |hollow| SurfaceOutline {
            points: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
            closed: true,
            hollow,
            smooth: false,
            depth: 0.3,
        };
        let count = |outline: &SurfaceOutline| {
            let surfaces = surfaces(outline, [0.0; 2]);
            let corners = surfaces
                .iter()
                .filter(|f| matches!(f, ContactSurface::Corner { .. }))
                .count();
            (surfaces.len() - corners, corners)
        };
        assert_eq!(count(&square(false)), (4, 4));
        assert_eq!(count(&square(true)), (4, 0));
        let ground = SurfaceOutline {
            closed: false,
            ..square(false)
        };
        // Drawn to the right and up: material on the right, concave corners.
        assert_eq!(count(&ground), (3, 0));
    }
}
