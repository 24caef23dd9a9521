//! A unit called directly, through the exported functions, by a host that keeps what it was told.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use biela::fmi::FmiStandard;
use biela::fmi::fmi2::*;
use biela::fmi::fmi3::*;
use biela::fmi::lifecycle::LifecyclePhase;
use biela::fmi::types::{FmiStatus, fmi2CallbackFunctions};

use super::Unpacked;
use crate::host::Scratch;

pub type Handle = *mut c_void;

/// A block on a slide with a spring, driven by a force; long steps need too many substeps.
pub const MODEL: &str = r#"
format = 1
name = "block"
dimension = 2
[solver]
max_substeps = 40
[[body]]
name = "block"
mass = 1.0
inertia = 0.01
position = [1.1, 0.0]
[[joint]]
name = "slide"
type = "prismatic"
bodies = ["ground", "block"]
point = [1.1, 0.0]
axis = [1.0, 0.0]
position = 0.1
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["ground", "block"]
points = [[0.0, 0.0], [0.0, 0.0]]
stiffness = 100.0
damping = 0.5
length = 1.0
[[force]]
name = "motor"
type = "actuator"
joint = "slide"
[[input]]
name = "push"
target = "motor.force"
start = 0.5
[[output]]
name = "x"
source = "block.x"
[[output]]
name = "y"
source = "block.y"
[[output]]
name = "acceleration"
source = "slide.acceleration"
[[output]]
name = "guide"
source = "slide.fy"
[[output]]
name = "steps"
source = "solver.steps"
[[parameter]]
name = "k"
target = "spring.stiffness"
[[parameter]]
name = "mass"
target = "block.mass"
"#;

pub const PUSH: u32 = 0;
pub const X: u32 = 1;
pub const ACCELERATION: u32 = 3;
pub const K: u32 = 6;
/// How many scalars there are.
pub const COUNT: u32 = 8;
/// A step that works, and one that needs more substeps than are allowed.
pub const GOOD: f64 = 0.01;
pub const TOO_LONG: f64 = 1000.0;

/// The model above, unpacked.
pub fn block(standard: FmiStandard, scratch: &Scratch) -> Unpacked {
    let path = scratch.path().join("block.toml");
    std::fs::write(&path, MODEL).unwrap();
    Unpacked::new(&path, standard, scratch)
}

fn hear(environment: Handle, message: *const c_char) {
    // SAFETY: a C string.
    let text = unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned();
    if !environment.is_null() {
        // SAFETY: the host's own list.
        unsafe { (*environment.cast::<Vec<String>>()).push(text) };
    }
}

/// A logger of FMI 3.
pub unsafe extern "C" fn log3(
    environment: Handle,
    _: FmiStatus,
    _: *const c_char,
    message: *const c_char,
) {
    hear(environment, message);
}

/// The logger of FMI 2 is variadic, which cannot be written in Rust; on the machines that are tested a function with six
/// fixed arguments is called the same way. The C hosts use a real one.
unsafe extern "C" fn log2(
    environment: Handle,
    _: *const c_char,
    _: FmiStatus,
    _: *const c_char,
    format: *const c_char,
    message: *const c_char,
) {
    // SAFETY: a C string.
    assert_eq!(unsafe { CStr::from_ptr(format) }, c"%s");
    hear(environment, message);
}

/// A unit and its host.
pub struct World {
    pub standard: FmiStandard,
    pub c: Handle,
    #[allow(clippy::box_collection)] // the unit knows its address
    pub log: Box<Vec<String>>,
    /// A state that was saved at the start of step mode.
    pub state: Handle,
    pub bytes: Vec<u8>,
    /// FMI 3: instantiated with event mode.
    event_mode: bool,
}

impl World {
    pub fn new(unit: &Unpacked, standard: FmiStandard) -> Self {
        Self::prepared(Self::bare(unit, standard, false))
    }

