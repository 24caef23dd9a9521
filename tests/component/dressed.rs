//! Any [`System`] dressed as C functions, so that the whole zoo of hand-written systems can be driven through
//! `biela_system_new` and compared with itself; and the calls on an instance with their statuses turned into text.

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use biela::capi::instance::{biela_instance, biela_instance_free, biela_last_error};
use biela::capi::status::biela_status;
use biela::capi::step::{biela_initialize, biela_step, biela_time};
use biela::capi::system::*;
use biela::capi::value::{biela_get_real, biela_set_real};
use biela::capi::variable::biela_variable_find;
use biela::formulation::{
    Crossing, EvaluationContext, EvaluationFailure, EventEffect, MotionPoint, System,
    TangentWeights,
};

/// How much of a system's derivatives C gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// All of them.
    All,
    /// The constraints' Jacobian and γ only.
    Geometry,
    /// None: everything is differenced.
    Nothing,
}

/// A system and how often it has been asked.
pub struct Dressed {
    pub system: Box<dyn System>,
    pub calls: AtomicU64,
    pub released: *const AtomicU64,
    /// A definition's own places are unique; those of a system may not be.
    places: Vec<(u32, u32)>,
}

fn unique(places: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut unique = places.to_vec();
    unique.sort_unstable();
    unique.dedup();
    unique
}

/// The array behind a C pointer; NULL where it is not given.
unsafe fn array<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    match pointer.is_null() {
        true => &[],
        false => unsafe { std::slice::from_raw_parts(pointer, count) },
    }
}

impl Dressed {
    fn answer(outcome: Result<(), EvaluationFailure>) -> i32 {
        match outcome {
            Ok(()) => 0,
            Err(EvaluationFailure::Recoverable(code) | EvaluationFailure::Fatal(code)) => code,
        }
    }

    /// Adds up a matrix of the system in the order of the unique places.
    fn matrix(
        &self,
        places: &[(u32, u32)],
        values: &[f64],
        unique: &[(u32, u32)],
        out: &mut [f64],
    ) {
        for (place, value) in places.iter().zip(values) {
            let k = unique.binary_search(place).expect("one of them");
            out[k] += value;
        }
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: [f64; 3],
        sign: f64,
        out: &mut [f64],
    ) -> i32 {
        let places = self.system.sparsity().tangent;
        let mut values = vec![0.0; places.len()];
        let [mass, damping, stiffness] = weights;
        let weights = TangentWeights {
            mass,
            damping,
            stiffness,
            theta: &[],
        };
        let outcome = (self.system).tangent(cx, at, &weights, &mut values);
        for value in &mut values {
            *value *= sign;
        }
        self.matrix(&places, &values, &self.places, out);
        Self::answer(outcome)
    }
}

/// Calls `action` with the system, its context and the point.
unsafe fn with(
    user: *mut c_void,
    at: *const biela_system_point,
    action: impl FnOnce(&Dressed, &EvaluationContext, &MotionPoint) -> i32,
) -> i32 {
    let (me, at) = unsafe { (&*user.cast::<Dressed>(), &*at) };
    assert_eq!(at.struct_size, size_of::<biela_system_point>());
    me.calls.fetch_add(1, Ordering::Relaxed);
    let size = me.system.dimensions();
    let zero = (vec![0.0; size.nv], vec![0.0; size.nc]);
    unsafe {
        let cx = EvaluationContext {
            t: at.time,
            u: array(at.u, size.inputs),
            u_dot: array(at.u_dot, size.inputs),
            u_ddot: array(at.u_ddot, size.inputs),
            p: array(at.p, size.parameters),
            modes: array(at.modes, size.modes),
            integrals: &[],
        };
        fn or<'a>(given: &'a [f64], zero: &'a [f64]) -> &'a [f64] {
            match given.is_empty() {
                true => zero,
                false => given,
            }
        }
        let motion = MotionPoint {
            q: array(at.q, size.nq),
            v: or(array(at.v, size.nv), &zero.0),
            a: or(array(at.a, size.nv), &zero.0),
            lambda: or(array(at.lambda, size.nc), &zero.1),
        };
        action(me, &cx, &motion)
    }
}

