//! The integrator gives the same bits for the same calls: again, with work space that has seen another run, and in threads at the
//! same time; dense and sparse; rejected and failed steps, events and input jumps included.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::common::drive::{Run, cases, live, sample, start};
use biela::constraint::sparsity::Backend;
use biela::model::{Corrector, SolverSettings};

const STEPS: usize = 400;

/// A digest of every state on the way, and the last state in full (`Debug` of a double is exact).
fn life(case: &str, backend: Backend, corrector: Corrector) -> (u64, String) {
    let settings = SolverSettings {
        tolerance: 1e-5,
        corrector,
        ..SolverSettings::default()
    };
    follow(&mut start(case, &settings, backend))
}

fn follow(run: &mut Run<dyn biela::formulation::System>) -> (u64, String) {
    let mut digest = DefaultHasher::new();
    let mut middle = sample(run);
    for k in 0..STEPS {
        live(run, k, &mut middle);
        let s = &run.state;
        for x in [&s.q, &s.v, &s.acc, &s.lambda, &s.a, &s.delta, &s.jerk] {
            x.iter().for_each(|x| x.to_bits().hash(&mut digest));
        }
        for x in [
            s.t,
            s.h,
            s.next_h,
            s.newton_contraction,
            s.dissipated,
            s.supplied,
        ] {
            x.to_bits().hash(&mut digest);
        }
        for x in [&middle.q, &middle.v, &middle.acc, &middle.lambda] {
            x.iter().for_each(|x| x.to_bits().hash(&mut digest));
        }
        s.statistics.newton_iterations.hash(&mut digest);
    }
    (digest.finish(), format!("{:?}", run.state))
}

fn everywhere(check: impl Fn(&str, Backend, Corrector)) {
    for case in cases() {
        for backend in [Backend::Dense, Backend::Sparse] {
            for corrector in [Corrector::Off, Corrector::Auto] {
                check(&case, backend, corrector);
            }
        }
    }
}

#[test]
fn a_second_run_repeats_the_first() {
    everywhere(|case, backend, corrector| {
        let first = life(case, backend, corrector);
        assert!(
            life(case, backend, corrector) == first,
            "{case} {backend:?} {corrector:?}"
        );
    });
}

#[test]
fn a_workspace_used_by_another_run_gives_the_same_bits() {
    everywhere(|case, backend, corrector| {
        let settings = SolverSettings {
            tolerance: 1e-5,
            corrector,
            ..SolverSettings::default()
        };
        let mut used = start(case, &settings, backend);
        let mut middle = sample(&used);
        for k in 0..100 {
            used.state.next_h *= 0.7;
            live(&mut used, k, &mut middle);
        }
        let fresh = start(case, &settings, backend);
        used.state = fresh.state.clone();
        used.signals = fresh.signals;
        let first = life(case, backend, corrector);
        let again = follow(&mut used);
        assert!(
            again == first,
            "{case} {backend:?} {corrector:?}\n{}\n{}",
            first.1,
            again.1
        );
    });
}

#[test]
fn threads_at_the_same_time_give_the_same_bits() {
    everywhere(|case, backend, corrector| {
        let first = life(case, backend, corrector);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| life(case, backend, corrector)))
                .collect();
            for thread in threads {
                assert!(
                    thread.join().unwrap() == first,
                    "{case} {backend:?} {corrector:?}"
                );
            }
        });
    });
}

#[test]
fn another_tolerance_gives_other_bits() {
    // Else the tests of this file could not fail.
    let other = SolverSettings {
        tolerance: 1.01e-5,
        corrector: Corrector::Off,
        ..SolverSettings::default()
    };
    let other = follow(&mut start("chain", &other, Backend::Dense));
    assert!(other.0 != life("chain", Backend::Dense, Corrector::Off).0);
}
