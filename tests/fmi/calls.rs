//! Every function in every phase of a unit's life, legal and illegal; random calls; misuse. Called directly, as a host that
//! has the library linked in would.

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use crate::common::Random;
use crate::fmi_host::world::{
    ACCELERATION, COUNT, GOOD, Handle, K, PUSH, TOO_LONG, World, X, block, instantiate,
};
use crate::fmi_host::{BOTH, full};
use crate::host::Scratch;
use biela::fmi::FmiStandard;
use biela::fmi::fmi2::*;
use biela::fmi::fmi3::*;
use biela::fmi::lifecycle::{self, LifecycleCall, LifecyclePhase};
use biela::fmi::types::FmiStatus;

fn table(standard: FmiStandard) -> &'static [LifecycleCall] {
    match standard {
        FmiStandard::Two => lifecycle::fmi2::ALL,
        FmiStandard::Three => lifecycle::fmi3::ALL,
    }
}

/// Phases that can be reached without a fault of the library. FMI 2 has no event mode; a step of FMI 3 that fails leaves the unit
/// in step mode.
fn phases(standard: FmiStandard) -> impl Iterator<Item = LifecyclePhase> {
    let none = match standard {
        FmiStandard::Two => LifecyclePhase::Event,
        FmiStandard::Three => LifecyclePhase::StepFailed,
    };
    LifecyclePhase::ALL
        .into_iter()
        .filter(move |phase| *phase != LifecyclePhase::Error && *phase != none)
}

#[test]
fn every_function_in_every_phase_does_what_the_table_says_and_an_illegal_one_changes_nothing() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-walk-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut world = World::with_event_mode(&unit, standard);
        let mut walked = 0;
        for phase in phases(standard) {
            for call in table(standard) {
                world.reset();
                world.bring_to(phase);
                let before = world.everything();
                let status = world.call(call.text());
                let what = format!("{} in {phase:?}: {status:?} {:?}", call.text(), world.log);
                if call.legal_in(phase) {
                    // Questions without an answer are discarded, never refused.
                    let asks =
                        matches!(call.text(), "fmi2GetIntegerStatus" | "fmi2GetStringStatus");
                    let expected = if asks {
                        FmiStatus::Discard
                    } else {
                        FmiStatus::Ok
                    };
                    assert_eq!(status, expected, "{what}");
                } else {
                    assert_eq!(status, FmiStatus::Error, "{what}");
                    assert_eq!(world.log.len(), 1, "{what}");
                    assert!(world.log[0].contains(call.text()), "{what}");
                    assert!(world.everything() == before, "{what}");
                }
                walked += 1;
            }
        }
        assert_eq!(walked, 5 * table(standard).len());
    }
}

#[test]
fn calls_without_a_unit_are_errors() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-null-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut world = World::new(&unit, standard);
        let own = world.c;
        // A handle of the other standard is none of this one.
        let other = match standard {
            FmiStandard::Two => FmiStandard::Three,
            FmiStandard::Three => FmiStandard::Two,
        };
        let unit = block(other, &scratch);
        let stranger = World::new(&unit, other);
        let mut room = [0_u64; 8];
        for handle in [null_mut(), stranger.c, room.as_mut_ptr().cast()] {
            world.c = handle;
            for call in table(standard) {
                assert_eq!(world.call(call.text()), FmiStatus::Error, "{}", call.text());
            }
        }
        world.c = own;
        world.start_up();
    }
}

