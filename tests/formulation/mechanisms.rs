//! Prescribed motions and bodies, couplings, and whole linkages of model files: against closed forms and tables.

use std::f64::consts::TAU;
use std::path::Path;

use crate::rig::{Rig, drawn, rod, world};
use biela::component::Instance;
use biela::linalg::rotation::Vec3;
use biela::model::quantity::{BodyField, JointField, MotionField, Quantity};
use biela::model::*;

const Z: [f64; 3] = [0.0, 0.0, 1.0];
const R: f64 = 0.2;
const L: f64 = 0.7;

/// A crank, a rod and a slider along x: 0.5, 0.8 and 1.1 kg, the crank at the angle 0.3, driven.
fn slider_crank(dimension: usize, law: MotionLaw) -> Model {
    let mut model = world(dimension, 0.0);
    model.name = format!("{law:?} in {dimension} dimensions");
    model.gravity = [0.0, -9.81, 0.0];
    let pin = [R * 0.3f64.cos(), R * 0.3f64.sin(), 0.0];
    let end = [reach(0.3)[0], 0.0, 0.0];
    model.bodies = vec![
        rod("crank", [0.0; 3], pin, 0.5),
        rod("rod", pin, end, 0.8),
        Body {
            name: "slider".into(),
            mass: 1.1,
            inertia: [0.01, 0.01, 0.01, 0.0, 0.0, 0.0],
            position: end,
            ..Body::default()
        },
    ];
    let revolute = JointKind::Revolute;
    model.joints = vec![
        drawn("pivot", revolute, [None, Some(0)], [0.0; 3], Z),
        drawn("pin", revolute, [Some(0), Some(1)], pin, Z),
        drawn("wrist", revolute, [Some(1), Some(2)], end, Z),
        drawn(
            "guide",
            JointKind::Prismatic,
            [None, Some(2)],
            end,
            [1.0, 0.0, 0.0],
        ),
    ];
    model.joints[0].position[0] = 0.3;
    model.motions = vec![drive(0, law)];
    model.solver.tolerance = 1e-6;
    model
}

fn drive(joint: usize, law: MotionLaw) -> Motion {
    Motion {
        name: "drive".into(),
        on: PrescribedCoordinate::Joint(JointCoordinate { joint, index: 0 }),
        axis: [0.0; 3],
        law,
        text_position: TextPosition::default(),
    }
}

/// Both dimensions in all coordinates.
fn everywhere() -> Vec<(usize, FormulationName)> {
    let formulations = [
        FormulationName::Absolute,
        FormulationName::Relative,
        FormulationName::Hybrid,
        FormulationName::Global,
    ];
    (formulations.iter())
        .flat_map(|&formulation| [(2, formulation), (3, formulation)])
        .collect()
}

/// Place of the slider over the crank's angle, with two derivatives.
fn reach(angle: f64) -> [f64; 3] {
    let (s, c) = angle.sin_cos();
    let root = (L * L - R * R * s * s).sqrt();
    let slope = -R * s - R * R * s * c / root;
    let bend = -R * c - R * R * (c * c - s * s) / root - (R * R * s * c).powi(2) / root.powi(3);
    [R * c + root, slope, bend]
}

/// Kinetic + potential energy of the closed form.
fn energy(angle: f64, speed: f64) -> f64 {
    let (s, c) = angle.sin_cos();
    let root = (L * L - R * R * s * s).sqrt();
    // The rod's angle ψ below the x axis: sin ψ = R s / L.
    let psi_rate = R * c * speed / root;
    let [_, slope, _] = reach(angle);
    let middle = [
        -R * s * speed - 0.5 * (R * s) * psi_rate,
        0.5 * R * c * speed,
    ];
    let crank = 0.5 * (0.5 * R * R / 3.0) * speed * speed;
    let rod = 0.5 * 0.8 * (middle[0] * middle[0] + middle[1] * middle[1])
        + 0.5 * (0.8 * L * L / 12.0) * psi_rate * psi_rate;
    let slider = 0.5 * 1.1 * (slope * speed) * (slope * speed);
    crank + rod + slider + 9.81 * 0.5 * R * s * (0.5 + 0.8)
}

