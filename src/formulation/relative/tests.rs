//! Relative against absolute coordinates: the same poses, rates, accelerations and reactions at random states, and every
//! derivative against differences.

use super::{PlanarRelative, Relative, SpatialRelative};
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::{self, Absolute};
use crate::formulation::derivative_check::{DerivativeCheck, check};
use crate::formulation::relative::joint_map::JointMap;
use crate::formulation::{
    ConfigurationSpace, EvaluationContext, Mechanism, MotionPoint, System, TangentWeights,
};
use crate::linalg::random::Random;
use crate::linalg::rotation::{self, Vec3};
use crate::model::quantity::{JointField, Quantity};
use crate::model::*;

pub(crate) type Dense = nalgebra::DMatrix<f64>;
pub(crate) type Column = nalgebra::DVector<f64>;

pub(crate) const CX: EvaluationContext<'static> = EvaluationContext {
    t: 0.3,
    u: &[],
    u_dot: &[],
    u_ddot: &[],
    p: &[],
    modes: &[],
    integrals: &[],
};

pub(crate) fn body(dimension: usize, name: &str, random: &mut Random) -> Body {
    let flat = dimension == 2;
    let mut three = |size: f64| -> [f64; 3] {
        let [x, y, z] = std::array::from_fn(|_| size * random.signed());
        [x, y, if flat { 0.0 } else { z }]
    };
    Body {
        name: name.into(),
        mass: 1.5,
        inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.01],
        position: three(1.0),
        orientation: if flat {
            [1.0, 0.0, 0.0, 0.0]
        } else {
            rotation::exp(&three(1.0).into())
        },
        angle: three(1.0)[0],
        velocity: three(1.0),
        angular_velocity: if flat { [0.0, 0.0, 0.7] } else { three(1.0) },
        center_of_mass: three(0.2),
        ..Body::default()
    }
}

fn joint(
    dimension: usize,
    name: &str,
    kind: JointKind,
    bodies: [BodyRef; 2],
    random: &mut Random,
) -> Joint {
    let mut vector = || {
        let [x, y, z] = std::array::from_fn(|_| random.signed());
        Vec3::new(x, y, if dimension == 2 { 0.0 } else { z })
    };
    let axis = vector().normalize();
    let across = if dimension == 2 {
        Vec3::zeros()
    } else {
        axis.cross(&vector()).normalize()
    };
    Joint {
        name: name.into(),
        kind,
        bodies,
        frame: JointPlacement::InitialPose(JointFrame {
            point: vector().into(),
            axis: axis.into(),
            reference_direction: across.into(),
        }),
        position: [0.3, -0.2, 0.1],
        pitch: 0.4,
        length: None,
        ..Joint::default()
    }
}

pub(crate) fn spring(bodies: [BodyRef; 2]) -> Force {
    Force {
        name: "spring".into(),
        kind: ForceKind::SpringDamper(SpringDefinition {
            stiffness: 30.0.into(),
            damping: 2.0.into(),
            length: 0.4,
            ..SpringDefinition::default()
        }),
        on: ForceApplication::Points {
            bodies,
            points: [[0.1, 0.2, 0.0], [0.0, 0.3, 0.0]],
        },
        text_position: TextPosition::default(),
    }
}

/// Ground, a, b, c with joints of one kind, two of them written the other way round, and a cut that closes c with the ground.
pub(crate) fn mechanism(
    dimension: usize,
    kind: JointKind,
    closed: bool,
    random: &mut Random,
) -> Model {
    let bodies = ["a", "b", "c"].map(|name| body(dimension, name, random));
    let mut joints = vec![
        joint(dimension, "first", kind, [None, Some(0)], random),
        joint(dimension, "second", kind, [Some(1), Some(0)], random),
        joint(
            dimension,
            "third",
            JointKind::Revolute,
            [Some(1), Some(2)],
            random,
        ),
    ];
    if kind == JointKind::PointOnLine {
        joints[1].bodies = [Some(0), Some(1)];
    }
    if closed {
        let closing = if dimension == 2 {
            JointKind::Revolute
        } else {
            JointKind::Spherical
        };
        joints.push(joint(
            dimension,
            "closing",
            closing,
            [None, Some(2)],
            random,
        ));
    }
    Model {
        dimension,
        gravity: [0.3, -9.81, if dimension == 2 { 0.0 } else { -0.4 }],
        bodies: bodies.to_vec(),
        joints,
        forces: vec![spring([Some(0), Some(2)])],
        ..Model::default()
    }
}

