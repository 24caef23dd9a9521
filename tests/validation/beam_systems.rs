//! Beams in the component: roll-back, refusals, defaults, parts, energy, cost and static equilibria.

use biela::component::Instance;
use biela::model::Model;

use crate::beams::{falling, spaghetti};
use crate::cpu_time::CpuClock;
use crate::sim::Sim;

/// Whether the counts of the issue are wanted.
fn full() -> bool {
    std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1")
}

#[test]
fn a_beam_is_rolled_back_to_the_last_bit() {
    for text in [spaghetti(8), falling("as it is", |x| x)] {
        let names = [
            "rod.2.x",
            "rod.1.m3",
            "rod.strain_energy",
            "energy.numerical",
        ];
        let read = |sim: &mut Sim| names.map(|name| sim.get(name).to_bits());
        let mut sim = Sim::new(&text, 0.0);
        let saved = sim.to(0.13).instance.save().unwrap();
        let first = read(sim.to(0.2));
        sim.instance.restore(&saved).unwrap();
        assert_eq!(first, read(sim.to(0.2)));
        // Another instance, through bytes.
        let mut other = Sim::new(&text, 0.0);
        let state = other.instance.deserialize(&saved.to_bytes()).unwrap();
        other.instance.restore(&state).unwrap();
        assert_eq!(first, read(other.to(0.2)));
    }
}

#[test]
fn other_coordinates_refuse_beams_by_name() {
    for formulation in ["relative", "global", "topological", "hybrid"] {
        let text = falling("as it is", |x| x).replace(
            "format = 1\n",
            &format!("format = 1\nsolver = {{ formulation = \"{formulation}\" }}\n"),
        );
        let model = Model::from_text(&text, "beam").unwrap();
        let said = match Instance::from_model(model) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(
            said.contains("beam \"rod\"") && said.contains(formulation),
            "{said}"
        );
    }
}

#[test]
fn a_model_with_beams_damps_what_rings_unless_it_says_otherwise() {
    use biela::model::Corrector;
    let corrector = |text: &str| Model::from_text(text, "beam").unwrap().solver.corrector;
    let text = spaghetti(4);
    assert_eq!(corrector(&text), Corrector::Off);
    let asked = text.replace(
        "dimension = 2\n",
        "dimension = 2\nsolver = { corrector = \"auto\" }\n",
    );
    assert_eq!(corrector(&asked), Corrector::Auto);
    assert_eq!(corrector("format = 1\n"), Corrector::Auto);
}

