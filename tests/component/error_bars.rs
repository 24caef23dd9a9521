//! Error bars: the companion run, its bars, and that the run itself does not notice.

use biela::{Error, Instance};

/// A pendulum that is pushed; its period at small angles is 2 s.
const PENDULUM: &str = r#"
format = 1
name = "pushed_pendulum"
dimension = 2
gravity = [0.0, -9.81]
[solver]
tolerance = 1e-6
error_bars = true
[[body]]
name = "bob"
mass = 1.0
inertia = 0.1
position = [1.0, 0.0]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "bob"]
point = [0.0, 0.0]
[[force]]
name = "push"
type = "actuator"
joint = "pivot"
[[input]]
name = "tau"
target = "push.torque"
[[output]]
name = "angle"
source = "pivot.position"
[[output]]
name = "reaction"
source = "pivot.fx"
[[output]]
name = "steps"
source = "solver.steps"
"#;

/// A ball that bounces on a floor.
const BALL: &str = r#"
format = 1
name = "ball"
dimension = 2
gravity = [0.0, -9.81]
[solver]
tolerance = 1e-5
error_bars = true
[[body]]
name = "ball"
mass = 1.0
inertia = 0.1
position = [0.0, 1.0]
velocity = [0.3, 0.0]
angular_velocity = 1.0
[[body]]
name = "arm"
mass = 0.3
inertia = 0.05
position = [0.5, 1.0]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["ball", "arm"]
point = [0.1, 1.0]
[[force]]
name = "floor"
type = "contact"
bodies = ["ground", "ball"]
plane = { normal = [0.0, 1.0] }
point = [0.0, 0.0]
radius = 0.2
restitution = 0.8
[[output]]
name = "y"
source = "ball.y"
[[output]]
name = "vy"
source = "ball.vy"
"#;

fn instance(text: &str) -> Instance {
    Instance::from_text(text, None).unwrap()
}

fn without_bars(text: &str) -> String {
    text.replace("error_bars = true", "error_bars = false")
}

fn get(instance: &mut Instance, name: &str) -> f64 {
    let reference = instance.find(name).unwrap();
    let mut value = [f64::NAN];
    instance.get_real(&[reference], &mut value).unwrap();
    value[0]
}

/// Drives an instance with changing inputs.
fn drive(instance: &mut Instance, steps: u32) -> Vec<f64> {
    let tau = instance.find("tau").unwrap();
    (0..steps)
        .map(|k| {
            let t = 0.25 * f64::from(k);
            let value = f64::from(k % 5) - 2.0;
            instance.set_real(&[tau], &[value]).unwrap();
            instance.step(t, 0.25).unwrap();
            get(instance, "angle")
        })
        .collect()
}

fn running(text: &str) -> Instance {
    let mut instance = instance(text);
    instance.initialize(0.0, 100.0, 0.0).unwrap();
    instance
}

#[test]
fn the_run_has_the_same_bits_as_without_error_bars() {
    let (mut with, mut without) = (running(PENDULUM), running(&without_bars(PENDULUM)));
    assert_eq!(drive(&mut with, 40), drive(&mut without, 40));
    assert_eq!(with.statistics(), without.statistics());
    assert_eq!(with.state(), without.state());
}

#[test]
fn every_output_of_the_motion_has_an_error_variable_and_the_others_are_named() {
    let mut with = running(PENDULUM);
    let (angle, bar) = (
        with.find("angle").unwrap(),
        with.find("angle.error").unwrap(),
    );
    assert_eq!(with.error_bar(angle), Some(bar));
    assert_eq!(with.variables()[bar as usize].unit, "rad");
    assert_eq!(get(&mut with, "angle.error"), 0.0);
    assert!(with.find("steps.error").is_err());
    assert_eq!(with.error_bars().unwrap().left_out, ["steps"]);
    // References of inputs, outputs and parameters stay.
    let without = instance(&without_bars(PENDULUM));
    assert_eq!(
        without.find("reaction").unwrap(),
        with.find("reaction").unwrap()
    );
    assert_eq!(without.error_bars(), None);
    assert!(with.set_real(&[bar], &[1.0]).is_err());
}

#[test]
fn bars_grow_only_and_inputs_reach_both_runs() {
    let mut with = running(PENDULUM);
    let mut exact = running(&without_bars(PENDULUM).replace("1e-6", "1e-11"));
    let mut last = 0.0;
    for _ in 0..20 {
        let (mine, true_angle) = (drive_on(&mut with), drive_on(&mut exact));
        let bar = get(&mut with, "angle.error");
        assert!(bar >= last && bar > 0.0, "{bar} after {last}");
        assert!(
            bar < 1e-4,
            "an input that only one run sees would part them: {bar}"
        );
        assert!(
            (mine - true_angle).abs() <= bar,
            "{mine} {true_angle} {bar}"
        );
        last = bar;
    }
}

