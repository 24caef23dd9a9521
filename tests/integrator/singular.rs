//! Singular positions: the N-four-bar linkage passes them twice in every turn, with its bars in line, where it could go on
//! in many ways. On the smooth branch all couplers stay parallel to the ground and θ'' = k sin θ. The slider-crank with
//! equal lengths passes them where the rod lies on the crank.

use crate::common::drive::{Run, attempts, bare, model, sample};
use biela::constraint::sparsity::Backend;
use biela::formulation::{EvaluationContext, System};
use biela::integrator::{Sample, State};
use biela::model::{Corrector, Model, SolverSettings};
use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write;
use std::path::Path;

/// The four-bars in a row with their bars at `theta` from upright, turning with `rate`.
fn four_bars(n: usize, theta: f64, rate: f64) -> Model {
    let mut text =
        String::from("format = 1\nname = \"row\"\ndimension = 2\ngravity = [0.0, -9.81]\n");
    let (s, c) = theta.sin_cos();
    let mut body = |name: String, at: [f64; 2], angle: f64, v: [f64; 2], omega: f64| {
        write!(
            text,
            "[[body]]\nname = \"{name}\"\nmass = 1.0\ninertia = {}\nposition = [{:?}, {:?}]\nangle = {angle:?}\n\
             velocity = [{:?}, {:?}]\nangular_velocity = {omega:?}\n",
            1.0 / 12.0, at[0], at[1], v[0], v[1],
        )
        .unwrap();
    };
    for i in 0..=n {
        let at = [i as f64 + 0.5 * s, 0.5 * c];
        body(
            format!("bar{i}"),
            at,
            FRAC_PI_2 - theta,
            [0.5 * rate * c, -0.5 * rate * s],
            -rate,
        );
    }
    for i in 0..n {
        let at = [i as f64 + 0.5 + s, c];
        body(format!("coupler{i}"), at, 0.0, [rate * c, -rate * s], 0.0);
    }
    let mut joint = |name: String, a: String, b: String, at: [f64; 2]| {
        write!(
            text,
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"{a}\", \"{b}\"]\npoint = [{:?}, {:?}]\n",
            at[0], at[1]
        )
        .unwrap();
    };
    for i in 0..=n {
        joint(
            format!("A{i}"),
            "ground".into(),
            format!("bar{i}"),
            [i as f64, 0.0],
        );
    }
    for i in 0..n {
        for (side, bar) in [("left", i), ("right", i + 1)] {
            let at = [bar as f64 + s, c];
            joint(
                format!("B{i}_{side}"),
                format!("bar{bar}"),
                format!("coupler{i}"),
                at,
            );
        }
    }
    Model::from_text(&text, "row").unwrap_or_else(|e| panic!("{e}"))
}

/// Rows of the reference table, and the instants in which the bars are in line.
fn reference(n: usize) -> (Vec<[f64; 4]>, Vec<f64>) {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reference/n_four_bar_{n}.csv"));
    let text = std::fs::read_to_string(file).unwrap();
    let numbers = |line: &str, by: char| -> Vec<f64> {
        line.split(by).map(|x| x.trim().parse().unwrap()).collect()
    };
    let (mut rows, mut singular) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(list) = line.strip_prefix("# The bars are in line at: ") {
            singular = numbers(list, ' ');
        } else if !line.starts_with('#') {
            rows.push(numbers(line, ',').try_into().unwrap());
        }
    }
    assert_eq!((rows.len(), singular.len()), (21, 10));
    (rows, singular)
}

/// All rows in every test, or only where it matters most.
fn full() -> bool {
    std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1")
}

/// θ'' = k sin θ
fn k(n: usize) -> f64 {
    let n = n as f64;
    9.81 * ((n + 1.0) / 2.0 + n) / ((n + 1.0) / 3.0 + n)
}

fn energy(run: &Run<dyn System>) -> f64 {
    let cx = EvaluationContext {
        t: run.state.t,
        u: &[],
        u_dot: &[],
        u_ddot: &[],
        p: &[],
        modes: &[],
        integrals: &[],
    };
    let e = run.system.energy(&cx, &run.state.q, &run.state.v);
    e.kinetic + e.potential
}

/// What a run was like, over all its accepted steps.
#[derive(Debug, Default)]
struct Seen {
    drift: f64,
    tilt: f64,
    closure: f64,
    lambda: f64,
    /// θ in the end, and the largest |θ'' − k sin θ| of any step.
    theta: f64,
    balance: f64,
    attempts: u64,
    failures: u64,
}

