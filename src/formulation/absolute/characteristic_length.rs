//! The characteristic length of a mechanism: the scale of displacements.

use crate::linalg::sorting::sort_by;
use crate::model::Body;

/// Length of a body, relative to that of all points, which is taken for rounding error.
const NEGLIGIBLE: f64 = 1e-6;

/// The points by which a body is held and driven.
pub struct BodyExtent {
    center: [f64; 3],
    /// Largest radius of gyration (m).
    gyration: f64,
    /// Points of joints and forces.
    pub points: Vec<[f64; 3]>,
}

impl BodyExtent {
    /// A body without points, with its centre of mass at `center`.
    pub fn new(center: [f64; 3], body: &Body) -> Self {
        let inertia = body.inertia[..3].iter().fold(0.0, |a: f64, x| a.max(*x));
        Self {
            center,
            gyration: if body.mass > 0.0 {
                (inertia / body.mass).sqrt()
            } else {
                0.0
            },
            points: Vec::new(),
        }
    }

    /// A body with these points, which turns about the middle between the first and the last.
    pub fn of_points(points: Vec<[f64; 3]>) -> Self {
        let (a, b) = (points[0], points[points.len() - 1]);
        Self {
            center: std::array::from_fn(|k| 0.5 * (a[k] + b[k])),
            gyration: 0.0,
            points,
        }
    }

    /// Largest distance from the centre of mass to a point, at least the radius of gyration.
    fn lever_arm(&self) -> f64 {
        (self.points.iter()).fold(self.gyration, |arm, p| arm.max(distance(p, &self.center)))
    }
}

/// Twice the largest lever arm of a body: the size of the largest body, however far apart they are. Without lever arms (particles)
/// the largest distance between all points and centres of mass; 1 if they coincide.
pub fn characteristic(bodies: &[BodyExtent], points: &[[f64; 3]]) -> f64 {
    let largest = (bodies.iter()).fold(0.0, |a: f64, body| a.max(body.lever_arm()));
    let mut all = points.to_vec();
    all.extend(bodies.iter().map(|body| body.center));
    let extent = spread(&all);
    [2.0 * largest, extent]
        .into_iter()
        .find(|&x| x > NEGLIGIBLE * extent)
        .unwrap_or(1.0)
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|k| a[k] - b[k]);
    (x * x + y * y + z * z).sqrt()
}

/// Largest distance between any two points. It is at most the sum of their distances from the mean: sorted by these, most pairs
/// can be skipped.
pub fn spread(points: &[[f64; 3]]) -> f64 {
    let n = points.len().max(1) as f64;
    let mut mean = [0.0; 3];
    for p in points {
        for k in 0..3 {
            mean[k] += p[k] / n;
        }
    }
    let mut sorted: Vec<(f64, &[f64; 3])> =
        points.iter().map(|p| (distance(p, &mean), p)).collect();
    sort_by(&mut sorted, |a, b| b.0.total_cmp(&a.0));
    let mut largest: f64 = 0.0;
    for (i, (radius, p)) in sorted.iter().enumerate() {
        if 2.0 * radius < largest {
            break;
        }
        for (other_radius, other) in &sorted[i + 1..] {
            if radius + other_radius < largest {
                break;
            }
            largest = largest.max(distance(p, other));
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    #[test]
    fn the_spread_is_the_largest_distance_of_all_pairs() {
        let mut random = Random::new(11);
        for n in [0, 1, 2, 3, 10, 60] {
            let points: Vec<[f64; 3]> = (0..n)
                .map(|_| [random.signed(), random.signed(), 0.1 * random.signed()])
                .collect();
            let mut pairs: f64 = 0.0;
            for a in &points {
                for b in &points {
                    pairs = pairs.max(distance(a, b));
                }
            }
            assert_eq!(spread(&points), pairs, "{n} points");
        }
    }

    #[test]
    fn a_single_pin_uses_the_centre_of_mass_and_a_single_point_gives_one() {
        let (o, p) = ([0.0; 3], [3.0, 4.0, 0.0]);
        let times = |f: f64| p.map(|x| f * x);
        let body = |points: &[[f64; 3]], gyration: f64| BodyExtent {
            center: o,
            gyration,
            points: points.to_vec(),
        };
        // Lever arms of 5 and 10; far joints of other bodies do not count.
        assert_eq!(characteristic(&[body(&[o, p], 0.0)], &[o, p]), 10.0);
        assert_eq!(
            characteristic(&[body(&[p, times(2.0)], 0.0)], &[times(1000.0)]),
            20.0
        );
        assert_eq!(characteristic(&[body(&[o], 3.0)], &[o]), 6.0);
        // Particles: the extent of all points.
        assert_eq!(characteristic(&[body(&[o], 0.0)], &[o, times(2.0)]), 10.0);
        assert_eq!(characteristic(&[body(&[], 0.0)], &[]), 1.0);
    }
}
