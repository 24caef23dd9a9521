//! Relative against absolute coordinates by size and topology: `cargo bench --bench relative`.
//!
//! ```text
//!   time of one accepted step / number of bodies       fixed step, corrector off, smallest of the repeats
//! ```
//!
//! Steps are short enough that one iteration of Newton does; with `BIELA_BENCH_STEP=0.1` (default 0.02) they are as long as those of
//! a tolerance of 1e-6, where what is left out of the matrices of bodies costs iterations.
//!
//! `direct` writes the matrices in joint coordinates, `bodies` at the level of bodies (`constraint/lifted.rs`); which of the
//! two a formulation takes by itself is decided by size. `-- --one TOPOLOGY N FORMULATION STEPS` only makes so many steps, for
//! counting instructions (`benches/relative.sh`).

use std::fmt::Write;
use std::time::Instant;

use biela::component::Instance;
use biela::formulation::Mechanism;
use biela::formulation::absolute;
use biela::formulation::relative;
use biela::model::{Corrector, FormulationName, Model};

/// Uniform bars of 1 m and 1 kg, each at the end of its parent, at an angle from the vertical. In space pins turn about axes
/// at right angles in turn, and every bar has all six coordinates.
fn hanging(space: bool, parents: &[Option<usize>], angle: impl Fn(usize) -> f64) -> String {
    let mut t = String::from("format = 1\nname = \"bars\"\n");
    t += match space {
        false => "dimension = 2\ngravity = [0.0, -9.81]\n",
        true => "gravity = [0.0, -9.81, 0.0]\n",
    };
    let point = |x: f64, y: f64| match space {
        false => format!("[{x:?}, {y:?}]"),
        true => format!("[{x:?}, {y:?}, 0.0]"),
    };
    let mut ends: Vec<[f64; 2]> = Vec::new();
    let mut joints = String::new();
    for (k, parent) in parents.iter().enumerate() {
        let from = parent.map_or([0.0, 0.0], |p| ends[p]);
        let phi = -std::f64::consts::FRAC_PI_2 + angle(k);
        let (s, c) = phi.sin_cos();
        ends.push([from[0] + c, from[1] + s]);
        let thin = 1.0 / 12.0;
        let (inertia, turned) = match space {
            false => (format!("{thin:?}"), format!("angle = {phi:?}")),
            true => (
                format!("[0.001, {thin:?}, {thin:?}]"),
                format!("rotation = {{ axis = [0.0, 0.0, 1.0], angle = {phi:?} }}"),
            ),
        };
        let middle = point(from[0] + 0.5 * c, from[1] + 0.5 * s);
        writeln!(
            t,
            "[[body]]\nname = \"b{k}\"\nmass = 1.0\ninertia = {inertia}\nposition = {middle}\n{turned}"
        )
        .unwrap();
        let before = parent.map_or("ground".to_string(), |p| format!("b{p}"));
        let axis = match (space, k % 2) {
            (false, _) => "",
            (true, 0) => "axis = [0.0, 0.0, 1.0]",
            (true, _) => "axis = [1.0, 0.0, 0.0]",
        };
        writeln!(
            joints,
            "[[joint]]\nname = \"j{k}\"\ntype = \"revolute\"\nbodies = [\"{before}\", \"b{k}\"]\npoint = {}\n{axis}",
            point(from[0], from[1])
        )
        .unwrap();
    }
    t + &joints
}

/// Four-bars in a row, two bodies for each.
fn loops(n: usize) -> String {
    let mut t = String::from("format = 1\nname = \"row\"\ndimension = 2\ngravity = [0.0, -9.81]\n");
    let bars = n / 2;
    let (s, c) = 0.3_f64.sin_cos();
    let mut joints = String::new();
    let mut joint = |name: String, a: String, b: String, x: f64, y: f64| {
        write!(
            joints,
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"{a}\", \"{b}\"]\npoint = [{x:?}, {y:?}]\n"
        )
        .unwrap();
    };
    for i in 0..=bars {
        let x = i as f64;
        write!(
            t,
            "[[body]]\nname = \"bar{i}\"\nmass = 1.0\ninertia = {:?}\nposition = [{:?}, {:?}]\nangle = {:?}\n",
            1.0 / 12.0,
            x + 0.5 * s,
            0.5 * c,
            std::f64::consts::FRAC_PI_2 - 0.3
        )
        .unwrap();
        joint(format!("a{i}"), "ground".into(), format!("bar{i}"), x, 0.0);
        if i < bars {
            write!(
                t,
                "[[body]]\nname = \"rod{i}\"\nmass = 1.0\ninertia = {:?}\nposition = [{:?}, {c:?}]\n",
                1.0 / 12.0,
                x + 0.5 + s
            )
            .unwrap();
            joint(
                format!("l{i}"),
                format!("bar{i}"),
                format!("rod{i}"),
                x + s,
                c,
            );
            joint(
                format!("r{i}"),
                format!("bar{}", i + 1),
                format!("rod{i}"),
                x + 1.0 + s,
                c,
            );
        }
    }
    t + &joints
}

