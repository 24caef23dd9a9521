//! Redundant constraints are named and change nothing; those that become independent are enforced, those that contradict are errors.

use crate::common::drive::{Run, Sine, bare, model};
use crate::common::systems::bounce::Bounce;
use crate::common::systems::parting::Parting;
use crate::faults::{edited, read};
use biela::constraint::sparsity::Backend;
use biela::formulation::{
    ConfigurationSpace, Crossing, Dimensions, Evaluated, EvaluationContext, EventEffect,
    HybridSystem, MotionPoint, Properties, Sparsity, System, TangentWeights,
};
use biela::model::{Corrector, Model, SolverSettings};

/// Closure of every row after every step at or below this: DESIGN asks for 1e-10, the step aims at rounding.
const CLOSED: f64 = 1e-12;

fn follow(run: &mut Run<dyn System>, t_end: f64) {
    while run.state.t < t_end {
        run.advance(t_end).unwrap_or_else(|e| panic!("{e}"));
        assert!(
            run.closure() <= CLOSED,
            "{} at {}",
            run.closure(),
            run.state.t
        );
    }
}

#[test]
fn a_doubled_joint_is_named_and_changes_nothing() {
    let second = "[[joint]]\nname = \"again\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rocker\"]\n\
        at = [{ point = [1.0, 0.0] }, { point = [0.0, 0.0] }]\n\n[[force]]\nname = \"damper\"";
    for (backend, corrector) in [
        (Backend::Dense, Corrector::Off),
        (Backend::Sparse, Corrector::Off),
        (Backend::Dense, Corrector::Auto),
        (Backend::Sparse, Corrector::Auto),
    ] {
        let mut once = model("four_bar.toml");
        let mut twice = edited("four_bar.toml", "[[force]]\nname = \"damper\"", second);
        for model in [&mut once, &mut twice] {
            model.solver.corrector = corrector;
        }
        let mut once = Run::model(&once, backend).unwrap();
        let mut twice = Run::model(&twice, backend).unwrap();
        assert_eq!((once.report.rank, once.report.redundant.len()), (8, 0));
        assert_eq!(twice.report.rank, 8);
        assert_eq!(twice.report.redundant, ["again"]);
        follow(&mut once, 1.0);
        follow(&mut twice, 1.0);
        // The equations solved are the same but for the order of elimination: rounding, grown by the motion, and what
        // Newton's tolerance (1e-9) leaves.
        for (a, b) in once.state.q.iter().zip(&twice.state.q) {
            assert!((a - b).abs() < 1e-7, "{backend:?} {corrector:?} {a} {b}");
        }
        assert_eq!(once.state.statistics.steps, twice.state.statistics.steps);
    }
}

/// A parallelogram on three equal bars with one coupler over all of them: 12 coordinates, 12 rows, rank 11. `speed` is that
/// of the bars at the start, clockwise from upright.
pub(super) fn three_bars(speed: f64) -> Model {
    let mut text = String::from(
        "format = 1\nname = \"t\"\ndimension = 2\ngravity = [0.0, -9.81]\n[solver]\ntolerance = 1e-7\n",
    );
    for k in 0..3 {
        text += &format!(
            "[[body]]\nname = \"bar{k}\"\nmass = 1.0\ninertia = 0.08333333333333333\nposition = [{k}.0, 0.5]\n\
             angle = 1.5707963267948966\nvelocity = [{}, 0.0]\nangular_velocity = {}\n",
            0.5 * speed,
            -speed
        );
    }
    text += &format!(
        "[[body]]\nname = \"coupler\"\nmass = 2.0\ninertia = 0.6666666666666666\nposition = [1.0, 1.0]\nvelocity = [{speed:?}, 0.0]\n"
    );
    for k in 0..3 {
        text += &format!(
            "[[joint]]\nname = \"A{k}\"\ntype = \"revolute\"\nbodies = [\"ground\", \"bar{k}\"]\npoint = [{k}.0, 0.0]\n\
             [[joint]]\nname = \"B{k}\"\ntype = \"revolute\"\nbodies = [\"bar{k}\", \"coupler\"]\npoint = [{k}.0, 1.0]\n"
        );
    }
    read(&text)
}

