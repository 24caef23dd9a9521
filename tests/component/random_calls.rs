//! A host that has lost its mind: calls of the C interface in any order with any arguments, legal and not. Nothing crashes, no
//! panic is answered, and never is a number that is none handed out with an OK.

use std::ffi::CStr;
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::common::Random;
use biela::capi::derivative::{biela_directional_derivative, biela_get_output_derivatives};
use biela::capi::instance::{
    biela_instance, biela_instance_free, biela_instance_new_from_string, biela_instance_reset,
    biela_last_error,
};
use biela::capi::state::{
    biela_state, biela_state_deserialize, biela_state_free, biela_state_restore, biela_state_save,
    biela_state_serialize, biela_state_serialized_size,
};
use biela::capi::status::biela_status;
use biela::capi::step::{biela_cancel, biela_initialize, biela_step, biela_time};
use biela::capi::value::{
    biela_get_real, biela_set_extrapolation, biela_set_input_derivatives, biela_set_real,
};
use biela::capi::variable::{biela_variable_count, biela_variable_find};
use biela::component::{Extrapolation, Instance, SavedState};
use biela::model::Model;

fn calls() -> u64 {
    match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => 1_000_000,
        _ => 60_000,
    }
}

const ARRAY: usize = 4;
const INSTANCES: usize = 3;
const STATES: usize = 4;

/// What the host has at hand.
struct Host {
    random: Random,
    models: Vec<Vec<u8>>,
    instances: [*mut biela_instance; INSTANCES],
    states: [*mut biela_state; STATES],
    bytes: Vec<u8>,
    /// How often each status was answered.
    answers: [u64; 16],
}

impl Host {
    fn pick(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    /// Mostly sensible, sometimes anything.
    fn number(&mut self) -> f64 {
        const STRANGE: [f64; 8] = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            1e308,
            -1.0,
            f64::MIN_POSITIVE,
        ];
        match self.random.below(8) {
            0 => STRANGE[self.pick(STRANGE.len())],
            1 => f64::from_bits(self.random.bits()),
            _ => self.random.between(-2.0, 2.0),
        }
    }

    fn numbers(&mut self) -> [f64; ARRAY] {
        std::array::from_fn(|_| self.number())
    }

    fn references(&mut self) -> [u32; ARRAY] {
        std::array::from_fn(|_| match self.random.below(12) {
            0 => self.random.bits() as u32,
            _ => self.random.below(12) as u32,
        })
    }

    fn count(&mut self) -> usize {
        match self.random.below(16) {
            0 => usize::MAX,
            1 => usize::MAX / 8 + 1,
            _ => self.pick(ARRAY + 1),
        }
    }

    fn new_instance(&mut self) -> *mut biela_instance {
        let model = self.pick(self.models.len());
        let text = &self.models[model];
        let mut made = null_mut();
        // SAFETY: text with its length.
        let status = unsafe {
            biela_instance_new_from_string(text.as_ptr().cast(), text.len(), null(), &mut made)
        };
        assert_eq!(status, biela_status::Ok);
        made
    }

