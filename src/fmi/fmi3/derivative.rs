//! Derivatives of outputs with respect to time, inputs and parameters, and their dependencies on inputs.

use std::ffi::{c_int, c_void};

use super::enter;
use super::value::in_update;
use crate::error::{Error, Result};
use crate::ffi::pointer;
use crate::fmi::fmu_instance::FmuInstance;
use crate::fmi::gate;
use crate::fmi::lifecycle::{LifecycleCall, fmi3 as calls};
use crate::fmi::types::{FMI3_DEPENDENT, FmiStandard, FmiStatus};

/// Time derivatives of outputs; arrays element by element. Also legal in an intermediate update.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const i32,
    values: *mut f64,
    value_count: usize,
) -> FmiStatus {
    let arrays = || -> Result<_> {
        let (name, out) = ("valueReferences", values.cast_const());
        pointer::disjoint(name, references, count, "values", out, value_count)?;
        pointer::disjoint("orders", orders, count, "values", out, value_count)?;
        // SAFETY: the importer's promise.
        unsafe {
            let references = pointer::slice("valueReferences", references, count)?;
            let orders = pointer::slice("orders", orders, count)?;
            let values = pointer::slice_mut("values", values, value_count)?;
            Ok((references, orders, values))
        }
    };
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_with_fast_path(
            instance,
            FmiStandard::Three,
            &calls::GET_OUTPUT_DERIVATIVES,
            |_| false,
            |fmu| {
                let (references, orders, values) = arrays()?;
                Ok(fmu.output_derivatives(references, orders, values)?)
            },
            |shared, _| {
                in_update(shared, |substep| {
                    let (references, orders, values) = arrays()?;
                    Ok(substep.output_derivatives(references, orders, values))
                })
            },
        )
    }
}

/// Directional derivative of outputs with respect to inputs and parameters: J seed.
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

/// Adjoint derivative of outputs with respect to inputs and parameters: Jᵀ seed.
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

/// Takes unknowns, knowns and seed; writes sensitivities.
type Derive = fn(&mut FmuInstance, &[u32], &[u32], &[f64], &mut [f64]) -> Result<()>;

/// Checks the arrays and calls `derive` with them.
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
        enter(instance, call, |fmu| {
            let (out, written) = (sensitivity.cast_const(), sensitivity_count);
            pointer::disjoint(
                "unknowns",
                unknowns,
                unknown_count,
                "sensitivity",
                out,
                written,
            )?;
            pointer::disjoint("knowns", knowns, known_count, "sensitivity", out, written)?;
            pointer::disjoint("seed", seed, seed_count, "sensitivity", out, written)?;
            let unknowns = pointer::slice("unknowns", unknowns, unknown_count)?;
            let knowns = pointer::slice("knowns", knowns, known_count)?;
            let seed = pointer::slice("seed", seed, seed_count)?;
            let sensitivity = pointer::slice_mut("sensitivity", sensitivity, sensitivity_count)?;
            Ok(derive(fmu, unknowns, knowns, seed, sensitivity)?)
        })
    }
}

/// The number of entries that [`fmi3GetVariableDependencies`] writes.
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
            |fmu| {
                let count = pointer::out("nDependencies", count)?;
                count.write(fmu.dependencies(reference)?.len());
                Ok(())
            },
        )
    }
}

/// The inputs that each element of an output depends on.
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
        enter(instance, &calls::GET_VARIABLE_DEPENDENCIES, |fmu| {
            let found = fmu.dependencies(dependent)?;
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
                // 0 stands for a scalar.
                independent_elements[i] = 0;
                kinds[i] = FMI3_DEPENDENT;
            }
            Ok(())
        })
    }
}