#[test]
fn the_redundant_third_bar_of_a_parallelogram_is_detected_and_named() {
    // One angle from upright: (3/3 + 2) θ'' = (3/2 + 2) g sin θ. Its energy gives the speed at any angle.
    let speed_at = |theta: f64| (1.0 + 2.0 * 3.5 / 3.0 * 9.81 * (1.0 - theta.cos())).sqrt();
    for backend in [Backend::Dense, Backend::Sparse] {
        let mut run = Run::model(&three_bars(1.0), backend).unwrap();
        assert_eq!(run.report.rank, 11);
        assert_eq!(run.report.redundant.len(), 1, "{:?}", run.report.redundant);
        follow(&mut run, 0.5);
        let s = &run.state;
        let angle = |b: usize| std::f64::consts::FRAC_PI_2 - s.q[3 * b + 2];
        assert!(angle(0) > 0.5 && angle(0) < 1.5, "{}", angle(0));
        for b in 0..3 {
            assert!((angle(b) - angle(0)).abs() < 1e-11);
            // Ten tolerances (section 3 of the theory: with the corrector the error is about the tolerance).
            let (given, exact) = (-s.v[3 * b + 2], speed_at(angle(b)));
            assert!((given - exact).abs() < 1e-6, "{given} {exact}");
        }
        assert!(s.q[11].abs() < 1e-11, "the coupler stays level");
    }
}

#[test]
fn a_parallelogram_with_a_third_bar_passes_its_flat_positions() {
    // Flat seven times in 5 s: there the rank is lower still, and the couplers could tilt either way.
    let speed_at = |theta: f64| (1.0 + 2.0 * 3.5 / 3.0 * 9.81 * (1.0 - theta.cos())).sqrt();
    for backend in [Backend::Dense, Backend::Sparse] {
        for tolerance in [1e-4, 1e-5, 1e-6, 1e-7] {
            let mut model = three_bars(1.0);
            model.solver.tolerance = tolerance;
            let mut run = Run::model(&model, backend).unwrap();
            while run.state.t < 5.0 {
                run.advance(5.0).unwrap_or_else(|e| panic!("{e}"));
                let s = &run.state;
                let turned = |b: usize| std::f64::consts::FRAC_PI_2 - s.q[3 * b + 2];
                // The design's bound for all rows, left out or not.
                assert!(run.closure() <= 1e-10, "{} at {}", run.closure(), s.t);
                for b in 1..3 {
                    let apart = (turned(b) - turned(0)).abs();
                    // A closure of 1e-10 lets the couplers tilt by its root where they are flat.
                    assert!(apart < 1e-5, "{backend:?} {tolerance} {apart} at {}", s.t);
                }
                // The bound with the corrector, ten tolerances.
                let error = (s.v[2].abs() - speed_at(turned(0))).abs();
                assert!(
                    error < 10.0 * tolerance,
                    "{backend:?} {tolerance} {error} at {}",
                    s.t
                );
            }
            assert!(run.state.q[2] < -15.0 && run.state.statistics.newton_failures == 0);
        }
    }
}

/// A run from the start, where the rail is redundant.
fn on_its_rail(
    system: Parting,
    backend: Backend,
    corrector: Corrector,
    step: Option<f64>,
) -> Run<Parting> {
    let settings = SolverSettings {
        corrector,
        step,
        ..SolverSettings::default()
    };
    let at: (&[f64], &[f64]) = (&[0.0; 3], &[1.0, 0.0, 0.0]);
    let (inputs, environment) = (vec![], Default::default());
    Run::begin(
        Box::new(system),
        &settings,
        backend,
        at,
        inputs,
        environment,
    )
    .unwrap()
}

#[test]
fn a_redundant_constraint_that_becomes_independent_is_activated_again() {
    for backend in [Backend::Dense, Backend::Sparse] {
        for (corrector, step) in [
            (Corrector::Off, None),
            (Corrector::Auto, None),
            (Corrector::Off, Some(0.02)),
        ] {
            let system = Parting {
                strength: 1.0,
                lift: 0.0,
                push: 5.0,
            };
            let mut run = on_its_rail(system, backend, corrector, step);
            assert_eq!(run.report.redundant, ["rail"]);
            assert_eq!(run.report.rank, 1);
            while run.state.t < 3.0 {
                run.advance(3.0).unwrap_or_else(|e| panic!("{e}"));
                assert!(
                    run.closure() <= 1e-10,
                    "{} at {}",
                    run.closure(),
                    run.state.t
                );
            }
            assert_eq!(run.state.redundant, [false, false]);
            let [x, y, z] = run.state.q[..] else {
                panic!("three coordinates")
            };
            // Held by the rail: s y = −z = 0. Where it was released the point moved by less than 1e-10 / s and is brought back.
            assert!(
                (x - 3.0).abs() < 1e-6 && y.abs() < 1e-10 && z.abs() < 1e-12,
                "{x} {y} {z}"
            );
            // λ of the rail is the push over s: 5 (x − 1).
            assert!(
                (run.state.lambda[1] - 10.0).abs() < 1e-3,
                "{:?}",
                run.state.lambda
            );
        }
    }
}

