//! What goes to a terminal and to nothing else: colours, and the line of progress of a long run.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Whether standard error is a terminal that takes colours (<https://no-color.org>).
pub fn coloured() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Prints a message of the program on standard error, its head in a colour on a terminal.
pub fn message(head: Head, text: &str) {
    let (colour, end) = match (coloured(), head) {
        (false, _) => ("", ""),
        (true, Head::Error) => ("\x1b[1;31m", "\x1b[0m"),
        (true, Head::Note) => ("\x1b[1;36m", "\x1b[0m"),
    };
    let _ = writeln!(std::io::stderr(), "{colour}biela:{end} {text}");
}

/// Kind of a message.
#[derive(Clone, Copy)]
pub enum Head {
    /// A failure.
    Error,
    /// Something to know.
    Note,
}

/// A run shorter than this shows no progress.
const SHORT: Duration = Duration::from_millis(700);
/// Time between two lines of progress.
const BETWEEN: Duration = Duration::from_millis(200);

/// The line of progress of a run, on standard error.
pub struct Progress {
    began: Instant,
    next: Instant,
    span: [f64; 2],
    shown: bool,
}

impl Progress {
    /// Of a run over `span` (s); `None` if standard error is no terminal.
    pub fn new(span: [f64; 2]) -> Option<Self> {
        std::io::stderr().is_terminal().then(|| {
            let began = Instant::now();
            Self {
                began,
                next: began + SHORT,
                span,
                shown: false,
            }
        })
    }

    /// Shows that `time` (s) was reached with a step of `step` (s), if a line is due.
    pub fn show(&mut self, time: f64, step: f64) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + BETWEEN;
        self.shown = true;
        let line = line(self.span, time, step, now - self.began);
        let mut out = std::io::stderr();
        // Back to the first column, and the rest of the line before is erased.
        let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
    }

    /// Removes the line.
    pub fn end(&mut self) {
        if self.shown {
            self.shown = false;
            let mut out = std::io::stderr();
            let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// The line of progress of many runs, on standard error.
pub struct RunProgress {
    began: Instant,
    next: Instant,
    /// Runs that were done before.
    before: u64,
    done: u64,
    all: u64,
    shown: bool,
}

impl RunProgress {
    /// Of `all` runs of which `before` are done; `None` if standard error is no terminal.
    pub fn new(before: u64, all: u64) -> Option<Self> {
        std::io::stderr().is_terminal().then(|| {
            let began = Instant::now();
            Self {
                began,
                next: began + SHORT,
                before,
                done: before,
                all,
                shown: false,
            }
        })
    }

    /// One more run is done; shows it, if a line is due.
    pub fn show(&mut self) {
        self.done += 1;
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + BETWEEN;
        self.shown = true;
        let line = run_line(self.before, self.done, self.all, now - self.began);
        let mut out = std::io::stderr();
        let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        if self.shown {
            let mut out = std::io::stderr();
            let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
        }
    }
}

fn run_line(before: u64, done: u64, all: u64, elapsed: Duration) -> String {
    let rate = (done - before) as f64 / elapsed.as_secs_f64();
    let left = match rate > 0.0 {
        true => duration((all - done) as f64 / rate),
        false => "?".to_owned(),
    };
    let part = 100.0 * done as f64 / all as f64;
    format!("  {done} of {all} runs ({part:.0} %), {rate:.1} per second, {left} left")
}

fn line([start, stop]: [f64; 2], time: f64, step: f64, elapsed: Duration) -> String {
    let done = (time - start) / (stop - start);
    let rate = (time - start) / elapsed.as_secs_f64();
    let left = match rate > 0.0 {
        true => duration((stop - time) / rate),
        false => "?".to_owned(),
    };
    format!(
        "  t = {time:.4} s of {stop} s ({:.0} %), {rate:.3} s per second, {left} left, h = {step:.1e} s",
        100.0 * done
    )
}

/// Seconds as people say them.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!(
            "{:.0} min {:02.0} s",
            (s / 60.0).floor(),
            (s % 60.0).floor()
        ),
        s if s < 360_000.0 => {
            format!(
                "{:.0} h {:02.0} min",
                (s / 3600.0).floor(),
                (s % 3600.0 / 60.0).floor()
            )
        }
        s => format!("{:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_tells_time_part_rate_rest_and_step() {
        let line = line([0.0, 10.0], 2.5, 1.24e-3, Duration::from_secs(5));
        assert_eq!(
            line,
            "  t = 2.5000 s of 10 s (25 %), 0.500 s per second, 15.0 s left, h = 1.2e-3 s"
        );
    }

    #[test]
    fn progress_of_many_runs_counts_those_of_this_time() {
        let line = run_line(100, 200, 500, Duration::from_secs(10));
        assert_eq!(
            line,
            "  200 of 500 runs (40 %), 10.0 per second, 30.0 s left"
        );
    }

    #[test]
    fn durations_are_those_of_people() {
        for (seconds, words) in [
            (2.5e-5, "25 µs"),
            (0.25, "250 ms"),
            (59.0, "59.0 s"),
            (61.5, "1 min 01 s"),
            (7261.0, "2 h 01 min"),
            (864_000.0, "10 days"),
        ] {
            assert_eq!(duration(seconds), words);
        }
    }
}