#[test]
fn parameters_and_inputs_set_before_or_in_initialization_mode_act_and_outputs_reflect_them_there() {
    // a = (push − k (x − 1)) / m with m = 1, x − 1 = 0.1, v = 0.
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-init-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut world = World::new(&unit, standard);
        assert_eq!(world.set(&[K], &[50.0]), FmiStatus::Ok);
        assert_eq!(world.enter(3.0), FmiStatus::Ok);
        let near = |world: &mut World, push: f64, k: f64| {
            let a = world.value(ACCELERATION);
            assert!(
                (a - (push - 0.1 * k)).abs() < 1e-12,
                "{a}, push {push}, k {k}"
            );
        };
        near(&mut world, 0.5, 50.0);
        assert_eq!(world.set(&[PUSH, K], &[2.0, 20.0]), FmiStatus::Ok);
        near(&mut world, 2.0, 20.0);
        assert_eq!(world.value(PUSH), 2.0);
        assert_eq!(world.set(&[PUSH], &[1.0]), FmiStatus::Ok);
        // A state of initialization mode goes on there.
        let state = world.save();
        near(&mut world, 1.0, 20.0);
        assert_eq!(world.set(&[K], &[10.0]), FmiStatus::Ok);
        near(&mut world, 1.0, 10.0);
        assert_eq!(world.restore(state), FmiStatus::Ok);
        near(&mut world, 1.0, 20.0);
        world.free_state(state);
        assert_eq!(world.exit(), FmiStatus::Ok);
        near(&mut world, 1.0, 20.0);
        if standard == FmiStandard::Three {
            assert_eq!(world.value(COUNT), 3.0, "time");
        }
        assert_eq!(world.step(3.0, GOOD).0, FmiStatus::Ok);

        // The same as a unit that was set once and never looked at.
        let mut plain = World::new(&unit, standard);
        assert_eq!(plain.set(&[PUSH, K], &[1.0, 20.0]), FmiStatus::Ok);
        assert_eq!(plain.enter(3.0), FmiStatus::Ok);
        assert_eq!(plain.exit(), FmiStatus::Ok);
        assert_eq!(plain.step(3.0, GOOD).0, FmiStatus::Ok);
        assert!(plain.everything() == world.everything());
    }
}

#[test]
fn inputs_set_at_communication_points_act_at_once_on_what_they_feed_through_to() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-through-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut world = World::new(&unit, standard);
        world.start_up();
        let (x, a) = (world.value(X), world.value(ACCELERATION));
        assert_eq!(world.set(&[PUSH], &[1.5]), FmiStatus::Ok);
        assert_eq!(world.value(PUSH), 1.5);
        assert!((world.value(ACCELERATION) - (a + 1.0)).abs() < 1e-12);
        assert_eq!(world.value(X), x);
        // Setting it twice is setting it once, reading in between or not.
        let mut other = World::new(&unit, standard);
        other.start_up();
        for push in [7.0, -3.0, 1.5] {
            assert_eq!(other.set(&[PUSH], &[push]), FmiStatus::Ok);
        }
        for world in [&mut world, &mut other] {
            assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
        }
        assert_eq!(world.value(X).to_bits(), other.value(X).to_bits());
    }
}

#[test]
fn a_step_of_fmi_2_that_fails_is_discarded_and_the_unit_goes_on_from_a_state_or_a_reset() {
    let scratch = Scratch::new("fmi-failed-2");
    let unit = block(FmiStandard::Two, &scratch);
    let mut world = World::new(&unit, FmiStandard::Two);
    world.start_up();
    world.log.clear();
    assert_eq!(world.step(0.0, TOO_LONG).0, FmiStatus::Discard);
    assert!(world.log[0].contains("max_substeps"), "{:?}", world.log);
    let mut last = f64::NAN;
    let mut said = FmiStatus::Ok;
    // SAFETY: a live handle and pointers to locals.
    unsafe {
        let status = fmi2GetRealStatus(world.c, 2, &mut last);
        assert_eq!(status, FmiStatus::Ok);
        assert_eq!(fmi2GetStatus(world.c, 0, &mut said), FmiStatus::Ok);
    }
    assert_eq!(said, FmiStatus::Discard);
    assert!(last > 0.0 && last < TOO_LONG);
    assert!(world.value(X).is_finite());
    assert_eq!(
        world.step(last, GOOD).0,
        FmiStatus::Error,
        "not in this phase"
    );
    assert_eq!(world.restore(world.state), FmiStatus::Ok);
    assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
    assert_eq!(world.step(GOOD, TOO_LONG).0, FmiStatus::Discard);
}

