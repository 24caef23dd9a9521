//! What a master is told about the interface is true: derivatives in time, derivatives by inputs and parameters, and the
//! list of dependencies, on every model that comes with the library and for every quantity it has.

use crate::common::{Random, act, now};
use biela::component::{Causality, Instance, Variability};
use biela::model::{Expose, Model};

/// Every model of `models`, showing all of its quantities.
fn models() -> Vec<Instance> {
    crate::common::all_models()
        .into_iter()
        .map(|mut model| {
            model.expose = Expose::All;
            Instance::from_model(model).unwrap()
        })
        .collect()
}

/// What can be differentiated: computed and not a counter.
fn computed(instance: &Instance) -> Vec<u32> {
    let all = instance.variables().iter().enumerate();
    let computed = all.filter(|(_, v)| {
        matches!(v.causality, Causality::Output | Causality::Local)
            && v.variability == Variability::Continuous
    });
    computed.map(|(i, _)| i as u32).collect()
}

fn read(instance: &mut Instance, references: &[u32]) -> Vec<f64> {
    let mut values = vec![0.0; references.len()];
    instance.get_real(references, &mut values).unwrap();
    values
}

fn knowns(instance: &Instance) -> Vec<u32> {
    let mut knowns = crate::common::references(instance, Causality::Input);
    knowns.extend(crate::common::references(instance, Causality::Parameter));
    knowns
}

fn by(instance: &mut Instance, unknowns: &[u32], known: u32) -> Vec<f64> {
    let mut out = vec![f64::NAN; unknowns.len()];
    instance
        .directional_derivative(unknowns, &[known], &[1.0], &mut out)
        .unwrap_or_else(|e| panic!("{}: {e}", instance.model().name));
    out
}

#[test]
fn time_derivatives_are_the_slopes_of_the_motion() {
    for mut instance in models() {
        let name = instance.model().name.clone();
        // Differences over 0.2 ms need a motion that is smooth over some of them; stiff and fast models are not.
        const SMOOTH: [&str; 5] = [
            "pendulum",
            "double_pendulum",
            "slider_crank",
            "four_bar",
            "excavator",
        ];
        if !SMOOTH.contains(&name.as_str()) {
            continue;
        }
        let outputs = computed(&instance);
        let orders = |order: u32| vec![order; outputs.len()];
        // Tight, so that the points that are compared lie on one motion.
        instance.initialize(0.0, f64::INFINITY, 1e-10).unwrap();
        let mut random = Random(5);
        for _ in 0..3 {
            act(&mut instance, &mut random);
            let t = instance.time();
            let before = now(&instance);
            let mut first = vec![0.0; outputs.len()];
            let mut second = vec![0.0; outputs.len()];
            instance
                .output_derivatives(&outputs, &orders(1), &mut first)
                .unwrap();
            instance
                .output_derivatives(&outputs, &orders(2), &mut second)
                .unwrap();
            // Reading outputs lets the mechanism hear of a set; derivatives do no more than that.
            read(&mut instance, &outputs);
            let heard = now(&instance);
            assert!(before == heard || instance.statistics().steps > 0, "{name}");
            let e = 2e-4;
            let saved = instance.save().unwrap();
            let mut points = vec![read(&mut instance, &outputs)];
            for k in 0..4 {
                instance.step(t + f64::from(k) * e, e).unwrap();
                points.push(read(&mut instance, &outputs));
            }
            instance.restore(&saved).unwrap();
            for (i, &output) in outputs.iter().enumerate() {
                let y: Vec<f64> = points.iter().map(|row| row[i]).collect();
                // One-sided differences of order 4 and 3; y4 needs accelerations to 1e-10 over e² = 4e-8.
                let slope = (-25.0 * y[0] + 48.0 * y[1] - 36.0 * y[2] + 16.0 * y[3] - 3.0 * y[4])
                    / (12.0 * e);
                let bend = (35.0 * y[0] - 104.0 * y[1] + 114.0 * y[2] - 56.0 * y[3] + 11.0 * y[4])
                    / (12.0 * e * e);
                let what = &instance.variables()[output as usize].name;
                // Balance is what the exact motion keeps and the computed one only nearly.
                if what.ends_with("balance") || what.ends_with("numerical") {
                    assert_eq!((first[i], second[i]), (0.0, 0.0));
                    continue;
                }
                let size = y[0].abs().max(1.0) + slope.abs() + 1e-2 * bend.abs();
                assert!(
                    (first[i] - slope).abs() <= 1e-4 * size,
                    "{name}, {what} at t = {t}: {} {slope}",
                    first[i]
                );
                assert!(
                    (second[i] - bend).abs() <= 1e-1 * size.max(bend.abs()),
                    "{name}, {what} at t = {t}, order 2: {} {bend}",
                    second[i]
                );
            }
        }
    }
}

