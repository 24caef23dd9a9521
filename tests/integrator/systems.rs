//! The hand-written systems are what they claim to be: every derivative against differences, and known answers.

use crate::common::mutant::{Mutant, Part};
use crate::common::systems::andrews::{self, Andrews};
use crate::common::systems::bounce::Bounce;
use crate::common::systems::chain::Chain;
use crate::common::systems::driven_oscillator::DrivenOscillator;
use crate::common::systems::driven_pendulum::DrivenPendulum;
use crate::common::systems::heavy_top::{HeavyTop, rotation, vector};
use crate::common::systems::impact::Impact;
use crate::common::systems::natural_double_pendulum::NaturalDoublePendulum;
use crate::common::systems::oscillator::Oscillator;
use crate::common::systems::parting::Parting;
use crate::common::systems::pendulum::Pendulum;
use crate::common::systems::relative::{DoublePendulum, Loop};
use crate::common::systems::wall_pendulum::WallPendulum;
use crate::common::systems::{STILL, accelerations, motion};
use biela::formulation::derivative_check::{DerivativeCheck, check};
use biela::formulation::{Crossing, EvaluationContext, EventEffect, HybridSystem, System};
use biela::linalg::random::Random;
use nalgebra::{Matrix3, Vector3};

fn close(what: &str, given: f64, expected: f64, tolerance: f64) {
    assert!(
        (given - expected).abs() <= tolerance * (1.0 + expected.abs()),
        "{what}: {given} instead of {expected}"
    );
}

/// The checker at random points; `size` of positions, rates and accelerations.
fn check_at_random(
    system: &dyn System,
    cx: &EvaluationContext,
    size: [f64; 3],
    options: &DerivativeCheck,
) {
    let n = system.dimensions();
    let mut random = Random::new(23);
    for round in 0..5 {
        let mut q = random.vector(n.nq, size[0]);
        // From any stored numbers to a point of the configuration space.
        system.retract(&q.clone(), &vec![0.0; n.nv], &mut q);
        let v = random.vector(n.nv, size[1]);
        let a = random.vector(n.nv, size[2]);
        let lambda = random.vector(n.nc, 5.0);
        if let Err(text) = check(system, cx, &motion(&q, &v, &a, &lambda), options) {
            panic!("round {round}:\n{text}");
        }
    }
}

#[test]
fn every_derivative_of_every_system_is_exact() {
    let options = DerivativeCheck::default();
    let usual = [1.5, 3.0, 5.0];
    check_at_random(&Oscillator::default(), &STILL, usual, &options);
    check_at_random(&Pendulum::default(), &STILL, usual, &options);
    check_at_random(&Chain(4), &STILL, usual, &options);
    let parting = Parting {
        strength: 1.3,
        lift: 0.7,
        push: 2.0,
    };
    let late = EvaluationContext { t: 1.4, ..STILL };
    check_at_random(&parting, &late, [4.0, 3.0, 5.0], &options);
    check_at_random(&DoublePendulum::default(), &STILL, usual, &options);
    check_at_random(&NaturalDoublePendulum, &STILL, usual, &options);
    check_at_random(&WallPendulum::default(), &STILL, usual, &options);
    let closed = DoublePendulum {
        mass: [1.0, 2.0],
        length: [0.7, 1.1],
        closed: Some(Loop {
            pivot: [1.5, 0.2],
            rod: 0.9,
        }),
        ..DoublePendulum::default()
    };
    check_at_random(&closed, &STILL, usual, &options);
    let cx = EvaluationContext { t: 0.37, ..STILL };
    check_at_random(&DrivenPendulum::default(), &cx, usual, &options);
    check_at_random(&HeavyTop::default(), &STILL, usual, &options);
    // Light bodies at the speeds they have in this mechanism: inertia forces are as large as the others.
    check_at_random(&Andrews, &STILL, [1.5, 300.0, 1e5], &options);
    for modes in [[0], [1]] {
        let cx = EvaluationContext {
            u: &[3.0],
            u_dot: &[0.7],
            u_ddot: &[0.2],
            modes: &modes,
            ..STILL
        };
        let driven = DrivenOscillator { omega_squared: 7.0 };
        check_at_random(&driven, &cx, usual, &options);
        check_at_random(&Impact::default(), &cx, usual, &options);
        check_at_random(&Bounce::default(), &cx, usual, &options);
    }
}

