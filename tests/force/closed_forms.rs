//! Contacts against closed forms: slope, bounces without end, tipping, cradle, wedging rod.

use crate::sim::{Sim, rk4};

/// Gravity (m/s²).
const G: f64 = 9.81;
/// Speed below which friction is regularised (m/s).
const STICTION: f64 = 1e-5;

/// A block on two points on a floor that is level; gravity is tilted by `slope` instead, so that the block is driven along +x.
fn block(slope: f64, friction: f64, speed: f64, formulation: &str) -> String {
    let mut text = format!(
        "format = 1\nname = \"block\"\ndimension = 2\ngravity = [{}, {}]\n[solver]\nformulation = \"{formulation}\"\n\
         [[body]]\nname = \"block\"\nmass = 2\ninertia = 0.05\nposition = [0, 0.1]\nvelocity = [{speed:?}, 0.0]\n",
        G * slope.sin(),
        -G * slope.cos()
    );
    for (name, x) in [("rear", -0.3), ("front", 0.3)] {
        text += &format!(
            "[[force]]\nname = \"{name}\"\ntype = \"contact\"\nbodies = [\"ground\", \"block\"]\nplane = {{ normal = [0, 1] }}\n\
             point = [{x}, -0.1]\nrestitution = 0\nfriction = {{ kinetic = {friction}, stiction_velocity = {STICTION:?} }}\n"
        );
    }
    text
}

const FORMULATIONS: [&str; 4] = ["absolute", "relative", "hybrid", "topological"];

fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance,
        "{what}: {found}, expected {expected}, error {error:.2e}"
    );
}

#[test]
fn a_block_slides_down_a_slope_that_is_steeper_than_the_friction_angle() {
    for formulation in FORMULATIONS {
        for (slope, friction) in [(0.5_f64, 0.3), (0.35, 0.35), (0.8, 1.0)] {
            let mut sim = Sim::new(&block(slope, friction, 0.0, formulation), 1e-7);
            sim.to(0.8);
            let a = G * (slope.sin() - friction * slope.cos());
            // The law reaches the full friction only above the stiction velocity: that is lost in speed, times the time.
            let bound = 20.0 * STICTION;
            close("speed", sim.get("block.vx"), a * 0.8, bound);
            close("way", sim.get("block.x"), 0.5 * a * 0.64, bound);
            close("height", sim.get("block.y"), 0.1, 1e-9);
        }
    }
}

#[test]
fn a_block_on_a_slope_below_the_friction_angle_stops_in_time_and_slips_no_faster_than_the_law() {
    for formulation in FORMULATIONS {
        for (slope, friction, speed) in [(0.2_f64, 0.4, 1.5), (-0.3, 0.5, 2.0), (0.0, 0.2, 1.0)] {
            let mut sim = Sim::new(&block(slope, friction, speed, formulation), 1e-7);
            let deceleration = G * (friction * slope.cos() - slope.sin());
            let stops = speed / deceleration;
            sim.to(0.7 * stops);
            close("speed", sim.get("block.vx"), 0.3 * speed, 20.0 * STICTION);
            // Just before it still moves, just after it does not.
            sim.to(stops - 1e-3);
            close(
                "before",
                sim.get("block.vx"),
                1e-3 * deceleration,
                20.0 * STICTION,
            );
            sim.to(stops + 1e-3);
            // u₀ artanh(tan α/μ): below 1.5 u₀ for the slopes here.
            let slip = STICTION * (slope.tan() / friction).atanh();
            close("after", sim.get("block.vx"), slip, 0.01 * STICTION);
            close(
                "way",
                sim.get("block.x"),
                0.5 * speed * stops,
                20.0 * STICTION,
            );
        }
    }
}

