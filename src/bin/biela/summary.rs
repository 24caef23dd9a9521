//! What a run tells at its end: the summary, and the object of `--json`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use biela::linalg::elementary::log10;
use biela::model::counters::{COUNTERS, CounterValue, Shown};
use biela::{Statistics, Variable};
use serde_json::{Map, Value};

use crate::csv::{Number, rounded};
use crate::terminal::duration;

/// Results of a run for the summary and `--json`.
pub struct Results {
    /// Name of the model.
    pub name: String,
    /// Tolerance of the solver.
    pub tolerance: f64,
    /// Start of the run (s).
    pub start: f64,
    /// Time of the last state (s).
    pub reached: f64,
    /// Counters.
    pub statistics: Statistics,
    /// CPU time of the integration.
    pub cpu: Duration,
    /// J
    pub energy_drift: f64,
    /// Outputs at the end.
    pub finals: Vec<f64>,
}

impl Results {
    /// Simulated time over CPU time: above 1 is faster than real time.
    fn real_time_factor(&self) -> f64 {
        (self.reached - self.start) / self.cpu.as_secs_f64()
    }

    /// Digits that mean something at the tolerance of the run, and one more.
    fn digits(&self) -> usize {
        let meant = (-log10(self.tolerance)).ceil();
        (meant as usize).clamp(3, 11) + 1
    }

    /// The object that `--json` prints, with its keys in the documented order.
    pub fn json(&self, outputs: &[Variable]) -> String {
        let s = &self.statistics;
        let names = outputs.iter().map(|output| output.name.clone());
        // Numbers that are not finite become null.
        let finals: Map<String, Value> = names
            .zip(self.finals.iter().map(|&value| Value::from(value)))
            .collect();
        let mut object: Map<String, Value> = (COUNTERS.iter())
            .filter(|counter| counter.shown.contains(&Shown::Json))
            .map(|counter| {
                let value = match (counter.value)(s) {
                    CounterValue::Count(count) => Value::from(count),
                    CounterValue::Real(value) => Value::from(value),
                };
                (counter.name.to_owned(), value)
            })
            .collect();
        for (key, value) in [
            ("cpu_seconds", Value::from(self.cpu.as_secs_f64())),
            ("real_time_factor", Value::from(self.real_time_factor())),
            ("energy_drift", Value::from(self.energy_drift)),
            ("final", Value::from(finals)),
        ] {
            object.insert(key.to_owned(), value);
        }
        one_line(&Value::from(object))
    }

    /// The line below the title of a picture.
    pub fn subtitle(&self) -> String {
        format!(
            "{} s to {} s, {} steps, {} rejected, tolerance {}",
            Number(self.start),
            rounded(self.reached, 9),
            self.statistics.steps,
            self.statistics.rejected,
            Number(self.tolerance)
        )
    }

    /// The text for people.
    pub fn summary(&self, outputs: &[Variable], files: &[&Path]) -> String {
        let s = &self.statistics;
        let mut text = format!(
            "{}: {} s to {} s\n\
             \x20 steps         {}, {} rejected, {} without convergence; from {:.2e} s to {:.2e} s\n\
             \x20 work          {} Newton iterations, {} residuals, {} factorizations, {} solves\n\
             \x20 worst error   {:.2} of the tolerance {}\n\
             \x20 CPU           {}, {}\n\
             \x20 energy drift  {:.2e} J\n",
            self.name,
            Number(self.start),
            rounded(self.reached, 9),
            s.steps,
            s.rejected,
            s.newton_failures,
            s.smallest_step,
            s.largest_step,
            s.newton_iterations,
            s.residuals,
            s.factorizations,
            s.solves,
            s.worst_error,
            Number(self.tolerance),
            duration(self.cpu.as_secs_f64()),
            pace(self.real_time_factor()),
            self.energy_drift,
        );
        let width = outputs.iter().map(|o| o.name.len()).max().unwrap_or(0);
        for (i, (output, value)) in outputs.iter().zip(&self.finals).enumerate() {
            let head = if i == 0 { "at the end" } else { "" };
            writeln!(
                text,
                "  {head:<12}  {:<width$}  {} {}",
                output.name,
                rounded(*value, self.digits()),
                output.unit
            )
            .expect("a String takes everything");
        }
        for file in files {
            writeln!(text, "  wrote         {}", file.display())
                .expect("a String takes everything");
        }
        text
    }
}

/// JSON text on one line, with a blank after every comma and colon.
fn one_line(value: &Value) -> String {
    let Value::Object(map) = value else {
        return value.to_string();
    };
    let entry = |(key, value): (&String, &Value)| {
        format!("{}: {}", Value::from(key.as_str()), one_line(value))
    };
    let entries: Vec<String> = map.iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

/// A real-time factor in words.
fn pace(factor: f64) -> String {
    match factor {
        f if !f.is_finite() => "no time to speak of".to_owned(),
        f if f >= 10.0 => format!("{f:.0} times faster than real time"),
        f if f >= 1.0 => format!("{f:.1} times faster than real time"),
        f => format!("{:.1} times slower than real time", 1.0 / f),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_faster_or_slower_than_real_time() {
        assert_eq!(pace(1234.5), "1234 times faster than real time");
        assert_eq!(pace(1.25), "1.2 times faster than real time");
        assert_eq!(pace(0.1), "10.0 times slower than real time");
    }

    #[test]
    fn json_keeps_the_order_of_keys_and_writes_null_for_nan() {
        let inner = Map::from_iter([("say \"x\"".to_owned(), Value::from(-1e-300))]);
        let object = Map::from_iter([
            ("steps".to_owned(), Value::from(u64::MAX)),
            ("a".to_owned(), Value::from(0.1)),
            ("b".to_owned(), Value::from(f64::NAN)),
            ("final".to_owned(), Value::from(inner)),
            ("empty".to_owned(), Value::from(Map::new())),
        ]);
        assert_eq!(
            one_line(&Value::from(object)),
            "{\"steps\": 18446744073709551615, \"a\": 0.1, \"b\": null, \
             \"final\": {\"say \\\"x\\\"\": -1e-300}, \"empty\": {}}"
        );
    }
}
