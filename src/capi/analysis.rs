//! Static equilibrium and linear models.

use std::ffi::c_char;

use super::gate::gate;
use super::instance::biela_instance;
use super::status::biela_status;
use crate::ffi::pointer::{self, c_string, wrong};

/// Moves the instance to the static equilibrium next to its present position, at rest, at the present time and with
/// the inputs as now set; prescribed motions keep their positions. Legal after `biela_initialize`. Counters and energies
/// start again. On failure the instance is unchanged.
///
/// Directions that nothing holds, unstable ones and reactions that are not unique are no failures: the logger gets a
/// warning that names them.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_equilibrium(instance: *mut biela_instance) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_equilibrium", |content| {
            content.component.equilibrium()?;
            Ok(())
        })
    }
}

/// The linear model x' = A x + B u, y = C x + D u about the present point of the motion: x are minimal coordinates and
/// their derivatives, u the inputs, y the outputs. Nothing changes, not a bit of what follows.
///
/// `sizes` are three numbers: states, inputs, outputs. With all four matrices NULL they are written. Otherwise they must be
/// those of the present point (the numbers may change at an event), and every matrix that is not NULL is filled by rows:
/// `a` states x states, `b` states x inputs, `c` outputs x states, `d` outputs x inputs. On failure the matrices are unchanged.
/// After the first call nothing is allocated.
///
/// # Safety
/// `instance` is NULL or a live handle; `sizes` is NULL or has three elements; each matrix is NULL or has the elements that
/// `sizes` say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_linearize(
    instance: *mut biela_instance,
    sizes: *mut usize,
    a: *mut f64,
    b: *mut f64,
    c: *mut f64,
    d: *mut f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_linearize", |content| {
            pointer::check("sizes", sizes)?;
            let sizes = pointer::slice_mut("sizes", sizes, 3)?;
            let model = &mut content.linear_model;
            content.component.linearize_into(model)?;
            let present = [model.states.len(), model.inputs.len(), model.outputs.len()];
            if [a, b, c, d].iter().all(|matrix| matrix.is_null()) {
                sizes.copy_from_slice(&present);
                return Ok(());
            }
            if *sizes != present {
                let expected = format!("{present:?}: states, inputs, outputs at this point");
                return Err(wrong("sizes", format!("{sizes:?}"), &expected).into());
            }
            let all = [
                ("a", a, &model.a),
                ("b", b, &model.b),
                ("c", c, &model.c),
                ("d", d, &model.d),
            ];
            for (name, matrix, values) in &all {
                if !matrix.is_null() {
                    pointer::slice_mut(name, *matrix, values.len())?;
                }
            }
            for (name, matrix, values) in all {
                if !matrix.is_null() {
                    pointer::slice_mut(name, matrix, values.len())?.copy_from_slice(values);
                }
            }
            Ok(())
        })
    }
}

/// Part of a linear model that has names.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum biela_linear_part {
    /// States: minimal coordinates, their derivatives, integrals of inputs.
    State = 0,
    /// Inputs, and their derivatives where an input prescribes a position.
    Input = 1,
    /// Outputs.
    Output = 2,
}

/// The name of a state, input or output of the last linear model of `biela_linearize`; `part` is a `biela_linear_part`.
/// `*name` is UTF-8 and valid until the next call of `biela_linearize` or `biela_linear_name`, or until the instance is
/// freed. On failure it is unchanged.
///
/// # Safety
/// `instance` is NULL or a live handle; `name` is NULL or points to one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_linear_name(
    instance: *mut biela_instance,
    part: u32,
    index: usize,
    name: *mut *const c_char,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_linear_name", |content| {
            let out = pointer::out("name", name)?;
            let model = &content.linear_model;
            let list = [&model.states, &model.inputs, &model.outputs]
                .get(part as usize)
                .copied()
                .ok_or_else(|| wrong("part", part, "0, 1 or 2: state, input, output"))?;
            let found = list.get(index).ok_or_else(|| {
                let expected = format!("less than {}, as biela_linearize says", list.len());
                wrong("index", index, &expected)
            })?;
            content.linear_name = c_string(found);
            out.write(content.linear_name.as_ptr());
            Ok(())
        })
    }
}