#[test]
fn the_checker_sees_a_small_fault_in_every_part() {
    let cx = EvaluationContext {
        t: 0.37,
        u: &[3.0],
        u_dot: &[0.7],
        u_ddot: &[0.2],
        modes: &[0],
        ..STILL
    };
    let systems: [&dyn System; 3] = [
        &HeavyTop::default(),
        &DrivenPendulum::default(),
        &Bounce::default(),
    ];
    for part in Part::ALL {
        let seen = systems.iter().any(|&system| {
            let n = system.dimensions();
            let mut random = Random::new(3);
            let mut q = random.vector(n.nq, 1.0);
            system.retract(&q.clone(), &vec![0.0; n.nv], &mut q);
            let (v, a) = (random.vector(n.nv, 2.0), random.vector(n.nv, 2.0));
            let lambda = random.vector(n.nc, 2.0);
            let at = motion(&q, &v, &a, &lambda);
            assert_eq!(check(system, &cx, &at, &DerivativeCheck::default()), Ok(()));
            check(
                &Mutant { system, part },
                &cx,
                &at,
                &DerivativeCheck::default(),
            )
            .is_err()
        });
        assert!(seen, "{part:?}");
    }
}

#[test]
fn the_oscillator_solves_its_equation_and_keeps_its_energy() {
    let system = Oscillator::default();
    let (q, v) = system.exact(0.3, -2.0, 0.4);
    let (a, _) = accelerations(&system, &STILL, &[q], &[v]);
    close("a", a[0], -100.0 * q, 1e-15);
    let at = |q: f64, v: f64| {
        let e = system.energy(&STILL, &[q], &[v]);
        e.kinetic + e.potential
    };
    close("energy", at(q, v), at(0.3, -2.0), 1e-14);
}

#[test]
fn the_rod_of_a_pendulum_carries_weight_and_centripetal_force() {
    // Φ is scaled to a length and G points outwards, so M a + Gᵀλ = f makes λ the tension m (w² l + g cos θ).
    let system = Pendulum {
        mass: 2.0,
        length: 0.8,
        gravity: 9.81,
    };
    let (theta, w): (f64, f64) = (0.6, 3.0);
    let (s, c) = theta.sin_cos();
    let (l, g) = (0.8, 9.81);
    let (a, lambda) = accelerations(&system, &STILL, &[l * s, -l * c], &[l * w * c, l * w * s]);
    close("tension", lambda[0], 2.0 * (w * w * l + g * c), 1e-13);
    let alpha = -g / l * s;
    close("ax", a[0], l * (alpha * c - w * w * s), 1e-13);
    close("ay", a[1], l * (alpha * s + w * w * c), 1e-13);
}

#[test]
fn the_double_pendulum_starts_as_two_bars_falling_freely() {
    // Horizontal and at rest: θ1'' = −g/l1 and θ2'' = 0 for point masses.
    let right = std::f64::consts::FRAC_PI_2;
    let (a, _) = accelerations(
        &DoublePendulum::default(),
        &STILL,
        &[right, right],
        &[0.0, 0.0],
    );
    close("first", a[0], -9.81, 1e-13);
    close("second", a[1], 0.0, 1e-13);
}

#[test]
fn the_closing_rod_of_a_loop_carries_the_weight_of_its_tip() {
    // Both bars horizontal and in line, at rest, the rod vertical above the tip: bars carry point masses along their axes
    // only, so the middle mass falls freely while the tip stays.
    let right = std::f64::consts::FRAC_PI_2;
    let system = DoublePendulum {
        closed: Some(Loop {
            pivot: [2.0, 1.0],
            rod: 1.0,
        }),
        ..DoublePendulum::default()
    };
    let mut phi = [f64::NAN];
    system.constraint(&STILL, &[right, right], &mut phi);
    close("closure", phi[0], 0.0, 1e-15);
    let (a, lambda) = accelerations(&system, &STILL, &[right, right], &[0.0, 0.0]);
    close("first bar", a[0], -9.81, 1e-13);
    close("second bar", a[1], 9.81, 1e-13);
    // The rod carries the weight of the tip, in tension.
    close("rod", lambda[0], 9.81, 1e-13);
}

#[test]
fn a_pendulum_shaken_sideways_feels_the_acceleration_of_its_pivot() {
    // In the pivot's frame: θ'' = −(g/l) sin θ − (p''/l) cos θ.
    let system = DrivenPendulum::default();
    let (t, theta, w): (f64, f64, f64) = (0.23, 0.4, 1.7);
    let cx = EvaluationContext { t, ..STILL };
    let (s, c) = theta.sin_cos();
    let [p, p_dot, p_ddot] = system.pivot(t).map(|x| x.x);
    let (q, v) = ([p + s, -c], [p_dot + w * c, w * s]);
    let (mut phi, mut phi_t, mut g) = ([0.0], [0.0], [0.0; 2]);
    system.constraint(&cx, &q, &mut phi);
    system.constraint_rate(&cx, &q, &mut phi_t);
    system.jacobian(&cx, &q, &mut g);
    close("closure", phi[0], 0.0, 1e-15);
    close("rate", g[0] * v[0] + g[1] * v[1] + phi_t[0], 0.0, 1e-15);
    let (a, _) = accelerations(&system, &cx, &q, &v);
    let alpha = -9.81 * s - p_ddot * c;
    close("ax", a[0], p_ddot + alpha * c - w * w * s, 1e-13);
    close("ay", a[1], alpha * s + w * w * c, 1e-13);
}