type Law = (MotionLaw, Box<dyn Fn(f64) -> [f64; 3]>);

fn laws() -> Vec<Law> {
    let harmonic = |t: f64| {
        let w = TAU * 0.8;
        let (s, c) = (w * t - 0.4).sin_cos();
        // The offset makes it start at 0.3.
        let offset = 0.3 + 1.2 * 0.4f64.sin();
        [offset + 1.2 * s, 1.2 * w * c, -1.2 * w * w * s]
    };
    vec![
        (
            MotionLaw::ConstantSpeed { speed: 6.0 },
            Box::new(|t| [0.3 + 6.0 * t, 6.0, 0.0]),
        ),
        (
            MotionLaw::Polynomial(vec![0.3, -1.0, 4.0, 0.5]),
            Box::new(|t| {
                [
                    0.3 - t + 4.0 * t * t + 0.5 * t * t * t,
                    -1.0 + 8.0 * t + 1.5 * t * t,
                    8.0 + 3.0 * t,
                ]
            }),
        ),
        (
            MotionLaw::Harmonic {
                amplitude: 1.2,
                frequency: 0.8,
                phase: -0.4,
                offset: 0.3 + 1.2 * 0.4f64.sin(),
            },
            Box::new(harmonic),
        ),
        (
            MotionLaw::Input {
                order: 1,
                start: 3.0,
            },
            Box::new(|t| [0.3 + 3.0 * t, 3.0, 0.0]),
        ),
        (
            MotionLaw::Input {
                order: 2,
                start: 4.0,
            },
            Box::new(|t| [0.3 + 2.0 * t * t, 4.0 * t, 4.0]),
        ),
    ]
}

#[test]
fn a_driven_slider_crank_has_the_closed_form_motion_and_drive_effort() {
    for (dimension, formulation) in everywhere() {
        for (law, course) in laws() {
            let mut model = slider_crank(dimension, law);
            model.solver.formulation = formulation;
            let mut rig = Rig::new(&model);
            if dimension == 3 && formulation == FormulationName::Absolute {
                assert_eq!(rig.report.rank, 18, "{:?}", rig.report);
                assert!(!rig.report.redundant.is_empty());
            }
            for k in 1..=15 {
                let t = 0.1 * f64::from(k);
                rig.to(t);
                let [s, v, a] = course(t);
                let name = &rig.model.name;
                let near = |what: &str, found: f64, expected: f64, tolerance: f64| {
                    let apart = (found - expected).abs();
                    assert!(
                        apart < tolerance * (1.0 + expected.abs()),
                        "{name} {formulation:?}, t = {t}, {what}: {found} for {expected}"
                    );
                };
                // Positions are closed to 1e-12 of their size, rates and accelerations are solved at the point.
                let found = rig.coordinate(0, 0);
                for (what, x, y) in [
                    ("angle", found[0], s),
                    ("speed", found[1], v),
                    ("acceleration", found[2], a),
                ] {
                    near(what, x, y, 1e-9);
                }
                let [x, slope, bend] = reach(s);
                near("slider", rig.of_body(2, BodyField::Position).x, x, 1e-9);
                near(
                    "slider speed",
                    rig.of_body(2, BodyField::Velocity).x,
                    slope * v,
                    1e-8,
                );
                let expected = slope * a + bend * v * v;
                near(
                    "slider acceleration",
                    rig.of_body(2, BodyField::Acceleration).x,
                    expected,
                    1e-7,
                );
                // Effort from the power: ∂E/∂t = effort ṡ. Central differences: e² of third derivatives near 1e4 J/s³.
                let e = 1e-5;
                let power = (energy(course(t + e)[0], course(t + e)[1])
                    - energy(course(t - e)[0], course(t - e)[1]))
                    / (2.0 * e);
                let effort = rig.get(Quantity::Motion(0, MotionField::Effort));
                near("power", effort * v, power, 1e-5);
                near(
                    "position of the motion",
                    rig.get(Quantity::Motion(0, MotionField::Position)),
                    s,
                    1e-9,
                );
                near("energy", rig.energy(), energy(s, v), 1e-8);
            }
        }
    }
}