/// The bouncing mass over two floors in the same place: at rest both rows hold, and one follows from the other.
#[derive(Default)]
struct TwoFloors(Bounce);

impl System for TwoFloors {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nc: 2,
            ..self.0.dimensions()
        }
    }

    fn properties(&self) -> Properties {
        self.0.properties()
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            jacobian: vec![(0, 1), (1, 1)],
            ..self.0.sparsity()
        }
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        self.0.mass_times(cx, q, a, out);
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.0.force(cx, q, v, out)
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        self.0.tangent(cx, at, weights, out)
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        phi.fill(q[1]);
    }

    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
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

impl ConfigurationSpace for TwoFloors {}

impl HybridSystem for TwoFloors {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        rows.fill(modes[0] == 1);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        self.0.event_functions(cx, at, phi, rate);
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.0.crossing(modes, i)
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        self.0.handle_event(cx, at, i, modes, n)
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.0.activate_unilateral(i, modes);
    }
}

#[test]
fn a_constraint_that_an_event_activates_twice_is_enforced_once() {
    for backend in [Backend::Dense, Backend::Sparse] {
        for corrector in [Corrector::Off, Corrector::Auto] {
            let settings = SolverSettings {
                corrector,
                ..SolverSettings::default()
            };
            let system = TwoFloors(Bounce {
                restitution: 0.3,
                slowest: 0.1,
                ..Bounce::default()
            });
            let at: (&[f64], &[f64]) = (&[0.0, 1.0], &[1.0, 0.0]);
            // Lifted with 25 sin t: off the floor when that exceeds the weight of 19.62 N for the first time after 6 s.
            let lift = Sine {
                offset: 0.0,
                amplitude: 25.0,
                omega: 1.0,
            };
            let mut run =
                Run::begin(Box::new(system), &settings, backend, at, vec![], lift).unwrap();
            let mut at_rest = 0;
            while run.state.t < 8.0 {
                run.advance(8.0).unwrap_or_else(|e| panic!("{e}"));
                let s = &run.state;
                let held = s.redundant.iter().filter(|d| !**d).count();
                if s.modes[0] == 1 {
                    at_rest += 1;
                    assert_eq!(held, 1, "{:?}", s.redundant);
                    // λ pulls down with what is missing of the weight: −(m g − lift), all of it in one row.
                    let weight = 2.0 * 9.81 - 25.0 * s.t.sin();
                    let force: f64 = -s.lambda.iter().sum::<f64>();
                    assert!((force - weight).abs() < 1e-9, "{force} {weight} at {}", s.t);
                    assert!(s.q[1].abs() < 1e-9 && s.v[1].abs() < 1e-9);
                } else {
                    assert_eq!(held, 2, "in flight no row holds, none is left out");
                    assert!(s.lambda.iter().all(|l| *l == 0.0), "{:?}", s.lambda);
                }
            }
            let s = &run.state;
            assert!(
                at_rest > 3 && s.modes == [0] && s.q[1] > 0.0,
                "{at_rest} {s:?}"
            );
        }
    }
}

#[test]
fn a_redundant_constraint_that_becomes_inconsistent_is_an_error_by_its_name() {
    for backend in [Backend::Dense, Backend::Sparse] {
        for (corrector, step) in [
            (Corrector::Off, None),
            (Corrector::Auto, None),
            (Corrector::Off, Some(0.01)),
        ] {
            let system = Parting {
                strength: 0.0,
                lift: 1.0,
                push: 0.0,
            };
            let mut run = on_its_rail(system, backend, corrector, step);
            let error = loop {
                let before = bare(&run.state);
                if let Err(error) = run.advance(3.0) {
                    assert_eq!(bare(&run.state), before, "{error}");
                    break error;
                }
            };
            let sentence = error.to_string();
            assert!(sentence.contains("\"rail\""), "{sentence}");
            // (t − 1)³ = 1e-10 at t = 1.000464; a fixed step ends before.
            assert!(
                run.state.t < 1.000465 && run.state.t > 1.0 - step.unwrap_or(0.0) - 1e-9,
                "{sentence}"
            );
            assert!(run.closure() <= 1e-10);
        }
    }
}
