//! Contacts: impacts at one instant, walls that move, rest and lift-off, stick and slip, against closed forms.

use crate::common::drive::Run;
use crate::common::systems::contacts::{Contact, Contacts};
use crate::common::systems::stick_slip::StickSlip;
use biela::formulation::{
    ConfigurationSpace, Dimensions, Evaluated, EvaluationContext, HybridSystem, MotionPoint,
    Properties, Sparsity, System, TangentWeights,
};
use biela::model::{Corrector, SolverSettings};
use std::f64::consts::PI;

fn settings(tolerance: f64) -> SolverSettings {
    SolverSettings {
        tolerance,
        ..SolverSettings::default()
    }
}

fn energy(run: &Run<Contacts>) -> f64 {
    let cx = EvaluationContext {
        t: run.state.t,
        u: &[],
        u_dot: &[],
        u_ddot: &[],
        p: &[],
        modes: &run.state.modes,
        integrals: &[],
    };
    let e = run.system.energy(&cx, &run.state.q, &run.state.v);
    e.kinetic + e.potential
}

/// Two masses of 1 kg on one line: the first is where the input says, a spring of 9 N/m pulls the second to it.
struct Follower;

impl System for Follower {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 2,
            nv: 2,
            nc: 1,
            inputs: 1,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            moving_constraints: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0), (0, 1), (1, 0), (1, 1)],
            jacobian: vec![(0, 0)],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = 9.0 * (q[1] - q[0]);
        out[1] = -out[0];
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let (m, k) = (weights.mass, 9.0 * weights.stiffness);
        out.copy_from_slice(&[m + k, -k, -k, m + k]);
        Ok(())
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        phi[0] = q[0] - cx.u[0];
    }

    fn jacobian(&self, _cx: &EvaluationContext, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }

    fn constraint_rate(&self, cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        phi_t[0] = -cx.u_dot[0];
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        _q: &[f64],
        _v: &[f64],
        gamma: &mut [f64],
    ) {
        gamma[0] = -cx.u_ddot[0];
    }
}

impl ConfigurationSpace for Follower {}

impl HybridSystem for Follower {}

#[test]
fn an_input_jump_moves_the_constrained_coordinate_and_counts_as_an_event() {
    for corrector in [Corrector::Auto, Corrector::Off] {
        let settings = SolverSettings {
            corrector,
            ..settings(1e-8)
        };
        let mut run = Run::new(Follower, &settings, &[0.0, 0.0], &[0.0, 0.0]).unwrap();
        run.to(0.5).unwrap();
        assert!(!run.jump().unwrap(), "nothing has moved");
        assert_eq!(run.state.statistics.events, 0);
        run.signals.offset = 0.2;
        assert!(run.jump().unwrap());
        assert_eq!(run.state.statistics.events, 1);
        assert!((run.state.q[0] - 0.2).abs() < 1e-14 && run.state.q[1] == 0.0);
        run.to(1.5).unwrap();
        // The second one swings about the new place with 3 rad/s.
        let exact = 0.2 * (1.0 - 3f64.cos());
        let bound = if corrector == Corrector::Auto {
            1e-8
        } else {
            1e-5
        };
        assert!(
            (run.state.q[1] - exact).abs() < bound,
            "{corrector:?}: {:?} {exact}",
            run.state.q
        );
    }
}

/// Five balls of 1 kg, 1 m apart and touching, each swinging with 1 rad/s.
fn cradle(restitution: f64) -> Contacts {
    Contacts {
        mass: vec![1.0; 5],
        force: vec![0.0; 5],
        springs: (0..5).map(|i| (1.0, f64::from(i))).collect(),
        contacts: (0..4)
            .map(|i| {
                let mut g = [0.0; 5];
                (g[i], g[i + 1]) = (-1.0, 1.0);
                Contact::new(&g, 1.0, restitution, 0.0)
            })
            .collect(),
    }
}

