//! Reader of Matrix Market files, the text format in which finite-element programs hand out their matrices:
//!
//! ```text
//!   %%MatrixMarket matrix coordinate real symmetric        array: values only, column by column
//!   % comments                                             general, symmetric, skew-symmetric
//!   rows columns entries                                   real, integer
//!   i j value                                              i and j from 1; symmetric: i >= j only
//! ```
//!
//! The file is read line by line and nothing is believed before it has been read: memory grows with the entries that
//! are there, not with those the header promises. Entries at equal places are added, as assembled elements are.
//! Blank lines, comments anywhere, Windows line ends, and `D` for the exponent are accepted.

use std::io::{BufRead, Read};

use super::csr::{MAX_ENTRIES, Triplet};

/// Longest line that is not a comment (bytes). The format allows 1024.
const LONGEST_LINE: usize = 4096;
/// Most rows or columns: indices are 32 bits wide.
const MOST_ROWS: u64 = u32::MAX as u64 - 1;

/// What is wrong with a file, and where (both from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixMarketError {
    /// Line.
    pub line: usize,
    /// Column, in bytes.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
}

/// A matrix as it stands in a file, with both triangles where the file gives one.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixMarketTable {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Entries in the order of the file, counted from zero; zeros are left out.
    pub entries: Vec<Triplet>,
    /// Where the sizes stand, for complaints about them.
    pub size_line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

impl Symmetry {
    /// First row of column j that an array gives.
    fn first_row(self, j: u64) -> u64 {
        match self {
            Self::General => 0,
            Self::Symmetric => j,
            Self::Skew => j + 1,
        }
    }
}

/// Reads a matrix. Errors of the stream itself are reported at the line they occur in.
pub fn read_matrix_market(input: impl BufRead) -> Result<MatrixMarketTable, MatrixMarketError> {
    let mut lines = Lines {
        input,
        buffer: Vec::new(),
        line: 0,
    };
    let (coordinate, integer, symmetry) = banner(&mut lines)?;
    let (rows, columns, promised) = sizes(&mut lines, coordinate)?;
    let size_line = lines.line;
    if symmetry != Symmetry::General && rows != columns {
        let message = format!("a symmetric matrix is square, found {rows} x {columns}");
        return Err(lines.fault(1, message));
    }
    let mut reader = EntryReader {
        integer,
        symmetry,
        rows,
        columns,
        entries: Vec::new(),
    };
    if coordinate {
        reader.coordinates(&mut lines, promised)?;
    } else {
        reader.array(&mut lines)?;
    }
    Ok(MatrixMarketTable {
        rows: rows as usize,
        columns: columns as usize,
        entries: reader.entries,
        size_line,
    })
}

struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Number of the line in the buffer.
    line: usize,
}

impl<R: BufRead> Lines<R> {
    fn fault(&self, column: usize, message: impl Into<String>) -> MatrixMarketError {
        MatrixMarketError {
            line: self.line.max(1),
            column,
            message: message.into(),
        }
    }

    /// The next line into the buffer, without its end; false at the end of the file.
    fn advance(&mut self) -> Result<bool, MatrixMarketError> {
        self.buffer.clear();
        self.line += 1;
        let limit = LONGEST_LINE as u64 + 2;
        let mut part = self.input.by_ref().take(limit);
        let outcome = part.read_until(b'\n', &mut self.buffer);
        outcome.map_err(|e| self.fault(1, format!("the file cannot be read: {e}")))?;
        if self.buffer.is_empty() {
            self.line -= 1;
            return Ok(false);
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if self.buffer.len() > LONGEST_LINE {
            if self.buffer[0] != b'%' {
                let message = format!("the line has more than {LONGEST_LINE} bytes");
                return Err(self.fault(1, message));
            }
            self.skip_line()?;
        }
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
        }
        Ok(true)
    }

    /// The rest of a line, unread.
    fn skip_line(&mut self) -> Result<(), MatrixMarketError> {
        loop {
            let part = match self.input.fill_buf() {
                Ok(part) => part,
                Err(e) => {
                    let message = format!("the file cannot be read: {e}");
                    return Err(self.fault(1, message));
                }
            };
            let (used, done) = match part.iter().position(|&b| b == b'\n') {
                Some(at) => (at + 1, true),
                None => (part.len(), part.is_empty()),
            };
            self.input.consume(used);
            if done {
                return Ok(());
            }
        }
    }

