//! The order of the method: slope of the error over the step, for every α, at constant, alternating and random steps.
//!
//! Error: largest difference to an independent solution over the whole run, for q, v and λ. Slopes are fitted over four
//! step sizes, halved each time; random steps take the median of five patterns for each slope.

use crate::common::measure::{Reference, Run, Steps, distance, median, prescribed, slope};
use crate::common::systems::chain::Chain;
use crate::common::systems::driven_pendulum::DrivenPendulum;
use crate::common::systems::heavy_top::HeavyTop;
use crate::common::systems::oscillator::Oscillator;
use crate::common::systems::pendulum::Pendulum;
use crate::common::systems::relative::DoublePendulum;
use biela::formulation::System;
use biela::model::{Corrector, IntegratorName, SolverSettings};

/// A case: the system, its start, how long, and how many steps the coarsest run takes.
struct Case {
    name: &'static str,
    system: Box<dyn System>,
    q: Vec<f64>,
    v: Vec<f64>,
    stop: f64,
    coarsest: usize,
}

/// Errors of q, v and λ for one pattern of steps.
fn errors(
    case: &Case,
    reference: &Reference,
    alpha: f64,
    corrector: Corrector,
    steps: Steps,
    count: usize,
) -> [f64; 3] {
    let mut run = Run::new(
        &*case.system,
        &prescribed(alpha, corrector),
        &case.q,
        &case.v,
    );
    let mut worst = [0.0; 3];
    for t in steps.times(count, case.stop) {
        run.advance(t);
        let exact = reference.at(t);
        for (k, have) in [&run.state.q, &run.state.v, &run.state.lambda]
            .into_iter()
            .enumerate()
        {
            worst[k] = distance(have, &exact[k]).max(worst[k]);
        }
    }
    worst
}

/// Slopes of q, v and λ.
fn orders(
    case: &Case,
    reference: &Reference,
    alpha: f64,
    corrector: Corrector,
    steps: Steps,
) -> [f64; 3] {
    let counts: Vec<usize> = (0..4).map(|k| case.coarsest << k).collect();
    let h: Vec<f64> = counts.iter().map(|&n| case.stop / n as f64).collect();
    let table: Vec<[f64; 3]> = counts
        .iter()
        .map(|&n| errors(case, reference, alpha, corrector, steps, n))
        .collect();
    std::array::from_fn(|k| {
        let column: Vec<f64> = table.iter().map(|row| row[k]).collect();
        if column.iter().all(|&e| e == 0.0) {
            f64::NAN
        } else {
            slope(&h, &column)
        }
    })
}

