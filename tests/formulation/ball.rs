//! Armature and friction of spherical joints, the same about all axes: against a heavier body, closed forms and each other.

use biela::formulation::derivative_check::{DerivativeCheck, check};
use biela::linalg::random::Random;
use biela::model::FormulationName;
use biela::{Instance, Model};

use super::compared::{FORMULATIONS, text};
use super::rig::Rig;

/// A body on a ball joint away from its centre, and another one on it; `keys` stand in the two joints.
fn chain(keys: [&str; 2]) -> String {
    let [first, second] = keys;
    format!(
        r#"
format = 1
gravity = [0.0, 0.0, -9.81]
[solver]
tolerance = 1e-9
[[body]]
name = "arm"
mass = 2.0
inertia = [0.1, 0.3, 0.35, 0.01, 0.02, 0.0]
position = [0.5, 0.1, 0.0]
angular_velocity = [0.4, -0.3, 1.5]
velocity = [-0.15, 0.75, 0.19]
[[joint]]
name = "hip"
type = "spherical"
bodies = ["ground", "arm"]
point = [0.0, 0.0, 0.0]
{first}
[[body]]
name = "limb"
mass = 1.0
inertia = [0.05, 0.02, 0.04, 0.002, 0.003, -0.001]
position = [1.3, 0.1, -0.1]
angular_velocity = [-1.0, 0.5, 0.2]
[[joint]]
name = "knee"
type = "spherical"
bodies = ["arm", "limb"]
point = [1.0, 0.0, 0.0]
{second}
"#
    )
}

/// Values after a time in a formulation.
fn after<const N: usize>(
    model: &Model,
    formulation: FormulationName,
    names: [&str; N],
    time: f64,
) -> [f64; N] {
    let mut model = model.clone();
    model.solver.formulation = formulation;
    let mut instance = Instance::from_model(model).unwrap_or_else(|e| panic!("{e}"));
    instance.initialize(0.0, time, 0.0).unwrap();
    if time > 0.0 {
        instance.step(0.0, time).unwrap();
    }
    let references = names.map(|name| instance.find(name).unwrap());
    let mut values = [0.0; N];
    instance.get_real(&references, &mut values).unwrap();
    values
}

/// Natural coordinates have no armature of balls.
const WITH_ARMATURE: [FormulationName; 4] = [
    FormulationName::Absolute,
    FormulationName::Relative,
    FormulationName::Topological,
    FormulationName::Hybrid,
];

#[test]
fn an_armature_on_the_ground_is_inertia_of_the_body() {
    let heavy = chain(["", ""]).replace("inertia = [0.1, 0.3, 0.35,", "inertia = [0.5, 0.7, 0.75,");
    let names = ["arm.qw", "arm.qx", "limb.x", "limb.z", "energy.kinetic"];
    let expected = after(&text(&heavy), FormulationName::Absolute, names, 0.7);
    let model = text(&chain(["armature = 0.4", ""]));
    for formulation in WITH_ARMATURE {
        let found = after(&model, formulation, names, 0.7);
        for k in 0..names.len() {
            // A hundred tolerances.
            assert!(
                (found[k] - expected[k]).abs() < 1e-7,
                "{formulation:?} {}: {} {}",
                names[k],
                found[k],
                expected[k]
            );
        }
    }
}

#[test]
fn with_an_armature_between_bodies_energy_is_conserved_and_formulations_agree() {
    let model = text(&chain(["", "armature = 0.6"]));
    let names = [
        "limb.x",
        "limb.y",
        "limb.z",
        "arm.qx",
        "limb.alphay",
        "energy.balance",
    ];
    let plain = after(
        &text(&chain(["", ""])),
        FormulationName::Absolute,
        names,
        0.7,
    );
    let expected = after(&model, FormulationName::Absolute, names, 0.7);
    assert!((plain[0] - expected[0]).abs() > 1e-2);
    for formulation in WITH_ARMATURE {
        let found = after(&model, formulation, names, 0.7);
        // Energies of some 10 J; a hundred tolerances.
        assert!(found[5].abs() < 1e-6, "{formulation:?}: {}", found[5]);
        for k in 0..5 {
            let apart = (found[k] - expected[k]).abs();
            assert!(apart < 1e-6, "{formulation:?} {}: {apart:.1e}", names[k]);
        }
    }
}

