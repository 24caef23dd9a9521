//! What can go wrong is said in a sentence that names the culprit, and leaves the state as it was: masses that are missing,
//! loops that do not close, forces that are not numbers, settings out of range.

use std::sync::atomic::Ordering;

use crate::common::drive::{AsSystem, Run, bare, model};
use crate::common::systems::bounce::Bounce;
use crate::common::systems::chain::Chain;
use crate::common::systems::fragile::{Break, Fragile, Place};
use crate::common::systems::impact::Impact;
use crate::common::systems::oscillator::Oscillator;
use crate::common::systems::pendulum::Pendulum;
use crate::redundant::three_bars;
use biela::Error;
use biela::component::Instance;
use biela::constraint::sparsity::Backend;
use biela::formulation::{
    ConfigurationSpace, Dimensions, Evaluated, EvaluationContext, EvaluationFailure, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};
use biela::integrator::{Environment, Integrator, State};
use biela::model::{Corrector, Model, SolverSettings};

pub(super) fn read(text: &str) -> Model {
    Model::from_text(text, "test.toml").unwrap_or_else(|e| panic!("{e}"))
}

/// A file of `models` with a part of its text replaced.
pub(super) fn edited(file: &str, part: &str, instead: &str) -> Model {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models")
        .join(file);
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(part), "{part}");
    read(&text.replacen(part, instead, 1))
}

fn start_error<S: System>(system: S, q: &[f64], v: &[f64]) -> Error {
    match Run::new(system, &SolverSettings::default(), q, v) {
        Ok(_) => panic!("started"),
        Err(e) => e,
    }
}

fn model_error(model: &Model) -> Error {
    let mut errors =
        [Backend::Dense, Backend::Sparse].map(|backend| match Run::model(model, backend) {
            Ok(_) => panic!("started with {backend:?}"),
            Err(e) => e,
        });
    let mut blamed = errors.each_ref().map(|error| match error {
        // Worst first; nearly equal ones may change places.
        Error::Assembly { culprits, .. } => culprits.clone(),
        other => vec![other.to_string()],
    });
    blamed.iter_mut().for_each(|names| names.sort());
    assert_eq!(blamed[0], blamed[1], "dense and sparse");
    std::mem::replace(&mut errors[0], Error::Cancelled { time: 0.0 })
}

// ---- masses ------------------------------------------------------------------------------------------------------------

/// q1'' = 1, 0 q2'' = 2; with `tied` q2 = q1.
struct Massless {
    tied: bool,
}

impl System for Massless {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 2,
            nv: 2,
            nc: usize::from(self.tied),
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0), (1, 1)],
            jacobian: if self.tied {
                vec![(0, 0), (0, 1)]
            } else {
                vec![]
            },
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[a[0], 0.0]);
    }

    fn force(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out.copy_from_slice(&[1.0, 2.0]);
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        out.copy_from_slice(&[weights.mass, 0.0]);
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        if self.tied {
            phi[0] = q[1] - q[0];
        }
    }

    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], out: &mut [f64]) {
        if self.tied {
            out.copy_from_slice(&[-1.0, 1.0]);
        }
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        gamma: &mut [f64],
    ) {
        gamma.fill(0.0);
    }
}

impl ConfigurationSpace for Massless {}

impl HybridSystem for Massless {}

#[test]
fn a_free_coordinate_without_mass_is_named() {
    let error = start_error(Massless { tied: false }, &[0.0; 2], &[0.0; 2]);
    assert_eq!(
        error,
        Error::SingularMass {
            culprit: "q2".into()
        }
    );
    assert_eq!(
        error.to_string(),
        "\"q2\" has no mass and no constraint fixes it"
    );
}

