//! Three dimensions and motions: everything that can be written, read back number by number.

use super::super::*;
use crate::error::Error;

/// One of each kind: joints, laws, ways to place and to turn.
pub(in crate::model) const EVERYTHING: &str = r#"format = 1
name = "everything"
gravity = [0, 0, -9.81]
[solver]
penalty = 1e7
rechoose = false
[[body]]
name = "a"
mass = 2
inertia = [1, 2, 2.5]
position = [1, 2, 3]
orientation = [0, 0, 0, 2]
velocity = [1, 0, 0]
angular_velocity = [0, 3, 0]
center_of_mass = [0, 0, 0.5]
shape = { box = [1, 1, 2] }
[[body]]
name = "b"
mass = 1
inertia = [3, 4, 5, 0.5, 0.25, 0.125]
rotation = { axis = [0, 2, 0], angle = 1.0 }
[[body]]
name = "c"
mass = 0
inertia = [0, 0, 0]
[[body]]
name = "table"
prescribed = true
position = [0, 0, -1]
shape = { circle = 2 }
[[joint]]
name = "weld"
type = "fixed"
bodies = ["a", "b"]
at = [{ point = [1, 0, 0], axis = [0, 3, 0], across = [1, 1, 0] }, { point = [0, 0, 0] }]
[[joint]]
name = "glue"
type = "fixed"
bodies = ["a", "c"]
point = [1, 0, 0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "a"]
point = [0, 0, 0]
axis = [0, 3, 4]
across = [1, 0, 0]
position = 0.25
[[joint]]
name = "slide"
type = "prismatic"
bodies = ["ground", "b"]
at = [{ point = [0, 0, 1], axis = [1, 0, 0] }, { point = [0, 0, 0], axis = [1, 0, 0], across = [5, 0, 2] }]
[[joint]]
name = "tube"
type = "cylindrical"
bodies = ["ground", "a"]
point = [0, 0, 0]
axis = [0, 0, 1]
position = [0.5, 1.5]
[[joint]]
name = "ball"
type = "spherical"
bodies = ["a", "c"]
point = [1, 1, 1]
[[joint]]
name = "cross"
type = "universal"
bodies = ["a", "b"]
point = [0, 0, 0]
axes = [[2, 0, 0], [0, 0, 3]]
[[joint]]
name = "cross_in_bodies"
type = "universal"
bodies = ["a", "b"]
at = [{ point = [0, 0, 0], axes = [[1, 0, 0], [0, 1, 0]] }, { point = [1, 0, 0], axes = [[0, 0, 1], [1, 0, 0]] }]
position = [0.1, 0.2]
[[joint]]
name = "ice"
type = "planar"
bodies = ["table", "c"]
point = [0, 0, -1]
axis = [0, 0, 2]
across = [0, 1, 1]
position = [1, 2, 3]
[[joint]]
name = "bolt"
type = "screw"
bodies = ["ground", "b"]
point = [0, 0, 0]
axis = [1, 0, 0]
pitch = -0.002
[[joint]]
name = "rod"
type = "distance"
bodies = ["ground", "c"]
points = [[0, 0, 1], [0, 0, 2]]
length = 1.5
[[joint]]
name = "string"
type = "distance"
bodies = ["a", "c"]
points = [[0, 0, 1], [0, 0, 2]]
[[joint]]
name = "wire"
type = "point_on_line"
bodies = ["ground", "c"]
at = [{ point = [0, 0, 1], axis = [1, 1, 0] }, { point = [0, 0, 0] }]
position = 4
[[joint]]
name = "gear"
type = "coupling"
joints = ["pin", "tube.position1"]
ratio = -2.5
[[joint]]
name = "cam"
type = "coupling"
joints = ["bolt", "slide.position"]
law = { table = [[0, 0], [1, 0.5], [2, 0]] }
[[joint]]
name = "stepped"
type = "coupling"
joints = ["wire", "ice.position3"]
law = { pieces = [{ below = 1, polynomial = [0, 0, 0.5] }, { polynomial = [-0.5, 1] }] }
[[joint]]
name = "hip"
type = "gimbal"
bodies = ["a", "b"]
at = [{ point = [0, 0, 0], axes = [[2, 0, 0], [0, 0, 1], [0, 1, 0]] }, { point = [1, 0, 0], axes = [[0, 1, 0], [1, 0, 0], [0, 0, 1]] }]
armature = [0.1, 0.2, 0.3]
[[joint]]
name = "gantry"
type = "cartesian"
bodies = ["a", "c"]
point = [0, 0, 0]
axis = [0, 0, 4]
across = [0, 3, 1]
position = [1, 2, 3]
[[motion]]
name = "steady"
joint = "pin"
law = "constant_speed"
speed = 2
[[motion]]
name = "curved"
joint = "tube.position2"
law = "polynomial"
coefficients = [1.5, 0, 3]
[[motion]]
name = "shaking"
body = "table"
coordinate = "z"
law = "harmonic"
amplitude = 0.01
frequency = 50
[[motion]]
name = "turning"
body = "table"
coordinate = "angle"
axis = [0, 0, 5]
law = "table"
points = [[0, 0], [1, 1], [2, 0]]
periodic = true
[[motion]]
name = "steered"
joint = "cross_in_bodies.position2"
law = "input"
[[motion]]
name = "pushed"
joint = "bolt"
law = "input"
of = "acceleration"
start = 0.5
[[sensor]]
name = "tip"
body = "a"
point = [0, 0, 1]
[[force]]
name = "motor"
type = "actuator"
joint = "bolt"
torque = 3
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["ground", "a"]
points = [[0, 0, 3], [0, 0, 1]]
stiffness = 10
length = 1
[[input]]
name = "steering"
target = "steered.position"
unit = "rad"
[[input]]
name = "g"
target = "gravity.z"
[[parameter]]
name = "speed"
target = "steady.speed"
start = 4
unit = "rad/s"
[[output]]
name = "qw"
source = "tip.qw"
[[output]]
name = "effort"
source = "shaking.effort"
unit = "N"
"#;

