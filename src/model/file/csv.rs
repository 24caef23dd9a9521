//! Tables in CSV files.

use std::io::Read;
use std::path::Path;

use super::source_file;
use crate::error::{Error, Result};
use crate::model::suggest::{did_you_mean, shorten};

/// Largest CSV file that is read (bytes).
const LARGEST_CSV: u64 = 64 << 20;

/// A line of a CSV file.
struct CsvLine<'a> {
    number: usize,
    cells: Vec<&'a str>,
    /// The character at which each cell begins, counted from 1.
    columns: Vec<usize>,
}

impl<'a> CsvLine<'a> {
    fn new(number: usize, line: &'a str) -> Self {
        let (mut cells, mut columns, mut at) = (vec![], vec![], 1);
        for part in line.split([',', ';', '\t']) {
            let blank = part.chars().take_while(|c| c.is_whitespace()).count();
            columns.push(at + blank);
            cells.push(part.trim().trim_matches('"'));
            at += part.chars().count() + 1;
        }
        Self {
            number,
            cells,
            columns,
        }
    }

    /// An error at a cell, or at the end of the line.
    fn refuse(&self, origin: &str, cell: usize, message: String) -> Error {
        let column = self.columns.get(cell).or(self.columns.last());
        Error::Model {
            origin: origin.to_owned(),
            line: self.number,
            column: column.copied().unwrap_or(1),
            message,
        }
    }

    fn is_header(&self) -> bool {
        self.cells.iter().any(|cell| cell.parse::<f64>().is_err())
    }

    fn number(&self, origin: &str, cell: usize) -> Result<f64> {
        let Some(text) = self.cells.get(cell) else {
            let message = format!("the row has no column {}", cell + 1);
            return Err(self.refuse(origin, cell, message));
        };
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => {
                let (text, cell_number) = (shorten(text), cell + 1);
                let message = format!("\"{text}\" in column {cell_number} is no finite number");
                Err(self.refuse(origin, cell, message))
            }
        }
    }
}

/// Times and one column of a CSV file: that with this header, or that of the input's name, or the second. A second header line has
/// the units: s, and that of the input.
pub(super) fn csv(
    path: &Path,
    column: Option<&str>,
    input: &str,
    unit: &str,
) -> Result<Vec<[f64; 2]>> {
    let shown = &path.display().to_string();
    let unreadable = |reason: String| Error::File {
        path: shown.clone(),
        reason,
    };
    let mut text = String::new();
    source_file::open(path)
        .and_then(|file| file.take(LARGEST_CSV + 1).read_to_string(&mut text))
        .map_err(|e| unreadable(e.to_string()))?;
    if text.len() as u64 > LARGEST_CSV {
        let reason = format!("it is too large: at most {LARGEST_CSV} bytes are read");
        return Err(unreadable(reason));
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = (text.lines().enumerate())
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(i, line)| CsvLine::new(i + 1, line))
        .peekable();
    let few = || unreadable("it has fewer than two rows of numbers".to_owned());
    let first = lines.peek().ok_or_else(few)?;
    let (chosen, width) = (
        chosen_column(shown, first, column, input)?,
        first.cells.len(),
    );
    if first.is_header() {
        lines.next();
        // Names of columns are followed by units, not by names.
        if let Some(second) = lines.next_if(|line| line.cells[0] == "s") {
            check_unit(shown, &second, chosen, unit)?;
        }
    }
    let mut points: Vec<[f64; 2]> = vec![];
    for line in lines {
        if line.cells.len() != width {
            let message = format!(
                "the row has {} columns, the first line has {width}",
                line.cells.len()
            );
            return Err(line.refuse(shown, width, message));
        }
        let point = [line.number(shown, 0)?, line.number(shown, chosen)?];
        if let Some(before) = points.last()
            && point[0] < before[0]
        {
            let message = format!(
                "the time {} is before that of the line above, {}",
                point[0], before[0]
            );
            return Err(line.refuse(shown, 0, message));
        }
        points.push(point);
    }
    match points.len() {
        0 | 1 => Err(few()),
        _ => Ok(points),
    }
}

/// Index of the column that is read, by the first line.
fn chosen_column(
    origin: &str,
    first: &CsvLine,
    column: Option<&str>,
    input: &str,
) -> Result<usize> {
    let named = |name: &str| first.cells.iter().position(|cell| *cell == name);
    match (first.is_header(), column) {
        (true, Some(name)) => named(name).ok_or_else(|| {
            let near = did_you_mean(name, &first.cells);
            let message = format!("there is no column \"{}\"{near}", shorten(name));
            first.refuse(origin, 0, message)
        }),
        (true, None) => Ok(named(input).unwrap_or(1)),
        (false, Some(name)) => {
            let message = format!(
                "the file has no header line with a column \"{}\"",
                shorten(name)
            );
            Err(first.refuse(origin, 0, message))
        }
        (false, None) => Ok(1),
    }
}

/// Refuses a line of units whose column is in another unit than the input: nothing is converted.
fn check_unit(origin: &str, units: &CsvLine, column: usize, unit: &str) -> Result<()> {
    let unit = if unit.is_empty() { "1" } else { unit };
    match units.cells.get(column) {
        Some(found) if *found != unit && !found.is_empty() => {
            let found = shorten(found);
            let message = format!("the column is in \"{found}\", the input in \"{unit}\"");
            Err(units.refuse(origin, column, message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<Vec<[f64; 2]>, String> {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("biela_csv_{}_{count}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        let result = csv(&path, None, "f", "N");
        std::fs::remove_file(&path).unwrap();
        let shown = path.display().to_string();
        result.map_err(|error| error.to_string().replace(&shown, "f.csv"))
    }

    #[test]
    fn tables_are_read_with_any_separator_with_and_without_header_and_units() {
        let expected = vec![[0.0, 1.0], [0.5, 2.0]];
        for text in [
            "0,1\n0.5,2\n",
            "time;f\n0;1\n0.5;2\n",
            "\u{feff}# made by hand\ntime,g,f\n0,9,1\n\n0.5,9,2\n",
            "time,g,f\ns,m,N\n0,9,1\n0.5,9,2\n",
            "\"time\",\"force\"\r\n 0,\t1\r\n0.5, 2\r\n"
                .replace(",\t", ", ")
                .as_str(),
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text:?}");
        }
    }

    #[test]
    fn mistakes_are_found_at_their_line_and_column() {
        for (text, sentence) in [
            ("time,f\n0,0\n0.5,x\n", "f.csv:3:5: \"x\" in column 2"),
            ("time,f\n0,0\n-1,3\n", "f.csv:3:1: the time -1 is before"),
            (
                "time,f\n0,0,3\n1,2\n",
                "f.csv:2:5: the row has 3 columns, the first line has 2",
            ),
            (
                "time,f\ns,kN\n0,1\n1,2\n",
                "f.csv:2:3: the column is in \"kN\", the input in \"N\"",
            ),
            ("time,f\n", "fewer than two rows"),
            ("", "fewer than two rows"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(sentence), "{error}");
        }
    }
}
