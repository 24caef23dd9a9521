//! Natural against absolute coordinates: the same accelerations at random states, and every derivative against differences.

use super::body_map::BodyMap;
use super::{Natural, PlanarNatural, SpatialNatural};
use crate::formulation::absolute::Absolute;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::derivative_check::{DerivativeCheck, check};
use crate::formulation::relative::tests::{
    CX, Column, Dense, balance, body, dense, kinds, mechanism, spring,
};
use crate::formulation::{ConfigurationSpace, HybridSystem, Mechanism, MotionPoint, System};
use crate::linalg::random::Random;
use crate::model::*;

fn rows(system: &dyn System, q: &[f64]) -> Dense {
    let (size, pattern) = (system.dimensions(), system.sparsity());
    let mut g = vec![0.0; pattern.jacobian.len()];
    system.jacobian(&CX, q, &mut g);
    dense(size.nc, size.nv, &pattern.jacobian, &g)
}

/// The solution of [m gᵀ; g 0] x = rhs by the proximal iteration, which does not mind rows that depend on each other.
fn saddle(m: &Dense, g: &Dense, rhs: (Column, Column)) -> Column {
    let (nv, nc) = (m.nrows(), g.nrows());
    let e = 1e-6;
    let mut a = Dense::zeros(nv + nc, nv + nc);
    a.view_mut((0, 0), (nv, nv)).copy_from(m);
    a.view_mut((nv, 0), (nc, nv)).copy_from(g);
    a.view_mut((0, nv), (nv, nc)).copy_from(&g.transpose());
    for k in 0..nc {
        a[(nv + k, nv + k)] = -e;
    }
    let lu = a.full_piv_lu();
    let mut lambda = Column::zeros(nc);
    let mut x = Column::zeros(nv);
    for _ in 0..8 {
        let mut right = Column::zeros(nv + nc);
        right.rows_mut(0, nv).copy_from(&rhs.0);
        right.rows_mut(nv, nc).copy_from(&(&rhs.1 - e * &lambda));
        let both = lu.solve(&right).expect("a regular matrix");
        x.copy_from(&both.rows(0, nv));
        lambda.copy_from(&both.rows(nv, nc));
    }
    x
}

/// x moved onto g x = r by the least motion.
fn onto(g: &Dense, x: Column, r: Column) -> Column {
    let one = Dense::identity(x.len(), x.len());
    saddle(&one, g, (x, r))
}

/// The start, with random rates that fit the rows.
fn state<W: BodyMap<N>, const N: usize>(
    system: &Natural<W, N>,
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    let size = system.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.initial_state(&mut q, &mut v);
    // The poses that belong to the coordinates to the last bit.
    let mut settled = q.clone();
    system.retract(&q, &vec![0.0; size.nv], &mut settled);
    let g = rows(system, &settled);
    let rates = Column::from_vec(random.vector(size.nv, 2.0));
    let rates = onto(&g, rates, Column::zeros(size.nc));
    (settled, rates.as_slice().to_vec())
}

fn accelerations(system: &dyn System, q: &[f64], v: &[f64]) -> Vec<f64> {
    let size = system.dimensions();
    let (nv, nc) = (size.nv, size.nc);
    let g = rows(system, q);
    let (mut f, mut gamma) = (vec![0.0; nv], vec![0.0; nc]);
    system.force(&CX, q, v, &mut f).unwrap();
    system.constraint_acceleration_bias(&CX, q, v, &mut gamma);
    let mut m = Dense::zeros(nv, nv);
    for k in 0..nv {
        let mut unit = vec![0.0; nv];
        unit[k] = 1.0;
        let mut column = vec![0.0; nv];
        system.mass_times(&CX, q, &unit, &mut column);
        m.set_column(k, &Column::from_vec(column));
    }
    let rhs = (Column::from_vec(f), -Column::from_vec(gamma));
    saddle(&m, &g, rhs).as_slice().to_vec()
}

fn agrees<W: BodyMap<N>, const N: usize>(model: &Model, random: &mut Random, label: &str) {
    let system = Natural::<W, N>::new(model).unwrap();
    let absolute = Absolute::<W, N>::new(model).unwrap();
    let (q, v) = state(&system, random);
    let a = accelerations(&system, &q, &v);
    let work = &mut *system.moving(&q, &v);
    let lambda = vec![0.0; system.dimensions().nc];
    let at = MotionPoint {
        q: &q,
        v: &v,
        a: &a,
        lambda: &lambda,
    };
    let bodies = system.lifted(work, &at);
    let mut phi = vec![0.0; absolute.dimensions().nc];
    absolute.constraint(&CX, bodies.q, &mut phi);
    for (row, phi) in phi.iter().enumerate() {
        assert!(phi.abs() < 1e-12, "{label}: row {row} is open by {phi:e}");
    }
    let (expected, _) = balance(&absolute, bodies.q, bodies.v);
    // Both come from dense solves: rounding times their condition, below a thousand.
    let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (x, y)) in expected.iter().zip(bodies.a).enumerate() {
        assert!((x - y).abs() < 1e-9 * scale, "{label}: {i}: {x} {y}");
    }
}

