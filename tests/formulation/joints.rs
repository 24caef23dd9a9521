//! One suite over all joints and both dimensions: derivatives, degrees of freedom removed, reactions against Newton and Euler,
//! energy, both ways of writing a joint, order, coordinates, turns.

use std::f64::consts::TAU;

use crate::rig::{Rig, drawn, fixed, given, seen, sensor, slope, world};
use biela::component::Instance;
use biela::formulation::derivative_check::{DerivativeCheck, check};
use biela::formulation::{MotionPoint, build};
use biela::linalg::random::Random;
use biela::linalg::rotation::{self, Mat3, Vec3};
use biela::model::quantity::{BodyField, JointField, Quantity};
use biela::model::*;
use nalgebra::DMatrix;

/// A joint in a dimension, and the degrees of freedom it takes.
#[derive(Clone, Copy, Debug)]
struct Case {
    dimension: usize,
    kind: JointKind,
    removes: usize,
}

/// Every joint wherever it exists.
fn cases() -> Vec<Case> {
    use JointKind::*;
    let plane = [
        (Fixed, 3),
        (Revolute, 2),
        (Prismatic, 2),
        (Distance, 1),
        (PointOnLine, 1),
        (Coupling, 1),
    ];
    let space = [
        (Fixed, 6),
        (Revolute, 5),
        (Prismatic, 5),
        (Cylindrical, 4),
        (Spherical, 3),
        (Universal, 4),
        (Gimbal, 3),
        (Planar, 3),
        (Cartesian, 3),
        (Screw, 5),
        (Distance, 1),
        (PointOnLine, 2),
        (Coupling, 1),
    ];
    assert_eq!(space.len(), JointKind::ALL.len());
    let all = |dimension, list: &[(JointKind, usize)]| {
        list.iter()
            .map(move |&(kind, removes)| Case {
                dimension,
                kind,
                removes,
            })
            .collect::<Vec<_>>()
    };
    [all(2, &plane), all(3, &space)].concat()
}

/// A body of general shape and motion.
fn solid(name: &str, dimension: usize, position: [f64; 3], random: &mut Random) -> Body {
    let mut three = |size: f64| -> [f64; 3] { [0; 3].map(|_| size * random.signed()) };
    let (turned, velocity, spin, center) = (three(1.0), three(0.5), three(1.5), three(0.1));
    let mut body = Body {
        name: name.into(),
        mass: 1.5,
        inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.01],
        position,
        angle: turned[2],
        orientation: rotation::exp(&Vec3::from(turned)),
        velocity,
        angular_velocity: spin,
        center_of_mass: center,
        ..Body::default()
    };
    if dimension == 2 {
        body.velocity[2] = 0.0;
        body.angular_velocity = [0.0, 0.0, spin[2]];
        body.center_of_mass[2] = 0.0;
    }
    body
}

/// A joint drawn at a point with a general axis.
fn general(kind: JointKind, dimension: usize, bodies: [BodyRef; 2], random: &mut Random) -> Joint {
    let mut vector = || Vec3::new(random.signed(), random.signed(), random.signed());
    let mut axis = vector();
    if dimension == 2 {
        axis.z = 0.0;
    }
    let axis = axis.normalize();
    let across = match dimension {
        2 => Vec3::zeros(),
        _ => axis.cross(&vector()).normalize(),
    };
    Joint {
        name: format!("{}{}", kind.name(), bodies[1].unwrap_or(9)),
        kind,
        bodies,
        frame: JointPlacement::InitialPose(JointFrame {
            point: [0.9, -0.3, if dimension == 2 { 0.0 } else { 0.2 }],
            axis: axis.into(),
            reference_direction: across.into(),
        }),
        position: [0.3, -0.2, 0.1],
        pitch: 0.7,
        ..Joint::default()
    }
}

