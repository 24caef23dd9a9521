//! The phases in which each call is legal: one table for each standard.
//!
//! ```text
//!                    enter init       exit init             terminate
//!   Instantiated ───────────> Initialization ────> Step ────────────────> Terminated
//!        ^                            │           │   ^
//!        │ reset, from everywhere     │  step cut │   │ set state
//!        └──────────────────────────  │    short  v   │
//!                                     │      StepFailed (FMI 2)    Error: after a fault of the library; left by reset
//!                                     └──> Event <──> Step         FMI 3 with event mode
//! ```
//!
//! A call that is not legal returns an error, logs it and changes nothing. The standards would allow an error state for it;
//! here the instance stays usable.

use std::ffi::CStr;

/// Phase in the life of an FMU instance.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecyclePhase {
    /// Instantiated or reset: start values may be set.
    Instantiated = 1 << 0,
    /// Start values and inputs may be set, outputs read.
    Initialization = 1 << 1,
    /// At a communication point (FMI 2: "step complete").
    Step = 1 << 2,
    /// The last step ended before its communication point (FMI 2: "step failed", FMI 3: "step discarded").
    StepFailed = 1 << 3,
    /// Results may still be read.
    Terminated = 1 << 4,
    /// After a fault of the library; left by reset.
    Error = 1 << 5,
    /// FMI 3 with event mode: at an event, or after the initialization.
    Event = 1 << 6,
}

impl LifecyclePhase {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Instantiated,
        Self::Initialization,
        Self::Step,
        Self::StepFailed,
        Self::Terminated,
        Self::Error,
        Self::Event,
    ];

    /// The phase with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| *phase as u8 == number)
    }

    /// Name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instantiated => "instantiated",
            Self::Initialization => "initialization mode",
            Self::Step => "step mode",
            Self::StepFailed => "step mode after a step that failed",
            Self::Terminated => "terminated",
            Self::Error => "error",
            Self::Event => "event mode",
        }
    }
}

/// An exported function and the phases it is legal in.
#[derive(Debug, PartialEq, Eq)]
pub struct LifecycleCall {
    /// Its C name.
    pub name: &'static CStr,
    /// Sum of the phases.
    legal: u8,
}

impl LifecycleCall {
    /// May it be called in `phase`?
    pub fn legal_in(&self, phase: LifecyclePhase) -> bool {
        self.legal & phase as u8 != 0
    }

    /// Its name as text.
    pub fn text(&self) -> &'static str {
        self.name.to_str().unwrap_or("")
    }
}

const INSTANTIATED: u8 = LifecyclePhase::Instantiated as u8;
const INITIALIZATION: u8 = LifecyclePhase::Initialization as u8;
const STEP: u8 = LifecyclePhase::Step as u8;
const FAILED: u8 = LifecyclePhase::StepFailed as u8;
const TERMINATED: u8 = LifecyclePhase::Terminated as u8;
const ERROR: u8 = LifecyclePhase::Error as u8;
const EVENT: u8 = LifecyclePhase::Event as u8;
/// Calls that do not need a component.
const ANY: u8 = INSTANTIATED | INITIALIZATION | STEP | FAILED | TERMINATED | ERROR | EVENT;
/// All phases but that after a fault of the library.
const SOUND: u8 = ANY & !ERROR;
/// Phases with a motion.
const MOVING: u8 = STEP | FAILED | TERMINATED | EVENT;
/// Phases in which values may be set.
const SETTABLE: u8 = INSTANTIATED | INITIALIZATION | STEP | EVENT;
/// Calls of another kind of FMU: Model Exchange, Scheduled Execution, clocks, structural parameters.
const NEVER: u8 = 0;

macro_rules! table {
    ($(#[$doc:meta])* $table:ident: $($constant:ident $name:literal $legal:expr;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $constant: LifecycleCall = LifecycleCall {
                // The macro adds the NUL that a C string ends with.
                name: match CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name without NUL"),
                },
                legal: $legal,
            };
        )*
        $(#[$doc])*
        pub const $table: &[LifecycleCall] = &[$($constant),*];
    };
}

/// FMI 2.0 Co-Simulation.
pub mod fmi2 {
    use super::*;

