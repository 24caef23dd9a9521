//! Gradients and Hessians against differences.

use super::*;
use crate::formulation::absolute::geometry::{Geometry, RelativeCoordinate as _};
use crate::linalg::random::Random;

fn coordinates() -> Vec<SpatialCoordinate> {
    let mut random = Random::new(5);
    let mut vector = || Vec3::new(random.signed(), random.signed(), random.signed());
    let mut all = Vec::new();
    for (i, j) in [(Some(0), Some(1)), (None, Some(1)), (Some(1), None)] {
        let points = [
            SpatialPoint {
                body: i,
                s: vector(),
            },
            SpatialPoint {
                body: j,
                s: vector(),
            },
        ];
        all.push(SpatialCoordinate::Distance(SpatialDistance {
            points,
            coincidence_distance: 1e-12,
        }));
        all.push(SpatialCoordinate::Slide(SpatialSlide {
            body: i,
            direction: vector().normalize(),
            point: points[1],
            offset: 0.4,
        }));
        let dot = |a: Vec3, b: Vec3| DirectionProduct {
            bodies: [i, j],
            directions: [a, b],
        };
        let (n, d) = (vector().normalize(), vector().normalize());
        all.push(SpatialCoordinate::DirectionProduct(dot(n, d)));
        let e = n.cross(&vector()).normalize();
        all.push(SpatialCoordinate::Angle(SpatialAngle {
            sine: dot(n.cross(&e), d),
            cosine: dot(e, d),
            sign: -1.0,
            offset: 0.3,
            counter: None,
        }));
    }
    all
}

fn difference(f: impl Fn(f64) -> f64) -> f64 {
    let e = 1e-3;
    (8.0 * (f(e) - f(-e)) - (f(2.0 * e) - f(-2.0 * e))) / (12.0 * e)
}

#[test]
fn gradients_and_hessians_agree_with_differences() {
    // Fourth-order differences with e = 1e-3: truncation 1e-12, rounding 1e-13; angles of directions that are nearly normal to
    // their plane have derivatives up to 1e4 times larger.
    let mut random = Random::new(7);
    for coordinate in coordinates() {
        for _ in 0..5 {
            let mut q: Vec<f64> = (0..14).map(|_| 2.0 * random.signed()).collect();
            for b in 0..2 {
                let turned =
                    crate::linalg::rotation::normalized(&std::array::from_fn(|k| q[7 * b + 3 + k]));
                q[7 * b + 3..7 * b + 7].copy_from_slice(&turned);
            }
            let (_, g) = coordinate.value(&mut SpatialPoses::new(&q));
            let h = coordinate.hessian(&mut SpatialPoses::new(&q));
            let size = h.iter().flatten().fold(1.0_f64, |m, x| m.max(x.abs()));
            let v: SpatialGradient = std::array::from_fn(|_| random.signed());
            let error =
                coordinate.curvature(&mut SpatialPoses::new(&q), &v) - geometry::quadratic(&h, &v);
            // Rounding of a hundred products.
            assert!(error.abs() < 1e-13 * size, "{coordinate:?} {error:e}");
            for (side, body) in coordinate.bodies().iter().enumerate() {
                let Some(b) = *body else { continue };
                for k in 0..6 {
                    let c = 6 * side + k;
                    let displaced = |x: f64| {
                        let (mut w, mut displaced) = ([0.0; 6], q.clone());
                        w[k] = x;
                        SpatialGeometry::retract(
                            &q[7 * b..7 * b + 7],
                            &w,
                            &mut displaced[7 * b..7 * b + 7],
                        );
                        coordinate.value(&mut SpatialPoses::new(&displaced))
                    };
                    let tolerance = 1e-10 * size * size;
                    let slope = difference(|x| displaced(x).0);
                    assert!(
                        (slope - g[c]).abs() < tolerance,
                        "{coordinate:?} gradient {c}: {slope} {}",
                        g[c]
                    );
                    assert!(g[c] == 0.0 || coordinate.depends_on(c));
                    for r in 0..12 {
                        let slope = difference(|x| displaced(x).1[r]);
                        assert!(
                            (slope - h[r][c]).abs() < 10.0 * tolerance,
                            "{coordinate:?} hessian {r} {c}: {slope} {}",
                            h[r][c]
                        );
                        assert!(h[r][c] == 0.0 || coordinate.has_curvature(r, c));
                    }
                }
            }
        }
    }
}

#[test]
fn coincident_points_have_zero_gradient() {
    let line = SpatialDistance {
        points: [SpatialPoint {
            body: Some(0),
            s: Vec3::new(1.0, 0.0, 0.5),
        }; 2],
        coincidence_distance: 1e-12,
    };
    let q = [0.3, 0.4, 0.5, 1.0, 0.0, 0.0, 0.0];
    let (length, g) = line.value(&mut SpatialPoses::new(&q));
    assert_eq!((length, g), (0.0, [0.0; 12]));
    assert_eq!(line.hessian(&mut SpatialPoses::new(&q)), [[0.0; 12]; 12]);
    assert!(
        line.coincidence_gradients(&mut SpatialPoses::new(&q))
            .is_some()
    );
}