#[test]
fn as_many_balls_leave_the_cradle_as_came_in() {
    for balls in 1..=3 {
        let mut q: Vec<f64> = (0..5).map(f64::from).collect();
        for x in q.iter_mut().take(balls) {
            *x -= 0.5;
        }
        // At other tolerances balls that move side by side may touch again and again by rounding, without losing energy.
        let mut run = Run::new(cradle(1.0), &settings(1e-7), &q, &[0.0; 5]).unwrap();
        let e0 = energy(&run);
        // In at π/2, farthest out on the other side at π, back at 2π, and once more.
        for (t, left) in [(PI, false), (2.0 * PI, true), (3.0 * PI, false)] {
            run.to(t).unwrap();
            for i in 0..5 {
                let out = if left { i < balls } else { i >= 5 - balls };
                let side = if left { -0.5 } else { 0.5 };
                let x = i as f64 + if out { side } else { 0.0 };
                // Ten impacts, each hit to 1e-6 of the tolerance; the balls at rest touch to that accuracy.
                assert!(
                    (run.state.q[i] - x).abs() < 1e-5,
                    "{balls} {t} {i}: {:?}",
                    run.state.q
                );
            }
            assert!(
                (energy(&run) - e0).abs() < 1e-6 * e0,
                "{}",
                energy(&run) - e0
            );
        }
    }
}

#[test]
fn an_inelastic_cradle_keeps_its_momentum_and_loses_no_more_than_it_must() {
    let mut run = Run::new(
        cradle(0.6),
        &settings(1e-8),
        &[-1.0, 1.0, 2.0, 3.0, 4.0],
        &[0.0; 5],
    )
    .unwrap();
    let e0 = energy(&run);
    while run.state.statistics.events == 0 {
        run.advance(3.0).unwrap();
    }
    let momentum: f64 = run.state.v.iter().sum();
    assert!((momentum - 1.0).abs() < 1e-8, "{momentum}");
    for pair in run.state.v.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-12, "{:?}", run.state.v);
    }
    // In turn: each impact hands on (1 + e)/2.
    assert!(
        (run.state.v[4] - 0.8_f64.powi(4)).abs() < 1e-7,
        "{:?}",
        run.state.v
    );
    assert!((energy(&run) + run.state.dissipated - e0).abs() < 1e-8 * e0);
}

#[test]
fn a_ball_in_a_corner_comes_back_the_way_it_came() {
    for (e, friction) in [(1.0, 0.0), (0.5, 0.0)] {
        let contact = |g: [f64; 2]| {
            let mut c = Contact::new(&g, 0.0, e, 0.0);
            c.friction = (friction > 0.0).then(|| (vec![g[1], g[0]], friction));
            c
        };
        let system = Contacts {
            mass: vec![2.0; 2],
            force: vec![0.0; 2],
            contacts: vec![contact([1.0, 0.0]), contact([0.0, 1.0])],
            ..Contacts::default()
        };
        let mut run = Run::new(system, &settings(1e-6), &[1.0, 2.0], &[-1.0, -2.0]).unwrap();
        run.to(2.0).unwrap();
        assert_eq!(run.state.statistics.events, 2);
        assert!(
            (run.state.q[0] - e).abs() < 1e-8 && (run.state.q[1] - 2.0 * e).abs() < 1e-8,
            "{:?}",
            run.state.q
        );
    }
}

#[test]
fn friction_in_an_impact_reduces_the_slip_up_to_the_coulomb_limit() {
    // A ball thrown on the floor: dv_t = μ (1 + e) v_n, or all of it.
    for (mu, after) in [(0.1, 5.0 - 0.1 * 1.5 * 4.0), (2.0, 0.0)] {
        let mut floor = Contact::new(&[0.0, 1.0], 0.0, 0.5, 0.0);
        floor.friction = Some((vec![1.0, 0.0], mu));
        let system = Contacts {
            mass: vec![3.0; 2],
            force: vec![0.0; 2],
            contacts: vec![floor],
            ..Contacts::default()
        };
        let mut run = Run::new(system, &settings(1e-6), &[0.0, 4.0], &[5.0, -4.0]).unwrap();
        let e0 = energy(&run);
        run.to(2.0).unwrap();
        assert!(
            (run.state.v[0] - after).abs() < 1e-10,
            "{mu}: {:?}",
            run.state.v
        );
        assert!((run.state.v[1] - 2.0).abs() < 1e-10);
        assert!((energy(&run) + run.state.dissipated - e0).abs() < 1e-9 * e0);
    }
}