#[test]
fn a_step_of_fmi_3_that_fails_leaves_the_unit_where_it_was_and_a_shorter_one_is_taken() {
    let scratch = Scratch::new("fmi-failed-3");
    let unit = block(FmiStandard::Three, &scratch);
    let mut world = World::new(&unit, FmiStandard::Three);
    let mut other = World::new(&unit, FmiStandard::Three);
    for world in [&mut world, &mut other] {
        world.start_up();
        assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
        assert_eq!(world.set(&[PUSH], &[0.75]), FmiStatus::Ok);
        // The state before the call includes the inputs set for it.
        assert!(world.value(ACCELERATION).is_finite());
    }
    let before = world.everything();
    world.log.clear();
    let (status, reached) = world.step(GOOD, TOO_LONG);
    assert_eq!((status, reached), (FmiStatus::Discard, GOOD));
    assert!(world.log[0].contains("max_substeps"), "{:?}", world.log);
    assert!(world.everything() == before, "the same state, in step mode");
    for world in [&mut world, &mut other] {
        assert_eq!(world.step(GOOD, 2.0 * GOOD).0, FmiStatus::Ok);
    }
    assert!(world.everything() == other.everything(), "the same bits");

    // Where a step may return early, it does, with OK; then it goes on from there.
    let mut world = World::with_event_mode(&unit, FmiStandard::Three);
    world.start_up();
    let (status, reached) = world.step(0.0, TOO_LONG);
    assert_eq!(status, FmiStatus::Ok);
    assert!(reached > 0.0 && reached < TOO_LONG);
    assert_eq!(world.step(reached, GOOD).0, FmiStatus::Ok);
}

#[test]
fn steps_to_or_from_impossible_times_are_refused_and_harm_nothing() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-times-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut world = World::new(&unit, standard);
        if standard == FmiStandard::Three {
            world.start_up();
            assert_eq!(world.step(0.0, 0.0).0, FmiStatus::Error, "more than zero");
        }
        world.reset();
        world.start_up();
        assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
        // A step to another time than the unit's is refused and harms nothing.
        let before = world.everything();
        for (t, h) in [
            (5.0, GOOD),
            (f64::NAN, GOOD),
            (GOOD, -GOOD),
            (GOOD, f64::NAN),
            (GOOD, f64::INFINITY),
        ] {
            let (status, reached) = world.step(t, h);
            assert_eq!(status, FmiStatus::Error, "{t} {h}");
            if standard == FmiStandard::Three {
                assert_eq!(reached, GOOD, "lastSuccessfulTime is written in any case");
            }
        }
        assert!(world.everything() == before);
        // Times come from arithmetic: the last bits are forgiven.
        assert_eq!(world.step(0.1 - 0.09 - 1e-18, GOOD).0, FmiStatus::Ok);
    }
}

#[test]
fn steps_past_the_stop_time_are_refused() {
    let scratch = Scratch::new("fmi-stop");
    let unit = block(FmiStandard::Three, &scratch);
    let mut world = World::new(&unit, FmiStandard::Three);
    // SAFETY: a live handle.
    let status = unsafe { fmi3EnterInitializationMode(world.c, 1, 1e-5, 0.0, 1, 0.015) };
    assert_eq!(status, FmiStatus::Ok);
    assert_eq!(world.exit(), FmiStatus::Ok);
    assert_eq!(world.step(0.0, 0.01).0, FmiStatus::Ok);
    assert_eq!(world.step(0.01, 0.01).0, FmiStatus::Error);
    assert!(world.log[0].contains("stop time"), "{:?}", world.log);
    assert_eq!(world.step(0.01, 0.005).0, FmiStatus::Ok);
}

