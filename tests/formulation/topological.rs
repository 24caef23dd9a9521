//! Independent coordinates (`topological`): every derivative, the motion and quantities of absolute coordinates, order, choices
//! made again on the way, honest ends where a choice is kept, saved states, the second paper's Table 1.

use crate::common::measure::slope;
use crate::compare::*;
use crate::compared::*;
use biela::component::Instance;
use biela::error::Error;
use biela::formulation::derivative_check::{DerivativeCheck, check};
use biela::formulation::topological::Topological;
use biela::formulation::{
    ConfigurationSpace, CoordinatePartitioning, EvaluationContext, HybridSystem, Mechanism,
    MotionPoint, System, TangentWeights,
};
use biela::linalg::random::Random;
use biela::model::{Corrector, FormulationName, IntegratorName, Model};

const TOPOLOGICAL: FormulationName = FormulationName::Topological;

fn topological(model: &Model) -> Topological {
    Topological::new(model).unwrap().expect("loops")
}

/// An instance that begins with chosen independent coordinates.
fn beginning_with(model: &Model, independent: &[&str]) -> Instance {
    let mut model = model.clone();
    model.solver.formulation = TOPOLOGICAL;
    let system = Topological::with(&model, independent)
        .unwrap()
        .expect("loops");
    assert_eq!(system.independent(), independent);
    let mut instance = Instance::from_mechanism(model, Box::new(system)).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    instance
}

/// The independent coordinates of an instance, by name.
fn independent(instance: &Instance) -> Vec<String> {
    let system = topological(instance.model());
    let q = &instance.state().q;
    let mut out = vec![0.0; q.len()];
    system.retract(q, &vec![0.0; system.dimensions().nv], &mut out);
    system.independent()
}

/// Mechanisms with loops.
fn loops() -> Vec<(&'static str, Model)> {
    let mut all: Vec<_> = (mechanisms().into_iter())
        .filter(|(_, model)| Topological::new(model).unwrap().is_some())
        .collect();
    for name in [
        "double_four_bar.toml",
        "andrews.toml",
        "coupled_crank.toml",
        "bouncing_linkage.toml",
        "iltis.toml",
    ] {
        all.push((name, file(name)));
    }
    all
}

/// Those for which the equations hold with these multipliers: there the K of the joints is exact.
fn accelerations(
    system: &Topological,
    cx: &EvaluationContext,
    q: &[f64],
    v: &[f64],
    lambda: &[f64],
) -> Vec<f64> {
    let nv = system.dimensions().nv;
    let (mut f, mut g) = (vec![0.0; nv], vec![0.0; lambda.len() * nv]);
    system.force(cx, q, v, &mut f).unwrap();
    system.constraint_friction(cx, q, v, lambda, &mut f);
    system.jacobian(cx, q, &mut g);
    for (row, lambda) in g.chunks(nv.max(1)).zip(lambda) {
        for (f, g) in f.iter_mut().zip(row) {
            *f -= g * lambda;
        }
    }
    let mut m = vec![0.0; nv * nv];
    let zero = vec![0.0; nv.max(lambda.len())];
    let (none, no_lambda) = (&zero[..nv], &zero[..lambda.len()]);
    (system.tangent(
        cx,
        &MotionPoint {
            q,
            v,
            a: none,
            lambda: no_lambda,
        },
        &TangentWeights::MASS,
        &mut m,
    ))
    .unwrap();
    let m = nalgebra::DMatrix::from_row_slice(nv, nv, &m);
    let a = m.lu().solve(&nalgebra::DVector::from_vec(f)).unwrap();
    a.as_slice().to_vec()
}

