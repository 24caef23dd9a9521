//! What may not cost accuracy or steps: inputs that jump at communication points, and communication points themselves, from a
//! tenth of the natural step to ten of them.

use crate::common::systems::driven_oscillator::DrivenOscillator;
use crate::common::systems::natural_double_pendulum::NaturalDoublePendulum;
use biela::integrator::{Environment, Integrator, Signals, State, Statistics};
use biela::model::{Corrector, IntegratorName, SolverSettings};

/// alpha = 0.1, TOL = 1e-4: what the first paper's notes (theory/seed1, sections 6 and 7) were measured with.
type Method = (IntegratorName, Corrector);
const PLAIN: Method = (IntegratorName::Hht, Corrector::Off);
const CORRECTED: Method = (IntegratorName::Hht, Corrector::Auto);
const DEFAULT: Method = (IntegratorName::Auto, Corrector::Auto);

fn settings((integrator, corrector): Method) -> SolverSettings {
    SolverSettings {
        alpha: 0.1,
        tolerance: 1e-4,
        integrator,
        corrector,
        ..SolverSettings::default()
    }
}

struct Held(f64);

impl Signals for Held {
    fn sample(&self, _t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        u[0] = self.0;
        u_dot[0] = 0.0;
        u_ddot[0] = 0.0;
    }
}

/// 100 sin 3t
struct Wave;

impl Signals for Wave {
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        let (s, c) = (3.0 * t).sin_cos();
        u[0] = 100.0 * s;
        u_dot[0] = 300.0 * c;
        u_ddot[0] = -900.0 * s;
    }
}

fn env(signals: &dyn Signals) -> Environment<'_> {
    Environment {
        signals,
        parameters: &[],
    }
}

const OSCILLATOR: DrivenOscillator = DrivenOscillator {
    omega_squared: 100.0,
};

/// The oscillator from rest under 100 sin 3t, continuous, to t = 3: counters and largest error against the closed form.
fn wave(method: Method) -> (Statistics, f64) {
    let mut integrator = Integrator::new(&OSCILLATOR, &settings(method)).unwrap();
    let mut state = State::default();
    integrator
        .start(&OSCILLATOR, &env(&Wave), 0.0, &[0.0], &[0.0], &mut state)
        .unwrap();
    let mut worst = 0.0f64;
    while state.t < 3.0 {
        integrator
            .advance(&OSCILLATOR, &env(&Wave), &mut state, 3.0)
            .unwrap();
        let exact = 100.0 / 91.0 * ((3.0 * state.t).sin() - 0.3 * (10.0 * state.t).sin());
        worst = worst.max((state.q[0] - exact).abs());
    }
    (state.statistics, worst)
}

/// The same with the input held over `interval`, against the exact answer to the staircase at communication points. Without
/// `jump` the integrator is not told.
fn staircase(interval: f64, method: Method, jump: bool) -> (Statistics, f64) {
    let mut integrator = Integrator::new(&OSCILLATOR, &settings(method)).unwrap();
    let mut state = State::default();
    let mut held = Held(0.0);
    integrator
        .start(&OSCILLATOR, &env(&held), 0.0, &[0.0], &[0.0], &mut state)
        .unwrap();
    let mut exact = (0.0, 0.0);
    let mut worst = 0.0f64;
    let count = (3.0 / interval).round() as u32;
    for k in 0..count {
        let [t0, t1] = [k, k + 1].map(|k| f64::from(k) * interval);
        held.0 = 100.0 * (3.0 * t0).sin();
        if jump {
            integrator
                .apply_input_jump(&OSCILLATOR, &env(&held), &mut state)
                .unwrap();
        }
        while state.t < t1 {
            integrator
                .advance(&OSCILLATOR, &env(&held), &mut state, t1)
                .unwrap();
        }
        exact = OSCILLATOR.exact(exact, held.0, t1 - t0);
        worst = worst.max((state.q[0] - exact.0).abs());
    }
    (state.statistics, worst)
}

fn attempts(s: &Statistics) -> u64 {
    s.steps + s.rejected + s.newton_failures
}

