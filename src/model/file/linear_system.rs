//! `[system]`: keys and reader. Matrices and vectors are given in the text or in Matrix Market files. A disagreement of
//! sizes is reported where the size was given.

use super::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use crate::error::{Error, Result};
use crate::linalg::csr::Csr;
use crate::linalg::matrix_market;
use crate::model::LinearSystemMatrices;
use crate::model::file::document::NodeValue;
use crate::model::file::source_file;
use crate::model::file::table::TableReader;
use crate::model::linear_system::SYMMETRIC;
use crate::model::suggest::shorten;
use crate::model::validate::Range;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[rustfmt::skip]
pub(super) const SYSTEM: KeyGroup = KeyGroup::new(
    "system",
    "A linear system: M q'' + C q' + K q + B^T lambda = F, B q = 0. The user chooses the units.",
    &[&[
        Key::new("mass", KeyKind::Matrix, "", REQUIRED,
            "M, n x n, symmetric; it may be singular only in directions fixed by the constraints"),
        Key::new("damping", KeyKind::Matrix, "", "zero", "C, n x n"),
        Key::new("stiffness", KeyKind::Matrix, "", "zero", "K, n x n; need not be symmetric"),
        Key::new("constraint", KeyKind::Matrix, "", "none", "B, one row for each constraint"),
        Key::new("force", KeyKind::Column, "", "zero",
            "F, constant unless an input or a parameter sets its components"),
        Key::new("weight", KeyKind::Column, "", "1",
            "> 0; the error of q_i is relative to this or the largest |q_i| so far, whichever is larger"),
        Key::new("position", KeyKind::Column, "", "zero", "initial q"),
        Key::new("velocity", KeyKind::Column, "", "zero", "initial q'"),
    ]],
);

/// Keys of mechanisms, refused together with `[system]`.
pub(super) const OF_BODIES: [&str; 7] = [
    "body", "joint", "motion", "force", "beam", "sensor", "gravity",
];

/// Reads `[system]`. The error order is that of the keys: sizes first, then numbers of entries, then symmetry.
pub(super) fn linear_system(
    root: &TableReader,
    table: &TableReader,
    base_dir: Option<&Path>,
) -> Result<LinearSystemMatrices> {
    refuse_keys_of_mechanisms(root)?;
    table.keys_of(&SYSTEM);
    let read = |key: &'static str| Given::read(table, key, base_dir);
    let Some(mass) = read("mass")? else {
        return Err(table.refuse(
            "\"mass\" is missing: expected a matrix [[..], ..] or the name of a Matrix Market file",
        ));
    };
    let n = mass.rows;
    if mass.columns != n {
        let message = format!("mass must be square, found {n} x {}", mass.columns);
        return Err(mass.refuse(table, message));
    }
    let [damping, stiffness, constraint] =
        [read("damping")?, read("stiffness")?, read("constraint")?];
    for given in [&damping, &stiffness].into_iter().flatten() {
        given.must_be(table, n, n)?;
    }
    if let Some(given) = &constraint {
        given.must_be(table, given.rows, n)?;
    }
    let vector = |key: &'static str, range: Range| {
        let given = read(key)?;
        if let Some(given) = &given {
            given.must_be_vector(table, n, range)?;
        }
        Ok::<_, Error>(given)
    };
    let force = vector("force", Range::Finite)?;
    let weight = vector("weight", Range::Positive)?;
    let position = vector("position", Range::Finite)?;
    let velocity = vector("velocity", Range::Finite)?;
    // Memory for n coordinates is reserved only after as many entries have been read.
    check_entries(table, &mass, [&damping, &stiffness, &constraint])?;

    let square = |given: Option<Given>| given.map_or_else(|| Csr::zero(n, n), Given::matrix);
    let column = |given: Option<Given>, default: f64| {
        given.map_or_else(|| vec![default; n], |given| given.vector(n))
    };
    Ok(LinearSystemMatrices {
        mass: Arc::new(symmetric(table, mass)?),
        damping: Arc::new(square(damping)),
        stiffness: Arc::new(square(stiffness)),
        constraint: Arc::new(constraint.map_or_else(|| Csr::zero(0, n), Given::matrix)),
        force: Arc::new(column(force, 0.0)),
        weight: Arc::new(column(weight, 1.0)),
        position: Arc::new(column(position, 0.0)),
        velocity: Arc::new(column(velocity, 0.0)),
        text_position: table.text_position(),
    })
}