/// The coupling of the first coordinates of two joints by a cam that fits where they start.
fn cam(joints: [usize; 2], start: f64) -> Joint {
    let [a, b] = joints.map(|joint| JointCoordinate { joint, index: 0 });
    // F(0.3) = start.
    let bent = vec![start - 0.8 * 0.3 - 0.2 * 0.09, 0.8, 0.2];
    Joint {
        name: "coupling".into(),
        kind: JointKind::Coupling,
        frame: JointPlacement::None,
        coupling: Some(Coupling {
            coordinates: [a, b],
            law: CouplingLaw::Curve(Curve::Polynomial(bent)),
            summands: vec![],
        }),
        ..Joint::default()
    }
}

/// The joint alone between two free bodies; a coupling between two pins that hang from the ground.
fn alone(case: Case) -> Model {
    let mut random = Random::new(11 + case.kind as u64);
    let d = case.dimension;
    let mut model = world(d, 9.81);
    model.name = format!("{:?}", case);
    model.bodies = vec![
        solid("a", d, [0.4, 0.1, 0.0], &mut random),
        solid("b", d, [1.3, -0.8, 0.0], &mut random),
    ];
    model.joints = if case.kind == JointKind::Coupling {
        let mut first = general(JointKind::Revolute, d, [None, Some(0)], &mut random);
        if let JointPlacement::InitialPose(frame) = &mut first.frame {
            frame.point = [0.1, 0.2, 0.0];
        }
        let second = general(JointKind::Revolute, d, [Some(0), Some(1)], &mut random);
        let start = second.position[0];
        vec![first, second, cam([0, 1], start)]
    } else {
        vec![general(case.kind, d, [Some(0), Some(1)], &mut random)]
    };
    if case.kind == JointKind::Distance {
        // Its points are apart.
        let points = [[0.5, 0.1, 0.0], [1.2, -0.4, 0.0]];
        let frames = [0, 1].map(|k| JointFrame {
            point: seen(&model, Some(k), points[k]),
            ..JointFrame::default()
        });
        model.joints[0].frame = JointPlacement::BodyFrames(frames);
    }
    model
}

/// The same, the first body hung up in the ground.
fn hung(case: Case) -> Model {
    let mut model = alone(case);
    if case.kind != JointKind::Coupling {
        let kind = match case.dimension {
            2 => JointKind::Revolute,
            _ => JointKind::Spherical,
        };
        // Only a reference from which angles are counted where the joint is given in its bodies.
        let axis = [1.0, 0.0, 0.0];
        let hook = drawn("hook", kind, [None, Some(0)], [0.1, 0.2, 0.0], axis);
        model.joints.push(hook);
    }
    // Where the loads act, and the centres of mass.
    for joint in model.joints.clone() {
        let body = joint.bodies[1];
        let point = match joint.frame {
            JointPlacement::InitialPose(frame) => seen(&model, body, frame.point),
            JointPlacement::BodyFrames(frames) => frames[1].point,
            // The load of a coupling is that on the second joint's body at the second joint's point.
            JointPlacement::None => model.sensors[1].point,
        };
        let body = if joint.kind == JointKind::Coupling {
            Some(1)
        } else {
            body
        };
        model.sensors.push(sensor(body, point));
    }
    for b in 0..2 {
        model
            .sensors
            .push(sensor(Some(b), model.bodies[b].center_of_mass));
    }
    model
}

/// An assembled pose off the start, with rates and accelerations that fit.
fn somewhere(model: &Model, random: &mut Random) -> Rig {
    let rig = Rig::new(model);
    let size = rig.mechanism.dimensions();
    let q = rig.moved(&random.vector(size.nv, 0.4));
    Rig::start_at(model, &q, &random.vector(size.nv, 1.0)).unwrap()
}

fn jacobian(rig: &Rig) -> DMatrix<f64> {
    let size = rig.mechanism.dimensions();
    let places = rig.mechanism.sparsity().jacobian;
    let mut values = vec![0.0; places.len()];
    (rig.mechanism).jacobian(&rig.context(), &rig.state.q, &mut values);
    let mut g = DMatrix::zeros(size.nc, size.nv);
    for (&(i, j), x) in places.iter().zip(values) {
        g[(i as usize, j as usize)] += x;
    }
    g
}