#[test]
fn bounces_without_end_are_over_at_the_time_of_the_geometric_series() {
    for formulation in FORMULATIONS {
        for (restitution, height) in [(0.5, 0.4), (0.8, 1.0), (0.2, 2.0), (0.9, 0.05)] {
            // A bounce slower than this ends: the time that is cut is 2 v/(g (1 − e)).
            let rest = 1e-8;
            let text = format!(
                "format = 1\nname = \"ball\"\ndimension = 2\ngravity = [0, -{G}]\n[solver]\nformulation = \"{formulation}\"\n\
                 [[body]]\nname = \"ball\"\nmass = 0.3\ninertia = 1e-3\nposition = [0, {:?}]\n\
                 [[force]]\nname = \"floor\"\ntype = \"contact\"\nbodies = [\"ground\", \"ball\"]\nplane = {{ normal = [0, 1] }}\n\
                 radius = 0.1\nrestitution = {restitution}\nrest_speed = {rest:?}\n",
                0.1 + height
            );
            let fall = (2.0 * height / G).sqrt();
            let over = fall * (1.0 + restitution) / (1.0 - restitution);
            let mut sim = Sim::new(&text, 0.0);
            sim.to(over - 1e-6);
            assert_eq!(sim.get("floor.force"), 0.0, "{restitution}: too early");
            sim.to(over + 1e-6);
            assert!(sim.get("floor.force") > 0.0, "{restitution}: too late");
            sim.to(over + 0.5);
            close("height", sim.get("ball.y"), 0.1, 1e-9);
            close("weight", sim.get("floor.force"), 0.3 * G, 1e-7);
            close("lost", sim.get("energy.dissipated"), 0.3 * G * height, 1e-9);
        }
    }
}

#[test]
fn a_box_tips_over_its_corner_at_the_angle_of_its_diagonal_and_not_before() {
    // Standing on a slope given by tilted gravity it tips if the slope is larger than atan(width/height); friction holds it.
    let tips = |slope: f64| {
        let mut text = format!(
            "format = 1\nname = \"box\"\ndimension = 2\ngravity = [{}, {}]\n[[body]]\nname = \"box\"\nmass = 1\ninertia = {}\n\
             position = [0, 0.5]\n",
            G * slope.sin(),
            -G * slope.cos(),
            (0.16 + 1.0) / 12.0
        );
        for (name, x) in [("left", -0.2), ("right", 0.2)] {
            text += &format!(
                "[[force]]\nname = \"{name}\"\ntype = \"contact\"\nbodies = [\"ground\", \"box\"]\nplane = {{ normal = [0, 1] }}\n\
                 point = [{x}, -0.5]\nrestitution = 0\nfriction = {{ kinetic = 1, stiction_velocity = 1e-3 }}\n"
            );
        }
        let mut sim = Sim::new(&text, 1e-7);
        sim.to(0.5);
        (
            sim.get("box.angle"),
            sim.get("left.force"),
            sim.get("right.force"),
        )
    };
    let limit = 0.4_f64.atan();
    let (angle, left, right) = tips(0.99 * limit);
    // The weight acts 0.2 − 0.5 tan α left of the right corner.
    let slope = 0.99 * limit;
    let share = G * slope.cos() * (0.2 - 0.5 * slope.tan()) / 0.4;
    assert!(angle.abs() < 1e-6, "{angle}");
    close("left", left, share, 1e-4);
    close("right", right, G * slope.cos() - share, 1e-4);
    // θ'' = g (r_x cos α + r_y sin α)/I about the corner, r the centre seen from it.
    let slope = 1.05 * limit;
    let (angle, left, _) = tips(slope);
    assert_eq!(left, 0.0);
    let f = |_: f64, y: &[f64; 2]| {
        let (s, c) = y[0].sin_cos();
        let r = [0.5 * s - 0.2 * c, 0.2 * s + 0.5 * c];
        let inertia = 4.0 / 3.0 * (0.04 + 0.25);
        [
            y[1],
            G * (r[0] * slope.cos() + r[1] * slope.sin()) / inertia,
        ]
    };
    let [expected, _] = rk4(f, 0.0, 0.5, [0.0, 0.0], 1000);
    // The corner slips by up to the stiction velocity: 5e-4 m of 0.54 m in half a second.
    close("angle", -angle, expected, 1e-3);
}