#[test]
fn a_plank_that_lands_flat_bounces_flat_and_comes_to_rest_flat() {
    let end = |side: f64, slowest: f64| Contact::new(&[1.0, side], 0.0, 0.5, slowest);
    for slowest in [1e-3, 0.0] {
        let system = Contacts {
            mass: vec![3.0, 1.0], // m and I = m l²/12 for l = 2
            force: vec![-30.0, 0.0],
            contacts: vec![end(1.0, slowest), end(-1.0, slowest)],
            ..Contacts::default()
        };
        let mut run = Run::new(system, &settings(1e-6), &[5.0, 0.0], &[0.0, 0.0]).unwrap();
        let e0 = energy(&run);
        // 1 s down, then hops of 1, 1/2, 1/4 ... s: over at 3 s.
        run.to(1.5).unwrap();
        assert!((run.state.q[0] - 1.25).abs() < 1e-7, "{:?}", run.state.q);
        assert_eq!(run.state.q[1], 0.0);
        run.to(4.0).unwrap();
        assert_eq!(
            run.state.modes,
            [1, 1],
            "{slowest}: {:?}",
            run.state.statistics
        );
        assert!(
            run.state.q[0].abs() < 1e-10 && run.state.v[0].abs() < 1e-12,
            "{:?}",
            run.state.q
        );
        assert!(run.state.q[1].abs() < 1e-12);
        assert!((energy(&run) + run.state.dissipated - e0).abs() < 1e-6 * e0);
        assert!(
            run.state.statistics.events < 500,
            "{:?}",
            run.state.statistics
        );
    }
}

#[test]
fn a_rising_table_throws_a_ball_as_seen_from_the_table() {
    // Table at 0.5 m/s, ball down at 2 m/s, e = 0.8: up with 0.5 + 0.8 x 2.5.
    for speed in [0.5, -0.5] {
        let mut table = Contact::new(&[1.0], 0.0, 0.8, 0.0);
        table.wall = Some(Box::new(move |t| [speed * t, speed, 0.0]));
        let system = Contacts {
            mass: vec![2.0],
            force: vec![0.0],
            contacts: vec![table],
            ..Contacts::default()
        };
        let mut run = Run::new(system, &settings(1e-6), &[1.0], &[-2.0]).unwrap();
        let e0 = energy(&run);
        run.to(2.0).unwrap();
        let v = speed + 0.8 * (2.0 + speed);
        assert!(
            (run.state.v[0] - v).abs() < 1e-10,
            "{speed}: {:?}",
            run.state.v
        );
        let balance = energy(&run) + run.state.dissipated - run.state.supplied - e0;
        assert!(balance.abs() < 1e-10, "{balance} {:?}", run.state);
    }
}

#[test]
fn a_ball_on_a_shaken_table_leaves_it_when_it_falls_faster_than_free() {
    // s = A sin ωt with A ω² = 20 m/s²: lift-off where A ω² sin ωt = g, with g = 10 m/s².
    let (amplitude, omega, g) = (0.05, 20.0, 10.0);
    let mut table = Contact::new(&[1.0], 0.0, 0.0, 1e-3);
    table.wall = Some(Box::new(move |t: f64| {
        let (s, c) = (omega * t).sin_cos();
        [
            amplitude * s,
            amplitude * omega * c,
            -amplitude * omega * omega * s,
        ]
    }));
    let system = Contacts {
        mass: vec![1.5],
        force: vec![-1.5 * g],
        contacts: vec![table],
        ..Contacts::default()
    };
    // It begins on the table with its speed: touching and at rest there. A flight is a parabola, for which one step would do:
    // the table goes to and fro in it unseen unless steps are limited. The ride has no error either, but its work is a
    // sum over the steps.
    let settings = SolverSettings {
        max_step: Some(0.005),
        ..settings(1e-8)
    };
    let mut run = Run::new(system, &settings, &[0.0], &[amplitude * omega - 1e-4]).unwrap();
    let e0 = energy(&run);
    let mut left = None;
    while left.is_none() && run.state.t < 1.0 {
        let held = run.state.modes[0] == 1;
        run.advance(1.0).unwrap();
        if held && run.state.modes[0] == 0 {
            left = Some(run.state.t);
        }
    }
    let exact = (PI / 6.0) / omega;
    let left = left.expect("it leaves");
    assert!((left - exact).abs() < 1e-6, "{left} {exact}");
    // It flies, lands without bouncing, rides, leaves again: the books stay balanced and nothing hangs.
    run.to(3.0).unwrap();
    let balance = energy(&run) + run.state.dissipated - run.state.supplied - e0;
    println!("{balance} {:?}", run.state.statistics);
    assert!(balance.abs() < 1e-5, "{balance}");
    assert!(run.state.statistics.events > 10 && run.state.statistics.events < 200);
}