#[test]
fn wrong_values_types_and_references_are_refused_by_name_and_change_nothing() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-wrong-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut world = World::new(&unit, standard);
        world.start_up();
        assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
        let before = world.everything();
        let refusals: [(&[u32], &[f64], &str); 6] = [
            (&[PUSH, X], &[1.0, 1.0], "\"x\""),
            (&[PUSH, K], &[1.0, f64::NAN], "k = NaN"),
            (&[PUSH], &[f64::INFINITY], "push = inf"),
            (&[PUSH, K], &[1.0, -1.0], "k = -1"),
            (&[PUSH, 99], &[1.0, 1.0], "99"),
            (&[u32::MAX], &[1.0], "4294967295"),
        ];
        for (references, values, named) in refusals {
            world.log.clear();
            assert_eq!(world.set(references, values), FmiStatus::Error, "{named}");
            assert!(world.log[0].contains(named), "{named}: {:?}", world.log);
        }
        let mut values = [-7.0; 2];
        world.log.clear();
        assert_eq!(world.get(&[X, 99], &mut values), FmiStatus::Error);
        assert!(world.log[0].contains("99") && values == [-7.0; 2]);
        // SAFETY: live handles and pointers to locals throughout.
        unsafe {
            let (mut number, mut short) = (0, 0_i8);
            world.log.clear();
            let status = match standard {
                FmiStandard::Two => fmi2GetInteger(world.c, &X, 1, &mut number),
                FmiStandard::Three => fmi3GetInt8(world.c, &X, 1, &mut short, 1),
            };
            assert_eq!(status, FmiStatus::Error);
            assert!(world.log[0].contains("\"x\""), "{:?}", world.log);
            let status = match standard {
                FmiStandard::Two => fmi2GetReal(world.c, null(), 1, values.as_mut_ptr()),
                FmiStandard::Three => fmi3GetFloat64(world.c, null(), 1, values.as_mut_ptr(), 1),
            };
            assert_eq!(status, FmiStatus::Error);
            let status = match standard {
                FmiStandard::Two => fmi2GetReal(world.c, &X, 1, null_mut()),
                FmiStandard::Three => fmi3GetFloat64(world.c, &X, 1, null_mut(), 1),
            };
            assert_eq!(status, FmiStatus::Error);
            if standard == FmiStandard::Three {
                // More or fewer values than the variables have.
                assert_eq!(
                    fmi3GetFloat64(world.c, &X, 1, values.as_mut_ptr(), 2),
                    FmiStatus::Error
                );
                assert_eq!(
                    fmi3SetFloat64(world.c, &PUSH, 1, [1.0, 2.0].as_ptr(), 2),
                    FmiStatus::Error
                );
            }
            // What is read and what is written may not lie over each other: references in the room of a number, or the seed.
            for shared in ["unknowns", "knowns", "seed"] {
                let mut room = match shared {
                    "unknowns" => f64::from_bits(ACCELERATION.into()),
                    "knowns" => f64::from_bits(PUSH.into()),
                    _ => 1.0,
                };
                let before = room.to_bits();
                let out: *mut f64 = &mut room;
                let pick = |name, apart: *const u32| {
                    if shared == name {
                        out.cast_const().cast()
                    } else {
                        apart
                    }
                };
                let unknowns = pick("unknowns", &ACCELERATION);
                let knowns = pick("knowns", &PUSH);
                let one = 1.0;
                let seed: *const f64 = if shared == "seed" { out } else { &one };
                let c = world.c;
                let statuses = match standard {
                    FmiStandard::Two => vec![fmi2GetDirectionalDerivative(
                        c, unknowns, 1, knowns, 1, seed, out,
                    )],
                    FmiStandard::Three => [fmi3GetDirectionalDerivative, fmi3GetAdjointDerivative]
                        .map(|call| call(c, unknowns, 1, knowns, 1, seed, 1, out, 1))
                        .to_vec(),
                };
                let refused = statuses.iter().all(|status| *status == FmiStatus::Error);
                assert!(refused, "{shared}: {statuses:?}");
                assert_eq!(room.to_bits(), before, "{shared}");
            }
            let names = [c"logNothing".as_ptr()];
            world.log.clear();
            let status = match standard {
                FmiStandard::Two => fmi2SetDebugLogging(world.c, 1, 1, names.as_ptr()),
                FmiStandard::Three => fmi3SetDebugLogging(world.c, 1, 1, names.as_ptr()),
            };
            assert_eq!(status, FmiStatus::Error);
            assert!(world.log[0].contains("logNothing"));
        }
        assert_eq!(values, [-7.0; 2]);
        assert!(world.everything() == before);
    }
}