#[test]
fn bodies_move_as_in_absolute_coordinates() {
    let mut random = Random::new(5);
    for closed in [false, true] {
        for _ in 0..5 {
            for kind in kinds(2) {
                if closed && kind == JointKind::Fixed {
                    continue;
                }
                let model = mechanism(2, kind, closed, &mut random);
                agrees::<PlanarGeometry, 6>(&model, &mut random, kind.name());
            }
            for kind in kinds(3) {
                if closed && kind == JointKind::Fixed {
                    continue;
                }
                let mut model = mechanism(3, kind, closed, &mut random);
                if closed && kind != JointKind::Spherical {
                    // Room for the three rows of the ball that closes the loop.
                    model.joints[2].kind = JointKind::Universal;
                }
                agrees::<SpatialGeometry, 12>(&model, &mut random, kind.name());
            }
        }
    }
}

fn derivatives<W: BodyMap<N>, const N: usize>(model: &Model, random: &mut Random, label: &str) {
    let system = Natural::<W, N>::new(model).unwrap();
    let (q, v) = state(&system, random);
    let size = system.dimensions();
    let mut lambda = random.vector(size.nc, 3.0);
    let mut active = vec![true; size.nc];
    system.active_constraints(&[], &mut active);
    for (lambda, on) in lambda.iter_mut().zip(&active) {
        *lambda *= f64::from(u8::from(*on));
    }
    // Kinetic energy is that of rigid bodies: its rate is asked for along accelerations that keep them so.
    let g = rows(&system, &q);
    let mut gamma = vec![0.0; size.nc];
    system.constraint_acceleration_bias(&CX, &q, &v, &mut gamma);
    let a = Column::from_vec(random.vector(size.nv, 3.0));
    let a = onto(&g, a, -Column::from_vec(gamma));
    let at = MotionPoint {
        q: &q,
        v: &v,
        a: a.as_slice(),
        lambda: &lambda,
    };
    if let Err(wrong) = check(&system, &CX, &at, &DerivativeCheck::default()) {
        panic!("{label}:\n{wrong}");
    }
}

#[test]
fn every_derivative_is_that_of_the_equations() {
    let mut random = Random::new(8);
    for closed in [false, true] {
        for _ in 0..3 {
            for kind in kinds(2) {
                if closed && kind == JointKind::Fixed {
                    // Nothing moves: energies are rounding.
                    continue;
                }
                let model = mechanism(2, kind, closed, &mut random);
                derivatives::<PlanarGeometry, 6>(
                    &model,
                    &mut random,
                    &format!("plane {}", kind.name()),
                );
            }
            for kind in kinds(3) {
                if closed && kind == JointKind::Fixed {
                    continue;
                }
                let mut model = mechanism(3, kind, closed, &mut random);
                if closed && kind != JointKind::Spherical {
                    // Room for the three rows of the ball: where nothing moves energies are rounding.
                    model.joints[2].kind = JointKind::Universal;
                }
                derivatives::<SpatialGeometry, 12>(
                    &model,
                    &mut random,
                    &format!("space {}", kind.name()),
                );
            }
        }
    }
}

#[test]
fn free_bodies_have_a_point_and_vectors_of_their_own() {
    let mut random = Random::new(2);
    for dimension in [2, 3] {
        let model = Model {
            dimension,
            bodies: vec![
                body(dimension, "a", &mut random),
                body(dimension, "b", &mut random),
            ],
            forces: vec![spring([Some(0), Some(1)])],
            ..Model::default()
        };
        if dimension == 2 {
            derivatives::<PlanarGeometry, 6>(&model, &mut random, "plane");
            agrees::<PlanarGeometry, 6>(&model, &mut random, "plane");
            assert_eq!(PlanarNatural::new(&model).unwrap().counts(), (4, 2));
        } else {
            derivatives::<SpatialGeometry, 12>(&model, &mut random, "space");
            agrees::<SpatialGeometry, 12>(&model, &mut random, "space");
            assert_eq!(SpatialNatural::new(&model).unwrap().counts(), (8, 12));
        }
    }
}

/// The second paper's linkage: six coordinates and five lengths.
#[test]
fn bars_share_their_pins() {
    let text = include_str!("../../../models/double_four_bar.toml");
    let model = Model::from_text(text, "double_four_bar").unwrap();
    let system = PlanarNatural::new(&model).unwrap();
    let size = system.dimensions();
    assert_eq!((size.nv, system.counts()), (6, (3, 5)));
    // A uniform bar is m/6 [2 1; 1 2] over its ends; at B_1 an upright and two couplers meet.
    let mut column = vec![0.0; 6];
    let mut unit = vec![0.0; 6];
    unit[0] = 1.0;
    let q = {
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        system.initial_state(&mut q, &mut v);
        q
    };
    system.mass_times(&CX, &q, &unit, &mut column);
    let mut own: Vec<f64> = column.iter().copied().filter(|x| x.abs() > 1e-14).collect();
    own.sort_by(f64::total_cmp);
    let shared = own.iter().sum::<f64>() * 6.0;
    // Diagonal 2/6 for each bar at the pin, 1/6 for each neighbour: 2 bars and 1 neighbour, or 3 bars and 2.
    assert!(
        (shared - 5.0).abs() < 1e-12 || (shared - 8.0).abs() < 1e-12,
        "{own:?}"
    );
}
