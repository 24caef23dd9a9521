//! Set-valued friction of rigid contacts: stick without creep, slip with exact times, cones in space, shared stick, equilibrium.

use crate::sim::Sim;

/// Gravity (m/s²).
const G: f64 = 9.81;

const FORMULATIONS: [&str; 5] = ["absolute", "relative", "hybrid", "topological", "global"];

/// A block on two points; gravity is tilted by `slope`, so that the block is driven along +x.
fn block(slope: f64, friction: &str, speed: f64, formulation: &str) -> String {
    let mut text = format!(
        "format = 1\nname = \"block\"\ndimension = 2\ngravity = [{:?}, {:?}]\n[solver]\nformulation = \"{formulation}\"\n\
         [[body]]\nname = \"block\"\nmass = 2\ninertia = 0.05\nposition = [0, 0.1]\nvelocity = [{speed:?}, 0.0]\n",
        G * slope.sin(),
        -G * slope.cos()
    );
    for (name, x) in [("rear", -0.3), ("front", 0.3)] {
        text += &format!(
            "[[force]]\nname = \"{name}\"\ntype = \"contact\"\nbodies = [\"ground\", \"block\"]\nplane = {{ normal = [0, 1] }}\n\
             point = [{x}, -0.1]\nrestitution = 0\nfriction = {{ {friction} }}\n"
        );
    }
    text
}

fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance,
        "{what}: {found}, expected {expected}, error {error:.2e}"
    );
}

#[test]
fn a_block_below_the_friction_angle_does_not_move_at_all() {
    for formulation in FORMULATIONS {
        // 0.99 of the friction angle.
        let slope = 0.99 * 0.5_f64.atan();
        let mut sim = Sim::new(&block(slope, "kinetic = 0.5", 0.0, formulation), 0.0);
        let x = sim.get("block.x");
        sim.to(100.0);
        close("speed", sim.get("block.vx"), 0.0, 1e-15);
        // Newton's increments are a thousandth of the tolerance of 1e-6.
        close(formulation, sim.get("block.x"), x, 1e-10);
        close(
            "weight",
            sim.get("rear.force") + sim.get("front.force"),
            2.0 * G * slope.cos(),
            1e-8,
        );
    }
}

#[test]
fn a_block_above_the_friction_angle_slides_from_the_start() {
    for formulation in FORMULATIONS {
        for (slope, friction) in [(0.5_f64, 0.3), (0.35, 0.35), (0.8, 1.0)] {
            let text = block(slope, &format!("kinetic = {friction}"), 0.0, formulation);
            let mut sim = Sim::new(&text, 1e-7);
            sim.to(0.8);
            let a = G * (slope.sin() - friction * slope.cos());
            // Constant accelerations are integrated exactly.
            close("speed", sim.get("block.vx"), a * 0.8, 1e-9);
            close("way", sim.get("block.x"), 0.5 * a * 0.64, 1e-9);
        }
    }
}

#[test]
fn a_block_without_friction_slides_from_the_start_and_can_rest() {
    for formulation in ["absolute", "relative", "hybrid"] {
        let mut sim = Sim::new(&block(0.2, "kinetic = 0.0", 0.0, formulation), 1e-7);
        sim.to(0.5);
        close("way", sim.get("block.x"), 0.125 * G * 0.2_f64.sin(), 1e-9);
        let mut sim = Sim::new(&block(0.0, "kinetic = 0.0", 0.0, formulation), 1e-7);
        sim.to(5.0);
        close("rest", sim.get("block.x"), 0.0, 1e-12);
    }
}

#[test]
fn a_block_that_slides_stops_in_time_and_stays() {
    for formulation in FORMULATIONS {
        for (slope, friction, speed) in [(0.2_f64, 0.4, 1.5), (-0.3, 0.5, 2.0), (0.0, 0.2, 1.0)] {
            let text = block(slope, &format!("kinetic = {friction}"), speed, formulation);
            let mut sim = Sim::new(&text, 1e-7);
            let deceleration = G * (friction * slope.cos() - slope.sin());
            let stops = speed / deceleration;
            sim.to(stops - 1e-6);
            close("before", sim.get("block.vx"), 1e-6 * deceleration, 1e-9);
            sim.to(stops + 1e-6);
            close("speed", sim.get("block.vx"), 0.0, 1e-15);
            close("way", sim.get("block.x"), 0.5 * speed * stops, 1e-8);
            let x = sim.get("block.x");
            sim.to(stops + 50.0);
            // Newton's increments are a thousandth of the tolerance.
            close("rest", sim.get("block.x"), x, 1e-10);
            close(
                "lost",
                sim.get("energy.dissipated"),
                friction * 2.0 * G * slope.cos() * 0.5 * speed * stops,
                1e-7,
            );
        }
    }
}

