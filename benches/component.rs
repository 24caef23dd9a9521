//! What the boundary costs: `cargo bench --bench component`. Everything goes through the C functions, since that is what a
//! host pays for; the smallest of many repeats is taken, so that other work on the machine counts little.
//!
//! ```text
//!   overhead = ( time of set + step + get, one substep in each call ) / ( time of a substep inside a long call ) − 1
//! ```
//!
//! A value that has been read since anything changed is known and given again; what the first read costs depends on the
//! quantity, so its mean over all quantities of a mechanism is shown too.
//!
//! Each figure is printed beside its target and ends in a `!` where it misses it; `-- --check` then ends with status 1.

use std::ffi::CString;
use std::hint::black_box;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::time::Instant;

use biela::capi::instance::{biela_instance, biela_instance_free, biela_instance_new_from_string};
use biela::capi::state::{biela_state_free, biela_state_restore, biela_state_save};
use biela::capi::status::biela_status;
use biela::capi::step::{biela_initialize, biela_step};
use biela::capi::value::{biela_get_real, biela_set_real};
use biela::capi::variable::{biela_variable_count, biela_variable_find};
use biela::{Instance, Model};

/// A running instance.
struct Live(*mut biela_instance);

impl Live {
    fn new(model: &str) -> Self {
        let text = CString::new(model).unwrap();
        let mut handle = null_mut();
        // SAFETY: text with its length, a pointer to a local.
        unsafe {
            let length = text.as_bytes().len();
            let made = biela_instance_new_from_string(text.as_ptr(), length, null(), &mut handle);
            assert_eq!(made, biela_status::Ok);
            fine(biela_initialize(handle, 0.0, f64::INFINITY, 0.0));
        }
        Self(handle)
    }

    fn set(&self, value: f64) {
        // SAFETY: a live handle.
        fine(unsafe { biela_set_real(self.0, &0, 1, &value) });
    }

    fn get(&self, reference: u32) -> f64 {
        let mut value = 0.0;
        // SAFETY: a live handle.
        fine(unsafe { biela_get_real(self.0, &reference, 1, &mut value) });
        value
    }

    fn find(&self, name: &str) -> u32 {
        let (name, mut reference) = (CString::new(name).unwrap(), 0);
        // SAFETY: a live handle, text that ends with a NUL.
        fine(unsafe { biela_variable_find(self.0, name.as_ptr(), &mut reference) });
        reference
    }

    fn step(&self, t: f64, h: f64) -> f64 {
        let mut reached = 0.0;
        // SAFETY: a live handle.
        fine(unsafe { biela_step(self.0, t, h, &mut reached) });
        reached
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // SAFETY: live until now.
        fine(unsafe { biela_instance_free(self.0) });
    }
}

fn fine(status: biela_status) {
    assert_eq!(status, biela_status::Ok);
}

/// Smallest time of one call (s) over `repeats` rounds of `calls`.
fn time(repeats: u32, calls: u32, mut work: impl FnMut(u32)) -> f64 {
    let round = |work: &mut dyn FnMut(u32)| {
        let start = Instant::now();
        (0..calls).for_each(&mut *work);
        start.elapsed().as_secs_f64() / f64::from(calls)
    };
    (0..repeats)
        .map(|_| round(&mut work))
        .fold(f64::INFINITY, f64::min)
}

fn model(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/{name}.toml"));
    std::fs::read_to_string(path).unwrap()
}

/// The double pendulum with a fixed step and a torque in its shoulder.
fn driven_pendulum(h: f64) -> String {
    format!(
        "{}\n[solver]\nstep = {h}\n[[force]]\nname = \"motor\"\ntype = \"actuator\"\njoint = \"shoulder\"\n\
         [[input]]\nname = \"tau\"\ntarget = \"motor.torque\"\n",
        model("double_pendulum")
    )
}

/// The first read of a value after the state has changed, one value in each call (s). What changes it is a restore, whose
/// own cost is taken off.
fn first_reads() -> f64 {
    let crank = Live::new(&format!("expose = \"all\"\n{}", model("slider_crank")));
    crank.step(0.0, 0.01);
    let mut state = null_mut();
    let mut count = 0;
    // SAFETY: live handles, pointers to locals.
    unsafe {
        fine(biela_state_save(crank.0, &mut state));
        fine(biela_variable_count(crank.0, &mut count));
    }
    // SAFETY: live handles.
    let restore = || fine(unsafe { biela_state_restore(crank.0, state) });
    let alone = time(200, 200, |_| restore());
    let all = time(200, 200, |_| {
        restore();
        for reference in 0..count {
            black_box(crank.get(reference));
        }
    });
    // SAFETY: live until now.
    fine(unsafe { biela_state_free(state) });
    (all - alone) / f64::from(count)
}

/// Twenty bars in a row.
fn chain() -> String {
    let mut text =
        "format = 1\nname = \"chain\"\ndimension = 2\ngravity = [0.0, -9.81]\n".to_string();
    for k in 0..20 {
        let before = match k {
            0 => "ground".to_string(),
            _ => format!("bar{}", k - 1),
        };
        text += &format!(
            "[[body]]\nname = \"bar{k}\"\nmass = 1.0\ninertia = 0.08\nposition = [{}, 0.0]\n\
             [[joint]]\nname = \"pin{k}\"\ntype = \"revolute\"\nbodies = [\"{before}\", \"bar{k}\"]\npoint = [{k}.0, 0.0]\n",
            f64::from(k) + 0.5
        );
    }
    text
}

