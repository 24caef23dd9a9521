//! Derivatives of outputs by time, by inputs and parameters, and which of the latter are not zero for ever.

use std::ffi::{c_int, c_void};

use super::enter;
use crate::capi::pointer;
use crate::error::{Error, Result};
use crate::fmi::fmu_instance::FmuInstance;
use crate::fmi::lifecycle::{LifecycleCall, fmi3 as calls};
use crate::fmi::types::{FMI3_DEPENDENT, FmiStatus};

/// Time derivatives of outputs; vectors element by element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const i32,
    values: *mut f64,
    value_count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::GET_OUTPUT_DERIVATIVES, |unit| {
            pointer::apart(
                "valueReferences",
                references,
                count,
                "values",
                values,
                value_count,
            )?;
            pointer::apart("orders", orders, count, "values", values, value_count)?;
            let references = pointer::slice("valueReferences", references, count)?;
            let orders = pointer::slice("orders", orders, count)?;
            let values = pointer::slice_mut("values", values, value_count)?;
            Ok(unit.output_derivatives(references, orders, values)?)
        })
    }
}

/// Derivatives of outputs by inputs and parameters, in one direction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetDirectionalDerivative(
    instance: *mut c_void,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    seed: *const f64,
    seed_count: usize,
    sensitivity: *mut f64,
    sensitivity_count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        sensitivities(
            instance,
            &calls::GET_DIRECTIONAL_DERIVATIVE,
            (unknowns, unknown_count),
            (knowns, known_count),
            (seed, seed_count),
            (sensitivity, sensitivity_count),
            FmuInstance::directional_derivative,
        )
    }
}

/// The transposed: of one combination of outputs by all inputs and parameters asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetAdjointDerivative(
    instance: *mut c_void,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    seed: *const f64,
    seed_count: usize,
    sensitivity: *mut f64,
    sensitivity_count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        sensitivities(
            instance,
            &calls::GET_ADJOINT_DERIVATIVE,
            (unknowns, unknown_count),
            (knowns, known_count),
            (seed, seed_count),
            (sensitivity, sensitivity_count),
            FmuInstance::adjoint_derivative,
        )
    }
}

/// Of unknowns by knowns along a seed, into sensitivities.
type Derive = fn(&mut FmuInstance, &[u32], &[u32], &[f64], &mut [f64]) -> Result<()>;

/// Looks at the arrays of a derivative and hands them to `derive`.
///
/// # Safety
/// Each array that is not NULL has the length that comes with it.
unsafe fn sensitivities(
    instance: *mut c_void,
    call: &'static LifecycleCall,
    (unknowns, unknown_count): (*const u32, usize),
    (knowns, known_count): (*const u32, usize),
    (seed, seed_count): (*const f64, usize),
    (sensitivity, sensitivity_count): (*mut f64, usize),
    derive: Derive,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        enter(instance, call, |unit| {
            let (out, written) = (sensitivity.cast_const(), sensitivity_count);
            pointer::apart(
                "unknowns",
                unknowns,
                unknown_count,
                "sensitivity",
                out,
                written,
            )?;
            pointer::apart("knowns", knowns, known_count, "sensitivity", out, written)?;
            pointer::apart("seed", seed, seed_count, "sensitivity", out, written)?;
            let unknowns = pointer::slice("unknowns", unknowns, unknown_count)?;
            let knowns = pointer::slice("knowns", knowns, known_count)?;
            let seed = pointer::slice("seed", seed, seed_count)?;
            let sensitivity = pointer::slice_mut("sensitivity", sensitivity, sensitivity_count)?;
            Ok(derive(unit, unknowns, knowns, seed, sensitivity)?)
        })
    }
}

/// How many entries [`fmi3GetVariableDependencies`] gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfVariableDependencies(
    instance: *mut c_void,
    reference: u32,
    count: *mut usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(
            instance,
            &calls::GET_NUMBER_OF_VARIABLE_DEPENDENCIES,
            |unit| {
                let place = pointer::place("nDependencies", count)?;
                place.write(unit.dependencies(reference)?.len());
                Ok(())
            },
        )
    }
}

/// On which inputs each element of an output depends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetVariableDependencies(
    instance: *mut c_void,
    dependent: u32,
    elements: *mut usize,
    independents: *mut u32,
    independent_elements: *mut usize,
    kinds: *mut c_int,
    count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, &calls::GET_VARIABLE_DEPENDENCIES, |unit| {
            let found = unit.dependencies(dependent)?;
            if found.len() != count {
                return Err(Error::Argument {
                    name: "nDependencies".to_owned(),
                    value: count.to_string(),
                    expected: found.len().to_string(),
                }
                .into());
            }
            let elements = pointer::slice_mut("elementIndicesOfDependent", elements, count)?;
            let independents = pointer::slice_mut("independents", independents, count)?;
            let independent_elements =
                pointer::slice_mut("elementIndicesOfIndependents", independent_elements, count)?;
            let kinds = pointer::slice_mut("dependencyKinds", kinds, count)?;
            for (i, (element, independent)) in found.into_iter().enumerate() {
                elements[i] = element;
                independents[i] = independent;
                // 0 stands for a scalar as a whole.
                independent_elements[i] = 0;
                kinds[i] = FMI3_DEPENDENT;
            }
            Ok(())
        })
    }
}