pub(crate) fn dense(rows: usize, columns: usize, places: &[(u32, u32)], values: &[f64]) -> Dense {
    let mut m = Dense::zeros(rows, columns);
    for (&(i, j), v) in places.iter().zip(values) {
        m[(i as usize, j as usize)] += v;
    }
    m
}

/// Accelerations and multipliers of a system from a dense solve.
pub(crate) fn balance(system: &dyn System, q: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let size = system.dimensions();
    let pattern = system.sparsity();
    let (nv, nc) = (size.nv, size.nc);
    let mut s = vec![0.0; pattern.tangent.len()];
    let zero = vec![0.0; nv.max(nc)];
    system
        .tangent(
            &CX,
            &MotionPoint {
                q,
                v,
                a: &zero[..nv],
                lambda: &zero[..nc],
            },
            &TangentWeights::MASS,
            &mut s,
        )
        .unwrap();
    let mut g = vec![0.0; pattern.jacobian.len()];
    system.jacobian(&CX, q, &mut g);
    let (mut f, mut gamma) = (vec![0.0; nv], vec![0.0; nc]);
    system.force(&CX, q, v, &mut f).unwrap();
    system.constraint_acceleration_bias(&CX, q, v, &mut gamma);
    let mut m = Dense::zeros(nv + nc, nv + nc);
    m.view_mut((0, 0), (nv, nv))
        .copy_from(&dense(nv, nv, &pattern.tangent, &s));
    let g = dense(nc, nv, &pattern.jacobian, &g);
    m.view_mut((nv, 0), (nc, nv)).copy_from(&g);
    m.view_mut((0, nv), (nv, nc)).copy_from(&g.transpose());
    let rhs = Column::from_iterator(nv + nc, f.into_iter().chain(gamma.iter().map(|x| -x)));
    let x = m.full_piv_lu().solve(&rhs).expect("a regular mechanism");
    (x.as_slice()[..nv].to_vec(), x.as_slice()[nv..].to_vec())
}

pub(crate) fn kinds(dimension: usize) -> Vec<JointKind> {
    use JointKind::*;
    if dimension == 2 {
        vec![Fixed, Revolute, Prismatic, PointOnLine]
    } else {
        vec![
            Fixed,
            Revolute,
            Prismatic,
            Cylindrical,
            Spherical,
            Universal,
            Planar,
            Screw,
        ]
    }
}

/// A random state: coordinates away from the start, rates that fit the closures.
fn state<W: JointMap<N>, const N: usize>(
    system: &Relative<W, N>,
    closed: bool,
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    let size = system.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.initial_state(&mut q, &mut v);
    if !closed {
        let w = random.vector(size.nv, 0.7);
        let mut moved = q.clone();
        system.retract(&q, &w, &mut moved);
        q = moved;
    }
    let mut v = random.vector(size.nv, 2.0);
    if closed {
        // v − Gᵀ(G Gᵀ)⁻¹ G v, pseudo-inverse
        let pattern = system.sparsity();
        let mut g = vec![0.0; pattern.jacobian.len()];
        system.jacobian(&CX, &q, &mut g);
        let g = dense(size.nc, size.nv, &pattern.jacobian, &g);
        let rates = Column::from_vec(v);
        let fit = g.clone().pseudo_inverse(1e-12).unwrap() * (&g * &rates);
        v = (rates - fit).as_slice().to_vec();
    }
    (q, v)
}