    /// One call; the numbers it has handed out.
    ///
    /// # Safety
    /// All handles are NULL or live; arrays hold ARRAY elements, and counts beyond that are beyond all memory.
    unsafe fn call(&mut self, i: *mut biela_instance, slot: usize) -> (biela_status, Vec<f64>) {
        let (numbers, references, count) = (self.numbers(), self.references(), self.count());
        let orders: [u32; ARRAY] = std::array::from_fn(|_| self.random.below(4) as u32);
        let mut out = [0.0; ARRAY];
        let mut given = 0;
        let state = self.states[self.pick(STATES)];
        // SAFETY: the promise above.
        let status = unsafe {
            match self.random.below(24) {
                0 => biela_initialize(
                    i,
                    numbers[0],
                    numbers[1].abs() + 100.0,
                    numbers[2].abs().min(1e-3),
                ),
                1 => biela_initialize(i, 0.0, f64::INFINITY, 0.0),
                2 => biela_initialize(i, numbers[0], numbers[1], numbers[2]),
                3..7 => {
                    // From where it is, over a sensible step.
                    let h = 1e-3 * self.random.unit();
                    match biela_time(i, &mut out[0]) {
                        biela_status::Ok => {
                            given = 1;
                            biela_step(i, out[0], h, &mut out[0])
                        }
                        other => other,
                    }
                }
                7 => {
                    // A sum of small steps at most: a step to 1e308 would take its time until the limit.
                    biela_step(i, numbers[0], numbers[1].min(0.01), &mut out[0])
                }
                8..10 => biela_set_real(i, references.as_ptr(), count, numbers.as_ptr()),
                10 => {
                    let small = numbers.map(|x| x.clamp(-1.0, 1.0));
                    biela_set_input_derivatives(
                        i,
                        references.as_ptr(),
                        orders.as_ptr(),
                        count,
                        small.as_ptr(),
                    )
                }
                11..14 => {
                    given = count.min(ARRAY);
                    biela_get_real(i, references.as_ptr(), count, out.as_mut_ptr())
                }
                14 => {
                    given = count.min(ARRAY);
                    biela_get_output_derivatives(
                        i,
                        references.as_ptr(),
                        orders.as_ptr(),
                        count,
                        out.as_mut_ptr(),
                    )
                }
                15 => {
                    given = count.min(ARRAY);
                    let knowns = self.references();
                    let known_count = self.count();
                    biela_directional_derivative(
                        i,
                        references.as_ptr(),
                        count,
                        knowns.as_ptr(),
                        known_count,
                        numbers.as_ptr(),
                        out.as_mut_ptr(),
                    )
                }
                16 => biela_set_extrapolation(i, self.random.below(4) as u32),
                17 => biela_state_save(i, &mut self.states[slot]),
                18 => biela_state_restore(i, state),
                19 => {
                    let mut size = 0;
                    match biela_state_serialized_size(i, state, &mut size) {
                        biela_status::Ok => {
                            self.bytes.resize(size, 0);
                            biela_state_serialize(i, state, self.bytes.as_mut_ptr(), size)
                        }
                        other => other,
                    }
                }
                20 => {
                    let mut bytes = self.bytes.clone();
                    if !bytes.is_empty() && self.random.below(2) == 0 {
                        let place = self.pick(bytes.len());
                        bytes[place] ^= 1 << self.random.below(8);
                    }
                    biela_state_deserialize(i, bytes.as_ptr(), bytes.len(), &mut self.states[slot])
                }
                21 => {
                    let mut number = 0;
                    biela_variable_count(i, &mut number);
                    biela_variable_find(i, c"tau".as_ptr(), &mut number)
                }
                22 if self.random.below(4) == 0 => biela_instance_reset(i),
                22 => biela_cancel(i),
                _ => {
                    given = 1;
                    biela_time(i, &mut out[0])
                }
            }
        };
        (status, out[..given].to_vec())
    }
}

#[test]
fn random_calls_never_crash_and_never_hand_out_what_is_no_number() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("models")
            .join(name);
        let text = std::fs::read_to_string(path).unwrap();
        // A host without sense asks for steps without end.
        let limited = match text.contains("[solver]") {
            true => text.replacen("[solver]", "[solver]\nmax_substeps = 300", 1),
            false => format!("{text}\n[solver]\nmax_substeps = 300\n"),
        };
        limited.into_bytes()
    };
    let mut host = Host {
        random: Random(2026),
        models: vec![
            read("slider_crank.toml"),
            read("double_pendulum.toml"),
            read("oscillator.toml"),
        ],
        instances: [null_mut(); INSTANCES],
        states: [null_mut(); STATES],
        bytes: vec![],
        answers: [0; 16],
    };
    for k in 0..INSTANCES {
        host.instances[k] = host.new_instance();
    }
    for number in 0..calls() {
        let (which, slot) = (host.pick(INSTANCES), host.pick(STATES));
        let instance = match host.random.below(50) {
            0 => null_mut(),
            _ => host.instances[which],
        };
        // SAFETY: handles are NULL or live.
        let (status, out) = unsafe { host.call(instance, slot) };
        host.answers[status as usize] += 1;
        // SAFETY: as above.
        let sentence = unsafe { CStr::from_ptr(biela_last_error(instance)) }.to_owned();
        match status {
            biela_status::Ok => {
                assert!(out.iter().all(|x| x.is_finite()), "call {number}: {out:?}")
            }
            biela_status::Panic => panic!("call {number}: {sentence:?}"),
            _ => assert!(!sentence.is_empty(), "call {number}: {status:?}"),
        }
        // Now and then a life ends.
        if host.random.below(200) == 0 {
            // SAFETY: live, and forgotten right away.
            assert_eq!(
                unsafe { biela_instance_free(host.instances[which]) },
                biela_status::Ok
            );
            host.instances[which] = host.new_instance();
        }
        if host.random.below(100) == 0 {
            // SAFETY: NULL or live, and forgotten right away.
            assert_eq!(
                unsafe { biela_state_free(host.states[slot]) },
                biela_status::Ok
            );
            host.states[slot] = null_mut();
        }
    }
    println!("answers by status: {:?}", host.answers);
    // The host was mad in every way: most kinds of answer have been given.
    assert!(host.answers[0] > calls() / 4);
    for kind in [
        biela_status::ErrorArgument,
        biela_status::ErrorCallOrder,
        biela_status::ErrorUnknownVariable,
        biela_status::ErrorNotSettable,
        biela_status::ErrorState,
        biela_status::ErrorLimit,
        biela_status::Cancelled,
    ] {
        assert!(host.answers[kind as usize] > 0, "{kind:?}");
    }
    for instance in host.instances {
        // SAFETY: live.
        assert_eq!(unsafe { biela_instance_free(instance) }, biela_status::Ok);
    }
    for state in host.states {
        // SAFETY: NULL or live.
        assert_eq!(unsafe { biela_state_free(state) }, biela_status::Ok);
    }
}