/// One more step with an input that depends on the time.
fn drive_on(instance: &mut Instance) -> f64 {
    let (t, tau) = (instance.time(), instance.find("tau").unwrap());
    instance.set_real(&[tau], &[(3.0 * t).sin()]).unwrap();
    instance.step(t, 0.5).unwrap();
    get(instance, "angle")
}

#[test]
fn roll_back_and_bytes_are_exact_with_the_companion() {
    let mut with = running(PENDULUM);
    drive(&mut with, 7);
    let saved = with.save().unwrap();
    let mut copy = running(PENDULUM).save().unwrap();
    with.save_into(&mut copy).unwrap();
    assert_eq!(saved, copy);
    let go_on = |instance: &mut Instance| {
        for _ in 0..5 {
            drive_on(instance);
        }
        let values = ["angle", "angle.error", "reaction.error"].map(|name| get(instance, name));
        (values.map(f64::to_bits), instance.save().unwrap())
    };
    let expected = go_on(&mut with);
    with.restore(&saved).unwrap();
    assert_eq!(go_on(&mut with), expected);
    let mut other = instance(PENDULUM);
    let bytes = saved.to_bytes();
    assert_eq!(bytes.len(), saved.serialized_size());
    other.restore(&other.deserialize(&bytes).unwrap()).unwrap();
    assert_eq!(go_on(&mut other), expected);
    for cut in [bytes.len() - 1, bytes.len() / 2] {
        assert!(other.deserialize(&bytes[..cut]).is_err());
    }
    let mut without = instance(&without_bars(PENDULUM));
    assert!(without.restore(&saved).is_err(), "another model");
}

#[test]
fn a_reset_begins_again() {
    let mut with = running(PENDULUM);
    let first = drive(&mut with, 9);
    let bar = get(&mut with, "angle.error");
    with.reset();
    with.initialize(0.0, 100.0, 0.0).unwrap();
    assert_eq!(get(&mut with, "angle.error"), 0.0);
    assert_eq!(drive(&mut with, 9), first);
    assert_eq!(get(&mut with, "angle.error"), bar);
}

#[test]
fn impacts_at_different_times_are_matched() {
    let mut with = running(BALL);
    let mut without = running(&without_bars(BALL));
    with.step(0.0, 1.5).unwrap();
    without.step(0.0, 1.5).unwrap();
    assert_eq!(with.state(), without.state());
    assert!(with.statistics().events > 0);
    let bars = with.error_bars().unwrap();
    assert!(bars.event_time > 0.0 && bars.event_time < 1e-3, "{bars:?}");
    assert_eq!(bars.jumping, ["vy"]);
    // The jump is some 5 m/s.
    let bar = get(&mut with, "vy.error");
    assert!(bar > 0.0 && bar < 1e-2, "{bar}");
    assert_eq!(bars.undetermined_after, None);
    assert!(bars.to_string().contains("jumps of vy"), "{bars}");
}

#[test]
fn short_communication_steps_that_both_runs_take_alike_still_have_a_bar() {
    let mut with = running(PENDULUM);
    for k in 0..200 {
        with.step(f64::from(k) * 1e-3, 1e-3).unwrap();
    }
    assert!(get(&mut with, "angle.error") > 0.0);
}

#[test]
fn an_accuracy_chooses_the_tolerance_and_says_whether_it_is_kept() {
    let text = PENDULUM.replace("error_bars = true", "accuracy = 1e-4");
    let mut with = instance(&text);
    with.initialize(0.0, 10.0, 0.0).unwrap();
    with.step(0.0, 10.0).unwrap();
    let bars = with.error_bars().unwrap();
    assert!(bars.kept && bars.worst <= 1e-4, "{bars:?}");
    assert_eq!(get(&mut with, "solver.accuracy_kept"), 1.0);
    assert!(with.tolerance() <= 1e-5);
    // Beyond what numbers of 16 digits can hold.
    let mut beyond = instance(&PENDULUM.replace("error_bars = true", "accuracy = 1e-15"));
    beyond.initialize(0.0, 10.0, 0.0).unwrap();
    beyond.step(0.0, 10.0).unwrap();
    assert!(!beyond.error_bars().unwrap().kept);
    assert_eq!(get(&mut beyond, "solver.accuracy_kept"), 0.0);
}

#[test]
fn error_bars_are_turned_on_before_the_start_only() {
    let mut created = instance(&without_bars(PENDULUM));
    let tau = created.find("tau").unwrap();
    created.set_real(&[tau], &[1.5]).unwrap();
    created.use_error_bars().unwrap();
    assert_eq!(get(&mut created, "tau"), 1.5);
    created.initialize(0.0, 10.0, 0.0).unwrap();
    created.step(0.0, 1.0).unwrap();
    assert!(get(&mut created, "angle.error") > 0.0);
    let mut late = running(&without_bars(PENDULUM));
    assert!(matches!(
        late.use_error_bars(),
        Err(Error::CallOrder { .. })
    ));
}
