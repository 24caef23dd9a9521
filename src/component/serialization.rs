//! Serialisation of a saved state for files and other processes:
//!
//! ```text
//!   magic 8 | format 4 | zero 4 | fingerprint of the model's words 8 | length of all 8 | of its meaning 8 | content | FNV-1a of all 8
//! ```
//!
//! The words are the same in every build of the library. The meaning recognises a model that is written in other words, by the
//! same build.
//!
//! Little-endian on every machine, doubles as their bits, so that a state is restored exactly. One list of fields serves writing,
//! counting and reading.

use std::sync::Arc;

use super::Instance;
use super::error_bars::{CompanionState, visit_companion};
use super::input::{Extrapolation, InputHistory, InputPolynomial, InputState};
use super::instance_state::{InstancePhase, InstanceState, SavedState, fnv};
use super::look_ahead::LookAhead;
use crate::error::{Error, Result};
use crate::formulation::IntegralMemory;
use crate::integrator::{EventMemory, EventSide, StartReport, State, StateVisitor, Statistics};
use crate::model::counters::CounterMut;

/// Not text, and changed by a transfer in text mode.
const MAGIC: [u8; 8] = *b"biela\r\n\x1a";
/// Version of the content; increased with every change of it.
const FORMAT: u32 = 9;
/// Bytes of the header.
pub(super) const HEADER: usize = 40;
/// Bytes of the checksum.
pub(super) const CHECKSUM: usize = 8;

impl SavedState {
    /// The state as bytes, for [`Instance::deserialize`] of any instance of the same model in any process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.serialized_size();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.fingerprint.words.to_le_bytes());
        bytes.extend((size as u64).to_le_bytes());
        bytes.extend(self.fingerprint.meaning.to_le_bytes());
        let mut writer = ByteWriter(bytes);
        let written = self.visit(&mut writer);
        written.expect("writing to memory cannot fail");
        let mut bytes = writer.0;
        let checksum = fnv(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// Number of bytes of [`SavedState::to_bytes`].
    pub fn serialized_size(&self) -> usize {
        let mut counter = ByteCounter(0);
        let counted = self.visit(&mut counter);
        counted.expect("counting cannot fail");
        HEADER + counter.0 + CHECKSUM
    }

    /// The state of the run; with error bars that of the companion run follows.
    fn visit(&self, c: &mut impl Codec) -> Result<()> {
        visit_instance(c, &mut self.state.clone())?;
        match &self.companion {
            Some(companion) => visit_companion(c, &mut companion.as_ref().clone()),
            None => Ok(()),
        }
    }
}

impl Instance {
    /// The state from bytes of [`SavedState::to_bytes`] of an instance of the same model. An error if they are of another model,
    /// truncated or damaged.
    pub fn deserialize(&self, bytes: &[u8]) -> Result<SavedState> {
        let content = self.content(bytes)?;
        let mut reader = ByteReader(content);
        let mut state = InstanceState::new(&self.model);
        visit_instance(&mut reader, &mut state)?;
        let mut companion = None;
        if let Some(present) = &self.companion {
            let mut read = CompanionState {
                state: InstanceState::new(&present.instance.model),
                bars: present.bars.clone(),
            };
            visit_companion(&mut reader, &mut read)?;
            present.check_companion(&read)?;
            companion = Some(Box::new(read));
        }
        if !reader.0.is_empty() {
            return Err(damaged("it has more bytes than a state"));
        }
        self.check_state(&state)?;
        Ok(SavedState {
            fingerprint: self.fingerprint,
            state,
            companion,
        })
    }