#[test]
fn a_massless_coordinate_that_a_constraint_fixes_moves_with_the_others() {
    for backend in [Backend::Dense, Backend::Sparse] {
        for corrector in [Corrector::Off, Corrector::Auto] {
            let settings = SolverSettings {
                corrector,
                ..SolverSettings::default()
            };
            let mut run = Run::begin(
                Box::new(Massless { tied: true }),
                &settings,
                backend,
                (&[0.0; 2], &[0.0; 2]),
                vec![],
                Default::default(),
            )
            .unwrap();
            run.to(1.0).unwrap();
            // q'' = 3 exactly: HHT integrates constant accelerations without error; what is left is rounding.
            for q in &run.state.q {
                assert!((q - 1.5).abs() < 1e-12, "{:?}", run.state);
            }
            assert!((run.state.lambda[0] - 2.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_free_body_without_mass_or_inertia_is_named() {
    for (mass, inertia, culprit) in [
        ("0.0", "0.0", "ghost.x"),
        ("0.0", "1.0", "ghost.x"),
        ("1.0", "0.0", "ghost.angle"),
    ] {
        let text = format!(
            "format = 1\nname = \"t\"\ndimension = 2\ngravity = [0.0, -9.81]\n\
             [[body]]\nname = \"solid\"\nmass = 1.0\ninertia = 1.0\nposition = [0.0, 0.0]\n\
             [[body]]\nname = \"ghost\"\nmass = {mass}\ninertia = {inertia}\nposition = [1.0, 0.0]\n"
        );
        match model_error(&read(&text)) {
            Error::SingularMass { culprit: named } => assert_eq!(named, culprit),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_pinned_bar_whose_turning_nothing_resists_is_named() {
    // Its mass sits in the pin: turning costs nothing.
    let text = "format = 1\nname = \"t\"\ndimension = 2\ngravity = [0.0, -9.81]\n\
         [[body]]\nname = \"needle\"\nmass = 1.0\ninertia = 0.0\nposition = [0.0, 0.0]\n\
         [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"needle\"]\npoint = [0.0, 0.0]\n";
    match model_error(&read(text)) {
        Error::SingularMass { culprit } => assert_eq!(culprit, "needle.angle"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_massless_rod_between_two_pins_carries_its_bob_like_a_pendulum() {
    let solver = SolverSettings {
        tolerance: 1e-7,
        ..SolverSettings::default()
    };
    let mut plain = model("pendulum.toml");
    plain.solver = solver;
    let mut rod = read(
        "format = 1\nname = \"t\"\ndimension = 2\ngravity = [0.0, -9.81]\n\
         [[body]]\nname = \"rod\"\nmass = 0.0\ninertia = 0.0\nposition = [0.3, 0.0]\n\
         [[body]]\nname = \"bob\"\nmass = 1.0\ninertia = 0.1\nposition = [1.0, 0.0]\n\
         [[joint]]\nname = \"pivot\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rod\"]\npoint = [0.0, 0.0]\n\
         [[joint]]\nname = \"end\"\ntype = \"revolute\"\nbodies = [\"rod\", \"bob\"]\npoint = [1.0, 0.0]\n",
    );
    rod.solver = solver;
    for backend in [Backend::Dense, Backend::Sparse] {
        let mut runs = [&plain, &rod].map(|m| Run::model(m, backend).unwrap());
        for run in &mut runs {
            run.to(2.0).unwrap();
        }
        let (a, b) = (&runs[0].state.q, &runs[1].state.q);
        // With the corrector the global error is at most ten tolerances; both runs have one.
        for axis in 0..2 {
            assert!((a[axis] - b[3 + axis]).abs() < 20.0 * 1e-7, "{a:?} {b:?}");
        }
    }
}

// ---- loops -------------------------------------------------------------------------------------------------------------

#[test]
fn a_loop_that_cannot_close_is_refused_by_the_names_of_its_joints() {
    // The coupler is 9 m long; ground, crank and rocker together reach 2 m.
    let model = edited(
        "four_bar.toml",
        "at = [{ point = [0.15, 0.0] }, { point = [-0.45, 0.0] }]",
        "at = [{ point = [0.15, 0.0] }, { point = [-8.55, 0.0] }]",
    );
    let Error::Assembly {
        closure, culprits, ..
    } = model_error(&model)
    else {
        panic!("{}", model_error(&model));
    };
    assert!(closure > 0.05, "{closure}");
    for joint in &culprits {
        assert!(
            ["A", "B", "C", "D"].contains(&joint.as_str()),
            "{culprits:?}"
        );
    }
    assert!(culprits.len() >= 2, "{culprits:?}");
}

#[test]
fn slides_that_contradict_each_other_are_both_named() {
    let model = read(
        "format = 1\nname = \"t\"\ndimension = 2\n\
         [[body]]\nname = \"block\"\nmass = 1.0\ninertia = 0.1\nposition = [0.0, 0.2]\n\
         [[joint]]\nname = \"low\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"block\"]\n\
         at = [{ point = [0.0, 0.0], axis = [1.0, 0.0] }, { point = [0.0, 0.0], axis = [1.0, 0.0] }]\n\
         [[joint]]\nname = \"high\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"block\"]\n\
         at = [{ point = [0.0, 1.0], axis = [1.0, 0.0] }, { point = [0.0, 0.0], axis = [1.0, 0.0] }]\n",
    );
    let Error::Assembly {
        closure, culprits, ..
    } = model_error(&model)
    else {
        panic!("{}", model_error(&model));
    };
    let mut named = culprits.clone();
    named.sort();
    assert_eq!(named, ["high", "low"]);
    assert!(closure > 0.1, "{closure}");
}

#[test]
fn a_start_that_fails_leaves_the_state_alone_and_the_integrator_usable() {
    let settings = SolverSettings::default();
    let system = Pendulum::default();
    let mut integrator = Integrator::new(&system, &settings).unwrap();
    let env = Environment {
        signals: &(),
        parameters: &[],
    };
    let mut state = State::default();
    integrator
        .start(&system, &env, 0.0, &[1.0, 0.0], &[0.0; 2], &mut state)
        .unwrap();
    let before = state.clone();
    // At the pivot the rod has no direction.
    let error = integrator
        .start(&system, &env, 0.0, &[0.0; 2], &[0.0; 2], &mut state)
        .unwrap_err();
    assert!(error.to_string().contains("lambda1"), "{error}");
    assert_eq!(state, before);
    let nan = [f64::NAN, 0.0];
    let error = integrator
        .start(&system, &env, 0.0, &nan, &[0.0; 2], &mut state)
        .unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
    assert_eq!(state, before);
    while state.t < 0.5 {
        integrator.advance(&system, &env, &mut state, 0.5).unwrap();
    }
}

// ---- forces that are not numbers ----------------------------------------------------------------------------------------

/// Runs cos 10 t into q < −0.5, where the force breaks, mends it, and goes on.
fn breaks_in_mid_run(how: Break, expected: fn(&Error) -> bool) {
    let place: Place = |_, q, _| q[0] < -0.5;
    for corrector in [Corrector::Off, Corrector::Auto] {
        let settings = SolverSettings {
            corrector,
            ..SolverSettings::default()
        };
        let system = Fragile::new(Oscillator::default(), place, how);
        let mut run = Run::new(system, &settings, &[1.0], &[0.0]).unwrap();
        let error = loop {
            let before = bare(&run.state);
            if let Err(error) = run.advance(1.0) {
                assert_eq!(bare(&run.state), before, "{error}");
                break error;
            }
        };
        assert!(expected(&error), "{how:?}: {error:?}");
        // cos 10 t = −1/2 at t = 2π/30. The phase is wrong by the global error over the speed, 9 m/s: at most 1e3
        // tolerances of plain HHT. One that stops at once stops up to a step earlier.
        let exact = std::f64::consts::PI / 15.0;
        let early = match how {
            Break::Fault(EvaluationFailure::Fatal(_)) => run.state.next_h,
            _ => 0.0,
        };
        assert!(
            run.state.t < exact + 1e-4 && run.state.t > exact - 1e-4 - early,
            "{how:?} {corrector:?}: {} instead of {exact}",
            run.state.t
        );
        assert!(
            error.to_string().contains(&run.state.t.to_string()[..7]),
            "{error}"
        );

        run.system.mended.store(true, Ordering::Relaxed);
        run.to(1.0).unwrap();
        let (q, _) = Oscillator::default().exact(1.0, 0.0, 1.0);
        // 1e3 tolerances, as above.
        assert!((run.state.q[0] - q).abs() < 1e-3, "{} {q}", run.state.q[0]);
    }
}

#[test]
fn a_force_that_becomes_nan_or_infinite_names_its_coordinate() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        breaks_in_mid_run(
            Break::Value(0, x),
            |e| matches!(e, Error::Evaluation { culprit, .. } if culprit == "q1"),
        );
    }
}

#[test]
fn a_recoverable_callback_failure_beyond_a_wall_ends_the_run_at_the_wall() {
    breaks_in_mid_run(Break::Fault(EvaluationFailure::Recoverable(7)), |e| {
        matches!(e, Error::Callback { code: 7, .. })
    });
}

#[test]
fn a_fatal_callback_failure_stops_at_once() {
    breaks_in_mid_run(Break::Fault(EvaluationFailure::Fatal(-3)), |e| {
        matches!(e, Error::Callback { code: -3, .. })
    });
    let place: Place = |_, q, _| q[0] < -0.5;
    let how = Break::Fault(EvaluationFailure::Fatal(-3));
    let system = Fragile::new(Oscillator::default(), place, how);
    let mut run = Run::new(system, &SolverSettings::default(), &[1.0], &[0.0]).unwrap();
    let _ = run.to(1.0).unwrap_err();
    let failures = run.state.statistics.newton_failures;
    assert!(failures <= 1, "{failures} further attempts after a stop");
}

#[test]
fn evaluation_failures_at_the_start_name_their_culprit() {
    let everywhere: Place = |_, _, _| true;
    let broken = |how| Fragile::new(Chain(2), everywhere, how);
    let start = |how| start_error(broken(how), &[1.0, 0.0, 2.0, 0.0], &[0.0; 4]);
    for x in [f64::NAN, f64::INFINITY] {
        let error = start(Break::Value(3, x));
        assert_eq!(
            error,
            Error::Evaluation {
                time: 0.0,
                culprit: "q4".into()
            }
        );
        let error = start(Break::Row(1, x));
        assert_eq!(
            error,
            Error::Evaluation {
                time: 0.0,
                culprit: "rod2".into()
            }
        );
    }
    for fault in [
        EvaluationFailure::Recoverable(5),
        EvaluationFailure::Fatal(5),
    ] {
        let error = start(Break::Fault(fault));
        assert_eq!(error, Error::Callback { time: 0.0, code: 5 });
    }
}

#[test]
fn a_constraint_that_becomes_nan_names_its_joint() {
    let place: Place = |t, _, _| t > 0.3;
    let system = Fragile::new(Chain(2), place, Break::Row(1, f64::NAN));
    let q = Chain(2).horizontal();
    let mut run = Run::new(system, &SolverSettings::default(), &q, &[0.0; 4]).unwrap();
    let error = run.to(1.0).unwrap_err();
    let Error::Evaluation { time, culprit } = &error else {
        panic!("{error}");
    };
    assert_eq!(culprit, "rod2");
    assert!(*time <= 0.3 && *time > 0.3 - 1e-9, "{time}");
}

#[test]
fn an_event_after_which_the_force_fails_leaves_the_state_before_it() {
    // The force breaks in the mode that the event enters.
    let place: Place = |_, q, v| q[0] >= 0.2499999 && v[0].is_finite();
    for how in [
        Break::Value(0, f64::NAN),
        Break::Fault(EvaluationFailure::Recoverable(2)),
        Break::Fault(EvaluationFailure::Fatal(-2)),
    ] {
        let system = Fragile::new(Impact::default(), place, how);
        let mut run = Run::new(system, &SolverSettings::default(), &[-1.0], &[0.0]).unwrap();
        let error = loop {
            let before = bare(&run.state);
            if let Err(error) = run.advance(1.0) {
                assert_eq!(bare(&run.state), before, "{error}");
                break error;
            }
        };
        assert_eq!(run.state.modes, [0], "{error}");
        run.system.mended.store(true, Ordering::Relaxed);
        run.to(1.0).unwrap();
        assert!(run.state.statistics.events > 0);
    }
}

/// The bouncing mass, whose force fails on the way up for the first time: right after the impact, in the restart.
#[test]
fn a_restart_that_fails_takes_back_the_event() {
    let place: Place = |_, _, v| v[1] > 0.0;
    let system = Fragile::new(Bounce::default(), place, Break::Value(1, f64::NAN));
    let mut run = Run::new(
        system,
        &SolverSettings::default(),
        &[0.0, 1.0],
        &[1.0, -0.5],
    )
    .unwrap();
    let error = loop {
        let before = bare(&run.state);
        if let Err(error) = run.advance(10.0) {
            assert_eq!(bare(&run.state), before, "{error}");
            break error;
        }
    };
    assert!(matches!(&error, Error::Evaluation { culprit, .. } if culprit == "q2"));
    assert!(run.state.v[1] < 0.0 && run.state.t < (2.0f64 / 9.81).sqrt());
    run.system.mended.store(true, Ordering::Relaxed);
    run.to(1.0).unwrap();
    assert!(run.state.statistics.events > 0);
}

#[test]
fn an_input_jump_that_fails_changes_nothing() {
    let place: Place = |t, _, _| t >= 0.2;
    let system = Fragile::new(Bounce::default(), place, Break::Value(0, f64::NAN));
    let mut run = Run::new(system, &SolverSettings::default(), &[0.0, 1.0], &[1.0, 0.0]).unwrap();
    run.system.mended.store(true, Ordering::Relaxed);
    run.to(0.2).unwrap();
    run.system.mended.store(false, Ordering::Relaxed);
    run.signals.offset = 3.0;
    let before = bare(&run.state);
    let error = run.jump().unwrap_err();
    assert!(
        matches!(&error, Error::Evaluation { culprit, time } if culprit == "q1" && *time == 0.2)
    );
    assert_eq!(bare(&run.state), before);
}

// ---- settings ----------------------------------------------------------------------------------------------------------

#[test]
fn settings_out_of_range_are_refused_by_name_from_code_and_from_a_file() {
    let good = SolverSettings::default();
    let nan = f64::NAN;
    let bad = [
        (
            "alpha",
            "-0.1",
            SolverSettings {
                alpha: -0.1,
                ..good
            },
        ),
        (
            "alpha",
            "0.34",
            SolverSettings {
                alpha: 0.34,
                ..good
            },
        ),
        ("alpha", "nan", SolverSettings { alpha: nan, ..good }),
        (
            "tolerance",
            "0.0",
            SolverSettings {
                tolerance: 0.0,
                ..good
            },
        ),
        (
            "tolerance",
            "-1e-6",
            SolverSettings {
                tolerance: -1e-6,
                ..good
            },
        ),
        (
            "tolerance",
            "inf",
            SolverSettings {
                tolerance: f64::INFINITY,
                ..good
            },
        ),
        (
            "tolerance",
            "nan",
            SolverSettings {
                tolerance: nan,
                ..good
            },
        ),
        (
            "step",
            "0.0",
            SolverSettings {
                step: Some(0.0),
                ..good
            },
        ),
        (
            "step",
            "-0.01",
            SolverSettings {
                step: Some(-0.01),
                ..good
            },
        ),
        (
            "min_step",
            "-1.0",
            SolverSettings {
                min_step: Some(-1.0),
                ..good
            },
        ),
        (
            "max_step",
            "0.0",
            SolverSettings {
                max_step: Some(0.0),
                ..good
            },
        ),
        (
            "initial_step",
            "inf",
            SolverSettings {
                initial_step: Some(f64::INFINITY),
                ..good
            },
        ),
        (
            "length",
            "0.0",
            SolverSettings {
                length: Some(0.0),
                ..good
            },
        ),
        (
            "newton_tolerance",
            "0.0",
            SolverSettings {
                newton_tolerance: Some(0.0),
                ..good
            },
        ),
        (
            "max_substeps",
            "0",
            SolverSettings {
                max_substeps: 0,
                ..good
            },
        ),
    ];
    for (key, value, solver) in bad {
        match Integrator::new(&Oscillator::default(), &solver) {
            Err(Error::Argument { name, .. }) => assert_eq!(name, format!("solver.{key}")),
            Err(other) => panic!("{key} = {value}: {other}"),
            Ok(_) => panic!("{key} = {value} was accepted"),
        }
        let text = format!(
            "format = 1\nname = \"t\"\ndimension = 2\n[solver]\n{key} = {value}\n\
             [[body]]\nname = \"b\"\nmass = 1.0\ninertia = 1.0\nposition = [0.0, 0.0]\n"
        );
        let error = match Model::from_text(&text, "t.toml") {
            Err(error) => error,
            Ok(_) => panic!("{key} = {value} was accepted"),
        };
        let sentence = error.to_string();
        assert!(
            sentence.starts_with("t.toml:5:") && sentence.contains(key),
            "{sentence}"
        );
    }
}

// ---- fixed steps -------------------------------------------------------------------------------------------------------

#[test]
fn a_fixed_step_that_does_not_converge_is_an_error_with_time_and_culprit() {
    let mut model = model("slider_crank.toml");
    model.solver.step = Some(0.5); // nearly a turn of the crank
    for backend in [Backend::Dense, Backend::Sparse] {
        let mut run = Run::model(&model, backend).unwrap();
        let before = bare(&run.state);
        let error = run.to(5.0).unwrap_err();
        let Error::NewtonDiverged {
            time,
            step,
            ref culprit,
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((time, step), (run.state.t, 0.5));
        let part = culprit.split('.').next().unwrap();
        let known = ["crank", "rod", "slider", "pivot", "pin", "wrist", "guide"];
        assert!(known.contains(&part), "{error}");
        assert_eq!(run.state.statistics.newton_failures, 1);
        if run.state.statistics.steps == 0 {
            assert_eq!(bare(&run.state), before);
        }
    }
}

// ---- the component says the same ------------------------------------------------------------------------------------------

#[test]
fn an_instance_says_the_same_sentences() {
    let mut instance = Instance::from_model(three_bars(1.0)).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let report = instance.start_report().unwrap();
    assert_eq!(report.rank, 11);
    let mut instance = Instance::from_model(edited(
        "four_bar.toml",
        "{ point = [-0.45, 0.0] }",
        "{ point = [-8.55, 0.0] }",
    ))
    .unwrap();
    let sentence = instance
        .initialize(0.0, f64::INFINITY, 0.0)
        .unwrap_err()
        .to_string();
    assert!(
        sentence.starts_with("the mechanism cannot be assembled: \""),
        "{sentence}"
    );
    assert!(!instance.is_running());
}

/// Keeps the helper trait in use where a run's type is known.
#[test]
fn a_run_knows_its_system() {
    let run = Run::new(
        Pendulum::default(),
        &SolverSettings::default(),
        &[1.0, 0.0],
        &[0.0; 2],
    )
    .unwrap();
    assert_eq!(run.system.get().dimensions().nc, 1);
}