fn agrees<W: JointMap<N>, const N: usize>(
    model: &Model,
    closed: bool,
    random: &mut Random,
    label: &str,
) {
    let system = Relative::<W, N>::new(model).unwrap();
    let absolute = Absolute::<W, N>::new(model).unwrap();
    let size = absolute.dimensions();
    let (z, z_dot) = state(&system, closed, random);
    let (z_ddot, closing) = balance(&system, &z, &z_dot);
    let at = MotionPoint {
        q: &z,
        v: &z_dot,
        a: &z_ddot,
        lambda: &closing,
    };
    let work = &mut *system.moving(&z, &z_dot);
    let lifted = system.lifted(&CX, work, &at);
    let mut phi = vec![0.0; size.nc];
    absolute.constraint(&CX, lifted.q, &mut phi);
    for (row, phi) in phi.iter().enumerate() {
        assert!(phi.abs() < 1e-13, "{label}: row {row} is open by {phi:e}");
    }
    let (a, lambda) = balance(&absolute, lifted.q, lifted.v);
    // Both come from LU of small matrices: rounding times their condition, a few hundred.
    for (what, one, other) in [
        ("acceleration", &a, lifted.a),
        ("multiplier", &lambda, lifted.lambda),
    ] {
        let scale = one.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (i, (x, y)) in one.iter().zip(other).enumerate() {
            assert!(
                (x - y).abs() < 1e-10 * scale,
                "{label}: {what} {i}: {x} {y}"
            );
        }
    }
}

#[test]
fn bodies_move_and_joints_carry_as_in_absolute_coordinates() {
    let mut random = Random::new(5);
    for closed in [false, true] {
        for kind in kinds(2) {
            // Three welded bodies cannot be closed by a pin without a row too many.
            if closed && kind == JointKind::Fixed {
                continue;
            }
            for _ in 0..5 {
                let model = mechanism(2, kind, closed, &mut random);
                agrees::<PlanarGeometry, 6>(&model, closed, &mut random, kind.name());
            }
        }
        for kind in kinds(3) {
            if closed && matches!(kind, JointKind::Fixed) {
                continue;
            }
            for _ in 0..5 {
                let mut model = mechanism(3, kind, closed, &mut random);
                if closed
                    && matches!(
                        kind,
                        JointKind::Revolute | JointKind::Prismatic | JointKind::Screw
                    )
                {
                    // Three coordinates would be fixed by the three rows of the ball: one more body gives them room.
                    model.joints[2].kind = JointKind::Universal;
                }
                agrees::<SpatialGeometry, 12>(&model, closed, &mut random, kind.name());
            }
        }
    }
}

fn derivatives<W: JointMap<N>, const N: usize>(model: &Model, random: &mut Random, label: &str) {
    let system = Relative::<W, N>::new(model).unwrap();
    let size = system.dimensions();
    let (q, v) = state(&system, false, random);
    let lambda = random.vector(size.nc, 3.0);
    // K stands for the change of Jᵀ by the multipliers of the tree: exact where the equations hold. With any λ there are
    // accelerations for which they do.
    let pattern = system.sparsity();
    let mut f = vec![0.0; size.nv];
    system.force(&CX, &q, &v, &mut f).unwrap();
    let mut g = vec![0.0; pattern.jacobian.len()];
    system.jacobian(&CX, &q, &mut g);
    let g = dense(size.nc, size.nv, &pattern.jacobian, &g);
    let mut m = vec![0.0; pattern.tangent.len()];
    let zero = vec![0.0; size.nv.max(size.nc)];
    system
        .tangent(
            &CX,
            &MotionPoint {
                q: &q,
                v: &v,
                a: &zero[..size.nv],
                lambda: &zero[..size.nc],
            },
            &TangentWeights::MASS,
            &mut m,
        )
        .unwrap();
    let m = dense(size.nv, size.nv, &pattern.tangent, &m);
    let rhs = Column::from_vec(f) - g.transpose() * Column::from_vec(lambda.clone());
    let a = m.lu().solve(&rhs).unwrap();
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
                let model = mechanism(2, kind, closed, &mut random);
                derivatives::<PlanarGeometry, 6>(
                    &model,
                    &mut random,
                    &format!("plane {}", kind.name()),
                );
            }
            for kind in kinds(3) {
                let model = mechanism(3, kind, closed, &mut random);
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
fn free_bodies_have_the_coordinates_they_have_in_absolute_ones() {
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
        let (one, other): (Box<dyn Mechanism>, Box<dyn Mechanism>) = if dimension == 2 {
            (
                Box::new(PlanarRelative::new(&model).unwrap()),
                Box::new(absolute::PlanarAbsolute::new(&model).unwrap()),
            )
        } else {
            (
                Box::new(SpatialRelative::new(&model).unwrap()),
                Box::new(absolute::SpatialAbsolute::new(&model).unwrap()),
            )
        };
        assert_eq!(one.dimensions(), other.dimensions());
        let size = one.dimensions();
        let start = |m: &dyn Mechanism| {
            let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
            m.initial_state(&mut q, &mut v);
            (q, v)
        };
        let ((q0, v0), (q1, v1)) = (start(&*one), start(&*other));
        // Bodies of equal mass are taken in their order.
        for (x, y) in q0.iter().chain(&v0).zip(q1.iter().chain(&v1)) {
            assert!((x - y).abs() < 1e-15, "{x} {y}");
        }
    }
}

