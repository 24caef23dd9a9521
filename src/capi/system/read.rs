//! Checks and copies the definition of a user-defined system.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use super::super::versioned_struct;
use super::{
    BIELA_SYSTEM_CONSTANT_MASS, BIELA_SYSTEM_FIXED_CONSTRAINTS, BIELA_SYSTEM_LINEAR,
    BIELA_SYSTEM_NO_VELOCITY_FORCES, biela_system_definition,
};
use crate::error::{Error, Result};
use crate::ffi::pointer::{self, wrong};
use crate::formulation::user_system::{UserProperties, UserSystemShape};
use crate::formulation::{Dimensions, Sparsity};
use crate::model::{FormulationName, Model, SolverSettings, UserSystemNames};

/// Largest number of coordinates, constraints, events or variables; a larger one was not initialised. A convention.
const LARGEST_COUNT: usize = 1_000_000;
/// Largest number of entries of a dense matrix; a larger one needs a sparsity pattern. A convention.
const LARGEST_DENSE: usize = 4_000_000;
/// All flags of this version.
const FLAGS: u32 = BIELA_SYSTEM_CONSTANT_MASS
    | BIELA_SYSTEM_NO_VELOCITY_FORCES
    | BIELA_SYSTEM_FIXED_CONSTRAINTS
    | BIELA_SYSTEM_LINEAR;

/// A copy of the user's struct; fields that an older header does not have are zero.
///
/// # Safety
/// `definition` is NULL or points to a struct whose `struct_size` is set.
pub(super) unsafe fn definition(
    definition: *const biela_system_definition,
) -> Result<biela_system_definition> {
    // SAFETY: the caller's promise.
    let size = unsafe { versioned_struct::struct_size("definition", definition.cast_mut())? };
    let mut copy = MaybeUninit::<biela_system_definition>::zeroed();
    let common = size.min(size_of::<biela_system_definition>());
    // SAFETY: the user's struct has `size` bytes by promise. Zero is a value of every field (numbers, pointers, absent
    // functions), and C programs put such values there.
    unsafe {
        std::ptr::copy_nonoverlapping(
            definition.cast::<MaybeUninit<u8>>(),
            copy.as_mut_ptr().cast::<MaybeUninit<u8>>(),
            common,
        );
        Ok(copy.assume_init())
    }
}

/// The model and the shape of the system that a definition describes.
///
/// # Safety
/// Arrays are as long as the definition says, names end with NUL.
// Long because every field of the C struct is checked and copied in turn.
pub(super) unsafe fn contents(given: &biela_system_definition) -> Result<(Model, UserSystemShape)> {
    let size = sizes(given)?;
    if given.flags & !FLAGS != 0 {
        let expected = "a sum of BIELA_SYSTEM_... constants of this version";
        return Err(wrong("flags", given.flags, expected));
    }
    let promises = UserProperties {
        constant_mass: given.flags & BIELA_SYSTEM_CONSTANT_MASS != 0,
        no_velocity_forces: given.flags & BIELA_SYSTEM_NO_VELOCITY_FORCES != 0,
        fixed_constraints: given.flags & BIELA_SYSTEM_FIXED_CONSTRAINTS != 0,
        linear: given.flags & BIELA_SYSTEM_LINEAR != 0,
    };
    // SAFETY: the caller's promise, for all that is read here.
    unsafe {
        let inputs = variables(
            ("input", "u"),
            given.input_names,
            given.input_starts,
            size.inputs,
        )?;
        let parameters = variables(
            ("parameter", "p"),
            given.parameter_names,
            given.parameter_starts,
            size.parameters,
        )?;
        let name = optional_text("name", given.name)?.unwrap_or("system");
        let solver = SolverSettings::from_text(
            optional_text("solver", given.solver)?.unwrap_or(""),
            "solver",
        )?;
        if solver.formulation != FormulationName::Auto {
            let expected = "\"auto\": a system given by functions has its own coordinates";
            return Err(wrong(
                "solver.formulation",
                format!("{:?}", solver.formulation),
                expected,
            ));
        }
        let dimensions = UserSystemNames {
            nq: size.nq,
            nv: size.nv,
            nc: size.nc,
        };
        let energy = given.energy.is_some();
        let model =
            Model::from_user_system(name, dimensions, solver, &inputs, &parameters, energy)?;
        let starts = |variables: Vec<(String, f64)>| variables.into_iter().map(|v| v.1).collect();
        let shape = UserSystemShape {
            size,
            promises,
            pattern: Sparsity {
                tangent: entries(
                    "tangent",
                    given.tangent_count,
                    (given.tangent_rows, given.tangent_columns),
                    (size.nv, size.nv),
                )?,
                jacobian: entries(
                    "jacobian",
                    given.jacobian_count,
                    (given.jacobian_rows, given.jacobian_columns),
                    (size.nc, size.nv),
                )?,
            },
            weights: positive("weights", given.weights, size.nv)?.unwrap_or(vec![1.0; size.nv]),
            constraint_scales: positive("constraint_scales", given.constraint_scales, size.nc)?
                .unwrap_or_default(),
            q: numbers("q", given.q, size.nq)?,
            v: match given.v.is_null() {
                true => vec![0.0; size.nv],
                false => numbers("v", given.v, size.nv)?,
            },
            inputs: starts(inputs),
            parameters: starts(parameters),
            coordinate_names: names("coordinate_names", given.coordinate_names, size.nv)?,
            constraint_names: names("constraint_names", given.constraint_names, size.nc)?,
            event_names: names("event_names", given.event_names, size.ne)?,
        };
        Ok((model, shape))
    }
}

