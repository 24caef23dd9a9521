//! Variables: names, units, causality, variability, start values, dependencies, value references.

use std::ffi::c_char;
use std::mem::offset_of;

use super::gate::{create, gate};
use super::instance::{InstanceContent, biela_instance};
use super::status::biela_status;
use super::versioned_struct::{self, VersionedStruct};
use crate::component::{Causality, InitialKind, Variability};
use crate::error::Error;
use crate::ffi::pointer;

/// Causality of a variable: who sets it.
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
    /// Computed, and shown only because the model says `expose = "all"`.
    Local = 4,
}

/// Variability of a variable: when its value may change.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum biela_variability {
    /// Never.
    Constant = 1,
    /// Not after `biela_initialize`.
    Fixed = 2,
    /// Whenever it is set, also between steps.
    Tunable = 3,
    /// At certain times only: a counter.
    Discrete = 4,
    /// All the time.
    Continuous = 5,
}

/// Origin of the start value of a variable.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum biela_initial {
    /// From you: it is an input.
    None = 0,
    /// It is the start value.
    Exact = 1,
    /// It is computed by `biela_initialize`.
    Calculated = 3,
}

/// Description of a variable, written by `biela_variable_info`. Call `biela_variable_default` on it first.
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
    /// The dotted name of what it stands for, such as "pivot.position"; valid until the instance is freed.
    pub description: *const c_char,
    /// When it changes.
    pub variability: biela_variability,
    /// Origin of its start value.
    pub initial: biela_initial,
    /// 1: it may not be set below `min`; 0: there is no such bound.
    pub has_min: i32,
    /// 1: it may not be set above `max`; 0: there is no such bound.
    pub has_max: i32,
    /// Smallest value it may be set to; 0 where there is no bound.
    pub min: f64,
    /// Largest value it may be set to; 0 where there is no bound.
    pub max: f64,
    /// The inputs on which it depends directly (reading it right after setting one of them shows another
    /// value), in rising order; NULL where there are none; valid until the instance is freed.
    pub dependencies: *const u32,
    /// Number of these inputs; 0 for inputs and parameters.
    pub dependency_count: usize,
    /// The inputs and parameters on which it depends right after `biela_initialize`; as above.
    pub initial_dependencies: *const u32,
    /// Number of these inputs and parameters.
    pub initial_dependency_count: usize,
}

// SAFETY: repr(C), begins with struct_size.
unsafe impl VersionedStruct for biela_variable {
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
    create(|| unsafe {
        Ok(versioned_struct::default_struct(
            "variable",
            variable,
            struct_size,
        )?)
    })
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
            pointer::out("count", count)?.write(number);
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
            let struct_size = versioned_struct::struct_size("variable", variable)?;
            let variables = content.component.variables();
            let index = reference as usize;
            let (Some(described), Some([name, unit, description])) =
                (variables.get(index), content.texts.get(index))
            else {
                let count = variables.len();
                return Err(Error::UnknownReference { reference, count }.into());
            };
            // Determined only for callers whose struct has these fields: it takes time.
            let [during, initial] = match struct_size > offset_of!(biela_variable, dependencies) {
                true => content.dependencies_of(index),
                false => [&[][..]; 2],
            };
            let info = biela_variable {
                struct_size,
                name: name.as_ptr(),
                unit: unit.as_ptr(),
                causality: match described.causality {
                    Causality::Parameter => biela_causality::Parameter,
                    Causality::Input => biela_causality::Input,
                    Causality::Output => biela_causality::Output,
                    Causality::Local => biela_causality::Local,
                },
                has_start: i32::from(described.start.is_some()),
                start: described.start.unwrap_or(0.0),
                description: description.as_ptr(),
                variability: match described.variability {
                    Variability::Constant => biela_variability::Constant,
                    Variability::Fixed => biela_variability::Fixed,
                    Variability::Tunable => biela_variability::Tunable,
                    Variability::Discrete => biela_variability::Discrete,
                    Variability::Continuous => biela_variability::Continuous,
                },
                initial: match described.initial {
                    None => biela_initial::None,
                    Some(InitialKind::Exact) => biela_initial::Exact,
                    Some(InitialKind::Calculated) => biela_initial::Calculated,
                },
                has_min: i32::from(described.min.is_some()),
                has_max: i32::from(described.max.is_some()),
                min: described.min.unwrap_or(0.0),
                max: described.max.unwrap_or(0.0),
                dependencies: list(during),
                dependency_count: during.len(),
                initial_dependencies: list(initial),
                initial_dependency_count: initial.len(),
            };
            versioned_struct::write_struct(variable, struct_size, &info);
            Ok(())
        })
    }
}

/// Pointer to a list; NULL if it is empty.
fn list(references: &[u32]) -> *const u32 {
    match references.is_empty() {
        true => std::ptr::null(),
        false => references.as_ptr(),
    }
}

impl InstanceContent {
    /// Direct dependencies of a variable, during the run and at the start. They are kept here and not in the component, which is
    /// replaced after a panic: C may still use the pointers.
    fn dependencies_of(&self, index: usize) -> [&[u32]; 2] {
        let dependencies = self.dependencies.get_or_init(|| {
            let component = &self.component;
            let references = 0..component.variables().len() as u32;
            let of = |reference: u32| {
                let during = component.dependencies(reference).to_vec();
                [during, component.initial_dependencies(reference).to_vec()]
            };
            references.map(of).collect()
        });
        let [during, initial] = &dependencies[index];
        [during, initial]
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
            let reference = pointer::out("reference", reference)?;
            reference.write(content.component.find(pointer::text("name", name)?)?);
            Ok(())
        })
    }
}
