//! User-defined systems: equations given as C functions,
//!
//! ```text
//!   M(q) a + G(q, t)ᵀ λ = f(q, v, t, u, p),      Φ(q, t, u, p) = 0,      G = ∂Φ/∂q
//! ```
//!
//! The result is an ordinary instance. This file has the C types; `system/functions.rs` calls the functions and
//! `system/read.rs` checks a definition. The computations are in [`crate::formulation::user_system`].

mod functions;
mod read;

use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::Arc;

use super::gate::{CallFailure, CallResult, create, gate};
use super::instance::biela_instance;
use super::status::biela_status;
use super::versioned_struct::{self, VersionedStruct};
use crate::component::Instance;
use crate::error::{Error, Result};
use crate::ffi::pointer::{self, c_string};
use crate::formulation::user_system::{
    CallbackFailure, CallbackFailures, FailureKind, UserSystem, UserSystemShape,
};
use crate::model::Model;

use functions::Functions;

/// `biela_system_definition.flags`: M does not depend on q.
pub const BIELA_SYSTEM_CONSTANT_MASS: u32 = 1;
/// `biela_system_definition.flags`: f does not depend on v.
pub const BIELA_SYSTEM_NO_VELOCITY_FORCES: u32 = 2;
/// `biela_system_definition.flags`: the constraints depend neither on time nor on inputs.
pub const BIELA_SYSTEM_FIXED_CONSTRAINTS: u32 = 4;
/// `biela_system_definition.flags`: M, df/dq, df/dv and the constraints' Jacobian are constant.
pub const BIELA_SYSTEM_LINEAR: u32 = 8;

/// `biela_system_reaction.kind`: only the modes have changed.
pub const BIELA_REACTION_MODE: i32 = 0;
/// `biela_system_reaction.kind`: an impulse along the gradient.
pub const BIELA_REACTION_IMPULSE: i32 = 1;

/// Answer of `crossing`: inactive in this mode.
pub const BIELA_CROSSING_OFF: i32 = 0;
/// Answer of `crossing`: from negative to positive.
pub const BIELA_CROSSING_RISING: i32 = 1;
/// Answer of `crossing`: from positive to negative.
pub const BIELA_CROSSING_FALLING: i32 = 2;
/// Answer of `crossing`: both.
pub const BIELA_CROSSING_EITHER: i32 = 3;

/// Arguments of a function of a system. Arrays have the lengths of the definition, belong to the
/// library and are valid during the call only; those a function must not depend on are NULL.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct biela_system_point {
    /// Size of this struct in the library; later versions may add fields at the end.
    pub struct_size: usize,
    /// Time (s).
    pub time: f64,
    /// Coordinates, `nq`.
    pub q: *const f64,
    /// Velocities, `nv`.
    pub v: *const f64,
    /// Accelerations, `nv`.
    pub a: *const f64,
    /// Multipliers, `nc`.
    pub lambda: *const f64,
    /// Inputs.
    pub u: *const f64,
    /// Their first time derivatives.
    pub u_dot: *const f64,
    /// Their second time derivatives.
    pub u_ddot: *const f64,
    /// Parameters.
    pub p: *const f64,
    /// Modes.
    pub modes: *const i32,
}

/// Effect of an event, filled by `fire`. It comes as `BIELA_REACTION_MODE` with a zero gradient.
///
/// An impulse changes the velocities along `gradient` (the gradient n of the event function, `nv`, to be written) so that n.v
/// afterwards is `-restitution` times n.v before. If |n.v| is below `slowest` the impact is plastic and `hold` is called.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct biela_system_reaction {
    /// Size of this struct in the library; later versions may add fields at the end.
    pub struct_size: usize,
    /// `BIELA_REACTION_MODE` or `BIELA_REACTION_IMPULSE`.
    pub kind: i32,
    /// 0 to 1.
    pub restitution: f64,
    /// Smallest |n.v| that rebounds.
    pub slowest: f64,
    /// To be filled with n, `nv` numbers, zeroed.
    pub gradient: *mut f64,
}

/// A function of a system: reads `at`, writes `out`, which comes zeroed.
///
/// It returns 0 (success), a positive number (recoverable failure: the solver tries a shorter step) or a negative number (stop:
/// the call ends with `BIELA_STATUS_ERROR_CALLBACK`). NaN and infinities count as recoverable failures and are reported if no
/// step is short enough.
#[allow(non_camel_case_types)]
pub type biela_system_function = Option<
    unsafe extern "C" fn(user: *mut c_void, at: *const biela_system_point, out: *mut f64) -> i32,
>;

/// A function of coordinates that are not a vector space; returns as `biela_system_function`.
#[allow(non_camel_case_types)]
pub type biela_system_group = Option<
    unsafe extern "C" fn(user: *mut c_void, x: *const f64, y: *const f64, out: *mut f64) -> i32,