#[test]
fn a_ball_chatters_on_a_shaken_table_and_the_energy_balance_closes() {
    let (amplitude, omega) = (0.02, 15.0);
    let mut table = Contact::new(&[1.0], 0.0, 0.6, 1e-3);
    table.wall = Some(Box::new(move |t: f64| {
        let (s, c) = (omega * t).sin_cos();
        [
            amplitude * s,
            amplitude * omega * c,
            -amplitude * omega * omega * s,
        ]
    }));
    let system = Contacts {
        mass: vec![1.0],
        force: vec![-10.0],
        contacts: vec![table],
        ..Contacts::default()
    };
    let mut run = Run::new(system, &settings(1e-7), &[0.3], &[0.0]).unwrap();
    let e0 = energy(&run);
    for k in 1..=100 {
        run.to(0.05 * f64::from(k)).unwrap();
        let gap = run.state.q[0] - amplitude * (omega * run.state.t).sin();
        assert!(gap > -1e-8, "{k}: {gap}");
    }
    let balance = energy(&run) + run.state.dissipated - run.state.supplied - e0;
    println!("{balance} {:?}", run.state.statistics);
    assert!(balance.abs() < 1e-5, "{balance}");
    assert!(run.state.statistics.steps < 20_000);
}

#[test]
fn infinitely_many_bounces_end_in_finite_time() {
    for slowest in [0.0, 1e-6, 1e-3] {
        let system = Contacts {
            mass: vec![1.0],
            force: vec![-10.0],
            contacts: vec![Contact::new(&[1.0], 0.0, 0.8, slowest)],
            ..Contacts::default()
        };
        let mut run = Run::new(system, &settings(1e-6), &[5.0], &[0.0]).unwrap();
        // 1 s down, hops of 2 x 0.8ᵏ s: over at 9 s.
        run.to(9.0 + 1e-3).unwrap();
        println!("{slowest}: {:?}", run.state.statistics);
        assert_eq!(run.state.modes, [1], "{slowest}");
        run.to(20.0).unwrap();
        assert!(
            run.state.q[0].abs() < 1e-9 && run.state.v[0].abs() < 1e-12,
            "{:?}",
            run.state.q
        );
    }
}

#[test]
fn a_block_on_a_belt_sticks_and_slips_at_the_right_times() {
    let system = || StickSlip {
        mass: 1.0,
        stiffness: 40.0,
        belt: 0.3,
        at_rest: 4.0,
        moving: 2.5,
    };
    let (omega, s) = (40f64.sqrt(), system());
    let (far, mean) = (s.at_rest / s.stiffness, s.moving / s.stiffness);
    // x = mean + R cos(ωτ − φ) from x = far, x' = belt; it sticks again at ωτ = π + 2φ.
    let phase = (s.belt / omega).atan2(far - mean);
    let slip = (PI + 2.0 * phase) / omega;
    let stick = 2.0 * (far - mean) / s.belt;
    let first = far / s.belt;
    for (tolerance, corrector) in [
        (1e-5, Corrector::Auto),
        (1e-7, Corrector::Auto),
        (1e-7, Corrector::Off),
    ] {
        let settings = SolverSettings {
            corrector,
            ..settings(tolerance)
        };
        let mut run = Run::new(system(), &settings, &[0.0], &[0.3]).unwrap();
        let mut times = Vec::new();
        while times.len() < 9 {
            if run.advance(20.0).unwrap().event {
                times.push(run.state.t);
            }
        }
        let mut exact = first;
        for (k, t) in times.iter().enumerate() {
            let bound = if corrector == Corrector::Auto {
                10.0 * tolerance
            } else {
                1e-3
            };
            assert!(
                (t - exact).abs() < bound,
                "{tolerance} {corrector:?} {k}: {t} {exact}"
            );
            exact += if k % 2 == 0 { slip } else { stick };
        }
    }
}
