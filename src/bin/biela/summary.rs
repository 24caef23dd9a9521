//! What a run tells at its end: the summary, and the object of `--json`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use biela::component::ErrorBarSummary;
use biela::linalg::elementary::log10;
use biela::model::counters::{COUNTERS, CounterValue, Shown};
use biela::{Instance, Statistics, Variable};
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
    /// Error bars, if they were asked for.
    pub error_bars: Option<FinalBars>,
    /// How often it was run until the accuracy was reached, or out of reach.
    pub runs: u32,
}

/// Error bars at the end of a run.
pub struct FinalBars {
    /// What they say as a whole.
    summary: ErrorBarSummary,
    /// Of each output; `None` without one.
    bars: Vec<Option<f64>>,
}

impl FinalBars {
    /// Of these outputs; `None` if the run has none.
    pub fn of(instance: &mut Instance, outputs: &[u32]) -> Option<Self> {
        let summary = instance.error_bars()?;
        let bars = outputs.iter().map(|output| {
            let mut bar = [f64::NAN];
            let reference = instance.error_bar(*output)?;
            instance.get_real(&[reference], &mut bar).ok()?;
            Some(bar[0])
        });
        let bars = bars.collect();
        Some(Self { summary, bars })
    }

    /// Entries of the object of `--json`.
    fn json(&self, outputs: &[Variable], tolerance: f64) -> Vec<(&'static str, Value)> {
        let ErrorBarSummary {
            worst,
            event_time,
            undetermined_after,
            stopped,
            left_out,
            jumping,
            accuracy,
            kept,
            ..
        } = &self.summary;
        // An infinite bar becomes null: nothing is known.
        let bars = outputs.iter().zip(&self.bars);
        let bars =
            bars.filter_map(|(output, bar)| Some((output.name.clone(), Value::from((*bar)?))));
        let names = |names: &[String]| Value::from(names.to_vec());
        let mut entries = vec![
            ("error", Value::from(bars.collect::<Map<String, Value>>())),
            ("worst_error_bar", Value::from(*worst)),
            ("event_time_error", Value::from(*event_time)),
            ("undetermined_after", Value::from(*undetermined_after)),
            ("jumps", names(jumping)),
            ("left_out", names(left_out)),
            (
                "companion_stopped",
                Value::from(stopped.as_ref().map(|(time, _)| *time)),
            ),
        ];
        if let Some(accuracy) = accuracy {
            entries.push(("accuracy", Value::from(*accuracy)));
            entries.push(("accuracy_kept", Value::from(*kept)));
            entries.push(("tolerance", Value::from(tolerance)));
        }
        entries
    }
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
        let bars = self.error_bars.as_ref();
        for (key, value) in bars.map_or(vec![], |bars| bars.json(outputs, self.tolerance)) {
            object.insert(key.to_owned(), value);
        }
        one_line(&Value::from(object))
    }

    /// What the error bars say, in lines of the summary.
    fn error_sentences(&self, bars: &ErrorBarSummary) -> String {
        let mut lines = Vec::new();
        let worst = match &bars.worst_output {
            Some(output) => format!("{} of the range, in {output}", rounded(bars.worst, 2)),
            None => "none".to_owned(),
        };
        lines.push(format!("largest error bar {worst}"));
        if let Some(accuracy) = bars.accuracy {
            let (asked, tolerance) = (Number(accuracy), rounded(self.tolerance, 2));
            let runs = match self.runs {
                1 => "one run".to_owned(),
                runs => format!("{runs} runs"),
            };
            lines.push(match bars.kept {
                true => format!("accuracy {asked} kept with tolerance {tolerance}, after {runs}"),
                false => format!(
                    "accuracy {asked} is not kept: the motion does not allow it, tolerance {tolerance} reached {} after {runs}",
                    rounded(bars.worst, 2)
                ),
            });
        }
        let sentences = bars.to_string();
        lines.extend(sentences.lines().map(str::to_owned));
        let mut text = String::new();
        for (i, line) in lines.iter().enumerate() {
            let head = if i == 0 { "error bars" } else { "" };
            writeln!(text, "  {head:<12}  {line}").expect("a String takes everything");
        }
        text
    }

    /// The line below the title of a picture.
    pub fn subtitle(&self) -> String {
        format!(
            "{} s to {} s, {} steps, {} rejected, tolerance {}",
            Number(self.start),
            rounded(self.reached, 9),
            self.statistics.steps,
            self.statistics.rejected,
            rounded(self.tolerance, 3)
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
            rounded(self.tolerance, 3),
            duration(self.cpu.as_secs_f64()),
            pace(self.real_time_factor()),
            self.energy_drift,
        );
        let width = outputs.iter().map(|o| o.name.len()).max().unwrap_or(0);
        for (i, (output, value)) in outputs.iter().zip(&self.finals).enumerate() {
            let head = if i == 0 { "at the end" } else { "" };
            let value = match self.error_bars.as_ref().and_then(|bars| bars.bars[i]) {
                Some(bar) => with_bar(*value, bar),
                None => rounded(*value, self.digits()),
            };
            writeln!(
                text,
                "  {head:<12}  {:<width$}  {value} {}",
                output.name, output.unit
            )
            .expect("a String takes everything");
        }
        if let Some(bars) = &self.error_bars {
            text += &self.error_sentences(&bars.summary);
        }
        for file in files {
            writeln!(text, "  wrote         {}", file.display())
                .expect("a String takes everything");
        }
        text
    }
}

/// A value with its error bar: `0.4712 ± 3e-7`. It has the digits that mean something, and one more.
fn with_bar(value: f64, bar: f64) -> String {
    if !(bar.is_finite() && value.is_finite()) {
        return format!("{} ± {}", Number(value), Number(bar));
    }
    let size = |x: f64| log10(x).floor();
    let digits = match (value.abs() > 0.0, bar > 0.0) {
        (true, true) => (size(value.abs()) - size(bar) + 2.0).clamp(1.0, 17.0) as usize,
        _ => 17,
    };
    format!("{} ± {}", rounded(value, digits), rounded(bar, 1))
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
    fn a_value_has_the_digits_that_its_error_bar_allows() {
        assert_eq!(with_bar(0.471_234_567_89, 3.2e-7), "0.47123457 ± 3e-7");
        assert_eq!(with_bar(-12.345_678, 0.02), "-12.346 ± 0.02");
        assert_eq!(with_bar(1.5, f64::INFINITY), "1.5 ± inf");
        assert_eq!(with_bar(0.25, 0.0), "0.25 ± 0");
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