macro_rules! functions {
    ($($name:ident($me:ident, $cx:ident, $at:ident, $out:ident: $length:expr) $body:block)*) => {$(
        unsafe extern "C" fn $name(user: *mut c_void, at: *const biela_system_point, out: *mut f64) -> i32 {
            unsafe {
                with(user, at, |$me, $cx, $at| {
                    let $out = std::slice::from_raw_parts_mut(out, $length($me));
                    assert!($out.iter().all(|x| *x == 0.0), "it comes zeroed");
                    $body
                })
            }
        }
    )*};
}

fn nv(me: &Dressed) -> usize {
    me.system.dimensions().nv
}
fn nc(me: &Dressed) -> usize {
    me.system.dimensions().nc
}
fn places(me: &Dressed) -> usize {
    me.places.len()
}

functions! {
    mass(me, cx, at, out: places) { me.tangent(cx, at, [1.0, 0.0, 0.0], 1.0, out) }
    mass_times(me, cx, at, out: nv) { me.system.mass_times(cx, at.q, at.a, out); 0 }
    force(me, cx, at, out: nv) { Dressed::answer(me.system.force(cx, at.q, at.v, out)) }
    force_by_q(me, cx, at, out: places) { me.tangent(cx, at, [0.0, 0.0, 1.0], -1.0, out) }
    force_by_v(me, cx, at, out: places) { me.tangent(cx, at, [0.0, 1.0, 0.0], -1.0, out) }
    inertia_by_q(me, cx, at, out: places) { difference_of_terms(me, cx, at, true, out) }
    reaction_by_q(me, cx, at, out: places) { difference_of_terms(me, cx, at, false, out) }
    constraint(me, cx, at, out: nc) { me.system.constraint(cx, at.q, out); 0 }
    constraint_rate(me, cx, at, out: nc) { me.system.constraint_rate(cx, at.q, out); 0 }
    convective(me, cx, at, out: nc) { me.system.constraint_acceleration_bias(cx, at.q, at.v, out); 0 }
    jacobian(me, cx, at, out: |me: &Dressed| unique(&me.system.sparsity().jacobian).len()) {
        let places = me.system.sparsity().jacobian;
        let mut values = vec![0.0; places.len()];
        me.system.jacobian(cx, at.q, &mut values);
        me.matrix(&places, &values, &unique(&places), out);
        0
    }
    energy(me, cx, at, out: |_: &Dressed| 2) {
        let energy = me.system.energy(cx, at.q, at.v);
        out.copy_from_slice(&[energy.kinetic, energy.potential]);
        0
    }
    power(me, cx, at, out: |_: &Dressed| 2) {
        let power = me.system.power(cx, at.q, at.v);
        out.copy_from_slice(&[power.dissipated, power.supplied]);
        0
    }
}

/// ∂(M a)/∂q or ∂(Gᵀλ)/∂q: K with it less K without it.
fn difference_of_terms(
    me: &Dressed,
    cx: &EvaluationContext,
    at: &MotionPoint,
    inertia: bool,
    out: &mut [f64],
) -> i32 {
    let none = (vec![0.0; at.a.len()], vec![0.0; at.lambda.len()]);
    let with = MotionPoint {
        a: if inertia { at.a } else { &none.0 },
        lambda: if inertia { &none.1 } else { at.lambda },
        ..*at
    };
    let without = MotionPoint {
        a: &none.0,
        lambda: &none.1,
        ..*at
    };
    let first = me.tangent(cx, &with, [0.0, 0.0, 1.0], 1.0, out);
    first | me.tangent(cx, &without, [0.0, 0.0, 1.0], -1.0, out)
}