#[test]
fn vectors_and_time_are_read_beside_the_scalars() {
    let scratch = Scratch::new("fmi-vectors");
    let unit = block(FmiStandard::Three, &scratch);
    assert!(
        unit.description().contains("name=\"block.position\""),
        "{}",
        unit.description()
    );
    let mut world = World::new(&unit, FmiStandard::Three);
    world.start_up();
    assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
    let (time, position) = (COUNT, COUNT + 1);
    let mut all = [0.0; 5];
    assert_eq!(
        world.get(&[time, position, X, time], &mut all),
        FmiStatus::Ok,
        "{:?}",
        world.log
    );
    let x = world.value(X);
    assert_eq!(all, [GOOD, x, 0.0, x, GOOD]);
    // Derivatives of a vector, element by element.
    let mut rates = [0.0; 2];
    // SAFETY: a live handle and arrays of their lengths.
    let status =
        unsafe { fmi3GetOutputDerivatives(world.c, &position, 1, &2, rates.as_mut_ptr(), 2) };
    assert_eq!(status, FmiStatus::Ok, "{:?}", world.log);
    let a = world.value(ACCELERATION);
    assert!(
        (rates[0] - a).abs() <= 1e-12 * a.abs() && rates[1].abs() < 1e-12,
        "{rates:?} {a}"
    );
    // A counter stands still.
    let mut rate = 7.0;
    // SAFETY: as above.
    let status = unsafe { fmi3GetOutputDerivatives(world.c, &5, 1, &1, &mut rate, 1) };
    assert_eq!((status, rate), (FmiStatus::Ok, 0.0));
    // On what each element depends: accelerations do on forces, positions do not.
    let mut count = 9;
    // SAFETY: as above.
    unsafe {
        assert_eq!(
            fmi3GetNumberOfVariableDependencies(world.c, position, &mut count),
            FmiStatus::Ok
        );
        assert_eq!(count, 0);
        assert_eq!(
            fmi3GetNumberOfVariableDependencies(world.c, ACCELERATION, &mut count),
            FmiStatus::Ok
        );
        assert_eq!(count, 1);
        let (mut element, mut independent, mut within, mut kind) = (9, 9, 9, 9);
        let status = fmi3GetVariableDependencies(
            world.c,
            ACCELERATION,
            &mut element,
            &mut independent,
            &mut within,
            &mut kind,
            1,
        );
        assert_eq!(
            (status, element, independent, within, kind),
            (FmiStatus::Ok, 0, PUSH, 0, 5)
        );
    }
}

#[test]
fn bytes_that_are_no_state_are_refused_and_those_of_another_unit_too() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-bytes-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut world = World::new(&unit, standard);
        world.start_up();
        let good = world.bytes.clone();
        let before = world.everything();
        let mut state = null_mut();
        for i in 0..good.len() {
            let mut bytes = good.clone();
            bytes[i] ^= 1 << (i % 8);
            assert_eq!(
                world.deserialize(&bytes, &mut state),
                FmiStatus::Error,
                "byte {i}"
            );
            assert!(state.is_null());
        }
        for length in [0, 1, 47, 48, good.len() - 1] {
            assert_eq!(
                world.deserialize(&good[..length], &mut state),
                FmiStatus::Error,
                "{length} bytes"
            );
        }
        assert!(world.everything() == before);
        assert_eq!(world.deserialize(&good, &mut state), FmiStatus::Ok);
        assert_eq!(world.restore(state), FmiStatus::Ok);
        world.free_state(state);
        assert_eq!(world.restore(null_mut()), FmiStatus::Error);
        let mut room = [0_u64; 8];
        assert_eq!(world.restore(room.as_mut_ptr().cast()), FmiStatus::Error);

        let text = crate::fmi_host::world::MODEL
            .replace("mass = 1.0", "mass = 1.5")
            .replace("\"block\"\ndim", "\"other\"\ndim");
        let path = scratch.path().join("other.toml");
        std::fs::write(&path, text).unwrap();
        let other = crate::fmi_host::Unpacked::new(&path, standard, &scratch);
        let mut stranger = World::new(&other, standard);
        assert_eq!(stranger.deserialize(&good, &mut state), FmiStatus::Error);
        assert_eq!(stranger.restore(world.state), FmiStatus::Error);
        assert!(
            stranger.log.iter().any(|line| line.contains("state")),
            "{:?}",
            stranger.log
        );
    }
}

