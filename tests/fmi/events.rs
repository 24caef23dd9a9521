//! FMI 3: event mode, inputs and derivatives inside steps, discrete variables, terminals.

use std::ffi::{CString, c_void};
use std::ptr::null;

use crate::fmi_host::world::Handle;
use crate::fmi_host::{BOTH, Unpacked, full, model, pack, python, script};
use crate::host::Scratch;
use biela::component::Instance;
use biela::fmi::FmiStandard;
use biela::fmi::fmi3::*;
use biela::fmi::package;
use biela::fmi::types::{FmiStatus, fmi3IntermediateUpdateCallback};
use serde_json::json;

/// A block that falls onto a floor 1 m below and bounces with half its speed; the motion between two impacts is a parabola, which
/// the integrator follows to rounding.
const BALL: &str = r#"
format = 1
name = "ball"
dimension = 2
gravity = [0.0, -10.0]
[[body]]
name = "ball"
mass = 2.0
inertia = 1.0
[[joint]]
name = "guide"
type = "prismatic"
bodies = ["ground", "ball"]
point = [0.0, 0.0]
axis = [0.0, 1.0]
limits = [-1.0, 10.0]
restitution = 0.5
[[force]]
name = "wind"
type = "force"
body = "ball"
[[input]]
name = "push"
target = "wind.y"
[[output]]
name = "x"
source = "ball.x"
[[output]]
name = "y"
source = "ball.y"
[[output]]
name = "vy"
source = "ball.vy"
[[output]]
name = "steps"
source = "solver.steps"
"#;
const PUSH: u32 = 0;
const Y: u32 = 2;
const VY: u32 = 3;
const STEPS: u32 = 4;

fn ball(scratch: &Scratch) -> Unpacked {
    let path = scratch.path().join("ball.toml");
    std::fs::write(&path, BALL).unwrap();
    Unpacked::new(&path, FmiStandard::Three, scratch)
}

/// How an instance is made.
#[derive(Clone, Copy)]
struct Options {
    event_mode: bool,
    early_return: bool,
    update: Option<fmi3IntermediateUpdateCallback>,
    environment: *mut c_void,
}

struct Unit(Handle);

/// What a step says.
#[derive(Debug, PartialEq)]
struct Stepped {
    status: FmiStatus,
    event: bool,
    early: bool,
    time: f64,
}

impl Unit {
    fn new(unit: &Unpacked, options: Options, required: &[u32]) -> Self {
        let resources = CString::new(unit.resources().to_str().unwrap()).unwrap();
        let token = CString::new(unit.contents.token.as_str()).unwrap();
        // SAFETY: C strings, an array and a callback that live long enough.
        let handle = unsafe {
            fmi3InstantiateCoSimulation(
                c"ball".as_ptr(),
                token.as_ptr(),
                resources.as_ptr(),
                0,
                0,
                options.event_mode.into(),
                options.early_return.into(),
                if required.is_empty() {
                    null()
                } else {
                    required.as_ptr()
                },
                required.len(),
                options.environment,
                None,
                options.update,
            )
        };
        assert!(!handle.is_null());
        Self(handle)
    }

    fn start(&self, event_mode: bool) {
        // SAFETY: a live handle.
        unsafe {
            assert_eq!(
                fmi3EnterInitializationMode(self.0, 0, 0.0, 0.0, 0, 0.0),
                FmiStatus::Ok
            );
            assert_eq!(fmi3ExitInitializationMode(self.0), FmiStatus::Ok);
            if event_mode {
                self.update();
                assert_eq!(fmi3EnterStepMode(self.0), FmiStatus::Ok);
            }
        }
    }

    fn update(&self) -> bool {
        let mut flags = [true; 5];
        let mut next = 0.0;
        let [need, terminate, nominals, values, defined] = &mut flags;
        // SAFETY: a live handle and pointers to locals.
        let status = unsafe {
            fmi3UpdateDiscreteStates(
                self.0, need, terminate, nominals, values, defined, &mut next,
            )
        };
        assert_eq!(status, FmiStatus::Ok);
        assert!(!flags[0] && !flags[1] && !flags[2] && !flags[4]);
        flags[3]
    }

