//! Complete texts: the models of the repository, broken texts with the position and sentence of each error, damaged texts.

use std::path::{Path, PathBuf};

use super::*;
use crate::error::Error;

mod space;

pub(super) use space::EVERYTHING;

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models")
        .join(file)
}

/// A model of the repository.
pub(super) fn model(file: &str) -> Model {
    Model::from_file(&path(file)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_model_of_the_repository_reads_and_validates() {
    let mut count = 0;
    for entry in std::fs::read_dir(path("")).unwrap() {
        let file = entry.unwrap().path();
        if file.is_dir() {
            continue;
        }
        let model = Model::from_file(&file).unwrap_or_else(|e| panic!("{e}"));
        model.validate().unwrap();
        assert_eq!(model.name, file.file_stem().unwrap().to_str().unwrap());
        count += 1;
    }
    assert!(count >= 7, "{count} models");
}

#[test]
fn toml_and_json_give_the_same_model() {
    assert_eq!(
        model("slider_crank.toml").without_text_positions(),
        model("slider_crank.json").without_text_positions()
    );
}

#[test]
fn the_slider_crank_is_read_as_written() {
    let model = model("slider_crank.toml");
    let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["crank", "rod", "slider"]);
    assert_eq!(model.dimension, 2);
    assert_eq!(model.gravity, [0.0, -9.81, 0.0]);
    assert_eq!(model.experiment.stop, 2.0);
    assert_eq!(model.experiment.interval, Some(0.01));
    assert_eq!(model.bodies[1].mass, 1.5);
    assert_eq!(model.bodies[1].inertia, [0.0, 0.0, 0.03125, 0.0, 0.0, 0.0]);
    assert_eq!(model.bodies[0].angular_velocity, [0.0, 0.0, 10.0]);
    assert_eq!(
        model.bodies[2].shape,
        Some(BodyShape::Box([0.1, 0.06, 0.0]))
    );
    assert_eq!(model.joints[1].bodies, [Some(0), Some(1)]);
    assert_eq!(model.joints[3].kind, JointKind::Prismatic);
    assert_eq!(
        model.joints[3].frame,
        JointPlacement::InitialPose(JointFrame {
            point: [0.6210045085685815, 0.0, 0.0],
            axis: [1.0, 0.0, 0.0],
            reference_direction: [0.0; 3],
        })
    );
    assert_eq!(
        model.forces[0].on,
        ForceApplication::Joint(JointCoordinate { joint: 0, index: 0 })
    );
    assert_eq!(model.inputs[0].target, Target::ForceEffort(0));
    assert_eq!(model.inputs[0].unit.as_deref(), Some("N.m"));
    assert_eq!(model.parameters[0].target, Target::BodyMass(2));
    assert_eq!(model.parameters[0].start, 0.8);
    assert_eq!(model.outputs[0].source, "pivot.position");
}

#[test]
fn the_start_of_the_slider_crank_is_consistent() {
    // Each revolute joint's point has the same velocity on both bodies: the numbers in the file have 16 digits.
    let model = model("slider_crank.toml");
    for joint in model
        .joints
        .iter()
        .filter(|j| j.kind == JointKind::Revolute)
    {
        let JointPlacement::InitialPose(frame) = joint.frame else {
            panic!("given in the ground frame");
        };
        let velocity = |body: BodyRef| {
            body.map_or([0.0; 2], |i| {
                let b = &model.bodies[i];
                let (x, y) = (
                    frame.point[0] - b.position[0],
                    frame.point[1] - b.position[1],
                );
                let w = b.angular_velocity[2];
                [b.velocity[0] - w * y, b.velocity[1] + w * x]
            })
        };
        let (a, b) = (velocity(joint.bodies[0]), velocity(joint.bodies[1]));
        for k in 0..2 {
            assert!((a[k] - b[k]).abs() < 1e-14, "{}: {a:?} {b:?}", joint.name);
        }
    }
}

#[test]
fn frames_in_the_bodies_and_moved_centres_are_read() {
    let model = model("four_bar.toml");
    assert_eq!(model.bodies[2].center_of_mass, [0.35, 0.0, 0.0]);
    let JointPlacement::BodyFrames([a, b]) = model.joints[0].frame else {
        panic!("given by `at`");
    };
    assert_eq!((a.point, b.point), ([0.0; 3], [-0.15, 0.0, 0.0]));
    assert_eq!(a.axis, [0.0, 0.0, 1.0]);
    let damper = ForceKind::SpringDamper(SpringDefinition {
        damping: 4.0.into(),
        ..SpringDefinition::default()
    });
    assert_eq!(model.forces[0].kind, damper);
}

/// A text that is right; the broken ones are made from it by replacing one part.
const GOOD: &str = r#"format = 1
name = "good"
dimension = 2
gravity = [0, -10]
[solver]
alpha = 0.1
[experiment]
stop = 1
[[body]]
name = "rod"
mass = 1
inertia = 1
[[body]]
name = "cart"
mass = 2
inertia = 0
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "rod"]
point = [0, 0]
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["ground", "cart"]
point = [0, 0]
axis = [3, 4]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["rod", "cart"]
points = [[0, 0], [1, 0]]
stiffness = 10
length = 1
[[force]]
name = "motor"
type = "actuator"
joint = "pin"
[[sensor]]
name = "tip"
body = "rod"
point = [1, 0]
[[input]]
name = "tau"
target = "motor.torque"
start = 3
[[parameter]]
name = "k"
target = "spring.stiffness"
start = 20
[[output]]
name = "x"
source = "tip.x"
"#;

