//! The companion run itself: where it is, and what happens when it stops. What a user sees is in `tests/component/error_bars.rs`.

use std::sync::atomic::Ordering;

use super::Instance;
use crate::component::{Observer, StepProbe};
use crate::error::{Error, Result};

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
    let mut instance = Instance::from_text(text, None).unwrap();
    instance.initialize(0.0, 100.0, 0.0).unwrap();
    instance
}

/// One more step with an input that depends on the time.
fn drive_on(instance: &mut Instance) -> f64 {
    let (t, tau) = (instance.time(), instance.find("tau").unwrap());
    instance.set_real(&[tau], &[(3.0 * t).sin()]).unwrap();
    instance.step(t, 0.5).unwrap();
    get(instance, "angle")
}

/// Stops the step after some substeps.
struct Stopper(u32);

impl Observer for Stopper {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        self.0 -= 1;
        if self.0 == 0 {
            probe.stop();
        }
        Ok(())
    }
}

#[test]
fn a_step_that_ends_early_leaves_both_at_the_same_time() {
    let mut with = running(PENDULUM);
    with.step_observed(0.0, 5.0, &mut Stopper(3)).unwrap();
    let reached = with.time();
    assert!(reached < 5.0);
    let companion = |instance: &Instance| instance.companion.as_ref().unwrap().instance.time();
    assert_eq!(companion(&with), reached);
    with.cancel_flag().store(true, Ordering::Relaxed);
    let outcome = with.step(reached, 1.0);
    assert!(matches!(outcome, Err(Error::Cancelled { .. })));
    assert_eq!(companion(&with), reached);
    drive_on(&mut with);
    assert_eq!(companion(&with), with.time());
    assert!(get(&mut with, "angle.error") < 1e-4);
}

#[test]
fn a_companion_that_stops_leaves_infinite_bars_and_a_sentence_and_the_run_goes_on() {
    let mut with = running(PENDULUM);
    let expected = drive(&mut running(PENDULUM), 8);
    let companion = with.companion.as_mut().unwrap();
    companion.note(Err(Error::Cancelled { time: 0.0 }));
    assert_eq!(drive(&mut with, 8), expected);
    assert_eq!(get(&mut with, "angle.error"), f64::INFINITY);
    let bars = with.error_bars().unwrap();
    assert_eq!(bars.worst, f64::INFINITY);
    assert!(bars.to_string().contains("stopped at t = 0 s"), "{bars}");
}
