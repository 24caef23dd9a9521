//! Random calls of an FMI 3 unit: whatever the order and the arguments, each has a status, and the unit can be reset and used.
//!
//! Each two bytes are a call and its argument.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use biela::fmi::FmiStandard;
use biela::fmi::fmi3::*;
use biela::fmi::package;
use biela::fmi::types::FmiStatus;

const MODEL: &str = include_str!("../../models/bouncing_linkage.toml");

/// Folder of the resources and token of the unit, made once.
fn unit() -> &'static (CString, CString) {
    static UNIT: OnceLock<(CString, CString)> = OnceLock::new();
    UNIT.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("biela-fuzz-{}", std::process::id()));
        let model = folder.join("bouncing_linkage.toml");
        std::fs::create_dir_all(&folder).expect("a folder");
        // A limit keeps executions short.
        let text = MODEL.replacen("[solver]", "[solver]\nmax_substeps = 50", 1);
        let text = match text.contains("max_substeps") {
            true => text,
            false => format!("{text}\n[solver]\nmax_substeps = 50\n"),
        };
        std::fs::write(&model, text).expect("the model");
        let contents = package::contents(&model, FmiStandard::Three).expect("a good model");
        for (name, bytes) in &contents.files {
            let path: PathBuf = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, bytes).expect("a file");
        }
        let resources = folder.join("resources");
        let text = |text: &str| CString::new(text).expect("no NUL");
        (
            text(resources.to_str().expect("UTF-8")),
            text(&contents.token),
        )
    })
}

/// A call has met a panic: the unit says so in its log.
static FAULT: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn log(
    _environment: *mut c_void,
    _status: FmiStatus,
    _category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: a C string.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    if message.contains("internal fault") {
        eprintln!("{message}");
        FAULT.store(true, Ordering::Relaxed);
    }
}

/// One execution.
pub fn run(data: &[u8]) {
    let (resources, token) = unit();
    let flags = data.first().copied().unwrap_or(0);
    // SAFETY: C strings; no callbacks.
    let c: *mut c_void = unsafe {
        let name = c"fuzz".as_ptr();
        let (token, resources) = (token.as_ptr(), resources.as_ptr());
        let (events, early) = (flags & 1, (flags >> 1) & 1);
        fmi3InstantiateCoSimulation(
            name,
            token,
            resources,
            0,
            0,
            events,
            early,
            null(),
            0,
            null_mut(),
            Some(log),
            None,
        )
    };
    assert!(!c.is_null());
    let mut state: *mut c_void = null_mut();
    let mut time = 0.0;
    for call in data.get(1..).unwrap_or(&[]).chunks_exact(2) {
        // SAFETY: a live handle, live states, and pointers to locals of the counts given.
        unsafe { one_call(c, call[0], call[1], &mut state, &mut time) };
    }
    // SAFETY: live handles that are not used any more.
    unsafe {
        assert_eq!(fmi3FreeFMUState(c, &mut state), FmiStatus::Ok);
        assert_eq!(fmi3Reset(c), FmiStatus::Ok);
        assert_eq!(
            fmi3EnterInitializationMode(c, 0, 0.0, 0.0, 0, 0.0),
            FmiStatus::Ok
        );
        assert_eq!(fmi3ExitInitializationMode(c), FmiStatus::Ok);
        fmi3FreeInstance(c);
    }
    assert!(
        !FAULT.swap(false, Ordering::Relaxed),
        "a panic inside a call"
    );
}

/// # Safety
/// `c` is live; `state` is NULL or live.
unsafe fn one_call(
    c: *mut c_void,
    call: u8,
    argument: u8,
    state: &mut *mut c_void,
    time: &mut f64,
) {
    let reference = u32::from(argument % 16);
    let size = f64::from(argument) * 1e-3;
    let (mut value, mut number, mut truth) = (size, 0_i32, 0_u8);
    let (mut a, mut b, mut d, mut e, mut f) = (false, false, false, false, false);
    let (order, mut bytes) = (i32::from(argument % 4), 0_usize);
    // SAFETY: the caller's promise; pointers to locals.
    unsafe {
        match call % 20 {
            0 => fmi3EnterInitializationMode(c, 0, 0.0, 0.0, argument & 1, 2.0),
            1 => fmi3ExitInitializationMode(c),
            2 => fmi3EnterEventMode(c),
            3 => fmi3EnterStepMode(c),
            4 => fmi3UpdateDiscreteStates(c, &mut a, &mut b, &mut d, &mut e, &mut f, &mut value),
            5 => fmi3GetFloat64(c, &reference, 1, &mut value, 1),
            6 => fmi3SetFloat64(c, &reference, 1, &value, 1),
            7 => fmi3GetInt32(c, &reference, 1, &mut number, 1),
            8 => fmi3GetBoolean(c, &reference, 1, &mut truth, 1),
            9..=12 => {
                let mut last = *time;
                let status = fmi3DoStep(c, *time, size, 1, &mut a, &mut b, &mut d, &mut last);
                *time = last;
                status
            }
            13 => fmi3GetFMUState(c, state),
            14 => fmi3SetFMUState(c, *state),
            15 => fmi3SerializedFMUStateSize(c, *state, &mut bytes),
            16 => fmi3GetOutputDerivatives(c, &reference, 1, &order, &mut value, 1),
            17 => {
                let known = u32::from(argument >> 4);
                fmi3GetDirectionalDerivative(c, &reference, 1, &known, 1, &1.0, 1, &mut value, 1)
            }
            18 => fmi3Terminate(c),
            _ => {
                *time = 0.0;
                fmi3Reset(c)
            }
        };
    }
}
