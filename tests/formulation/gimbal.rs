//! The gimbal joint against three hinges with rings without mass between them: accelerations, motion, energy, with springs, rotors and
//! limits in its coordinates; right- and left-handed axes, both ways of writing it.

use biela::model::FormulationName;
use biela::{Instance, Model};

use super::compared::FORMULATIONS;

/// An upper arm that turns on the ground and a limb on its end. `joints` join "arm" and "limb" at (1, 0, 0).
fn limb(joints: &str, coordinates: [&str; 3]) -> String {
    let mut text = format!(
        r#"
format = 1
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "arm"
mass = 2.0
inertia = [0.1, 0.3, 0.3]
position = [0.5, 0.0, 0.0]
angular_velocity = [0.0, 0.0, 1.5]
velocity = [0.0, 0.75, 0.0]
[[joint]]
name = "base"
type = "revolute"
bodies = ["ground", "arm"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[body]]
name = "limb"
mass = 1.0
inertia = [0.05, 0.02, 0.04, 0.002, 0.003, -0.001]
position = [1.3, 0.1, -0.1]
angular_velocity = [0.0, 0.0, 1.5]
velocity = [-0.15, 1.95, 0.0]
{joints}
"#
    );
    for (k, coordinate) in coordinates.iter().enumerate() {
        text += &format!(
            r#"
[[force]]
name = "spring{k}"
type = "torsion_spring"
joint = "{coordinate}"
stiffness = {}.0
damping = 0.1
angle = 0.3
"#,
            k + 3
        );
        let (joint, number) = coordinate
            .split_once(".position")
            .unwrap_or((coordinate, ""));
        for field in ["position", "speed", "acceleration"] {
            text += &format!(
                "[[output]]\nname = \"{field}{k}\"\nsource = \"{joint}.{field}{number}\"\n"
            );
        }
    }
    text + "[[output]]\nname = \"balance\"\nsource = \"energy.balance\"\n"
}

/// Three hinges about these axes with rings without mass.
fn hinges(axes: [[f64; 3]; 3]) -> String {
    let mut joints = String::new();
    for ring in ["ring1", "ring2"] {
        joints += &format!(
            "[[body]]\nname = \"{ring}\"\nmass = 0.0\ninertia = [0, 0, 0]\nposition = [1.0, 0.0, 0.0]\n\
             angular_velocity = [0.0, 0.0, 1.5]\nvelocity = [0.0, 1.5, 0.0]\n"
        );
    }
    let bodies = ["arm", "ring1", "ring2", "limb"];
    for (k, axis) in axes.iter().enumerate() {
        joints += &format!(
            "[[joint]]\nname = \"h{k}\"\ntype = \"revolute\"\nbodies = [\"{}\", \"{}\"]\n\
             point = [1.0, 0.0, 0.0]\naxis = {axis:?}\narmature = 0.0{}\n",
            bodies[k],
            bodies[k + 1],
            k + 1
        );
    }
    limb(&joints, ["h0", "h1", "h2"])
}

fn gimbal(place: &str) -> String {
    let joint = format!(
        "[[joint]]\nname = \"g\"\ntype = \"gimbal\"\nbodies = [\"arm\", \"limb\"]\n{place}\narmature = [0.01, 0.02, 0.03]\n"
    );
    limb(&joint, ["g.position1", "g.position2", "g.position3"])
}

fn started(text: &str, formulation: FormulationName) -> Instance {
    let mut model = Model::from_text(text, "gimbal.toml").unwrap_or_else(|e| panic!("{e}\n{text}"));
    model.solver.formulation = formulation;
    model.solver.tolerance = 1e-8;
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 2.0, 0.0).unwrap();
    instance
}

fn values(instance: &mut Instance, field: &str) -> [f64; 3] {
    [0, 1, 2].map(|k| {
        let reference = instance.find(&format!("{field}{k}")).unwrap();
        let mut x = [0.0];
        instance.get_real(&[reference], &mut x).unwrap();
        x[0]
    })
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).abs()).fold(0.0, f64::max)
}

#[test]
fn a_gimbal_joint_is_three_hinges_without_rings() {
    let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    // Right-handed, left-handed.
    for axes in [[x, y, z], [x, z, y]] {
        let mut reference = started(&hinges(axes), FormulationName::Relative);
        let start = values(&mut reference, "acceleration");
        reference.step(0.0, 0.6).unwrap();
        let end = ["position", "speed", "acceleration"].map(|f| values(&mut reference, f));
        assert!(apart(end[0], [0.0; 3]) > 0.2, "it moves: {end:?}");
        let in_pose = format!("point = [1.0, 0.0, 0.0]\naxes = {axes:?}");
        let in_bodies = format!(
            "at = [{{ point = [0.5, 0.0, 0.0], axes = {axes:?} }}, {{ point = [-0.3, -0.1, 0.1], axes = {axes:?} }}]"
        );
        for place in [in_pose, in_bodies] {
            for formulation in FORMULATIONS {
                let mut instance = started(&gimbal(&place), formulation);
                let found = values(&mut instance, "acceleration");
                let off = apart(found, start);
                assert!(off < 1e-8, "{formulation:?}: {found:?} {start:?}");
                instance.step(0.0, 0.6).unwrap();
                for (field, expected) in ["position", "speed", "acceleration"].iter().zip(end) {
                    let off = apart(values(&mut instance, field), expected);
                    assert!(off < 1e-4, "{formulation:?} {axes:?} {field}: {off:.1e}");
                }
                let reference = instance.find("balance").unwrap();
                let mut balance = [0.0];
                instance.get_real(&[reference], &mut balance).unwrap();
                assert!(balance[0].abs() < 1e-5, "{formulation:?}: {balance:?}");
            }
        }
    }
}

#[test]
fn bad_gimbals_are_refused() {
    let good = "point = [1.0, 0.0, 0.0]\naxes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]";
    for (from, to, part) in [
        ("[0, 0, 1]]", "[0, 1, 1]]", "right angles"),
        (", [0, 0, 1]]", "]", "three"),
        ("[0, 0, 1]]", "[0, 0, 0]]", "zero"),
        ("axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "", "axes"),
        ("axes =", "axis = [1, 0, 0]\naxes =", "axis"),
        (
            "point = [1.0, 0.0, 0.0]",
            "point = [1.0, 0.0, 0.0]\nposition = [0.1]",
            "position",
        ),
    ] {
        let text = gimbal(&good.replace(from, to));
        let words = Model::from_text(&text, "g.toml").unwrap_err().to_string();
        assert!(words.contains(part) && words.contains("g.toml:"), "{words}");
    }
    let frames = "at = [{ point = [0.5, 0, 0], axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }, \
                  { point = [0, 0, 0], axes = [[1, 0, 0], [0, 1, 0], [0, 0, -1]] }]";
    let words = Model::from_text(&gimbal(frames), "g.toml")
        .unwrap_err()
        .to_string();
    assert!(words.contains("left-handed"), "{words}");
    let plane = gimbal(good).replace("format = 1", "format = 1\ndimension = 2");
    assert!(Model::from_text(&plane, "g.toml").is_err());
}
