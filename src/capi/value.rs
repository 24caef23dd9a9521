//! Values of variables, many in one call.

use super::gate::gate;
use super::instance::biela_instance;
use super::pointer;
use super::status::biela_status;

/// Sets `count` inputs or parameters; on failure none is set. Inputs hold from the instance's time on.
/// `count` 0 is legal and looks at no pointer.
///
/// # Safety
/// `instance` is NULL or a live handle; `references` and `values` hold `count` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_set_real(
    instance: *mut biela_instance,
    references: *const u32,
    count: usize,
    values: *const f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_set_real", |content| {
            let references = pointer::slice("references", references, count)?;
            let values = pointer::slice("values", values, count)?;
            Ok(content.component.set_real(references, values)?)
        })
    }
}

/// Reads `count` variables at the instance's time into `values`; on failure `values` is unchanged. The
/// arrays stay yours and must not overlap. `count` 0 is legal and looks at no pointer.
///
/// # Safety
/// `instance` is NULL or a live handle; `references` and `values` hold `count` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_get_real(
    instance: *mut biela_instance,
    references: *const u32,
    count: usize,
    values: *mut f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_get_real", |content| {
            pointer::apart("references", references, "values", values, count)?;
            let references = pointer::slice("references", references, count)?;
            let values = pointer::slice_mut("values", values, count)?;
            Ok(content.component.get_real(references, values)?)
        })
    }
}