/// The work of a drive is an integral over what happens between the ends of the steps: it follows the tolerance although
/// nothing is left free and the ends themselves are exact.
#[test]
fn the_energy_supplied_by_a_drive_is_the_energy_gained() {
    for dimension in [2, 3] {
        for (law, _) in laws() {
            let mut off = Vec::new();
            for tolerance in [1e-4, 1e-5, 1e-6, 1e-7] {
                let mut model = slider_crank(dimension, law.clone());
                model.solver.tolerance = tolerance;
                let mut rig = Rig::new(&model);
                let mut worst: f64 = 0.0;
                while rig.state.t < 1.5 {
                    rig.advance(1.5);
                    worst = worst.max(rig.balance().abs());
                }
                off.push(worst);
            }
            // Simpson's rule over steps ∝ tolerance^(1/5) leaves tolerance^(4/5); two thirds of a decade for each is asked for.
            // Energies go up to 20 J.
            assert!(off[0] < 0.03, "{law:?} in {dimension}: {off:?}");
            assert!(off[3] < 1e-2 * off[0], "{law:?} in {dimension}: {off:?}");
        }
    }
}

#[test]
fn a_table_is_followed_through_its_points_and_constant_beyond_its_ends() {
    let points = vec![[0.1, 0.3], [0.5, 1.2], [0.8, 0.9], [1.3, 2.0]];
    let each = [
        Interpolation::Linear,
        Interpolation::Monotone,
        Interpolation::Spline,
    ];
    for ((dimension, formulation), interpolation) in
        (everywhere().into_iter()).flat_map(|place| each.map(|way| (place, way)))
    {
        let law = MotionLaw::Table {
            points: points.clone(),
            periodic: false,
            interpolation,
        };
        let mut model = slider_crank(dimension, law);
        model.solver.formulation = formulation;
        let mut rig = Rig::new(&model);
        for [t, s] in &points {
            rig.to(*t);
            assert!((rig.coordinate(0, 0)[0] - s).abs() < 1e-9);
        }
        rig.to(1.6);
        let [s, v, a] = rig.coordinate(0, 0);
        assert!(
            (s - 2.0).abs() < 1e-9 && v.abs() < 1e-9 && a.abs() < 1e-7,
            "{s} {v} {a}"
        );
        assert!(rig.closure() <= 1e-10);
    }
}

/// The text of a wheel on a pin with a motion driven from outside, in either dimension.
fn turntable(dimension: usize, of: &str) -> String {
    let (inertia, point, axis) = match dimension {
        2 => ("2.0", "[0.0, 0.0]", ""),
        _ => (
            "[1.0, 1.0, 2.0]",
            "[0.0, 0.0, 0.0]",
            "axis = [0.0, 0.0, 1.0]",
        ),
    };
    let spin = match dimension {
        2 => "0.5",
        _ => "[0.0, 0.0, 0.5]",
    };
    format!(
        "format = 1\nname = \"turntable\"\ndimension = {dimension}\n\
         [[body]]\nname = \"table\"\nmass = 1.0\ninertia = {inertia}\nposition = {point}\nangular_velocity = {spin}\n\
         [[joint]]\nname = \"axle\"\ntype = \"revolute\"\nbodies = [\"ground\", \"table\"]\npoint = {point}\n{axis}\nposition = 0.25\n\
         [[motion]]\nname = \"drive\"\njoint = \"axle\"\nlaw = \"input\"\nof = \"{of}\"\n\
         [[input]]\nname = \"u\"\ntarget = \"drive.{of}\"\n{}\n\
         [[output]]\nname = \"angle\"\nsource = \"axle.position\"\n\
         [[output]]\nname = \"speed\"\nsource = \"axle.speed\"\n\
         [[output]]\nname = \"acceleration\"\nsource = \"axle.acceleration\"\n\
         [[output]]\nname = \"effort\"\nsource = \"drive.effort\"\n\
         [[output]]\nname = \"balance\"\nsource = \"energy.balance\"\n",
        if of == "position" {
            "start = 0.25"
        } else {
            "start = 0.0"
        }
    )
}