/// theory/seed1 section 6, rule "shift": 304 and 222 attempts. The note does not say from where and how strongly the oscillator
/// was driven; from rest with 100 sin 3t to t = 3 s its counts are met within 1 %. Its errors are not (they are 3.6 times smaller at
/// both intervals than order 2 allows for these steps), so accuracy is judged by the same drive without jumps.
#[test]
fn an_input_that_jumps_costs_no_accuracy_and_few_steps() {
    let plain = attempts(&wave(PLAIN).0) as f64;
    for method in [PLAIN, CORRECTED, DEFAULT] {
        // Between jumps there is no history to predict from: the default takes the steps of the corrector.
        let (counts, smooth) = wave(if method == PLAIN { PLAIN } else { CORRECTED });
        let natural = attempts(&counts) as f64;
        println!("{method:?} smooth {natural} {smooth:.2e}");
        for (interval, note) in [(0.01, 304.0), (0.2, 222.0)] {
            let (counts, worst) = staircase(interval, method, true);
            let (untold, ignored) = staircase(interval, method, false);
            let n = attempts(&counts) as f64;
            println!(
                "{method:?} {interval}: {n} ({} rejected) {worst:.2e}; not told: {} ({}) {ignored:.2e}",
                counts.rejected,
                attempts(&untold),
                untold.rejected
            );
            // The counts of the note are those of plain HHT; the corrector's own step control takes other natural steps, by
            // which they are scaled. Three percent: another controller and another estimate than those of the note.
            let allowed = 1.03 * note * natural / plain;
            assert!(n <= allowed, "H = {interval}: {n} attempts of {allowed}");
            match method.1 {
                // The staircase excites the oscillator a little more than the wave it follows.
                Corrector::Off => assert!(worst < 1.2 * smooth, "{interval}: {worst} {smooth}"),
                // A tenth of the tolerance of one step, after 200 steps.
                Corrector::Auto => assert!(worst < 1e-5, "{interval}: {worst}"),
            }
            // The rule earns its place: a host that does not tell pays with accuracy or with steps.
            let dearer = attempts(&untold) as f64 > 1.15 * n;
            assert!(ignored > 2.0 * worst || dearer, "{interval}: {ignored}");
        }
    }
}

/// The double pendulum to t = 2 with communication points every `interval`: attempts, and the largest position error (any
/// coordinate) at t = 0.5, 1, 1.5, 2.
fn pendulum(interval: f64, method: Method) -> (Statistics, f64) {
    let system = NaturalDoublePendulum;
    let mut integrator = Integrator::new(&system, &settings(method)).unwrap();
    let mut state = State::default();
    let env = Environment {
        signals: &(),
        parameters: &[],
    };
    integrator
        .start(
            &system,
            &env,
            0.0,
            &[1.0, 0.0, 2.0, 0.0],
            &[0.0; 4],
            &mut state,
        )
        .unwrap();
    let reference = include_str!("../reference/double_pendulum.csv");
    let rows: Vec<Vec<f64>> = reference
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let mut worst = 0.0f64;
    let count = (2.0 / interval).round().max(1.0) as u32;
    for k in 1..=count {
        let t1 = 2.0 * f64::from(k) / f64::from(count);
        while state.t < t1 {
            integrator.advance(&system, &env, &mut state, t1).unwrap();
        }
        if let Some(row) = rows
            .iter()
            .find(|row| (row[0] - t1).abs() < 1e-9 && t1 > 0.0)
        {
            for i in 0..4 {
                worst = worst.max((state.q[i] - row[1 + i]).abs());
            }
        }
    }
    (state.statistics, worst)
}

/// theory/seed1 section 7, column "stretch": (H/h, attempts, largest error where given) with 2 s/0.0267 s = 75 natural steps.
const STRETCH: [(f64, f64, Option<f64>); 7] = [
    (0.1, 751.0, Some(2.1e-4)),
    (0.3, 254.0, Some(1.8e-3)),
    (1.0, 108.0, Some(7.6e-3)),
    (1.5, 105.0, None),
    (2.5, 92.0, Some(1.0e-2)),
    (5.0, 83.0, None),
    (9.4, 78.0, Some(1.2e-2)),
];
const STRETCH_NATURAL: f64 = 75.0;

/// Our own natural mean step defines h, and the attempts are compared as multiples of the natural number of attempts.
#[test]
fn communication_points_cost_no_more_steps_than_the_stretch_rule_of_the_notes() {
    for method in [PLAIN, CORRECTED, DEFAULT] {
        // Where points cut every step the default takes those of the corrector.
        let (natural, natural_error) =
            pendulum(2.0, if method == PLAIN { PLAIN } else { CORRECTED });
        let n = attempts(&natural) as f64;
        println!("{method:?} natural {n} {natural_error:.2e}");
        for (ratio, note, accuracy) in STRETCH {
            let (counts, error) = pendulum(ratio * 2.0 / n, method);
            let count = attempts(&counts) as f64;
            let allowed = note / STRETCH_NATURAL * n;
            println!(
                "{method:?} {ratio}: {count} ({} rejected) of {allowed:.0}, error {error:.2e}",
                counts.rejected
            );
            // Three percent: two or three rejections more or less.
            assert!(count <= 1.03 * allowed, "{ratio}: {count} {allowed}");
            assert!(error <= natural_error, "{ratio}: {error} {natural_error}");
            // A hundredth of the tolerance.
            assert!(method != DEFAULT || error < 1e-6, "{ratio}: {error}");
            if let (Corrector::Off, Some(accuracy)) = (method.1, accuracy) {
                // Five percent: a natural step that is as much longer than that of the note squares to this.
                assert!(error <= 1.05 * accuracy, "{ratio}: {error} {accuracy}");
            }
        }
    }
}
