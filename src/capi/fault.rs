//! A panic on demand, so that the tests can see what the gate makes of it. Only with the feature `fault-injection`; never in
//! the header.

use super::gate::gate;
use super::instance::biela_instance;
use super::status::biela_status;

/// Makes the next call on this instance that reaches the component panic there.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_inject_panic(instance: *mut biela_instance) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_inject_panic", |content| {
            content.fault = true;
            Ok(())
        })
    }
}

/// The same for an instance made by `fmi2Instantiate` or `fmi3InstantiateCoSimulation`: the next call that goes past the
/// table of legal calls panics. 0: done; 3: not an instance.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_fmi_inject_panic(instance: *mut std::ffi::c_void) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { crate::fmi::inject_panic(instance) as i32 }
}