#[test]
fn natural_coordinates_refuse_the_armature_of_a_ball() {
    let mut model = text(&chain(["", "armature = 0.6"]));
    model.solver.formulation = FormulationName::Global;
    let words = match Instance::from_model(model) {
        Ok(_) => panic!("it is taken"),
        Err(error) => error.to_string(),
    };
    assert!(words.contains("spherical joint \"knee\""), "{words}");
}

#[test]
fn friction_of_a_ball_slows_a_spin_evenly() {
    // I ω' = −f about each axis that turns.
    let top = r#"
format = 1
[[body]]
name = "top"
mass = 1.0
inertia = [0.2, 0.2, 0.2]
angular_velocity = [3.0, 0.0, -4.0]
[[joint]]
name = "pan"
type = "spherical"
bodies = ["ground", "top"]
point = [0.0, 0.0, 0.0]
friction = { kinetic = "0.3 N.m", stiction_velocity = 1e-3 }
"#;
    for formulation in FORMULATIONS {
        let [x, z] = after(&text(top), formulation, ["top.alphax", "top.alphaz"], 0.0);
        assert!((x + 1.5).abs() < 1e-9, "{formulation:?}: {x}");
        assert!((z - 1.5).abs() < 1e-9, "{formulation:?}: {z}");
        let spin = top.replace("[3.0, 0.0, -4.0]", "[0.0, 3.0, 0.0]");
        let [y, lost] = after(
            &text(&spin),
            formulation,
            ["top.wy", "energy.dissipated"],
            1.0,
        );
        assert!((y - 1.5).abs() < 1e-6, "{formulation:?}: {y}");
        assert!(
            (lost - 0.1 * (9.0 - 2.25)).abs() < 1e-6,
            "{formulation:?}: {lost}"
        );
    }
}

#[test]
fn friction_between_bodies_is_the_same_in_all_formulations() {
    let rub = "friction = { kinetic = 0.2, stiction_velocity = 0.05, viscous = 0.3 }";
    let model = text(&chain([rub, rub]));
    let names = [
        "limb.x",
        "limb.z",
        "arm.qx",
        "energy.dissipated",
        "energy.balance",
    ];
    let expected = after(&model, FormulationName::Absolute, names, 0.7);
    assert!(expected[3] > 0.1, "{expected:?}");
    for formulation in FORMULATIONS {
        let found = after(&model, formulation, names, 0.7);
        for k in 0..names.len() {
            let apart = (found[k] - expected[k]).abs();
            assert!(apart < 1e-6, "{formulation:?} {}: {apart:.1e}", names[k]);
        }
    }
}

#[test]
fn derivatives_of_friction_in_a_ball_agree_with_differences() {
    let rub = "friction = { kinetic = 0.2, stiction_velocity = 2.0, viscous = 0.3 }";
    let mut random = Random::new(5);
    let mut model = text(&chain([rub, rub]));
    model.solver.formulation = FormulationName::Absolute;
    for _ in 0..3 {
        let rig = Rig::new(&model);
        let size = rig.mechanism.dimensions();
        let at = biela::formulation::MotionPoint {
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
        .unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn what_a_ball_cannot_have_is_refused() {
    for (key, words) in [
        ("armature = -1", "armature"),
        (
            "friction = [{ kinetic = 1, stiction_velocity = 1 }]",
            "friction",
        ),
        ("limits = [0, 1]", "limits"),
    ] {
        let error = Model::from_text(&chain([key, ""]), "ball.toml")
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{key}: {error}");
    }
}
