//! `armature` of joint coordinates against closed forms, and against a rotor that is written out.

use biela::model::FormulationName;
use biela::{Instance, Model};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::compared::FORMULATIONS;

/// A pendulum in the plane whose pin has a rotor, and a block on a rail with one.
const PLANE: &str = r#"
format = 1
dimension = 2
gravity = [0.0, -10.0]
[[body]]
name = "rod"
mass = 2.0
inertia = 0.5
position = [1.0, 0.0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "rod"]
point = [0.0, 0.0]
armature = 1.5
[[body]]
name = "block"
mass = 3.0
inertia = 1.0
position = [0.0, 5.0]
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["ground", "block"]
point = [0.0, 5.0]
axis = [0.0, 1.0]
armature = 2.0
[[output]]
name = "alpha"
source = "pin.acceleration"
[[output]]
name = "a"
source = "rail.acceleration"
"#;

/// A turning arm with a slide, a wrist of two angles and a hand: prismatic, universal and revolute coordinates with rotors.
fn arm(armature: bool) -> String {
    let key = |text: &str| {
        if armature {
            text.to_owned()
        } else {
            String::new()
        }
    };
    let mut text = format!(
        r#"
format = 1
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "turret"
mass = 4.0
inertia = [0.3, 0.3, 0.2]
angular_velocity = [0.0, 0.0, 2.0]
[[body]]
name = "slide"
mass = 1.0
inertia = [0.02, 0.03, 0.04, 0.001, 0.002, 0.003]
position = [1.0, 0.0, 0.2]
angular_velocity = [0.0, 0.0, 2.0]
velocity = [0.0, 2.0, 0.0]
[[body]]
name = "hand"
mass = 0.5
inertia = [0.01, 0.02, 0.015]
position = [1.3, 0.1, 0.2]
angular_velocity = [0.0, 0.0, 2.0]
velocity = [-0.2, 2.6, 0.0]
[[joint]]
name = "base"
type = "revolute"
bodies = ["ground", "turret"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
{}
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["turret", "slide"]
point = [1.0, 0.0, 0.2]
axis = [1.0, 0.0, 0.3]
{}
[[joint]]
name = "wrist"
type = "universal"
bodies = ["slide", "hand"]
point = [1.2, 0.0, 0.2]
axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
{}
"#,
        key("armature = 0.7"),
        key("armature = 2.5"),
        key("armature = [0.05, 0.08]"),
    );
    for (name, source) in [
        ("base", "base.position"),
        ("rail", "rail.position"),
        ("one", "wrist.position1"),
        ("two", "wrist.position2"),
        ("base_a", "base.acceleration"),
        ("rail_a", "rail.acceleration"),
        ("one_a", "wrist.acceleration1"),
        ("two_a", "wrist.acceleration2"),
        ("balance", "energy.balance"),
        ("kinetic", "energy.kinetic"),
    ] {
        text += &format!("[[output]]\nname = \"{name}\"\nsource = \"{source}\"\n");
    }
    text
}

/// The same with rotors on the ground, coupled to the coordinates, instead of armatures; they turn with them from the start.
fn arm_with_rotors(rates: [f64; 4]) -> String {
    let mut text = arm(false);
    let rotors = [
        ("r1", "base", 0.7),
        ("r2", "rail", 2.5),
        ("r3", "wrist.position1", 0.05),
        ("r4", "wrist.position2", 0.08),
    ];
    for ((name, joint, inertia), rate) in rotors.into_iter().zip(rates) {
        text += &format!(
            r#"
[[body]]
name = "{name}"
mass = 1.0
inertia = [{inertia}, {inertia}, {inertia}]
angular_velocity = [0.0, 0.0, {rate:?}]
[[joint]]
name = "{name}_bearing"
type = "revolute"
bodies = ["ground", "{name}"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "{name}_gear"
type = "coupling"
joints = ["{joint}", "{name}_bearing"]
ratio = 1.0
"#
        );
    }
    text
}

fn started(text: &str, formulation: FormulationName) -> Instance {
    let mut model = Model::from_text(text, "armature.toml").unwrap();
    model.solver.formulation = formulation;
    model.solver.tolerance = 1e-8;
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 2.0, 0.0).unwrap();
    instance
}

fn value(instance: &mut Instance, name: &str) -> f64 {
    let reference = instance.find(name).unwrap();
    let mut x = [0.0];
    instance.get_real(&[reference], &mut x).unwrap();
    x[0]
}

#[test]
fn a_rotor_adds_its_inertia_to_the_coordinate() {
    for formulation in FORMULATIONS {
        let mut instance = started(PLANE, formulation);
        // −m g l / (I + m l² + J) and −m g / (m + J)
        let expected = [("alpha", -20.0 / (0.5 + 2.0 + 1.5)), ("a", -30.0 / 5.0)];
        for (name, expected) in expected {
            let found = value(&mut instance, name);
            assert!(
                (found - expected).abs() < 1e-9,
                "{formulation:?} {name}: {found}"
            );
        }
    }
}

#[test]
fn armature_is_a_rotor_on_the_ground() {
    // Everything turns with the turret.
    let rates = [2.0, 0.0, 0.0, 0.0];
    let mut reference = started(&arm_with_rotors(rates), FormulationName::Absolute);
    let names = ["base_a", "rail_a", "one_a", "two_a"];
    let start = names.map(|name| value(&mut reference, name));
    let expected_kinetic = value(&mut reference, "kinetic");
    reference.step(0.0, 1.0).unwrap();
    let end = ["base", "rail", "one", "two"].map(|name| value(&mut reference, name));
    for formulation in FORMULATIONS {
        let mut instance = started(&arm(true), formulation);
        for (name, expected) in names.into_iter().zip(start) {
            let found = value(&mut instance, name);
            assert!(
                (found - expected).abs() < 1e-9,
                "{formulation:?} {name}: {found} {expected}"
            );
        }
        let kinetic = value(&mut instance, "kinetic");
        assert!(
            (kinetic - expected_kinetic).abs() < 1e-9,
            "{formulation:?}: {kinetic}"
        );
        instance.step(0.0, 1.0).unwrap();
        for (name, expected) in ["base", "rail", "one", "two"].into_iter().zip(end) {
            let found = value(&mut instance, name);
            assert!(
                (found - expected).abs() < 1e-5,
                "{formulation:?} {name}: {found} {expected}"
            );
        }
        let balance = value(&mut instance, "balance");
        assert!(balance.abs() < 1e-5, "{formulation:?}: {balance:.1e}");
    }
}

/// Orientation of the rod: none of its axes is one of the ground.
const TURNED: [f64; 4] = [
    -0.24701372480608605,
    -0.2760536314703867,
    0.6655848826284824,
    0.6479007457364625,
];
/// Moments of inertia of the arm, and of the rod across its axis.
const ARM: [f64; 3] = [0.016, 0.033, 0.031];
const ACROSS: f64 = 0.001;

fn turned() -> Matrix3<f64> {
    let [w, x, y, z] = TURNED;
    UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
        .to_rotation_matrix()
        .into_inner()
}

/// A rod with `inertia` about its own axis x on a free arm, by a pin along its axis z with an armature and a spring of torque 1.
/// `chained`: with more bodies elsewhere, so that the matrix is sparse.
fn rod_on_free_arm(inertia: f64, armature: f64, chained: bool) -> String {
    let axis = turned().column(2).into_owned();
    let [x, y, z] = [axis.x, axis.y, axis.z];
    let mut text = format!(
        r#"
format = 1
gravity = [0.3, 0.7, -9.81]
[[body]]
name = "arm"
mass = 4.0
inertia = {ARM:?}
[[body]]
name = "rod"
mass = 0.2
inertia = [{inertia:?}, {ACROSS}, {ACROSS}]
orientation = {TURNED:?}
[[joint]]
name = "pin"
type = "revolute"
bodies = ["arm", "rod"]
point = [0.0, 0.0, 0.0]
axis = [{x:?}, {y:?}, {z:?}]
armature = {armature:?}
[[force]]
name = "spring"
type = "torsion_spring"
joint = "pin"
stiffness = 1.0
angle = 1.0
"#
    );
    for k in 0..if chained { 4 } else { 0 } {
        let before = format!("b{k}");
        let before = if k == 0 { "ground" } else { &before };
        text += &format!(
            r#"
[[body]]
name = "b{}"
mass = 1.0
inertia = [0.01, 0.02, 0.03]
position = [{}.5, 5.0, 0.0]
[[joint]]
name = "pin{}"
type = "revolute"
bodies = ["{before}", "b{}"]
point = [{k}.0, 5.0, 0.0]
axis = [0.0, 1.0, 0.0]
"#,
            k + 1,
            k,
            k + 1,
            k + 1
        );
    }
    for (name, source) in [
        ("alpha", "pin.acceleration"),
        ("x", "arm.alphax"),
        ("y", "arm.alphay"),
        ("z", "arm.alphaz"),
    ] {
        text += &format!("[[output]]\nname = \"{name}\"\nsource = \"{source}\"\n");
    }
    text
}

/// Acceleration of the pin and angular acceleration of the arm: with moment of momentum conserved and the axis e,
///
/// ```text
///   (I_a + I_r) α + I_r e c̈ = 0,      eᵀ I_r α + (eᵀ I_r e + J) c̈ = 1
/// ```
fn rod_accelerations(inertia: f64, armature: f64) -> [f64; 4] {
    let r = turned();
    let rod = r * Matrix3::from_diagonal(&Vector3::new(inertia, ACROSS, ACROSS)) * r.transpose();
    let both = Matrix3::from_diagonal(&Vector3::from(ARM)) + rod;
    let along = rod * r.column(2);
    let arm = -both.try_inverse().unwrap() * along;
    let pin = 1.0 / (ACROSS + armature + along.dot(&arm));
    [pin, pin * arm.x, pin * arm.y, pin * arm.z]
}

#[test]
fn a_thin_rod_beside_an_armature_accelerates_right() {
    for armature in [0.0, 0.0061, 0.5] {
        for inertia in [0.0, 1e-30, 1e-22, 1e-19, 1e-17, 1e-14, 1e-9, 1e-4] {
            let expected = rod_accelerations(inertia, armature);
            for formulation in [FormulationName::Absolute, FormulationName::Relative] {
                for chained in [false, true] {
                    let text = rod_on_free_arm(inertia, armature, chained);
                    let mut instance = started(&text, formulation);
                    for (name, expected) in ["alpha", "x", "y", "z"].into_iter().zip(expected) {
                        let found = value(&mut instance, name);
                        // The residual of accelerations, and the condition of a thin rod: far below the 6e-5 of a lost constraint.
                        assert!(
                            (found - expected).abs() < 1e-8 * expected.abs(),
                            "{formulation:?}, J = {armature}, I = {inertia:e}, chained {chained}: {name} {found} {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn bad_armatures_are_refused() {
    for (from, to, part) in [
        ("armature = 1.5", "armature = -1.5", "armature"),
        ("armature = 1.5", "armature = [1.5]", "armature"),
        ("armature = 2.0", "armature = \"2 m\"", "armature"),
    ] {
        let words = Model::from_text(&PLANE.replace(from, to), "a.toml")
            .unwrap_err()
            .to_string();
        assert!(words.contains(part) && words.contains("a.toml:"), "{words}");
    }
    let words =
        Model::from_text(&arm(true).replace("[0.05, 0.08]", "[0.05]"), "a.toml").unwrap_err();
    assert!(words.to_string().contains("armature"), "{words}");
}
