//! The table of a study in its file: comma-separated values or Parquet, as the ending says.

use std::io::{Result as IoResult, Write};
use std::path::Path;

use biela::study::{Cell, Column, Plan, SetValue, TableNotes, csv_field, csv_records};

use crate::Failure;
use crate::output;

/// Format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl TableFormat {
    /// By the ending of a file.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Failure::Input(format!(
                "\"{}\": the ending says what is written, expected .csv or .parquet",
                path.display()
            ))),
        }
    }
}

/// Writes a table from lines as the CSV has them.
pub fn write(
    path: &Path,
    format: TableFormat,
    columns: &[Column],
    notes: &TableNotes,
    lines: &mut dyn Iterator<Item = IoResult<String>>,
) -> Result<(), Failure> {
    let mut file = output::create(path)?;
    let written = match format {
        TableFormat::Csv => write_csv(&mut file, columns, lines),
        TableFormat::Parquet => write_parquet(&mut file, columns, notes, lines),
    };
    written
        .and_then(|()| file.complete())
        .map_err(|error| output::failure(path, &error))
}

fn write_csv(
    file: &mut dyn Write,
    columns: &[Column],
    lines: &mut dyn Iterator<Item = IoResult<String>>,
) -> IoResult<()> {
    let names: Vec<String> = columns
        .iter()
        .map(|column| csv_field(&column.name))
        .collect();
    writeln!(file, "{}", names.join(","))?;
    for line in lines {
        writeln!(file, "{}", line?)?;
    }
    Ok(())
}

fn write_parquet(
    file: &mut dyn Write,
    columns: &[Column],
    notes: &TableNotes,
    lines: &mut dyn Iterator<Item = IoResult<String>>,
) -> IoResult<()> {
    use biela::study::{parquet_table, read_row};
    let damaged = || {
        std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            "a line of the journal is damaged",
        )
    };
    let mut rows = lines.map(|line| read_row(&line?, columns).ok_or_else(damaged));
    parquet_table::write(file, columns, notes, &mut rows)
}

/// A table that was read.
pub struct StoredTable {
    /// Names of its columns; their units and kinds where the format has them.
    pub columns: Vec<Column>,
    /// What it tells besides; nothing in CSV.
    pub notes: Option<TableNotes>,
    /// Its rows, as lines of CSV.
    pub rows: Vec<StoredRow>,
}

/// A row of a table that was read.
pub struct StoredRow {
    /// Number of the run.
    pub run: u64,
    /// The row as a line of CSV.
    pub line: String,
}

/// Reads a table.
pub fn read(path: &Path, format: TableFormat) -> Result<StoredTable, Failure> {
    let refused =
        |reason: &str| Failure::Input(format!("cannot read \"{}\": {reason}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| refused(&error.to_string()))?;
    match format {
        TableFormat::Csv => read_csv(&bytes).map_err(|reason| refused(&reason)),
        TableFormat::Parquet => read_parquet(&bytes).map_err(|reason| refused(&reason)),
    }
}

fn read_csv(bytes: &[u8]) -> Result<StoredTable, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty());
    let head = lines.next().and_then(|(_, line)| csv_records(line).pop());
    let (_, names) = head.ok_or("it is empty")?;
    if names.first().is_none_or(|name| name != "run") {
        return Err("it is no table of a sweep: its first column is not \"run\"".to_owned());
    }
    let columns = names
        .iter()
        .map(|name| Column::new(name, "", biela::study::CellKind::Text))
        .collect();
    let mut rows = Vec::new();
    for (i, line) in lines {
        let run = line.split(',').next().and_then(|field| field.parse().ok());
        let run =
            run.ok_or_else(|| format!("line {} does not begin with the number of a run", i + 1))?;
        let count = csv_records(line)
            .pop()
            .map_or(0, |(_, fields)| fields.len());
        if count != names.len() {
            return Err(format!(
                "line {} has {count} fields for {} names",
                i + 1,
                names.len()
            ));
        }
        rows.push(StoredRow {
            run,
            line: line.to_owned(),
        });
    }
    Ok(StoredTable {
        columns,
        notes: None,
        rows,
    })
}

fn read_parquet(bytes: &[u8]) -> Result<StoredTable, String> {
    use biela::study::{csv_line, parquet_table};
    let table = parquet_table::read(bytes)?;
    let mut rows = Vec::new();
    for row in &table.rows {
        match row.first() {
            Some(Cell::Integer(run)) => rows.push(StoredRow {
                run: *run,
                line: csv_line(row),
            }),
            _ => {
                return Err("it is no table of a sweep: its first column is not \"run\"".to_owned());
            }
        }
    }
    Ok(StoredTable {
        columns: table.columns,
        notes: Some(table.notes),
        rows,
    })
}

/// Whether a file has the rows of all these runs, with the values that the plan gives them, of this study if it tells that.
pub fn holds(
    path: &Path,
    format: TableFormat,
    plan: &Plan,
    runs: &[u64],
    columns: &[Column],
    notes: &TableNotes,
) -> bool {
    if !path.exists() {
        return false;
    }
    let Ok(table) = read(path, format) else {
        return false;
    };
    let names = |columns: &[Column]| -> Vec<String> {
        columns.iter().map(|column| column.name.clone()).collect()
    };
    if table.notes.is_some_and(|other| other != *notes)
        || names(&table.columns) != names(columns)
        || !table
            .rows
            .iter()
            .map(|row| row.run)
            .eq(runs.iter().copied())
    {
        return false;
    }
    let same = |row: &StoredRow| {
        let planned = plan.run(row.run);
        let mut cells = vec![Cell::Integer(row.run), Cell::Integer(planned.seed)];
        cells.extend(planned.values.iter().map(|value| match value {
            SetValue::Number(number) => Cell::Number(*number),
            SetValue::Word(word) => Cell::Text(word.clone()),
        }));
        row.line
            .starts_with(&(biela::study::csv_line(&cells) + ","))
    };
    table.rows.iter().all(same)
}
