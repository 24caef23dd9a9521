//! Columns of numbers as bytes that deflate well. Each column is a head and planes: byte k of all values, lowest first,
//! so that the bytes which hardly change stand together.
//!
//! ```text
//!   head    kind u8, order u8, planes u8, 0, count u32, offset f64, quantum f64      (little endian)
//!   exact   the eight bytes of each f64, or the four of each f32
//!   stepped x_i = offset + quantum k_i; differences of k of this order (k_-1 = k_-2 = 0), zigzag: 0, -1, 1, -2, 2 ..
//! ```

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const F64: u8 = 0;
const F32: u8 = 1;
const STEPPED: u8 = 2;

/// A column whose range is this many times that of most of its values is not rounded to its range: at a resolution of 1e-9
/// these values still have six digits.
const OUTLIER: f64 = 1e3;
/// Values of a column that are looked at for its usual range.
const SPREAD: usize = 1000;

/// Columns behind each other, in the order in which the page reads them.
#[derive(Default)]
pub struct EncodedColumns {
    bytes: Vec<u8>,
}

impl EncodedColumns {
    /// Every bit is kept.
    pub fn exact(&mut self, values: &[f64]) {
        self.head(F64, 0, 8, values.len(), 0.0, 0.0);
        for plane in 0..8 {
            self.bytes
                .extend(values.iter().map(|x| x.to_le_bytes()[plane]));
        }
    }

    /// Rounded to single precision: for values that span many decades.
    pub fn single(&mut self, values: &[f64]) {
        self.head(F32, 0, 4, values.len(), 0.0, 0.0);
        for plane in 0..4 {
            self.bytes
                .extend(values.iter().map(|x| (*x as f32).to_le_bytes()[plane]));
        }
    }

    /// Whole numbers, kept exactly (up to 2⁵¹).
    pub fn whole(&mut self, values: &[f64]) {
        self.stepped(values, 0.0, 1.0);
    }

    /// Rounded to `resolution` of the column's range, or to single precision where a few values are far outside the range of
    /// the others, as at the end of a run that failed. All values are finite.
    pub fn rounded(&mut self, values: &[f64], resolution: f64) {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let usual = usual_range(values);
        if usual > 0.0 && high - low > OUTLIER * usual {
            match high.max(-low) < f64::from(f32::MAX) {
                true => self.single(values),
                false => self.exact(values),
            }
            return;
        }
        let quantum = (high - low) * resolution;
        if !(quantum > 0.0 && quantum.is_finite()) {
            // One value all along; or none at all.
            let value = values.first().copied().unwrap_or(0.0);
            self.head(STEPPED, 0, 0, values.len(), value, 0.0);
            return;
        }
        self.stepped(values, low, quantum);
    }

    fn stepped(&mut self, values: &[f64], offset: f64, quantum: f64) {
        let steps: Vec<i64> = values
            .iter()
            .map(|x| ((x - offset) / quantum).round() as i64)
            .collect();
        let order = cheapest_order(&steps);
        let codes: Vec<u64> = zigzags(&steps).map(|all| all[usize::from(order)]).collect();
        let largest = codes.iter().copied().max().unwrap_or(0);
        let planes = (64 - largest.leading_zeros()).div_ceil(8) as u8;
        self.head(STEPPED, order, planes, values.len(), offset, quantum);
        for plane in 0..usize::from(planes) {
            self.bytes
                .extend(codes.iter().map(|c| c.to_le_bytes()[plane]));
        }
    }

    fn head(&mut self, kind: u8, order: u8, planes: u8, count: usize, offset: f64, quantum: f64) {
        let count = u32::try_from(count).expect("fewer rows than u32 counts");
        self.bytes.extend([kind, order, planes, 0]);
        self.bytes.extend(count.to_le_bytes());
        self.bytes.extend(offset.to_le_bytes());
        self.bytes.extend(quantum.to_le_bytes());
    }

    /// All of it as a raw deflate stream in base64.
    pub fn finish(self) -> String {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        encoder
            .write_all(&self.bytes)
            .and_then(|()| encoder.finish())
            .map(|packed| base64(&packed))
            .expect("writing to memory does not fail")
    }
}

/// Range of the values without the outermost, from evenly spread ones of them.
fn usual_range(values: &[f64]) -> f64 {
    let step = values.len().div_ceil(SPREAD).max(1);
    let mut some: Vec<f64> = values.iter().copied().step_by(step).collect();
    some.sort_by(f64::total_cmp);
    let outside = some.len() * 3 / 100 + 1;
    match some.len() > 2 * outside {
        true => some[some.len() - 1 - outside] - some[outside],
        false => 0.0,
    }
}

