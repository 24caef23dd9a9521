//! PID controllers: against a closed form, an independent integration, in every formulation; the order of the integral;
//! anti-windup; exact roll-back.

use crate::common::bits;
use crate::sim::{Sim, rk4};
use biela::component::Instance;
use biela::formulation::IntegralMemory;
use biela::model::Model;

const FORMULATIONS: [&str; 5] = ["absolute", "relative", "global", "topological", "hybrid"];

/// A block of 1 kg on a slide along x.
fn block(solver: &str, rest: &str) -> String {
    format!(
        r#"format = 1
name = "block"
dimension = 2
[solver]
length = 1.0
{solver}
[[body]]
name = "block"
mass = 1.0
inertia = 1.0
position = [0.0, 0.0]
[[joint]]
name = "slide"
type = "prismatic"
bodies = ["ground", "block"]
point = [0, 0]
axis = [1, 0]
[[force]]
name = "pid"
type = "pid"
joint = "slide"
{rest}"#
    )
}

/// Poles at −1, −2 and −3: s³ + 6 s² + 11 s + 6.
const GAINS: &str = "set_point = 1.0\nproportional = 11.0\nintegral = 6.0\nderivative = 6.0\n";

/// Position and integral part of the block with these gains, set point 1, from rest.
fn closed_form(t: f64) -> [f64; 2] {
    let e = |k: f64| (-k * t).exp();
    let x = 1.0 + 2.5 * e(1.0) - 8.0 * e(2.0) + 4.5 * e(3.0);
    let integral = 2.5 * (e(1.0) - 1.0) - 4.0 * (e(2.0) - 1.0) + 1.5 * (e(3.0) - 1.0);
    [x, 6.0 * integral]
}

#[test]
fn a_controlled_block_follows_its_closed_form_in_every_formulation() {
    for formulation in FORMULATIONS {
        let text = block(&format!("formulation = \"{formulation}\""), GAINS);
        for tolerance in [1e-4, 1e-6, 1e-8] {
            let mut sim = Sim::new(&text, tolerance);
            for t in [0.1, 0.5, 1.0, 2.0, 4.0] {
                sim.to(t);
                let [x, integral] = closed_form(t);
                let found = [sim.get("slide.position"), sim.get("pid.integral_part")];
                // Some twenty steps, each with an error of the tolerance times 1 m; the integral part is six times ∫e.
                let off = [(found[0] - x).abs(), (found[1] - integral).abs()];
                assert!(
                    off[0] < 20.0 * tolerance && off[1] < 100.0 * tolerance,
                    "{formulation}, {tolerance}, t = {t}: {off:?}"
                );
                let force = 11.0 * (1.0 - found[0]) + found[1] - 6.0 * sim.get("slide.speed");
                assert!((sim.get("pid.force") - force).abs() < 1e-9, "{formulation}");
                assert!((sim.get("pid.error") - (1.0 - found[0])).abs() < 1e-12);
                // The controller supplies the energy, and nothing is lost.
                assert!(sim.get("energy.balance").abs() < 100.0 * tolerance);
            }
        }
    }
}

/// Errors of position and integral part at t = 2 with fixed steps.
fn errors(solver: &str, step: f64) -> [f64; 2] {
    let mut sim = Sim::new(&block(&format!("{solver}step = {step}"), GAINS), 0.0);
    sim.to(2.0);
    let exact = closed_form(2.0);
    [
        (sim.get("slide.position") - exact[0]).abs(),
        (sim.get("pid.integral_part") - exact[1]).abs(),
    ]
}

#[test]
fn the_integral_has_the_order_of_the_method() {
    // HHT alone is of order 2; with its corrector a run with equal steps is of order 4, as it is without an integral.
    for (solver, steps, least) in [
        ("corrector = \"off\"\nalpha = 0.0\n", [0.02, 0.01], 1.9),
        ("integrator = \"hht\"\n", [0.05, 0.025], 3.8),
        ("integrator = \"auto\"\n", [0.05, 0.025], 3.8),
    ] {
        let [coarse, fine] = steps.map(|step| errors(solver, step));
        for k in 0..2 {
            let order = (coarse[k] / fine[k]).log2();
            assert!(
                order > least,
                "{solver}: order {order:.2} of number {k}: {coarse:?} {fine:?}"
            );
        }
    }
}

