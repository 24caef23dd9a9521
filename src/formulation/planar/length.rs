//! The characteristic length of a mechanism: the size against which displacements are judged.

use super::pose::Vec2;

/// A spread below this part of the whole mechanism's is rounding, not geometry.
const NEGLIGIBLE: f64 = 1e-6;

/// Largest distance between joint points; where there is none (a single pin), joint points and centres of mass; then force
/// points too; 1 where everything sits in one place.
pub fn characteristic(joints: &[Vec2], centers: &[Vec2], forces: &[Vec2]) -> f64 {
    let mut points = joints.to_vec();
    let of_joints = spread(&points);
    points.extend_from_slice(centers);
    let of_bodies = spread(&points);
    points.extend_from_slice(forces);
    let of_all = spread(&points);
    [of_joints, of_bodies, of_all]
        .into_iter()
        .find(|&x| x > NEGLIGIBLE * of_all)
        .unwrap_or(1.0)
}

/// Largest distance between any two points. It is found between corners of the convex hull.
pub fn spread(points: &[Vec2]) -> f64 {
    let corners = hull(points);
    let mut largest: f64 = 0.0;
    for (i, p) in corners.iter().enumerate() {
        for other in &corners[i + 1..] {
            largest = largest.max((p - other).norm());
        }
    }
    largest
}

/// Corners of the convex hull: lower and upper chain of the points in the order of x.
fn hull(points: &[Vec2]) -> Vec<Vec2> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut corners = chain(sorted.iter());
    corners.extend(chain(sorted.iter().rev()));
    corners
}

fn chain<'a>(points: impl Iterator<Item = &'a Vec2>) -> Vec<Vec2> {
    let mut chain: Vec<Vec2> = Vec::new();
    for p in points {
        while let [.., a, b] = chain[..]
            && (b - a).perp(&(p - a)) <= 0.0
        {
            chain.pop();
        }
        chain.push(*p);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulation::check::Noise;

    #[test]
    fn the_spread_is_that_of_all_pairs() {
        let mut noise = Noise::new(11);
        for n in [0, 1, 2, 3, 10, 60] {
            let points: Vec<Vec2> = (0..n)
                .map(|_| Vec2::new(noise.next(), noise.next()))
                .collect();
            let mut pairs: f64 = 0.0;
            for a in &points {
                for b in &points {
                    pairs = pairs.max((a - b).norm());
                }
            }
            assert_eq!(spread(&points), pairs, "{n} points");
        }
    }

    #[test]
    fn a_single_pin_falls_back_to_the_centre_of_mass_and_nothing_to_one() {
        let (o, p) = (Vec2::new(0.0, 0.0), Vec2::new(3.0, 4.0));
        assert_eq!(characteristic(&[o, p], &[10.0 * p], &[]), 5.0);
        assert_eq!(characteristic(&[o], &[p], &[]), 5.0);
        assert_eq!(characteristic(&[o], &[o], &[o, 2.0 * p]), 10.0);
        assert_eq!(characteristic(&[], &[o], &[]), 1.0);
    }
}
