//! Tables in CSV files.

use std::io::Read;
use std::path::Path;

use super::source_file;
use crate::error::{Error, Result};
use crate::model::suggest::{did_you_mean, shorten};

/// Largest CSV file that is read (bytes).
const LARGEST_CSV: u64 = 64 << 20;

/// Times and one column of a CSV file: that with this header, or that of the input's name, or the second.
// Long because every defect of the file has its own sentence.
pub(super) fn csv(path: &Path, column: Option<&str>, input: &str) -> Result<Vec<[f64; 2]>> {
    let shown = path.display().to_string();
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
    let refuse = |line: usize, message: String| Error::Model {
        origin: shown.clone(),
        line,
        column: 1,
        message,
    };
    let mut index = None;
    let mut points: Vec<[f64; 2]> = vec![];
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line
            .split([',', ';', '\t'])
            .map(|cell| cell.trim().trim_matches('"'))
            .collect();
        let Some(chosen) = index else {
            // The first line is a header if it is not made of numbers.
            let header = cells.iter().any(|cell| cell.parse::<f64>().is_err());
            let named = |name: &str| cells.iter().position(|cell| *cell == name);
            let found = match (header, column) {
                (true, Some(name)) => Some(named(name).ok_or_else(|| {
                    let near = did_you_mean(name, &cells);
                    refuse(
                        i + 1,
                        format!("there is no column \"{}\"{near}", shorten(name)),
                    )
                })?),
                (true, None) => named(input).or(Some(1)),
                (false, Some(name)) => {
                    let message = format!(
                        "the file has no header line with a column \"{}\"",
                        shorten(name)
                    );
                    return Err(refuse(i + 1, message));
                }
                (false, None) => Some(1),
            };
            index = found;
            if !header {
                points.push(row(&cells, 1).map_err(|message| refuse(i + 1, message))?);
            }
            continue;
        };
        let point = row(&cells, chosen).map_err(|message| refuse(i + 1, message))?;
        if let Some(before) = points.last()
            && point[0] < before[0]
        {
            let message = format!(
                "the time {} is before that of the line above, {}",
                point[0], before[0]
            );
            return Err(refuse(i + 1, message));
        }
        points.push(point);
    }
    match points.len() {
        0 | 1 => Err(unreadable(
            "it has fewer than two rows of numbers".to_owned(),
        )),
        _ => Ok(points),
    }
}

/// Time and value of a row.
fn row(cells: &[&str], column: usize) -> std::result::Result<[f64; 2], String> {
    let number = |k: usize| {
        let cell = cells
            .get(k)
            .ok_or_else(|| format!("the row has no column {}", k + 1))?;
        match cell.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!(
                "\"{}\" in column {} is no finite number",
                shorten(cell),
                k + 1
            )),
        }
    };
    Ok([number(0)?, number(column)?])
}
