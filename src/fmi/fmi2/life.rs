//! Life of an instance: instantiated, set up, initialised, terminated, reset, freed.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

use super::enter;
use crate::error::Error;
use crate::ffi::gate::catch_panic;
use crate::ffi::pointer;
use crate::fmi::fmu_instance::{FmuExperiment, FmuFailure, FmuInstance};
use crate::fmi::gate;
use crate::fmi::intermediate_update::IntermediateValues;
use crate::fmi::lifecycle::{LifecyclePhase, fmi2 as calls};
use crate::fmi::logger::{FmiLogCategory, FmiLogger, LogSink, categories};
use crate::fmi::package::resource;
use crate::fmi::types::{
    FMI2_CO_SIMULATION, FmiStandard, FmiStatus, fmi2Boolean, fmi2CallbackFunctions,
};

/// "default": the types of the standard header.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

/// "2.0"
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

/// Makes an instance; on failure logs the error and returns NULL.
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
        true => LogSink::Two(None, null_mut()),
        false => {
            // SAFETY: not NULL, aligned; the importer's own struct.
            let functions = unsafe { &*functions };
            LogSink::Two(functions.logger, functions.component_environment)
        }
    };
    let name = match name.is_null() {
        true => c"FMU",
        // SAFETY: a C string by the standard.
        false => unsafe { CStr::from_ptr(name) },
    };
    let logger = FmiLogger::new(sink, name, logging_on != 0);
    let made = catch_panic(|| -> Result<_, FmuFailure> {
        if kind != FMI2_CO_SIMULATION {
            return Err(Error::Argument {
                name: "fmuType".to_owned(),
                value: kind.to_string(),
                expected: "fmi2CoSimulation (1): this FMU has its own solver".to_owned(),
            }
            .into());
        }
        // SAFETY: C strings by the standard; NULL is an error or means absent.
        let (guid, location) = unsafe {
            let guid = pointer::text("fmuGUID", guid)?;
            let location = match resource_location.is_null() {
                true => None,
                false => Some(pointer::text("fmuResourceLocation", resource_location)?),
            };
            (guid, location)
        };
        let model = resource::load(FmiStandard::Two.version(), location, guid)?;
        let fmu = FmuInstance::new(FmiStandard::Two, model, logger.clone())?;
        let shared = IntermediateValues::new(fmu.references.clone(), &fmu.component, Vec::new());
        Ok(gate::make(fmu, shared))
    });
    made.unwrap_or_else(|failure| {
        let sentence = failure.error().to_string();
        logger.log(FmiStatus::Error, FmiLogCategory::Error, &sentence);
        null_mut()
    })
}

/// Frees an instance; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: *mut c_void) {
    // SAFETY: the importer's promise.
    unsafe { gate::free(c, FmiStandard::Two) }
}

/// Switches log categories on or off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: *mut c_void,
    on: fmi2Boolean,
    count: usize,
    names: *const *const c_char,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::SET_DEBUG_LOGGING, |fmu| {
            let names = categories(count, names)?;
            Ok(fmu.switch_logging(on != 0, &names)?)
        })
    }
}

/// Sets start time, stop time and tolerance.
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
        enter(c, &calls::SETUP_EXPERIMENT, |fmu| {
            Ok(fmu.set_experiment(FmuExperiment {
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

/// Enters initialization mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterInitializationMode(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::ENTER_INITIALIZATION_MODE, |fmu| {
            fmu.phase = LifecyclePhase::Initialization;
            Ok(())
        })
    }
}

/// Assembles the mechanism and enters step mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2ExitInitializationMode(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::EXIT_INITIALIZATION_MODE, |fmu| {
            Ok(fmu.exit_initialization()?)
        })
    }
}

/// Ends the simulation; results may still be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Terminate(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::TERMINATE, |fmu| {
            fmu.phase = LifecyclePhase::Terminated;
            Ok(())
        })
    }
}

/// Returns to the state after instantiation. Repairs an instance after a fault of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: *mut c_void) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_replacing_component(c, FmiStandard::Two, &calls::RESET, |fmu| Ok(fmu.reset()?))
    }
}