fn outputs(instance: &mut Instance) -> [f64; 5] {
    let names = ["angle", "speed", "acceleration", "effort", "balance"];
    let references = names.map(|name| instance.find(name).unwrap());
    let mut values = [0.0; 5];
    instance.get_real(&references, &mut values).unwrap();
    values
}

#[test]
fn an_input_drives_a_motion_by_position_speed_or_acceleration() {
    for (dimension, formulation) in everywhere() {
        for (order, of) in ["position", "speed", "acceleration"].iter().enumerate() {
            let text = turntable(dimension, of);
            let create = || {
                let mut model = Model::from_text(&text, "text").unwrap_or_else(|e| panic!("{e}"));
                model.solver.formulation = formulation;
                Instance::from_model(model).unwrap_or_else(|e| panic!("{of}: {e}"))
            };
            let mut instance = create();
            let u = instance.find("u").unwrap();
            // s = 0.25 + 0.5 t + 0.4 t² + 0.3 t³ in pieces of 0.125 s: the host gives what it drives with two derivatives.
            let s = |t: f64| 0.25 + 0.5 * t + 0.4 * t * t + 0.3 * t * t * t;
            let v = |t: f64| 0.5 + 0.8 * t + 0.9 * t * t;
            let a = |t: f64| 0.8 + 1.8 * t;
            let jets = |t: f64| [s(t), v(t), a(t), 1.8, 0.0];
            let set = |instance: &mut Instance, t: f64| {
                let jet = &jets(t)[order..];
                instance.set_real(&[u], &[jet[0]]).unwrap();
                instance
                    .set_input_derivatives(&[u, u], &[1, 2], &jet[1..3])
                    .unwrap();
            };
            set(&mut instance, 0.0);
            instance.initialize(0.0, 10.0, 1e-7).unwrap();
            let step = |instance: &mut Instance, k: u32| {
                let t = 0.125 * f64::from(k);
                set(instance, t);
                instance.step(t, 0.125).unwrap();
            };
            let mut saved = None;
            for k in 0..16 {
                if k == 9 {
                    saved = Some(instance.save().unwrap().to_bytes());
                }
                step(&mut instance, k);
                let t = 0.125 * f64::from(k + 1);
                let [angle, speed, acceleration, effort, balance] = outputs(&mut instance);
                // A position given as parabolas misses s'''/6 h³ at the end of a piece; speed and acceleration are exact.
                let late = if order == 0 {
                    0.3 * 0.125f64.powi(3)
                } else {
                    0.0
                };
                assert!(
                    (angle - s(t)).abs() < late + 1e-9,
                    "{of} {dimension} {t}: {angle} {}",
                    s(t)
                );
                let late = if order == 0 {
                    0.9 * 0.125f64.powi(2)
                } else {
                    0.0
                };
                assert!(
                    (speed - v(t)).abs() < late + 1e-9,
                    "{of} {dimension} {t}: {speed} {}",
                    v(t)
                );
                let late = if order == 0 { 1.8 * 0.125 } else { 0.0 };
                assert!(
                    (acceleration - a(t)).abs() < late + 1e-9,
                    "{of} {t}: {acceleration}"
                );
                assert!(
                    (effort - 2.0 * acceleration).abs() < 1e-9,
                    "{of} {t}: {effort}"
                );
                // Work of the drive, also where a new parabola changes the speed at once.
                assert!(balance.abs() < 1e-6, "{of} {dimension} {t}: {balance:e}");
            }
            let end = outputs(&mut instance).map(f64::to_bits);
            // The integrals are part of the state.
            let mut other = create();
            let state = other.deserialize(&saved.unwrap()).unwrap();
            other.restore(&state).unwrap();
            for k in 9..16 {
                step(&mut other, k);
            }
            assert_eq!(outputs(&mut other).map(f64::to_bits), end, "{of}");
        }
    }
}