#[test]
fn a_block_pulled_by_a_growing_force_starts_at_the_static_level_and_slides_at_the_kinetic_one() {
    for formulation in FORMULATIONS {
        let text = block(0.0, "kinetic = 0.3, static = 0.5", 0.0, formulation)
            + "[[force]]\nname = \"pull\"\ntype = \"force\"\nbody = \"block\"\nforce = [0, 0]\n\
               [[input]]\nname = \"f\"\ntarget = \"pull.x\"\n";
        let mut sim = Sim::new(&text, 1e-7);
        for (force, moves) in [(9.8, false), (-9.8, false), (9.82, true)] {
            sim.set("f", force);
            let (t, x) = (sim.instance.time(), sim.get("block.x"));
            sim.to(t + 1.0);
            let a = if moves { force / 2.0 - 0.3 * G } else { 0.0 };
            close(formulation, sim.get("block.x"), x + 0.5 * a, 1e-8);
            close(formulation, sim.get("block.vx"), a, 1e-8);
        }
    }
}

#[test]
fn a_disc_rolls_or_slips_and_begins_to_roll_in_time() {
    for formulation in FORMULATIONS {
        // I = m r²/2: on a slope it rolls with 2/3 g sin α up to tan α = 3 μ, and slips above.
        for (slope, friction) in [(0.4_f64, 0.2), (0.8, 0.2)] {
            let disc = |speed: f64| {
                format!(
                    "format = 1\nname = \"disc\"\ndimension = 2\ngravity = [{:?}, {:?}]\n[solver]\nformulation = \"{formulation}\"\n\
                     [[body]]\nname = \"disc\"\nmass = 3\ninertia = 0.06\nposition = [0, 0.2]\nvelocity = [{speed:?}, 0.0]\n\
                     [[force]]\nname = \"floor\"\ntype = \"contact\"\nbodies = [\"ground\", \"disc\"]\nplane = {{ normal = [0, 1] }}\n\
                     radius = 0.2\nrestitution = 0\nfriction = {{ kinetic = {friction} }}\n",
                    G * slope.sin(),
                    -G * slope.cos()
                )
            };
            let mut sim = Sim::new(&disc(0.0), 1e-8);
            sim.to(1.0);
            let rolls = slope.tan() <= 3.0 * friction;
            let (a, alpha) = if rolls {
                (
                    2.0 / 3.0 * G * slope.sin(),
                    2.0 / 3.0 * G * slope.sin() / 0.2,
                )
            } else {
                let f = friction * G * slope.cos();
                (G * slope.sin() - f, 2.0 * f / 0.2)
            };
            close("speed", sim.get("disc.vx"), a, 1e-8);
            close("turn", sim.get("disc.angle"), -0.5 * alpha, 1e-7);
        }
        let text = format!(
            "format = 1\nname = \"disc\"\ndimension = 2\ngravity = [0, -{G}]\n[solver]\nformulation = \"{formulation}\"\n\
             [[body]]\nname = \"disc\"\nmass = 3\ninertia = 0.06\nposition = [0, 0.2]\nvelocity = [3, 0]\n\
             [[force]]\nname = \"floor\"\ntype = \"contact\"\nbodies = [\"ground\", \"disc\"]\nplane = {{ normal = [0, 1] }}\n\
             radius = 0.2\nrestitution = 0\nfriction = {{ kinetic = 0.25 }}\n"
        );
        let mut sim = Sim::new(&text, 1e-8);
        // u = v − 3 μ g t
        let rolls = 3.0 / (3.0 * 0.25 * G);
        sim.to(rolls - 1e-6);
        assert!(sim.get("disc.vx") + 0.2 * sim.get("disc.wz") > 1e-7);
        sim.to(rolls + 1e-6);
        close(
            "slip",
            sim.get("disc.vx") + 0.2 * sim.get("disc.wz"),
            0.0,
            1e-14,
        );
        sim.to(rolls + 5.0);
        close("speed", sim.get("disc.vx"), 2.0, 1e-7);
    }
}