#[test]
fn the_good_text_is_good_and_its_defaults_are_those_of_the_manual() {
    let model = Model::from_text(GOOD, "good.toml").unwrap();
    model.validate().unwrap();
    assert_eq!(
        model.solver,
        SolverSettings {
            alpha: 0.1,
            ..SolverSettings::default()
        }
    );
    assert_eq!(
        model.experiment,
        Experiment {
            start: 0.0,
            stop: 1.0,
            interval: None,
            initial: InitialPosition::Given,
        }
    );
    assert_eq!(model.bodies[0].position, [0.0; 3]);
    let JointPlacement::InitialPose(frame) = model.joints[1].frame else {
        panic!()
    };
    assert_eq!(frame.axis, [0.6, 0.8, 0.0]);
    // A start of its own is written through to the element.
    assert_eq!(model.value_of_target(model.parameters[0].target), 20.0);
    assert_eq!(model.value_of_target(model.inputs[0].target), 3.0);
    assert_eq!(
        model.bodies[1].text_position,
        TextPosition {
            line: 13,
            column: 1
        }
    );
    assert_eq!(model.outputs[0].text_position.line, 51);
}

#[test]
fn broken_texts_are_refused_at_their_position_with_their_sentence() {
    #[rustfmt::skip]
    let broken: &[(&str, &str, &str, &str)] = &[
        // The file as a whole.
        ("format = 1\n", "", "1:1", "\"format\" is missing"),
        ("format = 1", "format = 2", "1:10", "format 2 is unknown: this version reads format 1"),
        ("format = 1", "format = \"1\"", "1:10", "format must be a whole number >= 0, found \"1\" (a string)"),
        ("name = \"good\"", "name = \"not good\"", "2:8", "name must be letters, digits and _"),
        ("dimension = 2\n", "", "3:11", "an array of 3 numbers [x, y, z], found an array of 2 values (dimension is 3 unless dimension = 2 is written)"),
        ("dimension = 2", "dimension = 3", "4:11", "gravity must be an array of 3 numbers [x, y, z], found an array of 2 values"),
        ("dimension = 2", "dimension = 4", "3:13", "dimension must be 2 or 3, found 4"),
        ("gravity = [0, -10]", "gravity = [0, -10, 0]", "4:11", "an array of 2 numbers [x, y], found an array of 3 values"),
        ("gravity = [0, -10]", "gravity = [0, \"g\"]", "4:16", "gravity: there is no definition \"g\"; a unit stands behind a number: \"1 g\""),
        ("gravity = [0, -10]", "gravity = -10", "4:11", "gravity must be an array of 2 numbers [x, y], found -10"),
        ("gravity = [0, -10]", "gravty = [0, -10]", "4:1", "unknown key \"gravty\"; did you mean \"gravity\"?"),
        ("gravity = [0, -10]", "colour = 1", "4:1", "unknown key \"colour\"; the keys here are format, name"),
        ("gravity = [0, -10]", "expose = \"some\"", "4:10", "expose must be one of declared, all, found \"some\""),
        ("gravity = [0, -10]", "gravity = [0 -10]", "4:12", "not valid TOML"),
        ("gravity = [0, -10]", "gravity = [0, 1979-05-27]", "4:15", "found a date"),
        ("gravity = [0, -10]", "name = \"again\"", "4:1", "duplicate key"),
        ("[[sensor]]", "[[motion]]", "42:1", "motion \"tip\": unknown key \"point\"; did you mean \"joint\"?"),
        ("[experiment]", "[system]", "9:3", "a model is made of bodies or given by [system], not both: remove \"body\""),
        // Settings.
        ("alpha = 0.1", "alpha = 0.5", "6:9", "solver: alpha must be 0 <= alpha <= 1/3, found 0.5"),
        ("alpha = 0.1", "alpha = nan", "6:9", "solver: alpha must be 0 <= alpha <= 1/3, found nan"),
        ("alpha = 0.1", "alhpa = 0.1", "6:1", "solver: unknown key \"alhpa\"; did you mean \"alpha\"?"),
        ("alpha = 0.1", "gravity = [0, 1]", "6:1", "it belongs at the top of the file"),
        ("alpha = 0.1", "tolerance = 0", "6:13", "tolerance must be a finite number > 0"),
        ("alpha = 0.1", "tolerance = true", "6:13", "tolerance must be a finite number > 0, found true (a boolean)"),
        ("alpha = 0.1", "step = -1e-3", "6:8", "step must be a finite number > 0"),
        ("alpha = 0.1", "max_step = 1\nmin_step = 2", "7:12", "min_step must be min_step <= max_step = 1.0"),
        ("alpha = 0.1", "max_substeps = 0", "6:16", "max_substeps must be an integer from 1"),
        ("alpha = 0.1", "max_substeps = 1.5", "6:16", "max_substeps must be a whole number >= 0, found 1.5"),
        ("alpha = 0.1", "projection = 1", "6:14", "projection must be true or false, found 1"),
        ("alpha = 0.1", "formulation = \"cartesian\"", "6:15", "formulation must be one of auto, absolute, relative, global, hybrid, topological, found \"cartesian\""),
        ("alpha = 0.1", "formulation = \"absolut\"", "6:15", "did you mean \"absolute\"?"),
        ("alpha = 0.1", "integrator = \"euler\"", "6:14", "integrator must be one of auto, hht, vsa23, found \"euler\""),
        ("alpha = 0.1", "vsa23 = true", "6:9", "vsa23 must be a table, found true (a boolean)"),
        ("alpha = 0.1", "vsa23 = { error = \"end\" }", "6:11", "solver: vsa23: unknown key \"error\""),
        ("alpha = 0.1", "vsa23 = { error_at = \"start\" }", "6:22", "error_at must be one of end, common, found \"start\""),
        ("alpha = 0.1", "vsa23 = { parameters = \"old\" }", "6:24", "parameters must be one of common, original, found \"old\""),
        ("alpha = 0.1", "vsa23 = { parameters = \"original\", error_at = \"common\" }", "6:9", "these parameters have no common point"),
        ("alpha = 0.1", "penalty = 0", "6:11", "penalty must be a finite number > 0, found 0"),
        ("alpha = 0.1", "rechoose = 1", "6:12", "rechoose must be true or false, found 1"),
        ("stop = 1", "stop = -1", "8:8", "experiment: stop must be a finite number > start"),
        ("stop = 1", "interval = 0", "8:12", "interval must be a finite number > 0"),
        ("[solver]", "[[solver]]", "5:1", "solver must be a table, found an array of 1 value"),
        // Bodies.
        ("mass = 1\n", "mass = \"heavy\"\n", "11:9", "body \"rod\": mass: there is no definition \"heavy\""),
        ("mass = 1\n", "mass = -1\n", "11:8", "mass must be a finite number >= 0, found -1"),
        ("mass = 1\n", "mass = inf\n", "11:8", "mass must be a finite number >= 0, found inf"),
        ("mass = 1\n", "mass = 1e999\n", "11:8", "found 1e999"),
        ("mass = 1\n", "mas = 1\n", "11:1", "body \"rod\": unknown key \"mas\"; did you mean \"mass\"?"),
        ("mass = 1\n", "", "9:1", "body \"rod\": \"mass\" is missing: expected a finite number >= 0"),
        ("inertia = 1\n", "", "9:1", "body \"rod\": \"inertia\" is missing"),
        ("inertia = 1\n", "inertia = [1, 1, 1]\n", "12:11", "inertia must be a finite number >= 0, found an array of 3 values"),
        ("inertia = 1\n", "inertia = 1\norientation = [1, 0, 0, 0]\n", "13:1", "a body takes no \"orientation\" in two dimensions"),
        ("inertia = 1\n", "inertia = 1\nprescribed = true\n", "11:1", "a prescribed body takes no \"mass\""),
        ("inertia = 1\n", "inertia = 1\nposition = [1]\n", "13:12", "found an array of 1 value"),
        ("inertia = 1\n", "inertia = 1\nshape = { box = [1, 0] }\n", "13:17", "shape: the edges of a box must be > 0"),
        ("inertia = 1\n", "inertia = 1\nshape = { circle = 1, line = [] }\n", "13:9", "found 2 of them"),
        ("inertia = 1\n", "inertia = 1\nshape = { line = [[0, 0]] }\n", "13:18", "at least two points"),
        ("inertia = 1\n", "inertia = 1\nshape = {}\n", "13:9", "expected one of box"),
        ("name = \"rod\"", "", "9:1", "body number 1: \"name\" is missing"),
        ("name = \"rod\"", "name = \"ground\"", "10:8", "the name \"ground\" is reserved"),
        ("name = \"rod\"", "name = \"1rod\"", "10:8", "not starting with a digit; found \"1rod\""),
        ("name = \"cart\"", "name = \"rod\"", "14:8", "the name \"rod\" is already that of a body at 10:8"),
        ("name = \"tip\"", "name = \"spring\"", "40:8", "the name \"spring\" is already that of a force at 29:8"),
        // Joints.
        ("type = \"revolute\"", "type = \"spherical\"", "19:8", "there is no spherical joint in two dimensions: use \"revolute\""),
        ("type = \"revolute\"", "type = \"revolut\"", "19:8", "type \"revolut\" is unknown; did you mean \"revolute\"?"),
        ("type = \"revolute\"", "", "17:1", "joint \"pin\": \"type\" is missing: expected one of fixed, revolute, prismatic"),
        ("type = \"revolute\"", "tpye = \"revolute\"", "19:1", "unknown key \"tpye\"; did you mean \"type\"?"),
        ("bodies = [\"ground\", \"rod\"]", "bodies = [\"ground\", \"rood\"]", "20:21", "joint \"pin\": there is no body \"rood\"; did you mean \"rod\"?"),
        ("bodies = [\"ground\", \"rod\"]", "bodies = [\"ground\", \"rail\"]", "20:21", "\"rail\" is a joint, not a body"),
        ("bodies = [\"ground\", \"rod\"]", "bodies = [\"rod\", \"rod\"]", "20:18", "two different ones, found \"rod\" twice"),
        ("bodies = [\"ground\", \"rod\"]", "bodies = \"rod\"", "20:10", "bodies must be the names of two bodies"),
        ("bodies = [\"ground\", \"rod\"]", "", "17:1", "\"bodies\" is missing"),
        ("point = [0, 0]\n[[joint]]", "[[joint]]", "17:1", "\"point\" is missing: expected point = [x, y]"),
        ("point = [0, 0]\n[[joint]]", "point = [0, 0]\naxis = [1, 0]\n[[joint]]", "22:1", "takes no \"axis\""),
        ("point = [0, 0]\n[[joint]]", "point = [0, 0]\nat = []\n[[joint]]", "22:1", "either \"point\""),
        ("point = [0, 0]\n[[joint]]", "at = [{ point = [0, 0] }]\n[[joint]]", "21:6", "at must be two frames, one in each body, found 1"),
        ("point = [0, 0]\n[[joint]]", "at = [{ point = [0, 0] }, { pont = [0, 0] }]\n[[joint]]", "21:29", "joint \"pin\": at[1]: unknown key \"pont\""),
        ("point = [0, 0]\n[[joint]]", "point = [0, 0]\nlimits = [-1, 1]\n[[joint]]", "17:1", "\"stiffness\" is missing"),
        ("point = [0, 0]\n[[joint]]", "point = [0, 0]\nfriction = {}\n[[joint]]", "22:12", "\"kinetic\" is missing"),
        ("axis = [3, 4]", "axis = [0, 0]", "27:8", "axis must not be zero"),
        ("axis = [3, 4]", "", "22:1", "joint \"rail\": \"axis\" is missing: expected [x, y]"),
        ("axis = [3, 4]", "at = [{ point = [0, 0], axis = [1, 0] }, { point = [0, 0] }]", "27:1", "either \"point\""),
        // Forces.
        ("type = \"spring_damper\"", "type = \"tyre\"", "31:1", "takes no \"bodies\""),
        ("type = \"spring_damper\"", "type = \"spring\"", "30:8", "type must be one of spring_damper, torsion_spring, force, torque, actuator, pid, servo, bushing, tyre, contact, found \"spring\""),
        ("stiffness = 10", "stiffness = -10", "33:13", "stiffness must be a finite number >= 0, found -10"),
        ("stiffness = 10", "stiffness = { polynomial = [] }", "33:28", "polynomial must be coefficients [c0, c1, ..]"),
        ("stiffness = 10", "damping = -1", "33:11", "damping must be a finite number >= 0"),
        ("stiffness = 10", "", "28:1", "expected stiffness, damping, or both"),
        ("stiffness = 10", "direction = [1, 0]", "28:1", "expected stiffness, damping, or both"),
        ("length = 1", "", "28:1", "\"length\" is missing: expected the unloaded length"),
        ("points = [[0, 0], [1, 0]]", "points = [[0, 0]]", "32:10", "points must be two points [[x, y], [x, y]], found an array of 1 value"),
        ("points = [[0, 0], [1, 0]]", "points = [[0, 0], [1]]", "32:19", "points[1] must be an array of 2 numbers"),
        ("joint = \"pin\"", "joint = \"pni\"", "38:9", "there is no joint \"pni\"; did you mean \"pin\"?"),
        ("joint = \"pin\"", "joint = \"cart\"", "38:9", "\"cart\" is a body, not a joint"),
        ("joint = \"pin\"", "joint = \"pin\"\nforce = 1", "39:1", "an actuator in a revolute joint has a \"torque\", not a \"force\""),
        ("joint = \"pin\"", "joint = \"rail\"\ntorque = 1", "39:1", "an actuator in a prismatic joint has a \"force\""),
        ("joint = \"pin\"", "joint = \"pin\"\npoints = []", "39:1", "not both"),
        ("joint = \"pin\"", "", "35:1", "\"joint\" is missing"),
        // Signals.
        ("body = \"rod\"", "body = \"rods\"", "41:8", "sensor \"tip\": there is no body \"rods\"; did you mean \"rod\"?"),
        ("target = \"motor.torque\"", "target = \"motor.speed\"", "45:10", "force \"motor\" has no \"speed\" that can be set; it has: torque, force"),
        ("target = \"motor.torque\"", "target = \"moto.torque\"", "45:10", "there is no element \"moto\"; did you mean \"motor\"?"),
        ("target = \"motor.torque\"", "target = \"rod.mass\"", "45:10", "cannot be driven while the simulation runs"),
        ("target = \"motor.torque\"", "target = \"tip.x\"", "45:10", "sensor \"tip\" has nothing that can be set"),
        ("target = \"motor.torque\"", "target = \"motor.torque\"\nunit = \"N.mm\"", "46:8", "unit \"N.mm\" does not fit: the value is in \"N.m\""),
        ("start = 3", "start = \"now\"", "46:10", "start: there is no definition \"now\""),
        ("start = 20", "start = -20", "50:9", "parameter \"k\": start must be a finite number >= 0, found -20"),
        ("target = \"spring.stiffness\"", "target = \"motor.force\"", "49:10", "motor.torque is already set by \"tau\" at 45:10"),
        ("name = \"k\"", "name = \"tau\"", "48:8", "the name \"tau\" is already that of an input at 44:8"),
        ("name = \"k\"", "name = \"time\"", "48:8", "the name \"time\" is reserved"),
        ("source = \"tip.x\"", "source = \"tip.z\"", "53:10", "output \"x\": source: sensor \"tip\" has no quantity \"z\""),
        ("source = \"tip.x\"", "source = \"top.x\"", "53:10", "there is no element \"top\"; did you mean \"tip\"?"),
        ("source = \"tip.x\"", "source = \"tip\"", "53:10", "expected <element>.<field>"),
        ("source = \"tip.x\"", "source = \"ground.x\"", "53:10", "the ground does not move"),
        ("source = \"tip.x\"", "source = \"energy.potental\"", "53:10", "did you mean \"potential\"?"),
        ("source = \"tip.x\"", "", "51:1", "output \"x\": \"source\" is missing"),
        ("[[output]]", "[output]", "51:2", "output must be an array of tables: write [[output]]"),
    ];
    let mut failures = vec![];
    for (part, instead, place, fragment) in broken {
        assert!(GOOD.contains(part), "{part}");
        let text = GOOD.replacen(part, instead, 1);
        let found = match Model::from_text(&text, "bad.toml") {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        let there = format!("bad.toml:{place}: ");
        if !(found.lines()).any(|line| line.starts_with(&there) && line.contains(fragment)) {
            failures.push(format!(
                "{part} -> {instead}\n  expected {place}: .. {fragment}\n  found    {found}"
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(broken.len() >= 40);
}

#[test]
fn broken_json_is_refused_at_its_position_too() {
    for (text, place, fragment) in [
        (
            "{\"format\": 1,\n \"dimension\": 2,\n \"body\": [{\"name\": \"a\", \"mass\": null}]}",
            "3:33",
            "mass must be a finite number >= 0, found null",
        ),
        (
            "{\"format\": 1,\n \"dimension\": 2,\n \"body\": [{\"nme\": \"a\"}]}",
            "3:12",
            "did you mean \"name\"?",
        ),
        (
            "{\"format\": 1,\n \"dimension\": 2,\n \"body\": [7]}",
            "3:11",
            "body[0] must be a table, found 7",
        ),
        (
            "{\"format\": 1, \"format\": 1}",
            "1:15",
            "duplicate key \"format\": it is already given at 1:2",
        ),
        ("{\"format\": 1,}", "1:13", "not valid JSON"),
        ("{", "1:1", "not valid JSON"),
        ("{}", "1:1", "\"format\" is missing"),
        (
            "[]",
            "1:1",
            "a model is a table of keys, found an empty array",
        ),
        ("", "1:1", "the text is empty"),
    ] {
        let sentence = Model::from_text(text, "bad.json").unwrap_err().to_string();
        assert!(
            (sentence.lines())
                .any(|line| line.starts_with(&format!("bad.json:{place}: "))
                    && line.contains(fragment)),
            "{text}\n  expected {place} .. {fragment}\n  found    {sentence}"
        );
    }
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let missing = Model::from_file(&path("no_such_model.toml")).unwrap_err();
    assert!(matches!(missing, Error::File { .. }), "{missing}");
    assert!(Model::from_file(&path("")).is_err());
    let file = std::env::temp_dir().join(format!("biela_not_utf8_{}.toml", std::process::id()));
    std::fs::write(&file, b"format = 1\nname = \"\xff\"").unwrap();
    let sentence = Model::from_file(&file).unwrap_err().to_string();
    std::fs::remove_file(&file).unwrap();
    assert!(
        sentence.contains("not UTF-8 text: byte 19 (line 2)"),
        "{sentence}"
    );
}

#[test]
fn a_name_is_made_from_the_file_where_none_is_given() {
    for (origin, name) in [
        ("dir/my-model.toml", "my_model"),
        ("4bar.toml", "_4bar"),
        ("", "_"),
    ] {
        let text = GOOD.replacen("name = \"good\"\n", "", 1);
        assert_eq!(Model::from_text(&text, origin).unwrap().name, name);
    }
}

#[test]
fn a_bom_and_other_line_ends_change_nothing() {
    let plain = Model::from_text(GOOD, "good")
        .unwrap()
        .without_text_positions();
    let windows = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    assert_eq!(
        Model::from_text(&windows, "good")
            .unwrap()
            .without_text_positions(),
        plain
    );
}

#[test]
fn units_may_be_spelt_in_several_ways() {
    for unit in ["N.m", "N m", "N*m", "N·m"] {
        let with = format!("target = \"motor.torque\"\nunit = \"{unit}\"");
        let text = GOOD.replacen("target = \"motor.torque\"", &with, 1);
        let model = Model::from_text(&text, "t").unwrap();
        assert_eq!(model.inputs[0].unit.as_deref(), Some(unit));
    }
}

/// A small generator of its own: the same mutations on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn no_prefix_and_no_damaged_text_makes_the_reader_panic() {
    let texts = ["four_bar.toml", "slider_crank.json"]
        .map(|file| std::fs::read_to_string(path(file)).unwrap());
    let judge = |text: &str| {
        if let Ok(model) = Model::from_text(text, "damaged") {
            model
                .validate()
                .unwrap_or_else(|e| panic!("read but not valid: {e}\n{text}"));
        }
    };
    for text in &texts {
        for (end, _) in text.char_indices() {
            judge(&text[..end]);
        }
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let alphabet = b"[]{}=.,\"'#\n\\-+e0159_ abxy\xc3\xa4\x00";
    for round in 0..2000 {
        let mut bytes = texts[round % 2].clone().into_bytes();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = alphabet[random.below(alphabet.len())],
                1 => bytes.insert(at, alphabet[random.below(alphabet.len())]),
                2 => {
                    bytes.remove(at);
                }
                _ => {
                    let end = (at + random.below(60)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
            }
        }
        judge(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_large_model_on_one_line_is_read_in_linear_time() {
    // A quadratic search (columns, names, keys) would take minutes here.
    let bodies: Vec<String> = (0..50_000)
        .map(|i| format!("{{\"name\":\"b{i}\",\"mass\":1,\"inertia\":1}}"))
        .collect();
    let outputs: Vec<String> = (0..50_000)
        .map(|i| format!("{{\"name\":\"y{i}\",\"source\":\"b{i}.y\"}}"))
        .collect();
    let text = format!(
        "{{\"format\":1,\"dimension\":2,\"body\":[{}],\"output\":[{}]}}",
        bodies.join(","),
        outputs.join(",")
    );
    let start = std::time::Instant::now();
    let model = Model::from_text(&text, "large").unwrap();
    assert_eq!(model.outputs.len(), 50_000);
    model.validate().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 20.0, "{seconds} s");
}

#[test]
fn the_examples_of_the_manual_are_read() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/model-file.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let mut count = 0;
    for syntax in ["toml", "json"] {
        for part in manual.split(&format!("```{syntax}\n")).skip(1) {
            let example = part.split("```").next().unwrap();
            if example.starts_with("format = 1") || example.starts_with('{') {
                let model = Model::from_text(example, "docs/model-file.md")
                    .unwrap_or_else(|e| panic!("{e}\n{example}"));
                model.validate().unwrap();
                count += 1;
            }
        }
    }
    assert!(count >= 4, "{count} examples");
}

#[test]
fn the_settings_of_vsa23_have_defaults_that_fit_their_parameters() {
    let read = |settings: &str| {
        let text = GOOD.replace("alpha = 0.1", settings);
        let solver = Model::from_text(&text, "good.toml").unwrap().solver;
        (
            solver.integrator,
            solver.vsa23.parameters,
            solver.vsa23.error_at,
        )
    };
    use {ErrorAt as At, IntegratorName as Name, Vsa23Parameters as Set};
    assert_eq!(read("alpha = 0.1"), (Name::Auto, Set::Common, At::Common));
    assert_eq!(
        read("integrator = \"vsa23\""),
        (Name::Vsa23, Set::Common, At::Common)
    );
    assert_eq!(
        read("integrator = \"vsa23\"\nvsa23 = { parameters = \"original\" }"),
        (Name::Vsa23, Set::Original, At::End)
    );
    assert_eq!(
        read("vsa23 = { error_at = \"end\" }"),
        (Name::Auto, Set::Common, At::End)
    );
}