#[test]
fn a_constant_speed_continues_from_the_last_position() {
    let mut instance = Instance::from_text(&turntable(3, "speed"), None).unwrap();
    let u = instance.find("u").unwrap();
    instance.initialize(1.0, 10.0, 0.0).unwrap();
    let mut expected = 0.25;
    for (k, speed) in [2.0, 2.0, -1.0, 40.0, 0.0].into_iter().enumerate() {
        let t = 1.0 + 0.5 * k as f64;
        instance.set_real(&[u], &[speed]).unwrap();
        let [angle, now, ..] = outputs(&mut instance);
        // The speed is there at once, the angle where it was.
        assert!(
            (angle - expected).abs() < 1e-9 && (now - speed).abs() < 1e-9,
            "{angle} {now}"
        );
        instance.step(t, 0.5).unwrap();
        expected += 0.5 * speed;
        let [angle, ..] = outputs(&mut instance);
        assert!((angle - expected).abs() < 1e-9, "{angle} {expected}");
    }
}

/// A prescribed body with motions of its coordinates.
fn prescribed(dimension: usize, motions: Vec<(BodyCoordinate, MotionLaw)>) -> Model {
    let mut model = world(dimension, 0.0);
    model.gravity = [0.0, -9.81, 0.0];
    model.bodies = vec![Body {
        name: "table".into(),
        prescribed: true,
        ..Body::default()
    }];
    model.motions = (motions.into_iter().enumerate())
        .map(|(k, (coordinate, law))| Motion {
            name: format!("m{k}"),
            on: PrescribedCoordinate::Body(0, coordinate),
            axis: if coordinate == BodyCoordinate::Angle {
                Z
            } else {
                [0.0; 3]
            },
            law,
            text_position: TextPosition::default(),
        })
        .collect();
    model.solver.tolerance = 1e-7;
    model
}

#[test]
fn a_shaken_table_carries_its_load() {
    let shake = |amplitude: f64, frequency: f64| MotionLaw::Harmonic {
        amplitude,
        frequency,
        phase: 0.0,
        offset: 0.0,
    };
    for (dimension, formulation) in everywhere() {
        let mut model = prescribed(
            dimension,
            vec![
                (BodyCoordinate::Position(0), shake(0.3, 0.5)),
                (BodyCoordinate::Position(1), shake(0.1, 1.5)),
            ],
        );
        model.bodies.push(Body {
            name: "load".into(),
            mass: 3.0,
            inertia: [0.1, 0.1, 0.1, 0.0, 0.0, 0.0],
            position: [0.0, 0.2, 0.0],
            ..Body::default()
        });
        model.joints = vec![drawn(
            "weld",
            JointKind::Fixed,
            [Some(0), Some(1)],
            [0.0, 0.1, 0.0],
            [0.0; 3],
        )];
        model.solver.formulation = formulation;
        let mut rig = Rig::new(&model);
        for k in 1..=10 {
            let t = 0.13 * f64::from(k);
            rig.to(t);
            let [w0, w1] = [TAU * 0.5, TAU * 1.5];
            let place = Vec3::new(0.3 * (w0 * t).sin(), 0.1 * (w1 * t).sin(), 0.0);
            let acc = Vec3::new(-w0 * w0 * place.x, -w1 * w1 * place.y, 0.0);
            assert!((rig.of_body(0, BodyField::Position) - place).norm() < 1e-10);
            let wrong = (rig.of_body(0, BodyField::Acceleration) - acc).norm();
            // Accelerations are projected to 1e-6 of what was open.
            assert!(wrong < 1e-6, "{dimension} {t}: {wrong:e}");
            let force = rig.of_joint(0, JointField::Force);
            let expected = 3.0 * (acc + Vec3::new(0.0, 9.81, 0.0));
            assert!(
                (force - expected).norm() < 1e-5,
                "{dimension} {t}: {force} {expected}"
            );
            // The same at the drives: all the weight goes through them.
            for axis in 0..2 {
                let effort = rig.get(Quantity::Motion(axis, MotionField::Effort));
                assert!(
                    (effort - expected[axis]).abs() < 1e-7,
                    "{effort} {expected}"
                );
            }
        }
        // The drives' work, tolerance^(4/5) of the 5 J that go to and fro.
        assert!(rig.balance().abs() < 1e-3, "{:e}", rig.balance());
    }
}

