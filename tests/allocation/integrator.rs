//! The integrator allocates nothing after its start: steps, rejected and failed ones, events, input jumps, interpolation;
//! dense and sparse, with and without the corrector. There is no warm-up. (The sparse LU, taken where LDLᵀ cannot be
//! used, may grow its storage when it meets a new pivot order: `linalg.rs`. No case here needs that. A row that
//! stops being redundant allocates too: `integrator/faults.rs`.)

use crate::allocator::calls;
use crate::common::drive::{Run, Sine, cases, live, model, model_files, sample, start};
use crate::common::systems::contacts::{Contact, Contacts};
use biela::constraint::sparsity::Backend;
use biela::formulation::relative::{PlanarRelative, SpatialRelative};
use biela::formulation::topological::Topological;
use biela::formulation::{Mechanism, System, build};
use biela::integrator::Environment;
use biela::model::{
    Corrector, ErrorAt, FormulationName, IntegratorName, Model, SolverSettings, Vsa23Parameters,
    Vsa23Settings,
};

/// Steps of each case: a fifth of the ten thousand in the ordinary tests.
fn steps() -> usize {
    match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => 10_000,
        _ => 2_000,
    }
}

/// A motion that lasts longer restarts (s).
const LONG: f64 = 1000.0;

#[test]
fn the_counter_counts() {
    let before = calls();
    std::hint::black_box(vec![0u8; 100]);
    assert_eq!(calls() - before, 1);
}

/// Many steps of every case; what happened in them, over all cases.
fn nothing_is_allocated(backend: Backend, corrector: Corrector) {
    let settings = SolverSettings {
        tolerance: 1e-4,
        corrector,
        ..SolverSettings::default()
    };
    let (mut rejected, mut failed, mut events, mut corrected) = (0, 0, 0, 0);
    let mut bad = Vec::new();
    for case in cases() {
        let mut run = start(&case, &settings, backend);
        let mut middle = sample(&run);
        let first = run.state.clone();
        let before = calls();
        for k in 0..steps() {
            live(&mut run, k, &mut middle);
            // What has come to rest takes steps of days, for which the symmetric factor gives way to the general one; that
            // one takes its memory when it is first needed.
            if run.state.t > LONG {
                let statistics = run.state.statistics;
                run.state.copy_from(&first);
                run.state.statistics = statistics;
            }
        }
        let count = calls() - before;
        if count > 0 {
            bad.push((case, count));
        }
        let s = run.state.statistics;
        assert_eq!(s.steps as usize, steps());
        rejected += s.rejected;
        failed += s.newton_failures;
        events += s.events;
        corrected += s.steps - s.steps_plain;
    }
    println!(
        "{backend:?} {corrector:?}: rejected {rejected}, failed {failed}, events {events}, corrected {corrected}"
    );
    assert!(bad.is_empty(), "allocations: {bad:?}");
    // A tenth of the steps of one case is rejected, a hundredth fails, over all cases; so many and more.
    let steps = steps() as u64;
    assert!(rejected > steps / 10 && failed > steps / 100 && events > steps / 100);
    assert_eq!(corrected > steps, corrector == Corrector::Auto);
}

#[test]
fn dense_steps_allocate_nothing() {
    nothing_is_allocated(Backend::Dense, Corrector::Off);
    nothing_is_allocated(Backend::Dense, Corrector::Auto);
}

#[test]
fn sparse_steps_allocate_nothing() {
    nothing_is_allocated(Backend::Sparse, Corrector::Off);
    nothing_is_allocated(Backend::Sparse, Corrector::Auto);
}

#[test]
fn a_thousand_steps_of_vsa23_allocate_nothing() {
    for backend in [Backend::Dense, Backend::Sparse] {
        for parameters in [Vsa23Parameters::Common, Vsa23Parameters::Original] {
            let settings = SolverSettings {
                integrator: IntegratorName::Vsa23,
                vsa23: Vsa23Settings {
                    parameters,
                    error_at: ErrorAt::End,
                },
                tolerance: 1e-3,
                max_step: Some(0.02),
                ..SolverSettings::default()
            };
            for case in ["oscillator", "pendulum", "chain", "double pendulum"] {
                let mut run = start(case, &settings, backend);
                let mut middle = sample(&run);
                let before = calls();
                for k in 0..1000 {
                    live(&mut run, k, &mut middle);
                }
                assert_eq!(calls() - before, 0, "{case}, {backend:?}, {parameters:?}");
            }
        }
    }
}