#[test]
fn a_part_brings_its_beams_to_where_it_is_mounted() {
    let folder = std::env::temp_dir().join(format!("biela_beams_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let part = "format = 1\ndimension = 2\n[[beam]]\nname = \"rod\"\npoints = [[0, 0], [1, 0], [1, 1]]\nelements = 4\nstart = \"ground\"\n\
                section = { stiffness = [1e4, 1e4, 10], mass_per_length = 1 }\n[[output]]\nname = \"m\"\nsource = \"rod.0.m3\"\n";
    let whole = "format = 1\ndimension = 2\n[[body]]\nname = \"hub\"\nmass = 1\ninertia = 1\n\
                 [[beam]]\nname = \"rod\"\npoints = [[0, 0], [0, 1]]\nelements = 2\nstart = \"hub\"\n\
                 section = { stiffness = [1e4, 1e4, 10], mass_per_length = 1 }\n\
                 [[include]]\nfile = \"part.toml\"\nprefix = \"left_\"\nmount = { body = \"hub\", position = [2, 0], angle = 1.5707963267948966 }\n";
    std::fs::write(folder.join("part.toml"), part).unwrap();
    std::fs::write(folder.join("whole.toml"), whole).unwrap();
    let model = Model::from_file(&folder.join("whole.toml"));
    std::fs::remove_dir_all(&folder).unwrap();
    let model = model.unwrap_or_else(|e| panic!("{e}"));
    model.validate().unwrap();
    assert_eq!(model.beams.len(), 2);
    let part = &model.beams[0];
    assert_eq!((part.name.as_str(), part.elements), ("left_rod", 4));
    let end = &model.bodies[part.nodes().end - 1];
    assert_eq!(end.name, "left_rod.4");
    assert!(
        (end.position[0] - 1.0).abs() < 1e-12 && (end.position[1] - 1.0).abs() < 1e-12,
        "{:?}",
        end.position
    );
    assert_eq!(model.outputs[0].source, "left_rod.0.m3");
    let mut sim = Sim::of(model, 0.0);
    sim.to(0.01);
    // Mounted without stress, at rest: nothing moves.
    assert!(sim.get("left_rod.strain_energy") < 1e-12);
    assert!(sim.get("rod.strain_energy") < 1e-12);
}

/// CPU seconds for each element and step of a cantilever that falls in steps of 1 ms.
fn cost(elements: usize) -> f64 {
    let text = format!(
        "format = 1\ndimension = 2\ngravity = [0, -9.81]\n[solver]\nstep = 1e-3\n\
         [[beam]]\nname = \"rod\"\npoints = [[0, 0], [{elements}, 0]]\nelements = {elements}\nstart = \"ground\"\n\
         section = {{ stiffness = [1e5, 1e5, 1e3], mass_per_length = 1, inertia_per_length = 1e-2 }}\n"
    );
    let mut sim = Sim::new(&text, 0.0);
    // Enough steps for the clock.
    let steps = (20_000 / elements).clamp(20, 400);
    let start = CpuClock::Thread.now();
    sim.to(1e-3 * steps as f64);
    (CpuClock::Thread.now() - start).as_secs_f64() / (steps * elements) as f64
}

#[test]
fn the_cost_of_an_element_does_not_grow_with_their_number() {
    let few = cost(100).min(cost(100));
    for elements in if full() {
        vec![10, 1000, 10_000]
    } else {
        vec![1000]
    } {
        let many = cost(elements);
        assert!(
            many < 2.0 * few,
            "{elements} elements: {many:e} s, {few:e} s of 100"
        );
    }
}

#[test]
fn static_equilibria_of_beams_are_found_by_the_search_of_an_instance() {
    // Rolled up to a circle by an end moment.
    let moment = 2.0 * std::f64::consts::PI * 500.0 / 10.0;
    let mut sim = Sim::new(
        &format!(
            "format = 1\ndimension = 2\n[[beam]]\nname = \"rod\"\npoints = [[0, 0], [10, 0]]\nelements = 4\nstart = \"ground\"\n\
             section = {{ stiffness = [1e4, 1e4, 500], mass_per_length = 1 }}\n\
             [[force]]\nname = \"bend\"\ntype = \"torque\"\nbody = \"rod.4\"\ntorque = {moment}\n"
        ),
        0.0,
    );
    sim.instance.equilibrium().unwrap_or_else(|e| panic!("{e}"));
    let end = ["x", "y"].map(|axis| sim.get(&format!("rod.4.{axis}")));
    assert!(end[0].hypot(end[1]) < 1e-9, "{end:?}");
    assert!((sim.get("rod.2.m3") / moment - 1.0).abs() < 1e-9);
    // The bend of 45 degrees under 600 N; with 8 elements z is 53.3338.
    let mut sim = Sim::new(
        "format = 1\n[[beam]]\nname = \"bend\"\npoints = [[0, 0, 0]]\narc = { center = [0, 100, 0], angle = 0.7853981633974483 }\n\
         elements = 8\nstart = \"ground\"\n\
         section = { stiffness = [1e7, \"25e6/6\", \"25e6/6\", \"5e6/6\", \"1e7/12\", \"1e7/12\"], mass_per_length = 1 }\n\
         [[force]]\nname = \"tip\"\ntype = \"force\"\nbody = \"bend.8\"\nforce = [0, 0, 600]\n",
        0.0,
    );
    sim.instance.equilibrium().unwrap_or_else(|e| panic!("{e}"));
    let z = sim.get("bend.8.z");
    assert!((z - 53.3338).abs() < 1e-3, "{z}");
}

#[test]
fn a_beam_in_space_is_rolled_up_by_a_torque_that_keeps_its_direction() {
    // Unstable out of the plane: the search follows the equilibria as the load grows, and says so.
    for (elements, turns) in [(4, 1.0), (9, 1.0), (7, 2.0)] {
        let moment = turns * 2.0 * std::f64::consts::PI * 500.0 / 10.0;
        let mut sim = Sim::new(
            &format!(
                "format = 1\n[[beam]]\nname = \"rod\"\npoints = [[0, 0, 0], [0, 6, 8]]\nelements = {elements}\nstart = \"ground\"\n\
                 section = {{ stiffness = [1e4, 1e4, 1e4, 500, 500, 500], mass_per_length = 1 }}\n\
                 [[force]]\nname = \"bend\"\ntype = \"torque\"\nbody = \"rod.{elements}\"\ntorque = [{moment}, 0, 0]\n"
            ),
            0.0,
        );
        sim.instance.equilibrium().unwrap_or_else(|e| panic!("{e}"));
        for axis in ["x", "y", "z"] {
            let end = sim.get(&format!("rod.{elements}.{axis}"));
            assert!(end.abs() < 1e-9, "{elements} {turns}: {axis} {end}");
        }
    }
}

/// Circular frequencies (rad/s) of the modes of a slender cantilever with EI2 = 1, EI3 = 4, ρA = L = 1 in space.
fn cantilever_modes(elements: usize, damping: f64) -> Vec<f64> {
    let mut sim = Sim::new(
        &format!(
            "format = 1\n[[beam]]\nname = \"rod\"\npoints = [[0, 0, 0], [1, 0, 0]]\nelements = {elements}\nstart = \"ground\"\n\
             damping = {damping}\n\
             section = {{ stiffness = [1e6, 1e6, 1e6, 1e3, 1, 4], mass_per_length = 1, inertia_per_length = [2e-7, 1e-7, 1e-7] }}\n"
        ),
        0.0,
    );
    let modes = sim.instance.modes(6).unwrap_or_else(|e| panic!("{e}"));
    let mut found: Vec<f64> = (modes.iter())
        .map(|mode| std::f64::consts::TAU * mode.frequency)
        .collect();
    found.sort_by(f64::total_cmp);
    found
}

#[test]
fn the_modes_of_a_slender_cantilever_are_those_of_euler_and_bernoulli() {
    // The fastest nodes rotate 1e6 times as fast: the lowest modes must not be taken for zeros. About axis 3 twice as fast.
    let b = [1.8751040687f64, 4.6940911330, 7.8547574382].map(|b| b * b);
    let mut expected: Vec<(f64, f64)> = [1e-3, 1.1e-2, 3e-2]
        .into_iter()
        .zip(b)
        .flat_map(|(bound, b)| [(b, bound), (2.0 * b, bound)])
        .collect();
    expected.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The fourth about axis 2 comes before the third about axis 3.
    expected.truncate(5);
    for damping in [0.0, 1e-6] {
        let (coarse, fine) = (cantilever_modes(16, damping), cantilever_modes(32, damping));
        for (i, (exact, bound)) in expected.iter().enumerate() {
            let [first, second] = [&coarse, &fine].map(|all| all[i] / exact - 1.0);
            assert!(first.abs() < *bound, "{damping}: mode {i}: {first}");
            let order = (first / second).log2();
            assert!(
                (order - 2.0).abs() < 0.1,
                "{damping}: mode {i}: order {order}"
            );
        }
    }
}

/// Energy balance and total energy (J) at the end of the spin-up of the folder of models.
fn spin_up_energy(tolerance: f64) -> [f64; 2] {
    let mut sim = Sim::file("beams/spin_up.toml", tolerance);
    sim.to(20.0);
    ["energy.balance", "energy.total"].map(|name| sim.get(name))
}

#[test]
fn the_energy_balance_of_the_spin_up_closes_as_the_square_of_the_step() {
    // The drive works against forces that turn with the beam. Steps h follow the cube root of the tolerance, and what a method
    // of order 2 loses on the way follows h²: a factor of 100^(2/3) = 21.5 for two decades.
    let [coarse, _] = spin_up_energy(1e-4);
    let [fine, total] = spin_up_energy(1e-6);
    assert!((7200.0..7210.0).contains(&total), "{total}");
    assert!(fine < 0.0 && -fine < 4e-4 * total, "{fine} J of {total}");
    let ratio = coarse / fine;
    assert!((15.0..35.0).contains(&ratio), "{coarse} {fine}");
}