    /// The next line with something on it that is no comment.
    fn next(&mut self) -> Result<bool, MatrixMarketError> {
        while self.advance()? {
            let first = self.buffer.iter().find(|b| !b.is_ascii_whitespace());
            if !matches!(first, None | Some(b'%')) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn text(&self) -> Result<&str, MatrixMarketError> {
        std::str::from_utf8(&self.buffer).map_err(|e| {
            let column = e.valid_up_to() + 1;
            self.fault(column, "this is no text")
        })
    }
}

/// At most 30 characters, for messages.
fn shorten(word: &str) -> String {
    let mut short: String = (word.chars().take(30))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if word.chars().nth(30).is_some() {
        short.push('…');
    }
    short
}

/// Format is coordinate, values are integers, symmetry.
fn banner<R: BufRead>(lines: &mut Lines<R>) -> Result<(bool, bool, Symmetry), MatrixMarketError> {
    const EXPECTED: &str = "expected \"%%MatrixMarket matrix coordinate real general\" or the like";
    if !lines.advance()? {
        return Err(lines.fault(1, format!("the file is empty: {EXPECTED}")));
    }
    let text = lines.text()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let words: Vec<String> = text
        .split_ascii_whitespace()
        .map(str::to_ascii_lowercase)
        .collect();
    if words.first().map(String::as_str) != Some("%%matrixmarket") {
        return Err(lines.fault(1, format!("this is no Matrix Market file: {EXPECTED}")));
    }
    let [_, object, format, field, symmetry] = &words[..] else {
        let found = words.len() - 1;
        let message = format!("the header has {found} words where it should have 4: {EXPECTED}");
        return Err(lines.fault(1, message));
    };
    let refuse = |what: &str, word: &str, expected: &str| {
        let message = format!(
            "{what} \"{}\" cannot be used: expected {expected}",
            shorten(word)
        );
        Err(lines.fault(1, message))
    };
    if object != "matrix" {
        return refuse("the object", object, "matrix");
    }
    let coordinate = match format.as_str() {
        "coordinate" => true,
        "array" => false,
        other => return refuse("the format", other, "coordinate or array"),
    };
    let integer = match field.as_str() {
        "real" | "double" => false,
        "integer" => true,
        // A pattern has places and no values, a complex matrix has two values for each.
        other => return refuse("the field", other, "real or integer"),
    };
    let symmetry = match symmetry.as_str() {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        other => {
            return refuse(
                "the symmetry",
                other,
                "general, symmetric or skew-symmetric",
            );
        }
    };
    Ok((coordinate, integer, symmetry))
}

/// Rows, columns, entries (array: as many as there are places).
fn sizes<R: BufRead>(
    lines: &mut Lines<R>,
    coordinate: bool,
) -> Result<(u64, u64, u64), MatrixMarketError> {
    let expected = if coordinate {
        "three whole numbers: rows, columns, entries"
    } else {
        "two whole numbers: rows, columns"
    };
    if !lines.next()? {
        let message = format!("the file ends where its sizes should be: expected {expected}");
        return Err(lines.fault(1, message));
    }
    let text = lines.text()?;
    let mut numbers = [0u64; 3];
    let count = if coordinate { 3 } else { 2 };
    let mut words = Words::new(text);
    for number in &mut numbers[..count] {
        let Some((word, column)) = words.next() else {
            let message = format!("expected {expected}, found \"{}\"", shorten(text));
            return Err(lines.fault(1, message));
        };
        *number = word.parse().map_err(|_| {
            let message = format!("expected {expected}, found \"{}\"", shorten(word));
            lines.fault(column, message)
        })?;
    }
    if let Some((word, column)) = words.next() {
        let message = format!(
            "expected {expected} and no more, found \"{}\"",
            shorten(word)
        );
        return Err(lines.fault(column, message));
    }
    let [rows, columns, entries] = numbers;
    for (name, number) in [("rows", rows), ("columns", columns)] {
        if !(1..=MOST_ROWS).contains(&number) {
            let message = format!("{number} {name}: expected 1 to {MOST_ROWS}");
            return Err(lines.fault(1, message));
        }
    }
    Ok((rows, columns, entries))
}

/// The words of a line with their columns.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = (&'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.as_bytes();
        while self.at < rest.len() && rest[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        let from = self.at;
        while self.at < rest.len() && !rest[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        // ASCII white space is never part of another character, so both ends are boundaries.
        (self.at > from).then(|| (&self.text[from..self.at], from + 1))
    }
}

struct EntryReader {
    integer: bool,
    symmetry: Symmetry,
    rows: u64,
    columns: u64,
    entries: Vec<Triplet>,
}

impl EntryReader {
    fn coordinates<R: BufRead>(
        &mut self,
        lines: &mut Lines<R>,
        promised: u64,
    ) -> Result<(), MatrixMarketError> {
        let mut found = 0u64;
        while lines.next()? {
            if found == promised {
                let message = format!("one entry more than the {promised} the header promises");
                return Err(lines.fault(1, message));
            }
            let text = lines.text()?;
            let mut words = Words::new(text);
            let (Some(i), Some(j), Some(value)) = (words.next(), words.next(), words.next()) else {
                let message = format!(
                    "expected row, column and value, found \"{}\"",
                    shorten(text)
                );
                return Err(lines.fault(1, message));
            };
            if let Some((word, column)) = words.next() {
                let message = format!(
                    "expected row, column and value and no more, found \"{}\"",
                    shorten(word)
                );
                return Err(lines.fault(column, message));
            }
            let row = index(lines, i, "row", self.rows)?;
            let column = index(lines, j, "column", self.columns)?;
            let x = self.number(lines, value)?;
            self.triangle(lines, row, column, i.1)?;
            self.push(lines, row, column, x)?;
            found += 1;
        }
        if found < promised {
            let message = format!(
                "the file ends after {found} of the {promised} entries its header promises"
            );
            return Err(lines.fault(1, message));
        }
        Ok(())
    }

    /// Values column by column; of symmetric matrices the lower triangle, of skew ones without the diagonal.
    fn array<R: BufRead>(&mut self, lines: &mut Lines<R>) -> Result<(), MatrixMarketError> {
        let (rows, columns) = (self.rows, self.columns);
        let last = match self.symmetry {
            // The last column of a skew matrix has nothing below its diagonal.
            Symmetry::Skew => columns - 1,
            _ => columns,
        };
        let (mut i, mut j, mut found) = (self.symmetry.first_row(0), 0, 0u64);
        let mut values = Vec::new();
        while lines.next()? {
            values.clear();
            for word in Words::new(lines.text()?) {
                values.push((self.number(lines, word)?, word.1));
            }
            for &(x, column) in &values {
                if j == last {
                    let message =
                        format!("one value more than the {found} of a {rows} x {columns} matrix");
                    return Err(lines.fault(column, message));
                }
                self.push(lines, i as u32, j as u32, x)?;
                found += 1;
                i += 1;
                if i == rows {
                    j += 1;
                    i = self.symmetry.first_row(j);
                }
            }
        }
        if j < last {
            let message = format!(
                "the file ends after {found} values, in column {} of {columns}",
                j + 1
            );
            return Err(lines.fault(1, message));
        }
        Ok(())
    }

    fn number<R: BufRead>(
        &self,
        lines: &Lines<R>,
        (word, column): (&str, usize),
    ) -> Result<f64, MatrixMarketError> {
        let refuse = |expected: &str| {
            let message = format!("expected {expected}, found \"{}\"", shorten(word));
            Err(lines.fault(column, message))
        };
        let parsed = match word.find(['d', 'D']) {
            // Fortran's exponent; "infinity" and the like have other letters as well and are refused below.
            Some(_) => word.replace(['d', 'D'], "e").parse::<f64>(),
            None => word.parse::<f64>(),
        };
        match parsed {
            Ok(x) if !x.is_finite() => refuse("a finite number"),
            Ok(x) if self.integer && x.fract() != 0.0 => {
                refuse("a whole number, as the header says integer")
            }
            Ok(x) => Ok(x),
            Err(_) => refuse("a number"),
        }
    }

    /// A symmetric file gives each pair once, below the diagonal.
    fn triangle<R: BufRead>(
        &self,
        lines: &Lines<R>,
        i: u32,
        j: u32,
        at: usize,
    ) -> Result<(), MatrixMarketError> {
        let (i1, j1) = (i + 1, j + 1);
        match self.symmetry {
            Symmetry::Symmetric if j > i => Err(lines.fault(
                at,
                format!(
                    "entry ({i1}, {j1}) is above the diagonal: a symmetric file gives the lower triangle only"
                ),
            )),
            Symmetry::Skew if j >= i => Err(lines.fault(
                at,
                format!(
                    "entry ({i1}, {j1}) is not below the diagonal: a skew-symmetric file gives the part below it only"
                ),
            )),
            _ => Ok(()),
        }
    }

    fn push<R: BufRead>(
        &mut self,
        lines: &Lines<R>,
        i: u32,
        j: u32,
        x: f64,
    ) -> Result<(), MatrixMarketError> {
        if x == 0.0 {
            return Ok(());
        }
        if self.entries.len() + 2 > MAX_ENTRIES {
            let message = format!("more than the {MAX_ENTRIES} entries that can be used");
            return Err(lines.fault(1, message));
        }
        self.entries.push((i, j, x));
        if i != j {
            match self.symmetry {
                Symmetry::General => {}
                Symmetry::Symmetric => self.entries.push((j, i, x)),
                Symmetry::Skew => self.entries.push((j, i, -x)),
            }
        }
        Ok(())
    }
}

/// An index from 1 to `size`, counted from zero.
fn index<R: BufRead>(
    lines: &Lines<R>,
    (word, column): (&str, usize),
    name: &str,
    size: u64,
) -> Result<u32, MatrixMarketError> {
    match word.parse::<u64>() {
        Ok(i) if (1..=size).contains(&i) => Ok((i - 1) as u32),
        _ => {
            let message = format!(
                "expected a {name} from 1 to {size}, found \"{}\"",
                shorten(word)
            );
            Err(lines.fault(column, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<Triplet> {
        read_matrix_market(text.as_bytes())
            .unwrap_or_else(|e| panic!("{e:?}\n{text}"))
            .entries
    }

    const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n% made by hand\n\n2 3 3\n1 1 1.5\n% in between\n2 3 -2e-3\n1 1 0.5\n";

    #[test]
    fn a_general_matrix_is_read_with_comments_blank_lines_and_windows_line_ends() {
        let expected = vec![(0, 0, 1.5), (1, 2, -2e-3), (0, 0, 0.5)];
        let unix = read_matrix_market(GENERAL.as_bytes()).unwrap();
        assert_eq!((unix.rows, unix.columns, unix.size_line), (2, 3, 4));
        assert_eq!(unix.entries, expected);
        let windows = GENERAL.replace('\n', "\r\n");
        assert_eq!(read_matrix_market(windows.as_bytes()).unwrap(), unix);
        assert_eq!(entries(GENERAL.trim_end()), expected);
        assert_eq!(entries(&format!("{GENERAL}\n \n%end")), expected);
    }

    #[test]
    fn one_triangle_gives_both() {
        let symmetric = "%%matrixmarket MATRIX Coordinate Real Symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
        assert_eq!(
            entries(symmetric),
            [(0, 0, 4.0), (1, 0, -1.0), (0, 1, -1.0)]
        );
        let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n";
        assert_eq!(entries(skew), [(1, 0, 3.0), (0, 1, -3.0)]);
    }

    #[test]
    fn arrays_go_column_by_column() {
        let general = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n0\n4\n";
        assert_eq!(entries(general), [(0, 0, 1.0), (1, 0, 2.0), (1, 1, 4.0)]);
        let symmetric = "%%MatrixMarket matrix array real symmetric\n2 2\n1 2\n4\n";
        let both = [(0, 0, 1.0), (1, 0, 2.0), (0, 1, 2.0), (1, 1, 4.0)];
        assert_eq!(entries(symmetric), both);
        let skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
        let both = [
            (1, 0, 1.0),
            (0, 1, -1.0),
            (2, 0, 2.0),
            (0, 2, -2.0),
            (2, 1, 3.0),
            (1, 2, -3.0),
        ];
        assert_eq!(entries(skew), both);
        let one = "%%MatrixMarket matrix array real skew-symmetric\n1 1\n";
        assert_eq!(entries(one), []);
    }

    #[test]
    fn fortran_exponents_are_numbers() {
        let text = "%%MatrixMarket matrix array real general\n3 1\n1.5D+02\n-2d-1\n+.5\n";
        assert_eq!(entries(text), [(0, 0, 150.0), (1, 0, -0.2), (2, 0, 0.5)]);
    }

    #[test]
    fn broken_files_are_refused_at_their_place_with_their_sentence() {
        const C: &str = "%%MatrixMarket matrix coordinate real general\n";
        const S: &str = "%%MatrixMarket matrix coordinate real symmetric\n";
        const K: &str = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
        const I: &str = "%%MatrixMarket matrix coordinate integer general\n";
        const A: &str = "%%MatrixMarket matrix array real general\n";
        #[rustfmt::skip]
        let broken: &[(&str, &str, (usize, usize), &str)] = &[
            ("", "", (1, 1), "the file is empty"),
            ("", "1 2 3\n", (1, 1), "this is no Matrix Market file"),
            ("", "%%MatrixMarket matrix coordinate real\n1 1 0\n", (1, 1), "3 words where it should have 4"),
            ("", "%%MatrixMarket vector coordinate real general\n", (1, 1), "the object \"vector\" cannot be used"),
            ("", "%%MatrixMarket matrix dense real general\n", (1, 1), "the format \"dense\" cannot be used: expected coordinate or array"),
            ("", "%%MatrixMarket matrix coordinate pattern general\n", (1, 1), "the field \"pattern\" cannot be used: expected real or integer"),
            ("", "%%MatrixMarket matrix coordinate complex general\n", (1, 1), "the field \"complex\" cannot be used"),
            ("", "%%MatrixMarket matrix coordinate real hermitian\n", (1, 1), "the symmetry \"hermitian\" cannot be used"),
            (C, "", (1, 1), "the file ends where its sizes should be"),
            (C, "% only\n\n", (3, 1), "the file ends where its sizes should be"),
            (C, "2 2\n", (2, 1), "expected three whole numbers: rows, columns, entries, found \"2 2\""),
            (C, "2 2 1 7\n", (2, 7), "and no more, found \"7\""),
            (C, "2 -2 1\n", (2, 3), "found \"-2\""),
            (C, "2 2 1e3\n", (2, 5), "found \"1e3\""),
            (C, "0 2 0\n", (2, 1), "0 rows: expected 1 to 4294967294"),
            (C, "2 4294967295 0\n", (2, 1), "4294967295 columns"),
            (C, "99999999999999999999 1 0\n", (2, 1), "found \"99999999999999999999\""),
            (C, "2 2 2\n1 1 1\n", (3, 1), "the file ends after 1 of the 2 entries"),
            (C, "2 2 1\n1 1 1\n2 2 1\n", (4, 1), "one entry more than the 1"),
            (C, "2 2 1\n3 1 1\n", (3, 1), "expected a row from 1 to 2, found \"3\""),
            (C, "2 2 1\n1 0 1\n", (3, 3), "expected a column from 1 to 2, found \"0\""),
            (C, "2 2 1\n1 1.0 1\n", (3, 3), "expected a column from 1 to 2, found \"1.0\""),
            (C, "2 2 1\n1 1\n", (3, 1), "expected row, column and value, found \"1 1\""),
            (C, "2 2 1\n1 1 1 1\n", (3, 7), "and no more, found \"1\""),
            (C, "2 2 1\n1 1 nan\n", (3, 5), "expected a finite number, found \"nan\""),
            (C, "2 2 1\n1 1 -inf\n", (3, 5), "expected a finite number, found \"-inf\""),
            (C, "2 2 1\n1 1 1e999\n", (3, 5), "expected a finite number, found \"1e999\""),
            (C, "2 2 1\n1 1 1,5\n", (3, 5), "expected a number, found \"1,5\""),
            (C, "2 2 1\n1 1 \u{ff11}\n", (3, 5), "expected a number"),
            (I, "2 2 1\n1 1 1.5\n", (3, 5), "expected a whole number, as the header says integer, found \"1.5\""),
            (S, "2 3 0\n", (2, 1), "a symmetric matrix is square, found 2 x 3"),
            (S, "2 2 2\n2 1 1\n1 2 1\n", (4, 1), "entry (1, 2) is above the diagonal"),
            (K, "2 2 1\n1 1 1\n", (3, 1), "entry (1, 1) is not below the diagonal"),
            (A, "2 2\n1\n2\n3\n", (5, 1), "the file ends after 3 values, in column 2 of 2"),
            (A, "2 1\n1\n2 3\n", (4, 3), "one value more than the 2 of a 2 x 1 matrix"),
            (A, "2 1\n1\nx\n", (4, 1), "expected a number, found \"x\""),
        ];
        for (head, rest, place, fragment) in broken {
            let text = format!("{head}{rest}");
            let fault = read_matrix_market(text.as_bytes()).expect_err(&text);
            assert_eq!(
                (fault.line, fault.column),
                *place,
                "{text}\n{}",
                fault.message
            );
            assert!(
                fault.message.contains(fragment),
                "{text}\n{}",
                fault.message
            );
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_except_in_comments() {
        let head = b"%%MatrixMarket matrix coordinate real general\n% caf\xe9\n1 1 1\n".to_vec();
        let good = [&head[..], b"1 1 2\n"].concat();
        assert_eq!(
            read_matrix_market(&good[..]).unwrap().entries,
            [(0, 0, 2.0)]
        );
        let bad = [&head[..], b"1 1 \xe9\n"].concat();
        let fault = read_matrix_market(&bad[..]).unwrap_err();
        assert_eq!((fault.line, fault.column), (4, 5));
    }

    #[test]
    fn a_header_that_promises_much_takes_no_memory() {
        // 10¹² entries of 16 bytes are more than any machine has: had they been reserved, this would abort.
        for text in [
            "%%MatrixMarket matrix coordinate real general\n4294967294 4294967294 1000000000000\n1 1 1\n",
            "%%MatrixMarket matrix array real general\n4294967294 4294967294\n1\n",
        ] {
            let fault = read_matrix_market(text.as_bytes()).unwrap_err();
            assert!(fault.message.contains("the file ends after 1"), "{fault:?}");
        }
    }

    /// Endless bytes of one kind, with a head.
    struct Endless<'a>(&'a [u8], u8);

    impl Read for Endless<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                out.fill(self.1);
                return Ok(out.len());
            }
            self.0.read(out)
        }
    }

    #[test]
    fn an_endless_line_is_not_followed() {
        let head = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n";
        let input = std::io::BufReader::new(Endless(head, b'1'));
        let fault = read_matrix_market(input).unwrap_err();
        assert_eq!(fault.line, 3);
        assert!(fault.message.contains("more than 4096 bytes"), "{fault:?}");
        let input = std::io::BufReader::new(Endless(b"", b'1'));
        assert_eq!(read_matrix_market(input).unwrap_err().line, 1);
    }

    #[test]
    fn a_long_comment_is_skipped() {
        let text = GENERAL.replace("made by hand", &"long ".repeat(10_000));
        assert_eq!(entries(&text).len(), 3);
    }

    #[test]
    fn no_prefix_and_no_damaged_text_makes_the_reader_panic() {
        let texts = [
            GENERAL,
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n2 1 -1\n3 3 1.25e-3\n",
            "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
        ];
        let judge = |bytes: &[u8]| {
            if let Ok(table) = read_matrix_market(bytes) {
                for (i, j, x) in table.entries {
                    assert!((i as usize) < table.rows && (j as usize) < table.columns);
                    assert!(x.is_finite() && x != 0.0);
                }
            }
        };
        for text in texts {
            for end in 0..text.len() {
                judge(&text.as_bytes()[..end]);
            }
        }
        let mut bits = 0x9E37_79B9_7F4A_7C15u64;
        let mut below = |n: usize| {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            (bits % n as u64) as usize
        };
        let alphabet = b"%M \t\r\n-+.eEdD0123459999inf\xc3\xa4\x00";
        for round in 0..20_000 {
            let mut bytes = texts[round % texts.len()].as_bytes().to_vec();
            for _ in 0..=below(3) {
                let at = below(bytes.len());
                match below(4) {
                    0 => bytes[at] = alphabet[below(alphabet.len())],
                    1 => bytes.insert(at, alphabet[below(alphabet.len())]),
                    2 => {
                        bytes.remove(at);
                    }
                    _ => {
                        let end = (at + below(20)).min(bytes.len());
                        let copy = bytes[at..end].to_vec();
                        let to = below(bytes.len());
                        bytes.splice(to..to, copy);
                    }
                }
            }
            judge(&bytes);
        }
    }
}
