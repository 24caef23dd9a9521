//! What one call of FMI costs, against a unit written by hand in C (`c_tests/trivial_unit.c`), in one process: get and
//! set of one value, a step. `cargo bench --bench fmi`
//!
//! Needs a C compiler. The step is also given without the interface, by the component itself.

use std::ffi::{CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null;
use std::time::Instant;

use biela::component::Instance;
use biela::fmi::FmiStandard;
use biela::fmi::package::{self, library};
use libloading::Library;

type Handle = *mut c_void;
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    c_int,
    *const c_char,
    *const c_char,
    *const c_void,
    c_int,
    c_int,
) -> Handle;
type Plain = unsafe extern "C" fn(Handle) -> c_int;
type Setup = unsafe extern "C" fn(Handle, c_int, f64, f64, c_int, f64) -> c_int;
type Get = unsafe extern "C" fn(Handle, *const u32, usize, *mut f64) -> c_int;
type Set = unsafe extern "C" fn(Handle, *const u32, usize, *const f64) -> c_int;
type Step = unsafe extern "C" fn(Handle, f64, f64, c_int) -> c_int;

struct Unit {
    handle: Handle,
    get: Get,
    set: Set,
    step: Step,
    input: u32,
    output: u32,
    parameter: u32,
    _library: Library,
}

impl Unit {
    fn open(file: &Path, token: &str, resources: Option<&Path>, variables: [u32; 3]) -> Self {
        // SAFETY: a unit of ours; the types are those of the standard.
        unsafe {
            let library = Library::new(file).expect("the unit opens");
            let instantiate = *library.get::<Instantiate>("fmi2Instantiate").unwrap();
            let setup = *library.get::<Setup>("fmi2SetupExperiment").unwrap();
            let enter = *library.get::<Plain>("fmi2EnterInitializationMode").unwrap();
            let exit = *library.get::<Plain>("fmi2ExitInitializationMode").unwrap();
            let token = CString::new(token).unwrap();
            let location = resources.map(|path| CString::new(path.to_str().unwrap()).unwrap());
            let location = location.as_ref().map_or(null(), |l| l.as_ptr());
            let handle = instantiate(c"bench".as_ptr(), 1, token.as_ptr(), location, null(), 0, 0);
            assert!(!handle.is_null());
            assert_eq!(setup(handle, 0, 0.0, 0.0, 0, 0.0), 0);
            assert_eq!(enter(handle), 0);
            assert_eq!(exit(handle), 0);
            Self {
                handle,
                get: *library.get("fmi2GetReal").unwrap(),
                set: *library.get("fmi2SetReal").unwrap(),
                step: *library.get("fmi2DoStep").unwrap(),
                input: variables[0],
                output: variables[1],
                parameter: variables[2],
                _library: library,
            }
        }
    }

    fn get(&self, reference: u32) -> f64 {
        let mut value = 0.0;
        // SAFETY: a live handle and pointers to locals.
        let status = unsafe { (self.get)(self.handle, &reference, 1, &mut value) };
        assert_eq!(status, 0);
        value
    }

    fn set(&self, reference: u32, value: f64) {
        // SAFETY: a live handle and pointers to locals.
        let status = unsafe { (self.set)(self.handle, &reference, 1, &value) };
        assert_eq!(status, 0);
    }

    fn step(&self, time: f64, step: f64) {
        // SAFETY: a live handle.
        assert_eq!(unsafe { (self.step)(self.handle, time, step, 0) }, 0);
    }
}

/// Nanoseconds of one call of each of two: the best of many short rounds in turns, so that what else the machine does counts
/// least and hits both alike.
fn cost(
    rounds: u32,
    calls: u32,
    mut first: impl FnMut(u32),
    mut second: impl FnMut(u32),
) -> [f64; 2] {
    let round = |call: &mut dyn FnMut(u32)| {
        let began = Instant::now();
        for i in 0..calls {
            call(i);
        }
        began.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
    };
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        best[0] = best[0].min(round(&mut first));
        best[1] = best[1].min(round(&mut second));
    }
    best
}

