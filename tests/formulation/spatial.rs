//! Physics of space against closed forms: a body that flips, tops, screws, shafts, gears, and loops whose rows depend on each
//! other.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::rig::{Rig, drawn, rod, sensor, slope, world};
use biela::linalg::rotation::Vec3;
use biela::model::quantity::{BodyField, JointField};
use biela::model::*;

/// Complete elliptic integral of the first kind by its complementary modulus k', k'² given: π / 2 agm(1, k').
fn complete(complement_squared: f64) -> f64 {
    let (mut a, mut b) = (1.0, complement_squared.sqrt());
    while (a - b).abs() > 1e-15 * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    PI / (a + b)
}

#[test]
fn complete_elliptic_integrals_are_those_of_the_tables() {
    assert!((complete(1.0) - FRAC_PI_2).abs() < 1e-15);
    // K(k² = 1/2) = Γ(1/4)² / 4 √π
    assert!((complete(0.5) - 1.854_074_677_301_372).abs() < 1e-14);
}

fn free(inertia: [f64; 3], spin: [f64; 3]) -> Model {
    let mut model = world(3, 0.0);
    let [x, y, z] = inertia;
    model.bodies = vec![Body {
        name: "body".into(),
        mass: 1.0,
        inertia: [x, y, z, 0.0, 0.0, 0.0],
        angular_velocity: spin,
        ..Body::default()
    }];
    model.solver.length = Some(1.0);
    model
}

/// Ground axes.
fn angular_momentum(rig: &Rig, b: usize) -> Vec3 {
    let r = rig.rotation(b);
    let [x, y, z, ..] = rig.model.bodies[b].inertia;
    let w = r.transpose() * rig.of_body(b, BodyField::AngularVelocity);
    r * Vec3::new(x * w.x, y * w.y, z * w.z)
}

#[test]
fn a_body_near_its_unstable_axis_flips_at_the_closed_form_period() {
    // Landau and Lifshitz, Mechanics, section 37: with J₁ < J₂ < J₃ and M² > 2E J₂ the middle rate is a sn(p t) with
    // p² = (J₃ − J₂)(M² − 2E J₁) / J₁J₂J₃ and k² = (J₂ − J₁)(2E J₃ − M²) / (J₃ − J₂)(M² − 2E J₁).
    let (j, w) = ([1.0, 2.0, 3.0], [0.01, 2.0, 0.01]);
    let twice_e: f64 = (0..3).map(|k| j[k] * w[k] * w[k]).sum();
    let m2: f64 = (0..3).map(|k| j[k] * j[k] * w[k] * w[k]).sum();
    let below = (j[2] - j[1]) * (m2 - twice_e * j[0]);
    let above = (j[1] - j[0]) * (twice_e * j[2] - m2);
    let p = (below / (j[0] * j[1] * j[2])).sqrt();
    let flip = 2.0 * complete((below - above) / below) / p;

    let mut model = free(j, w);
    let mut errors = Vec::new();
    for tolerance in [1e-5, 1e-6, 1e-7] {
        model.solver.tolerance = tolerance;
        let mut rig = Rig::new(&model);
        let (start, momentum) = (rig.energy(), angular_momentum(&rig, 0));
        let (mut zeros, mut lost, mut turned) = (Vec::new(), 0.0_f64, 0.0_f64);
        let mut before = (0.0, w[1], 0.0);
        while zeros.len() < 4 {
            rig.advance(100.0);
            let now = (rig.state.t, rig.state.v[4], rig.state.acc[4]);
            if before.1.signum() != now.1.signum() {
                zeros.push(hermite_zero(before, now));
            }
            before = now;
            lost = lost.max((rig.energy() - start).abs());
            turned = turned.max((angular_momentum(&rig, 0) - momentum).norm());
        }
        let late = (1..4).map(|k| (zeros[k] - zeros[k - 1] - flip).abs());
        let late = late.fold(0.0, f64::max);
        println!(
            "{tolerance}: flips off by {late:.1e} of {flip:.4} s, energy {lost:.1e}, momentum {turned:.1e}"
        );
        // Energy 4 J, momentum 4 N m s.
        assert!(lost < 10.0 * tolerance, "{lost:e}");
        assert!(turned < 10.0 * tolerance, "{turned:e}");
        errors.push(late);
    }
    // The flip lasts as long as ln of the distance from the unstable axis: an energy off by 1e-7 J changes the 1e-4 J it is
    // away by a thousandth.
    assert!(errors[2] < 1e-3 * flip, "{errors:?}");
    assert!(errors[2] < errors[0], "{errors:?}");
}

