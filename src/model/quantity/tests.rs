use crate::error::Error;
use crate::model::tests::model;

#[test]
fn every_quantity_is_found_by_its_name() {
    for file in [
        "slider_crank.toml",
        "oscillator.toml",
        "double_four_bar.toml",
    ] {
        let model = model(file);
        let all = model.quantities();
        for (name, quantity) in &all {
            assert_eq!(model.quantity(name).as_ref(), Ok(quantity), "{name}");
            assert_eq!(
                all.iter().filter(|(_, other)| other == quantity).count(),
                1,
                "{name} is listed once"
            );
        }
    }
}

#[test]
fn outputs_are_found_as_by_their_names() {
    let model = model("slider_crank.toml");
    let one_by_one: Vec<_> = (model.outputs.iter())
        .map(|output| model.quantity(&output.source).unwrap())
        .collect();
    assert_eq!(model.output_quantities().unwrap(), one_by_one);
}

#[test]
fn units_belong_to_the_kind_of_joint_and_force() {
    let crank = model("slider_crank.toml");
    let spring = model("oscillator.toml");
    for (model, name, unit) in [
        (&crank, "pivot.position", "rad"),
        (&crank, "pivot.speed", "rad/s"),
        (&crank, "guide.position", "m"),
        (&crank, "guide.mz", "N.m"),
        (&crank, "motor.torque", "N.m"),
        (&crank, "motor.force", "N.m"),
        (&crank, "crank.alphaz", "rad/s2"),
        (&crank, "energy.total", "J"),
        (&crank, "solver.step_size", "s"),
        (&crank, "solver.steps", ""),
        (&crank, "time", "s"),
        (&spring, "spring.force", "N"),
        (&spring, "spring.rate", "m/s"),
        (&spring, "block.ax", "m/s2"),
    ] {
        assert_eq!(model.unit(model.quantity(name).unwrap()), unit, "{name}");
    }
}

#[test]
fn an_unknown_quantity_names_the_nearest() {
    let model = model("slider_crank.toml");
    for (name, meant) in [
        ("crank.agnle", Some("crank.angle")),
        ("cranck.x", Some("crank.x")),
        ("energy.totl", Some("energy.total")),
        ("motor.length", None),
        ("ground.x", None),
        ("crank.z", Some("crank.x")),
        ("", None),
        (".", None),
        ("crank.", None),
    ] {
        match model.quantity(name) {
            Err(Error::UnknownVariable { nearest, .. }) => {
                if let Some(meant) = meant {
                    assert_eq!(nearest.as_deref(), Some(meant), "{name}");
                }
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}