    /// With event mode and early return, if the standard has them.
    pub fn with_event_mode(unit: &Unpacked, standard: FmiStandard) -> Self {
        Self::prepared(Self::bare(unit, standard, standard == FmiStandard::Three))
    }

    fn prepared(mut world: Self) -> Self {
        world.state = null_mut();
        world.start_up();
        world.state = world.save();
        world.bytes = world.serialize(world.state);
        world.reset();
        world
    }

    pub fn bare(unit: &Unpacked, standard: FmiStandard, event_mode: bool) -> Self {
        let mut log = Box::new(Vec::new());
        let resources = CString::new(unit.resources().to_str().unwrap()).unwrap();
        let token = CString::new(unit.contents.token.as_str()).unwrap();
        let environment = (&raw mut *log).cast();
        let c = instantiate_with(
            standard,
            &token,
            resources.as_ptr(),
            environment,
            event_mode,
        );
        assert!(!c.is_null(), "{log:?}");
        Self {
            standard,
            c,
            log,
            state: null_mut(),
            bytes: Vec::new(),
            event_mode,
        }
    }

    fn ok(&self, status: FmiStatus) {
        assert_eq!(status, FmiStatus::Ok, "{:?}", self.log);
    }

    pub fn reset(&mut self) {
        // SAFETY: a live handle, here and below.
        let status = unsafe {
            match self.standard {
                FmiStandard::Two => fmi2Reset(self.c),
                FmiStandard::Three => fmi3Reset(self.c),
            }
        };
        self.ok(status);
    }

    pub fn enter(&mut self, start: f64) -> FmiStatus {
        self.enter_until(start, None)
    }

    /// The same with a stop time.
    fn enter_until(&mut self, start: f64, stop: Option<f64>) -> FmiStatus {
        let (defined, stop) = (i32::from(stop.is_some()), stop.unwrap_or(0.0));
        // SAFETY: a live handle.
        unsafe {
            match self.standard {
                FmiStandard::Two => {
                    self.ok(fmi2SetupExperiment(self.c, 0, 0.0, start, defined, stop));
                    fmi2EnterInitializationMode(self.c)
                }
                FmiStandard::Three => {
                    let defined = defined as _;
                    fmi3EnterInitializationMode(self.c, 0, 0.0, start, defined, stop)
                }
            }
        }
    }

    /// The same without the times of an experiment.
    pub fn enter_quietly(&mut self) -> FmiStatus {
        // SAFETY: a live handle.
        unsafe {
            match self.standard {
                FmiStandard::Two => fmi2EnterInitializationMode(self.c),
                FmiStandard::Three => fmi3EnterInitializationMode(self.c, 0, 0.0, 0.0, 0, 0.0),
            }
        }
    }

    pub fn exit(&mut self) -> FmiStatus {
        // SAFETY: a live handle.
        unsafe {
            match self.standard {
                FmiStandard::Two => fmi2ExitInitializationMode(self.c),
                FmiStandard::Three => fmi3ExitInitializationMode(self.c),
            }
        }
    }

    pub fn start_up(&mut self) {
        self.start_up_until(None);
    }

    /// The same with a stop time.
    pub fn start_up_until(&mut self, stop: Option<f64>) {
        let status = self.enter_until(0.0, stop);
        self.ok(status);
        let status = self.exit();
        self.ok(status);
        if self.event_mode {
            // SAFETY: a live handle.
            self.ok(unsafe { fmi3EnterStepMode(self.c) });
        }
    }

    pub fn terminate(&mut self) -> FmiStatus {
        // SAFETY: a live handle.
        unsafe {
            match self.standard {
                FmiStandard::Two => fmi2Terminate(self.c),
                FmiStandard::Three => fmi3Terminate(self.c),
            }
        }
    }

