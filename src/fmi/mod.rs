//! FMI 2.0 and FMI 3.0 Co-Simulation: two vocabularies for [`crate::component`], exported by the same library as the C
//! ABI; and the archive that carries a model together with that library.
//!
//! ```text
//!   importer ── fmi2DoStep ──> gate: handle? free? legal now (lifecycle.rs)? ──> Unit ──> component::Instance
//!   biela pack ── package.rs: model, description.rs, library ──> X.fmu
//! ```

pub mod description;
pub mod fmi2;
pub mod fmi3;
mod gate;
mod intermediate;
pub mod layout;
pub mod library;
pub mod lifecycle;
pub mod logger;
pub mod measure;
pub mod package;
mod page;
mod quick;
pub mod resource;
mod state;
pub mod token;
pub mod types;
mod unit;
mod xml;

pub use unit::Standard;

/// Makes the next call on an instance that goes past the table of legal calls panic.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[cfg(feature = "fault-injection")]
pub unsafe fn inject_panic(instance: *mut std::ffi::c_void) -> types::Status {
    // SAFETY: the caller's promise.
    unsafe {
        let two = gate::gate(
            instance,
            Standard::Two,
            &lifecycle::fmi2::SET_DEBUG_LOGGING,
            |unit| {
                unit.fault = true;
                Ok(())
            },
        );
        match two {
            types::Status::Ok => two,
            _ => gate::gate(
                instance,
                Standard::Three,
                &lifecycle::fmi3::SET_DEBUG_LOGGING,
                |unit| {
                    unit.fault = true;
                    Ok(())
                },
            ),
        }
    }
}
