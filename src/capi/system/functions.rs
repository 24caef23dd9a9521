//! The user's C functions as [`UserEquations`]: each method calls one function pointer.

use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    BIELA_CROSSING_EITHER, BIELA_CROSSING_FALLING, BIELA_CROSSING_OFF, BIELA_CROSSING_RISING,
    BIELA_REACTION_IMPULSE, BIELA_REACTION_MODE, biela_system_definition, biela_system_function,
    biela_system_group, biela_system_point, biela_system_reaction,
};
use crate::ffi::float_environment::in_host_environment;
use crate::formulation::user_system::{Callback, CallbackArguments, CallbackResult, UserEquations};
use crate::formulation::{Crossing, EventEffect};

/// Result of `fire` or `crossing` if the user's function wrote or returned an illegal value.
const ILLEGAL_VALUE: CallbackResult = -1;

/// The user's functions and pointer. Clones share the user's object.
#[derive(Clone)]
pub(super) struct Functions {
    definition: biela_system_definition,
    owner: Arc<Owner>,
}

/// Releases the user's object when the last clone is dropped, if the instance owns it.
struct Owner {
    definition: biela_system_definition,
    owned: AtomicBool,
}

// SAFETY: the user promises that any thread may use `user`; the other pointers of the definition are not used again.
unsafe impl Send for Functions {}
// SAFETY: as above; the calls on an instance come one at a time.
unsafe impl Sync for Functions {}
// SAFETY: as above.
unsafe impl Send for Owner {}
// SAFETY: as above.
unsafe impl Sync for Owner {}

impl Functions {
    pub fn new(definition: &biela_system_definition) -> Self {
        let owner = Arc::new(Owner {
            definition: *definition,
            owned: AtomicBool::new(false),
        });
        Self {
            definition: *definition,
            owner,
        }
    }

    /// Gives the user's object to the instance, which releases it.
    pub fn adopt(&self) {
        self.owner.owned.store(true, Ordering::Relaxed);
    }

    fn function(&self, part: Callback) -> biela_system_function {
        let definition = &self.definition;
        match part {
            Callback::Mass => definition.mass,
            Callback::MassTimes => definition.mass_times,
            Callback::Force => definition.force,
            Callback::ForceByQ => definition.force_by_q,
            Callback::ForceByV => definition.force_by_v,
            Callback::InertiaByQ => definition.inertia_by_q,
            Callback::ReactionByQ => definition.reaction_by_q,
            Callback::Constraint => definition.constraint,
            Callback::Jacobian => definition.jacobian,
            Callback::ConstraintRate => definition.constraint_rate,
            Callback::Convective => definition.convective,
            Callback::Energy => definition.energy,
            Callback::Power => definition.power,
            _ => None,
        }
    }

    fn on_group(&self, part: Callback) -> biela_system_group {
        let definition = &self.definition;
        match part {
            Callback::Retract => definition.retract,
            Callback::Difference => definition.difference,
            Callback::Bracket => definition.bracket,
            Callback::TangentInverse => definition.tangent_inverse,
            _ => None,
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let (true, Some(release)) = (*self.owned.get_mut(), self.definition.release) {
            // SAFETY: the user's promise; this is the one call.
            in_host_environment(|| unsafe { release(self.definition.user) });
        }
    }
}

/// Pointer to an array; NULL if it is empty.
fn array<T>(values: &[T]) -> *const T {
    match values.is_empty() {
        true => null(),
        false => values.as_ptr(),
    }
}

fn point(at: &CallbackArguments) -> biela_system_point {
    biela_system_point {
        struct_size: size_of::<biela_system_point>(),
        time: at.cx.t,
        q: array(at.q),
        v: array(at.v),
        a: array(at.a),
        lambda: array(at.lambda),
        u: array(at.cx.u),
        u_dot: array(at.cx.u_dot),
        u_ddot: array(at.cx.u_ddot),
        p: array(at.cx.p),
        modes: array(at.cx.modes),
    }
}

impl UserEquations for Functions {
    fn has(&self, part: Callback) -> bool {
        let definition = &self.definition;
        match part {
            Callback::Events => definition.events.is_some(),
            Callback::Crossing => definition.crossing.is_some(),
            Callback::Fire => definition.fire.is_some(),
            Callback::Hold => definition.hold.is_some(),
            Callback::Active => definition.active.is_some(),
            Callback::StartModes => definition.start_modes.is_some(),
            _ => self.function(part).is_some() || self.on_group(part).is_some(),
        }
    }

