//! Defects that were found at the boundary, each as a test: dependencies of driven speeds and accelerations, directional
//! derivatives with extrapolated inputs, values of saved bytes out of range, steps next to nothing.

use crate::common::Random;
use crate::host::root;
use biela::component::{Causality, Extrapolation, Instance, Variability};
use biela::model::Model;

/// A crank whose speed or acceleration an input prescribes, with a bob on it, a spring and an actuator.
fn driven(of: &str) -> Instance {
    let text = format!(
        r#"
format = 1
name = "driven"
dimension = 2
expose = "all"
gravity = [0.0, -9.81]
[[body]]
name = "crank"
mass = 1.0
inertia = 0.01
position = [0.1, 0.0]
[[body]]
name = "bob"
mass = 0.7
inertia = 0.01
position = [0.4, 0.0]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "crank"]
point = [0.0, 0.0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["crank", "bob"]
point = [0.2, 0.0]
[[motion]]
name = "m"
joint = "pivot"
law = "input"
of = "{of}"
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["ground", "bob"]
points = [[0.3, 1.2], [0.05, 0.02]]
stiffness = 50.0
damping = 0.4
length = 0.7
[[force]]
name = "act"
type = "actuator"
joint = "pin"
[[input]]
name = "u"
target = "m.{of}"
[[input]]
name = "gy"
target = "gravity.y"
[[input]]
name = "tau"
target = "act.torque"
[[output]]
name = "angle"
source = "pivot.position"
[[output]]
name = "w"
source = "pivot.speed"
[[output]]
name = "x"
source = "bob.x"
[[output]]
name = "ay"
source = "bob.ay"
[[output]]
name = "effort"
source = "m.effort"
[[output]]
name = "fs"
source = "spring.force"
[[output]]
name = "fx"
source = "pin.fx"
[[output]]
name = "E"
source = "energy.total"
"#
    );
    Instance::from_text(&text, None).unwrap()
}

fn references(instance: &Instance, wanted: impl Fn(Causality) -> bool) -> Vec<u32> {
    let all = (0..).zip(instance.variables());
    all.filter(|(_, v)| wanted(v.causality))
        .map(|(r, _)| r)
        .collect()
}

/// Value of one variable.
fn value(instance: &mut Instance, reference: u32) -> f64 {
    let mut value = [0.0];
    instance.get_real(&[reference], &mut value).unwrap();
    value[0]
}

/// The dependencies that show when inputs are set at random points of a motion: one list for each computed variable.
fn seen_dependencies(instance: &mut Instance, computed: &[u32], inputs: &[u32]) -> Vec<Vec<u32>> {
    let mut random = Random(7);
    let mut seen = vec![vec![]; computed.len()];
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    for _ in 0..12 {
        for &input in inputs {
            let u = value(instance, input) + random.between(-0.3, 0.3);
            instance.set_real(&[input], &[u]).unwrap();
        }
        instance.step(instance.time(), 0.02).unwrap();
        let state = instance.save().unwrap();
        let before: Vec<f64> = computed.iter().map(|r| value(instance, *r)).collect();
        for &input in inputs {
            let u = value(instance, input);
            instance.set_real(&[input], &[u + 1e-3]).unwrap();
            for (i, &reference) in computed.iter().enumerate() {
                let change = value(instance, reference) - before[i];
                let visible = change.abs() > 1e-11 * before[i].abs().max(1.0);
                if visible && !seen[i].contains(&input) {
                    seen[i].push(input);
                }
            }
            instance.restore(&state).unwrap();
        }
    }
    seen.iter_mut().for_each(|list| list.sort_unstable());
    seen
}

