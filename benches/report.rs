//! What the report page costs: CPU of writing it, time until it can be used, frames a second.
//!
//! ```text
//!   cargo bench --bench report
//! ```
//!
//! Writing is compared with the same run that writes the same rows as a table: at most 50 ms and a tenth of it more. The
//! browser is Chromium without a graphics card; without Chromium that part is left out.

#[path = "../tests/report/driver.rs"]
#[allow(dead_code)] // the tests drive the page in more ways
mod driver;
#[path = "../tests/report/support.rs"]
#[allow(dead_code)] // the tests read the page in more ways
mod support;

use std::path::Path;
use std::process::Command;

use driver::{Browser, Graphics};
use support::{hundred_bodies, repository, scratch, written};

/// Runs of which the fastest counts: the others were disturbed.
const REPEATS: usize = 5;

fn main() {
    let hundred = written("bench_hundred.toml", &hundred_bodies());
    let cases = [
        (
            "slider_crank",
            repository("models/slider_crank.toml"),
            vec![],
        ),
        ("stewart", repository("models/stewart.toml"), vec![]),
        ("iltis", repository("models/iltis.toml"), vec![]),
        (
            "100 bodies, 2001 rows",
            hundred.clone(),
            vec!["--stop", "2", "--interval", "0.001"],
        ),
        (
            "100 bodies, 10001 rows",
            hundred,
            vec!["--stop", "10", "--interval", "0.001"],
        ),
    ];
    println!(
        "{:<24} {:>11} {:>11} {:>11} {:>9}",
        "CPU seconds", "table", "page", "allowed", "MB"
    );
    for (name, model, more) in &cases {
        let (csv, page) = (scratch("bench.csv"), scratch(&format!("bench {name}.html")));
        let table = fastest(model, "--out", &csv, more);
        let cost = fastest(model, "--report", &page, more);
        let size = std::fs::metadata(&page).map_or(0, |m| m.len()) as f64 / 1e6;
        println!(
            "{name:<24} {table:>11.3} {cost:>11.3} {:>11.3} {size:>9.2}",
            0.05 + 1.1 * table
        );
    }
    println!();
    println!(
        "{:<24} {:>14} {:>14}",
        "browser", "usable (ms)", "frames a second"
    );
    for (graphics, fragment, name) in [
        (Graphics::None, "", "canvas"),
        (Graphics::SoftwareWebgl, "#webgl", "software WebGL"),
    ] {
        for (case, ..) in &cases {
            let Some(browser) = Browser::start(graphics, 1400, 900) else {
                return;
            };
            browser.open(&scratch(&format!("bench {case}.html")), fragment);
            let [ready, rate] = watch(&browser);
            println!("{:<24} {ready:>14.0} {rate:>14.1}   {name}", case);
        }
    }
}

/// CPU seconds of the command, as the shell tells them.
fn fastest(model: &Path, option: &str, file: &Path, more: &[&str]) -> f64 {
    let repeats = if more.contains(&"10") { 2 } else { REPEATS };
    let once = || {
        let output = Command::new("bash")
            .args(["-c", "\"$@\" > /dev/null && times", "bash"])
            .arg(env!("CARGO_BIN_EXE_biela"))
            .arg("run")
            .arg(model)
            .arg(option)
            .arg(file)
            .args(more)
            .output()
            .expect("the shell starts");
        let told = String::from_utf8_lossy(&output.stdout);
        let children = told.lines().nth(1).expect("times of the children");
        children.split_whitespace().map(seconds).sum::<f64>()
    };
    (0..repeats).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Of `1m2.345s`.
fn seconds(text: &str) -> f64 {
    let (minutes, seconds) = text
        .trim_end_matches('s')
        .split_once('m')
        .expect("minutes and seconds");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    60.0 * number(minutes) + number(seconds)
}

/// Milliseconds from the begin of loading until the page answers, and frames a second while it plays.
fn watch(browser: &Browser) -> [f64; 2] {
    let ready = browser.wait(
        "biela.ready.then(() => requestAnimationFrame(() => done(performance.getEntriesByName('biela usable')[0].startTime)))",
    );
    let rate = browser.wait(
        "document.getElementById('play').click(); \
         let first = null, frames = 0; \
         const step = (now) => { first ??= now + 1000; if (now >= first) frames += 1; \
           if (now < first + 4000) requestAnimationFrame(step); else done((frames - 1) / (now - first) * 1000); }; \
         requestAnimationFrame(step);",
    );
    [ready, rate].map(|value| value.as_f64().unwrap_or(f64::NAN))
}
