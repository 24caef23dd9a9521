//! The table of a study: a row a run, as cells and as comma-separated values (RFC 4180).

use std::fmt::Write as _;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A number that counts.
    Integer,
    /// A real number.
    Number,
    /// Text.
    Text,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Unit; empty for pure numbers and text.
    pub unit: String,
    /// What it holds.
    pub kind: CellKind,
}

impl Column {
    /// A column of this kind.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, kind: CellKind) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            kind,
        }
    }
}

/// What a table tells besides its rows, where its format has a place for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNotes {
    /// Name of the model.
    pub model: String,
    /// Number of runs of the plan.
    pub runs: u64,
    /// Fingerprint of model, experiment and plan: parts of one study have the same.
    pub study: String,
}

/// A value of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A number that counts.
    Integer(u64),
    /// A real number.
    Number(f64),
    /// Text.
    Text(String),
    /// There is no value: the run failed before.
    Missing,
}

impl Cell {
    /// A real number, or nothing if it is not finite.
    pub fn finite(value: f64) -> Self {
        if value.is_finite() {
            Self::Number(value)
        } else {
            Self::Missing
        }
    }
}

/// A row as a line without its end. A missing value is an empty field; numbers are the shortest text that gives the same bits.
pub fn csv_line(cells: &[Cell]) -> String {
    let mut line = String::new();
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            line.push(',');
        }
        let written = match cell {
            Cell::Integer(count) => write!(line, "{count}"),
            Cell::Number(value) => write!(line, "{}", short(*value)),
            Cell::Text(text) => write!(line, "{}", csv_field(text)),
            Cell::Missing => Ok(()),
        };
        written.expect("a String takes everything");
    }
    line
}

fn short(value: f64) -> String {
    let size = value.abs();
    match size == 0.0 || (1e-5..1e16).contains(&size) {
        true => format!("{value}"),
        false => format!("{value:e}"),
    }
}

/// A text as a field, quoted if necessary.
pub fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The cells of a line; `None` if it is not one of these columns.
pub fn read_row(line: &str, columns: &[Column]) -> Option<Vec<Cell>> {
    let mut records = csv_records(line);
    let (_, fields) = records.pop().filter(|_| records.is_empty())?;
    if fields.len() != columns.len() {
        return None;
    }
    let cell = |(field, column): (String, &Column)| match column.kind {
        CellKind::Text => Some(Cell::Text(field)),
        _ if field.is_empty() => Some(Cell::Missing),
        CellKind::Integer => field.parse().ok().map(Cell::Integer),
        CellKind::Number => field.parse().ok().map(Cell::Number),
    };
    fields.into_iter().zip(columns).map(cell).collect()
}

/// The records of a text, each with the line it begins in, from 1. Empty lines are left out.
pub fn csv_records(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut records = Vec::new();
    let (mut fields, mut field) = (Vec::new(), String::new());
    let (mut quoted, mut begun) = (false, false);
    let (mut line, mut first) = (1, 1);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => (quoted, begun) = (!quoted, true),
            ',' if !quoted => {
                begun = true;
                fields.push(std::mem::take(&mut field));
            }
            '\r' if !quoted && characters.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                if begun {
                    fields.push(std::mem::take(&mut field));
                    records.push((first, std::mem::take(&mut fields)));
                }
                (begun, first) = (false, line);
            }
            c => {
                begun = true;
                field.push(c);
            }
        }
    }
    if begun {
        fields.push(field);
        records.push((first, fields));
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_the_same_cells() {
        let columns = [
            Column::new("run", "", CellKind::Integer),
            Column::new("x", "m", CellKind::Number),
            Column::new("y", "m", CellKind::Number),
            Column::new("message", "", CellKind::Text),
        ];
        let row = [
            Cell::Integer(u64::MAX),
            Cell::Number(-0.1e-300),
            Cell::Missing,
            Cell::Text("say \"x\", then y".to_owned()),
        ];
        let line = csv_line(&row);
        assert_eq!(
            line,
            "18446744073709551615,-1e-301,,\"say \"\"x\"\", then y\""
        );
        assert_eq!(read_row(&line, &columns).unwrap(), row);
        for damaged in ["1,2,3", "1,2,3,4,5", "1,x,3,a", ""] {
            assert_eq!(read_row(damaged, &columns), None, "{damaged}");
        }
    }

    #[test]
    fn records_may_have_quotes_and_line_ends() {
        let records = csv_records("a,b\r\n\n\"1\n2\",\"\"\"\"\nlast,");
        let expected = [
            (1, vec!["a", "b"]),
            (3, vec!["1\n2", "\""]),
            (5, vec!["last", ""]),
        ];
        assert_eq!(records.len(), 3);
        for ((line, fields), (at, texts)) in records.iter().zip(expected) {
            assert_eq!(
                (*line, fields),
                (at, &texts.iter().map(|t| (*t).to_owned()).collect())
            );
        }
    }
}
