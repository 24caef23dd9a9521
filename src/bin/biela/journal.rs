//! The runs that have been done, kept while a sweep is under way, so that it can be killed at any time.
//!
//! ```text
//!   R.csv.runs           a head line with the fingerprint, then a line a run in the order in which they ended
//!   T.csv.runs           the same for trajectories: "run rows", then so many lines
//! ```
//!
//! A run counts if its line is complete; its trajectory is written before it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Result as IoResult, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use biela::study::{Cell, RunOutcome, csv_line};

use crate::Failure;
use crate::output;

/// Lines of finished runs in a file.
struct RunLines {
    path: PathBuf,
    file: File,
    /// Number of runs of the plan.
    runs: u64,
    /// For each run that is there, where its text is and how long.
    places: BTreeMap<u64, (u64, u64)>,
    end: u64,
}

/// What a sweep has done so far.
pub struct Journal {
    rows: RunLines,
    trajectories: Option<RunLines>,
}

const HEAD: &str = "biela sweep, runs so far; --resume goes on";

impl Journal {
    fn path_for(table: &Path) -> PathBuf {
        let mut name = table.file_name().unwrap_or_default().to_owned();
        name.push(".runs");
        table.with_file_name(name)
    }

    /// Whether a sweep into this table was stopped.
    pub fn exists(table: &Path) -> bool {
        Self::path_for(table).exists()
    }

    /// Opens the journal of a table: an empty one, or with `resume` the one that is there.
    pub fn open(
        table: &Path,
        trajectories: Option<&Path>,
        fingerprint: &str,
        runs: u64,
        resume: bool,
    ) -> Result<Self, Failure> {
        let head = format!("{HEAD},{fingerprint}");
        let mut rows = RunLines::open(Self::path_for(table), &head, runs, resume)?;
        let mut trajectories = trajectories
            .map(|path| RunLines::open(Self::path_for(path), &head, runs, resume))
            .transpose()?;
        let read = rows.read_rows();
        read.map_err(|error| output::failure(&rows.path, &error))?;
        if let Some(lines) = &mut trajectories {
            let read = lines.read_trajectories();
            read.map_err(|error| output::failure(&lines.path, &error))?;
            // Rows without their trajectory are done again.
            rows.places.retain(|run, _| lines.places.contains_key(run));
        }
        Ok(Self { rows, trajectories })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.rows.path
    }

    /// Whether a run is done.
    pub fn has(&self, run: u64) -> bool {
        self.rows.places.contains_key(&run)
    }

    /// Adds a run.
    pub fn append(&mut self, outcome: &RunOutcome) -> IoResult<()> {
        if let Some(lines) = &mut self.trajectories {
            lines.append_trajectory(outcome)?;
        }
        let line = csv_line(&outcome.row) + "\n";
        self.rows.append(outcome.run, &line)
    }

    /// How many of these runs have failed.
    pub fn failures(&mut self, runs: &[u64]) -> u64 {
        let mut count = 0;
        for run in runs {
            // The status is a word of its own between commas; messages are quoted if they have one.
            count += u64::from(
                self.rows
                    .text(*run)
                    .is_ok_and(|line| line.contains(",failed,")),
            );
        }
        count
    }

    /// The lines of these runs, one after the other.
    pub fn rows<'a>(&'a mut self, runs: &'a [u64]) -> impl Iterator<Item = IoResult<String>> + 'a {
        let lines = &mut self.rows;
        runs.iter().map(move |run| {
            lines
                .text(*run)
                .map(|text| text.trim_end_matches('\n').to_owned())
        })
    }

    /// The lines of the trajectories of these runs.
    pub fn trajectory_rows<'a>(
        &'a mut self,
        runs: &'a [u64],
    ) -> impl Iterator<Item = IoResult<String>> + 'a {
        let mut lines = self.trajectories.as_mut();
        runs.iter().flat_map(move |run| {
            let text = lines
                .as_mut()
                .map_or_else(|| Ok(String::new()), |lines| lines.text(*run));
            match text {
                Err(error) => vec![Err(error)],
                Ok(text) => text
                    .lines()
                    .skip(1)
                    .map(|line| Ok(line.to_owned()))
                    .collect(),
            }
        })
    }

    /// Removes the files: the tables have everything.
    pub fn remove(self) {
        let _ = fs::remove_file(&self.rows.path);
        if let Some(lines) = &self.trajectories {
            let _ = fs::remove_file(&lines.path);
        }
    }
}

