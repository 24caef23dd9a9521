//! C functions as [`Equations`]: each call goes through the pointer the user gave, and nothing else happens here.

use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    BIELA_CROSSING_EITHER, BIELA_CROSSING_FALLING, BIELA_CROSSING_OFF, BIELA_CROSSING_RISING,
    BIELA_REACTION_IMPULSE, BIELA_REACTION_MODE, biela_system_definition, biela_system_function,
    biela_system_group, biela_system_point, biela_system_reaction,
};
use crate::formulation::user_system::{Callback, CallbackArguments, CallbackResult, UserEquations};
use crate::formulation::{Crossing, EventEffect};

/// The answer in the user's place where `fire` or `crossing` came back with something that means nothing.
const MEANINGLESS: CallbackResult = -1;

/// The user's functions and pointer. Clones share the user's object.
#[derive(Clone)]
pub(super) struct Functions {
    given: biela_system_definition,
    owner: Arc<Owner>,
}

/// Releases the user's object when the last clone has gone, if it was handed over.
struct Owner {
    given: biela_system_definition,
    adopted: AtomicBool,
}

// SAFETY: the user promises that any thread may use `user`; the other pointers of the definition are not looked at again.
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
            given: *definition,
            adopted: AtomicBool::new(false),
        });
        Self {
            given: *definition,
            owner,
        }
    }

    /// The instance is made: the user's object is released with it.
    pub fn adopt(&self) {
        self.owner.adopted.store(true, Ordering::Relaxed);
    }

    fn function(&self, part: Callback) -> biela_system_function {
        let given = &self.given;
        match part {
            Callback::Mass => given.mass,
            Callback::MassTimes => given.mass_times,
            Callback::Force => given.force,
            Callback::ForceByQ => given.force_by_q,
            Callback::ForceByV => given.force_by_v,
            Callback::InertiaByQ => given.inertia_by_q,
            Callback::ReactionByQ => given.reaction_by_q,
            Callback::Constraint => given.constraint,
            Callback::Jacobian => given.jacobian,
            Callback::ConstraintRate => given.constraint_rate,
            Callback::Convective => given.convective,
            Callback::Energy => given.energy,
            Callback::Power => given.power,
            _ => None,
        }
    }

    fn on_group(&self, part: Callback) -> biela_system_group {
        let given = &self.given;
        match part {
            Callback::Retract => given.retract,
            Callback::Difference => given.difference,
            Callback::Bracket => given.bracket,
            Callback::TangentInverse => given.tangent_inverse,
            _ => None,
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let (true, Some(release)) = (*self.adopted.get_mut(), self.given.release) {
            // SAFETY: the user's promise; this is the one call.
            unsafe { release(self.given.user) };
        }
    }
}

/// An array for C: NULL where it is not to be looked at.
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
        let given = &self.given;
        match part {
            Callback::Events => given.events.is_some(),
            Callback::Crossing => given.crossing.is_some(),
            Callback::Fire => given.fire.is_some(),
            Callback::Hold => given.hold.is_some(),
            Callback::Active => given.active.is_some(),
            Callback::StartModes => given.start_modes.is_some(),
            _ => self.function(part).is_some() || self.on_group(part).is_some(),
        }
    }

    fn evaluate(&self, part: Callback, at: &CallbackArguments, out: &mut [f64]) -> CallbackResult {
        let Some(function) = self.function(part) else {
            return 0;
        };
        // SAFETY: the user's promise; `out` has the length that the definition says.
        unsafe { function(self.given.user, &point(at), out.as_mut_ptr()) }
    }

    fn group(&self, part: Callback, x: &[f64], y: &[f64], out: &mut [f64]) -> CallbackResult {
        let Some(function) = self.on_group(part) else {
            return 0;
        };
        // SAFETY: the user's promise; the arrays have the lengths that the definition says.
        unsafe { function(self.given.user, x.as_ptr(), y.as_ptr(), out.as_mut_ptr()) }
    }

    fn events(&self, at: &CallbackArguments, phi: &mut [f64], rate: &mut [f64]) -> CallbackResult {
        let Some(function) = self.given.events else {
            return 0;
        };
        // SAFETY: the user's promise; both arrays hold `ne` numbers.
        unsafe {
            function(
                self.given.user,
                &point(at),
                phi.as_mut_ptr(),
                rate.as_mut_ptr(),
            )
        }
    }

    fn crossing(&self, modes: &[i32], event: usize) -> Result<Crossing, CallbackResult> {
        let Some(function) = self.given.crossing else {
            return Ok(Crossing::Either);
        };
        // SAFETY: the user's promise.
        match unsafe { function(self.given.user, array(modes), event) } {
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
        let Some(function) = self.given.fire else {
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
        let answer = unsafe {
            function(
                self.given.user,
                &point(at),
                event,
                modes.as_mut_ptr(),
                &mut reaction,
            )
        };
        let sensible = (0.0..=1.0).contains(&reaction.restitution)
            && reaction.slowest >= 0.0
            && reaction.slowest.is_finite();
        match (answer, reaction.kind) {
            (0, BIELA_REACTION_MODE) => Ok(EventEffect::Mode),
            (0, BIELA_REACTION_IMPULSE) if sensible => Ok(EventEffect::Impulse {
                restitution: reaction.restitution,
                slowest: reaction.slowest,
            }),
            (0, _) => Err(MEANINGLESS),
            (answer, _) => Err(answer),
        }
    }

    fn hold(&self, event: usize, modes: &mut [i32]) -> CallbackResult {
        let Some(function) = self.given.hold else {
            return 0;
        };
        // SAFETY: the user's promise.
        unsafe { function(self.given.user, event, modes.as_mut_ptr()) }
    }

    fn active(&self, modes: &[i32], rows: &mut [bool]) -> CallbackResult {
        let Some(function) = self.given.active else {
            return 0;
        };
        // A bool is a byte that is 0 or 1: C writes bytes, and they are made so before anybody reads them as bools.
        let (bytes, count) = (rows.as_mut_ptr().cast::<u8>(), rows.len());
        // SAFETY: the user's promise; `rows` has `nc` bytes, all 1, and is not used as bools until the loop is over.
        unsafe {
            let answer = function(self.given.user, array(modes), bytes);
            for i in 0..count {
                *bytes.add(i) = u8::from(*bytes.add(i) != 0);
            }
            answer
        }
    }

    fn start_modes(&self, at: &CallbackArguments, modes: &mut [i32]) -> CallbackResult {
        let Some(function) = self.given.start_modes else {
            return 0;
        };
        // SAFETY: the user's promise.
        unsafe { function(self.given.user, &point(at), modes.as_mut_ptr()) }
    }
}