/// The step, as part of a time of the stiffest motion: by default short enough for one iteration.
fn part() -> f64 {
    let given = std::env::var("BIELA_BENCH_STEP").ok();
    given.map_or(0.02, |x| x.parse().expect("BIELA_BENCH_STEP is a number"))
}

fn model(topology: &str, n: usize) -> Model {
    let space = topology.starts_with("space");
    let text = match topology {
        "chain" | "space_chain" => hanging(
            space,
            &(0..n).map(|k| k.checked_sub(1)).collect::<Vec<_>>(),
            |_| 0.3,
        ),
        "tree" | "space_tree" => {
            let parents: Vec<_> = (0..n).map(|k| k.checked_sub(1).map(|k| k / 2)).collect();
            hanging(space, &parents, |k| 0.3 * (k as f64).sin())
        }
        _ => loops(n),
    };
    let mut model = Model::from_text(&text, "bench").unwrap_or_else(|e| panic!("{e}"));
    // The stiffest motion is that of the uppermost bar, about 2 sqrt(n g) rad/s: h ω is twice this for any n.
    model.solver.step = Some(part() / (9.81 * n as f64).sqrt());
    model.solver.corrector = Corrector::Off;
    model
}

/// Ready, and the seconds that took.
fn instance(topology: &str, n: usize, formulation: &str) -> (Instance, f64) {
    let mut model = model(topology, n);
    let clock = Instant::now();
    model.solver.formulation = match formulation {
        "absolute" => FormulationName::Absolute,
        "hybrid" => FormulationName::Hybrid,
        _ => FormulationName::Relative,
    };
    let lifted = Some(formulation != "direct");
    let mechanism: Box<dyn Mechanism> = match (formulation, model.dimension) {
        ("absolute", 2) => Box::new(absolute::PlanarAbsolute::new(&model).unwrap()),
        ("absolute", _) => Box::new(absolute::SpatialAbsolute::new(&model).unwrap()),
        (_, 2) => Box::new(relative::PlanarRelative::with(&model, &[], lifted).unwrap()),
        _ => Box::new(relative::SpatialRelative::with(&model, &[], lifted).unwrap()),
    };
    let mut instance = Instance::from_mechanism(model, mechanism).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    (instance, clock.elapsed().as_secs_f64())
}

/// Seconds of a step, Newton iterations of it, seconds of the set-up without reading the file.
fn time(topology: &str, n: usize, formulation: &str) -> (f64, f64, f64) {
    let (mut instance, setup) = instance(topology, n, formulation);
    let h = instance.model().solver.step.expect("set above");
    let steps = (5000 / n).clamp(3, 200);
    let start = instance.save().unwrap();
    let mut best = f64::INFINITY;
    let mut iterations = 0.0;
    for _ in 0..5 {
        instance.restore(&start).unwrap();
        let clock = Instant::now();
        instance.step(0.0, h * steps as f64).unwrap();
        best = best.min(clock.elapsed().as_secs_f64() / steps as f64);
        let statistics = instance.statistics();
        iterations = statistics.newton_iterations as f64 / statistics.steps as f64;
    }
    (best, iterations, setup)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--one") {
        let [topology, n, formulation, steps] = &arguments[at + 1..at + 5] else {
            panic!("--one TOPOLOGY N FORMULATION STEPS");
        };
        let (mut instance, _) = instance(topology, n.parse().unwrap(), formulation);
        let h = instance.model().solver.step.expect("set above");
        instance
            .step(0.0, h * steps.parse::<f64>().unwrap())
            .unwrap();
        return;
    }
    println!(
        "nanoseconds per body and step; (Newton iterations per step); set-up of all of it, ms"
    );
    println!(
        "{:>11} {:>7} {:>23} {:>23} {:>23} {:>23}",
        "", "bodies", "absolute", "direct", "bodies", "hybrid"
    );
    for topology in ["chain", "tree", "loops", "space_chain", "space_tree"] {
        for n in [2, 4, 6, 10, 16, 24, 40, 100, 1000, 10_000] {
            print!("{topology:>11} {n:>7}");
            for formulation in ["absolute", "direct", "bodies", "hybrid"] {
                if formulation == "direct" && n > 100 {
                    print!(" {:>23}", "-");
                    continue;
                }
                let (seconds, iterations, setup) = time(topology, n, formulation);
                print!(
                    " {:>8.0} ({iterations:.2}) {:>7.1}",
                    1e9 * seconds / n as f64,
                    1e3 * setup
                );
            }
            println!();
        }
    }
}