struct Row {
    n: usize,
    run: Run<dyn System>,
    e0: f64,
    seen: Seen,
}

impl Row {
    fn new(n: usize, settings: &SolverSettings) -> Self {
        Self::at(n, settings, 0.0, 1.0)
    }

    fn at(n: usize, settings: &SolverSettings, theta: f64, rate: f64) -> Self {
        let mut model = four_bars(n, theta, rate);
        model.solver = *settings;
        let run = Run::model(&model, Backend::Auto).unwrap_or_else(|e| panic!("{e}"));
        Self {
            n,
            e0: energy(&run),
            run,
            seen: Seen::default(),
        }
    }

    fn look(&mut self) {
        let (n, s) = (self.n, &self.run.state);
        let seen = &mut self.seen;
        seen.drift = seen.drift.max((energy(&self.run) - self.e0).abs());
        let angle = |body: usize| s.q[3 * body + 2];
        for coupler in n + 1..=2 * n {
            seen.tilt = seen.tilt.max(angle(coupler).abs());
        }
        seen.closure = seen.closure.max(self.run.closure());
        for x in s.acc.iter().chain(&s.lambda) {
            assert!(x.is_finite(), "at {}: {:?} {:?}", s.t, s.acc, s.lambda);
        }
        seen.lambda = s.lambda.iter().fold(seen.lambda, |m, l| m.max(l.abs()));
        seen.theta = FRAC_PI_2 - angle(0);
        seen.balance = seen
            .balance
            .max((-s.acc[2] - k(n) * seen.theta.sin()).abs());
        seen.attempts = attempts(&s.statistics);
        seen.failures = s.statistics.newton_failures;
    }

    fn to(&mut self, stop: f64) -> Result<(), String> {
        while self.run.state.t < stop {
            self.run
                .advance(stop)
                .map_err(|e| format!("{e}, {:?}", self.seen))?;
            self.look();
        }
        Ok(())
    }

    /// The smooth branch, closed loops, finite accelerations that are those of the branch (within `balance`, rad/s²).
    fn check(&self, what: &str, drift: f64, balance: f64) {
        let seen = &self.seen;
        // Rounding of a closed position (2e-14) over the smallest sine by which the rows still differ where steps end (1e-4).
        assert!(seen.tilt < 1e-9, "{what}: {seen:?}");
        assert!(seen.closure <= 1e-10, "{what}: {seen:?}");
        assert!(seen.drift <= drift, "{what}: {seen:?}");
        assert!(seen.balance <= balance, "{what}: {seen:?}");
    }
}

fn settings(tolerance: f64) -> SolverSettings {
    SolverSettings {
        tolerance,
        ..SolverSettings::default()
    }
}

#[test]
fn nine_tolerances_stay_on_the_smooth_branch() {
    for n in [1, 2, 4] {
        let (rows, _) = reference(n);
        for tolerance in [1e-3, 5e-4, 3e-4, 2e-4, 1e-4, 5e-5, 3e-5, 2e-5, 1e-5] {
            let mut row = Row::new(n, &settings(tolerance));
            row.to(10.0)
                .unwrap_or_else(|e| panic!("{n} {tolerance}: {e}"));
            // The error norm is relative to the length of the row: the same tolerance allows a longer one more.
            let bound = match (n, tolerance) {
                (..=2, ..=1e-4) => 1e-3,
                (..=2, _) => 0.02,
                _ => 0.08,
            };
            row.check(&format!("{n} {tolerance}"), bound, 0.1);
            assert_eq!(row.seen.failures, 0, "{n} {tolerance}");
            let error = (row.seen.theta - rows[20][1]).abs();
            println!("{n} {tolerance:e} {error:.1e} {:?}", row.seen);
            assert!(error < 40.0 * tolerance, "{n} {tolerance}: {error}");
        }
    }
}

