//! Error bars: turned on, and what they say as a whole. Those of single outputs are variables.

use super::gate::gate;
use super::instance::biela_instance;
use super::status::biela_status;
use crate::ffi::pointer;

/// Turns error bars on, as `error_bars = true` in `[solver]` does: a companion run, a hundred times looser, goes along, and every
/// output gets a variable `<output>.error`. Legal before `biela_initialize`. Variables are then counted again: error bars come
/// behind inputs, outputs and parameters. The values of all other variables keep their bits.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_use_error_bars(instance: *mut biela_instance) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_use_error_bars", |content| {
            content.component.use_error_bars()?;
            content.variables_changed();
            Ok(())
        })
    }
}

/// What the error bars say as a whole. Each result may be NULL:
/// - `worst`: the largest error bar over the range of its output; INFINITY if the companion run has stopped.
/// - `event_time`: the largest difference of the times of an event (s), the bar in time of values that jump.
/// - `undetermined_after`: time from which on an output is not determined (s), its bar being more than a tenth of its range;
///   INFINITY if all are.
/// - `accuracy_kept`: 1 if `worst` is within the `accuracy` of the model or it asks for none, else 0.
///
/// Without error bars it is `BIELA_STATUS_ERROR_CALL_ORDER`.
///
/// # Safety
/// `instance` is NULL or a live handle; each result is NULL or points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_error_bars(
    instance: *mut biela_instance,
    worst: *mut f64,
    event_time: *mut f64,
    undetermined_after: *mut f64,
    accuracy_kept: *mut i32,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_error_bars", |content| {
            let bars = content.component.require_error_bars()?;
            let numbers = [
                ("worst", worst, bars.worst),
                ("event_time", event_time, bars.event_time),
                (
                    "undetermined_after",
                    undetermined_after,
                    bars.undetermined_after.unwrap_or(f64::INFINITY),
                ),
            ];
            for (name, target, _) in numbers {
                if !target.is_null() {
                    pointer::check(name, target)?;
                }
            }
            if !accuracy_kept.is_null() {
                pointer::check("accuracy_kept", accuracy_kept)?;
                accuracy_kept.write(i32::from(bars.kept));
            }
            for (_, target, value) in numbers {
                if !target.is_null() {
                    target.write(value);
                }
            }
            Ok(())
        })
    }
}
