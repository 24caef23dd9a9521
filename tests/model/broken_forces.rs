//! Broken models of forces, contacts, friction and end stops: each refused where it is wrong, by a sentence that names the
//! culprit and says what was expected.

use biela::formulation;
use biela::model::Model;

const HEAD: &str = r#"format = 1
name = "broken"
dimension = 2
gravity = [0, -10]
[[body]]
name = "a"
mass = 1
inertia = 1
[[body]]
name = "b"
mass = 1
inertia = 1
position = [1, 0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "a"]
point = [0, 0]
[[joint]]
name = "slide"
type = "prismatic"
bodies = ["ground", "b"]
point = [0, 0]
axis = [1, 0]
"#;

/// What stands in the force, and what the refusal must say.
const FORCES: &[(&str, &str)] = &[
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\nlength = 1",
        "\"stiffness\" is missing",
    ),
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\nstiffness = 1",
        "\"length\" is missing",
    ),
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\nstiffness = 1\nlength = -1",
        "length must be a finite number >= 0",
    ),
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\nstiffness = { polynomial = [0, 1], table = [[0, 0], [1, 1]] }\nlength = 1",
        "found 2 of them",
    ),
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\nstiffness = { table = [[0, 0], [0, 1]] }\nlength = 1",
        "larger than the one before",
    ),
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\ndamping = { pieces = [{ polynomial = [1] }, { polynomial = [2] }] }",
        "\"below\" is missing",
    ),
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\nstiffness = 1\nlength = 1\nonly = \"pull\"",
        "only must be one of tension, compression",
    ),
    (
        "type = \"spring_damper\"\nbodies = [\"a\", \"b\"]\npoints = [[0, 0], [0, 0]]\nstiffness = 1\nlength = 1\ndirection = [0, 0]",
        "direction must not be zero",
    ),
    (
        "type = \"spring_damper\"\njoint = \"slide\"\nbodies = [\"a\", \"b\"]\nstiffness = 1",
        "not both",
    ),
    (
        "type = \"spring_damper\"\njoint = \"pin\"\nstiffness = 1",
        "use type = \"torsion_spring\"",
    ),
    (
        "type = \"torsion_spring\"\njoint = \"slide\"\nstiffness = 1",
        "use type = \"spring_damper\"",
    ),
    (
        "type = \"torsion_spring\"\nstiffness = 1",
        "\"joint\" is missing",
    ),
    (
        "type = \"torsion_spring\"\njoint = \"pin\"\nstiffness = 1\nlength = 1",
        "takes no \"length\"",
    ),
    (
        "type = \"force\"\nbody = \"ground\"\nforce = [1, 0]",
        "the ground does not move",
    ),
    (
        "type = \"force\"\nbody = \"a\"\nforce = [1, 0, 0]",
        "force must be an array of 2 numbers",
    ),
    (
        "type = \"force\"\nbody = \"a\"\nforce = [1, 0]\nframe = \"moon\"",
        "frame must be one of ground, body",
    ),
    (
        "type = \"torque\"\nbody = \"a\"\ntorque = [0, 0, 1]",
        "torque must be a finite number",
    ),
    (
        "type = \"torque\"\nbody = \"c\"\ntorque = 1",
        "there is no body \"c\"",
    ),
    (
        "type = \"actuator\"\njoint = \"pin\"\nforce = 1",
        "has a \"torque\", not a \"force\"",
    ),
    (
        "type = \"bushing\"\nbodies = [\"a\", \"b\"]\npoint = [0, 0]\nstiffness = [1, 2, 3, 4, 5, 6]",
        "stiffness must be 3 numbers >= 0",
    ),
    (
        "type = \"bushing\"\nbodies = [\"a\", \"b\"]\nstiffness = [1, 2, 3]",
        "\"point\" is missing",
    ),
    (
        "type = \"bushing\"\nbodies = [\"a\", \"a\"]\npoint = [0, 0]\nstiffness = [1, 2, 3]",
        "two different ones",
    ),
    (
        "type = \"bushing\"\nbodies = [\"a\", \"b\"]\nat = [{ point = [0, 0] }]\nstiffness = [1, 2, 3]",
        "at must be two frames",
    ),
    (
        "type = \"tyre\"\nbody = \"a\"\nstiffness = 1",
        "\"radius\" is missing",
    ),
    (
        "type = \"tyre\"\nbody = \"a\"\nradius = 0.3",
        "\"stiffness\" is missing",
    ),
    (
        "type = \"tyre\"\nbody = \"a\"\nroad = \"a\"\nradius = 0.3\nstiffness = 1",
        "another body than the wheel",
    ),
    (
        "type = \"tyre\"\nbody = \"a\"\nradius = 0.3\nstiffness = 1\nforward = [0, 1]",
        "forward must not be along up",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nstiffness = 1",
        "what is touched is missing",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nsphere = { radius = 1 }\nstiffness = 1",
        "one of plane, sphere and curve",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { point = [0, 0] }\nstiffness = 1",
        "\"normal\" is missing",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nsphere = { radius = 0 }\nstiffness = 1",
        "two points never touch",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = 1.5",
        "restitution must be a number from 0 to 1",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = -0.1",
        "restitution must be a number from 0 to 1",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = nan",
        "restitution must be a number from 0 to 1",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = \"bouncy\"",
        "there is no definition \"bouncy\"",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = 0.5\nstiffness = 1",
        "is rigid and takes no stiffness",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = 0.5\ndamping = 1",
        "is rigid and takes no damping",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = 0.5\nlaw = \"hunt_crossley\"",
        "is rigid and takes no law",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = 0.5\nrest_speed = -1",
        "rest_speed must be a finite number >= 0",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nstiffness = 1\nrest_speed = 0.1",
        "it needs \"restitution\"",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestituton = 0.5",
        "did you mean \"restitution\"?",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }",
        "\"stiffness\" is missing",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nstiffness = 1\nexponent = 2",
        "belongs to law",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nstiffness = 1\nlaw = \"hunt_crossley\"\nexponent = 0.5",
        "at least 1",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nstiffness = 1\nfriction = { kinetic = 0.5, static = 0.4, stiction_velocity = 1 }",
        "at least the kinetic level",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nstiffness = 1\nfriction = { kinetic = 0.5 }",
        "\"stiction_velocity\" is missing",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\ncurve = { points = [[0, 0]] }\nstiffness = 1",
        "2 or more, found 1",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\ncurve = { points = [[0, 0], [1, 0], [1, 0]] }\nstiffness = 1",
        "points[2] is the same",
    ),
    (
        "type = \"contact\"\nbodies = [\"ground\", \"a\"]\ncurve = { points = [[0, 0], [1, 0]], hollow = true }\nstiffness = 1",
        "only a closed curve",
    ),
    (
        "type = \"springdamper\"\nbodies = [\"a\", \"b\"]",
        "did you mean \"spring_damper\"?",
    ),
];