/// A pendulum arm at its pivot, driven by a controller, in the plane or in space.
fn arm(formulation: &str, rest: &str) -> String {
    format!(
        r#"format = 1
name = "arm"
dimension = 2
gravity = [0, -9.81]
[solver]
formulation = "{formulation}"
[[body]]
name = "arm"
mass = 2.0
inertia = 0.05
position = [0.3, 0.0]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "arm"]
point = [0, 0]
[[force]]
name = "pid"
type = "pid"
joint = "pivot"
proportional = "40 N*m/rad"
integral = 60.0
derivative = 6.0
{rest}"#
    )
}

/// Angle, speed and integral part of the arm by an independent integration.
fn arm_reference(
    t: f64,
    limits: [f64; 2],
    tracking: f64,
    set_point: impl Fn(f64) -> [f64; 2],
) -> [f64; 3] {
    let (inertia, weight) = (0.05 + 2.0 * 0.09, 2.0 * 9.81 * 0.3);
    let f = |t: f64, y: &[f64; 3]| {
        let [w, w_dot] = set_point(t);
        let output = 40.0 * (w - y[0]) + y[2] + 6.0 * (w_dot - y[1]);
        let limited = output.clamp(limits[0], limits[1]);
        [
            y[1],
            (limited - weight * y[0].cos()) / inertia,
            60.0 * (w - y[0]) + (limited - output) / tracking,
        ]
    };
    // Kinks of f cost a step of the second order each: h² = 1e-10.
    rk4(f, 0.0, t, [0.0; 3], (t * 1e5) as usize)
}

#[test]
fn the_output_stays_within_its_limits_and_the_integral_does_not_wind_up() {
    let limits = "set_point = 0.5\nlimits = [-10.0, 12.0]\n";
    // The usual tracking time sqrt(D/K).
    for (more, tracking) in [("", 0.1_f64.sqrt()), ("tracking_time = 0.02\n", 0.02)] {
        for formulation in FORMULATIONS {
            let mut sim = Sim::new(&arm(formulation, &format!("{limits}{more}")), 1e-8);
            for t in [0.05, 0.2, 0.5, 1.0, 2.0] {
                sim.to(t);
                let exact = arm_reference(t, [-10.0, 12.0], tracking, |_| [0.5, 0.0]);
                let off = [
                    sim.get("pivot.position") - exact[0],
                    sim.get("pivot.speed") - exact[1],
                    sim.get("pid.integral_part") - exact[2],
                ];
                // Steps at 1e-8, some hundred of them; torques are sixty times angles.
                let largest = off.map(f64::abs);
                assert!(
                    largest[0] < 1e-6 && largest[1] < 1e-5 && largest[2] < 1e-4,
                    "{formulation}, {tracking}, t = {t}: {off:?}"
                );
                let torque = sim.get("pid.torque");
                assert!((-10.0..=12.0).contains(&torque), "{torque}");
            }
        }
    }
}

#[test]
fn a_set_point_from_an_input_is_followed_through_a_jump() {
    let input = r#"[[input]]
name = "w"
target = "pid.set_point"
unit = "rad"
[[signal]]
input = "w"
law = "table"
points = [[0, "10 deg"], ["0.5 s", "10 deg"], ["500 ms", "45 deg"], [2, "45 deg"]]
"#;
    let degrees = std::f64::consts::PI / 180.0;
    for limits in ["", "limits = [-30.0, 30.0]\n"] {
        let range = match limits {
            "" => [-1e9, 1e9],
            _ => [-30.0, 30.0],
        };
        let mut sim = Sim::new(&arm("auto", &format!("{limits}{input}")), 1e-8);
        for t in [0.25, 0.5, 0.75, 1.5] {
            sim.to(t);
            let set_point = |t: f64| [if t < 0.5 { 10.0 } else { 45.0 } * degrees, 0.0];
            // The reference steps over the jump at a multiple of its step.
            let exact = arm_reference(t, range, 0.1_f64.sqrt(), set_point);
            let off = sim.get("pivot.position") - exact[0];
            // A step of the reference that straddles the jump is off by h times a jump of the speed.
            assert!(off.abs() < 2e-5, "{limits}t = {t}: {off:.1e}");
        }
    }
}

#[test]
fn a_driven_set_point_counts_with_its_rate() {
    let sine = r#"[[input]]
name = "w"
target = "pid.set_point"
[[signal]]
input = "w"
law = "sine"
amplitude = "20 deg"
frequency = 0.5
"#;
    let amplitude = 20.0_f64.to_radians();
    let omega = std::f64::consts::PI;
    let set_point = |t: f64| {
        [
            amplitude * (omega * t).sin(),
            amplitude * omega * (omega * t).cos(),
        ]
    };
    for formulation in FORMULATIONS {
        let mut sim = Sim::new(&arm(formulation, sine), 1e-8);
        for t in [0.3, 1.0, 2.0] {
            sim.to(t);
            let exact = arm_reference(t, [-1e9, 1e9], 1.0, set_point);
            let off = [
                sim.get("pivot.position") - exact[0],
                sim.get("pid.integral_part") - exact[2],
            ];
            assert!(
                off[0].abs() < 1e-6 && off[1].abs() < 1e-5,
                "{formulation}, t = {t}: {off:?}"
            );
        }
    }
}

