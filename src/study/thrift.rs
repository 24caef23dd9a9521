//! The compact protocol of Apache Thrift, as far as the metadata of Parquet files need it.
//!
//! ```text
//!   field    (id − id before) << 4 | type, then the value; a structure ends with 0
//!   number   zigzag, then seven bits a byte, the lowest first
//!   text     length, bytes          list    length << 4 | type (15: the length follows), values
//! ```

const INT32: u8 = 5;
const INT64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCTURE: u8 = 12;

/// A value of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum ThriftValue {
    /// A number, or the number of an enumeration.
    Int32(i32),
    /// A long number.
    Int64(i64),
    /// Bytes, mostly text.
    Binary(Vec<u8>),
    /// Values of one type.
    List(Vec<ThriftValue>),
    /// Fields by their rising numbers.
    Structure(Vec<(i16, ThriftValue)>),
}

use ThriftValue::{Binary, Int32, Int64, List, Structure};

impl ThriftValue {
    /// A text.
    pub fn text(text: &str) -> Self {
        Binary(text.as_bytes().to_vec())
    }

    fn kind(&self) -> u8 {
        match self {
            Int32(_) => INT32,
            Int64(_) => INT64,
            Binary(_) => BINARY,
            List(_) => LIST,
            Structure(_) => STRUCTURE,
        }
    }

    /// Writes the value.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Int32(value) => write_varint(zigzag(i64::from(*value)), out),
            Int64(value) => write_varint(zigzag(*value), out),
            Binary(bytes) => {
                write_varint(bytes.len() as u64, out);
                out.extend_from_slice(bytes);
            }
            List(values) => {
                let kind = values.first().map_or(STRUCTURE, Self::kind);
                match u8::try_from(values.len()) {
                    Ok(length @ 0..15) => out.push(length << 4 | kind),
                    _ => {
                        out.push(0xF0 | kind);
                        write_varint(values.len() as u64, out);
                    }
                }
                values.iter().for_each(|value| value.write(out));
            }
            Structure(fields) => {
                let mut before = 0;
                for (id, value) in fields {
                    // All structures of Parquet have neighbouring numbers.
                    let step = u8::try_from(id - before).unwrap_or(0);
                    debug_assert!((1..16).contains(&step));
                    out.push(step << 4 | value.kind());
                    value.write(out);
                    before = *id;
                }
                out.push(0);
            }
        }
    }

    /// A field of a structure.
    pub fn field(&self, id: i16) -> Option<&Self> {
        match self {
            Structure(fields) => fields
                .iter()
                .find(|(other, _)| *other == id)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// A field that is a number.
    pub fn number(&self, id: i16) -> Option<i64> {
        match self.field(id)? {
            Int32(value) => Some(i64::from(*value)),
            Int64(value) => Some(*value),
            _ => None,
        }
    }

    /// A field that is a text.
    pub fn string(&self, id: i16) -> Option<String> {
        match self.field(id)? {
            Binary(bytes) => String::from_utf8(bytes.clone()).ok(),
            _ => None,
        }
    }

    /// The values of a field that is a list; none if it is not there.
    pub fn list(&self, id: i16) -> &[Self] {
        match self.field(id) {
            Some(List(values)) => values,
            _ => &[],
        }
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Seven bits a byte, the lowest first.
pub fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads from bytes; whatever does not fit is `None`.
pub struct ByteSource<'a> {
    bytes: &'a [u8],
}

/// Deepest nesting that is read. Metadata of Parquet need five.
const DEEPEST: usize = 20;

impl<'a> ByteSource<'a> {
    /// From the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A number of seven bits a byte.
    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A structure.
    pub fn structure(&mut self) -> Option<ThriftValue> {
        self.value(STRUCTURE, 0)
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<ThriftValue> {
        if depth > DEEPEST {
            return None;
        }
        Some(match kind {
            INT32 => Int32(i32::try_from(self.zigzag()?).ok()?),
            INT64 => Int64(self.zigzag()?),
            BINARY => {
                let length = usize::try_from(self.varint()?).ok()?;
                Binary(self.take(length)?.to_vec())
            }
            LIST => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    short => u64::from(short),
                };
                let values = (0..count).map(|_| self.value(head & 15, depth + 1));
                List(values.collect::<Option<Vec<_>>>()?)
            }
            STRUCTURE => {
                let (mut fields, mut id) = (Vec::new(), 0i16);
                loop {
                    let head = self.byte()?;
                    if head == 0 {
                        break Structure(fields);
                    }
                    id = match head >> 4 {
                        0 => i16::try_from(self.zigzag()?).ok()?,
                        step => id.checked_add(i16::from(step))?,
                    };
                    fields.push((id, self.value(head & 15, depth + 1)?));
                }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back() {
        let numbers = [0, 1, -1, 300, i64::MIN, i64::MAX];
        let value = Structure(vec![
            (1, Int32(i32::MIN)),
            (3, List(numbers.map(Int64).to_vec())),
            (
                4,
                List((0..20).map(|k| ThriftValue::text(&"x".repeat(k))).collect()),
            ),
            (10, Structure(vec![(1, Structure(vec![]))])),
        ]);
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        assert_eq!(ByteSource::new(&bytes).structure(), Some(value));
        for length in 0..bytes.len() {
            assert_eq!(
                ByteSource::new(&bytes[..length]).structure(),
                None,
                "{length}"
            );
        }
    }

    #[test]
    fn numbers_are_those_of_the_standard() {
        let mut bytes = Vec::new();
        Structure(vec![(1, Int32(-1)), (2, Int64(150))]).write(&mut bytes);
        assert_eq!(bytes, [0x15, 0x01, 0x16, 0xAC, 0x02, 0x00]);
    }
}