/// What stands behind the slide.
const JOINTS: &[(&str, &str)] = &[
    (
        "limits = [-1, 1]\nrestitution = 2",
        "restitution must be a number from 0 to 1",
    ),
    (
        "limits = [-1, 1]\nrestitution = 0.5\nstiffness = 1",
        "are rigid and take no stiffness",
    ),
    (
        "limits = [-1, 1]\nrestitution = 0.5\ndamping = 1",
        "are rigid and take no damping",
    ),
    ("restitution = 0.5", "it needs \"limits\""),
    (
        "limits = [-1, 1]\nstiffness = 1\nrest_speed = 1",
        "it needs \"restitution\"",
    ),
    (
        "limits = [1, -1]\nstiffness = 1",
        "the lowest value must be below the highest",
    ),
    ("limits = [-1, 1]", "\"stiffness\" is missing"),
    (
        "limits = [-1, 1, 2]\nstiffness = 1",
        "two numbers [lowest, highest]",
    ),
    ("stiffness = 1", "it needs \"limits\""),
    (
        "friction = { kinetic = -1, stiction_velocity = 1 }",
        "kinetic must be a finite number >= 0",
    ),
    (
        "friction = { kinetic = 1, stiction_velocity = 0 }",
        "stiction_velocity must be a finite number > 0",
    ),
    (
        "friction = { kinetc = 1, stiction_velocity = 1 }",
        "did you mean \"kinetic\"?",
    ),
];

fn refused(text: &str, expected: &str) {
    match Model::from_text(text, "broken.toml") {
        Ok(_) => panic!("accepted, expected \"{expected}\":\n{text}"),
        Err(error) => {
            let sentence = error.to_string();
            assert!(
                sentence.contains(expected),
                "\"{sentence}\" does not say \"{expected}\""
            );
            assert!(
                sentence.contains("broken.toml:"),
                "\"{sentence}\" has no place"
            );
        }
    }
}

#[test]
fn broken_forces_are_refused_by_name_and_place() {
    for (body, expected) in FORCES {
        refused(
            &format!("{HEAD}[[force]]\nname = \"culprit\"\n{body}\n"),
            expected,
        );
    }
}

#[test]
fn broken_friction_and_joint_limits_are_refused_by_name_and_place() {
    for (body, expected) in JOINTS {
        refused(&format!("{HEAD}{body}\n"), expected);
    }
}

#[test]
fn a_tyre_without_gravity_needs_to_know_where_up_is() {
    let text = HEAD.replace("gravity = [0, -10]\n", "")
        + "[[force]]\nname = \"tyre\"\ntype = \"tyre\"\nbody = \"a\"\nradius = 0.3\nstiffness = 1\n";
    refused(&text, "\"up\" is missing");
    let given = text + "up = [0, 1]\n";
    formulation::build(&Model::from_text(&given, "tyre").unwrap()).unwrap();
}

#[test]
fn a_target_that_an_element_does_not_have_is_refused() {
    for (force, target, expected) in [
        (
            "type = \"torque\"\nbody = \"a\"",
            "culprit.x",
            "has no \"x\" that can be set; it has: z",
        ),
        (
            "type = \"spring_damper\"\njoint = \"slide\"\nstiffness = { polynomial = [0, 1] }",
            "culprit.stiffness",
            "it has: damping, length, preload",
        ),
        (
            "type = \"tyre\"\nbody = \"a\"\nradius = 1\nstiffness = 1",
            "culprit.profile",
            "radius, height",
        ),
        (
            "type = \"contact\"\nbodies = [\"ground\", \"a\"]\nplane = { normal = [0, 1] }\nrestitution = 0.5",
            "culprit.stiffness",
            "it has: restitution",
        ),
    ] {
        let text = format!(
            "{HEAD}[[force]]\nname = \"culprit\"\n{force}\n[[parameter]]\nname = \"p\"\ntarget = \"{target}\"\n"
        );
        refused(&text, expected);
    }
    let text = format!(
        "{HEAD}[[force]]\nname = \"culprit\"\ntype = \"tyre\"\nbody = \"a\"\nradius = 1\nstiffness = 1\n[[input]]\nname = \"p\"\ntarget = \"culprit.radius\"\n"
    );
    refused(&text, "culprit.radius");
}
