//! Two formulations of one mechanism, held against each other by name.

use biela::component::{Causality, Instance};
use biela::model::{FormulationName, Model};

/// An instance in these coordinates, started.
pub fn started(model: &Model, formulation: FormulationName) -> Instance {
    let mut model = model.clone();
    model.solver.formulation = formulation;
    let mut instance = Instance::from_model(model).unwrap_or_else(|e| panic!("{e}"));
    instance
        .initialize(0.0, f64::INFINITY, 0.0)
        .unwrap_or_else(|e| panic!("{formulation:?}: {e}"));
    instance
}

/// A variable by name.
pub fn value(instance: &mut Instance, name: &str) -> f64 {
    let reference = instance.find(name).unwrap_or_else(|e| panic!("{e}"));
    let mut value = [0.0];
    instance.get_real(&[reference], &mut value).unwrap();
    value[0]
}

/// All quantities of the motion at t, by name.
pub fn quantities(instance: &mut Instance) -> Vec<(String, f64)> {
    let names: Vec<(u32, String)> = (instance.variables().iter().enumerate())
        .filter(|(_, v)| matches!(v.causality, Causality::Output | Causality::Local))
        .map(|(i, v)| (i as u32, v.name.clone()))
        .filter(|(_, name)| {
            !name.starts_with("solver.") && name != "energy.numerical" && name != "energy.balance"
        })
        .collect();
    assert!(names.len() > 10, "every quantity is exposed");
    let references: Vec<u32> = names.iter().map(|(i, _)| *i).collect();
    let mut values = vec![0.0; references.len()];
    instance.get_real(&references, &mut values).unwrap();
    names
        .into_iter()
        .map(|(_, name)| name)
        .zip(values)
        .collect()
}

/// Runs in absolute coordinates and in others at three tolerances: at the start everything agrees to rounding, at the end the
/// better the smaller the tolerance.
pub fn agrees(name: &str, model: &Model, formulations: &[FormulationName]) {
    let stop = 0.8;
    let tolerances = [1e-5, 1e-7, 1e-9];
    let run = |formulation, tolerance| {
        let mut model = model.clone();
        model.solver.tolerance = tolerance;
        let mut instance = started(&model, formulation);
        let first = quantities(&mut instance);
        instance
            .step(0.0, stop)
            .unwrap_or_else(|e| panic!("{name}, {formulation:?}: {e}"));
        let touches = ["contact", "floor", "stops"];
        if touches.iter().any(|word| name.contains(word)) {
            assert!(instance.statistics().events > 0, "{name}: no contact");
        }
        (first, quantities(&mut instance))
    };
    let expected = tolerances.map(|tolerance| run(FormulationName::Absolute, tolerance));
    for &formulation in formulations {
        let mut worst = Vec::new();
        for (tolerance, a) in tolerances.iter().zip(&expected) {
            let b = run(formulation, *tolerance);
            // At the start nothing has been integrated: rounding, times the condition of the equations (1e-16/1e-7 where
            // rows that follow from others share a load).
            for ((what, x), (other, y)) in a.0.iter().zip(&b.0) {
                assert_eq!(what, other);
                assert!(
                    (x - y).abs() < 2e-8 * x.abs().max(1.0),
                    "{name}, {formulation:?}, start: {what} = {x} and {y}"
                );
            }
            // Each kind of quantity by its own size, reactions and accelerations too.
            let mut far = (0.0_f64, String::new());
            for ((what, x), (_, y)) in a.1.iter().zip(&b.1) {
                let apart = (x - y).abs() / x.abs().max(1.0);
                assert!(
                    apart.is_finite(),
                    "{name}, {formulation:?}: {what} = {x} and {y}"
                );
                if apart > far.0 {
                    far = (apart, what.clone());
                }
            }
            println!(
                "{name}, {formulation:?}, {tolerance:e}: {:.1e} ({})",
                far.0, far.1
            );
            worst.push(far.0);
        }
        // Two decades of the tolerance are worth at least one of the error until rounding.
        assert!(worst[2] < 1e-5, "{name}, {formulation:?}: {worst:?}");
        assert!(
            worst[2] < 0.1 * worst[0] || worst[2] < 2e-8,
            "{name}, {formulation:?}: {worst:?}"
        );
    }
}
