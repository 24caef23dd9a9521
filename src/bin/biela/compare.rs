//! `biela compare`: the differences of two tables, output by output, and both in one picture.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use biela::component::Variable;

use crate::Failure;
use crate::csv::rounded;
use crate::output;
use crate::plot::{self, Animation};

/// Arguments of `biela compare`.
#[derive(clap::Args)]
#[command(
    after_help = "Tables are compared at the times that both have. Without such times, those of both are taken and the values \
                  between rows interpolated linearly; run both with the same --interval for exact differences.\n\n\
                  The range of a column that hardly changes is taken as a thousandth of its largest value.\n\n\
                  Exit status: 0 compared, 1 a difference is larger than --within, 2 bad input."
)]
pub struct Arguments {
    /// Table of a run (CSV)
    first: PathBuf,
    /// Table of another
    second: PathBuf,
    /// Compare these columns only [default: those that both tables have]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    show: Vec<String>,
    /// Draw both over time
    #[arg(long, value_name = "F.svg|F.png")]
    plot: Option<PathBuf>,
    /// Fail if a difference is larger than this part of the range of its column
    #[arg(long, value_name = "PART")]
    within: Option<f64>,
}

/// A table that was read.
#[derive(Debug)]
struct Table {
    names: Vec<String>,
    units: Vec<String>,
    /// Column by column; the first is time.
    columns: Vec<Vec<f64>>,
}

/// Compares two tables.
pub fn compare(arguments: &Arguments) -> Result<(), Failure> {
    let [first, second] = [&arguments.first, &arguments.second].map(|path| Table::read(path));
    let (first, second) = (first?, second?);
    let names = arguments.columns(&first, &second)?;
    let begin = first.columns[0][0].max(second.columns[0][0]);
    let end = first.end().min(second.end());
    if !(begin <= end) {
        return Err(Failure::Input(format!(
            "the tables have no time in common: the first ends at {} s, the second begins at {} s",
            first.end().min(second.end()),
            begin
        )));
    }
    let (times, how) = compared_times(&first, &second, [begin, end]);
    let mut text = format!(
        "{} and {}: {} s to {} s, {} {how}\n",
        arguments.first.display(),
        arguments.second.display(),
        rounded(begin, 9),
        rounded(end, 9),
        times.len()
    );
    let mut worst: Option<(f64, &str)> = None;
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for name in &names {
        let difference = Difference::of(&first, &second, name, &times);
        let unit = first.unit(name);
        writeln!(
            text,
            "  {name:<width$}  largest difference {} {unit}at t = {} s, {} % of its range",
            rounded(difference.largest, 3),
            rounded(difference.time, 6),
            rounded(100.0 * difference.part(), 3)
        )
        .expect("a String takes everything");
        if worst.is_none_or(|(part, _)| difference.part() > part) {
            worst = Some((difference.part(), name));
        }
    }
    for (table, other, path) in [
        (&first, &second, &arguments.first),
        (&second, &first, &arguments.second),
    ] {
        let alone: Vec<&str> = (table.names.iter().map(String::as_str))
            .filter(|name| other.column(name).is_none())
            .collect();
        if !alone.is_empty() {
            writeln!(text, "  only in {}: {}", path.display(), alone.join(", "))
                .expect("a String takes everything");
        }
    }
    if let Some(path) = &arguments.plot {
        let both = [&first, &second];
        draw(path, both, &names, [begin, end], arguments)?;
        writeln!(text, "  wrote {}", path.display()).expect("a String takes everything");
    }
    output::print(&text)?;
    match (arguments.within, worst) {
        (Some(within), Some((part, name))) if !(part <= within) => {
            Err(Failure::Simulation(format!(
                "\"{name}\" differs by {} of its range, more than {within}",
                rounded(part, 3)
            )))
        }
        _ => Ok(()),
    }
}