/// Zero of the cubic through (t, x, ẋ) at two times.
fn hermite_zero((t0, x0, v0): (f64, f64, f64), (t1, x1, v1): (f64, f64, f64)) -> f64 {
    let h = t1 - t0;
    let value = |s: f64| {
        let (a, b) = (1.0 - s, s);
        x0 * a * a * (1.0 + 2.0 * b)
            + x1 * b * b * (1.0 + 2.0 * a)
            + h * (v0 * b * a * a - v1 * a * b * b)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if value(middle).signum() == x0.signum() {
            low = middle;
        } else {
            high = middle;
        }
    }
    t0 + h * low
}

/// The common benchmark of a heavy top, its axis horizontal along y at the start, precessing about z.
fn top(precession: f64) -> Model {
    let mut model = world(3, 9.81);
    model.bodies = vec![Body {
        name: "top".into(),
        mass: 15.0,
        inertia: [0.234375, 0.46875, 0.234375, 0.0, 0.0, 0.0],
        position: [0.0; 3],
        center_of_mass: [0.0, 1.0, 0.0],
        angular_velocity: [0.0, 150.0, precession],
        ..Body::default()
    }];
    model.joints = vec![drawn(
        "tip",
        JointKind::Spherical,
        [None, Some(0)],
        [0.0; 3],
        [0.0; 3],
    )];
    model.sensors = vec![sensor(Some(0), [0.0, 1.0, 0.0])];
    model.solver.length = Some(1.0);
    model
}

/// m g l, J₃ ω₃ and the transverse inertia about the tip.
const WEIGHT: f64 = 15.0 * 9.81;
const SPIN: f64 = 0.46875 * 150.0;
const ACROSS: f64 = 0.234375 + 15.0;

#[test]
fn a_heavy_top_precesses_steadily_at_the_closed_form_rate() {
    // Horizontal axis: J₃ ω₃ Ω = m g l exactly.
    let rate = WEIGHT / SPIN;
    let mut model = top(rate);
    model.solver.tolerance = 1e-6;
    let mut rig = Rig::new(&model);
    for k in 1..=10 {
        let t = 0.1 * f64::from(k);
        rig.to(t);
        let at = rig.of_sensor(0, BodyField::Position);
        let expected = Vec3::new(-(rate * t).sin(), (rate * t).cos(), 0.0);
        // 24 turns of spin in this second; the table of the method's notes has 1.5e-6 for this tolerance.
        assert!(
            (at - expected).norm() < 2e-5,
            "t = {t}: {}",
            (at - expected).norm()
        );
    }
}

#[test]
fn a_heavy_top_nutates_with_the_closed_form_period_between_the_closed_form_heights() {
    // Goldstein: u = height, u̇² = (1 − u²)(α − β u) − (b − a u)², from u = 0, u̇ = 0 with the precession Ω:
    // b = Ω, α = Ω², so u̇² = u (β u² + .. ) with the roots 0 and those of a quadratic.
    let precession = -4.61538;
    let (a, beta) = (SPIN / ACROSS, 2.0 * WEIGHT / ACROSS);
    let (b, alpha) = (precession, precession * precession);
    // u̇² = β u³ − (α + a²) u² + (2ab − β) u: the roots beside 0.
    let (half, product) = (0.5 * (alpha + a * a) / beta, (2.0 * a * b - beta) / beta);
    let root = (half * half - product).sqrt();
    // b < 0 makes the product negative: one root below zero, one far above.
    let low = product / (half + root);
    let high = half + root;
    assert!(low < 0.0 && high > 1.0);
    // Between low and 0: k² = (0 − low)/(high − low).
    let period = 4.0 / (beta * (high - low)).sqrt() * complete(high / (high - low));

    let mut model = top(precession);
    let mut errors = Vec::new();
    for tolerance in [1e-5, 1e-6] {
        model.solver.tolerance = tolerance;
        let mut rig = Rig::new(&model);
        let start = rig.energy();
        rig.to(2.5 * period);
        let lowest = rig.of_sensor(0, BodyField::Position).z;
        let still = rig.of_sensor(0, BodyField::Velocity).z;
        rig.to(3.0 * period);
        let highest = rig.of_sensor(0, BodyField::Position).z;
        let at_rest = rig.of_sensor(0, BodyField::Velocity).z;
        let found = [lowest - low, still, highest, at_rest].map(f64::abs);
        println!(
            "{tolerance}: {found:?}, {} steps, energy {:.1e}",
            rig.state.statistics.steps,
            rig.energy() - start
        );
        errors.push(found.iter().fold(0.0_f64, |m, x| m.max(*x)));
    }
    // Velocities of 1 m/s off by 5 rad/s times a phase; the method's notes have 1.6e-4 and 1.5e-6 rad for these tolerances.
    assert!(
        errors[1] < 1e-4 && errors[1] < errors[0],
        "{errors:?} {period} {low}"
    );
}

