//! Planar absolute coordinates: sparsity, norm, energy, quantities and reaction forces without an integrator.

use super::example::*;
use super::planar_part as plane;
use super::pose::{PlanarPose, Vec2};
use crate::formulation::absolute::PlanarAbsolute;
use crate::formulation::build;
use crate::formulation::*;
use crate::model::quantity::{BodyField, EnergyField, ForceField, JointField, Quantity};
use crate::model::{
    ForceApplication, FormulationName, Input, JointCoordinate, JointKind, JointPlacement,
    Parameter, Sensor, Target, TextPosition,
};

const G: f64 = 9.81;

fn close(given: f64, expected: f64) {
    assert!(
        (given - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
        "{given} instead of {expected}"
    );
}

fn fields(joint: usize) -> [Quantity; 3] {
    [
        JointField::Force(0),
        JointField::Force(1),
        JointField::Moment(2),
    ]
    .map(|f| Quantity::Joint(joint, f))
}

#[test]
fn a_released_horizontal_bar_loads_its_pin_with_a_quarter_of_its_weight() {
    // Uniform bar on a pin: α = −3g/(2l), so the pin carries m g − m (l/2) 3g/(2l) = m g/4.
    let (m, l) = (2.0, 1.5);
    let bar = body("bar", m, m * l * l / 12.0, [l / 2.0, 0.0], 0.0);
    let solved = Solved::new(&model(
        [0.0, -G],
        vec![bar],
        vec![pin([None, Some(0)], [0.0, 0.0])],
        vec![],
    ));
    let [fx, fy, mz] = fields(0).map(|f| solved.get(f));
    close(fx, 0.0);
    close(fy, m * G / 4.0);
    close(mz, 0.0);
    close(solved.a[2], -1.5 * G / l);
}

#[test]
fn a_pendulum_loads_its_pin_with_weight_and_centripetal_force() {
    // At the bottom with speed w: the rod carries m (g + w² l).
    let (m, l, w) = (3.0, 0.7, 4.0);
    let mut bob = body("bob", m, 0.0, [0.0, -l], 0.0);
    bob.velocity = [w * l, 0.0, 0.0];
    bob.angular_velocity = [0.0, 0.0, w];
    let solved = Solved::new(&model(
        [0.0, -G],
        vec![bob],
        vec![pin([None, Some(0)], [0.0, 0.0])],
        vec![],
    ));
    let [fx, fy, _] = fields(0).map(|f| solved.get(f));
    close(fx, 0.0);
    close(fy, m * (G + w * w * l));
}

#[test]
fn a_beam_on_two_supports_has_the_static_reactions() {
    // Pin at 0, roller (a massless block that slides along x and carries a pin) at 4; centre of mass at 1.
    let (m, l, c) = (10.0, 4.0, 1.0);
    let beam = body("beam", m, 3.0, [c, 0.0], 0.0);
    let block = body("block", 0.0, 0.0, [l, 0.0], 0.0);
    let solved = Solved::new(&model(
        [0.0, -G],
        vec![beam, block],
        vec![
            pin([None, Some(0)], [0.0, 0.0]),
            joint(JointKind::Prismatic, [None, Some(1)], [l, 0.0], [1.0, 0.0]),
            pin([Some(1), Some(0)], [l, 0.0]),
        ],
        vec![],
    ));
    close(solved.get(fields(0)[1]), m * G * (l - c) / l);
    close(solved.get(fields(2)[1]), m * G * c / l);
    // The block passes the reaction of the beam to the ground; nothing rotates.
    close(solved.get(fields(1)[1]), m * G * c / l);
    close(solved.get(fields(1)[2]), 0.0);
    for a in &solved.a {
        close(*a, 0.0);
    }
}

#[test]
fn a_prismatic_joint_on_an_incline_carries_the_moment_of_an_eccentric_weight() {
    // Axis at 30 degrees; joint point 0.2 from the centre of mass along the axis and 0.1 across.
    let (m, phi) = (2.0, std::f64::consts::FRAC_PI_6);
    let (t, n) = (
        Vec2::new(phi.cos(), phi.sin()),
        Vec2::new(-phi.sin(), phi.cos()),
    );
    let r = Vec2::new(1.0, 2.0);
    let p = r - 0.2 * t - 0.1 * n;
    let solved = Solved::new(&model(
        [0.0, -G],
        vec![body("cart", m, 0.4, [r.x, r.y], 0.3)],
        vec![joint(
            JointKind::Prismatic,
            [None, Some(0)],
            [p.x, p.y],
            [t.x, t.y],
        )],
        vec![],
    ));
    // Slides with −g sin φ; the rest of the weight is normal to the axis and pulls 0.2 in front of the joint point.
    let normal = m * G * phi.cos();
    close(
        solved.get(Quantity::Joint(0, JointField::Acceleration(0))),
        -G * phi.sin(),
    );
    let [fx, fy, mz] = fields(0).map(|f| solved.get(f));
    close(fx, normal * n.x);
    close(fy, normal * n.y);
    // Moments about the centre of mass: mz + (p − r) x F = 0.
    close(mz, 0.2 * normal);
}

/// A moving linkage with every element: crank, rod, slider on a tilted guide that itself hangs on a swing.
fn linkage() -> crate::model::Model {
    let mut crank = body("crank", 1.0, 0.1, [0.4, 0.1], 0.3);
    crank.center_of_mass = [0.1, -0.05, 0.0];
    crank.angular_velocity[2] = 2.0;
    crank.velocity = [-0.3, 0.4, 0.0];
    let rod = body("rod", 1.5, 0.3, [1.0, 0.5], -0.4);
    let slider = body("slider", 0.8, 0.05, [1.5, 0.2], 0.2);
    let swing = body("swing", 2.0, 0.5, [1.0, -1.0], 0.0);
    let mut model = model(
        [0.5, -G],
        vec![crank, rod, slider, swing],
        vec![
            pin([None, Some(0)], [0.0, 0.0]),
            pin([Some(0), Some(1)], [0.7, 0.6]),
            pin([Some(2), Some(1)], [1.4, 0.25]),
            joint(
                JointKind::Prismatic,
                [Some(3), Some(2)],
                [1.5, 0.1],
                [0.8, 0.6],
            ),
            pin([Some(3), None], [1.0, 0.5]),
        ],
        vec![
            spring(
                [Some(0), Some(2)],
                [[0.2, 0.1], [0.0, -0.3]],
                [50.0, 2.0, 0.4],
            ),
            spring(
                [None, Some(3)],
                [[1.0, -3.0], [0.1, -0.2]],
                [80.0, 0.0, 1.0],
            ),
            actuator(
                ForceApplication::Joint(JointCoordinate { joint: 0, index: 0 }),
                3.0,
            ),
            actuator(
                ForceApplication::Joint(JointCoordinate { joint: 3, index: 0 }),
                -4.0,
            ),
            actuator(
                ForceApplication::Points {
                    bodies: [Some(1), None],
                    points: [[0.1, 0.2, 0.0], [3.0, 1.0, 0.0]],
                },
                6.0,
            ),
        ],
    );
    model.sensors = vec![
        Sensor {
            name: "tip".into(),
            body: Some(0),
            point: [0.5, 0.3, 0.0],
            text_position: TextPosition::default(),
        },
        Sensor {
            name: "post".into(),
            body: None,
            point: [0.5, 0.3, 0.0],
            text_position: TextPosition::default(),
        },
    ];
    model
}

#[test]
fn derivatives_of_a_linkage_agree_with_differences() {
    check_at_random(&linkage());
}

#[test]
fn derivatives_agree_with_differences_for_inputs_and_parameters() {
    let mut model = linkage();
    let targets = [
        Target::BodyMass(0),
        Target::BodyInertia(1),
        Target::ForceStiffness(0),
        Target::ForceLength(0),
        Target::ForceEffort(4),
        Target::Gravity(1),
    ];
    model.inputs = targets
        .iter()
        .map(|&target| Input {
            name: "u".into(),
            target,
            unit: None,
            start: 0.0,
            text_position: TextPosition::default(),
        })
        .collect();
    model.parameters = [(Target::ForceDamping(1), 3.0), (Target::BodyMass(2), 0.5)]
        .iter()
        .map(|&(target, start)| Parameter {
            name: "p".into(),
            target,
            unit: None,
            start,
            text_position: TextPosition::default(),
        })
        .collect();
    check_at_random(&model);
}

#[test]
fn reaction_forces_satisfy_newton_euler_for_each_body() {
    // Newton-Euler equations of each body: reported reaction forces, element forces, weight.
    let mut model = linkage();
    model.forces.truncate(2);
    let solved = Solved::new(&model);
    for b in 0..4 {
        let (m, inertia) = (model.bodies[b].mass, model.bodies[b].inertia[2]);
        let pose = PlanarPose::new(solved.q[3 * b], solved.q[3 * b + 1], solved.q[3 * b + 2]);
        let mut force = m * Vec2::new(0.5, -G);
        let mut moment = 0.0;
        for (k, joint) in model.joints.iter().enumerate() {
            let JointPlacement::InitialPose(frame) = &joint.frame else {
                unreachable!()
            };
            let Some(side) = joint.bodies.iter().position(|&x| x == Some(b)) else {
                continue;
            };
            // The opposite force acts on bodies[0] at the same point.
            let sign = if side == 1 { 1.0 } else { -1.0 };
            let [fx, fy, mz] = fields(k).map(|f| solved.get(f));
            let f = sign * Vec2::new(fx, fy);
            force += f;
            moment += sign * mz + (plane(frame.point) - pose.r).perp(&f);
        }
        for (k, element) in model.forces.iter().enumerate() {
            let ForceApplication::Points { bodies, points } = &element.on else {
                unreachable!()
            };
            let ends = [0, 1].map(|e| {
                let at = bodies[e].map_or(PlanarPose::GROUND, |b| {
                    PlanarPose::new(solved.q[3 * b], solved.q[3 * b + 1], solved.q[3 * b + 2])
                });
                at.r + at.to_ground(
                    <super::PlanarGeometry as crate::formulation::absolute::geometry::Geometry<
                        6,
                    >>::point(&model, bodies[e], points[e])
                    .s,
                )
            });
            let pull = solved.get(Quantity::Force(k, ForceField::Force));
            for e in 0..2 {
                if bodies[e] == Some(b) {
                    let f = pull * (ends[1 - e] - ends[e]).normalize();
                    force += f;
                    moment += (ends[e] - pose.r).perp(&f);
                }
            }
        }
        close(m * solved.a[3 * b], force.x);
        close(m * solved.a[3 * b + 1], force.y);
        close(inertia * solved.a[3 * b + 2], moment);
    }
}

#[test]
fn quantities_of_velocity_and_acceleration_are_time_derivatives() {
    let model = linkage();
    let solved = Solved::new(&model);
    let n = solved.q.len();
    let at = |dt: f64, quantity: Quantity| {
        let q: Vec<f64> = (0..n)
            .map(|i| solved.q[i] + dt * (solved.v[i] + 0.5 * dt * solved.a[i]))
            .collect();
        let v: Vec<f64> = (0..n).map(|i| solved.v[i] + dt * solved.a[i]).collect();
        let motion = MotionPoint {
            q: &q,
            v: &v,
            ..solved.motion()
        };
        solved.system.evaluate(&STILL, quantity, &motion)
    };
    let slope = |quantity| {
        let e = 1e-3;
        (8.0 * (at(e, quantity) - at(-e, quantity))
            - (at(2.0 * e, quantity) - at(-2.0 * e, quantity)))
            / (12.0 * e)
    };
    let mut pairs = vec![(
        Quantity::Force(0, ForceField::Length),
        Quantity::Force(0, ForceField::Rate),
    )];
    for joint in 0..5 {
        let of = |f| Quantity::Joint(joint, f);
        pairs.push((of(JointField::Position(0)), of(JointField::Speed(0))));
        pairs.push((of(JointField::Speed(0)), of(JointField::Acceleration(0))));
    }
    let of: [&dyn Fn(BodyField) -> Quantity; 3] = [
        &|f| Quantity::Body(0, f),
        &|f| Quantity::Sensor(0, f),
        &|f| Quantity::Sensor(1, f),
    ];
    for of in of {
        for k in 0..2 {
            pairs.push((of(BodyField::Position(k)), of(BodyField::Velocity(k))));
            pairs.push((of(BodyField::Velocity(k)), of(BodyField::Acceleration(k))));
        }
        pairs.push((of(BodyField::Angle), of(BodyField::AngularVelocity(2))));
        pairs.push((
            of(BodyField::AngularVelocity(2)),
            of(BodyField::AngularAcceleration(2)),
        ));
    }
    for (first, second) in pairs {
        let (given, expected) = (at(0.0, second), slope(first));
        // Differences of fourth order with e = 1e-3 s on a motion that takes 0.1 s: 1e-8 relative.
        assert!(
            (given - expected).abs() < 1e-7 * (1.0 + expected.abs()),
            "{second:?}: {given} instead of {expected}"
        );
    }
}

#[test]
fn the_initial_state_does_not_depend_on_the_centre_of_mass_offset() {
    let mut model = linkage();
    let solved = Solved::new(&model);
    let at_start = |field| solved.get(Quantity::Body(0, field));
    close(at_start(BodyField::Position(0)), 0.4);
    close(at_start(BodyField::Position(1)), 0.1);
    close(at_start(BodyField::Velocity(0)), -0.3);
    close(at_start(BodyField::Velocity(1)), 0.4);
    close(at_start(BodyField::Angle), 0.3);
    // The same body written by its centre of mass gives the same coordinates.
    let (q, v) = (solved.q, solved.v);
    model.bodies[0].position = [q[0], q[1], 0.0];
    model.bodies[0].velocity = [v[0], v[1], 0.0];
    model.bodies[0].center_of_mass = [0.0; 3];
    let again = Solved::new(&model);
    assert_eq!((again.q, again.v), (q, v));
}

#[test]
fn components_out_of_the_plane_are_zero_and_foreign_quantities_nan() {
    let solved = Solved::new(&linkage());
    assert!(solved.get(Quantity::Time).is_nan());
    assert!(solved.get(Quantity::Energy(EnergyField::Total)).is_nan());
    assert_eq!(solved.get(Quantity::Body(0, BodyField::Position(2))), 0.0);
    assert_eq!(
        solved.get(Quantity::Body(0, BodyField::AngularVelocity(0))),
        0.0
    );
    assert_eq!(solved.get(Quantity::Joint(0, JointField::Force(2))), 0.0);
    assert_eq!(solved.get(Quantity::Joint(0, JointField::Moment(0))), 0.0);
}

#[test]
fn constraints_and_coordinates_have_the_names_of_their_elements() {
    let system = PlanarAbsolute::new(&linkage()).unwrap();
    assert_eq!(system.coordinate_name(0), "crank.x");
    assert_eq!(system.coordinate_name(11), "swing.angle");
    assert_eq!(system.constraint_name(3), "joint_at_0.7_0.6");
    assert_eq!(system.constraint_name(9), "joint_at_1_0.5");
    let scales: Vec<f64> = (0..10).map(|i| system.constraint_scale(i)).collect();
    let l = system.length();
    assert_eq!(scales, [l, l, l, l, l, l, 1.0, l, l, l]);
}

#[test]
fn the_norm_is_the_largest_displacement_of_a_body_relative_to_the_length() {
    let bodies = vec![
        body("a", 2.0, 0.5, [0.0, 0.0], 0.0),
        body("massless", 0.0, 0.0, [0.0, 0.0], 0.0),
        body("b", 1.0, 4.0, [3.0, 4.0], 0.0),
    ];
    let system = PlanarAbsolute::new(&model([0.0; 2], bodies, vec![], vec![])).unwrap();
    // Twice the radius of gyration of b; the distance of the bodies does not count.
    assert_eq!(system.length(), 4.0);
    let mut e = [0.3, 0.4, 0.1, 100.0, 100.0, 100.0, 0.0, 0.0, 0.2];
    close(system.norm(&STILL, &e, &e, &e), 0.5 / 4.0);
    // A rotation counts half: the displacement of a point at half the length.
    e[8] = 0.5;
    close(system.norm(&STILL, &e, &e, &e), 0.25);
    e[0] = f64::NAN;
    assert!(system.norm(&STILL, &e, &e, &e).is_nan());
}

#[test]
fn the_norm_does_not_depend_on_the_unit_of_length() {
    let in_metres = linkage();
    let mut in_millimetres = in_metres.clone();
    for body in &mut in_millimetres.bodies {
        for x in [&mut body.position, &mut body.center_of_mass] {
            *x = x.map(|x| 1000.0 * x);
        }
        body.inertia[2] *= 1e6;
    }
    for joint in &mut in_millimetres.joints {
        if let JointPlacement::InitialPose(frame) = &mut joint.frame {
            frame.point = frame.point.map(|x| 1000.0 * x);
        }
    }
    let e: Vec<f64> = (0..12).map(|i| 0.01 * (1.0 + i as f64)).collect();
    let scaled: Vec<f64> = (0..12)
        .map(|i| if i % 3 == 2 { e[i] } else { 1000.0 * e[i] })
        .collect();
    let norm = |model: &crate::model::Model, e: &[f64]| {
        PlanarAbsolute::new(model).unwrap().norm(&STILL, e, e, e)
    };
    close(norm(&in_millimetres, &scaled), norm(&in_metres, &e));
}

#[test]
fn damping_is_a_property_of_the_system() {
    let with = |damping: f64| {
        let bodies = vec![body("a", 1.0, 1.0, [1.0, 0.0], 0.0)];
        let force = spring([None, Some(0)], [[0.0; 2]; 2], [10.0, damping, 0.5]);
        model([0.0; 2], bodies, vec![], vec![force])
    };
    let velocity_forces =
        |m: &crate::model::Model| PlanarAbsolute::new(m).unwrap().properties().velocity_forces;
    assert!(!velocity_forces(&with(0.0)));
    assert!(velocity_forces(&with(0.1)));
    let mut settable = with(0.0);
    settable.parameters.push(Parameter {
        name: "d".into(),
        target: Target::ForceDamping(0),
        unit: None,
        start: 0.0,
        text_position: TextPosition::default(),
    });
    assert!(velocity_forces(&settable));
}

#[test]
fn every_formulation_can_be_built() {
    let mut model = linkage();
    assert!(build(&model).is_ok());
    for formulation in [
        FormulationName::Absolute,
        FormulationName::Relative,
        FormulationName::Global,
        FormulationName::Hybrid,
        FormulationName::Topological,
    ] {
        model.solver.formulation = formulation;
        assert!(build(&model).is_ok());
    }
    model.solver.formulation = FormulationName::Auto;
    model.dimension = 3;
    assert!(build(&model).is_ok(), "the same bodies in space");
    let text = PlanarAbsolute::new(&model).err().unwrap().to_string();
    assert!(text.contains("dimension = 3"), "{text}");
}

#[test]
fn degenerate_elements_are_errors_with_a_text_position() {
    let refused = |change: &dyn Fn(&mut crate::model::Model)| {
        let mut model = linkage();
        change(&mut model);
        PlanarAbsolute::new(&model).err().unwrap().to_string()
    };
    let text = refused(&|m| {
        m.joints[3].frame = JointPlacement::InitialPose(frame([1.5, 0.1], [0.0, 0.0]))
    });
    assert!(text.contains(":7:3:") && text.contains("axis"), "{text}");
    let text = refused(&|m| m.joints[1].bodies = [Some(1), Some(1)]);
    assert!(text.contains(":7:3:") && text.contains("itself"), "{text}");
    let text = refused(&|m| {
        m.joints[1].frame = JointPlacement::InitialPose(frame([f64::NAN, 0.1], [0.0, 0.0]))
    });
    assert!(text.contains("not finite"), "{text}");
    let text = refused(&|m| m.bodies[1].mass = -1.0);
    assert!(text.contains("\"rod\""), "{text}");
    let text = refused(&|m| {
        m.forces[2].on = ForceApplication::Joint(JointCoordinate {
            joint: 99,
            index: 0,
        })
    });
    assert!(text.contains("\"motor\""), "{text}");
    let text = refused(&|m| m.solver.length = Some(0.0));
    assert!(text.contains("solver.length"), "{text}");
    let twice = |m: &mut crate::model::Model| {
        for _ in 0..2 {
            m.parameters.push(Parameter {
                name: "p".into(),
                target: Target::BodyMass(0),
                unit: None,
                start: 1.0,
                text_position: TextPosition::default(),
            });
        }
    };
    assert!(refused(&twice).contains("\"p\""));
}