    table! {
        /// All calls that take an instance.
        ALL:
        SET_DEBUG_LOGGING "fmi2SetDebugLogging" ANY;
        SETUP_EXPERIMENT "fmi2SetupExperiment" INSTANTIATED;
        ENTER_INITIALIZATION_MODE "fmi2EnterInitializationMode" INSTANTIATED;
        EXIT_INITIALIZATION_MODE "fmi2ExitInitializationMode" INITIALIZATION;
        TERMINATE "fmi2Terminate" STEP | FAILED;
        RESET "fmi2Reset" ANY;
        GET_REAL "fmi2GetReal" INITIALIZATION | MOVING;
        GET_INTEGER "fmi2GetInteger" INITIALIZATION | MOVING;
        GET_BOOLEAN "fmi2GetBoolean" INITIALIZATION | MOVING;
        GET_STRING "fmi2GetString" INITIALIZATION | MOVING;
        SET_REAL "fmi2SetReal" INSTANTIATED | INITIALIZATION | STEP;
        SET_INTEGER "fmi2SetInteger" INSTANTIATED | INITIALIZATION | STEP;
        SET_BOOLEAN "fmi2SetBoolean" INSTANTIATED | INITIALIZATION | STEP;
        SET_STRING "fmi2SetString" INSTANTIATED | INITIALIZATION | STEP;
        GET_FMU_STATE "fmi2GetFMUstate" SOUND;
        SET_FMU_STATE "fmi2SetFMUstate" ANY;
        FREE_FMU_STATE "fmi2FreeFMUstate" ANY;
        SERIALIZED_FMU_STATE_SIZE "fmi2SerializedFMUstateSize" ANY;
        SERIALIZE_FMU_STATE "fmi2SerializeFMUstate" ANY;
        DESERIALIZE_FMU_STATE "fmi2DeSerializeFMUstate" ANY;
        GET_DIRECTIONAL_DERIVATIVE "fmi2GetDirectionalDerivative" INITIALIZATION | MOVING;
        SET_REAL_INPUT_DERIVATIVES "fmi2SetRealInputDerivatives" INSTANTIATED | INITIALIZATION | STEP;
        GET_REAL_OUTPUT_DERIVATIVES "fmi2GetRealOutputDerivatives" MOVING;
        DO_STEP "fmi2DoStep" STEP;
        CANCEL_STEP "fmi2CancelStep" NEVER;
        GET_STATUS "fmi2GetStatus" MOVING;
        GET_REAL_STATUS "fmi2GetRealStatus" MOVING;
        GET_INTEGER_STATUS "fmi2GetIntegerStatus" MOVING;
        GET_BOOLEAN_STATUS "fmi2GetBooleanStatus" MOVING;
        GET_STRING_STATUS "fmi2GetStringStatus" MOVING;
    }
}

/// FMI 3.0 Co-Simulation. Inside an intermediate update the getters are legal too, see `intermediate_update.rs`.
pub mod fmi3 {
    use super::*;