    fn evaluate(&self, part: Callback, at: &CallbackArguments, out: &mut [f64]) -> CallbackResult {
        let Some(function) = self.function(part) else {
            return 0;
        };
        // SAFETY: the user's promise; `out` has the length that the definition says.
        in_host_environment(|| unsafe {
            function(self.definition.user, &point(at), out.as_mut_ptr())
        })
    }

    fn group(&self, part: Callback, x: &[f64], y: &[f64], out: &mut [f64]) -> CallbackResult {
        let Some(function) = self.on_group(part) else {
            return 0;
        };
        // SAFETY: the user's promise; the arrays have the lengths that the definition says.
        in_host_environment(|| unsafe {
            function(
                self.definition.user,
                x.as_ptr(),
                y.as_ptr(),
                out.as_mut_ptr(),
            )
        })
    }

    fn events(&self, at: &CallbackArguments, phi: &mut [f64], rate: &mut [f64]) -> CallbackResult {
        let Some(function) = self.definition.events else {
            return 0;
        };
        // SAFETY: the user's promise; both arrays hold `ne` numbers.
        in_host_environment(|| unsafe {
            function(
                self.definition.user,
                &point(at),
                phi.as_mut_ptr(),
                rate.as_mut_ptr(),
            )
        })
    }

    fn crossing(&self, modes: &[i32], event: usize) -> Result<Crossing, CallbackResult> {
        let Some(function) = self.definition.crossing else {
            return Ok(Crossing::Either);
        };
        // SAFETY: the user's promise.
        let answer =
            in_host_environment(|| unsafe { function(self.definition.user, array(modes), event) });
        match answer {
            BIELA_CROSSING_OFF => Ok(Crossing::Off),
            BIELA_CROSSING_RISING => Ok(Crossing::Rising),
            BIELA_CROSSING_FALLING => Ok(Crossing::Falling),
            BIELA_CROSSING_EITHER => Ok(Crossing::Either),
            answer => Err(answer),
        }
    }

    fn fire(
        &self,
        at: &CallbackArguments,
        event: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> Result<EventEffect, CallbackResult> {
        let Some(function) = self.definition.fire else {
            return Ok(EventEffect::Mode);
        };
        let mut reaction = biela_system_reaction {
            struct_size: size_of::<biela_system_reaction>(),
            kind: BIELA_REACTION_MODE,
            restitution: 0.0,
            slowest: 0.0,
            gradient: n.as_mut_ptr(),
        };
        // SAFETY: the user's promise; `modes` and the gradient have the lengths that the definition says.
        let answer = in_host_environment(|| unsafe {
            function(
                self.definition.user,
                &point(at),
                event,
                modes.as_mut_ptr(),
                &mut reaction,
            )
        });
        let legal = (0.0..=1.0).contains(&reaction.restitution)
            && reaction.slowest >= 0.0
            && reaction.slowest.is_finite();
        match (answer, reaction.kind) {
            (0, BIELA_REACTION_MODE) => Ok(EventEffect::Mode),
            (0, BIELA_REACTION_IMPULSE) if legal => Ok(EventEffect::Impulse {
                restitution: reaction.restitution,
                slowest: reaction.slowest,
                poisson: false,
            }),
            (0, _) => Err(ILLEGAL_VALUE),
            (answer, _) => Err(answer),
        }
    }

    fn hold(&self, event: usize, modes: &mut [i32]) -> CallbackResult {
        let Some(function) = self.definition.hold else {
            return 0;
        };
        // SAFETY: the user's promise.
        in_host_environment(|| unsafe { function(self.definition.user, event, modes.as_mut_ptr()) })
    }

    fn active(&self, modes: &[i32], rows: &mut [bool]) -> CallbackResult {
        let Some(function) = self.definition.active else {
            return 0;
        };
        // C writes any byte; a bool must be 0 or 1. The bytes are normalised before they are read as bools.
        let (bytes, count) = (rows.as_mut_ptr().cast::<u8>(), rows.len());
        // SAFETY: the user's promise; `rows` has `nc` bytes, all 1, and is not read as bools before the loop has ended.
        unsafe {
            let answer =
                in_host_environment(|| function(self.definition.user, array(modes), bytes));
            for i in 0..count {
                *bytes.add(i) = u8::from(*bytes.add(i) != 0);
            }
            answer
        }
    }

    fn start_modes(&self, at: &CallbackArguments, modes: &mut [i32]) -> CallbackResult {
        let Some(function) = self.definition.start_modes else {
            return 0;
        };
        // SAFETY: the user's promise.
        in_host_environment(|| unsafe {
            function(self.definition.user, &point(at), modes.as_mut_ptr())
        })
    }
}