#[test]
fn a_bead_on_a_turning_arm_flies_outwards_by_the_closed_form() {
    // r̈ = Ω² r: r = r₀ cosh Ωt, without weight. The drive's torque is d(m r² Ω)/dt = 2 m r ṙ Ω.
    let (omega, mass, r0) = (1.7, 0.6, 0.2);
    for (dimension, formulation) in everywhere() {
        let law = MotionLaw::ConstantSpeed { speed: omega };
        let mut model = prescribed(dimension, vec![(BodyCoordinate::Angle, law)]);
        model.gravity = [0.0; 3];
        model.bodies.push(Body {
            name: "bead".into(),
            mass,
            inertia: [1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0],
            position: [r0, 0.0, 0.0],
            velocity: [0.0, omega * r0, 0.0],
            angular_velocity: [0.0, 0.0, omega],
            ..Body::default()
        });
        let mut arm = drawn(
            "arm",
            JointKind::Prismatic,
            [Some(0), Some(1)],
            [0.0; 3],
            [1.0, 0.0, 0.0],
        );
        arm.position[0] = r0;
        if let JointPlacement::InitialPose(frame) = &mut arm.frame {
            frame.point = [r0, 0.0, 0.0];
        }
        model.joints = vec![arm];
        model.solver.length = Some(1.0);
        model.solver.formulation = formulation;
        let mut rig = Rig::new(&model);
        // More than a whole turn of the table. Natural coordinates do not get beyond 80 m on a massless arm of length 1.
        let last = match formulation {
            FormulationName::Global => 7,
            _ => 8,
        };
        for k in 1..=last {
            let t = 0.5 * f64::from(k);
            rig.to(t);
            let (r, v) = (r0 * (omega * t).cosh(), r0 * omega * (omega * t).sinh());
            let [found, speed, _] = rig.coordinate(0, 0);
            // The exact motion grows e-fold in 0.6 s, and errors with it.
            let allowed = 1e-5 * (omega * t).exp();
            assert!((found - r).abs() < allowed, "{dimension} {t}: {found} {r}");
            assert!(
                (speed - v).abs() < 2.0 * allowed,
                "{dimension} {t}: {speed} {v}"
            );
            let torque = rig.get(Quantity::Motion(0, MotionField::Effort));
            let expected = 2.0 * mass * r * v * omega;
            // Natural coordinates lose digits of the multipliers with the square of r on a massless arm.
            let near = formulation != FormulationName::Global || r < 10.0;
            assert!(
                !near || (torque - expected).abs() < 10.0 * allowed * (1.0 + r),
                "{t}: {torque} {expected}"
            );
            let angle = rig.get(Quantity::Motion(0, MotionField::Position));
            assert!((angle - omega * t).abs() < 1e-9, "{angle}");
        }
    }
}

/// A wheel about z at a point.
fn wheel(name: &str, at: [f64; 3], inertia: f64) -> Body {
    Body {
        name: name.into(),
        mass: 1.0,
        inertia: [inertia, inertia, inertia, 0.0, 0.0, 0.0],
        position: at,
        ..Body::default()
    }
}

fn coupling(law: CouplingLaw) -> Joint {
    Joint {
        name: "mesh".into(),
        kind: JointKind::Coupling,
        frame: JointPlacement::None,
        coupling: Some(Coupling {
            coordinates: [0, 1].map(|joint| JointCoordinate { joint, index: 0 }),
            law,
            summands: vec![],
        }),
        ..Joint::default()
    }
}