#[test]
fn every_derivative_agrees_with_finite_differences() {
    let all = loops();
    assert!(all.len() >= 12, "{}", all.len());
    for (name, model) in all {
        let system = topological(&model);
        let size = system.dimensions();
        let mut random = Random::new(7);
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        system.initial_state(&mut q, &mut v);
        let zero = vec![0.0; model.inputs.len()];
        let (u, p): (Vec<f64>, Vec<f64>) = (
            model.inputs.iter().map(|input| input.start).collect(),
            model.parameters.iter().map(|p| p.start).collect(),
        );
        for round in 0..3 {
            // Away from the start, where rotation vectors are not zero.
            let w = random.vector(size.nv, 0.05 * f64::from(round));
            let mut there = vec![0.0; size.nq];
            system.retract(&q, &w, &mut there);
            assert!(
                there.iter().all(|x| x.is_finite()),
                "{name}: {:?}",
                system.dependent_failure()
            );
            let v = random.vector(size.nv, 2.0);
            let lambda = random.vector(size.nc, 5.0);
            let mut modes = vec![0; size.modes];
            let cx = EvaluationContext {
                t: 0.3,
                u: &u,
                u_dot: &zero,
                u_ddot: &zero,
                p: &p,
                modes: &[],
                integrals: &[],
            };
            system.initial_modes(
                &EvaluationContext {
                    modes: &modes.clone(),
                    ..cx
                },
                &there,
                &v,
                &mut modes,
            );
            let cx = EvaluationContext {
                modes: &modes,
                ..cx
            };
            let a = accelerations(&system, &cx, &there, &v, &lambda);
            let motion = MotionPoint {
                q: &there,
                v: &v,
                a: &a,
                lambda: &lambda,
            };
            // Truncation of the checker's differences is e⁴ times a fifth derivative, and dependent coordinates bend within a
            // fraction of the mechanism's size; rounding over e is 1e-12.
            let options = DerivativeCheck {
                step: 2e-4,
                tolerance: 2e-8,
                ..DerivativeCheck::default()
            };
            check(&system, &cx, &motion, &options)
                .unwrap_or_else(|e| panic!("{name}, round {round}: {e}"));
        }
    }
}

#[test]
fn every_quantity_is_that_of_absolute_coordinates_the_closer_the_smaller_the_tolerance() {
    // Without loops it is `relative` to the bit.
    let full = std::env::var_os("BIELA_TEST_FULL").is_some();
    for (name, model) in mechanisms() {
        if full || Topological::new(&model).unwrap().is_some() {
            agrees(name, &model, &[TOPOLOGICAL]);
        }
    }
}

#[test]
fn without_loops_it_equals_the_relative_formulation_to_the_bit() {
    for (name, model) in [
        ("chain", text(&chain(&["revolute", "spherical"], 4))),
        ("branches", text(BRANCHES)),
        ("ball", text(BALL)),
    ] {
        assert!(Topological::new(&model).unwrap().is_none(), "{name}");
        let [a, b] = [TOPOLOGICAL, FormulationName::Relative].map(|formulation| {
            let mut instance = started(&model, formulation);
            instance.step(0.0, 0.5).unwrap();
            instance.state().clone()
        });
        assert_eq!(a, b, "{name}");
    }
}

/// A tumbling frame with a four-bar on it: the frame is free, the loop closes on it.
fn floating() -> Model {
    let mut model = text(REDUNDANT);
    let mut frame = model.bodies[2].clone();
    frame.name = "frame".into();
    (frame.mass, frame.inertia) = (8.0, [0.5, 1.0, 1.2, 0.0, 0.0, 0.0]);
    (frame.position, frame.velocity) = ([0.5, -0.2, 0.1], [0.2, 0.1, -0.3]);
    frame.angular_velocity = [0.7, -0.4, 0.5];
    model.bodies.push(frame);
    for joint in &mut model.joints {
        for body in &mut joint.bodies {
            *body = body.or(Some(3));
        }
    }
    model.gravity = [0.0; 3];
    model
}

#[test]
fn a_loop_on_a_free_body_keeps_energy_and_agrees() {
    let model = floating();
    agrees("four-bar on a tumbling frame", &model, &[TOPOLOGICAL]);
    let mut model = model;
    model.solver.tolerance = 1e-8;
    let mut instance = started(&model, TOPOLOGICAL);
    instance.step(0.0, 2.0).unwrap();
    // A few hundred steps with errors of 1e-8 of energies of a few joules.
    assert!(
        instance.energy_drift().abs() < 1e-6,
        "{}",
        instance.energy_drift()
    );
}

