//! C types of the two standards, as their headers define them.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_void};

/// The standard an FMU instance belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmiStandard {
    /// FMI 2.0
    Two,
    /// FMI 3.0
    Three,
}

impl FmiStandard {
    /// The version as the model description has it.
    pub fn version(self) -> &'static str {
        match self {
            Self::Two => "2.0",
            Self::Three => "3.0",
        }
    }
}

/// Status of a call: `fmi2Status` and `fmi3Status` have the same numbers; only FMI 2 has `Pending`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmiStatus {
    /// Done.
    Ok = 0,
    /// Done, with a warning in the log.
    Warning = 1,
    /// A step ended before its communication point, or a question has no answer.
    Discard = 2,
    /// Failed; nothing was changed unless the log says so.
    Error = 3,
    /// No instance can be used any more. Never returned by this library.
    Fatal = 4,
    /// FMI 2: a step is running. Never returned by this library.
    Pending = 5,
}

/// Boolean of FMI 2.
pub type fmi2Boolean = c_int;
/// Byte of FMI 2.
pub type fmi2Byte = c_char;

/// Logger of FMI 2. Variadic: the message is always passed as the argument of "%s".
pub type fmi2CallbackLogger = unsafe extern "C" fn(
    environment: *mut c_void,
    name: *const c_char,
    status: FmiStatus,
    category: *const c_char,
    message: *const c_char,
    ...
);

/// Callbacks of an FMI 2 importer. Members may be NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fmi2CallbackFunctions {
    /// May be NULL.
    pub logger: Option<fmi2CallbackLogger>,
    /// Not used.
    pub allocate_memory: Option<unsafe extern "C" fn(usize, usize) -> *mut c_void>,
    /// Not used.
    pub free_memory: Option<unsafe extern "C" fn(*mut c_void)>,
    /// Not used: a step is complete when the call returns.
    pub step_finished: Option<unsafe extern "C" fn(*mut c_void, FmiStatus)>,
    /// Passed to the logger.
    pub component_environment: *mut c_void,
}

/// `fmi2CoSimulation` of `fmi2Type`.
pub const FMI2_CO_SIMULATION: c_int = 1;

/// `fmi2StatusKind`.
pub const FMI2_DO_STEP_STATUS: c_int = 0;
/// `fmi2PendingStatus`
pub const FMI2_PENDING_STATUS: c_int = 1;
/// `fmi2LastSuccessfulTime`
pub const FMI2_LAST_SUCCESSFUL_TIME: c_int = 2;
/// `fmi2Terminated`
pub const FMI2_TERMINATED: c_int = 3;

/// Logger of FMI 3.
pub type fmi3LogMessageCallback = unsafe extern "C" fn(
    environment: *mut c_void,
    status: FmiStatus,
    category: *const c_char,
    message: *const c_char,
);

/// Intermediate update of FMI 3, called after each substep.
pub type fmi3IntermediateUpdateCallback = unsafe extern "C" fn(
    environment: *mut c_void,
    intermediate_update_time: f64,
    intermediate_variable_set_requested: bool,
    intermediate_variable_get_allowed: bool,
    intermediate_step_finished: bool,
    can_return_early: bool,
    early_return_requested: *mut bool,
    early_return_time: *mut f64,
);

/// `fmi3ClockUpdateCallback`; not used, an FMU of this library has no clocks.
pub type fmi3ClockUpdateCallback = unsafe extern "C" fn(environment: *mut c_void);
/// `fmi3LockPreemptionCallback` and `fmi3UnlockPreemptionCallback`; for Scheduled Execution only.
pub type fmi3PreemptionCallback = unsafe extern "C" fn();

/// `fmi3Dependent` of `fmi3DependencyKind`: of unspecified form.
pub const FMI3_DEPENDENT: c_int = 5;
