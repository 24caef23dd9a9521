//! Variables: names, units, causality, start values, value references.

use std::ffi::c_char;
use std::mem::offset_of;

use super::gate::{create, gate};
use super::instance::biela_instance;
use super::pointer::{self, Growing};
use super::status::biela_status;
use crate::component::Causality;
use crate::error::Error;

/// Who sets a variable.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum biela_causality {
    /// Set from outside, constant until set again.
    Parameter = 1,
    /// Set from outside at communication points.
    Input = 2,
    /// Computed.
    Output = 3,
}

/// What `biela_variable_info` tells. Call `biela_variable_default` on it first.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct biela_variable {
    /// `sizeof(biela_variable)` as you know it; later versions may add fields at the end.
    pub struct_size: usize,
    /// Unique name, UTF-8; valid until the instance is freed.
    pub name: *const c_char,
    /// Unit such as "N.m", empty where there is none; valid until the instance is freed.
    pub unit: *const c_char,
    /// Who sets it.
    pub causality: biela_causality,
    /// 1: `start` is its start value; 0: it has none (outputs).
    pub has_start: i32,
    /// Start value; 0 where it has none.
    pub start: f64,
}

// SAFETY: repr(C), begins with struct_size.
unsafe impl Growing for biela_variable {
    const NAME: &'static str = "biela_variable";
    const OLDEST: usize = offset_of!(biela_variable, start) + size_of::<f64>();
}

// The struct only ever grows.
const _: () = assert!(biela_variable::OLDEST <= size_of::<biela_variable>());

/// Zeroes the struct and sets its `struct_size`. Call it with `sizeof(biela_variable)` of your header.
///
/// # Safety
/// `variable` is NULL or points to `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_variable_default(
    variable: *mut biela_variable,
    struct_size: usize,
) -> biela_status {
    // SAFETY: the caller's promise.
    create(|| unsafe { Ok(pointer::default_struct("variable", variable, struct_size)?) })
}

/// Number of variables. Their value references are 0 .. count - 1.
///
/// # Safety
/// `instance` is NULL or a live handle; `count` is NULL or points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_variable_count(
    instance: *mut biela_instance,
    count: *mut u32,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_variable_count", |content| {
            let number = u32::try_from(content.texts.len()).expect("references are 32 bits wide");
            pointer::place("count", count)?.write(number);
            Ok(())
        })
    }
}

/// Describes the variable with this value reference; on failure `*variable` is unchanged.
///
/// # Safety
/// `instance` is NULL or a live handle; `variable` is NULL or points to a struct whose `struct_size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_variable_info(
    instance: *mut biela_instance,
    reference: u32,
    variable: *mut biela_variable,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_variable_info", |content| {
            let struct_size = pointer::struct_size("variable", variable)?;
            let variables = content.component.variables();
            let index = reference as usize;
            let (Some(known), Some((name, unit))) =
                (variables.get(index), content.texts.get(index))
            else {
                let count = variables.len();
                return Err(Error::UnknownReference { reference, count }.into());
            };
            let told = biela_variable {
                struct_size,
                name: name.as_ptr(),
                unit: unit.as_ptr(),
                causality: match known.causality {
                    Causality::Parameter => biela_causality::Parameter,
                    Causality::Input => biela_causality::Input,
                    Causality::Output => biela_causality::Output,
                },
                has_start: i32::from(known.start.is_some()),
                start: known.start.unwrap_or(0.0),
            };
            pointer::write_struct(variable, struct_size, &told);
            Ok(())
        })
    }
}

/// Finds a value reference by its variable's name; on failure `*reference` is unchanged and the sentence
/// suggests the nearest name.
///
/// # Safety
/// `instance` is NULL or a live handle; `name` is NULL or a NUL-terminated string; `reference` is NULL or
/// points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_variable_find(
    instance: *mut biela_instance,
    name: *const c_char,
    reference: *mut u32,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_variable_find", |content| {
            let place = pointer::place("reference", reference)?;
            place.write(content.component.find(pointer::text("name", name)?)?);
            Ok(())
        })
    }
}