#[test]
fn derivatives_agree_with_finite_differences() {
    let mut random = Random::new(1);
    for case in cases() {
        for model in [alone(case), hung(case)] {
            for _ in 0..3 {
                let rig = somewhere(&model, &mut random);
                let size = rig.mechanism.dimensions();
                let at = MotionPoint {
                    v: &random.vector(size.nv, 2.0),
                    a: &random.vector(size.nv, 3.0),
                    lambda: &random.vector(size.nc, 3.0),
                    ..rig.motion()
                };
                check(
                    &*rig.mechanism,
                    &rig.context(),
                    &at,
                    &DerivativeCheck::default(),
                )
                .unwrap_or_else(|e| panic!("{case:?}\n{e}"));
            }
        }
    }
}

#[test]
fn a_joint_removes_the_degrees_of_freedom_it_should() {
    let mut random = Random::new(2);
    for case in cases() {
        let model = alone(case);
        let others = match (case.kind, case.dimension) {
            (JointKind::Coupling, 2) => 4,
            (JointKind::Coupling, _) => 10,
            _ => 0,
        };
        for _ in 0..4 {
            let rig = somewhere(&model, &mut random);
            let g = jacobian(&rig);
            assert_eq!(g.nrows(), case.removes + others, "{case:?}");
            // Singular values that are zero are rounding; the others are those of unit vectors and levers of a metre.
            let singular = g.singular_values();
            assert!(singular.min() > 1e-3, "{case:?} {singular}");
            assert_eq!(rig.report.rank, g.nrows(), "{case:?}");
        }
    }
}

/// m (r̈ − g) and d(J ω)/dt of a body against the loads the joints report, at a reference point: the worst rest over the largest
/// load.
fn unbalanced(rig: &Rig) -> f64 {
    let model = &rig.model;
    let joints = model.joints.len();
    let gravity = Vec3::from(model.gravity);
    let (mut rest, mut largest) = (0.0_f64, 1e-3_f64);
    for (b, body) in model.bodies.iter().enumerate() {
        let center = rig.of_sensor(joints + b, BodyField::Position);
        let acceleration = rig.of_sensor(joints + b, BodyField::Acceleration);
        let w = rig.of_body(b, BodyField::AngularVelocity);
        let alpha = rig.of_body(b, BodyField::AngularAcceleration);
        let [xx, yy, zz, xy, xz, yz] = body.inertia;
        let j = match model.dimension {
            2 => Mat3::from_diagonal(&Vec3::new(0.0, 0.0, zz)),
            _ => Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        };
        let r = rig.rotation(b);
        let j = r * j * r.transpose();
        let mut force = body.mass * (acceleration - gravity);
        let mut moment = j * alpha + w.cross(&(j * w));
        let mut take = |at: Vec3, f: Vec3, m: Vec3| {
            force -= f;
            moment -= m + (at - center).cross(&f);
            largest = largest.max(f.norm()).max(m.norm());
        };
        for (k, joint) in model.joints.iter().enumerate() {
            let at = rig.of_sensor(k, BodyField::Position);
            let (f, m) = (
                rig.of_joint(k, JointField::Force),
                rig.of_joint(k, JointField::Moment),
            );
            if joint.kind == JointKind::Coupling {
                // The second pin carries τ about its axis, the first −F' τ: no power is lost.
                let law = joint.coupling.as_ref().unwrap();
                let CouplingLaw::Curve(Curve::Polynomial(c)) = &law.law else {
                    unreachable!()
                };
                let s = rig.coordinate(0, 0)[0];
                let ratio = c[1] + 2.0 * c[2] * s;
                let axes = [0, 1].map(|k| axis_now(rig, k));
                let effort = m.dot(&axes[1]);
                assert!((m - effort * axes[1]).norm() < 1e-9 * (1.0 + m.norm()));
                assert!(f.norm() < 1e-9 * (1.0 + m.norm()));
                let on_first = -ratio * effort * axes[0];
                let load = [on_first - m, m][b];
                take(center, Vec3::zeros(), load);
            } else if joint.bodies[1] == Some(b) {
                take(at, f, m);
            } else if joint.bodies[0] == Some(b) {
                take(at, -f, -m);
            }
        }
        if model.dimension == 2 {
            moment = Vec3::new(0.0, 0.0, moment.z);
            force.z = 0.0;
        }
        rest = rest.max(force.norm()).max(moment.norm());
    }
    rest / largest
}

