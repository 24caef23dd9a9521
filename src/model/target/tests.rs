use super::*;
use crate::model::tests::model;

#[test]
fn every_target_is_found_by_its_name_and_can_be_set() {
    for file in ["slider_crank.toml", "oscillator.toml"] {
        let mut model = model(file);
        for (name, target) in model.targets() {
            assert_eq!(model.target(&name).unwrap(), target, "{name}");
            assert_eq!(model.target_name(target), name);
            assert!(!model.unit_of_target(target).is_empty());
            model.set(&name, 0.125).unwrap();
            assert_eq!(model.value_of_target(target), 0.125, "{name}");
        }
        model.validate().unwrap();
    }
}

#[test]
fn a_declared_name_sets_the_element_and_its_own_start() {
    let mut slider_crank = model("slider_crank.toml");
    slider_crank.set("tau", 2.5).unwrap();
    assert_eq!(slider_crank.inputs[0].start, 2.5);
    assert_eq!(
        slider_crank.value_of_target(slider_crank.inputs[0].target),
        2.5
    );
    slider_crank.set("motor.torque", 3.5).unwrap();
    assert_eq!(slider_crank.inputs[0].start, 3.5);
    assert_eq!(
        slider_crank.target("motor.force"),
        slider_crank.target("motor.torque")
    );
}

#[test]
fn solver_settings_are_set_by_name() {
    let mut model = model("pendulum.toml");
    model.set("solver.tolerance", 1e-9).unwrap();
    model.set("solver.step", 0.01).unwrap();
    assert_eq!(model.solver.tolerance, 1e-9);
    assert_eq!(model.solver.step, Some(0.01));
}

#[test]
fn what_cannot_be_set_is_refused_by_name_and_changes_nothing() {
    let good = model("slider_crank.toml");
    for (name, value, fragment) in [
        ("tau", f64::NAN, "tau = NaN"),
        (
            "crank.mass",
            -1.0,
            "crank.mass = -1.0: expected a finite number >= 0",
        ),
        ("solver.alpha", 0.5, "solver.alpha = 0.5"),
        ("slider_x", 1.0, "it is an output"),
        ("crank.x", 1.0, "it is computed"),
        ("solver.steps", 1.0, "it is computed"),
        (
            "solver.tolerence",
            1.0,
            "did you mean \"solver.tolerance\"?",
        ),
        ("crnak.mass", 1.0, "did you mean \"crank.mass\"?"),
        ("tua", 1.0, "did you mean \"tau\"?"),
        ("", 1.0, "there is no variable \"\""),
        (".", 1.0, "there is no variable \".\""),
    ] {
        let mut model = good.clone();
        let sentence = model.set(name, value).unwrap_err().to_string();
        assert!(sentence.contains(fragment), "{name}: {sentence}");
        assert_eq!(model, good);
    }
    let mut model = good.clone();
    assert!(model.set_target(Target::ForceStiffness(0), 1.0).is_err());
    assert!(model.set_target(Target::BodyMass(99), 1.0).is_err());
    assert!(model.set_target(Target::Gravity(2), 1.0).is_err());
    assert_eq!(model, good);
}