#[test]
fn an_input_that_drives_a_speed_or_an_acceleration_is_declared_where_it_acts_and_nowhere_else() {
    for of in ["position", "speed", "acceleration"] {
        let mut instance = driven(of);
        // Counters are not of the motion.
        let mut computed = references(&instance, |c| {
            matches!(c, Causality::Output | Causality::Local)
        });
        computed
            .retain(|r| instance.variables()[*r as usize].variability == Variability::Continuous);
        let inputs = references(&instance, |c| c == Causality::Input);
        let seen = seen_dependencies(&mut instance, &computed, &inputs);
        for (i, &reference) in computed.iter().enumerate() {
            let name = instance.variables()[reference as usize].name.clone();
            let declared = instance.dependencies(reference);
            for input in &seen[i] {
                assert!(
                    declared.contains(input),
                    "{of}: {name} on {input}, not declared"
                );
            }
            // The declared outputs; other quantities may have a dependency that this motion does not show. A speed follows a driven
            // position only if the input has a slope, which held ones have not.
            let variable = &instance.variables()[reference as usize];
            if variable.causality == Causality::Output && of != "position" {
                assert_eq!(declared, seen[i], "{of}: {name}");
            }
        }
    }
}

#[test]
fn a_directional_derivative_is_what_setting_and_reading_shows_with_extrapolated_inputs_too() {
    for of in ["position", "speed", "acceleration"] {
        for extrapolation in [
            Extrapolation::Hold,
            Extrapolation::Linear,
            Extrapolation::Quadratic,
        ] {
            let mut instance = driven(of);
            instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
            instance.set_extrapolation(extrapolation);
            let u = instance.find("u").unwrap();
            let mut at = 0.0;
            for k in 0..5 {
                at = 0.02 * f64::from(k * k);
                instance.set_real(&[u], &[at]).unwrap();
                instance.step(instance.time(), 0.01).unwrap();
            }
            let state = instance.save().unwrap();
            for name in ["ay", "effort", "w", "fx", "x"] {
                let unknown = instance.find(name).unwrap();
                let mut found = [0.0];
                instance
                    .directional_derivative(&[unknown], &[u], &[1.0], &mut found)
                    .unwrap();
                let mut after = |e: f64| {
                    instance.set_real(&[u], &[at + e]).unwrap();
                    let value = value(&mut instance, unknown);
                    instance.restore(&state).unwrap();
                    value
                };
                // Rounding 1e-16/e and curvature e² balance at 1e-5 or above; 1e-4 relative is far above both.
                let e = 1e-4;
                let shown = (after(e) - after(-e)) / (2.0 * e);
                let allowed = 1e-4 * shown.abs().max(1.0);
                assert!(
                    (found[0] - shown).abs() < allowed,
                    "{of}, {extrapolation:?}: d {name} / d u = {}, shown {shown}",
                    found[0]
                );
            }
        }
    }
}

/// The checksum of a serialised state, as its format says: 64-bit FNV-1a.
fn checksum(bytes: &[u8]) -> [u8; 8] {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    sum.to_le_bytes()
}

#[test]
fn saved_bytes_with_a_right_checksum_and_values_out_of_range_never_lead_to_a_panic() {
    for name in [
        "quarter_car",
        "bouncing_linkage",
        "slider_crank",
        "newton_cradle",
    ] {
        let path = root().join(format!("models/{name}.toml"));
        let mut model = Model::from_file(&path).unwrap();
        // A state that nobody saved may ask for steps without end.
        model.solver.max_substeps = 20;
        let mut instance = Instance::from_model(model).unwrap();
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        for _ in 0..5 {
            instance.step(instance.time(), 0.01).unwrap();
        }
        let good = instance.save().unwrap();
        let bytes = good.to_bytes();
        let stride = if std::env::var_os("BIELA_TEST_FULL").is_some() {
            1
        } else {
            23
        };
        let mut refused = 0;
        for at in (40..bytes.len() - 16).step_by(stride) {
            for change in [
                &5120_i32.to_le_bytes()[..],
                &(-1e-4_f64).to_le_bytes(),
                &f64::NAN.to_le_bytes(),
                &(-7_i32).to_le_bytes(),
            ] {
                let mut changed = bytes.clone();
                changed[at..at + change.len()].copy_from_slice(change);
                let end = changed.len() - 8;
                let sum = checksum(&changed[..end]);
                changed[end..].copy_from_slice(&sum);
                let Ok(state) = instance.deserialize(&changed) else {
                    refused += 1;
                    continue;
                };
                // A panic would end the test; any other outcome of a state that nobody saved is fine.
                if instance.restore(&state).is_ok() {
                    let _ = instance.step(instance.time(), 1e-4);
                }
                instance.reset();
            }
        }
        assert!(refused > 20, "{name}: {refused}");
        // The unchanged bytes are taken and go on with the same bits.
        instance
            .restore(&instance.deserialize(&bytes).unwrap())
            .unwrap();
        assert!(instance.save().unwrap() == good, "{name}");
    }
}