#[test]
fn gears_share_a_torque_by_their_ratio() {
    // (J₁ + n² J₂) α = τ; the mesh turns the second wheel with J₂ n α.
    let (j1, j2, n, torque) = (0.3, 0.5, -2.5, 4.0);
    for (dimension, formulation) in everywhere() {
        let mut model = world(dimension, 0.0);
        model.bodies = vec![wheel("a", [0.0; 3], j1), wheel("b", [1.0, 0.0, 0.0], j2)];
        model.joints = vec![
            drawn("pin_a", JointKind::Revolute, [None, Some(0)], [0.0; 3], Z),
            drawn(
                "pin_b",
                JointKind::Revolute,
                [None, Some(1)],
                [1.0, 0.0, 0.0],
                Z,
            ),
            coupling(CouplingLaw::Ratio(n)),
        ];
        model.forces = vec![Force {
            name: "motor".into(),
            kind: ForceKind::Actuator { effort: torque },
            on: ForceApplication::Joint(biela::model::JointCoordinate { joint: 0, index: 0 }),
            text_position: TextPosition::default(),
        }];
        model.solver.formulation = formulation;
        let mut rig = Rig::new(&model);
        rig.to(2.0);
        let alpha = torque / (j1 + n * n * j2);
        let [first, second] = [0, 1].map(|k| rig.coordinate(k, 0));
        assert!(
            (first[0] - 2.0 * alpha).abs() < 1e-5 * alpha,
            "{first:?} {alpha}"
        );
        assert!((second[0] - n * first[0]).abs() < 1e-9);
        assert!((first[2] - alpha).abs() < 1e-9 && (second[2] - n * alpha).abs() < 1e-9);
        let moment = rig.of_joint(2, JointField::Moment);
        assert!((moment.z - j2 * n * alpha).abs() < 1e-9, "{moment}");
        assert!(rig.balance().abs() < 1e-4);
    }
}

#[test]
fn a_rack_falls_with_its_pinion() {
    // y = r θ: a = −g m / (m + J/r²).
    let (mass, inertia, r) = (1.0, 0.02, 0.1);
    for (dimension, formulation) in everywhere() {
        let mut model = world(dimension, 0.0);
        model.gravity = [0.0, -9.81, 0.0];
        model.bodies = vec![
            wheel("pinion", [0.0; 3], inertia),
            wheel("rack", [r, 0.0, 0.0], 0.1),
        ];
        model.joints = vec![
            drawn("pin", JointKind::Revolute, [None, Some(0)], [0.0; 3], Z),
            drawn(
                "guide",
                JointKind::Prismatic,
                [None, Some(1)],
                [r, 0.0, 0.0],
                [0.0, 1.0, 0.0],
            ),
            coupling(CouplingLaw::Ratio(r)),
        ];
        model.solver.formulation = formulation;
        let mut rig = Rig::new(&model);
        rig.to(1.0);
        let a = -9.81 * mass / (mass + inertia / (r * r));
        let [y, _, acceleration] = rig.coordinate(1, 0);
        assert!(
            (y - 0.5 * a).abs() < 1e-6 && (acceleration - a).abs() < 1e-9,
            "{y} {a}"
        );
        // Several turns of the pinion.
        assert!((rig.coordinate(0, 0)[0] - y / r).abs() < 1e-8);
        let force = rig.of_joint(2, JointField::Force);
        assert!((force.y - mass * (a + 9.81)).abs() < 1e-8, "{force}");
    }
}

#[test]
fn a_cam_lifts_its_follower_by_its_law() {
    // y = F(θ) at a constant speed: ÿ = F'' ω²; the drive pays F' times the force on the follower.
    let (omega, mass) = (3.0, 1.0);
    let lift = |x: f64| {
        [
            0.1 + 0.05 * x * x - 0.01 * x * x * x,
            0.1 * x - 0.03 * x * x,
            0.1 - 0.06 * x,
        ]
    };
    for (dimension, formulation) in everywhere() {
        let mut model = world(dimension, 0.0);
        model.gravity = [0.0, -9.81, 0.0];
        model.bodies = vec![
            wheel("cam", [0.0; 3], 0.1),
            wheel("follower", [0.0, 0.1, 0.0], 0.1),
        ];
        let mut guide = drawn(
            "guide",
            JointKind::Prismatic,
            [None, Some(1)],
            [0.0, 0.1, 0.0],
            [0.0, 1.0, 0.0],
        );
        guide.position[0] = 0.1;
        model.joints = vec![
            drawn("pin", JointKind::Revolute, [None, Some(0)], [0.0; 3], Z),
            guide,
            coupling(CouplingLaw::Curve(Curve::Polynomial(vec![
                0.1, 0.0, 0.05, -0.01,
            ]))),
        ];
        model.motions = vec![drive(0, MotionLaw::ConstantSpeed { speed: omega })];
        model.solver.formulation = formulation;
        let mut rig = Rig::new(&model);
        for k in 1..=10 {
            let t = 0.1 * f64::from(k);
            rig.to(t);
            let [y, slope, bend] = lift(omega * t);
            let expected = [y, slope * omega, bend * omega * omega];
            for (x, y) in rig.coordinate(1, 0).iter().zip(expected) {
                assert!((x - y).abs() < 1e-8, "{t}: {x} {y}");
            }
            let force = rig.of_joint(2, JointField::Force).y;
            assert!(
                (force - mass * (9.81 + expected[2])).abs() < 1e-7,
                "{force}"
            );
            let effort = rig.get(Quantity::Motion(0, MotionField::Effort));
            assert!((effort - slope * force).abs() < 1e-7, "{effort}");
            assert!(rig.balance().abs() < 1e-5, "{:e}", rig.balance());
        }
    }
}