#[test]
fn the_model_file_is_the_chain_of_two_four_bars() {
    let mut file = model("double_four_bar.toml");
    file.solver = settings(1e-4);
    let mut run = Run::model(&file, Backend::Auto).unwrap();
    let mut row = Row::new(2, &settings(1e-4));
    run.to(3.0).unwrap();
    row.to(3.0).unwrap();
    for (a, b) in run.state.q[2..3].iter().zip(&row.run.state.q[2..3]) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn communication_points_may_lie_on_singular_instants() {
    let rows: &[usize] = if full() { &[1, 2, 4] } else { &[2] };
    for &n in rows {
        let (rows, singular) = reference(n);
        for off in [0.0, 1e-9, -1e-9, 1e-7, -1e-7, 1e-5, -1e-5, 1e-3, -1e-3] {
            for (corrector, alpha) in [
                (Corrector::Auto, 0.05),
                (Corrector::Off, 0.0),
                (Corrector::Off, 0.05),
                (Corrector::Off, 0.3),
            ] {
                let what = format!("{n} {off:e} {corrector:?} {alpha}");
                let tolerance = match corrector {
                    Corrector::Auto => 1e-4,
                    Corrector::Off => 1e-5,
                };
                let mut row = Row::new(
                    n,
                    &SolverSettings {
                        corrector,
                        alpha,
                        ..settings(tolerance)
                    },
                );
                for t in &singular {
                    row.to(t + off).unwrap_or_else(|e| panic!("{what}: {e}"));
                    assert_eq!(row.run.state.t, t + off);
                }
                row.to(10.0).unwrap_or_else(|e| panic!("{what}: {e}"));
                println!("{what} {:?}", row.seen);
                if corrector == Corrector::Auto {
                    row.check(&what, if n <= 2 { 1e-3 } else { 5e-3 }, 0.1);
                    assert!((row.seen.theta - rows[20][1]).abs() < 4e-3, "{what}");
                } else {
                    // Plain HHT loses energy by itself at this tolerance: as much without the landings.
                    let mut plain = Row::new(
                        n,
                        &SolverSettings {
                            corrector,
                            alpha,
                            ..settings(tolerance)
                        },
                    );
                    plain.to(10.0).unwrap();
                    row.check(&what, 1.15 * plain.seen.drift, 1.0);
                }
            }
        }
    }
}

#[test]
fn communication_points_may_be_as_dense_as_they_like_there() {
    let (_, singular) = reference(2);
    for every in [1e-7, 1e-6, 1e-5, 1e-4] {
        let mut row = Row::new(2, &settings(1e-4));
        for t in [singular[0], singular[1]] {
            for i in -50..=50 {
                row.to(t + f64::from(i) * every)
                    .unwrap_or_else(|e| panic!("{every}: {e}"));
            }
        }
        row.to(2.0).unwrap();
        println!("{every:e} {:?}", row.seen);
        // A velocity off by 4e-6 rad/s, a part of the tolerance, is 0.4 rad/s² at a point 1e-5 s beside the position.
        row.check(&format!("{every}"), 1e-3, 0.4);
        // Each point costs a step and, near the position, the one that went beyond it.
        assert!(row.seen.attempts < 600, "{every}: {:?}", row.seen);
    }
}

#[test]
fn fixed_steps_may_end_on_singular_positions() {
    let (_, singular) = reference(2);
    for parts in [20, 50, 71, 100, 200] {
        let step = Some(singular[0] / f64::from(parts));
        for (corrector, alpha) in [
            (Corrector::Auto, 0.05),
            (Corrector::Off, 0.0),
            (Corrector::Off, 0.05),
            (Corrector::Off, 0.3),
        ] {
            let what = format!("{parts} {corrector:?} {alpha}");
            let mut row = Row::new(
                2,
                &SolverSettings {
                    corrector,
                    alpha,
                    step,
                    ..settings(1e-4)
                },
            );
            row.to(10.0).unwrap_or_else(|e| panic!("{what}: {e}"));
            // Beside them the same method, just as long.
            let step = step.map(|h| 1.0007 * h);
            let mut other = Row::new(
                2,
                &SolverSettings {
                    corrector,
                    alpha,
                    step,
                    ..settings(1e-4)
                },
            );
            other.to(10.0).unwrap_or_else(|e| panic!("{what}: {e}"));
            println!("{what} {:?} {:?}", row.seen, other.seen);
            let drift = if corrector == Corrector::Auto {
                1e-3_f64.max(2.0 * other.seen.drift)
            } else {
                1.2 * other.seen.drift + 0.01
            };
            row.check(&what, drift, 10.0);
            assert_eq!(
                row.run.state.statistics.smallest_step,
                step.unwrap_or(0.0)
                    .min(row.run.state.statistics.smallest_step)
            );
        }
    }
}

#[test]
fn interpolation_and_an_input_jump_in_a_singular_position_keep_to_the_branch() {
    let (_, singular) = reference(2);
    let mut row = Row::new(2, &settings(1e-4));
    let mut seen = sample(&row.run);
    for &t in &singular {
        while row.run.state.t < t {
            row.run.advance(f64::INFINITY).unwrap();
            row.look();
        }
        row.run.look(t, &mut seen).unwrap();
        on_branch(&seen, t, 2);
    }
    row.check("looked at", 1e-3, 0.1);

    let mut row = Row::new(2, &settings(1e-4));
    for &t in &singular {
        row.to(t).unwrap();
        row.run.jump().unwrap();
        row.look();
    }
    row.to(10.0).unwrap();
    println!("jump {:?}", row.seen);
    row.check("jumped", 1e-3, 0.2);
}

fn on_branch(seen: &Sample, t: f64, n: usize) {
    let theta = FRAC_PI_2 - seen.q[2];
    // The phase error of the run at this tolerance.
    assert!((theta.sin().abs() - 1.0).abs() < 1e-4, "{t}: {theta}");
    for coupler in n + 1..=2 * n {
        assert!(seen.q[3 * coupler + 2].abs() < 1e-6, "{t}: {:?}", seen.q);
        assert!(seen.v[3 * coupler + 2].abs() < 1e-4, "{t}: {:?}", seen.v);
        assert!(
            seen.acc[3 * coupler + 2].abs() < 0.05,
            "{t}: {:?}",
            seen.acc
        );
    }
    assert!(
        (-seen.acc[2] - k(n) * theta.sin()).abs() < 0.05,
        "{t}: {:?}",
        seen.acc
    );
    assert!(seen.lambda.iter().all(|l| l.is_finite()));
}

#[test]
fn a_mechanism_with_a_singular_initial_pose_goes_on_along_the_smooth_branch() {
    for n in [1, 2, 4] {
        for (theta, corrector) in [
            (FRAC_PI_2, Corrector::Auto),
            (-FRAC_PI_2, Corrector::Auto),
            (FRAC_PI_2, Corrector::Off),
            (FRAC_PI_2 + 1e-6, Corrector::Auto),
            (FRAC_PI_2 + 1e-5, Corrector::Auto),
            (FRAC_PI_2 - 1e-4, Corrector::Auto),
            (FRAC_PI_2 + 1e-3, Corrector::Off),
        ] {
            let what = format!("{n} {theta} {corrector:?}");
            let rate = (1.0 + 4.0 * k(n) * (theta / 2.0).sin().powi(2)).sqrt();
            let mut row = Row::at(
                n,
                &SolverSettings {
                    corrector,
                    ..settings(1e-5)
                },
                theta,
                rate,
            );
            row.to(3.0).unwrap_or_else(|e| panic!("{what}: {e}"));
            println!("{what} {:?} {:?}", row.seen, row.run.report);
            row.check(
                &what,
                if corrector == Corrector::Auto {
                    1e-3
                } else {
                    0.25
                } * row.e0
                    / 35.835,
                1.0,
            );
        }
    }
}

#[test]
fn a_state_saved_in_a_singular_position_goes_on_to_the_bit() {
    let (_, singular) = reference(2);
    for corrector in [Corrector::Auto, Corrector::Off] {
        let mut row = Row::new(
            2,
            &SolverSettings {
                corrector,
                ..settings(1e-4)
            },
        );
        row.to(singular[1]).unwrap();
        let saved: State = row.run.state.clone();
        row.to(singular[3]).unwrap();
        row.to(4.0).unwrap();
        let first = row.run.state.clone();
        let mut other = Row::new(
            2,
            &SolverSettings {
                corrector,
                ..settings(1e-4)
            },
        );
        other.to(0.3).unwrap();
        other.run.state.copy_from(&saved);
        other.to(singular[3]).unwrap();
        other.to(4.0).unwrap();
        assert_eq!(bare(&first), bare(&other.run.state));
        assert_eq!(first.statistics, other.run.state.statistics);
    }
}

/// Crank and rod of 1 m, a slider in line with the pivot.
fn equal_slider_crank(theta: f64, rate: f64) -> Model {
    let (s, c) = theta.sin_cos();
    let text = format!(
        "format = 1\nname = \"equal\"\ndimension = 2\ngravity = [0.0, -9.81]\n\
         [[body]]\nname = \"crank\"\nmass = 1.0\ninertia = {i}\nposition = [{}, {}]\nangle = {theta:?}\n\
         velocity = [{}, {}]\nangular_velocity = {rate:?}\n\
         [[body]]\nname = \"rod\"\nmass = 1.0\ninertia = {i}\nposition = [{}, {}]\nangle = {:?}\n\
         velocity = [{}, {}]\nangular_velocity = {:?}\n\
         [[body]]\nname = \"slider\"\nmass = 1.0\ninertia = 0.1\nposition = [{x}, 0.0]\nvelocity = [{}, 0.0]\n\
         [[joint]]\nname = \"pivot\"\ntype = \"revolute\"\nbodies = [\"ground\", \"crank\"]\npoint = [0.0, 0.0]\n\
         [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"crank\", \"rod\"]\npoint = [{c}, {s}]\n\
         [[joint]]\nname = \"wrist\"\ntype = \"revolute\"\nbodies = [\"rod\", \"slider\"]\npoint = [{x}, 0.0]\n\
         [[joint]]\nname = \"guide\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"slider\"]\npoint = [{x}, 0.0]\naxis = [1.0, 0.0]\n",
        0.5 * c,
        0.5 * s,
        -0.5 * rate * s,
        0.5 * rate * c,
        1.5 * c,
        0.5 * s,
        -theta,
        -1.5 * rate * s,
        0.5 * rate * c,
        -rate,
        -2.0 * rate * s,
        i = 1.0 / 12.0,
        x = 2.0 * c,
    );
    Model::from_text(&text, "equal").unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_slider_crank_with_equal_lengths_passes_its_singular_positions() {
    let run = |settings: &SolverSettings, theta: f64, stops: &[f64]| {
        let mut model = equal_slider_crank(theta, 9.0);
        model.solver = *settings;
        let mut run = Run::model(&model, Backend::Auto).unwrap();
        let e0 = energy(&run);
        let (mut drift, mut branch, mut closure) = (0.0_f64, 0.0_f64, 0.0_f64);
        let mut hits = Vec::new();
        for &stop in stops {
            while run.state.t < stop {
                let (before, t0) = (run.state.q[2], run.state.t);
                run.advance(stop)
                    .unwrap_or_else(|e| panic!("{settings:?}: {e}"));
                let q = &run.state.q;
                drift = drift.max((energy(&run) - e0).abs());
                branch = branch
                    .max((q[2] + q[5]).abs())
                    .max((q[6] - 2.0 * q[2].cos()).abs());
                closure = closure.max(run.closure());
                let turn = |x: f64| (x / PI - 0.5).floor();
                if turn(before) != turn(q[2]) {
                    hits.push((t0, run.state.t));
                }
            }
        }
        assert!(
            branch < 1e-9 && closure < 1e-10,
            "{settings:?}: {branch} {closure}"
        );
        (drift, hits, run.state.q[2])
    };
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let (drift, hits, _) = run(&settings(tolerance), 0.3, &[10.0]);
        println!("{tolerance:e} {drift} {}", hits.len());
        assert!(hits.len() >= 6, "{hits:?}");
        // 60 J are in motion here, and the tolerance allows each of some 300 steps this part of the size.
        assert!(drift < 2e3 * tolerance, "{tolerance}: {drift}");
    }
    // The crank upright at the start: singular, and one branch has the slider at rest.
    let (drift, _, _) = run(&settings(1e-5), FRAC_PI_2, &[3.0]);
    assert!(drift < 2e3 * 1e-5, "{drift}");

    // Landing on one: the instant by bisection of looks.
    let mut model = equal_slider_crank(0.3, 9.0);
    model.solver = settings(1e-4);
    let mut probe = Run::model(&model, Backend::Auto).unwrap();
    let mut seen = sample(&probe);
    while probe.state.q[2] < FRAC_PI_2 {
        probe.advance(f64::INFINITY).unwrap();
    }
    let (mut lo, mut hi) = (probe.state.t - probe.state.h, probe.state.t);
    for _ in 0..60 {
        let mid = 0.5 * (lo + hi);
        probe.look(mid, &mut seen).unwrap();
        if seen.q[2] < FRAC_PI_2 {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    let (alone, _, _) = run(&settings(1e-4), 0.3, &[5.0]);
    for off in [0.0, 1e-9, 1e-7, 1e-5, 1e-3] {
        let (drift, _, _) = run(&settings(1e-4), 0.3, &[lo - off, lo + off, 5.0]);
        assert!(drift < 1.3 * alone, "{off}: {drift} {alone}");
    }
}