#[test]
fn resources_are_found_however_the_importer_says_it_and_not_needed_afterwards() {
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-pläce %41 {}", standard.version()));
        let unit = block(standard, &scratch);
        let token = CString::new(unit.contents.token.as_str()).unwrap();
        let plain = unit.resources().to_str().unwrap().to_owned();
        let escaped: String = plain
            .bytes()
            .map(|b| match b {
                b'/' | b'-' | b'.' | b'_' => (b as char).to_string(),
                b if b.is_ascii_alphanumeric() => (b as char).to_string(),
                b => format!("%{b:02X}"),
            })
            .collect();
        let mut log: Vec<String> = Vec::new();
        let mut make = |location: Option<&str>, token: &CStr| {
            let location = location.map(|l| CString::new(l).unwrap());
            let place = location.as_ref().map_or(null(), |l| l.as_ptr());
            log.clear();
            let handle = instantiate(standard, token, place, (&raw mut log).cast());
            (handle, log.join("; "))
        };
        let free = |handle: Handle| {
            // SAFETY: a live handle that is not used any more.
            unsafe {
                match standard {
                    FmiStandard::Two => fmi2FreeInstance(handle),
                    FmiStandard::Three => fmi3FreeInstance(handle),
                }
            }
        };
        let unit_folder = unit.folder.to_str().unwrap().to_owned();
        for location in [
            plain.clone(),
            format!("{plain}/"),
            format!("file://{escaped}"),
            format!("file:{escaped}/"),
            format!("file://localhost{escaped}"),
            unit_folder,
        ] {
            let (handle, said) = make(Some(&location), &token);
            assert!(!handle.is_null(), "{location}: {said}");
            free(handle);
        }
        // Without a place the library looks beside itself, and this test is no unit.
        for location in [None, Some(""), Some("/nowhere")] {
            let (handle, said) = make(location, &token);
            assert!(handle.is_null() && said.contains("resources"), "{said}");
        }
        let (handle, said) = make(Some(&plain), c"{00000000-0000-0000-0000-000000000000}");
        assert!(handle.is_null() && said.contains("token"), "{said}");

        let mut world = World::new(&unit, standard);
        let untouched = World::new(&unit, standard);
        std::fs::remove_dir_all(&unit.folder).unwrap();
        world.start_up();
        assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
        world.reset();
        world.start_up();
        drop(untouched);
    }
}

/// What can be done to a unit at random: any function, good and bad arguments, any order.
struct Monkey {
    random: Random,
    world: World,
    states: Vec<Handle>,
    known_time: f64,
    stepped: u32,
}

impl Monkey {
    fn reference(&mut self) -> u32 {
        match self.random.below(12) {
            0 => 99,
            1 => u32::MAX,
            _ => self.random.below(u64::from(COUNT) + 2) as u32,
        }
    }