/// The times at which two tables are compared, and what they are: those of both tables if most rows of one of them have such a
/// time, else all.
fn compared_times(
    first: &Table,
    second: &Table,
    [begin, end]: [f64; 2],
) -> (Vec<f64>, &'static str) {
    let own = |table: &Table| -> Vec<f64> {
        let inside = table.columns[0]
            .iter()
            .filter(|t| (begin..=end).contains(*t));
        let mut times: Vec<f64> = inside.copied().collect();
        times.dedup();
        times
    };
    let [a, b] = [own(first), own(second)];
    let rounding = TIME_ROUNDING * begin.abs().max(end.abs());
    let has = |t: &&f64| {
        let k = b.partition_point(|other| *other < **t - rounding);
        b.get(k).is_some_and(|other| *other <= **t + rounding)
    };
    let common: Vec<f64> = a.iter().filter(has).copied().collect();
    if 2 * common.len() > a.len().min(b.len()) {
        let how = match common.len() {
            1 => "time",
            _ => "times",
        };
        return (common, how);
    }
    let mut all = [a, b].concat();
    all.sort_by(f64::total_cmp);
    all.dedup();
    (all, "times, between rows interpolated")
}

/// Difference of equal times that were computed in two ways, over the largest.
const TIME_ROUNDING: f64 = 1e-12;

/// The smallest range of a column, as part of its largest value: a constant that differs in its last digits is no difference of
/// its whole range.
const LEAST_RANGE: f64 = 1e-3;

impl Arguments {
    /// The columns that are compared.
    fn columns(&self, first: &Table, second: &Table) -> Result<Vec<String>, Failure> {
        if self.show.is_empty() {
            let both = (first.names[1..].iter()).filter(|name| second.column(name).is_some());
            let both: Vec<String> = both.cloned().collect();
            return match both.is_empty() {
                false => Ok(both),
                true => Err(Failure::Input(
                    "the tables have no column in common besides time".to_owned(),
                )),
            };
        }
        for name in &self.show {
            for (table, path) in [(first, &self.first), (second, &self.second)] {
                if table.column(name).is_none() {
                    return Err(Failure::Input(format!(
                        "\"{}\" has no column \"{name}\"; its columns are {}",
                        path.display(),
                        table.names[1..].join(", ")
                    )));
                }
            }
        }
        Ok(self.show.clone())
    }
}

/// The largest difference of a column.
struct Difference {
    largest: f64,
    time: f64,
    /// Largest less smallest value of both, at least a part of the largest.
    range: f64,
}

impl Difference {
    fn of(first: &Table, second: &Table, name: &str, times: &[f64]) -> Self {
        let mut difference = Self {
            largest: 0.0,
            time: times[0],
            range: 0.0,
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &t in times {
            let [a, b] = [first, second].map(|table| table.at(name, t));
            low = low.min(a).min(b);
            high = high.max(a).max(b);
            // A value that is not a number differs from everything else.
            let apart = match (a.is_nan(), b.is_nan()) {
                (true, true) => 0.0,
                (false, false) => (a - b).abs(),
                _ => f64::INFINITY,
            };
            if apart > difference.largest {
                difference.largest = apart;
                difference.time = t;
            }
        }
        difference.range = (high - low).max(LEAST_RANGE * high.abs().max(low.abs()));
        difference
    }

    /// The difference as part of the range.
    fn part(&self) -> f64 {
        match self.largest {
            0.0 => 0.0,
            largest => largest / self.range,
        }
    }
}

impl Table {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::Input(format!("cannot read \"{}\": {e}", path.display())))?;
        Self::parse(&text).map_err(|(line, message)| {
            Failure::Input(format!("{}:{line}: {message}", path.display()))
        })
    }

    /// Reads a table; an error has its line.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut lines = (1..)
            .zip(text.lines())
            .filter(|(_, l)| !l.trim().is_empty());
        let Some((_, head)) = lines.next() else {
            return Err((1, "the table is empty".to_owned()));
        };
        let names = fields(head);
        let mut columns = vec![Vec::new(); names.len()];
        let mut units = vec![String::new(); names.len()];
        for (row, (number, line)) in lines.enumerate() {
            let values = fields(line);
            if values.len() != names.len() {
                let (n, found) = (names.len(), values.len());
                return Err((number, format!("expected {n} columns, found {found}")));
            }
            let numbers: Vec<Option<f64>> = values.iter().map(|v| v.trim().parse().ok()).collect();
            if row == 0 && numbers[0].is_none() {
                units = values;
                continue;
            }
            for (k, value) in numbers.into_iter().enumerate() {
                let name = &names[k];
                let refuse = |what: &str| (number, format!("{name} = {}: {what}", values[k]));
                let value = value.ok_or_else(|| refuse("expected a number"))?;
                if k == 0 && columns[0].last().is_some_and(|before| value < *before) {
                    return Err(refuse("time must not decrease"));
                }
                columns[k].push(value);
            }
        }
        match columns[0].is_empty() {
            true => Err((1, "the table has no rows".to_owned())),
            false => Ok(Self {
                names,
                units,
                columns,
            }),
        }
    }

    fn end(&self) -> f64 {
        *self.columns[0].last().expect("a table has a row")
    }

    fn column(&self, name: &str) -> Option<&Vec<f64>> {
        let index = self.names.iter().position(|other| other == name)?;
        Some(&self.columns[index])
    }

    /// The unit of a column with a blank behind it, or nothing.
    fn unit(&self, name: &str) -> String {
        let index = self.names.iter().position(|other| other == name);
        match index.map(|i| self.units[i].as_str()) {
            None | Some("" | "1") => String::new(),
            Some(unit) => format!("{unit} "),
        }
    }

    /// The value of a column at a time between the first and the last.
    fn at(&self, name: &str, t: f64) -> f64 {
        let times = &self.columns[0];
        let values = self.column(name).expect("the column exists");
        // Of several rows at one time, such as those of an impact, the last.
        let after = times.partition_point(|time| *time <= t);
        match after {
            0 => values[0],
            k if k == times.len() || times[k - 1] == t => values[k - 1],
            // The same time, computed in another way.
            k if times[k] - t <= TIME_ROUNDING * t.abs() => values[k],
            k => {
                let part = (t - times[k - 1]) / (times[k] - times[k - 1]);
                values[k - 1] + part * (values[k] - values[k - 1])
            }
        }
    }
}