/// A cube of 0.2 m on four corners in space.
fn cube(
    gravity: [f64; 3],
    friction: f64,
    velocity: [f64; 3],
    spin: f64,
    formulation: &str,
) -> String {
    let mut text = format!(
        "format = 1\nname = \"cube\"\ngravity = {gravity:?}\n[solver]\nformulation = \"{formulation}\"\n\
         [[body]]\nname = \"cube\"\nmass = 1.5\ninertia = [0.01, 0.01, 0.01]\nposition = [0, 0, 0.1]\nvelocity = {velocity:?}\n\
         angular_velocity = [0, 0, {spin:?}]\n"
    );
    for (k, (x, y)) in [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
        .into_iter()
        .enumerate()
    {
        text += &format!(
            "[[force]]\nname = \"corner{k}\"\ntype = \"contact\"\nbodies = [\"ground\", \"cube\"]\nplane = {{ normal = [0, 0, 1] }}\n\
             point = [{x}, {y}, -0.1]\nrestitution = 0\nfriction = {{ kinetic = {friction} }}\n"
        );
    }
    text
}

#[test]
fn a_cube_on_four_corners_sticks_slides_and_stops_in_any_direction() {
    for formulation in FORMULATIONS {
        for direction in [0.0_f64, 0.7, 2.1, 4.0] {
            let (s, c) = direction.sin_cos();
            // Sticks at 0.98 of the friction angle.
            let slope = 0.98 * 0.4_f64.atan();
            let down = [G * slope.sin() * c, G * slope.sin() * s, -G * slope.cos()];
            let mut sim = Sim::new(&cube(down, 0.4, [0.0; 3], 0.0, formulation), 0.0);
            sim.to(100.0);
            close(
                "speed",
                sim.get("cube.vx").hypot(sim.get("cube.vy")),
                0.0,
                1e-15,
            );
            // Half of the tolerance; rest may be one step, in which the rounding of the forces counts.
            close("x", sim.get("cube.x"), 0.0, 1e-7);
            // Stops after v²/(2 μ g).
            let level = [0.0, 0.0, -G];
            let text = cube(level, 0.4, [1.2 * c, 1.2 * s, 0.0], 0.0, formulation);
            let mut sim = Sim::new(&text, 1e-7);
            let stops = 1.2 / (0.4 * G);
            sim.to(stops - 1e-5);
            let speed = sim.get("cube.vx").hypot(sim.get("cube.vy"));
            close("before", speed, 1e-5 * 0.4 * G, 1e-7);
            sim.to(stops + 1e-5);
            close(
                "speed",
                sim.get("cube.vx").hypot(sim.get("cube.vy")),
                0.0,
                1e-15,
            );
            close(
                "way",
                sim.get("cube.x").hypot(sim.get("cube.y")),
                0.6 * stops,
                1e-7,
            );
        }
    }
}

#[test]
fn a_cube_that_spins_and_slides_comes_to_rest_and_stays() {
    for formulation in ["absolute", "relative", "global"] {
        let text = cube([0.0, 0.0, -G], 0.3, [0.8, 0.3, 0.0], 6.0, formulation);
        let mut sim = Sim::new(&text, 0.0);
        sim.to(2.0);
        let at = [sim.get("cube.x"), sim.get("cube.y")];
        let speeds = [
            "cube.vx", "cube.vy", "cube.vz", "cube.wx", "cube.wy", "cube.wz",
        ];
        for name in speeds {
            close(name, sim.get(name), 0.0, 1e-12);
        }
        let kinetic = 0.5 * 1.5 * (0.64 + 0.09) + 0.5 * 0.01 * 36.0;
        close("lost", sim.get("energy.dissipated"), kinetic, 1e-4);
        sim.to(60.0);
        close("x", sim.get("cube.x"), at[0], 1e-9);
        close("y", sim.get("cube.y"), at[1], 1e-9);
    }
}

#[test]
fn a_state_saved_while_sticking_and_slipping_gives_the_same_bits() {
    for formulation in FORMULATIONS {
        let text = block(0.2, "kinetic = 0.4, static = 0.6", 1.5, formulation);
        let mut sim = Sim::new(&text, 0.0);
        for t in [0.3, 0.9, 3.0] {
            sim.to(t);
            let state = sim.instance.save().unwrap();
            let run = |sim: &mut Sim| {
                sim.to(t + 2.0);
                ["block.x", "block.vx", "rear.force"].map(|name| sim.get(name).to_bits())
            };
            let first = run(&mut sim);
            sim.instance.restore(&state).unwrap();
            assert_eq!(first, run(&mut sim), "{formulation} {t}");
            sim.instance.restore(&state).unwrap();
        }
    }
}

#[test]
fn a_block_has_an_equilibrium_on_a_slope_if_friction_holds_it() {
    for formulation in FORMULATIONS {
        let mut sim = Sim::new(&block(0.3, "kinetic = 0.4", 0.0, formulation), 0.0);
        sim.instance
            .equilibrium()
            .unwrap_or_else(|e| panic!("{formulation}: {e}"));
        close("x", sim.get("block.x"), 0.0, 1e-12);
        let mut sim = Sim::new(&block(0.5, "kinetic = 0.4", 0.0, formulation), 0.0);
        let refused = sim.instance.equilibrium().unwrap_err().to_string();
        assert!(
            refused.contains("rear") || refused.contains("front"),
            "{refused}"
        );
    }
}
