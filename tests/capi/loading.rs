//! Rust hosts: one that opens the shared library at run time, as a co-simulation master would, and gets the bits of the Rust
//! API; one that has the library linked in and keeps its own panic hook.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{catch_unwind, set_hook, take_hook};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::host::{library, slider_crank};
use biela::capi::instance::biela_instance_new_from_file;
use biela::capi::status::biela_status;
use biela::component::Instance;
use libloading::{Library, Symbol};

type Handle = *mut c_void;

#[test]
fn a_library_opened_at_run_time_gives_the_bits_of_the_rust_api() {
    // SAFETY: the library is ours and runs no code when it is opened; the types are those of include/biela.h.
    unsafe {
        let opened = Library::new(&library().shared).expect("the library opens");
        let abi_version: Symbol<unsafe extern "C" fn() -> c_int> =
            opened.get("biela_abi_version").unwrap();
        let version: Symbol<unsafe extern "C" fn() -> *const c_char> =
            opened.get("biela_version").unwrap();
        let new: Symbol<unsafe extern "C" fn(*const c_char, *mut Handle) -> c_int> =
            opened.get("biela_instance_new_from_file").unwrap();
        let free: Symbol<unsafe extern "C" fn(Handle) -> c_int> =
            opened.get("biela_instance_free").unwrap();
        let last_error: Symbol<unsafe extern "C" fn(Handle) -> *const c_char> =
            opened.get("biela_last_error").unwrap();
        let count: Symbol<unsafe extern "C" fn(Handle, *mut u32) -> c_int> =
            opened.get("biela_variable_count").unwrap();
        let find: Symbol<unsafe extern "C" fn(Handle, *const c_char, *mut u32) -> c_int> =
            opened.get("biela_variable_find").unwrap();
        let initialize: Symbol<unsafe extern "C" fn(Handle, f64, f64, f64) -> c_int> =
            opened.get("biela_initialize").unwrap();
        let set: Symbol<unsafe extern "C" fn(Handle, *const u32, usize, *const f64) -> c_int> =
            opened.get("biela_set_real").unwrap();
        let get: Symbol<unsafe extern "C" fn(Handle, *const u32, usize, *mut f64) -> c_int> =
            opened.get("biela_get_real").unwrap();
        let step: Symbol<unsafe extern "C" fn(Handle, f64, f64, *mut f64) -> c_int> =
            opened.get("biela_step").unwrap();

        assert_eq!(abi_version(), biela::capi::instance::BIELA_ABI_VERSION);
        assert_eq!(
            CStr::from_ptr(version()).to_str(),
            Ok(env!("CARGO_PKG_VERSION"))
        );

        let path = CString::new(slider_crank().to_str().expect("a path in UTF-8")).unwrap();
        let mut handle = null_mut();
        let status = new(path.as_ptr(), &mut handle);
        assert_eq!(status, 0, "{:?}", CStr::from_ptr(last_error(null_mut())));
        let check = |status: c_int| {
            assert_eq!(status, 0, "{:?}", CStr::from_ptr(last_error(handle)));
        };

        let mut direct = Instance::from_file(&slider_crank()).expect("the model is good");
        let (mut variables, mut tau) = (0, 0);
        check(count(handle, &mut variables));
        assert_eq!(variables as usize, direct.variables().len());
        check(find(handle, c"tau".as_ptr(), &mut tau));
        assert_eq!(tau, direct.find("tau").unwrap());
        let references: Vec<u32> = (0..variables).collect();
        let mut loaded_values = vec![0.0; references.len()];
        let mut direct_values = vec![0.0; references.len()];

        check(initialize(handle, 0.0, f64::INFINITY, 0.0));
        direct.initialize(0.0, f64::INFINITY, 0.0).unwrap();
        let mut time = 0.0;
        for k in 0..100 {
            let torque = 0.5 * (0.1 * f64::from(k)).sin();
            check(set(handle, &tau, 1, &torque));
            check(step(handle, time, 0.01, &mut time));
            check(get(
                handle,
                references.as_ptr(),
                references.len(),
                loaded_values.as_mut_ptr(),
            ));
            direct.set_real(&[tau], &[torque]).unwrap();
            direct.step(direct.time(), 0.01).unwrap();
            direct.get_real(&references, &mut direct_values).unwrap();
            assert_eq!(time.to_bits(), direct.time().to_bits(), "step {k}");
            for (i, (loaded, direct)) in loaded_values.iter().zip(&direct_values).enumerate() {
                assert_eq!(
                    loaded.to_bits(),
                    direct.to_bits(),
                    "step {k}, variable {i}: {loaded} {direct}"
                );
            }
        }
        check(free(handle));
    }
}

#[test]
fn a_panic_of_the_host_still_reaches_the_hook_that_was_there_before() {
    static HEARD: AtomicUsize = AtomicUsize::new(0);
    let original = take_hook();
    set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<&str>() == Some(&"of the host, on purpose") {
            HEARD.fetch_add(1, Ordering::Relaxed);
        } else {
            original(info);
        }
    }));
    // The first call through the gate puts the library's hook in front. The other test calls another copy of the library.
    // SAFETY: NULL is refused.
    let status = unsafe { biela_instance_new_from_file(null(), null_mut()) };
    assert_eq!(status, biela_status::ErrorArgument);
    assert!(catch_unwind(|| panic!("of the host, on purpose")).is_err());
    assert_eq!(HEARD.load(Ordering::Relaxed), 1);
}
