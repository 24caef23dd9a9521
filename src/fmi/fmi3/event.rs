//! Event mode.

use std::ffi::c_void;

use super::enter;
use super::step::optional;
use crate::fmi::lifecycle::fmi3 as calls;
use crate::fmi::types::FmiStatus;

/// Enters event mode; legal if the instance was made with `eventModeUsed`. The values are those before the event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterEventMode(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::ENTER_EVENT_MODE, |fmu| {
            Ok(fmu.enter_event_mode()?)
        })
    }
}

/// Handles the event: the values are those after it from now on. One call is enough, `*discrete_states_need_update` is false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3UpdateDiscreteStates(
    instance: *mut c_void,
    discrete_states_need_update: *mut bool,
    terminate_simulation: *mut bool,
    nominals_of_continuous_states_changed: *mut bool,
    values_of_continuous_states_changed: *mut bool,
    next_event_time_defined: *mut bool,
    next_event_time: *mut f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::UPDATE_DISCRETE_STATES, |fmu| {
            let need = optional("discreteStatesNeedUpdate", discrete_states_need_update)?;
            let terminate = optional("terminateSimulation", terminate_simulation)?;
            let nominals = optional(
                "nominalsOfContinuousStatesChanged",
                nominals_of_continuous_states_changed,
            )?;
            let values = optional(
                "valuesOfContinuousStatesChanged",
                values_of_continuous_states_changed,
            )?;
            let defined = optional("nextEventTimeDefined", next_event_time_defined)?;
            let next = optional("nextEventTime", next_event_time)?;
            let changed = fmu.update_discrete_states();
            for (out, value) in [
                (need, false),
                (terminate, false),
                (nominals, false),
                (values, changed),
                (defined, false),
            ] {
                out.map(|out| out.write(value));
            }
            next.map(|next| next.write(f64::INFINITY));
            Ok(())
        })
    }
}

/// Leaves event mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterStepMode(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::ENTER_STEP_MODE, |fmu| {
            fmu.enter_step_mode();
            Ok(())
        })
    }
}