/// Rods that hang from the ground, each from the one above, ready.
fn hanging_chain(count: usize, joint: &str, dimension: usize) -> Instance {
    let (zeros, inertia, gravity) = match dimension {
        2 => ("0, ", "1e-4", "[0, -9.81]"),
        _ => ("0, 0, ", "[1e-4, 1e-4, 1e-5]", "[0, 0, -9.81]"),
    };
    let mut text =
        format!("format = 1\nname = \"chain\"\ndimension = {dimension}\ngravity = {gravity}\n");
    for i in 0..count {
        let (middle, top) = (-0.1 * i as f64 - 0.05, -0.1 * i as f64);
        let above = match i {
            0 => "ground".to_owned(),
            _ => format!("r{}", i - 1),
        };
        text += &format!(
            "[[body]]\nname = \"r{i}\"\nmass = 0.1\ninertia = {inertia}\nposition = [{zeros}{middle}]\n\
             [[joint]]\nname = \"j{i}\"\ntype = \"{joint}\"\nbodies = [\"{above}\", \"r{i}\"]\npoint = [{zeros}{top}]\n"
        );
    }
    let model = Model::from_text(&text, "chain").unwrap();
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    instance
}

fn main() {
    let mut missed = 0;
    let mut tell = |what: &str, value: f64, target: f64, unit: &str| {
        let mark = if value < target { "" } else { " !" };
        missed += u32::from(value >= target);
        println!("{what:<44} {value:>9.1} {unit:<3} (target {target} {unit}){mark}");
    };

    let crank = Live::new(&model("slider_crank"));
    let set_same = time(200, 2_000, |_| crank.set(black_box(0.0)));
    let set_new = time(200, 2_000, |k| crank.set(black_box(f64::from(k))));
    crank.set(0.0);
    let [x, angle] = ["slider_x", "crank_angle"].map(|name| crank.find(name));
    let [get, get_angle] = [x, angle].map(|reference| {
        time(200, 2_000, |_| {
            black_box(crank.get(reference));
        })
    });
    let first = first_reads();
    let empty = time(200, 2_000, |_| {
        black_box(crank.step(black_box(0.0), 0.0));
    });
    tell("set one value, the same", 1e9 * set_same, 30.0, "ns");
    tell("set one value, another", 1e9 * set_new, 30.0, "ns");
    tell("get one value (a coordinate)", 1e9 * get, 30.0, "ns");
    tell(
        "get one value (a joint's angle)",
        1e9 * get_angle,
        30.0,
        "ns",
    );
    println!(
        "{:<44} {:>9.1} ns  (mean over all quantities of the slider-crank, reactions included)",
        "get one value, first time after a change",
        1e9 * first
    );
    tell("empty step", 1e9 * empty, 50.0, "ns");

    let chain = Live::new(&chain());
    chain.step(0.0, 0.01);
    let mut state = null_mut();
    let both = time(200, 200, |_| {
        // SAFETY: live handles.
        unsafe {
            fine(biela_state_save(chain.0, &mut state));
            fine(biela_state_restore(chain.0, state));
        }
    });
    // SAFETY: NULL or live.
    fine(unsafe { biela_state_free(state) });
    tell("save and restore, 20 bodies", 1e6 * both, 5.0, "us");

    for (joint, dimension) in [("revolute", 2), ("spherical", 3)] {
        let mut rods = hanging_chain(10, joint, dimension);
        let mut linear = rods.linearize().unwrap();
        let linearize = time(20, 50, |_| rods.linearize_into(&mut linear).unwrap());
        let what = format!("linear model, 10 bodies on {joint} joints");
        tell(&what, 1e6 * linearize, 1000.0, "us");
    }
    let mut rods = hanging_chain(1000, "revolute", 2);
    let modes = time(3, 1, |_| {
        black_box(rods.modes(20).unwrap());
    });
    tell("20 lowest modes, 1,000 bodies", 1e3 * modes, 2000.0, "ms");

    // All make the same substeps; short runs that restart, so that the motion is the same in every round. In turns, so
    // that other work on the machine hits all of them alike.
    const STEPS: u32 = 128;
    let h = 1.0 / 1024.0;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..300 {
        for (how, best) in best.iter_mut().enumerate() {
            let pendulum = Live::new(&driven_pendulum(h));
            let start = Instant::now();
            match how {
                0 => {
                    pendulum.step(0.0, f64::from(STEPS) * h);
                }
                _ => {
                    let mut t = 0.0;
                    for k in 0..STEPS {
                        pendulum.set(if how == 1 { 0.0 } else { 1e-3 * f64::from(k) });
                        t = pendulum.step(t, h);
                        black_box(pendulum.get(1));
                    }
                }
            }
            *best = best.min(start.elapsed().as_secs_f64() / f64::from(STEPS));
        }
    }
    let [long, same, changed] = best;
    println!(
        "{:<44} {:>9.1} ns",
        "one substep of the double pendulum",
        1e9 * long
    );
    tell(
        "set + step + get, value kept: overhead",
        100.0 * (same / long - 1.0),
        20.0,
        "%",
    );
    println!(
        "{:<44} {:>9.1} %   (accelerations and jerk solved again for the new input)",
        "set + step + get, value changed: overhead",
        100.0 * (changed / long - 1.0)
    );
    if missed > 0 && std::env::args().any(|a| a == "--check") {
        std::process::exit(1);
    }
}