#[test]
fn the_heavy_top_obeys_eulers_equation_about_its_fixed_point() {
    let top = HeavyTop::default();
    let (mut q, mut v) = top.start();
    // Turn it to somewhere without symmetry.
    let x = top.center;
    let turn = [0.0, 0.0, 0.0, 0.3, -0.5, 0.7];
    system_turn(&top, &mut q, &turn);
    let omega = vector(&v[3..]) + Vector3::new(0.4, -3.0, 2.0);
    let r = rotation(&q);
    q[..3].copy_from_slice((r * x).as_slice());
    v[..3].copy_from_slice((r * omega.cross(&x)).as_slice());
    v[3..].copy_from_slice(omega.as_slice());
    let (a, lambda) = accelerations(&top, &STILL, &q, &v);

    // (J + m (|x|² I − x xᵀ)) ω' = −ω × (same) ω + x × Rᵀ m g
    let steiner = top.mass * (x.norm_squared() * Matrix3::identity() - x * x.transpose());
    let about_point = Matrix3::from_diagonal(&top.inertia) + steiner;
    let weight = top.mass * top.gravity;
    let torque = x.cross(&(r.inverse() * weight)) - omega.cross(&(about_point * omega));
    let expected = about_point.try_inverse().unwrap() * torque;
    for k in 0..3 {
        close("angular acceleration", a[3 + k], expected[k], 1e-12);
        close(
            "joint force",
            -lambda[k],
            top.mass * a[k] - weight[k],
            1e-12,
        );
    }
    // Angular momentum about the vertical through the fixed point does not change: d/dt = (r x m g)_z = 0.
    let spin = top.inertia.component_mul(&omega);
    let spin_rate = top.inertia.component_mul(&vector(&a[3..])) + omega.cross(&spin);
    let moment = top.mass * vector(&q).cross(&vector(&a)) + r * spin_rate;
    close("vertical angular momentum", moment.z, 0.0, 1e-10);
}

fn system_turn(system: &dyn System, q: &mut [f64], w: &[f64]) {
    let from = q.to_vec();
    system.retract(&from, w, q);
}

#[test]
fn the_squeezer_starts_with_the_accelerations_and_multipliers_of_the_test_set() {
    let (mut phi, v) = ([f64::NAN; 6], [0.0; 7]);
    Andrews.constraint(&STILL, &andrews::START, &mut phi);
    for x in phi {
        close("closure", x, 0.0, 1e-16);
    }
    let (a, lambda) = accelerations(&Andrews, &STILL, &andrews::START, &v);
    // Sixteen digits are known; the condition of the saddle-point matrix in SI units (masses of 1e-6 beside lengths of
    // 1e-2) takes four. The others are zero.
    close("β''", a[0], 14222.443919954114, 1e-12);
    close("Θ''", a[1], -10666.832939965585, 1e-12);
    for k in 2..7 {
        close("other accelerations", a[k] / a[0], 0.0, 1e-12);
    }
    close("λ1", lambda[0], 98.56687039624109, 1e-11);
    close("λ2", lambda[1], -6.122688344255662, 1e-11);
    for k in 2..6 {
        close("other multipliers", lambda[k], 0.0, 1e-11);
    }
}

#[test]
fn the_known_motion_of_the_squeezer_stays_closed_and_in_energy_balance() {
    // Two points of a solution known to 6e-12 (q) and correspondingly in v; angles turn at 1e3 rad/s.
    let known: [(f64, [f64; 7], [f64; 7]); 2] = [
        (
            0.015,
            [
                5.655429749991794,
                -5.833796765108832,
                0.42589192575237794,
                0.16401283757260526,
                0.49367652696864445,
                -0.16401283757260524,
                1.208712541909195,
            ],
            [
                441.7019932552524,
                -375.3594971288744,
                46.63421226488546,
                92.03152208827692,
                -9.50151625591751,
                -92.03152208827692,
                33.69062862357231,
            ],
        ),
        (
            0.03,
            [
                15.81077119515371,
                -15.756371058411844,
                0.040822240119645435,
                -0.5347301163420802,
                0.524409965879954,
                0.5347301163420803,
                1.048080741041938,
            ],
            [
                1139.920302259106,
                -1424.37929517754,
                11.032911910619509,
                19.293374105033642,
                0.5735699148295492,
                -19.293374105033642,
                0.32317914924915636,
            ],
        ),
    ];
    let total = |q: &[f64; 7], v: &[f64; 7]| {
        let energy = Andrews.energy(&STILL, q, v);
        energy.kinetic + energy.potential
    };
    let at_start = total(&andrews::START, &[0.0; 7]);
    for (t, q, v) in known {
        let (mut phi, mut g) = ([f64::NAN; 6], [f64::NAN; 42]);
        Andrews.constraint(&STILL, &q, &mut phi);
        Andrews.jacobian(&STILL, &q, &mut g);
        for row in 0..6 {
            let rate: f64 = (0..7).map(|j| g[7 * row + j] * v[j]).sum();
            close(&format!("closure {row} at {t}"), phi[row], 0.0, 1e-13);
            close(&format!("closing rate {row} at {t}"), rate, 0.0, 1e-10);
        }
        let work = andrews::DRIVE * (q[0] - andrews::START[0]);
        let gained = total(&q, &v) - at_start;
        assert!(
            (gained - work).abs() < 1e-11 * work,
            "energy at {t}: {gained} instead of {work}"
        );
    }
}