#[test]
fn as_many_balls_leave_a_cradle_as_came_in_in_every_formulation() {
    let radius = 0.02;
    for formulation in FORMULATIONS {
        for balls in [1, 2, 3] {
            let mut text = format!(
                "format = 1\nname = \"row\"\ndimension = 2\ngravity = [0, 0]\n[solver]\nformulation = \"{formulation}\"\n"
            );
            for k in 0..5 {
                let comes = k < balls;
                let x = 2.0 * radius * f64::from(k) - if comes { 0.1 } else { 0.0 };
                text += &format!(
                    "[[body]]\nname = \"b{k}\"\nmass = 0.1\ninertia = 1e-5\nposition = [{x:?}, 0.0]\nvelocity = [{:?}, 0.0]\n",
                    if comes { 1.0 } else { 0.0 }
                );
            }
            for k in 0..4 {
                text += &format!(
                    "[[force]]\nname = \"t{k}\"\ntype = \"contact\"\nbodies = [\"b{k}\", \"b{}\"]\nsphere = {{ radius = {radius} }}\n\
                     radius = {radius}\nrestitution = 1\n",
                    k + 1
                );
            }
            let mut sim = Sim::new(&text, 0.0);
            sim.to(0.3);
            for k in 0..5 {
                let leaves = k >= 5 - balls;
                let v = sim.get(&format!("b{k}.vx"));
                close("velocity", v, if leaves { 1.0 } else { 0.0 }, 1e-12);
            }
        }
    }
}

#[test]
fn a_rod_whose_friction_wedges_stops_sliding_at_once() {
    // Painlevé: the lower end of a rod of length 2 l slides against its lean with μ > (1 + 3 cos²θ)/(3 sin θ cos θ) = 1.38. No
    // acceleration exists: an impact stops the end, and the moment of momentum about it stays, ω₊ = 3 v sin θ/(4 l).
    let (theta, l, v) = (1.0_f64, 0.5, 1.0);
    let (sin, cos) = theta.sin_cos();
    for friction in [1.4, 2.0] {
        let text = format!(
            "format = 1\nname = \"rod\"\ndimension = 2\ngravity = [0, -{G}]\n[[body]]\nname = \"rod\"\nmass = 1\n\
             inertia = {}\nposition = [{:?}, {:?}]\nangle = {theta:?}\nvelocity = [{:?}, 0.0]\n\
             [[force]]\nname = \"end\"\ntype = \"contact\"\nbodies = [\"ground\", \"rod\"]\nplane = {{ normal = [0, 1] }}\n\
             point = [{:?}, 0]\nrestitution = 0\nfriction = {{ kinetic = {friction}, stiction_velocity = {STICTION:?} }}\n",
            l * l / 3.0,
            l * cos,
            l * sin,
            -v,
            -l,
        );
        let mut sim = Sim::new(&text, 0.0);
        let energy = sim.get("energy.total");
        let time = 1e-4;
        sim.to(time);
        let expected = 3.0 * v * sin / (4.0 * l);
        // In this time gravity changes ω by ω' t, ω' = 3 g cos θ/(4 l), to second order in t. The law of friction lets the end slip
        // by STICTION.
        let gravity = 3.0 * G * cos / (4.0 * l) * time;
        let slack = 3.0 * STICTION * sin / (4.0 * l) + 0.01 * gravity;
        close("speed", sim.get("rod.wz"), expected - gravity, slack);
        // What is left is the rotation about the end, 4/3 l² ω²/2.
        let inertia = 4.0 / 3.0 * l * l;
        let lost = 0.5 * v * v - 0.5 * inertia * expected * expected;
        let found = energy - sim.get("energy.total");
        // The end falls through the band of an idle contact, 1e-8 of the length 2 l, before it meets the floor: until then gravity does no
        // work against the rotation.
        let delay = (2e-8 * 2.0 * l / G).sqrt();
        let slack = inertia * expected * slack + G * l * cos * expected * delay;
        close("loss", found, lost, slack);
        sim.to(0.02);
        assert!(sim.get("end.length").abs() < 1e-9);
        assert!(sim.get("energy.balance").abs() < 1e-5 * energy);
    }
}