    fn handle_event(&self) -> bool {
        // SAFETY: a live handle.
        unsafe {
            assert_eq!(fmi3EnterEventMode(self.0), FmiStatus::Ok);
            let event = self.update();
            assert_eq!(fmi3EnterStepMode(self.0), FmiStatus::Ok);
            event
        }
    }

    fn step(&self, time: f64, h: f64) -> Stepped {
        let (mut event, mut terminate, mut early, mut last) = (true, true, true, f64::NAN);
        // SAFETY: a live handle and pointers to locals.
        let status = unsafe {
            fmi3DoStep(
                self.0,
                time,
                h,
                1,
                &mut event,
                &mut terminate,
                &mut early,
                &mut last,
            )
        };
        assert!(!terminate);
        Stepped {
            status,
            event,
            early,
            time: last,
        }
    }

    fn get(&self, reference: u32) -> f64 {
        let mut value = f64::NAN;
        // SAFETY: a live handle and pointers to locals.
        let status = unsafe { fmi3GetFloat64(self.0, &reference, 1, &mut value, 1) };
        assert_eq!(status, FmiStatus::Ok);
        value
    }

    fn set(&self, reference: u32, value: f64) -> FmiStatus {
        // SAFETY: a live handle and pointers to locals.
        unsafe { fmi3SetFloat64(self.0, &reference, 1, &value, 1) }
    }

