//! Scenes with contacts: files that went wrong before, the models of the gallery, and closed forms.

use crate::sim::Sim;
use biela::Result;
use biela::component::{Observer, StepProbe};
use biela::model::{Expose, Model};

/// Looks at the ends of all steps: greatest value of each quantity.
struct Greatest {
    references: Vec<u32>,
    values: Vec<f64>,
    greatest: Vec<f64>,
}

impl Observer for Greatest {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        let t = probe.end();
        probe.values(t, &self.references, &mut self.values)?;
        for (greatest, value) in self.greatest.iter_mut().zip(&self.values) {
            *greatest = greatest.max(*value);
        }
        Ok(())
    }
}

/// Runs a model to its end; returns the greatest values of the named quantities. It must not stop.
fn greatest(sim: &mut Sim, stop: f64, names: &[String]) -> Vec<f64> {
    let references: Vec<u32> = (names.iter())
        .map(|name| sim.instance.find(name).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    let n = references.len();
    let mut watch = Greatest {
        references,
        values: vec![0.0; n],
        greatest: vec![f64::NEG_INFINITY; n],
    };
    let now = sim.instance.time();
    sim.instance
        .step_observed(now, stop - now, &mut watch)
        .unwrap_or_else(|e| panic!("{e}"));
    watch.greatest
}

fn contacts(model: &Model) -> Vec<String> {
    (model.forces.iter())
        .filter(|force| matches!(force.kind, biela::model::ForceKind::Contact(_)))
        .map(|force| format!("{}.length", force.name))
        .collect()
}

/// Runs a file of `tests/data/contact` to `stop`; no contact may be deeper than `depth` (m).
fn stays_above(file: &str, stop: f64, depth: f64) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/contact")
        .join(file);
    let mut model = Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    model.expose = Expose::All;
    let names = contacts(&model);
    let mut sim = Sim::of(model, 0.0);
    let deepest = (greatest(&mut sim, stop, &names).into_iter()).fold(0.0, f64::max);
    assert!(deepest <= depth, "{file}: {deepest} m");
}

#[test]
fn what_is_thrown_on_a_rigid_floor_stays_above_it() {
    // 1e-6 of the size of the thrown body.
    stays_above("square_through_floor.toml", 3.0, 1e-7);
    stays_above("rod_through_floor.toml", 2.0, 1e-6);
    stays_above("box3d_rigid_stalls.toml", 3.0, 1e-7);
    stays_above("box3d_nofriction_balance.toml", 3.0, 1e-7);
    stays_above("box3d_stall_with_max_step.toml", 3.0, 1e-7);
}

#[test]
fn hops_below_rounding_and_friction_without_a_smooth_step_do_not_stop_a_run() {
    // Both stopped; the second one only where steps end at communication points.
    stays_above("cube_hops_below_rounding.toml", 4.0, 6e-8);
    let mut sim = Sim::of(scene_model("cubes_without_smooth_step.toml"), 0.0);
    let names = contacts(sim.instance.model());
    let start = sim.get("energy.total");
    for k in 1..=400 {
        let depths = greatest(&mut sim, 0.01 * f64::from(k), &names);
        let deepest = depths.into_iter().fold(0.0, f64::max);
        assert!(deepest <= 1e-7, "{k}: {deepest} m");
    }
    assert!(sim.get("energy.total") < start);
}

#[test]
fn what_is_thrown_on_a_compliant_floor_is_carried_by_it() {
    // All of the energy in one spring: sqrt(2 E/k), 1 kg falling 0.5 m and 1 m with a spin of 20 rad/s.
    stays_above("box3d_soft.toml", 3.0, 0.02);
    stays_above("rod_soft_floor.toml", 2.0, 0.03);
}

/// Height of the stairs of these files below a ball of radius 0.05 m.
fn ball_stays_above_stairs(file: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/contact")
        .join(file);
    let model = Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::of(model, 0.0);
    for k in 1..=400 {
        sim.to(0.01 * f64::from(k));
        let (x, y) = (sim.get("ball.x"), sim.get("ball.y"));
        let floor = if x < 0.3 {
            1.0
        } else {
            (0.8 - 0.2 * ((x - 0.3) / 0.3).floor()).max(0.0)
        };
        if x > -0.2 && x < 4.0 {
            assert!(y - floor > 0.05 - 1e-7, "{file}: {y} over {x} at step {k}");
        }
    }
}

