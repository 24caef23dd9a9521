//! Work and precision of the method on all reference problems: how much it costs, how large the global error becomes for a
//! given tolerance, and what the corrector and α change. Prints tables and draws `docs/pictures/work_precision.svg`;
//! docs/accuracy.md discusses them.
//!
//! ```text
//!   cargo run --release --example work_precision
//! ```
//!
//! The error is that of the positions, in the norm the tolerance is meant in, the largest over all times of the reference;
//! the result is interpolated there, so that the steps are those of an undisturbed run.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../src/bin/biela/cpu_time.rs"]
mod cpu_time;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use biela::formulation::{self, EvaluationContext, System};
use biela::integrator::{Environment, Integrator, Sample, State, Statistics};
use biela::model::{Corrector, Model, SolverSettings};
use common::systems::andrews::{self, Andrews};
use common::systems::impact::Impact;
use common::systems::oscillator::Oscillator;
use cpu_time::CpuClock;

const ALPHAS: [f64; 4] = [0.0, 0.05, 0.1, 0.3];
const CORRECTORS: [Corrector; 2] = [Corrector::Off, Corrector::Auto];
const TOLERANCES: [f64; 6] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];
/// α of the detailed tables: the default.
const USUAL: usize = 1;
/// Runs of which the shortest time counts.
const REPEATS: usize = 5;

/// The double pendulum with a lower rod that is a stiff spring, ω = 1.4e3 rad/s, beside a damper (1e3 N s/m: 70 %).
const STIFF: &str = include_str!("../tests/common/stiff_pendulum.toml");

/// A problem with a known answer.
struct Case {
    title: &'static str,
    system: Box<dyn System>,
    parameters: Vec<f64>,
    start: (Vec<f64>, Vec<f64>),
    /// Coordinates at rising times.
    reference: Vec<(f64, Vec<f64>)>,
}

/// What one run has cost and brought. Seconds are processor time, set-up and start included.
#[derive(Clone, Copy)]
struct Run {
    tolerance: f64,
    statistics: Statistics,
    error: f64,
    seconds: f64,
}

impl Run {
    /// Published step counts are attempts: everything that was tried.
    fn attempts(&self) -> u64 {
        let s = &self.statistics;
        s.steps + s.rejected + s.newton_failures + s.event_repeats
    }
}

/// One curve: α, corrector, a run for each tolerance.
struct Curve {
    alpha: usize,
    corrector: Corrector,
    runs: Vec<Run>,
}