macro_rules! on_group {
    ($($name:ident $x:ident $y:ident $z:ident |$me:ident, $a:ident, $b:ident, $out:ident| $body:block)*) => {$(
        unsafe extern "C" fn $name(user: *mut c_void, x: *const f64, y: *const f64, out: *mut f64) -> i32 {
            unsafe {
                let $me = &*user.cast::<Dressed>();
                let size = $me.system.dimensions();
                let $a = array(x, size.$x);
                let $b = array(y, size.$y);
                let $out = std::slice::from_raw_parts_mut(out, size.$z);
                $body
            }
            0
        }
    )*};
}

on_group! {
    retract nq nv nq |me, q, w, out| { me.system.retract(q, w, out) }
    difference nq nq nv |me, q0, q1, out| { me.system.difference(q0, q1, out) }
    bracket nv nv nv |me, x, y, out| { me.system.bracket(x, y, out) }
    tangent_inverse nv nv nv |me, theta, y, out| {
        out.copy_from_slice(y);
        me.system.tangent_inverse(theta, out)
    }
}

unsafe extern "C" fn events(
    user: *mut c_void,
    at: *const biela_system_point,
    phi: *mut f64,
    rate: *mut f64,
) -> i32 {
    unsafe {
        with(user, at, |me, cx, at| {
            let ne = me.system.dimensions().ne;
            let phi = std::slice::from_raw_parts_mut(phi, ne);
            let rate = std::slice::from_raw_parts_mut(rate, ne);
            me.system.event_functions(cx, at, phi, rate);
            0
        })
    }
}

unsafe extern "C" fn crossing(user: *mut c_void, modes: *const i32, event: usize) -> i32 {
    let me = unsafe { &*user.cast::<Dressed>() };
    let modes = unsafe { array(modes, me.system.dimensions().modes) };
    match me.system.crossing(modes, event) {
        Crossing::Off => BIELA_CROSSING_OFF,
        Crossing::Rising => BIELA_CROSSING_RISING,
        Crossing::Falling => BIELA_CROSSING_FALLING,
        Crossing::Either => BIELA_CROSSING_EITHER,
    }
}

unsafe extern "C" fn fire(
    user: *mut c_void,
    at: *const biela_system_point,
    event: usize,
    modes: *mut i32,
    reaction: *mut biela_system_reaction,
) -> i32 {
    unsafe {
        with(user, at, |me, cx, at| {
            let size = me.system.dimensions();
            let reaction = &mut *reaction;
            let n = std::slice::from_raw_parts_mut(reaction.gradient, size.nv);
            let modes = match size.modes {
                0 => &mut [],
                count => std::slice::from_raw_parts_mut(modes, count),
            };
            if let EventEffect::Impulse {
                restitution,
                slowest,
                ..
            } = me.system.handle_event(cx, at, event, modes, n)
            {
                reaction.kind = BIELA_REACTION_IMPULSE;
                reaction.restitution = restitution;
                reaction.slowest = slowest;
            }
            0
        })
    }
}

unsafe extern "C" fn hold(user: *mut c_void, event: usize, modes: *mut i32) -> i32 {
    let me = unsafe { &*user.cast::<Dressed>() };
    let count = me.system.dimensions().modes;
    me.system.activate_unilateral(event, unsafe {
        std::slice::from_raw_parts_mut(modes, count)
    });
    0
}

unsafe extern "C" fn active(user: *mut c_void, modes: *const i32, rows: *mut u8) -> i32 {
    let me = unsafe { &*user.cast::<Dressed>() };
    let size = me.system.dimensions();
    let mut on = vec![true; size.nc];
    me.system
        .active_constraints(unsafe { array(modes, size.modes) }, &mut on);
    for (i, on) in on.iter().enumerate() {
        // Any number but 0 is "yes".
        unsafe { *rows.add(i) = if *on { 7 } else { 0 } };
    }
    0
}

