//! Life of an instance: instantiated, initialised, terminated, reset, freed.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use super::enter;
use crate::error::Result;
use crate::ffi::gate::catch_panic;
use crate::ffi::pointer;
use crate::fmi::fmu_instance::{FmuExperiment, FmuFailure, FmuInstance};
use crate::fmi::gate;
use crate::fmi::intermediate_update::{IntermediateUpdate, IntermediateValues};
use crate::fmi::lifecycle::{LifecyclePhase, fmi3 as calls};
use crate::fmi::logger::{FmiLogCategory, FmiLogger, LogSink, categories};
use crate::fmi::package::resource;
use crate::fmi::types::{
    FmiStandard, FmiStatus, fmi3ClockUpdateCallback, fmi3IntermediateUpdateCallback,
    fmi3LogMessageCallback, fmi3PreemptionCallback,
};
use crate::fmi::value_reference::TIME;

/// "3.0"
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// Makes an instance; on failure logs the error and returns NULL.
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
    let made = catch_panic(|| -> std::result::Result<_, FmuFailure> {
        // SAFETY: C strings and an array by the standard; NULL is an error or means absent.
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
        let mut fmu = FmuInstance::new(FmiStandard::Three, model, logger.clone())?;
        fmu.event_mode_used = event_mode_used != 0;
        fmu.early_return_allowed = early_return_allowed != 0;
        let required = scalars(&fmu, required)?;
        let values = IntermediateValues::new(fmu.references.clone(), &fmu.component, required);
        fmu.update = intermediate_update.map(|callback| {
            let update = IntermediateUpdate {
                callback,
                environment,
                early_return_allowed: early_return_allowed != 0,
            };
            (update, values.clone())
        });
        Ok(gate::make(fmu, values))
    });
    made.unwrap_or_else(|failure| {
        let sentence = failure.error().to_string();
        logger.log(FmiStatus::Error, FmiLogCategory::Error, &sentence);
        null_mut()
    })
}

/// The scalars behind the required intermediate variables.
fn scalars(fmu: &FmuInstance, required: &[u32]) -> Result<Vec<u32>> {
    let mut scalars = Vec::new();
    for reference in required {
        fmu.references.expand(*reference, true, &mut scalars)?;
    }
    scalars.retain(|scalar| *scalar != TIME);
    Ok(scalars)
}

/// The logger of an importer.
///
/// # Safety
/// `name` is NULL or a C string.
unsafe fn logger(
    name: *const c_char,
    log: Option<fmi3LogMessageCallback>,
    environment: *mut c_void,
    on: u8,
) -> FmiLogger {
    let name = match name.is_null() {
        true => c"FMU",
        // SAFETY: the caller's promise.
        false => unsafe { CStr::from_ptr(name) },
    };
    FmiLogger::new(LogSink::Three(log, environment), name, on != 0)
}

/// Always fails: this FMU has its own solver.
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
    logger.log(
        FmiStatus::Error,
        FmiLogCategory::Error,
        "fmi3InstantiateModelExchange is not possible: this is a co-simulation FMU with its own solver",
    );
    null_mut()
}

/// Always fails: this FMU has no clocks.
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
    logger.log(
        FmiStatus::Error,
        FmiLogCategory::Error,
        "fmi3InstantiateScheduledExecution is not possible: this is a co-simulation FMU without clocks",
    );
    null_mut()
}

/// Frees an instance; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(instance: *mut c_void) {
    // SAFETY: the importer's promise.
    unsafe { gate::free(instance, FmiStandard::Three) }
}

/// Switches log categories on or off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    instance: *mut c_void,
    on: u8,
    count: usize,
    names: *const *const c_char,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::SET_DEBUG_LOGGING, |fmu| {
            let names = categories(count, names)?;
            Ok(fmu.switch_logging(on != 0, &names)?)
        })
    }
}

/// Sets start time, stop time and tolerance; enters initialization mode.
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
        enter(instance, &calls::ENTER_INITIALIZATION_MODE, |fmu| {
            fmu.set_experiment(FmuExperiment {
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
            fmu.phase = LifecyclePhase::Initialization;
            Ok(())
        })
    }
}

/// Assembles the mechanism and enters step mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::EXIT_INITIALIZATION_MODE, |fmu| {
            Ok(fmu.exit_initialization()?)
        })
    }
}

/// Ends the simulation; results may still be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::TERMINATE, |fmu| {
            fmu.phase = LifecyclePhase::Terminated;
            Ok(())
        })
    }
}

/// Returns to the state after instantiation. Repairs an instance after a fault of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(instance: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_replacing_component(instance, FmiStandard::Three, &calls::RESET, |fmu| {
            Ok(fmu.reset()?)
        })
    }
}