    /// The bytes between header and checksum, if both are correct.
    fn content<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8]> {
        let number = |from: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[from..from + 8]);
            u64::from_le_bytes(eight)
        };
        if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
            return Err(foreign("these are not the bytes of a saved state"));
        }
        if bytes.len() < HEADER + CHECKSUM {
            let all = bytes.len();
            return Err(foreign(&format!(
                "it is truncated: it has only {all} bytes"
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
                "it is truncated or damaged: it has {there} bytes, its header says {length}"
            )));
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum != fnv(body).to_le_bytes() {
            return Err(damaged("its checksum is wrong"));
        }
        let same_words = number(16) == self.fingerprint.words;
        if !same_words && number(32) != self.fingerprint.meaning {
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

pub(super) fn damaged(what: &str) -> Error {
    foreign(&format!("it is damaged: {what}"))
}

// --- the list of fields ------------------------------------------------------------------------------------------

pub(super) fn visit_instance(c: &mut impl Codec, instance: &mut InstanceState) -> Result<()> {
    let InstanceState {
        phase,
        start,
        stop,
        tolerance,
        extrapolation,
        pending,
        applied,
        history,
        total_at_start,
        energy_drift,
        start_report,
        motion,
        ahead,
    } = instance;
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
    for x in [start, stop, tolerance, total_at_start, energy_drift] {
        c.f64(x)?;
    }
    visit_inputs(c, pending)?;
    visit_inputs(c, applied)?;
    c.list(history, |c, h: &mut InputHistory| {
        let mut count = u32::from(h.count);
        c.u32(&mut count)?;
        h.count = u8::try_from(count).map_err(|_| damaged("a history too long"))?;
        h.t.iter_mut().chain(&mut h.u).try_for_each(|x| c.f64(x))
    })?;
    let mut present = start_report.is_some();
    c.boolean(&mut present)?;
    if present {
        let mut copy = start_report.as_deref().cloned().unwrap_or_default();
        visit_report(c, &mut copy)?;
        *start_report = Some(Arc::new(copy));
    }
    visit_motion(c, motion)?;
    let LookAhead {
        active,
        start,
        end,
        not_before,
        unchanged,
    } = ahead;
    c.boolean(active)?;
    c.boolean(unchanged)?;
    c.f64(not_before)?;
    match *active {
        true => [start, end]
            .into_iter()
            .try_for_each(|x| visit_motion(c, x)),
        false => Ok(()),
    }
}

fn visit_inputs(c: &mut impl Codec, inputs: &mut InputState) -> Result<()> {
    let InputState {
        inputs,
        parameters,
        laws: _,
    } = inputs;
    c.list(inputs, |c, input: &mut InputPolynomial| {
        let InputPolynomial {
            since,
            taylor,
            order,
            position_and_speed,
            piece,
        } = input;
        c.f64(since)?;
        c.byte(order)?;
        let mut follows = piece.is_some();
        c.boolean(&mut follows)?;
        let mut bits = piece.unwrap_or(0).cast_unsigned();
        c.u64(&mut bits)?;
        *piece = follows.then_some(bits.cast_signed());
        (taylor.iter_mut().chain(position_and_speed)).try_for_each(|x| c.f64(x))
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
    *rank = usize::try_from(number).map_err(|_| damaged("a rank that is too large"))?;
    [redundant, immovable]
        .into_iter()
        .try_for_each(|names| c.list(names, visit_text))
}

pub(super) fn visit_text<C: Codec>(c: &mut C, text: &mut String) -> Result<()> {
    let mut bytes = text.as_bytes().to_vec();
    c.list(&mut bytes, |c, x| c.byte(x))?;
    *text = String::from_utf8(bytes).map_err(|_| damaged("a name that is not text"))?;
    Ok(())
}

fn visit_motion(c: &mut impl Codec, state: &mut State) -> Result<()> {
    state.visit(&mut MotionCodec(c))
}

/// The fields of the integrator's state as bytes.
struct MotionCodec<'a, C>(&'a mut C);

impl<C: Codec> StateVisitor for MotionCodec<'_, C> {
    fn real(&mut self, x: &mut f64) -> Result<()> {
        self.0.f64(x)
    }

    fn count(&mut self, x: &mut u32) -> Result<()> {
        self.0.u32(x)
    }

    fn flag(&mut self, x: &mut bool) -> Result<()> {
        self.0.boolean(x)
    }

    fn reals(&mut self, x: &mut Vec<f64>) -> Result<()> {
        self.0.list(x, |c, x| c.f64(x))
    }

    fn modes(&mut self, x: &mut Vec<i32>) -> Result<()> {
        self.0.list(x, |c, x: &mut i32| {
            let mut bits = x.cast_unsigned();
            c.u32(&mut bits)?;
            *x = bits.cast_signed();
            Ok(())
        })
    }

    fn integrals(&mut self, x: &mut Vec<IntegralMemory>) -> Result<()> {
        self.0.list(x, |c, integral| {
            let IntegralMemory {
                t,
                value,
                integrand,
                previous_step,
                previous,
            } = integral;
            (([t, value, previous_step].into_iter())
                .chain(integrand)
                .chain(previous))
            .try_for_each(|x| c.f64(x))
        })
    }

    fn flags(&mut self, x: &mut Vec<bool>) -> Result<()> {
        self.0.list(x, |c, x| c.boolean(x))
    }

    fn effects(&mut self, x: &mut Vec<EventMemory>) -> Result<()> {
        self.0.list(x, |c, x| {
            let mut number = *x as u8;
            c.byte(&mut number)?;
            *x = EventMemory::from_number(number)
                .ok_or_else(|| damaged("an effect of an event that does not exist"))?;
            Ok(())
        })
    }

    fn sides(&mut self, x: &mut Vec<EventSide>) -> Result<()> {
        self.0.list(x, |c, x| {
            let mut bits = (*x as i8).cast_unsigned();
            c.byte(&mut bits)?;
            *x = EventSide::from_number(bits.cast_signed())
                .ok_or_else(|| damaged("a side of an event that does not exist"))?;
            Ok(())
        })
    }

    fn counters(&mut self, x: &mut Statistics) -> Result<()> {
        for field in x.fields_mut() {
            match field {
                CounterMut::Count(count) => self.0.u64(count)?,
                CounterMut::Real(value) => self.0.f64(value)?,
            }
        }
        Ok(())
    }
}

// --- writing, counting, reading -------------------------------------------------------------------------------------

/// Writer, counter or reader of bytes.
pub(super) trait Codec: Sized {
    /// Eight, four or one byte: written from `bytes`, counted, or read into it.
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
            _ => return Err(damaged("a truth value that is neither 0 nor 1")),
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

    /// A length and the elements. A length larger than the remaining bytes is an error before anything is allocated.
    fn list<T: Clone + Default>(
        &mut self,
        list: &mut Vec<T>,
        mut each: impl FnMut(&mut Self, &mut T) -> Result<()>,
    ) -> Result<()> {
        let mut length = list.len() as u64;
        self.u64(&mut length)?;
        if length > self.remaining() {
            return Err(damaged("a list longer than the bytes"));
        }
        list.resize(length as usize, T::default());
        list.iter_mut().try_for_each(|x| each(self, x))
    }

    /// Number of bytes that can still be read.
    fn remaining(&self) -> u64 {
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

    fn remaining(&self) -> u64 {
        self.0.len() as u64
    }
}