#[test]
fn a_follower_rides_on_a_table_joined_twice_smoothly() {
    let mut model = world(2, 0.0);
    model.bodies = vec![
        wheel("cam", [0.0; 3], 0.1),
        wheel("follower", [0.0, 0.2, 0.0], 0.1),
    ];
    let points: Vec<[f64; 2]> = (-2..=12)
        .map(|k| [0.5 * f64::from(k), 0.2 + 0.05 * (0.5 * f64::from(k)).sin()])
        .collect();
    let mut guide = drawn(
        "guide",
        JointKind::Prismatic,
        [None, Some(1)],
        [0.0, 0.2, 0.0],
        [0.0, 1.0, 0.0],
    );
    guide.position[0] = 0.2;
    model.joints = vec![
        drawn("pin", JointKind::Revolute, [None, Some(0)], [0.0; 3], Z),
        guide,
        coupling(CouplingLaw::Curve(Curve::Table {
            points: points.clone(),
            interpolation: Interpolation::Spline,
        })),
    ];
    model.motions = vec![drive(0, MotionLaw::ConstantSpeed { speed: 1.0 })];
    let mut rig = Rig::new(&model);
    let mut before = rig.coordinate(1, 0)[2];
    for [t, y] in points.iter().filter(|p| p[0] > 0.0 && p[0] < 5.0) {
        rig.to(*t);
        assert!((rig.coordinate(1, 0)[0] - y).abs() < 1e-9);
        // ÿ of the cubic spline through a sine: continuous, |ÿ''''| 0.05 and points half a radian apart.
        let now = rig.coordinate(1, 0)[2];
        assert!(
            (now - before).abs() < 0.05 && (now + 0.05 * t.sin()).abs() < 5e-3,
            "{t}: {now}"
        );
        before = now;
    }
}

/// The last row of a table.
fn reference(name: &str) -> Vec<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reference/{name}.csv"));
    let text = std::fs::read_to_string(path).unwrap();
    let last = text.lines().rfind(|line| !line.starts_with('#')).unwrap();
    last.split(',').map(|x| x.trim().parse().unwrap()).collect()
}

#[test]
fn the_squeezer_of_bodies_and_joints_has_the_angles_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/andrews.toml");
    let mut model = Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    let expected = reference("andrews");
    assert_eq!(expected[0], 0.03);
    let mut errors = Vec::new();
    for tolerance in [1e-7, 1e-9] {
        model.solver.tolerance = tolerance;
        let mut rig = Rig::new(&model);
        // The start of the test set is consistent to its 16 digits; the file has 15 of them.
        assert!(rig.report.moved < 1e-12, "{:?}", rig.report);
        assert_eq!((rig.report.rank, rig.report.redundant.len()), (20, 0));
        while rig.state.t < 0.03 {
            rig.advance(0.03);
            assert!(rig.closure() <= 1e-10, "{:e}", rig.closure());
        }
        let angles = [0, 1, 2, 3, 4, 5, 6].map(|k| rig.coordinate(k, 0)[0]);
        let wrong = (0..7)
            .map(|k| (angles[k] - expected[1 + k]).abs())
            .fold(0.0, f64::max);
        println!(
            "{tolerance}: {wrong:.1e} rad, {} steps, balance {:.1e} J",
            rig.state.statistics.steps,
            rig.balance()
        );
        errors.push(wrong);
    }
    // The requirement; the table itself is good to 6e-13.
    assert!(errors[1] < 1e-6, "{errors:?}");
}