/// The axis of a drawn pin now, from its body's rotation since the start.
fn axis_now(rig: &Rig, joint: usize) -> Vec3 {
    let JointPlacement::InitialPose(frame) = rig.model.joints[joint].frame else {
        unreachable!()
    };
    if rig.model.dimension == 2 {
        return Vec3::z();
    }
    let b = rig.model.joints[joint].bodies[1].unwrap();
    let start = rotation::matrix(&rotation::normalized(&rig.model.bodies[b].orientation));
    rig.rotation(b) * start.transpose() * Vec3::from(frame.axis)
}

#[test]
fn reactions_are_those_of_newton_and_euler() {
    for case in cases() {
        let mut model = hung(case);
        model.solver.tolerance = 1e-6;
        let mut rig = Rig::new(&model);
        for k in 0..=4 {
            rig.to(0.2 * f64::from(k));
            // Accelerations and multipliers solve the equations of the point itself, to the rest of their refinement.
            let rest = unbalanced(&rig);
            assert!(rest < 1e-9, "{case:?} at {}: {rest:e}", rig.state.t);
        }
    }
}

#[test]
fn energy_is_conserved_and_loops_stay_closed() {
    for case in cases() {
        let mut model = hung(case);
        model.solver.tolerance = 1e-6;
        let mut rig = Rig::new(&model);
        let start = rig.energy();
        let (mut worst, mut open) = (0.0_f64, 0.0_f64);
        while rig.state.t < 2.0 {
            rig.advance(2.0);
            worst = worst.max((rig.energy() - start).abs());
            open = open.max(rig.closure());
        }
        println!(
            "{case:?}: {worst:.1e} J, closure {open:.1e}, {} steps",
            rig.state.statistics.steps
        );
        // Kinetic energies are some 20 J; the corrected steps leave errors of about the tolerance.
        assert!(worst < 2e-4, "{case:?}: {worst:e}");
        assert!(open <= 1e-10, "{case:?}: {open:e}");
    }
}

#[test]
fn a_joint_given_in_the_ground_frame_and_one_given_in_its_bodies_move_alike() {
    for case in cases() {
        let model = hung(case);
        let mut other = model.clone();
        other.joints = model.joints.iter().map(|j| given(&model, j)).collect();
        let (mut a, mut b) = (Rig::new(&model), Rig::new(&other));
        let mut compare = |t: f64| {
            a.to(t);
            b.to(t);
            let apart = a.distance(&b);
            // Only the rounding of the frames differs; it may have changed a step size by as much.
            assert!(apart < 1e-10, "{case:?} at {t}: {apart:e}");
            for (k, joint) in model.joints.iter().enumerate() {
                for c in 0..joint.kind.coordinates(case.dimension) {
                    let (x, y) = (a.coordinate(k, c), b.coordinate(k, c));
                    for (x, y) in x.iter().zip(y) {
                        assert!((x - y).abs() < 1e-8, "{case:?} at {t}: {x} {y}");
                    }
                }
            }
        };
        compare(0.0);
        compare(0.7);
    }
}

