//! A panic on demand, for tests of the gate. Only with the feature `fault-injection`; never in the header.

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