#[test]
fn order_two_and_four_with_the_corrector() {
    for (corrector, expected) in [(Corrector::Off, 2.0), (Corrector::Auto, 4.0)] {
        for (name, model) in [
            ("four-bar", file("four_bar.toml")),
            ("crank and rocker in space", text(RSSR)),
            ("redundant parallelogram", text(REDUNDANT)),
            ("four-bar on a tumbling frame", floating()),
        ] {
            let stop = 0.4;
            let end = |step: Option<f64>| {
                let mut model = model.clone();
                model.solver.integrator = IntegratorName::Hht;
                model.solver.corrector = match step {
                    Some(_) => corrector,
                    None => Corrector::Auto,
                };
                model.solver.step = step;
                model.solver.tolerance = 1e-11;
                let mut instance = started(&model, TOPOLOGICAL);
                instance.step(0.0, stop).unwrap();
                // Poses and rates: these do not hang on the choice.
                (quantities(&mut instance).into_iter())
                    .filter(|(name, _)| {
                        [".x", ".y", ".z", ".vx", ".vy", ".vz", ".wz"]
                            .iter()
                            .any(|field| name.ends_with(field))
                    })
                    .map(|(_, x)| x)
                    .collect::<Vec<f64>>()
            };
            let exact = end(None);
            // The corrected error of the tumbling frame reaches rounding (2e-13) below 5 ms.
            let steps = match corrector {
                Corrector::Off => [0.01, 0.005, 0.0025],
                Corrector::Auto => [0.02, 0.01, 0.005],
            };
            let errors: Vec<f64> = (steps.iter())
                .map(|&h| {
                    let far = |m: f64, (a, b): (&f64, &f64)| m.max((a - b).abs());
                    end(Some(h)).iter().zip(&exact).fold(0.0_f64, far)
                })
                .collect();
            let order = slope(&steps, &errors);
            println!("{name}, {corrector:?}: order {order:.2}, errors {errors:?}");
            assert!(
                (order - expected).abs() < 0.05 * expected,
                "{name}: {order} {errors:?}"
            );
        }
    }
}

#[test]
fn an_ill_conditioned_partition_is_repartitioned_and_the_motion_goes_on() {
    // The slider stands still at both dead points: there nothing follows from it.
    let mut model = file("slider_crank.toml");
    model.solver.tolerance = 1e-8;
    let mut instance = beginning_with(&model, &["guide.position"]);
    let mut reference = started(&model, FormulationName::Absolute);
    let mut chosen = vec![independent(&instance)];
    assert_eq!(chosen[0], ["guide.position"]);
    for k in 0..200 {
        let t = 0.01 * f64::from(k);
        instance.step(t, 0.01).unwrap();
        reference.step(t, 0.01).unwrap();
        let now = independent(&instance);
        if chosen.last() != Some(&now) {
            chosen.push(now);
        }
    }
    println!("{chosen:?}, {:?}", instance.statistics());
    assert!(chosen.len() >= 2, "{chosen:?}");
    // Energy of about 6 J; a thousand steps with errors of 1e-8.
    assert!(
        instance.energy_drift().abs() < 1e-5,
        "{}",
        instance.energy_drift()
    );
    // Both are within a thousand tolerances of the truth; velocities are a few tens.
    for ((what, x), (_, y)) in quantities(&mut instance)
        .iter()
        .zip(quantities(&mut reference))
    {
        assert!((x - y).abs() < 2e-5 * x.abs().max(1.0), "{what}: {x} {y}");
    }
}

#[test]
fn repartitioning_keeps_the_order() {
    for (corrector, expected) in [(Corrector::Off, 2.0), (Corrector::Auto, 4.0)] {
        let mut model = file("slider_crank.toml");
        model.solver.tolerance = 1e-11;
        let mut exact = started(&model, TOPOLOGICAL);
        exact.step(0.0, 0.5).unwrap();
        let exact = value(&mut exact, "crank.angle");
        let steps = [1e-3, 5e-4, 2.5e-4];
        let errors = steps.map(|h| {
            model.solver.integrator = IntegratorName::Hht;
            model.solver.corrector = corrector;
            model.solver.step = Some(h);
            let mut instance = beginning_with(&model, &["guide.position"]);
            instance.step(0.0, 0.5).unwrap();
            assert_ne!(independent(&instance), ["guide.position"]);
            (value(&mut instance, "crank.angle") - exact).abs()
        });
        let order = slope(&steps, &errors);
        println!("{corrector:?}: {order:.2} {errors:?}");
        assert!(
            (order - expected).abs() < 0.1 * expected,
            "{order} {errors:?}"
        );
    }
}

