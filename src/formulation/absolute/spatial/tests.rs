//! Spatial absolute coordinates: every derivative against differences.

use crate::formulation::absolute::SpatialAbsolute;
use crate::formulation::derivative_check::{DerivativeCheck, check};
use crate::formulation::{ConfigurationSpace, EvaluationContext, MotionPoint, System};
use crate::linalg::random::Random;
use crate::linalg::rotation;
use crate::model::*;

fn body(name: &str, random: &mut Random) -> Body {
    let mut three = |size: f64| -> [f64; 3] { std::array::from_fn(|_| size * random.signed()) };
    let position = three(1.0);
    let orientation = rotation::exp(&three(1.0).into());
    Body {
        name: name.into(),
        mass: 1.5,
        inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.01],
        position,
        orientation,
        velocity: three(1.0),
        angular_velocity: three(1.0),
        center_of_mass: three(0.2),
        ..Body::default()
    }
}

fn joint(kind: JointKind, random: &mut Random) -> Joint {
    let mut vector = || rotation::Vec3::new(random.signed(), random.signed(), random.signed());
    let axis = vector().normalize();
    let reference_direction = axis.cross(&vector()).normalize();
    let point = vector();
    Joint {
        name: kind.name().into(),
        kind,
        bodies: [Some(0), Some(1)],
        frame: JointPlacement::InitialPose(JointFrame {
            point: point.into(),
            axis: axis.into(),
            reference_direction: reference_direction.into(),
        }),
        position: [0.3, -0.2, 0.1],
        pitch: 0.4,
        length: (kind == JointKind::Distance).then_some(0.7),
        ..Joint::default()
    }
}

/// A random configuration with unit quaternions and matching turn counters.
fn configuration(system: &SpatialAbsolute, random: &mut Random) -> Vec<f64> {
    let size = system.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    crate::formulation::Mechanism::initial_state(system, &mut q, &mut v);
    let w = random.vector(size.nv, 0.7);
    let mut displaced = q.clone();
    system.retract(&q, &w, &mut displaced);
    displaced
}

#[test]
fn derivatives_of_every_joint_agree_with_differences() {
    let mut random = Random::new(3);
    for (name, kind) in JointKind::ALL {
        let mut joints = vec![joint(kind, &mut random)];
        if kind == JointKind::Coupling {
            joints = vec![
                joint(JointKind::Cylindrical, &mut random),
                joint(JointKind::Revolute, &mut random),
            ];
            joints[1].bodies = [Some(1), Some(2)];
            joints.push(Joint {
                kind,
                frame: JointPlacement::None,
                coupling: Some(Coupling {
                    coordinates: [
                        JointCoordinate { joint: 0, index: 1 },
                        JointCoordinate { joint: 1, index: 0 },
                    ],
                    law: CouplingLaw::Curve(Curve::Polynomial(vec![0.1, 2.0, 0.5, -0.3])),
                    summands: vec![],
                }),
                ..Joint::default()
            });
        }
        let spring = Force {
            name: "spring".into(),
            kind: ForceKind::SpringDamper(crate::model::SpringDefinition {
                stiffness: (30.0).into(),
                damping: (2.0).into(),
                length: 0.4,
                ..Default::default()
            }),
            on: ForceApplication::Points {
                bodies: [Some(0), Some(1)],
                points: [[0.1, 0.2, -0.1], [0.0, 0.3, 0.2]],
            },
            text_position: TextPosition::default(),
        };
        let model = Model {
            gravity: [0.3, -0.2, -9.81],
            bodies: vec![
                body("a", &mut random),
                body("b", &mut random),
                body("c", &mut random),
            ],
            joints,
            forces: vec![spring],
            ..Model::default()
        };
        let system = SpatialAbsolute::new(&model).unwrap();
        let size = system.dimensions();
        let cx = EvaluationContext {
            t: 0.3,
            u: &[],
            u_dot: &[],
            u_ddot: &[],
            p: &[],
            modes: &[],
            integrals: &[],
        };
        for round in 0..3 {
            let q = configuration(&system, &mut random);
            let at = MotionPoint {
                q: &q,
                v: &random.vector(size.nv, 2.0),
                a: &random.vector(size.nv, 3.0),
                lambda: &random.vector(size.nc, 3.0),
            };
            if let Err(text) = check(&system, &cx, &at, &DerivativeCheck::default()) {
                panic!("{name}, round {round}:\n{text}");
            }
        }
    }
}