    /// Brings a reset unit into a phase; `Error` cannot be reached without a fault of the library.
    pub fn bring_to(&mut self, phase: LifecyclePhase) {
        match phase {
            LifecyclePhase::Instantiated => {}
            LifecyclePhase::Initialization => {
                let status = self.enter(0.0);
                self.ok(status);
            }
            LifecyclePhase::Step => self.start_up(),
            LifecyclePhase::StepFailed => {
                self.start_up();
                assert_eq!(self.step(0.0, TOO_LONG).0, FmiStatus::Discard);
            }
            LifecyclePhase::Terminated => {
                self.start_up();
                let status = self.terminate();
                self.ok(status);
            }
            LifecyclePhase::Event => {
                self.start_up();
                // SAFETY: a live handle.
                self.ok(unsafe { fmi3EnterEventMode(self.c) });
            }
            LifecyclePhase::Error => unreachable!("only a panic leads there"),
        }
        self.log.clear();
    }

    /// Status and, for FMI 3, the time reached.
    pub fn step(&mut self, time: f64, h: f64) -> (FmiStatus, f64) {
        let mut reached = f64::NAN;
        let mut flags = [true; 3];
        // SAFETY: a live handle and pointers to locals.
        let status = unsafe {
            match self.standard {
                FmiStandard::Two => fmi2DoStep(self.c, time, h, 1),
                FmiStandard::Three => {
                    let [a, b, c] = &mut flags;
                    fmi3DoStep(self.c, time, h, 1, a, b, c, &mut reached)
                }
            }
        };
        (status, reached)
    }

    /// The unit's own time, if it tells.
    pub fn time(&mut self) -> Option<f64> {
        let mut time = f64::NAN;
        let status = match self.standard {
            // SAFETY: a live handle and a pointer to a local.
            FmiStandard::Two => unsafe { fmi2GetRealStatus(self.c, 2, &mut time) },
            FmiStandard::Three => self.get(&[COUNT], std::slice::from_mut(&mut time)),
        };
        (status == FmiStatus::Ok).then_some(time)
    }

    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> FmiStatus {
        let (r, n, v, m) = (
            references.as_ptr(),
            references.len(),
            values.as_mut_ptr(),
            values.len(),
        );
        // SAFETY: a live handle and arrays of their lengths.
        unsafe {
            match self.standard {
                FmiStandard::Two => fmi2GetReal(self.c, r, n, v),
                FmiStandard::Three => fmi3GetFloat64(self.c, r, n, v, m),
            }
        }
    }

    pub fn value(&mut self, reference: u32) -> f64 {
        let mut value = [f64::NAN];
        let status = self.get(&[reference], &mut value);
        self.ok(status);
        value[0]
    }

    pub fn set(&mut self, references: &[u32], values: &[f64]) -> FmiStatus {
        let (r, n, v, m) = (
            references.as_ptr(),
            references.len(),
            values.as_ptr(),
            values.len(),
        );
        // SAFETY: a live handle and arrays of their lengths.
        unsafe {
            match self.standard {
                FmiStandard::Two => fmi2SetReal(self.c, r, n, v),
                FmiStandard::Three => fmi3SetFloat64(self.c, r, n, v, m),
            }
        }
    }

    pub fn save(&mut self) -> Handle {
        let mut state = null_mut();
        // SAFETY: a live handle and a pointer to a local.
        let status = unsafe {
            match self.standard {
                FmiStandard::Two => fmi2GetFMUstate(self.c, &mut state),
                FmiStandard::Three => fmi3GetFMUState(self.c, &mut state),
            }
        };
        self.ok(status);
        state
    }

    pub fn restore(&mut self, state: Handle) -> FmiStatus {
        // SAFETY: live handles.
        unsafe {
            match self.standard {
                FmiStandard::Two => fmi2SetFMUstate(self.c, state),
                FmiStandard::Three => fmi3SetFMUState(self.c, state),
            }
        }
    }

    pub fn free_state(&mut self, mut state: Handle) {
        // SAFETY: live handles.
        let status = unsafe {
            match self.standard {
                FmiStandard::Two => fmi2FreeFMUstate(self.c, &mut state),
                FmiStandard::Three => fmi3FreeFMUState(self.c, &mut state),
            }
        };
        self.ok(status);
        assert!(state.is_null());
    }

