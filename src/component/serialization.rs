//! A saved state as bytes, for files and for other processes:
//!
//! ```text
//!   magic 8 | format 4 | zero 4 | fingerprint of the model 8 | length of all 8 | content | FNV-1a of all before 8
//! ```
//!
//! Little-endian on every machine, doubles as their bits: what comes back is what was saved. Each field is visited once,
//! by the same function for writing, counting and reading, so the three cannot differ.

use std::sync::Arc;

use super::Instance;
use super::input::{Extrapolation, History, InputPolynomial, InputState};
use super::instance_state::{InstancePhase, InstanceState, SavedState, fnv};
use crate::error::{Error, Result};
use crate::formulation::Dimensions;
use crate::integrator::{EventMemory, EventSide, StartReport, State, Statistics};
use crate::model::counters::CounterMut;

/// Not text, and spoilt by a transfer that takes it for text.
const MAGIC: [u8; 8] = *b"biela\r\n\x1a";
/// Raised whenever the content changes.
const FORMAT: u32 = 3;
const HEADER: usize = 32;
const CHECKSUM: usize = 8;

impl SavedState {
    /// The state as bytes, good for [`Instance::deserialize`] of any instance of the same model in any process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.serialized_size();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.fingerprint.to_le_bytes());
        bytes.extend((size as u64).to_le_bytes());
        let mut writer = ByteWriter(bytes);
        let written = visit_life(&mut writer, &mut self.life.clone());
        written.expect("writing to memory cannot fail");
        let mut bytes = writer.0;
        let checksum = fnv(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// How many bytes [`SavedState::to_bytes`] gives.
    pub fn serialized_size(&self) -> usize {
        let mut counter = ByteCounter(0);
        let counted = visit_life(&mut counter, &mut self.life.clone());
        counted.expect("counting cannot fail");
        HEADER + counter.0 + CHECKSUM
    }
}

impl Instance {
    /// The state in bytes made by [`SavedState::to_bytes`] of an instance of the same model. Bytes that are foreign,
    /// cut or damaged are refused.
    pub fn deserialize(&self, bytes: &[u8]) -> Result<SavedState> {
        let content = self.content(bytes)?;
        let mut reader = ByteReader(content);
        let mut life = InstanceState::new(&self.model);
        visit_life(&mut reader, &mut life)?;
        if !reader.0.is_empty() {
            return Err(damaged("there is more in it than a state"));
        }
        check_shape(
            &life,
            &InstanceState::new(&self.model),
            &self.mechanism.dimensions(),
        )?;
        Ok(SavedState {
            fingerprint: self.fingerprint,
            life,
        })
    }

    /// What is between header and checksum, if both are right.
    fn content<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8]> {
        let number = |from: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[from..from + 8]);
            u64::from_le_bytes(eight)
        };
        if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
            return Err(foreign(
                "it is none: these are not the bytes of a saved state",
            ));
        }
        if bytes.len() < HEADER + CHECKSUM {
            let all = bytes.len();
            return Err(foreign(&format!(
                "it is cut short: only {all} bytes are there"
            )));
        }
        let format = number(8) as u32;
        if format != FORMAT {
            return Err(foreign(&format!(
                "it has format {format}, this version of the library reads format {FORMAT}"
            )));
        }
        let length = number(24);
        if length != bytes.len() as u64 {
            let there = bytes.len();
            return Err(foreign(&format!(
                "it is cut or damaged: {there} bytes are there, it speaks of {length}"
            )));
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum != fnv(body).to_le_bytes() {
            return Err(damaged("its checksum is wrong"));
        }
        if number(16) != self.fingerprint {
            return Err(foreign(&format!(
                "it was saved by another model than \"{}\"",
                self.model.name
            )));
        }
        Ok(&body[HEADER..])
    }
}

fn foreign(reason: &str) -> Error {
    Error::ForeignState {
        reason: reason.to_string(),
    }
}

fn damaged(what: &str) -> Error {
    foreign(&format!("it is damaged: {what}"))
}

