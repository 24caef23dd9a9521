//! Lines and words of a Matrix Market file, with their positions for errors.

use std::io::{BufRead, Read};

use super::{LONGEST_LINE, MatrixMarketError};

pub(super) struct Lines<R> {
    pub(super) input: R,
    pub(super) buffer: Vec<u8>,
    /// Number of the line in the buffer.
    pub(super) line: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn fault(&self, column: usize, message: impl Into<String>) -> MatrixMarketError {
        MatrixMarketError {
            line: self.line.max(1),
            column,
            message: message.into(),
        }
    }

    /// The next line into the buffer, without its end; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, MatrixMarketError> {
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
    pub(super) fn skip_line(&mut self) -> Result<(), MatrixMarketError> {
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
    pub(super) fn next(&mut self) -> Result<bool, MatrixMarketError> {
        while self.advance()? {
            let first = self.buffer.iter().find(|b| !b.is_ascii_whitespace());
            if !matches!(first, None | Some(b'%')) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn text(&self) -> Result<&str, MatrixMarketError> {
        std::str::from_utf8(&self.buffer).map_err(|e| {
            let column = e.valid_up_to() + 1;
            self.fault(column, "this is no text")
        })
    }
}

/// At most 30 characters, for messages.
pub(super) fn shorten(word: &str) -> String {
    let mut short: String = (word.chars().take(30))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if word.chars().nth(30).is_some() {
        short.push('…');
    }
    short
}

/// The words of a line with their columns.
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
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