unsafe extern "C" fn start_modes(
    user: *mut c_void,
    at: *const biela_system_point,
    modes: *mut i32,
) -> i32 {
    unsafe {
        with(user, at, |me, cx, at| {
            let count = me.system.dimensions().modes;
            let modes = std::slice::from_raw_parts_mut(modes, count);
            me.system.initial_modes(cx, at.q, at.v, modes);
            0
        })
    }
}

unsafe extern "C" fn release(user: *mut c_void) {
    let me = unsafe { Box::from_raw(user.cast::<Dressed>()) };
    if let Some(released) = unsafe { me.released.as_ref() } {
        released.fetch_add(1, Ordering::Relaxed);
    }
}

/// An instance that frees itself.
pub struct Driven {
    pub instance: *mut biela_instance,
    me: *const Dressed,
}

impl Drop for Driven {
    fn drop(&mut self) {
        let status = unsafe { biela_instance_free(self.instance) };
        assert_eq!(status, biela_status::Ok);
    }
}

/// A status and its sentence.
pub type Told = (biela_status, String);

impl Driven {
    /// Through C, with as many derivatives as wanted.
    pub fn new(
        system: Box<dyn System>,
        (q, v): (&[f64], &[f64]),
        settings: &str,
        given: Given,
    ) -> Result<Self, Told> {
        Self::with(system, (q, v), settings, given, |_| {})
    }

    /// The same with a last change of the definition.
    pub fn with(
        system: Box<dyn System>,
        (q, v): (&[f64], &[f64]),
        settings: &str,
        given: Given,
        change: impl FnOnce(&mut biela_system_definition),
    ) -> Result<Self, Told> {
        let size = system.dimensions();
        let character = system.properties();
        let pattern = system.sparsity();
        let tangent = unique(&pattern.tangent);
        let columns = unique(&pattern.jacobian);
        let weights: Vec<f64> = (0..size.nv).map(|i| system.weight(i)).collect();
        let scales: Vec<f64> = (0..size.nc).map(|i| system.constraint_scale(i)).collect();
        let split =
            |places: &[(u32, u32)]| -> (Vec<u32>, Vec<u32>) { places.iter().copied().unzip() };
        let (t, j) = (split(&tangent), split(&columns));
        let settings = CString::new(settings).unwrap();
        let me = Box::into_raw(Box::new(Dressed {
            places: tangent.clone(),
            system,
            calls: AtomicU64::new(0),
            released: std::ptr::null(),
        }));
        let mut definition: biela_system_definition = unsafe { std::mem::zeroed() };
        let known = size_of::<biela_system_definition>();
        let status = unsafe { biela_system_definition_default(&mut definition, known) };
        assert_eq!(status, biela_status::Ok);
        let geometry = given != Given::Nothing;
        let all = given == Given::All;
        let moving = character.moving_constraints;
        definition.user = me.cast();
        definition.release = Some(release);
        definition.solver = settings.as_ptr();
        definition.flags = u32::from(!character.velocity_forces) * BIELA_SYSTEM_NO_VELOCITY_FORCES
            + u32::from(!moving) * BIELA_SYSTEM_FIXED_CONSTRAINTS
            + u32::from(character.linear) * BIELA_SYSTEM_LINEAR;
        (definition.nq, definition.nv, definition.nc) = (size.nq, size.nv, size.nc);
        (definition.ne, definition.modes) = (size.ne, size.modes);
        (definition.inputs, definition.parameters) = (size.inputs, size.parameters);
        (definition.q, definition.v) = (q.as_ptr(), v.as_ptr());
        definition.weights = weights.as_ptr();
        definition.constraint_scales = scales.as_ptr();
        definition.tangent_count = tangent.len();
        (definition.tangent_rows, definition.tangent_columns) = (t.0.as_ptr(), t.1.as_ptr());
        definition.jacobian_count = columns.len();
        (definition.jacobian_rows, definition.jacobian_columns) = (j.0.as_ptr(), j.1.as_ptr());
        definition.mass_times = Some(mass_times);
        definition.force = Some(force);
        definition.energy = Some(energy);
        definition.power = character.does_work.then_some(power as _);
        definition.mass = all.then_some(mass as _);
        definition.force_by_q = all.then_some(force_by_q as _);
        definition.force_by_v = all.then_some(force_by_v as _);
        definition.inertia_by_q = all.then_some(inertia_by_q as _);
        definition.reaction_by_q = all.then_some(reaction_by_q as _);
        if size.nc > 0 {
            definition.constraint = Some(constraint);
            definition.jacobian = geometry.then_some(jacobian as _);
            definition.constraint_rate = (moving && geometry).then_some(constraint_rate as _);
            definition.convective = geometry.then_some(convective as _);
            definition.active = (size.modes > 0).then_some(active as _);
        }
        if character.rotations {
            definition.retract = Some(retract);
            definition.difference = Some(difference);
            definition.bracket = Some(bracket);
            definition.tangent_inverse = Some(tangent_inverse);
        }
        if size.ne > 0 {
            definition.events = Some(events);
            definition.crossing = Some(crossing);
            definition.fire = Some(fire);
        }
        if size.modes > 0 {
            definition.hold = Some(hold);
            definition.start_modes = Some(start_modes);
        }
        change(&mut definition);
        let mut instance = null_mut();
        let status = unsafe { biela_system_new(&definition, &mut instance) };
        if status != biela_status::Ok {
            assert!(instance.is_null());
            // Where the creation fails the user's object stays the user's.
            drop(unsafe { Box::from_raw(me) });
            return Err((status, sentence(null_mut())));
        }
        Ok(Self { instance, me })
    }