    pub fn serialize(&mut self, state: Handle) -> Vec<u8> {
        let mut size = 0;
        // SAFETY: live handles and arrays of their lengths.
        unsafe {
            let status = match self.standard {
                FmiStandard::Two => fmi2SerializedFMUstateSize(self.c, state, &mut size),
                FmiStandard::Three => fmi3SerializedFMUStateSize(self.c, state, &mut size),
            };
            self.ok(status);
            let mut bytes = vec![0_u8; size];
            let status = match self.standard {
                FmiStandard::Two => {
                    fmi2SerializeFMUstate(self.c, state, bytes.as_mut_ptr().cast(), size)
                }
                FmiStandard::Three => {
                    fmi3SerializeFMUState(self.c, state, bytes.as_mut_ptr(), size)
                }
            };
            self.ok(status);
            bytes
        }
    }

    pub fn deserialize(&mut self, bytes: &[u8], state: &mut Handle) -> FmiStatus {
        // SAFETY: a live handle and an array of its length.
        unsafe {
            match self.standard {
                FmiStandard::Two => {
                    fmi2DeSerializeFMUstate(self.c, bytes.as_ptr().cast(), bytes.len(), state)
                }
                FmiStandard::Three => {
                    fmi3DeserializeFMUState(self.c, bytes.as_ptr(), bytes.len(), state)
                }
            }
        }
    }

    /// All that the unit's future depends on, as bytes: phase, times, motion, what was set.
    pub fn everything(&mut self) -> Vec<u8> {
        let state = self.save();
        let bytes = self.serialize(state);
        self.free_state(state);
        bytes
    }

    /// Calls a function of the table by its name, with arguments that are good for this unit.
    pub fn call(&mut self, name: &str) -> FmiStatus {
        match self.standard {
            FmiStandard::Two => self.call2(name),
            FmiStandard::Three => self.call3(name),
        }
    }