#[test]
fn rows_between_steps_have_the_integral_of_their_time() {
    // Long steps at a loose tolerance: the value between them is interpolated, not that of an end.
    let text = block("", GAINS);
    let model = Model::from_text(&text, "model").unwrap();
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, f64::INFINITY, 1e-5).unwrap();
    let integral = instance.model().quantity("pid.integral_part").unwrap();
    struct Rows(biela::model::quantity::Quantity, f64);
    impl biela::Observer for Rows {
        fn accepted(&mut self, probe: &mut biela::StepProbe) -> biela::Result<()> {
            for part in [0.25, 0.5, 0.75] {
                let t = probe.start() + part * (probe.end() - probe.start());
                let mut value = [0.0];
                probe.quantities(t, &[self.0], &mut value)?;
                self.1 = self.1.max((value[0] - closed_form(t)[1]).abs());
            }
            Ok(())
        }
    }
    let mut rows = Rows(integral, 0.0);
    instance.step_observed(0.0, 3.0, &mut rows).unwrap();
    // As at the ends of the steps: a hundred tolerances.
    assert!(rows.1 < 1e-3, "{}", rows.1);
    assert!(rows.1 > 0.0, "some row was taken");
}

#[test]
fn the_integral_is_rolled_back_and_saved_with_its_bits() {
    for limits in ["", "limits = [-10.0, 12.0]\n"] {
        for formulation in FORMULATIONS {
            let text = arm(formulation, &format!("set_point = 0.5\n{limits}"));
            let create = || {
                let mut model = Model::from_text(&text, "model").unwrap();
                model.expose = biela::model::Expose::All;
                let mut instance = Instance::from_model(model).unwrap();
                instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
                instance
            };
            let (mut instance, mut other) = (create(), create());
            let ahead = |instance: &mut Instance, from: f64| {
                let mut seen = Vec::new();
                for k in 0..8 {
                    let t = from + 0.05 * f64::from(k);
                    instance
                        .step(t, from + 0.05 * f64::from(k + 1) - t)
                        .unwrap();
                    seen.push(bits(instance));
                    seen.push(vec![instance.state().integrals[0].value.to_bits()]);
                }
                seen
            };
            for _ in 0..4 {
                let from = instance.time();
                let saved = instance.save().unwrap();
                let bytes = saved.to_bytes();
                let first = ahead(&mut instance, from);
                instance.restore(&saved).unwrap();
                assert_eq!(first, ahead(&mut instance, from), "{formulation} {limits}");
                let read = other.deserialize(&bytes).unwrap();
                other.restore(&read).unwrap();
                assert_eq!(first, ahead(&mut other, from), "{formulation} {limits}");
            }
        }
    }
}

#[test]
fn mistakes_in_a_controller_name_the_key() {
    for (rest, expected) in [
        ("set_point = 1.0\n", "at least one of the gains"),
        ("proportional = -1.0\n", "proportional"),
        ("proportional = 1.0\nlimits = [2.0, 1.0]\n", "lower < upper"),
        ("proportional = 1.0\nlimits = [1.0]\n", "limits"),
        (
            "integral = 1.0\nlimits = [-1.0, 1.0]\n",
            "\"tracking_time\" is missing",
        ),
        (
            "integral = 1.0\ntracking_time = 1.0\n",
            "belongs to \"limits\"",
        ),
        (
            "proportional = 1.0\nset_point = \"30 deg\"\n",
            "set_point is in m",
        ),
        ("proportional = \"1 N*m/rad\"\n", "proportional is in"),
        ("proportional = 1.0\nstiffness = 1.0\n", "stiffness"),
    ] {
        let error = Model::from_text(&block("", rest), "t")
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{rest}: {error}");
        assert!(error.starts_with("t:"), "{error}");
    }
}

/// e(t) = tⁿ, its rate and its integral from zero.
fn power(n: i32, t: f64) -> ([f64; 2], f64) {
    let rate = if n == 0 {
        0.0
    } else {
        f64::from(n) * t.powi(n - 1)
    };
    ([t.powi(n), rate], t.powi(n + 1) / f64::from(n + 1))
}

