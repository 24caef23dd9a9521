//! Tables as comma-separated values (RFC 4180): a head line with names, then numbers in the shortest form that gives the same
//! bits when read.

use std::io::{Result, Write};

/// Writes a table row by row.
pub struct Csv<W: Write> {
    out: W,
}

impl<W: Write> Csv<W> {
    /// Writes the head line.
    pub fn new<'a>(mut out: W, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(field).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Self { out })
    }

    /// Writes a second head line.
    pub fn units<'a>(&mut self, units: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let units: Vec<String> = units.into_iter().map(field).collect();
        writeln!(self.out, "{}", units.join(","))
    }

    /// Writes a row: the time, then the values.
    pub fn row(&mut self, time: f64, values: &[f64]) -> Result<()> {
        write!(self.out, "{}", Number(time))?;
        for &value in values {
            write!(self.out, ",{}", Number(value))?;
        }
        writeln!(self.out)
    }

    /// The writer.
    pub fn writer(&mut self) -> &mut W {
        &mut self.out
    }
}

/// A number as the shortest text that gives the same bits when read, with an exponent if that is shorter.
pub struct Number(pub f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || (1e-5..1e16).contains(&size) {
            write!(f, "{}", self.0)
        } else if size.is_finite() {
            write!(f, "{:e}", self.0)
        } else {
            // As C, Python and spreadsheets read them.
            let sign = if self.0 < 0.0 { "-" } else { "" };
            write!(f, "{sign}{}", if self.0.is_nan() { "nan" } else { "inf" })
        }
    }
}

/// A number for people: at most `digits` significant ones, no zeros at the end.
pub fn rounded(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return Number(value).to_string();
    }
    let text = format!("{value:.*e}", digits.max(1) - 1);
    Number(text.parse().unwrap_or(value)).to_string()
}

/// A text, quoted if necessary.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_as_expected() {
        let mut text = Vec::new();
        let mut csv = Csv::new(&mut text, ["time", "a,b", "say \"x\""]).unwrap();
        csv.row(0.0, &[1.5, -2.0]).unwrap();
        csv.row(0.1, &[f64::NAN, f64::NEG_INFINITY]).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "time,\"a,b\",\"say \"\"x\"\"\"\n0,1.5,-2\n0.1,nan,-inf\n"
        );
    }

    #[test]
    fn people_see_the_digits_that_mean_something() {
        for (value, digits, text) in [
            (0.30000000000000004, 7, "0.3"),
            (-1234567.891, 5, "-1234600"),
            (9.87654321e-12, 3, "9.88e-12"),
            (0.0, 4, "0"),
            (f64::NAN, 4, "nan"),
        ] {
            assert_eq!(rounded(value, digits), text);
        }
    }

    #[test]
    fn every_number_reads_back_as_the_same_bits() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            // xorshift64: all exponents, both signs.
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let value = f64::from_bits(bits);
            if value.is_finite() {
                let text = Number(value).to_string();
                assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits, "{text}");
                assert!(text.len() <= 25, "{text} is not short");
            }
        }
        assert_eq!(Number(-0.0).to_string(), "-0");
        assert_eq!(
            Number(0.30000000000000004).to_string(),
            "0.30000000000000004"
        );
        assert_eq!(Number(1e-7).to_string(), "1e-7");
    }
}