fn everything() -> Model {
    let model = Model::from_text(EVERYTHING, "everything").unwrap_or_else(|e| panic!("{e}"));
    model.validate().unwrap();
    model
}

fn joint<'m>(model: &'m Model, name: &str) -> &'m Joint {
    model.joints.iter().find(|j| j.name == name).unwrap()
}

fn frames(joint: &Joint) -> [JointFrame; 2] {
    match joint.frame {
        JointPlacement::BodyFrames(frames) => frames,
        JointPlacement::InitialPose(frame) => [frame, JointFrame::default()],
        JointPlacement::None => panic!("{} is nowhere", joint.name),
    }
}

/// Near to rounding: unit vectors are divided by their length.
fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| (a - b).abs() < 4.0 * f64::EPSILON)
}

#[test]
fn bodies_in_space_are_read_as_written() {
    let model = everything();
    assert_eq!(model.dimension, 3);
    assert_eq!(model.gravity, [0.0, 0.0, -9.81]);
    assert_eq!(model.solver.penalty, Some(1e7));
    assert!(!model.solver.repartition);
    let [a, b, c, table] = &model.bodies[..] else {
        panic!("four bodies")
    };
    assert_eq!(a.inertia, [1.0, 2.0, 2.5, 0.0, 0.0, 0.0]);
    assert_eq!(a.orientation, [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(a.angular_velocity, [0.0, 3.0, 0.0]);
    assert_eq!(a.center_of_mass, [0.0, 0.0, 0.5]);
    assert_eq!(a.shape, Some(BodyShape::Box([1.0, 1.0, 2.0])));
    assert_eq!(b.inertia, [3.0, 4.0, 5.0, 0.5, 0.25, 0.125]);
    assert!(near(
        &b.orientation,
        &[0.5f64.cos(), 0.0, 0.5f64.sin(), 0.0]
    ));
    assert_eq!((c.mass, c.inertia), (0.0, [0.0; 6]));
    assert!(table.prescribed && !a.prescribed);
    assert_eq!((table.mass, table.position), (0.0, [0.0, 0.0, -1.0]));
}

#[test]
fn joints_of_every_kind_are_read_as_written() {
    let model = everything();
    for (_, kind) in JointKind::ALL {
        assert!(model.joints.iter().any(|j| j.kind == kind), "{kind:?}");
    }
    let hip = joint(&model, "hip");
    assert!(hip.mirrored, "x, z, y are left-handed");
    assert_eq!(frames(hip)[0].axis, [1.0, 0.0, 0.0]);
    assert_eq!(frames(hip)[1].reference_direction, [1.0, 0.0, 0.0]);
    assert_eq!(hip.armature, [0.1, 0.2, 0.3]);
    let gantry = joint(&model, "gantry");
    assert_eq!(gantry.position, [1.0, 2.0, 3.0]);
    assert_eq!(frames(gantry)[0].axis, [0.0, 0.0, 1.0]);
    assert!(near(
        &frames(gantry)[0].reference_direction,
        &[0.0, 1.0, 0.0]
    ));
    let [first, second] = frames(joint(&model, "weld"));
    assert_eq!(first.axis, [0.0, 1.0, 0.0]);
    assert!(
        near(&first.reference_direction, &[1.0, 0.0, 0.0]),
        "{:?}",
        first.reference_direction
    );
    assert_eq!(
        (second.axis, second.reference_direction),
        ([0.0, 0.0, 1.0], [0.0; 3])
    );
    assert!(
        matches!(joint(&model, "glue").frame, JointPlacement::InitialPose(f) if f.axis == [0.0; 3])
    );

    let pin = joint(&model, "pin");
    assert_eq!(pin.position, [0.25, 0.0, 0.0]);
    assert_eq!(pin.bodies, [None, Some(0)]);
    assert!(near(&frames(pin)[0].axis, &[0.0, 0.6, 0.8]));
    assert_eq!(frames(pin)[0].reference_direction, [1.0, 0.0, 0.0]);
    let [first, second] = frames(joint(&model, "slide"));
    assert_eq!(first.reference_direction, [0.0; 3]);
    assert!(near(&second.reference_direction, &[0.0, 0.0, 1.0]));
    assert_eq!(joint(&model, "tube").position, [0.5, 1.5, 0.0]);
    assert_eq!(frames(joint(&model, "ball"))[0].axis, [0.0; 3]);

    let cross = frames(joint(&model, "cross"))[0];
    assert_eq!(
        (cross.axis, cross.reference_direction),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    );
    let [first, second] = frames(joint(&model, "cross_in_bodies"));
    assert_eq!(
        (first.axis, first.reference_direction),
        ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    );
    assert_eq!(
        (second.axis, second.reference_direction),
        ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    );

    assert_eq!(joint(&model, "ice").position, [1.0, 2.0, 3.0]);
    assert!(near(
        &frames(joint(&model, "ice"))[0].reference_direction,
        &[0.0, 1.0, 0.0]
    ));
    assert_eq!(joint(&model, "bolt").pitch, -0.002);
    assert_eq!(joint(&model, "rod").length, Some(1.5));
    assert_eq!(joint(&model, "string").length, None);
    assert_eq!(frames(joint(&model, "rod")).map(|f| f.point[2]), [1.0, 2.0]);
    let [first, second] = frames(joint(&model, "wire"));
    let half = 0.5f64.sqrt();
    assert!(near(&first.axis, &[half, half, 0.0]));
    assert_eq!(second.axis, [0.0; 3]);
}

#[test]
fn couplings_name_coordinates_of_other_joints() {
    let model = everything();
    let index = |name: &str| model.joints.iter().position(|j| j.name == name).unwrap();
    let of = |name: &str| joint(&model, name).coupling.clone().unwrap();
    let at = |name: &str, index_in_joint: usize| JointCoordinate {
        joint: index(name),
        index: index_in_joint,
    };
    assert_eq!(of("gear").coordinates, [at("pin", 0), at("tube", 0)]);
    assert_eq!(of("gear").law, CouplingLaw::Ratio(-2.5));
    assert_eq!(of("cam").coordinates, [at("bolt", 0), at("slide", 0)]);
    let table = vec![[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]];
    let table = Curve::Table {
        points: table,
        interpolation: Interpolation::Monotone,
    };
    assert_eq!(of("cam").law, CouplingLaw::Curve(table));
    assert_eq!(of("stepped").coordinates[1], at("ice", 2));
    let CouplingLaw::Curve(Curve::Pieces(pieces)) = of("stepped").law else {
        panic!("pieces")
    };
    assert_eq!((pieces[0].below, pieces[1].below), (1.0, f64::INFINITY));
    assert_eq!(pieces[1].polynomial, [-0.5, 1.0]);
}

#[test]
fn motions_are_read_as_written() {
    let model = everything();
    let laws: Vec<&MotionLaw> = model.motions.iter().map(|m| &m.law).collect();
    assert_eq!(
        *laws[0],
        MotionLaw::ConstantSpeed { speed: 4.0 },
        "set by its parameter"
    );
    assert_eq!(*laws[1], MotionLaw::Polynomial(vec![1.5, 0.0, 3.0]));
    assert_eq!(
        *laws[2],
        MotionLaw::Harmonic {
            amplitude: 0.01,
            frequency: 50.0,
            phase: 0.0,
            offset: 0.0
        }
    );
    assert!(
        matches!(laws[3], MotionLaw::Table { points, periodic: true, interpolation: Interpolation::Monotone } if points.len() == 3)
    );
    // A position that nobody gives starts from that of its joint.
    assert_eq!(
        *laws[4],
        MotionLaw::Input {
            order: 0,
            start: 0.2
        }
    );
    assert_eq!(
        *laws[5],
        MotionLaw::Input {
            order: 2,
            start: 0.5
        }
    );
    assert_eq!(
        model.motions[2].on,
        PrescribedCoordinate::Body(3, BodyCoordinate::Position(2))
    );
    assert_eq!(
        model.motions[3].on,
        PrescribedCoordinate::Body(3, BodyCoordinate::Angle)
    );
    assert_eq!(model.motions[3].axis, [0.0, 0.0, 1.0]);
    assert_eq!(model.inputs[0].target, Target::Motion(4));
    assert_eq!(model.inputs[0].start, 0.2);
    assert_eq!(model.parameters[0].target, Target::MotionSpeed(0));
}

#[test]
fn quantities_of_space_have_names_and_units() {
    let model = everything();
    for (name, unit) in [
        ("a.z", "m"),
        ("a.qz", ""),
        ("tip.wy", "rad/s"),
        ("tip.az", "m/s2"),
        ("b.alphax", "rad/s2"),
        ("pin.position", "rad"),
        ("slide.speed", "m/s"),
        ("tube.position1", "rad"),
        ("tube.position2", "m"),
        ("tube.acceleration2", "m/s2"),
        ("cross.speed2", "rad/s"),
        ("ice.position2", "m"),
        ("ice.position3", "rad"),
        ("bolt.position", "rad"),
        ("rod.fz", "N"),
        ("wire.position", "m"),
        ("ball.qx", ""),
        ("ball.mz", "N.m"),
        ("glue.fz", "N"),
        ("steady.effort", "N.m"),
        ("curved.effort", "N"),
        ("shaking.position", "m"),
        ("turning.speed", "rad/s"),
        ("pushed.acceleration", "rad/s2"),
        ("motor.torque", "N.m"),
    ] {
        let quantity = model.quantity(name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(model.unit(quantity), unit, "{name}");
    }
    for name in [
        "a.angle",
        "pin.position1",
        "tube.position",
        "tube.position3",
        "gear.position",
        "gear.fx",
        "ball.position",
        "rod.position",
        "glue.position",
        "steady.fx",
    ] {
        assert!(model.quantity(name).is_err(), "{name}");
    }
    let all = model.quantities();
    for (name, quantity) in &all {
        assert_eq!(model.quantity(name).as_ref(), Ok(quantity), "{name}");
        assert_eq!(
            all.iter().filter(|(_, other)| other == quantity).count(),
            1,
            "{name}"
        );
    }
}

#[test]
fn targets_of_motions_are_set_by_name() {
    let mut model = everything();
    for (name, unit) in [
        ("steered.position", "rad"),
        ("pushed.acceleration", "rad/s2"),
        ("steady.speed", "rad/s"),
        ("gravity.z", "m/s2"),
        ("a.mass", "kg"),
    ] {
        let target = model.target(name).unwrap();
        assert_eq!(model.target_name(target), name);
        assert_eq!(model.unit_of_target(target), unit, "{name}");
        model.set(name, 0.75).unwrap();
        assert_eq!(model.value_of_target(target), 0.75);
    }
    assert_eq!(
        model.inputs[0].start, 0.75,
        "the input on the same target starts there too"
    );
    for name in ["table.mass", "a.inertia", "steered.speed", "curved.speed"] {
        assert!(model.target(name).is_err(), "{name}");
    }
    model.validate().unwrap();
}

#[test]
fn an_invalid_spatial_model_is_refused_by_name() {
    let good = everything();
    type Spoil = fn(&mut Model);
    let spoils: [(&str, Spoil); 17] = [
        ("a.inertia", |m| {
            m.bodies[0].inertia = [1.0, 1.0, 9.0, 0.0, 0.0, 0.0]
        }),
        ("a.inertia", |m| m.bodies[0].inertia[3] = f64::NAN),
        ("a.orientation", |m| m.bodies[0].orientation = [1.0; 4]),
        ("table.mass", |m| m.bodies[3].mass = 1.0),
        ("steady", |m| {
            m.motions[0].on = PrescribedCoordinate::Body(0, BodyCoordinate::Position(0))
        }),
        ("steady", |m| {
            m.motions[0].on = PrescribedCoordinate::Joint(JointCoordinate { joint: 2, index: 1 })
        }),
        ("turning", |m| m.motions[3].axis = [0.0; 3]),
        ("pushed", |m| {
            m.motions[5].law = MotionLaw::Input {
                order: 3,
                start: 0.0,
            }
        }),
        ("curved", |m| {
            m.motions[1].law = MotionLaw::Polynomial(vec![])
        }),
        ("shaking", |m| {
            m.motions[2].law = MotionLaw::Table {
                points: vec![[1.0, 0.0], [0.0, 0.0]],
                periodic: false,
                interpolation: Interpolation::Monotone,
            }
        }),
        ("turning", |m| {
            m.motions[3].law = MotionLaw::Table {
                points: vec![[0.0, 0.0], [1.0, 1.0]],
                periodic: true,
                interpolation: Interpolation::Monotone,
            }
        }),
        ("bolt.pitch", |m| m.joints[9].pitch = 0.0),
        ("rod.length", |m| m.joints[10].length = Some(-1.0)),
        ("gear.ratio", |m| {
            m.joints[13].coupling.as_mut().unwrap().law = CouplingLaw::Ratio(0.0)
        }),
        ("gear.coupling", |m| m.joints[13].coupling = None),
        ("pin.axis", |m| {
            m.joints[2].frame = JointPlacement::InitialPose(JointFrame::default())
        }),
        ("tube.type", |m| m.dimension = 2),
    ];
    for (fragment, spoil) in spoils {
        let mut model = good.clone();
        spoil(&mut model);
        let sentence = match model.validate() {
            Ok(()) => panic!("{fragment} is accepted"),
            Err(error) => error.to_string(),
        };
        // In the plane bodies and joints differ: which is refused first does not matter.
        assert!(
            sentence.contains(fragment) || model.dimension == 2,
            "{fragment}: {sentence}"
        );
    }
}

#[test]
fn an_inertia_rounded_in_its_last_digit_is_accepted_and_more_is_not() {
    let with = |inertia: &str| {
        let text = EVERYTHING.replacen("[1, 2, 2.5]", inertia, 1);
        Model::from_text(&text, "t")
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    // A flat plate to three digits; a rod; a turned tensor whose principal moments are 1, 1, 2.
    for good in [
        "[0.0833, 0.0833, 0.167]",
        "[0, 1, 1]",
        "[1.5, 1.5, 1, 0.5, 0, 0]",
        "[1e-300, 1e-300, 2e-300]",
        "[1e300, 1e300, 2e300]",
    ] {
        assert_eq!(with(good), Ok(()), "{good}");
    }
    for (bad, fragment) in [
        ("[1, 1, 2.1]", "triangle inequality"),
        ("[1, 1, 1, 2, 0, 0]", "negative"),
        ("[1, -1, 1]", "negative"),
        ("[0, 0, 1]", "triangle inequality"),
    ] {
        let sentence = with(bad).unwrap_err();
        assert!(sentence.contains(fragment), "{bad}: {sentence}");
    }
}

#[test]
fn planar_models_have_their_own_joints_and_motions() {
    let text = r#"format = 1
dimension = 2
[[body]]
name = "a"
mass = 1
inertia = 1
[[body]]
name = "road"
prescribed = true
angle = 0.1
[[joint]]
name = "weld"
type = "fixed"
bodies = ["ground", "a"]
at = [{ point = [0, 0], axis = [0, 2] }, { point = [0, 0] }]
[[joint]]
name = "slot"
type = "point_on_line"
bodies = ["road", "a"]
point = [0, 0]
axis = [3, 4]
position = [1, 2]
[[joint]]
name = "rod"
type = "distance"
bodies = ["ground", "a"]
points = [[0, 1], [0, 2]]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "a"]
point = [0, 0]
[[joint]]
name = "rack"
type = "coupling"
joints = ["pin", "slot.position1"]
ratio = 0.05
[[motion]]
name = "heave"
body = "road"
coordinate = "y"
law = "input"
[[motion]]
name = "tilt"
body = "road"
coordinate = "angle"
law = "constant_speed"
speed = 1
"#;
    let model = Model::from_text(text, "t").unwrap();
    model.validate().unwrap();
    let [first, second] = frames(&model.joints[0]);
    assert_eq!(
        (first.axis, second.axis),
        ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    );
    assert!(near(&frames(&model.joints[1])[0].axis, &[0.6, 0.8, 0.0]));
    assert_eq!(model.joints[1].position, [1.0, 2.0, 0.0]);
    assert_eq!(model.unit(model.quantity("slot.position2").unwrap()), "rad");
    assert_eq!(model.motions[1].axis, [0.0, 0.0, 1.0]);
    assert_eq!(model.bodies[1].angle, 0.1);
}

#[test]
fn elements_may_refer_to_later_ones() {
    // The file as written, its tables in reverse order: the same model but for the order.
    let (head, tables) = EVERYTHING.split_at(EVERYTHING.find("[[body]]").unwrap());
    let mut tables: Vec<&str> = tables.split_inclusive("\n[[").collect();
    let last = tables.len() - 1;
    let owned: Vec<String> = tables
        .drain(..)
        .enumerate()
        .map(|(i, t)| {
            let t = t.strip_prefix("[[").unwrap_or(t);
            format!(
                "[[{}",
                if i == last {
                    t
                } else {
                    t.strip_suffix("[[").unwrap()
                }
            )
        })
        .rev()
        .collect();
    let text = format!("{head}{}", owned.join("\n"));
    match Model::from_text(&text, "t") {
        Ok(model) => {
            assert_eq!(model.joints.len(), everything().joints.len());
            model.validate().unwrap();
        }
        Err(Error::Model { line, message, .. }) => panic!("{line}: {message}\n{text}"),
        Err(other) => panic!("{other}"),
    }
}