#[test]
fn the_method_keeps_its_order_with_every_joint() {
    for case in cases() {
        let model = hung(case);
        let run = |h: f64, corrector| {
            let mut model = model.clone();
            model.solver = fixed(h, corrector);
            let mut rig = Rig::new(&model);
            rig.to(0.32);
            rig
        };
        let exact = run(0.000625, Corrector::Auto);
        for (corrector, order, steps) in [
            (Corrector::Off, 2.0, [0.01, 0.005, 0.0025]),
            (Corrector::Auto, 4.0, [0.02, 0.01, 0.005]),
        ] {
            let errors = steps.map(|h| run(h, corrector).distance(&exact));
            let found = slope(&steps, &errors);
            println!("{case:?} {order}: {found:.2} {errors:?}");
            // The last error of order 4 is 4 decades above the reference's own. At finite h the slope is off by h/T.
            assert!(
                (found - order).abs() < 0.25 * order.sqrt(),
                "{case:?}: order {found}, {errors:?}"
            );
        }
    }
}

#[test]
fn speeds_and_accelerations_are_derivatives_of_positions() {
    let mut random = Random::new(5);
    for case in cases() {
        let model = hung(case);
        let rig = somewhere(&model, &mut random);
        let e = 1e-4;
        let at = |e: f64, k: usize, field: fn(usize) -> JointField, c: usize| {
            let State { v, acc, lambda, .. } = &rig.state;
            let w: Vec<f64> = (0..v.len())
                .map(|i| e * v[i] + 0.5 * e * e * acc[i])
                .collect();
            let moved = MotionPoint {
                q: &rig.moved(&w),
                v: &(0..v.len()).map(|i| v[i] + e * acc[i]).collect::<Vec<_>>(),
                a: acc,
                lambda,
            };
            (rig.mechanism).evaluate(&rig.context(), Quantity::Joint(k, field(c)), &moved)
        };
        for (k, joint) in model.joints.iter().enumerate() {
            for c in 0..joint.kind.coordinates(case.dimension) {
                let [_, speed, acceleration] = rig.coordinate(k, c);
                let rate = |field| (at(e, k, field, c) - at(-e, k, field, c)) / (2.0 * e);
                // Truncation e²/6 times third derivatives of up to 1e3.
                let wrong = (rate(JointField::Position) - speed).abs();
                assert!(
                    wrong < 1e-5 * (1.0 + speed.abs()),
                    "{case:?} {k}.{c}: {wrong:e}"
                );
                let wrong = (rate(JointField::Speed) - acceleration).abs();
                assert!(
                    wrong < 1e-5 * (1.0 + acceleration.abs()),
                    "{case:?} {k}.{c}: {wrong:e}"
                );
            }
        }
    }
}

use biela::integrator::State;

/// A wheel on a joint that lets it turn, spinning at 5 rad/s about the joint's axis without any load.
fn wheel(dimension: usize, kind: JointKind, at: bool) -> Model {
    let mut model = world(dimension, 0.0);
    let axis = match dimension {
        2 => Vec3::z(),
        _ => Vec3::new(0.48, -0.6, 0.64),
    };
    model.bodies = vec![Body {
        name: "wheel".into(),
        mass: 1.0,
        inertia: [0.1, 0.1, 0.1, 0.0, 0.0, 0.0],
        angular_velocity: (5.0 * axis).into(),
        ..Body::default()
    }];
    let mut joint = drawn("axle", kind, [None, Some(0)], [0.0; 3], axis.into());
    joint.position = [0.25; 3];
    if kind == JointKind::Universal {
        // The second axis at right angles: the first coordinate turns.
        if let JointPlacement::InitialPose(frame) = &mut joint.frame {
            frame.reference_direction = Vec3::new(0.6, 0.8, 0.3).cross(&axis).normalize().into();
        }
    }
    if kind == JointKind::Screw {
        joint.pitch = 0.3;
        model.bodies[0].velocity = (5.0 * 0.3 / TAU * axis).into();
    }
    model.joints = vec![if at { given(&model, &joint) } else { joint }];
    model.solver.tolerance = 1e-5;
    model
}

