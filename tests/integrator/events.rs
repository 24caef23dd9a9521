//! Events in the integrator: found, hit, fired, and the motion that goes on; closed forms throughout.

use crate::allocator::calls;
use crate::common::Random;
use crate::common::systems::bounce::Bounce;
use crate::common::systems::impact::Impact;
use crate::common::systems::wall_pendulum::WallPendulum;
use crate::common::systems::watched::{Event, HELD, Watched, of_time};
use biela::Error;
use biela::formulation::{Crossing, EvaluationContext, System};
use biela::integrator::{Environment, Integrator, Signals, State};
use biela::model::{Corrector, SolverSettings};

/// Closure a step aims at on rows of size 1: twice the rounding of a hundred operations.
const NOTHING: f64 = 2e-14;

/// u = constant + slope t
#[derive(Clone, Copy)]
struct Ramp(f64, f64);

impl Signals for Ramp {
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        u.fill(self.0 + self.1 * t);
        u_dot.fill(self.1);
        u_ddot.fill(0.0);
    }
}

/// A system under way.
struct Run<'a> {
    system: &'a dyn System,
    integrator: Integrator,
    state: State,
    lift: Ramp,
}

impl<'a> Run<'a> {
    fn new(system: &'a dyn System, settings: &SolverSettings, q: &[f64], v: &[f64]) -> Self {
        let mut run = Self {
            system,
            integrator: Integrator::new(system, settings).unwrap(),
            state: State::default(),
            lift: Ramp(0.0, 0.0),
        };
        let env = Environment {
            signals: &run.lift,
            parameters: &[],
        };
        run.integrator
            .start(system, &env, 0.0, q, v, &mut run.state)
            .unwrap();
        run
    }

    fn advance(&mut self, t_end: f64) -> biela::Result<bool> {
        let env = Environment {
            signals: &self.lift,
            parameters: &[],
        };
        let done = self
            .integrator
            .advance(self.system, &env, &mut self.state, t_end);
        done.map(|accepted| accepted.event)
    }

    /// To `t_end`; times of the substeps that ended with an event.
    fn to(&mut self, t_end: f64) -> Vec<f64> {
        let mut times = Vec::new();
        while self.state.t < t_end {
            if self.advance(t_end).unwrap() {
                times.push(self.state.t);
            }
        }
        assert_eq!(self.state.t, t_end);
        times
    }

    fn lift(&mut self, lift: Ramp) {
        self.lift = lift;
        let env = Environment {
            signals: &self.lift,
            parameters: &[],
        };
        self.integrator
            .apply_input_jump(self.system, &env, &mut self.state)
            .unwrap();
    }

    /// Kinetic + potential + dissipated − supplied.
    fn balance(&self) -> f64 {
        let cx = EvaluationContext {
            t: self.state.t,
            u: &[0.0],
            u_dot: &[0.0],
            u_ddot: &[0.0],
            p: &[],
            modes: &self.state.modes,
            integrals: &[],
        };
        let s = &self.state;
        let energy = self.system.energy(&cx, &s.q, &s.v);
        energy.kinetic + energy.potential + s.dissipated - s.supplied
    }
}

fn settings(tolerance: f64, corrector: Corrector) -> SolverSettings {
    SolverSettings {
        tolerance,
        corrector,
        ..SolverSettings::default()
    }
}

/// Slope of log error over log tolerance, least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.0.ln(), p.1.ln())).collect();
    let (mx, my) = (
        logs.iter().map(|p| p.0).sum::<f64>() / n,
        logs.iter().map(|p| p.1).sum::<f64>() / n,
    );
    logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / logs.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

