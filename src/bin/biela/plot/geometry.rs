//! Points in the plane of the mechanism.

use biela::linalg::elementary::{hypot, sin_cos};

/// Coordinates x and y.
pub type Point = [f64; 2];

/// The planar part of a point.
pub fn planar(p: [f64; 3]) -> Point {
    [p[0], p[1]]
}

/// A vector rotated by an angle (rad).
pub fn rotated([x, y]: Point, angle: f64) -> Point {
    let (sin, cos) = sin_cos(angle);
    [cos * x - sin * y, sin * x + cos * y]
}

/// Corners of the convex hull, counter-clockwise (Andrew's monotone chain); points closer than `near` to a corner or an edge
/// are left out.
pub fn hull(mut points: Vec<Point>, near: f64) -> Vec<Point> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup_by(|a, b| hypot(a[0] - b[0], a[1] - b[1]) <= near);
    if points.len() < 3 {
        return points;
    }
    let half = |points: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for p in points {
            while chain.len() >= 2 {
                let (a, b) = (chain[chain.len() - 2], chain[chain.len() - 1]);
                let (ab, ap) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
                let height = (ab[0] * ap[1] - ab[1] * ap[0]) / hypot(ap[0], ap[1]);
                if height > near {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut lower = half(&mut points.iter().copied());
    let upper = half(&mut points.iter().rev().copied());
    lower.extend(upper);
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_has_the_corners_of_the_points() {
        let on_line = vec![[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.5, 0.5]];
        assert_eq!(hull(on_line, 1e-9), [[0.0, 0.0], [1.0, 1.0]]);
        let square = vec![[0.0, 0.0], [1.0, 1.0], [0.4, 0.5], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(
            hull(square, 1e-9),
            [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
        );
        assert_eq!(hull(vec![[1.0, 1.0], [1.0, 1.0]], 1e-9).len(), 1);
        assert!(hull(Vec::new(), 1e-9).is_empty());
    }
}
