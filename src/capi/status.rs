//! Status codes, and their assignment to errors.

use std::ffi::{CStr, c_char, c_int};

use crate::error::Error;

/// Result of a call. Numbers are never reused; later versions may add some. Everything but
/// `BIELA_STATUS_OK` comes with a sentence: see `biela_last_error`.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum biela_status {
    /// Done.
    Ok = 0,
    /// An argument is NULL, not finite, or outside its range. Nothing was changed.
    ErrorArgument = 1,
    /// The model text is wrong; the sentence begins with origin:line:column.
    ErrorModel = 2,
    /// A file could not be read.
    ErrorFile = 3,
    /// This call is not legal in this phase of the instance's life. Nothing was changed.
    ErrorCallOrder = 4,
    /// There is no variable of this name or value reference. Nothing was changed.
    ErrorUnknownVariable = 5,
    /// The variable exists but may not be set, or not now. Nothing was changed.
    ErrorNotSettable = 6,
    /// The mechanism cannot be assembled; the sentence names the joints that disagree.
    ErrorAssembly = 7,
    /// The equations could not be solved; the instance is at its last good state.
    ErrorNumeric = 8,
    /// More substeps than `max_substeps` in one call; the instance is at the last accepted substep.
    ErrorLimit = 9,
    /// `biela_cancel` stopped the step; the instance is at the last accepted substep.
    Cancelled = 10,
    /// Code given by the user asked to stop.
    ErrorCallback = 11,
    /// The saved state does not belong to this model, or is damaged. Nothing was changed.
    ErrorState = 12,
    /// Another call on this instance (or state) has not returned yet. Nothing was changed.
    Busy = 13,
    /// A fault of the library itself. Until `biela_instance_reset` the instance answers only
    /// `biela_last_error`, `biela_cancel`, `biela_instance_reset` and `biela_instance_free`.
    Panic = 14,
    /// There is not enough memory for what was asked. Nothing was changed. Found where the need is known beforehand: by the calls
    /// that make instances and states, initialize, save and serialize.
    ErrorMemory = 15,
}

/// All of them, in the order of their numbers.
const ALL: [biela_status; 16] = [
    biela_status::Ok,
    biela_status::ErrorArgument,
    biela_status::ErrorModel,
    biela_status::ErrorFile,
    biela_status::ErrorCallOrder,
    biela_status::ErrorUnknownVariable,
    biela_status::ErrorNotSettable,
    biela_status::ErrorAssembly,
    biela_status::ErrorNumeric,
    biela_status::ErrorLimit,
    biela_status::Cancelled,
    biela_status::ErrorCallback,
    biela_status::ErrorState,
    biela_status::Busy,
    biela_status::Panic,
    biela_status::ErrorMemory,
];

impl biela_status {
    /// The name of the C constant.
    pub fn name(self) -> &'static CStr {
        match self {
            Self::Ok => c"BIELA_STATUS_OK",
            Self::ErrorArgument => c"BIELA_STATUS_ERROR_ARGUMENT",
            Self::ErrorModel => c"BIELA_STATUS_ERROR_MODEL",
            Self::ErrorFile => c"BIELA_STATUS_ERROR_FILE",
            Self::ErrorCallOrder => c"BIELA_STATUS_ERROR_CALL_ORDER",
            Self::ErrorUnknownVariable => c"BIELA_STATUS_ERROR_UNKNOWN_VARIABLE",
            Self::ErrorNotSettable => c"BIELA_STATUS_ERROR_NOT_SETTABLE",
            Self::ErrorAssembly => c"BIELA_STATUS_ERROR_ASSEMBLY",
            Self::ErrorNumeric => c"BIELA_STATUS_ERROR_NUMERIC",
            Self::ErrorLimit => c"BIELA_STATUS_ERROR_LIMIT",
            Self::Cancelled => c"BIELA_STATUS_CANCELLED",
            Self::ErrorCallback => c"BIELA_STATUS_ERROR_CALLBACK",
            Self::ErrorState => c"BIELA_STATUS_ERROR_STATE",
            Self::Busy => c"BIELA_STATUS_BUSY",
            Self::Panic => c"BIELA_STATUS_PANIC",
            Self::ErrorMemory => c"BIELA_STATUS_ERROR_MEMORY",
        }
    }
}

impl From<&Error> for biela_status {
    fn from(error: &Error) -> Self {
        match error {
            Error::Model { .. } | Error::Mistakes { .. } => Self::ErrorModel,
            Error::File { .. } => Self::ErrorFile,
            Error::Argument { .. } | Error::NotFinite { .. } => Self::ErrorArgument,
            Error::UnknownVariable { .. } | Error::UnknownReference { .. } => {
                Self::ErrorUnknownVariable
            }
            Error::NotSettable { .. } => Self::ErrorNotSettable,
            Error::CallOrder { .. } => Self::ErrorCallOrder,
            Error::Assembly { .. } => Self::ErrorAssembly,
            Error::SingularMass { .. }
            | Error::SingularPosition { .. }
            | Error::NoEquilibrium { .. }
            | Error::Evaluation { .. }
            | Error::NewtonDiverged { .. }
            | Error::StepTooSmall { .. }
            | Error::Coordinates { .. }
            | Error::Chattering { .. } => Self::ErrorNumeric,
            Error::TooManySubsteps { .. } | Error::RunAway { .. } => Self::ErrorLimit,
            Error::Cancelled { .. } => Self::Cancelled,
            Error::Callback { .. } => Self::ErrorCallback,
            Error::ForeignState { .. } => Self::ErrorState,
            Error::OutOfMemory { .. } => Self::ErrorMemory,
            Error::Internal { .. } => Self::Panic,
        }
    }
}

/// The name of a status as text, such as "BIELA_STATUS_OK"; "BIELA_STATUS_UNKNOWN" for a number that is
/// none. Never NULL, never freed, valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn biela_status_name(status: c_int) -> *const c_char {
    ALL.iter()
        .find(|each| **each as c_int == status)
        .map_or(c"BIELA_STATUS_UNKNOWN", |each| each.name())
        .as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(status: c_int) -> String {
        // SAFETY: a pointer to a literal.
        unsafe { CStr::from_ptr(biela_status_name(status)) }
            .to_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn every_number_has_a_unique_name_and_other_numbers_are_unknown() {
        for (number, status) in ALL.iter().enumerate() {
            assert_eq!(*status as usize, number);
            assert_eq!(name_of(number as c_int), status.name().to_str().unwrap());
        }
        let mut names: Vec<String> = (0..ALL.len() as c_int).map(name_of).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for number in [-1, ALL.len() as c_int, c_int::MIN, c_int::MAX] {
            assert_eq!(name_of(number), "BIELA_STATUS_UNKNOWN");
        }
    }
}