#[test]
fn balls_do_not_pass_through_stairs_and_do_not_stop_there() {
    for file in [
        "stairs.toml",
        "stairs_through_6.toml",
        "stairs_through_13.toml",
        "stairs_stops_with_max_step.toml",
    ] {
        ball_stays_above_stairs(file);
    }
}

#[test]
fn a_leg_with_friction_falls_without_a_stop() {
    // Foot of 16 mm on a robot of 0.4 m. Its friction wedges after 1.4 s: the normal force grows without bound.
    stays_above("min_limp_rigid.json", 3.0, 4e-7);
}

#[test]
fn a_limp_robot_of_thirteen_bodies_falls_without_a_stop() {
    // 1e-6 of the robot's 0.4 m.
    for (fall, settings) in [
        ("limp", "auto_1e-06"),
        ("limp", "relative_0.0001"),
        ("tilted_fall", "relative_1e-06"),
    ] {
        let file = format!("contact_solo12_{fall}_rigid_no_friction_{settings}.json");
        let mut sim = scene(&file, 3.0, 4e-7);
        // Ten tolerances of the 11 J that are turned over.
        let tolerance = sim.instance.model().solver.tolerance;
        let balance = sim.get("energy.balance");
        assert!(balance.abs() < 10.0 * tolerance * 11.0, "{file}: {balance}");
    }
}

#[test]
fn a_rocking_block_lands_with_the_speed_that_housner_gives() {
    // Turning about its right corner it lands on the left one: ω₊ = ω₋ (1 − 3/2 sin²α), tan α = width/height.
    let (width, height): (f64, f64) = (0.4, 1.0);
    let (angle, rate): (f64, f64) = (-0.05, 0.6);
    let (sin, cos) = angle.sin_cos();
    // The centre, seen from the right corner.
    let r = [
        -0.5 * width * cos - 0.5 * height * sin,
        -0.5 * width * sin + 0.5 * height * cos,
    ];
    let mut text = format!(
        "format = 1\nname = \"block\"\ndimension = 2\ngravity = [0, -9.81]\n[[body]]\nname = \"block\"\nmass = 1\n\
         inertia = {}\nposition = [{}, {}]\nangle = {angle}\nangular_velocity = {rate}\nvelocity = [{}, {}]\n",
        (width * width + height * height) / 12.0,
        0.5 * width + r[0],
        r[1],
        -rate * r[1],
        rate * r[0],
    );
    for (name, x) in [("left", -0.5 * width), ("right", 0.5 * width)] {
        text += &format!(
            "[[force]]\nname = \"{name}\"\ntype = \"contact\"\nbodies = [\"ground\", \"block\"]\nplane = {{ normal = [0, 1] }}\n\
             point = [{x}, {}]\nrestitution = 0\nfriction = {{ kinetic = 1, stiction_velocity = 1e-5 }}\n",
            -0.5 * height
        );
    }
    let mut sim = Sim::new(&text, 1e-7);
    let energy = sim.get("energy.total");
    let (mut landed, mut before) = (false, 0.0);
    for k in 1..=4000 {
        sim.to(1e-4 * f64::from(k));
        let gap = sim.get("left.length");
        if gap > -1e-9 || (landed && sim.get("right.length") < -1e-6) {
            landed = true;
        } else if !landed {
            before = sim.get("block.wz");
        }
        if landed && sim.get("right.length") < -1e-6 {
            let half_diagonal = 0.5 * width.hypot(height);
            let sin = 0.5 * width / half_diagonal;
            let ratio = sim.get("block.wz") / before;
            // 1e-4 s before and after the impact change the speed by g/r 1e-4 s; the law of friction slips by 1e-5 m/s.
            let expected = 1.0 - 1.5 * sin * sin;
            assert!((ratio - expected).abs() < 5e-3, "{ratio} {expected}");
            assert!(sim.get("energy.total") < energy);
            return;
        }
    }
    panic!("it did not land: {before}");
}