    fn number(&mut self) -> f64 {
        match self.random.below(16) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            3 => 0.0,
            _ => self.random.between(-2.0, 3.0),
        }
    }

    fn play(&mut self, table: &'static [LifecycleCall]) {
        match self.random.below(10) {
            0..=1 => {
                let call = &table[self.random.below(table.len() as u64) as usize];
                // The start is where most can happen: not back to it all the time.
                if call.text().ends_with("Reset") && self.random.below(20) != 0 {
                    return;
                }
                self.world.call(call.text());
            }
            2..=3 => self.read(),
            4..=5 => self.write(),
            6..=7 => self.step(),
            8 => self.save_or_restore(),
            _ => {
                // On through life.
                let _ = match self.random.below(40) {
                    0 => self.world.terminate(),
                    1..=6 => {
                        self.world.reset();
                        FmiStatus::Ok
                    }
                    7..=22 => self.world.enter_quietly(),
                    _ => self.world.exit(),
                };
            }
        }
        assert!(self.world.log.len() < 10);
        self.world.log.clear();
    }

    fn read(&mut self) {
        let count = self.random.below(4) as usize;
        let references: Vec<u32> = (0..count).map(|_| self.reference()).collect();
        let room = count + usize::from(self.random.below(20) == 0);
        let room = if self.world.standard == FmiStandard::Two {
            count
        } else {
            room
        };
        let mut values = vec![f64::NAN; room];
        let status = self.world.get(&references, &mut values);
        match status {
            FmiStatus::Ok => {
                assert!(
                    values.iter().all(|v| v.is_finite()),
                    "{references:?} {values:?}"
                );
                assert!(references.iter().all(|r| *r < COUNT + 2), "{references:?}");
            }
            _ => assert!(
                values.iter().all(|v| v.is_nan()),
                "written in spite of {status:?}"
            ),
        }
    }

    fn write(&mut self) {
        let count = self.random.below(3) as usize;
        let references: Vec<u32> = (0..count)
            .map(|_| match self.random.below(3) {
                0 => self.reference(),
                1 => PUSH,
                _ => K,
            })
            .collect();
        let values: Vec<f64> = (0..count).map(|_| self.number()).collect();
        if self.world.set(&references, &values) == FmiStatus::Ok {
            assert!(
                values.iter().all(|v| v.is_finite()),
                "{references:?} {values:?}"
            );
            let settable = |r: &u32| *r == PUSH || (K..COUNT).contains(r);
            assert!(references.iter().all(settable), "{references:?}");
            let mut found = vec![f64::NAN; count];
            if self.world.get(&references, &mut found) == FmiStatus::Ok {
                for (i, reference) in references.iter().enumerate() {
                    let last = references.iter().rposition(|r| r == reference).unwrap();
                    assert_eq!(
                        found[i], values[last],
                        "{references:?} {values:?} {found:?}"
                    );
                }
            }
        }
    }

    fn step(&mut self) {
        let time = match self.random.below(10) {
            0 => self.number(),
            1 => self.known_time,
            _ => self.world.time().unwrap_or(self.known_time),
        };
        let h = match self.random.below(40) {
            0 => self.number(),
            1 => TOO_LONG,
            2..=4 => 0.0,
            _ => self.random.between(1e-4, 2e-2),
        };
        let (status, reached) = self.world.step(time, h);
        if self.world.standard == FmiStandard::Three && status != FmiStatus::Error {
            assert!(reached.is_finite());
        }
        if status == FmiStatus::Ok {
            assert!(time.is_finite() && h >= 0.0 && h.is_finite());
            self.known_time = time + h;
            self.stepped += 1;
        }
    }

    fn save_or_restore(&mut self) {
        if self.states.len() < 5 {
            let state = self.world.save();
            self.states.push(state);
            return;
        }
        let i = self.random.below(5) as usize;
        let state = self.states[i];
        match self.random.below(4) {
            0 => {
                self.states.swap_remove(i);
                self.world.free_state(state);
            }
            1 => {
                let bytes = self.world.serialize(state);
                let mut copy = null_mut();
                assert_eq!(
                    self.world.deserialize(&bytes, &mut copy),
                    FmiStatus::Ok,
                    "{:?}",
                    self.world.log
                );
                assert!(self.world.serialize(copy) == bytes);
                self.world.free_state(copy);
            }
            _ => {
                assert_eq!(
                    self.world.restore(state),
                    FmiStatus::Ok,
                    "{:?}",
                    self.world.log
                );
                let again = self.world.everything();
                assert!(again == self.world.serialize(state));
            }
        }
    }
}

#[test]
fn random_calls_never_crash_and_never_give_garbage_for_good() {
    let calls = if full() { 500_000 } else { 10_000 };
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-random-{}", standard.version()));
        let unit = block(standard, &scratch);
        let mut monkey = Monkey {
            random: Random(20 + standard as u64),
            world: World::new(&unit, standard),
            states: Vec::new(),
            known_time: 0.0,
            stepped: 0,
        };
        for _ in 0..calls {
            monkey.play(table(standard));
        }
        let stepped = monkey.stepped;
        assert!(
            stepped > calls / 50,
            "only {stepped} steps: the walk got stuck"
        );
        for state in std::mem::take(&mut monkey.states) {
            monkey.world.free_state(state);
        }
    }
}