/// Refuses tables of a mechanism and a formulation, which a linear system does not have.
fn refuse_keys_of_mechanisms(root: &TableReader) -> Result<()> {
    for key in OF_BODIES {
        if root.has(key) {
            let message = format!(
                "a model is made of bodies or given by [system], not both: remove \"{key}\""
            );
            return Err(root.refuse_key(key, message));
        }
    }
    if let Some(solver) = root.table("solver")?
        && let Some(formulation) = solver.text("formulation")?
        && formulation != "auto"
    {
        let message = format!(
            "formulation \"{}\" is for bodies: a linear system has its own coordinates, write \"auto\"",
            shorten(formulation)
        );
        return Err(solver.refuse_value("formulation", message));
    }
    Ok(())
}

/// Refuses matrices with fewer entries than coordinates or constraints.
fn check_entries(table: &TableReader, mass: &Given, others: [&Option<Given>; 3]) -> Result<()> {
    let others = others.map(Option::as_ref);
    let n = mass.rows;
    let entries = mass.entries.len()
        + (others.iter().flatten())
            .map(|given| given.entries.len())
            .sum::<usize>();
    if n > entries {
        let message = format!(
            "{n} coordinates, but the matrices have only {entries} entries: some coordinates occur in no equation"
        );
        return Err(mass.refuse(table, message));
    }
    match others[2] {
        Some(constraint) if constraint.rows > constraint.entries.len() => {
            let (rows, entries) = (constraint.rows, constraint.entries.len());
            let message = format!("constraint has {rows} rows but only {entries} entries");
            Err(constraint.refuse(table, message))
        }
        _ => Ok(()),
    }
}

/// The mass matrix, which must be symmetric.
fn symmetric(table: &TableReader, mass: Given) -> Result<Csr> {
    let mark = mass.mark.clone();
    let mass = mass.matrix();
    match mass.first_asymmetry(SYMMETRIC) {
        None => Ok(mass),
        Some((i, j)) => {
            let message = format!(
                "mass must be symmetric: {} in row {}, column {}, but {} in row {}, column {}",
                mass.get(i, j),
                i + 1,
                j + 1,
                mass.get(j, i),
                j + 1,
                i + 1
            );
            Err(mark.refuse(table, "mass", message))
        }
    }
}

/// Position of a matrix: at its key, or at a line of a file.
#[derive(Clone)]
enum Mark {
    Text,
    File { path: PathBuf, line: usize },
}

impl Mark {
    fn refuse(&self, table: &TableReader, key: &str, message: String) -> Error {
        match self {
            Self::Text => table.refuse_value(key, message),
            Self::File { path, line } => in_file(path, *line, 1, message),
        }
    }
}

/// A matrix or vector as given, its sizes not yet checked.
struct Given {
    key: &'static str,
    rows: usize,
    columns: usize,
    entries: Vec<(u32, u32, f64)>,
    mark: Mark,
}

impl Given {
    fn read(
        table: &TableReader,
        key: &'static str,
        base_dir: Option<&Path>,
    ) -> Result<Option<Self>> {
        let vector = matches!(key, "force" | "weight" | "position" | "velocity");
        let Some(written) = matrix_or_file(table, key, vector)? else {
            return Ok(None);
        };
        match written {
            WrittenValue::Matrix {
                rows,
                columns,
                entries,
            } => Ok(Some(Self {
                key,
                rows,
                columns,
                entries,
                mark: Mark::Text,
            })),
            WrittenValue::File(name) => {
                let path = base_dir.map_or_else(|| PathBuf::from(name), |dir| dir.join(name));
                let file = source_file::open(&path).map_err(|e| {
                    let message = format!("{key}: cannot read \"{}\": {e}", path.display());
                    table.refuse_value(key, message)
                })?;
                let read =
                    matrix_market::read_matrix_market(BufReader::with_capacity(1 << 16, file));
                let read = read.map_err(|fault| {
                    let message = format!("{key}: {}", fault.message);
                    in_file(&path, fault.line, fault.column, message)
                })?;
                Ok(Some(Self {
                    key,
                    rows: read.rows,
                    columns: read.columns,
                    entries: read.entries,
                    mark: Mark::File {
                        path,
                        line: read.size_line,
                    },
                }))
            }
        }
    }

    fn refuse(&self, table: &TableReader, message: String) -> Error {
        self.mark.refuse(table, self.key, message)
    }