#[test]
fn a_billiard_break_keeps_energy_and_momentum() {
    let radius = 0.028;
    let ball = |name: &str, x: f64, y: f64, v: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 0.17\ninertia = 1e-4\nposition = [{x:?}, {y:?}]\nvelocity = [{v:?}, 0.0]\n"
        )
    };
    let mut text = "format = 1\nname = \"break\"\ndimension = 2\ngravity = [0, 0]\n".to_owned()
        + &ball("b0", -0.5, 0.003, 5.0);
    let mut names = vec!["b0".to_owned()];
    for row in 0..4 {
        for k in 0..=row {
            let name = format!("b{}", names.len());
            let x = f64::from(row) * 3f64.sqrt() * radius;
            let y = (2.0 * f64::from(k) - f64::from(row)) * radius;
            text += &ball(&name, x, y, 0.0);
            names.push(name);
        }
    }
    for i in 0..names.len() {
        for j in i + 1..names.len() {
            text += &format!(
                "[[force]]\nname = \"t{i}_{j}\"\ntype = \"contact\"\nbodies = [\"b{i}\", \"b{j}\"]\nsphere = {{ radius = {radius} }}\n\
                 radius = {radius}\nrestitution = 1\n"
            );
        }
    }
    let mut sim = Sim::new(&text, 0.0);
    let energy = sim.get("energy.kinetic");
    sim.to(0.5);
    let after = sim.get("energy.kinetic");
    assert!((after / energy - 1.0).abs() < 1e-12, "{after} {energy}");
    let momentum = |sim: &mut Sim, axis: &str| -> f64 {
        (names.iter())
            .map(|b| sim.get(&format!("{b}.{axis}")))
            .sum()
    };
    assert!((momentum(&mut sim, "vx") / 5.0 - 1.0).abs() < 1e-12);
    assert!(momentum(&mut sim, "vy").abs() < 5e-12);
    let moving = (names.iter()).filter(|b| sim.get(&format!("{b}.vx")).abs() > 1e-3);
    assert!(moving.count() > 3);
}

/// Runs a file of `models/contact` or `tests/data/contact` to `stop`; no contact is deeper than `depth` (m).
fn scene(file: &str, stop: f64, depth: f64) -> Sim {
    let model = scene_model(file);
    let names = contacts(&model);
    let mut sim = Sim::of(model, 0.0);
    let deepest = (greatest(&mut sim, stop, &names).into_iter()).fold(0.0, f64::max);
    assert!(deepest <= depth, "{file}: {deepest} m");
    sim
}

/// The model of a file with all quantities.
fn scene_model(file: &str) -> Model {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["models/contact", "tests/data/contact"].map(|folder| root.join(folder).join(file));
    let path = (folders.into_iter().find(|path| path.exists()))
        .unwrap_or_else(|| panic!("{file} is in neither folder"));
    let mut model = Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    model.expose = Expose::All;
    model
}

#[test]
fn a_thrown_box_and_a_thrown_cube_lie_flat_at_the_end() {
    // The height is half the size, to the depth that is allowed; kinetic energies below 1e-12 of 4 J are rest.
    for (file, height) in [
        ("tumbling_box.toml", "box.y"),
        ("tumbling_cube.toml", "cube.z"),
    ] {
        let mut sim = scene(file, 2.0, 1e-7);
        let height = sim.get(height);
        assert!((height - 0.05).abs() < 1e-7, "{file}: {height}");
        let kinetic = sim.get("energy.kinetic");
        assert!(kinetic < 1e-11, "{file}: {kinetic} J");
    }
}

#[test]
fn ten_boxes_stand_on_each_other_and_carry_the_weight_above() {
    let mut sim = scene("stack_of_ten.toml", 1.0, 2e-7);
    let top = sim.get("box10.y");
    assert!((top - 0.95).abs() < 1e-6, "{top}");
    for k in 1..=10 {
        // Both corners together carry the boxes above.
        let force = sim.get(&format!("left{k}.force")) + sim.get(&format!("right{k}.force"));
        let weight = 9.81 * f64::from(11 - k);
        assert!((force / weight - 1.0).abs() < 1e-6, "{k}: {force} {weight}");
    }
}

