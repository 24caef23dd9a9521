//! Life of an instance: made, initialised, terminated, reset, freed.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use super::enter;
use crate::capi::gate::quietly;
use crate::capi::pointer;
use crate::error::{Error, Result};
use crate::fmi::fmu_instance::{FmiStandard, FmuExperiment, FmuFailure, FmuInstance};
use crate::fmi::gate::{self, FmuHandle};
use crate::fmi::intermediate_update::{SharedUpdates, Update};
use crate::fmi::lifecycle::{LifecyclePhase, fmi3 as calls};
use crate::fmi::logger::{FmiLogCategory, FmiLogger, Sink, categories};
use crate::fmi::resource;
use crate::fmi::types::{
    FmiStatus, fmi3ClockUpdateCallback, fmi3IntermediateUpdateCallback, fmi3LogMessageCallback,
    fmi3PreemptionCallback,
};
use crate::fmi::value_reference::TIME;

/// "3.0"
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// Makes an instance; NULL, and a message where there is a logger, if that is not possible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    name: *const c_char,
    token: *const c_char,
    resource_path: *const c_char,
    _visible: u8,
    logging_on: u8,
    event_mode_used: u8,
    early_return_allowed: u8,
    required_intermediate_variables: *const u32,
    required_count: usize,
    environment: *mut c_void,
    log_message: Option<fmi3LogMessageCallback>,
    intermediate_update: Option<fmi3IntermediateUpdateCallback>,
) -> *mut c_void {
    // SAFETY: a C string by the standard.
    let logger = unsafe { logger(name, log_message, environment, logging_on) };
    let made = quietly(|| -> std::result::Result<_, FmuFailure> {
        if event_mode_used != 0 {
            return Err(Error::Argument {
                name: "eventModeUsed".to_owned(),
                value: "true".to_owned(),
                expected: "false: this unit handles its events itself (hasEventMode = false)"
                    .to_owned(),
            }
            .into());
        }
        // SAFETY: C strings and an array by the standard, NULL is refused or means nothing.
        let (token, path, required) = unsafe {
            let token = pointer::text("instantiationToken", token)?;
            let path = match resource_path.is_null() {
                true => None,
                false => Some(pointer::text("resourcePath", resource_path)?),
            };
            let required = pointer::slice(
                "requiredIntermediateVariables",
                required_intermediate_variables,
                required_count,
            )?;
            (token, path, required)
        };
        let model = resource::load(FmiStandard::Three.version(), path, token)?;
        let mut unit = FmuInstance::new(FmiStandard::Three, model, logger.clone())?;
        let shared = SharedUpdates::new(unit.layout.clone(), offered(&unit, required)?);
        unit.update = intermediate_update.map(|callback| Update {
            callback,
            environment,
            early_return_allowed: early_return_allowed != 0,
        });
        unit.shared = Some(shared.clone());
        Ok(FmuHandle::make(unit, shared))
    });
    made.unwrap_or_else(|trouble| {
        let (FmuFailure::Refused(error) | FmuFailure::Discarded(error)) = trouble;
        logger.say(FmiStatus::Error, FmiLogCategory::Error, &error.to_string());
        null_mut()
    })
}

/// The scalars that intermediate updates have to offer.
fn offered(unit: &FmuInstance, required: &[u32]) -> Result<Vec<u32>> {
    let mut scalars = Vec::new();
    for reference in required {
        unit.layout.expand(*reference, true, &mut scalars)?;
    }
    scalars.retain(|scalar| *scalar != TIME);
    Ok(scalars)
}

/// # Safety
/// `name` is NULL or a C string.
unsafe fn logger(
    name: *const c_char,
    log: Option<fmi3LogMessageCallback>,
    environment: *mut c_void,
    on: u8,
) -> FmiLogger {
    let name = match name.is_null() {
        true => c"unit",
        // SAFETY: the caller's promise.
        false => unsafe { CStr::from_ptr(name) },
    };
    FmiLogger::new(Sink::Three(log, environment), name, on != 0)
}

/// Not possible: this unit has its own solver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    name: *const c_char,
    _token: *const c_char,
    _resource_path: *const c_char,
    _visible: u8,
    logging_on: u8,
    environment: *mut c_void,
    log_message: Option<fmi3LogMessageCallback>,
) -> *mut c_void {
    // SAFETY: a C string by the standard.
    let logger = unsafe { logger(name, log_message, environment, logging_on) };
    logger.say(
        FmiStatus::Error,
        FmiLogCategory::Error,
        "fmi3InstantiateModelExchange is not possible: this is a co-simulation unit, with its own solver",
    );
    null_mut()
}

/// Not possible: this unit has no clocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    name: *const c_char,
    _token: *const c_char,
    _resource_path: *const c_char,
    _visible: u8,
    logging_on: u8,
    environment: *mut c_void,
    log_message: Option<fmi3LogMessageCallback>,
    _clock_update: Option<fmi3ClockUpdateCallback>,
    _lock_preemption: Option<fmi3PreemptionCallback>,
    _unlock_preemption: Option<fmi3PreemptionCallback>,
) -> *mut c_void {
    // SAFETY: a C string by the standard.
    let logger = unsafe { logger(name, log_message, environment, logging_on) };
    logger.say(
        FmiStatus::Error,
        FmiLogCategory::Error,
        "fmi3InstantiateScheduledExecution is not possible: this is a co-simulation unit, without clocks",
    );
    null_mut()
}

/// Frees an instance; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(instance: *mut c_void) {
    // SAFETY: the importer's promise.
    unsafe { gate::free(instance, FmiStandard::Three) }
}

/// Switches messages on or off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    instance: *mut c_void,
    on: u8,
    count: usize,
    names: *const *const c_char,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::SET_DEBUG_LOGGING, |unit| {
            let names = categories(count, names)?;
            Ok(unit.switch_logging(on != 0, &names)?)
        })
    }
}

/// Into initialization mode, with the times of the experiment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    instance: *mut c_void,
    tolerance_defined: u8,
    tolerance: f64,
    start: f64,
    stop_defined: u8,
    stop: f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::ENTER_INITIALIZATION_MODE, |unit| {
            unit.set_experiment(FmuExperiment {
                start,
                stop: if stop_defined != 0 {
                    stop
                } else {
                    f64::INFINITY
                },
                tolerance: if tolerance_defined != 0 {
                    tolerance
                } else {
                    0.0
                },
            })?;
            unit.phase = LifecyclePhase::Initialization;
            Ok(())
        })
    }
}

/// Assembles the mechanism and goes into step mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::EXIT_INITIALIZATION_MODE, |unit| {
            Ok(unit.exit_initialization()?)
        })
    }
}

/// No more steps; results may still be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::TERMINATE, |unit| {
            unit.phase = LifecyclePhase::Terminated;
            Ok(())
        })
    }
}

/// As just made. Mends an instance after a fault of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_that_mends(instance, FmiStandard::Three, &calls::RESET, |unit| {
            Ok(unit.reset()?)
        })
    }
}
