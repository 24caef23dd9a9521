//! The first paper's examples and figures with both of its algorithms: published and measured side by side, and pictures.
//!
//! ```text
//!   cargo run --release --example seed1 [folder]        pictures go to target/seed1 unless a folder is given
//! ```
//!
//! What the paper does not tell (initial steps, safety factor, Newton's tolerance, the data of the double pendulum, the
//! end of Example 2) is chosen here, so counts can only be compared in size.

#[path = "../tests/common/mod.rs"]
mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use biela::formulation::System;
use biela::integrator::stability::{StabilityScheme, over_frequency};
use biela::integrator::vsa23::{SingleDegree, Vsa23Coefficients, single_step};
use biela::integrator::{Environment, Hht, Integrator, State, Statistics};
use biela::model::{
    Corrector, ErrorAt, EstimateName, IntegratorName, SolverSettings, Vsa23Parameters,
    Vsa23Settings,
};
use common::systems::chain::Chain;
use common::systems::first_paper::{Spring, TwoOscillators};
use common::systems::impact::Impact;
use common::systems::oscillator::Oscillator;
use common::systems::{STILL, accelerations};

const ALONE: Environment = Environment {
    signals: &(),
    parameters: &[],
};

fn main() {
    let folder = std::env::args().nth(1).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/seed1"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let pictures: Vec<(&str, Plot)> = [
        example_1(),
        example_2(),
        figure_7(),
        double_pendulum(),
        estimates(),
        stability(),
    ]
    .into_iter()
    .flatten()
    .collect();
    for (name, plot) in pictures {
        let file = folder.join(name).with_extension("svg");
        std::fs::write(&file, plot.svg()).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        println!("drawn: {}", file.display());
    }
}

type Pictures = Vec<(&'static str, Plot)>;

fn vsa23(parameters: Vsa23Parameters, error_at: ErrorAt) -> SolverSettings {
    SolverSettings {
        integrator: IntegratorName::Vsa23,
        vsa23: Vsa23Settings {
            parameters,
            error_at,
        },
        ..SolverSettings::default()
    }
}

/// A run with what it left at every accepted step.
struct History {
    states: Vec<State>,
    outcome: biela::Result<()>,
}

impl History {
    fn of(
        system: &dyn System,
        settings: &SolverSettings,
        (q, v): (&[f64], &[f64]),
        stop: f64,
    ) -> Self {
        let mut integrator = Integrator::new(system, settings).unwrap_or_else(|e| panic!("{e}"));
        let mut state = State::default();
        integrator
            .start(system, &ALONE, 0.0, q, v, &mut state)
            .unwrap_or_else(|e| panic!("{e}"));
        let mut states = vec![state.clone()];
        let mut outcome = Ok(());
        while state.t < stop {
            if let Err(e) = integrator.advance(system, &ALONE, &mut state, stop) {
                outcome = Err(e);
                break;
            }
            states.push(state.clone());
        }
        Self { states, outcome }
    }

    fn end(&self) -> &State {
        self.states.last().expect("there is a start")
    }

    fn statistics(&self) -> Statistics {
        self.end().statistics
    }

    /// Step sizes over time.
    fn steps(&self) -> Vec<(f64, f64)> {
        self.states[1..].iter().map(|s| (s.t, s.h)).collect()
    }

    fn coordinate(&self, i: usize) -> Vec<(f64, f64)> {
        self.states.iter().map(|s| (s.t, s.q[i])).collect()
    }

    fn row(&self, name: &str, error: Option<f64>) {
        let s = self.statistics();
        let tries = s.steps + s.rejected + s.newton_failures;
        let error = error.map_or("-".to_string(), |e| format!("{e:.2e}"));
        println!(
            "{name:<34} {tries:>8} {:>8} {:>9} {:>8} {:>8}   {error}",
            s.rejected, s.residuals, s.factorizations, s.solves
        );
        if let Err(e) = &self.outcome {
            println!("{:<34} stopped: {e}", "");
        }
    }
}

fn header(title: &str) {
    println!("\n{title}\n{}", "-".repeat(title.chars().count()));
}

fn counts(error: &str) {
    println!(
        "{:<34} {:>8} {:>8} {:>9} {:>8} {:>8}   {error}",
        "", "attempts", "rejected", "residuals", "factors", "solves"
    );
}

/// Position at a time of a table in tests/reference.
fn reference(name: &str, time: f64, coordinates: usize) -> Vec<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reference/{name}.csv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for line in text.lines() {
        let row: Option<Vec<f64>> = line.split(',').map(|x| x.trim().parse().ok()).collect();
        if let Some(row) = row
            && (row[0] - time).abs() < 1e-12
        {
            return row[1..=coordinates].to_vec();
        }
    }
    panic!("{name}.csv has no row at {time}")
}