/// Runs in pieces until an error, with the largest deviation of the energy seen before.
fn until_error(instance: &mut Instance, stop: f64) -> (Option<Error>, f64) {
    let mut worst = 0.0_f64;
    let total = |instance: &mut Instance| {
        ["energy.kinetic", "energy.potential"]
            .map(|name| value(instance, name))
            .iter()
            .sum::<f64>()
    };
    let begin = total(instance);
    while instance.time() < stop - 1e-9 {
        let t = instance.time();
        let outcome = instance.step(t, 0.01_f64.min(stop - t));
        worst = worst.max((total(instance) - begin).abs());
        if let Err(error) = outcome {
            return (Some(error), worst);
        }
    }
    (None, worst)
}

#[test]
fn a_fixed_partition_that_becomes_singular_fails_with_time_and_coordinate() {
    // When the crank is first in line with the rod, from absolute coordinates at 1e-9.
    let dead = {
        let mut model = file("slider_crank.toml");
        model.solver.tolerance = 1e-9;
        let mut instance = started(&model, FormulationName::Absolute);
        let mut t = 0.0;
        while value(&mut instance, "slider.vx") < 0.0 {
            instance.step(t, 1e-4).unwrap();
            t = instance.time();
        }
        t
    };
    for step in [None, Some(0.002)] {
        let mut model = file("slider_crank.toml");
        model.solver.repartition = false;
        model.solver.step = step;
        let mut instance = beginning_with(&model, &["guide.position"]);
        let (error, worst) = until_error(&mut instance, 1.0);
        let error = error.expect("the slider cannot pass its dead point");
        println!("{step:?}: {error}, dead point {dead}, energy {worst:e}");
        let Error::Coordinates {
            time, independent, ..
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!(independent, &["guide.position"]);
        // The last accepted step: not after the dead point, and at most a step before it.
        assert!(*time < dead + 1e-4 && *time > dead - 0.01, "{time} {dead}");
        assert!(
            error.to_string().contains(&time.to_string()[..5]),
            "{error}"
        );
        // Close to the dead point the slider hardly moves, and the crank is known as the root of its error: 1e-3 of 6 J otherwise,
        // some more at h = 0.002.
        assert!(worst < 0.05, "{worst}");
        // The same with a crank as the first choice has no end.
        let mut instance = beginning_with(&model, &["pivot.position"]);
        assert!(until_error(&mut instance, 1.0).0.is_none());
    }
}

/// When the bars of the double four-bar are in line for the first time (tests/reference/n_four_bar_2.csv).
const IN_LINE: f64 = 0.7143555292929604;

#[test]
fn the_double_four_bar_fails_at_its_singular_position_with_a_fixed_partition() {
    for step in [None, Some(0.01), Some(0.03), Some(0.05), Some(0.1)] {
        for first in ["A0.position", "A1.position", "A2.position"] {
            let mut model = file("double_four_bar.toml");
            model.solver.repartition = false;
            model.solver.step = step;
            model.solver.alpha = 0.0;
            if step.is_some() {
                model.solver.corrector = Corrector::Off;
            }
            let mut instance = beginning_with(&model, &[first]);
            let t = |k: u32| f64::from(k) * step.unwrap_or(0.01);
            let mut k = 0;
            let error = loop {
                let now = instance.time();
                if now > 2.0 {
                    panic!("{step:?}, {first}: passed");
                }
                k += 1;
                if let Err(error) = instance.step(now, t(k) - now) {
                    break error;
                }
                let drift = instance.energy_drift().abs();
                // That of the trapezoidal rule at these steps: -1.34 J at most over ten seconds.
                assert!(drift < 1.4, "{step:?}, {first}: {drift} J at {now}");
            };
            println!("{step:?}, {first}: {error}");
            let Error::Coordinates {
                time, independent, ..
            } = &error
            else {
                panic!("{error:?}");
            };
            assert_eq!(independent, &[first]);
            let before = IN_LINE - 1.2 * step.unwrap_or(1e-3);
            // The trapezoidal rule is late by up to 0.03 s at h = 0.1.
            let late = if step.is_some() { 0.03 } else { 1e-4 };
            assert!(*time > before && *time < IN_LINE + late, "{step:?}: {time}");
        }
    }
}

/// Largest energy deviation of the trapezoidal rule on θ'' = k sin θ itself, over 10 s.
const TRAPEZOIDAL: [(f64, f64); 4] = [
    (0.01, -0.01367),
    (0.03, -0.12282),
    (0.05, -0.34028),
    (0.1, -1.34276),
];

#[test]
fn the_double_four_bar_steps_over_its_singular_positions_on_the_smooth_branch() {
    for (step, expected) in TRAPEZOIDAL {
        for first in ["A0.position", "A1.position", "A2.position"] {
            let mut model = file("double_four_bar.toml");
            model.solver.alpha = 0.0;
            model.solver.step = Some(step);
            model.solver.corrector = Corrector::Off;
            let mut instance = beginning_with(&model, &[first]);
            let mut tilt = 0.0_f64;
            for k in 0..(10.0 / step + 1e-9).floor() as usize {
                let t = instance.time();
                instance
                    .step(t, (k + 1) as f64 * step - t)
                    .unwrap_or_else(|e| panic!("h = {step}: {e}"));
                for name in ["coupler0.angle", "coupler1.angle"] {
                    tilt = tilt.max(value(&mut instance, name).abs());
                }
            }
            let drift = instance.energy_drift();
            println!("h {step} {first}: {drift:.5} J, tilt {tilt:.1e}");
            // It is the trapezoidal rule on an angle; other branches turn the couplers by angles of size one.
            assert!((drift - expected).abs() < 5e-3 * expected.abs(), "{drift}");
            assert!(tilt < 1e-5, "{tilt}");
        }
    }
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let mut model = file("double_four_bar.toml");
        model.solver.tolerance = tolerance;
        let mut instance = started(&model, TOPOLOGICAL);
        let (error, worst) = until_error(&mut instance, 10.0);
        println!(
            "{tolerance:e}: {error:?} {worst:e}, {:?}",
            instance.statistics()
        );
        assert!(error.is_none(), "{error:?}");
        // 36 J times a few hundred tolerances.
        assert!(worst < 1e4 * tolerance, "{worst}");
    }
}