#[test]
fn directional_derivatives_are_what_setting_and_reading_shows() {
    for mut instance in models() {
        let name = instance.model().name.clone();
        let outputs = computed(&instance);
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        let mut random = Random(6);
        for _ in 0..5 {
            act(&mut instance, &mut random);
            read(&mut instance, &outputs);
            let before = now(&instance);
            for known in knowns(&instance) {
                let found = by(&mut instance, &outputs, known);
                assert_eq!(now(&instance), before, "{name}: nothing is touched");
                // Central differences of real sets, each from the same state.
                let saved = instance.save().unwrap();
                let value = read(&mut instance, &[known])[0];
                let start = instance.variables()[known as usize].start.unwrap_or(0.0);
                let e = 1e-4 * value.abs().max(start.abs()).max(1e-2);
                let mut at = |x: f64| {
                    instance.restore(&saved).unwrap();
                    instance.set_real(&[known], &[x]).unwrap();
                    read(&mut instance, &outputs)
                };
                // What must not be negative and is zero can only be differenced to one side, also of second order.
                let one_sided = value == 0.0;
                let (up, here) = (at(value + e), at(value));
                let third = at(if one_sided {
                    value + 2.0 * e
                } else {
                    value - e
                });
                instance.restore(&saved).unwrap();
                for (i, &output) in outputs.iter().enumerate() {
                    let slope = match one_sided {
                        true => (4.0 * up[i] - 3.0 * here[i] - third[i]) / (2.0 * e),
                        false => (up[i] - third[i]) / (2.0 * e),
                    };
                    // Accelerations of the size of gravity are solved to 1e-12.
                    let rounding = 1e-12 * (here[i].abs() + 10.0) / e;
                    assert!(
                        (found[i] - slope).abs() <= 1e-6 * slope.abs() + rounding,
                        "{name}: d {} / d {}: {} {slope}",
                        instance.variables()[output as usize].name,
                        instance.variables()[known as usize].name,
                        found[i]
                    );
                }
            }
        }
    }
}

#[test]
fn an_output_reacts_to_what_it_is_said_to_depend_on_and_to_nothing_else() {
    let mut listed = 0;
    for mut instance in models() {
        let name = instance.model().name.clone();
        let outputs = computed(&instance);
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        let mut random = Random(7);
        let all = knowns(&instance);
        let mut seen = vec![vec![false; all.len()]; outputs.len()];
        for _ in 0..4 {
            act(&mut instance, &mut random);
            for (j, &known) in all.iter().enumerate() {
                let found = by(&mut instance, &outputs, known);
                for i in 0..outputs.len() {
                    seen[i][j] |= found[i] != 0.0;
                }
            }
        }
        for (i, &output) in outputs.iter().enumerate() {
            let variable = &instance.variables()[output as usize];
            for (j, &known) in all.iter().enumerate() {
                let input = instance.variables()[known as usize].causality == Causality::Input;
                let during = instance.dependencies(output).contains(&known);
                let initial = instance.initial_dependencies(output).contains(&known);
                let by = &instance.variables()[known as usize].name;
                // What is supplied is counted from the start on, so there it depends on nothing.
                let supplied = variable.description == "energy.supplied";
                assert!(
                    !seen[i][j] || initial || supplied,
                    "{name}: {} by {by}",
                    variable.name
                );
                assert!(
                    !seen[i][j] || during || !input,
                    "{name}: {} by {by}",
                    variable.name
                );
                assert!(!during || input, "{name}: inputs only");
                listed += u32::from(during && seen[i][j]);
            }
            // By their nature: at fixed positions and velocities only loads and accelerations follow a force.
            let field = variable.description.rsplit('.').next().unwrap();
            let force_inputs = !instance.model().inputs.is_empty();
            if [
                "x", "y", "angle", "vx", "vy", "wz", "position", "speed", "length", "rate",
                "kinetic",
            ]
            .contains(&field)
                && variable.description.contains('.')
            {
                assert!(
                    instance.dependencies(output).is_empty(),
                    "{name}: {}",
                    variable.name
                );
            }
            if name == "slider_crank" && force_inputs && ["ax", "alphaz"].contains(&field) {
                assert_eq!(
                    instance.dependencies(output),
                    [instance.find("tau").unwrap()]
                );
            }
        }
    }
    assert!(listed > 20, "dependencies that were seen: {listed}");
}

#[test]
fn bodies_without_common_constraints_do_not_depend_on_each_others_inputs() {
    let body = |name: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1.0\ninertia = 1.0\n\
             [[joint]]\nname = \"{name}_rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"{name}\"]\n\
             point = [0.0, 0.0]\naxis = [1.0, 0.0]\n\
             [[force]]\nname = \"{name}_motor\"\ntype = \"actuator\"\njoint = \"{name}_rail\"\n\
             [[input]]\nname = \"{name}_u\"\ntarget = \"{name}_motor.force\"\n\
             [[output]]\nname = \"{name}_a\"\nsource = \"{name}.ax\"\n"
        )
    };
    // A spring ties positions, not accelerations.
    let spring = "[[force]]\nname = \"s\"\ntype = \"spring_damper\"\nbodies = [\"one\", \"two\"]\n\
                  points = [[0.0, 1.0], [0.0, -1.0]]\nstiffness = 10.0\ndamping = 1.0\nlength = 1.0\n";
    let text = format!(
        "format = 1\nname = \"two\"\ndimension = 2\n{}{}{spring}",
        body("one"),
        body("two")
    );
    let instance = Instance::from_model(Model::from_text(&text, "two").unwrap()).unwrap();
    for name in ["one", "two"] {
        let a = instance.find(&format!("{name}_a")).unwrap();
        let u = instance.find(&format!("{name}_u")).unwrap();
        assert_eq!(instance.dependencies(a), [u]);
    }
}