fn main() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-fmi");
    std::fs::create_dir_all(&scratch).expect("a folder below target/tmp");
    let Some(trivial) = compile(&scratch) else {
        println!("no C compiler: nothing to compare with");
        return;
    };
    let trivial = Unit::open(&trivial, "trivial", None, [0, 1, 2]);

    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/slider_crank.toml");
    let contents = package::contents(&model, FmiStandard::Two).expect("the model is good");
    let resources = scratch.join("resources");
    std::fs::create_dir_all(&resources).unwrap();
    for (name, bytes) in &contents.files {
        if let Some(name) = name.strip_prefix("resources/") {
            std::fs::write(resources.join(name), bytes).unwrap();
        }
    }
    let mut direct = Instance::from_file(&model).unwrap();
    let find = |name: &str| direct.find(name).unwrap();
    let variables = [find("tau"), find("slider_x"), find("slider_mass")];
    let force = find("pivot_fx");
    let shared = library().expect("the shared library has been built with this bench");
    let ours = Unit::open(&shared, &contents.token, Some(&resources), variables);

    println!(
        "{:<44} {:>10} {:>10} {:>7}",
        "ns per call", "trivial C", "biela", "ratio"
    );
    let line = |what: &str, [a, b]: [f64; 2]| {
        println!("{what:<44} {a:>10.1} {b:>10.1} {:>7.2}", b / a);
    };
    let read = |hers: u32, mine: u32| {
        cost(
            1_000,
            10_000,
            |_| {
                black_box(trivial.get(black_box(hers)));
            },
            |_| {
                black_box(ours.get(black_box(mine)));
            },
        )
    };
    line(
        "get one output (a position)",
        read(trivial.output, ours.output),
    );
    line("get one output (a reaction)", read(trivial.output, force));
    line("get one parameter", read(trivial.parameter, ours.parameter));
    let write = |unit: &Unit, i: u32| unit.set(black_box(unit.input), black_box(f64::from(i & 1)));
    line(
        "set one input",
        cost(1_000, 10_000, |i| write(&trivial, i), |i| write(&ours, i)),
    );
    ours.set(ours.input, 0.0);

    const H: f64 = 1e-3;
    // The same steps by both, counted by each for itself.
    let (mut clock, mut own) = (0_u32, 0_u32);
    direct.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let [our_step, alone] = cost(
        100,
        100,
        |_| {
            ours.step(f64::from(clock) * H, H);
            clock += 1;
        },
        |_| {
            direct.step(f64::from(own) * H, H).unwrap();
            own += 1;
        },
    );
    let mut clock = 0_u32;
    let [trivial_step, _] = cost(
        100,
        10_000,
        |_| {
            trivial.step(f64::from(clock) * H, H);
            clock += 1;
        },
        |_| {},
    );
    println!(
        "{:<44} {trivial_step:>10.1} {our_step:>10.1}",
        "step of 1 ms"
    );
    println!(
        "{:<44} {:>10} {alone:>10.1}",
        "  the same by the component, without FMI", ""
    );
    println!(
        "{:<44} {:>10} {:>10.1}",
        "  difference",
        "",
        our_step - alone
    );
}

fn compile(scratch: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c_tests/trivial_unit.c");
    let out = scratch.join("trivial.so");
    ["cc", "gcc", "clang"].into_iter().find_map(|compiler| {
        let status = Command::new(compiler)
            .args(["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o"])
            .arg(&out)
            .arg(&source)
            .status();
        matches!(status, Ok(status) if status.success()).then(|| out.clone())
    })
}

/// Cargo puts benches into `<profile>/deps`, where the library is too.
fn library() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let path = own.parent()?.join(library::file_name());
    path.is_file().then_some(path)
}