fn main() {
    let mut panels = Vec::new();
    for case in cases() {
        let curves: Vec<Curve> = (0..ALPHAS.len())
            .flat_map(|alpha| CORRECTORS.map(|corrector| curve(&case, alpha, corrector)))
            .collect();
        print_details(case.title, &curves);
        print_all_alphas(&curves);
        panels.push((case.title, curves));
    }
    print_slopes(&panels);
    let file = root().join("docs/pictures/work_precision.svg");
    std::fs::write(&file, plot::picture(&panels)).expect("the folder of pictures exists");
    println!("\ndrawn: docs/pictures/work_precision.svg");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

// ---- the problems -------------------------------------------------------------------------------------------------

fn cases() -> Vec<Case> {
    let quarter = std::f64::consts::FRAC_PI_2;
    let model = |file: &str| {
        let path = root().join("models").join(file);
        Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"))
    };
    vec![
        Case {
            title: "oscillator, 2 s",
            system: Box::new(Oscillator::default()),
            parameters: vec![],
            start: (vec![1.0], vec![0.0]),
            reference: table("linear_oscillator", 2.0, |row| vec![row[0]]),
        },
        mechanism(
            "pendulum, 10 s",
            &model("pendulum.toml"),
            table("simple_pendulum", 10.0, |row| {
                vec![row[2], row[3], row[0] - quarter]
            }),
        ),
        mechanism(
            "double pendulum, 2 s",
            &model("double_pendulum.toml"),
            // Point masses: angles do not count in the norm.
            table("double_pendulum", 2.0, |row| {
                vec![row[0], row[1], 0.0, row[2], row[3], 0.0]
            }),
        ),
        mechanism(
            "slider-crank, 2 s",
            &model("slider_crank.toml"),
            table("slider_crank", 2.0, |row| [&row[..7], &[0.0, 0.0]].concat()),
        ),
        Case {
            title: "Andrews, 0.03 s",
            system: Box::new(Andrews),
            parameters: vec![],
            start: (andrews::START.to_vec(), vec![0.0; 7]),
            reference: table("andrews", 0.03, |row| row[..7].to_vec()),
        },
        Case {
            title: "impact with events, 2 s",
            system: Box::new(Impact::default()),
            parameters: vec![],
            start: (vec![-1.0], vec![0.0]),
            reference: table("impact", 2.0, |row| vec![row[0]]),
        },
        springy("stiff pendulum, 2 s", "stiff_pendulum", 1e3),
        springy("stiff, no damper, 2 s", "springy_pendulum", 0.0),
    ]
}

/// The stiff pendulum with a damper (N s/m).
fn springy(title: &'static str, reference: &str, damping: f64) -> Case {
    let mut model = Model::from_text(STIFF, "stiff").unwrap_or_else(|e| panic!("{e}"));
    model
        .set("rod.damping", damping)
        .unwrap_or_else(|e| panic!("{e}"));
    let known = table(reference, 2.0, |row| {
        let (x, y) = (row[0].sin(), -row[0].cos());
        vec![
            x,
            y,
            row[0] - std::f64::consts::FRAC_PI_2,
            row[1],
            row[2],
            0.0,
        ]
    });
    mechanism(title, &model, known)
}

fn mechanism(title: &'static str, model: &Model, reference: Vec<(f64, Vec<f64>)>) -> Case {
    let mechanism = formulation::build(model).unwrap_or_else(|e| panic!("{e}"));
    let size = mechanism.dimensions();
    let mut start = (vec![0.0; size.nq], vec![0.0; size.nv]);
    mechanism.initial_state(&mut start.0, &mut start.1);
    Case {
        title,
        system: mechanism,
        parameters: model.parameters.iter().map(|p| p.start).collect(),
        start,
        reference,
    }
}

/// Rows of a reference table after the start and up to `stop`, each turned into coordinates. The first column is the
/// time; lines with fewer than two columns belong to other tables of the file.
fn table(name: &str, stop: f64, coordinates: impl Fn(&[f64]) -> Vec<f64>) -> Vec<(f64, Vec<f64>)> {
    let path = root().join("tests/reference").join(format!("{name}.csv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let number = |x: &str| -> f64 {
        x.trim()
            .parse()
            .unwrap_or_else(|e| panic!("{name}: {x}: {e}"))
    };
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let row: Vec<f64> = line.split(',').map(number).collect();
        if row.len() > 1 && row[0] > 0.0 && row[0] <= stop * (1.0 + 1e-12) {
            rows.push((row[0], coordinates(&row[1..])));
        }
    }
    rows
}

// ---- the runs -----------------------------------------------------------------------------------------------------

fn curve(case: &Case, alpha: usize, corrector: Corrector) -> Curve {
    let runs = TOLERANCES.map(|tolerance| {
        let settings = SolverSettings {
            alpha: ALPHAS[alpha],
            corrector,
            tolerance,
            ..SolverSettings::default()
        };
        let (statistics, error) = integrate(case, &settings, true);
        let seconds = (0..REPEATS)
            .map(|_| {
                let clock = CpuClock::Process.now();
                let again = integrate(case, &settings, false);
                assert_eq!(again.0, statistics, "looking changes nothing");
                (CpuClock::Process.now() - clock).as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        Run {
            tolerance,
            statistics,
            error,
            seconds,
        }
    });
    Curve {
        alpha,
        corrector,
        runs: runs.to_vec(),
    }
}

/// Runs to the last time of the reference; the largest error if asked for.
fn integrate(case: &Case, settings: &SolverSettings, look: bool) -> (Statistics, f64) {
    let system = &*case.system;
    let env = Environment {
        signals: &(),
        parameters: &case.parameters,
    };
    let failed = |e: biela::Error| -> ! { panic!("{}: {e}", case.title) };
    let mut integrator = Integrator::new(system, settings).unwrap_or_else(|e| failed(e));
    let (mut state, mut sample) = (State::default(), Sample::default());
    let (q, v) = &case.start;
    integrator
        .start(system, &env, 0.0, q, v, &mut state)
        .unwrap_or_else(|e| failed(e));
    let stop = case.reference.last().expect("a reference has rows").0;
    let mut known = case.reference.iter().peekable();
    let mut worst = 0.0_f64;
    let mut difference = vec![0.0; system.dimensions().nv];
    while state.t < stop {
        integrator
            .advance(system, &env, &mut state, stop)
            .unwrap_or_else(|e| failed(e));
        while let Some((t, exact)) = known.next_if(|(t, _)| look && *t <= state.t) {
            integrator
                .interpolate(system, &env, *t, &mut sample)
                .unwrap_or_else(|e| failed(e));
            system.difference(exact, &sample.q, &mut difference);
            let cx = EvaluationContext {
                t: *t,
                u: &vec![0.0; system.dimensions().inputs],
                u_dot: &[],
                u_ddot: &[],
                p: &case.parameters,
                modes: &state.modes,
                integrals: &[],
            };
            worst = worst.max(system.norm(&cx, exact, &state.scale, &difference));
        }
    }
    (state.statistics, worst)
}

// ---- the tables ---------------------------------------------------------------------------------------------------

fn name(corrector: Corrector) -> &'static str {
    match corrector {
        Corrector::Off => "off",
        Corrector::Auto => "auto",
    }
}

fn print_details(title: &str, curves: &[Curve]) {
    println!("\n### {title}, α = {}\n", ALPHAS[USUAL]);
    println!(
        "| corrector | tolerance | attempts | refused | residuals | force evaluations | factorisations | solves | \
         corrected | error | error / tolerance | ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for curve in curves.iter().filter(|c| c.alpha == USUAL) {
        for run in &curve.runs {
            let s = &run.statistics;
            println!(
                "| {} | {:.0e} | {} | {} | {} | {} | {} | {} | {} | {:.1e} | {} | {:.2} |",
                name(curve.corrector),
                run.tolerance,
                run.attempts(),
                s.rejected + s.newton_failures,
                s.residuals,
                s.evaluations,
                s.factorizations,
                s.solves,
                s.steps - s.steps_plain,
                run.error,
                short(run.error / run.tolerance),
                1e3 * run.seconds,
            );
        }
    }
}

fn print_all_alphas(curves: &[Curve]) {
    let mut head = String::from("| tolerance |");
    for curve in curves {
        let alpha = ALPHAS[curve.alpha];
        write!(head, " α {alpha} {} |", name(curve.corrector)).expect("strings grow");
    }
    println!("\nAttempts, error:\n\n{head}");
    println!("|---|{}", "---|".repeat(curves.len()));
    for (k, tolerance) in TOLERANCES.iter().enumerate() {
        let mut row = format!("| {tolerance:.0e} |");
        for run in curves.iter().map(|curve| curve.runs[k]) {
            write!(row, " {}, {:.1e} |", run.attempts(), run.error).expect("strings grow");
        }
        println!("{row}");
    }
}

/// Two digits or a little more.
fn short(x: f64) -> String {
    match x {
        x if x < 0.1 => format!("{x:.0e}"),
        x if x < 10.0 => format!("{x:.1}"),
        x => format!("{x:.0}"),
    }
}

/// Slope of the least-squares line through the logarithms.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xy, mut xx) = (0.0, 0.0);
    for p in &logs {
        xy += (p.0 - x) * (p.1 - y);
        xx += (p.0 - x) * (p.0 - x);
    }
    xy / xx
}

fn print_slopes(panels: &[(&str, Vec<Curve>)]) {
    println!(
        "\n### Fits over all tolerances: error ~ toleranceᵏ, error ~ attempts⁻ᵖ; error / tolerance\n"
    );
    println!("| problem | corrector | α | k | p | smallest | largest |");
    println!("|---|---|---|---|---|---|---|");
    for (title, curves) in panels {
        for corrector in CORRECTORS {
            for curve in curves.iter().filter(|c| c.corrector == corrector) {
                let ratios = curve.runs.iter().map(|run| run.error / run.tolerance);
                println!(
                    "| {title} | {} | {} | {:.2} | {:.1} | {} | {} |",
                    name(corrector),
                    ALPHAS[curve.alpha],
                    slope(curve.runs.iter().map(|r| (r.tolerance, r.error))),
                    -slope(curve.runs.iter().map(|r| (r.attempts() as f64, r.error))),
                    short(ratios.clone().fold(f64::INFINITY, f64::min)),
                    short(ratios.fold(0.0, f64::max)),
                );
            }
        }
    }
}

/// A log-log picture: one panel for each problem.
mod plot {
    use super::{ALPHAS, Corrector, Curve, USUAL, name};
    use std::fmt::Write as _;

    const COLUMNS: usize = 3;
    const PANEL: [f64; 2] = [300.0, 230.0];
    /// Left, top, right, bottom of a panel around its axes.
    const MARGIN: [f64; 4] = [48.0, 26.0, 12.0, 40.0];
    const TOP: f64 = 34.0;

    fn color(corrector: Corrector) -> &'static str {
        match corrector {
            Corrector::Off => "#b4531a",
            Corrector::Auto => "#1c5fa8",
        }
    }

    /// Width and dashes of a line, by α.
    fn stroke(alpha: usize) -> (f64, &'static str) {
        let dashes = ["1.5 2.5", "none", "5 3", "9 3 2 3"];
        (if alpha == USUAL { 2.0 } else { 1.1 }, dashes[alpha])
    }

    /// Decades that hold all values.
    fn decades(values: impl Iterator<Item = f64>) -> [f64; 2] {
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        [low.log10().floor(), high.log10().ceil()]
    }

    pub fn picture(panels: &[(&str, Vec<Curve>)]) -> String {
        let rows = (panels.len() + 1).div_ceil(COLUMNS);
        let (width, height) = (COLUMNS as f64 * PANEL[0], TOP + rows as f64 * PANEL[1]);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
             <text x=\"{}\" y=\"20\" font-size=\"14\">Work and precision: largest error over force evaluations, \
             tolerances 1e-3 to 1e-8</text>\n",
            MARGIN[0]
        );
        for (k, (title, curves)) in panels.iter().enumerate() {
            panel(&mut svg, corner(k), title, curves);
        }
        legend(&mut svg, corner(panels.len()));
        svg.push_str("</svg>\n");
        svg
    }

    fn corner(k: usize) -> [f64; 2] {
        let (row, column) = (k / COLUMNS, k % COLUMNS);
        [column as f64 * PANEL[0], TOP + row as f64 * PANEL[1]]
    }

    fn panel(svg: &mut String, at: [f64; 2], title: &str, curves: &[Curve]) {
        let runs = || curves.iter().flat_map(|curve| &curve.runs);
        let work = decades(runs().map(|run| run.statistics.evaluations as f64));
        let error = decades(runs().map(|run| run.error));
        let (left, right) = (at[0] + MARGIN[0], at[0] + PANEL[0] - MARGIN[2]);
        let (top, bottom) = (at[1] + MARGIN[1], at[1] + PANEL[1] - MARGIN[3]);
        let x = |v: f64| left + (v.log10() - work[0]) / (work[1] - work[0]) * (right - left);
        let y = |v: f64| bottom - (v.log10() - error[0]) / (error[1] - error[0]) * (bottom - top);
        let mut put = |text: std::fmt::Arguments| {
            svg.write_fmt(text).expect("strings grow");
            svg.push('\n');
        };
        put(format_args!(
            "<text x=\"{left}\" y=\"{:.1}\" font-weight=\"bold\">{title}</text>",
            top - 7.0
        ));
        for exponent in work[0] as i32..=work[1] as i32 {
            let x = x(10f64.powi(exponent));
            put(format_args!(
                "<path d=\"M{x:.1} {top:.1}V{bottom:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">1e{exponent}</text>",
                bottom + 14.0
            ));
        }
        for exponent in (error[0] as i32..=error[1] as i32).filter(|e| e % 2 == 0) {
            let y = y(10f64.powi(exponent));
            put(format_args!(
                "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">1e{exponent}</text>",
                left - 4.0,
                y + 4.0
            ));
        }
        for curve in curves {
            let mut path = String::new();
            for (k, run) in curve.runs.iter().enumerate() {
                let (x, y) = (x(run.statistics.evaluations as f64), y(run.error));
                let step = if k == 0 { 'M' } else { 'L' };
                write!(path, "{step}{x:.1} {y:.1}").expect("strings grow");
                if curve.alpha == USUAL {
                    put(format_args!(
                        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{}\"/>",
                        color(curve.corrector)
                    ));
                }
            }
            line(&mut put, &path, curve.alpha, curve.corrector);
        }
        put(format_args!(
            "<path d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"#222\"/>"
        ));
    }

    fn line(
        put: &mut impl FnMut(std::fmt::Arguments),
        path: &str,
        alpha: usize,
        corrector: Corrector,
    ) {
        let (width, dashes) = stroke(alpha);
        put(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"/>",
            color(corrector)
        ));
    }

    fn legend(svg: &mut String, at: [f64; 2]) {
        let mut put = |text: std::fmt::Arguments| {
            svg.write_fmt(text).expect("strings grow");
            svg.push('\n');
        };
        let left = at[0] + MARGIN[0];
        let mut y = at[1] + MARGIN[1];
        for corrector in [Corrector::Off, Corrector::Auto] {
            put(format_args!(
                "<text x=\"{left}\" y=\"{y:.1}\" font-weight=\"bold\">corrector = \"{}\"</text>",
                name(corrector)
            ));
            for (k, alpha) in ALPHAS.iter().enumerate() {
                y += 17.0;
                let path = format!("M{left} {:.1}H{:.1}", y - 4.0, left + 40.0);
                line(&mut put, &path, k, corrector);
                let default = if k == USUAL { " (default)" } else { "" };
                put(format_args!(
                    "<text x=\"{:.1}\" y=\"{y:.1}\">α = {alpha}{default}</text>",
                    left + 48.0
                ));
            }
            y += 26.0;
        }
    }
}