/// All patterns and dissipations of a case; every slope within `band` of `order`.
fn check(case: &Case, alphas: &[f64], corrector: Corrector, order: f64, band: f64, random: bool) {
    let reference = Reference::new(&*case.system, &case.q, &case.v, case.stop, 8000);
    let mut wrong = Vec::new();
    for &alpha in alphas {
        let constant = orders(case, &reference, alpha, corrector, Steps::Constant);
        let alternating = orders(case, &reference, alpha, corrector, Steps::Alternating);
        let mut rows = vec![("constant", constant), ("alternating", alternating)];
        if random {
            let seeds: Vec<[f64; 3]> = (1..=5)
                .map(|s| orders(case, &reference, alpha, corrector, Steps::Random(s)))
                .collect();
            rows.push((
                "random",
                std::array::from_fn(|k| median(seeds.iter().map(|o| o[k]).collect())),
            ));
        }
        for (pattern, found) in rows {
            println!(
                "{} alpha {alpha} {pattern}: q {:.3} v {:.3} lambda {:.3}",
                case.name, found[0], found[1], found[2]
            );
            // Systems without constraints have no λ.
            let columns = if case.system.dimensions().nc > 0 {
                3
            } else {
                2
            };
            for (what, slope) in ["q", "v", "lambda"].iter().zip(found).take(columns) {
                if !((slope - order).abs() <= band) {
                    wrong.push(format!(
                        "alpha {alpha}, {pattern}: {what} has order {slope:.3}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", case.name, wrong.join("; "));
}

const ALPHAS: [f64; 4] = [0.0, 0.05, 0.1, 0.3];

fn oscillator() -> Case {
    Case {
        name: "oscillator",
        system: Box::new(Oscillator::default()),
        q: vec![1.0],
        v: vec![0.0],
        stop: 1.0,
        coarsest: 100,
    }
}

fn pendulum() -> Case {
    Case {
        name: "pendulum",
        system: Box::new(Pendulum::default()),
        q: vec![1.0, 0.0],
        v: vec![0.0, 0.0],
        stop: 1.0,
        coarsest: 100,
    }
}

/// M(q): the double pendulum in its angles.
fn relative() -> Case {
    Case {
        name: "double pendulum in angles",
        system: Box::new(DoublePendulum::default()),
        q: vec![1.2, 0.4],
        v: vec![0.5, -1.0],
        stop: 1.0,
        coarsest: 100,
    }
}

/// The double pendulum of the reference in natural coordinates, away from its start at rest.
fn double_pendulum() -> Case {
    let (q, v) = Chain::from_angles(&[1.2, 0.4], &[0.5, -1.0]);
    Case {
        name: "double pendulum",
        system: Box::new(Chain(2)),
        q,
        v,
        stop: 1.0,
        coarsest: 100,
    }
}

fn driven() -> Case {
    let system = DrivenPendulum::default();
    let [p, p_dot, _] = system.pivot(0.0);
    Case {
        name: "driven pendulum",
        q: vec![p.x + system.pendulum.length, p.y],
        v: vec![p_dot.x, p_dot.y],
        system: Box::new(system),
        stop: 1.0,
        coarsest: 100,
    }
}

#[test]
fn hht_is_of_second_order_on_the_oscillator() {
    check(&oscillator(), &ALPHAS, Corrector::Off, 2.0, 0.1, true);
}

#[test]
fn hht_is_of_second_order_on_the_pendulum() {
    check(&pendulum(), &ALPHAS, Corrector::Off, 2.0, 0.1, true);
}

#[test]
fn hht_is_of_second_order_with_a_mass_matrix_that_moves() {
    check(&relative(), &ALPHAS, Corrector::Off, 2.0, 0.1, true);
}

#[test]
fn hht_is_of_second_order_with_a_driven_constraint() {
    check(&driven(), &ALPHAS, Corrector::Off, 2.0, 0.1, true);
}

#[test]
fn the_corrector_is_of_fourth_order_on_the_pendulum() {
    check(
        &pendulum(),
        &[0.05, 0.1, 0.3],
        Corrector::Auto,
        4.0,
        0.2,
        false,
    );
}

#[test]
fn hht_is_of_second_order_on_the_double_pendulum() {
    check(&double_pendulum(), &ALPHAS, Corrector::Off, 2.0, 0.1, true);
}

#[test]
fn the_corrector_is_of_fourth_order_on_the_double_pendulum() {
    check(
        &double_pendulum(),
        &[0.05, 0.1, 0.3],
        Corrector::Auto,
        4.0,
        0.2,
        false,
    );
}

#[test]
fn the_corrector_is_of_fourth_order_with_a_mass_matrix_that_moves() {
    check(
        &relative(),
        &[0.05, 0.1, 0.3],
        Corrector::Auto,
        4.0,
        0.2,
        false,
    );
}

#[test]
fn the_corrector_is_of_fourth_order_with_a_driven_constraint() {
    check(&driven(), &[0.05], Corrector::Auto, 4.0, 0.2, false);
}

/// The heavy top: rotations on the group. Its reference is the same method at a far shorter step, corrected, so this shows
/// consistency of order, not agreement with another code.
#[test]
fn rotations_keep_the_order_of_the_method() {
    let top = HeavyTop::default();
    let (q, v) = top.start();
    let stop = 0.1;
    let end = |corrector: Corrector, count: usize| {
        let mut run = Run::new(&top, &prescribed(0.1, corrector), &q, &v);
        for t in Steps::Alternating.times(count, stop) {
            run.advance(t);
        }
        (
            run.state.q.clone(),
            run.state.v.clone(),
            run.state.lambda.clone(),
        )
    };
    let (q1, v1, lambda1) = end(Corrector::Auto, 6400);
    // A spin of 150 rad/s is resolved late: λ of plain HHT shows its order only below 1e-4 s.
    let cases = [
        (Corrector::Off, 2.0, 0.1, [800, 1600, 3200]),
        (Corrector::Auto, 4.0, 0.2, [200, 400, 800]),
    ];
    for (corrector, order, band, counts) in cases {
        let h: Vec<f64> = counts.iter().map(|&n| stop / n as f64).collect();
        let ends: Vec<_> = counts.iter().map(|&n| end(corrector, n)).collect();
        let q: Vec<f64> = ends.iter().map(|e| distance(&e.0, &q1)).collect();
        let v: Vec<f64> = ends.iter().map(|e| distance(&e.1, &v1)).collect();
        let lambda: Vec<f64> = ends.iter().map(|e| distance(&e.2, &lambda1)).collect();
        let found = [slope(&h, &q), slope(&h, &v), slope(&h, &lambda)];
        println!("heavy top {corrector:?}: {found:.3?}, error of q {q:?}");
        for slope in found {
            assert!((slope - order).abs() <= band, "{corrector:?}: {found:?}");
        }
    }
}

/// The default method: a sixth-order formula after one step of fourth order, whose local error h⁵ remains, and makes the
/// error of the run one of fifth order at least. The steps are so long that rounding (1e-13) is far away.
#[test]
fn a_smooth_motion_is_followed_with_fifth_order_or_more() {
    let (q, v) = Chain::from_angles(&[std::f64::consts::FRAC_PI_2; 2], &[0.0; 2]);
    let top = HeavyTop::default();
    let (top_q, top_v) = top.start();
    let chain = Chain(2);
    type Smooth<'a> = (&'a str, &'a dyn System, [&'a [f64]; 2], f64, [usize; 3]);
    let cases: [Smooth; 2] = [
        ("double pendulum", &chain, [&q, &v], 1.0, [40, 80, 160]),
        ("heavy top", &top, [&top_q, &top_v], 0.1, [30, 60, 120]),
    ];
    for (name, system, [q, v], stop, counts) in cases {
        let settings = SolverSettings {
            integrator: IntegratorName::Auto,
            ..prescribed(0.05, Corrector::Auto)
        };
        let end = |settings: &SolverSettings, count: usize| {
            let mut run = Run::new(system, settings, q, v);
            for t in Steps::Alternating.times(count, stop) {
                run.advance(t);
            }
            run.state.q.clone()
        };
        // The fourth-order formula at a step so short that its error is 1e-12 or less.
        let exact = end(&prescribed(0.05, Corrector::Auto), 6400);
        let errors = counts.map(|count| distance(&end(&settings, count), &exact));
        let h = counts.map(|count| stop / count as f64);
        let found = slope(&h, &errors);
        println!("{name}: order {found:.2}, errors {errors:?}");
        assert!(found > 4.7, "{name}: {found} {errors:?}");
    }
}