>;

/// Event functions `phi` and their time derivatives along the motion (come as NaN: not given), `ne` each. 0, or any other number to stop.
#[allow(non_camel_case_types)]
pub type biela_system_events = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        at: *const biela_system_point,
        phi: *mut f64,
        rate: *mut f64,
    ) -> i32,
>;

/// The crossings of an event that count in these modes: a `BIELA_CROSSING_...`, or a negative number to stop.
#[allow(non_camel_case_types)]
pub type biela_system_crossing =
    Option<unsafe extern "C" fn(user: *mut c_void, modes: *const i32, event: usize) -> i32>;

/// An event has occurred: change `modes`, fill `reaction`. 0, or any other number to stop.
#[allow(non_camel_case_types)]
pub type biela_system_fire = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        at: *const biela_system_point,
        event: usize,
        modes: *mut i32,
        reaction: *mut biela_system_reaction,
    ) -> i32,
>;

/// An impact is too slow to rebound: enter the mode that keeps the contact closed (usually an active constraint). 0, or any
/// other number to stop.
#[allow(non_camel_case_types)]
pub type biela_system_hold =
    Option<unsafe extern "C" fn(user: *mut c_void, event: usize, modes: *mut i32) -> i32>;

/// The constraints that are active in these modes; `rows` (`nc`) come as 1. 0, or any other number to stop.
#[allow(non_camel_case_types)]
pub type biela_system_active =
    Option<unsafe extern "C" fn(user: *mut c_void, modes: *const i32, rows: *mut u8) -> i32>;

/// The modes at the start; they come as 0. 0, or any other number to stop.
#[allow(non_camel_case_types)]
pub type biela_system_modes = Option<
    unsafe extern "C" fn(user: *mut c_void, at: *const biela_system_point, modes: *mut i32) -> i32,
>;

