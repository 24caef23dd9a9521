//! VSA23: order of its two schemes, thresholds of its error with open constraints, its counts, and its place beside HHT.

use std::path::Path;

use crate::common::drive::{Run, attempts};
use crate::common::measure::slope;
use crate::common::systems::bounce::Bounce;
use crate::common::systems::chain::Chain;
use crate::common::systems::first_paper::{Spring, TwoOscillators};
use crate::common::systems::heavy_top::HeavyTop;
use crate::common::systems::oscillator::Oscillator;
use crate::common::systems::{STILL, accelerations};
use biela::Error;
use biela::component::Instance;
use biela::constraint::sparsity::Backend;
use biela::formulation::System;
use biela::integrator::vsa23::{SingleDegree, Vsa23Coefficients, single_step};
use biela::integrator::{Environment, Integrator, Sample, State};
use biela::model::{
    Corrector, ErrorAt, IntegratorName, Model, SolverSettings, Vsa23Parameters, Vsa23Settings,
};

const SETS: [Vsa23Parameters; 2] = [Vsa23Parameters::Common, Vsa23Parameters::Original];
const NOTHING: Environment = Environment {
    signals: &(),
    parameters: &[],
};

fn settings(parameters: Vsa23Parameters) -> SolverSettings {
    SolverSettings {
        integrator: IntegratorName::Vsa23,
        vsa23: Vsa23Settings {
            parameters,
            error_at: ErrorAt::End,
        },
        ..SolverSettings::default()
    }
}

/// Rows of a table: time and values.
fn table(name: &str) -> Vec<(f64, Vec<f64>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reference/{name}.csv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let numbers = text.lines().filter_map(|line| {
        let row: Option<Vec<f64>> = line.split(',').map(|x| x.trim().parse().ok()).collect();
        row.map(|row| (row[0], row[1..].to_vec()))
    });
    numbers.collect()
}