#[test]
fn ten_cubes_stand_on_each_other_in_space() {
    // Forty corners with friction, thirty of which carry the cubes. They are let go a millimetre above each other.
    let mut sim = scene("stack_in_space.toml", 1.0, 1e-7);
    for k in 1..=10 {
        let height = sim.get(&format!("box{k}.z"));
        assert!(
            (height - 0.1 * f64::from(k) + 0.05).abs() < 1e-6,
            "{k}: {height}"
        );
        let force: f64 = (1..=4)
            .map(|c| sim.get(&format!("corner{k}_{c}.force")))
            .sum();
        let weight = 0.8 * 9.81 * f64::from(11 - k);
        assert!((force / weight - 1.0).abs() < 1e-6, "{k}: {force} {weight}");
    }
    let kinetic = sim.get("energy.kinetic");
    assert!(kinetic < 1e-8, "{kinetic} J");
}

#[test]
fn dominoes_knock_each_other_over() {
    let mut sim = scene("dominoes.toml", 1.5, 1e-7);
    for k in 1..=8 {
        let angle = sim.get(&format!("domino{k}.angle"));
        assert!(angle < -1.0, "{k}: {angle}");
    }
    // The last one lies on its side.
    let last = sim.get("domino8.angle");
    assert!((last + std::f64::consts::FRAC_PI_2).abs() < 1e-5, "{last}");
}

#[test]
fn a_limp_quadruped_falls_and_lies_on_its_belly() {
    // Its feet meet the ground at once; lying down takes two seconds.
    let full = std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1");
    let mut sim = scene("quadruped.toml", if full { 2.0 } else { 0.3 }, 4e-7);
    let (lost, balance) = (sim.get("energy.dissipated"), sim.get("energy.balance"));
    // Ten tolerances of the energy turned over, 3.4 kg falling 0.4 m.
    assert!(lost > 0.0 && balance.abs() < 1.4e-4, "{lost} {balance}");
    if full {
        let height = sim.get("trunk.z");
        assert!((height - 0.04).abs() < 1e-3, "{height}");
    }
}

#[test]
fn a_plank_that_lands_flat_bounces_flat_by_newton_and_by_poisson() {
    // Its two supports are not symmetric.
    let speeds = |law: &str, restitution: f64| {
        let mut text = "format = 1\nname = \"plank\"\ndimension = 2\ngravity = [0, 0]\n[[body]]\nname = \"plank\"\nmass = 2\n\
             inertia = 0.5\nposition = [0, 0.01]\nvelocity = [0, -1]\n"
            .to_owned();
        for (name, x) in [("left", -1.0), ("right", 0.5)] {
            text += &format!(
                "[[force]]\nname = \"{name}\"\ntype = \"contact\"\nbodies = [\"ground\", \"plank\"]\nplane = {{ normal = [0, 1] }}\n\
                 point = [{x}, 0]\nrestitution = {restitution}\nrestitution_law = \"{law}\"\n"
            );
        }
        let mut sim = Sim::new(&text, 0.0);
        let energy = sim.get("energy.kinetic");
        sim.to(0.011);
        let after = sim.get("energy.kinetic");
        assert!(after <= energy * (1.0 + 1e-12), "{law}: {after} {energy}");
        [sim.get("plank.vy"), sim.get("plank.wz"), after / energy]
    };
    // Both ends close with 1 m/s and are stopped by P_c = −W⁻¹ v; P_r = e P_c gives them e of it, as Newton does.
    for law in ["newton", "poisson"] {
        let [v, w, energy] = speeds(law, 0.6);
        assert!((v - 0.6).abs() < 1e-9 && w.abs() < 1e-9, "{law}: {v} {w}");
        assert!((energy - 0.36).abs() < 1e-9, "{law}: {energy}");
    }
}