#[test]
fn the_impact_oscillator_changes_its_law_at_the_border_only() {
    let system = Impact::default();
    // At rest at −1 it reaches 0.25 with v = sqrt(100 (1 − 1/16)); both laws have the same energy there.
    let v = (100.0f64 * (1.0 - 0.0625)).sqrt();
    let total = |modes: &[i32], q: f64, v: f64| {
        let energy = system.energy(&EvaluationContext { modes, ..STILL }, &[q], &[v]);
        energy.kinetic + energy.potential
    };
    close(
        "before",
        total(&[0], 0.25, v),
        total(&[0], -1.0, 0.0),
        1e-14,
    );
    close("after", total(&[1], 0.25, v), total(&[0], 0.25, v), 1e-14);

    let (mut modes, mut n) = ([0], [0.0]);
    assert_eq!(system.crossing(&modes, 0), Crossing::Rising);
    let rates = [v];
    let at = motion(&[0.25], &rates, &[0.0], &[]);
    assert_eq!(
        system.handle_event(&STILL, &at, 0, &mut modes, &mut n),
        EventEffect::Mode
    );
    assert_eq!(
        (modes, system.crossing(&modes, 0)),
        ([1], Crossing::Falling)
    );
    let cx = EvaluationContext {
        modes: &modes,
        ..STILL
    };
    assert_eq!(accelerations(&system, &cx, &[0.25], &[v]).0, [-2000.0]);
    system.handle_event(&STILL, &at, 0, &mut modes, &mut n);
    assert_eq!(modes, [0]);
}

#[test]
fn a_mass_at_rest_stays_in_contact_with_the_floor_until_it_is_lifted() {
    let system = Bounce::default();
    let (mut modes, mut n) = ([0], [f64::NAN; 2]);
    let at = motion(&[0.0, 0.0], &[1.0, -2.0], &[0.0; 2], &[0.0]);
    assert_eq!(system.crossing(&modes, 0), Crossing::Falling);
    assert_eq!(system.crossing(&modes, 1), Crossing::Off);
    let reaction = system.handle_event(&STILL, &at, 0, &mut modes, &mut n);
    let expected = EventEffect::Impulse {
        restitution: 0.8,
        slowest: 1e-3,
        poisson: false,
    };
    assert_eq!((reaction, n, modes), (expected, [0.0, 1.0], [0]));

    // Flying: the row is there but does not act.
    let lift = [5.0];
    let cx = |modes| EvaluationContext {
        u: &lift,
        u_dot: &[0.0],
        u_ddot: &[0.0],
        modes,
        ..STILL
    };
    let (a, lambda) = accelerations(&system, &cx(&[0]), &[0.0, 1.0], &[1.0, 0.0]);
    close("free fall", a[1], 5.0 / 2.0 - 9.81, 1e-15);
    assert_eq!(lambda, [0.0]);

    system.activate_unilateral(0, &mut modes);
    assert_eq!(modes, [1]);
    assert_eq!(system.crossing(&modes, 0), Crossing::Off);
    assert_eq!(system.crossing(&modes, 1), Crossing::Falling);
    let (a, lambda) = accelerations(&system, &cx(&modes), &[0.0, 0.0], &[1.0, 0.0]);
    close("rest", a[1], 0.0, 1e-15);
    let (mut phi, mut rate) = ([0.0; 2], [0.0; 2]);
    system.event_functions(&cx(&modes), &at, &mut phi, &mut rate);
    // The event function of the lift-off is the force of the floor.
    close("floor", phi[1], -lambda[0], 1e-14);
    assert_eq!(
        system.handle_event(&STILL, &at, 1, &mut modes, &mut n),
        EventEffect::Mode
    );
    assert_eq!(modes, [0]);
}
