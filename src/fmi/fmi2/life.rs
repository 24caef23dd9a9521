//! Life of an instance: made, set up, initialised, terminated, reset, freed.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

use super::enter;
use crate::capi::gate::quietly;
use crate::capi::pointer;
use crate::error::Error;
use crate::fmi::fmu_instance::{FmiStandard, FmuExperiment, FmuFailure, FmuInstance};
use crate::fmi::gate::{self, FmuHandle};
use crate::fmi::intermediate_update::SharedUpdates;
use crate::fmi::lifecycle::{LifecyclePhase, fmi2 as calls};
use crate::fmi::logger::{FmiLogCategory, FmiLogger, Sink, categories};
use crate::fmi::resource;
use crate::fmi::types::{FMI2_CO_SIMULATION, FmiStatus, fmi2Boolean, fmi2CallbackFunctions};

/// "default": the types of the header as they are.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

/// "2.0"
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

/// Makes an instance; NULL, and a message where there is a logger, if that is not possible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    resource_location: *const c_char,
    functions: *const fmi2CallbackFunctions,
    _visible: fmi2Boolean,
    logging_on: fmi2Boolean,
) -> *mut c_void {
    let sink = match functions.is_null() || !functions.is_aligned() {
        true => Sink::Two(None, null_mut()),
        false => {
            // SAFETY: not NULL, aligned; the importer's own struct.
            let functions = unsafe { &*functions };
            Sink::Two(functions.logger, functions.component_environment)
        }
    };
    let name = match name.is_null() {
        true => c"unit",
        // SAFETY: a C string by the standard.
        false => unsafe { CStr::from_ptr(name) },
    };
    let logger = FmiLogger::new(sink, name, logging_on != 0);
    let made = quietly(|| -> Result<_, FmuFailure> {
        if kind != FMI2_CO_SIMULATION {
            return Err(Error::Argument {
                name: "fmuType".to_owned(),
                value: kind.to_string(),
                expected: "fmi2CoSimulation (1): this unit has its own solver".to_owned(),
            }
            .into());
        }
        // SAFETY: C strings by the standard, NULL is refused or means nothing.
        let (guid, location) = unsafe {
            let guid = pointer::text("fmuGUID", guid)?;
            let location = match resource_location.is_null() {
                true => None,
                false => Some(pointer::text("fmuResourceLocation", resource_location)?),
            };
            (guid, location)
        };
        let model = resource::load(FmiStandard::Two.version(), location, guid)?;
        let unit = FmuInstance::new(FmiStandard::Two, model, logger.clone())?;
        let shared = SharedUpdates::new(unit.layout.clone(), Vec::new());
        Ok(FmuHandle::make(unit, shared))
    });
    made.unwrap_or_else(|trouble| {
        let (FmuFailure::Refused(error) | FmuFailure::Discarded(error)) = trouble;
        logger.say(FmiStatus::Error, FmiLogCategory::Error, &error.to_string());
        null_mut()
    })
}

/// Frees an instance; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: *mut c_void) {
    // SAFETY: the importer's promise.
    unsafe { gate::free(c, FmiStandard::Two) }
}

/// Switches messages on or off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: *mut c_void,
    on: fmi2Boolean,
    count: usize,
    names: *const *const c_char,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::SET_DEBUG_LOGGING, |unit| {
            let names = categories(count, names)?;
            Ok(unit.switch_logging(on != 0, &names)?)
        })
    }
}

/// When to start and stop, and how well to simulate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: *mut c_void,
    tolerance_defined: fmi2Boolean,
    tolerance: f64,
    start: f64,
    stop_defined: fmi2Boolean,
    stop: f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::SETUP_EXPERIMENT, |unit| {
            Ok(unit.set_experiment(FmuExperiment {
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
            })?)
        })
    }
}

/// Into initialization mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterInitializationMode(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::ENTER_INITIALIZATION_MODE, |unit| {
            unit.phase = LifecyclePhase::Initialization;
            Ok(())
        })
    }
}

/// Assembles the mechanism and goes into step mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2ExitInitializationMode(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::EXIT_INITIALIZATION_MODE, |unit| {
            Ok(unit.exit_initialization()?)
        })
    }
}

/// No more steps; results may still be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Terminate(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::TERMINATE, |unit| {
            unit.phase = LifecyclePhase::Terminated;
            Ok(())
        })
    }
}

/// As just made. Mends an instance after a fault of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { gate::gate_that_mends(c, FmiStandard::Two, &calls::RESET, |unit| Ok(unit.reset()?)) }
}