/// A model in relative coordinates, with matrices in joint coordinates or at the level of bodies.
fn relative(file: &str, settings: &SolverSettings, lifted: bool) -> Run<dyn System> {
    let model = Model {
        solver: *settings,
        ..model(file)
    };
    let mechanism: Box<dyn Mechanism> = match model.dimension {
        2 => Box::new(PlanarRelative::with(&model, &[], Some(lifted)).unwrap()),
        _ => Box::new(SpatialRelative::with(&model, &[], Some(lifted)).unwrap()),
    };
    assert_eq!(mechanism.descriptor_form().is_some(), lifted);
    begun(mechanism, &model, settings, file)
}

/// A mechanism from its start as written.
fn begun(
    mechanism: Box<dyn Mechanism>,
    model: &Model,
    settings: &SolverSettings,
    file: &str,
) -> Run<dyn System> {
    let size = mechanism.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    mechanism.initial_state(&mut q, &mut v);
    let parameters = model.parameters.iter().map(|p| p.start).collect();
    let system: Box<dyn System> = mechanism;
    let signals = Sine::default();
    Run::begin(
        system,
        settings,
        Backend::Auto,
        (&q, &v),
        parameters,
        signals,
    )
    .unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn steps_in_independent_coordinates_and_repartitions_allocate_nothing() {
    let mut chosen = 0;
    for corrector in [Corrector::Off, Corrector::Auto] {
        let settings = SolverSettings {
            formulation: FormulationName::Topological,
            corrector,
            tolerance: 1e-4,
            ..SolverSettings::default()
        };
        for file in model_files() {
            let model = Model {
                solver: settings,
                ..model(&file)
            };
            // Systems given by their matrices, and trees, are not these.
            let guide: &[&str] = &["guide.position"];
            let system = match model.system {
                Some(_) => None,
                None => Topological::with(&model, guide).unwrap(),
            };
            let Some(system) = system else { continue };
            let mut run = begun(Box::new(system), &model, &settings, &file);
            let mut middle = sample(&run);
            let first = run.state.clone();
            let size = run.system.dimensions();
            let before = calls();
            for k in 0..300 {
                // Own coordinates begin with zero where they are chosen.
                let far = run.state.q[..size.nv].iter().any(|y| y.abs() > 0.1);
                live(&mut run, k, &mut middle);
                chosen += u32::from(far && run.state.q[..size.nv].iter().all(|y| *y == 0.0));
                if run.state.t > LONG {
                    let statistics = run.state.statistics;
                    run.state.copy_from(&first);
                    run.state.statistics = statistics;
                }
            }
            assert_eq!(calls() - before, 0, "{file}, {corrector:?}");
        }
    }
    println!("repartitioned {chosen} times");
    assert!(chosen > 2);
}

#[test]
fn steps_in_relative_coordinates_allocate_nothing() {
    let (mut rejected, mut failed, mut events, mut corrected) = (0, 0, 0, 0);
    for formulation in [FormulationName::Relative, FormulationName::Hybrid] {
        for corrector in [Corrector::Off, Corrector::Auto] {
            let settings = SolverSettings {
                formulation,
                corrector,
                tolerance: 1e-4,
                ..SolverSettings::default()
            };
            // A system given by its matrices has its own coordinates.
            let files = model_files()
                .into_iter()
                .filter(|file| file != "double_oscillator.toml");
            for file in files {
                for lifted in [false, true] {
                    let mut run = relative(&file, &settings, lifted);
                    let mut middle = sample(&run);
                    let first = run.state.clone();
                    let before = calls();
                    for k in 0..300 {
                        live(&mut run, k, &mut middle);
                        if run.state.t > LONG {
                            let statistics = run.state.statistics;
                            run.state.copy_from(&first);
                            run.state.statistics = statistics;
                        }
                    }
                    let count = calls() - before;
                    assert_eq!(count, 0, "{file}, {formulation:?}, {corrector:?}, {lifted}");
                    let s = run.state.statistics;
                    rejected += s.rejected;
                    failed += s.newton_failures;
                    events += s.events;
                    corrected += s.steps - s.steps_plain;
                }
            }
        }
    }
    println!("rejected {rejected}, failed {failed}, events {events}, corrected {corrected}");
    assert!(rejected > 100 && failed > 10 && events > 10 && corrected > 1000);
}

/// All models in natural coordinates.
#[test]
fn steps_in_natural_coordinates_allocate_nothing() {
    let (mut events, mut corrected) = (0, 0);
    for corrector in [Corrector::Off, Corrector::Auto] {
        let settings = SolverSettings {
            formulation: FormulationName::Global,
            corrector,
            tolerance: 1e-4,
            ..SolverSettings::default()
        };
        let files = model_files()
            .into_iter()
            .filter(|file| file != "double_oscillator.toml");
        for file in files {
            let model = Model {
                solver: settings,
                ..model(&file)
            };
            let mut run = begun(build(&model).unwrap(), &model, &settings, &file);
            let mut middle = sample(&run);
            let first = run.state.clone();
            let before = calls();
            for k in 0..200 {
                live(&mut run, k, &mut middle);
                if run.state.t > LONG {
                    let statistics = run.state.statistics;
                    run.state.copy_from(&first);
                    run.state.statistics = statistics;
                }
            }
            assert_eq!(calls() - before, 0, "{file}, {corrector:?}");
            events += run.state.statistics.events;
            corrected += run.state.statistics.steps_corrected + run.state.statistics.steps_smooth;
        }
    }
    println!("events {events}, corrected {corrected}");
    assert!(events > 10 && corrected > 1000);
}

/// A door on two hinges: what they carry is shared out on demand.
#[test]
fn reactions_of_redundant_joints_allocate_nothing_when_they_are_read() {
    let mut text = String::from(
        "format = 1\nname = \"door\"\ngravity = [0.0, 1.0, -9.81]\n[[body]]\nname = \"door\"\nmass = 10.0\n\
         inertia = [1.0, 2.0, 1.5]\nposition = [0.5, 0.0, 0.0]\n",
    );
    for z in [0.5, -0.5] {
        let name = if z > 0.0 { "upper" } else { "lower" };
        text += &format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"ground\", \"door\"]\n\
             point = [0.0, 0.0, {z:?}]\naxis = [0.0, 0.0, 1.0]\n"
        );
    }
    for formulation in [
        FormulationName::Relative,
        FormulationName::Hybrid,
        FormulationName::Global,
    ] {
        let mut model = Model::from_text(&text, "door").unwrap();
        model.solver.formulation = formulation;
        let mut run = Run::model(&model, Backend::Auto).unwrap();
        let mut lambda = vec![0.0; run.state.lambda.len()];
        let before = calls();
        for k in 1..=10 {
            run.to(0.05 * f64::from(k)).unwrap();
            let env = Environment {
                signals: &run.signals,
                parameters: &run.parameters,
            };
            (run.integrator)
                .reactions(&*run.system, &env, &run.state, &mut lambda)
                .unwrap();
            // Each hinge carries half of the weight.
            let half = lambda.iter().any(|x| (x.abs() - 49.05).abs() < 1e-4);
            assert!(half, "{formulation:?}: {lambda:?}");
        }
        assert_eq!(calls() - before, 0, "{formulation:?}");
    }
}