/// The fields of a line (RFC 4180).
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = characters.next() {
        let field = fields.last_mut().expect("there is one");
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}

/// Draws each column of both tables in the same axes.
fn draw(
    path: &Path,
    tables: [&Table; 2],
    names: &[String],
    [begin, end]: [f64; 2],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let mut animation = Animation::default();
    for k in 0..=plot::FRAMES {
        let t = begin + (end - begin) * k as f64 / plot::FRAMES as f64;
        let values = names
            .iter()
            .flat_map(|name| tables.map(|table| table.at(name, t)));
        animation.push(t, &values.collect::<Vec<f64>>());
    }
    let label = |path: &Path| {
        path.file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into())
    };
    let [first, second]: [String; 2] = [label(&arguments.first), label(&arguments.second)];
    let variables: Vec<Variable> = names
        .iter()
        .flat_map(|name| {
            // The name in the unit keeps the two lines of one output in a panel of their own.
            let unit = match tables[0].unit(name).trim() {
                "" => name.clone(),
                unit => format!("{name} ({unit})"),
            };
            [&first, &second].map(|file| Variable::output(file.clone(), unit.clone()))
        })
        .collect();
    let subtitle = format!("{first} and {second}, {begin} s to {end} s");
    let svg = plot::draw_outputs("two runs compared", &variables, &animation, &subtitle);
    output::write(path, &plot::file_bytes(path, svg)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_with_units_quotes_and_errors_by_line() {
        let table = Table::parse("time,\"a,b\"\ns,m\n0,1\n1,3\n").unwrap();
        assert_eq!(table.names, ["time", "a,b"]);
        assert_eq!(table.unit("a,b"), "m ");
        assert_eq!(table.at("a,b", 0.25), 1.5);
        for (text, line, fragment) in [
            ("", 1, "empty"),
            ("time,a\n", 1, "no rows"),
            ("time,a\n0,1,2\n", 2, "expected 2 columns, found 3"),
            ("time,a\n0,1\n1,x\n", 3, "a = x: expected a number"),
            ("time,a\n1,1\n0,1\n", 3, "must not decrease"),
        ] {
            let (at, message) = Table::parse(text).unwrap_err();
            assert_eq!(at, line, "{text}");
            assert!(message.contains(fragment), "{message}");
        }
    }

    #[test]
    fn the_largest_difference_is_found_between_the_rows_of_one_table() {
        let first = Table::parse("time,a\n0,0\n1,1\n").unwrap();
        let second = Table::parse("time,a\n0,0\n0.5,1\n1,1\n").unwrap();
        let found = Difference::of(&first, &second, "a", &[0.0, 0.5, 1.0]);
        assert_eq!((found.largest, found.time), (0.5, 0.5));
        assert_eq!(found.part(), 0.5);
    }
}
