//! Expressions in model files: values as in the file without them, units checked, errors by line and column.

use crate::model::Model;
use crate::model::portable::same_meaning;

const PLAIN: &str = r#"format = 1
dimension = 2
gravity = [0, -9.81]
[experiment]
stop = 1.5
[[body]]
name = "crank"
mass = 0.25
inertia = 0.002
position = [0.2, 0.01]
angle = 0.5235987755982988
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "crank"]
point = [0, 0]
position = 0.5235987755982988
limits = [-1.5707963267948966, 1.5707963267948966]
stiffness = 1000
friction = { kinetic = 0.5, stiction_velocity = 0.10471975511965977 }
[[body]]
name = "slide"
mass = 1
inertia = 1
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["ground", "slide"]
point = [0, 0.4]
axis = [1, 0]
[[motion]]
name = "drive"
joint = "rail"
law = "table"
points = [[0, 0], [2, 0.05]]
[[force]]
name = "spring"
type = "spring_damper"
joint = "rail"
stiffness = { table = [[-0.01, -50], [0.01, 50]] }
damping = 12
length = 0.4
[[parameter]]
name = "c"
target = "spring.damping"
start = 3500
"#;

const WRITTEN: &str = r#"format = 1
dimension = 2
gravity = [0, "-9.81 m/s^2"]
[define]
half = "l/2"
l = 0.4
a = "30 deg"
travel = "1 cm"
[experiment]
stop = "1500 ms"
[[body]]
name = "crank"
mass = "250 g"
inertia = "20 kg*cm^2"
position = ["half", "travel"]
angle = "a"
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "crank"]
point = [0, "l - 2*half"]
position = "pi/6"
limits = ["-90 deg", "90 deg"]
stiffness = "1 kN*m/rad"
friction = { kinetic = "50 N*cm", stiction_velocity = "1 rpm" }
[[body]]
name = "slide"
mass = 1
inertia = 1
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["ground", "slide"]
point = [0, "sqrt(l^2)"]
axis = [1, 0]
[[motion]]
name = "drive"
joint = "rail"
law = "table"
points = [[0, 0], ["2000 ms", "50 mm"]]
[[force]]
name = "spring"
type = "spring_damper"
joint = "rail"
stiffness = { table = [["-travel", "-50 N"], ["travel", "0.05 kN"]] }
damping = "12 N.s/m"
length = "l"
[[parameter]]
name = "c"
target = "spring.damping"
start = "3.5 kN.s/m"
"#;

#[test]
fn a_file_with_expressions_means_what_its_numbers_mean() {
    let [plain, mut written] = [PLAIN, WRITTEN]
        .map(|text| Model::from_text(text, "m.toml").unwrap_or_else(|e| panic!("{e}")));
    // 1 rpm and 20 kg cm² are rounded in another order.
    let close = |a: f64, b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
    let (body, expected) = (&mut written.bodies[0], &plain.bodies[0]);
    assert!(close(body.inertia[2], expected.inertia[2]) && close(body.mass, expected.mass));
    (body.inertia, body.mass) = (expected.inertia, expected.mass);
    let speed = |model: &mut Model| {
        let friction = model.joints[0].friction[0].as_mut().unwrap();
        friction.stiction_velocity.replace(1.0).unwrap()
    };
    let mut plain = plain;
    let (a, b) = (speed(&mut plain), speed(&mut written));
    assert!(close(a, b));
    written.definitions.clear();
    assert!(same_meaning(&plain, &written), "{plain:#?}\n{written:#?}");
}