/// The gate of the C interface notes inputs down and answers known values and empty steps without the component; nobody can tell.
#[test]
fn random_calls_through_c_give_the_bits_of_the_component() {
    for (seed, name) in [
        (1, "slider_crank"),
        (2, "double_pendulum"),
        (3, "oscillator"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/{name}.toml"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut direct = Instance::from_model(Model::from_text(&text, name).unwrap()).unwrap();
        let mut through_c = null_mut();
        // SAFETY: text with its length.
        let made = unsafe {
            biela_instance_new_from_string(text.as_ptr().cast(), text.len(), null(), &mut through_c)
        };
        assert_eq!(made, biela_status::Ok);
        let mut random = Random(seed);
        let mut saved: Option<(SavedState, *mut biela_state)> = None;
        let variables = direct.variables().len() as u64;
        for call in 0..calls() / 60 {
            let references: [u32; 2] = std::array::from_fn(|_| random.below(variables + 1) as u32);
            let count = 1 + random.below(2) as usize;
            let references = &references[..count];
            let numbers = [random.between(-1.0, 1.0), random.between(0.0, 2.0)];
            let (t, mut reached) = (direct.time(), 0.0);
            let (mut mine, mut others) = ([0.0; 2], [0.0; 2]);
            // SAFETY: a live handle, arrays of their length, states that are live.
            let (direct_is_ok, status) = unsafe {
                match random.below(16) {
                    0 => (
                        direct.initialize(0.0, f64::INFINITY, 0.0).is_ok(),
                        biela_initialize(through_c, 0.0, f64::INFINITY, 0.0),
                    ),
                    1..6 => (
                        direct.set_real(references, &numbers[..count]).is_ok(),
                        biela_set_real(through_c, references.as_ptr(), count, numbers.as_ptr()),
                    ),
                    6..10 => (
                        direct.get_real(references, &mut mine[..count]).is_ok(),
                        biela_get_real(through_c, references.as_ptr(), count, others.as_mut_ptr()),
                    ),
                    10 => (
                        direct.step(t, 0.0).is_ok(),
                        biela_step(through_c, t, 0.0, &mut reached),
                    ),
                    11..13 => {
                        let h = 1e-2 * random.unit();
                        (
                            direct.step(t, h).is_ok(),
                            biela_step(through_c, t, h, &mut reached),
                        )
                    }
                    13 => {
                        let order = random.below(3) as u32;
                        direct.set_extrapolation(Extrapolation::from_order(order).unwrap());
                        (true, biela_set_extrapolation(through_c, order))
                    }
                    14 => {
                        let (state, in_c) = (direct.save(), &mut null_mut());
                        let status = biela_state_save(through_c, in_c);
                        let is_ok = state.is_ok();
                        if let Ok(state) = state
                            && let Some((_, old)) = saved.replace((state, *in_c))
                        {
                            assert_eq!(biela_state_free(old), biela_status::Ok);
                        }
                        (is_ok, status)
                    }
                    _ => match &saved {
                        Some((state, in_c)) => (
                            direct.restore(state).is_ok(),
                            biela_state_restore(through_c, *in_c),
                        ),
                        None => {
                            direct.reset();
                            (true, biela_instance_reset(through_c))
                        }
                    },
                }
            };
            assert_eq!(
                direct_is_ok,
                status == biela_status::Ok,
                "{name}: call {call}, {status:?}"
            );
            assert_eq!(
                mine.map(f64::to_bits),
                others.map(f64::to_bits),
                "{name}: call {call}"
            );
        }
        // SAFETY: live handles, not used any more.
        unsafe {
            if let Some((_, state)) = saved {
                assert_eq!(biela_state_free(state), biela_status::Ok);
            }
            assert_eq!(biela_instance_free(through_c), biela_status::Ok);
        }
    }
}