    table! {
        /// All calls that take an instance.
        ALL:
        SET_DEBUG_LOGGING "fmi3SetDebugLogging" ANY;
        ENTER_INITIALIZATION_MODE "fmi3EnterInitializationMode" INSTANTIATED;
        EXIT_INITIALIZATION_MODE "fmi3ExitInitializationMode" INITIALIZATION;
        ENTER_EVENT_MODE "fmi3EnterEventMode" STEP;
        TERMINATE "fmi3Terminate" STEP | FAILED | EVENT;
        RESET "fmi3Reset" ANY;
        GET_FLOAT32 "fmi3GetFloat32" SOUND;
        GET_FLOAT64 "fmi3GetFloat64" SOUND;
        GET_INT8 "fmi3GetInt8" SOUND;
        GET_UINT8 "fmi3GetUInt8" SOUND;
        GET_INT16 "fmi3GetInt16" SOUND;
        GET_UINT16 "fmi3GetUInt16" SOUND;
        GET_INT32 "fmi3GetInt32" SOUND;
        GET_UINT32 "fmi3GetUInt32" SOUND;
        GET_INT64 "fmi3GetInt64" SOUND;
        GET_UINT64 "fmi3GetUInt64" SOUND;
        GET_BOOLEAN "fmi3GetBoolean" SOUND;
        GET_STRING "fmi3GetString" SOUND;
        GET_BINARY "fmi3GetBinary" SOUND;
        GET_CLOCK "fmi3GetClock" NEVER;
        SET_FLOAT32 "fmi3SetFloat32" SETTABLE;
        SET_FLOAT64 "fmi3SetFloat64" SETTABLE;
        SET_INT8 "fmi3SetInt8" SETTABLE;
        SET_UINT8 "fmi3SetUInt8" SETTABLE;
        SET_INT16 "fmi3SetInt16" SETTABLE;
        SET_UINT16 "fmi3SetUInt16" SETTABLE;
        SET_INT32 "fmi3SetInt32" SETTABLE;
        SET_UINT32 "fmi3SetUInt32" SETTABLE;
        SET_INT64 "fmi3SetInt64" SETTABLE;
        SET_UINT64 "fmi3SetUInt64" SETTABLE;
        SET_BOOLEAN "fmi3SetBoolean" SETTABLE;
        SET_STRING "fmi3SetString" SETTABLE;
        SET_BINARY "fmi3SetBinary" SETTABLE;
        SET_CLOCK "fmi3SetClock" NEVER;
        GET_NUMBER_OF_VARIABLE_DEPENDENCIES "fmi3GetNumberOfVariableDependencies" SOUND;
        GET_VARIABLE_DEPENDENCIES "fmi3GetVariableDependencies" SOUND;
        GET_FMU_STATE "fmi3GetFMUState" SOUND;
        SET_FMU_STATE "fmi3SetFMUState" ANY;
        FREE_FMU_STATE "fmi3FreeFMUState" ANY;
        SERIALIZED_FMU_STATE_SIZE "fmi3SerializedFMUStateSize" ANY;
        SERIALIZE_FMU_STATE "fmi3SerializeFMUState" ANY;
        DESERIALIZE_FMU_STATE "fmi3DeserializeFMUState" ANY;
        GET_DIRECTIONAL_DERIVATIVE "fmi3GetDirectionalDerivative" INITIALIZATION | MOVING;
        GET_ADJOINT_DERIVATIVE "fmi3GetAdjointDerivative" INITIALIZATION | MOVING;
        ENTER_CONFIGURATION_MODE "fmi3EnterConfigurationMode" NEVER;
        EXIT_CONFIGURATION_MODE "fmi3ExitConfigurationMode" NEVER;
        GET_INTERVAL_DECIMAL "fmi3GetIntervalDecimal" NEVER;
        GET_INTERVAL_FRACTION "fmi3GetIntervalFraction" NEVER;
        GET_SHIFT_DECIMAL "fmi3GetShiftDecimal" NEVER;
        GET_SHIFT_FRACTION "fmi3GetShiftFraction" NEVER;
        SET_INTERVAL_DECIMAL "fmi3SetIntervalDecimal" NEVER;
        SET_INTERVAL_FRACTION "fmi3SetIntervalFraction" NEVER;
        SET_SHIFT_DECIMAL "fmi3SetShiftDecimal" NEVER;
        SET_SHIFT_FRACTION "fmi3SetShiftFraction" NEVER;
        EVALUATE_DISCRETE_STATES "fmi3EvaluateDiscreteStates" NEVER;
        UPDATE_DISCRETE_STATES "fmi3UpdateDiscreteStates" EVENT;
        ENTER_CONTINUOUS_TIME_MODE "fmi3EnterContinuousTimeMode" NEVER;
        COMPLETED_INTEGRATOR_STEP "fmi3CompletedIntegratorStep" NEVER;
        SET_TIME "fmi3SetTime" NEVER;
        SET_CONTINUOUS_STATES "fmi3SetContinuousStates" NEVER;
        GET_CONTINUOUS_STATE_DERIVATIVES "fmi3GetContinuousStateDerivatives" NEVER;
        GET_EVENT_INDICATORS "fmi3GetEventIndicators" NEVER;
        GET_CONTINUOUS_STATES "fmi3GetContinuousStates" NEVER;
        GET_NOMINALS_OF_CONTINUOUS_STATES "fmi3GetNominalsOfContinuousStates" NEVER;
        GET_NUMBER_OF_EVENT_INDICATORS "fmi3GetNumberOfEventIndicators" NEVER;
        GET_NUMBER_OF_CONTINUOUS_STATES "fmi3GetNumberOfContinuousStates" NEVER;
        ENTER_STEP_MODE "fmi3EnterStepMode" EVENT;
        GET_OUTPUT_DERIVATIVES "fmi3GetOutputDerivatives" MOVING;
        DO_STEP "fmi3DoStep" STEP;
        ACTIVATE_MODEL_PARTITION "fmi3ActivateModelPartition" NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_distinct_bits_and_found_by_their_number() {
        let mut sum = 0;
        for phase in LifecyclePhase::ALL {
            assert_eq!(sum & phase as u8, 0);
            sum |= phase as u8;
            assert_eq!(LifecyclePhase::from_number(phase as u8), Some(phase));
        }
        assert_eq!(sum, ANY);
        assert_eq!(LifecyclePhase::from_number(0), None);
        assert_eq!(LifecyclePhase::from_number(3), None);
    }

    #[test]
    fn names_are_those_of_the_standard_and_unique() {
        for (table, prefix) in [(fmi2::ALL, "fmi2"), (fmi3::ALL, "fmi3")] {
            let mut names: Vec<&str> = table.iter().map(LifecycleCall::text).collect();
            assert!(names.iter().all(|name| name.starts_with(prefix)));
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }

    #[test]
    fn reset_is_legal_in_every_phase() {
        for phase in LifecyclePhase::ALL {
            assert!(fmi2::RESET.legal_in(phase) && fmi3::RESET.legal_in(phase));
        }
        assert!(fmi2::DO_STEP.legal_in(LifecyclePhase::Step));
        assert!(!fmi2::DO_STEP.legal_in(LifecyclePhase::Initialization));
        assert!(fmi3::ENTER_EVENT_MODE.legal_in(LifecyclePhase::Step));
        assert!(!fmi3::ENTER_CONFIGURATION_MODE.legal_in(LifecyclePhase::Step));
    }
}