    /// What the instance was made of.
    pub fn dressed(&self) -> &Dressed {
        // Released with the instance only.
        unsafe { &*self.me }
    }

    fn told(&self, status: biela_status) -> Result<(), Told> {
        match status {
            biela_status::Ok => Ok(()),
            status => Err((status, sentence(self.instance))),
        }
    }

    pub fn initialize(&self) -> Result<(), Told> {
        let status = unsafe { biela_initialize(self.instance, 0.0, f64::INFINITY, 0.0) };
        self.told(status)
    }

    pub fn time(&self) -> f64 {
        let mut time = f64::NAN;
        assert_eq!(
            unsafe { biela_time(self.instance, &mut time) },
            biela_status::Ok
        );
        time
    }

    pub fn to(&self, end: f64) -> Result<(), Told> {
        let time = self.time();
        self.told(unsafe { biela_step(self.instance, time, end - time, null_mut()) })
    }

    fn reference(&self, name: &str) -> u32 {
        let name = CString::new(name).unwrap();
        let mut reference = 0;
        let status = unsafe { biela_variable_find(self.instance, name.as_ptr(), &mut reference) };
        self.told(status).unwrap();
        reference
    }

    pub fn get(&self, name: &str) -> f64 {
        let (reference, mut value) = (self.reference(name), f64::NAN);
        let status = unsafe { biela_get_real(self.instance, &reference, 1, &mut value) };
        self.told(status).unwrap();
        value
    }

    pub fn set(&self, name: &str, value: f64) {
        let reference = self.reference(name);
        let status = unsafe { biela_set_real(self.instance, &reference, 1, &value) };
        self.told(status).unwrap();
    }

    /// q1 q2 ..
    pub fn q(&self) -> Vec<f64> {
        (1..=self.dressed().system.dimensions().nq)
            .map(|i| self.get(&format!("q{i}")))
            .collect()
    }

    pub fn answer(&self) -> i32 {
        let mut answer = i32::MAX;
        let status = unsafe { biela_system_answer(self.instance, &mut answer) };
        self.told(status).unwrap();
        answer
    }
}

/// The sentence of the last failure.
pub fn sentence(instance: *mut biela_instance) -> String {
    let text = unsafe { CStr::from_ptr(biela_last_error(instance)) };
    text.to_str().unwrap().to_owned()
}