#[test]
fn joint_quantities_are_those_of_the_joint_as_written() {
    let mut random = Random::new(12);
    let model = mechanism(3, JointKind::Universal, false, &mut random);
    let system = SpatialRelative::new(&model).unwrap();
    let size = system.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.initial_state(&mut q, &mut v);
    let at = MotionPoint {
        q: &q,
        v: &v,
        a: &vec![0.0; size.nv],
        lambda: &vec![0.0; size.nc],
    };
    for joint in 0..2 {
        for k in 0..2 {
            let quantity = Quantity::Joint(joint, JointField::Position(k));
            let value = system.evaluate(&CX, quantity, &at);
            let expected = model.joints[joint].position[k];
            assert!((value - expected).abs() < 1e-14, "{value} {expected}");
        }
    }
}

#[test]
fn what_is_raised_to_the_bodies_comes_back_and_what_they_do_is_dropped_on_the_joints() {
    let mut random = Random::new(21);
    for kind in kinds(3) {
        let model = mechanism(3, kind, true, &mut random);
        let system = SpatialRelative::with(&model, &[], Some(true)).unwrap();
        let (q, _) = state(&system, false, &mut random);
        let lift = System::descriptor_form(&system).unwrap();
        let (wide, own) = (lift.dimensions().0, system.dimensions().nv);
        let mut geometry = vec![0.0; lift.transformation_len()];
        lift.transformation_at(&q, &mut geometry);
        let z = random.vector(own, 1.0);
        let (mut bodies, mut back) = (vec![0.0; wide], vec![0.0; own]);
        lift.velocity(&geometry, &z, &mut bodies);
        lift.reduce_velocity(&geometry, &bodies, &mut back);
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
        assert!(close(&z, &back), "{}: {z:?} {back:?}", kind.name());
        lift.lift_force(&geometry, &z, &mut bodies);
        lift.generalised_force(&geometry, &mut bodies, &mut back);
        assert!(close(&z, &back), "{}: {z:?} {back:?}", kind.name());
    }
}

#[test]
fn no_cut_changes_the_rank_of_the_closures() {
    let mut random = Random::new(31);
    let model = mechanism(2, JointKind::Revolute, true, &mut random);
    let mut ranks = Vec::new();
    for cut in ["first", "second", "third", "closing"] {
        let system = PlanarRelative::with_cuts(&model, &[cut]).unwrap();
        assert_eq!(system.cut(), [cut]);
        let size = system.dimensions();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        system.initial_state(&mut q, &mut v);
        let pattern = system.sparsity();
        let mut g = vec![0.0; pattern.jacobian.len()];
        system.jacobian(&CX, &q, &mut g);
        ranks.push(dense(size.nc, size.nv, &pattern.jacobian, &g).rank(1e-9));
    }
    assert_eq!(ranks, [2; 4]);
}