    fn must_be(&self, table: &TableReader, rows: usize, columns: usize) -> Result<()> {
        if (self.rows, self.columns) == (rows, columns) {
            return Ok(());
        }
        let message = format!(
            "{} must be {rows} x {columns} as mass has {columns} rows, found {} x {}",
            self.key, self.rows, self.columns
        );
        Err(self.refuse(table, message))
    }

    /// Checks n numbers in a column or a row, in their range.
    fn must_be_vector(&self, table: &TableReader, n: usize, range: Range) -> Result<()> {
        if self.rows.max(self.columns) != n || self.rows.min(self.columns) != 1 {
            let found = match self.mark {
                Mark::Text => self.rows.to_string(),
                Mark::File { .. } => format!("{} x {}", self.rows, self.columns),
            };
            let message = format!(
                "{} must have {n} numbers as mass has {n} rows, found {found}",
                self.key
            );
            return Err(self.refuse(table, message));
        }
        let bad = self.entries.iter().find(|(_, _, x)| !range.accepts(*x));
        // Zeros are not among the entries.
        let zeros = range == Range::Positive && self.entries.len() < n;
        if bad.is_some() || zeros {
            let found = bad.map_or(0.0, |(_, _, x)| *x);
            let message = format!(
                "{} must be {} throughout, found {found}",
                self.key,
                range.words()
            );
            return Err(self.refuse(table, message));
        }
        Ok(())
    }

    /// The n numbers of a column or a row.
    fn vector(self, n: usize) -> Vec<f64> {
        let mut vector = vec![0.0; n];
        for (i, j, x) in self.entries {
            vector[i.max(j) as usize] += x;
        }
        vector
    }

    fn matrix(self) -> Csr {
        Csr::new(self.rows, self.columns, self.entries)
    }
}

fn in_file(path: &Path, line: usize, column: usize, message: String) -> Error {
    Error::Model {
        origin: path.display().to_string(),
        line,
        column,
        message,
    }
}

/// A matrix or vector as written.
enum WrittenValue<'a> {
    /// The name of a file.
    File(&'a str),
    /// Numbers without the zeros; a vector is a column.
    Matrix {
        rows: usize,
        columns: usize,
        entries: Vec<(u32, u32, f64)>,
    },
}

/// `[[a, b], ..]`, for a vector `[a, b, ..]`, or the name of a file.
fn matrix_or_file<'a>(
    table: &TableReader<'a>,
    key: &str,
    vector: bool,
) -> Result<Option<WrittenValue<'a>>> {
    let Some(entry) = table.get(key) else {
        return Ok(None);
    };
    let expected = if vector {
        "numbers [..] or the name of a Matrix Market file"
    } else {
        "rows of numbers [[..], ..] or the name of a Matrix Market file"
    };
    let items = match &entry.node.value {
        NodeValue::Text(name) => return Ok(Some(WrittenValue::File(name))),
        NodeValue::Array(items) if !items.is_empty() => items,
        _ => return Err(table.wrong(key, expected, &entry.node)),
    };
    let mut entries = Vec::new();
    if vector {
        for (i, item) in items.iter().enumerate() {
            let x = table.number_of(&format!("{key}[{i}]"), item, Range::Finite)?;
            if x != 0.0 {
                entries.push((i as u32, 0, x));
            }
        }
        return Ok(Some(WrittenValue::Matrix {
            rows: items.len(),
            columns: 1,
            entries,
        }));
    }
    let mut columns = None;
    for (i, item) in items.iter().enumerate() {
        let NodeValue::Array(row) = &item.value else {
            return Err(table.wrong(&format!("{key}[{i}]"), "a row of numbers [..]", item));
        };
        let length = *columns.get_or_insert(row.len());
        if row.len() != length || length == 0 {
            let expected = match length {
                0 => "a row of numbers [..]".to_owned(),
                _ => format!("a row of {length} numbers like the first"),
            };
            return Err(table.wrong(&format!("{key}[{i}]"), &expected, item));
        }
        for (j, item) in row.iter().enumerate() {
            // The name is formatted only for errors: a matrix may be large.
            let x = match item.value {
                NodeValue::Number(x) if Range::Finite.accepts(x) => x,
                _ => table.number_of(&format!("{key}[{i}][{j}]"), item, Range::Finite)?,
            };
            if x != 0.0 {
                entries.push((i as u32, j as u32, x));
            }
        }
    }
    Ok(Some(WrittenValue::Matrix {
        rows: items.len(),
        columns: columns.unwrap_or(0),
        entries,
    }))
}
