//! Save, restore and reset.

use super::*;
use crate::component::instance_state::fnv;
use crate::error::Error;

#[test]
fn the_hash_is_fnv_1a() {
    // The test vector published with the algorithm.
    assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn where_a_model_was_written_does_not_count_but_what_it_says_does() {
    let plain = model().meaning();
    let mut moved = model();
    moved.origin = "elsewhere.toml".to_string();
    moved.bodies[0].text_position = TextPosition { line: 7, column: 1 };
    moved.outputs[3].text_position = TextPosition { line: 9, column: 9 };
    assert_eq!(moved.meaning(), plain);
    let mut heavier = model();
    heavier.bodies[0].mass = 1.0 + f64::EPSILON;
    assert_ne!(heavier.meaning(), plain);
    let mut looser = model();
    looser.solver.alpha = 0.1;
    assert_ne!(looser.meaning(), plain);
}

#[test]
fn a_foreign_state_is_refused_and_changes_nothing() {
    let mut other = model();
    other.parameters[0].start = 5.0;
    let foreign = of(other).save().unwrap();
    let mut instance = running();
    let before = format!("{:?}", instance.save().unwrap());
    let error = instance.restore(&foreign).unwrap_err();
    assert!(matches!(error, Error::ForeignState { .. }), "{error}");
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
}

#[test]
fn a_set_not_yet_heard_of_survives_saving() {
    let mut instance = running();
    instance.step(0.0, 0.5).unwrap();
    instance.set_real(&[PUSH, STIFFNESS], &[3.0, 5.0]).unwrap();
    let saved = instance.save().unwrap();
    instance.step(0.5, 0.5).unwrap();
    let first = format!("{:?}", instance.save().unwrap());
    instance.restore(&saved).unwrap();
    assert_eq!(get(&mut instance, PUSH), 3.0);
    instance.step(0.5, 0.5).unwrap();
    assert_eq!(first, format!("{:?}", instance.save().unwrap()));
}

#[test]
fn a_state_fits_an_instance_in_any_phase_of_life() {
    let mut origin = oscillator();
    origin.initialize(-1.0, 10.0, 1e-5).unwrap();
    origin.step(-1.0, 0.7).unwrap();
    let t = origin.time();
    let saved = origin.save().unwrap();
    origin.step(t, 2.0).unwrap();
    let expected = format!("{:?}", origin.save().unwrap());

    let created = oscillator();
    let mut failed = running();
    failed.set_real(&[STIFFNESS], &[BROKEN]).unwrap();
    failed.step(0.0, 1.0).unwrap_err();
    let mut reset = running();
    reset.reset();
    for mut instance in [created, failed, reset, running()] {
        instance.restore(&saved).unwrap();
        assert_eq!(instance.time(), t);
        assert_eq!(instance.start_report(), origin.start_report());
        instance.step(t, 2.0).unwrap();
        assert_eq!(expected, format!("{:?}", instance.save().unwrap()));
        // The stop time came with it.
        assert!(instance.step(instance.time(), 20.0).is_err());
    }
}

#[test]
fn going_back_before_the_start_is_possible() {
    let mut instance = oscillator();
    instance.set_real(&[PUSH], &[2.0]).unwrap();
    let saved = instance.save().unwrap();
    instance.initialize(0.0, 1.0, 1e-4).unwrap();
    instance.step(0.0, 1.0).unwrap();
    instance.restore(&saved).unwrap();
    assert!(!instance.is_running());
    assert_eq!(get(&mut instance, PUSH), 2.0);
    assert!(instance.step(0.0, 1.0).is_err());
    instance.initialize(0.0, 1.0, 0.0).unwrap();
}

#[test]
fn saving_into_an_old_state_is_the_same_as_saving() {
    let mut instance = running();
    let mut slot = oscillator().save().unwrap();
    for k in 0..5 {
        instance.set_real(&[PUSH], &[f64::from(k)]).unwrap();
        instance.step(f64::from(k), 1.0).unwrap();
        instance.save_into(&mut slot).unwrap();
        let fresh = instance.save().unwrap();
        assert_eq!(format!("{slot:?}"), format!("{fresh:?}"));
    }
}

#[test]
fn a_reset_instance_is_as_just_created_and_repeats_itself() {
    let mut instance = oscillator();
    let created = format!("{:?}", instance.save().unwrap());
    let mut life = || {
        instance.set_real(&[PUSH, MASS], &[2.0, 1.5]).unwrap();
        instance.initialize(0.5, 9.0, 1e-7).unwrap();
        instance.step(0.5, 3.0).unwrap();
        let end = format!("{:?}", instance.save().unwrap());
        instance.reset();
        (end, format!("{:?}", instance.save().unwrap()))
    };
    let (first, second) = (life(), life());
    assert_eq!(first, second);
    assert_eq!(first.1, created);
}
