//! FMI 2.0 and FMI 3.0 Co-Simulation: two vocabularies for [`crate::component`], exported by the same library as the C
//! ABI; and the archive that carries a model together with that library.
//!
//! ```text
//!   importer ── fmi2DoStep ──> gate: handle? free? legal now (lifecycle.rs)? ──> Unit ──> component::Instance
//!   biela pack ── package.rs: model, description.rs, library ──> X.fmu
//! ```

pub mod description;
mod documentation;
pub mod fmi2;
pub mod fmi3;
mod fmu_instance;
mod gate;
mod intermediate_update;
pub mod library;
pub mod lifecycle;
pub mod logger;
pub mod package;
pub mod physical_unit;
pub mod resource;
mod state;
pub mod token;
pub mod types;
mod value_cache;
pub mod value_reference;
mod xml;

pub use fmu_instance::FmiStandard;

/// Makes the next call on an instance that goes past the table of legal calls panic.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[cfg(feature = "fault-injection")]
pub unsafe fn inject_panic(instance: *mut std::ffi::c_void) -> types::FmiStatus {
    // SAFETY: the caller's promise.
    unsafe {
        let two = gate::gate(
            instance,
            FmiStandard::Two,
            &lifecycle::fmi2::SET_DEBUG_LOGGING,
            |unit| {
                unit.fault = true;
                Ok(())
            },
        );
        match two {
            types::FmiStatus::Ok => two,
            _ => gate::gate(
                instance,
                FmiStandard::Three,
                &lifecycle::fmi3::SET_DEBUG_LOGGING,
                |unit| {
                    unit.fault = true;
                    Ok(())
                },
            ),
        }
    }
}
