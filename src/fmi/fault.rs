//! A panic on demand, for tests of the gate. Only with the feature `fault-injection`.

use std::ffi::c_void;

use super::types::{FmiStandard, FmiStatus};
use super::{gate, lifecycle};

/// Makes the next call on an instance of `fmi2Instantiate` or `fmi3InstantiateCoSimulation` that is legal panic. Returns 0, or
/// 3 if it is not an instance.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_fmi_inject_panic(instance: *mut c_void) -> i32 {
    let calls = [
        (FmiStandard::Two, &lifecycle::fmi2::SET_DEBUG_LOGGING),
        (FmiStandard::Three, &lifecycle::fmi3::SET_DEBUG_LOGGING),
    ];
    for (standard, call) in calls {
        // SAFETY: the caller's promise.
        let status = unsafe {
            gate::gate(instance, standard, call, |fmu| {
                fmu.fault = true;
                Ok(())
            })
        };
        if status == FmiStatus::Ok {
            return 0;
        }
    }
    FmiStatus::Error as i32
}