    /// The state as bytes.
    fn bytes(&self) -> Vec<u8> {
        let (mut state, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: a live handle and pointers to locals.
        unsafe {
            assert_eq!(fmi3GetFMUState(self.0, &mut state), FmiStatus::Ok);
            assert_eq!(
                fmi3SerializedFMUStateSize(self.0, state, &mut size),
                FmiStatus::Ok
            );
            let mut bytes = vec![0; size];
            let status = fmi3SerializeFMUState(self.0, state, bytes.as_mut_ptr(), size);
            assert_eq!(status, FmiStatus::Ok);
            assert_eq!(fmi3FreeFMUState(self.0, &mut state), FmiStatus::Ok);
            bytes
        }
    }

    fn restore(&self, bytes: &[u8]) {
        let mut state = std::ptr::null_mut();
        // SAFETY: a live handle and pointers to locals.
        unsafe {
            let status = fmi3DeserializeFMUState(self.0, bytes.as_ptr(), bytes.len(), &mut state);
            assert_eq!(status, FmiStatus::Ok);
            assert_eq!(fmi3SetFMUState(self.0, state), FmiStatus::Ok);
            assert_eq!(fmi3FreeFMUState(self.0, &mut state), FmiStatus::Ok);
        }
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // SAFETY: a live handle that is not used any more.
        unsafe { fmi3FreeInstance(self.0) }
    }
}

const PLAIN: Options = Options {
    event_mode: false,
    early_return: false,
    update: None,
    environment: std::ptr::null_mut(),
};
const EVENTS: Options = Options {
    event_mode: true,
    early_return: true,
    update: None,
    environment: std::ptr::null_mut(),
};

#[test]
fn a_step_returns_at_each_impact_and_both_limits_are_read() {
    let scratch = Scratch::new("fmi-events");
    let unit = ball(&scratch);
    let ball = Unit::new(&unit, EVENTS, &[]);
    ball.start(true);
    // Impacts at t₁ = √(2/g), then after 2 v/g with v halved each time.
    let g = 10.0_f64;
    let mut expected = (2.0 / g).sqrt();
    let mut speed = g * expected;
    let mut t = 0.0;
    for _ in 0..5 {
        let stepped = loop {
            let stepped = ball.step(t, 0.25);
            assert_eq!(stepped.status, FmiStatus::Ok);
            t = stepped.time;
            if stepped.event {
                break stepped;
            }
        };
        assert!((t - expected).abs() < 1e-9, "{t} is not {expected}");
        assert_eq!(stepped.early, (t / 0.25).fract() != 0.0);
        // The limit from the left, from the state as it was read, from bytes, and in event mode before the update.
        let left = |unit: &Unit| {
            assert!(
                (unit.get(VY) + speed).abs() < 1e-8,
                "{} {speed}",
                unit.get(VY)
            );
            assert!((unit.get(Y) + 1.0).abs() < 1e-8);
        };
        left(&ball);
        let bytes = ball.bytes();
        let other = Unit::new(&unit, EVENTS, &[]);
        other.restore(&bytes);
        left(&other);
        for unit in [&ball, &other] {
            // SAFETY: live handles and pointers to locals.
            unsafe {
                assert_eq!(fmi3EnterEventMode(unit.0), FmiStatus::Ok);
                left(unit);
                let (order, mut value) = (1, 0.0);
                let status = fmi3GetOutputDerivatives(unit.0, &VY, 1, &order, &mut value, 1);
                assert_eq!(
                    status,
                    FmiStatus::Error,
                    "only values have a limit from the left"
                );
                assert!(unit.update(), "the continuous states have jumped");
                assert!((unit.get(VY) - 0.5 * speed).abs() < 1e-8);
                assert!(!unit.update(), "once is enough");
                assert_eq!(fmi3EnterStepMode(unit.0), FmiStatus::Ok);
            }
        }
        assert!(
            ball.bytes() == other.bytes(),
            "the same bits after the event"
        );
        speed *= 0.5;
        expected += 2.0 * speed / g;
    }
}

#[test]
fn without_event_mode_or_early_return_events_are_handled_inside_with_the_same_bits() {
    let scratch = Scratch::new("fmi-inside");
    let unit = ball(&scratch);
    let plain = Unit::new(&unit, PLAIN, &[]);
    plain.start(false);
    let no_return = Unit::new(
        &unit,
        Options {
            early_return: false,
            ..EVENTS
        },
        &[],
    );
    no_return.start(true);
    for k in 0..40 {
        let t = 0.05 * f64::from(k);
        let [a, b] = [&plain, &no_return].map(|unit| unit.step(t, 0.05));
        assert_eq!(
            (a.status, a.event, a.early, a.time),
            (FmiStatus::Ok, false, false, t + 0.05)
        );
        assert_eq!(
            (b.status, b.early, b.time),
            (FmiStatus::Ok, false, t + 0.05)
        );
        for reference in [Y, VY] {
            assert_eq!(
                plain.get(reference).to_bits(),
                no_return.get(reference).to_bits()
            );
        }
    }
    // Event mode is for those who asked for it.
    // SAFETY: a live handle.
    unsafe { assert_eq!(fmi3EnterEventMode(plain.0), FmiStatus::Error) };
}

#[test]
fn an_event_at_the_communication_point_needs_handling_but_is_no_early_return() {
    let scratch = Scratch::new("fmi-on-time");
    let unit = ball(&scratch);
    let first = Unit::new(&unit, EVENTS, &[]);
    first.start(true);
    let found = first.step(0.0, 1.0);
    assert!(found.event && found.early);
    let ball = Unit::new(&unit, EVENTS, &[]);
    ball.start(true);
    let stepped = ball.step(0.0, found.time);
    assert!(stepped.event && !stepped.early, "{stepped:?}");
    assert_eq!(stepped.time, found.time);
    assert!(ball.handle_event());
}

#[test]
fn counters_are_discrete_int32_and_other_types_are_refused_by_name() {
    let scratch = Scratch::new("fmi-int32");
    let unit = ball(&scratch);
    let ball = Unit::new(&unit, PLAIN, &[]);
    ball.start(false);
    assert_eq!(ball.step(0.0, 0.25).status, FmiStatus::Ok);
    let (mut number, mut real, mut truth) = (-1, -1.0, 9_u8);
    // SAFETY: a live handle and pointers to locals.
    unsafe {
        assert_eq!(
            fmi3GetInt32(ball.0, &STEPS, 1, &mut number, 1),
            FmiStatus::Ok
        );
        assert!(number > 0);
        assert_eq!(
            fmi3GetInt32(ball.0, &Y, 1, &mut number, 1),
            FmiStatus::Error
        );
        assert_eq!(
            fmi3GetInt32(ball.0, &STEPS, 1, &mut number, 2),
            FmiStatus::Error
        );
        for _ in 0..2 {
            assert_eq!(
                fmi3GetFloat64(ball.0, &STEPS, 1, &mut real, 1),
                FmiStatus::Error
            );
        }
        assert_eq!(
            fmi3GetBoolean(ball.0, &STEPS, 1, &mut truth, 1),
            FmiStatus::Error
        );
    }
    assert_eq!((real, truth), (-1.0, 9));
    let xml = unit.description();
    let line = xml
        .lines()
        .find(|line| line.contains("name=\"steps\""))
        .unwrap();
    assert!(
        line.contains("<Int32 ") && line.contains("variability=\"discrete\""),
        "{line}"
    );
}

/// A ball that falls 0.2 m onto a floor; the law of the contact is put in.
const DROP: &str = r#"
format = 1
name = "drop"
dimension = 2
gravity = [0.0, -10.0]
[[body]]
name = "ball"
mass = 1.0
inertia = 1.0
position = [0.0, 0.3]
[[force]]
name = "floor"
type = "contact"
bodies = ["ground", "ball"]
plane = { normal = [0.0, 1.0] }
radius = 0.1
LAW
[[output]]
name = "closed"
source = "floor.closed"
[[output]]
name = "mode"
source = "floor.mode"
[[output]]
name = "depth"
source = "floor.length"
[[output]]
name = "force"
source = "floor.force"
"#;

/// Discrete values, then depth and force.
fn contact(unit: &Unit) -> (u8, i32, f64, f64) {
    let (mut closed, mut mode) = (9, -9);
    // SAFETY: a live handle and pointers to locals.
    unsafe {
        assert_eq!(fmi3GetBoolean(unit.0, &0, 1, &mut closed, 1), FmiStatus::Ok);
        assert_eq!(fmi3GetInt32(unit.0, &1, 1, &mut mode, 1), FmiStatus::Ok);
    }
    (closed, mode, unit.get(2), unit.get(3))
}

#[test]
fn contacts_show_whether_they_are_closed_and_their_mode_as_discrete_variables() {
    let scratch = Scratch::new("fmi-closed");
    // A strong damper pulls when the ball leaves: mode 2. A rigid contact that does not bounce stays closed.
    let laws = [
        ("give", "stiffness = 4000.0\ndamping = 60.0", vec![1, 2, 0]),
        ("rigid", "restitution = 0.0", vec![1]),
        (
            "bounce",
            "restitution = 0.5\nrest_speed = 0.6",
            vec![0, 0, 1],
        ),
    ];
    for (name, law, expected) in laws {
        let path = scratch.path().join(format!("{name}.toml"));
        std::fs::write(&path, DROP.replace("LAW", law)).unwrap();
        let unpacked = Unpacked::new(&path, FmiStandard::Three, &scratch);
        let xml = unpacked.description();
        for (variable, element) in [("closed", "<Boolean "), ("mode", "<Int32 ")] {
            let quoted = format!("name=\"{variable}\"");
            let line = xml.lines().find(|line| line.contains(&quoted)).unwrap();
            assert!(
                line.contains(element) && line.contains("variability=\"discrete\""),
                "{line}"
            );
        }
        let unit = Unit::new(&unpacked, EVENTS, &[]);
        unit.start(true);
        assert_eq!((contact(&unit).0, contact(&unit).1), (0, 0), "{name}");
        let (mut time, mut modes) = (0.0, Vec::new());
        while modes.len() < expected.len() && time < 2.0 {
            let stepped = unit.step(time, 0.01);
            assert_eq!(stepped.status, FmiStatus::Ok);
            time = stepped.time;
            if stepped.event {
                // Before the event the mode is the old one, after it the new one; a state saved in between keeps both.
                let before = contact(&unit);
                let bytes = unit.bytes();
                assert_eq!(
                    before.1,
                    modes.last().copied().unwrap_or(0),
                    "{name} {time}"
                );
                assert!(unit.handle_event());
                let after = contact(&unit);
                unit.restore(&bytes);
                assert_eq!(contact(&unit), before, "{name} {time}");
                assert!(unit.handle_event());
                assert_eq!(contact(&unit), after, "{name} {time}");
                modes.push(after.1);
            }
            let (closed, mode, depth, force) = contact(&unit);
            assert_eq!(closed == 1, mode != 0, "{name} {time}");
            assert_eq!(force > 0.0, mode == 1, "{name} {time}: {force}");
            // An event is located to 1e-9 s; the ball falls with 2 m/s.
            assert!(mode == 0 || depth > -1e-8, "{name} {time}: {depth}");
            assert!(mode != 0 || depth < 1e-8, "{name} {time}: {depth}");
        }
        assert_eq!(modes, expected, "{name}");
    }
}

// --- inside a step --------------------------------------------------------------------------------------------------

/// What the callback does and sees.
struct Inside {
    unit: Handle,
    push: fn(f64) -> f64,
    asked: Vec<f64>,
    read: usize,
    derivative_error: f64,
    wrong: Vec<FmiStatus>,
}

unsafe extern "C" fn inside(
    environment: *mut c_void,
    time: f64,
    set_requested: bool,
    get_allowed: bool,
    finished: bool,
    _can_return: bool,
    early: *mut bool,
    _early_time: *mut f64,
) {
    // SAFETY: the host's own struct and pointers to locals of the step.
    unsafe {
        *early = false;
        let inside = &mut *environment.cast::<Inside>();
        let (mut value, order) = (0.0, 1);
        if set_requested {
            assert!(!get_allowed && !finished);
            inside.asked.push(time);
            value = (inside.push)(time);
            assert_eq!(
                fmi3SetFloat64(inside.unit, &PUSH, 1, &value, 1),
                FmiStatus::Ok
            );
            inside
                .wrong
                .push(fmi3GetFloat64(inside.unit, &Y, 1, &mut value, 1));
            inside
                .wrong
                .push(fmi3SetFloat64(inside.unit, &PUSH, 1, &f64::NAN, 1));
            inside
                .wrong
                .push(fmi3SetFloat64(inside.unit, &Y, 1, &value, 1));
        } else {
            assert!(get_allowed && finished);
            inside.read += 1;
            let mut slope = 0.0;
            assert_eq!(
                fmi3GetFloat64(inside.unit, &VY, 1, &mut value, 1),
                FmiStatus::Ok
            );
            let status = fmi3GetOutputDerivatives(inside.unit, &Y, 1, &order, &mut slope, 1);
            assert_eq!(status, FmiStatus::Ok);
            inside.derivative_error = inside.derivative_error.max((slope - value).abs());
            // Not named at instantiation; and no inputs are asked for now.
            inside
                .wrong
                .push(fmi3GetFloat64(inside.unit, &1, 1, &mut value, 1));
            inside
                .wrong
                .push(fmi3SetFloat64(inside.unit, &PUSH, 1, &value, 1));
        }
    }
}

/// y and its rate after `steps` steps of 1 s / `steps`, with the push set inside the steps.
fn driven(unit: &Unpacked, push: fn(f64) -> f64, steps: u32) -> (f64, Inside) {
    let mut state = Box::new(Inside {
        unit: std::ptr::null_mut(),
        push,
        asked: Vec::new(),
        read: 0,
        derivative_error: 0.0,
        wrong: Vec::new(),
    });
    let options = Options {
        update: Some(inside),
        environment: (&raw mut *state).cast(),
        ..PLAIN
    };
    let ball = Unit::new(unit, options, &[PUSH, Y, VY]);
    state.unit = ball.0;
    ball.start(false);
    let h = 0.4 / f64::from(steps);
    for k in 0..steps {
        let t = h * f64::from(k);
        assert_eq!(ball.set(PUSH, push(t)), FmiStatus::Ok);
        assert_eq!(ball.step(t, h).status, FmiStatus::Ok);
    }
    let y = ball.get(Y);
    drop(ball);
    (y, *state)
}

#[test]
fn inputs_set_inside_steps_give_a_high_order_and_output_derivatives_are_read_there() {
    let scratch = Scratch::new("fmi-set-inside");
    let unit = ball(&scratch);
    // A parabola is exact whatever the steps: y'' = −10 + u/2 with u = 3 + 5 t − 7 t².
    let parabola = |t: f64| 3.0 + 5.0 * t - 7.0 * t * t;
    let exact =
        |t: f64| -5.0 * t * t + 0.75 * t * t + 5.0 / 12.0 * t.powi(3) - 7.0 / 24.0 * t.powi(4);
    for steps in [1, 3] {
        let (y, inside) = driven(&unit, parabola, steps);
        // Global error of the default tolerance of 1e-6 relative to a motion of 1 m.
        assert!(
            (y - exact(0.4)).abs() < 1e-6,
            "{steps} steps: {y} is not {}",
            exact(0.4)
        );
        assert!(inside.read > 0 && inside.asked.len() > 2 * inside.read);
        assert!(inside.asked.iter().all(|t| (0.0..=0.4 + 1e-12).contains(t)));
        // Velocities are exact derivatives of positions.
        assert!(
            inside.derivative_error < 1e-12,
            "{}",
            inside.derivative_error
        );
        assert!(
            inside
                .wrong
                .iter()
                .all(|status| *status == FmiStatus::Error)
        );
    }
    // A wave: y'' = −10 + sin(12 t)/2; the error of the input is O(h³) in a substep. Held inputs have order 1.
    let wave = |t: f64| (12.0 * t).sin();
    let exact = |t: f64| -5.0 * t * t + 0.5 * (12.0 * t - (12.0 * t).sin()) / 144.0;
    let errors = [4, 8, 16].map(|steps| (driven(&unit, wave, steps).0 - exact(0.4)).abs());
    let held = |steps: u32| {
        let ball = Unit::new(&unit, PLAIN, &[]);
        ball.start(false);
        let h = 0.4 / f64::from(steps);
        for k in 0..steps {
            ball.set(PUSH, wave(h * f64::from(k)));
            assert_eq!(ball.step(h * f64::from(k), h).status, FmiStatus::Ok);
        }
        (ball.get(Y) - exact(0.4)).abs()
    };
    // The error is that of the tolerance, 1e-6 for each internal step of a motion of 1 m, whatever the communication step; held
    // inputs have an error of half a step.
    assert!(errors.iter().all(|error| *error < 1e-6), "{errors:?}");
    let fine = held(16);
    assert!(errors[2] < 1e-3 * fine, "{errors:?}, held {fine}");
}

/// An input that follows the Taylor polynomial of another unit's output about the communication point, and the unit's own output,
/// whose second derivative is read inside the step, where the slope of the input is known.
struct Follower {
    unit: Handle,
    input: u32,
    output: u32,
    since: f64,
    taylor: [f64; 3],
    /// Second derivative of the output at the end of the last internal step.
    curvature: Option<f64>,
}

unsafe extern "C" fn follow(
    environment: *mut c_void,
    time: f64,
    set_requested: bool,
    get_allowed: bool,
    _finished: bool,
    _can_return: bool,
    early: *mut bool,
    _early_time: *mut f64,
) {
    // SAFETY: the host's own struct and pointers to locals of the step.
    unsafe {
        *early = false;
        let follower = &mut *environment.cast::<Follower>();
        if get_allowed {
            let (order, mut value) = (2, 0.0);
            let output = &follower.output;
            let status = fmi3GetOutputDerivatives(follower.unit, output, 1, &order, &mut value, 1);
            assert_eq!(status, FmiStatus::Ok);
            follower.curvature = Some(value);
        }
        if set_requested {
            let s = time - follower.since;
            let [u, slope, curvature] = follower.taylor;
            let value = u + s * (slope + 0.5 * s * curvature);
            let status = fmi3SetFloat64(follower.unit, &follower.input, 1, &value, 1);
            assert_eq!(status, FmiStatus::Ok);
        }
    }
}

/// One half of the coupled mechanism: the unit, what it hears, and its force on the other half.
struct Half {
    unit: Unit,
    follower: Box<Follower>,
}

impl Half {
    fn new(name: &str, input: &str, scratch: &Scratch) -> Self {
        let path = model(name);
        let unpacked = Unpacked::new(&path, FmiStandard::Three, scratch);
        let instance = Instance::from_file(&path).unwrap();
        let [input, output] = [input, "end_force"].map(|name| instance.find(name).unwrap());
        let mut follower = Box::new(Follower {
            unit: std::ptr::null_mut(),
            input,
            output,
            since: 0.0,
            taylor: [0.0; 3],
            curvature: None,
        });
        let options = Options {
            update: Some(follow),
            environment: (&raw mut *follower).cast(),
            ..PLAIN
        };
        let unit = Unit::new(&unpacked, options, &[input, output]);
        follower.unit = unit.0;
        // SAFETY: a live handle. The tolerance is far below the error of the coupling.
        unsafe {
            let status = fmi3EnterInitializationMode(unit.0, 1, 1e-11, 0.0, 0, 0.0);
            assert_eq!(status, FmiStatus::Ok);
            assert_eq!(fmi3ExitInitializationMode(unit.0), FmiStatus::Ok);
        }
        Self { unit, follower }
    }