/// Bars of 1 m joined by balls, released horizontally with some spin.
fn chain(n: usize) -> Model {
    let mut model = world(3, 9.81);
    for k in 0..n {
        let x = k as f64;
        let mut bar = rod(&format!("bar{k}"), [x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], 1.0);
        // About the vertical, the whole as one; and each about its own axis.
        bar.velocity = [0.0, x + 0.5, 0.0];
        bar.angular_velocity = [2.0, 0.0, 1.0];
        model.bodies.push(bar);
        let before = k.checked_sub(1);
        model.joints.push(drawn(
            &format!("ball{k}"),
            JointKind::Spherical,
            [before, Some(k)],
            [x, 0.0, 0.0],
            [0.0; 3],
        ));
    }
    model
}

#[test]
fn a_chain_of_balls_keeps_its_energy_and_its_momentum_about_the_vertical() {
    let mut model = chain(3);
    model.solver.tolerance = 1e-6;
    let mut rig = Rig::new(&model);
    assert!(rig.report.moved < 1e-12 && rig.report.velocity_changed < 1e-12);
    let momentum = |rig: &Rig| -> f64 {
        (0..3)
            .map(|b| {
                let (r, v) = (
                    rig.of_body(b, BodyField::Position),
                    rig.of_body(b, BodyField::Velocity),
                );
                (angular_momentum(rig, b) + rig.model.bodies[b].mass * r.cross(&v)).z
            })
            .sum()
    };
    let (energy, about) = (rig.energy(), momentum(&rig));
    while rig.state.t < 3.0 {
        rig.advance(3.0);
        // Energies of 100 J, momenta of 10 N m s at a tolerance of 1e-6.
        assert!(
            (rig.energy() - energy).abs() < 1e-3,
            "{:e}",
            rig.energy() - energy
        );
        assert!(
            (momentum(&rig) - about).abs() < 1e-4,
            "{:e}",
            momentum(&rig) - about
        );
        assert!(rig.closure() <= 1e-10, "{:e}", rig.closure());
    }
}

#[test]
fn the_orders_of_the_method_hold_on_the_rotations_of_tops_and_chains() {
    let precession = -4.61538;
    for (name, model, end, h) in [
        ("top", top(precession), 0.1, 1e-3),
        ("chain", chain(3), 0.4, 1e-2),
        ("free", free([1.0, 2.0, 3.0], [0.01, 2.0, 0.01]), 4.0, 0.1),
    ] {
        let run = |h: f64, corrector| {
            let mut model = model.clone();
            model.solver = SolverSettings {
                length: model.solver.length,
                ..crate::rig::fixed(h, corrector)
            };
            let mut rig = Rig::new(&model);
            rig.to(end);
            rig
        };
        let exact = run(h / 32.0, Corrector::Auto);
        for (corrector, order) in [(Corrector::Off, 2.0), (Corrector::Auto, 4.0)] {
            let steps = [h, h / 2.0, h / 4.0];
            let errors = steps.map(|h| run(h, corrector).distance(&exact));
            let found = slope(&steps, &errors);
            println!("{name}: {found:.2} {errors:?}");
            // The method's notes measured 1.98 to 2.34 and 3.95 to 4.02 over these steps.
            assert!(
                (found - order).abs() < 0.2 * order.sqrt(),
                "{name}: {found} {errors:?}"
            );
        }
    }
}