/// Every vector has the length this model gives it.
fn check_shape(life: &InstanceState, fresh: &InstanceState, size: &Dimensions) -> Result<()> {
    let drive = |d: &InputState| (d.inputs.len(), d.parameters.len());
    let s = &life.state;
    let expected = match life.phase {
        InstancePhase::Created => State::default(),
        InstancePhase::Running => State::sized(size),
    };
    let lengths = |s: &State| {
        [
            s.q.len(),
            s.v.len(),
            s.acc.len(),
            s.lambda.len(),
            s.modes.len(),
            s.a.len(),
            s.delta.len(),
            s.delta_dot.len(),
            s.lambda_dot.len(),
            s.jerk.len(),
            s.scale.len(),
            s.redundant.len(),
            s.event_memory.len(),
            s.event_side.len(),
        ]
    };
    let fits = lengths(s) == lengths(&expected)
        && drive(&life.wanted) == drive(&fresh.wanted)
        && drive(&life.seen) == drive(&fresh.seen)
        && life.history.len() == fresh.history.len();
    match fits {
        true => Ok(()),
        false => Err(damaged("its size is not that of this model")),
    }
}

// --- the fields, each once ------------------------------------------------------------------------------------------

fn visit_life(c: &mut impl Codec, life: &mut InstanceState) -> Result<()> {
    let InstanceState {
        phase,
        start,
        stop,
        tolerance,
        extrapolation,
        wanted,
        seen,
        history,
        total_at_start,
        drift,
        report,
        state,
    } = life;
    let mut running = *phase == InstancePhase::Running;
    c.boolean(&mut running)?;
    *phase = match running {
        true => InstancePhase::Running,
        false => InstancePhase::Created,
    };
    let mut order = extrapolation.order();
    c.u32(&mut order)?;
    *extrapolation =
        Extrapolation::from_order(order).ok_or_else(|| damaged("unknown extrapolation"))?;
    for x in [start, stop, tolerance, total_at_start, drift] {
        c.f64(x)?;
    }
    visit_drive(c, wanted)?;
    visit_drive(c, seen)?;
    c.list(history, |c, h: &mut History| {
        let mut known = u32::from(h.known);
        c.u32(&mut known)?;
        h.known = u8::try_from(known).map_err(|_| damaged("a history too long"))?;
        h.t.iter_mut().chain(&mut h.u).try_for_each(|x| c.f64(x))
    })?;
    let mut there = report.is_some();
    c.boolean(&mut there)?;
    if there {
        let mut copy = report.as_deref().cloned().unwrap_or_default();
        visit_report(c, &mut copy)?;
        *report = Some(Arc::new(copy));
    }
    visit_state(c, state)
}

fn visit_drive(c: &mut impl Codec, drive: &mut InputState) -> Result<()> {
    let InputState { inputs, parameters } = drive;
    c.list(inputs, |c, course: &mut InputPolynomial| {
        let InputPolynomial {
            since,
            taylor,
            order,
            reached,
        } = course;
        c.f64(since)?;
        c.byte(order)?;
        (taylor.iter_mut().chain(reached)).try_for_each(|x| c.f64(x))
    })?;
    c.list(parameters, |c, x| c.f64(x))
}

fn visit_report(c: &mut impl Codec, report: &mut StartReport) -> Result<()> {
    let StartReport {
        closure_before,
        moved,
        velocity_changed,
        rank,
        redundant,
        immovable,
    } = report;
    for x in [closure_before, moved, velocity_changed] {
        c.f64(x)?;
    }
    let mut number = *rank as u64;
    c.u64(&mut number)?;
    *rank = usize::try_from(number).map_err(|_| damaged("a rank beyond all sizes"))?;
    [redundant, immovable].into_iter().try_for_each(|names| {
        c.list(names, |c, name: &mut String| {
            let mut bytes = name.as_bytes().to_vec();
            c.list(&mut bytes, |c, x| c.byte(x))?;
            *name = String::from_utf8(bytes).map_err(|_| damaged("a name that is no text"))?;
            Ok(())
        })
    })
}