#[test]
fn mistakes_name_their_place_inside_the_string() {
    let joint = |rest: &str| {
        format!(
            "format = 1\ndimension = 2\n[define]\nl = \"400 mm\"\nw = \"30 deg/s\"\n[[body]]\nname = \"b\"\nmass = 1\n\
             inertia = 1\n[[joint]]\nname = \"rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"b\"]\npoint = [0, 0]\n\
             axis = [1, 0]\n{rest}"
        )
    };
    for (text, expected) in [
        (
            "format = 1\n[define]\nx = \"2*y\"".to_owned(),
            "t:3:8: define: x: there is no definition \"y\"",
        ),
        (
            "format = 1\n[define]\nx = \"y\"\ny = \"1 + x\"".to_owned(),
            "definitions go in a circle: x, y",
        ),
        (
            "format = 1\n[define]\nsin = 1".to_owned(),
            "t:3:1: define: \"sin\" has a meaning",
        ),
        (
            "format = 1\n[define]\nx = [1]".to_owned(),
            "t:3:5: define: x must be a number",
        ),
        (
            "format = 1\n[define]\n\"a b\" = 1".to_owned(),
            "t:3:1: define: a name has letters",
        ),
        (
            joint("position = \"30 deg\""),
            "t:16:12: joint \"rail\": position is in m, but \"30 deg\" is an angle (rad)",
        ),
        (
            joint("position = \"2 * (l + 1)\""),
            "t:16:20: joint \"rail\": position: \"+\" joins two kinds",
        ),
        (
            joint("position = \"lenght\""),
            "t:16:13: joint \"rail\": position: there is no definition \"lenght\"",
        ),
        (
            joint("limits = [\"-l\", \"w\"]"),
            "t:16:17: joint \"rail\": limits is in m, but \"w\" is an angular velocity",
        ),
        (
            joint("position = \"12 mmm\""),
            "t:16:16: joint \"rail\": position: there is no unit \"mmm\"; did you mean \"mm\"?",
        ),
        (
            joint(
                "[[motion]]\nname = \"m\"\njoint = \"rail\"\nlaw = \"constant_speed\"\nspeed = \"w\"",
            ),
            "t:20:9: motion \"m\": speed is in m/s, but \"w\" is an angular velocity (rad/s)",
        ),
        (
            joint(
                "[[motion]]\nname = \"m\"\njoint = \"rail\"\nlaw = \"harmonic\"\namplitude = 1\nfrequency = \"1500 rpm\"",
            ),
            "t:21:13: motion \"m\": frequency is in 1/s, but \"1500 rpm\" is an angular velocity (rad/s)",
        ),
        (
            joint(
                "[[motion]]\nname = \"m\"\njoint = \"rail\"\nlaw = \"polynomial\"\ncoefficients = [0, \"1 m/s^2\"]",
            ),
            "t:20:20: motion \"m\": coefficients is in m/s, but \"1 m/s^2\" is in m/s2",
        ),
        (
            joint("[[parameter]]\nname = \"p\"\ntarget = \"b.mass\"\nstart = \"3 mm\""),
            "t:19:9: start is in kg, but \"3 mm\" is a length (m)",
        ),
        (
            joint("position = \"l/0\""),
            "t:16:14: joint \"rail\": position: this divides by zero",
        ),
        (
            "format = 1\n[[body]]\nname = \"b\"\nmass = \"2 - 3\"\ninertia = [1, 1, 1]".to_owned(),
            "t:4:8: body \"b\": mass must be a finite number >= 0, found \"2 - 3\"",
        ),
    ] {
        let error = Model::from_text(&text, "t").expect_err(&text).to_string();
        assert!(error.contains(expected), "{text}\n{error}\n{expected}");
    }
}

#[test]
fn definitions_may_be_long_chains_in_any_order() {
    let mut text = "format = 1\n[define]\n".to_owned();
    for k in (0..2000).rev() {
        text += &match k {
            0 => "a0 = 1\n".to_owned(),
            k => format!("a{k} = \"a{} + 1\"\n", k - 1),
        };
    }
    text += "[[body]]\nname = \"b\"\nmass = \"a1999\"\ninertia = [1, 1, 1]\n";
    let model = Model::from_text(&text, "t").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(model.bodies[0].mass, 2000.0);
}