#[test]
fn a_nut_falls_along_its_screw_as_in_the_closed_form() {
    // (J + m p²) θ̈ = −m g p, p the travel for a radian.
    let (mass, inertia, pitch) = (2.0, 0.03, 0.8);
    for sign in [1.0, -1.0] {
        let mut model = world(3, 9.81);
        model.bodies = vec![Body {
            name: "nut".into(),
            mass,
            inertia: [0.02, 0.02, inertia, 0.0, 0.0, 0.0],
            ..Body::default()
        }];
        let mut screw = drawn(
            "screw",
            JointKind::Screw,
            [None, Some(0)],
            [0.1, 0.2, 0.0],
            [0.0, 0.0, 1.0],
        );
        screw.pitch = sign * pitch;
        model.joints = vec![screw];
        // The centre of mass is off the axis: it circles, and its inertia counts.
        let off = 0.1f64.hypot(0.2);
        let p = sign * pitch / TAU;
        let alpha = -mass * 9.81 * p / (inertia + mass * off * off + mass * p * p);
        let mut rig = Rig::new(&model);
        rig.to(1.5);
        let [angle, speed, acceleration] = rig.coordinate(0, 0);
        let expected = [0.5 * alpha * 2.25, alpha * 1.5, alpha];
        for (x, y) in [angle, speed, acceleration].iter().zip(expected) {
            assert!((x - y).abs() < 1e-5 * (1.0 + y.abs()), "{x} {y}");
        }
        let z = rig.of_body(0, BodyField::Position).z;
        assert!((z - p * angle).abs() < 1e-10, "{z}");
        assert!(angle.abs() > TAU, "more than a turn: {angle}");
    }
}

