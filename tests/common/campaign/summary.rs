//! Counts and quantiles of a campaign, and its comparison with an earlier one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Record;
use super::judge::Verdict;

/// All records of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// In the order in which they came.
    pub records: Vec<Record>,
}

impl Summary {
    /// Adds one.
    pub fn add(&mut self, mut record: Record) {
        record.run.rows.clear(); // Thousands of mechanisms: rows are not needed any more.
        self.records.push(record);
    }

    /// Records of a class.
    pub fn of(&self, verdict: Verdict) -> Vec<&Record> {
        (self.records.iter())
            .filter(|record| record.verdict() == verdict)
            .collect()
    }

    /// How many records of a class.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.of(verdict).len()
    }

    /// Sentences on the records of a class, for the message of a test.
    pub fn sentences(&self, verdict: Verdict) -> String {
        let lines: Vec<String> = self.of(verdict).iter().map(|r| r.sentence()).collect();
        lines.join("\n")
    }

    /// A table with a line for each formulation and tolerance.
    pub fn table(&self) -> String {
        let mut groups: BTreeMap<(String, i64), Vec<&Record>> = BTreeMap::new();
        for record in &self.records {
            // Loose before tight.
            let order = (-1e3 * record.tolerance.log10()).round() as i64;
            let key = (record.formulation.clone(), order);
            groups.entry(key).or_default().push(record);
        }
        let mut text = format!("{:30}", "");
        for verdict in Verdict::ALL {
            let _ = write!(text, "{:>8}", short(verdict));
        }
        let _ = writeln!(
            text,
            "   error/tolerance: 50 %, 90 %, 99 %, largest; steps: 50 %, 90 %, sum; CPU s"
        );
        for ((formulation, _), records) in &groups {
            let title = format!("{formulation} {:e}", records[0].tolerance);
            line(&mut text, &title, records);
        }
        line(&mut text, "all", &self.records.iter().collect::<Vec<_>>());
        let known = self.records.len() - self.count(Verdict::Unknown);
        let wrong = self.of(Verdict::Wrong);
        let gross = wrong.iter().filter(|r| !(r.error_over_growth() <= 1e3));
        let _ = writeln!(
            text,
            "{} runs, {} judged; wrong by more than 100 tolerances x growth {}, by more than 1000 {}; unknown {:.1} %",
            self.records.len(),
            known,
            wrong.len(),
            gross.count(),
            100.0 * self.count(Verdict::Unknown) as f64 / self.records.len().max(1) as f64
        );
        text
    }

    /// What differs from the log of an earlier campaign: verdicts, ratios of steps and errors.
    pub fn compare(&self, log: &str) -> String {
        let mut earlier = BTreeMap::new();
        for line in log.lines() {
            if let Ok(line) = serde_json::from_str::<Value>(line) {
                let key = format!(
                    "{} {} {}",
                    line["name"], line["formulation"], line["tolerance"]
                );
                earlier.insert(key, line);
            }
        }
        let mut text = String::new();
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for record in &self.records {
            let now = record.line();
            let key = format!(
                "{} {} {}",
                now["name"], now["formulation"], now["tolerance"]
            );
            let Some(before) = earlier.get(&key) else {
                continue;
            };
            let number = |line: &Value, key: &str| line[key].as_f64().unwrap_or(f64::NAN);
            if now["verdict"] != before["verdict"] {
                let _ = writeln!(
                    text,
                    "was {} with error/tolerance {}: {}",
                    before["verdict"],
                    Short(number(before, "error")),
                    record.sentence()
                );
            } else if record.verdict() == Verdict::Right {
                steps.push(number(&now, "steps") / number(before, "steps").max(1.0));
                errors.push(number(&now, "error") / number(before, "error"));
            }
        }
        let _ = writeln!(
            text,
            "right before and now: {} runs; steps {}; errors {} (10 %, 50 %, 90 %, largest of now over before)",
            steps.len(),
            quantiles(&mut steps, &[0.1, 0.5, 0.9, 1.0]),
            quantiles(&mut errors, &[0.1, 0.5, 0.9, 1.0]),
        );
        text
    }
}

fn short(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::StoppedByAll => "(stop)",
        Verdict::RefusedByAll => "(ref.)",
        other => other.name(),
    }
}

fn line(text: &mut String, title: &str, records: &[&Record]) {
    let _ = write!(text, "{title:30}");
    for verdict in Verdict::ALL {
        let count = records.iter().filter(|r| r.verdict() == verdict).count();
        let _ = write!(text, "{count:>8}");
    }
    let judged: Vec<&&Record> = (records.iter())
        .filter(|r| r.verdict() != Verdict::Unknown)
        .collect();
    let mut errors: Vec<f64> = judged.iter().map(|r| r.error_over_growth()).collect();
    let mut steps: Vec<f64> = (records.iter())
        .map(|r| r.run.statistics.steps as f64)
        .collect();
    let sum: f64 = steps.iter().sum();
    let cpu: f64 = records.iter().map(|r| r.run.cpu).sum();
    let _ = writeln!(
        text,
        "   {}; {}, {sum:.0}; {cpu:.1}",
        quantiles(&mut errors, &[0.5, 0.9, 0.99, 1.0]),
        quantiles(&mut steps, &[0.5, 0.9]),
    );
}

/// Quantiles of what is a number.
fn quantiles(values: &mut Vec<f64>, at: &[f64]) -> String {
    values.retain(|x| !x.is_nan());
    values.sort_by(f64::total_cmp);
    if values.is_empty() {
        return "-".to_string();
    }
    let quantile = |p: &f64| values[((values.len() - 1) as f64 * p).round() as usize];
    let texts: Vec<String> = at.iter().map(|p| Short(quantile(p)).to_string()).collect();
    texts.join(", ")
}

/// Three digits, with an exponent only where it is shorter.
pub struct Short(pub f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let x = self.0;
        match x.abs() {
            0.0 => write!(f, "0"),
            size if (0.01..1e5).contains(&size) => write!(f, "{}", (x * 1e3).round() / 1e3),
            _ => write!(f, "{x:.1e}"),
        }
    }
}