fn norm(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn apart(x: &[f64], y: &[f64]) -> f64 {
    norm(x.iter().zip(y).map(|(x, y)| x - y))
}

const SETS: [(&str, Vsa23Parameters, ErrorAt); 3] = [
    ("original, end", Vsa23Parameters::Original, ErrorAt::End),
    ("common, end", Vsa23Parameters::Common, ErrorAt::End),
    ("common, common", Vsa23Parameters::Common, ErrorAt::Common),
];

fn example_1() -> Pictures {
    header("Example 1: two oscillators, [0, 1.4], TOL 1e-4 (figure 2)");
    counts("error of q at 1.4");
    println!(
        "{:<34} {:>8} {:>8} {:>9} {:>8} {:>8}   -",
        "published", 35, 6, 442, 33, 340
    );
    let exact = reference("example1", 1.4, 2);
    let start: (&[f64], &[f64]) = (&[0.002, 10.0], &[0.0, 0.0]);
    let mut plot = Plot::new("Example 1: step size (figure 2)", "t (s)", "h (s)");
    for (name, set, error_at) in SETS {
        let settings = SolverSettings {
            tolerance: 1e-4,
            initial_step: Some(0.01),
            ..vsa23(set, error_at)
        };
        let run = History::of(&TwoOscillators, &settings, start, 1.4);
        run.row(&format!("VSA23 {name}"), Some(apart(&run.end().q, &exact)));
        plot.add(&format!("VSA23 {name}"), run.steps());
    }
    for tolerance in [1e-4, 1e-10] {
        let settings = SolverSettings {
            tolerance,
            ..SolverSettings::default()
        };
        let run = History::of(&TwoOscillators, &settings, start, 1.4);
        let name = format!("HHT, variable step, TOL {tolerance:.0e}");
        run.row(&name, Some(apart(&run.end().q, &exact)));
        if tolerance == 1e-4 {
            plot.add("HHT", run.steps());
        }
    }
    vec![("figure02_example1_step", plot)]
}

fn example_2() -> Pictures {
    header("Example 2: hardening spring, [0, 10], TOL 1e-4 (figures 4, 5)");
    counts("error of q at 10");
    println!(
        "{:<34} {:>8} {:>8} {:>9} {:>8} {:>8}   (end and TOL not given)",
        "published", 293, 45, 1172, 586, 586
    );
    let mut solution = Plot::new("Example 2: solution (figure 4)", "t (s)", "q (m)");
    let mut step = Plot::new("Example 2: step size (figure 5)", "t (s)", "h (s)");
    for (power, table) in [(3, "example2_cubic"), (2, "example2_quadratic")] {
        let exact = reference(table, 10.0, 1);
        let start: (&[f64], &[f64]) = (&[0.0], &[0.0]);
        let settings = SolverSettings {
            tolerance: 1e-4,
            newton_tolerance: Some(1e-2),
            ..vsa23(Vsa23Parameters::Common, ErrorAt::End)
        };
        let run = History::of(&Spring { power }, &settings, start, 10.0);
        let name = format!("VSA23 common, end, 5 q^{power}");
        run.row(&name, Some(apart(&run.end().q, &exact)));
        solution.add(&name, run.coordinate(0));
        step.add(&name, run.steps());
        for tolerance in [1e-4, 1e-10] {
            let settings = SolverSettings {
                tolerance,
                ..SolverSettings::default()
            };
            let run = History::of(&Spring { power }, &settings, start, 10.0);
            let name = format!("HHT, 5 q^{power}, TOL {tolerance:.0e}");
            run.row(&name, Some(apart(&run.end().q, &exact)));
            if tolerance == 1e-4 {
                solution.add(&name, run.coordinate(0));
                step.add(&name, run.steps());
            }
        }
    }
    vec![
        ("figure04_example2_solution", solution),
        ("figure05_example2_step", step),
    ]
}

/// One step of the double pendulum, level and at rest, its first rod too long by `open`.
fn open_step(set: Vsa23Parameters, open: f64, h: f64) -> SingleDegree {
    let (q, v) = ([1.0 + open, 0.0, 2.0 + open, 0.0], [0.0; 4]);
    let (acc, _) = accelerations(&Chain(2), &STILL, &q, &v);
    let settings = SolverSettings {
        newton_tolerance: Some(1e-14),
        ..vsa23(set, ErrorAt::End)
    };
    single_step(&Chain(2), &ALONE, &settings, 0.0, (&q, &v, &acc), h)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn figure_7() -> Pictures {
    header("Figure 7: error of one step of the double pendulum with open constraints");
    println!(
        "{:<12} {:>9} {:>12} {:>12} {:>12} {:>14}",
        "parameters", "opening", "(24)", "E, h = 1e-3", "E, h = 1e-5", "at the points"
    );
    let mut plot = Plot::new("Figure 7: error of one step", "h (s)", "|E| (m)").logarithmic();
    for (name, set, _) in &SETS[..2] {
        let name = name.trim_end_matches(", end");
        for open in [1e-2, 1e-8] {
            let e = |h| norm(open_step(*set, open, h).error);
            let predicted = Vsa23Coefficients::of(*set).threshold().abs() * open * 2f64.sqrt();
            let points = norm(open_step(*set, open, 1e-3).error_at_points);
            println!(
                "{name:<12} {open:>9.0e} {predicted:>12.3e} {:>12.3e} {:>12.3e} {points:>14.3e}",
                e(1e-3),
                e(1e-5)
            );
            let grid = (0..=40).map(|i| 10f64.powf(-6.0 + 0.125 * f64::from(i)));
            plot.add(
                &format!("{name}, opening {open:.0e}, end"),
                grid.clone().map(|h| (h, e(h))).collect(),
            );
            if *set == Vsa23Parameters::Common {
                let bar = |h| norm(open_step(*set, open, h).error_at_points);
                plot.add(
                    &format!("{name}, opening {open:.0e}, common point"),
                    grid.map(|h| (h, bar(h))).collect(),
                );
            }
        }
    }
    header("Opening of the constraints after one step of the double pendulum, h = 0.02");
    println!(
        "{:<12} {:>16} {:>16} {:>16}",
        "", "t_n + phi h", "t_n + psi h", "t_n + h"
    );
    println!(
        "{:<12} {:>16} {:>16} {:>16}",
        "published", "order 1e-16", "order 1e-16", "order 1e-6"
    );
    for (name, set, _) in &SETS[..2] {
        let step = open_step(*set, 0.0, 0.02);
        let name = name.trim_end_matches(", end");
        println!(
            "{name:<12} {:>16.1e} {:>16.1e} {:>16.1e}",
            step.open[0], step.open[1], step.open_at_end
        );
    }
    vec![("figure07_threshold", plot)]
}

fn double_pendulum() -> Pictures {
    header("Double pendulum, [0, 10] (figures 10, 11)");
    counts("error of q at 1 and 2 s");
    println!("{:<34} {:>8}", "published, VSA23", 486);
    println!("{:<34} {:>8}", "published, HHT, h = 0.05", 200);
    let q = Chain(2).horizontal();
    let start: (&[f64], &[f64]) = (&q, &[0.0; 4]);
    let mut motion = Plot::new("Tip of the double pendulum (figure 10)", "t (s)", "x (m)");
    let mut step = Plot::new("Step size (figure 11)", "t (s)", "h (s)");
    let runs = [
        (
            "VSA23 common, end",
            SolverSettings {
                tolerance: 1.9e-4,
                ..vsa23(Vsa23Parameters::Common, ErrorAt::End)
            },
        ),
        (
            "VSA23 common, common",
            SolverSettings {
                tolerance: 1.9e-4,
                ..vsa23(Vsa23Parameters::Common, ErrorAt::Common)
            },
        ),
        (
            "HHT 0.1, h = 0.05",
            SolverSettings {
                step: Some(0.05),
                alpha: 0.1,
                corrector: Corrector::Off,
                ..SolverSettings::default()
            },
        ),
        (
            "HHT, variable step, TOL 1e-4",
            SolverSettings {
                tolerance: 1e-4,
                ..SolverSettings::default()
            },
        ),
    ];
    for (name, settings) in &runs {
        let run = History::of(&Chain(2), settings, start, 10.0);
        run.row(name, None);
        let errors: Vec<String> = [1.0, 2.0]
            .map(|t| {
                let run = History::of(&Chain(2), settings, start, t);
                let exact = reference("double_pendulum", t, 4);
                format!("{:.2e}", apart(&run.end().q, &exact))
            })
            .into();
        println!("{:<34} error at 1 s, 2 s: {}", "", errors.join(", "));
        motion.add(name, run.coordinate(2));
        step.add(name, run.steps());
    }
    let tight = SolverSettings {
        tolerance: 1e-9,
        ..SolverSettings::default()
    };
    let run = History::of(&Chain(2), &tight, start, 10.0);
    motion.add("HHT, TOL 1e-9", run.coordinate(2));
    vec![
        ("figure10_double_pendulum", motion),
        ("figure11_double_pendulum_step", step),
    ]
}

/// Estimated and true error of every step.
struct Errors {
    t: f64,
    seed: f64,
    calibrated: f64,
    truth: f64,
    truth_in_norm: f64,
}

/// The exact position after `h` from a state.
type Flow = fn(&State, f64) -> Vec<f64>;

fn pendulum_flow(s: &State, h: f64) -> Vec<f64> {
    let exact = SolverSettings {
        tolerance: 1e-11,
        ..SolverSettings::default()
    };
    History::of(&Chain(2), &exact, (&s.q, &s.v), h)
        .end()
        .q
        .clone()
}

fn oscillator_flow(s: &State, h: f64) -> Vec<f64> {
    vec![Oscillator::default().exact(s.q[0], s.v[0], h).0]
}

/// A step stays in the mode it begins in.
fn impact_flow(s: &State, h: f64) -> Vec<f64> {
    if s.modes[0] == 0 {
        oscillator_flow(s, h)
    } else {
        vec![s.q[0] + h * (s.v[0] - 0.5 * h * Impact::default().push)]
    }
}

/// Of every step that is not cut short by an event.
fn errors(system: &dyn System, flow: Flow, start: (&[f64], &[f64]), h: f64) -> Vec<Errors> {
    let settings = SolverSettings {
        step: Some(h),
        alpha: 0.1,
        corrector: Corrector::Off,
        estimate: EstimateName::Calibrated,
        tolerance: 1.0,
        newton_tolerance: Some(1e-12),
        ..SolverSettings::default()
    };
    let run = History::of(system, &settings, start, 2.0);
    if let Err(e) = &run.outcome {
        println!("stopped: {e}");
    }
    let steps = run.states.windows(2).filter(|pair| pair[1].h > 0.0);
    steps
        .map(|pair| {
            let (a, b) = (&pair[0], &pair[1]);
            let end = flow(a, b.h);
            let apart: Vec<f64> = b.q.iter().zip(&end).map(|(x, y)| x - y).collect();
            let c = b.h.powi(3) / 24.0;
            Errors {
                t: b.t,
                seed: c * norm(b.delta.iter().zip(&a.delta).map(|(x, y)| x - y)),
                calibrated: b.statistics.error,
                truth: norm(apart.iter().copied()),
                truth_in_norm: system.norm(&STILL, &b.q, &b.scale, &apart),
            }
        })
        .collect()
}

/// Picture, name, system, its flow, where it starts (at rest), step.
type Case = (
    &'static str,
    &'static str,
    Box<dyn System>,
    Flow,
    Vec<f64>,
    f64,
);

fn estimates() -> Pictures {
    header("Error of HHT at constant step, alpha = 0.1, [0, 2] (figures 14, 15)");
    println!(
        "{:<28} {:>12} {:>12} {:>18} {:>18}",
        "", "max seed E", "max true", "effectivity, seed", "calibrated"
    );
    let q = Chain(2).horizontal();
    let cases: [Case; 3] = [
        (
            "figure14_error_double_pendulum",
            "double pendulum, h = 0.04",
            Box::new(Chain(2)),
            pendulum_flow,
            q,
            0.04,
        ),
        (
            "figure15_error_oscillator",
            "oscillator, h = 0.033",
            Box::<Oscillator>::default(),
            oscillator_flow,
            vec![1.0],
            0.033,
        ),
        (
            "figure15_error_impact",
            "impact, h = 0.02",
            Box::<Impact>::default(),
            impact_flow,
            vec![-1.0],
            0.02,
        ),
    ];
    let mut pictures = Vec::new();
    for (file, name, system, flow, q, h) in cases {
        let v = vec![0.0; q.len()];
        let all = errors(&*system, flow, (&q, &v), h);
        let late = || all.iter().skip(5);
        let top = |f: fn(&Errors) -> f64| all.iter().map(f).fold(0.0, f64::max);
        println!(
            "{name:<28} {:>12.2e} {:>12.2e} {:>18.3} {:>18.3}",
            top(|e| e.seed),
            top(|e| e.truth),
            norm(late().map(|e| e.seed)) / norm(late().map(|e| e.truth)),
            norm(late().map(|e| e.calibrated)) / norm(late().map(|e| e.truth_in_norm)),
        );
        let mut plot = Plot::new(&format!("Error of a step: {name}"), "t (s)", "|E| (m)");
        plot.add(
            "(32), as published",
            all.iter().map(|e| (e.t, e.seed)).collect(),
        );
        plot.add("true", all.iter().map(|e| (e.t, e.truth)).collect());
        pictures.push((file, plot));
    }
    println!(
        "Published runs stepped over the change of force of the impact; here steps end on it, and those are left out."
    );
    variable_steps();
    pictures
}

/// Variable-step HHT on the cases of figures 14 and 15; the double pendulum has its own table.
fn variable_steps() {
    header("Variable-step HHT on the cases of figure 15, [0, 2]");
    counts("error of q at 2 s");
    let cases: [(&str, &str, Box<dyn System>, f64); 2] = [
        (
            "oscillator",
            "linear_oscillator",
            Box::<Oscillator>::default(),
            1.0,
        ),
        ("impact", "impact", Box::<Impact>::default(), -1.0),
    ];
    for (name, table, system, q) in cases {
        let exact = reference(table, 2.0, 1);
        for (corrector, tolerance) in [
            (Corrector::Off, 1e-4),
            (Corrector::Auto, 1e-4),
            (Corrector::Auto, 1e-6),
        ] {
            let settings = SolverSettings {
                corrector,
                tolerance,
                ..SolverSettings::default()
            };
            let run = History::of(&*system, &settings, (&[q], &[0.0]), 2.0);
            let title = format!("{name}, {corrector:?}, TOL {tolerance:e}");
            run.row(&title, Some(apart(&run.end().q, &exact)));
        }
    }
}

fn stability() -> Pictures {
    let (common, original) = (Vsa23Coefficients::common(), Vsa23Coefficients::original());
    let mut plot = Plot::new("Spectral radius without damping", "omega h", "rho").logarithmic_x();
    for (name, scheme) in [
        ("SS22 common", StabilityScheme::Ss22(common.phi)),
        ("SS32 common", StabilityScheme::Ss32(common.psi)),
        ("SS22 original", StabilityScheme::Ss22(original.phi)),
        ("SS32 original", StabilityScheme::Ss32(original.psi)),
        ("HHT 0.05", StabilityScheme::Hht(Hht::new(0.05))),
        ("HHT 0.1", StabilityScheme::Hht(Hht::new(0.1))),
    ] {
        plot.add(name, over_frequency(&scheme, 0.0, (1e-2, 1e4), 200));
    }
    vec![("spectral_radius", plot)]
}

/// Curves over axes.
struct Plot {
    title: String,
    labels: [String; 2],
    log: [bool; 2],
    curves: Vec<(String, Vec<(f64, f64)>)>,
}

const COLORS: [&str; 6] = [
    "#0b5394", "#cc0000", "#38761d", "#b45f06", "#674ea7", "#45818e",
];

impl Plot {
    fn new(title: &str, x: &str, y: &str) -> Self {
        Self {
            title: title.into(),
            labels: [x.into(), y.into()],
            log: [false; 2],
            curves: vec![],
        }
    }

    fn logarithmic(mut self) -> Self {
        self.log = [true; 2];
        self
    }

    fn logarithmic_x(mut self) -> Self {
        self.log = [true, false];
        self
    }

    fn add(&mut self, name: &str, points: Vec<(f64, f64)>) {
        self.curves.push((name.into(), points));
    }

    /// A point as it is drawn: logarithms where asked for.
    fn place(&self, (x, y): (f64, f64)) -> [f64; 2] {
        let at = |log: bool, x: f64| if log { x.max(1e-300).log10() } else { x };
        [at(self.log[0], x), at(self.log[1], y)]
    }

    fn svg(&self) -> String {
        let (width, height, left, top) = (720.0, 420.0, 80.0, 40.0);
        let (w, h) = (width - left - 20.0, 300.0 - top);
        let points = || {
            self.curves
                .iter()
                .flat_map(|(_, c)| c.iter().map(|p| self.place(*p)))
        };
        let mut range = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
        for point in points() {
            for d in 0..2 {
                range[d] = [range[d][0].min(point[d]), range[d][1].max(point[d])];
            }
        }
        for r in &mut range {
            if !(r[1] > r[0]) {
                *r = [r[0] - 1.0, r[0] + 1.0];
            }
        }
        if !self.log[1] {
            let margin = 0.05 * (range[1][1] - range[1][0]);
            range[1] = [range[1][0] - margin, range[1][1] + margin];
        }
        let px = |x: f64| left + w * (x - range[0][0]) / (range[0][1] - range[0][0]);
        let py = |y: f64| top + h * (range[1][1] - y) / (range[1][1] - range[1][0]);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
             <text x=\"{left}\" y=\"24\" font-size=\"15\">{}</text>\n\
             <rect x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"#888\"/>\n",
            self.title
        );
        let mut put = |text: std::fmt::Arguments| svg.write_fmt(text).expect("strings grow");
        for d in 0..2 {
            for tick in ticks(range[d], self.log[d]) {
                let word = if self.log[d] {
                    format!("1e{tick:.0}")
                } else {
                    format!("{}", (tick * 1e9).round() / 1e9)
                };
                if d == 0 {
                    let (x, y) = (px(tick), top + h);
                    put(format_args!(
                        "<path d=\"M{x:.1} {top}V{y}\" stroke=\"#ddd\"/>\n<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{word}</text>\n",
                        y + 16.0
                    ));
                } else {
                    let (x, y) = (left, py(tick));
                    put(format_args!(
                        "<path d=\"M{x} {y:.1}h{w}\" stroke=\"#ddd\"/>\n<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{word}</text>\n",
                        x - 6.0,
                        y + 4.0
                    ));
                }
            }
        }
        put(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            left + 0.5 * w,
            top + h + 34.0,
            self.labels[0]
        ));
        put(format_args!(
            "<text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            top + 0.5 * h,
            self.labels[1]
        ));
        for (k, (name, curve)) in self.curves.iter().enumerate() {
            let color = COLORS[k % COLORS.len()];
            let mut path = String::new();
            for (i, p) in curve.iter().enumerate() {
                let [x, y] = self.place(*p);
                let letter = if i == 0 { 'M' } else { 'L' };
                write!(path, "{letter}{:.1} {:.1}", px(x), py(y)).expect("strings grow");
            }
            put(format_args!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.3\"/>\n"
            ));
            let (x, y) = (
                left + 330.0 * (k % 2) as f64,
                top + h + 58.0 + 18.0 * (k / 2) as f64,
            );
            put(format_args!(
                "<path d=\"M{x} {:.1}h24\" stroke=\"{color}\" stroke-width=\"2\"/>\n<text x=\"{:.1}\" y=\"{y:.1}\">{name}</text>\n",
                y - 4.0,
                x + 30.0
            ));
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Round numbers within a range; whole decades of logarithms.
fn ticks([low, high]: [f64; 2], log: bool) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * decade);
    let step = step.into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let step = if log { step.max(1.0).round() } else { step };
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}