/// Crossing times, and (t, q, v), of `reference/impact.csv`.
fn impact_reference() -> (Vec<f64>, Vec<Vec<f64>>) {
    let rows: Vec<Vec<f64>> = include_str!("../reference/impact.csv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let (times, points): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.len() == 1);
    (times.into_iter().map(|row| row[0]).collect(), points)
}

#[test]
fn the_error_of_the_impact_case_follows_the_tolerance() {
    let (times, points) = impact_reference();
    let end = points.last().unwrap();
    let system = Impact::default();
    for (corrector, tolerances) in [
        (Corrector::Off, [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]),
        (Corrector::Auto, [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]),
    ] {
        let mut errors = Vec::new();
        for tolerance in tolerances {
            let mut run = Run::new(&system, &settings(tolerance, corrector), &[-1.0], &[0.0]);
            let found = run.to(2.0);
            let error = (run.state.q[0] - end[1]).abs();
            let s = run.state.statistics;
            let late = found
                .iter()
                .zip(&times)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            println!(
                "impact {corrector:?} {tolerance:.0e}: {} steps {} rejected {} events {} repeats, error {error:.2e}, times {late:.2e}",
                s.steps, s.rejected, s.events, s.event_repeats
            );
            assert_eq!(
                found.len(),
                times.len(),
                "{corrector:?} {tolerance}: {found:?}"
            );
            assert_eq!(s.events as usize, times.len());
            errors.push((tolerance, error));
            // A phase error of the whole motion shows at the end as at each event: at 10 m/s, late by error/10.
            assert!(late < 0.3 * error.max(1e-10), "{late} {error}");
        }
        let slope = slope(&errors);
        println!("slope {slope:.3}");
        match corrector {
            // Order 2 at h ~ TOL^(1/3): 2/3; theory/spatial section 4 measured .63.
            Corrector::Off => assert!((0.58..0.75).contains(&slope), "{slope}"),
            // Order 4: 4/3; the note measured 1.24, and 2.2e-7 at 1e-5.
            Corrector::Auto => assert!(slope > 1.0 && errors[2].1 < 1e-6, "{errors:?}"),
        }
    }
}

/// ∫ from a to b by Simpson's rule with 2,000 intervals: 1e-13 for the smooth functions here.
fn integral(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let h = (b - a) / 2000.0;
    let weight = |i: usize| if i % 2 == 1 { 4.0 } else { 2.0 };
    let inner: f64 = (1..2000).map(|i| weight(i) * f(a + i as f64 * h)).sum();
    (f(a) + inner + f(b)) * h / 3.0
}

/// Times at which the pendulum of 1 m, released at the angle 1 rad with −2 rad/s, meets the wall x = −0.3 m, restitution 0.7: quadrature
/// of ω² = ω₀² + 2 g (cos θ − cos θ₀), after each impact up to the turning angle and back.
fn wall_times(count: usize) -> Vec<f64> {
    let g = 9.81;
    let wall = f64::asin(-0.3);
    let mut square = 4.0 + 2.0 * g * (wall.cos() - 1f64.cos());
    let speed = |angle: f64| (4.0 + 2.0 * g * (angle.cos() - 1f64.cos())).sqrt();
    let mut t = integral(|angle| 1.0 / speed(angle), wall, 1.0);
    let mut times = vec![t];
    while times.len() < count {
        square *= 0.49;
        let top = (wall.cos() - square / (2.0 * g)).acos();
        // θ = top − s² takes the root out of the turning point; cos θ − cos top as a product keeps its digits.
        let rise = |s: f64| {
            let angle = top - s * s;
            let half = 0.5 * s * s;
            let sine = if s == 0.0 { 0.5 } else { half.sin() / (s * s) };
            2.0 / (4.0 * g * (0.5 * (top + angle)).sin() * sine).sqrt()
        };
        t += 2.0 * integral(rise, 0.0, (top - wall).sqrt());
        times.push(t);
    }
    times
}

#[test]
fn a_pendulum_rebounds_from_a_wall_at_the_right_time() {
    let system = WallPendulum {
        wall: -0.3,
        restitution: 0.7,
        ..WallPendulum::default()
    };
    let exact = wall_times(3);
    let (s, c) = 1f64.sin_cos();
    for corrector in [Corrector::Off, Corrector::Auto] {
        let mut errors = Vec::new();
        for tolerance in [1e-4, 1e-5, 1e-6, 1e-7] {
            let solver = settings(tolerance, corrector);
            let mut run = Run::new(&system, &solver, &[s, -c], &[-2.0 * c, -2.0 * s]);
            let start = run.balance();
            let times = run.to(exact[2] + 0.1);
            assert_eq!(times.len(), 3, "{times:?} {exact:?}");
            let late = (times[2] - exact[2]).abs();
            let stats = run.state.statistics;
            println!(
                "wall {corrector:?} {tolerance:.0e}: {} steps {} rejected {} repeats, third impact late by {late:.2e}, balance {:.1e}",
                stats.steps,
                stats.rejected,
                stats.event_repeats,
                run.balance() - start
            );
            // DESIGN section 2: closure after every accepted step.
            let closure = 0.5 * (run.state.q[0].powi(2) + run.state.q[1].powi(2) - 1.0);
            assert!(closure.abs() < 1e-10, "closure {closure}");
            errors.push((tolerance, late));
        }
        let slope = slope(&errors);
        println!("slope {slope:.3}");
        match corrector {
            // Order 2 at h ~ TOL^(1/3): 2/3, and pre-asymptotic by a tenth (theory/spatial section 4 has .47 to .66).
            Corrector::Off => assert!((0.55..0.75).contains(&slope), "{slope}"),
            // Order 4: 4/3; the note measured .89.
            Corrector::Auto => assert!(slope > 0.89 && errors[2].1 < 1e-6, "{errors:?}"),
        }
    }
}

#[test]
fn both_crossings_of_a_step_that_ends_where_it_began_are_found() {
    let (omega, h) = (1.0, 0.6);
    let mut random = Random(11);
    let (mut missed, mut wrong, mut pairs, mut singles) = (0, 0, 0, 0);
    for _ in 0..2000 {
        let phase = random.between(0.0, std::f64::consts::TAU);
        // cos 0.3 = 0.955: above it both crossings of a crest fit into one step.
        let level = random.between(0.955, 1.0) * if random.below(2) == 0 { 1.0 } else { -1.0 };
        let wave = move |t: f64| {
            let (s, c) = (omega * t + phase).sin_cos();
            (s - level, omega * c)
        };
        // Exact crossings: sin = level at asin and π − asin, in every turn.
        let a = f64::asin(level);
        let expected = [a, std::f64::consts::PI - a]
            .iter()
            .flat_map(|x| (-1..3).map(move |k| x + f64::from(k) * std::f64::consts::TAU - phase))
            .filter(|&t| t > 0.0 && t <= h)
            .count();
        let system = Watched::still(vec![of_time(Crossing::Either, wave)]);
        let fixed = SolverSettings {
            step: Some(h),
            ..SolverSettings::default()
        };
        let mut run = Run::new(&system, &fixed, &[0.0], &[0.0]);
        run.to(h);
        let found = run.state.modes[0] as usize;
        pairs += usize::from(expected == 2);
        singles += usize::from(expected == 1);
        if found < expected {
            missed += 1;
        } else if found > expected {
            wrong += 1;
        }
    }
    println!("{singles} single, {pairs} pairs, {missed} missed, {wrong} wrong");
    assert!(pairs > 50, "the test has to see some: {pairs}");
    // theory/spatial section 4: the cubic missed one of 2,000, grazing; twice that many and more are allowed.
    assert!(missed <= 4 && wrong == 0, "{missed} missed, {wrong} wrong");
}

#[test]
fn balls_that_land_at_once_bounce_at_once() {
    let ball = |i: usize| Event {
        function: Box::new(
            move |_: &EvaluationContext, at: &biela::formulation::MotionPoint| (at.q[i], at.v[i]),
        ),
        crossing: Crossing::Falling,
    };
    let system = Watched {
        push: Box::new(|_, _| -10.0),
        masses: 3,
        events: vec![ball(0), ball(1), ball(2)],
        restitution: Some(0.5),
        holds: false,
        normals: vec![],
    };
    // From 5 m (twice) and 20 m: landings after 1 s and 2 s; the first two hop for 1 s and land again with the third.
    let mut run = Run::new(
        &system,
        &SolverSettings::default(),
        &[5.0, 5.0, 20.0],
        &[0.0; 3],
    );
    let times = run.to(1.5);
    println!("{times:?}");
    assert_eq!(times.len(), 1);
    assert_eq!(run.state.modes, [1, 1, 0]);
    assert_eq!(run.state.q[0].to_bits(), run.state.q[1].to_bits());
    run.to(2.25);
    assert_eq!(run.state.modes, [2, 2, 1]);
    // Second hop: up with 2.5 m/s at t = 2; the third ball with 10 m/s.
    for (i, v) in [2.5, 2.5, 10.0].into_iter().enumerate() {
        let y = v * 0.25 - 5.0 * 0.0625;
        assert!((run.state.q[i] - y).abs() < 1e-9, "{i}: {}", run.state.q[i]);
    }
}

#[test]
fn a_ball_in_a_narrow_groove_hits_both_walls_and_leaves_the_way_it_came() {
    // Walls ten degrees from the vertical, met at the same instant at the bottom of the groove.
    let (s, c) = 10f64.to_radians().sin_cos();
    let wall = |side: f64| Event {
        function: Box::new(
            move |_: &EvaluationContext, at: &biela::formulation::MotionPoint| {
                let along = |x: &[f64]| side * c * x[0] + s * x[1];
                (along(at.q), along(at.v))
            },
        ),
        crossing: Crossing::Falling,
    };
    let system = Watched {
        push: Box::new(|_, i| if i == 1 { -10.0 } else { 0.0 }),
        masses: 2,
        events: vec![wall(1.0), wall(-1.0)],
        restitution: Some(1.0),
        holds: false,
        normals: vec![vec![c, s], vec![-c, s]],
    };
    let mut run = Run::new(
        &system,
        &SolverSettings::default(),
        &[0.0, 5.0],
        &[0.0, 0.0],
    );
    while !run.advance(2.0).unwrap() {}
    let v = &run.state.v;
    println!("{} impacts, v = {v:?}", run.state.statistics.events);
    // Elastic: 10 m/s after 5 m, but for the depth of the hit; straight up again, because both walls strike at once.
    assert_eq!(run.state.statistics.events, 2);
    assert!((v[1] - 10.0).abs() < 1e-9 && v[0].abs() < 1e-9, "{v:?}");
}

#[test]
fn an_event_on_a_communication_point_fires_once() {
    // Exact in binary: 5 m at 10 m/s² take 1 s.
    for end in [1.0, 1.0 - f64::EPSILON, 1.0 + f64::EPSILON] {
        for corrector in [Corrector::Off, Corrector::Auto] {
            let system = Watched {
                push: Box::new(|_, _| -10.0),
                masses: 1,
                events: vec![Event {
                    function: Box::new(|_, at| (at.q[0], at.v[0])),
                    crossing: Crossing::Falling,
                }],
                restitution: Some(1.0),
                holds: false,
                normals: vec![],
            };
            let mut run = Run::new(&system, &settings(1e-6, corrector), &[5.0], &[0.0]);
            run.to(end);
            run.to(1.5);
            assert_eq!(run.state.modes, [1], "{end}");
            assert!((run.state.q[0] - 3.75).abs() < 1e-7, "{}", run.state.q[0]);
            run.to(3.0);
            run.to(3.5);
            assert_eq!(run.state.modes, [2]);
        }
    }
}

#[test]
fn a_contact_closed_at_the_start_rebounds_rests_or_separates() {
    let system = Bounce::default();
    for corrector in [Corrector::Off, Corrector::Auto] {
        let solver = settings(1e-6, corrector);
        // Downwards: thrown back before anything else.
        let mut down = Run::new(&system, &solver, &[0.0, 0.0], &[0.0, -1.0]);
        down.advance(1e-3).unwrap();
        assert_eq!(down.state.statistics.events, 1);
        let t = down.state.t;
        let y = 0.8 * t - 0.5 * 9.81 * t * t;
        assert!(
            (down.state.q[1] - y).abs() < 1e-12,
            "{} {y}",
            down.state.q[1]
        );
        // At rest: held.
        let mut rest = Run::new(&system, &solver, &[0.0, 0.0], &[1.0, 0.0]);
        rest.to(1.0);
        assert_eq!(rest.state.modes, [1]);
        assert!(rest.state.q[1].abs() < NOTHING, "{}", rest.state.q[1]);
        // Upwards: leaves without an event, and the first one is the landing.
        let mut up = Run::new(&system, &solver, &[0.0, 0.0], &[0.0, 2.0]);
        let times = up.to(0.5);
        assert_eq!(times.len(), 1, "{times:?}");
        assert!((times[0] - 4.0 / 9.81).abs() < 1e-7, "{times:?}");
    }
    // Leaving zero is no crossing where both ways count; coming back is.
    let sine = of_time(Crossing::Either, |t: f64| t.sin_cos());
    let watched = Watched::still(vec![sine]);
    let mut run = Run::new(&watched, &SolverSettings::default(), &[0.0], &[0.0]);
    run.to(3.0);
    assert_eq!(run.state.modes, [0]);
    run.to(3.5);
    assert_eq!(run.state.modes, [1]);
}

#[test]
fn a_ball_bounces_at_the_right_times_comes_to_rest_and_is_lifted_off() {
    let system = Bounce::default();
    let (g, e) = (system.gravity, system.restitution);
    let fall = (2.0f64 / g).sqrt();
    for corrector in [Corrector::Off, Corrector::Auto] {
        let mut run = Run::new(
            &system,
            &settings(1e-6, corrector),
            &[0.0, 1.0],
            &[0.5, 0.0],
        );
        let start = run.balance();
        let (mut closed, mut hop) = (fall, 2.0 * e * fall);
        let (mut late, mut off, mut loss) = (0.0f64, 0.0f64, 0.0f64);
        let mut count = 0;
        while run.state.modes[0] == 0 {
            let lost = run.state.dissipated;
            let event = run.advance(10.0).unwrap();
            if !event {
                continue;
            }
            if run.state.modes[0] == 0 {
                off = off.max((run.balance() - start).abs());
            }
            if count < 10 {
                late = late.max((run.state.t - closed).abs());
                // The impact takes (1 − e²) of the energy of the approach, m g h e^2k.
                let expected = 2.0 * g * e.powi(2 * count) * (1.0 - e * e);
                loss = loss.max(((run.state.dissipated - lost) / expected - 1.0).abs());
                closed += hop;
                hop *= e;
            }
            count += 1;
            assert!(count < 100);
        }
        println!(
            "ball {corrector:?}: {count} events {} steps {} repeats, times {late:.2e} loss {loss:.2e} balance {off:.2e} rest at {} y {:e}",
            run.state.statistics.steps,
            run.state.statistics.event_repeats,
            run.state.t,
            run.state.q[1]
        );
        // v = √(2 g) 0.8^k falls below `slowest` = 1e-3 at k = 38: the 39th touch-down is the last.
        assert_eq!(count, 39);
        // A hit leaves up to 1e-3 (corrected: 1e-6) of the tolerance of way, here at 0.6 m/s or more; ten of them, later ones
        // shrunk by e; and the same of height, against the 0.018 m of the tenth hop.
        let depth = match corrector {
            Corrector::Off => 1e-9,
            Corrector::Auto => 1e-12,
        };
        assert!(late < 10.0 * depth / 0.6, "{late}");
        assert!(loss < depth / 0.018 + 1e-12, "{loss}");
        // What is left of the hops when the slowest one is held: 2 v e/(g (1 − e)) at 1e-3 m/s.
        let zeno = fall * (1.0 + e) / (1.0 - e);
        assert!((run.state.t - zeno).abs() < 1e-3, "{}", run.state.t);
        run.to(5.0);
        assert!(run.state.q[1].abs() < NOTHING, "{}", run.state.q[1]);
        assert!(run.state.v[1].abs() < NOTHING, "{}", run.state.v[1]);
        assert!(
            (run.state.lambda[0] + 2.0 * g).abs() < 1e-9,
            "{:?}",
            run.state.lambda
        );
        assert!((run.state.q[0] - 2.5).abs() < 1e-9);
        // Rounding of 20 J over 44 steps while it bounces; the hold lifts it by the depth of the last hit.
        assert!(off < 1e-13, "{off}");
        off = (run.balance() - start).abs();
        assert!(off < 20.0 * depth + 1e-13, "{off}");
        // A ramp from t = 5 s that reaches the weight, 19.62 N, at t = 6.962 s.
        run.lift(Ramp(-50.0, 10.0));
        let times = run.to(7.462);
        println!(
            "lift {times:?} y {} modes {:?} off {off:.2e}",
            run.state.q[1], run.state.modes
        );
        assert_eq!(run.state.modes, [0]);
        // y''' = 10/2 from the lift-off on.
        let y = 5.0 * 0.5f64.powi(3) / 6.0;
        // Plain HHT adds up a hundred local errors (theory/seed1 section 5); the corrector is exact for a cubic, up to the time
        // of the lift-off, 1e-9 s, where the motion has not begun.
        let allowed = match corrector {
            Corrector::Off => 1e-4,
            Corrector::Auto => 1e-9,
        };
        assert!(
            (run.state.q[1] - y).abs() < allowed,
            "{} {y}",
            run.state.q[1]
        );
        // The same by a jump.
        let mut run = Run::new(
            &system,
            &settings(1e-6, corrector),
            &[0.0, 0.0],
            &[0.0, 0.0],
        );
        run.to(1.0);
        run.lift(Ramp(2.0 * (g + 1.0), 0.0));
        run.to(2.0);
        assert_eq!(run.state.modes, [0]);
        assert!((run.state.q[1] - 0.5).abs() < 1e-9, "{}", run.state.q[1]);
    }
}

#[test]
fn a_ball_with_restitution_near_one_does_not_come_to_rest_too_early() {
    let system = Bounce {
        restitution: 0.97,
        ..Bounce::default()
    };
    let mut run = Run::new(
        &system,
        &SolverSettings::default(),
        &[0.0, 1.0],
        &[0.0, 0.0],
    );
    let mut count = 0;
    while run.state.modes[0] == 0 {
        count += u32::from(run.advance(1e3).unwrap());
        assert!(count < 1000);
    }
    // √(2 g) 0.97^k < 1e-3 at k = 276.
    assert_eq!(count, 277);
}

/// v' = −1 while v > 0, +1 while v < 0: no motion goes on from v = 0, unless it is held there.
fn relay(holds: bool) -> Watched {
    Watched {
        push: Box::new(|fired, _| match fired[0] {
            HELD => 0.0,
            n if n % 2 == 0 => -1.0,
            _ => 1.0,
        }),
        holds,
        normals: vec![],
        masses: 1,
        events: vec![Event {
            function: Box::new(|_, at| (at.v[0], at.a[0])),
            crossing: Crossing::Either,
        }],
        restitution: None,
    }
}

#[test]
fn chattering_ends_in_an_error_that_names_the_event() {
    for corrector in [Corrector::Off, Corrector::Auto] {
        let system = relay(false);
        let mut run = Run::new(&system, &settings(1e-4, corrector), &[0.0], &[0.5]);
        let error = (0..100_000).find_map(|_| run.advance(2.0).err());
        println!("{error:?}");
        match error {
            Some(Error::Chattering { time, culprit }) => {
                assert!((time - 0.5).abs() < 1e-6, "{time}");
                assert_eq!(culprit, "event1");
            }
            other => panic!("{other:?} at t = {}", run.state.t),
        }
    }
}

#[test]
fn chattering_ends_in_a_sticking_mode_where_the_system_has_one() {
    for corrector in [Corrector::Off, Corrector::Auto] {
        let system = relay(true);
        let mut run = Run::new(&system, &settings(1e-4, corrector), &[0.0], &[0.5]);
        run.to(2.0);
        assert_eq!(run.state.modes, [HELD]);
        // v² / 2 of way, and a velocity that is the accuracy of a hit: 1e-3 of the tolerance in a second or less.
        assert!(run.state.v[0].abs() < 1e-6, "{}", run.state.v[0]);
        assert!((run.state.q[0] - 0.125).abs() < 1e-6, "{}", run.state.q[0]);
    }
}

#[test]
fn events_repeat_to_the_bit_and_a_state_saved_between_them_goes_on_the_same_way() {
    let bounce = Bounce::default();
    let impact = Impact::default();
    let wall = WallPendulum {
        wall: -0.3,
        restitution: 0.7,
        ..WallPendulum::default()
    };
    let cases: [(&dyn System, &[f64], &[f64]); 3] = [
        (&bounce, &[0.0, 1.0], &[0.3, 0.0]),
        (&impact, &[-1.0], &[0.0]),
        (&wall, &[1.0, 0.0], &[0.0, 0.0]),
    ];
    for (system, q, v) in cases {
        for corrector in [Corrector::Off, Corrector::Auto] {
            let solver = settings(1e-5, corrector);
            let mut first = Run::new(system, &solver, q, v);
            let mut saved = vec![first.state.clone()];
            while first.state.t < 5.0 {
                first.advance(5.0).unwrap();
                saved.push(first.state.clone());
            }
            assert!(first.state.statistics.events > 2);
            let text = |s: &State| format!("{s:?}");
            let mut again = Run::new(system, &solver, q, v);
            again.to(5.0);
            assert_eq!(text(&again.state), text(&first.state));
            // From every tenth point, in an integrator that has been elsewhere.
            for (k, state) in saved.iter().enumerate().step_by(10) {
                again.state.copy_from(state);
                if let Some(next) = saved.get(k + 1) {
                    again.advance(5.0).unwrap();
                    assert_eq!(text(&again.state), text(next), "after point {k}");
                }
            }
        }
    }
}

#[test]
fn a_step_with_events_allocates_nothing() {
    let system = Bounce::default();
    let mut run = Run::new(
        &system,
        &SolverSettings::default(),
        &[0.0, 1.0],
        &[0.3, 0.0],
    );
    run.advance(10.0).unwrap();
    let before = calls();
    while run.state.t < 5.0 {
        run.advance(5.0).unwrap();
    }
    run.lift(Ramp(30.0, 0.0));
    while run.state.t < 6.0 {
        run.advance(6.0).unwrap();
    }
    assert_eq!(calls(), before, "allocations");
    assert_eq!(run.state.modes, [0]);
    assert!(run.state.statistics.events > 30);
}