    fn call2(&mut self, name: &str) -> FmiStatus {
        let c = self.c;
        let (x, push): (*const u32, *const u32) = (&X, &PUSH);
        let (one, mut number, mut value) = (1_i32, 0_i32, 0.25_f64);
        let (mut size, mut text) = (0_usize, null::<c_char>());
        let mut status = FmiStatus::Fatal;
        let mut room = vec![0_u8; self.bytes.len()];
        // SAFETY: a live handle and pointers to locals; counts are those of the arrays.
        unsafe {
            match name {
                "fmi2SetDebugLogging" => fmi2SetDebugLogging(c, 0, 0, null()),
                "fmi2SetupExperiment" => fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0),
                "fmi2EnterInitializationMode" => fmi2EnterInitializationMode(c),
                "fmi2ExitInitializationMode" => fmi2ExitInitializationMode(c),
                "fmi2Terminate" => fmi2Terminate(c),
                "fmi2Reset" => fmi2Reset(c),
                "fmi2GetReal" => fmi2GetReal(c, x, 1, &mut value),
                "fmi2GetInteger" => fmi2GetInteger(c, null(), 0, null_mut()),
                "fmi2GetBoolean" => fmi2GetBoolean(c, null(), 0, null_mut()),
                "fmi2GetString" => fmi2GetString(c, null(), 0, null_mut()),
                "fmi2SetReal" => fmi2SetReal(c, push, 1, &value),
                "fmi2SetInteger" => fmi2SetInteger(c, null(), 0, null()),
                "fmi2SetBoolean" => fmi2SetBoolean(c, null(), 0, null()),
                "fmi2SetString" => fmi2SetString(c, null(), 0, null()),
                "fmi2GetFMUstate" => {
                    let mut state = null_mut();
                    let status = fmi2GetFMUstate(c, &mut state);
                    fmi2FreeFMUstate(c, &mut state);
                    status
                }
                "fmi2SetFMUstate" => fmi2SetFMUstate(c, self.state),
                "fmi2FreeFMUstate" => fmi2FreeFMUstate(c, &mut null_mut()),
                "fmi2SerializedFMUstateSize" => {
                    fmi2SerializedFMUstateSize(c, self.state, &mut size)
                }
                "fmi2SerializeFMUstate" => {
                    fmi2SerializeFMUstate(c, self.state, room.as_mut_ptr().cast(), room.len())
                }
                "fmi2DeSerializeFMUstate" => {
                    let mut state = null_mut();
                    let bytes = &self.bytes;
                    let status =
                        fmi2DeSerializeFMUstate(c, bytes.as_ptr().cast(), bytes.len(), &mut state);
                    fmi2FreeFMUstate(c, &mut state);
                    status
                }
                "fmi2GetDirectionalDerivative" => {
                    fmi2GetDirectionalDerivative(c, &ACCELERATION, 1, push, 1, &1.0, &mut value)
                }
                "fmi2SetRealInputDerivatives" => {
                    fmi2SetRealInputDerivatives(c, push, 1, &one, &value)
                }
                "fmi2GetRealOutputDerivatives" => {
                    fmi2GetRealOutputDerivatives(c, x, 1, &one, &mut value)
                }
                "fmi2DoStep" => fmi2DoStep(c, 0.0, GOOD, 1),
                "fmi2CancelStep" => fmi2CancelStep(c),
                "fmi2GetStatus" => fmi2GetStatus(c, 0, &mut status),
                "fmi2GetRealStatus" => fmi2GetRealStatus(c, 2, &mut value),
                "fmi2GetIntegerStatus" => fmi2GetIntegerStatus(c, 0, &mut number),
                "fmi2GetBooleanStatus" => fmi2GetBooleanStatus(c, 3, &mut number),
                "fmi2GetStringStatus" => fmi2GetStringStatus(c, 1, &mut text),
                _ => panic!("{name} is not known here"),
            }
        }
    }

    fn call3(&mut self, name: &str) -> FmiStatus {
        let c = self.c;
        let (x, push): (*const u32, *const u32) = (&X, &PUSH);
        let (one, mut value) = (1_i32, 0.25_f64);
        let mut count = 0_usize;
        let mut room = vec![0_u8; self.bytes.len()];
        let mut flags = [0_u8; 2];
        let (mut integers, mut qualifier) = ([0_u64; 2], 0 as c_int);
        macro_rules! empty {
            ($($get:ident $set:ident),*) => {
                match name {
                    $(stringify!($get) => return unsafe { $get(c, null(), 0, null_mut(), 0) },
                    stringify!($set) => return unsafe { $set(c, null(), 0, null(), 0) },)*
                    _ => {}
                }
            };
        }
        // SAFETY of these: a live handle and no arrays.
        empty!(
            fmi3GetFloat32 fmi3SetFloat32, fmi3GetInt8 fmi3SetInt8, fmi3GetUInt8 fmi3SetUInt8,
            fmi3GetInt16 fmi3SetInt16, fmi3GetUInt16 fmi3SetUInt16, fmi3GetInt32 fmi3SetInt32,
            fmi3GetUInt32 fmi3SetUInt32, fmi3GetInt64 fmi3SetInt64, fmi3GetUInt64 fmi3SetUInt64,
            fmi3GetBoolean fmi3SetBoolean, fmi3GetString fmi3SetString
        );
        // SAFETY: a live handle and pointers to locals; counts are those of the arrays.
        unsafe {
            let [f0, f1] = flags.each_mut().map(|f| &raw mut *f);
            let [i0, i1] = integers.each_mut().map(|i| &raw mut *i);
            match name {
                "fmi3SetDebugLogging" => fmi3SetDebugLogging(c, 0, 0, null()),
                "fmi3EnterInitializationMode" => {
                    fmi3EnterInitializationMode(c, 0, 0.0, 0.0, 0, 0.0)
                }
                "fmi3ExitInitializationMode" => fmi3ExitInitializationMode(c),
                "fmi3EnterEventMode" => fmi3EnterEventMode(c),
                "fmi3Terminate" => fmi3Terminate(c),
                "fmi3Reset" => fmi3Reset(c),
                // An input has a value from the beginning, an output only from initialization mode on.
                "fmi3GetFloat64" => fmi3GetFloat64(c, push, 1, &mut value, 1),
                "fmi3SetFloat64" => fmi3SetFloat64(c, push, 1, &value, 1),
                "fmi3GetBinary" => fmi3GetBinary(c, null(), 0, null_mut(), null_mut(), 0),
                "fmi3SetBinary" => fmi3SetBinary(c, null(), 0, null(), null(), 0),
                "fmi3GetClock" => fmi3GetClock(c, null(), 0, null_mut()),
                "fmi3SetClock" => fmi3SetClock(c, null(), 0, null()),
                "fmi3GetNumberOfVariableDependencies" => {
                    fmi3GetNumberOfVariableDependencies(c, X, &mut count)
                }
                "fmi3GetVariableDependencies" => fmi3GetVariableDependencies(
                    c,
                    X,
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    0,
                ),
                "fmi3GetFMUState" => {
                    let mut state = null_mut();
                    let status = fmi3GetFMUState(c, &mut state);
                    fmi3FreeFMUState(c, &mut state);
                    status
                }
                "fmi3SetFMUState" => fmi3SetFMUState(c, self.state),
                "fmi3FreeFMUState" => fmi3FreeFMUState(c, &mut null_mut()),
                "fmi3SerializedFMUStateSize" => {
                    fmi3SerializedFMUStateSize(c, self.state, &mut count)
                }
                "fmi3SerializeFMUState" => {
                    fmi3SerializeFMUState(c, self.state, room.as_mut_ptr(), room.len())
                }
                "fmi3DeserializeFMUState" => {
                    let mut state = null_mut();
                    let bytes = &self.bytes;
                    let status =
                        fmi3DeserializeFMUState(c, bytes.as_ptr(), bytes.len(), &mut state);
                    fmi3FreeFMUState(c, &mut state);
                    status
                }
                "fmi3GetDirectionalDerivative" => fmi3GetDirectionalDerivative(
                    c,
                    &ACCELERATION,
                    1,
                    push,
                    1,
                    &1.0,
                    1,
                    &mut value,
                    1,
                ),
                "fmi3GetAdjointDerivative" => {
                    fmi3GetAdjointDerivative(c, &ACCELERATION, 1, push, 1, &1.0, 1, &mut value, 1)
                }
                "fmi3EnterConfigurationMode" => fmi3EnterConfigurationMode(c),
                "fmi3ExitConfigurationMode" => fmi3ExitConfigurationMode(c),
                "fmi3GetIntervalDecimal" => {
                    fmi3GetIntervalDecimal(c, x, 1, &mut value, &mut qualifier)
                }
                "fmi3GetIntervalFraction" => {
                    fmi3GetIntervalFraction(c, x, 1, i0, i1, &mut qualifier)
                }
                "fmi3GetShiftDecimal" => fmi3GetShiftDecimal(c, x, 1, &mut value),
                "fmi3GetShiftFraction" => fmi3GetShiftFraction(c, x, 1, i0, i1),
                "fmi3SetIntervalDecimal" => fmi3SetIntervalDecimal(c, x, 1, &value),
                "fmi3SetIntervalFraction" => fmi3SetIntervalFraction(c, x, 1, i0, i1),
                "fmi3SetShiftDecimal" => fmi3SetShiftDecimal(c, x, 1, &value),
                "fmi3SetShiftFraction" => fmi3SetShiftFraction(c, x, 1, i0, i1),
                "fmi3EvaluateDiscreteStates" => fmi3EvaluateDiscreteStates(c),
                "fmi3UpdateDiscreteStates" => {
                    let [mut a, mut b, mut d, mut e, mut f] = [true; 5];
                    let more = &mut value;
                    fmi3UpdateDiscreteStates(c, &mut a, &mut b, &mut d, &mut e, &mut f, more)
                }
                "fmi3EnterContinuousTimeMode" => fmi3EnterContinuousTimeMode(c),
                "fmi3CompletedIntegratorStep" => fmi3CompletedIntegratorStep(c, 1, f0, f1),
                "fmi3SetTime" => fmi3SetTime(c, 0.0),
                "fmi3SetContinuousStates" => fmi3SetContinuousStates(c, &value, 1),
                "fmi3GetContinuousStateDerivatives" => {
                    fmi3GetContinuousStateDerivatives(c, &mut value, 1)
                }
                "fmi3GetEventIndicators" => fmi3GetEventIndicators(c, &mut value, 1),
                "fmi3GetContinuousStates" => fmi3GetContinuousStates(c, &mut value, 1),
                "fmi3GetNominalsOfContinuousStates" => {
                    fmi3GetNominalsOfContinuousStates(c, &mut value, 1)
                }
                "fmi3GetNumberOfEventIndicators" => fmi3GetNumberOfEventIndicators(c, &mut count),
                "fmi3GetNumberOfContinuousStates" => fmi3GetNumberOfContinuousStates(c, &mut count),
                "fmi3EnterStepMode" => fmi3EnterStepMode(c),
                "fmi3GetOutputDerivatives" => {
                    fmi3GetOutputDerivatives(c, x, 1, &one, &mut value, 1)
                }
                "fmi3DoStep" => {
                    let (mut a, mut b, mut d) = (false, false, false);
                    fmi3DoStep(c, 0.0, GOOD, 1, &mut a, &mut b, &mut d, &mut value)
                }
                "fmi3ActivateModelPartition" => fmi3ActivateModelPartition(c, 0, 0.0),
                _ => panic!("{name} is not known here"),
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !self.state.is_null() {
            let state = self.state;
            self.free_state(state);
        }
        // SAFETY: live handles that are not used any more.
        unsafe {
            match self.standard {
                FmiStandard::Two => fmi2FreeInstance(self.c),
                FmiStandard::Three => fmi3FreeInstance(self.c),
            }
        }
    }
}

/// Makes an instance with a logger that writes into the list behind `environment`.
pub fn instantiate(
    standard: FmiStandard,
    token: &CStr,
    resources: *const c_char,
    environment: Handle,
) -> Handle {
    instantiate_with(standard, token, resources, environment, false)
}

fn instantiate_with(
    standard: FmiStandard,
    token: &CStr,
    resources: *const c_char,
    environment: Handle,
    event_mode: bool,
) -> Handle {
    let event_mode = u8::from(event_mode);
    // SAFETY: C strings, and callbacks that live for ever; see `log2` for the cast.
    unsafe {
        match standard {
            FmiStandard::Two => {
                let functions = fmi2CallbackFunctions {
                    logger: Some(std::mem::transmute::<
                        unsafe extern "C" fn(
                            Handle,
                            *const c_char,
                            FmiStatus,
                            *const c_char,
                            *const c_char,
                            *const c_char,
                        ),
                        biela::fmi::types::fmi2CallbackLogger,
                    >(log2)),
                    allocate_memory: None,
                    free_memory: None,
                    step_finished: None,
                    component_environment: environment,
                };
                fmi2Instantiate(
                    c"one".as_ptr(),
                    1,
                    token.as_ptr(),
                    resources,
                    &functions,
                    0,
                    0,
                )
            }
            FmiStandard::Three => fmi3InstantiateCoSimulation(
                c"one".as_ptr(),
                token.as_ptr(),
                resources,
                0,
                0,
                event_mode,
                event_mode,
                null(),
                0,
                environment,
                Some(log3),
                None,
            ),
        }
    }
}
