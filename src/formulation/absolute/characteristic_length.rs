//! The characteristic length of a mechanism: the size against which displacements are judged.

/// A spread below this part of the whole mechanism's is rounding, not geometry.
const NEGLIGIBLE: f64 = 1e-6;

/// Largest distance between joint points; where there is none (a single pin), joint points and centres of mass; then force
/// points too; 1 where everything sits in one place.
pub fn characteristic(joints: &[[f64; 3]], centers: &[[f64; 3]], forces: &[[f64; 3]]) -> f64 {
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

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|k| a[k] - b[k]);
    (x * x + y * y + z * z).sqrt()
}

/// Largest distance between any two points. Two points cannot be further apart than the sum of their distances from the
/// middle: in the order of these, most pairs need no look.
pub fn spread(points: &[[f64; 3]]) -> f64 {
    let n = points.len().max(1) as f64;
    let mut middle = [0.0; 3];
    for p in points {
        for k in 0..3 {
            middle[k] += p[k] / n;
        }
    }
    let mut sorted: Vec<(f64, &[f64; 3])> =
        points.iter().map(|p| (distance(p, &middle), p)).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut largest: f64 = 0.0;
    for (i, (far, p)) in sorted.iter().enumerate() {
        if 2.0 * far < largest {
            break;
        }
        for (other_far, other) in &sorted[i + 1..] {
            if far + other_far < largest {
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
    fn the_spread_is_that_of_all_pairs() {
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
    fn a_single_pin_falls_back_to_the_centre_of_mass_and_nothing_to_one() {
        let (o, p) = ([0.0; 3], [3.0, 4.0, 0.0]);
        let times = |f: f64| p.map(|x| f * x);
        assert_eq!(characteristic(&[o, p], &[times(10.0)], &[]), 5.0);
        assert_eq!(characteristic(&[o], &[p], &[]), 5.0);
        assert_eq!(characteristic(&[o], &[o], &[o, times(2.0)]), 10.0);
        assert_eq!(characteristic(&[], &[o], &[]), 1.0);
    }
}
