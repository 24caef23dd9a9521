//! Parameters that set definitions: the instance is that of the text with these numbers.

use super::*;
use crate::component::{Instance, Variability};
use crate::error::Error;

/// A pendulum whose length is a definition; with a number in its place if one is given.
fn text(length: Option<f64>) -> String {
    let l = |factor: f64| match length {
        Some(l) => format!("{}", factor * l),
        None => format!("\"{factor}*l\""),
    };
    let (define, parameter) = match length {
        Some(_) => ("", ""),
        None => (
            "[define]\nl = \"400 mm\"\n",
            "[[parameter]]\nname = \"length\"\ntarget = \"define.l\"\n",
        ),
    };
    // The mass per length is a number: a product of lengths would not be a mass.
    let mass = match length {
        Some(l) => format!("{}", 2.0 * l),
        None => "\"2*l * 1 kg/m\"".to_owned(),
    };
    format!(
        "format = 1\ndimension = 2\ngravity = [0, -9.81]\n{define}[[body]]\nname = \"rod\"\nmass = {mass}\ninertia = 0.01\n\
         position = [{}, 0]\n[[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rod\"]\n\
         point = [0, 0]\n[[output]]\nname = \"x\"\nsource = \"rod.x\"\n[[parameter]]\nname = \"mass\"\n\
         target = \"rod.mass\"\n{parameter}",
        l(0.5),
    )
}

fn instance(length: Option<f64>) -> Instance {
    Instance::from_text(&text(length), None).unwrap_or_else(|e| panic!("{e}"))
}

/// x at a few times.
fn run(instance: &mut Instance) -> Vec<f64> {
    let x = instance.find("x").unwrap();
    if !instance.is_running() {
        instance.initialize(0.0, 2.0, 0.0).unwrap();
    }
    let mut found = vec![];
    while instance.time() < 0.95 {
        let t = instance.time();
        instance.step(t, 0.1).unwrap();
        found.push(get(instance, x));
    }
    found
}

#[test]
fn a_definition_set_before_the_start_gives_the_model_with_that_number() {
    let mut defined = instance(None);
    let length = defined.find("length").unwrap();
    let variable = &defined.variables()[length as usize];
    assert_eq!(
        (variable.variability, variable.unit.as_str()),
        (Variability::Fixed, "m")
    );
    assert_eq!(variable.start, Some(0.4));
    assert_eq!(run(&mut defined), run(&mut instance(Some(0.4))));
    defined.reset();
    defined.set_real(&[length], &[0.75]).unwrap();
    let long = run(&mut defined);
    assert_eq!(long, run(&mut instance(Some(0.75))));
    // A number that follows from the definition follows; one that was set does not.
    let mass = defined.find("mass").unwrap();
    assert_eq!(get(&mut defined, mass), 1.5);
    defined.reset();
    assert_eq!(get(&mut defined, mass), 0.8);
    assert_eq!(get(&mut defined, length), 0.4);
    defined.set_real(&[mass, length], &[3.0, 0.75]).unwrap();
    assert_ne!(run(&mut defined), long, "a heavier rod");
    assert_eq!(get(&mut defined, mass), 3.0);
}

#[test]
fn states_know_their_definitions() {
    let mut long = instance(None);
    let length = long.find("length").unwrap();
    long.set_real(&[length], &[0.75]).unwrap();
    long.initialize(0.0, 2.0, 0.0).unwrap();
    long.step(0.0, 0.1).unwrap();
    let saved = long.save().unwrap();
    let bytes = saved.to_bytes();
    let expected = run(&mut long);
    // Another instance, running with the length of the text.
    let mut other = instance(None);
    run(&mut other);
    let state = other.deserialize(&bytes).unwrap();
    other.restore(&state).unwrap();
    assert_eq!(get(&mut other, length), 0.75);
    assert_eq!(run(&mut other), expected);
    long.restore(&saved).unwrap();
    assert_eq!(run(&mut long), expected);
}

#[test]
fn what_cannot_be_set_is_refused_and_changes_nothing() {
    let mut defined = instance(None);
    let length = defined.find("length").unwrap();
    // No mass is negative: the text refuses the number at the start.
    defined.set_real(&[length], &[-1.0]).unwrap();
    let error = defined.initialize(0.0, 1.0, 0.0).unwrap_err();
    assert!(error.to_string().contains("mass must be"), "{error}");
    defined.set_real(&[length], &[0.5]).unwrap();
    defined.initialize(0.0, 2.0, 0.0).unwrap();
    let error = defined.set_real(&[length], &[0.6]).unwrap_err();
    assert!(matches!(error, Error::NotSettable { .. }), "{error}");
    defined.set_real(&[length], &[0.5]).unwrap();
    assert_eq!(run(&mut defined), run(&mut instance(Some(0.5))));
}

#[test]
fn a_model_takes_definitions_by_name_and_keeps_what_code_has_changed() {
    let mut model = Model::from_text(&text(None), "t").unwrap();
    model.solver.tolerance = 1e-9;
    model.bodies[0].angular_velocity[2] = 2.0;
    assert!(
        model.set("length", 0.5).is_err(),
        "the body depends on it and was changed"
    );
    model.bodies[0].angular_velocity[2] = 0.0;
    model.set("length", 0.5).unwrap();
    model.set("define.l", 0.6).unwrap();
    assert_eq!(model.solver.tolerance, 1e-9);
    assert_eq!(
        (model.bodies[0].mass, model.bodies[0].position[0]),
        (1.2, 0.3)
    );
    assert!(model.set("define.k", 1.0).is_err());
}