/// Called once with `user` when the instance is freed.
#[allow(non_camel_case_types)]
pub type biela_system_release = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// A user-defined system: M(q) a + G^T lambda = f(q, v, t, u, p), Phi(q, t, u, p) = 0, G = dPhi/dq.
///
/// Call `biela_system_definition_default` on it, then fill what you have. Needed: `nv`, `q`, `force`, one of
/// `mass` and `mass_times`, `constraint` where `nc` > 0, `events` where `ne` > 0. What is left NULL is differenced
/// or has the default given below. Everything is copied; only `user` and the functions are used afterwards.
///
/// The functions are called during calls on the instance, on the thread of that call, one at a time. They
/// must depend on their arguments only (`user` holds constants), or saved states cannot be restored exactly.
/// They must return: a longjmp or an exception out of them is not allowed. A call on the same instance
/// from inside them is answered with `BIELA_STATUS_BUSY`; `biela_cancel` works.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct biela_system_definition {
    /// `sizeof(biela_system_definition)` as you know it; later versions may add fields at the end.
    pub struct_size: usize,
    /// Passed to every function. The library does not use it.
    pub user: *mut c_void,
    /// Called with `user` when the instance is freed, not where its creation fails. NULL: `user` stays yours.
    pub release: biela_system_release,
    /// Name of the system for messages. NULL: "system".
    pub name: *const c_char,
    /// Settings: the keys of `[solver]` of a model file as text, one a line, such as "tolerance = 1e-8\nalpha = 0". NULL: defaults.
    pub solver: *const c_char,
    /// Promises that save work: a sum of `BIELA_SYSTEM_...`. 0 is always right.
    pub flags: u32,
    /// Stored coordinates. 0: as many as `nv`.
    pub nq: usize,
    /// Velocities, accelerations, equations of motion.
    pub nv: usize,
    /// Constraints.
    pub nc: usize,
    /// Event functions.
    pub ne: usize,
    /// Modes: whole numbers that only events change.
    pub modes: usize,
    /// Inputs.
    pub inputs: usize,
    /// Parameters.
    pub parameters: usize,
    /// Coordinates at start, `nq`; a guess where there are constraints.
    pub q: *const f64,
    /// Velocities at start, `nv`. NULL: zero.
    pub v: *const f64,
    /// Size of each coordinate, `nv`, > 0: the error norm is relative to the larger of it and the coordinate,
    /// and differences step by a small part of it. NULL: 1.
    pub weights: *const f64,
    /// Scale of each constraint, `nc`, > 0: residuals are judged relative to it. NULL: determined at the start.
    pub constraint_scales: *const f64,
    /// Inputs until they are set. NULL: zero.
    pub input_starts: *const f64,
    /// Parameters until they are set. NULL: zero.
    pub parameter_starts: *const f64,
    /// Names of the inputs as variables. NULL: u1, u2, ..
    pub input_names: *const *const c_char,
    /// Names of the parameters as variables. NULL: p1, p2, ..
    pub parameter_names: *const *const c_char,
    /// Names of the coordinates in messages, `nv`. NULL: q1, q2, ..
    pub coordinate_names: *const *const c_char,
    /// Names of the constraints in messages. NULL: lambda1, lambda2, ..
    pub constraint_names: *const *const c_char,
    /// Names of the events in messages. NULL: event1, event2, ..
    pub event_names: *const *const c_char,
    /// Number of nonzero entries of the `nv` x `nv` matrices. 0: they are dense, stored row by row.
    pub tangent_count: usize,
    /// Their rows, counted from 0; each entry once. M and the four derivatives have the same pattern.
    pub tangent_rows: *const u32,
    /// Their columns.
    pub tangent_columns: *const u32,
    /// Number of nonzero entries of G, `nc` x `nv`. 0: it is dense, stored row by row.
    pub jacobian_count: usize,
    /// Their rows, counted from 0; each entry once.
    pub jacobian_rows: *const u32,
    /// Their columns.
    pub jacobian_columns: *const u32,
    /// M(q), in the order of the tangent pattern. Depends on q.
    pub mass: biela_system_function,
    /// M(q) a, `nv`. Depends on q, a.
    pub mass_times: biela_system_function,
    /// f, `nv`, velocity-dependent inertia forces included. Depends on q, v.
    pub force: biela_system_function,
    /// df/dq, in the order of the tangent pattern. Depends on q, v. NULL: differenced, as the next three.
    pub force_by_q: biela_system_function,
    /// df/dv, in the order of the tangent pattern. Depends on q, v.
    pub force_by_v: biela_system_function,
    /// d(M a)/dq, in the order of the tangent pattern. Depends on q, a.
    pub inertia_by_q: biela_system_function,
    /// d(G^T lambda)/dq, in the order of the tangent pattern. Depends on q, lambda.
    pub reaction_by_q: biela_system_function,
    /// Phi, `nc`. Depends on q.
    pub constraint: biela_system_function,
    /// G, in the order of the jacobian pattern. Depends on q. NULL: differenced, as the next two.
    pub jacobian: biela_system_function,
    /// dPhi/dt with q fixed and inputs changing, `nc`. Depends on q.
    pub constraint_rate: biela_system_function,
    /// d(G v)/dq v + 2 dG/dt v + d2Phi/dt2, `nc`: G a plus this is zero. Depends on q, v.
    pub convective: biela_system_function,
    /// Kinetic and potential energy, 2 numbers. Depends on q, v. NULL: there are no variables energy.kinetic, ..
    pub energy: biela_system_function,
    /// Power dissipated by dampers and supplied by drives, 2 numbers. Depends on q, v. NULL: none.
    pub power: biela_system_function,
    /// out (`nq`) = x (`nq`) moved by y (`nv`). NULL: x + y. Given, it needs the next three too.
    pub retract: biela_system_group,
    /// out (`nv`) with x moved by out = y (`nq` both).
    pub difference: biela_system_group,
    /// out = Lie bracket of x and y, all `nv`.
    pub bracket: biela_system_group,
    /// out = T(x)^-1 y, all `nv`, T the tangent of the exponential.
    pub tangent_inverse: biela_system_group,
    /// Event functions.
    pub events: biela_system_events,
    /// Directions of the crossings that count. NULL: both directions of all events.
    pub crossing: biela_system_crossing,
    /// Effect of an event. NULL: the integration restarts, nothing else.
    pub fire: biela_system_fire,
    /// Called after a plastic impact.
    pub hold: biela_system_hold,
    /// Active constraints. NULL: all.
    pub active: biela_system_active,
    /// Modes at start. NULL: zero.
    pub start_modes: biela_system_modes,
}

// SAFETY: repr(C), begins with struct_size.
unsafe impl VersionedStruct for biela_system_definition {
    const NAME: &'static str = "biela_system_definition";
    const OLDEST: usize =
        offset_of!(biela_system_definition, start_modes) + size_of::<biela_system_modes>();
}

// The struct only ever grows.
const _: () = assert!(biela_system_definition::OLDEST <= size_of::<biela_system_definition>());

/// Zeroes the struct and sets its `struct_size`. Call it with `sizeof(biela_system_definition)` of your header.
///
/// # Safety
/// `definition` is NULL or points to `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_system_definition_default(
    definition: *mut biela_system_definition,
    struct_size: usize,
) -> biela_status {
    // SAFETY: the caller's promise.
    create(|| unsafe {
        Ok(versioned_struct::default_struct(
            "definition",
            definition,
            struct_size,
        )?)
    })
}