#[test]
fn turns_are_counted_forwards_and_after_a_restore() {
    use JointKind::*;
    let list = [
        (2, Revolute, 0),
        (3, Revolute, 0),
        (3, Cylindrical, 0),
        (3, Screw, 0),
        (3, Universal, 0),
        (3, Planar, 2),
    ];
    for (dimension, kind, coordinate) in list {
        for at in [false, true] {
            let model = wheel(dimension, kind, at);
            let mechanism = build(&model).unwrap();
            let mut instance = Instance::from_model(model.clone()).unwrap();
            instance.initialize(0.0, 100.0, 0.0).unwrap();
            let position = |instance: &Instance| {
                let s = instance.state();
                let cx = biela::formulation::EvaluationContext {
                    t: s.t,
                    u: &[],
                    u_dot: &[],
                    u_ddot: &[],
                    p: &[],
                    modes: &s.modes,
                    integrals: &[],
                };
                let at = MotionPoint {
                    q: &s.q,
                    v: &s.v,
                    a: &s.acc,
                    lambda: &s.lambda,
                };
                mechanism.evaluate(
                    &cx,
                    Quantity::Joint(0, JointField::Position(coordinate)),
                    &at,
                )
            };
            // 10 s: eight turns in steps of less than half a turn each.
            let expected = |t: f64| 0.25 + 5.0 * t;
            instance.step(0.0, 7.0).unwrap();
            let saved = instance.save().unwrap();
            instance.step(7.0, 3.0).unwrap();
            let end = position(&instance);
            assert!(
                (end - expected(10.0)).abs() < 1e-3,
                "{kind:?} {dimension} {at}: {end}"
            );
            let other = Instance::from_model(model).unwrap();
            let saved = other.deserialize(&saved.to_bytes()).unwrap();
            let mut other = other;
            other.restore(&saved).unwrap();
            let middle = position(&other);
            assert!(
                (middle - expected(7.0)).abs() < 1e-3,
                "{kind:?} {dimension} {at}: {middle}"
            );
            other.step(7.0, 3.0).unwrap();
            assert_eq!(
                position(&other).to_bits(),
                end.to_bits(),
                "{kind:?} {dimension} {at}"
            );
        }
    }
}

/// All quantities of a run at its end, by name, and how long it has run.
fn quantities(model: &Model, formulation: FormulationName) -> Vec<(String, f64)> {
    let mut model = model.clone();
    model.solver.formulation = formulation;
    model.expose = Expose::All;
    // Those of the rig have no names of their own.
    model.sensors.clear();
    // Not `from_model`: planar revolute joints of these cases carry a reference direction as their axis.
    let mechanism = biela::formulation::build(&model).unwrap_or_else(|e| panic!("{e}"));
    let mut instance = Instance::from_mechanism(model, mechanism).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    instance.step(0.0, 0.6).unwrap();
    let names: Vec<(u32, String)> = (instance.variables().iter().enumerate())
        .map(|(i, variable)| (i as u32, variable.name.clone()))
        .filter(|(_, name)| !name.starts_with("solver."))
        .filter(|(_, name)| name != "energy.balance" && name != "energy.numerical")
        .collect();
    let references: Vec<u32> = names.iter().map(|(i, _)| *i).collect();
    let mut values = vec![0.0; references.len()];
    instance.get_real(&references, &mut values).unwrap();
    names.into_iter().map(|(_, n)| n).zip(values).collect()
}

/// Joints that carry coordinates of a tree, joints that stay rows in it, bodies that hang on nothing.
#[test]
fn in_all_coordinates_every_quantity_of_every_joint_is_the_same() {
    for case in cases() {
        for mut model in [alone(case), hung(case)] {
            model.solver.tolerance = 1e-8;
            let expected = quantities(&model, FormulationName::Absolute);
            assert!(expected.len() > 20, "{case:?}: {}", expected.len());
            for formulation in [
                FormulationName::Relative,
                FormulationName::Hybrid,
                FormulationName::Global,
            ] {
                let found = quantities(&model, formulation);
                for ((name, x), (_, y)) in expected.iter().zip(&found) {
                    // Global errors of some hundred tolerances; accelerations and loads are up to 1e3 times the positions.
                    assert!(
                        (x - y).abs() < 1e-5 * x.abs().max(1.0),
                        "{case:?}, {formulation:?}: {name} = {x} and {y}"
                    );
                }
            }
        }
    }
}
