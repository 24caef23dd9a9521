//! Saved states as bytes.

use super::*;
use crate::component::instance_state::fnv;
use crate::component::serialization::{CHECKSUM, HEADER};
use crate::component::{Extrapolation, Instance};
use crate::error::Error;

fn lived() -> Instance {
    let mut instance = oscillator();
    instance.set_extrapolation(Extrapolation::Quadratic);
    instance.initialize(-1.0, 10.0, 1e-5).unwrap();
    for k in 0..4 {
        let t = instance.time();
        instance.set_real(&[PUSH], &[f64::from(k)]).unwrap();
        instance.step(t, 0.3).unwrap();
    }
    instance.set_real(&[STIFFNESS], &[5.0]).unwrap();
    instance
}

fn refusal(instance: &Instance, bytes: &[u8]) -> String {
    let error = instance.deserialize(bytes).unwrap_err();
    assert!(matches!(error, Error::ForeignState { .. }), "{error}");
    error.to_string()
}

#[test]
fn what_comes_back_is_what_was_saved() {
    for instance in [oscillator(), running(), lived()] {
        let saved = instance.save().unwrap();
        let bytes = saved.to_bytes();
        assert_eq!(bytes.len(), saved.serialized_size());
        let back = oscillator().deserialize(&bytes).unwrap();
        assert_eq!(format!("{back:?}"), format!("{saved:?}"));
        assert_eq!(back.to_bytes(), bytes);
    }
}

#[test]
fn a_state_that_came_back_goes_on_with_the_same_bits() {
    let mut instance = lived();
    let bytes = instance.save().unwrap().to_bytes();
    let t = instance.time();
    instance.step(t, 2.0).unwrap();
    let mut fresh = oscillator();
    let state = fresh.deserialize(&bytes).unwrap();
    fresh.restore(&state).unwrap();
    fresh.step(t, 2.0).unwrap();
    assert_eq!(
        format!("{:?}", fresh.save().unwrap()),
        format!("{:?}", instance.save().unwrap())
    );
}

#[test]
fn every_cut_and_every_changed_byte_is_found() {
    let instance = lived();
    let bytes = instance.save().unwrap().to_bytes();
    for length in 0..bytes.len() {
        refusal(&instance, &bytes[..length]);
    }
    for i in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut spoilt = bytes.clone();
            spoilt[i] ^= flip;
            // The four bytes that are always zero are under the checksum too.
            refusal(&instance, &spoilt);
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    refusal(&instance, &longer);
}

#[test]
fn the_sentence_says_what_is_wrong() {
    let instance = lived();
    let bytes = instance.save().unwrap().to_bytes();
    assert!(refusal(&instance, b"hello, world").contains("not the bytes of a saved state"));
    assert!(refusal(&instance, &bytes[..20]).contains("it is truncated"));
    assert!(refusal(&instance, &bytes[..100]).contains("truncated or damaged: it has 100 bytes"));
    let mut spoilt = bytes.clone();
    spoilt[60] ^= 1;
    assert!(refusal(&instance, &spoilt).contains("checksum"));
    let mut later = bytes.clone();
    later[8] = 200;
    assert!(refusal(&instance, &later).contains("format 200"));
    let mut other = model();
    other.parameters[0].start = 5.0;
    assert!(refusal(&of(other), &bytes).contains("another model than \"oscillator\""));
}

/// Damage with a right checksum: made on purpose, and still no panic and no huge allocation.
#[test]
fn wrong_content_under_a_right_checksum_is_refused_or_a_state() {
    let instance = lived();
    let bytes = instance.save().unwrap().to_bytes();
    let mut refused = 0;
    for i in HEADER..bytes.len() - CHECKSUM {
        for flip in [1, 0x80, 0xff] {
            let mut spoilt = bytes.clone();
            spoilt[i] ^= flip;
            let end = spoilt.len() - CHECKSUM;
            let checksum = fnv(&spoilt[..end]).to_le_bytes();
            spoilt[end..].copy_from_slice(&checksum);
            refused += u32::from(instance.deserialize(&spoilt).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
}