#[test]
fn landings_on_singular_positions_and_simultaneous_impacts_allocate_nothing() {
    // The bars of the double four-bar are in line (closed form, tests/reference/n_four_bar_2.csv).
    let singular = [
        0.7143555292929604,
        1.2281593933141233,
        2.656870451900044,
        3.170674315921207,
    ];
    for backend in [Backend::Dense, Backend::Sparse] {
        for corrector in [Corrector::Off, Corrector::Auto] {
            let settings = SolverSettings {
                tolerance: 1e-4,
                corrector,
                ..SolverSettings::default()
            };
            let mut run = start("double_four_bar.toml", &settings, backend);
            let mut lambda = vec![0.0; run.state.lambda.len()];
            let before = calls();
            for t in singular {
                run.to(t).unwrap();
                run.jump().unwrap();
                let env = Environment {
                    signals: &run.signals,
                    parameters: &run.parameters,
                };
                let outcome = run
                    .integrator
                    .reactions(&*run.system, &env, &run.state, &mut lambda);
                outcome.unwrap();
            }
            assert_eq!(calls() - before, 0, "{backend:?} {corrector:?}");
        }
    }
    let balls = Contacts {
        mass: vec![1.0; 5],
        force: vec![0.0; 5],
        springs: (0..5).map(|i| (1.0, f64::from(i))).collect(),
        contacts: (0..4)
            .map(|i| {
                let mut g = [0.0; 5];
                (g[i], g[i + 1]) = (-1.0, 1.0);
                Contact::new(&g, 1.0, 1.0, 0.0)
            })
            .collect(),
    };
    let q = [-0.5, 1.0, 2.0, 3.0, 4.0];
    let mut run = Run::new(balls, &SolverSettings::default(), &q, &[0.0; 5]).unwrap();
    let before = calls();
    run.to(10.0).unwrap();
    assert_eq!(calls() - before, 0);
    assert!(run.state.statistics.events >= 12);
}