#[test]
fn whatever_the_step_no_other_branch_is_taken_for_the_right_one() {
    // Steps that end at all distances from the ten singular positions: through on the smooth branch, or an error.
    let full = std::env::var_os("BIELA_TEST_FULL").is_some();
    let (mut passed, mut ended) = (0, 0);
    for k in 0..if full { 400 } else { 40 } {
        let step = 0.02 * (6.0_f64).powf(f64::from(k) / if full { 400.0 } else { 40.0 });
        let mut model = file("double_four_bar.toml");
        model.solver.alpha = 0.0;
        model.solver.step = Some(step);
        model.solver.corrector = Corrector::Off;
        let mut instance = started(&model, TOPOLOGICAL);
        let mut tilt = 0.0_f64;
        let outcome = (1..)
            .map(|k| f64::from(k) * step)
            .take_while(|t| *t < 10.0)
            .try_for_each(|t| {
                let now = instance.time();
                instance.step(now, t - now)?;
                for name in ["coupler0.angle", "coupler1.angle"] {
                    tilt = tilt.max(value(&mut instance, name).abs());
                }
                Ok(())
            });
        // Closure to 1e-16, magnified by at most 1e6 where a position is still told.
        assert!(tilt < 1e-9, "h = {step}: {tilt}");
        match outcome {
            Ok(()) => {
                passed += 1;
                // -1.343 J at h = 0.1, of second order and rising somewhat faster.
                let drift = instance.energy_drift();
                assert!(
                    drift.abs() < 1.6 * (step / 0.1).powi(2),
                    "h = {step}: {drift}"
                );
            }
            Err(error) => {
                ended += 1;
                println!("h = {step}: {error}");
                let _: Error = error;
            }
        }
    }
    println!("{passed} passed, {ended} ended");
    assert!(passed > 10 * ended, "{passed} {ended}");
}

