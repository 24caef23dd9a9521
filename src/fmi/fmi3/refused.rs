//! Functions of Model Exchange, Scheduled Execution, clocks and structural parameters. The table in
//! `lifecycle.rs` makes them illegal in every phase.

use std::ffi::{c_int, c_void};

use super::enter;
use crate::fmi::lifecycle::fmi3 as calls;
use crate::fmi::types::FmiStatus;

macro_rules! refused {
    ($($name:ident $call:ident ($($argument:ident: $type:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` is not supported by a co-simulation FMU.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(instance: *mut c_void, $($argument: $type),*) -> FmiStatus {
            $(let _ = $argument;)*
            // SAFETY: the importer's promise; no other pointer is used.
            unsafe { enter(instance, &calls::$call, |_| Ok(())) }
        }
    )*};
}

refused! {
    fmi3GetClock GET_CLOCK (references: *const u32, count: usize, values: *mut u8);
    fmi3SetClock SET_CLOCK (references: *const u32, count: usize, values: *const u8);
    fmi3EnterConfigurationMode ENTER_CONFIGURATION_MODE ();
    fmi3ExitConfigurationMode EXIT_CONFIGURATION_MODE ();
    fmi3GetIntervalDecimal GET_INTERVAL_DECIMAL
        (references: *const u32, count: usize, intervals: *mut f64, qualifiers: *mut c_int);
    fmi3GetIntervalFraction GET_INTERVAL_FRACTION
        (references: *const u32, count: usize, counters: *mut u64, resolutions: *mut u64, qualifiers: *mut c_int);
    fmi3GetShiftDecimal GET_SHIFT_DECIMAL (references: *const u32, count: usize, shifts: *mut f64);
    fmi3GetShiftFraction GET_SHIFT_FRACTION
        (references: *const u32, count: usize, counters: *mut u64, resolutions: *mut u64);
    fmi3SetIntervalDecimal SET_INTERVAL_DECIMAL (references: *const u32, count: usize, intervals: *const f64);
    fmi3SetIntervalFraction SET_INTERVAL_FRACTION
        (references: *const u32, count: usize, counters: *const u64, resolutions: *const u64);
    fmi3SetShiftDecimal SET_SHIFT_DECIMAL (references: *const u32, count: usize, shifts: *const f64);
    fmi3SetShiftFraction SET_SHIFT_FRACTION
        (references: *const u32, count: usize, counters: *const u64, resolutions: *const u64);
    fmi3EvaluateDiscreteStates EVALUATE_DISCRETE_STATES ();
    fmi3EnterContinuousTimeMode ENTER_CONTINUOUS_TIME_MODE ();
    fmi3CompletedIntegratorStep COMPLETED_INTEGRATOR_STEP (no_set: u8, enter_event: *mut u8, terminate: *mut u8);
    fmi3SetTime SET_TIME (time: f64);
    fmi3SetContinuousStates SET_CONTINUOUS_STATES (states: *const f64, count: usize);
    fmi3GetContinuousStateDerivatives GET_CONTINUOUS_STATE_DERIVATIVES (derivatives: *mut f64, count: usize);
    fmi3GetEventIndicators GET_EVENT_INDICATORS (indicators: *mut f64, count: usize);
    fmi3GetContinuousStates GET_CONTINUOUS_STATES (states: *mut f64, count: usize);
    fmi3GetNominalsOfContinuousStates GET_NOMINALS_OF_CONTINUOUS_STATES (nominals: *mut f64, count: usize);
    fmi3GetNumberOfEventIndicators GET_NUMBER_OF_EVENT_INDICATORS (count: *mut usize);
    fmi3GetNumberOfContinuousStates GET_NUMBER_OF_CONTINUOUS_STATES (count: *mut usize);
    fmi3ActivateModelPartition ACTIVATE_MODEL_PARTITION (clock: u32, time: f64);
}