/// Two shafts in the xy plane at an angle, a cross between them, the first driven at a constant speed; the arm fixed in the first
/// begins along `arm`.
fn cardan(bend: f64, arm: [f64; 3], speed: f64) -> Model {
    let mut model = world(3, 0.0);
    let along = Vec3::new(bend.cos(), bend.sin(), 0.0);
    model.bodies = vec![
        rod("input", [-1.0, 0.0, 0.0], [0.0; 3], 1.0),
        rod("output", [0.0; 3], along.into(), 1.0),
    ];
    let arm = Vec3::from(arm);
    let other = arm.cross(&along).normalize();
    let mut cross = drawn(
        "cross",
        JointKind::Universal,
        [Some(0), Some(1)],
        [0.0; 3],
        arm.into(),
    );
    if let JointPlacement::InitialPose(frame) = &mut cross.frame {
        frame.reference_direction = other.into();
    }
    model.joints = vec![
        drawn(
            "first",
            JointKind::Revolute,
            [None, Some(0)],
            [-1.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
        ),
        drawn(
            "second",
            JointKind::Revolute,
            [None, Some(1)],
            along.into(),
            along.into(),
        ),
        cross,
    ];
    model.motions = vec![Motion {
        name: "drive".into(),
        on: PrescribedCoordinate::Joint(JointCoordinate { joint: 0, index: 0 }),
        axis: [0.0; 3],
        law: MotionLaw::ConstantSpeed { speed },
        text_position: TextPosition::default(),
    }];
    model
}

#[test]
fn a_cross_between_bent_shafts_has_the_error_of_cardan() {
    let (bend, speed) = (0.6_f64, 5.0);
    // The arm of the driven fork begins at right angles to the plane of the shafts, or in it.
    for (arm, factor) in [
        ([0.0, 0.0, 1.0], bend.cos()),
        ([0.0, 1.0, 0.0], 1.0 / bend.cos()),
    ] {
        let mut rig = Rig::new(&cardan(bend, arm, speed));
        // Twelve coordinates, fifteen rows, none free: three rows too many.
        assert_eq!(rig.report.rank, 12, "{:?}", rig.report);
        assert!(!rig.report.redundant.is_empty());
        for k in 1..=20 {
            let t = 0.2 * f64::from(k);
            rig.to(t);
            let a = speed * t;
            // tan b = factor tan a on the branch of a.
            let b = a + (factor * a.sin()).atan2(a.cos()) - a.sin().atan2(a.cos());
            let b = b - TAU * ((b - a) / TAU).round();
            let slower = a.cos() * a.cos() + factor * factor * a.sin() * a.sin();
            let [angle, rate, _] = rig.coordinate(1, 0);
            // Position and velocity follow from the closure alone.
            assert!((rig.coordinate(0, 0)[0] - a).abs() < 1e-9);
            assert!((angle - b).abs() < 1e-9, "t = {t}: {angle} {b}");
            assert!(
                (rate - speed * factor / slower).abs() < 1e-8,
                "t = {t}: {rate}"
            );
            assert!(rig.closure() <= 1e-10);
        }
        // The drive's work: the tolerance is relative to angles of 20 rad, (2e-5)^(4/5) = 2e-4 of the energy in each of 13 swings.
        let (off, energy) = (rig.balance().abs(), rig.energy());
        assert!(off < 13.0 * 2e-4 * energy, "{off:e} of {energy}");
    }
}

/// Six revolutes whose axes follow the edges of a cube, five bars of 1 m and 1 kg: Bricard's mechanism.
pub(super) fn bricard() -> Model {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let axes = [
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
    ];
    let mut model = world(3, 0.0);
    model.gravity = [0.0, -9.81, 0.0];
    for k in 0..5 {
        model
            .bodies
            .push(rod(&format!("bar{k}"), points[k], points[k + 1], 1.0));
    }
    for k in 0..6_usize {
        let bodies = [k.checked_sub(1), (k < 5).then_some(k)];
        model.joints.push(drawn(
            &format!("R{k}"),
            JointKind::Revolute,
            bodies,
            points[k],
            axes[k],
        ));
    }
    model
}

#[test]
fn bricards_mechanism_moves_although_its_constraint_count_says_it_cannot() {
    let run = |tolerance: f64| {
        let mut model = bricard();
        model.solver.tolerance = tolerance;
        let mut rig = Rig::new(&model);
        // Thirty coordinates, thirty rows, one of which follows from the others.
        assert_eq!(
            (rig.report.rank, rig.report.redundant.len()),
            (29, 1),
            "{:?}",
            rig.report
        );
        assert!(rig.report.redundant[0].starts_with('R'));
        let energy = rig.energy();
        let (mut open, mut lost) = (0.0_f64, 0.0_f64);
        while rig.state.t < 10.0 {
            rig.advance(10.0);
            open = open.max(rig.closure());
            lost = lost.max((rig.energy() - energy).abs());
        }
        println!(
            "{tolerance}: closure {open:.1e}, energy {lost:.1e} J, {} steps",
            rig.state.statistics.steps
        );
        assert!(open <= 1e-10, "{open:e}");
        (rig, lost)
    };
    let (rough, _) = run(1e-4);
    let (fine, lost) = run(1e-5);
    // Energies of 40 J. The method's notes: errors of 5e-6 m and 4e-7 m after 10 s at these tolerances.
    assert!(lost < 1e-3, "{lost:e}");
    let apart = rough.distance(&fine);
    assert!(apart < 2e-4, "{apart:e}");
    assert!(fine.of_body(2, BodyField::Velocity).norm() > 1e-2);
}

/// A row of N four-bars of 1 m and 1 kg, upright, in the plane or as the same drawing in space with pins along z.
pub(super) fn four_bars(n: usize, dimension: usize) -> Model {
    let mut model = world(dimension, 0.0);
    model.name = format!("{n} four-bars in {dimension} dimensions");
    model.gravity = [0.0, -9.81, 0.0];
    for k in 0..=n {
        let x = k as f64;
        let mut bar = rod(&format!("bar{k}"), [x, 0.0, 0.0], [x, 1.0, 0.0], 1.0);
        (bar.velocity, bar.angular_velocity) = ([0.5, 0.0, 0.0], [0.0, 0.0, -1.0]);
        model.bodies.push(bar);
    }
    for k in 0..n {
        let x = k as f64;
        let mut bar = rod(
            &format!("coupler{k}"),
            [x, 1.0, 0.0],
            [x + 1.0, 1.0, 0.0],
            1.0,
        );
        bar.velocity = [1.0, 0.0, 0.0];
        model.bodies.push(bar);
    }
    let z = [0.0, 0.0, 1.0];
    for k in 0..=n {
        let point = [k as f64, 0.0, 0.0];
        model.joints.push(drawn(
            &format!("A{k}"),
            JointKind::Revolute,
            [None, Some(k)],
            point,
            z,
        ));
    }
    for k in 0..n {
        for bar in [k, k + 1] {
            let bodies = [Some(bar), Some(n + 1 + k)];
            let point = [bar as f64, 1.0, 0.0];
            model.joints.push(drawn(
                &format!("B{k}_{bar}"),
                JointKind::Revolute,
                bodies,
                point,
                z,
            ));
        }
    }
    model
}

#[test]
fn planar_loops_modelled_in_space_move_as_in_the_plane() {
    for n in [1, 2] {
        let [mut flat, mut deep] = [2, 3].map(|d| {
            let mut model = four_bars(n, d);
            model.solver.tolerance = 1e-5;
            Rig::new(&model)
        });
        // Each loop of pins in space has three rows too many.
        assert_eq!(flat.report.redundant, Vec::<String>::new());
        let rows = deep.mechanism.dimensions().nc;
        assert_eq!(deep.report.rank, rows - 3 * n, "{:?}", deep.report);
        assert!(
            deep.report
                .redundant
                .iter()
                .all(|name| name.starts_with(['A', 'B']))
        );
        let energy = deep.energy();
        for k in 1..=8 {
            let t = 0.25 * f64::from(k);
            flat.to(t);
            while deep.state.t < t {
                deep.advance(t);
                assert!(deep.closure() <= 1e-10, "{:e}", deep.closure());
            }
            for b in 0..deep.model.bodies.len() {
                let [p, q] = [&flat, &deep].map(|rig| rig.of_body(b, BodyField::Position));
                // Both are off by about the tolerance times the 30 steps of a quarter second, amplified by the fall.
                assert!((p - q).norm() < 2e-4, "{n}, t = {t}, body {b}: {p} {q}");
                assert!(q.z.abs() < 1e-9);
            }
            let [p, q] = [&flat, &deep].map(|rig| rig.coordinate(0, 0)[0]);
            assert!((p - q).abs() < 5e-4, "{n}, t = {t}: {p} {q}");
        }
        assert!(
            (deep.energy() - energy).abs() < 1e-3,
            "{:e}",
            deep.energy() - energy
        );
    }
}

#[test]
fn spatial_chains_of_four_bars_stay_on_the_smooth_branch_through_all_singular_positions() {
    for n in [1, 2, 4] {
        let mut model = four_bars(n, 3);
        model.solver.tolerance = 1e-5;
        let mut rig = Rig::new(&model);
        let energy = rig.energy();
        let end = if crate::rig::full() { 10.0 } else { 3.0 };
        let (mut lost, mut tilt, mut open) = (0.0_f64, 0.0_f64, 0.0_f64);
        while rig.state.t < end {
            rig.advance(end);
            lost = lost.max((rig.energy() - energy).abs());
            open = open.max(rig.closure());
            // All ground bars stay parallel.
            let first = rig.coordinate(0, 0)[0];
            for k in 1..=n {
                tilt = tilt.max((rig.coordinate(k, 0)[0] - first).abs());
            }
        }
        // θ̈ = k sin θ from θ = 0, θ̇ = 1: θ̇² = 1 + 4k sin²(θ/2).
        let n = n as f64;
        let k = 9.81 * ((n + 1.0) / 2.0 + n) / ((n + 1.0) / 3.0 + n);
        let [angle, speed, _] = rig.coordinate(0, 0);
        let expected = (1.0 + 4.0 * k * (0.5 * angle).sin().powi(2)).sqrt();
        println!(
            "{n}: energy {lost:.1e} J, tilt {tilt:.1e}, closure {open:.1e}, {} steps",
            rig.state.statistics.steps
        );
        assert!(lost < 1e-3, "{n}: {lost:e}");
        assert!(tilt < 1e-5, "{n}: {tilt:e}");
        assert!(open <= 1e-10, "{n}: {open:e}");
        assert!(
            (speed.abs() - expected).abs() < 1e-4,
            "{n}: {speed} {expected}"
        );
    }
}

#[test]
fn a_body_on_a_plane_slides_as_in_the_closed_form() {
    // On a slope of angle s: g sin s down the slope; the normal force is m g cos s.
    let s = 0.4_f64;
    let normal = Vec3::new(s.sin(), 0.0, s.cos());
    let mut model = world(3, 9.81);
    model.bodies = vec![Body {
        name: "block".into(),
        mass: 2.0,
        inertia: [0.1, 0.2, 0.3, 0.0, 0.0, 0.0],
        angular_velocity: (3.0 * normal).into(),
        ..Body::default()
    }];
    let mut on = drawn(
        "slope",
        JointKind::Planar,
        [None, Some(0)],
        [0.0; 3],
        normal.into(),
    );
    if let JointPlacement::InitialPose(frame) = &mut on.frame {
        frame.reference_direction = [s.cos(), 0.0, -s.sin()];
    }
    model.joints = vec![on];
    let mut rig = Rig::new(&model);
    rig.to(2.0);
    let [down, across, angle] = [0, 1, 2].map(|k| rig.coordinate(0, k)[0]);
    assert!((down - 0.5 * 9.81 * s.sin() * 4.0).abs() < 1e-6, "{down}");
    assert!(
        across.abs() < 1e-9 && (angle - 6.0).abs() < 1e-5,
        "{across} {angle}"
    );
    let force = rig.of_joint(0, JointField::Force);
    let expected = 2.0 * 9.81 * s.cos() * normal;
    assert!((force - expected).norm() < 1e-9, "{force} {expected}");
}

/// Three bars in a loop with four pins whose axes point everywhere.
fn locked() -> Model {
    let mut model = world(3, 9.81);
    let points = [[0.0; 3], [0.0, 0.0, 1.0], [1.0, 0.2, 1.1], [1.0, 0.0, 0.0]];
    let axes = [
        [1.0, 0.0, 0.2],
        [0.0, 1.0, 0.3],
        [0.3, 0.2, 1.0],
        [0.5, 1.0, 0.0],
    ];
    for k in 0..3 {
        let mut bar = rod(&format!("bar{k}"), points[k], points[k + 1], 1.0);
        bar.angular_velocity = [0.1, 0.2, 0.3];
        model.bodies.push(bar);
    }
    for k in 0..4_usize {
        let bodies = [k.checked_sub(1), (k < 3).then_some(k)];
        let axis = Vec3::from(axes[k]).normalize();
        model.joints.push(drawn(
            &format!("pin{k}"),
            JointKind::Revolute,
            bodies,
            points[k],
            axis.into(),
        ));
    }
    model
}

#[test]
fn a_loop_with_too_many_pins_that_cannot_move_says_so() {
    let mut rig = Rig::new(&locked());
    // Eighteen coordinates and twenty rows: nothing is free, two rows are too many.
    assert_eq!(rig.report.rank, 18, "{:?}", rig.report);
    assert!(!rig.report.redundant.is_empty());
    assert!(
        rig.report
            .redundant
            .iter()
            .all(|name| name.starts_with("pin")),
        "{:?}",
        rig.report
    );
    // The rates as written did not fit.
    assert!(rig.report.velocity_changed > 0.01);
    let before = rig.state.q.clone();
    rig.to(0.5);
    let moved = (0..before.len()).map(|i| (rig.state.q[i] - before[i]).abs());
    assert!(moved.fold(0.0, f64::max) < 1e-9);
}

/// The same mechanism in millimetres and tonnes.
fn in_millimetres(model: &Model) -> Model {
    let mut model = model.clone();
    let scale = |x: &mut [f64; 3]| *x = x.map(|x| 1e3 * x);
    scale(&mut model.gravity);
    for body in &mut model.bodies {
        body.mass *= 1e-3;
        body.inertia = body.inertia.map(|x| 1e3 * x);
        for x in [
            &mut body.position,
            &mut body.velocity,
            &mut body.center_of_mass,
        ] {
            scale(x);
        }
    }
    for joint in &mut model.joints {
        if let JointPlacement::InitialPose(frame) = &mut joint.frame {
            scale(&mut frame.point);
        }
    }
    model
}

#[test]
fn the_unit_of_length_and_mass_changes_no_step() {
    for (mut model, end) in [(chain(3), 1.0), (bricard(), 1.0), (four_bars(2, 3), 5.0)] {
        model.solver.tolerance = 1e-5;
        let [mut metres, mut millimetres] =
            [model.clone(), in_millimetres(&model)].map(|m| Rig::new(&m));
        metres.to(end);
        millimetres.to(end);
        let [a, b] = [&metres, &millimetres].map(|rig| rig.state.statistics);
        assert_eq!(
            (a.steps, a.rejected, a.newton_failures),
            (b.steps, b.rejected, b.newton_failures)
        );
        for k in 0..model.bodies.len() {
            let [p, q] = [&metres, &millimetres].map(|rig| rig.of_body(k, BodyField::Position));
            assert!((1e3 * p - q).norm() < 1e-5, "{p} {q}");
        }
    }
}