#[test]
fn a_panic_becomes_an_error_and_a_reset_mends_it() {
    use std::ffi::c_void;
    type Inject = unsafe extern "C" fn(*mut c_void) -> i32;
    type Plain = unsafe extern "C" fn(*mut c_void) -> i32;
    type Get = unsafe extern "C" fn(*mut c_void, *const u32, usize, *mut f64) -> i32;
    type Instantiate = unsafe extern "C" fn(
        *const i8,
        i32,
        *const i8,
        *const i8,
        *const c_void,
        i32,
        i32,
    ) -> *mut c_void;
    let scratch = Scratch::new("fmi-panic");
    let unit = block(FmiStandard::Two, &scratch);
    let token = CString::new(unit.contents.token.as_str()).unwrap();
    let resources = CString::new(unit.resources().to_str().unwrap()).unwrap();
    // SAFETY: the library is ours; the types are those of the standard.
    unsafe {
        let library = libloading::Library::new(&crate::host::library_with_faults().shared).unwrap();
        let inject = library.get::<Inject>("biela_fmi_inject_panic").unwrap();
        let plain = |name: &str| *library.get::<Plain>(name).unwrap();
        let get = library.get::<Get>("fmi2GetReal").unwrap();
        let make = library.get::<Instantiate>("fmi2Instantiate").unwrap();
        let c = make(
            c"one".as_ptr().cast(),
            1,
            token.as_ptr().cast(),
            resources.as_ptr().cast(),
            null(),
            0,
            0,
        );
        assert!(!c.is_null());
        let [enter, exit, reset, terminate] = [
            "fmi2EnterInitializationMode",
            "fmi2ExitInitializationMode",
            "fmi2Reset",
            "fmi2Terminate",
        ]
        .map(plain);
        let mut value = 0.0;
        assert_eq!((enter(c), exit(c)), (0, 0));
        assert_eq!(get(c, &X, 1, &mut value), 0);
        let good = value;
        assert_eq!(inject(c), 0);
        assert_eq!(get(c, &X, 1, &mut value), 3, "the panic");
        assert_eq!(get(c, &X, 1, &mut value), 3, "and from then on");
        assert_eq!(terminate(c), 3);
        assert_eq!(reset(c), 0);
        assert_eq!((enter(c), exit(c)), (0, 0));
        assert_eq!(get(c, &X, 1, &mut value), 0);
        assert_eq!(value, good);
        assert_eq!(inject(null_mut()), 3);
        let free = *library
            .get::<unsafe extern "C" fn(*mut c_void)>("fmi2FreeInstance")
            .unwrap();
        assert_eq!(inject(c), 0);
        free(c);
    }
}

#[test]
fn a_running_step_can_be_cancelled_from_another_thread_and_everything_else_must_wait() {
    struct Shared(Handle);
    // SAFETY: the library's own promise: any thread, one call at a time, CancelStep beside it.
    unsafe impl Send for Shared {}
    let scratch = Scratch::new("fmi-cancel");
    let path = scratch.path().join("block.toml");
    let text =
        crate::fmi_host::world::MODEL.replace("max_substeps = 40", "max_substeps = 1000000000");
    std::fs::write(&path, text).unwrap();
    let unit = crate::fmi_host::Unpacked::new(&path, FmiStandard::Two, &scratch);
    let mut world = World::new(&unit, FmiStandard::Two);
    world.start_up();
    let shared = Shared(world.c);
    let stepping = std::thread::spawn(move || {
        let shared = shared;
        loop {
            // SAFETY: a live handle.
            match unsafe { fmi2DoStep(shared.0, 0.0, 1e7, 1) } {
                // The other thread's look may have been first.
                FmiStatus::Error => std::thread::yield_now(),
                other => return other,
            }
        }
    });
    let mut value = 0.0;
    // SAFETY: a live handle and a pointer to a local.
    unsafe {
        while fmi2CancelStep(world.c) != FmiStatus::Ok {
            assert!(!stepping.is_finished(), "ten million seconds take longer");
            if fmi2GetReal(world.c, &X, 1, &mut value) == FmiStatus::Ok {
                continue; // not begun yet
            }
            std::thread::yield_now();
        }
    }
    assert_eq!(stepping.join().unwrap(), FmiStatus::Discard);
    assert!(
        world.log.iter().any(|line| line.contains("cancelled")),
        "{:?}",
        world.log
    );
    let reached = world.time().unwrap();
    assert!(reached < 1e7 && world.value(X).is_finite());
    world.reset();
    world.start_up();
    assert_eq!(world.step(0.0, GOOD).0, FmiStatus::Ok);
}
