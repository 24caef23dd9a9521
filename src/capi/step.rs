//! Initialisation, steps between communication points, cancellation.

use super::gate::{fail, gate, gate_with_fast_path};
use super::instance::biela_instance;
use super::status::biela_status;
use crate::ffi::{memory, pointer};

/// Assembles the mechanism and makes its start consistent. Set parameters and inputs before it.
///
/// `start_time` (s) may be any finite value; `stop_time` (s) is where steps must end, INFINITY if unknown;
/// `tolerance` <= 0 means the model's own.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_initialize(
    instance: *mut biela_instance,
    start_time: f64,
    stop_time: f64,
    tolerance: f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_initialize", |content| {
            memory::require(content.component.memory_of_initialisation())?;
            Ok(content
                .component
                .initialize(start_time, stop_time, tolerance)?)
        })
    }
}

/// Advances by one communication step from `time` to `time + step_size` (s), with as many substeps as the
/// tolerance asks for, and lands there exactly.
///
/// `time` must be the instance's own time up to rounding. `step_size` 0 is legal and changes nothing;
/// negative or NaN is an error, and so is going past `stop_time`. `*reached` (NULL if you do not care) is the
/// instance's time after the call, also where the call failed on the way: then the instance is at the last
/// accepted substep, and you may read it, step on from there, restore or reset it. It is left alone
/// where the instance could not be asked: NULL handle, `BIELA_STATUS_BUSY`, `BIELA_STATUS_PANIC`.
///
/// # Safety
/// `instance` is NULL or a live handle; `reached` is NULL or points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_step(
    instance: *mut biela_instance,
    time: f64,
    step_size: f64,
    reached: *mut f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate_with_fast_path(
            instance,
            c"biela_step",
            move |content| {
                let empty = content.component.is_empty_step(time, step_size);
                match reached.is_null() {
                    true => empty,
                    false => empty && pointer::write(reached, time),
                }
            },
            move |content| {
                let reached = match reached.is_null() {
                    true => None,
                    false => Some(pointer::out("reached", reached)?),
                };
                let outcome = content.component.step(time, step_size);
                if let Some(reached) = reached {
                    reached.write(content.component.time());
                }
                Ok(outcome?)
            },
        )
    }
}

/// Asks the step that is running to stop after its present substep; that step then returns
/// `BIELA_STATUS_CANCELLED`. If no step is running, the next one that has something to do is stopped; a
/// reset forgets it.
///
/// The one function that may be called from any thread while another call runs. On a live instance it only
/// sets an atomic flag: no lock, no memory, so a signal handler may call it.
///
/// # Safety
/// `instance` is NULL or a live handle that is not freed meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_cancel(instance: *mut biela_instance) -> biela_status {
    // SAFETY: the caller's promise.
    match unsafe { biela_instance::open(instance, c"biela_cancel") } {
        Ok(handle) => {
            handle.shared.raise();
            biela_status::Ok
        }
        Err(error) => fail(error.into()),
    }
}

/// The instance's own time (s).
///
/// # Safety
/// `instance` is NULL or a live handle; `time` is NULL or points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_time(instance: *mut biela_instance, time: *mut f64) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_time", |content| {
            pointer::out("time", time)?.write(content.component.time());
            Ok(())
        })
    }
}