impl RunLines {
    fn open(path: PathBuf, head: &str, runs: u64, resume: bool) -> Result<Self, Failure> {
        let refused = |error: std::io::Error| {
            Failure::Input(format!("cannot write \"{}\": {error}", path.display()))
        };
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(refused)?;
        // Two sweeps into one table would mix their lines.
        if file.try_lock().is_err() {
            return Err(Failure::Input(format!(
                "another sweep is writing \"{}\"",
                path.display()
            )));
        }
        let mut lines = Self {
            path: path.clone(),
            file,
            runs,
            places: BTreeMap::new(),
            end: 0,
        };
        let expected = format!("{head}\n");
        let length = lines.file.metadata().map_err(refused)?.len();
        if !resume && length > expected.len() as u64 {
            return Err(Failure::Input(format!(
                "\"{}\" has the runs of a sweep that was stopped: --resume goes on, or delete it to begin again",
                path.display()
            )));
        }
        if !resume {
            // No run is in it.
            lines.file.set_len(0).map_err(refused)?;
        }
        let mut begun = vec![0; expected.len()];
        let length = lines.read_begin(&mut begun).map_err(refused)?;
        if length == expected.len() && begun == expected.as_bytes() {
            lines.end = expected.len() as u64;
        } else if begun[..length].contains(&b'\n') {
            return Err(Failure::Input(format!(
                "\"{}\" belongs to a sweep of another model, plan or shard: delete it to begin again",
                path.display()
            )));
        } else {
            // Empty, or killed while the first line was written.
            lines
                .file
                .set_len(0)
                .and_then(|()| lines.put(&expected))
                .map_err(refused)?;
        }
        Ok(lines)
    }

    fn read_begin(&mut self, bytes: &mut [u8]) -> IoResult<usize> {
        let mut length = 0;
        while length < bytes.len() {
            match self.file.read(&mut bytes[length..])? {
                0 => break,
                count => length += count,
            }
        }
        Ok(length)
    }

    /// Writes a text at the end, in one call.
    fn put(&mut self, text: &str) -> IoResult<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(text.as_bytes())?;
        self.end += text.len() as u64;
        Ok(())
    }

    /// Writes the text of a run; what was there of it counts no longer.
    fn append(&mut self, run: u64, text: &str) -> IoResult<()> {
        let start = self.end;
        self.put(text)?;
        self.places.insert(run, (start, text.len() as u64));
        Ok(())
    }

    fn append_trajectory(&mut self, outcome: &RunOutcome) -> IoResult<()> {
        let width = outcome.width.max(1);
        let mut text = format!("{} {}\n", outcome.run, outcome.trajectory.len() / width);
        for row in outcome.trajectory.chunks(width) {
            let mut cells = vec![Cell::Integer(outcome.run)];
            cells.extend(row.iter().map(|value| Cell::finite(*value)));
            text += &csv_line(&cells);
            text.push('\n');
        }
        self.append(outcome.run, &text)
    }

    /// The text of a run.
    fn text(&mut self, run: u64) -> IoResult<String> {
        let missing = || std::io::Error::other("a run is missing in the journal");
        let (start, length) = *self.places.get(&run).ok_or_else(missing)?;
        let mut bytes = vec![0; length as usize];
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Finds the rows in a file that is there. What comes behind the last complete one is cut off.
    fn read_rows(&mut self) -> IoResult<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut reader = BufReader::new(self.file.try_clone()?);
        let (mut line, mut at) = (Vec::new(), self.end);
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            match number_before(&line, b',').filter(|run| (1..=self.runs).contains(run)) {
                Some(run) => self.places.insert(run, (at, line.len() as u64)),
                None => break,
            };
            at += line.len() as u64;
            line.clear();
        }
        self.end = at;
        self.file.set_len(at)
    }

    /// The same for trajectories.
    fn read_trajectories(&mut self) -> IoResult<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut reader = BufReader::new(self.file.try_clone()?);
        let (mut line, mut at) = (Vec::new(), self.end);
        'blocks: while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            let head = String::from_utf8_lossy(&line[..line.len() - 1]).into_owned();
            let numbers: Option<Vec<u64>> = head.split(' ').map(|word| word.parse().ok()).collect();
            let Some(&[run, rows]) = numbers.as_deref() else {
                break;
            };
            let mut length = line.len() as u64;
            for _ in 0..rows {
                line.clear();
                if reader.read_until(b'\n', &mut line)? == 0 || !line.ends_with(b"\n") {
                    break 'blocks;
                }
                length += line.len() as u64;
            }
            if !(1..=self.runs).contains(&run) {
                break;
            }
            self.places.insert(run, (at, length));
            at += length;
            line.clear();
        }
        self.end = at;
        self.file.set_len(at)
    }
}

/// The number at the beginning of a line, before `end`.
fn number_before(line: &[u8], end: u8) -> Option<u64> {
    let length = line.iter().position(|byte| *byte == end)?;
    std::str::from_utf8(&line[..length]).ok()?.parse().ok()
}