    /// The force now.
    fn force(&self) -> f64 {
        self.unit.get(self.follower.output)
    }

    /// The force and its first `order` derivatives now; the second one as it was read inside the last step.
    fn taylor(&self, order: i32) -> [f64; 3] {
        let mut taylor = [self.force(), 0.0, 0.0];
        for k in 1..=order {
            let (output, value) = (&self.follower.output, &mut taylor[k as usize]);
            // SAFETY: a live handle and pointers to locals.
            let status = unsafe { fmi3GetOutputDerivatives(self.unit.0, output, 1, &k, value, 1) };
            assert_eq!(status, FmiStatus::Ok);
        }
        if order == 2 {
            taylor[2] = self.follower.curvature.unwrap_or(taylor[2]);
        }
        taylor
    }
}

/// Error of the coupled halves after 0.5 s against the whole, in steps of `h`; forces are continued with `order` derivatives.
fn coupled_error(h: f64, order: i32, exact: &[(&str, f64)], scratch: &Scratch) -> f64 {
    let mut halves = [
        Half::new("coupled_crank", "pull", scratch),
        Half::new("coupled_cart", "push", scratch),
    ];
    let steps = (0.5 / h).round() as u32;
    for k in 0..steps {
        let t = h * f64::from(k);
        // Values first: derivatives of one force follow from the other.
        for i in 0..2 {
            let force = halves[1 - i].force();
            let half = &halves[i];
            assert_eq!(half.unit.set(half.follower.input, force), FmiStatus::Ok);
        }
        let forces = [halves[1].taylor(order), halves[0].taylor(order)];
        for (half, taylor) in halves.iter_mut().zip(forces) {
            (half.follower.since, half.follower.taylor) = (t, taylor);
            assert_eq!(half.unit.step(t, h).status, FmiStatus::Ok);
        }
    }
    let found = |name: &str| {
        let (half, model_name) = match name {
            "slider_x" | "slider_v" => (&halves[0], "coupled_crank"),
            _ => (&halves[1], "coupled_cart"),
        };
        let instance = Instance::from_file(&model(model_name)).unwrap();
        half.unit.get(instance.find(name).unwrap())
    };
    let squares = exact.iter().map(|(name, x)| (found(name) - x).powi(2));
    squares.sum::<f64>().sqrt()
}

#[test]
fn halves_whose_forces_are_set_inside_steps_have_at_least_order_two() {
    let scratch = Scratch::new("fmi-order");
    let mut whole = Instance::from_file(&model("coupled_whole")).unwrap();
    whole.initialize(0.0, f64::INFINITY, 1e-11).unwrap();
    whole.step(0.0, 0.5).unwrap();
    let exact: Vec<(&str, f64)> = ["slider_x", "slider_v", "cart_x", "cart_v", "bob_angle"]
        .into_iter()
        .map(|name| {
            let mut value = [0.0];
            whole
                .get_real(&[whole.find(name).unwrap()], &mut value)
                .unwrap();
            (name, value[0])
        })
        .collect();
    // Continued with n derivatives a force is off by the order n + 1 of the step, as with the input derivatives of FMI 2.
    for (derivatives, least) in [(0, 0.9), (1, 1.9), (2, 2.5)] {
        let errors = [0.004, 0.002, 0.001].map(|h| coupled_error(h, derivatives, &exact, &scratch));
        let orders = [errors[0] / errors[1], errors[1] / errors[2]].map(f64::log2);
        println!("{derivatives} derivatives: errors {errors:?}, orders {orders:?}");
        // The finest pair counts: on the coarsest the next term of the error is still seen.
        assert!(orders[1] > least, "{derivatives}: {errors:?}, {orders:?}");
    }
}

// --- masters --------------------------------------------------------------------------------------------------------

#[test]
fn fmpy_drives_event_mode_and_finds_a_pair_of_rows_at_each_event() {
    if python().is_none() {
        return;
    }
    let scratch = Scratch::new("fmi-event-mode");
    let stop = if full() { 4.0 } else { 2.0 };
    // The outputs of the cradle are angles: nothing jumps, but there are pairs. Balls that hang side by side and the pin in its
    // slot touch and part by rounding, at times that depend on it; the impacts of the linkage do not.
    let models = [
        ("newton_cradle", false, false, vec!["first", "last"]),
        ("bouncing_linkage", true, true, vec!["height"]),
        ("geneva", true, false, vec!["turn"]),
    ];
    let tasks = models.map(|(name, jumps, located, positions)| {
        let archive = pack(&model(name), FmiStandard::Three, &scratch);
        json!({
            "archive": archive, "stop": stop, "step": 0.01, "jumps": jumps, "located": located,
            "positions": positions,
        })
    });
    script("event_mode.py", &json!(tasks));
}

#[test]
fn frames_are_terminals_that_name_existing_variables() {
    let scratch = Scratch::new("fmi-terminals");
    let path = scratch.path().join("ball.toml");
    std::fs::write(&path, BALL).unwrap();
    for standard in BOTH {
        let contents = package::contents(&path, standard).unwrap();
        let file = |name: &str| {
            let found = contents.files.iter().find(|(n, _)| n == name);
            found.map(|(_, bytes)| bytes.clone())
        };
        let Some(xml) = file("terminalsAndIcons/terminalsAndIcons.xml") else {
            assert_eq!(standard, FmiStandard::Two);
            continue;
        };
        let xml = String::from_utf8(xml).unwrap();
        for member in [
            "<Terminal name=\"ball\" matchingRule=\"plug\"",
            "memberName=\"x\" variableName=\"x\"",
            "memberName=\"vy\" variableName=\"vy\"",
            "variableName=\"push\"",
        ] {
            assert!(xml.contains(member), "{member} is not in\n{xml}");
        }
        let icon = file("terminalsAndIcons/icon.png").unwrap();
        assert!(icon.starts_with(b"\x89PNG\r\n\x1a\n"));
    }
}
