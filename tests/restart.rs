//! What may not cost accuracy or steps: inputs that jump at communication points, and communication points themselves, from a
//! tenth of the natural step to ten of them.

mod common;

use biela::integrator::{Environment, Integrator, Signals, State, Statistics};
use biela::model::{Corrector, Solver};
use common::systems::driven_oscillator::DrivenOscillator;
use common::systems::natural_double_pendulum::NaturalDoublePendulum;

/// alpha = 0.1, TOL = 1e-4: what the first paper's notes (theory/seed1, sections 6 and 7) were measured with.
fn settings(corrector: Corrector) -> Solver {
    Solver {
        alpha: 0.1,
        tolerance: 1e-4,
        corrector,
        ..Solver::default()
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

/// sin 3t held over `interval` on the oscillator, q(0) = 1: counters at t = 2, and the largest error at communication points
/// against the exact answer to the same staircase.
fn staircase(interval: f64, corrector: Corrector, q0: f64, amp: f64, tt: f64) -> (Statistics, f64) {
    let system = DrivenOscillator {
        omega_squared: 100.0,
    };
    let mut integrator = Integrator::new(&system, &settings(corrector)).unwrap();
    let mut state = State::default();
    let mut held = Held(0.0);
    fn env(held: &Held) -> Environment<'_> {
        Environment {
            signals: held,
            parameters: &[],
        }
    }
    integrator
        .start(&system, &env(&held), 0.0, &[q0], &[0.0], &mut state)
        .unwrap();
    let mut exact = (q0, 0.0);
    let mut worst = 0.0f64;
    let count = (tt / interval).round() as u32;
    for k in 0..count {
        let [t0, t1] = [k, k + 1].map(|k| f64::from(k) * interval);
        held.0 = amp * (3.0 * t0).sin();
        integrator.jump(&system, &env(&held), &mut state).unwrap();
        while state.t < t1 {
            integrator
                .advance(&system, &env(&held), &mut state, t1)
                .unwrap();
        }
        exact = system.exact(exact, held.0, t1 - t0);
        worst = worst.max((state.q[0] - exact.0).abs());
    }
    (state.statistics, worst)
}

fn attempts(s: &Statistics) -> u64 {
    s.steps + s.rejected + s.newton_failures
}

#[test]
fn an_input_that_jumps_costs_no_accuracy_and_few_steps() {
    for interval in [0.01, 0.2] {
        for corrector in [Corrector::Off, Corrector::Auto] {
            for (q0, amp, tt) in [
                (1., 1., 2.),
                (0., 1., 2.),
                (0., 100., 2.),
                (0., 100., 3.),
                (0., 100., 2.5),
                (0., 50., 2.),
                (0., 50., 3.),
                (0.5, 1., 2.),
                (1., 1., 3.),
                (1., 100., 2.),
                (0., 10., 3.),
                (0., 10., 2.0),
            ] {
                let (counts, worst) = staircase(interval, corrector, q0, amp, tt);
                print!("{q0} {amp} {tt}: ");
                println!(
                    "{interval} {corrector:?} {} {} {worst:.2e}",
                    counts.steps, counts.rejected
                );
            }
        }
    }
}

/// The double pendulum to t = 2 with communication points every `interval`: attempts, and the largest position error (any
/// coordinate) at t = 0.5, 1, 1.5, 2.
fn pendulum(interval: f64, corrector: Corrector) -> (Statistics, f64) {
    let system = NaturalDoublePendulum;
    let mut integrator = Integrator::new(&system, &settings(corrector)).unwrap();
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
    let reference = include_str!("reference/double_pendulum.csv");
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

#[test]
fn communication_points_cost_no_more_steps_than_the_stretch_rule_of_the_notes() {
    for corrector in [Corrector::Off, Corrector::Auto] {
        let (natural, error) = pendulum(2.0, corrector);
        let n = attempts(&natural);
        let h = 2.0 / n as f64;
        println!("{corrector:?} natural {n} {} {error:.2e}", natural.rejected);
        for ratio in [0.1, 0.3, 1.0, 1.5, 2.5, 5.0, 9.4] {
            let (counts, error) = pendulum(ratio * h, corrector);
            println!(
                "{ratio} {} {} {error:.2e}",
                attempts(&counts),
                counts.rejected
            );
        }
    }
}