fn sizes(given: &biela_system_definition) -> Result<Dimensions> {
    let nq = match given.nq {
        0 => given.nv,
        nq => nq,
    };
    for (name, count) in [
        ("nq", nq),
        ("nv", given.nv),
        ("nc", given.nc),
        ("ne", given.ne),
        ("modes", given.modes),
        ("inputs", given.inputs),
        ("parameters", given.parameters),
        ("tangent_count", given.tangent_count / 1000),
        ("jacobian_count", given.jacobian_count / 1000),
    ] {
        if count > LARGEST_COUNT {
            return Err(wrong(name, count, &format!("at most {LARGEST_COUNT}")));
        }
    }
    Ok(Dimensions {
        nq,
        nv: given.nv,
        nc: given.nc,
        ne: given.ne,
        modes: given.modes,
        inputs: given.inputs,
        parameters: given.parameters,
        integrals: 0,
    })
}

/// A copy of `count` finite numbers.
///
/// # Safety
/// `pointer` is NULL or holds `count` numbers.
unsafe fn numbers(name: &str, pointer: *const f64, count: usize) -> Result<Vec<f64>> {
    // SAFETY: the caller's promise.
    let values = unsafe { pointer::slice(name, pointer, count)? };
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(values.to_vec()),
        Some(i) => Err(Error::NotFinite {
            name: format!("{name}[{i}]"),
            value: values[i].to_string(),
        }),
    }
}

/// A copy of `count` positive numbers; `None` for NULL.
///
/// # Safety
/// As [`numbers`].
unsafe fn positive(name: &str, pointer: *const f64, count: usize) -> Result<Option<Vec<f64>>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let values = unsafe { numbers(name, pointer, count)? };
    match values.iter().position(|x| *x <= 0.0) {
        None => Ok(Some(values)),
        Some(i) => Err(wrong(&format!("{name}[{i}]"), values[i], "a number > 0")),
    }
}

/// A text; `None` for NULL.
///
/// # Safety
/// `pointer` is NULL or a NUL-terminated string.
unsafe fn optional_text<'a>(name: &str, pointer: *const c_char) -> Result<Option<&'a str>> {
    match pointer.is_null() {
        true => Ok(None),
        // SAFETY: the caller's promise.
        false => unsafe { pointer::text(name, pointer) }.map(Some),
    }
}

/// A copy of `count` names; empty for NULL.
///
/// # Safety
/// `pointer` is NULL or holds `count` strings.
unsafe fn names(name: &str, pointer: *const *const c_char, count: usize) -> Result<Vec<String>> {
    if pointer.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's promise.
    let pointers = unsafe { pointer::slice(name, pointer, count)? };
    (pointers.iter().enumerate())
        // SAFETY: the caller's promise.
        .map(|(i, text)| unsafe { Ok(pointer::text(&format!("{name}[{i}]"), *text)?.to_owned()) })
        .collect()
}

/// Names and start values of inputs or parameters.
///
/// # Safety
/// Both pointers are NULL or hold `count` elements.
unsafe fn variables(
    (kind, letter): (&str, &str),
    given: *const *const c_char,
    starts: *const f64,
    count: usize,
) -> Result<Vec<(String, f64)>> {
    // SAFETY: the caller's promise.
    let given = unsafe { names(&format!("{kind}_names"), given, count)? };
    let starts = match starts.is_null() {
        true => vec![0.0; count],
        // SAFETY: the caller's promise.
        false => unsafe { numbers(&format!("{kind}_starts"), starts, count)? },
    };
    let name = |i: usize| (given.get(i).cloned()).unwrap_or_else(|| format!("{letter}{}", i + 1));
    Ok((starts.into_iter().enumerate())
        .map(|(i, start)| (name(i), start))
        .collect())
}

/// The nonzero entries of a matrix: as given, or all entries.
///
/// # Safety
/// Both pointers are NULL or hold `count` numbers.
unsafe fn entries(
    name: &str,
    count: usize,
    (rows, columns): (*const u32, *const u32),
    (m, n): (usize, usize),
) -> Result<Vec<(u32, u32)>> {
    if count > 0 {
        // SAFETY: the caller's promise.
        let (rows, columns) = unsafe {
            (
                pointer::slice(&format!("{name}_rows"), rows, count)?,
                pointer::slice(&format!("{name}_columns"), columns, count)?,
            )
        };
        return Ok(rows.iter().copied().zip(columns.iter().copied()).collect());
    }
    if m.saturating_mul(n) > LARGEST_DENSE {
        let expected = format!("a pattern: {m} x {n} entries are too many for a dense matrix");
        return Err(wrong(&format!("{name}_count"), 0, &expected));
    }
    Ok((0..m as u32)
        .flat_map(|i| (0..n as u32).map(move |j| (i, j)))
        .collect())
}