fn memory(n: i32, [t, k]: [f64; 2]) -> IntegralMemory {
    IntegralMemory {
        t,
        value: power(n, t).1,
        integrand: power(n, t).0,
        previous_step: k,
        previous: power(n, t - k).0,
    }
}

#[test]
fn polynomials_are_integrated_exactly() {
    // Degree 5 with the step before, degree 3 without it. The differences of the quintic lose (h/k)³ of the digits.
    for (h, k, degree) in [(0.3, 0.2, 5), (0.1, 0.7, 5), (1.2, 0.2, 5), (0.3, 0.0, 3)] {
        for n in 0..=degree {
            let m = memory(n, [0.4, k]);
            let (end, exact) = power(n, 0.4 + h);
            let value = m.value + m.over_step(0.4 + h, end).value;
            assert!(
                (value - exact).abs() < 1e-12,
                "t^{n} over {h} after {k}: {value} {exact}"
            );
            for part in [0.0, 0.25, 0.7, 1.0] {
                let at = m.integrand_at(0.4 + h, end, part * h);
                let exact = power(n, 0.4 + part * h).0[0];
                assert!((at - exact).abs() < 1e-11, "t^{n} at {part}: {at} {exact}");
            }
        }
    }
}

#[test]
fn the_rule_is_linear_in_the_end() {
    for k in [0.0, 0.3] {
        let m = memory(4, [0.5, k]);
        let base = m.over_step(0.9, [0.2, -1.0]);
        for (change, slope) in [([1.0, 0.0], base.by_value), ([0.0, 1.0], base.by_rate)] {
            let moved = m.over_step(0.9, [0.2 + change[0], -1.0 + change[1]]);
            assert!((moved.value - base.value - slope).abs() < 1e-14);
        }
    }
}

#[test]
fn an_empty_step_has_no_integral_and_the_slope_of_its_start() {
    let m = memory(3, [0.5, 0.1]);
    assert_eq!(m.over_step(0.5, m.integrand).value, 0.0);
    let e = 1e-6;
    let [later, earlier] = [e, -e].map(|e| m.over_step(0.5 + e, power(3, 0.5 + e).0).value);
    assert!(((later - earlier) / (2.0 * e) - 0.125).abs() < 1e-9);
}

#[test]
fn a_step_is_followed_by_one_that_knows_it() {
    let m = memory(2, [0.0, 0.0]);
    let next = m.followed_by(0.5, 1.0, [2.0, 3.0]);
    assert_eq!((next.previous_step, next.previous), (0.5, m.integrand));
    // At the same time, after a jump of the integrand, only the integrand changes.
    let jumped = next.followed_by(0.5, 1.0, [7.0, 0.0]);
    assert_eq!((jumped.previous_step, jumped.integrand), (0.5, [7.0, 0.0]));
}

/// The force of the controller between two points of a step, with a memory, has the derivatives that it says.
#[test]
fn the_force_has_its_derivatives() {
    use biela::formulation::EvaluationContext;
    use biela::formulation::driven_value::DrivenValue;
    use biela::formulation::force::ScalarLaw as _;
    use biela::formulation::force::pid::PidController;
    let value = DrivenValue::Constant;
    let law = PidController {
        set_point: value(0.7),
        proportional: value(11.0),
        integral: value(25.0),
        derivative: value(3.0),
        limits: None,
        tracking_time: value(1.0),
        start: 0.3,
    };
    let memory = [memory(3, [0.5, 0.2])];
    let cx = EvaluationContext {
        t: 0.8,
        u: &[],
        u_dot: &[],
        u_ddot: &[],
        p: &[],
        modes: &[],
        integrals: &memory,
    };
    let (c, rate, e) = (0.2, -0.4, 1e-5);
    let here = law.force(&cx, c, rate);
    let by_length =
        (law.force(&cx, c + e, rate).force - law.force(&cx, c - e, rate).force) / (2.0 * e);
    let by_rate =
        (law.force(&cx, c, rate + e).force - law.force(&cx, c, rate - e).force) / (2.0 * e);
    // The law is linear: differences have rounding errors only, 1e-16 of some hundred over 1e-5.
    assert!(
        (here.by_length - by_length).abs() < 1e-8,
        "{} {by_length}",
        here.by_length
    );
    assert!(
        (here.by_rate - by_rate).abs() < 1e-8,
        "{} {by_rate}",
        here.by_rate
    );
    assert!(
        here.by_length > 11.0,
        "the integral counts in the step: {}",
        here.by_length
    );
}
