//! `biela merge`: the parts of a sweep as one table.

use std::path::PathBuf;

use biela::study::TableNotes;

use crate::Failure;
use crate::output;
use crate::study_table::{self, StoredRow, StoredTable, TableFormat};

/// Arguments of `biela merge`.
#[derive(clap::Args)]
#[command(
    after_help = "The result has the same bytes as the table of the sweep without --shard. A run that is missing or there \
                  twice is an error. Tables of --trajectories merge in the same way."
)]
pub struct Arguments {
    /// Tables of the shards, all .csv or all .parquet
    #[arg(required = true)]
    tables: Vec<PathBuf>,

    /// The whole table
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// Merge what is there although runs are missing
    #[arg(long)]
    partial: bool,
}

/// Merges tables.
pub fn merge(arguments: &Arguments) -> Result<(), Failure> {
    let format = TableFormat::of(&arguments.out)?;
    let mut whole: Option<StoredTable> = None;
    let mut rows: Vec<(usize, StoredRow)> = Vec::new();
    for (part, path) in arguments.tables.iter().enumerate() {
        if TableFormat::of(path)? != format {
            return Err(Failure::Input(format!(
                "\"{}\" and \"{}\" have different endings",
                path.display(),
                arguments.out.display()
            )));
        }
        let mut table = study_table::read(path, format)?;
        rows.extend(table.rows.drain(..).map(|row| (part, row)));
        match &whole {
            None => whole = Some(table),
            Some(first) => match difference(first, &table) {
                None => {}
                Some(difference) => {
                    let (first, path) = (arguments.tables[0].display(), path.display());
                    return Err(Failure::Input(format!(
                        "\"{first}\" and \"{path}\" are not parts of one sweep: {difference}"
                    )));
                }
            },
        }
    }
    let Some(whole) = whole else {
        return Ok(());
    };
    // Stable: the rows of one trajectory keep their order.
    rows.sort_by_key(|(_, row)| row.run);
    check(arguments, &whole, &rows)?;
    let notes = whole.notes.clone().unwrap_or(TableNotes {
        model: String::new(),
        runs: 0,
        study: String::new(),
    });
    let mut lines = rows.iter().map(|(_, row)| Ok(row.line.clone()));
    study_table::write(&arguments.out, format, &whole.columns, &notes, &mut lines)?;
    let count = distinct(&rows).count();
    output::print(&format!(
        "{count} runs of {} tables\n  wrote {}\n",
        arguments.tables.len(),
        arguments.out.display()
    ))
}

/// Why two tables are not parts of one sweep, if they are not.
fn difference(a: &StoredTable, b: &StoredTable) -> Option<&'static str> {
    match () {
        () if a.columns != b.columns => Some("their columns differ"),
        () if a.notes != b.notes => Some("model, settings or plan differ"),
        () => None,
    }
}

/// The runs, each once.
fn distinct(rows: &[(usize, StoredRow)]) -> impl Iterator<Item = u64> + '_ {
    rows.chunk_by(|a, b| a.1.run == b.1.run)
        .map(|group| group[0].1.run)
}

/// A run that is missing, or there twice, is an error.
fn check(
    arguments: &Arguments,
    whole: &StoredTable,
    rows: &[(usize, StoredRow)],
) -> Result<(), Failure> {
    let trajectories = whole
        .columns
        .get(1)
        .is_some_and(|column| column.name == "time");
    for group in rows.chunk_by(|a, b| a.1.run == b.1.run) {
        let other = group.iter().find(|(part, _)| *part != group[0].0);
        let twice = !trajectories && group.len() > 1;
        if let Some((part, row)) = other.or_else(|| group.get(1).filter(|_| twice)) {
            let (a, b) = (
                arguments.tables[group[0].0].display(),
                arguments.tables[*part].display(),
            );
            return Err(Failure::Input(format!(
                "run {} is in \"{a}\" and again in \"{b}\"",
                row.run
            )));
        }
    }
    if arguments.partial || trajectories {
        return Ok(());
    }
    let expected = whole.notes.as_ref().map_or_else(
        || rows.last().map_or(0, |(_, row)| row.run),
        |notes| notes.runs,
    );
    let mut found = distinct(rows);
    match (1..=expected).find(|run| found.next() != Some(*run)) {
        None => Ok(()),
        Some(run) => Err(Failure::Input(format!(
            "run {run} is in none of the tables: add its shard, or use --partial"
        ))),
    }
}