#[test]
fn a_start_in_a_singular_position_is_refused_by_name_or_goes_on() {
    // Bars in line from the start: no choice says how to go on.
    let mut model = file("double_four_bar.toml");
    for (i, body) in model.bodies.iter_mut().enumerate() {
        let bar = i < 3;
        let x = if bar {
            i as f64 + 0.5
        } else {
            i as f64 - 3.0 + 1.5
        };
        body.position = [x, 0.0, 0.0];
        body.angle = 0.0;
        body.angular_velocity = [0.0, 0.0, if bar { -3.0 } else { 0.0 }];
        body.velocity = [0.0, if bar { -1.5 } else { -3.0 }, 0.0];
    }
    for (joint, x) in model
        .joints
        .iter_mut()
        .zip([0.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0])
    {
        if let biela::model::JointPlacement::InitialPose(frame) = &mut joint.frame {
            frame.point = [x, 0.0, 0.0];
        }
    }
    model.solver.formulation = TOPOLOGICAL;
    let mut instance = Instance::from_model(model).unwrap();
    let outcome =
        (instance.initialize(0.0, f64::INFINITY, 0.0)).and_then(|_| instance.step(0.0, 0.5));
    match outcome {
        Err(error @ Error::Coordinates { .. }) => println!("{error}"),
        Err(error) => panic!("{error:?}"),
        Ok(()) => {
            for name in ["coupler0.angle", "coupler1.angle"] {
                assert!(value(&mut instance, name).abs() < 1e-6, "another branch");
            }
        }
    }
}

/// The same mechanism in other units of length.
fn in_units(model: &Model, unit: f64) -> Model {
    let mut model = model.clone();
    let scale = |x: &mut [f64]| x.iter_mut().for_each(|x| *x *= unit);
    scale(&mut model.gravity);
    for body in &mut model.bodies {
        scale(&mut body.position);
        scale(&mut body.velocity);
        scale(&mut body.center_of_mass);
        body.inertia.iter_mut().for_each(|x| *x *= unit * unit);
    }
    for joint in &mut model.joints {
        if let biela::model::JointPlacement::InitialPose(frame) = &mut joint.frame {
            scale(&mut frame.point);
        }
    }
    model
}

#[test]
fn the_partition_does_not_depend_on_units() {
    for (name, model) in [
        ("four-bar", file("four_bar.toml")),
        ("slider-crank", file("slider_crank.toml")),
        ("rssr", text(RSSR)),
        ("parallelogram", text(REDUNDANT)),
        ("spatial slider-crank", text(SPATIAL_DRIVEN)),
    ] {
        let metres = topological(&model).independent();
        for unit in [1e3, 39.37, 1e-3] {
            let other = topological(&in_units(&model, unit)).independent();
            assert_eq!(metres, other, "{name} in units of 1/{unit} m");
        }
    }
}

#[test]
fn a_restored_state_goes_on_with_the_same_bits_across_a_repartition() {
    let mut model = file("slider_crank.toml");
    model.solver.tolerance = 1e-6;
    for (model, first) in [
        (model, vec!["guide.position"]),
        // Rotation vectors that restart.
        (text(RSSR), vec![]),
    ] {
        let mut instance = match first.is_empty() {
            true => started(&model, TOPOLOGICAL),
            false => beginning_with(&model, &first),
        };
        let saved = instance.save().unwrap();
        let chart = |instance: &Instance| instance.state().q[model_stored(&model)..].to_vec();
        let before = chart(&instance);
        let go = |instance: &mut Instance| {
            for k in 0..40 {
                let t = instance.time();
                instance.step(t, 0.03 * f64::from(k + 1) - t).unwrap();
            }
            instance.state().clone()
        };
        let first = go(&mut instance);
        assert_ne!(before, chart(&instance), "no repartition");
        instance.restore(&saved).unwrap();
        assert_eq!(go(&mut instance), first);
        // Another instance that has seen nothing of it.
        let bytes = saved.to_bytes();
        let mut other = started(&model, TOPOLOGICAL);
        let saved = other.deserialize(&bytes).unwrap();
        other.restore(&saved).unwrap();
        assert_eq!(go(&mut other), first);
    }
}

/// Where the choice begins among the stored coordinates: behind the own ones and those of the joints.
fn model_stored(model: &Model) -> usize {
    use biela::formulation::relative::{PlanarRelative, SpatialRelative};
    let joints = match model.dimension {
        2 => PlanarRelative::new(model).unwrap().dimensions().nq,
        _ => SpatialRelative::new(model).unwrap().dimensions().nq,
    };
    topological(model).dimensions().nv + joints
}

#[test]
fn vsa23_is_refused_by_name() {
    let mut model = file("four_bar.toml");
    model.solver.formulation = TOPOLOGICAL;
    model.solver.integrator = biela::model::IntegratorName::Vsa23;
    let error = Instance::from_model(model).err().expect("refused");
    let text = error.to_string();
    assert!(
        text.contains("vsa23") && text.contains("independent coordinates"),
        "{text}"
    );
}
