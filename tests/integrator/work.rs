//! The price of a step: about 1.1 residuals and one factorisation an attempt without the corrector (theory, Newton economy).

use crate::common::drive::{Run, attempts};
use crate::common::systems::andrews::{self, Andrews};
use crate::common::systems::chain::Chain;
use biela::formulation::System;
use biela::model::{Corrector, SolverSettings};

/// Runs and judges; the bounds leave the theory's numbers (1.05 .. 1.13) a tenth.
fn cheap<S: System>(name: &str, make: impl Fn() -> S, q: &[f64], t_end: f64) {
    let v = vec![0.0; q.len()];
    for tolerance in [1e-4, 1e-6] {
        for alpha in [0.05, 0.1] {
            let settings = SolverSettings {
                tolerance,
                alpha,
                corrector: Corrector::Off,
                ..SolverSettings::default()
            };
            let mut run = Run::new(make(), &settings, q, &v).unwrap();
            run.to(t_end).unwrap();
            let s = run.state.statistics;
            let n = attempts(&s) as f64;
            let (residuals, factorizations, solves) = (
                s.residuals as f64 / n,
                s.factorizations as f64 / n,
                s.solves as f64 / n,
            );
            println!(
                "{name} {tolerance:e} alpha {alpha}: {n} attempts ({} rejected, {} failed), residuals {residuals:.3}, \
                 factorisations {factorizations:.3}, solves {solves:.2}",
                s.rejected, s.newton_failures
            );
            assert!(residuals <= 1.25, "{name} {tolerance}: {residuals} {s:?}");
            assert!(
                factorizations <= 1.02,
                "{name} {tolerance}: {factorizations} {s:?}"
            );
            assert_eq!(s.newton_failures, 0);
        }
    }
}

#[test]
fn a_step_of_the_double_pendulum_costs_one_residual_and_one_factorisation() {
    let q = Chain(2).horizontal();
    cheap("double pendulum", || Chain(2), &q, 2.0);
}

#[test]
fn a_step_of_andrews_mechanism_costs_one_residual_and_one_factorisation() {
    cheap("Andrews", || Andrews, &andrews::START, 0.015);
}