/// Makes an instance of a user-defined system. Its variables are the inputs, q1 .., v1 .., a1 .., lambda1 .. as outputs,
/// energies where `energy` is given, and the parameters. All other functions work on it as on any instance.
///
/// `*out` is the new instance, or NULL on failure; `biela_last_error(NULL)` on the same thread then has the
/// sentence. End the instance with `biela_instance_free`.
///
/// # Safety
/// `definition` is NULL or points to a struct whose `struct_size` is set, with arrays as long as it says, names that are
/// NUL-terminated, functions that do what it says, and a `user` that any thread may use; `out` is NULL or
/// points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_system_new(
    definition: *const biela_system_definition,
    out: *mut *mut biela_instance,
) -> biela_status {
    create(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { pointer::out("out", out)? };
        out.write(null_mut());
        // SAFETY: the caller's promise.
        let definition = unsafe { read::definition(definition)? };
        // SAFETY: the caller's promise.
        let (model, shape) = unsafe { read::contents(&definition)? };
        let mut callbacks = Callbacks {
            functions: Functions::new(&definition),
            shape,
            failures: Arc::default(),
            answer: 0,
        };
        let component = callbacks.component(&model)?;
        // From now on the instance owns the user's object.
        callbacks.functions.adopt();
        out.write(biela_instance::new(component, Some(callbacks)));
        Ok(())
    })
}

/// The last answer other than 0 that a function of the system gave in a call that failed because of it; 0 if there was
/// none since the instance was made or reset.
///
/// # Safety
/// `instance` is NULL or a live handle made by `biela_system_new`; `answer` is NULL or points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_system_answer(
    instance: *mut biela_instance,
    answer: *mut i32,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_system_answer", |content| {
            let answer = pointer::out("answer", answer)?;
            let Some(callbacks) = &content.callbacks else {
                return Err(Error::Argument {
                    name: "instance of biela_system_answer".to_owned(),
                    value: "made from a model file".to_owned(),
                    expected: "one made by biela_system_new".to_owned(),
                }
                .into());
            };
            answer.write(callbacks.answer);
            Ok(())
        })
    }
}

/// The functions of a user-defined system, kept by its instance.
pub(super) struct Callbacks {
    functions: Functions,
    shape: UserSystemShape,
    /// Failures of the system in use.
    failures: Arc<CallbackFailures>,
    /// The last return value that made a call fail.
    answer: i32,
}

impl Callbacks {
    /// A new instance of the same equations.
    pub(super) fn component(&mut self, model: &Model) -> Result<Instance> {
        let system = UserSystem::new(self.functions.clone(), self.shape.clone())?;
        self.failures = system.troubles();
        Instance::from_mechanism(model.clone(), Box::new(system))
    }

    /// Forgets failures and return value.
    pub(super) fn forget(&mut self) {
        self.answer = 0;
        self.failures.clear();
    }

    /// Replaces a failure by the failure of a user's function that caused it. `time` is the instance's time, if it has one.
    pub(super) fn explain(&mut self, result: CallResult, time: Option<f64>) -> CallResult {
        let Some(callback_failure) = self.failures.take() else {
            return result;
        };
        let numeric = [
            biela_status::ErrorNumeric,
            biela_status::ErrorAssembly,
            biela_status::ErrorCallback,
        ];
        // A failure before the last accepted step was overcome by a shorter step.
        let overcome = time.is_some_and(|now| callback_failure.time < now - DIFFERENCED);
        let is_cause = match &result {
            Ok(()) => callback_failure.ends,
            Err(failure) if failure.status == biela_status::Panic => false,
            Err(failure) => {
                callback_failure.ends || (numeric.contains(&failure.status) && !overcome)
            }
        };
        if !is_cause {
            return result;
        }
        if let FailureKind::Answered(answer) = callback_failure.what {
            self.answer = answer;
        }
        Err(CallFailure {
            status: match callback_failure.what {
                FailureKind::Answered(_) => biela_status::ErrorCallback,
                FailureKind::NotFinite(..) => biela_status::ErrorNumeric,
            },
            sentence: c_string(&sentence(&callback_failure)),
        })
    }
}

/// Largest time by which differences of a user's function go back (s).
const DIFFERENCED: f64 = 4e-3;

fn sentence(failure: &CallbackFailure) -> String {
    let part = failure.part.name();
    let when = match failure.time.is_nan() {
        true => String::new(),
        false => format!(" at t = {} s", failure.time),
    };
    match failure.what {
        FailureKind::Answered(answer) if failure.ends => {
            format!("the function \"{part}\" answered {answer}{when}: stop")
        }
        FailureKind::Answered(answer) => format!(
            "the function \"{part}\" answered {answer}{when}: not here, and no step was short enough to avoid it"
        ),
        FailureKind::NotFinite(i, value) => {
            format!("the function \"{part}\" wrote {value} at [{i}]{when}")
        }
    }
}