fn reference(name: &str, time: f64) -> Vec<f64> {
    let rows = table(name);
    let row = rows.into_iter().find(|(t, _)| (t - time).abs() < 1e-12);
    row.unwrap_or_else(|| panic!("{name}.csv has no row at {time}"))
        .1
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn apart(x: &[f64], y: &[f64]) -> f64 {
    x.iter()
        .zip(y)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

// ---- order ---------------------------------------------------------------------------------------------------------

#[test]
fn the_quadratic_scheme_is_of_first_order() {
    for set in SETS {
        let oscillator = Oscillator { omega_squared: 4.0 };
        let exact = oscillator.exact(1.0, 0.5, 2.0).0;
        let error = |steps: u32| {
            let settings = SolverSettings {
                step: Some(2.0 / f64::from(steps)),
                ..settings(set)
            };
            let oscillator = Oscillator { omega_squared: 4.0 };
            let mut run = Run::new(oscillator, &settings, &[1.0], &[0.5]).unwrap();
            run.to(2.0).unwrap();
            assert_eq!(run.state.statistics.steps, u64::from(steps));
            (run.state.q[0] - exact).abs()
        };
        let order = (error(800) / error(1600)).log2();
        assert!((order - 1.0).abs() < 0.02, "{set:?}: {order}");
    }
}

#[test]
fn the_cubic_scheme_is_of_second_order() {
    for set in SETS {
        let oscillator = Oscillator { omega_squared: 4.0 };
        let exact = oscillator.exact(1.0, 0.5, 2.0).0;
        let error = |steps: u32| {
            let h = 2.0 / f64::from(steps);
            let mut at = [vec![1.0], vec![0.5], vec![-4.0]];
            for k in 0..steps {
                let t = f64::from(k) * h;
                let [q, v, acc] = &at;
                let s = settings(set);
                at = single_step(&oscillator, &NOTHING, &s, t, (q, v, acc), h)
                    .unwrap()
                    .cubic;
            }
            (at[0][0] - exact).abs()
        };
        let order = (error(100) / error(200)).log2();
        assert!((order - 2.0).abs() < 0.03, "{set:?}: {order}");
    }
}

#[test]
fn a_constrained_motion_converges_with_first_order_too() {
    // theory: section 3 of the notes measures 0.16 at t = 1 with steps of about 0.026.
    let exact = reference("double_pendulum", 1.0)[..4].to_vec();
    for set in SETS {
        let steps = [400.0, 800.0, 1600.0];
        let errors: Vec<f64> = steps
            .iter()
            .map(|n| {
                let settings = SolverSettings {
                    step: Some(1.0 / n),
                    ..settings(set)
                };
                let mut run =
                    Run::new(Chain(2), &settings, &Chain(2).horizontal(), &[0.0; 4]).unwrap();
                run.to(1.0).unwrap();
                apart(&run.state.q, &exact)
            })
            .collect();
        let order = -slope(&steps, &errors);
        println!("{set:?} {errors:?} {order}");
        assert!((order - 1.0).abs() < 0.1, "{set:?}: {order} {errors:?}");
    }
}

// ---- thresholds: figure 7 ------------------------------------------------------------------------------------------

/// One step of the double pendulum, stretched out and at rest, its first rod too long by `open`.
fn open_step(set: Vsa23Parameters, open: f64, h: f64) -> SingleDegree {
    let q = [1.0 + open, 0.0, 2.0 + open, 0.0];
    let v = [0.0; 4];
    let (acc, _) = accelerations(&Chain(2), &STILL, &q, &v);
    let settings = SolverSettings {
        newton_tolerance: Some(1e-14),
        ..settings(set)
    };
    single_step(&Chain(2), &NOTHING, &settings, 0.0, (&q, &v, &acc), h).unwrap()
}

#[test]
fn the_error_at_the_end_of_a_step_has_a_threshold_as_large_as_the_constraint_violation() {
    for (set, floor) in [
        (Vsa23Parameters::Original, 1.41),
        (Vsa23Parameters::Common, 0.412),
    ] {
        for (open, steps) in [(1e-2, [1e-3, 1e-4, 1e-5]), (1e-8, [1e-5, 3e-6, 1e-6])] {
            for h in steps {
                let e = norm(&open_step(set, open, h).error);
                println!("{set:?} opening {open:e} h {h:e}: {e:e}");
                assert!(
                    (e / (open * floor) - 1.0).abs() < 0.02,
                    "{set:?}, opening {open}, h = {h}: {e}"
                );
            }
        }
        // (24): both masses move with the first rod, so the least motion that closes it has the length √2.
        let e = norm(&open_step(set, 1e-6, 1e-4).error);
        let predicted = Vsa23Coefficients::of(set).threshold().abs() * 1e-6 * 2f64.sqrt();
        assert!(
            (e / predicted - 1.0).abs() < 0.01,
            "{set:?}: {e} {predicted}"
        );
    }
}

#[test]
fn the_error_at_the_common_point_has_no_threshold() {
    for (h, expected) in [(1e-2, 1.14e-4), (1e-3, 1.14e-6), (1e-4, 1.14e-8)] {
        let step = open_step(Vsa23Parameters::Common, 1e-2, h);
        let e = norm(&step.error_at_points);
        println!("h {h:e}: {e:e}, open {:?}", step.open);
        assert!((e / expected - 1.0).abs() < 0.02, "h = {h}: {e}");
    }
}

#[test]
fn the_threshold_stops_a_run_with_the_error_at_the_end_of_steps_and_not_at_the_common_point() {
    // The first step, from rest, is long and opens the constraints by more than the tolerance; the next one cannot be
    // accepted, however short.
    let run = |parameters, error_at| {
        let settings = SolverSettings {
            tolerance: 1e-5,
            vsa23: Vsa23Settings {
                parameters,
                error_at,
            },
            ..settings(parameters)
        };
        let mut run = Run::new(Chain(2), &settings, &Chain(2).horizontal(), &[0.0; 4]).unwrap();
        run.to(0.5)
    };
    match run(Vsa23Parameters::Original, ErrorAt::End) {
        Err(Error::StepTooSmall { reason, .. }) => assert!(reason.contains("error"), "{reason}"),
        other => panic!("{other:?}"),
    }
    run(Vsa23Parameters::Common, ErrorAt::Common).unwrap();
}

#[test]
fn constraints_are_satisfied_at_the_equilibrium_points_and_violated_in_the_extrapolation() {
    // theory: section 3 of the notes: 2.8e-7 after extrapolation at h = 0.02 (the paper: of the order of 1e-6).
    let q = Chain(2).horizontal();
    let v = [0.0; 4];
    let (acc, _) = accelerations(&Chain(2), &STILL, &q, &v);
    let settings = SolverSettings {
        newton_tolerance: Some(1e-10),
        ..settings(Vsa23Parameters::Common)
    };
    let step = single_step(&Chain(2), &NOTHING, &settings, 0.0, (&q, &v, &acc), 0.02).unwrap();
    println!("{:?} {:e}", step.open, step.open_at_end);
    assert!(step.open.iter().all(|o| *o < 1e-13), "{:?}", step.open);
    assert!(
        (1e-8..1e-5).contains(&step.open_at_end),
        "{}",
        step.open_at_end
    );
}

// ---- examples and counts -------------------------------------------------------------------------------------------

#[test]
fn example_1_takes_as_many_steps_as_published() {
    // theory: section 3 of the notes: 29 accepted steps published, 24 to 34 over choices the paper does not tell.
    let exact = reference("example1", 1.4);
    for set in SETS {
        for h0 in [0.003, 0.01] {
            let settings = SolverSettings {
                tolerance: 1e-4,
                initial_step: Some(h0),
                ..settings(set)
            };
            let mut run = Run::new(TwoOscillators, &settings, &[0.002, 10.0], &[0.0; 2]).unwrap();
            run.to(1.4).unwrap();
            let s = run.state.statistics;
            let error = (run.state.q[1] - exact[1]).abs();
            println!("{set:?} h0 {h0}: {s:?} error {error:e}");
            assert!((24..=34).contains(&s.steps), "{set:?}: {s:?}");
            // Each attempt solves two linear problems: a residual, a solution, a check.
            assert_eq!(s.residuals, 4 * attempts(&s));
            // Equal steps keep their factorisation.
            let matrices = if set == Vsa23Parameters::Original {
                1
            } else {
                2
            };
            assert!(s.factorizations <= matrices * attempts(&s), "{s:?}");
            assert!(s.factorizations >= attempts(&s) / 2, "{s:?}");
        }
    }
}

#[test]
fn a_trial_step_with_one_iteration_for_each_scheme_costs_four_residuals_and_two_factorisations() {
    for (power, name) in [(3, "example2_cubic"), (2, "example2_quadratic")] {
        let settings = SolverSettings {
            tolerance: 1e-4,
            // One iteration is enough for a displacement of a hundredth of the position.
            newton_tolerance: Some(1e-2),
            ..settings(Vsa23Parameters::Common)
        };
        let mut run = Run::new(Spring { power }, &settings, &[0.0], &[0.0]).unwrap();
        let mut seen = 0;
        while run.state.t < 10.0 {
            let before = run.state.statistics;
            run.advance(10.0).unwrap();
            let now = run.state.statistics;
            let tries = attempts(&now) - attempts(&before);
            assert_eq!(now.residuals - before.residuals, 4 * tries);
            assert_eq!(now.factorizations - before.factorizations, 2 * tries);
            seen += tries;
        }
        let s = run.state.statistics;
        println!("{name}: {s:?}");
        assert!(seen > 100);
    }
}

#[test]
fn more_iterations_cost_one_residual_each() {
    let settings = SolverSettings {
        tolerance: 1e-4,
        newton_tolerance: Some(1e-12),
        ..settings(Vsa23Parameters::Common)
    };
    let mut run = Run::new(Spring { power: 3 }, &settings, &[0.0], &[0.0]).unwrap();
    run.to(4.0).unwrap();
    let s = run.state.statistics;
    assert_eq!(s.residuals, s.newton_iterations + 2 * attempts(&s));
    assert!(s.newton_iterations > 3 * attempts(&s), "{s:?}");
}

#[test]
fn example_2_follows_its_reference_as_the_tolerance_is_tightened() {
    for (power, name) in [(3, "example2_cubic"), (2, "example2_quadratic")] {
        let exact = reference(name, 2.0);
        let errors: Vec<f64> = [1e-4, 1e-6]
            .iter()
            .map(|&tolerance| {
                let settings = SolverSettings {
                    tolerance,
                    ..settings(Vsa23Parameters::Common)
                };
                let mut run = Run::new(Spring { power }, &settings, &[0.0], &[0.0]).unwrap();
                run.to(2.0).unwrap();
                (run.state.q[0] - exact[0]).abs()
            })
            .collect();
        println!("{name} {errors:?}");
        // E is of third order, the method of first: the error falls with the cube root of the tolerance.
        assert!(errors[1] < 0.35 * errors[0], "{name}: {errors:?}");
    }
}

#[test]
fn hht_comes_within_1e_5_of_example_2_at_a_tight_tolerance() {
    for (power, name) in [(3, "example2_cubic"), (2, "example2_quadratic")] {
        let exact = reference(name, 10.0);
        let settings = SolverSettings {
            tolerance: 1e-10,
            ..SolverSettings::default()
        };
        let mut run = Run::new(Spring { power }, &settings, &[0.0], &[0.0]).unwrap();
        run.to(10.0).unwrap();
        let error = (run.state.q[0] - exact[0]).abs();
        println!("{name} {error:e}");
        assert!(error < 1e-5, "{name}: {error}");
    }
}

#[test]
fn hht_is_more_accurate_with_fewer_steps_on_the_double_pendulum() {
    // theory: section 3 of the notes: 0.16 and 0.39 at t = 1, 2 against 0.037 and 0.066.
    let hht = SolverSettings {
        step: Some(0.05),
        alpha: 0.1,
        corrector: Corrector::Off,
        ..SolverSettings::default()
    };
    let q = Chain(2).horizontal();
    for error_at in [ErrorAt::End, ErrorAt::Common] {
        let vsa = SolverSettings {
            tolerance: 1.9e-4,
            vsa23: Vsa23Settings {
                parameters: Vsa23Parameters::Common,
                error_at,
            },
            ..settings(Vsa23Parameters::Common)
        };
        let mut a = Run::new(Chain(2), &hht, &q, &[0.0; 4]).unwrap();
        let mut b = Run::new(Chain(2), &vsa, &q, &[0.0; 4]).unwrap();
        for t in [1.0, 2.0] {
            a.to(t).unwrap();
            b.to(t).unwrap();
            let exact = reference("double_pendulum", t)[..4].to_vec();
            let (ea, eb) = (apart(&a.state.q, &exact), apart(&b.state.q, &exact));
            let (na, nb) = (a.state.statistics.steps, b.state.statistics.steps);
            println!("t {t}: HHT {ea} in {na}, VSA23 {eb} in {nb}");
            assert!(na < nb && ea < 0.5 * eb, "t = {t}: {na} {ea}, {nb} {eb}");
        }
    }
}

#[test]
fn the_double_pendulum_takes_as_many_trial_steps_as_published() {
    // theory: 486 steps published for [0, 10]; the tolerance is chosen for it, the agreement shows that the error at the
    // common point neither stalls nor races. 5 % for what else is not told.
    let settings = SolverSettings {
        tolerance: 1.9e-4,
        vsa23: Vsa23Settings::default(),
        ..settings(Vsa23Parameters::Common)
    };
    let mut run = Run::new(Chain(2), &settings, &Chain(2).horizontal(), &[0.0; 4]).unwrap();
    run.to(10.0).unwrap();
    let tries = attempts(&run.state.statistics);
    assert!((462..=510).contains(&tries), "{tries}");
}

// ---- as a method of the integrator ---------------------------------------------------------------------------------

#[test]
fn systems_with_rotations_or_events_are_refused_by_name() {
    let refusal = |system: &dyn System| match Integrator::new(system, &settings(SETS[0])) {
        Err(e) => e.to_string(),
        Ok(_) => panic!("accepted"),
    };
    let text = refusal(&HeavyTop::default());
    assert!(
        text.contains("rotations") && text.contains("vsa23"),
        "{text}"
    );
    let text = refusal(&Bounce::default());
    assert!(text.contains("events"), "{text}");
}

#[test]
fn an_input_that_jumps_is_followed_at_once() {
    let settings = SolverSettings {
        tolerance: 1e-4,
        vsa23: Vsa23Settings::default(),
        ..settings(Vsa23Parameters::Common)
    };
    let mut run = Run::model(
        &Model {
            solver: settings,
            ..crate::common::slider_crank_model()
        },
        Backend::Auto,
    )
    .unwrap();
    run.to(0.01).unwrap();
    let before = run.state.acc.clone();
    run.signals.offset = 5.0;
    run.jump().unwrap();
    assert!(apart(&before, &run.state.acc) > 1.0);
    assert_eq!(norm(&run.state.a), 0.0);
    run.to(0.02).unwrap();
    assert!(run.closure() < 1e-4, "{}", run.closure());
}

#[test]
fn a_step_to_a_point_in_time_ends_there_and_interpolates_inside() {
    for set in SETS {
        let settings = SolverSettings {
            tolerance: 1e-4,
            max_step: Some(0.01),
            ..settings(set)
        };
        let mut run = Run::new(Chain(2), &settings, &Chain(2).horizontal(), &[0.0; 4]).unwrap();
        for k in 1..=20 {
            let t = 0.05 * f64::from(k);
            run.to(t).unwrap();
            assert_eq!(run.state.t, t);
        }
        let mut sample = Sample::default();
        let (t, h) = (run.state.t, run.state.h);
        run.look(t - 0.3 * h, &mut sample).unwrap();
        let (acc, lambda) = accelerations(&Chain(2), &STILL, &sample.q, &sample.v);
        assert!(apart(&acc, &sample.acc) < 1e-9 * norm(&acc));
        assert!(apart(&lambda, &sample.lambda) < 1e-9 * norm(&lambda));
        // Accelerations and multipliers of the state are those of the equations, not the scheme's.
        let s = &run.state;
        let (acc, lambda) = accelerations(&Chain(2), &STILL, &s.q, &s.v);
        assert!(apart(&acc, &s.acc) < 1e-9 * norm(&acc));
        assert!(apart(&lambda, &s.lambda) < 1e-9 * norm(&lambda));
        // HHT's memory stays empty.
        assert_eq!(norm(&s.a) + norm(&s.delta) + norm(&s.jerk), 0.0);
    }
}

#[test]
fn a_saved_state_continues_with_the_same_bits() {
    for set in SETS {
        let settings = SolverSettings {
            tolerance: 1e-4,
            // Short enough for the end of a step to stay closed, see the threshold.
            max_step: Some(0.01),
            vsa23: Vsa23Settings {
                parameters: set,
                error_at: match set {
                    Vsa23Parameters::Common => ErrorAt::Common,
                    Vsa23Parameters::Original => ErrorAt::End,
                },
            },
            ..settings(set)
        };
        let mut run = Run::new(Chain(2), &settings, &Chain(2).horizontal(), &[0.0; 4]).unwrap();
        run.to(0.5).unwrap();
        let saved: State = run.state.clone();
        run.to(1.0).unwrap();
        let first = format!("{:?}", run.state);
        run.state.copy_from(&saved);
        run.to(1.0).unwrap();
        assert_eq!(first, format!("{:?}", run.state));
        // Another integrator that knows nothing of the past.
        let mut other = Run::new(Chain(2), &settings, &Chain(2).horizontal(), &[0.0; 4]).unwrap();
        other.state.copy_from(&saved);
        other.to(1.0).unwrap();
        assert_eq!(first, format!("{:?}", other.state));
    }
}

#[test]
fn the_error_at_the_common_point_controls_a_run() {
    let settings = SolverSettings {
        tolerance: 1e-4,
        vsa23: Vsa23Settings {
            parameters: Vsa23Parameters::Common,
            error_at: ErrorAt::Common,
        },
        ..settings(Vsa23Parameters::Common)
    };
    let mut run = Run::new(Chain(2), &settings, &Chain(2).horizontal(), &[0.0; 4]).unwrap();
    run.to(1.0).unwrap();
    let exact = reference("double_pendulum", 1.0)[..4].to_vec();
    let error = apart(&run.state.q, &exact);
    println!("{error} {:?}", run.state.statistics);
    assert!(error < 0.2, "{error}");
    assert!(run.state.statistics.worst_error <= 1.0);
}

#[test]
fn a_component_steps_and_goes_back_with_it() {
    let mut model = crate::common::slider_crank_model();
    model.solver = SolverSettings {
        tolerance: 1e-4,
        vsa23: Vsa23Settings::default(),
        ..settings(Vsa23Parameters::Common)
    };
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    instance.step(0.0, 0.01).unwrap();
    let saved = instance.save().unwrap();
    let t = instance.time();
    instance.step(t, 0.02).unwrap();
    let first = crate::common::bits(&mut instance);
    instance.restore(&saved).unwrap();
    let t = instance.time();
    instance.step(t, 0.02).unwrap();
    assert_eq!(first, crate::common::bits(&mut instance));
}

#[test]
fn counters_of_a_linear_system_repeat_with_its_motion() {
    for set in SETS {
        let settings = SolverSettings {
            tolerance: 1e-4,
            ..settings(set)
        };
        let start = || Run::new(TwoOscillators, &settings, &[0.002, 10.0], &[0.0; 2]).unwrap();
        let mut run = start();
        run.to(0.7).unwrap();
        let saved = run.state.clone();
        run.to(1.4).unwrap();
        let first = format!("{:?}", run.state);
        run.state.copy_from(&saved);
        run.to(1.4).unwrap();
        assert_eq!(first, format!("{:?}", run.state));
        let mut other = start();
        other.state.copy_from(&saved);
        other.to(1.4).unwrap();
        assert_eq!(first, format!("{:?}", other.state));
    }
}