/// Of each value, itself and its differences of first and second order as non-negative codes.
fn zigzags(steps: &[i64]) -> impl Iterator<Item = [u64; 3]> {
    let (mut last, mut last_difference) = (0, 0);
    steps.iter().map(move |&k| {
        let difference = k - last;
        let all = [k, difference, difference - last_difference];
        (last, last_difference) = (k, difference);
        all.map(|x| ((x << 1) ^ (x >> 63)) as u64)
    })
}

/// The order of differences whose codes need the fewest bits.
fn cheapest_order(steps: &[i64]) -> u8 {
    let mut bits = [0; 3];
    for codes in zigzags(steps) {
        for (sum, code) in bits.iter_mut().zip(codes) {
            *sum += u64::from(64 - code.leading_zeros());
        }
    }
    (0..3)
        .min_by_key(|order| bits[usize::from(*order)])
        .expect("three orders")
}

/// RFC 4648, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let three = [
            group[0],
            group.get(1).copied().unwrap_or(0),
            group.get(2).copied().unwrap_or(0),
        ];
        let word = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for digit in 0..4 {
            if digit <= group.len() {
                let index = (word >> (18 - 6 * digit)) & 63;
                text.push(char::from(DIGITS[index as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the page reads a column.
    fn decoded(bytes: &[u8]) -> Vec<f64> {
        let number = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let (kind, order, planes) = (bytes[0], bytes[1], usize::from(bytes[2]));
        let count = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        let (offset, quantum) = (number(8), number(16));
        let (mut k, mut difference) = (0.0, 0.0);
        (0..count)
            .map(|i| {
                let byte = |plane: usize| bytes[24 + plane * count + i];
                if kind == F64 {
                    return f64::from_le_bytes(std::array::from_fn(byte));
                }
                if kind == F32 {
                    return f64::from(f32::from_le_bytes(std::array::from_fn(byte)));
                }
                let code = (0..planes)
                    .rev()
                    .fold(0.0, |sum, p| sum * 256.0 + f64::from(byte(p)));
                let x = if code % 2.0 == 1.0 {
                    -(code + 1.0) / 2.0
                } else {
                    code / 2.0
                };
                match order {
                    0 => k = x,
                    1 => k += x,
                    _ => {
                        difference += x;
                        k += difference;
                    }
                }
                offset + quantum * k
            })
            .collect()
    }

    #[test]
    fn columns_come_back_within_their_resolution() {
        let wave: Vec<f64> = (0..500)
            .map(|i| 3.0 + (0.05 * f64::from(i)).sin())
            .collect();
        let jumps: Vec<f64> = (0..500)
            .map(|i| f64::from(i * 7919 % 13) * 1e6 - 4e6)
            .collect();
        for values in [&wave, &jumps] {
            for resolution in [1e-4, 1e-6, 1e-9] {
                let mut columns = EncodedColumns::default();
                columns.rounded(values, resolution);
                let range = values.iter().fold(f64::MIN, |a, b| a.max(*b))
                    - values.iter().fold(f64::MAX, |a, b| a.min(*b));
                for (x, y) in values.iter().zip(decoded(&columns.bytes)) {
                    assert!((x - y).abs() <= 0.51 * resolution * range, "{x} {y}");
                }
            }
        }
        // A run that failed: the last value is beyond all measure.
        for last in [1e26, -1e200] {
            let mut broken = wave.clone();
            broken.push(last);
            let mut columns = EncodedColumns::default();
            columns.rounded(&broken, 1e-6);
            for (x, y) in broken.iter().zip(decoded(&columns.bytes)) {
                // Half a unit in the last place of single precision.
                assert!((x - y).abs() <= 6e-8 * x.abs(), "{x} {y}");
            }
        }
        let mut columns = EncodedColumns::default();
        columns.exact(&wave);
        assert_eq!(decoded(&columns.bytes), wave);
        let mut columns = EncodedColumns::default();
        columns.rounded(&[0.1; 9], 1e-6);
        assert_eq!(decoded(&columns.bytes), [0.1; 9]);
        let mut columns = EncodedColumns::default();
        columns.whole(&[0.0, 5.0, 3.0, 1e9, 2.0]);
        assert_eq!(decoded(&columns.bytes), [0.0, 5.0, 3.0, 1e9, 2.0]);
        let mut columns = EncodedColumns::default();
        columns.single(&[1e-30, f64::INFINITY, -2.5]);
        assert_eq!(decoded(&columns.bytes)[1..], [f64::INFINITY, -2.5]);
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