fn visit_state(c: &mut impl Codec, state: &mut State) -> Result<()> {
    // Without "..": a field added to the state must be added here, and FORMAT raised.
    let State {
        t,
        q,
        v,
        acc,
        lambda,
        modes,
        dissipated,
        supplied,
        statistics,
        a,
        delta,
        delta_dot,
        lambda_dot,
        jerk,
        jerk_known,
        h,
        next_h,
        first,
        may_grow,
        newton_contraction: rate,
        rate_uses,
        corrector_rest,
        corrector_strikes,
        scale,
        redundant: dropped,
        factored_step,
        factored_mass,
        typical_pivot: usual_pivot,
        event_memory,
        event_side,
        event_streak,
    } = state;
    for x in [
        t,
        dissipated,
        supplied,
        h,
        next_h,
        rate,
        factored_step,
        usual_pivot,
    ] {
        c.f64(x)?;
    }
    for x in [rate_uses, corrector_rest, corrector_strikes, event_streak] {
        c.u32(x)?;
    }
    for x in [jerk_known, first, may_grow, factored_mass] {
        c.boolean(x)?;
    }
    for x in [
        q, v, acc, lambda, a, delta, delta_dot, lambda_dot, jerk, scale,
    ] {
        c.list(x, |c, x| c.f64(x))?;
    }
    c.list(modes, |c, x: &mut i32| {
        let mut bits = x.cast_unsigned();
        c.u32(&mut bits)?;
        *x = bits.cast_signed();
        Ok(())
    })?;
    c.list(dropped, |c, x| c.boolean(x))?;
    c.list(event_memory, |c, x| {
        let mut number = *x as u8;
        c.byte(&mut number)?;
        *x = EventMemory::from_number(number)
            .ok_or_else(|| damaged("an effect of an event that does not exist"))?;
        Ok(())
    })?;
    c.list(event_side, |c, x| {
        let mut bits = (*x as i8).cast_unsigned();
        c.byte(&mut bits)?;
        *x = EventSide::from_number(bits.cast_signed())
            .ok_or_else(|| damaged("a side of an event that does not exist"))?;
        Ok(())
    })?;
    visit_statistics(c, statistics)
}

fn visit_statistics(c: &mut impl Codec, statistics: &mut Statistics) -> Result<()> {
    for field in statistics.fields_mut() {
        match field {
            CounterMut::Count(count) => c.u64(count)?,
            CounterMut::Real(value) => c.f64(value)?,
        }
    }
    Ok(())
}

// --- writing, counting, reading -------------------------------------------------------------------------------------

/// One direction of travel.
trait Codec: Sized {
    /// Eight, four or one byte: written from the array, counted, or read into it.
    fn raw(&mut self, bytes: &mut [u8]) -> Result<()>;

    fn byte(&mut self, x: &mut u8) -> Result<()> {
        self.raw(std::slice::from_mut(x))
    }

    fn boolean(&mut self, x: &mut bool) -> Result<()> {
        let mut byte = u8::from(*x);
        self.byte(&mut byte)?;
        *x = match byte {
            0 => false,
            1 => true,
            _ => return Err(damaged("a yes or no that is neither")),
        };
        Ok(())
    }

    fn u32(&mut self, x: &mut u32) -> Result<()> {
        let mut bytes = x.to_le_bytes();
        self.raw(&mut bytes)?;
        *x = u32::from_le_bytes(bytes);
        Ok(())
    }

    fn u64(&mut self, x: &mut u64) -> Result<()> {
        let mut bytes = x.to_le_bytes();
        self.raw(&mut bytes)?;
        *x = u64::from_le_bytes(bytes);
        Ok(())
    }

    fn f64(&mut self, x: &mut f64) -> Result<()> {
        let mut bits = x.to_bits();
        self.u64(&mut bits)?;
        *x = f64::from_bits(bits);
        Ok(())
    }

    /// Length first. A length that the bytes left cannot hold is refused before anything is reserved for it.
    fn list<T: Clone + Default>(
        &mut self,
        list: &mut Vec<T>,
        mut each: impl FnMut(&mut Self, &mut T) -> Result<()>,
    ) -> Result<()> {
        let mut length = list.len() as u64;
        self.u64(&mut length)?;
        if length > self.left() {
            return Err(damaged("a list longer than all of it"));
        }
        list.resize(length as usize, T::default());
        list.iter_mut().try_for_each(|x| each(self, x))
    }

    /// Bytes that can still be read.
    fn left(&self) -> u64 {
        u64::MAX
    }
}

struct ByteWriter(Vec<u8>);

impl Codec for ByteWriter {
    fn raw(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

struct ByteCounter(usize);

impl Codec for ByteCounter {
    fn raw(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0 += bytes.len();
        Ok(())
    }
}

struct ByteReader<'a>(&'a [u8]);

impl Codec for ByteReader<'_> {
    fn raw(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (head, rest) = self
            .0
            .split_at_checked(bytes.len())
            .ok_or_else(|| damaged("it ends too early"))?;
        bytes.copy_from_slice(head);
        self.0 = rest;
        Ok(())
    }

    fn left(&self) -> u64 {
        self.0.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

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
        assert!(refusal(&instance, &bytes[..20]).contains("cut short"));
        assert!(refusal(&instance, &bytes[..100]).contains("cut or damaged: 100 bytes"));
        let mut spoilt = bytes.clone();
        spoilt[60] ^= 1;
        assert!(refusal(&instance, &spoilt).contains("checksum"));
        let mut later = bytes.clone();
        later[8] = 9;
        assert!(refusal(&instance, &later).contains("format 9"));
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
}