#[test]
fn a_mode_that_does_not_exist_is_refused() {
    // The modes of the tyre and its piecewise laws are the only ints of 4 bytes in a row of small numbers; all are tried.
    let path = root().join("models/quarter_car.toml");
    let mut instance = Instance::from_file(&path).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let bytes = instance.save().unwrap().to_bytes();
    let mut named = 0;
    for at in 40..bytes.len() - 12 {
        let mut changed = bytes.clone();
        changed[at..at + 4].copy_from_slice(&77_i32.to_le_bytes());
        let end = changed.len() - 8;
        let sum = checksum(&changed[..end]);
        changed[end..].copy_from_slice(&sum);
        if let Err(error) = instance.deserialize(&changed) {
            named += usize::from(error.to_string().contains("mode that does not exist"));
        }
    }
    assert!(named > 0);
}

#[test]
fn every_step_that_changes_the_time_is_taken_however_short() {
    for model in ["slider_crank", "iltis", "oscillator", "newton_cradle"] {
        let path = root().join(format!("models/{model}.toml"));
        let mut instance = Instance::from_file(&path).unwrap();
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        for h in [
            5e-324, 1e-300, 1e-154, 1e-86, 1e-49, 1e-20, 1e-16, 1e-15, 1e-12,
        ] {
            let t = instance.time();
            if let Err(error) = instance.step(t, h) {
                panic!("{model}: a step of {h} s at t = {t} s: {error}");
            }
            assert_eq!(instance.time(), t + h, "{model}");
        }
        instance.step(instance.time(), 0.01).unwrap();
    }
}

#[test]
fn saved_bytes_belong_to_the_words_of_a_model_not_to_their_layout() {
    let text = std::fs::read_to_string(root().join("models/oscillator.toml")).unwrap();
    let mut instance = Instance::from_text(&text, None).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    instance.step(0.0, 0.1).unwrap();
    let bytes = instance.save().unwrap().to_bytes();
    // Other comments, and a build that has other types behind the same keys: the meaning differs, the words do not.
    let mut other = Instance::from_text(&format!("# again\n{text}\n\n"), None).unwrap();
    let mut from_another_build = bytes.clone();
    from_another_build[32..40].fill(0x5a);
    let end = bytes.len() - 8;
    let sum = checksum(&from_another_build[..end]);
    from_another_build[end..].copy_from_slice(&sum);
    for bytes in [&bytes, &from_another_build] {
        let state = other.deserialize(bytes).unwrap();
        other.restore(&state).unwrap();
        instance
            .restore(&instance.deserialize(bytes).unwrap())
            .unwrap();
        for each in [&mut instance, &mut other] {
            each.step(0.1, 0.1).unwrap();
        }
        assert!(instance.save().unwrap().to_bytes() == other.save().unwrap().to_bytes());
    }
    // Another value is another model.
    let changed = text.replacen("tolerance", "alpha = 0.11\ntolerance", 1);
    let changed = match changed == text {
        true => format!("{text}\n[solver]\nalpha = 0.11\n"),
        false => changed,
    };
    let stranger = Instance::from_text(&changed, None).unwrap();
    assert!(stranger.deserialize(&bytes).is_err());
}
